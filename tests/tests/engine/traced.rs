//! Predictions run the networks' code on shapes.

use std::{fs, path::Path, sync::Arc};

use sluice_engine::{
    checkpoint::FileStamp,
    memory::{StageKind, Workload},
    models::{
        self, ClipControl, Conditioning, Denoiser, DenoiserInput, Denoising, GivenFrames, LatentShape, Model,
        Network, PrepareInput, Prepared, SeenImage, Used,
    },
    nn::{self, Computes, Costs, DType, Tensor, Trace},
    pipeline::{Resolved, workload},
    request::{Canvas, ComputeDtype, Request},
    residency::{Blocks, RunError, TracedBlocks},
    text::{self, Encoded, Given, VisionTower},
};
use sluice_tests::checkpoint::{Fixture, fixtures};

const FAMILIES: [&str; 17] = [
    "z_image",
    "qwen_image",
    "qwen_image_21",
    "flux",
    "flux2",
    "flux2_dev",
    "chroma",
    "longcat",
    "ernie_image",
    "lens",
    "anima",
    "krea2",
    "hidream",
    "sd3",
    "stable_diffusion",
    "sdxl",
    "wan",
];

/// The forward pass uses every weight that a blueprint declares, and no other: what is not declared cannot be
/// leased.
#[test]
fn blueprints_are_what_forward_passes_ask_for() {
    let mut seen = 0;
    for family in FAMILIES {
        for entry in fs::read_dir(fixtures().join(family)).unwrap() {
            let case = entry.unwrap().path();
            if !case.join("checkpoint").is_dir() {
                continue;
            }
            let fixture = Fixture::new(family, case.file_name().unwrap().to_str().unwrap());
            let folder = tempfile::tempdir().unwrap();
            let path = fixture.write_diffusers(folder.path()).unwrap();
            let model = models::open(&path, &[]).unwrap();
            let request = fixture.runs().unwrap()[0].request(&path);
            let mut unread = read_all(&model, &request).unwrap();
            unread.retain(|weight| !is_known_to_be_unused(&model, weight));
            assert!(unread.is_empty(), "{}: {unread:?}", case.display());
            seen += 1;
        }
    }
    assert!(seen > 15, "{seen} checkpoints");
}

/// Qwen3 returns the states before its last layer, so that layer and the final norm never run; for FLUX.2 the last quarter
/// of the layers of Qwen3 or Mistral never runs. Qwen-Image's autoencoder is
/// one of clips, whose layers over time a single frame does not need.
fn is_known_to_be_unused(model: &Model, weight: &str) -> bool {
    if model.frame_multiple().is_none() && weight.contains(".time_conv.") {
        return true;
    }
    let qwen = model.parts.iter().find(|part| {
        let architecture = part.component.architecture;
        ["Qwen3", "Qwen3-VL", "Mistral"].contains(&architecture)
    });
    let blocks = qwen.map_or(&[][..], |part| &part.component.blocks);
    let layers = blocks.len().saturating_sub(2);
    let run = match model.family.id() {
        "flux2" => layers * 3 / 4,
        // With the final norm.
        "anima" => layers + 1,
        "qwen_image_21" => layers,
        _ => layers.saturating_sub(1),
    };
    let unused = blocks.iter().skip(1 + run);
    unused.into_iter().any(|block| weight.starts_with(&format!("{}: ", block.name)))
}

/// Traces everything that a model can do; returns the unused weights.
fn read_all(model: &Model, request: &Request) -> Result<Vec<String>, RunError> {
    let trace = Trace::new(Computes::here());
    let mut unread = Vec::new();
    let (own, encoded_as) = ([64, 64], [64, 64]);
    let tower = model.vision_tower();
    let image = |tower: &Used<dyn VisionTower>| SeenImage {
        file: FileStamp::of(Path::new("boat.png")),
        size: tower.network.size(own, encoded_as),
        strength: 1.0,
    };
    let images: Vec<SeenImage> = tower.iter().map(image).collect();
    let prompts = model.tokenize_seeing(&["a red boat", ""], 64, 0, &images)?;
    let mut encoded = vec![Vec::new(); 2];
    let traced = |part: usize| TracedBlocks::new(&trace, &model.parts[part].component, DType::F32);
    let mut seen = Vec::new();
    if let Some(Used { part, network }) = &tower {
        let blocks = traced(*part);
        let grids: Vec<[usize; 2]> = images.iter().map(|image| image.size.grid).collect();
        let patches =
            trace.tensor(&[1, network.patches().of(grids[0]), network.patches().values()], DType::F32);
        seen = network.encode(blocks.blocks(), patches, &grids)?;
        unread.extend(blocks.unread());
    }
    for Used { part, network } in model.text_encoders() {
        let blocks = traced(part);
        let tokens: Vec<_> = prompts.iter().map(|prompt| &prompt.parts[&part]).collect();
        let last = |of_prompt: &Vec<Encoded>| Some(of_prompt.last()?.states.clone());
        let states: Vec<Tensor> = encoded.iter().filter_map(last).collect();
        let given = Given { images: &seen, states: &states, ..Given::default() };
        let fresh = text::encode(network.as_ref(), blocks.blocks(), &tokens, given)?;
        encoded.iter_mut().zip(fresh).for_each(|(all, fresh)| all.push(fresh));
        unread.extend(blocks.unread());
    }
    let Used { part, network } = model.denoisers().next().unwrap();
    let denoiser = network.denoiser.as_ref();
    let image = match model.image_encoder() {
        Some(Used { part, network }) => {
            let blocks = traced(part);
            let (side, count) = (network.config().image_size, 1 + usize::from(request.last_image.is_some()));
            let images = trace.tensor(&[count, 3, side, side], DType::F32);
            let embedded = network.encode(blocks.blocks(), &images)?;
            unread.extend(blocks.unread());
            Some(embedded)
        }
        None => None,
    };
    let branches = encoded.into_iter().map(|encoded| denoiser.conditioning(encoded));
    let branches = branches.collect::<nn::Result<Vec<_>>>()?;

    // A family that reads references among the tokens of the prompt has one for each image that the prompt is about.
    let about = branches.iter().map(|branch| branch.images.len()).max().unwrap_or_default();
    let blocks = traced(part);
    let shape = denoiser.latents(request.canvas());
    let references: Vec<Tensor> = (0..about).map(|_| trace.tensor(&shape.dims(1), DType::F32)).collect();
    let pixels = [request.height as usize, request.width as usize];
    let input = PrepareInput {
        branches: &branches,
        sigmas: &[0.5],
        guidance: 3.0,
        latents: shape,
        pixels,
        frame_rate: 16.0,
        clean: 0,
        later: Vec::new(),
        image: image.as_ref(),
        control: ClipControl::default(),
        references: &references,
        controls: &[],
        image_tokens: &[],
    };
    let prepared = denoiser.prepare(blocks.blocks(), &input)?;
    let latents = trace.tensor(&shape.dims(1), DType::F32);
    let channels = denoiser.channels_beside();
    let beside = trace.tensor(&shape.with_channels(channels).dims(1), DType::F32);
    let is_beside = matches!(denoiser.given_frames(), GivenFrames::Beside | GivenFrames::Controlling);
    let beside = (is_beside || denoiser.fills_in()).then_some(&beside);
    let input = DenoiserInput { latents: &latents, sigma: 0.5, beside, clean: 0 };
    let outputs = denoiser.predict(blocks.blocks(), &input, &prepared)?;
    assert!(outputs.iter().all(|output| output.dims() == latents.dims()));
    unread.extend(blocks.unread());

    let Used { part, network: autoencoder } = model.autoencoders().next().unwrap();
    let blocks = traced(part);
    let image = autoencoder.decode(blocks.blocks(), &latents, None)?;
    autoencoder.encode(blocks.blocks(), &image, None)?;
    unread.extend(blocks.unread());
    Ok(unread)
}

/// A network with one more linear layer than the original.
struct Deeper {
    inner: Arc<Denoising>,
    /// Index of the block whose layer runs once more.
    block: usize,
    /// The number of rows of zeros that are the layer's input.
    rows: usize,
    width: usize,
}

impl Denoiser for Deeper {
    fn size_multiple(&self) -> u32 {
        self.inner.denoiser.size_multiple()
    }

    fn latents(&self, canvas: Canvas) -> LatentShape {
        self.inner.denoiser.latents(canvas)
    }

    fn guidance_weight(&self, request: &Request) -> f64 {
        self.inner.denoiser.guidance_weight(request)
    }

    fn conditioning(&self, encoded: Vec<Encoded>) -> nn::Result<Conditioning> {
        self.inner.denoiser.conditioning(encoded)
    }

    fn prepare(&self, blocks: Blocks<'_>, input: &PrepareInput<'_>) -> Result<Prepared, RunError> {
        self.inner.denoiser.prepare(blocks, input)
    }

    fn predict(
        &self,
        blocks: Blocks<'_>,
        input: &DenoiserInput<'_>,
        prepared: &Prepared,
    ) -> Result<Vec<Tensor>, RunError> {
        blocks.walk(self.block..self.block + 1, |_, w| {
            let x = Tensor::zeros((1, self.rows, self.width), blocks.dtype(), &blocks.device())?;
            w.linear("linear", &x)?;
            Ok(())
        })?;
        self.inner.denoiser.predict(blocks, input, prepared)
    }

    fn velocity(&self, input: &DenoiserInput<'_>, output: &Tensor) -> nn::Result<Tensor> {
        self.inner.denoiser.velocity(input, output)
    }
}

#[test]
fn one_more_layer_in_a_forward_pass_is_one_more_in_its_forecast() {
    let (fixture, folder) = (Fixture::new("z_image", "default"), tempfile::tempdir().unwrap());
    let path = fixture.write_diffusers(folder.path()).unwrap();
    let request = fixture.runs().unwrap()[0].request(&path);
    let forecast = |model: &Model| -> Workload {
        let resolved = Resolved::new(model, &request, ComputeDtype::F32).unwrap();
        workload(model, &resolved, &Trace::new(Computes::here())).unwrap()
    };
    let denoise = |workload: &Workload, block: usize| {
        let stage = workload.stages.iter().find(|stage| stage.kind == StageKind::Denoise).unwrap();
        let work = &stage.uses[0].ways[0];
        (work.blocks[block], work.peak_activations())
    };
    let model = models::open(&path, &[]).unwrap();
    let component = &model.part("denoiser").unwrap().component;
    let block = component.blocks.len() - 1;
    let (_, matrix) = &component.blocks[block].tensors[0];
    let (outputs, width, rows) = (matrix.shape()[0], matrix.shape()[1], 5000);
    let (before, peak) = denoise(&forecast(&model), block);

    let Used { part, network: inner } = model.denoisers().next().unwrap();
    let (reads, training) = (inner.reads.clone(), inner.training.clone());
    let denoiser = Arc::new(Deeper { inner, block, rows, width });
    let mut model = model;
    model.parts[part].network = Network::Denoiser(Arc::new(Denoising { denoiser, reads, training }));
    let (after, higher) = denoise(&forecast(&model), block);
    assert_eq!(after.passes, 2 * before.passes);
    let added = f64::from(after.passes) * after.operations - f64::from(before.passes) * before.operations;
    let layer = f64::from(before.passes) * Costs::of_processor(4).linear(rows, width, outputs).operations;
    assert!(layer >= f64::from(before.passes) * 2.0 * (rows * width * outputs) as f64);
    assert!((added / layer - 1.0).abs() < 1e-9, "{added} operations for a layer of {layer}");
    let bytes = (rows * (width + outputs) * 4) as u64;
    assert!(higher >= bytes && peak < bytes, "{peak} bytes before, {higher} with a layer of {bytes}");
}
