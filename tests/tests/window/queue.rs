//! The queue: its order, pauses, and what can be done with a job that waits.

use egui::{Key, Modifiers};
use egui_kittest::kittest::{NodeT as _, Queryable};
use sluice::window::{settings::Settings, state::Jobs};
use sluice_engine::{
    request::Request,
    session::{Command, Event, Job, JobId, Stage, StageKind},
};

use super::{
    runs::Scene,
    support::{Window, failure, half_way, picture, starter},
};

/// A window with one job that runs and some that wait, with prompts `a`, `ab` …
fn with_jobs(count: u64) -> Window {
    let mut window = Window::with_starter();
    for prompt in ["a", "b", "c", "d"].iter().take(count as usize) {
        window.fill("Prompt", prompt);
        window.click("Generate");
        window.take_job();
    }
    half_way(&mut window, JobId(1));
    window.click(&format!("Queue {count}"));
    window
}

/// A job of a session before.
fn job(number: u64) -> Job {
    let request = Request { prompt: format!("fox {number}"), ..Request::default() };
    Job::new(JobId(number), request)
}

fn order(window: &Window) -> Vec<u64> {
    window.harness.state().state().jobs.queue.iter().map(|job| job.id.0).collect()
}

/// Chooses an action for a job.
fn choose(window: &mut Window, job: u64, action: &str) {
    window.click(&format!("Actions for job {job}"));
    window.click(action);
}

#[test]
fn a_waiting_job_is_moved_to_the_front_and_to_the_end() {
    let mut window = with_jobs(4);
    choose(&mut window, 4, "Run next");
    assert_eq!(order(&window), [1, 4, 2, 3]);
    assert_eq!(window.take_commands(), [Command::Move { job: JobId(4), before: Some(JobId(2)) }]);
    choose(&mut window, 2, "Run last");
    assert_eq!(order(&window), [1, 4, 3, 2]);
    assert_eq!(window.take_commands(), [Command::Move { job: JobId(2), before: None }]);
}

#[test]
fn a_row_says_how_many_images_a_job_makes() {
    let mut window = Window::with_starter();
    let several = |number, batch, frames| {
        let job = job(number);
        Job { request: Request { batch, frames, ..job.request.clone() }, ..job }
    };
    window.says(Event::Unfinished { jobs: vec![several(1, 1, 1), several(2, 4, 1), several(3, 2, 9)] });
    window.click("Resume");
    window.take_commands();
    window.click("Queue 3");
    let rows = ["fox 1, Waiting · 128", "fox 2, Waiting · 4 images · 128", "fox 3, Waiting · 2 clips · 128"];
    for row in rows {
        assert!(window.shows(row), "{row}");
    }
}

#[test]
fn a_row_is_cut_and_its_tooltip_has_all_of_it() {
    let mut window = Window::with_starter();
    let prompt = format!("a fox{}", " in a very long forest".repeat(12));
    let job = job(1);
    let job = Job { request: Request { prompt: prompt.clone(), batch: 3, ..job.request.clone() }, ..job };
    window.says(Event::Unfinished { jobs: vec![job] });
    window.click("Resume");
    window.click("Queue 1");
    window.harness.get_by_label_contains("a fox in a very long forest").hover();
    window.harness.run_steps(6);
    assert!(window.shows(&format!("{prompt}\nWaiting · 3 images · 128 × 128")));
}

#[test]
fn what_would_move_nothing_cannot_be_chosen() {
    let can_move = |window: &Window| {
        ["Run next", "Run last"].map(|name| !window.harness.get_by_label(name).accesskit_node().is_disabled())
    };
    for (jobs, chosen, expected) in
        [(2, 2, [false, false]), (4, 2, [false, true]), (4, 3, [true, true]), (4, 4, [true, false])]
    {
        let mut window = with_jobs(jobs);
        window.click(&format!("Actions for job {chosen}"));
        assert_eq!(can_move(&window), expected, "{chosen} of {jobs}");
    }
}

#[test]
fn a_job_that_is_dragged_onto_another_one_runs_before_it() {
    let mut window = with_jobs(4);
    let place = |window: &Window, job: &str| window.harness.get_by_label_contains(job).rect().center();
    let (from, to) = (place(&window, "d, Waiting"), place(&window, "b, Waiting"));
    window.harness.drag_at(from);
    window.frames();
    window.harness.hover_at(to);
    window.frames();
    window.harness.drop_at(to);
    window.frames();
    assert_eq!(order(&window), [1, 4, 2, 3]);
    assert_eq!(window.take_commands(), [Command::Move { job: JobId(4), before: Some(JobId(2)) }]);
}

#[test]
fn a_right_click_on_a_job_shows_what_can_be_done_in_the_list() {
    let mut window = with_jobs(3);
    window.harness.get_by_label_contains("ab, Waiting").click_secondary();
    window.frames();
    assert!(window.shows("Run next") && window.shows("Cancel all"), "the list stays");
    window.click("Run last");
    assert_eq!(order(&window), [1, 3, 2]);
}

#[test]
fn of_a_long_queue_only_the_rows_that_are_seen_are_laid_out() {
    const MANY: u64 = 10_000;
    let mut window = Window::with_starter();
    let job = |number: u64| {
        let request = Request { prompt: format!("fox {number}"), ..Request::default() };
        Job::new(JobId(number), request)
    };
    window.says(Event::Unfinished { jobs: (1..=MANY).map(job).collect() });
    window.click("Resume");
    window.click(&format!("Queue {MANY}"));
    let rows = |window: &Window| -> Vec<String> {
        let found = window.harness.query_all_by_label_contains(", Waiting");
        found.map(|row| row.accesskit_node().label().unwrap_or_default()).collect()
    };
    let first = rows(&window);
    assert!(first[0].starts_with("fox 1,") && (5..20).contains(&first.len()), "{first:?}");
    window.harness.get_by_label_contains("fox 3, ").hover();
    for _ in 0..40 {
        let wheel = egui::Event::MouseWheel {
            unit: egui::MouseWheelUnit::Point,
            delta: egui::vec2(0.0, -20_000.0),
            modifiers: Modifiers::NONE,
            phase: egui::TouchPhase::Move,
            source: egui::MouseWheelSource::Wheel,
        };
        window.harness.event(wheel);
        window.frames();
    }
    let last = rows(&window);
    assert!(last.last().unwrap().starts_with("fox 10000,") && last.len() < 20, "{last:?}");
}

#[test]
fn a_job_is_queued_again_with_another_seed() {
    let mut window = with_jobs(2);
    choose(&mut window, 2, "Duplicate with another seed");
    let job = window.take_job();
    assert_eq!((job.id, job.request.prompt.as_str()), (JobId(3), "ab"));
    let state = window.harness.state().state();
    let first = state.jobs.queue.iter().find(|job| job.id == JobId(2)).unwrap().request().clone();
    assert_eq!(Request { seed: first.seed, ..job.request }, first);
    let mut jobs = Jobs::default();
    jobs.add(Job::new(JobId(0), first));
    let Some(Command::Generate(again)) = jobs.duplicate(JobId(1), Some(9)) else { panic!("a job") };
    assert_eq!((again.id, again.request.seed), (JobId(2), 9));
}

#[test]
fn jobs_that_are_cancelled_together_are_resumed_in_their_order() {
    let mut window = with_jobs(3);
    window.click("Cancel all");
    assert_eq!(window.take_commands(), [3, 2, 1].map(|job| Command::Cancel { job: JobId(job) }));
    for job in [3, 2, 1] {
        window.says(Event::Cancelled { job: JobId(job) });
    }
    window.click("Resume");
    let commands = window.take_commands();
    let prompts: Vec<&str> = commands
        .iter()
        .filter_map(|command| match command {
            Command::Generate(job) => Some(job.request.prompt.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(prompts, ["a", "ab", "abc"]);
}

#[test]
fn a_job_whose_settings_are_edited_leaves_the_queue() {
    let mut window = with_jobs(3);
    choose(&mut window, 2, "Edit");
    assert_eq!(window.harness.state().state().draft().request.prompt, "ab");
    assert_eq!(window.take_commands(), [Command::Cancel { job: JobId(2) }]);
    window.says(Event::Cancelled { job: JobId(2) });
    assert_eq!(order(&window), [1, 3]);
    assert!(window.shows("Editing a job"), "and not that it was cancelled");
    assert!(!window.shows("ab, Ended") && !window.shows("Actions for job 2"), "its row is gone");
}

#[test]
fn a_pause_stops_the_running_job_and_resume_goes_on_with_it() {
    let mut window = with_jobs(3);
    window.click("Pause");
    let commands = window.take_commands();
    assert_eq!(
        commands,
        [Command::Pause { paused: true }, Command::Cancel { job: JobId(1) }, Command::Unload]
    );
    window.says(Event::Cancelled { job: JobId(1) });
    assert_eq!(order(&window), [1, 2, 3], "it is at the front again");
    let commands = window.take_commands();
    let [Command::Generate(job), Command::Move { job: moved, before }] = commands.as_slice() else {
        panic!("{commands:?}")
    };
    assert_eq!((job.request.prompt.as_str(), *moved, *before), ("a", JobId(1), Some(JobId(2))));
    assert!(!window.shows("Cancelled"));
    assert!(window.shows("Queue 3 · paused") && window.shows("Paused"));
    for what in ["the list closes", "nothing runs that Escape could cancel"] {
        window.harness.key_press(Key::Escape);
        window.frames();
        assert_eq!(window.take_commands(), [], "{what}");
        assert!(!window.shows("Cancel all"));
    }
    // The palette opens the list again.
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::K);
    window.frames();
    window.harness.get_by_label("Search commands").type_text("queue");
    window.frames();
    window.harness.key_press(Key::Enter);
    window.frames();
    assert!(window.shows("Cancel all"));
    window.click("Resume");
    assert_eq!(window.take_commands(), [Command::Pause { paused: false }]);
    assert!(!window.shows("paused"));
}

#[test]
fn the_last_job_is_repeated_with_other_seeds_until_it_is_cancelled() {
    let mut window = with_jobs(1);
    let picture = || vec![picture(64, 64, 1)];
    window.click("Repeat");
    for id in 1..=3 {
        window.says(Event::Started { job: JobId(id) });
        window.says(Event::Finished { job: JobId(id), pictures: picture(), seconds: 0.1 });
        let next = window.take_job();
        assert_eq!((next.id, next.request.prompt.as_str()), (JobId(id + 1), "a"));
    }
    assert_eq!(order(&window), [4]);
    window.says(Event::Started { job: JobId(4) });
    window.says(Event::Cancelled { job: JobId(4) });
    assert!(order(&window).is_empty() && !window.harness.state().state().jobs.repeats);
    assert_eq!(window.take_commands(), []);
}

#[test]
fn what_fails_is_not_repeated() {
    let mut window = with_jobs(1);
    window.click("Repeat");
    window.says(Event::Failed { job: Some(JobId(1)), failure: failure() });
    assert!(order(&window).is_empty());
    assert_eq!(window.take_commands(), []);
}

#[test]
fn the_open_queue_says_how_long_it_takes() {
    let mut window = with_jobs(3);
    for query in window.take_plans() {
        window.says(Scene::here().answer(query.id));
    }
    window.says(Event::Step { job: JobId(1), step: 3, steps: 12, seconds: 1.0, seconds_left: 9.0 });
    assert!(window.shows(" left in all"), "what is left of the first job, and two more");
}

#[test]
fn jobs_that_wait_take_as_long_as_the_one_that_runs() {
    let mut window = Window::with_starter();
    for query in window.take_plans() {
        window.says(Scene::here().answer(query.id));
    }
    for _ in 0..3 {
        window.click("Generate");
    }
    let seconds = |window: &Window| window.harness.state().state().seconds_of_queue(0.0).unwrap();
    let forecast = seconds(&window);
    let job = JobId(1);
    window.says(Event::Started { job });
    window.says(Event::StageStarted { job, stage: Stage::new(0, StageKind::Denoise) });
    window.says(Event::Step { job, step: 3, steps: 12, seconds: 300.0, seconds_left: 900.0 });
    assert!(seconds(&window) >= 2700.0, "{} instead of {forecast}", seconds(&window));
    window.says(Event::Finished { job, pictures: vec![picture(64, 64, 1)], seconds: 1200.0 });
    assert!(seconds(&window) >= 1800.0, "two are left: {}", seconds(&window));
}

#[test]
fn a_paused_queue_says_how_long_it_takes() {
    let mut window = with_jobs(1);
    window.says(Event::Step { job: JobId(1), step: 3, steps: 12, seconds: 1.0, seconds_left: 9.0 });
    assert!(!window.shows(" left in all"), "one job that runs");
    window.click("Pause");
    window.take_commands();
    window.says(Event::Cancelled { job: JobId(1) });
    assert!(window.shows("9.0 s left in all"), "what is left of the job");
}

#[test]
fn the_time_of_the_queue_is_that_of_this_computer_where_a_gpu_is_simulated() {
    let mut scene = Scene::streamed();
    for here in [None, Some(1e6)] {
        scene.forecast.seconds_here = here;
        let mut window = Window::open([1280.0, 800.0], egui::Theme::Dark, |setup| {
            let mut saved = Settings::default();
            saved.memory.preferences = scene.preferences.clone();
            setup.settings = Some(saved);
        });
        window.says(Event::ModelLoaded(Box::new(starter())));
        for query in window.take_plans() {
            window.says(scene.answer(query.id));
        }
        window.click("Generate");
        window.click("Generate");
        let seconds = window.harness.state().state().seconds_of_queue(0.0);
        assert_eq!(seconds.is_some(), here.is_some(), "nobody knows how fast the CPU is");
        assert!(seconds.is_none_or(|seconds| seconds >= 1e6), "{seconds:?}");
    }
}

#[test]
fn the_buttons_of_the_open_queue_stay_where_they_are() {
    let mut window = with_jobs(3);
    let place = |window: &Window| window.harness.get_by_label("Pause").rect();
    let before = place(&window);
    assert!(!window.shows(" left in all"));
    for query in window.take_plans() {
        window.says(Scene::here().answer(query.id));
    }
    window.says(Event::Step { job: JobId(1), step: 6, steps: 12, seconds: 1.0, seconds_left: 9.0 });
    assert!(window.shows(" left in all"));
    assert_eq!(place(&window), before);
    let repeat = |window: &Window| window.harness.get_by_label("Repeat").rect().top();
    let (left, height) = (before.left(), repeat(&window));
    window.click("Pause");
    window.says(Event::Cancelled { job: JobId(1) });
    let resume = window.harness.get_by_label("Resume").rect();
    assert_eq!(resume.left(), left, "with a longer title above it");
    assert_eq!(repeat(&window), height);
}

#[test]
fn what_has_ended_is_below_what_waits_and_not_all_of_it() {
    let mut window = Window::with_starter();
    for _ in 0..6 {
        window.click("Generate");
    }
    window.says(Event::Started { job: JobId(1) });
    window.click("Queue 6");
    window.says(Event::Finished { job: JobId(1), pictures: vec![picture(64, 64, 1)], seconds: 1.0 });
    window.says(Event::Started { job: JobId(2) });
    let waiting = window.harness.get_by_label("Cancel job 6").rect();
    let ended = window.harness.get_by_label_contains("No prompt, Ended").rect();
    assert!(ended.top() > waiting.bottom(), "{ended:?} {waiting:?}");
    for job in 2..=5 {
        window.says(Event::Finished { job: JobId(job), pictures: vec![picture(64, 64, 1)], seconds: 1.0 });
    }
    let ended = window.harness.query_all_by_label_contains("No prompt, Ended").count();
    assert_eq!(ended, 3, "of five");
    assert!(window.shows("Cancel job 6"), "what waits is in sight");
}

#[test]
fn there_is_no_empty_room_below_the_rows() {
    let window = with_jobs(4);
    let last = window.harness.get_by_label_contains("d, Waiting").rect().bottom();
    let pause = window.harness.get_by_label("Pause").rect().top();
    assert!(pause - last < 60.0, "{last} {pause}");
}

/// What is saved when a window closes.
#[derive(Default)]
struct Saved(std::collections::HashMap<String, String>);

impl eframe::Storage for Saved {
    fn get_string(&self, key: &str) -> Option<String> {
        self.0.get(key).cloned()
    }

    fn set_string(&mut self, key: &str, value: String) {
        self.0.insert(key.to_owned(), value);
    }

    fn remove_string(&mut self, key: &str) {
        self.0.remove(key);
    }

    fn flush(&mut self) {}
}

#[test]
fn a_job_that_is_edited_outlives_the_window() {
    let mut window = with_jobs(3);
    choose(&mut window, 2, "Edit");
    window.says(Event::Cancelled { job: JobId(2) });
    let mut saved = Saved::default();
    for earlier in [vec![], vec![job(7)]] {
        eframe::App::save(window.harness.state_mut(), &mut saved);
        let settings = Settings::load(&saved);
        window = Window::open([1280.0, 800.0], egui::Theme::Dark, |setup| setup.settings = settings);
        let count = earlier.len() + 1;
        if !earlier.is_empty() {
            let journal = Some("7.journal".into());
            let jobs = earlier.into_iter().map(|job| Job { journal: journal.clone(), ..job }).collect();
            window.says(Event::Unfinished { jobs });
        }
        window.says(Event::ModelLoaded(Box::new(starter())));
        assert_eq!(window.harness.state().state().jobs.unfinished.len(), count);
    }
    window.take_commands();
    window.click("Resume");
    let commands = window.take_commands();
    let [Command::Generate(earlier), Command::Generate(edited)] = commands.as_slice() else {
        panic!("{commands:?}")
    };
    assert_eq!((earlier.request.prompt.as_str(), edited.request.prompt.as_str()), ("fox 7", "ab"));
    let mut saved = Saved::default();
    eframe::App::save(window.harness.state_mut(), &mut saved);
    assert_eq!(Settings::load(&saved).unwrap().edited, []);
}

#[test]
fn a_job_that_was_cancelled_in_a_session_before_can_be_resumed() {
    let mut window = Window::with_starter();
    let journal = Some(std::path::PathBuf::from("3.journal"));
    let cancelled = Job { journal: journal.clone(), ..job(3) };
    window.says(Event::Resumable { jobs: vec![cancelled] });
    window.frames();
    window.take_commands();
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::K);
    window.frames();
    window.harness.get_by_label("Search commands").type_text("resume");
    window.frames();
    window.harness.key_press(Key::Enter);
    window.frames();
    let again = window.take_job();
    assert_eq!((again.id, again.request.prompt.as_str(), &again.journal), (JobId(1), "fox 3", &journal));
}

#[test]
fn the_taskbar_shows_the_progress_of_the_running_job_and_nothing_afterwards() {
    let shown = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
    let heard = std::rc::Rc::clone(&shown);
    let mut window = Window::open([1280.0, 800.0], egui::Theme::Dark, |setup| {
        setup.show_progress = Box::new(move |progress| heard.borrow_mut().push(progress));
    });
    window.says(Event::ModelLoaded(Box::new(starter())));
    window.frames();
    window.take_commands();
    window.click("Generate");
    let job = window.take_job().id;
    half_way(&mut window, job);
    window.frames();
    window.says(Event::Finished { job, pictures: Vec::new(), seconds: 1.0 });
    window.frames();
    let shown = shown.borrow();
    assert!(shown.iter().flatten().any(|share| (0.3..0.6).contains(share)), "{shown:?}");
    assert_eq!(shown.last(), Some(&None));
}

#[test]
fn the_desktop_says_that_the_queue_is_done_while_another_window_is_in_front() {
    let said = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
    let heard = std::rc::Rc::clone(&said);
    let open = |settings: Settings| {
        let heard = std::rc::Rc::clone(&heard);
        Window::open([1280.0, 800.0], egui::Theme::Dark, |setup| {
            setup.notify = Box::new(move |words| heard.borrow_mut().push(words));
            setup.settings = Some(settings);
        })
    };
    let draw = |window: &mut Window, is_focused: bool| {
        window.says(Event::ModelLoaded(Box::new(starter())));
        window.frames();
        window.take_commands();
        window.click("Generate");
        let job = window.take_job().id;
        window.says(Event::Started { job });
        window.harness.input_mut().focused = is_focused;
        window.frames();
        window.says(Event::Finished { job, pictures: Vec::new(), seconds: 1.0 });
        window.frames();
    };
    draw(&mut open(Settings { notifies: false, ..Settings::default() }), false);
    let mut window = open(Settings::default());
    draw(&mut window, true);
    assert!(said.borrow().is_empty(), "it is turned off, or the window is in front");
    draw(&mut window, false);
    assert_eq!(*said.borrow(), ["All jobs are done."]);
}

#[test]
fn a_job_that_is_dragged_onto_the_lower_half_of_another_one_runs_after_it() {
    let mut window = with_jobs(4);
    let rect = |window: &Window, job: &str| window.harness.get_by_label_contains(job).rect();
    let from = rect(&window, "b, Waiting").center();
    let last = rect(&window, "d, Waiting");
    window.harness.drag_at(from);
    window.frames();
    for to in [last.center(), last.center() + egui::vec2(0.0, last.height() / 3.0)] {
        window.harness.hover_at(to);
        window.frames();
    }
    window.harness.drop_at(last.center() + egui::vec2(0.0, last.height() / 3.0));
    window.frames();
    assert_eq!(order(&window), [1, 3, 4, 2]);
    assert_eq!(window.take_commands(), [Command::Move { job: JobId(2), before: None }]);
}

#[test]
fn an_edited_job_takes_its_place_again_with_other_settings() {
    let mut window = with_jobs(4);
    choose(&mut window, 2, "Edit");
    window.take_commands();
    window.says(Event::Cancelled { job: JobId(2) });
    assert!(window.shows("Generate puts it back in its place"));
    window.fill("Prompt", " boat");
    let is_locked = |window: &Window| window.harness.state().state().draft().seed_locked;
    assert!(is_locked(&window), "it is drawn with its own seed");
    window.click("Generate");
    assert!(!is_locked(&window), "and the next one with another");
    let commands = window.take_commands();
    let [Command::Generate(job), moved] = commands.as_slice() else { panic!("{commands:?}") };
    assert_eq!((job.id, job.request.prompt.as_str()), (JobId(5), "ab boat"));
    assert_eq!(*moved, Command::Move { job: JobId(5), before: Some(JobId(3)) });
    assert_eq!(order(&window), [1, 5, 3, 4]);
    window.click("Generate");
    assert_eq!(order(&window), [1, 5, 3, 4, 6], "the next one is a new one");
}

#[test]
fn a_job_that_is_edited_is_never_lost() {
    let mut window = with_jobs(4);
    let before = window.harness.state().state().draft().clone();
    choose(&mut window, 2, "Edit");
    window.says(Event::Cancelled { job: JobId(2) });
    window.click("Undo");
    assert_eq!(window.harness.state().state().draft(), &before);
    assert_eq!(order(&window), [1, 5, 3, 4], "it is back");

    window.click("Queue 4");
    choose(&mut window, 5, "Edit");
    window.says(Event::Cancelled { job: JobId(5) });
    window.says(Event::Started { job: JobId(3) });
    choose(&mut window, 4, "Edit");
    window.says(Event::Cancelled { job: JobId(4) });
    assert_eq!(order(&window), [1, 3, 6], "the first one is back where the next to run is");
    let first = window.harness.state().state().jobs.queue[2].request().prompt.clone();
    assert_eq!(first, "ab");
}
