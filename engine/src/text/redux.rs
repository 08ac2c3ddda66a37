//! FLUX.1 Redux: the image encoder of SigLIP, and two layers that convert its states to tokens beside those of T5.

use std::path::{Path, PathBuf};

use super::{
    VisionPatches, VisionTower,
    siglip::SiglipConfig,
    vision_tower::{CHANNELS, SeenSize},
};
use crate::{
    checkpoint::{BlockSpec, Checkpoint, CheckpointError, Component, Part, Role, TensorTable},
    nn::{Tensor, silu},
    residency::{Blocks, RunError},
};

const UP: &str = "redux_up";
const DOWN: &str = "redux_down";

/// A Redux model with its image encoder. The weights come from a store.
#[derive(Debug, Clone)]
pub struct ReduxTower {
    encoder: SiglipConfig,
}

impl ReduxTower {
    /// Opens the file or the folder at a path, and finds the image encoder in it, near it or in `folders`.
    ///
    /// # Errors
    /// When it is no Redux model, there is no image encoder, a configuration is wrong, or a tensor is missing or has the
    /// wrong shape.
    pub fn open(path: &Path, folders: &[PathBuf]) -> Result<(Self, Component), CheckpointError> {
        let mut checkpoint = Checkpoint::open(path, folders)?;
        loop {
            match Self::find(&checkpoint) {
                Err(CheckpointError::MissingPart { role, .. }) if checkpoint.look_further(role) => {}
                found => return found,
            }
        }
    }

    fn find(checkpoint: &Checkpoint) -> Result<(Self, Component), CheckpointError> {
        let Some(own) = checkpoint.parts.iter().find(|part| Self::width_of(&part.tensors).is_some()) else {
            let reason = "it has no layers of Redux".to_owned();
            return Err(CheckpointError::Redux { path: checkpoint.path.clone(), reason });
        };
        let shape = |name: &str| own.tensors.get(name).map_or(&[][..], |tensor| tensor.shape());
        let (width, inner) = match shape("redux_up.weight") {
            [inner, width] => (*width, *inner),
            _ => (0, 0),
        };
        let outputs = shape("redux_down.weight").first().copied().unwrap_or_default();
        let fits = |part: &&Part| SiglipConfig::width_of(&part.tensors) == Some(width);
        let Some(seeing) = checkpoint.candidates(Role::TextEncoder).find(fits) else {
            let expected = format!("no SigLIP image encoder of width {width} was found");
            return Err(checkpoint.missing(Role::TextEncoder, &expected));
        };
        let encoder = seeing.config(SiglipConfig::from_shapes)?;
        encoder.check(seeing)?;
        let mut blueprint = encoder.blueprint();
        blueprint.push(BlockSpec::stem("redux").linear(UP, inner, width).linear(DOWN, outputs, inner));
        let mut tensors: TensorTable = seeing.tensors.clone();
        tensors.extend(own.tensors.iter().map(|(name, tensor)| (name.clone(), tensor.clone())));
        let component = Component::bind(
            Role::TextEncoder,
            "SigLIP and Redux",
            &blueprint,
            &tensors,
            SiglipConfig::published_name,
            &own.path,
        )?;
        Ok((Self { encoder }, component))
    }

    /// Width of the states that the layers of Redux in `tensors` read, if there are any.
    pub fn width_of(tensors: &TensorTable) -> Option<usize> {
        tensors.get(&format!("{UP}.weight"))?.shape().get(1).copied()
    }
}

impl VisionTower for ReduxTower {
    /// Any image is scaled to the square that the encoder reads.
    fn size(&self, own: [u32; 2], _: [u32; 2]) -> SeenSize {
        let along = self.encoder.patches_along();
        SeenSize { before: None, scaled: own, read: [self.encoder.image_size as u32; 2], grid: [along; 2] }
    }

    fn patches(&self) -> VisionPatches {
        VisionPatches { side: self.encoder.patch_size, frames: 1, merge: 1, window: usize::MAX }
    }

    fn spread(&self) -> [[f32; CHANNELS]; 2] {
        [[0.5; CHANNELS]; 2]
    }

    fn is_beside(&self) -> bool {
        true
    }

    fn encode(
        &self,
        blocks: Blocks<'_>,
        patches: Tensor,
        grids: &[[usize; 2]],
    ) -> Result<Vec<Tensor>, RunError> {
        let along = self.encoder.patches_along();
        let values = self.patches().values();
        let mut x = patches.reshape((grids.len(), along * along, values))?;
        drop(patches);
        let redux = self.encoder.num_hidden_layers + 2;
        blocks.walk(0..redux + 1, |index, w| {
            x = if index == redux {
                w.linear(DOWN, &silu(&w.linear(UP, &x)?)?)?
            } else {
                self.encoder.pass(w, index, &x)?
            };
            Ok(())
        })?;
        let image = |index: usize| x.narrow(0, index, 1)?.reshape((along, along, ()));
        Ok((0..grids.len()).map(image).collect::<crate::nn::Result<_>>()?)
    }
}
