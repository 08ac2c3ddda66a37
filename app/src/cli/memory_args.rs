//! What can be said about memory, for every command that draws or plans.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use sluice_engine::{
    hardware::cards,
    memory::{
        DEFAULT_MIN_FREE_VRAM, DeviceChoice, Estimate, Keep, MemoryPreferences, OffloadMode, Residence,
        Residents, Wish,
    },
    precision::Storage,
};

use super::{names::named, size};

/// Flags about memory. They change no bit of a picture, except where tiles of the decoder blend or weights are held in
/// fewer bits.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct MemoryArgs {
    /// Which parts of the model are on the card, and when.
    #[arg(long, value_name = "MODE", default_value = OffloadMode::default().name(), value_parser = named(OffloadMode::ALL, OffloadMode::name))]
    offload: OffloadMode,
    /// What `auto` aims at.
    #[arg(long, value_name = "NAME", default_value = Wish::default().name(), value_parser = named(Wish::ALL, Wish::name))]
    wish: Wish,
    /// Simulates a graphics card, its memory and its link enforced; `sluice probe` says what each has.
    #[arg(long, value_name = "NAME", ignore_case = true, value_parser = card_names())]
    pub card: Option<String>,
    /// Computes on the processor, also where there is a card.
    #[arg(long, conflicts_with = "card")]
    cpu: bool,
    /// The most VRAM to take, such as 6, 7.5GB or 900MB.
    #[arg(long, value_name = "GB", value_parser = size::gigabytes)]
    pub vram_budget: Option<u64>,
    /// The most RAM to take for weights; what is beyond it comes from disk.
    #[arg(long, value_name = "GB", value_parser = size::gigabytes)]
    pub ram_budget: Option<u64>,
    /// VRAM that stays free for the desktop and other programs.
    #[arg(long, value_name = "MB", default_value_t = DEFAULT_MIN_FREE_VRAM >> 20, value_parser = size::megabytes)]
    min_free_vram: u64,
    /// Blocks that are on their way while another one computes; the planner's choice if absent.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(..=64))]
    prefetch: Option<u32>,
    /// Which blocks stay where not all do: those with which a step is shortest, or the first ones, as in other programs.
    #[arg(long, value_name = "NAME", default_value = Residents::default().name(), value_parser = named(Residents::ALL, Residents::name))]
    residents: Residents,
    /// Overrides the mode for the text encoders.
    #[arg(long, value_name = "PLACEMENT", value_parser = named(Residence::ALL, Residence::name))]
    text_encoder: Option<Residence>,
    /// Overrides the mode for the denoiser.
    #[arg(long, value_name = "PLACEMENT", value_parser = named(Residence::ALL, Residence::name))]
    denoiser: Option<Residence>,
    /// Overrides the mode for the autoencoder.
    #[arg(long, value_name = "PLACEMENT", value_parser = named(Residence::ALL, Residence::name))]
    vae: Option<Residence>,
    /// What the denoiser's matrices are held as, whatever its file has; this changes the picture.
    #[arg(long, value_name = "TYPE", default_value = Storage::default().name(), value_parser = named(Storage::ALL, Storage::name))]
    precision: Storage,
    /// What the matrices of the text encoders are held as; this changes the picture, too.
    #[arg(long, value_name = "TYPE", default_value = Storage::default().name(), value_parser = named(Storage::ALL, Storage::name))]
    text_precision: Storage,
    /// Side of the tiles that the picture is decoded in; the planner's choice if absent.
    #[arg(long, value_name = "LATENTS", value_parser = clap::value_parser!(u32).range(1..))]
    tile: Option<u32>,
    /// How the memory of activations is foretold: from the shapes, or by trying one block and one tile.
    #[arg(long, value_name = "NAME", default_value = Estimate::default().name(), value_parser = named(Estimate::ALL, Estimate::name))]
    estimate: Estimate,
    /// What stays in memory for the next prompt.
    #[arg(long, value_name = "NAME", default_value = Keep::default().name(), value_parser = named(Keep::ALL, Keep::name))]
    keep: Keep,
}

/// The identifiers of the cards that can be simulated.
fn card_names() -> impl TypedValueParser<Value = String> {
    PossibleValuesParser::new(cards().iter().map(|card| card.id.as_str()))
        .map(|name| name.to_ascii_lowercase())
}

impl MemoryArgs {
    pub fn preferences(&self) -> MemoryPreferences {
        MemoryPreferences {
            mode: self.offload,
            wish: self.wish,
            text_encoder: self.text_encoder,
            denoiser: self.denoiser,
            autoencoder: self.vae,
            denoiser_precision: self.precision,
            text_precision: self.text_precision,
            residents: self.residents,
            prefetch: self.prefetch,
            min_free_vram: self.min_free_vram,
            vram_budget: self.vram_budget,
            ram_budget: self.ram_budget,
            tile: self.tile,
            device: match &self.card {
                Some(card) => DeviceChoice::Simulated(card.clone()),
                None if self.cpu => DeviceChoice::Processor,
                None => DeviceChoice::Auto,
            },
            keep: self.keep,
            estimate: self.estimate,
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
    fn what_is_not_said_is_the_engines_default() {
        assert_eq!(preferences(&[]).unwrap(), MemoryPreferences::default());
    }

    #[test]
    fn every_preference_has_a_flag() {
        let arguments = "--offload layer_streaming --wish speed --card RTX-3060 --vram-budget 7.5 --ram-budget 900MB \
            --min-free-vram 0 --prefetch 3 --text-encoder on-demand --denoiser streamed --vae staged --tile 32 \
            --precision fp8 --text-precision q4_k --estimate dryrun --keep all --residents first";
        let arguments: Vec<_> = arguments.split_whitespace().collect();
        let expected = MemoryPreferences {
            mode: OffloadMode::LayerStreaming,
            wish: Wish::Speed,
            text_encoder: Some(Residence::OnDemand),
            denoiser: Some(Residence::Streamed),
            autoencoder: Some(Residence::Staged),
            denoiser_precision: Storage::Fp8,
            text_precision: Storage::Q4K,
            residents: Residents::First,
            prefetch: Some(3),
            min_free_vram: 0,
            vram_budget: Some(15 << 29),
            ram_budget: Some(900 << 20),
            tile: Some(32),
            device: DeviceChoice::Simulated("rtx-3060".to_owned()),
            keep: Keep::All,
            estimate: Estimate::Dryrun,
        };
        assert_eq!(preferences(&arguments).unwrap(), expected);
        assert_eq!(preferences(&["--cpu"]).unwrap().device, DeviceChoice::Processor);
        assert!(preferences(&["--cpu", "--card", "rtx-3060"]).is_err());
    }

    #[test]
    fn an_unknown_card_is_answered_with_those_that_are_known() {
        let message = preferences(&["--card", "rtx-3600"]).unwrap_err().to_string();
        assert!(message.contains("rtx-3060") && message.contains("rtx-4090"), "{message}");
    }
}
