//! Settings of other video programs.

use std::{fs, path::Path};

use serde_json::json;
use tempfile::TempDir;

use super::{pixels, settings};
use crate::{
    output::{Clip, Codec, Media, Origin, OutputError, RestoredSettings, read_settings, write_media},
    request::{Sampler, Schedule},
};

fn movie_box(kind: &[u8], payload: &[u8]) -> Vec<u8> {
    [&(payload.len() as u32 + 8).to_be_bytes(), kind, payload].concat()
}

/// The `meta` box of a file by ffmpeg with `use_metadata_tags`.
fn named_texts(texts: &[(&str, &str)]) -> Vec<u8> {
    let handler = movie_box(b"hdlr", &[&[0; 8][..], b"mdta", &[0; 13]].concat());
    let names: Vec<u8> = texts.iter().flat_map(|(name, _)| movie_box(b"mdta", name.as_bytes())).collect();
    let keys = movie_box(b"keys", &[&[0, 0, 0, 0], &(texts.len() as u32).to_be_bytes()[..], &names].concat());
    let items: Vec<u8> = (1_u32..)
        .zip(texts)
        .flat_map(|(number, (_, text))| {
            let data = movie_box(b"data", &[&[0, 0, 0, 1, 0, 0, 0, 0], text.as_bytes()].concat());
            movie_box(&number.to_be_bytes(), &data)
        })
        .collect();
    movie_box(b"meta", &[vec![0; 4], handler, keys, movie_box(b"ilst", &items)].concat())
}

fn itunes_texts(texts: &[(&[u8; 4], &str)]) -> Vec<u8> {
    let handler = movie_box(b"hdlr", &[&[0; 8][..], b"mdirappl", &[0; 9]].concat());
    let items: Vec<u8> = texts
        .iter()
        .flat_map(|(name, text)| {
            let data = movie_box(b"data", &[&[0, 0, 0, 1, 0, 0, 0, 0], text.as_bytes()].concat());
            movie_box(*name, &data)
        })
        .collect();
    movie_box(b"meta", &[vec![0; 4], handler, movie_box(b"ilst", &items)].concat())
}

/// A file without frames, `moov` last as ffmpeg writes it.
fn read_movie(meta: &[u8]) -> Result<RestoredSettings, OutputError> {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.mp4");
    let moov = movie_box(b"moov", &movie_box(b"udta", meta));
    fs::write(&path, [movie_box(b"ftyp", b"isom\0\0\0\0"), movie_box(b"mdat", &[7; 99]), moov].concat())
        .unwrap();
    read_settings(&path)
}

#[test]
fn a_graph_of_comfy_ui_is_read_as_far_as_it_goes() {
    let graph = json!({
        "3": {"class_type": "KSamplerAdvanced", "inputs": {
            "add_noise": "disable", "noise_seed": 0, "steps": 20, "cfg": 3.5, "sampler_name": "euler",
            "scheduler": "simple", "positive": ["6", 0], "negative": ["7", 0]}},
        "4": {"class_type": "KSamplerAdvanced", "inputs": {
            "add_noise": "enable", "noise_seed": 424242, "steps": 20, "cfg": 3.5, "sampler_name": "uni_pc",
            "scheduler": "simple", "positive": ["50", 0], "negative": ["50", 1]}},
        "50": {"class_type": "WanImageToVideo", "inputs": {
            "width": 832, "height": 480, "length": 81, "positive": ["6", 0], "negative": ["7", 0]}},
        "6": {"class_type": "CLIPTextEncode", "inputs": {"text": "a boat", "clip": ["38", 0]}},
        "7": {"class_type": "CLIPTextEncode", "inputs": {"text": ["8", 0], "clip": ["38", 0]}},
        "8": {"class_type": "PrimitiveString", "inputs": {"value": "fog"}},
        "37": {"class_type": "UNETLoader", "inputs": {"unet_name": "wan\\wan2.2_high_noise.safetensors"}},
        "57": {"class_type": "CreateVideo", "inputs": {"fps": 24, "images": ["8", 0]}},
    })
    .to_string();
    let in_comment = json!({"prompt": graph, "workflow": {}}).to_string();
    for texts in
        [vec![("workflow", "{}"), ("prompt", graph.as_str())], vec![("comment", in_comment.as_str())]]
    {
        let restored = read_movie(&named_texts(&texts)).unwrap();
        assert_eq!(restored.origin, Origin::ComfyUi);
        let request = restored.settings.request;
        assert_eq!((request.prompt.as_str(), request.negative_prompt.as_str()), ("a boat", "fog"));
        assert_eq!((request.width, request.height, request.frames, request.frame_rate), (832, 480, 81, 24.0));
        assert_eq!((request.seed, request.steps, request.guidance), (424_242, 20, 3.5));
        assert_eq!((request.sampler, request.schedule), (Sampler::UniPc, Schedule::Simple));
        assert_eq!(restored.settings.model_name, "wan2.2_high_noise");
        assert_eq!(restored.notes, [""; 0]);
    }
    let looped = json!({
        "1": {"class_type": "KSampler", "inputs": {"positive": ["2", 0], "seed": ["2", 0], "sampler_name": "new"}},
        "2": {"class_type": "Conditioning", "inputs": {"positive": ["1", 0]}},
    });
    let restored = read_movie(&named_texts(&[("prompt", &looped.to_string())])).unwrap();
    assert_eq!(restored.settings.request.prompt, "");
    assert_eq!(restored.notes, ["The sampler “new” is not available; Euler is used instead."]);
}

#[test]
fn settings_of_wan2gp_are_read() {
    let json = json!({
        "type": "WanGP v9.1 by DeepBeepMeep", "prompt": "a boat", "negative_prompt": "fog",
        "resolution": "1280x704", "video_length": 121, "seed": 99, "num_inference_steps": 30,
        "guidance_scale": 5, "sample_solver": "unipc", "model_type": "ti2v_2_2", "image_start": "a.png",
    });
    let restored = read_movie(&itunes_texts(&[(b"\xA9cmt", &json.to_string())])).unwrap();
    assert_eq!(restored.origin, Origin::Wan2Gp);
    let request = restored.settings.request;
    assert_eq!((request.width, request.height, request.frames, request.steps), (1280, 704, 121, 30));
    assert_eq!((request.prompt.as_str(), request.seed, request.guidance), ("a boat", 99, 5.0));
    assert_eq!((request.sampler, restored.settings.model_name.as_str()), (Sampler::UniPc, "ti2v_2_2"));
    assert_eq!(restored.notes, ["This clip was made from a start image, which is not restored."]);
}

#[test]
fn settings_beside_a_clip_are_read() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("clip.webm");
    fs::write(&path, b"\x1A\x45\xDF\xA3 anything").unwrap();
    assert!(matches!(read_settings(&path), Err(OutputError::NotMedia { .. })));
    let json = json!({"sui_image_params": {
        "prompt": "a boat", "negativeprompt": "fog", "model": "Wan/wan2.1.safetensors", "seed": "12",
        "steps": 20, "cfgscale": 6.0, "width": 832, "height": 480, "sampler": "euler", "scheduler": "simple",
        "text2videoframes": 49, "text2videofps": 16}});
    fs::write(folder.path().join("clip.swarm.json"), json.to_string()).unwrap();
    let restored = read_settings(&path).unwrap();
    assert_eq!(restored.origin, Origin::SwarmUi);
    let request = restored.settings.request;
    assert_eq!((request.seed, request.frames, request.frame_rate, request.guidance), (12, 49, 16.0, 6.0));
    assert_eq!((request.schedule, restored.settings.model_name.as_str()), (Schedule::Simple, "wan2.1"));
    // What is inside a clip comes first.
    let own = folder.path().join("clip.mp4");
    let media = Media::Clip(Clip::silent(vec![pixels(16, 16); 2], 8.0));
    write_media(&own, &media, &settings("ours", ""), Codec::H264).unwrap();
    assert_eq!(read_settings(&own).unwrap().settings.request.prompt, "ours");
}

#[test]
fn parameters_of_a1111_are_read_wherever_they_are() {
    let text =
        "a boat\nNegative prompt: fog\nSteps: 20, Sampler: Euler, CFG scale: 7, Seed: 1, Size: 512x512";
    for meta in [
        named_texts(&[("parameters", text)]),
        named_texts(&[("COMMENT", text)]),
        itunes_texts(&[(b"\xA9cmt", text)]),
    ] {
        let restored = read_movie(&meta).unwrap();
        assert_eq!((restored.origin, restored.settings.request.steps), (Origin::A1111, 20));
    }
    for meta in
        [named_texts(&[("comment", "my holidays")]), named_texts(&[("comment", "{\"a\": 1}")]), Vec::new()]
    {
        assert!(matches!(read_movie(&meta), Err(OutputError::NoSettings { .. })));
    }
    assert!(matches!(read_settings(Path::new("/nowhere/a.mp4")), Err(OutputError::Read { .. })));
}
