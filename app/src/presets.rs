//! Settings that are kept under a name, one TOML file each.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use sluice_engine::{
    adapters::nearest,
    request::{AdapterUse, Detailer, GuidanceOptions, Hires, ModelSource, Request, Sampler, Schedule, Style},
};

use crate::folders::preset_folder;
#[cfg(feature = "window")]
use crate::language::tr;

/// Most letters of a name.
const LONGEST: usize = 80;
/// What file systems do not allow in names.
const FORBIDDEN: [char; 9] = ['/', '\\', ':', '*', '?', '"', '<', '>', '|'];
const EXTENSION: &str = "toml";

/// Settings with a name. What a file leaves out is not changed. Prompts, seeds and input images are no part of it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Preset {
    model: Option<ModelSource>,
    width: Option<u32>,
    height: Option<u32>,
    frames: Option<u32>,
    frame_rate: Option<f32>,
    steps: Option<u32>,
    guidance: Option<f32>,
    sampler: Option<Sampler>,
    schedule: Option<Schedule>,
    /// 0 is the model's own.
    shift: Option<f32>,
    clip_skip: Option<u32>,
    step_cache: Option<f32>,
    batch: Option<u32>,
    negative_prompt: Option<String>,
    guiding: Option<GuidanceOptions>,
    hires: Option<KeptHires>,
    detailers: Option<Vec<Detailer>>,
    adapters: Option<Vec<AdapterUse>>,
    styles: Option<Vec<Style>>,
}

/// Hires fix, or `false` for none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum KeptHires {
    Is(bool),
    As(Hires),
}

/// Why a preset cannot be kept or used.
#[derive(Debug, thiserror::Error)]
pub enum PresetError {
    /// There is no folder for data.
    #[error("this user has no data folder")]
    NoFolder,
    /// A name without letters, or with characters that are not allowed.
    #[error("{0:?} cannot be the name of a preset; use letters, numbers and spaces")]
    Name(String),
    /// Another preset has this name.
    #[error("there is a preset named {0:?} already")]
    Taken(String),
    /// No preset has this name.
    #[error("there is no preset named {name:?}{}", near.as_ref().map(|near| format!("; similar names: {near}")).unwrap_or_default())]
    Missing {
        /// The name.
        name: String,
        /// One that is there.
        near: Option<String>,
    },
    /// Its file cannot be read or written.
    #[error("{}: {error}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// Its file is no preset.
    #[error("{} is not a preset: {message}", .path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Why.
        message: String,
    },
}

/// A preset and its name.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedPreset {
    /// The name.
    pub name: String,
    /// The settings, or why they cannot be read.
    pub preset: Result<Preset, String>,
}

impl Preset {
    /// The settings of a request, with or without its model.
    pub fn of(request: &Request, with_model: bool) -> Self {
        Self {
            model: with_model.then(|| request.model.clone()),
            width: Some(request.width),
            height: Some(request.height),
            frames: Some(request.frames),
            frame_rate: Some(request.frame_rate),
            steps: Some(request.steps),
            guidance: Some(request.guidance),
            sampler: Some(request.sampler),
            schedule: Some(request.schedule),
            shift: Some(request.shift.unwrap_or(0.0)),
            clip_skip: Some(request.clip_skip),
            step_cache: Some(request.step_cache),
            batch: Some(request.batch),
            negative_prompt: Some(request.negative_prompt.clone()),
            guiding: Some(request.guiding),
            hires: Some(request.hires.clone().map_or(KeptHires::Is(false), KeptHires::As)),
            detailers: Some(request.detailers.clone()),
            adapters: Some(request.adapters.clone()),
            styles: Some(request.styles.clone()),
        }
    }

    /// The request with these settings.
    pub fn given_to(&self, request: Request) -> Request {
        Request {
            model: self.model.clone().unwrap_or(request.model),
            width: self.width.unwrap_or(request.width),
            height: self.height.unwrap_or(request.height),
            frames: self.frames.unwrap_or(request.frames),
            frame_rate: self.frame_rate.unwrap_or(request.frame_rate),
            steps: self.steps.unwrap_or(request.steps),
            guidance: self.guidance.unwrap_or(request.guidance),
            sampler: self.sampler.unwrap_or(request.sampler),
            schedule: self.schedule.unwrap_or(request.schedule),
            shift: self.shift.map_or(request.shift, |shift| (shift > 0.0).then_some(shift)),
            clip_skip: self.clip_skip.unwrap_or(request.clip_skip),
            step_cache: self.step_cache.unwrap_or(request.step_cache),
            batch: self.batch.unwrap_or(request.batch),
            negative_prompt: self.negative_prompt.clone().unwrap_or(request.negative_prompt),
            guiding: self.guiding.unwrap_or(request.guiding),
            hires: match &self.hires {
                None => request.hires,
                Some(KeptHires::Is(false)) => None,
                Some(KeptHires::Is(true)) => Some(request.hires.unwrap_or_default()),
                Some(KeptHires::As(hires)) => Some(hires.clone()),
            },
            detailers: self.detailers.clone().unwrap_or(request.detailers),
            adapters: self.adapters.clone().unwrap_or(request.adapters),
            styles: self.styles.clone().unwrap_or(request.styles),
            ..request
        }
    }

    /// The model, if it is part of the preset.
    pub fn model(&self) -> Option<&ModelSource> {
        self.model.as_ref()
    }

    /// What it sets, in a line: `512 × 768 · 20 steps · guidance 7`.
    #[cfg(feature = "window")]
    pub fn summary(&self) -> String {
        let size = self.width.zip(self.height).map(|(width, height)| format!("{width} × {height}"));
        let steps = self.steps.map(|steps| tr!("viewer-caption-steps", count = steps));
        let number = crate::units::number;
        let guidance =
            self.guidance.map(|guidance| tr!("viewer-caption-guidance", guidance = number(guidance)));
        let model = self.model.as_ref().map(|model| match model {
            ModelSource::Path(path) => path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
            starter => starter.to_string(),
        });
        let sampler = self.sampler.map(|sampler| sampler.title().to_owned());
        let parts: Vec<_> = [model, size, steps, guidance, sampler].into_iter().flatten().collect();
        parts.join(" · ")
    }
}

/// The presets of a folder, by name. A missing folder has none.
pub fn listed(folder: &Path) -> Vec<NamedPreset> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let files = entries.filter(|path| path.extension().is_some_and(|extension| extension == EXTENSION));
    let mut presets: Vec<_> = files
        .map(|path| NamedPreset {
            name: path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
            preset: read(&path).map_err(|error| error.to_string()),
        })
        .collect();
    presets.sort_by_key(|preset| preset.name.to_lowercase());
    presets
}

fn read(path: &Path) -> Result<Preset, PresetError> {
    let text =
        fs::read_to_string(path).map_err(|error| PresetError::File { path: path.to_owned(), error })?;
    toml::from_str(&text).map_err(|error| PresetError::Malformed {
        path: path.to_owned(),
        message: error.message().to_owned(),
    })
}

/// The file of a preset.
///
/// # Errors
/// When the name is not allowed.
fn file(folder: &Path, name: &str) -> Result<PathBuf, PresetError> {
    let name = name.trim();
    let is_fine = !name.is_empty()
        && name.chars().count() <= LONGEST
        && !name.starts_with('.')
        && !name.chars().any(|letter| letter.is_control() || FORBIDDEN.contains(&letter));
    match is_fine {
        true => Ok(folder.join(format!("{name}.{EXTENSION}"))),
        false => Err(PresetError::Name(name.to_owned())),
    }
}

/// Writes a preset; one of the same name is replaced.
///
/// # Errors
/// When the name is not allowed, or the file cannot be written.
pub fn save(folder: &Path, name: &str, preset: &Preset) -> Result<(), PresetError> {
    let path = file(folder, name)?;
    let write = || {
        fs::create_dir_all(folder)?;
        let text = toml::to_string(preset).map_err(io::Error::other)?;
        let mut whole = tempfile::NamedTempFile::new_in(folder)?;
        io::Write::write_all(&mut whole, text.as_bytes())?;
        whole.persist(&path).map_err(|error| error.error)?;
        Ok(())
    };
    write().map_err(|error| PresetError::File { path: path.clone(), error })
}

/// Gives a preset another name.
///
/// # Errors
/// When the new name is not allowed or taken, or the file cannot be moved.
pub fn rename(folder: &Path, name: &str, new: &str) -> Result<(), PresetError> {
    let (from, to) = (file(folder, name)?, file(folder, new)?);
    if from == to {
        return Ok(());
    }
    if to.exists() {
        return Err(PresetError::Taken(new.trim().to_owned()));
    }
    fs::rename(&from, to).map_err(|error| PresetError::File { path: from, error })
}

/// Deletes a preset. Returns what was in its file.
///
/// # Errors
/// When it cannot be deleted.
pub fn delete(folder: &Path, name: &str) -> Result<Vec<u8>, PresetError> {
    let path = file(folder, name)?;
    let delete = || {
        let contents = fs::read(&path)?;
        fs::remove_file(&path)?;
        Ok(contents)
    };
    delete().map_err(|error| PresetError::File { path: path.clone(), error })
}

/// Puts a deleted preset back, with what was in its file.
///
/// # Errors
/// When there is one of this name meanwhile, or the file cannot be written.
pub fn put_back(folder: &Path, name: &str, contents: &[u8]) -> Result<(), PresetError> {
    let path = file(folder, name)?;
    let write = || {
        fs::create_dir_all(folder)?;
        io::Write::write_all(&mut fs::File::create_new(&path)?, contents)
    };
    match write() {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            Err(PresetError::Taken(name.trim().to_owned()))
        }
        result => result.map_err(|error| PresetError::File { path: path.clone(), error }),
    }
}

/// The preset with a name, or in a file.
///
/// # Errors
/// When there is none, or it cannot be read.
pub fn find(name: &str) -> Result<Preset, PresetError> {
    let given = Path::new(name);
    if given.is_file() {
        return read(given);
    }
    let folder = preset_folder().ok_or(PresetError::NoFolder)?;
    let path = file(&folder, name)?;
    if path.is_file() {
        return read(&path);
    }
    let names: Vec<String> = listed(&folder).into_iter().map(|preset| preset.name).collect();
    let near = nearest(name, names.iter().map(String::as_str)).map(|near| near.to_owned());
    Err(PresetError::Missing { name: name.to_owned(), near })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> Request {
        Request {
            model: ModelSource::Path("/models/fox".into()),
            prompt: "a fox".to_owned(),
            negative_prompt: "fog".to_owned(),
            width: 512,
            height: 768,
            steps: 30,
            guidance: 6.5,
            seed: u64::MAX,
            batch: 2,
            sampler: Sampler::Dpmpp2m,
            schedule: Schedule::Karras,
            clip_skip: 2,
            hires: Some(Hires { scale: 1.5, ..Hires::default() }),
            detailers: vec![Detailer {
                steps: Some(12),
                ..Detailer::new("/models/face_yolov8n.safetensors")
            }],
            adapters: vec![AdapterUse { path: "/loras/ink.safetensors".into(), weight: 0.5 }],
            styles: vec![Style {
                name: "Film".to_owned(),
                prompt: "film still".to_owned(),
                ..Style::default()
            }],
            ..Request::default()
        }
    }

    #[test]
    fn a_preset_is_kept_and_changes_only_what_it_has() {
        let folder = tempfile::tempdir().unwrap();
        let presets = folder.path().join("presets");
        assert_eq!(listed(&presets), []);
        save(&presets, " Night shots ", &Preset::of(&request(), true)).unwrap();
        let [NamedPreset { name, preset: Ok(preset) }] = &listed(&presets)[..] else { panic!() };
        assert_eq!(name, "Night shots");
        #[cfg(feature = "window")]
        assert_eq!(preset.summary(), "fox · 512 × 768 · 30 steps · guidance 6.5 · DPM++ 2M");
        let other = Request { prompt: "a hen".to_owned(), seed: 5, shift: Some(3.0), ..Request::default() };
        let after = preset.given_to(other);
        let expected = Request { prompt: "a hen".to_owned(), seed: 5, shift: None, ..request() };
        assert_eq!(after, expected);
        let none: Preset = toml::from_str("hires = false").unwrap();
        assert_eq!(none.given_to(request()), Request { hires: None, ..request() });
        let own: Preset = toml::from_str("steps = 8\nsampler = \"lcm\"").unwrap();
        let expected = Request { steps: 8, sampler: Sampler::Lcm, ..request() };
        assert_eq!(own.given_to(request()), expected);
    }

    #[test]
    fn presets_are_renamed_and_deleted_and_names_are_checked() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let names = || -> Vec<String> { listed(folder).into_iter().map(|preset| preset.name).collect() };
        for name in ["b", "A"] {
            save(folder, name, &Preset::of(&request(), false)).unwrap();
        }
        assert_eq!(names(), ["A", "b"]);
        assert!(matches!(rename(folder, "b", "A"), Err(PresetError::Taken(_))));
        rename(folder, "b", "c").unwrap();
        delete(folder, "A").unwrap();
        assert_eq!(names(), ["c"]);
        for wrong in ["", " ", "../x", "a/b", ".hidden", "a:b", &"x".repeat(81)] {
            let error = save(folder, wrong, &Preset::default()).unwrap_err();
            assert!(matches!(error, PresetError::Name(_)), "{wrong}: {error}");
        }
        assert!(delete(folder, "missing").is_err());
        let contents = delete(folder, "c").unwrap();
        assert_eq!(names(), [""; 0]);
        put_back(folder, "c", &contents).unwrap();
        assert_eq!(listed(folder)[0].preset, Ok(Preset::of(&request(), false)));
        assert!(matches!(put_back(folder, "c", &contents), Err(PresetError::Taken(_))));
        fs::write(folder.join("broken.toml"), "steps = \"many\"").unwrap();
        let broken = listed(folder).swap_remove(0);
        assert!(broken.preset.unwrap_err().contains("is not a preset"));
        let unknown = toml::from_str::<Preset>("stops = 3").unwrap_err();
        assert!(unknown.message().contains("unknown field"), "{unknown}");
    }
}
