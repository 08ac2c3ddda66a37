//! Measures parts that have a speed of their own.

use super::{Begun, Run};
use crate::hardware::unmetered;

/// A part whose speed is being measured.
pub(super) struct Watched {
    part: usize,
    /// Microseconds that it had waited for weights before.
    waited: u64,
}

impl Run<'_> {
    /// Begins to measure the part whose own speed a stage shows.
    pub(super) fn watch(&self, stage: usize) -> Option<Watched> {
        let part = self.plan.borrow().part_to_learn(stage)?;
        let store = &self.loaded.stores[part];
        // What a run that was cancelled has left.
        unmetered(|| store.take_measured());
        Some(Watched { part, waited: store.waited_micros() })
    }

    /// Records the speed of the part of a stage that is done.
    pub(super) fn learn(&self, Begun { stage, at }: &Begun, Watched { part, waited }: Watched) {
        let seconds = at.elapsed().as_secs_f64();
        let store = &self.loaded.stores[part];
        let waiting = (store.waited_micros() - waited) as f64 * 1e-6;
        unmetered(|| {
            let passed = store.take_measured();
            self.plan.borrow_mut().learn(stage.number, part, &passed, seconds - waiting);
        });
    }
}
