//! One axis of a grid: a setting and its values.

use std::str::FromStr;

use super::{
    GridError, GridSetting,
    added::{self, Weighed, name_of},
    applied::{self, Varied},
    parsed::{Value, parsed},
};
use crate::request::{ComputeDtype, Enlarger, ModelSource, Request, Style};

/// A setting and its values.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    setting: GridSetting,
    /// The name of one of several, such as a LoRA, if only that varies.
    of: Option<String>,
    written: String,
    values: Vec<Value>,
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

    /// Reads `steps: 10, 20`; `lora NAME: 0.5, 1` names one of several.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, values) =
            text.split_once(':').ok_or_else(|| GridError::NoSetting(text.trim().to_owned()))?;
        if let Some(setting) = GridSetting::named(name) {
            return Self::new(setting, values);
        }
        // A prompt, which is the name of a region, may have colons.
        let (named, values) = text.rsplit_once(':').unwrap_or((name, values));
        let named = named.trim();
        let of_one = named.match_indices(char::is_whitespace).find_map(|(place, _)| {
            let (setting, of) = named.split_at(place);
            let setting = GridSetting::named(setting).filter(|setting| setting.has_names())?;
            Some((setting, of))
        });
        match of_one {
            Some((setting, of)) => Self::of_one(setting, of, values),
            None => Err(GridError::Unknown {
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
        Ok(Self { setting, of: None, written: text.trim().to_owned(), values })
    }

    /// The same, where the name of one of several may be written before the last colon: `ink: 0.5, 1`.
    ///
    /// # Errors
    /// As [`Axis::new`].
    pub fn typed(setting: GridSetting, text: &str) -> Result<Self, GridError> {
        match text.rsplit_once(':').filter(|_| setting.has_names()) {
            Some((name, values)) => Self::of_one(setting, name, values),
            None => Self::new(setting, text),
        }
    }

    fn of_one(setting: GridSetting, name: &str, text: &str) -> Result<Self, GridError> {
        Ok(Self { of: Some(name.trim().to_owned()), ..Self::new(setting, text)? })
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
        use GridSetting::{Height, HiresStrength, Size, Strength, Width};
        match (self.setting, other.setting) {
            (GridSetting::Prompt, GridSetting::Prompt) => self.values.first() == other.values.first(),
            // Without an input, the denoising strength is that of hires fix, which takes no input.
            (Size, Width | Height)
            | (Width | Height, Size)
            | (Strength, HiresStrength)
            | (HiresStrength, Strength) => true,
            (one, another) => {
                let is_of_both = self.of.is_none() || other.of.is_none() || self.of == other.of;
                one == another && is_of_both
            }
        }
    }

    /// The same for the parts of a request, which have numbers as well as names.
    pub(super) fn shares_a_part(&self, other: &Self, request: &Request) -> bool {
        self.varied().shares_a_part(other.varied(), request)
    }

    fn varied(&self) -> Varied<'_> {
        Varied { setting: self.setting, of: self.of.as_deref() }
    }

    /// As it is read by [`Axis::from_str`].
    pub(super) fn written(&self) -> String {
        match &self.of {
            Some(of) => format!("{} {of}: {}", self.setting.name(), self.written),
            None => format!("{}: {}", self.setting.name(), self.written),
        }
    }

    pub(super) fn labels(&self) -> Vec<String> {
        let title = match &self.of {
            Some(lora) if self.setting == GridSetting::Lora => lora.clone(),
            Some(of) => format!("{} ({of})", self.setting.title()),
            None => self.setting.title().to_owned(),
        };
        let words = |value: &Value| match value {
            Value::Number(number) => format!("{title} {number}"),
            Value::Sampler(sampler) => sampler.title().to_owned(),
            Value::Schedule(schedule) => schedule.title().to_owned(),
            Value::Words(words) => format!("“{words}”"),
            Value::Added(Some(name)) => name_of(name),
            Value::Added(None) => format!("{title} none"),
            Value::Precision(dtype) => format!("{title} {}", dtype.map_or("auto", ComputeDtype::name)),
            Value::Preprocessor(preprocessor) => format!("{title} {}", preprocessor.name()),
            Value::Fit(fit) => format!("{title} {}", fit.name()),
            Value::Size([width, height]) => format!("{width} × {height}"),
            Value::Image(path) => added::stem(path),
            Value::Model(ModelSource::Path(path))
            | Value::Enlarger(Enlarger::Upscaler(ModelSource::Path(path))) => added::model_name(path),
            Value::Model(model) => model.to_string(),
            Value::Enlarger(enlarger) => format!("{title} {enlarger}"),
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
        let varied = self.varied();
        match (&self.values[value], self.setting) {
            (Value::Number(weight), GridSetting::Lora) => {
                added::weigh(&mut request, self.of.as_deref(), around.weighed, *weight as f32)?;
            }
            (Value::Number(number), _) => varied.number(&mut request, *number)?,
            (Value::Enlarger(enlarger), _) => varied.enlarger(&mut request, enlarger.clone())?,
            (Value::Preprocessor(preprocessor), _) => varied.preprocessor(&mut request, *preprocessor)?,
            (Value::Fit(fit), _) => varied.fit(&mut request, *fit)?,
            (Value::Image(path), _) => applied::image(&mut request, path),
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
}
