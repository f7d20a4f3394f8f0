//! `POST /admin/catalog/reload`: the release file is read again, without a restart. Each process has its own.

use crate::app::App;
use crate::catalog::{Catalog, Counts, ReloadError};
use crate::http::error::Problem;
use crate::http::extract::Operator;
use axum::Json;
use axum::extract::State;
use serde::Serialize;

#[derive(Debug, Serialize)]
pub struct ReloadedView {
    package: String,
    sha256: String,
    /// Whether it is another than before.
    changed: bool,
    counts: Counts,
}

pub async fn reload(State(app): State<App>, _: Operator) -> Result<Json<ReloadedView>, Problem> {
    let before = app.catalog.now().digest().to_owned();
    let reading = tokio::task::spawn_blocking({
        let app = app.clone();
        move || app.catalog.reload()
    });
    let catalog = match reading.await {
        Ok(read) => read.map_err(refused)?,
        Err(error) => {
            tracing::error!(error = &error as &dyn std::error::Error, "reading the catalog broke off");
            return Err(Problem::internal());
        }
    };
    let view = view(&catalog, &before);
    tracing::info!(
        package = view.package,
        sha256 = view.sha256,
        changed = view.changed,
        "catalog reloaded by the operator"
    );
    Ok(Json(view))
}

/// The operator's own files: what is wrong with them is told in full.
fn refused(error: ReloadError) -> Problem {
    let code = match &error {
        ReloadError::BuiltIn => "catalog_built_in",
        ReloadError::Release(_) => "catalog_not_good",
    };
    let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}")).unwrap_or_default();
    Problem::conflict(code, format!("{error}{cause}."))
}

fn view(catalog: &Catalog, before: &str) -> ReloadedView {
    ReloadedView {
        package: catalog.package().to_owned(),
        sha256: catalog.digest().to_owned(),
        changed: catalog.digest() != before,
        counts: catalog.counts(),
    }
}
