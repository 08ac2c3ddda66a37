//! Files that were chosen or dropped, and what they become.

use std::{path::PathBuf, sync::Arc};

use sluice_engine::request::{
    Area, ControlNet, Detailer, FrameRange, ImagePrompt, Interpolation, Mode, ModelSource, Redux, Refiner,
    Smooth,
};

use super::SluiceApp;
use crate::{
    language::tr,
    window::{
        action::{CudaAction, GetAction, InputUse, Making, Section, UpscaleStep},
        files::{Dialog, SavedImage, Task, named_image},
        state::{FileChange, Pixels, RecentId, file_name},
        told::Told,
    },
};

impl SluiceApp {
    /// Uses a file or folder for what a dialog asks for.
    pub(super) fn take_chosen(&mut self, dialog: Dialog, path: PathBuf) {
        let draft = &mut self.state.settings.draft;
        let request = &mut draft.request;
        match dialog {
            Dialog::ModelFile | Dialog::ModelFolder => self.choose_model(ModelSource::Path(path)),
            Dialog::LibraryFolder => self.add_library_folder(path),
            Dialog::InputImage => self.use_start_image(path),
            Dialog::InputFolder => self.make(Making::Folder(path, InputUse::Source)),
            Dialog::ReferenceFolder => self.make(Making::Folder(path, InputUse::Reference)),
            Dialog::ChangedFolder(change) => self.upscale_step(UpscaleStep::AskFolder(change, path)),
            Dialog::InputClip => self.use_as_clip(path, FrameRange::default(), false),
            Dialog::Mask => {
                if let Some(applied) = &mut self.state.input.applied {
                    applied.path.get_or_insert_with(|| path.clone());
                }
                draft.use_mask(path);
            }
            Dialog::LastImage => draft.use_last_image(path),
            Dialog::Keyframe => draft.add_keyframe(path),
            Dialog::OtherKeyframe(index) => {
                if let Some(keyframe) = request.keyframes.get_mut(index) {
                    keyframe.path = path;
                }
            }
            Dialog::Reference => self.add_reference(path),
            Dialog::OtherReference(index) => self.replace_reference(index, path),
            Dialog::ControlClip => draft.use_control(path),
            Dialog::ControlMask => draft.use_control_mask(path),
            Dialog::ControlNet => {
                request.control_nets.push(ControlNet { model: path, ..ControlNet::default() });
                self.side_panel.see_added(Section::ControlNets);
            }
            Dialog::ControlImage(index) => {
                if let Some(net) = request.control_nets.get_mut(index) {
                    net.image = path;
                }
            }
            Dialog::IpAdapter => {
                request.image_prompts.push(ImagePrompt { adapter: path, ..ImagePrompt::default() });
                self.side_panel.see_added(Section::ImagePrompts);
            }
            Dialog::PromptImage(index) => {
                if let Some(prompt) = request.image_prompts.get_mut(index) {
                    prompt.images.push(path);
                }
            }
            Dialog::OtherPromptImage { prompt, image } => {
                let prompt = request.image_prompts.get_mut(prompt);
                if let Some(image) = prompt.and_then(|prompt| prompt.images.get_mut(image)) {
                    *image = path;
                }
            }
            Dialog::Adapter => self.state.add_adapter(path),
            Dialog::OtherAdapter(index) => self.state.replace_adapter(index, path),
            Dialog::Refiner => request.refiner = Some(Refiner::new(path)),
            Dialog::Redux => request.redux = Some(Redux::new(path)),
            Dialog::HiresUpscaler => draft.enlarge_by(path),
            Dialog::RegionMask(index) => {
                let region = request.regions.all.get_mut(index);
                region.into_iter().for_each(|region| region.area = Area::Mask(path.clone()));
            }
            Dialog::MapEstimator(kind) => {
                request.estimators.insert(kind, path);
            }
            Dialog::Segmenter => self.state.choose_segmenter(path),
            Dialog::Detector => {
                request.detailers.push(Detailer::new(path));
                self.side_panel.see_added(Section::Detailers);
            }
            Dialog::LanguageModel => self.state.choose_language_model(path),
            Dialog::Upscaler => self.state.try_file(FileChange::Enlarge, path),
            Dialog::SmoothInterpolator => {
                let how = request.smooth.as_ref().map_or(Interpolation::times(2), |smooth| smooth.how);
                request.smooth = Some(Smooth { model: path, how });
            }
            Dialog::Interpolator => self.state.try_file(FileChange::Interpolate, path),
            Dialog::Styles => self.add_style_file(path),
            Dialog::Tags => self.add_tag_file(path),
            Dialog::GalleryFolder => self.add_gallery_folder(path),
            Dialog::ExportFolder => self.export_to(path),
            Dialog::OutputFolder => self.save_into(path),
            Dialog::DownloadFolder => self.act_in_get(GetAction::Folder(Some(path))),
            Dialog::CudaEngine => self.act_on_cuda(CudaAction::LookInto(path)),
            Dialog::SaveAs(id) => self.save_image(id, path),
            Dialog::SaveFile => self.save_copy(path),
        }
    }

    pub(super) fn use_as_input(&mut self, path: PathBuf) {
        self.state.input.dropped = None;
        if self.state.edits() || self.state.reads_through_redux() {
            return self.add_reference(path);
        }
        self.use_start_image(path);
    }

    /// Uses an image as the input image, and opens the brush for its mask once it is read.
    pub(super) fn inpaint(&mut self, path: PathBuf) {
        self.state.input.dropped = None;
        // The mask of the same image stays.
        if self.state.draft().request.source.as_ref().is_none_or(|source| source.path != path) {
            self.use_start_image(path);
        }
        self.state.paint_mask_soon();
    }

    /// Adds a reference image, in place of the last one if the model takes no more. Of the first one, the new image gets
    /// its size.
    fn add_reference(&mut self, path: PathBuf) {
        let most = self.state.takes_references().map_or(1, |takes| takes.most.max(1));
        let mut draft = self.state.draft().clone();
        let told = Told::about(file_name(&path), |name| tr!("app-reference", name = name));
        let references = &mut draft.request.references;
        references.truncate(most - 1);
        if references.is_empty() {
            self.state.input.gives_size = Some(path.clone());
        }
        references.push(path);
        let load = self.state.restore(draft, told, Vec::new());
        self.send(load);
    }

    fn replace_reference(&mut self, index: usize, path: PathBuf) {
        let mut draft = self.state.draft().clone();
        let Some(reference) = draft.request.references.get_mut(index) else { return };
        if index == 0 {
            self.state.input.gives_size = Some(path.clone());
        }
        let told = Told::about(file_name(&path), |name| tr!("app-reference", name = name));
        *reference = path;
        let load = self.state.restore(draft, told, Vec::new());
        self.send(load);
    }

    fn use_start_image(&mut self, path: PathBuf) {
        let mut draft = self.state.draft().clone();
        let told = Told::about(file_name(&path), |name| tr!("app-input-image", name = name));
        let details = draft.request.hires.iter().map(|_| tr!("app-hires-waits")).collect();
        draft.use_start_image(path);
        let load = self.state.restore(draft, told, details);
        self.send(load);
    }

    pub(super) fn use_as_clip(&mut self, path: PathBuf, range: FrameRange, extends: bool) {
        self.state.input.dropped = None;
        let mut draft = self.state.draft().clone();
        let told = Told::about(file_name(&path), |name| match extends {
            true => tr!("app-extending", name = name),
            false => tr!("app-input-clip", name = name),
        });
        let extends = extends || !self.state.can(Mode::VideoToVideo);
        draft.use_clip(path, range, extends);
        let load = self.state.restore(draft, told, Vec::new());
        self.send(load);
    }

    /// The file that a dialog for a copy of an image starts with.
    pub(super) fn suggested_file(&self, id: RecentId) -> Option<PathBuf> {
        let recent = self.state.images.recents.get(id)?;
        let file = recent.path.clone().unwrap_or_else(|| self.output_folder().join(recent.stem()));
        Some(named_image(&file).0)
    }

    /// Saves a copy of an image under a name that was chosen.
    fn save_image(&mut self, id: RecentId, path: PathBuf) {
        let Some(recent) = self.state.images.recents.get(id) else { return };
        let (original, request) = (recent.path.clone(), recent.request.clone());
        let pixels = match &recent.pixels {
            Some(Pixels::Image(image)) if original.is_none() => Some(Arc::clone(image)),
            _ => None,
        };
        let quality = self.export_quality();
        let saved = SavedImage { original, pixels, request, path, quality };
        self.request(Task::SaveImage(Box::new(saved)));
    }
}
