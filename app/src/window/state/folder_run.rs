//! What a run over the input images of a folder takes. No drawing and no I/O.

use std::path::{Path, PathBuf};

use sluice_engine::{
    request::{Request, SourceImage},
    session::Readings,
};

use super::{Answer, Ask, Estimate, Planning, State};
use crate::{groups::seconds_of_another, window::action::InputUse};

/// The number before the first query about a folder, above those of queries about masks and maps.
pub(super) const FIRST: u64 = 1 << 45;

/// The forecast for a run over a folder.
#[derive(Debug)]
pub struct FolderRun {
    planning: Planning,
}

impl Default for FolderRun {
    fn default() -> Self {
        Self { planning: Planning::numbered_after(FIRST) }
    }
}

impl FolderRun {
    /// Takes the engine's answer to a query.
    pub(super) fn take(&mut self, id: u64, answer: Answer) {
        self.planning.take(id, answer, Readings::default());
    }
}

/// The request for an image of a folder over these settings: image to image, an edit of it, or a clip that starts with it.
pub(super) fn with_input(
    base: &Request,
    input: PathBuf,
    (used_as, strength): (InputUse, Option<f64>),
) -> Request {
    match used_as {
        InputUse::Reference => {
            let others = base.references.iter().skip(1).cloned();
            Request { references: std::iter::once(input).chain(others).collect(), ..base.clone() }
        }
        InputUse::Source => {
            let before = base.source.clone().unwrap_or_default();
            let strength = strength.unwrap_or(before.strength);
            let source = Some(SourceImage { path: input, mask: None, strength, ..before });
            Request { source, ..base.clone() }
        }
    }
}

impl State {
    /// The panel's settings for one image of a folder.
    pub(super) fn folder_base(&self) -> Request {
        Request { batch: 1, ..self.to_send().into_owned() }
    }

    /// The denoising strength with which images of a folder are used at first; `None` where there is none.
    pub fn folder_strength(&self, used_as: InputUse) -> Option<f64> {
        let request = &self.draft().request;
        let strength = || request.source.clone().unwrap_or_default().strength;
        (used_as == InputUse::Source && request.frames == 1).then(strength)
    }

    /// The next query about a run over a folder with this first image, if any.
    pub fn ask_about_folder(&mut self, asked: Option<(&Path, InputUse, Option<f64>)>, now: f64) -> Ask {
        let request = asked.filter(|_| self.can_ask()).map(|(input, used_as, strength)| {
            with_input(&self.folder_base(), input.to_owned(), (used_as, strength))
        });
        self.folder_run.planning.look(request.as_ref(), &self.settings.memory.preferences, now)
    }

    /// What a run over so many images takes, or why it cannot be done; `None` while the engine is asked.
    pub fn folder_estimate(&self, images: usize) -> Option<Result<Estimate, String>> {
        let planning = &self.folder_run.planning;
        if planning.is_asking() {
            return None;
        }
        let here = planning.forecast().and_then(|forecast| forecast.seconds_here);
        Some(planning.answer()?.plan().map(|plan| {
            // Only the first one loads the model and encodes the prompt.
            let next = seconds_of_another(plan, self.draft().request.steps, 1.0).min(plan.seconds);
            let seconds = plan.seconds + next * images.saturating_sub(1) as f64;
            let times = if plan.seconds > 0.0 { seconds / plan.seconds } else { 1.0 };
            Estimate { seconds, seconds_here: here.map(|here| here * times), bytes: plan.peak_device() }
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_used_with_the_strength_that_was_chosen() {
        let base = Request { references: vec!["a.png".into(), "b.png".into()], ..Request::default() };
        let source = with_input(&base, "c.png".into(), (InputUse::Source, Some(0.3))).source.unwrap();
        assert_eq!((source.path.as_path(), source.strength, source.mask), (Path::new("c.png"), 0.3, None));
        let edited = with_input(&base, "c.png".into(), (InputUse::Reference, None));
        assert_eq!(
            (edited.references, edited.source),
            (["c.png", "b.png"].map(PathBuf::from).to_vec(), None)
        );
        let before = Some(SourceImage { strength: 0.7, ..SourceImage::default() });
        let of_clip = Request { source: before, frames: 9, ..base };
        let started = with_input(&of_clip, "c.png".into(), (InputUse::Source, None)).source.unwrap();
        assert_eq!(started.strength, 0.7, "that of the settings");
    }

    #[test]
    fn clips_and_edits_have_no_strength() {
        let mut state = State::default();
        assert_eq!(state.folder_strength(InputUse::Source), Some(SourceImage::default().strength));
        assert_eq!(state.folder_strength(InputUse::Reference), None);
        state.settings.draft.request.frames = 9;
        assert_eq!(state.folder_strength(InputUse::Source), None);
        assert_eq!(
            state.ask_about_folder(Some((Path::new("a.png"), InputUse::Source, Some(0.5))), 0.0),
            Ask::Nothing
        );
        assert_eq!(state.folder_estimate(3), None);
    }
}
