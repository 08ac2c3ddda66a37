//! Which results of several files are there already, so that they are left out. No drawing and no I/O.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use sluice_engine::source::GivenMedia;

use super::{FileChange, State, Upscaling};
use crate::{detailing, interpolating, upscaling};

/// A result as it is called unless another file has its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultOf {
    /// The file that is changed.
    pub input: PathBuf,
    /// The result.
    pub result: PathBuf,
}

/// The networks that made results of each file, as far as these say so.
pub type Makers = BTreeMap<PathBuf, Vec<Option<String>>>;

/// Results that are there already.
#[derive(Debug, Default)]
pub struct MadeBefore {
    /// The first of the results that were looked for last: all have the same scale and folder.
    first: Option<PathBuf>,
    /// What was found; absent while it is looked for.
    makers: Option<Makers>,
}

/// What is counted of the files, so that no frame goes through all of them.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// Which of the measured files are done, in their order.
    done: Vec<bool>,
    /// The place of the largest file that is changed, or of all if none is.
    pub(super) largest: Option<usize>,
    /// How much there is to do with all that are changed.
    pub(super) work: f64,
    /// How many are done.
    count: usize,
}

impl Upscaling {
    /// Whether results that are there are looked for. One file is changed as often as somebody wants, and details are another choice
    /// each time.
    fn leaves_out(&self) -> bool {
        self.change != FileChange::Detail && (self.results.is_some() || self.inputs.len() > 1)
    }

    /// Whether results are being looked for.
    pub(super) fn is_looking(&self) -> bool {
        self.made_before.first.is_some() && self.made_before.makers.is_none()
    }

    /// Whether the network of the last forecast has made the result of a file.
    fn is_done(&self, path: &Path) -> bool {
        let makers = self.made_before.makers.as_ref().and_then(|makers| makers.get(path));
        let (Some(makers), Some(forecast)) = (makers, self.planning.forecast()) else { return false };
        makers.iter().any(|maker| maker.as_ref().is_none_or(|maker| *maker == forecast.model))
    }

    /// How many files are done.
    pub fn done(&self) -> usize {
        self.tally.count
    }

    /// The files that are changed: those that are not done, or all.
    pub fn wanted(&self) -> impl Iterator<Item = (&Path, &GivenMedia)> {
        let measured = self.measured.iter().flatten().zip(&self.tally.done);
        let wanted = measured.filter(move |(_, is_done)| self.again || !**is_done);
        wanted.filter_map(|((path, given), _)| Some((path.as_path(), given.as_ref().ok()?)))
    }

    /// Counts again, after the files, their results, the forecast or the choice about those that are done have changed.
    pub(super) fn recount(&mut self) {
        let measured = self.measured.as_deref().unwrap_or_default();
        let done: Vec<bool> =
            measured.iter().map(|(path, given)| given.is_ok() && self.is_done(path)).collect();
        let known = measured.iter().enumerate();
        let known: Vec<(usize, &GivenMedia)> =
            known.filter_map(|(place, (_, given))| Some((place, given.as_ref().ok()?))).collect();
        let wanted = known.iter().copied().filter(|(place, _)| self.again || !done[*place]);
        let wanted: Vec<(usize, &GivenMedia)> = wanted.collect();
        let size = |(_, given): &&(usize, &GivenMedia)| given.size.map(u64::from).iter().product::<u64>();
        let largest = wanted.iter().max_by_key(size).or_else(|| known.iter().max_by_key(size));
        let largest = largest.map(|(place, _)| *place);
        let work: f64 = wanted.iter().map(|(_, given)| self.work(given)).sum();
        let count = done.iter().filter(|is_done| **is_done).count();
        self.tally = Tally { done, largest, work, count };
    }
}

impl State {
    /// The result of a file as it is called unless another file has its name.
    pub(super) fn result_of(&self, asked: &Upscaling, path: &Path, given: &GivenMedia) -> PathBuf {
        let name = match asked.change {
            FileChange::Enlarge => {
                upscaling::name_of_result(path, self.settings.upscale.scale, given.clip.is_some())
            }
            FileChange::Interpolate => interpolating::name_of_result(path, self.settings.interpolate.factor),
            FileChange::Detail => detailing::name_of_result(path),
        };
        let beside = || path.parent().unwrap_or(Path::new(""));
        asked.results.as_deref().unwrap_or_else(beside).join(name)
    }

    /// What is changed and the results to look for, if that was not done yet.
    pub fn results_to_look_for(&self) -> Option<(FileChange, Vec<ResultOf>)> {
        let asked = self.upscaling.as_ref().filter(|asked| asked.leaves_out())?;
        let (path, given) = asked.files().next()?;
        if asked.made_before.first.as_ref() == Some(&self.result_of(asked, path, given)) {
            return None;
        }
        let result_of = |(path, given): (&Path, &GivenMedia)| ResultOf {
            input: path.to_owned(),
            result: self.result_of(asked, path, given),
        };
        Some((asked.change, asked.files().map(result_of).collect()))
    }

    /// These results are looked for.
    pub fn looks_for_results(&mut self, results: &[ResultOf]) {
        if let Some(asked) = &mut self.upscaling {
            let first = results.first().map(|of| of.result.clone());
            asked.made_before = MadeBefore { first, makers: None };
            asked.recount();
        }
    }

    /// It is known which of the results that begin with this one are there.
    pub fn take_makers(&mut self, first: &Path, makers: Makers) {
        if let Some(asked) = &mut self.upscaling
            && asked.made_before.first.as_deref() == Some(first)
        {
            asked.made_before.makers = Some(makers);
            asked.recount();
        }
    }

    /// Chooses whether files that are done are changed again.
    pub fn change_again(&mut self, again: bool) {
        if let Some(asked) = &mut self.upscaling {
            asked.again = again;
            asked.recount();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::state::{Answer, Ask, planning::no_plan};

    const FILES: u32 = 10_000;

    #[test]
    fn of_ten_thousand_files_those_that_are_done_are_counted_once() {
        let mut state = State::default();
        let path = |number: u32| PathBuf::from(format!("{number}.png"));
        let given = |number: u32| Ok(GivenMedia { size: [number + 1, 1], clip: None });
        state.ask_upscale((0..FILES).map(path).collect());
        state.take_measured((0..FILES).map(|number| (path(number), given(number))).collect());
        let (_, results) = state.results_to_look_for().unwrap();
        state.looks_for_results(&results);
        let second_half = (FILES / 2..FILES).map(|number| (path(number), vec![Some("Example".to_owned())]));
        state.take_makers(&results[0].result, second_half.collect());
        let Ask::Now(query) = state.ask_about_upscaling(0.0) else { panic!("nothing is asked") };
        assert_eq!(query.request.upscale.as_ref().unwrap().path, path(FILES - 1), "no network is known yet");
        state.take_estimate(query.id, Answer::Forecast(Box::new(no_plan("Example"))));

        let counted = |state: &State| {
            let asked = state.upscaling.as_ref().unwrap();
            (asked.done(), asked.wanted().count(), asked.tally.largest, asked.tally.work)
        };
        let work = |files: u32| f64::from(files) * f64::from(files + 1) / 2.0;
        let half = FILES / 2;
        let expected = (half as usize, half as usize, Some(half as usize - 1), work(half));
        assert_eq!(counted(&state), expected);
        state.change_again(true);
        let expected = (half as usize, FILES as usize, Some(FILES as usize - 1), work(FILES));
        assert_eq!(counted(&state), expected);
        state.change_again(false);
        assert_eq!(state.upscale().len(), half as usize);
    }
}
