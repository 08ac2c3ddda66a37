//! Lets the text cursor blink only for a while after the last input: then a field that keeps the focus costs nothing.

use egui::Context;

/// Seconds, as in GTK.
const BLINKS: f64 = 10.0;

/// When there was input.
#[derive(Debug, Default)]
pub struct Blink {
    last_input: f64,
}

impl Blink {
    /// Turns blinking on or off. Is called in each frame.
    pub fn follow(&mut self, ctx: &Context) {
        let (now, is_input) = ctx.input(|input| (input.time, !input.events.is_empty()));
        if is_input {
            self.last_input = now;
        }
        let style = ctx.global_style();
        // With reduced motion nothing is animated.
        let blinks = style.animation_time > 0.0 && now - self.last_input < BLINKS;
        if style.visuals.text_cursor.blink != blinks {
            ctx.all_styles_mut(|style| style.visuals.text_cursor.blink = blinks);
        }
    }
}
