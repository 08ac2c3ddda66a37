//! Options that may be given for single parts of a model: `staged`, or `t5=on-demand,clip_l=resident`.

use std::ffi::OsStr;

use clap::{
    Arg, Command, Error,
    builder::{PossibleValue, TypedValueParser},
};
use sluice_engine::{
    memory::{MemoryPreferences, answers_to, short_name},
    session::ModelSummary,
};

use super::exit::refuse;

/// A value for all parts, or for one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ForPart<T> {
    pub part: Option<String>,
    pub value: T,
}

/// Parses a value, with the name of a part and `=` before it or not.
#[derive(Debug, Clone)]
pub(super) struct PartParser<P>(pub P);

impl<P: TypedValueParser> TypedValueParser for PartParser<P> {
    type Value = ForPart<P::Value>;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        text: &OsStr,
    ) -> Result<Self::Value, Error> {
        let (part, value) = match text.to_str().and_then(|text| text.split_once('=')) {
            Some((part, value)) => (Some(part.trim().to_owned()), OsStr::new(value.trim())),
            None => (None, text),
        };
        Ok(ForPart { part, value: self.0.parse_ref(command, argument, value)? })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        self.0.possible_values()
    }
}

/// The last value for all parts.
pub(super) fn for_all<T: Copy>(values: &[ForPart<T>]) -> Option<T> {
    values.iter().rev().find(|value| value.part.is_none()).map(|value| value.value)
}

/// Refuses memory settings for parts that a model does not have.
pub(super) fn check(memory: &MemoryPreferences, model: &ModelSummary) -> anyhow::Result<()> {
    let is_there = |name: &str| {
        let mut parts = model.components.iter();
        parts.any(|part| answers_to(name, &part.name, &part.architecture, part.role))
    };
    let Some(name) = memory.parts.keys().find(|name| !is_there(name)) else { return Ok(()) };
    let parts = model.components.iter();
    let parts = parts.map(|part| format!("`{}` ({})", part.name, short_name(&part.architecture)));
    Err(refuse(
        format!("{} has no part named `{name}`", model.name),
        format!("Its parts are {}.", parts.collect::<Vec<_>>().join(", ")),
    ))
}
