//! The pass of a prediction through a ControlNet.

use std::ops::Range;

use super::{ControlNet, Early, Stack, Steered, Taps};
use crate::{
    models::{DenoiserInput, Steering},
    nn::{DType, Result, Tensor, bail},
    residency::{Blocks, Weights},
};

/// The pass of a prediction through a ControlNet.
pub(super) struct Pass<'a> {
    net: &'a ControlNet,
    /// Index of the first block that is needed in each step.
    first: usize,
    steering: &'a Steering,
    latents: &'a Tensor,
    dtype: DType,
    stack: Box<dyn Stack + 'a>,
    /// Number of the blocks that were passed.
    passed: usize,
    /// For each branch, what was tapped early.
    early: Vec<Vec<Tensor>>,
    /// For each branch, what was tapped later.
    branches: Vec<Vec<Tensor>>,
}

impl<'a> Pass<'a> {
    pub fn new(
        net: &'a ControlNet,
        first: usize,
        blocks: Blocks<'_>,
        input: &DenoiserInput<'a>,
        steering: &'a Steering,
    ) -> Result<Self> {
        let (_, _, height, width) = input.latents.dims4()?;
        let prepared = &steering.prepared;
        let branches = vec![Vec::new(); prepared.branches.len()];
        Ok(Self {
            net,
            first: first + net.layout.once,
            steering,
            latents: input.latents,
            dtype: blocks.dtype(),
            stack: net.network.stack(prepared, input.sigma, [height, width], &blocks.device())?,
            passed: 0,
            early: branches.clone(),
            branches,
        })
    }

    /// Whether a block is one of those that are needed in each step.
    pub fn has(&self, index: usize) -> bool {
        (self.first..self.first + self.net.steps()).contains(&index)
    }

    /// The blocks that come early, as parts of a walk.
    pub fn early_parts(&self) -> impl Iterator<Item = Range<usize>> + use<'a> {
        let (first, net) = (self.first, self.net);
        let parts = net.layout.early.iter().flat_map(Early::parts);
        parts.map(move |part| first + part.start..first + part.end)
    }

    /// The blocks that come later.
    pub fn blocks(&self) -> Range<usize> {
        let layout = &self.net.layout;
        let before = if layout.early.is_some() { layout.lead } else { 0 };
        self.first + before..self.first + self.net.steps()
    }

    pub fn block(&mut self, w: &Weights, index: usize, steered: &dyn Steered) -> Result<()> {
        let (place, net) = (index - self.first, self.net);
        if self.passed == 0 {
            let Some(map) = &self.steering.prepared.image else {
                bail!("the map of a ControlNet is missing")
            };
            let tokens = net.network.begin(w, &self.latents.to_dtype(self.dtype)?, map, steered)?;
            self.stack.begin(tokens)?;
        }
        self.passed += 1;
        if let Some(early) = net.layout.early.as_ref().filter(|early| self.passed <= early.passes()) {
            let number = place / 2;
            if place.is_multiple_of(2) {
                return self.stack.early(w, number, steered);
            }
            return tap(w, &early.taps[number], &*self.stack, self.steering.weight, &mut self.early);
        }
        let Some(place) = place.checked_sub(net.layout.lead) else { return self.stack.lead(w, place) };
        let number = place / 2;
        if place.is_multiple_of(2) {
            return self.stack.block(w, number, steered);
        }
        tap(w, &net.layout.taps[number], &*self.stack, self.steering.weight, &mut self.branches)
    }

    /// What was tapped early.
    pub fn take_early(&mut self) -> Option<Taps<'a>> {
        let net = self.net;
        let early = net.layout.early.as_ref()?;
        Some(Taps { places: &early.places, branches: std::mem::take(&mut self.early) })
    }

    pub fn into_taps(self) -> Taps<'a> {
        Taps { places: &self.net.layout.places, branches: self.branches }
    }
}

/// Taps each branch of a stack.
fn tap(w: &Weights, layer: &str, stack: &dyn Stack, weight: f32, branches: &mut [Vec<Tensor>]) -> Result<()> {
    let weight = f64::from(weight);
    w.branches(branches, |w, branch, tapped| {
        let own = w.linear(layer, &stack.tapped(branch)?)?;
        tapped.push(if weight == 1.0 { own } else { (own * weight)? });
        Ok(())
    })
}
