//! The licences of what comes with this program.

use std::{io, sync::LazyLock};

use egui::{Label, RichText, ScrollArea, TextStyle, Ui};
use flate2::read::GzDecoder;

use crate::{
    language::tr,
    window::{
        tokens::{Palette, space},
        widgets,
    },
};

/// Height of a licence.
const TEXT: f32 = 220.0;

/// What comes with the program, and its licence.
const PARTS: [(&str, &str); 6] = [
    ("Sluice · MIT", include_str!("../../../../LICENSE-MIT")),
    ("Sluice · Apache-2.0", include_str!("../../../../LICENSE-APACHE")),
    ("Inter · OFL-1.1", include_str!("../../../../assets/fonts/Inter-LICENSE.txt")),
    ("Lucide · ISC", include_str!("../../../../assets/fonts/Lucide-LICENSE.txt")),
    ("Real-ESRGAN · BSD-3-Clause", include_str!("../../../../assets/upscaler/LICENSE")),
    (
        "CLIP, GPT-OSS, Mistral, Qwen2, T5 · MIT, Apache-2.0",
        include_str!("../../../../assets/tokenizers/README.md"),
    ),
];

/// The licences of the libraries, made by `packaging/licences/update` and compressed by the build script.
static LIBRARIES: LazyLock<String> = LazyLock::new(|| {
    let packed: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libraries.txt.gz"));
    io::read_to_string(GzDecoder::new(packed)).unwrap_or_else(|error| {
        tracing::error!(%error, "the licences that are compiled in cannot be read");
        String::new()
    })
});

/// Which of them are open.
#[derive(Debug, Default)]
pub struct Licences {
    all: bool,
    each: [bool; PARTS.len()],
    libraries: bool,
}

/// Draws them, closed at first.
pub fn show(ui: &mut Ui, Licences { all, each, libraries: are_open }: &mut Licences) {
    widgets::fold(ui, (&tr!("settings-licences"), tr!("settings-licences-tip")), all, |ui| {
        for (number, ((name, text), open)) in PARTS.iter().zip(each).enumerate() {
            widgets::fold(ui, (name, tr!("settings-licences-of", name = *name)), open, |ui| {
                let ink = Palette::of(ui).text_muted;
                ScrollArea::vertical().id_salt(number).max_height(TEXT).show(ui, |ui| {
                    ui.add(Label::new(RichText::new(*text).small().color(ink)).wrap());
                });
            });
        }
        let (name, tip) = (tr!("settings-libraries"), tr!("settings-libraries-tip"));
        widgets::fold(ui, (&name, tip), are_open, libraries);
        ui.add_space(space::XS);
    });
}

/// The lines in sight of some thousands.
fn libraries(ui: &mut Ui) {
    static LINES: LazyLock<Vec<&str>> = LazyLock::new(|| LIBRARIES.lines().collect());
    let ink = Palette::of(ui).text_muted;
    let height = ui.text_style_height(&TextStyle::Small);
    ScrollArea::both()
        .id_salt("libraries")
        .max_height(TEXT)
        .min_scrolled_height(TEXT)
        .auto_shrink([false, true])
        .show_rows(ui, height, LINES.len(), |ui, rows| {
            for line in &LINES[rows] {
                ui.add(Label::new(RichText::new(*line).small().color(ink)).extend());
            }
        });
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// An update of a dependency leaves its old version in the list.
    #[test]
    fn the_libraries_are_those_of_the_lock_file() {
        let lock: toml::Table = toml::from_str(include_str!("../../../../Cargo.lock")).unwrap();
        let text = |package: &toml::Value, key: &str| package[key].as_str().unwrap().to_owned();
        let packages = lock["package"].as_array().unwrap();
        let locked: HashSet<String> = packages
            .iter()
            .map(|package| format!("{} {}", text(package, "name"), text(package, "version")))
            .collect();
        let listed = LIBRARIES.lines().filter_map(|line| line.strip_prefix("  ")).filter(|line| {
            let version = line.split_once(' ').map(|(_, version)| version);
            version.is_some_and(|version| semver::Version::parse(version).is_ok())
        });
        let (there, gone): (Vec<&str>, Vec<&str>) = listed.partition(|line| locked.contains(*line));
        assert!(gone.is_empty(), "run packaging/licences/update: {gone:?}");
        assert!(there.len() > 500 && there.iter().any(|line| line.starts_with("candle-core ")));
    }
}
