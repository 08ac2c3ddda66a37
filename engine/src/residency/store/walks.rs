//! What a walk through blocks needs, asked for ahead of it.

use std::ops::Range;

use super::{State, WeightStore};
use crate::{
    checkpoint::FilePart,
    hardware::unmetered,
    memory::Placement,
    residency::{
        RunError,
        buffer::{BlockLayout, Sizes, bytes, largest},
        copies::{Copies, Request, Ring},
    },
};

impl WeightStore {
    /// Announces that `walks` more walks through the same range follow the next one. The first blocks of each
    /// are then prefetched during the last blocks of the previous walk.
    pub fn announce(&self, walks: usize) {
        self.state().announced = walks;
    }

    /// Begins a walk through `range`: requests those of its blocks that are not on the device.
    pub fn begin_walk(&self, range: Range<usize>) -> Result<(), RunError> {
        self.begin_part(range.clone(), range, true)
    }

    /// The same for a part of a walk that goes through some blocks more than once. `next` are the blocks of the part after
    /// it; after the last part, those of the first.
    pub fn begin_part(&self, range: Range<usize>, next: Range<usize>, is_last: bool) -> Result<(), RunError> {
        let mut state = self.state();
        let wanted = |state: &State, range: &Range<usize>, placement| -> Vec<Request> {
            let blocks = range
                .clone()
                .filter(|&block| state.placement(block) == placement && state.resident[block].is_none());
            let stays = placement == Placement::Resident;
            blocks.map(|block| Request { block, stays }).collect()
        };
        let again = !is_last || state.announced > 0;
        if is_last {
            state.announced = state.announced.saturating_sub(1);
        }
        let mut requests = wanted(&state, &range, Placement::Resident);
        requests.extend(wanted(&state, &range, Placement::Streamed));
        requests.sort_by_key(|request| request.block);
        let mut ahead = Vec::new();
        if again {
            // Blocks that stay are asked for once.
            ahead = wanted(&state, &next, Placement::Resident);
            ahead.retain(|later| requests.iter().all(|request| request.block != later.block));
            ahead.extend(wanted(&state, &next, Placement::Streamed));
            ahead.sort_by_key(|request| request.block);
        }
        if requests.is_empty() && ahead.is_empty() {
            return Ok(());
        }
        let needed = self.ring(&state, &[&requests[..], &ahead].concat());
        if state.copies.as_ref().is_none_or(|copies| !copies.ring().covers(&needed)) {
            let before = state.copies.take().map(|copies| *copies.ring());
            state.ahead = None;
            let ring = before.map_or(needed, |before| before.union(&needed));
            state.copies = Some(unmetered(|| Copies::start(&self.source, ring))?);
        }
        let on_its_way = state.ahead.take().is_some_and(|ahead| ahead == range);
        if again {
            state.ahead = Some(next);
        }
        if let Some(copies) = &state.copies {
            if !on_its_way {
                copies.forget();
                copies.ask(&self.source, requests);
            }
            if again {
                copies.ask(&self.source, ahead);
            }
        }
        Ok(())
    }

    /// Starts to load the blocks of the next walk, through `range`, that are not on the device yet.
    ///
    /// # Errors
    /// Fails if the threads that load them cannot be started.
    pub fn fetch_ahead(&self, range: Range<usize>) -> Result<(), RunError> {
        self.begin_walk(range.clone())?;
        self.state().ahead = Some(range);
        Ok(())
    }

    /// The parts of files that the next walk through `range` reads.
    pub fn to_read(&self, range: Range<usize>) -> Vec<FilePart> {
        let state = self.state();
        let missing = range.filter(|&block| state.resident[block].is_none() && !self.source.has_copy(block));
        let tensors = missing.flat_map(|block| &self.source.component.blocks[block].tensors);
        tensors.map(|(_, stored)| stored.in_file()).collect()
    }

    /// The ring sizes that `requests` need.
    fn ring(&self, state: &State, requests: &[Request]) -> Ring {
        let slot = largest(requests.iter().filter(|request| !request.stays).map(|it| self.layout(it)));
        let staged = requests.iter().filter(|request| request.is_staged(&self.source));
        let stage = largest(staged.map(|request| self.layout(request)));
        let count = |sizes: &Sizes| if bytes(sizes) > 0 { state.slots.max(1) } else { 0 };
        Ring { slots: count(&slot), slot, stages: count(&stage), stage }
    }

    fn layout(&self, request: &Request) -> &BlockLayout {
        &self.source.layouts[request.block]
    }

    /// Ends a walk early and cancels its pending loads.
    pub fn abandon_walk(&self) {
        let mut state = self.state();
        state.ahead = None;
        state.announced = 0;
        if let Some(copies) = &state.copies {
            copies.forget();
        }
    }
}
