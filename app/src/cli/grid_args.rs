//! Options for grids: images that are composed into one.

use sluice_engine::request::grid::{Axis, Grid, GridError};

/// The axes of a grid.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct GridArgs {
    /// Generate a grid: what varies from column to column, as a setting and its values. `steps: 10, 20, 30`, `guidance: 1-7
    /// (+2)` and `seed: 1-10 [4]` are numbers and ranges, `prompt: fox, wolf` replaces the first words by the others.
    /// `hires-strength: 0.3, 0.5`, `control-weight: 0.5, 1` and others vary what is used; `control-weight depth: 0.5, 1` and
    /// `control-weight 2: 0.5, 1` vary one of several, by its name or number. All images are kept, and composed into one with
    /// labels. A name that is not known is answered with all that are.
    #[arg(long, value_name = "AXIS", allow_hyphen_values = true)]
    x: Option<Axis>,
    /// What varies from row to row.
    #[arg(long, value_name = "AXIS", allow_hyphen_values = true)]
    y: Option<Axis>,
    /// What varies from table to table.
    #[arg(long, value_name = "AXIS", allow_hyphen_values = true)]
    z: Option<Axis>,
    /// Compose the images of a batch into one, too.
    #[arg(long, conflicts_with_all = ["x", "y", "z"])]
    pub batch_grid: bool,
}

impl GridArgs {
    /// The grid, if anything varies.
    pub fn grid(&self) -> Result<Option<Grid>, GridError> {
        let axes = [&self.x, &self.y, &self.z].map(Clone::clone);
        if axes.iter().all(Option::is_none) { Ok(None) } else { Grid::new(axes).map(Some) }
    }
}
