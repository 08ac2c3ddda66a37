//! `sluice depth`: makes depth maps of images.

use std::path::{Path, PathBuf};

use sluice_engine::{
    request::{ModelSource, Request},
    session::{Job, JobId},
    source::size_of,
    units,
};

use super::{
    exit::{Outcome, refuse, stderr_line},
    tool_args::ToolArgs,
};

const EXAMPLES: &str = "\
Examples:
  sluice depth photo.jpg --model depth_anything_v2_vits_fp16.safetensors
      Writes photo-depth.png beside it: white is near, black is far.
  sluice depth a.png b.png --model ~/models/Depth-Anything-V2-Small-hf --output maps/
  sluice depth photo.jpg --model depth_anything_v2_vitl.safetensors --plan
      Predicts memory and time, and makes nothing.";

/// Make depth maps of images.
///
/// White is what is nearest, black what is farthest. The names of the results are written to the standard output, progress
/// to the standard error.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// PNG, JPEG or WebP images.
    #[arg(value_name = "IN", required = true)]
    inputs: Vec<PathBuf>,
    /// A .safetensors file of Depth Anything V2, or its folder as transformers saves it.
    #[arg(short, long, value_name = "PATH")]
    model: PathBuf,
    /// The file to write for one image, which is replaced if it exists, or the folder of the results. Without it, a result is
    /// written beside its image.
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,
    #[command(flatten)]
    tool: ToolArgs,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Outcome> {
    let mut sizes = Vec::with_capacity(args.inputs.len());
    for input in &args.inputs {
        let size = size_of(input).map_err(|error| refuse(error.to_string(), error.advice().to_owned()))?;
        sizes.push(size);
    }
    let engine = args.tool.engine()?;
    let what = |[width, height]: &[u32; 2]| format!("depth map of {width}×{height}");
    if args.tool.plan {
        let requests = args.inputs.iter().zip(&sizes).map(|(input, size)| (args.request(input), what(size)));
        return args.tool.predict(&engine, requests);
    }
    let (Some(first), Some(size)) = (args.inputs.first(), sizes.first()) else { return Ok(Outcome::Done) };
    let mut listener = args.tool.listener(args.inputs.iter().map(PathBuf::as_path));
    let query = args.tool.query(0, args.request(first));
    let Some((forecast, _)) = engine.plan(query)? else { return Ok(Outcome::Cancelled) };
    if let (Ok(plan), true) = (&forecast.plan, args.tool.speaks()) {
        let (memory, time) = (units::memory_needed(plan.peak_device()), units::seconds(plan.seconds));
        stderr_line(&format!("{}: {}, up to {memory} of memory, about {time}", forecast.model, what(size)));
    }
    let job = |(number, input): (u64, &PathBuf)| {
        args.tool.job(JobId(number), args.request(input), args.result(input))
    };
    let jobs: Vec<Job> = (1..).zip(&args.inputs).map(job).collect();
    args.tool.follow(&engine, &jobs, (forecast, "depth"), &mut listener)
}

impl Args {
    fn request(&self, input: &Path) -> Request {
        let model = ModelSource::Path(self.model.clone());
        Request { model, depth_of: Some(input.to_owned()), ..Request::default() }
    }

    /// The file of a result: `photo-depth.png` of `photo.jpg`.
    fn result(&self, input: &Path) -> PathBuf {
        let name = format!("{}-depth.png", input.file_stem().unwrap_or_default().to_string_lossy());
        match &self.output {
            Some(output) if self.inputs.len() > 1 || output.is_dir() => output.join(name),
            Some(output) => output.clone(),
            None => input.with_file_name(name),
        }
    }
}
