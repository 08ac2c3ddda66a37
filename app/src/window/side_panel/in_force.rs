//! What changes the next image although its section may be out of sight: inputs, other models, LoRAs, a locked seed. Each
//! can be removed.

use std::path::{Path, PathBuf};

use egui::Ui;
use sluice_engine::request::Variation;

use super::{detailers, hires, references, regions, smooth};
use crate::{
    language::{tr, units},
    window::{
        action::{Action, Section},
        icons,
        state::{Draft, State, file_name},
        tokens::{size, space},
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
    /// Where it is set.
    section: Section,
    /// Its file.
    path: Option<PathBuf>,
    /// What can be copied of it, and what that is called.
    copied: Option<(String, String)>,
}

/// Draws one chip for each.
pub fn show(ui: &mut Ui, state: &State, actions: &mut Vec<Action>) {
    let (all, bare) = list(state.draft());
    if all.is_empty() {
        return;
    }
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = egui::Vec2::splat(space::XS);
        let several = all.len() > 1;
        for setting in all {
            let (chip, is_removed) = widgets::tag(ui, setting.icon, &setting.text, &setting.remove);
            chip.context_menu(|ui| menu(ui, &setting, several.then_some(&bare), actions));
            if is_removed {
                actions.push(setting.action);
            }
        }
    });
    ui.add_space(space::XS);
}

/// The menu of a right click on a chip. `bare` are the settings without any of them, if there are several.
fn menu(ui: &mut Ui, setting: &InForce, bare: Option<&Draft>, actions: &mut Vec<Action>) {
    ui.set_width(size::MENU);
    ui.spacing_mut().item_spacing.y = 2.0;
    let mut row = |icon, name: &str, tip: String, action: Action| {
        if widgets::row_button(ui, icon, name, "", false).on_hover_text(tip).clicked() {
            actions.push(action);
            ui.close();
        }
    };
    let (name, tip) = (tr!("side-panel-chip-show"), tr!("side-panel-chip-show-tip"));
    row(icons::SETTINGS, &name, tip, Action::ShowSection(setting.section));
    if let Some((name, text)) = &setting.copied {
        row(icons::COPY, name, tr!("side-panel-chip-copy-tip"), Action::CopyText(text.clone()));
    }
    if let Some(path) = &setting.path {
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            let (name, tip) = (tr!("gallery-show-in-folder"), tr!("gallery-show-in-folder-tip"));
            row(icons::FOLDER_OPEN, &name, tip, Action::OpenFolder(folder.to_owned()));
        }
        let (name, tip) = (tr!("library-copy-path"), tr!("library-copy-path-tip"));
        row(icons::COPY, &name, tip, Action::CopyText(path.display().to_string()));
        if setting.section == Section::Loras {
            let (name, tip) = (tr!("side-panel-chip-off"), tr!("side-panel-chip-off-tip"));
            row(icons::PAUSE, &name, tip, Action::SwitchAdapterOff(path.clone()));
        }
    }
    row(icons::X, &setting.remove, tr!("side-panel-chip-remove-tip"), setting.action.clone());
    if let Some(bare) = bare {
        let (name, tip) = (tr!("side-panel-chip-remove-all"), tr!("side-panel-chip-remove-all-tip"));
        row(icons::TRASH, &name, tip, Action::RemoveInForce(Box::new(bare.clone())));
    }
}

/// What is in force, and the settings without it.
fn list(draft: &Draft) -> (Vec<InForce>, Draft) {
    let (mut all, mut bare) = (Vec::new(), draft.clone());
    let mut add = |(icon, section): (&'static str, Section),
                   text: String,
                   remove: String,
                   path: Option<&Path>,
                   change: &dyn Fn(&mut Draft)| {
        let mut without = draft.clone();
        change(&mut without);
        change(&mut bare);
        let (action, path) = (Action::Edit(Box::new(without)), path.map(Path::to_owned));
        all.push(InForce { icon, text, remove, action, section, path, copied: None });
    };
    let request = &draft.request;
    if let Some(source) = &request.source {
        let strength = units::percent(source.strength);
        let text = match request.frames {
            1 => format!("{} · {strength}", file_name(&source.path)),
            _ => file_name(&source.path),
        };
        add(
            (icons::IMAGE, Section::Input),
            text,
            tr!("side-panel-without-input-image"),
            Some(&source.path),
            &|draft| {
                draft.request.source = None;
                draft.request.last_image = None;
            },
        );
        if !source.outpaint.is_empty() {
            let (text, remove) = (tr!("side-panel-outpaint"), tr!("side-panel-without-outpaint"));
            add((icons::LAYERS, Section::Input), text, remove, None, &|draft| {
                draft.request.source.iter_mut().for_each(|source| source.outpaint = Default::default());
            });
        }
        if source.mask.is_some() {
            add(
                (icons::LAYERS, Section::Input),
                tr!("side-panel-in-force-mask"),
                tr!("side-panel-without-mask"),
                source.mask.as_ref().map(|mask| mask.path.as_path()),
                &|draft| {
                    draft.request.source.iter_mut().for_each(|source| source.mask = None);
                },
            );
        }
    }
    if let Some(last) = &request.last_image {
        let text = tr!("side-panel-in-force-end-image", name = file_name(last));
        add(
            (icons::IMAGE, Section::Input),
            text,
            tr!("side-panel-without-end-image"),
            Some(last),
            &|draft| {
                draft.request.last_image = None;
            },
        );
    }
    for key in &request.keyframes {
        let (name, frame) = (file_name(&key.path), key.frame);
        let text = tr!("side-panel-in-force-keyframe", frame = frame + 1, name = name.as_str());
        add(
            (icons::IMAGE, Section::Input),
            text,
            tr!("side-panel-without-keyframe", name = name),
            Some(&key.path),
            &|draft| {
                draft.request.keyframes.retain(|other| other.frame != frame);
            },
        );
    }
    if let Some(clip) = &request.clip {
        let remove = tr!("side-panel-without-input-clip");
        add((icons::FILM, Section::Input), file_name(&clip.path), remove, Some(&clip.path), &|draft| {
            draft.request.clip = None
        });
    }
    for (place, path) in request.references.iter().enumerate() {
        let (name, count) = (file_name(path), request.references.len());
        let text = tr!("side-panel-in-force-reference", name = name.as_str());
        add(
            (icons::IMAGE, Section::Input),
            text,
            tr!("side-panel-without-reference", name = name),
            Some(path),
            &|draft| {
                let now = now_at(place, [count, draft.request.references.len()]);
                references::remove(&mut draft.request, now);
            },
        );
    }
    if let Some(control) = &request.control {
        let text = match &control.video {
            Some(video) => tr!("side-panel-in-force-control", name = file_name(video)),
            None => tr!("side-panel-in-force-control-strength", strength = units::number(control.strength)),
        };
        add(
            (icons::FILM, Section::Input),
            text,
            tr!("side-panel-without-control"),
            control.video.as_deref(),
            &|draft| draft.request.control = None,
        );
    }
    for (place, net) in request.control_nets.iter().enumerate() {
        let (name, count) = (stem(&net.model), request.control_nets.len());
        let text = weighted(&name, net.weight);
        add(
            (icons::PACKAGE, Section::ControlNets),
            text,
            tr!("control-nets-without", name = name),
            Some(&net.model),
            &|draft| {
                remove_at(&mut draft.request.control_nets, place, count);
            },
        );
    }
    for (place, prompt) in request.image_prompts.iter().enumerate() {
        let (name, count) = (stem(&prompt.adapter), request.image_prompts.len());
        let text = weighted(&name, prompt.weight);
        add(
            (icons::IMAGE, Section::ImagePrompts),
            text,
            tr!("image-prompts-without", name = name),
            Some(&prompt.adapter),
            &|draft| {
                remove_at(&mut draft.request.image_prompts, place, count);
            },
        );
    }
    if let Some(redux) = &request.redux {
        let text = tr!("side-panel-in-force-redux", name = stem(&redux.path));
        let (place, path) = ((icons::IMAGE, Section::Input), Some(redux.path.as_path()));
        add(place, text, tr!("side-panel-without-redux"), path, &|draft| draft.request.redux = None);
    }
    if let Some(refiner) = &request.refiner {
        let text = tr!("side-panel-in-force-refiner", name = stem(&refiner.path));
        let (place, path) = ((icons::PACKAGE, Section::Refiner), Some(refiner.path.as_path()));
        add(place, text, tr!("side-panel-without-refiner"), path, &|draft| draft.request.refiner = None);
    }
    if draft.seed_locked {
        let text = tr!("side-panel-in-force-seed", seed = request.seed.to_string());
        add((icons::LOCK, Section::Seed), text, tr!("side-panel-without-seed"), None, &|draft| {
            draft.seed_locked = false
        });
    }
    for style in &request.styles {
        let text = tr!("side-panel-in-force-style", name = style.name.as_str());
        add(
            (icons::TAG, Section::Prompt),
            text,
            tr!("side-panel-without-style", name = style.name.as_str()),
            None,
            &|draft| {
                draft.request.styles.retain(|other| other.name != style.name);
            },
        );
    }
    if let Some(variation) = request.variation.filter(Variation::is_felt) {
        let text = tr!("side-panel-in-force-variation", strength = units::percent(variation.strength.into()));
        add((icons::DICES, Section::Variation), text, tr!("side-panel-without-variation"), None, &|draft| {
            draft.request.variation = None
        });
    }
    for (index, region) in request.regions.all.iter().enumerate() {
        let (text, remove) = (regions::in_force(index, region), tr!("regions-without", number = index + 1));
        let (mask, count) = (region.area.mask().map(PathBuf::as_path), request.regions.all.len());
        add((icons::COLUMNS, Section::Regions), text, remove, mask, &|draft| {
            remove_at(&mut draft.request.regions.all, index, count);
        });
    }
    if let Some(hires) = &request.hires {
        add((icons::LAYERS, Section::Hires), hires::in_force(hires), tr!("hires-without"), None, &|draft| {
            draft.request.hires = None
        });
    } else if draft.hires_before.is_some() && request.source.is_some() {
        let (text, remove) = (tr!("hires-in-force-waits"), tr!("hires-without"));
        add((icons::LAYERS, Section::Hires), text, remove, None, &|draft| draft.hires_before = None);
    }
    for (place, detailer) in request.detailers.iter().enumerate() {
        let (name, count) = (detailers::name_of(detailer), request.detailers.len());
        let text = format!("{name} · {}", units::percent(detailer.strength));
        add(
            (icons::SCAN_SEARCH, Section::Detailers),
            text,
            tr!("detailers-without", name = name),
            Some(&detailer.model),
            &|draft| {
                remove_at(&mut draft.request.detailers, place, count);
            },
        );
    }
    if let Some(smooth) = &request.smooth {
        let (text, remove) = (smooth::in_force(smooth), tr!("interpolate-without"));
        add((icons::BETWEEN_VERTICAL_START, Section::Interpolation), text, remove, None, &|draft| {
            draft.request.smooth = None
        });
    }
    all.extend(draft.to_send().adapters.iter().map(|adapter| {
        let name = stem(&adapter.path);
        let text = weighted(&name, adapter.weight);
        let remove = tr!("side-panel-without-lora", name = name.as_str());
        let (action, path) = (Action::RemoveAdapter(adapter.path.clone()), Some(adapter.path.clone()));
        let copied = Some((tr!("side-panel-chip-copy-name"), format!("<lora:{name}:{}>", adapter.weight)));
        let (icon, section) = (icons::SPARKLES, Section::Loras);
        InForce { icon, text, remove, action, section, path, copied }
    }));
    bare.request.adapters.retain(|adapter| bare.switched_off.contains(&adapter.path));
    let mut styles = request.styles.iter();
    for setting in &mut all {
        setting.copied = match setting.section {
            Section::Prompt => {
                styles.next().map(|style| (tr!("side-panel-chip-copy-style"), style.prompt.clone()))
            }
            Section::Seed => Some((tr!("side-panel-chip-copy-seed"), request.seed.to_string())),
            _ => setting.copied.take(),
        };
    }
    (all, bare)
}

/// A name with its weight, which goes without saying where it is 1.
fn weighted(name: &str, weight: f32) -> String {
    match units::number(weight) {
        full if full == "1" => name.to_owned(),
        weight => format!("{name} · {weight}"),
    }
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// Where something is now. There were so many, and so many are left; those before it may be gone.
fn now_at(place: usize, [count, left]: [usize; 2]) -> usize {
    (place + left).saturating_sub(count)
}

/// Removes the one that was at this place of so many.
fn remove_at<T>(all: &mut Vec<T>, place: usize, count: usize) {
    let now = now_at(place, [count, all.len()]);
    if now < all.len() {
        all.remove(now);
    }
}
