//! Segmenters against transformers and the authors' TinyViT: embeddings of images, and masks for points and boxes.

use std::path::Path;

use candle_core::{Device, Tensor};
use sluice_engine::{
    aids::{MASK_SIDE, Prompt, Segmenter, open_segmenter},
    checkpoint::{Checkpoint, CheckpointError},
    memory::Placement,
    models::{self, Kind, content},
    nn,
    residency::{Blocks, Executor, WeightStore},
};
use sluice_tests::{
    checkpoint::{fixtures, load, save},
    golden::distance,
    hash_weights::noise,
    original_names::Tensors,
    segment::{mobile, published, weights},
    stores::on_processor,
};

/// Allowed distance, relative to the largest value.
const TOLERANCE: f64 = 2e-5;

struct Opened {
    network: Segmenter,
    store: WeightStore,
    executor: Executor,
}

impl Opened {
    fn new(tensors: &Tensors, folder: &Path, placement: Placement) -> Self {
        let file = folder.join("sam.safetensors");
        save(tensors, &file).unwrap();
        let opened = open_segmenter(&Checkpoint::of_file(&file).unwrap()).unwrap();
        let store = on_processor(opened.component, placement);
        Self { network: opened.network, store, executor: Executor::default() }
    }

    fn blocks(&self) -> Blocks<'_> {
        Blocks::stored(&self.executor, &self.store)
    }

    fn embedding(&self) -> nn::Tensor {
        let side = Segmenter::SIDE;
        let image = noise("segment.image", 3 * side * side);
        let image = Tensor::from_vec(image, (1, 3, side, side), &Device::Cpu).unwrap();
        self.network.embed(self.blocks(), &image.into()).unwrap()
    }
}

/// Every so many places along some dimensions, as the reference keeps them.
fn kept(tensor: &Tensor, steps: &[(usize, usize)]) -> Tensor {
    steps.iter().fold(tensor.clone(), |tensor, (dim, step)| {
        let all: Vec<u32> = (0..tensor.dim(*dim).unwrap() as u32).step_by(*step).collect();
        tensor.index_select(&Tensor::new(all, &Device::Cpu).unwrap(), *dim).unwrap()
    })
}

fn kept_of(embedding: &nn::Tensor) -> Tensor {
    kept(&embedding.computed().unwrap().squeeze(0).unwrap(), &[(0, 16), (1, 8), (2, 8)])
}

fn prompts() -> [(&'static str, Prompt, std::ops::Range<usize>); 3] {
    let area = Some([100.0, 90.0, 800.0, 700.0]);
    let (inside, outside) = (([300.0, 200.0], true), ([700.0, 640.0], false));
    [
        ("point", Prompt { points: vec![inside], area: None }, 1..4),
        ("points", Prompt { points: vec![inside, outside], area }, 0..1),
        ("box", Prompt { points: Vec::new(), area }, 0..1),
    ]
}

#[test]
fn segment_anything_gives_what_transformers_gives() {
    let golden = load(&fixtures().join("segment/golden.safetensors")).unwrap();
    let own = weights().unwrap();
    let mut resident: Option<Vec<f32>> = None;
    for (naming, tensors, placement) in [
        ("authors", own.clone(), Placement::Resident),
        ("transformers", published(&own), Placement::Streamed),
        ("authors", own, Placement::Leaves),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let opened = Opened::new(&tensors, folder.path(), placement);
        let embedding = opened.embedding();
        let far = distance("embedding", &golden["embedding"], &kept_of(&embedding), TOLERANCE).unwrap();
        println!("{naming}, {placement:?}, embedding: {far:.1e}");
        let values = embedding.computed().unwrap().flatten_all().unwrap().to_vec1::<f32>().unwrap();
        let is_same = *resident.get_or_insert_with(|| values.clone()) == values;
        assert!(is_same, "{naming}, {placement:?}: another embedding than with resident weights");
        for (name, prompt, range) in prompts() {
            let masks = opened.network.masks(opened.blocks(), &embedding, &prompt).unwrap();
            let (first, count) = (range.start, range.len());
            let shapes = masks.shapes.computed().unwrap().reshape((4, MASK_SIDE, MASK_SIDE)).unwrap();
            let shapes = kept(&shapes.narrow(0, first, count).unwrap(), &[(1, 16), (2, 16)]);
            let scores =
                masks.scores.computed().unwrap().squeeze(0).unwrap().narrow(0, first, count).unwrap();
            for (what, found) in [("masks", shapes), ("scores", scores)] {
                let name = format!("{name}.{what}");
                let far = distance(&name, &golden[&name], &found, TOLERANCE).unwrap();
                println!("{naming}, {placement:?}, {name}: {far:.1e}");
            }
        }
    }
}

#[test]
fn mobile_sam_embeds_as_its_authors_do() {
    let golden = load(&fixtures().join("segment/golden.safetensors")).unwrap();
    for placement in [Placement::Resident, Placement::Streamed] {
        let folder = tempfile::tempdir().unwrap();
        let opened = Opened::new(&mobile().unwrap(), folder.path(), placement);
        let found = kept_of(&opened.embedding());
        let far = distance("mobile.embedding", &golden["mobile.embedding"], &found, TOLERANCE).unwrap();
        println!("{placement:?}: {far:.1e}");
    }
}

#[test]
fn files_that_cannot_be_used_say_why() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sam.safetensors");
    let reason = |tensors: &Tensors| {
        save(tensors, &file).unwrap();
        let error = models::open_segmenter(&file).map(|_| ()).unwrap_err();
        format!("{error}. {}", error.advice())
    };
    let own = weights().unwrap();
    let without = |name: &str| {
        let mut tensors = own.clone();
        tensors.remove(name).unwrap();
        tensors
    };
    let missing = "output_hypernetworks_mlps.2.layers.1.bias";
    assert!(reason(&without(&format!("mask_decoder.{missing}"))).contains(missing));
    let said = reason(&without("image_encoder.pos_embed"));
    assert!(said.contains("cannot make masks: the places of its image encoder are missing"), "{said}");
    let mut tensors = own.clone();
    let small = Tensor::zeros((15, 16), candle_core::DType::F32, &Device::Cpu).unwrap();
    tensors.insert("image_encoder.blocks.0.attn.rel_pos_h".to_owned(), small);
    let said = reason(&tensors);
    assert!(said.contains("its windows have 8 patches a side"), "{said}");
    let stranger =
        Tensors::from([own.first_key_value().map(|(name, one)| (name.clone(), one.clone())).unwrap()]);
    let said = reason(&stranger);
    assert!(said.contains("it is no Segment Anything network. Choose a .safetensors file"), "{said}");
    let missing = models::open_segmenter(&folder.path().join("none.safetensors")).map(|_| ()).unwrap_err();
    assert!(matches!(missing, CheckpointError::NotFound { .. }), "{missing}");
}

#[test]
fn a_segmenter_is_known_by_its_contents_also_in_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("model.safetensors");
    save(&published(&weights().unwrap()), &file).unwrap();
    let known = content(&file).unwrap();
    assert_eq!(
        (known.kind, known.what.as_str()),
        (Kind::Part, "segmenter, Segment Anything, ViT of another size")
    );
    assert!(models::open_segmenter(folder.path()).is_ok());
    save(&mobile().unwrap(), &file).unwrap();
    assert_eq!(content(&file).unwrap().what, "segmenter, MobileSAM, TinyViT of another size");
}
