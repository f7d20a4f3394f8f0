//! Years that look alike have one picture: under which of their names it is kept.

use super::{Order, Pictures};
use crate::app::App;
use crate::renders::Renders;
use cyclorama_core::{Variant, Vehicle, VehicleKey, View};

/// What is kept and drawn for an order: the same picture, of the year of its look that was asked for first.
pub(super) struct Kept {
    pub variant: Variant,
    pub vehicle: Vehicle,
}

/// Whether a look that has no pictures yet gets a name to keep them under.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Unseen {
    /// Nothing is written for somebody who only looks.
    Leave,
    /// The year that is asked for now is the first.
    Settle,
}

/// Where the pictures of an order's look are; `None`: there are none, and there is no name for them yet.
pub(super) async fn kept(app: &App, order: &Order, unseen: Unseen) -> Result<Option<Kept>, sqlx::Error> {
    let home = home(app, &app.pictures, &app.renders, &order.vehicle, order.variant.view, unseen).await?;
    Ok(home.map(|home| Kept { vehicle: drawn(app, &home, &order.vehicle), variant: order.variant.of_vehicle(home) }))
}

/// Under which name an order's picture is kept, if there are any of its look.
pub async fn kept_variant(app: &App, order: &Order) -> Result<Option<Variant>, sqlx::Error> {
    Ok(kept(app, order, Unseen::Leave).await?.map(|kept| kept.variant))
}

/// Where the pictures of a vehicle are that is wanted before anybody asks.
pub async fn home_ahead(app: &App, vehicle: &Vehicle, view: View) -> Result<VehicleKey, sqlx::Error> {
    let home = home(app, &app.pictures, &app.renders, vehicle, view, Unseen::Settle).await?;
    Ok(home.unwrap_or_else(|| app.catalog.now().key_of(vehicle)))
}

/// What is drawn for a name; like it but for the year where a newer catalog lacks it.
pub fn drawn(app: &App, key: &VehicleKey, like: &Vehicle) -> Vehicle {
    let found = app.catalog.now().of_parts(&key.make, &key.model, key.body, key.year);
    found.map_or_else(|| Vehicle { year: key.year, ..like.clone() }, |found| found.vehicle)
}

async fn home(
    app: &App,
    pictures: &Pictures,
    renders: &Renders,
    vehicle: &Vehicle,
    view: View,
    unseen: Unseen,
) -> Result<Option<VehicleKey>, sqlx::Error> {
    let place = (vehicle.clone(), view);
    if let Some(home) = pictures.homes.get(&place) {
        return Ok(Some(home));
    }
    let catalog = app.catalog.now();
    let (look, own) = (catalog.look(vehicle), catalog.key_of(vehicle));
    let home = match unseen {
        Unseen::Leave => renders.home(&look, view).await?,
        Unseen::Settle => Some(renders.home_or(&look, view, own).await?),
    };
    if let Some(home) = &home {
        pictures.homes.insert(place, home.clone());
    }
    Ok(home)
}
