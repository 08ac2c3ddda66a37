//! A model larger than the process's memory limit streams from disk with the same result.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use sluice_engine::{
    request::ModelSource,
    telemetry::{TelemetryEvent, read_jsonl},
};
use sluice_tests::checkpoint::{load, read_json, save, set_json};

/// Layers of the model: those of the starter, repeated.
const LAYERS: usize = 140;
/// The memory limit of the process in KiB; its weights are more than twice as large.
const LIMIT: u64 = 50_000;

/// The program that is built together with this test.
fn program() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let program = test.parent().and_then(Path::parent).unwrap().join("sluice");
    assert!(program.is_file(), "{} has not been built", program.display());
    program
}

/// The starter with many layers. Returns the size of its denoiser in bytes.
fn long_model(folder: &Path) -> u64 {
    for part in
        ["model_index.json", "starter.toml", "scheduler", "text_encoder", "tokenizer", "transformer", "vae"]
    {
        copy(&ModelSource::Starter.resolve().unwrap().join(part), &folder.join(part));
    }
    let transformer = folder.join("transformer");
    let config = transformer.join("config.json");
    let layers = read_json::<serde_json::Value>(&config).unwrap()["n_layers"].as_u64().unwrap() as usize;
    set_json(&config, "n_layers", LAYERS.into()).unwrap();
    let files = fs::read_dir(&transformer).unwrap().map(|entry| entry.unwrap().path());
    let file =
        files.into_iter().find(|path| path.extension().is_some_and(|kind| kind == "safetensors")).unwrap();
    let mut tensors = load(&file).unwrap();
    for layer in layers..LAYERS {
        let source = format!("layers.{}.", layer % layers);
        let names: Vec<_> = tensors.keys().filter(|name| name.starts_with(&source)).cloned().collect();
        for name in names {
            let copy = name.replacen(&source, &format!("layers.{layer}."), 1);
            tensors.insert(copy, tensors[&name].clone());
        }
    }
    save(&tensors, &file).unwrap();
    fs::metadata(&file).unwrap().len()
}

fn copy(from: &Path, to: &Path) {
    if from.is_file() {
        fs::copy(from, to).unwrap();
        return;
    }
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        copy(&path, &to.join(path.file_name().unwrap()));
    }
}

/// A file of a few large matrices in 16 bits.
fn matrices(path: &Path) -> u64 {
    use std::io::Write;
    const ROWS: usize = 8192;
    const COLUMNS: usize = 5120;
    let bytes = 2 * ROWS * COLUMNS;
    let entry = |index: usize| {
        serde_json::json!({
            "dtype": "BF16", "shape": [ROWS, COLUMNS], "data_offsets": [index * bytes, (index + 1) * bytes],
        })
    };
    let described: serde_json::Map<_, _> =
        (0..MATRICES).map(|index| (format!("layers.{index}.attention.qkv.weight"), entry(index))).collect();
    let header = serde_json::to_vec(&described).unwrap();
    let mut file = std::io::BufWriter::new(fs::File::create(path).unwrap());
    file.write_all(&(header.len() as u64).to_le_bytes()).unwrap();
    file.write_all(&header).unwrap();
    let values: Vec<u8> = sluice_tests::hash_weights::noise("matrices", 1 << 18)
        .into_iter()
        .flat_map(|value| ((value.to_bits() >> 16) as u16).to_le_bytes())
        .collect();
    for _ in 0..MATRICES * bytes / values.len() {
        file.write_all(&values).unwrap();
    }
    file.flush().unwrap();
    bytes as u64
}

/// Number of matrices in the converted file.
const MATRICES: usize = 2;
/// The memory limit of a conversion in KiB: less than half of one matrix.
const CONVERSION_LIMIT: u64 = 32_000;

#[test]
fn a_conversion_takes_less_memory_than_the_largest_matrix() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("large.safetensors");
    let matrix = matrices(&input);
    assert!(matrix > 2 * (CONVERSION_LIMIT << 10), "the limit is no proof: {matrix} bytes");
    for kind in ["fp8", "int8", "nf4", "q8_0", "q4_k"] {
        let extension = if kind.starts_with('q') { "gguf" } else { "safetensors" };
        let output = folder.path().join(format!("out.{extension}"));
        let converted = Command::new("sh")
            .arg("-c")
            .arg(format!("ulimit -d {CONVERSION_LIMIT}; exec \"$@\""))
            .arg("sh")
            .arg(program())
            .args(["convert", "--quiet", "--type", kind])
            .args([&input, &output])
            .env("MALLOC_ARENA_MAX", "1")
            .output()
            .unwrap();
        assert!(converted.status.success(), "{kind}: {}", String::from_utf8_lossy(&converted.stderr));
        fs::remove_file(output).unwrap();
    }
}

/// Generates an image in a process limited to `limit` KiB.
fn generate(folder: &Path, picture: &Path, limit: Option<u64>, options: &[&str]) -> Output {
    let limit = limit.map_or_else(String::new, |limit| format!("ulimit -d {limit}; "));
    Command::new("sh")
        .arg("-c")
        .arg(format!("{limit}exec \"$@\""))
        .arg("sh")
        .arg(program())
        .args(["generate", "--prompt", "a fox", "--seed", "3", "--steps", "2", "--quiet", "--threads", "2"])
        .args(["--width", "64", "--height", "64", "--model"])
        .arg(folder)
        .arg("--output")
        .arg(picture)
        .args(options)
        // Each arena of the C library's allocator reserves 64 MiB, used or not.
        .env("MALLOC_ARENA_MAX", "1")
        .env("XDG_DATA_HOME", folder)
        .output()
        .unwrap()
}

#[test]
fn weights_beyond_the_memory_that_may_be_taken_come_from_disk() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = long_model(folder.path());
    assert!(bytes > 2 * (LIMIT << 10) * 9 / 10, "the model is too small for this test: {bytes} bytes");
    let picture = |name: &str| folder.path().join(name);

    let plenty = generate(folder.path(), &picture("plenty.png"), None, &[]);
    assert!(plenty.status.success(), "{}", String::from_utf8_lossy(&plenty.stderr));
    let limited = generate(folder.path(), &picture("limited.png"), Some(LIMIT), &[]);
    assert!(limited.status.success(), "{}", String::from_utf8_lossy(&limited.stderr));
    assert!(fs::read(picture("limited.png")).unwrap() == fs::read(picture("plenty.png")).unwrap());

    let telemetry = picture("telemetry.jsonl");
    let options = ["--ram-budget", "20MB", "--telemetry", telemetry.to_str().unwrap()];
    let little = generate(folder.path(), &picture("little.png"), Some(LIMIT), &options);
    assert!(little.status.success(), "{}", String::from_utf8_lossy(&little.stderr));
    assert!(fs::read(picture("little.png")).unwrap() == fs::read(picture("plenty.png")).unwrap());
    let process = |event: &TelemetryEvent| match event {
        TelemetryEvent::Memory(sample) => Some(sample.process),
        _ => None,
    };
    let peak = read_jsonl(&telemetry).unwrap().events.iter().filter_map(process).max().unwrap();
    assert!(peak < bytes / 2, "the process held {peak} bytes of a model of {bytes}");
    eprintln!("{bytes} bytes of weights, {peak} bytes held by the process at its peak");
}
