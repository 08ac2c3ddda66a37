//! `sluice bench make-checkpoint`: writes a checkpoint with the shapes of a published model and random weights.

use std::{path::PathBuf, time::Instant};

use sluice_engine::{
    models::{known_model, known_models},
    units,
};
use sluice_tools::{Likeness, LikenessError, RandomDtype};

use crate::cli::{
    exit::{self, Outcome, refuse},
    names::{named, nearest},
    progress::tenths,
    stdout,
};

const EXAMPLES: &str = "\
Examples:
  sluice bench make-checkpoint --like sd-1.5 --output /tmp/sd --dtype f16
  sluice bench make-checkpoint --like z-image --output /tmp/z-image --text-layers 1
      The text encoder keeps its width but has only one layer, so that the denoiser gets input of its real shape.
  sluice bench make-checkpoint --like flux.1-dev --output /tmp/tiny --tiny";

/// Write a checkpoint with the shapes of a published model and random weights.
///
/// The checkpoint is as large and as fast as the real model, but generates only noise. The same seed writes the same
/// files. Weights are written in small pieces, so this needs little memory.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The model, by its name in `sluice plan --help`, such as flux.1-dev.
    #[arg(long, value_name = "MODEL")]
    like: String,
    /// The folder to write, in the diffusers layout. It must be empty or not exist.
    #[arg(short, long, value_name = "FOLDER")]
    output: PathBuf,
    /// Data type of the stored weights.
    #[arg(long, value_name = "NAME", default_value = RandomDtype::default().name(), value_parser = named(&RandomDtype::ALL, RandomDtype::name))]
    dtype: RandomDtype,
    /// Seed of the random weights.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    seed: u64,
    /// Number of layers of each text encoder; all by default. Fewer layers encode the prompt faster, and the denoiser
    /// gets input of the same shape.
    #[arg(long, value_name = "COUNT")]
    text_layers: Option<usize>,
    /// Write a tiny model with few and narrow layers, to try things out quickly.
    #[arg(long)]
    tiny: bool,
    /// Write headers without weights. The folder opens and plans like the model and takes almost no disk space, but
    /// cannot generate anything.
    #[arg(long, conflicts_with = "seed")]
    hollow: bool,
    /// Do not show progress.
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
    let seed = (!args.hollow).then_some(args.seed);
    let written = likeness.write(&args.output, args.dtype, seed, |part| {
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

/// The model with this name, or an error with advice.
fn likeness(name: &str) -> anyhow::Result<Likeness> {
    let ids: Vec<&str> = Likeness::ids().collect();
    let choice = format!("Choose one of {}.", ids.join(", "));
    let Some(known) = known_model(name) else {
        let guess = nearest(name, known_models().iter().map(|known| known.id.as_str()));
        let guess = guess.map_or_else(String::new, |id| format!("Did you mean {id}? "));
        return Err(refuse(format!("there is no well-known model named {name}"), format!("{guess}{choice}")));
    };
    Likeness::of(&known.id).ok_or_else(|| {
        refuse(
            format!(
                "Sluice cannot write a checkpoint of {}: it knows only the sizes of its blocks",
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
    fn models_have_the_same_names_as_in_plans() {
        for name in ["flux.1-dev", "sd-1.5", "SDXL", "z-image", "sd3.5-large", "flux-schnell", "Wan-5b"] {
            likeness(name).unwrap();
        }
    }

    #[test]
    fn what_cannot_be_written_is_refused_with_alternatives() {
        let error = likeness("sdxxl").unwrap_err();
        let Explained(failure) = error.downcast_ref().unwrap();
        assert!(failure.message.contains("there is no well-known"), "{failure:?}");
        assert!(failure.advice.as_ref().unwrap().contains("flux.1-dev, flux.1-schnell"), "{failure:?}");
    }
}
