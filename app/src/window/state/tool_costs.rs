//! What a mask of an object and maps take, which is said before they are made. No drawing and no I/O.

use std::path::Path;

use sluice_engine::{
    checkpoint::MapKind,
    memory::MemoryPreferences,
    request::{MaskOf, MaskPoint, ModelSource, Request},
    session::{PlanQuery, PlanSubject},
};

use super::{Answer, Ask, Estimate, State, map_name};

/// The number before the first query about a mask or a map, above those of queries about the panel's settings.
pub(super) const FIRST: u64 = 1 << 44;
/// The most answers that are kept.
const KEPT: usize = 16;

/// What was asked about masks and maps, and the answers.
#[derive(Debug, Default)]
pub struct ToolCosts {
    /// How many queries there were.
    count: u64,
    waiting: Option<Question>,
    /// The last answer first.
    known: Vec<Known>,
}

/// Everything an answer depends on.
#[derive(Debug, PartialEq)]
struct Question {
    request: Request,
    memory: MemoryPreferences,
}

#[derive(Debug)]
struct Known {
    question: Question,
    answer: Answer,
    /// Whether it is asked again.
    is_old: bool,
}

impl ToolCosts {
    fn known(&self, request: &Request, memory: &MemoryPreferences) -> Option<&Known> {
        self.known
            .iter()
            .find(|Known { question, .. }| question.request == *request && question.memory == *memory)
    }

    /// The next query about one of these, if any. One is outstanding at a time.
    fn ask(&mut self, wanted: Vec<Request>, memory: &MemoryPreferences) -> Ask {
        if self.waiting.is_some() {
            return Ask::Nothing;
        }
        let is_open = |request: &Request| self.known(request, memory).is_none_or(|known| known.is_old);
        let Some(request) = wanted.into_iter().find(is_open) else { return Ask::Nothing };
        self.count += 1;
        self.waiting = Some(Question { request: request.clone(), memory: memory.clone() });
        let (id, memory) = (FIRST + self.count, memory.clone());
        Ask::Now(Box::new(PlanQuery { id, subject: PlanSubject::Model, request, memory }))
    }

    /// Takes the engine's answer to a query.
    pub(super) fn take(&mut self, id: u64, answer: Answer) {
        if id != FIRST + self.count {
            return;
        }
        let Some(question) = self.waiting.take() else { return };
        self.known.retain(|known| known.question != question);
        self.known.truncate(KEPT - 1);
        self.known.insert(0, Known { question, answer, is_old: false });
    }

    /// Another engine answers from now on. What is still said to older queries is ignored.
    pub(super) fn forget(&mut self) {
        self.known.clear();
        self.waiting = None;
    }

    /// The answers may be others now, because a run was measured.
    pub(super) fn renew(&mut self) {
        self.known.iter_mut().for_each(|known| known.is_old = true);
    }
}

impl State {
    /// What a mask of an object takes, or why it cannot be made; `None` while that is not known.
    pub fn mask_estimate(&self) -> Option<Result<Estimate, String>> {
        self.estimate_of(&self.any_mask()?)
    }

    /// The same of a map.
    pub fn map_estimate(&self, kind: MapKind, image: &Path) -> Option<Result<Estimate, String>> {
        self.estimate_of(&self.map_request(kind, image)?)
    }

    fn estimate_of(&self, request: &Request) -> Option<Result<Estimate, String>> {
        let known = self.tool_costs.known(request, &self.settings.memory.preferences)?;
        Some(known.answer.estimate())
    }

    /// The next query about the mask of an object, if objects are marked, or about a map that is not made yet.
    pub fn ask_about_tools(&mut self, marks_objects: bool) -> Ask {
        if self.engine.ended {
            return Ask::Nothing;
        }
        let mask = self.any_mask().filter(|_| marks_objects);
        let wanted = mask.into_iter().chain(self.unmade_maps()).collect();
        self.tool_costs.ask(wanted, &self.settings.memory.preferences)
    }

    /// A mask of what is in the middle of the image that is painted over. One of anything else takes as much.
    fn any_mask(&self) -> Option<Request> {
        let painting = self.input.painting.as_ref()?;
        let model = ModelSource::Path(self.segmenter()?.to_owned());
        let [x, y] = painting.size().map(|side| side as u32 / 2);
        let points = vec![MaskPoint { x, y, inside: true }];
        let mask_of = Some(MaskOf { image: painting.image.clone(), points, area: None });
        Some(Request { model, mask_of, ..Request::default() })
    }

    /// The maps of the ControlNets that networks make and have not made yet.
    fn unmade_maps(&self) -> Vec<Request> {
        if self.summary().is_none_or(|summary| !summary.takes_control_nets) {
            return Vec::new();
        }
        let request = &self.draft().request;
        let size = [request.width, request.height];
        let unmade = request.control_nets.iter().filter_map(|net| {
            let (kind, map) = (net.preprocessor.estimated()?, map_name(net, size)?);
            let is_made = self.input.files.get(&map).is_some();
            self.map_request(kind, &net.image).filter(|_| !is_made)
        });
        unmade.collect()
    }
}

#[cfg(test)]
mod tests {
    use sluice_engine::session::{Event, Failure};

    use super::*;
    use crate::window::state::MaskPainting;

    #[test]
    fn each_mask_and_map_is_asked_about_once_until_something_is_measured() {
        let mut state = State::default();
        assert_eq!(state.ask_about_tools(true), Ask::Nothing);
        state.input.painting = Some(MaskPainting::new("fox.png".into(), [4, 2], None));
        state.choose_segmenter("sam.safetensors".into());
        assert_eq!(state.ask_about_tools(false), Ask::Nothing, "nobody marks objects");
        let Ask::Now(query) = state.ask_about_tools(true) else { panic!("nothing is asked") };
        let point = MaskPoint { x: 2, y: 1, inside: true };
        assert_eq!(query.request.mask_of.as_ref().unwrap().points, [point]);
        assert_eq!((state.ask_about_tools(true), state.mask_estimate()), (Ask::Nothing, None));
        let failure = Failure { message: "it is no segmenter".to_owned(), advice: None };
        state.apply(Event::NotPlanned { id: query.id, failure }, 0.0);
        assert_eq!(state.mask_estimate(), Some(Err("It is no segmenter.".to_owned())));
        assert_eq!(state.ask_about_tools(true), Ask::Nothing);
        state.tool_costs.renew();
        assert!(matches!(state.ask_about_tools(true), Ask::Now(_)));
        assert!(state.mask_estimate().is_some(), "the old answer stays meanwhile");
        state.choose_segmenter("mobile_sam.safetensors".into());
        assert_eq!(state.mask_estimate(), None, "nothing is known of another one");
    }

    #[test]
    fn other_engines_are_asked_anew_and_a_late_answer_of_the_old_ones_is_ignored() {
        let mut state = State::default();
        state.input.painting = Some(MaskPainting::new("fox.png".into(), [4, 2], None));
        state.choose_segmenter("sam.safetensors".into());
        let asked = |state: &mut State| match state.ask_about_tools(true) {
            Ask::Now(query) => query.id,
            other => panic!("{other:?}"),
        };
        let answer = |state: &mut State, id: u64, message: &str| {
            let failure = Failure { message: message.to_owned(), advice: None };
            state.apply(Event::NotPlanned { id, failure }, 0.0);
        };
        let old = asked(&mut state);
        state.change_engines(&[]);
        let new = asked(&mut state);
        answer(&mut state, old, "the old engine cannot");
        assert_eq!(state.mask_estimate(), None);
        answer(&mut state, new, "the new engine cannot");
        assert_eq!(state.mask_estimate(), Some(Err("The new engine cannot.".to_owned())));
        state.change_engines(&[]);
        assert_eq!(state.mask_estimate(), None, "nothing is known of these");
    }
}
