//! `sluice bench make-checkpoint`: a published model's shape with random weights.

use std::{path::PathBuf, time::Instant};

use sluice_engine::memory::{known_model, known_models};
use sluice_tools::{Likeness, LikenessError, RandomDtype};

use crate::cli::{
    exit::{self, Outcome, refuse},
    names::{named, nearest},
    progress::tenths,
    stdout, units,
};

const EXAMPLES: &str = "\
Examples:
  sluice bench make-checkpoint --like sd-1.5 --output /tmp/sd --dtype f16
  sluice bench make-checkpoint --like z-image --output /tmp/z-image --text-layers 1
      The text encoder is as wide as it is and one layer deep: what the denoiser is told has its true shape.
  sluice bench make-checkpoint --like flux.1-dev --output /tmp/tiny --tiny";

/// Write a checkpoint of a published model's shape with random weights.
///
/// Its configurations are the published ones and its tokenizers those that come with the program, so that it draws as
/// fast, and takes as much memory, as the model itself; what it draws is noise. The same seed writes the same file. The
/// weights pass through memory piece by piece.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The model, as `sluice plan` names it: flux.1-dev, flux.1-schnell, z-image, sdxl, sd-1.5, sd2.1, sd3-medium,
    /// sd3.5-large or sd3.5-medium; or qwen-image or wan-2.2-5b, which Sluice writes and does not draw with yet.
    #[arg(long, value_name = "MODEL")]
    like: String,
    /// The folder to write, which must not be there or be empty; diffusers reads it too.
    #[arg(short, long, value_name = "FOLDER")]
    output: PathBuf,
    /// How the weights are stored.
    #[arg(long, value_name = "NAME", default_value = RandomDtype::default().name(), value_parser = named(&RandomDtype::ALL, RandomDtype::name))]
    dtype: RandomDtype,
    /// Picks the weights.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    seed: u64,
    /// Layers of each text encoder; all of them if absent. With fewer a run encodes its prompt in less time, and the
    /// denoiser is told something of the same shape.
    #[arg(long, value_name = "COUNT")]
    text_layers: Option<usize>,
    /// Few and narrow layers everywhere, to try out in seconds what is meant for the whole model.
    #[arg(long)]
    tiny: bool,
    /// Shows no progress.
    #[arg(short, long)]
    quiet: bool,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Outcome> {
    let mut likeness = likeness(&args.like)?;
    if args.tiny {
        likeness = likeness.tiny();
    }
    let explained = |error: LikenessError| refuse(error.to_string(), error.advice());
    if let Some(layers) = args.text_layers {
        likeness = likeness.with_text_layers(layers).map_err(explained)?;
    }
    let (interrupts, started) = (exit::interrupts()?, Instant::now());
    let mut told = tenths(args.quiet);
    let written = likeness.write(&args.output, args.dtype, args.seed, |part| {
        told(part);
        interrupts.is_empty()
    });
    if !written.map_err(explained)? {
        return Ok(Outcome::Cancelled);
    }
    let mut all = 0;
    for (folder, tensors) in likeness.tensors().map_err(explained)? {
        let weights: u64 = tensors.iter().map(|tensor| tensor.elements()).sum();
        all += weights;
        stdout::line(&format!("{folder}: {} weights in {} tensors", units::count(weights), tensors.len()))?;
    }
    let taken = units::seconds(started.elapsed().as_secs_f64());
    let display = args.output.display();
    stdout::line(&format!("{display}: {} weights in {}, {taken}", units::count(all), args.dtype.name()))?;
    Ok(Outcome::Done)
}

/// The model of this name, or what is wrong with it.
fn likeness(name: &str) -> anyhow::Result<Likeness> {
    let ids: Vec<&str> = Likeness::ids().collect();
    let choice = format!("Choose one of {}.", ids.join(", "));
    let Some(known) = known_model(name) else {
        let guess = nearest(name, known_models().iter().map(|known| known.id.as_str()));
        let guess = guess.map_or_else(String::new, |id| format!("Did you mean {id}? "));
        return Err(refuse(format!("no well-known model is called {name}"), format!("{guess}{choice}")));
    };
    Likeness::of(&known.id).ok_or_else(|| {
        refuse(
            format!(
                "Sluice does not know the names and shapes of the tensors of {}, only how many weights its blocks have",
                known.name
            ),
            choice,
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::exit::Explained;

    #[test]
    fn models_have_the_names_of_plans() {
        for name in ["flux.1-dev", "sd-1.5", "SDXL", "z-image", "sd3.5-large", "flux-schnell", "Wan-5b"] {
            likeness(name).unwrap();
        }
    }

    #[test]
    fn what_cannot_be_written_is_refused_with_what_can() {
        for (name, word) in [("ltx-13b", "LTX"), ("wan-2.2-14b", "does not know"), ("sdxxl", "no well-known")]
        {
            let error = likeness(name).unwrap_err();
            let Explained(failure) = error.downcast_ref().unwrap();
            assert!(failure.message.contains(word), "{failure:?}");
            assert!(failure.advice.as_ref().unwrap().contains("flux.1-dev, flux.1-schnell"), "{failure:?}");
        }
    }
}
