//! Attention on tensor cores.

use candle_core::{DType, Result, Tensor};

use super::{ACCESS, Argument, Launch, Launches, Source, WARP, name_of, placed, together};

/// Head widths with a kernel.
pub const WIDTHS: [usize; 7] = [40, 64, 72, 80, 96, 128, 160];

// As in `attention.cu`, like the sizes of a tile below: the emulation finds what a launch lacks.
const WARPS: usize = 4;
const SIDE: usize = 16;
const SHARED: usize = 48 << 10;

/// Attention of `q` `[batch, tokens, heads, head_dim]` over `k` and `v` `[batch, keys, kv_heads, head_dim]`.
/// Queries attend to all keys, or with `causal` to those at their own position and before it. Kernels exist
/// for 16-bit floats and the head widths in [`WIDTHS`].
pub fn attention(q: &Tensor, k: &Tensor, v: &Tensor, causal: bool) -> Result<Option<Launches>> {
    let scale = 1.0 / (q.dim(3)? as f64).sqrt();
    describe([q, k, v], scale, causal, None)
}

/// The same without mask and scale, with `bias`, f32 `[heads, tokens + keys − 1]`, added to the scores.
pub fn attention_with_bias(q: &Tensor, k: &Tensor, v: &Tensor, bias: &Tensor) -> Result<Option<Launches>> {
    if bias.dtype() != DType::F32 {
        return Ok(None);
    }
    describe([q, k, v], 1.0, false, Some(placed(bias)?))
}

fn describe(
    [q, k, v]: [&Tensor; 3],
    scale: f64,
    causal: bool,
    bias: Option<Tensor>,
) -> Result<Option<Launches>> {
    let (batch, tokens, heads, width) = q.dims4()?;
    let (_, keys, kv_heads, _) = k.dims4()?;
    let same = k.dtype() == q.dtype() && v.dtype() == q.dtype();
    let Some(name) =
        name_of(q.dtype()).filter(|_| same && q.dtype() != DType::F32 && WIDTHS.contains(&width))
    else {
        return Ok(None);
    };
    let [q, k, v] = [rows(q)?, rows(k)?, rows(v)?];
    let mut arguments = vec![
        Argument::Input(q.clone()),
        Argument::Input(k.clone()),
        Argument::Input(v.clone()),
        Argument::optional(bias),
        Argument::Result(0),
    ];
    for side in [tokens, keys, heads, kv_heads] {
        arguments.push(Argument::whole(side)?);
    }
    for x in [&q, &k, &v] {
        for stride in &x.stride()[..3] {
            arguments.push(Argument::long(*stride)?);
        }
    }
    arguments.extend([Argument::Number(scale as f32), Argument::Whole(causal.into())]);
    // Bytes of a row, and how many rows of queries and of keys a block has at a time.
    let row = width.next_multiple_of(SIDE) * q.dtype().size_in_bytes();
    let queries = WARPS * SIDE * if width > 128 { 1 } else { 2 };
    let keys_of_tile = match width {
        64 => 128,
        97.. => 32,
        _ => 64,
    };
    let slots = ((SHARED / row - queries) / keys_of_tile).min(4);
    let launch = Launch {
        source: Source::Attention,
        kernel: format!("attention_{name}_{width}"),
        grid: [tokens.div_ceil(queries), heads, batch],
        block: [WARPS * WARP, 1, 1],
        shared: (queries + slots * keys_of_tile) * row,
        arguments,
    };
    Ok(Some(Launches { results: vec![(q.dims().to_vec(), q.dtype())], launches: vec![launch] }))
}

/// `x`, with heads laid out for 16-byte reads.
fn rows(x: &Tensor) -> Result<Tensor> {
    let unit = together(x.dtype());
    let stride = x.stride();
    let first = x.storage_and_layout().1.start_offset() * x.dtype().size_in_bytes();
    let fits = stride[3] == 1
        && stride[..3].iter().all(|stride| stride.is_multiple_of(unit))
        && first.is_multiple_of(ACCESS);
    if fits { Ok(x.clone()) } else { placed(x) }
}
