//! `sluice interpolate`: puts frames between those of clips.

use std::path::PathBuf;

use sluice_engine::{
    output::Codec,
    request::{FACTORS, Interpolation, ModelSource, Request},
    units,
};

use super::{
    changes::{Changes, Task},
    exit::{Outcome, refuse},
    names::named,
    tool_args::ToolArgs,
};
use crate::interpolating::{clips_in, name_of_result, request_of};

const EXAMPLES: &str = "\
Examples:
  sluice interpolate boat.mp4 --model ~/models/rife_v4.26.safetensors
      Writes boat-2x-frames.mp4 beside it, with twice as many frames in the same time.
  sluice interpolate boat.mp4 --model rife_v4.26.safetensors --factor 4 --output smooth.mp4
  sluice interpolate clips/ --model rife_v4.26.safetensors --output smooth/
      Takes the clips of a folder; what is in smooth/ already is left out.
  sluice interpolate boat.mp4 --model rife_v4.26.safetensors --plan
      Predicts memory and time, and makes nothing.";

/// Make the motion of clips smoother, with more frames in the same time.
///
/// The settings in a clip and its sound are kept. The names of the results are written to the standard output, progress to the
/// standard error.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// MP4 and MOV clips, and folders of them.
    #[arg(value_name = "CLIP", required = true)]
    inputs: Vec<PathBuf>,
    /// A .safetensors file of RIFE 4, such as rife_v4.26.safetensors.
    #[arg(short, long, value_name = "PATH")]
    model: ModelSource,
    /// How many times as many frames there are, and how many times as many in a second: 2, 4, or another number up to 8.
    #[arg(short, long, value_name = "NUMBER", default_value_t = 2)]
    factor: u32,
    /// Make frames across cuts from one scene to another, too. Otherwise the last frame before a cut is repeated.
    #[arg(long)]
    across_cuts: bool,
    /// The file to write for one clip; an existing file is replaced. For several, the folder of the results, in which existing
    /// files are left as they are. Without it, a result is written beside its input, and those of a folder to a folder of its
    /// name in the folder Sluice of your pictures folder.
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,
    /// The video codec. All but h264 need the program ffmpeg.
    #[arg(long, value_name = "NAME", default_value = Codec::default().name(), value_parser = named(&Codec::ALL, Codec::name))]
    codec: Codec,
    #[command(flatten)]
    tool: ToolArgs,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Outcome> {
    if !FACTORS.contains(&args.factor) {
        return Err(refuse(
            format!("the factor {} is not between {} and {}", args.factor, FACTORS.start(), FACTORS.end()),
            "Use --factor with a number such as 2 or 4.".to_owned(),
        ));
    }
    let how = Interpolation { factor: args.factor, across_cuts: args.across_cuts };
    let changes = Changes {
        inputs: &args.inputs,
        output: args.output.as_deref(),
        found: clips_in,
        lacking: ["clips", "Give a folder with MP4 or MOV clips."],
        request: &|input| request_of(input, &args.model, how),
        name: &|input, _| name_of_result(input, how.factor),
        sizes,
    };
    changes.run(&args.tool, args.codec, "interpolator")
}

/// What a clip becomes.
fn sizes(task: &Task) -> String {
    let (before, rate) = task.given.frames();
    let Request { width, height, frames, frame_rate, .. } = &task.request;
    format!(
        "{width}×{height}, {} at {} per second to {} at {}",
        units::counted(before as usize, "frame"),
        units::number(rate),
        units::counted(*frames as usize, "frame"),
        units::number(*frame_rate)
    )
}
