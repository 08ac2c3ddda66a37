//! Guesses the family of models that an adapter was made for. The guess is only shown to people, never acted
//! on.

use std::collections::BTreeSet;

use super::FAMILIES;
use crate::adapters::{AdapterFile, AdapterSummary};

/// What distinguishes adapters for one family from others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AdapterMark {
    /// Part of a layer's name that only this family has, with underscores instead of dots.
    Name(&'static str),
    /// Width of the prompt embeddings that the UNet reads.
    PromptWidth(usize),
    /// How far an adapter reaches into lists of blocks: their names up to the number, with underscores instead
    /// of dots, and how many blocks each has.
    Blocks(&'static [(&'static str, usize)], Reach),
}

/// How far an adapter reaches into lists of blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// It changes each block of every list that it changes.
    All,
    /// It changes some, and none beyond them.
    Some,
}

use AdapterMark::{Blocks, Name, PromptWidth};

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
        Blocks(lists, reach) => reach_of(names, lists) == Some(*reach),
    };
    let wide = |mark: &AdapterMark| matches!(mark, PromptWidth(width) if Some(*width) == prompt_width);
    let found = marks().find(|(_, mark)| named(mark)).or_else(|| marks().find(|(_, mark)| wide(mark)));
    found.map(|(family, _)| *family)
}

/// How far layers with these names reach into lists of blocks; `None` if not at all, or beyond.
fn reach_of(names: &[String], lists: &[(&str, usize)]) -> Option<Reach> {
    let changed = lists.iter().filter_map(|(list, count)| {
        let number = |name: &String| {
            let (_, rest) = name.split_once(list)?;
            rest.split('_').next()?.parse::<usize>().ok()
        };
        let blocks: BTreeSet<usize> = names.iter().filter_map(number).collect();
        let last = *blocks.last()?;
        Some((last >= *count, blocks.len() == *count))
    });
    let changed: Vec<(bool, bool)> = changed.collect();
    if changed.is_empty() || changed.iter().any(|(is_beyond, _)| *is_beyond) {
        return None;
    }
    Some(if changed.iter().all(|(_, is_full)| *is_full) { Reach::All } else { Reach::Some })
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

#[cfg(test)]
mod tests {
    use super::*;

    fn family(layers: &[(&str, &[usize])]) -> Option<&'static str> {
        let names = layers.iter().flat_map(|(list, blocks)| {
            blocks.iter().map(move |block| format!("transformer_{list}_{block}_attn_to_q"))
        });
        family_of_layers(&names.collect::<Vec<_>>(), None)
    }

    #[test]
    fn families_with_the_same_blocks_differ_in_their_number() {
        let all: Vec<usize> = (0..38).collect();
        for (single, double) in
            [("single_transformer_blocks", "transformer_blocks"), ("single_blocks", "double_blocks")]
        {
            assert_eq!(family(&[(single, &all), (double, &all[..19])]), Some("FLUX.1"));
            assert_eq!(family(&[(single, &[7, 12, 16, 20])]), Some("FLUX.1"));
            assert_eq!(family(&[(single, &all[..20]), (double, &all[..10])]), Some("LongCat-Image"));
            assert_eq!(family(&[(single, &all[..20])]), Some("LongCat-Image"));
            assert_eq!(family(&[(single, &[19])]), Some("FLUX.1 or LongCat-Image"));
            assert_eq!(family(&[(single, &all[..20]), (double, &[3])]), Some("FLUX.1 or LongCat-Image"));
        }
        assert_eq!(family(&[("double_blocks", &[12])]), Some("FLUX.1"));
        assert_eq!(adapter_fits(Some("FLUX.1 or LongCat-Image"), "FLUX.1"), Some(true));
        assert_eq!(adapter_fits(Some("FLUX.1 or LongCat-Image"), "LongCat-Image"), Some(true));
        assert_eq!(adapter_fits(Some("FLUX.1 or LongCat-Image"), "FLUX.2"), Some(false));
        assert_eq!(adapter_fits(Some("LongCat-Image"), "FLUX.1"), Some(false));
    }
}
