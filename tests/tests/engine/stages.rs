//! A run executes any list of stages that a family asks for.

use std::{
    cell::RefCell,
    sync::{Arc, Mutex},
};

use candle_core::{Device, Tensor as Values};
use sluice_engine::{
    checkpoint::{Checkpoint, CheckpointError},
    hardware::{MemoryAccount, Probe},
    memory::{MemoryPreferences, Outcome},
    models::{
        self, Conditioning, Denoise, Denoiser, DenoiserInput, Denoising, Family, LatentShape, Model, Network,
        PrepareInput, Prepared, Start, Steps, Task, Used, around,
    },
    nn::{self, Tensor},
    output::Media,
    pipeline::{
        self, ActivePlan, Journal, LoadedModel, Observer, Pace, Resolved, RunOptions, Stage, StageKind,
        Target,
    },
    request::{Canvas, ComputeDtype, Request, Sampler, Schedule},
    residency::{Blocks, CancelToken, RunError},
    telemetry::Recorder,
    text::Encoded,
    vae::{Autoencoder, Piece, Show, Tiling},
};
use sluice_tests::checkpoint::Fixture;

/// A family whose models are those of Stable Diffusion, with its own stages.
struct Toy {
    stages: fn(&Model, &Request) -> Vec<Task>,
}

impl Family for Toy {
    fn id(&self) -> &'static str {
        "toy"
    }

    fn name(&self) -> &'static str {
        "Toy"
    }

    fn recognises(&self, _: &Checkpoint) -> bool {
        false
    }

    fn stages(&self, model: &Model, request: &Request) -> Vec<Task> {
        (self.stages)(model, request)
    }

    fn open(&self, checkpoint: &Checkpoint) -> Result<Model, CheckpointError> {
        unreachable!("{} is never opened as a toy", checkpoint.path.display())
    }
}

/// Two experts in one sampling loop: the first takes the timesteps from 500 on.
static EXPERTS: Toy = Toy {
    stages: |model, request| {
        let [first, second] = both(model);
        let steps = Steps::new(&first.network, request).handed_over(&first.network, 500.0);
        let [high, low] = steps;
        let canvas = request.canvas();
        let denoise =
            |denoiser, name, start, steps| Denoise { denoiser, name, canvas, start, steps, sees: None };
        let experts = [
            denoise(first, "High noise", Start::Noise, high),
            denoise(second, "Low noise", Start::SameWalk, low),
        ];
        around(model, request, experts.into())
    },
};

/// A cascade: the second network starts from its own noise and reads the result of the first.
static CASCADE: Toy = Toy {
    stages: |model, request| {
        let [first, second] = both(model);
        let steps = |denoiser: &Used<Denoising>| Steps::new(&denoiser.network, request);
        let prior = Denoise {
            name: "Prior",
            canvas: request.canvas(),
            start: Start::Noise,
            steps: steps(&first),
            sees: None,
            denoiser: first,
        };
        let before = around(model, request, vec![prior.clone()]);
        let number = before.iter().position(|task| task.denoise().is_some());
        let decoder = Denoise {
            name: "Decoder",
            canvas: request.canvas(),
            start: Start::Noise,
            steps: Steps { first: prior.steps.count(), ..steps(&second) },
            sees: number,
            denoiser: second,
        };
        around(model, request, vec![prior, decoder])
    },
};

fn both(model: &Model) -> [Used<Denoising>; 2] {
    let denoisers: Vec<_> = model.denoisers().collect();
    denoisers.try_into().unwrap_or_else(|_| panic!("two denoisers"))
}

/// Stable Diffusion with its denoiser twice.
fn doubled(family: &'static Toy) -> (Model, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let path = Fixture::new("stable_diffusion", "one").write_diffusers(folder.path()).unwrap();
    let model = models::open(&path, &[]).unwrap();
    let second = |part: &models::ModelPart| matches!(part.network, Network::Denoiser(_)).then_some("second");
    let joined = model.joined(&model, second);
    // A denoiser reads the text encoders of its own model, which were not joined.
    let reads = both(&joined)[0].network.reads.clone();
    (with_second(&Model { family, ..joined }, |own| Denoising { reads: reads.clone(), ..own }), folder)
}

fn with_second(model: &Model, change: impl Fn(Denoising) -> Denoising) -> Model {
    let Used { part, network } = both(model)[1].clone();
    let mut model = model.clone();
    model.parts[part].network = Network::Denoiser(Arc::new(change(Denoising::clone(&network))));
    model
}

#[derive(Default)]
struct Heard {
    stages: Vec<(StageKind, String)>,
    steps: Vec<(u32, u32)>,
}

impl Observer for Heard {
    fn stage_started(&mut self, stage: &Stage) {
        self.stages.push((stage.kind, stage.name.clone()));
    }

    fn stage_finished(&mut self, _: &Stage, _: f64) {}

    fn resumed(&mut self, _: u32) {}

    fn step(&mut self, step: u32, steps: u32, _: f64) {
        self.steps.push((step, steps));
    }

    fn preview(&mut self, _: u32, _: Vec<Media>) {}

    fn text(&mut self, _: &str, _: bool) {}

    fn wants_previews(&self) -> bool {
        false
    }

    fn found(&mut self, _: usize, _: usize) {}

    fn replanned(&mut self, reason: &str) {
        panic!("{reason}");
    }

    fn stopped(&mut self, _: &ActivePlan) {}
}

fn generate(model: Model, request: &Request, memory: &MemoryPreferences) -> (Vec<Media>, Heard, Outcome) {
    let target = Target::choose(memory, &Probe::new().sample(), 0, Pace::Here).unwrap();
    let account = MemoryAccount::new();
    let loaded = LoadedModel::new(model, "toy".to_owned(), ComputeDtype::F32, &target, memory, &account);
    let resolved = Resolved::new(loaded.model(), request, ComputeDtype::F32).unwrap();
    let options = RunOptions {
        initial_latents: None,
        dump: None,
        cancel: CancelToken::default(),
        memory,
        target: &target,
        activation_factor: 1.0,
        recorder: Recorder::disabled(),
        journal: RefCell::new(Journal::default()),
    };
    let mut heard = Heard::default();
    let rendered = loaded.render(&resolved, &options, &mut heard).unwrap();
    let identity = loaded.model().identity();
    let outcome = rendered.plan.outcome(pipeline::run_identity(identity, &resolved, memory));
    (rendered.media, heard, outcome)
}

fn request(sampler: Sampler, schedule: Schedule) -> Request {
    Request {
        prompt: "a red boat".to_owned(),
        negative_prompt: "fog".to_owned(),
        width: 64,
        height: 48,
        steps: 6,
        guidance: 4.0,
        sampler,
        schedule,
        ..Request::default()
    }
}

/// Two experts with the same weights generate the same image as one network, even if the switch lies inside a
/// step: the sampler keeps its history, and noise, calls and steps continue. A matrix of fewer timesteps may
/// be summed in another order, so the last bits of a few values can differ.
#[test]
fn experts_that_take_turns_draw_as_one_network() {
    let memory = MemoryPreferences::default();
    for sampler in [Sampler::Euler, Sampler::Dpmpp2m, Sampler::Heun, Sampler::Dpm2, Sampler::Dpmpp2mSde] {
        for schedule in [Schedule::Model, Schedule::Karras] {
            let (model, _folder) = doubled(&EXPERTS);
            let request = request(sampler, schedule);
            let family = models::FAMILIES.iter().find(|family| family.id() == "stable_diffusion").unwrap();
            let single = Model { family: *family, ..model.clone() };
            let (want, ..) = generate(single, &request, &memory);
            let (got, heard, _) = generate(model, &request, &memory);
            let pairs = want[0].frames()[0].pixels.iter().zip(&got[0].frames()[0].pixels);
            let distance = pairs.map(|(one, other)| one.abs_diff(*other)).max();
            assert!(distance <= Some(1), "{sampler:?} {schedule:?}: {distance:?}");
            let names: Vec<&str> = heard.stages.iter().map(|(_, name)| name.as_str()).collect();
            assert_eq!(names, ["Encode", "High noise", "Low noise", "Decode"], "{sampler:?} {schedule:?}");
            let steps: Vec<_> = (1..=6).map(|step| (step, 6)).collect();
            assert_eq!(heard.steps, steps, "{sampler:?} {schedule:?}");
        }
    }
}

/// A denoiser that records what it reads beside its latents.
struct Seeing {
    inner: Arc<dyn Denoiser>,
    seen: Arc<Mutex<Vec<Values>>>,
}

impl Denoiser for Seeing {
    fn size_multiple(&self) -> u32 {
        self.inner.size_multiple()
    }

    fn latents(&self, canvas: Canvas) -> LatentShape {
        self.inner.latents(canvas)
    }

    fn conditioning(&self, encoded: Vec<Encoded>) -> nn::Result<Conditioning> {
        self.inner.conditioning(encoded)
    }

    fn prepare(&self, blocks: Blocks<'_>, input: &PrepareInput<'_>) -> Result<Prepared, RunError> {
        self.inner.prepare(blocks, input)
    }

    fn predict(
        &self,
        blocks: Blocks<'_>,
        input: &DenoiserInput<'_>,
        prepared: &Prepared,
    ) -> Result<Vec<Tensor>, RunError> {
        let beside = input.beside.expect("the result of the stage before");
        assert_eq!(beside.dims(), input.latents.dims());
        if let Ok(values) = beside.computed() {
            self.seen.lock().unwrap().push(values.to_device(&Device::Cpu)?);
        }
        self.inner.predict(blocks, &DenoiserInput { beside: None, ..*input }, prepared)
    }

    fn velocity(&self, input: &DenoiserInput<'_>, output: &Tensor) -> nn::Result<Tensor> {
        self.inner.velocity(input, output)
    }
}

#[test]
fn the_second_stage_of_a_cascade_sees_what_the_first_has_made() {
    let memory = MemoryPreferences::default();
    let request = request(Sampler::Euler, Schedule::Model);
    let (model, _folder) = doubled(&CASCADE);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let watched = with_second(&model, |own| Denoising {
        denoiser: Arc::new(Seeing { inner: own.denoiser.clone(), seen: Arc::clone(&seen) }),
        ..own
    });
    let (images, heard, _) = generate(watched, &request, &memory);
    let names: Vec<&str> = heard.stages.iter().map(|(_, name)| name.as_str()).collect();
    assert_eq!(names, ["Encode", "Prior", "Decoder", "Decode"]);
    assert_eq!(heard.steps, (1..=12).map(|step| (step, 12)).collect::<Vec<_>>());
    let seen = seen.lock().unwrap();
    assert_eq!(seen.len(), 6, "once per step");
    let values = |tensor: &Values| tensor.flatten_all().unwrap().to_vec1::<f32>().unwrap();
    assert!(seen.iter().all(|tensor| values(tensor) == values(&seen[0])));
    // What it read is what the first stage would have passed to the decoder.
    let single = Model { family: models::FAMILIES[4], ..model };
    let (alone, ..) = generate(single, &request, &memory);
    assert_ne!(images, alone, "its own noise");
}

/// A denoiser and an autoencoder whose latents have three frames, each of which is treated as an image.
struct Frames<T: ?Sized> {
    inner: Arc<T>,
}

const FRAMES: usize = 3;

/// `[batch, channels, frames, height, width]`, frame by frame.
fn by_frame(
    x: &Tensor,
    mut work: impl FnMut(&Tensor) -> Result<Vec<Tensor>, RunError>,
) -> Result<Vec<Tensor>, RunError> {
    let mut outputs: Vec<Vec<Tensor>> = Vec::new();
    for frame in 0..FRAMES {
        let made = work(&x.narrow(2, frame, 1)?.squeeze(2)?.contiguous()?)?;
        outputs.resize_with(made.len(), Vec::new);
        for (all, one) in outputs.iter_mut().zip(made) {
            all.push(one.unsqueeze(2)?);
        }
    }
    let join = |frames: &Vec<Tensor>| Tensor::cat(&frames.iter().collect::<Vec<_>>(), 2);
    Ok(outputs.iter().map(join).collect::<nn::Result<_>>()?)
}

impl Denoiser for Frames<dyn Denoiser> {
    fn size_multiple(&self) -> u32 {
        self.inner.size_multiple()
    }

    fn latents(&self, canvas: Canvas) -> LatentShape {
        LatentShape { frames: canvas.frames as usize, ..self.inner.latents(canvas) }
    }

    fn makes_clips(&self) -> bool {
        true
    }

    fn conditioning(&self, encoded: Vec<Encoded>) -> nn::Result<Conditioning> {
        self.inner.conditioning(encoded)
    }

    fn prepare(&self, blocks: Blocks<'_>, input: &PrepareInput<'_>) -> Result<Prepared, RunError> {
        self.inner.prepare(blocks, input)
    }

    fn predict(
        &self,
        blocks: Blocks<'_>,
        input: &DenoiserInput<'_>,
        prepared: &Prepared,
    ) -> Result<Vec<Tensor>, RunError> {
        by_frame(input.latents, |latents| {
            self.inner.predict(blocks, &DenoiserInput { latents, ..*input }, prepared)
        })
    }

    fn velocity(&self, input: &DenoiserInput<'_>, output: &Tensor) -> nn::Result<Tensor> {
        self.inner.velocity(input, output)
    }
}

impl std::fmt::Debug for Frames<dyn Autoencoder> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.inner.fmt(f)
    }
}

impl Autoencoder for Frames<dyn Autoencoder> {
    fn latent_channels(&self) -> usize {
        self.inner.latent_channels()
    }

    fn image_channels(&self) -> usize {
        self.inner.image_channels()
    }

    fn scale(&self) -> usize {
        self.inner.scale()
    }

    fn unscale(&self, latents: &Tensor) -> nn::Result<Tensor> {
        self.inner.unscale(latents)
    }

    fn rescale(&self, latents: &Tensor) -> nn::Result<Tensor> {
        self.inner.rescale(latents)
    }

    fn decode(
        &self,
        blocks: Blocks<'_>,
        latents: &Tensor,
        tiling: Option<Tiling>,
    ) -> Result<Tensor, RunError> {
        let frames = by_frame(latents, |latents| Ok(vec![self.inner.decode(blocks, latents, tiling)?]))?;
        Ok(frames[0].clone())
    }

    fn decode_clip(
        &self,
        blocks: Blocks<'_>,
        latents: &Tensor,
        tiling: Option<Tiling>,
        show: Show<'_>,
    ) -> Result<(), RunError> {
        let dims = latents.dims();
        let [whole] = Tiling::places(None, [dims[3], dims[4]])[..] else { panic!("more than one tile") };
        for first in 0..dims[2] {
            let frame = latents.narrow(2, first, 1)?.squeeze(2)?.contiguous()?;
            let frames = vec![self.inner.decode(blocks, &frame, tiling)?];
            show(Piece { place: whole, first, frames })?;
        }
        Ok(())
    }

    fn encode(
        &self,
        blocks: Blocks<'_>,
        images: &Tensor,
        tiling: Option<Tiling>,
    ) -> Result<(Tensor, Tensor), RunError> {
        self.inner.encode(blocks, images, tiling)
    }
}

#[test]
fn latents_with_frames_become_a_clip() {
    let memory = MemoryPreferences::default();
    let one = request(Sampler::Euler, Schedule::Model);
    let several = Request { frames: FRAMES as u32, frame_rate: 12.0, ..one.clone() };
    let (model, _folder) = doubled(&EXPERTS);
    let single = Model { family: models::FAMILIES[4], ..model };
    assert!(Resolved::new(&single, &several, ComputeDtype::F32).is_err(), "it generates images");
    let mut clips = single.clone();
    for part in &mut clips.parts {
        part.network = match part.network.clone() {
            Network::Denoiser(own) => Network::Denoiser(Arc::new(Denoising {
                denoiser: Arc::new(Frames { inner: own.denoiser.clone() }),
                ..Denoising::clone(&own)
            })),
            Network::Autoencoder(inner) => Network::Autoencoder(Arc::new(Frames { inner })),
            other => other,
        };
    }
    let (media, ..) = generate(clips, &several, &memory);
    let [Media::Clip(clip)] = &media[..] else { panic!("one clip") };
    assert_eq!((clip.frames.len(), clip.rate), (FRAMES, 12.0));
    assert!(clip.frames.iter().all(|frame| (frame.width, frame.height) == (64, 48)));
    assert_ne!(clip.frames[0], clip.frames[1], "each has its own noise");
    let (image, ..) = generate(single, &one, &memory);
    assert!(matches!(&image[..], [Media::Image(_)]));
}

/// Each stage is planned separately: the second network is not loaded while the first one runs.
#[test]
fn experts_take_the_memory_of_one() {
    let (model, _folder) = doubled(&EXPERTS);
    let memory = MemoryPreferences {
        mode: sluice_engine::memory::OffloadMode::Aggressive,
        device: sluice_engine::memory::DeviceChoice::Simulated("rtx-4060".to_owned()),
        ..MemoryPreferences::default()
    };
    let (_, _, outcome) = generate(model, &request(Sampler::Euler, Schedule::Model), &memory);
    let stages: Vec<_> = outcome.stages.iter().filter(|peak| peak.stage.kind == StageKind::Denoise).collect();
    let [high, low] = &stages[..] else { panic!("{stages:?}") };
    let ratio = high.predicted as f64 / low.predicted as f64;
    assert!((0.98..1.02).contains(&ratio), "the steps differ a little, the weights do not: {stages:?}");
    for peak in [high, low] {
        let ratio = peak.measured as f64 / peak.predicted as f64;
        assert!((0.5..1.02).contains(&ratio), "{peak:?}");
    }
}
