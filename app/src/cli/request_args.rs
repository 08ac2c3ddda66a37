//! What decides how much work a picture is, for every command that draws or plans.

use std::path::PathBuf;

use sluice_engine::{
    request::{AdapterUse, ComputeDtype, LARGEST_CLIP_SKIP, Request, Sampler},
    session::Defaults,
};

use super::{guidance_args::GuidanceArgs, names::named};

/// Flags about size and number.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct RequestArgs {
    /// Width in pixels.
    #[arg(long, value_name = "PIXELS")]
    width: Option<u32>,
    /// Height in pixels.
    #[arg(long, value_name = "PIXELS")]
    height: Option<u32>,
    /// Denoising steps.
    #[arg(long, value_name = "COUNT")]
    steps: Option<u32>,
    /// How strongly the prompt is followed.
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    guidance: Option<f32>,
    /// Pictures to draw; each further one has the next seed.
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    batch: u32,
    /// Method that walks from noise to picture.
    #[arg(long, value_name = "NAME", default_value = Sampler::default().name(), value_parser = named(&Sampler::ALL, Sampler::name))]
    sampler: Sampler,
    /// Precision of the computation; if absent f32 on the processor, on a card the 16 bits that suit the model.
    #[arg(long, value_name = "NAME", value_parser = named(&ComputeDtype::ALL, ComputeDtype::name))]
    dtype: Option<ComputeDtype>,
    /// Longest prompt in tokens; longer ones are cut.
    #[arg(long, value_name = "TOKENS", default_value_t = Request::default().max_sequence_length)]
    max_sequence_length: u32,
    /// A LoRA or another adapter and how strongly it is used, 1 if that is not said; may be given several times.
    #[arg(long = "lora", value_name = "PATH:WEIGHT", value_parser = adapter_use, allow_hyphen_values = true)]
    loras: Vec<AdapterUse>,
    /// A folder in which LoRAs are looked for that a prompt names as <lora:name:weight>, beside those next to the
    /// model; may be given several times.
    #[arg(long = "lora-folder", value_name = "FOLDER")]
    pub(super) lora_folders: Vec<PathBuf>,
    /// Which layer of CLIP is taken, from the end: 1 is the last one, 2 the one before it. Models without CLIP's layers
    /// do not heed it.
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=i64::from(LARGEST_CLIP_SKIP)))]
    clip_skip: u32,
    #[command(flatten)]
    guiding: GuidanceArgs,
}

/// A path, perhaps with a weight behind a colon.
fn adapter_use(text: &str) -> Result<AdapterUse, String> {
    let weighted = text.rsplit_once(':').and_then(|(path, weight)| Some((path, weight.parse().ok()?)));
    match weighted {
        Some((_, weight)) if !f32::is_finite(weight) => Err("the weight is not a number".to_owned()),
        Some((path, weight)) => Ok(AdapterUse { path: PathBuf::from(path), weight }),
        None => Ok(AdapterUse { path: PathBuf::from(text), weight: 1.0 }),
    }
}

impl RequestArgs {
    /// Precision of the computation, if it was said.
    pub fn dtype(&self) -> Option<ComputeDtype> {
        self.dtype
    }

    /// A request with these settings; what is not said is as the model likes it.
    pub fn request(&self, defaults: &Defaults) -> Request {
        Request {
            width: self.width.unwrap_or(defaults.width),
            height: self.height.unwrap_or(defaults.height),
            steps: self.steps.unwrap_or(defaults.steps),
            guidance: self.guidance.unwrap_or(defaults.guidance),
            batch: self.batch,
            sampler: self.sampler,
            dtype: self.dtype,
            max_sequence_length: self.max_sequence_length,
            adapters: self.loras.clone(),
            clip_skip: if self.clip_skip > 1 { self.clip_skip } else { 0 },
            guiding: self.guiding.options(),
            step_cache: self.guiding.step_cache,
            ..Request::default()
        }
    }
}

/// A request in words: `2 pictures of 1024×1024, 8 steps, guidance 0`.
pub(super) fn in_words(request: &Request, frames: u32) -> String {
    let Request { width, height, steps, guidance, batch, .. } = request;
    let what = match (batch, frames) {
        (1, 1) => "a picture".to_owned(),
        (_, 1) => format!("{batch} pictures"),
        (1, _) => format!("a video of {frames} frames"),
        _ => format!("{batch} videos of {frames} frames each"),
    };
    let cache = match request.step_cache {
        0.0 => String::new(),
        threshold => format!(", step cache {threshold}"),
    };
    format!("{what} of {width}×{height}, {steps} steps, guidance {guidance}{cache}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weight_of_an_adapter_stands_behind_the_last_colon() {
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
    fn pictures_and_videos_are_counted_in_words() {
        let request = |batch| Request {
            width: 832,
            height: 480,
            steps: 20,
            guidance: 3.5,
            batch,
            ..Request::default()
        };
        for (batch, frames, expected) in [
            (1, 1, "a picture of 832×480, 20 steps, guidance 3.5"),
            (4, 1, "4 pictures of 832×480, 20 steps, guidance 3.5"),
            (1, 81, "a video of 81 frames of 832×480, 20 steps, guidance 3.5"),
            (2, 81, "2 videos of 81 frames each of 832×480, 20 steps, guidance 3.5"),
        ] {
            assert_eq!(in_words(&request(batch), frames), expected);
        }
    }
}
