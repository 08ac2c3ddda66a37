//! Images that are described one by one, each in a text beside it. No drawing and no I/O.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    path::{Path, PathBuf},
};

use sluice_engine::{
    output::Output,
    request::{Describe, Request},
    session::{Command, Job, JobId},
};

use super::{Enhancing, Expected, State};
use crate::language::tr;

/// Images that are to be described one by one.
#[derive(Debug, Default)]
pub struct Each {
    /// Those without a text, with the files of their texts; absent while these are looked for.
    pub texts: Option<Vec<(PathBuf, PathBuf)>>,
    /// How many have a text and are left out.
    pub done: usize,
}

/// The texts about images that are described one by one.
#[derive(Debug, Default)]
pub struct Texts {
    /// Where what a job writes is saved.
    files: BTreeMap<JobId, PathBuf>,
    /// What was written and is to be saved.
    written: VecDeque<(PathBuf, String)>,
    /// The jobs since it was said last how many images are described.
    jobs: BTreeSet<JobId>,
    /// How many texts these have written, and the folder of the last one.
    described: (usize, Option<PathBuf>),
}

impl Texts {
    /// A job has written all of its text.
    pub(super) fn take(&mut self, job: JobId, text: &str) {
        if let Some(file) = self.files.remove(&job) {
            self.described = (self.described.0 + 1, file.parent().map(Path::to_owned));
            self.written.push_back((file, text.to_owned()));
        }
    }

    /// Hands over what was written, as long as `take` takes it. Returns whether something is left.
    pub fn hand_over(&mut self, mut take: impl FnMut(PathBuf, String) -> bool) -> bool {
        while self.written.front().is_some_and(|(file, text)| take(file.clone(), text.clone())) {
            self.written.pop_front();
        }
        !self.written.is_empty()
    }
}

impl State {
    /// Whether images are to be described one by one.
    pub fn describes_each(&self) -> bool {
        self.enhancing.as_ref().is_some_and(|known| known.each.is_some())
    }

    /// Shows how images can be described one by one. Ends what is being written.
    pub fn ask_describe_each(&mut self, images: Vec<PathBuf>) -> Option<Command> {
        if images.is_empty() {
            return None;
        }
        let command = self.close_enhance();
        let mut asked = Enhancing::new(images);
        asked.each = Some(Each::default());
        self.enhancing = Some(asked);
        command
    }

    /// It is known where the texts about these images go.
    pub fn take_text_names(&mut self, images: &[PathBuf], texts: Vec<(PathBuf, PathBuf)>, done: usize) {
        let asked = self.enhancing.as_mut().filter(|known| known.images == images);
        if let Some(each) = asked.and_then(|known| known.each.as_mut()) {
            *each = Each { texts: Some(texts), done };
        }
    }

    /// Queues a job for each image that has no text.
    pub fn describe_each(&mut self, seed: u64) -> Vec<Command> {
        if !self.describes_each() || !self.can_enhance() {
            return Vec::new();
        }
        let Some(request) = self.request_to_enhance(seed) else { return Vec::new() };
        let Some(describe) = request.describe.clone() else { return Vec::new() };
        let estimate = self.enhancing.as_ref().and_then(Enhancing::estimate).and_then(Result::ok);
        let here = estimate.and_then(|estimate| estimate.here(&self.settings.memory.preferences.device));
        let expected = here.map(|seconds| Expected::predicted(seconds, seconds));
        let texts = self.enhancing.take().and_then(|asked| asked.each?.texts).unwrap_or_default();
        let waits = |job: &JobId| self.jobs.queue.iter().any(|queued| queued.id == *job);
        self.texts.files.retain(|job, _| waits(job));
        let (mut jobs, mut files) = (Vec::new(), Vec::new());
        for (image, text) in texts {
            if self.texts.files.values().chain(&files).any(|known| *known == text) {
                continue;
            }
            let describe = Describe { images: vec![image], ..describe.clone() };
            let request = Request { describe: Some(describe), ..request.clone() };
            // The engine writes no texts, but says at once if nothing can be written there.
            let output = text.parent().map(|folder| Output::Folder(folder.to_owned()));
            let memory = self.settings.memory.preferences.clone();
            jobs.push((Job { output, memory, ..Job::new(JobId(0), request) }, expected));
            files.push(text);
        }
        let commands = self.queue_files(jobs);
        for (command, text) in commands.iter().zip(files) {
            if let Command::Generate(job) = command {
                self.texts.files.insert(job.id, text);
                self.texts.jobs.insert(job.id);
            }
        }
        self.messages.say(tr!("enhance-each-queued", count = commands.len()), Vec::new());
        commands
    }

    /// Says how many images are described one by one, once no job for another one is left.
    pub(super) fn say_described(&mut self) {
        if self.jobs.queue.iter().any(|job| self.texts.jobs.contains(&job.id)) {
            return;
        }
        self.texts.jobs.clear();
        let (count, folder) = std::mem::take(&mut self.texts.described);
        if count > 0
            && let Some(notice) =
                self.messages.add_to_notice(tr!("enhance-each-described", count = count), Vec::new())
        {
            notice.folder = folder;
        }
    }
}

#[cfg(test)]
mod tests {
    use sluice_engine::session::{Event, Failure};

    use super::*;
    use crate::groups::Group;

    fn asked(names: &[&str]) -> State {
        let path = |name: &str| PathBuf::from(format!("/photos/{name}"));
        let mut state = State::default();
        let images: Vec<PathBuf> = names.iter().map(|name| path(&format!("{name}.png"))).collect();
        state.ask_describe_each(images.clone());
        state.choose_language_model("/models/Qwen2.5-VL-3B-Instruct".into());
        assert!(state.describe_each(1).is_empty(), "it is not known yet where the texts go");
        let texts = names.iter().map(|name| (path(&format!("{name}.png")), path(&format!("{name}.txt"))));
        state.take_text_names(&images, texts.collect(), 0);
        state
    }

    fn saved(state: &mut State) -> Vec<(PathBuf, String)> {
        let mut all = Vec::new();
        let is_left = state.texts.hand_over(|file, text| {
            all.push((file, text));
            true
        });
        assert!(!is_left);
        all
    }

    #[test]
    fn each_image_becomes_a_job_and_what_it_writes_is_saved_beside_it() {
        let mut state = asked(&["a", "b"]);
        let commands = state.describe_each(7);
        assert!(state.enhancing.is_none());
        let [Command::Generate(first), Command::Generate(second)] = &commands[..] else {
            panic!("{commands:?}")
        };
        for (job, image) in [(first, "/photos/a.png"), (second, "/photos/b.png")] {
            let describe = job.request.describe.as_ref().unwrap();
            assert_eq!((describe.images.first(), job.request.seed), (Some(&PathBuf::from(image)), 7));
            assert_eq!(describe.images.len(), 1);
            let group = state.jobs.groups.of(job.id);
            assert_eq!(group.map(Group::progress), Some([0, 2]), "they are one row of the queue");
            assert_eq!(job.output, Some(Output::Folder("/photos".into())));
        }
        let says = |state: &mut State, job, text: &str, is_whole| {
            state.apply(Event::Text { job, text: text.to_owned(), is_whole }, 0.0);
        };
        says(&mut state, second.id, "a d", false);
        assert!(saved(&mut state).is_empty(), "it is not whole yet");
        says(&mut state, second.id, "a den", true);
        assert_eq!(saved(&mut state), [(PathBuf::from("/photos/b.txt"), "a den".to_owned())]);
        says(&mut state, second.id, "a den", true);
        assert!(saved(&mut state).is_empty(), "it is saved once");
    }

    #[test]
    fn the_end_is_said_once_with_the_folder_of_the_texts() {
        let mut state = asked(&["a", "b", "c"]);
        let commands = state.describe_each(7);
        let jobs = commands.iter().map(|command| match command {
            Command::Generate(job) => job.id,
            other => panic!("{other:?}"),
        });
        let [first, second, third] = jobs.collect::<Vec<_>>()[..] else { panic!("{commands:?}") };
        for job in [first, second] {
            state.apply(Event::Text { job, text: "a den".to_owned(), is_whole: true }, 0.0);
            state.apply(Event::Finished { job, pictures: Vec::new(), seconds: 1.0 }, 0.0);
            assert_eq!(state.messages.notice.as_ref().unwrap().text, "3 images are being described");
        }
        let failure = Failure { message: "no".to_owned(), advice: None };
        state.apply(Event::Failed { job: Some(third), failure }, 0.0);
        let notice = state.messages.notice.take().unwrap();
        assert_eq!(notice.text, "2 images are described. The texts are beside them.");
        assert_eq!(notice.folder, Some(PathBuf::from("/photos")));
        state.jobs.add(Job::new(JobId(0), Request::default()));
        let job = state.jobs.newest();
        state.apply(Event::Finished { job, pictures: Vec::new(), seconds: 1.0 }, 0.0);
        assert_eq!(state.messages.notice, None);
    }

    #[test]
    fn what_is_queued_is_not_queued_again_unless_it_has_ended() {
        let mut state = asked(&["a"]);
        let commands = state.describe_each(1);
        let [Command::Generate(job)] = &commands[..] else { panic!("{commands:?}") };
        let again = |state: &mut State| {
            let (image, text) = (PathBuf::from("/photos/a.png"), PathBuf::from("/photos/a.txt"));
            state.ask_describe_each(vec![image.clone()]);
            let texts = vec![(image.clone(), text)];
            state.take_text_names(&[image], texts, 0);
            state.describe_each(2).len()
        };
        assert_eq!(again(&mut state), 0);
        state.jobs.cancel(job.id);
        state.apply(Event::Cancelled { job: job.id }, 0.0);
        assert_eq!(again(&mut state), 1);
    }

    #[test]
    fn what_is_said_about_other_images_is_not_taken() {
        let mut state = asked(&["a"]);
        let texts = |state: &State| {
            let each = state.enhancing.as_ref().and_then(|asked| asked.each.as_ref());
            each.and_then(|each| each.texts.as_ref()).map(Vec::len)
        };
        state.take_text_names(&["/photos/z.png".into()], Vec::new(), 1);
        assert_eq!(texts(&state), Some(1));
        assert!(state.ask_describe(vec!["/photos/a.png".into()]).is_none());
        assert_eq!(texts(&state), None, "they are described together");
    }
}
