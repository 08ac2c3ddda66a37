//! Models of settings of which only the names are known, as other programs write them.

use std::path::{Path, PathBuf};

use sluice_engine::{
    checkpoint::Role,
    models::{Content, Kind},
    request::{Enlarger, ModelSource, Request},
    session::ModelSummary,
};

use super::{Library, State, named::stem};
use crate::language::tr;

impl State {
    /// Finds in the library what a request only names: ControlNets, IP-Adapters, detectors, the refiner and the upscaler of hires
    /// fix. What is not there, or not for the model that is open, is left out. Returns what is said of it, one sentence each.
    pub fn place_named(&self, request: &mut Request) -> Vec<String> {
        // What is for a model that is opened now is known once it is open.
        let summary = self.summary().filter(|summary| summary.source == request.model);
        let takes = |takes: fn(&ModelSummary) -> bool| summary.is_none_or(takes);
        let mut notes = Vec::new();
        let nets = (takes(|summary| summary.takes_control_nets), is_control_net as fn(&Content) -> bool);
        request.control_nets.retain_mut(|net| self.library.place(&mut net.model, nets, &mut notes));
        let adapters = (takes(|summary| summary.takes_ip_adapters), is_ip_adapter as fn(&Content) -> bool);
        request
            .image_prompts
            .retain_mut(|prompt| self.library.place(&mut prompt.adapter, adapters, &mut notes));
        let detectors =
            (takes(|summary| summary.frame_multiple.is_none()), is_detector as fn(&Content) -> bool);
        request
            .detailers
            .retain_mut(|detailer| self.library.place(&mut detailer.model, detectors, &mut notes));
        let refiners = (takes(|summary| summary.takes_refiner), is_model as fn(&Content) -> bool);
        request.refiner.take_if(|refiner| !self.library.place(&mut refiner.path, refiners, &mut notes));
        self.place_upscaler(request, &mut notes);
        notes
    }

    fn place_upscaler(&self, request: &mut Request, notes: &mut Vec<String>) {
        let Some(hires) = &mut request.hires else { return };
        let Enlarger::Upscaler(ModelSource::Path(path)) = &mut hires.enlarger else { return };
        if !is_name(path) {
            return;
        }
        let name = stem(path);
        match self.library.item_named(&name, is_upscaler) {
            Some(found) => *path = found.to_owned(),
            None => {
                notes.push(tr!("app-named-upscaler", name = &name));
                hires.enlarger = Enlarger::default();
            }
        }
    }
}

impl Library {
    /// Puts the path of a file of some kind in the place of its name. Returns whether it may stay; if not, a note says so.
    fn place(
        &self,
        path: &mut PathBuf,
        (is_taken, is_one): (bool, fn(&Content) -> bool),
        notes: &mut Vec<String>,
    ) -> bool {
        if !is_name(path) {
            return true;
        }
        let name = stem(path);
        if !is_taken {
            notes.push(tr!("app-named-not-for-model", name = &name));
            return false;
        }
        match self.item_named(&name, is_one) {
            Some(found) => *path = found.to_owned(),
            None => {
                notes.push(tr!("app-named-not-found", name = &name));
                return false;
            }
        }
        true
    }
}

/// Whether a path is only a name: it has no folder.
fn is_name(path: &Path) -> bool {
    path.parent().is_some_and(|folder| folder.as_os_str().is_empty())
}

fn is_model(content: &Content) -> bool {
    content.kind == Kind::Model
}

fn is_control_net(content: &Content) -> bool {
    content.kind == Kind::ControlNet
}

fn is_ip_adapter(content: &Content) -> bool {
    content.kind == Kind::IpAdapter
}

fn is_detector(content: &Content) -> bool {
    content.roles.contains(&Role::Detector)
}

fn is_upscaler(content: &Content) -> bool {
    content.roles.contains(&Role::Upscaler)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_folder_is_only_a_name() {
        for (path, expected) in [
            ("canny", true),
            ("fine_1.0.safetensors", true),
            ("nets/canny", false),
            ("/canny", false),
            ("", false),
        ] {
            assert_eq!(is_name(Path::new(path)), expected, "{path}");
        }
    }
}
