//! Reads lists as CSV (RFC 4180), as spreadsheets of different countries write them: separated by
//! commas, semicolons or tabs, with or without a byte order mark, with any line ends, and with
//! column names in upper or lower case.

mod stream;

pub use stream::{CsvStream, bounded_reader};

use super::exit::WrongUsage;
use anyhow::Context;
use csv::{Position, StringRecord};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

/// The separators that are recognised. Some programs write a line with `sep=` before the heading,
/// which names the separator.
const SEPARATORS: [u8; 3] = *b",;\t";

/// Returns the bytes of a list: of a file, or of standard input for `-`.
pub fn bytes_of(path: &Path) -> anyhow::Result<Vec<u8>> {
    if path == Path::new("-") {
        let mut bytes = Vec::new();
        std::io::stdin().read_to_end(&mut bytes).context("standard input cannot be read")?;
        return Ok(bytes);
    }
    let unread = |cause| WrongUsage(format!("the list {} cannot be read: {cause}", path.display()));
    Ok(std::fs::read(path).map_err(unread)?)
}

/// A list whose heading has been read.
pub struct CsvList<'a> {
    /// The names of the columns in lower case. A column with an empty name must be empty.
    heading: Vec<String>,
    separator: u8,
    text: &'a [u8],
    reader: csv::Reader<&'a [u8]>,
}

/// A line of a list.
#[derive(Debug, PartialEq, Eq)]
pub struct CsvLine {
    /// The line of the file in which this one begins, from 1.
    pub number: u64,
    /// The values by column; empty ones are left out.
    pub values: BTreeMap<String, String>,
}

impl<'a> CsvList<'a> {
    /// Reads the heading. If `columns` is given, the heading may have no other columns.
    pub fn open(bytes: &'a [u8], columns: Option<&[&str]>) -> Result<Self, WrongUsage> {
        let (separator, text) = separator(without_mark(bytes)?);
        let mut reader = builder(separator).from_reader(text);
        let mut heading = StringRecord::new();
        reader.read_record(&mut heading).map_err(|error| unread(text, &error))?;
        let heading = names(&heading, separator, columns)?;
        Ok(CsvList { heading, separator, text, reader })
    }

    /// Returns the separator as error messages show it.
    pub fn separator(&self) -> &'static str {
        name(self.separator)
    }

    pub fn has(&self, column: &str) -> bool {
        self.heading.iter().any(|name| name == column)
    }

    /// Returns the lines in order, without those that are empty in every column.
    pub fn lines(self) -> impl Iterator<Item = Result<CsvLine, WrongUsage>> {
        let CsvList { heading, separator, text, reader } = self;
        let lines = reader.into_records().map(move |record| {
            let record = record.map_err(|error| unread(text, &error))?;
            let number = record.position().map_or(0, |position| line_of(text, position));
            line(&heading, separator, &record, number)
        });
        lines.filter(|line| !line.as_ref().is_ok_and(|line| line.values.is_empty()))
    }
}

/// Returns the number of the line in which a record begins, from 1. The reader's position is before
/// the empty lines that it skips.
fn line_of(text: &[u8], position: &Position) -> u64 {
    let from = usize::try_from(position.byte()).map_or(text.len(), |byte| byte.min(text.len()));
    let skipped = text[from..].iter().take_while(|byte| b"\r\n".contains(byte));
    position.line() + skipped.filter(|byte| **byte == b'\n').count() as u64
}

fn line(heading: &[String], separator: u8, record: &StringRecord, number: u64) -> Result<CsvLine, WrongUsage> {
    let mut values = BTreeMap::new();
    for (place, value) in record.iter().enumerate().filter(|(_, value)| !value.is_empty()) {
        match heading.get(place) {
            Some(column) if !column.is_empty() => values.insert(column.clone(), value.to_owned()),
            _ => {
                let message = format!("line {number} has `{value}` in column {}, which has no name", place + 1);
                return Err(WrongUsage(format!(
                    "the list is not valid CSV: {message} (separated by {})",
                    name(separator)
                )));
            }
        };
    }
    // A line that was cut short is an error; its missing values are not taken as defaults.
    if !values.is_empty() && record.len() < heading.len() {
        let (fields, columns) = (record.len(), heading.len());
        let message = format!("line {number} has {fields} of {columns} columns (separated by {})", name(separator));
        return Err(WrongUsage(format!("the list is not valid CSV: {message}")));
    }
    Ok(CsvLine { number, values })
}

/// Returns the text without its byte order mark. Refuses UTF-16.
fn without_mark(bytes: &[u8]) -> Result<&[u8], WrongUsage> {
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return Err(WrongUsage("the list is UTF-16: save it as CSV in UTF-8".to_owned()));
    }
    Ok(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes))
}

fn builder(separator: u8) -> csv::ReaderBuilder {
    let mut builder = csv::ReaderBuilder::new();
    builder.trim(csv::Trim::All).delimiter(separator).has_headers(false).flexible(true);
    builder
}

/// Returns the names of a heading's columns. If `columns` is given, each must be one of them.
fn names(heading: &StringRecord, separator: u8, columns: Option<&[&str]>) -> Result<Vec<String>, WrongUsage> {
    let heading: Vec<String> = heading.iter().map(str::to_lowercase).collect();
    let named = format!("separated by {}", name(separator));
    for (place, column) in heading.iter().enumerate().filter(|(_, column)| !column.is_empty()) {
        if let Some(columns) = columns
            && !columns.contains(&&**column)
        {
            let known = columns.join(", ");
            return Err(WrongUsage(format!(
                "the list ({named}) has an unknown column `{column}`; known columns are {known}"
            )));
        }
        if heading[..place].contains(column) {
            return Err(WrongUsage(format!("the list ({named}) has two columns `{column}`")));
        }
    }
    Ok(heading)
}

/// Puts an apostrophe before a text that a spreadsheet would take for a formula.
pub fn harmless(text: &str) -> String {
    match text.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        true => format!("'{text}"),
        false => text.to_owned(),
    }
}

/// Returns the separator, and the text from the heading on.
fn separator(text: &[u8]) -> (u8, &[u8]) {
    let end = text.iter().position(|byte| b"\r\n".contains(byte)).unwrap_or(text.len());
    let (first, rest) = text.split_at(end);
    if let [s, e, p, b'=', message] = first
        && [s, e, p].map(u8::to_ascii_lowercase) == *b"sep"
        && SEPARATORS.contains(message)
    {
        return (*message, rest);
    }
    let heading = text.split(|byte| b"\r\n".contains(byte)).find(|line| !line.trim_ascii().is_empty());
    let mut is_quoted = false;
    let mut counts = [0_usize; SEPARATORS.len()];
    for byte in heading.unwrap_or_default() {
        is_quoted ^= *byte == b'"';
        if let Some(place) = SEPARATORS.iter().position(|separator| separator == byte).filter(|_| !is_quoted) {
            counts[place] += 1;
        }
    }
    // `max_by_key` returns the last of several maxima: reversed, so that commas win.
    let most = (0..SEPARATORS.len()).rev().max_by_key(|place| counts[*place]).unwrap_or(0);
    (SEPARATORS[most], text)
}

fn name(separator: u8) -> &'static str {
    match separator {
        b';' => "`;`",
        b'\t' => "tabs",
        _ => "`,`",
    }
}

fn unread(text: &[u8], error: &csv::Error) -> WrongUsage {
    let line = error.position().map_or(1, |position| line_of(text, position));
    match error.kind() {
        csv::ErrorKind::Utf8 { .. } => {
            WrongUsage(format!("line {line} of the list is not UTF-8: save it as CSV in UTF-8"))
        }
        _ => WrongUsage(format!("the list is not valid CSV: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: [&str; 4] = ["make", "model", "year", "color"];

    fn read(bytes: &[u8]) -> Result<Vec<CsvLine>, WrongUsage> {
        CsvList::open(bytes, Some(&COLUMNS))?.lines().collect()
    }

    #[test]
    fn spreadsheets_of_all_countries_are_read() {
        let expected: BTreeMap<String, String> =
            [("make", "Citroën"), ("model", "C3; Aircross, \"2\""), ("year", "2020")]
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into();
        for text in [
            "make,model,year\nCitroën,\"C3; Aircross, \"\"2\"\"\",2020\n",
            "make;model;year\nCitroën;\"C3; Aircross, \"\"2\"\"\";2020",
            "make\tmodel\tyear\r\nCitroën\t\"C3; Aircross, \"\"2\"\"\"\t2020\r\n",
            "\u{feff}Make;MODEL;Year;Color\r\nCitroën;\"C3; Aircross, \"\"2\"\"\";2020;\r\n;;;\r\n",
            "\u{feff}\"Make\",\" model \",year,,\r\rCitroën,\"C3; Aircross, \"\"2\"\"\", 2020 ,,\r",
            "sep=;\r\nmake;model;year\r\nCitroën;\"C3; Aircross, \"\"2\"\"\";2020\r\n",
            "SEP=\t\nmake\tmodel\tyear\nCitroën\t\"C3; Aircross, \"\"2\"\"\"\t2020\n",
            "\n\nmake,model,year\n\nCitroën,\"C3; Aircross, \"\"2\"\"\",2020\n\n",
        ] {
            let lines = read(text.as_bytes()).unwrap_or_else(|refused| panic!("{text:?}: {refused}"));
            assert_eq!(
                lines.into_iter().map(|line| line.values).collect::<Vec<_>>(),
                std::slice::from_ref(&expected),
                "{text:?}"
            );
        }
        // One column has no separator; skipped lines are counted.
        let lines = read(b"Make\nhonda\n\nbmw\n").expect("reads");
        assert_eq!(lines.iter().map(|line| line.number).collect::<Vec<_>>(), [2, 4]);
    }

    #[test]
    fn refusals_name_separator_column_or_line() {
        for (bytes, message) in [
            (&b"make,model;year\nx,y;1\n"[..], "(separated by `,`) has an unknown column `model;year`"),
            (b"make;model;year;paint\n", "(separated by `;`) has an unknown column `paint`"),
            (b"make|model|year\n", "column `make|model|year`"),
            (b"make\tMAKE\n", "(separated by tabs) has two columns `make`"),
            (b"make;model\nhonda\n", "line 2 has 1 of 2 columns (separated by `;`)"),
            (b"make;model\nhonda;civic;2018\n", "line 2 has `2018` in column 3"),
            (b"make,model,\nhonda,civic,2018\n", "line 2 has `2018` in column 3"),
            (b"make;model\nhonda;civic\nCitro\xebn;C3\n", "line 3 of the list is not UTF-8"),
            (b"m\xffke;model\n", "line 1 of the list is not UTF-8"),
            (b"\xff\xfem\0a\0", "UTF-16"),
            (b"\xfe\xff\0m\0a", "UTF-16"),
        ] {
            let refused = read(bytes).expect_err(message).to_string();
            assert!(refused.contains(message), "{message}: {refused}");
        }
    }
}
