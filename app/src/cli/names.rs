//! Options whose value is one of several names.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

pub(super) use sluice_engine::adapters::nearest;

/// A parser for one of several names.
pub(super) fn named<T: Copy + Send + Sync + 'static>(
    all: &'static [T],
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    parser(all, name, all.iter().map(|&value| PossibleValue::new(name(value))).collect())
}

/// The same, with a line of help for each name.
pub(super) fn explained<T: Copy + Send + Sync + 'static>(
    all: &'static [T],
    name: fn(T) -> &'static str,
    help: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    parser(all, name, all.iter().map(|&value| PossibleValue::new(name(value)).help(help(value))).collect())
}

fn parser<T: Copy + Send + Sync + 'static>(
    all: &'static [T],
    name: fn(T) -> &'static str,
    names: Vec<PossibleValue>,
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(names)
        .try_map(move |text| all.iter().copied().find(|&value| name(value) == text).ok_or("unknown name"))
}
