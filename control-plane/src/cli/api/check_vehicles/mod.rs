//! `cyclorama check`: checks which vehicles of a list are in the catalog. Free. The command may be
//! killed at any moment and started again: rows that its answer has are not requested again (see
//! `output`). Only a few blocks of the list are held in memory, whatever its length.

mod list;
mod output;
mod sums;

use crate::cli::api::service::ServiceArguments;
use crate::cli::exit::WrongUsage;
use crate::cli::print;
use anyhow::bail;
use cyclorama_client::Client;
use cyclorama_client::types::{CheckRow, CheckedVehicle};
use futures::StreamExt;
use indicatif::{ProgressBar, ProgressStyle};
use list::{CheckList, CheckListRow};
use output::Output;
use serde_json::json;
use std::path::{Path, PathBuf};
use sums::StatusCounts;

/// The name of standard input, or standard output.
const STANDARD: &str = "-";

#[derive(Debug, clap::Args)]
pub struct CheckArguments {
    /// CSV list with a heading; `-` reads standard input. Columns: make, model, year, body, vin,
    /// vehicle (a permanent id), query (any words)
    #[arg(value_name = "LIST")]
    list: PathBuf,
    /// CSV file for the result; an existing result is continued; `-` writes to standard output
    /// [default: LIST.checked.csv]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Other columns of the list to copy into the result, separated by commas
    #[arg(long, value_delimiter = ',', value_name = "COLUMNS")]
    keep: Vec<String>,
    /// Number of requests, of 100 rows each, at the same time
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=2), value_name = "REQUESTS")]
    concurrency: u8,
    #[command(flatten)]
    service: ServiceArguments,
}

impl CheckArguments {
    pub async fn run(self, as_json: bool) -> anyhow::Result<()> {
        let mut list = CheckList::open(&self.list, &self.keep)?;
        let client = self.service.client()?;
        let (mut sums, path) = (StatusCounts::default(), self.output_path());
        let mut output = match path == Path::new(STANDARD) {
            true => Output::standard(&list)?,
            false => Output::open(&path, &mut list, &mut sums)?,
        };
        let known = sums.rows();

        let bar = progress(list.bytes, as_json);
        let blocks = futures::stream::iter(std::iter::from_fn(|| {
            let block = list.next_block();
            let is_over = block.as_ref().is_ok_and(Vec::is_empty);
            bar.set_position(list.position());
            (!is_over).then_some(block)
        }));
        let client = &client;
        let request = blocks.map(|block| async move {
            let rows = block?;
            let answers = ask(client, &rows).await?;
            Ok::<_, anyhow::Error>((rows, answers))
        });
        // The blocks stay in the order of the list: the answer is the list with more columns.
        let mut request = std::pin::pin!(request.buffered(self.concurrency.into()));
        let mut stopped = None;
        while let Some(block) = request.next().await {
            let (rows, answers) = match block {
                Ok(block) => block,
                Err(error) => {
                    stopped = Some(error);
                    break;
                }
            };
            output.write(&rows, &answers)?;
            for answer in &answers {
                if !sums.count(&answer.status) {
                    bail!("the service returned the status `{}`, which this program does not know", answer.status);
                }
            }
            bar.set_message(print::count(sums.rows(), "row"));
        }
        bar.finish_and_clear();
        if sums.rows() == 0 && stopped.is_none() {
            return Err(WrongUsage("the list has no rows".to_owned()).into());
        }
        tell(&sums, known, &path, as_json)?;
        match stopped {
            Some(error) => Err(error.context(format!(
                "stopped after {}; run the same command again to continue",
                print::count(sums.rows(), "row")
            ))),
            None => Ok(()),
        }
    }

    /// Returns the path of the answer, by default beside the list: `cars.csv` becomes
    /// `cars.checked.csv`.
    fn output_path(&self) -> PathBuf {
        match &self.output {
            Some(path) => path.clone(),
            None if self.list == Path::new(STANDARD) => STANDARD.into(),
            None => self.list.with_extension("checked.csv"),
        }
    }
}

/// Returns the service's result for each row; for a row that cannot be requested, the reason.
async fn ask(client: &Client, rows: &[CheckListRow]) -> anyhow::Result<Vec<CheckedVehicle>> {
    let request: Vec<CheckRow> = rows.iter().filter_map(|row| row.request.as_ref().ok()).cloned().collect();
    let answers = match request.is_empty() {
        true => Vec::new(),
        false => client.check_vehicles(&request).await?.data.vehicles,
    };
    if answers.len() != request.len() {
        bail!("the service returned {} of {}", print::count(answers.len(), "row"), request.len());
    }
    let mut answers = answers.into_iter();
    let all = rows.iter().filter_map(|row| match row.request {
        Ok(_) => answers.next(),
        Err(reason) => Some(invalid(reason)),
    });
    Ok(all.collect())
}

fn invalid(reason: &str) -> CheckedVehicle {
    CheckedVehicle {
        index: 0,
        status: "invalid".to_owned(),
        vehicle_id: None,
        make: None,
        model: None,
        year: None,
        body: None,
        likeness: None,
        reason: Some(reason.to_owned()),
        stored: None,
        decoded: None,
        vin_suggestion: None,
    }
}

/// Returns a progress bar on standard error, which is shown only on a terminal. If the length of
/// the list is not known, it shows only the number of rows.
fn progress(bytes: u64, as_json: bool) -> ProgressBar {
    let bar = match (as_json, bytes) {
        (true, _) => ProgressBar::hidden(),
        (false, 0) => ProgressBar::new_spinner(),
        (false, bytes) => ProgressBar::new(bytes),
    };
    let template = if bytes == 0 { "{spinner} {msg}" } else { "{bar:32} {percent} %, {msg}, {eta} left" };
    let style = ProgressStyle::with_template(template);
    style.map(|style| bar.clone().with_style(style)).unwrap_or(bar)
}

/// Prints the sums for people or programs. `known` is the number of rows
/// that an earlier run has answered.
fn tell(sums: &StatusCounts, known: u64, path: &Path, as_json: bool) -> anyhow::Result<()> {
    let StatusCounts { matches, suggestions, misses, invalid } = sums;
    let is_taken = path == Path::new(STANDARD);
    if as_json {
        let answer = json!({
            "rows": sums.rows(), "matches": matches, "suggestions": suggestions, "misses": misses, "invalid": invalid,
            "asked": sums.rows() - known, "output": path.to_string_lossy(),
        });
        if is_taken {
            print::note(answer);
            return Ok(());
        }
        return Ok(print::answer(&answer, true)?);
    }
    let matches = match matches {
        1 => "1 match".to_owned(),
        matches => format!("{matches} matches"),
    };
    let misses = match misses {
        1 => "1 miss".to_owned(),
        misses => format!("{misses} misses"),
    };
    let (rows, suggestions) = (print::count(sums.rows(), "row"), print::count(*suggestions, "suggestion"));
    let message = format!("{rows}: {matches}, {suggestions}, {misses}, {invalid} invalid");
    if is_taken {
        print::note(message);
        return Ok(());
    }
    Ok(print::line(format_args!("{message}; see {}", path.display()))?)
}
