//! Offers to resume the jobs that were unfinished when Sluice was closed.

use egui::{Align, Frame, Layout, Margin, Panel, RichText, Ui};
use sluice_engine::session::Job;

use crate::{
    language::tr,
    window::{
        action::Action,
        tokens::{Palette, font, space},
        widgets::{self, Weight},
    },
};

/// From this width on, the buttons are beside the words.
const WIDE: f32 = 520.0;

/// Draws the offer in a bar above the image, which covers nothing.
pub fn show(ui: &mut Ui, jobs: &[Job], actions: &mut Vec<Action>) {
    if jobs.is_empty() {
        return;
    }
    let margin = Margin::symmetric(space::M as i8, space::S as i8);
    let frame = Frame::new().fill(Palette::of(ui).panel).inner_margin(margin);
    Panel::top("unfinished").resizable(false).frame(frame).show(ui, |ui| {
        if ui.available_width() < WIDE {
            words(ui, jobs);
            ui.add_space(space::XS);
            ui.horizontal(|ui| {
                resume(ui, actions);
                discard(ui, actions);
            });
        } else {
            ui.horizontal(|ui| {
                ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                    discard(ui, actions);
                    resume(ui, actions);
                    ui.with_layout(Layout::top_down(Align::Min), |ui| words(ui, jobs));
                });
            });
        }
    });
}

fn words(ui: &mut Ui, jobs: &[Job]) {
    ui.spacing_mut().item_spacing.y = 2.0;
    let title = tr!("viewer-unfinished", count = jobs.iter().map(|job| job.request.batch).sum::<u32>());
    ui.label(RichText::new(title).font(font::medium(font::BODY)).color(Palette::of(ui).text));
    widgets::hint(ui, tr!("viewer-unfinished-question"));
}

fn resume(ui: &mut Ui, actions: &mut Vec<Action>) {
    if widgets::button(ui, None, &tr!("viewer-unfinished-resume"), Weight::Plain)
        .on_hover_text(tr!("viewer-unfinished-resume-tip"))
        .clicked()
    {
        actions.push(Action::ResumeUnfinished);
    }
}

fn discard(ui: &mut Ui, actions: &mut Vec<Action>) {
    if widgets::button(ui, None, &tr!("viewer-unfinished-discard"), Weight::Ghost)
        .on_hover_text(tr!("viewer-unfinished-discard-tip"))
        .clicked()
    {
        actions.push(Action::DiscardUnfinished);
    }
}
