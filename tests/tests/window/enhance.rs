//! A better prompt in the side panel.

use sluice::{units, window::settings::Settings};
use sluice_engine::{
    request::ModelSource,
    session::{Event, Failure},
};

use super::{
    behaviour::nothing_is_unnamed,
    runs::Scene,
    support::{Window, starter},
};

fn opened() -> Window {
    let mut window = Window::open([1280.0, 800.0], egui::Theme::Dark, |setup| {
        let model = Some("/models/Qwen3-0.6B-Q8_0.gguf".into());
        setup.settings = Some(Settings { language_model: model, ..Settings::default() });
    });
    window.says(Event::ModelLoaded(Box::new(starter())));
    window.frames();
    window
}

#[test]
fn a_prompt_is_enhanced_as_one_watches_and_kept_and_undone() {
    let mut window = opened();
    window.click("Enhance prompt…");
    window.frames();
    assert!(window.shows("Write a few words as the prompt first"));
    window.fill("Prompt", "a fox");
    window.frames();
    nothing_is_unnamed(&window, "enhancing");
    window.take_commands();
    window.click("Write");
    let job = window.take_job();
    assert_eq!(job.request.model, ModelSource::Path("/models/Qwen3-0.6B-Q8_0.gguf".into()));
    assert_eq!((job.request.prompt.as_str(), &job.output), ("a fox", &None));
    window.says(Event::Started { job: job.id });
    window.says(Event::Text { job: job.id, text: "A red fox".to_owned(), is_whole: false });
    window.frames();
    assert!(window.shows("A red fox") && window.shows("Stop") && !window.shows("Use this prompt"));
    window.says(Event::Text { job: job.id, text: "A red fox in the snow".to_owned(), is_whole: true });
    window.says(Event::Finished { job: job.id, pictures: Vec::new(), seconds: 2.0 });
    window.frames();
    window.click("Try again");
    let again = window.take_job();
    assert_ne!(again.id, job.id);
    window.says(Event::Text { job: again.id, text: "A sly fox at night".to_owned(), is_whole: true });
    window.says(Event::Finished { job: again.id, pictures: Vec::new(), seconds: 2.0 });
    window.frames();
    nothing_is_unnamed(&window, "an enhanced prompt");
    window.click("Use this prompt");
    window.frames();
    let request = window.harness.state().state().draft().request.clone();
    assert_eq!(request.prompt, "A sly fox at night");
    assert_eq!(request.enhanced.map(|enhanced| enhanced.prompt).as_deref(), Some("a fox"));
    assert!(!window.shows("Try again"));
    window.click("Undo");
    window.frames();
    assert_eq!(window.harness.state().state().draft().request.prompt, "a fox");
}

#[test]
fn the_instruction_can_be_changed_and_what_is_wrong_is_said() {
    let mut window = opened();
    window.fill("Prompt", "a fox");
    window.click("Enhance prompt…");
    window.frames();
    window.click("Instruction");
    window.frames();
    nothing_is_unnamed(&window, "an instruction");
    window.replace("For models that read sentences", "Write a poem.");
    window.frames();
    let message = "x.gguf cannot write prompts: it is no language model of Qwen3".to_owned();
    let failure = Failure { message, advice: None };
    // A query waits for the answer to the one before, and for the words to stay as they are.
    for _ in 0..30 {
        window.frames();
        for query in window.take_plans().into_iter().filter(|query| query.request.enhance.is_some()) {
            window.says(Event::NotPlanned { id: query.id, failure: failure.clone() });
        }
    }
    window.frames();
    assert!(window.shows("it is no language model of Qwen3"));
    let state = window.harness.state().state();
    assert_eq!(state.instruction(), "Write a poem.");
    window.click("Usual instruction");
    window.frames();
    assert!(window.harness.state().state().settings.instructions.is_empty());
}

#[test]
fn what_writing_takes_is_said_before_it_is_started() {
    let mut window = opened();
    window.fill("Prompt", "a fox");
    window.take_plans();
    window.click("Enhance prompt…");
    let queries = window.take_plans();
    let query = queries.iter().find(|query| query.request.enhance.is_some()).expect("a question");
    let scene = Scene::here();
    window.says(scene.answer(query.id));
    let plan = scene.plan();
    let (memory, time) = (units::memory_needed(plan.peak_device()), units::seconds(plan.seconds));
    assert!(window.shows(&format!("Takes up to {memory} of memory and at most about {time}")));
}
