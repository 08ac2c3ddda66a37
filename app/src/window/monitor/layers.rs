//! The layer strip: one cell per block, in the order in which they run.

use egui::{Color32, CornerRadius, Id, Rect, Role, Sense, Stroke, StrokeKind, Ui, WidgetInfo, lerp, pos2};
use sluice_engine::{
    checkpoint::Role as Part,
    memory::{Placement, StageKind, Tier},
    telemetry::{BlockMark, ComponentMark},
};

use super::row::named;
use crate::{
    language::{text_with, tr, units},
    window::{
        history::{BlockHistory, BlockState, History},
        state::Watch,
        tokens::{Palette, space},
    },
};

/// One component in the strip.
struct Shown<'a> {
    mark: &'a ComponentMark,
    blocks: &'a [BlockHistory],
    states: Vec<BlockState>,
}

/// Draws the strip of the current stage, or of the denoiser if none is running.
pub fn show(ui: &mut Ui, row: Rect, run: &Watch) {
    let place = named(ui, row, &tr!("monitor-layers"));
    let palette = Palette::of(ui);
    let shown = components(&run.history);
    let count: usize = shown.iter().map(|shown| shown.mark.blocks.len()).sum();
    let response = ui.interact(place, Id::unique("sluice layers"), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Image, true, summary(&shown)));
    if count == 0 {
        ui.painter().rect_stroke(place, 2.0, Stroke::new(1.0, palette.line), StrokeKind::Inside);
        return;
    }
    let gaps = (shown.len() - 1) as f32 * space::M;
    let step = (place.width() - gaps) / count as f32;
    let inset = if step >= 7.0 { 1.0 } else { step * 0.12 };
    let pointer = response.hover_pos();
    let at_rest = run.over || run.history.stage().is_none();
    let mut left = place.left();
    let mut under = None;
    for shown in &shown {
        for (index, state) in shown.states.iter().enumerate() {
            let whole = Rect::from_min_max(pos2(left, place.top()), pos2(left + step, place.bottom()));
            cell(ui, whole.shrink2(egui::vec2(inset, 0.0)), shown, index, *state, at_rest);
            if pointer.is_some_and(|pointer| whole.x_range().contains(pointer.x)) {
                ui.painter().rect_stroke(whole, 2.0, Stroke::new(1.0, palette.text), StrokeKind::Outside);
                under = Some((shown, index, *state));
            }
            left += step;
        }
        left += space::M;
    }
    if let Some((shown, index, state)) = under {
        response.on_hover_ui_at_pointer(|ui| figures(ui, shown, index, state, at_rest));
    }
}

fn components(history: &History) -> Vec<Shown<'_>> {
    let Some(plan) = history.plan() else { return Vec::new() };
    let of_stage = |(_, mark): &(usize, &ComponentMark)| match history.stage() {
        Some(stage) => mark.stage == *stage,
        None => mark.stage.kind == StageKind::Denoise,
    };
    let shown = plan.components.iter().enumerate().filter(of_stage).map(|(index, mark)| {
        let mut states = history.states(index);
        states.resize(mark.blocks.len(), BlockState::Idle);
        Shown { mark, blocks: history.blocks(index), states }
    });
    shown.collect()
}

/// Shows the state as a colour, and the waiting time as a coloured line below.
fn cell(ui: &Ui, rect: Rect, shown: &Shown<'_>, index: usize, state: BlockState, at_rest: bool) {
    let palette = Palette::of(ui);
    let rounding = CornerRadius::same(if rect.width() > 6.0 { 2 } else { 0 });
    let resident = shown.mark.blocks[index].placement == Placement::Resident;
    let known = shown.blocks.get(index);
    let used = known.is_some_and(|block| block.latest.is_some());
    let fill = match state {
        BlockState::Waiting => palette.wait,
        BlockState::Computing => palette.activations,
        BlockState::Resident => palette.weights,
        // The plan stays visible when nothing is running.
        BlockState::Idle if at_rest && resident && used => palette.weights,
        BlockState::InFlight | BlockState::Idle => palette.free,
    };
    let painter = ui.painter();
    painter.rect_filled(rect, rounding, fill);
    if state == BlockState::InFlight {
        let half = Rect::from_min_max(pos2(rect.left(), rect.center().y), rect.max);
        painter.rect_filled(half, rounding, palette.weights);
    }
    if !resident && rect.width() > 3.0 {
        let line = if state == BlockState::InFlight { palette.weights } else { palette.line_strong };
        painter.rect_stroke(rect, rounding, Stroke::new(1.0, line), StrokeKind::Inside);
    }
    let waited = known.map_or(0.0, waited);
    if waited > 0.0 {
        let heat = Rect::from_min_max(pos2(rect.left(), rect.bottom() - 5.0), rect.max);
        painter.rect_filled(heat, rounding, blend(palette.free, palette.wait, waited));
    }
}

/// The share of its last use that a block waited, 0…1, with small shares exaggerated; 0 below 0.5%.
fn waited(block: &BlockHistory) -> f32 {
    let Some(latest) = block.latest else { return 0.0 };
    let share = latest.wait as f32 / (latest.wait + latest.compute).max(1) as f32;
    if share < 0.005 { 0.0 } else { 0.25 + 0.75 * share.sqrt() }
}

fn blend(from: Color32, to: Color32, part: f32) -> Color32 {
    let [a, b] = [from, to].map(|color| color.to_array());
    let channel = |i: usize| lerp(f32::from(a[i])..=f32::from(b[i]), part.clamp(0.0, 1.0)).round() as u8;
    Color32::from_rgb(channel(0), channel(1), channel(2))
}

fn summary(shown: &[Shown<'_>]) -> String {
    if shown.is_empty() {
        return tr!("monitor-layers-none");
    }
    let parts = shown.iter().map(|shown| {
        let stay = shown.mark.blocks.iter().filter(|block| block.placement == Placement::Resident).count();
        let pass = shown.mark.blocks.len() - stay;
        let now = shown
            .states
            .iter()
            .position(|state| matches!(state, BlockState::Computing | BlockState::Waiting));
        let part = part_name(shown.mark.role);
        match now {
            Some(index) => tr!(
                "monitor-layers-now",
                part = part,
                resident = stay,
                streamed = pass,
                block = &shown.mark.blocks[index].name,
            ),
            None => tr!("monitor-layers-summary", part = part, resident = stay, streamed = pass),
        }
    });
    parts.collect::<Vec<_>>().join(". ")
}

/// A component as the texts name it.
fn part_name(part: Part) -> &'static str {
    match part {
        Part::TextEncoder => "text-encoder",
        Part::Denoiser => "denoiser",
        Part::Autoencoder => "autoencoder",
        Part::Upscaler => "upscaler",
        Part::Interpolator => "interpolator",
        Part::Preprocessor => "preprocessor",
        Part::Segmenter => "segmenter",
        Part::Detector => "detector",
        Part::LanguageModel => "language-model",
    }
}

fn figures(ui: &mut Ui, shown: &Shown<'_>, index: usize, state: BlockState, at_rest: bool) {
    let BlockMark { name, bytes, placement } = &shown.mark.blocks[index];
    ui.spacing_mut().item_spacing.y = 2.0;
    ui.strong(name);
    ui.small(tr!("monitor-block", number = index + 1, part = part_name(shown.mark.role)));
    let memory = units::memory(*bytes);
    ui.small(match placement {
        Placement::Resident => tr!("monitor-block-resident", memory = memory),
        Placement::Streamed => tr!("monitor-block-streamed", memory = memory),
        Placement::Leaves | Placement::SharedLeaves => tr!("monitor-block-leaves", memory = memory),
    });
    if !at_rest {
        ui.small(match state {
            BlockState::Resident => tr!("monitor-now-resident"),
            BlockState::InFlight => tr!("monitor-now-in-flight"),
            BlockState::Waiting => tr!("monitor-now-waiting"),
            BlockState::Computing => tr!("monitor-now-computing"),
            BlockState::Idle => tr!("monitor-now-idle"),
        });
    }
    let Some(BlockHistory { latest: Some(latest), totals }) = shown.blocks.get(index) else {
        ui.small(tr!("monitor-not-used"));
        return;
    };
    let from = match latest.tier {
        Tier::Disk => tr!("monitor-from-disk"),
        Tier::Host => tr!("monitor-from-ram"),
        Tier::Device => tr!("monitor-from-device"),
    };
    ui.small(match latest.slot {
        Some(slot) => tr!("monitor-last-use-slot", from = from, slot = slot + 1),
        None => tr!("monitor-last-use", from = from),
    });
    for (key, last, all) in [
        ("monitor-time-waiting", latest.wait, totals.wait),
        ("monitor-time-loading", latest.load, totals.load),
        ("monitor-time-computing", latest.compute, totals.compute),
        ("monitor-time-evict", latest.evict, totals.evict),
    ] {
        if all > 0 {
            let mean = units::micros(all / totals.uses.max(1));
            ui.small(text_with(key, [("time", units::micros(last).into()), ("mean", mean.into())]));
        }
    }
}
