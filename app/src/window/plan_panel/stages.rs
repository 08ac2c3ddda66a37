//! The stages of the plan: what each takes, its tiles, and the networks beside the model that it computes with.

use std::path::Path;

use egui::{Align, Layout, RichText, Ui};
use sluice_engine::{
    checkpoint::Role,
    memory::{Plan, StageKind, StagePlan, UsePlan},
    request::{Enlarger, ModelSource, Request},
};

use crate::{
    language::{tr, units},
    window::{
        sentences::stage_name,
        state::{EntryId, State},
        tokens::{Palette, space},
        widgets,
    },
};

/// Height of a row.
const ROW: f32 = 16.0;

/// Draws a row for each stage, with lines about it below.
pub fn show(ui: &mut Ui, plan: &Plan, state: &State) {
    ui.add_space(space::S);
    ui.scope(|ui| {
        ui.spacing_mut().item_spacing.y = 2.0;
        ui.spacing_mut().interact_size.y = ROW;
        widgets::field_label(ui, &tr!("plan-stages"));
        for (number, stage) in plan.stages.iter().enumerate() {
            row(ui, stage);
            for words in tiles(plan, stage).into_iter().chain(networks(plan, number, state)) {
                widgets::hint(ui, words);
            }
        }
    });
}

/// What a stage takes, in detail.
pub fn figures(stage: &StagePlan) -> String {
    tr!(
        "plan-stage",
        stage = stage_name(&stage.stage.name),
        weights = units::memory(stage.weights),
        activations = units::memory(stage.activations),
        time = units::seconds(stage.seconds),
    )
}

fn row(ui: &mut Ui, stage: &StagePlan) {
    let palette = Palette::of(ui);
    ui.horizontal(|ui| {
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let takes = format!("{} · {}", units::memory(stage.device()), units::seconds(stage.seconds));
            ui.label(RichText::new(takes).small().color(palette.text_muted)).on_hover_text(figures(stage));
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                let name = RichText::new(stage_name(&stage.stage.name)).small().color(palette.text);
                widgets::line(ui, name, figures(stage));
            });
        });
    });
}

/// How large the tiles of a stage are, if it has some.
fn tiles(plan: &Plan, stage: &StagePlan) -> Option<String> {
    let of_use = |part_use: &UsePlan| Some((plan.parts.get(part_use.part)?.role, part_use.tile?));
    let (role, side) = stage.uses.iter().find_map(of_use)?;
    Some(match role {
        Role::Upscaler | Role::Interpolator => tr!("plan-stage-tiles-of-pixels", side = side),
        _ => tr!("plan-stage-tiles-of-latents", side = side),
    })
}

/// The networks beside the model that a stage computes with.
fn networks(plan: &Plan, number: usize, state: &State) -> Vec<String> {
    let request = &state.draft().request;
    let kind = plan.stages[number].stage.kind;
    // Each kind of map and each detailer has a stage of its own, in their order.
    let place = plan.stages[..number].iter().filter(|before| before.stage.kind == kind).count();
    let adapters = || {
        let names = request.image_prompts.iter().map(|prompt| name_of(&prompt.adapter, state));
        let names = names.collect::<Vec<_>>().join(", ");
        (!names.is_empty()).then(|| tr!("plan-stage-ip-adapters", names = names))
    };
    let all = match kind {
        StageKind::Preprocess => {
            let estimator = request.map_kinds().into_iter().nth(place);
            let estimator = estimator.and_then(|kind| request.estimators.get(&kind));
            [estimator.map(|path| tr!("plan-stage-estimator", name = name_of(path, state))), None]
        }
        StageKind::EncodeImage if prompts_with_images(plan, number) => [adapters(), None],
        StageKind::Denoise => {
            let names: Vec<_> = request.control_nets.iter().map(|net| name_of(&net.model, state)).collect();
            let steers = !names.is_empty() && is_steered(plan, number);
            let nets = steers.then(|| tr!("plan-stage-control-nets", names = names.join(", ")));
            [nets, adapters().filter(|_| is_first_denoiser(plan, number))]
        }
        StageKind::Detect => {
            let detector = request.detailers.get(place);
            [detector.map(|own| tr!("plan-stage-detector", name = name_of(&own.model, state))), None]
        }
        StageKind::Upscale => {
            [upscaler(request, state).map(|name| tr!("plan-stage-upscaler", name = name)), None]
        }
        _ => [None, None],
    };
    all.into_iter().flatten().collect()
}

/// Whether a stage makes tokens of images for IP-Adapters.
fn prompts_with_images(plan: &Plan, number: usize) -> bool {
    let mut parts = plan.stages[number].uses.iter().filter_map(|part_use| plan.parts.get(part_use.part));
    parts.any(|part| part.name.starts_with("image_prompter"))
}

/// Whether a stage denoises with the first denoiser, which is the one that others steer.
fn is_first_denoiser(plan: &Plan, number: usize) -> bool {
    let parts = |stage: &StagePlan| stage.uses.iter().map(|part_use| part_use.part).collect::<Vec<_>>();
    plan.first_of(StageKind::Denoise).map(parts) == Some(parts(&plan.stages[number]))
}

/// Whether ControlNets steer a stage: those of the first denoiser, but none that inpaints what a detector found.
fn is_steered(plan: &Plan, number: usize) -> bool {
    let is_whole_image = plan.stages[..number].iter().all(|before| before.stage.kind != StageKind::Detect);
    is_whole_image && is_first_denoiser(plan, number)
}

/// The upscaler between two passes.
fn upscaler(request: &Request, state: &State) -> Option<String> {
    match &request.hires.as_ref()?.enlarger {
        Enlarger::Upscaler(ModelSource::Path(path)) => Some(name_of(path, state)),
        Enlarger::Upscaler(_) => Some(tr!("upscale-built-in")),
        Enlarger::Latent => None,
    }
}

/// What the library calls a file, or else its name without an extension.
fn name_of(path: &Path, state: &State) -> String {
    let known = state.library.item(&EntryId::path(path));
    let own = || path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    known.map_or_else(own, |item| item.name.clone())
}
