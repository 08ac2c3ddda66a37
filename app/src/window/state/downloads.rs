//! Downloads of models, as the window shows them. No drawing and no I/O.

use std::path::PathBuf;

use sluice_engine::session::Failure;

use super::{EntryId, Fit, State, Way};
use crate::{
    downloads::{
        Catalogue, Download, DownloadId, Found, Listed, Offer, Phase, RESERVE, Site, Version,
        catalogue::{ListedFile, catalogue},
    },
    language::{tr, units},
};

/// Models that are suggested at the first start.
const SUGGESTED: usize = 3;
/// An image of a suggested model takes less than this, in seconds, if there are such models.
const QUICK: f64 = 120.0;
/// A suggested model is smaller than this to download, in bytes, if there are such models.
const LARGE: u64 = 32 << 30;

/// What was asked for last: a link, or words to search.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Asked {
    /// Nothing yet.
    #[default]
    Nothing,
    /// The answer is on its way.
    Waiting(String),
    /// What a link leads to.
    Offer(Box<Offer>),
    /// Repositories that were found, and for which words.
    Found(String, Vec<Found>),
    /// It cannot be had, and whether for lack of a connection.
    Failed {
        /// What was asked for.
        what: String,
        /// Why.
        failure: Failure,
        /// Whether there is no connection.
        is_offline: bool,
    },
}

/// What is known about a token.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum TokenState {
    /// It was not looked for.
    #[default]
    Unknown,
    /// There is none in the keyring.
    None,
    /// There is one in the keyring.
    Kept,
    /// The keyring does not take it.
    Failed(String),
}

/// Downloads of models.
#[derive(Debug, Default)]
pub struct GetModels {
    /// Whether models can be downloaded at all.
    pub is_there: bool,
    /// Running, finished and failed downloads.
    pub list: Vec<Download>,
    /// Where models go.
    pub folder: Option<PathBuf>,
    /// Bytes that are free there.
    pub free: Option<u64>,
    /// The bytes of each download that were here when that was read.
    then: Vec<(DownloadId, u64)>,
    /// What was asked for last.
    pub asked: Asked,
    /// The token for Hugging Face.
    pub token: TokenState,
    /// The token for Civitai.
    pub civitai_token: TokenState,
}

impl GetModels {
    /// The download of a model of the catalogue, in any of its versions.
    pub fn of(&self, listed: &Listed) -> Option<&Download> {
        let is_it = |download: &&Download| {
            let rest = download.title.strip_prefix(&listed.name);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(" ("))
        };
        self.list.iter().rev().find(is_it)
    }

    /// Running downloads, for a glance: how many, and which share of their bytes is here.
    pub fn at_a_glance(&self) -> Option<(usize, f32)> {
        let running = || {
            self.list.iter().filter(|download| download.is_unfinished() && download.phase != Phase::Paused)
        };
        let bytes: u64 = running().filter_map(|download| download.bytes).sum();
        let done: u64 = running().map(|download| download.done).sum();
        let count = running().count();
        (count > 0).then(|| (count, (done as f64 / bytes.max(1) as f64).clamp(0.0, 1.0) as f32))
    }

    /// The token for a site.
    pub fn token_of(&self, site: Site) -> &TokenState {
        match site {
            Site::HuggingFace => &self.token,
            Site::Civitai => &self.civitai_token,
        }
    }

    /// Notes what is known about the token for a site.
    pub fn set_token(&mut self, site: Site, token: TokenState) {
        match site {
            Site::HuggingFace => self.token = token,
            Site::Civitai => self.civitai_token = token,
        }
    }

    /// Takes the bytes that are free in the folder for models. What these downloads have written is no part of them.
    pub fn take_free(&mut self, free: Option<u64>, downloads: &[Download]) {
        self.free = free;
        self.then = downloads.iter().map(|one| (one.id, one.done)).collect();
    }

    /// Bytes that have come since the free ones were read.
    fn come_since(&self) -> u64 {
        let then =
            |id: DownloadId| self.then.iter().find(|(known, _)| *known == id).map_or(0, |(_, done)| *done);
        self.list.iter().map(|one| one.done.saturating_sub(then(one.id))).sum()
    }

    /// Bytes that are free beside those that downloads on the list still need, if known.
    pub fn unclaimed(&self) -> Option<u64> {
        let running = self.list.iter().filter(|one| one.is_unfinished() && one.phase != Phase::Paused);
        let claimed: u64 = running.map(|one| one.bytes.unwrap_or_default().saturating_sub(one.done)).sum();
        Some(self.free?.saturating_sub(self.come_since()).saturating_sub(claimed))
    }
}

/// Whether a file has the size of one of the catalogue, of which some are computed from the numbers of weights.
fn is_about(bytes: u64, listed: u64) -> bool {
    bytes.abs_diff(listed) <= listed / 100
}

fn version_id(listed: &Listed, version: &Version) -> EntryId {
    EntryId::Version(listed.id.clone(), version.format.clone())
}

impl State {
    /// Bytes of VRAM of the card that models are for: the simulated one, or that of this computer; 0 without one.
    pub fn vram(&self) -> u64 {
        use sluice_engine::memory::DeviceChoice;
        match &self.settings.memory.preferences.device {
            DeviceChoice::Simulated(id) => sluice_engine::hardware::card(id).map_or(0, |card| card.vram),
            DeviceChoice::Processor => 0,
            _ => {
                let gpus = self.engine.hardware.iter().flat_map(|hardware| &hardware.gpus);
                gpus.map(|gpu| gpu.vram_total).max().unwrap_or(0)
            }
        }
    }

    /// What was found to generate with, in words.
    pub fn found_device(&self) -> Option<String> {
        let hardware = self.engine.hardware.as_ref()?;
        Some(match hardware.gpus.first() {
            Some(gpu) => format!("{}, {}", gpu.name, units::memory(gpu.vram_total)),
            None => {
                let ram = units::memory(hardware.ram_total);
                match hardware.cpu.as_str() {
                    "" => tr!("state-device-without-name", ram = ram),
                    cpu => tr!("state-device", cpu = cpu, ram = ram),
                }
            }
        })
    }

    /// Whether nobody has opened a model of their own yet, so that the window helps to find one.
    pub fn is_first_start(&self) -> bool {
        self.downloads.is_there
            && self.settings.recent_models.is_empty()
            && !matches!(self.chosen_model(), sluice_engine::request::ModelSource::Path(_))
    }

    /// Whether all files of a version are on this computer, by their names and sizes. A whole repository is known by its name.
    pub fn is_here(&self, listed: &Listed, version: &Version) -> bool {
        match version.files.is_empty() {
            true => self.library.listed.has_repository(&listed.repository),
            false => version.files.iter().all(|file| self.has_file(file)),
        }
    }

    fn has_file(&self, file: &ListedFile) -> bool {
        let is_whole = |own: Option<u64>| match file.wanted.bytes {
            Some(bytes) => own.is_some_and(|own| is_about(own, bytes)),
            None => true,
        };
        self.library.listed.has_file(&file.wanted.name(), is_whole)
    }

    /// The bytes that are free for a version whose files need more than that. What a download has claimed is its own.
    pub fn lacks_space(&self, listed: &Listed, version: &Version) -> Option<u64> {
        let is_open = !self.is_here(listed, version) && self.downloads.of(listed).is_none();
        let free = self.downloads.unclaimed().filter(|_| is_open)?.saturating_sub(RESERVE);
        let missing: Option<u64> = match version.files.is_empty() {
            true => listed.bytes(version),
            false => {
                let missing = version.files.iter().filter(|file| !self.has_file(file));
                missing.map(|file| file.wanted.bytes).sum()
            }
        };
        missing.is_some_and(|missing| missing > free).then_some(free)
    }

    /// How a version of a model of the catalogue runs.
    pub fn fit_of(&self, listed: &Listed, version: &Version) -> Option<&Fit> {
        self.library.fits.of(&version_id(listed, version))
    }

    /// The version of a model for this computer: of those that run well, that with most bits; if none does, or as long as
    /// that is not known, the smallest good choice for the card.
    pub fn version_for<'a>(&self, listed: &'a Listed) -> Option<&'a Version> {
        self.choice(listed).unwrap_or_else(|_| listed.version_for(self.vram()))
    }

    /// The same, or the version whose fit has to be known first. What is larger than the smallest good choice is only of
    /// interest if that runs well.
    fn choice<'a>(&self, listed: &'a Listed) -> Result<Option<&'a Version>, &'a Version> {
        let Some(usual) = listed.version_for(self.vram()) else { return Ok(None) };
        let runs_well = |version: &'a Version| match self.fit_of(listed, version) {
            Some(fit) => Ok(matches!(fit, Fit::Runs { way: Way::Well, .. })),
            None => Err(version),
        };
        let is_usual = |version: &&Version| version.format == usual.format;
        let place = listed.versions.iter().position(|version| is_usual(&version)).unwrap_or(0);
        let (larger, others) = listed.versions.split_at(place);
        let others = if runs_well(usual)? { larger } else { others };
        for version in others {
            if runs_well(version)? {
                return Ok(Some(version));
            }
        }
        Ok(Some(usual))
    }

    /// The versions whose fits the catalogue shows: those that are usual for the card, then all others.
    pub fn versions_to_fit(&self) -> Vec<EntryId> {
        let known = || catalogue().models.iter().filter(|listed| listed.known.is_some());
        let vram = self.vram();
        let usual = known().filter_map(|listed| Some(version_id(listed, listed.version_for(vram)?)));
        let all = known().flat_map(|listed| {
            let versions = listed.versions.iter();
            versions.map(|version| version_id(listed, version))
        });
        usual.chain(all).collect()
    }

    /// The models for somebody who has none: of the catalogue's, in its order, those for images that run quickly and are
    /// not too large, one of each family; if there are too few, the fastest. Empty until the fits that decide are known.
    pub fn first_models(&self) -> Vec<&'static Listed> {
        self.suited().unwrap_or_default()
    }

    /// The versions whose fits are the next to know for [`State::first_models`]; once these are there, they themselves.
    pub fn first_to_fit(&self) -> Vec<EntryId> {
        let of = |listed: &Listed| self.version_for(listed).map(|version| version_id(listed, version));
        match self.suited() {
            Ok(models) => models.into_iter().filter_map(of).collect(),
            Err(next) => next.into_iter().collect(),
        }
    }

    /// The models, or the version whose fit decides next.
    fn suited(&self) -> Result<Vec<&'static Listed>, Option<EntryId>> {
        if self.library.known.is_empty() {
            return Err(None);
        }
        let Catalogue { models, .. } = catalogue();
        let makes_images = models.iter().filter_map(|listed| {
            let known = self.library.known(&EntryId::Known(listed.id.clone()))?;
            let defaults = &known.defaults;
            let is_plain = defaults.frames == 1 && !defaults.fills_in && defaults.modes.is_empty();
            is_plain.then_some((listed, known.family.as_str()))
        });
        let makes_images: Vec<(&'static Listed, &str)> = makes_images.collect();
        let run = |listed: &'static Listed| {
            let unknown = |version: &Version| Some(version_id(listed, version));
            let Some(version) = self.choice(listed).map_err(unknown)? else { return Ok(None) };
            match self.fit_of(listed, version) {
                Some(Fit::Runs { seconds, .. }) => Ok(Some((version, *seconds))),
                Some(Fit::TooBig { .. } | Fit::Cannot(_)) => Ok(None),
                None => Err(unknown(version)),
            }
        };
        let is_small = |listed: &Listed, version: &Version| {
            !version.is_gated && listed.bytes(version).is_some_and(|bytes| bytes < LARGE)
        };
        let mut chosen = Chosen::default();
        // First those that may be good, in the catalogue's order, until there are enough.
        for (listed, family) in &makes_images {
            if chosen.is_complete() {
                break;
            }
            if !listed.versions.iter().any(|version| is_small(listed, version)) || chosen.has(family) {
                continue;
            }
            if let Some((version, seconds)) = run(listed)?
                && seconds < QUICK
                && is_small(listed, version)
            {
                chosen.add(listed, family);
            }
        }
        if !chosen.is_complete() {
            let mut runs = Vec::new();
            for (listed, family) in &makes_images {
                runs.extend(run(listed)?.map(|(_, seconds)| (*listed, *family, seconds)));
            }
            runs.sort_by(|one, other| one.2.total_cmp(&other.2));
            for (listed, family, _) in runs {
                chosen.add(listed, family);
            }
        }
        Ok(chosen.models.into_iter().map(|(listed, _)| listed).collect())
    }
}

/// Suggested models, one of each family.
#[derive(Default)]
struct Chosen<'a> {
    models: Vec<(&'static Listed, &'a str)>,
}

impl<'a> Chosen<'a> {
    fn is_complete(&self) -> bool {
        self.models.len() == SUGGESTED
    }

    fn has(&self, family: &str) -> bool {
        self.models.iter().any(|(_, other)| *other == family)
    }

    fn add(&mut self, listed: &'static Listed, family: &'a str) {
        if !self.is_complete() && !self.has(family) {
            self.models.push((listed, family));
        }
    }
}

#[cfg(test)]
mod tests {
    use sluice_engine::models::{About, Content, Finding, Inventory, Item, Kind};

    use super::*;

    fn item(path: PathBuf, bytes: u64) -> Item {
        Item {
            name: path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
            path,
            content: Finding::Content(Content {
                what: String::new(),
                kind: Kind::Model,
                family: Some("Z-Image".to_owned()),
                roles: Vec::new(),
                sees_images: false,
                maps: None,
                modes: Vec::new(),
                format: "GGUF".to_owned(),
                parameters: 1,
                bytes,
                dtypes: std::collections::BTreeMap::new(),
            }),
            about: About::default(),
            same_as: None,
            half_of: None,
        }
    }

    #[test]
    fn a_version_is_here_if_its_own_files_are() {
        let listed = catalogue().find("z-image").unwrap();
        let [other, version] = ["bf16", "Q4_K_M"].map(|format| listed.version(format).unwrap());
        let mut state = State::default();
        let mut list = |change: &dyn Fn(usize, u64) -> u64| {
            let files = version.files.iter().enumerate().map(|(place, file)| {
                let path = std::path::Path::new("/models").join(file.wanted.name());
                item(path, change(place, file.wanted.bytes.unwrap()))
            });
            let mut items: Vec<Item> = files.collect();
            items.sort_by(|one, other| one.path.cmp(&other.path));
            state.library.list(Some(Inventory { items, others: 0 }), 0.0);
            [other, version].map(|version| state.is_here(listed, version))
        };
        assert_eq!(list(&|_, bytes| bytes), [false, true], "the encoder that both have is not enough");
        let broken = |place, bytes| if place == 0 { bytes / 2 } else { bytes };
        assert_eq!(list(&broken), [false, false], "a file of that name with another size");
    }

    fn download(title: &str, phase: Phase, [done, bytes]: [u64; 2]) -> Download {
        Download {
            id: DownloadId(1),
            title: title.to_owned(),
            phase,
            done,
            bytes: Some(bytes),
            speed: 0.0,
            files: (0, 1),
            arrived: Vec::new(),
        }
    }

    #[test]
    fn a_download_claims_the_same_space_until_it_is_done() {
        let mut downloads = GetModels::default();
        let at = |done| vec![download("Fox", Phase::Waiting, [done, 10])];
        downloads.take_free(Some(100), &at(4));
        for done in [4, 7, 10] {
            downloads.list = at(done);
            assert_eq!(downloads.unclaimed(), Some(94), "{done}");
        }
        downloads.take_free(Some(94), &at(10));
        assert_eq!(downloads.unclaimed(), Some(94));
    }

    #[test]
    fn a_version_that_is_downloaded_does_not_lack_the_space_that_it_takes() {
        let listed = catalogue().find("z-image").unwrap();
        let version = listed.version("Q4_K_M").unwrap();
        let bytes = version.files.iter().map(|file| file.wanted.bytes.unwrap()).sum::<u64>();
        let mut state = State::default();
        state.downloads.take_free(Some(bytes), &[]);
        let (free, lacking) = (bytes - RESERVE, state.lacks_space(listed, version));
        assert_eq!(lacking, Some(free), "some space stays free");
        state.downloads.list = vec![download(&listed.name, Phase::Waiting, [0, bytes])];
        assert_eq!(state.lacks_space(listed, version), None);
    }
}
