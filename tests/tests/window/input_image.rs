//! Image to image: the input image and its mask.

use egui::{Modifiers, accesskit::Role};
use egui_kittest::kittest::Queryable;
use sluice::window::{
    action::Action,
    state::{FileState, Shown},
};
use sluice_engine::{
    output::{Image, Media, Settings, write_png},
    request::{MaskPoint, ModelSource, ReferenceSizes, References, Request, SourceImage, SourceMask},
    session::{Event, ModelSummary, Picture},
};

use super::{
    behaviour::nothing_is_unnamed,
    snapshots::look,
    support::{IN_SIGHT, Window, landscape, starter},
};

/// An image without settings.
pub fn photo(folder: &std::path::Path, name: &str) -> std::path::PathBuf {
    let image = landscape(96, 64, 4, 1.0);
    let path = folder.join(name);
    image::save_buffer(&path, &image.pixels, 96, 64, image::ColorType::Rgb8).unwrap();
    path
}

fn source(window: &Window) -> Option<SourceImage> {
    window.harness.state().state().draft().request.source.clone()
}

#[test]
fn a_dropped_photograph_is_the_input_image_until_it_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let path = photo(folder.path(), "harbour.jpg");
    let mut window = Window::with_starter();
    window.drop_file(path.clone());
    window.wait_for("the image", |app| app.state().input.files.pixels(&path).is_some());
    window.frames();
    assert!(window.shows("Input image: harbour.jpg"));
    assert!(window.shows("96 × 64"));
    let wanted = SourceImage { path: path.clone(), ..SourceImage::default() };
    assert_eq!(source(&window), Some(wanted.clone()));
    window.click("Generate");
    assert_eq!(window.take_job().request.source, Some(wanted));
    window.click("Remove input image");
    assert_eq!(source(&window), None);
    window.click("Generate");
    assert_eq!(window.take_job().request.source, None);
}

/// A window with a model that edits up to so many images.
fn editing(most: usize) -> Window {
    let mut window = Window::with_starter();
    let sizes = ReferenceSizes::Area { side: 128, multiple: 32, up: false };
    let references = Some(References { most, edits: true, sizes });
    window.says(Event::ModelLoaded(Box::new(ModelSummary { references, ..starter() })));
    window.frames();
    window
}

#[test]
fn dropped_images_are_references_of_a_model_that_edits() {
    let folder = tempfile::tempdir().unwrap();
    let paths = ["harbour.png", "hat.png", "boat.png"].map(|name| photo(folder.path(), name));
    let mut window = editing(2);
    let names = |window: &Window| -> Vec<String> {
        let references = &window.harness.state().state().draft().request.references;
        references.iter().map(|path| path.file_name().unwrap().to_string_lossy().into_owned()).collect()
    };
    for path in &paths {
        window.drop_file(path.clone());
        window.wait_for("the image", |app| app.state().input.files.pixels(path).is_some());
        window.frames();
    }
    assert_eq!(names(&window), ["harbour.png", "boat.png"], "the last one takes the place of one too many");
    let request = &window.harness.state().state().draft().request;
    assert_eq!(
        (request.width, request.height, &request.source),
        (160, 96, &None),
        "the size of the first one"
    );
    nothing_is_unnamed(&window, "references");
    window.see("Remove reference 2");
    let _results = look(&mut window, "references-dark-1280");
    window.click("Swap references 1 and 2");
    assert_eq!(names(&window), ["boat.png", "harbour.png"]);
    window.click("Remove reference 1");
    assert_eq!(names(&window), ["harbour.png"]);
    window.harness.get_by_role_and_label(Role::Image, "harbour.png").click_secondary();
    window.frames();
    assert!(window.shows("Describe image…"));
    window.click("Copy the path");
    assert!(window.shows("Copied to the clipboard"));
    window.click("Generate");
    assert_eq!(window.take_job().request.references.len(), 1);
    window.says(Event::ModelLoaded(Box::new(starter())));
    window.frames();
    assert!(names(&window).is_empty() && !window.shows("Reference image"), "another model takes none");
}

#[test]
fn references_are_read_through_a_redux_model_that_was_added() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("flux1-redux-dev.safetensors"), "").unwrap();
    let paths = ["harbour.png", "hat.png"].map(|name| photo(folder.path(), name));
    let model = folder.path().join("flux1-dev.safetensors");
    let mut window = Window::open([1280.0, 800.0], egui::Theme::Dark, |setup| {
        setup.settings =
            Some(sluice::window::settings::Settings { recent_models: vec![model], ..Default::default() });
    });
    window.take_commands();
    window.says(Event::ModelLoaded(Box::new(ModelSummary { takes_redux: true, ..starter() })));
    window.frames();
    window.click("More settings");
    window.click("Add Redux…");
    for _ in 0..500 {
        if window.shows("flux1-redux-dev.safetensors") {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
        window.frames();
    }
    window.click("flux1-redux-dev.safetensors");
    window.wait_for("Redux", |app| app.state().draft().request.redux.is_some());
    window.frames();
    assert!(window.shows("Read through flux1-redux-dev") && !window.shows("Add Redux…"));
    for path in &paths {
        window.drop_file(path.clone());
        window.wait_for("the image", |app| app.state().input.files.pixels(path).is_some());
        window.frames();
    }
    nothing_is_unnamed(&window, "Redux");
    window.see("Remove Redux");
    let _results = look(&mut window, "redux-dark-1280");
    assert!(window.shows("Strength of reference 1") && window.shows("Strength of reference 2"));
    window.click("Generate");
    let job = window.take_job();
    let redux = job.request.redux.unwrap();
    assert_eq!(
        (redux.path.file_name().unwrap().to_str(), job.request.references.len()),
        (Some("flux1-redux-dev.safetensors"), 2)
    );
    window.click("Remove Redux");
    assert!(!window.shows("Read through flux1-redux-dev"));
}

#[test]
fn a_pasted_image_is_used_as_a_dropped_one_is() {
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().to_owned();
    let mut window = Window::open([1280.0, 800.0], egui::Theme::Dark, |setup| setup.folder = Some(own));
    window.says(Event::ModelLoaded(Box::new(starter())));
    let mut image = egui::ColorImage::filled([3, 2], egui::Color32::from_rgb(10, 20, 30));
    image.pixels[0] = egui::Color32::from_rgba_unmultiplied(255, 0, 0, 51);
    let paste = |window: &mut Window| {
        window.harness.event(egui::Event::PasteImage(image.clone().into()));
        window.frames();
    };
    paste(&mut window);
    let first = folder.path().join("pasted/pasted.png");
    window.wait_for("the image", |app| app.state().input.files.pixels(&first).is_some());
    assert_eq!(source(&window).map(|source| source.path), Some(first.clone()));
    let saved = image::open(&first).unwrap();
    assert_eq!((saved.width(), saved.height(), saved.color()), (3, 2, image::ColorType::Rgb8));
    assert_eq!(saved.as_bytes()[..6], [255, 0, 0, 10, 20, 30], "the colour without its transparency");
    paste(&mut window);
    let second = folder.path().join("pasted/pasted 2.png");
    window.wait_for("the next image", |app| app.state().input.files.pixels(&second).is_some());
    assert_eq!(source(&window).map(|source| source.path), Some(second));

    std::fs::remove_dir_all(first.parent().unwrap()).unwrap();
    std::fs::write(folder.path().join("pasted"), "no folder").unwrap();
    paste(&mut window);
    window.wait_for("an answer", |app| !app.state().messages.failures.is_empty());
    window.frames();
    assert!(window.shows("The pasted image could not be saved"));
}

#[test]
fn an_image_with_settings_can_be_the_input_image_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("boat.png");
    let request = Request { prompt: "a boat".to_owned(), ..Request::default() };
    let settings = Settings::new(&request, "Starter", "z_image", 0);
    write_png(&path, &Media::Image(landscape(128, 128, 9, 1.0)), &settings).unwrap();
    let mut window = Window::with_starter();
    window.drop_file(path.clone());
    window.wait_for("the question", |app| app.state().input.dropped.is_some());
    window.frames();
    window.click("Use as input image");
    assert_eq!(source(&window).map(|source| source.path), Some(path));
    assert_eq!(window.harness.state().state().draft().request.prompt, "", "its settings are not taken over");
    assert!(!window.shows("contains settings"));
    window.click("Undo");
    assert_eq!(source(&window), None);
}

#[test]
fn a_file_that_is_gone_is_said_beside_its_name() {
    let mut window = Window::open([1280.0, 800.0], egui::Theme::Dark, |setup| {
        let mut saved = sluice::window::settings::Settings::default();
        saved.draft.use_input_image("/nowhere/fox.png".into());
        setup.settings = Some(saved);
    });
    window.says(Event::ModelLoaded(Box::new(starter())));
    let gone = std::path::Path::new("/nowhere/fox.png");
    window.wait_for("the message", |app| {
        matches!(app.state().input.files.get(gone), Some(FileState::Unreadable(_)))
    });
    window.frames();
    assert!(window.shows("cannot be read"));
}

/// A window in which a mask is painted, and the middle of the image.
pub fn painting(folder: &std::path::Path, size: [f32; 2], theme: egui::Theme) -> (Window, egui::Pos2) {
    let path = photo(folder, "harbour.png");
    let mut window = Window::open(size, theme, |setup| setup.folder = Some(folder.to_owned()));
    window.says(Event::ModelLoaded(Box::new(starter())));
    window.drop_file(path.clone());
    window.wait_for("the image", |app| app.state().input.files.pixels(&path).is_some());
    window.frames();
    window.click("Paint…");
    let canvas = window.harness.get_by_label("Mask over the image").rect().center();
    (window, canvas)
}

#[test]
fn a_mask_is_painted_inverted_and_used() {
    let folder = tempfile::tempdir().unwrap();
    let (mut window, canvas) = painting(folder.path(), [1280.0, 800.0], egui::Theme::Dark);
    window.harness.drag_at(canvas);
    window.frames();
    window.harness.hover_at(canvas + egui::vec2(30.0, 0.0));
    window.frames();
    window.harness.drop_at(canvas + egui::vec2(30.0, 0.0));
    window.frames();
    let painting = window.harness.state().state().input.painting.clone().expect("a mask is painted");
    let image = painting.to_image();
    let at = |x: u32, y: u32| image.pixels[(3 * (y * 96 + x)) as usize];
    assert_eq!((at(48, 32), at(2, 2)), (255, 0), "the brush was in the middle");
    window.click("Clear");
    let masked = |window: &Window| {
        window.harness.state().state().input.painting.as_ref().map(|painting| painting.to_image())
    };
    window.harness.key_press_modifiers(Modifiers::COMMAND, egui::Key::Z);
    window.frames();
    assert!(masked(&window).unwrap() == image, "clearing is taken back");
    window.click("Undo stroke");
    assert!(masked(&window).unwrap().pixels.iter().all(|value| *value == 0), "and the stroke");
    window.harness.drag_at(canvas);
    window.frames();
    window.harness.drop_at(canvas);
    window.frames();
    window.click("Invert");
    window.click("Apply mask");
    window.wait_for("the mask", |app| {
        app.state().draft().request.source.as_ref().is_some_and(|source| source.mask.is_some())
    });
    let mask = source(&window).and_then(|source| source.mask).unwrap();
    window.frames();
    assert_eq!(window.harness.state().state().images.shown, Shown::Input, "the image with its mask");
    assert!(window.shows("harbour.png with its mask"));
    let written = sluice_engine::source::read(&mask.path).unwrap();
    assert_eq!(written.pixels[(3 * (32 * 96 + 48)) as usize], 0);
    assert_eq!(written.pixels[(3 * (2 * 96 + 2)) as usize], 255);
    assert_eq!(SourceMask { path: mask.path.clone(), ..SourceMask::default() }, mask);
    window.click("Only masked");
    let padding =
        |window: &Window| source(window).and_then(|source| source.mask).and_then(|mask| mask.only_masked);
    assert_eq!(padding(&window), Some(SourceMask::USUAL_PADDING));
    window.click("Only masked");
    assert_eq!(padding(&window), None);
    window.harness.key_press_modifiers(Modifiers::COMMAND, egui::Key::Enter);
    window.frames();
    assert_eq!(window.take_commands().len(), 2, "the model and the job");
    window.click("Remove mask");
    assert_eq!(source(&window).and_then(|source| source.mask), None);
    window.frames();
    assert_ne!(window.harness.state().state().images.shown, Shown::Input, "there is no mask any more");
}

#[test]
fn a_mask_is_painted_with_a_rectangle_and_a_lasso_and_grows() {
    let folder = tempfile::tempdir().unwrap();
    let (mut window, canvas) = painting(folder.path(), [900.0, 600.0], egui::Theme::Light);
    let drag = |window: &mut Window, points: &[egui::Vec2]| {
        window.harness.drag_at(canvas + points[0]);
        window.frames();
        for point in &points[1..] {
            window.harness.hover_at(canvas + *point);
            window.frames();
        }
        window.harness.drop_at(canvas + points[points.len() - 1]);
        window.frames();
    };
    let masked = |window: &Window| {
        let painting = window.harness.state().state().input.painting.as_ref().unwrap();
        painting.to_image().pixels.iter().filter(|value| **value == 255).count() / 3
    };
    window.click("Tool");
    window.click("Rectangle");
    drag(&mut window, &[egui::vec2(-60.0, -40.0), egui::vec2(20.0, 10.0), egui::vec2(60.0, 40.0)]);
    let rectangle = masked(&window);
    assert!(rectangle > 100, "{rectangle}");
    let _results = look(&mut window, "mask-tools-light-900");
    let edge = |name: &str| window.harness.get_by_label(name).rect();
    assert!(edge("Clear").right() <= edge("Discard").left(), "the tools are beside the buttons");
    nothing_is_unnamed(&window, "the tools of a mask");
    window.click("Grow by 1 pixel");
    let grown = masked(&window);
    assert!(grown > rectangle);
    window.click("Shrink by 1 pixel");
    assert_eq!(masked(&window), rectangle);
    window.click("Erase");
    window.click("Tool");
    window.click("Lasso");
    let corners =
        [egui::vec2(0.0, -40.0), egui::vec2(40.0, 0.0), egui::vec2(0.0, 40.0), egui::vec2(-40.0, 0.0)];
    drag(&mut window, &corners);
    let rest = masked(&window);
    assert!(rest > 0 && rest < rectangle, "{rest} of {rectangle}");
    window.harness.key_press_modifiers(Modifiers::COMMAND, egui::Key::Z);
    window.frames();
    assert_eq!(masked(&window), rectangle);
}

/// With a mouse: switch it on, drag an edge, and remove it by its chip.
#[test]
fn the_edges_of_the_frame_add_pixels_that_are_generated() {
    let folder = tempfile::tempdir().unwrap();
    let path = photo(folder.path(), "harbour.jpg");
    let mut window = Window::with_starter();
    window.drop_file(path.clone());
    window.wait_for("the image", |app| app.state().input.files.pixels(&path).is_some());
    window.frames();
    window.see("Outpaint");
    window.click("Outpaint");
    window.frames();
    let given = source(&window).unwrap();
    assert_eq!((given.outpaint.sides(), given.strength), ([0, 0, 32, 0], 1.0));
    let size = |window: &Window| {
        let request = &window.harness.state().state().draft().request;
        [request.width, request.height]
    };
    assert_eq!(size(&window), [128, 64]);
    window.see("Top edge of the frame");
    window.harness.run_steps(20);
    let from = window.harness.get_by_label("Top edge of the frame").rect().center();
    window.harness.drag_at(from);
    window.frames();
    window.harness.hover_at(from - egui::vec2(0.0, 30.0));
    window.frames();
    window.harness.drop_at(from - egui::vec2(0.0, 30.0));
    window.frames();
    let sides = source(&window).unwrap().outpaint.sides();
    assert!(sides[1] >= 16 && sides[1].is_multiple_of(16), "{sides:?}");
    assert_eq!([sides[0], sides[2], sides[3]], [0, 32, 0]);
    assert!(size(&window)[1] > 64);
    nothing_is_unnamed(&window, "outpainting");
    window.click("Do not outpaint");
    assert!(source(&window).unwrap().outpaint.is_empty());
}

/// What is said about the size is above the frame.
#[test]
fn the_frame_stays_under_the_pointer_until_the_edge_is_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let path = photo(folder.path(), "harbour.jpg");
    let mut window = Window::with_starter();
    window.drop_file(path.clone());
    window.wait_for("the image", |app| app.state().input.files.pixels(&path).is_some());
    window.frames();
    window.see("Outpaint");
    window.click("Outpaint");
    window.frames();
    window.see("Top edge of the frame");
    window.harness.run_steps(20);
    let top = |window: &Window| window.harness.get_by_label("Frame around the input image").rect().top();
    let is_tall = |window: &Window| {
        let request = &window.harness.state().state().draft().request;
        request.height > 3 * request.width
    };
    let says = |window: &Window| window.shows("The model was ");
    assert!(!says(&window));
    let from = window.harness.get_by_label("Top edge of the frame").rect().center();
    let (before, to) = (top(&window), from - egui::vec2(0.0, 300.0));
    window.harness.drag_at(from);
    window.frames();
    window.harness.hover_at(to);
    window.frames();
    assert!(is_tall(&window) && !says(&window));
    assert_eq!(top(&window), before);
    window.harness.drop_at(to);
    window.frames();
    assert!(is_tall(&window) && says(&window));
}

/// Like other sections: no further than it takes to see a good part of what is added.
#[test]
fn outpainting_low_in_the_panel_scrolls_a_little() {
    let folder = tempfile::tempdir().unwrap();
    let path = photo(folder.path(), "harbour.png");
    let mut window = Window::with_starter();
    window.drop_file(path.clone());
    window.wait_for("the image", |app| app.state().input.files.pixels(&path).is_some());
    window.frames();
    window.click("Dismiss the notice");
    window.see("Outpaint");
    window.harness.run_steps(20);
    let switch = |window: &Window| window.harness.get_by_role_and_label(Role::CheckBox, "Outpaint").rect();
    // What is in force is listed below the panel.
    let floor = |window: &Window| window.harness.get_by_label_contains("harbour.png · ").rect().top();
    let before = switch(&window);
    window.harness.hover_at(before.center());
    window.harness.event(egui::Event::MouseWheel {
        unit: egui::MouseWheelUnit::Point,
        delta: egui::vec2(0.0, floor(&window) - before.bottom() - 24.0),
        modifiers: Modifiers::NONE,
        phase: egui::TouchPhase::Move,
        source: egui::MouseWheelSource::Wheel,
    });
    window.harness.run_steps(20);
    let low = switch(&window);
    assert!(low.top() + IN_SIGHT > floor(&window) && low.bottom() < floor(&window), "{low:?}");
    window.harness.get_by_role_and_label(Role::CheckBox, "Outpaint").click();
    window.harness.run_steps(30);
    let (now, floor) = (switch(&window), floor(&window));
    assert!(now.top() + IN_SIGHT <= floor, "a good part is in sight: {now:?} above {floor}");
    assert!(now.top() + IN_SIGHT + 110.0 > floor, "and no more: {now:?} above {floor}");
}

#[test]
fn an_object_is_masked_by_clicks_through_the_engine() {
    let folder = tempfile::tempdir().unwrap();
    let (mut window, canvas) = painting(folder.path(), [1280.0, 800.0], egui::Theme::Dark);
    let click = |window: &mut Window, at: egui::Pos2, modifiers: Modifiers| {
        window.harness.hover_at(at);
        window.harness.event(egui::Event::ModifiersChanged(modifiers));
        // Within the time of a click.
        for pressed in [true, false] {
            let button = egui::PointerButton::Primary;
            window.harness.event(egui::Event::PointerButton { pos: at, button, pressed, modifiers });
        }
        window.harness.event(egui::Event::ModifiersChanged(Modifiers::NONE));
        window.frames();
    };
    window.click("Tool");
    window.click("Object");
    window.take_commands();
    click(&mut window, canvas, Modifiers::NONE);
    assert!(window.take_commands().is_empty(), "nothing makes masks yet");
    assert!(window.shows("A segmenter finds objects") && window.shows("Choose a file…"));
    nothing_is_unnamed(&window, "the tool for objects");
    let segmenter = folder.path().join("mobile_sam.safetensors");
    let context = window.harness.ctx.clone();
    window.harness.state_mut().act(&context, Action::UseSegmenter(segmenter.clone()));
    window.frames();
    assert!(window.shows("mobile_sam.safetensors") && !window.shows("A segmenter finds objects"));
    let recents = |window: &Window| window.harness.state().state().images.recents.iter().count();
    let before = recents(&window);
    click(&mut window, canvas, Modifiers::NONE);
    let job = window.take_job();
    let mask_of = job.request.mask_of.clone().unwrap();
    let point = MaskPoint { x: 48, y: 32, inside: true };
    assert_eq!((mask_of.points, mask_of.area, job.output), (vec![point], None, None));
    assert_eq!(job.request.model, ModelSource::Path(segmenter));
    let half = |white: fn(u32) -> bool| {
        let pixels = (0..64 * 96).flat_map(|at| [if white(at % 96) { 255 } else { 0 }; 3]).collect();
        vec![Picture { media: Media::Image(Image::opaque(96, 64, pixels)), seed: 0, path: None }]
    };
    window.says(Event::Finished { job: job.id, pictures: half(|_| false), seconds: 1.0 });
    window.frames();
    assert!(window.shows("Nothing was found there."));
    window.click("Undo stroke");
    assert!(!window.shows("Nothing was found there."));
    click(&mut window, canvas, Modifiers::NONE);
    let job = window.take_job();
    window.says(Event::Finished { job: job.id, pictures: half(|x| x < 48), seconds: 1.0 });
    window.frames();
    let masked = |window: &Window| {
        let painting = window.harness.state().state().input.painting.as_ref().unwrap();
        painting.to_image().pixels.iter().filter(|value| **value == 255).count() / 3
    };
    assert_eq!(masked(&window), 64 * 48);
    assert_eq!(recents(&window), before, "a mask is no image of the session");
    click(&mut window, canvas + egui::vec2(40.0, 0.0), Modifiers::ALT);
    let job = window.take_job();
    let points = job.request.mask_of.clone().unwrap().points;
    assert_eq!(points.iter().map(|point| point.inside).collect::<Vec<_>>(), [true, false]);
    window.says(Event::Finished { job: job.id, pictures: half(|x| x < 10), seconds: 1.0 });
    window.frames();
    assert_eq!(masked(&window), 64 * 10);
    window.click("Undo stroke");
    assert_eq!(masked(&window), 64 * 48, "the point is taken back, and what it changed");
    window.click("Next object");
    window.harness.drag_at(canvas - egui::vec2(60.0, 40.0));
    window.frames();
    window.harness.hover_at(canvas);
    window.frames();
    window.harness.drop_at(canvas + egui::vec2(60.0, 40.0));
    window.frames();
    let job = window.take_job();
    let mask_of = job.request.mask_of.clone().unwrap();
    let [left, top, right, bottom] = mask_of.area.unwrap();
    assert!(mask_of.points.is_empty() && left < 48 && top < 32 && right > 40 && bottom > 28);
    window.says(Event::Finished { job: job.id, pictures: half(|x| x > 90), seconds: 1.0 });
    window.frames();
    assert_eq!(masked(&window), 64 * (48 + 5), "the first object stays");
}

#[test]
fn escape_leaves_a_mask_without_strokes_and_cancels_no_job() {
    let folder = tempfile::tempdir().unwrap();
    let (mut window, canvas) = painting(folder.path(), [1280.0, 800.0], egui::Theme::Dark);
    window.harness.key_press_modifiers(Modifiers::COMMAND, egui::Key::Enter);
    window.frames();
    window.take_commands();
    window.harness.drag_at(canvas);
    window.frames();
    window.harness.drop_at(canvas);
    window.frames();
    let is_painted = |window: &Window| window.harness.state().state().input.painting.is_some();
    window.harness.key_press(egui::Key::Escape);
    window.frames();
    assert!(is_painted(&window), "strokes are not thrown away");
    assert!(window.shows("Stop painting?") && window.shows("The mask is not applied yet."));
    nothing_is_unnamed(&window, "the question about a mask");
    window.harness.key_press(egui::Key::Escape);
    window.frames();
    assert!(is_painted(&window) && !window.shows("Stop painting?"));
    window.harness.key_press(egui::Key::Escape);
    window.frames();
    window.click("Keep painting");
    assert!(is_painted(&window) && !window.shows("Stop painting?"));
    window.click("Clear");
    window.harness.key_press(egui::Key::Escape);
    window.frames();
    assert!(!is_painted(&window));
    assert_eq!(window.take_commands(), [], "nothing was cancelled");
}
