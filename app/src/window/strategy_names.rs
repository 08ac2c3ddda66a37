//! What the window calls memory strategies.

use sluice_engine::memory::Alternative;

use crate::language::text;

/// The rows of Sluice, and the keys of their names. Rows of other programs are called the same in all languages.
const NAMES: [(&str, &str); 22] = [
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
    ("layer_streaming_25", "plan-row-layer-streaming-25"),
    ("layer_streaming_50", "plan-row-layer-streaming-50"),
    ("layer_streaming_75", "plan-row-layer-streaming-75"),
    ("fp8", "plan-row-fp8"),
    ("fp8_model_offload", "plan-row-fp8-model-offload"),
    ("fp8_layer_streaming", "plan-row-fp8-layer-streaming"),
    ("int8", "plan-row-int8"),
    ("int8_model_offload", "plan-row-int8-model-offload"),
    ("int8_layer_streaming", "plan-row-int8-layer-streaming"),
    ("nf4", "plan-row-nf4"),
    ("nf4_model_offload", "plan-row-nf4-model-offload"),
    ("nf4_layer_streaming", "plan-row-nf4-layer-streaming"),
];

/// The name of a row.
pub fn name_of(alternative: &Alternative) -> String {
    let known = NAMES.iter().find(|(id, _)| *id == alternative.id);
    known.map_or_else(|| alternative.name.clone(), |(_, key)| text(key))
}
