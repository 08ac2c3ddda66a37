//! A client of MCP, message by message.

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use serde_json::{Value, json};
use sluice_engine::{
    output::{Clip, Codec, Image, Media, read_settings, write_plain},
    request::{Area, Interval, Schedule},
};

use crate::{
    bytes_of,
    client::sluice,
    drawn,
    models::{write_hed, write_model},
    picture, pixels, png,
};

pub struct Client {
    process: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    number: u64,
    /// What was told while answers were awaited.
    told: Vec<Value>,
}

impl Client {
    fn start(folder: &Path, arguments: &[&str]) -> Self {
        let usual = ["mcp", "--threads", "1", "--output", "results"];
        Self::of(sluice(folder, &[&usual[..], arguments].concat()))
    }

    /// A client of a program.
    pub fn of(mut program: Command) -> Self {
        let mut process = program.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (process.stdin.take(), BufReader::new(process.stdout.take().unwrap()));
        let mut client = Self { process, input, output, number: 0, told: Vec::new() };
        let hello = client.ask(
            "initialize",
            json!({
                "protocolVersion": "2025-06-18", "capabilities": {},
                "clientInfo": { "name": "test", "version": "1" },
            }),
        );
        assert_eq!(hello["serverInfo"]["name"], "sluice");
        client.write(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        client
    }

    fn write(&mut self, message: &Value) {
        writeln!(self.input.as_mut().unwrap(), "{message}").unwrap();
    }

    fn read(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.number += 1;
        let number = self.number;
        self.write(&json!({ "jsonrpc": "2.0", "id": number, "method": method, "params": params }));
        loop {
            let message = self.read();
            if message["id"] == number {
                assert!(message["error"].is_null(), "{message}");
                return message["result"].clone();
            }
            self.told.push(message);
        }
    }

    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.ask(
            "tools/call",
            json!({ "name": tool, "arguments": arguments, "_meta": { "progressToken": 5 } }),
        )
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // The program ends when its client does.
        drop(self.input.take());
        let status = self.process.wait().unwrap();
        if !std::thread::panicking() {
            assert!(status.success(), "{status}");
        }
    }
}

#[test]
fn tools_generate_forecast_list_and_enlarge() {
    let folder = tempfile::tempdir().unwrap();
    let mut client = Client::start(folder.path(), &[]);
    let tools = client.ask("tools/list", json!({}));
    let names: Vec<&str> =
        tools["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["generate_image", "forecast", "list_models", "upscale", "map", "describe"]);

    let wanted = json!({
        "prompt": "a red circle", "width": 64, "height": 64, "steps": 2, "seed": 7, "guidance": 2.0,
    });
    let made = client.call("generate_image", wanted.clone());
    assert_eq!(made["isError"], false, "{made}");
    assert_eq!(made["content"][0]["mimeType"], "image/png");
    let bytes = bytes_of(&made["content"][0]["data"]);
    assert_eq!(pixels(&bytes), drawn(folder.path(), &[]));
    let told: Value = serde_json::from_str(made["content"][1]["text"].as_str().unwrap()).unwrap();
    let path = told["results"][0]["path"].as_str().unwrap();
    assert_eq!(fs::read(folder.path().join(path)).unwrap(), bytes);
    let steps = client.told.iter().filter(|message| message["method"] == "notifications/progress");
    assert!(steps.count() > 0, "{:?}", client.told);

    let forecast = client.call("forecast", wanted);
    let forecast: Value = serde_json::from_str(forecast["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(forecast["fits"], true);
    let models = client.call("list_models", json!({}));
    assert!(models["content"][0]["text"].as_str().unwrap().contains("\"starter\""), "{models}");

    // A picture by its path: the client runs for the same person.
    fs::write(folder.path().join("red.png"), picture()).unwrap();
    let enlarged = client.call("upscale", json!({ "image": "red.png", "scale": 2 }));
    assert_eq!(enlarged["isError"], false, "{enlarged}");
    assert_eq!(pixels(&bytes_of(&enlarged["content"][0]["data"])).dimensions(), (128, 128));
}

#[test]
fn maps_and_descriptions_are_made() {
    let folder = tempfile::tempdir().unwrap();
    let models = folder.path().join("models");
    write_hed(&models.join("hed.safetensors"));
    write_model(&models.join("Tiny-VL-Instruct"));
    fs::write(folder.path().join("red.png"), picture()).unwrap();
    let mut client = Client::start(folder.path(), &["--model-folder", models.to_str().unwrap()]);
    let text = |answer: &Value, place: usize| -> String {
        assert_eq!(answer["isError"], false, "{answer}");
        answer["content"][place]["text"].as_str().unwrap().to_owned()
    };
    let listed = client.call("list_models", json!({}));
    let listed: Value = serde_json::from_str(&text(&listed, 0)).unwrap();
    assert_eq!(listed["describers"][0]["name"], "Tiny-VL-Instruct");
    assert_eq!(listed["soft_edge_models"][0]["name"], "hed");

    for (preprocessor, pixel) in [("canny", 0), ("soft_edge", 127), ("canny", 0)] {
        let made = client.call("map", json!({ "image": "red.png", "preprocessor": preprocessor }));
        let told: Value = serde_json::from_str(&text(&made, 1)).unwrap();
        let map = pixels(&bytes_of(&made["content"][0]["data"]));
        assert_eq!(map.dimensions(), (64, 64));
        assert!(map.pixels().all(|own| own.0 == [pixel; 3]), "{preprocessor}");
        let path = folder.path().join(told["results"][0]["path"].as_str().unwrap());
        assert_eq!(pixels(&fs::read(path).unwrap()), map);
    }
    for name in ["map-canny.png", "map-canny-2.png"] {
        assert!(folder.path().join("results").join(name).exists(), "{name}");
    }

    let mut words = |seed: u64| {
        let asked = json!({ "images": ["red.png"], "instruction": "tags", "seed": seed });
        text(&client.call("describe", asked), 0)
    };
    let first = words(7);
    assert!(!first.is_empty());
    assert_eq!(words(7), first);
    assert_ne!(words(8), first);
}

#[test]
fn maps_that_need_no_network_are_cancelled_with_their_call() {
    let folder = tempfile::tempdir().unwrap();
    let frames = vec![Image::opaque(64, 48, vec![200; 3 * 64 * 48]); 1000];
    let clip = Media::Clip(Clip::silent(frames, 25.0));
    write_plain(&folder.path().join("long.mp4"), &clip, None, Codec::H264).unwrap();
    let mut client = Client::start(folder.path(), &[]);
    client.number += 1;
    let number = client.number;
    let call = json!({ "name": "map", "arguments": { "image": "long.mp4", "preprocessor": "canny" } });
    client.write(&json!({ "jsonrpc": "2.0", "id": number, "method": "tools/call", "params": call }));
    let cancelled = json!({ "requestId": number });
    client.write(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled }));
    client.call("list_models", json!({}));
    // The program waits a moment for what still runs.
    drop(client);
    assert!(!folder.path().join("results/map-canny.mp4").exists());
}

#[test]
fn a_call_takes_what_an_order_does() {
    let folder = tempfile::tempdir().unwrap();
    let styles = folder.path().join(".local/share/sluice/styles");
    fs::create_dir_all(&styles).unwrap();
    fs::write(styles.join("own.csv"), "name,prompt,negative_prompt\nFilm,\"film still of {prompt}\",\n")
        .unwrap();
    fs::write(folder.path().join("red.png"), picture()).unwrap();
    fs::write(folder.path().join("left.png"), png(|x| if x < 32 { [255; 4] } else { [0, 0, 0, 255] }))
        .unwrap();
    let mut client = Client::start(folder.path(), &[]);
    let listed = client.call("list_models", json!({}));
    let listed: Value = serde_json::from_str(listed["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(listed["styles"], json!(["Film"]));

    let order = json!({
        "prompt": "a red circle", "width": 64, "height": 64, "steps": 2, "seed": 7, "guidance": 2.0,
        "batch_size": 2, "styles": ["film"], "schedule": "Beta", "guidance_end": 0.5,
        "variation": { "seed": 3, "strength": 0.25 },
        "image": "red.png", "strength": 1, "mask": { "image": "left.png", "blur": 3, "inverted": true },
        "regions": [
            { "prompt": "a blue square", "box": [0, 0, 0.5, 1] },
            { "prompt": "a green star", "mask": "left.png", "weight": 2 },
        ],
        "region_base": 0.5,
    });
    let forecast = client.call("forecast", order.clone());
    assert_eq!(forecast["isError"], false, "{forecast}");
    let made = client.call("generate_image", order);
    assert_eq!(made["isError"], false, "{made}");
    let told: Value = serde_json::from_str(made["content"][2]["text"].as_str().unwrap()).unwrap();
    let path = folder.path().join(told["results"][1]["path"].as_str().unwrap());
    let request = read_settings(&path).unwrap().settings.request;
    assert_eq!((request.prompt.as_str(), request.schedule), ("film still of a red circle", Schedule::Beta));
    assert_eq!(request.guiding.interval, Interval { start: 0.0, end: 0.5 });
    assert_eq!(request.variation.unwrap().strength, 0.25);
    assert_eq!(request.source.unwrap().mask.unwrap().blur, 3);
    let [square, star] = &request.regions.all[..] else { panic!("{:?}", request.regions) };
    assert_eq!(square.area, Area::Box([0.0, 0.0, 0.5, 1.0]));
    assert_eq!((star.prompt.as_str(), star.area.mask().is_some(), star.weight), ("a green star", true, 2.0));
    assert_eq!(request.regions.base, 0.5);
}

#[test]
fn an_image_is_generated_with_hires_fix() {
    let folder = tempfile::tempdir().unwrap();
    let mut client = Client::start(folder.path(), &[]);
    let wanted = json!({
        "prompt": "a red circle", "width": 64, "height": 64, "steps": 2, "seed": 7,
        "hires": { "scale": 1.5, "upscaler": "latent" },
    });
    let made = client.call("generate_image", wanted);
    assert_eq!(made["isError"], false, "{made}");
    assert_eq!(pixels(&bytes_of(&made["content"][0]["data"])).dimensions(), (96, 96));
}

#[test]
fn what_cannot_be_done_is_said_to_the_model() {
    let folder = tempfile::tempdir().unwrap();
    let small = ["--card", "rtx-3060", "--offload", "none", "--vram-budget", "12MB"];
    let mut client = Client::start(folder.path(), &small);
    for (tool, arguments, words) in [
        ("generate_image", json!({ "prompt": "" }), "no prompt"),
        ("generate_image", json!({ "prompt": "a", "model": "startr" }), "Did you mean starter?"),
        ("generate_image", json!({ "prompt": "a", "promt": "b" }), "unknown field"),
        ("generate_image", json!({ "prompt": "a", "width": 63 }), "multiple"),
        ("generate_image", json!({ "prompt": "a", "width": 128, "height": 128 }), "would fit"),
        (
            "generate_image",
            json!({ "prompt": "a", "control_nets": [{ "model": "canny", "image": "red.png", "weight": 0.5 }] }),
            "no ControlNet named",
        ),
        (
            "generate_image",
            json!({ "prompt": "a", "image_prompts": [{ "adapter": "plus", "images": ["red.png"] }] }),
            "no IP-Adapter named",
        ),
        ("generate_image", json!({ "prompt": "a", "detailers": [{ "model": "face" }] }), "no detector named"),
        ("generate_image", json!({ "prompt": "a", "control": { "video": "walk" } }), "the control clip"),
        ("generate_image", json!({ "prompt": "a", "hires": { "scales": 2 } }), "unknown field"),
        ("generate_image", json!({ "prompt": "a", "refiner": { "model": "xl" } }), "no model named"),
        ("generate_image", json!({ "prompt": "a", "styles": ["film"] }), "no style named"),
        ("generate_image", json!({ "prompt": "a", "schedule": "Turbo" }), "no schedule named"),
        (
            "generate_image",
            json!({ "prompt": "a", "regions": [{ "box": [0, 0, 1, 1], "mask": "red.png" }] }),
            "a box or a mask",
        ),
        ("map", json!({ "image": "red.png", "preprocessor": "inpaint" }), "There are: canny, "),
        ("map", json!({ "image": "red.png", "preprocessor": "depth" }), "no depth model named"),
        ("map", json!({ "image": "missing.png", "preprocessor": "canny" }), "the image"),
        ("describe", json!({ "images": [] }), "no language model that sees images"),
        ("upscale", json!({ "image": "missing.png" }), "the image"),
        ("upscale", json!({}), "missing field"),
    ] {
        let answer = client.call(tool, arguments);
        let text = answer["content"][0]["text"].as_str().unwrap_or_default();
        assert!(answer["isError"] == true && text.contains(words), "{answer}");
    }
}
