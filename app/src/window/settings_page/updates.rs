//! Whether the program looks for newer releases.

use egui::{OpenUrl, Ui};

use super::SettingsPage;
use crate::{
    language::{said, tr},
    window::{
        action::Action,
        sentences::sentence,
        settings::Setting,
        state::{State, Updates},
        tokens::space,
        widgets::{self, Weight},
    },
};

/// Draws it.
pub fn show(ui: &mut Ui, state: &State, _: &mut SettingsPage, actions: &mut Vec<Action>) {
    if state.updates == Updates::Nowhere {
        widgets::hint(ui, tr!("settings-updates-nowhere"));
        return;
    }
    let mut looks = state.settings.looks_for_updates;
    let switch = ui.checkbox(&mut looks, tr!("settings-updates"));
    if switch.on_hover_text(tr!("settings-updates-tip")).changed() {
        actions.push(Action::Set(Setting::LooksForUpdates(looks)));
    }
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = space::S;
        let can_ask = state.updates != Updates::Asking;
        let ask = ui.add_enabled_ui(can_ask, |ui| {
            widgets::button(ui, None, &tr!("settings-updates-now"), Weight::Plain)
        });
        if ask.inner.on_hover_text(tr!("settings-updates-now-tip")).clicked() {
            actions.push(Action::LookForUpdates);
        }
        if let Updates::Newer(release) = &state.updates
            && widgets::button(ui, None, &tr!("settings-updates-page"), Weight::Primary)
                .on_hover_text(&release.page)
                .clicked()
        {
            ui.ctx().open_url(OpenUrl::new_tab(&release.page));
        }
    });
    match &state.updates {
        Updates::Nowhere | Updates::Unasked => {}
        Updates::Asking => drop(widgets::hint(ui, tr!("settings-updates-asking"))),
        Updates::Newest => drop(widgets::hint(ui, tr!("settings-updates-newest"))),
        Updates::Newer(release) => {
            let version = release.version.as_str();
            widgets::hint(ui, tr!("settings-updates-newer", version = version));
        }
        Updates::Failed(failure) => {
            widgets::mistake(ui, &sentence(&failure.message));
            if let Some(advice) = &failure.advice {
                widgets::hint(ui, said(advice));
            }
        }
    }
}
