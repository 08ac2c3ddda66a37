//! The window's own widgets, each with an accessible name.

mod bars;
mod buttons;
mod dialog;
mod drop_down;
mod edit_menu;
mod entered;
mod explained;
mod explained_icon;
mod fields;
mod popup;
mod rows;
mod slider;
mod tags;
mod told;

pub use bars::{MemoryBar, memory_bar};
pub use buttons::{
    Weight, aspect_button, button, button_width, chip, disclosure, disclosure_width, disclosure_within,
    file_button, fold, icon_button, icon_toggle, in_sight, primary_button, row_button, segmented, tag,
    tall_icon_button, toggle_button,
};
pub use dialog::{dialog, is_clicked_beside};
pub use drop_down::{BAR, choice, drop_down, entry};
pub use edit_menu::edit_menu;
pub use entered::is_entered;
pub use explained::Labelled;
pub use explained_icon::{explained_icon, explained_toggle, opener};
pub use fields::{
    cut, elided, field_label, hint, icon, line, mistake, progress_bar, slider_row, slider_row_with,
    text_area, two_lines,
};
pub use popup::popup_frame;
pub use rows::{choice_row, choice_row_about, number_row, optional_row};
pub use slider::slider;
pub use tags::{TagChange, tags};
pub use told::{told, told_beside};
