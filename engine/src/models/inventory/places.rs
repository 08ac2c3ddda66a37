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
    }
    for base in home.iter().chain(bases) {
        for (program, names, inside) in PROGRAMS {
            for name in names {
                let own = base.join(name);
                places.extend(extra_paths(&own));
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

/// The folders that ComfyUI is told to use besides its own.
fn extra_paths(program: &Path) -> Vec<Place> {
    let Ok(text) = fs::read_to_string(program.join(EXTRA_PATHS)) else { return Vec::new() };
    let bases = text.lines().filter_map(|line| line.trim().strip_prefix("base_path:"));
    let place = |base: &str| {
        let base = base.split(" #").next().unwrap_or(base).trim().trim_matches(['"', '\'']);
        let folder = program.join(base);
        let inside = folder.join("models");
        let folder = if inside.is_dir() { inside } else { folder };
        Place { program: "ComfyUI, other folder", folder }
    };
    bases.filter(|base| !base.trim().is_empty()).map(place).collect()
}
