//! Descriptions of images in the side panel, and where they are asked for.

use egui::{Key, Modifiers, Theme, accesskit};
use egui_kittest::kittest::{NodeT as _, Queryable};
use sluice::{
    units,
    window::{action::EnhanceStep, settings::Settings, state::State},
};
use sluice_engine::{
    request::{Describe, ModelSource},
    session::{Command, Event, Job},
};

use super::{
    behaviour::nothing_is_unnamed,
    gallery::Kept,
    runs::Scene,
    support::{Window, starter},
};

const MODEL: &str = "/models/Qwen2.5-VL-3B-Instruct/model.safetensors";
const PHOTO: &str = "/photos/den.jpg";

fn state(window: &Window) -> &State {
    window.harness.state().state()
}

/// A window in which a photo is to be described.
fn opened() -> Window {
    let mut window = Window::open([1280.0, 800.0], Theme::Dark, |setup| {
        setup.settings = Some(Settings { describer: Some(MODEL.into()), ..Settings::default() });
    });
    window.says(Event::ModelLoaded(Box::new(starter())));
    window.frames();
    describe(&mut window);
    window
}

fn describe(window: &mut Window) {
    let context = window.harness.ctx.clone();
    let step = EnhanceStep::Describe(vec![PHOTO.into()]);
    window.harness.state_mut().act(&context, step.into());
    window.frames();
}

/// Describes, and has the words come.
fn described(window: &mut Window, button: &str, text: &str) -> Job {
    window.take_commands();
    window.click(button);
    let job = window.take_job();
    window.says(Event::Started { job: job.id });
    window.says(Event::Text { job: job.id, text: text.to_owned(), is_whole: true });
    window.says(Event::Finished { job: job.id, pictures: Vec::new(), seconds: 2.0 });
    window.frames();
    job
}

#[test]
fn an_image_is_described_as_one_watches_and_the_words_are_used() {
    let mut window = opened();
    assert!(window.shows("Description of den.jpg"));
    assert!(window.shows("Qwen2.5-VL-3B-Instruct"), "a file without a name of its own");
    nothing_is_unnamed(&window, "describing");
    window.take_commands();
    window.click("Describe");
    let job = window.take_job();
    assert_eq!(job.request.model, ModelSource::Path(MODEL.into()));
    let Describe { images, writing, .. } = job.request.describe.clone().unwrap();
    assert_eq!((images, &job.output), (vec![PHOTO.into()], &None));
    assert_eq!(writing.instruction, state(&window).instruction());
    window.says(Event::Started { job: job.id });
    window.says(Event::Text { job: job.id, text: "A den".to_owned(), is_whole: false });
    window.frames();
    assert!(window.shows("A den") && window.shows("Stop") && !window.shows("Use as prompt"));
    window.click("Stop");
    assert!(window.take_commands().contains(&Command::Cancel { job: job.id }));
    window.says(Event::Cancelled { job: job.id });
    window.frames();

    let again = described(&mut window, "Try again", "A den in the snow");
    nothing_is_unnamed(&window, "a description");
    window.click("Copy");
    assert!(window.shows("Copied to the clipboard"));
    window.click("Use as prompt");
    window.frames();
    let request = state(&window).draft().request.clone();
    assert_eq!(request.prompt, "A den in the snow");
    let enhanced = request.enhanced.unwrap();
    assert_eq!((enhanced.images, enhanced.seed), (vec!["den.jpg".to_owned()], again.request.seed));
    window.click("Undo");
    window.frames();
    assert_eq!(state(&window).draft().request.prompt, "");

    window.fill("Prompt", "a fox");
    describe(&mut window);
    described(&mut window, "Describe", "a den");
    window.click("Append");
    window.frames();
    assert_eq!(state(&window).draft().request.prompt, "a fox, a den");
}

#[test]
fn what_a_description_takes_is_said_before_it_is_started() {
    let mut window = opened();
    let queries = window.take_plans();
    let query = queries.iter().find(|query| query.request.describe.is_some()).expect("a question");
    let scene = Scene::here();
    window.says(scene.answer(query.id));
    let plan = scene.plan();
    let (memory, time) = (units::memory_needed(plan.peak_device()), units::seconds(plan.seconds));
    assert!(window.shows(&format!("Takes up to {memory} of memory and at most about {time}")));
}

/// The width of the side panel.
const PANEL: f32 = 328.0;

#[test]
fn what_can_be_done_with_a_description_stays_inside_the_panel() {
    let mut window = opened();
    described(&mut window, "Describe", "A den in the snow, and a fox that looks out of it");
    for name in ["Use as prompt", "Append", "Copy", "Try again"] {
        assert!(window.shows(name), "{name}");
    }
    let mut count = 0;
    for node in window.harness.root().children_recursive() {
        let known = node.accesskit_node();
        if !known.data().supports_action(accesskit::Action::Focus) || known.is_hidden() {
            continue;
        }
        let place = node.rect();
        if place.left() < PANEL - 20.0 && place.top() > 48.0 {
            assert!(place.right() <= PANEL, "{:?} {:?} at {place:?}", known.role(), known.label());
            count += 1;
        }
    }
    assert!(count > 10, "{count} controls");
}

#[test]
fn the_card_is_scrolled_to_when_it_opens() {
    let mut window = Window::open([1280.0, 600.0], Theme::Dark, |_| ());
    window.says(Event::ModelLoaded(Box::new(starter())));
    window.click("More settings");
    window.see("Guidance and speed");
    window.harness.run_steps(20);
    assert!(window.harness.get_by_label("Prompt").rect().bottom() < 48.0, "the prompt is out of sight");
    describe(&mut window);
    window.harness.run_steps(30);
    let words = window.harness.get_by_label("Description of den.jpg").rect();
    let edge = window.harness.get_by_label("Generate").rect().top();
    assert!(words.top() > 48.0 && words.bottom() < edge, "{words:?} above {edge}");
    assert!(window.shows("Choose a file…"), "a model is missing");
}

#[test]
fn the_kind_of_words_and_the_instruction_are_remembered() {
    let mut window = opened();
    let usual = state(&window).instruction().to_owned();
    let context = window.harness.ctx.clone();
    window.harness.state_mut().act(&context, EnhanceStep::DescribeAs("tags".to_owned()).into());
    window.frames();
    assert_ne!(state(&window).instruction(), usual);
    window.click("Instruction");
    window.frames();
    window.replace("Tags", "Name the colours.");
    window.frames();
    assert_eq!(state(&window).instruction(), "Name the colours.");
    assert_eq!(state(&window).settings.description.as_deref(), Some("tags"));
    window.click("Enhance prompt…");
    window.frames();
    assert!(!window.shows("Description of den.jpg"), "the prompt is made better instead");
    assert_ne!(state(&window).instruction(), "Name the colours.");
}

#[test]
fn the_palette_makes_prompts_better_and_describes_results() {
    let mut window = Window::with_starter();
    let run = |window: &mut Window, words: &str| {
        window.harness.key_press_modifiers(Modifiers::COMMAND, Key::K);
        window.frames();
        window.harness.get_by_label("Search commands").type_text(words);
        window.frames();
        window.harness.key_press(Key::Enter);
        window.frames();
    };
    run(&mut window, "enhance prompt");
    assert!(window.shows("No language model was found"));
    let kept = Kept::some();
    let mut window = kept.open_sized([1280.0, 800.0], Theme::Dark);
    window.harness.get_by_label("2.png").click_secondary();
    window.frames();
    window.click("Describe image…");
    window.frames();
    assert!(!window.harness.state().gallery().is_open, "the side panel is seen");
    assert!(window.shows("Description of 2.png"));
    assert!(window.shows("No language model that sees images was found"));
}

#[test]
fn images_that_are_selected_are_described_together_without_clips() {
    let kept = Kept::some();
    let mut window = kept.open_sized([1280.0, 800.0], Theme::Dark);
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::A);
    window.frames();
    window.harness.get_by_label("2.png").click_secondary();
    window.frames();
    window.click("Describe images…");
    window.frames();
    let enhancing = state(&window).enhancing.as_ref().unwrap();
    let mut names: Vec<_> = enhancing.images.iter().filter_map(|path| path.file_name()).collect();
    names.sort();
    assert_eq!(names, ["1.png", "2.png", "3.png"]);
}

#[test]
fn images_that_are_selected_are_described_one_by_one_into_files_beside_them() {
    let kept = Kept::some();
    let path = |name: &str| kept.folder.path().join(name);
    std::fs::write(path("1.txt"), "mine").unwrap();
    let mut window = kept.open_sized([1280.0, 800.0], Theme::Dark);
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::A);
    window.frames();
    window.harness.get_by_label("2.png").click_secondary();
    window.frames();
    window.click("Describe each…");
    window.wait_for_words("2 images are described one by one");
    assert!(window.shows("1 image is left out because its text is there"));
    assert!(!window.harness.state().gallery().is_open, "the side panel is seen");
    let context = window.harness.ctx.clone();
    window.harness.state_mut().act(&context, EnhanceStep::UseModel(MODEL.into()).into());
    window.frames();
    nothing_is_unnamed(&window, "describing images one by one");
    window.take_commands();
    window.click("Describe each");
    let commands = window.take_commands();
    assert!(window.shows("2 images are being described"));
    window.click("Queue 2");
    assert!(window.shows("Describe 2 images, 0 of 2"));
    let mut described = Vec::new();
    for command in commands {
        let Command::Generate(job) = command else { panic!("{command:?}") };
        let [image] = &job.request.describe.as_ref().unwrap().images[..] else { panic!("not one image") };
        let text = format!("What {} shows", image.file_stem().unwrap().display());
        window.says(Event::Started { job: job.id });
        window.says(Event::Text { job: job.id, text: text.clone(), is_whole: true });
        window.says(Event::Finished { job: job.id, pictures: Vec::new(), seconds: 2.0 });
        let file = image.with_extension("txt");
        window.wait_for("the text", |_| file.exists());
        assert_eq!(std::fs::read_to_string(&file).unwrap(), format!("{text}\n"));
        described.push(file);
    }
    window.frames();
    assert!(window.shows("2 images are described. The texts are beside them."));
    assert!(window.shows("Open folder"));
    nothing_is_unnamed(&window, "images that are described");
    described.sort();
    assert_eq!(described, [path("2.txt"), path("3.txt")]);
    assert_eq!(std::fs::read_to_string(path("1.txt")).unwrap(), "mine");
}
