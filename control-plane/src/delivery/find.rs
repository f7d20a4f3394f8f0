//! Finding a picture's bytes: in memory, in the store, made from the cached master, made by a node. Each step fills the ones before.

use super::{DeliveryError, Order};
use crate::app::App;
use crate::renders::{Picture, Priority};
use bytes::Bytes;
use cyclorama_core::encoding::{EncodingError, decode_master, derive};
use cyclorama_core::objects::{ObjectError, ObjectStore, keys};
use cyclorama_core::{Format, MASTER_SIDE_PX, Variant};
use moka::{future, sync};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;

/// Variants known to be rendered: some 300 bytes each.
const KNOWN_MAX: u64 = 50_000;

/// How long a picture is taken for the newest one without asking: another process may have rendered it anew.
const KNOWN_FOR: Duration = Duration::from_secs(60);

/// Pictures as this process knows them. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Pictures {
    store: ObjectStore,
    derivatives: future::Cache<DerivativeKey, Bytes>,
    known: sync::Cache<Variant, Arc<Picture>>,
    /// Decoding, resizing and encoding keep one core busy each.
    encoders: Arc<Semaphore>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct DerivativeKey {
    master_sha256: String,
    side_px: u32,
    format: Format,
}

/// A picture ready to send.
#[derive(Debug, Clone)]
pub struct Ready {
    pub bytes: Bytes,
    /// Strong validator, with its quotes.
    pub etag: String,
    pub picture: Arc<Picture>,
}

impl Pictures {
    /// Keeps up to `memory_bytes_max` bytes of derivatives in memory.
    pub fn new(store: ObjectStore, memory_bytes_max: u64) -> Self {
        let derivatives = future::Cache::builder()
            .max_capacity(memory_bytes_max)
            .weigher(|key: &DerivativeKey, bytes: &Bytes| {
                u32::try_from(bytes.len() + key.master_sha256.len() + size_of::<DerivativeKey>()).unwrap_or(u32::MAX)
            })
            .build();
        let known = sync::Cache::builder().max_capacity(KNOWN_MAX).time_to_live(KNOWN_FOR).build();
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        Pictures { store, derivatives, known, encoders: Arc::new(Semaphore::new(cores)) }
    }

    /// Newer revisions are there: which pictures are the newest is asked again.
    pub fn forget_known(&self) {
        self.known.invalidate_all();
    }

    /// The order's picture if it has been rendered.
    pub(super) async fn rendered(&self, app: &App, order: &Order) -> Result<Option<Arc<Picture>>, DeliveryError> {
        if let Some(picture) = self.known.get(&order.variant) {
            return Ok(Some(picture));
        }
        let picture = app.renders.find(&order.variant).await?.map(Arc::new);
        if let Some(picture) = &picture {
            self.known.insert(order.variant.clone(), picture.clone());
        }
        Ok(picture)
    }

    /// The bytes if they are in memory.
    pub(super) async fn at_hand(&self, order: &Order, picture: &Arc<Picture>) -> Option<Ready> {
        let bytes = self.derivatives.get(&DerivativeKey::of(order, picture)).await?;
        Some(ready_of(order, picture, bytes))
    }

    /// The bytes of a picture that exists. Callers of one derivative share the work.
    pub(super) async fn bytes(&self, order: &Order, picture: &Arc<Picture>) -> Result<Ready, DeliveryError> {
        let key = DerivativeKey::of(order, picture);
        let loaded = self.derivatives.try_get_with(key.clone(), self.load(&key)).await;
        let bytes = loaded.map_err(|error| DeliveryError::clone(&error))?;
        Ok(ready_of(order, picture, bytes))
    }

    async fn load(&self, key: &DerivativeKey) -> Result<Bytes, DeliveryError> {
        let name =
            keys::derived(&key.master_sha256, key.side_px, key.side_px, key.format).map_err(ObjectError::from)?;
        match self.store.get(&name).await {
            Ok(bytes) => return Ok(bytes),
            Err(ObjectError::Missing { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        // A master that is missing is trouble with the store, not a reason to render: an unmounted disk would otherwise have the
        // whole catalog rendered again.
        let master = self.store.get(&keys::master(&key.master_sha256).map_err(ObjectError::from)?).await?;
        let made = self.make(master, key).await?;
        if let Err(error) = self.store.put(&name, made.clone()).await {
            tracing::warn!(error = &error as &dyn std::error::Error, "a derivative could not be stored");
        }
        Ok(made)
    }

    async fn make(&self, master: Bytes, key: &DerivativeKey) -> Result<Bytes, DeliveryError> {
        // Never closed.
        let _permit = self.encoders.acquire().await.ok();
        let (side_px, format) = (key.side_px, key.format);
        let work = move || -> Result<Bytes, EncodingError> {
            let master = decode_master(&master, MASTER_SIDE_PX)?;
            Ok(derive(&master, side_px, side_px, format)?.into())
        };
        match tokio::task::spawn_blocking(work).await {
            Ok(made) => made.map_err(|error| DeliveryError::Encoding(Arc::new(error))),
            Err(stopped) => std::panic::resume_unwind(stopped.into_panic()),
        }
    }
}

impl From<ObjectError> for DeliveryError {
    fn from(error: ObjectError) -> Self {
        DeliveryError::Store(Arc::new(error))
    }
}

impl DerivativeKey {
    fn of(order: &Order, picture: &Picture) -> Self {
        DerivativeKey { master_sha256: picture.master_sha256.clone(), side_px: order.side_px, format: order.format }
    }
}

fn ready_of(order: &Order, picture: &Arc<Picture>, bytes: Bytes) -> Ready {
    Ready { bytes, etag: order.etag(picture), picture: picture.clone() }
}

/// The picture, rendered first if need be.
pub(super) async fn obtain(app: &App, order: &Order, priority: Priority) -> Result<Ready, DeliveryError> {
    let picture = match app.pictures.rendered(app, order).await? {
        Some(picture) => picture,
        None => {
            let picture = Arc::new(app.renders.picture(&order.vehicle, &order.variant, priority).await?);
            app.pictures.known.insert(order.variant.clone(), picture.clone());
            picture
        }
    };
    app.pictures.bytes(order, &picture).await
}

/// A picture for the service's own pages: nobody pays, and it waits behind everybody who does. Counts towards the day's budget.
pub async fn example(app: &App, order: &Order) -> Result<Ready, DeliveryError> {
    obtain(app, order, Priority::Example).await
}

/// A picture for an address that a partner signed: free, and as urgent as a paid one.
pub async fn for_partner(app: &App, order: &Order) -> Result<Ready, DeliveryError> {
    obtain(app, order, Priority::Paid).await
}

/// The picture if it has been rendered; never renders.
pub async fn ready(app: &App, order: &Order) -> Result<Option<Ready>, DeliveryError> {
    match app.pictures.rendered(app, order).await? {
        Some(picture) => app.pictures.bytes(order, &picture).await.map(Some),
        None => Ok(None),
    }
}
