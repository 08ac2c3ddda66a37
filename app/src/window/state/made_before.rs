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
        self.files().filter(|(path, _)| self.is_done(path)).count()
    }

    /// The files that are changed: those that are not done, or all.
    pub fn wanted(&self) -> impl Iterator<Item = (&Path, &GivenMedia)> {
        self.files().filter(move |(path, _)| self.again || !self.is_done(path))
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
        }
    }

    /// It is known which of the results that begin with this one are there.
    pub fn take_makers(&mut self, first: &Path, makers: Makers) {
        if let Some(asked) = &mut self.upscaling
            && asked.made_before.first.as_deref() == Some(first)
        {
            asked.made_before.makers = Some(makers);
        }
    }

    /// Chooses whether files that are done are changed again.
    pub fn change_again(&mut self, again: bool) {
        if let Some(asked) = &mut self.upscaling {
            asked.again = again;
        }
    }
}
