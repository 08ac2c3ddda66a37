//! Files that come with the program.

use std::path::PathBuf;

use super::CheckpointError;

/// Overrides where the program looks for its assets.
pub const ASSETS_VARIABLE: &str = "SLUICE_ASSETS";
/// With the value 0, the program does not look in the source tree: as on a computer that has none.
const SOURCE_TREE_VARIABLE: &str = "SLUICE_SOURCE_TREE";

/// The folder of the starter model.
pub fn starter_folder() -> Result<PathBuf, CheckpointError> {
    asset("starter")
}

/// The folder of the clip starter.
pub fn starter_clip_folder() -> Result<PathBuf, CheckpointError> {
    asset("starter-clip")
}

/// The file of the upscaler.
pub fn upscaler_file() -> Result<PathBuf, CheckpointError> {
    asset("upscaler/realesr-animevideov3-x4.safetensors")
}

/// A file or folder that comes with the program. Looks in the folder named by [`ASSETS_VARIABLE`], next to
/// the program, in the share or resource folder of an installation, and, unless the program was built for a
/// package, in the source tree that it was built from.
pub fn asset(name: &str) -> Result<PathBuf, CheckpointError> {
    let mut places: Vec<PathBuf> = Vec::new();
    if let Some(assets) = std::env::var_os(ASSETS_VARIABLE) {
        places.push(PathBuf::from(assets));
    }
    if let Ok(program) = std::env::current_exe() {
        for folder in ["assets", "../share/sluice/assets", "../Resources/assets"] {
            places.extend(program.parent().map(|parent| parent.join(folder)));
        }
    }
    let is_packaged = option_env!("SLUICE_SOURCE_TREE") == Some("0");
    let is_left_out = std::env::var_os(SOURCE_TREE_VARIABLE).is_some_and(|value| value == "0");
    if !is_packaged && !is_left_out {
        places.push(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../assets"));
    }
    let found = places.iter().map(|place| place.join(name)).find(|path| path.exists());
    found.ok_or_else(|| CheckpointError::NoAsset { name: name.to_owned(), looked: places })
}
