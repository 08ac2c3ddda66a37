//! Stacked kinds of memory over time, as a plot item.

use std::ops::RangeInclusive;

use egui::{Color32, Mesh, Rect, Shape, Stroke, Ui, pos2};
use egui_plot::{PlotBounds, PlotGeometry, PlotItem, PlotItemBase, PlotTransform};
use sluice_engine::telemetry::MemorySample;

use super::series::Column;

/// Bytes per unit of the axes.
pub const GB: f64 = (1_u64 << 30) as f64;

/// A kind of memory: its colour, and its bytes in a sample.
pub type Kind = (Color32, fn(&MemorySample) -> u64);

/// A level over an interval.
#[derive(Debug, Clone, Copy)]
pub struct Level {
    /// In seconds.
    pub from: f64,
    /// In seconds.
    pub to: f64,
    /// Bytes.
    pub bytes: u64,
    /// Line style.
    pub stroke: Stroke,
    /// Whether the line is dashed.
    pub dashed: bool,
}

/// The contents of one plot.
pub struct Track<'a> {
    base: PlotItemBase,
    columns: &'a [Column],
    kinds: &'a [Kind],
    ground: Color32,
    levels: &'a [Level],
    starts: &'a [f64],
    line: Color32,
}

impl<'a> Track<'a> {
    /// Columns, with the kinds of memory stacked from bottom to top.
    pub fn new(columns: &'a [Column], kinds: &'a [Kind]) -> Self {
        let base = PlotItemBase::new(String::new());
        let clear = Color32::TRANSPARENT;
        Self { base, columns, kinds, ground: clear, levels: &[], starts: &[], line: clear }
    }

    /// Sets the background colour behind the columns, for free memory.
    pub fn on(self, ground: Color32) -> Self {
        Self { ground, ..self }
    }

    /// Adds levels over the columns.
    pub fn with_levels(self, levels: &'a [Level]) -> Self {
        Self { levels, ..self }
    }

    /// Adds lines at the starts of stages, in seconds.
    pub fn with_starts(self, starts: &'a [f64], line: Color32) -> Self {
        Self { starts, line, ..self }
    }
}

impl PlotItem for Track<'_> {
    fn shapes(&self, _ui: &Ui, transform: &PlotTransform, shapes: &mut Vec<Shape>) {
        let frame = *transform.frame();
        shapes.push(Shape::rect_filled(frame, 2.0, self.ground));
        let x = |seconds: f64| transform.position_from_point_x(seconds).clamp(frame.left(), frame.right());
        let y = |bytes: u64| transform.position_from_point_y(bytes as f64 / GB);
        let mut mesh = Mesh::default();
        mesh.reserve_vertices(self.columns.len() * self.kinds.len() * 4);
        mesh.reserve_triangles(self.columns.len() * self.kinds.len() * 2);
        let bottom = y(0);
        for column in self.columns {
            let (left, right) = (x(column.from), x(column.to));
            if right <= left {
                continue;
            }
            let (mut sum, mut below) = (0_u64, bottom);
            for (color, bytes) in self.kinds {
                let bytes = bytes(&column.peak);
                if bytes > 0 {
                    sum = sum.saturating_add(bytes);
                    let above = y(sum);
                    mesh.add_colored_rect(Rect::from_min_max(pos2(left, above), pos2(right, below)), *color);
                    below = above;
                }
            }
        }
        shapes.push(Shape::mesh(mesh));
        for start in self.starts {
            let x = transform.position_from_point_x(*start);
            if frame.x_range().contains(x) {
                let line = [pos2(x, frame.top()), pos2(x, frame.bottom())];
                shapes.push(Shape::line_segment(line, Stroke::new(1.0, self.line)));
            }
        }
        for level in self.levels {
            let height = y(level.bytes);
            let line = [pos2(x(level.from), height), pos2(x(level.to), height)];
            match level.dashed {
                true => shapes.extend(Shape::dashed_line(&line, level.stroke, 4.0, 3.0)),
                false => shapes.push(Shape::line_segment(line, level.stroke)),
            }
        }
    }

    fn initialize(&mut self, _x_range: RangeInclusive<f64>) {}

    fn color(&self) -> Color32 {
        self.ground
    }

    fn geometry(&self) -> PlotGeometry<'_> {
        PlotGeometry::None
    }

    fn bounds(&self) -> PlotBounds {
        PlotBounds::NOTHING
    }

    fn base(&self) -> &PlotItemBase {
        &self.base
    }

    fn base_mut(&mut self) -> &mut PlotItemBase {
        &mut self.base
    }
}
