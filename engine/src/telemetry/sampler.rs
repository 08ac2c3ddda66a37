//! The thread that samples memory and passes events on.

use std::{
    io,
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use serde::{Deserialize, Serialize};

use super::{MemoryPeaks, MemorySample, Recorder, Sink, TelemetryError, TelemetryEvent};

/// Time between two memory samples.
pub const PERIOD: Duration = Duration::from_millis(20);
/// Samples between deliveries of waiting events.
const PERIODS_A_BATCH: u32 = 5;
/// Number of waiting events that triggers an immediate delivery.
const BATCH: usize = 512;

/// Summary of the telemetry of a finished run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TelemetrySummary {
    /// Delivered events, including memory samples.
    pub events: u64,
    /// Memory samples.
    pub samples: u64,
    /// Events dropped because the recorder was full; they are in no file.
    pub dropped: u64,
    /// The maximum of all samples.
    pub peaks: MemoryPeaks,
    /// Seconds the sampler ran.
    pub seconds: f64,
    /// Seconds of those that it was busy: sampling, writing and delivering.
    pub busy: f64,
    /// Files that could not be completed, as messages.
    pub failures: Vec<String>,
}

/// Samples memory fifty times per second and delivers recorded events, until it is finished or dropped.
pub struct Sampler {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<Outcome>>,
}

type Outcome = (TelemetrySummary, Option<TelemetryError>);

impl Sampler {
    /// Starts the thread `sluice-sampler`.
    ///
    /// `sample` reads counters; the sampler sets [`MemorySample::at`]. Every tenth of a second, or as soon as
    /// many events wait, recorded events go to the `sinks` and then to `deliver`, which must not block for
    /// long. A failed sink is not used again, and the run continues without it. With a disabled recorder
    /// nothing is sampled or delivered.
    pub fn start(
        recorder: &Recorder,
        sample: Box<dyn FnMut() -> MemorySample + Send>,
        sinks: Vec<Box<dyn Sink>>,
        deliver: Box<dyn FnMut(Vec<TelemetryEvent>) + Send>,
    ) -> io::Result<Self> {
        if !recorder.is_enabled() {
            return Ok(Self { stop: None, thread: None });
        }
        let (stop, stopped) = bounded(0);
        let worker = SamplerThread {
            recorder: recorder.clone(),
            sample,
            sinks,
            deliver,
            waiting: Vec::new(),
            summary: TelemetrySummary::default(),
            error: None,
        };
        let thread =
            thread::Builder::new().name("sluice-sampler".to_owned()).spawn(move || worker.run(&stopped))?;
        Ok(Self { stop: Some(stop), thread: Some(thread) })
    }

    /// Takes a last sample, delivers all waiting events and closes the files. If a file could not be
    /// completed, returns [`TelemetryError::Incomplete`], which also contains the summary.
    pub fn finish(mut self) -> Result<TelemetrySummary, TelemetryError> {
        match self.stop() {
            None => Ok(TelemetrySummary::default()),
            Some(Ok((summary, None))) => Ok(summary),
            Some(Ok((summary, Some(cause)))) => {
                Err(TelemetryError::Incomplete { cause: Box::new(cause), summary: Box::new(summary) })
            }
            Some(Err(_)) => Err(TelemetryError::Stopped),
        }
    }

    fn stop(&mut self) -> Option<thread::Result<Outcome>> {
        drop(self.stop.take());
        self.thread.take().map(JoinHandle::join)
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        // Drop cannot report an error; `finish` can.
        drop(self.stop());
    }
}

struct SamplerThread {
    recorder: Recorder,
    sample: Box<dyn FnMut() -> MemorySample + Send>,
    sinks: Vec<Box<dyn Sink>>,
    deliver: Box<dyn FnMut(Vec<TelemetryEvent>) + Send>,
    waiting: Vec<TelemetryEvent>,
    summary: TelemetrySummary,
    error: Option<TelemetryError>,
}

impl SamplerThread {
    fn run(mut self, stopped: &Receiver<()>) -> Outcome {
        let started = Instant::now();
        let mut next = started;
        let mut busy = Duration::ZERO;
        let mut periods = 0;
        loop {
            let stop = stopped.recv_deadline(next) != Err(RecvTimeoutError::Timeout);
            let woken = Instant::now();
            // Missed samples are not made up for.
            next = (next + PERIOD).max(woken);
            self.observe();
            periods += 1;
            if stop || periods == PERIODS_A_BATCH || self.waiting.len() > BATCH {
                self.hand_on();
                periods = 0;
            }
            if stop {
                self.each_sink(|sink| sink.finish());
                busy += woken.elapsed();
                break;
            }
            busy += woken.elapsed();
        }
        self.summary.dropped = self.recorder.dropped();
        self.summary.seconds = started.elapsed().as_secs_f64();
        self.summary.busy = busy.as_secs_f64();
        (self.summary, self.error)
    }

    fn observe(&mut self) {
        self.recorder.drain(&mut self.waiting);
        let sample = MemorySample { at: self.recorder.now(), ..(self.sample)() };
        self.summary.samples += 1;
        self.summary.peaks.include(&sample);
        self.waiting.push(TelemetryEvent::Memory(sample));
    }

    fn hand_on(&mut self) {
        let events = std::mem::take(&mut self.waiting);
        self.summary.events += events.len() as u64;
        self.each_sink(|sink| sink.write(&events));
        (self.deliver)(events);
    }

    /// Applies `using` to every sink and closes those that fail.
    fn each_sink(&mut self, mut using: impl FnMut(&mut dyn Sink) -> Result<(), TelemetryError>) {
        self.sinks.retain_mut(|sink| match using(sink.as_mut()) {
            Ok(()) => true,
            Err(error) => {
                self.summary.failures.push(error.to_string());
                self.error.get_or_insert(error);
                false
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use std::{
        fs,
        sync::{Arc, Mutex},
    };

    use super::*;
    use crate::telemetry::{
        TelemetryFiles, read_jsonl,
        samples::{memory, record},
    };

    type Heard = Arc<Mutex<Vec<Vec<TelemetryEvent>>>>;

    fn hear(heard: &Heard) -> Box<dyn FnMut(Vec<TelemetryEvent>) + Send> {
        let heard = Arc::clone(heard);
        Box::new(move |events| heard.lock().unwrap().push(events))
    }

    fn nothing() -> Box<dyn FnMut() -> MemorySample + Send> {
        Box::new(MemorySample::default)
    }

    fn blocks(events: &[TelemetryEvent]) -> usize {
        events.iter().filter(|event| matches!(event, TelemetryEvent::Block(_))).count()
    }

    #[test]
    fn everything_recorded_arrives_and_is_in_the_files() {
        let folder = tempfile::tempdir().unwrap();
        let files = TelemetryFiles {
            events: Some(folder.path().join("run.jsonl")),
            trace: Some(folder.path().join("run.json")),
        };
        let recorder = Recorder::new();
        let heard = Heard::default();
        let mut weights = 0;
        let sample = Box::new(move || {
            weights += 1;
            MemorySample { at: 0, weights, ..MemorySample::default() }
        });
        let sampler = Sampler::start(&recorder, sample, files.open().unwrap(), hear(&heard)).unwrap();
        for number in 0..2000 {
            recorder.record(TelemetryEvent::Block(record(recorder.now(), number, 0)));
        }
        thread::sleep(3 * PERIOD);
        let summary = sampler.finish().unwrap();

        let delivered: Vec<_> = heard.lock().unwrap().concat();
        assert_eq!(blocks(&delivered), 2000);
        assert_eq!(delivered.len() as u64, summary.events);
        assert_eq!(summary.peaks.device, summary.samples);
        assert!(summary.samples >= 2 && summary.dropped == 0 && summary.failures.is_empty());
        assert_eq!(read_jsonl(files.events.as_ref().unwrap()).unwrap().events, delivered);
        let trace: serde_json::Value =
            serde_json::from_slice(&fs::read(files.trace.unwrap()).unwrap()).unwrap();
        assert!(trace["traceEvents"].as_array().unwrap().len() > 2000);
    }

    #[test]
    fn samples_carry_the_time_of_the_run() {
        let recorder = Recorder::new();
        let heard = Heard::default();
        let sampler = Sampler::start(&recorder, nothing(), Vec::new(), hear(&heard)).unwrap();
        thread::sleep(4 * PERIOD);
        sampler.finish().unwrap();
        let times: Vec<_> = heard
            .lock()
            .unwrap()
            .concat()
            .into_iter()
            .map(|event| match event {
                TelemetryEvent::Memory(sample) => sample.at,
                other => panic!("{other:?}"),
            })
            .collect();
        assert!(times.is_sorted() && times.len() >= 2, "{times:?}");
        assert!(*times.last().unwrap() >= 4 * PERIOD.as_micros() as u64);
    }

    #[test]
    fn dropping_it_hands_on_what_waits() {
        let recorder = Recorder::new();
        let heard = Heard::default();
        let sampler = Sampler::start(&recorder, nothing(), Vec::new(), hear(&heard)).unwrap();
        recorder.record(TelemetryEvent::Block(record(1, 0, 0)));
        drop(sampler);
        assert_eq!(blocks(&heard.lock().unwrap().concat()), 1);
    }

    /// A file on a disk with room for a few batches.
    struct Filling(usize);

    impl Sink for Filling {
        fn write(&mut self, _: &[TelemetryEvent]) -> Result<(), TelemetryError> {
            let full = || TelemetryError::DiskFull { path: "run.jsonl".into() };
            self.0 = self.0.checked_sub(1).ok_or_else(full)?;
            Ok(())
        }

        fn finish(&mut self) -> Result<(), TelemetryError> {
            panic!("a failed sink must not be used again")
        }
    }

    #[test]
    fn a_disk_that_fills_up_is_reported_once_and_the_rest_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let trace = folder.path().join("run.json");
        let mut sinks = TelemetryFiles { events: None, trace: Some(trace.clone()) }.open().unwrap();
        sinks.insert(0, Box::new(Filling(1)));
        let recorder = Recorder::new();
        let heard = Heard::default();
        let sampler = Sampler::start(&recorder, nothing(), sinks, hear(&heard)).unwrap();
        while heard.lock().unwrap().len() < 3 {
            (0..=BATCH).for_each(|_| recorder.record(memory(1, 2, 3)));
            thread::sleep(PERIOD);
        }
        recorder.record(TelemetryEvent::Block(record(1, 0, 0)));
        let error = sampler.finish().unwrap_err();
        let summary = error.summary().unwrap();
        assert_eq!(summary.failures, ["telemetry cannot be written to run.jsonl: the disk is full"]);
        assert_eq!(error.to_string(), summary.failures[0]);
        assert_eq!(error.advice(), Some("Free some disk space, or choose a folder on another disk."));
        assert_eq!(blocks(&heard.lock().unwrap().concat()), 1);
        let trace: serde_json::Value = serde_json::from_slice(&fs::read(trace).unwrap()).unwrap();
        assert!(trace["traceEvents"].as_array().unwrap().iter().any(|event| event["name"] == "block 0"));
    }

    #[test]
    fn a_mistake_in_the_callback_is_an_error_of_the_sampler_alone() {
        let recorder = Recorder::new();
        let deliver = Box::new(|_| panic!("a bug"));
        let sampler = Sampler::start(&recorder, nothing(), Vec::new(), deliver).unwrap();
        assert!(matches!(sampler.finish(), Err(TelemetryError::Stopped)));
    }

    #[test]
    fn a_disabled_recorder_starts_no_thread() {
        let heard = Heard::default();
        let sampler = Sampler::start(&Recorder::disabled(), nothing(), Vec::new(), hear(&heard)).unwrap();
        thread::sleep(PERIOD);
        assert_eq!(sampler.finish().unwrap(), TelemetrySummary::default());
        assert!(heard.lock().unwrap().is_empty());
    }
}
