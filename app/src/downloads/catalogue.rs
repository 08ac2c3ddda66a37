//! Models that are offered for download: `presets/catalogue.toml`.

use std::{collections::BTreeMap, path::PathBuf, sync::LazyLock};

use serde::Deserialize;
use sluice_engine::{
    models::{KnownModel, PublishedPart, StoredAs, known_model, published_models},
    precision::Format,
    session::PlanSubject,
};

use super::{Link, Order, Source, Wanted};

/// Classes of cards by their gigabytes of VRAM.
pub const CLASSES: [u32; 4] = [8, 12, 16, 24];

/// The catalogue.
#[derive(Debug, Default)]
pub struct Catalogue {
    /// When its names, sizes and hashes were looked up.
    pub date: String,
    /// Its models, in the order in which they are offered.
    pub models: Vec<Listed>,
}

/// A model of the catalogue.
#[derive(Debug)]
pub struct Listed {
    /// Its identifier, that of the well-known model if it is one.
    pub id: String,
    /// Its name.
    pub name: String,
    /// The licence of its weights, if it is known.
    pub licence: Option<String>,
    /// Its repository.
    pub repository: String,
    /// The repository with its other half, in a folder beside it.
    pub beside: Option<String>,
    /// The well-known model, whose needs can be predicted.
    pub known: Option<&'static KnownModel>,
    /// Ways to download it, that with most bits first.
    pub versions: Vec<Version>,
}

/// A way to download a model.
#[derive(Debug)]
pub struct Version {
    /// The format of the denoiser, such as `bf16` or `Q4_K_S`.
    pub format: String,
    /// Whether conditions have to be accepted first.
    pub is_gated: bool,
    /// The classes of cards for which it is the smallest good choice.
    pub cards: Vec<u32>,
    /// Its files, that which opens first; none if it is a whole repository in the layout of diffusers.
    pub files: Vec<ListedFile>,
}

/// A file of the catalogue.
#[derive(Debug, Clone)]
pub struct ListedFile {
    /// The components in it, by their folders in `presets/configurations.json`; `t5` for T5.
    pub holds: Vec<String>,
    /// Bits of a weight on average.
    pub bits: f64,
    /// What to download.
    pub wanted: Wanted,
}

impl Listed {
    /// The version for a device with this many bytes of memory: the smallest good choice for its class.
    pub fn version_for(&self, vram: u64) -> Option<&Version> {
        let gigabytes = (vram as f64 / f64::from(1 << 30)).round() as u32;
        let fitting = CLASSES.iter().rev().find(|class| **class <= gigabytes);
        let class = fitting.unwrap_or(&CLASSES[0]);
        self.versions.iter().find(|version| version.cards.contains(class)).or(self.versions.last())
    }

    /// The version in a format.
    pub fn version(&self, format: &str) -> Option<&Version> {
        self.versions.iter().find(|version| version.format.eq_ignore_ascii_case(format))
    }

    /// Bytes of a version's files; those of a whole repository, which is predicted.
    pub fn bytes(&self, version: &Version) -> Option<u64> {
        match version.files.is_empty() {
            true => self.known?.bytes().ok(),
            false => version.files.iter().try_fold(0u64, |sum, file| sum.checked_add(file.wanted.bytes?)),
        }
    }

    /// What a plan for a version is asked for; `None` if the model is not well known.
    pub fn subject(&self, version: &Version) -> Option<PlanSubject> {
        let known = self.known?;
        if version.files.is_empty() {
            return Some(PlanSubject::Known(known.id.clone()));
        }
        let published = published_models().iter().find(|published| published.id == known.id)?;
        let stored = version.files.iter().flat_map(|file| {
            let parts = published.parts.iter().filter(|part| file.has(part));
            parts.map(|part| (part.folder.clone(), StoredAs { format: file.format(), bits: file.bits }))
        });
        Some(PlanSubject::KnownAs(known.id.clone(), stored.collect()))
    }

    /// What to download for a version; `None` if its files have to be looked up first.
    pub fn order(&self, version: &Version, folder: PathBuf) -> Option<Order> {
        let files: Vec<Wanted> = version.files.iter().map(|file| file.wanted.clone()).collect();
        let title = format!("{} ({})", self.name, version.format);
        (!files.is_empty()).then_some(Order { title, files, folder, opens: None })
    }

    /// Where the files of a whole repository are looked up.
    pub fn link(&self) -> Link {
        Link::Hub { repository: self.repository.clone(), revision: "main".to_owned(), folder: None }
    }
}

impl ListedFile {
    /// Whether a component of a published model is in it.
    fn has(&self, part: &PublishedPart) -> bool {
        self.holds.iter().any(|name| match name.as_str() {
            "t5" => part.class.contains("T5"),
            name => part.folder == name,
        })
    }

    /// The format of most of its matrices, as its bits and its name tell.
    fn format(&self) -> Format {
        let name = self.wanted.name().to_lowercase();
        match self.bits {
            32.0.. => Format::F32,
            16.0.. => Format::Bf16,
            8.5.. if name.ends_with(".gguf") => Format::Q8_0,
            _ if name.ends_with(".gguf") => Format::Q4K,
            _ if name.contains("int8") => Format::I8,
            _ if name.contains("fp4") => Format::E2m1,
            _ => Format::F8E4m3,
        }
    }
}

impl Catalogue {
    /// The model of this identifier or alias.
    pub fn find(&self, id: &str) -> Option<&Listed> {
        let id = known_model(id).map_or(id, |known| &known.id);
        self.models.iter().find(|listed| listed.id.eq_ignore_ascii_case(id))
    }

    /// The repository with the other half of the model that is in this one.
    pub fn other_half(&self, repository: &str) -> Option<&str> {
        self.models.iter().find_map(|listed| {
            let beside = listed.beside.as_deref()?;
            match repository {
                one if one == listed.repository => Some(beside),
                one if one == beside => Some(listed.repository.as_str()),
                _ => None,
            }
        })
    }
}

/// The catalogue that comes with the program.
pub fn catalogue() -> &'static Catalogue {
    static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(|| {
        read(include_str!("../../../presets/catalogue.toml")).unwrap_or_else(|error| {
            tracing::error!(error, "presets/catalogue.toml cannot be read");
            Catalogue::default()
        })
    });
    &CATALOGUE
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Contents {
    date: String,
    gated: Vec<String>,
    files: BTreeMap<String, FileEntry>,
    models: Vec<ModelEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileEntry {
    repository: String,
    path: String,
    folder: String,
    /// Its name, if it should have another one than there.
    name: Option<String>,
    holds: Vec<String>,
    #[serde(default = "sixteen")]
    bits: f64,
    bytes: u64,
    sha256: Option<String>,
}

fn sixteen() -> f64 {
    16.0
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ModelEntry {
    id: String,
    /// For models that are not well known to the planner.
    name: Option<String>,
    licence: Option<String>,
    beside: Option<String>,
    versions: Vec<VersionEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct VersionEntry {
    format: String,
    #[serde(default)]
    files: Vec<String>,
    /// Whether it is the whole repository, in the layout of diffusers.
    #[serde(default)]
    folder: bool,
    #[serde(default)]
    cards: Vec<u32>,
}

/// A catalogue in TOML, or why a text is none.
///
/// # Errors
/// When the text is no TOML of this form, or a model or file that it needs is missing.
pub fn read(text: &str) -> Result<Catalogue, String> {
    let Contents { date, gated, files, models } = toml::from_str(text).map_err(|error| error.to_string())?;
    let entry = |id: &String| files.get(id).ok_or_else(|| format!("there is no file {id}"));
    let file = |id: &String| {
        let entry = entry(id)?;
        let own = entry.path.rsplit('/').next().unwrap_or(&entry.path);
        let source = Source::Hub {
            repository: entry.repository.clone(),
            revision: "main".to_owned(),
            path: entry.path.clone(),
        };
        let to = PathBuf::from(&entry.folder).join(entry.name.as_deref().unwrap_or(own));
        let (bytes, sha256) = (Some(entry.bytes), entry.sha256.clone());
        let wanted = Wanted { source, to, sorts: false, bytes, sha256 };
        Ok(ListedFile { holds: entry.holds.clone(), bits: entry.bits, wanted })
    };
    let version = |version: VersionEntry| {
        if version.files.is_empty() != version.folder {
            return Err(format!("the version {} has neither files nor a folder", version.format));
        }
        let files = version.files.iter().map(file).collect::<Result<Vec<_>, String>>()?;
        let is_gated = |id: &String| entry(id).is_ok_and(|entry| gated.contains(&entry.repository));
        let is_gated = version.files.iter().any(is_gated);
        Ok(Version { format: version.format, is_gated, cards: version.cards, files })
    };
    let model = |model: ModelEntry| {
        let known = known_model(&model.id);
        let name = model.name.or_else(|| Some(known?.name.clone()));
        let name = name.ok_or_else(|| format!("{} has no name", model.id))?;
        let licence = model.licence.or_else(|| known?.licence.clone());
        let first = model.versions.first().and_then(|version| version.files.first());
        let repository = match (known, first) {
            (Some(known), _) => known.hub.clone(),
            (None, Some(first)) => entry(first)?.repository.clone(),
            (None, None) => return Err(format!("{} has no repository", model.id)),
        };
        let versions = model.versions.into_iter().map(version).collect::<Result<_, String>>()?;
        let id = known.map_or(model.id, |known| known.id.clone());
        Ok(Listed { id, name, licence, repository, beside: model.beside, known, versions })
    };
    Ok(Catalogue { date, models: models.into_iter().map(model).collect::<Result<_, String>>()? })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use sluice_engine::models::{FAMILIES, known_models, published_models};

    use super::*;

    #[test]
    fn every_well_known_model_and_every_family_is_in_it() {
        let catalogue = catalogue();
        // Its repository was taken down, and ComfyUI's has no such file.
        let gone = "lens-base";
        for known in known_models().iter().filter(|known| known.id != gone) {
            let listed = catalogue.find(&known.id).unwrap_or_else(|| panic!("{} is missing", known.id));
            assert_eq!(listed.name, known.name);
        }
        assert!(catalogue.find("flux").is_some());
        let families: HashSet<&str> =
            known_models().iter().map(|known| known.open().unwrap().family.name()).collect();
        for family in FAMILIES {
            assert!(families.contains(family.name()), "{}", family.name());
        }
    }

    #[test]
    fn each_class_of_cards_has_one_choice_of_each_model() {
        for listed in &catalogue().models {
            for class in CLASSES {
                let chosen = listed.versions.iter().filter(|version| version.cards.contains(&class));
                assert_eq!(chosen.count(), 1, "{} for {class} GB", listed.id);
            }
            let bytes: Vec<u64> = CLASSES
                .iter()
                .map(|class| listed.bytes(listed.version_for(u64::from(*class) << 30).unwrap()).unwrap())
                .collect();
            assert!(bytes.is_sorted(), "{}: a smaller card gets a larger choice: {bytes:?}", listed.id);
        }
        let flux = catalogue().find("flux.1-schnell").unwrap();
        assert_eq!(flux.version_for(6 << 30).unwrap().format, "Q4_K_S");
        assert_eq!(flux.version_for(23 << 30).unwrap().format, "fp8");
    }

    #[test]
    fn hashes_and_paths_are_well_formed() {
        for file in
            catalogue().models.iter().flat_map(|listed| &listed.versions).flat_map(|version| &version.files)
        {
            let Wanted { source, to, sha256, .. } = &file.wanted;
            let Source::Hub { repository, path, .. } = source else { panic!("{source:?}") };
            assert!(
                crate::downloads::has_weights(path) && repository.split('/').count() == 2,
                "{repository} {path}"
            );
            assert!(file.wanted.target(std::path::Path::new("/m")).is_ok(), "{to:?}");
            if let Some(hash) = sha256 {
                assert!(hash.len() == 64 && hash.bytes().all(|letter| letter.is_ascii_hexdigit()), "{path}");
                assert_eq!(*hash, hash.to_ascii_lowercase(), "{path}");
            }
        }
        let names: Vec<(&PathBuf, &Source)> = catalogue()
            .models
            .iter()
            .flat_map(|listed| &listed.versions)
            .flat_map(|version| &version.files)
            .map(|file| (&file.wanted.to, &file.wanted.source))
            .collect();
        for (to, source) in &names {
            assert!(names.iter().all(|(other, of)| other != to || of == source), "{to:?} is two files");
        }
    }

    #[test]
    fn a_model_by_an_alias_is_found_and_sizes_beyond_all_numbers_are_not_known() {
        let files = "[files.a]\nrepository = \"a/b\"\npath = \"a.gguf\"\nfolder = \"\"\nholds = []\n";
        let text = format!(
            "date = \"\"\ngated = []\n{files}bytes = {}\n[[models]]\nid = \"flux\"\n[[models.versions]]\n\
             format = \"Q8_0\"\nfiles = [\"a\", \"a\", \"a\"]\n",
            i64::MAX
        );
        let catalogue = read(&text).unwrap();
        let listed = catalogue.find("flux").unwrap();
        assert_eq!(listed.id, known_model("flux").unwrap().id);
        assert_eq!(listed.bytes(&listed.versions[0]), None);
    }

    /// What a version is planned with comes to the size of its files, but for what they have that no run uses.
    #[test]
    fn every_version_can_be_planned_in_its_own_size() {
        let mut wrong = Vec::new();
        for listed in &catalogue().models {
            let Some(known) = listed.known else { continue };
            for version in listed.versions.iter().filter(|version| !version.files.is_empty()) {
                let Some(PlanSubject::KnownAs(id, stored)) = listed.subject(version) else {
                    panic!("{} in {} has no parts", listed.id, version.format)
                };
                assert_eq!(id, known.id);
                let model = known.open_as(&stored);
                let model = model.unwrap_or_else(|error| panic!("{id} in {}: {error}", version.format));
                let blocks = model.components().flat_map(|component| &component.blocks);
                let used: u64 = blocks.map(|block| block.stored_bytes()).sum();
                let ratio = used as f64 / listed.bytes(version).unwrap() as f64;
                if !(0.9..1.1).contains(&ratio) {
                    wrong.push(format!("{id} in {}: {ratio:.3}", version.format));
                }
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    /// The sizes are those that the blueprints give, with the bits that the catalogue states.
    #[test]
    fn sizes_fit_the_blueprints() {
        let mut wrong = Vec::new();
        for listed in &catalogue().models {
            let Some(known) = listed.known else { continue };
            let published = published_models().iter().find(|published| published.id == known.id).unwrap();
            let weights = |name: &str| -> u64 {
                let parts = published.parts.iter().filter(|part| match name {
                    "t5" => part.class.contains("T5"),
                    name => part.folder == name,
                });
                let tensors = parts.flat_map(|part| part.tensors().unwrap().unwrap());
                tensors.map(|(_, shape)| shape.iter().product::<usize>() as u64).sum()
            };
            for version in &listed.versions {
                for file in &version.files {
                    let name = file.wanted.name();
                    let weights: u64 = file.holds.iter().map(|part| weights(part)).sum();
                    let expected = weights as f64 * file.bits / 8.0;
                    let ratio = file.wanted.bytes.unwrap() as f64 / expected;
                    let tolerance = if file.bits == 16.0 || file.bits == 32.0 { 0.04 } else { 0.15 };
                    if weights == 0 || (ratio - 1.0).abs() >= tolerance {
                        wrong.push(format!("{} {name}: {ratio:.3} of {expected:.4e}", listed.id));
                    }
                }
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
}
