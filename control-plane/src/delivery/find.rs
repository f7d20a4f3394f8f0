//! Finds an image's bytes: in memory, in the store, made from the cached master, or made by a node.
//! Each step fills the ones before it.
//!
//! Free requests have a cache and encoding places of their own, so that they neither evict nor
//! delay paid ones.

use super::credentials::Credentials;
use super::encoders::{Encoders, EncodersBusy, Work};
use super::framed::FramedImage;
use super::looks::Looks;
use super::new_paints::NewPaints;
use super::sizes::{self, Sizes, StoreOutcome, is_preset};
use super::{DeliveryError, Order, etag};
use crate::catalog::CurrentCatalog;
use crate::clock::Clock;
use crate::logs::causes;
use crate::objects::{ObjectError, ObjectKey, ObjectStore, SizePart, keys};
use crate::renders::{Lane, RenderedImage, Renders, Requester};
use crate::turns::waiting;
use bytes::Bytes;
use cyclorama_core::encoding::{self, EncodingError, decode_master};
use cyclorama_core::frame::{self, MasterBounds, Scale};
use cyclorama_core::{Format, Framing, MASTER_SIDE_PX, Variant};
use moka::policy::EvictionPolicy;
use moka::{future, sync};
use std::fs::File;
use std::sync::{Arc, Weak};
use std::time::Duration;

/// Maximum number of variants that are remembered as rendered; an entry takes about 300 bytes.
const KNOWN_MAX: u64 = 50_000;

/// Images from this size on, in bytes, are sent from their file (see `http/sendfile.rs`). For
/// smaller ones, one write of head and body together is quicker.
const FROM_FILE_BYTES_MIN: usize = 64 * 1024;

/// Maximum number of image files kept open, the most recently used ones. Each takes a file
/// descriptor.
const OPEN_FILES_MAX: u64 = 256;

/// Time for which an image counts as the newest without a check: another process may have
/// rerendered it.
const KNOWN_FOR: Duration = Duration::from_secs(60);

/// Maximum number of images that were requested as AVIF once, with the time for which they are
/// remembered: an entry takes about 150 bytes.
const AVIF_WANTED_MAX: u64 = 20_000;
const AVIF_WANTED_FOR: Duration = Duration::from_secs(24 * 3600);

/// One in this many parts of the memory for images is for free ones.
const MEMORY_FOR_ONE_FREE: u64 = 8;

/// The images as this process knows them. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Images {
    renders: Renders,
    /// Resolves under which vehicle key images are stored.
    pub looks: Looks,
    new_paints: NewPaints,
    store: ObjectStore,
    /// Derivatives in memory for paid requests.
    paid: Derivatives,
    /// Derivatives in memory for free requests.
    free: Derivatives,
    /// Keeps the files of large derivatives open.
    files: sync::Cache<DerivativeKey, Arc<File>>,
    known: sync::Cache<Variant, Arc<RenderedImage>>,
    /// The part of each master that shows the vehicle, and its scale; by the digest of the master.
    sights: sync::Cache<String, MasterBounds>,
    /// Images that clients who accept AVIF have requested once.
    avif_wanted: sync::Cache<DerivativeKey, ()>,
    /// Signs delivered images, if the operator has a certificate for that.
    credentials: Option<Credentials>,
    encoders: Encoders,
    sizes: Sizes,
}

/// The parts in which images are found and with which they are made.
pub struct ImageSources {
    pub store: ObjectStore,
    pub renders: Renders,
    pub catalog: Arc<CurrentCatalog>,
    pub clock: Clock,
    pub credentials: Option<Credentials>,
    pub sizes: Sizes,
}

type Derivatives = future::Cache<DerivativeKey, Derivative>;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct DerivativeKey {
    master_sha256: String,
    /// True if the master is of a paint that is not a preset.
    is_custom: bool,
    frame: Framing,
    format: Format,
    /// Used where the master does not record its scale. In micrometres of the vehicle per pixel.
    estimated_scale: u32,
}

/// A sized and encoded copy, in memory.
#[derive(Debug, Clone)]
struct Derivative {
    bytes: Bytes,
    /// The file from which the bytes were read, while it is kept open.
    file: Weak<File>,
    /// The validator, if it is one of the bytes themselves.
    etag: Option<Arc<str>>,
}

/// An image ready to be sent.
#[derive(Debug, Clone)]
pub struct ReadyImage {
    pub bytes: Bytes,
    /// A file that holds the same bytes, if there is one and sending it is quicker.
    pub file: Option<Arc<File>>,
    /// Strong validator, with its quotes.
    pub etag: String,
    pub framed: FramedImage,
    pub picture: Arc<RenderedImage>,
}

/// The description of an image without its bytes, for `HEAD`.
#[derive(Debug, Clone, PartialEq)]
pub struct ImageDescription {
    /// `None` where the size depends on the image and the image does not exist.
    pub framed: Option<FramedImage>,
    /// Strong validator, with its quotes; `None` where only the bytes have one and they are not
    /// stored.
    pub etag: Option<String>,
    /// Length of the bytes, where they are stored.
    pub length: Option<u64>,
}

fn derivatives(memory_bytes_max: u64) -> Derivatives {
    future::Cache::builder()
        .max_capacity(memory_bytes_max)
        .weigher(|key: &DerivativeKey, Derivative { bytes, .. }: &Derivative| {
            u32::try_from(bytes.len() + key.master_sha256.len() + size_of::<DerivativeKey>()).unwrap_or(u32::MAX)
        })
        .build()
}

impl Images {
    /// Creates the images' cache with up to `memory_bytes_max` bytes of derivatives in memory. An
    /// account may have `new_paints_per_account_day` new images made a day in paints that are not
    /// presets.
    pub fn new(sources: ImageSources, memory_bytes_max: u64, new_paints_per_account_day: i64) -> Self {
        let ImageSources { store, renders, catalog, clock, credentials, sizes } = sources;
        let for_free = memory_bytes_max / MEMORY_FOR_ONE_FREE;
        let files = sync::Cache::builder().max_capacity(OPEN_FILES_MAX).eviction_policy(EvictionPolicy::lru()).build();
        let known = sync::Cache::builder().max_capacity(KNOWN_MAX).time_to_live(KNOWN_FOR).build();
        let sights = sync::Cache::builder().max_capacity(KNOWN_MAX).build();
        let avif_wanted = sync::Cache::builder().max_capacity(AVIF_WANTED_MAX).time_to_live(AVIF_WANTED_FOR).build();
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        Images {
            looks: Looks::new(renders.clone(), catalog),
            new_paints: NewPaints { renders: renders.clone(), clock, per_account_day: new_paints_per_account_day },
            renders,
            store,
            paid: derivatives(memory_bytes_max - for_free),
            free: derivatives(for_free),
            files,
            known,
            sights,
            avif_wanted,
            credentials,
            encoders: Encoders::new(cores),
            sizes,
        }
    }

    /// Forgets which images are the newest, because newer revisions exist.
    pub fn forget_known(&self) {
        self.known.invalidate_all();
    }

    /// Returns the validator of the order's bytes, made from `picture`; makes nothing. Returns
    /// `None` if the bytes are signed, of a size that is not kept for good, and not stored: every
    /// signature differs, so only the bytes themselves can have a validator.
    pub async fn etag(&self, order: &Order, picture: &Arc<RenderedImage>) -> Result<Option<String>, DeliveryError> {
        match self.has_etag_of_its_own(&DerivativeKey::of(order, picture)) {
            false => Ok(Some(self.etag_of_recipe(order, picture))),
            true => Ok(self.found(order, picture, Work::Free).await?.map(|ready| ready.etag)),
        }
    }

    /// Returns the description of the order's bytes, made from `picture`, as far as nothing has to
    /// be made for it.
    pub async fn described(
        &self,
        order: &Order,
        picture: &Arc<RenderedImage>,
    ) -> Result<ImageDescription, DeliveryError> {
        let etag = self.etag(order, picture).await?;
        let framed = Some(self.framed(order, picture, Work::Free).await?);
        if let Some(ready) = self.at_hand(order, picture).await {
            return Ok(ImageDescription { framed, etag, length: Some(ready.bytes.len() as u64) });
        }
        let length = self.stored_length(&DerivativeKey::of(order, picture)).await?;
        Ok(ImageDescription { framed, etag, length })
    }

    /// Returns the length of the bytes, if they are stored.
    async fn stored_length(&self, key: &DerivativeKey) -> Result<Option<u64>, DeliveryError> {
        for name in self.names(key)? {
            if let Some(length) = self.store.size(&name).await? {
                return Ok(Some(length));
            }
        }
        Ok(None)
    }

    fn has_etag_of_its_own(&self, key: &DerivativeKey) -> bool {
        self.credentials.is_some() && !key.lasts()
    }

    fn etag_of_recipe(&self, order: &Order, picture: &RenderedImage) -> String {
        let certificate_id = self.credentials.as_ref().map(Credentials::id);
        etag::of_recipe(&picture.master_sha256, &order.frame, order.format, certificate_id)
    }

    /// Returns the order's image if it has been rendered; reads none of its bytes.
    pub async fn rendered(&self, order: &Order) -> Result<Option<Arc<RenderedImage>>, DeliveryError> {
        if let Some(picture) = self.known.get(&order.variant) {
            return Ok(Some(picture));
        }
        let Some(kept) = self.looks.kept_variant(order).await? else { return Ok(None) };
        let picture = self.renders.find(&kept).await?.map(Arc::new);
        if let Some(picture) = &picture {
            self.known.insert(order.variant.clone(), picture.clone());
        }
        Ok(picture)
    }

    /// Returns the bytes if they are in memory.
    pub(super) async fn at_hand(&self, order: &Order, picture: &Arc<RenderedImage>) -> Option<ReadyImage> {
        let key = DerivativeKey::of(order, picture);
        let derivative = self.in_memory(&key).await?;
        let framed = self.framed_at_hand(order, picture)?;
        Some(self.ready(order, picture, &key, derivative, framed))
    }

    /// Returns the size and scale of the order's image, if they are known without reading anything.
    fn framed_at_hand(&self, order: &Order, picture: &RenderedImage) -> Option<FramedImage> {
        let is_true = order.frame.scale == Scale::True;
        if let Some(framed) = order.framed_in_advance().filter(|_| !is_true) {
            return Some(framed);
        }
        let sight = self.sights.get(&picture.master_sha256)?;
        let plan = frame::plan(&order.frame, &sight);
        let scale_mm_per_px = is_true.then(|| plan.scale_mm_per_px(&sight));
        Some(FramedImage { width: plan.width, height: plan.height, scale_mm_per_px })
    }

    async fn framed(&self, order: &Order, picture: &RenderedImage, work: Work) -> Result<FramedImage, DeliveryError> {
        if let Some(framed) = self.framed_at_hand(order, picture) {
            return Ok(framed);
        }
        let key = DerivativeKey::of(order, picture);
        let master = self.master(&key).await?;
        let sight = self.encoders.run(work, move || {
            decode_master(&master, MASTER_SIDE_PX).map(|master| encoding::sight(&master, key.estimated_scale))
        });
        let sight = sight.await?.map_err(|error| DeliveryError::Encoding(Arc::new(error)))?;
        self.sights.insert(picture.master_sha256.clone(), sight);
        let (width, height) = order.frame.size_px();
        Ok(self.framed_at_hand(order, picture).unwrap_or(FramedImage { width, height, scale_mm_per_px: None }))
    }

    /// True if the order's AVIF is in memory or stored. If it is not, and it is requested for the
    /// second time, a task makes it, as long as there is room for free work.
    pub(super) async fn has_or_will_have(
        &self,
        avif: &Order,
        picture: &Arc<RenderedImage>,
    ) -> Result<bool, DeliveryError> {
        let key = DerivativeKey::of(avif, picture);
        if self.in_memory(&key).await.is_some() || self.stored_length(&key).await?.is_some() {
            return Ok(true);
        }
        if self.avif_wanted.get(&key).is_none() {
            self.avif_wanted.insert(key, ());
            return Ok(false);
        }
        let (pictures, avif, picture) = (self.clone(), avif.clone(), picture.clone());
        tokio::spawn(async move {
            match pictures.bytes_for(&avif, &picture, Work::Free).await {
                Ok(_) | Err(DeliveryError::FreeWorkFull) => {}
                Err(error) => {
                    tracing::warn!(error = causes(&error), "an AVIF for `format=auto` could not be encoded")
                }
            }
        });
        Ok(false)
    }

    async fn in_memory(&self, key: &DerivativeKey) -> Option<Derivative> {
        match self.paid.get(key).await {
            Some(derivative) => Some(derivative),
            None => self.free.get(key).await,
        }
    }

    /// Returns the bytes of an image that exists, for a credit. Concurrent calls for one derivative
    /// share the work.
    pub(super) async fn bytes(&self, order: &Order, picture: &Arc<RenderedImage>) -> Result<ReadyImage, DeliveryError> {
        self.bytes_for(order, picture, Work::Paid).await
    }

    /// Does the same as [`Images::bytes`] for the kind of request in `work`.
    pub(super) async fn bytes_for(
        &self,
        order: &Order,
        picture: &Arc<RenderedImage>,
        work: Work,
    ) -> Result<ReadyImage, DeliveryError> {
        let key = DerivativeKey::of(order, picture);
        let loaded = self.memory(work).try_get_with(key.clone(), async {
            match self.in_memory(&key).await {
                Some(derivative) => Ok(derivative),
                // The future is boxed because it is large and rarely needed.
                None => Box::pin(self.load(&key, work)).await,
            }
        });
        let derivative = loaded.await.map_err(|error| DeliveryError::clone(&error))?;
        let framed = self.framed(order, picture, work).await?;
        Ok(self.ready(order, picture, &key, derivative, framed))
    }

    /// Returns the bytes if they are in memory or in the store; makes nothing.
    pub(super) async fn found(
        &self,
        order: &Order,
        picture: &Arc<RenderedImage>,
        work: Work,
    ) -> Result<Option<ReadyImage>, DeliveryError> {
        if let Some(ready) = self.at_hand(order, picture).await {
            return Ok(Some(ready));
        }
        let key = DerivativeKey::of(order, picture);
        let Some(derivative) = self.stored(&key, work).await? else { return Ok(None) };
        self.memory(work).insert(key.clone(), derivative.clone()).await;
        let framed = self.framed(order, picture, work).await?;
        Ok(Some(self.ready(order, picture, &key, derivative, framed)))
    }

    fn memory(&self, work: Work) -> &Derivatives {
        match work {
            Work::Paid => &self.paid,
            Work::Free => &self.free,
        }
    }

    fn ready(
        &self,
        order: &Order,
        picture: &Arc<RenderedImage>,
        key: &DerivativeKey,
        derivative: Derivative,
        framed: FramedImage,
    ) -> ReadyImage {
        let Derivative { bytes, file, etag } = derivative;
        let file = file.upgrade();
        if file.is_some() {
            // The lookup marks the file as used, so that it is among the last to be closed.
            self.files.get(key);
        }
        let etag = etag.map_or_else(|| self.etag_of_recipe(order, picture), |etag| etag.to_string());
        ReadyImage { bytes, file, etag, framed, picture: picture.clone() }
    }

    async fn load(&self, key: &DerivativeKey, work: Work) -> Result<Derivative, DeliveryError> {
        if let Some(derivative) = self.stored(key, work).await? {
            return Ok(derivative);
        }
        match key.lasts() {
            true => self.make_preset(key, work).await,
            false => self.make_size(key, work).await,
        }
    }

    async fn stored(&self, key: &DerivativeKey, work: Work) -> Result<Option<Derivative>, DeliveryError> {
        for name in self.names(key)? {
            match self.read(key, &name, work).await {
                Ok(derivative) => return Ok(Some(derivative)),
                Err(ObjectError::Missing { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(None)
    }

    /// Returns the keys under which a derivative may be stored. A preset size has one key, for
    /// good; another size is in the paid or in the free part of the store.
    fn names(&self, key: &DerivativeKey) -> Result<Vec<ObjectKey>, ObjectError> {
        let certificate_id = self.credentials.as_ref().map(Credentials::id);
        if !key.lasts() {
            return Ok(sizes::names(certificate_id, &key.master_sha256, &key.frame, key.format)?.into());
        }
        let plain = self.preset_name(key)?;
        Ok(vec![match certificate_id {
            Some(id) => keys::signed(&plain, id)?,
            None => plain,
        }])
    }

    fn preset_name(&self, key: &DerivativeKey) -> Result<ObjectKey, ObjectError> {
        let (width, height) = key.frame.size_px();
        Ok(keys::derived(&key.master_sha256, width, height, key.format)?)
    }

    /// Makes a preset size that no node uploaded, or its signed copy. There are twelve for an
    /// image, so they are kept for good, even when a free request wanted them.
    async fn make_preset(&self, key: &DerivativeKey, work: Work) -> Result<Derivative, DeliveryError> {
        let plain = self.preset_name(key)?;
        if let Some(credentials) = &self.credentials {
            let picture = match self.store.get(&plain).await {
                Err(ObjectError::Missing { .. }) => self.make(key, work).await?,
                found => found?,
            };
            let signed = self.sign(credentials, key, picture, work).await?;
            // No two signatures are equal, and the bytes that an ETag identifies never change.
            // Therefore the copy that is stored first counts, whichever process made it.
            let name = keys::signed(&plain, credentials.id()).map_err(ObjectError::from)?;
            self.store.put_new(&name, signed).await?;
            return Ok(self.read(key, &name, work).await?);
        }
        let made = self.make(key, work).await?;
        if let Err(error) = self.store.put(&plain, made.clone()).await {
            tracing::warn!(error = causes(&error), "a derivative could not be stored");
            return Ok(self.derivative(key, made));
        }
        self.just_stored(key, &plain, made, work).await
    }

    /// Makes a size that is not a preset. It is stored as long as there is room for such sizes.
    async fn make_size(&self, key: &DerivativeKey, work: Work) -> Result<Derivative, DeliveryError> {
        let mut made = self.make(key, work).await?;
        if let Some(credentials) = &self.credentials {
            made = self.sign(credentials, key, made, work).await?;
        }
        let part = match work {
            Work::Paid => SizePart::Paid,
            Work::Free => SizePart::Free,
        };
        let certificate_id = self.credentials.as_ref().map(Credentials::id);
        let name = keys::size(part, certificate_id, &key.master_sha256, &key.frame, key.format);
        let name = name.map_err(ObjectError::from)?;
        match self.sizes.keep(part, &name, made.clone()).await {
            StoreOutcome::No => Ok(self.derivative(key, made)),
            StoreOutcome::Ours => self.just_stored(key, &name, made, work).await,
            // Another process was quicker, and all processes deliver its copy, unless it was
            // removed meanwhile.
            StoreOutcome::Another => match self.read(key, &name, work).await {
                Ok(derivative) => Ok(derivative),
                Err(_) => Ok(self.derivative(key, made)),
            },
        }
    }

    /// Returns a derivative that was stored just now, with its file where sending the file is
    /// quicker.
    async fn just_stored(
        &self,
        key: &DerivativeKey,
        name: &ObjectKey,
        made: Bytes,
        work: Work,
    ) -> Result<Derivative, DeliveryError> {
        if made.len() >= FROM_FILE_BYTES_MIN
            && self.store.has_files()
            && let Ok(derivative) = self.read(key, name, work).await
        {
            return Ok(derivative);
        }
        Ok(self.derivative(key, made))
    }

    /// Reads a stored derivative. The file of a large paid one, if it has one, stays open; the
    /// bytes are read from that very file.
    async fn read(&self, key: &DerivativeKey, name: &ObjectKey, work: Work) -> Result<Derivative, ObjectError> {
        let (bytes, file) = self.store.get_with_file(name).await?;
        let derivative = self.derivative(key, bytes);
        let keeps_open = work == Work::Paid && derivative.bytes.len() >= FROM_FILE_BYTES_MIN;
        let Some(file) = file.filter(|_| keeps_open).map(Arc::new) else { return Ok(derivative) };
        let derivative = Derivative { file: Arc::downgrade(&file), ..derivative };
        self.files.insert(key.clone(), file);
        Ok(derivative)
    }

    fn derivative(&self, key: &DerivativeKey, bytes: Bytes) -> Derivative {
        let etag = self.has_etag_of_its_own(key).then(|| etag::of_bytes(&bytes).into());
        Derivative { bytes, file: Weak::new(), etag }
    }

    /// Makes the derivative from the master. A missing master is an error of the store and no
    /// reason to render: an unmounted disk would otherwise have the whole catalog rendered again.
    async fn make(&self, key: &DerivativeKey, work: Work) -> Result<Bytes, DeliveryError> {
        let master = self.master(key).await?;
        let (wanted, format) = (key.frame, key.format);
        let estimated_scale = key.estimated_scale;
        let made = self.encoders.run(work, move || -> Result<(Bytes, Option<MasterBounds>), EncodingError> {
            let master = decode_master(&master, MASTER_SIDE_PX)?;
            // The scan of every pixel is needed only where the framing depends on them.
            if let Some(side_px) = wanted.square_side_px() {
                return Ok((encoding::derive(&master, side_px, side_px, format)?.into(), None));
            }
            let sight = encoding::sight(&master, estimated_scale);
            Ok((encoding::frame(&master, &sight, &wanted, format)?.into(), Some(sight)))
        });
        let (made, sight) = made.await?.map_err(|error| DeliveryError::Encoding(Arc::new(error)))?;
        if let Some(sight) = sight {
            self.sights.insert(key.master_sha256.clone(), sight);
        }
        Ok(made)
    }

    async fn master(&self, key: &DerivativeKey) -> Result<Bytes, ObjectError> {
        let name = if key.is_custom { keys::custom_master } else { keys::master };
        self.store.get(&name(&key.master_sha256)?).await
    }

    async fn sign(
        &self,
        credentials: &Credentials,
        key: &DerivativeKey,
        picture: Bytes,
        work: Work,
    ) -> Result<Bytes, DeliveryError> {
        let (credentials, format) = (credentials.clone(), key.format);
        let signed = self.encoders.run(work, move || credentials.sign(&picture, format)).await?;
        Ok(signed.map_err(|error| DeliveryError::Credentials(Arc::new(error)))?.into())
    }
}

impl From<EncodersBusy> for DeliveryError {
    fn from(_: EncodersBusy) -> Self {
        DeliveryError::FreeWorkFull
    }
}

impl DerivativeKey {
    fn of(order: &Order, picture: &RenderedImage) -> Self {
        DerivativeKey {
            master_sha256: picture.master_sha256.clone(),
            is_custom: !order.variant.paint.is_preset(),
            frame: order.frame,
            format: order.format,
            estimated_scale: frame::estimated_scale_um_per_px(&order.vehicle.dimensions, order.variant.view),
        }
    }

    /// True for the twelve derivatives that nodes upload of a preset's image, which are kept for
    /// good.
    fn lasts(&self) -> bool {
        !self.is_custom && Format::UPLOADED.contains(&self.format) && self.frame.square_side_px().is_some_and(is_preset)
    }
}

impl Images {
    /// Returns the image and its bytes, for a credit, rendering it first if necessary.
    pub(super) async fn find_or_render(
        &self,
        order: &Order,
        requester: &Requester,
    ) -> Result<ReadyImage, DeliveryError> {
        let picture = self.rendered_for(order, requester).await?;
        self.bytes(order, &picture).await
    }

    /// Returns the image, or the largest smaller copy of it that has at most `bytes_max` bytes.
    pub(super) async fn within(
        &self,
        order: &Order,
        mut found: ReadyImage,
        bytes_max: Option<usize>,
    ) -> Result<ReadyImage, DeliveryError> {
        let mut smaller = order.clone();
        let smaller_side = |side: Option<u32>| Some((side.unwrap_or(MASTER_SIDE_PX) * 3 / 4).max(1));
        while bytes_max.is_some_and(|bytes_max| found.bytes.len() > bytes_max) && smaller.frame.size_px() != (1, 1) {
            smaller.frame.width = smaller_side(smaller.frame.width);
            smaller.frame.height = smaller_side(smaller.frame.height);
            found = self.bytes(&smaller, &found.picture).await?;
        }
        Ok(found)
    }

    async fn rendered_for(&self, order: &Order, requester: &Requester) -> Result<Arc<RenderedImage>, DeliveryError> {
        if let Some(picture) = self.rendered(order).await? {
            return Ok(picture);
        }
        let (vehicle, variant) = self.looks.settled(order).await?;
        self.new_paints.count(&variant, requester).await?;
        let rendering = self.renders.picture(&vehicle, &variant, requester);
        let picture = Arc::new(waiting::for_render(rendering).await??);
        self.known.insert(order.variant.clone(), picture.clone());
        Ok(picture)
    }

    /// Returns an image for the service's own pages or for a visitor, rendering it first if
    /// necessary. It is free and waits behind every paid render, and new ones are made only within
    /// the percentage of the day's budget for examples.
    pub async fn example(&self, order: &Order) -> Result<Arc<RenderedImage>, DeliveryError> {
        self.rendered_for(order, &Requester::without_account(Lane::Example)).await
    }

    /// Returns an image for a URL that this account's partner signed, rendering it first if
    /// necessary. It is free, for a page in somebody's browser.
    pub async fn for_partner(&self, order: &Order, account_id: &str) -> Result<Arc<RenderedImage>, DeliveryError> {
        self.rendered_for(order, &Requester::account(Lane::FirstLoad, account_id)).await
    }

    /// Returns the same as [`Images::ready_if_rendered`], or a smaller copy of at most
    /// `bytes_max` bytes.
    pub async fn ready_within(&self, order: &Order, bytes_max: usize) -> Result<Option<ReadyImage>, DeliveryError> {
        match self.ready_if_rendered(order).await? {
            Some(found) => self.within(order, found, Some(bytes_max)).await.map(Some),
            None => Ok(None),
        }
    }

    /// Returns the image if it has been rendered, for a request that has paid for it; never
    /// renders.
    pub async fn ready_if_rendered(&self, order: &Order) -> Result<Option<ReadyImage>, DeliveryError> {
        match self.rendered(order).await? {
            Some(picture) => self.bytes(order, &picture).await.map(Some),
            None => Ok(None),
        }
    }

    /// Returns the bytes of an image for a free request, if nothing has to be made for them.
    pub async fn found_for_free(
        &self,
        order: &Order,
        picture: &Arc<RenderedImage>,
    ) -> Result<Option<ReadyImage>, DeliveryError> {
        self.found(order, picture, Work::Free).await
    }

    /// Returns the bytes of an image for a free request, making them if necessary. The caller has
    /// counted the request.
    pub async fn made_for_free(
        &self,
        order: &Order,
        picture: &Arc<RenderedImage>,
    ) -> Result<ReadyImage, DeliveryError> {
        self.bytes_for(order, picture, Work::Free).await
    }
}
