//! Jobs that belong together: the cells of a grid, whose images are composed into one, the input images of a folder, or files that
//! are changed.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicU64, Ordering},
    time::{SystemTime, UNIX_EPOCH},
};

use serde::{Deserialize, Serialize};
use sluice_engine::{
    memory::Plan,
    output::{
        Clip, Drawn, Encoding, Image, Media, NamedOutput, Output, OutputError, Settings, Sheet, write_media,
    },
    request::{
        Fit, FrameRange, Request, SourceClip,
        grid::{Cell, Grid, GridLabels, GridRecord},
    },
    session::{GroupPlace, JobId, Picture, StageKind},
    source::{self, is_image_name, read_clip},
};

use crate::fonts;

/// What the jobs of a group have in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GroupKind {
    /// Their images are composed into one.
    Grid,
    /// Their input images are in a folder with this name.
    Folder(String),
    /// Each changes or describes a file.
    Files,
}

/// Jobs that belong together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// A name that no other group has, not even one of another session.
    id: String,
    sheet: Sheet,
    /// The settings from which all differ.
    request: Request,
    record: Option<GridRecord>,
    /// Where the composed image goes.
    output: Output,
    /// How it is encoded.
    #[serde(default)]
    encoding: Encoding,
    /// The name of the folder whose images these are. They are not composed.
    #[serde(default)]
    folder: Option<String>,
    /// Whether each job changes or describes a file. What comes of it is not composed.
    #[serde(default)]
    are_files: bool,
    /// The jobs that have not ended, with the place of their first image.
    #[serde(skip)]
    open: BTreeMap<JobId, usize>,
    /// Those that have, so that a job which is queued again takes its place.
    #[serde(skip)]
    ended: BTreeMap<JobId, usize>,
    /// Images of a previous session.
    #[serde(skip)]
    earlier: usize,
}

impl Group {
    /// For the cells of a grid, without their jobs.
    pub fn of_grid(grid: &Grid, request: &Request, cells: &[Cell], output: Output) -> Self {
        let side = |axis: usize| cells.iter().map(|cell| size_of(&cell.request)[axis]).max().unwrap_or(1);
        let sheet = Sheet::new(grid.labels(), [0, 1].map(side));
        Self::new(sheet, Request { batch: 1, ..request.clone() }, Some(grid.record()), output)
    }

    /// For the images of one job, without the job.
    pub fn of_batch(request: &Request, output: Output) -> Self {
        let labels = GridLabels::plain(request.batch as usize);
        Self::new(Sheet::new(labels, size_of(request)), request.clone(), None, output)
    }

    /// For the images of a folder, without their jobs.
    pub fn of_folder(name: &str, request: &Request, count: usize) -> Self {
        Self { folder: Some(name.to_owned()), ..Self::apart(request, count) }
    }

    /// For files of which each is changed or described, without their jobs.
    pub fn of_files(request: &Request, count: usize) -> Self {
        Self { are_files: true, ..Self::apart(request, count) }
    }

    /// For images that are not composed.
    fn apart(request: &Request, count: usize) -> Self {
        let sheet = Sheet::new(GridLabels::plain(count), size_of(request));
        Self::new(sheet, request.clone(), None, Output::Folder(PathBuf::new()))
    }

    fn new(sheet: Sheet, request: Request, record: Option<GridRecord>, output: Output) -> Self {
        Self {
            id: new_id(),
            sheet,
            request,
            record,
            output,
            encoding: Encoding::default(),
            folder: None,
            are_files: false,
            open: BTreeMap::new(),
            ended: BTreeMap::new(),
            earlier: 0,
        }
    }

    /// The same whose composed image is encoded as those of its jobs are.
    pub fn encoded(self, encoding: Encoding) -> Self {
        Self { encoding, ..self }
    }

    /// Its name.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The place of a cell.
    pub fn place(&self, at: [usize; 3]) -> GroupPlace {
        GroupPlace { group: self.id.clone(), place: self.sheet.place(at) }
    }

    /// The place of an image of a folder, or of a file.
    pub fn nth(&self, place: usize) -> GroupPlace {
        GroupPlace { group: self.id.clone(), place }
    }

    /// What its jobs have in common.
    pub fn kind(&self) -> GroupKind {
        match &self.folder {
            Some(name) => GroupKind::Folder(name.clone()),
            None if self.are_files => GroupKind::Files,
            None => GroupKind::Grid,
        }
    }

    /// Adds a job, with the place of its first image.
    pub fn add(&mut self, job: JobId, place: usize) {
        self.open.insert(job, place);
    }

    /// Takes the files that a previous session has written down: those of each job from its place on.
    pub fn restore(&mut self, drawn: impl IntoIterator<Item = (usize, Vec<Option<PathBuf>>)>) {
        for (place, files) in drawn {
            for (own, file) in self.sheet.files.iter_mut().skip(place).zip(files) {
                *own = file;
            }
        }
        self.earlier = self.sheet.files.iter().flatten().count();
    }

    /// Whether a job belongs to it and has not ended.
    pub fn holds(&self, job: JobId) -> bool {
        self.open.contains_key(&job)
    }

    /// The jobs that have not ended.
    pub fn jobs(&self) -> impl Iterator<Item = JobId> {
        self.open.keys().copied()
    }

    /// Takes what a job has generated. Returns the place of its first image, if the job belongs to it.
    pub fn finished(&mut self, job: JobId, pictures: &[Picture]) -> Option<usize> {
        let first = *self.open.get(&job)?;
        for (file, picture) in self.sheet.files.iter_mut().skip(first).zip(pictures) {
            file.clone_from(&picture.path);
        }
        Some(first)
    }

    /// A job has ended. Returns whether it was the last one.
    pub fn ended(&mut self, job: JobId) -> bool {
        let Some(place) = self.open.remove(&job) else { return false };
        self.ended.insert(job, place);
        self.open.is_empty()
    }

    /// A job that has ended is queued again under another number. Returns whether all others have ended, too.
    pub fn resumed(&mut self, before: JobId, job: JobId) -> bool {
        let Some(place) = self.ended.remove(&before) else { return false };
        self.open.insert(job, place);
        self.open.len() == 1
    }

    /// How many of the jobs have ended, and how many there are.
    pub fn progress(&self) -> [usize; 2] {
        let ended = self.earlier + self.ended.len();
        [ended, ended + self.open.len()]
    }

    /// The settings from which all differ.
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// Whether there is anything to compose.
    pub fn has_images(&self) -> bool {
        self.kind() == GroupKind::Grid && self.sheet.files.iter().any(Option::is_some)
    }

    /// Composes the images, or the clips if there are any, and writes the result.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, model: &str, family: &str) -> Result<Composed, OutputError> {
        let media = self.composed();
        let settings =
            Settings { grid: self.record.clone(), ..Settings::new(&self.request, model, family, 0) };
        let path = match &self.output {
            Output::Folder(folder) | Output::Named(NamedOutput { folder, .. }) => {
                Sheet::save_in(folder, &media, &settings, self.encoding)?
            }
            Output::File(path) => {
                // Clips whose frames cannot be read here are composed into an image of their first ones.
                let fits = media.is_clip() || is_image_name(path);
                let path = if fits { path.clone() } else { path.with_extension("png") };
                write_media(&path, &media, &settings, self.encoding)?;
                path
            }
        };
        let (frames, rate) = (media.frames().len() as u32, self.request.frame_rate);
        let (rate, first) = match media {
            Media::Clip(clip) => (clip.rate, clip.frames.into_iter().next()),
            Media::Image(image) => (rate, Some(image)),
        };
        Ok(Composed { path, first, frames, rate })
    }

    fn composed(&self) -> Media {
        let clips: Vec<_> = self.sheet.files.iter().flatten().filter_map(|path| clip_info(path)).collect();
        let rate = clips.iter().map(|clip| clip.rate as f32).fold(0.0, f32::max);
        let frames = |clip: &source::ClipInfo| (clip.seconds * f64::from(rate)).round() as usize;
        match clips.iter().map(frames).max() {
            Some(longest) if longest > 1 => {
                let read = |path: &Path, drawn: Drawn<'_>| frames_of(path, rate, drawn);
                let frames = self.sheet.compose_clip(longest, read, fonts::finder());
                Media::Clip(Clip::silent(frames, rate))
            }
            _ => Media::Image(self.sheet.compose(first_image, fonts::finder())),
        }
    }
}

/// What a group became.
#[derive(Debug)]
pub struct Composed {
    /// Its file.
    pub path: PathBuf,
    /// The image, or the first frame of the clip.
    pub first: Option<Image>,
    /// The number of frames: 1 for an image.
    pub frames: u32,
    /// Frames per second.
    pub rate: f32,
}

fn new_id() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_micros();
    format!("{since}-{}-{}", process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

/// What is known about a clip whose frames can be read.
fn clip_info(path: &Path) -> Option<source::ClipInfo> {
    source::ClipInfo::open(path).ok().flatten().filter(|clip| clip.frames > 1 && clip.rate > 0.0)
}

/// The frames of a clip at a rate, or an image, in the size in which they are drawn.
fn frames_of(path: &Path, rate: f32, drawn: Drawn<'_>) -> Vec<Image> {
    let Some(info) = clip_info(path) else {
        return first_image(path).and_then(|image| Sheet::fitted(image, drawn)).into_iter().collect();
    };
    let [width, height] = drawn([info.width, info.height]);
    let clip = SourceClip { path: path.to_owned(), fit: Fit::Stretch, ..SourceClip::default() };
    read_clip(&clip, Some(rate), (width, height)).unwrap_or_else(|error| {
        tracing::warn!(path = %path.display(), %error, "a cell of the grid stays empty");
        Vec::new()
    })
}

/// An image, or the first frame of a clip.
fn first_image(path: &Path) -> Option<Image> {
    let first_frame = || {
        let range = FrameRange { start: 0, end: Some(1) };
        let clip = SourceClip { path: path.to_owned(), range, ..SourceClip::default() };
        let info = source::ClipInfo::open(path).ok()??;
        read_clip(&clip, None, (info.width, info.height)).ok()?.into_iter().next()
    };
    let image = source::read(path).ok().or_else(first_frame);
    if image.is_none() {
        tracing::warn!(path = %path.display(), "a cell of the grid stays empty");
    }
    image
}

/// The seconds of a run whose model was used by the run before, with another number of steps, and with so many times as many
/// pixels.
pub fn seconds_of_another(plan: &Plan, steps: u32, pixels: f64) -> f64 {
    let rest = plan.stages.iter().filter(|stage| stage.stage.kind == StageKind::Decode);
    let rest: f64 = rest.map(|stage| stage.seconds).sum();
    pixels * (plan.seconds_per_step * f64::from(steps) + rest)
}
/// What sizes are a multiple of with most models.
const MULTIPLE: u32 = 16;

/// Width and height of what a request makes, to within what the sizes of its model are a multiple of.
fn size_of(request: &Request) -> [u32; 2] {
    request.result_size(MULTIPLE)
}
