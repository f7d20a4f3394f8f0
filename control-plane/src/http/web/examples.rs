//! `GET /api/examples`: which images of the home page have been rendered.

use crate::app::App;
use axum::Json;
use axum::extract::State;
use axum::http::header::CACHE_CONTROL;
use axum::response::IntoResponse;
use serde::Serialize;

#[derive(Debug, Serialize)]
pub struct ExamplesProgress {
    pub ready: usize,
    pub total: usize,
    pub complete: bool,
    pub examples: Vec<Standing>,
}

#[derive(Debug, Serialize)]
pub struct Standing {
    /// Number of the example, from 1, in the order of the page.
    pub number: usize,
    pub ready: bool,
}

/// Returns which examples have been rendered. An image whose lookup fails counts as not rendered:
/// the home page is no place for database errors.
pub async fn progress(app: &App) -> ExamplesProgress {
    let mut examples = Vec::new();
    for (index, example) in app.examples.iter().enumerate() {
        let ready = matches!(app.pictures.rendered(&example.order).await, Ok(Some(_)));
        examples.push(Standing { number: index + 1, ready });
    }
    let ready = examples.iter().filter(|example| example.ready).count();
    ExamplesProgress { ready, total: examples.len(), complete: ready == examples.len(), examples }
}

pub async fn get(State(app): State<App>) -> impl IntoResponse {
    ([(CACHE_CONTROL, "no-store")], Json(progress(&app).await))
}
