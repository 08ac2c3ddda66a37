//! `sluice map`: makes maps of images and clips, as preprocessors make them for ControlNets and control clips.

use std::path::{Path, PathBuf};

use sluice_engine::{
    output::{Codec, InputMark, Output, OutputError, write_plain},
    request::Preprocessor,
    session::Failure,
    units,
};

use super::{
    changes::{Changes, Task, Tasks},
    exit::{Outcome, complain, refuse},
    names::named,
    stdout,
    tool_args::ToolArgs,
};
use crate::{
    mapping::{MAKERS, maps_of, name_of_result, request_of},
    upscaling::inputs_in,
};

const EXAMPLES: &str = "\
Examples:
  sluice map photo.jpg --preprocessor canny
      Writes photo-canny.png beside it: white edges on black.
  sluice map photo.jpg --preprocessor pose --model yolov8n-pose.safetensors
  sluice map photos/ b.png --preprocessor depth --model ~/models/Depth-Anything-V2-Small-hf --output maps/
      Takes the images of a folder, and another one; what is in maps/ already is left out.
  sluice map walk.mp4 --preprocessor pose --model yolov8n-pose.safetensors
      Writes walk-pose.mp4, a clip of the maps of its frames, as control clips are made for Wan VACE.
  sluice map photo.jpg --preprocessor segments --model segformer-b0.safetensors --plan
      Predicts memory and time, and makes nothing.";

/// Make maps of images and clips: edges, lines, depths, poses and others, as ControlNets and control clips have them.
///
/// A clip becomes a clip of the maps of its frames, and keeps its sound. The names of the results are written to the standard
/// output, progress to the standard error.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// PNG, JPEG or WebP images, MP4 and MOV clips, and folders of them.
    #[arg(value_name = "IN", required = true)]
    inputs: Vec<PathBuf>,
    /// What to make of the images and frames: see --control-preprocessor of `sluice generate`.
    #[arg(short, long, value_name = "NAME", value_parser = named(&MAKERS, Preprocessor::name))]
    preprocessor: Preprocessor,
    /// The network for depth (Depth Anything V2), pose (YOLOv8-pose), segments (SegFormer) or soft_edge (HED): a
    /// .safetensors file, or a folder as transformers saves it. The others need none.
    #[arg(short, long, value_name = "PATH")]
    model: Option<PathBuf>,
    /// The file to write for one image or clip; an existing file is replaced. For several, the folder of the results, in which
    /// existing files are left as they are. Without it, a result is written beside its input, and those of a folder to a folder
    /// of its name in the folder Sluice of your pictures folder.
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,
    /// The video codec of clips. All but h264 need the program ffmpeg.
    #[arg(long, value_name = "NAME", default_value = Codec::default().name(), value_parser = named(&Codec::ALL, Codec::name))]
    codec: Codec,
    #[command(flatten)]
    tool: ToolArgs,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Outcome> {
    args.check()?;
    let changes = Changes {
        inputs: &args.inputs,
        output: args.output.as_deref(),
        found: inputs_in,
        lacking: ["images and no clips", "Give a folder with PNG, JPEG or WebP images or MP4 clips."],
        request: &|input| request_of(input, args.preprocessor, args.model.clone()),
        name: &|input, is_clip| args.name_of_result(input, is_clip),
        sizes,
    };
    match args.preprocessor.estimated() {
        Some(_) => changes.run(&args.tool, args.codec, "map_estimator"),
        None => args.make(&changes.tasks(false)?),
    }
}

/// What is made of an image or a clip.
fn sizes(task: &Task) -> String {
    let [width, height] = task.given.size;
    let maps = task.request.map_of.as_ref().map_or("maps", |map| map.kind.maps());
    let frames = task.given.clip.as_ref().map(|clip| units::counted(clip.frames as usize, "frame"));
    let frames = frames.map(|frames| format!("{frames} of ")).unwrap_or_default();
    format!("{maps} of {frames}{width}×{height}")
}

impl Args {
    /// Refuses a model that is missing or not needed, and the forecast of what takes a moment.
    fn check(&self) -> anyhow::Result<()> {
        let name = self.preprocessor.name();
        match (self.preprocessor.estimated(), &self.model) {
            (Some(kind), None) => Err(refuse(
                format!("the preprocessor {name} needs a model"),
                format!("Give a .safetensors file of {} with --model.", kind.networks()),
            )),
            (None, Some(_)) => Err(refuse(
                format!("the preprocessor {name} needs no model"),
                "Leave --model out.".to_owned(),
            )),
            (None, None) if self.tool.plan => {
                let advice = "Leave --plan out: the map takes a moment and little memory.".to_owned();
                Err(refuse(
                    format!("the preprocessor {name} needs no model, so there is no forecast"),
                    advice,
                ))
            }
            _ => Ok(()),
        }
    }

    fn name_of_result(&self, input: &Path, is_clip: bool) -> String {
        let extension = if is_clip { self.codec.extension() } else { "png" };
        name_of_result(input, self.preprocessor, extension)
    }

    /// Makes maps without a network. One that fails does not end the others.
    fn make(&self, Tasks { all, notes, .. }: &Tasks) -> anyhow::Result<Outcome> {
        self.tool.note(notes);
        let mut outcome = Outcome::Done;
        for task in all {
            match self.make_one(task) {
                Ok(()) if self.tool.is_json() => {}
                Ok(()) => stdout::line(&task.output.display().to_string())?,
                Err(failure) => {
                    complain(&failure);
                    outcome = Outcome::Failed;
                }
            }
        }
        Ok(outcome)
    }

    fn make_one(&self, task: &Task) -> Result<(), Failure> {
        let unsaved = |error: OutputError| {
            let advice = error.advice().map(str::to_owned);
            Failure { message: error.to_string(), advice }
        };
        let output = Output::File(task.output.clone());
        output.prepare(task.given.clip.is_some(), self.codec).map_err(unsaved)?;
        // Of the file that is read now; another one may have its name in a moment.
        let made_of = InputMark::of(&task.input).map_err(|error| Failure {
            message: format!("{} cannot be read: {error}", task.input.display()),
            advice: Some("Check the path.".to_owned()),
        })?;
        // Ctrl-C ends the program.
        let maps = maps_of(&task.input, &task.given, self.preprocessor, &|| false).map_err(|error| {
            let advice = error.advice().map(str::to_owned);
            Failure { message: error.to_string(), advice }
        })?;
        write_plain(&task.output, &maps, Some(&made_of), self.codec).map_err(unsaved)
    }
}
