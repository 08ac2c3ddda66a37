//! Weights in MXFP4 as transformers stores them: `NAME_blocks` has 32 4-bit floats in each 16 bytes, and `NAME_scales` their
//! exponents (`integrations/mxfp4.py` there).

use super::TensorTable;
use crate::precision::Format;

/// Values of a block.
const BLOCK: usize = Format::Mxfp4.block().0;
/// Bytes that hold 4-bit floats of a block.
const CODES: usize = BLOCK / 2;
const BLOCKS: &str = "_blocks";
const SCALES: &str = "_scales";

/// Joins blocks and scales to `NAME.weight`, whose rows are those of the outputs.
pub fn join(tensors: &mut TensorTable) {
    let names: Vec<String> =
        tensors.keys().filter_map(|name| name.strip_suffix(BLOCKS)).map(str::to_owned).collect();
    for name in names {
        let (blocks, scales) = (format!("{name}{BLOCKS}"), format!("{name}{SCALES}"));
        let is_it = tensors.get(&blocks).zip(tensors.get(&scales)).is_some_and(|(blocks, scales)| {
            let [outer @ .., CODES] = blocks.shape() else { return false };
            scales.shape() == outer && [blocks, scales].iter().all(|tensor| tensor.dtype_name() == "U8")
        });
        if !is_it {
            continue;
        }
        if let (Some(mut weight), Some(scales)) = (tensors.remove(&blocks), tensors.remove(&scales)) {
            let mut shape = scales.shape().to_vec();
            shape
                .iter_mut()
                .next_back()
                .into_iter()
                .for_each(|columns| *columns = columns.saturating_mul(BLOCK));
            weight.join_exponents(shape, scales);
            tensors.insert(format!("{name}.weight"), weight);
        }
    }
}
