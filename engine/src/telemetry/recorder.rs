//! Collects events from the threads of a run, and derives measurements from them.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use super::{BlockRecord, TelemetryEvent};
use crate::{hardware::unmetered, memory::Tier};

/// Maximum number of waiting events.
const CAPACITY: usize = 65_536;
/// Minimum growth of the event buffer.
const GROWTH: usize = 1024;
/// The part of `CAPACITY` kept free of blocks and memory samples, for plans, stages, steps and notes; the
/// rest cannot be understood without those.
const RESERVED: usize = 1024;

/// Takes events from any thread; clones share one recorder.
///
/// Recording appends to a vector under a lock that is never held for long. If nobody drains the recorder, it
/// keeps what it has, and counts and drops what no longer fits.
#[derive(Debug, Clone)]
pub struct Recorder {
    shared: Option<Arc<Shared>>,
}

#[derive(Debug)]
struct Shared {
    started: Instant,
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    events: Vec<TelemetryEvent>,
    dropped: u64,
}

impl Recorder {
    /// A recorder for a run that begins now.
    #[allow(clippy::new_without_default, reason = "creating a recorder starts its clock")]
    pub fn new() -> Self {
        let shared = Shared { started: Instant::now(), waiting: Mutex::default() };
        Self { shared: Some(Arc::new(shared)) }
    }

    /// A recorder that drops everything at no cost.
    pub fn disabled() -> Self {
        Self { shared: None }
    }

    /// Whether it records.
    pub fn is_enabled(&self) -> bool {
        self.shared.is_some()
    }

    /// Microseconds since the run began; 0 if the recorder is disabled.
    pub fn now(&self) -> u64 {
        self.shared.as_ref().map_or(0, |shared| shared.started.elapsed().as_micros() as u64)
    }

    /// Records an event.
    pub fn record(&self, event: TelemetryEvent) {
        let Some(mut waiting) = self.lock() else { return };
        let room = match event {
            TelemetryEvent::Block(_) | TelemetryEvent::Memory(_) => CAPACITY - RESERVED,
            _ => CAPACITY,
        };
        if waiting.events.len() < room {
            if waiting.events.len() == waiting.events.capacity() {
                // Telemetry does not count as the run's activations.
                unmetered(|| waiting.events.reserve(GROWTH));
            }
            waiting.events.push(event);
        } else {
            waiting.dropped += 1;
        }
    }

    /// Appends all events since the last call to `into`, in order.
    pub fn drain(&self, into: &mut Vec<TelemetryEvent>) {
        if let Some(mut waiting) = self.lock() {
            into.append(&mut waiting.events);
        }
    }

    /// Number of events dropped because the buffer was full.
    pub fn dropped(&self) -> u64 {
        self.lock().map_or(0, |waiting| waiting.dropped)
    }

    fn lock(&self) -> Option<MutexGuard<'_, Waiting>> {
        let shared = self.shared.as_ref()?;
        Some(shared.waiting.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Measured times of blocks and links, for refining a plan.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BlockTimes {
    compute: BTreeMap<(u8, u16), f64>,
    link: Option<f64>,
    disk: Option<f64>,
}

impl BlockTimes {
    /// Measures from records, such as those of the first step.
    pub fn measure<'a>(records: impl IntoIterator<Item = &'a BlockRecord>) -> Self {
        let mut compute = BTreeMap::<(u8, u16), Mean>::new();
        let (mut link, mut disk) = (Mean::default(), Mean::default());
        for record in records {
            compute.entry((record.component, record.block)).or_default().add(seconds(record.compute), 1.0);
            match record.tier {
                Tier::Host => link.add(record.bytes as f64, seconds(record.load)),
                Tier::Disk => disk.add(record.bytes as f64, seconds(record.load)),
                Tier::Device => {}
            }
        }
        let compute = compute.into_iter().filter_map(|(key, mean)| Some((key, mean.get()?))).collect();
        Self { compute, link: link.rate(), disk: disk.rate() }
    }

    /// Mean seconds per pass through a block, if it was used.
    pub fn compute_seconds(&self, component: u8, block: u16) -> Option<f64> {
        self.compute.get(&(component, block)).copied()
    }

    /// Bytes per second from host memory to the device, including latency, if anything was copied.
    pub fn link_bytes_per_second(&self) -> Option<f64> {
        self.link
    }

    /// Bytes per second from disk to the device, including all latencies, if anything was copied.
    pub fn disk_bytes_per_second(&self) -> Option<f64> {
        self.disk
    }
}

fn seconds(microseconds: u64) -> f64 {
    microseconds as f64 * 1e-6
}

#[derive(Default)]
struct Mean {
    sum: f64,
    over: f64,
}

impl Mean {
    fn add(&mut self, amount: f64, over: f64) {
        self.sum += amount;
        self.over += over;
    }

    fn get(&self) -> Option<f64> {
        (self.over > 0.0).then(|| self.sum / self.over)
    }

    /// The mean rate; `None` if nothing was moved.
    fn rate(&self) -> Option<f64> {
        self.get().filter(|&rate| rate > 0.0)
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;
    use crate::telemetry::samples::{memory, record, streamed};

    #[test]
    fn events_come_out_once_in_their_order() {
        let recorder = Recorder::new();
        let mut events = Vec::new();
        recorder.record(memory(1, 0, 0));
        recorder.clone().record(memory(2, 0, 0));
        recorder.drain(&mut events);
        recorder.record(memory(3, 0, 0));
        recorder.drain(&mut events);
        recorder.drain(&mut events);
        assert_eq!(events, [memory(1, 0, 0), memory(2, 0, 0), memory(3, 0, 0)]);
        assert_eq!(recorder.dropped(), 0);
    }

    #[test]
    fn what_does_not_fit_is_counted_and_what_came_first_stays() {
        let recorder = Recorder::new();
        let note = TelemetryEvent::Note { at: 1, text: "still heard".to_owned() };
        for at in 0..CAPACITY as u64 {
            recorder.record(memory(at, 0, 0));
        }
        assert_eq!(recorder.dropped(), RESERVED as u64);
        (0..RESERVED + 5).for_each(|_| recorder.record(note.clone()));
        assert_eq!(recorder.dropped(), RESERVED as u64 + 5);

        let mut events = Vec::new();
        recorder.drain(&mut events);
        assert_eq!(events.len(), CAPACITY);
        assert_eq!(events.first(), Some(&memory(0, 0, 0)));
        assert_eq!(events.last(), Some(&note));
        recorder.record(memory(7, 0, 0));
        recorder.drain(&mut events);
        assert_eq!(events.last(), Some(&memory(7, 0, 0)));
    }

    #[test]
    fn nothing_is_lost_between_threads() {
        let recorder = Recorder::new();
        let mut events = Vec::new();
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..5000).for_each(|at| recorder.record(memory(at, 0, 0))));
            }
            (0..50).for_each(|_| recorder.drain(&mut events));
        });
        recorder.drain(&mut events);
        assert_eq!(events.len(), 20_000);
    }

    #[test]
    fn a_disabled_recorder_takes_nothing() {
        let recorder = Recorder::disabled();
        recorder.record(memory(1, 2, 3));
        let mut events = Vec::new();
        recorder.drain(&mut events);
        assert!(events.is_empty() && !recorder.is_enabled());
        assert_eq!((recorder.now(), recorder.dropped()), (0, 0));
    }

    #[test]
    fn block_times_are_means_of_what_was_measured() {
        let host = BlockRecord { load: 20, ..streamed(30, 1, 0, 0) };
        let disk = BlockRecord { tier: Tier::Disk, load: 1000, ..streamed(60, 2, 0, 0) };
        let again = BlockRecord { compute: 30, ..record(90, 0, 1) };
        let times = BlockTimes::measure(&[record(0, 0, 0), host, disk, again]);
        let close = |value: Option<f64>, wanted: f64| (value.unwrap() / wanted - 1.0).abs() < 1e-12;
        assert!(close(times.compute_seconds(0, 0), 20e-6));
        assert!(close(times.compute_seconds(0, 1), 10e-6));
        assert!(close(times.link_bytes_per_second(), 5e6));
        assert!(close(times.disk_bytes_per_second(), 1e5));
        assert_eq!(times.compute_seconds(0, 3), None);
    }

    #[test]
    fn without_copies_there_is_no_speed_of_a_link() {
        let times = BlockTimes::measure(&[record(0, 0, 0)]);
        assert_eq!(times.link_bytes_per_second(), None);
        assert_eq!(times.disk_bytes_per_second(), None);
        assert_eq!(BlockTimes::measure(&[]), BlockTimes::default());
    }
}
