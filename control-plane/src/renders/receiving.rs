//! Uploads that come through this process: each object's once at a time, and so many of all.

use super::UploadError;
use crate::objects::ObjectKey;
use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Semaphore, SemaphorePermit};

/// Each has a file open and a piece of its body in memory. A node sends six at once for each of its jobs.
const AT_ONCE: usize = 256;

/// How long an upload waits for its place. Nodes that are refused try again with growing pauses, for as long as a lease lasts.
const WAIT_MAX: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(super) struct Receiving {
    places: Semaphore,
    wait_max: Duration,
    under_way: Mutex<HashSet<ObjectKey>>,
}

impl Default for Receiving {
    fn default() -> Self {
        Receiving::new(AT_ONCE, WAIT_MAX)
    }
}

/// An upload's place; given back when it is dropped.
#[derive(Debug)]
pub(super) struct Place<'a> {
    receiving: &'a Receiving,
    key: ObjectKey,
    _permit: SemaphorePermit<'a>,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.receiving.under_way().remove(&self.key);
    }
}

impl Receiving {
    fn new(at_once: usize, wait_max: Duration) -> Self {
        Receiving { places: Semaphore::new(at_once), wait_max, under_way: Mutex::default() }
    }

    /// Refused while another upload of the same object is under way, or when no place becomes free in time.
    pub async fn begin(&self, key: &ObjectKey) -> Result<Place<'_>, UploadError> {
        if self.under_way().contains(key) {
            return Err(UploadError::UnderWay);
        }
        let permit = tokio::time::timeout(self.wait_max, self.places.acquire()).await;
        let permit = permit.ok().and_then(Result::ok).ok_or(UploadError::TooMany)?;
        match self.under_way().insert(key.clone()) {
            true => Ok(Place { receiving: self, key: key.clone(), _permit: permit }),
            false => Err(UploadError::UnderWay),
        }
    }

    fn under_way(&self) -> MutexGuard<'_, HashSet<ObjectKey>> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: usize) -> ObjectKey {
        ObjectKey::new(format!("staging/job/1/{number}")).expect("a key")
    }

    #[tokio::test]
    async fn each_object_once_and_so_many_of_all() {
        let receiving = Receiving::new(2, Duration::from_millis(20));
        let first = receiving.begin(&key(0)).await.expect("a place");
        assert!(matches!(receiving.begin(&key(0)).await, Err(UploadError::UnderWay)));
        let second = receiving.begin(&key(1)).await.expect("a place");
        assert!(matches!(receiving.begin(&key(2)).await, Err(UploadError::TooMany)));
        drop(first);
        let again = receiving.begin(&key(0)).await.expect("its place was given back");
        drop((again, second));
        assert_eq!(receiving.places.available_permits(), 2);
        assert!(receiving.under_way().is_empty());
    }
}
