//! What to do when the device runs out of memory although the plan says that it would not.

use std::rc::Rc;

use super::{
    Candidate, Footprint, Machine, MemoryPreferences, Plan, Residence, StagePlan, Technique, UsePlan,
    Workload,
    candidate::Layout,
    part::Part,
    refit::as_candidate,
    search::{Row, Search, Shape, Solution},
};

/// What is given up, one after the other.
struct Concession {
    smaller_tiles: bool,
    technique: Technique,
}

/// A plan whose stage of this number takes at least `short_by` bytes less of the device than in `current`; `None` if there
/// is nothing left to give.
///
/// First fewer blocks stay, of the parts that the stage uses and then of others that only wait; then tiles
/// become smaller or windows of a clip come one after the other, then there are fewer slots, then blocks come tensor by tensor. A run must not end because
/// of a wish, so the mode and the wishes for single parts do not hold here. What other stages do with
/// their parts stays as it is.
pub fn step_down(
    footprint: &Footprint,
    workload: &Workload,
    machine: &Machine,
    current: &Plan,
    stage: usize,
    short_by: u64,
) -> Option<Plan> {
    let own = current.stages.get(stage)?;
    let limit = own.device().checked_sub(short_by)?.min(machine.device_budget);
    let any_tiles = MemoryPreferences::default();
    let search = Search::new(footprint, workload, machine, &any_tiles).keeping_as(current);
    let uses: Vec<&UsePlan> = current.uses().collect();
    if current.parts.len() != search.parts().len() || uses.len() != search.uses().len() {
        return None;
    }
    let level = search.level_of(&uses);
    for concession in concessions(own) {
        let smaller = search.levels_below(level).filter(|_| concession.smaller_tiles);
        for level in [level].into_iter().chain(smaller) {
            for row in rows(current, own) {
                let shape = Shape { row, level };
                let replacing = Replacing { search: &search, current, uses: &uses, stage, limit };
                let Some(chosen) = replacing.chosen(&shape, concession.technique) else { continue };
                let plan = search.plan(&Solution { shape, chosen }, current.mode);
                if is_relief(&plan, current, machine, stage, limit) {
                    return Some(plan);
                }
            }
        }
    }
    None
}

fn concessions(stage: &StagePlan) -> [Concession; 4] {
    let slots = stage.uses.iter().map(|part_use| part_use.slots);
    let slots = slots.max().filter(|&slots| slots > 0).unwrap_or(2);
    let same = Technique { fewest_slots: slots, most_slots: slots, leaves: false, ..Technique::new(None) };
    let fewer = Technique { fewest_slots: 1, ..same };
    [
        Concession { smaller_tiles: false, technique: same },
        Concession { smaller_tiles: true, technique: same },
        Concession { smaller_tiles: true, technique: fewer },
        Concession { smaller_tiles: true, technique: Technique { leaves: true, ..fewer } },
    ]
}

/// How parts may be placed: as they are; those of the stage block by block; those of other stages away.
fn rows(current: &Plan, stage: &StagePlan) -> [Row; 3] {
    let row = |change: fn(Residence, bool) -> Residence| {
        let parts = current.parts.iter().enumerate();
        parts.map(|(part, plan)| change(plan.residence, stage.use_of(part).is_some())).collect()
    };
    [
        row(|residence, _| residence),
        row(|residence, own| match residence {
            Residence::OnDemand => Residence::OnDemand,
            _ if own => Residence::Streamed,
            other => other,
        }),
        row(|residence, own| match residence {
            Residence::OnDemand => Residence::OnDemand,
            _ if own => Residence::Streamed,
            Residence::Resident => Residence::Staged,
            other => other,
        }),
    ]
}

/// The stage's uses of parts anew within `limit`, the others as they are.
struct Replacing<'a> {
    search: &'a Search<'a>,
    current: &'a Plan,
    uses: &'a [&'a UsePlan],
    stage: usize,
    limit: u64,
}

impl Replacing<'_> {
    fn chosen(&self, shape: &Shape, technique: Technique) -> Option<Vec<Rc<Candidate>>> {
        let search = self.search;
        let rooms = search.host_rooms(shape, technique);
        let taken = search.held(shape).checked_add(search.activations(self.stage, shape.level))?;
        let room = self.limit.checked_sub(taken)?;
        let choose = |number: usize| {
            let part = search.part(number);
            let residence = shape.row[part];
            let costs = search.costs(number, shape.level);
            if residence != Residence::Resident && search.stage(number) == self.stage {
                let front = search.front(number, shape, rooms[number], technique);
                front.iter().rfind(|candidate| candidate.device() <= room).cloned()
            } else if residence == self.current.parts[part].residence {
                as_candidate(&costs, search.machine(), self.uses[number]).map(Rc::new)
            } else {
                let part = Part::new(&costs, search.machine(), search.denoises(number));
                let keeps = search.keeps_copies(number);
                Some(Rc::new(Layout::whole(&part, rooms[number].copies, keeps).played(&part, 0)))
            }
        };
        search.uses().map(choose).collect()
    }
}

/// Whether the stage keeps to its limit and no other one takes more than it may.
fn is_relief(plan: &Plan, current: &Plan, machine: &Machine, stage: usize, limit: u64) -> bool {
    plan.stages.iter().zip(&current.stages).all(|(now, before)| {
        let own = now.stage.number == stage;
        now.device() <= if own { limit } else { before.device().max(machine.device_budget) }
    }) && (machine.unified || plan.peak_host() <= machine.host_budget.max(current.peak_host()))
}
