//! Where other programs keep their models.

use std::{
    collections::HashSet,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
};

/// A folder with the models of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The program's name.
    pub program: &'static str,
    /// The folder.
    pub folder: PathBuf,
}

/// What a search for other programs starts from.
pub struct Surroundings<'a> {
    /// The user's home folder.
    pub home: Option<PathBuf>,
    /// Folders in which people install programs, such as that of documents.
    pub bases: Vec<PathBuf>,
    /// The value of an environment variable.
    pub variable: &'a dyn Fn(&str) -> Option<OsString>,
}

/// Programs, their folders where people install programs, and their folder of models inside.
const PROGRAMS: [(&str, &[&str], &str); 9] = [
    ("ComfyUI", &["ComfyUI", "comfy/ComfyUI", "ComfyUI_windows_portable/ComfyUI"], "models"),
    ("A1111", &["stable-diffusion-webui"], "models"),
    (
        "Forge",
        &[
            "stable-diffusion-webui-forge",
            "stable-diffusion-webui-reForge",
            "sd-webui-forge-neo",
            "webui_forge",
        ],
        "models",
    ),
    ("SwarmUI", &["SwarmUI", "StableSwarmUI"], "Models"),
    ("ComfyUI of SwarmUI", &["SwarmUI/dlbackend/ComfyUI"], "models"),
    ("InvokeAI", &["invokeai", "InvokeAI"], "models"),
    ("Fooocus", &["Fooocus"], "models"),
    ("Stability Matrix", &["StabilityMatrix", "StabilityMatrix/Data"], "Models"),
    ("Wan2GP", &["Wan2GP"], "ckpts"),
];
/// Folders in the home folder.
const AT_HOME: [(&str, &str); 4] = [
    ("Stability Matrix", ".local/share/StabilityMatrix/Models"),
    ("LM Studio", ".lmstudio/models"),
    ("LM Studio", ".cache/lm-studio/models"),
    ("Hugging Face", ".cache/huggingface/hub"),
];
/// Variables that name a folder, and where the models are in it.
const VARIABLES: [(&str, &str, &str); 5] = [
    ("Hugging Face", "HF_HUB_CACHE", ""),
    ("Hugging Face", "HUGGINGFACE_HUB_CACHE", ""),
    ("Hugging Face", "HF_HOME", "hub"),
    ("Hugging Face", "XDG_CACHE_HOME", "huggingface/hub"),
    ("InvokeAI", "INVOKEAI_ROOT", "models"),
];
/// ComfyUI's list of other folders, beside its own.
const EXTRA_PATHS: &str = "extra_model_paths.yaml";
/// Files in which programs are told where their models are, and the lines that say so.
const TOLD: [(&str, &str, &str); 3] = [
    ("SwarmUI", "Data/Settings.fds", "ModelRoot:"),
    ("InvokeAI", "invokeai.yaml", "models_dir:"),
    ("Stability Matrix", "settings.json", "\"ModelDirectoryOverride\":"),
];
/// The file in the home folder that says where LM Studio's files are.
const LM_STUDIO: &str = ".lmstudio-home-pointer";

/// The folders of other programs that exist, each once.
pub fn well_known_places(surroundings: &Surroundings<'_>) -> Vec<Place> {
    let Surroundings { home, bases, variable } = surroundings;
    let mut places = Vec::new();
    for (program, name, inside) in VARIABLES {
        if let Some(folder) = variable(name).filter(|folder| !folder.is_empty()) {
            places.push(Place { program, folder: PathBuf::from(folder).join(inside) });
        }
    }
    if let Some(home) = home {
        places.extend(AT_HOME.map(|(program, inside)| Place { program, folder: home.join(inside) }));
        let pointer = fs::read_to_string(home.join(LM_STUDIO)).unwrap_or_default();
        if !pointer.trim().is_empty() {
            places.push(Place { program: "LM Studio", folder: Path::new(pointer.trim()).join("models") });
        }
    }
    for base in home.iter().chain(bases) {
        for (program, names, inside) in PROGRAMS {
            for name in names {
                let own = base.join(name);
                places.extend(extra_paths(&own));
                places.extend(told(program, &own));
                places.push(Place { program, folder: own.join(inside) });
            }
        }
    }
    let mut seen = HashSet::new();
    places.retain(|place| {
        let real = fs::canonicalize(&place.folder).ok().filter(|folder| folder.is_dir());
        real.is_some_and(|folder| seen.insert(folder))
    });
    places
}

/// The folders that ComfyUI is told to use besides its own: those under which all kinds of models are, and those of one kind
/// that are elsewhere.
fn extra_paths(program: &Path) -> Vec<Place> {
    let Ok(text) = fs::read_to_string(program.join(EXTRA_PATHS)) else { return Vec::new() };
    let mut places = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.starts_with('#')) {
        // A value after a name, or a line of a value with several.
        let (name, value) = line.split_once(": ").unwrap_or(("", line));
        let value = plain(value);
        let folder = program.join(value);
        let is_base = name == "base_path";
        if value.is_empty() || !(is_base || Path::new(value).is_absolute()) {
            continue;
        }
        let inside = folder.join("models");
        let folder = if is_base && inside.is_dir() { inside } else { folder };
        places.push(Place { program: "ComfyUI, other folder", folder });
    }
    places
}

/// The folders that a program is told to use in place of its own.
fn told(program: &'static str, own: &Path) -> Vec<Place> {
    let mut places = Vec::new();
    for (_, file, name) in TOLD.iter().filter(|(known, ..)| *known == program) {
        let text = fs::read_to_string(own.join(file)).unwrap_or_default();
        let values = text.lines().filter_map(|line| line.trim().strip_prefix(name));
        let folders =
            values.flat_map(|value| value.split(';')).map(plain).filter(|folder| !folder.is_empty());
        places.extend(folders.map(|folder| Place { program, folder: own.join(folder) }));
    }
    places
}

/// A value without its quotes, its comment and a comma after it.
fn plain(value: &str) -> &str {
    let value = value.split(" #").next().unwrap_or(value);
    value.trim().trim_end_matches(',').trim_matches(['"', '\''])
}
