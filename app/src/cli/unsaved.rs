//! Images and clips that the engine could save nowhere: they are still in memory, and saved where the user says.

use std::{
    env,
    io::{self, BufRead, IsTerminal as _},
    path::{Path, PathBuf},
};

use sluice_engine::{
    output::{Settings, write_media},
    session::{Job, Picture},
};

use super::exit::stderr_line;

/// The model's names in the settings of a file.
pub(super) struct ModelNames {
    pub model: String,
    pub family: String,
}

/// Saves the pictures of a job that have no path: in a terminal under names that are asked for, otherwise in the current
/// or the home folder.
pub(super) fn rescue(pictures: &[Picture], job: &Job, names: &ModelNames) {
    if job.output.is_none() {
        return;
    }
    for (index, picture) in (0..).zip(pictures).filter(|(_, picture)| picture.path.is_none()) {
        let settings = match Settings::of_changed(&job.request, &names.model, &names.family) {
            Some(settings) => settings,
            None => Settings::new(&job.request, &names.model, &names.family, index)
                .held_as(job.memory.precisions()),
        };
        let save = |path: &Path| {
            write_media(path, &picture.media, &settings, job.encoding()).map_err(|error| error.to_string())
        };
        let extension = if picture.media.is_clip() { job.codec.extension() } else { "png" };
        let saved = if io::stdin().is_terminal() && io::stderr().is_terminal() {
            ask(&mut io::stdin().lock(), save)
        } else {
            let folders = [Some(PathBuf::from(".")), env::home_dir()];
            let mut names =
                folders.into_iter().flatten().map(|folder| new_name(&folder, picture.seed, extension));
            names.find(|path| save(path).is_ok())
        };
        stderr_line(&match saved {
            Some(path) => format!("saved as {}", path.display()),
            None => "it was not saved".to_owned(),
        });
    }
}

/// A name that is free in a folder.
fn new_name(folder: &Path, seed: u64, extension: &str) -> PathBuf {
    let named = |number: u32| match number {
        1 => folder.join(format!("sluice-{seed}.{extension}")),
        _ => folder.join(format!("sluice-{seed}-{number}.{extension}")),
    };
    (1..).map(named).find(|path| !path.exists()).unwrap_or_else(|| named(1))
}

/// Asks for names until a file can be written or the answer is empty.
fn ask(answers: &mut impl BufRead, save: impl Fn(&Path) -> Result<(), String>) -> Option<PathBuf> {
    loop {
        stderr_line("It is still in memory. Type the name of a file to save it as, or nothing to drop it.");
        let mut answer = String::new();
        if answers.read_line(&mut answer).is_err() || answer.trim().is_empty() {
            return None;
        }
        let path = PathBuf::from(answer.trim());
        match save(&path) {
            Ok(()) => return Some(path),
            Err(error) => stderr_line(&format!("error: {error}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("sluice-7.mp4"), "mine").unwrap();
        assert_eq!(new_name(folder.path(), 7, "mp4"), folder.path().join("sluice-7-2.mp4"));
        assert_eq!(new_name(folder.path(), 8, "mp4"), folder.path().join("sluice-8.mp4"));
    }

    #[test]
    fn names_are_asked_for_until_one_works() {
        let save = |path: &Path| {
            if path == Path::new("good.mp4") { Ok(()) } else { Err("the disk is full".to_owned()) }
        };
        let asked = |answers: &str| ask(&mut answers.as_bytes(), save);
        assert_eq!(asked("bad.mp4\n good.mp4 \nlater.mp4\n"), Some("good.mp4".into()));
        assert_eq!(asked("bad.mp4\n\ngood.mp4\n"), None);
        assert_eq!(asked(""), None);
    }
}
