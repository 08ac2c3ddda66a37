use std::path::PathBuf;

use super::{added::stem, *};
use crate::request::{
    AdapterUse, ComputeDtype, ControlNet, Hires, ImagePrompt, ModelSource, Sampler, SourceImage,
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
    let all: std::collections::HashSet<_> = GridSetting::ALL.iter().map(|setting| setting.name()).collect();
    assert_eq!(all.len(), GridSetting::ALL.len());
}

#[test]
fn loras_are_added_one_at_a_time_and_weighed() {
    let adapters = vec![
        AdapterUse { path: "/loras/ink.safetensors".into(), weight: 0.6 },
        AdapterUse { path: "/loras/light.safetensors".into(), weight: 1.0 },
    ];
    let request = Request { prompt: "a fox <lora:oil:0.8>".to_owned(), adapters, ..Request::default() };
    let all = grid(["lora-file: none, ink, oil, /more/sea v1.5.safetensors", "", ""]);
    assert_eq!(all.labels().columns, ["LoRA: none", "ink", "oil", "sea v1.5"]);
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
    assert_eq!(labels.columns, ["Steps: 10", "Steps: 20"]);
    assert_eq!((labels.rows, labels.tables), (vec!["64 × 128".to_owned()], vec!["ink: 0.5".to_owned()]));
    let kept = all.record();
    assert_eq!(kept.axes, ["steps: 10-20 (+10)", "size: 64x128", "lora ink: 0.5"]);
    assert_eq!(grid(kept.axes.each_ref().map(String::as_str)), all, "it can be read again");
    let models = grid(["model: /models/FLUX.1-dev, /models/sd_xl_base_1.0.safetensors", "", ""]);
    assert_eq!(models.labels().columns, ["FLUX.1-dev", "sd_xl_base_1.0"]);
    assert_eq!(GridLabels::plain(4).sides(), [2, 2, 1]);
    assert_eq!(GridLabels::plain(5).sides(), [3, 2, 1]);
}
