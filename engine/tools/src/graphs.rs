//! CUDA graphs on a GPU: whether they compute the same as kernels that are launched one by one, and whether that is quicker.

use candle_core::{DType, Device, Result, Tensor};
use sluice_engine::nn::{
    computed::{Mask, attention, gated_add, linear, rms_norm_modulated, silu_mul},
    cuda::{
        enabled,
        graph::{Graph, device_to_record},
        switch,
    },
};

use super::kernels::{Trial, distance, flat, tensor, timed};

/// Width of the blocks; small, because graphs are for what is done sooner than it is launched.
const WIDTH: usize = 256;
const HEADS: usize = 4;
const BLOCKS: usize = 12;

/// Records blocks of a small transformer and compares the graph with their launches, for an image of 256×256 and a larger one.
/// The kernels are on, because the plain compositions copy strides from the host while they are launched.
///
/// # Errors
/// Fails if there is no GPU. A graph that cannot be recorded is a trial with the largest error.
pub(super) fn trials(dtype: DType) -> Result<Vec<Trial>> {
    let before = enabled();
    switch(true);
    let device = device_to_record(0)?;
    let trials = [256, 1024].into_iter().map(|tokens| {
        let name = format!("graph of {BLOCKS} small blocks, {tokens} tokens");
        tried(&device, dtype, tokens, name.clone()).unwrap_or_else(|error| Trial {
            name: format!("{name}: {error}"),
            dtype: dtype.as_str().to_owned(),
            error: f64::MAX,
            plain_error: 0.0,
            is_right: false,
            seconds: 0.0,
            plain_seconds: 0.0,
        })
    });
    let trials = trials.collect();
    switch(before);
    Ok(trials)
}

fn tried(device: &Device, dtype: DType, tokens: usize, name: String) -> Result<Trial> {
    let there = |stream, shape: &[usize], scale: f64| -> Result<Tensor> {
        (tensor(stream, shape)? * scale)?.to_dtype(dtype)?.to_device(device)
    };
    let matrices = (1..=6).map(|stream| there(stream, &[WIDTH, WIDTH], 0.5 / (WIDTH as f64).sqrt()));
    let matrices = matrices.collect::<Result<Vec<_>>>()?;
    let norm = there(7, &[WIDTH], 0.5)?;
    let (scale, gate) = (there(8, &[1, 1, WIDTH], 0.1)?, there(9, &[1, 1, WIDTH], 0.1)?);
    let blocks = |x: &Tensor| -> Result<Tensor> {
        let mut x = x.clone();
        for _ in 0..BLOCKS {
            let y = rms_norm_modulated(&x, &norm, 1e-6, &scale)?;
            let heads = |number: usize| {
                linear(&y, &matrices[number], None)?.reshape((1, tokens, HEADS, WIDTH / HEADS))
            };
            let seen = attention(&heads(0)?, &heads(1)?, &heads(2)?, Mask::None)?;
            let seen = linear(&seen.reshape((1, tokens, WIDTH))?, &matrices[3], None)?;
            x = gated_add(&x, &gate, &seen)?;
            let (gates, values) = (linear(&x, &matrices[4], None)?, linear(&x, &matrices[5], None)?);
            x = gated_add(&x, &gate, &silu_mul(&gates, &values)?)?;
        }
        Ok(x)
    };
    let graph = Graph::record(&there(10, &[1, tokens, WIDTH], 1.0)?, blocks)?;
    let mut error = 0f64;
    // Several arguments in turn show whether the graph reads the one of its recording again.
    for stream in [11, 12, 11] {
        let x = there(stream, &[1, tokens, WIDTH], 1.0)?;
        error = error.max(distance(&flat(&graph.run(&x)?)?, &flat(&blocks(&x)?)?));
    }
    let x = there(11, &[1, tokens, WIDTH], 1.0)?;
    Ok(Trial {
        name,
        dtype: dtype.as_str().to_owned(),
        error,
        plain_error: 0.0,
        is_right: error == 0.0,
        seconds: timed(device, || graph.run(&x))?,
        plain_seconds: timed(device, || blocks(&x))?,
    })
}
