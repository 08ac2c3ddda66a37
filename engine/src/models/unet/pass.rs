//! A pass through the nodes of a network, all guidance branches together.

use std::ops::Range;

use super::{
    Unet,
    control_net::Hint,
    nodes::{Kind, Node, transformer_names},
};
use crate::{
    models::Prepared,
    nn::{Conv2d, DType, Mask, Result, Tensor, add, attention, bail, geglu, upsample_nearest_2x},
    residency::Weights,
};

/// Added to the variance before a spatial transformer.
const SPATIAL_EPS: f64 = 1e-6;
/// Added to the variance in a transformer block.
const EPS: f64 = 1e-5;

/// A pass through the nodes of a network.
pub struct Pass<'a> {
    unet: &'a Unet,
    prepared: &'a Prepared,
    /// The noise level.
    sigma: f32,
    /// What each residual block adds for the timestep.
    times: &'a [Tensor],
    /// Index of the first node's block.
    first: usize,
    branches: Vec<Branch>,
    /// For each branch, what is added to the outputs that are kept, and in the middle, the first one last.
    steered: Vec<Vec<Tensor>>,
    /// Added to the first hidden values.
    hint: Option<Hint<'a>>,
    /// The features of T2I-Adapters, each level by level.
    features: Vec<&'a [Tensor]>,
    /// Factor of what is tapped.
    weight: f64,
}

/// The state of one guidance branch in the network.
pub struct Branch {
    /// `[batch, channels, height, width]`.
    x: Tensor,
    /// Outputs kept on the way down; in a ControlNet, what was tapped.
    kept: Vec<Tensor>,
    /// What is still to be added to outputs, the next one last.
    steered: Vec<Tensor>,
    /// Inside a spatial transformer, `[batch, height · width, channels]`.
    tokens: Option<Tensor>,
}

impl Branch {
    /// Keeps the output for the way up, with what is to be added to it.
    fn keep(&mut self) -> Result<()> {
        self.kept.push(match self.steered.pop() {
            Some(steered) => add(&self.x, &steered)?,
            None => self.x.clone(),
        });
        Ok(())
    }

    fn take_kept(&mut self) -> Result<Tensor> {
        match self.kept.pop() {
            Some(kept) => Ok(kept),
            None => bail!("the way up needs more outputs than the way down kept"),
        }
    }
}

impl<'a> Pass<'a> {
    /// A pass at a noise level. The blocks of the network begin at `first`.
    pub fn new(unet: &'a Unet, prepared: &'a Prepared, sigma: f32, first: usize) -> Result<Self> {
        Ok(Self {
            unet,
            prepared,
            sigma,
            times: prepared.modulation(sigma)?,
            first: first + unet.first_node(),
            branches: Vec::new(),
            steered: Vec::new(),
            hint: None,
            features: Vec::new(),
            weight: 1.0,
        })
    }

    /// The pass of a ControlNet with this hint, and what it taps `weight` times as strong.
    pub fn steering(self, hint: Hint<'a>, weight: f32) -> Self {
        Self { hint: Some(hint), weight: weight.into(), ..self }
    }

    /// The pass with the features of T2I-Adapters.
    pub fn with_features(self, features: Vec<&'a [Tensor]>) -> Self {
        Self { features, ..self }
    }

    /// The blocks of its nodes.
    pub fn blocks(&self) -> Range<usize> {
        self.first..self.first + self.unet.nodes.len()
    }

    /// Takes what passes through ControlNets have tapped, to add it.
    pub fn follow(&mut self, nets: &mut Vec<Pass<'_>>) -> Result<()> {
        for net in nets.drain(..) {
            let tapped = net.branches.into_iter().map(|branch| branch.kept);
            if self.steered.is_empty() {
                self.steered = tapped.collect();
                continue;
            }
            for (all, tapped) in self.steered.iter_mut().zip(tapped) {
                for (sum, tapped) in all.iter_mut().zip(tapped) {
                    *sum = add(sum, &tapped)?;
                }
            }
        }
        self.steered.iter_mut().for_each(|steered| steered.reverse());
        Ok(())
    }

    /// Passes the node of a block. `input` is what the network reads.
    pub fn node(&mut self, w: &Weights, block: usize, input: impl FnOnce() -> Result<Tensor>) -> Result<()> {
        let number = block - self.first;
        let node = &self.unet.nodes[number];
        if number == 0 {
            let mut x = w.conv2d("conv_in", &input()?, Conv2d::SAME_3X3)?;
            if let Some(hint) = self.hint {
                x = hint.added(w, x, self.sigma)?;
            }
            let mut steered = std::mem::take(&mut self.steered).into_iter();
            for _ in &self.prepared.branches {
                let steered = steered.next().unwrap_or_default();
                let mut branch = Branch { x: x.clone(), kept: Vec::new(), steered, tokens: None };
                if node.is_kept {
                    branch.keep()?;
                }
                self.branches.push(branch);
            }
            return Ok(());
        }
        let Self { unet, prepared, sigma, times, weight, .. } = *self;
        let features: Vec<&Tensor> = match node.feature {
            Some(level) => self.features.iter().filter_map(|features| features.get(level)).collect(),
            None => Vec::new(),
        };
        w.branches(&mut self.branches, |w, place, branch| {
            match node.kind {
                Kind::Resnet { number, kept, .. } => {
                    let time = times[number].get(place.min(times[number].dim(0)? - 1))?;
                    unet.resnet(w, branch, kept > 0, &time)?;
                }
                Kind::Transformer { number, .. } => {
                    let acting = prepared.images.iter().filter(|images| images.acts_at(sigma));
                    let images = acting.map(|images| (&images.seen[place][number], images.weight));
                    unet.transformer(w, branch, node, (&prepared.seen[place][number], images))?;
                }
                Kind::Down { .. } => branch.x = w.conv2d("conv", &branch.x, Conv2d::HALVE_3X3)?,
                Kind::Up { .. } => {
                    branch.x = w.conv2d("conv", &doubled(branch)?, Conv2d::SAME_3X3)?;
                }
                Kind::Tap { .. } => {
                    let tapped = w.conv2d(&node.name, &branch.x, Conv2d::POINTWISE)?;
                    branch.kept.push(if weight == 1.0 { tapped } else { (tapped * weight)? });
                }
                Kind::Input { .. } | Kind::Output { .. } => {
                    let (groups, eps) = (unet.config.norm_num_groups, unet.config.norm_eps);
                    branch.x = w.group_norm_silu("conv_norm_out", &branch.x, groups, eps)?;
                    branch.x = w.conv2d("conv_out", &branch.x, Conv2d::SAME_3X3)?;
                }
            }
            for feature in &features {
                branch.x = branch.x.broadcast_add(feature)?;
            }
            if node.is_kept {
                branch.keep()?;
            } else if node.is_middle
                && let Some(steered) = branch.steered.pop()
            {
                branch.x = add(&branch.x, &steered)?;
            }
            Ok(())
        })
    }

    /// The output of each branch.
    pub fn into_outputs(self) -> Vec<Tensor> {
        self.branches.into_iter().map(|branch| branch.x).collect()
    }
}

impl Unet {
    /// `time` `[outputs]` is added between the two convolutions, as part of the first one's bias.
    fn resnet(&self, w: &Weights, branch: &mut Branch, takes_kept: bool, time: &Tensor) -> Result<()> {
        let (groups, eps) = (self.config.norm_num_groups, self.config.norm_eps);
        if takes_kept {
            let kept = branch.take_kept()?;
            branch.x = Tensor::cat(&[&branch.x, &kept], 1)?;
        }
        let x = &branch.x;
        let mut h = w.group_norm_silu("norm1", x, groups, eps)?;
        let bias = (w.get("conv1.bias")?.to_dtype(DType::F32)? + time.to_dtype(DType::F32)?)?;
        h = w.conv2d_with("conv1", &h, Some(&bias), Conv2d::SAME_3X3)?;
        h = w.group_norm_silu("norm2", &h, groups, eps)?;
        h = w.conv2d("conv2", &h, Conv2d::SAME_3X3)?;
        branch.x = if w.has("conv_shortcut.weight") {
            add(&w.conv2d("conv_shortcut", x, Conv2d::POINTWISE)?, &h)?
        } else {
            add(x, &h)?
        };
        Ok(())
    }

    /// One block of a spatial transformer. `seen` is its keys and values of the prompt, `images` are those of images with
    /// their weights.
    fn transformer<'a>(
        &self,
        w: &Weights,
        branch: &mut Branch,
        node: &Node,
        (seen, images): (&[Tensor; 2], impl Iterator<Item = (&'a [Tensor; 2], f32)>),
    ) -> Result<()> {
        let Kind::Transformer { heads, is_first, is_last, .. } = node.kind else { return Ok(()) };
        let (_, inner) = transformer_names(node, !is_first && !is_last);
        let name = |layer: &str| format!("{inner}{layer}");
        let (batch, channels, height, width) = branch.x.dims4()?;
        let split = |x: Tensor| x.reshape((x.dim(0)?, x.dim(1)?, heads, ()));

        let mut x = match branch.tokens.take() {
            Some(tokens) => tokens,
            None => {
                let mut h = w.group_norm("norm", &branch.x, self.config.norm_num_groups, SPATIAL_EPS)?;
                h = h.flatten_from(2)?.transpose(1, 2)?.contiguous()?;
                w.linear("proj_in", &h)?
            }
        };
        let mut h = w.layer_norm(&name("norm1"), &x, EPS)?;
        let project = |layer: &str| split(w.linear(&name(layer), &h)?);
        let (q, k, v) = (project("attn1.to_q")?, project("attn1.to_k")?, project("attn1.to_v")?);
        h = attention(&q, &k, &v, Mask::None)?.flatten_from(2)?;
        drop((q, k, v));
        x = add(&x, &w.linear(&name("attn1.to_out.0"), &h)?)?;

        h = w.layer_norm(&name("norm2"), &x, EPS)?;
        let q = split(w.linear(&name("attn2.to_q"), &h)?)?;
        let for_all = |x: &Tensor| -> Result<Tensor> {
            let x = split(x.clone())?;
            let (_, tokens, heads, width) = x.dims4()?;
            x.broadcast_as((batch, tokens, heads, width))
        };
        let attended =
            |[k, v]: &[Tensor; 2]| attention(&q, &for_all(k)?, &for_all(v)?, Mask::None)?.flatten_from(2);
        h = attended(seen)?;
        for (images, weight) in images {
            h = add(&h, &(attended(images)? * f64::from(weight))?)?;
        }
        drop(q);
        x = add(&x, &w.linear(&name("attn2.to_out.0"), &h)?)?;

        h = w.layer_norm(&name("norm3"), &x, EPS)?;
        h = w.linear(&name("ff.net.0.proj"), &h)?;
        h = geglu(&h)?;
        x = add(&x, &w.linear(&name("ff.net.2"), &h)?)?;
        drop(h);
        if !is_last {
            branch.tokens = Some(x);
            return Ok(());
        }
        x = w.linear("proj_out", &x)?;
        x = x.transpose(1, 2)?.reshape((batch, channels, height, width))?;
        branch.x = add(&branch.x, &x)?;
        Ok(())
    }
}

/// Upsamples to twice the height and width, cropped to the size of what was kept at that resolution.
fn doubled(branch: &Branch) -> Result<Tensor> {
    let x = upsample_nearest_2x(&branch.x)?;
    let Some(kept) = branch.kept.last() else { return Ok(x) };
    let (_, _, height, width) = kept.dims4()?;
    x.narrow(2, 0, height)?.narrow(3, 0, width)
}
