//! Messages of the engine as sentences.

use sluice_engine::checkpoint::Role;

use crate::language::{IDEOGRAPHIC_STOP, said, tr, units};

/// A text with a capital letter at the start.
pub fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// A message in the current language, without a full stop of its own. Names at its start stay as they are.
pub fn phrase(text: &str) -> String {
    let text = said(text);
    let first = text.split(' ').next().unwrap_or_default();
    let is_word = first.chars().all(|letter| letter.is_lowercase() || letter == '’');
    if is_word { capitalised(&text) } else { text }
}

/// A message as a sentence of its own, in the current language. Names at its start stay as they are.
pub fn sentence(text: &str) -> String {
    let text = phrase(text);
    match text.chars().next_back() {
        Some('.' | '!' | '?' | IDEOGRAPHIC_STOP) => text,
        Some('\u{3040}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}') => format!("{text}{IDEOGRAPHIC_STOP}"),
        _ => format!("{text}."),
    }
}

/// The name of a stage, in the current language.
pub fn stage_name(name: &str) -> String {
    capitalised(&said(&name.to_lowercase()))
}

/// What a part of a model does.
pub fn role_name(role: Role) -> String {
    match role {
        Role::TextEncoder => tr!("plan-text-encoder"),
        Role::Denoiser => tr!("plan-denoiser"),
        Role::Autoencoder => tr!("plan-autoencoder"),
        Role::Upscaler => tr!("library-role-upscaler"),
        Role::Interpolator => tr!("library-role-interpolator"),
        Role::Preprocessor => tr!("library-role-preprocessor"),
        Role::Segmenter => tr!("library-role-segmenter"),
        Role::Detector => tr!("library-role-detector"),
        Role::LanguageModel => tr!("library-role-language-model"),
    }
}

/// That a GPU is only simulated, and what a run takes on this computer, if that is known.
pub fn simulated(seconds_here: Option<f64>) -> String {
    match seconds_here {
        Some(seconds) => tr!("side-panel-fits-simulated-about", time = units::seconds(seconds)),
        None => tr!("side-panel-fits-simulated"),
    }
}

#[cfg(test)]
mod tests {
    use super::{phrase, sentence, stage_name};
    use crate::language::LANGUAGES;

    #[test]
    fn stages_are_called_as_they_are_in_plans() {
        for name in ["Encode image", "Denoise", "High noise", "Prior"] {
            assert_eq!(stage_name(name), name);
        }
        for language in LANGUAGES.iter().filter(|language| language.tag != "en") {
            for name in ["make maps", "high noise", "denoise again"] {
                assert_ne!(language.said(name), name, "{}", language.tag);
            }
        }
    }

    #[test]
    fn changes_of_a_plan_are_said_to_the_last_word() {
        let reason = "Ran out of memory (1.2 GB needed, 1.0 GB allowed). Now 3 instead of 9 denoiser blocks stay on \
                      the device, blocks are streamed through 1 instead of 2 slots";
        for language in LANGUAGES.iter().filter(|language| language.tag != "en") {
            let text = language.said(reason);
            for english in ["Ran out", "Now", "instead", "blocks", "slots"] {
                assert!(!text.contains(english), "{}: {text}", language.tag);
            }
            for value in ["1.2 GB", "1.0 GB", "3", "9"] {
                assert!(text.contains(&value.replace('.', language.decimal)), "{}: {text}", language.tag);
            }
        }
    }

    #[test]
    fn files_at_the_start_of_a_phrase_stay_as_they_are() {
        assert_eq!(phrase("unet/a.safetensors is empty"), "unet/a.safetensors is empty");
        assert_eq!(phrase("it is empty"), "It is empty");
    }

    #[test]
    fn messages_become_sentences() {
        for (message, wanted) in [
            ("the clip ended", "The clip ended."),
            ("l’image est vide", "L’image est vide."),
            ("für zwei", "Für zwei."),
            ("starter.gguf is missing", "starter.gguf is missing."),
            ("It is done.", "It is done."),
            ("読み取れません", "読み取れません。"),
            ("无法读取。", "无法读取。"),
        ] {
            assert_eq!(sentence(message), wanted);
        }
    }
}
