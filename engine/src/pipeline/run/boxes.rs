//! What a stage that is repeated for each box of an image tells of it: its steps, and previews in their places.

use std::{cell::Cell, time::Instant};

use super::{Begun, PipelineError, Run};
use crate::{
    hardware::unmetered,
    output::{Image, Media},
    source::LoadedSource,
};

/// The steps of a run, of which some are known only when boxes are found.
#[derive(Debug)]
pub(super) struct Progress {
    /// The number of all steps.
    total: Cell<i64>,
    /// What is added to the numbers of steps, which count each detailer as one box.
    shift: Cell<i64>,
    /// When the stage that is repeated began.
    began: Cell<Option<Instant>>,
}

/// Which time of how many a stage runs, each with so many steps.
#[derive(Debug, Clone, Copy)]
pub(super) struct Repeat {
    pub number: usize,
    pub of: usize,
    pub steps: usize,
}

/// Where in the images of a run a part of one goes.
pub(super) struct Place {
    pub images: Vec<Image>,
    pub index: usize,
    pub source: LoadedSource,
}

impl Default for Repeat {
    fn default() -> Self {
        Self { number: 0, of: 1, steps: 0 }
    }
}

impl Repeat {
    /// Whether nothing came before it.
    pub fn is_first(self) -> bool {
        self.number == 0
    }

    /// Whether nothing comes after it.
    pub fn is_last(self) -> bool {
        self.number + 1 >= self.of
    }
}

impl Progress {
    /// Of a run that expects so many steps.
    pub fn new(steps: usize) -> Self {
        Self { total: Cell::new(steps as i64), shift: Cell::new(0), began: Cell::new(None) }
    }

    /// So many boxes were found where others were expected, each with so many steps.
    pub fn found(&self, boxes: usize, expected: usize, steps: usize) {
        self.total.set(self.total.get() + (boxes as i64 - expected as i64) * steps as i64);
    }

    /// So many boxes are done.
    pub fn done(&self, boxes: usize, steps: usize) {
        self.shift.set(self.shift.get() + (boxes as i64 - 1) * steps as i64);
    }
}

impl Run<'_> {
    /// The number of all steps.
    pub(super) fn steps_in_all(&self) -> u32 {
        self.progress.total.get().max(0) as u32
    }

    /// The number of a step among all.
    pub(super) fn number_in_all(&self, number: usize) -> u32 {
        let Repeat { number: before, steps, .. } = self.repeat.get();
        (number as i64 + self.progress.shift.get() + (before * steps) as i64).max(1) as u32
    }

    /// Begins a stage, unless it is repeated.
    pub(super) fn begin_repeated(&self, number: usize) -> Result<Begun, PipelineError> {
        match self.progress.began.get().filter(|_| !self.repeat.get().is_first()) {
            Some(at) => {
                let stage = self.plan.borrow().plan.stages[number].stage.clone();
                Ok(Begun { stage, at })
            }
            None => {
                let begun = self.begin(number)?;
                self.progress.began.set(Some(begun.at));
                Ok(begun)
            }
        }
    }

    /// Previews in the images that they are parts of.
    pub(super) fn in_place(&self, media: Vec<Media>) -> Vec<Media> {
        let place = self.place.borrow();
        let (Some(Place { images, index, source }), Some(Media::Image(part))) = (&*place, media.first())
        else {
            return media;
        };
        unmetered(|| {
            let mut images = images.clone();
            if let Some(whole) = images.get_mut(*index) {
                source.put(whole, part);
            }
            images.into_iter().map(Media::Image).collect()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_counted_when_boxes_are_found() {
        let progress = Progress::new(20 + 2 * 8);
        progress.found(3, 1, 8);
        progress.done(3, 8);
        assert_eq!((progress.total.get(), progress.shift.get()), (52, 16));
        progress.found(0, 1, 8);
        progress.done(0, 8);
        assert_eq!((progress.total.get(), progress.shift.get()), (44, 8));
        let only = Repeat::default();
        assert!(only.is_first() && only.is_last());
        assert!(!Repeat { number: 0, of: 2, steps: 8 }.is_last());
    }
}
