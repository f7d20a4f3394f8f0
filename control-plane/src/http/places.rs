//! Room for connections and for requests, so that clients never stand in front of a probe or a render node. A listener takes a few connections more
//! than it answers requests at once. When those are taken as well, one connection has to leave (`spare`). Probes wait for no place, nodes have turns
//! of their own, because clients with a turn may wait for what a node does, and one network has at most half of the turns of each kind.

use super::spare::{Age, Awaited, Entry, Spare};
use std::collections::HashMap;
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

/// Paths of render nodes begin with this.
const NODE_PATHS: &str = "/node/v1/";

/// Whose turns a request takes one of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Client,
    /// A render node.
    Node,
}

impl Kind {
    pub fn of(path: &str) -> Self {
        match path.starts_with(NODE_PATHS) {
            true => Kind::Node,
            false => Kind::Client,
        }
    }
}

/// The sender of a request: its kind, and the network whose place the request takes while it waits. For a request that came through a trusted
/// proxy, that is the network of the client.
#[derive(Debug, Clone, Copy)]
pub struct Sender {
    pub kind: Kind,
    pub network: IpAddr,
}

/// The other end of a connection.
#[derive(Debug, Clone, Copy)]
pub struct Peer {
    pub network: IpAddr,
    /// A proxy that speaks for many clients has no share of the turns. Its connections are its own only between two requests.
    pub is_proxy: bool,
}

/// The places of one listener.
#[derive(Debug, Clone)]
pub struct Places(Arc<Listener>);

#[derive(Debug)]
struct Listener {
    connections: Arc<Semaphore>,
    turns: Turns,
    /// How many turns of each kind one network may have.
    share: usize,
    /// How long a request waits for its turn.
    patience: Duration,
    spare: Mutex<Spare>,
    /// The shares of the networks that have a connection.
    shares: Mutex<HashMap<IpAddr, Weak<Turns>>>,
}

/// So many turns of each kind: all, or those of one network.
#[derive(Debug)]
struct Turns {
    clients: Arc<Semaphore>,
    nodes: Arc<Semaphore>,
}

impl Turns {
    fn new(of_each: usize) -> Self {
        Turns { clients: Arc::new(Semaphore::new(of_each)), nodes: Arc::new(Semaphore::new(of_each)) }
    }

    fn of(&self, kind: Kind) -> Arc<Semaphore> {
        match kind {
            Kind::Client => self.clients.clone(),
            Kind::Node => self.nodes.clone(),
        }
    }
}

impl Places {
    /// For so many requests of clients at once, and as many of nodes.
    pub fn new(requests_max: usize, patience: Duration) -> Self {
        let answered = requests_max.saturating_mul(2);
        Places(Arc::new(Listener {
            connections: Arc::new(Semaphore::new(answered + RESERVE + LEAVING)),
            turns: Turns::new(requests_max),
            share: requests_max.div_ceil(NETWORK_SHARE),
            patience,
            spare: Mutex::default(),
            shares: Mutex::default(),
        }))
    }

    /// A place for the next connection; where there is none left, another one is told to leave. The result is never `None`, because the semaphore is
    /// never closed.
    pub async fn enter(&self, peer: Peer) -> Option<Place> {
        let permit = self.0.connections.clone().acquire_owned().await.ok()?;
        if self.0.connections.available_permits() < LEAVING {
            self.spare_one(Instant::now());
        }
        let place = Place(Arc::new(Taken {
            places: self.clone(),
            network: peer.network,
            share: (!peer.is_proxy).then(|| self.share_of(peer.network)),
            leave: CancellationToken::new(),
            listed: Mutex::default(),
            _permit: permit,
        }));
        place.rest();
        Some(place)
    }

    fn spare_one(&self, now: Instant) {
        lock(&self.0.spare).tell_one(now);
    }

    fn share_of(&self, network: IpAddr) -> Arc<Turns> {
        let mut shares = lock(&self.0.shares);
        let known = shares.get(&network).and_then(Weak::upgrade);
        known.unwrap_or_else(|| {
            let share = Arc::new(Turns::new(self.0.share));
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
    /// The network of the other end of the connection.
    network: IpAddr,
    /// What that network may have. `None` for a proxy.
    share: Option<Arc<Turns>>,
    leave: CancellationToken,
    /// Where the connection is listed; `None` while its request is answered.
    listed: Mutex<Option<Entry>>,
    _permit: OwnedSemaphorePermit,
}

impl Drop for Taken {
    fn drop(&mut self) {
        let Some(share) = self.share.take() else { return };
        let mut shares = lock(&self.places.0.shares);
        drop(share);
        if shares.get(&self.network).is_some_and(|share| share.strong_count() == 0) {
            shares.remove(&self.network);
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
    sender: Sender,
    is_probe: bool,
}

impl Place {
    /// Resolves when another connection needs the place.
    pub async fn to_leave(&self) {
        self.0.leave.cancelled().await;
    }

    /// A turn for a probe, at once.
    pub fn probe(&self, sender: Sender) -> Turn {
        self.stir();
        Turn { place: self.clone(), permits: Mutex::default(), sender, is_probe: true }
    }

    /// A turn for any other request. `None`: it waited too long, or longest of too many.
    pub async fn turn(&self, sender: Sender) -> Option<Turn> {
        let permits = self.permits(sender).await?;
        Some(Turn { place: self.clone(), permits: Mutex::new(Some(permits)), sender, is_probe: false })
    }

    /// What a turn takes. `None` as for a turn; the connection is listed no longer in either case.
    pub async fn permits(&self, sender: Sender) -> Option<Permits> {
        let requests = self.0.places.0.turns.of(sender.kind);
        let share = self.0.share.as_ref().map(|share| share.of(sender.kind));
        let taken = async {
            let share = match share {
                Some(share) => Some(share.acquire_owned().await.ok()?),
                None => None,
            };
            Some(Permits { _share: share, _request: requests.acquire_owned().await.ok()? })
        };
        tokio::pin!(taken);
        self.stir();
        // Most find a free one, and need not be listed.
        if let std::task::Poll::Ready(permits) = futures::poll!(taken.as_mut()) {
            return permits;
        }
        self.enlist(sender.network, Awaited::Turn, None);
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
        lock(&self.0.listed).is_some()
    }

    fn rest(&self) {
        self.enlist(self.0.network, Awaited::Client, None);
    }

    /// Lists the connection, at the age that it has or as the youngest one, and says the age.
    fn enlist(&self, network: IpAddr, awaited: Awaited, age: Option<Age>) -> Age {
        self.stir();
        let (entry, age) = lock(&self.0.places.0.spare).add(network, awaited, age, self.0.leave.clone());
        *lock(&self.0.listed) = Some(entry);
        age
    }

    /// Is listed no longer.
    fn stir(&self) {
        let listed = lock(&self.0.listed).take();
        if let Some(entry) = listed {
            lock(&self.0.places.0.spare).remove(entry);
        }
    }
}

impl Turn {
    pub fn place(&self) -> &Place {
        &self.place
    }

    pub fn sender(&self) -> Sender {
        self.sender
    }

    /// Gives the turn to others until [`Turn::go_on`], because the client's body is waited for. `age`: since when, `None` for now. A probe has
    /// nothing to give.
    pub fn pause(&self, age: Option<Age>) -> Option<Age> {
        drop(lock(&self.permits).take());
        (!self.is_probe).then(|| self.place.enlist(self.sender.network, Awaited::Client, age))
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
    use crate::http::spare::NEW;
    use futures::FutureExt;

    fn network(number: u8) -> IpAddr {
        [203, 0, 113, number].into()
    }

    fn client(number: u8) -> Sender {
        Sender { kind: Kind::Client, network: network(number) }
    }

    async fn enter(places: &Places, number: u8, is_proxy: bool) -> Place {
        places.enter(Peer { network: network(number), is_proxy }).await.expect("a place")
    }

    fn has_to_leave(place: &Place) -> bool {
        place.to_leave().now_or_never().is_some()
    }

    async fn enter_some(places: &Places) -> Vec<Place> {
        let mut entered = Vec::new();
        for _ in 0..3 {
            entered.push(enter(places, 1, false).await);
        }
        entered
    }

    #[tokio::test]
    async fn the_longest_wait_for_a_client_makes_room() {
        for has_progressed in [false, true] {
            let places = Places::new(2, Duration::from_secs(30));
            let slow = enter(&places, 1, false).await;
            let turn = slow.turn(client(1)).await.expect("a turn");
            let begun = turn.pause(None);
            let idle = enter_some(&places).await;
            assert_eq!(places.0.turns.clients.available_permits(), 2, "who waits for a client has no turn");
            // More of the body came, and then no more.
            turn.go_on(slow.permits(client(1)).await.expect("permits"));
            turn.pause(begun.filter(|_| !has_progressed));
            places.spare_one(Instant::now() + NEW);
            assert_eq!((has_to_leave(&slow), has_to_leave(&idle[0])), (!has_progressed, has_progressed));
            assert!(!idle[1..].iter().any(has_to_leave));
        }
    }

    #[tokio::test]
    async fn a_new_connection_stays_while_something_else_can_be_spared() {
        let (places, now) = (Places::new(1, Duration::from_secs(30)), Instant::now());
        let first = enter(&places, 1, false).await;
        let _turn = first.turn(client(1)).await.expect("a turn");
        let patient = enter(&places, 1, false).await;
        let mut waiting = Box::pin(patient.turn(client(1)));
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
        let here = async || enter(&places, 9, false).await;
        let (a, b, c) = (here().await, here().await, here().await);
        let (first, second) = (a.turn(client(9)).await.expect("a turn"), b.turn(client(9)).await.expect("a turn"));
        assert!(c.turn(client(9)).await.is_none(), "two of four are its own");
        let node = Sender { kind: Kind::Node, ..client(9) };
        let (d, e) = (here().await, here().await);
        let nodes = (c.turn(node).await.expect("a turn"), d.turn(node).await.expect("a turn"));
        assert!(e.turn(node).await.is_none(), "and two of the nodes' four");
        drop(nodes);
        let (f, proxy) = (enter(&places, 10, false).await, async || enter(&places, 11, true).await);
        assert!(f.turn(client(10)).await.is_some());
        drop(second);
        assert!(c.turn(client(9)).await.is_some());
        let proxies = (proxy().await, proxy().await, proxy().await);
        let proxied =
            (proxies.0.turn(client(1)).await, proxies.1.turn(client(1)).await, proxies.2.turn(client(1)).await);
        assert!(proxied.0.is_some() && proxied.1.is_some() && proxied.2.is_some(), "a proxy speaks for many");
        assert!(c.turn(client(9)).await.is_none() && f.turn(client(10)).await.is_none(), "all are taken");
        assert!(c.turn(node).await.is_some(), "but none of the nodes'");
        drop((a, b, c, d, e, first));
        assert_eq!(places.0.shares.lock().expect("shares").len(), 1);
    }

    #[tokio::test]
    async fn a_request_behind_a_proxy_waits_in_a_place_of_its_client() {
        let places = Places::new(8, Duration::from_secs(30));
        // One client has three slow bodies, by a proxy that has two connections at rest and another client's slow body.
        let mut slow = Vec::new();
        for number in [2, 1, 1, 1] {
            let place = enter(&places, 3, true).await;
            let turn = place.turn(client(number)).await.expect("a turn");
            turn.pause(None);
            slow.push((place, turn));
        }
        let idle = [enter(&places, 3, true).await, enter(&places, 3, true).await];
        let later = Instant::now() + NEW;
        places.spare_one(later);
        let told = || slow.iter().map(|(place, _)| has_to_leave(place)).collect::<Vec<_>>();
        assert_eq!(told(), [false, true, false, false]);
        places.spare_one(later);
        places.spare_one(later);
        assert_eq!(told(), [false, true, true, false]);
        assert!(has_to_leave(&idle[0]) && !has_to_leave(&idle[1]));
    }
}
