//! Operations that find vehicles and list the options of images. All are free.

use super::pictures::encoded;
use super::{Client, decode};
use crate::error::Error;
use crate::transport::{Answer, Request};
use crate::types::{
    CheckResponse, CheckRow, ImageOptionsResponse, ResolveRequest, ResolveResponse, VehicleList, VehicleResponse,
    VehiclesQuery, VehiclesResponse, VinResponse,
};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;

impl Client {
    /// Returns the vehicle and image that a few words mean, or the vehicle of a vehicle
    /// identification number (VIN). Let a person decide when `confidence` is not `high`.
    pub async fn resolve_image(&self, asked: &ResolveRequest) -> Result<ResolveResponse, Error> {
        self.json(&Request::post("/api/v1/images/resolve").body(asked)?.repeatable(true)).await
    }

    /// Returns a part of the catalog: years, makes of a year, models of a make, years of a model,
    /// or the results of a search.
    pub async fn get_vehicles(&self, asked: &VehiclesQuery) -> Result<VehiclesResponse, Error> {
        let answer = self.transport.send(&Request::get("/api/v1/vehicles").query(asked)?, None).await?;
        match asked {
            VehiclesQuery { q: Some(_), .. } => part(&answer, VehicleList::Results),
            VehiclesQuery { make: Some(_), model: None, .. } => part(&answer, VehicleList::Models),
            VehiclesQuery { make: Some(_), .. } => part(&answer, VehicleList::ModelYears),
            VehiclesQuery { year: Some(_), make_id: None, .. } => part(&answer, VehicleList::Makes),
            VehiclesQuery { year: Some(_), .. } => part(&answer, VehicleList::ModelsOfId),
            _ => part(&answer, VehicleList::Years),
        }
    }

    /// Returns a vehicle by its permanent id: names, years, bodies, generations, and the images
    /// that are stored.
    pub async fn get_vehicle(&self, id: &str) -> Result<VehicleResponse, Error> {
        self.json(&Request::get(format!("/api/v1/vehicles/{}", encoded(id)))).await
    }

    /// Checks 1 to 100 vehicles against the catalog, and returns the nearest vehicle for each that
    /// it does not have. A nearest vehicle is marked as a suggestion, never as a match.
    pub async fn check_vehicles(&self, vehicles: &[CheckRow]) -> Result<CheckResponse, Error> {
        let request = Request::post("/api/v1/vehicles/check").body(&json!({ "vehicles": vehicles }))?;
        self.json(&request.repeatable(true)).await
    }

    /// Returns the vehicle of a vehicle identification number (VIN). `year` helps where the number
    /// leaves the model year open.
    pub async fn decode_vin(&self, vin: &str, year: Option<i64>) -> Result<VinResponse, Error> {
        let request = Request::get(format!("/api/v1/vehicles/vin/{}", encoded(vin)));
        self.json(&request.query(&json!({ "year": year }))?).await
    }

    /// Returns views, colors, sizes, formats, prices and limits.
    pub async fn get_image_options(&self) -> Result<ImageOptionsResponse, Error> {
        self.json(&Request::get("/api/v1/images/options")).await
    }
}

fn part<Part: DeserializeOwned>(answer: &Answer, list: fn(Part) -> VehicleList) -> Result<VehiclesResponse, Error> {
    #[derive(Deserialize)]
    struct Document<Part> {
        data: Part,
        request_id: String,
    }
    let document: Document<Part> = decode(answer)?;
    Ok(VehiclesResponse { data: list(document.data), request_id: document.request_id })
}
