//! `sluice serve` and `sluice mcp` as their clients see them, also clients that are slow, wrong, many or gone.

#![cfg(test)]
#![cfg(feature = "serve")]

mod bad_clients;
mod client;
mod discreet;
mod mcp;
#[path = "../shared/models.rs"]
mod models;

use std::{fs, path::Path, thread};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use client::{Server, TOKEN, sluice};
use serde_json::{Value, json};
use sluice_engine::output::{Origin, read_settings};

/// A short request of A1111's interface.
fn small(prompt: &str) -> Value {
    json!({ "prompt": prompt, "width": 64, "height": 64, "steps": 2, "seed": 7, "cfg_scale": 2.0 })
}

fn bytes_of(image: &Value) -> Vec<u8> {
    BASE64_STANDARD.decode(image.as_str().unwrap()).unwrap()
}

fn pixels(bytes: &[u8]) -> image::RgbImage {
    image::load_from_memory(bytes).unwrap().into_rgb8()
}

/// What the command line generates with these arguments.
fn drawn(folder: &Path, further: &[&str]) -> image::RgbImage {
    let usual = [
        "generate",
        "--prompt",
        "a red circle",
        "--width",
        "64",
        "--height",
        "64",
        "--steps",
        "2",
        "--seed",
        "7",
        "--guidance",
        "2",
        "--threads",
        "1",
        "--output",
        "drawn.png",
    ];
    let output = sluice(folder, &[&usual[..], further].concat()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    pixels(&fs::read(folder.join("drawn.png")).unwrap())
}

/// A red picture, and a mask of its left half.
fn picture() -> Vec<u8> {
    png(|_| [200, 30, 30, 255])
}

fn png(pixel: impl Fn(u32) -> [u8; 4]) -> Vec<u8> {
    let mut bytes = std::io::Cursor::new(Vec::new());
    let picture = image::RgbaImage::from_fn(64, 64, |x, _| image::Rgba(pixel(x)));
    picture.write_to(&mut bytes, image::ImageFormat::Png).unwrap();
    bytes.into_inner()
}

#[test]
fn clients_of_a1111_get_the_images_of_the_command_line() {
    let server = Server::start(&[]);
    let drawn_here = drawn(server.folder.path(), &["--sampler", "euler-ancestral"]);
    let mut request = small("a red circle");
    request["sampler_name"] = json!("Euler a");
    request["s_churn"] = json!(3);
    let answer = server.post("/sdapi/v1/txt2img", &request).fine();
    let bytes = bytes_of(&answer["images"][0]);
    assert_eq!(pixels(&bytes), drawn_here);
    let info: Value = serde_json::from_str(answer["info"].as_str().unwrap()).unwrap();
    assert_eq!(info["all_seeds"], json!([7]));
    assert_eq!(info["sampler_name"], "Euler a");
    assert_eq!(info["warnings"], json!(["`s_churn` 3 has no effect here"]));
    let text = info["infotexts"][0].as_str().unwrap();
    assert!(text.starts_with("a red circle\nSteps: 2, Sampler: Euler a"), "{text}");
    // The file has its settings, and is not kept unless that is asked for.
    let file = server.folder.path().join("answer.png");
    fs::write(&file, &bytes).unwrap();
    let settings = read_settings(&file).unwrap();
    assert_eq!((settings.origin, settings.settings.seed), (Origin::Sluice, 7));
    assert!(!server.folder.path().join("results").exists());
    let read = server.post("/sdapi/v1/png-info", &json!({ "image": BASE64_STANDARD.encode(&bytes) })).fine();
    assert_eq!(read["info"], text);
}

#[test]
fn rounds_and_batches_have_further_seeds_and_may_be_kept() {
    let server = Server::start(&[]);
    let mut request = small("a red circle");
    (request["n_iter"], request["batch_size"], request["save_images"]) = (json!(2), json!(2), json!(true));
    let answer = server.post("/sdapi/v1/txt2img", &request).fine();
    let info: Value = serde_json::from_str(answer["info"].as_str().unwrap()).unwrap();
    assert_eq!(info["all_seeds"], json!([7, 8, 9, 10]));
    assert_eq!(fs::read_dir(server.folder.path().join("results")).unwrap().count(), 4);
    let images: Vec<_> = answer["images"].as_array().unwrap().iter().map(bytes_of).collect();
    assert!(images.iter().all(|image| images.iter().filter(|other| *other == image).count() == 1));
}

#[test]
fn images_are_changed_inpainted_and_enlarged() {
    let server = Server::start(&[]);
    let given = BASE64_STANDARD.encode(picture());
    let mask = BASE64_STANDARD.encode(png(|x| if x < 32 { [255; 4] } else { [0, 0, 0, 255] }));
    let mut request = small("a red circle");
    (request["init_images"], request["mask"]) =
        (json!([given]), json!(format!("data:image/png;base64,{mask}")));
    (request["mask_blur"], request["inpaint_full_res"], request["inpainting_fill"]) =
        (json!(0), json!(false), json!(1));
    let answer = server.post("/sdapi/v1/img2img", &request).fine();
    let image = pixels(&bytes_of(&answer["images"][0]));
    assert_eq!(*image.get_pixel(60, 30), image::Rgb([200, 30, 30]), "what is not masked stays");
    assert_ne!(*image.get_pixel(3, 30), image::Rgb([200, 30, 30]));
    assert_eq!(answer["parameters"]["init_images"], Value::Null, "pictures are not sent back");
    let inverted = {
        request["inpainting_mask_invert"] = json!(1);
        let answer = server.post("/sdapi/v1/img2img", &request).fine();
        pixels(&bytes_of(&answer["images"][0]))
    };
    assert_eq!(*inverted.get_pixel(3, 30), image::Rgb([200, 30, 30]));
    let enlarged = json!({ "image": given, "upscaling_resize": 2, "upscaler_1": "upscaler" });
    let answer = server.post("/sdapi/v1/extra-single-image", &enlarged).fine();
    assert_eq!(pixels(&bytes_of(&answer["image"])).dimensions(), (128, 128));
}

#[test]
fn clients_see_what_there_is_and_choose_the_model() {
    let server = Server::start(&[]);
    let titles = |path: &str, field: &str| -> Vec<String> {
        let list = server.get(path).fine();
        list.as_array().unwrap().iter().map(|one| one[field].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(titles("/sdapi/v1/sd-models", "title"), ["starter", "starter-clip"]);
    assert!(titles("/sdapi/v1/samplers", "name").contains(&"DPM++ 2M".to_owned()));
    assert!(titles("/sdapi/v1/schedulers", "label").contains(&"Karras".to_owned()));
    assert_eq!(titles("/sdapi/v1/upscalers", "name"), ["upscaler"]);
    assert_eq!(server.get("/sdapi/v1/loras").fine(), json!([]));
    assert_eq!(server.get("/sdapi/v1/options").fine()["sd_model_checkpoint"], "starter");
    let choose = |name: &str| server.post("/sdapi/v1/options", &json!({ "sd_model_checkpoint": name }));
    assert_eq!(choose("starter-clip").status, 200);
    assert_eq!(server.get("/sdapi/v1/options").fine()["sd_model_checkpoint"], "starter-clip");
    let wrong = choose("startr-clip");
    assert_eq!(wrong.status, 422);
    assert!(wrong.text().contains("Did you mean starter-clip?"), "{}", wrong.text());
    let openai = server.get("/v1/models").fine();
    assert_eq!(openai["data"][0]["id"], "starter");
}

#[test]
fn clients_of_openai_generate_and_edit() {
    let server = Server::start(&[]);
    let request = json!({
        "model": "starter", "prompt": "a red circle", "size": "64x64", "steps": 2, "seed": 7, "guidance": 2.0,
    });
    let answer = server.post("/v1/images/generations", &request).fine();
    let expected = drawn(server.folder.path(), &[]);
    assert_eq!(pixels(&bytes_of(&answer["data"][0]["b64_json"])), expected);
    assert_eq!((&answer["size"], &answer["output_format"]), (&json!("64x64"), &json!("png")));
    let mask = png(|x| if x < 32 { [0, 0, 0, 0] } else { [0, 0, 0, 255] });
    let mut body = Vec::new();
    for (name, value) in [("prompt", &b"a red circle"[..]), ("size", b"64x64"), ("steps", b"2"), ("n", b"1")]
    {
        body.extend(part(&format!("name=\"{name}\""), value));
    }
    body.extend(part("name=\"image\"; filename=\"a.png\"", &picture()));
    body.extend(part("name=\"mask\"; filename=\"b.png\"", &mask));
    body.extend(b"--edge--\r\n");
    let head =
        format!("Authorization: Bearer {TOKEN}\r\nContent-Type: multipart/form-data; boundary=edge\r\n");
    let answer = server.send("POST", "/v1/images/edits", &head, &body).fine();
    let image = pixels(&bytes_of(&answer["data"][0]["b64_json"]));
    assert_eq!(*image.get_pixel(60, 30), image::Rgb([200, 30, 30]), "what is opaque in the mask stays");
}

fn part(name: &str, value: &[u8]) -> Vec<u8> {
    let head = format!("--edge\r\nContent-Disposition: form-data; {name}\r\n\r\n");
    [head.as_bytes(), value, b"\r\n"].concat()
}

#[test]
fn jobs_tell_their_progress_until_their_results_can_be_fetched() {
    let server = Server::start(&[]);
    let order = json!({ "prompt": "a red circle", "width": 64, "height": 64, "steps": 3, "seed": 7, "format": "webp" });
    let accepted = server.post("/api/jobs", &order);
    assert_eq!(accepted.status, 202, "{}", accepted.text());
    let id = accepted.json()["id"].as_u64().unwrap();
    // The stream ends when the job does.
    let events = server.get(&format!("/api/jobs/{id}/events"));
    assert!(events.head.contains("text/event-stream"), "{}", events.head);
    let last = events.text().trim().rsplit("\n\n").next().unwrap();
    assert!(last.starts_with("event: done\ndata: "), "{}", events.text());
    let shown = server.get(&format!("/api/jobs/{id}")).fine();
    assert_eq!(shown["phase"], "done");
    assert_eq!(shown["results"][0]["seed"], 7);
    let path = shown["results"][0]["path"].as_str().unwrap();
    assert!(path.ends_with(".webp"), "{path}");
    let result = server.get(shown["results"][0]["url"].as_str().unwrap());
    assert!(result.head.contains("image/webp"), "{}", result.head);
    assert_eq!(result.body, fs::read(server.folder.path().join(path)).unwrap());
    assert_eq!(server.get("/api/jobs").fine()["jobs"].as_array().unwrap().len(), 1);
    assert_eq!(server.get("/api/jobs/77").status, 404);
    assert_eq!(server.get(&format!("/api/jobs/{id}/results/1")).status, 404);
}

#[test]
fn jobs_are_cancelled_and_interrupted() {
    let server = Server::start(&[]);
    let long = json!({ "prompt": "a red circle", "steps": 900 });
    let job = server.post("/api/jobs", &long).json()["id"].as_u64().unwrap();
    let next = server.post("/api/jobs", &long).json()["id"].as_u64().unwrap();
    server.wait_for_a_step();
    assert_eq!(server.get(&format!("/api/jobs/{next}")).fine()["position"], 1);
    for id in [next, job] {
        assert_eq!(server.ask("DELETE", &format!("/api/jobs/{id}"), None).status, 204);
    }
    server.wait_until_idle();
    for id in [job, next] {
        assert_eq!(server.get(&format!("/api/jobs/{id}")).fine()["phase"], "cancelled");
    }
    let mut request = small("a red circle");
    (request["steps"], request["n_iter"]) = (json!(900), json!(2));
    thread::scope(|scope| {
        let waiting = scope.spawn(|| server.post("/sdapi/v1/txt2img", &request).fine());
        server.wait_for_a_step();
        let progress = server.get("/sdapi/v1/progress").fine();
        assert!(progress["progress"].as_f64().unwrap() > 0.0);
        assert_eq!(progress["state"]["sampling_steps"], 900);
        assert!(!pixels(&bytes_of(&progress["current_image"])).is_empty());
        assert_eq!(server.ask("POST", "/sdapi/v1/interrupt", None).status, 200);
        let answer = waiting.join().unwrap();
        assert_eq!(answer["images"], json!([]), "both rounds end");
        assert!(answer["info"].as_str().unwrap().contains("\"interrupted\":true"));
    });
    server.wait_until_idle();
}

#[test]
fn what_does_not_fit_is_answered_with_what_would() {
    let server = Server::start(&["--card", "rtx-3060", "--offload", "none", "--vram-budget", "12MB"]);
    let request = json!({ "prompt": "a red circle", "width": 128, "height": 128 });
    let refused = server.post("/sdapi/v1/txt2img", &request);
    assert_eq!(refused.status, 422, "{}", refused.text());
    let json = refused.json();
    assert_eq!(json["error"], "OutOfMemoryError");
    let ways = json["fits"]["ways"].as_array().unwrap();
    assert!(!ways.is_empty(), "{json}");
    assert!(ways.iter().all(|way| way["device_bytes"].as_u64().unwrap() <= 12 << 20), "{json}");
    assert!(json["detail"].as_str().unwrap().contains("would fit"), "{json}");
    let openai =
        server.post("/v1/images/generations", &json!({ "prompt": "a red circle", "size": "128x128" }));
    assert_eq!((openai.status, &openai.json()["error"]["code"]), (400, &json!("does_not_fit")));
    let forecast = server.post("/api/forecast", &request).fine();
    assert_eq!(forecast["fits"], false);
    assert_eq!(forecast["would_fit"]["ways"], json["fits"]["ways"]);
    assert_eq!(server.post("/api/jobs", &request).status, 422);
}

#[test]
fn forecasts_are_those_of_the_command_line() {
    let server = Server::start_with_all_threads(&["--card", "rtx-3060"]);
    let forecast = server.post("/api/forecast", &json!({ "prompt": "a red circle" })).fine();
    let output =
        sluice(server.folder.path(), &["plan", "--prompt", "a red circle", "--card", "rtx-3060", "--json"])
            .output()
            .unwrap();
    let plan: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((forecast["fits"].as_bool(), &forecast["model"]), (Some(true), &plan["model"]));
    // Seconds follow the speed that this machine has at the moment.
    let memory = |words: &Value| words.as_str().unwrap().rsplit_once(", ").unwrap().0.to_owned();
    assert_eq!(memory(&forecast["in_words"]), memory(&plan["sentence"]));
}
