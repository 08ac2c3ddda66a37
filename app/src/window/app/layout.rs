//! Lays out the panels.

use egui::{CentralPanel, Color32, Frame, Margin, Panel, Ui, UiBuilder};

use super::SluiceApp;
use crate::window::{
    action::Action,
    browser,
    commands::{Now, Open},
    gallery::{self as gallery_view, Around},
    help, library as models_place, monitor, plan_panel, settings_page, side_panel, status_bar,
    tokens::{Palette, size, space},
    top_bar, upscaling as upscaling_view, viewer,
};

impl SluiceApp {
    pub(super) fn layout(&mut self, ui: &mut Ui, actions: &mut Vec<Action>) {
        let palette = Palette::of(ui);
        let now = ui.ctx().time();
        let whole = ui.max_rect();
        let open = self.open(whole.width());
        let is_covered = self.state.library.is_open || open.gallery;
        self.panels_are_ground = match is_covered {
            true => self.state.library.is_open,
            false => 2.0 * self.viewer.canvas().area() < whole.area(),
        };
        let panel = if self.panels_are_ground { Color32::TRANSPARENT } else { palette.panel };
        let Self { state, gallery, .. } = self;
        let window = Now { state, open };
        let bar = |x: f32| Frame::new().fill(panel).inner_margin(Margin::symmetric(x as i8, 0));
        Panel::top("top")
            .exact_size(size::TOP_BAR)
            .resizable(false)
            .frame(bar(space::M))
            .show(ui, |ui| top_bar::show(ui, &window, &mut self.top_bar, actions));
        Panel::bottom("status")
            .exact_size(size::STATUS_BAR)
            .resizable(false)
            .frame(bar(space::L))
            .show(ui, |ui| status_bar::show(ui, state, now));
        if state.library.is_open {
            CentralPanel::default()
                .frame(Frame::new())
                .show(ui, |ui| models_place::show(ui, state, &mut self.library_place, actions));
        } else if open.gallery {
            let around = Around {
                output: state.surroundings.output_folder.as_ref(),
                others: &state.settings.gallery_folders,
                failure: state.messages.failures.last(),
                cancelled: state.messages.of_cancelled(),
                makes_clips: state.makes_clips(),
                has_collections: state
                    .settings
                    .collections_open
                    .unwrap_or(whole.width() >= size::COLLECTIONS_FROM),
            };
            gallery_view::show(ui, gallery, around, actions);
        } else {
            self.panels(ui, open, actions);
        }
        if let Some(browser) = &mut self.browser {
            browser::show(ui.ctx(), browser, actions);
        } else if let Some(upscaling) = &self.state.upscaling {
            upscaling_view::show(ui.ctx(), &self.state, upscaling, actions);
        } else if let Some(question) = &mut self.question {
            question.show(ui.ctx(), &self.state, actions);
        } else if self.grid.is_open {
            self.grid.show(ui.ctx(), &self.state, actions);
        } else if self.shows_help {
            help::show(ui.ctx(), actions);
        } else if let Some(page) = &mut self.settings_page {
            settings_page::show(ui.ctx(), &self.state, page, actions);
        }
        let now = Now { state: &self.state, open };
        self.palette.show(ui.ctx(), &now, actions);
        if ui.input(|input| !input.raw.hovered_files.is_empty()) && !self.drag_out.is_of_system() {
            viewer::drop_hint(ui, whole);
        }
    }

    /// The colour below everything: that of the larger surface, which then costs nothing.
    pub fn ground(&self, dark: bool) -> Color32 {
        let palette = Palette::of_theme(dark);
        if self.panels_are_ground { palette.panel } else { palette.canvas }
    }

    /// What is open in a window of this width.
    pub(super) fn open(&self, width: f32) -> Open {
        let memory = &self.state.settings.memory;
        let is_covered = self.gallery.is_open || self.state.library.is_open;
        Open {
            gallery: self.gallery.is_open,
            plan: !is_covered && memory.plan_open.unwrap_or(width >= size::WIDE_WINDOW),
            timeline: !is_covered && memory.timeline_open,
            help: self.shows_help,
            settings: self.settings_page.is_some(),
            palette: self.palette.is_open,
        }
    }

    /// What is open in a window of this width, dialogs, too.
    pub(super) fn places(&self, width: f32) -> (Open, [bool; 6]) {
        let dialogs = [
            self.state.library.is_open,
            self.library_place.is_getting(),
            self.state.upscaling.is_some(),
            self.browser.is_some(),
            self.question.is_some(),
            self.grid.is_open,
        ];
        (self.open(width), dialogs)
    }

    /// Closes the places that cover the panels.
    pub(super) fn uncover(&mut self) {
        self.state.library.is_open = false;
        self.close_gallery();
    }

    /// The panels around the image, and the image.
    fn panels(&mut self, ui: &mut Ui, open: Open, actions: &mut Vec<Action>) {
        let Self { state, textures, .. } = self;
        let (now, whole) = (ui.ctx().time(), ui.ctx().content_rect());
        let palette = Palette::of(ui);
        let (panel, canvas) = match self.panels_are_ground {
            true => (Color32::TRANSPARENT, palette.canvas),
            false => (palette.panel, Color32::TRANSPARENT),
        };
        let panel = Frame::new().fill(panel);
        Panel::left("side panel").default_size(size::SIDE_PANEL).size_range(280.0..=440.0).frame(panel).show(
            ui,
            |ui| {
                // Lists are as high as what is in them, as far as the window is.
                ui.spacing_mut().combo_height = whole.height() - 2.0 * space::XL;
                in_its_width(ui, |ui| side_panel::show(ui, state, &mut self.side_panel, textures, actions));
            },
        );
        if open.plan {
            let most = (whole.width() * 0.3).clamp(300.0, 460.0);
            // The width that a narrow window leaves is not that of a wide one.
            Panel::right(if most < size::PLAN_PANEL { "narrow plan" } else { "plan" })
                .default_size(size::PLAN_PANEL)
                .size_range(300.0..=most)
                .frame(panel)
                .show(ui, |ui| plan_panel::show(ui, state, &mut self.plan, actions));
        }
        // Only below the image: Generate stays in place, and the image keeps most of the space.
        if open.timeline {
            let timeline = match state.watches.run {
                Some(_) => Panel::bottom("timeline")
                    .default_size((whole.height() * size::TIMELINE).round())
                    .size_range(150.0..=whole.height() * 0.45),
                None => Panel::bottom("empty timeline").exact_size(size::EMPTY_TIMELINE).resizable(false),
            };
            timeline.frame(panel).show(ui, |ui| monitor::show(ui, state, &mut self.monitor, actions));
        }
        CentralPanel::default()
            .frame(Frame::new().fill(canvas))
            .show(ui, |ui| viewer::show(ui, &Now { state, open }, &mut self.viewer, textures, now, actions));
    }
}

/// Draws what is in a panel, which only the pointer makes wider.
fn in_its_width(ui: &mut Ui, contents: impl FnOnce(&mut Ui)) {
    let room = ui.max_rect();
    let mut inner = ui.new_child(UiBuilder::new().max_rect(room));
    inner.shrink_clip_rect(room);
    contents(&mut inner);
    ui.expand_to_include_rect(room);
}
