//! Files whose weights only certain programs can compute with. They are recognized by the names of their
//! tensors, so that they are refused by name instead of as incomplete.

use super::{CheckpointError, TensorTable};

/// Suffix of packed integers, which all of these files have.
const PACKED: &str = ".qweight";

/// Refuses files of Nunchaku, AWQ and GPTQ.
pub fn refuse_foreign(tensors: &TensorTable) -> Result<(), CheckpointError> {
    let Some((name, packed)) = tensors.iter().find(|(name, _)| name.ends_with(PACKED)) else { return Ok(()) };
    let has = |part: &str| tensors.keys().any(|name| name.ends_with(part));
    let found = if has(".proj_down") || has(".smooth_factor") || has(".wscales") || has(".smooth") {
        "SVDQuant, the format of Nunchaku".to_owned()
    } else if has(".g_idx") {
        "GPTQ".to_owned()
    } else if has(".qzeros") {
        "AWQ".to_owned()
    } else {
        format!("packed integers of an unknown program ({name})")
    };
    Err(CheckpointError::Quantization { path: packed.path().to_owned(), found })
}
