//! `sluice upscale`: enlarges images and clips.

use std::path::PathBuf;

use sluice_engine::{
    output::Codec,
    request::{ModelSource, Request, SCALES},
    units,
};

use super::{
    changes::{Changes, Task},
    exit::{Outcome, refuse},
    names::named,
    tool_args::ToolArgs,
};
use crate::upscaling::{inputs_in, name_of_result, request_of};

const EXAMPLES: &str = "\
Examples:
  sluice upscale photo.jpg --scale 2
      Writes photo-2x.png beside it, with the upscaler that comes with Sluice.
  sluice upscale photo.jpg --model ~/models/4x-UltraSharp.safetensors --scale 4 --output large.png
  sluice upscale photos/ boat.mp4 --scale 1.5 --output larger/
      Enlarges the images and clips of a folder, and a clip; what is in larger/ already is left out.
  sluice upscale photo.jpg --scale 4 --plan
      Predicts memory and time, and enlarges nothing.";

/// Enlarge images and clips.
///
/// The settings in an image or a clip are kept, and the upscaler is added to them. The names of the results are written to
/// the standard output, progress to the standard error.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Images, MP4 and MOV clips, and folders of them.
    #[arg(value_name = "IN", required = true)]
    inputs: Vec<PathBuf>,
    /// A .safetensors file of ESRGAN, Real-ESRGAN Compact, SPAN, DAT, HAT, SwinIR or RealPLKSR, or `upscaler` for the built-in one.
    #[arg(short, long, value_name = "PATH", default_value = "upscaler")]
    model: ModelSource,
    /// How many times as wide and as high the result is, from 1 to 4. If the model has another factor, its result is
    /// resized.
    #[arg(short, long, value_name = "NUMBER", default_value_t = 2.0)]
    scale: f32,
    /// The file to write for one image or clip; an existing file is replaced. For several, the folder of the results, in
    /// which existing files are left as they are. Without it, a result is written beside its input, and those of a folder to
    /// a folder of its name in the folder Sluice of your pictures folder.
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,
    /// The video codec of clips. All but h264 need the program ffmpeg.
    #[arg(long, value_name = "NAME", default_value = Codec::default().name(), value_parser = named(&Codec::ALL, Codec::name))]
    codec: Codec,
    #[command(flatten)]
    tool: ToolArgs,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Outcome> {
    if !SCALES.contains(&args.scale) {
        return Err(refuse(
            format!("the scale {} is not between {} and {}", args.scale, SCALES.start(), SCALES.end()),
            "Use --scale with a number from 1 to 4. To enlarge further, enlarge the result again.".to_owned(),
        ));
    }
    let changes = Changes {
        inputs: &args.inputs,
        output: args.output.as_deref(),
        found: inputs_in,
        lacking: ["images and no clips", "Give a folder with PNG, JPEG or WebP images or MP4 clips."],
        request: &|input| request_of(input, &args.model, args.scale),
        name: &|input, is_clip| name_of_result(input, args.scale, is_clip),
        sizes,
    };
    changes.run(&args.tool, args.codec, "upscaler")
}

/// What a file is enlarged from and to.
fn sizes(task: &Task) -> String {
    let ([from_width, from_height], Request { width, height, .. }) = (task.given.size, &task.request);
    let frames = task.given.clip.as_ref().map(|clip| units::counted(clip.frames as usize, "frame"));
    let frames = frames.map(|frames| format!("{frames} of ")).unwrap_or_default();
    format!("{frames}{from_width}×{from_height} to {width}×{height}")
}
