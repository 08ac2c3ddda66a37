//! The models on disk and well-known ones, and how they fit. No drawing and no I/O.

mod engines;
mod fit;
mod listed;
mod named;
mod placed;

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    iter,
    path::{Path, PathBuf},
};

use sluice_engine::{
    models::{Inventory, Item, Kind, KnownDefaults, Place},
    request::{ModelSource, Request},
    session::{Defaults, Failure, ModelSummary},
};

use super::State;
use engines::find;
pub use fit::{Fit, Fits, Way};
use listed::Listed;
pub use listed::title_of;

/// What a row of the list is about.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum EntryId {
    /// A model, a LoRA or another file.
    Source(ModelSource),
    /// A well-known model that is not here, by its identifier.
    Known(String),
    /// A version of a model of the catalogue: the model's identifier, and the format.
    Version(String, String),
}

impl EntryId {
    /// A file or a folder.
    pub fn path(path: impl Into<PathBuf>) -> Self {
        Self::Source(ModelSource::Path(path.into()))
    }

    /// The name under which settings know it.
    pub fn key(&self) -> String {
        match self {
            Self::Source(source) => source.to_string(),
            Self::Known(id) => id.clone(),
            Self::Version(id, format) => format!("{id} {format}"),
        }
    }
}

/// A well-known model.
#[derive(Debug, Clone, PartialEq)]
pub struct KnownEntry {
    /// Its identifier.
    pub id: String,
    /// Other identifiers for it.
    pub aliases: Vec<String>,
    /// Its name.
    pub name: String,
    /// Its family's name.
    pub family: String,
    /// Its repository.
    pub hub: String,
    /// Its licence, if known.
    pub licence: Option<String>,
    /// Bytes of its weights in 16 bits.
    pub bytes: u64,
    /// The settings to start from.
    pub defaults: KnownDefaults,
}

/// A folder that is searched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SearchedFolder {
    /// That of another program.
    Found(Place),
    /// One that was named outside of the window.
    Named(PathBuf),
    /// One that was added in the window.
    Added(PathBuf),
}

impl SearchedFolder {
    /// Its path.
    pub fn path(&self) -> &PathBuf {
        match self {
            Self::Found(place) => &place.folder,
            Self::Named(path) | Self::Added(path) => path,
        }
    }
}

/// The search for models.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum Search {
    /// Nothing was searched yet.
    #[default]
    Never,
    /// With the numbers of files that were read and that have to be, once they are known.
    Running(Option<(usize, usize)>),
    /// It ended at this time of the window's clock.
    Ended(f64),
}

/// What is known about another file that looks the same: size, header and samples of the weights.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Likeness {
    /// The contents are being compared.
    Comparing,
    /// It is a copy.
    Same,
    /// The contents differ.
    Differs,
    /// One of the files cannot be read.
    Unreadable(String),
}

/// The models on disk, and what is known about them.
#[derive(Debug, Default)]
pub struct Library {
    /// Whether the place is open.
    pub is_open: bool,
    /// The search for models.
    pub search: Search,
    /// The folders that are searched.
    pub folders: Vec<SearchedFolder>,
    /// What is in them.
    pub inventory: Inventory,
    /// What is on this computer, while the inventory is that of an engine elsewhere.
    own: Inventory,
    /// The engine elsewhere whose files are the inventory, by its place; `None` for those of this computer.
    lane: Option<usize>,
    /// Models of further engines elsewhere, by their places.
    further: BTreeMap<usize, Vec<Item>>,
    /// How many of these are not in the inventory.
    further_models: usize,
    /// The names of what is in the inventory.
    pub listed: Listed,
    /// Well-known models.
    pub known: Vec<KnownEntry>,
    /// The identifiers of those that are on disk.
    here: HashSet<String>,
    /// What models consist of, or why they cannot be opened.
    pub described: HashMap<ModelSource, Result<Box<ModelSummary>, Failure>>,
    /// Trigger words in the headers of LoRAs.
    pub trigger_words: HashMap<PathBuf, Vec<String>>,
    /// The hashes of files that look like others, or why they cannot be read.
    pub hashes: HashMap<PathBuf, Result<String, String>>,
    /// How models fit.
    pub fits: Fits,
    /// Rises with every change of the list, for caches.
    pub version: u64,
}

impl Library {
    /// Takes the result of a search on this computer. Returns whether that is another inventory.
    pub fn list(&mut self, inventory: Option<Inventory>, now: f64) -> bool {
        if self.lane.is_some() {
            self.own = inventory.unwrap_or_else(|| std::mem::take(&mut self.own));
            return false;
        }
        self.search = Search::Ended(now);
        let is_new = inventory.is_some();
        if let Some(inventory) = inventory {
            self.replace(inventory);
        }
        is_new
    }

    fn replace(&mut self, inventory: Inventory) {
        self.listed = Listed::of(&inventory);
        self.inventory = inventory;
        self.find_known();
        self.described.clear();
        self.trigger_words.clear();
        self.hashes.clear();
        self.fits.renew();
        self.further_changed();
    }

    /// The file or folder at a path, of this computer or else of an engine elsewhere.
    pub fn item(&self, id: &EntryId) -> Option<&Item> {
        let EntryId::Source(ModelSource::Path(path)) = id else { return None };
        iter::once(&self.inventory.items).chain(self.further.values()).find_map(|items| find(items, path))
    }

    /// How many models are on disk. Copies and the halves of a model count once.
    pub fn models_found(&self) -> usize {
        let is_model = |item: &&Item| {
            item.content().is_some_and(|content| content.kind == Kind::Model)
                && item.same_as.is_none()
                && item.half_of.is_none()
        };
        self.inventory.items.iter().filter(is_model).count()
    }

    /// Files that look like others.
    pub fn alike_files(&self) -> Vec<PathBuf> {
        let items = &self.inventory.items;
        let copied: HashSet<&Path> = items.iter().filter_map(|item| item.same_as.as_deref()).collect();
        let is_alike = |item: &&Item| item.same_as.is_some() || copied.contains(item.path.as_path());
        items.iter().filter(is_alike).map(|item| item.path.clone()).collect()
    }

    /// The other files that look like an item, and whether they are copies of it.
    pub fn alike<'a>(&'a self, item: &'a Item) -> impl Iterator<Item = (&'a Path, Likeness)> {
        let first = |item: &'a Item| item.same_as.as_deref().unwrap_or(&item.path);
        let others = self.inventory.items.iter();
        let others = others.filter(move |other| other.path != item.path && first(other) == first(item));
        others.map(|other| (other.path.as_path(), self.likeness(&item.path, &other.path)))
    }

    fn likeness(&self, one: &Path, other: &Path) -> Likeness {
        match [one, other].map(|path| self.hashes.get(path)) {
            [Some(Err(error)), _] | [_, Some(Err(error))] => Likeness::Unreadable(error.clone()),
            [Some(Ok(one)), Some(Ok(other))] if one == other => Likeness::Same,
            [Some(Ok(_)), Some(Ok(_))] => Likeness::Differs,
            _ => Likeness::Comparing,
        }
    }

    /// A well-known model.
    pub fn known(&self, id: &EntryId) -> Option<&KnownEntry> {
        let (EntryId::Known(id) | EntryId::Version(id, _)) = id else { return None };
        self.known.iter().find(|known| known.id == *id)
    }

    /// Whether a well-known model is on disk, judging by names of its family.
    pub fn is_here(&self, known: &KnownEntry) -> bool {
        self.here.contains(&known.id)
    }

    /// The models that make images, as far as that is known. Of copies, one.
    pub fn image_models(&self) -> impl Iterator<Item = &Path> {
        let of_clips = self.known.iter().filter(|known| known.defaults.frames > 1);
        let families: HashSet<&str> = of_clips.map(|known| known.family.as_str()).collect();
        let makes_images = move |item: &&Item| {
            let Some(content) = item.content().filter(|content| content.kind == Kind::Model) else {
                return false;
            };
            let makes_clips = match self.described.get(&ModelSource::Path(item.path.clone())) {
                Some(Ok(summary)) => summary.frame_multiple.is_some(),
                Some(Err(_)) | None => {
                    content.family.as_deref().is_some_and(|family| families.contains(family))
                }
            };
            !makes_clips && item.same_as.is_none() && item.half_of.is_none()
        };
        self.inventory.items.iter().filter(makes_images).map(|item| item.path.as_path())
    }

    /// Takes the well-known models.
    pub fn set_known(&mut self, known: Vec<KnownEntry>) {
        self.known = known;
        self.find_known();
        self.version += 1;
    }

    /// Finds the well-known models that are on disk: a file of the family that has the name of one counts for that with the
    /// longest name in it.
    fn find_known(&mut self) {
        let named: Vec<(&KnownEntry, Vec<String>)> = self
            .known
            .iter()
            .map(|known| {
                let names = iter::once(&known.id).chain(&known.aliases);
                (known, names.map(|name| plain(name)).collect())
            })
            .collect();
        let mut here = HashSet::new();
        for item in &self.inventory.items {
            let Some(content) = item.content().filter(|content| content.kind == Kind::Model) else {
                continue;
            };
            let name = plain(&item.name);
            let of_family =
                named.iter().filter(|(known, _)| content.family.as_deref() == Some(&*known.family));
            let lengths: Vec<(&KnownEntry, usize)> = of_family
                .map(|(known, names)| {
                    let is_repository = item.name.eq_ignore_ascii_case(&known.hub);
                    let inside = names.iter().filter(|own| name.contains(*own)).map(String::len).max();
                    (*known, if is_repository { usize::MAX } else { inside.unwrap_or(0) })
                })
                .collect();
            let longest = lengths.iter().map(|(_, length)| *length).max().unwrap_or(0);
            let best = lengths.iter().filter(|(_, length)| *length == longest && longest > 0);
            here.extend(best.map(|(known, _)| known.id.clone()));
        }
        self.here = here;
    }
}

/// Its letters and digits, in lower case.
fn plain(name: &str) -> String {
    name.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Models that are suggested.
const SUGGESTED: usize = 3;
/// An image of a suggested model takes less than this, in seconds, if there are such models.
const QUICK: f64 = 120.0;

impl Library {
    /// Well-known models that suit the machine, for a person who has none: of each family the largest for images that runs
    /// quickly, and the largest of these. If none is quick, the fastest. Empty until all fits are known.
    pub fn suggested(&self) -> Vec<&KnownEntry> {
        let has_models = self
            .inventory
            .items
            .iter()
            .any(|item| item.content().is_some_and(|content| content.kind == Kind::Model));
        let seconds = |known: &KnownEntry| match self.fits.of(&EntryId::Known(known.id.clone())) {
            Some(Fit::Runs { seconds, .. }) => Some(*seconds),
            _ => None,
        };
        let is_known = |known: &KnownEntry| self.fits.of(&EntryId::Known(known.id.clone())).is_some();
        if has_models || !self.known.iter().all(is_known) {
            return Vec::new();
        }
        let makes_images = |known: &&KnownEntry| known.defaults.frames == 1 && !known.defaults.fills_in;
        let mut runs: Vec<(&KnownEntry, f64)> = self
            .known
            .iter()
            .filter(makes_images)
            .filter_map(|known| Some((known, seconds(known)?)))
            .collect();
        if runs.iter().any(|(_, seconds)| *seconds < QUICK) {
            runs.retain(|(_, seconds)| *seconds < QUICK);
            runs.sort_by_key(|(known, _)| std::cmp::Reverse(known.bytes));
        } else {
            runs.sort_by(|one, other| one.1.total_cmp(&other.1));
        }
        let mut suggested: Vec<&KnownEntry> = Vec::new();
        for (known, _) in runs {
            if suggested.len() < SUGGESTED && suggested.iter().all(|other| other.family != known.family) {
                suggested.push(known);
            }
        }
        suggested
    }
}

/// What to do next about fits.
#[derive(Debug, Clone, PartialEq)]
pub enum NextFit {
    /// Read what a model consists of.
    Describe(ModelSource),
    /// Ask the engine about a request.
    Ask(EntryId, Box<Request>),
    /// Nothing.
    Nothing,
}

impl State {
    /// The next step towards the fits of some models, in their order. One question is open at a time, and that about the
    /// next image comes first.
    pub fn next_fit(&mut self, wanted: &[EntryId]) -> NextFit {
        self.library.fits.follow(&self.settings.memory.preferences);
        if self.library.fits.is_asking() || self.planning.is_asking() || self.engine.ended {
            return NextFit::Nothing;
        }
        for id in wanted {
            if !self.library.fits.lacks(id) {
                continue;
            }
            match id {
                EntryId::Known(_) | EntryId::Version(..) => {
                    let Some(known) = self.library.known(id) else { continue };
                    return NextFit::Ask(id.clone(), Box::new(of_known(&known.defaults)));
                }
                EntryId::Source(source) => match self.library.described.get(source) {
                    None => return NextFit::Describe(source.clone()),
                    Some(Err(failure)) => {
                        let failure = failure.clone();
                        self.library.fits.set(id.clone(), failure);
                    }
                    Some(Ok(summary)) => {
                        let request = self.usual_request(summary);
                        return NextFit::Ask(id.clone(), Box::new(request));
                    }
                },
            }
        }
        NextFit::Nothing
    }

    /// A request with the settings that a model starts with.
    fn usual_request(&self, summary: &ModelSummary) -> Request {
        let ModelSummary { source, defaults, modes, fills_in, .. } = summary;
        let request = defaults.given_to(Request { model: source.clone(), ..Request::default() });
        let request = match self.settings.library.defaults_of(source) {
            Some(own) => Request { negative_prompt: String::new(), ..own.given_to(request) },
            None => request,
        };
        request.with_needed_images(modes, *fills_in)
    }
}

fn of_known(defaults: &KnownDefaults) -> Request {
    let KnownDefaults { width, height, frames, steps, guidance, ref modes, fills_in } = *defaults;
    let defaults = Defaults { width, height, frames, steps, guidance, ..Defaults::default() };
    defaults.given_to(Request::default()).with_needed_images(modes, fills_in)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use sluice_engine::{
        checkpoint::Role,
        models::{About, Content, Finding},
    };

    use super::*;

    fn known(id: &str, aliases: &[&str], family: &str) -> KnownEntry {
        KnownEntry {
            id: id.to_owned(),
            aliases: aliases.iter().map(|alias| (*alias).to_owned()).collect(),
            name: id.to_owned(),
            family: family.to_owned(),
            hub: format!("someone/{id}"),
            licence: None,
            bytes: 0,
            defaults: KnownDefaults {
                width: 64,
                height: 64,
                frames: 1,
                steps: 4,
                guidance: 1.0,
                modes: Vec::new(),
                fills_in: false,
            },
        }
    }

    fn item(name: &str, family: &str) -> Item {
        Item {
            path: format!("/models/{name}.gguf").into(),
            name: name.to_owned(),
            content: Finding::Content(Content {
                sees_images: false,
                maps: None,
                what: String::new(),
                kind: Kind::Model,
                family: Some(family.to_owned()),
                roles: vec![Role::Denoiser],
                modes: Vec::new(),
                format: "GGUF".to_owned(),
                parameters: 1,
                bytes: 2,
                dtypes: BTreeMap::new(),
            }),
            about: About::default(),
            same_as: None,
            half_of: None,
        }
    }

    #[test]
    fn a_well_known_model_is_here_if_a_file_of_its_family_has_its_name_and_no_longer_one() {
        let mut library = Library::default();
        library.set_known(vec![
            known("wan-2.2-14b", &["wan-14b"], "Wan"),
            known("wan-2.2-i2v-14b", &["wan2.2-i2v-a14b"], "Wan"),
            known("flux.1-dev", &["flux"], "FLUX.1"),
            known("flux.1-schnell", &["flux-schnell"], "FLUX.1"),
        ]);
        let items = vec![
            item("flux1-schnell-Q4", "FLUX.1"),
            item("wan2.2_i2v_14B_fp8", "Wan"),
            item("flux", "Chroma"),
        ];
        library.list(Some(Inventory { items, others: 0 }), 0.0);
        let here: Vec<bool> = library.known.iter().map(|known| library.is_here(known)).collect();
        assert_eq!(here, [false, true, false, true]);
        let items = vec![item("someone/flux.1-dev", "FLUX.1")];
        library.list(Some(Inventory { items, others: 0 }), 1.0);
        assert!(library.is_here(&library.known[2]) && !library.is_here(&library.known[3]));
    }

    #[test]
    fn models_for_images_are_told_from_those_for_clips() {
        let mut library = Library::default();
        let mut wan = known("wan-2.2-14b", &[], "Wan");
        wan.defaults.frames = 81;
        library.set_known(vec![known("flux.1-dev", &[], "FLUX.1"), wan]);
        let copy = Item { same_as: Some("/models/flux.gguf".into()), ..item("other", "FLUX.1") };
        let items = vec![item("flux", "FLUX.1"), copy, item("new", "Unheard of"), item("wan", "Wan")];
        library.list(Some(Inventory { items, others: 0 }), 0.0);
        let found: Vec<&Path> = library.image_models().collect();
        assert_eq!(found, [Path::new("/models/flux.gguf"), Path::new("/models/new.gguf")]);
    }
}
