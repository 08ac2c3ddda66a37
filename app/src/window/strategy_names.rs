//! What the window calls memory strategies.

use sluice_engine::memory::Alternative;

use crate::language::text;

/// Sluice's own rows, and the keys of their names. Rows of other programs, and those of other formats, are called the same in
/// all languages.
const NAMES: [(&str, &str); 10] = [
    ("fastest", "plan-row-fastest"),
    ("balanced", "plan-row-balanced"),
    ("least_memory", "plan-row-least-memory"),
    ("everything", "plan-row-everything"),
    ("model_offload", "plan-row-model-offload"),
    ("cond_only", "plan-row-cond-only"),
    ("cond_diffusion", "plan-row-cond-diffusion"),
    ("layer_streaming", "plan-row-layer-streaming"),
    ("auto", "plan-row-auto"),
    ("stored", "plan-row-stored"),
];

/// The name of a row.
pub fn name_of(alternative: &Alternative) -> String {
    let known = NAMES.iter().find(|(id, _)| *id == alternative.id);
    known.map_or_else(|| alternative.name.clone(), |(_, key)| text(key))
}
