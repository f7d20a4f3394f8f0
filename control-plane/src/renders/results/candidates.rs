//! Rows of candidates, which wait for an operator's decision.

use crate::db::Tx;
use cyclorama_core::View;

/// Deletes the candidates of a vehicle and view, with their layers.
pub async fn forget(tx: &mut Tx<'_>, vehicle_key: &str, view: View) -> Result<(), sqlx::Error> {
    sqlx::query("delete from candidates where vehicle_key = $1 and view = $2")
        .bind(vehicle_key)
        .bind(view.as_str())
        .execute(&mut **tx)
        .await?;
    forget_layers(tx, vehicle_key, view).await
}

/// Deletes the layers of the candidates of a vehicle and view.
pub async fn forget_layers(tx: &mut Tx<'_>, vehicle_key: &str, view: View) -> Result<(), sqlx::Error> {
    sqlx::query("delete from candidate_layers where vehicle_key = $1 and view = $2")
        .bind(vehicle_key)
        .bind(view.as_str())
        .execute(&mut **tx)
        .await?;
    Ok(())
}
