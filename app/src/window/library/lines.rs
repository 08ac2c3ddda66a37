//! The lines of the list: headings, and rows under them.

use std::collections::{BTreeMap, HashSet};

use sluice_engine::{
    models::{Content, Finding, Item, Kind, adapter_fits},
    request::ModelSource,
};

use crate::{
    language::{said, tr},
    window::{
        sentences::phrase,
        settings::LibrarySettings,
        state::{EntryId, Fit, Fits, KnownEntry, Library, State, title_of},
    },
};

/// What the list shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Tab {
    /// Models on disk and well-known ones.
    #[default]
    Models,
    /// LoRAs and other adapters.
    Loras,
    /// Parts of models, and files that Sluice does not use.
    Others,
}

impl Tab {
    /// All lists.
    pub const ALL: [Self; 3] = [Self::Models, Self::Loras, Self::Others];

    /// Its name, and what it lists.
    pub fn words(self) -> (String, String) {
        match self {
            Self::Models => (tr!("library-models"), tr!("library-models-tip")),
            Self::Loras => (tr!("library-loras"), tr!("library-loras-tip")),
            Self::Others => (tr!("library-others"), tr!("library-others-tip")),
        }
    }
}

/// What is looked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// The list.
    pub tab: Tab,
    /// Words that a row must contain.
    pub words: String,
    /// Whether only rows with a star are shown.
    pub only_favourites: bool,
}

/// A line of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// A heading, and the number of rows under it.
    Heading(Heading, usize),
    /// A row.
    Row(EntryId),
}

/// What the rows under a heading have in common.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Heading {
    /// They have a star.
    Favourites,
    /// They come with Sluice.
    BuiltIn,
    /// They are not on this computer and suit its device.
    Suited(Option<String>),
    /// They are models of a family, if it is known.
    Family(Option<String>),
    /// They cannot be opened.
    Broken,
    /// These engines elsewhere have them, and this computer has not.
    Engines(String),
    /// They are not on this computer.
    Elsewhere,
    /// They are LoRAs for the family of the opened model.
    Fitting(String),
    /// They are LoRAs that do not say for which family.
    PerhapsFitting,
    /// They are LoRAs for another family, if it is known.
    For(Option<String>),
    /// They are parts of models.
    Parts,
    /// They are files that Sluice does not use.
    Unused,
}

impl Heading {
    /// The words of the heading.
    pub fn words(&self) -> String {
        match self {
            Self::Favourites => tr!("library-favourites"),
            Self::BuiltIn => tr!("library-built-in"),
            Self::Suited(Some(device)) => tr!("library-suited", device = device),
            Self::Suited(None) => tr!("library-suited-here"),
            Self::Family(family) => family.as_deref().map(said).unwrap_or_default(),
            Self::Broken => tr!("library-cannot-be-opened"),
            Self::Engines(names) => names.clone(),
            Self::Elsewhere => tr!("library-not-here"),
            Self::Fitting(family) => tr!("library-loras-fitting", family = said(family)),
            Self::PerhapsFitting => tr!("library-loras-perhaps-fitting"),
            Self::For(Some(family)) => tr!("library-loras-for", family = said(family)),
            Self::For(None) => tr!("library-loras-for-unknown"),
            Self::Parts => tr!("library-parts-of-models"),
            Self::Unused => tr!("library-not-used"),
        }
    }
}

/// The lines that a filter leaves.
pub fn lines(state: &State, filter: &Filter) -> Vec<Line> {
    let sought = Sought::new(filter, state);
    let groups = match filter.tab {
        Tab::Models => models(state, &sought),
        Tab::Loras => loras(state, &sought),
        Tab::Others => others(&state.library, &sought),
    };
    let mut lines = Vec::new();
    for (heading, rows) in groups.into_iter().filter(|(_, rows)| !rows.is_empty()) {
        lines.push(Line::Heading(heading, rows.len()));
        lines.extend(rows.into_iter().map(Line::Row));
    }
    lines
}

/// The other lists in which a filter leaves rows, and how many.
pub fn elsewhere(state: &State, filter: &Filter) -> Vec<(Tab, usize)> {
    let count = |tab: Tab| {
        let lines = lines(state, &Filter { tab, ..filter.clone() });
        (tab, lines.iter().filter(|line| matches!(line, Line::Row(_))).count())
    };
    let others = Tab::ALL.into_iter().filter(|tab| *tab != filter.tab).map(count);
    others.filter(|(_, count)| *count > 0).collect()
}

/// How many files each tab has.
pub fn counts(library: &Library) -> [usize; 3] {
    let mut counts = [0; 3];
    for item in library.inventory.items.iter().filter(|item| item.half_of.is_none()) {
        let tab = match &item.content {
            Finding::Content(Content { kind: Kind::Model, .. }) | Finding::Error(_) => Tab::Models,
            Finding::Content(Content { kind: Kind::Adapter, .. }) => Tab::Loras,
            Finding::Content(_) => Tab::Others,
        };
        counts[tab as usize] += 1;
    }
    counts[Tab::Models as usize] += library.further_models();
    counts
}

type Group = (Heading, Vec<EntryId>);

struct Sought<'a> {
    words: Vec<String>,
    only_favourites: bool,
    settings: &'a LibrarySettings,
    fits: &'a Fits,
}

impl<'a> Sought<'a> {
    fn new(filter: &Filter, state: &'a State) -> Self {
        let words = filter.words.to_lowercase().split_whitespace().map(str::to_owned).collect();
        let (settings, fits) = (&state.settings.library, &state.library.fits);
        Self { words, only_favourites: filter.only_favourites, settings, fits }
    }

    /// Whether a row with these texts is left, or with what is `shown` of it in the language of the window.
    fn keeps(&self, id: &EntryId, texts: &[&str], shown: impl FnOnce() -> Vec<String>) -> bool {
        let needs_key = self.only_favourites || !self.words.is_empty();
        if !needs_key {
            return true;
        }
        let key = id.key();
        if self.only_favourites && !self.settings.favourites.contains(&key) {
            return false;
        }
        let note = self.settings.notes.get(&key).map(String::as_str);
        let tags = self.settings.tags.get(&key).into_iter().flatten().map(String::as_str);
        let mut all =
            texts.iter().copied().chain(note).chain(tags).collect::<Vec<_>>().join("\n").to_lowercase();
        let has_words = |all: &str| self.words.iter().all(|word| all.contains(word.as_str()));
        if has_words(&all) {
            return true;
        }
        for text in shown().into_iter().chain(self.fits.of(id).map(Fit::words_without_figures)) {
            all.push('\n');
            all.push_str(&text.to_lowercase());
        }
        has_words(&all)
    }

    fn keeps_item(&self, item: &Item) -> bool {
        let path = item.path.to_string_lossy();
        let about = &item.about;
        let what = match &item.content {
            Finding::Content(content) => content.what.as_str(),
            Finding::Error(error) => error.as_str(),
        };
        let mut texts = vec![&*path, &item.name, what];
        texts.extend([&about.title, &about.notes, &about.base].into_iter().flatten().map(String::as_str));
        texts.extend(about.trigger_words.iter().chain(&about.tags).map(String::as_str));
        self.keeps(&EntryId::path(&item.path), &texts, || match &item.content {
            Finding::Content(content) => {
                let family = content.family.iter().map(|family| said(family));
                family.chain([said(&content.what), content.stored_as()]).collect()
            }
            Finding::Error(error) => vec![phrase(error)],
        })
    }

    fn keeps_known(&self, known: &KnownEntry) -> bool {
        let licence = known.licence.as_deref().unwrap_or_default();
        let texts = [known.name.as_str(), &known.id, &known.family, &known.hub, licence];
        let shown = || vec![tr!("library-not-here"), said(&known.family)];
        self.keeps(&EntryId::Known(known.id.clone()), &texts, shown)
    }
}

fn models(state: &State, sought: &Sought<'_>) -> Vec<Group> {
    let library = &state.library;
    let mut built_in = Vec::new();
    for (source, name, detail, words) in [
        (
            ModelSource::Starter,
            tr!("library-starter"),
            tr!("library-starter-detail"),
            "Starter built in Z-Image images",
        ),
        (
            ModelSource::StarterClip,
            tr!("library-clip-starter"),
            tr!("library-clip-starter-detail"),
            "Clip starter built in Wan clips",
        ),
    ] {
        let id = EntryId::Source(source);
        if sought.keeps(&id, &[words], || vec![tr!("library-built-in"), name, detail]) {
            built_in.push(id);
        }
    }
    let of_engines = of_engines(state, sought);
    let in_them: HashSet<&EntryId> = of_engines.iter().flat_map(|(_, rows)| rows).collect();
    let here = |item: &&Item| item.half_of.is_none() && sought.keeps_item(item);
    let mut items: Vec<(&Item, &Content)> = library
        .inventory
        .items
        .iter()
        .filter(here)
        .filter_map(|item| Some((item, item.content()?)))
        .filter(|(item, content)| {
            content.kind == Kind::Model && !in_them.contains(&EntryId::path(&item.path))
        })
        .collect();
    items.sort_by_cached_key(|(item, content)| (content.family.clone(), title_of(item).to_lowercase()));
    let mut groups: Vec<Group> = Vec::new();
    for (item, content) in items {
        let family = Heading::Family(content.family.clone());
        if groups.last().is_none_or(|(last, _)| *last != family) {
            groups.push((family, Vec::new()));
        }
        if let Some((_, rows)) = groups.last_mut() {
            rows.push(EntryId::path(&item.path));
        }
    }
    groups.extend(of_engines);
    let favourites = favourites(&mut groups, sought.settings);
    let broken = library.inventory.items.iter().filter(|item| item.content().is_none()).filter(here);
    let broken = broken.map(|item| EntryId::path(&item.path)).collect();
    let mut known: Vec<&KnownEntry> =
        library.known.iter().filter(|known| sought.keeps_known(known) && !library.is_here(known)).collect();
    known.sort_by_cached_key(|known| known.family.clone());
    let suggested: Vec<&KnownEntry> =
        library.suggested().into_iter().filter(|known| sought.keeps_known(known)).collect();
    known.retain(|known| suggested.iter().all(|other| other.id != known.id));
    let suited = Heading::Suited(library.fits.device().map(str::to_owned));
    let suggested = suggested.into_iter().map(|known| EntryId::Known(known.id.clone())).collect();
    let known = known.into_iter().map(|known| EntryId::Known(known.id.clone())).collect();
    let first = [(Heading::Favourites, favourites), (Heading::BuiltIn, built_in), (suited, suggested)];
    let last = [(Heading::Broken, broken), (Heading::Elsewhere, known)];
    first.into_iter().chain(groups).chain(last).collect()
}

/// Models of several engines elsewhere that this computer does not have, under the names of those that have them.
fn of_engines(state: &State, sought: &Sought<'_>) -> Vec<Group> {
    if state.lanes.shown().is_none() {
        return Vec::new();
    }
    let mut groups: BTreeMap<Vec<usize>, Vec<&Item>> = BTreeMap::new();
    for (item, lanes) in state.library.of_engines().filter(|(item, _)| sought.keeps_item(item)) {
        groups.entry(lanes).or_default().push(item);
    }
    let family = |item: &Item| item.content().and_then(|content| content.family.clone());
    let group = |(lanes, mut items): (Vec<usize>, Vec<&Item>)| {
        items.sort_by_cached_key(|item| (family(item), title_of(item).to_lowercase()));
        let rows: Vec<EntryId> = items.into_iter().map(|item| EntryId::path(&item.path)).collect();
        (Heading::Engines(state.names_of(&lanes)), rows)
    };
    groups.into_iter().map(group).collect()
}

/// Takes the rows with a star out of the groups.
fn favourites(groups: &mut [Group], settings: &LibrarySettings) -> Vec<EntryId> {
    let mut starred = Vec::new();
    if settings.favourites.is_empty() {
        return starred;
    }
    for (_, rows) in groups {
        rows.retain(|id| {
            let is_starred = settings.favourites.contains(&id.key());
            if is_starred {
                starred.push(id.clone());
            }
            !is_starred
        });
    }
    starred
}

fn loras(state: &State, sought: &Sought<'_>) -> Vec<Group> {
    let family = state.summary().map(|summary| summary.family_name.as_str());
    let mut items: Vec<(&Item, &Content)> = state
        .library
        .inventory
        .items
        .iter()
        .filter(|item| item.half_of.is_none())
        .filter_map(|item| Some((item, item.content()?)))
        .filter(|(item, content)| content.kind == Kind::Adapter && sought.keeps_item(item))
        .collect();
    items.sort_by_cached_key(|(item, _)| title_of(item).to_lowercase());
    let (mut fitting, mut unknown, mut others): (Vec<_>, Vec<_>, Vec<(Option<String>, EntryId)>) =
        Default::default();
    for (item, content) in items {
        let id = EntryId::path(&item.path);
        match family.and_then(|family| adapter_fits(content.family.as_deref(), family)) {
            Some(true) => fitting.push(id),
            None if family.is_some() => unknown.push(id),
            _ => others.push((content.family.clone(), id)),
        }
    }
    let starred = favourites(&mut [(Heading::PerhapsFitting, fitting.clone())], sought.settings);
    fitting.retain(|id| !starred.contains(id));
    others.sort_by(|(one, _), (other, _)| (one.is_none(), one).cmp(&(other.is_none(), other)));
    let fits = Heading::Fitting(family.unwrap_or_default().to_owned());
    let mut groups =
        vec![(Heading::Favourites, starred), (fits, fitting), (Heading::PerhapsFitting, unknown)];
    for (family, id) in others {
        let heading = Heading::For(family);
        if groups.last().is_none_or(|(last, _)| *last != heading) {
            groups.push((heading, Vec::new()));
        }
        if let Some((_, rows)) = groups.last_mut() {
            rows.push(id);
        }
    }
    groups
}

fn others(library: &Library, sought: &Sought<'_>) -> Vec<Group> {
    let of = |kind: Kind| {
        let items = library.inventory.items.iter().filter(move |item| {
            item.content().is_some_and(|content| content.kind == kind) && sought.keeps_item(item)
        });
        let mut items: Vec<&Item> = items.collect();
        items.sort_by_cached_key(|item| title_of(item).to_lowercase());
        items.into_iter().map(|item| EntryId::path(&item.path)).collect::<Vec<_>>()
    };
    let parts = [of(Kind::Part), of(Kind::ControlNet), of(Kind::IpAdapter)].concat();
    vec![(Heading::Parts, parts), (Heading::Unused, of(Kind::Other))]
}
