//! Rows of variants: each has an image, or says that one is wanted.

use crate::clock::UnixMs;
use crate::db::Tx;
use crate::renders::state::{RenderState, column};
use crate::renders::{RenderedImage, Renders};
use cyclorama_core::Variant;
use sqlx::any::AnyRow;
use sqlx::{Any, Executor, Row};

/// The outcome of enqueueing a variant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EnqueueOutcome {
    Done(RenderedImage),
    /// The live job makes the image, or the one after it will. `round` distinguishes this wait from
    /// earlier ones.
    Waiting {
        render_id: String,
        round: i64,
    },
}

/// A variant's row.
pub struct VariantRow {
    pub render_id: String,
    pub state: RenderState,
    pub round: i64,
    pub picture: Option<RenderedImage>,
    pub failure: Option<(String, String)>,
}

const RENDER_COLUMNS: &str = "id, state, round, revision, master_sha256, failure_kind, failure_detail";

impl VariantRow {
    /// Returns the row of a variant, if it was ever wanted.
    async fn find(executor: impl Executor<'_, Database = Any>, variant: &Variant) -> Result<Option<Self>, sqlx::Error> {
        let row = sqlx::query(sqlx::AssertSqlSafe(format!(
            "select {RENDER_COLUMNS} from renders where vehicle_key = $1 and view = $2 and color = $3"
        )))
        .bind(variant.vehicle_key())
        .bind(variant.view.as_str())
        .bind(variant.paint.to_string())
        .fetch_optional(executor)
        .await?;
        row.map(|row| VariantRow::read(&row)).transpose()
    }

    fn read(row: &AnyRow) -> Result<Self, sqlx::Error> {
        let render_id: String = row.try_get("id")?;
        let state = column(row.try_get("state")?, "renders.state", &render_id)?;
        let picture = match state {
            RenderState::Done => Some(RenderedImage {
                render_id: render_id.clone(),
                revision: row.try_get("revision")?,
                master_sha256: row.try_get("master_sha256")?,
            }),
            _ => None,
        };
        let failure = match state {
            RenderState::Failed => Some((row.try_get("failure_kind")?, row.try_get("failure_detail")?)),
            _ => None,
        };
        Ok(VariantRow { render_id, state, round: row.try_get("round")?, picture, failure })
    }
}

impl Renders {
    /// Returns the variant's image, if there is one.
    pub async fn find(&self, variant: &Variant) -> Result<Option<RenderedImage>, sqlx::Error> {
        Ok(VariantRow::find(&self.0.database.readers, variant).await?.and_then(|row| row.picture))
    }

    /// True if the variant is being made already.
    pub async fn is_in_the_making(&self, variant: &Variant) -> Result<bool, sqlx::Error> {
        let sql = "select 1 from renders where vehicle_key = $1 and view = $2 and color = $3 and state = 'wanted'";
        let found = sqlx::query(sql)
            .bind(variant.vehicle_key())
            .bind(variant.view.as_str())
            .bind(variant.paint.to_string())
            .fetch_optional(&self.0.database.readers)
            .await?;
        Ok(found.is_some())
    }

    pub(super) async fn variant_row(&self, render_id: &str) -> Result<Option<VariantRow>, sqlx::Error> {
        let row = sqlx::query(sqlx::AssertSqlSafe(format!("select {RENDER_COLUMNS} from renders where id = $1")))
            .bind(render_id)
            .fetch_optional(&self.0.database.readers)
            .await?;
        row.map(|row| VariantRow::read(&row)).transpose()
    }
}

/// Marks the rows of variants as wanted that are neither done nor wanted. Returns the outcomes in
/// the order of `variants`, or `None` if another process was quicker.
pub async fn want_rows(
    tx: &mut Tx<'_>,
    now: UnixMs,
    variants: &[Variant],
) -> Result<Option<Vec<EnqueueOutcome>>, sqlx::Error> {
    // All transactions use the same order, so that two that want several paints do not deadlock.
    let mut in_order: Vec<(usize, &Variant)> = variants.iter().enumerate().collect();
    in_order.sort_by_key(|(_, variant)| variant.paint.to_string());
    let mut all = Vec::with_capacity(variants.len());
    for (place, variant) in in_order {
        match want_row(tx, now, variant).await? {
            Some(wanted) => all.push((place, wanted)),
            None => return Ok(None),
        }
    }
    all.sort_by_key(|(place, _)| *place);
    Ok(Some(all.into_iter().map(|(_, wanted)| wanted).collect()))
}

async fn want_row(tx: &mut Tx<'_>, now: UnixMs, variant: &Variant) -> Result<Option<EnqueueOutcome>, sqlx::Error> {
    let render_id = uuid::Uuid::now_v7().to_string();
    let inserted = sqlx::query(
        "insert into renders (id, vehicle_key, view, color, state, round, changed_at_ms) values ($1, $2, $3, $4, 'wanted', 1, $5)
         on conflict do nothing",
    )
    .bind(&render_id)
    .bind(variant.vehicle_key())
    .bind(variant.view.as_str())
    .bind(variant.paint.to_string())
    .bind(now.0)
    .execute(&mut **tx)
    .await?;
    match inserted.rows_affected() {
        0 => want_again(tx, variant, now).await,
        _ => Ok(Some(EnqueueOutcome::Waiting { render_id, round: 1 })),
    }
}

/// Returns the image of a variant that has a row, or a wait for the image. Returns `None` if
/// another process was quicker.
async fn want_again(tx: &mut Tx<'_>, variant: &Variant, now: UnixMs) -> Result<Option<EnqueueOutcome>, sqlx::Error> {
    let row = VariantRow::find(&mut **tx, variant).await?.ok_or(sqlx::Error::RowNotFound)?;
    let round = match row.state {
        RenderState::Done => return Ok(row.picture.map(EnqueueOutcome::Done)),
        RenderState::Wanted => row.round,
        RenderState::Expired | RenderState::Failed => {
            let changed = sqlx::query(
                "update renders set state = 'wanted', round = round + 1, failure_kind = null, failure_detail = null, changed_at_ms = $1
                 where id = $2 and state = $3 and round = $4",
            )
            .bind(now.0)
            .bind(&row.render_id)
            .bind(row.state.as_str())
            .bind(row.round)
            .execute(&mut **tx)
            .await?;
            if changed.rows_affected() != 1 {
                return Ok(None);
            }
            row.round + 1
        }
    };
    Ok(Some(EnqueueOutcome::Waiting { render_id: row.render_id, round }))
}
