//! What a pass through the network takes: memory and operations, from shapes alone.

use super::{Addition, Kind, Node, Unet, nodes::MLP_RATIO};
use crate::{
    memory::Work,
    models::{
        DenoiserShape,
        modulated::{each, once},
    },
    nn::{Costs, Tape},
    vae::{Plane, resnet_tape},
};

/// What one guidance branch holds between two nodes.
struct Held {
    x: Plane,
    /// Whether `x` is the last of what is kept.
    is_kept: bool,
    /// Whether there are tokens beside it.
    has_tokens: bool,
    kept: Vec<Plane>,
}

impl Held {
    /// Bytes, without what the first node gave, which is the same for all branches.
    fn bytes(&self, costs: Costs) -> u64 {
        let kept: u64 = self.kept.iter().skip(1).map(|plane| plane.bytes(costs)).sum();
        kept + self.own(costs) + if self.has_tokens { self.x.bytes(costs) } else { 0 }
    }

    /// Bytes of `x` that are not kept ones.
    fn own(&self, costs: Costs) -> u64 {
        if self.is_kept { 0 } else { self.x.bytes(costs) }
    }

    /// What is there after a node.
    fn after(&self, node: &Node) -> Self {
        let mut kept = self.kept.clone();
        let x = match node.kind {
            Kind::Input { outputs, .. } | Kind::Output { outputs, .. } => self.x.with_channels(outputs),
            Kind::Resnet { kept: taken, outputs, .. } => {
                if taken > 0 {
                    kept.pop();
                }
                self.x.with_channels(outputs)
            }
            Kind::Transformer { .. } => self.x,
            Kind::Down { .. } => Plane { size: self.x.size.map(|side| side.div_ceil(2)), ..self.x },
            Kind::Up { .. } => kept.last().map_or(self.x, |kept| Plane { size: kept.size, ..self.x }),
        };
        if node.is_kept {
            kept.push(x);
        }
        let has_tokens = matches!(node.kind, Kind::Transformer { is_last: false, .. });
        Self { x, is_kept: node.is_kept, has_tokens, kept }
    }
}

impl Unet {
    /// The work of all blocks.
    pub(super) fn pass_work(&self, shape: &DenoiserShape) -> Work {
        let costs = shape.costs;
        let bytes = |values: usize| (values * shape.costs.value_bytes) as u64;
        let texts = &shape.prompts[..shape.branches];
        let all_text: usize = texts.iter().sum();
        let (mut resnet_widths, mut transformer_widths) = (0, Vec::new());
        for node in &self.nodes {
            match node.kind {
                Kind::Resnet { outputs, .. } => resnet_widths += outputs,
                Kind::Transformer { width, .. } => transformer_widths.push(width),
                _ => {}
            }
        }
        let rows = shape.sigmas * self.time_branches(shape.branches);
        let seen = self.config.cross_attention_dim + 2 * transformer_widths.iter().sum::<usize>();
        let latents = shape.batch * shape.latents.iter().product::<usize>() * size_of::<f32>();
        let carried = bytes(all_text * seen) + bytes(rows * resnet_widths) + 2 * latents as u64;

        let mut blocks = vec![once(self.embedders_tape(costs, shape))];
        blocks.extend(transformer_widths.into_iter().map(|width| {
            let mut tape = Tape::default();
            for &text in texts {
                (0..2).for_each(|_| tape.replace(costs.linear(text, self.config.cross_attention_dim, width)));
            }
            once(tape)
        }));
        let [channels, height, width] = shape.latents;
        let x = Plane { batch: shape.batch, channels, size: [height, width] };
        let mut held = Held { x, is_kept: true, has_tokens: false, kept: Vec::new() };
        for node in &self.nodes {
            let after = held.after(node);
            let branches = if matches!(node.kind, Kind::Input { .. }) { &texts[..1] } else { texts };
            let tapes = branches.iter().enumerate().map(|(done, &text)| {
                let waiting = (shape.branches - done) as u64 * held.bytes(costs);
                let shared = held.kept.first().map_or(0, |plane| plane.bytes(costs));
                let mut tape = Tape::default();
                tape.hold(shared + waiting + done as u64 * after.bytes(costs));
                node_tape(&mut tape, costs, node, &held, &after, text);
                tape
            });
            blocks.push(each(shape.calls, tapes));
            held = after;
        }
        Work { tile: None, carried, blocks }
    }

    /// Branches for which the timestep is embedded differently.
    fn time_branches(&self, branches: usize) -> usize {
        if self.config.addition.is_some() { branches } else { 1 }
    }

    /// [`embed_conditions`](Self::embed_conditions) and the projections, function by function.
    fn embedders_tape(&self, costs: Costs, shape: &DenoiserShape) -> Tape {
        let width = self.config.time_width();
        let rows = shape.sigmas * self.time_branches(shape.branches);
        let mut tape = Tape::default();
        let mut mlp = |rows: usize, inputs: usize| {
            let h = tape.run(costs.linear(rows, inputs, width));
            tape.replace(costs.pointwise(rows * width, 1));
            tape.replace(costs.linear(rows, width, width));
            h
        };
        mlp(shape.sigmas, width / 4);
        if let Some(Addition { inputs, .. }) = self.config.addition {
            mlp(shape.branches, inputs);
            tape.run(costs.copy(rows * width));
        }
        tape.run(costs.pointwise(rows * width, 1));
        for node in self.resnets() {
            if let Kind::Resnet { outputs, .. } = node.kind {
                tape.replace(costs.linear(rows, width, outputs));
            }
        }
        tape
    }
}

/// What a node takes for one branch, function by function.
fn node_tape(tape: &mut Tape, costs: Costs, node: &Node, before: &Held, after: &Held, text: usize) {
    let (x, own) = (before.x, before.own(costs));
    match node.kind {
        Kind::Input { inputs, outputs } => {
            tape.hold((x.values() * size_of::<f32>()) as u64);
            // What is joined to the latents.
            tape.hold(x.with_channels(inputs - x.channels).bytes(costs));
            let seen = tape.run(costs.copy(x.with_channels(inputs).values()));
            tape.run(x.with_channels(inputs).conv(costs, outputs, 3));
            tape.free(seen);
        }
        Kind::Resnet { inputs, kept, outputs, .. } => {
            let joined = x.with_channels(inputs + kept);
            let mut held = own;
            if kept > 0 {
                held = tape.run(costs.copy(joined.values()));
                let taken = before.kept.len().checked_sub(1).filter(|&place| place > 0);
                tape.free(own + taken.map_or(0, |place| before.kept[place].bytes(costs)));
            }
            resnet_tape(tape, costs, joined, outputs);
            tape.free(held);
        }
        Kind::Transformer { heads, is_first, is_last, .. } => {
            transformer_tape(tape, costs, x, [heads, text], is_first);
            if is_last {
                let values = x.values();
                let rows = values / x.channels.max(1);
                tape.replace(costs.linear(rows, x.channels, x.channels));
                tape.replace(costs.copy(values));
                tape.run(costs.copy(values));
                tape.free(x.bytes(costs) + own);
            }
        }
        Kind::Down { width } => {
            tape.run(costs.conv([x.batch, width, width], after.x.size, 3, 2));
            tape.free(own);
        }
        Kind::Up { width } => {
            let mut doubled = tape.run(costs.upsample(x.values()));
            if after.x.size != x.size.map(|side| 2 * side) {
                doubled += tape.run(costs.copy(after.x.values()));
            }
            tape.run(after.x.conv(costs, width, 3));
            tape.free(doubled + own);
        }
        Kind::Output { inputs, outputs } => {
            let normed = tape.run(costs.pointwise(x.values(), 1));
            tape.free(own);
            tape.run(x.with_channels(inputs).conv(costs, outputs, 3));
            tape.free(normed);
        }
    }
}

/// A transformer block over all pixels; its result, and its input in pixels, stay held.
fn transformer_tape(tape: &mut Tape, costs: Costs, x: Plane, [heads, text]: [usize; 2], is_first: bool) {
    let (width, values) = (x.channels, x.values());
    let rows = values / width.max(1);
    let queries = [x.batch, rows / x.batch.max(1), heads, width / heads.max(1)];
    let all = costs.pointwise(values, 1);
    // A projection is added to the stream, which its sum takes the place of.
    let join = |tape: &mut Tape, inputs: usize| {
        let projected = tape.run(costs.linear(rows, inputs, width));
        tape.replace(costs.copy(values));
        tape.free(projected);
    };
    if is_first {
        let normed = tape.run(all);
        tape.replace(costs.copy(values));
        tape.run(costs.linear(rows, width, width));
        tape.free(normed);
    }
    let normed = tape.run(all);
    let qkv: u64 = (0..3).map(|_| tape.run(costs.linear(rows, width, width))).sum();
    let attended = tape.run(costs.attention(queries, queries[1], heads));
    tape.free(normed + qkv);
    join(tape, width);
    let normed = tape.run(all);
    tape.free(attended);
    let q = tape.run(costs.linear(rows, width, width));
    let attended = tape.run(costs.attention(queries, text, heads));
    tape.free(normed + q);
    join(tape, width);
    let normed = tape.run(all);
    tape.free(attended);
    let inner = MLP_RATIO * width;
    let wide = tape.run(costs.linear(rows, width, 2 * inner));
    tape.free(normed);
    let active = tape.run(costs.pointwise(rows * inner, 2));
    tape.free(wide);
    join(tape, inner);
    tape.free(active);
}
