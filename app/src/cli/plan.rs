//! `sluice plan`: predicts what a run needs, without running it.

use anyhow::Context;
use sluice_engine::{
    hardware::{CardProfile, cards},
    memory::{DeviceChoice, Estimate, MemoryPreferences, machine_of},
    models::{KnownDefaults, KnownModel, known_model, known_models},
    request::{ModelSource, References, Request},
    session::{Defaults, PlanQuery, PlanSubject, Reading},
    units,
};

use super::{
    control_net_args::ControlNetArgs,
    engine::Engine,
    exit::{Outcome, refuse},
    forecast,
    image_prompt_args::ImagePromptArgs,
    memory_args::MemoryArgs,
    model_folders::ModelFolderArgs,
    names::nearest,
    part_args,
    request_args::{RequestArgs, in_words, name_of},
    size,
    source_args::SourceArgs,
    stdout,
};

const EXAMPLES: &str = "\
Examples:
  sluice plan --model flux.1-dev --card rtx-3060
      Predicts memory and time on this GPU. Nothing needs to be downloaded.
  sluice plan --model ~/models/z-image --vram 8 --ram 32 --width 1536
      The same for a machine with 8 GB of VRAM and 32 GB of RAM.
  sluice plan --model wan-2.2-5b --card rtx-4090 --frames 81 --json | jq .least_device
      Prints the smallest amount of VRAM that works, in bytes.";

/// Predict the memory and time of a run, and compare offloading strategies.
///
/// Sluice reads no weights for this, and does not need the files of well-known models. The exit code is 0 even if the
/// run does not fit.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, args_override_self = true)]
pub(super) struct Args {
    /// The folder or file of a model, the name of a well-known model, or `starter` or `starter-clip` for the built-in ones.
    #[arg(short, long, value_name = "MODEL", default_value = "starter")]
    model: String,
    #[command(flatten)]
    folders: ModelFolderArgs,
    /// VRAM of the GPU, such as 8, 12GB or 900MB. Without `--card`, the plan is for the slowest known GPU with this
    /// much VRAM.
    #[arg(long, value_name = "GB", value_parser = size::gigabytes)]
    vram: Option<u64>,
    /// RAM of the machine. An eighth of it, but at least 2 GB, is reserved for the system and other programs.
    #[arg(long, value_name = "GB", value_parser = size::gigabytes)]
    ram: Option<u64>,
    /// The prompt; only its length matters.
    #[arg(short, long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    prompt: String,
    /// The negative prompt; only its length matters.
    #[arg(long, alias = "negative", value_name = "TEXT")]
    negative_prompt: Option<String>,
    /// Print the plan as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    request: RequestArgs,
    #[command(flatten, next_help_heading = "Image to image, inpainting, and clips from images or clips")]
    source: SourceArgs,
    #[command(flatten, next_help_heading = "ControlNets")]
    control_nets: ControlNetArgs,
    #[command(flatten, next_help_heading = "Image prompts")]
    image_prompts: ImagePromptArgs,
    #[command(flatten, next_help_heading = "Memory")]
    memory: MemoryArgs,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Outcome> {
    let memory = args.preferences()?;
    let subject = Subject::find(&args.model)?;
    let engine = Engine::start(None, &args.folders, args.request.folders())?;
    let (request, subject) = match subject {
        Subject::Model(model) => {
            let Some(summary) = engine.load(model.clone())? else { return Ok(Outcome::Cancelled) };
            part_args::check(&memory, &summary)?;
            let request = Request { model, ..args.request.request(&summary.defaults)? };
            let request = args.with_inputs(request, summary.references.as_ref(), summary.size_multiple)?;
            let request = match args.request.has_frames() {
                true => request,
                false => args.source.with_frames_of_clip(request, &summary)?,
            };
            (request, PlanSubject::Model)
        }
        Subject::Known(known) => {
            let defaults = known.defaults().map_err(|error| refuse(error.to_string(), error.advice()))?;
            let KnownDefaults { width, height, frames, steps, guidance, modes, fills_in } = defaults;
            let defaults = Defaults { width, height, frames, steps, guidance, ..Defaults::default() };
            let model = known.open().map_err(|error| refuse(error.to_string(), error.advice()))?;
            let (takes, multiple) = (model.references(), model.size_multiple());
            let request = args.with_inputs(args.request.request(&defaults)?, takes.as_ref(), multiple)?;
            let request = request.with_needed_images(&modes, fills_in);
            (request, PlanSubject::Known(known.id.clone()))
        }
    };
    let negative_prompt = args.negative_prompt.clone().unwrap_or_else(|| request.negative_prompt.clone());
    let request = Request { prompt: args.prompt.clone(), negative_prompt, ..request };
    let asked = in_words(&request);
    let has_step_cache = request.step_cache > 0.0;
    let nets: Vec<String> = request.control_nets.iter().map(|net| name_of(&net.model)).collect();
    let query = PlanQuery { id: 1, subject, request, memory };
    let Some((forecast, readings)) = engine.plan(query)? else { return Ok(Outcome::Cancelled) };
    if args.json {
        stdout::line(
            &serde_json::to_string_pretty(&forecast).context("the forecast cannot be written as JSON")?,
        )?;
    } else {
        stdout::line(&format!("{}: {asked}, computed in {}", forecast.model, forecast.dtype.name()))?;
        stdout::line(&forecast::describe(&forecast))?;
        if !nets.is_empty() {
            let nets = nets.join(" and ");
            stdout::line(&format!("The blocks of the denoiser include those of the ControlNet {nets}."))?;
        }
        let regions = readings.regions.iter().enumerate();
        let regions = regions.map(|(index, readings)| (format!("prompt of region {}", index + 1), readings));
        let of_all = std::iter::once(("prompt".to_owned(), &readings.prompt))
            .chain(regions)
            .chain([("negative prompt".to_owned(), &readings.negative)]);
        for (name, readings) in of_all {
            for words in readings.iter().filter_map(Reading::unread) {
                stdout::line(&format!("In the {name}, {words}"))?;
            }
        }
        if has_step_cache {
            stdout::line("Times are upper bounds, because the step cache skips some predictions.")?;
        }
    }
    Ok(Outcome::Done)
}

impl Args {
    /// The request with its inputs, for a model that takes references in this way and sizes that are multiples of this.
    fn with_inputs(
        &self,
        request: Request,
        takes: Option<&References>,
        multiple: u32,
    ) -> anyhow::Result<Request> {
        let request = self.source.given_to(request, takes)?;
        let request = self.control_nets.given_to(request)?;
        let request = Request { image_prompts: self.image_prompts.prompts()?, ..request };
        match self.request.has_size() {
            true => Ok(request),
            false => SourceArgs::with_size_of_inputs(request, takes, multiple),
        }
    }

    fn preferences(&self) -> anyhow::Result<MemoryPreferences> {
        let mut memory = self.memory.preferences();
        if memory.estimate == Estimate::Dryrun {
            return Err(refuse(
                "`plan` computes nothing, so it cannot try functions out".to_owned(),
                "Leave out `--estimate`, or use `sluice generate --estimate dryrun`, which shows the prediction next \
                 to the measurement."
                    .to_owned(),
            ));
        }
        if let Some(vram) = self.vram {
            let card = card_with(vram, self.memory.card.as_deref())?;
            memory.device = DeviceChoice::Simulated(card.id.clone());
            let card = CardProfile { vram, ..card.clone() };
            let budget = machine_of(&card, 0, memory.min_free_vram).device_budget;
            memory.vram_budget = Some(memory.vram_budget.map_or(budget, |most| most.min(budget)));
        }
        if let Some(ram) = self.ram {
            let budget = ram_for_weights(ram);
            memory.ram_budget = Some(memory.ram_budget.map_or(budget, |most| most.min(budget)));
        }
        Ok(memory)
    }
}

/// How much of a machine's RAM a run may use for weights.
fn ram_for_weights(ram: u64) -> u64 {
    const LEAST_FOR_OTHERS: u64 = 2 << 30;
    ram - (ram / 8).max(LEAST_FOR_OTHERS).min(ram / 2)
}

/// The GPU with this identifier, or the slowest one with this much VRAM.
fn card_with(vram: u64, id: Option<&str>) -> anyhow::Result<&'static CardProfile> {
    let named = |card: &&CardProfile| id.is_none_or(|id| card.id == id);
    let large_enough = cards().iter().filter(named).filter(|card| card.vram >= vram);
    let slowest = large_enough.min_by(|one, other| {
        let speed = |card: &CardProfile| (card.link_bytes_per_second, card.operations_per_second);
        let ((link, rate), (other_link, other_rate)) = (speed(one), speed(other));
        one.vram.cmp(&other.vram).then(link.total_cmp(&other_link)).then(rate.total_cmp(&other_rate))
    });
    slowest.ok_or_else(|| {
        let largest = cards().iter().filter(named).max_by_key(|card| card.vram);
        let (name, most) = largest.map_or(("largest", 0), |card| (card.name.as_str(), card.vram));
        refuse(
            format!("no simulated GPU has {} of VRAM", units::memory(vram)),
            format!("The {name} has {}. `sluice probe` lists all of them.", units::memory(most)),
        )
    })
}

/// The model that a plan is for.
#[derive(Debug)]
enum Subject {
    Model(ModelSource),
    Known(&'static KnownModel),
}

impl Subject {
    fn find(model: &str) -> anyhow::Result<Self> {
        let Ok(source) = model.parse::<ModelSource>();
        if !matches!(&source, ModelSource::Path(path) if !path.exists()) {
            return Ok(Self::Model(source));
        }
        if let Some(known) = known_model(model) {
            return Ok(Self::Known(known));
        }
        let ids: Vec<_> = known_models().iter().map(|known| known.id.as_str()).collect();
        let guess = nearest(model, ids.iter().copied());
        let guess = guess.map_or_else(String::new, |id| format!("Did you mean {id}? "));
        Err(refuse(
            format!("there is no file, folder or well-known model named {model}"),
            format!("{guess}Check the path, or use one of these models: {}.", ids.join(", ")),
        ))
    }
}

/// Lists the well-known models after the long help.
pub(super) fn with_known_models(command: clap::Command) -> clap::Command {
    let known = known_models();
    let width = known.iter().map(|known| known.id.len()).max().unwrap_or(0);
    let line = |known: &KnownModel| format!("  {:<width$}  {}", known.id, known.name);
    let models = known.iter().map(line).collect::<Vec<_>>().join("\n");
    command.after_long_help(format!("{EXAMPLES}\n\nWell-known models:\n{models}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn part_of_the_ram_is_reserved_for_other_programs() {
        const GB: u64 = 1 << 30;
        for (ram, expected) in
            [(64 * GB, 56 * GB), (16 * GB, 14 * GB), (8 * GB, 6 * GB), (2 * GB, GB), (0, 0)]
        {
            assert_eq!(ram_for_weights(ram), expected);
        }
    }

    #[test]
    fn an_amount_of_vram_means_the_slowest_card_that_has_it() {
        for vram in [1 << 30, 8 << 30, 11 << 30, 24 << 30] {
            let card = card_with(vram, None).unwrap();
            assert!(card.vram >= vram);
            for other in cards().iter().filter(|other| other.vram == card.vram) {
                assert!(other.link_bytes_per_second >= card.link_bytes_per_second, "{}", other.id);
            }
        }
        assert_eq!(card_with(10 << 30, Some("rtx-4090")).unwrap().id, "rtx-4090");
        assert!(card_with(32 << 30, Some("rtx-4090")).is_err());
        assert!(card_with(1 << 45, None).is_err());
    }

    #[test]
    fn a_model_is_a_path_or_a_well_known_name() {
        assert!(matches!(Subject::find("starter").unwrap(), Subject::Model(ModelSource::Starter)));
        assert!(matches!(Subject::find("starter-clip").unwrap(), Subject::Model(ModelSource::StarterClip)));
        assert!(matches!(Subject::find(".").unwrap(), Subject::Model(ModelSource::Path(_))));
        assert!(
            matches!(Subject::find("FLUX.1-dev").unwrap(), Subject::Known(known) if known.id == "flux.1-dev")
        );
        let error = Subject::find("flux.1-dew").unwrap_err();
        let crate::cli::exit::Explained(failure) = error.downcast_ref().unwrap();
        assert!(failure.advice.as_ref().unwrap().starts_with("Did you mean flux.1-dev? "), "{failure:?}");
    }
}
