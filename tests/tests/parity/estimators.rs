//! Map estimators against ultralytics, transformers and controlnet_aux: what the networks say, and the maps that are drawn of it.

use std::{path::Path, sync::Arc};

use candle_core::{DType, Device, Tensor};
use sluice_engine::{
    aids::{Drawn, MapEstimator, Seen, open_estimator},
    checkpoint::{Checkpoint, CheckpointError, MapKind, Role},
    memory::Placement,
    models::{self, Kind, content},
    nn,
    residency::{Blocks, Executor, WeightStore},
};
use sluice_tests::{
    checkpoint::{fixtures, load, save},
    detect,
    estimators::{pixels, weights, write},
    golden::distance,
    hash_weights::noise,
    original_names::Tensors,
    stores::on_processor,
};

/// Allowed distance, relative to the largest value.
const TOLERANCE: f64 = 2e-5;
const PLACEMENTS: [Placement; 3] = [Placement::Resident, Placement::Streamed, Placement::Leaves];

struct Opened {
    network: Arc<dyn MapEstimator>,
    store: WeightStore,
    executor: Executor,
}

impl Opened {
    fn new(tensors: &Tensors, kind: MapKind, folder: &Path, placement: Placement) -> Self {
        let file = folder.join("estimator.safetensors");
        save(tensors, &file).unwrap();
        let opened = open_estimator(&Checkpoint::of_file(&file).unwrap(), kind).unwrap();
        let store = on_processor(opened.component, placement);
        Self { network: opened.network, store, executor: Executor::default() }
    }

    /// What it says of an image of these values, height and width.
    fn said(&self, image: Vec<f32>, [height, width]: [usize; 2]) -> Vec<Tensor> {
        let image = Tensor::from_vec(image, (1, 3, height, width), &Device::Cpu).unwrap();
        let said = self.network.estimate(Blocks::stored(&self.executor, &self.store), &image.into()).unwrap();
        said.into_iter().map(|said| said.into_computed().unwrap()).collect()
    }

    fn drawn(&self, [height, width]: [usize; 2], said: &[Tensor]) -> Drawn {
        self.network.drawn([height as u32, width as u32], said).unwrap().unwrap()
    }
}

/// The same bits wherever the weights are.
fn in_every_placement(
    kind: MapKind,
    image: impl Fn(&Opened) -> (Vec<f32>, [usize; 2]),
) -> (Opened, Vec<Tensor>) {
    let own = weights(kind).unwrap();
    let mut first: Option<(Opened, Vec<Tensor>, tempfile::TempDir)> = None;
    for placement in PLACEMENTS {
        let folder = tempfile::tempdir().unwrap();
        let opened = Opened::new(&own, kind, folder.path(), placement);
        let (image, size) = image(&opened);
        let said = opened.said(image, size);
        match &first {
            None => first = Some((opened, said, folder)),
            Some((_, before, _)) => {
                let bits = |said: &[Tensor]| -> Vec<u32> {
                    let values =
                        said.iter().map(|said| said.flatten_all().unwrap().to_vec1::<f32>().unwrap());
                    values.flatten().map(f32::to_bits).collect()
                };
                assert!(bits(before) == bits(&said), "{kind:?}, {placement:?}: other bits");
            }
        }
    }
    let (opened, said, _) = first.unwrap();
    (opened, said)
}

/// Every so many places along each dimension, as the reference keeps them.
fn kept<const N: usize>(tensor: &Tensor, steps: [usize; N]) -> Tensor {
    steps.into_iter().enumerate().fold(tensor.clone(), |tensor, (dim, step)| {
        let all: Vec<u32> = (0..tensor.dim(dim).unwrap() as u32).step_by(step).collect();
        tensor.index_select(&Tensor::new(all, &Device::Cpu).unwrap(), dim).unwrap()
    })
}

fn golden() -> Tensors {
    load(&fixtures().join("estimators/golden.safetensors")).unwrap()
}

/// The bytes of a map, `[height, width, 3]`.
fn bytes(Drawn { pixels, size: [height, width] }: Drawn) -> Tensor {
    Tensor::from_vec(pixels, (height as usize, width as usize, 3), &Device::Cpu).unwrap()
}

#[test]
fn segformer_sees_what_it_sees_in_transformers() {
    let golden = golden();
    let size = [64, 96];
    let (opened, said) =
        in_every_placement(MapKind::Segments, |_| (noise("segformer.image", 3 * 64 * 96), size));
    let classes = kept(&said[0].squeeze(0).unwrap(), [7, 3, 3]);
    println!("{:.1e}", distance("classes", &golden["segments.classes"], &classes, TOLERANCE).unwrap());
    let map = kept(&bytes(opened.drawn([50, 70], &said)), [3, 5]);
    let (found, wanted) = (map.flatten_all().unwrap(), golden["segments.map"].flatten_all().unwrap());
    assert_eq!(found.to_vec1::<u8>().unwrap(), wanted.to_vec1::<u8>().unwrap());
    assert_eq!((opened.network.scaled([768, 1024]), opened.network.size()), ([512, 672], "of another size"));
}

#[test]
fn hed_finds_the_edges_of_controlnet_aux() {
    let golden = golden();
    let size = [64, 128];
    let (opened, said) = in_every_placement(MapKind::SoftEdge, |opened| {
        (opened.network.values([64, 128], &pixels("hed.image", size)), size)
    });
    let edges = kept(&said[0].squeeze(0).unwrap().squeeze(0).unwrap(), [3, 3]);
    println!("{:.1e}", distance("edges", &golden["soft_edge.edges"], &edges, TOLERANCE).unwrap());
    let map = kept(
        &bytes(opened.drawn(size, &said)).narrow(2, 0, 1).unwrap().squeeze(2).unwrap().contiguous().unwrap(),
        [3, 3],
    );
    let shades = |tensor: &Tensor| tensor.flatten_all().unwrap().to_vec1::<u8>().unwrap();
    // A value at the limit of two shades may fall to either side.
    for (found, wanted) in shades(&map).into_iter().zip(shades(&golden["soft_edge.map"])) {
        assert!(found.abs_diff(wanted) <= 1, "{found} where the reference is {wanted}");
    }
    assert_eq!(opened.network.scaled([768, 1024]), [512, 704]);
}

#[test]
fn poses_are_those_of_ultralytics_drawn_as_controlnet_aux_does() {
    let golden = golden();
    let (image, whole) = ([512, 704], [480, 640]);
    let seen = |opened: &Opened| {
        assert_eq!((opened.network.scaled([512, 704]), opened.network.sees([512, 704])), ([465, 640], whole));
        (opened.network.values([512, 704], &pixels("pose.image", [465, 640])), whole)
    };
    let (opened, said) = in_every_placement(MapKind::Pose, seen);
    let joints: Vec<Tensor> =
        [2, 5, 8].map(|level: usize| said[level].squeeze(0).unwrap().flatten_from(1).unwrap()).to_vec();
    let raw = kept(&Tensor::cat(&joints, 1).unwrap(), [9, 300]);
    println!("{:.1e}", distance("joints", &golden["pose.raw"], &raw, TOLERANCE).unwrap());
    let outputs: Vec<nn::Tensor> = said.iter().cloned().map(nn::Tensor::from).collect();
    let found = Seen::of_joints(&outputs).found(whole, 0.3).unwrap();
    let row = |found: &sluice_engine::aids::Found| {
        let area = found.area.into_iter().chain([found.confidence, found.class as f32]);
        area.chain(found.joints.iter().flatten().copied()).collect::<Vec<f32>>()
    };
    let rows: Vec<f32> = found.iter().flat_map(row).collect();
    let rows = Tensor::from_vec(rows, (found.len(), 57), &Device::Cpu).unwrap();
    println!("{:.1e}", distance("persons", &golden["pose.found"], &rows, TOLERANCE).unwrap());
    let sure = |rows: &Tensor| {
        let joints = rows.narrow(1, 6, 51).unwrap().contiguous().unwrap().reshape((9 * 17, 3)).unwrap();
        joints.narrow(1, 2, 1).unwrap()
    };
    distance("how sure joints are", &sure(&golden["pose.found"]), &sure(&rows), TOLERANCE).unwrap();
    let wanted = image::open(fixtures().join("estimators/pose.png")).unwrap().into_rgb8();
    let drawn = opened.drawn(image, &said);
    assert_eq!(drawn.size, [512, 704]);
    let others = drawn.pixels.chunks(3).zip(wanted.pixels()).filter(|(one, other)| **one != other.0).count();
    let all = wanted.pixels().filter(|pixel| pixel.0 != [0; 3]).count();
    println!("{others} of {all} pixels differ");
    // OpenCV rounds the corners of its ellipses to whole pixels.
    assert!(50 * others < all, "{others} of {all} pixels differ");
}

#[test]
fn an_image_without_persons_has_an_empty_pose() {
    let folder = tempfile::tempdir().unwrap();
    let opened =
        Opened::new(&weights(MapKind::Pose).unwrap(), MapKind::Pose, folder.path(), Placement::Resident);
    let outputs: Vec<Tensor> =
        [64, 1, 51].map(|channels| Tensor::full(-9_f32, (1, channels, 2, 3), &Device::Cpu).unwrap()).to_vec();
    assert!(opened.drawn([64, 96], &outputs).pixels.iter().all(|value| *value == 0));
    let broken: Vec<Tensor> = outputs.iter().map(|output| (output * f64::NAN).unwrap()).collect();
    assert!(opened.network.drawn([64, 96], &broken).is_err());
}

/// What a map estimator for one kind of map says of the file of another, and a detector of one.
#[test]
fn files_that_cannot_be_used_say_why() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file.safetensors");
    let refused = |kind| {
        let error = models::open_estimator(&file, kind).map(|_| ()).unwrap_err();
        format!("{error}. {}", error.advice())
    };
    for kind in MapKind::ALL {
        write(kind, &file).unwrap();
        for other in MapKind::ALL.into_iter().filter(|other| *other != kind) {
            let said = refused(other);
            let expected = format!(
                "cannot make {}: it makes {}. Choose a .safetensors file of",
                other.maps(),
                kind.maps()
            );
            assert!(said.contains(&expected), "{said}");
            assert!(said.contains(other.networks()), "{said}");
        }
        let known = content(&file).unwrap();
        assert_eq!(
            (known.kind, known.maps, &known.roles[..]),
            (Kind::Part, Some(kind), &[Role::Preprocessor][..])
        );
        let start = format!("map estimator for {}, {}", kind.maps(), kind.networks());
        assert!(known.what.starts_with(&start), "{}", known.what);
    }
    detect::write_plain(&file).unwrap();
    let said = refused(MapKind::Pose);
    assert!(said.contains("cannot make poses: it finds boxes and no joints"), "{said}");
    assert!(refused(MapKind::Segments).contains("it is no SegFormer network"));
    assert!(refused(MapKind::SoftEdge).contains("it is no HED network"));
    assert_eq!(content(&file).unwrap().maps, None);
    let mut own = weights(MapKind::Segments).unwrap();
    own.insert(
        "decode_head.classifier.weight".to_owned(),
        Tensor::zeros((19, 24, 1, 1), DType::F32, &Device::Cpu).unwrap(),
    );
    save(&own, &file).unwrap();
    let said = refused(MapKind::Segments);
    assert!(said.contains("it tells 19 classes apart and not the 150 of ADE20K"), "{said}");
    own.remove("segformer.encoder.block.2.0.mlp.dense1.weight");
    save(&own, &file).unwrap();
    assert!(refused(MapKind::Segments).contains("stage 3 is missing"));
    let mut own = weights(MapKind::Pose).unwrap();
    for level in 0..3 {
        let name = format!("model.22.cv4.{level}.2.weight");
        own.insert(name, Tensor::zeros((63, 51, 1, 1), DType::F32, &Device::Cpu).unwrap());
    }
    save(&own, &file).unwrap();
    assert!(refused(MapKind::Pose).contains("it does not find the 17 joints of persons"));
    let mut own = weights(MapKind::SoftEdge).unwrap();
    own.remove("block3.convs.1.bias");
    save(&own, &file).unwrap();
    assert!(refused(MapKind::SoftEdge).contains("block3.convs.1.bias"));
    for name in ["ControlNetHED.pth", "yolov8n-pose.pt"] {
        let pickle = folder.path().join(name);
        std::fs::write(&pickle, b"PK\x03\x04archive").unwrap();
        let error = models::open_estimator(&pickle, MapKind::SoftEdge).map(|_| ()).unwrap_err();
        assert!(matches!(error, CheckpointError::PickledEstimator { .. }), "{error}");
        assert!(error.advice().contains("docs/controlnet.md"), "{}", error.advice());
    }
}

#[test]
fn poses_and_detectors_are_not_taken_for_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("yolov8n-pose.safetensors");
    write(MapKind::Pose, &file).unwrap();
    let said = models::open_detector(&file).map(|_| ()).unwrap_err().to_string();
    assert!(said.contains("it finds the joints of persons"), "{said}");
    let mut turned = weights(MapKind::Pose).unwrap();
    for level in 0..3 {
        for end in ["weight", "bias"] {
            let tensor = turned.get_mut(&format!("model.22.cv4.{level}.2.{end}")).unwrap();
            *tensor = tensor.narrow(0, 0, 1).unwrap().contiguous().unwrap();
        }
    }
    save(&turned, &file).unwrap();
    let said = models::open_detector(&file).map(|_| ()).unwrap_err().to_string();
    assert!(said.contains("it finds turned boxes or joints"), "{said}");
}
