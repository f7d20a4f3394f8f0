//! Finding a picture's bytes: in memory, in the store, made from the cached master, made by a node. Each step fills the ones before.

use super::credentials::Credentials;
use super::{DeliveryError, Order, etag};
use crate::app::App;
use crate::logs::causes;
use crate::objects::{ObjectError, ObjectKey, ObjectStore, keys};
use crate::renders::{Asker, Lane, Picture};
use bytes::Bytes;
use cyclorama_core::encoding::{EncodingError, decode_master, derive};
use cyclorama_core::{Format, MASTER_SIDE_PX, Variant};
use moka::policy::EvictionPolicy;
use moka::{future, sync};
use std::fs::File;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::sync::Semaphore;

/// Variants known to be rendered: some 300 bytes each.
const KNOWN_MAX: u64 = 50_000;

/// From this size on a picture is sent from its file (see `http/sendfile.rs`); below it one write of head and body together is quicker.
const FROM_FILE_BYTES_MIN: usize = 64 * 1024;

/// Files of pictures kept open, those last asked for: each takes a file descriptor.
const OPEN_FILES_MAX: u64 = 256;

/// How long a picture is taken for the newest one without asking: another process may have rendered it anew.
const KNOWN_FOR: Duration = Duration::from_secs(60);

/// Pictures as this process knows them. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Pictures {
    store: ObjectStore,
    derivatives: future::Cache<DerivativeKey, Derivative>,
    /// What keeps files of large derivatives open.
    files: sync::Cache<DerivativeKey, Arc<File>>,
    known: sync::Cache<Variant, Arc<Picture>>,
    /// Signs what goes out, where the operator has a certificate for it.
    credentials: Option<Credentials>,
    /// Decoding, resizing and encoding keep one core busy each.
    encoders: Arc<Semaphore>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct DerivativeKey {
    master_sha256: String,
    side_px: u32,
    format: Format,
}

/// A sized and encoded copy, in memory.
#[derive(Debug, Clone)]
struct Derivative {
    bytes: Bytes,
    /// The file they were read from, while it is kept open.
    file: Weak<File>,
}

/// A picture ready to send.
#[derive(Debug, Clone)]
pub struct Ready {
    pub bytes: Bytes,
    /// A file that holds the same bytes, where there is one and it pays to send it.
    pub file: Option<Arc<File>>,
    /// Strong validator, with its quotes.
    pub etag: String,
    /// Side of the square picture, in pixels.
    pub side_px: u32,
    pub picture: Arc<Picture>,
}

impl Pictures {
    /// Keeps up to `memory_bytes_max` bytes of derivatives in memory.
    pub fn new(store: ObjectStore, memory_bytes_max: u64, credentials: Option<Credentials>) -> Self {
        let derivatives = future::Cache::builder()
            .max_capacity(memory_bytes_max)
            .weigher(|key: &DerivativeKey, Derivative { bytes, .. }: &Derivative| {
                u32::try_from(bytes.len() + key.master_sha256.len() + size_of::<DerivativeKey>()).unwrap_or(u32::MAX)
            })
            .build();
        let files = sync::Cache::builder().max_capacity(OPEN_FILES_MAX).eviction_policy(EvictionPolicy::lru()).build();
        let known = sync::Cache::builder().max_capacity(KNOWN_MAX).time_to_live(KNOWN_FOR).build();
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        Pictures { store, derivatives, files, known, credentials, encoders: Arc::new(Semaphore::new(cores)) }
    }

    /// Newer revisions are there: which pictures are the newest is asked again.
    pub fn forget_known(&self) {
        self.known.invalidate_all();
    }

    /// The validator of the order's bytes, made from `picture`.
    pub fn etag(&self, order: &Order, picture: &Picture) -> String {
        let certificate_id = self.credentials.as_ref().map(Credentials::id);
        etag::of(&picture.master_sha256, order.side_px, order.format, certificate_id)
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
        let key = DerivativeKey::of(order, picture);
        let derivative = self.derivatives.get(&key).await?;
        Some(self.ready(order, picture, &key, derivative))
    }

    /// The bytes of a picture that exists. Callers of one derivative share the work.
    pub(super) async fn bytes(&self, order: &Order, picture: &Arc<Picture>) -> Result<Ready, DeliveryError> {
        let key = DerivativeKey::of(order, picture);
        let loaded = self.derivatives.try_get_with(key.clone(), self.load(&key)).await;
        let derivative = loaded.map_err(|error| DeliveryError::clone(&error))?;
        Ok(self.ready(order, picture, &key, derivative))
    }

    fn ready(&self, order: &Order, picture: &Arc<Picture>, key: &DerivativeKey, derivative: Derivative) -> Ready {
        let Derivative { bytes, file } = derivative;
        let file = file.upgrade();
        if file.is_some() {
            // Asked for, it is among the last to be closed.
            self.files.get(key);
        }
        Ready { bytes, file, etag: self.etag(order, picture), side_px: order.side_px, picture: picture.clone() }
    }

    async fn load(&self, key: &DerivativeKey) -> Result<Derivative, DeliveryError> {
        let plain =
            keys::derived(&key.master_sha256, key.side_px, key.side_px, key.format).map_err(ObjectError::from)?;
        let signed = self.credentials.as_ref().map(|credentials| keys::signed(&plain, credentials.id()));
        let signed = signed.transpose().map_err(ObjectError::from)?;
        match self.read(key, signed.as_ref().unwrap_or(&plain)).await {
            Ok(derivative) => return Ok(derivative),
            Err(ObjectError::Missing { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        match (&self.credentials, signed) {
            (Some(credentials), Some(signed)) => self.sign(key, &plain, &signed, credentials).await,
            _ => self.make_plain(key, &plain).await,
        }
    }

    async fn make_plain(&self, key: &DerivativeKey, name: &ObjectKey) -> Result<Derivative, DeliveryError> {
        let made = self.make(key).await?;
        if let Err(error) = self.store.put(name, made.clone()).await {
            tracing::warn!(error = causes(&error), "a derivative could not be stored");
        } else if made.len() >= FROM_FILE_BYTES_MIN
            && self.store.has_files()
            && let Ok(derivative) = self.read(key, name).await
        {
            return Ok(derivative);
        }
        Ok(Derivative { bytes: made, file: Weak::new() })
    }

    async fn sign(
        &self,
        key: &DerivativeKey,
        plain: &ObjectKey,
        name: &ObjectKey,
        credentials: &Credentials,
    ) -> Result<Derivative, DeliveryError> {
        let plain = match self.store.get(plain).await {
            Err(ObjectError::Missing { .. }) => self.make(key).await?,
            found => found?,
        };
        let (credentials, format) = (credentials.clone(), key.format);
        let signed = self.encoder(move || credentials.sign(&plain, format)).await;
        let signed = signed.map_err(|error| DeliveryError::Credentials(Arc::new(error)))?;
        // No two signatures are alike, and what an ETag names never changes: the first copy that is stored is the one, whichever process
        // made it.
        self.store.put_new(name, signed.into()).await?;
        Ok(self.read(key, name).await?)
    }

    /// A stored derivative. The file of a large one, if it is in one, stays open; its bytes are what that very file holds.
    async fn read(&self, key: &DerivativeKey, name: &ObjectKey) -> Result<Derivative, ObjectError> {
        let (bytes, file) = self.store.get_with_file(name).await?;
        let Some(file) = file.filter(|_| bytes.len() >= FROM_FILE_BYTES_MIN).map(Arc::new) else {
            return Ok(Derivative { bytes, file: Weak::new() });
        };
        let derivative = Derivative { bytes, file: Arc::downgrade(&file) };
        self.files.insert(key.clone(), file);
        Ok(derivative)
    }

    /// The derivative, from the master. A master that is missing is trouble with the store, not a reason to render: an unmounted disk would
    /// otherwise have the whole catalog rendered again.
    async fn make(&self, key: &DerivativeKey) -> Result<Bytes, DeliveryError> {
        let master = self.store.get(&keys::master(&key.master_sha256).map_err(ObjectError::from)?).await?;
        let (side_px, format) = (key.side_px, key.format);
        let made = self.encoder(move || -> Result<Bytes, EncodingError> {
            let master = decode_master(&master, MASTER_SIDE_PX)?;
            Ok(derive(&master, side_px, side_px, format)?.into())
        });
        made.await.map_err(|error| DeliveryError::Encoding(Arc::new(error)))
    }

    /// Runs work that keeps a core busy, when one is free.
    async fn encoder<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> T {
        // Never closed.
        let _permit = self.encoders.acquire().await.ok();
        match tokio::task::spawn_blocking(work).await {
            Ok(made) => made,
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

/// The picture, rendered first if need be.
pub(super) async fn obtain(app: &App, order: &Order, asker: &Asker) -> Result<Ready, DeliveryError> {
    let picture = match app.pictures.rendered(app, order).await? {
        Some(picture) => picture,
        None => {
            let picture = Arc::new(app.renders.picture(&order.vehicle, &order.variant, asker).await?);
            app.pictures.known.insert(order.variant.clone(), picture.clone());
            picture
        }
    };
    app.pictures.bytes(order, &picture).await
}

/// The picture, or the largest smaller copy of it that has no more than `bytes_max` bytes.
pub(super) async fn within(
    app: &App,
    order: &Order,
    mut found: Ready,
    bytes_max: Option<usize>,
) -> Result<Ready, DeliveryError> {
    let mut smaller = order.clone();
    while bytes_max.is_some_and(|bytes_max| found.bytes.len() > bytes_max) && smaller.side_px > 1 {
        smaller.side_px = (smaller.side_px * 3 / 4).max(1);
        found = app.pictures.bytes(&smaller, &found.picture).await?;
    }
    Ok(found)
}

/// A picture for the service's own pages and for somebody who tries it: nobody pays, it waits behind everybody who does, and new ones are
/// made only within such pictures' share of the day's budget.
pub async fn example(app: &App, order: &Order) -> Result<Ready, DeliveryError> {
    obtain(app, order, &Asker::nobody(Lane::Example)).await
}

/// A picture for an address that this account's partner signed: free, and a page in somebody's browser.
pub async fn for_partner(app: &App, order: &Order, account_id: &str) -> Result<Ready, DeliveryError> {
    obtain(app, order, &Asker::account(Lane::FirstLoad, account_id)).await
}

/// Whether the picture exists; reads none of its bytes.
pub async fn is_ready(app: &App, order: &Order) -> Result<bool, DeliveryError> {
    Ok(app.pictures.rendered(app, order).await?.is_some())
}

/// As [`ready`], or a smaller copy that has no more than `bytes_max` bytes.
pub async fn ready_within(app: &App, order: &Order, bytes_max: usize) -> Result<Option<Ready>, DeliveryError> {
    match ready(app, order).await? {
        Some(found) => within(app, order, found, Some(bytes_max)).await.map(Some),
        None => Ok(None),
    }
}

/// The picture if it has been rendered; never renders.
pub async fn ready(app: &App, order: &Order) -> Result<Option<Ready>, DeliveryError> {
    match app.pictures.rendered(app, order).await? {
        Some(picture) => app.pictures.bytes(order, &picture).await.map(Some),
        None => Ok(None),
    }
}
