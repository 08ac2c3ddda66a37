//! What the engine says: each of its sentences is known, and is said in the other languages.

use std::{
    fs,
    path::{Path, PathBuf},
};

use sluice::language::{LANGUAGES, find, template_of};

use super::source::rust_files;

/// Texts of programs that talk to people only through files of theirs, and prompts of models.
const NOT_FOR_PEOPLE: [&str; 2] = ["text/mistral.rs", "memory/sentence.rs"];

/// A text in a source: what is before it, and itself.
struct Literal<'a> {
    before: &'a str,
    text: String,
}

/// The texts in quotes of a source, without those of comments and tests.
fn literals(source: &str) -> Vec<Literal<'_>> {
    let source = source.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let mut found = Vec::new();
    let (mut at, mut before) = (0, 0);
    while let Some(letter) = source[at..].chars().next() {
        let rest = &source[at..];
        if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
        } else if rest.starts_with("'\"'") || rest.starts_with("'\\'") {
            at += rest[1..].find('\'').map_or(1, |end| end + 2);
        } else if rest.starts_with("r\"") || rest.starts_with("r#\"") {
            let end = if rest.starts_with("r#") { "\"#" } else { "\"" };
            let from = rest.find('"').unwrap_or_default() + 1;
            at += from + rest[from..].find(end).unwrap_or(rest.len() - from) + end.len();
        } else if letter == '"' {
            let mut length = 1;
            while !rest[length..].starts_with('"') {
                length += if rest[length..].starts_with('\\') { 2 } else { 1 };
                while !rest.is_char_boundary(length) {
                    length += 1;
                }
            }
            found.push(Literal { before: &source[before..at], text: unescaped(&rest[1..length]) });
            at += length + 1;
            before = at;
        } else {
            at += letter.len_utf8();
        }
    }
    found
}

/// A text as the compiler reads it. Unicode escapes are left out, which no message has.
fn unescaped(text: &str) -> String {
    let mut lines = text.split("\\\n");
    let first = lines.next().unwrap_or_default().to_owned();
    let joined = lines.fold(first, |all, line| all + line.trim_start());
    joined.replace("\\\"", "\"").replace("\\\\", "\\")
}

/// A format with something in its gaps.
fn filled(format: &str) -> String {
    let (mut text, mut rest) = (String::new(), format);
    while let Some(open) = rest.find('{') {
        text += &rest[..open].replace("}}", "}");
        rest = &rest[open + 1..];
        if let Some(after) = rest.strip_prefix('{') {
            text.push('{');
            rest = after;
        } else {
            text += "Ω";
            rest = rest.split_once('}').map_or("", |(_, after)| after);
        }
    }
    text + &rest.replace("}}", "}")
}

/// A message without what is for the command line, which the window leaves out.
fn for_the_window(text: &str) -> &str {
    const FOR_THE_COMMAND_LINE: &str = "On the command line, ";
    text.split_once(FOR_THE_COMMAND_LINE).map_or(text, |(before, _)| before.trim_end())
}

/// Texts of errors, and whole sentences.
fn messages() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = rust_files(&root.join("engine/src"));
    files.extend(rust_files(&root.join("app/src/downloads")));
    files.extend(rust_files(&root.join("app/src/engines/cuda_engine")));
    files.retain(|path| {
        let is_test = path.components().any(|part| part.as_os_str() == "tests") || path.ends_with("tests.rs");
        !is_test && !NOT_FOR_PEOPLE.iter().any(|end| path.ends_with(end))
    });
    let mut found = Vec::new();
    for path in files {
        let source = fs::read_to_string(&path).unwrap();
        for Literal { before, text } in literals(&source) {
            let text = for_the_window(&text).to_owned();
            let is_error = before.trim_end().ends_with("#[error(");
            let is_sentence = text.starts_with(|letter: char| letter.is_uppercase() || letter == '{')
                && text.split_whitespace().count() > 1
                && text.ends_with(['.', '!', '?']);
            let has_words = filled(&text).chars().any(|letter| letter.is_ascii_alphabetic());
            if (is_error || is_sentence) && has_words {
                found.push((path.clone(), text));
            }
        }
    }
    found
}

#[test]
fn every_message_of_the_engine_is_known() {
    let messages = messages();
    assert!(messages.len() > 300, "{}", messages.len());
    let unknown: Vec<_> = messages
        .iter()
        .filter(|(_, text)| template_of(&filled(text)).or(template_of(text)).is_none())
        .map(|(path, text)| format!("{}: {text}", path.display()))
        .collect();
    assert!(
        unknown.is_empty(),
        "add these to error.ftl, advice.ftl or note.ftl in assets/languages:\n{}",
        unknown.join("\n")
    );
}

#[test]
fn messages_keep_their_values() {
    let german = find("de").unwrap();
    let text = german.said("the clip /home/a b/clip.mp4 has 48 frames, so frame 50 is not in it");
    for value in ["/home/a b/clip.mp4", "48", "50"] {
        assert!(text.contains(value), "{text}");
    }
    assert!(!text.contains("frames, so"), "{text}");
    let text = german.said("the clip /SD 3.5/1.5 GB.mp4 has 48 frames, so frame 50 is not in it");
    assert!(text.contains("/SD 3.5/1.5 GB.mp4"), "a name stays: {text}");
}

/// A place that names a model does not name it again.
#[test]
fn what_is_wrong_with_a_model_is_said_without_its_name() {
    for language in LANGUAGES.iter().filter(|language| language.tag != "en") {
        for reason in [
            "it cannot be read: access denied",
            "no model found in it",
            "it is not a model file that Sluice can read",
            "it is not a safetensors file: it does not begin with a header",
            "it is a pickle file, which can run arbitrary code when it is opened",
            "it is empty",
            "it is damaged or incomplete: its header should have 9 bytes, but the file has only 8 bytes",
            "its header is damaged: access denied",
            "it is incomplete: it should have 9 bytes but has only 8",
            "a.gguf belongs to it but is missing",
            "its weights are stored as Q9, which Sluice does not support",
        ] {
            let text = language.said(reason);
            for word in text.split(' ') {
                assert!(!["it", "its", "It", "Its", "in", "is"].contains(&word), "{}: {text}", language.tag);
            }
        }
        let text = language.said("unet/a.safetensors is empty");
        assert!(text.contains("unet/a.safetensors") && !text.contains(" is "), "{}: {text}", language.tag);
    }
    assert_eq!(find("de").unwrap().said("it is empty"), "die Datei ist leer");
}

/// The sentence of a plan has texts in its gaps which are translated, too.
#[test]
fn sentences_of_plans_are_said_to_the_last_word() {
    let plan = "12 of 40 denoiser blocks stay on the GPU and the rest are streamed during computation, because all \
                7.4 GB do not fit at once. The image is decoded in tiles of up to 64×64 latents. Uses 7.0 of 8.0 GB, \
                1.2 s per step. Weights are held in 8 bits (int8), which changes the image slightly.";
    for language in LANGUAGES.iter().filter(|language| language.tag != "en") {
        let text = language.said(plan);
        for english in ["blocks", "stay", "because", "streamed", "tiles", "Uses", "per step", "held"] {
            assert!(!text.contains(english), "{}: {text}", language.tag);
        }
        for value in ["12", "40", "7.4 GB", "64×64", "7.0", "8.0 GB", "1.2 s", "int8"] {
            let value = value.replace('.', language.decimal);
            assert!(text.contains(&value), "{}: {text}", language.tag);
        }
    }
}

#[test]
fn strategies_modes_and_parts_have_names_in_every_language() {
    let german = find("de").unwrap();
    for (english, translated) in [
        ("NF4, no offload", "NF4, nichts auslagern"),
        ("INT8, model offload", "INT8, Modellteile auslagern"),
        ("Only the autoencoder", "Nur der Autoencoder"),
        ("FLUX.1: denoiser, 2 text encoders, autoencoder", "FLUX.1: Denoiser, 2 Textencoder, Autoencoder"),
        ("Stable Diffusion 3: denoiser, 1 text encoder", "Stable Diffusion 3: Denoiser, 1 Textencoder"),
    ] {
        assert_eq!(german.said(english), translated);
    }
    let plan = "The denoiser is on the GPU only while in use, because the offload mode is \"Only the autoencoder\". \
                Uses 7.0 of 8.0 GB, 1.2 s per step.";
    for language in LANGUAGES.iter().filter(|language| language.tag != "en") {
        let text = language.said(plan);
        for english in ["because", "Only the", "in use"] {
            assert!(!text.contains(english), "{}: {text}", language.tag);
        }
    }
}

#[test]
fn commas_within_a_reason_do_not_end_it() {
    let plan = "All 12 denoiser blocks are streamed (3 of them tensor by tensor), because all 7.4 GB do not fit at once.";
    for language in LANGUAGES.iter().filter(|language| language.tag != "en") {
        let text = language.said(plan);
        for english in ["blocks", "streamed", "tensor by", "because"] {
            assert!(!text.contains(english), "{}: {text}", language.tag);
        }
    }
}

#[test]
fn what_is_in_a_file_is_said_to_the_last_word() {
    for language in LANGUAGES.iter().filter(|language| language.tag != "en") {
        for (what, words) in [
            ("FLUX.1 denoiser", &["FLUX.1 d"][..]),
            ("Stable Diffusion 1 and 2: denoiser, 1 text encoder, autoencoder", &["and 2", "text "]),
            ("LoRA for FLUX.1, 2 matrices, rank 16", &[" for ", " rank "]),
            ("LoHa or LoKr, 1 matrix", &["1 matrix"]),
            ("ControlNet for a model with prompts of width 5120", &[" for ", " of "]),
            ("frame interpolator, RIFE 4.6", &["frame "]),
            ("map estimator for depth maps, Depth Anything V2, of another size", &["depth ", "another"]),
            ("detector, YOLO, s, 80 classes", &["detector, YOLO, s, 80 classes"]),
            ("Qwen3 text encoder, width 2560", &["text encoder", "width"]),
            ("autoencoder of FLUX.2, 32 channels", &[" of ", "channels"]),
            ("not a model that Sluice supports: TAESD, a small autoencoder for previews", &["that", "small"]),
            ("diffusers folder", &["folder"]),
            ("safetensors, 3 files", &["files"]),
        ] {
            let text = language.said(what);
            for word in words {
                assert!(!text.contains(word), "{}: {text}", language.tag);
            }
            for value in ["FLUX.1", "FLUX.2", "16", "5120", "Depth Anything V2", "80", "2560", "32", "TAESD"]
            {
                let has_it = !what.contains(value) || text.contains(value);
                assert!(has_it, "{}: {text}", language.tag);
            }
        }
        assert_eq!(language.said("Stable Diffusion XL"), "Stable Diffusion XL", "a name stays");
    }
    let german = find("de").unwrap();
    assert_eq!(german.said("LoRA for FLUX.1, 2 matrices, rank 16"), "LoRA für FLUX.1, 2 Matrizen, Rang 16");
    assert_eq!(german.said("Stable Diffusion 1 and 2"), "Stable Diffusion 1 und 2");
}

#[test]
fn that_little_memory_is_wished_for_is_said_in_every_language() {
    let plan = "All 12 denoiser blocks are streamed during computation, because as little memory as possible is to be \
                used. Uses 7.0 of 8.0 GB, 1.2 s per step.";
    for language in LANGUAGES.iter().filter(|language| language.tag != "en") {
        let text = language.said(plan);
        for english in ["because", "little", "to be used", "blocks"] {
            assert!(!text.contains(english), "{}: {text}", language.tag);
        }
    }
}

#[test]
fn what_is_not_known_stays_as_it_is() {
    let french = find("fr").unwrap();
    assert_eq!(french.said(""), "");
    assert_eq!(french.said("an unknown message"), "an unknown message");
    let text = french.said("Unknown. Use a smaller image or batch.");
    assert!(text.starts_with("Unknown. ") && !text.contains("smaller"), "{text}");
}
