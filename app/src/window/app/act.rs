//! Executes actions, and handles the results of the file worker.

use std::{
    env,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use egui::{Context, Event, UserAttentionType, ViewportCommand};
use sluice_engine::{
    request::{FrameRange, ModelSource},
    session::{Command, Failure, Unsent},
};

use super::SluiceApp;
use crate::{
    language::tr,
    window::{
        action::{Action, Browse, Message, Section},
        browser::Browser,
        files::{ClipFormat, Dialog, Export, FileEvent, SavedFrame, StyleTask, Task, Well},
        question::Question,
        report::Report,
        settings::Setting,
        settings_page::SettingsPage,
        state::{Ask, Draft, Dropped, Pixels, Playback, RecentId, Shown, State, Undo, file_name},
        tokens,
        told::Told,
    },
};

/// Letters of a prompt in the title.
const TITLE: usize = 40;

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
            Action::UsePrompt(prompt) => settings.draft.request.prompt = prompt,
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
            Setting::ReducedMotion(reduced) => {
                let system = self.state.surroundings.reduces_motion;
                tokens::reduce_motion(ctx, reduced.unwrap_or(system));
            }
            Setting::Engines(ref list) => self.use_engines(list),
            Setting::PlanOpen(true) | Setting::TimelineOpen(true) => self.uncover(),
            _ => {}
        }
        let is_needed_at_start = matches!(setting, Setting::RenderGpu(_) | Setting::Engines(_));
        self.state.settings.set(setting);
        if let Some(file) = self.startup_file.clone().filter(|_| is_needed_at_start) {
            self.request(Task::SaveStartupSettings(file, self.state.settings.startup.clone()));
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
    fn list_folder(&mut self, dialog: Dialog, folder: PathBuf, name: Option<String>) {
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

    /// Says in the title what is running, and shows its progress in the taskbar.
    pub(super) fn say_in_title(&mut self, ctx: &Context) {
        let title = self.state.jobs.running().map_or_else(
            || "Sluice".to_owned(),
            |(job, progress)| {
                let prompt: String = job.request().prompt.trim().chars().take(TITLE).collect();
                let percent = format!("{:.0}%", progress.fraction().clamp(0.0, 1.0) * 100.0);
                match prompt.is_empty() {
                    true => format!("{percent} – Sluice"),
                    false => format!("{percent} · {prompt} – Sluice"),
                }
            },
        );
        if self.title != title {
            ctx.send_viewport_cmd(ViewportCommand::Title(title.clone()));
            let running = self.state.jobs.running();
            (self.show_progress)(running.map(|(_, progress)| f64::from(progress.fraction().clamp(0.0, 1.0))));
            self.title = title;
        }
    }

    /// Makes the desktop point to the window when the queue is done while another window is in front, and say so.
    pub(super) fn call(&mut self, ctx: &Context) {
        let is_busy = !self.state.jobs.is_empty();
        if std::mem::replace(&mut self.was_busy, is_busy) && !is_busy && !ctx.input(|input| input.focused) {
            if self.state.settings.notifies {
                (self.notify)(tr!("app-queue-done"));
            }
            ctx.send_viewport_cmd(ViewportCommand::RequestUserAttention(UserAttentionType::Informational));
        }
    }

    /// Queries a prediction for the settings, once they have changed and then stayed the same for a moment.
    pub(super) fn ask(&mut self, ctx: &Context) {
        // A file that was missing may be there when somebody comes back from another window.
        let is_back = ctx.input(|input| input.events.contains(&Event::WindowFocused(true)));
        if is_back && self.state.planning.is_refused() {
            self.state.planning.ask_again();
        }
        match self.state.ask(ctx.time()) {
            Ask::Now(query) => self.send([Command::Plan(query)]),
            Ask::Later(seconds) => ctx.request_repaint_after(Duration::from_secs_f64(seconds)),
            Ask::Nothing => {}
        }
    }

    /// Sends commands to the engine. It takes a limited number at once; the others wait for the next frames.
    pub(super) fn send(&mut self, commands: impl IntoIterator<Item = Command>) {
        self.unsent.extend(commands);
        self.send_waiting();
    }

    /// Sends what is waiting. Returns whether something is left.
    pub(super) fn send_waiting(&mut self) -> bool {
        while let Some(command) = self.unsent.pop_front() {
            match self.link.send(command) {
                Ok(()) => {}
                Err(Unsent::Full(command)) => {
                    self.unsent.push_front(*command);
                    return true;
                }
                Err(Unsent::Ended(command)) => {
                    tracing::warn!(?command, "the engine does not take it");
                    self.unsent.clear();
                    self.state.engine_gone();
                }
            }
        }
        false
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
                let is_composed = settings.as_ref().is_some_and(|settings| settings.is_composed);
                let request = settings.map(|settings| settings.request);
                self.state.found(path, thumbnail, (length, is_composed), request);
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
            FileEvent::Gone { path, failure } => {
                self.reading = None;
                if self.state.images.lost(&path) {
                    self.state.messages.fail(&tr!("app-image-cannot-be-shown"), failure);
                }
                // Others may be gone, too.
                self.look_for_files();
            }
            FileEvent::Looked { gone, back } => self.follow_disk(&gone, &back),
            FileEvent::Failed { title, failure } => self.state.messages.fail(&title, failure),
            FileEvent::MaskNotSaved(failure) => {
                self.state.paint_applied();
                self.state.messages.fail(&tr!("files-mask-not-saved"), failure);
            }
            FileEvent::Measured(measured) => self.state.take_measured(measured),
            FileEvent::Prompts(prompts) => self.state.take_prompts(prompts),
            FileEvent::Settings(path, settings) => {
                self.state.images.recents.learn(&path, settings.request);
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
