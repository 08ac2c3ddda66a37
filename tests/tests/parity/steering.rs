//! Runs of UNets that unions, T2I-Adapters and ControlNets for inpainting steer, compared with diffusers.

use std::path::{Path, PathBuf};

use serde_json::json;
use sluice_engine::{
    models::OpenedModels,
    output::{Image, Media, Settings, write_png},
    request::{ControlMode, ControlNet, Fit, Preprocessor, Request},
    source::control_map,
};
use sluice_tests::{
    checkpoint::{Fixture, load, save},
    golden::{MODULE, WHOLE_RUN},
    modes::{check_every_mode_of, check_forecasts_of},
    original_names::Tensors,
    runner::Runner,
    steering::{Adapter, FULL, LIGHT, WIDE, compare, union, write_masked},
};

use super::control_nets::written;

const SDXL: (&str, &str, &str) = ("sdxl", "base", "steered/guided");
const SD: (&str, &str, &str) = ("stable_diffusion", "one", "steered/guided");

fn golden(name: &str) -> Tensors {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    load(&fixtures.join(format!("{name}.safetensors"))).unwrap()
}

/// Writes the union for the tiny Stable Diffusion XL; its file.
fn union_in(folder: &Path) -> PathBuf {
    let model = folder.join("of_union");
    std::fs::create_dir_all(&model).unwrap();
    let request = written(SDXL.0, SDXL.1, SDXL.2, &model);
    let net = load(&request.control_nets[0].model.join("diffusion_pytorch_model.safetensors")).unwrap();
    let file = folder.join("diffusion_pytorch_model_promax.safetensors");
    save(&union(&net).unwrap(), &file).unwrap();
    file
}

fn one(model: &Path, image: &Path) -> Vec<ControlNet> {
    vec![ControlNet {
        model: model.to_owned(),
        image: image.to_owned(),
        mode: Some(ControlMode::Depth),
        weight: 0.8,
        fit: Fit::Stretch,
        ..ControlNet::default()
    }]
}

/// Two maps of one union; the second acts in the first half only.
fn two(model: &Path, image: &Path) -> Vec<ControlNet> {
    let [first] = &one(model, image)[..] else { panic!("one is one") };
    vec![
        ControlNet { mode: Some(ControlMode::SoftEdge), weight: 0.7, ..first.clone() },
        ControlNet {
            mode: Some(ControlMode::Tile),
            preprocessor: Preprocessor::Invert,
            weight: 1.2,
            end: 0.5,
            ..first.clone()
        },
    ]
}

/// Compares a run with other ControlNets with the reference.
fn check(
    runner: &mut Runner,
    (family, case, run): (&str, &str, &str),
    name: &str,
    nets: impl Fn(&Request) -> Vec<ControlNet>,
) {
    let folder = tempfile::tempdir().unwrap();
    let request = written(family, case, run, folder.path());
    let request = Request { control_nets: nets(&request), ..request };
    let noise = Fixture::new(family, case).run(run).unwrap().latents().unwrap();
    let (_, dump) = runner.dump(request.clone(), Some(&noise)).unwrap();
    let reference = golden("steered_unets");
    for (tensor, tolerance) in [("unet.0.out.0", MODULE), ("vae.decode.in", WHOLE_RUN)] {
        let distance = compare(&format!("{name}.{tensor}"), &reference, &dump[tensor], tolerance).unwrap();
        println!("{name} {tensor}: {distance:.1e}");
    }
    let (_, alone) = runner.dump(Request { control_nets: Vec::new(), ..request }, Some(&noise)).unwrap();
    let last = "vae.decode.in";
    assert!(compare(&format!("{name}.{last}"), &reference, &alone[last], 0.01).is_err(), "{name}: no effect");
}

#[test]
fn a_union_follows_one_map_and_several_at_once_as_in_diffusers() {
    let (mut runner, folder) = (Runner::start().unwrap(), tempfile::tempdir().unwrap());
    let file = union_in(folder.path());
    check(&mut runner, SDXL, "union.one", |own| one(&file, &own.control_nets[0].image));
    check(&mut runner, SDXL, "union.two", |own| two(&file, &own.control_nets[0].image));
}

fn adapted(adapter: &Path, weight: f32, own: &Request) -> Vec<ControlNet> {
    vec![ControlNet { model: adapter.to_owned(), mode: None, weight, ..own.control_nets[0].clone() }]
}

#[test]
fn adapters_give_what_diffusers_gives() {
    let (mut runner, folder) = (Runner::start().unwrap(), tempfile::tempdir().unwrap());
    for (adapter, run, weight) in [(FULL, SD, 0.7), (LIGHT, SD, 0.7), (WIDE, SDXL, 0.9)] {
        let file = adapter.write(folder.path()).unwrap();
        let name = format!("adapter.{}", adapter.name);
        check(&mut runner, run, &name, |own| adapted(&file, weight, own));
    }
}

/// The ControlNet of the steered run, which follows the masked input image.
fn inpainting(model: &Path) -> Vec<ControlNet> {
    let net =
        ControlNet { model: model.to_owned(), preprocessor: Preprocessor::Inpaint, ..ControlNet::default() };
    vec![ControlNet { weight: 0.9, ..net }]
}

#[test]
fn a_masked_input_image_is_followed_as_in_diffusers() {
    let (mut runner, folder) = (Runner::start().unwrap(), tempfile::tempdir().unwrap());
    let lines = written(SD.0, SD.1, SD.2, folder.path()).control_nets.remove(0).model;
    let run = ("stable_diffusion", "one", "filled_in");
    check(&mut runner, run, "inpaint", |_| inpainting(&lines));
}

/// The reference keeps nothing of the image, so only the first prediction is the same.
#[test]
fn control_nets_that_read_a_mask_predict_what_diffusers_predicts() {
    let (mut runner, reference) = (Runner::start().unwrap(), golden("steered_unets"));
    for (family, case, name, layers, first) in [
        ("sd3", "medium", "inpaint.sd3", 2, "transformer.0.out.0"),
        ("qwen_image", "default", "inpaint.qwen", 1, FIRST),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let fixture = Fixture::new(family, case);
        let (model, run) =
            (fixture.write_diffusers(folder.path()).unwrap(), fixture.run("filled_in").unwrap());
        let file = write_masked(&model, json!({ "num_layers": layers })).unwrap();
        let net = ControlNet { weight: 0.8, ..inpainting(&file).remove(0) };
        let request = Request { control_nets: vec![net.clone()], ..run.request(&model) };
        let (_, dump) = runner.dump(request.clone(), Some(&run.latents().unwrap())).unwrap();
        let distance = compare(&format!("{name}.{first}"), &reference, &dump[first], MODULE).unwrap();
        println!("{name}: {distance:.1e}");
        check_every_mode_of(&fixture, "filled_in", |own| Request { control_nets: vec![net.clone()], ..own })
            .unwrap();
        let image = run.request(&model).source.unwrap().path;
        let own = ControlNet { preprocessor: Preprocessor::None, image, ..net };
        let said = runner.draw(Request { control_nets: vec![own], ..request }).unwrap_err().to_string();
        assert!(said.contains("is for inpainting and reads a mask"), "{said}");
    }
}

/// The first output, where each image has one of its own.
const FIRST: &str = "transformer.0.out.0.0";

/// Unions of version 2 for Z-Image follow a map, and see the masked input image beside it.
#[test]
fn the_masked_input_image_is_seen_beside_a_map_as_in_diffusers() {
    let (mut runner, reference) = (Runner::start().unwrap(), golden("steered_unets"));
    let folder = tempfile::tempdir().unwrap();
    let fixture = Fixture::new("z_image", "default");
    let (model, run) = (fixture.write_diffusers(folder.path()).unwrap(), fixture.run("filled_in").unwrap());
    let shape = json!({ "num_layers": 2, "add_control_noise_refiner": "control_noise_refiner" });
    let file = write_masked(&model, shape).unwrap();
    let own = run.request(&model);
    let image = own.source.clone().unwrap().path;
    let followed = ControlNet { model: file.clone(), image, weight: 0.8, ..ControlNet::default() };
    let request = Request { control_nets: vec![followed.clone()], ..own };
    let (_, dump) = runner.dump(request.clone(), Some(&run.latents().unwrap())).unwrap();
    let distance = compare(&format!("inpaint.z_image.{FIRST}"), &reference, &dump[FIRST], MODULE).unwrap();
    println!("inpaint.z_image: {distance:.1e}");
    // It is seen without a map, too, and not at all without a mask.
    let alone = ControlNet { weight: 0.8, ..inpainting(&file).remove(0) };
    for net in [&followed, &alone] {
        check_every_mode_of(&fixture, "filled_in", |own| Request { control_nets: vec![net.clone()], ..own })
            .unwrap();
    }
    let (_, unmapped) = runner.dump(Request { control_nets: vec![alone], ..request.clone() }, None).unwrap();
    let (_, unmasked) = runner.dump(Request { source: None, ..request }, None).unwrap();
    let encoded = |dump: &Tensors| -> Vec<&'static str> {
        let inputs = ["vae.encode.map.0.in", "vae.encode.input.0.in"];
        inputs.into_iter().filter(|name| dump.contains_key(*name)).collect()
    };
    assert_eq!(encoded(&dump), ["vae.encode.map.0.in", "vae.encode.input.0.in"]);
    assert_eq!(encoded(&unmapped), ["vae.encode.input.0.in"]);
    assert_eq!(encoded(&unmasked), ["vae.encode.map.0.in"]);
}

#[test]
fn every_mode_draws_the_same_bytes_within_its_budget() {
    let folder = tempfile::tempdir().unwrap();
    let file = union_in(folder.path());
    check_every_mode_of(&Fixture::new(SDXL.0, SDXL.1), SDXL.2, |own| Request {
        control_nets: two(&file, &own.control_nets[0].image),
        ..own
    })
    .unwrap();
    for (adapter, (family, case, run)) in [(FULL, SD), (WIDE, SDXL)] {
        let file = adapter.write(folder.path()).unwrap();
        check_every_mode_of(&Fixture::new(family, case), run, |own| Request {
            // Beside the run's own ControlNet.
            control_nets: [own.control_nets.clone(), adapted(&file, 0.7, &own)].concat(),
            ..own
        })
        .unwrap();
    }
    let lines = written(SD.0, SD.1, SD.2, folder.path()).control_nets.remove(0).model;
    check_every_mode_of(&Fixture::new(SD.0, SD.1), "filled_in", |own| Request {
        control_nets: inpainting(&lines),
        ..own
    })
    .unwrap();
}

/// With five images, the steps have the peak also where an adapter acts. Beside a network this narrow, its first block takes
/// more than a step of one image, and computes while the other weights are still on their way.
#[test]
fn forecasts_of_the_peak_come_true() {
    let folder = tempfile::tempdir().unwrap();
    let file = union_in(folder.path());
    check_forecasts_of(&Fixture::new(SDXL.0, SDXL.1), SDXL.2, 0.98..1.05, 0.9..1.15, |own| Request {
        control_nets: two(&file, &own.control_nets[0].image),
        ..own
    })
    .unwrap();
    let file = WIDE.write(folder.path()).unwrap();
    check_forecasts_of(&Fixture::new(SDXL.0, SDXL.1), SDXL.2, 0.98..1.05, 0.9..1.15, |own| Request {
        control_nets: adapted(&file, 0.7, &own),
        batch: 5,
        ..own
    })
    .unwrap();
}

#[test]
fn adapters_in_the_names_of_their_authors_draw_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let mut runner = Runner::start().unwrap();
    for (adapter, (family, case, run)) in [(FULL, SD), (LIGHT, SD), (WIDE, SDXL)] {
        let model = tempfile::tempdir().unwrap();
        let own = written(family, case, run, model.path());
        let mut draw = |file: &Path| {
            let nets = adapted(file, 1.0, &own);
            runner.draw(Request { control_nets: nets, ..own.clone() }).unwrap().remove(0).media
        };
        let file = folder.path().join("original.safetensors");
        save(&adapter.original().unwrap(), &file).unwrap();
        assert!(draw(&file) == draw(&adapter.write(folder.path()).unwrap()), "{}", adapter.name);
    }
}

#[test]
fn what_does_not_fit_is_said() {
    let (folder, xl) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let sd = written(SD.0, SD.1, SD.2, folder.path());
    let wide = written(SDXL.0, SDXL.1, SDXL.2, xl.path());
    let models = OpenedModels::default();
    let refused = |request: &Request, model: &Path| {
        let nets = vec![ControlNet { model: model.to_owned(), ..request.control_nets[0].clone() }];
        models.of(&Request { control_nets: nets, ..request.clone() }).unwrap_err().to_string()
    };
    let said = refused(&sd, &WIDE.write(folder.path()).unwrap());
    assert!(said.contains("it is a T2I-Adapter for Stable Diffusion XL, and the model is"), "{said}");
    let said = refused(&wide, &FULL.write(folder.path()).unwrap());
    assert!(said.contains("it is a T2I-Adapter for Stable Diffusion 1, and the model is"), "{said}");
    let said = refused(
        &Request { control_nets: sd.control_nets.clone(), ..Request::default() },
        &folder.path().join("full.safetensors"),
    );
    assert!(said.contains("it is a T2I-Adapter for Stable Diffusion"), "{said}");
    let cut = |adapter: Adapter, layer: &str| {
        let file = folder.path().join("cut.safetensors");
        let kept = adapter.tensors().unwrap().into_iter().filter(|(name, _)| !name.contains(layer));
        save(&kept.collect(), &file).unwrap();
        file
    };
    let said = refused(&sd, &cut(FULL, "body.1.resnets.1.block2"));
    assert!(said.contains("body.1.resnets.1.block2"), "{said}");
    let union = union_in(folder.path());
    let said = refused(&sd, &union);
    assert!(said.contains("and the model is"), "{said}");
    let mut runner = Runner::start().unwrap();
    let nets = vec![ControlNet { mode: None, ..one(&union, &wide.control_nets[0].image).remove(0) }];
    let said = runner.draw(Request { control_nets: nets, ..wide.clone() }).unwrap_err().to_string();
    assert!(said.contains("pose, depth, soft_edge, canny, normal, segments, tile, inpaint"), "{said}");
    let said = runner.draw(Request { control_nets: inpainting(&union), ..wide }).unwrap_err().to_string();
    assert!(said.contains("there is no input image with a mask"), "{said}");
}

/// A picture with slopes, edges and fine lines.
fn picture() -> Image {
    let channels = |x: u32, y: u32| [x * 7 + y * 3, x * y, (x / 5 + y / 7) % 2 * 200 + x];
    let pixels =
        (0..64 * 64).flat_map(|place| channels(place % 64, place / 64).map(|value| (value % 256) as u8));
    Image::opaque(64, 64, pixels.collect())
}

/// Values are cut to whole numbers, so sums in another order may differ by one.
#[test]
fn lines_are_those_that_others_find() {
    const STRIDE: usize = 7;
    let folder = tempfile::tempdir().unwrap();
    let image = folder.path().join("picture.png");
    let settings = Settings::new(&Request::default(), "", "", 0);
    write_png(&image, &Media::Image(picture()), &settings).unwrap();
    let reference = golden("lines");
    for (preprocessor, most) in [(Preprocessor::Lineart, 1), (Preprocessor::Scribble, 0)] {
        let net = ControlNet { image: image.clone(), preprocessor, ..ControlNet::default() };
        let map = control_map(&net, [64, 64]).unwrap().unwrap();
        let found: Vec<u8> = map.pixels.iter().step_by(3 * STRIDE).copied().collect();
        let expected: Vec<u8> = reference[preprocessor.name()].to_vec1().unwrap();
        assert_eq!(found.len(), expected.len());
        let farthest = found.iter().zip(&expected).map(|(found, expected)| found.abs_diff(*expected)).max();
        println!("{preprocessor:?}: {farthest:?}");
        assert!(farthest <= Some(most), "{preprocessor:?}: {farthest:?}");
    }
}
