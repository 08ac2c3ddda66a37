//! What comes with the program and goes with it: models, and the tokenizers of other models.

use std::{
    collections::BTreeSet,
    fs::{self, DirEntry},
    io::{self, Read},
    path::Path,
};

use anyhow::Context as _;
use sluice_engine::{checkpoint::asset, units};

use super::{DeployError, OwnFile, Remote, RemoteError, Stop, progress, say, stderr_line};

const MODELS: [&str; 3] = ["starter", "starter-clip", "upscaler"];
const TOKENIZERS: &str = "tokenizers";
/// Folders of how the models were made, and of what they draw.
const LEFT_OUT: [&str; 2] = ["training", "examples"];

/// The files of the tokenizers, and those of the models if they are wanted. What is not here is left out, and that is said.
pub(super) fn own(with_models: bool) -> anyhow::Result<Vec<OwnFile>> {
    let models = MODELS.into_iter().filter(|_| with_models);
    let mut files = Vec::new();
    for name in models.chain([TOKENIZERS]) {
        match asset(name) {
            Ok(folder) => gather(&folder, name, &mut files)?,
            Err(error) => stderr_line(&format!("left out: {error}")),
        }
    }
    Ok(files)
}

fn gather(folder: &Path, name: &str, files: &mut Vec<OwnFile>) -> anyhow::Result<()> {
    let unreadable = || format!("{} cannot be read", folder.display());
    let entries: Result<Vec<DirEntry>, _> = fs::read_dir(folder).with_context(unreadable)?.collect();
    let mut entries = entries.with_context(unreadable)?;
    entries.sort_by_key(DirEntry::file_name);
    for entry in entries {
        let (path, own) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        let name = format!("{name}/{own}");
        if !path.is_dir() {
            if path.extension().is_none_or(|extension| extension != "py") {
                files.push(OwnFile::read(name, &path)?);
            }
        } else if !LEFT_OUT.contains(&own.as_str()) {
            gather(&path, &name, files)?;
        }
    }
    Ok(())
}

/// Where a program in this folder looks for them.
pub(super) fn folder_for(programs: &str) -> String {
    match programs.strip_suffix("/bin") {
        Some(prefix) => format!("{prefix}/share/sluice/assets"),
        None => format!("{programs}/assets"),
    }
}

/// Copies those that are missing or different under other names, and gives them their own ones when all have arrived whole.
pub(super) fn copy(remote: &Remote, own: &[OwnFile], folder: &str, quiet: bool) -> Result<(), Stop> {
    let path = |file: &OwnFile| format!("{folder}/{}", file.name);
    let part = |file: &OwnFile| format!("{}.part", path(file));
    if own.is_empty() {
        return Ok(());
    }
    let missing = lacking(remote, own.iter(), path)?;
    if missing.is_empty() {
        say(quiet, &format!("what comes with Sluice is already there, in {folder}"));
        return Ok(());
    }
    let paths: Vec<String> = missing.iter().map(|&file| path(file)).collect();
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    let folders: BTreeSet<&str> =
        paths.iter().filter_map(|path| path.rsplit_once('/')).map(|(folder, _)| folder).collect();
    remote.make_folders(&folders.into_iter().collect::<Vec<_>>())?;
    // The others have arrived before a copy was interrupted.
    let sent = lacking(remote, missing.iter().copied(), part)?;
    if !sent.is_empty() {
        let bytes: u64 = sent.iter().map(|file| file.bytes).sum();
        say(quiet, &format!("copying what comes with Sluice, {}", units::memory(bytes)));
        let mut all: Box<dyn Read> = Box::new(io::empty());
        for file in &sent {
            all = Box::new(all.chain(file.open()?.take(file.bytes)));
        }
        let names: Vec<(String, u64)> = sent.iter().map(|&file| (part(file), file.bytes)).collect();
        let together = format!("{folder}/together.part");
        remote.write_apart(&together, &names, &mut all, &mut progress(bytes, quiet))?;
    }
    let damaged = lacking(remote, sent.into_iter(), part)?;
    if let Some(&first) = damaged.first() {
        let parts: Vec<String> = damaged.iter().map(|&file| part(file)).collect();
        remote.remove(&parts.iter().map(String::as_str).collect::<Vec<_>>())?;
        return Err(DeployError::Damaged { file: path(first), host: remote.host.clone() }.into());
    }
    Ok(remote.end_parts(&paths)?)
}

/// Those whose bytes are not there under such a name.
fn lacking<'a>(
    remote: &Remote,
    files: impl Iterator<Item = &'a OwnFile>,
    name: impl Fn(&OwnFile) -> String,
) -> Result<Vec<&'a OwnFile>, RemoteError> {
    let files: Vec<&OwnFile> = files.collect();
    let names: Vec<String> = files.iter().map(|&file| name(file)).collect();
    let there = remote.sha256(&names.iter().map(String::as_str).collect::<Vec<_>>())?;
    let pairs = files.into_iter().zip(there);
    Ok(pairs.filter(|(file, sha256)| sha256.as_ref() != Some(&file.sha256)).map(|(file, _)| file).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_needs_is_gathered_and_how_it_was_made_is_not() {
        let names = |with_models| -> Vec<String> {
            own(with_models).unwrap().into_iter().map(|file| file.name).collect()
        };
        let all = names(true);
        for name in [
            "starter/transformer/diffusion_pytorch_model.safetensors",
            "starter-clip/starter.toml",
            "upscaler/realesr-animevideov3-x4.safetensors",
            "tokenizers/qwen2/merges.txt.gz",
        ] {
            assert!(all.iter().any(|own| own == name), "{name} is not among {all:?}");
        }
        let is_needless = |name: &&String| name.contains("/training/") || name.ends_with(".py");
        assert_eq!(all.iter().find(is_needless), None);
        assert!(names(false).iter().all(|name| name.starts_with("tokenizers/")));
    }

    #[cfg(unix)]
    #[test]
    fn packages_have_the_same_files() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let script = ". packaging/version && packed_assets";
        let packed =
            std::process::Command::new("bash").args(["-c", script]).current_dir(root).output().unwrap();
        assert!(packed.status.success(), "{}", String::from_utf8_lossy(&packed.stderr));
        let packed = String::from_utf8(packed.stdout).unwrap();
        let packed: BTreeSet<&str> = packed.lines().collect();
        let own = own(true).unwrap();
        assert_eq!(own.iter().map(|file| file.name.as_str()).collect::<BTreeSet<_>>(), packed);
    }

    #[test]
    fn they_go_to_where_a_program_looks() {
        assert_eq!(folder_for("/home/me/.local/bin"), "/home/me/.local/share/sluice/assets");
        assert_eq!(folder_for("/opt/sluice"), "/opt/sluice/assets");
        assert_eq!(folder_for("/opt/cabin"), "/opt/cabin/assets");
    }
}
