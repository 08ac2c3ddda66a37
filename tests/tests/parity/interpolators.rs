//! RIFE against its own code: every shape of version 4 that is supported, under all names of its tensors.

use sluice_engine::{
    checkpoint::CheckpointError,
    memory::Placement,
    models::{content, open_interpolator},
};
use sluice_tests::{
    checkpoint::save,
    interpolators::{Case, Opened, check_interpolators},
    original_names::Tensors,
};

#[test]
fn frames_between_are_those_of_rifes_own_code() {
    check_interpolators(&[Placement::Resident, Placement::Streamed]).unwrap();
}

#[test]
fn files_of_other_programs_are_the_same_network() {
    let folder = tempfile::tempdir().unwrap();
    let case = Case::latest();
    let (weights, pair) = (case.weights().unwrap(), case.pair().unwrap());
    let bits = |tensors: &Tensors| -> Vec<u32> {
        let opened = Opened::new(tensors, folder.path(), Placement::Resident).unwrap();
        let values = opened.between(&pair, 0.5).unwrap().flatten_all().unwrap().to_vec1::<f32>().unwrap();
        values.into_iter().map(f32::to_bits).collect()
    };
    let renamed = |name: &dyn Fn(&str) -> String| -> Tensors {
        weights.iter().map(|(own, tensor)| (name(own), tensor.clone())).collect()
    };
    let want = bits(&weights);
    assert!(bits(&renamed(&|name| format!("module.{name}"))) == want, "RIFE's training program");
    assert!(bits(&renamed(&|name| format!("flownet.{name}"))) == want, "Practical-RIFE");
    let numbered = |name: &str| match name.strip_prefix("block") {
        Some(rest) => format!("blocks.{rest}"),
        None => name.to_owned(),
    };
    let mut comfy = renamed(&numbered);
    assert!(bits(&comfy) == want, "ComfyUI");
    // What is only used for training may be in the file.
    comfy.insert("teacher.conv0.0.0.weight".to_owned(), weights["encode.cnn0.weight"].clone());
    assert!(bits(&comfy) == want, "with a teacher");
    let file = folder.path().join("rife.safetensors");
    assert_eq!(content(&file).unwrap().what, "frame interpolator, RIFE 4.26");
}

#[test]
fn files_that_cannot_be_used_say_why() {
    let folder = tempfile::tempdir().unwrap();
    let reason = |tensors: &Tensors| {
        let opened = Opened::new(tensors, folder.path(), Placement::Resident);
        let error = opened.map(|_| ()).unwrap_err().downcast::<CheckpointError>().unwrap();
        format!("{error}. {}", error.advice())
    };
    let weights = Case::latest().weights().unwrap();
    let without = |gone: &dyn Fn(&str) -> bool| -> Tensors {
        weights
            .iter()
            .filter(|(name, _)| !gone(name))
            .map(|(name, own)| (name.clone(), own.clone()))
            .collect()
    };
    let said = reason(&without(&|name| name == "block2.convblock.3.beta"));
    assert!(said.contains("block2.convblock.3.beta"), "{said}");
    let said = reason(&without(&|name| name.ends_with(".beta")));
    assert!(said.contains("none of 4.0, 4.1 and 4.5 to 4.26"), "{said}");
    let said = reason(&without(&|name| name.starts_with("encode.")));
    assert!(said.contains("block 0 reads 15 channels"), "{said}");
    let one = weights["block0.conv0.0.0.weight"].clone();
    let alone = |name: &str| -> Tensors { [(name.to_owned(), one.clone())].into() };
    let said = reason(&alone("extract.extract_sublevels.convs.0.0.conv.weight"));
    assert!(said.contains("it is FILM") && said.contains("rife_v4.26.safetensors"), "{said}");
    let said = reason(&alone("block0.convblock0.0.0.weight"));
    assert!(said.contains("RIFE 3"), "{said}");
    let said = reason(&alone("body.0.weight"));
    assert!(said.contains("it is no RIFE 4"), "{said}");
    for name in ["flownet.pkl", "rife47.pth"] {
        let pickle = folder.path().join(name);
        std::fs::write(&pickle, b"PK\x03\x04").unwrap();
        let error = open_interpolator(&pickle).map(|_| ()).unwrap_err();
        assert!(matches!(error, CheckpointError::PickledInterpolator { .. }), "{error}");
        assert!(error.advice().contains("convert"), "{}", error.advice());
    }
    let said = open_interpolator(folder.path()).map(|_| ()).unwrap_err().to_string();
    assert!(said.contains("it is a folder"), "{said}");
    let other = folder.path().join("other.safetensors");
    save(&alone("body.0.weight"), &other).unwrap();
    assert!(open_interpolator(&other).is_err());
}
