//! Several jobs at once: grids, variations, folders of input images, and files that are changed.

use std::path::PathBuf;

use sluice_engine::{
    memory::Plan,
    output::Output,
    request::{
        Request, Variation,
        grid::{Grid, GridError},
    },
    session::{Command, Job, JobId},
};

use super::{Expected, NamedGroup, RecentId, Shown, State, folder_run::with_input};
use crate::{
    groups::{Group, seconds_of_another},
    window::action::InputUse,
};

/// Seconds of an image of a grid over the settings of `base`, which has this plan, after another one.
fn seconds_of_cell(plan: &Plan, cell: &Request, base: &Request) -> f64 {
    seconds_of_another(plan, cell.steps, share_of_cell(cell, base))
}

/// How many times as many pixels a cell has as the run that the plan is for.
fn share_of_cell(cell: &Request, base: &Request) -> f64 {
    let area = |request: &Request| request.result_size(1).map(f64::from).iter().product::<f64>();
    area(cell) / area(base) / f64::from(base.batch.max(1))
}

/// Variations that are generated at once.
const VARIATIONS: u32 = 4;

impl State {
    /// A job for a request, with the settings of the window.
    pub(super) fn job_of(&self, request: Request) -> Job {
        let output = &self.settings.output;
        let folder = self.surroundings.output_folder.clone();
        Job {
            output: folder.map(|folder| output.destination(folder)),
            codec: output.codec,
            quality: output.quality,
            previews: self.settings.previews,
            memory: self.settings.memory.preferences.clone(),
            ..Job::new(JobId(0), request)
        }
    }

    /// Shows what is generated next.
    pub(super) fn follow_jobs(&mut self) {
        self.images.follow = true;
        self.messages.notice = None;
        if self.jobs.running().is_some() {
            self.images.shown = Shown::Live;
        }
    }

    /// Uses a new seed unless it is locked.
    pub(super) fn take_seed(&mut self, new_seed: impl FnOnce() -> u64) {
        let draft = &mut self.settings.draft;
        if !draft.seed_locked && !draft.seed_is_fresh {
            draft.request.seed = new_seed();
        }
        draft.seed_is_fresh = false;
    }

    fn group(&self, group: Group) -> NamedGroup {
        let (model, family) = match self.summary() {
            Some(summary) => (summary.name.clone(), summary.family.clone()),
            None => (self.chosen_model().to_string(), String::new()),
        };
        NamedGroup { group, model, family }
    }

    /// Queues a job for each cell of a grid over the panel's settings.
    ///
    /// # Errors
    /// When a value cannot be applied to the settings.
    pub fn generate_grid(
        &mut self,
        grid: &Grid,
        new_seed: impl FnOnce() -> u64,
    ) -> Result<Vec<Command>, GridError> {
        let Some(folder) = self.surroundings.output_folder.clone().filter(|_| self.can_ask()) else {
            return Ok(Vec::new());
        };
        self.take_seed(new_seed);
        let request = self.to_send().into_owned();
        let cells = grid.cells(&request)?;
        self.settings.remember_prompt(&request.prompt);
        let encoding = self.job_of(request.clone()).encoding();
        let mut group = Group::of_grid(grid, &request, &cells, Output::Folder(folder)).encoded(encoding);
        let mut commands = Vec::with_capacity(cells.len());
        for cell in cells {
            let place = group.place(cell.at);
            let expected = self.expected_of(&cell.request, &request);
            let job = Job { group: Some(place.clone()), ..self.job_of(cell.request) };
            commands.push(self.jobs.add(job));
            self.jobs.expect(expected);
            group.add(self.jobs.newest(), place.place);
        }
        let group = self.group(group);
        self.jobs.groups.add(group);
        self.follow_jobs();
        Ok(commands)
    }

    /// Queues a job whose images are composed, too.
    pub(super) fn compose_batch(&mut self, job: Job) -> Command {
        let Some(folder) = self.surroundings.output_folder.clone() else { return self.jobs.add(job) };
        let mut group = Group::of_batch(&job.request, Output::Folder(folder)).encoded(job.encoding());
        let place = group.place([0; 3]);
        let command = self.jobs.add(Job { group: Some(place.clone()), ..job });
        group.add(self.jobs.newest(), place.place);
        let group = self.group(group);
        self.jobs.groups.add(group);
        command
    }

    /// Queues a job for each of these files, with what it is expected to take. Several are a group.
    pub(super) fn queue_files(&mut self, jobs: Vec<(Job, Option<Expected>)>) -> Vec<Command> {
        let mut group = match jobs.as_slice() {
            [(first, _), _, ..] => Some(Group::of_files(&first.request, jobs.len())),
            _ => None,
        };
        let mut commands = Vec::with_capacity(jobs.len());
        for (number, (job, expected)) in jobs.into_iter().enumerate() {
            let place = group.as_ref().map(|group| group.nth(number));
            commands.push(self.jobs.add(Job { group: place, ..job }));
            self.jobs.expect(expected);
            if let Some(group) = &mut group {
                group.add(self.jobs.newest(), number);
            }
        }
        if let Some(group) = group {
            let group = self.group(group);
            self.jobs.groups.add(group);
        }
        commands
    }

    /// About how many seconds the cells take: from the forecast for the panel's settings. Nothing is known about other models.
    pub fn seconds_of(&self, grid: &Grid) -> Option<f64> {
        let request = self.to_send();
        let (plan, cells) = (self.planning.plan()?, grid.cells(&request).ok()?);
        if cells.iter().any(|cell| cell.request.model != request.model) {
            return None;
        }
        let all: f64 = cells.iter().map(|cell| seconds_of_cell(plan, &cell.request, &request)).sum();
        // The first one loads the model.
        let loading = (plan.seconds - seconds_of_cell(plan, &request, &request)).max(0.0);
        Some(self.pace_here()? * (all + loading))
    }

    /// What a cell takes of a grid over the panel's settings, if that is known.
    fn expected_of(&self, cell: &Request, base: &Request) -> Option<Expected> {
        let plan = self.planning.plan().filter(|_| cell.model == base.model)?;
        let pace = self.pace_here()?;
        let next = pace * seconds_of_cell(plan, cell, base);
        let loading = pace * (plan.seconds - seconds_of_cell(plan, base, base)).max(0.0);
        let after = pace * seconds_of_another(plan, 0, share_of_cell(cell, base));
        Some(Expected { after, ..Expected::predicted(next + loading, next) })
    }

    /// Queues variations of an image: with other seeds or, with a strength, with noise near its own.
    pub fn vary(&mut self, id: RecentId, strength: Option<f32>, new_seed: impl Fn() -> u64) -> Vec<Command> {
        match self.images.recents.get(id).and_then(|recent| recent.request.clone()) {
            Some(of) => self.vary_request(&of, strength, new_seed),
            None => Vec::new(),
        }
    }

    /// The same with the request that generates an image.
    pub fn vary_request(
        &mut self,
        of: &Request,
        strength: Option<f32>,
        new_seed: impl Fn() -> u64,
    ) -> Vec<Command> {
        if self.engine.ended {
            return Vec::new();
        }
        let first = new_seed();
        let requests = (0..VARIATIONS).map(|number| {
            let seed = first.wrapping_add(number.into());
            match strength {
                Some(strength) => {
                    Request { variation: Some(Variation { seed, strength }), batch: 1, ..of.clone() }
                }
                None => Request { seed, variation: None, batch: 1, ..of.clone() },
            }
        });
        let requests: Vec<_> = requests.collect();
        let commands = requests
            .into_iter()
            .map(|request| {
                let job = self.job_of(request);
                self.jobs.add(job)
            })
            .collect();
        self.follow_jobs();
        commands
    }

    /// Queues a job for each of these input images of a folder, each with the file that it becomes, with what they are used as and the
    /// denoising strength. They are a group with the name of the folder.
    pub fn generate_from_folder(
        &mut self,
        folder: &str,
        images: Vec<(PathBuf, PathBuf)>,
        used: (InputUse, Option<f64>),
        new_seed: impl FnOnce() -> u64,
    ) -> Vec<Command> {
        if !self.can_ask() || images.is_empty() {
            return Vec::new();
        }
        self.take_seed(new_seed);
        let base = self.folder_base();
        self.settings.remember_prompt(&base.prompt);
        let mut commands = Vec::new();
        let mut group = Group::of_folder(folder, &base, images.len());
        for (place, (input, result)) in images.into_iter().enumerate() {
            let job = self.job_of(with_input(&base, input, used));
            let place = group.nth(place);
            let job = Job { output: Some(Output::File(result)), group: Some(place.clone()), ..job };
            commands.push(self.jobs.add(job));
            self.jobs.expect(self.expected());
            group.add(self.jobs.newest(), place.place);
        }
        let group = self.group(group);
        self.jobs.groups.add(group);
        self.follow_jobs();
        commands
    }
}
