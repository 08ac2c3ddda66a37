//! Memory options, for every command that generates or plans.

use std::collections::BTreeMap;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use sluice_engine::{
    hardware::cards,
    memory::{
        Attention, DEFAULT_MIN_FREE_VRAM, DeviceChoice, Estimate, Keep, MemoryPreferences, OffloadMode,
        PartChoice, Residence, Residents, Wish,
    },
    precision::Storage,
};

use super::{
    names::{explained, named},
    part_args::{ForPart, PartParser, for_all},
    size,
};

/// Memory options. They do not change a single bit of an image, except for VAE tiling, attention and weights in fewer bits.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct MemoryArgs {
    /// Which parts of the model stay on the GPU and which are offloaded.
    #[arg(long, value_name = "MODE", default_value = OffloadMode::default().name(), value_parser = explained(OffloadMode::ALL, OffloadMode::name, mode_help))]
    offload: OffloadMode,
    /// What offload mode `auto` optimizes for.
    #[arg(long, alias = "wish", value_name = "NAME", default_value = Wish::default().name(), value_parser = explained(Wish::ALL, Wish::name, goal_help))]
    optimize_for: Wish,
    /// Simulate this GPU: its memory and the speed of its link are enforced. `sluice probe` lists all of them.
    #[arg(long, value_name = "NAME", ignore_case = true, value_parser = card_names())]
    pub card: Option<String>,
    /// Run on the CPU, even if there is a GPU.
    #[arg(long, conflicts_with = "card")]
    cpu: bool,
    /// Run on this GPU if there are several, counted from 0; `sluice probe` lists them.
    #[arg(long, value_name = "NUMBER", conflicts_with_all = ["card", "cpu"])]
    gpu: Option<u32>,
    /// Use at most this much VRAM, such as 6, 7.5GB or 900MB.
    #[arg(long, value_name = "GB", value_parser = size::gigabytes)]
    pub vram_budget: Option<u64>,
    /// Use at most this much RAM for weights; the rest is read from disk.
    #[arg(long, value_name = "GB", value_parser = size::gigabytes)]
    pub ram_budget: Option<u64>,
    /// VRAM to leave free for the desktop and other programs.
    #[arg(long, value_name = "MB", default_value_t = DEFAULT_MIN_FREE_VRAM >> 20, value_parser = size::megabytes)]
    min_free_vram: u64,
    /// Number of blocks to load ahead of the computation; chosen automatically by default.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(..=64))]
    prefetch: Option<u32>,
    /// Which blocks stay on the GPU when not all of them fit.
    #[arg(long, alias = "residents", value_name = "NAME", default_value = Residents::default().name(), value_parser = explained(Residents::ALL, Residents::name, residents_help))]
    resident_blocks: Residents,
    /// Where to keep the text encoders, whatever the offload mode.
    /// With several, also for one: `t5=on-demand,clip_l=resident`.
    #[arg(long, alias = "text-encoder", value_name = "[PART=]PLACEMENT", value_delimiter = ',', value_parser = PartParser(explained(Residence::ALL, Residence::name, placement_help)))]
    text_encoder_placement: Vec<ForPart<Residence>>,
    /// Where to keep the denoiser, whatever the offload mode.
    #[arg(long, alias = "denoiser", value_name = "[PART=]PLACEMENT", value_delimiter = ',', value_parser = PartParser(explained(Residence::ALL, Residence::name, placement_help)))]
    denoiser_placement: Vec<ForPart<Residence>>,
    /// Where to keep the VAE, whatever the offload mode.
    #[arg(long, alias = "vae", value_name = "[PART=]PLACEMENT", value_delimiter = ',', value_parser = PartParser(explained(Residence::ALL, Residence::name, placement_help)))]
    vae_placement: Vec<ForPart<Residence>>,
    /// Quantize the weights of the denoiser to this type while loading; this changes the image.
    #[arg(long, alias = "precision", value_name = "TYPE", default_value = Storage::default().name(), value_parser = named(Storage::ALL, Storage::name))]
    weight_type: Storage,
    /// Quantize the weights of the text encoders to this type while loading; this changes the image.
    #[arg(long, alias = "text-precision", value_name = "TYPE", default_value = Storage::default().name(), value_parser = named(Storage::ALL, Storage::name))]
    text_encoder_weight_type: Storage,
    /// Hold weights in 8 bits where nothing else fits, or where that makes the run notably faster or smaller, as
    /// `--optimize-for` says; this may change the image.
    #[arg(long)]
    allow_8_bit: bool,
    /// Decode the image in tiles of this many latents per side; chosen automatically by default.
    #[arg(long, alias = "tile", value_name = "LATENTS", value_parser = clap::value_parser!(u32).range(1..))]
    vae_tile_size: Option<u32>,
    /// How a GPU computes attention; this changes the last digits of the image. `sluice plan` says what each takes.
    #[arg(long, value_name = "NAME", default_value = Attention::default().name(), value_parser = explained(Attention::ALL, Attention::name, attention_help))]
    attention: Attention,
    /// How to predict the memory of activations.
    #[arg(long, value_name = "NAME", default_value = Estimate::default().name(), value_parser = explained(Estimate::ALL, Estimate::name, estimate_help))]
    estimate: Estimate,
    /// What to keep loaded for the next prompt. Also for single parts: `text_encoders=none,denoiser=all`.
    #[arg(long, alias = "keep", value_name = "[PART=]NAME", value_delimiter = ',', default_value = Keep::default().name(), value_parser = PartParser(explained(Keep::ALL, Keep::name, keep_help)))]
    keep_loaded: Vec<ForPart<Keep>>,
}

fn mode_help(mode: OffloadMode) -> &'static str {
    match mode {
        OffloadMode::Auto => "The best placement that fits",
        OffloadMode::None => "Keep the whole model on the GPU",
        OffloadMode::CondOnly => "Offload the text encoders after encoding the prompt",
        OffloadMode::CondDiffusion => "Offload the text encoders and the denoiser when not in use",
        OffloadMode::Aggressive => "Keep only the part in use on the GPU",
        OffloadMode::LayerStreaming => "Stream the blocks of each part, and keep as many on the GPU as fit",
    }
}

fn attention_help(attention: Attention) -> &'static str {
    match attention {
        Attention::Math => "With functions of the tensor library, in f32",
        Attention::Tiled => "With a kernel on tensor cores, in 16 bits",
    }
}

fn goal_help(goal: Wish) -> &'static str {
    match goal {
        Wish::Balanced => "The lightest offloading that leaves a fifth of the VRAM free",
        Wish::Quality => "The highest precision that fits",
        Wish::Speed => "The shortest time",
        Wish::Memory => "The least VRAM",
    }
}

fn placement_help(placement: Residence) -> &'static str {
    match placement {
        Residence::Resident => "On the GPU all the time",
        Residence::Staged => "On the GPU while in use, otherwise in RAM",
        Residence::Streamed => "Some blocks on the GPU while in use, the rest streamed from RAM",
        Residence::OnDemand => "Streamed from disk when needed, and not kept",
    }
}

fn residents_help(residents: Residents) -> &'static str {
    match residents {
        Residents::Best => "Those that make a step fastest",
        Residents::First => "The first ones, as in other programs",
    }
}

fn estimate_help(estimate: Estimate) -> &'static str {
    match estimate {
        Estimate::Formula => "Calculate it from the shapes of the tensors",
        Estimate::Dryrun => "Run one block and one tile, and measure",
    }
}

fn keep_help(keep: Keep) -> &'static str {
    match keep {
        Keep::Auto => "In RAM everything that fits, on the GPU what the plan keeps there",
        Keep::None => "Nothing; a single run copies only what it streams more than once",
        Keep::All => "Also on the GPU everything that fits; the plan counts it",
    }
}

/// The identifiers of the GPUs that can be simulated.
fn card_names() -> impl TypedValueParser<Value = String> {
    PossibleValuesParser::new(cards().iter().map(|card| card.id.as_str()))
        .map(|name| name.to_ascii_lowercase())
}

impl MemoryArgs {
    /// What was chosen for single parts.
    fn parts(&self) -> BTreeMap<String, PartChoice> {
        let mut parts = BTreeMap::<String, PartChoice>::new();
        let placements = [&self.text_encoder_placement, &self.denoiser_placement, &self.vae_placement];
        for ForPart { part, value } in placements.into_iter().flatten() {
            let choice = part.as_ref().map(|part| parts.entry(part.clone()).or_default());
            choice.into_iter().for_each(|choice| choice.residence = Some(*value));
        }
        for ForPart { part, value } in &self.keep_loaded {
            let choice = part.as_ref().map(|part| parts.entry(part.clone()).or_default());
            choice.into_iter().for_each(|choice| choice.keep = Some(*value));
        }
        parts
    }

    pub fn preferences(&self) -> MemoryPreferences {
        MemoryPreferences {
            mode: self.offload,
            wish: self.optimize_for,
            text_encoder: for_all(&self.text_encoder_placement),
            denoiser: for_all(&self.denoiser_placement),
            autoencoder: for_all(&self.vae_placement),
            parts: self.parts(),
            denoiser_precision: self.weight_type,
            text_precision: self.text_encoder_weight_type,
            may_use_8_bit: self.allow_8_bit,
            residents: self.resident_blocks,
            prefetch: self.prefetch,
            min_free_vram: self.min_free_vram,
            vram_budget: self.vram_budget,
            ram_budget: self.ram_budget,
            tile: self.vae_tile_size,
            device: match &self.card {
                Some(card) => DeviceChoice::Simulated(card.clone()),
                None if self.cpu => DeviceChoice::Processor,
                None => self.gpu.map_or(DeviceChoice::Auto, DeviceChoice::Gpu),
            },
            keep: for_all(&self.keep_loaded).unwrap_or_default(),
            estimate: self.estimate,
            attention: self.attention,
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Example {
        #[command(flatten)]
        memory: MemoryArgs,
    }

    fn preferences(arguments: &[&str]) -> Result<MemoryPreferences, clap::Error> {
        let arguments = ["example"].iter().chain(arguments);
        Example::try_parse_from(arguments).map(|example| example.memory.preferences())
    }

    #[test]
    fn omitted_options_have_the_engines_defaults() {
        assert_eq!(preferences(&[]).unwrap(), MemoryPreferences::default());
    }

    #[test]
    fn every_preference_has_an_option() {
        let arguments = "--offload layer_streaming --optimize-for speed --card RTX-3060 --vram-budget 7.5 \
            --ram-budget 900MB --min-free-vram 0 --prefetch 3 --text-encoder-placement on-demand \
            --denoiser-placement streamed --vae-placement staged --vae-tile-size 32 --weight-type fp8 \
            --text-encoder-weight-type q4_k --allow-8-bit --estimate dryrun --keep-loaded all --resident-blocks first \
            --attention tiled";
        let former = "--offload layer_streaming --wish speed --card RTX-3060 --vram-budget 7.5 --ram-budget 900MB \
            --min-free-vram 0 --prefetch 3 --text-encoder on-demand --denoiser streamed --vae staged --tile 32 \
            --precision fp8 --text-precision q4_k --allow-8-bit --estimate dryrun --keep all --residents first --attention tiled";
        let [arguments, former] = [arguments, former].map(|text| text.split_whitespace().collect::<Vec<_>>());
        let expected = MemoryPreferences {
            mode: OffloadMode::LayerStreaming,
            wish: Wish::Speed,
            text_encoder: Some(Residence::OnDemand),
            denoiser: Some(Residence::Streamed),
            autoencoder: Some(Residence::Staged),
            parts: BTreeMap::new(),
            denoiser_precision: Storage::Fp8,
            text_precision: Storage::Q4K,
            may_use_8_bit: true,
            residents: Residents::First,
            prefetch: Some(3),
            min_free_vram: 0,
            vram_budget: Some(15 << 29),
            ram_budget: Some(900 << 20),
            tile: Some(32),
            device: DeviceChoice::Simulated("rtx-3060".to_owned()),
            keep: Keep::All,
            estimate: Estimate::Dryrun,
            attention: Attention::Tiled,
        };
        assert_eq!(preferences(&arguments).unwrap(), expected);
        assert_eq!(preferences(&former).unwrap(), expected, "scripts may use the former names");
        assert_eq!(preferences(&["--cpu"]).unwrap().device, DeviceChoice::Processor);
        assert_eq!(preferences(&["--gpu", "1"]).unwrap().device, DeviceChoice::Gpu(1));
        assert!(preferences(&["--gpu", "1", "--card", "rtx-3060"]).is_err());
        assert!(preferences(&["--cpu", "--card", "rtx-3060"]).is_err());
    }

    #[test]
    fn placements_and_what_is_kept_can_be_given_for_single_parts() {
        let given = preferences(&[
            "--text-encoder-placement",
            "staged,t5=on-demand,clip_l=resident",
            "--keep-loaded",
            "t5=none,denoiser=all",
        ]);
        let given = given.unwrap();
        assert_eq!((given.text_encoder, given.keep), (Some(Residence::Staged), Keep::Auto));
        let choice = |residence, keep| PartChoice { residence, keep };
        let expected = [
            ("clip_l", choice(Some(Residence::Resident), None)),
            ("denoiser", choice(None, Some(Keep::All))),
            ("t5", choice(Some(Residence::OnDemand), Some(Keep::None))),
        ];
        assert_eq!(given.parts, expected.map(|(name, choice)| (name.to_owned(), choice)).into());
        let wrong = preferences(&["--keep-loaded", "t5=some"]).unwrap_err().to_string();
        assert!(wrong.contains("some") && wrong.contains("[possible values: auto, none, all]"), "{wrong}");
    }

    #[test]
    fn an_unknown_card_is_answered_with_the_known_ones() {
        let message = preferences(&["--card", "rtx-3600"]).unwrap_err().to_string();
        assert!(message.contains("rtx-3060") && message.contains("rtx-4090"), "{message}");
    }
}
