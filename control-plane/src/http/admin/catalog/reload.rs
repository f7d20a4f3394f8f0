//! `POST /admin/catalog/reload`: every process reads its release file again, without
//! a restart. This process reads first: a file that is not good here is refused
//! before the other processes are asked.

use crate::app::App;
use crate::catalog::reload::Holder;
use crate::catalog::{Catalog, Counts, ReloadError};
use crate::http::error::Problem;
use crate::http::operator::Operator;
use axum::Json;
use axum::extract::State;
use serde::Serialize;

#[derive(Debug, Serialize)]
pub struct ReloadedView {
    package: String,
    sha256: String,
    /// True if the release differs from the one before.
    changed: bool,
    counts: Counts,
    /// True if every process that answers has read its file, found it
    /// good, and uses this release now.
    everywhere: bool,
    processes: Vec<Holder>,
}

pub async fn reload(State(app): State<App>, _: Operator) -> Result<Json<ReloadedView>, Problem> {
    let before = app.catalog.now().digest().to_owned();
    let catalog = app.catalog_reload.read().await.map_err(|_| Problem::internal())?.map_err(refused)?;
    let view = view(&catalog, &before, app.catalog_reload.ask_all().await?);
    tracing::info!(
        package = view.package,
        sha256 = view.sha256,
        changed = view.changed,
        everywhere = view.everywhere,
        "catalog reloaded by the operator"
    );
    Ok(Json(view))
}

/// Refuses with the complete cause: the files are the operator's own.
fn refused(error: ReloadError) -> Problem {
    let code = match &error {
        ReloadError::BuiltIn => "catalog_built_in",
        ReloadError::Release(_) => "catalog_not_good",
    };
    let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}")).unwrap_or_default();
    Problem::conflict(code, format!("{error}{cause}."))
}

fn view(catalog: &Catalog, before: &str, processes: Vec<Holder>) -> ReloadedView {
    ReloadedView {
        package: catalog.package().to_owned(),
        sha256: catalog.digest().to_owned(),
        changed: catalog.digest() != before,
        counts: catalog.counts(),
        everywhere: processes.iter().all(|holder| {
            holder.is_current && holder.refused.is_none() && holder.sha256.as_deref() == Some(catalog.digest())
        }),
        processes,
    }
}
