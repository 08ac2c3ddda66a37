//! The styles that an order can name.

use std::path::PathBuf;

use sluice_engine::{
    request::{ModelSource, Style},
    text::styles_around,
};

use super::{Order, OrderError, shelf::unknown};
use crate::folders::style_folder;

/// The user's own styles, and those around a model.
pub fn styles_of(model: &ModelSource) -> Vec<Style> {
    let own: Vec<PathBuf> = style_folder().into_iter().collect();
    styles_around(&model.resolve().unwrap_or_default(), &own).0
}

impl Order {
    /// The styles that it names.
    ///
    /// # Errors
    /// When there is none of a name.
    pub(super) fn chosen_styles(&self, model: &ModelSource) -> Result<Vec<Style>, OrderError> {
        if self.styles.is_empty() {
            return Ok(Vec::new());
        }
        let known = styles_of(model);
        let find = |name: &String| {
            let style = known.iter().find(|style| style.name.eq_ignore_ascii_case(name));
            let names = known.iter().map(|style| style.name.as_str());
            style.cloned().ok_or_else(|| unknown("style", names, name))
        };
        self.styles.iter().map(find).collect()
    }
}
