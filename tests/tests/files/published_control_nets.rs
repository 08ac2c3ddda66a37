//! Published ControlNets, T2I-Adapters and IP-Adapters in their real sizes, without weights: they are known by name, open for
//! the model that they are for, and are counted in forecasts. Where their names and shapes are from is said in
//! `published_control_nets.py`.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use sluice_engine::{
    hardware::card,
    memory::{BlockFootprint, Footprint, MemoryPreferences, forecast, machine_of},
    models::{Content, Kind, MapForm, Model, OpenedModels, SteeredBy, content},
    nn::{Balance, Computes, Kernels, Trace},
    pipeline::{Resolved, footprint, workload},
    request::{ComputeDtype, ControlNet, ImagePrompt, Request, RequestError},
};
use sluice_tests::{known, published_files::PublishedFile};

/// A ControlNet or a T2I-Adapter.
struct Net {
    /// Its name in the fixtures.
    name: &'static str,
    /// A model that it is for.
    model: &'static str,
    /// What it is found to be.
    what: &'static str,
    family: Option<&'static str>,
    /// How it reads its map.
    reads: MapForm,
    /// Number of the kinds of maps that it has to be told.
    modes: usize,
}

impl Net {
    const fn new(name: &'static str, model: &'static str, what: &'static str, reads: MapForm) -> Self {
        Self { name, model, what, family: None, reads, modes: 0 }
    }

    const fn of(self, family: &'static str) -> Self {
        Self { family: Some(family), ..self }
    }

    const fn told(self, modes: usize) -> Self {
        Self { modes, ..self }
    }
}

const SD1: &str = "ControlNet for Stable Diffusion 1";
const SDXL: &str = "ControlNet for Stable Diffusion XL";
const QWEN_IMAGE: &str = "ControlNet for Qwen-Image";
const FLUX: &str = "ControlNet for FLUX.1";
const SD3: &str = "ControlNet for Stable Diffusion 3";
const Z_IMAGE: &str = "ControlNet for Z-Image";

const NETS: [Net; 16] = [
    Net::new("sd1.5-canny", "sd1.5", SD1, MapForm::Pixels),
    Net::new("sd1.5-canny-original", "sd1.5", SD1, MapForm::Pixels),
    Net::new("sdxl-canny", "sdxl", SDXL, MapForm::Pixels),
    Net::new("sdxl-union", "sdxl", SDXL, MapForm::PixelsWithBlack).told(8),
    Net::new("sd1.5-t2i", "sd1.5", "T2I-Adapter for Stable Diffusion 1", MapForm::GrayPixels),
    Net::new("sd1.5-t2i-original", "sd1.5", "T2I-Adapter for Stable Diffusion 1", MapForm::GrayPixels),
    Net::new("sdxl-t2i", "sdxl", "T2I-Adapter for Stable Diffusion XL", MapForm::PixelsWithBlack),
    Net::new("flux-canny", "flux.1-dev", FLUX, MapForm::Latents).of("FLUX.1"),
    Net::new("flux-union", "flux.1-dev", FLUX, MapForm::Latents).of("FLUX.1").told(7),
    Net::new("flux-union-pro-2.0", "flux.1-dev", FLUX, MapForm::Latents).of("FLUX.1"),
    Net::new("flux-xlabs", "flux.1-dev", FLUX, MapForm::PixelsWithBlack).of("FLUX.1"),
    Net::new("sd3-canny", "sd3-medium", SD3, MapForm::UnshiftedLatents).of("Stable Diffusion 3"),
    Net::new("sd3.5-canny", "sd3.5-large", SD3, MapForm::WideLatents).of("Stable Diffusion 3"),
    Net::new("qwen-image-union", "qwen-image", QWEN_IMAGE, MapForm::Latents).of("Qwen-Image"),
    Net::new("z-image-union", "z-image", Z_IMAGE, MapForm::Latents).of("Z-Image"),
    Net::new("z-image-union-2.1", "z-image", Z_IMAGE, MapForm::LatentsAndInput).of("Z-Image"),
];

/// IP-Adapters: the name in the fixtures, a model, what it is found to be, and the image encoder.
const IP_ADAPTERS: [(&str, &str, &str, &str); 4] = [
    ("ip-adapter-sd1.5", "sd1.5", "IP-Adapter for Stable Diffusion 1", "vit-h"),
    ("ip-adapter-plus-sd1.5", "sd1.5", "IP-Adapter for Stable Diffusion 1", "vit-h"),
    ("ip-adapter-sdxl", "sdxl", "IP-Adapter for Stable Diffusion XL", "vit-bigg"),
    ("ip-adapter-plus-sdxl", "sdxl", "IP-Adapter for Stable Diffusion XL", "vit-h"),
];

/// Published files have other metadata in the header.
const METADATA: u64 = 256;

fn write(name: &str, folder: &Path) -> PathBuf {
    let path = folder.join(format!("{name}.safetensors"));
    PublishedFile::of(name).unwrap().write(&path).unwrap();
    path
}

/// Checks that the file at a path has the weights and the size of the published one.
fn check_content(name: &str, path: &Path) -> Content {
    let (found, published) = (content(path).unwrap(), PublishedFile::of(name).unwrap());
    assert_eq!(found.parameters, published.parameters, "{name}");
    if let Some(bytes) = published.bytes {
        assert!(found.bytes.abs_diff(bytes) < METADATA, "{name}: {} bytes, not {bytes}", found.bytes);
    }
    found
}

/// An image in a folder.
fn picture(folder: &Path) -> PathBuf {
    let path = folder.join("picture.png");
    image::RgbImage::new(64, 64).save(&path).unwrap();
    path
}

/// The name of the model of this identifier, and the model with what a request has beside it.
fn opened(id: &str, request: &Request) -> (&'static str, Arc<Model>) {
    let (known, own) = known::opened(id).unwrap();
    (&known.name, OpenedModels::default().completed(own, request).unwrap())
}

/// Forecasts a request on a GPU, and returns what the forecast is of.
fn forecast_of(id: &str, request: &Request) -> Footprint {
    let (name, model) = opened(id, request);
    let card = card("rtx-4090").unwrap();
    let balance = Balance::of(card.operations_per_second, card.memory_bytes_per_second);
    let trace = Trace::new(Computes::Card(Kernels::ALL, balance));
    let resolved = Resolved::new(&model, request, ComputeDtype::Bf16).unwrap();
    let work = workload(&model, &resolved, &trace).unwrap();
    let held = footprint(&model, name, ComputeDtype::Bf16);
    let machine = machine_of(card, 128 << 30, 0);
    let forecast = forecast(&held, &work, &machine, &MemoryPreferences::default(), None);
    let plan = forecast.plan.unwrap();
    assert!(plan.peak_device() > 0 && plan.peak_device() <= plan.device_budget, "{id}");
    assert_eq!(plan.parts.len(), held.parts.len(), "{id}");
    held
}

/// Checks that blocks are read from all of a file, and are held in 16 bits.
fn check_blocks<'a>(name: &str, found: &Content, blocks: impl Iterator<Item = &'a BlockFootprint>) {
    let (read, held) =
        blocks.fold((0, 0), |(read, held), block| (read + block.file_bytes, held + block.bytes));
    let near = |bytes: u64, all: u64| (bytes as f64 / all as f64 - 1.0).abs() < 0.01;
    assert!(near(read, found.bytes), "{name}: {read} of {} bytes are read", found.bytes);
    assert!(near(held, 2 * found.parameters), "{name}: {held} bytes for {} weights", found.parameters);
}

#[test]
fn published_control_nets_open_and_are_counted_in_forecasts() {
    for Net { name, model, what, family, reads, modes } in NETS {
        let folder = tempfile::tempdir().unwrap();
        let path = write(name, folder.path());
        let found = check_content(name, &path);
        assert_eq!((found.kind, found.what.as_str()), (Kind::ControlNet, what), "{name}");
        assert_eq!((found.family.as_deref(), found.modes.len()), (family, modes), "{name}");
        let with = |net| Request { control_nets: vec![net], ..known::request(model).unwrap() };
        let net = ControlNet {
            model: path,
            image: picture(folder.path()),
            mode: found.modes.first().copied(),
            ..ControlNet::default()
        };
        let untold = with(ControlNet { mode: None, ..net.clone() });
        let (_, steered) = opened(model, &untold);
        let about = steered.denoisers().next().unwrap().network.denoiser.control_nets().unwrap();
        assert_eq!(about, [SteeredBy { reads, modes: about[0].modes }], "{name}");
        assert_eq!(about[0].modes, found.modes, "{name}");
        let checked = steered.validate(&untold);
        let has_to_be_told = matches!(checked, Err(RequestError::ControlNetWithoutMode { .. }));
        assert_eq!((has_to_be_told, checked.is_ok()), (modes > 0, modes == 0), "{name}: {checked:?}");
        let held = forecast_of(model, &with(net));
        let blocks = held.parts.iter().flat_map(|part| &part.blocks);
        check_blocks(name, &found, blocks.filter(|block| block.name.starts_with("control_net.0.")));
    }
}

#[test]
fn published_ip_adapters_open_and_are_counted_in_forecasts() {
    for (name, model, what, encoder) in IP_ADAPTERS {
        let folder = tempfile::tempdir().unwrap();
        let adapter = write(name, folder.path());
        let found = check_content(name, &adapter);
        assert_eq!((found.kind, found.what.as_str()), (Kind::IpAdapter, what), "{name}");
        assert_eq!((found.family.as_deref(), found.modes.len()), (None, 0), "{name}");
        let encoders = folder.path().join("image_encoder");
        fs::create_dir(&encoders).unwrap();
        check_content(encoder, &write(encoder, &encoders));
        let prompt = ImagePrompt { adapter, images: vec![picture(folder.path())], ..ImagePrompt::default() };
        let request = Request { image_prompts: vec![prompt], ..known::request(model).unwrap() };
        let held = forecast_of(model, &request);
        let is_of_adapter = |block: &&BlockFootprint| {
            block.name.starts_with("ip_adapter.0.") || block.name.starts_with("image_proj.")
        };
        check_blocks(name, &found, held.parts.iter().flat_map(|part| &part.blocks).filter(is_of_adapter));
        let prompter = held.parts.iter().find(|part| part.name == "image_prompter").unwrap();
        let tokens = prompter.blocks.iter().filter(|block| block.name.starts_with("image_proj.")).count();
        assert!(prompter.blocks.len() > tokens + 30, "{name}: {} blocks", prompter.blocks.len());
    }
}
