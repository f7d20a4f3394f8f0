//! Signed URLs as the database has them, and as this process remembers them.

use super::super::{ImageRequest, Images, Order, request};
use super::SigningKeys;
use crate::accounts::api_key::ApiKeys;
use crate::catalog::{Catalog, CurrentCatalog};
use crate::clock::{Clock, UnixMs};
use crate::db::{Database, DatabaseKind};
use crate::ledger::Meter;
use cyclorama_core::VehicleKey;
use moka::sync::Cache;
use sqlx::Row;
use sqlx::any::AnyRow;
use std::str::FromStr;
use std::sync::Arc;
use tokio::sync::Semaphore;
use uuid::Uuid;

/// Maximum number of signed URLs that one process remembers: an entry takes about 500 bytes.
const REMEMBERED_MAX: u64 = 20_000;

/// Maximum number of loads that are recorded at once: an eighth of what the meter's queue holds, so
/// that they leave room for other paying requests.
const RECORDED_AT_ONCE: usize = 512;

/// A signed URL as the database has it.
#[derive(Debug, Clone)]
pub(super) struct SignedUrl {
    pub(super) id: Uuid,
    /// The id of the key that minted it.
    pub(super) key_id: String,
    pub(super) account_id: String,
    /// `None` if the catalog no longer has the vehicle.
    pub(super) order: Option<Order>,
    pub(super) max_uses: i64,
    pub(super) uses: i64,
    pub(super) consumed: bool,
    pub(super) key_revoked: bool,
    pub(super) expires_at: UnixMs,
}

impl SignedUrl {
    fn read(row: &AnyRow, id: Uuid, catalog: &Catalog) -> Result<Self, sqlx::Error> {
        let pixels = |column: &str| -> Result<Option<u32>, sqlx::Error> {
            Ok(row.try_get::<Option<i64>, _>(column)?.and_then(|pixels| u32::try_from(pixels).ok()))
        };
        let (width, height) = (pixels("width")?, pixels("height")?);
        let frame: String = row.try_get("frame")?;
        let frame = request::frame_of_query(&frame, width, height)
            .ok_or_else(|| sqlx::Error::Decode(format!("delivery_urls.frame of {id} is `{frame}`").into()))?;
        let has_body = !row.try_get::<&str, _>("body")?.is_empty();
        let key = VehicleKey {
            make: row.try_get("make")?,
            model: row.try_get("model")?,
            body: if has_body { Some(stored(row, "body", id)?) } else { None },
            year: u16::try_from(row.try_get::<i64, _>("year")?).unwrap_or_default(),
        };
        let request = ImageRequest {
            format: stored(row, "format", id)?,
            frame,
            ..ImageRequest::of_stored(&key, stored(row, "view", id)?, stored(row, "color", id)?)
        };
        Ok(SignedUrl {
            key_id: row.try_get("key_id")?,
            account_id: row.try_get("account_id")?,
            order: Order::stored(catalog, &key, &request),
            max_uses: row.try_get("max_uses")?,
            uses: row.try_get("uses")?,
            consumed: row.try_get::<String, _>("state")? == "consumed",
            key_revoked: row.try_get::<Option<i64>, _>("revoked_at_ms")?.is_some(),
            expires_at: UnixMs(row.try_get("expires_at_ms")?),
            id,
        })
    }

    pub(super) fn was_loaded(&self) -> bool {
        self.uses > 0
    }

    pub(super) fn is_capped(&self) -> bool {
        self.max_uses > 0
    }
}

fn stored<T: FromStr>(row: &AnyRow, column: &str, id: Uuid) -> Result<T, sqlx::Error> {
    let text: String = row.try_get(column)?;
    text.parse().map_err(|_| sqlx::Error::Decode(format!("delivery_urls.{column} of {id} is `{text}`").into()))
}

/// Signed URLs as this process knows them.
///
/// A remembered URL can change in three ways only: it expires, which every load checks, its key is
/// revoked, or the catalog is reloaded. On SQLite this process is the only one that can revoke. On
/// PostgreSQL any process may, and revoking takes effect at once, so every load reads the row.
#[derive(Debug)]
pub struct SignedUrls {
    pub(super) sources: SignedUrlSources,
    /// Each URL with the numbers of revocations and of catalog reloads before it was read. The
    /// entry is valid for as long as neither number has changed.
    remembered: Cache<Uuid, ([u64; 2], Arc<SignedUrl>)>,
    /// Limits the loads that are recorded at once.
    pub(super) recording: Semaphore,
}

/// The parts with which signed URLs are read, and in which their images are found.
#[derive(Debug)]
pub struct SignedUrlSources {
    pub db: Database,
    pub clock: Clock,
    pub catalog: Arc<CurrentCatalog>,
    pub keys: Arc<ApiKeys>,
    pub signing_keys: Arc<SigningKeys>,
    pub pictures: Images,
    pub meter: Meter,
}

impl SignedUrls {
    pub fn new(sources: SignedUrlSources) -> Self {
        SignedUrls { sources, remembered: Cache::new(REMEMBERED_MAX), recording: Semaphore::new(RECORDED_AT_ONCE) }
    }

    /// Returns the signed URL with this id, from memory if it is still valid there, else from the
    /// database.
    pub(super) async fn find(&self, id: Uuid) -> Result<Option<Arc<SignedUrl>>, sqlx::Error> {
        let SignedUrlSources { db, catalog, keys, .. } = &self.sources;
        let seen = [keys.revocations(), catalog.reloads()];
        if let Some((then, address)) = self.remembered.get(&id)
            && then == seen
        {
            return Ok(Some(address));
        }
        let row = sqlx::query(
            "select u.key_id, u.make, u.model, u.year, u.body, u.view, u.color, u.format, u.width, u.height, u.frame,
            u.max_uses, u.uses, u.state,
                    u.expires_at_ms, k.revoked_at_ms, k.account_id
             from delivery_urls u join api_keys k on k.id = u.key_id where u.id = $1",
        )
        .bind(id.to_string())
        .fetch_optional(&db.readers)
        .await?;
        let Some(address) = row.map(|row| SignedUrl::read(&row, id, &catalog.now())).transpose()?.map(Arc::new) else {
            return Ok(None);
        };
        // Caps and first loads are counted in the database, so only a URL without a cap that was
        // loaded before may be remembered.
        let settled = address.was_loaded() && !address.is_capped() && !address.key_revoked;
        if settled && db.kind == DatabaseKind::Sqlite {
            self.remembered.insert(id, (seen, address.clone()));
        }
        Ok(Some(address))
    }
}
