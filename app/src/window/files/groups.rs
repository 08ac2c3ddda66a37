//! What is written down about the groups of the queue, so that a grid is composed after a restart: a file for each, with the
//! group in the first line, and a line for each job that has finished.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, BufRead, BufReader, Write},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::window::state::{GroupChange, NamedGroup};

const EXTENSION: &str = "group";

/// The files of a job that has finished.
#[derive(Serialize, Deserialize)]
struct Drawn {
    place: usize,
    files: Vec<Option<PathBuf>>,
}

/// Writes a change down.
///
/// # Errors
/// When the file cannot be written.
pub(super) fn keep(folder: &Path, change: &GroupChange) -> io::Result<()> {
    let file = |id: &str| folder.join(id).with_extension(EXTENSION);
    match change {
        GroupChange::Begun(named) => {
            fs::create_dir_all(folder)?;
            let mut whole = tempfile::NamedTempFile::new_in(folder)?;
            write_line(whole.as_file_mut(), named)?;
            whole.persist(file(named.group.id())).map_err(|error| error.error)?;
            Ok(())
        }
        GroupChange::Drawn { id, place, files } => {
            let mut own = OpenOptions::new().append(true).open(file(id))?;
            write_line(&mut own, &Drawn { place: *place, files: files.clone() })
        }
        GroupChange::Ended(named) => match fs::remove_file(file(named.group.id())) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            result => result,
        },
    }
}

fn write_line(file: &mut File, value: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    file.write_all(&line)
}

/// The groups that were written down. One that cannot be read is removed.
pub(super) fn kept(folder: &Path) -> Vec<NamedGroup> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let files = entries.filter(|path| path.extension().is_some_and(|extension| extension == EXTENSION));
    let mut groups = Vec::new();
    for path in files {
        match read(&path) {
            Ok(group) => groups.push(group),
            Err(error) => {
                tracing::warn!(path = %path.display(), %error, "a grid of a previous session is given up");
                // What cannot be removed is tried again at the next start.
                let _stays = fs::remove_file(&path);
            }
        }
    }
    groups
}

fn read(path: &Path) -> io::Result<NamedGroup> {
    let mut lines = BufReader::new(File::open(path)?).lines();
    let first = lines.next().transpose()?.unwrap_or_default();
    let mut named: NamedGroup = serde_json::from_str(&first)?;
    let mut drawn = Vec::new();
    for line in lines {
        // The last line is not whole if the program was killed while it wrote it.
        let Ok(Drawn { place, files }) = serde_json::from_str(&line?) else { break };
        drawn.push((place, files));
    }
    named.group.restore(drawn);
    Ok(named)
}

#[cfg(test)]
mod tests {
    use sluice_engine::{
        output::Output,
        request::{
            Request,
            grid::{Axis, Grid, GridSetting},
        },
        session::JobId,
    };

    use super::*;
    use crate::groups::Group;

    fn named() -> NamedGroup {
        let grid = Grid::new([Some(Axis::new(GridSetting::Steps, "2, 4, 6").unwrap()), None, None]).unwrap();
        let request = Request { prompt: "a \"boat\"\nat sea".to_owned(), ..Request::default() };
        let cells = grid.cells(&request).unwrap();
        let mut group = Group::of_grid(&grid, &request, &cells, Output::Folder("/pictures".into()));
        group.add(JobId(1), 0);
        NamedGroup { group, model: "Starter".to_owned(), family: "z_image".to_owned() }
    }

    #[test]
    fn a_group_comes_back_with_what_was_drawn_and_without_its_jobs() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("grids");
        assert_eq!(kept(&folder), []);
        let named = named();
        let id = named.group.id().to_owned();
        let drawn = |place, file: Option<&str>| GroupChange::Drawn {
            id: id.clone(),
            place,
            files: vec![file.map(PathBuf::from)],
        };
        keep(&folder, &GroupChange::Begun(Box::new(named.clone()))).unwrap();
        keep(&folder, &drawn(2, Some("/pictures/3.png"))).unwrap();
        keep(&folder, &drawn(0, None)).unwrap();
        let path = folder.join(&id).with_extension(EXTENSION);
        OpenOptions::new().append(true).open(&path).unwrap().write_all(b"{\"place\":1,\"fi").unwrap();

        let [mut back] = kept(&folder).try_into().unwrap();
        assert_eq!((back.group.id(), back.model.as_str()), (id.as_str(), "Starter"));
        assert_eq!(back.group.request(), named.group.request());
        assert_eq!((back.group.jobs().count(), back.group.progress()), (0, [1, 1]));
        assert!(back.group.has_images());
        back.group.add(JobId(7), 0);
        assert_eq!(back.group.progress(), [1, 2]);

        for _ in 0..2 {
            keep(&folder, &GroupChange::Ended(Box::new(named.clone()))).unwrap();
            assert_eq!(kept(&folder), []);
        }
        assert!(keep(&folder, &drawn(0, None)).is_err(), "it has ended");
    }

    #[test]
    fn what_is_no_group_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.group");
        fs::write(&path, "{}\n").unwrap();
        assert_eq!(kept(folder.path()), []);
        assert!(!path.exists());
    }
}
