//! How a model fits, as it is drawn.

use egui::Color32;

use super::{
    state::{Fit, Way},
    tokens::Palette,
};

/// The colour of a fit.
pub fn color(palette: &Palette, fit: &Fit) -> Color32 {
    match fit {
        Fit::Runs { way: Way::Well, .. } => palette.good,
        Fit::Runs { way: Way::Streamed, .. } => palette.accent,
        Fit::Runs { way: Way::Slowly, .. } => palette.activations,
        Fit::Runs { way: Way::VerySlowly, .. } | Fit::TooBig { .. } | Fit::Cannot(_) => palette.danger,
    }
}
