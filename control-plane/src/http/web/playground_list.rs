//! `GET` and `POST /playground/list`: finds the vehicles of a list, each given in words or by its
//! VIN, without an account. The list is neither logged nor stored.

use super::form::Form;
use super::format::capital;
use super::playground::{body_label, plain};
use super::visit::PageSession;
use crate::app::App;
use crate::catalog::Catalog;
use crate::delivery::tracking::without_tags;
use crate::delivery::{Endpoint, ImageRequest, Order};
use crate::http::answers::vehicle::StoredView;
use crate::http::answers::vehicle_check::{CheckRow, CheckStatus, CheckedVehicle, ROWS_MAX, check};
use crate::http::client_ip::ClientIp;
use crate::http::error::Problem;
use crate::http::rate_limit::counted_by_address;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;
use url::form_urlencoded::Serializer;

/// A list of the longest lines that are read, each byte of which takes three in a form.
pub const BODY_BYTES_MAX: usize = 64 << 10;

/// Maximum number of results with an image: fewer than the free images of a minute.
const PICTURES_MAX: usize = 40;

#[derive(Serialize)]
struct Page {
    list: String,
    wrong: Option<String>,
    results: Vec<LineResult>,
    /// The number of lines of each status, in words.
    counts: Vec<String>,
    lines_max: usize,
}

#[derive(Serialize)]
struct LineResult {
    line: String,
    status: &'static str,
    /// The status in the words of the page.
    label: &'static str,
    /// Make, model, year and body.
    name: Option<String>,
    /// Address of the vehicle in the playground.
    link: Option<String>,
    /// Address of a stored image.
    picture: Option<String>,
    note: Option<String>,
}

impl Page {
    fn new(list: String) -> Self {
        Page { list, wrong: None, results: Vec::new(), counts: Vec::new(), lines_max: ROWS_MAX }
    }
}

pub async fn get(State(app): State<App>, visit: PageSession) -> Result<Response, Problem> {
    show(&app, &visit, StatusCode::OK, &Page::new(String::new())).await
}

pub async fn post(State(app): State<App>, ip: ClientIp, visit: PageSession, form: Form) -> Response {
    // A list of the maximum length counts like that many reads of the catalog.
    let limit = (app.config.limits.public_reads_per_minute / ROWS_MAX as i64).max(1);
    counted_by_address(&app, ip, "playground list", limit, find(&app, &visit, form.text("list"))).await
}

async fn find(app: &App, visit: &PageSession, list: &str) -> Result<Response, Problem> {
    let lines: Vec<&str> = list.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let mut page = Page::new(list.to_owned());
    if lines.is_empty() || lines.len() > ROWS_MAX {
        page.wrong = Some(match lines.len() {
            0 => "Enter at least one vehicle.".to_owned(),
            count => format!("A list has at most {ROWS_MAX} lines. This one has {count}."),
        });
        return show(app, visit, StatusCode::BAD_REQUEST, &page).await;
    }
    let rows: Vec<CheckRow> = lines.iter().map(|line| CheckRow::of_line(line)).collect();
    let checked = check(app, &rows).await?;
    let count = |status: CheckStatus| checked.iter().filter(|one| one.status == status.as_str()).count();
    page.counts = CheckStatus::ALL
        .iter()
        .map(|status| (count(*status), label(status.as_str())))
        .filter(|(count, _)| *count > 0)
        .map(|(count, label)| format!("{count} {label}"))
        .collect();
    let catalog = app.catalog.now();
    let mut pictures = 0;
    for (line, vehicle) in lines.into_iter().zip(checked) {
        let mut result = LineResult::of(app, &catalog, line, vehicle);
        pictures += usize::from(result.picture.is_some());
        result.picture = result.picture.filter(|_| pictures <= PICTURES_MAX);
        page.results.push(result);
    }
    show(app, visit, StatusCode::OK, &page).await
}

/// Sends the page with the visitor's cookie, for which its images are free.
async fn show(app: &App, visit: &PageSession, status: StatusCode, page: &Page) -> Result<Response, Problem> {
    visit.issue_visitor_cookie(app).await?;
    visit.form(app, "playground_list.html", status, page).await
}

fn label(status: &str) -> &'static str {
    match status {
        "match" => "found",
        "suggestion" => "nearest",
        "miss" => "not found",
        _ => "not readable",
    }
}

impl LineResult {
    fn of(app: &App, catalog: &Catalog, line: &str, checked: CheckedVehicle) -> Self {
        let CheckedVehicle { status, vehicle_id, make, model, year, body, reason, stored, vin_suggestion, .. } =
            checked;
        let named = make.zip(model).and_then(|(make, model)| {
            let make = catalog.find_make(&make).ok()?;
            let model = catalog.find_model(make, &model).ok()?;
            let body = body?.parse().map_or_else(|_| String::new(), |body| format!(", {}", body_label(body)));
            Some(format!("{} {} {}{body}", make.name, model.name, year?))
        });
        let query = vehicle_id.zip(year).map(|(id, year)| {
            let pairs = [("vehicle", id), ("year", year.to_string())];
            Serializer::new(String::new()).extend_pairs(pairs).finish()
        });
        let picture = query.as_ref().zip(stored).and_then(|(query, stored)| {
            let StoredView { view, colors } = stored.into_iter().next()?;
            let color = colors.into_iter().next()?;
            let (pairs, _) = without_tags(&format!("{query}&view={view}&color={color}&size=small&format=webp"));
            let request = ImageRequest::parse(&pairs, Endpoint::Page).ok()?;
            let order = Order::find(catalog, &app.missing_vehicles, &request).ok()?;
            Some(format!("/images/car.png?{}", request.canonical_query(&order.variant)))
        });
        let vin = vin_suggestion.map(|vin| format!("The number that was probably meant is {vin}."));
        LineResult {
            line: line.to_owned(),
            status,
            label: label(status),
            name: named,
            link: query.map(|query| format!("/playground?{query}")),
            picture,
            note: vin.or_else(|| reason.map(|reason| plain(&capital(&reason.replace("`query`", "the line"))))),
        }
    }
}
