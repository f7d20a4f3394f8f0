//! The looks of models during one plan: the years of a model that share their images.

use crate::catalog::{Catalog, Look};
use cyclorama_core::{BodyClass, Vehicle, VehicleKey};
use std::collections::HashMap;

/// The looks of models. Each model is looked up once, because a plan names many years of one model.
#[derive(Default)]
pub struct ModelLooks(HashMap<(String, String, BodyClass), Vec<Look>>);

impl ModelLooks {
    /// Returns the years that have the same look as the vehicle, including its own.
    pub fn years_alike(&mut self, catalog: &Catalog, vehicle: &Vehicle) -> Vec<VehicleKey> {
        let own = catalog.key_of(vehicle);
        self.of(catalog, vehicle).map_or_else(|| vec![own], |look| look.keys.clone())
    }

    /// Returns the id of a vehicle's look.
    pub fn id(&mut self, catalog: &Catalog, vehicle: &Vehicle) -> String {
        self.of(catalog, vehicle).map_or_else(|| catalog.look(vehicle).id, |look| look.id.clone())
    }

    fn of(&mut self, catalog: &Catalog, vehicle: &Vehicle) -> Option<&Look> {
        let Vehicle { make, model, body, .. } = vehicle;
        let of_model = (make.clone(), model.clone(), *body);
        let looks = self.0.entry(of_model).or_insert_with(|| catalog.looks(make, model, *body));
        let own = catalog.key_of(vehicle);
        looks.iter().find(|look| look.keys.contains(&own))
    }
}
