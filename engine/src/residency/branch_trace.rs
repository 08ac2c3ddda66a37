//! What guidance branches take that go through the layers of a block together, worked out from traces of one after the
//! other.

use std::collections::HashMap;

use crate::{memory::SharedWork, nn::Trace};

/// The reads of one pass through a block.
#[derive(Debug, Default)]
pub(super) struct Reads {
    pub layers: Layers,
    /// The guidance branch that runs.
    pub branch: Option<BranchTrace>,
    /// What differs if all guidance branches of this pass go through the layers together.
    pub shared: Option<SharedWork>,
}

/// How often each layer is read.
#[derive(Debug, Default)]
pub(super) struct Layers {
    last: String,
    reads: HashMap<String, u32>,
}

impl Layers {
    /// How often a layer was read at most.
    pub fn most(&self) -> u32 {
        self.reads.values().copied().max().unwrap_or(0)
    }

    /// Counts a read of a layer; reading it again before any other is no further one.
    pub fn add(&mut self, layer: &str) {
        if self.last != layer {
            layer.clone_into(&mut self.last);
            match self.reads.get_mut(layer) {
                Some(times) => *times += 1,
                None => {
                    self.reads.insert(layer.to_owned(), 1);
                }
            }
        }
    }
}

/// What one guidance branch allocates in a block, layer by layer.
#[derive(Debug)]
pub(super) struct BranchTrace {
    /// Bytes that were allocated when it began.
    base: u64,
    layers: Layers,
    sections: Vec<Section>,
}

/// The work of a branch from its first read of a layer to that of the next one, in bytes beyond the branch's base.
#[derive(Debug, Clone, Copy)]
struct Section {
    peak: i64,
    after: i64,
}

impl BranchTrace {
    /// Begins a branch.
    pub fn new(trace: &Trace) -> Self {
        trace.end_section();
        Self { base: trace.live(), layers: Layers::default(), sections: Vec::new() }
    }

    /// Notes a read of a layer.
    pub fn read(&mut self, layer: &str, trace: &Trace) {
        if !self.layers.last.is_empty() && self.layers.last != layer {
            self.end_section(trace);
        }
        self.layers.add(layer);
    }

    /// Ends the work with the layer that was read last.
    pub fn end_section(&mut self, trace: &Trace) {
        let beyond = |bytes: u64| bytes as i64 - self.base as i64;
        let section = Section { peak: beyond(trace.end_section()), after: beyond(trace.live()) };
        self.sections.push(section);
    }

    /// Bytes beyond its base after so many sections.
    fn after(&self, sections: usize) -> i64 {
        let last = sections.min(self.sections.len());
        if last == 0 { 0 } else { self.sections[last - 1].after }
    }

    /// The work of branches that take turns, section by section.
    pub fn together(branches: &[Self]) -> Option<SharedWork> {
        let first = branches.first()?;
        let beside = |number: usize, section: usize| -> i64 {
            let others = branches.iter().enumerate().filter(|(other, _)| *other != number);
            others.map(|(other, branch)| branch.after(section + usize::from(other < number))).sum()
        };
        let sections = branches.iter().enumerate().flat_map(|(number, branch)| {
            let sections = branch.sections.iter().enumerate();
            sections.map(move |(place, section)| section.peak + beside(number, place))
        });
        let most = sections.max().unwrap_or(0);
        let reads = branches.iter().map(|branch| branch.layers.most()).max().unwrap_or(0);
        Some(SharedWork { activations: (first.base as i64 + most).max(0) as u64, reads })
    }
}
