//! `GET /`: the home page, with a description of the service, six images, one request to copy, and
//! the prices.

use super::dashboard::billing::{ShownPack, packs};
use super::examples::{ExamplesProgress, progress};
use super::format::{capital, thousands};
use super::visit::PageSession;
use crate::app::App;
use crate::delivery::{Example, ImageRequest};
use axum::extract::State;
use axum::response::Response;
use cyclorama_core::{Colour, Format, Framing, View};
use serde::Serialize;

/// Image widths that are offered to browsers, in pixels. Nodes encode these sizes in advance.
const WIDTHS_PX: [u32; 3] = [512, 768, 1024];

#[derive(Debug, Serialize)]
struct Home {
    progress: ExamplesProgress,
    examples: Vec<ShownExample>,
    catalog: CatalogFigures,
    views: Vec<ShownView>,
    colors: Vec<&'static str>,
    curl: String,
    example_location: String,
    free_credits: i64,
    credits_per_dollar: String,
    packs: Vec<ShownPack>,
}

#[derive(Debug, Serialize)]
struct ShownExample {
    number: usize,
    ready: bool,
    name: String,
    color: String,
    view: &'static str,
    view_label: String,
    alt: String,
    src: String,
    srcset: String,
}

#[derive(Debug, Serialize)]
struct CatalogFigures {
    makes: String,
    models: String,
    year_from: u16,
    year_to: u16,
    sources: Vec<String>,
}

#[derive(Debug, Serialize)]
struct ShownView {
    name: &'static str,
    description: &'static str,
    yaw: u32,
}

pub async fn get(State(app): State<App>, visit: PageSession) -> Response {
    app.examples.start_rendering(&app.pictures, &app.stopping);
    let progress = progress(&app).await;
    let examples: Vec<ShownExample> = app
        .examples
        .iter()
        .zip(&progress.examples)
        .map(|(example, standing)| shown(example, standing.number, standing.ready))
        .collect();
    let catalog = app.catalog.now();
    let counts = catalog.counts();
    let location = app.examples.iter().next().map(|first| query(first, Format::Png, None)).unwrap_or_default();
    let home = Home {
        progress,
        examples,
        catalog: CatalogFigures {
            makes: thousands(counts.makes as i64),
            models: thousands(counts.model_names as i64),
            year_from: counts.year_from,
            year_to: counts.year_to,
            sources: catalog.sources().iter().map(|source| source.name.clone()).collect(),
        },
        views: View::ALL
            .iter()
            .map(|view| ShownView { name: view.as_str(), description: view.description(), yaw: view.yaw_degrees() })
            .collect(),
        colors: Colour::ALL.iter().map(|colour| colour.as_str()).collect(),
        curl: format!(
            "curl \"{}/api/v1/images/car?{}\" \\\n  -H \"Authorization: Bearer $CYCLORAMA_KEY\" -o car.png",
            app.base_url,
            location.replace("&format=png", "")
        ),
        example_location: format!("/api/v1/images/car?{location}"),
        free_credits: app.config.prices.free_credits,
        credits_per_dollar: thousands(app.config.prices.credits_per_dollar),
        packs: packs(&app),
    };
    visit.page("home.html", &home)
}

fn shown(example: &Example, number: usize, ready: bool) -> ShownExample {
    let variant = &example.order.variant;
    let address = |width| format!("/images/car.png?{}", query(example, Format::Webp, Some(width)));
    let name = format!("{} {}", example.make_name, example.model_name);
    ShownExample {
        number,
        ready,
        alt: format!("{} {name} of {}, {}", capital(&variant.paint.color()), variant.year, variant.view.description()),
        name: format!("{name}, {}", variant.year),
        color: variant.paint.color(),
        view: variant.view.as_str(),
        view_label: variant.view.label().to_owned(),
        src: address(WIDTHS_PX[1]),
        srcset: WIDTHS_PX.map(|width| format!("{} {width}w", address(width))).join(", "),
    }
}

/// Returns the canonical query of an example in a format and width.
fn query(example: &Example, format: Format, width: Option<u32>) -> String {
    let variant = &example.order.variant;
    let request = ImageRequest {
        format: format.into(),
        frame: Framing { width, ..Framing::default() },
        ..ImageRequest::of_stored(&variant.key(), variant.view, variant.paint)
    };
    request.canonical_query(variant)
}
