//! The menu of an image, and its offers.

use std::{path::PathBuf, sync::Arc};

use egui::Ui;

use super::{Around, Gallery, collections};
use crate::{
    language::tr,
    window::{
        action::{Action, EnhanceStep, GalleryAction, LibraryAction, UpscaleStep},
        collection::{Change, How, Item, Within},
        commands, icons,
        image_menu::{self, Does, Row},
    },
};

fn of_gallery(
    key: &'static str,
    icon: &'static str,
    (name, tip): (String, String),
    action: GalleryAction,
) -> Row<'static> {
    Row { key, icon, name, tip, does: Does::Act(vec![action.into()]) }
}

/// What can be done with one image, the most likely first.
pub(super) fn offers(item: &Item) -> Vec<Row<'static>> {
    let path = || item.path.clone();
    let is_whole = item.broken.is_none();
    let mut all = Vec::new();
    if is_whole {
        let words = (tr!("gallery-open"), tr!("gallery-open-tip"));
        all.push(of_gallery(image_menu::OPEN, icons::IMAGE, words, GalleryAction::Show(path())));
    }
    if item.facts.is_some() {
        let use_settings = GalleryAction::UseSettings(path()).into();
        all.push(Row::of(&commands::USE_SETTINGS, Some(use_settings)));
        all.push(Row::of(&commands::COPY_PROMPT, Some(GalleryAction::CopyPrompt(path()).into())));
    }
    if let Some(folder) = item.path.parent() {
        all.push(Row::of(&commands::OPEN_CONTAINING_FOLDER, Some(Action::OpenFolder(folder.to_owned()))));
    }
    if is_whole {
        let entry = if item.clip.is_some() { commands::USE_AS_CLIP } else { commands::USE_AS_INPUT };
        all.push(Row::of(&entry, Some(GalleryAction::UseAsInput(path()).into())));
    }
    all
}

/// What can be done with all that is selected.
pub(super) fn offers_for_all(items: &[Arc<Item>]) -> Vec<Row<'static>> {
    let (upscaled, mut all) = (whole(items, |_| true), Vec::new());
    let clips = whole(items, |item| item.clip.is_some());
    let has_any = !upscaled.is_empty();
    if has_any {
        let row = Row::of(&commands::UPSCALE, Some(UpscaleStep::Ask(upscaled).into()));
        all.push(Row { tip: tr!("gallery-upscale-tip"), ..row });
    }
    if !clips.is_empty() {
        let row = Row::of(&commands::INTERPOLATE, Some(UpscaleStep::AskInterpolate(clips).into()));
        all.push(Row { tip: tr!("gallery-interpolate-tip"), ..row });
    }
    if has_any {
        let words = (tr!("gallery-export-ask"), tr!("gallery-export-ask-tip"));
        all.push(of_gallery(image_menu::EXPORT, icons::DOWNLOAD, words, GalleryAction::AskExport));
    }
    let row = Row::of(&commands::COPY_FILE, Some(GalleryAction::CopyFiles.into()));
    let name = if items.len() == 1 { row.name } else { tr!("gallery-copy-files") };
    all.push(Row { name, tip: tr!("gallery-copy-files-tip"), ..row });
    let row = Row::of(&commands::TRASH, Some(GalleryAction::Trash.into()));
    all.push(Row { tip: tr!("gallery-trash-tip"), ..row });
    all
}

/// The files among items that can be read and are of some kind.
fn whole(items: &[Arc<Item>], is_meant: fn(&Item) -> bool) -> Vec<PathBuf> {
    let whole = items.iter().filter(|item| item.broken.is_none() && is_meant(item));
    whole.map(|item| item.path.clone()).collect()
}

/// What can be done with the images among items that can be read, and is only in the menu: describing them, together or one by
/// one, and inpainting their details again.
fn offers_for_images(items: &[Arc<Item>]) -> Vec<Row<'static>> {
    let images = whole(items, |item| item.clip.is_none());
    if images.is_empty() {
        return Vec::new();
    }
    let describe = Row::of(&commands::DESCRIBE, Some(EnhanceStep::Describe(images.clone()).into()));
    let detail = Row::of(&commands::DETAIL, Some(UpscaleStep::AskDetail(images.clone()).into()));
    if images.len() == 1 {
        return vec![describe, detail];
    }
    let each = Row {
        key: image_menu::DESCRIBE_EACH,
        icon: describe.icon,
        name: tr!("enhance-each-open"),
        tip: tr!("enhance-each-open-tip"),
        does: Does::Act(vec![EnhanceStep::DescribeEach(images).into()]),
    };
    vec![
        Row { name: tr!("enhance-describe-open-all"), ..describe },
        each,
        Row { name: tr!("detailers-ask-open-all"), ..detail },
    ]
}

/// What can be done with one image that is whole, and is only in the menu.
fn offers_for_one(item: &Item, around: Around<'_>) -> Vec<Row<'static>> {
    let path = || item.path.clone();
    let row = |entry, action: GalleryAction| Row::of(entry, Some(action.into()));
    let mut all = Vec::new();
    if item.facts.is_some() && around.output.is_some() {
        let near = Some(commands::NEAR);
        all.push(row(&commands::VARIATIONS, GalleryAction::Vary(path(), None)));
        all.push(row(&commands::SIMILAR, GalleryAction::Vary(path(), near)));
    }
    if item.clip.is_none() {
        if !around.makes_clips {
            all.push(row(&commands::INPAINT, GalleryAction::Inpaint(path())));
        }
        all.push(row(&commands::COPY_IMAGE, GalleryAction::CopyImage(path())));
        all.push(row(&commands::SAVE_AS, GalleryAction::SaveAs(path())));
    }
    let preview = LibraryAction::AskPreview(path());
    all.push(Row::of(&commands::USE_AS_PREVIEW, Some(preview.into())));
    all
}

/// The star of what is clicked, or of all that is selected with it.
fn star(gallery: &Gallery, item: &Item, is_one: bool) -> Row<'static> {
    let shelf = &gallery.shelf;
    let is_starred = if is_one { shelf.is_starred(&item.path) } else { shelf.selected_are_starred() };
    let change = Change::Star(!is_starred);
    let action = match is_one {
        true => GalleryAction::MarkOne(item.path.clone(), change),
        false => GalleryAction::Mark(change),
    };
    let entry = if is_starred { commands::REMOVE_STAR } else { commands::ADD_STAR };
    Row::of(&entry, Some(action.into()))
}

/// The menu of a right click, which selects the image first unless it is selected.
pub(super) fn show(
    ui: &mut Ui,
    (gallery, around): (&mut Gallery, Around<'_>),
    item: &Arc<Item>,
    actions: &mut Vec<Action>,
) {
    let shelf = &gallery.shelf;
    let is_selected = shelf.selection().contains(&item.path);
    let items = if is_selected { shelf.selected() } else { std::slice::from_ref(item) };
    let files: Vec<PathBuf> = items.iter().map(|item| item.path.clone()).collect();
    // The collections that it is in, so that the others are offered.
    let (common, within) = (shelf.common(items, |mark| &mark.collections), shelf.query().within.clone());
    let mut rows: Vec<Row<'_>> = offers(item);
    rows.extend(offers_for_images(items));
    rows.extend(offers_for_all(items));
    let is_one = items.len() == 1;
    if is_one && item.broken.is_none() {
        rows.extend(offers_for_one(item, around));
    }
    rows.push(star(gallery, item, is_one));
    if let Within::Collection(name) = within {
        let tip = tr!("gallery-collection-leave-named", name = name.as_str());
        let words = (tr!("gallery-collection-leave"), tip);
        let leave = GalleryAction::Mark(Change::Leave(name));
        rows.push(of_gallery(image_menu::LEAVE, icons::X, words, leave));
    }
    let place = shelf.shown().iter().position(|shown| shown.path == item.path).filter(|_| !is_selected);
    if let Some(place) = place {
        for row in &mut rows {
            if let Does::Act(all) = &mut row.does {
                all.insert(0, GalleryAction::Pick(place, How::Only).into());
            }
        }
    }
    rows.push(Row {
        key: image_menu::COLLECT,
        icon: icons::LAYERS,
        name: tr!("gallery-collect"),
        tip: tr!("gallery-collect-tip"),
        does: Does::Open(Box::new(move |ui: &mut Ui, actions: &mut Vec<Action>| {
            collections::choices(ui, gallery, &common, &files, actions);
        })),
    });
    image_menu::show(ui, rows, actions);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::collection::{Facts, Stamp};

    #[test]
    fn each_row_of_images_and_clips_has_a_place_in_the_menu() {
        let output = PathBuf::from("/photos");
        let around = Around {
            output: Some(&output),
            others: &[],
            failure: None,
            cancelled: None,
            has_collections: true,
            makes_clips: false,
        };
        let item = |name: &str, clip| Item {
            path: output.join(name),
            stamp: Stamp { modified: 0, bytes: 8 },
            size: [8, 8],
            clip,
            facts: Some(Facts::default()),
            broken: None,
        };
        let (image, clip) = (item("fox.png", None), item("sea.mp4", Some((9, 8.0))));
        let mut rows = Vec::new();
        for item in [&image, &clip] {
            rows.extend(offers(item));
            rows.extend(offers_for_one(item, around));
            rows.push(star(&Gallery::default(), item, true));
        }
        let items = [image, clip].map(Arc::new);
        for items in [&items[..], &items[..1], &items[1..]] {
            rows.extend(offers_for_images(items));
            rows.extend(offers_for_all(items));
        }
        for row in rows {
            assert!(row.place().is_some(), "{}", row.key);
        }
    }
}
