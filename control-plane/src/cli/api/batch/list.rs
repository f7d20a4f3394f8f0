//! Reads the list of a batch: CSV with a heading (see `csv_list`). A file that cannot be a list is
//! refused as a whole before the first request; a wrong value fails only its row.

use super::super::picture::{AUTO, file_name};
use crate::cli::csv_list::{CsvLine, CsvList};
use crate::cli::exit::WrongUsage;
use cyclorama_client::{AskedYear, ImageRequest};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// Maximum size of a list, in bytes. The list is held in memory, and a larger one is more than is
/// sensible for one run.
const BYTES_MAX: usize = 32 << 20;
const ROWS_MAX: usize = 100_000;

/// Columns of the list. The last one names the file for a row's image.
const COLUMNS: [&str; 20] = [
    "make",
    "brand",
    "model",
    "vehicle",
    "year",
    "body",
    "view",
    "color",
    "width",
    "height",
    "size",
    "format",
    "fit",
    "trim",
    "padding",
    "background",
    "shadow",
    "scale",
    "finish",
    "file",
];

/// Name of the report's file in the folder of the images: no image may have this name.
pub const REPORT: &str = "report.csv";

#[derive(Debug)]
pub struct BatchList {
    /// SHA-256 of the list's bytes in lower-case hex: a changed list counts as another list.
    pub sha256: String,
    pub rows: Vec<BatchRow>,
}

#[derive(Debug)]
pub struct BatchRow {
    /// Number of the row, from 1, without the heading.
    pub number: usize,
    /// The values as they are in the list, for the report.
    pub given: GivenRow,
    /// The requested image, or the fault of the row.
    pub image: Result<ImageRequest, String>,
    /// Name of the image's file in the batch's folder.
    pub file: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenRow {
    pub make: String,
    pub brand: String,
    pub model: String,
    pub vehicle: String,
    pub year: String,
    pub body: String,
    pub view: String,
    pub color: String,
    pub width: String,
    pub height: String,
    pub size: String,
    pub format: String,
    pub fit: String,
    pub trim: String,
    pub padding: String,
    pub background: String,
    pub shadow: String,
    pub scale: String,
    pub finish: String,
    pub file: String,
}

impl GivenRow {
    fn of(mut line: CsvLine) -> Self {
        let mut value = |column: &str| line.values.remove(column).unwrap_or_default();
        GivenRow {
            make: value("make"),
            brand: value("brand"),
            model: value("model"),
            vehicle: value("vehicle"),
            year: value("year"),
            body: value("body"),
            view: value("view"),
            color: value("color"),
            width: value("width"),
            height: value("height"),
            size: value("size"),
            format: value("format"),
            fit: value("fit"),
            trim: value("trim"),
            padding: value("padding"),
            background: value("background"),
            shadow: value("shadow"),
            scale: value("scale"),
            finish: value("finish"),
            file: value("file"),
        }
    }
}

impl GivenRow {
    /// Returns the format that names the file. A batch loads images with `auto` without an `Accept`
    /// header: the service then sends png, or jpg on a background.
    fn named_format(&self) -> &str {
        let is_transparent = self.background.is_empty() || self.background.eq_ignore_ascii_case("transparent");
        match (self.format.eq_ignore_ascii_case(AUTO), is_transparent) {
            (true, true) => "png",
            (true, false) => "jpg",
            (false, _) => &self.format,
        }
    }
}

pub fn read(bytes: &[u8]) -> Result<BatchList, WrongUsage> {
    let wrong = |text: String| Err(WrongUsage(text));
    if bytes.len() > BYTES_MAX {
        return wrong(format!("the list is longer than {} MiB: split it", BYTES_MAX >> 20));
    }
    let lines = CsvList::open(bytes, Some(&COLUMNS))?;
    let has_names = (lines.has("make") || lines.has("brand")) && lines.has("model");
    if !(has_names || lines.has("vehicle")) || !lines.has("year") {
        return wrong("the list needs a heading with the columns make, model and year, or vehicle and year".to_owned());
    }
    let mut rows = Vec::new();
    let mut files = BTreeMap::new();
    for (place, line) in lines.lines().enumerate() {
        if place == ROWS_MAX {
            return wrong(format!("the list has more than {ROWS_MAX} rows: split it"));
        }
        let row = BatchRow::of(place + 1, GivenRow::of(line?))?;
        if let Some(other) = files.insert(row.file.clone(), row.number) {
            return wrong(format!("rows {other} and {} would both be written to the file {}", row.number, row.file));
        }
        rows.push(row);
    }
    if rows.is_empty() {
        return wrong("the list has no rows".to_owned());
    }
    Ok(BatchList { sha256: hex::encode(Sha256::digest(bytes)), rows })
}

impl BatchRow {
    fn of(number: usize, given: GivenRow) -> Result<Self, WrongUsage> {
        let file = match given.file.as_str() {
            "" => format!("{number:05}-{}", file_name(&words(&given), Some(given.named_format()))),
            name if is_file_name(name) => name.to_owned(),
            name => return Err(WrongUsage(format!("row {number}: `{name}` is not a valid file name in the folder"))),
        };
        Ok(BatchRow { number, image: image(&given), file, given })
    }
}

fn words(given: &GivenRow) -> Vec<&str> {
    let make = if given.make.is_empty() { &given.brand } else { &given.make };
    let words = [&given.vehicle, make, &given.model, &given.year, &given.body, &given.view, &given.color];
    words.into_iter().map(String::as_str).filter(|word| !word.is_empty()).collect()
}

/// True for a plain name: no folder, not hidden (the journal is), and not the report's.
fn is_file_name(name: &str) -> bool {
    let is_plain = !name.starts_with('.') && !name.contains(['/', '\\', '\0']) && name.len() <= 200;
    is_plain && name != REPORT
}

fn image(given: &GivenRow) -> Result<ImageRequest, String> {
    let text = |value: &String| (!value.is_empty()).then(|| value.clone());
    let number = |name: &str, value: &String| match text(value).map(|value| value.parse()) {
        None => Ok(None),
        Some(Ok(number)) => Ok(Some(number)),
        Some(Err(_)) => Err(format!("{name}: `{value}` is not a whole number")),
    };
    let trim = match given.trim.to_ascii_lowercase().as_str() {
        "" => None,
        "true" => Some(true),
        "false" => Some(false),
        other => return Err(format!("trim: `{other}` is neither `true` nor `false`")),
    };
    let year = match text(&given.year).map(|year| year.to_ascii_lowercase().parse::<AskedYear>()) {
        None => None,
        Some(Ok(year)) => Some(year),
        Some(Err(_)) => return Err(format!("year: `{}` is neither a whole number nor `latest`", given.year)),
    };
    Ok(ImageRequest {
        make: text(&given.make),
        brand: text(&given.brand),
        model: text(&given.model),
        vehicle: text(&given.vehicle),
        year: year.ok_or("`year` is missing")?,
        body: text(&given.body).map(Into::into),
        view: text(&given.view).map(Into::into),
        color: text(&given.color).map(Into::into),
        width: number("width", &given.width)?,
        height: number("height", &given.height)?,
        size: text(&given.size).map(Into::into),
        format: text(&given.format).map(Into::into),
        fit: text(&given.fit).map(Into::into),
        trim,
        padding: number("padding", &given.padding)?,
        background: text(&given.background).map(Into::into),
        shadow: text(&given.shadow).map(Into::into),
        scale: text(&given.scale).map(Into::into),
        finish: text(&given.finish).map(Into::into),
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
            (first.model.as_deref(), first.year, first.color.as_ref().map(|color| color.as_str())),
            (Some("civic"), AskedYear::Year(2018), Some("red"))
        );
        assert_eq!(list.rows[2].image, Err("year: `soon` is neither a whole number nor `latest`".to_owned()));
        assert_eq!((list.rows[2].number, list.sha256.len()), (3, 64));
    }

    #[test]
    fn ids_bodies_and_the_newest_year() {
        let text = "vehicle,make,model,year,body\ncyv_6pjsv5ms8vt4a,,,2015,\n,volkswagen,golf,Latest,estate\n";
        let list = read(text.as_bytes()).expect("reads");
        let files: Vec<&str> = list.rows.iter().map(|row| row.file.as_str()).collect();
        assert_eq!(files, ["00001-cyv-6pjsv5ms8vt4a-2015.png", "00002-volkswagen-golf-latest-estate.png"]);
        let pictures = list.rows.iter().map(|row| row.image.as_ref().expect("a picture"));
        let expected = [
            serde_json::json!({ "vehicle": "cyv_6pjsv5ms8vt4a", "year": 2015 }),
            serde_json::json!({ "make": "volkswagen", "model": "golf", "year": "latest", "body": "estate" }),
        ];
        assert_eq!(pictures.map(|image| serde_json::json!(image)).collect::<Vec<_>>(), expected);
        assert!(read("vehicle,year\ncyv_6pjsv5ms8vt4a,2015\n".as_bytes()).is_ok(), "an id and a year are enough");
    }

    #[test]
    fn frames_and_paints() {
        let text = "make,model,year,color,finish,format,fit,width,height,trim,padding,background,shadow,scale\n\
                    ford,focus,2018,#1F4E8C,matt,auto,contain,300,200,TRUE,5,f4f4f2,off,true\n\
                    ford,focus,2018,red,,auto,,,,false,,,,\n\
                    ford,focus,2018,red,,avif,,,,yes,,,,\n";
        let list = read(text.as_bytes()).expect("reads");
        let files: Vec<&str> = list.rows.iter().map(|row| row.file.as_str()).collect();
        let expected =
            ["00001-ford-focus-2018--1f4e8c.jpg", "00002-ford-focus-2018-red.png", "00003-ford-focus-2018-red.avif"];
        assert_eq!(files, expected);
        let first = serde_json::to_value(list.rows[0].image.as_ref().expect("a picture")).expect("is JSON");
        let expected = serde_json::json!({
            "make": "ford", "model": "focus", "year": 2018, "color": "#1F4E8C", "finish": "matt", "format": "auto", "fit": "contain",
            "width": 300, "height": 200, "trim": true, "padding": 5, "background": "f4f4f2", "shadow": "off", "scale": "true",
        });
        assert_eq!(first, expected);
        assert_eq!(list.rows[1].image.as_ref().map(|image| image.trim), Ok(Some(false)));
        assert_eq!(list.rows[2].image, Err("trim: `yes` is neither `true` nor `false`".to_owned()));
    }

    #[test]
    fn what_is_no_list_is_refused_by_name() {
        for (text, message) in [
            ("", "make, model and year"),
            ("make,model\na,b\n", "make, model and year"),
            ("make,model,year,paint\n", "`paint`"),
            ("make,model,year\n", "no row"),
            ("make,model,year\na,b\n", "not valid CSV"),
            ("make,model,year,file\na,b,2000,x.png\na,b,2001,x.png\n", "rows 1 and 2"),
            ("make,model,year,file\na,b,2000,../x\n", "`../x`"),
            ("make,model,year,file\na,b,2000,.batch.jsonl\n", "`.batch.jsonl`"),
            ("make,model,year,file\na,b,2000,report.csv\n", "`report.csv`"),
        ] {
            let refused = read(text.as_bytes()).expect_err(text);
            assert!(refused.to_string().contains(message), "{text:?}: {refused}");
        }
    }
}
