//! Image or video, and the length of a clip.

use egui::{DragValue, Ui};
use sluice_engine::request::{RequestError, Windows};

use super::parts::{Parts, gap, sentence};
use crate::{
    language::{tr, units},
    window::{
        action::Action,
        state::{clip_words, frames_of, snap_frames},
        widgets::{self, Weight},
    },
};

/// The longest clip that the slider offers, in seconds.
const LONGEST: f32 = 10.0;
/// How many times the usual length is far from it.
const FAR: u32 = 2;
/// The most frames that can be typed.
const MOST_FRAMES: u32 = 1025;

/// Draws the switch between models that generate images and models that generate videos.
pub fn switch(ui: &mut Ui, parts: &mut Parts<'_>) {
    let is_video = parts.state.makes_clips();
    let [image, video] = parts.state.model_of_each_kind();
    if let Some(wants_video) = widgets::segmented(
        ui,
        is_video,
        &[
            (false, tr!("side-panel-kind-image"), tr!("side-panel-kind-image-tip")),
            (true, tr!("side-panel-kind-video"), tr!("side-panel-kind-video-tip")),
        ],
    ) {
        parts.actions.push(Action::ChooseModel(if wants_video { video } else { image }));
    }
    gap(ui);
}

/// Draws duration and frame rate, for models that generate clips.
pub fn length(ui: &mut Ui, parts: &mut Parts<'_>) {
    let Some(multiple) = parts.state.summary().and_then(|summary| summary.frame_multiple) else { return };
    let request = &mut parts.draft.request;
    let rate = request.frame_rate;
    let mut step = (snap_frames(request.frames, multiple) - 1) / multiple;
    let offered = 0..=((frames_of(LONGEST, rate, multiple) - 1) / multiple).max(step);
    let typed = 0..=(MOST_FRAMES - 1) / multiple;
    let format = in_words(rate, multiple);
    let row =
        widgets::slider_row_with(ui, &tr!("side-panel-duration"), &mut step, offered, typed, 1.0, format);
    let tip = match multiple {
        1 => tr!("side-panel-duration-tip"),
        _ => tr!("side-panel-duration-multiple-tip", multiple = multiple),
    };
    if row.on_hover_text(tip).changed() || step != (request.frames.max(1) - 1) / multiple {
        request.frames = 1 + step * multiple;
    }
    widgets::slider_row(
        ui,
        &tr!("side-panel-frame-rate"),
        &mut request.frame_rate,
        4.0..=30.0,
        1.0..=60.0,
        1.0,
    )
    .on_hover_text(tr!("side-panel-frame-rate-tip"));
    usual_length(ui, parts, multiple);
    windows(ui, parts, multiple);
    if let Some(error @ (RequestError::FrameRate(_) | RequestError::NoFrames | RequestError::Windows(_))) =
        parts.mistake
    {
        widgets::mistake(ui, &sentence(error));
    }
    gap(ui);
}

/// Says when a clip is much longer than what the model was made for, and offers that length.
fn usual_length(ui: &mut Ui, parts: &mut Parts<'_>, multiple: u32) {
    let usual = parts.state.summary().map_or(1, |summary| snap_frames(summary.defaults.frames, multiple));
    let request = &mut parts.draft.request;
    // In windows the model sees no more frames than usual. Where the default is a still image, no length is known.
    if usual <= 1 || request.windows.is_some() || request.frames <= usual.saturating_mul(FAR) {
        return;
    }
    let length = clip_words(usual, request.frame_rate);
    widgets::hint(ui, tr!("side-panel-clip-longer", length = length.as_str()));
    if widgets::button(ui, None, &tr!("side-panel-use-length", length = length.as_str()), Weight::Plain)
        .on_hover_text(tr!("side-panel-use-length-tip"))
        .clicked()
    {
        request.frames = usual;
    }
}

/// Draws the windows of a clip that is longer than what the model was trained for.
fn windows(ui: &mut Ui, parts: &mut Parts<'_>, multiple: u32) {
    let usual = parts.state.summary().map_or(1, |summary| summary.defaults.frames);
    let request = &mut parts.draft.request;
    if request.frames <= usual && request.windows.is_none() {
        return;
    }
    let mut on = request.windows.is_some();
    let changed =
        ui.checkbox(&mut on, tr!("side-panel-windows")).on_hover_text(tr!("side-panel-windows-tip"));
    if changed.changed() {
        request.windows = on.then(|| Windows::of(usual.min(request.frames)));
    }
    let Some(windows) = &mut request.windows else { return };
    let (rate, longest) = (request.frame_rate, (request.frames.max(usual) - 1) / multiple);
    let mut step = (snap_frames(windows.frames, multiple) - 1) / multiple;
    let format = in_words(rate, multiple);
    if widgets::slider_row_with(
        ui,
        &tr!("side-panel-window"),
        &mut step,
        1..=longest.max(1),
        1..=longest.max(1),
        1.0,
        format,
    )
    .on_hover_text(tr!("side-panel-window-tip"))
    .changed()
    {
        windows.frames = 1 + step * multiple;
        windows.overlap = windows.overlap.min(windows.frames - 1);
    }
    let most = windows.frames.saturating_sub(1);
    widgets::slider_row(
        ui,
        &tr!("side-panel-overlap"),
        &mut windows.overlap,
        0..=most.min(48),
        0..=most,
        f64::from(multiple),
    )
    .on_hover_text(tr!("side-panel-overlap-tip"));
}

/// Shows and reads a number of steps as a length.
fn in_words(rate: f32, multiple: u32) -> impl FnOnce(DragValue<'_>) -> DragValue<'_> {
    move |number| {
        let words = move |step: f64, _| clip_words(1 + step as u32 * multiple, rate);
        number.custom_formatter(words).custom_parser(move |text| {
            let frames = typed_frames(&units::with_point(text), rate, multiple)?;
            Some(f64::from((frames - 1) / multiple))
        })
    }
}

/// What was typed: seconds, or frames if another word than one for seconds or minutes follows, in any language.
fn typed_frames(text: &str, rate: f32, multiple: u32) -> Option<u32> {
    let text = text.trim();
    let (number, unit) =
        text.split_at(text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len()));
    let number = number.parse::<f32>().ok()?;
    match unit.trim_start().chars().next().map(|letter| letter.to_ascii_lowercase()) {
        None | Some('s' | 'm' | '秒' | ',') => Some(frames_of(number, rate, multiple)),
        Some(_) => Some(snap_frames(number as u32, multiple)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_or_frames_can_be_typed() {
        for (text, frames) in [
            ("2", 33),
            ("2.0 s", 33),
            (" 2.0 s, 33 frames ", 33),
            ("33 frames", 33),
            ("34 frames", 33),
            ("33 Bilder", 33),
            ("33フレーム", 33),
            ("2 Sekunden", 33),
            ("2.0 秒", 33),
            ("2.0 s, 33 帧", 33),
            ("1 frame", 1),
            ("0", 1),
        ] {
            assert_eq!(typed_frames(text, 16.0, 4), Some(frames), "{text}");
        }
        assert_eq!(typed_frames("long", 16.0, 4), None);
    }
}
