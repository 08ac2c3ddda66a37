//! Errors in a request or in a job's files give a message, and fail only one job.

use std::fs;

use candle_core::{DType, Device, Tensor};
use sluice_engine::{
    output::Output,
    request::{Request, SourceImage, SourceMask},
    session::Job,
};
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
fn pictures_that_cannot_be_drawn_over() {
    let mut all = Failures::new().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    let save = |name: &str, light: u8, side: u32| {
        let mut pixels = vec![0; (side * side) as usize];
        pixels[side as usize + 1] = light;
        image::save_buffer(file(name), &pixels, side, side, image::ColorType::L8).unwrap();
    };
    save("picture.png", 255, 32);
    save("dark.png", 0, 32);
    save("speck.png", 255, 32);
    fs::write(file("notes.png"), "no picture").unwrap();
    let mut whole = fs::read(file("picture.png")).unwrap();
    whole.truncate(whole.len() / 2);
    fs::write(file("half.png"), whole).unwrap();
    let healthy = Request { width: 32, height: 32, ..all.healthy() };
    let over = |name: &str, strength: f64, mask: Option<&str>| {
        let mask = mask.map(|name| SourceMask { path: file(name), ..SourceMask::default() });
        let source = SourceImage { path: file(name), strength, mask, ..SourceImage::default() };
        Request { source: Some(source), ..healthy.clone() }
    };
    let soft = SourceMask { path: file("picture.png"), blur: 9999, ..SourceMask::default() };
    let soft = SourceImage { path: file("picture.png"), mask: Some(soft), ..SourceImage::default() };
    for (name, request, words) in [
        ("no file", over("none.png", 0.5, None), &["none.png", "cannot be read"][..]),
        ("no picture", over("notes.png", 0.5, None), &["notes.png", "not an image"]),
        ("half a picture", over("half.png", 0.5, None), &["half.png", "not an image"]),
        ("strength 0", over("picture.png", 0.0, None), &["strength 0 "]),
        ("strength 1.5", over("picture.png", 1.5, None), &["strength 1.5"]),
        ("strength NaN", over("picture.png", f64::NAN, None), &["strength NaN"]),
        ("no mask", over("picture.png", 0.5, Some("none of it.png")), &["none of it.png"]),
        ("dark mask", over("picture.png", 0.5, Some("dark.png")), &["dark.png", "it has no white area"]),
        ("tiny mask", over("picture.png", 0.5, Some("speck.png")), &["speck.png", "smaller than one latent"]),
        ("soft mask", Request { source: Some(soft), ..healthy.clone() }, &["9999"]),
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
    // The same error gives the same message, so this uses another file.
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
    all.job("latents by another name", job, &["latents.safetensors", "no tensor named latents"]).unwrap();
    save_latents("latents", &[1, 16, 4, 2]);
    let job = Job { initial_latents: Some(latents.clone()), ..all.new_job(healthy) };
    all.job("latents of another shape", job, &["latents.safetensors", "[1, 16, 4, 2]", "[1, 16, 2, 2]"])
        .unwrap();
}
