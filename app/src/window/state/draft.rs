//! The contents of the settings panel: the request that Generate will send.

use std::{
    borrow::Cow,
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use sluice_engine::{
    request::{
        AdapterUse, Control, Enhanced, Enlarger, FrameRange, Hires, Keyframe, ModelSource, Request,
        SourceClip, SourceImage, SourceMask,
    },
    session::Defaults,
};

use super::sizes::snap;

/// A request, and additional settings of the window.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Draft {
    /// The request. Its adapters include disabled ones.
    #[serde(flatten)]
    pub request: Request,
    /// Whether the next image uses the same seed.
    pub seed_locked: bool,
    /// Disabled adapters, which stay in the list.
    pub switched_off: BTreeSet<PathBuf>,
    /// Hires fix, which waits until the input image is removed.
    pub hires_before: Option<Hires>,
    /// The size before that of outpainting.
    pub size_before: Option<[u32; 2]>,
    /// Whether the seed was randomized for the next image and not used yet.
    #[serde(skip)]
    pub seed_is_fresh: bool,
}

impl Draft {
    /// The largest batch size that the slider offers.
    pub const MAX_BATCH: u32 = 8;

    /// The settings of an existing image, with its seed locked.
    pub fn from_request(request: &Request) -> Self {
        let request = Request { upscale: None, interpolate: None, detail_of: None, ..request.clone() };
        Self { request, seed_locked: true, ..Self::default() }
    }

    /// The same with another request. Nothing comes back that an input image put aside, which was of the one before.
    pub fn replaced_by(&self, request: Request) -> Self {
        let empty =
            Self { seed_locked: self.seed_locked, seed_is_fresh: self.seed_is_fresh, ..Self::default() };
        Self { request, ..empty }
    }

    /// The request to send: without disabled adapters, and without where the prompt comes from if it was changed since.
    pub fn to_send(&self) -> Cow<'_, Request> {
        let is_other = |enhanced: &Enhanced| enhanced.result != self.request.prompt;
        let was_changed = self.request.enhanced.as_ref().is_some_and(is_other);
        if !was_changed && self.request.adapters.iter().all(|adapter| self.uses(&adapter.path)) {
            return Cow::Borrowed(&self.request);
        }
        let mut request = self.request.clone();
        request.enhanced.take_if(|_| was_changed);
        request.adapters.retain(|adapter| self.uses(&adapter.path));
        Cow::Owned(request)
    }

    /// Whether an adapter of the list is enabled.
    pub fn uses(&self, adapter: &Path) -> bool {
        !self.switched_off.contains(adapter)
    }

    /// Enables or disables an adapter of the list.
    pub fn switch(&mut self, adapter: &Path, on: bool) {
        if on {
            self.switched_off.remove(adapter);
        } else {
            self.switched_off.insert(adapter.to_owned());
        }
    }

    /// Adds an adapter, or enables it if it is already in the list.
    pub fn add_adapter(&mut self, path: PathBuf) {
        self.switch(&path, true);
        if self.request.adapters.iter().all(|known| known.path != path) {
            self.request.adapters.push(AdapterUse { path, weight: 1.0 });
        }
    }

    /// Sets the weight of an adapter.
    pub fn weigh(&mut self, path: &Path, weight: f32) {
        if let Some(adapter) = self.request.adapters.iter_mut().find(|adapter| adapter.path == path) {
            adapter.weight = weight;
        }
    }

    /// Removes an adapter from the list.
    pub fn remove_adapter(&mut self, path: &Path) {
        self.switch(path, true);
        self.request.adapters.retain(|adapter| adapter.path != path);
    }

    /// Sets the upscaler of hires fix.
    pub fn enlarge_by(&mut self, path: PathBuf) {
        let hires = self.request.hires.get_or_insert_default();
        hires.enlarger = Enlarger::Upscaler(ModelSource::Path(path));
    }

    /// Sets the input image and keeps the denoising strength. Hires fix starts from the prompt and waits.
    pub fn use_input_image(&mut self, path: PathBuf) {
        self.hires_before = self.request.hires.take().or_else(|| self.hires_before.take());
        let strength = self.request.source.take().unwrap_or_default().strength;
        self.request.source = Some(SourceImage { path, strength, ..SourceImage::default() });
    }

    /// Gives back what an input image has put aside, once there is none any more: the size before outpainting and, if the model
    /// has it, hires fix. `before` are the settings before the last change.
    pub fn settle(&mut self, before: &Self, has_hires: bool) {
        let size = |draft: &Self| [draft.request.width, draft.request.height];
        let sides = |draft: &Self| draft.request.source.as_ref().map(|source| source.outpaint.sides());
        if size(self) != size(before) {
            // A size that was chosen since is kept.
            let follows = sides(self) != sides(before);
            self.size_before = self.size_before.or(Some(size(before))).filter(|_| follows);
        }
        if self.request.source.is_some() || self.request.clip.is_some() {
            return;
        }
        if let Some([width, height]) = self.size_before.take() {
            (self.request.width, self.request.height) = (width, height);
        }
        if let Some(hires) = self.hires_before.take_if(|_| has_hires) {
            self.request.hires.get_or_insert(hires);
        }
    }

    /// Sets the start image of a clip and keeps the end image; or the input image, for models of images.
    pub fn use_start_image(&mut self, path: PathBuf) {
        self.request.clip = None;
        self.use_input_image(path);
    }

    /// Sets the end image of a clip.
    pub fn use_last_image(&mut self, path: PathBuf) {
        self.request.last_image = Some(path);
    }

    /// Adds an image in the middle of the longest part of a clip without keyframes.
    pub fn add_keyframe(&mut self, path: PathBuf) {
        let last = self.request.frames.saturating_sub(1);
        let mut taken: Vec<u32> = self.request.keyframes.iter().map(|keyframe| keyframe.frame).collect();
        taken.extend([0, last]);
        taken.sort_unstable();
        let widest = taken.windows(2).max_by_key(|pair| pair[1] - pair[0]);
        let frame = widest.map_or(last, |pair| pair[0].midpoint(pair[1]).max(1));
        self.request.keyframes.push(Keyframe { frame, path });
        self.request.keyframes.sort_by_key(|keyframe| keyframe.frame);
    }

    /// Sets the clip that controls the result, in place of other inputs.
    pub fn use_control(&mut self, path: PathBuf) {
        let request = &mut self.request;
        let before = request.control.take().unwrap_or_default();
        request.control = Some(Control { video: Some(path), ..before });
        (request.source, request.last_image, request.clip) = (None, None, None);
        request.keyframes.clear();
    }

    /// Sets the mask of the clip that controls the result.
    pub fn use_control_mask(&mut self, path: PathBuf) {
        if let Some(control) = &mut self.request.control {
            control.mask = Some(path);
        }
    }

    /// Sets the input clip, in place of images. It is `extended` or changed.
    pub fn use_clip(&mut self, path: PathBuf, range: FrameRange, extends: bool) {
        let before = self.request.clip.take().unwrap_or_default();
        self.request.clip = Some(SourceClip { path, range, extends, ..before });
        self.request.source = None;
        self.request.last_image = None;
        self.request.keyframes.clear();
    }

    /// Inpaints only the white area of a mask.
    pub fn use_mask(&mut self, path: PathBuf) {
        if let Some(source) = &mut self.request.source {
            source.mask = Some(SourceMask { path, ..source.mask.take().unwrap_or_default() });
        }
    }

    /// Applies the defaults of a model, of which the size is one.
    pub fn adopt(&mut self, defaults: &Defaults) {
        self.request = defaults.given_to(std::mem::take(&mut self.request));
        self.size_before = None;
    }

    /// Rounds both sides to the nearest sizes that a model can generate.
    pub fn snap_size(&mut self, multiple: u32) {
        let Request { width, height, .. } = &mut self.request;
        (*width, *height) = (snap(*width, multiple), snap(*height, multiple));
    }
}

#[cfg(test)]
mod tests {
    use sluice_engine::request::Outpaint;

    use super::*;

    #[test]
    fn what_an_input_image_puts_aside_comes_back_when_it_is_removed() {
        let hires = Hires { scale: 1.5, ..Hires::default() };
        let mut draft = Draft::default();
        draft.request.hires = Some(hires.clone());
        (draft.request.width, draft.request.height) = (512, 512);
        draft.use_input_image("fox.png".into());
        draft.use_input_image("dog.png".into());
        assert_eq!(draft.request.hires, None);
        let changed = |draft: &Draft, change: &dyn Fn(&mut Request)| {
            let mut changed = draft.clone();
            change(&mut changed.request);
            changed.settle(draft, true);
            changed
        };
        let wider = |by| {
            move |request: &mut Request| {
                let source = request.source.as_mut().unwrap();
                source.outpaint = Outpaint { right: by, ..Outpaint::default() };
                request.width = 160 + by;
            }
        };
        let outpainted = changed(&changed(&draft, &wider(16)), &wider(32));
        assert_eq!((outpainted.request.width, &outpainted.request.hires), (192, &None));
        let removed = changed(&outpainted, &|request| request.source = None);
        assert_eq!((removed.request.width, removed.request.height), (512, 512));
        assert_eq!(removed.request.hires, Some(hires));
        assert_eq!((removed.size_before, &removed.hires_before), (None, &None));
        let chosen = changed(&outpainted, &|request| request.width = 256);
        let removed = changed(&chosen, &|request| request.source = None);
        assert_eq!(removed.request.width, 256, "it was chosen");
    }

    #[test]
    fn an_adapter_that_is_switched_off_stays_in_the_list_and_is_not_sent() {
        let mut draft = Draft::default();
        draft.add_adapter("ink.safetensors".into());
        draft.add_adapter("oil.safetensors".into());
        assert!(matches!(draft.to_send(), Cow::Borrowed(_)), "nothing is copied where nothing is left out");
        draft.switch(Path::new("ink.safetensors"), false);
        let sent: Vec<_> = draft.to_send().adapters.iter().map(|adapter| adapter.path.clone()).collect();
        assert_eq!(sent, [PathBuf::from("oil.safetensors")]);
        draft.add_adapter("ink.safetensors".into());
        assert_eq!(draft.to_send().adapters.len(), 2, "adding it again switches it on");
        draft.switch(Path::new("ink.safetensors"), false);
        draft.remove_adapter(Path::new("ink.safetensors"));
        assert_eq!((draft.request.adapters.len(), draft.switched_off.len()), (1, 0));
    }
}
