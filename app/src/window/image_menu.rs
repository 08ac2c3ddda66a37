//! The menu of images and clips: in the viewer and in the gallery it has the same groups in the same order.

use egui::{Align2, Color32, ScrollArea, Ui, containers::menu::SubMenu, vec2};

use super::{
    action::Action,
    commands::{self, Entry},
    icons,
    tokens::{Palette, font, size, space},
    widgets,
};

/// The rows by their keys, in groups.
const GROUPS: [&[&str]; 7] = [
    &[OPEN, commands::USE_SETTINGS.name, commands::VARIATIONS.name, commands::SIMILAR.name],
    &[
        commands::USE_AS_INPUT.name,
        commands::INPAINT.name,
        commands::EXTEND.name,
        commands::USE_AS_CLIP.name,
        commands::USE_FRAME.name,
        commands::USE_FRAME_AS_END.name,
        commands::USE_AS_PREVIEW.name,
    ],
    &[
        commands::UPSCALE.name,
        commands::DETAIL.name,
        commands::INTERPOLATE.name,
        commands::DESCRIBE.name,
        DESCRIBE_EACH,
    ],
    &[
        commands::COPY_IMAGE.name,
        commands::COPY_FRAME.name,
        commands::COPY_FILE.name,
        commands::COPY_PROMPT.name,
    ],
    &[
        commands::SAVE_AS.name,
        commands::SAVE_FRAME.name,
        EXPORT_RANGE,
        EXPORT,
        commands::OPEN_CONTAINING_FOLDER.name,
    ],
    &[commands::ADD_STAR.name, commands::REMOVE_STAR.name, COLLECT, LEAVE],
    &[commands::TRASH.name],
];

/// The keys of rows that only one of both menus has.
pub const OPEN: &str = "gallery-open";
pub const DESCRIBE_EACH: &str = "enhance-each-open";
pub const EXPORT: &str = "gallery-export-ask";
pub const EXPORT_RANGE: &str = "viewer-export-range";
pub const COLLECT: &str = "gallery-collect";
pub const LEAVE: &str = "gallery-collection-leave";

/// Width of a row beside its words: the icon, an arrow, and what is around them.
const BESIDE: f32 = 2.0 * font::ICON + 4.0 * space::S;

/// What a row opens beside the menu.
pub type Contents<'a> = Box<dyn FnOnce(&mut Ui, &mut Vec<Action>) + 'a>;

/// What a row does.
pub enum Does<'a> {
    /// These actions; nothing for now, if there are none.
    Act(Vec<Action>),
    /// It opens another menu.
    Open(Contents<'a>),
}

/// A row of the menu, which is also a button elsewhere.
pub struct Row<'a> {
    /// Its key.
    pub key: &'static str,
    /// Its icon.
    pub icon: &'static str,
    /// Its name.
    pub name: String,
    /// Its tooltip.
    pub tip: String,
    /// What it does.
    pub does: Does<'a>,
}

impl<'a> Row<'a> {
    /// The row of a command; without an action it cannot be used now.
    pub fn of(entry: &Entry, action: Option<Action>) -> Self {
        let does = Does::Act(action.into_iter().collect());
        Self { key: entry.name, icon: entry.icon, name: entry.title(), tip: entry.sentence(), does }
    }

    /// Its group and its place there.
    pub fn place(&self) -> Option<(usize, usize)> {
        place_of(self.key)
    }

    /// Draws it.
    pub fn show(self, ui: &mut Ui, actions: &mut Vec<Action>) {
        let Self { icon, name, tip, does, .. } = self;
        match does {
            Does::Act(all) => {
                ui.add_enabled_ui(!all.is_empty(), |ui| {
                    if widgets::row_button(ui, icon, &name, "", false).on_hover_text(tip).clicked() {
                        actions.extend(all);
                        ui.close();
                    }
                });
            }
            Does::Open(contents) => {
                let row = widgets::row_button(ui, icon, &name, "", false);
                let place = row.rect.right_center() - vec2(space::S, 0.0);
                let (font, ink) = (font::icons(font::SMALL), Palette::of(ui).text_muted);
                ui.painter().text(place, Align2::RIGHT_CENTER, icons::CHEVRON_RIGHT, font, ink);
                SubMenu::default().show(ui, &row, |ui| contents(ui, actions));
                row.on_hover_text(tip);
            }
        }
    }
}

/// The group of a row with this key and its place there.
pub fn place_of(key: &str) -> Option<(usize, usize)> {
    let in_group = |keys: &&[&str]| keys.iter().position(|known| *known == key);
    GROUPS.iter().enumerate().find_map(|(group, keys)| Some((group, in_group(keys)?)))
}

/// Draws the menu, as wide as its words, with a line between two groups.
pub fn show(ui: &mut Ui, mut rows: Vec<Row<'_>>, actions: &mut Vec<Action>) {
    let font = font::medium(font::BODY);
    let words = rows.iter().map(|row| {
        ui.painter().layout_no_wrap(row.name.clone(), font.clone(), Color32::PLACEHOLDER).size().x
    });
    let width = words.fold(0.0, f32::max) + BESIDE;
    ui.set_width(width.clamp(size::MENU, size::POPUP));
    ui.spacing_mut().item_spacing.y = 2.0;
    // One without a place would come last.
    rows.sort_by_key(|row| row.place().unwrap_or((GROUPS.len(), 0)));
    // A small window has no room for all of them.
    let most = ui.ctx().content_rect().height() - 2.0 * size::CONTROL;
    ScrollArea::vertical().min_scrolled_height(most).max_height(most).show(ui, |ui| {
        let mut last = None;
        for row in rows {
            let group = row.place().map(|(group, _)| group);
            if last.replace(group).is_some_and(|last| last != group) {
                ui.separator();
            }
            row.show(ui, actions);
        }
    });
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_row_has_one_place() {
        let keys = GROUPS.concat();
        assert_eq!(keys.iter().collect::<BTreeSet<_>>().len(), keys.len());
        let row = Row::of(&commands::TRASH, None);
        assert_eq!(row.place(), Some((6, 0)));
        for key in [OPEN, DESCRIBE_EACH, EXPORT, EXPORT_RANGE, COLLECT, LEAVE] {
            assert!(place_of(key).is_some(), "{key}");
        }
        assert_eq!(place_of("gallery-undo"), None);
    }
}
