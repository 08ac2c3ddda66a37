//! Making a prompt better, and describing images.

use std::path::PathBuf;

/// A step of it.
#[derive(Debug, Clone, PartialEq)]
pub enum EnhanceStep {
    /// Show how.
    Open,
    /// Hide it, and end what is being written.
    Close,
    /// Write, with a new seed.
    Write,
    /// End what is being written.
    Stop,
    /// Use what was written as the prompt.
    Keep,
    /// Append it to the prompt.
    Append,
    /// Show how these images can be described, together.
    Describe(Vec<PathBuf>),
    /// Show how these images can be described one by one.
    DescribeEach(Vec<PathBuf>),
    /// Describe as this kind of words.
    DescribeAs(String),
    /// Let this language model write.
    UseModel(PathBuf),
    /// Tell it something of the user's own, or the usual.
    Instruct(Option<String>),
}
