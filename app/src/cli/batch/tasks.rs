//! The lines of a batch: orders, and grids of orders.

use std::{
    collections::{HashMap, HashSet, hash_map::Entry},
    fmt, fs, io,
    path::{Path, PathBuf},
};

use serde_json::{Map, Value};
use sluice_engine::output::InputMark;

use crate::{input_folder::images_named_in, orders::Order};

/// The most jobs that one line may become.
const MOST_OF_A_LINE: usize = 1_000_000;

/// Identifies a job by what is ordered: the same order has the same one, on every machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct JobHash(u128);

impl JobHash {
    /// Of an order, and of the pictures and clips that it names; of a folder of frames, their names and marks. `folders` are those
    /// that other orders name.
    ///
    /// # Errors
    /// When a picture cannot be read.
    pub fn of(order: &Order, base: &Path, folders: &mut Folders) -> Result<Self, TaskError> {
        // Fields have a fixed order, so the text is the same for the same order.
        let text = serde_json::to_string(order).unwrap_or_default();
        let mut hash = Fnv::default();
        hash.add(text.as_bytes());
        for given in order.given().filter(|given| !given.0.is_empty()) {
            let path = base.join(&given.0);
            let failed = |cause| TaskError::Read { path: path.clone(), cause };
            if path.is_file() {
                hash.add(&fs::read(&path).map_err(failed)?);
            } else if path.is_dir() {
                hash.add(folders.of(&path).map_err(failed)?);
            }
        }
        Ok(Self(hash.0))
    }

    /// A seed for an order that has none: the same whenever it runs.
    pub fn seed(self) -> u64 {
        (self.0 >> 96) as u64
    }
}

impl fmt::Display for JobHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// What folders of frames add to hashes. Reading all frames for each job would take long.
#[derive(Debug, Default)]
pub struct Folders(HashMap<PathBuf, Vec<u8>>);

impl Folders {
    /// The names and marks of the frames in a folder.
    fn of(&mut self, folder: &Path) -> io::Result<&[u8]> {
        let known = match self.0.entry(folder.to_owned()) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(marks_in(folder)?),
        };
        Ok(known.as_slice())
    }
}

fn marks_in(folder: &Path) -> io::Result<Vec<u8>> {
    let mut all = Vec::new();
    for frame in images_named_in(folder)? {
        let InputMark { bytes, sha256 } = InputMark::of(&frame)?;
        all.extend(frame.file_name().unwrap_or_default().as_encoded_bytes());
        // No name has a slash.
        all.extend(format!("/{bytes}/{sha256}/").into_bytes());
    }
    Ok(all)
}

/// FNV-1a with 128 bits: no two of billions of orders have the same one by chance.
struct Fnv(u128);

impl Default for Fnv {
    fn default() -> Self {
        Self(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }
}

impl Fnv {
    fn add(&mut self, bytes: &[u8]) {
        const PRIME: u128 = (1 << 88) + 0x13b;
        for byte in bytes {
            self.0 = (self.0 ^ u128::from(*byte)).wrapping_mul(PRIME);
        }
        // Keeps apart what would be the same if it were joined.
        self.0 = self.0.wrapping_mul(PRIME);
    }
}

/// A job of a batch.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    /// What is ordered, with a seed.
    pub order: Order,
    /// Its name among results.
    pub hash: JobHash,
    /// Its line, from 1.
    pub line: usize,
}

/// Why a batch cannot be read. [`TaskError::advice`] says what to do.
#[derive(Debug, thiserror::Error)]
pub enum TaskError {
    /// A file cannot be read.
    #[error("{} cannot be read: {cause}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// A line is no order.
    #[error("line {line} is no job: {detail}")]
    Line {
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        detail: String,
    },
    /// A line becomes too many jobs.
    #[error("line {line} is more than {most} jobs")]
    TooMany {
        /// The line, from 1.
        line: usize,
        /// How many it may be.
        most: usize,
    },
    /// There is nothing to do.
    #[error("{} has no jobs", .path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
}

impl TaskError {
    /// What the person can do about it.
    pub fn advice(&self) -> &'static str {
        match self {
            Self::Read { .. } => "Check the path.",
            Self::Line { .. } | Self::Empty { .. } => {
                "Write one JSON object per line, such as {\"prompt\": \"a fox\", \"seed\": 7}; empty lines and lines that \
                 begin with # are left out."
            }
            Self::TooMany { .. } => "Shorten its matrix.",
        }
    }
}

/// The jobs of a file, in its order. The same order twice is one job. Paths of pictures begin at `base`.
///
/// # Errors
/// When the file cannot be read, or a line is no order.
pub fn read(path: &Path, base: &Path) -> Result<Vec<Task>, TaskError> {
    let text = fs::read_to_string(path).map_err(|cause| TaskError::Read { path: path.to_owned(), cause })?;
    let tasks = parse(&text, base, MOST_OF_A_LINE)?;
    if tasks.is_empty() { Err(TaskError::Empty { path: path.to_owned() }) } else { Ok(tasks) }
}

/// The jobs of a text, as [`read`] gives them, of which one line may be no more than `most`.
///
/// # Errors
/// When a line is no order, or a picture cannot be read.
pub fn parse(text: &str, base: &Path, most: usize) -> Result<Vec<Task>, TaskError> {
    let mut tasks = Vec::new();
    let (mut known, mut folders) = (HashSet::new(), Folders::default());
    for (line, text) in (1..).zip(text.lines()) {
        if text.trim().is_empty() || text.trim_start().starts_with('#') {
            continue;
        }
        for order in orders_of(text, line, most)? {
            let hash = JobHash::of(&order, base, &mut folders)?;
            let order = Order { seed: Some(order.seed.unwrap_or_else(|| hash.seed())), ..order };
            if known.insert(hash) {
                tasks.push(Task { order, hash, line });
            }
        }
    }
    Ok(tasks)
}

/// The orders of a line: one, or one for each combination of its matrix.
fn orders_of(text: &str, line: usize, most: usize) -> Result<Vec<Order>, TaskError> {
    let wrong = |detail: String| TaskError::Line { line, detail };
    let mut fields: Map<String, Value> =
        serde_json::from_str(text).map_err(|error| wrong(error.to_string()))?;
    let matrix = match fields.remove("matrix") {
        None => Map::new(),
        Some(Value::Object(matrix)) => matrix,
        Some(other) => return Err(wrong(format!("its matrix {other} is no object of lists"))),
    };
    let mut all = vec![fields];
    for (name, values) in matrix {
        let values = values_of(&values, most).ok_or_else(|| {
            wrong(format!(
                "`{name}` of its matrix is neither a list nor a range such as {{\"from\": 1, \"to\": 9}}"
            ))
        })?;
        if all.len().saturating_mul(values.len()) > most {
            return Err(TaskError::TooMany { line, most });
        }
        let with = |fields: &Map<String, Value>, value: &Value| {
            let mut fields = fields.clone();
            match value {
                // Settings that change together.
                Value::Object(together) if name.starts_with('+') => fields.extend(together.clone()),
                value => drop(fields.insert(name.clone(), value.clone())),
            }
            fields
        };
        all = all.iter().flat_map(|fields| values.iter().map(|value| with(fields, value))).collect();
    }
    let order =
        |fields| serde_json::from_value(Value::Object(fields)).map_err(|error| wrong(error.to_string()));
    all.into_iter().map(order).collect()
}

/// A list, or the whole numbers of a range with both ends, of which more than `most` are too many.
fn values_of(values: &Value, most: usize) -> Option<Vec<Value>> {
    match values {
        Value::Array(values) => Some(values.clone()),
        Value::Object(range) if range.keys().all(|key| ["from", "to", "by"].contains(&key.as_str())) => {
            let [from, to] = ["from", "to"].map(|end| range.get(end).and_then(Value::as_u64));
            let by = range.get("by").map_or(Some(1), Value::as_u64).filter(|by| *by > 0)?;
            let range = (from?..=to?).step_by(usize::try_from(by).ok()?);
            Some(range.take(most + 1).map(Value::from).collect())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str, base: &Path) -> Result<Vec<Task>, TaskError> {
        super::parse(text, base, MOST_OF_A_LINE)
    }

    fn tasks(text: &str) -> Vec<Task> {
        parse(text, Path::new("/nowhere")).unwrap()
    }

    #[test]
    fn lines_are_orders_and_grids_of_orders() {
        let text = r##"
            # a comment
            {"prompt": "a fox", "seed": 7}

            {"steps": 4, "matrix": {"prompt": ["a fox", "a wolf"], "seed": {"from": 1, "to": 5, "by": 2}}}
            {"prompt": "a fox", "seed": 7}
            {"prompt": "a", "matrix": {"+size": [{"width": 64, "height": 64}, {"width": 128, "height": 64}]}}
        "##;
        let all = tasks(text);
        let short: Vec<_> = all
            .iter()
            .map(|task| (task.line, task.order.prompt.as_str(), task.order.seed.unwrap(), task.order.width))
            .collect();
        assert_eq!(
            short[..7],
            [
                (3, "a fox", 7, None),
                (5, "a fox", 1, None),
                (5, "a fox", 3, None),
                (5, "a fox", 5, None),
                (5, "a wolf", 1, None),
                (5, "a wolf", 3, None),
                (5, "a wolf", 5, None),
            ]
        );
        assert_eq!(all.len(), 9);
        assert_eq!((all[7].order.width, all[8].order.width), (Some(64), Some(128)));
    }

    #[test]
    fn an_order_has_the_same_hash_and_seed_everywhere() {
        let [one] = &tasks(r#"{"prompt": "a fox", "steps": 4}"#)[..] else { panic!() };
        let [other] = &tasks(r#"{ "steps": 4, "prompt": "a fox" }"#)[..] else { panic!() };
        assert_eq!(one, other);
        // Results that were made before would be made again if this changed.
        assert_eq!(one.hash.to_string(), "da3a7ffcfd8e9e967f72c967fe481e8a");
        assert_eq!(one.order.seed, Some(one.hash.seed()));
        let [changed] = &tasks(r#"{"prompt": "a fox", "steps": 5}"#)[..] else { panic!() };
        assert_ne!(changed.hash, one.hash);
    }

    #[test]
    fn a_changed_picture_is_another_job() {
        let folder = tempfile::tempdir().unwrap();
        let line = r#"{"prompt": "a fox", "image": "a.png"}"#;
        let hash = |bytes: &[u8]| {
            fs::write(folder.path().join("a.png"), bytes).unwrap();
            parse(line, folder.path()).unwrap()[0].hash
        };
        let one = hash(b"one");
        assert_ne!(one, hash(b"other"));
        assert_eq!(one, hash(b"one"));
    }

    #[test]
    fn every_file_that_is_named_is_part_of_the_hash() {
        let folder = tempfile::tempdir().unwrap();
        let line = r#"{"image": "image", "mask": {"image": "mask"}, "references": ["reference"],
            "control_nets": [{"model": "canny", "image": "net"}],
            "image_prompts": [{"adapter": "face", "images": ["prompt"]}],
            "control": {"video": "video", "mask": "control mask"},
            "regions": [{"prompt": "a fox", "mask": "region"}, {"prompt": "an owl", "mask": "other region"}]}"#
            .replace('\n', " ");
        let names = ["image", "mask", "reference", "net", "prompt", "video", "control mask", "region"];
        let hash = |changed: &str| {
            for name in names.into_iter().chain(["other region"]) {
                fs::write(folder.path().join(name), if name == changed { "changed" } else { name }).unwrap();
            }
            parse(&line, folder.path()).unwrap()[0].hash
        };
        let usual = hash("none");
        for name in names {
            assert_ne!(hash(name), usual, "{name}");
        }
        assert_ne!(hash("region"), hash("other region"));
        assert_eq!(hash("none"), usual);
    }

    #[test]
    fn the_frames_of_a_folder_are_part_of_the_hash() {
        let folder = tempfile::tempdir().unwrap();
        let frames = folder.path().join("walk");
        fs::create_dir(&frames).unwrap();
        let hash = || parse(r#"{"control": {"video": "walk"}}"#, folder.path()).unwrap()[0].hash;
        fs::write(frames.join("0.png"), "one").unwrap();
        let one = hash();
        fs::write(frames.join("1.png"), "two").unwrap();
        let two = hash();
        fs::write(frames.join("1.png"), "longer").unwrap();
        let longer = hash();
        fs::write(frames.join("1.png"), "LONGER").unwrap();
        assert!(one != two && two != longer && longer != hash(), "of the same length, too");
    }

    #[test]
    fn lines_that_are_no_orders_are_named() {
        for (text, words) in [
            ("{\"prompt\": \"a\"}\n{", "line 2"),
            (r#"{"promt": "a"}"#, "unknown field `promt`"),
            (r#"{"matrix": 3}"#, "no object"),
            (r#"{"matrix": {"seed": 3}}"#, "neither a list nor a range"),
            (r#"{"matrix": {"seed": {"from": 0, "to": 9, "by": 0}}}"#, "neither a list nor a range"),
            (r#"{"matrix": {"seed": {"from": 0, "to": 99999999999}}}"#, "more than 1000000 jobs"),
        ] {
            let error = parse(text, Path::new("/nowhere")).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }
}
