//! Limits on requests of nodes that keep this process busy for a while: uploads and requests for
//! work.
//!
//! One request at a time is allowed for each object or node, a maximum for each node token, and a
//! maximum for all. A newer request for the same object or node ends the older one, because a node
//! whose connection died sends again long before this end notices.

use crate::objects::ObjectKey;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

/// Maximum number of concurrent uploads. Each has a file open and a piece of its body in memory. A
/// node sends six at once for each of its jobs.
const AT_ONCE: usize = 256;

/// Maximum number of concurrent uploads by the nodes of one token, so that nodes of another token
/// always find room.
const AT_ONCE_OF_ONE_TOKEN: usize = AT_ONCE / 2;

/// The longest time that an upload waits for its place. Nodes that are refused retry with growing
/// pauses.
const WAIT_MAX: Duration = Duration::from_secs(10);

/// The longest time that a request for work waits for its place, which is until the older request
/// of its node has ended. It meanwhile holds a permit that other requests may need.
const POLL_WAIT_MAX: Duration = Duration::from_millis(100);

/// The reasons why a request found no place, or lost its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoPlace {
    TooMany,
    /// A newer request for the same object or node has begun.
    Replaced,
}

/// Places for uploads, by the object's key.
pub(super) type Receiving = RequestPlaces<ObjectKey>;

/// Places for requests for work, by the token and the node.
pub(super) type Polls = RequestPlaces<(String, String)>;

/// The places for one kind of request.
#[derive(Debug)]
pub(super) struct RequestPlaces<K: Eq + Hash> {
    all: Arc<Semaphore>,
    of_one_token: usize,
    wait_max: Duration,
    state: Mutex<PlacesState<K>>,
}

#[derive(Debug)]
struct PlacesState<K> {
    next: u64,
    /// The latest request for each key.
    latest: HashMap<K, (u64, CancellationToken)>,
    /// The places of each token that has a request under way.
    of_tokens: HashMap<String, Weak<Semaphore>>,
}

impl Default for Receiving {
    fn default() -> Self {
        Receiving::new(AT_ONCE, AT_ONCE_OF_ONE_TOKEN, WAIT_MAX)
    }
}

/// The place of one request, which is given back when it is dropped.
#[derive(Debug)]
pub(super) struct RequestPlace<'a, K: Clone + Eq + Hash> {
    busy: &'a RequestPlaces<K>,
    key: K,
    number: u64,
    replaced: CancellationToken,
    permits: Option<(OwnedSemaphorePermit, OwnedSemaphorePermit)>,
}

impl<K: Clone + Eq + Hash> RequestPlace<'_, K> {
    /// Resolves when a newer request for the same key has begun.
    pub async fn replaced(&self) {
        self.replaced.cancelled().await;
    }

    pub fn is_replaced(&self) -> bool {
        self.replaced.is_cancelled()
    }
}

impl<K: Clone + Eq + Hash> Drop for RequestPlace<'_, K> {
    fn drop(&mut self) {
        let mut state = self.busy.state();
        if state.latest.get(&self.key).is_some_and(|(number, _)| *number == self.number) {
            state.latest.remove(&self.key);
        }
    }
}

impl Polls {
    /// Allows `of_one_token` requests for each token. The permits of nodes' requests bound the
    /// total.
    pub fn of_one_token(of_one_token: usize) -> Self {
        RequestPlaces::new(Semaphore::MAX_PERMITS, of_one_token, POLL_WAIT_MAX)
    }
}

impl<K: Clone + Eq + Hash> RequestPlaces<K> {
    fn new(at_once: usize, of_one_token: usize, wait_max: Duration) -> Self {
        let state = PlacesState { next: 0, latest: HashMap::new(), of_tokens: HashMap::new() };
        RequestPlaces { all: Arc::new(Semaphore::new(at_once)), of_one_token, wait_max, state: Mutex::new(state) }
    }

    /// Ends an older request for the same key, and waits for a place. Returns [`NoPlace::TooMany`]
    /// when none becomes free in time, and [`NoPlace::Replaced`] when a newer request comes
    /// meanwhile.
    pub async fn begin(&self, token_id: &str, key: &K) -> Result<RequestPlace<'_, K>, NoPlace> {
        let (mut place, of_token) = self.enter(token_id, key);
        let permits = async {
            // The token's permit comes first: a request that waits for it holds no place of the
            // total.
            let of_token = of_token.acquire_owned().await.ok()?;
            Some((of_token, self.all.clone().acquire_owned().await.ok()?))
        };
        tokio::select! {
            biased;
            () = place.replaced.cancelled() => Err(NoPlace::Replaced),
            permits = tokio::time::timeout(self.wait_max, permits) => {
                place.permits = Some(permits.ok().flatten().ok_or(NoPlace::TooMany)?);
                Ok(place)
            }
        }
    }

    /// Makes this the latest request for its key, still without permits. Returns it with the
    /// semaphore of its token.
    fn enter(&self, token_id: &str, key: &K) -> (RequestPlace<'_, K>, Arc<Semaphore>) {
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
        (RequestPlace { busy: self, key: key.clone(), number, replaced, permits: None }, of_token)
    }

    fn state(&self) -> MutexGuard<'_, PlacesState<K>> {
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
        assert!(matches!(begin("a", 2).await, Err(NoPlace::TooMany)), "its token has two");
        let third = begin("b", 3).await.expect("another token has places");
        assert!(matches!(begin("b", 4).await, Err(NoPlace::TooMany)), "there are three");
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
        // A request that waits for a place is ended as well.
        let _other = receiving.begin("a", &key(1)).await.expect("a place");
        let waits = key(2);
        let (older, newer) = tokio::join!(receiving.begin("a", &waits), receiving.begin("a", &waits));
        assert!(matches!((older, newer), (Err(NoPlace::Replaced), Err(NoPlace::TooMany))));
    }
}
