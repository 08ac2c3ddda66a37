//! A window whose frames are laid out and tessellated, but shown on no screen. No graphics adapter is needed.

#![allow(dead_code, reason = "each measurement uses a part of it")]

use std::time::{Duration, Instant};

use egui::{
    Color32, Context, Event, Key, Modifiers, MouseWheelUnit, RawInput, Rect, TouchPhase, Vec2, ViewportId,
    epaint::ImageData, pos2, vec2,
};
use sluice::window::app::{Setup, SluiceApp};

/// The window.
pub struct Undrawn {
    pub ctx: Context,
    pub app: SluiceApp,
    size: Vec2,
    staging: Vec<Color32>,
}

/// What a frame took.
#[derive(Debug, Clone, Copy)]
pub struct Frame {
    /// Handling events and layout.
    pub laid_out: Duration,
    /// Tessellation, too.
    pub tessellated: Duration,
    /// Everything on the main thread, with the copies of textures as they are copied to the GPU.
    pub took: Duration,
    /// Textures that were copied and are larger than what letters and icons change.
    pub uploads: usize,
    /// The time until the window wants the next one.
    pub due: Duration,
}

/// Pixels of a texture that is more than letters and icons.
const LARGE: usize = 1 << 16;

impl Undrawn {
    /// A window of this size in points.
    pub fn new([width, height]: [f32; 2], setup: Setup) -> Self {
        let ctx = Context::default();
        let app = SluiceApp::new(&ctx, setup);
        Self { ctx, app, size: vec2(width, height), staging: Vec::new() }
    }

    /// Runs a frame at a time of the window's clock, in seconds.
    pub fn frame(&mut self, now: f64, events: Vec<Event>) -> Frame {
        let input = RawInput {
            screen_rect: Some(Rect::from_min_size(pos2(0.0, 0.0), self.size)),
            time: Some(now),
            focused: true,
            events,
            ..RawInput::default()
        };
        let start = Instant::now();
        let mut output = self.ctx.run_ui(input, |ui| {
            self.app.take_events(ui.ctx());
            self.app.ui(ui);
        });
        let laid_out = start.elapsed();
        let shapes = std::mem::take(&mut output.shapes);
        let triangles = self.ctx.tessellate(shapes, output.pixels_per_point);
        let tessellated = start.elapsed();
        std::hint::black_box(triangles);
        let mut uploads = 0;
        for delta in output.textures_delta.set.values().flatten() {
            let ImageData::Color(image) = &delta.image;
            self.staging.clone_from(&image.pixels);
            uploads += usize::from(image.pixels.len() > LARGE);
        }
        let took = start.elapsed();
        let due = output.viewport_output[&ViewportId::ROOT].repaint_delay;
        output.drop_without_applying_deltas();
        Frame { laid_out, tessellated, took, uploads, due }
    }
}

/// A key that is pressed and released.
pub fn press(key: Key, modifiers: Modifiers) -> Vec<Event> {
    let event = |pressed| Event::Key { key, physical_key: None, pressed, repeat: false, modifiers };
    vec![event(true), event(false)]
}

/// The wheel is turned, so that this many points scroll by.
pub fn wheel(points: f32) -> Vec<Event> {
    vec![Event::MouseWheel {
        unit: MouseWheelUnit::Point,
        delta: vec2(0.0, -points),
        phase: TouchPhase::Move,
        source: egui::MouseWheelSource::Unknown,
        modifiers: Modifiers::NONE,
    }]
}

/// The pointer moves there.
pub fn point(x: f32, y: f32) -> Vec<Event> {
    vec![Event::PointerMoved(pos2(x, y))]
}
