//! Choices among names, and what somebody may have meant.

use clap::builder::{PossibleValuesParser, TypedValueParser};

pub(super) use sluice_engine::adapters::nearest;

/// A choice among names.
pub(super) fn named<T: Copy + Send + Sync + 'static>(
    all: &'static [T],
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(all.iter().map(|&value| name(value))).try_map(move |text| {
        all.iter().copied().find(|&value| name(value) == text).ok_or("this name is unknown")
    })
}
