//! `sluice map`: makes maps of images, as preprocessors make them for ControlNets.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::Context;
use image::ColorType;
use sluice_engine::{
    output::{Codec, Image},
    request::{MapOf, ModelSource, Preprocessor, Request},
    session::Failure,
    source::{GivenMedia, SourceError, mapped, read, size_of},
};

use super::{
    changes::{Changes, Task, Tasks},
    exit::{Outcome, complain, refuse},
    names::named,
    stdout,
    tool_args::ToolArgs,
};
use crate::input_folder::images_named_in;

const EXAMPLES: &str = "\
Examples:
  sluice map photo.jpg --preprocessor canny
      Writes photo-canny.png beside it: white edges on black.
  sluice map photo.jpg --preprocessor pose --model yolov8n-pose.safetensors
  sluice map photos/ b.png --preprocessor depth --model ~/models/Depth-Anything-V2-Small-hf --output maps/
      Takes the images of a folder, and another one; what is in maps/ already is left out.
  sluice map photo.jpg --preprocessor segments --model segformer-b0.safetensors --plan
      Predicts memory and time, and makes nothing.";

/// What makes a map of any image.
const MAKERS: [Preprocessor; 12] = [
    Preprocessor::Canny,
    Preprocessor::Lineart,
    Preprocessor::Scribble,
    Preprocessor::Invert,
    Preprocessor::Gray,
    Preprocessor::Blur,
    Preprocessor::Tile,
    Preprocessor::Color,
    Preprocessor::Depth,
    Preprocessor::Pose,
    Preprocessor::Segments,
    Preprocessor::SoftEdge,
];

/// Make maps of images: edges, lines, depths, poses and others, as ControlNets follow them.
///
/// The names of the results are written to the standard output, progress to the standard error.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// PNG, JPEG or WebP images, and folders of them.
    #[arg(value_name = "IN", required = true)]
    inputs: Vec<PathBuf>,
    /// What to make of the images: see --control-preprocessor of `sluice generate`.
    #[arg(short, long, value_name = "NAME", value_parser = named(&MAKERS, Preprocessor::name))]
    preprocessor: Preprocessor,
    /// The network for depth (Depth Anything V2), pose (YOLOv8-pose), segments (SegFormer) or soft_edge (HED): a
    /// .safetensors file, or a folder as transformers saves it. The others need none.
    #[arg(short, long, value_name = "PATH")]
    model: Option<PathBuf>,
    /// The file to write for one image; an existing file is replaced. For several, the folder of the results, in which existing
    /// files are left as they are. Without it, a result is written beside its image, and those of a folder to a folder of its
    /// name in the folder Sluice of your pictures folder.
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,
    #[command(flatten)]
    tool: ToolArgs,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Outcome> {
    args.check()?;
    let changes = Changes {
        inputs: &args.inputs,
        output: args.output.as_deref(),
        found: images_named_in,
        lacking: ["images", "Give a folder with PNG, JPEG or WebP images."],
        request: &|input| args.request_of(input),
        name: &|input, _| args.name_of_result(input),
        sizes,
    };
    match args.preprocessor.estimated() {
        Some(_) => changes.run(&args.tool, Codec::default(), "map_estimator"),
        None => args.make(&changes.tasks()?),
    }
}

/// What is made of an image.
fn sizes(task: &Task) -> String {
    let [width, height] = task.given.size;
    let maps = task.request.map_of.as_ref().map_or("maps", |map| map.kind.maps());
    format!("{maps} of {width}×{height}")
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

    /// The request for the map of an image, and what the image's header says. It asks for nothing where no network is needed.
    fn request_of(&self, input: &Path) -> Result<(Request, GivenMedia), SourceError> {
        let given = GivenMedia { size: size_of(input)?, clip: None };
        let model = self.model.clone().map_or(ModelSource::Starter, ModelSource::Path);
        let map_of = self.preprocessor.estimated().map(|kind| MapOf { kind, image: input.to_owned() });
        Ok((Request { model, map_of, ..Request::default() }, given))
    }

    /// The name of a result: `photo-depth.png` of `photo.jpg`.
    fn name_of_result(&self, input: &Path) -> String {
        let stem = input.file_stem().unwrap_or_default().to_string_lossy();
        format!("{stem}-{}.png", self.preprocessor.name())
    }

    /// Makes maps without a network. One that fails does not end the others.
    fn make(&self, Tasks { all, notes, .. }: &Tasks) -> anyhow::Result<Outcome> {
        self.tool.note(notes);
        let mut outcome = Outcome::Done;
        for Task { input, output, .. } in all {
            match read(input) {
                Ok(image) => self.write(&mapped(image, self.preprocessor), output)?,
                Err(error) => {
                    let advice = Some(error.advice().to_owned());
                    complain(&Failure { message: error.to_string(), advice });
                    outcome = Outcome::Failed;
                }
            }
        }
        Ok(outcome)
    }

    /// Writes a map, and its name to the standard output.
    fn write(&self, map: &Image, result: &Path) -> anyhow::Result<()> {
        let written = || format!("{} cannot be written", result.display());
        if let Some(folder) = result.parent() {
            fs::create_dir_all(folder).with_context(written)?;
        }
        image::save_buffer(result, &map.pixels, map.width, map.height, ColorType::Rgb8)
            .with_context(written)?;
        if self.tool.is_json() { Ok(()) } else { stdout::line(&result.display().to_string()) }
    }
}
