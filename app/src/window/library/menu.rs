//! The menu of a right click on a row.

use egui::{OpenUrl, Ui};
use sluice_engine::{models::Kind, request::ModelSource};

use super::row::Row;
use crate::{
    downloads::catalogue::catalogue,
    language::tr,
    window::{
        action::{Action, GetAction, LibraryAction},
        icons,
        state::{EntryId, State},
        tokens::size,
        widgets,
    },
};

/// Something that can be done with what a row is about.
struct Offer {
    icon: &'static str,
    name: String,
    tip: String,
    does: Does,
}

enum Does {
    Act(Action),
    Visit(String),
}

impl Offer {
    fn new(icon: &'static str, name: String, tip: String, action: impl Into<Action>) -> Self {
        Self { icon, name, tip, does: Does::Act(action.into()) }
    }
}

/// Draws the menu.
pub(super) fn show(ui: &mut Ui, state: &State, row: &Row<'_>, actions: &mut Vec<Action>) {
    ui.set_width(size::MENU);
    ui.spacing_mut().item_spacing.y = 2.0;
    for Offer { icon, name, tip, does } in offers(state, row) {
        if widgets::row_button(ui, icon, &name, "", false).on_hover_text(tip).clicked() {
            match does {
                Does::Act(action) => actions.push(action),
                Does::Visit(page) => ui.ctx().open_url(OpenUrl::new_tab(page)),
            }
            ui.close();
        }
    }
}

/// What can be done, the most likely first.
fn offers(state: &State, row: &Row<'_>) -> Vec<Offer> {
    let mut all = match row.id {
        EntryId::Known(id) | EntryId::Version(id, _) => of_known(state, id),
        EntryId::Source(source) => of_source(state, row, source),
    };
    let (name, tip) = match row.is_favourite {
        true => (tr!("library-menu-unstar"), tr!("library-unstar-tip")),
        false => (tr!("library-menu-star"), tr!("library-star-tip")),
    };
    let star = LibraryAction::Favourite(row.id.clone(), !row.is_favourite);
    all.push(Offer::new(icons::star(row.is_favourite), name, tip, star));
    if let EntryId::Source(ModelSource::Path(path)) = row.id {
        let folder = if path.is_dir() { path } else { path.parent().unwrap_or(path) };
        let open = Action::OpenFolder(folder.to_owned());
        let (name, tip) = (tr!("library-open-folder"), tr!("library-open-folder-tip"));
        all.push(Offer::new(icons::FOLDER_OPEN, name, tip, open));
        let copy = Action::CopyText(path.display().to_string());
        all.push(Offer::new(icons::COPY, tr!("library-copy-path"), tr!("library-copy-path-tip"), copy));
    }
    all
}

fn of_source(state: &State, row: &Row<'_>, source: &ModelSource) -> Vec<Offer> {
    let kind = state.library.item(row.id).map(|item| item.content().map(|content| content.kind));
    let open = || LibraryAction::Open(row.id.clone());
    let mut all = Vec::new();
    match kind {
        // Models, and those that are built in.
        Some(Some(Kind::Model)) | None if !row.is_open => {
            let (name, tip) = (tr!("library-open-model"), tr!("library-open-model-tip"));
            all.push(Offer::new(icons::PACKAGE, name, tip, open()));
        }
        Some(Some(Kind::Model)) | None => {
            let (name, tip) = (tr!("library-keep-defaults"), tr!("library-keep-defaults-tip"));
            all.push(Offer::new(icons::SETTINGS, name, tip, LibraryAction::KeepDefaults));
        }
        Some(Some(Kind::Adapter)) => {
            let (name, tip) = match row.used {
                Some(true) => (tr!("library-lora-remove"), tr!("library-row-remove-tip")),
                _ => (tr!("library-lora-add"), tr!("library-row-add-tip")),
            };
            all.push(Offer::new(icons::SPARKLES, name, tip, open()));
        }
        Some(_) => {}
    }
    if state.settings.library.defaults_of(source).is_some() {
        let reset = LibraryAction::ResetDefaults(source.clone());
        let (name, tip) = (tr!("library-reset-defaults"), tr!("library-reset-defaults-tip"));
        all.push(Offer::new(icons::RESTORE, name, tip, reset));
    }
    all
}

fn of_known(state: &State, id: &str) -> Vec<Offer> {
    let mut all = Vec::new();
    if let Some(listed) = catalogue().find(id).filter(|_| state.downloads.is_there)
        && state.downloads.of(listed).is_none()
        && let Some(version) = state.version_for(listed)
    {
        let start = GetAction::Start(listed.id.clone(), version.format.clone());
        all.push(Offer::new(icons::DOWNLOAD, tr!("get-download"), tr!("get-download-tip"), start));
    }
    if let Some(known) = state.library.known(&EntryId::Known(id.to_owned())) {
        let page = format!("https://huggingface.co/{}", known.hub);
        all.push(Offer {
            icon: icons::FOLDER_OPEN,
            name: tr!("library-open-page"),
            tip: tr!("library-open-page-tip"),
            does: Does::Visit(page.clone()),
        });
        let copy = Action::CopyText(page);
        all.push(Offer::new(icons::COPY, tr!("library-copy-link"), tr!("library-copy-link-tip"), copy));
    }
    all
}
