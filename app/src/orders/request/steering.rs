//! What steers the result beside its prompt: control clips, ControlNets, image prompts and regions.

use std::{collections::BTreeMap, path::PathBuf};

use sluice_engine::{
    checkpoint::MapKind,
    request::{Area, Control, ControlNet, ImagePrompt, Region, Regions, Request},
    session::ModelSummary,
    source::{SourceError, count_frames},
};

use crate::orders::{ControlNetOrder, ImagePromptOrder, Inputs, Order, OrderError, RegionOrder, Shelf};

impl Order {
    /// What controls a clip.
    pub(super) fn control(&self, inputs: &mut Inputs) -> Result<Option<Control>, OrderError> {
        let Some(order) = &self.control else { return Ok(None) };
        let usual = Control::default();
        let video = order.video.as_ref().map(|video| inputs.clip(video, "the control clip")).transpose()?;
        let mask = order.mask.as_ref().map(|mask| inputs.picture_or_clip(mask, "the control mask"));
        Ok(Some(Control {
            video,
            range: order.range.unwrap_or(usual.range),
            preprocessor: order.preprocessor,
            mask: mask.transpose()?,
            strength: order.strength.unwrap_or(usual.strength),
            start: order.start.unwrap_or(usual.start),
            end: order.end.unwrap_or(usual.end),
            fit: order.fit.unwrap_or(usual.fit),
        }))
    }

    /// The request with as many frames as its control clip has, as far as the model can generate them, unless the order says
    /// how many.
    pub(super) fn with_frames(
        &self,
        request: Request,
        summary: &ModelSummary,
    ) -> Result<Request, OrderError> {
        let clip = request.control.as_ref().and_then(Control::clip).filter(|_| self.frames.is_none());
        let (Some(clip), Some(multiple)) = (clip, summary.frame_multiple) else { return Ok(request) };
        let frames = count_frames(&clip, request.frame_rate).map_err(SourceError::from)?;
        let frames = frames.map(|frames| 1 + frames.saturating_sub(1) / multiple * multiple);
        Ok(Request { frames: frames.unwrap_or(request.frames), ..request })
    }

    pub(super) fn nets(&self, shelf: &Shelf, inputs: &mut Inputs) -> Result<Vec<ControlNet>, OrderError> {
        let usual = ControlNet::default();
        let net = |order: &ControlNetOrder| {
            Ok(ControlNet {
                model: shelf.control_net(&order.model)?,
                image: match order.preprocessor.takes_input() {
                    true => PathBuf::new(),
                    false => inputs.file(&order.image, "the image of a ControlNet")?,
                },
                preprocessor: order.preprocessor,
                mode: order.mode,
                weight: order.weight.unwrap_or(usual.weight),
                start: order.start.unwrap_or(usual.start),
                end: order.end.unwrap_or(usual.end),
                fit: order.fit.unwrap_or(usual.fit),
            })
        };
        self.control_nets.iter().map(net).collect()
    }

    pub(super) fn image_prompts(
        &self,
        shelf: &Shelf,
        inputs: &mut Inputs,
    ) -> Result<Vec<ImagePrompt>, OrderError> {
        let usual = ImagePrompt::default();
        let prompt = |order: &ImagePromptOrder| {
            let images = order.images.iter().map(|image| inputs.file(image, "an image prompt"));
            Ok(ImagePrompt {
                adapter: shelf.ip_adapter(&order.adapter)?,
                images: images.collect::<Result<_, OrderError>>()?,
                weight: order.weight.unwrap_or(usual.weight),
                start: order.start.unwrap_or(usual.start),
                end: order.end.unwrap_or(usual.end),
            })
        };
        self.image_prompts.iter().map(prompt).collect()
    }

    pub(super) fn regions(&self, inputs: &mut Inputs) -> Result<Regions, OrderError> {
        let (usual, whole) = (Regions::default(), Region::default());
        let region = |order: &RegionOrder| {
            Ok(Region {
                prompt: order.prompt.clone(),
                area: match (&order.mask, order.sides) {
                    (Some(_), Some(_)) => return Err(OrderError::BoxAndMask),
                    (Some(mask), None) => Area::Mask(inputs.file(mask, "the mask of a region")?),
                    (None, Some(sides)) => Area::Box(sides),
                    (None, None) => whole.area.clone(),
                },
                weight: order.weight.unwrap_or(whole.weight),
            })
        };
        Ok(Regions {
            all: self.regions.iter().map(region).collect::<Result<_, OrderError>>()?,
            base: self.region_base.unwrap_or(usual.base),
            fade: self.region_fade.unwrap_or(usual.fade),
        })
    }

    /// What makes the maps that are named, or that a ControlNet or a control clip follows.
    pub(super) fn estimators(&self, shelf: &Shelf) -> Result<BTreeMap<MapKind, PathBuf>, OrderError> {
        let mut estimators = BTreeMap::new();
        for kind in MapKind::ALL {
            let named = match kind {
                MapKind::Depth => &self.depth_model,
                MapKind::Pose => &self.pose_model,
                MapKind::Segments => &self.segment_model,
                MapKind::SoftEdge => &self.soft_edge_model,
            };
            let nets = self.control_nets.iter().map(|net| net.preprocessor);
            let mut all = nets.chain(self.control.iter().map(|control| control.preprocessor));
            let follows = all.any(|preprocessor| preprocessor.estimated() == Some(kind));
            match (named, follows) {
                (Some(name), _) => estimators.insert(kind, shelf.estimator(kind, name)?),
                (None, true) => estimators.insert(kind, shelf.first_estimator(kind)?),
                (None, false) => None,
            };
        }
        Ok(estimators)
    }
}
