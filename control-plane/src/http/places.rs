//! Room for connections and for requests, so that clients never stand in front of a probe. A listener takes a few connections more than it answers
//! requests at once; when those are taken, too, the one that has rested longest is closed, else the request that waits longest is refused. Probes
//! wait for no place.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

/// Connections beyond those whose requests are answered: for probes, and for requests that wait until another one is done.
const RESERVE: usize = 64;

/// Connections that were told to close, and have not closed yet.
const LEAVING: usize = 64;

/// The places of one listener.
#[derive(Debug, Clone)]
pub struct Places {
    connections: Arc<Semaphore>,
    requests: Arc<Semaphore>,
    /// How long a request waits for its turn.
    patience: Duration,
    resting: Arc<Mutex<Resting>>,
}

/// Connections that can be spared, the longest at rest first.
#[derive(Debug, Default)]
struct Resting {
    next: u64,
    /// Connections between two requests, or before their first one, in the order in which they came to rest.
    idle: BTreeMap<u64, CancellationToken>,
    /// With a request that waits for its turn.
    waiting: BTreeMap<u64, CancellationToken>,
}

impl Places {
    /// For so many requests at once.
    pub fn new(requests_max: usize, patience: Duration) -> Self {
        Places {
            connections: Arc::new(Semaphore::new(requests_max + RESERVE + LEAVING)),
            requests: Arc::new(Semaphore::new(requests_max)),
            patience,
            resting: Arc::default(),
        }
    }

    /// A place for the next connection; where there is none left, another one is told to leave. It is never `None`, because the semaphore is
    /// never closed.
    pub async fn enter(&self) -> Option<Place> {
        let permit = self.connections.clone().acquire_owned().await.ok()?;
        if self.connections.available_permits() < LEAVING {
            self.spare_one();
        }
        let place = Place(Arc::new(Taken {
            places: self.clone(),
            leave: CancellationToken::new(),
            number: Mutex::default(),
            _permit: permit,
        }));
        place.rest();
        Some(place)
    }

    fn spare_one(&self) {
        let mut resting = self.lock();
        let spared = resting.idle.pop_first().or_else(|| resting.waiting.pop_first());
        if let Some((_, leave)) = spared {
            leave.cancel();
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Resting> {
        self.resting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One connection's place; cheap to clone, given back with the last clone.
#[derive(Debug, Clone)]
pub struct Place(Arc<Taken>);

#[derive(Debug)]
struct Taken {
    places: Places,
    leave: CancellationToken,
    /// The number under which the connection rests or waits; `None` while its request is answered.
    number: Mutex<Option<u64>>,
    _permit: OwnedSemaphorePermit,
}

/// A request is being answered; when dropped, its connection rests.
#[derive(Debug)]
pub struct Turn {
    place: Place,
    _permit: Option<OwnedSemaphorePermit>,
}

impl Place {
    /// Resolves when another connection needs the place.
    pub async fn to_leave(&self) {
        self.0.leave.cancelled().await;
    }

    /// A turn for a probe, at once.
    pub fn probe(&self) -> Turn {
        self.stir();
        Turn { place: self.clone(), _permit: None }
    }

    /// A turn for any other request. `None`: it waited too long, or longest of too many.
    pub async fn turn(&self) -> Option<Turn> {
        self.stir();
        let free = self.0.places.requests.clone().try_acquire_owned();
        if let Ok(permit) = free {
            return Some(Turn { place: self.clone(), _permit: Some(permit) });
        }
        self.enlist(|resting| &mut resting.waiting);
        let permit = tokio::select! {
            permit = self.0.places.requests.clone().acquire_owned() => permit.ok(),
            () = self.0.leave.cancelled() => None,
            () = tokio::time::sleep(self.0.places.patience) => None,
        };
        self.stir();
        permit.map(|permit| Turn { place: self.clone(), _permit: Some(permit) })
    }

    /// Whether no request is being answered.
    pub fn is_at_rest(&self) -> bool {
        self.0.number.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    fn rest(&self) {
        self.enlist(|resting| &mut resting.idle);
    }

    fn enlist(&self, list: impl Fn(&mut Resting) -> &mut BTreeMap<u64, CancellationToken>) {
        let mut resting = self.0.places.lock();
        resting.next += 1;
        let number = resting.next;
        // A connection that was told to leave is not listed again, since it can make room only once.
        if !self.0.leave.is_cancelled() {
            list(&mut resting).insert(number, self.0.leave.clone());
        }
        *self.0.number.lock().unwrap_or_else(PoisonError::into_inner) = Some(number);
    }

    /// Is at rest no longer.
    fn stir(&self) {
        let number = self.0.number.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(number) = number {
            let mut resting = self.0.places.lock();
            resting.idle.remove(&number);
            resting.waiting.remove(&number);
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.place.rest();
    }
}

/// To be dropped with the connection: it is in no list any more.
#[derive(Debug)]
pub struct Gone(pub Place);

impl Drop for Gone {
    fn drop(&mut self) {
        self.0.stir();
    }
}
