//! One axis of a grid: a setting and its values.

use std::str::FromStr;

use super::{
    GridError, GridSetting,
    added::{self, Weighed, name_of},
    values,
};
use crate::request::{
    ComputeDtype, ControlNet, ImagePrompt, ModelSource, Request, Sampler, Schedule, Style, Variation,
};

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
    /// A LoRA or a style that is added; `None` adds nothing.
    Added(Option<String>),
    /// `None` is chosen for the model and the device.
    Precision(Option<ComputeDtype>),
}

/// What an axis needs to know to be applied, besides the request.
pub(super) struct Surroundings<'a> {
    /// The styles that there are.
    pub styles: &'a [Style],
    /// The LoRA that another axis has added.
    pub weighed: Weighed<'a>,
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
            Value::Added(Some(name)) => name_of(name),
            Value::Added(None) => format!("{}: none", self.setting.title()),
            Value::Precision(dtype) => {
                format!("{}: {}", self.setting.title(), dtype.map_or("auto", ComputeDtype::name))
            }
            Value::Size([width, height]) => format!("{width} × {height}"),
            Value::Model(ModelSource::Path(path)) => added::model_name(path),
            Value::Model(model) => model.to_string(),
        };
        self.values.iter().map(words).collect()
    }

    /// The request with one of the values.
    pub(super) fn applied(
        &self,
        value: usize,
        mut request: Request,
        around: &Surroundings<'_>,
    ) -> Result<Request, GridError> {
        match (&self.values[value], self.setting) {
            (Value::Number(weight), GridSetting::Lora) => {
                added::weigh(&mut request, self.lora.as_deref(), around.weighed, *weight as f32)?;
            }
            (Value::Number(number), setting) => self.set_number(&mut request, setting, *number)?,
            (Value::Added(name), GridSetting::Style) => {
                added::style(&mut request, name.as_deref(), &self.added(), around.styles)?;
            }
            (Value::Added(name), _) => added::lora(&mut request, name.as_deref(), &self.added()),
            (Value::Precision(dtype), _) => request.dtype = *dtype,
            (Value::Sampler(sampler), _) => request.sampler = *sampler,
            (Value::Schedule(schedule), _) => request.schedule = *schedule,
            (Value::Size([width, height]), _) => (request.width, request.height) = (*width, *height),
            (Value::Model(model), _) => request.model = model.clone(),
            (Value::Words(words), _) => {
                let Some(Value::Words(replaced)) = self.values.first() else { return Ok(request) };
                let regions = request.regions.all.iter_mut().map(|region| &mut region.prompt);
                let own = [&mut request.prompt, &mut request.negative_prompt];
                let prompts: Vec<_> = own.into_iter().chain(regions).collect();
                if prompts.iter().all(|prompt| !prompt.contains(replaced.as_str())) {
                    return Err(GridError::NotInPrompt(replaced.clone()));
                }
                prompts.into_iter().for_each(|prompt| *prompt = prompt.replace(replaced.as_str(), words));
            }
        }
        Ok(request)
    }

    /// The names of what the values add.
    fn added(&self) -> Vec<&str> {
        let mut names = Vec::new();
        for value in &self.values {
            if let Value::Added(Some(name)) = value {
                names.push(name.as_str());
            }
        }
        names
    }

    /// The LoRA that one of the values adds; `None` if the axis adds none at all.
    pub(super) fn lora_of(&self, value: usize) -> Option<Option<&str>> {
        match &self.values[value] {
            Value::Added(name) if self.setting == GridSetting::LoraFile => Some(name.as_deref()),
            _ => None,
        }
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
            GridSetting::Lora
            | GridSetting::LoraFile
            | GridSetting::Style
            | GridSetting::Precision
            | GridSetting::Sampler
            | GridSetting::Schedule
            | GridSetting::Prompt
            | GridSetting::Size
            | GridSetting::Model => {}
        }
        Ok(())
    }
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

/// Whether nothing is added.
fn is_none(name: &str) -> bool {
    name.eq_ignore_ascii_case("none")
}
