//! What the chosen model can do, and whether the settings ask for more.

use std::path::Path;

use sluice_engine::request::{LONGEST_SIDE, Mode, References, Request, RequestError};

use super::{Answer, FileState, State};

impl State {
    /// The number that sizes must be multiples of.
    pub fn size_multiple(&self) -> u32 {
        self.summary().map_or(16, |summary| summary.size_multiple)
    }

    /// The error in settings that are not those of the panel, as far as it can be found without their model.
    pub fn mistake_in(&self, request: &Request) -> Option<RequestError> {
        let summary = self.summary().filter(|summary| summary.source == request.model);
        let (multiple, longest) =
            summary.map_or((1, LONGEST_SIDE), |summary| (summary.size_multiple, summary.longest_side));
        request.validate(multiple, longest).err()
    }

    /// The error in the settings, if any.
    pub fn mistake(&self) -> Option<RequestError> {
        let request = &self.draft().request;
        let longest = self.summary().map_or(LONGEST_SIDE, |summary| summary.longest_side);
        let multiple = self.summary().and_then(|summary| summary.frame_multiple).unwrap_or(1);
        let checked = request.validate(self.size_multiple(), longest);
        let checked = checked.and_then(|()| request.validate_frames(multiple));
        let of_mode = || match self.summary() {
            Some(summary) if !summary.modes.is_empty() => {
                request.validate_mode(&summary.modes, multiple, summary.overlap)
            }
            _ => Ok(()),
        };
        let of_mask = || request.validate_mask(self.summary().is_some_and(|summary| summary.fills_in));
        let of_references = || match self.summary() {
            Some(_) => request.validate_references(self.takes_references().as_ref()),
            None => Ok(()),
        };
        checked.and_then(|()| of_mode()).and_then(|()| of_mask()).and_then(|()| of_references()).err()
    }

    /// What the engine says of the file of a ControlNet or an IP-Adapter that lacks its image: that it cannot be used, if so.
    pub fn refusal_before_image(&self, mistake: &RequestError) -> Option<&str> {
        match self.planning.answer() {
            Some(Answer::Failure(failure))
                if waits_for_image(mistake)
                    && self.planning.is_refused()
                    && failure.message != mistake.to_string() =>
            {
                Some(&failure.message)
            }
            _ => None,
        }
    }

    /// Why the input image or its mask cannot be read, if that is known.
    pub fn unreadable_input(&self) -> Option<String> {
        let source = self.draft().request.source.as_ref()?;
        let mask = source.mask.as_ref().map(|mask| &mask.path);
        std::iter::once(&source.path).chain(mask).find_map(|path| match self.input.files.get(path) {
            Some(FileState::Unreadable(reason)) => Some(reason.clone()),
            _ => None,
        })
    }

    /// Whether the section for the inputs of a clip is shown, and not that for an input image: for clips, and as long as
    /// there is an input that only clips have.
    pub fn takes_clip_inputs(&self, request: &Request) -> bool {
        request.is_of_clip() || (request.frames > 1 && self.makes_clips())
    }

    /// How the chosen model takes references with the settings, if it does.
    pub fn takes_references(&self) -> Option<References> {
        let summary = self.summary()?;
        match self.reads_through_redux() {
            true => Some(References::through_redux()),
            false => summary.references.clone(),
        }
    }

    /// Whether references are read through a Redux model.
    pub fn reads_through_redux(&self) -> bool {
        let takes = self.summary().is_some_and(|summary| summary.takes_redux);
        takes && self.draft().request.redux.is_some()
    }

    /// Whether the chosen model is made to change images, which are references.
    pub fn edits(&self) -> bool {
        self.takes_references().is_some_and(|takes| takes.edits)
    }

    /// Gives the next image the size that suits a first reference of this size, if it was just added.
    pub fn follow_reference(&mut self, path: &Path, own: [usize; 2]) {
        if self.input.gives_size.take_if(|waiting| waiting.as_path() == path).is_none() || !self.edits() {
            return;
        }
        let Some(summary) = self.summary() else { return };
        let multiple = summary.size_multiple;
        let takes = summary.references.as_ref();
        let Some(size) = takes.and_then(|takes| takes.size(own.map(|side| side as u32), None)) else {
            return;
        };
        let request = &mut self.settings.draft.request;
        [request.width, request.height] = size;
        self.settings.draft.size_before = None;
        self.settings.draft.snap_size(multiple);
    }

    /// Whether the chosen model changes or continues clips.
    pub fn takes_clips(&self) -> bool {
        self.can(Mode::VideoToVideo) || self.can(Mode::Extend)
    }

    /// Whether the chosen model can do this.
    pub fn can(&self, mode: Mode) -> bool {
        self.summary().is_some_and(|summary| summary.modes.contains(&mode))
    }

    /// Whether the chosen model generates clips, as far as that is known.
    pub fn makes_clips(&self) -> bool {
        match self.summary() {
            Some(summary) => summary.frame_multiple.is_some(),
            None => self.model_of_each_kind()[1] == *self.chosen_model(),
        }
    }
}

/// Whether only an image is still to be chosen for a file, which may be the wrong one.
pub fn waits_for_image(mistake: &RequestError) -> bool {
    matches!(
        mistake,
        RequestError::ControlNetWithoutImage
            | RequestError::ControlNetWithoutMask
            | RequestError::ImagePromptWithoutImage
    )
}

#[cfg(test)]
mod tests {
    use sluice_engine::request::ControlNet;

    use super::*;

    #[test]
    fn settings_of_a_file_that_cannot_run_are_mistakes() {
        let state = State::default();
        assert_eq!(state.mistake_in(&Request::default()), None);
        let request = Request { control_nets: vec![ControlNet::default()], ..Request::default() };
        assert_eq!(state.mistake_in(&request), Some(RequestError::ControlNetWithoutImage));
    }
}
