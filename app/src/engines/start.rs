//! Starts engines: one by itself, or several that share the jobs.

use std::io;

use sluice_engine::{
    hardware::{GpuSample, Probe},
    session::{Lane, Session, SessionOptions, WorkerProgram},
};

use super::{CUDA, Engines};

/// Hides NVIDIA cards from a process, or orders them.
const VISIBLE_CARDS: &str = "CUDA_VISIBLE_DEVICES";

/// Where an engine is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// On this computer, on the cards that no other engine has.
    Here,
    /// On one NVIDIA card of this computer, by what the driver calls it, such as `GPU-5f1c…`.
    Card(String),
    /// Behind a command.
    Elsewhere(WorkerProgram),
}

/// An NVIDIA card of this computer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Card {
    /// What the driver calls it.
    pub uuid: String,
    /// Its name.
    pub name: String,
    /// Its compute capability times ten, such as 86, if the driver says it.
    pub capability: Option<u32>,
}

/// The NVIDIA cards of this computer, in the order of `nvidia-smi`. Opens the driver.
pub fn cards() -> Vec<Card> {
    let mut probe = Probe::new();
    let capabilities = probe.capabilities();
    let card = |gpu: GpuSample| {
        let uuid = gpu.uuid?;
        let capability = capabilities.iter().find(|(known, _)| *known == uuid).map(|(_, found)| *found);
        Some(Card { uuid, name: gpu.name, capability })
    };
    probe.sample().gpus.into_iter().filter_map(card).collect()
}

/// Starts engines. `options` are those of one of them; events and unfinished jobs are those of the first.
///
/// # Errors
/// When there is none, a thread cannot be started, or the operating system does not know the path of this program.
pub fn start(places: &[Place], options: impl Fn(&Place) -> SessionOptions) -> io::Result<Session> {
    let (first, others) = places.split_first().ok_or_else(|| io::Error::other("no engine is given"))?;
    if others.is_empty() {
        return one(first, None, options(first));
    }
    let taken: Vec<&str> = places.iter().filter_map(Place::card).collect();
    let rest = (!taken.is_empty()).then(|| without(cards(), &taken));
    let mut lanes = Vec::new();
    for place in places {
        let own = SessionOptions { wake: Box::new(|| ()), keeps_jobs: false, ..options(place) };
        let has_own_device = *place != Place::Here || !taken.is_empty();
        lanes.push(Lane { session: one(place, rest.clone(), own)?, has_own_device });
    }
    Session::of_several(lanes, options(first))
}

impl Place {
    fn card(&self) -> Option<&str> {
        match self {
            Self::Card(uuid) => Some(uuid),
            Self::Here | Self::Elsewhere(_) => None,
        }
    }
}

/// The cards that no engine has for itself.
fn without(cards: Vec<Card>, taken: &[&str]) -> Vec<String> {
    cards.into_iter().map(|card| card.uuid).filter(|uuid| !taken.contains(&uuid.as_str())).collect()
}

/// Starts an engine; that of this computer sees only the cards `rest`, if others have engines of their own.
fn one(place: &Place, rest: Option<Vec<String>>, options: SessionOptions) -> io::Result<Session> {
    let Engines { programs, without_gpus } = match place {
        Place::Elsewhere(command) => return Session::behind(command.clone(), options),
        Place::Here => match rest {
            Some(rest) => Engines::find()?.seeing(&rest),
            None => Engines::find()?,
        },
        Place::Card(uuid) => Engines::find()?.of_cards().seeing(std::slice::from_ref(uuid)),
    };
    Session::in_process_of(programs, without_gpus, options)
}

impl Engines {
    /// Only the engine for NVIDIA cards. Where it is missing, its program is tried nevertheless, which says so.
    fn of_cards(self) -> Self {
        let is_there = self.without_gpus.is_none();
        let first = self.programs.into_iter().take(1);
        let programs = first.map(|program| match is_there {
            true => program,
            false => super::worker(CUDA, &super::cuda_beside(&program.path)),
        });
        Self { programs: programs.collect(), without_gpus: None }
    }

    /// With only these cards; without any, none computes on cards.
    fn seeing(mut self, cards: &[String]) -> Self {
        if cards.is_empty() {
            self.programs.retain(|program| program.engine != CUDA);
        }
        for program in self.programs.iter_mut().filter(|program| program.engine == CUDA) {
            program.variables.push((VISIBLE_CARDS.into(), cards.join(",").into()));
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_computer_keeps_the_cards_that_no_other_engine_has() {
        let card = |number: u32| Card {
            uuid: format!("GPU-{number}"),
            name: "RTX".to_owned(),
            capability: Some(86),
        };
        let cards = || (1..=3).map(card).collect();
        assert_eq!(without(cards(), &["GPU-2"]), ["GPU-1", "GPU-3"]);
        assert_eq!(without(cards(), &["GPU-3", "GPU-1", "GPU-2"]), Vec::<String>::new());
    }

    #[test]
    fn an_engine_of_a_card_is_the_one_for_cards_only() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("sluice");
        let missing = Engines::beside(&program).of_cards();
        assert_eq!(missing.programs.len(), 1);
        assert_eq!(missing.programs[0].path, super::super::cuda_beside(&program));
        std::fs::write(super::super::cuda_beside(&program), "").unwrap();
        let there = Engines::beside(&program);
        assert_eq!(there.clone().of_cards().programs, missing.programs);
        let seeing = there.clone().seeing(&["GPU-1".to_owned(), "GPU-3".to_owned()]);
        assert_eq!(seeing.programs[0].variables, [(VISIBLE_CARDS.into(), "GPU-1,GPU-3".into())]);
        assert!(seeing.programs[1].variables.is_empty());
        assert_eq!(there.seeing(&[]).programs.len(), 1, "the processor is left");
    }

    #[test]
    fn no_engine_is_an_error() {
        assert!(start(&[], |_| SessionOptions::default()).is_err());
    }
}
