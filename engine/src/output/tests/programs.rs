//! Images of other programs, in the layouts in which those programs write them.

use std::{fs, io::Write as _, path::Path};

use flate2::{Compression, write::GzEncoder};
use png::{BitDepth, ColorType, Encoder};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    output::{Origin, OutputError, RestoredSettings, read_settings},
    request::{Enlarger, Hires, Refiner, Sampler, Schedule},
};

/// A PNG file with these texts, as `tEXt` or, if they are not Latin-1, as `iTXt`.
fn png(path: &Path, texts: &[(&str, &str)], color: ColorType, side: u32, pixels: &[u8]) {
    let mut encoder = Encoder::new(fs::File::create(path).unwrap(), side, side);
    encoder.set_color(color);
    encoder.set_depth(BitDepth::Eight);
    for (name, text) in texts {
        let (name, text) = ((*name).to_owned(), (*text).to_owned());
        match text.chars().all(|letter| u8::try_from(letter).is_ok()) {
            true => encoder.add_text_chunk(name, text).unwrap(),
            false => encoder.add_itxt_chunk(name, text).unwrap(),
        }
    }
    encoder.write_header().unwrap().write_image_data(pixels).unwrap();
}

pub(super) fn read_png(texts: &[(&str, &str)]) -> Result<RestoredSettings, OutputError> {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.png");
    png(&path, texts, ColorType::Rgb, 4, &[9; 48]);
    read_settings(&path)
}

/// A JPEG file with segments before the pixels.
fn read_jpeg(segments: &[(u8, &[u8])]) -> Result<RestoredSettings, OutputError> {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.jpg");
    let mut bytes = vec![0xFF, 0xD8];
    for (kind, data) in segments {
        bytes.extend([0xFF, *kind]);
        bytes.extend((data.len() as u16 + 2).to_be_bytes());
        bytes.extend(*data);
    }
    bytes.extend([0xFF, 0xDA, 0, 2, 1, 2, 3, 0xFF, 0xD9]);
    fs::write(&path, bytes).unwrap();
    read_settings(&path)
}

/// A WebP file with chunks after a header of a size.
fn read_webp(chunks: &[(&[u8; 4], &[u8])]) -> Result<RestoredSettings, OutputError> {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.webp");
    let mut bytes = b"WEBPVP8X\x0A\0\0\0\x0C\0\0\0\x03\0\0\x03\0\0".to_vec();
    for (kind, data) in chunks {
        bytes.extend(*kind);
        bytes.extend((data.len() as u32).to_le_bytes());
        bytes.extend(*data);
        bytes.resize(bytes.len().next_multiple_of(2), 0);
    }
    let length = (bytes.len() as u32).to_le_bytes();
    fs::write(&path, [&b"RIFF"[..], &length, &bytes].concat()).unwrap();
    read_settings(&path)
}

/// Exif data as Pillow and piexif write it: texts in the first directory, a comment in the inner one.
fn exif(first: &[(u16, &str)], comment: Option<&[u8]>) -> Vec<u8> {
    let mut entries: Vec<(u16, u16, Vec<u8>)> =
        first.iter().map(|(tag, text)| (*tag, 2, [text.as_bytes(), &[0]].concat())).collect();
    let count = entries.len() + usize::from(comment.is_some());
    let inner_at = 8 + 2 + 12 * count + 4;
    let mut values_at = inner_at + if comment.is_some() { 2 + 12 + 4 } else { 0 };
    let mut out = b"Exif\0\0II\x2A\0\x08\0\0\0".to_vec();
    out.extend((count as u16).to_le_bytes());
    let mut values: Vec<u8> = Vec::new();
    let mut entry = |out: &mut Vec<u8>, tag: u16, kind: u16, value: &[u8]| {
        out.extend(tag.to_le_bytes());
        out.extend(kind.to_le_bytes());
        out.extend((value.len() as u32).to_le_bytes());
        out.extend((values_at as u32).to_le_bytes());
        values.extend(value);
        values_at += value.len();
    };
    for (tag, kind, value) in entries.drain(..) {
        entry(&mut out, tag, kind, &value);
    }
    if let Some(comment) = comment {
        out.extend(0x8769_u16.to_le_bytes());
        out.extend(4_u16.to_le_bytes());
        out.extend(1_u32.to_le_bytes());
        out.extend((inner_at as u32).to_le_bytes());
        out.extend([0; 4]);
        out.extend(1_u16.to_le_bytes());
        entry(&mut out, 0x9286, 7, comment);
    }
    out.extend([0; 4]);
    out.extend(values);
    out
}

fn unicode(text: &str) -> Vec<u8> {
    b"UNICODE\0".iter().copied().chain(text.encode_utf16().flat_map(u16::to_be_bytes)).collect()
}

pub(super) fn assert_boat(restored: &RestoredSettings, origin: Origin) {
    let request = &restored.settings.request;
    assert_eq!(restored.origin, origin);
    assert!(request.prompt.starts_with("a boat"), "{}", request.prompt);
    assert_eq!(request.negative_prompt, "fog");
    assert_eq!((request.width, request.height), (832, 1216));
    assert_eq!((request.steps, request.guidance, request.seed), (28, 5.5, 42));
}

const A1111: &str = "a boat\nNegative prompt: fog\nSteps: 28, Sampler: DPM++ 2M Karras, CFG scale: 5.5, Seed: 42, \
                     Size: 832x1216, Model: boats_v3";

#[test]
fn parameters_of_the_web_ui_are_read_from_exif() {
    for data in
        [exif(&[], Some(&unicode(A1111))), exif(&[], Some(&[b"ASCII\0\0\0", A1111.as_bytes()].concat()))]
    {
        let restored = read_jpeg(&[(0xE0, b"JFIF\0"), (0xE1, &data)]).unwrap();
        assert_boat(&restored, Origin::A1111);
        assert_eq!(restored.settings.request.schedule, Schedule::Karras);
    }
    let plain = read_jpeg(&[(0xE0, b"JFIF\0"), (0xFE, b"taken in Rome")]);
    assert!(matches!(plain, Err(OutputError::NoSettings { .. })));
}

#[test]
fn a_comment_of_a_camera_or_a_phone_is_no_prompt() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.png");
    for comment in [unicode("Screenshot"), [&b"ASCII\0\0\0"[..], b"Screenshot"].concat()] {
        let data = exif(&[(0x010F, "Anybody")], Some(&comment));
        let tiff = &data[6..];
        png(&path, &[], ColorType::Rgb, 4, &[9; 48]);
        let file = fs::read(&path).unwrap();
        // After the signature and the header.
        let (head, rest) = file.split_at(33);
        let chunk = [b"eXIf", tiff].concat();
        let mut sum = flate2::Crc::new();
        sum.update(&chunk);
        let length = (tiff.len() as u32).to_be_bytes();
        fs::write(&path, [head, &length, &chunk, &sum.sum().to_be_bytes(), rest].concat()).unwrap();
        for read in [read_settings(&path), read_jpeg(&[(0xE1, &data)]), read_webp(&[(b"EXIF", tiff)])] {
            assert!(matches!(read, Err(OutputError::NoSettings { .. })), "{read:?}");
        }
    }
}

#[test]
fn settings_of_other_programs_are_read_from_webp() {
    let web_ui = exif(&[], Some(&unicode(A1111)));
    let graph = format!("Prompt:{}", graph());
    // With the marker of JPEG, as Pillow writes it, and without.
    for data in [&web_ui[..], &web_ui[6..]] {
        assert_boat(&read_webp(&[(b"VP8 ", &[1, 2, 3]), (b"EXIF", data)]).unwrap(), Origin::A1111);
    }
    assert_boat(&read_webp(&[(b"EXIF", &exif(&[(0x010F, &graph)], None))]).unwrap(), Origin::ComfyUi);
    let both = exif(&[(0x010F, &graph)], Some(&unicode(A1111)));
    assert_boat(&read_webp(&[(b"EXIF", &both)]).unwrap(), Origin::A1111);
    let novel_ai = exif(&[], Some(&unicode(&novel_ai().to_string())));
    assert_boat(&read_webp(&[(b"EXIF", &novel_ai)]).unwrap(), Origin::NovelAi);
    let json = r#"{"c": "a boat", "uc": "fog", "model": "boats", "scale": 5.5, "seed": 42, "size": "832x1216", "steps": 28}"#;
    let xmp = format!("<rdf:Description exif:UserComment=\"{}\"/>", json.replace('"', "&quot;"));
    let photo = exif(&[], Some(&unicode("Screenshot")));
    let read = read_webp(&[(b"EXIF", &photo), (b"XMP ", xmp.as_bytes())]);
    assert_boat(&read.unwrap(), Origin::DrawThings);
}

/// The alpha channel with a text in its lowest bits, column by column.
fn with_hidden(side: u32, start: &[u8], data: &[u8]) -> Vec<u8> {
    let length = (data.len() as u32 * 8).to_be_bytes();
    let bytes = [start, &length, data].concat();
    let mut pixels = vec![255; (side * side * 4) as usize];
    for (place, bit) in bytes.iter().flat_map(|byte| (0..8).rev().map(move |at| byte >> at & 1)).enumerate() {
        let (x, y) = (place / side as usize, place % side as usize);
        pixels[(y * side as usize + x) * 4 + 3] = 254 | bit;
    }
    pixels
}

fn packed(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

fn novel_ai() -> Value {
    json!({
        "prompt": "a boat", "uc": "fog", "steps": 28, "scale": 5.5, "cfg_rescale": 0.2, "seed": 42,
        "width": 832, "height": 1216, "sampler": "k_euler_ancestral", "noise_schedule": "karras",
        "request_type": "PromptGenerateRequest",
        "v4_prompt": {"caption": {"base_caption": "a boat", "char_captions": [
            {"char_caption": "a sailor, {smiling}", "centers": [{"x": 0.5, "y": 0.5}]}]}},
        "v4_negative_prompt": {"caption": {"base_caption": "fog", "char_captions": []}},
    })
}

#[test]
fn settings_in_the_alpha_channel_are_read() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.png");
    let all = json!({
        "Software": "NovelAI", "Source": "NovelAI Diffusion V4", "Description": "a boat",
        "Comment": novel_ai().to_string(),
    });
    for (start, data, origin) in [
        (b"stealth_pnginfo", A1111.as_bytes().to_vec(), Origin::A1111),
        (b"stealth_pngcomp", packed(A1111), Origin::A1111),
        (b"stealth_pngcomp", packed(&all.to_string()), Origin::NovelAi),
    ] {
        png(&path, &[("Title", "generated")], ColorType::Rgba, 96, &with_hidden(96, start, &data));
        assert_boat(&read_settings(&path).unwrap(), origin);
    }
    // What is too long for the image, damaged, or nothing at all.
    for pixels in [
        with_hidden(96, b"stealth_pngcomp", b"not packed"),
        with_hidden(96, b"stealth_nothing", A1111.as_bytes()),
        vec![255; 96 * 96 * 4],
        {
            let mut pixels = with_hidden(96, b"stealth_pnginfo", A1111.as_bytes());
            for row in 0..20 {
                pixels[(row * 96 + 1) * 4 + 3] = 255;
            }
            pixels
        },
    ] {
        png(&path, &[], ColorType::Rgba, 96, &pixels);
        let read = read_settings(&path);
        assert!(read.is_err() || read.is_ok_and(|read| read.origin == Origin::A1111));
    }
}

#[test]
fn novel_ai_is_read_from_its_comment() {
    let restored = read_png(&[
        ("Title", "NovelAI generated image"),
        ("Description", "a boat"),
        ("Software", "NovelAI"),
        ("Source", "NovelAI Diffusion V4 37C2B166"),
        ("Comment", &novel_ai().to_string()),
    ])
    .unwrap();
    assert_boat(&restored, Origin::NovelAi);
    let request = &restored.settings.request;
    assert_eq!(request.prompt, "a boat, a sailor, {smiling}");
    assert_eq!((request.sampler, request.schedule), (Sampler::EulerAncestral, Schedule::Karras));
    assert_eq!(request.guiding.rescale, 0.2);
    assert_eq!(restored.settings.model_name, "NovelAI Diffusion V4 37C2B166");
    assert_eq!(restored.notes.len(), 2, "{:?}", restored.notes);
}

#[test]
fn all_three_formats_of_invoke_ai_are_read() {
    let third = json!({
        "app_version": "5.4.2", "generation_mode": "sdxl_txt2img", "positive_prompt": "a boat",
        "negative_prompt": "fog", "width": 832, "height": 1216, "seed": 42, "cfg_scale": 5.5, "steps": 28,
        "scheduler": "dpmpp_2m_sde_k", "clip_skip": 1,
        "model": {"key": "9c1", "hash": "blake3:1", "name": "Juggernaut XL", "base": "sdxl", "type": "main"},
        "loras": [{"model": {"key": "1", "name": "ink", "base": "sdxl", "type": "lora"}, "weight": 0.75}],
        "controlnets": [{"control_model": {"name": "canny"}}], "ipAdapters": [],
    });
    let restored = read_png(&[("invokeai_metadata", &third.to_string()), ("invokeai_graph", "{}")]).unwrap();
    assert_boat(&restored, Origin::InvokeAi);
    let request = &restored.settings.request;
    assert_eq!(request.prompt, "a boat <lora:ink:0.75>");
    assert_eq!((request.sampler, request.schedule), (Sampler::Dpmpp2mSde, Schedule::Karras));
    assert_eq!((restored.settings.model_name.as_str(), request.clip_skip), ("Juggernaut XL", 2));
    assert_eq!(request.control_nets[0].model, Path::new("canny"));
    assert!(restored.notes.iter().any(|note| note.contains("ControlNets")), "{:?}", restored.notes);

    // Version 3 named models otherwise.
    let older = json!({
        "positive_prompt": "a boat", "negative_prompt": "fog", "width": 832, "height": 1216, "seed": 42,
        "cfg_scale": 5.5, "steps": 28, "scheduler": "euler_a", "generation_mode": "txt2img",
        "model": {"model_name": "boats", "base_model": "sd-1", "model_type": "main"},
        "loras": [{"lora": {"model_name": "ink", "base_model": "sd-1"}, "weight": 0.5}],
    });
    let restored = read_png(&[("invokeai_metadata", &older.to_string())]).unwrap();
    assert_boat(&restored, Origin::InvokeAi);
    assert_eq!(restored.settings.model_name, "boats");
    assert_eq!(restored.settings.request.prompt, "a boat <lora:ink:0.5>");

    let second = json!({
        "model": "stable diffusion", "model_weights": "stable-diffusion-1.5", "model_hash": "cc6c",
        "app_id": "invoke-ai/InvokeAI", "app_version": "2.2.4",
        "image": {"prompt": [{"prompt": "a boat [fog]", "weight": 1.0}], "steps": 28, "cfg_scale": 5.5,
            "threshold": 0, "perlin": 0, "height": 1216, "width": 832, "seed": 42, "type": "txt2img",
            "postprocessing": null, "sampler": "k_euler_a", "variations": []},
    });
    let dream = "\"a boat [fog]\" -s 28 -S 42 -W 832 -H 1216 -C 5.5 -A k_euler_a";
    let restored = read_png(&[("Dream", dream), ("sd-metadata", &second.to_string())]).unwrap();
    assert_boat(&restored, Origin::InvokeAi);
    assert_eq!(restored.settings.model_name, "stable-diffusion-1.5");
    for line in [dream, "\"a boat [fog]\" -s28 -W832 -H1216 -C5.5 -Ak_euler_a -S42"] {
        let restored = read_png(&[("Dream", line)]).unwrap();
        assert_boat(&restored, Origin::InvokeAi);
        assert_eq!(restored.settings.request.sampler, Sampler::EulerAncestral);
    }
}

#[test]
fn both_schemes_of_fooocus_are_read() {
    let json = json!({
        "adm_guidance": "(1.5, 0.8, 0.3)", "base_model": "juggernautXL_v8", "base_model_hash": "aeb7",
        "clip_skip": 2, "full_negative_prompt": ["fog"], "full_prompt": ["a boat", "cinematic still"],
        "guidance_scale": 5.5, "loras": [["sd_xl_offset_example-lora_1.0", 0.1, "4852"]],
        "metadata_scheme": "fooocus", "negative_prompt": "fog", "performance": "Speed", "prompt": "a boat",
        "refiner_model": "None", "refiner_switch": 0.5, "resolution": "(832, 1216)", "sampler": "dpmpp_2m_sde_gpu",
        "scheduler": "karras", "seed": "42", "sharpness": 2.0, "steps": 28, "styles": "['Fooocus V2']",
        "vae": "Default (model)", "version": "Fooocus v2.5.5",
    })
    .to_string();
    let restored = read_png(&[("parameters", &json), ("fooocus_scheme", "fooocus")]).unwrap();
    assert_boat(&restored, Origin::Fooocus);
    let request = &restored.settings.request;
    assert_eq!(request.prompt, "a boat, cinematic still <lora:sd_xl_offset_example-lora_1.0:0.1>");
    assert_eq!((request.sampler, request.schedule), (Sampler::Dpmpp2mSde, Schedule::Karras));
    assert_eq!((restored.settings.model_name.as_str(), request.clip_skip), ("juggernautXL_v8", 2));
    // In other files it is a comment in the first directory of Exif, as plain text.
    let data = exif(&[(0x0131, "Fooocus v2.5.5"), (0x927C, "fooocus"), (0x9286, &json)], None);
    assert_boat(&read_jpeg(&[(0xE1, &data)]).unwrap(), Origin::Fooocus);

    let text = "a boat, cinematic still\nNegative prompt: fog\nSteps: 28, Sampler: DPM++ 2M SDE Karras, Seed: 42, \
                Size: 832x1216, CFG scale: 5.5, Sharpness: 2.0, ADM Guidance: \"(1.5, 0.8, 0.3)\", \
                Model: juggernautXL_v8, Model hash: aeb7, Performance: Speed, Scheduler: karras, \
                Raw prompt: a boat, Version: Fooocus v2.5.5";
    let restored = read_png(&[("parameters", text), ("fooocus_scheme", "a1111")]).unwrap();
    assert_boat(&restored, Origin::Fooocus);
    assert_eq!(restored.settings.request.schedule, Schedule::Karras);
}

#[test]
fn swarm_ui_is_read_from_png_and_exif() {
    let json = json!({"sui_image_params": {
        "prompt": "a boat", "negativeprompt": "fog", "model": "Flux/flux1-dev-fp8", "seed": 42, "steps": 28,
        "cfgscale": 5.5, "aspectratio": "Custom", "width": 832, "height": 1216, "sampler": "euler",
        "scheduler": "normal", "loras": ["ink", "sub/sea"], "loraweights": ["0.5", "1"],
        "swarm_version": "0.9.4.0"}})
    .to_string();
    let data = exif(&[], Some(&unicode(&json)));
    for restored in [read_png(&[("parameters", &json)]), read_jpeg(&[(0xE1, &data)])] {
        let restored = restored.unwrap();
        assert_boat(&restored, Origin::SwarmUi);
        assert_eq!(restored.settings.request.prompt, "a boat <lora:ink:0.5> <lora:sea:1>");
        assert_eq!(restored.settings.model_name, "flux1-dev-fp8");
    }
}

#[test]
fn draw_things_is_read_from_xmp() {
    let json = json!({
        "c": "a boat & a lake", "uc": "fog", "model": "juggernaut_xl_v9_q6p.ckpt", "sampler": "DPM++ 2M AYS",
        "scale": 5.5, "seed": 42, "seed_mode": "Scale Alike", "size": "832x1216", "steps": 28, "strength": 1,
        "v2": {"clipSkip": 2, "shift": 3, "loras": [{"file": "ink_lora_f16.ckpt", "weight": 0.6}], "controls": []},
    })
    .to_string();
    let escaped = json.replace('&', "&amp;").replace('"', "&quot;");
    let elements = format!(
        "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><rdf:RDF><rdf:Description><xmp:CreatorTool>Draw Things\
         </xmp:CreatorTool><exif:UserComment><rdf:Alt><rdf:li xml:lang=\"x-default\">{escaped}</rdf:li></rdf:Alt>\
         </exif:UserComment></rdf:Description></rdf:RDF></x:xmpmeta>"
    );
    let attribute = format!("<rdf:Description exif:UserComment=\"{escaped}\"/>");
    let xmp = [b"http://ns.adobe.com/xap/1.0/\0", elements.as_bytes()].concat();
    for restored in [
        read_png(&[("XML:com.adobe.xmp", &elements)]),
        read_png(&[("XML:com.adobe.xmp", &attribute)]),
        read_jpeg(&[(0xE1, &xmp)]),
        read_jpeg(&[(0xE1, &exif(&[], Some(&unicode(&json))))]),
    ] {
        let restored = restored.unwrap();
        assert_boat(&restored, Origin::DrawThings);
        let request = &restored.settings.request;
        assert_eq!(request.prompt, "a boat & a lake <lora:ink:0.6>");
        assert_eq!((request.sampler, request.schedule), (Sampler::Dpmpp2m, Schedule::AlignYourSteps));
        assert_eq!((request.shift, request.clip_skip), (Some(3.0), 2));
        assert_eq!(restored.settings.model_name, "juggernaut_xl_v9");
    }
}

#[test]
fn stable_diffusion_cpp_is_read() {
    let text = "a boat\nNegative prompt: fog\nSteps: 28, CFG scale: 1.000000, Guidance: 5.500000, Eta: 0.000000, \
                Seed: 42, Size: 832x1216, Model: , RNG: cuda, Sampler: dpmpp2m karras, TE: clip_l.safetensors, \
                Unet: flux1-dev-q4_0.gguf, VAE: ae.safetensors, Version: stable-diffusion.cpp, \
                SDCPP: {\"schema\":\"sdcpp.image.params/v1\",\"seed\":42,\"steps\":28}";
    let restored = read_png(&[("parameters", text)]).unwrap();
    assert_boat(&restored, Origin::StableDiffusionCpp);
    let request = &restored.settings.request;
    assert_eq!((request.sampler, request.schedule), (Sampler::Dpmpp2m, Schedule::Karras));
    assert_eq!(restored.settings.model_name, "flux1-dev-q4_0.gguf");
}

/// A graph of an SDXL image with two LoRAs, one of them in a node for many.
pub(super) fn graph() -> Value {
    json!({
        "3": {"class_type": "KSampler", "inputs": {"seed": 42, "steps": 28, "cfg": 5.5, "sampler_name": "dpmpp_2m",
            "scheduler": "karras", "denoise": 1, "model": ["11", 0], "positive": ["6", 0], "negative": ["7", 0],
            "latent_image": ["5", 0]}},
        "4": {"class_type": "CheckpointLoaderSimple", "inputs": {"ckpt_name": "sdxl/boats_v3.safetensors"}},
        "5": {"class_type": "EmptyLatentImage", "inputs": {"width": 832, "height": 1216, "batch_size": 1}},
        "6": {"class_type": "CLIPTextEncode", "inputs": {"text": "a boat", "clip": ["10", 1]}},
        "7": {"class_type": "CLIPTextEncode", "inputs": {"text": "fog", "clip": ["10", 1]}},
        "10": {"class_type": "LoraLoader", "inputs": {"lora_name": "ink.safetensors", "strength_model": 0.5,
            "strength_clip": 1, "model": ["4", 0], "clip": ["4", 1]}},
        "11": {"class_type": "Power Lora Loader (rgthree)", "inputs": {"model": ["10", 0],
            "lora_1": {"on": true, "lora": "sea.safetensors", "strength": -1.5},
            "lora_2": {"on": false, "lora": "off.safetensors", "strength": 1}}},
        "12": {"class_type": "LoraLoader", "inputs": {"lora_name": "unused.safetensors", "model": ["4", 0]}},
        "9": {"class_type": "SaveImage", "inputs": {"images": ["3", 0]}},
    })
}

#[test]
fn a_graph_of_comfy_ui_is_read_with_its_loras() {
    let restored = read_png(&[("prompt", &graph().to_string()), ("workflow", "{\"nodes\": []}")]).unwrap();
    assert_boat(&restored, Origin::ComfyUi);
    let request = &restored.settings.request;
    assert_eq!(request.prompt, "a boat <lora:sea:-1.5> <lora:ink:0.5>");
    assert_eq!((request.sampler, request.schedule), (Sampler::Dpmpp2m, Schedule::Karras));
    assert_eq!(restored.settings.model_name, "boats_v3");
    // In Exif, as ComfyUI's nodes for WebP and JPEG write it.
    let data = exif(&[(0x010F, &format!("Prompt:{}", graph()))], None);
    assert_boat(&read_jpeg(&[(0xE1, &data)]).unwrap(), Origin::ComfyUi);

    let flux = json!({
        "17": {"class_type": "BasicScheduler", "inputs": {"scheduler": "simple", "steps": 28, "denoise": 1}},
        "13": {"class_type": "SamplerCustomAdvanced", "inputs": {"noise": ["25", 0], "guider": ["22", 0],
            "sampler": ["16", 0], "sigmas": ["17", 0], "latent_image": ["27", 0]}},
        "16": {"class_type": "KSamplerSelect", "inputs": {"sampler_name": "euler"}},
        "22": {"class_type": "BasicGuider", "inputs": {"model": ["12", 0], "conditioning": ["26", 0]}},
        "25": {"class_type": "RandomNoise", "inputs": {"noise_seed": 42}},
        "26": {"class_type": "FluxGuidance", "inputs": {"guidance": 5.5, "conditioning": ["6", 0]}},
        "6": {"class_type": "CLIPTextEncode", "inputs": {"text": "a boat", "clip": ["11", 0]}},
        "27": {"class_type": "EmptySD3LatentImage", "inputs": {"width": 832, "height": 1216}},
        "12": {"class_type": "UNETLoader", "inputs": {"unet_name": "flux1-dev.safetensors"}},
    });
    let restored = read_png(&[("prompt", &flux.to_string())]).unwrap();
    let request = &restored.settings.request;
    assert_eq!((request.prompt.as_str(), request.negative_prompt.as_str()), ("a boat", ""));
    assert_eq!((request.steps, request.guidance, request.seed), (28, 5.5, 42));
    assert_eq!((request.schedule, restored.settings.model_name.as_str()), (Schedule::Simple, "flux1-dev"));
}

/// The graph with another sampler after its own, whose latents come through a node.
fn graph_with(node: Value, second: Value) -> Value {
    let mut graph = graph();
    graph["20"] = node;
    graph["21"] = json!({"class_type": "KSampler", "inputs": {"seed": 7, "steps": 12, "cfg": 8,
        "sampler_name": "euler", "scheduler": "simple", "denoise": 0.5, "model": ["22", 0],
        "positive": ["6", 0], "negative": ["7", 0], "latent_image": ["20", 0]}});
    for (name, value) in second.as_object().unwrap() {
        graph["21"]["inputs"][name] = value.clone();
    }
    graph["22"] =
        json!({"class_type": "CheckpointLoaderSimple", "inputs": {"ckpt_name": "refiner.safetensors"}});
    graph
}

#[test]
fn the_first_pass_of_a_graph_counts_and_a_second_one_is_hires_fix() {
    let read = |graph: Value| {
        let restored = read_png(&[("prompt", &graph.to_string())]).unwrap();
        assert_boat(&restored, Origin::ComfyUi);
        assert_eq!(restored.settings.model_name, "boats_v3");
        (restored.settings.request.hires, restored.notes)
    };
    let lora = "The prompt names a LoRA, which Sluice looks for by the name of its file.".to_owned();
    let further = "The graph has further passes over the image, which are not restored.".to_owned();
    let enlarged = |inputs: Value| json!({"class_type": "LatentUpscale", "inputs": inputs});
    let by_size = enlarged(json!({"width": 1248, "height": 1824, "samples": ["3", 0]}));
    let (hires, notes) = read(graph_with(by_size, json!({})));
    let wanted = Hires { scale: 1.5, strength: 0.5, steps: Some(12), enlarger: Enlarger::Latent };
    assert_eq!((hires, notes), (Some(wanted.clone()), vec![lora.clone()]));

    // Enlarged as an image.
    let mut decoded = graph_with(
        json!({"class_type": "VAEEncode", "inputs": {"pixels": ["23", 0]}}),
        json!({"denoise": 0.3, "steps": 30}),
    );
    decoded["23"] = json!({"class_type": "ImageScaleBy", "inputs": {"scale_by": 2, "image": ["24", 0]}});
    decoded["24"] = json!({"class_type": "VAEDecode", "inputs": {"samples": ["3", 0]}});
    let (hires, _) = read(decoded);
    let wanted = Hires { scale: 2.0, strength: 0.3, steps: Some(30), enlarger: Enlarger::default() };
    assert_eq!(hires, Some(wanted));

    // Of the same size, or with new noise, it is something else.
    let same = enlarged(json!({"scale_by": 1, "samples": ["3", 0]}));
    assert_eq!(read(graph_with(same, json!({}))), (None, vec![further.clone(), lora.clone()]));
    let twice = enlarged(json!({"scale_by": 2, "samples": ["3", 0]}));
    assert_eq!(read(graph_with(twice, json!({"denoise": 1}))), (None, vec![further, lora.clone()]));
    // A refiner goes on where the base model ends.
    let refiner = json!({"start_at_step": 21, "add_noise": "disable", "latent_image": ["3", 0]});
    let graph = graph_with(json!({}), refiner);
    assert_eq!(read(graph.clone()), (None, vec![lora]));
    let refiner = read_png(&[("prompt", &graph.to_string())]).unwrap().settings.request.refiner;
    assert_eq!(refiner, Some(Refiner { path: "refiner".into(), switch: 0.75 }));
    // Two experts are one model.
    for (name, path) in [("noise_xl.safetensors", Some("noise_xl")), ("wan_low-noise_14B.safetensors", None)]
    {
        let mut graph = graph.clone();
        graph["22"]["inputs"]["ckpt_name"] = json!(name);
        let refiner = read_png(&[("prompt", &graph.to_string())]).unwrap().settings.request.refiner;
        assert_eq!(refiner.map(|refiner| refiner.path), path.map(std::path::PathBuf::from), "{name}");
    }
}

#[test]
fn what_is_made_from_an_image_has_the_size_of_the_file() {
    let mut graph = graph();
    graph["5"] = json!({"class_type": "VAEEncode", "inputs": {"pixels": ["30", 0]}});
    graph["30"] = json!({"class_type": "LoadImage", "inputs": {"image": "a.png"}});
    graph["3"]["inputs"]["denoise"] = json!(0.6);
    let restored = read_png(&[("prompt", &graph.to_string())]).unwrap();
    let request = &restored.settings.request;
    assert_eq!((request.width, request.height), (4, 4));
    assert!(
        restored.notes.iter().any(|note| note.contains("made from an input image")),
        "{:?}",
        restored.notes
    );
    graph["31"] =
        json!({"class_type": "ImageScale", "inputs": {"width": 640, "height": 384, "image": ["30", 0]}});
    graph["5"]["inputs"]["pixels"] = json!(["31", 0]);
    let request = read_png(&[("prompt", &graph.to_string())]).unwrap().settings.request;
    assert_eq!((request.width, request.height), (640, 384));
}

#[test]
fn steps_are_those_of_any_schedule_and_prompts_come_through_any_node() {
    let graph = json!({
        "13": {"class_type": "SamplerCustomAdvanced", "inputs": {"noise": ["25", 0], "guider": ["22", 0],
            "sampler": ["16", 0], "sigmas": ["18", 0], "latent_image": ["27", 0]}},
        "16": {"class_type": "KSamplerSelect", "inputs": {"sampler_name": "euler"}},
        "17": {"class_type": "Flux2Scheduler", "inputs": {"steps": 28, "width": 64, "height": 64}},
        "18": {"class_type": "SplitSigmas", "inputs": {"sigmas": ["17", 0], "step": 3}},
        "22": {"class_type": "CFGGuider", "inputs": {"model": ["12", 0], "cfg": 5.5, "positive": ["26", 0],
            "negative": ["26", 1]}},
        "25": {"class_type": "RandomNoise", "inputs": {"noise_seed": ["40", 0]}},
        "26": {"class_type": "InstructPixToPixConditioning", "inputs": {"positive": ["28", 0], "negative": ["7", 0]}},
        "27": {"class_type": "EmptyFlux2LatentImage", "inputs": {"width": 832, "height": 1216}},
        "28": {"class_type": "GLIGENTextboxApply", "inputs": {"text": "sun", "conditioning_to": ["6", 0]}},
        "6": {"class_type": "TextEncodeSomething", "inputs": {"user_prompt": "a boat"}},
        "7": {"class_type": "CLIPTextEncode", "inputs": {"text": "fog"}},
        "12": {"class_type": "ModelMergeSimple", "inputs": {"model1": ["14", 0], "model2": ["15", 0]}},
        "14": {"class_type": "UNETLoader", "inputs": {"unet_name": "boats_v3.safetensors"}},
        "15": {"class_type": "UNETLoader", "inputs": {"unet_name": "other.safetensors"}},
        "40": {"class_type": "PrimitiveInt", "inputs": {"value": 42}},
    });
    let restored = read_png(&[("prompt", &graph.to_string())]).unwrap();
    assert_boat(&restored, Origin::ComfyUi);
    assert_eq!(restored.settings.model_name, "boats_v3");
    let mut dual = graph;
    dual["22"] = json!({"class_type": "DualCFGGuider", "inputs": {"model": ["12", 0], "cfg_conds": 5.5,
        "cfg_cond2_negative": 1.5, "cond1": ["26", 0], "cond2": ["7", 0], "negative": ["26", 1]}});
    assert_boat(&read_png(&[("prompt", &dual.to_string())]).unwrap(), Origin::ComfyUi);
}

#[test]
fn a_workflow_alone_is_read_too() {
    let workflow = json!({
        "nodes": [
            {"id": 3, "type": "KSampler", "mode": 0, "widgets_values": [42, "randomize", 28, 5.5, "euler", "normal", 1],
             "inputs": [{"name": "model", "link": 1}, {"name": "positive", "link": 4}, {"name": "negative", "link": 6}]},
            {"id": 4, "type": "CheckpointLoaderSimple", "widgets_values": ["boats_v3.safetensors"]},
            {"id": 5, "type": "EmptyLatentImage", "widgets_values": [832, 1216, 1]},
            {"id": 6, "type": "CLIPTextEncode", "widgets_values": ["a boat"]},
            {"id": 7, "type": "CLIPTextEncode", "widgets_values": ["fog"]},
            {"id": 8, "type": "LoraLoaderModelOnly", "widgets_values": ["ink.safetensors", 0.5],
             "inputs": [{"name": "model", "link": 2}]},
            {"id": 9, "type": "EmptyLatentImage", "mode": 4, "widgets_values": [64, 64, 1]},
        ],
        "links": [[1, 8, 0, 3, 0, "MODEL"], [2, 4, 0, 8, 0, "MODEL"], [4, 6, 0, 3, 1, "CONDITIONING"],
            [6, 7, 0, 3, 2, "CONDITIONING"]],
    });
    let restored = read_png(&[("workflow", &workflow.to_string())]).unwrap();
    assert_boat(&restored, Origin::ComfyUi);
    assert_eq!(restored.settings.request.prompt, "a boat <lora:ink:0.5>");
    assert_eq!(restored.settings.model_name, "boats_v3");
}

#[test]
fn anything_else_is_an_error_and_never_a_panic() {
    for (name, text) in [
        ("invokeai_metadata", "[]"),
        ("sd-metadata", "{\"image\": 3}"),
        ("Dream", "-s"),
        ("Comment", "{\"uc\": 1, \"scale\": 2, \"steps\": []}"),
        ("prompt", "{\"1\": {\"class_type\": 3}}"),
        ("workflow", "{\"nodes\": [{\"id\": 1}], \"links\": {}}"),
        ("XML:com.adobe.xmp", "exif:UserComment}{</exif:UserComment>"),
        ("Comment", "made by hand"),
    ] {
        let read = read_png(&[(name, text)]);
        assert!(
            read.as_ref().is_err() || read.as_ref().is_ok_and(|read| read.settings.seed == 0),
            "{name}: {read:?}"
        );
    }
}
