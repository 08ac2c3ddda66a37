//! Launch parameters of norms.

use candle_core::{D, DType, Result, Tensor};

use super::{
    Argument, Launch, Launches, Source, WARP, across, name_of, placed, pointwise::Factor, threads, together,
};

/// The options of a norm over the last dimension.
#[derive(Debug, Clone, Copy, Default)]
pub struct RowNorm<'a> {
    /// Whether to subtract the mean first.
    pub centred: bool,
    /// Added to the variance.
    pub eps: f64,
    /// Factor of the normalized values.
    pub weight: Option<&'a Tensor>,
    /// Added after the weight.
    pub bias: Option<&'a Tensor>,
    /// Then multiplies by `1 + scale`, `[batch, 1, width]` or `[1, 1, width]`.
    pub scale: Option<&'a Tensor>,
    /// Then added; has the shape of `scale`.
    pub shift: Option<&'a Tensor>,
}

/// A norm over the last dimension of `x`, which is `[batch, tokens, width]` if there is a scale or shift.
pub fn norm_rows(x: &Tensor, norm: RowNorm<'_>) -> Result<Option<Launches>> {
    const MOST: usize = 512;
    /// Rows per block where one warp per row is enough.
    const TOGETHER: usize = 8;
    /// Reads per thread before another thread is worth it.
    const READS: usize = 4;
    let Some(name) = name_of(x.dtype()) else { return Ok(None) };
    let vectors = [norm.weight, norm.bias, norm.scale, norm.shift];
    if vectors.iter().flatten().any(|vector| vector.dtype() != x.dtype()) {
        return Ok(None);
    }
    let x = placed(x)?;
    let width = x.dim(D::Minus1)?;
    for vector in [norm.weight, norm.bias].into_iter().flatten() {
        if vector.dims() != [width] {
            candle_core::bail!("a norm over {width} values got parameters of shape {:?}", vector.dims());
        }
    }
    let rows = x.elem_count() / width;
    let tokens = match (norm.scale, x.dims()) {
        (Some(_), [_, tokens, _]) => *tokens,
        _ => rows,
    };
    let factor = |vector: Option<&Tensor>| vector.map(|vector| Factor::new(&x, vector)).transpose();
    let (scale, shift) = (factor(norm.scale)?, factor(norm.shift)?);
    let pieces = width.div_ceil(together(x.dtype()) * READS);
    let (grid, block) = if pieces <= WARP {
        (rows.div_ceil(TOGETHER), [WARP, TOGETHER, 1])
    } else {
        (rows, [threads(pieces, MOST), 1, 1])
    };
    // The kernel does not need alignment here.
    let vector = |vector: Option<&Tensor>| vector.map(Tensor::contiguous).transpose();
    let stride = |factor: &Option<Factor>| Argument::long(factor.as_ref().map_or(0, |factor| factor.stride));
    let launch = Launch {
        source: Source::Norm,
        kernel: format!("norm_rows_{name}"),
        grid: [grid, 1, 1],
        block,
        shared: 0,
        arguments: vec![
            Argument::Input(x.clone()),
            Argument::optional(vector(norm.weight)?),
            Argument::optional(vector(norm.bias)?),
            Argument::optional(scale.as_ref().map(|factor| factor.values.clone())),
            Argument::optional(shift.as_ref().map(|factor| factor.values.clone())),
            Argument::Result(0),
            Argument::long(rows)?,
            Argument::whole(width)?,
            Argument::whole(tokens)?,
            stride(&scale)?,
            stride(&shift)?,
            Argument::Number(norm.eps as f32),
            Argument::Whole(norm.centred.into()),
        ],
    };
    Ok(Some(Launches { results: vec![(x.dims().to_vec(), x.dtype())], launches: vec![launch] }))
}

/// Group norm of `x` `[batch, channels, …]`, with or without SiLU; `weight` and `bias` are `[channels]`.
pub fn group_norm(
    x: &Tensor,
    groups: usize,
    (weight, bias): (&Tensor, &Tensor),
    eps: f64,
    silu: bool,
) -> Result<Option<Launches>> {
    /// Values of a group that one block sums at once.
    const PIECE: usize = 1 << 13;
    /// Pieces that keep most GPUs busy. More would only take time to combine.
    const ENOUGH: usize = 1 << 11;
    const THREADS: usize = 256;
    /// Packs of values that a thread reads at once, as in `norm.cu`.
    const AHEAD: usize = 4;
    let Some(name) = name_of(x.dtype()) else { return Ok(None) };
    let x = placed(x)?;
    let (batch, channels) = (x.dim(0)?, x.dim(1)?);
    if groups == 0 || channels % groups != 0 || weight.dims() != [channels] || bias.dims() != [channels] {
        candle_core::bail!(
            "a norm of {channels} channels in {groups} groups got parameters of shape {:?}",
            weight.dims()
        );
    }
    let size = x.elem_count() / (batch * groups);
    let (together, plane) = (channels / groups, x.elem_count() / (batch * channels));
    let piece = (x.elem_count() / ENOUGH).next_multiple_of(PIECE).max(PIECE).min(size);
    let pieces = size.div_ceil(piece);
    let parameter = |vector: &Tensor| vector.to_dtype(DType::F32)?.contiguous().map(Argument::Input);
    let statistics = Launch {
        source: Source::Norm,
        kernel: format!("group_statistics_{name}"),
        grid: [pieces, batch * groups, 1],
        block: [THREADS, 1, 1],
        shared: 0,
        arguments: vec![
            Argument::Input(x.clone()),
            Argument::Result(1),
            Argument::long(size)?,
            Argument::whole(piece)?,
        ],
    };
    let (blocks, threads) = across(plane, x.dtype());
    let apply = Launch {
        source: Source::Norm,
        kernel: format!("group_norm_{name}"),
        grid: [blocks.div_ceil(AHEAD), batch * channels, 1],
        block: [threads, 1, 1],
        shared: 0,
        arguments: vec![
            Argument::Input(x.clone()),
            Argument::Result(1),
            parameter(weight)?,
            parameter(bias)?,
            Argument::Result(0),
            Argument::whole(pieces)?,
            Argument::whole(piece)?,
            Argument::whole(channels)?,
            Argument::whole(together)?,
            Argument::long(plane)?,
            Argument::Number(eps as f32),
            Argument::Whole(silu.into()),
        ],
    };
    let results = vec![(x.dims().to_vec(), x.dtype()), (vec![batch * groups, pieces, 2], DType::F32)];
    Ok(Some(Launches { results, launches: vec![statistics, apply] }))
}
