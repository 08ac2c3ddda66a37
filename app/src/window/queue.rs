//! The queue in the top bar: what runs and what waits, in an order that can be changed.

use std::collections::{HashMap, HashSet};

use egui::{Id, Popup, PopupCloseBehavior, Rect, RectAlign, Response, Sense, Stroke, Ui, UiBuilder, vec2};
use sluice_engine::{request::Request, session::JobId};

use super::{
    action::{Action, Making},
    icons, job_names, lanes,
    state::{QueuedJob, State},
    status_bar::stage_words,
    tokens::{Palette, size, space},
    widgets::{self, Weight},
};
use crate::{
    groups::{Group, GroupKind},
    language::{tr, units},
};

/// Height of a row.
const ROW: f32 = 44.0;
/// Height of the line with the time, which is there even if no time is known: the buttons below it stay in place.
const TIME: f32 = 18.0;
/// The most rows of what has ended.
const ENDED: usize = 3;
/// A pointer over the list that has not moved for so long, in seconds, aims at nothing.
const REST: f32 = 3.0;

/// View state of the queue; not saved.
#[derive(Debug, Default)]
pub struct QueueView {
    rows: Vec<Row>,
    /// Where the list was drawn last.
    area: Option<Rect>,
    /// Whether the list is to be opened.
    pub opens: bool,
}

/// Draws the button and, if it is open, the list.
pub fn show(ui: &mut Ui, state: &State, view: &mut QueueView, actions: &mut Vec<Action>) {
    let title = match (state.jobs.paused, state.jobs.queue.len()) {
        (true, 0) => tr!("queue-title-empty-paused"),
        (true, count) => tr!("queue-title-paused", count = count),
        (false, count) => tr!("queue-title", count = count),
    };
    let button = widgets::button(ui, None, &title, Weight::Plain).on_hover_text(tr!("queue-tip"));
    if std::mem::take(&mut view.opens) {
        Popup::open_id(ui.ctx(), Popup::default_response_id(&button));
    }
    // The right edge of the button stays where it is when its title changes.
    let shown = Popup::from_toggle_button_response(&button)
        .align(RectAlign::BOTTOM_END)
        .close_behavior(PopupCloseBehavior::CloseOnClickOutside)
        .accessible_name(tr!("queue-name"))
        .frame(widgets::popup_frame(ui))
        .width(size::POPUP)
        .show(|ui| list(ui, state, view, actions));
    if shown.is_none() {
        view.rows.clear();
    }
}

fn list(ui: &mut Ui, state: &State, view: &mut QueueView, actions: &mut Vec<Action>) {
    ui.spacing_mut().item_spacing.y = space::XS;
    let jobs: Jobs<'_> = state.jobs.queue.iter().map(|job| (job.id, job)).collect();
    view.follow(state);
    if !view.is_aimed_at(ui) {
        view.arrange(state);
    }
    lanes::list(ui, state, ui.ctx().time(), actions);
    let before = actions.len();
    let rows = &mut view.rows;
    let shown = egui::ScrollArea::vertical().max_height(360.0).show_viewport(ui, |ui, seen| {
        let (corner, width, gap) = (ui.max_rect().min, ui.available_width(), ui.spacing().item_spacing.y);
        let mut top = 0.0;
        follow_drag(ui);
        let left_of = |row: &Row| row.jobs.iter().find(|job| jobs.contains_key(*job)).copied();
        let firsts: Vec<Option<JobId>> = rows.iter().map(left_of).collect();
        for (place, row) in rows.iter_mut().enumerate() {
            let height = row.height;
            let next = firsts.get(place + 1).copied().flatten();
            // Other rows take their room only: the queue may be long. Keys go to the next row, which may be out of sight.
            if top + 2.0 * height >= seen.top() && top <= seen.bottom() + height {
                let room = Rect::from_min_size(corner + vec2(0.0, top), vec2(width, height));
                let row_id = Id::unique(("row of the queue", row.id));
                let mut inside = ui.new_child(UiBuilder::new().scope_id(row_id).max_rect(room));
                match row.jobs.as_slice() {
                    [_] => {
                        let job = jobs.get(&row.id).copied();
                        queue_row(&mut inside, job, (row, next), state, actions);
                    }
                    _ => group_row(&mut inside, (row, next), (state, &jobs), actions),
                }
                row.height = inside.min_rect().height();
                if row.height != height {
                    ui.ctx().request_repaint();
                }
            }
            top += height + gap;
        }
        ui.allocate_space(vec2(width, (top - gap).max(0.0)));
    });
    view.area = Some(shown.inner_rect);
    if view.rows.is_empty() {
        widgets::hint(ui, tr!("queue-nothing"));
    }
    if actions[before..].iter().any(changes_the_order) {
        view.rows.clear();
    }
    ui.separator();
    ui.scope(|ui| {
        ui.set_min_height(TIME);
        let is_said = state.jobs.queue.len() > usize::from(!state.jobs.paused);
        if let Some(seconds) = state.seconds_of_queue(ui.ctx().time()).filter(|_| is_said) {
            let time = units::seconds(seconds);
            widgets::hint(ui, tr!("queue-time-left", time = time)).on_hover_text(tr!("queue-time-left-tip"));
        }
    });
    ui.horizontal_wrapped(|ui| {
        let (icon, name, tip) = match state.jobs.paused {
            true => (icons::PLAY, tr!("queue-resume"), tr!("queue-resume-tip")),
            false => (icons::PAUSE, tr!("queue-pause"), tr!("queue-pause-tip")),
        };
        if widgets::button(ui, Some(icon), &name, Weight::Ghost).on_hover_text(tip).clicked() {
            actions.push(Action::PauseQueue(!state.jobs.paused));
        }
        if let Some(tip) = job_names::resumed(state.messages.resumable())
            && widgets::button(ui, Some(icons::RESTORE), &tr!("queue-resume-cancelled"), Weight::Ghost)
                .on_hover_text(tip)
                .clicked()
        {
            actions.push(Action::ResumeCancelled);
        }
        let repeats = state.jobs.repeats;
        if widgets::toggle_button(ui, &tr!("queue-repeat"), repeats)
            .on_hover_text(tr!("queue-repeat-tip"))
            .clicked()
        {
            actions.push(Action::RepeatQueue(!repeats));
        }
        if state.jobs.queue.len() > 1
            && widgets::button(ui, Some(icons::X), &tr!("queue-cancel-all"), Weight::Ghost)
                .on_hover_text(tr!("queue-cancel-all-tip"))
                .clicked()
        {
            actions.push(Action::CancelAll);
            ui.close();
        }
    });
}

fn changes_the_order(action: &Action) -> bool {
    matches!(action, Action::MoveJob(..) | Action::RunNext(_) | Action::EditJob(_))
}

/// The jobs in the queue.
type Jobs<'a> = HashMap<JobId, &'a QueuedJob>;

impl QueueView {
    /// Adds rows for new jobs, and removes that of a job whose settings are in the panel.
    fn follow(&mut self, state: &State) {
        let is_edited = |id: JobId| state.jobs.is_edited(id);
        self.rows.retain(|row| row.jobs.len() > 1 || !is_edited(row.id));
        let mut known: HashSet<JobId> = self.rows.iter().flat_map(|row| &row.jobs).copied().collect();
        for job in &state.jobs.queue {
            if !known.contains(&job.id) && !is_edited(job.id) {
                let row = Row::of(job, state.jobs.groups.of(job.id));
                known.extend(&row.jobs);
                self.rows.push(row);
            }
        }
    }

    /// Whether the pointer is about to click a row, which must not move then.
    fn is_aimed_at(&self, ui: &Ui) -> bool {
        ui.input(|input| {
            let pointer = &input.pointer;
            let is_over =
                self.area.zip(pointer.latest_pos()).is_some_and(|(area, place)| area.contains(place));
            pointer.any_down() || is_over && pointer.time_since_last_movement() < REST
        })
    }

    /// Puts what runs and waits first, in its order, and then what has ended last.
    fn arrange(&mut self, state: &State) {
        let places: HashMap<JobId, usize> =
            state.jobs.queue.iter().enumerate().map(|(place, job)| (job.id, place)).collect();
        let place_of = |row: &Row| row.jobs.iter().filter_map(|job| places.get(job)).min().copied();
        let rows = std::mem::take(&mut self.rows);
        let (mut left, ended): (Vec<Row>, Vec<Row>) =
            rows.into_iter().partition(|row| place_of(row).is_some());
        left.iter_mut().for_each(|row| row.has_ended = false);
        left.sort_by_cached_key(place_of);
        let (before, mut just): (Vec<Row>, Vec<Row>) = ended.into_iter().partition(|row| row.has_ended);
        just.iter_mut().for_each(|row| row.has_ended = true);
        left.extend(just.into_iter().rev().chain(before).take(ENDED));
        self.rows = left;
    }
}

/// A job in the open queue. It stays in its place when the job ends while the pointer aims at the list.
#[derive(Debug)]
pub struct Row {
    id: JobId,
    /// All jobs of a group, which share a row.
    jobs: Vec<JobId>,
    prompt: String,
    size: String,
    /// What they have in common.
    kind: GroupKind,
    /// Whether what can be done with it is shown.
    is_open: bool,
    /// Whether it is below those that have not ended.
    has_ended: bool,
    /// As it was drawn last.
    height: f32,
}

impl Row {
    fn of(job: &QueuedJob, group: Option<&Group>) -> Self {
        let request = job.request();
        let [width, height] = request.result_size(1);
        let size = format!("{width} × {height}");
        let draws_nothing = request.map_of.is_some() || request.mask_of.is_some() || request.writes();
        let size = match request.changes_file() {
            Some(_) => size,
            None if draws_nothing => String::new(),
            None => {
                let size = tr!("queue-size", size = size, count = request.steps);
                joined(&[&batch_of(request), &size])
            }
        };
        let jobs = group.map_or_else(|| vec![job.id], |group| group.jobs().collect::<Vec<_>>());
        let kind = group.map_or(GroupKind::Grid, Group::kind);
        let (prompt, size) = match group.filter(|_| kind == GroupKind::Files && jobs.len() > 1) {
            Some(group) => (job_names::name_of_files(request, group.progress()[1]), String::new()),
            None => (job_names::name_of(request), size),
        };
        Self { id: job.id, jobs, prompt, size, kind, is_open: false, has_ended: false, height: ROW }
    }
}

/// How many images or clips a job makes, if it is more than one.
fn batch_of(request: &Request) -> String {
    match (request.batch, request.frames) {
        (0 | 1, _) => String::new(),
        (count, 0 | 1) => tr!("queue-images", count = count),
        (count, _) => tr!("queue-clips", count = count),
    }
}

/// The parts of a line that are not empty.
fn joined(parts: &[&str]) -> String {
    let parts: Vec<&str> = parts.iter().copied().filter(|part| !part.is_empty()).collect();
    parts.join(" · ")
}

/// The stage of a job that runs, once its steps are known.
fn stage_of(job: &QueuedJob) -> Option<String> {
    let progress = job.progress.as_ref().filter(|progress| progress.steps > 0 && !job.cancelling)?;
    Some(stage_words(progress))
}

fn queue_row(
    ui: &mut Ui,
    job: Option<&QueuedJob>,
    (row, next): (&mut Row, Option<JobId>),
    state: &State,
    actions: &mut Vec<Action>,
) {
    let lane = job.and_then(|job| state.lane_of(job));
    let phase = match job.map(|job| (job.cancelling, &job.progress)) {
        None => tr!("queue-ended"),
        Some((true, _)) => tr!("queue-cancelling"),
        Some((false, None)) if lane.is_some() => tr!("engines-begins"),
        Some((false, None)) => tr!("queue-waiting"),
        Some((false, Some(_))) => job.and_then(stage_of).unwrap_or_else(|| tr!("queue-running")),
    };
    let detail = joined(&[&phase, lane.as_deref().unwrap_or_default(), &row.size]);
    let waiting = job.filter(|job| job.progress.is_none() && !job.cancelling).map(|job| job.id);
    ui.horizontal(|ui| {
        words(ui, row, (waiting, next), &detail, actions).on_hover_text(format!("{}\n{detail}", row.prompt));
        more(ui, row, waiting.is_some());
        let name = tr!("queue-cancel", job = row.id.0);
        let is_cancellable = job.is_some_and(|job| !job.cancelling);
        let cancel = ui.add_enabled_ui(is_cancellable, |ui| widgets::icon_button(ui, icons::X, &name));
        if cancel.inner.clicked() {
            actions.push(Action::Cancel(row.id));
        }
    });
    if let Some(job) = waiting.filter(|_| row.is_open) {
        choices(ui, job, state, actions);
    }
}

/// The jobs of a group, in one row.
fn group_row(
    ui: &mut Ui,
    (row, next): (&mut Row, Option<JobId>),
    (state, jobs): (&State, &Jobs<'_>),
    actions: &mut Vec<Action>,
) {
    let left: Vec<&QueuedJob> = row.jobs.iter().filter_map(|job| jobs.get(job).copied()).collect();
    let group = left.iter().find_map(|job| state.jobs.groups.of(job.id));
    let is_cancelling = left.iter().all(|job| job.cancelling);
    let phase = match (group.map(Group::progress), &row.kind) {
        (None, GroupKind::Grid) => tr!("queue-grid-ended"),
        (None, GroupKind::Folder(name)) => tr!("queue-folder-ended", name = name),
        (None, GroupKind::Files) => tr!("queue-ended"),
        (Some(_), GroupKind::Grid) if is_cancelling => tr!("queue-grid-cancelling"),
        (Some(_), GroupKind::Folder(name)) if is_cancelling => tr!("queue-folder-cancelling", name = name),
        (Some(_), GroupKind::Files) if is_cancelling => tr!("queue-cancelling"),
        (Some([done, all]), GroupKind::Grid) => tr!("queue-grid-done", done = done, all = all),
        (Some([done, all]), GroupKind::Folder(name)) => {
            tr!("queue-folder-done", name = name, done = done, all = all)
        }
        (Some([done, all]), GroupKind::Files) => tr!("queue-files-done", done = done, all = all),
    };
    let (tip, cancel_name) = match row.kind {
        GroupKind::Grid => (tr!("queue-grid-tip"), tr!("queue-grid-cancel")),
        GroupKind::Folder(_) => (tr!("queue-folder-tip"), tr!("queue-folder-cancel")),
        GroupKind::Files => (tr!("queue-files-tip"), tr!("queue-files-cancel")),
    };
    let stage = match row.kind {
        GroupKind::Files => left.iter().find_map(|job| stage_of(job)),
        GroupKind::Grid | GroupKind::Folder(_) => None,
    };
    let detail = joined(&[&phase, stage.as_deref().unwrap_or_default(), &row.size]);
    let waiting = left.iter().find(|job| job.progress.is_none() && !job.cancelling).map(|job| job.id);
    ui.horizontal(|ui| {
        let whole = format!("{}\n{detail}\n{tip}", row.prompt);
        words(ui, row, (waiting, next), &detail, actions).on_hover_text(whole);
        more(ui, row, waiting.is_some());
        let can = left.iter().any(|job| !job.cancelling);
        let cancel = ui.add_enabled_ui(can, |ui| widgets::icon_button(ui, icons::X, &cancel_name));
        if let Some(job) = left.first().filter(|_| cancel.inner.clicked()) {
            actions.push(Making::CancelGroup(job.id).into());
        }
    });
    if let Some(job) = waiting.filter(|_| row.is_open) {
        moves(ui, job, state, actions);
    }
}

/// What a row says. One that waits is dragged by it, and shows what can be done with it.
fn words(
    ui: &mut Ui,
    row: &mut Row,
    (waiting, next): (Option<JobId>, Option<JobId>),
    detail: &str,
    actions: &mut Vec<Action>,
) -> Response {
    let width = ui.available_width() - 2.0 * (size::CONTROL + space::S);
    let (sense, role) = match waiting {
        Some(_) => (Sense::click_and_drag(), egui::Role::Button),
        None => (Sense::hover(), egui::Role::Label),
    };
    let (rect, response) = ui.allocate_exact_size(vec2(width, ROW), sense);
    let spoken = format!("{}, {detail}", row.prompt);
    response.widget_info(|| egui::WidgetInfo::labeled(role, true, &spoken));
    let middle = egui::pos2(rect.left() + space::S, rect.center().y);
    widgets::two_lines(ui, middle, rect.width() - space::S, &row.prompt, detail);
    if let Some(job) = waiting {
        drag(ui, &response, (job, next), actions);
        // A menu of its own would close the list.
        row.is_open ^= response.clicked() || response.secondary_clicked();
    }
    response
}

/// The button that shows what can be done with a job or a group.
fn more(ui: &mut Ui, row: &mut Row, can: bool) {
    let icon = if row.is_open { icons::CHEVRON_DOWN } else { icons::CHEVRON_RIGHT };
    let name = tr!("queue-actions", job = row.id.0);
    let button = ui.add_enabled_ui(can, |ui| widgets::icon_button(ui, icon, &name));
    row.is_open ^= button.inner.clicked();
}

/// Lets a waiting job be dragged onto another one: it then runs before that one or, from its lower half on, after it.
fn drag(ui: &Ui, row: &Response, (id, next): (JobId, Option<JobId>), actions: &mut Vec<Action>) {
    row.dnd_set_drag_payload(id);
    let pointer = ui.input(|input| input.pointer.latest_pos());
    let is_after = pointer.is_some_and(|pointer| pointer.y > row.rect.center().y);
    if row.dnd_hover_payload::<JobId>().is_some_and(|dragged| *dragged != id) {
        let line = Stroke::new(2.0, Palette::of(ui).accent);
        let gap = space::XS / 2.0;
        let place = if is_after { row.rect.bottom() + gap } else { row.rect.top() - gap };
        ui.painter().hline(row.rect.x_range(), place, line);
    }
    if let Some(dragged) = row.dnd_release_payload::<JobId>().filter(|dragged| **dragged != id) {
        let before = if is_after { next } else { Some(id) };
        actions.push(Action::MoveJob(*dragged, before));
    }
}

/// Scrolls while a job is dragged along an edge of the list.
fn follow_drag(ui: &Ui) {
    const EDGE: f32 = 24.0;
    const SPEED: f32 = 8.0;
    let seen = ui.clip_rect();
    let pointer = ui.input(|input| input.pointer.latest_pos()).filter(|pointer| seen.contains(*pointer));
    let (Some(pointer), true) = (pointer, egui::DragAndDrop::has_payload_of_type::<JobId>(ui.ctx())) else {
        return;
    };
    let speed = match pointer.y {
        y if y < seen.top() + EDGE => SPEED,
        y if y > seen.bottom() - EDGE => -SPEED,
        _ => return,
    };
    ui.scroll_with_delta(vec2(0.0, speed));
    ui.ctx().request_repaint();
}

/// Where a waiting job or group can go.
fn moves(ui: &mut Ui, id: JobId, state: &State, actions: &mut Vec<Action>) {
    for (icon, words, is_there, action) in [
        (
            icons::STEP_FORWARD,
            [tr!("queue-run-next"), tr!("queue-run-next-tip"), tr!("queue-is-next")],
            state.jobs.is_next(id),
            Action::RunNext(id),
        ),
        (
            icons::ARROW_RIGHT_TO_LINE,
            [tr!("queue-run-last"), tr!("queue-run-last-tip"), tr!("queue-is-last")],
            state.jobs.is_last(id),
            Action::MoveJob(id, None),
        ),
    ] {
        let [name, tip, reason] = words;
        let button = ui.add_enabled_ui(!is_there, |ui| widgets::row_button(ui, icon, &name, "", false));
        if button.inner.on_hover_text(tip).on_disabled_hover_text(reason).clicked() {
            actions.push(action);
        }
    }
}

fn choices(ui: &mut Ui, id: JobId, state: &State, actions: &mut Vec<Action>) {
    moves(ui, id, state, actions);
    for (icon, name, tip, action) in [
        (icons::COPY, tr!("queue-duplicate"), tr!("queue-duplicate-tip"), Action::DuplicateJob(id)),
        (icons::RESTORE, tr!("queue-edit"), tr!("queue-edit-tip"), Action::EditJob(id)),
    ] {
        if widgets::row_button(ui, icon, &name, "", false).on_hover_text(tip).clicked() {
            actions.push(action);
        }
    }
}
