//! The models, adapters and upscalers that an order can name.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use serde::Serialize;
use sluice_engine::{
    adapters::nearest,
    checkpoint::{MapKind, Role},
    models::{Inventory, Item, Kind, Remembered, scan},
    request::ModelSource,
};

use super::OrderError;
use crate::enhancing::usual_describer;

/// The most names that an error lists.
const LISTED: usize = 12;

/// Something with a name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Shelved {
    /// Its name, which nothing else of its kind has.
    pub name: String,
    /// Where it is.
    #[serde(skip)]
    pub source: ModelSource,
    /// What it is, such as `FLUX.1 denoiser`.
    pub what: String,
    /// The name of its family, as far as that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub family: Option<String>,
}

impl Shelved {
    fn built_in(source: ModelSource, what: &str) -> Self {
        Self { name: source.to_string(), source, what: what.to_owned(), family: None }
    }

    /// The name of its file.
    pub fn file_name(&self) -> String {
        match &self.source {
            ModelSource::Path(path) => path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            other => other.to_string(),
        }
    }

    fn is_named(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name) || self.file_name().eq_ignore_ascii_case(name)
    }
}

/// What is in the model folders.
#[derive(Debug, Clone, Default)]
pub struct Shelf {
    /// Models, beginning with those that come with Sluice.
    pub models: Vec<Shelved>,
    /// LoRAs and other adapters.
    pub adapters: Vec<Shelved>,
    /// ControlNets.
    pub control_nets: Vec<Shelved>,
    /// IP-Adapters.
    pub ip_adapters: Vec<Shelved>,
    /// Upscalers, beginning with the one that comes with Sluice.
    pub upscalers: Vec<Shelved>,
    /// Map estimators, which make maps for ControlNets.
    pub estimators: BTreeMap<MapKind, Vec<Shelved>>,
    /// Detectors, whose boxes detailers inpaint again.
    pub detectors: Vec<Shelved>,
    /// Language models that see images, beginning with the one that is asked if none is named.
    pub describers: Vec<Shelved>,
    /// Whether a path may be given in place of a name.
    takes_paths: bool,
    /// Whether it is that of an engine elsewhere, whose paths cannot be looked at.
    is_elsewhere: bool,
}

impl Shelf {
    /// What is in these folders, from headers.
    pub fn of(folders: &[PathBuf], remembered: &mut Remembered) -> Self {
        let found = scan(folders, remembered, |_, _| ());
        Self::holding(found.items, folders)
    }

    /// What is in the folders of an engine elsewhere.
    pub fn elsewhere(found: Inventory) -> Self {
        Self { is_elsewhere: true, ..Self::holding(found.items, &[]) }
    }

    fn holding(items: Vec<Item>, folders: &[PathBuf]) -> Self {
        let mut shelf = Self {
            models: vec![
                Shelved::built_in(ModelSource::Starter, "the model for images that comes with Sluice"),
                Shelved::built_in(ModelSource::StarterClip, "the model for clips that comes with Sluice"),
            ],
            upscalers: vec![Shelved::built_in(ModelSource::Upscaler, "the upscaler that comes with Sluice")],
            ..Self::default()
        };
        let usual = usual_describer(items.iter()).map(|item| item.path.clone());
        for item in items {
            let Some(content) = item.content() else { continue };
            let row = match (content.kind, content.maps) {
                (_, Some(kind)) => shelf.estimators.entry(kind).or_default(),
                (Kind::Model, _) if item.half_of.is_none() => &mut shelf.models,
                (Kind::Adapter, _) => &mut shelf.adapters,
                (Kind::ControlNet, _) => &mut shelf.control_nets,
                (Kind::IpAdapter, _) => &mut shelf.ip_adapters,
                (Kind::Part, _) if content.roles.contains(&Role::Upscaler) => &mut shelf.upscalers,
                (Kind::Part, _) if content.roles.contains(&Role::Detector) => &mut shelf.detectors,
                (Kind::Part, _) if content.sees_images => &mut shelf.describers,
                _ => continue,
            };
            let (what, family) = (content.what.clone(), content.family.clone());
            row.push(Shelved { name: item.name.clone(), source: source_of(&item), what, family });
        }
        let usual = usual.map(ModelSource::Path);
        shelf.describers.sort_by_key(|shelved| Some(&shelved.source) != usual.as_ref());
        let Self {
            models,
            adapters,
            control_nets,
            ip_adapters,
            upscalers,
            estimators,
            detectors,
            describers,
            ..
        } = &mut shelf;
        let rows = [models, adapters, control_nets, ip_adapters, upscalers, detectors, describers];
        for row in rows.into_iter().chain(estimators.values_mut()) {
            tell_apart(row, folders);
        }
        shelf
    }

    /// The same, where a path may be given in place of a name: for orders of the person at this machine.
    #[must_use]
    pub fn with_paths(self) -> Self {
        Self { takes_paths: true, ..self }
    }

    /// The model of a name.
    ///
    /// # Errors
    /// When there is none.
    pub fn model(&self, name: &str) -> Result<ModelSource, OrderError> {
        self.find("model", &self.models, name)
    }

    /// The file of an adapter.
    ///
    /// # Errors
    /// When there is none of this name.
    pub fn adapter(&self, name: &str) -> Result<PathBuf, OrderError> {
        self.path("LoRA", &self.adapters, name)
    }

    /// The file of an adapter that a prompt names, which is never a path.
    pub fn named_adapter(&self, name: &str) -> Option<PathBuf> {
        match &self.adapters.iter().find(|shelved| shelved.is_named(name))?.source {
            ModelSource::Path(path) => Some(path.clone()),
            _ => None,
        }
    }

    /// The file or folder of a ControlNet.
    ///
    /// # Errors
    /// When there is none of this name.
    pub fn control_net(&self, name: &str) -> Result<PathBuf, OrderError> {
        self.path("ControlNet", &self.control_nets, name)
    }

    /// The file of an IP-Adapter.
    ///
    /// # Errors
    /// When there is none of this name.
    pub fn ip_adapter(&self, name: &str) -> Result<PathBuf, OrderError> {
        self.path("IP-Adapter", &self.ip_adapters, name)
    }

    /// The map estimators for this kind of map.
    pub fn estimators(&self, kind: MapKind) -> &[Shelved] {
        self.estimators.get(&kind).map_or(&[], Vec::as_slice)
    }

    /// The file or folder of a map estimator.
    ///
    /// # Errors
    /// When there is none of this name for this kind of map.
    pub fn estimator(&self, kind: MapKind, name: &str) -> Result<PathBuf, OrderError> {
        let what = match kind {
            MapKind::Depth => "depth model",
            MapKind::Pose => "pose model",
            MapKind::Segments => "segment model",
            MapKind::SoftEdge => "soft edge model",
        };
        self.path(what, self.estimators(kind), name)
    }

    /// The first map estimator for this kind of map, for orders that name none.
    ///
    /// # Errors
    /// When there is none.
    pub fn first_estimator(&self, kind: MapKind) -> Result<PathBuf, OrderError> {
        let first = self.estimators(kind).first().map_or(kind.networks(), |shelved| &shelved.name);
        self.estimator(kind, first)
    }

    /// The file of a detector. Clients know it by the name of the file that it was converted from, such as `face_yolov8n.pt`.
    ///
    /// # Errors
    /// When there is none of this name.
    pub fn detector(&self, name: &str) -> Result<PathBuf, OrderError> {
        self.path("detector", &self.detectors, name.strip_suffix(".pt").unwrap_or(name))
    }

    /// The file or folder of a language model that sees images: of this name, or the usual one.
    ///
    /// # Errors
    /// When there is none.
    pub fn describer(&self, name: Option<&str>) -> Result<PathBuf, OrderError> {
        let usual = || self.describers.first().map_or("Qwen2.5-VL Instruct", |shelved| &shelved.name);
        self.path("language model that sees images", &self.describers, name.unwrap_or_else(usual))
    }

    /// The upscaler of a name.
    ///
    /// # Errors
    /// When there is none.
    pub fn upscaler(&self, name: &str) -> Result<ModelSource, OrderError> {
        self.find("upscaler", &self.upscalers, name)
    }

    /// The file or folder of a model.
    ///
    /// # Errors
    /// When there is none of this name.
    pub fn model_path(&self, name: &str) -> Result<PathBuf, OrderError> {
        self.path("model", &self.models, name)
    }

    fn path(&self, kind: &'static str, row: &[Shelved], name: &str) -> Result<PathBuf, OrderError> {
        match self.find(kind, row, name)? {
            ModelSource::Path(path) => Ok(path),
            built_in => built_in.resolve().map_err(|_| unknown(kind, names(row), name)),
        }
    }

    fn find(&self, kind: &'static str, row: &[Shelved], name: &str) -> Result<ModelSource, OrderError> {
        let name = without_hash(name.trim());
        if let Some(found) = row.iter().find(|shelved| shelved.is_named(name)) {
            return Ok(found.source.clone());
        }
        let is_whole = || name.starts_with('/') || name.get(1..3) == Some(":\\");
        if self.takes_paths && (Path::new(name).exists() || self.is_elsewhere && is_whole()) {
            return Ok(ModelSource::Path(PathBuf::from(name)));
        }
        Err(unknown(kind, names(row), name))
    }
}

fn names(row: &[Shelved]) -> impl Iterator<Item = &str> + Clone {
    row.iter().map(|shelved| shelved.name.as_str())
}

/// That nothing of a kind has this name, with the names that there are.
pub(super) fn unknown<'a>(
    kind: &'static str,
    names: impl Iterator<Item = &'a str> + Clone,
    name: &str,
) -> OrderError {
    let near = nearest(name, names.clone()).map(str::to_owned);
    let known = names.take(LISTED).map(str::to_owned).collect();
    OrderError::Unknown { kind, name: name.to_owned(), near, known }
}

fn source_of(item: &Item) -> ModelSource {
    ModelSource::Path(item.path.clone())
}

/// Names that several have become paths in the folder.
fn tell_apart(row: &mut [Shelved], folders: &[PathBuf]) {
    let mut counts = BTreeMap::<String, usize>::new();
    for shelved in row.iter() {
        *counts.entry(shelved.name.to_lowercase()).or_default() += 1;
    }
    for shelved in row.iter_mut().filter(|shelved| counts[&shelved.name.to_lowercase()] > 1) {
        let ModelSource::Path(path) = &shelved.source else { continue };
        let inside = folders.iter().find_map(|folder| path.strip_prefix(folder).ok()).unwrap_or(path);
        shelved.name = inside.to_string_lossy().replace('\\', "/");
    }
}

/// A1111's title without the hash at its end: `a.safetensors [0123456789]`.
fn without_hash(name: &str) -> &str {
    let title = name.strip_suffix(']').and_then(|rest| rest.rsplit_once(" ["));
    match title {
        Some((title, hash)) if hash.chars().all(|c| c.is_ascii_hexdigit()) => title,
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shelf() -> Shelf {
        let path = |path: &str| Shelved {
            name: Path::new(path).file_stem().unwrap().to_string_lossy().into_owned(),
            source: ModelSource::Path(path.into()),
            what: String::new(),
            family: None,
        };
        let mut shelf = Shelf::of(&[], &mut Remembered::default());
        shelf.models.extend([path("/m/one/a.safetensors"), path("/m/two/A.safetensors"), path("/m/b.gguf")]);
        tell_apart(&mut shelf.models, &["/m".into()]);
        shelf
    }

    #[test]
    fn models_are_found_by_the_names_that_clients_have_for_them() {
        let shelf = shelf();
        let path = |text: &str| ModelSource::Path(text.into());
        for (name, expected) in [
            ("starter", ModelSource::Starter),
            ("Starter-Clip", ModelSource::StarterClip),
            ("b", path("/m/b.gguf")),
            ("b.gguf [0a1b2c3d4e]", path("/m/b.gguf")),
            ("two/A.safetensors", path("/m/two/A.safetensors")),
        ] {
            assert_eq!(shelf.model(name).unwrap(), expected, "{name}");
        }
    }

    #[test]
    fn what_is_not_on_the_shelf_is_not_opened() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let path = file.path().to_str().unwrap();
        let shelf = shelf();
        for name in [path, "../b.gguf", "/m/b.gguf", "/etc/passwd", ""] {
            let error = shelf.model(name).unwrap_err();
            assert!(matches!(error, OrderError::Unknown { .. }), "{name}");
        }
        assert_eq!(shelf.clone().with_paths().model(path).unwrap(), ModelSource::Path(path.into()));
        let error = shelf.model("startr").unwrap_err();
        assert!(error.advice().starts_with("Did you mean starter? "), "{}", error.advice());
    }
}
