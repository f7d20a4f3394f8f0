//! `cyclorama prewarm ...`

use super::client::{Client, segment};
use super::csv_list::{CsvList, bytes_of};
use super::exit::WrongUsage;
use crate::prewarm::Request;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Map, Value, json};
use std::path::PathBuf;
use std::time::Duration;

const WATCH: Duration = Duration::from_secs(2);

#[derive(Debug, clap::Subcommand)]
pub enum Prewarm {
    /// What a batch would come to: cached and cold, minutes, dollars. Nothing is queued
    Plan {
        #[command(flatten)]
        what: What,
    },
    /// Render a batch, behind everybody who waits and inside a share of the day's budget, over as many days as that takes
    Start {
        #[command(flatten)]
        what: What,
        /// What the batch is called
        #[arg(long)]
        name: Option<String>,
        /// Cold renders are queued while less than this share of the day's budget is spent, by whoever
        #[arg(long, value_parser = clap::value_parser!(u8).range(1..=100))]
        budget_percent: Option<u8>,
    },
    /// How far batches are: the latest, or one
    Status {
        batch_id: Option<String>,
        /// Show it until it is over, with a progress bar
        #[arg(long, requires = "batch_id")]
        watch: bool,
    },
    /// What is queued is still made, nothing follows it
    Pause { batch_id: String },
    /// Go on
    Resume { batch_id: String },
    /// Stop for good; what is queued is still made
    Cancel { batch_id: String },
    /// What became of each row
    Report {
        batch_id: String,
        /// Only rows of this state: waiting, queued, done, failed
        #[arg(long)]
        state: Option<String>,
    },
}

#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
pub struct What {
    /// CSV with a heading (make, model, years, views, colors) or JSON lines with these members; `-` for standard input as CSV
    #[arg(long, value_name = "FILE")]
    list: Option<PathBuf>,
    /// As `make=toyota years=2015..2024 views=all colors=white,black,silver`
    #[arg(value_name = "NAME=VALUE", num_args = 1..)]
    query: Vec<String>,
}

impl What {
    fn requests(&self) -> anyhow::Result<Vec<Request>> {
        match &self.list {
            None => Ok(vec![query(&self.query)?]),
            Some(path) => {
                let bytes = bytes_of(path)?;
                let is_json = path.extension().is_some_and(|extension| extension == "jsonl" || extension == "ndjson");
                if is_json { json_lines(&bytes) } else { csv_lines(&bytes) }
            }
        }
    }
}

fn query(words: &[String]) -> anyhow::Result<Request> {
    let mut members = Map::new();
    for word in words {
        let Some((name, value)) = word.split_once('=') else {
            return Err(WrongUsage(format!("`{word}` is not NAME=VALUE")).into());
        };
        members.insert(name.to_owned(), value.into());
    }
    Ok(request(members, || "the query".to_owned())?)
}

fn json_lines(bytes: &[u8]) -> anyhow::Result<Vec<Request>> {
    let text = std::str::from_utf8(bytes).map_err(|_| WrongUsage("the list is not UTF-8".to_owned()))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let requests = lines.map(|(place, line)| {
        serde_json::from_str(line).map_err(|cause| WrongUsage(format!("line {}: {cause}", place + 1)))
    });
    Ok(requests.collect::<Result<_, _>>()?)
}

/// Lists inside of a field are separated by commas (in quotes where commas separate fields) or spaces.
fn csv_lines(bytes: &[u8]) -> anyhow::Result<Vec<Request>> {
    let mut requests = Vec::new();
    // Other columns are refused with their line, as other members of JSON are.
    let list = CsvList::open(bytes, None)?;
    let separator = list.separator();
    for line in list.lines() {
        let line = line?;
        let members = line.values.into_iter().map(|(name, value)| {
            let is_list = matches!(&*name, "years" | "views" | "colors");
            let value = if is_list { value.split_whitespace().collect::<Vec<_>>().join(",") } else { value };
            (name, value.replace(",,", ",").into())
        });
        requests.push(request(members.collect(), || format!("line {} (separated by {separator})", line.number))?);
    }
    Ok(requests)
}

/// `place` says where its members stand.
fn request(members: Map<String, Value>, place: impl FnOnce() -> String) -> Result<Request, WrongUsage> {
    serde_json::from_value(members.into()).map_err(|cause| WrongUsage(format!("{}: {cause}", place())))
}

impl Prewarm {
    pub async fn run(self, client: &Client) -> anyhow::Result<Value> {
        let batch = |batch_id: &str| format!("/admin/prewarm/batches/{}", segment(batch_id));
        match self {
            Prewarm::Plan { what } => client.ask("/admin/prewarm/plan", json!({ "requests": what.requests()? })).await,
            Prewarm::Start { what, name, budget_percent } => {
                let mut body = json!({ "requests": what.requests()? });
                if let Some(name) = name {
                    body["name"] = name.into();
                }
                if let Some(percent) = budget_percent {
                    body["budget_percent"] = percent.into();
                }
                client.post("/admin/prewarm/batches", body).await
            }
            Prewarm::Status { batch_id: None, .. } => client.get("/admin/prewarm/batches").await,
            Prewarm::Status { batch_id: Some(batch_id), watch: false } => client.get(&batch(&batch_id)).await,
            Prewarm::Status { batch_id: Some(batch_id), watch: true } => watch(client, &batch(&batch_id)).await,
            Prewarm::Pause { batch_id } => client.post(&format!("{}/pause", batch(&batch_id)), json!({})).await,
            Prewarm::Resume { batch_id } => client.post(&format!("{}/resume", batch(&batch_id)), json!({})).await,
            Prewarm::Cancel { batch_id } => client.post(&format!("{}/cancel", batch(&batch_id)), json!({})).await,
            Prewarm::Report { batch_id, state } => report(client, &batch(&batch_id), state.as_deref()).await,
        }
    }
}

/// On standard error, until the batch is over.
async fn watch(client: &Client, path: &str) -> anyhow::Result<Value> {
    let bar = ProgressBar::new(0);
    let style = ProgressStyle::with_template("{msg} {bar:40} {pos} of {len}, {eta} left")?;
    bar.set_style(style);
    loop {
        let batch = client.get(path).await?;
        let number = |name: &str| batch[name].as_u64().unwrap_or_default();
        bar.set_length(number("rows"));
        bar.set_position(number("done") + number("failed"));
        bar.set_message(batch["name"].as_str().unwrap_or_default().to_owned());
        if matches!(batch["state"].as_str(), Some("done" | "cancelled")) {
            bar.finish_and_clear();
            return Ok(batch);
        }
        tokio::time::sleep(WATCH).await;
    }
}

async fn report(client: &Client, path: &str, state: Option<&str>) -> anyhow::Result<Value> {
    let (mut rows, mut after) = (Vec::new(), -1);
    loop {
        let mut page = client.get(&format!("{path}/rows?after={after}")).await?;
        let next = page["next_after"].as_i64();
        if let Some(more) = page["rows"].as_array_mut() {
            rows.extend(more.drain(..).filter(|row| state.is_none_or(|state| row["state"] == state)));
        }
        match next {
            Some(next) => after = next,
            None => return Ok(json!({ "rows": rows })),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_queries_are_the_same_requests() {
        let toyota = Request {
            make: "toyota".to_owned(),
            years: Some("2015..2024".to_owned()),
            views: Some("all".to_owned()),
            colors: Some("white,black".to_owned()),
            ..Request::default()
        };
        let words = ["make=toyota", "years=2015..2024", "views=all", "colors=white,black"].map(str::to_owned);
        assert_eq!(query(&words).unwrap(), toyota);
        let csv = "make,model,years,views,colors\ntoyota,,2015..2024,all,\"white,black\"\ntoyota,,2015..2024,all,white black\n";
        assert_eq!(csv_lines(csv.as_bytes()).unwrap(), [toyota.clone(), toyota.clone()]);
        let lines = "{\"make\":\"toyota\",\"years\":\"2015..2024\",\"views\":\"all\",\"colors\":\"white,black\"}\n\n";
        assert_eq!(json_lines(lines.as_bytes()).unwrap(), std::slice::from_ref(&toyota));
        let german = "\u{feff}Make;Model;Years;Views;Colors\r\ntoyota;;2015..2024;all;white,black\r\n";
        assert_eq!(csv_lines(german.as_bytes()).unwrap(), [toyota]);
        for (text, says) in [("make,colour\nbmw,red\n", "`colour`"), ("model\nx3\n", "line 2")] {
            assert!(format!("{:#}", csv_lines(text.as_bytes()).unwrap_err()).contains(says), "{text}");
        }
        assert!(query(&["toyota".to_owned()]).is_err());
    }
}
