//! What the viewer displays: the file or the frame of a clip.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use egui::ColorImage;
use sluice_engine::output::Clip;

use super::{
    Applied, ClipLength, Control, MaskPainting, ModelStatus, Pixels, Recent, RecentId, Shown, State,
    color_image, same_moment,
};
use crate::window::image_settings::ImageSettings;

impl State {
    /// A file of an earlier session was found, newest first. The first one that is known to be a result is shown, unless a
    /// model is missing, which is to be seen first.
    pub fn found(
        &mut self,
        path: PathBuf,
        thumbnail: ColorImage,
        length: Option<ClipLength>,
        settings: Option<ImageSettings>,
    ) {
        let is_result = settings.is_some();
        let id = self.images.recents.add_found(path, thumbnail, length, settings);
        if let Some(id) = id.filter(|_| is_result && self.model.status != ModelStatus::Failed) {
            self.images.show_at_start(id);
        }
    }

    /// Plays the clip that is shown, once its frames are in memory.
    pub fn follow_clip(&mut self, now: f64) {
        let shown = self.images.shown_recent();
        let clip = shown.and_then(|recent| Some((recent.id, recent.clip()?)));
        let clip = clip.map(|(id, clip)| (id, clip.frames.len() as u32, clip.rate));
        let is_asked_for = |id| !self.images.is_of_start(id) && !self.reduces_motion();
        let waits = clip.is_some_and(|(id, ..)| !is_asked_for(id) && self.player.playback(id).is_none());
        self.player.follow(clip, now);
        if waits {
            // It moves, and may have sound.
            self.player.control(Control::Go(0), now);
        }
        self.player.keep(|id| self.images.recents.get(id).is_some());
    }

    /// Shows the input image with the mask that was painted. What is generated next takes its place.
    pub fn show_applied(&mut self, painting: MaskPainting) {
        self.input.applied = Some(Applied { mask: painting.settled(), path: None });
        self.images.show_input();
    }

    /// Goes on painting a mask that could not be saved.
    pub fn paint_applied(&mut self) {
        if let Some(applied) = self.input.applied.take_if(|applied| applied.path.is_none()) {
            self.input.painting = Some(applied.mask);
        }
    }

    /// The input image and the mask that was applied, while the viewer shows them.
    pub fn masked_input(&self) -> Option<(&MaskPainting, &Arc<ColorImage>)> {
        let applied = self.input.applied.as_ref().filter(|_| self.images.shown == Shown::Input)?;
        Some((&applied.mask, self.input.files.pixels(&applied.mask.image)?))
    }

    /// Ends painting a mask, and showing one, if it is no longer that of the input image.
    pub fn follow_input(&mut self) {
        let source = self.settings.draft.request.source.as_ref();
        self.input.end_painting_of_another(source);
        let is_shown = self.images.shown == Shown::Input;
        if is_shown && self.input.has_applied(source) {
            return;
        }
        self.input.applied = None;
        if is_shown && self.jobs.running().is_some() {
            self.images.show(Shown::Live);
        } else if is_shown {
            self.images.show_newest();
        }
    }

    /// The file of an image or a clip, if it can be dragged out of the window.
    pub fn file_to_drag<'a>(&self, recent: &'a Recent) -> Option<&'a Path> {
        recent.path.as_deref().filter(|_| self.surroundings.drags_out)
    }

    /// A clip and the frame of it that is displayed.
    pub fn displayed_frame(&self, id: RecentId, now: f64) -> Option<(&Recent, u32)> {
        let frame = self.player.playback(id)?.frame(now);
        Some((self.images.recents.get(id)?, frame))
    }

    /// The pixels of an image, or of the frame of a clip that is displayed.
    pub fn displayed(&self, id: RecentId, now: f64) -> Option<ColorImage> {
        match self.images.recents.get(id)?.pixels.as_ref()? {
            Pixels::Image(image) => Some((**image).clone()),
            Pixels::Clip(clip) => {
                let frame = self.player.playback(id).map_or(0, |playback| playback.frame(now));
                clip.frames.get(frame as usize).and_then(color_image)
            }
        }
    }

    /// The frame of a clip that is displayed: of the one being played, or of the one it is compared with, which shows
    /// the same moment or its last frame.
    pub fn frame_of(&self, id: RecentId, clip: &Clip, now: f64) -> u32 {
        let Some((current, playback)) = self.player.current() else { return 0 };
        let frame = playback.frame(now);
        let last = clip.frames.len().saturating_sub(1) as u32;
        match id == current {
            true => frame,
            false => same_moment(frame, playback.rate(), f64::from(clip.rate)).min(last),
        }
    }
}
