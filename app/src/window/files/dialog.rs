//! What a file dialog asks for, and folders for the window's own one.

use std::{
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use serde::{Deserialize, Serialize};
use sluice_engine::checkpoint::MapKind;

use super::{
    FileEvent,
    extensions::{
        ADAPTER_EXTENSIONS, ARCHIVE_EXTENSIONS, CLIP_EXTENSIONS, IMAGE_EXTENSIONS, MEDIA_EXTENSIONS,
        MODEL_EXTENSIONS, PICKLE_EXTENSIONS, STYLE_EXTENSIONS, TAG_EXTENSIONS, has_extension,
    },
};
use crate::{
    language::{text, tr},
    window::state::{FileChange, RecentId, file_name},
};

/// A kind of dialog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialog {
    /// Open a model file.
    ModelFile,
    /// Open a folder in the layout of diffusers.
    ModelFolder,
    /// Add a folder of models.
    LibraryFolder,
    /// Open an input image.
    InputImage,
    /// Open a file of styles.
    Styles,
    /// Open a file of tags.
    Tags,
    /// Choose a folder of input images.
    InputFolder,
    /// Choose a folder of reference images, one for each job.
    ReferenceFolder,
    /// Choose a folder whose files are changed in this way.
    ChangedFolder(FileChange),
    /// Open the end image of a clip.
    LastImage,
    /// Open an image at a frame of a clip.
    Keyframe,
    /// Another image in place of the keyframe with this index.
    OtherKeyframe(usize),
    /// Open a reference image.
    Reference,
    /// Another image in place of the reference with this index.
    OtherReference(usize),
    /// Open a clip that controls another.
    ControlClip,
    /// Open a mask for it.
    ControlMask,
    /// Open an input clip.
    InputClip,
    /// Open a mask for it.
    Mask,
    /// Open an adapter file.
    Adapter,
    /// Another file in place of the adapter with this index.
    OtherAdapter(usize),
    /// One file that holds a refiner.
    Refiner,
    /// One file that holds a Redux model.
    Redux,
    /// One file that holds a ControlNet.
    ControlNet,
    /// An image for the ControlNet with this index.
    ControlImage(usize),
    /// One file that holds an IP-Adapter.
    IpAdapter,
    /// Another image for the IP-Adapter with this index.
    PromptImage(usize),
    /// Another image in place of one.
    OtherPromptImage {
        /// The index of the IP-Adapter.
        prompt: usize,
        /// The index of its image.
        image: usize,
    },
    /// A mask for the region with this index.
    RegionMask(usize),
    /// One file that holds a map estimator for this kind of map.
    MapEstimator(MapKind),
    /// One file that holds a segmenter.
    Segmenter,
    /// One file that holds a detector, for another detailer.
    Detector,
    /// One file that holds a language model.
    LanguageModel,
    /// One file that holds an upscaler.
    Upscaler,
    /// The same for hires fix.
    HiresUpscaler,
    /// One file that holds a frame interpolator.
    Interpolator,
    /// The same for clips that are generated.
    SmoothInterpolator,
    /// Another folder for the gallery.
    GalleryFolder,
    /// Where images are exported.
    ExportFolder,
    /// Where new images and clips are saved.
    OutputFolder,
    /// Where downloaded models go.
    DownloadFolder,
    /// Open an archive with the engine for NVIDIA GPUs.
    CudaEngine,
    /// Under which name a copy of this image is saved.
    SaveAs(RecentId),
    /// The same of an image of the gallery.
    SaveFile,
}

/// A file or folder in the window's own dialog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Where it is.
    pub path: PathBuf,
    /// Whether it is a folder.
    pub is_folder: bool,
    /// Whether it is a model that has to be converted first.
    pub is_pickle: bool,
}

/// What dialogs ask for that start in the same folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FolderKind {
    /// Models, adapters, and what is used with them.
    Models,
    /// Images and clips that are used.
    Images,
    /// Images and clips that are made.
    Results,
}

/// A person does not close a dialog sooner: the portal or zenity is there but could not open one.
const SOON: Duration = Duration::from_millis(150);

impl Dialog {
    /// Its title.
    pub fn title(self) -> String {
        match self {
            Self::ModelFile => tr!("files-model-file"),
            Self::ModelFolder => tr!("files-model-folder"),
            Self::LibraryFolder => tr!("files-library-folder"),
            Self::InputImage => tr!("files-input-image"),
            Self::Styles => tr!("files-styles"),
            Self::Tags => tr!("files-tags"),
            Self::InputFolder | Self::ReferenceFolder => tr!("files-input-folder"),
            Self::ChangedFolder(FileChange::Enlarge) => tr!("files-changed-folder"),
            Self::ChangedFolder(FileChange::Interpolate) => tr!("files-changed-folder-clips"),
            Self::ChangedFolder(FileChange::Detail) => tr!("files-changed-folder-images"),
            Self::LastImage => tr!("files-last-image"),
            Self::Keyframe | Self::OtherKeyframe(_) => tr!("files-keyframe"),
            Self::Reference | Self::OtherReference(_) => tr!("files-reference"),
            Self::ControlClip => tr!("files-control-clip"),
            Self::ControlMask => tr!("files-control-mask"),
            Self::InputClip => tr!("files-input-clip"),
            Self::Mask => tr!("files-mask"),
            Self::Adapter | Self::OtherAdapter(_) => tr!("files-adapter"),
            Self::Refiner => tr!("files-refiner"),
            Self::Redux => tr!("files-redux"),
            Self::ControlNet => tr!("files-control-net"),
            Self::ControlImage(_) => tr!("files-control-image"),
            Self::IpAdapter => tr!("files-ip-adapter"),
            Self::PromptImage(_) | Self::OtherPromptImage { .. } => tr!("files-prompt-image"),
            Self::RegionMask(_) => tr!("files-region-mask"),
            Self::MapEstimator(_) => tr!("files-map-estimator"),
            Self::Segmenter => tr!("files-segmenter"),
            Self::Detector => tr!("files-detector"),
            Self::LanguageModel => tr!("files-language-model"),
            Self::Upscaler | Self::HiresUpscaler => tr!("files-upscaler"),
            Self::Interpolator | Self::SmoothInterpolator => tr!("files-interpolator"),
            Self::GalleryFolder => tr!("files-gallery-folder"),
            Self::ExportFolder | Self::OutputFolder => tr!("files-export-folder"),
            Self::DownloadFolder => tr!("files-download-folder"),
            Self::CudaEngine => tr!("files-cuda-engine"),
            Self::SaveAs(_) | Self::SaveFile => tr!("files-save-image"),
        }
    }

    /// The key of what it asks for, with the extensions of such files; `None` for folders.
    pub fn filter(self) -> Option<(&'static str, &'static [&'static str])> {
        match self {
            Self::ModelFile
            | Self::Refiner
            | Self::Redux
            | Self::ControlNet
            | Self::IpAdapter
            | Self::MapEstimator(_)
            | Self::Segmenter
            | Self::Detector
            | Self::LanguageModel
            | Self::Upscaler
            | Self::Interpolator
            | Self::SmoothInterpolator
            | Self::HiresUpscaler => Some(("files-kind-models", &MODEL_EXTENSIONS)),
            Self::ModelFolder
            | Self::LibraryFolder
            | Self::GalleryFolder
            | Self::ExportFolder
            | Self::OutputFolder
            | Self::DownloadFolder
            | Self::InputFolder
            | Self::ReferenceFolder
            | Self::ChangedFolder(_) => None,
            Self::InputImage
            | Self::LastImage
            | Self::Keyframe
            | Self::OtherKeyframe(_)
            | Self::Reference
            | Self::OtherReference(_)
            | Self::ControlImage(_)
            | Self::PromptImage(_)
            | Self::OtherPromptImage { .. }
            | Self::RegionMask(_)
            | Self::SaveAs(_)
            | Self::SaveFile
            | Self::Mask => Some(("files-kind-images", &IMAGE_EXTENSIONS)),
            Self::InputClip | Self::ControlClip => Some(("files-kind-videos", &CLIP_EXTENSIONS)),
            Self::ControlMask => Some(("files-kind-videos-and-images", &MEDIA_EXTENSIONS)),
            Self::Adapter | Self::OtherAdapter(_) => Some(("files-kind-loras", &ADAPTER_EXTENSIONS)),
            Self::Styles => Some(("files-kind-styles", &STYLE_EXTENSIONS)),
            Self::Tags => Some(("files-kind-tags", &TAG_EXTENSIONS)),
            Self::CudaEngine => Some(("files-kind-archives", &ARCHIVE_EXTENSIONS)),
        }
    }

    /// Whose folder it starts in, which is that of the last answer.
    pub fn folder_kind(self) -> FolderKind {
        match self {
            Self::SaveAs(_)
            | Self::SaveFile
            | Self::GalleryFolder
            | Self::ExportFolder
            | Self::OutputFolder => FolderKind::Results,
            Self::InputFolder | Self::ReferenceFolder | Self::ChangedFolder(_) => FolderKind::Images,
            _ => match self.filter() {
                Some(("files-kind-images" | "files-kind-videos" | "files-kind-videos-and-images", _)) => {
                    FolderKind::Images
                }
                _ => FolderKind::Models,
            },
        }
    }

    /// Whether models are asked for that somebody may have as pickles.
    fn asks_for_models(self) -> bool {
        matches!(self.filter(), Some(("files-kind-models" | "files-kind-loras", _)))
    }

    /// Whether it asks for a new name, and not for what is there.
    pub fn saves(self) -> bool {
        matches!(self, Self::SaveAs(_) | Self::SaveFile)
    }

    /// Asks with the system's dialog, and waits for the answer. It starts in a folder, or with the file to save.
    pub(super) fn ask(self, start: Option<PathBuf>) -> FileEvent {
        let started = std::time::Instant::now();
        let mut native = rfd::FileDialog::new().set_title(self.title());
        let (folder, name) = self.start(start.as_deref());
        if let Some(folder) = folder {
            native = native.set_directory(folder);
        }
        let answer = match self.filter() {
            Some((kind, extensions)) if self.saves() => {
                native.set_file_name(name.unwrap_or_default()).add_filter(text(kind), extensions).save_file()
            }
            Some((name, extensions)) => native
                .add_filter(text(name), extensions)
                .add_filter(tr!("files-kind-all"), &["*"])
                .pick_file(),
            None => native.pick_folder(),
        };
        match answer {
            Some(path) => FileEvent::Answered(self, path),
            None if cfg!(target_os = "linux") && started.elapsed() < SOON => {
                FileEvent::NoDialog { dialog: self, start }
            }
            None => FileEvent::DialogClosed,
        }
    }

    /// The folder in which it starts, and the name of the file to save.
    pub fn start(self, start: Option<&Path>) -> (Option<&Path>, Option<String>) {
        match start {
            Some(file) if self.saves() => {
                let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
                (folder, Some(file_name(file)))
            }
            folder => (folder, None),
        }
    }
}

/// The folders in a folder and the files that a dialog asks for, by name, with models that have to be converted. Hidden ones are
/// left out.
pub(super) fn entries(folder: &Path, dialog: Dialog) -> io::Result<Vec<Entry>> {
    let mut entries: Vec<Entry> = folder
        .read_dir()?
        .filter_map(Result::ok)
        .filter(|entry| !entry.file_name().to_string_lossy().starts_with('.'))
        .map(|entry| {
            let path = entry.path();
            let is_folder = path.is_dir();
            let is_pickle =
                !is_folder && dialog.asks_for_models() && has_extension(&path, &PICKLE_EXTENSIONS);
            Entry { path, is_folder, is_pickle }
        })
        .filter(|entry| {
            let known = match dialog.filter() {
                Some((_, known)) => known,
                // What is in a folder that is asked for is only shown.
                None if dialog.folder_kind() == FolderKind::Models => &[],
                None => match dialog {
                    Dialog::ChangedFolder(_) => &MEDIA_EXTENSIONS[..],
                    _ => &IMAGE_EXTENSIONS[..],
                },
            };
            let wanted = has_extension(&entry.path, known);
            entry.is_folder || entry.is_pickle || wanted
        })
        .collect();
    entries.sort_by_key(|entry| (!entry.is_folder, entry.path.to_string_lossy().to_lowercase()));
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn folders_come_first_and_only_wanted_files_are_listed() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b.png", "A.PNG", "notes.txt", ".hidden.png"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        fs::create_dir(folder.path().join("z")).unwrap();
        let names = |dialog| -> Vec<String> {
            let found = entries(folder.path(), dialog).unwrap();
            found.iter().map(|entry| entry.path.file_name().unwrap().to_string_lossy().into_owned()).collect()
        };
        assert_eq!(names(Dialog::InputImage), ["z", "A.PNG", "b.png"]);
        assert_eq!(names(Dialog::InputFolder), ["z", "A.PNG", "b.png"]);
        assert_eq!(names(Dialog::ModelFolder), ["z"]);
        assert!(entries(&folder.path().join("nowhere"), Dialog::Mask).is_err());
    }

    #[test]
    fn models_that_have_to_be_converted_are_listed_where_models_are_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.pth", "b.safetensors", "c.CKPT", "notes.txt"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let pickles = |dialog| -> Vec<(String, bool)> {
            let found = entries(folder.path(), dialog).unwrap();
            found.iter().map(|entry| (file_name(&entry.path), entry.is_pickle)).collect()
        };
        let all = [("a.pth", true), ("b.safetensors", false), ("c.CKPT", true)];
        let all = all.map(|(name, is_pickle)| (name.to_owned(), is_pickle));
        assert_eq!(pickles(Dialog::Upscaler), all);
        assert_eq!(pickles(Dialog::Adapter), all);
        assert_eq!(pickles(Dialog::InputImage), []);
    }

    #[test]
    fn dialogs_for_the_same_kind_of_file_start_in_the_same_folder() {
        for (dialog, kind) in [
            (Dialog::ModelFile, FolderKind::Models),
            (Dialog::Adapter, FolderKind::Models),
            (Dialog::DownloadFolder, FolderKind::Models),
            (Dialog::Mask, FolderKind::Images),
            (Dialog::InputClip, FolderKind::Images),
            (Dialog::ControlMask, FolderKind::Images),
            (Dialog::InputFolder, FolderKind::Images),
            (Dialog::SaveFile, FolderKind::Results),
            (Dialog::ExportFolder, FolderKind::Results),
        ] {
            assert_eq!(dialog.folder_kind(), kind, "{dialog:?}");
        }
    }
}
