use std::path::PathBuf;

use super::{added::stem, *};
use crate::request::{
    AdapterUse, ComputeDtype, Control, ControlNet, Detailer, Enlarger, Fit, Hires, ImagePrompt,
    Interpolation, ModelSource, Outpaint, Preprocessor, Redux, Refiner, Region, Regions, Sampler, Smooth,
    SourceClip, SourceImage, SourceMask, Variation, Windows,
};

fn axis(text: &str) -> Axis {
    text.parse().unwrap()
}

fn grid(axes: [&str; 3]) -> Grid {
    Grid::new(axes.map(|text| (!text.is_empty()).then(|| axis(text)))).unwrap()
}

fn values(text: &str) -> Vec<f64> {
    values::numbers("x", text, false).unwrap()
}

#[test]
fn ranges_are_those_of_a1111() {
    assert_eq!(values("1, 2,5"), [1.0, 2.0, 5.0]);
    assert_eq!(values("1-5"), [1.0, 2.0, 3.0, 4.0, 5.0]);
    assert_eq!(values("1-10 (+2)"), [1.0, 3.0, 5.0, 7.0, 9.0]);
    assert_eq!(values("1-10 [5]"), [1.0, 3.25, 5.5, 7.75, 10.0]);
    assert_eq!(values("0-1(+0.1)").len(), 11);
    assert_eq!(values("0-1(+0.1)")[3], 0.3);
    assert_eq!(values("10-1 (-3)"), [10.0, 7.0, 4.0, 1.0]);
    assert_eq!(values("-1-1, 7"), [-1.0, 0.0, 1.0, 7.0]);
    let whole = |text| values::numbers("x", text, true);
    assert_eq!(whole("1-10 [5]").unwrap(), [1.0, 3.0, 5.0, 7.0, 10.0]);
    for wrong in ["1.5", "a", "1-5 (+0)", "1-5 (-1)", "1-5 [0]", "1--", "1-5 (2", "0-1 (+0.1)"] {
        assert!(whole(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn quotes_keep_commas_together() {
    assert_eq!(
        values::listed(r#"fox, "a cat, asleep", 6" nails, "say ""hi""""#),
        ["fox", "a cat, asleep", "6\" nails", "say \"hi\"",]
    );
}

#[test]
fn every_combination_is_a_cell_and_what_is_costly_changes_least_often() {
    let all = grid(["model: starter, /models/other", "steps: 2, 4, 6", "guidance: 1, 2"]);
    assert_eq!(all.count(), 12);
    let cells = all.cells(&Request { batch: 4, ..Request::default() }).unwrap();
    assert_eq!(cells.len(), 12);
    assert!(cells.iter().all(|cell| cell.request.batch == 1));
    let models: Vec<_> = cells.iter().map(|cell| cell.request.model.clone()).collect();
    assert_eq!(models.windows(2).filter(|pair| pair[0] != pair[1]).count(), 1, "the model changes once");
    for cell in &cells {
        let [x, y, z] = cell.at;
        assert_eq!(cell.request.model == ModelSource::Starter, x == 0);
        assert_eq!(cell.request.steps, [2, 4, 6][y]);
        assert_eq!(cell.request.guidance, [1.0, 2.0][z]);
    }
    let plain = grid(["steps: 2, 4", "guidance: 1, 2", ""]).cells(&Request::default()).unwrap();
    let places: Vec<_> = plain.iter().map(|cell| cell.at).collect();
    assert_eq!(places, [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]], "row by row");
}

#[test]
fn words_of_both_prompts_are_replaced() {
    let request = Request {
        prompt: "a fox and a fox".to_owned(),
        negative_prompt: "no fox".to_owned(),
        ..Request::default()
    };
    let cells = grid(["Prompt S/R: fox, \"wolf, grey\"", "", ""]).cells(&request).unwrap();
    let prompts: Vec<_> = cells.iter().map(|cell| cell.request.prompt.as_str()).collect();
    assert_eq!(prompts, ["a fox and a fox", "a wolf, grey and a wolf, grey"]);
    assert_eq!(cells[1].request.negative_prompt, "no wolf, grey");
    let missing = grid(["prompt: cat, dog", "", ""]).cells(&request);
    assert_eq!(missing, Err(GridError::NotInPrompt("cat".to_owned())));
    let two = grid(["prompt: a fox, a hen", "prompt: and, or", ""]).cells(&request).unwrap();
    assert_eq!(two[3].request.prompt, "a hen or a hen");
}

#[test]
fn weights_of_loras_vary_in_the_list_and_in_the_prompt() {
    let adapters = vec![AdapterUse { path: PathBuf::from("/loras/ink.safetensors"), weight: 1.0 }];
    let listed = Request { adapters, ..Request::default() };
    let cells = grid(["lora: 0-1 (+0.5)", "", ""]).cells(&listed).unwrap();
    let weights: Vec<_> = cells.iter().map(|cell| cell.request.adapters[0].weight).collect();
    assert_eq!(weights, [0.0, 0.5, 1.0]);
    let named = Request { prompt: "a fox <lora:sea:1> <lora:oil>".to_owned(), ..listed };
    let cells = grid(["lora sea: 0.5, 0.75", "lora oil: 2", "lora ink: 0.25"]).cells(&named).unwrap();
    assert_eq!(cells[1].request.prompt, "a fox <lora:sea:0.75> <lora:oil:2>");
    assert_eq!(cells[1].request.adapters[0].weight, 0.25);
    let wrong = |text, request: &Request| grid([text, "", ""]).cells(request).unwrap_err().to_string();
    assert_eq!(
        wrong("lora: 1, 2", &named),
        "several LoRAs are used; say which one, such as `lora ink: 0.5, 1`"
    );
    assert_eq!(wrong("lora sky: 1", &named), "no LoRA named \"sky\" is used; there is ink, sea, oil");
}

#[test]
fn every_setting_varies() {
    let source = SourceImage { path: "a.png".into(), ..SourceImage::default() };
    let request = Request { prompt: "a fox".to_owned(), source: Some(source), ..Request::default() };
    let second = |text| grid([text, "", ""]).cells(&request).unwrap().swap_remove(1).request;
    assert_eq!(second("seed: 7-8").seed, 8);
    assert_eq!(second("cfg scale: 1, 4.5").guidance, 4.5);
    assert_eq!(second("precision: auto, bf16").dtype, Some(ComputeDtype::Bf16));
    assert_eq!(second("dtype: f32, auto").dtype, None);
    assert_eq!(second("true-cfg: 1, 3").guiding.true_cfg, 3.0);
    assert_eq!(second("sampler: euler, DPM++ 2M").sampler, Sampler::Dpmpp2m);
    assert_eq!(second("schedule: normal, karras").schedule.name(), "karras");
    assert_eq!(second("shift: 1, 3").shift, Some(3.0));
    assert_eq!(second("denoising: 0.2, 0.4").source.unwrap().strength, 0.4);
    assert_eq!(second("clip skip: 1, 2").clip_skip, 2);
    assert_eq!(second("variation: 0, 0.25").variation.unwrap().strength, 0.25);
    let sized = second("size: 64, 64x128");
    assert_eq!((sized.width, sized.height), (64, 128));
    assert_eq!((second("width: 64, 96").width, second("height: 64, 96").height), (96, 96));
    assert_eq!(second("frames: 33, 49").frames, 49);
    assert_eq!(second("cfg rescale: 0, 0.7").guiding.rescale, 0.7);
    assert_eq!(second("step-cache: 0, 0.1").step_cache, 0.1);
    let used = Request {
        hires: Some(Hires::default()),
        control_nets: vec![ControlNet::default(), ControlNet::default()],
        image_prompts: vec![ImagePrompt::default()],
        ..request.clone()
    };
    let second = |text| grid([text, "", ""]).cells(&used).unwrap().swap_remove(1).request;
    assert_eq!(second("hires scale: 1.5, 3").hires.unwrap().scale, 3.0);
    let weights: Vec<f32> =
        second("control-weight: 1, 0.5").control_nets.iter().map(|net| net.weight).collect();
    assert_eq!(weights, [0.5, 0.5]);
    assert_eq!(second("image prompt weight: 1, 0.2").image_prompts[0].weight, 0.2);
    let error = grid(["control-weight: 1", "", ""]).cells(&request).unwrap_err();
    assert_eq!(error.to_string(), "ControlNet weight varies, but nothing uses a ControlNet; add it first");
    assert_eq!(second("guidance-start: 0, 0.2").guiding.interval.start, 0.2);
    assert_eq!(second("guidance end: 1, 0.8").guiding.interval.end, 0.8);
    assert_eq!(second("frame rate: 16, 24").frame_rate, 24.0);
    assert_eq!(second("window: 33, 9").windows, Some(Windows { frames: 9, overlap: 4 }));
    let drawn = second("image: a.png, photos/b.png").source.unwrap();
    assert_eq!((drawn.path, drawn.strength), ("photos/b.png".into(), 0.6));
    assert_eq!(second("fit: crop, Pad").source.unwrap().fit, Fit::Pad);
}

#[test]
fn names_belong_to_one_setting() {
    for setting in GridSetting::ALL {
        assert_eq!(GridSetting::named(setting.name()), Some(setting));
        // `lora` is a name of its own.
        let titled = if setting == GridSetting::LoraFile { GridSetting::Lora } else { setting };
        assert_eq!(GridSetting::named(setting.title()), Some(titled));
        let again = GridSetting::ALL.iter().filter(|other| other.title() == setting.title());
        assert_eq!(again.count(), 1, "{setting:?}");
    }
    for (name, setting) in [
        ("CFG Scale", GridSetting::Guidance),
        ("Var. seed", GridSetting::VariationSeed),
        ("Hires upscaler", GridSetting::HiresUpscaler),
        ("Refiner switch at", GridSetting::RefinerSwitch),
        ("[ControlNet] Guidance End", GridSetting::ControlEnd),
        ("init_image", GridSetting::InputImage),
        ("scale-of-hires-fix", GridSetting::HiresScale),
    ] {
        assert_eq!(GridSetting::named(name), Some(setting));
    }
}

/// A request for an image that has everything which may vary and goes together here.
fn with_parts() -> Request {
    let net = |name: &str| ControlNet { model: name.into(), ..ControlNet::default() };
    let region = |prompt: &str| Region { prompt: prompt.to_owned(), ..Region::default() };
    let mask = SourceMask { only_masked: Some(32), ..SourceMask::default() };
    let outpaint = Outpaint { left: 8, ..Outpaint::default() };
    Request {
        hires: Some(Hires::default()),
        refiner: Some(Refiner::new("refiner.safetensors".into())),
        control_nets: vec![net("/nets/depth.safetensors"), net("/nets/control v1.1")],
        image_prompts: vec![ImagePrompt::default()],
        detailers: vec![Detailer::new("face.safetensors"), Detailer::new("hand.safetensors")],
        regions: Regions { all: vec![region("a fox"), region("an owl")], ..Regions::default() },
        redux: Some(Redux::new("redux.safetensors".into())),
        references: vec!["hat.png".into(), "coat.png".into()],
        source: Some(SourceImage { mask: Some(mask), outpaint, ..SourceImage::default() }),
        smooth: Some(Smooth { model: "rife.safetensors".into(), how: Interpolation::times(2) }),
        windows: Some(Windows::default()),
        variation: Some(Variation { seed: 5, strength: 0.1 }),
        ..Request::default()
    }
}

#[test]
fn settings_of_parts_vary() {
    let request = with_parts();
    let first = |text| grid([text, "", ""]).cells(&request).unwrap().swap_remove(0).request;
    let hires = |text| first(text).hires.unwrap();
    assert_eq!(hires("hires-strength: 0.25").strength, 0.25);
    assert_eq!(hires("hires steps: 7").steps, Some(7));
    assert_eq!(hires("hires-upscaler: Latent").enlarger, Enlarger::Latent);
    let four = Enlarger::Upscaler(ModelSource::Path("4x.safetensors".into()));
    assert_eq!(hires("hires-upscaler: 4x.safetensors").enlarger, four);
    assert_eq!(first("refiner-switch: 0.6").refiner.unwrap().switch, 0.6);
    assert_eq!(first("variation-seed: 9").variation, Some(Variation { seed: 9, strength: 0.1 }));
    assert_eq!(first("interpolate: 4").smooth.unwrap().how.factor, 4);
    assert_eq!(first("window: 49").windows, Some(Windows { frames: 49, overlap: 16 }));
    assert_eq!(first("window-overlap: 8").windows, Some(Windows { frames: 81, overlap: 8 }));
    assert_eq!(first("image-prompt-start: 0.5").image_prompts[0].start, 0.5);
    assert_eq!(first("image-prompt-end: 0.5").image_prompts[0].end, 0.5);
    assert_eq!(first("reference-side: 512").reference_side, Some(512));
    assert_eq!(first("reference-strength: 0.5").redux.unwrap().strengths, [0.5, 0.5]);
    let detailer = |text| first(text).detailers.swap_remove(1);
    assert_eq!(detailer("detailer-strength: 0.25").strength, 0.25);
    assert_eq!(detailer("detailer-confidence: 0.5").confidence, 0.5);
    assert_eq!(detailer("detailer-steps: 9").steps, Some(9));
    assert_eq!(detailer("detailer-padding: 8").padding, 8);
    let regions = |text| first(text).regions;
    assert_eq!(regions("region-weight: 2").all[1].weight, 2.0);
    assert_eq!((regions("region-base: 0.5").base, regions("region-fade: 0.25").fade), (0.5, 0.25));
    let source = |text| first(text).source.unwrap();
    assert_eq!(source("mask-blur: 9").mask.unwrap().blur, 9);
    assert_eq!(source("mask-padding: 64").mask.unwrap().only_masked, Some(64));
    assert_eq!(source("outpaint-feather: 0").outpaint.feather, 0);
    let nets = |text| first(text).control_nets;
    let maps = nets("control-preprocessor: soft-edge");
    assert!(maps.iter().all(|net| net.preprocessor == Preprocessor::SoftEdge));
    assert_eq!((nets("control-start: 0.25")[1].start, nets("control-end: 0.5")[0].end), (0.25, 0.5));
}

#[test]
fn one_of_several_parts_varies_by_its_name_or_number() {
    let request = with_parts();
    let axes =
        ["control-weight depth: 0.5, 1", "control end 2: 0.25, 0.75", "ControlNet weight control v1.1: 2"];
    let all = grid(axes);
    assert_eq!(all.labels().columns[0], "ControlNet weight (depth) 0.5");
    assert_eq!(all.record().axes[1], "control-end 2: 0.25, 0.75");
    let cells = all.cells(&request).unwrap();
    let nets =
        |cell: &Cell| cell.request.control_nets.iter().map(|net| (net.weight, net.end)).collect::<Vec<_>>();
    assert_eq!(nets(&cells[0]), [(0.5, 1.0), (2.0, 0.25)]);
    assert_eq!(nets(&cells[3]), [(1.0, 1.0), (2.0, 0.75)]);
    let first = |text| grid([text, "", ""]).cells(&request).unwrap().swap_remove(0).request;
    let strengths = first("detailer-strength hand: 0.9").detailers.into_iter().map(|one| one.strength);
    assert_eq!(strengths.collect::<Vec<_>>(), [0.4, 0.9]);
    assert_eq!(first("region-weight an owl: 3").regions.all[1].weight, 3.0);
    assert_eq!(first("reference-strength coat: 2").redux.unwrap().strengths, [1.0, 2.0]);
    assert_eq!(Axis::typed(GridSetting::ControlWeight, "depth: 1"), "control-weight depth: 1".parse());
    assert_eq!(
        Axis::typed(GridSetting::Steps, "1: 2").unwrap_err().to_string().split(';').next(),
        Some("\"1: 2\" is not a value of Steps")
    );
    for name in ["sky", "3", "0"] {
        let error = grid([&format!("control-weight {name}: 1"), "", ""]).cells(&request).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "ControlNet weight varies for {name:?}, but its names are depth, control v1.1; \
                 use one of them, or its number"
            )
        );
    }
    let twice = |one: &str, other: &str| Grid::new([Some(axis(one)), Some(axis(other)), None]);
    let apart = twice("control-weight 1: 1", "control-weight control v1.1: 1").unwrap();
    assert!(apart.cells(&request).is_ok());
    let same = twice("control-weight depth: 0.5, 1", "control-weight 1: 0.2, 0.4").unwrap();
    assert_eq!(same.cells(&request), Err(GridError::Twice("ControlNet weight")));
    let other = twice("control-weight depth: 0.5", "control-start 1: 0.2").unwrap();
    assert!(other.cells(&request).is_ok(), "of another setting");
    let both = twice("control-weight: 1", "control-weight 2: 1");
    assert_eq!(both, Err(GridError::Twice("ControlNet weight")));
    assert!(twice("strength: 1", "hires-strength: 1").is_err(), "without an input image they are the same");
}

#[test]
fn the_name_of_a_part_may_have_colons() {
    let region = Region { prompt: "(a fox:1.2)".to_owned(), ..Region::default() };
    let regions = Regions { all: vec![Region::default(), region], ..Regions::default() };
    let request = Request { regions, ..Request::default() };
    let written = "region-weight (a fox:1.2): 2, 3";
    let all = grid([written, "", ""]);
    assert_eq!(all.record().axes[0], written);
    let cells = all.cells(&request).unwrap();
    let weights = |cell: &Cell| cell.request.regions.all.iter().map(|one| one.weight).collect::<Vec<_>>();
    assert_eq!([weights(&cells[0]), weights(&cells[1])], [[1.0, 2.0], [1.0, 3.0]]);
    let typed = Axis::typed(GridSetting::RegionWeight, "(a fox:1.2): 2, 3");
    assert_eq!(typed, written.parse());
}

#[test]
fn settings_of_parts_that_are_not_there_are_refused() {
    let plain = Request::default();
    for (text, what) in [
        ("hires-strength: 0.5", "hires fix"),
        ("hires-steps: 5", "hires fix"),
        ("hires-upscaler: latent", "hires fix"),
        ("refiner-switch: 0.5", "a refiner"),
        ("variation-seed: 1", "a variation strength"),
        ("control-start: 0", "a ControlNet"),
        ("control-preprocessor: canny", "a ControlNet"),
        ("control-strength: 1", "a clip or references that control a clip"),
        ("image-prompt-end: 1", "an IP-Adapter"),
        ("reference-strength: 1", "Redux"),
        ("reference-side: 512", "a reference image"),
        ("detailer-confidence: 0.5", "a detailer"),
        ("region-weight: 1", "a region"),
        ("region-base: 1", "a region"),
        ("fit: pad", "an input image or clip"),
        ("mask-blur: 1", "a mask"),
        ("mask-padding: 1", "a mask whose area is generated alone"),
        ("outpaint-feather: 1", "outpainting"),
        ("interpolate: 2", "frame interpolation"),
        ("window-overlap: 1", "windows of frames"),
    ] {
        let error = grid([text, "", ""]).cells(&plain).unwrap_err().to_string();
        assert!(error.ends_with(&format!("varies, but nothing uses {what}; add it first")), "{error}");
    }
    let wrong = |text: &str| text.parse::<Axis>().unwrap_err().to_string();
    assert_eq!(wrong("hires-scale: 5"), "\"5\" is not a value of Scale of hires fix; use 1 to 4");
    assert_eq!(wrong("interpolate: 9"), "\"9\" is not a value of Frame interpolation; use 2 to 8");
    assert!(wrong("fit: squeeze").contains("use crop, stretch, pad"));
    assert!(wrong("control-preprocessor: magic").contains("use none, canny"));
    assert!(wrong("steps 2: 1").contains("there is no setting named \"steps 2\""));
}

#[test]
fn what_controls_a_clip_varies_where_there_is_no_control_net() {
    let control = Some(Control { video: Some("poses.mp4".into()), ..Control::default() });
    let request = Request { control, clip: Some(SourceClip::default()), ..Request::default() };
    let first = |text, request: &Request| grid([text, "", ""]).cells(request).unwrap().swap_remove(0).request;
    let own = |text| first(text, &request).control.unwrap();
    assert_eq!(own("control-strength: 2").strength, 2.0);
    assert_eq!((own("control-start: 0.25").start, own("control-end: 0.5").end), (0.25, 0.5));
    assert_eq!(own("control-preprocessor: canny").preprocessor, Preprocessor::Canny);
    let fitted = first("fit: stretch", &request);
    assert_eq!((fitted.clip.unwrap().fit, fitted.control.unwrap().fit), (Fit::Stretch, Fit::Stretch));
    let both = Request { control_nets: vec![ControlNet::default()], ..request };
    let both = first("control-start: 0.25", &both);
    assert_eq!((both.control_nets[0].start, both.control.unwrap().start), (0.25, 0.0));
}

#[test]
fn a_variation_is_there_before_its_seed() {
    let cells = grid(["variation-seed: 7, 8", "variation: 0.1, 0.2", ""]).cells(&Request::default()).unwrap();
    let variation = |at| cells.iter().find(|cell| cell.at == at).and_then(|cell| cell.request.variation);
    assert_eq!(variation([1, 0, 0]), Some(Variation { seed: 8, strength: 0.1 }));
    assert_eq!(variation([0, 1, 0]), Some(Variation { seed: 7, strength: 0.2 }));
}

#[test]
fn loras_are_added_one_at_a_time_and_weighed() {
    let adapters = vec![
        AdapterUse { path: "/loras/ink.safetensors".into(), weight: 0.6 },
        AdapterUse { path: "/loras/light.safetensors".into(), weight: 1.0 },
    ];
    let request = Request { prompt: "a fox <lora:oil:0.8>".to_owned(), adapters, ..Request::default() };
    let all = grid(["lora-file: none, ink, oil, /more/sea v1.5.safetensors", "", ""]);
    assert_eq!(all.labels().columns, ["LoRA none", "ink", "oil", "sea v1.5"]);
    let cells = all.cells(&request).unwrap();
    let used = |cell: &Cell| {
        let listed = cell.request.adapters.iter();
        let listed = listed.map(|adapter| (stem(&adapter.path), adapter.weight)).collect::<Vec<_>>();
        (cell.request.prompt.trim().to_owned(), listed)
    };
    let light = ("light".to_owned(), 1.0);
    let listed = |name: &str, weight| vec![light.clone(), (name.to_owned(), weight)];
    assert_eq!(used(&cells[0]), ("a fox".to_owned(), vec![light.clone()]));
    assert_eq!(used(&cells[1]), ("a fox".to_owned(), vec![("ink".to_owned(), 0.6), light.clone()]));
    assert_eq!(used(&cells[2]), ("a fox <lora:oil:0.8>".to_owned(), vec![light.clone()]));
    assert_eq!(used(&cells[3]), ("a fox".to_owned(), listed("sea v1.5", 1.0)));

    // Of two LoRAs in a cell, the weight is that of the one that varies.
    let cells = grid(["lora: 0.25, 0.5", "loras: none, ink, new", ""]).cells(&request).unwrap();
    let at = |column, row| used(cells.iter().find(|cell| cell.at == [column, row, 0]).unwrap());
    assert_eq!(at(1, 0), ("a fox <lora:oil:0.8>".to_owned(), vec![light.clone()]));
    assert_eq!(at(1, 1), ("a fox <lora:oil:0.8>".to_owned(), vec![("ink".to_owned(), 0.5), light.clone()]));
    assert_eq!(at(0, 2), ("a fox <lora:oil:0.8> <lora:new:0.25>".to_owned(), vec![light]));
}

#[test]
fn styles_are_added_one_at_a_time() {
    let style = |name: &str| Style { name: name.to_owned(), prompt: name.to_owned(), ..Style::default() };
    let request = Request { styles: vec![style("soft"), style("film")], ..Request::default() };
    let all = grid(["style: None, Film, ink", "", ""]).with_styles(vec![style("film"), style("ink")]);
    let cells = all.cells(&request).unwrap();
    let names = |cell: &Cell| cell.request.styles.iter().map(|style| style.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&cells[0]), ["soft"]);
    assert_eq!(names(&cells[1]), ["soft", "film"]);
    assert_eq!(names(&cells[2]), ["soft", "ink"]);
    let unknown = grid(["style: film, oil", "", ""]).cells(&request);
    assert_eq!(unknown, Err(GridError::NoStyle("oil".to_owned())));
}

#[test]
fn what_makes_no_sense_is_refused_with_what_to_do() {
    let wrong = |text: &str| text.parse::<Axis>().unwrap_err().to_string();
    assert!(wrong("10, 20").contains("such as `steps: 10, 20, 30`"));
    assert!(wrong("stops: 1").contains("there is no setting named \"stops\"; use seed, steps"));
    assert_eq!(wrong("steps:"), "Steps has no values; write some, such as 1, 2, 3");
    assert_eq!(wrong("steps: 0"), "\"0\" is not a value of Steps; use 1 to 1000");
    assert!(wrong("steps: 1.5").contains("use a number, or a range such as 1-5"));
    assert!(wrong("sampler: oiler").contains("use euler, euler-ancestral"));
    assert!(wrong("prompt: fox").contains("the words that replace them"));
    let twice = Grid::new([Some(axis("width: 64")), Some(axis("size: 64x64")), None]);
    assert_eq!(twice, Err(GridError::Twice("Size")));
    assert_eq!(Grid::new([None, None, None]), Err(GridError::Nothing));
    let many = Grid::new([Some(axis("seed: 1-200")), Some(axis("steps: 1-200")), None]);
    assert_eq!(many, Err(GridError::TooMany { count: 40_000, most: LARGEST_GRID }));
    assert_eq!(grid(["strength: 0.5", "", ""]).cells(&Request::default()), Err(GridError::NoInput));
}

#[test]
fn labels_and_what_is_kept_say_what_varies() {
    let all = grid(["steps: 10-20 (+10)", "size: 64x128", "lora ink: 0.5"]);
    let labels = all.labels();
    assert_eq!(labels.columns, ["Steps 10", "Steps 20"]);
    assert_eq!((labels.rows, labels.tables), (vec!["64 × 128".to_owned()], vec!["ink 0.5".to_owned()]));
    let kept = all.record();
    assert_eq!(kept.axes, ["steps: 10-20 (+10)", "size: 64x128", "lora ink: 0.5"]);
    assert_eq!(grid(kept.axes.each_ref().map(String::as_str)), all, "it can be read again");
    let models = grid(["model: /models/FLUX.1-dev, /models/sd_xl_base_1.0.safetensors", "", ""]);
    assert_eq!(models.labels().columns, ["FLUX.1-dev", "sd_xl_base_1.0"]);
    let enlarged =
        grid(["hires-upscaler: latent, upscaler, /models/4x.safetensors", "fit: crop", "image: b.png"]);
    let labels = enlarged.labels();
    assert_eq!(labels.columns, ["Upscaler of hires fix latent", "Upscaler of hires fix upscaler", "4x"]);
    assert_eq!((labels.rows, labels.tables), (vec!["Fit crop".to_owned()], vec!["b".to_owned()]));
    assert_eq!(GridLabels::plain(4).sides(), [2, 2, 1]);
    assert_eq!(GridLabels::plain(5).sides(), [3, 2, 1]);
}
