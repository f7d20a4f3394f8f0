//! Vehicles, deliveries and signed URLs as the dashboard's pages show them.

use crate::app::App;
use crate::delivery::urls::UrlSummary;
use crate::http::web::format::moment;
use crate::ledger::DeliveredImage;
use crate::plural;
use serde::Serialize;

/// Width of the small images in a list, in pixels.
const THUMBNAIL_PX: u32 = 256;

#[derive(Debug, Serialize)]
pub struct ShownVehicle {
    pub name: String,
    pub view: String,
    pub color: String,
    /// URL of the image, which is free for a signed-in user.
    pub picture: String,
}

impl ShownVehicle {
    pub fn of(app: &App, [make, model, year]: [&str; 3], view: &str, color: &str) -> Self {
        let found = app.catalog.now().of_key(&format!("{make}/{model}/{year}"));
        let (model, body) = model.split_once('.').unwrap_or((model, ""));
        let name = match found {
            Some(found) => format!("{} {} {body} {year}", found.make_name, found.model_name).replace("  ", " "),
            // A newer catalog may lack the vehicle.
            None => format!("{make} {model} {year}"),
        };
        let query = url::form_urlencoded::Serializer::new(String::new())
            .extend_pairs([("make", make), ("model", model), ("year", year), ("view", view), ("color", color)])
            .extend_pairs((!body.is_empty()).then_some(("body", body)))
            .append_pair("w", &THUMBNAIL_PX.to_string())
            .append_pair("format", "webp")
            .finish();
        ShownVehicle {
            name,
            view: view.to_owned(),
            color: color.to_owned(),
            picture: format!("/images/car.png?{query}"),
        }
    }
}

#[derive(Debug, Serialize)]
pub struct ShownDelivery {
    pub vehicle: ShownVehicle,
    pub at: String,
    pub request_id: String,
    pub key_name: String,
    pub kind: String,
    pub source: String,
    pub credits: i64,
}

impl ShownDelivery {
    pub fn of(app: &App, delivered: DeliveredImage) -> Self {
        let mut parts = delivered.vehicle_key.splitn(3, '/');
        let vehicle = [(); 3].map(|()| parts.next().unwrap_or_default());
        ShownDelivery {
            vehicle: ShownVehicle::of(app, vehicle, &delivered.view, &delivered.colour),
            at: moment(delivered.at),
            request_id: delivered.request_id,
            key_name: delivered.key_name,
            kind: format!("{} px {}", delivered.width_px, delivered.format),
            source: delivered.source,
            credits: delivered.credits.0,
        }
    }
}

#[derive(Debug, Serialize)]
pub struct ShownUrl {
    pub id: String,
    pub vehicle: ShownVehicle,
    pub key_name: String,
    pub created: String,
    pub expires: String,
    pub uses: String,
    pub state: &'static str,
}

impl ShownUrl {
    pub fn of(app: &App, listed: UrlSummary) -> Self {
        let year = listed.year.to_string();
        ShownUrl {
            vehicle: ShownVehicle::of(app, [&listed.make, &listed.model, &year], &listed.view, &listed.colour),
            id: listed.id,
            key_name: listed.key_name,
            created: moment(listed.created_at),
            expires: moment(listed.expires_at),
            // For a signed URL without a cap, only the first load is counted.
            uses: match (listed.max_uses, listed.uses) {
                (0, 0) => "not loaded yet".to_owned(),
                (0, _) => "loaded".to_owned(),
                (most, uses) => format!("{uses} of {}", plural::count(most, "load")),
            },
            state: listed.state.as_str(),
        }
    }
}
