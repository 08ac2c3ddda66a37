//! The engines: which there are, which are used, and whether they answer.

use std::collections::HashMap;

use egui::{ComboBox, Margin, TextEdit, Ui};
use sluice_engine::session::Failure;

use super::SettingsPage;
use crate::{
    engines::{self, Card, EngineList, Introduction, OtherEngine, OwnCard, Place, Trial},
    language::{said, tr, units},
    window::{
        action::Action,
        cuda_offer, icons,
        sentences::sentence,
        settings::Setting,
        state::State,
        tokens::space,
        widgets::{self, Weight},
    },
};

/// What the page knows of engines; not saved.
#[derive(Default)]
pub struct EnginesView {
    /// The list while somebody types.
    edited: Option<EngineList>,
    tried: HashMap<Row, Tried>,
}

impl std::fmt::Debug for EnginesView {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EnginesView").field("edited", &self.edited).finish_non_exhaustive()
    }
}

/// A row of the list.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Row {
    Here,
    Card(String),
    /// One behind this command, which may be in several rows.
    Other(usize, String),
}

/// An engine that is or was tried.
enum Tried {
    Running(Trial),
    Answer(Result<Introduction, Failure>),
}

/// Commands to begin with, for what they lead to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Template {
    Ssh,
    Slurm,
    Kubernetes,
    Container,
    Wsl,
    Other,
}

impl Template {
    /// Those that this computer can have.
    fn all() -> impl Iterator<Item = Self> {
        let all = [Self::Ssh, Self::Slurm, Self::Kubernetes, Self::Container, Self::Wsl, Self::Other];
        all.into_iter().filter(|template| cfg!(windows) || *template != Self::Wsl)
    }

    fn title(self) -> String {
        match self {
            Self::Ssh => "SSH".to_owned(),
            Self::Slurm => "Slurm".to_owned(),
            Self::Kubernetes => "Kubernetes".to_owned(),
            Self::Container => tr!("engines-container"),
            Self::Wsl => "WSL".to_owned(),
            Self::Other => tr!("engines-other-command"),
        }
    }

    fn command(self) -> &'static str {
        match self {
            Self::Ssh => "ssh -T -o BatchMode=yes -o ServerAliveInterval=15 HOST sluice worker",
            Self::Slurm => "srun --quiet --unbuffered --gres=gpu:1 sluice-cuda worker",
            Self::Kubernetes => "kubectl exec -i POD -- sluice-cuda worker",
            Self::Container => {
                "docker run --rm -i --gpus all -v /data/models:/models -e SLUICE_MODEL_FOLDERS=/models IMAGE sluice-cuda worker"
            }
            Self::Wsl => "wsl sluice worker",
            Self::Other => "",
        }
    }

    fn engine(self) -> OtherEngine {
        let name = if self == Self::Other { String::new() } else { self.title() };
        OtherEngine { name, command: self.command().to_owned(), is_on: false }
    }
}

/// Draws them.
pub fn show(ui: &mut Ui, state: &State, page: &mut SettingsPage, actions: &mut Vec<Action>) {
    let view = &mut page.engines;
    let saved = &state.settings.startup.engines;
    let mut list = view.edited.take().unwrap_or_else(|| saved.clone());
    // What is typed is saved when the field is left.
    let mut is_typing = false;
    here(ui, view, &mut list);
    if state.offers_cuda() {
        cuda_offer::show(ui, state, actions);
    } else if state.cuda.is_installed {
        cuda_offer::installed(ui, state, actions);
    }
    cards(ui, &state.surroundings.cards, view, &mut list);
    let mut removed = None;
    for place in 0..list.others.len() {
        let row = &mut list.others[place];
        let [typing, remove] = other(ui, view, place, row);
        is_typing |= typing;
        removed = removed.or(remove.then_some(place));
    }
    if let Some(place) = removed {
        list.others.remove(place);
        view.tried.retain(|row, _| !matches!(row, Row::Other(..)));
    }
    add(ui, &mut list);
    let hint = match (state.lanes.change_waits, state.jobs.is_empty()) {
        (true, false) => tr!("engines-change-waits"),
        _ => tr!("engines-hint"),
    };
    widgets::hint(ui, hint);
    if is_typing {
        view.edited = Some(list);
    } else if list != *saved {
        actions.push(Action::Set(Setting::Engines(Box::new(list))));
    }
}

fn here(ui: &mut Ui, view: &mut EnginesView, list: &mut EngineList) {
    let is_alone = !list.others.iter().any(|other| other.is_on && other.is_valid()) && list.cards.is_empty();
    let mut is_on = list.here || is_alone;
    ui.horizontal(|ui| {
        ui.add_enabled_ui(!is_alone, |ui| {
            let switch = ui.checkbox(&mut is_on, tr!("engines-here"));
            if switch
                .on_hover_text(tr!("engines-here-tip"))
                .on_disabled_hover_text(tr!("engines-here-alone-tip"))
                .changed()
            {
                list.here = is_on;
            }
        });
        at_the_right(ui, |ui| try_button(ui, view, Row::Here, &tr!("engines-here"), Some(Place::Here)));
    });
    answer(ui, view, &Row::Here);
}

/// The cards after the first, which this computer's own engine keeps.
fn cards(ui: &mut Ui, cards: &[Card], view: &mut EnginesView, list: &mut EngineList) {
    for (number, card) in cards.iter().enumerate().skip(1) {
        let title = tr!("engines-card", name = &card.name, number = number);
        let mut is_on = list.cards.iter().any(|own| own.uuid == card.uuid);
        let row = Row::Card(card.uuid.clone());
        ui.horizontal(|ui| {
            if ui.checkbox(&mut is_on, &title).on_hover_text(tr!("engines-card-tip")).changed() {
                list.cards.retain(|own| own.uuid != card.uuid);
                if is_on {
                    list.cards.push(OwnCard { uuid: card.uuid.clone(), name: title.clone() });
                }
            }
            let place = Some(Place::Card(card.uuid.clone()));
            at_the_right(ui, |ui| try_button(ui, view, row.clone(), &title, place));
        });
        answer(ui, view, &row);
    }
}

/// An engine behind a command. Returns whether somebody types, and whether it is to be removed.
fn other(ui: &mut Ui, view: &mut EnginesView, place: usize, engine: &mut OtherEngine) -> [bool; 2] {
    let number = place + 1;
    let row = Row::Other(place, engine.command.clone());
    let command = engines::command(&engine.command);
    let mut is_typing = false;
    let removed = ui
        .horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = space::S;
            ui.add_enabled_ui(command.is_ok(), |ui| {
                // Below those with words beside them.
                ui.spacing_mut().interact_size.y = ui.spacing().icon_width;
                let switch = ui.checkbox(&mut engine.is_on, "");
                let name = tr!("engines-use", number = number);
                switch.widget_info(|| {
                    egui::WidgetInfo::selected(egui::Role::CheckBox, true, engine.is_on, &name)
                });
                switch.on_hover_text(tr!("engines-use-tip"));
            });
            let label = tr!("engines-name", number = number);
            let tip = tr!("engines-name-tip");
            is_typing |= field(ui, &mut engine.name, [&label, &tip, &tr!("engines-name-hint")], 200.0);
            let title = engine.title().to_owned();
            let elsewhere = command.as_ref().ok().cloned().map(Place::Elsewhere);
            at_the_right(ui, |ui| {
                let remove = widgets::icon_button(ui, icons::X, &tr!("engines-remove", number = number));
                try_button(ui, view, row.clone(), &title, elsewhere);
                remove.clicked()
            })
        })
        .inner;
    let label = tr!("engines-command", number = number);
    let tip = tr!("engines-command-tip");
    let width = ui.available_width();
    is_typing |= field(ui, &mut engine.command, [&label, &tip, "ssh -T HOST sluice worker"], width);
    match command {
        Ok(_) => answer(ui, view, &row),
        Err(engines::CommandLineError::Empty) => drop(widgets::hint(ui, tr!("engines-empty"))),
        Err(engines::CommandLineError::Quotes(_)) => widgets::mistake(ui, &tr!("engines-quotes")),
    }
    [is_typing, removed]
}

/// A field of a row. Returns whether somebody types in it.
fn field(ui: &mut Ui, text: &mut String, [label, tip, hint]: [&str; 3], width: f32) -> bool {
    let field =
        TextEdit::singleline(text).hint_text(hint).margin(Margin::symmetric(10, 6)).desired_width(width);
    let field = ui.add(field).accessible_name(label).on_hover_text(tip);
    field.has_focus()
}

fn at_the_right<T>(ui: &mut Ui, add: impl FnOnce(&mut Ui) -> T) -> T {
    ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), add).inner
}

/// Starts to try an engine, or gives that up.
fn try_button(ui: &mut Ui, view: &mut EnginesView, row: Row, title: &str, place: Option<Place>) {
    if let Some(Tried::Running(trial)) = view.tried.get(&row)
        && let Some(result) = trial.try_recv()
    {
        view.tried.insert(row.clone(), Tried::Answer(result));
    }
    let runs = matches!(view.tried.get(&row), Some(Tried::Running(_)));
    let (words, tip) = match runs {
        true => (tr!("engines-stop-trying"), tr!("engines-stop-trying-tip", name = title)),
        false => (tr!("engines-try"), tr!("engines-try-tip", name = title)),
    };
    ui.add_enabled_ui(place.is_some(), |ui| {
        if !widgets::button(ui, None, &words, Weight::Plain).on_hover_text(tip).clicked() {
            return;
        }
        if runs {
            view.tried.remove(&row);
            return;
        }
        let Some(place) = place else { return };
        let ctx = ui.ctx().clone();
        let tried = Trial::start(place, move || ctx.request_repaint()).map_or_else(
            |error| Tried::Answer(Err(Failure { message: error.to_string(), advice: None })),
            Tried::Running,
        );
        view.tried.insert(row, tried);
    });
}

/// What an engine has answered.
fn answer(ui: &mut Ui, view: &EnginesView, row: &Row) {
    match view.tried.get(row) {
        None => {}
        Some(Tried::Running(trial)) => {
            ui.ctx().request_repaint_after(std::time::Duration::from_secs(1));
            widgets::hint(ui, tr!("engines-trying", seconds = trial.elapsed().as_secs()));
        }
        Some(Tried::Answer(Ok(introduction))) => {
            widgets::hint(ui, tr!("engines-answers", words = introduction.words(units::memory)));
            if let Some(failure) = &introduction.serving.instead_of {
                let why = sentence(&failure.message);
                let is_elsewhere = matches!(row, Row::Other(..));
                widgets::hint(ui, if is_elsewhere { tr!("engines-there", words = why) } else { why });
            }
        }
        Some(Tried::Answer(Err(failure))) => {
            widgets::mistake(ui, &said(&failure.message));
            if let Some(advice) = &failure.advice {
                widgets::hint(ui, said(advice));
            }
        }
    }
}

fn add(ui: &mut Ui, list: &mut EngineList) {
    let combo = ComboBox::from_id_salt("add engine").selected_text(tr!("engines-add")).width(220.0);
    let combo = widgets::drop_down(ui, combo, |ui| {
        for template in Template::all() {
            let tip = match template.command() {
                "" => tr!("engines-add-tip"),
                command => command.to_owned(),
            };
            if widgets::choice(ui, false, template.title()).on_hover_text(tip).clicked() {
                list.others.push(template.engine());
            }
        }
    });
    let response = combo.response.on_hover_text(tr!("engines-add-tip"));
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::ComboBox, true, tr!("engines-add")));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_template_is_a_command_that_ends_in_a_worker() {
        for template in Template::all().filter(|template| *template != Template::Other) {
            let engine = template.engine();
            assert!(engine.is_valid() && !engine.is_on && !engine.name.is_empty(), "{engine:?}");
            let program = engines::command(&engine.command).unwrap();
            assert_eq!(program.arguments.last().unwrap(), "worker");
        }
        assert!(!Template::Other.engine().is_valid());
    }
}
