//! Engines elsewhere: behind commands that lead to this computer, with folders of their own.

use super::*;

/// The command of an engine with its own home folder.
fn engine(home: &Path) -> String {
    format!("env HOME='{}' '{}' worker", home.display(), env!("CARGO_BIN_EXE_sluice"))
}

/// The files below a folder.
fn files_in(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { found.push(path.display().to_string()) }
        }
    }
    found
}

#[test]
fn images_of_an_engine_elsewhere_have_the_bytes_of_one_here() {
    let (here, there) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let (folder, engine) = (here.path(), engine(there.path()));
    assert_fine(&draw(folder, &["--output", "fox.png"]));
    assert_fine(&draw(folder, &["--output", "sent.png", "--engine", &engine]));
    let read = |name: &str| fs::read(folder.join(name)).unwrap();
    assert_eq!(read("fox.png"), read("sent.png"));

    // An input, and a batch.
    let input = ["--init-image", "fox.png", "--strength", "0.6", "--batch-size", "2"];
    assert_fine(&draw(folder, &[&input[..], &["--output", "a.png"]].concat()));
    let output = draw(folder, &[&input[..], &["--output", "b.png", "--engine", &engine]].concat());
    assert_fine(&output);
    assert_eq!(stdout(&output).lines().collect::<Vec<_>>(), ["b.png", "b-2.png"]);
    assert_eq!(read("a.png"), read("b.png"));
    assert_eq!(read("a-2.png"), read("b-2.png"));
    assert_ne!(read("a.png"), read("fox.png"));
    let settings = read_settings(&folder.join("b.png")).unwrap().settings;
    assert_eq!(settings.request.source.unwrap().path, Path::new("fox.png"));

    assert_fine(&run(folder, &["upscale", "fox.png", "--output", "large.png"]));
    assert_fine(&run(folder, &["upscale", "fox.png", "--output", "larger.png", "--engine", &engine]));
    assert_eq!(read("large.png"), read("larger.png"));

    let left = files_in(there.path());
    assert!(left.iter().all(|path| !path.contains("visits") && !path.ends_with(".png")), "{left:?}");
}

#[test]
fn the_environment_names_the_engine_and_an_empty_option_this_computer() {
    let (here, there) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let arguments = ["plan", "--json"];
    let with = |value: &str, arguments: &[&str]| {
        sluice(here.path(), arguments).env("SLUICE_ENGINE", value).output().unwrap()
    };
    assert_fine(&with(&engine(there.path()), &arguments));
    assert_fails(
        &with("no-such-program", &arguments),
        "the engine's command no-such-program cannot",
        "Check",
    );
    assert_fine(&with("no-such-program", &["plan", "--json", "--engine", ""]));
}

#[test]
fn models_of_an_engine_elsewhere_are_listed() {
    let (here, there) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let models = there.path().join("Sluice").join("models");
    fs::create_dir_all(&models).unwrap();
    let upscaler = Path::new(env!("CARGO_MANIFEST_DIR")).join("../assets/upscaler");
    let file = fs::read_dir(upscaler).unwrap().map(|entry| entry.unwrap().path());
    let file =
        file.into_iter().find(|path| path.extension().is_some_and(|end| end == "safetensors")).unwrap();
    fs::copy(&file, models.join("mine.safetensors")).unwrap();
    let output = run(here.path(), &["models", "--engine", &engine(there.path())]);
    assert_fine(&output);
    assert!(stdout(&output).contains(&models.display().to_string()), "{}", stdout(&output));
    assert!(stdout(&output).contains("mine.safetensors"), "{}", stdout(&output));
    let output = run(here.path(), &["models"]);
    assert_fine(&output);
    assert!(!stdout(&output).contains("mine.safetensors"), "{}", stdout(&output));

    // Of several, each.
    let others = here.path().join("Sluice").join("models");
    fs::create_dir_all(&others).unwrap();
    fs::copy(&file, others.join("ours.safetensors")).unwrap();
    let output = run(here.path(), &["models", "--engine", "", "--engine", &engine(there.path())]);
    assert_fine(&output);
    let other = engine(there.path());
    let words = ["this computer", "ours.safetensors", other.as_str(), "mine.safetensors"];
    let places = words.map(|word| stdout(&output).find(word));
    assert!(places.is_sorted() && places[0].is_some(), "{}", stdout(&output));
    let output = run(here.path(), &["models", "--json", "--engine", "", "--engine", "sh -c 'exit 3'"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let listed: Value = serde_json::from_str(stdout(&output)).unwrap();
    assert_eq!(listed.as_array().unwrap().len(), 1);
    assert_eq!(listed[0]["engine"], "this computer");
    // After the log.
    let said = stderr(&output).split_once("error: the engine sh -c 'exit 3' cannot be used: ").unwrap().1;
    let places = ["ended with code 3", "help: Run the command"].map(|word| said.find(word));
    assert!(places.is_sorted() && places[0].is_some(), "{said}");

    // One that is given up after others have answered does not get an answer of theirs.
    let late = "sh -c 'sleep 2; exit 3'";
    let engines = ["--engine", late, "--engine", other.as_str(), "--engine", ""];
    let output = run(here.path(), &[&["models", "--json"][..], &engines].concat());
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let listed: Value = serde_json::from_str(stdout(&output)).unwrap();
    let names: Vec<_> =
        listed.as_array().unwrap().iter().map(|one| one["engine"].as_str().unwrap()).collect();
    assert_eq!(names, [other.as_str(), "this computer"]);
    assert!(stderr(&output).contains(&format!("the engine {late} cannot be used")), "{}", stderr(&output));
    let output = run(here.path(), &["models", "--engine", late]);
    assert_fails(&output, "the engine's command ended before", "Run the command");
}

#[test]
fn commands_that_lead_to_no_engine_are_explained() {
    let folder = TempDir::new().unwrap();
    let ask = |engine: &str| draw(folder.path(), &["--output", "x.png", "--engine", engine]);
    let what = "the engine's command no-such-program cannot be started";
    assert_fails(&ask("no-such-program worker"), what, "Check the name of the program");
    let what = "the engine's command ended before the engine answered: the engine's command ended with code 255: \
                ssh: connect to host there\nport 22: refused";
    let script = "sh -c 'echo ssh: connect to host there >&2; echo port 22: refused >&2; exit 255'";
    assert_fails(&ask(script), what, "Run the command in a terminal");
    let what = "the engine's command wrote something else than an engine does: Welcome to this computer";
    assert_fails(&ask("sh -c 'echo Welcome to this computer; sleep 20'"), what, "What a shell prints");
    let greeting = format!("sh -c 'echo Hi there; exec \"{}\" worker'", env!("CARGO_BIN_EXE_sluice"));
    let what = "the engine's command wrote something else than an engine does: Hi there";
    assert_fails(&ask(&greeting), what, "What a shell prints");
    assert_fails(&ask("ssh 'host"), "the engine's command has a quotation mark too few", "Write it as");
}

#[test]
fn what_an_engine_elsewhere_cannot_do_is_said() {
    let (here, there) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let (folder, engine) = (here.path(), engine(there.path()));
    let dump = draw(folder, &["--output", "x.png", "--dump", "all.safetensors", "--engine", &engine]);
    assert_fails(&dump, "all.safetensors cannot be written by an engine elsewhere", "Leave the report out");
    let loras = draw(folder, &["--lora-folder", "loras", "--engine", &engine]);
    assert_fails(&loras, "the engine does not see loras", "Leave out --lora-folder");
    let model = ["--model", "/no/such/model", "--output", "x.png", "--engine", &engine];
    assert_eq!(draw(folder, &model).status.code(), Some(1));
    assert!(!folder.join("x.png").exists());
}

#[test]
fn several_engines_share_the_prompts() {
    let (here, one, two) = (TempDir::new().unwrap(), TempDir::new().unwrap(), TempDir::new().unwrap());
    let folder = here.path();
    let prompts: Vec<String> = (0..5).map(|number| format!("{number} circles")).collect();
    let draw_all = |name: &str, engines: &[&str]| {
        let mut arguments =
            vec!["generate", "--steps", "2", "--width", "64", "--height", "64", "--seed", "7"];
        prompts.iter().for_each(|prompt| arguments.extend(["--prompt", prompt]));
        arguments.extend(["--output", name]);
        engines.iter().for_each(|engine| arguments.extend(["--engine", engine]));
        run(folder, &arguments)
    };
    assert_fine(&draw_all("here.png", &[]));
    let engines = [engine(one.path()), engine(two.path())];
    let output = draw_all("there.png", &[&engines[0], &engines[1]]);
    assert_fine(&output);
    assert_eq!(stdout(&output).lines().count(), 5);
    let mut files: Vec<String> = stdout(&output).lines().map(|path| path.replace("there", "here")).collect();
    files.sort();
    for file in &files {
        let read = |name: &str| fs::read(folder.join(name)).unwrap();
        assert_eq!(read(file), read(&file.replace("here", "there")), "{file}");
    }
    files.dedup();
    assert_eq!(files.len(), 5);
    // One that cannot be reached is left out.
    let output = draw_all("rest.png", &["sh -c 'sleep 1; exit 1'", &engines[0]]);
    assert_fine(&output);
    assert_eq!(stdout(&output).lines().count(), 5);
    // One may take long to be there: a cluster starts it when its turn comes.
    let late = format!("sh -c 'sleep 3; {}'", engines[0].replace('\'', ""));
    assert_fine(&draw(folder, &["--output", "late.png", "--engine", &late]));
    assert_fine(&draw(folder, &["--output", "early.png"]));
    assert_eq!(fs::read(folder.join("late.png")).unwrap(), fs::read(folder.join("early.png")).unwrap());
    // If none can be, that is said.
    let output = draw_all("none.png", &["sh -c 'exit 3'", "sh -c 'exit 4'"]);
    assert_fails(&output, "the engine's command ended before the engine answered", "Run the command");
}
