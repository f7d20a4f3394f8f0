//! One vehicle by its permanent id.

use super::vehicle_list::{OfferedBody, ShownGeneration, generations, offered_bodies};
use crate::app::App;
use crate::catalog::{Catalog, VehicleId};
use crate::http::error::Problem;
use crate::http::openapi::requests;
use cyclorama_core::Vehicle;
use cyclorama_drawings::{Likeness, likeness};
use serde::Serialize;
use utoipa::ToSchema;

/// Stored images of a view, which are delivered at once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct StoredView {
    #[schema(schema_with = requests::view)]
    pub view: String,
    /// Preset paints, in the order of their names.
    pub colors: Vec<String>,
}

/// A vehicle: a body of a model, in all its years.
#[derive(Debug, Serialize, ToSchema)]
pub struct VehicleOfId {
    #[schema(schema_with = requests::vehicle_id)]
    vehicle_id: String,
    make: String,
    make_name: String,
    model: String,
    model_name: String,
    #[schema(schema_with = requests::body)]
    body: &'static str,
    /// In ascending order.
    years: Vec<u16>,
    /// Spans of years in which it looks the same and has one image, in order of time.
    generations: Vec<ShownGeneration>,
    /// Every body that the model was sold with, this one among them.
    bodies: Vec<OfferedBody>,
    /// How close the image is to the real vehicle, in the best of its years.
    #[schema(schema_with = requests::likeness)]
    likeness: &'static str,
    /// Stored images of the newest year.
    stored: Vec<StoredView>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct VehicleResponse {
    data: VehicleOfId,
    request_id: String,
}

/// Returns the vehicle of an id with its stored images. Returns 404 if the catalog has none.
pub async fn answer(app: &App, id: VehicleId, request_id: String) -> Result<VehicleResponse, Problem> {
    let (data, newest) = {
        let catalog = app.catalog.now();
        of_id(&catalog, id)
            .ok_or_else(|| Problem::not_found("vehicle_not_found", format!("The catalog has no vehicle `{id}`.")))?
    };
    let stored = stored_views(app, &newest).await?;
    Ok(VehicleResponse { data: VehicleOfId { stored, ..data }, request_id })
}

/// Returns the vehicle of an id, and the vehicle of its newest year as it is drawn.
fn of_id(catalog: &Catalog, id: VehicleId) -> Option<(VehicleOfId, Vehicle)> {
    let (make, model, body) = catalog.of_id(id)?;
    let years = catalog.years_of_body(make, model, body);
    let drawn = |year: &u16| catalog.bodies(make, model, *year).into_iter().find(|vehicle| vehicle.body == body);
    let best: Likeness = years.iter().filter_map(drawn).map(|vehicle| likeness(&vehicle)).min()?;
    let newest = years.last().and_then(drawn)?;
    let vehicle = VehicleOfId {
        vehicle_id: id.to_string(),
        make: make.slug.clone(),
        make_name: make.name.clone(),
        model: model.slug.clone(),
        model_name: model.name.clone(),
        body: body.as_str(),
        generations: generations(catalog, make, model, body),
        bodies: offered_bodies(catalog, make, model),
        years,
        likeness: best.as_str(),
        stored: Vec::new(),
    };
    Some((vehicle, newest))
}

/// Returns the views and preset paints of a vehicle that exist, rendered for any year of its look.
pub async fn stored_views(app: &App, vehicle: &Vehicle) -> Result<Vec<StoredView>, sqlx::Error> {
    let look = app.catalog.now().look(vehicle);
    let existing = app.renders.existing(look.keys.iter().map(ToString::to_string)).await?;
    let stored = existing.presets().into_iter();
    Ok(stored
        .map(|(view, colours)| StoredView {
            view: view.as_str().to_owned(),
            colors: colours.iter().map(|colour| colour.as_str().to_owned()).collect(),
        })
        .collect())
}
