//! `cyclorama prewarm ...`: batches of images that are rendered in advance, for operators.

use super::client::{OperatorClient, segment};
use super::csv_list::{CsvList, bytes_of};
use super::exit::WrongUsage;
use crate::prewarm::Request;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

const WATCH: Duration = Duration::from_secs(2);

#[derive(Debug, clap::Subcommand)]
pub enum Prewarm {
    /// Estimate a batch without starting it: number of existing images and of cold renders, minutes
    /// and US dollars
    Plan {
        #[command(flatten)]
        what: What,
    },
    /// Start a batch: its images are rendered behind all requests that wait, within a percentage of
    /// the daily budget, over as many days as that takes
    Start {
        #[command(flatten)]
        what: What,
        /// Name of the batch
        #[arg(long)]
        name: Option<String>,
        /// Queue cold renders only while less than this percentage of the daily budget is reserved
        /// and spent, by all requests together; default: 50
        #[arg(long, value_parser = clap::value_parser!(u8).range(1..=100))]
        budget_percent: Option<u8>,
    },
    /// Show the progress of the latest batches, or of one batch
    Status {
        /// Id of the batch; default: the latest batches
        batch_id: Option<String>,
        /// Show a progress bar until the batch ends
        #[arg(long, requires = "batch_id")]
        watch: bool,
    },
    /// Pause a batch; jobs that are queued are still rendered
    Pause {
        /// Id of the batch, from `cyclorama prewarm status`
        batch_id: String,
    },
    /// Resume a paused batch
    Resume {
        /// Id of the batch, from `cyclorama prewarm status`
        batch_id: String,
    },
    /// Stop a batch for good; jobs that are queued are still rendered
    Cancel {
        /// Id of the batch, from `cyclorama prewarm status`
        batch_id: String,
    },
    /// Show the result of each row
    Report {
        /// Id of the batch, from `cyclorama prewarm status`
        batch_id: String,
        /// Only rows in this state: waiting, queued, done or failed
        #[arg(long)]
        state: Option<String>,
    },
}

#[derive(Debug, clap::Args)]
pub struct What {
    #[command(flatten)]
    given: PrewarmListArguments,
    /// Also render the vehicles that `cyclorama check` suggests in its result
    #[arg(long, requires = "list")]
    suggestions: bool,
}

#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
struct PrewarmListArguments {
    /// CSV list with a heading (make and model, or vehicle; body, years, views, colors), a result
    /// of `cyclorama check`, or JSON lines with these members; `-` reads CSV from standard input
    #[arg(long, value_name = "FILE")]
    list: Option<PathBuf>,
    /// Vehicles, such as `make=toyota years=2015..2024 views=all colors=white,black,silver`
    #[arg(value_name = "NAME=VALUE", num_args = 1..)]
    query: Vec<String>,
}

impl What {
    fn requests(&self) -> anyhow::Result<Vec<Request>> {
        match &self.given.list {
            None => Ok(vec![query(&self.given.query)?]),
            Some(path) => Ok(self.listed(path, &bytes_of(path)?)?),
        }
    }

    fn listed(&self, path: &Path, bytes: &[u8]) -> Result<Vec<Request>, WrongUsage> {
        let is_json = path.extension().is_some_and(|extension| extension == "jsonl" || extension == "ndjson");
        let list = if is_json { None } else { Some(CsvList::open(bytes, None)?) };
        match list {
            Some(list) if list.has("status") && list.has("vehicle_id") => checked_lines(list, self.suggestions),
            _ if self.suggestions => {
                Err(WrongUsage("--suggestions needs a list that is a result of `cyclorama check`".to_owned()))
            }
            Some(list) => csv_lines(list),
            None => json_lines(bytes),
        }
    }
}

/// Returns the vehicles of a list that was checked: those that the catalog has, and with
/// `with_suggestions` those that were suggested. The years of one vehicle become one request,
/// because a list may name a vehicle thousands of times.
fn checked_lines(list: CsvList<'_>, with_suggestions: bool) -> Result<Vec<Request>, WrongUsage> {
    let mut requests: Vec<(Request, BTreeSet<u16>)> = Vec::new();
    let mut places = BTreeMap::new();
    for line in list.lines() {
        let mut line = line?;
        let number = line.number;
        let wrong = |what: &str| WrongUsage(format!("line {number} of the checked list {what}"));
        match line.values.get("status").map(String::as_str) {
            Some("match") => {}
            Some("suggestion") if with_suggestions => {}
            Some("suggestion" | "miss" | "invalid") => continue,
            _ => return Err(wrong("has no known status of `cyclorama check`")),
        }
        let year = line.values.get("found_year").and_then(|year| year.parse().ok());
        let year: u16 = year.ok_or_else(|| wrong("has no found_year"))?;
        let vehicle = line.values.remove("vehicle_id").ok_or_else(|| wrong("has no vehicle_id"))?;
        let mut names = |column: &str| line.values.remove(column).map(|value| separated(&value));
        let request =
            Request { vehicle: Some(vehicle), views: names("views"), colors: names("colors"), ..Request::default() };
        let own = (request.vehicle.clone(), request.views.clone(), request.colors.clone());
        let place = *places.entry(own).or_insert(requests.len());
        if place == requests.len() {
            requests.push((request, BTreeSet::new()));
        }
        requests[place].1.insert(year);
    }
    if requests.is_empty() {
        return Err(WrongUsage("no row of the checked list is a vehicle of the catalog".to_owned()));
    }
    let requests = requests.into_iter().map(|(request, years)| {
        let years = years.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
        Request { years: Some(years), ..request }
    });
    Ok(requests.collect())
}

fn query(words: &[String]) -> anyhow::Result<Request> {
    let mut members = Map::new();
    for word in words {
        let Some((name, value)) = word.split_once('=') else {
            return Err(WrongUsage(format!("`{word}` is not of the form NAME=VALUE")).into());
        };
        members.insert(name.to_owned(), value.into());
    }
    Ok(request(members, || "the query".to_owned())?)
}

fn json_lines(bytes: &[u8]) -> Result<Vec<Request>, WrongUsage> {
    let text = std::str::from_utf8(bytes).map_err(|_| WrongUsage("the list is not UTF-8".to_owned()))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let requests = lines.map(|(place, line)| {
        let named = || format!("line {}", place + 1);
        request(serde_json::from_str(line).map_err(|cause| WrongUsage(format!("{}: {cause}", named())))?, named)
    });
    requests.collect()
}

/// Returns the requests of a CSV list. Lists within a field are separated by commas (in quotes
/// where commas separate fields) or spaces.
fn csv_lines(list: CsvList<'_>) -> Result<Vec<Request>, WrongUsage> {
    let mut requests = Vec::new();
    // Other columns are refused with their line number, as other members of JSON are.
    let separator = list.separator();
    for line in list.lines() {
        let line = line?;
        let members = line.values.into_iter().map(|(name, value)| {
            let is_list = matches!(&*name, "years" | "views" | "colors");
            let value = if is_list { separated(&value) } else { value };
            (name, value.into())
        });
        requests.push(request(members.collect(), || format!("line {} (separated by {separator})", line.number))?);
    }
    Ok(requests)
}

/// Returns the names separated by single commas.
fn separated(names: &str) -> String {
    names.split_whitespace().collect::<Vec<_>>().join(",").replace(",,", ",")
}

/// Reads a request from its members. `place` returns their place in the input, for errors.
fn request(members: Map<String, Value>, place: impl Fn() -> String) -> Result<Request, WrongUsage> {
    let request: Request =
        serde_json::from_value(members.into()).map_err(|cause| WrongUsage(format!("{}: {cause}", place())))?;
    match request.make.is_none() && request.vehicle.is_none() {
        true => Err(WrongUsage(format!("{}: `make` or `vehicle` is missing", place()))),
        false => Ok(request),
    }
}

impl Prewarm {
    pub async fn run(self, client: &OperatorClient) -> anyhow::Result<Value> {
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

/// Shows a progress bar on standard error until the batch is over.
async fn watch(client: &OperatorClient, path: &str) -> anyhow::Result<Value> {
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

async fn report(client: &OperatorClient, path: &str, state: Option<&str>) -> anyhow::Result<Value> {
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
            make: Some("toyota".to_owned()),
            years: Some("2015..2024".to_owned()),
            views: Some("all".to_owned()),
            colors: Some("white,black".to_owned()),
            ..Request::default()
        };
        let csv_lines = |bytes| csv_lines(CsvList::open(bytes, None)?);
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

    #[test]
    fn what_a_check_has_found_are_requests() {
        let text = "make;stock;status;vehicle_id;found_make;found_year;reason\nVW;1;match;cyv_a;volkswagen;2015;\n\
                    VW;2;suggestion;cyv_b;volkswagen;2016;no\nx;3;miss;;;;none\nVW;4;match;cyv_a;volkswagen;2014;\n;5;invalid;;;;no\n";
        let listed = |text: &str, suggestions: bool| {
            let given = PrewarmListArguments { list: None, query: Vec::new() };
            What { given, suggestions }.listed(Path::new("-"), text.as_bytes())
        };
        let of = |vehicle: &str, years: &str| Request {
            vehicle: Some(vehicle.to_owned()),
            years: Some(years.to_owned()),
            ..Request::default()
        };
        assert_eq!(listed(text, false).unwrap(), [of("cyv_a", "2014,2015")]);
        assert_eq!(listed(text, true).unwrap(), [of("cyv_a", "2014,2015"), of("cyv_b", "2016")]);
        let kept = "status,vehicle_id,found_year,views,colors\nmatch,cyv_a,2015,\"side, front\",white black\nmatch,cyv_a,2015,,\n";
        let kept = listed(kept, false).unwrap();
        assert_eq!((kept[0].views.as_deref(), kept[0].colors.as_deref()), (Some("side,front"), Some("white,black")));
        assert_eq!(kept[1..], [of("cyv_a", "2015")]);
        for (text, says) in [
            ("status,vehicle_id\nmiss,\n", "is a vehicle of the catalog"),
            ("status,vehicle_id,found_year\nfine,cyv_a,2015\n", "line 2 of the checked list has no known status"),
            ("status,vehicle_id,found_year\nmatch,cyv_a,\n", "found_year"),
            ("make\nbmw\n", "--suggestions"),
        ] {
            let refused = listed(text, true).unwrap_err().to_string();
            assert!(refused.contains(says), "{text}: {refused}");
        }
    }
}
