//! Downloads from a server on this computer.

use std::{fs, path::Path, process::Command};

use serde_json::Value;
use tempfile::TempDir;

use super::{assert_fails, assert_fine, json_lines, sluice, stderr, stdout};
use file_server::{Answer, FileServer};

#[path = "../../../tests/src/file_server.rs"]
#[allow(dead_code, missing_docs)]
mod file_server;

fn download(folder: &Path, server: &FileServer, arguments: &[&str]) -> Command {
    download_from(folder, &server.url(), arguments)
}

/// The program without the proxies, mirrors and tokens of this computer.
pub fn download_from(folder: &Path, endpoint: &str, arguments: &[&str]) -> Command {
    let mut command = sluice(folder, &["download"]);
    command.args(arguments).args(["--endpoint", endpoint]);
    for name in [
        "HTTPS_PROXY",
        "https_proxy",
        "HTTP_PROXY",
        "http_proxy",
        "ALL_PROXY",
        "all_proxy",
        "HF_ENDPOINT",
        "HF_TOKEN",
        "HF_HOME",
    ] {
        command.env_remove(name);
    }
    command
}

pub fn hub() -> FileServer {
    FileServer::start(|asked| match (asked.path.as_str(), asked.token.as_deref()) {
        ("/o/one/resolve/main/a.gguf", _) => Answer::file(b"some weights", asked),
        ("/api/models/o/one/tree/main?recursive=true", _) => {
            Answer::text(r#"[{"type":"file","path":"a.gguf","size":12}]"#)
        }
        ("/api/models/o/two/tree/main?recursive=true", _) => {
            Answer::text(r#"[{"type":"file","path":"a.gguf"},{"type":"file","path":"b.gguf"}]"#)
        }
        ("/api/models/o/gated/tree/main?recursive=true", Some("hf_right")) => {
            Answer::text(r#"[{"type":"file","path":"a.gguf","size":12}]"#)
        }
        ("/o/gated/resolve/main/a.gguf", Some("hf_right")) => Answer::file(b"some weights", asked),
        (path, None) if path.contains("gated") => Answer::status(401),
        (path, _) if path.starts_with("/api/models/o/") && !path.contains("tree") => Answer::text("{}"),
        _ => Answer::status(404),
    })
    .unwrap()
}

#[test]
fn a_file_is_downloaded_and_its_path_printed() {
    let (folder, server) = (TempDir::new().unwrap(), hub());
    let output = download(folder.path(), &server, &["o/one", "--to", "models"]).output().unwrap();
    assert_fine(&output);
    let path = folder.path().join("models/a.gguf");
    assert_eq!(stdout(&output).trim(), "models/a.gguf");
    assert_eq!(fs::read(&path).unwrap(), b"some weights");
    assert!(stderr(&output).contains("SHA-256"), "nobody knows the hash: {}", stderr(&output));

    let output =
        download(folder.path(), &server, &["o/one/a.gguf", "--to", "models", "--json"]).output().unwrap();
    assert_fine(&output);
    let last = json_lines(&output).pop().unwrap();
    assert_eq!((&last["event"], &last["files"][0]["was_here"]), (&Value::from("done"), &Value::from(true)));
    // Without a folder it goes into the home folder.
    assert_fine(&download(folder.path(), &server, &["o/one", "--quiet"]).output().unwrap());
    assert!(folder.path().join("Sluice/models/a.gguf").exists());
}

#[test]
fn faults_are_told_with_what_to_do() {
    let (folder, server) = (TempDir::new().unwrap(), hub());
    let fails = |arguments: &[&str], what: &str, help: &str| {
        let output = download(folder.path(), &server, arguments).output().unwrap();
        assert_fails(&output, what, help);
    };
    fails(&["o/two"], "o/two has 2 files; say which one", "Choose one of");
    fails(&["o/none"], "o/none is not on 127.0.0.1", "Check the name.");
    fails(
        &["z-imagee"],
        "“z-imagee” is neither a link nor the name of a repository",
        "Did you mean z-image?",
    );
    fails(&["o/one/a.ckpt"], "Sluice does not open a.ckpt", "Use files that end with");
    fails(
        &["o/gated"],
        "o/gated is only for people who are signed in",
        "Accept the conditions on https://huggingface.co/o/gated",
    );
    fails(&["z-image", "--format", "Q1"], "Z-Image Turbo does not come as Q1", "Use one of: bf16, Q4_K_M.");
    let mut nowhere = sluice(folder.path(), &["download", "o/one", "--endpoint", "http://127.0.0.1:9"]);
    nowhere.env_remove("HTTP_PROXY").env_remove("http_proxy").env_remove("ALL_PROXY").env_remove("all_proxy");
    assert_fails(&nowhere.output().unwrap(), "there is no connection to 127.0.0.1", "Check the connection");
}

#[test]
fn a_token_is_used_and_never_shown() {
    let (folder, server) = (TempDir::new().unwrap(), hub());
    let mut command = download(folder.path(), &server, &["o/gated", "--to", "m"]);
    let output = command
        .env("HF_TOKEN", "hf_right")
        .env("SLUICE_LOG", "trace,ureq_proto::util=trace")
        .output()
        .unwrap();
    assert_fine(&output);
    assert!(folder.path().join("m/a.gguf").exists());
    assert!(
        !stderr(&output).contains("hf_right") && !stdout(&output).contains("hf_right"),
        "{}",
        stderr(&output)
    );
    // Hugging Face's own program keeps a token in a file.
    let home = folder.path().join(".cache/huggingface");
    fs::create_dir_all(&home).unwrap();
    fs::write(home.join("token"), "hf_right\n").unwrap();
    assert_fine(&download(folder.path(), &server, &["o/gated", "--to", "n"]).output().unwrap());
}

#[test]
fn the_catalogue_is_listed_with_how_models_run() {
    let folder = TempDir::new().unwrap();
    let list = |arguments: &[&str]| {
        let output = sluice(folder.path(), &["download", "--list"]).args(arguments).output().unwrap();
        assert_fine(&output);
        output
    };
    let text = list(&["--card", "rtx-3060"]);
    let line = stdout(&text).lines().find(|line| line.starts_with("z-image ")).unwrap();
    assert!(
        line.contains("Q4_K_M") && line.contains("runs well, about") && line.contains("Apache 2.0"),
        "{line}"
    );
    let json = list(&["--card", "rtx-4090", "--json"]);
    let all: Vec<Value> = serde_json::from_str(stdout(&json)).unwrap();
    let flux = all.iter().find(|model| model["id"] == "flux.1-dev").unwrap();
    assert_eq!(flux["chosen"], "fp8");
    assert_eq!(flux["versions"][0]["files"][0]["bytes"], 23_802_932_552_u64);
}
