//! What the desktop shows of the queue: the title of the window, its progress in the taskbar, and that it is done.

use egui::{Context, UserAttentionType, ViewportCommand};

use super::SluiceApp;
use crate::language::tr;

/// Letters of a prompt in the title.
const TITLE: usize = 40;
/// By how many percent sums of fractions may be too small.
const ROUNDING: f64 = 1e-3;

impl SluiceApp {
    /// Says in the title what is running, and shows its progress in the taskbar.
    pub(super) fn say_in_title(&mut self, ctx: &Context) {
        let at_work = self.state.jobs.at_work();
        let title = at_work.map_or_else(
            || "Sluice".to_owned(),
            |(job, fraction)| {
                let prompt: String = job.request().prompt.trim().chars().take(TITLE).collect();
                let percent = in_percent(fraction);
                match prompt.is_empty() {
                    true => format!("{percent} – Sluice"),
                    false => format!("{percent} · {prompt} – Sluice"),
                }
            },
        );
        if self.title != title {
            ctx.send_viewport_cmd(ViewportCommand::Title(title.clone()));
            (self.show_progress)(at_work.map(|(_, fraction)| f64::from(fraction)));
            self.title = title;
        }
    }

    /// Makes the desktop point to the window when the queue is done while another window is in front, and say so.
    pub(super) fn call(&mut self, ctx: &Context) {
        let is_busy = !self.state.jobs.is_empty();
        if std::mem::replace(&mut self.was_busy, is_busy) && !is_busy && !ctx.input(|input| input.focused) {
            if self.state.settings.notifies {
                (self.notify)(tr!("app-queue-done"));
            }
            ctx.send_viewport_cmd(ViewportCommand::RequestUserAttention(UserAttentionType::Informational));
        }
    }
}

/// A finished fraction in percent, which is not all before it is.
fn in_percent(fraction: f32) -> String {
    format!("{:.0}%", (f64::from(fraction) * 100.0 + ROUNDING).floor())
}

#[cfg(test)]
mod tests {
    use super::in_percent;

    #[test]
    fn nothing_is_all_done_before_it_is() {
        for (fraction, percent) in
            [(0.0, "0%"), (0.29, "29%"), (0.5, "50%"), (0.995, "99%"), (499.0 / 500.0, "99%"), (1.0, "100%")]
        {
            assert_eq!(in_percent(fraction), percent);
        }
    }
}
