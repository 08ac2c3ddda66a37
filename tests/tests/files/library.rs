//! Folders of many models: what is read again, what belongs together, and where other programs keep theirs.

use std::{
    collections::{BTreeMap, HashMap},
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering},
};

use candle_core::{DType, Device, Tensor};
use sluice_engine::models::{
    Inventory, Item, Kind, Remembered, Surroundings, adapter_fits, content_hash, inventory, known_models,
    scan, well_known_places,
};
use sluice_tests::{
    checkpoint::{Fixture, Layout, Stored, save},
    original_names::Tensors,
};

use super::downloads::sha256;

const VERSION: &str = "test";

fn lora(path: &Path, value: f32) {
    let tensor = |shape: &[usize]| {
        (Tensor::ones(shape, DType::F32, &Device::Cpu).unwrap() * f64::from(value)).unwrap()
    };
    let tensors: Tensors = [
        ("diffusion_model.double_blocks.0.img_attn.qkv.lora_A.weight", tensor(&[16, 64])),
        ("diffusion_model.double_blocks.0.img_attn.qkv.lora_B.weight", tensor(&[192, 16])),
    ]
    .map(|(name, tensor)| (name.to_owned(), tensor))
    .into();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    save(&tensors, path).unwrap();
}

fn find<'a>(inventory: &'a Inventory, name: &str) -> &'a Item {
    inventory.items.iter().find(|item| item.name == name).unwrap_or_else(|| panic!("{name}: {inventory:?}"))
}

/// Scans with what is remembered in a file, and counts the files that are read.
fn scanned(folders: &[PathBuf], cache: &Path) -> (Inventory, usize) {
    let mut remembered = Remembered::load(cache, VERSION);
    let read = AtomicUsize::new(0);
    let found = scan(folders, &mut remembered, |_, _| {
        read.fetch_add(1, Ordering::Relaxed);
    });
    remembered.save(cache, VERSION).unwrap();
    (found, read.into_inner())
}

#[test]
fn only_what_has_changed_is_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let (cache, models) = (folder.path().join("data/models"), folder.path().join("models"));
    for name in ["a", "b", "c"] {
        lora(&models.join(format!("loras/{name}.safetensors")), 1.0);
    }
    fs::write(models.join("broken.safetensors"), [0xa5; 64]).unwrap();
    let folders = [models.clone()];
    let (first, read) = scanned(&folders, &cache);
    assert_eq!((first.items.len(), read), (4, 4));
    assert_eq!(scanned(&folders, &cache), (first.clone(), 0), "nothing has changed");

    lora(&models.join("loras/b.safetensors"), 2.0);
    fs::remove_file(models.join("loras/c.safetensors")).unwrap();
    let (second, read) = scanned(&folders, &cache);
    assert_eq!((second.items.len(), read), (3, 1));

    fs::write(models.join("loras/a.json"), r#"{"activation text": "inkwash"}"#).unwrap();
    let (third, _) = scanned(&folders, &cache);
    assert_eq!(find(&third, "a").about.trigger_words, ["inkwash"]);
    assert_eq!(third.others, second.others, "a description is not another file");

    let (_, read) = scanned(&[], &cache);
    assert_eq!(read, 0);
    assert_eq!(scanned(&folders, &cache).1, 0, "a folder that was left out for once is still known");

    let mut other = Remembered::load(&cache, "another version");
    let read = AtomicUsize::new(0);
    scan(&folders, &mut other, |_, _| {
        read.fetch_add(1, Ordering::Relaxed);
    });
    assert_eq!(read.into_inner(), 3, "another version may tell more files apart");
    fs::write(&cache, "damaged").unwrap();
    assert_eq!(scanned(&folders, &cache).1, 3);
}

#[test]
fn folders_inside_of_others_count_once() {
    let folder = tempfile::tempdir().unwrap();
    let models = folder.path().join("models");
    lora(&models.join("loras/a.safetensors"), 1.0);
    let folders =
        [models.join("loras"), models.clone(), models.join("../models"), folder.path().join("nowhere")];
    let found = scan(&folders, &mut Remembered::default(), |_, _| ());
    assert_eq!(found.items.len(), 1);
}

#[test]
fn the_same_file_is_told_from_one_of_the_same_size_and_header() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).with_extension("safetensors");
    lora(&path("a"), 1.0);
    lora(&path("b"), 2.0);
    fs::copy(path("a"), path("c")).unwrap();
    let found = inventory(folder.path());
    let same: Vec<Option<&Path>> = found.items.iter().map(|item| item.same_as.as_deref()).collect();
    assert_eq!(same, [None, None, Some(path("a").as_path())]);
    let hash = |name: &str| content_hash(&path(name), || true).unwrap().unwrap();
    assert_eq!(hash("a"), hash("c"));
    assert_ne!(hash("a"), hash("b"));
    assert_eq!(hash("a"), sha256(&fs::read(path("a")).unwrap()));
    assert_eq!(content_hash(&path("a"), || false).unwrap(), None, "it was told to stop");
    content_hash(&path("nowhere"), || true).unwrap_err();
}

#[test]
fn files_for_low_noise_belong_to_those_for_high_noise() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["film_high_noise", "film_low_noise", "alone_low_noise"] {
        lora(&folder.path().join(name).with_extension("safetensors"), 1.0);
    }
    let found = inventory(folder.path());
    let high = find(&found, "film_high_noise").path.clone();
    assert_eq!(find(&found, "film_low_noise").half_of, Some(high));
    assert_eq!(find(&found, "film_high_noise").half_of, None);
    assert_eq!(find(&found, "alone_low_noise").half_of, None);
}

#[test]
fn descriptions_and_previews_of_other_programs_are_found_beside_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let beside = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    lora(&folder.path().join("ink.v1.safetensors"), 1.0);
    beside("ink.v1.civitai.info", r#"{"model": {"name": "Ink"}, "trainedWords": ["ink wash", "paper"]}"#);
    beside("ink.v1.preview.png", "");
    beside("ink.v1.png", "");
    beside("unrelated.png", "");
    let found = inventory(folder.path());
    let about = &find(&found, "ink.v1").about;
    assert_eq!(about.title.as_deref(), Some("Ink"));
    assert_eq!(about.preview, Some(folder.path().join("ink.v1.preview.png")));
    assert_eq!(about.trigger_words, ["ink wash", "paper"]);
    assert_eq!(found.others, 2, "only one image is its preview");
}

#[test]
fn repositories_of_the_hub_have_their_names_and_only_the_current_files() {
    let folder = tempfile::tempdir().unwrap();
    let repository = folder.path().join("models--someone--tiny-flux");
    for revision in ["0ld", "new"] {
        let snapshot = repository.join("snapshots").join(revision);
        Fixture::new("flux", "dev").write(&snapshot, Layout::Diffusers, Stored::F32).unwrap();
    }
    fs::create_dir_all(repository.join("refs")).unwrap();
    fs::write(repository.join("refs/main"), "0ld\n").unwrap();
    fs::create_dir_all(repository.join("blobs")).unwrap();
    fs::write(repository.join("blobs/b10b"), "x").unwrap();
    let found = inventory(folder.path());
    assert_eq!((found.items.len(), found.others), (1, 0), "{found:?}");
    let item = &found.items[0];
    assert_eq!(item.name, "someone/tiny-flux");
    assert!(item.path.ends_with("snapshots/0ld"));
    let content = item.content().unwrap();
    assert_eq!((content.kind, content.family.as_deref()), (Kind::Model, Some("FLUX.1")));
}

#[test]
fn files_whose_names_say_nothing_are_called_as_their_folders() {
    let folder = tempfile::tempdir().unwrap();
    let weights = "diffusion_pytorch_model";
    let files = [
        (format!("canny-sdxl/{weights}.safetensors"), "canny-sdxl"),
        (format!("union/{weights}_promax.safetensors"), "union_promax"),
        (format!("union/{weights}.fp16.safetensors"), "union.fp16"),
        (format!("my-flux/vae/{weights}.safetensors"), "my-flux/vae"),
        (format!("my-flux/text_encoder_2/{weights}-00001-of-00001.safetensors"), "my-flux/text_encoder_2"),
        (format!("models--someone--depth/snapshots/new/{weights}.safetensors"), "someone/depth"),
        ("qwen/model.safetensors".to_owned(), "qwen"),
        ("loose/model.safetensors".to_owned(), "model"),
        ("loose/models.safetensors".to_owned(), "models"),
    ];
    for (file, _) in &files {
        lora(&folder.path().join(file), 1.0);
    }
    for configured in ["qwen", "my-flux/vae"] {
        fs::write(folder.path().join(configured).join("config.json"), "{}").unwrap();
    }
    let found = inventory(folder.path());
    let names: BTreeMap<&Path, &str> = found
        .items
        .iter()
        .map(|item| (item.path.strip_prefix(folder.path()).unwrap(), item.name.as_str()))
        .collect();
    let expected: BTreeMap<&Path, &str> = files.iter().map(|(file, name)| (Path::new(file), *name)).collect();
    assert_eq!(names, expected);
}

#[test]
fn folders_of_other_programs_are_found() {
    let home = tempfile::tempdir().unwrap();
    let at = |path: &str| home.path().join(path);
    let folders = [
        "ComfyUI/models",
        "Documents/ComfyUI/models",
        "stable-diffusion-webui/models",
        "stable-diffusion-webui-forge/models",
        "SwarmUI/Models",
        "invokeai/models",
        "cache/hub",
        "Fooocus/models",
        "Wan2GP/ckpts",
        "StabilityMatrix/Data/Models",
        ".local/share/StabilityMatrix/Models",
        ".lmstudio/models",
        "elsewhere/models",
        "disk/comfy loras",
        "disk/swarm",
        "disk/swarm too",
        "disk/invoke",
        "disk/studio/models",
        "disk/matrix",
        "disk/commented",
    ];
    for folder in folders {
        fs::create_dir_all(at(folder)).unwrap();
    }
    let disk = at("disk").display().to_string();
    let extra = format!(
        "a111:\n    base_path: {}\n    checkpoints: models\n    loras: |\n        models/Lora\n        {disk}/comfy loras\n\
         #other:\n#    vae: {disk}/commented\n",
        at("elsewhere").display()
    );
    fs::write(at("ComfyUI/extra_model_paths.yaml"), extra).unwrap();
    fs::create_dir_all(at("SwarmUI/Data")).unwrap();
    let swarm = format!("Paths:\n\tModelRoot: {disk}/swarm;{disk}/swarm too\n\tSDModelFolder: x\n");
    fs::write(at("SwarmUI/Data/Settings.fds"), swarm).unwrap();
    fs::write(at("invokeai/invokeai.yaml"), format!("schema_version: 4.0.2\nmodels_dir: '{disk}/invoke'\n"))
        .unwrap();
    let matrix = format!("{{\n  \"Version\": 1,\n  \"ModelDirectoryOverride\": \"{disk}/matrix\",\n}}\n");
    fs::write(at("StabilityMatrix/Data/settings.json"), matrix).unwrap();
    fs::write(at(".lmstudio-home-pointer"), format!("{disk}/studio\n")).unwrap();
    let variables: HashMap<&str, PathBuf> =
        [("HF_HOME", at("cache")), ("HF_HUB_CACHE", PathBuf::new())].into();
    let variable = |name: &str| variables.get(name).map(|value| OsString::from(value.as_path()));
    let surroundings = Surroundings {
        home: Some(home.path().to_owned()),
        bases: vec![at("Documents"), home.path().to_owned()],
        variable: &variable,
    };
    let found: BTreeMap<PathBuf, &str> =
        well_known_places(&surroundings).into_iter().map(|place| (place.folder, place.program)).collect();
    let expected: BTreeMap<PathBuf, &str> = [
        ("ComfyUI/models", "ComfyUI"),
        ("Documents/ComfyUI/models", "ComfyUI"),
        ("elsewhere/models", "ComfyUI, other folder"),
        ("stable-diffusion-webui/models", "A1111"),
        ("stable-diffusion-webui-forge/models", "Forge"),
        ("SwarmUI/Models", "SwarmUI"),
        ("invokeai/models", "InvokeAI"),
        ("cache/hub", "Hugging Face"),
        ("Fooocus/models", "Fooocus"),
        ("Wan2GP/ckpts", "Wan2GP"),
        ("StabilityMatrix/Data/Models", "Stability Matrix"),
        (".local/share/StabilityMatrix/Models", "Stability Matrix"),
        ("disk/matrix", "Stability Matrix"),
        (".lmstudio/models", "LM Studio"),
        ("disk/comfy loras", "ComfyUI, other folder"),
        ("disk/swarm", "SwarmUI"),
        ("disk/swarm too", "SwarmUI"),
        ("disk/invoke", "InvokeAI"),
        ("disk/studio/models", "LM Studio"),
    ]
    .map(|(folder, program)| (at(folder), program))
    .into();
    assert_eq!(found, expected);
    let nothing = Surroundings { home: None, bases: Vec::new(), variable: &|_| None };
    assert_eq!(well_known_places(&nothing), []);
}

#[test]
fn adapters_fit_the_family_that_they_name() {
    assert_eq!(adapter_fits(Some("FLUX.1"), "FLUX.1"), Some(true));
    assert_eq!(adapter_fits(Some("FLUX.1"), "FLUX.2"), Some(false));
    assert_eq!(adapter_fits(Some("Stable Diffusion 1.5"), "Stable Diffusion 1 and 2"), Some(true));
    assert_eq!(adapter_fits(Some("Stable Diffusion 1.5"), "Stable Diffusion XL"), Some(false));
    assert_eq!(
        adapter_fits(Some("Stable Diffusion"), "Stable Diffusion XL"),
        None,
        "its version is not known"
    );
    assert_eq!(adapter_fits(None, "FLUX.1"), None);
}

#[test]
fn well_known_models_have_a_size_and_most_a_licence() {
    let licensed = known_models().iter().filter(|model| model.licence.is_some()).count();
    assert!(2 * licensed > known_models().len(), "{licensed}");
    let flux = known_models().iter().find(|model| model.id == "flux.1-schnell").unwrap();
    assert_eq!(flux.licence.as_deref(), Some("Apache 2.0"));
    let bytes = flux.bytes().unwrap();
    assert!((33_000_000_000..35_000_000_000).contains(&bytes), "{bytes}");
}
