//! Grids: one request for each combination of the values of up to three settings, as the X/Y/Z plot of A1111's web UI.

mod added;
mod applied;
mod axis;
mod error;
mod names;
mod parsed;
mod setting;
mod values;

use serde::{Deserialize, Serialize};

use super::{Request, Style};
use added::Weighed;
pub use axis::Axis;
use axis::Surroundings;
pub use error::GridError;
pub use setting::GridSetting;

/// The most cells of a grid.
pub const LARGEST_GRID: usize = 10_000;

/// What varies along the columns, the rows and the tables of a grid.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Grid {
    axes: [Option<Axis>; 3],
    styles: Vec<Style>,
}

/// One image of a grid.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// Its column, row and table, from 0.
    pub at: [usize; 3],
    /// What generates it.
    pub request: Request,
}

/// What a composed image keeps of its grid: each axis as it was written, such as `steps: 10, 20`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GridRecord {
    /// The columns, the rows and the tables; empty where nothing varies.
    pub axes: [String; 3],
}

/// The labels of a grid: of its columns, its rows and its tables. An axis on which nothing varies has one empty label.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GridLabels {
    /// From left to right.
    pub columns: Vec<String>,
    /// From top to bottom.
    pub rows: Vec<String>,
    /// Of each table.
    pub tables: Vec<String>,
}

impl GridLabels {
    /// Images without labels in a shape near a square, row by row.
    pub fn plain(count: usize) -> Self {
        let columns = (count.max(1) as f64).sqrt().ceil() as usize;
        let empty = |count: usize| vec![String::new(); count.max(1)];
        Self { columns: empty(columns), rows: empty(count.div_ceil(columns)), tables: empty(1) }
    }

    /// The number of columns, rows and tables.
    pub fn sides(&self) -> [usize; 3] {
        [self.columns.len(), self.rows.len(), self.tables.len()]
    }

    /// The number of cells.
    pub fn count(&self) -> usize {
        self.sides().into_iter().product()
    }
}

impl Grid {
    /// A grid over columns, rows and tables.
    ///
    /// # Errors
    /// When no axis has values, two vary the same setting, or there are more than [`LARGEST_GRID`] cells.
    pub fn new(axes: [Option<Axis>; 3]) -> Result<Self, GridError> {
        let given: Vec<&Axis> = axes.iter().flatten().collect();
        if given.is_empty() {
            return Err(GridError::Nothing);
        }
        for (place, axis) in given.iter().enumerate() {
            if given[..place].iter().any(|other| other.varies_the_same(axis)) {
                return Err(GridError::Twice(axis.title()));
            }
        }
        let count = given.iter().fold(1_usize, |count, axis| count.saturating_mul(axis.len()));
        if count > LARGEST_GRID {
            return Err(GridError::TooMany { count, most: LARGEST_GRID });
        }
        Ok(Self { axes, styles: Vec::new() })
    }

    /// The same with the styles that its values name.
    pub fn with_styles(self, styles: Vec<Style>) -> Self {
        Self { styles, ..self }
    }

    /// Whether a setting varies.
    pub fn varies(&self, setting: GridSetting) -> bool {
        self.axes.iter().flatten().any(|axis| axis.setting() == setting)
    }

    /// The number of cells.
    pub fn count(&self) -> usize {
        self.axes.iter().flatten().map(Axis::len).product()
    }

    /// The labels of the composed image.
    pub fn labels(&self) -> GridLabels {
        let of = |axis: &Option<Axis>| match axis {
            Some(axis) => axis.labels(),
            None => vec![String::new()],
        };
        let [columns, rows, tables] = &self.axes;
        GridLabels { columns: of(columns), rows: of(rows), tables: of(tables) }
    }

    /// What the composed image keeps.
    pub fn record(&self) -> GridRecord {
        GridRecord {
            axes: self.axes.each_ref().map(|axis| axis.as_ref().map(Axis::written).unwrap_or_default()),
        }
    }

    /// The cells in the order in which they are generated: what is costly to change, such as the model, changes least
    /// often. Each is one image with the same seed, unless seeds vary.
    ///
    /// # Errors
    /// When a value cannot be applied: a prompt does not contain the words to replace, or there is no such LoRA; or when two
    /// axes vary one part of the request.
    pub fn cells(&self, request: &Request) -> Result<Vec<Cell>, GridError> {
        for (place, axis) in self.axes.iter().enumerate() {
            let Some(axis) = axis else { continue };
            if self.axes[..place].iter().flatten().any(|other| other.shares_a_part(axis, request)) {
                return Err(GridError::Twice(axis.title()));
            }
        }
        let base = Request { batch: 1, ..request.clone() };
        let mut cells = vec![Cell { at: [0; 3], request: base }];
        // Later loops are inner ones. Of equally costly axes, the columns change most often.
        let mut order = [2, 1, 0];
        order.sort_by_key(|place| self.axes[*place].as_ref().map(Axis::cost));
        for place in order {
            let Some(axis) = &self.axes[place] else { continue };
            let mut next = Vec::with_capacity(cells.len() * axis.len());
            for Cell { at, request } in cells {
                for value in 0..axis.len() {
                    let mut at = at;
                    at[place] = value;
                    let around = Surroundings { styles: &self.styles, weighed: self.lora_at(at) };
                    next.push(Cell { at, request: axis.applied(value, request.clone(), &around)? });
                }
            }
            cells = next;
        }
        Ok(cells)
    }

    /// The LoRA that an axis adds in a cell.
    fn lora_at(&self, at: [usize; 3]) -> Weighed<'_> {
        let axes = self.axes.iter().zip(at);
        let added = axes.filter_map(|(axis, value)| axis.as_ref()?.lora_of(value)).next();
        added.map_or(Weighed::NoAxis, Weighed::Added)
    }
}

#[cfg(test)]
mod tests;
