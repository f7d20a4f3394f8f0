//! The queue's functions for prewarming: enqueueing images before any request waits, their
//! progress, and what exists already.

use super::enqueue::EnqueueTerms;
use super::variants::EnqueueOutcome;
use crate::renders::budget::BUDGET_SPENT;
use crate::renders::lane::{Lane, Requester};
use crate::renders::state::{RenderState, column};
use crate::renders::{RenderError, Renders};
use cyclorama_core::{Colour, Paint, PaintColour, Variant, Vehicle, View};
use sqlx::Row;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Maximum number of vehicles in one statement.
const KEYS_AT_ONCE: usize = 200;

/// Number of the last renders from which the time of a render is computed.
const RENDERS_MEASURED: i64 = 50;

/// Progress of the paints of a vehicle and view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PaintProgress {
    Done,
    Making,
    /// One of them failed for good, and none is being made.
    Failed {
        kind: String,
        detail: String,
    },
    /// Some are missing, and no job makes them.
    Nowhere,
}

/// The paints and layers that exist of many vehicles.
#[derive(Debug, Default)]
pub struct Existings(HashMap<(String, String), Existing>);

/// The paints that exist of a vehicle and view, and whether its layers do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Existing {
    pub colours: Vec<Paint>,
    pub has_layers: bool,
}

impl Existing {
    /// Merges what exists of two model years with the same look.
    pub fn and(mut self, other: Self) -> Self {
        self.colours.extend(other.colours);
        self.has_layers |= other.has_layers;
        self
    }
}

impl Existings {
    /// Returns the presets that exist of any of the vehicles, by view, in the order of views and
    /// names.
    pub fn presets(&self) -> BTreeMap<View, BTreeSet<Colour>> {
        let mut presets: BTreeMap<View, BTreeSet<Colour>> = BTreeMap::new();
        for ((_, view), existing) in &self.0 {
            let with_shadow = existing.colours.iter().filter(|paint| paint.shadow);
            let colours: Vec<Colour> = with_shadow
                .filter_map(|paint| match paint.colour {
                    PaintColour::Preset(colour) => Some(colour),
                    PaintColour::Custom { .. } => None,
                })
                .collect();
            if let Ok(view) = view.parse()
                && !colours.is_empty()
            {
                presets.entry(view).or_default().extend(colours);
            }
        }
        presets
    }

    /// Returns what exists of one vehicle and view.
    pub fn of(&self, vehicle_key: &str, view: View) -> Existing {
        self.0.get(&(vehicle_key.to_owned(), view.as_str().to_owned())).cloned().unwrap_or_default()
    }
}

impl Renders {
    /// Makes sure that these variants of one vehicle and view are being made, behind all other
    /// lanes, with one job that lives until `deadline_ms`. Returns true if all of them exist.
    pub async fn prewarm(
        &self,
        vehicle: &Vehicle,
        variants: &[Variant],
        budget_percent: i64,
        deadline_ms: i64,
    ) -> Result<bool, RenderError> {
        let requester = Requester::without_account(Lane::Prewarm);
        let terms = EnqueueTerms { requester: &requester, deadline_ms, budget_percent };
        let wanted = self.want_all(vehicle, variants, terms).await?;
        Ok(wanted.iter().all(|wanted| matches!(wanted, EnqueueOutcome::Done(_))))
    }

    /// Returns how far the images of a vehicle and view in these paints are.
    pub async fn progress(
        &self,
        vehicle_key: &str,
        view: View,
        colours: &[Paint],
    ) -> Result<PaintProgress, sqlx::Error> {
        let rows = sqlx::query(
            "select id, color, state, failure_kind, failure_detail from renders where vehicle_key = $1 and view = $2",
        )
        .bind(vehicle_key)
        .bind(view.as_str())
        .fetch_all(&self.0.database.readers)
        .await?;
        let (mut done, mut failure) = (0, None);
        for row in &rows {
            let id: String = row.try_get("id")?;
            let colour: Paint = column(row.try_get("color")?, "renders.color", &id)?;
            if !colours.contains(&colour) {
                continue;
            }
            match column(row.try_get("state")?, "renders.state", &id)? {
                RenderState::Done => done += 1,
                RenderState::Wanted => return Ok(PaintProgress::Making),
                // Its job was ended because the budget was spent, so it can be made on another day.
                RenderState::Failed if row.try_get::<&str, _>("failure_kind")? == BUDGET_SPENT => {}
                RenderState::Failed => {
                    failure = Some((row.try_get("failure_kind")?, row.try_get("failure_detail")?));
                }
                RenderState::Expired => {}
            }
        }
        Ok(match failure {
            _ if done == colours.len() => PaintProgress::Done,
            Some((kind, detail)) => PaintProgress::Failed { kind, detail },
            None => PaintProgress::Nowhere,
        })
    }

    /// Returns what exists of these vehicles (`make/model/year`), in all views.
    pub async fn existing(&self, vehicle_keys: impl Iterator<Item = String>) -> Result<Existings, sqlx::Error> {
        let keys: Vec<String> = vehicle_keys.collect::<BTreeSet<_>>().into_iter().collect();
        let mut found = Existings::default();
        for keys in keys.chunks(KEYS_AT_ONCE) {
            let places: Vec<String> = (1..=keys.len()).map(|place| format!("${place}")).collect();
            let places = places.join(", ");
            for (sql, is_layers) in [
                (
                    format!(
                        "select vehicle_key, view, color from renders where state = 'done' and vehicle_key in ({places})"
                    ),
                    false,
                ),
                (format!("select vehicle_key, view, '' as color from layers where vehicle_key in ({places})"), true),
            ] {
                let query =
                    keys.iter().fold(sqlx::query(sqlx::AssertSqlSafe(sql)), |query, key| query.bind(key.clone()));
                for row in query.fetch_all(&self.0.database.readers).await? {
                    let place: (String, String) = (row.try_get(0)?, row.try_get(1)?);
                    let existing = found.0.entry(place.clone()).or_default();
                    match is_layers {
                        true => existing.has_layers = true,
                        false => existing.colours.push(column(row.try_get(2)?, "renders.color", &place.0)?),
                    }
                }
            }
        }
        Ok(found)
    }

    /// Returns the mean time of the latest cold renders on their nodes, in seconds, or `None` if
    /// there was none.
    pub async fn render_seconds(&self) -> Result<Option<f64>, sqlx::Error> {
        let row = sqlx::query(
            "select count(*), cast(coalesce(sum(ended_at_ms - leased_at_ms), 0) as bigint) from (
                 select ended_at_ms, leased_at_ms from jobs where state = 'done' and kind = 'render' and leased_at_ms is not null
                 order by ended_at_ms desc limit $1) last",
        )
        .bind(RENDERS_MEASURED)
        .fetch_one(&self.0.database.readers)
        .await?;
        let (count, sum_ms): (i64, i64) = (row.try_get(0)?, row.try_get(1)?);
        Ok((count > 0).then(|| sum_ms as f64 / count as f64 / 1000.0))
    }
}
