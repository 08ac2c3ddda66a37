//! Times a denoising step and a decode at real shapes with random weights:
//! `cargo bench --workspace --bench pipeline`.
//!
//! Prints the processor, and a JSON object for each case whose name contains the argument, or without one for all small cases
//! of images. With `--bf16`, weights and values are in bf16, with `--w8a8`, weights are of that type; `--repeats COUNT` says how
//! often each case runs.
//! `pipeline.py`, `images.py` and `wan.py` next to this file run it together with diffusers and print ratios.

use std::{
    collections::HashMap,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use candle_core::{DType, Device, Shape, Tensor};
use sluice_engine::{
    checkpoint::{BlockSpec, Component, Role, StoredName, read_header},
    hardware::{MemoryAccount, metered},
    models::{
        ClipControl, Conditioning, Denoiser, DenoiserInput, PrepareInput,
        cosmos::{CosmosConfig, CosmosTransformer},
        flux::{FluxConfig, FluxTransformer},
        flux2::{Flux2Config, Flux2Transformer},
        qwen_image::{QwenImageConfig, QwenImageTransformer},
        sd3::{Sd3Config, Sd3Transformer},
        unet::{Level, Unet, UnetConfig},
        wan::{WanConfig, WanTransformer},
        z_image::{ZImageConfig, ZImageTransformer},
    },
    nn::computed::instructions,
    precision::Storage,
    request::Canvas,
    residency::{Blocks, CpuMemory, Executor, WeightStore},
    sampling::{Discrete, PredictionType},
    text::{T5, T5Config},
    vae::{Autoencoder, AutoencoderKl, AutoencoderKlConfig, WanAutoencoder, WanAutoencoderConfig},
};
use sysinfo::{CpuRefreshKind, RefreshKind, System};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Calls of a case after the one that warms up, where `--repeats` does not say otherwise.
const REPEATS: usize = 5;
/// A case that took this long is not repeated.
const ENOUGH: Duration = Duration::from_secs(20);

/// What the cases have in common.
struct Bench<'a> {
    /// Where weights are written.
    folder: &'a Path,
    /// That of weights and values.
    dtype: DType,
    /// The type of weights.
    storage: Storage,
    repeats: usize,
}

impl Bench<'_> {
    fn random(&self, shape: impl Into<Shape>) -> Result<Tensor> {
        Ok(Tensor::randn(0f32, 1f32, shape, &Device::Cpu)?.to_dtype(self.dtype)?)
    }

    fn fastest(&self, mut work: impl FnMut() -> Result<()>) -> Result<f64> {
        work()?;
        let (mut best, begun) = (Duration::MAX, Instant::now());
        for _ in 0..self.repeats {
            let started = Instant::now();
            work()?;
            best = best.min(started.elapsed());
            if begun.elapsed() > ENOUGH {
                break;
            }
        }
        Ok(best.as_secs_f64())
    }
}

fn main() -> Result<()> {
    let folder = std::env::temp_dir().join(format!("sluice-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let (mut wanted, mut dtype, mut repeats) = (String::new(), DType::F32, REPEATS);
    let mut storage = Storage::Stored;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--bf16" => dtype = DType::BF16,
            "--w8a8" => storage = Storage::W8a8,
            "--repeats" => repeats = arguments.next().ok_or("--repeats needs a count")?.parse()?,
            // Given by cargo.
            "--bench" => {}
            _ => wanted = argument,
        }
    }
    println!("{}, {}, {} threads", brand()?, instructions(), rayon::current_num_threads());
    // On a thread of the pool, and with allocations that are measured and on large pages, as in the engine.
    let result = rayon::scope(|_| {
        let bench = Bench { folder: &folder, dtype, storage, repeats };
        metered(&MemoryAccount::new(), || run(&bench, &wanted)).map_err(|error| error.to_string())
    });
    std::fs::remove_dir_all(&folder)?;
    Ok(result?)
}

/// The name of the processor.
fn brand() -> Result<String> {
    let system = System::new_with_specifics(RefreshKind::nothing().with_cpu(CpuRefreshKind::nothing()))?;
    Ok(system.cpus().first().map_or_else(String::new, |cpu| cpu.brand().trim().to_owned()))
}

type Case<'a> = (&'a str, Box<dyn Fn() -> Result<f64> + 'a>);

fn run(bench: &Bench<'_>, wanted: &str) -> Result<()> {
    let starter = ZImageConfig {
        in_channels: 12,
        dim: 160,
        n_layers: 4,
        n_refiner_layers: 1,
        n_heads: 5,
        cap_feat_dim: 128,
        axes_dims: vec![8, 12, 12],
        ..ZImageConfig::default()
    };
    let one_block = ZImageConfig { n_layers: 1, n_refiner_layers: 0, ..ZImageConfig::default() };
    let starter_vae = AutoencoderKlConfig {
        latent_channels: 12,
        block_out_channels: vec![16, 32, 64, 96],
        layers_per_block: 1,
        norm_num_groups: 4,
        use_quant_conv: false,
        use_post_quant_conv: false,
        ..AutoencoderKlConfig::default()
    };
    let flux_vae = AutoencoderKlConfig {
        latent_channels: 16,
        use_quant_conv: false,
        use_post_quant_conv: false,
        ..AutoencoderKlConfig::default()
    };
    let unet = |width, heads, cross_attention_dim, up: [usize; 2]| UnetConfig {
        levels: vec![Level { width, heads, down: vec![1], up: up.to_vec() }],
        middle: None,
        cross_attention_dim,
        ..UnetConfig::default()
    };
    let flux = FluxConfig { num_layers: 1, num_single_layers: 1, ..FluxConfig::default() };
    let sd3 = Sd3Config {
        num_layers: 2,
        num_attention_heads: 38,
        caption_projection_dim: 2432,
        pos_embed_max_size: 192,
        qk_norm: Some("rms_norm".to_owned()),
        ..Sd3Config::default()
    };
    let wan = |heads, ffn_dim| WanConfig {
        num_attention_heads: heads,
        ffn_dim,
        num_layers: 1,
        ..WanConfig::default()
    };
    let cases: Vec<Case<'_>> = vec![
        ("step starter 128", Box::new(|| z_image_step(bench, starter.clone(), 16, 32))),
        ("step z_image one block 512", Box::new(|| z_image_step(bench, one_block.clone(), 64, 64))),
        ("step flux a block of each kind 512", Box::new(|| flux_step(bench, flux.clone()))),
        ("step sd3.5 large two blocks 512", Box::new(|| sd3_step(bench, sd3.clone()))),
        ("step sdxl lowest level 1024", Box::new(|| unet_step(bench, unet(1280, 20, 2048, [0, 0]), 32))),
        ("step sd1.5 highest level 512", Box::new(|| unet_step(bench, unet(320, 8, 768, [1, 1]), 64))),
        ("decode starter 128", Box::new(|| decode(bench, starter_vae.clone(), 16))),
        ("decode flux 256", Box::new(|| decode(bench, flux_vae.clone(), 32))),
        ("wide qwen-image one block 1024", Box::new(|| qwen_image_step(bench, 1024))),
        ("wide qwen-image one block 1328", Box::new(|| qwen_image_step(bench, 1328))),
        ("wide flux.2 klein 4B a block of each kind 1024", Box::new(|| flux2_step(bench, 1024))),
        ("wide flux.2 klein 4B a block of each kind 1328", Box::new(|| flux2_step(bench, 1328))),
        ("wide anima one block 1024", Box::new(|| anima_step(bench, 1024))),
        ("wide anima one block 1328", Box::new(|| anima_step(bench, 1328))),
        ("clip wan 1.3B one block 8192 tokens", Box::new(|| wan_step(bench, wan(12, 8960)))),
        ("clip wan 14B one block 8192 tokens", Box::new(|| wan_step(bench, wan(40, 13_824)))),
        ("clip umt5 one layer 512 tokens", Box::new(|| umt5_layer(bench))),
        ("clip decode wan 17 frames 256", Box::new(|| decode_wan(bench))),
    ];
    let is_wanted = |name: &str| match wanted {
        "" => name.starts_with("step") || name.starts_with("decode"),
        wanted => name.contains(wanted),
    };
    for (name, case) in cases.into_iter().filter(|(name, _)| is_wanted(name)) {
        println!("{{\"name\": \"{name}\", \"seconds\": {}}}", case()?);
    }
    Ok(())
}

/// Seconds of one prediction for latents of this side and a caption of this many tokens.
fn z_image_step(bench: &Bench<'_>, config: ZImageConfig, side: usize, caption: usize) -> Result<f64> {
    let (blocks, prompt) = (config.blueprint(), [caption, config.cap_feat_dim]);
    step(bench, &blocks, &ZImageTransformer::new(config, 8), [side, 1], prompt, 0)
}

/// Seconds of one prediction for 1024 image tokens and 512 of text.
fn flux_step(bench: &Bench<'_>, config: FluxConfig) -> Result<f64> {
    let (blocks, prompt) = (config.blueprint(), [512, config.joint_attention_dim]);
    let pooled = config.pooled_projection_dim;
    step(bench, &blocks, &FluxTransformer::new(config, 8), [64, 1], prompt, pooled)
}

/// Seconds of one prediction for 1024 image tokens and 333 of text.
fn sd3_step(bench: &Bench<'_>, config: Sd3Config) -> Result<f64> {
    let (blocks, prompt) = (config.blueprint(), [333, config.joint_attention_dim]);
    let pooled = config.pooled_projection_dim;
    step(bench, &blocks, &Sd3Transformer::new(config, 8), [64, 1], prompt, pooled)
}

/// Seconds of one prediction for latents of this side.
fn unet_step(bench: &Bench<'_>, config: UnetConfig, side: usize) -> Result<f64> {
    let (blocks, prompt) = (config.blueprint(), [77, config.cross_attention_dim]);
    let training = Discrete::stable_diffusion(PredictionType::Epsilon);
    step(bench, &blocks, &Unet::new(config, training, 8, false), [side, 1], prompt, 0)
}

/// Seconds of one prediction of Qwen-Image with one block for a square image of this many pixels a side and 512 tokens of
/// text.
fn qwen_image_step(bench: &Bench<'_>, side: usize) -> Result<f64> {
    let config = QwenImageConfig { num_layers: 1, ..QwenImageConfig::default() };
    let (blocks, prompt) = (config.blueprint(), [512, config.joint_attention_dim]);
    step(bench, &blocks, &QwenImageTransformer::new(config, 8), [side / 8, 1], prompt, 0)
}

/// The same of FLUX.2 klein 4B with one block of each kind.
fn flux2_step(bench: &Bench<'_>, side: usize) -> Result<f64> {
    let config = Flux2Config {
        num_layers: 1,
        num_single_layers: 1,
        num_attention_heads: 24,
        joint_attention_dim: 7680,
        guidance_embeds: false,
        ..Flux2Config::default()
    };
    let (blocks, prompt) = (config.blueprint(), [512, config.joint_attention_dim]);
    step(bench, &blocks, &Flux2Transformer::new(config, 16), [side / 8, 1], prompt, 0)
}

/// The same of Anima with one block, without the channel that is always zero.
fn anima_step(bench: &Bench<'_>, side: usize) -> Result<f64> {
    let config = CosmosConfig { num_layers: 1, concat_padding_mask: false, ..CosmosConfig::default() };
    let (blocks, prompt) = (config.blueprint(), [512, config.text_embed_dim]);
    step(bench, &blocks, &CosmosTransformer::new(config, 8), [side / 8, 1], prompt, 0)
}

/// Seconds of one prediction for 29 frames of 512×512, which are 8192 tokens, and 512 of text.
fn wan_step(bench: &Bench<'_>, config: WanConfig) -> Result<f64> {
    let (blocks, prompt) = (config.blueprint(), [512, config.text_dim]);
    let model = WanTransformer {
        config,
        scale: 8,
        frames: 4,
        has_whole_times: true,
        boundary: None,
        has_own_times: false,
    };
    step(bench, &blocks, &model, [64, 29], prompt, 0)
}

/// Seconds of encoding 512 tokens with one layer of UMT5-XXL.
fn umt5_layer(bench: &Bench<'_>) -> Result<f64> {
    let config =
        T5Config { vocab_size: 1000, num_layers: 1, model_type: "umt5".to_owned(), ..T5Config::default() };
    let store = random_store(bench, Role::TextEncoder, &config.blueprint())?;
    let (encoder, executor) = (T5::new(config), Executor::default());
    let tokens: Vec<u32> = (0..512).collect();
    bench.fastest(|| {
        encoder.encode(Blocks::stored(&executor, &store), &[&tokens])?;
        Ok(())
    })
}

/// Seconds of decoding 17 frames of 256×256 with the autoencoder of Wan 2.1.
fn decode_wan(bench: &Bench<'_>) -> Result<f64> {
    let config = WanAutoencoderConfig::default();
    let store = random_store(bench, Role::Autoencoder, &config.blueprint())?;
    let latents = bench.random((1, config.z_dim, 5, 32, 32))?.into();
    let (vae, executor) = (WanAutoencoder::new(config), Executor::default());
    bench.fastest(|| {
        vae.decode_clip(Blocks::stored(&executor, &store), &latents, None, &mut |_| Ok(()))?;
        Ok(())
    })
}

fn step(
    bench: &Bench<'_>,
    blocks: &[BlockSpec],
    model: &dyn Denoiser,
    [side, frames]: [usize; 2],
    [tokens, width]: [usize; 2],
    pooled: usize,
) -> Result<f64> {
    let store = random_store(bench, Role::Denoiser, blocks)?;
    let executor = Executor::default();
    let prompt = bench.random((tokens, width))?;
    let pooled = match pooled {
        0 => None,
        width => Some(bench.random(width)?),
    };
    let branches = [Conditioning { pooled: pooled.map(Into::into), ..Conditioning::new(prompt.into()) }];
    let pixels = 8 * side as u32;
    let latents = model.latents(Canvas {
        width: pixels,
        height: pixels,
        frames: frames as u32,
        references: 0,
        later_images: 0,
    });
    let input = PrepareInput {
        branches: &branches,
        sigmas: &[0.5],
        guidance: 0.0,
        latents,
        pixels: [8 * side; 2],
        frame_rate: 16.0,
        clean: 0,
        later: Vec::new(),
        image: None,
        control: ClipControl::default(),
        references: &[],
        controls: &[],
        image_tokens: &[],
    };
    let prepared = model.prepare(Blocks::stored(&executor, &store), &input)?;
    let latents = bench.random(latents.dims(1))?.into();
    let input = DenoiserInput { latents: &latents, sigma: 0.5, beside: None, clean: 0 };
    bench.fastest(|| {
        model.predict(Blocks::stored(&executor, &store), &input, &prepared)?;
        Ok(())
    })
}

/// Seconds of decoding latents of this side.
fn decode(bench: &Bench<'_>, config: AutoencoderKlConfig, side: usize) -> Result<f64> {
    let store = random_store(bench, Role::Autoencoder, &config.blueprint())?;
    let latents = bench.random((1, config.latent_channels, side, side))?.into();
    let (vae, executor) = (AutoencoderKl::new(config), Executor::default());
    bench.fastest(|| {
        vae.decode(Blocks::stored(&executor, &store), &latents, None)?;
        Ok(())
    })
}

fn random_store(bench: &Bench<'_>, role: Role, blocks: &[BlockSpec]) -> Result<WeightStore> {
    let path = bench.folder.join("weights.safetensors");
    let mut tensors = HashMap::new();
    for block in blocks {
        for (name, shape) in &block.tensors {
            let fan_in: usize = shape.iter().skip(1).product();
            let deviation = 1.0 / (fan_in as f32).sqrt();
            let tensor =
                Tensor::randn(0f32, deviation, shape.as_slice(), &Device::Cpu)?.to_dtype(bench.dtype)?;
            tensors.insert(format!("{}{name}", block.prefix), tensor);
        }
    }
    candle_core::safetensors::save(&tensors, &path)?;
    drop(tensors);
    let table = read_header(&path)?;
    let component =
        Component::bind(role, "benchmark", blocks, &table, |name| StoredName::whole(name), &path)?;
    let component = component.given_as(bench.storage);
    Ok(WeightStore::new(component, bench.dtype, Arc::new(CpuMemory), MemoryAccount::new()))
}
