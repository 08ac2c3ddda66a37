//! What acted on images of other programs besides the model and the prompt: ControlNets, adapters, refiners, second passes.

use serde_json::{Value, json};

use super::programs::{assert_boat, graph, read_png};
use crate::{
    output::{Origin, RestoredSettings},
    request::{
        ControlMode, ControlNet, Detailer, Enlarger, Fit, Hires, ImagePrompt, ModelSource, Preprocessor,
        Refiner, Variation,
    },
};

const NETS: &str = "The images of ControlNets are not in the file; choose them again.";
const ADAPTERS: &str = "The images of IP-Adapters are not in the file; choose them again.";
const LORA: &str = "The prompt names a LoRA, which Sluice looks for by the name of its file.";

fn comfy_ui(graph: &Value) -> RestoredSettings {
    let restored = read_png(&[("prompt", &graph.to_string())]).unwrap();
    assert_boat(&restored, Origin::ComfyUi);
    restored
}

fn upscaler(name: &str) -> Enlarger {
    Enlarger::Upscaler(ModelSource::Path(name.into()))
}

/// The graph with two ControlNets between its prompts and the sampler, a clip skip, and an IP-Adapter on its model.
fn steered() -> Value {
    let mut graph = graph();
    graph["40"] =
        json!({"class_type": "ControlNetLoader", "inputs": {"control_net_name": "sdxl/canny.safetensors"}});
    graph["41"] = json!({"class_type": "ControlNetApplyAdvanced", "inputs": {"strength": 0.7, "start_percent": 0,
        "end_percent": 0.5, "positive": ["6", 0], "negative": ["7", 0], "control_net": ["40", 0],
        "image": ["42", 0]}});
    graph["42"] =
        json!({"class_type": "CannyEdgePreprocessor", "inputs": {"resolution": 512, "image": ["43", 0]}});
    graph["43"] = json!({"class_type": "LoadImage", "inputs": {"image": "house.png"}});
    graph["44"] = json!({"class_type": "SetUnionControlNetType", "inputs": {"type": "openpose",
        "control_net": ["45", 0]}});
    graph["45"] =
        json!({"class_type": "ControlNetLoader", "inputs": {"control_net_name": "union_1.0.safetensors"}});
    graph["46"] = json!({"class_type": "ControlNetApplyAdvanced", "inputs": {"strength": 1.0, "start_percent": 0.2,
        "end_percent": 1.0, "positive": ["41", 0], "negative": ["41", 1], "control_net": ["44", 0],
        "image": ["43", 0]}});
    graph["3"]["inputs"]["positive"] = json!(["46", 0]);
    graph["3"]["inputs"]["negative"] = json!(["46", 1]);
    graph["47"] =
        json!({"class_type": "CLIPSetLastLayer", "inputs": {"stop_at_clip_layer": -2, "clip": ["10", 1]}});
    graph["6"]["inputs"]["clip"] = json!(["47", 0]);
    graph["48"] = json!({"class_type": "IPAdapterAdvanced", "inputs": {"model": ["11", 0], "ipadapter": ["49", 0],
        "image": ["43", 0], "weight": 0.8, "start_at": 0.0, "end_at": 0.9}});
    graph["49"] = json!({"class_type": "IPAdapterModelLoader", "inputs": {"ipadapter_file": "ip-adapter-plus_sdxl.safetensors"}});
    graph["3"]["inputs"]["model"] = json!(["48", 0]);
    graph
}

#[test]
fn control_nets_and_adapters_of_a_graph_wait_for_their_images() {
    let restored = comfy_ui(&steered());
    let request = &restored.settings.request;
    let canny = ControlNet {
        model: "canny".into(),
        preprocessor: Preprocessor::Canny,
        weight: 0.7,
        end: 0.5,
        ..ControlNet::default()
    };
    let union = ControlNet {
        model: "union_1.0.safetensors".into(),
        mode: Some(ControlMode::Pose),
        start: 0.2,
        ..ControlNet::default()
    };
    assert_eq!(request.control_nets, [canny, union]);
    let adapter = ImagePrompt {
        adapter: "ip-adapter-plus_sdxl".into(),
        weight: 0.8,
        end: 0.9,
        ..ImagePrompt::default()
    };
    assert_eq!(request.image_prompts, [adapter]);
    assert_eq!(request.clip_skip, 2);
    let input = "It was made from an input image, which is not included.";
    assert_eq!(restored.notes, [input, LORA, NETS, ADAPTERS]);
}

#[test]
fn what_of_a_graph_is_not_understood_is_said() {
    let mut unknown = steered();
    unknown["40"] = json!({"class_type": "SomeLoader", "inputs": {}});
    unknown["49"] = json!({"class_type": "IPAdapterUnifiedLoader", "inputs": {"preset": "PLUS"}});
    unknown["50"] = json!({"class_type": "UltimateSDUpscale", "inputs": {"upscale_by": 2}});
    let restored = comfy_ui(&unknown);
    assert_eq!(restored.settings.request.control_nets.len(), 1);
    for note in [
        "ControlNets took part; that is not restored.",
        "IP-Adapters took part; that is not restored.",
        "The graph has further passes over the image, which are not restored.",
    ] {
        assert!(restored.notes.iter().any(|own| own == note), "{note} is not in {:?}", restored.notes);
    }
}

/// The graph with an image that is enlarged by an upscaler.
fn enlarged() -> Value {
    let mut graph = graph();
    graph["23"] = json!({"class_type": "VAEDecode", "inputs": {"samples": ["3", 0]}});
    graph["24"] = json!({"class_type": "UpscaleModelLoader", "inputs": {"model_name": "4x-UltraSharp.pth"}});
    graph["25"] = json!({"class_type": "ImageUpscaleWithModel", "inputs": {"upscale_model": ["24", 0],
        "image": ["23", 0]}});
    graph
}

#[test]
fn upscalers_of_a_graph_are_for_hires_fix_or_come_afterwards() {
    let restored = comfy_ui(&enlarged());
    assert_eq!(restored.settings.request.hires, None);
    let afterwards = "The image was enlarged afterwards with “4x-UltraSharp.pth”; that is not restored.";
    assert_eq!(restored.notes, [afterwards, LORA]);

    let mut graph = enlarged();
    graph["26"] = json!({"class_type": "ImageScaleBy", "inputs": {"scale_by": 0.5, "image": ["25", 0]}});
    graph["27"] = json!({"class_type": "VAEEncode", "inputs": {"pixels": ["26", 0]}});
    graph["28"] = json!({"class_type": "KSampler", "inputs": {"seed": 7, "steps": 12, "cfg": 5.5,
        "sampler_name": "euler", "scheduler": "simple", "denoise": 0.4, "model": ["11", 0], "positive": ["6", 0],
        "negative": ["7", 0], "latent_image": ["27", 0]}});
    let restored = comfy_ui(&graph);
    let hires = Hires { scale: 2.0, strength: 0.4, steps: Some(12), enlarger: upscaler("4x-UltraSharp") };
    assert_eq!((restored.settings.request.hires, restored.notes), (Some(hires), vec![LORA.to_owned()]));
}

#[test]
fn detailers_of_a_graph_are_taken_over() {
    let mut graph = graph();
    graph["60"] = json!({"class_type": "UltralyticsDetectorProvider", "inputs": {"model_name": "bbox/face_yolov8m.pt"}});
    graph["61"] = json!({"class_type": "FaceDetailer", "inputs": {"bbox_detector": ["60", 0], "denoise": 0.45,
        "steps": 15, "bbox_threshold": 0.6, "bbox_dilation": 10, "feather": 5, "wildcard": "", "positive": ["6", 0],
        "negative": ["62", 0], "image": ["9", 0]}});
    graph["62"] = json!({"class_type": "CLIPTextEncode", "inputs": {"text": "blur", "clip": ["10", 1]}});
    let restored = comfy_ui(&graph);
    let face = Detailer {
        confidence: 0.6,
        most: Detailer::MOST_BOXES,
        grow: 5,
        blur: 5,
        strength: 0.45,
        steps: Some(15),
        negative_prompt: "blur".to_owned(),
        ..Detailer::new("face_yolov8m")
    };
    assert_eq!((restored.settings.request.detailers, restored.notes), (vec![face], vec![LORA.to_owned()]));
}

#[test]
fn detailers_of_a_graph_come_in_the_order_of_their_images() {
    let mut graph = graph();
    for (provider, name) in [("60", "hand"), ("61", "face")] {
        graph[provider] = json!({"class_type": "UltralyticsDetectorProvider",
            "inputs": {"model_name": format!("bbox/{name}_yolov8n.pt")}});
    }
    // As text, 100 is before 99.
    for (own, detector, image) in [("100", "60", "99"), ("99", "61", "9")] {
        graph[own] = json!({"class_type": "FaceDetailer", "inputs": {"bbox_detector": [detector, 0],
            "denoise": 0.5, "image": [image, 0]}});
    }
    let restored = comfy_ui(&graph);
    let detailers = restored.settings.request.detailers.iter();
    let models: Vec<_> = detailers.map(|detailer| detailer.model.to_str().unwrap()).collect();
    assert_eq!(models, ["face_yolov8n", "hand_yolov8n"]);
    assert_eq!(restored.notes, [LORA]);
}

#[test]
fn what_detailers_of_a_graph_cannot_have_here_is_said() {
    let mut graph = graph();
    graph["60"] = json!({"class_type": "UltralyticsDetectorProvider", "inputs": {"model_name": "bbox/face_yolov8m.pt"}});
    graph["61"] = json!({"class_type": "FaceDetailer", "inputs": {"bbox_detector": ["60", 0], "denoise": 0,
        "bbox_dilation": -10, "image": ["9", 0]}});
    let restored = comfy_ui(&graph);
    let usual = Detailer { most: Detailer::MOST_BOXES, ..Detailer::new("face_yolov8m") };
    assert_eq!(restored.settings.request.detailers, [usual]);
    assert_eq!(
        restored.notes,
        [
            "bbox_dilation “-10” is not valid here; the default is used.",
            "denoise “0” is not valid here; the default is used.",
            LORA,
        ]
    );
}

fn invoke_ai(change: Value) -> RestoredSettings {
    let mut json = json!({
        "generation_mode": "sdxl_txt2img", "positive_prompt": "a boat", "negative_prompt": "fog", "width": 832,
        "height": 1216, "seed": 42, "cfg_scale": 5.5, "steps": 28, "scheduler": "euler",
        "model": {"name": "Juggernaut XL", "base": "sdxl", "type": "main"},
    });
    for (name, value) in change.as_object().unwrap() {
        json[name] = value.clone();
    }
    read_png(&[("invokeai_metadata", &json.to_string())]).unwrap()
}

#[test]
fn what_steered_images_of_invoke_ai_is_taken_over() {
    let restored = invoke_ai(json!({
        "controlnets": [{"control_model": {"name": "canny-sdxl"}, "control_weight": 0.75, "begin_step_percent": 0,
            "end_step_percent": 0.8, "control_mode": "more_prompt", "resize_mode": "just_resize"}],
        "t2iAdapters": [{"t2i_adapter_model": {"name": "sketch"}, "weight": [0.5, 0.4], "resize_mode": "crop_resize"}],
        "ipAdapters": [{"ip_adapter_model": {"name": "ip_adapter_sdxl"}, "weight": 0.6, "begin_step_percent": 0.1,
            "end_step_percent": 1}],
        "refiner_model": {"name": "sdxl-refiner"}, "refiner_start": 0.8, "refiner_steps": 20, "seamless_x": true,
        "seamless_y": false,
    }));
    assert_boat(&restored, Origin::InvokeAi);
    let request = &restored.settings.request;
    let canny = ControlNet {
        model: "canny-sdxl".into(),
        weight: 0.75,
        end: 0.8,
        fit: Fit::Stretch,
        ..ControlNet::default()
    };
    let sketch = ControlNet { model: "sketch".into(), weight: 0.5, ..ControlNet::default() };
    assert_eq!(request.control_nets, [canny, sketch]);
    let adapter =
        ImagePrompt { adapter: "ip_adapter_sdxl".into(), weight: 0.6, start: 0.1, ..ImagePrompt::default() };
    assert_eq!(request.image_prompts, [adapter]);
    assert_eq!(request.refiner, Some(Refiner { path: "sdxl-refiner".into(), switch: 0.8 }));
    assert_eq!(
        restored.notes,
        [
            "Not taken over: canny-sdxl more_prompt.",
            "Not taken over: seamless_x, refiner_steps.",
            NETS,
            ADAPTERS,
        ]
    );
}

#[test]
fn layers_of_invoke_ai_are_read_from_every_version() {
    let net = json!({"type": "controlnet", "model": {"name": "depth"}, "weight": 0.5, "beginEndStepPct": [0.1, 0.7],
        "controlMode": "balanced", "processorConfig": {"type": "depth_anything_image_processor"}});
    let adapter =
        json!({"type": "ip_adapter", "model": {"name": "ip"}, "weight": 1, "beginEndStepPct": [0, 1]});
    let off = json!({"isEnabled": false, "controlAdapter": net});
    let regions = json!({"type": "regional_guidance_layer", "isEnabled": true});
    for (change, with_regions) in [
        (
            json!({"control_layers": {"layers": [{"type": "control_adapter_layer", "controlAdapter": net}, off,
                {"type": "ip_adapter_layer", "ipAdapter": adapter}, regions]}}),
            true,
        ),
        (
            json!({"canvas_v2_metadata": {"controlLayers": [{"isEnabled": true, "controlAdapter": net}, off],
                "regionalGuidance": []}, "ref_images": [{"isEnabled": true, "config": adapter}]}),
            false,
        ),
    ] {
        let restored = invoke_ai(change);
        let request = &restored.settings.request;
        let depth = ControlNet {
            model: "depth".into(),
            preprocessor: Preprocessor::Depth,
            weight: 0.5,
            start: 0.1,
            end: 0.7,
            ..ControlNet::default()
        };
        assert_eq!(request.control_nets, [depth]);
        assert_eq!(request.image_prompts, [ImagePrompt { adapter: "ip".into(), ..ImagePrompt::default() }]);
        let says = restored.notes.iter().any(|note| note.starts_with("Regional guidance took part"));
        assert_eq!(says, with_regions, "{:?}", restored.notes);
    }
}

#[test]
fn the_second_pass_of_invoke_ai_is_hires_fix() {
    let restored =
        invoke_ai(json!({"width": 2048, "height": 2048, "hrf_enabled": true, "hrf_method": "ESRGAN",
            "hrf_strength": 0.35}));
    let request = restored.settings.request;
    let hires = Hires { scale: 2.0, strength: 0.35, steps: None, enlarger: upscaler("RealESRGAN_x2plus") };
    assert_eq!((request.width, request.height, request.hires), (1024, 1024, Some(hires)));
    assert_eq!(restored.notes, [""; 0]);
}

fn swarm_ui(change: Value) -> RestoredSettings {
    let mut json = json!({"prompt": "a boat", "negativeprompt": "fog", "model": "sdxl", "seed": 42, "steps": 28,
        "cfgscale": 5.5, "width": 832, "height": 1216, "swarm_version": "0.9.6", "date": "2026-01-01"});
    for (name, value) in change.as_object().unwrap() {
        json[name] = value.clone();
    }
    read_png(&[("parameters", &json!({"sui_image_params": json}).to_string())]).unwrap()
}

#[test]
fn parameters_of_swarm_ui_are_taken_over() {
    let restored = swarm_ui(json!({
        "controlnetmodel": "canny.safetensors", "controlnetstrength": 0.9, "controlnetend": 0.6,
        "controlnetpreprocessor": "CannyEdgePreprocessor", "controlnettwomodel": "union",
        "controlnettwouniontype": "depth", "useipadapter": "ip-adapter.safetensors", "ipadapterweight": 0.5,
        "variationseed": 9, "variationseedstrength": 0.3, "clipstopatlayer": -2, "refinermethod": "PostApply",
        "refinercontrolpercentage": 0.4, "refinerupscale": 1.5, "refinerupscalemethod": "model-4x-UltraSharp.pth",
        "refinermodel": "(Use Base)", "freeuapplyto": "Both",
    }));
    assert_boat(&restored, Origin::SwarmUi);
    let request = restored.settings.request;
    let canny = ControlNet {
        model: "canny".into(),
        preprocessor: Preprocessor::Canny,
        weight: 0.9,
        end: 0.6,
        ..ControlNet::default()
    };
    let union = ControlNet { model: "union".into(), mode: Some(ControlMode::Depth), ..ControlNet::default() };
    assert_eq!(request.control_nets, [canny, union]);
    assert_eq!(request.image_prompts[0].weight, 0.5);
    assert_eq!(request.variation, Some(Variation { seed: 9, strength: 0.3 }));
    let hires = Hires { scale: 1.5, strength: 0.4, steps: None, enlarger: upscaler("4x-UltraSharp") };
    assert_eq!((request.clip_skip, request.hires), (2, Some(hires)));
    assert_eq!(restored.notes, ["Not taken over: freeuapplyto.", NETS, ADAPTERS]);

    let restored = swarm_ui(json!({"refinermethod": "StepSwap", "refinercontrolpercentage": 0.25,
        "refinermodel": "refiner.safetensors"}));
    let refiner = Refiner { path: "refiner".into(), switch: 0.75 };
    assert_eq!((restored.settings.request.refiner, restored.notes), (Some(refiner), Vec::new()));

    let prompt = json!({"prompt": "a boat <segment:face> smiling", "refinermethod": "PostApply",
        "refinermodel": "other"});
    assert_eq!(
        swarm_ui(prompt).notes,
        [
            "refinermodel is not restored; the second pass uses that of the first.",
            "Not taken over: <segment:.",
        ]
    );
}

#[test]
fn what_draw_things_and_fooocus_add_is_taken_over() {
    let json = json!({
        "c": "a boat", "uc": "fog", "model": "sdxl_base_f16.ckpt", "sampler": "Euler A", "scale": 5.5, "seed": 42,
        "size": "832x1216", "steps": 28, "strength": 1,
        "v2": {"controls": [
                {"file": "controlnet_canny_1.x_v1.1_f16.ckpt", "weight": 0.8, "guidanceStart": 0, "guidanceEnd": 0.5,
                    "controlImportance": "balanced"},
                {"file": "ip_adapter_plus_xl_base_f16.ckpt", "weight": 0.6, "guidanceStart": 0, "guidanceEnd": 1}],
            "refinerModel": "sd_xl_refiner_1.0_q6p.ckpt", "refinerStart": 0.85, "hiresFix": true,
            "hiresFixWidth": 416, "hiresFixHeight": 608, "hiresFixStrength": 0.6,
            "upscaler": "realesrgan_x4plus_f16.ckpt", "sharpness": 0, "teaCache": true},
    })
    .to_string();
    let restored = read_png(&[(
        "XML:com.adobe.xmp",
        &format!("<rdf:Description exif:UserComment=\"{}\"/>", json.replace('"', "&quot;")),
    )])
    .unwrap();
    let request = restored.settings.request;
    let net = ControlNet {
        model: "controlnet_canny_1.x_v1.1.safetensors".into(),
        weight: 0.8,
        end: 0.5,
        ..ControlNet::default()
    };
    assert_eq!(request.control_nets, [net]);
    assert_eq!(request.image_prompts[0].adapter, std::path::Path::new("ip_adapter_plus_xl_base"));
    let refiner = Refiner { path: "sd_xl_refiner_1.0.safetensors".into(), switch: 0.85 };
    assert_eq!(request.refiner, Some(refiner));
    let hires = Hires { scale: 2.0, strength: 0.6, steps: None, enlarger: Enlarger::Latent };
    assert_eq!((request.width, request.height, request.hires), (416, 608, Some(hires)));
    assert_eq!(
        restored.notes,
        [
            "The image was enlarged afterwards with “realesrgan_x4plus”; that is not restored.",
            "Not taken over: teaCache.",
            NETS,
            ADAPTERS,
        ]
    );

    let json = json!({
        "base_model": "juggernautXL_v8", "full_prompt": ["a boat"], "full_negative_prompt": ["fog"],
        "guidance_scale": 5.5, "metadata_scheme": "fooocus", "performance": "Speed", "resolution": "(832, 1216)",
        "refiner_model": "realisticVision_v51.safetensors", "refiner_switch": 0.6, "sampler": "euler",
        "scheduler": "karras", "seed": "42", "sharpness": 0, "steps": 28, "freeu": "(1.01, 1.02, 0.99, 0.95)",
    })
    .to_string();
    let restored = read_png(&[("parameters", &json)]).unwrap();
    assert_boat(&restored, Origin::Fooocus);
    let refiner = Refiner { path: "realisticVision_v51".into(), switch: 0.6 };
    assert_eq!(restored.settings.request.refiner, Some(refiner));
    assert_eq!(restored.notes, ["Not taken over: freeu."]);
}
