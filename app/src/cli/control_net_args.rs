//! ControlNets of a run.

use std::{collections::BTreeMap, path::PathBuf};

use sluice_engine::{
    checkpoint::MapKind,
    request::{ControlMode, ControlNet, Preprocessor},
    units::counted,
};

use super::{exit::refuse, names::named};

/// ControlNets, each with its image. All options but the images may be left out, and count in the order in which they
/// are given.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct ControlNetArgs {
    /// A ControlNet that steers the image, made for the model: a .safetensors file, or a folder as diffusers has it. Can be
    /// given several times.
    #[arg(long, value_name = "PATH")]
    control_net: Vec<PathBuf>,
    /// The image that a ControlNet follows, in the order of the ControlNets: edges, depths, poses, or an image that a
    /// preprocessor makes a map of. Those that follow the input image (inpaint) take none.
    #[arg(long, value_name = "FILE", requires = "control_net")]
    control_image: Vec<PathBuf>,
    /// What to make of the image first: white edges (canny), lines (lineart) or thick lines (scribble) on black, black and
    /// white swapped (invert), the image without colours (gray), blurred (blur) or without details (tile), a grid of its
    /// colours (color), how near things are (depth), the joints of persons (pose), what is where (segments), soft edges
    /// (soft_edge), or nothing; or the input image without its masked part (inpaint).
    #[arg(long, value_name = "NAME", value_parser = named(&Preprocessor::ALL, Preprocessor::name), requires = "control_net")]
    control_preprocessor: Vec<Preprocessor>,
    /// What kind of image a ControlNet follows, for those that follow several (unions). Left out, it is what the preprocessor
    /// makes.
    #[arg(long, value_name = "NAME", value_parser = named(&ControlMode::ALL, ControlMode::name), requires = "control_net")]
    control_mode: Vec<ControlMode>,
    /// What makes depth maps: a .safetensors file of Depth Anything V2, or its folder as transformers saves it.
    #[arg(long, value_name = "PATH", requires = "control_preprocessor")]
    depth_model: Option<PathBuf>,
    /// What finds poses: a .safetensors file of YOLOv8-pose.
    #[arg(long, value_name = "PATH", requires = "control_preprocessor")]
    pose_model: Option<PathBuf>,
    /// What finds segments: a .safetensors file of SegFormer for ADE20K, or its folder as transformers saves it.
    #[arg(long, value_name = "PATH", requires = "control_preprocessor")]
    segment_model: Option<PathBuf>,
    /// What finds soft edges: a .safetensors file of HED.
    #[arg(long, value_name = "PATH", requires = "control_preprocessor")]
    soft_edge_model: Option<PathBuf>,
    /// How strongly a ControlNet counts: 1 is as trained.
    #[arg(long, value_name = "NUMBER", requires = "control_net", allow_negative_numbers = true)]
    control_weight: Vec<f32>,
    /// The fraction of the steps before which a ControlNet has no effect.
    #[arg(long, value_name = "FRACTION", requires = "control_net")]
    control_start: Vec<f64>,
    /// The fraction of the steps after which a ControlNet has no effect.
    #[arg(long, value_name = "FRACTION", requires = "control_net")]
    control_end: Vec<f64>,
}

impl ControlNetArgs {
    /// What makes the maps of each kind.
    pub fn estimators(&self) -> BTreeMap<MapKind, PathBuf> {
        let given = |kind| match kind {
            MapKind::Depth => &self.depth_model,
            MapKind::Pose => &self.pose_model,
            MapKind::Segments => &self.segment_model,
            MapKind::SoftEdge => &self.soft_edge_model,
        };
        MapKind::ALL.into_iter().filter_map(|kind| Some((kind, given(kind).clone()?))).collect()
    }

    /// The ControlNets.
    ///
    /// # Errors
    /// Fails if there are not as many images as ControlNets that follow one.
    pub fn nets(&self) -> anyhow::Result<Vec<ControlNet>> {
        let usual = ControlNet::default();
        let preprocessor = |index| given(&self.control_preprocessor, index, usual.preprocessor);
        let follow = (0..self.control_net.len()).filter(|index| !preprocessor(*index).takes_input()).count();
        if follow != self.control_image.len() {
            let advice = "Give a --control-image for each --control-net.".to_owned();
            let [nets, images] = [counted(follow, "ControlNet"), counted(self.control_image.len(), "image")];
            return Err(refuse(format!("{nets} and {images} for them are given"), advice));
        }
        let mut images = self.control_image.iter();
        let net = |(index, model): (usize, &PathBuf)| {
            let preprocessor = preprocessor(index);
            let image = if preprocessor.takes_input() { None } else { images.next() };
            ControlNet {
                model: model.clone(),
                image: image.cloned().unwrap_or_default(),
                preprocessor,
                mode: self.control_mode.get(index).copied(),
                weight: given(&self.control_weight, index, usual.weight),
                start: given(&self.control_start, index, usual.start),
                end: given(&self.control_end, index, usual.end),
                fit: usual.fit,
            }
        };
        Ok(self.control_net.iter().enumerate().map(net).collect())
    }
}

fn given<T: Copy>(all: &[T], index: usize, usual: T) -> T {
    all.get(index).copied().unwrap_or(usual)
}
