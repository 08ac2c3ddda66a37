//! Attention, computed or traced.

use candle_core::{DType, Result, Tensor as Values, bail};

use crate::{
    Attention, AttentionBytes, Mask, Tensor, computed,
    cost::{Balance, Computes, Cost, Costs, Kernels},
    tensor::Kind,
    trace::Traced,
};

/// Attention of `q` `[batch, tokens, heads, head_dim]` over `k` and `v` `[batch, keys, kv_heads, head_dim]`,
/// scaled by `1 / sqrt(head_dim)`. The result has the shape of `q`. `heads` is a multiple of `kv_heads`:
/// neighbouring query heads share a key head (grouped-query attention).
///
/// The full score matrix is never materialized.
pub fn attention(q: &Tensor, k: &Tensor, v: &Tensor, mask: Mask) -> Result<Tensor> {
    if let [Kind::Computed(q), Kind::Computed(k), Kind::Computed(v)] = [&q.0, &k.0, &v.0] {
        return Ok(computed::attention(q, k, v, mask)?.into());
    }
    let in_bf16 = [q, k, v].iter().all(|x| x.dtype() == DType::BF16);
    let cost = |costs: Costs, shape, [keys, kv_heads]: [usize; 2]| {
        Costs { in_bf16, ..costs }.attention(shape, keys, kv_heads)
    };
    attend("attention", [q, k, v], &[], cost, |[q, k, v], _| computed::attention(q, k, v, mask))
}

/// Unmasked attention with scores `q · k + bias`, unscaled, as in T5 (Raffel et al. 2020). `bias`, f32
/// `[heads, tokens + keys − 1]`, is indexed by key position minus query position, from `1 − tokens` to
/// `keys − 1`.
pub fn attention_with_bias(q: &Tensor, k: &Tensor, v: &Tensor, bias: &Tensor) -> Result<Tensor> {
    if let [Kind::Computed(q), Kind::Computed(k), Kind::Computed(v)] = [&q.0, &k.0, &v.0] {
        return Ok(computed::attention_with_bias(q, k, v, bias.computed()?)?.into());
    }
    let cost =
        |costs: Costs, shape, [keys, kv_heads]: [usize; 2]| costs.attention_with_bias(shape, keys, kv_heads);
    attend("attention_with_bias", [q, k, v], &[], cost, |[q, k, v], _| {
        let bias = Values::zeros(bias.dims(), bias.dtype(), q.device())?;
        computed::attention_with_bias(q, k, v, &bias)
    })
}

/// Unmasked [`attention`] to whose scores a bias is added, `[heads, tokens, keys]`.
pub fn attention_with_pair_bias(q: &Tensor, k: &Tensor, v: &Tensor, bias: &Tensor) -> Result<Tensor> {
    if let [Kind::Computed(q), Kind::Computed(k), Kind::Computed(v)] = [&q.0, &k.0, &v.0] {
        return Ok(computed::attention_with_pair_bias(q, k, v, bias.computed()?)?.into());
    }
    let cost = |costs: Costs, shape, [keys, kv_heads]: [usize; 2]| {
        costs.attention_with_pair_bias(shape, keys, kv_heads)
    };
    attend("attention_with_pair_bias", [q, k, v], &[], cost, |[q, k, v], _| {
        let bias = Values::zeros(bias.dims(), bias.dtype(), q.device())?;
        computed::attention_with_pair_bias(q, k, v, &bias)
    })
}

/// Unmasked [`attention`] over the places of a grid, row by row, to whose scores two biases are added: that of the query and
/// the key's row, `rows` `[batch, tokens, heads, rows of keys]`, and that of the query and the key's column, `columns` `[batch,
/// tokens, heads, columns of keys]`.
pub fn attention_with_grid_bias(
    q: &Tensor,
    k: &Tensor,
    v: &Tensor,
    rows: &Tensor,
    columns: &Tensor,
) -> Result<Tensor> {
    if let [Kind::Computed(q), Kind::Computed(k), Kind::Computed(v)] = [&q.0, &k.0, &v.0] {
        let (rows, columns) = (rows.computed()?, columns.computed()?);
        return Ok(computed::attention_with_grid_bias(q, k, v, rows, columns)?.into());
    }
    let biases = rows.elem_count() + columns.elem_count();
    let cost = |costs: Costs, shape, [keys, kv_heads]: [usize; 2]| {
        costs.attention_with_grid_bias(shape, keys, kv_heads, biases)
    };
    attend("attention_with_grid_bias", [q, k, v], &[rows, columns], cost, |[q, k, v], biases| {
        computed::attention_with_grid_bias(q, k, v, &biases[0], &biases[1])
    })
}

/// Causal [`attention`] in which each query also attends to a sink: a score of its head, f32 `[heads]`, that has no value
/// (Xiao et al. 2023, arXiv:2309.17453). With a `window`, a query attends to so many keys at most, its own and those before it.
pub fn attention_with_sinks(
    q: &Tensor,
    k: &Tensor,
    v: &Tensor,
    sinks: &Tensor,
    window: Option<usize>,
) -> Result<Tensor> {
    if let [Kind::Computed(q), Kind::Computed(k), Kind::Computed(v)] = [&q.0, &k.0, &v.0] {
        return Ok(computed::attention_with_sinks(q, k, v, sinks.computed()?, window)?.into());
    }
    let cost =
        |costs: Costs, shape, [keys, kv_heads]: [usize; 2]| costs.attention_with_sinks(shape, keys, kv_heads);
    attend("attention_with_sinks", [q, k, v], &[], cost, |[q, k, v], _| {
        let sinks = Values::zeros(sinks.dims(), sinks.dtype(), q.device())?;
        computed::attention_with_sinks(q, k, v, &sinks, window)
    })
}

/// Attention on shapes, or on values with `compute`, which also gets the values of `biases`.
fn attend(
    name: &'static str,
    [q, k, v]: [&Tensor; 3],
    biases: &[&Tensor],
    cost_of: impl Fn(Costs, [usize; 4], [usize; 2]) -> Cost,
    compute: impl Fn([&Values; 3], &[Values]) -> Result<Values>,
) -> Result<Tensor> {
    let (batch, tokens, heads, width) = q.dims4()?;
    let (key_batch, keys, kv_heads, key_width) = k.dims4()?;
    let fits = (key_batch, key_width) == (batch, width) && kv_heads > 0 && heads.is_multiple_of(kv_heads);
    if k.dims() != v.dims() || !fits {
        bail!("attention of {:?} over keys {:?} and values {:?}", q.dims(), k.dims(), v.dims());
    }
    let shape = [batch, tokens, heads, width];
    let inputs = [q, k, v].into_iter().chain(biases.iter().copied());
    let inputs = inputs.map(Tensor::traced).collect::<Result<Vec<_>>>()?;
    let costs = inputs[0].trace().costs(inputs[0].dtype);
    let mut cost = cost_of(costs, shape, [keys, kv_heads]);
    let of = |attention| {
        let kernels = Kernels { attention, others: false };
        Costs { computes: Computes::Card(kernels, Balance::USUAL), ..costs }.attention(shape, keys, kv_heads)
    };
    inputs[0].trace().add_attention(&match costs.computes {
        Computes::Processor { .. } => AttentionBytes { fused: cost.peak, ..AttentionBytes::default() },
        Computes::Card(kernels, _) => AttentionBytes {
            on_gpu: Some(kernels.attention),
            fused: 0,
            math: of(Attention::Math).peak,
            tiled: of(Attention::Tiled).peak,
        },
    });
    // Heads may be strided; the values within a head may not.
    let apart = |input: &&&Traced| input.layout.stride().last() != Some(&1);
    cost.peak += inputs[..3].iter().filter(apart).map(|input| input.reordering()).sum::<u64>();
    let result = inputs[0].trace().call(name, &inputs, cost, (&shape, q.dtype()), |values| {
        compute(std::array::from_fn(|index| &values[index]), &values[3..])
    })?;
    Ok(result.into())
}
