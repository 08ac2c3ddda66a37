//! The window's own controls, each with a name for those who do not see it.

mod buttons;
mod fields;

pub use buttons::{
    Weight, aspect_button, button, chip, disclosure, icon_button, icon_toggle, primary_button, row_button,
    segmented, wide_button,
};
pub use fields::{cut, field_label, hint, icon, mistake, progress_bar, slider_row, text_area, two_lines};
