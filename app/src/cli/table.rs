//! Tables in plain text.

/// How the cells of a column are aligned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Align {
    Left,
    Right,
}

/// Formats rows under a heading: columns are two spaces apart, and lines have no trailing spaces.
pub(super) fn table<const N: usize>(columns: [(&str, Align); N], rows: &[[String; N]]) -> Vec<String> {
    let heading = columns.map(|(title, _)| title.to_owned());
    let mut widths = [0; N];
    for row in rows.iter().chain([&heading]) {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let set = |row: &[String; N]| {
        let cells = row.iter().zip(widths).zip(columns).map(|((cell, width), (_, align))| match align {
            Align::Left => format!("{cell:<width$}"),
            Align::Right => format!("{cell:>width$}"),
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    [&heading].into_iter().chain(rows).map(set).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [["one".to_owned(), "1".to_owned()], ["zwölf".to_owned(), "12".to_owned()]];
        let lines = table([("name", Align::Left), ("n", Align::Right)], &rows);
        assert_eq!(lines, ["name    n", "one     1", "zwölf  12"]);
    }
}
