//! Plays a clip: its frames on the canvas, and the bar with the controls.

use std::{path::Path, sync::Arc, time::Duration};

use egui::{Align, Color32, ComboBox, Context, Layout, Rect, Response, Ui, vec2};
use sluice_engine::output::Clip;

use super::{
    canvas::{self, View},
    scrub_bar,
};
use crate::{
    language::{tr, units},
    window::{
        action::Action,
        icons,
        settings::Setting,
        state::{Control, Playback, Recent, SPEEDS},
        textures::{Side, Textures},
        tokens::{Palette, font, size, space},
        widgets,
    },
};

/// Added to the time until the next frame, so that a repaint never comes just before it.
const AFTER: f64 = 0.0005;

/// Draws the current frame, and repaints when the next one is due. A click plays or pauses.
pub fn canvas(
    ui: &mut Ui,
    area: Rect,
    view: &mut View,
    textures: &mut Textures,
    (recent, file): (&Recent, Option<&Path>),
    (clip, playback, now): (&Arc<Clip>, &Playback, f64),
    actions: &mut Vec<Action>,
) -> Response {
    let [width, height] = recent.size();
    let shape = vec2(width as f32, height as f32);
    let (place, response) = canvas::interact(ui, view, area, shape, (&recent.name(), file));
    if response.clicked() {
        actions.push(Action::Play(Control::Toggle));
    }
    canvas::paint_sheet(ui, area, place);
    let pixels = canvas::shows_pixels(view.zoom(shape, area, ui.pixels_per_point()));
    if let Some(texture) = textures.frame(ui.ctx(), Side::A, (recent.id, clip), playback.frame(now), pixels) {
        canvas::paint_image(ui, area, place, texture, Color32::WHITE);
    }
    repaint_at_next_frame(ui.ctx(), playback, now);
    response
}

/// Requests a repaint for the next frame, unless nothing moves or nobody sees it.
pub fn repaint_at_next_frame(ctx: &Context, playback: &Playback, now: f64) {
    let is_hidden = ctx.input(|input| input.viewport().visible() == Some(false));
    if let Some(seconds) = playback.until_next(now).filter(|_| !is_hidden) {
        ctx.request_repaint_after(Duration::from_secs_f64(seconds + AFTER));
    }
}

/// Draws the controls. `muted` is absent for a clip without sound.
pub fn bar(ui: &mut Ui, playback: &Playback, muted: Option<bool>, now: f64, actions: &mut Vec<Action>) {
    let frame = playback.frame(now);
    ui.horizontal_centered(|ui| {
        ui.spacing_mut().item_spacing.x = space::XS;
        let (icon, name) = match playback.is_playing() || playback.resumes() {
            true => (icons::PAUSE, tr!("viewer-pause")),
            false => (icons::PLAY, tr!("viewer-play")),
        };
        for (icon, name, tip, control) in [
            (icon, name, tr!("viewer-play-tip"), Control::Toggle),
            (
                icons::STEP_BACK,
                tr!("viewer-previous-frame"),
                tr!("viewer-previous-frame-tip"),
                Control::Step(-1),
            ),
            (icons::STEP_FORWARD, tr!("viewer-next-frame"), tr!("viewer-next-frame-tip"), Control::Step(1)),
        ] {
            press(ui, icon, [&name, &tip], control, actions);
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            speed(ui, playback, actions);
            if let Some(muted) = muted {
                let icon = if muted { icons::VOLUME_X } else { icons::VOLUME };
                let words = (tr!("viewer-mute"), tr!("viewer-mute-tip"));
                if widgets::explained_toggle(ui, icon, (&words.0, &words.1), muted).clicked() {
                    actions.push(Action::Set(Setting::Muted(!muted)));
                }
            }
            let boomerang = playback.boomerang();
            let words = (tr!("viewer-boomerang"), tr!("viewer-boomerang-tip"));
            let words = (words.0.as_str(), words.1.as_str());
            if widgets::explained_toggle(ui, icons::MOVE_HORIZONTAL, words, boomerang).clicked() {
                actions.push(Action::Play(Control::Boomerang(!boomerang)));
            }
            if playback.is_trimmed() {
                let words = [&*tr!("viewer-play-whole"), &*tr!("viewer-play-whole-tip")];
                press(ui, icons::X, words, Control::Whole, actions);
            }
            let words = [&*tr!("viewer-end-here"), &*tr!("viewer-end-here-tip")];
            press(ui, icons::ARROW_RIGHT_TO_LINE, words, Control::Last(frame), actions);
            let words = [&*tr!("viewer-start-here"), &*tr!("viewer-start-here-tip")];
            press(ui, icons::ARROW_RIGHT_FROM_LINE, words, Control::First(frame), actions);
            place_in_clip(ui, playback, frame);
            ui.add_space(space::XS);
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                ui.add_space(space::XS);
                scrub_bar::show(ui, playback, frame, &mut |control| actions.push(Action::Play(control)));
            });
        });
    });
}

/// A button with this name and tooltip.
fn press(ui: &mut Ui, icon: &str, [name, tip]: [&str; 2], control: Control, actions: &mut Vec<Action>) {
    if widgets::explained_icon(ui, icon, name, tip).clicked() {
        actions.push(Action::Play(control));
    }
}

fn speed(ui: &mut Ui, playback: &Playback, actions: &mut Vec<Action>) {
    let name = |speed: f64| units::figure(&format!("{speed}×"));
    ui.scope(|ui| {
        ui.spacing_mut().interact_size.y = size::CONTROL;
        let menu = ComboBox::from_id_salt("speed").selected_text(name(playback.speed())).width(66.0);
        let shown = widgets::drop_down(ui, menu, |ui| {
            for speed in SPEEDS {
                if widgets::choice(ui, playback.speed() == speed, name(speed))
                    .on_hover_text(tr!("viewer-speed-tip"))
                    .clicked()
                {
                    actions.push(Action::Play(Control::Speed(speed)));
                }
            }
        });
        shown.response.accessible_name(tr!("viewer-speed")).on_hover_text(tr!("viewer-speed-tip"));
    });
}

/// The number of the frame and its time. The width depends only on the clip, so that nothing moves while it plays.
fn place_in_clip(ui: &mut Ui, playback: &Playback, frame: u32) {
    let words = |frame: u32| {
        let seconds = clock(playback.seconds(frame));
        format!("{} / {} · {seconds}", frame + 1, playback.frames())
    };
    let color = Palette::of(ui).text_muted;
    let text =
        |words: String| ui.painter().layout_no_wrap(words, egui::FontId::proportional(font::SMALL), color);
    let digits = |words: String| words.replace(|c: char| c.is_ascii_digit(), "0");
    let width = text(digits(words(playback.frames() - 1))).size().x.ceil();
    let galley = text(words(frame));
    let (rect, response) = ui.allocate_exact_size(vec2(width, size::CONTROL), egui::Sense::hover());
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Label, true, words(frame)));
    let left = egui::pos2(rect.right() - galley.size().x, rect.center().y - galley.size().y / 2.0);
    ui.painter().galley(left, galley, color);
    response.on_hover_text(tr!("viewer-place-tip"));
}

/// A place in a clip: `2.06 s`, `1:02.06`.
pub fn clock(seconds: f64) -> String {
    let hundredths = (seconds * 100.0).round() as u64;
    let (minutes, seconds, hundredths) = (hundredths / 6000, hundredths / 100 % 60, hundredths % 100);
    match minutes {
        0 => format!("{seconds}.{hundredths:02} s"),
        _ => format!("{minutes}:{seconds:02}.{hundredths:02}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_in_a_clip_is_short() {
        for (seconds, words) in [(0.0, "0.00 s"), (2.0625, "2.06 s"), (59.999, "1:00.00"), (62.06, "1:02.06")]
        {
            assert_eq!(clock(seconds), words);
        }
    }
}
