//! The estimate for a batch: how much of it exists, how long the rest takes, and how much it costs.

use super::PrewarmItem;
use super::looks::ModelLooks;
use super::request::{Request, RequestError, Wishes};
use crate::app::App;
use crate::catalog::Catalog;
use crate::money::usd_from;
use crate::renders::Existing;
use cyclorama_core::VehicleKey;
use serde::Serialize;

/// Assumed duration of a cold render, in seconds, if no recent render was measured.
const RENDER_SECONDS_DEFAULT: f64 = 4.0;

/// Error of a plan: a request of a list that cannot be understood, with its number (counted from
/// 1), or the database.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    #[error("request {number}: {error}")]
    Request { number: usize, error: RequestError },
    #[error("the database did not respond")]
    Database(#[from] sqlx::Error),
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Plan {
    /// Number of pairs of vehicle and view.
    pub rows: usize,
    pub pictures: usize,
    /// Number of images that exist already.
    pub cached_pictures: usize,
    /// Number of diffusion passes: vehicles and views of which nothing exists yet.
    pub cold_renders: usize,
    /// Number of vehicles and views of which only colours are missing. They are only
    /// painted, which is free.
    pub paint_jobs: usize,
    pub cost_usd: f64,
    /// Percentage of the day's whole budget.
    pub percent_of_a_day: Option<f64>,
    /// Duration with the nodes that are connected now; absent if there are none.
    pub minutes: Option<f64>,
}

/// Returns the vehicles and views that the requests name together.
pub fn wishes(catalog: &Catalog, requests: &[Request]) -> Result<Vec<PrewarmItem>, PlanError> {
    let mut wishes = Wishes::default();
    for (place, request) in requests.iter().enumerate() {
        wishes.add(catalog, request).map_err(|error| PlanError::Request { number: place + 1, error })?;
    }
    Ok(wishes.into_inner())
}

impl Plan {
    pub async fn of(app: &App, wishes: &[PrewarmItem]) -> Result<Plan, PlanError> {
        let mut plan = Plan {
            rows: wishes.len(),
            pictures: wishes.iter().map(|wish| wish.colours.len()).sum(),
            cached_pictures: 0,
            cold_renders: 0,
            paint_jobs: 0,
            cost_usd: 0.0,
            percent_of_a_day: None,
            minutes: None,
        };
        let catalog = app.catalog.now();
        let mut looks = ModelLooks::default();
        let keys: Vec<Vec<VehicleKey>> = wishes.iter().map(|wish| looks.years_alike(&catalog, &wish.vehicle)).collect();
        let existing = app.renders.existing(keys.iter().flatten().map(VehicleKey::to_string)).await?;
        for (wish, keys) in wishes.iter().zip(&keys) {
            let of_years = keys.iter().map(|key| existing.of(&key.to_string(), wish.view));
            let Existing { colours, has_layers } = of_years.fold(Existing::default(), Existing::and);
            let cached = wish.colours.iter().filter(|colour| colours.contains(colour)).count();
            plan.cached_pictures += cached;
            match (cached == wish.colours.len(), has_layers) {
                (true, _) => {}
                (false, true) => plan.paint_jobs += 1,
                (false, false) => plan.cold_renders += 1,
            }
        }
        let budget = app.renders.budget().await?;
        let cost_microusd = plan.cold_renders as i64 * app.renders.render_cost_microusd();
        plan.cost_usd = usd_from(cost_microusd);
        if budget.microusd_per_day > 0 {
            plan.percent_of_a_day = Some(cost_microusd as f64 * 100.0 / budget.microusd_per_day as f64);
        }
        let nodes = app.renders.node_counts().await?.alive;
        if nodes > 0 {
            let seconds = app.renders.render_seconds().await?.unwrap_or(RENDER_SECONDS_DEFAULT);
            // A node renders one job after the other; a paint job takes a tenth of a
            // render and runs beside it.
            let work = plan.cold_renders as f64 + plan.paint_jobs as f64 / 10.0;
            plan.minutes = Some(work * seconds / nodes as f64 / 60.0);
        }
        Ok(plan)
    }
}
