//! Formats answers for people: names and values in columns.

/// Returns lines of the form `name   value`. Pairs without a value are left out.
pub fn pairs(pairs: &[(&str, String)]) -> String {
    let rows: Vec<Vec<String>> = pairs
        .iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| vec![(*name).to_owned(), value.clone()])
        .collect();
    table(&rows)
}

/// Returns rows with aligned columns. The last column is not padded.
pub fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns)
        .map(|column| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0))
        .collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        format!("{}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
    };
    rows.iter().map(line).collect()
}

/// Returns years as spans, such as `1990-1994, 2000`.
pub fn years(years: &[i64]) -> String {
    let mut spans: Vec<(i64, i64)> = Vec::new();
    for year in years {
        match spans.last_mut() {
            Some((_, last)) if *last + 1 == *year => *last = *year,
            _ => spans.push((*year, *year)),
        }
    }
    let span = |(first, last): &(i64, i64)| if first == last { first.to_string() } else { format!("{first}-{last}") };
    spans.iter().map(span).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest() {
        let rows = [vec!["a".to_owned(), "bb".to_owned()], vec!["größe".to_owned(), String::new()]];
        assert_eq!(table(&rows), "a      bb\ngröße\n");
        assert_eq!(pairs(&[("a", String::new()), ("b", "1".to_owned())]), "b  1\n");
    }

    #[test]
    fn years_are_spans() {
        for (given, expected) in [
            (&[][..], ""),
            (&[1990][..], "1990"),
            (&[1990, 1991][..], "1990-1991"),
            (&[1990, 1992, 1993, 1994, 2000][..], "1990, 1992-1994, 2000"),
        ] {
            assert_eq!(years(given), expected);
        }
    }
}
