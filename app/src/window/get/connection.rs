//! How servers are reached: a mirror, a proxy, and the tokens for models that not everybody may have.

use egui::{Margin, Response, Role, TextEdit, Ui, WidgetInfo, vec2};

use super::paragraph;
use crate::{
    downloads::Site,
    language::tr,
    window::{
        action::{Action, GetAction},
        state::{State, TokenState},
        tokens::{size, space},
        widgets::{self, Weight},
    },
};

/// View state; not saved.
#[derive(Debug, Default)]
pub struct Connection {
    is_open: bool,
    /// What is typed, until it is used.
    typed: Option<[String; 2]>,
    tokens: [String; 2],
}

/// Draws the section.
pub fn show(ui: &mut Ui, state: &State, connection: &mut Connection, actions: &mut Vec<Action>) {
    let Connection { is_open, typed, tokens } = connection;
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
        for (site, token) in Site::ALL.into_iter().zip(tokens.iter_mut()) {
            ui.add_space(space::S);
            token_line(ui, site, state.downloads.token_of(site), token, actions);
        }
    });
}

/// The words about a site's token: its name and tooltip, an example, the names of its buttons, and what counts without one.
struct Words {
    title: String,
    tip: String,
    example: &'static str,
    keep: String,
    remove: String,
    hint: String,
}

fn words(site: Site) -> Words {
    match site {
        Site::HuggingFace => Words {
            title: tr!("get-token"),
            tip: tr!("get-token-tip"),
            example: "hf_…",
            keep: tr!("get-hugging-face-token-keep"),
            remove: tr!("get-hugging-face-token-remove"),
            hint: tr!("get-token-hint"),
        },
        Site::Civitai => Words {
            title: tr!("get-civitai-token"),
            tip: tr!("get-civitai-token-tip"),
            example: "",
            keep: tr!("get-civitai-token-keep"),
            remove: tr!("get-civitai-token-remove"),
            hint: tr!("get-civitai-token-hint"),
        },
    }
}

/// A field for a token, and what is known about it.
fn token_line(ui: &mut Ui, site: Site, known: &TokenState, token: &mut String, actions: &mut Vec<Action>) {
    let words = words(site);
    line(ui, &words.title, token, words.example, true, &words.tip);
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = space::XS;
        let is_empty = token.trim().is_empty();
        let keep = ui
            .add_enabled_ui(!is_empty, |ui| button(ui, [&tr!("get-token-keep"), &words.keep], Weight::Plain));
        if keep.inner.on_hover_text(tr!("get-token-keep-tip")).clicked() {
            actions.push(GetAction::Token(site, Some(std::mem::take(token))).into());
        }
        if *known == TokenState::Kept
            && button(ui, [&tr!("get-token-remove"), &words.remove], Weight::Ghost)
                .on_hover_text(tr!("get-token-remove-tip"))
                .clicked()
        {
            actions.push(GetAction::Token(site, None).into());
        }
    });
    match known {
        TokenState::Kept => paragraph(ui, &tr!("get-token-kept")),
        TokenState::Failed(why) => widgets::mistake(ui, why),
        TokenState::None | TokenState::Unknown => paragraph(ui, &words.hint),
    }
}

/// A button with a name of its own, which says more than its label.
fn button(ui: &mut Ui, [label, name]: [&str; 2], weight: Weight) -> Response {
    let response = widgets::button(ui, None, label, weight);
    response.widget_info(|| WidgetInfo::labeled(Role::Button, ui.is_enabled(), name));
    response
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
