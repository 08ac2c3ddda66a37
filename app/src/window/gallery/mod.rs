//! The gallery: all images and clips of the output folder and of folders that were added, with search, stars, tags and
//! collections.

mod collections;
mod export_dialog;
mod grid;
mod head;
mod info;
mod menu;
mod notice;
mod setting_names;
mod textures;

use std::path::PathBuf;

use egui::{CentralPanel, Frame, Margin, Panel, Ui};

pub use export_dialog::ExportDialog;
pub use textures::Thumbnails;

use collections::Naming;
use notice::WayBack;

use super::{
    action::{Action, GalleryAction, Message},
    collection::{Notice, Shelf, Worker},
    leaving,
    state::{self, FailureCard},
    tokens::{Palette, size, space},
};

/// The gallery with its view state, which is not saved.
pub struct Gallery {
    /// Whether it is open.
    pub is_open: bool,
    /// Its state.
    pub shelf: Shelf,
    /// The question how to export.
    pub dialog: Option<ExportDialog>,
    /// Its thumbnails.
    pub thumbnails: Thumbnails,
    /// Its threads, once it was opened.
    pub worker: Option<Worker>,
    /// The file whose settings are used as soon as they are read, and what for.
    pub waits_for: Option<(PathBuf, SettingsUse)>,
    /// The image of which a copy is saved as soon as its name is chosen.
    pub saves: Option<PathBuf>,
    /// Side of a tile.
    tile: f32,
    /// Scroll to the current item in the next frame.
    pub follows: bool,
    /// Tiles in a row and rows on a page, as of the last frame.
    layout: grid::Layout,
    /// The tag that is typed.
    tag: String,
    /// The name of a collection that is typed.
    naming: Option<Naming>,
    /// Put the cursor into the search field in the next frame.
    focuses_search: bool,
}

impl Default for Gallery {
    fn default() -> Self {
        Self {
            is_open: false,
            shelf: Shelf::default(),
            dialog: None,
            thumbnails: Thumbnails::default(),
            worker: None,
            waits_for: None,
            saves: None,
            tile: size::TILE,
            follows: false,
            layout: grid::Layout::default(),
            tag: String::new(),
            naming: None,
            focuses_search: false,
        }
    }
}

/// What the settings of a file are used for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SettingsUse {
    /// They replace those of the window.
    Restore,
    /// Others are generated with them: with new seeds, or with noise near its own.
    Vary(Option<f32>),
}

/// What the gallery draws from the rest of the window.
#[derive(Debug, Clone, Copy)]
pub struct Around<'a> {
    /// The folder of what is generated.
    pub output: Option<&'a PathBuf>,
    /// Other folders.
    pub others: &'a [PathBuf],
    /// What failed last in the window.
    pub failure: Option<&'a FailureCard>,
    /// That jobs were cancelled, which can be resumed.
    pub cancelled: Option<&'a state::Notice>,
    /// Whether the list of collections is open.
    pub has_collections: bool,
    /// Whether the model makes clips, and no images.
    pub makes_clips: bool,
}

/// Draws the gallery in the place of the panels.
pub fn show(ui: &mut Ui, gallery: &mut Gallery, around: Around<'_>, actions: &mut Vec<Action>) {
    let palette = Palette::of(ui);
    let is_free = gallery.dialog.is_none() && !ui.ctx().any_popup_open();
    if is_free {
        grid::keys(ui, gallery, actions);
    }
    let frame =
        |x: f32, y: f32| Frame::new().fill(palette.panel).inner_margin(Margin::symmetric(x as i8, y as i8));
    Panel::top("gallery head")
        .resizable(false)
        .frame(frame(space::L, space::M))
        .show(ui, |ui| head::show(ui, gallery, around, actions));
    if around.has_collections {
        Panel::left("gallery collections")
            .exact_size(size::COLLECTIONS)
            .resizable(false)
            .frame(frame(0.0, 0.0))
            .show(ui, |ui| collections::show(ui, gallery, actions));
    }
    Panel::right("gallery info")
        .exact_size(size::GALLERY_INFO)
        .resizable(false)
        .frame(frame(0.0, 0.0))
        .show(ui, |ui| info::show(ui, gallery, actions));
    let bar = |name: &str| Panel::bottom(name).resizable(false).frame(frame(space::L, space::S));
    if let Some(card) = around.failure {
        let FailureCard { title, failure, .. } = card;
        let notice = Notice::failed(title.clone(), failure.clone());
        bar("gallery failure")
            .show(ui, |ui| notice::show(ui, &notice, None, Action::Dismiss(Message::Failure), actions));
    }
    if let Some(state::Notice { text, details, .. }) = around.cancelled {
        let notice = Notice { text: text.clone(), detail: details.join(" "), ..Notice::default() };
        let (way_back, dismiss) = (Some(WayBack::to_jobs()), Action::Dismiss(Message::Notice));
        bar("gallery cancelled").show(ui, |ui| notice::show(ui, &notice, way_back, dismiss, actions));
    }
    // That jobs were cancelled takes the place of words about these jobs.
    let own = gallery.shelf.notice.as_ref();
    let own = own.filter(|own| around.cancelled.is_none() || own.is_failure || own.undo.is_some());
    if let Some(notice) = own {
        let (way_back, dismiss) = (WayBack::of(notice), GalleryAction::DismissNotice.into());
        let shown = bar("gallery notice").show(ui, |ui| notice::show(ui, notice, way_back, dismiss, actions));
        let (stays, stamp) = (notice::stays(notice), ("gallery", gallery.shelf.told()));
        if stays.is_some_and(|stays| leaving::is_over(ui, stays, stamp, shown.response.rect)) {
            actions.push(GalleryAction::LetNoticeGo.into());
        }
    }
    CentralPanel::default().frame(Frame::new()).show(ui, |ui| grid::show(ui, gallery, around, actions));
    if gallery.dialog.is_some() {
        export_dialog::show(ui.ctx(), gallery, actions);
    }
    gallery.thumbnails.end_frame();
}
