//! Several engines that share the queue, and the one whose forecasts, hardware and timeline are shown.

use sluice_engine::{
    request::ModelSource,
    session::{Command, Failure, JobId, LaneChange, Serving},
};

use super::{ModelStatus, Progress, QueuedJob, State};
use crate::{
    engines::{Place, UsedEngine},
    language::tr,
};

/// One of several engines.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Lane {
    /// Its name; empty for that of this computer.
    pub name: String,
    /// Whether it takes jobs.
    pub phase: LanePhase,
    /// Models that it has.
    has: Vec<ModelSource>,
    /// Models that it cannot open, and why.
    lacks: Vec<(ModelSource, Failure)>,
}

/// Whether an engine takes jobs.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum LanePhase {
    /// It is being started.
    #[default]
    Starts,
    /// It does.
    Serves(Serving),
    /// It is being started again.
    Restarts(Failure),
    /// It does not any more.
    GivenUp(Failure),
}

impl Lane {
    /// One that is being started.
    pub fn named(name: String) -> Self {
        Self { name, ..Self::default() }
    }

    /// Its name in the window's language.
    pub fn title(&self) -> String {
        if self.name.is_empty() { tr!("engines-here") } else { self.name.clone() }
    }

    /// Why it does not have a model.
    pub fn lacks(&self, model: &ModelSource) -> Option<&Failure> {
        self.lacks.iter().find(|(lacking, _)| lacking == model).map(|(_, failure)| failure)
    }

    fn change(&mut self, change: LaneChange) {
        match change {
            LaneChange::Serves(serving) => self.phase = LanePhase::Serves(serving),
            LaneChange::Restarts(failure) => self.phase = LanePhase::Restarts(failure),
            LaneChange::GivenUp(failure) => self.phase = LanePhase::GivenUp(failure),
            LaneChange::Has(model) => {
                self.forget(&model);
                self.has.push(model);
            }
            LaneChange::Lacks(model, failure) => {
                self.forget(&model);
                self.lacks.push((model, failure));
            }
        }
    }

    /// What was known about a model.
    fn forget(&mut self, model: &ModelSource) {
        self.has.retain(|known| known != model);
        self.lacks.retain(|(lacking, _)| lacking != model);
    }
}

/// The engines, if there are several.
#[derive(Debug, Default)]
pub struct Lanes {
    /// In the order in which they get jobs; empty if there is one.
    pub all: Vec<Lane>,
    /// The names of those, or of the only one, that are elsewhere.
    elsewhere: Vec<Option<String>>,
    /// The one that is shown.
    shown: usize,
    /// The one that the user wants to see.
    chosen: usize,
    /// Whether another list of engines waits until the queue is empty.
    pub change_waits: bool,
}

impl Lanes {
    /// Several engines that are being started, or one, which needs no list.
    pub fn of(used: &[UsedEngine]) -> Self {
        let name = |used: &UsedEngine| matches!(used.place, Place::Elsewhere(_)).then(|| used.name.clone());
        let several = if used.len() > 1 { used } else { &[] };
        let all = several.iter().map(|used| Lane::named(used.name.clone())).collect();
        Self { all, elsewhere: used.iter().map(name).collect(), ..Self::default() }
    }

    /// The name of an engine that is elsewhere.
    pub fn name_elsewhere(&self, lane: usize) -> Option<&str> {
        self.elsewhere.get(lane)?.as_deref()
    }

    /// The engines elsewhere that are not given up.
    pub fn all_elsewhere(&self) -> impl Iterator<Item = usize> {
        let is_there = |lane: &Lane| !matches!(lane.phase, LanePhase::GivenUp(_));
        let lanes = (0..self.elsewhere.len()).filter(move |&place| self.elsewhere[place].is_some());
        lanes.filter(move |&place| self.all.get(place).is_none_or(is_there))
    }

    /// The first of them.
    pub fn first_elsewhere(&self) -> Option<usize> {
        self.all_elsewhere().next()
    }

    /// Whether no engine of this computer is used, whose models would be those of this computer.
    pub fn are_elsewhere(&self) -> bool {
        !self.elsewhere.is_empty() && self.elsewhere.iter().all(Option::is_some)
    }

    /// Whether the engine whose forecasts are shown is elsewhere.
    pub fn shown_is_elsewhere(&self) -> bool {
        self.name_elsewhere(self.shown).is_some()
    }

    /// The place of the engine that is shown, if there are several.
    pub fn shown(&self) -> Option<usize> {
        (!self.all.is_empty()).then_some(self.shown)
    }

    /// How many take jobs; 1 if there is one.
    pub fn serving(&self) -> usize {
        self.all.iter().filter(|lane| matches!(lane.phase, LanePhase::Serves(_))).count().max(1)
    }

    /// The engine that should be shown: the chosen one, or one that has the model instead of one that lacks it or is gone.
    fn best(&self, model: &ModelSource) -> usize {
        let is_there = |lane: &Lane| !matches!(lane.phase, LanePhase::GivenUp(_));
        let can = |place: usize| {
            self.all.get(place).is_some_and(|lane| is_there(lane) && lane.lacks(model).is_none())
        };
        let has = |place: usize| can(place) && self.all[place].has.contains(model);
        match can(self.chosen) {
            true => self.chosen,
            false => (0..self.all.len()).find(|&place| has(place)).unwrap_or(self.chosen),
        }
    }
}

impl State {
    /// The name of the engine that has a job, if there are several.
    pub fn lane_of(&self, job: &QueuedJob) -> Option<String> {
        self.lanes.all.get(job.lane?).map(Lane::title)
    }

    /// The job that an engine has, with its progress.
    pub fn job_at(&self, lane: usize) -> Option<(&QueuedJob, Option<&Progress>)> {
        let job = self.jobs.queue.iter().find(|job| job.lane == Some(lane))?;
        Some((job, job.progress.as_ref()))
    }

    /// Shows the forecasts, the hardware and the timeline of another engine.
    pub fn show_lane(&mut self, lane: usize) -> Option<Command> {
        if lane >= self.lanes.all.len() {
            return None;
        }
        self.lanes.chosen = lane;
        self.turn_to(lane)
    }

    fn turn_to(&mut self, lane: usize) -> Option<Command> {
        let before = std::mem::replace(&mut self.lanes.shown, lane);
        if before == lane {
            return None;
        }
        self.jobs.shown_lane = Some(lane);
        self.watches.turn(before, lane);
        (self.engine.hardware, self.engine.serving) = (None, None);
        self.planning.forget();
        self.tool_costs.forget();
        self.library.fits.renew();
        Some(Command::Show { lane })
    }

    pub(super) fn assigned(&mut self, job: JobId, lane: usize) {
        if let Some(job) = self.jobs.queue.iter_mut().find(|known| known.id == job) {
            job.lane = Some(lane);
        }
    }

    pub(super) fn lane_changed(&mut self, place: usize, change: LaneChange) {
        let Some(lane) = self.lanes.all.get_mut(place) else { return };
        let said_of = match &change {
            LaneChange::Restarts(failure) => Some((false, failure.clone())),
            LaneChange::GivenUp(failure) => Some((true, failure.clone())),
            LaneChange::Serves(_) | LaneChange::Has(_) | LaneChange::Lacks(..) => None,
        };
        lane.change(change);
        let name = lane.title();
        match said_of {
            Some((true, failure)) => {
                let list = self.forget_files_of(place);
                self.jobs.follow_with(list);
                self.messages.fail(&tr!("engines-given-up", name = name), failure);
            }
            Some((false, failure)) => {
                self.restarting(tr!("engines-restarted", name = name), Some(place), failure);
            }
            None => {}
        }
        let best = self.lanes.best(self.chosen_model());
        let turned = self.turn_to(best);
        self.jobs.follow_with(turned);
    }

    /// There are these engines.
    pub fn use_lanes(&mut self, lanes: Lanes) {
        self.lanes = lanes;
        self.jobs.shown_lane = self.lanes.shown();
    }

    /// Other engines take the place of those that there were.
    pub fn change_engines(&mut self, used: &[UsedEngine]) -> Command {
        self.use_lanes(Lanes::of(used));
        self.library.forget_lanes();
        self.watches = super::Watches::default();
        self.engine = super::Engine::default();
        self.planning.forget();
        self.tool_costs.forget();
        self.library.fits.forget();
        let model = self.chosen_model().clone();
        let adopts = self.model.adopt_defaults && self.model.status == ModelStatus::Loading;
        self.choose_model(model, adopts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_engine_said_last_of_a_model_is_kept_once() {
        let (mut lane, model) = (Lane::default(), ModelSource::Starter);
        let failure = |message: &str| Failure { message: message.to_owned(), advice: None };
        let lacks = |message: &str| LaneChange::Lacks(model.clone(), failure(message));
        for change in [lacks("not here"), lacks("damaged")] {
            lane.change(change);
        }
        assert_eq!((lane.lacks(&model), lane.lacks.len()), (Some(&failure("damaged")), 1));
        for _ in 0..2 {
            lane.change(LaneChange::Has(model.clone()));
        }
        assert_eq!((lane.lacks(&model), lane.has.len()), (None, 1));
    }
}
