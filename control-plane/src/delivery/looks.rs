//! Years that look alike have one picture: under which of their names it is kept.

use super::Order;
use crate::catalog::CurrentCatalog;
use crate::renders::Renders;
use cyclorama_core::{Variant, Vehicle, VehicleKey, View};
use moka::sync::Cache;
use std::sync::Arc;

/// Names of pictures that are remembered: some 300 bytes each.
const REMEMBERED_MAX: u64 = 50_000;

/// Whether a look that has no pictures yet gets a name to keep them under.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unseen {
    /// Nothing is written for somebody who only looks.
    Leave,
    /// The year that is asked for now is the first.
    Settle,
}

/// The looks of vehicles, as this process knows them. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Looks {
    renders: Renders,
    catalog: Arc<CurrentCatalog>,
    /// Under which year of its look the pictures of a vehicle are kept.
    homes: Cache<(Vehicle, View), VehicleKey>,
}

impl Looks {
    pub fn new(renders: Renders, catalog: Arc<CurrentCatalog>) -> Self {
        Looks { renders, catalog, homes: Cache::builder().max_capacity(REMEMBERED_MAX).build() }
    }

    /// Under which name an order's picture is kept, if there are any of its look.
    pub async fn kept_variant(&self, order: &Order) -> Result<Option<Variant>, sqlx::Error> {
        let home = self.home(&order.vehicle, order.variant.view, Unseen::Leave).await?;
        Ok(home.map(|home| order.variant.of_vehicle(home)))
    }

    /// What is drawn for an order that has no picture yet, and the name that its picture will be kept under.
    pub(super) async fn settled(&self, order: &Order) -> Result<(Vehicle, Variant), sqlx::Error> {
        let home = self.home_ahead(&order.vehicle, order.variant.view).await?;
        Ok((self.drawn(&home, &order.vehicle), order.variant.of_vehicle(home)))
    }

    /// Where the pictures of a vehicle are that is wanted before anybody asks.
    pub async fn home_ahead(&self, vehicle: &Vehicle, view: View) -> Result<VehicleKey, sqlx::Error> {
        let home = self.home(vehicle, view, Unseen::Settle).await?;
        Ok(home.unwrap_or_else(|| self.catalog.now().key_of(vehicle)))
    }

    /// What is drawn for a name, in the size of its look; like it but for the year where a newer catalog lacks it.
    pub fn drawn(&self, key: &VehicleKey, like: &Vehicle) -> Vehicle {
        let catalog = self.catalog.now();
        let found = catalog.of_parts(&key.make, &key.model, key.body, key.year);
        let vehicle = found.map_or_else(|| Vehicle { year: key.year, ..like.clone() }, |found| found.vehicle);
        Vehicle { dimensions: catalog.look(&vehicle).dimensions, ..vehicle }
    }

    async fn home(&self, vehicle: &Vehicle, view: View, unseen: Unseen) -> Result<Option<VehicleKey>, sqlx::Error> {
        let place = (vehicle.clone(), view);
        if let Some(home) = self.homes.get(&place) {
            return Ok(Some(home));
        }
        let catalog = self.catalog.now();
        let (look, own) = (catalog.look(vehicle), catalog.key_of(vehicle));
        let home = match unseen {
            Unseen::Leave => self.renders.home(&look, view).await?,
            Unseen::Settle => Some(self.renders.home_or(&look, view, own).await?),
        };
        if let Some(home) = &home {
            self.homes.insert(place, home.clone());
        }
        Ok(home)
    }
}
