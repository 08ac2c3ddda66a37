//! What the program keeps to itself: prompts stay out of the log, and no port is opened.

use tempfile::TempDir;

use super::{assert_fine, sluice, stderr};

#[test]
fn the_log_has_no_prompts_however_much_it_says() {
    let folder = TempDir::new().unwrap();
    let arguments = [
        "generate",
        "--prompt",
        "a zeppelin over Quito",
        "--negative-prompt",
        "clouds of mustard",
        "--steps",
        "1",
        "--width",
        "64",
        "--height",
        "64",
        "--output",
        "a.png",
    ];
    let output = sluice(folder.path(), &arguments).env("SLUICE_LOG", "trace").output().unwrap();
    assert_fine(&output);
    let log = stderr(&output);
    assert!(log.contains("TRACE") || log.contains("DEBUG"), "{log}");
    for word in ["zeppelin", "Quito", "mustard"] {
        assert!(!log.contains(word), "{log}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_run_listens_on_no_port() {
    use std::{collections::BTreeSet, fs};

    use super::start;

    let folder = TempDir::new().unwrap();
    let size = ["--width", "256", "--height", "256", "--steps", "1000", "--output", "a.png"];
    let (mut child, _story) = start(folder.path(), &size);
    let process = format!("/proc/{}", child.id());
    let open = fs::read_dir(format!("{process}/fd")).unwrap();
    let links = open.filter_map(|file| fs::read_link(file.unwrap().path()).ok());
    let own: BTreeSet<String> = links.map(|link| link.to_string_lossy().into_owned()).collect();
    let mut seen = 0;
    for table in ["tcp", "tcp6", "udp", "udp6"] {
        let Ok(sockets) = fs::read_to_string(format!("{process}/net/{table}")) else { continue };
        seen += 1;
        for socket in sockets.lines().skip(1) {
            let inode = socket.split_whitespace().nth(9).unwrap();
            assert!(!own.contains(&format!("socket:[{inode}]")), "{table}: {socket}");
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(seen > 0, "the tables of sockets cannot be read");
    assert!(own.iter().any(|link| link.starts_with("pipe:")), "{own:?}");
}
