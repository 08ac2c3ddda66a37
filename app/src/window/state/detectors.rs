//! Detectors, and the detailers that use them.

use sluice_engine::{
    checkpoint::Role,
    models::Item,
    request::{Detailer, ModelSource},
};

use super::{Notice, State, file_name};
use crate::language::tr;

impl State {
    /// The detectors in the library.
    pub fn detectors(&self) -> impl Iterator<Item = &Item> {
        let is_one =
            |item: &&Item| item.content().is_some_and(|content| content.roles.contains(&Role::Detector));
        self.library.inventory.items.iter().filter(is_one)
    }

    /// A detector was opened as a model: a detailer uses it, and the model is the one before.
    pub(super) fn use_detector(&mut self, source: ModelSource) {
        self.not_opened();
        let ModelSource::Path(path) = source else { return };
        let text = tr!("detailers-chosen", name = file_name(&path));
        let detailers = &mut self.settings.draft.request.detailers;
        if detailers.len() < Detailer::MOST && detailers.iter().all(|known| known.model != path) {
            detailers.push(Detailer::new(path));
        }
        self.messages.notice = Some(Notice { text, details: Vec::new(), undo: None });
    }
}
