//! The values of an axis, as they are read.

use std::{ops::RangeInclusive, path::PathBuf};

use super::{GridError, GridSetting, values};
use crate::request::{
    ComputeDtype, ControlNet, Enlarger, FACTORS, FRAME_RATES, Fit, ImagePrompt, LARGEST_CLIP_SKIP,
    LARGEST_SHIFT, LONGEST_SIDE, ModelSource, Outpaint, Preprocessor, REFERENCE_SIDES, Redux, Regions,
    SCALES, STRONGEST_CONTROL, Sampler, Schedule, SourceMask, WIDEST_BLUR,
};

/// A value of a setting.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Number(f64),
    Sampler(Sampler),
    Schedule(Schedule),
    Words(String),
    Size([u32; 2]),
    Model(ModelSource),
    Enlarger(Enlarger),
    Preprocessor(Preprocessor),
    Fit(Fit),
    Image(PathBuf),
    /// A LoRA or a style that is added; `None` adds nothing.
    Added(Option<String>),
    /// `None` is chosen for the model and the device.
    Precision(Option<ComputeDtype>),
}

/// The values of a setting that are written in a text.
pub(super) fn parsed(setting: GridSetting, text: &str) -> Result<Vec<Value>, GridError> {
    let title = setting.title();
    let wrong = |value: String, wanted: String| GridError::Value { setting: title, value, wanted };
    let each = |read: &dyn Fn(&str) -> Option<Value>, wanted: &dyn Fn() -> String| {
        let values = values::listed(text).into_iter();
        values.map(|value| read(&value).ok_or_else(|| wrong(value, wanted()))).collect()
    };
    match setting {
        GridSetting::Prompt => each(&|words| Some(Value::Words(words.to_owned())), &String::new),
        GridSetting::Model => each(&|path| path.parse().ok().map(Value::Model), &String::new),
        GridSetting::InputImage => each(&|path| Some(Value::Image(path.into())), &String::new),
        GridSetting::HiresUpscaler => each(
            &|name| match name.eq_ignore_ascii_case(Enlarger::LATENT) {
                true => Some(Value::Enlarger(Enlarger::Latent)),
                false => name.parse().ok().map(Value::Enlarger),
            },
            &String::new,
        ),
        GridSetting::LoraFile | GridSetting::Style => {
            each(&|name| Some(Value::Added((!is_none(name)).then(|| name.to_owned()))), &String::new)
        }
        GridSetting::Precision => each(
            &|name| match name.to_lowercase().as_str() {
                "auto" | "automatic" => Some(Value::Precision(None)),
                name => {
                    let known = ComputeDtype::ALL.into_iter().find(|dtype| dtype.name() == name)?;
                    Some(Value::Precision(Some(known)))
                }
            },
            &|| format!("{}, auto", one_of(&ComputeDtype::ALL.map(ComputeDtype::name))),
        ),
        GridSetting::Sampler => each(
            &|name| named(&Sampler::ALL, Sampler::name, Sampler::title, name).map(Value::Sampler),
            &|| one_of(&Sampler::ALL.map(Sampler::name)),
        ),
        GridSetting::Schedule => each(
            &|name| named(&Schedule::ALL, Schedule::name, Schedule::title, name).map(Value::Schedule),
            &|| one_of(&Schedule::ALL.map(Schedule::name)),
        ),
        GridSetting::Preprocessor => each(
            &|name| {
                let name = name.replace('-', "_");
                let known = named(&Preprocessor::ALL, Preprocessor::name, Preprocessor::name, &name);
                known.map(Value::Preprocessor)
            },
            &|| one_of(&Preprocessor::ALL.map(Preprocessor::name)),
        ),
        GridSetting::Fit => {
            each(&|name| named(&Fit::ALL, Fit::name, Fit::title, name).map(Value::Fit), &|| {
                one_of(&Fit::ALL.map(Fit::name))
            })
        }
        GridSetting::Size => each(
            &|size| {
                let (width, height) = size.split_once(['x', 'X', '×']).unwrap_or((size, size));
                Some(Value::Size([width.trim().parse().ok()?, height.trim().parse().ok()?]))
            },
            &|| "use width x height, such as 512x768".to_owned(),
        ),
        _ => {
            let (range, is_whole) = allowed(setting);
            let numbers = values::numbers(title, text, is_whole)?;
            if let Some(number) = numbers.iter().find(|number| !range.contains(number)) {
                let wanted = format!("use {} to {}", range.start(), range.end());
                return Err(wrong(number.to_string(), wanted));
            }
            Ok(numbers.into_iter().map(Value::Number).collect())
        }
    }
}

/// The numbers that a setting can have, and whether they are whole. The request is checked against its model later.
fn allowed(setting: GridSetting) -> (RangeInclusive<f64>, bool) {
    let whole = |least: u32, most: u32| (f64::from(least)..=f64::from(most), true);
    let real = |range: RangeInclusive<f32>| (f64::from(*range.start())..=f64::from(*range.end()), false);
    match setting {
        // The largest whole numbers that are exact.
        GridSetting::Seed | GridSetting::VariationSeed => (0.0..=9_007_199_254_740_991.0, true),
        GridSetting::Steps | GridSetting::HiresSteps | GridSetting::DetailerSteps => whole(1, 1000),
        GridSetting::Width | GridSetting::Height => whole(1, LONGEST_SIDE),
        GridSetting::ClipSkip => whole(0, LARGEST_CLIP_SKIP),
        GridSetting::Guidance => (0.0..=1000.0, false),
        GridSetting::TrueCfg => (1.0..=1000.0, false),
        GridSetting::Shift => (0.01..=f64::from(LARGEST_SHIFT), false),
        GridSetting::Lora => (-100.0..=100.0, false),
        GridSetting::Frames | GridSetting::WindowFrames => whole(1, u16::MAX.into()),
        GridSetting::WindowOverlap => whole(0, u16::MAX.into()),
        GridSetting::FrameRate => real(FRAME_RATES),
        GridSetting::Interpolation => whole(*FACTORS.start(), *FACTORS.end()),
        GridSetting::StepCache => (0.0..=100.0, false),
        GridSetting::HiresScale => real(SCALES),
        GridSetting::ControlWeight => real(0.0..=ControlNet::LARGEST_WEIGHT),
        GridSetting::ControlStrength => real(0.0..=STRONGEST_CONTROL),
        GridSetting::ImagePromptWeight => real(0.0..=ImagePrompt::LARGEST_WEIGHT),
        GridSetting::ReferenceStrength => real(Redux::STRENGTHS),
        GridSetting::ReferenceSide => whole(*REFERENCE_SIDES.start(), *REFERENCE_SIDES.end()),
        GridSetting::RegionWeight => real(0.0..=Regions::STRONGEST),
        GridSetting::RegionFade => real(0.0..=Regions::WIDEST_FADE),
        GridSetting::MaskBlur => whole(0, WIDEST_BLUR),
        GridSetting::MaskPadding | GridSetting::DetailerPadding => whole(0, SourceMask::WIDEST_PADDING),
        GridSetting::OutpaintFeather => whole(0, Outpaint::MOST),
        _ => (0.0..=1.0, false),
    }
}

fn one_of(names: &[&str]) -> String {
    format!("use {}", names.join(", "))
}

/// The value with this name or title.
fn named<T: Copy>(
    all: &[T],
    name: fn(T) -> &'static str,
    title: fn(T) -> &'static str,
    wanted: &str,
) -> Option<T> {
    let is = |text: &str| text.eq_ignore_ascii_case(wanted.trim());
    all.iter().copied().find(|&value| is(name(value)) || is(title(value)))
}

/// Whether nothing is added.
fn is_none(name: &str) -> bool {
    name.eq_ignore_ascii_case("none")
}
