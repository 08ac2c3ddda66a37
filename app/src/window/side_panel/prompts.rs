//! The prompt and the negative prompt.

use egui::{Align, Id, Layout, Popup, Response, Ui, UiBuilder, vec2};
use sluice_engine::session::Readings;

use super::{
    completion, enhance,
    parts::{Added, Parts, gap},
    prompt_counter, prompt_history, snippets, styles, weights,
};
use crate::{
    language::tr,
    window::{
        action::Action,
        icons,
        settings::PromptKind,
        state::State,
        tokens::{font, size, space},
        widgets,
    },
};

/// Draws both, and between them the card, if it is open.
pub fn show(ui: &mut Ui, parts: &mut Parts<'_>, opened: &mut Added) {
    let state = parts.state;
    let id = Id::unique("sluice prompt");
    let readings = state.planning.readings();
    let (label, buttons) = ui
        .horizontal(|ui| {
            ui.set_height(font::SMALL + 2.0 * space::XS);
            let label = widgets::field_label(ui, &tr!("side-panel-prompt"));
            let buttons = ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                ui.spacing_mut().item_spacing.x = 0.0;
                enhance::opener(ui, state, parts.actions);
                styles::menu(ui, parts);
                let kind = PromptKind::Positive;
                let (text, kept) = (&mut parts.draft.request.prompt, state.settings.snippets_for(kind));
                snippets::menu(ui, (id, text), (kind, kept), parts.actions);
                // What is not always there comes last, so that the others keep their places.
                prompt_history::menu(ui, &state.settings.prompts, parts.actions);
                examples(ui, state, parts.actions);
                ui.min_rect().left()
            });
            (label, buttons.inner)
        })
        .inner;
    let draft = &mut *parts.draft;
    prompt_counter::show(ui, (&label, buttons), &tr!("side-panel-prompt"), &readings.prompt);
    let hint =
        if state.makes_clips() { tr!("side-panel-describe-clip") } else { tr!("side-panel-describe-image") };
    weights::keys(ui, id, &mut draft.request.prompt);
    let offers = completion::keys(ui, id, draft, |draft| &mut draft.request.prompt, state);
    prompt_history::keys(ui, id, &mut draft.request.prompt, &state.settings.prompts);
    let field = widgets::text_area(
        ui,
        id,
        &mut draft.request.prompt,
        (label.id, tr!("side-panel-prompt-tip")),
        &hint,
        (4, 10),
    );
    completion::show(ui, id, draft, |draft| &mut draft.request.prompt, offers, &field);
    prompt_counter::unread(ui, &readings.prompt);
    if let Some(card) = enhance::card(ui, state, parts.actions) {
        opened.see(ui, card.rect);
    }
    negative(ui, parts, readings);
}

/// The negative prompt, where the model reads one. What is written there is shown in any case.
fn negative(ui: &mut Ui, parts: &mut Parts<'_>, readings: &Readings) {
    let (state, draft) = (parts.state, &mut *parts.draft);
    let (id, hint) = (Id::unique("sluice negative"), tr!("side-panel-what-to-avoid"));
    let is_read = readings.prompt.is_empty() || !readings.negative.is_empty();
    let prompt: completion::Prompt = |draft| &mut draft.request.negative_prompt;
    let is_empty = prompt(draft).trim().is_empty();
    if !is_read && is_empty && !ui.memory(|memory| memory.has_focus(id)) {
        return;
    }
    gap(ui);
    let label = widgets::field_label(ui, &tr!("side-panel-negative-prompt"));
    let button = negative_snippets(ui, &label, (id, prompt(draft)), state, parts.actions);
    prompt_counter::show(ui, (&label, button), &tr!("side-panel-negative-prompt"), &readings.negative);
    weights::keys(ui, id, prompt(draft));
    let offers = completion::keys(ui, id, draft, prompt, state);
    let field = widgets::text_area(
        ui,
        id,
        prompt(draft),
        (label.id, tr!("side-panel-negative-prompt-tip")),
        &hint,
        (2, 5),
    );
    completion::show(ui, id, draft, prompt, offers, &field);
    prompt_counter::unread(ui, &readings.negative);
    if draft.request.guidance == 0.0 && !is_empty {
        widgets::hint(ui, tr!("side-panel-negative-unused"));
    } else if !is_read && !is_empty && !state.planning.is_asking() {
        widgets::hint(ui, tr!("side-panel-negative-unread"));
    }
}

/// The button with the snippets for negative prompts, at the end of the row of the label, which stays as high as it is. Returns
/// its left edge.
fn negative_snippets(
    ui: &mut Ui,
    beside: &Response,
    field: (Id, &mut String),
    state: &State,
    actions: &mut Vec<Action>,
) -> f32 {
    let kind = PromptKind::Negative;
    let row = beside.rect.with_max_x(ui.max_rect().right()).expand2(vec2(0.0, space::XS));
    let layout = Layout::right_to_left(Align::Center);
    let mut row = ui.new_child(UiBuilder::new().max_rect(row).layout(layout));
    let kept = (kind, state.settings.snippets_for(kind));
    snippets::menu(&mut row, field, kept, actions);
    row.min_rect().left()
}

fn examples(ui: &mut Ui, state: &State, actions: &mut Vec<Action>) {
    let Some(summary) = state.summary().filter(|summary| !summary.examples.is_empty()) else { return };
    let name = tr!("side-panel-examples");
    let button = widgets::opener(ui, icons::IMAGE, &name, &tr!("side-panel-examples-tip"));
    Popup::menu(&button).accessible_name(name).width(size::POPUP).show(|ui| {
        for example in &summary.examples {
            if widgets::row_button(ui, icons::SPARKLES, example, "", false)
                .on_hover_text(tr!("side-panel-example-tip"))
                .clicked()
            {
                actions.push(Action::UsePrompt(example.clone()));
                ui.close();
            }
        }
    });
}
