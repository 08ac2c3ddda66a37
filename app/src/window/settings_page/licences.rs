//! The licences of what comes with this program.

use egui::{Label, RichText, ScrollArea, Ui};

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

/// Which of them are open.
#[derive(Debug, Default)]
pub struct Licences {
    all: bool,
    each: [bool; PARTS.len()],
}

/// Draws them, closed at first.
pub fn show(ui: &mut Ui, Licences { all, each }: &mut Licences) {
    widgets::fold(ui, (&tr!("settings-licences"), tr!("settings-licences-tip")), all, |ui| {
        for (number, ((name, text), open)) in PARTS.iter().zip(each).enumerate() {
            widgets::fold(ui, (name, tr!("settings-licences-of", name = *name)), open, |ui| {
                let ink = Palette::of(ui).text_muted;
                ScrollArea::vertical().id_salt(number).max_height(TEXT).show(ui, |ui| {
                    ui.add(Label::new(RichText::new(*text).small().color(ink)).wrap());
                });
            });
        }
        ui.add_space(space::XS);
    });
}
