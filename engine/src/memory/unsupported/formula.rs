//! What a request asks of a published model.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{ListedBlock, ListedComponent, Runs, UnsupportedModel};
use crate::{
    checkpoint::Role,
    memory::AttentionBytes,
    memory::{BlockWork, PartUse, StageKind, StageWork, Work, Workload},
};

/// Sides of the decoder's tiles in pixels, after the whole image.
const TILES: [u32; 5] = [1024, 768, 512, 384, 256];

/// Copies of the latents in f32 that a sampler holds: the latents, the prediction and one in between.
const SAMPLER_COPIES: u64 = 3;

/// Bytes of a value of latents and images, which are f32 outside of networks.
const F32: u64 = 4;

/// Colours of a pixel.
const COLOURS: u64 = 3;

/// The size of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestShape {
    /// Pixels.
    pub width: u32,
    /// Pixels.
    pub height: u32,
    /// Frames. Image models ignore this and generate one.
    pub frames: u32,
    /// Images, or videos, of the batch.
    pub images: u32,
    /// Denoising steps.
    pub steps: u32,
    /// Calls of the denoiser in a step: 1 for Euler's method, 2 for Heun's.
    pub calls_per_step: u32,
    /// Guidance branches.
    pub branches: u32,
    /// Tokens of the prompt, before templates and padding.
    pub prompt_tokens: u32,
}

/// Tokens of a prompt of a length, as a network sees it.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub(super) enum Tokens {
    /// Padded or cut to this many.
    Fixed { fixed: u32 },
    /// With a template around it.
    Added { added: u32 },
}

impl Tokens {
    fn count(self, prompt: u32) -> u32 {
        match self {
            Self::Fixed { fixed } => fixed,
            Self::Added { added } => prompt + added,
        }
    }
}

/// Monomial → coefficient. A monomial is a product of the letters of [`Sizes`]; `1` is a call.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(transparent)]
pub(super) struct Polynomial(BTreeMap<String, f64>);

/// What formulas are about.
#[derive(Debug, Clone, Copy)]
struct Sizes {
    /// `1`: calls of the network.
    calls: f64,
    /// `i`: tokens of the image.
    image: f64,
    /// `t`: tokens of the prompt.
    text: f64,
    /// `p`: latents of a frame.
    latents: f64,
    /// `f`: frames of latents.
    frames: f64,
}

impl Sizes {
    const ONE: Self = Self { calls: 1.0, image: 0.0, text: 0.0, latents: 0.0, frames: 0.0 };

    /// Of a letter; `None` for what no formula may contain.
    fn get(&self, letter: char) -> Option<f64> {
        match letter {
            '1' => Some(self.calls),
            'i' => Some(self.image),
            't' => Some(self.text),
            'p' => Some(self.latents),
            'f' => Some(self.frames),
            _ => None,
        }
    }
}

impl Polynomial {
    /// Whether every letter has a meaning.
    #[cfg(test)]
    pub(super) fn is_sound(&self) -> bool {
        self.0.keys().flat_map(|name| name.chars()).all(|letter| Sizes::ONE.get(letter).is_some())
    }

    /// Its value, not below zero.
    fn at(&self, sizes: &Sizes) -> f64 {
        let term = |(name, coefficient): (&String, &f64)| {
            coefficient * name.chars().filter_map(|letter| sizes.get(letter)).product::<f64>()
        };
        self.0.iter().map(term).sum::<f64>().max(0.0)
    }
}

impl UnsupportedModel {
    /// One image, or video, of the usual size with a prompt of 64 tokens.
    pub fn request(&self) -> RequestShape {
        RequestShape {
            width: self.defaults.width,
            height: self.defaults.height,
            frames: self.defaults.frames,
            images: 1,
            steps: self.defaults.steps,
            calls_per_step: 1,
            branches: self.branches(self.defaults.guidance),
            prompt_tokens: 64,
        }
    }

    /// What a run computes and holds, if each value of an activation takes `bytes_per_value` bytes.
    ///
    /// Every block serves all branches, one after the other, and all images of the batch at once, so what is
    /// carried from block to block is there for each branch and image, and what a block adds is there for each
    /// image. Attention never holds its scores. The prompt is the same for all images.
    ///
    /// A decoder works on one image or video of the batch after the other, whole or in tiles that share a quarter
    /// with their neighbours; on all frames of a video at once, except for Wan's, which go from frame to frame of latents and carry what convolutions over
    /// time still need.
    pub fn workload(&self, shape: &RequestShape, bytes_per_value: u64) -> Workload {
        let calls = u64::from(shape.steps) * u64::from(shape.calls_per_step);
        let (mut done, mut share) = (0, 0.0);
        let mut stages: Vec<StageWork> = Vec::new();
        for (part, component) in self.components.iter().enumerate() {
            let (kind, ways) = match component.role {
                Role::TextEncoder => {
                    (StageKind::EncodePrompt, vec![self.encoding(component, shape, bytes_per_value)])
                }
                Role::Denoiser => {
                    share += component.share;
                    let until = ((calls as f64 * share).round() as u64).min(calls);
                    let own = (until - done) as u32;
                    done = until;
                    (StageKind::Denoise, vec![self.denoising(component, shape, own, bytes_per_value)])
                }
                Role::Autoencoder => (StageKind::Decode, self.decoding(component, shape, bytes_per_value)),
            };
            let part_use = PartUse { part, ways };
            match stages.last_mut().filter(|stage| stage.kind == kind) {
                Some(stage) => stage.uses.push(part_use),
                None => stages.push(StageWork::new(kind, vec![part_use])),
            }
        }
        Workload { images: shape.images, steps: shape.steps, stages, attention: AttentionBytes::default() }
    }

    fn encoding(&self, component: &ListedComponent, shape: &RequestShape, bytes: u64) -> Work {
        let tokens = component.tokens.unwrap_or(self.text).count(shape.prompt_tokens);
        let sizes = Sizes { text: f64::from(tokens), ..Sizes::ONE };
        let run = Passes { calls: 1, branches: shape.branches, images: 1, bytes };
        component.work(&sizes, &run)
    }

    fn denoising(&self, component: &ListedComponent, shape: &RequestShape, calls: u32, bytes: u64) -> Work {
        let [width, height, frames] = self.latent_sides(shape);
        let patch = self.latents.patch.max(1);
        let tokens = frames * (width / patch) * (height / patch);
        let sizes = Sizes {
            image: f64::from(tokens),
            text: f64::from(self.text.count(shape.prompt_tokens)),
            ..Sizes::ONE
        };
        let run = Passes { calls, branches: shape.branches, images: shape.images, bytes };
        let mut work = component.work(&sizes, &run);
        let kept = component.kept_a_call * u64::from(calls) * u64::from(shape.branches);
        work.carried += kept * bytes + SAMPLER_COPIES * self.latents_bytes(shape);
        work
    }

    fn decoding(&self, component: &ListedComponent, shape: &RequestShape, bytes: u64) -> Vec<Work> {
        let [width, height, frames] = self.latent_sides(shape);
        let pixels = [shape.width, shape.height, if self.is_video() { shape.frames } else { 1 }];
        let values = pixels.iter().map(|&side| u64::from(side)).product::<u64>() * COLOURS;
        let outside = values * u64::from(shape.images) * F32 + self.latents_bytes(shape);

        let whole = width.max(height);
        let tiles = TILES.iter().map(|side| side / self.latents.scale).filter(|&tile| tile < whole);
        let way = |tile: Option<u32>| {
            let (columns, rows) = (cut(width, tile), cut(height, tile));
            let passes = (columns.len() * rows.len()) as u32;
            let sizes = |side: [u32; 2]| Sizes {
                latents: f64::from(side[0]) * f64::from(side[1]),
                frames: f64::from(frames),
                ..Sizes::ONE
            };
            let largest = |sides: &[u32]| sides.iter().copied().max().unwrap_or(0);
            let run = Passes { calls: passes * shape.images, branches: 1, images: 1, bytes };
            let mut work = component.work(&sizes([largest(&columns), largest(&rows)]), &run);
            // Tiles at the edges are smaller: a pass has the operations of the mean tile.
            let all: Vec<Sizes> = rows
                .iter()
                .flat_map(|&row| columns.iter().map(move |&column| sizes([column, row])))
                .collect();
            for (block, work) in component.blocks.iter().zip(&mut work.blocks) {
                let sum: f64 = all.iter().map(|sizes| block.operations.at(sizes)).sum();
                work.operations = sum / f64::from(passes);
            }
            work.tile = tile;
            work.carried += outside;
            work
        };
        std::iter::once(None).chain(tiles.map(Some)).map(way).collect()
    }

    fn is_video(&self) -> bool {
        self.latents.frames > 1
    }

    /// Width, height and frames of the latents.
    fn latent_sides(&self, shape: &RequestShape) -> [u32; 3] {
        let Self { latents, .. } = self;
        let patch = latents.patch.max(1);
        let side = |pixels: u32| pixels.max(1).div_ceil(latents.scale.max(1) * patch) * patch;
        let frames = if self.is_video() { shape.frames.max(1) } else { 1 };
        [side(shape.width), side(shape.height), (frames - 1).div_ceil(latents.frames.max(1)) + 1]
    }

    /// Bytes of the latents of the batch in f32.
    fn latents_bytes(&self, shape: &RequestShape) -> u64 {
        let sides: u64 = self.latent_sides(shape).iter().map(|&side| u64::from(side)).product();
        sides * u64::from(self.latents.channels) * u64::from(shape.images) * F32
    }
}

/// How often a component is walked through, and for what.
struct Passes {
    calls: u32,
    branches: u32,
    images: u32,
    /// Of a value.
    bytes: u64,
}

impl ListedComponent {
    /// The work of its blocks, with what all of them carry taken out.
    fn work(&self, sizes: &Sizes, run: &Passes) -> Work {
        let used = || self.blocks.iter().filter(|block| block.runs != Runs::Never && run.calls > 0);
        let always = used().map(|block| block.carried.at(sizes)).fold(f64::INFINITY, f64::min);
        let always = if always.is_finite() { always } else { 0.0 };
        let each = f64::from(run.branches) * f64::from(run.images);
        Work {
            tile: None,
            carried: bytes(always * each, run.bytes),
            blocks: self.blocks.iter().map(|block| block.work(sizes, run, always)).collect(),
        }
    }
}

impl ListedBlock {
    fn work(&self, sizes: &Sizes, run: &Passes, always: f64) -> BlockWork {
        let branches = f64::from(run.branches);
        let own = branches * (self.carried.at(sizes) - always).max(0.0) + self.values.at(sizes);
        match self.runs {
            Runs::Always if run.calls > 0 => BlockWork {
                passes: run.calls,
                operations: self.operations.at(sizes) * branches * f64::from(run.images),
                activations: bytes(own * f64::from(run.images), run.bytes),
                reads: run.branches,
                shared: None,
            },
            Runs::Once if run.calls > 0 => {
                let calls = Sizes { calls: f64::from(run.calls), ..*sizes };
                BlockWork {
                    passes: 1,
                    operations: self.operations.at(&calls) * branches,
                    activations: bytes(own, run.bytes),
                    reads: run.branches,
                    shared: None,
                }
            }
            _ => BlockWork { passes: 0, operations: 0.0, activations: 0, reads: 0, shared: None },
        }
    }
}

fn bytes(values: f64, bytes_per_value: u64) -> u64 {
    (values * bytes_per_value as f64).ceil() as u64
}

/// The sides of the tiles along a side; each shares a quarter with the next.
fn cut(side: u32, tile: Option<u32>) -> Vec<u32> {
    match tile {
        Some(tile) if tile < side => {
            let step = (tile - tile / 4).max(1) as usize;
            (0..side).step_by(step).map(|start| tile.min(side - start)).collect()
        }
        _ => vec![side],
    }
}
