//! Commands and events survive a process boundary and JSON unchanged.

use std::{collections::BTreeMap, path::PathBuf};

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use sluice_engine::{
    adapters::AdapterReport,
    checkpoint::{MapKind, Role, starter_folder},
    hardware::{Probe, card},
    memory::{
        self, DeviceChoice, Estimate, Forecast, Keep, MemoryPreferences, OffloadMode, Outcome, PartSpeed,
        Residence, RunIdentity, RunShape, Wish, machine_of,
    },
    models::{StoredAs, inventory},
    output::{Image, Media, Output, Settings},
    precision::{Format, Storage},
    request::{
        AdapterUse, Area, ComputeDtype, Control, Describe, Enhanced, Enlarger, FrameRange, GuidanceOptions,
        Hires, Interval, Keyframe, MapOf, MaskOf, MaskPoint, ModelSource, PromptTemplate, Refiner, Region,
        Regions, Request, Sampler, Schedule, SourceClip, SourceImage, Style, Variation, Windows, Writing,
    },
    session::{
        BlockSummary, Command, ComponentSummary, Defaults, Event, Extent, Failure, GroupPlace, Job, JobId,
        LaneChange, ModelSummary, Picture, PlanQuery, PlanSubject, Reading, Readings, Serving, Stage,
        StageKind,
    },
    telemetry::TelemetryEvent,
    wire::{read_record, write_record},
};
use sluice_tests::known;

fn round_trip<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(value: &T) -> String {
    let text = serde_json::to_string(value).unwrap();
    let back: T = serde_json::from_str(&text).unwrap();
    assert_eq!(&back, value, "{text}");
    assert!(!text.contains('\n'), "a message is one line");
    through_a_pipe(value);
    text
}

/// As between the window and a worker: bit-identical.
fn through_a_pipe<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(value: &T) {
    let mut bytes = Vec::new();
    write_record(&mut bytes, value).unwrap();
    assert_eq!(read_record::<T>(&mut bytes.as_slice()).unwrap().as_ref(), Some(value));
}

/// The same for a prediction, whose computed times may change in the last digit.
fn round_trip_of_forecast(event: &Event) {
    through_a_pipe(event);
    let text = serde_json::to_string(event).unwrap();
    let back: Event = serde_json::from_str(&text).unwrap();
    assert!(alike(&serde_json::to_value(event).unwrap(), &serde_json::to_value(&back).unwrap()), "{text}");
    assert!(!text.contains('\n'), "a message is one line");
}

/// Whether two values are the same except for the last digit of numbers, which text does not keep.
fn alike(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) if one.is_f64() => {
            let (one, other) = (one.as_f64().unwrap(), other.as_f64().unwrap());
            (one - other).abs() <= 1e-15 * one.abs()
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| alike(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(key, one)| other.get(key).is_some_and(|other| alike(one, other)))
        }
        _ => one == other,
    }
}

fn request() -> Request {
    Request {
        model: ModelSource::Path(PathBuf::from("/models/ein Modell")),
        template: Some(PromptTemplate {
            prompt: "a {red|blue} fox".to_owned(),
            negative_prompt: String::new(),
            styles: vec!["Fog".to_owned()],
        }),
        styles: vec![Style {
            name: "霧".to_owned(), prompt: "{prompt}, fog".to_owned(), ..Style::default()
        }],
        estimators: [(MapKind::SoftEdge, PathBuf::from("/models/hed.safetensors"))].into(),
        map_of: Some(MapOf { kind: MapKind::Pose, image: PathBuf::from("/pictures/fox.png") }),
        mask_of: Some(MaskOf {
            image: PathBuf::from("/pictures/fox.png"),
            points: vec![MaskPoint { x: 3, y: 5, inside: true }],
            area: Some([1, 2, 30, 40]),
        }),
        variation: Some(Variation { seed: u64::MAX, strength: 0.1 }),
        enhance: Some(Writing { instruction: "Schreib mehr.\n".to_owned(), ..Writing::default() }),
        describe: Some(Describe {
            images: vec![PathBuf::from("/pictures/fox.png")],
            pixels: 100_000,
            writing: Writing { instruction: "Beschreib es.".to_owned(), ..Writing::default() },
        }),
        enhanced: Some(Enhanced {
            prompt: "狐".to_owned(),
            images: vec!["fox.png".to_owned()],
            instruction: "Schreib mehr.".to_owned(),
            model: "Qwen3-4B".to_owned(),
            seed: u64::MAX,
            result: "雪の中の狐".to_owned(),
        }),
        prompt: "雪の中の狐 \"quoted\"\nsecond line".to_owned(),
        negative_prompt: "\u{0}\t\\".to_owned(),
        width: 1024,
        height: 16,
        frames: 81,
        frame_rate: 24.0,
        steps: 9,
        guidance: 0.1,
        seed: u64::MAX,
        batch: 3,
        sampler: Sampler::Heun,
        schedule: Schedule::DynamicShift,
        dtype: Some(ComputeDtype::Bf16),
        max_sequence_length: 7,
        adapters: vec![AdapterUse { path: PathBuf::from("loras/雪.safetensors"), weight: -0.5 }],
        clip_skip: 2,
        windows: Some(Windows { frames: 81, overlap: 16 }),
        shift: Some(5.0),
        guiding: GuidanceOptions { rescale: 0.7, interval: Interval { start: 0.1, end: 0.9 }, true_cfg: 2.5 },
        step_cache: 0.05,
        source: Some(SourceImage { path: PathBuf::from("雪.png"), strength: 0.3, ..SourceImage::default() }),
        last_image: Some(PathBuf::from("雪 2.png")),
        keyframes: vec![Keyframe { frame: 3, path: PathBuf::from("雪 3.png") }],
        clip: Some(SourceClip {
            path: PathBuf::from("雪.mp4"),
            range: FrameRange { start: 3, end: Some(48) },
            strength: 0.4,
            extends: true,
            ..SourceClip::default()
        }),
        references: vec![PathBuf::from("雪 3.png")],
        reference_side: Some(512),
        control: Some(Control {
            video: Some(PathBuf::from("深度.mp4")),
            preprocessor: sluice_engine::request::Preprocessor::SoftEdge,
            strength: 0.6,
            end: 0.7,
            ..Control::default()
        }),
        refiner: Some(Refiner { path: PathBuf::from("refiner"), switch: 0.7 }),
        regions: Regions {
            all: vec![Region {
                prompt: "an owl".to_owned(),
                area: Area::Mask("/masks/owl.png".into()),
                weight: 0.5,
            }],
            base: 0.1,
            fade: 0.0,
        },
        hires: Some(Hires {
            steps: Some(5),
            enlarger: Enlarger::Upscaler(ModelSource::Path(PathBuf::from("4×.safetensors"))),
            ..Hires::default()
        }),
        detailers: vec![sluice_engine::request::Detailer {
            order: sluice_engine::request::BoxOrder::MiddleFirst,
            steps: Some(6),
            prompt: "ein Lächeln".to_owned(),
            ..sluice_engine::request::Detailer::new("face.safetensors")
        }],
        detail_of: Some("crowd.png".into()),
        interpolate: Some(sluice_engine::request::Interpolate {
            path: "clip.mp4".into(),
            how: sluice_engine::request::Interpolation { factor: 4, across_cuts: true },
        }),
        smooth: Some(sluice_engine::request::Smooth {
            model: "rife.safetensors".into(),
            how: sluice_engine::request::Interpolation::times(2),
        }),
        upscale: Some(sluice_engine::request::Upscale {
            path: PathBuf::from("/photos/hill.png"),
            scale: 1.5,
        }),
        image_prompts: vec![sluice_engine::request::ImagePrompt {
            adapter: "ip-adapter.safetensors".into(),
            images: vec!["style.png".into(), "face.png".into()],
            weight: 0.6,
            start: 0.1,
            end: 0.9,
        }],
        control_nets: vec![sluice_engine::request::ControlNet {
            model: PathBuf::from("kanten.safetensors"),
            weight: 0.7,
            mode: Some(sluice_engine::request::ControlMode::LowQuality),
            ..Default::default()
        }],
        redux: Some(sluice_engine::request::Redux {
            path: PathBuf::from("redux"),
            strengths: vec![0.3, 1.5],
        }),
    }
}

#[test]
fn commands_come_back() {
    let job = Job {
        output: Some(Output::Folder(PathBuf::from("out"))),
        codec: sluice_engine::output::Codec::Av1,
        quality: 80,
        previews: true,
        initial_latents: Some(PathBuf::from("latents")),
        dump: Some(PathBuf::from("dump")),
        journal: Some(PathBuf::from("journal")),
        group: Some(GroupPlace { group: "grid".to_owned(), place: 3 }),
        ..Job::new(JobId(u64::MAX), request())
    };
    let to_file = Job { output: Some(Output::File(PathBuf::from("a.png"))), ..Job::new(JobId(1), request()) };
    let commands = [
        Command::Load { model: ModelSource::Starter },
        Command::Load { model: ModelSource::Path(PathBuf::from("starter")) },
        Command::List { lane: 1 },
        Command::Generate(Box::new(job)),
        Command::Generate(Box::new(to_file)),
        Command::Generate(Box::new(Job::new(JobId(0), Request::default()))),
        Command::Plan(Box::new(query(PlanSubject::Model))),
        Command::Plan(Box::new(query(PlanSubject::Known("flux.1-dev".to_owned())))),
        Command::Plan(Box::new(query(PlanSubject::KnownAs(
            "flux.1-dev".to_owned(),
            BTreeMap::from([("vae".to_owned(), StoredAs { format: Format::Q4K, bits: 4.58 })]),
        )))),
        Command::SearchIn { folders: vec![PathBuf::from("models"), PathBuf::from("t5.gguf")] },
        Command::Cancel { job: JobId(3) },
        Command::Move { job: JobId(3), before: Some(JobId(1)) },
        Command::Pause { paused: true },
        Command::Show { lane: 1 },
        Command::Unload,
        Command::Forget,
        Command::ShutDown,
    ];
    let mut kinds: Vec<String> = commands
        .iter()
        .map(|command| {
            // A new variant does not compile here until it is in the list above.
            match command {
                Command::Load { .. }
                | Command::List { .. }
                | Command::Generate(_)
                | Command::Plan(_)
                | Command::SearchIn { .. }
                | Command::Cancel { .. }
                | Command::Move { .. }
                | Command::Pause { .. }
                | Command::Show { .. }
                | Command::Unload
                | Command::Forget
                | Command::ShutDown => {}
            }
            let value: Value = serde_json::from_str(&round_trip(command)).unwrap();
            value["command"].as_str().unwrap().to_owned()
        })
        .collect();
    kinds.dedup();
    let expected = [
        "load",
        "list",
        "generate",
        "plan",
        "search_in",
        "cancel",
        "move",
        "pause",
        "show",
        "unload",
        "forget",
        "shut_down",
    ];
    assert_eq!(kinds, expected);
}

fn query(subject: PlanSubject) -> PlanQuery {
    let device = DeviceChoice::Simulated("rtx-3060".to_owned());
    let memory = MemoryPreferences {
        mode: OffloadMode::LayerStreaming,
        wish: Wish::Memory,
        denoiser: Some(Residence::OnDemand),
        vram_budget: Some(u64::MAX),
        keep: Keep::All,
        estimate: Estimate::Dryrun,
        device,
        ..MemoryPreferences::default()
    };
    PlanQuery { id: 7, subject, request: request(), memory }
}

/// A plan and a refusal, as the planner makes them.
fn forecasts() -> [Forecast; 2] {
    let (footprint, workload) = known::sizes("sd1.5", &known::request("sd1.5").unwrap()).unwrap();
    let card = card("rtx-4060").unwrap();
    [(64 << 30, 0), (64 << 30, card.vram)].map(|(ram, taken)| {
        let machine = machine_of(card, ram, taken);
        memory::forecast(&footprint, &workload, &machine, &MemoryPreferences::default(), None)
    })
}

fn summary() -> ModelSummary {
    let block = BlockSummary { name: "layers.0".to_owned(), tensors: 3, parameters: 4, bytes: 8 };
    let component = ComponentSummary {
        name: "denoiser".to_owned(),
        role: Role::Denoiser,
        architecture: "Z-Image transformer".to_owned(),
        parameters: 1 << 40,
        bytes: 1 << 41,
        dtypes: BTreeMap::from([("BF16".to_owned(), 1 << 41)]),
        blocks: vec![block],
        files: vec![PathBuf::from("a.safetensors")],
    };
    ModelSummary {
        source: ModelSource::Starter,
        name: "Starter".to_owned(),
        family: "z_image".to_owned(),
        family_name: "Z-Image".to_owned(),
        layout: "diffusers folder".to_owned(),
        components: vec![component],
        size_multiple: 16,
        longest_side: 16_384,
        defaults: Defaults { width: 128, height: 128, steps: 12, guidance: 2.0, ..Defaults::default() },
        examples: vec!["a hill".to_owned()],
        reads_clip_skip: true,
        reads_true_cfg: true,
        shift: Some(3.0),
        takes_refiner: true,
        takes_redux: true,
        takes_control_nets: true,
        takes_ip_adapters: true,
        maps: Some(MapKind::Pose),
        control_modes: vec![sluice_engine::request::ControlMode::LowQuality],
        frame_multiple: None,
        modes: Vec::new(),
        references: None,
        overlap: None,
        fills_in: false,
    }
}

#[test]
fn events_come_back() {
    let image = Image::opaque(2, 1, vec![0, 128, 255, 1, 2, 3]);
    let (job, failure) = (JobId(5), Failure { message: "no".to_owned(), advice: None });
    let advised = Failure { advice: Some("do".to_owned()), ..failure.clone() };
    let picture =
        Picture { media: Media::Image(image.clone()), seed: u64::MAX, path: Some(PathBuf::from("a.png")) };
    let [planned, refused] = forecasts();
    assert!(planned.plan.is_ok() && refused.plan.is_err());
    let outcome = Outcome {
        model: "a".to_owned(),
        run: Some(RunIdentity {
            model: "c".to_owned(),
            dtype: ComputeDtype::F16,
            precisions: [Storage::Nf4, Storage::Stored],
            shape: RunShape {
                width: 8,
                height: 16,
                frames: 1,
                batch: 2,
                branches: 2,
                windows: None,
                references: 0,
                enlarged: Some([16, 32]),
                detailers: 1,
            },
        }),
        device: "b".to_owned(),
        predicted_device: 1,
        measured_device: 2,
        predicted_activations: 3,
        measured_activations: 4,
        predicted_step_seconds: 0.5,
        measured_step_seconds: 0.25,
        measured_operations_per_second: 1e12,
        measured_link_bytes_per_second: 0.0,
        measured_disk_bytes_per_second: 0.0,
        stages: Vec::new(),
        speeds: vec![PartSpeed { part: "d".to_owned(), operations_per_second: 2e12 }],
    };
    let report = AdapterReport {
        path: PathBuf::from("loras/雪.safetensors"),
        weight: 0.5,
        kind: "LoRA".to_owned(),
        ranks: Some([4, 16]),
        keys: 3,
        unmatched: vec!["ema".to_owned()],
        half_of: Some(PathBuf::from("loras/雪-high.safetensors")),
    };
    let extent = Extent { tokens: 118, room: 150, chunks: 2, cut: 0 };
    let reading = Reading { encoder: "CLIP-L".to_owned(), is_summary: false, extent };
    let readings =
        Readings { prompt: vec![reading.clone()], regions: vec![vec![reading]], ..Readings::default() };
    let unsaved = Picture { path: None, ..picture.clone() };
    let events = [
        Event::Hardware(Probe::new().sample()),
        Event::ModelLoaded(Box::new(summary())),
        Event::NotLoaded { model: ModelSource::Path(PathBuf::from("雪.gguf")), failure: advised.clone() },
        Event::Listed {
            lane: 1,
            folders: vec![PathBuf::from("models")],
            inventory: Box::new(inventory(&starter_folder().unwrap())),
        },
        Event::Described { job, settings: vec![Settings::new(&request(), "Starter", "z_image", 0)] },
        Event::Unloaded,
        Event::Serving(Serving { engine: "CPU".to_owned(), process: 7, instead_of: Some(failure.clone()) }),
        Event::Restarting { failure: advised.clone() },
        Event::Unfinished { jobs: vec![Job::new(job, request())] },
        Event::Resumable { jobs: vec![Job::new(job, request())] },
        Event::Queued { job, position: 2 },
        Event::Assigned { job, lane: 1 },
        Event::Returned { job },
        Event::Lane { lane: 0, change: LaneChange::Restarts(advised.clone()) },
        Event::Lane { lane: 1, change: LaneChange::GivenUp(failure.clone()) },
        Event::Lane { lane: 1, change: LaneChange::Has(ModelSource::Starter) },
        Event::Lane { lane: 1, change: LaneChange::Lacks(ModelSource::StarterClip, failure.clone()) },
        Event::Started { job },
        Event::StageStarted { job, stage: Stage::new(0, StageKind::EncodePrompt) },
        Event::StageFinished { job, stage: Stage::new(1, StageKind::Denoise), seconds: 0.1 },
        Event::StageFinished { job, stage: Stage::new(2, StageKind::Decode), seconds: 1e9 },
        Event::Step { job, step: 1, steps: 12, seconds: 0.25, seconds_left: 1.0 / 3.0 },
        Event::Preview { job, step: 1, media: vec![Media::Image(image.clone()), Media::Image(image)] },
        Event::Planned { id: 1, forecast: Box::new(planned), readings },
        Event::Planned { id: 2, forecast: Box::new(refused), readings: Readings::default() },
        Event::NotPlanned { id: 3, failure: failure.clone() },
        Event::Telemetry { job, events: vec![TelemetryEvent::Note { at: 4, text: "a note".to_owned() }] },
        Event::Replanned { job, reason: "memory ran out".to_owned() },
        Event::Outcome { job, outcome: Box::new(outcome) },
        Event::Found { job, detailer: 1, boxes: 3 },
        Event::NotSaved { job, failure: failure.clone() },
        Event::Finished { job, pictures: vec![picture, unsaved], seconds: 2.5 },
        Event::Cancelled { job },
        Event::Failed { job: Some(job), failure },
        Event::Failed { job: None, failure: advised },
        Event::Adapted { job: Some(job), reports: vec![report.clone()] },
        Event::Text { job, text: "雪の中の狐 \"x\"\n".to_owned(), is_whole: false },
        Event::Adapted { job: None, reports: vec![AdapterReport { ranks: None, ..report }] },
        Event::ShutDown,
    ];
    for event in &events {
        match event {
            Event::Hardware(_)
            | Event::ModelLoaded(_)
            | Event::NotLoaded { .. }
            | Event::Listed { .. }
            | Event::Described { .. }
            | Event::Unloaded
            | Event::Serving(_)
            | Event::Restarting { .. }
            | Event::Unfinished { .. }
            | Event::Resumable { .. }
            | Event::Queued { .. }
            | Event::Assigned { .. }
            | Event::Returned { .. }
            | Event::Lane { .. }
            | Event::Started { .. }
            | Event::StageStarted { .. }
            | Event::StageFinished { .. }
            | Event::Step { .. }
            | Event::Preview { .. }
            | Event::Text { .. }
            | Event::Planned { .. }
            | Event::NotPlanned { .. }
            | Event::Telemetry { .. }
            | Event::Replanned { .. }
            | Event::Adapted { .. }
            | Event::Outcome { .. }
            | Event::Found { .. }
            | Event::NotSaved { .. }
            | Event::Finished { .. }
            | Event::Cancelled { .. }
            | Event::Failed { .. }
            | Event::ShutDown => {}
        }
        match event {
            Event::Planned { .. } => round_trip_of_forecast(event),
            _ => drop(round_trip(event)),
        }
    }
}
