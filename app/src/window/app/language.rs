//! Lets the window speak the language of the settings, with fonts that have its characters.

use std::sync::Arc;

use egui::Context;

use super::SluiceApp;
use crate::{
    fonts::SystemFonts,
    language::{self, Language},
    window::tokens,
};

/// Whose fonts of the system are in use.
#[derive(Debug, Default)]
pub(super) struct FontsInUse {
    /// Whether any are.
    pub are_used: bool,
    /// The tag of the language that chooses between them.
    language: Option<&'static str>,
}

impl FontsInUse {
    pub fn new(are_used: bool) -> Self {
        Self { are_used, language: None }
    }

    fn follow(&mut self, ctx: &Context, language: &Language) {
        if self.are_used && self.language != Some(language.tag) {
            ctx.set_font_providers(vec![Arc::new(SystemFonts::of(language))]);
            self.language = Some(language.tag);
        }
    }
}

impl SluiceApp {
    /// Before the first frame, when it is not known yet what can be drawn.
    pub(super) fn choose_language(&mut self, ctx: &Context) {
        let language = self.state.language();
        self.system_fonts.follow(ctx, language);
        language::choose(language);
    }

    /// Follows the settings. A language that cannot be drawn is English, and the settings say why.
    pub(super) fn follow_language(&mut self, ctx: &Context) {
        let language = self.state.language();
        self.system_fonts.follow(ctx, language);
        language::choose(if tokens::can_draw(ctx, language) { language } else { language::english() });
    }
}
