//! bitsandbytes' weights, as diffusers and transformers save them: 4-bit codes with scales that may be
//! quantized themselves (Dettmers et al. 2023, arXiv:2305.14314), and 8-bit integers with the largest magnitude
//! of each row (LLM.int8, Dettmers et al. 2022, arXiv:2208.07339).

use serde::Deserialize;

use super::{CheckpointError, TensorTable, description, join_rows};
use crate::{checkpoint::stored::NestedScales, precision::Format};

/// Start of the suffix of the description of a 4-bit weight; the type follows.
const STATE: &str = ".quant_state.bitsandbytes__";
/// Suffix of the largest magnitudes of the rows of an 8-bit weight, instead of `weight`.
const LARGEST: &str = "SCB";
/// What the largest magnitude of a row is stored as.
const LARGEST_CODE: f32 = 127.0;

/// The description of a 4-bit weight.
#[derive(Debug, Deserialize)]
struct State {
    quant_type: String,
    blocksize: usize,
    shape: Vec<usize>,
    #[serde(default)]
    nested_blocksize: Option<usize>,
    #[serde(default)]
    nested_offset: f32,
}

/// Attaches scales under the names that bitsandbytes uses.
pub fn join(tensors: &mut TensorTable) -> Result<(), CheckpointError> {
    join_integers(tensors);
    let states: Vec<(String, String)> = tensors
        .keys()
        .filter_map(|full| Some((full.split_once(STATE)?.0.to_owned(), full.clone())))
        .collect();
    for (name, full) in states {
        let Some(state) = tensors.remove(&full) else { continue };
        let Some(state) = description::<State>(&name, &state)? else { continue };
        let mut take = |part: &str| tensors.remove(&format!("{name}.{part}"));
        let (scales, _) = (take("absmax"), take("quant_map"));
        let (largest, map) = (take("nested_absmax"), take("nested_quant_map"));
        let (Some(scales), Some(weight)) = (scales, tensors.get_mut(&name)) else { continue };
        let format = match state.quant_type.as_str() {
            "nf4" => Format::Nf4,
            "fp4" => Format::Fp4,
            other => {
                weight.refuse(format!("{other} of bitsandbytes"));
                continue;
            }
        };
        weight.set_shape(state.shape);
        match (state.nested_blocksize, largest, map) {
            (None, ..) => weight.join_scales(format, state.blocksize, scales),
            (Some(group), Some(largest), Some(map)) => {
                let nested = NestedScales::new(&scales, largest, group, &map, state.nested_offset)?;
                weight.join_nested_scales(format, state.blocksize, scales, nested);
            }
            (Some(_), ..) => weight.refuse(format!("{} without its nested scales", format.name())),
        }
    }
    Ok(())
}

/// Attaches the scales of 8-bit integers: a 127th of the largest magnitude of each row.
fn join_integers(tensors: &mut TensorTable) {
    let stems: Vec<String> = tensors
        .keys()
        .filter_map(|name| Some(name.strip_suffix(LARGEST)?.to_owned()))
        .filter(|stem| tensors.contains_key(&format!("{stem}weight")))
        .collect();
    for stem in stems {
        let largest = tensors.remove(&format!("{stem}{LARGEST}"));
        let order = tensors.remove(&format!("{stem}weight_format"));
        let (Some(largest), Some(weight)) = (largest, tensors.get_mut(&format!("{stem}weight"))) else {
            continue;
        };
        // 0 stands for the order of rows; the others are orders of tensor cores that are no longer written.
        let is_plain =
            order.is_none_or(|order| order.read_raw().is_ok_and(|order| order.iter().all(|&b| b == 0)));
        if is_plain {
            join_rows(weight, largest, LARGEST_CODE.recip());
        } else {
            weight.refuse("int8 of bitsandbytes in the order of tensor cores".to_owned());
        }
    }
}
