//! Executes actions.

use std::{
    env,
    path::{Path, PathBuf},
    sync::Arc,
};

use egui::{Context, ViewportCommand};
use sluice_engine::{
    request::{FrameRange, ModelSource},
    session::Failure,
};

use super::SluiceApp;
use crate::{
    language::tr,
    window::{
        action::{Action, Browse, Message, Section},
        browser::Browser,
        files::{ClipFormat, Dialog, Export, SavedFrame, StyleTask, Task, Well},
        question::Question,
        report::Report,
        settings::Setting,
        settings_page::SettingsPage,
        state::{Draft, Dropped, Playback, RecentId, Shown, State, Undo, file_name},
        tokens,
        told::Told,
    },
};

impl SluiceApp {
    /// Does what a control asks for.
    pub fn act(&mut self, ctx: &Context, action: Action) {
        let State { settings, jobs, input, .. } = &mut self.state;
        match action {
            Action::Edit(draft) => self.state.edit(*draft),
            Action::Set(setting) => self.set(ctx, setting),
            Action::RemoveInForce(bare) => {
                let mut bare = *bare;
                bare.hires_before = None;
                bare.settle(self.state.draft(), false);
                let load = self.state.restore(bare, tr!("app-chips-removed"), Vec::new());
                self.send(load);
            }
            Action::CloseQuestion => self.question = None,
            Action::ShowSection(section) => self.show_section(ctx, section),
            Action::UsePrompt(prompt) => self.use_prompt(prompt),
            Action::RandomizeSeed => self.state.randomize_seed(self.new_seed),
            Action::Generate => {
                let command = self.state.generate(self.new_seed);
                self.send(command);
            }
            Action::Make(making) => self.make(making),
            Action::Upscale(step) => self.upscale_step(step),
            Action::Enhance(step) => self.enhance_step(step),
            Action::Keep(step) => self.keep(step),
            Action::ShowQueue => self.top_bar.queue.opens = true,
            Action::CancelRunning => {
                let command = jobs.cancel_running();
                self.send(command);
            }
            Action::Cancel(job) => {
                let command = jobs.cancel(job);
                self.send(command);
            }
            Action::CancelAll => {
                let commands = jobs.cancel_all();
                self.send(commands);
            }
            Action::ResumeCancelled => {
                let command = self.state.resume_cancelled();
                self.send(command);
            }
            Action::MoveJob(job, before) => {
                let command = jobs.reorder(job, before);
                self.send(command);
            }
            Action::RunNext(job) => {
                let command = jobs.run_next(job);
                self.send(command);
            }
            Action::DuplicateJob(job) => {
                let command = jobs.duplicate(job, Some((self.new_seed)()));
                self.send(command);
            }
            Action::EditJob(job) => {
                let commands = self.state.edit_job(job);
                self.send(commands);
            }
            Action::RepeatQueue(true) => jobs.repeats = true,
            Action::RepeatQueue(false) => jobs.stop_repeating(),
            Action::ShowLane(lane) => {
                let command = self.state.show_lane(lane);
                self.send(command);
            }
            Action::PauseQueue(paused) => {
                let commands = if paused { jobs.pause() } else { jobs.resume() };
                self.send(commands);
            }
            Action::ResumeUnfinished => {
                let commands = jobs.resume_unfinished();
                self.send(commands);
            }
            Action::DiscardUnfinished => {
                let command = jobs.discard_unfinished();
                self.send([command]);
            }
            Action::ChooseModel(model) => self.choose_model(model),
            Action::ForgetModel(path) => settings.forget_model(&path),
            Action::Library(action) => self.act_in_library(action),
            Action::OpenDialog(dialog) => {
                self.open_dialog(dialog);
            }
            Action::Browse(step) => self.browse(step),
            Action::Gallery(action) => self.act_in_gallery(ctx, *action),
            Action::ListAdapters => {
                self.request(Task::ListAdapters(self.state.chosen_model().clone()));
            }
            Action::AddAdapter(path) => self.state.add_adapter(path),
            Action::SwitchAdapterOff(path) => self.state.drop_adapter(&path, false),
            Action::RemoveAdapter(path) => self.state.drop_adapter(&path, true),
            Action::Show(shown) => self.show(shown),
            Action::Compare(with) => self.state.images.compare(with),
            Action::SwapCompared => self.state.images.swap_compared(),
            Action::Play(control) => self.state.player.control(control, ctx.time()),
            Action::SaveFrame(id) => self.save_frame(id, ctx.time(), None),
            Action::Export(id, format) => self.export(id, format),
            Action::UseFrame(id) => self.save_frame(id, ctx.time(), Some(Well::First)),
            Action::UseFrameAsLast(id) => self.save_frame(id, ctx.time(), Some(Well::Last)),
            Action::Extend(id) => self.extend(id),
            Action::UseSettings(id) => self.use_settings(id),
            Action::UseAsInput(path) => self.use_as_input(path),
            Action::UseAsClip(path) => self.use_as_clip(path, FrameRange::default(), false),
            Action::Inpaint(path) => self.inpaint(path),
            Action::PaintMask => self.state.paint_mask(),
            Action::EditMask(edit) => {
                let command = self.state.edit_mask(edit);
                self.send(command);
            }
            Action::UseSegmenter(path) => self.state.choose_segmenter(path),
            Action::ApplyMask => self.apply_mask(),
            Action::AskMask => self.question = Some(Question::Mask),
            Action::CancelMask => {
                self.question.take_if(|question| *question == Question::Mask);
                input.painting = None;
            }
            Action::UseDroppedSettings => {
                if let Some(dropped) = input.dropped.take() {
                    self.use_dropped_settings(dropped);
                }
            }
            Action::CopyImage(id) => {
                if let Some(image) = self.state.displayed(id, ctx.time()) {
                    ctx.copy_image(image);
                    self.state.messages.say(tr!("app-copied"), Vec::new());
                }
            }
            Action::CopyFiles(files) => self.request(Task::CopyFiles(files)),
            Action::CopyText(text) => {
                ctx.copy_text(text);
                self.state.messages.say(tr!("app-copied"), Vec::new());
            }
            Action::OpenFolder(folder) => self.request(Task::Open(folder)),
            Action::Undo => self.undo(),
            Action::ShowHelp(shown) => self.shows_help = shown,
            Action::ShowSettings(shown) => self.settings_page = shown.then(SettingsPage::default),
            Action::CopyReport { tells_all } => {
                let report = Report::of(&self.state, tells_all);
                self.request(Task::Report(Box::new(report)));
            }
            Action::Cuda(action) => self.act_on_cuda(action),
            Action::LookForUpdates => self.look_for_updates(),
            Action::ShowPalette(shown) => {
                // A menu that is open would stay below it.
                egui::Popup::close_all(ctx);
                self.palette.is_open = shown;
            }
            Action::ToggleFullScreen => {
                let is_full = ctx.input(|input| input.viewport().fullscreen == Some(true));
                ctx.send_viewport_cmd(ViewportCommand::Fullscreen(!is_full));
            }
            Action::Dismiss(message) => self.dismiss(message),
        }
    }

    fn set(&mut self, ctx: &Context, setting: Setting) {
        match setting {
            Setting::Theme(theme) => ctx.set_theme(egui::ThemePreference::from(theme)),
            Setting::Scale(scale) => ctx.set_zoom_factor(scale),
            Setting::Engines(ref list) => self.use_engines(list),
            Setting::PlanOpen(true) | Setting::TimelineOpen(true) => self.uncover(),
            _ => {}
        }
        let is_needed_at_start = matches!(setting, Setting::RenderGpu(_) | Setting::Engines(_));
        let appeared_at_once = self.state.appears_at_once();
        self.state.settings.set(setting);
        if self.state.appears_at_once() != appeared_at_once {
            tokens::reduce_motion(ctx, !appeared_at_once);
        }
        if let Some(file) = self.startup_file.clone().filter(|_| is_needed_at_start) {
            self.request(Task::SaveStartupSettings(file, self.state.settings.startup.clone()));
        }
    }

    /// Replaces the prompt. If it had words, they come back with an undo.
    fn use_prompt(&mut self, prompt: String) {
        let before = std::mem::replace(&mut self.state.settings.draft.request.prompt, prompt.clone());
        if !before.trim().is_empty() && before != prompt {
            let undo = Some(Undo::Prompt(before));
            self.state.messages.tell(tr!("app-prompt-replaced"), Vec::new(), undo);
        }
    }

    /// Saves new images and clips into a folder.
    pub(super) fn save_into(&mut self, folder: PathBuf) {
        self.state.settings.output.folder = Some(folder.clone());
        self.state.surroundings.output_folder = Some(folder.clone());
        self.request(Task::Scan(folder));
        if self.gallery.is_open {
            self.list_gallery();
        }
    }

    fn dismiss(&mut self, message: Message) {
        let state = &mut self.state;
        match message {
            Message::Failure => drop(state.messages.failures.pop()),
            Message::Failures => state.messages.failures.clear(),
            Message::Notice => state.messages.notice = None,
            Message::Replanned => state.watches.replanned = None,
            Message::Dropped => state.input.dropped = None,
        }
    }

    pub(super) fn choose_model(&mut self, model: ModelSource) {
        let command = self.state.choose_model(model, true);
        self.send([command]);
    }

    /// A step in the window's own file dialog.
    fn browse(&mut self, step: Browse) {
        let Some(Browser { dialog, name, .. }) = self.browser.take() else { return };
        match step {
            Browse::Enter(folder) => self.list_folder(dialog, folder, name),
            Browse::Choose(path) => self.take_answer(dialog, path),
            Browse::Close => {}
        }
    }

    /// Lists a folder in the window's own file dialog, with the name of a file to save.
    pub(super) fn list_folder(&mut self, dialog: Dialog, folder: PathBuf, name: Option<String>) {
        self.request(Task::List(folder.clone(), dialog));
        self.browser = Some(Browser::new(dialog, folder, name));
    }

    pub(super) fn show(&mut self, shown: Shown) {
        if self.state.images.shown != shown {
            self.viewer.fit();
        }
        self.state.images.show(shown);
    }

    fn use_settings(&mut self, id: RecentId) {
        let Some(recent) = self.state.images.recents.get(id) else { return };
        let Some(request) = &recent.request else { return };
        let told = Told::about(recent.name(), |name| tr!("app-settings-of", name = name));
        let mut draft = Draft::from_request(request);
        let notes = self.state.place_named(&mut draft.request);
        let load = self.state.restore(draft, told, notes);
        self.send(load);
    }

    /// Continues a clip from the end of the range that is played.
    fn extend(&mut self, id: RecentId) {
        let Some(recent) = self.state.images.recents.get(id) else { return };
        let Some(path) = recent.path.clone() else { return };
        let range = self.state.player.playback(id).filter(|playback| playback.is_trimmed());
        let range = range.map(|playback| {
            let (first, last) = playback.range();
            // The range of a request counts frames at its own rate.
            let rate = f64::from(self.state.draft().request.frame_rate);
            let there = |frame: u32| (f64::from(frame) / playback.rate() * rate).round() as u32;
            FrameRange { start: there(first), end: Some(there(last + 1)) }
        });
        self.use_as_clip(path, range.unwrap_or_default(), true);
    }

    fn apply_mask(&mut self) {
        self.question.take_if(|question| *question == Question::Mask);
        let Some(painting) = self.state.input.painting.take() else { return };
        let name = painting.image.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let folder = self.output_folder();
        self.request(Task::SaveMask { folder: folder.join("masks"), name, mask: painting.to_image() });
        self.viewer.fit();
        self.state.show_applied(painting);
    }

    /// Saves the displayed frame of a clip, in a folder of its own if it becomes the input image.
    fn save_frame(&mut self, id: RecentId, now: f64, well: Option<Well>) {
        let Some((recent, frame)) = self.state.displayed_frame(id, now) else { return };
        let Some(clip) = recent.clip().map(Arc::clone) else { return };
        let (name, folder) = (recent.stem(), self.output_folder());
        let folder = if well.is_some() { folder.join("frames") } else { folder };
        let (original, request) = (recent.path.clone(), recent.request.clone());
        let saved = SavedFrame { clip, frame, folder, name, original, request, well };
        self.request(Task::SaveFrame(Box::new(saved)));
    }

    /// Writes the range of a clip that is played into a new file.
    fn export(&mut self, id: RecentId, format: ClipFormat) {
        let Some(recent) = self.state.images.recents.get(id) else { return };
        let Some(clip) = recent.clip().map(Arc::clone) else { return };
        let Some(range) = self.state.player.playback(id).map(Playback::range) else { return };
        let (name, folder) = (recent.stem(), self.output_folder());
        let (original, request) = (recent.path.clone(), recent.request.clone());
        self.request(Task::Export(Box::new(Export { clip, range, format, folder, name, original, request })));
    }

    pub(super) fn output_folder(&self) -> PathBuf {
        self.state.surroundings.output_folder.clone().unwrap_or_else(env::temp_dir)
    }

    fn use_dropped_settings(&mut self, Dropped { path, pixels, settings }: Dropped) {
        let request = Some(settings.request.clone());
        let recent = self.state.images.recents.add(Some(path.clone()), pixels, request, None);
        self.viewer.fit();
        self.state.images.show(Shown::Recent(recent));
        self.restore_settings(&path, *settings);
    }

    /// Opens a section of the settings panel, which other places may cover.
    fn show_section(&mut self, ctx: &Context, section: Section) {
        self.uncover();
        self.settings_page = None;
        self.side_panel.open(section);
        if section == Section::Loras {
            self.act(ctx, Action::ListAdapters);
        }
    }

    pub(super) fn request(&mut self, task: Task) {
        if !self.files.request(task) {
            let advice = Some(tr!("app-try-again"));
            self.fail(&tr!("app-too-many-files"), tr!("app-files-are-read"), advice);
        }
    }

    pub(super) fn undo(&mut self) {
        match self.state.messages.notice.take().and_then(|notice| notice.undo) {
            Some(Undo::Preset(deleted)) => self.put_preset_back(deleted),
            Some(Undo::Style(style)) => self.change_styles(StyleTask::Save(*style)),
            Some(Undo::Trash(files)) => self.take_back(files),
            Some(undo) => {
                let commands = self.state.undo(undo);
                self.send(commands);
            }
            None => {}
        }
    }

    pub(super) fn fail(&mut self, title: &str, message: String, advice: Option<String>) {
        self.state.messages.fail(title, Failure { message, advice });
    }

    pub(super) fn saved(&mut self, path: &Path) {
        self.say_here(Told::about(file_name(path), |name| tr!("app-saved", name = name)));
    }
}
