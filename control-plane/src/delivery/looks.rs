//! Model years with one look share one image; this module finds the year under whose key it is
//! stored.

use super::Order;
use crate::catalog::CurrentCatalog;
use crate::renders::Renders;
use cyclorama_core::{Variant, Vehicle, VehicleKey, View};
use moka::sync::Cache;
use std::sync::Arc;

/// Maximum number of remembered keys: an entry takes about 300 bytes.
const REMEMBERED_MAX: u64 = 50_000;

/// The treatment of a look that has no images yet.
#[derive(Clone, Copy, PartialEq, Eq)]
enum UnknownLook {
    /// Nothing is stored for a request that only reads.
    Leave,
    /// The requested year becomes the one under which the look's images are stored.
    Settle,
}

/// The looks of vehicles, as this process knows them. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Looks {
    renders: Renders,
    catalog: Arc<CurrentCatalog>,
    /// The year of its look under which the images of a vehicle are stored.
    homes: Cache<(Vehicle, View), VehicleKey>,
}

impl Looks {
    pub fn new(renders: Renders, catalog: Arc<CurrentCatalog>) -> Self {
        Looks { renders, catalog, homes: Cache::builder().max_capacity(REMEMBERED_MAX).build() }
    }

    /// Returns the variant under which an order's image is stored, or `None` if its look has no
    /// images.
    pub async fn kept_variant(&self, order: &Order) -> Result<Option<Variant>, sqlx::Error> {
        let home = self.home(&order.vehicle, order.variant.view, UnknownLook::Leave).await?;
        Ok(home.map(|home| order.variant.of_vehicle(home)))
    }

    /// Returns the vehicle to draw for an order that has no image yet, and the variant under which
    /// its image will be stored.
    pub(super) async fn settled(&self, order: &Order) -> Result<(Vehicle, Variant), sqlx::Error> {
        let home = self.home_ahead(&order.vehicle, order.variant.view).await?;
        Ok((self.drawn(&home, &order.vehicle), order.variant.of_vehicle(home)))
    }

    /// Returns the key under which the images of a vehicle are stored that is wanted before any
    /// request.
    pub async fn home_ahead(&self, vehicle: &Vehicle, view: View) -> Result<VehicleKey, sqlx::Error> {
        let home = self.home(vehicle, view, UnknownLook::Settle).await?;
        Ok(home.unwrap_or_else(|| self.catalog.now().key_of(vehicle)))
    }

    /// Returns the vehicle to draw for a key, with the dimensions of its look. If a newer catalog
    /// lacks the key, returns `like` with the key's year.
    pub fn drawn(&self, key: &VehicleKey, like: &Vehicle) -> Vehicle {
        let catalog = self.catalog.now();
        let found = catalog.of_parts(&key.make, &key.model, key.body, key.year);
        let vehicle = found.map_or_else(|| Vehicle { year: key.year, ..like.clone() }, |found| found.vehicle);
        Vehicle { dimensions: catalog.look(&vehicle).dimensions, ..vehicle }
    }

    async fn home(
        &self,
        vehicle: &Vehicle,
        view: View,
        unseen: UnknownLook,
    ) -> Result<Option<VehicleKey>, sqlx::Error> {
        let place = (vehicle.clone(), view);
        if let Some(home) = self.homes.get(&place) {
            return Ok(Some(home));
        }
        let catalog = self.catalog.now();
        let (look, own) = (catalog.look(vehicle), catalog.key_of(vehicle));
        let home = match unseen {
            UnknownLook::Leave => self.renders.home(&look, view).await?,
            UnknownLook::Settle => Some(self.renders.home_or(&look, view, own).await?),
        };
        if let Some(home) = &home {
            self.homes.insert(place, home.clone());
        }
        Ok(home)
    }
}
