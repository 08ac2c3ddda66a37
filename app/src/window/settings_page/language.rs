//! The language of the window.

use egui::Ui;

use super::SettingsPage;
use crate::{
    language::{self, LANGUAGES, Language, tr},
    window::{action::Action, settings::Setting, state::State, tokens, widgets},
};

/// Draws it.
pub fn show(ui: &mut Ui, state: &State, _: &mut SettingsPage, actions: &mut Vec<Action>) {
    let before = state.settings.language.as_deref().and_then(language::find).map(|language| language.tag);
    let mut chosen = before;
    let all = std::iter::once(None).chain(LANGUAGES.iter().map(|language| Some(language.tag)));
    let (lacking, drawn): (Vec<&Language>, Vec<&Language>) =
        LANGUAGES.iter().partition(|language| !tokens::can_draw(ui.ctx(), language));
    widgets::choice_row(ui, &tr!("settings-language"), &mut chosen, all, |tag| match tag {
        None => tr!("settings-language-of-system"),
        // A name in characters that cannot be drawn would be a row of boxes.
        Some(tag) => match drawn.iter().find(|language| language.tag == tag) {
            Some(language) => language.name.to_owned(),
            None => language::find(tag).map_or(tag, |language| language.english).to_owned(),
        },
    })
    .on_hover_text(tr!("settings-language-tip"));
    if chosen != before {
        actions.push(Action::Set(Setting::Language(chosen.map(str::to_owned))));
    }
    if !lacking.is_empty() {
        let names: Vec<&str> = lacking.iter().map(|language| language.english).collect();
        widgets::hint(ui, tr!("settings-language-without-font", languages = names.join(", ")));
    }
}
