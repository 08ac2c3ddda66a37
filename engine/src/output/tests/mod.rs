//! Shared helpers for the tests of image files.

mod clips;
mod elsewhere;
mod files;
mod parameters;
mod places;
mod programs;
mod steering;

use std::path::PathBuf;

use proptest::prelude::*;

use super::{Date, Image, Media, Settings};
use crate::checkpoint::MapKind;
use crate::request::{
    AdapterUse, Area, ComputeDtype, Control, ControlNet, Detailer, Enlarger, Fit, FrameRange,
    GuidanceOptions, Hires, ImagePrompt, Interval, Keyframe, LARGEST_CLIP_SKIP, ModelSource, Preprocessor,
    PromptTemplate, Refiner, Region, Regions, Request, Sampler, Schedule, SourceClip, SourceImage,
    SourceMask, Style, Variation, Windows,
};

const DAY: Date = Date { year: 2026, month: 11, day: 21 };

fn image(width: u32, height: u32) -> Media {
    Media::Image(pixels(width, height))
}

fn pixels(width: u32, height: u32) -> Image {
    let pixels = (0..width * height * 3).map(|index| (index * 7 % 251) as u8).collect();
    Image::opaque(width, height, pixels)
}

fn settings(prompt: &str, negative_prompt: &str) -> Settings {
    let request = Request {
        prompt: prompt.to_owned(),
        negative_prompt: negative_prompt.to_owned(),
        guidance: 3.0,
        seed: 7,
        ..Request::default()
    };
    Settings::new(&request, "Sluice Starter", "z_image", 0)
}

fn any_source() -> impl Strategy<Value = SourceImage> {
    let file =
        || any::<String>().prop_map(|name| PathBuf::from(format!("/pictures/{}", name.replace('/', ""))));
    let mask = (file(), any::<u32>(), any::<bool>(), prop::option::of(any::<u32>())).prop_map(
        |(path, blur, keeps_the_rest, only_masked)| SourceMask { path, blur, keeps_the_rest, only_masked },
    );
    let part = (1..=100_u32).prop_map(|percent| f64::from(percent) / 100.0);
    (file(), part, prop::sample::select(&Fit::ALL), prop::option::of(mask)).prop_map(
        |(path, strength, fit, mask)| SourceImage { path, strength, fit, mask, ..SourceImage::default() },
    )
}

fn any_clip() -> impl Strategy<Value = SourceClip> {
    let range = (0_u32..9, prop::option::of(9_u32..99)).prop_map(|(start, end)| FrameRange { start, end });
    (1..=100_u32, range, any::<bool>(), prop::sample::select(&Fit::ALL)).prop_map(
        |(percent, range, extends, fit)| {
            let path = format!("/clips/{percent}.mp4").into();
            SourceClip { path, range, strength: f64::from(percent) / 100.0, extends, fit }
        },
    )
}

fn any_request() -> impl Strategy<Value = Request> {
    let texts = (any::<String>(), any::<String>(), any::<String>());
    let numbers = (any::<u32>(), any::<u32>(), any::<u32>(), any::<u64>(), any::<u32>(), any::<u32>());
    let choices = (
        prop::sample::select(&Sampler::ALL),
        prop::sample::select(&Schedule::ALL),
        prop::option::of(prop::sample::select(&ComputeDtype::ALL)),
    );
    let guiding = (0.0f32..1.0, 0.0f32..0.5, 0.5f32..1.0, 1.0f32..9.0, 0.0f32..1.0);
    let refiner = (1_u32..100).prop_map(|percent| Refiner {
        path: format!("/models/refiner-{percent}").into(),
        switch: f64::from(percent) / 100.0,
    });
    let sources = (prop::option::of(any_source()), prop::option::of(refiner), prop::option::of(any_clip()));
    let given = (texts, numbers, choices, 0.0f32..1e6, 0..=LARGEST_CLIP_SKIP, guiding, sources);
    given.prop_map(|(texts, numbers, choices, guidance, clip_skip, guiding, source)| Request {
        model: ModelSource::Path(format!("/models/{}", texts.2.replace('/', "")).into()),
        template: guiding.3.gt(&5.0).then(|| PromptTemplate {
            prompt: texts.1.clone(),
            negative_prompt: texts.0.clone(),
            styles: vec![texts.2.clone()],
        }),
        styles: vec![Style { name: texts.2.clone(), ..Style::default() }],
        prompt: texts.0,
        negative_prompt: texts.1,
        width: numbers.0,
        height: numbers.1,
        frames: numbers.5,
        frame_rate: guiding.3,
        steps: numbers.2,
        guidance,
        seed: numbers.3,
        variation: choices.2.map(|_| Variation { seed: numbers.3 / 2, strength: guiding.0 }),
        batch: numbers.4,
        sampler: choices.0,
        schedule: choices.1,
        shift: choices.2.map(|_| guiding.3),
        dtype: choices.2,
        max_sequence_length: numbers.5,
        adapters: vec![AdapterUse { path: format!("/loras/{}", numbers.0).into(), weight: guidance }],
        clip_skip,
        guiding: GuidanceOptions {
            rescale: guiding.0,
            interval: Interval { start: guiding.1, end: guiding.2 },
            true_cfg: guiding.3,
        },
        step_cache: guiding.4,
        hires: choices.2.map(|dtype| Hires {
            scale: 1.0 + guiding.4,
            strength: f64::from(numbers.2 % 100 + 1) / 100.0,
            steps: (dtype == ComputeDtype::F16).then_some(12),
            enlarger: if dtype == ComputeDtype::F32 { Enlarger::Latent } else { Enlarger::default() },
        }),
        upscale: None,
        detailers: choices
            .2
            .map(|_| Detailer { grow: numbers.0 % 9, ..Detailer::new("/models/face") })
            .into_iter()
            .collect(),
        detail_of: None,
        regions: choices.2.map_or_else(Regions::default, |_| Regions {
            all: vec![
                Region { prompt: "an owl".to_owned(), weight: 1.0 + guiding.4, ..Region::default() },
                Region { area: Area::Mask("/masks/left.png".into()), ..Region::default() },
            ],
            ..Regions::default()
        }),
        interpolate: None,
        smooth: None,
        last_image: source.0.as_ref().map(|source| source.path.clone()),
        keyframes: source
            .1
            .iter()
            .map(|refiner| Keyframe { frame: numbers.5, path: refiner.path.clone() })
            .collect(),
        source: source.0,
        windows: source.2.as_ref().map(|_| Windows { frames: numbers.0, overlap: numbers.1 }),
        clip: source.2,
        references: source.1.iter().map(|refiner| refiner.path.clone()).collect(),
        reference_side: source.1.as_ref().map(|_| numbers.0),
        control: source.1.as_ref().map(|refiner| Control {
            video: Some(refiner.path.clone()),
            preprocessor: Preprocessor::Depth,
            strength: guidance,
            start: refiner.switch / 2.0,
            end: refiner.switch,
            ..Control::default()
        }),
        control_nets: source
            .1
            .iter()
            .map(|refiner| ControlNet {
                model: refiner.path.clone(),
                image: refiner.path.clone(),
                preprocessor: Preprocessor::Canny,
                weight: guiding.0,
                end: refiner.switch,
                ..ControlNet::default()
            })
            .collect(),
        image_prompts: source
            .1
            .iter()
            .map(|refiner| ImagePrompt {
                adapter: refiner.path.clone(),
                images: vec![refiner.path.clone(); 2],
                weight: guiding.0,
                start: refiner.switch / 2.0,
                end: refiner.switch,
            })
            .collect(),
        estimators: source
            .1
            .iter()
            .flat_map(|refiner| [MapKind::Depth, MapKind::SoftEdge].map(|kind| (kind, refiner.path.clone())))
            .collect(),
        map_of: None,
        mask_of: None,
        enhance: None,
        describe: None,
        enhanced: None,
        redux: source
            .1
            .as_ref()
            .map(|refiner| crate::request::Redux { path: refiner.path.clone(), strengths: vec![guidance] }),
        refiner: source.1,
    })
}
