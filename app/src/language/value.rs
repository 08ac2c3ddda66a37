//! Values of the variables in texts.

use std::{borrow::Cow, path::Display};

use fluent_bundle::FluentValue;

/// The value of a variable.
#[derive(Debug, Clone, PartialEq)]
pub enum Value<'a> {
    /// A number, which chooses plurals and is shown with all its digits.
    Integer(i64),
    /// A text as it is.
    Text(Cow<'a, str>),
}

impl<'a> From<Value<'a>> for FluentValue<'a> {
    fn from(value: Value<'a>) -> Self {
        /// From here on, Fluent's numbers lose digits.
        const EXACT: u64 = 1 << 53;
        match value {
            Value::Integer(number) if number.unsigned_abs() > EXACT => Self::from(number.to_string()),
            Value::Integer(number) => Self::from(number),
            Value::Text(text) => Self::String(text),
        }
    }
}

impl From<u64> for Value<'_> {
    fn from(number: u64) -> Self {
        i64::try_from(number).map_or_else(|_| Self::Text(number.to_string().into()), Self::Integer)
    }
}

impl From<usize> for Value<'_> {
    fn from(number: usize) -> Self {
        Self::from(number as u64)
    }
}

macro_rules! integers {
    ($($kind:ty)+) => {$(
        impl From<$kind> for Value<'_> {
            fn from(number: $kind) -> Self {
                Self::Integer(number.into())
            }
        }
    )+};
}

integers!(i64 i32 i16 i8 u32 u16 u8);

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text.into())
    }
}

impl<'a> From<&'a String> for Value<'a> {
    fn from(text: &'a String) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for Value<'_> {
    fn from(text: String) -> Self {
        Self::Text(text.into())
    }
}

impl<'a> From<Cow<'a, str>> for Value<'a> {
    fn from(text: Cow<'a, str>) -> Self {
        Self::Text(text)
    }
}

impl From<Display<'_>> for Value<'_> {
    fn from(path: Display<'_>) -> Self {
        Self::Text(path.to_string().into())
    }
}
