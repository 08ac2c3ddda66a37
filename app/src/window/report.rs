//! What helps to find a fault: the machine, the model, the settings, the last messages and the end of the log.

use std::{env, fmt::Write as _, path::PathBuf};

use sluice_engine::units;

use crate::{
    logs,
    window::state::{ModelStatus, State},
};

/// Lines of the log.
const LINES: usize = 200;
/// Ends what may stand in front of a path.
const BEFORE_PATHS: [char; 8] = [' ', '\t', '"', '\'', '(', '=', '`', '“'];
/// Ends a path.
const AFTER_PATHS: [char; 6] = ['"', '\'', ')', '`', '”', ','];

/// A report without the log, which is read on another thread.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    facts: String,
    logs: Option<PathBuf>,
    tells_all: bool,
}

impl Report {
    /// Of what is known now. Without `tells_all` it has neither prompts nor paths.
    pub fn of(state: &State, tells_all: bool) -> Self {
        Self { facts: facts(state, tells_all), logs: logs::folder(), tells_all }
    }

    /// The engine in words.
    pub fn engine(state: &State) -> String {
        match &state.engine.serving {
            Some(serving) => format!("Engine: {}", serving.engine),
            None => "Engine: not running in a process of its own".to_owned(),
        }
    }

    /// With the end of the log. Reads files.
    pub fn complete(self) -> String {
        let lines = match &self.logs {
            Some(folder) => logs::last_lines(folder, LINES).unwrap_or_else(|error| vec![error.to_string()]),
            None => Vec::new(),
        };
        let all = format!("{}\nLog\n{}\n", self.facts, lines.join("\n"));
        if self.tells_all { all } else { without_paths(&all) }
    }
}

fn facts(state: &State, tells_all: bool) -> String {
    let mut lines = vec![
        format!("Sluice {} on {} ({})", env!("CARGO_PKG_VERSION"), env::consts::OS, env::consts::ARCH),
        Report::engine(state),
    ];
    if let Some(hardware) = &state.engine.hardware {
        let (free, all) = (units::memory(hardware.ram_available), units::memory(hardware.ram_total));
        lines.push(format!("{}, {} threads, {free} of {all} RAM free", hardware.cpu, hardware.threads));
        for gpu in &hardware.gpus {
            lines.push(format!("{}, {} VRAM", gpu.name, units::memory(gpu.vram_total)));
        }
        lines.extend(hardware.gpu_note.clone());
    }
    lines.extend(state.surroundings.gpu.as_ref().map(|gpu| format!("The window is rendered by {gpu}")));
    lines.push(match &state.model.status {
        ModelStatus::Ready(summary) => {
            let size: u64 = summary.components.iter().map(|component| component.bytes).sum();
            format!("Model: {}, {}, {}", summary.family_name, summary.layout, units::memory(size))
        }
        ModelStatus::Loading => "Model: loading".to_owned(),
        ModelStatus::Failed => "Model: could not be opened".to_owned(),
    });
    let request = &state.settings.draft.request;
    lines.push(format!(
        "{}×{}, {} frames, batch size {}, {} steps, guidance {}, {:?}, {:?}",
        request.width,
        request.height,
        request.frames,
        request.batch,
        request.steps,
        request.guidance,
        request.sampler,
        request.schedule
    ));
    if tells_all {
        lines.push(format!("Model: {}", request.model));
        lines.push(format!("Prompt: {}", request.prompt));
        lines.push(format!("Negative prompt: {}", request.negative_prompt));
    }
    let memory = &state.settings.memory.preferences;
    lines.push(format!("Mode {:?}, device {:?}", memory.mode, memory.device));
    for card in &state.messages.failures {
        lines.push(format!("{}: {}", card.title, card.failure.message));
    }
    let mut text = String::new();
    for line in lines {
        // Writing to a string does not fail.
        let _written = writeln!(text, "{line}");
    }
    text
}

/// The text with `…` in the place of whatever looks like a path.
fn without_paths(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let (mut rest, mut before) = (text, ' ');
    while let Some(letter) = rest.chars().next() {
        let may_start = BEFORE_PATHS.contains(&before) || before == '\n';
        if may_start && is_path(rest) {
            let end = rest.find(|letter: char| letter == '\n' || AFTER_PATHS.contains(&letter));
            let line = &rest[..end.unwrap_or(rest.len())];
            // A sentence may go on behind a path, but names have spaces too: what comes after a colon is kept.
            let length = line.find(": ").unwrap_or(line.len());
            kept.push('…');
            rest = &rest[length..];
            before = '…';
        } else {
            kept.push(letter);
            before = letter;
            rest = &rest[letter.len_utf8()..];
        }
    }
    kept
}

fn is_path(text: &str) -> bool {
    let mut letters = text.chars();
    match (letters.next(), letters.next(), letters.next()) {
        (Some('/' | '~'), Some(next), _) => next == '/' || next.is_alphanumeric() || next == '.',
        (Some('\\'), Some('\\'), _) => true,
        (Some(drive), Some(':'), Some('\\' | '/')) => drive.is_ascii_alphabetic(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_left_out_whatever_the_system() {
        for (text, expected) in [
            ("no model found in /home/ada/my models", "no model found in …"),
            ("path=/home/ada/a.png error=x", "path=…"),
            ("~/pictures/a.png: permission denied", "…: permission denied"),
            (r"it is at C:\Users\Ada\a b.png, and there", r"it is at …, and there"),
            (r"\\server\share\a.png", "…"),
            ("\"/models/a.safetensors\" is damaged", "\"…\" is damaged"),
            ("512×512, 20 steps, 3/4 done, 12 GB/s", "512×512, 20 steps, 3/4 done, 12 GB/s"),
            ("one\n/tmp/x\ntwo", "one\n…\ntwo"),
        ] {
            assert_eq!(without_paths(text), expected);
        }
    }

    #[test]
    fn a_report_has_prompts_and_models_only_if_asked_for() {
        let mut state = State::default();
        state.settings.draft.request.prompt = "a secret boat".to_owned();
        state.settings.draft.request.model =
            sluice_engine::request::ModelSource::Path("/home/ada/secret-model".into());
        let report = |tells_all| Report { logs: None, ..Report::of(&state, tells_all) }.complete();
        assert!(!report(false).contains("secret"), "{}", report(false));
        assert!(report(true).contains("a secret boat") && report(true).contains("/home/ada/secret-model"));
        assert!(report(false).starts_with("Sluice "));
    }
}
