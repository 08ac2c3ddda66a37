//! Segmenters, and the masks that they make of what is shown to them.

use std::path::{Path, PathBuf};

use sluice_engine::{
    checkpoint::Role,
    models::Item,
    output::Media,
    request::{MaskOf, ModelSource, Request},
    session::{Command, Job, JobId, Picture},
};

use super::{MaskEdit, State, file_name};
use crate::{language::tr, window::told::Told};

impl State {
    /// The segmenters in the library.
    pub fn segmenters(&self) -> impl Iterator<Item = &Item> {
        let is_one =
            |item: &&Item| item.content().is_some_and(|content| content.roles.contains(&Role::Segmenter));
        self.library.inventory.items.iter().filter(is_one)
    }

    /// The one that makes masks: the chosen one, or the first in the library.
    pub fn segmenter(&self) -> Option<&Path> {
        let chosen = self.settings.segmenter.as_deref();
        chosen.or_else(|| self.segmenters().next().map(|item| item.path.as_path()))
    }

    /// Whether the engine makes a mask for the image that is being painted over.
    pub fn makes_mask(&self) -> bool {
        let painting = self.input.painting.as_ref();
        let of = |mask: &MaskOf| painting.is_some_and(|painting| painting.image == mask.image);
        self.jobs.queue.iter().any(|job| job.request().mask_of.as_ref().is_some_and(of))
    }

    /// Applies an edit to the mask being painted, and queues a job if the engine has to make a part of it.
    pub fn edit_mask(&mut self, edit: MaskEdit) -> Option<Command> {
        let model = ModelSource::Path(self.segmenter().unwrap_or(Path::new("")).to_owned());
        let has_segmenter = self.segmenter().is_some();
        let painting = self.input.painting.as_mut()?;
        if edit.is_of_object() && !has_segmenter {
            return None;
        }
        painting.edit(edit);
        let mask_of = painting.unmade().filter(|_| has_segmenter)?;
        if self.jobs.queue.iter().any(|job| job.request().mask_of.as_ref() == Some(&mask_of)) {
            return None;
        }
        let request = Request { model, mask_of: Some(mask_of), ..Request::default() };
        let memory = self.settings.memory.preferences.clone();
        Some(self.jobs.add(Job { memory, ..Job::new(JobId(0), request) }))
    }

    /// Puts a mask that the engine has made into the one being painted.
    pub(super) fn take_mask(&mut self, of: &MaskOf, masks: &[Picture]) {
        if let (Some(painting), Some(Picture { media: Media::Image(mask), .. })) =
            (&mut self.input.painting, masks.first())
        {
            painting.take(of, mask);
        }
    }

    /// A segmenter was chosen.
    pub fn choose_segmenter(&mut self, path: PathBuf) {
        self.settings.segmenter = Some(path);
    }

    /// A segmenter was opened as a model: from now on it makes masks, and the model is the one before.
    pub(super) fn use_segmenter(&mut self, source: ModelSource) {
        self.not_opened();
        let ModelSource::Path(path) = source else { return };
        let told = Told::about(file_name(&path), |name| tr!("viewer-segmenter-chosen", name = name));
        self.choose_segmenter(path);
        self.messages.say(told, Vec::new());
    }
}

#[cfg(test)]
mod tests {
    use sluice_engine::output::Image;

    use super::*;
    use crate::window::state::MaskPainting;

    fn point(x: u32, inside: bool) -> MaskEdit {
        MaskEdit::Point { place: [x, 0], inside, erases: false }
    }

    fn mask_of(command: Option<Command>) -> MaskOf {
        let Some(Command::Generate(job)) = command else { panic!("no job") };
        assert!(job.output.is_none(), "the mask is not saved");
        job.request.mask_of.unwrap()
    }

    fn pictures(row: &[u8]) -> Vec<Picture> {
        let pixels = row.iter().flat_map(|value| [*value; 3]).collect();
        let media = Media::Image(Image::opaque(row.len() as u32, 1, pixels));
        vec![Picture { media, seed: 0, path: None }]
    }

    fn row(state: &State) -> Vec<u8> {
        let painting = state.input.painting.as_ref().unwrap();
        painting.to_image().pixels.iter().copied().step_by(3).collect()
    }

    #[test]
    fn clicks_show_an_object_whose_mask_the_engine_makes() {
        let mut state = State::default();
        state.input.painting = Some(MaskPainting::new("fox.png".into(), [4, 1], None));
        assert!(state.edit_mask(point(1, true)).is_none(), "nothing makes masks");
        assert!(!state.input.painting.as_ref().unwrap().can_undo());
        state.choose_segmenter("sam.safetensors".into());
        assert!(state.edit_mask(point(1, false)).is_none(), "nothing is shown yet");
        let first = mask_of(state.edit_mask(point(1, true)));
        assert_eq!((first.image.as_path(), first.points.len()), (Path::new("fox.png"), 1));
        assert!(state.makes_mask());
        let second = mask_of(state.edit_mask(point(3, false)));
        assert_eq!(second.points.len(), 2);
        state.take_mask(&first, &pictures(&[255; 4]));
        assert_eq!(row(&state), [0; 4], "something else is shown by now");
        state.take_mask(&second, &pictures(&[255, 255, 0, 0]));
        assert_eq!(row(&state), [255, 255, 0, 0]);
        assert!(state.edit_mask(MaskEdit::NextObject).is_none());
        let other = mask_of(state.edit_mask(MaskEdit::Box { corners: [2, 0, 4, 1], erases: false }));
        assert_eq!((other.points.len(), other.area), (0, Some([2, 0, 4, 1])));
        state.take_mask(&other, &pictures(&[0, 0, 0, 255]));
        assert_eq!(row(&state), [255, 255, 0, 255], "the other object stays");
        assert!(state.edit_mask(MaskEdit::Undo).is_none());
        assert_eq!(row(&state), [255, 255, 0, 0]);
    }

    #[test]
    fn what_marks_nothing_is_known_until_something_else_is_shown() {
        let mut state = State::default();
        state.input.painting = Some(MaskPainting::new("fox.png".into(), [4, 1], None));
        state.choose_segmenter("sam.safetensors".into());
        let nothing = |state: &State| state.input.painting.as_ref().unwrap().found_nothing();
        let first = mask_of(state.edit_mask(point(1, true)));
        assert!(!nothing(&state), "it is being made");
        state.take_mask(&first, &pictures(&[0; 4]));
        assert!(nothing(&state));
        let second = mask_of(state.edit_mask(point(2, true)));
        assert!(!nothing(&state));
        state.take_mask(&second, &pictures(&[0, 255, 0, 0]));
        assert!(!nothing(&state));
    }
}
