//! The table of a benchmark: measurements, and their lower bounds.

use serde_json::Value;
use sluice_engine::units;
use sluice_tools::Ceilings;

use super::{measurement::Run, way::Way};
use crate::cli::table::{Align, table};

/// A placement within a budget, and its result.
pub(super) struct Row {
    pub way: Way,
    /// VRAM budget in bytes.
    pub budget: Option<u64>,
    /// The run, or the reason why there is none.
    pub run: Result<Run, String>,
}

/// All rows, and the lower bound of a step.
pub(super) struct Table {
    rows: Vec<Row>,
    /// Computing time of a step, in seconds.
    compute: f64,
    /// Bytes per second over the link. If the device has no link, the rate of each row is used.
    link: Option<f64>,
}

impl Table {
    /// The computing time is that of a step with all weights resident or, if this was not run, of the fastest
    /// row.
    pub fn new(rows: Vec<Row>, ceilings: &Ceilings) -> Self {
        let runs = || rows.iter().filter_map(|row| Some((row.way, row.run.as_ref().ok()?)));
        let resident = runs().find(|(way, _)| *way == Way::Resident).map(|(_, run)| run.step_seconds);
        let computed = runs().map(|(_, run)| run.step_compute_seconds).reduce(f64::min);
        let compute = resident.filter(|seconds| *seconds > 0.0).or(computed).unwrap_or(0.0);
        let link = (!ceilings.unified).then_some(ceilings.pinned_bytes_per_second);
        Self { rows, compute, link }
    }

    /// The lower bound in seconds of a step that moves this many bytes.
    fn floor(&self, run: &Run) -> f64 {
        let link = self.link.unwrap_or(run.link_bytes_per_second);
        if run.step_bytes == 0 || link <= 0.0 {
            return self.compute;
        }
        self.compute.max(run.step_bytes as f64 / link)
    }

    /// Whether the latents of all runs are the same; `None` if they were not compared.
    pub fn exact(&self) -> Option<bool> {
        let runs = self.rows.iter().filter_map(|row| row.run.as_ref().ok());
        let latents: Vec<&String> = runs.filter_map(|run| run.latents.as_ref()).collect();
        let (first, others) = latents.split_first()?;
        (!others.is_empty()).then(|| others.iter().all(|other| other == first))
    }

    /// The rows with their floors.
    pub fn json(&self) -> Vec<Value> {
        let row = |row: &Row| {
            let mut described = match &row.run {
                Ok(run) => {
                    let floor = self.floor(run);
                    let mut described = serde_json::to_value(run).unwrap_or_default();
                    described["floor_seconds"] = floor.into();
                    described["over_floor"] = (run.step_seconds / floor).into();
                    described
                }
                Err(failure) => serde_json::json!({ "failure": failure }),
            };
            described["way"] = row.way.name().into();
            described["budget"] = row.budget.into();
            described
        };
        self.rows.iter().map(row).collect()
    }

    /// The rows for people.
    pub fn lines(&self) -> Vec<String> {
        let columns = [
            ("placement", Align::Left),
            ("budget", Align::Right),
            ("step", Align::Right),
            ("lower bound", Align::Right),
            ("ratio", Align::Right),
            ("predicted", Align::Right),
            ("peak", Align::Right),
            ("predicted", Align::Right),
            ("RAM", Align::Right),
            ("moved per step", Align::Right),
            ("stall per step", Align::Right),
            ("link", Align::Right),
            ("total", Align::Right),
            ("latents", Align::Left),
        ];
        let cells = |row: &Row| {
            let budget = row.budget.map_or_else(|| "all".to_owned(), units::memory);
            let mut cells = [const { String::new() }; 14];
            cells[0] = row.way.name().to_owned();
            cells[1] = budget;
            let Ok(run) = &row.run else {
                cells[13] = "not run".to_owned();
                return cells;
            };
            let floor = self.floor(run);
            cells[2] = units::seconds(run.step_seconds);
            cells[3] = units::seconds(floor);
            cells[4] = format!("{:.3}", run.step_seconds / floor);
            cells[5] = units::seconds(run.predicted_step_seconds);
            cells[6] = units::memory(run.peak);
            cells[7] = units::memory(run.predicted_peak);
            cells[8] = units::memory(run.process_peak);
            cells[9] = units::memory(run.step_bytes);
            cells[10] = units::seconds(run.step_stall_seconds);
            if run.step_bytes > 0 {
                cells[11] = format!("{:.1} GB/s", run.link_bytes_per_second / 1e9);
            }
            cells[12] = units::seconds(run.seconds);
            cells[13] = run.latents.as_ref().map_or_else(String::new, |latents| latents[..8].to_owned());
            cells
        };
        let rows: Vec<_> = self.rows.iter().map(cells).collect();
        let mut lines = table(columns, &rows);
        for row in &self.rows {
            if let Err(failure) = &row.run {
                let budget = row
                    .budget
                    .map_or_else(String::new, |budget| format!(" within {}", units::memory(budget)));
                lines.push(format!("{}{budget}: {failure}", row.way.name()));
            }
        }
        match self.exact() {
            Some(true) => lines.push("The latents of all runs are bit-identical.".to_owned()),
            Some(false) => lines.push(
                "The latents DIFFER, although the placement of weights must not change them.".to_owned(),
            ),
            None => {}
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::{super::measurement::Ended, *};

    fn run(step_seconds: f64, step_bytes: u64, latents: &str) -> Run {
        let run = Run::new(Ended::default(), &[], Some(latents.to_owned()));
        Run { step_seconds, step_bytes, ..run }
    }

    fn ceilings() -> Ceilings {
        Ceilings {
            device: "card".to_owned(),
            unified: false,
            transfer_bytes: 1,
            pinned_bytes_per_second: 1e9,
            pageable_bytes_per_second: 5e8,
            dtype: "bf16".to_owned(),
            matrix_side: 1,
            operations_per_second: 1.0,
        }
    }

    #[test]
    fn the_lower_bound_is_the_larger_of_computing_and_moving() {
        let row = |way, run| Row { way, budget: None, run: Ok(run) };
        let rows = vec![
            row(Way::Resident, run(2.0, 0, "a0000000")),
            row(Way::Streamed, run(2.2, 1_000_000_000, "a0000000")),
            row(Way::Prefix, run(4.5, 4_000_000_000, "a0000000")),
        ];
        let table = Table::new(rows, &ceilings());
        let floors: Vec<f64> =
            table.json().iter().map(|row| row["floor_seconds"].as_f64().unwrap()).collect();
        assert_eq!(floors, [2.0, 2.0, 4.0]);
        assert_eq!(table.exact(), Some(true));
        assert!(table.lines()[2].contains("1.100"), "{:?}", table.lines());
    }

    #[test]
    fn latents_that_differ_are_reported() {
        let row = |latents: &str| Row { way: Way::Auto, budget: None, run: Ok(run(1.0, 0, latents)) };
        let failed = Row { way: Way::Prefix, budget: Some(1), run: Err("too little".to_owned()) };
        let table = Table::new(vec![row("a0000000"), failed, row("b0000000")], &ceilings());
        assert_eq!(table.exact(), Some(false));
        assert!(table.lines().last().unwrap().contains("DIFFER"));
        assert!(table.lines()[2].ends_with("not run"), "{:?}", table.lines());
        assert!(
            table.lines().contains(&"prefix within 0.1 MB: too little".to_owned()),
            "{:?}",
            table.lines()
        );
        assert_eq!(Table::new(vec![row("a0000000")], &ceilings()).exact(), None);
    }
}
