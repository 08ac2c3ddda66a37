//! What is wrong with a grid.

/// Why a grid cannot be generated.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum GridError {
    /// No axis has values.
    #[error("nothing varies; choose a setting and its values")]
    Nothing,
    /// An axis without its setting.
    #[error("{0:?} names no setting; write its name, a colon and its values, such as `steps: 10, 20, 30`")]
    NoSetting(String),
    /// A setting that cannot vary.
    #[error("there is no setting named {name:?}; use {}", all.join(", "))]
    Unknown {
        /// The name.
        name: String,
        /// Those that are there.
        all: Vec<&'static str>,
    },
    /// An axis without values.
    #[error("{0} has no values; write some, such as 1, 2, 3")]
    NoValues(&'static str),
    /// A value that the setting cannot have.
    #[error("{value:?} is not a value of {setting}; {wanted}")]
    Value {
        /// The setting.
        setting: &'static str,
        /// The value.
        value: String,
        /// What it can be.
        wanted: String,
    },
    /// Two axes vary one setting.
    #[error("{0} varies twice; choose another setting for one of them")]
    Twice(&'static str),
    /// Too many cells.
    #[error("{count} images are too many for a grid; use {most} or fewer")]
    TooMany {
        /// The number of cells.
        count: usize,
        /// The largest number.
        most: usize,
    },
    /// The words to replace are in no prompt.
    #[error("neither the prompt nor the negative prompt contains {0:?}, the words to replace")]
    NotInPrompt(String),
    /// No LoRA has this name.
    #[error("no LoRA named {name:?} is used; {}", match used.as_slice() {
        [] => "add one first".to_owned(),
        used => format!("there is {}", used.join(", ")),
    })]
    NoLora {
        /// The name.
        name: String,
        /// Those that are used.
        used: Vec<String>,
    },
    /// None of several parts has this name.
    #[error(
        "{setting} varies for {name:?}, but its names are {}; use one of them, or its number",
        used.join(", ")
    )]
    NoPart {
        /// The setting.
        setting: &'static str,
        /// The name.
        name: String,
        /// Those that are used.
        used: Vec<String>,
    },
    /// Several LoRAs, and none is named.
    #[error("several LoRAs are used; say which one, such as `lora {0}: 0.5, 1`")]
    WhichLora(String),
    /// No style has this name.
    #[error("there is no style named {0:?}; choose one of the list of styles, or save it first")]
    NoStyle(String),
    /// A denoising strength without an input image.
    #[error("denoising strength varies, but there is no input image and no hires fix; choose one first")]
    NoInput,
    /// Something that is not used.
    #[error("{setting} varies, but nothing uses {what}; add it first")]
    Unused {
        /// The setting.
        setting: &'static str,
        /// What it belongs to.
        what: &'static str,
    },
}
