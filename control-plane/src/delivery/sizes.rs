//! Images of sizes that are not presets, kept in the object store for a while.
//!
//! One image can be requested in three thousand sizes and formats, and requests must not be able to
//! grow the store without limit: this part of it is bounded in bytes and in age. An image that was
//! removed is made again from its master when it is requested.
//!
//! Every process sweeps for itself: it lists all objects, and removes those that are too old and
//! the oldest of those beyond the bound. Between two sweeps it stores at most a sixteenth of the
//! bound; a sweep leaves three quarters. So four processes on one bucket together stay below the
//! bound in any case, and each further one adds a sixteenth at most. Two concurrent sweeps remove
//! the same objects, which does no harm, and a process whose sweeps fail stops storing.

use crate::clock::{self, Clock, UnixMs};
use crate::logs::causes;
use crate::objects::{ObjectError, ObjectKey, ObjectStore, SizePart, keys};
use bytes::Bytes;
use cyclorama_core::{Format, Framing, SizePreset};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

/// The least space that an object takes: a block of a usual file system. It also bounds the number
/// of objects.
const BLOCK_BYTES: u64 = 4096;

/// The ratio of the bound that one process may store between two sweeps.
/// Why: `docs/decisions/pictures-and-caching.md` (The bound of stored sizes with several
/// processes).
const ALLOWANCE: (u64, u64) = (1, 16);
/// The ratio of the bound that a sweep leaves.
const LEFT: (u64, u64) = (3, 4);

/// Pause between two sweeps, even when the allowance is used up sooner: a sweep lists everything.
const PAUSE: Duration = Duration::from_secs(10);

/// How much is kept, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DerivativeBounds {
    pub paid_bytes_max: u64,
    pub free_bytes_max: u64,
    pub age_max: Duration,
    /// Interval between two sweeps when the allowance is not used up.
    pub sweep_every: Duration,
}

/// The part of the object store that holds such sizes. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Sizes(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    store: ObjectStore,
    bounds: DerivativeBounds,
    /// Bytes that this process may still store before its next sweep.
    paid_left: AtomicU64,
    free_left: AtomicU64,
    used_up: Notify,
}

/// True if nodes upload images with this side.
pub fn is_preset(side_px: u32) -> bool {
    SizePreset::ALL.iter().any(|preset| preset.side_px() == side_px)
}

impl Sizes {
    pub fn new(store: ObjectStore, bounds: DerivativeBounds) -> Self {
        let sizes = Sizes(Arc::new(Inner {
            store,
            bounds,
            paid_left: AtomicU64::new(0),
            free_left: AtomicU64::new(0),
            used_up: Notify::new(),
        }));
        // Objects that earlier processes left are bounded by their sweeps, and our first sweep
        // trims them.
        SizePart::ALL.into_iter().for_each(|part| sizes.allow(part));
        sizes
    }

    /// Stores an image unless an object with its key exists, or there is no room before the next
    /// sweep. Returns whose copy is stored, if any. Trouble with the store is only logged: an image
    /// that is not stored can be sent all the same.
    pub async fn keep(&self, part: SizePart, name: &ObjectKey, bytes: Bytes) -> StoreOutcome {
        if !self.take_room(part, bytes.len() as u64) {
            return StoreOutcome::No;
        }
        match self.0.store.put_new(name, bytes).await {
            Ok(true) => StoreOutcome::Ours,
            Ok(false) => StoreOutcome::Another,
            Err(error) => {
                tracing::warn!(error = causes(&error), "an image of an uncommon size could not be stored");
                StoreOutcome::No
            }
        }
    }

    /// Starts the task that keeps the bounds, until it is aborted.
    pub fn start_sweeping(&self, clock: Clock) -> JoinHandle<()> {
        let sizes = self.clone();
        tokio::spawn(async move {
            let mut ticks = clock::ticks(sizes.0.bounds.sweep_every);
            let mut round = 0_u64;
            loop {
                tokio::select! {
                    _ = ticks.tick() => {}
                    () = sizes.0.used_up.notified() => tokio::time::sleep(PAUSE.min(sizes.0.bounds.sweep_every)).await,
                }
                if let Err(error) = sizes.sweep(clock.now()).await {
                    tracing::warn!(error = causes(&error), "images of uncommon sizes could not be swept");
                    continue;
                }
                // Not in the first round: during an upgrade, processes of the previous version may
                // still read there.
                if round == 1
                    && let Err(error) = sizes.remove_leftovers().await
                {
                    tracing::warn!(
                        error = causes(&error),
                        "images of uncommon sizes that an earlier version stored could not be removed"
                    );
                    continue;
                }
                round += 1;
            }
        })
    }

    /// Removes objects that are too old or beyond the bound; then this process may store again.
    async fn sweep(&self, now: UnixMs) -> Result<(), ObjectError> {
        for part in SizePart::ALL {
            let removed = self.sweep_part(part, now).await?;
            if removed > 0 {
                tracing::info!(objects = removed, folder = part.folder()[0], "images of uncommon sizes were removed");
            }
            self.allow(part);
        }
        Ok(())
    }

    async fn sweep_part(&self, part: SizePart, now: UnixMs) -> Result<usize, ObjectError> {
        let mut found: Vec<(UnixMs, u64)> = Vec::new();
        let mut listed = self.0.store.below(part.folder());
        while let Some(entry) = listed.recv().await {
            let entry = entry?;
            found.push((entry.stored_at, room_for(entry.bytes)));
        }
        let Some(up_to) = removed_up_to(found, self.bytes_max(part), self.0.bounds.age_max, now) else { return Ok(0) };
        self.0.store.remove_below(part.folder(), usize::MAX, |entry| entry.stored_at <= up_to).await
    }

    /// Removes the objects that an earlier version stored beside the presets, once for all
    /// processes: objects with such keys are not read any more.
    async fn remove_leftovers(&self) -> Result<(), ObjectError> {
        let done = keys::sizes_moved();
        if self.0.store.size(&done).await?.is_some() {
            return Ok(());
        }
        let removed =
            self.0.store.remove_below(&["derived", "signed"], usize::MAX, |entry| is_leftover(&entry.key)).await?;
        self.0.store.put(&done, Bytes::from_static(b"done")).await?;
        tracing::info!(objects = removed, "images of uncommon sizes that an earlier version stored were removed");
        Ok(())
    }

    fn bytes_max(&self, part: SizePart) -> u64 {
        match part {
            SizePart::Paid => self.0.bounds.paid_bytes_max,
            SizePart::Free => self.0.bounds.free_bytes_max,
        }
    }

    fn left(&self, part: SizePart) -> &AtomicU64 {
        match part {
            SizePart::Paid => &self.0.paid_left,
            SizePart::Free => &self.0.free_left,
        }
    }

    fn allow(&self, part: SizePart) {
        self.left(part).store(part_of(self.bytes_max(part), ALLOWANCE), Ordering::Relaxed);
    }

    fn take_room(&self, part: SizePart, bytes: u64) -> bool {
        let room = room_for(bytes);
        let enough = |left: u64| left.checked_sub(room);
        let had_room = self.left(part).fetch_update(Ordering::Relaxed, Ordering::Relaxed, enough).is_ok();
        if !had_room && self.bytes_max(part) > 0 {
            self.0.used_up.notify_one();
        }
        had_room
    }
}

/// The outcome of storing an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreOutcome {
    Ours,
    /// An object with the key existed already.
    Another,
    No,
}

/// Returns the two keys under which an image of this size may be stored: in the paid part and in
/// the free part.
pub fn names(
    certificate_id: Option<&str>,
    master_sha256: &str,
    frame: &Framing,
    format: Format,
) -> Result<[ObjectKey; 2], ObjectError> {
    let name = |part| keys::size(part, certificate_id, master_sha256, frame, format);
    Ok([name(SizePart::Paid)?, name(SizePart::Free)?])
}

fn room_for(bytes: u64) -> u64 {
    bytes.div_ceil(BLOCK_BYTES).max(1) * BLOCK_BYTES
}

fn part_of(bytes: u64, (part, of): (u64, u64)) -> u64 {
    bytes / of * part
}

/// Returns the time up to which stored objects are removed, or `None` if none is. Objects beyond
/// the maximum age go and, when the rest is more than a sweep leaves, the oldest of it.
fn removed_up_to(mut stored: Vec<(UnixMs, u64)>, bytes_max: u64, age_max: Duration, now: UnixMs) -> Option<UnixMs> {
    let too_old = UnixMs(now.0.saturating_sub(i64::try_from(age_max.as_millis()).unwrap_or(i64::MAX)));
    stored.sort_unstable_by_key(|(stored_at, _)| std::cmp::Reverse(*stored_at));
    let mut total = 0_u64;
    stored.into_iter().find_map(|(stored_at, room)| {
        total = total.saturating_add(room);
        (stored_at <= too_old || total > part_of(bytes_max, LEFT)).then_some(stored_at)
    })
}

/// True if the key ends in `<side>x<side>.<format>` with a side that is not a preset.
fn is_leftover(key: &ObjectKey) -> bool {
    let side = || {
        let (_, file) = key.as_str().rsplit_once('/')?;
        let (sides, format) = file.split_once('.')?;
        let (width, height) = sides.split_once('x')?;
        let side: u32 = width.parse().ok()?;
        (width == height && format.parse::<Format>().is_ok()).then_some(side)
    };
    side().is_some_and(|side| !is_preset(side))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cyclorama_core::Fit;

    const DAY: Duration = Duration::from_secs(86_400);

    fn store() -> (tempfile::TempDir, ObjectStore) {
        let folder = tempfile::tempdir().expect("folder");
        let store = ObjectStore::open_files(folder.path().to_owned()).expect("opens");
        (folder, store)
    }

    fn sizes(store: &ObjectStore, paid_bytes_max: u64, free_bytes_max: u64) -> Sizes {
        let bounds = DerivativeBounds { paid_bytes_max, free_bytes_max, age_max: 30 * DAY, sweep_every: DAY };
        Sizes::new(store.clone(), bounds)
    }

    fn name(part: SizePart, side_px: u32) -> ObjectKey {
        let (width, height) = (Some(side_px % 1000 + 1), Some(side_px / 1000 + 1));
        let frame = Framing { fit: Fit::Contain, width, height, ..Framing::default() };
        keys::size(part, None, &"a".repeat(64), &frame, Format::Webp).expect("a name")
    }

    async fn stored_in(store: &ObjectStore, folders: &'static [&'static str]) -> Vec<String> {
        let mut listed = store.below(folders);
        let mut names = Vec::new();
        while let Some(entry) = listed.recv().await {
            names.push(entry.expect("lists").key.to_string());
        }
        names.sort();
        names
    }

    #[test]
    fn the_oldest_go_first_and_everything_that_is_too_old() {
        let (now, age_max) = (UnixMs(1_000_000), Duration::from_millis(1_000));
        let at = |moments: &[i64]| moments.iter().map(|moment| (UnixMs(*moment), 10)).collect::<Vec<_>>();
        for (stored, bytes_max, expected) in [
            (at(&[]), 0, None),
            (at(&[999_999]), 100, None),
            (at(&[999_999]), 0, Some(999_999)),
            (at(&[999_000, 999_500]), 100, Some(999_000)),
            (at(&[5, 999_500, 7]), 100, Some(7)),
            // Three quarters of 40 are three of them.
            (at(&[999_901, 999_904, 999_902, 999_903]), 40, Some(999_901)),
            (at(&[999_901, 999_904, 999_902]), 40, None),
        ] {
            let removed = removed_up_to(stored.clone(), bytes_max, age_max, now);
            assert_eq!(removed.map(|moment| moment.0), expected, "{stored:?} {bytes_max}");
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_process_stores_its_share_until_it_has_swept() {
        let (_folder, store) = store();
        // Four blocks each.
        let bound = 16 * 4 * BLOCK_BYTES;
        let sizes = sizes(&store, bound, bound);
        let bytes = Bytes::from_static(b"small");
        for side_px in 1..=4 {
            assert_eq!(
                sizes.keep(SizePart::Free, &name(SizePart::Free, side_px), bytes.clone()).await,
                StoreOutcome::Ours
            );
        }
        let fifth = name(SizePart::Free, 5);
        assert_eq!(sizes.keep(SizePart::Free, &fifth, bytes.clone()).await, StoreOutcome::No);
        assert_eq!(
            sizes.keep(SizePart::Paid, &name(SizePart::Paid, 5), bytes.clone()).await,
            StoreOutcome::Ours,
            "its own"
        );
        sizes.sweep(Clock::SYSTEM.now()).await.expect("sweeps");
        assert_eq!(sizes.keep(SizePart::Free, &name(SizePart::Free, 1), bytes.clone()).await, StoreOutcome::Another);
        assert_eq!(sizes.keep(SizePart::Free, &fifth, bytes).await, StoreOutcome::Ours);
        assert_eq!(stored_in(&store, &["sizes"]).await.len(), 6);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn however_many_processes_store_the_bound_holds() {
        let (_folder, store) = store();
        let bound = 64 * 4 * BLOCK_BYTES;
        let processes: Vec<Sizes> = (0..4).map(|_| sizes(&store, 1 << 30, bound)).collect();
        let mut side_px = 0;
        for _ in 0..12 {
            for process in &processes {
                for _ in 0..40 {
                    side_px += 1;
                    process.keep(SizePart::Free, &name(SizePart::Free, side_px), Bytes::from_static(b"x")).await;
                }
                process.keep(SizePart::Paid, &name(SizePart::Paid, side_px), Bytes::from_static(b"x")).await;
            }
            let stored = stored_in(&store, SizePart::Free.folder()).await.len() as u64 * BLOCK_BYTES;
            assert!((1..=bound).contains(&stored), "{stored} of {bound}");
            for process in &processes {
                process.sweep(Clock::SYSTEM.now()).await.expect("sweeps");
            }
        }
        assert_eq!(
            stored_in(&store, SizePart::Paid.folder()).await.len(),
            4 * 12,
            "what is paid for has room of its own"
        );
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn what_is_old_goes_and_nothing_is_kept_where_nothing_may_be() {
        let (_folder, store) = store();
        let sizes = sizes(&store, 1 << 30, 0);
        let bytes = Bytes::from_static(b"x");
        assert_eq!(sizes.keep(SizePart::Free, &name(SizePart::Free, 7), bytes.clone()).await, StoreOutcome::No);
        assert_eq!(sizes.keep(SizePart::Paid, &name(SizePart::Paid, 7), bytes).await, StoreOutcome::Ours);
        let now = Clock::SYSTEM.now();
        sizes.sweep(now.plus_ms(29 * 86_400_000)).await.expect("sweeps");
        assert_eq!(stored_in(&store, &["sizes"]).await.len(), 1);
        sizes.sweep(now.plus_ms(31 * 86_400_000)).await.expect("sweeps");
        assert!(stored_in(&store, &["sizes"]).await.is_empty());
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn sizes_beside_the_presets_are_removed_once() {
        let (_folder, store) = store();
        let sha256 = "b".repeat(64);
        for side_px in [1, 256, 300, 512, 768, 1023, 1024] {
            let key = keys::derived(&sha256, side_px, side_px, Format::Png).expect("a name");
            store.put(&keys::signed(&key, "0123").expect("a name"), Bytes::from_static(b"x")).await.expect("stored");
            store.put(&key, Bytes::from_static(b"x")).await.expect("stored");
        }
        let sizes = sizes(&store, 1 << 30, 1 << 30);
        sizes.remove_leftovers().await.expect("removes");
        let left = stored_in(&store, &["derived", "signed"]).await;
        assert_eq!(left.len(), 8, "{left:?}");
        assert!(["/300x300", "/1x1", "/1023x1023"].iter().all(|gone| !left.iter().any(|name| name.contains(gone))));
        // The leftovers are not searched for a second time.
        let late = keys::derived(&sha256, 300, 300, Format::Png).expect("a name");
        store.put(&late, Bytes::from_static(b"x")).await.expect("stored");
        sizes.remove_leftovers().await.expect("looks");
        assert_eq!(store.size(&late).await.expect("looks"), Some(1));
    }
}
