//! Runs over folders of input images: what is done already, what is done again, and what it takes.

use std::{
    fs,
    path::{Path, PathBuf},
};

use egui::{Key, Theme};
use egui_kittest::kittest::Queryable;
use sluice::window::{
    action::{InputUse, Making},
    settings::Settings as WindowSettings,
};
use sluice_engine::{
    output::{InputMark, Media, Output, Settings, write_png},
    session::{Event, Job, Session, SessionOptions},
};

use super::{
    behaviour::nothing_is_unnamed,
    grids::{jobs, with_folder},
    support::{Window, failure, landscape, starter},
};

/// A folder with an image of each shade.
fn photos(folder: &Path, shades: &[(&str, u8)]) -> PathBuf {
    fs::create_dir_all(folder).unwrap();
    for (name, shade) in shades {
        image::RgbImage::from_pixel(64, 64, image::Rgb([*shade; 3])).save(folder.join(name)).unwrap();
    }
    folder.to_owned()
}

fn ask(window: &mut Window, folder: &Path) {
    let ctx = window.harness.ctx.clone();
    let choose = Making::Folder(folder.to_owned(), InputUse::Source);
    window.harness.state_mut().act(&ctx, choose.into());
}

/// Clicks Generate in the question, and returns the jobs with their files.
fn generate(window: &mut Window) -> Vec<(Job, PathBuf)> {
    window.harness.get_all_by_label("Generate").last().unwrap().click();
    window.frames();
    let with_file = |job: Job| match job.output.clone() {
        Some(Output::File(path)) => (job, path),
        other => panic!("{other:?}"),
    };
    jobs(window).into_iter().map(with_file).collect()
}

/// Writes what an engine would.
fn write(job: &Job, path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let made_of = job.request.marked_input().map(|input| InputMark::of(input).unwrap());
    let settings = Settings { made_of, ..Settings::new(&job.request, "Starter", "z_image", 0) };
    write_png(path, &Media::Image(landscape(64, 64, job.id.0, 1.0)), &settings).unwrap();
}

fn files(all: &[(Job, PathBuf)]) -> Vec<PathBuf> {
    all.iter().map(|(_, path)| path.clone()).collect()
}

#[test]
fn images_that_are_done_are_left_out_or_made_again_in_a_new_folder() {
    let (mut window, folder) = with_folder();
    let input = photos(&folder.path().join("in/photos"), &[("a.png", 10), ("b.png", 20)]);
    ask(&mut window, &input);
    window.wait_for_words("2 images to generate from");
    nothing_is_unnamed(&window, "the question about a folder");
    let all = generate(&mut window);
    let results = folder.path().join("photos");
    assert_eq!(files(&all), ["a.png", "b.png"].map(|name| results.join(name)));
    assert!(all.iter().all(|(job, _)| job.request.source.as_ref().unwrap().strength == 0.6));
    write(&all[0].0, &all[0].1);

    ask(&mut window, &input);
    window.wait_for_words("Only the 1 image that is not done");
    assert_eq!(files(&generate(&mut window)), [results.join("b.png")]);
    assert!(window.shows("1 image left out: done before"));
    write(&all[1].0, &all[1].1);

    ask(&mut window, &input);
    window.wait_for_words("All 2 images again, into a new folder");
    let again = folder.path().join("photos 2");
    assert!(window.shows(&format!("The results are saved in {}", again.display())));
    assert_eq!(files(&generate(&mut window)), ["a.png", "b.png"].map(|name| again.join(name)));

    ask(&mut window, &input);
    window.wait_for_words("All 2 images again, into a new folder");
    fs::remove_file(results.join("b.png")).unwrap();
    window.harness.key_press(Key::Escape);
    window.frames();
    ask(&mut window, &input);
    window.wait_for_words("Only the 1 image that is not done");
    window.click("All 2 images again, into a new folder");
    assert_eq!(generate(&mut window).len(), 2);
}

#[test]
fn a_folder_has_one_result_for_each_image_whatever_the_batch_size() {
    let folder = tempfile::tempdir().unwrap();
    let input = photos(&folder.path().join("in/photos"), &[("a.png", 10), ("b.png", 20)]);
    let output = folder.path().to_owned();
    let mut window = Window::open([1280.0, 800.0], Theme::Dark, |setup| {
        let mut saved = WindowSettings::default();
        saved.draft.request.batch = 4;
        setup.settings = Some(saved);
        setup.folder = Some(output);
    });
    window.says(Event::ModelLoaded(Box::new(starter())));
    window.take_commands();
    ask(&mut window, &input);
    window.wait_for_words("One result for each image. The batch size is not used.");
    assert_eq!(generate(&mut window).len(), 2);
}

#[test]
fn an_image_of_the_same_name_in_another_folder_is_not_done() {
    let (mut window, folder) = with_folder();
    let first = photos(&folder.path().join("in/photos"), &[("a.png", 10)]);
    let other = photos(&folder.path().join("other/photos"), &[("a.png", 90)]);
    ask(&mut window, &first);
    window.wait_for_words("1 image to generate from");
    let [(job, path)] = generate(&mut window).try_into().unwrap();
    write(&job, &path);
    ask(&mut window, &other);
    window.wait_for_words("1 image to generate from");
    assert_eq!(files(&generate(&mut window)), [folder.path().join("photos/a.png.png")]);
}

#[test]
fn what_a_folder_takes_is_said_before_it_is_queued() {
    let folder = tempfile::tempdir().unwrap();
    let input = photos(&folder.path().join("in/photos"), &[("a.png", 10), ("b.png", 20)]);
    fs::write(input.join("broken.png"), "no image").unwrap();
    let session = Session::start(SessionOptions::default()).unwrap();
    let output = folder.path().to_owned();
    let mut window = Window::open([1280.0, 800.0], Theme::Dark, |setup| {
        setup.link = Box::new(session);
        setup.folder = Some(output);
    });
    window.wait_for("the model", |app| app.state().summary().is_some());
    ask(&mut window, &input);
    window.wait_for_words("2 images to generate from");
    window.wait_for_words("Takes about");
    assert!(window.shows("Denoising strength"));
    assert!(window.shows("broken.png is not an image that can be read"));
}

#[test]
fn a_folder_is_used_although_the_engine_refuses_what_it_replaces() {
    let (mut window, folder) = with_folder();
    let photos = photos(&folder.path().join("photos"), &[("a.png", 10), ("b.png", 200)]);
    let id = window.take_plans().last().unwrap().id;
    window.says(Event::NotPlanned { id, failure: failure() });
    assert!(!window.harness.state().state().can_generate());
    ask(&mut window, &photos);
    window.wait_for_words("2 images to generate from");
    window.frames();
    let asked = window.take_plans().pop().unwrap().request.source.unwrap();
    assert_eq!(asked.path, photos.join("a.png"));
    // Its main button, with the key.
    window.harness.key_press(Key::Enter);
    window.frames();
    assert_eq!(jobs(&window).len(), 2);
}
