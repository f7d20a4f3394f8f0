//! The results of a batch: `report.csv` with a line for each row, and its sums.

use super::list::BatchRow;
use super::row::BatchRowOutcome;
use crate::cli::csv_list::harmless;
use anyhow::Context;
use serde_json::{Value, json};
use std::path::Path;

const HEADING: [&str; 13] = [
    "row",
    "make",
    "model",
    "year",
    "view",
    "color",
    "status",
    "file",
    "code",
    "detail",
    "request_id",
    "vehicle",
    "body",
];

/// The line of one row.
pub struct ReportLine<'a> {
    row: &'a BatchRow,
    /// done, failed, lost, later or waiting.
    pub status: &'static str,
    pub code: String,
    pub detail: String,
    request_id: String,
}

impl<'a> ReportLine<'a> {
    pub fn of(row: &'a BatchRow, outcome: &BatchRowOutcome) -> Self {
        let line = |status, code: &str, detail: &str, request_id: &str| ReportLine {
            row,
            status,
            code: code.to_owned(),
            detail: detail.to_owned(),
            request_id: request_id.to_owned(),
        };
        match outcome {
            BatchRowOutcome::Done { request_id } => line("done", "", "", request_id),
            BatchRowOutcome::Failed { code, detail, request_id } => line("failed", code, detail, request_id),
            BatchRowOutcome::Lost { code, detail } => line("lost", code, detail, ""),
            BatchRowOutcome::NotNow(error) => {
                line("later", error.code(), error.detail(), error.request_id().unwrap_or_default())
            }
            BatchRowOutcome::Stopped(error) => {
                line("waiting", error.code(), error.detail(), error.request_id().unwrap_or_default())
            }
            BatchRowOutcome::Waiting => line("waiting", "", "", ""),
            BatchRowOutcome::Broken(error) => line("failed", "failed", &format!("{error:#}"), ""),
        }
    }

    pub fn number(&self) -> usize {
        self.row.number
    }

    pub fn document(&self) -> Value {
        json!({
            "row": self.row.number, "status": self.status, "file": self.row.file, "code": self.code, "detail": self.detail,
        })
    }
}

/// Writes the report as CSV (RFC 4180), into a file beside it that is renamed at the end.
pub fn write(path: &Path, lines: &[ReportLine<'_>]) -> anyhow::Result<()> {
    let write = || -> anyhow::Result<()> {
        let beside = path.with_extension("csv.part");
        let mut writer = csv::Writer::from_path(&beside)?;
        writer.write_record(HEADING)?;
        for line in lines {
            let (given, number) = (&line.row.given, line.row.number.to_string());
            let make = if given.make.is_empty() { &given.brand } else { &given.make };
            let file = if line.status == "done" { &*line.row.file } else { "" };
            let texts = [
                make,
                &given.model,
                &given.year,
                &given.view,
                &given.color,
                line.status,
                file,
                &line.code,
                &line.detail,
            ];
            let added = [line.request_id.clone(), harmless(&given.vehicle), harmless(&given.body)];
            writer.write_record(std::iter::once(number).chain(texts.map(harmless)).chain(added))?;
        }
        writer.flush()?;
        Ok(std::fs::rename(&beside, path)?)
    };
    write().with_context(|| format!("the report {} cannot be written", path.display()))
}
