//! Lists of any length: read row by row, with one row in memory at a time.

use super::{WrongUsage, builder, name, names, separator, without_mark};
use csv::StringRecord;
use std::io::{self, Chain, Cursor, Read};

/// Number of bytes in which the separator is looked for: more than any heading has.
const HEAD_BYTES: u64 = 64 << 10;
/// Maximum size of a row, in bytes. A row is held in memory, and a longer
/// one has a quote that is not closed.
const ROW_BYTES_MAX: usize = 1 << 20;

/// A reader that reads no more from its source than a row may have.
pub struct BoundedReader<R> {
    source: R,
    left: usize,
}

impl<R> BoundedReader<R> {
    /// Allows the next row to have the maximum size again.
    pub fn refill(&mut self) {
        self.left = ROW_BYTES_MAX;
    }
}

impl<R: Read> Read for BoundedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let most = buffer.len().min(self.left);
        let read = self.source.read(&mut buffer[..most])?;
        self.left -= read;
        Ok(read)
    }
}

/// Returns a reader of rows as they are written. No row may be longer than the maximum (see
/// [`BoundedReader::refill`]).
pub fn bounded_reader<R: Read>(separator: u8, source: R) -> csv::Reader<BoundedReader<R>> {
    let source = BoundedReader { source, left: ROW_BYTES_MAX };
    builder(separator).trim(csv::Trim::None).from_reader(source)
}

/// A list whose heading has been read. Rows that are empty in every column are skipped.
pub struct CsvStream<R> {
    /// The names of the columns in lower case. A column with an empty name must be empty.
    heading: Vec<String>,
    separator: u8,
    reader: csv::Reader<BoundedReader<Chain<Cursor<Vec<u8>>, R>>>,
    record: StringRecord,
    /// Number of rows that were read.
    rows: u64,
}

impl<R: Read> CsvStream<R> {
    /// Reads the heading, which may have no other columns than `columns`.
    pub fn open(mut source: R, columns: &[&str]) -> Result<Self, WrongUsage> {
        let mut head = Vec::new();
        let unread = |cause| WrongUsage(format!("the list cannot be read: {cause}"));
        source.by_ref().take(HEAD_BYTES).read_to_end(&mut head).map_err(unread)?;
        let (separator, text) = separator(without_mark(&head)?);
        let head = Cursor::new(text.to_vec());
        let source = BoundedReader { source: head.chain(source), left: ROW_BYTES_MAX };
        let mut reader = builder(separator).from_reader(source);
        let mut heading = StringRecord::new();
        reader.read_record(&mut heading).map_err(|error| refused(&error, 0))?;
        let heading = names(&heading, separator, Some(columns))?;
        Ok(CsvStream { heading, separator, reader, record: StringRecord::new(), rows: 0 })
    }

    pub fn separator(&self) -> u8 {
        self.separator
    }

    /// Returns the names of the columns that have one.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.heading.iter().map(String::as_str).filter(|column| !column.is_empty())
    }

    /// Returns how many bytes of the list have been read.
    pub fn position(&self) -> u64 {
        self.reader.position().byte()
    }

    /// Returns the values of the next row, one for each of [`CsvStream::columns`].
    pub fn next_row(&mut self) -> Result<Option<Vec<String>>, WrongUsage> {
        loop {
            self.reader.get_mut().refill();
            let is_read = self.reader.read_record(&mut self.record).map_err(|error| refused(&error, self.rows + 1))?;
            if !is_read {
                return Ok(None);
            }
            if self.record.iter().all(str::is_empty) {
                continue;
            }
            self.rows += 1;
            return self.values().map(Some);
        }
    }

    fn values(&self) -> Result<Vec<String>, WrongUsage> {
        let (record, row, named) = (&self.record, self.rows, name(self.separator));
        // A row that was cut short is an error; its missing values are not taken as empty.
        if record.len() < self.heading.len() {
            let (fields, columns) = (record.len(), self.heading.len());
            let message = format!("row {row} has {fields} of {columns} columns (separated by {named})");
            return Err(WrongUsage(format!("the list is not valid CSV: {message}")));
        }
        let mut values = Vec::with_capacity(self.heading.len());
        for (place, value) in record.iter().enumerate() {
            match self.heading.get(place) {
                Some(column) if !column.is_empty() => values.push(value.to_owned()),
                _ if value.is_empty() => {}
                _ => {
                    let message = format!("row {row} has a value in column {}, which has no name", place + 1);
                    return Err(WrongUsage(format!("the list is not valid CSV: {message} (separated by {named})")));
                }
            }
        }
        Ok(values)
    }
}

fn refused(error: &csv::Error, row: u64) -> WrongUsage {
    let place = if row == 0 { "the heading".to_owned() } else { format!("row {row}") };
    match error.kind() {
        csv::ErrorKind::Utf8 { .. } => WrongUsage(format!("{place} of the list is not UTF-8: save it as CSV in UTF-8")),
        csv::ErrorKind::Io(cause) if cause.kind() == io::ErrorKind::FileTooLarge => {
            let most = ROW_BYTES_MAX >> 20;
            WrongUsage(format!("{place} of the list is longer than {most} MiB: is a quote not closed?"))
        }
        _ => WrongUsage(format!("the list cannot be read at {place}: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: [&str; 3] = ["make", "model", "year"];

    fn read(bytes: &[u8]) -> Result<Vec<Vec<String>>, WrongUsage> {
        let mut list = CsvStream::open(bytes, &COLUMNS)?;
        let mut rows = Vec::new();
        while let Some(row) = list.next_row()? {
            rows.push(row);
        }
        Ok(rows)
    }

    #[test]
    fn lists_are_read_as_those_that_are_held_whole() {
        let expected = [["Citroën", "C3; \"2\"", "2020"], ["", "", "2021"]];
        for text in [
            "make,model,year\nCitroën,\"C3; \"\"2\"\"\",2020\n,,2021",
            "\u{feff}Make;MODEL;Year;\r\nCitroën;\"C3; \"\"2\"\"\"; 2020 ;\r\n;;;\r\n\r\n;;2021;\r\n",
            "sep=\t\nmake\tmodel\tyear\nCitroën\t\"C3; \"\"2\"\"\"\t2020\n\t\t2021\n",
        ] {
            let rows = read(text.as_bytes()).unwrap_or_else(|refused| panic!("{text:?}: {refused}"));
            assert_eq!(rows, expected, "{text:?}");
        }
        let long: String = (0..50_000).map(|row| format!("honda,civic,{row}\n")).collect();
        assert_eq!(read(format!("make,model,year\n{long}").as_bytes()).expect("reads").len(), 50_000);
    }

    #[test]
    fn refusals_name_column_or_row() {
        let unclosed = format!("make\n\"{}", "x\n".repeat(ROW_BYTES_MAX));
        for (text, message) in [
            (&b"make,paint\n"[..], "`paint`"),
            (b"make;MAKE\n", "two columns `make`"),
            (b"make;model\nhonda;civic\nhonda\n", "row 2 has 1 of 2 columns"),
            (b"make;model\n\nhonda;civic;2018\n", "row 1 has a value in column 3"),
            (b"make\nCitro\xebn\n", "row 1 of the list is not UTF-8"),
            (b"\xff\xfem\0", "UTF-16"),
            (unclosed.as_bytes(), "row 1 of the list is longer than 1 MiB"),
        ] {
            let refused = read(text).expect_err(message).to_string();
            assert!(refused.contains(message), "{message}: {refused}");
        }
    }
}
