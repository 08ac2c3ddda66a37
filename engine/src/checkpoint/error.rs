//! Errors about a model's files, worded for the person who chose them.

use std::{io, path::PathBuf};

use super::{MapKind, Role};

/// A model that cannot be opened or read.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// The path does not exist.
    #[error("there is no file or folder {}", .path.display())]
    NotFound {
        /// The path.
        path: PathBuf,
    },
    /// A well-known model was named that is not on this machine.
    #[error("{name} is not on this machine")]
    NotHere {
        /// The model's name.
        name: String,
        /// Its repository on Hugging Face.
        hub: String,
    },
    /// The file cannot be read.
    #[error("{} cannot be read: {source}", .path.display())]
    Io {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file cannot be written.
    #[error("{} cannot be written: {source}", .path.display())]
    Write {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Only the shapes of these weights are known.
    #[error("the weights of {} are not on this machine", .path.display())]
    Hollow {
        /// The model's name and the component.
        path: PathBuf,
    },
    /// The folder holds no model.
    #[error("no model found in {}", .path.display())]
    NoModel {
        /// Which folder.
        path: PathBuf,
    },
    /// A file that belongs to Sluice is not where it was installed.
    #[error("{name} is part of Sluice but was not found in {}", .looked.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", "))]
    NoAsset {
        /// Its name.
        name: String,
        /// Every place that was tried.
        looked: Vec<PathBuf>,
    },
    /// The file is not a model.
    #[error("{} is not a model file that Sluice can read", .path.display())]
    NotAModelFile {
        /// Which file.
        path: PathBuf,
    },
    /// The file has the name of a safetensors file, and something else in it.
    #[error("{} is not a safetensors file: it does not begin with a header", .path.display())]
    NotSafetensors {
        /// Which file.
        path: PathBuf,
    },
    /// A Python pickle, which may execute code.
    #[error("{} is a pickle file, which can run arbitrary code when it is opened", .path.display())]
    Pickle {
        /// Which file.
        path: PathBuf,
    },
    /// The file is empty.
    #[error("{} is empty", .path.display())]
    EmptyFile {
        /// Which file.
        path: PathBuf,
    },
    /// The header is longer than the file.
    #[error("{} is damaged or incomplete: its header should have {header} bytes, but the file has only {length} bytes", .path.display())]
    HeaderPastEnd {
        /// Which file.
        path: PathBuf,
        /// Bytes the header should have.
        header: u64,
        /// Bytes the file has.
        length: u64,
    },
    /// The header does not describe tensors.
    #[error("the header of {} is damaged: {reason}", .path.display())]
    Header {
        /// Which file.
        path: PathBuf,
        /// The parser's message.
        reason: String,
    },
    /// The file ends before its last tensor.
    #[error("{} is incomplete: it should have {expected} bytes but has only {length}", .path.display())]
    Truncated {
        /// Which file.
        path: PathBuf,
        /// Bytes the header describes.
        expected: u64,
        /// Bytes the file has.
        length: u64,
    },
    /// A configuration is not valid JSON, or has a value of the wrong type.
    #[error("{} cannot be parsed: {reason}", .path.display())]
    Json {
        /// Which file.
        path: PathBuf,
        /// The parser's message.
        reason: String,
    },
    /// A model of a supported architecture for a task that is not supported.
    #[error("{} is a model {task}, which Sluice does not support yet", .path.display())]
    OtherTask {
        /// The file or folder.
        path: PathBuf,
        /// What the model does, such as `that edits images`.
        task: &'static str,
    },
    /// An index refers to a file that is missing.
    #[error("{} is missing, but {} refers to it", .shard.display(), .index.display())]
    MissingShard {
        /// The index.
        index: PathBuf,
        /// The file.
        shard: PathBuf,
    },
    /// A whole component of the model is missing.
    #[error("the {role} of {} is missing: {expected}{}{}", .model.display(), looked_in(.looked), also(.unreadable))]
    MissingPart {
        /// The model.
        model: PathBuf,
        /// Which component.
        role: Role,
        /// What was searched for.
        expected: String,
        /// The folders that were searched.
        looked: Vec<PathBuf>,
        /// Why files there could not be used.
        unreadable: Vec<String>,
    },
    /// A model of a family that Sluice does not support.
    #[error("{} is a model that Sluice does not support{}", .path.display(), .kind.as_ref().map(|kind| format!(" ({kind})")).unwrap_or_default())]
    UnknownFamily {
        /// Which model.
        path: PathBuf,
        /// The kind it claims to be.
        kind: Option<String>,
        /// The supported families.
        known: Vec<&'static str>,
    },
    /// A model that cannot take over the last steps of another.
    #[error("{} cannot refine: {reason}", .path.display())]
    Refiner {
        /// The refiner.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// A file that is no upscaler, or one of a kind that is not supported.
    #[error("{} cannot enlarge images: {reason}", .path.display())]
    Upscaler {
        /// The file.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// A file that does not interpolate frames, or one of a kind that is not supported.
    #[error("{} cannot interpolate frames: {reason}", .path.display())]
    Interpolator {
        /// The file.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// A frame interpolator as a Python pickle.
    #[error("{} is a pickle file, which can run arbitrary code when it is opened", .path.display())]
    PickledInterpolator {
        /// The file.
        path: PathBuf,
    },
    /// A file that is no map estimator for maps of this kind, or one that is not supported.
    #[error("{} cannot make {}: {reason}", .path.display(), .maps.maps())]
    MapEstimator {
        /// The file.
        path: PathBuf,
        /// What it is to make.
        maps: MapKind,
        /// Why not.
        reason: String,
    },
    /// A map estimator as a Python pickle.
    #[error("{} is a pickle file, which can run arbitrary code when it is opened", .path.display())]
    PickledEstimator {
        /// The file.
        path: PathBuf,
    },
    /// A file that is no segmenter, or one of a kind that is not supported.
    #[error("{} cannot make masks: {reason}", .path.display())]
    Segmenter {
        /// The file.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// A file that is no detector, or one of a kind that is not supported.
    #[error("{} cannot find faces or other things: {reason}", .path.display())]
    Detector {
        /// The file.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// A detector as a Python pickle.
    #[error("{} is a pickle file, which can run arbitrary code when it is opened", .path.display())]
    PickledDetector {
        /// The file.
        path: PathBuf,
    },
    /// A file that is no language model, or one of a kind that is not supported.
    #[error("{} cannot write prompts: {reason}", .path.display())]
    LanguageModel {
        /// The file.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// The same of a model that is to describe images.
    #[error("{} cannot describe images: {reason}", .path.display())]
    ImageDescriber {
        /// The file.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// An upscaler as a Python pickle.
    #[error("{} is a pickle file, which can run arbitrary code when it is opened", .path.display())]
    PickledUpscaler {
        /// The file.
        path: PathBuf,
    },
    /// A model through which another cannot read references.
    #[error("{} cannot be used as Redux: {reason}", .path.display())]
    Redux {
        /// The model.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// A file that cannot make a model read images.
    #[error("{} cannot be used as an IP-Adapter: {reason}", .path.display())]
    IpAdapter {
        /// The file.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// The encoder that an IP-Adapter was trained with is nowhere.
    #[error("the image encoder for {} was not found: {wanted}", .adapter.display())]
    NoImageEncoder {
        /// The file of the IP-Adapter.
        adapter: PathBuf,
        /// Which encoder.
        wanted: String,
    },
    /// A file that cannot steer a model.
    #[error("{} cannot be used as a ControlNet: {reason}", .path.display())]
    ControlNet {
        /// The file.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// A weight that the architecture needs is not in the files.
    #[error("{} has no tensor {name}{}", .path.display(), others(*.missing))]
    MissingTensor {
        /// The file, or the first of several.
        path: PathBuf,
        /// The first missing tensor.
        name: String,
        /// How many are missing in total.
        missing: usize,
    },
    /// A weight does not have the shape that the configuration requires.
    #[error("tensor {name} in {} has shape {found:?} instead of {expected:?}", .path.display())]
    Shape {
        /// Which file.
        path: PathBuf,
        /// Which tensor.
        name: String,
        /// The shape in the file.
        found: Vec<usize>,
        /// The shape the configuration requires.
        expected: Vec<usize>,
    },
    /// A weight is stored in a format that cannot be used.
    #[error("tensor {name} in {} is stored as {found}, which Sluice does not support here", .path.display())]
    Dtype {
        /// Which file.
        path: PathBuf,
        /// Which tensor.
        name: String,
        /// How it is stored.
        found: String,
    },
    /// The weights are stored in a way that only certain programs compute with.
    #[error("the weights of {} are stored as {found}, which Sluice does not support", .path.display())]
    Quantization {
        /// Which file.
        path: PathBuf,
        /// How they are stored.
        found: String,
    },
    /// A configuration has an invalid value.
    #[error("{} has {field} = {value}, but {reason}", .path.display())]
    Config {
        /// Which file.
        path: PathBuf,
        /// Which value.
        field: &'static str,
        /// The value.
        value: String,
        /// Why it is invalid.
        reason: String,
    },
    /// A tokenizer cannot be loaded.
    #[error("the tokenizer {} cannot be used: {reason}", .path.display())]
    Tokenizer {
        /// Which file.
        path: PathBuf,
        /// The parser's message.
        reason: String,
    },
}

fn looked_in(folders: &[PathBuf]) -> String {
    let mut folders: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
    match folders.pop() {
        None => String::new(),
        Some(last) if folders.is_empty() => format!(" (looked in {last})"),
        Some(last) => format!(" (looked in {} and {last})", folders.join(", ")),
    }
}

fn also(unreadable: &[String]) -> String {
    const MOST: usize = 3;
    let told: String = unreadable.iter().take(MOST).map(|reason| format!("; {reason}")).collect();
    match unreadable.len().saturating_sub(MOST) {
        0 => told,
        more => format!("{told}; {more} more files in it cannot be read"),
    }
}

fn others(missing: usize) -> String {
    match missing {
        0 | 1 => String::new(),
        2 => " (and 1 more is missing)".to_owned(),
        more => format!(" (and {} more are missing)", more - 1),
    }
}

impl CheckpointError {
    /// What is said of a file that has no weights where a tool is wanted: `refused` makes it an error of that tool, with advice
    /// about the files that it takes.
    pub fn of_tool(self, refused: impl FnOnce(PathBuf, String) -> Self) -> Self {
        match self {
            Self::NotAModelFile { path } => {
                refused(path, "it is not a model file that Sluice can read".to_owned())
            }
            Self::NotSafetensors { path } => {
                refused(path, "it is not a safetensors file: it does not begin with a header".to_owned())
            }
            other => other,
        }
    }

    /// The file that is only said not to be what was wanted, and the reason that says so.
    pub fn stranger(&mut self) -> Option<(&PathBuf, &mut String)> {
        const NO: &str = "it is no ";
        match self {
            Self::Upscaler { path, reason }
            | Self::Interpolator { path, reason }
            | Self::MapEstimator { path, reason, .. }
            | Self::Segmenter { path, reason }
            | Self::Detector { path, reason }
            | Self::LanguageModel { path, reason }
            | Self::ImageDescriber { path, reason }
            | Self::ControlNet { path, reason }
            | Self::IpAdapter { path, reason }
                if reason.starts_with(NO) =>
            {
                Some((&*path, reason))
            }
            _ => None,
        }
    }

    /// What the user can do about it.
    pub fn advice(&self) -> String {
        match self {
            Self::Hollow { .. } => "Download the model and open its folder.".to_owned(),
            Self::NotHere { hub, .. } => {
                format!("Download it from huggingface.co/{hub}, and choose the folder or the file.")
            }
            Self::NotFound { .. } => "Check the path, or choose the model again.".to_owned(),
            Self::Io { .. } => {
                "Check that you are allowed to read the file and that its drive is connected.".to_owned()
            }
            Self::Write { .. } => {
                "Check that the folder exists, that you can write to it, and that its disk is not full."
                    .to_owned()
            }
            Self::NoModel { .. } => "Choose a diffusers folder (with model_index.json), a folder with \
                diffusion_models, text_encoders and vae inside, or a .safetensors or .gguf file."
                .to_owned(),
            Self::NoAsset { .. } => "Reinstall Sluice, or set SLUICE_ASSETS to its assets folder.".to_owned(),
            Self::NotAModelFile { .. } | Self::NotSafetensors { .. } => {
                "Choose a .safetensors file, a .gguf file or a model folder.".to_owned()
            }
            Self::Pickle { .. } => "Sluice never opens such files. Look for a .safetensors version of the \
                model."
                .to_owned(),
            Self::EmptyFile { .. } | Self::HeaderPastEnd { .. } | Self::Truncated { .. } => {
                "The download probably stopped early. Download the file again.".to_owned()
            }
            Self::Header { .. } => "The file is damaged or is not a model. Download it again.".to_owned(),
            Self::Json { .. } => "The file is damaged. Download it again.".to_owned(),
            Self::MissingShard { shard, .. } => {
                format!("Download {} into the same folder.", file_name(shard))
            }
            Self::MissingPart { looked, .. } if looked.is_empty() => {
                "Put the missing files there and open the model again.".to_owned()
            }
            Self::MissingPart { .. } => {
                "Put the file into one of these folders and open the model again, or add its folder to \
                 SLUICE_MODEL_FOLDERS (on the command line also with --model-folder)."
                    .to_owned()
            }
            Self::UnknownFamily { known, .. } => format!("Sluice supports {}.", known.join(", ")),
            Self::Refiner { .. } => {
                "Choose the refiner of Stable Diffusion XL with a Stable Diffusion XL model, or \
                none."
                    .to_owned()
            }
            Self::PickledUpscaler { .. } => {
                "Sluice never opens such files. Look for a .safetensors version, or convert it in Python: torch.load, then \
                safetensors.torch.save_file. On the command line, convert it as docs/upscaling.md says."
                    .to_owned()
            }
            Self::Upscaler { .. } => {
                "Choose a .safetensors file of ESRGAN, Real-ESRGAN Compact, SPAN, DAT, HAT, SwinIR or \
                RealPLKSR with a factor of 1 to 8, or the upscaler that comes with Sluice."
                    .to_owned()
            }
            Self::PickledInterpolator { .. } => {
                "Sluice never opens such files. Look for a .safetensors version, or convert it in Python: torch.load, then \
                safetensors.torch.save_file. On the command line, convert it as docs/frame-interpolation.md says."
                    .to_owned()
            }
            Self::Interpolator { .. } => {
                "Choose a .safetensors file of RIFE 4, such as rife_v4.26.safetensors.".to_owned()
            }
            Self::MapEstimator { maps, .. } => match maps {
                MapKind::Depth => {
                    "Choose a .safetensors file of Depth Anything V2 small, base or large, or the folder of one as \
                    transformers saves it."
                }
                MapKind::Pose => {
                    "Choose a .safetensors file of YOLOv8-pose, such as yolov8n-pose. On the command line, \
                    convert it as docs/controlnet.md says."
                }
                MapKind::Segments => {
                    "Choose a .safetensors file of SegFormer (B0 to B5) for ADE20K, or the folder of one as \
                    transformers saves it."
                }
                MapKind::SoftEdge => {
                    "Choose a .safetensors file of HED, such as ControlNetHED. On the command line, convert it as \
                    docs/controlnet.md says."
                }
            }
            .to_owned(),
            Self::PickledEstimator { .. } => {
                "Sluice never opens such files. Look for a .safetensors version, or convert it in Python: torch.load (YOLO of \
                ultralytics for its files), then safetensors.torch.save_file. On the command line, convert it as \
                docs/controlnet.md says."
                    .to_owned()
            }
            Self::Segmenter { .. } => {
                "Choose a .safetensors file of Segment Anything (ViT-B, L or H) or of MobileSAM, or the folder of one \
                as transformers saves it."
                    .to_owned()
            }
            Self::PickledDetector { .. } => {
                "Sluice never opens such files. Look for a .safetensors version, or convert it in Python: torch.load (YOLO of \
                ultralytics for its files), then safetensors.torch.save_file. On the command line, convert it as \
                docs/detailer.md says."
                    .to_owned()
            }
            Self::Detector { .. } => {
                "Choose a .safetensors file of YOLOv8, such as face_yolov8n or person_yolov8n-seg. On the command \
                line, convert it as docs/detailer.md says."
                    .to_owned()
            }
            Self::LanguageModel { .. } => {
                "Choose a .gguf or .safetensors file of Qwen3, such as Qwen3-4B-Instruct-2507-Q4_K_M.gguf, or the text \
                encoder of Z-Image; to describe images, Qwen2.5-VL or Qwen3-VL."
                    .to_owned()
            }
            Self::ImageDescriber { .. } => {
                "Choose a .gguf or .safetensors file of Qwen2.5-VL or Qwen3-VL, or the folder of one as transformers saves it."
                    .to_owned()
            }
            Self::Redux { .. } => "Choose flux1-redux-dev with a FLUX.1 model, or none.".to_owned(),
            Self::IpAdapter { .. } => {
                "Choose an IP-Adapter made for the model, as .safetensors; those for Stable Diffusion 1.5 and XL are at \
                 huggingface.co/h94/IP-Adapter."
                    .to_owned()
            }
            Self::NoImageEncoder { .. } => "Download it into image_encoder beside the IP-Adapter, or into clip_vision of a \
                model folder, and generate again."
                .to_owned(),
            Self::ControlNet { .. } => {
                "Choose a ControlNet made for the model, as .safetensors.".to_owned()
            }
            Self::MissingTensor { .. } => "The file belongs to another model or is incomplete.".to_owned(),
            Self::Shape { .. } => "The weights and the configuration belong to different models. Download \
                both from the same place."
                .to_owned(),
            Self::Dtype { .. } => {
                "Use a version of the model stored as f32, f16, bf16, fp8 or GGUF.".to_owned()
            }
            Self::Quantization { .. } => "Use a GGUF or fp8 file of the same model.".to_owned(),
            Self::OtherTask { .. } => "Use the model of this family that generates from text.".to_owned(),
            Self::Config { .. } => "Use the configuration file that came with the model.".to_owned(),
            Self::Tokenizer { .. } => "Download the model's tokenizer files again.".to_owned(),
        }
    }
}

fn file_name(path: &std::path::Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}
