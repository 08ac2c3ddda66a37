//! Memory bars, in the same colours as the timeline.

use egui::{Color32, CornerRadius, Rect, Stroke, StrokeKind, Ui, pos2};

use crate::window::tokens::{Palette, radius};

/// The contents of a bar.
#[derive(Debug, Clone, Copy)]
pub struct MemoryBar<'a> {
    /// Bytes and their colours, from the left.
    pub parts: &'a [(u64, Color32)],
    /// Total bytes.
    pub total: u64,
    /// The budget in bytes, if it is smaller.
    pub limit: Option<u64>,
    /// Whether it is only for comparison.
    pub faded: bool,
}

/// Draws a bar. Parts beyond the limit are marked as not fitting.
pub fn memory_bar(ui: &Ui, rect: Rect, bar: MemoryBar<'_>) {
    let palette = Palette::of(ui);
    let MemoryBar { parts, total, limit, faded } = bar;
    let ink = |color: Color32| if faded { color.gamma_multiply(0.5) } else { color };
    let sum: u64 = parts.iter().map(|&(bytes, _)| bytes).sum();
    let limit = limit.unwrap_or(total).min(total);
    let scale = sum.max(total).max(1) as f32;
    let x = |bytes: u64| rect.left() + rect.width() * (bytes as f32 / scale);
    let rounding = CornerRadius::same(radius::S / 2);
    let painter = ui.painter();
    painter.rect_filled(rect, rounding, palette.free);
    let mut from = 0;
    for &(bytes, color) in parts {
        let to = from + bytes;
        for (from, to, color) in [(from, to.min(limit), color), (from.max(limit), to, palette.danger)] {
            if to > from {
                // Even the smallest part is visible.
                let right = x(to).max(x(from) + 1.5).min(rect.right());
                let part = Rect::from_min_max(pos2(x(from), rect.top()), pos2(right, rect.bottom()));
                painter.rect_filled(part, rounding, ink(color));
            }
        }
        from = to;
    }
    painter.rect_stroke(rect, rounding, Stroke::new(1.0, palette.line), StrokeKind::Outside);
    if limit < sum.max(total) {
        painter.vline(x(limit), rect.y_range().expand(2.0), Stroke::new(1.5, palette.text_muted));
    }
}
