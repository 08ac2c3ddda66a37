//! A better prompt from a language model, or what it sees in images: the button beside the prompt, and below it what is being
//! written.

use egui::{Align, Frame, Id, Layout, Margin, Response, ScrollArea, Ui};

use crate::{
    enhancing::descriptions,
    language::{tr, units},
    window::{
        action::{Action, EnhanceStep},
        files::Dialog,
        icons,
        model_menu::{self, Choice},
        sentences::simulated,
        state::{Each, Enhancing, Estimate, State, file_name},
        tokens::{Palette, radius, space},
        widgets::{self, Weight},
    },
};

/// Height of the text.
const HEIGHT: f32 = 180.0;

/// Draws the button, an icon.
pub fn opener(ui: &mut Ui, state: &State, actions: &mut Vec<Action>) {
    let (name, tip) = (tr!("enhance-open"), tr!("enhance-open-tip"));
    if widgets::opener(ui, icons::SPARKLES, &name, &tip).clicked() {
        let is_open = state.enhancing.as_ref().is_some_and(|known| !known.describes());
        actions.push(if is_open { EnhanceStep::Close.into() } else { EnhanceStep::Open.into() });
    }
}

/// Draws what is below the prompt, if it is open.
pub fn card(ui: &mut Ui, state: &State, actions: &mut Vec<Action>) -> Option<Response> {
    let enhancing = state.enhancing.as_ref()?;
    let palette = Palette::of(ui);
    ui.add_space(space::XS);
    let drawn = Frame::new()
        .fill(palette.accent_soft)
        .corner_radius(radius::M)
        .inner_margin(Margin { left: 12, right: 6, top: 6, bottom: 8 })
        .show(ui, |ui| {
            ui.set_width(ui.available_width());
            heading(ui, state, enhancing, actions);
            if enhancing.describes() {
                subject(ui, state, enhancing, actions);
            }
            forecast(ui, state, enhancing, actions);
            text(ui, enhancing);
            buttons(ui, state, enhancing, actions);
            instruction(ui, state, actions);
        });
    Some(drawn.response)
}

/// The language model, and the button that closes.
fn heading(ui: &mut Ui, state: &State, enhancing: &Enhancing, actions: &mut Vec<Action>) {
    ui.horizontal(|ui| {
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if widgets::icon_button(ui, icons::X, &tr!("enhance-close")).clicked() {
                actions.push(Action::Enhance(EnhanceStep::Close));
            }
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                let found = state.language_models();
                let words = match enhancing.describes() {
                    true => (tr!("enhance-model"), tr!("enhance-describer-tip")),
                    false => (tr!("enhance-model"), tr!("enhance-model-tip")),
                };
                match model_menu::show(ui, words, state.language_model(), &found, false) {
                    Some(Choice::Model(path)) => actions.push(Action::Enhance(EnhanceStep::UseModel(path))),
                    Some(Choice::File) => actions.push(Action::OpenDialog(Dialog::LanguageModel)),
                    None => {}
                }
            });
        });
    });
}

/// Which images are described, and as what.
fn subject(ui: &mut Ui, state: &State, enhancing: &Enhancing, actions: &mut Vec<Action>) {
    match &enhancing.each {
        Some(each) => one_by_one(ui, each),
        None => {
            let names: Vec<String> = enhancing.images.iter().map(|path| file_name(path)).collect();
            widgets::hint(ui, tr!("enhance-describes", names = names.join(", ")));
        }
    }
    let Some(usual) = state.usual_instruction() else { return };
    let mut chosen = usual.id.as_str();
    let all = descriptions().iter().map(|known| known.id.as_str());
    widgets::choice_row(ui, &tr!("enhance-as"), &mut chosen, all, described_as)
        .on_hover_text(tr!("enhance-as-tip"));
    if chosen != usual.id {
        actions.push(EnhanceStep::DescribeAs(chosen.to_owned()).into());
    }
}

/// How many images are described, each in a text beside it.
fn one_by_one(ui: &mut Ui, Each { texts, done }: &Each) {
    let Some(texts) = texts else {
        widgets::hint(ui, tr!("upscale-reading"));
        return;
    };
    widgets::hint(ui, tr!("enhance-each", count = texts.len()));
    if *done > 0 {
        widgets::hint(ui, tr!("enhance-each-done", count = *done));
    }
}

/// What a kind of description is called.
fn described_as(id: &str) -> String {
    match id {
        "tags" => tr!("enhance-as-tags"),
        "short" => tr!("enhance-as-short"),
        "motion" => tr!("enhance-as-motion"),
        _ => tr!("enhance-as-prompt"),
    }
}

/// What writing takes, or why nothing can be written.
fn forecast(ui: &mut Ui, state: &State, enhancing: &Enhancing, actions: &mut Vec<Action>) {
    if state.language_model().is_none() {
        let words = if enhancing.describes() { tr!("enhance-no-describer") } else { tr!("enhance-no-model") };
        widgets::hint(ui, words);
        let tip = if enhancing.describes() { tr!("enhance-describer-tip") } else { tr!("enhance-model-tip") };
        model_menu::offer(ui, state, (Dialog::LanguageModel, tip), actions);
    } else if !enhancing.describes() && state.draft().request.prompt.trim().is_empty() {
        widgets::hint(ui, tr!("enhance-no-prompt"));
    } else {
        match enhancing.estimate() {
            Some(Ok(Estimate { seconds, seconds_here, bytes })) => {
                let (memory, time) = (units::memory_needed(bytes), units::seconds(seconds));
                let words = match enhancing.each {
                    Some(_) => tr!("enhance-each-takes", memory = memory, time = time),
                    None => tr!("enhance-takes", memory = memory, time = time),
                };
                widgets::hint(ui, words);
                if state.simulates() {
                    widgets::hint(ui, simulated(seconds_here));
                }
            }
            Some(Err(why)) => widgets::mistake(ui, &why),
            None => {}
        }
    }
}

/// What was written.
fn text(ui: &mut Ui, enhancing: &Enhancing) {
    if enhancing.text.is_empty() {
        return;
    }
    ScrollArea::vertical()
        .id_salt("sluice enhanced text")
        .max_height(HEIGHT)
        .stick_to_bottom(!enhancing.is_whole)
        .show(ui, |ui| ui.add(egui::Label::new(&enhancing.text).wrap()));
    ui.add_space(space::XS);
}

fn buttons(ui: &mut Ui, state: &State, enhancing: &Enhancing, actions: &mut Vec<Action>) {
    ui.horizontal_wrapped(|ui| {
        if enhancing.is_writing() {
            ui.spinner().on_hover_text(tr!("enhance-writing"));
            if widgets::button(ui, None, &tr!("enhance-stop"), Weight::Plain)
                .on_hover_text(tr!("enhance-stop-tip"))
                .clicked()
            {
                actions.push(Action::Enhance(EnhanceStep::Stop));
            }
            return;
        }
        if enhancing.is_whole {
            keep(ui, enhancing, actions);
        }
        let (name, tip) = match enhancing.text.is_empty() {
            true if enhancing.each.is_some() => (tr!("enhance-each-start"), tr!("enhance-each-start-tip")),
            true if enhancing.describes() => (tr!("enhance-describe"), tr!("enhance-describe-tip")),
            true => (tr!("enhance-write"), tr!("enhance-write-tip")),
            false => (tr!("enhance-again"), tr!("enhance-again-tip")),
        };
        // Part of the row itself, which would not wrap what is inside of it.
        let write = |ui: &mut Ui| widgets::button(ui, Some(icons::SPARKLES), &name, Weight::Plain);
        if ui.add_enabled(state.can_enhance(), write).on_hover_text(tip).clicked() {
            actions.push(Action::Enhance(EnhanceStep::Write));
        }
    });
}

/// What can be done with what was written.
fn keep(ui: &mut Ui, enhancing: &Enhancing, actions: &mut Vec<Action>) {
    let mut button = |name: String, tip: String, action: Action| {
        if widgets::button(ui, None, &name, Weight::Plain).on_hover_text(tip).clicked() {
            actions.push(action);
        }
    };
    if !enhancing.describes() {
        return button(tr!("enhance-keep"), tr!("enhance-keep-tip"), EnhanceStep::Keep.into());
    }
    button(tr!("enhance-use"), tr!("enhance-keep-tip"), EnhanceStep::Keep.into());
    button(tr!("enhance-append"), tr!("enhance-append-tip"), EnhanceStep::Append.into());
    button(tr!("enhance-copy"), tr!("enhance-copy-tip"), Action::CopyText(enhancing.text.clone()));
}

/// What the language model is told.
fn instruction(ui: &mut Ui, state: &State, actions: &mut Vec<Action>) {
    let Some(usual) = state.usual_instruction() else { return };
    let id = Id::unique("sluice enhance instruction");
    let mut open = ui.data(|data| data.get_temp(id)).unwrap_or(false);
    let words = tr!("enhance-instruction");
    widgets::fold(ui, (&words, tr!("enhance-instruction-tip")), &mut open, |ui| {
        let describes = state.enhancing.as_ref().is_some_and(Enhancing::describes);
        let words = match describes {
            true => described_as(&usual.id),
            false => tr!("enhance-instruction-for", kind = kind(&usual.id)),
        };
        let label = widgets::field_label(ui, &words);
        let mut own = state.instruction().to_owned();
        let field = Id::unique("sluice enhance instruction text");
        widgets::text_area(ui, field, &mut own, (label.id, tr!("enhance-instruction-tip")), "", (3, 8));
        if own != state.instruction() {
            actions.push(Action::Enhance(EnhanceStep::Instruct(Some(own))));
        }
        ui.add_enabled_ui(state.instruction() != usual.text, |ui| {
            if widgets::button(ui, Some(icons::RESTORE), &tr!("enhance-instruction-usual"), Weight::Ghost)
                .on_hover_text(tr!("enhance-instruction-usual-tip"))
                .clicked()
            {
                actions.push(Action::Enhance(EnhanceStep::Instruct(None)));
            }
        });
    });
    ui.data_mut(|data| data.insert_temp(id, open));
}

/// What a kind of prompt is called.
fn kind(id: &str) -> String {
    match id {
        "tags" => tr!("enhance-kind-tags"),
        "motion" | "shot" => tr!("enhance-kind-motion"),
        _ => tr!("enhance-kind-sentences"),
    }
}
