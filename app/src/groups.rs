//! Jobs that belong together: their images are composed into one.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use sluice_engine::{
    memory::Plan,
    output::{Image, Media, NamedOutput, Output, OutputError, Settings, Sheet, write_png},
    request::{
        FrameRange, Request, SourceClip,
        grid::{Cell, Grid, GridLabels, GridRecord},
    },
    session::{JobId, Picture, StageKind},
    source::{self, read_clip},
};

/// Jobs whose images are composed into one.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    sheet: Sheet,
    /// The settings from which all differ.
    request: Request,
    record: Option<GridRecord>,
    /// The jobs that have not ended, with the place of their first image.
    open: BTreeMap<JobId, usize>,
    /// Those that have, so that a job which is queued again takes its place.
    ended: BTreeMap<JobId, usize>,
    output: Output,
}

impl Group {
    /// For the cells of a grid, without their jobs.
    pub fn of_grid(grid: &Grid, request: &Request, cells: &[Cell], output: Output) -> Self {
        let side = |of: fn(&Request) -> u32| cells.iter().map(|cell| of(&cell.request)).max().unwrap_or(1);
        let sheet =
            Sheet::new(grid.labels(), [side(|request| request.width), side(|request| request.height)]);
        Self::new(sheet, Request { batch: 1, ..request.clone() }, Some(grid.record()), output)
    }

    /// For the images of one job.
    pub fn of_batch(request: &Request, job: JobId, output: Output) -> Self {
        let labels = GridLabels::plain(request.batch as usize);
        let mut group =
            Self::new(Sheet::new(labels, [request.width, request.height]), request.clone(), None, output);
        group.open.insert(job, 0);
        group
    }

    fn new(sheet: Sheet, request: Request, record: Option<GridRecord>, output: Output) -> Self {
        Self { sheet, request, record, open: BTreeMap::new(), ended: BTreeMap::new(), output }
    }

    /// Adds the job of a cell.
    pub fn add(&mut self, job: JobId, at: [usize; 3]) {
        self.open.insert(job, self.sheet.place(at));
    }

    /// Whether a job belongs to it and has not ended.
    pub fn holds(&self, job: JobId) -> bool {
        self.open.contains_key(&job)
    }

    /// The jobs that have not ended.
    pub fn jobs(&self) -> impl Iterator<Item = JobId> {
        self.open.keys().copied()
    }

    /// Takes what a job has generated.
    pub fn finished(&mut self, job: JobId, pictures: &[Picture]) {
        let Some(first) = self.open.get(&job) else { return };
        for (file, picture) in self.sheet.files.iter_mut().skip(*first).zip(pictures) {
            file.clone_from(&picture.path);
        }
    }

    /// A job has ended. Returns whether it was the last one.
    pub fn ended(&mut self, job: JobId) -> bool {
        let Some(place) = self.open.remove(&job) else { return false };
        self.ended.insert(job, place);
        self.open.is_empty()
    }

    /// A job that has ended is queued again under another number.
    pub fn resumed(&mut self, before: JobId, job: JobId) {
        if let Some(place) = self.ended.remove(&before) {
            self.open.insert(job, place);
        }
    }

    /// How many of the jobs have ended, and how many there are.
    pub fn progress(&self) -> [usize; 2] {
        [self.ended.len(), self.ended.len() + self.open.len()]
    }

    /// The settings from which all differ.
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// Whether there is anything to compose.
    pub fn has_images(&self) -> bool {
        self.sheet.files.iter().any(Option::is_some)
    }

    /// Composes the images and writes the result.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, model: &str, family: &str) -> Result<(PathBuf, Image), OutputError> {
        let composed = self.sheet.compose(first_image);
        let settings =
            Settings { grid: self.record.clone(), ..Settings::new(&self.request, model, family, 0) };
        let path = match &self.output {
            Output::Folder(folder) | Output::Named(NamedOutput { folder, .. }) => {
                Sheet::save_in(folder, composed.clone(), &settings)?
            }
            Output::File(path) => {
                write_png(path, &Media::Image(composed.clone()), &settings)?;
                path.clone()
            }
        };
        Ok((path, composed))
    }
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
