//! `GET /playground`: a picture of one's own choice without an account, and the request that would fetch it. The page gives out the visitor's
//! cookie that its pictures are free for.

use super::visit::Visit;
use super::words::capital;
use crate::app::App;
use crate::delivery::tracking::without_tags;
use crate::delivery::{Endpoint, ImageRequest, Order, ResponseKind};
use crate::http::error::Problem;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::response::Response;
use cyclorama_core::{Colour, Format, SizePreset, View};
use serde::Serialize;
use url::form_urlencoded;

/// What is shown before anything is chosen.
const FIRST: &str = "make=porsche&model=911&year=2024&view=front-3-4&color=red&size=large&format=webp";

#[derive(Serialize)]
struct Page {
    make: String,
    model: String,
    year: String,
    view: String,
    color: String,
    size: String,
    format: String,
    views: Vec<Choice>,
    colors: Vec<Choice>,
    sizes: Vec<Choice>,
    formats: Vec<Choice>,
    wrong: Option<String>,
    suggestions: Vec<Suggested>,
    shown: Option<Shown>,
    year_from: u16,
    year_to: u16,
}

#[derive(Serialize)]
struct Choice {
    value: &'static str,
    label: String,
    yaw: u32,
    is_chosen: bool,
}

/// Another vehicle that may have been meant.
#[derive(Serialize)]
struct Suggested {
    name: String,
    link: String,
}

#[derive(Serialize)]
struct Shown {
    name: String,
    alt: String,
    picture: String,
    curl: String,
    html: String,
    javascript: String,
    python: String,
}

pub async fn get(State(app): State<App>, visit: Visit, RawQuery(query): RawQuery) -> Result<Response, Problem> {
    let (mut pairs, _) = without_tags(query.as_deref().unwrap_or_default());
    if pairs.is_empty() {
        (pairs, _) = without_tags(FIRST);
    }
    // Empty fields of a form are choices not made.
    pairs.retain(|(_, value)| !value.trim().is_empty());
    let mut page = Page::asked(&app, &pairs);
    let mut status = StatusCode::OK;
    match ImageRequest::parse(&pairs, Endpoint::Page) {
        Err(bad) => {
            page.wrong = Some(plain(&bad.detail));
            status = StatusCode::BAD_REQUEST;
        }
        Ok(request) => match app.catalog.now().find(&request.make, &request.model, request.year) {
            Err(missing) => {
                page.suggest(&pairs, &missing);
                page.wrong = Some(plain(&missing.detail));
                status = StatusCode::NOT_FOUND;
            }
            Ok(found) => {
                let name = format!("{} {} {}", found.make_name, found.model_name, request.year);
                match Order::find(&app, &request) {
                    Ok(order) => page.shown = Some(Shown::of(&app, name, &request, &order)),
                    Err(missing) => page.wrong = Some(plain(&missing.detail)),
                }
            }
        },
    }
    visit.welcome(&app).await?;
    visit.form(&app, "playground.html", status, &page).await
}

impl Page {
    /// What was chosen, as the fields show it.
    fn asked(app: &App, pairs: &[(String, String)]) -> Self {
        let chosen = |name: &str, usual: &str| {
            pairs.iter().find(|(key, _)| key == name).map_or(usual.to_owned(), |(_, value)| value.clone())
        };
        let (view, color) = (chosen("view", View::default().as_str()), chosen("color", Colour::default().as_str()));
        let (size, format) = (chosen("size", "large"), chosen("format", Format::default().as_str()));
        let choice = |value: &'static str, label: String, yaw, chosen: &str| Choice {
            is_chosen: value == chosen,
            value,
            label,
            yaw,
        };
        let counts = app.catalog.now().counts();
        Page {
            views: View::ALL
                .iter()
                .map(|one| choice(one.as_str(), one.label().to_owned(), one.yaw_degrees(), &view))
                .collect(),
            colors: Colour::ALL.iter().map(|one| choice(one.as_str(), one.as_str().to_owned(), 0, &color)).collect(),
            sizes: SizePreset::ALL
                .iter()
                .map(|one| choice(one.as_str(), format!("{} px", one.side_px()), 0, &size))
                .collect(),
            formats: Format::ALL.iter().map(|one| choice(one.as_str(), written(*one).to_owned(), 0, &format)).collect(),
            make: chosen("make", ""),
            model: chosen("model", ""),
            year: chosen("year", ""),
            view,
            color,
            size,
            format,
            wrong: None,
            suggestions: Vec::new(),
            shown: None,
            year_from: counts.year_from,
            year_to: counts.year_to,
        }
    }

    /// The nearest vehicles of the catalog, with everything else as it was chosen.
    fn suggest(&mut self, pairs: &[(String, String)], missing: &crate::catalog::NotFound) {
        let suggested = missing.suggestions.iter().filter_map(|near| {
            let (model_name, model_slug) = (near.model_name.as_ref()?, near.model_slug.as_ref()?);
            let year = near.years.iter().find(|year| year.to_string() == self.year).or(near.years.last())?.to_string();
            let link = form_urlencoded::Serializer::new("/playground?".to_owned())
                .extend_pairs([
                    ("make", near.make_slug.as_str()),
                    ("model", model_slug.as_str()),
                    ("year", year.as_str()),
                ])
                .extend_pairs(
                    pairs.iter().filter(|(key, _)| !["make", "brand", "model", "year"].contains(&key.as_str())),
                )
                .finish();
            Some(Suggested { name: format!("{} {model_name} {year}", near.make_name), link })
        });
        self.suggestions = suggested.collect();
    }
}

impl Shown {
    fn of(app: &App, name: String, request: &ImageRequest, order: &Order) -> Self {
        let (make, model) = (&order.variant.make, &order.variant.model);
        let query = ImageRequest { response: ResponseKind::Image, ..request.clone() }.canonical_query(make, model);
        let address = format!("{}/api/v1/images/car?{query}", app.base_url);
        let file = format!("{make}-{model}.{}", order.format.as_str());
        let (width, height) = order.frame.size_px();
        Shown {
            alt: format!("{} {name}, {}", capital(&request.paint.color()), request.view.description()),
            picture: format!("/images/car.png?{query}"),
            curl: format!("curl -H \"Authorization: Bearer $CYCLORAMA_KEY\" \\\n  \"{address}\" -o {file}"),
            html: format!(
                "<!-- The address comes from POST /api/v1/image-urls on your server: it holds no key. -->\n<img src=\"{}/api/v1/delivery/...\" alt=\"{name}\" width=\"{width}\" height=\"{height}\">",
                app.base_url
            ),
            javascript: format!(
                "const answer = await fetch(\n  \"{address}\",\n  {{ headers: {{ Authorization: `Bearer ${{process.env.CYCLORAMA_KEY}}` }} }},\n);\nif (!answer.ok) throw new Error((await answer.json()).detail);\nconst picture = Buffer.from(await answer.arrayBuffer());"
            ),
            python: format!(
                "import os, urllib.request\n\nrequest = urllib.request.Request(\n    \"{address}\",\n    headers={{\"Authorization\": \"Bearer \" + os.environ[\"CYCLORAMA_KEY\"]}},\n)\nwith urllib.request.urlopen(request) as answer, open(\"{file}\", \"wb\") as file:\n    file.write(answer.read())"
            ),
            name,
        }
    }
}

/// A detail of the API as a sentence for people.
fn plain(detail: &str) -> String {
    format!("{}.", capital(&detail.replace('`', "\"")).trim_end_matches('.'))
}

const fn written(format: Format) -> &'static str {
    match format {
        Format::Png => "PNG",
        Format::Webp => "WebP",
        Format::Jpg => "JPG",
        Format::Avif => "AVIF",
    }
}
