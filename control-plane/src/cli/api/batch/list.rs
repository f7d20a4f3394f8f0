//! The list of a batch: CSV with a heading (see `csv_list`). What cannot be a list is refused as a whole before anything is asked for; a wrong
//! value is its row's affair.

use super::super::picture::file_name;
use crate::cli::csv_list::{CsvList, Line};
use crate::cli::exit::WrongUsage;
use cyclorama_client::ImageRequest;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// A list beyond this is more than one wants to do in one go; it is held in memory.
const BYTES_MAX: usize = 32 << 20;
const ROWS_MAX: usize = 100_000;

/// The last says where a row's picture goes.
const COLUMNS: [&str; 11] =
    ["make", "brand", "model", "year", "view", "color", "width", "height", "size", "format", "file"];

#[derive(Debug)]
pub struct List {
    /// Of its bytes, lower-case hex: a list that was changed is another list.
    pub sha256: String,
    pub rows: Vec<Row>,
}

#[derive(Debug)]
pub struct Row {
    /// From 1, without the heading.
    pub number: usize,
    /// As it stands in the list, for the report.
    pub given: Given,
    /// The picture, or what is wrong with the row.
    pub image: Result<ImageRequest, String>,
    /// Name of the file, in the batch's folder.
    pub file: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    pub make: String,
    pub brand: String,
    pub model: String,
    pub year: String,
    pub view: String,
    pub color: String,
    pub width: String,
    pub height: String,
    pub size: String,
    pub format: String,
    pub file: String,
}

impl Given {
    fn of(mut line: Line) -> Self {
        let mut value = |column: &str| line.values.remove(column).unwrap_or_default();
        Given {
            make: value("make"),
            brand: value("brand"),
            model: value("model"),
            year: value("year"),
            view: value("view"),
            color: value("color"),
            width: value("width"),
            height: value("height"),
            size: value("size"),
            format: value("format"),
            file: value("file"),
        }
    }
}

pub fn read(bytes: &[u8]) -> Result<List, WrongUsage> {
    let wrong = |text: String| Err(WrongUsage(text));
    if bytes.len() > BYTES_MAX {
        return wrong(format!("the list is longer than {} MiB: split it", BYTES_MAX >> 20));
    }
    let lines = CsvList::open(bytes, Some(&COLUMNS))?;
    if !(lines.has("make") || lines.has("brand")) || !lines.has("model") || !lines.has("year") {
        return wrong("the list needs a heading with make, model and year".to_owned());
    }
    let mut rows = Vec::new();
    let mut files = BTreeMap::new();
    for (place, line) in lines.lines().enumerate() {
        if place == ROWS_MAX {
            return wrong(format!("the list has more than {ROWS_MAX} rows: split it"));
        }
        let row = Row::of(place + 1, Given::of(line?))?;
        if let Some(other) = files.insert(row.file.clone(), row.number) {
            return wrong(format!("rows {other} and {} would both be the file {}", row.number, row.file));
        }
        rows.push(row);
    }
    if rows.is_empty() {
        return wrong("the list has no row".to_owned());
    }
    Ok(List { sha256: hex::encode(Sha256::digest(bytes)), rows })
}

impl Row {
    fn of(number: usize, given: Given) -> Result<Self, WrongUsage> {
        let file = match given.file.as_str() {
            "" => format!("{number:05}-{}", file_name(&words(&given), Some(&given.format))),
            name if is_file_name(name) => name.to_owned(),
            name => return Err(WrongUsage(format!("row {number}: `{name}` is no name for a file in the folder"))),
        };
        Ok(Row { number, image: image(&given), file, given })
    }
}

fn words(given: &Given) -> Vec<&str> {
    let make = if given.make.is_empty() { &given.brand } else { &given.make };
    let words = [make, &given.model, &given.year, &given.view, &given.color];
    words.into_iter().map(String::as_str).filter(|word| !word.is_empty()).collect()
}

/// A plain name: no folder, nothing hidden (the journal is), and not the report's.
fn is_file_name(name: &str) -> bool {
    let is_plain = !name.starts_with('.') && !name.contains(['/', '\\', '\0']) && name.len() <= 200;
    is_plain && name != super::REPORT
}

fn image(given: &Given) -> Result<ImageRequest, String> {
    let text = |value: &String| (!value.is_empty()).then(|| value.clone());
    let number = |name: &str, value: &String| match text(value).map(|value| value.parse()) {
        None => Ok(None),
        Some(Ok(number)) => Ok(Some(number)),
        Some(Err(_)) => Err(format!("`{value}` is no whole number for {name}")),
    };
    Ok(ImageRequest {
        make: text(&given.make),
        brand: text(&given.brand),
        model: given.model.clone(),
        year: number("year", &given.year)?.ok_or("`year` is missing")?,
        view: text(&given.view).map(Into::into),
        color: text(&given.color).map(Into::into),
        width: number("width", &given.width)?,
        height: number("height", &given.height)?,
        size: text(&given.size).map(Into::into),
        format: text(&given.format).map(Into::into),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists() {
        let text = "\u{feff}make,model,year,color,file\nhonda, civic ,2018,red,\n\"Citroën\",C3,2020,,c3.png\nford,focus,soon,,\n";
        let list = read(text.as_bytes()).expect("reads");
        let files: Vec<&str> = list.rows.iter().map(|row| row.file.as_str()).collect();
        assert_eq!(files, ["00001-honda-civic-2018-red.png", "c3.png", "00003-ford-focus-soon.png"]);
        let first = list.rows[0].image.as_ref().expect("a picture");
        assert_eq!(
            (first.model.as_str(), first.year, first.color.as_ref().map(|color| color.as_str())),
            ("civic", 2018, Some("red"))
        );
        assert_eq!(list.rows[2].image, Err("`soon` is no whole number for year".to_owned()));
        assert_eq!((list.rows[2].number, list.sha256.len()), (3, 64));
    }

    #[test]
    fn what_is_no_list_is_refused_by_name() {
        for (text, told) in [
            ("", "make, model and year"),
            ("make,model\na,b\n", "make, model and year"),
            ("make,model,year,paint\n", "`paint`"),
            ("make,model,year\n", "no row"),
            ("make,model,year\na,b\n", "no CSV"),
            ("make,model,year,file\na,b,2000,x.png\na,b,2001,x.png\n", "rows 1 and 2"),
            ("make,model,year,file\na,b,2000,../x\n", "`../x`"),
            ("make,model,year,file\na,b,2000,.batch.jsonl\n", "`.batch.jsonl`"),
            ("make,model,year,file\na,b,2000,report.csv\n", "`report.csv`"),
        ] {
            let refused = read(text.as_bytes()).expect_err(text);
            assert!(refused.to_string().contains(told), "{text:?}: {refused}");
        }
    }
}
