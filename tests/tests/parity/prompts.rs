//! Weighted and chunked prompts, and clip skip, against A1111 and Forge.

use std::{path::PathBuf, sync::Arc};

use candle_core::{DType, Tensor};
use sluice_engine::{
    checkpoint::{Checkpoint, Component, Role},
    hardware::{MemoryAccount, computing_threads},
    memory::{DeviceChoice, MemoryPreferences, OffloadMode, Placement, Tier},
    nn::{Computes, Trace},
    request::{ComputeDtype, ModelSource, Region, Regions, Request},
    residency::{Blocks, CpuMemory, Executor, TracedBlocks, WeightStore},
    session::{Command, Event, Extent, Job, PlanQuery, PlanSubject, Reading, Readings},
    text::{self, ClipEncoder, ClipTokenizer, ClipUse, Encoded, Given, T5Encoder, TextEncoder, Tokens},
};
use sluice_tests::{
    checkpoint::{Fixture, fixtures, load, read_json, set_json},
    golden::{MODULE, compare, distance, ids},
    original_names::Tensors,
    runner::Runner,
    stores,
};

/// Weights, four chunks: the prompts with reference states.
const WEIGHTED: usize = 3;
const LONG: usize = 4;
/// SDXL's use of CLIP-L, whose pooled output is not projected.
const EARLIER: ClipUse = ClipUse {
    skip: 1,
    is_normed: false,
    is_projected: false,
    is_summary: false,
    hides_padding: false,
    longest: None,
};

fn prompts() -> Vec<String> {
    read_json(&fixtures().join("prompts.json")).unwrap()
}

fn golden() -> Tensors {
    load(&fixtures().join("prompts.safetensors")).unwrap()
}

/// A tiny FLUX.1 on disk, with the reference's text encoders.
struct Model {
    folder: tempfile::TempDir,
}

impl Model {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Fixture::new("flux", "salted").write_diffusers(folder.path()).unwrap();
        Self { folder }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().to_owned()
    }

    fn clip(&self, usage: ClipUse) -> (ClipEncoder, Component) {
        let checkpoint = Checkpoint::open(self.folder.path(), &[]).unwrap();
        let part = checkpoint.candidates(Role::TextEncoder).next().unwrap();
        ClipEncoder::open(&checkpoint, part, "tokenizer", usage).unwrap()
    }

    fn t5(&self, length: usize) -> (T5Encoder, Component) {
        let checkpoint = Checkpoint::open(self.folder.path(), &[]).unwrap();
        let part = checkpoint.candidates(Role::TextEncoder).nth(1).unwrap();
        T5Encoder::open(&checkpoint, part, "tokenizer_2", length).unwrap()
    }

    fn request(&self, prompt: &str) -> Request {
        Request {
            model: ModelSource::Path(self.path()),
            prompt: prompt.to_owned(),
            width: 48,
            height: 32,
            steps: 1,
            dtype: Some(ComputeDtype::F32),
            ..Request::default()
        }
    }
}

fn encoded(encoder: &dyn TextEncoder, store: &WeightStore, tokens: &Tokens, clip_skip: u32) -> Encoded {
    let executor = Executor::default();
    text::encode(encoder, Blocks::stored(&executor, store), &[tokens], skipping(clip_skip)).unwrap().remove(0)
}

fn skipping(clip_skip: u32) -> Given<'static> {
    Given { clip_skip, ..Given::default() }
}

/// Rows of ids.
fn rows(tokens: &Tokens) -> Vec<i64> {
    tokens.sequences.iter().flat_map(|sequence| &sequence.ids).map(|&id| i64::from(id)).collect()
}

#[test]
fn chunks_and_weights_are_those_of_a1111() {
    let (golden, folder) = (golden(), tempfile::tempdir().unwrap());
    let shared = fixtures().join("flux").join("tokenizer");
    for file in ["vocab.json", "merges.txt", "tokenizer_config.json"] {
        std::fs::copy(shared.join(file), folder.path().join(file)).unwrap();
    }
    set_json(&folder.path().join("tokenizer_config.json"), "pad_token", "!".into()).unwrap();
    let tokenizers = [("ids", shared), ("ids_padded_with_0", folder.path().to_owned())];
    for (kind, folder) in tokenizers {
        let tokenizer = ClipTokenizer::load(&folder).unwrap();
        for (number, prompt) in prompts().iter().enumerate() {
            let tokens = tokenizer.chunks(prompt, 77).unwrap();
            assert_eq!(rows(&tokens), ids(&golden[&format!("{number}.{kind}")]).unwrap(), "{kind} {prompt}");
            let weights: Vec<f32> =
                tokens.sequences.iter().flat_map(|sequence| sequence.weights.clone()).collect();
            let expected = golden[&format!("{number}.weights")].flatten_all().unwrap();
            assert_eq!(weights, expected.to_vec1::<f32>().unwrap(), "{prompt}");
            let chunks = tokens.sequences.len();
            let count = ids(&golden[&format!("{number}.count")]).unwrap()[0] as usize;
            let expected = Extent { tokens: count, room: 75 * chunks, chunks, cut: 0 };
            assert_eq!(tokens.extent, expected, "{prompt}");
        }
    }
}

#[test]
fn states_of_clip_are_those_of_a1111_whatever_layer_is_taken() {
    let (model, golden, prompts) = (Model::new(), golden(), prompts());
    for (number, skips) in [(WEIGHTED, 1..=3), (LONG, 1..=1)] {
        for clip_skip in skips {
            for (kind, usage) in [("last", ClipUse::LAST), ("earlier", EARLIER)] {
                let name = format!("{number}.{kind}.{clip_skip}");
                let Some(expected) = golden.get(&name) else { continue };
                let (encoder, component) = model.clip(usage);
                let store = stores::on_processor(component, Placement::Resident);
                let tokens = encoder.tokenize(&prompts[number], 0).unwrap();
                let found = encoded(&encoder, &store, &tokens, clip_skip);
                let far = distance(&name, expected, found.states.computed().unwrap(), MODULE).unwrap();
                let pooled = format!("{number}.pooled");
                distance(&pooled, &golden[&pooled], found.pooled.unwrap().computed().unwrap(), MODULE)
                    .unwrap();
                println!("{name}: {far:.1e}");
            }
        }
    }
}

#[test]
fn no_clip_skip_is_the_family_s_own_layer_and_too_much_is_the_first() {
    let model = Model::new();
    for (usage, own) in [(ClipUse::LAST, 1), (EARLIER, 2)] {
        let (encoder, component) = model.clip(usage);
        let store = stores::on_processor(component, Placement::Resident);
        let tokens = encoder.tokenize("a (red:1.3) cube", 0).unwrap();
        let states = |clip_skip| {
            let states = encoded(&encoder, &store, &tokens, clip_skip).states;
            states.computed().unwrap().flatten_all().unwrap().to_vec1::<f32>().unwrap()
        };
        let unskipped = states(0);
        for clip_skip in 1..=own {
            assert_eq!(states(clip_skip), unskipped);
        }
        assert_ne!(states(own + 1), unskipped);
        // There are three layers; the fourth from the end is the input of the first.
        assert_ne!(states(4), states(3));
        assert_eq!(states(12), states(4));
    }
}

#[test]
fn states_of_t5_are_weighted_as_forge_does() {
    let (model, golden, prompts) = (Model::new(), golden(), prompts());
    for (number, length, cut) in [(WEIGHTED, 40, false), (LONG, 24, true)] {
        let (encoder, component) = model.t5(length);
        let store = stores::on_processor(component, Placement::Resident);
        let tokens = encoder.tokenize(&prompts[number], 512).unwrap();
        assert_eq!(rows(&tokens), ids(&golden[&format!("{number}.t5.ids")]).unwrap());
        assert_eq!(tokens.extent.cut > 0, cut, "{:?}", tokens.extent);
        assert_eq!(tokens.extent.room, length - 1);
        let name = format!("{number}.t5");
        let found = encoded(&encoder, &store, &tokens, 0);
        let far = distance(&name, &golden[&name], found.states.computed().unwrap(), MODULE).unwrap();
        println!("{name}: {far:.1e}");
    }
}

/// In every placement of the weights.
#[test]
fn chunks_have_the_same_bits_however_weights_come() {
    let (model, prompts) = (Model::new(), prompts());
    let (encoder, component) = model.clip(ClipUse::LAST);
    let tokens = encoder.tokenize(&prompts[LONG], 0).unwrap();
    let states = |placement, home, slots| {
        let store = stores::store(component.clone(), Arc::new(CpuMemory), placement, home, slots);
        let states = encoded(&encoder, &store, &tokens, 2).states;
        states.computed().unwrap().flatten_all().unwrap().to_vec1::<f32>().unwrap()
    };
    let want = states(Placement::Resident, Tier::Disk, 2);
    for slots in 1..4 {
        assert!(states(Placement::Streamed, Tier::Disk, slots) == want, "{slots} slots");
        assert!(states(Placement::Streamed, Tier::Host, slots) == want, "{slots} slots");
    }
}

/// Enough for both threads to have worked at once.
const ENCODINGS: usize = 20;

/// The memory of many chunks, of a weighted chunk, and of a layer before the last.
#[test]
fn activations_of_long_prompts_are_foretold() {
    let (model, prompts) = (Model::new(), prompts());
    let long = [&prompts[LONG], &prompts[9], &prompts[6]].map(String::as_str).join(" BREAK ");
    let mut checked = 0;
    for dtype in [DType::F32, DType::BF16] {
        for (prompts, clip_skip) in
            [(vec![&prompts[WEIGHTED], &prompts[0]], 1), (vec![&long, &long], 1), (vec![&long, &long], 2)]
        {
            let (encoder, component) = model.clip(ClipUse::LAST);
            let tokens: Vec<Tokens> =
                prompts.iter().map(|prompt| encoder.tokenize(prompt, 0).unwrap()).collect();
            let tokens: Vec<&Tokens> = tokens.iter().collect();
            let (account, length) = (MemoryAccount::new(), tokens[0].sequences.len());
            let predicted = computing_threads(&account, Some(2)).unwrap().install(|| {
                let trace = Trace::new(Computes::here());
                let blocks = TracedBlocks::new(&trace, &component, dtype);
                text::encode(&encoder, blocks.blocks(), &tokens, skipping(clip_skip)).unwrap();
                blocks.take().iter().map(|block| block.activations).max().unwrap()
            });
            let found = computing_threads(&account, Some(2)).unwrap().install(|| {
                let store = WeightStore::new(component, dtype, Arc::new(CpuMemory), MemoryAccount::new());
                let executor = Executor::default();
                let encode = || {
                    text::encode(&encoder, Blocks::stored(&executor, &store), &tokens, skipping(clip_skip))
                        .unwrap()
                };
                // The first run includes per-thread allocations. In others, one thread may do all of the work.
                drop(encode());
                account.take_peaks();
                let peak = |_| {
                    drop(encode());
                    account.take_peaks().activations
                };
                (0..ENCODINGS).map(peak).max().unwrap_or_default()
            });
            let ratio = predicted as f64 / found as f64;
            println!("{dtype:?}, {length} chunks, clip skip {clip_skip}: {ratio:.3} of {found} bytes");
            assert!((0.97..1.15).contains(&ratio), "{dtype:?}, {length}, {clip_skip}: {ratio}");
            checked += 1;
        }
    }
    assert_eq!(checked, 6);
}

fn dumped(runner: &mut Runner, request: Request) -> Tensors {
    runner.dump(request, None).unwrap().1
}

#[test]
fn a_whole_run_weighs_its_prompt() {
    let (model, prompts) = (Model::new(), prompts());
    let mut runner = Runner::start().unwrap();
    let request = Request { max_sequence_length: 40, ..model.request(&prompts[WEIGHTED]) };
    let dump = dumped(&mut runner, request.clone());
    let states = Tensors::from([("3.t5".to_owned(), dump["encode_prompt.0.0.0"].clone())]);
    compare("3.t5", &golden(), &states, MODULE).unwrap();

    let plain = dumped(&mut runner, Request { prompt: "a red cube".to_owned(), ..request.clone() });
    let bracketed = dumped(&mut runner, Request { prompt: "(a red cube:1)".to_owned(), ..request });
    for (name, tensor) in &plain {
        let exact = tensor.to_dtype(DType::F64).unwrap();
        distance(name, &exact, &bracketed[name], 0.0).unwrap();
    }
}

/// FLUX.1's CLIP reads only up to a `BREAK`; its T5 reads everything.
#[test]
fn a_break_ends_what_clip_sums_up() {
    let (model, mut runner) = (Model::new(), Runner::start().unwrap());
    let mut pooled = |prompt: &str| {
        let dump = dumped(&mut runner, model.request(prompt));
        (dump["encode_prompt.0.0.1"].clone(), dump["encode_prompt.0.0.0"].clone())
    };
    let same = |a: &Tensor, b: &Tensor| distance("", a, b, 0.0).is_ok();
    let (one, two, whole) = (pooled("a dog BREAK a cat"), pooled("a dog BREAK"), pooled("a dog a cat"));
    assert!(same(&one.0, &two.0) && !same(&one.1, &two.1));
    assert!(!same(&one.0, &whole.0));
}

#[test]
fn every_mode_draws_a_weighted_prompt_the_same() {
    let (model, prompts) = (Model::new(), prompts());
    let mut runner = Runner::start().unwrap();
    let request = Request { max_sequence_length: 128, ..model.request(&prompts[LONG]) };
    let mut dumps: Vec<Tensors> = Vec::new();
    for &mode in OffloadMode::ALL {
        let folder = tempfile::tempdir().unwrap();
        let dump = folder.path().join("dump.safetensors");
        let memory = MemoryPreferences {
            mode,
            device: DeviceChoice::Simulated("rtx-4060".to_owned()),
            min_free_vram: 0,
            ..MemoryPreferences::default()
        };
        let job = Job { memory, dump: Some(dump.clone()), ..runner.job(request.clone()) };
        runner.run(job).unwrap().pictures().unwrap();
        dumps.push(load(&dump).unwrap());
    }
    for dump in &dumps[1..] {
        for (name, want) in &dumps[0] {
            distance(name, want, &dump[name], 0.0).unwrap();
        }
    }
}

/// The answer to a query about a request.
fn readings(request: &Request) -> Readings {
    let runner = Runner::start().unwrap();
    let query = PlanQuery {
        id: 1,
        subject: PlanSubject::Model,
        request: request.clone(),
        memory: MemoryPreferences::default(),
    };
    runner.send(Command::Plan(Box::new(query))).unwrap();
    loop {
        match runner.event().unwrap() {
            Event::Planned { readings, .. } => return readings,
            Event::NotPlanned { failure, .. } => panic!("no plan: {}", failure.message),
            _ => {}
        }
    }
}

#[test]
fn a_plan_says_what_is_read() {
    let (model, prompts) = (Model::new(), prompts());
    let request = Request { max_sequence_length: 40, ..model.request(&prompts[LONG]) };
    let found = readings(&request);
    assert!(found.regions.is_empty() && found.negative.is_empty());
    let [clip, t5] = <[Reading; 2]>::try_from(found.prompt).unwrap();
    assert_eq!((clip.encoder.as_str(), clip.is_summary, clip.extent.room), ("CLIP-L", true, 75));
    assert!(clip.extent.cut > 0 && clip.unread().is_none());
    assert_eq!((t5.encoder.as_str(), t5.is_summary, t5.extent.room), ("T5 encoder", false, 39));
    assert_eq!(t5.extent.cut, t5.extent.tokens - 39);
    assert_eq!(t5.unread().unwrap(), format!("T5 encoder ignores the last {} tokens.", t5.extent.cut));

    let starter = Request { prompt: "a (red) boat".to_owned(), ..Request::default() };
    let Readings { prompt, regions, negative } = readings(&starter);
    // The chat around a prompt takes 8 of 512 tokens.
    assert_eq!((prompt[0].extent.room, prompt[0].extent.chunks, prompt[0].extent.cut), (504, 1, 0));
    assert_eq!(negative[0].extent.tokens, 0, "an empty prompt has no tokens");
    assert!(prompt[0].extent.tokens > negative[0].extent.tokens && regions.is_empty());

    let region = Region { prompt: "a blue tent".to_owned(), ..Region::default() };
    let regions = Regions { all: vec![region], ..Regions::default() };
    let avoided = "blurry, dark, ugly, text and many other words".to_owned();
    let plain = Request { negative_prompt: avoided, ..starter };
    let with_region = readings(&Request { regions, ..plain.clone() });
    assert_eq!(with_region.negative, readings(&plain).negative);
    assert_eq!(with_region.regions.len(), 1);
    assert!(with_region.regions[0][0].extent.tokens < with_region.negative[0].extent.tokens);
}

#[test]
fn a_clip_skip_beyond_clip_is_refused_and_flux_does_not_heed_it() {
    let (model, mut runner) = (Model::new(), Runner::start().unwrap());
    let request = Request { clip_skip: 13, ..model.request("a cube") };
    let job = runner.job(request.clone());
    let failure = runner.run(job).unwrap().failure().unwrap();
    assert_eq!(failure.message, "clip skip 13 is more layers than CLIP has; use 12 or less");
    let [plain, skipped] =
        [0, 3].map(|clip_skip| dumped(&mut runner, Request { clip_skip, ..request.clone() }));
    for (name, tensor) in &plain {
        distance(name, tensor, &skipped[name], 0.0).unwrap();
    }
}
