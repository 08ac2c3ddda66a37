//! Guesses the family of models that an adapter was made for. The guess is only shown to people, never acted
//! on.

use super::FAMILIES;
use crate::adapters::{AdapterFile, AdapterSummary};

/// What distinguishes adapters for one family from others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AdapterMark {
    /// Part of a layer's name that only this family has, with underscores instead of dots.
    Name(&'static str),
    /// Width of the prompt embeddings that the UNet reads.
    PromptWidth(usize),
}

use AdapterMark::{Name, PromptWidth};

/// Suffix of the names of layers whose inputs are the prompt embeddings.
pub(super) const READS_PROMPT: &str = "attn2_to_k";

/// The family by the names of an adapter's layers, or else by their widths.
pub fn family_of_adapter(file: &AdapterFile) -> Option<&'static str> {
    let names = file.layers.iter().map(|layer| layer.name.replace('.', "_"));
    let width = file.layers.iter().zip(names.clone()).find(|(_, name)| name.ends_with(READS_PROMPT));
    let width = width.and_then(|(layer, _)| layer.content.as_ref()?.dims().ok()).map(|[_, width]| width);
    family_of_layers(&names.collect::<Vec<_>>(), width)
}

/// The family of layers with these names (without dots) and this width of the prompt embeddings.
pub(super) fn family_of_layers(names: &[String], prompt_width: Option<usize>) -> Option<&'static str> {
    let marks = || FAMILIES.iter().flat_map(|family| family.adapter_marks());
    let named = |mark: &AdapterMark| match mark {
        Name(part) => names.iter().any(|name| name.contains(part)),
        PromptWidth(_) => false,
    };
    let wide = |mark: &AdapterMark| matches!(mark, PromptWidth(width) if Some(*width) == prompt_width);
    let found = marks().find(|(_, mark)| named(mark)).or_else(|| marks().find(|(_, mark)| wide(mark)));
    found.map(|(family, _)| *family)
}

/// Whether an adapter that seems to be for these models fits a model of this family, both by their names; `None` if that is
/// not known.
pub fn adapter_fits(adapter: Option<&str>, family: &str) -> Option<bool> {
    let adapter = adapter?;
    let own = FAMILIES.iter().find(|own| own.name() == family)?;
    let is_named = adapter == family || own.adapter_marks().iter().any(|(name, _)| *name == adapter);
    let is_vague = !FAMILIES.iter().any(|other| {
        adapter == other.name() || other.adapter_marks().iter().any(|(name, _)| *name == adapter)
    });
    (is_named || !is_vague).then_some(is_named)
}

/// Describes an adapter's file.
pub fn adapter_summary(file: &AdapterFile) -> AdapterSummary {
    AdapterSummary::new(file, family_of_adapter(file))
}
