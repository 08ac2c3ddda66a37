//! LoRAs of Stable Diffusion 1 and XL: low-rank changes of matrices and convolutions, with the key names of
//! kohya's scripts.

use std::path::{Path, PathBuf};

use candle_core::{DType, Device, Tensor};
use sluice_engine::{
    request::{AdapterUse, Request},
    session::Event,
};
use sluice_tests::{
    adapters::{Layers, keys},
    checkpoint::{Fixture, Layout, Run, Stored, load, save},
    golden::{WHOLE_RUN, compare, distance},
    hash_weights,
    original_names::{self, Tensors},
    runner::Runner,
};

const RANK: usize = 4;
const ALPHA: f32 = 2.0;
const WEIGHT: f32 = 0.8;
const KOHYA: [&str; 2] = ["lora_down", "lora_up"];
const UNET: &str = "unet/diffusion_pytorch_model.safetensors";

/// A change of every matrix and convolution that `wanted` accepts, by layer name.
fn layers(tensors: &Tensors, wanted: impl Fn(&str) -> bool) -> Layers {
    let factor = |name: String, shape: &[usize]| {
        Tensor::from_vec(hash_weights::weight(&name, shape, 1.0), shape, &Device::Cpu).unwrap()
    };
    let layer = |(name, tensor): (&String, &Tensor)| {
        let layer = name.strip_suffix(".weight").filter(|layer| tensor.rank() > 1 && wanted(layer))?;
        let (mut down, mut up) = (tensor.dims().to_vec(), vec![1; tensor.rank()]);
        (up[0], up[1], down[0]) = (down[0], RANK, RANK);
        let factors = [factor(format!("{layer}.down"), &down), factor(format!("{layer}.up"), &up)];
        Some((layer.to_owned(), factors))
    };
    tensors.iter().filter_map(layer).collect()
}

/// The same layers under the authors' names.
fn original(layers: &Layers) -> Layers {
    let side = |side: usize| {
        let named = layers.iter().map(|(name, pair)| (format!("{name}.weight"), pair[side].clone()));
        original_names::unet(&named.collect())
    };
    let (downs, ups) = (side(0), side(1));
    let layer = |(name, down): (&String, &Tensor)| {
        (name.strip_suffix(".weight").unwrap().to_owned(), [down.clone(), ups[name].clone()])
    };
    downs.iter().map(layer).collect()
}

/// Adds changes to weights.
fn merge(tensors: &mut Tensors, layers: &Layers) {
    for (name, [down, up]) in layers {
        let weight = tensors.get_mut(&format!("{name}.weight")).unwrap();
        let product = up.flatten_from(1).unwrap().matmul(&down.flatten_from(1).unwrap()).unwrap();
        let change =
            (product.reshape(weight.dims()).unwrap() * f64::from(WEIGHT * ALPHA / RANK as f32)).unwrap();
        *weight = (&*weight + change).unwrap();
    }
}

/// The keys of layers as in kohya's scripts.
fn kohya(prefix: &str, layers: &Layers) -> Tensors {
    keys(layers, ALPHA, |name| format!("{prefix}{}", name.replace('.', "_")), KOHYA).unwrap()
}

fn dump(run: &Run, request: Request) -> Tensors {
    Runner::start().unwrap().dump(request, Some(&run.latents().unwrap())).unwrap().1
}

/// A run's request with an adapter; every key must match the model.
fn with(run: &Run, model: &Path, adapter: PathBuf) -> Request {
    let adapters = vec![AdapterUse { path: adapter, weight: WEIGHT }];
    let request = Request { adapters, ..run.request(model) };
    let mut runner = Runner::start().unwrap();
    let job = runner.job(Request { steps: 1, ..request.clone() });
    let ended = runner.run(job).unwrap();
    let reports = ended.events.iter().find_map(|event| match event {
        Event::Adapted { reports, .. } => Some(reports.clone()),
        _ => None,
    });
    let reports =
        reports.unwrap_or_else(|| panic!("nothing is said about the adapter: {:?}", ended.failure()));
    assert_eq!(reports[0].unmatched, Vec::<String>::new());
    request
}

#[test]
fn both_namings_give_what_merged_weights_give() {
    for (family, case, prefixes) in
        [("stable_diffusion", "one", &["lora_te_"][..]), ("sdxl", "base", &["lora_te1_", "lora_te2_"][..])]
    {
        let (fixture, folder) = (Fixture::new(family, case), tempfile::tempdir().unwrap());
        let run = fixture.run("guided").unwrap();
        let model = fixture.write_diffusers(&folder.path().join("model")).unwrap();
        let merged = fixture.write_diffusers(&folder.path().join("merged")).unwrap();

        let mut text = Tensors::new();
        for (part, prefix) in ["text_encoder", "text_encoder_2"].into_iter().zip(prefixes) {
            let file = merged.join(part).join("model.safetensors");
            let mut tensors = load(&file).unwrap();
            let changed = layers(&tensors, |layer| layer.contains("self_attn") || layer.contains(".mlp."));
            text.append(&mut kohya(prefix, &changed));
            merge(&mut tensors, &changed);
            save(&tensors, &file).unwrap();
        }
        let mut tensors = load(&merged.join(UNET)).unwrap();
        let changed = layers(&tensors, |_| true);
        merge(&mut tensors, &changed);
        save(&tensors, &merged.join(UNET)).unwrap();

        let [own, authors] = [("own", &changed), ("authors", &original(&changed))].map(|(name, layers)| {
            assert_eq!(layers.len(), changed.len(), "{family}");
            let path = folder.path().join(format!("{name}.safetensors"));
            let mut all = kohya("lora_unet_", layers);
            all.extend(text.clone());
            save(&all, &path).unwrap();
            dump(&run, with(&run, &model, path))
        });
        let (want, bare) = (dump(&run, run.request(&merged)), dump(&run, run.request(&model)));
        for name in want.keys() {
            let found = compare(name, &want, &own, WHOLE_RUN).unwrap();
            println!("{family} {name}: {found:.1e}");
            distance(name, &own[name].to_dtype(DType::F64).unwrap(), &authors[name], 0.0).unwrap();
        }
        let changed = compare("output", &want, &bare, f64::INFINITY).unwrap();
        assert!(changed > 1e-2, "{family}: the adapter changes {changed} only");
    }
}

/// Keys and values of images are no layers of the model.
#[test]
fn a_lora_goes_with_image_prompts() {
    let (fixture, folder) = (Fixture::new("stable_diffusion", "one"), tempfile::tempdir().unwrap());
    let run = fixture.run("prompted/plain").unwrap();
    let [model, merged] = ["model", "merged"].map(|name| {
        let model = fixture.write_diffusers(&folder.path().join(name)).unwrap();
        run.write_beside(&model).unwrap();
        model
    });
    let mut tensors = load(&merged.join(UNET)).unwrap();
    let changed = layers(&tensors, |layer| layer.contains("attn2"));
    merge(&mut tensors, &changed);
    save(&tensors, &merged.join(UNET)).unwrap();
    let lora = folder.path().join("lora.safetensors");
    save(&kohya("lora_unet_", &changed), &lora).unwrap();

    let want = dump(&run, run.request(&merged));
    let both = with(&run, &model, lora);
    let own = dump(&run, both.clone());
    for name in ["unet.0.out.0", "vae.decode.in", "output"] {
        compare(name, &want, &own, WHOLE_RUN).unwrap();
    }
    let alone = Request { image_prompts: Vec::new(), ..both };
    for one in [run.request(&model), alone] {
        assert!(compare("output", &want, &dump(&run, one), 0.01).is_err(), "one of them has no effect");
    }
}

/// OpenCLIP stores the projection of the pooled output transposed.
#[test]
fn a_projection_is_changed_alike_in_every_layout() {
    let (fixture, folder) = (Fixture::new("sdxl", "base"), tempfile::tempdir().unwrap());
    let run = fixture.run("guided").unwrap();
    let model = fixture.write_diffusers(&folder.path().join("model")).unwrap();
    let merged = fixture.write_diffusers(&folder.path().join("merged")).unwrap();
    let single = fixture.write(&folder.path().join("single"), Layout::Single, Stored::F32).unwrap();

    let file = merged.join("text_encoder_2/model.safetensors");
    let mut tensors = load(&file).unwrap();
    let before = tensors["text_projection.weight"].clone();
    let changed = layers(&tensors, |layer| layer == "text_projection" || layer.contains("self_attn"));
    merge(&mut tensors, &changed);
    save(&tensors, &file).unwrap();
    let mut inside = kohya("lora_te2_", &changed);
    inside.retain(|name, _| !name.contains("text_projection"));
    let difference = (&tensors["text_projection.weight"] - &before).unwrap() / f64::from(WEIGHT);
    inside.insert("lora_te2_text_projection.diff".to_owned(), difference.unwrap());

    let want = dump(&run, run.request(&merged));
    let bare = dump(&run, run.request(&single));
    let pooled = "encode_prompt.0.0.1";
    assert!(compare(pooled, &want, &bare, f64::INFINITY).unwrap() > 1e-2);
    for (name, keys) in [("beside", kohya("lora_te2_", &changed)), ("inside", inside)] {
        let path = folder.path().join(format!("{name}.safetensors"));
        save(&keys, &path).unwrap();
        let [of_folder, of_file] = [&model, &single].map(|model| dump(&run, with(&run, model, path.clone())));
        for tensor in want.keys() {
            compare(tensor, &want, &of_folder, WHOLE_RUN).unwrap();
            distance(tensor, &of_folder[tensor].to_dtype(DType::F64).unwrap(), &of_file[tensor], 0.0)
                .unwrap_or_else(|error| panic!("{name}: {error}"));
        }
    }
}

/// A LoRA is for the UNet, whose blocks come behind those of the ControlNet in the same component.
#[test]
fn beside_a_control_net_a_lora_changes_the_unet_alone() {
    for (family, case) in [("stable_diffusion", "one"), ("sdxl", "base")] {
        let (fixture, folder) = (Fixture::new(family, case), tempfile::tempdir().unwrap());
        let run = fixture.run("steered/guided").unwrap();
        let model = fixture.write_diffusers(&folder.path().join("model")).unwrap();
        run.write_beside(&model).unwrap();
        let merged = fixture.write_diffusers(&folder.path().join("merged")).unwrap();
        let mut unet = load(&merged.join(UNET)).unwrap();
        let changed = layers(&unet, |layer| layer.contains("attn") || layer.contains("resnets"));
        merge(&mut unet, &changed);
        save(&unet, &merged.join(UNET)).unwrap();
        let path = folder.path().join("own.safetensors");
        save(&kohya("lora_unet_", &changed), &path).unwrap();
        let nets = run.request(&model).control_nets;
        let by_merged = Request { control_nets: nets, ..run.request(&merged) };
        let want = dump(&run, by_merged);
        let own = dump(&run, with(&run, &model, path));
        let found = compare("output", &want, &own, WHOLE_RUN).unwrap();
        println!("{family}: {found:.1e}");
        let bare = dump(&run, run.request(&model));
        assert!(compare("output", &want, &bare, f64::INFINITY).unwrap() > 1e-2, "{family}");
    }
}
