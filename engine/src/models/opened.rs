//! A cache of opened models, valid while their files do not change.

use std::{
    collections::VecDeque,
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use super::{
    Content, Kind, Model, content, open, open_detector, open_estimator, open_interpolator,
    open_language_model, open_segmenter, open_upscaler,
};
use crate::{
    checkpoint::{Checkpoint, CheckpointError, FileStamp, Layout, MapKind, Part, read_json},
    request::{ControlNet, ImagePrompt, ModelSource, Redux, Refiner, Request},
    text::ReduxTower,
};

/// Maximum number of cached models.
const KEPT: usize = 32;

/// Opens models and caches them: later calls only check the times of their files. It can be shared by
/// threads.
#[derive(Debug, Default)]
pub struct OpenedModels {
    folders: Mutex<Vec<PathBuf>>,
    known: Mutex<VecDeque<Known>>,
}

#[derive(Debug)]
struct Known {
    path: PathBuf,
    /// The refiner, the Redux model, the IP-Adapters, the ControlNets, the map estimators, the detectors, the frame
    /// interpolator and the upscaler that it is used with.
    beside: Vec<PathBuf>,
    stamps: Vec<FileStamp>,
    model: Arc<Model>,
}

impl OpenedModels {
    /// `folders` are the user's model folders, in which missing parts are looked up. May also name single files.
    pub fn new(folders: Vec<PathBuf>) -> Self {
        Self { folders: Mutex::new(folders), known: Mutex::default() }
    }

    /// Replaces the user's model folders. Models that are open stay as they are.
    pub fn search_in(&self, folders: Vec<PathBuf>) {
        *self.folders.lock().unwrap_or_else(PoisonError::into_inner) = folders;
    }

    /// The user's model folders.
    pub fn folders(&self) -> Vec<PathBuf> {
        self.folders.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The model of a request.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn of(&self, request: &Request) -> Result<Arc<Model>, CheckpointError> {
        self.asked_for(request).map_err(|error| with_content(error, request))
    }

    fn asked_for(&self, request: &Request) -> Result<Arc<Model>, CheckpointError> {
        let path = request.model.resolve()?;
        if request.upscale.is_some() {
            return self.upscaler(&path);
        }
        if request.interpolate.is_some() {
            return self.alone(&path, open_interpolator);
        }
        if let Some(map) = &request.map_of {
            return self.estimator(&path, map.kind);
        }
        if request.mask_of.is_some() {
            return self.alone(&path, open_segmenter);
        }
        if request.writes() {
            return self.language_model(&path);
        }
        let (mut model, mut beside) = match (&request.refiner, &request.redux) {
            (Some(Refiner { path: other, .. }), _) => {
                (self.keep(&path, &[other], || self.refined(&path, other))?, vec![other])
            }
            (None, Some(Redux { path: other, .. })) => {
                (self.keep(&path, &[other], || self.seeing(&path, other))?, vec![other])
            }
            (None, None) => (self.open(&path)?, Vec::new()),
        };
        if !request.image_prompts.is_empty() {
            beside.extend(request.image_prompts.iter().map(|prompt| &prompt.adapter));
            model = self.keep(&path, &beside, || self.prompted(&model, &request.image_prompts))?;
        }
        if !request.control_nets.is_empty() {
            beside.extend(request.control_nets.iter().map(|net| &net.model));
            model = self.keep(&path, &beside, || controlled(&model, &request.control_nets))?;
        }
        let estimators = estimators(request);
        if !estimators.is_empty() {
            beside.extend(estimators.iter().map(|(_, path)| *path));
            model = self.keep(&path, &beside, || self.mapping(&model, &estimators))?;
        }
        if !request.detailers.is_empty() {
            beside.extend(request.detectors());
            model = self.keep(&path, &beside, || self.detailing(&model, request))?;
        }
        if let Some(smooth) = &request.smooth {
            beside.push(&smooth.model);
            model = self.keep(&path, &beside, || self.smoothing(&model, &smooth.model))?;
        }
        let Some(enlarger) = enlarger(request)? else { return Ok(model) };
        beside.push(&enlarger);
        self.keep(&path, &beside, || self.enlarging(&model, &enlarger))
    }

    /// A model that was opened elsewhere, with the IP-Adapters and the ControlNets of a request, what makes their maps, the
    /// detectors, the frame interpolator, and the upscaler that it has between two passes.
    ///
    /// # Errors
    /// When one of them cannot be opened.
    pub fn completed(&self, model: Arc<Model>, request: &Request) -> Result<Arc<Model>, CheckpointError> {
        self.joined(model, request).map_err(|error| with_content(error, request))
    }

    fn joined(&self, mut model: Arc<Model>, request: &Request) -> Result<Arc<Model>, CheckpointError> {
        if !request.image_prompts.is_empty() {
            model = Arc::new(self.prompted(&model, &request.image_prompts)?.0);
        }
        if !request.control_nets.is_empty() {
            model = Arc::new(controlled(&model, &request.control_nets)?.0);
        }
        let estimators = estimators(request);
        if !estimators.is_empty() {
            model = Arc::new(self.mapping(&model, &estimators)?.0);
        }
        if !request.detailers.is_empty() {
            model = Arc::new(self.detailing(&model, request)?.0);
        }
        if let Some(smooth) = &request.smooth {
            model = Arc::new(self.smoothing(&model, &smooth.model)?.0);
        }
        match enlarger(request)? {
            Some(path) => Ok(Arc::new(self.enlarging(&model, &path)?.0)),
            None => Ok(model),
        }
    }

    fn upscaler(&self, path: &Path) -> Result<Arc<Model>, CheckpointError> {
        self.alone(path, open_upscaler)
    }

    /// What makes this kind of map.
    fn estimator(&self, path: &Path, kind: MapKind) -> Result<Arc<Model>, CheckpointError> {
        let open = || {
            let model = open_estimator(path, kind)?;
            let stamps = stamps(&model);
            Ok((model, stamps))
        };
        let model = self.keep(path, &[], open)?;
        // What was opened before may make other maps.
        if model.estimator(kind).is_some() { Ok(model) } else { open().map(|(model, _)| Arc::new(model)) }
    }

    /// A language model. A vision tower beside its file may come later.
    fn language_model(&self, path: &Path) -> Result<Arc<Model>, CheckpointError> {
        self.keep(path, &[], || {
            let model = open_language_model(path)?;
            let is_whole = model.vision_tower().is_some() || path.is_dir();
            let beside = path.parent().filter(|_| !is_whole).map(FileStamp::of);
            let stamps = stamps(&model).into_iter().chain(beside).collect();
            Ok((model, stamps))
        })
    }

    /// A model of one file, of a kind that `open` opens.
    fn alone(
        &self,
        path: &Path,
        open: fn(&Path) -> Result<Model, CheckpointError>,
    ) -> Result<Arc<Model>, CheckpointError> {
        self.keep(path, &[], || {
            let model = open(path)?;
            let stamps = stamps(&model);
            Ok((model, stamps))
        })
    }

    /// A model that reads images through IP-Adapters.
    fn prompted(
        &self,
        model: &Model,
        prompts: &[ImagePrompt],
    ) -> Result<(Model, Vec<FileStamp>), CheckpointError> {
        let prompted = model.clone().with_image_prompts(prompts, &self.folders())?;
        let stamps = stamps(&prompted);
        Ok((prompted, stamps))
    }

    /// A model with what makes the maps of its ControlNets.
    fn mapping(
        &self,
        model: &Model,
        estimators: &[(MapKind, &PathBuf)],
    ) -> Result<(Model, Vec<FileStamp>), CheckpointError> {
        let (mut joined, mut all) = (model.clone(), stamps(model));
        for (kind, path) in estimators {
            let estimator = self.estimator(path, *kind)?;
            joined = joined.with_estimators(&estimator);
            all.extend(stamps(&estimator));
        }
        Ok((joined, all))
    }

    fn enlarging(&self, model: &Model, path: &Path) -> Result<(Model, Vec<FileStamp>), CheckpointError> {
        let upscaler = self.upscaler(path)?;
        let joined = model.clone().with_upscaler(&upscaler);
        Ok((joined, [stamps(model), stamps(&upscaler)].concat()))
    }

    fn detailing(
        &self,
        model: &Model,
        request: &Request,
    ) -> Result<(Model, Vec<FileStamp>), CheckpointError> {
        let files = request.detectors().into_iter();
        let detectors = files.map(|file| self.alone(file, open_detector)).collect::<Result<Vec<_>, _>>()?;
        let joined = model.clone().with_detectors(detectors.iter().map(Arc::as_ref));
        let all = detectors.iter().flat_map(|detector| stamps(detector));
        Ok((joined, stamps(model).into_iter().chain(all).collect()))
    }

    fn smoothing(&self, model: &Model, path: &Path) -> Result<(Model, Vec<FileStamp>), CheckpointError> {
        let interpolator = self.alone(path, open_interpolator)?;
        let joined = model.clone().with_interpolator(&interpolator);
        Ok((joined, [stamps(model), stamps(&interpolator)].concat()))
    }

    /// The model at a path.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn open(&self, path: &Path) -> Result<Arc<Model>, CheckpointError> {
        self.keep(path, &[], || {
            let model = open(path, &self.folders())?;
            let stamps = stamps(&model);
            Ok((model, stamps))
        })
    }

    fn refined(&self, path: &Path, refiner: &Path) -> Result<(Model, Vec<FileStamp>), CheckpointError> {
        let [base, second] = [self.open(path)?, self.open(refiner)?];
        let refined = base.family.refined(&base, &second);
        let model =
            refined.map_err(|reason| CheckpointError::Refiner { path: refiner.to_owned(), reason })?;
        Ok((model, [stamps(&base), stamps(&second)].concat()))
    }

    /// The model at a path, which reads references through the Redux model at another.
    fn seeing(&self, path: &Path, redux: &Path) -> Result<(Model, Vec<FileStamp>), CheckpointError> {
        let base = self.open(path)?;
        if !base.family.takes_redux() {
            let reason = format!("{} does not read images through one", base.family.name());
            return Err(CheckpointError::Redux { path: redux.to_owned(), reason });
        }
        let before = stamps(&base);
        let model = Model::clone(&base).with_vision_tower(ReduxTower::open(redux, &self.folders())?);
        Ok((model.clone(), [before, stamps(&model)].concat()))
    }

    fn keep(
        &self,
        path: &Path,
        beside: &[&PathBuf],
        open: impl FnOnce() -> Result<(Model, Vec<FileStamp>), CheckpointError>,
    ) -> Result<Arc<Model>, CheckpointError> {
        if let Some(model) = self.known(path, beside) {
            return Ok(model);
        }
        let (model, stamps) = open()?;
        let model = Arc::new(model);
        let known = Known {
            path: path.to_owned(),
            beside: beside.iter().copied().cloned().collect(),
            stamps,
            model: Arc::clone(&model),
        };
        let mut all = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        all.truncate(KEPT - 1);
        all.push_front(known);
        Ok(model)
    }

    /// The cached model, if its files have not changed; otherwise it is removed from the cache.
    fn known(&self, path: &Path, beside: &[&PathBuf]) -> Option<Arc<Model>> {
        let mut all = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |known: &Known| known.path == path && known.beside.iter().eq(beside.iter().copied());
        let place = all.iter().position(is_it)?;
        let known = all.remove(place).filter(|known| known.stamps.iter().all(FileStamp::is_current))?;
        let model = Arc::clone(&known.model);
        all.push_front(known);
        Some(model)
    }
}

/// The error with what a file is that is only said not to be what was wanted, if that is known, and with what a language model
/// was wanted for.
fn with_content(error: CheckpointError, request: &Request) -> CheckpointError {
    let mut error = match error {
        CheckpointError::LanguageModel { path, reason } if request.describe.is_some() => {
            CheckpointError::ImageDescriber { path, reason }
        }
        other => other,
    };
    if let Some((path, reason)) = error.stranger()
        && let Ok(Content { what, kind, .. }) = content(path)
        && kind != Kind::Other
    {
        let no = reason.split_once(": ").map_or(reason.as_str(), |(no, _)| no);
        *reason = format!("{no}, but something else: {what}");
    }
    error
}

/// A model steered by ControlNets.
fn controlled(model: &Model, nets: &[ControlNet]) -> Result<(Model, Vec<FileStamp>), CheckpointError> {
    let parts = nets.iter().map(|net| control_net(&net.model));
    let parts = parts.collect::<Result<Vec<Part>, CheckpointError>>()?;
    let controlled = model.clone().controlled_by(&parts.iter().collect::<Vec<_>>())?;
    let stamps = stamps(&controlled);
    Ok((controlled, stamps))
}

/// The ControlNet in a file, or in a folder as diffusers has it.
fn control_net(path: &Path) -> Result<Part, CheckpointError> {
    const NAMES: [&str; 2] =
        ["diffusion_pytorch_model.safetensors", "diffusion_pytorch_model.fp16.safetensors"];
    let inside = NAMES.iter().map(|name| path.join(name)).find(|file| path.is_dir() && file.is_file());
    let file = inside.unwrap_or_else(|| path.to_owned());
    let refused =
        |reason: &str| CheckpointError::ControlNet { path: file.clone(), reason: reason.to_owned() };
    if !file.exists() {
        return Err(CheckpointError::NotFound { path: file });
    }
    if file.is_dir() {
        return Err(refused("it is a folder without weights as diffusers saves them"));
    }
    let unreadable = |path, reason| CheckpointError::ControlNet { path, reason };
    let mut parts = Checkpoint::of_file(&file).map_err(|error| error.of_tool(unreadable))?.parts;
    if parts.len() > 1 {
        return Err(refused("it is a whole model"));
    }
    let part = parts.pop().ok_or_else(|| refused("it has no tensors"))?;
    let config = path.join("config.json");
    let config = config.is_file().then(|| read_json(&config)).transpose()?;
    Ok(Part { config, ..part })
}

/// The map estimators of a request for the maps that its ControlNets follow and that control its clip.
fn estimators(request: &Request) -> Vec<(MapKind, &PathBuf)> {
    let kinds = request.map_kinds().into_iter();
    kinds.filter_map(|kind| Some((kind, request.estimators.get(&kind)?))).collect()
}

/// The file of the upscaler that a request has between two passes.
fn enlarger(request: &Request) -> Result<Option<PathBuf>, CheckpointError> {
    let upscaler = request.hires.as_ref().and_then(|hires| hires.enlarger.upscaler());
    upscaler.map(ModelSource::resolve).transpose()
}

/// The files that a model was read from. For a diffusers folder, all files in it and in the folders of its
/// components.
fn stamps(model: &Model) -> Vec<FileStamp> {
    let mut paths = vec![model.path.clone()];
    paths.extend(model.components().flat_map(|component| component.files.iter().cloned()));
    if model.layout == Layout::Diffusers {
        let inner = entries(&model.root).into_iter().flat_map(|entry| {
            let inside = entries(&entry);
            std::iter::once(entry).chain(inside)
        });
        paths.extend(inner);
    }
    paths.sort();
    paths.dedup();
    paths.iter().map(|path| FileStamp::of(path)).collect()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries.filter_map(|entry| Some(entry.ok()?.path())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::starter_folder;

    #[test]
    fn a_model_is_opened_again_only_when_a_file_of_it_has_changed() {
        let folder = tempfile::tempdir().unwrap();
        copy(&starter_folder().unwrap(), folder.path());
        let models = OpenedModels::new(Vec::new());
        let first = models.open(folder.path()).unwrap();
        assert!(Arc::ptr_eq(&first, &models.open(folder.path()).unwrap()));
        let config = folder.path().join("transformer/config.json");
        let text = fs::read_to_string(&config).unwrap();
        fs::write(&config, text + "\n").unwrap();
        let second = models.open(folder.path()).unwrap();
        assert!(!Arc::ptr_eq(&first, &second));
        fs::remove_dir_all(folder.path().join("transformer")).unwrap();
        assert!(models.open(folder.path()).is_err());
    }

    fn copy(from: &Path, to: &Path) {
        fs::create_dir_all(to).unwrap();
        for entry in entries(from) {
            let there = to.join(entry.file_name().unwrap());
            if entry.is_dir() { copy(&entry, &there) } else { fs::copy(&entry, &there).map(|_| ()).unwrap() }
        }
    }
}
