//! `sluice map`: makes maps of images, as preprocessors make them for ControlNets.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::Context;
use image::ColorType;
use sluice_engine::{
    checkpoint::MapKind,
    request::{MapOf, ModelSource, Preprocessor, Request},
    session::{Job, JobId},
    source::{mapped, read, size_of},
    units,
};

use super::{
    exit::{Outcome, refuse, stderr_line},
    names::named,
    stdout,
    tool_args::ToolArgs,
};

const EXAMPLES: &str = "\
Examples:
  sluice map photo.jpg --preprocessor canny
      Writes photo-canny.png beside it: white edges on black.
  sluice map photo.jpg --preprocessor pose --model yolov8n-pose.safetensors
  sluice map a.png b.png --preprocessor depth --model ~/models/Depth-Anything-V2-Small-hf --output maps/
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
    /// PNG, JPEG or WebP images.
    #[arg(value_name = "IN", required = true)]
    inputs: Vec<PathBuf>,
    /// What to make of the images: see --control-preprocessor of `sluice generate`.
    #[arg(short, long, value_name = "NAME", value_parser = named(&MAKERS, Preprocessor::name))]
    preprocessor: Preprocessor,
    /// The network for depth (Depth Anything V2), pose (YOLOv8-pose), segments (SegFormer) or soft_edge (HED): a
    /// .safetensors file, or a folder as transformers saves it. The others need none.
    #[arg(short, long, value_name = "PATH")]
    model: Option<PathBuf>,
    /// The file to write for one image, which is replaced if it exists, or the folder of the results. Without it, a result is
    /// written beside its image.
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,
    #[command(flatten)]
    tool: ToolArgs,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Outcome> {
    let name = args.preprocessor.name();
    match (args.preprocessor.estimated(), &args.model) {
        (Some(kind), Some(model)) => args.estimate(kind, model),
        (Some(kind), None) => Err(refuse(
            format!("the preprocessor {name} needs a model"),
            format!("Give a .safetensors file of {} with --model.", kind.networks()),
        )),
        (None, Some(_)) => {
            Err(refuse(format!("the preprocessor {name} needs no model"), "Leave --model out.".to_owned()))
        }
        (None, None) if args.tool.plan => {
            let advice = "Leave --plan out: the map takes a moment and little memory.".to_owned();
            Err(refuse(format!("the preprocessor {name} needs no model, so there is no forecast"), advice))
        }
        (None, None) => args.make(),
    }
}

impl Args {
    /// Makes maps without a network.
    fn make(&self) -> anyhow::Result<Outcome> {
        for input in &self.inputs {
            let image = read(input).map_err(|error| refuse(error.to_string(), error.advice().to_owned()))?;
            let map = mapped(image, self.preprocessor);
            let result = self.result(input);
            let written = || format!("{} cannot be written", result.display());
            if let Some(folder) = result.parent() {
                fs::create_dir_all(folder).with_context(written)?;
            }
            image::save_buffer(&result, &map.pixels, map.width, map.height, ColorType::Rgb8)
                .with_context(written)?;
            if !self.tool.is_json() {
                stdout::line(&result.display().to_string())?;
            }
        }
        Ok(Outcome::Done)
    }

    /// Lets the engine make maps with a network.
    fn estimate(&self, kind: MapKind, model: &Path) -> anyhow::Result<Outcome> {
        let mut sizes = Vec::with_capacity(self.inputs.len());
        for input in &self.inputs {
            let size =
                size_of(input).map_err(|error| refuse(error.to_string(), error.advice().to_owned()))?;
            sizes.push(size);
        }
        let engine = self.tool.engine()?;
        let request = |input: &Path| Request {
            model: ModelSource::Path(model.to_owned()),
            map_of: Some(MapOf { kind, image: input.to_owned() }),
            ..Request::default()
        };
        let what = |[width, height]: &[u32; 2]| format!("{} of {width}×{height}", kind.maps());
        if self.tool.plan {
            let requests = self.inputs.iter().zip(&sizes).map(|(input, size)| (request(input), what(size)));
            return self.tool.predict(&engine, requests);
        }
        let (Some(first), Some(size)) = (self.inputs.first(), sizes.first()) else {
            return Ok(Outcome::Done);
        };
        let mut listener = self.tool.listener(self.inputs.iter().map(PathBuf::as_path));
        let query = self.tool.query(0, request(first));
        let Some((forecast, _)) = engine.plan(query)? else { return Ok(Outcome::Cancelled) };
        if let (Ok(plan), true) = (&forecast.plan, self.tool.speaks()) {
            let (memory, time) = (units::memory_needed(plan.peak_device()), units::seconds(plan.seconds));
            stderr_line(&format!(
                "{}: {}, up to {memory} of memory, about {time}",
                forecast.model,
                what(size)
            ));
        }
        let job = |(number, input): (u64, &PathBuf)| {
            self.tool.job(JobId(number), request(input), self.result(input))
        };
        let jobs: Vec<Job> = (1..).zip(&self.inputs).map(job).collect();
        self.tool.follow(&engine, &jobs, (forecast, "map_estimator"), &mut listener)
    }

    /// The file of a result: `photo-depth.png` of `photo.jpg`.
    fn result(&self, input: &Path) -> PathBuf {
        let stem = input.file_stem().unwrap_or_default().to_string_lossy();
        let name = format!("{stem}-{}.png", self.preprocessor.name());
        match &self.output {
            Some(output) if self.inputs.len() > 1 || output.is_dir() => output.join(name),
            Some(output) => output.clone(),
            None => input.with_file_name(name),
        }
    }
}
