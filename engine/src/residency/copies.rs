//! The threads that load weights: `sluice-copy` copies to the device, `sluice-read` prefetches from disk for
//! it.
//!
//! Requests are served in order, which is the order in which the forward passes need the blocks. A slot
//! circulates: the copy thread takes a free one and fills it, the forward pass uses it, and when its lease
//! ends it is free again. So the copy thread runs ahead by as many blocks as there are slots, and nothing is
//! allocated along the way.

use std::{
    cell::Cell,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use crossbeam_channel::{Receiver, Sender, bounded};

use super::{
    RunError,
    buffer::{Buffer, Sizes, bytes},
    weight_source::{HostCopy, WeightSource},
};
use crate::{hardware::Reservation, memory::Tier};

/// A request to load a block to the device.
#[derive(Debug, Clone, Copy)]
pub struct Request {
    /// Index of the block.
    pub block: usize,
    /// Whether the block becomes resident in its own memory, or passes through a slot.
    pub stays: bool,
}

impl Request {
    /// Whether its weights are prefetched into a staging buffer in host memory.
    pub fn is_staged(self, source: &WeightSource) -> bool {
        !self.stays && source.is_staged(self.block)
    }
}

/// Device memory for a streamed block: the one that runs or one that comes next.
#[derive(Debug)]
pub struct Slot {
    /// Index of the slot.
    pub number: u8,
    /// Its memory.
    pub buffer: Buffer,
    _reserved: Reservation,
}

/// Weights that stay on the device.
#[derive(Debug)]
pub struct Resident {
    /// Their memory.
    pub buffer: Buffer,
    _reserved: Reservation,
}

/// Where the weights of a block were loaded.
#[derive(Debug)]
pub enum Place {
    /// In their own memory.
    Own(Resident),
    /// In a slot.
    Slot(Slot),
}

/// A loaded block, or the reason why loading failed.
#[derive(Debug)]
pub struct Arrival {
    /// Index of the block.
    pub block: usize,
    /// Where the weights are.
    pub place: Result<Place, RunError>,
    /// How long loading took; from host memory, how long the link took.
    pub load: Duration,
    /// Where the weights came from.
    pub from: Tier,
    generation: u64,
}

/// A block prefetched from disk, for the copy thread.
struct Staged {
    generation: u64,
    block: usize,
    buffer: Arc<HostCopy>,
    outcome: Result<bool, RunError>,
}

/// The ring of slots and the threads that fill it.
#[derive(Debug)]
pub struct Copies {
    requests: Option<Sender<(u64, Request)>>,
    waiting: Receiver<(u64, Request)>,
    reads: Option<Sender<(u64, usize)>>,
    arrivals: Receiver<Arrival>,
    free: Option<Sender<Slot>>,
    generation: Arc<AtomicU64>,
    threads: Vec<JoinHandle<()>>,
    ring: Ring,
}

/// The sizes of the ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ring {
    /// Number of slots.
    pub slots: u32,
    /// Size of each slot.
    pub slot: Sizes,
    /// Number of staging buffers for reads from disk; zero on unified devices.
    pub stages: u32,
    /// Size of each staging buffer.
    pub stage: Sizes,
}

impl Ring {
    /// Whether it is at least as large as `other` in every respect.
    pub fn covers(&self, other: &Self) -> bool {
        self.union(other) == *self
    }

    /// The maximum of both in every respect.
    pub fn union(&self, other: &Self) -> Self {
        Self {
            slots: self.slots.max(other.slots),
            slot: std::array::from_fn(|part| self.slot[part].max(other.slot[part])),
            stages: self.stages.max(other.stages),
            stage: std::array::from_fn(|part| self.stage[part].max(other.stage[part])),
        }
    }
}

impl Copies {
    /// Allocates the ring and starts the threads. Call it [unmetered](crate::hardware::unmetered): the ring holds
    /// weights, which are reserved, and not activations.
    pub fn start(source: &Arc<WeightSource>, ring: Ring) -> Result<Self, RunError> {
        let blocks = source.blocks();
        let (requests, waiting) = bounded(2 * blocks + 2);
        let (arrived, arrivals) = bounded(2 * blocks + ring.slots as usize + 2);
        let (free, freed) = bounded(ring.slots.max(1) as usize);
        for number in 0..ring.slots {
            let reserved = source.account.reserve_weights(bytes(&ring.slot))?;
            let buffer = source.memory.allocate(&ring.slot)?;
            // The channel has capacity for every slot.
            let _ = free.try_send(Slot { number: number as u8, buffer, _reserved: reserved });
        }
        let generation = Arc::new(AtomicU64::new(0));
        let mut threads = Vec::new();
        let mut reads = None;
        let mut staging = None;
        if ring.stages > 0 {
            let (send, wanted) = bounded(2 * blocks + 2);
            let (ready, incoming) = bounded(ring.stages as usize);
            let (give_back, stages) = bounded(ring.stages as usize);
            for _ in 0..ring.stages {
                let _ = give_back.try_send(Arc::new(source.host_buffer(&ring.stage)?));
            }
            let (source, current) = (Arc::clone(source), Arc::clone(&generation));
            let again = give_back.clone();
            threads.push(spawn("sluice-read", move || {
                read_ahead(&source, &current, &wanted, &stages, &again, &ready);
            })?);
            reads = Some(send);
            staging = Some(Staging { ready: incoming, give_back, early: Cell::new(None) });
        }
        let copier = Copier {
            source: Arc::clone(source),
            generation: Arc::clone(&generation),
            free: freed,
            staging,
            arrived,
        };
        let incoming = waiting.clone();
        threads.push(spawn("sluice-copy", move || copier.run(&incoming))?);
        Ok(Self {
            requests: Some(requests),
            waiting,
            reads,
            arrivals,
            free: Some(free),
            generation,
            threads,
            ring,
        })
    }

    /// The sizes of the ring.
    pub fn ring(&self) -> &Ring {
        &self.ring
    }

    /// Requests blocks, in the order in which they will be needed.
    pub fn ask(&self, source: &WeightSource, wanted: impl IntoIterator<Item = Request>) {
        let generation = self.generation.load(Ordering::Relaxed);
        for request in wanted {
            if let Some(reads) = self.reads.as_ref().filter(|_| request.is_staged(source)) {
                let _ = reads.send((generation, request.block));
            }
            if let Some(requests) = &self.requests {
                let _ = requests.send((generation, request));
            }
        }
    }

    /// The next requested block, or `None` if it does not arrive within `patience`.
    pub fn next(&self, patience: Duration) -> Option<Arrival> {
        loop {
            let arrival = self.arrivals.recv_timeout(patience).ok()?;
            if arrival.generation == self.generation.load(Ordering::Relaxed) {
                return Some(arrival);
            }
            self.discard(arrival);
        }
    }

    /// The channel that takes slots whose lease has ended.
    pub fn free(&self) -> Option<Sender<Slot>> {
        self.free.clone()
    }

    /// Cancels all requests.
    pub fn forget(&self) {
        self.generation.fetch_add(1, Ordering::Relaxed);
        while self.waiting.try_recv().is_ok() {}
        while let Ok(arrival) = self.arrivals.try_recv() {
            self.discard(arrival);
        }
    }

    /// Returns the slot of an unwanted block to the ring.
    fn discard(&self, arrival: Arrival) {
        if let (Ok(Place::Slot(slot)), Some(free)) = (arrival.place, &self.free) {
            let _ = free.try_send(slot);
        }
    }
}

impl Drop for Copies {
    fn drop(&mut self) {
        self.forget();
        self.requests = None;
        self.reads = None;
        self.free = None;
        for thread in self.threads.drain(..) {
            if thread.join().is_err() {
                tracing::error!("a thread that loads weights panicked");
            }
        }
    }
}

fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, RunError> {
    thread::Builder::new().name(name.to_owned()).spawn(body).map_err(RunError::Thread)
}

/// How often a waiting thread checks whether its request is still wanted.
const PATIENCE: Duration = Duration::from_millis(20);

struct Copier {
    source: Arc<WeightSource>,
    generation: Arc<AtomicU64>,
    free: Receiver<Slot>,
    staging: Option<Staging>,
    arrived: Sender<Arrival>,
}

/// The copy thread's end of the staging buffers.
struct Staging {
    ready: Receiver<Staged>,
    give_back: Sender<Arc<HostCopy>>,
    early: Cell<Option<Staged>>,
}

impl Copier {
    fn run(self, requests: &Receiver<(u64, Request)>) {
        for (generation, request) in requests {
            if generation != self.generation.load(Ordering::Relaxed) {
                continue;
            }
            let slot = if request.stays {
                None
            } else {
                match self.free_slot(generation) {
                    Some(slot) => Some(slot),
                    None => continue,
                }
            };
            let started = Instant::now();
            let (brought, from) = self.bring(generation, request, slot);
            let (place, of_link) = match brought {
                Ok((place, of_link)) => (Ok(place), of_link.filter(|_| from == Tier::Host)),
                Err(error) => (Err(error), None),
            };
            let load = of_link.unwrap_or_else(|| started.elapsed());
            let arrival = Arrival { block: request.block, place, load, from, generation };
            if self.arrived.send(arrival).is_err() {
                return;
            }
        }
    }

    /// The next free slot, or `None` if the request is no longer wanted.
    fn free_slot(&self, generation: u64) -> Option<Slot> {
        while generation == self.generation.load(Ordering::Relaxed) {
            if let Ok(slot) = self.free.recv_timeout(PATIENCE) {
                return Some(slot);
            }
        }
        None
    }

    fn bring(
        &self,
        generation: u64,
        request: Request,
        slot: Option<Slot>,
    ) -> (Result<(Place, Option<Duration>), RunError>, Tier) {
        let place = match slot {
            Some(slot) => Place::Slot(slot),
            None => match self.own(request.block) {
                Ok(resident) => Place::Own(resident),
                Err(error) => return (Err(error), Tier::Disk),
            },
        };
        let buffer = match &place {
            Place::Own(resident) => &resident.buffer,
            Place::Slot(slot) => &slot.buffer,
        };
        let go_on = || generation == self.generation.load(Ordering::Relaxed);
        let (outcome, from) = match &self.staging {
            Some(staging) if request.is_staged(&self.source) => {
                let passed = self.pass_on(staging, generation, request.block, buffer, &go_on);
                (passed.map(|()| None), Tier::Disk)
            }
            _ => self.source.bring(request.block, buffer, &go_on),
        };
        // A stopped transfer belongs to an old generation and is discarded for that reason.
        (outcome.map(|of_link| (place, of_link)), from)
    }

    fn own(&self, block: usize) -> Result<Resident, RunError> {
        let layout = &self.source.layouts[block];
        let reserved = self.source.account.reserve_weights(layout.bytes())?;
        Ok(Resident { buffer: self.source.memory.allocate(&layout.sizes)?, _reserved: reserved })
    }

    /// Takes a block from the prefetch thread and copies it to the device.
    fn pass_on(
        &self,
        staging: &Staging,
        generation: u64,
        block: usize,
        to: &Buffer,
        go_on: &dyn Fn() -> bool,
    ) -> Result<(), RunError> {
        while go_on() {
            let early = staging.early.take();
            let Some(read) = early.or_else(|| staging.ready.recv_timeout(PATIENCE).ok()) else { continue };
            if read.generation > generation {
                // It was prefetched for requests after the one that was just cancelled.
                staging.early.set(Some(read));
                return Ok(());
            }
            let current = read.generation == generation && read.block == block;
            let outcome = match read.outcome {
                Ok(true) if current => {
                    let sizes = &self.source.layouts[block].sizes;
                    let sent = self.source.memory.upload(&read.buffer.buffer, to, sizes, go_on);
                    sent.map(|_| ()).map_err(RunError::from)
                }
                other => other.map(|_| ()),
            };
            let _ = staging.give_back.send(read.buffer);
            if current {
                return outcome;
            }
        }
        Ok(())
    }
}

/// Prefetches blocks into staging buffers, as far ahead as there are buffers.
fn read_ahead(
    source: &WeightSource,
    current: &AtomicU64,
    wanted: &Receiver<(u64, usize)>,
    stages: &Receiver<Arc<HostCopy>>,
    give_back: &Sender<Arc<HostCopy>>,
    ready: &Sender<Staged>,
) {
    for (generation, block) in wanted {
        if generation != current.load(Ordering::Relaxed) {
            continue;
        }
        let buffer = loop {
            match stages.recv_timeout(PATIENCE) {
                Ok(buffer) => break Some(buffer),
                Err(_) if generation != current.load(Ordering::Relaxed) => break None,
                Err(_) => {}
            }
        };
        let Some(buffer) = buffer else { continue };
        let go_on = || generation == current.load(Ordering::Relaxed);
        let outcome = source.read(block, &buffer.buffer, &go_on);
        if let Err(unsent) = ready.send(Staged { generation, block, buffer, outcome }) {
            let _ = give_back.try_send(unsent.into_inner().buffer);
            return;
        }
    }
}
