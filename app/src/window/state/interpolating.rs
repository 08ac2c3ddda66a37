//! The network that interpolates frames, and how many it makes.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sluice_engine::{
    checkpoint::Role,
    request::{Interpolation, ModelSource},
};

use super::{FileChange, State, Upscaling, file_name};
use crate::{language::tr, window::told::Told};

/// What is kept from question to question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct InterpolateChoice {
    /// The file of the network; none comes with Sluice.
    pub model: Option<PathBuf>,
    /// How many times as many frames there are.
    pub factor: u32,
    /// Whether frames are made across cuts, too.
    pub across_cuts: bool,
}

impl Default for InterpolateChoice {
    fn default() -> Self {
        Self { model: None, factor: 2, across_cuts: false }
    }
}

impl InterpolateChoice {
    /// The same with the file that is tried, if one is.
    pub(super) fn trying(&self, asked: Option<&Upscaling>) -> Self {
        let tried = asked.and_then(|asked| asked.tried_for(FileChange::Interpolate));
        Self { model: tried.map(Path::to_owned).or_else(|| self.model.clone()), ..self.clone() }
    }

    /// How many frames are made, and where.
    pub fn how(&self) -> Interpolation {
        Interpolation { factor: self.factor, across_cuts: self.across_cuts }
    }
}

impl State {
    /// Asks how to put frames between those of clips. Where no network was chosen, the first of the library is.
    pub fn ask_interpolate(&mut self, inputs: Vec<PathBuf>) {
        if self.settings.interpolate.model.is_none() {
            self.settings.interpolate.model = self.interpolators().into_iter().map(|(path, _)| path).next();
        }
        self.ask_change(FileChange::Interpolate, inputs);
    }

    /// The networks that are known: those in the library, and the chosen one.
    pub fn interpolators(&self) -> Vec<(PathBuf, String)> {
        let items = self.library.inventory.items.iter();
        let found = items
            .filter(|item| item.content().is_some_and(|content| content.roles.contains(&Role::Interpolator)));
        let mut all: Vec<_> = found.map(|item| (item.path.clone(), item.name.clone())).collect();
        if let Some(path) = &self.interpolate_choice().model
            && all.iter().all(|(known, _)| known != path)
        {
            all.push((path.clone(), file_name(path)));
        }
        all
    }

    /// How clips get more frames: with the file that was just chosen, if one was.
    pub fn interpolate_choice(&self) -> InterpolateChoice {
        self.settings.interpolate.trying(self.upscaling.as_ref())
    }

    /// Keeps how clips get more frames, but for a file that is still being tried.
    pub fn choose_interpolation(&mut self, choice: InterpolateChoice) {
        if choice.model == self.interpolate_choice().model {
            let model = self.settings.interpolate.model.take();
            self.settings.interpolate = InterpolateChoice { model, ..choice };
            return;
        }
        self.stop_trying();
        self.settings.interpolate = choice;
    }

    /// A frame interpolator was opened as a model: from now on it interpolates, and the model is the one before.
    pub(super) fn use_interpolator(&mut self, source: ModelSource) {
        let ModelSource::Path(path) = source else { return };
        let told = Told::about(file_name(&path), |name| tr!("interpolate-chosen", name = name));
        self.settings.interpolate.model = Some(path);
        self.not_opened();
        self.messages.say(told, Vec::new());
    }
}

#[cfg(test)]
mod tests {
    use sluice_engine::{
        output::Output,
        session::Command,
        source::{ClipInfo, GivenMedia},
    };

    use super::super::Ask;
    use super::*;

    fn clip(frames: u32) -> GivenMedia {
        let (width, height, rate) = (64, 32, 12.0);
        let seconds = f64::from(frames) / rate;
        let info = ClipInfo { width, height, frames, seconds, rate, has_sound: false, needs_ffmpeg: false };
        GivenMedia { size: [width, height], clip: Some(info) }
    }

    #[test]
    fn clips_become_jobs_and_images_are_refused() {
        let mut state = State::default();
        state.settings.interpolate.factor = 4;
        state.ask_interpolate(["a.mov", "b.png"].map(PathBuf::from).into());
        let image = GivenMedia { size: [8, 8], clip: None };
        state.take_measured(vec![("a.mov".into(), Ok(clip(10))), ("b.png".into(), Ok(image))]);
        let asked = state.upscaling.as_ref().unwrap();
        assert_eq!(asked.refused().collect::<Vec<_>>(), ["b.png is no clip"]);
        assert_eq!(state.ask_about_upscaling(0.0), Ask::Nothing, "no network is chosen");
        state.settings.interpolate.model = Some("rife.safetensors".into());
        let Ask::Now(query) = state.ask_about_upscaling(0.0) else { panic!("nothing is asked") };
        let wanted = query.request.interpolate.as_ref().unwrap();
        assert_eq!((wanted.path.as_path(), wanted.how), (Path::new("a.mov"), Interpolation::times(4)));
        assert_eq!((query.request.frames, query.request.frame_rate), (40, 48.0));
        let commands = state.upscale();
        let [Command::Generate(job)] = &commands[..] else { panic!("{commands:?}") };
        let Some(Output::Named(output)) = &job.output else { panic!("{:?}", job.output) };
        assert_eq!(output.names, "a-4x-frames");
        assert_eq!(job.request.model, ModelSource::Path("rife.safetensors".into()));
    }
}
