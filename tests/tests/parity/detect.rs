//! Detectors against ultralytics: what the network says, the boxes that are left of it, and their shapes.

use std::path::Path;

use candle_core::{Device, Tensor};
use sluice_engine::{
    aids::{Detector, Found, Seen, open_detector},
    checkpoint::{Checkpoint, CheckpointError, starter_folder},
    memory::Placement,
    models::{self, Kind, content},
    residency::{Blocks, Executor, WeightStore},
};
use sluice_tests::{
    checkpoint::{fixtures, load, save},
    detect::{folded, weights},
    golden::distance,
    hash_weights::noise,
    original_names::Tensors,
    stores::on_processor,
};

/// Allowed distance, relative to the largest value.
const TOLERANCE: f64 = 2e-5;
const SIZE: [usize; 2] = [64, 96];
const CONFIDENCE: f32 = 0.82;

struct Opened {
    network: Detector,
    store: WeightStore,
    executor: Executor,
}

impl Opened {
    fn new(tensors: &Tensors, folder: &Path, placement: Placement) -> Self {
        let file = folder.join("detector.safetensors");
        save(tensors, &file).unwrap();
        let opened = open_detector(&Checkpoint::of_file(&file).unwrap()).unwrap();
        let store = on_processor(opened.component, placement);
        Self { network: opened.network, store, executor: Executor::default() }
    }

    fn seen(&self) -> Seen {
        let [height, width] = SIZE;
        let image = noise("detect.image", 3 * height * width);
        let image = Tensor::from_vec(image, (1, 3, height, width), &Device::Cpu).unwrap();
        self.network.look(Blocks::stored(&self.executor, &self.store), &image.into()).unwrap()
    }
}

/// Every so many places along each dimension, as the reference keeps them.
fn kept<const N: usize>(tensor: &Tensor, steps: [usize; N]) -> Tensor {
    steps.into_iter().enumerate().fold(tensor.clone(), |tensor, (dim, step)| {
        let all: Vec<u32> = (0..tensor.dim(dim).unwrap() as u32).step_by(step).collect();
        tensor.index_select(&Tensor::new(all, &Device::Cpu).unwrap(), dim).unwrap()
    })
}

/// The outputs of the three levels of one kind, `[channels, places]`.
fn joined(seen: &Seen, kind: usize, kinds: usize) -> Tensor {
    let outputs = seen.outputs();
    let level = |level: usize| {
        let output = outputs[level * kinds + kind].computed().unwrap();
        output.flatten_from(2).unwrap().squeeze(0).unwrap()
    };
    Tensor::cat(&[level(0), level(1), level(2)], 1).unwrap()
}

fn boxes(found: &[Found]) -> Tensor {
    let row = |found: &Found| {
        let [left, top, right, bottom] = found.area;
        [left, top, right, bottom, found.confidence, found.class as f32]
    };
    let values: Vec<f32> = found.iter().flat_map(row).collect();
    Tensor::from_vec(values, (found.len(), 6), &Device::Cpu).unwrap()
}

#[test]
fn detectors_say_what_ultralytics_says() {
    let golden = load(&fixtures().join("detect/golden.safetensors")).unwrap();
    let own = weights(true).unwrap();
    for (naming, tensors, placement) in [
        ("norms", own.clone(), Placement::Resident),
        ("norms", own.clone(), Placement::Streamed),
        ("norms", own.clone(), Placement::Leaves),
        ("folded", folded(&own).unwrap(), Placement::Streamed),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let opened = Opened::new(&tensors, folder.path(), placement);
        let seen = opened.seen();
        let prototypes = seen.outputs().last().unwrap().computed().unwrap().squeeze(0).unwrap();
        let found = seen.found(SIZE, CONFIDENCE).unwrap();
        let masks = found.iter().map(|found| {
            let (values, [rows, columns]) = found.shape.as_ref().unwrap().values();
            Tensor::from_slice(values, (rows, columns), &Device::Cpu).unwrap()
        });
        let masks = Tensor::stack(&masks.collect::<Vec<_>>(), 0).unwrap();
        for (name, made) in [
            ("sides", kept(&joined(&seen, 0, 3), [22, 25])),
            ("classes", kept(&joined(&seen, 1, 3), [1, 25])),
            ("shares", kept(&joined(&seen, 2, 3), [11, 25])),
            ("prototypes", kept(&prototypes, [11, 8, 8])),
            ("boxes", boxes(&found)),
            ("masks", kept(&masks, [3, 8, 8])),
        ] {
            let far = distance(name, &golden[name], &made, TOLERANCE).unwrap();
            println!("{naming}, {placement:?}, {name}: {far:.1e}");
        }
        // The columns of confidences and classes are small beside those of places.
        let confidences = golden["boxes"].narrow(1, 4, 2).unwrap();
        distance("confidences", &confidences, &boxes(&found).narrow(1, 4, 2).unwrap(), TOLERANCE).unwrap();
    }
}

#[test]
fn without_shapes_the_boxes_are_those_of_ultralytics() {
    let golden = load(&fixtures().join("detect/golden.safetensors")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    // As ultralytics' wrapper of the network saves it.
    let wrapped = weights(false).unwrap().into_iter().map(|(name, tensor)| (format!("model.{name}"), tensor));
    let opened = Opened::new(&wrapped.collect(), folder.path(), Placement::Streamed);
    let found = opened.seen().found(SIZE, CONFIDENCE).unwrap();
    assert!(found.iter().all(|found| found.shape.is_none()));
    distance("boxes", &golden["boxes"], &boxes(&found), TOLERANCE).unwrap();
}

/// What past runs of a model have shown holds with a detector, too.
#[test]
fn a_model_with_a_detector_is_the_same_model() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("face.safetensors");
    save(&weights(false).unwrap(), &file).unwrap();
    let detector = models::open_detector(&file).unwrap();
    let model = models::open(&starter_folder().unwrap(), &[]).unwrap();
    assert_ne!(detector.identity(), model.identity());
    assert_eq!(model.clone().with_detectors([&detector]).identity(), model.identity());
}

#[test]
fn files_that_cannot_be_used_say_why() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("face.safetensors");
    let own = weights(false).unwrap();
    let reason = |tensors: &Tensors| {
        save(tensors, &file).unwrap();
        let error = models::open_detector(&file).map(|_| ()).unwrap_err();
        format!("{error}. {}", error.advice())
    };
    let without = |name: &str| {
        let mut tensors = own.clone();
        tensors.remove(name).unwrap();
        tensors
    };
    let missing = "model.22.cv2.1.1.bn.running_var";
    assert!(reason(&without(missing)).contains(missing));
    let said = reason(&without("model.8.m.0.cv1.conv.weight"));
    assert!(said.contains("cannot find faces or other things: layer 8 of YOLOv8 is missing"), "{said}");
    let said = reason(&without("model.0.conv.weight"));
    assert!(said.contains("it is no YOLOv8 network. Choose a .safetensors file"), "{said}");
    let pickle = folder.path().join("face_yolov8n.pt");
    std::fs::write(&pickle, b"PK\x03\x04archive").unwrap();
    let error = models::open_detector(&pickle).map(|_| ()).unwrap_err();
    assert!(matches!(error, CheckpointError::PickledDetector { .. }), "{error}");
    assert!(error.advice().contains("docs/detailer.md"), "{}", error.advice());
    let missing = models::open_detector(&folder.path().join("none.safetensors")).map(|_| ()).unwrap_err();
    assert!(matches!(missing, CheckpointError::NotFound { .. }), "{missing}");
    let said = models::open_detector(folder.path()).map(|_| ()).unwrap_err().to_string();
    assert!(said.contains("it is a folder"), "{said}");
}

#[test]
fn a_detector_is_known_by_its_contents() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("face.safetensors");
    for (has_shapes, what) in [
        (false, "detector, YOLOv8, another size, 2 classes"),
        (true, "detector, YOLOv8 with shapes, another size, 2 classes"),
    ] {
        save(&weights(has_shapes).unwrap(), &file).unwrap();
        let known = content(&file).unwrap();
        assert_eq!((known.kind, known.what.as_str()), (Kind::Part, what));
    }
}
