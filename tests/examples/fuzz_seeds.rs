//! Writes the initial corpora of the fuzz targets in `tests/fuzz`: small files of every kind, and models
//! without values.
//!
//! `cargo run --release --example fuzz_seeds` writes to `tests/fuzz/seeds`.

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result};
use candle_core::{DType, Device, Tensor};
use sluice_engine::{
    checkpoint::{StoredTensor, read_header},
    hardware::cards,
    memory::{MemoryPreferences, forecast, machine_of},
    precision::{Encoding, Format},
    session::{Event, Failure, FromWorker, Hello},
    wire::write_record,
};
use sluice_tests::{
    checkpoint::{Fixture, Layout, Stored, fixtures, manifest_tensors},
    known,
    original_names::Tensors,
    packed::{GgufValue, Packaged, ScaleNames, Written, package, write_gguf_values, write_safetensors},
};

/// Bytes before the message in a frame.
const PREFIX: usize = 12;

fn main() -> Result<()> {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds");
    let scratch = tempfile::tempdir()?;
    safetensors(&seeds.join("safetensors"), scratch.path())?;
    gguf(&seeds.join("gguf"), scratch.path())?;
    frames(&seeds.join("frames"))?;
    checkpoints(&seeds.join("checkpoint"), scratch.path())
}

fn save(folder: &Path, name: &str, parts: &[&[u8]]) -> Result<()> {
    fs::create_dir_all(folder)?;
    Ok(fs::write(folder.join(name), parts.concat())?)
}

fn matrix(rows: usize, columns: usize) -> Result<Tensors> {
    let tensor = Tensor::randn(0f32, 1.0, (rows, columns), &Device::Cpu)?;
    Ok(Tensors::from([("layer.0.weight".to_owned(), tensor)]))
}

/// The target adds the length if the first byte is small.
fn safetensors(folder: &Path, scratch: &Path) -> Result<()> {
    let path = scratch.join("seed.safetensors");
    let all: [(&str, Encoding, ScaleNames); 9] = [
        ("f32", Format::F32.into(), ScaleNames::ScaleWeight),
        ("f16", Format::F16.into(), ScaleNames::ScaleWeight),
        ("bf16", Format::Bf16.into(), ScaleNames::ScaleWeight),
        ("fp8", Format::F8E4m3.into(), ScaleNames::ScaleWeight),
        ("fp8-scale", Encoding::scaled(Format::F8E4m3, 128), ScaleNames::ScaleWeight),
        ("fp8-rows", Encoding::scaled(Format::F8E4m3, 64), ScaleNames::WeightScale),
        ("int8", Encoding::scaled(Format::I8, 64), ScaleNames::WeightScale),
        ("nf4", Encoding::scaled(Format::Nf4, 64), ScaleNames::ScaleWeight),
        ("nf4-nested", Encoding::scaled(Format::Nf4, 64), ScaleNames::Nested),
    ];
    for (name, encoding, scales) in all {
        let mut packaged = package(&matrix(2, 64)?, |_, _| encoding)?;
        if scales == ScaleNames::Nested {
            packaged = packaged.into_iter().map(|(name, own)| (name, own.with_nested_scales())).collect();
        }
        write_safetensors(&path, &packaged, scales)?;
        let bytes = fs::read(&path)?;
        save(folder, name, &[&[0], bytes.get(8..).context("a header")?])?;
        save(folder, &format!("{name}-whole"), &[&[0xff], &bytes])?;
    }
    Ok(())
}

/// The target adds the magic number.
fn gguf(folder: &Path, scratch: &Path) -> Result<()> {
    let path = scratch.join("seed.gguf");
    let formats = Format::ALL.into_iter().filter(|format| format.block().0 > 2);
    let mut values = vec![
        ("general.architecture", GgufValue::Text("t5encoder".to_owned())),
        ("general.alignment", GgufValue::Number(32)),
        ("tokenizer.ggml.model", GgufValue::Text("gpt2".to_owned())),
        ("tokenizer.ggml.tokens", GgufValue::Texts(["a", "b", "ab"].map(str::to_owned).to_vec())),
        ("tokenizer.ggml.merges", GgufValue::Texts(vec!["a b".to_owned()])),
        ("tokenizer.ggml.scores", GgufValue::Floats(vec![0.0, -1.0, -2.0])),
    ];
    for format in formats {
        let shape = [2, format.block().0];
        let name = if format == Format::Q8_0 { "token_embd.weight" } else { "enc.blk.0.attn_q.weight" };
        let packaged = Packaged::from([(name.to_owned(), Written::drawn("seed", &shape, format)?)]);
        write_gguf_values(&path, &values, &packaged)?;
        save(folder, format.name(), &[&fs::read(&path)?[4..]])?;
    }
    values.truncate(2);
    for dtype in [Format::F32, Format::F16, Format::Bf16] {
        let packaged = package(&matrix(2, 64)?, |_, _| dtype.into())?;
        write_gguf_values(&path, &values, &packaged)?;
        save(folder, dtype.name(), &[&fs::read(&path)?[4..]])?;
    }
    Ok(())
}

/// The target adds length and checksum if the first byte is small.
fn frames(folder: &Path) -> Result<()> {
    let machine = machine_of(cards().first().context("a card")?, 32 << 30, 0);
    let (footprint, workload) = known::sizes("z-image", &known::request("z-image")?)?;
    let preferences = MemoryPreferences::default();
    let forecast = forecast(&footprint, &workload, &machine, &preferences, None);
    let failure =
        Failure { message: "the file ends early".to_owned(), advice: Some("copy it again".to_owned()) };
    let messages = [
        ("hello", FromWorker::Hello(Hello::own())),
        ("alive", FromWorker::Alive),
        ("unloaded", FromWorker::Event(Box::new(Event::Unloaded))),
        ("not-planned", FromWorker::Event(Box::new(Event::NotPlanned { id: 7, failure }))),
        (
            "planned",
            FromWorker::Event(Box::new(Event::Planned {
                id: 8,
                forecast: Box::new(forecast),
                readings: Vec::new(),
            })),
        ),
    ];
    for (name, message) in messages {
        let mut bytes = Vec::new();
        write_record(&mut bytes, &message)?;
        save(folder, name, &[&[0], &bytes[PREFIX..]])?;
        save(folder, &format!("{name}-whole"), &[&[0xff], &bytes])?;
    }
    Ok(())
}

/// Tensors without values, one per line.
fn checkpoints(folder: &Path, scratch: &Path) -> Result<()> {
    let cases = [
        ("flux", "dev"),
        ("sd3", "medium"),
        ("sdxl", "base"),
        ("stable_diffusion", "one"),
        ("stable_diffusion", "two"),
        ("z_image", "default"),
    ];
    for (family, case) in cases {
        let own = scratch.join(format!("{family}-{case}"));
        let fixture = Fixture::new(family, case);
        for (name, layout) in [("single", Layout::Single), ("split", Layout::SplitPrefixed)] {
            let path = fixture.write(&own.join(name), layout, Stored::As(DType::F16))?;
            for (index, file) in weight_files(&path)?.iter().enumerate() {
                let lines = described(read_header(file)?.iter())?;
                save(folder, &format!("{family}-{case}-{name}-{index}"), &[lines.as_bytes()])?;
            }
        }
    }
    for family in ["flux", "z_image"] {
        for tensors in manifest_tensors(&fixtures().join("adapters").join(family))?.into_values() {
            let mut lines = String::new();
            for (name, tensor) in tensors {
                line(&mut lines, "F16", tensor.dims(), &name)?;
            }
            save(folder, &format!("adapter-{family}"), &[lines.as_bytes()])?;
        }
    }
    Ok(())
}

fn weight_files(path: &Path) -> Result<Vec<PathBuf>> {
    if path.is_file() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = Vec::new();
    for entry in fs::read_dir(path)? {
        let path = entry?.path();
        if path.is_dir() || path.extension().is_some_and(|extension| extension == "safetensors") {
            files.extend(weight_files(&path)?);
        }
    }
    files.sort();
    Ok(files)
}

fn described<'a>(tensors: impl Iterator<Item = (&'a String, &'a StoredTensor)>) -> Result<String> {
    let mut lines = String::new();
    for (name, tensor) in tensors {
        line(&mut lines, &tensor.dtype_name(), tensor.shape(), name)?;
    }
    Ok(lines)
}

fn line(lines: &mut String, dtype: &str, shape: &[usize], name: &str) -> Result<()> {
    write!(lines, "{dtype} ")?;
    for side in shape {
        write!(lines, "{side} ")?;
    }
    Ok(writeln!(lines, "{name}")?)
}
