//! Options that determine the size of a request, for every command that generates or plans.

use std::path::{Path, PathBuf};

use sluice_engine::{
    adapters::FewSteps,
    request::{
        AdapterUse, ComputeDtype, Hires, LARGEST_CLIP_SKIP, PromptFolders, Refiner, Request, Sampler, Style,
        Windows,
    },
    session::Defaults,
    text::{read_styles, styles_around},
    units,
};

use super::{
    detailer_args::DetailerArgs,
    exit::refuse,
    guidance_args::GuidanceArgs,
    hires_args::HiresArgs,
    names::{named, nearest},
    region_args::RegionArgs,
    smooth_args::SmoothArgs,
};
use crate::{
    folders::{style_folder, wildcard_folder},
    presets::{self, Preset},
};

/// The most styles that are listed where none has a name.
const LISTED: usize = 12;

/// Size, steps, sampling and adapters.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct RequestArgs {
    /// Start from settings that were kept in the window under this name, or from a TOML file of them. Other options win.
    #[arg(long, value_name = "NAME", value_parser = |name: &str| presets::find(name).map_err(|error| error.to_string()))]
    preset: Option<Preset>,
    /// Apply a style to the prompts: the name of one in A1111's styles.csv or Fooocus' sdxl_styles above the model, in the
    /// folder `styles` for data, or in a file given with --style-file. May be given several times.
    #[arg(long = "style", value_name = "NAME")]
    styles: Vec<String>,
    /// A file or a folder with styles, in CSV of A1111 or JSON of Fooocus. May be given several times.
    #[arg(long = "style-file", value_name = "PATH")]
    style_files: Vec<PathBuf>,
    /// Width in pixels.
    #[arg(long, value_name = "PIXELS")]
    width: Option<u32>,
    /// Height in pixels.
    #[arg(long, value_name = "PIXELS")]
    height: Option<u32>,
    /// Number of frames of a clip, for models that generate videos; 1 is an image.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    frames: Option<u32>,
    /// Frames per second of a clip, from 1 to 60.
    #[arg(long, value_name = "NUMBER")]
    fps: Option<f32>,
    /// Denoise a long clip in windows of this many frames, so that it takes the memory of one window.
    #[arg(long, alias = "context-frames", value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    window_frames: Option<u32>,
    /// Frames that a window shares with the one before it; by default 16, or half of a short window.
    #[arg(long, alias = "context-overlap", value_name = "COUNT", requires = "window_frames")]
    window_overlap: Option<u32>,
    /// Number of denoising steps.
    #[arg(long, value_name = "COUNT")]
    steps: Option<u32>,
    /// How strongly to follow the prompt (CFG scale).
    #[arg(long, alias = "cfg-scale", value_name = "NUMBER", allow_negative_numbers = true)]
    guidance: Option<f32>,
    /// Number of images to generate at once; each one has the next seed. As in the preset, or else 1.
    #[arg(long, alias = "batch", value_name = "COUNT")]
    batch_size: Option<u32>,
    /// The sampling method. By default that of the model.
    #[arg(long, value_name = "NAME", value_parser = named(&Sampler::ALL, Sampler::name))]
    sampler: Option<Sampler>,
    /// The shift of the noise levels towards noise, in place of the model's own; only for models trained with flow
    /// matching.
    #[arg(long, alias = "flow-shift", value_name = "NUMBER")]
    shift: Option<f32>,
    /// Data type of the computation. By default f32 on the CPU, and on a GPU the 16-bit type that suits the
    /// model.
    #[arg(long, value_name = "NAME", value_parser = named(&ComputeDtype::ALL, ComputeDtype::name))]
    dtype: Option<ComputeDtype>,
    /// Longest prompt in tokens; longer prompts are truncated.
    #[arg(long, value_name = "TOKENS", default_value_t = Request::default().max_sequence_length)]
    max_sequence_length: u32,
    /// A LoRA or another adapter, with an optional weight (default 1). May be given several times. One that is made for
    /// a few steps sets steps, guidance, shift and sampler, unless they are given.
    #[arg(long = "lora", value_name = "PATH:WEIGHT", value_parser = adapter_use, allow_hyphen_values = true)]
    loras: Vec<AdapterUse>,
    /// A folder to search for LoRAs that a prompt names as <lora:name:weight>, in addition to the folders next to the
    /// model.
    /// May be given several times.
    #[arg(long = "lora-folder", value_name = "FOLDER")]
    lora_folders: Vec<PathBuf>,
    /// A folder to search for the text files that a prompt names as __name__, in addition to the folders next to the model.
    /// One of their lines is chosen, and one of the options in {red|blue}, by the seed. May be given several times.
    #[arg(long = "wildcard-folder", value_name = "FOLDER")]
    wildcard_folders: Vec<PathBuf>,
    /// Which layer of CLIP to use, counted from the end: 1 is the last one, 2 the one before it. Models that do not use
    /// CLIP this way ignore it. As in the preset, or else 1.
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..=i64::from(LARGEST_CLIP_SKIP)))]
    clip_skip: Option<u32>,
    /// A second model that takes over the last steps, such as the refiner of Stable Diffusion XL.
    #[arg(long, value_name = "PATH")]
    refiner: Option<PathBuf>,
    /// Where the refiner takes over, as a fraction of the noise schedule.
    #[arg(long, value_name = "FRACTION", default_value_t = Refiner::SWITCH, requires = "refiner")]
    refiner_switch: f64,
    #[command(flatten, next_help_heading = "Regions with prompts of their own")]
    regions: RegionArgs,
    #[command(flatten, next_help_heading = "Hires fix")]
    hires: HiresArgs,
    #[command(flatten, next_help_heading = "Detailers: faces, hands and persons")]
    detailers: DetailerArgs,
    #[command(flatten, next_help_heading = "Frame interpolation")]
    smooth: SmoothArgs,
    #[command(flatten, next_help_heading = "Guidance and speed")]
    guiding: GuidanceArgs,
}

/// Parses a path with an optional weight after a colon.
fn adapter_use(text: &str) -> Result<AdapterUse, String> {
    let weighted = text.rsplit_once(':').and_then(|(path, weight)| Some((path, weight.parse().ok()?)));
    match weighted {
        Some((_, weight)) if !f32::is_finite(weight) => Err("the weight is not a finite number".to_owned()),
        Some((path, weight)) => Ok(AdapterUse { path: PathBuf::from(path), weight }),
        None => {
            let path = PathBuf::from(text);
            Ok(AdapterUse { weight: FewSteps::of(&path).map_or(1.0, |few| few.weight), path })
        }
    }
}

impl RequestArgs {
    /// The data type of the computation, if one was given.
    pub fn dtype(&self) -> Option<ComputeDtype> {
        self.dtype
    }

    /// Where names in prompts are looked up.
    pub fn folders(&self) -> PromptFolders {
        PromptFolders {
            adapters: self.lora_folders.clone(),
            wildcards: self.wildcard_folders.iter().cloned().chain(wildcard_folder()).collect(),
        }
    }

    /// Whether a width or a height was given.
    pub fn has_size(&self) -> bool {
        self.width.is_some() || self.height.is_some()
    }

    /// Whether a number of frames was given.
    pub fn has_frames(&self) -> bool {
        self.frames.is_some()
    }

    /// The hires fix that was given, and not that of a preset.
    ///
    /// # Errors
    /// When there is none, and something was given for it.
    pub fn hires(&self) -> anyhow::Result<Option<Hires>> {
        self.hires.hires(None)
    }

    /// The batch size that was given, and not that of a preset.
    pub fn batch(&self) -> Option<u32> {
        self.batch_size
    }

    /// A request with these settings, and the defaults of the model for the rest.
    ///
    /// # Errors
    /// Fails if there are not as many areas as regions, and if something is given for hires fix without it.
    pub fn request(&self, defaults: &Defaults) -> anyhow::Result<Request> {
        let usual = defaults.given_to(Request::default());
        let usual = self.preset.as_ref().map_or(usual.clone(), |preset| preset.given_to(usual));
        let usual = self.few_steps().map_or(usual.clone(), |(_, few)| few.given_to(usual));
        Ok(Request {
            width: self.width.unwrap_or(usual.width),
            height: self.height.unwrap_or(usual.height),
            frames: self.frames.unwrap_or(usual.frames),
            frame_rate: self.fps.unwrap_or(usual.frame_rate),
            steps: self.steps.unwrap_or(usual.steps),
            guidance: self.guidance.unwrap_or(usual.guidance),
            batch: self.batch_size.unwrap_or(usual.batch),
            sampler: self.sampler.unwrap_or(usual.sampler),
            shift: self.shift.or(usual.shift),
            dtype: self.dtype,
            max_sequence_length: self.max_sequence_length,
            windows: self.window_frames.map(|frames| {
                let usual = Windows::of(frames);
                Windows { overlap: self.window_overlap.unwrap_or(usual.overlap), ..usual }
            }),
            adapters: if self.loras.is_empty() { usual.adapters } else { self.loras.clone() },
            clip_skip: self.clip_skip.unwrap_or(usual.clip_skip),
            guiding: self.guiding.options(usual.guiding),
            step_cache: self.guiding.step_cache.unwrap_or(usual.step_cache),
            hires: self.hires.hires(usual.hires)?,
            smooth: self.smooth.smooth().or(usual.smooth),
            detailers: self.detailers.detailers().unwrap_or(usual.detailers),
            regions: self.regions.regions()?,
            refiner: self.refiner.clone().map(|path| Refiner { path, switch: self.refiner_switch }),
            ..usual
        })
    }

    /// The request with the styles that are named, in place of those of a preset.
    ///
    /// # Errors
    /// When there is no style of a name, or a file that was given cannot be read.
    pub fn styled(&self, request: Request) -> anyhow::Result<Request> {
        if self.styles.is_empty() {
            return Ok(request);
        }
        let known = self.known_styles(&request)?;
        let find = |name: &String| {
            let style = known.iter().find(|style| style.name.eq_ignore_ascii_case(name));
            style.cloned().ok_or_else(|| {
                let names: Vec<&str> = known.iter().map(|style| style.name.as_str()).collect();
                let advice = match nearest(name, names.iter().copied()) {
                    Some(near) => format!("Similar names: {near}."),
                    None if names.is_empty() => "Give the file that it is in with --style-file.".to_owned(),
                    None => {
                        let more = if names.len() > LISTED { ", and others" } else { "" };
                        let listed = names[..names.len().min(LISTED)].join(", ");
                        format!("There are {listed}{more}. Give the file of another one with --style-file.")
                    }
                };
                refuse(format!("there is no style named {name:?}"), advice)
            })
        };
        let styles = self.styles.iter().map(find).collect::<anyhow::Result<_>>()?;
        Ok(Request { styles, ..request })
    }

    /// The styles that there are.
    ///
    /// # Errors
    /// When a file that was given cannot be read.
    pub fn known_styles(&self, request: &Request) -> anyhow::Result<Vec<Style>> {
        for path in self.style_files.iter().filter(|path| !path.is_dir()) {
            read_styles(path)
                .map_err(|error| refuse(error.to_string(), "Give another --style-file.".to_owned()))?;
        }
        let chosen: Vec<PathBuf> = self.style_files.iter().cloned().chain(style_folder()).collect();
        Ok(styles_around(&request.model.resolve().unwrap_or_default(), &chosen).0)
    }

    /// The first LoRA that is made for a few steps, and its settings.
    pub fn few_steps(&self) -> Option<(&Path, FewSteps)> {
        self.loras.iter().find_map(|adapter| Some((adapter.path.as_path(), FewSteps::of(&adapter.path)?)))
    }
}

/// Describes a request: `2 images of 1024×1024, 8 steps, guidance 0`.
pub(super) fn in_words(request: &Request) -> String {
    let Request { width, height, frames, steps, guidance, batch, .. } = request;
    let what = match (batch, frames) {
        (_, 1) => units::counted(*batch as usize, "image"),
        (1, _) => format!("1 video of {frames} frames"),
        _ => format!("{batch} videos of {frames} frames each"),
    };
    let cache = match request.step_cache {
        0.0 => String::new(),
        threshold => format!(", step cache {threshold}"),
    };
    let steps = units::counted(*steps as usize, "step");
    let hires =
        request.hires.as_ref().map(|hires| format!(", hires fix ×{}", hires.scale)).unwrap_or_default();
    let detailers = match request.detailers.len() {
        0 => String::new(),
        count => format!(", {}", units::counted(count, "detailer")),
    };
    let nets = request.control_nets.iter().map(|net| format!(", ControlNet {}", name_of(&net.model)));
    let nets: String = nets.collect();
    let regions = match request.regions.all.len() {
        0 => String::new(),
        count => format!(", {}", units::counted(count, "region")),
    };
    let smooth = request.smooth.as_ref();
    let smooth = smooth.map(|smooth| format!(", ×{} frames", smooth.how.factor)).unwrap_or_default();
    format!(
        "{what} of {width}×{height}, {steps}, guidance {guidance}{cache}{nets}{regions}{hires}{detailers}{smooth}"
    )
}

/// The name of a model's file or folder.
pub(super) fn name_of(path: &Path) -> String {
    let stem = if path.is_dir() { path.file_name() } else { path.file_stem() };
    stem.unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;
    use sluice_engine::request::{ControlNet, Detailer, GuidanceOptions};

    use super::*;

    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        request: RequestArgs,
    }

    fn request(words: &[&str]) -> Request {
        let words = ["sluice"].iter().chain(words);
        Line::try_parse_from(words).unwrap().request.request(&Defaults::default()).unwrap()
    }

    #[test]
    fn control_nets_are_named() {
        let net = ControlNet { model: "nets/lines.safetensors".into(), ..ControlNet::default() };
        let words = in_words(&Request { control_nets: vec![net], ..Request::default() });
        assert!(words.ends_with(", ControlNet lines"), "{words}");
    }

    #[test]
    fn only_what_is_given_replaces_what_a_preset_has() {
        let hires = Hires { scale: 1.5, strength: 0.25, steps: Some(9), ..Hires::default() };
        let kept = Request {
            batch: 4,
            clip_skip: 2,
            shift: Some(3.0),
            step_cache: 0.25,
            guiding: GuidanceOptions { rescale: 0.5, true_cfg: 2.0, ..GuidanceOptions::default() },
            hires: Some(hires.clone()),
            detailers: vec![Detailer::new("face.safetensors")],
            negative_prompt: "fog".to_owned(),
            ..Request::default()
        };
        let folder = tempfile::tempdir().unwrap();
        presets::save(folder.path(), "kept", &Preset::of(&kept, false)).unwrap();
        let file = folder.path().join("kept.toml");
        let given = |words: &[&str]| request(&[&["--preset", file.to_str().unwrap()][..], words].concat());
        assert_eq!(given(&[]), kept);
        let one = Request { batch: 1, clip_skip: 1, step_cache: 0.0, ..kept.clone() };
        assert_eq!(given(&["--batch-size", "1", "--clip-skip", "1", "--step-cache", "0"]), one);
        let guiding = GuidanceOptions { rescale: 0.0, ..kept.guiding };
        assert_eq!(given(&["--guidance-rescale", "0"]).guiding, guiding);
        assert_eq!(given(&["--hires", "2"]).hires, Some(Hires { scale: 2.0, ..hires.clone() }));
        assert_eq!(given(&["--hires-strength", "0.3"]).hires, Some(Hires { strength: 0.3, ..hires }));
        let hands = vec![Detailer::new("hand.safetensors")];
        assert_eq!(given(&["--detailer", "hand.safetensors"]).detailers, hands);
    }

    #[test]
    fn the_weight_of_an_adapter_follows_the_last_colon() {
        for (text, path, weight) in [
            ("ink.safetensors", "ink.safetensors", 1.0),
            ("ink.safetensors:0.8", "ink.safetensors", 0.8),
            ("a:b/ink:-1", "a:b/ink", -1.0),
            (r"C:\loras\ink.safetensors", r"C:\loras\ink.safetensors", 1.0),
        ] {
            assert_eq!(adapter_use(text).unwrap(), AdapterUse { path: path.into(), weight });
        }
        assert!(adapter_use("ink:inf").is_err());
    }

    #[test]
    fn images_and_videos_are_counted() {
        let request = |batch, frames| Request {
            frames,
            width: 832,
            height: 480,
            steps: 20,
            guidance: 3.5,
            batch,
            ..Request::default()
        };
        for (batch, frames, expected) in [
            (1, 1, "1 image of 832×480, 20 steps, guidance 3.5"),
            (4, 1, "4 images of 832×480, 20 steps, guidance 3.5"),
            (1, 81, "1 video of 81 frames of 832×480, 20 steps, guidance 3.5"),
            (2, 81, "2 videos of 81 frames each of 832×480, 20 steps, guidance 3.5"),
        ] {
            assert_eq!(in_words(&request(batch, frames)), expected);
        }
    }
}
