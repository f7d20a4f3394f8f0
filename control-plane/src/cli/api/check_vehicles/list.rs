//! The list of a check: the rows of a CSV file, in blocks of one request each.

use crate::cli::csv_list::CsvStream;
use crate::cli::exit::WrongUsage;
use cyclorama_client::AskedYear;
use cyclorama_client::types::CheckRow;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The columns that a row may have, which are those that the service accepts.
pub const COLUMNS: [&str; 7] = ["make", "model", "year", "body", "vin", "vehicle", "query"];
/// Columns of the answer, after those of the list.
pub const ADDED: [&str; 9] =
    ["status", "vehicle_id", "found_make", "found_model", "found_year", "found_body", "likeness", "reason", "stored"];
pub const BLOCK_ROWS: usize = 100;
/// Maximum size of a block's rows as JSON, in bytes. The service accepts 64 KiB
/// including the text around the rows.
const BLOCK_BYTES_MAX: usize = 48 << 10;
const ROW_BYTES_MAX: usize = 8 << 10;

/// A row as it is in the list, and the request that is made of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckListRow {
    pub given: Vec<String>,
    /// The requested row, or the reason why it cannot be requested.
    pub request: Result<CheckRow, &'static str>,
    /// Size of the requested row as JSON, in bytes.
    bytes: usize,
}

pub struct CheckList {
    stream: CsvStream<Box<dyn Read + Send>>,
    columns: Vec<String>,
    /// Size of the file, in bytes; 0 for standard input.
    pub bytes: u64,
    /// A row that was read, and did not fit into the block before.
    held: Option<CheckListRow>,
}

impl CheckList {
    /// Opens a list. `kept` are columns that are copied into the answer
    /// and do not describe a vehicle.
    pub fn open(path: &Path, kept: &[String]) -> Result<Self, WrongUsage> {
        let (source, bytes): (Box<dyn Read + Send>, u64) = if path == Path::new("-") {
            (Box::new(std::io::stdin()), 0)
        } else {
            let unread = |cause| WrongUsage(format!("the list {} cannot be read: {cause}", path.display()));
            let file = File::open(path).map_err(unread)?;
            let bytes = file.metadata().map_or(0, |metadata| metadata.len());
            (Box::new(file), bytes)
        };
        Self::of(source, bytes, kept)
    }

    fn of(source: Box<dyn Read + Send>, bytes: u64, kept: &[String]) -> Result<Self, WrongUsage> {
        let kept: Vec<String> = kept.iter().map(|column| column.trim().to_lowercase()).collect();
        if let Some(taken) = kept.iter().find(|column| ADDED.contains(&column.as_str())) {
            return Err(WrongUsage(format!("the result has a column `{taken}`: rename the column of the list")));
        }
        let known: Vec<&str> = COLUMNS.into_iter().chain(kept.iter().map(String::as_str)).collect();
        let stream = CsvStream::open(source, &known)?;
        let columns: Vec<String> = stream.columns().map(str::to_owned).collect();
        if let Some(missing) = kept.iter().find(|column| !columns.contains(column)) {
            return Err(WrongUsage(format!("the list has no column `{missing}`, which --keep names")));
        }
        let has = |name: &str| columns.iter().any(|column| column == name);
        if !((has("make") && has("model")) || has("vehicle") || has("vin") || has("query")) {
            return Err(WrongUsage(
                "the list needs a heading with the columns make and model, or vehicle, vin or query".to_owned(),
            ));
        }
        Ok(CheckList { stream, columns, bytes, held: None })
    }

    pub fn separator(&self) -> u8 {
        self.stream.separator()
    }

    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// Returns how many bytes of the list have been read.
    pub fn position(&self) -> u64 {
        self.stream.position()
    }

    pub fn next_row(&mut self) -> Result<Option<CheckListRow>, WrongUsage> {
        if let Some(row) = self.held.take() {
            return Ok(Some(row));
        }
        Ok(self.stream.next_row()?.map(|given| CheckListRow::of(&self.columns, given)))
    }

    /// Returns the rows for one request; none at the end of the list.
    pub fn next_block(&mut self) -> Result<Vec<CheckListRow>, WrongUsage> {
        let (mut block, mut bytes) = (Vec::new(), 0);
        while block.len() < BLOCK_ROWS {
            let Some(row) = self.next_row()? else { break };
            bytes += row.bytes;
            if bytes > BLOCK_BYTES_MAX && !block.is_empty() {
                self.held = Some(row);
                break;
            }
            block.push(row);
        }
        Ok(block)
    }
}

impl CheckListRow {
    fn of(columns: &[String], given: Vec<String>) -> Self {
        let request = request(columns, &given);
        let bytes = request.as_ref().ok().and_then(|row| serde_json::to_vec(row).ok()).map_or(0, |json| json.len() + 1);
        match bytes {
            ROW_BYTES_MAX.. => CheckListRow { given, request: Err("the row is too long"), bytes: 0 },
            _ => CheckListRow { given, request, bytes },
        }
    }
}

fn request(columns: &[String], given: &[String]) -> Result<CheckRow, &'static str> {
    let value = |name: &str| {
        let values = columns.iter().zip(given).find(|(column, _)| *column == name);
        values.map(|(_, value)| value.clone()).filter(|value| !value.is_empty())
    };
    // The error does not repeat the value: it may be an identification number in the wrong column.
    let year = value("year").map(|year| year.to_ascii_lowercase().parse::<AskedYear>()).transpose();
    Ok(CheckRow {
        year: year.map_err(|_| "`year` is neither a whole number nor `latest`")?,
        make: value("make"),
        model: value("model"),
        body: value("body").map(Into::into),
        vin: value("vin"),
        vehicle: value("vehicle"),
        query: value("query"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str, kept: &[&str]) -> Result<CheckList, WrongUsage> {
        let kept: Vec<String> = kept.iter().map(|name| (*name).to_owned()).collect();
        CheckList::of(Box::new(std::io::Cursor::new(text.to_owned().into_bytes())), 0, &kept)
    }

    #[test]
    fn rows_are_asked_for_in_blocks() {
        let rows: String = (0..250).map(|row| format!("{row},honda,civic,2018\n")).collect();
        let mut list = list(&format!("Stock,make,model,year\n{rows}"), &["stock"]).expect("reads");
        let mut sizes = Vec::new();
        let mut first = None;
        loop {
            let block = list.next_block().expect("reads");
            if block.is_empty() {
                break;
            }
            sizes.push(block.len());
            first.get_or_insert_with(|| block[0].clone());
        }
        assert_eq!(sizes, [100, 100, 50]);
        let first = first.expect("a row");
        assert_eq!(first.given, ["0", "honda", "civic", "2018"]);
        let expected = serde_json::json!({ "make": "honda", "model": "civic", "year": 2018 });
        assert_eq!(serde_json::json!(first.request.expect("is asked for")), expected);
    }

    #[test]
    fn blocks_fit_into_a_request_and_long_rows_are_not_asked_for() {
        let long = "\u{1}".repeat(200);
        let text = format!("query\n{}{}\n", format!("{long}\n").repeat(100), "x".repeat(10_000));
        let mut list = list(&text, &[]).expect("reads");
        let (mut rows, mut last) = (0, Vec::new());
        loop {
            let block = list.next_block().expect("reads");
            if block.is_empty() {
                break;
            }
            let request: Vec<&CheckRow> = block.iter().filter_map(|row| row.request.as_ref().ok()).collect();
            let bytes = serde_json::to_vec(&request).expect("is JSON").len();
            assert!(request.len() < 100 && bytes < 64 << 10, "{} rows, {bytes} bytes", request.len());
            rows += block.len();
            last = block;
        }
        assert_eq!(rows, 101, "none is lost between two blocks");
        assert_eq!(last.last().expect("a row").request, Err("the row is too long"));
    }

    #[test]
    fn what_is_no_list_is_refused_by_name() {
        for (text, kept, message) in [
            ("year,body\n", &[][..], "make and model, or vehicle, vin or query"),
            ("vin,price\n", &[], "`price`"),
            ("vin,status\n", &["Status"], "column `status`"),
            ("vin\n", &["stock"], "no column `stock`"),
        ] {
            let refused = list(text, kept).err().unwrap_or_else(|| panic!("{text}")).to_string();
            assert!(refused.contains(message), "{text:?}: {refused}");
        }
        let mut soon = list("vin,year\n1HGCM82633A004352,soon\n", &[]).expect("reads");
        let row = soon.next_row().expect("reads").expect("a row");
        assert_eq!(row.request, Err("`year` is neither a whole number nor `latest`"));
    }
}
