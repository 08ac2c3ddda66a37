//! Executes the steps of the gallery, and handles what its threads report.

use std::{env, path::PathBuf, sync::Arc};

use egui::Context;
use sluice_engine::{output::StillFormat, request::FrameRange};

use super::SluiceApp;
use crate::language::{said, tr};
use crate::window::{
    action::{Action, GalleryAction},
    collection::{
        Change, CollectionStep, Details, EXPORTED, ExportOptions, Query, Report, Stamp, TakeBack,
        Task as Work, Trashed, Within, Worker,
    },
    files::{Dialog, FileEvent, SavedImage, Task, Wake, is_video, named_image},
    gallery::{ExportDialog, SettingsUse},
    state::{Shown, State, Undo, file_name},
    told::Told,
};

/// Most reports handled per frame; the rest waits for the next one.
const REPORTS_A_FRAME: usize = 48;
/// The quality of lossy copies, until another one is chosen.
const QUALITY: u8 = 90;

impl SluiceApp {
    pub(super) fn act_in_gallery(&mut self, ctx: &Context, action: GalleryAction) {
        let shelf = &mut self.gallery.shelf;
        match action {
            GalleryAction::Open(true) => self.open_gallery(ctx),
            GalleryAction::Open(false) | GalleryAction::Escape if self.gallery.dialog.is_some() => {
                self.gallery.dialog = None
            }
            GalleryAction::Open(false) | GalleryAction::Escape => self.close_gallery(),
            GalleryAction::Search(query) => shelf.search(query),
            GalleryAction::Pick(place, how) => {
                shelf.pick(place, how);
                self.follow_selection(false);
            }
            GalleryAction::Move(by, how) => {
                shelf.step(by, how);
                self.follow_selection(true);
            }
            GalleryAction::SelectAll => shelf.select_all(),
            GalleryAction::SelectNothing => shelf.select_nothing(),
            GalleryAction::Mark(change) => self.mark(self.gallery.shelf.selected_files(), change),
            GalleryAction::Collect(paths, name) => {
                shelf.say(Told::about(name.as_str(), |name| match paths.len() {
                    0 => tr!("gallery-collection-made", name = name),
                    count => tr!("gallery-collected", count = count, name = name),
                }));
                self.work(Work::Gather(CollectionStep::Add(name, self.stamped(&paths))));
            }
            GalleryAction::Gather(step) => self.gather(step),
            GalleryAction::MarkOne(path, change) => {
                if self.start_gallery(ctx) {
                    self.work(Work::MarkOne(path, change));
                }
            }
            GalleryAction::Trash => {
                let paths: Vec<PathBuf> = shelf.selected_files().into_iter().map(|(path, _)| path).collect();
                if !paths.is_empty() {
                    self.work(Work::Trash(paths));
                }
            }
            GalleryAction::TrashOne(path) => {
                if self.start_gallery(ctx) {
                    self.work(Work::Trash(vec![path]));
                }
            }
            // What the gallery offers comes first, then what it shows of the window.
            GalleryAction::TakeBack
                if self.state.messages.of_cancelled().is_some()
                    && shelf.notice.as_ref().is_none_or(|notice| notice.undo.is_none()) =>
            {
                self.undo();
            }
            GalleryAction::TakeBack => match shelf.take_undo() {
                Some(TakeBack::Trash(files)) => self.take_back(files),
                Some(TakeBack::Collection(deleted)) => {
                    self.work(Work::Gather(CollectionStep::Add(deleted.name, deleted.files)));
                }
                None => {}
            },
            GalleryAction::Show(path) => self.recall(path, false),
            GalleryAction::Compare => self.compare_selected(),
            GalleryAction::UseSettings(path) => self.use_settings_of(path, SettingsUse::Restore),
            GalleryAction::Vary(path, strength) => self.use_settings_of(path, SettingsUse::Vary(strength)),
            GalleryAction::Inpaint(path) => {
                self.close_gallery();
                self.act(ctx, Action::Inpaint(path));
            }
            GalleryAction::UseAsInput(path) => {
                self.close_gallery();
                if is_video(&path) {
                    self.use_as_clip(path, FrameRange::default(), false);
                } else {
                    self.act(ctx, Action::UseAsInput(path));
                }
            }
            GalleryAction::CopyPrompt(path) => {
                let facts = shelf.item(&path).and_then(|item| item.facts.as_ref());
                if let Some(facts) = facts {
                    ctx.copy_text(facts.prompt.clone());
                    shelf.say(tr!("app-prompt-copied"));
                }
            }
            GalleryAction::CopyImage(path) => self.request(Task::CopyImage(path)),
            GalleryAction::SaveAs(path) => {
                let before = self.gallery.saves.replace(path);
                if !self.open_dialog(Dialog::SaveFile) {
                    // Another dialog is open, which may be that for this one.
                    self.gallery.saves = before;
                }
            }
            GalleryAction::CopyFiles => {
                let files: Vec<PathBuf> = shelf.selected().iter().map(|item| item.path.clone()).collect();
                if !files.is_empty() {
                    self.request(Task::CopyFiles(files));
                }
            }
            GalleryAction::AskExport => self.ask_export(),
            GalleryAction::CloseExport => self.gallery.dialog = None,
            GalleryAction::Export(export) => {
                self.gallery.dialog = None;
                self.export_options = Some(export.options.clone());
                self.work(Work::Export(export));
            }
            GalleryAction::RemoveFolder(folder) => {
                self.state.settings.gallery_folders.retain(|known| *known != folder);
                self.list_gallery();
            }
            GalleryAction::Rescan => self.list_gallery(),
            GalleryAction::DismissNotice => shelf.dismiss_notice(),
            GalleryAction::LetNoticeGo => shelf.let_notice_go(),
        }
    }

    fn open_gallery(&mut self, ctx: &Context) {
        self.shows_help = false;
        self.gallery.is_open = self.start_gallery(ctx);
        if self.gallery.is_open {
            self.list_gallery();
        }
    }

    /// Starts the threads, unless they run. Returns whether they do.
    fn start_gallery(&mut self, ctx: &Context) -> bool {
        if self.gallery.worker.is_none() {
            let ctx = ctx.clone();
            let wake: Wake = Arc::new(move || ctx.request_repaint());
            match Worker::start(self.places.clone(), &wake) {
                Ok(worker) => self.gallery.worker = Some(worker),
                Err(error) => self.fail(&tr!("app-gallery-failed"), error.to_string(), None),
            }
        }
        self.gallery.worker.is_some()
    }

    /// Reads which files have stars, which menus of results say, too.
    pub(super) fn read_marks(&mut self, ctx: &Context) {
        if self.places.data.is_some() && self.start_gallery(ctx) {
            self.work(Work::ReadMarks);
        }
    }

    /// Takes files back from the trash.
    pub(super) fn take_back(&mut self, files: Vec<Trashed>) {
        self.work(Work::TakeBack(files));
    }

    pub(super) fn close_gallery(&mut self) {
        self.gallery.is_open = false;
        self.gallery.dialog = None;
        self.gallery.thumbnails.clear();
    }

    /// Lists the folders again, and looks for the files of the list below the image.
    pub(super) fn list_gallery(&mut self) {
        self.look_for_files();
        self.work(Work::Scan(self.folders_of_results()));
    }

    fn work(&mut self, task: Work) {
        if self.gallery.worker.as_ref().is_some_and(|worker| !worker.request(task)) {
            let advice = Some(tr!("app-try-again"));
            self.fail(&tr!("app-too-much"), tr!("app-gallery-busy"), advice);
        }
    }

    /// Changes the list of collections. What is shown follows a name.
    fn gather(&mut self, step: CollectionStep) {
        let shelf = &mut self.gallery.shelf;
        if let CollectionStep::Rename { from, to } = &step
            && shelf.query().within == Within::Collection(from.clone())
        {
            let within = Within::Collection(to.clone());
            shelf.search(Query { within, ..shelf.query().clone() });
        }
        self.work(Work::Gather(step));
    }

    /// Files of the gallery with their stamps.
    fn stamped(&self, paths: &[PathBuf]) -> Vec<(PathBuf, Stamp)> {
        let items = paths.iter().filter_map(|path| self.gallery.shelf.item(path));
        items.map(|item| (item.path.clone(), item.stamp)).collect()
    }

    fn mark(&mut self, files: Vec<(PathBuf, Stamp)>, change: Change) {
        if !files.is_empty() {
            self.work(Work::Mark(files, change));
        }
    }

    /// Reads the settings of the one that is selected, and scrolls to the current one.
    fn follow_selection(&mut self, scrolls: bool) {
        self.gallery.follows |= scrolls;
        // Even if its settings are known: another program may have deleted it since.
        let single = self.gallery.shelf.single().map(|item| item.path.clone());
        if let Some(path) = single {
            self.work(Work::Details(path));
        }
    }

    /// Handles what the gallery's threads say.
    pub(super) fn take_reports(&mut self, ctx: &Context) {
        for taken in 0..=REPORTS_A_FRAME {
            let report = self.gallery.worker.as_ref().and_then(Worker::try_recv);
            let Some(report) = report else { break };
            if let Report::Thumbnail(path, stamp, image) = report {
                self.gallery.thumbnails.take(ctx, path, stamp, image);
            } else {
                if let Report::Lost(path) = &report {
                    self.gallery.thumbnails.forget(path);
                }
                self.take_report(report);
            }
            if taken == REPORTS_A_FRAME {
                ctx.request_repaint();
            }
        }
        self.gallery.shelf.forget_lost();
    }

    fn take_report(&mut self, report: Report) {
        self.follow_files(&report);
        let is_open = self.gallery.is_open;
        let is_trash = matches!(report, Report::Trashed(..));
        let is_answer = is_trash || matches!(report, Report::Back(..) | Report::Failed(..));
        let wants_list = self.gallery.shelf.take(report);
        if wants_list && is_open {
            self.list_gallery();
        }
        if is_trash && is_open {
            self.follow_selection(true);
        }
        if is_answer && !is_open {
            self.say_outside();
        }
        if let Some((path, used)) = self
            .gallery
            .waits_for
            .take_if(|(path, _)| self.gallery.shelf.details.as_ref().is_some_and(|(known, _)| known == path))
        {
            self.use_settings_of(path, used);
        }
    }

    /// Lets the viewer and its list follow the files: what is in the trash leaves them, and comes back.
    fn follow_files(&mut self, report: &Report) {
        let images = &mut self.state.images;
        let before = images.shown;
        match report {
            Report::Marks(marks) => {
                let starred = marks.iter().filter(|(_, mark)| mark.starred);
                images.starred = starred.map(|(path, _)| path.clone()).collect();
            }
            Report::Trashed(files, _) => files.iter().for_each(|file| images.set_aside(&file.path)),
            Report::Back(paths, _) => {
                // The one that went last comes first, so that each finds its place.
                for path in paths.iter().rev() {
                    // Who looked for files may have found it first.
                    let back = images.recents.put_back(path).or_else(|| images.recents.of_file(path));
                    if let Some(id) = back
                        && !self.gallery.is_open
                        && before != Shown::Live
                    {
                        images.shown = Shown::Recent(id);
                    }
                }
            }
            _ => {}
        }
        if images.shown != before {
            self.viewer.fit();
        }
    }

    /// Says beside the image what the gallery would say if it was open.
    fn say_outside(&mut self) {
        let Some(done) = self.gallery.shelf.notice.take() else { return };
        let undo = match done.undo {
            Some(TakeBack::Trash(files)) => Some(Undo::Trash(files)),
            Some(TakeBack::Collection(_)) | None => None,
        };
        if done.is_failure && undo.is_none() {
            return self.fail(&done.text, done.detail, None);
        }
        let details = Some(done.detail).filter(|detail| !detail.is_empty()).into_iter().collect();
        self.state.messages.tell(Told { text: done.text, name: done.name }, details, undo);
    }

    /// Shows a file in the viewer, or compares it with the one that is shown.
    fn recall(&mut self, path: PathBuf, is_compared: bool) {
        self.close_gallery();
        match self.state.images.recents.of_file(&path) {
            Some(id) if is_compared => self.state.images.compare(Some(id)),
            Some(id) => {
                self.show(Shown::Recent(id));
                // What is shown from memory may be gone.
                self.look_for_files();
            }
            None => self.request(Task::Recall(path, is_compared)),
        }
    }

    fn compare_selected(&mut self) {
        let [a, b] = self.gallery.shelf.selected() else { return };
        let paths = [a.path.clone(), b.path.clone()];
        if a.broken.is_some() || b.broken.is_some() || a.clip.is_some() != b.clip.is_some() {
            return self.gallery.shelf.say(tr!("app-compare-two"));
        }
        self.close_gallery();
        // Both through the thread for files, which keeps their order.
        for (path, is_compared) in paths.into_iter().zip([false, true]) {
            self.request(Task::Recall(path, is_compared));
        }
    }

    /// A file of the gallery is ready for the viewer.
    pub(super) fn recalled(&mut self, event: FileEvent) {
        let FileEvent::Recalled { path, thumbnail, length, settings, is_compared } = event else { return };
        let settings = settings.map(|settings| *settings);
        let id = self.state.images.recents.recall(path, thumbnail, length, settings);
        match is_compared {
            true => self.state.images.compare(Some(id)),
            false => self.show(Shown::Recent(id)),
        }
    }

    fn use_settings_of(&mut self, path: PathBuf, used: SettingsUse) {
        let Some(Details { settings, .. }) = self.gallery.shelf.details_of(&path) else {
            self.gallery.waits_for = Some((path.clone(), used));
            return self.work(Work::Details(path));
        };
        match settings {
            Ok(settings) => {
                let settings = (**settings).clone();
                self.close_gallery();
                match used {
                    SettingsUse::Restore => self.restore_settings(&path, settings),
                    SettingsUse::Vary(strength) => self.vary_settings(&path, settings, strength),
                }
            }
            Err(reason) => {
                let told = Told::about(file_name(&path), |name| {
                    tr!("app-settings-unreadable", name = name, reason = said(reason))
                });
                self.gallery.shelf.say(told);
            }
        }
    }

    fn ask_export(&mut self) {
        if self.gallery.shelf.selected().is_empty() {
            return;
        }
        let options = self.export_options.clone().unwrap_or_else(|| ExportOptions {
            folder: self.output_folder().join(EXPORTED),
            format: StillFormat::default(),
            quality: QUALITY,
            with_settings: true,
            template: "{name}".to_owned(),
        });
        self.gallery.dialog = Some(ExportDialog { options });
    }

    /// The quality of lossy copies, as it was chosen last.
    pub(super) fn export_quality(&self) -> u8 {
        self.export_options.as_ref().map_or(QUALITY, |options| options.quality)
    }

    /// The file that the dialog for a copy of an image starts with.
    pub(super) fn suggested_copy(&self) -> Option<PathBuf> {
        self.gallery.saves.as_deref().map(|path| named_image(path).0)
    }

    /// Saves a copy of an image under a name that was chosen.
    pub(super) fn save_copy(&mut self, path: PathBuf) {
        let Some(original) = self.gallery.saves.take() else { return };
        let (pixels, request, quality) = (None, None, self.export_quality());
        let saved = SavedImage { original: Some(original), pixels, request, path, quality };
        self.request(Task::SaveImage(Box::new(saved)));
    }

    /// Says something where it is seen: in the gallery, or above the settings.
    pub(super) fn say_here(&mut self, told: impl Into<Told>) {
        match self.gallery.is_open {
            true => self.gallery.shelf.say(told),
            false => self.state.messages.say(told, Vec::new()),
        }
    }

    /// A folder for exported images was chosen.
    pub(super) fn export_to(&mut self, folder: PathBuf) {
        match &mut self.gallery.dialog {
            Some(dialog) => dialog.options.folder = folder,
            None => tracing::debug!(folder = %folder.display(), "nothing is exported any more"),
        }
    }

    /// Shows another folder too.
    pub(super) fn add_gallery_folder(&mut self, folder: PathBuf) {
        let State { settings, surroundings, .. } = &mut self.state;
        let folders = &mut settings.gallery_folders;
        if !folders.contains(&folder) && surroundings.output_folder.as_ref() != Some(&folder) {
            folders.push(folder);
        }
        self.list_gallery();
    }

    /// Where dialogs of the gallery start.
    pub(super) fn gallery_folder(&self) -> Option<PathBuf> {
        self.state.surroundings.output_folder.clone().or_else(env::home_dir)
    }
}
