//! The styles that an order can name.

use std::path::PathBuf;

use sluice_engine::{
    adapters::nearest,
    request::{ModelSource, Style},
    text::styles_around,
};

use super::{Order, OrderError, shelf::LISTED};
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
            style.cloned().ok_or_else(|| {
                let names = known.iter().map(|style| style.name.as_str());
                let near = nearest(name, names.clone()).map(str::to_owned);
                let known = names.take(LISTED).map(str::to_owned).collect();
                OrderError::Unknown { kind: "style", name: name.clone(), near, known }
            })
        };
        self.styles.iter().map(find).collect()
    }
}
