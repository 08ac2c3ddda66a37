//! Tags, and a field for another one.

use egui::{Key, Margin, TextEdit, Ui, vec2};

use super::{field_label, tag};
use crate::{
    language::tr,
    window::{icons, tokens::size},
};

/// Most letters of a tag.
const LONGEST: usize = 40;

/// What a person does with tags.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TagChange {
    /// Adds one.
    Add(String),
    /// Removes one.
    Remove(String),
}

/// Draws them. `typed` is what stands in the field; Enter adds it. `words` are the label, and what tags are for.
pub fn tags(
    ui: &mut Ui,
    id: &str,
    tags: &[String],
    typed: &mut String,
    words: [&str; 2],
) -> Option<TagChange> {
    let [label, tip] = words;
    let label = field_label(ui, label);
    let mut change = None;
    if !tags.is_empty() {
        ui.horizontal_wrapped(|ui| {
            for name in tags {
                if tag(ui, icons::TAG, name, &tr!("gallery-tag-remove", tag = name.as_str())).1 {
                    change = Some(TagChange::Remove(name.clone()));
                }
            }
        });
    }
    let field = TextEdit::singleline(typed)
        .id_salt(id)
        .hint_text(tr!("gallery-tag-add"))
        .char_limit(LONGEST)
        .margin(Margin::symmetric(10, 6))
        .desired_width(f32::INFINITY);
    let field = ui.add_sized(vec2(ui.available_width(), size::CONTROL), field).labelled_by(label.id);
    let is_entered = field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
    if is_entered && !typed.trim().is_empty() {
        change = Some(TagChange::Add(typed.trim().to_owned()));
        typed.clear();
        field.request_focus();
    }
    field.on_hover_text(tip);
    change
}
