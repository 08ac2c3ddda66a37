//! The engine as an actor: order, cancelling, shutdown, and the format of its messages.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use crossbeam_channel::RecvTimeoutError;
use sluice_engine::{
    output::{Media, Output},
    request::{ModelSource, Request, Sampler},
    session::{Command, Event, Job, JobId, Session, SessionOptions},
};
use sluice_tests::{
    checkpoint::{Fixture, fixtures, manifest_tensors, save},
    golden::distance,
    runner::{End, Runner, story},
};

use sluice_tools::{Likeness, RandomDtype};

/// Enough steps to be still running when a command arrives.
const MANY_STEPS: u32 = 1000;
/// How long a cancelled job may take to end: one block, generously.
const ONE_BLOCK: Duration = Duration::from_secs(5);

struct Tiny {
    model: PathBuf,
    request: Request,
    _folder: tempfile::TempDir,
}

fn tiny() -> Tiny {
    let folder = tempfile::tempdir().unwrap();
    let fixture = Fixture::new("z_image", "default");
    let model = fixture.write_diffusers(folder.path()).unwrap();
    let request =
        Request { width: 32, height: 32, steps: 2, ..fixture.run("guided").unwrap().request(&model) };
    Tiny { model, request, _folder: folder }
}

impl Tiny {
    fn long(&self) -> Request {
        Request { steps: MANY_STEPS, width: 64, height: 64, ..self.request.clone() }
    }
}

fn send(runner: &Runner, job: &Job) {
    runner.send(Command::Generate(Box::new(job.clone()))).unwrap();
}

/// Events up to the first wanted one, inclusive.
fn until(runner: &Runner, wanted: impl Fn(&Event) -> bool) -> Vec<Event> {
    let mut events = Vec::new();
    loop {
        let event = runner.event().unwrap();
        events.push(event.clone());
        if wanted(&event) {
            return events;
        }
    }
}

fn is_step(event: &Event, job: JobId) -> bool {
    matches!(event, Event::Step { job: of, .. } if *of == job)
}

#[test]
fn a_job_tells_its_story_in_order() {
    let tiny = tiny();
    let mut runner = Runner::start().unwrap();
    let job = runner.job(tiny.request.clone());
    let id = job.id;
    let outcome = runner.run(job).unwrap();
    assert_eq!(
        story(&outcome.events, id),
        [
            "queued",
            "started",
            "encode starts",
            "encode ends",
            "denoise starts",
            "step 1 of 2",
            "step 2 of 2",
            "denoise ends",
            "decode starts",
            "decode ends",
            "finished",
        ]
    );
}

#[test]
fn times_add_up() {
    let tiny = tiny();
    let mut runner = Runner::start().unwrap();
    let start = Instant::now();
    let job = runner.job(tiny.request.clone());
    let outcome = runner.run(job).unwrap();
    let wall = start.elapsed().as_secs_f64();
    let (mut stages, mut total) = (0.0, 0.0);
    for event in &outcome.events {
        match event {
            Event::StageFinished { seconds, .. } => stages += seconds,
            Event::Finished { seconds, .. } => total = *seconds,
            Event::Step { seconds, seconds_left, .. } => {
                assert!(*seconds > 0.0 && seconds_left.is_finite() && *seconds_left >= 0.0);
            }
            _ => {}
        }
    }
    assert!(stages > 0.0 && stages <= total && total <= wall, "{stages} ≤ {total} ≤ {wall}");
}

#[test]
fn jobs_run_in_the_order_in_which_they_came() {
    let tiny = tiny();
    let mut runner = Runner::start().unwrap();
    let jobs: Vec<Job> = (0..4).map(|_| runner.job(tiny.request.clone())).collect();
    for job in &jobs {
        send(&runner, job);
    }
    let events = until(&runner, |event| matches!(event, Event::Finished { job, .. } if *job == jobs[3].id));
    let finished: Vec<JobId> = events
        .iter()
        .filter_map(|event| if let Event::Finished { job, .. } = event { Some(*job) } else { None })
        .collect();
    assert_eq!(finished, jobs.iter().map(|job| job.id).collect::<Vec<_>>());
    for pair in jobs.windows(2) {
        let place = |wanted: &dyn Fn(&Event) -> bool| events.iter().position(wanted).unwrap();
        let end = place(&|event| matches!(event, Event::Finished { job, .. } if *job == pair[0].id));
        let start = place(&|event| matches!(event, Event::Started { job } if *job == pair[1].id));
        assert!(end < start, "one job at a time");
    }
}

#[test]
fn cancelling_ends_a_running_job_within_a_block() {
    let tiny = tiny();
    let mut runner = Runner::start().unwrap();
    let job = runner.job(tiny.long());
    let id = job.id;
    send(&runner, &job);
    until(&runner, |event| is_step(event, id));
    let start = Instant::now();
    runner.send(Command::Cancel { job: id }).unwrap();
    let outcome = runner.wait(id).unwrap();
    assert!(matches!(outcome.end, End::Cancelled), "{:?}", outcome.end);
    assert!(start.elapsed() < ONE_BLOCK, "it took {:?}", start.elapsed());
    let last = outcome.events.iter().filter_map(|event| match event {
        Event::Step { step, .. } => Some(*step),
        _ => None,
    });
    assert!(last.max().unwrap_or(0) < MANY_STEPS / 2, "it went on");
    // There are no more events about it, and the next job is not affected.
    let next = runner.job(tiny.request.clone());
    let outcome = runner.run(next).unwrap();
    assert!(story(&outcome.events, id).is_empty());
    assert!(matches!(outcome.end, End::Finished(_)));
}

#[test]
fn cancelling_takes_a_waiting_job_out_of_the_queue() {
    let tiny = tiny();
    let mut runner = Runner::start().unwrap();
    let jobs: Vec<Job> = [tiny.long(), tiny.request.clone(), tiny.request.clone()]
        .into_iter()
        .map(|request| runner.job(request))
        .collect();
    for job in &jobs {
        send(&runner, job);
    }
    until(&runner, |event| is_step(event, jobs[0].id));
    runner.send(Command::Cancel { job: jobs[1].id }).unwrap();
    let outcome = runner.wait(jobs[1].id).unwrap();
    assert!(matches!(outcome.end, End::Cancelled));
    runner.send(Command::Cancel { job: jobs[0].id }).unwrap();
    let events = until(&runner, |event| matches!(event, Event::Finished { job, .. } if *job == jobs[2].id));
    assert!(story(&events, jobs[1].id).is_empty(), "the cancelled job never starts");
}

#[test]
fn a_paused_queue_starts_nothing_and_its_order_can_be_changed() {
    let tiny = tiny();
    let mut runner = Runner::start().unwrap();
    runner.send(Command::Pause { paused: true }).unwrap();
    let jobs: Vec<Job> = (0..4).map(|_| runner.job(tiny.request.clone())).collect();
    for job in &jobs {
        send(&runner, job);
    }
    let [a, b, c, d] = [0, 1, 2, 3].map(|number: usize| jobs[number].id);
    for (job, before) in [(d, Some(a)), (a, None), (b, Some(JobId(999))), (JobId(999), Some(a))] {
        runner.send(Command::Move { job, before }).unwrap();
    }
    // Answered after everything before it: nothing has started by then.
    runner.send(Command::Unload).unwrap();
    let events = until(&runner, |event| *event == Event::Unloaded);
    assert!(!events.iter().any(|event| matches!(event, Event::Started { .. })));
    runner.send(Command::Pause { paused: false }).unwrap();
    let events = until(&runner, |event| matches!(event, Event::Finished { job, .. } if *job == b));
    let started = events.iter().filter_map(|event| match event {
        Event::Started { job } => Some(*job),
        _ => None,
    });
    assert_eq!(started.collect::<Vec<_>>(), [d, c, a, b]);
}

#[test]
fn cancelling_what_is_not_there_does_nothing() {
    let tiny = tiny();
    let mut runner = Runner::start().unwrap();
    runner.send(Command::Cancel { job: JobId(999) }).unwrap();
    assert_eq!(runner.draw(tiny.request.clone()).unwrap().len(), 1);
}

#[test]
fn weights_given_back_are_read_again() {
    let tiny = tiny();
    let mut runner = Runner::start().unwrap();
    let before = runner.draw(tiny.request.clone()).unwrap();
    runner.send(Command::Unload).unwrap();
    until(&runner, |event| *event == Event::Unloaded);
    let after = runner.draw(tiny.request.clone()).unwrap();
    assert_eq!(before[0].media, after[0].media);
}

#[test]
fn loading_describes_a_model() {
    let tiny = tiny();
    let runner = Runner::start().unwrap();
    runner.send(Command::Load { model: ModelSource::Path(tiny.model.clone()) }).unwrap();
    let events = until(&runner, |event| matches!(event, Event::ModelLoaded(_)));
    let Some(Event::ModelLoaded(summary)) = events.last() else { panic!("no summary") };
    assert_eq!((summary.family.as_str(), summary.family_name.as_str()), ("z_image", "Z-Image"));
    assert_eq!(summary.size_multiple, 16);
    let parameters: Vec<_> =
        summary.components.iter().map(|part| (part.role.id(), part.parameters, part.bytes)).collect();
    let expected = [("text_encoder", 148_512_u64), ("denoiser", 1_883_008), ("autoencoder", 1_420_547)];
    for (role, weights) in expected {
        assert!(parameters.contains(&(role, weights, 4 * weights)), "{role} in {parameters:?}");
    }
    for part in &summary.components {
        assert_eq!(part.blocks.iter().map(|block| block.parameters).sum::<u64>(), part.parameters);
        assert!(part.files.iter().all(|file| file.starts_with(&tiny.model)));
    }
}

#[test]
fn shutting_down_ends_the_running_job_and_drops_the_rest() {
    let tiny = tiny();
    let mut runner = Runner::start().unwrap();
    let jobs: Vec<Job> = (0..3).map(|_| runner.job(tiny.long())).collect();
    for job in &jobs {
        send(&runner, job);
    }
    until(&runner, |event| is_step(event, jobs[0].id));
    let start = Instant::now();
    runner.send(Command::ShutDown).unwrap();
    let events = until(&runner, |event| *event == Event::ShutDown);
    assert!(start.elapsed() < ONE_BLOCK, "it took {:?}", start.elapsed());
    assert!(!events.iter().any(|event| matches!(event, Event::Finished { .. })));
    assert!(!events.iter().any(|event| matches!(event, Event::Started { .. })));
    assert!(runner.session().events().recv_timeout(ONE_BLOCK).is_err(), "nothing follows the end");
    let refused = (0..100).any(|_| {
        std::thread::sleep(Duration::from_millis(20));
        runner.session().send(Command::Unload).is_err()
    });
    assert!(refused, "an engine that has ended takes no commands");
}

#[test]
fn dropping_a_session_ends_its_threads() {
    let tiny = tiny();
    let mut runner = Runner::start().unwrap();
    let job = runner.job(tiny.long());
    send(&runner, &job);
    until(&runner, |event| is_step(event, job.id));
    let events = runner.session().events().clone();
    let start = Instant::now();
    drop(runner);
    assert!(start.elapsed() < ONE_BLOCK, "it took {:?}", start.elapsed());
    // Each of the engine's threads held a sender. Sent events can still be read; then the channel is closed.
    let end = std::iter::repeat_with(|| events.recv_timeout(ONE_BLOCK)).find_map(Result::err);
    assert_eq!(end, Some(RecvTimeoutError::Disconnected), "a thread goes on");
}

#[test]
fn a_reader_who_sleeps_stops_nothing() {
    let tiny = tiny();
    let mut runner = Runner::start().unwrap();
    // More events than the engine buffers for a reader.
    let request = Request { steps: MANY_STEPS, width: 16, height: 16, guidance: 0.0, ..tiny.request.clone() };
    let job = Job { previews: true, ..runner.job(request) };
    send(&runner, &job);
    let last = runner.job(tiny.request.clone());
    send(&runner, &last);
    std::thread::sleep(Duration::from_secs(3));
    let events = until(&runner, |event| matches!(event, Event::Finished { job: of, .. } if *of == last.id));
    let steps = events.iter().filter(|event| is_step(event, job.id)).count();
    assert_eq!(steps, MANY_STEPS as usize, "no step is forgotten");
}

#[test]
fn waking_is_done_from_another_thread() {
    let (sender, receiver) = std::sync::mpsc::channel();
    let here = std::thread::current().id();
    let options = SessionOptions {
        wake: Box::new(move || {
            let _ = sender.send(std::thread::current().id());
        }),
        ..SessionOptions::default()
    };
    let session = Session::start(options).unwrap();
    session.send(Command::Unload).unwrap();
    let there = receiver.recv_timeout(Duration::from_secs(10)).unwrap();
    assert_ne!(here, there);
    assert_eq!(session.events().recv_timeout(Duration::from_secs(10)).unwrap(), Event::Unloaded);
}

#[test]
fn the_same_seed_draws_the_same_bytes() {
    let tiny = tiny();
    let draw = |seed| {
        let mut runner = Runner::start().unwrap();
        runner.draw(Request { seed, ..tiny.request.clone() }).unwrap().remove(0)
    };
    let (first, again, other) = (draw(7), draw(7), draw(8));
    assert_eq!(first, again);
    assert_ne!(first.media, other.media);
    assert_eq!((first.seed, other.seed), (7, 8));
}

#[test]
fn a_seed_is_the_noise_of_pytorch() {
    let tiny = tiny();
    let mut runner = Runner::start().unwrap();
    let (_, dump) = runner.dump(Request { seed: 42, ..tiny.request.clone() }, None).unwrap();
    let latents: Vec<f32> = dump["latents.init"].flatten_all().unwrap().to_vec1().unwrap();
    assert_eq!(latents, sluice_engine::sampling::randn(42, 16 * 4 * 4));
}

#[test]
fn a_batch_is_its_seeds_one_by_one() {
    let tiny = tiny();
    let mut runner = Runner::start().unwrap();
    for sampler in [Sampler::Euler, Sampler::EulerAncestral] {
        let request = Request { seed: 41, batch: 2, sampler, ..tiny.request.clone() };
        let (pictures, together) = runner.dump(request.clone(), None).unwrap();
        assert_eq!(pictures.iter().map(|picture| picture.seed).collect::<Vec<_>>(), [41, 42]);
        for (index, seed) in [41, 42].into_iter().enumerate() {
            let (_, alone) = runner.dump(Request { seed, batch: 1, ..request.clone() }, None).unwrap();
            for name in ["latents.init", "step.1.latents", "vae.decode.out"] {
                let part = together[name].narrow(0, index, 1).unwrap();
                distance(&format!("{name} of seed {seed}"), &alone[name], &part, 1e-5).unwrap();
            }
        }
    }
}

#[test]
fn previews_of_clips_move() {
    // Memory between two steps of the tiny model is short, so the decoder leaves out doublings.
    for (decoder, least) in [(None, 8), (Some("taew2_1"), 16), (Some("lighttaew2_1"), 16)] {
        previews_of_a_clip_move(decoder, least);
    }
}

fn previews_of_a_clip_move(decoder: Option<&str>, least: u32) {
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("wan");
    assert!(
        Likeness::of("wan-2.1-1.3b")
            .unwrap()
            .tiny()
            .write(&model, RandomDtype::F32, Some(1), |_| true)
            .unwrap()
    );
    if let Some(decoder) = decoder {
        let folder = model.join("vae_approx");
        std::fs::create_dir(&folder).unwrap();
        // Decoders of other latents and those that are pickles are passed over.
        std::fs::write(folder.join("taew2_1.pth"), "a pickle").unwrap();
        for (name, file) in [("taew2_2", "taew2_2"), ("taew2_1", decoder)] {
            let mut weights = manifest_tensors(&fixtures().join("autoencoder_tiny").join(name)).unwrap();
            let (_, weights) = weights.pop_first().unwrap();
            save(&weights, &folder.join(format!("{file}.safetensors"))).unwrap();
        }
    }
    let request = Request {
        model: ModelSource::Path(model),
        width: 64,
        height: 48,
        frames: 9,
        frame_rate: 16.0,
        steps: 3,
        batch: 2,
        ..Request::default()
    };
    let mut runner = Runner::start().unwrap();
    let job = Job { previews: true, ..runner.job(request) };
    let outcome = runner.run(job).unwrap();
    let mut previews = 0;
    for event in &outcome.events {
        let Event::Preview { media, .. } = event else { continue };
        previews += 1;
        assert_eq!(media.len(), 2);
        for media in media {
            let Media::Clip(clip) = media else { panic!("a preview does not move") };
            // Three latent frames in the time of nine.
            assert_eq!((clip.frames.len(), clip.rate), (3, 4.0));
            let (width, height) = (clip.frames[0].width, clip.frames[0].height);
            assert!(width >= least && height * 4 == width * 3, "{decoder:?}: {width}×{height}");
            assert_ne!(clip.frames[0], clip.frames[2]);
        }
    }
    assert!(previews > 0);
}

#[test]
fn previews_come_when_they_are_wanted() {
    let tiny = tiny();
    let mut runner = Runner::start().unwrap();
    let request = Request { steps: 4, ..tiny.request.clone() };
    let job = Job { previews: true, ..runner.job(request.clone()) };
    let outcome = runner.run(job).unwrap();
    let previews: Vec<_> = outcome
        .events
        .iter()
        .filter_map(|event| if let Event::Preview { media, .. } = event { Some(media) } else { None })
        .collect();
    assert!(!previews.is_empty());
    for media in previews {
        assert_eq!(media.len(), 1);
        let image = media[0].first().unwrap();
        assert_eq!(image.pixels.len(), 3 * (image.width * image.height) as usize);
        assert!(image.pixels.iter().collect::<BTreeSet<_>>().len() > 4, "a preview is not one colour");
    }
    let job = runner.job(request);
    let outcome = runner.run(job).unwrap();
    assert!(!outcome.events.iter().any(|event| matches!(event, Event::Preview { .. })));
}

#[test]
fn pictures_go_where_they_are_sent() {
    let tiny = tiny();
    let folder = tempfile::tempdir().unwrap();
    let mut runner = Runner::start().unwrap();
    let mut draw = |output: Output, batch| {
        let request = Request { seed: 5, batch, ..tiny.request.clone() };
        let job = Job { output: Some(output), ..runner.job(request) };
        runner.run(job).unwrap().pictures().unwrap()
    };
    let file = folder.path().join("picture.png");
    let pictures = draw(Output::File(file.clone()), 2);
    let paths: Vec<&Path> = pictures.iter().map(|picture| picture.path.as_deref().unwrap()).collect();
    assert_eq!(paths, [file.as_path(), &folder.path().join("picture-2.png")]);
    for picture in &pictures {
        let image = picture.media.first().unwrap();
        let read = image::open(picture.path.as_deref().unwrap()).unwrap().into_rgb8();
        assert_eq!(read.dimensions(), (image.width, image.height));
        assert_eq!(read.into_raw(), image.pixels);
    }
    let new = folder.path().join("a/new/folder");
    let names: BTreeSet<PathBuf> =
        (0..3).map(|_| draw(Output::Folder(new.clone()), 1)[0].path.clone().unwrap()).collect();
    assert_eq!(names.len(), 3, "no picture takes the place of another");
    assert!(names.iter().all(|path| path.starts_with(&new) && path.is_file()));
}
