//! ControlNets and the images that they follow.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use egui::{Align, Layout, Popup, ScrollArea, Ui};
use sluice_engine::{
    checkpoint::MapKind,
    models::{Item, Kind},
    request::{ControlMode, ControlNet, Preprocessor, RequestError},
};

use super::{
    control_map,
    file_menu::FileMenu,
    input_image::file_row,
    parts::{Added, Parts, sentence},
};
use crate::{
    language::{said, tr},
    window::{
        action::{Action, Making},
        files::Dialog,
        icons,
        model_menu::{self, Choice},
        state::{State, map_name},
        takes,
        textures::Textures,
        tokens::size,
        widgets::{self, Weight},
    },
};

/// View state of the list; not saved.
#[derive(Debug, Default)]
pub struct ControlNetList {
    /// Whether it is open.
    pub(super) open: bool,
    /// The last one, if it was just added.
    pub(super) added: Added,
}

/// Whether the panel has the list.
pub fn is_shown(state: &State) -> bool {
    state.summary().is_some_and(|summary| summary.takes_control_nets)
}

/// Draws the list for models that take ControlNets, collapsed by default.
pub fn show(ui: &mut Ui, parts: &mut Parts<'_>, list: &mut ControlNetList, textures: &mut Textures) {
    if !is_shown(parts.state) {
        return;
    }
    let title = match parts.draft.request.control_nets.len() {
        0 => tr!("control-nets-title"),
        count => tr!("control-nets-title-used", count = count),
    };
    let ControlNetList { open, added } = list;
    widgets::fold(ui, (&title, tr!("control-nets-tip")), open, |ui| opened(ui, parts, added, textures));
}

fn opened(ui: &mut Ui, parts: &mut Parts<'_>, added: &mut Added, textures: &mut Textures) {
    let Parts { state, mistake, draft, actions } = parts;
    let size = [draft.request.width, draft.request.height];
    let nets = &mut draft.request.control_nets;
    let (mut removed, count) = (None, nets.len());
    for (index, net) in nets.iter_mut().enumerate() {
        let drawn = ui.push_id(("control-net", index), |ui| {
            if row(ui, (net, index, size), (state, textures), actions) {
                removed = Some(index);
            }
        });
        if index + 1 == count {
            added.see(ui, drawn.response.rect);
        }
    }
    if let Some(index) = removed {
        nets.remove(index);
    }
    for kind in draft.request.map_kinds() {
        estimator(ui, state, (kind, &mut draft.request.estimators), actions);
    }
    let nets = &mut draft.request.control_nets;
    if let Some(
        // What is only not filled in yet is said below Generate.
        error @ (RequestError::ControlNetWeight(_) | RequestError::ControlNetRange { .. }),
    ) = *mistake
    {
        widgets::mistake(ui, &sentence(error));
    }
    if nets.len() == ControlNet::MOST {
        return;
    }
    let (found, family) = (of_library(state), state.summary().map(|summary| summary.family_name.clone()));
    let lacks = nets.is_empty() && found.is_empty();
    if let Some(family) = family.filter(|_| lacks) {
        widgets::hint(ui, tr!("control-nets-missing", family = said(&family)));
    }
    ui.horizontal_wrapped(|ui| {
        if widgets::button(ui, Some(icons::FILE_UP), &tr!("control-nets-add"), Weight::Plain)
            .on_hover_text(tr!("control-nets-add-tip"))
            .clicked()
        {
            actions.push(Action::OpenDialog(Dialog::ControlNet));
        }
        if lacks {
            model_menu::get(ui, state, actions);
        }
        let spoken = tr!("control-nets-library-spoken");
        let words = [tr!("control-nets-library"), tr!("control-nets-library-tip"), spoken];
        // One that is in the list can be added again, to follow another image.
        if let Some(model) = library_menu(ui, words, &found) {
            nets.push(ControlNet { model, ..ControlNet::default() });
            added.set();
        }
    });
}

/// A button that makes the map of an image, so that it can be seen beside it, and what that takes.
fn map_button(ui: &mut Ui, state: &State, (kind, image): (MapKind, &Path), actions: &mut Vec<Action>) {
    if state.makes_map(kind, image) {
        widgets::hint(ui, tr!("control-nets-map-made"));
        return;
    }
    let estimate = state.map_estimate(kind, image);
    let lacks = match &estimate {
        Some(Err(why)) => Some(why.clone()),
        _ if !state.draft().request.estimators.contains_key(&kind) => {
            Some(tr!("control-nets-map-lacks-estimator"))
        }
        _ => None,
    };
    ui.add_enabled_ui(lacks.is_none(), |ui| {
        if widgets::button(ui, Some(icons::IMAGE), &tr!("control-nets-map-show"), Weight::Plain)
            .on_hover_text(tr!("control-nets-map-show-tip"))
            .on_disabled_hover_text(lacks.unwrap_or_default())
            .clicked()
        {
            actions.push(Action::Make(Making::Map(kind, image.to_owned())));
        }
    });
    match estimate {
        Some(Ok(estimate)) => takes::hint(ui, state, &estimate),
        Some(Err(why)) => widgets::mistake(ui, &why),
        None => {}
    }
}

/// What makes a kind of map: the chosen one, and a menu of those in the library and of files.
pub(super) fn estimator(
    ui: &mut Ui,
    state: &State,
    (kind, chosen): (MapKind, &mut BTreeMap<MapKind, PathBuf>),
    actions: &mut Vec<Action>,
) {
    let found: Vec<&Item> = state.estimators(kind).collect();
    if let (None, Some(first)) = (chosen.get(&kind), found.first()) {
        chosen.insert(kind, first.path.clone());
    }
    let (label, tip) = match kind {
        MapKind::Depth => (tr!("control-nets-depth-model"), tr!("control-nets-depth-model-tip")),
        MapKind::Pose => (tr!("control-nets-pose-model"), tr!("control-nets-pose-model-tip")),
        MapKind::Segments => (tr!("control-nets-segments-model"), tr!("control-nets-segments-model-tip")),
        MapKind::SoftEdge => (tr!("control-nets-soft-edge-model"), tr!("control-nets-soft-edge-model-tip")),
    };
    ui.push_id(kind.id(), |ui| {
        ui.horizontal(|ui| {
            widgets::field_label(ui, &label);
            let now = chosen.get(&kind).map(PathBuf::as_path);
            match model_menu::show(ui, (label, tip), now, &found, false) {
                Some(Choice::Model(path)) => {
                    chosen.insert(kind, path);
                }
                Some(Choice::File) => actions.push(Action::OpenDialog(Dialog::MapEstimator(kind))),
                None => {}
            }
        });
    });
}

/// The ControlNets in the library, for the model or perhaps for it.
fn of_library(state: &State) -> Vec<&Item> {
    let own = state.summary().map(|summary| &summary.family_name);
    let is_one = |item: &&Item| {
        item.content().is_some_and(|content| {
            content.kind == Kind::ControlNet
                && content.family.as_ref().is_none_or(|family| Some(family) == own)
        })
    };
    state.library.inventory.items.iter().filter(is_one).collect()
}

/// A menu of files in the library, if there are any: its button, a tip and how it is spoken. Returns the one that was chosen.
pub fn library_menu(ui: &mut Ui, [name, tip, spoken]: [String; 3], found: &[&Item]) -> Option<PathBuf> {
    if found.is_empty() {
        return None;
    }
    let mut chosen = None;
    let button = widgets::disclosure(ui, &name, icons::CHEVRON_DOWN, false).on_hover_text(tip);
    Popup::menu(&button).accessible_name(spoken).width(size::POPUP).show(|ui| {
        ScrollArea::vertical().show(ui, |ui| {
            for item in found {
                let about = item.content().map(|content| said(&content.what)).unwrap_or_default();
                let row = widgets::file_button(ui, icons::PACKAGE, &item.name, &about, false);
                if row.on_hover_text(format!("{about}\n{}", item.path.display()).trim()).clicked() {
                    chosen = Some(item.path.clone());
                    ui.close();
                }
            }
        });
    });
    chosen
}

/// The kind of image that a union of ControlNets follows. Of a file that is not in the library it is not known whether it
/// is one.
fn mode(ui: &mut Ui, state: &State, net: &mut ControlNet) {
    let mut items = state.library.inventory.items.iter();
    let known = items.find(|item| item.path == net.model).and_then(Item::content);
    let modes = match (known, state.summary()) {
        (Some(content), _) => &content.modes,
        (None, Some(summary)) => &summary.control_modes,
        (None, None) => return,
    };
    if modes.is_empty() {
        return;
    }
    let title = |mode| match mode {
        None => tr!("control-nets-mode-automatic"),
        Some(ControlMode::Canny) => tr!("control-nets-mode-canny"),
        Some(ControlMode::Tile) => tr!("control-nets-mode-tile"),
        Some(ControlMode::Depth) => tr!("control-nets-mode-depth"),
        Some(ControlMode::Blur) => tr!("control-nets-mode-blur"),
        Some(ControlMode::Pose) => tr!("control-nets-mode-pose"),
        Some(ControlMode::Gray) => tr!("control-nets-mode-gray"),
        Some(ControlMode::LowQuality) => tr!("control-nets-mode-low-quality"),
        Some(ControlMode::SoftEdge) => tr!("control-nets-mode-soft-edge"),
        Some(ControlMode::Normal) => tr!("control-nets-mode-normal"),
        Some(ControlMode::Segments) => tr!("control-nets-mode-segments"),
        Some(ControlMode::Inpaint) => tr!("control-nets-mode-inpaint"),
    };
    let all = std::iter::once(None).chain(modes.iter().copied().map(Some));
    widgets::choice_row(ui, &tr!("control-nets-mode"), &mut net.mode, all, title)
        .on_hover_text(tr!("control-nets-mode-tip"));
}

/// What the window calls a preprocessor.
pub(super) fn preprocessor_title(preprocessor: Preprocessor) -> String {
    match preprocessor {
        Preprocessor::None => tr!("control-nets-preprocessor-none"),
        Preprocessor::Canny => tr!("control-nets-preprocessor-canny"),
        Preprocessor::Lineart => tr!("control-nets-preprocessor-lineart"),
        Preprocessor::Scribble => tr!("control-nets-preprocessor-scribble"),
        Preprocessor::Invert => tr!("control-nets-preprocessor-invert"),
        Preprocessor::Gray => tr!("control-nets-preprocessor-gray"),
        Preprocessor::Blur => tr!("control-nets-preprocessor-blur"),
        Preprocessor::Tile => tr!("control-nets-preprocessor-tile"),
        Preprocessor::Color => tr!("control-nets-preprocessor-color"),
        Preprocessor::Inpaint => tr!("control-nets-preprocessor-inpaint"),
        Preprocessor::Depth => tr!("control-nets-preprocessor-depth"),
        Preprocessor::Pose => tr!("control-nets-preprocessor-pose"),
        Preprocessor::Segments => tr!("control-nets-preprocessor-segments"),
        Preprocessor::SoftEdge => tr!("control-nets-preprocessor-soft-edge"),
    }
}

/// Draws one for images of this width and height, and returns whether it is to be removed.
fn row(
    ui: &mut Ui,
    (net, index, size): (&mut ControlNet, usize, [u32; 2]),
    (state, textures): (&State, &mut Textures),
    actions: &mut Vec<Action>,
) -> bool {
    let files = &state.input.files;
    let known = state.library.inventory.items.iter().find(|item| item.path == net.model);
    let own = || net.model.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let name = known.map_or_else(own, |item| item.name.clone());
    let mut is_removed = false;
    ui.horizontal(|ui| {
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let remove = tr!("control-nets-remove", name = name.as_str());
            is_removed = widgets::icon_button(ui, icons::X, &remove).clicked();
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                widgets::line(ui, &name, net.model.display().to_string());
            });
        });
    });
    if net.preprocessor.takes_input() {
        widgets::hint(ui, tr!("control-nets-input"));
    } else if net.image.as_os_str().is_empty() {
        if widgets::button(ui, Some(icons::IMAGE), &tr!("control-nets-image"), Weight::Plain)
            .on_hover_text(tr!("control-nets-image-tip"))
            .clicked()
        {
            actions.push(Action::OpenDialog(Dialog::ControlImage(index)));
        }
    } else {
        let mut has_none = false;
        let menu = FileMenu {
            path: &net.image,
            replace: Dialog::ControlImage(index),
            remove: &tr!("control-nets-image-remove"),
        };
        file_row(ui, files, textures, &menu, actions, || has_none = true);
        if has_none {
            net.image.clear();
        }
    }
    let label = tr!("control-nets-preprocessor");
    widgets::choice_row(ui, &label, &mut net.preprocessor, Preprocessor::ALL, preprocessor_title)
        .on_hover_text(tr!("control-nets-preprocessor-tip"));
    if net.image.as_os_str().is_empty() && !net.preprocessor.takes_input() {
        return is_removed;
    }
    mode(ui, state, net);
    match (map_name(net, size), net.preprocessor.estimated()) {
        (Some(map), Some(kind)) if files.get(&map).is_none() => {
            map_button(ui, state, (kind, &net.image), actions);
        }
        (Some(map), _) => control_map::show(ui, (files, textures), &map, (net.fit, size)),
        (None, _) => {}
    }
    let most = ControlNet::LARGEST_WEIGHT;
    widgets::slider_row(ui, &tr!("control-nets-weight"), &mut net.weight, 0.0..=most, 0.0..=most, 0.05)
        .on_hover_text(tr!("control-nets-weight-tip"));
    widgets::slider_row(ui, &tr!("control-nets-start"), &mut net.start, 0.0..=0.95, 0.0..=0.99, 0.05)
        .on_hover_text(tr!("control-nets-start-tip"));
    widgets::slider_row(ui, &tr!("control-nets-end"), &mut net.end, 0.05..=1.0, 0.01..=1.0, 0.05)
        .on_hover_text(tr!("control-nets-end-tip"));
    is_removed
}
