//! What a batch would come to: how much of it exists, how long the rest takes, and what it costs.

use super::Wish;
use super::looks::Looks;
use super::request::{Request, RequestError, Wishes};
use crate::app::App;
use crate::catalog::Catalog;
use crate::money::usd_from;
use crate::renders::Existing;
use cyclorama_core::VehicleKey;
use serde::Serialize;

/// A cold render on a node of which nothing is known yet.
const RENDER_SECONDS_DEFAULT: f64 = 4.0;

/// Which request of a list means nothing, and why. Counted from 1.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    #[error("request {number}: {error}")]
    Request { number: usize, error: RequestError },
    #[error("the database does not answer")]
    Database(#[from] sqlx::Error),
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Plan {
    /// Vehicles and views.
    pub rows: usize,
    pub pictures: usize,
    /// Pictures that exist.
    pub cached_pictures: usize,
    /// Diffusion passes: vehicles and views of which nothing exists yet.
    pub cold_renders: usize,
    /// Vehicles and views of which only colours are missing: paint alone, free.
    pub paint_jobs: usize,
    pub cost_usd: f64,
    /// Of the day's whole budget.
    pub percent_of_a_day: Option<f64>,
    /// With the nodes that are there now; absent without one.
    pub minutes: Option<f64>,
}

/// The vehicles and views that requests mean together.
pub fn wishes(catalog: &Catalog, requests: &[Request]) -> Result<Vec<Wish>, PlanError> {
    let mut wishes = Wishes::default();
    for (place, request) in requests.iter().enumerate() {
        wishes.add(catalog, request).map_err(|error| PlanError::Request { number: place + 1, error })?;
    }
    Ok(wishes.into_inner())
}

impl Plan {
    pub async fn of(app: &App, wishes: &[Wish]) -> Result<Plan, PlanError> {
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
        let mut looks = Looks::default();
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
            // A node renders one after the other; paint is a tenth of it and runs beside.
            let work = plan.cold_renders as f64 + plan.paint_jobs as f64 / 10.0;
            plan.minutes = Some(work * seconds / nodes as f64 / 60.0);
        }
        Ok(plan)
    }
}
