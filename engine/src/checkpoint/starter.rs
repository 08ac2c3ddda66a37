//! The model that comes with the program.

use std::path::PathBuf;

use super::CheckpointError;

/// Overrides where the program's assets are looked for.
pub const ASSETS_VARIABLE: &str = "SLUICE_ASSETS";

/// The folder of the starter model: below the folder that [`ASSETS_VARIABLE`] names, beside the program, in
/// the share or resource folder of an installation, or in the source tree that the program was built from.
pub fn starter_folder() -> Result<PathBuf, CheckpointError> {
    let mut places: Vec<PathBuf> = Vec::new();
    if let Some(assets) = std::env::var_os(ASSETS_VARIABLE) {
        places.push(PathBuf::from(assets));
    }
    if let Ok(program) = std::env::current_exe() {
        for folder in ["assets", "../share/sluice/assets", "../Resources/assets"] {
            places.extend(program.parent().map(|parent| parent.join(folder)));
        }
    }
    places.push(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../assets"));
    let starter = |assets: &PathBuf| assets.join("starter");
    match places.iter().map(starter).find(|folder| folder.join("model_index.json").is_file()) {
        Some(folder) => Ok(folder),
        None => Err(CheckpointError::NoStarter { looked: places.iter().map(starter).collect() }),
    }
}
