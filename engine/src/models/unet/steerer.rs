//! The networks that steer a UNet.

use super::{Pass, Unet, control_net::ControlNet, t2i_adapter::T2iAdapter, union};
use crate::{
    checkpoint::{CheckpointError, Component, Part},
    models::{ControlImage, PrepareInput, SteeredBy, Steering},
    nn::{Result, bail},
    residency::{Blocks, RunError},
};

/// A network that steers a UNet.
#[derive(Debug, Clone)]
pub struct Steerer {
    network: Network,
    /// The numbers of the maps that it follows: several for a union that is given several times.
    maps: Vec<usize>,
}

#[derive(Debug, Clone)]
enum Network {
    ControlNet(Box<ControlNet>),
    T2iAdapter(T2iAdapter),
}

impl Steerer {
    /// Those in parts of checkpoints, each with its component.
    ///
    /// # Errors
    /// When one is nothing that fits the network, or a tensor is missing or has another shape.
    pub fn open(
        parts: &[&Part],
        steered: &Unet,
    ) -> std::result::Result<(Vec<Self>, Vec<Component>), CheckpointError> {
        let (mut all, mut components): (Vec<Self>, Vec<Component>) = (Vec::new(), Vec::new());
        let mut places: Vec<&Part> = Vec::new();
        for (number, part) in parts.iter().enumerate() {
            let known = places.iter().position(|other| other.path == part.path);
            if let Some(place) = known.filter(|_| union::is_union(&part.tensors)) {
                all[place].maps.push(number);
                continue;
            }
            let (network, component) = if T2iAdapter::is_one(&part.tensors) {
                let (network, component) = T2iAdapter::open(part, steered)?;
                (Network::T2iAdapter(network), component)
            } else {
                let (network, component) = ControlNet::open(part, steered)?;
                (Network::ControlNet(Box::new(network)), component)
            };
            all.push(Self { network, maps: vec![number] });
            components.push(component);
            places.push(part);
        }
        Ok((all, components))
    }

    /// What has to be known to use it.
    fn about(&self) -> SteeredBy {
        match &self.network {
            Network::ControlNet(net) => net.about(),
            Network::T2iAdapter(adapter) => adapter.about(),
        }
    }

    /// What has to be known of each of the maps that are followed, in their order.
    pub fn about_all(all: &[Self]) -> Vec<SteeredBy> {
        let each = |steerer: &Self| {
            let about = steerer.about();
            steerer.maps.iter().map(move |map| (*map, about)).collect::<Vec<_>>()
        };
        let mut about: Vec<(usize, SteeredBy)> = all.iter().flat_map(each).collect();
        about.sort_by_key(|(map, _)| *map);
        about.into_iter().map(|(_, about)| about).collect()
    }

    /// Number of its blocks.
    pub fn blocks(&self) -> usize {
        match &self.network {
            Network::ControlNet(net) => net.blocks(),
            Network::T2iAdapter(adapter) => adapter.blocks(),
        }
    }

    /// Computes what is needed once per stage.
    pub fn prepare(
        &self,
        blocks: Blocks<'_>,
        input: &PrepareInput<'_>,
    ) -> std::result::Result<Steering, RunError> {
        let maps: Vec<&ControlImage> =
            self.maps.iter().filter_map(|number| input.controls.get(*number)).collect();
        let first = || -> Result<&ControlImage> {
            let [first, ..] = maps[..] else { bail!("the map of a ControlNet is missing") };
            Ok(first)
        };
        match &self.network {
            Network::ControlNet(net) => net.prepare(blocks, input, (first()?, &maps[..])),
            Network::T2iAdapter(adapter) => adapter.prepare(blocks, first()?),
        }
    }

    /// Its pass at a noise level, if it passes through blocks in each step. They begin at `first`.
    pub fn pass<'a>(&'a self, steering: &'a Steering, sigma: f32, first: usize) -> Result<Option<Pass<'a>>> {
        match &self.network {
            Network::ControlNet(net) => net.pass(steering, sigma, first).map(Some),
            Network::T2iAdapter(_) => Ok(None),
        }
    }
}
