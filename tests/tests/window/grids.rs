//! Grids, variations and folders of input images.

use std::path::{Path, PathBuf};

use egui::{Key, Modifiers, PointerButton};
use egui_kittest::kittest::{NodeT as _, Queryable};
use sluice::window::{
    action::{Action, InputUse, Making},
    files::Dialog,
    settings::{OutputSettings, Setting},
    state::{Shown, State},
};
use sluice_engine::{
    output::{Codec, Media, Output, Settings, StillFormat, read_settings, write_media, write_png},
    request::{ReferenceSizes, References, Request},
    session::{Command, Event, Job, JobId, ModelSummary, Picture},
    source::ClipInfo,
};
use tempfile::TempDir;

use super::{
    input_image::photo,
    library::{models, opened},
    support::{Window, clip, half_way, landscape, starter},
};

pub fn state(window: &Window) -> &State {
    window.harness.state().state()
}

/// A window that saves its images in a folder.
pub fn with_folder() -> (Window, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_owned();
    let mut window = Window::open([1280.0, 800.0], egui::Theme::Dark, |setup| setup.folder = Some(path));
    window.says(Event::ModelLoaded(Box::new(starter())));
    window.take_commands();
    (window, folder)
}

pub fn jobs(window: &Window) -> Vec<Job> {
    let commands = window.take_commands().into_iter();
    let job = |command| match command {
        Command::Generate(job) => *job,
        other => panic!("{other:?}"),
    };
    commands.map(job).collect()
}

/// Chooses in a list, which is drawn last.
pub fn choose(window: &mut Window, list: &str, choice: &str) {
    window.click(list);
    window.harness.get_all_by_label(choice).last().unwrap().scroll_to_me();
    window.frames();
    window.harness.get_all_by_label(choice).last().unwrap().click();
    window.frames();
}

/// Chooses what varies along an axis.
pub fn vary(window: &mut Window, axis: &str, setting: &str, values: &str) {
    choose(window, axis, setting);
    window.fill(&format!("Values of {}", axis.to_lowercase()), values);
}

/// A job ends with an image in a file.
fn finish(window: &mut Window, folder: &TempDir, job: &Job) {
    let path = folder.path().join(format!("{}.png", job.id.0));
    let media = Media::Image(landscape(64, 64, job.id.0, 1.0));
    write_png(&path, &media, &Settings::new(&job.request, "Starter", "z_image", 0)).unwrap();
    window.says(Event::Started { job: job.id });
    let pictures = vec![Picture { media, seed: job.request.seed, path: Some(path) }];
    window.says(Event::Finished { job: job.id, pictures, seconds: 1.0 });
}

fn composed(folder: &TempDir) -> Vec<PathBuf> {
    let all = folder.path().read_dir().unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<_> = all.filter(|path| path.to_string_lossy().contains("-grid-")).collect();
    found.sort();
    found
}

fn ask(window: &mut Window) {
    window.fill("Prompt", "a red boat");
    window.click("Grid…");
    vary(window, "Columns", "Steps", "2, 4");
    vary(window, "Rows", "Words in the prompt", "red, blue");
}

/// Where the window is drawn slowly, a button is pressed and let go in one frame.
#[test]
fn keys_of_commands_change_nothing_behind_the_dialog() {
    let mut window = Window::with_starter();
    window.click("Grid…");
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::M);
    window.frames();
    assert!(!window.harness.state().state().library.is_open);
    window.harness.key_press(Key::Escape);
    window.frames();
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::M);
    window.frames();
    assert!(window.harness.state().state().library.is_open);
}

#[test]
fn a_list_is_in_front_of_its_dialog_after_a_quick_click() {
    let (mut window, _folder) = with_folder();
    window.click("Grid…");
    let pos = window.harness.get_by_label("Columns").rect().center();
    let button = |pressed| egui::Event::PointerButton {
        pos,
        button: PointerButton::Primary,
        pressed,
        modifiers: Modifiers::NONE,
    };
    let events = [egui::Event::PointerMoved(pos), button(true), button(false)];
    window.harness.input_mut().events.extend(events);
    window.frames();
    window.harness.get_all_by_label("Steps").last().unwrap().click();
    window.frames();
    assert!(window.harness.query_by_label("Values of columns").is_some(), "the click reached the list");
}

#[test]
fn a_grid_is_asked_for_queued_as_one_row_and_composed() {
    let (mut window, folder) = with_folder();
    ask(&mut window);
    assert!(window.shows("4 images · 2 × 2"));
    window.click("Generate grid");
    assert!(!window.shows("Generate grid"), "the dialog is closed");
    let all = jobs(&window);
    let made: Vec<_> = all.iter().map(|job| (job.request.steps, job.request.prompt.as_str())).collect();
    assert_eq!(made.len(), 4);
    for expected in [(2, "a red boat"), (4, "a red boat"), (2, "a blue boat"), (4, "a blue boat")] {
        assert!(made.contains(&expected), "{made:?}");
    }
    assert!(all.iter().all(|job| job.request.seed == all[0].request.seed));
    window.click("Queue 4");
    assert!(window.shows("Grid · 0 of 4"));
    for (done, job) in all.iter().enumerate() {
        assert_eq!(composed(&folder), Vec::<PathBuf>::new(), "after {done}");
        finish(&mut window, &folder, job);
    }
    window.wait_for("the grid", |app| app.state().messages.notice.is_some());
    let [path] = composed(&folder).try_into().unwrap();
    let kept = read_settings(&path).unwrap().settings;
    assert_eq!(kept.grid.unwrap().axes, ["steps: 2, 4", "prompt: red, blue", ""]);
    assert_eq!(kept.request.prompt, "a red boat");
    let Shown::Recent(id) = state(&window).images.shown else { panic!("nothing is shown") };
    assert_eq!(state(&window).images.recents.get(id).unwrap().path.as_ref(), Some(&path));
    let (width, height) = image::image_dimensions(&path).unwrap();
    assert!(width > 128 && height > 128, "{width} × {height}");
}

#[test]
fn enter_in_a_field_of_values_generates_the_grid() {
    let (mut window, _folder) = with_folder();
    ask(&mut window);
    window.take_commands();
    window.harness.key_press(Key::Enter);
    window.frames();
    assert!(!window.shows("Generate grid"), "the dialog is closed");
    assert_eq!(jobs(&window).len(), 4);
}

#[test]
fn a_cancelled_grid_keeps_what_is_there_and_goes_on_when_it_is_resumed() {
    let (mut window, folder) = with_folder();
    ask(&mut window);
    window.click("Generate grid");
    let all = jobs(&window);
    finish(&mut window, &folder, &all[0]);
    window.click("Queue 3");
    window.click("Cancel the grid");
    let mut cancelled: Vec<_> = window.take_commands();
    assert_eq!(cancelled.remove(0), Command::Cancel { job: all[3].id }, "the last ones first");
    assert_eq!(cancelled.len(), 2);
    for job in &all[1..] {
        window.says(Event::Cancelled { job: job.id });
    }
    window.wait_for("the grid", |_| composed(&folder).len() == 1);
    window.harness.key_press(Key::Escape);
    window.frames();
    window.wait_for("the notice", |app| app.state().messages.notice.is_some());
    assert!(state(&window).jobs.is_empty());
}

#[test]
fn resumed_cells_complete_their_grid() {
    let (mut window, folder) = with_folder();
    ask(&mut window);
    window.click("Generate grid");
    let all = jobs(&window);
    window.says(Event::Started { job: all[0].id });
    for job in &all {
        window.says(Event::Cancelled { job: job.id });
    }
    assert_eq!(composed(&folder), Vec::<PathBuf>::new(), "there is nothing to compose");
    window.click("Resume");
    let again = jobs(&window);
    assert_eq!(again.len(), 4);
    for job in &again {
        assert!(!all.iter().any(|before| before.id == job.id));
        finish(&mut window, &folder, job);
    }
    window.wait_for("the grid", |_| composed(&folder).len() == 1);
}

/// The window is closed and opened again; the engine then says which jobs are unfinished.
fn restarted(folder: &TempDir, unfinished: &[&Job]) -> Window {
    let path = folder.path().to_owned();
    let mut window = Window::open([1280.0, 800.0], egui::Theme::Dark, |setup| {
        setup.places.data = Some(path.join("data"));
        setup.folder = Some(path);
    });
    let jobs: Vec<Job> = unfinished.iter().copied().cloned().collect();
    if !jobs.is_empty() {
        window.says(Event::Unfinished { jobs });
    }
    window.says(Event::ModelLoaded(Box::new(starter())));
    window.take_commands();
    window
}

/// What is written down about grids: the number of lines of each.
fn lines(folder: &TempDir) -> Vec<usize> {
    let files = folder.path().join("data/grids").read_dir().into_iter().flatten();
    let texts = files.filter_map(|entry| std::fs::read_to_string(entry.unwrap().path()).ok());
    texts.map(|text| text.lines().count()).collect()
}

fn kept(folder: &TempDir) -> usize {
    lines(folder).len()
}

#[test]
fn a_grid_is_composed_after_a_restart_with_what_was_drawn_before() {
    let folder = tempfile::tempdir().unwrap();
    let mut window = restarted(&folder, &[]);
    ask(&mut window);
    window.click("Generate grid");
    let all = jobs(&window);
    for job in &all[..2] {
        finish(&mut window, &folder, job);
    }
    window.wait_for("what is written down", |_| lines(&folder) == [3]);
    drop(window);

    // Jobs are numbered anew.
    let mut window = restarted(&folder, &[&all[2], &all[3]]);
    window.click("Generate");
    let other = window.take_job();
    window.click("Resume");
    let again = jobs(&window);
    assert_eq!(again.len(), 2);
    assert_eq!(again[0].id, JobId(2));
    window.wait_for("the group", |app| app.state().jobs.groups.of(JobId(2)).is_some());
    window.click("Queue 3");
    window.wait_for_words("Grid · 2 of 4");
    window.says(Event::Cancelled { job: other.id });
    for job in &again {
        assert_eq!(composed(&folder), Vec::<PathBuf>::new());
        let path = folder.path().join(format!("again {}.png", job.id.0));
        let media = Media::Image(landscape(64, 64, job.id.0, 1.0));
        write_png(&path, &media, &Settings::new(&job.request, "Starter", "z_image", 0)).unwrap();
        window.says(Event::Started { job: job.id });
        let pictures = vec![Picture { media, seed: job.request.seed, path: Some(path) }];
        window.says(Event::Finished { job: job.id, pictures, seconds: 1.0 });
    }
    window.wait_for("the grid", |_| composed(&folder).len() == 1 && kept(&folder) == 0);
    let composed = composed(&folder).remove(0);
    let record = read_settings(&composed).unwrap().settings.grid.unwrap();
    assert_eq!(record.axes, ["steps: 2, 4", "prompt: red, blue", ""]);
    no_cell_is_empty(&composed);
}

/// In the middle of each quarter of a composed image is an image.
fn no_cell_is_empty(composed: &Path) {
    let image = image::open(composed).unwrap().into_rgb8();
    let (width, height) = image.dimensions();
    for (x, y) in [(0.35, 0.35), (0.75, 0.35), (0.35, 0.75), (0.75, 0.75)] {
        let at = ((x * width as f64) as u32, (y * height as f64) as u32);
        assert_ne!(image.get_pixel(at.0, at.1).0, [255; 3], "at {at:?} of {width} × {height}");
    }
}

#[test]
fn a_grid_that_is_not_resumed_is_composed_of_what_was_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let mut window = restarted(&folder, &[]);
    ask(&mut window);
    window.click("Generate grid");
    let all = jobs(&window);
    finish(&mut window, &folder, &all[0]);
    window.wait_for("what is written down", |_| lines(&folder) == [2]);
    drop(window);
    let mut window = restarted(&folder, &[&all[1], &all[2], &all[3]]);
    assert_eq!(composed(&folder), Vec::<PathBuf>::new());
    window.click("Discard");
    assert_eq!(window.take_commands(), [Command::Forget]);
    window.wait_for("the grid", |_| composed(&folder).len() == 1 && kept(&folder) == 0);
}

#[test]
fn a_grid_whose_last_job_ended_as_the_window_closed_is_composed_at_the_next_start() {
    let folder = tempfile::tempdir().unwrap();
    let mut window = restarted(&folder, &[]);
    ask(&mut window);
    window.click("Generate grid");
    let all = jobs(&window);
    finish(&mut window, &folder, &all[0]);
    window.wait_for("what is written down", |_| lines(&folder) == [2]);
    drop(window);
    // The engine says something else before it says that jobs are unfinished, so there are none.
    let mut window = restarted(&folder, &[]);
    window.wait_for("the grid", |_| composed(&folder).len() == 1 && kept(&folder) == 0);
}

#[test]
fn clips_are_composed_to_a_clip() {
    let (mut window, folder) = with_folder();
    window.fill("Prompt", "a red boat");
    window.click("Grid…");
    vary(&mut window, "Columns", "Steps", "2, 4");
    window.click("Generate grid");
    let all = jobs(&window);
    for (job, frames) in all.iter().zip([9, 5]) {
        let path = folder.path().join(format!("{}.mp4", job.id.0));
        let media = Media::Clip(clip(64, 64, frames, 8.0));
        write_media(&path, &media, &Settings::new(&job.request, "Starter", "wan", 0), Codec::H264).unwrap();
        window.says(Event::Started { job: job.id });
        let pictures = vec![Picture { media, seed: job.request.seed, path: Some(path) }];
        window.says(Event::Finished { job: job.id, pictures, seconds: 1.0 });
    }
    window.wait_for("the grid", |app| app.state().messages.notice.is_some());
    let [path] = composed(&folder).try_into().unwrap();
    let info = ClipInfo::open(&path).unwrap().unwrap();
    assert_eq!((info.frames, info.rate), (9, 8.0));
    assert!(info.width > 128 && info.height > 64, "{info:?}");
    assert_eq!(read_settings(&path).unwrap().settings.grid.unwrap().axes[0], "steps: 2, 4");
    let Shown::Recent(id) = state(&window).images.shown else { panic!("nothing is shown") };
    assert_eq!(state(&window).images.recents.get(id).unwrap().length.unwrap().frames, 9);
}

#[test]
fn styles_and_precisions_vary() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("data/styles")).unwrap();
    let styles = "name,prompt,negative_prompt\nink,ink wash,\n\"film, grainy\",film,\n";
    std::fs::write(folder.path().join("data/styles/own.csv"), styles).unwrap();
    let mut window = restarted(&folder, &[]);
    window.wait_for("the styles", |app| app.state().styles.len() == 2);
    window.fill("Prompt", "a boat");
    window.click("Grid…");
    choose(&mut window, "Columns", "Style");
    window.click("All values for columns");
    vary(&mut window, "Rows", "Precision", "f32, bf16");
    assert!(window.shows("6 images · 3 × 2"));
    window.click("Generate grid");
    let names = |job: &Job| job.request.styles.iter().map(|style| style.name.clone()).collect::<Vec<_>>();
    let mut made: Vec<_> = jobs(&window).iter().map(names).collect();
    made.sort();
    made.dedup();
    assert_eq!(made, [vec![], vec!["film, grainy".to_owned()], vec!["ink".to_owned()]]);
}

#[test]
fn models_of_the_library_vary() {
    let folder = tempfile::tempdir().unwrap();
    let mut window = opened(&[models(folder.path())]);
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::M);
    window.frames();
    window.fill("Prompt", "a boat");
    window.click("Grid…");
    choose(&mut window, "Columns", "Model");
    window.click("All values for columns");
    assert!(window.shows("2 images · 2 × 1"), "of FLUX.1 and of Z-Image");
    let field = window.harness.get_by_label("Values of columns").accesskit_node().value().unwrap();
    for name in ["flux1-dev-tiny.safetensors", "z-image-tiny"] {
        assert!(field.contains(name), "{field}");
    }
}

#[test]
fn values_that_make_no_sense_are_named_while_they_are_typed() {
    let (mut window, _folder) = with_folder();
    window.fill("Prompt", "a boat");
    window.click("Grid…");
    assert!(window.shows("Choose what varies."));
    vary(&mut window, "Columns", "Steps", "0");
    assert!(window.shows("\"0\" is not a value of Steps; use 1 to 1000."));
    vary(&mut window, "Rows", "Words in the prompt", "fox, wolf");
    choose(&mut window, "Columns", "Nothing");
    assert!(window.shows("Neither the prompt nor the negative prompt contains \"fox\""));
    window.harness.key_press(Key::Escape);
    window.frames();
    window.harness.key_press(Key::Escape);
    window.frames();
    assert!(!window.shows("Generate grid"));
    assert_eq!(window.take_commands(), []);
}

#[test]
fn a_batch_is_composed_if_that_is_wanted() {
    let (mut window, folder) = with_folder();
    let mut settings = state(&window).settings.clone();
    settings.draft.request.batch = 2;
    let path = folder.path().to_owned();
    window = Window::open([1280.0, 800.0], egui::Theme::Dark, |setup| {
        (setup.settings, setup.folder) = (Some(settings), Some(path));
    });
    window.says(Event::ModelLoaded(Box::new(starter())));
    window.take_commands();
    window.click("Batch as grid");
    window.click("Generate");
    let [job] = jobs(&window).try_into().unwrap();
    let pictures = [0, 1].map(|index| {
        let path = folder.path().join(format!("{index}.png"));
        let media = Media::Image(landscape(32, 32, index.into(), 1.0));
        write_png(&path, &media, &Settings::new(&job.request, "Starter", "z_image", index)).unwrap();
        Picture { media, seed: job.request.seed + u64::from(index), path: Some(path) }
    });
    window.says(Event::Started { job: JobId(1) });
    window.says(Event::Finished { job: JobId(1), pictures: pictures.to_vec(), seconds: 1.0 });
    window.wait_for("the grid", |_| composed(&folder).len() == 1);
    // Two cells of 128 × 128 with gaps of 4 around them.
    assert_eq!(image::image_dimensions(&composed(&folder)[0]).unwrap(), (268, 136));
}

#[test]
fn variations_have_other_seeds_or_noise_near_that_of_the_image() {
    let (mut window, folder) = with_folder();
    let request = Request { prompt: "a boat".to_owned(), seed: 5, steps: 3, ..Request::default() };
    window.click("Generate");
    let [job] = jobs(&window).try_into().unwrap();
    finish(&mut window, &folder, &Job { request: request.clone(), ..job });
    let of_image = state(&window).images.shown_recent().unwrap().request.clone().unwrap();
    window.click("Variations ×4");
    let seeds: Vec<_> = jobs(&window).into_iter().map(|job| job.request.seed).collect();
    assert_eq!(seeds, [1234, 1235, 1236, 1237]);
    window.click("Similar ×4");
    let all = jobs(&window);
    assert_eq!(all.len(), 4);
    for (number, job) in all.into_iter().enumerate() {
        let variation = job.request.variation.unwrap();
        assert_eq!((variation.seed, variation.strength), (1234 + number as u64, 0.2));
        assert_eq!(job.request, Request { variation: Some(variation), ..of_image.clone() });
    }
}

/// A folder with two images, `a.png` and `b.png`.
fn photos(folder: &Path) -> PathBuf {
    let photos = folder.join("photos");
    std::fs::create_dir(&photos).unwrap();
    for name in ["a.png", "b.png"] {
        photo(&photos, name);
    }
    photos
}

/// Chooses the folder `photos` in the dialog.
fn use_photos(window: &mut Window) {
    for _ in 0..500 {
        if window.harness.query_by_label("photos").is_some() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
        window.frames();
    }
    window.click("photos");
    window.wait_for_words("a.png");
    window.click("Use this folder");
}

/// Clicks Generate in the question about the folder.
fn start(window: &mut Window) {
    window.wait_for_words("2 images to generate from");
    window.harness.get_all_by_label("Generate").last().unwrap().click();
    window.frames();
}

/// Chooses the folder `photos` with a button, and returns the jobs with the files that they become.
fn from_photos(window: &mut Window, button: &str) -> Vec<(Job, PathBuf)> {
    window.click(button);
    use_photos(window);
    start(window);
    let with_file = |job: Job| match job.output.clone() {
        Some(Output::File(path)) => (job, path),
        other => panic!("{other:?}"),
    };
    jobs(window).into_iter().map(with_file).collect()
}

#[test]
fn each_image_of_a_folder_becomes_one() {
    let (mut window, folder) = with_folder();
    let photos = photos(folder.path());
    let all = from_photos(&mut window, "Folder…");
    // Results never replace the input images.
    let results = folder.path().join("photos new");
    let files: Vec<_> = all.iter().map(|(_, file)| file.clone()).collect();
    assert_eq!(files, ["a.png", "b.png"].map(|name| results.join(name)));
    assert_eq!(all[1].0.request.source.as_ref().unwrap().path, photos.join("b.png"));
    assert!(window.shows("2 images of photos queued"));
}

#[test]
fn images_of_subfolders_keep_their_places_and_are_one_row_of_the_queue() {
    let (mut window, folder) = with_folder();
    let photos = photos(folder.path());
    std::fs::create_dir_all(photos.join("sea/deep")).unwrap();
    photo(&photos.join("sea/deep"), "c.png");
    let ctx = window.harness.ctx.clone();
    let choose = Making::Folder(photos.clone(), InputUse::Source);
    window.harness.state_mut().act(&ctx, choose.clone().into());
    window.wait_for_words("Include subfolders: 1 image");
    assert!(window.shows("3 images to generate from"));
    window.click("Include subfolders: 1 image");
    assert!(window.shows("2 images to generate from"));
    window.harness.key_press(Key::Escape);
    window.frames();
    assert!(!window.shows("Include subfolders") && jobs(&window).is_empty());

    window.harness.state_mut().act(&ctx, choose.into());
    window.wait_for_words("3 images to generate from");
    window.harness.get_all_by_label("Generate").last().unwrap().click();
    window.frames();
    let all = jobs(&window);
    let files: Vec<_> = all.iter().map(|job| job.output.clone().unwrap()).collect();
    let results = folder.path().join("photos new");
    let expected = ["a.png", "b.png", "sea/deep/c.png"].map(|name| Output::File(results.join(name)));
    assert_eq!(files, expected);
    window.click("Queue 3");
    assert!(window.shows("photos · 0 of 3"));
    finish(&mut window, &folder, &all[0]);
    assert!(window.shows("photos · 1 of 3"));
    window.click("Cancel the folder");
    assert_eq!(window.take_commands().len(), 2);
    for job in &all[1..] {
        window.says(Event::Cancelled { job: job.id });
    }
    window.frames();
    assert_eq!(composed(&folder), Vec::<PathBuf>::new(), "nothing is composed");
}

#[test]
fn images_of_a_folder_are_edited_and_saved_in_the_chosen_format() {
    let (mut window, folder) = with_folder();
    let photos = photos(folder.path());
    let hat = photo(folder.path(), "hat.png");
    let sizes = ReferenceSizes::Area { side: 128, multiple: 32, up: false };
    let references = Some(References { most: 2, edits: true, sizes });
    window.says(Event::ModelLoaded(Box::new(ModelSummary { references, ..starter() })));
    let output = OutputSettings { format: StillFormat::Jpeg, ..OutputSettings::default() };
    let context = window.harness.ctx.clone();
    window.harness.state_mut().act(&context, Action::Set(Setting::Output(Box::new(output))));
    window.frames();
    let all = from_photos(&mut window, "Folder of reference images…");
    assert_eq!(all[0].1, folder.path().join("photos new/a.jpg"));
    assert_eq!(all[1].0.request.references, [photos.join("b.png")]);
    assert!(all.iter().all(|(job, _)| job.request.source.is_none()));

    let mut draft = window.harness.state().state().draft().clone();
    draft.request.references = vec![hat.clone(), hat.clone()];
    window.harness.state_mut().act(&context, Action::Edit(Box::new(draft)));
    window.harness.state_mut().act(&context, Action::OpenDialog(Dialog::ReferenceFolder));
    window.frames();
    use_photos(&mut window);
    start(&mut window);
    assert_eq!(jobs(&window)[0].request.references, [photos.join("a.png"), hat], "in the first place");
}

#[test]
fn a_grid_in_the_queue_moves_as_a_whole() {
    let (mut window, _folder) = with_folder();
    window.click("Generate");
    window.click("Grid…");
    vary(&mut window, "Columns", "Steps", "2, 4");
    window.click("Generate grid");
    window.click("Generate");
    half_way(&mut window, JobId(1));
    window.take_commands();
    window.click("Queue 4");
    window.click("Actions for job 2");
    window.click("Run last");
    let order: Vec<u64> = state(&window).jobs.queue.iter().map(|job| job.id.0).collect();
    assert_eq!(order, [1, 4, 2, 3]);
    let moved = |job| Command::Move { job: JobId(job), before: None };
    assert_eq!(window.take_commands(), [moved(2), moved(3)]);
    window.click("Actions for job 2");
    window.click("Run next");
    let moved = |job| Command::Move { job: JobId(job), before: Some(JobId(4)) };
    assert_eq!(window.take_commands(), [moved(2), moved(3)]);
}
