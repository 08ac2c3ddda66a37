//! Commands and events cross a process border as JSON and come back as they were.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot go on must fail"
)]

use std::{collections::BTreeMap, path::PathBuf};

use serde::{Serialize, de::DeserializeOwned};
use sluice_engine::{
    hardware::Probe,
    output::{Image, Output},
    request::{ComputeDtype, ModelSource, Request, Sampler, Schedule},
    session::{
        BlockSummary, Command, ComponentSummary, Defaults, Event, Failure, Job, JobId, ModelSummary, Picture,
        Stage,
    },
};

fn round_trip<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(value: &T) -> String {
    let text = serde_json::to_string(value).unwrap();
    let back: T = serde_json::from_str(&text).unwrap();
    assert_eq!(&back, value, "{text}");
    assert!(!text.contains('\n'), "a message is one line");
    text
}

fn request() -> Request {
    Request {
        model: ModelSource::Path(PathBuf::from("/models/ein Modell")),
        prompt: "雪の中の狐 \"quoted\"\nsecond line".to_owned(),
        negative_prompt: "\u{0}\t\\".to_owned(),
        width: 1024,
        height: 16,
        steps: 9,
        guidance: 0.1,
        seed: u64::MAX,
        batch: 3,
        sampler: Sampler::Heun,
        schedule: Schedule::DynamicShift,
        dtype: ComputeDtype::Bf16,
        max_sequence_length: 7,
    }
}

#[test]
fn commands_come_back() {
    let job = Job {
        output: Some(Output::Folder(PathBuf::from("out"))),
        previews: true,
        initial_latents: Some(PathBuf::from("latents")),
        dump: Some(PathBuf::from("dump")),
        ..Job::new(JobId(u64::MAX), request())
    };
    let to_file = Job { output: Some(Output::File(PathBuf::from("a.png"))), ..Job::new(JobId(1), request()) };
    let commands = [
        Command::Load { model: ModelSource::Starter },
        Command::Load { model: ModelSource::Path(PathBuf::from("starter")) },
        Command::Generate(Box::new(job)),
        Command::Generate(Box::new(to_file)),
        Command::Generate(Box::new(Job::new(JobId(0), Request::default()))),
        Command::Cancel { job: JobId(3) },
        Command::Unload,
        Command::ShutDown,
    ];
    let mut kinds: Vec<String> = commands
        .iter()
        .map(|command| {
            // A new variant does not compile here until it is in the list above.
            match command {
                Command::Load { .. }
                | Command::Generate(_)
                | Command::Cancel { .. }
                | Command::Unload
                | Command::ShutDown => {}
            }
            let value: serde_json::Value = serde_json::from_str(&round_trip(command)).unwrap();
            value["command"].as_str().unwrap().to_owned()
        })
        .collect();
    kinds.dedup();
    assert_eq!(kinds, ["load", "generate", "cancel", "unload", "shut_down"]);
}

fn summary() -> ModelSummary {
    let block = BlockSummary { name: "layers.0".to_owned(), tensors: 3, parameters: 4, bytes: 8 };
    let component = ComponentSummary {
        role: "denoiser".to_owned(),
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
        defaults: Defaults { width: 128, height: 128, steps: 12, guidance: 2.0 },
        examples: vec!["a hill".to_owned()],
    }
}

#[test]
fn events_come_back() {
    let image = Image { width: 2, height: 1, pixels: vec![0, 128, 255, 1, 2, 3] };
    let (job, failure) = (JobId(5), Failure { message: "no".to_owned(), advice: None });
    let advised = Failure { advice: Some("do".to_owned()), ..failure.clone() };
    let picture = Picture { image: image.clone(), seed: u64::MAX, path: Some(PathBuf::from("a.png")) };
    let unsaved = Picture { path: None, ..picture.clone() };
    let events = [
        Event::Hardware(Probe::new().sample()),
        Event::ModelLoaded(Box::new(summary())),
        Event::Unloaded,
        Event::Queued { job, position: 2 },
        Event::Started { job },
        Event::StageStarted { job, stage: Stage::Encode },
        Event::StageFinished { job, stage: Stage::Denoise, seconds: 0.1 },
        Event::StageFinished { job, stage: Stage::Decode, seconds: 1e9 },
        Event::Step { job, step: 1, steps: 12, seconds: 0.25, seconds_left: 1.0 / 3.0 },
        Event::Preview { job, step: 1, images: vec![image.clone(), image] },
        Event::NotSaved { job, failure: failure.clone() },
        Event::Finished { job, pictures: vec![picture, unsaved], seconds: 2.5 },
        Event::Cancelled { job },
        Event::Failed { job: Some(job), failure },
        Event::Failed { job: None, failure: advised },
        Event::ShutDown,
    ];
    for event in &events {
        match event {
            Event::Hardware(_)
            | Event::ModelLoaded(_)
            | Event::Unloaded
            | Event::Queued { .. }
            | Event::Started { .. }
            | Event::StageStarted { .. }
            | Event::StageFinished { .. }
            | Event::Step { .. }
            | Event::Preview { .. }
            | Event::NotSaved { .. }
            | Event::Finished { .. }
            | Event::Cancelled { .. }
            | Event::Failed { .. }
            | Event::ShutDown => {}
        }
        round_trip(event);
    }
}
