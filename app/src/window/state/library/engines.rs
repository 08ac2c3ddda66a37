//! The models of engines elsewhere, as these list them.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use sluice_engine::{
    models::{Inventory, Item, Kind},
    request::ModelSource,
    session::Command,
};

use super::{EntryId, Library, Search, SearchedFolder, State};

/// The file at a path, in a list in the order of paths.
pub(super) fn find<'a>(items: &'a [Item], path: &Path) -> Option<&'a Item> {
    let place = items.binary_search_by(|item| item.path.as_path().cmp(path)).ok()?;
    items.get(place)
}

impl Library {
    /// Whether an engine elsewhere has told what it has.
    pub fn has_lists_of_engines(&self) -> bool {
        self.lane.is_some() || !self.further.is_empty()
    }

    /// The engines elsewhere that have a file, by their places. None if it is a file of this computer.
    pub fn lanes_of(&self, id: &EntryId) -> Vec<usize> {
        let EntryId::Source(ModelSource::Path(path)) = id else { return Vec::new() };
        let is_listed = find(&self.inventory.items, path).is_some();
        if is_listed && self.lane.is_none() {
            return Vec::new();
        }
        let first = self.lane.filter(|_| is_listed);
        let further = self.further.iter().filter(|(_, items)| find(items, path).is_some());
        first.into_iter().chain(further.map(|(lane, _)| *lane)).collect()
    }

    /// Models that this computer does not have, each with the engines elsewhere that have it, in the order of their paths.
    pub fn of_engines(&self) -> impl Iterator<Item = (&Item, Vec<usize>)> {
        let first = self.lane.map(|lane| (lane, &self.inventory.items));
        let further = self.further.iter().map(|(lane, items)| (*lane, items));
        let mut found: BTreeMap<&Path, (&Item, Vec<usize>)> = BTreeMap::new();
        for (lane, items) in first.into_iter().chain(further) {
            for item in items.iter().filter(|item| is_model(item)) {
                let is_here = self.lane.is_none() && find(&self.inventory.items, &item.path).is_some();
                if !is_here {
                    found.entry(&item.path).or_insert_with(|| (item, Vec::new())).1.push(lane);
                }
            }
        }
        found.into_values()
    }

    /// Models of further engines that are not in the inventory, each with the engines that have it.
    pub fn of_further_engines(&self) -> impl Iterator<Item = (&Item, Vec<usize>)> {
        self.of_engines().filter(|(item, _)| find(&self.inventory.items, &item.path).is_none())
    }

    /// How many models further engines have that are not in the inventory.
    pub fn further_models(&self) -> usize {
        self.further_models
    }

    /// Takes the models of an engine elsewhere whose files are not the inventory.
    fn list_further(&mut self, lane: usize, inventory: Inventory) {
        let models = inventory.items.into_iter().filter(is_model);
        let models = models.map(|mut item| {
            // It is an image on the other computer.
            item.about.preview = None;
            item
        });
        self.further.insert(lane, models.collect());
        self.further_changed();
    }

    /// Forgets the models of an engine that is gone. Where they were the inventory, those of the next one are, or else those of
    /// this computer.
    fn forget_lane(&mut self, lane: usize, next: Option<usize>) {
        if self.lane != Some(lane) {
            if self.further.remove(&lane).is_some() {
                self.further_changed();
            }
            return;
        }
        match next.and_then(|next| Some((next, self.further.remove(&next)?))) {
            Some((next, items)) => self.show_lane(next, Inventory { items, others: 0 }),
            None => self.show_own(),
        }
    }

    /// Forgets the models of all engines elsewhere. The inventory is again that of this computer.
    pub(in crate::window::state) fn forget_lanes(&mut self) {
        self.further.clear();
        if self.lane.is_none() {
            return self.further_changed();
        }
        self.show_own();
        self.search = Search::Never;
    }

    /// Makes the files of this computer the inventory again.
    fn show_own(&mut self) {
        self.lane = None;
        let own = std::mem::take(&mut self.own);
        self.replace(own);
    }

    /// Makes the files of an engine elsewhere the inventory.
    fn show_lane(&mut self, lane: usize, inventory: Inventory) {
        if self.lane.replace(lane).is_none() {
            self.own = std::mem::take(&mut self.inventory);
        }
        self.further.remove(&lane);
        self.replace(inventory);
    }

    /// Counts them anew.
    pub(super) fn further_changed(&mut self) {
        self.further_models = self.of_further_engines().count();
        self.version += 1;
    }
}

/// Whether it is a model by itself, and not the second half of one.
fn is_model(item: &Item) -> bool {
    item.half_of.is_none() && item.content().is_some_and(|content| content.kind == Kind::Model)
}

impl State {
    /// An engine elsewhere has told what is in its folders. That is the inventory, if no engine of this computer is used and
    /// it is the first.
    pub(in crate::window::state) fn listed_elsewhere(
        &mut self,
        lane: usize,
        folders: Vec<PathBuf>,
        inventory: Inventory,
        now: f64,
    ) {
        if self.lanes.first_elsewhere() == Some(lane) && self.lanes.are_elsewhere() {
            self.library.folders = folders.into_iter().map(SearchedFolder::Named).collect();
            self.library.show_lane(lane, inventory);
            self.library.search = Search::Ended(now);
        } else if self.lanes.name_elsewhere(lane).is_some() {
            self.library.list_further(lane, inventory);
        }
    }

    /// An engine is gone. If its files are those of the window, they are those of the next one from now on, which is asked for all.
    pub(in crate::window::state) fn forget_files_of(&mut self, lane: usize) -> Option<Command> {
        let next = self.lanes.first_elsewhere();
        self.library.forget_lane(lane, next);
        let was_first = self.lanes.are_elsewhere() && next.is_none_or(|next| lane < next);
        if !was_first {
            return None;
        }
        self.end_vain_search();
        next.map(|lane| Command::List { lane })
    }

    /// Ends a search for models at engines elsewhere, if none of them is left to answer.
    pub(in crate::window::state) fn end_vain_search(&mut self) {
        let is_left = self.lanes.first_elsewhere().is_some() && !self.engine.ended;
        if self.lanes.are_elsewhere() && !is_left && matches!(self.library.search, Search::Running(_)) {
            self.library.search = Search::Never;
        }
    }

    /// The names of the engines elsewhere that have a file; `None` if it is a file of this computer.
    pub fn engines_with(&self, id: &EntryId) -> Option<String> {
        Some(self.names_of(&self.library.lanes_of(id))).filter(|names| !names.is_empty())
    }

    /// The names of engines elsewhere.
    pub fn names_of(&self, lanes: &[usize]) -> String {
        let names = lanes.iter().filter_map(|&lane| self.lanes.name_elsewhere(lane));
        names.collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use sluice_engine::{
        models::{About, Content, Finding},
        session::{Failure, LaneChange},
    };

    use super::*;
    use crate::{
        engines::{EngineList, OtherEngine},
        window::state::Lanes,
    };

    fn inventory(names: &[&str]) -> Inventory {
        let item = |name: &&str| Item {
            path: format!("/models/{name}.gguf").into(),
            name: (*name).to_owned(),
            content: Finding::Content(Content {
                sees_images: false,
                maps: None,
                what: String::new(),
                kind: Kind::Model,
                family: None,
                roles: Vec::new(),
                modes: Vec::new(),
                format: "GGUF".to_owned(),
                parameters: 1,
                bytes: 2,
                dtypes: BTreeMap::new(),
            }),
            about: About::default(),
            same_as: None,
            half_of: None,
        };
        Inventory { items: names.iter().map(item).collect(), others: 0 }
    }

    fn state(here: bool, others: &[&str]) -> State {
        let other = |name: &&str| OtherEngine {
            name: (*name).to_owned(),
            command: format!("ssh -T {name} sluice worker"),
            is_on: true,
        };
        let list = EngineList { here, others: others.iter().map(other).collect(), ..EngineList::default() };
        let mut state = State::default();
        state.use_lanes(Lanes::of(&list.used()));
        state
    }

    fn listed(state: &State) -> Vec<(String, String)> {
        let named = |(item, lanes): (&Item, Vec<usize>)| (item.name.clone(), state.names_of(&lanes));
        state.library.of_engines().map(named).collect()
    }

    fn pairs(all: &[(&str, &str)]) -> Vec<(String, String)> {
        all.iter().map(|(name, engines)| ((*name).to_owned(), (*engines).to_owned())).collect()
    }

    #[test]
    fn models_of_engines_elsewhere_stand_beside_those_of_this_computer() {
        let mut state = state(true, &["attic", "cellar"]);
        state.library.list(Some(inventory(&["a"])), 0.0);
        state.listed_elsewhere(0, Vec::new(), inventory(&["x"]), 1.0);
        assert!(listed(&state).is_empty(), "this computer's own engine is not asked");
        state.listed_elsewhere(1, Vec::new(), inventory(&["a", "b"]), 1.0);
        state.listed_elsewhere(2, Vec::new(), inventory(&["b", "c"]), 1.0);
        assert_eq!(listed(&state), pairs(&[("b", "attic, cellar"), ("c", "cellar")]));
        assert_eq!(state.library.further_models(), 2);
        let id = |name: &str| EntryId::path(format!("/models/{name}.gguf"));
        assert_eq!(state.engines_with(&id("a")), None);
        assert_eq!(state.engines_with(&id("b")).as_deref(), Some("attic, cellar"));
        assert!(state.library.item(&id("c")).is_some() && state.library.item(&id("x")).is_none());
        // What this computer has is found anew, and one of them is gone.
        state.library.list(Some(inventory(&["b"])), 2.0);
        assert_eq!(listed(&state), pairs(&[("a", "attic"), ("c", "cellar")]));
        assert_eq!(state.forget_files_of(2), None);
        assert_eq!((listed(&state), state.library.further_models()), (pairs(&[("a", "attic")]), 1));
    }

    #[test]
    fn without_this_computer_the_files_of_the_first_engine_are_those_of_the_window() {
        let mut state = state(false, &["attic", "cellar"]);
        state.library.search = Search::Running(None);
        state.listed_elsewhere(1, Vec::new(), inventory(&["b", "c"]), 1.0);
        assert_eq!(state.library.search, Search::Running(None), "the first one has not answered");
        state.listed_elsewhere(0, vec!["/models".into()], inventory(&["a", "b"]), 2.0);
        assert_eq!(state.library.search, Search::Ended(2.0));
        assert_eq!(state.library.inventory.items.len(), 2);
        let all = [("a", "attic"), ("b", "attic, cellar"), ("c", "cellar")];
        assert_eq!(listed(&state), pairs(&all));
        assert_eq!(state.library.further_models(), 1);
        // The files of this computer are back when its engine is.
        assert!(!state.library.list(Some(inventory(&["own"])), 3.0));
        assert_eq!(state.library.inventory.items.len(), 2, "they are not shown yet");
        assert_eq!(state.library.search, Search::Ended(2.0), "it is that of the engine");
        state.change_engines(&EngineList::default().used());
        assert_eq!(state.library.inventory.items, inventory(&["own"]).items);
        assert!(listed(&state).is_empty());
    }

    #[test]
    fn the_next_engine_takes_the_place_of_one_that_is_given_up() {
        let mut state = state(false, &["attic", "cellar"]);
        assert!(state.library.list(Some(inventory(&["own"])), 0.0));
        state.listed_elsewhere(0, Vec::new(), inventory(&["a"]), 1.0);
        state.listed_elsewhere(1, Vec::new(), inventory(&["b"]), 1.0);
        let give_up = |state: &mut State, lane: usize| {
            let failure = Failure { message: "the connection broke".to_owned(), advice: None };
            state.lane_changed(lane, LaneChange::GivenUp(failure));
            state.jobs.take_following()
        };
        let lists = |commands: &[Command]| {
            let lane = |command: &Command| match command {
                Command::List { lane } => Some(*lane),
                _ => None,
            };
            commands.iter().filter_map(lane).collect::<Vec<_>>()
        };
        let commands = give_up(&mut state, 0);
        assert_eq!(state.library.inventory.items, inventory(&["b"]).items);
        assert_eq!((listed(&state), lists(&commands)), (pairs(&[("b", "cellar")]), vec![1]));
        state.library.search = Search::Running(None);
        let commands = give_up(&mut state, 1);
        assert_eq!(state.library.inventory.items, inventory(&["own"]).items);
        assert_eq!((lists(&commands), state.library.search), (Vec::new(), Search::Never));
    }

    #[test]
    fn models_of_further_engines_are_found_by_their_names() {
        for here in [true, false] {
            let mut state = state(here, &["attic", "cellar"]);
            state.library.list(Some(inventory(&["a"])), 0.0);
            let first = usize::from(here);
            state.listed_elsewhere(first, Vec::new(), inventory(&["b"]), 1.0);
            state.listed_elsewhere(first + 1, Vec::new(), inventory(&["c"]), 1.0);
            for (name, is_there) in [("a", here), ("b", true), ("C.gguf", true), ("d", false), ("", false)] {
                let found = state.library.model_named(name, &ModelSource::Starter);
                let name = name.to_lowercase();
                let path = format!("/models/{}.gguf", name.trim_end_matches(".gguf"));
                assert_eq!(found, is_there.then(|| ModelSource::Path(path.into())), "{name}");
            }
        }
    }

    #[test]
    fn the_search_ends_with_the_only_engine() {
        let mut state = state(false, &["attic"]);
        state.library.search = Search::Running(None);
        state.engine_gone();
        assert_eq!(state.library.search, Search::Never);
    }
}
