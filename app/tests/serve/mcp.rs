//! A client of MCP, message by message.

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Stdio},
};

use serde_json::{Value, json};

use crate::{bytes_of, client::sluice, drawn, picture, pixels};

struct Client {
    process: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    number: u64,
    /// What was told while answers were awaited.
    told: Vec<Value>,
}

impl Client {
    fn start(folder: &Path, arguments: &[&str]) -> Self {
        let mut process =
            sluice(folder, &[&["mcp", "--threads", "1", "--output", "results"][..], arguments].concat())
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
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

    fn call(&mut self, tool: &str, arguments: Value) -> Value {
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
    assert_eq!(names, ["generate_image", "forecast", "list_models", "upscale"]);

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
        ("upscale", json!({ "image": "missing.png" }), "the image"),
        ("upscale", json!({}), "missing field"),
    ] {
        let answer = client.call(tool, arguments);
        let text = answer["content"][0]["text"].as_str().unwrap_or_default();
        assert!(answer["isError"] == true && text.contains(words), "{answer}");
    }
}
