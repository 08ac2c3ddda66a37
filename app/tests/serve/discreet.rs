//! What servers keep to themselves: prompts stay out of their logs.

use std::{
    fs::{self, File},
    path::Path,
};

use serde_json::json;

use crate::{
    client::{Server, sluice},
    mcp::Client,
    small,
};

const PROMPT: &str = "a zeppelin over Quito";
const NEGATIVE: &str = "clouds of mustard";

fn assert_discreet(log: &Path) {
    let log = fs::read_to_string(log).unwrap();
    assert!(log.contains("TRACE") || log.contains("DEBUG"), "{log}");
    for word in ["zeppelin", "Quito", "mustard"] {
        assert!(!log.contains(word), "{log}");
    }
}

#[test]
fn the_log_of_a_server_has_no_prompts() {
    let server = Server::start_with_log();
    let mut request = small(PROMPT);
    request["negative_prompt"] = json!(NEGATIVE);
    server.post("/sdapi/v1/txt2img", &request).fine();
    let order = json!({ "prompt": PROMPT, "size": "64x64", "response_format": "b64_json" });
    server.post("/v1/images/generations", &order).fine();
    assert_discreet(&server.folder.path().join("log"));
}

#[test]
fn the_log_of_a_server_of_mcp_has_no_prompts() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let mut command = sluice(folder.path(), &["mcp", "--threads", "1", "--output", "results"]);
    command.env("SLUICE_LOG", "trace").stderr(File::create(&log).unwrap());
    let mut client = Client::of(command);
    let order =
        json!({ "prompt": PROMPT, "negative_prompt": NEGATIVE, "width": 64, "height": 64, "steps": 1 });
    client.call("generate_image", order);
    drop(client);
    assert_discreet(&log);
}
