//! Recognizing files by the names and shapes of their tensors: inputs are lists of tensors, one per line.
#![no_main]

use std::path::Path;

use sluice_engine::{
    models::{content, open},
    nn::{Computes, Trace},
    pipeline::{Resolved, footprint, summarise, workload},
    request::{ComputeDtype, ModelSource, Request},
};

libfuzzer_sys::fuzz_target!(|tensors: &str| {
    if let Some(path) = sluice_fuzz::hollow(tensors) {
        look(&path);
    }
});

/// Does everything with a model that needs no weights. An error is as good as a model.
fn look(path: &Path) {
    let _ = content(path);
    let Ok(model) = open(path, &[]) else { return };
    let source = ModelSource::Path(path.to_owned());
    let _ = summarise(&model, &source);
    let request = Request { model: source, prompt: "a red boat".to_owned(), ..Request::default() };
    let footprint = footprint(&model, "hollow", ComputeDtype::F32);
    assert!(footprint.largest_tensor() <= footprint.largest_block(), "a tensor is larger than its block");
    if let Ok(resolved) = Resolved::new(&model, &request, ComputeDtype::F32) {
        let _ = workload(&model, &resolved, &Trace::new(Computes::here()));
    }
}
