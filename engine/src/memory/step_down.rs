//! What to do when the device runs out of memory although the plan says that it would not.

use std::rc::Rc;

use super::{
    ComponentPlan, Footprint, Machine, MemoryPreferences, Placed, Plan, Residence, Stage, Technique,
    Workload,
    placement::as_placed,
    search::{Row, Search, Shape, Solution},
};

/// What is given up, one after the other.
struct Concession {
    smaller_tiles: bool,
    technique: Technique,
}

/// A plan whose `stage` takes at least `short_by` bytes less of the device than in `current`; `None` if there
/// is nothing left to give.
///
/// First fewer blocks stay, of the stage's own components and then of others that only wait; then tiles
/// become smaller, then there are fewer slots, then blocks come tensor by tensor. A run must not end because
/// of a wish, so the mode and the wishes for single components do not hold here. What other stages do with
/// their own components stays as it is.
pub fn step_down(
    footprint: &Footprint,
    workload: &Workload,
    machine: &Machine,
    current: &Plan,
    stage: Stage,
    short_by: u64,
) -> Option<Plan> {
    let limit = current.stage(stage)?.device().checked_sub(short_by)?.min(machine.device_budget);
    let any_tiles = MemoryPreferences::default();
    let search = Search::new(footprint, workload, machine, &any_tiles);
    if current.components.len() != search.components().len() {
        return None;
    }
    let level = current.components.iter().map(|component| component.way).max().unwrap_or(0);
    for concession in concessions(current, stage) {
        let smaller = if concession.smaller_tiles { level + 1..search.levels() } else { 0..0 };
        for level in [level].into_iter().chain(smaller) {
            for row in rows(current, stage) {
                let shape = Shape { row, level };
                let Some(placed) = replace(&search, current, stage, &shape, concession.technique, limit)
                else {
                    continue;
                };
                let plan = search.plan(&Solution { shape, placed }, current.mode);
                if is_relief(&plan, current, machine, stage, limit) {
                    return Some(plan);
                }
            }
        }
    }
    None
}

fn concessions(current: &Plan, stage: Stage) -> [Concession; 4] {
    let own = current.components.iter().filter(|component| component.stage == stage);
    let slots = own.map(|component| component.slots).max().filter(|&slots| slots > 0).unwrap_or(2);
    let same = Technique { fewest_slots: slots, most_slots: slots, leaves: false, ..Technique::new(None) };
    let fewer = Technique { fewest_slots: 1, ..same };
    [
        Concession { smaller_tiles: false, technique: same },
        Concession { smaller_tiles: true, technique: same },
        Concession { smaller_tiles: true, technique: fewer },
        Concession { smaller_tiles: true, technique: Technique { leaves: true, ..fewer } },
    ]
}

/// How components may be placed: as they are; those of the stage block by block; those of other stages away.
fn rows(current: &Plan, stage: Stage) -> [Row; 3] {
    let row = |change: fn(&ComponentPlan, bool) -> Residence| {
        current.components.iter().map(|component| change(component, component.stage == stage)).collect()
    };
    [
        row(|component, _| component.residence),
        row(|component, own| match component.residence {
            Residence::OnDemand => Residence::OnDemand,
            _ if own => Residence::Streamed,
            other => other,
        }),
        row(|component, own| match component.residence {
            Residence::OnDemand => Residence::OnDemand,
            _ if own => Residence::Streamed,
            Residence::Resident => Residence::Staged,
            other => other,
        }),
    ]
}

/// The stage's components anew within `limit`, the others as they are.
fn replace(
    search: &Search<'_>,
    current: &Plan,
    stage: Stage,
    shape: &Shape,
    technique: Technique,
    limit: u64,
) -> Option<Vec<Rc<Placed>>> {
    let rooms = search.host_rooms(shape, technique);
    let as_it_is = |index: usize| {
        let component = &current.components[index];
        let costs = search.costs(index, shape.level);
        if shape.row[index] == component.residence {
            as_placed(&costs, search.machine(), component)
        } else {
            Some(Placed::whole(&costs, search.machine(), rooms[index].copies))
        }
    };
    let stays = |index: &usize| search.stage(*index) != stage || shape.row[*index] == Residence::Resident;
    let resident = search.components().filter(|&index| shape.row[index] == Residence::Resident);
    let held = resident.map(|index| Some(as_it_is(index)?.weights)).sum::<Option<u64>>()?;
    let room = limit.checked_sub(held.checked_add(search.activations(stage, shape.level))?)?;
    let place = |index: usize| {
        if stays(&index) {
            return as_it_is(index).map(Rc::new);
        }
        let ladder = search.ladder(index, shape, rooms[index], technique);
        ladder.iter().rfind(|placed| placed.weights <= room).cloned()
    };
    search.components().map(place).collect()
}

/// Whether the stage keeps to its limit and no other one takes more than it may.
fn is_relief(plan: &Plan, current: &Plan, machine: &Machine, stage: Stage, limit: u64) -> bool {
    let before = |stage| current.stage(stage).map_or(0, |stage| stage.device());
    plan.stages.iter().all(|now| {
        let allowed = if now.stage == stage { limit } else { before(now.stage).max(machine.device_budget) };
        now.device() <= allowed
    }) && (machine.unified || plan.peak_host() <= machine.host_budget.max(current.peak_host()))
}
