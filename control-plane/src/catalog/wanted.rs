//! Statistics for the choice of the next drawings: the vehicles that are delivered most while their
//! drawing is least like them, and names that the catalog does not have.
//!
//! Names that are not found are counted in memory and added to the database once a minute, so that
//! a flood of them costs no writes; a crash loses a minute of counts. Both the memory and the table
//! have a bound.

use crate::clock::{Clock, UnixMs};
use crate::db::Database;
use crate::tasks::every;
use cyclorama_catalog::{AskedName, AskedVehicle, AskedYear, Catalog, Missing, NotFound, normalised};
use cyclorama_drawings::{Likeness, likeness};
use sqlx::Row;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::task::JoinHandle;

const WRITE_EVERY: Duration = Duration::from_secs(60);
/// Maximum number of different names counted between two writes; further names are not counted
/// until the next write.
const NAMES_AT_HAND_MAX: usize = 1_000;
const NAMES_KEPT_MAX: i64 = 5_000;
/// Maximum number of vehicles that are evaluated, those delivered most.
const VEHICLES_MAX: i64 = 20_000;

/// Names that were not found since the last write, each with its count. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct MissingVehicles(Arc<Mutex<HashMap<String, i64>>>);

impl MissingVehicles {
    /// Counts a request that the catalog could not answer.
    pub fn count(&self, asked: &AskedVehicle, missing: &NotFound) {
        let AskedName::Names { make, model } = &asked.name else { return };
        let (make, model) = (normalised(make), normalised(model));
        let name = match (missing.missing, asked.year) {
            (Missing::Year, AskedYear::Year(year)) => format!("{make}/{model}/{year}"),
            (Missing::Year | Missing::Make | Missing::Model, _) => format!("{make}/{model}"),
            (Missing::Body, _) => match asked.body {
                Some(body) => format!("{make}/{model}.{body}"),
                None => return,
            },
            // The model exists under a longer name, or an id was misread.
            (Missing::AmbiguousModel | Missing::Id | Missing::BodyOfId, _) => return,
        };
        let Ok(mut names) = self.0.lock() else { return };
        if names.len() < NAMES_AT_HAND_MAX || names.contains_key(&name) {
            *names.entry(name).or_default() += 1;
        }
    }

    fn take(&self) -> HashMap<String, i64> {
        self.0.lock().map(|mut names| std::mem::take(&mut *names)).unwrap_or_default()
    }

    /// Adds the counts to the database.
    async fn write(&self, database: &Database, now: UnixMs) -> Result<(), sqlx::Error> {
        // All processes use the same order, so that processes that write the same names do not
        // deadlock.
        let names: BTreeMap<String, i64> = self.take().into_iter().collect();
        if names.is_empty() {
            return Ok(());
        }
        let mut tx = database.begin().await?;
        for (name, requests) in names {
            sqlx::query(
                "insert into missing_vehicles (name, requests, last_asked_at_ms) values ($1, $2, $3)
                 on conflict (name) do update set requests = missing_vehicles.requests + excluded.requests,
                     last_asked_at_ms = excluded.last_asked_at_ms",
            )
            .bind(name)
            .bind(requests)
            .bind(now.0)
            .execute(&mut *tx)
            .await?;
        }
        sqlx::query(
            "delete from missing_vehicles where name not in
                 (select name from missing_vehicles order by last_asked_at_ms desc, requests desc, name limit $1)",
        )
        .bind(NAMES_KEPT_MAX)
        .execute(&mut *tx)
        .await?;
        tx.commit().await
    }

    /// Returns the names that were requested most and are not in the catalog, including counts of
    /// this process that were not written yet.
    pub async fn most_asked(
        &self,
        database: &Database,
        now: UnixMs,
        since: UnixMs,
        limit: usize,
    ) -> Result<Vec<MissingName>, sqlx::Error> {
        self.write(database, now).await?;
        let rows = sqlx::query(
            "select name, requests, last_asked_at_ms from missing_vehicles where last_asked_at_ms >= $1
             order by requests desc, last_asked_at_ms desc, name limit $2",
        )
        .bind(since.0)
        .bind(limit as i64)
        .fetch_all(&database.readers)
        .await?;
        let name = |row: &sqlx::any::AnyRow| {
            Ok(MissingName {
                name: row.try_get(0)?,
                requests: row.try_get(1)?,
                last_asked_at: UnixMs(row.try_get(2)?).rfc3339(),
            })
        };
        rows.iter().map(name).collect()
    }

    /// Writes the counts once a minute, until the task is aborted.
    pub fn start_writing(self, database: Database, clock: Clock) -> JoinHandle<()> {
        every(
            WRITE_EVERY,
            "counts of names that were not found were lost",
            (self, database),
            move |(names, database)| async move { names.write(&database, clock.now()).await },
        )
    }
}

/// A model in years whose drawings have the same likeness, and how often it was delivered.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct RequestedModel {
    pub make: String,
    pub model: String,
    /// The first and the last year that was delivered.
    pub year_from: u16,
    pub year_to: u16,
    pub likeness: Likeness,
    /// Number of images delivered.
    pub pictures: i64,
}

/// A name that the catalog does not have, and how often it was requested.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct MissingName {
    /// Slugs of make and model, and the year if only that is missing.
    pub name: String,
    pub requests: i64,
    pub last_asked_at: String,
}

/// Returns the vehicles that were delivered most since `since` while their drawing is least like
/// them, the most wanted first.
pub async fn wanted(
    database: &Database,
    catalog: &Catalog,
    since: UnixMs,
    limit: usize,
) -> Result<Vec<RequestedModel>, sqlx::Error> {
    let rows = sqlx::query(
        "select key, cast(sum(pictures) as bigint) from (
             select coalesce(nullif(d.vehicle_key, ''), r.vehicle_key) as key, count(*) as pictures
             from deliveries d join renders r on r.id = d.render_id where d.at_ms >= $1 group by 1
             union all
             select make || '/' || model || case when body = '' then '' else '.' || body end || '/' || cast(year as text), count(*)
             from delivery_urls where created_at_ms >= $1 and uses = 0 group by 1) asked
         group by key order by 2 desc, key limit $2",
    )
    .bind(since.0)
    .bind(VEHICLES_MAX)
    .fetch_all(&database.readers)
    .await?;
    let mut models: HashMap<(String, String, Likeness), RequestedModel> = HashMap::new();
    for row in &rows {
        // A newer release may lack the vehicle.
        let Some(vehicle) = catalog.of_key(row.try_get(0)?).map(|found| found.vehicle) else { continue };
        let likeness = likeness(&vehicle);
        let group = (vehicle.make.clone(), vehicle.model.clone(), likeness);
        let (make, model, year) = (vehicle.make, vehicle.model, vehicle.year);
        let model = models.entry(group).or_insert(RequestedModel {
            make,
            model,
            year_from: year,
            year_to: year,
            likeness,
            pictures: 0,
        });
        model.year_from = model.year_from.min(year);
        model.year_to = model.year_to.max(year);
        model.pictures += row.try_get::<i64, _>(1)?;
    }
    let mut wanted: Vec<RequestedModel> = models.into_values().filter(|model| weight(model.likeness) > 0).collect();
    let name = |wanted: &RequestedModel| (wanted.make.clone(), wanted.model.clone(), wanted.year_from);
    wanted.sort_by(|a, b| {
        let due = |wanted: &RequestedModel| wanted.pictures.saturating_mul(weight(wanted.likeness));
        due(b).cmp(&due(a)).then_with(|| name(a).cmp(&name(b)))
    });
    wanted.truncate(limit);
    Ok(wanted)
}

/// Returns the weight of one image: 0 for the closest drawing, and more the less the drawing is
/// like the vehicle.
fn weight(likeness: Likeness) -> i64 {
    match likeness {
        Likeness::Generation => 0,
        Likeness::Model => 1,
        Likeness::Make => 2,
        Likeness::Body => 3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_at_hand_are_normalised_and_bounded() {
        let not_found =
            |missing| NotFound { missing, detail: String::new(), suggestions: Vec::new(), bodies: Vec::new() };
        let counts = MissingVehicles::default();
        counts.count(&AskedVehicle::named("Citroën", "Ami 6", 2020), &not_found(Missing::Model));
        counts.count(&AskedVehicle::named("citroen", "ami-6", 2021), &not_found(Missing::Model));
        counts.count(&AskedVehicle::named("Honda", "Civic", 1901), &not_found(Missing::Year));
        counts.count(&AskedVehicle::named("Honda", "C", 2001), &not_found(Missing::AmbiguousModel));
        let taken = counts.take();
        assert_eq!(taken.get("citroen/ami-6"), Some(&2));
        assert_eq!(taken.get("honda/civic/1901"), Some(&1));
        assert_eq!(taken.len(), 2);
        for name in 0..2 * NAMES_AT_HAND_MAX {
            counts.count(&AskedVehicle::named("acme", &name.to_string(), 2020), &not_found(Missing::Make));
        }
        assert_eq!(counts.take().len(), NAMES_AT_HAND_MAX);
    }
}
