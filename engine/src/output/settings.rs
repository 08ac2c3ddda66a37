//! The settings of an image, as stored in its file.

use std::{
    env,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::{InputMark, a1111, read_settings};
use crate::{
    nn::computed::{Bf16Instruction, Bf16Method},
    precision::Storage,
    request::{ModelSource, Request, grid::GridRecord},
};

/// The version of [`Settings`] that is written. It rises when an older reader would misread new settings; a new field
/// alone does not raise it.
pub const SETTINGS_VERSION: u32 = 1;

/// Everything needed to generate an image again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// [`SETTINGS_VERSION`] of the program that wrote them.
    pub version: u32,
    /// The request for the whole batch.
    pub request: Request,
    /// The name of the model.
    pub model_name: String,
    /// Identifier of the model's family.
    pub family: String,
    /// The version of Sluice that generated the image.
    pub sluice_version: String,
    /// The seed of this image of the batch.
    pub seed: u64,
    /// The weight type of the denoiser.
    #[serde(default, skip_serializing_if = "Storage::is_stored")]
    pub denoiser_precision: Storage,
    /// The weight type of the text encoders.
    #[serde(default, skip_serializing_if = "Storage::is_stored")]
    pub text_precision: Storage,
    /// Whether a CPU multiplied bf16 by another instruction than f32. Processors without one for it give other last bits.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub bf16_products: bool,
    /// Whether it did so in tiles, which gives other last bits than pairs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub bf16_tiles: bool,
    /// Whether it did so as whole numbers, which gives other last bits again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub bf16_words: bool,
    /// Whether it rounded inputs of products to 8 bits for weights of the type W8A8, which other processors do not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub int8_products: bool,
    /// The grid, if the image is composed of others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grid: Option<GridRecord>,
    /// How it was enlarged afterwards, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub enlarged: Vec<Enlargement>,
    /// How a clip got more frames afterwards, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interpolated: Vec<Interpolated>,
    /// The file that it was made of: the one that was changed, or the input image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made_of: Option<InputMark>,
}

/// How an image was enlarged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Enlargement {
    /// The name of the upscaler.
    pub upscaler: String,
    /// How many times as wide and as high it became.
    pub scale: f32,
}

/// How a clip got more frames.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Interpolated {
    /// The name of the network.
    pub model: String,
    /// How many times as many frames it has.
    pub factor: u32,
}

impl Settings {
    /// The settings of image `index` of a batch.
    pub fn new(request: &Request, model_name: &str, family: &str, index: u32) -> Self {
        Self {
            version: SETTINGS_VERSION,
            seed: request.alone(index).seed,
            request: Request { variation: request.alone(index).variation, ..request.clone() },
            model_name: model_name.to_owned(),
            family: family.to_owned(),
            sluice_version: env!("CARGO_PKG_VERSION").to_owned(),
            denoiser_precision: Storage::Stored,
            text_precision: Storage::Stored,
            bf16_products: false,
            bf16_tiles: false,
            bf16_words: false,
            int8_products: false,
            grid: None,
            enlarged: Vec::new(),
            interpolated: Vec::new(),
            made_of: None,
        }
    }

    /// The settings of an image or a clip that a request changes: those in its file, if it has any, and what enlarges it or makes
    /// frames for it. `None` for a request that generates.
    pub fn of_changed(request: &Request, model_name: &str, family: &str) -> Option<Self> {
        if let Some(upscale) = &request.upscale {
            let mut settings = Self::of_given(&upscale.path, request, model_name, family);
            settings.enlarged.push(Enlargement { upscaler: model_name.to_owned(), scale: upscale.scale });
            return Some(settings);
        }
        let interpolate = request.interpolate.as_ref()?;
        let mut settings = Self::of_given(&interpolate.path, request, model_name, family);
        let factor = interpolate.how.factor;
        settings.interpolated.push(Interpolated { model: model_name.to_owned(), factor });
        Some(settings)
    }

    /// The settings in a file that a request names, or those of the request.
    fn of_given(path: &Path, request: &Request, model_name: &str, family: &str) -> Self {
        let before = read_settings(path).ok();
        match before {
            Some(RestoredSettings { settings, origin: Origin::Sluice, .. }) if settings.is_generated() => {
                settings
            }
            // Of the change before this one, all that is of use is that there was one.
            Some(RestoredSettings {
                settings: Self { enlarged, interpolated, .. },
                origin: Origin::Sluice,
                ..
            }) => Self { enlarged, interpolated, ..Self::new(request, model_name, family, 0) },
            Some(RestoredSettings { settings, .. }) => {
                // What other programs write names the model, and not where it is.
                let model = ModelSource::Path(PathBuf::from(&settings.model_name));
                Self { request: Request { model, ..settings.request }, ..settings }
            }
            None => Self::new(request, model_name, family, 0),
        }
    }

    /// Whether the image or the clip was generated by this request. Otherwise the request made it of a file of which nothing else
    /// is known, and its seed and the like mean nothing.
    pub fn is_generated(&self) -> bool {
        let Request { map_of, mask_of, .. } = &self.request;
        self.request.changes_file().is_none() && map_of.is_none() && mask_of.is_none()
    }

    /// The same, with the weight types of the denoiser and the text encoders.
    pub fn held_as(self, [denoiser_precision, text_precision]: [Storage; 2]) -> Self {
        Self { denoiser_precision, text_precision, ..self }
    }

    /// The same, with how a CPU multiplied bf16.
    pub fn multiplied_in_bf16(self, by: Option<Bf16Method>) -> Self {
        let bf16_tiles = by == Some(Bf16Method::By(Bf16Instruction::Tiles));
        let bf16_words = by == Some(Bf16Method::Words);
        Self { bf16_products: by.is_some(), bf16_tiles, bf16_words, ..self }
    }

    /// The same, with whether a CPU multiplied in 8 bits.
    pub fn multiplied_in_8_bits(self, int8_products: bool) -> Self {
        Self { int8_products, ..self }
    }

    /// What to know before generating the image again: the format of weights is a memory setting, not part of a request.
    pub(super) fn note_on_precision(&self) -> Option<String> {
        let held = [("denoiser", self.denoiser_precision), ("text encoder", self.text_precision)];
        let parts: Vec<String> = held
            .iter()
            .filter(|(_, storage)| !storage.is_stored())
            .map(|(part, storage)| format!("{part} weights in {}", storage.title()))
            .collect();
        (!parts.is_empty()).then(|| {
            format!(
                "This image was generated with {}, which is a memory setting and is not restored.",
                parts.join(" and ")
            )
        })
    }

    /// The request that generates only this image.
    pub fn picture_request(&self) -> Request {
        let request = self.request.clone();
        Request { seed: self.seed, batch: 1, map_of: None, mask_of: None, detail_of: None, ..request }
    }

    /// The settings in the format of A1111's web UI.
    pub fn parameters(&self) -> String {
        a1111::write(self)
    }

    /// The settings beside the prompts, each with its name in A1111's format.
    pub fn pairs(&self) -> Vec<(&'static str, String)> {
        a1111::pairs(self)
    }

    pub(super) fn to_json(&self) -> serde_json::Result<String> {
        let mut settings = self.clone();
        let home = env::home_dir();
        for (_, path) in settings.request.files_mut() {
            *path = hide_home(path, home.as_deref());
        }
        serde_json::to_string(&settings)
    }

    pub(super) fn from_json(json: &str) -> Result<Self, JsonError> {
        #[derive(Deserialize)]
        struct Versioned {
            version: u64,
        }

        let Versioned { version } = serde_json::from_str(json)?;
        if version > SETTINGS_VERSION.into() {
            return Err(JsonError::Newer(version));
        }
        let mut settings: Self = serde_json::from_str(json)?;
        let home = env::home_dir();
        for (_, path) in settings.request.files_mut() {
            *path = show_home(path, home.as_deref());
        }
        Ok(settings)
    }
}

/// Why JSON cannot be read as [`Settings`].
#[derive(Debug)]
pub(super) enum JsonError {
    Newer(u64),
    Malformed(serde_json::Error),
}

impl From<serde_json::Error> for JsonError {
    fn from(error: serde_json::Error) -> Self {
        Self::Malformed(error)
    }
}

/// Who wrote the settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// Sluice: all settings are known.
    Sluice,
    /// A1111's web UI or a compatible program: the model is only a name, so [`Request::model`] means nothing, and
    /// missing settings have their defaults.
    A1111,
    /// ComfyUI's graph, as far as it can be read; the rest as for [`Origin::A1111`].
    ComfyUi,
    /// Wan2GP; the rest as for [`Origin::A1111`].
    Wan2Gp,
    /// SwarmUI; the rest as for [`Origin::A1111`].
    SwarmUi,
    /// InvokeAI; the rest as for [`Origin::A1111`].
    InvokeAi,
    /// Fooocus; the rest as for [`Origin::A1111`].
    Fooocus,
    /// NovelAI; the rest as for [`Origin::A1111`].
    NovelAi,
    /// Draw Things; the rest as for [`Origin::A1111`].
    DrawThings,
    /// stable-diffusion.cpp; the rest as for [`Origin::A1111`].
    StableDiffusionCpp,
}

impl Origin {
    /// The name of the program.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sluice => "Sluice",
            Self::A1111 => "A1111's web UI or a compatible program",
            Self::ComfyUi => "ComfyUI",
            Self::Wan2Gp => "Wan2GP",
            Self::SwarmUi => "SwarmUI",
            Self::InvokeAi => "InvokeAI",
            Self::Fooocus => "Fooocus",
            Self::NovelAi => "NovelAI",
            Self::DrawThings => "Draw Things",
            Self::StableDiffusionCpp => "stable-diffusion.cpp",
        }
    }
}

/// Settings that were read from an image.
#[derive(Debug, Clone, PartialEq)]
pub struct RestoredSettings {
    /// The settings.
    pub settings: Settings,
    /// Who wrote them.
    pub origin: Origin,
    /// What could not be restored exactly, one sentence each.
    pub notes: Vec<String>,
}

/// Replaces the home folder in a path by `~`: images are shared, and the name of the home folder is private.
fn hide_home(path: &Path, home: Option<&Path>) -> PathBuf {
    let hidden = match home.and_then(|home| path.strip_prefix(home).ok()) {
        Some(rest) => Path::new("~").join(rest),
        None => path.to_owned(),
    };
    // JSON is UTF-8; without this, a path that is not could not be saved at all.
    hidden.to_string_lossy().into_owned().into()
}

fn show_home(path: &Path, home: Option<&Path>) -> PathBuf {
    match (path.strip_prefix("~"), home) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        output::{Codec, Image, Media, write_plain, write_png},
        request::{
            AdapterUse, Enlarger, Hires, ImagePrompt, Redux, Refiner, SourceImage, SourceMask, Upscale,
        },
    };

    #[test]
    fn the_home_folder_is_hidden_and_found_again() {
        let home = Some(Path::new("/home/ada"));
        let model = Path::new("/home/ada/models/z-image");
        assert_eq!(hide_home(model, home), Path::new("~/models/z-image"));
        assert_eq!(show_home(Path::new("~/models/z-image"), home), model);
        for elsewhere in ["/mnt/models/z-image", "/home/adam/z-image", "models/z-image"] {
            assert_eq!(hide_home(Path::new(elsewhere), home), Path::new(elsewhere));
            assert_eq!(show_home(Path::new(elsewhere), home), Path::new(elsewhere));
        }
    }

    #[test]
    fn adapters_are_hidden_with_the_home_folder_too() {
        let adapters = vec![AdapterUse { path: "/home/ada/loras/ink.safetensors".into(), weight: 0.5 }];
        let mut request = Request { adapters, ..Request::default() };
        let home = Some(Path::new("/home/ada"));
        request.files_mut().into_iter().for_each(|(_, path)| *path = hide_home(path, home));
        assert_eq!(request.adapters[0].path, Path::new("~/loras/ink.safetensors"));
        request.files_mut().into_iter().for_each(|(_, path)| *path = show_home(path, home));
        assert_eq!(request.adapters[0].path, Path::new("/home/ada/loras/ink.safetensors"));
    }

    #[cfg(unix)]
    #[test]
    fn a_path_that_is_not_unicode_is_written_nearly() {
        use std::{ffi::OsStr, os::unix::ffi::OsStrExt};
        let model = Path::new(OsStr::from_bytes(b"/mnt/mod\xE8le"));
        let request = Request { model: ModelSource::Path(model.to_owned()), ..Request::default() };
        let json = Settings::new(&request, "", "", 0).to_json().unwrap();
        let read = Settings::from_json(&json).unwrap();
        assert_eq!(read.request.model, ModelSource::Path("/mnt/mod\u{FFFD}le".into()));
    }

    #[test]
    fn every_file_of_a_request_is_hidden() {
        let home = env::home_dir().unwrap();
        let mask = SourceMask { path: home.join("mask.png"), ..SourceMask::default() };
        let source = SourceImage { path: home.join("fox.jpg"), mask: Some(mask), ..SourceImage::default() };
        let prompt = ImagePrompt {
            adapter: home.join("ip.safetensors"),
            images: vec![home.join("style.png")],
            ..ImagePrompt::default()
        };
        let request = Request {
            model: ModelSource::Path(home.join("model")),
            source: Some(source),
            references: vec![home.join("hat.png")],
            refiner: Some(Refiner::new(home.join("refiner.safetensors"))),
            redux: Some(Redux::new(home.join("redux.safetensors"))),
            image_prompts: vec![prompt],
            hires: Some(Hires {
                enlarger: Enlarger::Upscaler(ModelSource::Path(home.join("4x.safetensors"))),
                ..Hires::default()
            }),
            ..Request::default()
        };
        let settings = Settings::new(&request, "", "", 0);
        let json = settings.to_json().unwrap();
        assert!(!json.contains(home.to_str().unwrap()), "{json}");
        assert_eq!(Settings::from_json(&json).unwrap(), settings);
    }

    #[test]
    fn what_was_only_changed_says_so_and_keeps_all_changes() {
        let folder = tempfile::tempdir().unwrap();
        let [photo, larger] = ["photo.png", "larger.png"].map(|name| folder.path().join(name));
        let image = |side: u32| Media::Image(Image::opaque(side, side, vec![9; 3 * (side * side) as usize]));
        write_plain(&photo, &image(4), None, Codec::H264).unwrap();
        let enlarges = |path: &Path, side: u32| Request {
            upscale: Some(Upscale { path: path.to_owned(), scale: 2.0 }),
            width: side,
            height: side,
            ..Request::default()
        };
        let once = Settings::of_changed(&enlarges(&photo, 8), "sharp", "upscaler").unwrap();
        assert!(!once.is_generated());
        write_png(&larger, &image(8), &once).unwrap();
        let twice = Settings::of_changed(&enlarges(&larger, 16), "soft", "upscaler").unwrap();
        assert!(!twice.is_generated());
        assert_eq!(twice.request.width, 16, "the size is that of the result");
        let names: Vec<&str> = twice.enlarged.iter().map(|enlarged| enlarged.upscaler.as_str()).collect();
        assert_eq!(names, ["sharp", "soft"]);

        let generated = Settings::new(&Request { seed: 7, ..Request::default() }, "Starter", "z_image", 0);
        assert!(generated.is_generated());
        write_png(&photo, &image(4), &generated).unwrap();
        let enlarged = Settings::of_changed(&enlarges(&photo, 8), "sharp", "upscaler").unwrap();
        assert!(enlarged.is_generated() && enlarged.seed == 7, "how it was generated is still known");
    }

    #[test]
    fn each_picture_of_a_batch_has_its_seed() {
        let request = Request { seed: u64::MAX, batch: 2, ..Request::default() };
        let settings = Settings::new(&request, "Starter", "z_image", 1);
        assert_eq!(settings.seed, 0);
        assert_eq!(settings.picture_request(), Request { seed: 0, batch: 1, ..request });
    }
}
