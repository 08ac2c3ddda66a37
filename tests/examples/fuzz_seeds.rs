//! Writes the initial corpora of the fuzz targets in `tests/fuzz`: small files of every kind, models without values, and what
//! other programs write.
//!
//! `cargo run --release --example fuzz_seeds` writes to `tests/fuzz/seeds`.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result};
use candle_core::{DType, Device, Tensor};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sluice::presets::{self, Preset};
use sluice_engine::{
    checkpoint::{StoredTensor, read_header},
    hardware::cards,
    memory::{MemoryPreferences, forecast, machine_of},
    output::{Clip, Codec, Image, Media, Settings, write_media},
    precision::{Encoding, Format},
    request::{PromptFolders, Request},
    session::{
        Command, Event, Failure, FromWorker, Hello, Job, JobId, PlanQuery, PlanSubject, Readings, ToWorker,
    },
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

/// Texts in images, as other programs write them. The bytes before them choose their keywords in the target.
const TEXTS: [(&str, &[(u8, &str)]); 10] = [
    (
        "web-ui",
        &[(
            1,
            "a boat <lora:ink:0.8>, (mist:1.2)\nNegative prompt: fog\nSteps: 28, Sampler: DPM++ 2M Karras, CFG scale: 5.5, \
             Seed: 42, Size: 832x1216, Model: boats_v3, Denoising strength: 0.5, Hires upscale: 2, Clip skip: 2, \
             Lora hashes: \"ink: 1a2b\", Version: v1.10.1",
        )],
    ),
    (
        "comfy-ui",
        &[(
            2,
            r#"{"3": {"class_type": "KSampler", "inputs": {"seed": 42, "steps": 28, "cfg": 5.5, "sampler_name": "dpmpp_2m",
            "scheduler": "karras", "denoise": 1, "model": ["10", 0], "positive": ["6", 0], "negative": ["7", 0],
            "latent_image": ["5", 0]}}, "4": {"class_type": "CheckpointLoaderSimple", "inputs": {"ckpt_name": "a/b.safetensors"}},
            "5": {"class_type": "EmptyLatentImage", "inputs": {"width": 832, "height": 1216, "batch_size": 1}},
            "6": {"class_type": "CLIPTextEncode", "inputs": {"text": "a boat", "clip": ["10", 1]}},
            "7": {"class_type": "CLIPTextEncode", "inputs": {"text": ["8", 0], "clip": ["10", 1]}},
            "8": {"class_type": "PrimitiveString", "inputs": {"value": "fog"}},
            "10": {"class_type": "LoraLoader", "inputs": {"lora_name": "ink.safetensors", "strength_model": 0.5,
            "strength_clip": 1, "model": ["4", 0], "clip": ["4", 1]}},
            "20": {"class_type": "LatentUpscaleBy", "inputs": {"scale_by": 1.5, "samples": ["3", 0]}},
            "21": {"class_type": "KSampler", "inputs": {"seed": 7, "steps": 12, "cfg": 8, "sampler_name": "euler",
            "scheduler": "simple", "denoise": 0.5, "model": ["10", 0], "positive": ["6", 0], "negative": ["7", 0],
            "latent_image": ["20", 0]}}, "9": {"class_type": "SaveImage", "inputs": {"images": ["21", 0]}}}"#,
        )],
    ),
    (
        "comfy-ui-custom",
        &[(
            2,
            r#"{"17": {"class_type": "BasicScheduler", "inputs": {"scheduler": "simple", "steps": 28, "denoise": 1}},
            "13": {"class_type": "SamplerCustomAdvanced", "inputs": {"noise": ["25", 0], "guider": ["22", 0],
            "sampler": ["16", 0], "sigmas": ["17", 0], "latent_image": ["27", 0]}},
            "16": {"class_type": "KSamplerSelect", "inputs": {"sampler_name": "euler"}},
            "22": {"class_type": "BasicGuider", "inputs": {"model": ["12", 0], "conditioning": ["26", 0]}},
            "25": {"class_type": "RandomNoise", "inputs": {"noise_seed": 42}},
            "26": {"class_type": "FluxGuidance", "inputs": {"guidance": 5.5, "conditioning": ["6", 0]}},
            "6": {"class_type": "CLIPTextEncode", "inputs": {"text": "a boat", "clip": ["11", 0]}},
            "27": {"class_type": "EmptySD3LatentImage", "inputs": {"width": 832, "height": 1216}},
            "12": {"class_type": "UNETLoader", "inputs": {"unet_name": "flux1-dev.safetensors"}}}"#,
        )],
    ),
    (
        "comfy-ui-screen",
        &[(
            3,
            r#"{"nodes": [{"id": 3, "type": "KSampler", "mode": 0, "widgets_values": [42, "fixed", 28, 5.5, "euler", "karras", 1],
            "inputs": [{"name": "model", "link": 1}, {"name": "positive", "link": 2}, {"name": "latent_image", "link": 3}]},
            {"id": 4, "type": "CheckpointLoaderSimple", "widgets_values": ["b.safetensors"]},
            {"id": 5, "type": "EmptyLatentImage", "widgets_values": [832, 1216, 1]},
            {"id": 6, "type": "CLIPTextEncode", "widgets_values": ["a boat"]}],
            "links": [[1, 4, 0, 3, 0, "MODEL"], [2, 6, 0, 3, 1, "CONDITIONING"], [3, 5, 0, 3, 2, "LATENT"]]}"#,
        )],
    ),
    (
        "swarm-ui",
        &[(
            1,
            r#"{"sui_image_params": {"prompt": "a boat", "negativeprompt": "fog", "model": "Flux/flux1-dev", "seed": 42,
            "steps": 28, "cfgscale": 5.5, "width": 832, "height": 1216, "sampler": "euler", "scheduler": "normal",
            "loras": ["ink", "sub/sea"], "loraweights": ["0.5", "1"]}}"#,
        )],
    ),
    (
        "fooocus",
        &[
            (
                1,
                r#"{"base_model": "juggernautXL_v8", "clip_skip": 2, "full_negative_prompt": ["fog"], "full_prompt": ["a boat"],
                "guidance_scale": 5.5, "loras": [["offset", 0.1, "4852"]], "metadata_scheme": "fooocus", "prompt": "a boat",
                "refiner_model": "None", "refiner_switch": 0.5, "resolution": "(832, 1216)", "sampler": "dpmpp_2m_sde_gpu",
                "scheduler": "karras", "seed": "42", "steps": 28, "styles": "['Fooocus V2']"}"#,
            ),
            (12, "fooocus"),
        ],
    ),
    (
        "invoke-ai",
        &[
            (
                8,
                r#"{"positive_prompt": "a boat", "negative_prompt": "fog", "width": 832, "height": 1216, "seed": 42,
                "cfg_scale": 5.5, "steps": 28, "scheduler": "dpmpp_2m_sde_k", "clip_skip": 1, "model": {"name": "XL"},
                "loras": [{"model": {"name": "ink"}, "weight": 0.75}], "controlnets": [{}]}"#,
            ),
            (
                9,
                r#"{"model_weights": "sd-1.5", "image": {"prompt": [{"prompt": "a boat [fog]", "weight": 1.0}], "steps": 28,
                "cfg_scale": 5.5, "height": 1216, "width": 832, "seed": 42, "sampler": "k_euler_a"}}"#,
            ),
            (10, "\"a boat [fog]\" -s 28 -S 42 -W832 -H1216 -C5.5 -A k_euler_a"),
        ],
    ),
    (
        "novel-ai",
        &[
            (
                4,
                r#"{"prompt": "a boat", "uc": "fog", "steps": 28, "scale": 5.5, "cfg_rescale": 0.2, "seed": 42, "width": 832,
                "height": 1216, "sampler": "k_euler_ancestral", "noise_schedule": "karras", "v4_prompt": {"caption":
                {"base_caption": "a boat", "char_captions": [{"char_caption": "a sailor", "centers": [{"x": 0.5, "y": 0.5}]}]}}}"#,
            ),
            (6, "NovelAI Diffusion V4 37C2B166"),
        ],
    ),
    (
        "wan2gp",
        &[(
            4,
            r#"{"type": "WanGP v9.1", "prompt": "a boat", "negative_prompt": "fog", "resolution": "1280x704", "video_length": 121,
            "seed": 99, "num_inference_steps": 30, "guidance_scale": 5, "sample_solver": "unipc", "model_type": "ti2v_2_2"}"#,
        )],
    ),
    (
        "draw-things",
        &[(
            11,
            "<x:xmpmeta><rdf:Description exif:UserComment=\"{&quot;c&quot;: &quot;a boat &amp; a lake&quot;, &quot;model&quot;: \
             &quot;xl_q6p.ckpt&quot;, &quot;sampler&quot;: &quot;DPM++ 2M AYS&quot;, &quot;scale&quot;: 5.5, &quot;size&quot;: \
             &quot;832x1216&quot;, &quot;v2&quot;: {&quot;clipSkip&quot;: 2, &quot;loras&quot;: [{&quot;file&quot;: \
             &quot;ink.ckpt&quot;, &quot;weight&quot;: 0.6}]}}\"/></x:xmpmeta>",
        )],
    ),
];

/// A1111's table and Fooocus' list.
const STYLES: [(&str, u8, &str); 2] = [
    (
        "table",
        1,
        "name,prompt,negative_prompt\nFilm,\"{prompt}, film still\",\"fog, rain\"\nInk,ink drawing,\n",
    ),
    (
        "list",
        0,
        r#"[{"name": "Film", "prompt": "{prompt}, film still", "negative_prompt": "fog"}, {"name": "Ink"}]"#,
    ),
];

/// Lists of jobs.
const JOBS: [(&str, &[&str]); 6] = [
    (
        "lines",
        &[r##"# two jobs
{"prompt": "a fox", "seed": 7}

{"prompt": "an owl", "negative_prompt": "fog", "steps": 4, "sampler": "DPM++ 2M Karras", "guidance": 5.5, "batch_size": 2}
"##],
    ),
    (
        "grid",
        &[
            r#"{"steps": 2, "matrix": {"prompt": ["a fox", "an owl"], "seed": {"from": 1, "to": 9, "by": 4},"#,
            r#" "+size": [{"width": 64, "height": 96}, {"width": 96, "height": 64}]}}"#,
        ],
    ),
    (
        "images",
        &[
            r#"{"prompt": "a fox", "strength": 0.5, "fit": "pad", "image": "data:image/png;base64,PNG","#,
            r#" "mask": {"image": "PNG", "blur": 4, "inverted": true}, "outpaint": {"left": 16, "feather": 8}}"#,
        ],
    ),
    (
        "steered",
        &[
            r#"{"prompt": "a", "hires": {"scale": 1.5, "upscaler": "latent"}, "variation": {"seed": 3, "strength": 0.1},"#,
            r#" "regions": [{"prompt": "an owl", "box": [0, 0, 0.5, 1]}], "region_fade": 0.1, "clip_skip": 2, "true_cfg": 2}"#,
        ],
    ),
    (
        "clip",
        &[
            r#"{"model": "starter-clip", "prompt": "a", "frames": 9, "fps": 8, "references": ["PNG"],"#,
            r#" "control": {"video": "walk", "range": {"start": 1, "end": 5}, "mask": "PNG", "strength": 0.5}}"#,
        ],
    ),
    (
        "named",
        &[
            r#"{"prompt": "a", "styles": ["ink"], "loras": [{"name": "ink", "weight": 0.5}], "detailers": [{"model": "face"}],"#,
            r#" "control_nets": [{"model": "canny", "image": "PNG"}], "refiner": {"model": "xl", "switch": 0.8}}"#,
        ],
    ),
];
/// The smallest of images, for which these lists say `PNG`.
const DOT: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAIAAAABCAIAAAB7QOjdAAAAC0lEQVR4nGNgAAMAAAcAAbKGrPQAAAAASUVORK5CYII=";

/// A catalogue with all that one can have.
const CATALOGUE: &str = r#"date = "2026-11-25"
gated = ["a/gated"]
[[models]]
id = "z-image"
[[models.versions]]
format = "bf16"
files = ["weights", "ae"]
cards = [16, 24]
[[models.versions]]
format = "diffusers"
folder = true
cards = [8, 12]
[[models]]
id = "own"
name = "Own"
licence = "MIT"
beside = "a/other-half"
[[models.versions]]
format = "Q4_K_M"
files = ["ae"]
[files.weights]
repository = "a/gated"
path = "split/z_image_bf16.safetensors"
folder = "diffusion_models"
name = "z.safetensors"
holds = ["transformer"]
bytes = 12300000000
[files.ae]
repository = "a/b"
path = "ae.gguf"
folder = "vae"
holds = ["vae", "t5"]
bits = 8.5
bytes = 335304388
sha256 = "afc8e28272cd15db3919bacdb6918ce9c1ed22e96cb12c4d5ed0fba823529e38"
"#;

fn main() -> Result<()> {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds");
    let scratch = tempfile::tempdir()?;
    safetensors(&seeds.join("safetensors"), scratch.path())?;
    gguf(&seeds.join("gguf"), scratch.path())?;
    quantized(&seeds.join("quantized"))?;
    checkpoints(&seeds.join("checkpoint"), scratch.path())?;
    tokenizers(&seeds.join("tokenizers"))?;
    media(&seeds, scratch.path())?;
    texts(&seeds.join("texts"))?;
    presets(&seeds.join("presets"), scratch.path())?;
    for (name, parts) in JOBS {
        save(&seeds.join("orders"), name, &[parts.concat().replace("PNG", DOT).as_bytes()])?;
    }
    save(&seeds.join("catalogue"), "small", &[CATALOGUE.as_bytes()])?;
    wire(&seeds.join("wire"))
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

/// Files of other programs, line by line: descriptions with their text, other tensors without values.
fn quantized(folder: &Path) -> Result<()> {
    #[derive(Deserialize)]
    struct Entry {
        dtype: String,
        shape: Vec<usize>,
        data_offsets: [usize; 2],
    }
    for name in ["bitsandbytes", "comfy", "header", "torchao"] {
        let bytes = fs::read(fixtures().join("quantized").join(name).with_extension("safetensors"))?;
        let (length, rest) = bytes.split_first_chunk().context("a safetensors file begins with a length")?;
        let (header, values) = rest.split_at(u64::from_le_bytes(*length) as usize);
        let header: BTreeMap<String, Value> = serde_json::from_slice(header)?;
        let mut lines = String::new();
        for (name, entry) in header {
            if name == "__metadata__" {
                for (name, text) in entry.as_object().into_iter().flatten() {
                    writeln!(lines, "# {name} {}", text.as_str().context("a note is a text")?)?;
                }
                continue;
            }
            let Entry { dtype, shape, data_offsets: [start, end] } = serde_json::from_value(entry)?;
            match std::str::from_utf8(&values[start..end]) {
                Ok(text) if dtype == "U8" && text.starts_with('{') => writeln!(lines, "= {name} {text}")?,
                _ => line(&mut lines, &dtype, &shape, &name)?,
            }
        }
        save(folder, name, &[lines.as_bytes()])?;
    }
    Ok(())
}

/// The first byte says which files of a tokenizer follow.
fn tokenizers(folder: &Path) -> Result<()> {
    for family in ["z_image", "flux", "chroma", "lens"] {
        let path = fixtures().join(family).join("tokenizer/tokenizer.json");
        save(folder, family, &[&[0], &shortened(&path).with_context(|| path.display().to_string())?])?;
    }
    let read = |name: &str| fs::read(fixtures().join("flux/tokenizer").join(name));
    save(folder, "flux-pairs", &[&[1], &read("vocab.json")?, &[0], &read("merges.txt")?])?;
    let pieces = ["<pad>", "</s>", "<unk>", "▁a", "▁b", "o", "at", "▁boat"];
    let mut model = vec![2];
    for (piece, score) in pieces.into_iter().zip(0u8..) {
        let score = (-f32::from(score)).to_le_bytes();
        let piece = [&field(1, piece.as_bytes())[..], &[(2 << 3) | 5], &score].concat();
        model.extend(field(1, &piece));
    }
    save(folder, "t5-pieces", &[&model])
}

/// A `tokenizer.json` with its first tokens, and without merges.
fn shortened(path: &Path) -> Result<Vec<u8>> {
    const TOKENS: usize = 64;
    const ADDED: usize = 4;
    let mut tokenizer: Value = serde_json::from_slice(&fs::read(path)?)?;
    match &mut tokenizer["model"]["vocab"] {
        Value::Array(pieces) => pieces.truncate(TOKENS),
        vocab => {
            let numbers = vocab.as_object_mut().context("its model has tokens")?;
            numbers.retain(|_, number| number.as_u64().is_some_and(|number| number < TOKENS as u64));
        }
    }
    if let Some(merges) = tokenizer["model"].get_mut("merges").and_then(Value::as_array_mut) {
        merges.clear();
    }
    tokenizer["added_tokens"].as_array_mut().context("it has added tokens")?.truncate(ADDED);
    Ok(serde_json::to_vec(&tokenizer)?)
}

/// A field of a protocol buffer with fewer than 128 bytes.
fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    [&[(number << 3) | 2, bytes.len() as u8], bytes].concat()
}

/// Images and clips with their settings.
fn media(seeds: &Path, scratch: &Path) -> Result<()> {
    let settings = Settings::new(&known::request("z-image")?, "Z-Image", "z-image", 0);
    let clip = |sides, count: u8| {
        Media::Clip(Clip::silent((0..count).map(|number| image(sides, number)).collect(), 8.0))
    };
    let (still, moving) = (Media::Image(image([32, 16], 0)), clip([32, 16], 2));
    let all = [
        ("still.png", &still),
        ("still.jpg", &still),
        ("still.webp", &still),
        ("moving.png", &moving),
        ("moving.webp", &moving),
        ("moving.gif", &moving),
        ("moving.mp4", &moving),
    ];
    for (name, media) in all {
        save(&seeds.join("settings"), name, &[&written(&scratch.join(name), media, &settings)?])?;
    }
    for (name, sides, count) in [("one.mp4", [16, 16], 1), ("few.mp4", [32, 16], 4), ("odd.mp4", [50, 34], 3)]
    {
        let bytes = written(&scratch.join(name), &clip(sides, count), &settings)?;
        save(&seeds.join("clip"), name, &[&bytes])?;
    }
    Ok(())
}

fn written(path: &Path, media: &Media, settings: &Settings) -> Result<Vec<u8>> {
    write_media(path, media, settings, Codec::H264)?;
    Ok(fs::read(path)?)
}

fn image([width, height]: [u32; 2], number: u8) -> Image {
    let pixels = (0..3 * width * height).map(|place| (place * 7) as u8 ^ number.wrapping_mul(11)).collect();
    Image::opaque(width, height, pixels)
}

/// Texts of a file are separated by zeros.
fn texts(folder: &Path) -> Result<()> {
    for (name, texts) in TEXTS {
        let parts = texts.iter().map(|(keyword, text)| [&[*keyword], text.as_bytes()].concat());
        save(folder, name, &[&parts.collect::<Vec<_>>().join(&0)])?;
    }
    Ok(())
}

/// Presets as they are kept, and styles.
fn presets(folder: &Path, scratch: &Path) -> Result<()> {
    let detailed = "steps = 8\nsampler = \"lcm\"\nguidance = 1.5\nhires = false\nnegative_prompt = \"fog\"\n";
    save(folder, "typed", &[detailed.as_bytes()])?;
    let preset = Preset::of(&known::request("z-image")?, true);
    presets::save(scratch, "kept", &preset)?;
    save(folder, "kept", &[&fs::read(scratch.join("kept.toml"))?])?;
    for (name, kind, text) in STYLES {
        save(&folder.with_file_name("styles"), name, &[&[kind], text.as_bytes()])?;
    }
    Ok(())
}

/// The target adds length and checksum if the first byte is small.
fn wire(folder: &Path) -> Result<()> {
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
                readings: Readings::default(),
            })),
        ),
    ];
    for (name, message) in messages {
        record(folder, name, &message)?;
    }
    let request = Request { prompt: "a red boat".to_owned(), ..known::request("z-image")? };
    let query =
        PlanQuery { id: 8, subject: PlanSubject::Model, request: request.clone(), memory: preferences };
    let messages = [
        ("to-hello", ToWorker::Hello(Hello::own())),
        (
            "to-start",
            ToWorker::Start {
                threads: Some(2),
                hardware: false,
                data: Some("/data".into()),
                model_folders: vec!["/models".into()],
                prompt_folders: PromptFolders::default(),
                visit: Some("0123456789abcdef".to_owned()),
            },
        ),
        (
            "to-generate",
            ToWorker::Command(Box::new(Command::Generate(Box::new(Job::new(JobId(3), request))))),
        ),
        ("to-plan", ToWorker::Command(Box::new(Command::Plan(Box::new(query))))),
        ("to-file", ToWorker::File { name: "a".repeat(64), bytes: 4, sha256: "b".repeat(64) }),
        ("to-chunk", ToWorker::Chunk { bytes: vec![1, 2, 3, 4] }),
    ];
    for (name, message) in messages {
        record(folder, name, &message)?;
    }
    Ok(())
}

fn record(folder: &Path, name: &str, message: &impl Serialize) -> Result<()> {
    let mut bytes = Vec::new();
    write_record(&mut bytes, message)?;
    save(folder, name, &[&[0], &bytes[PREFIX..]])?;
    save(folder, &format!("{name}-whole"), &[&[0xff], &bytes])
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
