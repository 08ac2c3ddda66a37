//! What is wrong with a request or with the files of a job is said in words, and costs one job.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot go on must fail"
)]

use std::fs;

use candle_core::{DType, Device, Tensor};
use sluice_engine::{output::Output, request::Request, session::Job};
use sluice_tests::{checkpoint::save, failures::Failures, original_names::Tensors};

#[test]
fn requests_that_cannot_be_drawn() {
    let mut all = Failures::new().unwrap();
    let healthy = all.healthy();
    for (name, request, words) in [
        ("width", Request { width: 100, ..healthy.clone() }, &["width", "100", "96", "112"][..]),
        ("height", Request { height: 33, ..healthy.clone() }, &["height", "33", "32", "48"]),
        ("no width", Request { width: 0, ..healthy.clone() }, &["width", "0"]),
        ("no steps", Request { steps: 0, ..healthy.clone() }, &["0 steps"]),
        ("too many steps", Request { steps: 1001, ..healthy.clone() }, &["1001"]),
        ("no pictures", Request { batch: 0, ..healthy.clone() }, &["batch"]),
        (
            "guidance that is no number",
            Request { guidance: f32::NAN, ..healthy.clone() },
            &["guidance", "NaN"],
        ),
        ("endless guidance", Request { guidance: f32::INFINITY, ..healthy.clone() }, &["guidance", "inf"]),
        ("negative guidance", Request { guidance: -1.0, ..healthy.clone() }, &["guidance", "-1"]),
        ("no tokens", Request { max_sequence_length: 0, ..healthy.clone() }, &["token"]),
        ("gigantic", Request { width: 1 << 31, height: 1 << 31, ..healthy.clone() }, &["2147483648"]),
        ("gigantic batch", Request { batch: u32::MAX, ..healthy.clone() }, &["4294967295"]),
    ] {
        let job = all.new_job(request);
        all.job(name, job, words).unwrap();
    }
}

#[test]
fn files_that_cannot_be_used() {
    let mut all = Failures::new().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let blocked = folder.path().join("a file");
    fs::write(&blocked, "in the way").unwrap();
    let latents = folder.path().join("latents.safetensors");
    let save_latents = |name: &str, shape: &[usize]| {
        save(
            &Tensors::from([(name.to_owned(), Tensor::zeros(shape, DType::F32, &Device::Cpu).unwrap())]),
            &latents,
        )
        .unwrap();
    };
    let healthy = all.healthy();

    let output = Output::File(blocked.join("picture.png"));
    let job = Job { output: Some(output), ..all.new_job(healthy.clone()) };
    all.job("picture below a file", job, &["a file"]).unwrap();
    // The same mistake is told in the same words, so it is made with another file.
    let other = folder.path().join("other");
    fs::write(&other, "in the way").unwrap();
    let job = Job { output: Some(Output::Folder(other)), ..all.new_job(healthy.clone()) };
    all.job("a file for a folder", job, &["other"]).unwrap();
    let job = Job { dump: Some(blocked.join("dump.safetensors")), ..all.new_job(healthy.clone()) };
    all.job("dump below a file", job, &["dump.safetensors"]).unwrap();
    let job = Job { initial_latents: Some(folder.path().join("none")), ..all.new_job(healthy.clone()) };
    all.job("no latents", job, &["none"]).unwrap();
    save_latents("noise", &[1, 16, 2, 2]);
    let job = Job { initial_latents: Some(latents.clone()), ..all.new_job(healthy.clone()) };
    all.job("latents by another name", job, &["latents.safetensors", "no tensor latents"]).unwrap();
    save_latents("latents", &[1, 16, 4, 2]);
    let job = Job { initial_latents: Some(latents.clone()), ..all.new_job(healthy) };
    all.job("latents of another shape", job, &["latents.safetensors", "[1, 16, 4, 2]", "[1, 16, 2, 2]"])
        .unwrap();
}
