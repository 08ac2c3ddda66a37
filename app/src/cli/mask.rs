//! `sluice mask`: makes a mask of what points and a box show in an image.

use std::path::PathBuf;

use sluice_engine::{
    request::{MaskOf, MaskPoint, ModelSource, Request},
    session::JobId,
    source::size_of,
    units,
};

use super::{
    exit::{Outcome, refuse, stderr_line},
    tool_args::ToolArgs,
};

const EXAMPLES: &str = "\
Examples:
  sluice mask photo.jpg --model mobile_sam-tiny-vitt.safetensors --point 310,220
      Writes photo-mask.png beside it: white is what belongs together around the point.
  sluice mask photo.jpg --model sam_vit_b_01ec64.safetensors --box 40,60,480,390 --not 90,100 -o fox.png
      Takes what is in a box, without what is at a point.
  sluice mask photo.jpg --model ~/models/sam-vit-base --point 310,220 --plan
      Predicts memory and time, and makes nothing.";

/// Make a mask of what points and a box show in an image.
///
/// Places are in pixels of the image, from its left and its top. White is what they show, black the rest. The name of the
/// result is written to the standard output, progress to the standard error.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// A PNG, JPEG or WebP image.
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// A .safetensors file of Segment Anything or MobileSAM, or a folder of the former as transformers saves it.
    #[arg(short, long, value_name = "PATH")]
    model: PathBuf,
    /// A point that is in the mask. May be given several times.
    #[arg(long = "point", value_name = "X,Y", value_parser = numbers::<2>, required_unless_present = "area")]
    points: Vec<[u32; 2]>,
    /// A point that is not in the mask. May be given several times.
    #[arg(long = "not", value_name = "X,Y", value_parser = numbers::<2>)]
    others: Vec<[u32; 2]>,
    /// A box around what is in the mask.
    #[arg(long = "box", id = "area", value_name = "LEFT,TOP,RIGHT,BOTTOM", value_parser = numbers::<4>)]
    area: Option<[u32; 4]>,
    /// The file to write, which is replaced if it exists. Without it, the mask is written beside its image.
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,
    #[command(flatten)]
    tool: ToolArgs,
}

/// Numbers with commas between them.
fn numbers<const N: usize>(text: &str) -> Result<[u32; N], String> {
    let numbers: Result<Vec<u32>, _> = text.split(',').map(|number| number.trim().parse()).collect();
    let wrong = || format!("give {N} whole numbers with commas between them, in pixels");
    numbers.map_err(|_| wrong())?.try_into().map_err(|_| wrong())
}

pub(super) fn run(args: &Args) -> anyhow::Result<Outcome> {
    let size = size_of(&args.input).map_err(|error| refuse(error.to_string(), error.advice().to_owned()))?;
    let engine = args.tool.engine()?;
    let [width, height] = size;
    let what = format!("mask of {width}×{height}");
    if args.tool.plan {
        return args.tool.predict(&engine, std::iter::once((args.request(), what)));
    }
    let mut listener = args.tool.listener([args.input.as_path()].into_iter());
    let Some((forecast, _)) = engine.plan(args.tool.query(0, args.request()))? else {
        return Ok(Outcome::Cancelled);
    };
    if let (Ok(plan), true) = (&forecast.plan, args.tool.speaks()) {
        let (memory, time) = (units::memory_needed(plan.peak_device()), units::seconds(plan.seconds));
        stderr_line(&format!("{}: {what}, up to {memory} of memory, about {time}", forecast.model));
    }
    let job = args.tool.job(JobId(1), args.request(), args.result());
    args.tool.follow(&engine, &[job], (forecast, "segment"), &mut listener)
}

impl Args {
    fn request(&self) -> Request {
        let point = |inside: bool| move |[x, y]: &[u32; 2]| MaskPoint { x: *x, y: *y, inside };
        let points = self.points.iter().map(point(true)).chain(self.others.iter().map(point(false)));
        let mask_of = MaskOf { image: self.input.clone(), points: points.collect(), area: self.area };
        let model = ModelSource::Path(self.model.clone());
        Request { model, mask_of: Some(mask_of), ..Request::default() }
    }

    /// The file of the result: `photo-mask.png` of `photo.jpg`.
    fn result(&self) -> PathBuf {
        let name = format!("{}-mask.png", self.input.file_stem().unwrap_or_default().to_string_lossy());
        match &self.output {
            Some(output) if output.is_dir() => output.join(name),
            Some(output) => output.clone(),
            None => self.input.with_file_name(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_whole_numbers_with_commas_between_them() {
        assert_eq!(numbers::<2>("31,22"), Ok([31, 22]));
        assert_eq!(numbers::<4>(" 1, 2,3 ,4"), Ok([1, 2, 3, 4]));
        for wrong in ["", "3", "1,2,3", "1,-2", "1.5,2", "a,b"] {
            assert!(numbers::<2>(wrong).is_err(), "{wrong}");
        }
    }
}
