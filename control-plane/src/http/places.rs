//! Room for connections and for requests, so that clients never stand in front of a probe. A listener takes a few connections more than it answers
//! requests at once. When those are taken as well, one connection has to leave: the one that has waited longest for its client (for a request, or for
//! the rest of a body), else the one whose request has waited longest for its turn. Probes wait for no place, and one network has at most half of the
//! turns.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Connections beyond those whose requests are answered: for probes, and for requests that wait until another one is done.
const RESERVE: usize = 64;

/// Connections that were told to close, and have not closed yet.
const LEAVING: usize = 64;

/// One network has at most the turns divided by this number.
const NETWORK_SHARE: usize = 2;

/// A client sends the head of its request right after it has connected. A connection that has waited for less time than this is told to leave
/// only where nothing else can be spared.
const NEW: Duration = Duration::from_millis(500);

/// The places of one listener.
#[derive(Debug, Clone)]
pub struct Places(Arc<Listener>);

#[derive(Debug)]
struct Listener {
    connections: Arc<Semaphore>,
    requests: Arc<Semaphore>,
    /// How many turns one network may have.
    share: usize,
    /// How long a request waits for its turn.
    patience: Duration,
    spare: Mutex<Spare>,
    /// The shares of the networks that have a connection.
    shares: Mutex<HashMap<IpAddr, Weak<Semaphore>>>,
}

/// Connections that can be spared, in the order of their ages.
#[derive(Debug, Default)]
struct Spare {
    next: u64,
    /// They wait for their client: between two requests, before the first one, or for the rest of a body.
    idle: BTreeMap<u64, Listed>,
    /// With a request that waits for its turn.
    waiting: BTreeMap<u64, Listed>,
}

#[derive(Debug)]
struct Listed {
    since: Instant,
    leave: CancellationToken,
}

/// Since when a connection has waited: its place in the order, and the time.
#[derive(Debug, Clone, Copy)]
pub struct Age {
    number: u64,
    since: Instant,
}

impl Spare {
    fn age(&mut self) -> Age {
        self.next += 1;
        Age { number: self.next, since: Instant::now() }
    }
}

impl Places {
    /// For so many requests at once.
    pub fn new(requests_max: usize, patience: Duration) -> Self {
        Places(Arc::new(Listener {
            connections: Arc::new(Semaphore::new(requests_max + RESERVE + LEAVING)),
            requests: Arc::new(Semaphore::new(requests_max)),
            share: requests_max.div_ceil(NETWORK_SHARE),
            patience,
            spare: Mutex::default(),
            shares: Mutex::default(),
        }))
    }

    /// A place for the next connection; where there is none left, another one is told to leave. `network`: whose turns are counted together, `None`
    /// for a proxy that speaks for many clients. The result is never `None`, because the semaphore is never closed.
    pub async fn enter(&self, network: Option<IpAddr>) -> Option<Place> {
        let permit = self.0.connections.clone().acquire_owned().await.ok()?;
        if self.0.connections.available_permits() < LEAVING {
            self.spare_one(Instant::now());
        }
        let place = Place(Arc::new(Taken {
            places: self.clone(),
            share: network.map(|network| (network, self.share_of(network))),
            leave: CancellationToken::new(),
            number: Mutex::default(),
            _permit: permit,
        }));
        place.rest();
        Some(place)
    }

    fn spare_one(&self, now: Instant) {
        let mut spare = lock(&self.0.spare);
        let oldest = spare.idle.first_key_value().map(|(_, listed)| now.saturating_duration_since(listed.since));
        let is_new = oldest.is_none_or(|age| age < NEW);
        let spared = match is_new {
            true => spare.waiting.pop_first().or_else(|| spare.idle.pop_first()),
            false => spare.idle.pop_first(),
        };
        if let Some((_, listed)) = spared {
            listed.leave.cancel();
        }
    }

    fn share_of(&self, network: IpAddr) -> Arc<Semaphore> {
        let mut shares = lock(&self.0.shares);
        let known = shares.get(&network).and_then(Weak::upgrade);
        known.unwrap_or_else(|| {
            let share = Arc::new(Semaphore::new(self.0.share));
            shares.insert(network, Arc::downgrade(&share));
            share
        })
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One connection's place; cheap to clone, given back with the last clone.
#[derive(Debug, Clone)]
pub struct Place(Arc<Taken>);

#[derive(Debug)]
struct Taken {
    places: Places,
    share: Option<(IpAddr, Arc<Semaphore>)>,
    leave: CancellationToken,
    /// The number under which the connection is listed; `None` while its request is answered.
    number: Mutex<Option<u64>>,
    _permit: OwnedSemaphorePermit,
}

impl Drop for Taken {
    fn drop(&mut self) {
        let Some((network, share)) = self.share.take() else { return };
        let mut shares = lock(&self.places.0.shares);
        drop(share);
        if shares.get(&network).is_some_and(|share| share.strong_count() == 0) {
            shares.remove(&network);
        }
    }
}

/// A turn's part of all turns, and of those of its network.
#[derive(Debug)]
pub struct Permits {
    _share: Option<OwnedSemaphorePermit>,
    _request: OwnedSemaphorePermit,
}

/// A request is being answered; when dropped, its connection rests.
#[derive(Debug)]
pub struct Turn {
    /// `None` for a probe, and while the client's body is waited for. Before the place, so that it is dropped first: the network's share ends with
    /// its last place.
    permits: Mutex<Option<Permits>>,
    place: Place,
    is_probe: bool,
}

impl Place {
    /// Resolves when another connection needs the place.
    pub async fn to_leave(&self) {
        self.0.leave.cancelled().await;
    }

    /// A turn for a probe, at once.
    pub fn probe(&self) -> Turn {
        self.stir();
        Turn { place: self.clone(), permits: Mutex::default(), is_probe: true }
    }

    /// A turn for any other request. `None`: it waited too long, or longest of too many.
    pub async fn turn(&self) -> Option<Turn> {
        let permits = self.permits().await?;
        Some(Turn { place: self.clone(), permits: Mutex::new(Some(permits)), is_probe: false })
    }

    /// What a turn takes. `None` as for a turn; the connection is listed no longer in either case.
    pub async fn permits(&self) -> Option<Permits> {
        let requests = &self.0.places.0.requests;
        let taken = async {
            let share = match &self.0.share {
                Some((_, share)) => Some(share.clone().acquire_owned().await.ok()?),
                None => None,
            };
            Some(Permits { _share: share, _request: requests.clone().acquire_owned().await.ok()? })
        };
        tokio::pin!(taken);
        self.stir();
        // Most find a free one, and need not be listed.
        if let std::task::Poll::Ready(permits) = futures::poll!(taken.as_mut()) {
            return permits;
        }
        self.enlist(None, |spare| &mut spare.waiting);
        let permits = tokio::select! {
            permits = taken => permits,
            () = self.0.leave.cancelled() => None,
            () = tokio::time::sleep(self.0.places.0.patience) => None,
        };
        self.stir();
        permits
    }

    /// Whether no request is being answered.
    pub fn is_at_rest(&self) -> bool {
        lock(&self.0.number).is_some()
    }

    fn rest(&self) {
        self.enlist(None, |spare| &mut spare.idle);
    }

    /// Lists the connection, at the age that it has or as the youngest one, and says the age.
    fn enlist(&self, age: Option<Age>, list: impl Fn(&mut Spare) -> &mut BTreeMap<u64, Listed>) -> Age {
        self.stir();
        let mut spare = lock(&self.0.places.0.spare);
        let age = age.unwrap_or_else(|| spare.age());
        // A connection that was told to leave is not listed again, since it can make room only once.
        if !self.0.leave.is_cancelled() {
            list(&mut spare).insert(age.number, Listed { since: age.since, leave: self.0.leave.clone() });
        }
        *lock(&self.0.number) = Some(age.number);
        age
    }

    /// Is listed no longer.
    fn stir(&self) {
        let number = lock(&self.0.number).take();
        if let Some(number) = number {
            let mut spare = lock(&self.0.places.0.spare);
            spare.idle.remove(&number);
            spare.waiting.remove(&number);
        }
    }
}

impl Turn {
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// Gives the turn to others until [`Turn::go_on`], because the client's body is waited for. `age`: since when, `None` for now. A probe has
    /// nothing to give.
    pub fn pause(&self, age: Option<Age>) -> Option<Age> {
        drop(lock(&self.permits).take());
        (!self.is_probe).then(|| self.place.enlist(age, |spare| &mut spare.idle))
    }

    /// Goes on with what [`Place::permits`] gave.
    pub fn go_on(&self, permits: Permits) {
        *lock(&self.permits) = Some(permits);
    }

    /// The connection has to leave: what is left to do is its last answer.
    pub fn give_up_body(&self) {
        self.place.stir();
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

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt;

    async fn enter(places: &Places) -> Place {
        places.enter(None).await.expect("a place")
    }

    fn has_to_leave(place: &Place) -> bool {
        place.to_leave().now_or_never().is_some()
    }

    async fn enter_some(places: &Places) -> Vec<Place> {
        let mut entered = Vec::new();
        for _ in 0..3 {
            entered.push(enter(places).await);
        }
        entered
    }

    #[tokio::test]
    async fn the_longest_wait_for_a_client_makes_room() {
        for has_progressed in [false, true] {
            let places = Places::new(2, Duration::from_secs(30));
            let slow = enter(&places).await;
            let turn = slow.turn().await.expect("a turn");
            let begun = turn.pause(None);
            let idle = enter_some(&places).await;
            assert_eq!(places.0.requests.available_permits(), 2, "who waits for a client has no turn");
            // More of the body came, and then no more.
            turn.go_on(slow.permits().await.expect("permits"));
            turn.pause(begun.filter(|_| !has_progressed));
            places.spare_one(Instant::now() + NEW);
            assert_eq!((has_to_leave(&slow), has_to_leave(&idle[0])), (!has_progressed, has_progressed));
            assert!(!idle[1..].iter().any(has_to_leave));
        }
    }

    #[tokio::test]
    async fn a_new_connection_stays_while_something_else_can_be_spared() {
        let (places, now) = (Places::new(1, Duration::from_secs(30)), Instant::now());
        let first = enter(&places).await;
        let _turn = first.turn().await.expect("a turn");
        let patient = enter(&places).await;
        let mut waiting = Box::pin(patient.turn());
        assert!(waiting.as_mut().now_or_never().is_none());
        let new = enter_some(&places).await;
        places.spare_one(now);
        assert!(!new.iter().any(has_to_leave) && has_to_leave(&patient));
        assert!(waiting.await.is_none());
        places.spare_one(now);
        assert!(has_to_leave(&new[0]), "where nothing else is left the oldest goes");
    }

    #[tokio::test]
    async fn a_network_has_its_share_of_turns() {
        let places = Places::new(4, Duration::from_millis(50));
        let here: IpAddr = [203, 0, 113, 9].into();
        let of = async |network| places.enter(network).await.expect("a place");
        let (a, b, c) = (of(Some(here)).await, of(Some(here)).await, of(Some(here)).await);
        let (first, second) = (a.turn().await.expect("a turn"), b.turn().await.expect("a turn"));
        assert!(c.turn().await.is_none(), "two of four are its own");
        let (d, e) = (of(Some([203, 0, 113, 10].into())).await, of(None).await);
        assert!(d.turn().await.is_some());
        drop(second);
        assert!(c.turn().await.is_some());
        let proxied = [e.turn().await, of(None).await.turn().await, of(None).await.turn().await];
        assert!(proxied.iter().all(Option::is_some), "a proxy speaks for many");
        drop((a, b, c, first));
        assert_eq!(places.0.shares.lock().expect("shares").len(), 1);
    }
}
