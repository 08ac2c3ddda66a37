//! Models on simulated GPUs.

use std::path::{Path, PathBuf};

use sluice_engine::{
    memory::{DeviceChoice, Forecast, MemoryPreferences, OffloadMode, Outcome, Residence},
    request::{ComputeDtype, ModelSource, Request},
    session::{Command, Event, Job, PlanQuery, PlanSubject},
    telemetry::{BlockRecord, MemorySample, TelemetryEvent},
};
use sluice_tests::{
    checkpoint::Fixture,
    original_names::Tensors,
    runner::{self, Runner},
};

/// A tiny Z-Image on disk.
pub struct Tiny {
    pub model: PathBuf,
    pub request: Request,
    _folder: tempfile::TempDir,
}

impl Tiny {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let fixture = Fixture::new("z_image", "default");
        let model = fixture.write_diffusers(folder.path()).unwrap();
        let request =
            Request { width: 48, height: 32, steps: 3, ..fixture.run("guided").unwrap().request(&model) };
        Self { model, request, _folder: folder }
    }
}

/// A copy of the starter model, whose weights exceed its activations for small images.
pub struct Copy {
    pub request: Request,
    pub folder: tempfile::TempDir,
}

impl Copy {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        copy(&ModelSource::Starter.resolve().unwrap(), folder.path());
        let model = ModelSource::Path(folder.path().to_owned());
        Self { request: Request { model, ..starter(SMALL, 3) }, folder }
    }
}

fn copy(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let to = to.join(path.file_name().unwrap());
        if path.is_dir() {
            std::fs::create_dir(&to).unwrap();
            copy(&path, &to);
        } else {
            std::fs::copy(&path, &to).unwrap();
        }
    }
}

/// An image side at which the starter's weights exceed its activations.
pub const SMALL: u32 = 32;

/// A request for the starter model.
pub fn starter(side: u32, steps: u32) -> Request {
    Request {
        model: ModelSource::Starter,
        prompt: "a sailboat at sunset".to_owned(),
        width: side,
        height: side,
        steps,
        seed: 7,
        dtype: Some(ComputeDtype::F32),
        ..Request::default()
    }
}

/// A simulated GPU with a fast link and no reserve.
pub fn card() -> MemoryPreferences {
    MemoryPreferences {
        device: DeviceChoice::Simulated("rtx-4090".to_owned()),
        min_free_vram: 0,
        ..MemoryPreferences::default()
    }
}

/// Every block of the denoiser streams through a slot in every step, directly from disk.
pub fn passing_through() -> MemoryPreferences {
    MemoryPreferences { denoiser: Some(Residence::OnDemand), prefetch: Some(1), ..card() }
}

/// Every component streams, and some blocks of each do not fit.
pub fn half_streamed(runner: &Runner, request: &Request) -> MemoryPreferences {
    let memory = streamed(card());
    let plenty = forecast(runner, request, &memory);
    let (least, most) = (plenty.least_device.unwrap(), plenty.plan.unwrap().peak_device());
    MemoryPreferences { vram_budget: Some(least + (most - least) / 2), ..memory }
}

/// The same preferences with every component streamed.
pub fn streamed(mut memory: MemoryPreferences) -> MemoryPreferences {
    memory.text_encoder = Some(Residence::Streamed);
    memory.denoiser = Some(Residence::Streamed);
    memory.autoencoder = Some(Residence::Streamed);
    memory
}

/// The simulated GPU with one offload mode.
pub fn mode(mode: OffloadMode) -> MemoryPreferences {
    MemoryPreferences { mode, ..card() }
}

/// A finished run.
pub struct Ran {
    /// The tensors of every stage, if requested.
    pub tensors: Tensors,
    pub outcome: Outcome,
    pub events: Vec<Event>,
}

impl Ran {
    /// The block records.
    pub fn blocks(&self) -> Vec<BlockRecord> {
        let telemetry = self.telemetry();
        let block = |event: &TelemetryEvent| match event {
            TelemetryEvent::Block(record) => Some(*record),
            _ => None,
        };
        telemetry.iter().filter_map(block).collect()
    }

    /// The memory samples.
    pub fn samples(&self) -> Vec<MemorySample> {
        let telemetry = self.telemetry();
        let sample = |event: &TelemetryEvent| match event {
            TelemetryEvent::Memory(sample) => Some(*sample),
            _ => None,
        };
        telemetry.iter().filter_map(sample).collect()
    }

    fn telemetry(&self) -> Vec<TelemetryEvent> {
        let batch = |event: &Event| match event {
            Event::Telemetry { events, .. } => Some(events.clone()),
            _ => None,
        };
        self.events.iter().filter_map(batch).flatten().collect()
    }

    /// The reasons of all replans.
    pub fn replanned(&self) -> Vec<String> {
        let reason = |event: &Event| match event {
            Event::Replanned { reason, .. } => Some(reason.clone()),
            _ => None,
        };
        self.events.iter().filter_map(reason).collect()
    }
}

/// Sends a job and waits for its end.
pub fn attempt(runner: &mut Runner, request: &Request, memory: &MemoryPreferences) -> runner::Outcome {
    let job = Job { memory: memory.clone(), ..runner.job(request.clone()) };
    runner.run(job).unwrap()
}

/// Generates with a dump of every stage's tensors, which take memory too.
pub fn run_dumped(runner: &mut Runner, request: &Request, memory: &MemoryPreferences) -> Ran {
    let folder = tempfile::tempdir().unwrap();
    let dump = folder.path().join("dump.safetensors");
    let ran = draw(runner, request, memory, Some(dump.clone()));
    Ran { tensors: sluice_tests::checkpoint::load(&dump).unwrap(), ..ran }
}

/// In every mode, within the least budget and a little more, a request has the same tensors and keeps to the budget.
pub fn check_every_mode(runner: &mut Runner, request: &Request, want: &Ran) {
    for &mode in OffloadMode::ALL {
        let plenty = MemoryPreferences { mode, ..card() };
        let least = forecast(runner, request, &plenty).least_device.unwrap();
        for budget in [least, least + least / 8] {
            let memory = MemoryPreferences { vram_budget: Some(budget), ..plenty.clone() };
            let got = run_dumped(runner, request, &memory);
            assert_same(&got.tensors, &want.tensors, mode.name());
            let held = got.outcome.measured_device;
            assert!(held <= budget, "{mode:?}: {held} bytes of {budget} were held");
        }
    }
}

/// Generates.
pub fn run(runner: &mut Runner, request: &Request, memory: &MemoryPreferences) -> Ran {
    draw(runner, request, memory, None)
}

fn draw(runner: &mut Runner, request: &Request, memory: &MemoryPreferences, dump: Option<PathBuf>) -> Ran {
    let job = Job { memory: memory.clone(), dump, ..runner.job(request.clone()) };
    let ended = runner.run(job).unwrap();
    let outcome = ended.events.iter().find_map(|event| match event {
        Event::Outcome { outcome, .. } => Some((**outcome).clone()),
        _ => None,
    });
    let events = ended.events.clone();
    ended.pictures().unwrap();
    let outcome = outcome.expect("a finished run has an outcome");
    Ran { tensors: Tensors::new(), outcome, events }
}

/// The prediction for a request.
pub fn forecast(runner: &Runner, request: &Request, memory: &MemoryPreferences) -> Forecast {
    let query =
        PlanQuery { id: 1, subject: PlanSubject::Model, request: request.clone(), memory: memory.clone() };
    runner.send(Command::Plan(Box::new(query))).unwrap();
    loop {
        match runner.event().unwrap() {
            Event::Planned { forecast, .. } => return *forecast,
            Event::NotPlanned { failure, .. } => panic!("no plan: {}", failure.message),
            _ => {}
        }
    }
}

/// Fails unless all tensors are bit-identical.
#[track_caller]
pub fn assert_same(got: &Tensors, want: &Tensors, how: &str) {
    assert_eq!(got.keys().collect::<Vec<_>>(), want.keys().collect::<Vec<_>>());
    for (name, want) in want {
        let bits = |tensor: &candle_core::Tensor| -> Vec<u32> {
            let tensor = tensor.to_dtype(candle_core::DType::F32).unwrap().flatten_all().unwrap();
            tensor.to_vec1::<f32>().unwrap().into_iter().map(f32::to_bits).collect()
        };
        assert!(bits(&got[name]) == bits(want), "{name} differs with {how}");
    }
}
