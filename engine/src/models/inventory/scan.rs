//! Finds weight files in folders and reads their headers.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    fs,
    path::{Path, PathBuf},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use super::{
    About, Content, Finding, Inventory, Item, Kind, Remembered, duplicates, examine,
    names::{REPOSITORY, name_of},
    reason::reason,
    remembered::Entry,
    sidecar::Beside,
};
use crate::checkpoint::{
    FileStamp, NoiseHalf, files_of, folders_in, is_diffusers, may_be_model, without_continuations,
};

/// How many levels of subfolders are searched.
const DEPTH: usize = 5;
/// How many files are read at the same time. More do not make a disk faster.
const READERS: usize = 8;

/// Examines every weight file in a folder and its subfolders. An error in one file is reported with that
/// file.
pub fn inventory(folder: &Path) -> Inventory {
    scan(&[folder.to_owned()], &mut Remembered::default(), |_, _| ())
}

/// Examines every weight file in some folders and their subfolders, each once. Reads only what `remembered` does not know
/// or what has changed, and remembers it. `told` is called with the numbers of files that were read and that have to be.
pub fn scan(
    folders: &[PathBuf],
    remembered: &mut Remembered,
    told: impl Fn(usize, usize) + Sync,
) -> Inventory {
    let mut found = Found::default();
    for folder in without_nested(folders) {
        match is_diffusers(&folder) {
            true => found.add(folder, &Beside::default()),
            false => found.collect(&folder, DEPTH),
        }
    }
    let Found { paths, others } = found;
    let entries = read(&paths, remembered, told);
    // Of folders that are not searched this time, what is known is kept.
    remembered.entries.retain(|path, _| paths.contains_key(path) || path.exists());
    remembered.entries.extend(entries);
    let same = duplicates(&paths, remembered);
    let known: HashSet<PathBuf> = paths.keys().cloned().collect();
    let items = paths.into_keys().filter_map(|path| {
        let Entry { finding, about, .. } = remembered.entries.get(&path)?.clone();
        let (same_as, half_of) = (same.get(&path).cloned(), half_of(&path, &finding, &known));
        Some(Item { name: name_of(&path), content: finding, about, same_as, half_of, path })
    });
    Inventory { items: items.collect(), others }
}

/// The folders that exist and are not inside another one, each once.
fn without_nested(folders: &[PathBuf]) -> Vec<PathBuf> {
    let real = |folder: &PathBuf| Some((fs::canonicalize(folder).ok()?, folder.clone()));
    let places: Vec<(PathBuf, PathBuf)> = folders.iter().filter_map(real).collect();
    let mut kept: Vec<(PathBuf, PathBuf)> = Vec::new();
    for (place, folder) in &places {
        let is_inside = places.iter().any(|(other, _)| other != place && place.starts_with(other));
        if !is_inside && kept.iter().all(|(other, _)| other != place) {
            kept.push((place.clone(), folder.clone()));
        }
    }
    kept.into_iter().map(|(_, folder)| folder).collect()
}

/// Weight files and diffusers folders, each with what is beside it.
#[derive(Default)]
struct Found {
    paths: BTreeMap<PathBuf, Vec<PathBuf>>,
    others: usize,
}

impl Found {
    fn add(&mut self, path: PathBuf, beside: &Beside) {
        let about = beside.of(&path);
        self.paths.insert(path, about);
    }

    fn collect(&mut self, folder: &Path, depth: usize) {
        if let Some(snapshot) = snapshot(folder) {
            return self.collect_repository(&snapshot, folder, depth);
        }
        let Ok(entries) = fs::read_dir(folder) else { return };
        let files: Vec<PathBuf> =
            entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| path.is_file()).collect();
        let (mut models, rest): (Vec<_>, Vec<_>) = files.into_iter().partition(|path| may_be_model(path));
        models.sort();
        without_continuations(&mut models);
        let beside = Beside::new(rest);
        let described: HashSet<&Path> =
            models.iter().flat_map(|path| beside.of(path)).filter_map(|path| beside.known(&path)).collect();
        self.others += beside.len() - described.len();
        for path in models {
            self.add(path, &beside);
        }
        for inner in folders_in(folder) {
            let is_hidden = inner.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
            if is_diffusers(&inner) {
                self.add(inner, &beside);
            } else if depth > 0 && !is_hidden {
                self.collect(&inner, depth - 1);
            }
        }
    }

    /// The files of a repository, but not its folder of contents named by their hashes.
    fn collect_repository(&mut self, snapshot: &Path, folder: &Path, depth: usize) {
        if is_diffusers(snapshot) {
            self.add(snapshot.to_owned(), &Beside::default());
        } else if snapshot != folder {
            self.collect(snapshot, depth);
        }
    }
}

/// The current files of a repository in the hub's cache.
fn snapshot(folder: &Path) -> Option<PathBuf> {
    let is_repository = folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with(REPOSITORY));
    let snapshots = folder.join("snapshots");
    if !is_repository || !snapshots.is_dir() {
        return None;
    }
    let main = fs::read_to_string(folder.join("refs/main")).ok();
    let current = main.map(|revision| snapshots.join(revision.trim())).filter(|path| path.is_dir());
    current.or_else(|| folders_in(&snapshots).pop())
}

/// The file for high noise that a file for low noise belongs to.
fn half_of(path: &Path, finding: &Finding, known: &HashSet<PathBuf>) -> Option<PathBuf> {
    let Finding::Content(Content { kind: Kind::Model | Kind::Adapter, .. }) = finding else { return None };
    let half = NoiseHalf::of(path).filter(|half| half.is_low && path.is_file())?;
    known.contains(&half.other).then_some(half.other)
}

/// What is new or has changed.
fn read(
    paths: &BTreeMap<PathBuf, Vec<PathBuf>>,
    remembered: &Remembered,
    told: impl Fn(usize, usize) + Sync,
) -> HashMap<PathBuf, Entry> {
    let is_current = |entry: &Entry, path: &Path, beside: &[PathBuf]| {
        entry.stamp == stamp(path) && entry.about_stamp == stamps(beside)
    };
    let known = &remembered.entries;
    let changed = paths
        .iter()
        .filter(|(path, beside)| known.get(*path).is_none_or(|entry| !is_current(entry, path, beside)));
    let changed: Vec<(&PathBuf, &Vec<PathBuf>)> = changed.collect();
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let entries = Mutex::new(HashMap::with_capacity(changed.len()));
    thread::scope(|scope| {
        for _ in 0..READERS.min(changed.len()) {
            scope.spawn(|| {
                while let Some((path, beside)) = changed.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let entry = look_at(path, beside, known.get(*path));
                    let mut all = entries.lock().unwrap_or_else(PoisonError::into_inner);
                    all.insert((*path).clone(), entry);
                    drop(all);
                    told(done.fetch_add(1, Ordering::Relaxed) + 1, changed.len());
                }
            });
        }
    });
    entries.into_inner().unwrap_or_else(PoisonError::into_inner)
}

fn look_at(path: &Path, beside: &[PathBuf], known: Option<&Entry>) -> Entry {
    let stamp = stamp(path);
    let about_stamp = stamps(beside);
    let about = About::read(beside);
    if let Some(known) = known.filter(|known| known.stamp == stamp) {
        return Entry { about_stamp, about, ..known.clone() };
    }
    let (finding, header) = match examine(path) {
        Ok((content, header)) => (Finding::Content(content), header),
        Err(error) => (Finding::Error(reason(error, path)), 0),
    };
    Entry { stamp, finding, header, sample: None, about_stamp, about }
}

/// Sizes and times of the files of an item, as a text that changes with them.
pub fn stamp(path: &Path) -> String {
    if !path.is_dir() {
        return stamps(&files_of(path).unwrap_or_else(|_| vec![path.to_owned()]));
    }
    let files_in = |folder: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).into_iter().flatten();
        entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| path.is_file()).collect()
    };
    let mut files = files_in(path);
    files.extend(folders_in(path).iter().flat_map(|inner| files_in(inner)));
    files.sort();
    stamps(&files)
}

fn stamps(files: &[PathBuf]) -> String {
    let mut hash = crc32fast::Hasher::new();
    for file in files {
        hash.update(FileStamp::of(file).to_string().as_bytes());
    }
    format!("{} {:08x}", files.len(), hash.finalize())
}

/// Files with the content of another one → the first of these.
fn duplicates(
    paths: &BTreeMap<PathBuf, Vec<PathBuf>>,
    remembered: &mut Remembered,
) -> HashMap<PathBuf, PathBuf> {
    let mut alike: BTreeMap<(u64, u32), Vec<&PathBuf>> = BTreeMap::new();
    for path in paths.keys().filter(|path| path.is_file()) {
        if let Some(Entry { finding: Finding::Content(content), header, .. }) = remembered.entries.get(path) {
            alike.entry((content.bytes, *header)).or_default().push(path);
        }
    }
    let mut same = HashMap::new();
    for group in alike.into_values().filter(|group| group.len() > 1) {
        let mut first = HashMap::new();
        for path in group {
            let Some(entry) = remembered.entries.get_mut(path) else { continue };
            entry.sample = entry.sample.or_else(|| duplicates::sample(path).ok());
            let Some(sample) = entry.sample else { continue };
            match first.get(&sample) {
                Some(original) => drop(same.insert(path.clone(), PathBuf::clone(original))),
                None => drop(first.insert(sample, path.clone())),
            }
        }
    }
    same
}
