//! Orders become requests.

use sluice_engine::{
    models::{OpenedModels, Remembered},
    request::{Area, Control, Outpaint, Preprocessor, Region, Regions, Sampler, Schedule},
    session::model_summary,
};

use super::{pictures::mask_of, *};
use crate::orders::{
    ControlNetOrder, ControlOrder, Given, HiresOrder, LoraOrder, MaskOrder, OutpaintOrder, RegionOrder,
    Shelved,
};

fn starter() -> ModelSummary {
    model_summary(&ModelSource::Starter, &OpenedModels::new(Vec::new())).unwrap()
}

fn request(order: &Order) -> Result<Request, OrderError> {
    let shelf = Shelf::of(&[], &mut Remembered::default());
    order.request(&starter(), &shelf, &mut Inputs::of_data().unwrap())
}

fn picture(pixel: [u8; 4]) -> Given {
    let mut bytes = std::io::Cursor::new(Vec::new());
    let picture =
        image::RgbaImage::from_fn(4, 2, |x, _| image::Rgba(if x == 0 { pixel } else { [9, 9, 9, u8::MAX] }));
    picture.write_to(&mut bytes, image::ImageFormat::Png).unwrap();
    Given::of(bytes.get_ref())
}

#[test]
fn regions_are_boxes_or_masks() {
    let owl = RegionOrder { prompt: "an owl".to_owned(), ..RegionOrder::default() };
    let left = RegionOrder { sides: Some([0.0, 0.0, 0.5, 1.0]), weight: Some(2.0), ..owl.clone() };
    let masked = RegionOrder { mask: Some(picture([0; 4])), ..owl.clone() };
    let order = |regions| Order { regions, region_base: Some(0.0), ..Order::default() };
    let Regions { all, base, fade } = request(&order(vec![left.clone(), masked, owl])).unwrap().regions;
    assert_eq!((base, fade), (0.0, Regions::default().fade));
    assert_eq!((&all[0].area, all[0].weight), (&Area::Box([0.0, 0.0, 0.5, 1.0]), 2.0));
    assert!(all[1].area.mask().is_some());
    assert_eq!(all[2].area, Region::default().area);
    let both = RegionOrder { mask: Some(picture([0; 4])), ..left };
    assert!(matches!(request(&order(vec![both])), Err(OrderError::BoxAndMask)));
}

#[test]
fn adapters_of_the_shelf_are_named_in_prompts() {
    let mut shelf = Shelf::of(&[], &mut Remembered::default());
    for name in ["ink", "oil"] {
        shelf.adapters.push(Shelved {
            name: name.to_owned(),
            source: ModelSource::Path(format!("/models/{name}.safetensors").into()),
            what: "LoRA".to_owned(),
            family: None,
        });
    }
    // Paths of the person at this machine may be listed, and are no names in prompts.
    let shelf = shelf.with_paths();
    let order = Order {
        prompt: "a fox <lora:Ink:0.8> <lora:oil:0.5> <lora:gone> <lora:/:1>".to_owned(),
        negative_prompt: Some("<lora:ink:0.8> <lora:ink:strong>".to_owned()),
        loras: vec![LoraOrder { name: "oil".to_owned(), weight: Some(0.3) }],
        ..Order::default()
    };
    let request = order.request(&starter(), &shelf, &mut Inputs::of_data().unwrap()).unwrap();
    let used: Vec<_> =
        request.adapters.iter().map(|used| (used.path.to_str().unwrap(), used.weight)).collect();
    assert_eq!(used, [("/models/oil.safetensors", 0.3), ("/models/ink.safetensors", 0.8)]);
    assert_eq!(request.prompt, order.prompt, "the engine reads the weights");
}

#[test]
fn what_is_left_out_has_the_models_default() {
    let defaults = starter().defaults;
    let plain = request(&Order { prompt: "a fox".to_owned(), seed: Some(7), ..Order::default() }).unwrap();
    let expected = Request { prompt: "a fox".to_owned(), seed: 7, ..defaults.given_to(Request::default()) };
    assert_eq!(plain, expected);
    let order = Order {
        sampler: Some("DPM++ 2M Karras".to_owned()),
        steps: Some(3),
        hires: Some(HiresOrder { upscaler: Some("Latent".to_owned()), ..HiresOrder::default() }),
        ..Order::default()
    };
    let given = request(&order).unwrap();
    assert_eq!((given.sampler, given.schedule, given.steps), (Sampler::Dpmpp2m, Schedule::Karras, 3));
    assert_eq!(given.hires, Some(Hires { enlarger: Enlarger::Latent, ..Hires::default() }));
}

#[test]
fn transparent_and_inverted_masks_become_white_where_it_is_inpainted() {
    let mask =
        |image, transparent, inverted| MaskOrder { image, transparent, inverted, ..MaskOrder::default() };
    let mut inputs = Inputs::of_data().unwrap();
    for (order, expected) in [
        (mask(picture([0, 0, 0, 0]), true, false), [255, 0]),
        (mask(picture([255, 255, 255, 255]), false, true), [0, 246]),
    ] {
        let path = mask_of(&order, &mut inputs).unwrap().path;
        let mask = image::open(path).unwrap().to_luma8();
        assert_eq!([0, 1].map(|x| mask.get_pixel(x, 0)[0]), expected);
    }
    let opaque = mask(picture([0, 0, 0, 255]), true, false);
    assert!(matches!(mask_of(&opaque, &mut inputs), Err(OrderError::OpaqueMask)));
}

#[test]
fn what_is_added_around_an_image_is_generated_and_makes_the_result_larger() {
    let json = r#"{"outpaint": {"left": 60, "right": 80}}"#;
    let order = Order { image: Some(picture([0; 4])), ..serde_json::from_str(json).unwrap() };
    let given = request(&order).unwrap();
    // Of 4 by 2 pixels, to multiples of 16.
    assert_eq!([given.width, given.height], [144, 16]);
    let source = given.source.unwrap();
    assert_eq!(source.outpaint, Outpaint { left: 60, right: 80, ..Outpaint::default() });
    assert_eq!(source.strength, 1.0);
    let sized = request(&Order { width: Some(256), strength: Some(0.8), ..order }).unwrap();
    assert_eq!((sized.width, sized.source.unwrap().strength), (256, 0.8));
}

#[test]
fn clips_are_controlled_by_clips() {
    let folder = tempfile::tempdir().unwrap();
    let frames = folder.path().join("walk");
    std::fs::create_dir(&frames).unwrap();
    for number in 0..10 {
        image::RgbImage::new(4, 2).save(frames.join(format!("{number}.png"))).unwrap();
    }
    let json = r#"{"control": {"video": "walk", "preprocessor": "canny", "end": 0.5,
        "range": {"start": 1}, "mask": "walk/0.png"}}"#;
    let order: Order = serde_json::from_str(json).unwrap();
    let summary = ModelSummary { frame_multiple: Some(4), ..starter() };
    let shelf = Shelf::of(&[], &mut Remembered::default());
    let given = |order: &Order| {
        order.request(&summary, &shelf, &mut Inputs::of_files_in(folder.path()).unwrap()).unwrap()
    };
    let request = given(&order);
    let control = Control {
        video: Some(frames.clone()),
        range: "1..".parse().unwrap(),
        preprocessor: Preprocessor::Canny,
        mask: Some(frames.join("0.png")),
        end: 0.5,
        ..Control::default()
    };
    assert_eq!((request.control, request.frames), (Some(control), 9));
    assert_eq!(given(&Order { frames: Some(5), ..order.clone() }).frames, 5);
    // Paths are not read where they come from others.
    assert!(matches!(self::request(&order), Err(OrderError::NotAClip { .. })));
}

#[test]
fn orders_that_make_no_sense_are_refused() {
    let alone = Order {
        mask: Some(MaskOrder { image: picture([0; 4]), ..MaskOrder::default() }),
        ..Order::default()
    };
    assert!(matches!(request(&alone), Err(OrderError::MaskAlone)));
    let order = Order { strength: Some(0.5), ..Order::default() };
    assert!(matches!(request(&order), Err(OrderError::StrengthAlone)));
    let order =
        Order { outpaint: Some(OutpaintOrder { left: 8, ..OutpaintOrder::default() }), ..Order::default() };
    assert!(matches!(request(&order), Err(OrderError::OutpaintAlone)));
    for (preprocessor, missing) in [
        (Preprocessor::Depth, "there is no depth model named \"Depth Anything V2\""),
        (Preprocessor::Pose, "there is no pose model named \"YOLOv8-pose\""),
        (Preprocessor::Segments, "there is no segment model named \"SegFormer\""),
        (Preprocessor::SoftEdge, "there is no soft edge model named \"HED\""),
    ] {
        let net = ControlNetOrder { preprocessor, ..ControlNetOrder::default() };
        let steered = Order { control_nets: vec![net], ..Order::default() };
        let control = Some(ControlOrder { preprocessor, ..ControlOrder::default() });
        for order in [steered, Order { control, ..Order::default() }] {
            let error = order.estimators(&Shelf::of(&[], &mut Remembered::default())).unwrap_err();
            assert_eq!(error.to_string(), missing);
        }
    }
    for json in
        [r#"{"promt": "a fox"}"#, r#"{"loras": [{"path": "/etc/passwd"}]}"#, r#"{"outpaint": {"lft": 8}}"#]
    {
        let error = serde_json::from_str::<Order>(json).unwrap_err().to_string();
        assert!(error.contains("unknown field"), "{error}");
    }
}
