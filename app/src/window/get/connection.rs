//! How servers are reached: a mirror, a proxy, and the token for models with conditions.

use egui::{Margin, TextEdit, Ui, vec2};

use super::paragraph;
use crate::language::tr;
use crate::window::{
    action::{Action, GetAction},
    state::{State, TokenState},
    tokens::{size, space},
    widgets::{self, Weight},
};

/// View state; not saved.
#[derive(Debug, Default)]
pub struct Connection {
    is_open: bool,
    /// What is typed, until it is used.
    typed: Option<[String; 2]>,
    token: String,
}

/// Draws the section.
pub fn show(ui: &mut Ui, state: &State, connection: &mut Connection, actions: &mut Vec<Action>) {
    let Connection { is_open, typed, token } = connection;
    widgets::fold(ui, (&tr!("get-connection"), tr!("get-connection-tip")), is_open, |ui| {
        ui.spacing_mut().item_spacing.y = space::XS;
        let saved = &state.settings.library.downloads;
        let saved = [saved.endpoint.clone(), saved.proxy.clone()];
        let own = typed.get_or_insert_with(|| saved.clone());
        let [endpoint, proxy] = own;
        line(ui, &tr!("get-mirror"), endpoint, "https://huggingface.co", false, &tr!("get-mirror-tip"));
        line(ui, &tr!("get-proxy"), proxy, "http://host:port", false, &tr!("get-proxy-tip"));
        let is_new = *own != saved;
        let use_it =
            ui.add_enabled_ui(is_new, |ui| widgets::button(ui, None, &tr!("get-use"), Weight::Plain));
        if use_it.inner.on_hover_text(tr!("get-use-tip")).clicked() {
            let [endpoint, proxy] = own.clone();
            actions.push(GetAction::Connection { endpoint, proxy }.into());
            *typed = None;
        }
        ui.add_space(space::S);
        line(ui, &tr!("get-token"), token, "hf_…", true, &tr!("get-token-tip"));
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = space::XS;
            let is_empty = token.trim().is_empty();
            let keep = ui.add_enabled_ui(!is_empty, |ui| {
                widgets::button(ui, None, &tr!("get-token-keep"), Weight::Plain)
            });
            if keep.inner.on_hover_text(tr!("get-token-keep-tip")).clicked() {
                actions.push(GetAction::Token(Some(std::mem::take(token))).into());
            }
            if state.downloads.token == TokenState::Kept
                && widgets::button(ui, None, &tr!("get-token-remove"), Weight::Ghost)
                    .on_hover_text(tr!("get-token-remove-tip"))
                    .clicked()
            {
                actions.push(GetAction::Token(None).into());
            }
        });
        match &state.downloads.token {
            TokenState::Kept => paragraph(ui, &tr!("get-token-kept")),
            TokenState::Failed(why) => widgets::mistake(ui, why),
            TokenState::None | TokenState::Unknown => paragraph(ui, &tr!("get-token-hint")),
        }
    });
}

fn line(ui: &mut Ui, name: &str, text: &mut String, hint: &str, is_secret: bool, tip: &str) {
    let label = widgets::field_label(ui, name);
    let width = ui.available_width();
    let field = TextEdit::singleline(text)
        .hint_text(hint)
        .password(is_secret)
        .margin(Margin::symmetric(10, 6))
        .desired_width(width);
    ui.add_sized(vec2(width, size::CONTROL), field).labelled_by(label.id).on_hover_text(tip);
}
