//! What the program keeps to itself: prompts stay out of the log, and no port is opened.

use std::{fs, path::Path};

use tempfile::TempDir;

use super::{assert_fine, models::write_model, sluice, stderr};

const PROMPT: &str = "a zeppelin over Quito";
const NEGATIVE: &str = "clouds of mustard";
const SMALL: [&str; 6] = ["--steps", "1", "--width", "64", "--height", "64"];

/// Runs a command that logs all that it can, and checks that no prompt is in it.
fn assert_discreet(folder: &Path, arguments: &[&str]) {
    let output = sluice(folder, arguments).env("SLUICE_LOG", "trace").output().unwrap();
    assert_fine(&output);
    let log = stderr(&output);
    assert!(log.contains("TRACE") || log.contains("DEBUG"), "{log}");
    for word in ["zeppelin", "Quito", "mustard"] {
        assert!(!log.contains(word), "{log}");
    }
}

fn generate(folder: &Path) {
    let prompts = ["generate", "--prompt", PROMPT, "--negative-prompt", NEGATIVE];
    assert_discreet(folder, &[&prompts[..], &SMALL, &["--output", "a.png"]].concat());
}

#[test]
fn the_log_has_no_prompts_however_much_it_says() {
    let folder = TempDir::new().unwrap();
    generate(folder.path());
}

#[test]
fn the_log_of_a_batch_has_no_prompts() {
    let folder = TempDir::new().unwrap();
    let job = serde_json::json!({
        "prompt": PROMPT, "negative_prompt": NEGATIVE, "width": 64, "height": 64, "steps": 1,
    });
    fs::write(folder.path().join("jobs.jsonl"), job.to_string()).unwrap();
    assert_discreet(folder.path(), &["batch", "jobs.jsonl", "--output", "results", "--quiet"]);
}

/// The prompts are in the settings of the image.
#[test]
fn the_log_of_an_upscaled_image_has_no_prompts() {
    let folder = TempDir::new().unwrap();
    generate(folder.path());
    assert_discreet(folder.path(), &["upscale", "a.png", "--scale", "1.5", "--quiet"]);
}

/// What an engine in a process of its own says is in the log of the program that started it.
#[cfg(unix)]
#[test]
fn the_log_of_an_engine_elsewhere_has_no_prompts() {
    let folder = TempDir::new().unwrap();
    let engine = format!("'{}' worker", env!("CARGO_BIN_EXE_sluice"));
    let prompts = ["generate", "--prompt", PROMPT, "--negative-prompt", NEGATIVE, "--engine", &engine];
    assert_discreet(folder.path(), &[&prompts[..], &SMALL, &["--output", "a.png"]].concat());
}

#[test]
fn the_log_of_a_better_prompt_does_not_have_the_one_given() {
    let folder = TempDir::new().unwrap();
    write_model(&folder.path().join("model"));
    assert_discreet(folder.path(), &["enhance", PROMPT, "--language-model", "model", "--max-tokens", "6"]);
}

#[test]
fn the_log_of_a_description_has_no_instruction() {
    let folder = TempDir::new().unwrap();
    write_model(&folder.path().join("model"));
    image::RgbImage::new(60, 40).save(folder.path().join("a.png")).unwrap();
    let usual = ["describe", "a.png", "--model", "model", "--max-tokens", "6"];
    assert_discreet(folder.path(), &[&usual[..], &["--instruction", PROMPT]].concat());
}

/// Sockets of running programs, which are looked at while they generate.
#[cfg(target_os = "linux")]
mod ports {
    use std::{
        collections::BTreeSet,
        fs,
        io::Write as _,
        process::{Child, Stdio},
    };

    use sluice_engine::{
        request::{PromptFolders, Request},
        session::{Command, Event, FromWorker, Hello, Job, JobId, ToWorker},
        wire::{read_record, write_record},
    };
    use tempfile::TempDir;

    use crate::{sluice, start};

    /// What a process has open: paths of files, and names of pipes and sockets.
    fn open_files(process: u32) -> BTreeSet<String> {
        let open = fs::read_dir(format!("/proc/{process}/fd")).unwrap();
        // Some are closed meanwhile.
        let links = open.filter_map(|file| fs::read_link(file.ok()?.path()).ok());
        links.map(|link| link.to_string_lossy().into_owned()).collect()
    }

    /// A process and those that it started.
    fn family(process: u32) -> Vec<u32> {
        let parent_of = |process: u32| -> Option<u32> {
            let status = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
            // The name, which may contain anything, is in brackets. Then come the state and the parent.
            status.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
        };
        let all = fs::read_dir("/proc")
            .unwrap()
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
        let children = all.filter(|other| parent_of(*other) == Some(process));
        [process].into_iter().chain(children).collect()
    }

    /// Checks that none of the processes has a socket of the internet, and ends the first of them.
    fn assert_no_port(mut child: Child, processes: &[u32]) {
        let mut seen = 0;
        for process in processes {
            let own = open_files(*process);
            assert!(own.iter().any(|link| link.starts_with("pipe:")), "{own:?}");
            for table in ["tcp", "tcp6", "udp", "udp6"] {
                let Ok(sockets) = fs::read_to_string(format!("/proc/{process}/net/{table}")) else {
                    continue;
                };
                seen += 1;
                for socket in sockets.lines().skip(1) {
                    let inode = socket.split_whitespace().nth(9).unwrap();
                    assert!(!own.contains(&format!("socket:[{inode}]")), "{table}: {socket}");
                }
            }
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(seen > 0, "the tables of sockets cannot be read");
    }

    #[test]
    fn a_run_listens_on_no_port() {
        let folder = TempDir::new().unwrap();
        let size = ["--width", "256", "--height", "256", "--steps", "1000", "--output", "a.png"];
        let (child, _story) = start(folder.path(), &size);
        let processes = family(child.id());
        assert_no_port(child, &processes);
    }

    #[test]
    fn a_worker_listens_on_no_port() {
        let folder = TempDir::new().unwrap();
        let mut command = sluice(folder.path(), &["worker"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        let mut output = child.stdout.take().unwrap();
        let request =
            Request { prompt: "x".to_owned(), width: 256, height: 256, steps: 1000, ..Request::default() };
        for message in [
            ToWorker::Hello(Hello::own()),
            ToWorker::Start {
                threads: Some(1),
                hardware: true,
                data: Some(folder.path().to_owned()),
                model_folders: Vec::new(),
                prompt_folders: PromptFolders::default(),
                visit: None,
            },
            ToWorker::Command(Box::new(Command::Generate(Box::new(Job::new(JobId(1), request))))),
        ] {
            write_record(&mut input, &message).unwrap();
        }
        input.flush().unwrap();
        loop {
            match read_record(&mut output).unwrap() {
                Some(FromWorker::Event(event)) if matches!(*event, Event::Step { .. }) => break,
                Some(FromWorker::Event(event)) => {
                    assert!(!matches!(*event, Event::Failed { .. }), "{event:?}");
                }
                Some(_) => {}
                None => panic!("it ended before the first step"),
            }
        }
        let processes = family(child.id());
        assert_no_port(child, &processes);
    }

    #[cfg(feature = "serve")]
    #[test]
    fn a_server_of_mcp_listens_on_no_port() {
        use std::io::{BufRead as _, BufReader};

        use serde_json::{Value, json};

        let folder = TempDir::new().unwrap();
        let mut command = sluice(folder.path(), &["mcp", "--threads", "1", "--output", "results"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        for message in [
            json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
                "protocolVersion": "2025-06-18", "capabilities": {},
                "clientInfo": { "name": "test", "version": "1" },
            } }),
            json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
            json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
                "name": "generate_image",
                "arguments": { "prompt": "x", "width": 256, "height": 256, "steps": 1000 },
                "_meta": { "progressToken": 5 },
            } }),
        ] {
            writeln!(input, "{message}").unwrap();
        }
        loop {
            let mut line = String::new();
            assert_ne!(output.read_line(&mut line).unwrap(), 0, "it ended before the first step");
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["method"] == "notifications/progress" {
                break;
            }
            assert_ne!(message["id"], 2, "{message}");
        }
        let processes = family(child.id());
        assert!(processes.len() > 1, "its engine is a process of its own");
        assert_no_port(child, &processes);
    }
}
