//! `cyclorama batch`: saves the images of a list into a folder. The command may be killed at any
//! moment and started again: files that exist are left alone, images that were paid for are loaded,
//! and nothing is paid for twice (see `journal`).

mod journal;
mod list;
mod report;
mod row;

use crate::cli::api::service::ServiceArguments;
use crate::cli::csv_list::bytes_of;
use crate::cli::exit::{UnfinishedBatch, UnfinishedReason};
use crate::cli::print::{self, UnprintedOutput};
use crate::clock::Clock;
use anyhow::Context;
use cyclorama_client::{Error, ErrorKind};
use futures::StreamExt;
use indicatif::{ProgressBar, ProgressStyle};
use journal::Journal;
use list::REPORT;
use report::ReportLine;
use row::{Balance, BatchRowOutcome, Worker};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

const JOURNAL: &str = ".batch.jsonl";
/// Number of consecutive rows that the service may fail to handle. After that the service counts as
/// down, and the remaining rows wait for another run.
const NOT_NOW_MAX: usize = 8;

#[derive(Debug, clap::Args)]
pub struct BatchArguments {
    /// CSV list with a heading; `-` reads standard input. Required columns: make and model (or
    /// vehicle, a permanent id) and year (a year or latest). Optional columns: body, view, color,
    /// finish, width, height, size, format, fit, trim, padding, background, shadow, scale, file
    #[arg(value_name = "LIST")]
    list: PathBuf,
    /// Folder for the images, report.csv and the journal from which a batch resumes
    #[arg(long, short, value_name = "FOLDER")]
    output: PathBuf,
    /// Number of rows that are processed at the same time
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=32), value_name = "ROWS")]
    concurrency: u8,
    /// Pay again for rows whose image was charged, or may have been charged, and is lost
    #[arg(long)]
    spend_again: bool,
    #[command(flatten)]
    service: ServiceArguments,
}

impl BatchArguments {
    pub async fn run(self, as_json: bool) -> anyhow::Result<()> {
        let list = list::read(&bytes_of(&self.list)?)?;
        let (address, client) = (self.service.address()?, self.service.client()?);
        std::fs::create_dir_all(&self.output)
            .with_context(|| format!("the folder {} cannot be created", self.output.display()))?;
        let journal = Journal::open(&self.output.join(JOURNAL), &list.sha256, &address)?;
        let worker = Worker {
            client: &client,
            journal: &journal,
            folder: &self.output,
            now: || Clock::SYSTEM.now().0 / 1000,
            spend_again: self.spend_again,
        };

        let bar = progress(list.rows.len(), as_json);
        let (balance, is_stopped, not_now) = (Balance::new(-1), AtomicBool::new(false), AtomicUsize::new(0));
        let (worker, balance, is_stopped, not_now, bar) = (&worker, &balance, &is_stopped, &not_now, &bar);
        let rows = futures::stream::iter(&list.rows).map(|row| async move {
            if is_stopped.load(Ordering::Relaxed) {
                return (row, BatchRowOutcome::Waiting);
            }
            let outcome = worker.work(row, balance).await;
            let is_over = match outcome {
                BatchRowOutcome::Stopped(_) => true,
                BatchRowOutcome::NotNow(_) => not_now.fetch_add(1, Ordering::Relaxed) + 1 >= NOT_NOW_MAX,
                _ => {
                    not_now.store(0, Ordering::Relaxed);
                    false
                }
            };
            is_stopped.fetch_or(is_over, Ordering::Relaxed);
            bar.inc(1);
            (row, outcome)
        });
        let mut outcomes: Vec<_> = rows.buffer_unordered(self.concurrency.into()).collect().await;
        outcomes.sort_by_key(|(row, _)| row.number);
        bar.finish_and_clear();

        let lines: Vec<ReportLine<'_>> = outcomes.iter().map(|(row, outcome)| ReportLine::of(row, outcome)).collect();
        report::write(&self.output.join(REPORT), &lines)?;
        let stopped = outcomes.iter().find_map(|(_, outcome)| match outcome {
            BatchRowOutcome::Stopped(error) => Some(error),
            _ => None,
        });
        tell(&self.output, &lines, stopped, balance.load(Ordering::Relaxed), as_json)
    }
}

/// Returns a progress bar on standard error, which is shown only on a terminal.
fn progress(rows: usize, as_json: bool) -> ProgressBar {
    let bar = if as_json { ProgressBar::hidden() } else { ProgressBar::new(rows as u64) };
    let style = ProgressStyle::with_template("{bar:32} {pos} of {len}, {eta} left");
    style.map(|style| bar.clone().with_style(style)).unwrap_or(bar)
}

/// Prints the sums for people or programs. Returns an error unless every row is done.
fn tell(
    folder: &Path,
    lines: &[ReportLine<'_>],
    stopped: Option<&Error>,
    balance: i64,
    as_json: bool,
) -> anyhow::Result<()> {
    let number = |status: &str| lines.iter().filter(|line| line.status == status).count();
    let [done, failed, lost, later, waiting] = ["done", "failed", "lost", "later", "waiting"].map(number);
    let report = folder.join(REPORT);
    let not_done: Vec<&ReportLine<'_>> =
        lines.iter().filter(|line| matches!(line.status, "failed" | "lost" | "later")).collect();
    let unseen = |cause| UnprintedOutput { what: format!("the result of each row is in {}", report.display()), cause };
    let balance = stopped.and_then(Error::balance).or((balance >= 0).then_some(balance));
    if as_json {
        let answer = json!({
            "rows": lines.len(), "done": done, "failed": failed, "lost": lost, "later": later, "waiting": waiting,
            "credits_remaining": balance, "stopped": stopped.map(Error::code), "report": report.to_string_lossy(),
            "not_done": not_done.iter().map(|line| line.document()).collect::<Vec<_>>(),
        });
        print::answer(&answer, true).map_err(unseen)?;
    } else {
        const NAMED_MAX: usize = 20;
        for line in not_done.iter().take(NAMED_MAX) {
            print::note(format_args!("row {}: {} ({})", line.number(), line.detail, line.code));
        }
        if not_done.len() > NAMED_MAX {
            print::note(format_args!("and {} more, see {}", not_done.len() - NAMED_MAX, report.display()));
        }
        let left = balance.map_or_else(String::new, |balance| format!(", {} left", print::count(balance, "credit")));
        let are = if lines.len() == 1 { "is" } else { "are" };
        let (pictures, folder) = (print::count(lines.len(), "image"), folder.display());
        print::line(format_args!("{done} of {pictures} {are} in {folder}{left}")).map_err(unseen)?;
    }
    let (why, message) = match stopped {
        Some(error) if error.kind() == ErrorKind::InsufficientCredits => {
            let rest = "run the same command again when there are more credits";
            (
                UnfinishedReason::NoCredits,
                format!("stopped with {} left: {}; {rest}", print::count(waiting, "row"), error.detail()),
            )
        }
        Some(error) => (
            UnfinishedReason::KeyRefused,
            format!("stopped with {} left: {}", print::count(waiting, "row"), error.detail()),
        ),
        None if later + waiting > 0 => (
            UnfinishedReason::NotNow,
            format!("{} left for later: run the same command again", print::count(later + waiting, "row")),
        ),
        None if failed + lost > 0 => {
            (UnfinishedReason::RowsFailed, format!("{} failed", print::count(failed + lost, "row")))
        }
        None => return Ok(()),
    };
    Err(UnfinishedBatch { message, why }.into())
}
