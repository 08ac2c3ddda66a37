//! Launch parameters of elementwise functions: modulation, gates, activations and rotations.

use candle_core::{D, DType, Result, Tensor};

use super::{Argument, Launch, Launches, Source, across, name_of, placed, threads, together};

/// Modulation factors and their stride between batch items; the stride is 0 if all items share them.
pub(super) struct Factor {
    pub values: Tensor,
    pub stride: usize,
}

impl Factor {
    /// `factor`, `[batch, 1, width]` or `[1, 1, width]`, for `x` `[batch, tokens, width]`.
    pub fn new(x: &Tensor, factor: &Tensor) -> Result<Self> {
        let (batch, _, width) = x.dims3()?;
        let (items, _, own) = factor.dims3()?;
        if own != width || (items != 1 && items != batch) || factor.dim(1)? != 1 {
            candle_core::bail!(
                "factors of shape {:?} do not fit values of shape {:?}",
                factor.dims(),
                x.dims()
            );
        }
        // A slice of a larger vector needs no copy.
        let values = if factor.stride()[2] == 1 { factor.clone() } else { factor.contiguous()? };
        let stride = if items == 1 { 0 } else { values.stride()[0] };
        Ok(Self { values, stride })
    }
}

fn of_one_dtype(x: &Tensor, others: &[&Tensor]) -> Option<&'static str> {
    name_of(x.dtype()).filter(|_| others.iter().all(|other| other.dtype() == x.dtype()))
}

/// One launch over the rows of `[…, width]`.
fn over_rows(
    shape: &[usize],
    dtype: DType,
    source: Source,
    kernel: String,
    arguments: Vec<Argument>,
) -> Launches {
    let width = shape.last().copied().unwrap_or(1);
    let rows = shape.iter().product::<usize>() / width.max(1);
    let (blocks, threads) = across(width, dtype);
    let (grid, block) = ([rows, blocks, 1], [threads, 1, 1]);
    Launches {
        results: vec![(shape.to_vec(), dtype)],
        launches: vec![Launch { source, kernel, grid, block, shared: 0, arguments }],
    }
}

/// `x · (1 + scale) + shift` of `x` `[batch, tokens, width]`.
pub fn modulate(x: &Tensor, scale: &Tensor, shift: Option<&Tensor>) -> Result<Option<Launches>> {
    let factors: Vec<&Tensor> = [scale].into_iter().chain(shift).collect();
    let Some(name) = of_one_dtype(x, &factors) else { return Ok(None) };
    let (_, tokens, width) = x.dims3()?;
    let scale = Factor::new(x, scale)?;
    let shift = shift.map(|shift| Factor::new(x, shift)).transpose()?;
    let stride = shift.as_ref().map_or(0, |shift| shift.stride);
    let arguments = vec![
        Argument::Input(placed(x)?),
        Argument::Input(scale.values),
        Argument::optional(shift.map(|shift| shift.values)),
        Argument::Result(0),
        Argument::whole(width)?,
        Argument::whole(tokens)?,
        Argument::long(scale.stride)?,
        Argument::long(stride)?,
    ];
    Ok(Some(over_rows(x.dims(), x.dtype(), Source::Modulation, format!("modulate_{name}"), arguments)))
}

/// `x` `[…, width]` plus `vector` `[width]`.
pub fn add_vector(x: &Tensor, vector: &Tensor) -> Result<Option<Launches>> {
    let Some(name) = of_one_dtype(x, &[vector]) else { return Ok(None) };
    let width = x.dim(D::Minus1)?;
    if vector.dims() != [width] {
        candle_core::bail!("{:?} values cannot be added to rows of {width}", vector.dims());
    }
    let rows = x.elem_count() / width.max(1);
    let arguments = vec![
        Argument::Input(placed(x)?),
        Argument::Absent,
        Argument::Input(vector.contiguous()?),
        Argument::Result(0),
        Argument::whole(width)?,
        Argument::whole(rows)?,
        Argument::Long(0),
        Argument::Long(0),
    ];
    Ok(Some(over_rows(x.dims(), x.dtype(), Source::Modulation, format!("modulate_{name}"), arguments)))
}

/// `x` `[batch, channels, …]` plus `vector` `[channels]`.
pub fn add_to_channels(x: &Tensor, vector: &Tensor) -> Result<Option<Launches>> {
    /// Most rows of a grid.
    const MOST: usize = 0xffff;
    let Some(name) = of_one_dtype(x, &[vector]) else { return Ok(None) };
    let (batch, channels) = (x.dim(0)?, x.dim(1)?);
    if vector.dims() != [channels] {
        candle_core::bail!("{:?} values cannot be added to {channels} channels", vector.dims());
    }
    if batch * channels > MOST {
        return Ok(None);
    }
    let plane = x.elem_count() / (batch * channels).max(1);
    let (blocks, threads) = across(plane, x.dtype());
    let launch = Launch {
        source: Source::Modulation,
        kernel: format!("add_to_channels_{name}"),
        grid: [blocks, batch * channels, 1],
        block: [threads, 1, 1],
        shared: 0,
        arguments: vec![
            Argument::Input(placed(x)?),
            Argument::Input(vector.contiguous()?),
            Argument::Result(0),
            Argument::whole(channels)?,
            Argument::long(plane)?,
        ],
    };
    Ok(Some(Launches { results: vec![(x.dims().to_vec(), x.dtype())], launches: vec![launch] }))
}

/// `x + gate · y` of `x` and `y` `[batch, tokens, width]`.
pub fn gated_add(x: &Tensor, gate: &Tensor, y: &Tensor) -> Result<Option<Launches>> {
    let Some(name) = of_one_dtype(x, &[gate, y]) else { return Ok(None) };
    let (_, tokens, width) = x.dims3()?;
    let gate = Factor::new(x, gate)?;
    let arguments = vec![
        Argument::Input(placed(x)?),
        Argument::Input(gate.values),
        Argument::Input(placed(y)?),
        Argument::Result(0),
        Argument::whole(width)?,
        Argument::whole(tokens)?,
        Argument::long(gate.stride)?,
    ];
    Ok(Some(over_rows(x.dims(), x.dtype(), Source::Modulation, format!("gated_add_{name}"), arguments)))
}

/// The activation of a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Curve {
    /// `x · sigmoid(x)`.
    Silu,
    /// GELU, tanh approximation.
    GeluTanh,
    /// Exact GELU.
    Gelu,
}

/// `curve(gate) · up`; both have the same shape.
pub fn gated(curve: Curve, gate: &Tensor, up: &Tensor) -> Result<Option<Launches>> {
    let Some(name) = of_one_dtype(gate, &[up]) else { return Ok(None) };
    let width = gate.dim(D::Minus1)?;
    let kernel = match curve {
        Curve::Silu => "silu_mul",
        Curve::GeluTanh => "gelu_tanh_mul",
        Curve::Gelu => "gelu_mul",
    };
    let ((gate, gate_stride), (up, up_stride)) = (rows_of(gate)?, rows_of(up)?);
    let shape = gate.dims().to_vec();
    let dtype = gate.dtype();
    let arguments = vec![
        Argument::Input(gate),
        Argument::Input(up),
        Argument::Result(0),
        Argument::whole(width)?,
        Argument::long(gate_stride)?,
        Argument::long(up_stride)?,
    ];
    Ok(Some(over_rows(&shape, dtype, Source::Activation, format!("{kernel}_{name}"), arguments)))
}

/// `x` and its row stride. Copies `x` if its rows are not evenly spaced; half of each row of a wider tensor
/// needs no copy.
fn rows_of(x: &Tensor) -> Result<(Tensor, usize)> {
    let (dims, stride) = (x.dims(), x.stride());
    let last = x.rank() - 1;
    let even = stride[last] == 1 && (1..last).all(|at| stride[at - 1] == stride[at] * dims[at]);
    if even {
        let stride = if last == 0 { dims[last] } else { stride[last - 1] };
        return Ok((x.clone(), stride));
    }
    Ok((placed(x)?, dims[last]))
}

/// Which values of a head are rotated together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rotation {
    /// Neighbours, in f32.
    Interleaved,
    /// The first half with the second half, in the dtype of the values.
    Half,
}

/// Rotates `x` `[batch, tokens, heads, width]`; `cos` and `sin` are f32 `[tokens, width / 2]`, or of halves also
/// `[tokens, width]`.
pub fn rope(rotation: Rotation, x: &Tensor, cos: &Tensor, sin: &Tensor) -> Result<Option<Launches>> {
    const MOST: usize = 256;
    let Some(name) = name_of(x.dtype()) else { return Ok(None) };
    if cos.dtype() != DType::F32 || sin.dtype() != DType::F32 {
        return Ok(None);
    }
    let (batch, tokens, heads, width) = x.dims4()?;
    let x = placed(x)?;
    let kernel = match rotation {
        Rotation::Interleaved => "rope_interleaved",
        Rotation::Half => "rope_half",
    };
    let mut arguments = vec![
        Argument::Input(x.clone()),
        Argument::Input(placed(cos)?),
        Argument::Input(placed(sin)?),
        Argument::Result(0),
        Argument::whole(tokens)?,
        Argument::whole(heads)?,
        Argument::whole(width)?,
    ];
    if rotation == Rotation::Half {
        arguments.push(Argument::whole(cos.dim(1)? - width / 2)?);
    }
    let launch = Launch {
        source: Source::Rope,
        kernel: format!("{kernel}_{name}"),
        grid: [batch * tokens, 1, 1],
        block: [threads(heads * width / together(x.dtype()), MOST), 1, 1],
        shared: 0,
        arguments,
    };
    Ok(Some(Launches { results: vec![(x.dims().to_vec(), x.dtype())], launches: vec![launch] }))
}
