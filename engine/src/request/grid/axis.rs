//! One axis of a grid: a setting and its values.

use std::{path::Path, str::FromStr};

use super::{GridError, values};
use crate::request::{
    AdapterUse, ControlNet, ImagePrompt, ModelSource, Request, Sampler, Schedule, Variation,
};

/// A setting that can vary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GridSetting {
    /// The seed.
    Seed,
    /// Denoising steps.
    Steps,
    /// The guidance scale.
    Guidance,
    /// True CFG.
    TrueCfg,
    /// The sampler.
    Sampler,
    /// The schedule.
    Schedule,
    /// The shift of the noise levels.
    Shift,
    /// The denoising strength.
    Strength,
    /// The weight of a LoRA.
    Lora,
    /// Words of the prompts: each value but the first replaces the first.
    Prompt,
    /// Width and height.
    Size,
    /// The width.
    Width,
    /// The height.
    Height,
    /// The clip skip.
    ClipSkip,
    /// The variation strength.
    Variation,
    /// The model.
    Model,
    /// The number of frames of a clip.
    Frames,
    /// Guidance rescale.
    Rescale,
    /// The threshold of the step cache.
    StepCache,
    /// The scale of hires fix.
    HiresScale,
    /// The weight of all ControlNets.
    ControlWeight,
    /// The weight of all image prompts.
    ImagePromptWeight,
}

impl GridSetting {
    /// All of them, in the order in which they are listed.
    pub const ALL: [Self; 22] = [
        Self::Seed,
        Self::Steps,
        Self::Guidance,
        Self::Sampler,
        Self::Schedule,
        Self::Prompt,
        Self::Strength,
        Self::Lora,
        Self::Size,
        Self::Width,
        Self::Height,
        Self::Model,
        Self::Variation,
        Self::TrueCfg,
        Self::Shift,
        Self::ClipSkip,
        Self::Frames,
        Self::Rescale,
        Self::StepCache,
        Self::HiresScale,
        Self::ControlWeight,
        Self::ImagePromptWeight,
    ];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Seed => "seed",
            Self::Steps => "steps",
            Self::Guidance => "guidance",
            Self::TrueCfg => "true-cfg",
            Self::Sampler => "sampler",
            Self::Schedule => "schedule",
            Self::Shift => "shift",
            Self::Strength => "strength",
            Self::Lora => "lora",
            Self::Prompt => "prompt",
            Self::Size => "size",
            Self::Width => "width",
            Self::Height => "height",
            Self::ClipSkip => "clip-skip",
            Self::Variation => "variation",
            Self::Model => "model",
            Self::Frames => "frames",
            Self::Rescale => "rescale",
            Self::StepCache => "step-cache",
            Self::HiresScale => "hires-scale",
            Self::ControlWeight => "control-weight",
            Self::ImagePromptWeight => "image-prompt-weight",
        }
    }

    /// The name in the window and in labels.
    pub fn title(self) -> &'static str {
        match self {
            Self::Seed => "Seed",
            Self::Steps => "Steps",
            Self::Guidance => "Guidance",
            Self::TrueCfg => "True CFG",
            Self::Sampler => "Sampler",
            Self::Schedule => "Schedule",
            Self::Shift => "Shift",
            Self::Strength => "Denoising strength",
            Self::Lora => "LoRA weight",
            Self::Prompt => "Words in the prompt",
            Self::Size => "Size",
            Self::Width => "Width",
            Self::Height => "Height",
            Self::ClipSkip => "Clip skip",
            Self::Variation => "Variation strength",
            Self::Model => "Model",
            Self::Frames => "Frames",
            Self::Rescale => "Guidance rescale",
            Self::StepCache => "Step cache",
            Self::HiresScale => "Scale of hires fix",
            Self::ControlWeight => "ControlNet weight",
            Self::ImagePromptWeight => "Image prompt weight",
        }
    }

    /// What its values look like.
    pub fn example(self) -> &'static str {
        match self {
            Self::Seed => "1-4",
            Self::Steps => "10, 20, 30 or 10-50 (+10)",
            Self::Guidance => "1-7 (+2) or 1-7 [4]",
            Self::TrueCfg => "1-5",
            Self::Sampler => "euler, dpmpp-2m",
            Self::Schedule => "normal, karras",
            Self::Shift => "1-5 (+2)",
            Self::Strength => "0.3-0.9 [4]",
            Self::Lora => "0-1 (+0.25)",
            Self::Prompt => "fox, wolf, bear: the first is replaced by the others",
            Self::Size => "512x768, 768x512",
            Self::Width | Self::Height => "512, 768",
            Self::ClipSkip => "1, 2",
            Self::Variation => "0-0.4 [5]",
            Self::Model => "paths of models, separated by commas",
            Self::Frames => "33, 49, 81",
            Self::Rescale => "0-0.7 [3]",
            Self::StepCache => "0, 0.1, 0.2",
            Self::HiresScale => "1.5, 2",
            Self::ControlWeight | Self::ImagePromptWeight => "0.4-1 (+0.2)",
        }
    }

    /// Names of A1111's X/Y/Z plot and other usual ones.
    fn has_name(self, name: &str) -> bool {
        let name = name.trim().to_lowercase().replace([' ', '_'], "-");
        let others: &[&str] = match self {
            Self::Guidance => &["cfg-scale", "cfg"],
            Self::Strength => &["denoising", "denoising-strength"],
            Self::Lora => &["lora-weight"],
            Self::Prompt => &["prompt-s/r", "words", "words-in-the-prompt"],
            Self::Schedule => &["schedule-type", "scheduler"],
            Self::Variation => &["var.-strength", "var-strength", "variation-strength"],
            Self::Model => &["checkpoint-name", "checkpoint"],
            Self::Shift => &["flow-shift"],
            Self::Rescale => &["guidance-rescale", "cfg-rescale"],
            Self::ControlWeight => &["controlnet-weight", "control-net-weight"],
            Self::ImagePromptWeight => &["ip-adapter-weight"],
            Self::HiresScale => &["hires-upscale", "scale-of-hires-fix"],
            _ => &[],
        };
        name == self.name() || others.contains(&name.as_str())
    }

    /// How costly a change from one value to the next is: a lower number is costlier.
    fn cost(self) -> u8 {
        match self {
            Self::Model => 0,
            Self::Lora => 1,
            Self::Size | Self::Width | Self::Height | Self::Frames | Self::HiresScale => 2,
            // The text encoders run again.
            Self::Prompt | Self::ClipSkip => 3,
            _ => 4,
        }
    }
}

/// A setting and its values.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    setting: GridSetting,
    /// The LoRA, if it is named.
    lora: Option<String>,
    written: String,
    values: Vec<Value>,
}

#[derive(Debug, Clone, PartialEq)]
enum Value {
    Number(f64),
    Sampler(Sampler),
    Schedule(Schedule),
    Words(String),
    Size([u32; 2]),
    Model(ModelSource),
}

impl FromStr for Axis {
    type Err = GridError;

    /// Reads `steps: 10, 20`; `lora NAME: 0.5, 1` names a LoRA.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, values) =
            text.split_once(':').ok_or_else(|| GridError::NoSetting(text.trim().to_owned()))?;
        if let Some(setting) = GridSetting::ALL.into_iter().find(|setting| setting.has_name(name)) {
            return Self::new(setting, values);
        }
        match name.trim().split_once(char::is_whitespace) {
            Some((kind, lora)) if GridSetting::Lora.has_name(kind) => Self::of_lora(lora, values),
            _ => Err(GridError::Unknown {
                name: name.trim().to_owned(),
                all: GridSetting::ALL.map(GridSetting::name).to_vec(),
            }),
        }
    }
}

impl Axis {
    /// A setting and its values as they are written: `1, 2`, `1-5`, `1-10 (+2)`, `1-10 [5]`.
    ///
    /// # Errors
    /// When there are no values, or one that the setting cannot have.
    pub fn new(setting: GridSetting, text: &str) -> Result<Self, GridError> {
        let values = parsed(setting, text)?;
        if values.is_empty() {
            return Err(GridError::NoValues(setting.title()));
        }
        if setting == GridSetting::Prompt && values.len() < 2 {
            let wanted = "write the words to replace, and then the words that replace them".to_owned();
            return Err(GridError::Value { setting: setting.title(), value: text.trim().to_owned(), wanted });
        }
        Ok(Self { setting, lora: None, written: text.trim().to_owned(), values })
    }

    /// The weights of the LoRA with this name.
    ///
    /// # Errors
    /// As [`Axis::new`].
    pub fn of_lora(name: &str, text: &str) -> Result<Self, GridError> {
        Ok(Self { lora: Some(name.trim().to_owned()), ..Self::new(GridSetting::Lora, text)? })
    }

    /// The number of values.
    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    pub(super) fn title(&self) -> &'static str {
        self.setting.title()
    }

    /// What varies.
    pub fn setting(&self) -> GridSetting {
        self.setting
    }

    pub(super) fn cost(&self) -> u8 {
        self.setting.cost()
    }

    /// Whether two axes would overwrite each other's values. Several LoRAs and several words may vary.
    pub(super) fn varies_the_same(&self, other: &Self) -> bool {
        let is_side = |setting| matches!(setting, GridSetting::Width | GridSetting::Height);
        match (self.setting, other.setting) {
            (GridSetting::Prompt, GridSetting::Prompt) => self.values.first() == other.values.first(),
            (GridSetting::Lora, GridSetting::Lora) => {
                self.lora.is_none() || other.lora.is_none() || self.lora == other.lora
            }
            (GridSetting::Size, side) | (side, GridSetting::Size) if is_side(side) => true,
            (one, another) => one == another,
        }
    }

    /// As it is read by [`Axis::from_str`].
    pub(super) fn written(&self) -> String {
        match &self.lora {
            Some(lora) => format!("lora {lora}: {}", self.written),
            None => format!("{}: {}", self.setting.name(), self.written),
        }
    }

    pub(super) fn labels(&self) -> Vec<String> {
        let words = |value: &Value| match value {
            Value::Number(number) => match &self.lora {
                Some(lora) => format!("{lora}: {number}"),
                None => format!("{}: {number}", self.setting.title()),
            },
            Value::Sampler(sampler) => sampler.title().to_owned(),
            Value::Schedule(schedule) => schedule.title().to_owned(),
            Value::Words(words) => words.clone(),
            Value::Size([width, height]) => format!("{width} × {height}"),
            Value::Model(ModelSource::Path(path)) => stem(path),
            Value::Model(model) => model.to_string(),
        };
        self.values.iter().map(words).collect()
    }

    /// The request with one of the values.
    pub(super) fn applied(&self, value: usize, mut request: Request) -> Result<Request, GridError> {
        match (&self.values[value], self.setting) {
            (Value::Number(number), setting) => self.set_number(&mut request, setting, *number)?,
            (Value::Sampler(sampler), _) => request.sampler = *sampler,
            (Value::Schedule(schedule), _) => request.schedule = *schedule,
            (Value::Size([width, height]), _) => (request.width, request.height) = (*width, *height),
            (Value::Model(model), _) => request.model = model.clone(),
            (Value::Words(words), _) => {
                let Some(Value::Words(replaced)) = self.values.first() else { return Ok(request) };
                let prompts = [&mut request.prompt, &mut request.negative_prompt];
                if prompts.iter().all(|prompt| !prompt.contains(replaced.as_str())) {
                    return Err(GridError::NotInPrompt(replaced.clone()));
                }
                prompts.into_iter().for_each(|prompt| *prompt = prompt.replace(replaced.as_str(), words));
            }
        }
        Ok(request)
    }

    fn set_number(&self, request: &mut Request, setting: GridSetting, number: f64) -> Result<(), GridError> {
        match setting {
            GridSetting::Seed => request.seed = number as u64,
            GridSetting::Steps => request.steps = number as u32,
            GridSetting::Guidance => request.guidance = number as f32,
            GridSetting::TrueCfg => request.guiding.true_cfg = number as f32,
            GridSetting::Shift => request.shift = Some(number as f32),
            GridSetting::ClipSkip => request.clip_skip = number as u32,
            GridSetting::Width => request.width = number as u32,
            GridSetting::Height => request.height = number as u32,
            GridSetting::Variation => {
                let seed = request.variation.map_or(request.seed.wrapping_add(1), |variation| variation.seed);
                request.variation = Some(Variation { seed, strength: number as f32 });
            }
            GridSetting::Strength => match (&mut request.source, &mut request.clip, &mut request.hires) {
                (Some(source), ..) => source.strength = number,
                (None, Some(clip), _) => clip.strength = number,
                (None, None, Some(hires)) => hires.strength = number,
                (None, None, None) => return Err(GridError::NoInput),
            },
            GridSetting::Lora => self.weigh(request, number as f32)?,
            GridSetting::Frames => request.frames = number as u32,
            GridSetting::Rescale => request.guiding.rescale = number as f32,
            GridSetting::StepCache => request.step_cache = number as f32,
            GridSetting::HiresScale => match &mut request.hires {
                Some(hires) => hires.scale = number as f32,
                None => return Err(GridError::Unused { setting: setting.title(), what: "hires fix" }),
            },
            GridSetting::ControlWeight => {
                let nets = &mut request.control_nets;
                if nets.is_empty() {
                    return Err(GridError::Unused { setting: setting.title(), what: "a ControlNet" });
                }
                nets.iter_mut().for_each(|net| net.weight = number as f32);
            }
            GridSetting::ImagePromptWeight => {
                let prompts = &mut request.image_prompts;
                if prompts.is_empty() {
                    return Err(GridError::Unused { setting: setting.title(), what: "an IP-Adapter" });
                }
                prompts.iter_mut().for_each(|prompt| prompt.weight = number as f32);
            }
            GridSetting::Sampler
            | GridSetting::Schedule
            | GridSetting::Prompt
            | GridSetting::Size
            | GridSetting::Model => {}
        }
        Ok(())
    }

    /// Sets the weight of a LoRA, which is in the list or named in the prompt.
    fn weigh(&self, request: &mut Request, weight: f32) -> Result<(), GridError> {
        let named = named_in(&request.prompt);
        let listed = request.adapters.iter().map(|AdapterUse { path, .. }| stem(path));
        let used: Vec<String> = listed.chain(named.iter().map(|(name, _)| name.clone())).collect();
        let name = match (&self.lora, used.as_slice()) {
            (Some(name), _) => name.clone(),
            (None, [only]) => only.clone(),
            (None, []) => return Err(GridError::NoLora { name: String::new(), used }),
            (None, [first, ..]) => return Err(GridError::WhichLora(first.clone())),
        };
        let mut is_found = false;
        for adapter in &mut request.adapters {
            if stem(&adapter.path) == name {
                (adapter.weight, is_found) = (weight, true);
            }
        }
        // From the end, so that places before it stay.
        for (_, place) in named.into_iter().rev().filter(|(other, _)| *other == name) {
            request.prompt.replace_range(place, &format!("<lora:{name}:{weight}>"));
            is_found = true;
        }
        if is_found { Ok(()) } else { Err(GridError::NoLora { name, used }) }
    }
}

/// The names of the LoRAs in a prompt, and where each is written.
fn named_in(prompt: &str) -> Vec<(String, std::ops::Range<usize>)> {
    const BEGINNING: &str = "<lora:";
    let found = prompt.match_indices(BEGINNING).filter_map(|(start, _)| {
        let inner = &prompt[start + BEGINNING.len()..];
        let inner = &inner[..inner.find('>')?];
        let name = inner.split(':').next().unwrap_or_default().trim();
        Some((name.to_owned(), start..start + BEGINNING.len() + inner.len() + 1))
    });
    found.collect()
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn parsed(setting: GridSetting, text: &str) -> Result<Vec<Value>, GridError> {
    let title = setting.title();
    let wrong = |value: String, wanted: String| GridError::Value { setting: title, value, wanted };
    let each = |read: &dyn Fn(&str) -> Option<Value>, wanted: &dyn Fn() -> String| {
        let values = values::listed(text).into_iter();
        values.map(|value| read(&value).ok_or_else(|| wrong(value, wanted()))).collect()
    };
    match setting {
        GridSetting::Prompt => each(&|words| Some(Value::Words(words.to_owned())), &String::new),
        GridSetting::Model => each(&|path| path.parse().ok().map(Value::Model), &String::new),
        GridSetting::Sampler => each(
            &|name| named(&Sampler::ALL, Sampler::name, Sampler::title, name).map(Value::Sampler),
            &|| one_of(&Sampler::ALL.map(Sampler::name)),
        ),
        GridSetting::Schedule => each(
            &|name| named(&Schedule::ALL, Schedule::name, Schedule::title, name).map(Value::Schedule),
            &|| one_of(&Schedule::ALL.map(Schedule::name)),
        ),
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
fn allowed(setting: GridSetting) -> (std::ops::RangeInclusive<f64>, bool) {
    match setting {
        // The largest whole numbers that are exact.
        GridSetting::Seed => (0.0..=9_007_199_254_740_991.0, true),
        GridSetting::Steps => (1.0..=1000.0, true),
        GridSetting::Width | GridSetting::Height => (1.0..=f64::from(crate::request::LONGEST_SIDE), true),
        GridSetting::ClipSkip => (0.0..=f64::from(crate::request::LARGEST_CLIP_SKIP), true),
        GridSetting::Guidance => (0.0..=1000.0, false),
        GridSetting::TrueCfg => (1.0..=1000.0, false),
        GridSetting::Shift => (0.01..=f64::from(crate::request::LARGEST_SHIFT), false),
        GridSetting::Lora => (-100.0..=100.0, false),
        GridSetting::Frames => (1.0..=f64::from(u16::MAX), true),
        GridSetting::StepCache => (0.0..=100.0, false),
        GridSetting::HiresScale => (1.0..=8.0, false),
        GridSetting::ControlWeight => (0.0..=f64::from(ControlNet::LARGEST_WEIGHT), false),
        GridSetting::ImagePromptWeight => (0.0..=f64::from(ImagePrompt::LARGEST_WEIGHT), false),
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
