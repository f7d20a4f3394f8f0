//! Years that look alike have one picture: under which of their names it is kept.

use super::Order;
use crate::app::App;
use cyclorama_core::{Variant, Vehicle, VehicleKey, View};

/// Whether a look that has no pictures yet gets a name to keep them under.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unseen {
    /// Nothing is written for somebody who only looks.
    Leave,
    /// The year that is asked for now is the first.
    Settle,
}

/// Under which name an order's picture is kept, if there are any of its look.
pub async fn kept_variant(app: &App, order: &Order) -> Result<Option<Variant>, sqlx::Error> {
    let home = home(app, &order.vehicle, order.variant.view, Unseen::Leave).await?;
    Ok(home.map(|home| order.variant.of_vehicle(home)))
}

/// What is drawn for an order that has no picture yet, and the name that its picture will be kept under.
pub(super) async fn settled(app: &App, order: &Order) -> Result<(Vehicle, Variant), sqlx::Error> {
    let home = home_ahead(app, &order.vehicle, order.variant.view).await?;
    Ok((drawn(app, &home, &order.vehicle), order.variant.of_vehicle(home)))
}

/// Where the pictures of a vehicle are that is wanted before anybody asks.
pub async fn home_ahead(app: &App, vehicle: &Vehicle, view: View) -> Result<VehicleKey, sqlx::Error> {
    let home = home(app, vehicle, view, Unseen::Settle).await?;
    Ok(home.unwrap_or_else(|| app.catalog.now().key_of(vehicle)))
}

/// What is drawn for a name, in the size of its look; like it but for the year where a newer catalog lacks it.
pub fn drawn(app: &App, key: &VehicleKey, like: &Vehicle) -> Vehicle {
    let catalog = app.catalog.now();
    let found = catalog.of_parts(&key.make, &key.model, key.body, key.year);
    let vehicle = found.map_or_else(|| Vehicle { year: key.year, ..like.clone() }, |found| found.vehicle);
    Vehicle { dimensions: catalog.look(&vehicle).dimensions, ..vehicle }
}

async fn home(app: &App, vehicle: &Vehicle, view: View, unseen: Unseen) -> Result<Option<VehicleKey>, sqlx::Error> {
    let place = (vehicle.clone(), view);
    if let Some(home) = app.pictures.homes.get(&place) {
        return Ok(Some(home));
    }
    let catalog = app.catalog.now();
    let (look, own) = (catalog.look(vehicle), catalog.key_of(vehicle));
    let home = match unseen {
        Unseen::Leave => app.renders.home(&look, view).await?,
        Unseen::Settle => Some(app.renders.home_or(&look, view, own).await?),
    };
    if let Some(home) = &home {
        app.pictures.homes.insert(place, home.clone());
    }
    Ok(home)
}
