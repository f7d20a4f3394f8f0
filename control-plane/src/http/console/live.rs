//! The part of the console that changes by itself: nodes, jobs, budget and the last day. One
//! template renders it for the page and for the events.

use crate::app::App;
use crate::clock::{DAY_MS, UnixMs};
use crate::http::error::Problem;
use crate::http::web::format::{dollars, thousands};
use crate::http::web::pages;
use crate::plural;
use crate::prewarm::PrewarmBatch;
use crate::renders::{Budget, Hour, Lane};
use serde::Serialize;

/// Height of the chart, in units of its SVG.
const CHART_HEIGHT: i64 = 80;
/// Distance between the left sides of neighbouring bars, in units of the SVG.
const BAR_STEP: i64 = 25;

/// Number of prewarm batches that are shown, the latest.
const BATCHES: i64 = 5;

#[derive(Serialize)]
struct Live {
    nodes: Vec<ShownNode>,
    lanes: Vec<ShownLane>,
    working: Vec<ShownJob>,
    budget: ShownBudget,
    bars: Vec<HourBar>,
    most: String,
    failures: Vec<(String, i64)>,
    batches: Vec<ShownBatch>,
}

#[derive(Serialize)]
struct ShownBatch {
    name: String,
    state: &'static str,
    percent: i64,
    told: String,
}

#[derive(Serialize)]
struct ShownNode {
    name: String,
    state: &'static str,
    is_well: bool,
    told: String,
    device: String,
    work: String,
}

#[derive(Serialize)]
struct ShownLane {
    name: &'static str,
    kind: String,
    jobs: String,
    age: String,
}

#[derive(Serialize)]
struct ShownJob {
    vehicle: String,
    kind: String,
    stage: String,
    percent: i64,
    age: String,
    attempt: i64,
}

#[derive(Serialize)]
struct ShownBudget {
    spent: String,
    limit: String,
    percent: i64,
    forecast: String,
    is_short: bool,
}

#[derive(Serialize)]
struct HourBar {
    hour: String,
    x: i64,
    render_y: i64,
    render_height: i64,
    paint_y: i64,
    paint_height: i64,
    told: String,
}

/// Renders the live part as a fragment of HTML.
pub async fn render(app: &App) -> Result<String, Problem> {
    let now = app.clock.now();
    let overview = app.renders.overview().await?;
    let nodes = app.renders.nodes().await?;
    let most = overview.hours.iter().map(|hour| hour.renders + hour.paints).max().unwrap_or_default().max(1);
    let live = Live {
        nodes: nodes
            .into_iter()
            .map(|node| ShownNode {
                is_well: node.alive && node.state.as_str() == "active" && node.reported_state != "unhealthy",
                told: match node.alive {
                    true => node.reported_state,
                    false => format!("silent for {}", age(now.0 - node.seen_at_ms)),
                },
                device: node.device["name"].as_str().unwrap_or("unknown device").to_owned(),
                work: format!("{} of {} in use, {} jobs done", node.jobs_leased, node.slots, thousands(node.jobs_done)),
                state: node.state.as_str(),
                name: node.name,
            })
            .collect(),
        lanes: overview
            .lanes
            .into_iter()
            .map(|lane| ShownLane {
                name: lane_name(lane.lane),
                kind: lane.kind,
                jobs: thousands(lane.jobs),
                age: age(lane.oldest_age_ms),
            })
            .collect(),
        working: overview
            .working
            .into_iter()
            .map(|job| ShownJob {
                vehicle: format!("{}, {}", job.vehicle_key, job.view),
                kind: job.kind,
                stage: job.stage.unwrap_or_else(|| "started".to_owned()),
                percent: (job.progress.unwrap_or_default().clamp(0.0, 1.0) * 100.0) as i64,
                age: age(job.age_ms),
                attempt: job.attempt,
            })
            .collect(),
        budget: budget(&app.renders.budget().await?, now),
        bars: overview.hours.iter().enumerate().map(|(place, hour)| bar(place, hour, most)).collect(),
        most: thousands(most),
        failures: overview.failures,
        batches: PrewarmBatch::list(&app.db, BATCHES).await?.into_iter().map(ShownBatch::from).collect(),
    };
    pages::fragment("console_live.html", &live)
}

impl From<PrewarmBatch> for ShownBatch {
    fn from(batch: PrewarmBatch) -> Self {
        let mut told = format!(
            "{} of {} {}",
            thousands(batch.done + batch.failed),
            thousands(batch.rows()),
            plural::noun(batch.rows(), "row", "rows")
        );
        if batch.failed > 0 {
            told.push_str(&format!(", {} failed", thousands(batch.failed)));
        }
        ShownBatch { percent: batch.percent(), state: batch.state.as_str(), name: batch.name, told }
    }
}

/// Returns a lane's name for people.
fn lane_name(lane: Lane) -> &'static str {
    match lane {
        Lane::Interactive => "requests",
        Lane::FirstLoad => "first loads of signed addresses",
        Lane::Rerender => "rendered anew",
        Lane::Example => "examples and visitors",
        Lane::Prewarm => "prewarming",
    }
}

fn budget(budget: &Budget, now: UnixMs) -> ShownBudget {
    let forecast = budget.forecast_microusd(now);
    let cents = |microusd: i64| dollars(microusd / 10_000);
    ShownBudget {
        spent: cents(budget.reserved_microusd + budget.settled_microusd),
        limit: cents(budget.microusd_per_day),
        percent: budget.percent().min(100),
        forecast: cents(forecast),
        is_short: forecast > budget.microusd_per_day,
    }
}

fn bar(place: usize, hour: &Hour, most: i64) -> HourBar {
    let height = |jobs: i64| if jobs == 0 { 0 } else { (jobs * CHART_HEIGHT / most).max(2) };
    let (render_height, paint_height) = (height(hour.renders), height(hour.paints));
    let start = hour.start_ms.rem_euclid(DAY_MS) / 3_600_000;
    HourBar {
        hour: format!("{start:02}"),
        x: place as i64 * BAR_STEP,
        render_y: CHART_HEIGHT - render_height,
        render_height,
        paint_y: CHART_HEIGHT - render_height - paint_height,
        paint_height,
        told: format!(
            "{start:02}:00: {} renders, {} paint jobs, {} failures",
            hour.renders, hour.paints, hour.failures
        ),
    }
}

/// Formats `95000` ms as `1 min 35 s`.
fn age(ms: i64) -> String {
    let seconds = ms.max(0) / 1000;
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_and_forecasts() {
        for (ms, expected) in [(-5, "0 s"), (999, "0 s"), (95_000, "1 min 35 s"), (7_260_000, "2 h 1 min")] {
            assert_eq!(age(ms), expected);
        }
        let day = |spent: i64| Budget {
            day: "2026-11-22".to_owned(),
            microusd_per_day: 10_000_000,
            reserved_microusd: 0,
            settled_microusd: spent,
            reset_at_ms: DAY_MS,
        };
        for (spent, at_ms, forecast, is_short) in
            [(1_000_000, DAY_MS / 4, "$4", false), (6_000_000, DAY_MS / 2, "$12", true), (0, 0, "$0", false)]
        {
            let shown = budget(&day(spent), UnixMs(at_ms));
            assert_eq!((shown.forecast.as_str(), shown.is_short), (forecast, is_short), "{spent}");
        }
    }
}
