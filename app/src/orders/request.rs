//! The request that an order becomes.

use std::{collections::BTreeMap, path::PathBuf};

use image::GrayImage;
use sluice_engine::{
    adapters::FewSteps,
    checkpoint::MapKind,
    request::{
        AdapterUse, Area, Control, ControlNet, Detailer, Enlarger, Hires, ImagePrompt, ModelSource, Outpaint,
        Refiner, Region, Regions, Request, SourceImage, SourceMask,
    },
    session::ModelSummary,
    source::{SourceError, count_frames},
};

use super::{
    DetailerOrder, Inputs, MaskOrder, Order, OrderError, OutpaintOrder, RegionOrder, Shelf, sampler, schedule,
};
use crate::{input_sizes::size_of_inputs, seed::random_seed};

/// The name that stands for latents among upscalers.
const LATENT: &str = "latent";

impl Order {
    /// The model, or `usual` if none is named.
    ///
    /// # Errors
    /// When no model has the name.
    pub fn source(&self, shelf: &Shelf, usual: &ModelSource) -> Result<ModelSource, OrderError> {
        self.model.as_deref().map_or_else(|| Ok(usual.clone()), |name| shelf.model(name))
    }

    /// The request, for a model with this summary. The files that it refers to are on the shelf or in the inputs.
    ///
    /// # Errors
    /// When a name is not known or a picture is none. Numbers are checked with the request.
    pub fn request(
        &self,
        summary: &ModelSummary,
        shelf: &Shelf,
        inputs: &mut Inputs,
    ) -> Result<Request, OrderError> {
        let adapters = self.adapters(shelf)?;
        let usual = summary.defaults.given_to(Request::default());
        let few = adapters.iter().find_map(|adapter| FewSteps::of(&adapter.path));
        let usual = few.map_or(usual.clone(), |few| few.given_to(usual));
        let (sampler, implied) = match &self.sampler {
            Some(name) => sampler(name)?,
            None => (usual.sampler, None),
        };
        let schedule = match &self.schedule {
            Some(name) => schedule(name)?,
            None => implied.unwrap_or(usual.schedule),
        };
        let refiner = match &self.refiner {
            Some(refiner) => Some(Refiner {
                path: shelf.model_path(&refiner.model)?,
                switch: refiner.switch.unwrap_or(Refiner::SWITCH),
            }),
            None => None,
        };
        let request = Request {
            model: summary.source.clone(),
            prompt: self.prompt.clone(),
            negative_prompt: self.negative_prompt.clone().unwrap_or_else(|| usual.negative_prompt.clone()),
            styles: self.chosen_styles(&summary.source)?,
            width: self.width.unwrap_or(usual.width),
            height: self.height.unwrap_or(usual.height),
            frames: self.frames.unwrap_or(usual.frames),
            frame_rate: self.fps.unwrap_or(usual.frame_rate),
            steps: self.steps.unwrap_or(usual.steps),
            guidance: self.guidance.unwrap_or(usual.guidance),
            seed: self.seed.unwrap_or_else(random_seed),
            variation: self.variation,
            batch: self.batch_size.unwrap_or(1),
            sampler,
            schedule,
            shift: self.shift.or(usual.shift),
            guiding: self.guiding(usual.guiding),
            step_cache: self.step_cache.unwrap_or(usual.step_cache),
            clip_skip: self.clip_skip.unwrap_or(usual.clip_skip),
            adapters,
            hires: self.hires(shelf)?,
            control: self.control(inputs)?,
            control_nets: self.nets(shelf, inputs)?,
            image_prompts: self.image_prompts(shelf, inputs)?,
            estimators: self.estimators(shelf)?,
            detailers: self.detailers(shelf)?,
            regions: self.regions(inputs)?,
            refiner,
            ..usual
        };
        let request = self.with_frames(request, summary)?;
        self.with_pictures(request, summary, inputs)
    }

    fn adapters(&self, shelf: &Shelf) -> Result<Vec<AdapterUse>, OrderError> {
        let uses = self.loras.iter().map(|lora| {
            let path = shelf.adapter(&lora.name)?;
            let usual = || FewSteps::of(&path).map_or(1.0, |few| few.weight);
            Ok(AdapterUse { weight: lora.weight.unwrap_or_else(usual), path })
        });
        uses.collect()
    }

    fn hires(&self, shelf: &Shelf) -> Result<Option<Hires>, OrderError> {
        let Some(order) = &self.hires else { return Ok(None) };
        let usual = Hires::default();
        let enlarger = match order.upscaler.as_deref() {
            None => usual.enlarger,
            Some(name) if name.eq_ignore_ascii_case(LATENT) => Enlarger::Latent,
            Some(name) => Enlarger::Upscaler(shelf.upscaler(name)?),
        };
        Ok(Some(Hires {
            scale: order.scale.unwrap_or(usual.scale),
            strength: order.strength.unwrap_or(usual.strength),
            steps: order.steps,
            enlarger,
        }))
    }

    /// What controls a clip.
    fn control(&self, inputs: &mut Inputs) -> Result<Option<Control>, OrderError> {
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
    fn with_frames(&self, request: Request, summary: &ModelSummary) -> Result<Request, OrderError> {
        let clip = request.control.as_ref().and_then(Control::clip).filter(|_| self.frames.is_none());
        let (Some(clip), Some(multiple)) = (clip, summary.frame_multiple) else { return Ok(request) };
        let frames = count_frames(&clip, request.frame_rate).map_err(SourceError::from)?;
        let frames = frames.map(|frames| 1 + frames.saturating_sub(1) / multiple * multiple);
        Ok(Request { frames: frames.unwrap_or(request.frames), ..request })
    }

    fn nets(&self, shelf: &Shelf, inputs: &mut Inputs) -> Result<Vec<ControlNet>, OrderError> {
        let usual = ControlNet::default();
        let net = |order: &super::ControlNetOrder| {
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

    fn image_prompts(&self, shelf: &Shelf, inputs: &mut Inputs) -> Result<Vec<ImagePrompt>, OrderError> {
        let usual = ImagePrompt::default();
        let prompt = |order: &super::ImagePromptOrder| {
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

    fn detailers(&self, shelf: &Shelf) -> Result<Vec<Detailer>, OrderError> {
        let detailer = |order: &DetailerOrder| {
            let usual = Detailer::new(shelf.detector(&order.model)?);
            Ok(Detailer {
                confidence: order.confidence.unwrap_or(usual.confidence),
                most: order.most.unwrap_or(usual.most),
                order: order.order.unwrap_or(usual.order),
                grow: order.grow.unwrap_or(usual.grow),
                blur: order.blur.unwrap_or(usual.blur),
                padding: order.padding.unwrap_or(usual.padding),
                strength: order.strength.unwrap_or(usual.strength),
                steps: order.steps,
                prompt: order.prompt.clone(),
                negative_prompt: order.negative_prompt.clone(),
                ..usual
            })
        };
        self.detailers.iter().map(detailer).collect()
    }

    fn regions(&self, inputs: &mut Inputs) -> Result<Regions, OrderError> {
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
    fn estimators(&self, shelf: &Shelf) -> Result<BTreeMap<MapKind, PathBuf>, OrderError> {
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

    fn with_pictures(
        &self,
        request: Request,
        summary: &ModelSummary,
        inputs: &mut Inputs,
    ) -> Result<Request, OrderError> {
        if self.image.is_none() && self.mask.is_some() {
            return Err(OrderError::MaskAlone);
        }
        if self.image.is_none() && self.strength.is_some() {
            return Err(OrderError::StrengthAlone);
        }
        if self.image.is_none() && self.outpaint.is_some() {
            return Err(OrderError::OutpaintAlone);
        }
        let takes = summary.references.as_ref();
        // As `--image` of the command line: models that edit images take it as a reference.
        let edits = takes.is_some_and(|takes| takes.edits)
            && self.mask.is_none()
            && self.outpaint.is_none()
            && self.strength.is_none();
        let mut references = Vec::new();
        let mut source = None;
        if let Some(given) = &self.image {
            let path = inputs.file(given, "the input image")?;
            if edits {
                references.push(path);
            } else {
                let usual = SourceImage::default();
                let usual_strength = if self.outpaint.is_some() { 1.0 } else { usual.strength };
                let mask = self.mask.as_ref().map(|mask| mask_of(mask, inputs)).transpose()?;
                source = Some(SourceImage {
                    path,
                    strength: self.strength.unwrap_or(usual_strength),
                    fit: self.fit.unwrap_or(usual.fit),
                    mask,
                    outpaint: self.outpaint.map(outpaint_of).unwrap_or_default(),
                });
            }
        }
        for given in &self.references {
            references.push(inputs.file(given, "a reference image")?);
        }
        let request = Request { source, references, ..request };
        if self.width.is_some() || self.height.is_some() {
            return Ok(request);
        }
        let size = size_of_inputs(&request, takes, summary.size_multiple)?;
        let [width, height] = size.unwrap_or([request.width, request.height]);
        Ok(Request { width, height, ..request })
    }
}

fn outpaint_of(order: OutpaintOrder) -> Outpaint {
    let OutpaintOrder { left, top, right, bottom, feather } = order;
    Outpaint { left, top, right, bottom, feather: feather.unwrap_or(Outpaint::USUAL_FEATHER) }
}

fn mask_of(order: &MaskOrder, inputs: &mut Inputs) -> Result<SourceMask, OrderError> {
    const WHAT: &str = "the mask";
    let given = inputs.file(&order.image, WHAT)?;
    let path = match (order.transparent, order.inverted) {
        (false, false) => given,
        (is_transparent, is_inverted) => {
            let picture = image::open(&given).map_err(|error| OrderError::NotAnImage {
                what: WHAT.to_owned(),
                detail: error.to_string().replace(&given.display().to_string(), "it"),
            })?;
            let mut mask = match is_transparent {
                true => {
                    let picture = picture.to_rgba8();
                    let mask = GrayImage::from_fn(picture.width(), picture.height(), |x, y| {
                        image::Luma([u8::MAX - picture.get_pixel(x, y)[3]])
                    });
                    if mask.pixels().all(|pixel| pixel[0] == 0) {
                        return Err(OrderError::OpaqueMask);
                    }
                    mask
                }
                false => picture.to_luma8(),
            };
            if is_inverted {
                mask.pixels_mut().for_each(|pixel| pixel[0] = u8::MAX - pixel[0]);
            }
            let mut bytes = std::io::Cursor::new(Vec::new());
            mask.write_to(&mut bytes, image::ImageFormat::Png).map_err(|error| OrderError::NotAnImage {
                what: WHAT.to_owned(),
                detail: error.to_string(),
            })?;
            inputs.add(bytes.get_ref(), WHAT)?
        }
    };
    let usual = SourceMask::default();
    Ok(SourceMask {
        path,
        blur: order.blur.unwrap_or(usual.blur),
        only_masked: order.only_masked,
        keeps_the_rest: usual.keeps_the_rest,
    })
}

#[cfg(test)]
mod tests {
    use sluice_engine::{
        models::{OpenedModels, Remembered},
        request::{Preprocessor, Sampler, Schedule},
        session::model_summary,
    };

    use super::*;
    use crate::orders::{ControlNetOrder, ControlOrder, Given, HiresOrder};

    fn starter() -> ModelSummary {
        model_summary(&ModelSource::Starter, &OpenedModels::new(Vec::new())).unwrap()
    }

    fn request(order: &Order) -> Result<Request, OrderError> {
        let shelf = Shelf::of(&[], &mut Remembered::default());
        order.request(&starter(), &shelf, &mut Inputs::of_data().unwrap())
    }

    fn picture(pixel: [u8; 4]) -> Given {
        let mut bytes = std::io::Cursor::new(Vec::new());
        let picture = image::RgbaImage::from_fn(4, 2, |x, _| {
            image::Rgba(if x == 0 { pixel } else { [9, 9, 9, u8::MAX] })
        });
        picture.write_to(&mut bytes, image::ImageFormat::Png).unwrap();
        Given::of(bytes.get_ref())
    }

    #[test]
    fn regions_are_boxes_or_masks() {
        let owl = RegionOrder { prompt: "an owl".to_owned(), ..RegionOrder::default() };
        let left = RegionOrder { sides: Some([0.0, 0.0, 0.5, 1.0]), weight: Some(2.0), ..owl.clone() };
        let masked = RegionOrder { mask: Some(picture([0; 4])), ..owl.clone() };
        let order = |regions| Order { regions, region_base: Some(0.0), ..Order::default() };
        let Regions { all, base, fade } = request(&order(vec![left.clone(), masked, owl])).unwrap().regions;
        assert_eq!((base, fade), (0.0, Regions::default().fade));
        assert_eq!((&all[0].area, all[0].weight), (&Area::Box([0.0, 0.0, 0.5, 1.0]), 2.0));
        assert!(all[1].area.mask().is_some());
        assert_eq!(all[2].area, Region::default().area);
        let both = RegionOrder { mask: Some(picture([0; 4])), ..left };
        assert!(matches!(request(&order(vec![both])), Err(OrderError::BoxAndMask)));
    }

    #[test]
    fn what_is_left_out_has_the_models_default() {
        let defaults = starter().defaults;
        let plain =
            request(&Order { prompt: "a fox".to_owned(), seed: Some(7), ..Order::default() }).unwrap();
        let expected =
            Request { prompt: "a fox".to_owned(), seed: 7, ..defaults.given_to(Request::default()) };
        assert_eq!(plain, expected);
        let order = Order {
            sampler: Some("DPM++ 2M Karras".to_owned()),
            steps: Some(3),
            hires: Some(HiresOrder { upscaler: Some("Latent".to_owned()), ..HiresOrder::default() }),
            ..Order::default()
        };
        let given = request(&order).unwrap();
        assert_eq!((given.sampler, given.schedule, given.steps), (Sampler::Dpmpp2m, Schedule::Karras, 3));
        assert_eq!(given.hires, Some(Hires { enlarger: Enlarger::Latent, ..Hires::default() }));
    }

    #[test]
    fn transparent_and_inverted_masks_become_white_where_it_is_inpainted() {
        let mask =
            |image, transparent, inverted| MaskOrder { image, transparent, inverted, ..MaskOrder::default() };
        let mut inputs = Inputs::of_data().unwrap();
        for (order, expected) in [
            (mask(picture([0, 0, 0, 0]), true, false), [255, 0]),
            (mask(picture([255, 255, 255, 255]), false, true), [0, 246]),
        ] {
            let path = mask_of(&order, &mut inputs).unwrap().path;
            let mask = image::open(path).unwrap().to_luma8();
            assert_eq!([0, 1].map(|x| mask.get_pixel(x, 0)[0]), expected);
        }
        let opaque = mask(picture([0, 0, 0, 255]), true, false);
        assert!(matches!(mask_of(&opaque, &mut inputs), Err(OrderError::OpaqueMask)));
    }

    #[test]
    fn what_is_added_around_an_image_is_generated_and_makes_the_result_larger() {
        let json = r#"{"outpaint": {"left": 60, "right": 80}}"#;
        let order = Order { image: Some(picture([0; 4])), ..serde_json::from_str(json).unwrap() };
        let given = request(&order).unwrap();
        // Of 4 by 2 pixels, to multiples of 16.
        assert_eq!([given.width, given.height], [144, 16]);
        let source = given.source.unwrap();
        assert_eq!(source.outpaint, Outpaint { left: 60, right: 80, ..Outpaint::default() });
        assert_eq!(source.strength, 1.0);
        let sized = request(&Order { width: Some(256), strength: Some(0.8), ..order }).unwrap();
        assert_eq!((sized.width, sized.source.unwrap().strength), (256, 0.8));
    }

    #[test]
    fn clips_are_controlled_by_clips() {
        let folder = tempfile::tempdir().unwrap();
        let frames = folder.path().join("walk");
        std::fs::create_dir(&frames).unwrap();
        for number in 0..10 {
            image::RgbImage::new(4, 2).save(frames.join(format!("{number}.png"))).unwrap();
        }
        let json = r#"{"control": {"video": "walk", "preprocessor": "canny", "end": 0.5,
            "range": {"start": 1}, "mask": "walk/0.png"}}"#;
        let order: Order = serde_json::from_str(json).unwrap();
        let summary = ModelSummary { frame_multiple: Some(4), ..starter() };
        let shelf = Shelf::of(&[], &mut Remembered::default());
        let given = |order: &Order| {
            order.request(&summary, &shelf, &mut Inputs::of_files_in(folder.path()).unwrap()).unwrap()
        };
        let request = given(&order);
        let control = Control {
            video: Some(frames.clone()),
            range: "1..".parse().unwrap(),
            preprocessor: Preprocessor::Canny,
            mask: Some(frames.join("0.png")),
            end: 0.5,
            ..Control::default()
        };
        assert_eq!((request.control, request.frames), (Some(control), 9));
        assert_eq!(given(&Order { frames: Some(5), ..order.clone() }).frames, 5);
        // Paths are not read where they come from others.
        assert!(matches!(self::request(&order), Err(OrderError::NotAClip { .. })));
    }

    #[test]
    fn orders_that_make_no_sense_are_refused() {
        let alone = Order {
            mask: Some(MaskOrder { image: picture([0; 4]), ..MaskOrder::default() }),
            ..Order::default()
        };
        assert!(matches!(request(&alone), Err(OrderError::MaskAlone)));
        let order = Order { strength: Some(0.5), ..Order::default() };
        assert!(matches!(request(&order), Err(OrderError::StrengthAlone)));
        let order = Order {
            outpaint: Some(OutpaintOrder { left: 8, ..OutpaintOrder::default() }),
            ..Order::default()
        };
        assert!(matches!(request(&order), Err(OrderError::OutpaintAlone)));
        for (preprocessor, missing) in [
            (Preprocessor::Depth, "there is no depth model named \"Depth Anything V2\""),
            (Preprocessor::Pose, "there is no pose model named \"YOLOv8-pose\""),
            (Preprocessor::Segments, "there is no segment model named \"SegFormer\""),
            (Preprocessor::SoftEdge, "there is no soft edge model named \"HED\""),
        ] {
            let net = ControlNetOrder { preprocessor, ..ControlNetOrder::default() };
            let steered = Order { control_nets: vec![net], ..Order::default() };
            let control = Some(ControlOrder { preprocessor, ..ControlOrder::default() });
            for order in [steered, Order { control, ..Order::default() }] {
                let error = order.estimators(&Shelf::of(&[], &mut Remembered::default())).unwrap_err();
                assert_eq!(error.to_string(), missing);
            }
        }
        for json in [
            r#"{"promt": "a fox"}"#,
            r#"{"loras": [{"path": "/etc/passwd"}]}"#,
            r#"{"outpaint": {"lft": 8}}"#,
        ] {
            let error = serde_json::from_str::<Order>(json).unwrap_err().to_string();
            assert!(error.contains("unknown field"), "{error}");
        }
    }
}
