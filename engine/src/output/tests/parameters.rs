//! The format of A1111's web UI.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::{any_request, settings};
use crate::{
    output::{Origin, Settings, a1111},
    request::{
        AdapterUse, Control, ControlNet, Enlarger, Fit, Hires, ModelSource, Preprocessor, Refiner, Regions,
        Request, Sampler, Schedule, SourceImage, SourceMask, Variation,
    },
};

#[test]
fn a_picture_of_a1111_is_understood() {
    let read = a1111::parse(
        "girl with an artist's beret, (blue eyes:1.2), desert scene\n\
         second line\n\
         Negative prompt: ugly, [blurry]\n\
         mutated\n\
         Steps: 20, Sampler: Euler a, Schedule type: Karras, CFG scale: 7.5, Seed: 965400086, \
         Size: 512x768, Model hash: 45dee52b, Model: v1-5-pruned, Clip skip: 2, \
         Lora hashes: \"one: 1f, two: 2e\", TI: \"a, \\\"b\\\"\", Version: v1.10.1",
    );
    assert_eq!(read.origin, Origin::A1111);
    let request = &read.settings.request;
    assert_eq!(request.prompt, "girl with an artist's beret, (blue eyes:1.2), desert scene\nsecond line");
    assert_eq!(request.negative_prompt, "ugly, [blurry]\nmutated");
    assert_eq!((request.steps, request.guidance, request.seed), (20, 7.5, 965_400_086));
    assert_eq!((request.width, request.height), (512, 768));
    assert_eq!((request.sampler, request.schedule), (Sampler::EulerAncestral, Schedule::Karras));
    assert_eq!((read.settings.seed, request.clip_skip), (965_400_086, 2));
    assert_eq!(read.settings.model_name, "v1-5-pruned");
    assert!(read.notes.is_empty(), "{:?}", read.notes);
}

#[test]
fn a_picture_of_forge_is_understood() {
    let read = a1111::parse(
        "a fox\nSteps: 4, Sampler: Euler, Schedule type: Automatic, CFG scale: 1, Distilled CFG Scale: 3.5, \
         Seed: 3, Size: 896x1152, Model hash: 1f0c, Model: flux1-dev, Version: f2.0.1v1.10.1-previous-659, \
         Module 1: ae, Module 2: t5xxl_fp8, Hires upscale: 2, Denoising strength: 0.4",
    );
    assert_eq!((read.settings.request.steps, read.settings.request.guidance), (4, 3.5));
    assert_eq!(read.settings.model_name, "flux1-dev");
    let hires = Hires { strength: 0.4, ..Hires::default() };
    assert_eq!((read.settings.request.hires, read.notes), (Some(hires), Vec::new()));
}

#[test]
fn what_cannot_be_taken_over_is_listed() {
    let read = a1111::parse(
        "a fox\nSteps: 20, Sampler: Euler, CFG scale: 7, Seed: 3, Size: 512x512, Model hash: 1f0c, Model: a, \
         ADetailer model: mediapipe_face_full, Mask blur: 4, ADetailer sampler 2nd: Euler a, \
         Hires Module 1: ae, ControlNet 0: nothing, Token merging ratio: 0.5, Version: v1.10.1",
    );
    assert_eq!(
        read.notes,
        [
            "The detailer “mediapipe_face_full” is not restored; choose its detector again.",
            "Not taken over: Mask blur, Token merging ratio, Hires Module 1, ADetailer sampler 2nd, ControlNet 0."
        ]
    );
}

#[test]
fn everything_that_acted_on_an_image_is_taken_over() {
    let read = a1111::parse(
        "a fox\nSteps: 20, Sampler: Euler, CFG scale: 3, Distilled CFG Scale: 3.5, Seed: 3, Size: 512x512, \
         Model hash: 1f0c, Model: a, Denoising strength: 0.4, Variation seed: 8, Variation seed strength: 0.2, \
         ADetailer model: face_yolov8n.pt, ADetailer prompt: \"a smile, teeth\", ADetailer confidence: 0.5, \
         Hires upscale: 2, Hires steps: 9, Hires upscaler: 4x-UltraSharp, Skip Early CFG: 0.1, \
         Refiner: sd_xl_refiner_1.0 [7440042bbd], Refiner switch at: 0.7, ControlNet 0: \"Module: \
         depth_anything_v2, Model: control_v11f1p_sd15_depth [cfd03158], Weight: 0.8, Resize Mode: Just Resize, \
         Guidance Start: 0.0, Guidance End: 0.6\", Version: v1.10.1",
    );
    let request = &read.settings.request;
    let upscaler = Enlarger::Upscaler(ModelSource::Path("4x-UltraSharp".into()));
    assert_eq!(
        request.hires,
        Some(Hires { strength: 0.4, steps: Some(9), enlarger: upscaler, ..Hires::default() })
    );
    assert_eq!(request.variation, Some(Variation { seed: 8, strength: 0.2 }));
    assert_eq!((request.guidance, request.guiding.true_cfg, request.guiding.interval.start), (3.5, 3.0, 0.1));
    let [detailer] = &request.detailers[..] else { panic!("{:?}", request.detailers) };
    assert_eq!((detailer.prompt.as_str(), detailer.confidence), ("a smile, teeth", 0.5));
    let refiner = Refiner { path: "sd_xl_refiner_1.0.safetensors".into(), switch: 0.7 };
    assert_eq!(request.refiner, Some(refiner));
    let net = ControlNet {
        model: "control_v11f1p_sd15_depth".into(),
        preprocessor: Preprocessor::Depth,
        weight: 0.8,
        end: 0.6,
        fit: Fit::Stretch,
        ..ControlNet::default()
    };
    assert_eq!(request.control_nets, [net]);
    assert_eq!(read.notes, ["The images of ControlNets are not in the file; choose them again."]);
    let again = a1111::write(&read.settings);
    for words in
        ["Hires upscaler: 4x-UltraSharp", "ADetailer model: face_yolov8n", "Refiner: sd_xl_refiner_1.0,"]
    {
        assert!(again.contains(words), "{words} is not in {again}");
    }
}

#[test]
fn samplers_of_others_go_to_the_nearest() {
    for (name, sampler, schedule, same) in [
        ("DPM++ 2M Karras", Sampler::Dpmpp2m, Schedule::Karras, true),
        ("DPM++ 2M SDE Exponential", Sampler::Dpmpp2mSde, Schedule::Exponential, true),
        ("UniPC", Sampler::UniPc, Schedule::Model, true),
        ("DPM++ SDE Karras", Sampler::DpmppSde, Schedule::Karras, true),
        ("DPM++ 2M SDE Heun", Sampler::Dpmpp2mSde, Schedule::Model, false),
        ("DPM2 a", Sampler::Dpm2, Schedule::Model, false),
        ("Restart", Sampler::Euler, Schedule::Model, false),
        ("Heun", Sampler::Heun, Schedule::Model, true),
        ("TCD", Sampler::Tcd, Schedule::Model, true),
        ("Res Multistep", Sampler::ResMultistep, Schedule::Model, true),
    ] {
        let read = a1111::parse(&format!("x\nSteps: 1, Sampler: {name}, Seed: 1"));
        let request = &read.settings.request;
        assert_eq!((request.sampler, request.schedule), (sampler, schedule), "{name}");
        assert_eq!(read.notes.is_empty(), same, "{name}");
    }
}

#[test]
fn schedules_have_a1111s_names() {
    for (name, schedule) in [
        ("Automatic", Schedule::Model),
        ("Uniform", Schedule::Normal),
        ("Normal", Schedule::Normal),
        ("SGM Uniform", Schedule::SgmUniform),
        ("KL Optimal", Schedule::KlOptimal),
        ("Align Your Steps", Schedule::AlignYourSteps),
        ("Beta", Schedule::Beta),
    ] {
        let read = a1111::parse(&format!("x\nSteps: 1, Schedule type: {name}, Seed: 1"));
        assert_eq!((read.settings.request.schedule, read.notes.len()), (schedule, 0), "{name}");
    }
}

#[test]
fn unknown_samplers_and_schedules_are_said() {
    let read = a1111::parse("x\nSteps: 1, Sampler: Restart, Schedule type: Polyexponential, Seed: 1");
    assert_eq!(
        read.notes,
        [
            "The sampler “Restart” is not available; Euler is used instead.",
            "The schedule “Polyexponential” is not available; the model default is used.",
        ]
    );
}

#[test]
fn what_is_not_understood_has_its_default_and_a_note() {
    let read =
        a1111::parse("x\nSteps: many, CFG scale: NaN, Seed: -1, Size: 5, Sampler: Euler, Clip skip: 13");
    let without_size = Request { width: 0, height: 0, ..Request::default() };
    assert_eq!(read.settings.request, Request { prompt: "x".to_owned(), ..without_size });
    assert_eq!(read.notes.len(), 5);

    let read = a1111::parse("only, words: here");
    assert_eq!(read.settings.request.prompt, "only, words: here");
    assert_eq!(read.notes.len(), 1);

    let drawn_over = "<lora:ink:1> x\nSteps: 3, Sampler: Euler, Seed: 1, Denoising strength: 0.6";
    assert_eq!(a1111::parse(drawn_over).notes.len(), 2);
}

#[test]
fn what_was_drawn_over_is_named() {
    let mask = SourceMask { path: "/secret/mask.png".into(), ..SourceMask::default() };
    let source = SourceImage { path: "/secret/fox, red.jpg".into(), ..SourceImage::default() };
    let write = |source| {
        let mut settings = settings("x", "");
        settings.request.source = Some(source);
        a1111::write(&settings)
    };
    let text = write(source.clone());
    assert!(text.contains(r#", Denoising strength: 0.6, Init image: "fox, red.jpg", Version"#), "{text}");
    assert_eq!(
        a1111::parse(&text).notes,
        ["This image was made from an input image, which is not included."]
    );
    let only = SourceMask { only_masked: Some(24), ..mask.clone() };
    let text = write(SourceImage { mask: Some(only), ..source.clone() });
    assert!(text.contains("Mask blur: 4, Inpaint area: Only masked, Masked area padding: 24"), "{text}");
    let text = write(SourceImage { strength: 0.25, mask: Some(mask), ..source });
    assert!(text.contains("Denoising strength: 0.25") && text.contains("Mask blur: 4, Version"), "{text}");
    assert!(!text.contains("secret"), "{text}");
}

#[test]
fn adapters_stand_in_the_prompt_as_in_a1111() {
    let mut settings = settings("a fox <lora:film:1>", "");
    settings.request.adapters = vec![AdapterUse { path: "/loras/ink wash.safetensors".into(), weight: -0.5 }];
    let text = a1111::write(&settings);
    assert!(text.starts_with("a fox <lora:film:1> <lora:ink wash:-0.5>\nSteps: "), "{text}");
    let read = a1111::parse(&text);
    assert_eq!(read.settings.request.prompt, "a fox <lora:film:1> <lora:ink wash:-0.5>");
    assert_eq!(read.notes, ["The prompt names a LoRA, which Sluice looks for by the name of its file."]);
}

#[test]
fn values_are_quoted_as_a1111_does() {
    let named = |name: &str| {
        let settings = Settings { model_name: name.to_owned(), ..settings("x", "") };
        let text = a1111::write(&settings);
        assert_eq!(a1111::parse(&text).settings.model_name, name);
        text
    };
    assert!(named("plain name (v2)").contains(", Model: plain name (v2), Version"));
    assert!(named("a, b: \"c\"").contains(r#", Model: "a, b: \"c\"", Version"#));
    assert!(named("zwei\nZeilen é 狐").contains(r#", Model: "zwei\nZeilen é 狐", Version"#));
    assert!(named("\"quoted\"").contains(r#", Model: "\"quoted\"", Version"#));
}

#[test]
fn what_controls_a_clip_is_named() {
    let text = |control| {
        let mut settings = settings("x", "");
        settings.request.control = Some(control);
        a1111::write(&settings)
    };
    let usual = Control { video: Some("/clips/walk.mp4".into()), ..Control::default() };
    let named = "Control video: walk.mp4, Control strength: 1, Version";
    assert!(text(usual.clone()).contains(named), "{}", text(usual));
    let half = Control { preprocessor: Preprocessor::Canny, end: 0.5, ..usual };
    let named =
        "Control preprocessor: canny, Control strength: 1, Control start: 0, Control end: 0.5, Version";
    assert!(text(half.clone()).contains(named), "{}", text(half));
}

#[test]
fn a_clip_skip_that_skips_nothing_is_left_out() {
    let text = |clip_skip| {
        let mut settings = settings("x", "");
        settings.request.clip_skip = clip_skip;
        a1111::write(&settings)
    };
    assert!(text(2).contains(", Clip skip: 2, Version"), "{}", text(2));
    assert!(!text(1).contains("Clip skip") && !text(0).contains("Clip skip"));
}

proptest! {
    #[test]
    fn any_text_can_be_parsed(text in "\\PC*", pairs in "([A-Za-z ]{0,9}[:,\"\\\\x ]{0,4}[0-9a-z\",]{0,9}\n?){0,9}") {
        let _ = a1111::parse(&text);
        let _ = a1111::parse(&pairs);
        let _ = a1111::parse(&format!("{text}\nSteps: 1, Seed: 1, Size: 1x1, {pairs}"));
    }

    #[test]
    fn what_is_written_is_read(
        request in any_request(),
        prompt in "[^\\s\\pC]{1,9}( [^\\s\\pC]{1,9}){0,5}(\n[^\\s\\pCN][^\\s\\pC]{0,9}){0,3}",
        negative in "([^\\s\\pC]{1,9}( [^\\s\\pC]{1,9}){0,5}(\n[^\\s\\pCN][^\\s\\pC]{0,9}){0,3})?",
        name in "[^\\s\\pC]{0,9}",
    ) {
        // Input images, references, the input clip, what controls a clip, the refiner, Redux, detectors, regions and map
        // estimators are not included. A template and styles are not read.
        let request = Request {
            prompt,
            negative_prompt: negative,
            source: None,
            last_image: None,
            keyframes: Vec::new(),
            clip: None,
            references: Vec::new(),
            reference_side: None,
            control: None,
            refiner: None,
            control_nets: Vec::new(),
            image_prompts: Vec::new(),
            estimators: BTreeMap::new(),
            redux: None,
            adapters: Vec::new(),
            detailers: Vec::new(),
            regions: Regions::default(),
            ..request
        };
        let read = a1111::parse(&a1111::write(&Settings::new(&request, &name, "z_image", 0)));
        prop_assert_eq!(&read.notes, &Vec::<String>::new());
        prop_assert_eq!(&read.settings.model_name, &name);
        let expected = Request {
            model: ModelSource::Starter,
            batch: 1,
            dtype: Request::default().dtype,
            max_sequence_length: Request::default().max_sequence_length,
            styles: Vec::new(),
            template: None,
            clip_skip: if request.clip_skip > 1 { request.clip_skip } else { 0 },
            ..request
        };
        prop_assert_eq!(read.settings.request, expected);
    }
}
