//! Handles the results of the file worker.

use std::{
    env,
    path::{Path, PathBuf},
    sync::Arc,
};

use sluice_engine::request::FrameRange;

use super::SluiceApp;
use crate::{
    language::tr,
    window::{
        browser::Browser,
        files::FileEvent,
        state::{Dropped, Pixels, file_name},
        told::Told,
    },
};

impl SluiceApp {
    pub(super) fn take_file_event(&mut self, event: FileEvent) {
        let left_out = match event {
            FileEvent::Dropped { .. } => std::mem::take(&mut self.left_out),
            _ => 0,
        };
        self.take_result(event);
        if left_out > 0 {
            let details = vec![tr!("app-images-not-used", count = left_out)];
            match &mut self.state.messages.notice {
                Some(notice) => notice.details.extend(details),
                None => self.state.messages.say(tr!("app-first-image-used"), details),
            }
        }
    }

    fn take_result(&mut self, event: FileEvent) {
        match event {
            FileEvent::Found { path, thumbnail, length, settings } => {
                self.state.found(path, thumbnail, length, settings.map(|settings| *settings));
            }
            FileEvent::FolderListed { folder, files, are_whole } => {
                self.watching.listed(folder, files, are_whole);
            }
            FileEvent::Added { path, thumbnail, length, settings } => {
                self.state.images.recents.recall(path, thumbnail, length, settings.map(|settings| *settings));
            }
            FileEvent::Pixels { path, pixels } => {
                let drawn: Vec<_> = self.state.images.drawn().map(|recent| recent.id).collect();
                self.state.images.recents.loaded(&path, pixels, &drawn);
                self.reading = None;
            }
            FileEvent::Exported(path) => self.saved(&path),
            FileEvent::ImageRead(image) => {
                self.copied_image = Some(image);
                self.say_here(tr!("app-copied"));
            }
            FileEvent::FilesCopied(files) => {
                self.say_here(match files.as_slice() {
                    [one] => Told::about(file_name(one), |name| tr!("app-file-copied", name = name)),
                    all => tr!("app-files-copied", count = all.len()).into(),
                });
            }
            FileEvent::Tags(tags) => self.state.tags = tags,
            FileEvent::Previewed(image, models) => self.ask_preview(image, models),
            FileEvent::PreviewSaved { model, path } => self.preview_saved(&model, &path),
            FileEvent::Groups(groups) => self.state.jobs.groups.restore(groups),
            FileEvent::Presets(presets) => self.state.presets = presets,
            FileEvent::PresetDeleted(deleted) => self.say_preset_deleted(deleted),
            FileEvent::Styles { styles, own, errors } => self.take_styles(styles, own, errors),
            FileEvent::Inputs(found) => self.take_inputs(*found),
            FileEvent::Composed { path, thumbnail, length, settings } => {
                self.take_composed(path, thumbnail, length, settings);
            }
            FileEvent::FrameSaved { path, image } => {
                self.saved(&path);
                self.state.images.recents.add(Some(path), Pixels::Image(Arc::new(image)), None, None);
            }
            FileEvent::Dropped { path, pixels, settings: Some(settings) } => {
                self.state.messages.notice = None;
                self.state.input.dropped = Some(Dropped { path, pixels, settings });
            }
            FileEvent::Dropped { path, settings: None, pixels: Pixels::Clip(_) } => {
                if self.state.takes_clips() {
                    self.use_as_clip(path, FrameRange::default(), false);
                } else {
                    let message = tr!("app-no-settings", name = file_name(&path));
                    let advice = tr!("app-clip-unusable-advice");
                    self.fail(&tr!("app-clip-unusable"), message, Some(advice));
                }
            }
            FileEvent::Dropped { path, settings: None, .. } => self.use_as_input(path),
            FileEvent::Input { path, read, seconds } => {
                let read = read.map_err(|failure| failure.message);
                if let Ok(image) = &read {
                    self.state.follow_reference(&path, image.size);
                }
                self.state.input.files.take(&path, read, seconds);
                self.state.paint_waiting(&path);
            }
            FileEvent::Gone { path, failure, is_there } => {
                self.reading = None;
                if self.state.images.lost(&path, is_there) {
                    self.state.messages.fail(&tr!("app-image-cannot-be-shown"), failure);
                }
                // Others may be gone, too.
                if self.gallery.is_open {
                    self.list_gallery();
                } else {
                    self.look_for_files();
                }
            }
            FileEvent::Looked { gone, back } => self.follow_disk(&gone, &back),
            FileEvent::Failed { title, failure } => self.state.messages.fail(&title, failure),
            FileEvent::MaskNotSaved(failure) => {
                self.state.paint_applied();
                self.state.messages.fail(&tr!("files-mask-not-saved"), failure);
            }
            FileEvent::Measured(measured) => self.state.take_measured(measured),
            FileEvent::ChangedListed(change, folder, files) => self.take_changed(change, &folder, files),
            FileEvent::ResultsFound(first, makers) => self.state.take_makers(&first, makers),
            FileEvent::Prompts(prompts) => self.state.take_prompts(prompts),
            FileEvent::Settings(path, settings) => {
                self.state.images.recents.learn(&path, *settings);
            }
            FileEvent::TextsNamed { images, texts, done } => {
                self.state.take_text_names(&images, texts, done);
            }
            FileEvent::Adapters(paths) => self.state.adapters.known = paths,
            FileEvent::Report(text) => {
                self.copied = Some(text);
                self.state.messages.say(tr!("app-report-copied"), Vec::new());
            }
            recalled @ FileEvent::Recalled { .. } => self.recalled(recalled),
            FileEvent::Chosen(dialog, path) => self.take_chosen(dialog, path),
            FileEvent::Answered(dialog, path) => self.take_answer(dialog, path),
            FileEvent::IsFile(dialog, path) => {
                let waits = |browser: &mut Browser| browser.dialog == dialog && browser.folder == path;
                if self.browser.take_if(waits).is_some() {
                    self.take_answer(dialog, path);
                }
            }
            FileEvent::DialogClosed => {}
            FileEvent::NoDialog { dialog, start } => {
                let home = || env::home_dir().unwrap_or_else(|| PathBuf::from("/"));
                let (folder, name) = dialog.start(start.as_deref());
                self.list_folder(dialog, folder.map_or_else(home, Path::to_owned), name);
            }
            FileEvent::Folder { folder, entries } => {
                if let Some(browser) = self.browser.as_mut().filter(|browser| browser.folder == folder) {
                    browser.entries = Some(entries);
                }
            }
        }
    }
}
