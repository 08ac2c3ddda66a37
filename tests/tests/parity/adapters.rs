//! LoRAs and other adapters: results of diffusers and LyCORIS, every spelling of the keys, and rejected
//! files.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use candle_core::{DType, Device, Tensor};
use sluice_engine::{
    adapters::{AdapterFile, AdapterReport, adapt},
    checkpoint::{BlockSpec, Component, Role, StoredName, read_header},
    models::{adapter_summary, family_of_adapter},
    request::{AdapterUse, Request},
    session::Event,
};
use sluice_tests::{
    adapters::{Adapter, Layers, changes_inside, keys, shared},
    checkpoint::{Fixture, fixtures, load, save},
    golden::{MODULE, WHOLE_RUN, compare, distance},
    original_names::{self, Tensors},
    runner::Runner,
};

/// A tiny model of a family on disk, and the reference's adapter for it.
struct Tiny {
    folder: tempfile::TempDir,
    model: PathBuf,
    adapter: Adapter,
}

impl Tiny {
    fn new(family: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let case = match family {
            "flux" => "dev",
            "wan" => "experts",
            _ => "default",
        };
        let model = Fixture::new(family, case).write_diffusers(&folder.path().join("model")).unwrap();
        Self { folder, model, adapter: Adapter::new(family).unwrap() }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(format!("{name}.safetensors"))
    }

    /// The reference's request with an adapter of these keys.
    fn request(&self, name: &str, tensors: &Tensors) -> Request {
        save(tensors, &self.file(name)).unwrap();
        self.with(&[(name, self.adapter.weight)])
    }

    fn with(&self, uses: &[(&str, f32)]) -> Request {
        let adapters =
            uses.iter().map(|(name, weight)| AdapterUse { path: self.file(name), weight: *weight }).collect();
        Request { adapters, ..self.adapter.run().unwrap().request(&self.model) }
    }

    fn dump(&self, request: Request) -> Tensors {
        let latents = self.adapter.run().unwrap().latents().unwrap();
        Runner::start().unwrap().dump(request, Some(&latents)).unwrap().1
    }
}

#[track_caller]
fn assert_same(got: &Tensors, want: &Tensors, how: &str) {
    assert_eq!(got.len(), want.len());
    for (name, want) in want {
        distance(name, &want.to_dtype(DType::F64).unwrap(), &got[name], 0.0)
            .unwrap_or_else(|error| panic!("{how}: {error}"));
    }
}

#[test]
fn pictures_are_those_of_diffusers() {
    for family in [
        "flux",
        "z_image",
        "qwen_image",
        "flux2",
        "chroma",
        "longcat",
        "ernie_image",
        "lens",
        "anima",
        "krea2",
        "hidream",
    ] {
        let tiny = Tiny::new(family);
        tiny.adapter.write(&tiny.file("ink")).unwrap();
        let (bare, got) = (tiny.dump(tiny.with(&[])), tiny.dump(tiny.with(&[("ink", tiny.adapter.weight)])));
        let golden = tiny.adapter.run().unwrap().golden().unwrap();
        let expected: BTreeSet<&str> = golden.keys().map(|name| name.split('.').next().unwrap()).collect();
        assert_eq!(expected, BTreeSet::from(["encode_prompt", "output", "step", "transformer"]), "{family}");
        for name in golden.keys() {
            let is_module = name.starts_with("encode_prompt") || name.starts_with("transformer.0.out");
            let found = compare(name, &golden, &got, if is_module { MODULE } else { WHOLE_RUN }).unwrap();
            println!("{family} {name}: {found:.1e}");
            // FLUX.1's second embedding comes from CLIP, which the adapter changes; the other encoders are
            // unchanged.
            if !name.starts_with("encode_prompt") || (family == "flux" && name.ends_with("0.0.1")) {
                let changed = compare(name, &golden, &bare, f64::INFINITY).unwrap();
                assert!(changed > 1e-2, "{family} {name}: the adapter changes {changed} only");
            }
        }
    }
}

/// A model with two transformers: in one file with names for both, and as a pair of which only one file is chosen.
#[test]
fn two_experts_have_adapters_of_their_own() {
    let tiny = Tiny::new("wan");
    tiny.adapter.write(&tiny.file("ink")).unwrap();
    let weight = tiny.adapter.weight;
    let (bare, got) = (tiny.dump(tiny.with(&[])), tiny.dump(tiny.with(&[("ink", weight)])));
    let golden = tiny.adapter.run().unwrap().golden().unwrap();
    for name in golden.keys().filter(|name| !name.starts_with("encode_prompt")) {
        let is_module = name.starts_with("transformer.0.out");
        let found = compare(name, &golden, &got, if is_module { MODULE } else { WHOLE_RUN }).unwrap();
        println!("{name}: {found:.1e}");
        let changed = compare(name, &golden, &bare, f64::INFINITY).unwrap();
        assert!(changed > 1e-2, "{name}: the adapter changes {changed} only");
    }
    let layers = tiny.adapter.layers().unwrap();
    let halves = [("high_noise_ink", "transformer."), ("low_noise_ink", "transformer_2.")];
    for (name, own) in halves {
        let layers = without(own, &layers);
        let prefixed = |layer: &str| format!("diffusion_model.{layer}");
        let tensors = keys(&layers, tiny.adapter.alpha, prefixed, ["lora_down", "lora_up"]).unwrap();
        save(&tensors, &tiny.file(name)).unwrap();
    }
    for (name, _) in halves {
        let request = tiny.with(&[(name, weight)]);
        let reports = adapted(&tiny, &request);
        let of: Vec<_> = reports.iter().map(|report| report.half_of.clone()).collect();
        assert_eq!(of, [None, Some(tiny.file(name))]);
        assert_eq!(reports.iter().map(|report| report.unmatched.len()).sum::<usize>(), 0);
        assert_same(&tiny.dump(request), &got, name);
    }
    assert_same(
        &tiny.dump(tiny.with(&[halves[0].0, halves[1].0].map(|name| (name, weight)))),
        &got,
        "both chosen",
    );
}

#[test]
fn formulas_are_those_of_lycoris() {
    let folder = tempfile::tempdir().unwrap();
    let golden = load(&fixtures().join("adapters/formulas.safetensors")).unwrap();
    let kinds: Vec<&str> = golden.keys().filter_map(|name| name.strip_suffix(".before")).collect();
    assert_eq!(kinds.len(), 16);
    let (mut weights, mut changes) = (Tensors::new(), Tensors::new());
    let mut spec = BlockSpec::stem("all");
    for kind in &kinds {
        let before = &golden[&format!("{kind}.before")];
        weights.insert(format!("{kind}.weight"), before.clone());
        spec = spec.tensor(format!("{kind}.weight"), before.dims());
    }
    for (name, tensor) in &golden {
        if let Some((kind, key)) = name.split_once(".key.") {
            changes.insert(format!("diffusion_model.{kind}.{key}"), tensor.clone());
        }
    }
    let (model, adapter) = (folder.path().join("model"), folder.path().join("adapter"));
    save(&weights, &model).unwrap();
    save(&changes, &adapter).unwrap();
    let table = read_header(&model).unwrap();
    let whole = |name: &str| StoredName::whole(name);
    let component = Component::bind(Role::Denoiser, "test", &[spec], &table, whole, &model).unwrap();
    let uses = [AdapterUse { path: adapter, weight: 0.7 }];
    let adapted = adapt(&[&component], "test", &uses, family_of_adapter).unwrap();
    assert_eq!(adapted.reports[0].unmatched, Vec::<String>::new());
    let block = &adapted.components[0].blocks[0];
    let values = |name: &str| {
        let (_, stored) = block.tensors.iter().find(|(own, _)| own == name).unwrap();
        stored.load(&Device::Cpu).unwrap()
    };
    for kind in kinds {
        let mut got = values(&format!("{kind}.weight"));
        for term in block.terms.iter().filter(|term| term.matrix == format!("{kind}.weight")) {
            assert_eq!(kind, "low_rank", "everything else is done to the weights themselves");
            let product = values(&term.up).matmul(&values(&term.down)).unwrap();
            got = (got + (product * f64::from(term.scale)).unwrap()).unwrap();
        }
        let after = &golden[&format!("{kind}.after")];
        let found = distance(kind, after, &got, 1e-6).unwrap();
        let change = distance(kind, after, &golden[&format!("{kind}.before")], f64::INFINITY).unwrap();
        println!("{kind}: {found:.1e}, changed by {change:.1e}");
        assert!(change > 1e-2);
    }
}

/// Renames the layers of a transformer to the original files' names, and concatenates those that are
/// concatenated there.
fn original(layers: &Layers, rename: impl Fn(&Tensors) -> candle_core::Result<Tensors>) -> Layers {
    let side = |side: usize| {
        let mut tensors: Tensors =
            layers.iter().map(|(name, pair)| (format!("{name}.weight"), pair[side].clone())).collect();
        // The conversion needs these, and no adapter here has them.
        for parameter in ["weight", "bias"] {
            let filling = Tensor::zeros((2, 1), DType::F32, &Device::Cpu).unwrap();
            tensors.insert(format!("norm_out.linear.{parameter}"), filling);
        }
        let mut renamed = rename(&tensors).unwrap();
        renamed.retain(|_, tensor| tensor.dims() != [2, 1]);
        renamed
    };
    let (downs, ups) = (side(0), side(1));
    let rank = layers.values().next().unwrap()[0].dim(0).unwrap();
    let layer = |(name, up): (&String, &Tensor)| {
        // All parts have the same first factor.
        let down = downs[name].narrow(0, 0, rank).unwrap();
        (name.strip_suffix(".weight").unwrap().to_owned(), [down, up.clone()])
    };
    ups.iter().map(layer).collect()
}

fn without(prefix: &str, layers: &Layers) -> Layers {
    let strip =
        |(name, pair): (&String, &[Tensor; 2])| Some((name.strip_prefix(prefix)?.to_owned(), pair.clone()));
    layers.iter().filter_map(strip).collect()
}

/// The layers that are one matrix in the original files.
fn joined(name: &str) -> Option<String> {
    let (block, layer) = name
        .split_once(".attn.")
        .or_else(|| name.split_once(".attention."))
        .or_else(|| Some((name.strip_suffix(".proj_mlp")?, "to_q")))?;
    match layer {
        "to_q" | "to_k" | "to_v" => Some(format!("{block}.img")),
        "add_q_proj" | "add_k_proj" | "add_v_proj" => Some(format!("{block}.txt")),
        _ => None,
    }
}

#[test]
fn every_spelling_gives_the_same_bytes() {
    const PEFT: [&str; 2] = ["lora_A", "lora_B"];
    const KOHYA: [&str; 2] = ["lora_down", "lora_up"];
    for family in ["flux", "z_image"] {
        let tiny = Tiny::new(family);
        let (own, rename): (_, fn(&Tensors) -> candle_core::Result<Tensors>) = match family {
            "flux" => ("transformer.", original_names::flux),
            _ => ("diffusion_model.", original_names::z_image),
        };
        let all = tiny.adapter.layers().unwrap();
        let layers = shared(&without(own, &all), joined);
        let text = without("text_encoder.", &all);
        let original = original(&layers, rename);
        assert!(original.len() < layers.len(), "{family}: nothing was joined");
        let alpha = tiny.adapter.alpha;
        let spell = |layers: &Layers, prefix: &str, text_prefix: &str, dots: bool, sides: [&str; 2]| {
            let name = |prefix: &str, name: &str| {
                format!("{prefix}{}", if dots { name.to_owned() } else { name.replace('.', "_") })
            };
            let mut tensors = keys(layers, alpha, |layer| name(prefix, layer), sides).unwrap();
            tensors.extend(keys(&text, alpha, |layer| name(text_prefix, layer), sides).unwrap());
            tensors
        };
        let peft = spell(&layers, "transformer.", "text_encoder.", true, PEFT);
        let want = tiny.dump(tiny.request("peft", &peft));
        for (name, tensors) in [
            ("diffusers in kohya", spell(&layers, "lora_unet_", "lora_te1_", false, KOHYA)),
            ("original in kohya", spell(&original, "lora_unet_", "lora_te_", false, KOHYA)),
            (
                "original in ComfyUI",
                spell(&original, "diffusion_model.", "text_encoders.clip_l.transformer.", true, PEFT),
            ),
            ("original without prefix", spell(&original, "", "text_encoder.", true, PEFT)),
            (
                "PEFT alone",
                spell(
                    &layers,
                    "base_model.model.",
                    "text_encoder.",
                    true,
                    ["lora_A.default", "lora_B.default"],
                ),
            ),
            ("diffusers of old", spell(&layers, "unet.", "text_encoder.", true, ["lora.down", "lora.up"])),
        ] {
            let request = tiny.request(name, &tensors);
            let reports = adapted(&tiny, &request);
            assert_eq!(reports[0].unmatched, Vec::<String>::new(), "{family}: {name}");
            assert_same(&tiny.dump(request), &want, &format!("{family}: {name}"));
        }
        // The same scale, given by PEFT's configuration instead of alphas.
        let scaled: Tensors = peft.into_iter().filter(|(name, _)| !name.ends_with(".alpha")).collect();
        let component =
            |name: &str| [(format!("{name}.r"), 4.0), (format!("{name}.lora_alpha"), f64::from(alpha))];
        let notes: serde_json::Map<String, serde_json::Value> =
            [component("transformer"), component("text_encoder")]
                .into_iter()
                .flatten()
                .map(|(name, value)| (name, value.into()))
                .collect();
        let notes = [("lora_adapter_metadata".to_owned(), serde_json::Value::from(notes).to_string())].into();
        safetensors::serialize_to_file(&scaled, Some(notes), &tiny.file("noted")).unwrap();
        let request = tiny.with(&[("noted", tiny.adapter.weight)]);
        assert_same(&tiny.dump(request), &want, &format!("{family}: configuration"));
    }
}

/// ComfyUI, kohya and AI Toolkit have the names of the authors. Anima's conditioner counts to its transformer there.
#[test]
fn renamed_layers_give_the_same_bytes() {
    type Rename = fn(&Tensors) -> candle_core::Result<Tensors>;
    let families: [(&str, Rename); 2] =
        [("anima", |tensors| Ok(original_names::cosmos(tensors))), ("krea2", original_names::krea2)];
    for (family, rename) in families {
        let tiny = Tiny::new(family);
        let (all, alpha) = (tiny.adapter.layers().unwrap(), tiny.adapter.alpha);
        let diffusers = keys(&all, alpha, str::to_owned, ["lora_A", "lora_B"]).unwrap();
        let want = tiny.dump(tiny.request("diffusers", &diffusers));
        let transformer = original(&without("transformer.", &all), rename);
        let conditioner = without("text_conditioner.", &all);
        assert_eq!(conditioner.is_empty(), family == "krea2");
        for (name, prefix, dots, sides) in [
            ("ComfyUI", "diffusion_model.", true, ["lora_A", "lora_B"]),
            ("AI Toolkit", "base_model.model.", true, ["lora_A", "lora_B"]),
            ("kohya", "lora_unet_", false, ["lora_down", "lora_up"]),
        ] {
            let spelled = |layer: &str| {
                format!("{prefix}{}", if dots { layer.to_owned() } else { layer.replace('.', "_") })
            };
            let mut tensors = keys(&transformer, alpha, spelled, sides).unwrap();
            let inside = |layer: &str| spelled(&format!("llm_adapter.{layer}"));
            tensors.extend(keys(&conditioner, alpha, inside, sides).unwrap());
            let request = tiny.request(name, &tensors);
            let unmatched: Vec<_> =
                adapted(&tiny, &request).into_iter().flat_map(|report| report.unmatched).collect();
            assert_eq!(unmatched, Vec::<String>::new(), "{family} in {name}");
            let path = tiny.file(name);
            let guess = family_of_adapter(&AdapterFile::open(&path).unwrap());
            assert_eq!(guess, Some(if family == "anima" { "Anima" } else { "Krea 2" }), "{name}");
            assert_same(&tiny.dump(request), &want, &format!("{family} in {name}"));
        }
    }
}

/// The engine's reports on a request's adapters.
fn adapted(tiny: &Tiny, request: &Request) -> Vec<AdapterReport> {
    let mut runner = Runner::start().unwrap();
    let request = Request { steps: 1, ..request.clone() };
    let job = runner.job(request);
    let ended = runner.run(job).unwrap();
    let reports = ended.events.iter().find_map(|event| match event {
        Event::Adapted { job: Some(_), reports } => Some(reports.clone()),
        _ => None,
    });
    let model = tiny.model.display();
    ended.pictures().unwrap();
    reports.unwrap_or_else(|| panic!("nothing is said about the adapters of {model}"))
}

#[test]
fn prompts_name_adapters_in_the_folders_beside_the_model() {
    let tiny = Tiny::new("z_image");
    let path = tiny.folder.path().join("loras/styles/Ink wash.safetensors");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    tiny.adapter.write(&path).unwrap();
    let plain = tiny.with(&[]);
    let adapters = vec![AdapterUse { path, weight: 0.5 }];
    let want = tiny.dump(Request { adapters, ..plain.clone() });
    let named = |prompt: String| Request { prompt, ..plain.clone() };
    let got = tiny.dump(named(format!("{}<lora:Ink wash:0.5>", plain.prompt)));
    assert_same(&got, &want, "by name");

    let elsewhere = tiny.folder.path().join("elsewhere/Other ink.safetensors");
    fs::create_dir_all(elsewhere.parent().unwrap()).unwrap();
    tiny.adapter.write(&elsewhere).unwrap();
    let prompt = format!("{}<lora:other ink:0.5>", plain.prompt);
    let adapters = vec![AdapterUse { path: elsewhere, weight: 1.0 }];
    let got = tiny.dump(Request { prompt, adapters, ..plain.clone() });
    assert_same(&got, &want, "one of the request's own, with the weight in the prompt");

    let mut runner = Runner::start().unwrap();
    for (prompt, message, advice) in [
        ("<lora:Ink wsh:1>", "there is no LoRA named Ink wsh; similar names: Ink wash", "put its file into"),
        ("<lora:zebra>", "there is no LoRA named zebra", "put its file into"),
        ("<lora:Ink wash:strong>", "cannot parse <lora:Ink wash:strong>", "<lora:name:0.8>"),
    ] {
        let job = runner.job(named(prompt.to_owned()));
        let failure = runner.run(job).unwrap().failure().unwrap();
        assert_eq!(failure.message, message);
        assert!(failure.advice.clone().unwrap().contains(advice), "{failure:?}");
    }
}

#[test]
fn what_is_no_adapter_or_for_another_family_is_refused_in_words() {
    let tiny = Tiny::new("z_image");
    let layers = without("diffusion_model.", &tiny.adapter.layers().unwrap());
    let good = keys(&layers, 3.0, |name| format!("diffusion_model.{name}"), ["lora_A", "lora_B"]).unwrap();
    let layer = "diffusion_model.layers.0.attention.to_q";
    let changed = |change: &dyn Fn(&mut Tensors)| {
        let mut tensors = good.clone();
        change(&mut tensors);
        tensors
    };
    let filled = |shape: &[usize]| Tensor::ones(shape, DType::F32, &Device::Cpu).unwrap();
    let flux = Adapter::new("flux").unwrap();
    let flux = keys(&flux.layers().unwrap(), 3.0, str::to_owned, ["lora_A", "lora_B"]).unwrap();
    let sdxl: Tensors = [("lora_down", [4, 2048]), ("lora_up", [640, 4])]
        .into_iter()
        .map(|(side, shape)| {
            let block = "lora_unet_input_blocks_4_1_transformer_blocks_1_attn2_to_k";
            (format!("{block}.{side}.weight"), filled(&shape))
        })
        .collect();
    let cases: Vec<(&str, Tensors, String)> = vec![
        ("flux", flux, "is for FLUX.1 or LongCat-Image, but this model is Z-Image".to_owned()),
        ("sdxl", sdxl, "is for Stable Diffusion XL, but this model is Z-Image".to_owned()),
        (
            "no adapter",
            [("a.weight".to_owned(), filled(&[2, 2]))].into(),
            "is not a LoRA or any other adapter that Sluice supports; its first tensor is a.weight"
                .to_owned(),
        ),
        (
            "half",
            changed(&|tensors| drop(tensors.remove(&format!("{layer}.lora_B.weight")))),
            format!("the tensors for layer {layer} do not fit together: lora_B or lora_up is missing"),
        ),
        (
            "ranks",
            changed(&|tensors| drop(tensors.insert(format!("{layer}.lora_B.weight"), filled(&[128, 5])))),
            format!(
                "the tensors for layer {layer} do not fit together: the rank is 4 in one tensor and 5 in another"
            ),
        ),
        (
            "alpha",
            changed(&|tensors| drop(tensors.insert(format!("{layer}.alpha"), filled(&[2])))),
            format!("the tensors for layer {layer} do not fit together: its alpha is not a single number"),
        ),
        (
            "two kinds",
            changed(&|tensors| drop(tensors.insert(format!("{layer}.hada_w1_a"), filled(&[2, 2])))),
            format!("the tensors for layer {layer} do not fit together: hada_w1_a has no counterpart"),
        ),
    ];
    let mut runner = Runner::start().unwrap();
    for (name, tensors, message) in cases {
        let job = runner.job(tiny.request(name, &tensors));
        let failure = runner.run(job).unwrap().failure().unwrap();
        assert!(failure.message.contains(&message), "{name}: {}", failure.message);
        assert!(failure.advice.is_some(), "{name}");
    }
    fs::write(tiny.file("cut"), &fs::read(tiny.file("half")).unwrap()[..900]).unwrap();
    for (name, message) in
        [("cut", "is damaged or incomplete: its header"), ("gone", "there is no file or folder")]
    {
        let job = runner.job(tiny.with(&[(name, 1.0)]));
        let failure = runner.run(job).unwrap().failure().unwrap();
        assert!(failure.message.contains(message), "{name}: {}", failure.message);
    }
    save(&good, &tiny.file("good")).unwrap();
    let job = runner.job(tiny.with(&[("good", f32::NAN)]));
    let failure = runner.run(job).unwrap().failure().unwrap();
    assert_eq!(failure.message, "LoRA weight NaN is not a finite number");
    // The engine still works after all of that.
    runner.draw(tiny.with(&[("good", 1.0)])).unwrap();
}

#[test]
fn what_does_not_match_is_named() {
    let tiny = Tiny::new("z_image");
    let layers = without("diffusion_model.", &tiny.adapter.layers().unwrap());
    let mut tensors =
        keys(&layers, 3.0, |name| format!("diffusion_model.{name}"), ["lora_A", "lora_B"]).unwrap();
    let want = tiny.dump(tiny.request("whole", &tensors));
    let filled = |shape: &[usize]| Tensor::ones(shape, DType::F32, &Device::Cpu).unwrap();
    for (name, shape) in [
        ("diffusion_model.layers.99.attention.to_q.lora_A.weight", [4, 128]),
        ("diffusion_model.layers.99.attention.to_q.lora_B.weight", [128, 4]),
        // The layer exists, but with another width.
        ("diffusion_model.cap_embedder.1.lora_A.weight", [4, 999]),
        ("diffusion_model.cap_embedder.1.lora_B.weight", [128, 4]),
    ] {
        tensors.insert(name.to_owned(), filled(&shape));
    }
    tensors.insert("notes".to_owned(), filled(&[1]));
    let request = tiny.request("more", &tensors);
    let reports = adapted(&tiny, &request);
    let [report] = &reports[..] else { panic!("{reports:?}") };
    assert_eq!((report.kind.as_str(), report.ranks, report.keys), ("LoRA", Some([4, 4]), tensors.len()));
    let sentence = format!(
        "5 of {} keys did not match, for example diffusion_model.cap_embedder.1.lora_A.weight.",
        tensors.len()
    );
    assert_eq!(report.sentence().unwrap(), sentence);
    assert_same(&tiny.dump(request), &want, "what does not match does nothing");
}

#[test]
fn adapters_are_described_by_their_headers() {
    let folder = tempfile::tempdir().unwrap();
    let describe = |tensors: &Tensors| {
        let path = folder.path().join("a.safetensors");
        save(tensors, &path).unwrap();
        adapter_summary(&AdapterFile::open(&path).unwrap())
    };
    let flux = Adapter::new("flux").unwrap();
    let summary = describe(&keys(&flux.layers().unwrap(), 3.0, str::to_owned, ["lora_A", "lora_B"]).unwrap());
    // The tiny network has fewer blocks than either.
    assert_eq!(
        (summary.kind.as_str(), summary.ranks, summary.family.as_deref()),
        ("LoRA", Some([4, 4]), Some("FLUX.1 or LongCat-Image"))
    );
    assert_eq!(summary.targets["denoiser"], 39);
    assert_eq!(summary.targets["text encoder"], 6);
    assert_eq!(summary.keys, 3 * 45);

    let summary = describe(&changes_inside(128, 341).unwrap());
    assert_eq!(summary.kind, "difference and DoRA and LoHa and LoKr");
    assert_eq!((summary.ranks, summary.family.as_deref()), (Some([2, 3]), Some("Z-Image")));
}

#[test]
fn folders_are_no_files() {
    let error = AdapterFile::open(Path::new("/")).unwrap_err();
    assert!(error.to_string().contains("there is no file"), "{error}");
}
