//! What is done: a record for each job beside its images, and one index of all.

use std::{
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use sluice_engine::session::Picture;
use tempfile::NamedTempFile;

use super::tasks::{JobHash, Task};
use crate::orders::{Given, Order};

/// The index of all jobs that are done.
const INDEX: &str = "index.jsonl";

/// A job that is done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The job's hash.
    pub job: String,
    /// Its line in the file of jobs.
    pub line: usize,
    /// What was ordered, without the bytes of pictures.
    pub order: Order,
    /// Its images or clips, in the folder of the record.
    pub files: Vec<PathBuf>,
    /// Their seeds.
    pub seeds: Vec<u64>,
    /// How long it took.
    pub seconds: f64,
}

/// The folder of the results of a batch.
#[derive(Debug, Clone)]
pub struct Records {
    folder: PathBuf,
}

impl Records {
    /// In a folder, which is created.
    ///
    /// # Errors
    /// When that is not possible.
    pub fn in_folder(folder: &Path) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        Ok(Self { folder: folder.to_owned() })
    }

    /// The file of a job's first image or clip.
    pub fn result(&self, job: JobHash, extension: &str) -> PathBuf {
        self.folder.join(format!("{job}.{extension}"))
    }

    fn record(&self, job: JobHash) -> PathBuf {
        self.folder.join(format!("{job}.json"))
    }

    /// The record of a job whose files are there.
    pub fn done(&self, job: JobHash) -> Option<Record> {
        let text = fs::read_to_string(self.record(job)).ok()?;
        let record: Record = serde_json::from_str(&text).ok()?;
        let is_there = |file: &PathBuf| self.folder.join(file).exists();
        (!record.files.is_empty() && record.files.iter().all(is_there)).then_some(record)
    }

    /// Records that a job is done, in one piece or not at all: another process may look at any moment.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn add(&self, task: &Task, pictures: &[Picture], seconds: f64) -> io::Result<()> {
        let names = pictures.iter().filter_map(|picture| picture.path.as_ref()?.file_name());
        let record = Record {
            job: task.hash.to_string(),
            line: task.line,
            order: without_bytes(task.order.clone()),
            files: names.map(PathBuf::from).collect(),
            seeds: pictures.iter().map(|picture| picture.seed).collect(),
            seconds,
        };
        let text = serde_json::to_string_pretty(&record).map_err(io::Error::other)?;
        self.write(&self.record(task.hash), &text)
    }

    /// Writes one index of all jobs that are done, in the order of the file of jobs. Returns its path, and the jobs that are
    /// missing.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn merge<'t>(&self, tasks: &'t [Task]) -> io::Result<(PathBuf, Vec<&'t Task>)> {
        let (mut text, mut missing) = (String::new(), Vec::new());
        for task in tasks {
            match self.done(task.hash) {
                Some(record) => {
                    text += &serde_json::to_string(&record).map_err(io::Error::other)?;
                    text.push('\n');
                }
                None => missing.push(task),
            }
        }
        let path = self.folder.join(INDEX);
        self.write(&path, &text)?;
        Ok((path, missing))
    }

    fn write(&self, path: &Path, text: &str) -> io::Result<()> {
        let mut file = NamedTempFile::new_in(&self.folder)?;
        file.write_all(text.as_bytes())?;
        file.as_file().sync_all()?;
        file.persist(path)?;
        Ok(())
    }
}

/// The order with names of pictures, but not with pictures in base64, which would fill the index.
fn without_bytes(mut order: Order) -> Order {
    const LONGEST: usize = 1024;
    for given in order.given_mut().filter(|given| given.0.len() > LONGEST) {
        *given = Given(format!("{} bytes in base64", given.0.len()));
    }
    order
}

#[cfg(test)]
mod tests {
    use sluice_engine::output::{Image, Media};

    use super::*;
    use crate::{cli::batch::tasks::Folders, orders::RegionOrder};

    fn picture(path: &Path) -> Picture {
        Picture { media: Media::Image(Image::opaque(1, 1, vec![0; 3])), seed: 7, path: Some(path.to_owned()) }
    }

    fn task(prompt: &str) -> Task {
        let order = Order { prompt: prompt.to_owned(), seed: Some(7), ..Order::default() };
        let hash = JobHash::of(&order, Path::new("/nowhere"), &mut Folders::default()).unwrap();
        Task { order, hash, line: 3 }
    }

    #[test]
    fn a_job_is_done_when_its_record_and_its_files_are_there() {
        let folder = tempfile::tempdir().unwrap();
        let records = Records::in_folder(folder.path()).unwrap();
        let (one, other) = (task("one"), task("other"));
        assert_eq!(records.done(one.hash), None);
        let path = records.result(one.hash, "png");
        records.add(&one, &[picture(&path)], 1.5).unwrap();
        assert_eq!(records.done(one.hash), None, "the image is missing");
        fs::write(&path, "an image").unwrap();
        let record = records.done(one.hash).unwrap();
        assert_eq!((record.line, record.seeds.as_slice(), record.seconds), (3, &[7][..], 1.5));

        let tasks = [other.clone(), one.clone()];
        let (index, missing) = records.merge(&tasks).unwrap();
        assert_eq!(missing, [&other]);
        let text = fs::read_to_string(index).unwrap();
        assert_eq!(serde_json::from_str::<Record>(&text).unwrap(), record);
        fs::write(records.record(one.hash), "{").unwrap();
        assert_eq!(records.done(one.hash), None, "half a record is none");
    }

    #[test]
    fn pictures_are_not_repeated_in_records() {
        let long = Order { image: Some(Given("A".repeat(5000))), ..Order::default() };
        assert_eq!(without_bytes(long).image.unwrap().0, "5000 bytes in base64");
        let region = RegionOrder { mask: Some(Given("A".repeat(5000))), ..RegionOrder::default() };
        let long = Order { regions: vec![region], ..Order::default() };
        assert_eq!(without_bytes(long).regions[0].mask.as_ref().unwrap().0, "5000 bytes in base64");
        let short = Order { image: Some(Given("a.png".to_owned())), ..Order::default() };
        assert_eq!(without_bytes(short.clone()), short);
    }
}
