//! The status bar: current activity and hardware.

use egui::{Align, Layout, RichText, Ui};
use sluice_engine::{hardware::HardwareSample, session::StageKind};

use super::{
    history::History,
    icons, sentences,
    state::{ModelStatus, Progress, State},
    tokens::{Palette, font, space},
    widgets,
};
use crate::language::{self, tr, units};

/// Draws the status bar.
pub fn show(ui: &mut Ui, state: &State, now: f64) {
    ui.horizontal_centered(|ui| {
        let color = Palette::of(ui).text_muted;
        ui.label(RichText::new(activity(state, now)).small().color(color));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.spacing_mut().item_spacing.x = 6.0;
            if let Some(sample) = &state.engine.hardware {
                machine(ui, sample, !state.lanes.shown_is_elsewhere());
            }
            if let Some(run) = state.watches.live() {
                traffic(ui, &run.history);
            }
        });
    });
}

/// The current activity as text.
pub fn activity(state: &State, now: f64) -> String {
    if let Some((job, progress)) = state.jobs.running() {
        if job.cancelling {
            return tr!("status-bar-cancelling");
        }
        let mut parts: Vec<String> = state.lane_of(job).into_iter().collect();
        parts.push(stage_words(progress));
        if progress.stage == Some(StageKind::Denoise) && progress.step > 0 {
            parts.push(tr!("status-bar-per-step", time = units::seconds(progress.step_seconds)));
        }
        parts.extend(progress.words_left(now));
        return parts.join(" · ");
    }
    match &state.model.status {
        _ if state.engine.ended => tr!("status-bar-engine-stopped"),
        _ if state.jobs.paused => tr!("status-bar-paused"),
        _ if !state.jobs.is_empty() => tr!("status-bar-waiting"),
        ModelStatus::Loading => tr!("status-bar-loading"),
        ModelStatus::Failed => tr!("status-bar-no-model"),
        ModelStatus::Ready(_) => tr!("status-bar-ready"),
    }
}

/// A stage as text.
pub fn stage_words(progress: &Progress) -> String {
    let Progress { stage, step, steps, is_between, .. } = *progress;
    match stage {
        None => tr!("status-bar-preparing"),
        Some(StageKind::EncodeImage) => tr!("status-bar-encoding-image"),
        Some(StageKind::EncodePrompt) => tr!("status-bar-encoding-prompt"),
        Some(StageKind::Denoise) if steps == 0 => tr!("status-bar-denoising"),
        Some(StageKind::Denoise) => tr!("status-bar-step", step = step, steps = steps),
        Some(StageKind::Decode) => tr!("status-bar-decoding"),
        Some(StageKind::Write) => tr!("status-bar-writing"),
        Some(StageKind::Preprocess) => tr!("status-bar-preprocessing"),
        Some(StageKind::Detect) => tr!("status-bar-detecting"),
        Some(StageKind::Interpolate) if steps == 0 || is_between => tr!("status-bar-interpolating"),
        Some(StageKind::Upscale) if steps == 0 || is_between => tr!("status-bar-upscaling"),
        Some(StageKind::Interpolate | StageKind::Upscale) => match progress.frame() {
            Some((frame, frames)) => tr!("status-bar-frame", frame = frame, frames = frames),
            None => tr!("status-bar-tile", tile = step, tiles = steps),
        },
    }
}

/// The weight traffic of the run, if it fits.
fn traffic(ui: &mut Ui, history: &History) {
    let palette = Palette::of(ui);
    let mut parts = Vec::new();
    let speed = history.link_bytes_per_second();
    // There is no link between the CPU and its memory.
    if speed > 0.0 && !history.is_on_cpu() {
        parts.push(tr!("status-bar-link", speed = units::speed(speed)));
    }
    parts.push(tr!("status-bar-stall", share = units::percent(stall(history))));
    parts.push(tr!("status-bar-peak", memory = units::memory(history.peaks().device)));
    let text = RichText::new(parts.join(" · ")).small().color(palette.text_muted);
    let width = ui.painter().layout_no_wrap(
        text.text().to_owned(),
        egui::FontId::proportional(font::SMALL),
        palette.text_muted,
    );
    if width.size().x + space::XL < ui.available_width() {
        ui.label(text).on_hover_text(tr!("status-bar-traffic-tip"));
        ui.add_space(space::M);
    }
}

/// The share of the last step spent waiting; before its end, that of the run.
fn stall(history: &History) -> f64 {
    match history.last_step() {
        Some(step) if step.took > 0 => step.wait as f64 / step.took as f64,
        _ => history.totals().stall(),
    }
}

/// Laid out from right to left.
fn machine(ui: &mut Ui, sample: &HardwareSample, is_here: bool) {
    let cpu = format!("{:.0}%", sample.cpu_load * 100.0);
    let tip = tr!("status-bar-cpu-tip", name = &sample.cpu, threads = sample.threads);
    reading(ui, icons::CPU, "CPU", &cpu, sample.cpu_load, tip);
    let used = sample.ram_total.saturating_sub(sample.ram_available);
    let ram = language::memory_of(used, sample.ram_total);
    let own = units::memory(sample.process_ram);
    let tip = match sample.ram_limit {
        Some(limit) => tr!(
            "status-bar-ram-tip-limited",
            memory = own,
            limit = units::memory(limit.bytes),
            cause = limit.kind.name(),
        ),
        None => tr!("status-bar-ram-tip", memory = own),
    };
    reading(ui, icons::MEMORY, "RAM", &ram, share(used, sample.ram_total), tip);
    for gpu in sample.gpus.iter().rev() {
        let vram = language::memory_of(gpu.vram_used, gpu.vram_total);
        let load = format!("{:.0}%", gpu.load * 100.0);
        let tip = match gpu.temperature {
            Some(degrees) => {
                tr!("status-bar-gpu-tip-degrees", name = &gpu.name, load = load, degrees = degrees,)
            }
            None => tr!("status-bar-gpu-tip", name = &gpu.name, load = load),
        };
        reading(ui, icons::GPU, &short_name(&gpu.name), &vram, share(gpu.vram_used, gpu.vram_total), tip);
    }
    if sample.gpus.is_empty() {
        let palette = Palette::of(ui);
        let label = ui.label(RichText::new(tr!("status-bar-no-gpu")).small().color(palette.text_faint));
        let icon = widgets::icon(ui, icons::GPU, 14.0, palette.text_faint);
        let mut tip = match is_here {
            true => tr!("status-bar-no-gpu-tip"),
            false => tr!("status-bar-no-gpu-elsewhere-tip"),
        };
        if let Some(note) = &sample.gpu_note {
            tip = format!("{tip}\n{}", sentences::sentence(note));
        }
        label.union(icon).on_hover_text(tip);
        ui.add_space(space::M);
    }
}

fn reading(ui: &mut Ui, icon: &str, name: &str, value: &str, load: f32, tip: String) {
    let palette = Palette::of(ui);
    let text = ui
        .label(RichText::new(value).small().color(palette.text_muted))
        .union(ui.label(RichText::new(name).font(font::medium(font::SMALL)).color(palette.text)));
    let bar = ui.allocate_exact_size(egui::vec2(28.0, 4.0), egui::Sense::hover());
    widgets::progress_bar(ui, bar.0, load);
    let icon = widgets::icon(ui, icon, 14.0, palette.text_faint);
    text.union(bar.1).union(icon).on_hover_text(tip);
    ui.add_space(space::M);
}

fn share(part: u64, whole: u64) -> f32 {
    if whole == 0 { 0.0 } else { (part as f64 / whole as f64) as f32 }
}

/// The short name of a GPU.
fn short_name(name: &str) -> String {
    let short = name.trim_start_matches("NVIDIA ").trim_start_matches("GeForce ");
    short.to_owned()
}
