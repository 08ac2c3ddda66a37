//! Copying the program to another computer: this one, behind a script in the place of ssh.

use std::{os::unix::fs::PermissionsExt as _, path::PathBuf};

use sluice_engine::units;

use super::*;

/// A computer with a home folder, which a script in the place of ssh reaches.
struct There {
    folder: TempDir,
}

impl There {
    fn new() -> Self {
        let there = Self { folder: TempDir::new().unwrap() };
        fs::create_dir_all(there.bin()).unwrap();
        fs::create_dir_all(there.home()).unwrap();
        let [home, bin] = [there.home(), there.bin()].map(|path| path.display().to_string());
        // It has no source tree.
        let variables = format!("-u SLUICE_ASSETS SLUICE_SOURCE_TREE=0 HOME='{home}' PATH='{bin}':\"$PATH\"");
        there.write("ssh", &format!("shift 2; exec env {variables} sh -c \"$*\""));
        there
    }

    fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// Programs that stand before others there.
    fn bin(&self) -> PathBuf {
        self.folder.path().join("bin")
    }

    fn write(&self, name: &str, lines: &str) {
        let path = if name == "ssh" { self.folder.path().join(name) } else { self.bin().join(name) };
        fs::write(&path, format!("#!/bin/sh\n{lines}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn deploy(&self, further: &[&str]) -> Output {
        let ssh = self.folder.path().join("ssh").display().to_string();
        run(self.folder.path(), &[&["deploy", "attic", "--ssh", &ssh], further].concat())
    }
}

#[test]
fn a_program_is_copied_once_and_is_an_engine_there() {
    let there = There::new();
    let output = there.deploy(&[]);
    assert_fine(&output);
    let copy = there.home().join(".local/bin/sluice");
    assert!(
        stderr(&output).contains("copying sluice, ") && stderr(&output).contains("100%"),
        "{}",
        stderr(&output)
    );
    assert!(fs::read(&copy).unwrap() == fs::read(env!("CARGO_BIN_EXE_sluice")).unwrap());
    let engine = stdout(&output).trim().to_owned();
    let ssh = there.folder.path().join("ssh");
    assert_eq!(engine, format!("{} -T attic {} worker", ssh.display(), copy.display()));
    assert_fine(&draw(there.folder.path(), &["--output", "far.png", "--engine", &engine]));
    assert_fine(&draw(there.folder.path(), &["--output", "near.png"]));
    let read = |name: &str| fs::read(there.folder.path().join(name)).unwrap();
    assert_eq!(read("far.png"), read("near.png"));
    // That was the starter in its own assets.
    let assets = there.home().join(".local/share/sluice/assets");
    let away = there.home().join("away");
    fs::rename(&assets, &away).unwrap();
    let missing = draw(there.folder.path(), &["--quiet", "--output", "far.png", "--engine", &engine]);
    assert_fails(&missing, "starter is part of Sluice but was not found in ", "Reinstall Sluice");
    fs::rename(&away, &assets).unwrap();

    let again = there.deploy(&[]);
    assert_fine(&again);
    assert!(
        stderr(&again).contains("is already there") && !stderr(&again).contains("copying"),
        "{}",
        stderr(&again)
    );
    assert_eq!(stdout(&again).trim(), engine);
    // Another version is replaced, even while it runs.
    fs::write(&copy, "an older version").unwrap();
    let again = there.deploy(&["--quiet"]);
    assert_fine(&again);
    assert_eq!(stderr(&again), "");
    assert!(fs::read(&copy).unwrap() == fs::read(env!("CARGO_BIN_EXE_sluice")).unwrap());
    assert!(!there.home().join(".local/bin/sluice.part").exists());
}

#[test]
fn of_what_comes_with_it_only_what_is_missing_is_copied() {
    let there = There::new();
    assert_fine(&there.deploy(&["--no-models"]));
    let assets = there.home().join(".local/share/sluice/assets");
    assert!(assets.join("tokenizers/qwen2/merges.txt.gz").is_file() && !assets.join("starter").exists());
    let output = there.deploy(&[]);
    assert_fine(&output);
    for name in ["starter/starter.toml", "starter-clip/starter.toml"] {
        assert!(assets.join(name).is_file(), "{name}");
    }
    assert!(assets.join("upscaler/realesr-animevideov3-x4.safetensors").is_file());
    assert!(!assets.join("starter/training").exists());
    assert!(stderr(&output).contains("copying what comes with Sluice, "), "{}", stderr(&output));

    // An older one is replaced, and what had arrived before an interruption is used.
    let read = |name: &str| fs::read(assets.join(name)).unwrap();
    let (settings, list) = (read("starter/starter.toml"), read("starter/model_index.json"));
    fs::write(assets.join("starter/starter.toml"), "an older version").unwrap();
    fs::rename(assets.join("starter/model_index.json"), assets.join("starter/model_index.json.part"))
        .unwrap();
    let again = there.deploy(&[]);
    assert_fine(&again);
    let copied = format!("copying what comes with Sluice, {}", units::memory(settings.len() as u64));
    assert!(stderr(&again).contains(&copied), "{}", stderr(&again));
    assert_eq!((read("starter/starter.toml"), read("starter/model_index.json")), (settings, list));

    // One that arrives damaged replaces nothing.
    fs::write(assets.join("starter/starter.toml"), "an older version").unwrap();
    there.write("cat", "head -c 10; exec /bin/cat >/dev/null");
    let damaged = there.deploy(&["--quiet"]);
    let what = format!("{} arrived on attic with other bytes", assets.join("starter/starter.toml").display());
    assert_fails(&damaged, &what, "Try again");
    assert_eq!(read("starter/starter.toml"), b"an older version");
    assert!(!assets.join("starter/starter.toml.part").exists());
}

/// As on a computer that has the program alone.
#[test]
fn what_is_not_here_is_left_out() {
    let there = There::new();
    let ssh = there.folder.path().join("ssh").display().to_string();
    let program = there.folder.path().join("sluice");
    fs::hard_link(env!("CARGO_BIN_EXE_sluice"), &program)
        .or_else(|_| fs::copy(env!("CARGO_BIN_EXE_sluice"), &program).map(drop))
        .unwrap();
    let mut alone = Command::new(&program);
    alone.args(["deploy", "attic", "--no-models", "--ssh", &ssh]).stdin(Stdio::null());
    let output = alone
        .env("HOME", there.folder.path())
        .env("SLUICE_SOURCE_TREE", "0")
        .env_remove("SLUICE_ASSETS")
        .output()
        .unwrap();
    assert_fine(&output);
    assert!(stderr(&output).contains("left out: tokenizers is part of Sluice"), "{}", stderr(&output));
    assert!(there.home().join(".local/bin/sluice").is_file());
    assert!(!there.home().join(".local/share/sluice/assets").exists());
}

#[test]
fn an_engine_there_that_does_not_greet_as_this_one_is_refused() {
    let there = There::new();
    let home = there.home().display().to_string();
    // What answers to `worker` is another program.
    there.write("ssh", &format!(
        "shift 2; case \"$*\" in *'</dev/null; echo \"ended'*) echo Hi; echo ended with 0 >&2; exit;; esac\n\
         exec env -u SLUICE_ASSETS SLUICE_SOURCE_TREE=0 HOME='{home}' sh -c \"$*\""
    ));
    let what = format!(
        "{} on attic leads to an engine that cannot be used: ",
        there.home().join(".local/bin/sluice").display()
    );
    assert_fails(&there.deploy(&["--quiet", "--no-models"]), &what, "Look which sluice-cuda is beside it");
}

#[test]
fn a_folder_with_spaces_is_named_so_that_every_shell_understands() {
    let there = There::new();
    let output = there.deploy(&["--to", "it's mine/bin"]);
    assert_fine(&output);
    assert!(there.home().join("it's mine/bin/sluice").is_file());
    let engine = stdout(&output).trim().to_owned();
    assert_fine(&draw(there.folder.path(), &["--output", "far.png", "--engine", &engine]));
}

#[test]
fn what_goes_wrong_there_is_said_and_nothing_is_replaced() {
    let there = There::new();
    fs::create_dir_all(there.home().join(".local/bin")).unwrap();
    let copy = there.home().join(".local/bin/sluice");
    fs::write(&copy, "an older version").unwrap();
    let uname = Command::new("uname").arg("-sm").output().unwrap();
    there.write("uname", "echo Linux riscv64");
    let what = format!("this program is for {}, and attic is Linux riscv64", stdout(&uname).trim());
    assert_fails(&there.deploy(&["--quiet"]), &what, "Install Sluice there from its own package");

    there.write("uname", &format!("echo '{}'", stdout(&uname).trim()));
    // A disk that keeps less than it is given.
    there.write("cat", "head -c 1000; exec /bin/cat >/dev/null");
    let what = format!("{} arrived on attic with other bytes than it was sent with", copy.display());
    assert_fails(&there.deploy(&["--quiet"]), &what, "Try again");
    assert_eq!(fs::read_to_string(&copy).unwrap(), "an older version");
    assert!(!there.home().join(".local/bin/sluice.part").exists());

    there.write("cat", "echo 'No space left on device' >&2; exit 1");
    let what = "writing the file on attic failed: No space left on device";
    assert_fails(&there.deploy(&["--quiet"]), what, "Try to log in with ssh yourself");

    there.write("ssh", "echo 'Could not resolve hostname attic' >&2; exit 255");
    let what = "looking what it is on attic failed: Could not resolve hostname attic";
    assert_fails(&there.deploy(&["--quiet"]), what, "Try to log in with ssh yourself");

    let folder = there.folder.path();
    let missing = run(folder, &["deploy", "attic", "--ssh", "no-such-ssh"]);
    assert_fails(&missing, "no-such-ssh cannot be started", "Install OpenSSH");
    let option = run(folder, &["deploy", "--", "-oProxyCommand=x"]);
    assert_fails(&option, "-oProxyCommand=x is no name of a computer", "Write it as for ssh");
}
