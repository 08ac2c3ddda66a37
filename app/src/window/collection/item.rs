//! An image or a clip in the gallery: what its file says about it.

use std::{
    fs::Metadata,
    path::{Path, PathBuf},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use serde::{Deserialize, Serialize};
use sluice_engine::{
    output::{RestoredSettings, read_settings},
    source::ClipInfo,
};

use crate::window::{
    files::{is_moving, is_video, still_size},
    state::{ClipLength, file_name},
};

/// Identifies the contents of a file without reading them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Stamp {
    /// When it was changed last, in milliseconds since 1970.
    pub modified: u64,
    /// Its length.
    pub bytes: u64,
}

impl Stamp {
    /// The stamp of a file.
    pub fn of(metadata: &Metadata) -> Self {
        let since = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        Self { modified: since.map_or(0, |since| since.as_millis() as u64), bytes: metadata.len() }
    }

    /// When it was changed last.
    pub fn time(self) -> SystemTime {
        UNIX_EPOCH + Duration::from_millis(self.modified)
    }
}

/// The settings that the gallery searches in.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Facts {
    /// The prompt.
    pub prompt: String,
    /// The negative prompt.
    pub negative: String,
    /// The name of the model.
    pub model: String,
    /// The names of LoRAs.
    pub loras: Vec<String>,
    /// The seed.
    pub seed: u64,
}

impl Facts {
    fn of(RestoredSettings { settings, .. }: &RestoredSettings) -> Self {
        let request = &settings.request;
        let files = request.adapters.iter().filter_map(|used| used.path.file_stem());
        let mut loras: Vec<String> = files.map(|name| name.to_string_lossy().into_owned()).collect();
        loras.extend(named_loras(&request.prompt));
        loras.sort();
        loras.dedup();
        Self {
            prompt: request.prompt.clone(),
            negative: request.negative_prompt.clone(),
            model: settings.model_name.clone(),
            loras,
            seed: settings.seed,
        }
    }
}

/// The LoRAs that a prompt names as `<lora:name:weight>`.
fn named_loras(prompt: &str) -> impl Iterator<Item = String> {
    prompt.split("<lora:").skip(1).filter_map(|rest| {
        let name = rest.split('>').next()?.split(':').next()?;
        Some(name.trim().to_owned()).filter(|name| !name.is_empty())
    })
}

/// An image or a clip.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Item {
    /// Its file.
    pub path: PathBuf,
    /// The version of the file that was read.
    pub stamp: Stamp,
    /// Width and height in pixels; zeros if the file cannot be read.
    pub size: [u32; 2],
    /// The frames and the rate of a clip; zeros if they are not known.
    pub clip: Option<(u32, f32)>,
    /// The settings that generated it, if the file contains them.
    pub facts: Option<Facts>,
    /// Why it cannot be shown.
    pub broken: Option<String>,
}

impl Item {
    /// Reads what a file says, without its pixels.
    pub fn read(path: PathBuf, stamp: Stamp) -> Self {
        let settings = read_settings(&path).ok();
        let generated = settings.as_ref().filter(|restored| restored.settings.is_generated());
        let facts = generated.map(Facts::of);
        let mut item = Self { path, stamp, size: [0; 2], clip: None, facts, broken: None };
        match shape(&item.path, settings.as_ref()) {
            Ok((size, clip)) => (item.size, item.clip) = (size, clip),
            Err(reason) => item.broken = Some(reason),
        }
        item
    }

    /// The name of its file.
    pub fn name(&self) -> String {
        file_name(&self.path)
    }

    /// The length of a clip, if it is known.
    pub fn length(&self) -> Option<ClipLength> {
        self.clip
            .filter(|(frames, rate)| *frames > 0 && *rate > 0.0)
            .map(|(frames, rate)| ClipLength { frames, rate })
    }
}

/// Width, height, and the frames and the rate of a clip.
type Shape = ([u32; 2], Option<(u32, f32)>);

fn shape(path: &Path, settings: Option<&RestoredSettings>) -> Result<Shape, String> {
    if is_video(path) {
        let info = ClipInfo::open(path).map_err(|error| error.to_string())?;
        let ClipInfo { width, height, frames, rate, .. } =
            info.ok_or_else(|| "it is not an MP4 file".to_owned())?;
        return Ok(([width, height], Some((frames, rate as f32))));
    }
    let size = still_size(path)?;
    let request = settings.map(|restored| &restored.settings.request);
    let clip = is_moving(path)
        .then(|| request.filter(|request| request.frames > 1))
        .map(|request| request.map_or((0, 0.0), |request| (request.frames, request.frame_rate)));
    Ok((size, clip))
}

#[cfg(test)]
mod tests {
    use sluice_engine::{
        output::{Image, Media, Settings, write_png},
        request::{AdapterUse, Request},
    };

    use super::*;

    fn stamp(path: &Path) -> Stamp {
        Stamp::of(&path.metadata().unwrap())
    }

    #[test]
    fn a_file_says_what_it_was_made_with() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.png");
        let request = Request {
            prompt: "a boat <lora:ink wash:0.7> <lora:>".to_owned(),
            adapters: vec![AdapterUse { path: "/loras/sea.safetensors".into(), weight: 1.0 }],
            seed: 9,
            ..Request::default()
        };
        let image = Image::opaque(6, 4, vec![9; 72]);
        write_png(&path, &Media::Image(image), &Settings::new(&request, "Starter", "", 0)).unwrap();
        let item = Item::read(path.clone(), stamp(&path));
        let facts = item.facts.unwrap();
        assert_eq!((item.size, item.clip, item.broken), ([6, 4], None, None));
        assert_eq!((facts.model.as_str(), facts.seed), ("Starter", 9));
        assert_eq!(facts.loras, ["ink wash", "sea"]);
    }

    #[test]
    fn a_broken_file_is_listed_with_the_reason() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.png", "a.jpg", "a.mp4", "a.webp"] {
            let path = folder.path().join(name);
            std::fs::write(&path, b"not an image").unwrap();
            let item = Item::read(path.clone(), stamp(&path));
            assert!(item.broken.is_some_and(|reason| !reason.is_empty()), "{name}");
        }
    }
}
