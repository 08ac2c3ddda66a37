//! What changes the next image although its section may be out of sight: inputs, LoRAs, a locked seed. Each can be
//! removed.

use std::path::Path;

use egui::Ui;
use sluice_engine::request::Variation;

use super::{detailers, hires, smooth};
use crate::{
    language::tr,
    units,
    window::{
        action::Action,
        icons,
        state::{Draft, State, file_name},
        tokens::space,
        widgets,
    },
};

/// A setting in force.
struct InForce {
    icon: &'static str,
    text: String,
    /// Name of the button that removes it.
    remove: String,
    action: Action,
}

/// Draws one chip for each.
pub fn show(ui: &mut Ui, state: &State, actions: &mut Vec<Action>) {
    let all = list(state.draft());
    if all.is_empty() {
        return;
    }
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = egui::Vec2::splat(space::XS);
        for InForce { icon, text, remove, action } in all {
            if widgets::tag(ui, icon, &text, &remove) {
                actions.push(action);
            }
        }
    });
    ui.add_space(space::XS);
}

fn list(draft: &Draft) -> Vec<InForce> {
    let mut all = Vec::new();
    let mut add = |icon, text: String, remove: String, change: &dyn Fn(&mut Draft)| {
        let mut without = draft.clone();
        change(&mut without);
        all.push(InForce { icon, text, remove, action: Action::Edit(Box::new(without)) });
    };
    let request = &draft.request;
    if let Some(source) = &request.source {
        let strength = units::percent(source.strength);
        let text = match request.frames {
            1 => format!("{} · {strength}", file_name(&source.path)),
            _ => file_name(&source.path),
        };
        add(icons::IMAGE, text, tr!("side-panel-without-input-image"), &|draft| {
            draft.request.source = None;
            draft.request.last_image = None;
        });
        if !source.outpaint.is_empty() {
            let (text, remove) = (tr!("side-panel-outpaint"), tr!("side-panel-without-outpaint"));
            add(icons::LAYERS, text, remove, &|draft| {
                draft.request.source.iter_mut().for_each(|source| source.outpaint = Default::default());
            });
        }
        if source.mask.is_some() {
            add(icons::LAYERS, tr!("side-panel-in-force-mask"), tr!("side-panel-without-mask"), &|draft| {
                draft.request.source.iter_mut().for_each(|source| source.mask = None);
            });
        }
    }
    if let Some(last) = &request.last_image {
        let text = tr!("side-panel-in-force-end-image", name = file_name(last));
        add(icons::IMAGE, text, tr!("side-panel-without-end-image"), &|draft| {
            draft.request.last_image = None;
        });
    }
    for key in &request.keyframes {
        let (name, frame) = (file_name(&key.path), key.frame);
        let text = tr!("side-panel-in-force-keyframe", frame = frame + 1, name = name.as_str());
        add(icons::IMAGE, text, tr!("side-panel-without-keyframe", name = name), &|draft| {
            draft.request.keyframes.retain(|other| other.frame != frame);
        });
    }
    if let Some(clip) = &request.clip {
        let remove = tr!("side-panel-without-input-clip");
        add(icons::FILM, file_name(&clip.path), remove, &|draft| draft.request.clip = None);
    }
    for path in &request.references {
        let name = file_name(path);
        let text = tr!("side-panel-in-force-reference", name = name.as_str());
        add(icons::IMAGE, text, tr!("side-panel-without-reference", name = name), &|draft| {
            draft.request.references.retain(|other| other != path);
        });
    }
    if let Some(control) = &request.control {
        let text = match &control.video {
            Some(video) => tr!("side-panel-in-force-control", name = file_name(video)),
            None => tr!("side-panel-in-force-control-strength", strength = units::number(control.strength)),
        };
        add(icons::FILM, text, tr!("side-panel-without-control"), &|draft| draft.request.control = None);
    }
    for net in &request.control_nets {
        let (name, path) = (stem(&net.model), net.model.clone());
        let text = format!("{name} {}", units::number(net.weight));
        add(icons::PACKAGE, text, tr!("control-nets-without", name = name), &|draft| {
            draft.request.control_nets.retain(|other| other.model != path);
        });
    }
    for prompt in &request.image_prompts {
        let (name, path) = (stem(&prompt.adapter), prompt.adapter.clone());
        let text = format!("{name} {}", units::number(prompt.weight));
        add(icons::IMAGE, text, tr!("image-prompts-without", name = name), &|draft| {
            draft.request.image_prompts.retain(|other| other.adapter != path);
        });
    }
    if draft.seed_locked {
        let text = tr!("side-panel-in-force-seed", seed = request.seed.to_string());
        add(icons::LOCK, text, tr!("side-panel-without-seed"), &|draft| draft.seed_locked = false);
    }
    for style in &request.styles {
        let text = tr!("side-panel-in-force-style", name = style.name.as_str());
        add(icons::TAG, text, tr!("side-panel-without-style", name = style.name.as_str()), &|draft| {
            draft.request.styles.retain(|other| other.name != style.name);
        });
    }
    if let Some(variation) = request.variation.filter(Variation::is_felt) {
        let text = tr!("side-panel-in-force-variation", strength = units::percent(variation.strength.into()));
        add(icons::DICES, text, tr!("side-panel-without-variation"), &|draft| draft.request.variation = None);
    }
    if let Some(hires) = &request.hires {
        add(icons::LAYERS, hires::in_force(hires), tr!("hires-without"), &|draft| draft.request.hires = None);
    }
    for detailer in &request.detailers {
        let (name, path) = (detailers::name_of(detailer), detailer.model.clone());
        let text = format!("{name} · {}", units::percent(detailer.strength));
        add(icons::SPARKLES, text, tr!("detailers-without", name = name), &|draft| {
            draft.request.detailers.retain(|other| other.model != path);
        });
    }
    if let Some(smooth) = &request.smooth {
        let (text, remove) = (smooth::in_force(smooth), tr!("interpolate-without"));
        add(icons::MOVE_HORIZONTAL, text, remove, &|draft| draft.request.smooth = None);
    }
    all.extend(draft.to_send().adapters.iter().map(|adapter| {
        let name = stem(&adapter.path);
        let text = format!("{name} {}", units::number(adapter.weight));
        let remove = tr!("side-panel-without-lora", name = name);
        InForce { icon: icons::SPARKLES, text, remove, action: Action::RemoveAdapter(adapter.path.clone()) }
    }));
    all
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}
