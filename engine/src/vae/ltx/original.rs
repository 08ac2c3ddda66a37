//! The names of the authors' files, which ComfyUI also uses, and the shape that follows from their tensors.
//!
//! In these files blocks are numbered without levels: residual blocks, halvings, doublings and changes of width each have
//! a number.

use super::config::{FOLDED_LEVEL, LtxAutoencoderConfig, PLAIN_LEVEL};
use crate::checkpoint::TensorTable;

/// Mean and standard deviation of each channel of the latents.
const STATISTICS: [(&str, &str); 2] = [
    ("latents_mean", "per_channel_statistics.mean-of-means"),
    ("latents_std", "per_channel_statistics.std-of-means"),
];
/// Layers of residual blocks: diffusers' name and the authors'.
const LAYERS: [(&str, &str); 2] = [(".conv_shortcut.conv.", ".conv_shortcut."), (".norm3.", ".norm3.norm.")];

/// Residual blocks, with the convolution of their halving (of an encoder) or doubling (of a decoder).
struct Group {
    /// Number of residual blocks.
    count: usize,
    width: usize,
    noisy: bool,
    /// A convolution that skips every second value.
    strided: bool,
    /// Outputs and inputs of a convolution between whose channels and neighbouring values there is an exchange.
    folding: Option<[usize; 2]>,
}

/// Whether tensors have the authors' names.
pub fn is_original(tensors: &TensorTable) -> bool {
    tensors.contains_key("decoder.up_blocks.0.res_blocks.0.conv1.conv.weight")
}

/// The shape of an autoencoder whose tensors have the authors' names.
pub fn shape_of(tensors: &TensorTable) -> Option<LtxAutoencoderConfig> {
    let [_, seen] = sides(tensors, "encoder.conv_in.conv")?;
    let (down, up) =
        (groups(tensors, "encoder.down_blocks", false), groups(tensors, "decoder.up_blocks", true));
    let (middle, levels) = down.split_last()?;
    let (up_middle, up_levels) = up.split_first()?;
    let is_folded = levels.iter().any(|level| level.folding.is_some());
    let halving = |(index, level): (usize, &Group)| {
        let next = levels.get(index + 1).map_or(middle.width, |next| next.width);
        let Some([outputs, _]) = level.folding else { return "conv" };
        match next.checked_div(outputs) {
            Some(2) => "temporal",
            Some(4) => "spatial",
            _ => "spatiotemporal",
        }
    };
    let factor = |level: &Group| {
        level.folding.map_or(1, |[outputs, inputs]| (8 * inputs).checked_div(outputs).unwrap_or(1))
    };
    // The decoder's lists begin at full resolution and end with its middle.
    let mirrored = || up_levels.iter().rev();
    let widths = levels.iter().map(|level| level.width);
    Some(LtxAutoencoderConfig {
        latent_channels: sides(tensors, "decoder.conv_in.conv")?[1],
        patch_size: (seen / 3).isqrt(),
        block_out_channels: if is_folded { widths.chain([middle.width]).collect() } else { widths.collect() },
        down_block_types: vec![if is_folded { FOLDED_LEVEL } else { PLAIN_LEVEL }.to_owned(); levels.len()],
        layers_per_block: down.iter().map(|group| group.count).collect(),
        spatio_temporal_scaling: levels
            .iter()
            .map(|level| level.strided || level.folding.is_some())
            .collect(),
        downsample_type: levels.iter().enumerate().map(halving).map(str::to_owned).collect(),
        decoder_block_out_channels: mirrored().map(|level| level.width * factor(level)).collect(),
        decoder_layers_per_block: mirrored().chain([up_middle]).map(|group| group.count).collect(),
        decoder_inject_noise: mirrored().chain([up_middle]).map(|group| group.noisy).collect(),
        decoder_spatio_temporal_scaling: mirrored().map(|level| level.folding.is_some()).collect(),
        // All published decoders that divide widths have shortcuts.
        upsample_residual: mirrored().map(|level| factor(level) > 1).collect(),
        upsample_factor: mirrored().map(factor).collect(),
        timestep_conditioning: tensors.contains_key("decoder.last_scale_shift_table"),
        ..LtxAutoencoderConfig::default()
    })
}

/// Outputs and inputs of a layer.
fn sides(tensors: &TensorTable, layer: &str) -> Option<[usize; 2]> {
    match tensors.get(&format!("{layer}.weight"))?.shape() {
        [outputs, inputs, ..] => Some([*outputs, *inputs]),
        _ => None,
    }
}

/// The numbered blocks of one side. Of a decoder a convolution belongs to the residual blocks after it.
fn groups(tensors: &TensorTable, side: &str, doubles: bool) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut folding = None;
    for block in (0..).map(|number| format!("{side}.{number}")) {
        let layer = |name: &str| sides(tensors, &format!("{block}.{name}"));
        let resnet = |number: usize| layer(&format!("res_blocks.{number}.conv1.conv"));
        if let Some([width, _]) = resnet(0) {
            let count = (0..).take_while(|number| resnet(*number).is_some()).count();
            let noisy = tensors.contains_key(&format!("{block}.res_blocks.0.per_channel_scale1"));
            groups.push(Group { count, width, noisy, strided: false, folding: folding.take() });
        } else if let Some(folds) = layer("conv.conv") {
            match groups.last_mut().filter(|_| !doubles) {
                Some(group) => group.folding = Some(folds),
                None => folding = Some(folds),
            }
        } else if layer("conv").is_some() {
            groups.iter_mut().last().into_iter().for_each(|group| group.strided = true);
        } else if layer("conv1.conv").is_none() {
            return groups;
        }
    }
    groups
}

/// The tensors of an autoencoder under diffusers' names.
pub fn renamed(tensors: &TensorTable, config: &LtxAutoencoderConfig) -> TensorTable {
    let names = Names::new(config);
    let blueprint = config.blueprint();
    let own = blueprint.iter().flat_map(|spec| {
        spec.tensors.iter().map(|(name, _)| format!("{}{name}", spec.prefix)).collect::<Vec<_>>()
    });
    let own = own.map(|name| (names.original(&name), name));
    let statistics = STATISTICS.map(|(name, original)| (original.to_owned(), name.to_owned()));
    let found =
        own.chain(statistics).filter_map(|(original, name)| Some((name, tensors.get(&original)?.clone())));
    found.collect()
}

/// Beginnings of diffusers' names and of the authors'.
pub struct Names(Vec<(String, String)>);

impl Names {
    /// Those of an autoencoder.
    pub fn new(config: &LtxAutoencoderConfig) -> Self {
        let mut names = Self(Vec::new());
        let side = "encoder.down_blocks";
        let mut numbers = (0..).map(|number| format!("{side}.{number}."));
        let mut next = || numbers.next().unwrap_or_default();
        for (index, level) in config.down_levels().iter().enumerate() {
            names.add_resnets(&format!("{side}.{index}."), &next());
            if level.halving.is_some() {
                names.add(format!("{side}.{index}.downsamplers.0."), next());
            }
            if level.widens() {
                names.add(format!("{side}.{index}.conv_out."), next());
            }
        }
        names.add_resnets("encoder.mid_block.", &next());
        let side = "decoder.up_blocks";
        let mut numbers = (0..).map(|number| format!("{side}.{number}."));
        let mut next = || numbers.next().unwrap_or_default();
        names.add_resnets("decoder.mid_block.", &next());
        for (index, level) in config.up_levels().iter().enumerate() {
            if level.inputs != level.outputs {
                names.add(format!("{side}.{index}.conv_in."), next());
            }
            if level.doubles {
                names.add(format!("{side}.{index}.upsamplers.0."), next());
            }
            names.add_resnets(&format!("{side}.{index}."), &next());
        }
        names.add("decoder.time_embedder.".to_owned(), "decoder.last_time_embedder.".to_owned());
        names.add("decoder.scale_shift_table".to_owned(), "decoder.last_scale_shift_table".to_owned());
        names
    }

    fn add(&mut self, own: String, original: String) {
        self.0.push((own, original));
    }

    /// Residual blocks, and what tells them the timestep.
    fn add_resnets(&mut self, own: &str, original: &str) {
        self.add(format!("{own}resnets."), format!("{original}res_blocks."));
        self.add(format!("{own}time_embedder."), format!("{original}time_embedder."));
    }

    /// The authors' name of a tensor.
    pub fn original(&self, name: &str) -> String {
        let begun =
            self.0.iter().find_map(|(own, original)| Some((original, name.strip_prefix(own.as_str())?)));
        let name = begun.map_or_else(|| name.to_owned(), |(original, rest)| format!("{original}{rest}"));
        LAYERS.iter().fold(name, |name, (own, original)| name.replace(own, original))
    }
}
