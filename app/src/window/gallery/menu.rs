//! The menu of an image, and its offers.

use std::{path::PathBuf, sync::Arc};

use egui::Ui;

use super::{Gallery, collections};
use crate::{
    language::tr,
    window::{
        action::{Action, EnhanceStep, GalleryAction, LibraryAction, UpscaleStep},
        collection::{Change, How, Item, Within},
        icons,
        tokens::size,
        widgets,
    },
};

/// Something that can be done with an image.
pub(super) struct Offer {
    pub(super) icon: &'static str,
    pub(super) name: String,
    pub(super) tip: String,
    pub(super) action: Action,
}

/// What can be done with one image, the most likely first.
pub(super) fn offers(item: &Item) -> Vec<Offer> {
    let path = || item.path.clone();
    let mut all = Vec::new();
    let mut add = |icon, name, tip, action| all.push(Offer { icon, name, tip, action });
    if item.broken.is_none() {
        add(icons::IMAGE, tr!("gallery-open"), tr!("gallery-open-tip"), GalleryAction::Show(path()).into());
    }
    if item.facts.is_some() {
        let tip = tr!("gallery-use-settings-tip");
        add(icons::RESTORE, tr!("gallery-use-settings"), tip, GalleryAction::UseSettings(path()).into());
        add(
            icons::COPY,
            tr!("gallery-copy-prompt"),
            tr!("gallery-copy-prompt-tip"),
            GalleryAction::CopyPrompt(path()).into(),
        );
    }
    if let Some(folder) = item.path.parent() {
        let action = Action::OpenFolder(folder.to_owned());
        add(icons::FOLDER_OPEN, tr!("gallery-show-in-folder"), tr!("gallery-show-in-folder-tip"), action);
    }
    if item.broken.is_none() {
        let (name, tip) = match item.clip {
            None => (tr!("gallery-use-as-image"), tr!("gallery-use-as-image-tip")),
            Some(_) => (tr!("gallery-use-as-clip"), tr!("gallery-use-as-clip-tip")),
        };
        add(icons::FILE_UP, name, tip, GalleryAction::UseAsInput(path()).into());
    }
    all
}

/// What can be done with all that is selected.
pub(super) fn offers_for_all(items: &[Arc<Item>]) -> Vec<Offer> {
    let (upscaled, mut all) = (whole(items, |_| true), Vec::new());
    let clips = whole(items, |item| item.clip.is_some());
    let has_any = !upscaled.is_empty();
    if has_any {
        let (name, tip) = (tr!("gallery-upscale"), tr!("gallery-upscale-tip"));
        all.push(Offer { icon: icons::SPARKLES, name, tip, action: UpscaleStep::Ask(upscaled).into() });
    }
    if !clips.is_empty() {
        let (name, tip) = (tr!("gallery-interpolate"), tr!("gallery-interpolate-tip"));
        let action = UpscaleStep::AskInterpolate(clips).into();
        all.push(Offer { icon: icons::MOVE_HORIZONTAL, name, tip, action });
    }
    if has_any {
        let tip = tr!("gallery-export-ask-tip");
        all.push(Offer {
            icon: icons::DOWNLOAD,
            name: tr!("gallery-export-ask"),
            tip,
            action: GalleryAction::AskExport.into(),
        });
    }
    all.push(Offer {
        icon: icons::FILE,
        name: if items.len() == 1 { tr!("gallery-copy-file") } else { tr!("gallery-copy-files") },
        tip: tr!("gallery-copy-files-tip"),
        action: GalleryAction::CopyFiles.into(),
    });
    let tip = tr!("gallery-trash-tip");
    all.push(Offer {
        icon: icons::TRASH,
        name: tr!("gallery-trash"),
        tip,
        action: GalleryAction::Trash.into(),
    });
    all
}

/// The files among items that can be read and are of some kind.
fn whole(items: &[Arc<Item>], is_meant: fn(&Item) -> bool) -> Vec<PathBuf> {
    let whole = items.iter().filter(|item| item.broken.is_none() && is_meant(item));
    whole.map(|item| item.path.clone()).collect()
}

/// What can be done with the images among items that can be read, and is only in the menu: describing them, together or one by
/// one, and inpainting their details again.
fn offers_for_images(items: &[Arc<Item>]) -> Vec<Offer> {
    let images = whole(items, |item| item.clip.is_none());
    if images.is_empty() {
        return Vec::new();
    }
    let describe = match images.len() {
        1 => tr!("enhance-describe-open"),
        _ => tr!("enhance-describe-open-all"),
    };
    let mut all = vec![Offer {
        icon: icons::SPARKLES,
        name: describe,
        tip: tr!("enhance-describe-open-tip"),
        action: EnhanceStep::Describe(images.clone()).into(),
    }];
    if images.len() > 1 {
        let (name, tip) = (tr!("enhance-each-open"), tr!("enhance-each-open-tip"));
        let action = EnhanceStep::DescribeEach(images.clone()).into();
        all.push(Offer { icon: icons::SPARKLES, name, tip, action });
    }
    let name = match images.len() {
        1 => tr!("detailers-ask-open"),
        _ => tr!("detailers-ask-open-all"),
    };
    let tip = tr!("detailers-ask-open-tip");
    all.push(Offer { icon: icons::SPARKLES, name, tip, action: UpscaleStep::AskDetail(images).into() });
    all
}

/// The menu of a right click, which selects the image first unless it is selected.
pub(super) fn show(ui: &mut Ui, gallery: &mut Gallery, item: &Arc<Item>, actions: &mut Vec<Action>) {
    ui.set_width(size::MENU);
    ui.spacing_mut().item_spacing.y = 2.0;
    let shelf = &gallery.shelf;
    let path: PathBuf = item.path.clone();
    let is_selected = shelf.selection().contains(&path);
    let (starred, name) = match shelf.is_starred(&path) {
        true => (false, tr!("gallery-unstar")),
        false => (true, tr!("gallery-star")),
    };
    let star = Offer {
        icon: icons::STAR,
        name,
        tip: tr!("gallery-star-tip"),
        action: GalleryAction::MarkOne(path, Change::Star(starred)).into(),
    };
    let items = if is_selected { shelf.selected() } else { std::slice::from_ref(item) };
    let for_all = offers_for_all(items);
    let for_images = offers_for_images(items);
    let files: Vec<PathBuf> = items.iter().map(|item| item.path.clone()).collect();
    // The collections that it is in, so that the others are offered.
    let (common, within) = (shelf.common(items, |mark| &mark.collections), shelf.query().within.clone());
    let leave = match within {
        Within::Collection(name) => Some(Offer {
            icon: icons::X,
            name: tr!("gallery-collection-leave"),
            tip: tr!("gallery-collection-leave-named", name = name.as_str()),
            action: GalleryAction::Mark(Change::Leave(name)).into(),
        }),
        Within::All | Within::None => None,
    };
    let place = shelf.shown().iter().position(|shown| shown.path == item.path).filter(|_| !is_selected);
    let pick = place.map(|place| Action::from(GalleryAction::Pick(place, How::Only)));
    let row = |ui: &mut Ui, Offer { icon, name, tip, action }: Offer, actions: &mut Vec<Action>| {
        if widgets::row_button(ui, icon, &name, "", false).on_hover_text(tip).clicked() {
            actions.extend(pick.clone());
            actions.push(action);
            ui.close();
        }
    };
    for offer in offers(item).into_iter().chain([star]) {
        row(ui, offer, actions);
    }
    collections::choices_row(ui, gallery, &common, &files, actions);
    let preview = item.broken.is_none().then(|| Offer {
        icon: icons::LAYERS,
        name: tr!("library-preview-ask"),
        tip: tr!("library-preview-ask-tip"),
        action: LibraryAction::AskPreview(item.path.clone()).into(),
    });
    for offer in leave.into_iter().chain(preview).chain(for_images).chain(for_all) {
        row(ui, offer, actions);
    }
}
