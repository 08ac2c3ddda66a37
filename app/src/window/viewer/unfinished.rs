//! Offers to resume the jobs that were unfinished when Sluice was closed.

use egui::{Align2, Area, Frame, Margin, Order, Rect, RichText, Ui, vec2};
use sluice_engine::session::Job;

use crate::{
    language::tr,
    window::{
        action::Action,
        tokens::{Palette, font, radius, shadow, size, space},
        widgets::{self, Weight},
    },
};

/// Draws the offer over the top of the viewer.
pub fn show(ui: &mut Ui, area: Rect, jobs: &[Job], actions: &mut Vec<Action>) {
    if jobs.is_empty() {
        return;
    }
    let palette = Palette::of(ui);
    let width = (area.width() - 2.0 * space::L).min(size::CARD);
    Area::new(ui.scope_id().with("unfinished"))
        .order(Order::Middle)
        .pivot(Align2::CENTER_TOP)
        .fixed_pos(area.center_top() + vec2(0.0, space::M))
        .constrain_to(area)
        .show(ui.ctx(), |ui| {
            Frame::new()
                .fill(palette.panel)
                .stroke(egui::Stroke::new(1.0, palette.line_strong))
                .corner_radius(radius::M)
                .shadow(shadow(palette))
                .inner_margin(Margin::same(space::M as i8))
                .show(ui, |ui| {
                    ui.set_width(width - 2.0 * space::M);
                    ui.label(RichText::new(title(jobs)).font(font::medium(font::BODY)).color(palette.text));
                    widgets::hint(ui, tr!("viewer-unfinished-question"));
                    ui.add_space(space::S);
                    ui.horizontal(|ui| {
                        if widgets::button(ui, None, &tr!("viewer-unfinished-resume"), Weight::Plain)
                            .on_hover_text(tr!("viewer-unfinished-resume-tip"))
                            .clicked()
                        {
                            actions.push(Action::ResumeUnfinished);
                        }
                        if widgets::button(ui, None, &tr!("viewer-unfinished-discard"), Weight::Ghost)
                            .on_hover_text(tr!("viewer-unfinished-discard-tip"))
                            .clicked()
                        {
                            actions.push(Action::DiscardUnfinished);
                        }
                    });
                });
        });
}

fn title(jobs: &[Job]) -> String {
    tr!("viewer-unfinished", count = jobs.iter().map(|job| job.request.batch).sum::<u32>())
}
