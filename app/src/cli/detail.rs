//! `sluice detail`: inpaints faces, hands or persons of images again.

use std::path::PathBuf;

use sluice_engine::request::{ModelSource, Request};

use super::{
    changes::{Changes, Task},
    exit::{Outcome, refuse},
    request_args::RequestArgs,
    tool_args::ToolArgs,
};
use crate::{
    detailing::{name_of_result, request_of},
    input_folder::images_named_in,
    seed::random_seed,
};

const EXAMPLES: &str = "\
Examples:
  sluice detail photo.png --model ~/models/z-image --detailer ~/models/face_yolov8n.safetensors
      Writes photo-detailed.png beside it. The prompt is that in the image.
  sluice detail photos/ --model ~/models/sdxl --detailer face_yolov8n.safetensors --prompt \"a portrait\" --output better/
      Does so for the images of a folder; what is in better/ already is left out.
  sluice detail photo.png --detailer face.safetensors --detailer hand.safetensors --detailer-strength 0.3
      Inpaints faces and then hands, faces with a denoising strength of 0.3.";

/// Inpaint faces, hands or persons of images again.
///
/// What a detector finds is inpainted at full resolution, each by itself, and put back into the image; other pixels stay as they
/// are. How much was found is said, and an image in which nothing is found is written as it is. The names of the results are
/// written to the standard output, progress to the standard error.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Images, and folders of them.
    #[arg(value_name = "IN", required = true)]
    inputs: Vec<PathBuf>,
    /// The folder or file of the model that inpaints, or `starter` for the built-in one.
    #[arg(short, long, value_name = "PATH", default_value = "starter")]
    model: ModelSource,
    /// Describes the images. Without it, the prompt in each image is used.
    #[arg(short, long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    prompt: String,
    /// What to avoid. Only has an effect with guidance.
    #[arg(long, alias = "negative", value_name = "TEXT")]
    negative_prompt: Option<String>,
    /// The seed of the first box of an image; the next ones follow. Random by default.
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
    /// The file to write for one image; an existing file is replaced. For several, the folder of the results, in which existing
    /// files are left as they are. Without it, a result is written beside its input, and those of a folder to a folder of its
    /// name in the folder Sluice of your pictures folder.
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,
    #[command(flatten)]
    request: RequestArgs,
    #[command(flatten)]
    tool: ToolArgs,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Outcome> {
    let engine = args.tool.engine_with(args.request.folders())?;
    let Some(summary) = engine.load(args.model.clone())? else { return Ok(Outcome::Cancelled) };
    let settings = args.request.styled(args.request.request(&summary.defaults)?)?;
    let usual = Request {
        model: args.model.clone(),
        prompt: args.prompt.clone(),
        negative_prompt: args.negative_prompt.clone().unwrap_or_else(|| settings.negative_prompt.clone()),
        seed: args.seed.unwrap_or_else(random_seed),
        // Those of a preset are for images that are generated.
        hires: args.request.hires()?,
        batch: args.request.batch().unwrap_or(1),
        ..settings
    };
    if usual.detailers.is_empty() {
        return Err(refuse(
            "nothing says what to find in the images".to_owned(),
            "Give a detector with --detailer, such as face_yolov8n.safetensors.".to_owned(),
        ));
    }
    let changes = Changes {
        inputs: &args.inputs,
        output: args.output.as_deref(),
        found: images_named_in,
        lacking: ["images", "Give a folder with PNG, JPEG or WebP images."],
        request: &|input| request_of(input, &usual),
        name: &|input, _| name_of_result(input),
        sizes,
    };
    changes.run_on(&engine, &args.tool, &summary.family)
}

/// What is changed, and in which size its boxes are inpainted.
fn sizes(task: &Task) -> String {
    let ([own_width, own_height], Request { width, height, .. }) = (task.given.size, &task.request);
    format!("{own_width}×{own_height}, boxes in {width}×{height}")
}
