//! Uploads that come through this process: one at a time of each object, so many of each node token, and so many of all.

use super::UploadError;
use crate::objects::ObjectKey;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

/// Each has a file open and a piece of its body in memory. A node sends six at once for each of its jobs.
const AT_ONCE: usize = 256;

/// How many of them the nodes of one token may have: those of another token always find places.
const AT_ONCE_OF_ONE_TOKEN: usize = AT_ONCE / 2;

/// How long an upload waits for its place. Nodes that are refused try again with growing pauses.
const WAIT_MAX: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(super) struct Receiving {
    all: Arc<Semaphore>,
    of_one_token: usize,
    wait_max: Duration,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    next: u64,
    /// The latest upload of each object.
    latest: HashMap<ObjectKey, (u64, CancellationToken)>,
    /// The places of each token that has an upload under way.
    of_tokens: HashMap<String, Weak<Semaphore>>,
}

impl Default for Receiving {
    fn default() -> Self {
        Receiving::new(AT_ONCE, AT_ONCE_OF_ONE_TOKEN, WAIT_MAX)
    }
}

/// An upload's place; given back when it is dropped.
#[derive(Debug)]
pub(super) struct Place<'a> {
    receiving: &'a Receiving,
    key: ObjectKey,
    number: u64,
    replaced: CancellationToken,
    permits: Option<(OwnedSemaphorePermit, OwnedSemaphorePermit)>,
}

impl Place<'_> {
    /// Resolves when a newer upload of the same object has begun: a node whose connection died sends again long before this end of it notices.
    pub async fn replaced(&self) {
        self.replaced.cancelled().await;
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut state = self.receiving.state();
        if state.latest.get(&self.key).is_some_and(|(number, _)| *number == self.number) {
            state.latest.remove(&self.key);
        }
    }
}

impl Receiving {
    fn new(at_once: usize, of_one_token: usize, wait_max: Duration) -> Self {
        Receiving { all: Arc::new(Semaphore::new(at_once)), of_one_token, wait_max, state: Mutex::default() }
    }

    /// Ends an older upload of the same object, and waits for a place. Refused when none becomes free in time.
    pub async fn begin(&self, token_id: &str, key: &ObjectKey) -> Result<Place<'_>, UploadError> {
        let (mut place, of_token) = self.enter(token_id, key);
        let permits = async {
            // The token's first: who waits for its own share holds no place of all.
            let of_token = of_token.acquire_owned().await.ok()?;
            Some((of_token, self.all.clone().acquire_owned().await.ok()?))
        };
        tokio::select! {
            permits = tokio::time::timeout(self.wait_max, permits) => {
                place.permits = Some(permits.ok().flatten().ok_or(UploadError::TooMany)?);
                Ok(place)
            }
            () = place.replaced.cancelled() => Err(UploadError::Replaced),
        }
    }

    /// Makes this the latest upload of its object, without permits yet; and the places of its token.
    fn enter(&self, token_id: &str, key: &ObjectKey) -> (Place<'_>, Arc<Semaphore>) {
        let mut state = self.state();
        state.next += 1;
        let (number, replaced) = (state.next, CancellationToken::new());
        if let Some((_, older)) = state.latest.insert(key.clone(), (number, replaced.clone())) {
            older.cancel();
        }
        let known = state.of_tokens.get(token_id).and_then(Weak::upgrade);
        let of_token = known.unwrap_or_else(|| {
            let places = Arc::new(Semaphore::new(self.of_one_token));
            state.of_tokens.retain(|_, places| places.strong_count() > 0);
            state.of_tokens.insert(token_id.to_owned(), Arc::downgrade(&places));
            places
        });
        (Place { receiving: self, key: key.clone(), number, replaced, permits: None }, of_token)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: usize) -> ObjectKey {
        ObjectKey::new(format!("staging/job/1/{number}")).expect("a key")
    }

    #[tokio::test]
    async fn so_many_of_each_token_and_so_many_of_all() {
        let receiving = Receiving::new(3, 2, Duration::from_millis(20));
        let begin = async |token: &str, number| receiving.begin(token, &key(number)).await;
        let first = begin("a", 0).await.expect("a place");
        let second = begin("a", 1).await.expect("a place");
        assert!(matches!(begin("a", 2).await, Err(UploadError::TooMany)), "its token has two");
        let third = begin("b", 3).await.expect("another token has places");
        assert!(matches!(begin("b", 4).await, Err(UploadError::TooMany)), "there are three");
        drop(first);
        let again = begin("b", 4).await.expect("a place was given back");
        drop((again, second, third));
        assert_eq!(receiving.all.available_permits(), 3);
        assert!(receiving.state().latest.is_empty());
        let _only = begin("c", 0).await.expect("a place");
        assert_eq!(receiving.state().of_tokens.keys().collect::<Vec<_>>(), ["c"], "others are forgotten");
    }

    #[tokio::test]
    async fn the_newer_upload_of_an_object_ends_the_older() {
        let receiving = Receiving::new(2, 2, Duration::from_millis(20));
        let older = receiving.begin("a", &key(0)).await.expect("a place");
        let newer = receiving.begin("a", &key(0)).await.expect("a place");
        older.replaced().await;
        assert!(!newer.replaced.is_cancelled());
        drop(older);
        assert_eq!(receiving.state().latest.len(), 1, "the newer one is still known");
        // One that waits for a place is ended as well.
        let _other = receiving.begin("a", &key(1)).await.expect("a place");
        let waits = key(2);
        let (older, newer) = tokio::join!(receiving.begin("a", &waits), receiving.begin("a", &waits));
        assert!(matches!((older, newer), (Err(UploadError::Replaced), Err(UploadError::TooMany))));
    }
}
