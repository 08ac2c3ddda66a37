//! Several widgets that are explained together.

use egui::Response;

/// A label with its widgets. They have one tooltip.
#[must_use = "it has no tooltip yet"]
pub struct Labelled {
    label: Response,
    widgets: Vec<Response>,
}

impl Labelled {
    pub(super) fn new(label: Response, widgets: impl IntoIterator<Item = Response>) -> Self {
        Self { label, widgets: widgets.into_iter().collect() }
    }

    /// Explains each of them.
    pub fn on_hover_text(self, text: impl Into<String>) -> Response {
        let text = text.into();
        let label = self.label.on_hover_text(text.as_str());
        let widgets = self.widgets.into_iter().map(|widget| widget.on_hover_text(text.as_str()));
        widgets.fold(label, |all, widget| all.union(widget))
    }
}
