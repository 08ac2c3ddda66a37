//! The configuration of a network in diffusers' format.

use serde::Deserialize;

use super::{Addition, Level, UnetConfig};

/// One number for all levels, or one per level.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
enum Each<T> {
    // Tried first: `All` would also match a list of lists.
    Own(Vec<T>),
    All(T),
}

impl<T: Clone> Each<T> {
    fn at(&self, index: usize) -> Option<T> {
        match self {
            Self::All(value) => Some(value.clone()),
            Self::Own(values) => values.get(index).cloned(),
        }
    }
}

/// `config.json` in diffusers' format. Options that change the computation and that no published model of
/// this family uses are rejected.
#[derive(Debug, Deserialize)]
#[serde(default)]
pub struct Published {
    in_channels: usize,
    out_channels: usize,
    down_block_types: Vec<String>,
    up_block_types: Vec<String>,
    mid_block_type: Option<String>,
    block_out_channels: Vec<usize>,
    layers_per_block: Each<usize>,
    transformer_layers_per_block: Each<Each<usize>>,
    reverse_transformer_layers_per_block: Option<Vec<Each<usize>>>,
    attention_head_dim: Each<usize>,
    cross_attention_dim: Each<usize>,
    norm_num_groups: usize,
    norm_eps: f64,
    flip_sin_to_cos: bool,
    freq_shift: f64,
    addition_embed_type: Option<String>,
    addition_time_embed_dim: Option<usize>,
    projection_class_embeddings_input_dim: Option<usize>,
    act_fn: String,
    resnet_time_scale_shift: String,
    class_embed_type: Option<String>,
    num_class_embeds: Option<usize>,
    encoder_hid_dim: Option<usize>,
    time_cond_proj_dim: Option<usize>,
    only_cross_attention: Each<bool>,
    dual_cross_attention: bool,
    center_input_sample: bool,
    sample_size: Option<Each<usize>>,
}

impl Default for Published {
    fn default() -> Self {
        let types = |types: [&str; 4]| types.map(str::to_owned).to_vec();
        Self {
            in_channels: 4,
            out_channels: 4,
            down_block_types: types([ATTENDING[0], ATTENDING[0], ATTENDING[0], PLAIN[0]]),
            up_block_types: types([PLAIN[1], ATTENDING[1], ATTENDING[1], ATTENDING[1]]),
            mid_block_type: Some(MIDDLE.to_owned()),
            block_out_channels: vec![320, 640, 1280, 1280],
            layers_per_block: Each::All(2),
            transformer_layers_per_block: Each::All(Each::All(1)),
            reverse_transformer_layers_per_block: None,
            attention_head_dim: Each::All(8),
            cross_attention_dim: Each::All(1280),
            norm_num_groups: 32,
            norm_eps: 1e-5,
            flip_sin_to_cos: true,
            freq_shift: 0.0,
            addition_embed_type: None,
            addition_time_embed_dim: None,
            projection_class_embeddings_input_dim: None,
            act_fn: "silu".to_owned(),
            resnet_time_scale_shift: "default".to_owned(),
            class_embed_type: None,
            num_class_embeds: None,
            encoder_hid_dim: None,
            time_cond_proj_dim: None,
            only_cross_attention: Each::All(false),
            dual_cross_attention: false,
            center_input_sample: false,
            sample_size: None,
        }
    }
}

/// Kinds of levels with attention, on the way down and on the way up.
const ATTENDING: [&str; 2] = ["CrossAttnDownBlock2D", "CrossAttnUpBlock2D"];
const PLAIN: [&str; 2] = ["DownBlock2D", "UpBlock2D"];
const MIDDLE: &str = "UNetMidBlock2DCrossAttn";

impl TryFrom<Published> for UnetConfig {
    type Error = String;

    fn try_from(published: Published) -> Result<Self, String> {
        published.refuse_unknown()?;
        let count = published.block_out_channels.len();
        if published.down_block_types.len() != count || published.up_block_types.len() != count {
            return Err(format!("down_block_types and up_block_types must have {count} entries"));
        }
        let levels = (0..count).map(|level| published.level(level)).collect::<Result<_, _>>()?;
        let middle = match &published.mid_block_type {
            Some(_) => Some(published.depth(count.saturating_sub(1), 0)?),
            None => None,
        };
        let addition = match published.addition_embed_type.as_deref() {
            Some(_) => Some(Addition {
                time_dim: published.addition_time_embed_dim.unwrap_or(256),
                inputs: published
                    .projection_class_embeddings_input_dim
                    .ok_or("projection_class_embeddings_input_dim is missing")?,
            }),
            None => None,
        };
        let Each::All(cross_attention_dim) = published.cross_attention_dim else {
            return Err("cross_attention_dim must be a single number".to_owned());
        };
        Ok(Self {
            in_channels: published.in_channels,
            out_channels: published.out_channels,
            levels,
            middle,
            cross_attention_dim,
            norm_num_groups: published.norm_num_groups,
            norm_eps: published.norm_eps,
            flip_sin_to_cos: published.flip_sin_to_cos,
            freq_shift: published.freq_shift,
            addition,
            sample_size: published.sample_size.and_then(|size| size.at(0)),
        })
    }
}

impl Published {
    fn level(&self, level: usize) -> Result<Level, String> {
        let of = |name: &str| format!("{name} has no entry for level {level}");
        let layers = self.layers_per_block.at(level).ok_or_else(|| of("layers_per_block"))?;
        let above = self.block_out_channels.len() - 1 - level;
        let attends = |types: &[String], level: usize, side: usize| match types[level].as_str() {
            kind if kind == ATTENDING[side] => Ok(true),
            kind if kind == PLAIN[side] => Ok(false),
            other => Err(format!("levels of type {other} are not supported")),
        };
        let down = attends(&self.down_block_types, level, 0)?;
        let up = attends(&self.up_block_types, above, 1)?;
        let depth = |layer| if down { self.depth(level, layer) } else { Ok(0) };
        let depth_above = |layer| match (&self.reverse_transformer_layers_per_block, up) {
            (_, false) => Ok(0),
            (None, true) => self.depth(level, layer),
            (Some(depths), true) => depths
                .get(above)
                .and_then(|depths| depths.at(layer))
                .ok_or_else(|| of("reverse_transformer_layers_per_block")),
        };
        Ok(Level {
            width: self.block_out_channels[level],
            heads: self.attention_head_dim.at(level).ok_or_else(|| of("attention_head_dim"))?,
            down: (0..layers).map(depth).collect::<Result<_, _>>()?,
            up: (0..=layers).map(depth_above).collect::<Result<_, _>>()?,
        })
    }

    fn depth(&self, level: usize, layer: usize) -> Result<usize, String> {
        let depths = self.transformer_layers_per_block.at(level);
        depths
            .and_then(|depths| depths.at(layer))
            .ok_or_else(|| format!("transformer_layers_per_block has no entry for level {level}"))
    }

    fn refuse_unknown(&self) -> Result<(), String> {
        let named = |name: &Option<String>, known: &str| name.as_deref().is_none_or(|name| name == known);
        let only_prompt = match &self.only_cross_attention {
            Each::All(only) => *only,
            Each::Own(only) => only.contains(&true),
        };
        let known = [
            ("act_fn", matches!(self.act_fn.as_str(), "silu" | "swish")),
            ("resnet_time_scale_shift", self.resnet_time_scale_shift == "default"),
            ("mid_block_type", named(&self.mid_block_type, MIDDLE)),
            ("addition_embed_type", named(&self.addition_embed_type, "text_time")),
            ("class_embed_type", self.class_embed_type.is_none()),
            ("num_class_embeds", self.num_class_embeds.is_none()),
            ("encoder_hid_dim", self.encoder_hid_dim.is_none()),
            ("time_cond_proj_dim", self.time_cond_proj_dim.is_none()),
            ("only_cross_attention", !only_prompt),
            ("dual_cross_attention", !self.dual_cross_attention),
            ("center_input_sample", !self.center_input_sample),
        ];
        match known.into_iter().find(|(_, known)| !known) {
            Some((field, _)) => Err(format!("models with this {field} are not supported")),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read(config: Value) -> Result<UnetConfig, String> {
        serde_json::from_value(config).map_err(|error| error.to_string())
    }

    #[test]
    fn published_configurations_are_read() {
        assert_eq!(read(json!({ "cross_attention_dim": 768 })).unwrap(), UnetConfig::default());
        let xl = read(json!({
            "block_out_channels": [320, 640, 1280],
            "down_block_types": ["DownBlock2D", "CrossAttnDownBlock2D", "CrossAttnDownBlock2D"],
            "up_block_types": ["CrossAttnUpBlock2D", "CrossAttnUpBlock2D", "UpBlock2D"],
            "transformer_layers_per_block": [1, 2, 10],
            "attention_head_dim": [5, 10, 20],
            "cross_attention_dim": 2048,
            "addition_embed_type": "text_time",
            "addition_time_embed_dim": 256,
            "projection_class_embeddings_input_dim": 2816,
        }))
        .unwrap();
        let level = |width, heads, depth| Level { width, heads, down: vec![depth; 2], up: vec![depth; 3] };
        assert_eq!(xl.levels, [level(320, 5, 0), level(640, 10, 2), level(1280, 20, 10)]);
        assert_eq!(xl.middle, Some(10));
        assert_eq!(xl.addition, Some(Addition { time_dim: 256, inputs: 2816 }));

        // SSD-1B: fewer blocks, other numbers on the way up, no middle.
        let ssd = read(json!({
            "block_out_channels": [320, 640, 1280],
            "down_block_types": ["DownBlock2D", "CrossAttnDownBlock2D", "CrossAttnDownBlock2D"],
            "up_block_types": ["CrossAttnUpBlock2D", "CrossAttnUpBlock2D", "UpBlock2D"],
            "mid_block_type": null,
            "transformer_layers_per_block": [0, 2, 4],
            "reverse_transformer_layers_per_block": [[4, 4, 10], [2, 1, 1], 1],
            "attention_head_dim": [5, 10, 20],
        }))
        .unwrap();
        assert_eq!(
            (ssd.levels[2].up.as_slice(), ssd.levels[1].up.as_slice()),
            ([4, 4, 10].as_slice(), [2, 1, 1].as_slice())
        );
        assert_eq!((ssd.levels[0].up.as_slice(), ssd.middle), ([0, 0, 0].as_slice(), None));
    }

    #[test]
    fn what_is_not_known_is_refused_by_name() {
        for (field, value) in [
            ("act_fn", json!("gelu")),
            ("only_cross_attention", json!([true, true, true, false])),
            ("num_class_embeds", json!(1000)),
            ("time_cond_proj_dim", json!(256)),
            ("mid_block_type", json!("UNetMidBlock2DSimpleCrossAttn")),
            ("addition_embed_type", json!("image")),
            ("layers_per_block", json!([2, 2])),
            ("down_block_types", json!(["DownBlock2D"])),
        ] {
            let error = read(json!({ field: value })).unwrap_err();
            assert!(error.contains(field), "{field}: {error}");
        }
    }
}
