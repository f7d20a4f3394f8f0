//! Room for connections and for requests, so that clients never stand in front of a probe or a render node. A listener
//! takes a few connections more than it answers requests at once. When those are taken as well, one connection has to
//! leave (`spare`). Probes wait for no place, nodes have turns of their own, because clients with a turn may wait for
//! what a node does, and one site has at most half of the turns of each kind.

use super::spare::{Age, Awaited, Entry, Spare};
use super::unsent::Unsent;
use crate::networks::site_of;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Connections beyond those whose requests are answered: for probes, and for requests that wait until another one is done.
/// Why: `docs/decisions/limits-and-connections.md` (Connections over `CYCLORAMA_CONNECTIONS_MAX`).
const RESERVE: usize = 64;

/// Connections that were told to close, and have not closed yet. Those that have bytes left to send are given a moment,
/// in which so many others can come.
const LEAVING: usize = 256;

/// One site has at most the turns divided by this number.
const SITE_SHARE: usize = 2;

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

/// The sender of a request: its kind, and the network whose place the request takes while it waits. For a request that
/// came through a trusted proxy, that is the network of the client.
#[derive(Debug, Clone, Copy)]
pub struct Sender {
    pub kind: Kind,
    pub network: IpAddr,
}

/// The places of one listener.
#[derive(Debug, Clone)]
pub struct Places(Arc<Listener>);

#[derive(Debug)]
struct Listener {
    connections: Arc<Semaphore>,
    turns: Turns,
    /// How many turns of each kind one site may have.
    share: usize,
    /// How long a request waits for its turn.
    patience: Duration,
    spare: Mutex<Spare>,
    /// The shares of the sites whose requests have a turn or wait for one.
    shares: Mutex<HashMap<IpAddr, Weak<Turns>>>,
}

/// So many turns of each kind: all, or those of one site.
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
            share: requests_max.div_ceil(SITE_SHARE),
            patience,
            spare: Mutex::default(),
            shares: Mutex::default(),
        }))
    }

    /// A place for the next connection, whose other end is in `network`; where there is none left, another one is told
    /// to leave. The result is never `None`, because the semaphore is never closed.
    pub async fn enter(&self, network: IpAddr) -> Option<Place> {
        let permit = self.0.connections.clone().acquire_owned().await.ok()?;
        if self.0.connections.available_permits() < LEAVING {
            self.spare_one(Instant::now());
        }
        let place = Place(Arc::new(Taken {
            places: self.clone(),
            network,
            leave: CancellationToken::new(),
            unsent: Unsent::default(),
            listing: Mutex::new(Listing::None),
            _permit: permit,
        }));
        place.rest();
        Some(place)
    }

    fn spare_one(&self, now: Instant) {
        lock(&self.0.spare).tell_one(now);
    }

    fn share_of(&self, site: IpAddr) -> Share {
        let mut shares = lock(&self.0.shares);
        let known = shares.get(&site).and_then(Weak::upgrade);
        let turns = known.unwrap_or_else(|| {
            let turns = Arc::new(Turns::new(self.0.share));
            shares.insert(site, Arc::downgrade(&turns));
            turns
        });
        drop(shares);
        Share { places: self.clone(), site, turns: Some(turns) }
    }
}

/// The turns that one site may have. They are forgotten when no request of the site has a turn or waits for one.
#[derive(Debug)]
struct Share {
    places: Places,
    site: IpAddr,
    /// `None` only while this is dropped.
    turns: Option<Arc<Turns>>,
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut shares = lock(&self.places.0.shares);
        self.turns = None;
        if shares.get(&self.site).is_some_and(|turns| turns.strong_count() == 0) {
            shares.remove(&self.site);
        }
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
    leave: CancellationToken,
    unsent: Unsent,
    listing: Mutex<Listing>,
    _permit: OwnedSemaphorePermit,
}

/// Where a connection is listed.
#[derive(Debug, Clone, Copy)]
enum Listing {
    /// Nowhere, while its request is answered.
    None,
    /// Between two requests, or before the first one.
    Resting(Entry),
    /// With a request that waits.
    Waiting(Entry),
    /// Nowhere for ever: the connection has ended.
    Ended,
}

impl Listing {
    fn entry(self) -> Option<Entry> {
        match self {
            Listing::Resting(entry) | Listing::Waiting(entry) => Some(entry),
            Listing::None | Listing::Ended => None,
        }
    }
}

/// A turn's part of all turns, and of those of its site.
#[derive(Debug)]
pub struct Permits {
    _request: OwnedSemaphorePermit,
    _of_share: OwnedSemaphorePermit,
    _share: Share,
}

/// A request is being answered; when dropped, its connection rests.
#[derive(Debug)]
pub struct Turn {
    place: Place,
    sender: Sender,
    is_probe: bool,
    held: Arc<Mutex<Held>>,
}

/// The state of a request's turn.
#[derive(Debug)]
enum Held {
    Permits {
        _permits: Permits,
    },
    /// A probe, or a request whose body is waited for.
    Nothing,
    /// The request waits for so many renders, or has waited for one, and needs no turn any more.
    SetAside {
        renders: usize,
    },
    /// The request has ended.
    Ended,
}

/// The turn of a request, for those who work for it. It neither keeps the turn nor the place of the connection. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct TurnRef {
    held: Weak<Mutex<Held>>,
    place: Weak<Taken>,
    sender: Option<Sender>,
}

impl TurnRef {
    /// Gives the turn to others for the rest of the request, because a render is waited for. The connection can be
    /// spared until the result is dropped. `None` where there is no turn to give.
    pub fn set_aside(&self) -> Option<SetAside> {
        let (held, place, sender) = (self.held.upgrade()?, Place(self.place.upgrade()?), self.sender?);
        let mut held = lock(&held);
        let renders = match *held {
            Held::Permits { .. } => 1,
            Held::SetAside { renders } => renders + 1,
            Held::Nothing | Held::Ended => return None,
        };
        *held = Held::SetAside { renders };
        if renders == 1 {
            place.enlist(sender.network, Awaited::Render, None);
        }
        Some(SetAside { turn: self.clone(), leave: place.0.leave.clone() })
    }
}

/// A render is waited for.
#[derive(Debug)]
pub struct SetAside {
    turn: TurnRef,
    leave: CancellationToken,
}

impl SetAside {
    /// Resolves when another connection needs the place.
    pub async fn to_leave(&self) {
        self.leave.cancelled().await;
    }
}

impl Drop for SetAside {
    fn drop(&mut self) {
        let (Some(held), Some(place)) = (self.turn.held.upgrade(), self.turn.place.upgrade()) else { return };
        let mut held = lock(&held);
        if let Held::SetAside { renders } = &mut *held {
            *renders -= 1;
            if *renders == 0 {
                Place(place).stir();
            }
        }
    }
}

impl Place {
    /// Resolves when another connection needs the place.
    pub async fn to_leave(&self) {
        self.0.leave.cancelled().await;
    }

    /// To be told by the connection whether it has sent everything.
    pub fn unsent(&self) -> &Unsent {
        &self.0.unsent
    }

    /// A turn for a probe, at once.
    pub fn probe(&self, sender: Sender) -> Turn {
        self.stir();
        Turn::new(self.clone(), sender, Held::Nothing, true)
    }

    /// A turn for any other request. `None`: it waited too long, or longest of too many.
    pub async fn turn(&self, sender: Sender) -> Option<Turn> {
        let permits = self.permits(sender).await?;
        Some(Turn::new(self.clone(), sender, Held::Permits { _permits: permits }, false))
    }

    /// What a turn takes. `None` as for a turn; the connection is listed no longer in either case.
    pub async fn permits(&self, sender: Sender) -> Option<Permits> {
        let places = &self.0.places;
        let (requests, share) = (places.0.turns.of(sender.kind), places.share_of(site_of(sender.network)));
        let taken = async move {
            let of_share = match &share.turns {
                Some(turns) => turns.of(sender.kind).acquire_owned().await.ok()?,
                None => return None,
            };
            Some(Permits { _request: requests.acquire_owned().await.ok()?, _of_share: of_share, _share: share })
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

    /// Whether there is no request.
    pub fn is_at_rest(&self) -> bool {
        matches!(*lock(&self.0.listing), Listing::Resting(_) | Listing::Ended)
    }

    fn rest(&self) {
        self.list(self.0.network, Awaited::Request, None, Listing::Resting);
    }

    /// Lists the connection with its request, at the age that it has or as the youngest one, and says the age.
    fn enlist(&self, network: IpAddr, awaited: Awaited, age: Option<Age>) -> Age {
        self.list(network, awaited, age, Listing::Waiting)
    }

    /// A connection that has ended is not listed again.
    fn list(&self, network: IpAddr, awaited: Awaited, age: Option<Age>, listed: fn(Entry) -> Listing) -> Age {
        let mut listing = lock(&self.0.listing);
        let mut spare = lock(&self.0.places.0.spare);
        if let Some(entry) = listing.entry() {
            spare.remove(entry);
        }
        let age = age.unwrap_or_else(|| spare.youngest());
        if !matches!(*listing, Listing::Ended) {
            *listing = listed(spare.add(network, awaited, age, (self.0.leave.clone(), self.0.unsent.clone())));
        }
        age
    }

    /// Is listed no longer.
    fn stir(&self) {
        self.unlist(Listing::None);
    }

    fn unlist(&self, then: Listing) {
        let mut listing = lock(&self.0.listing);
        if let Some(entry) = listing.entry() {
            lock(&self.0.places.0.spare).remove(entry);
        }
        if !matches!(*listing, Listing::Ended) {
            *listing = then;
        }
    }
}

impl Turn {
    fn new(place: Place, sender: Sender, held: Held, is_probe: bool) -> Self {
        Turn { place, sender, is_probe, held: Arc::new(Mutex::new(held)) }
    }

    pub fn place(&self) -> &Place {
        &self.place
    }

    pub fn sender(&self) -> Sender {
        self.sender
    }

    pub fn reference(&self) -> TurnRef {
        TurnRef { held: Arc::downgrade(&self.held), place: Arc::downgrade(&self.place.0), sender: Some(self.sender) }
    }

    /// Gives the turn to others until [`Turn::go_on`], because the client's body is waited for. `age`: since when,
    /// `None` for now. A probe has nothing to give.
    pub fn pause(&self, age: Option<Age>) -> Option<Age> {
        *lock(&self.held) = Held::Nothing;
        (!self.is_probe).then(|| self.place.enlist(self.sender.network, Awaited::Body, age))
    }

    /// Goes on with what [`Place::permits`] gave.
    pub fn go_on(&self, permits: Permits) {
        *lock(&self.held) = Held::Permits { _permits: permits };
    }

    /// The connection has to leave: what is left to do is its last answer.
    pub fn give_up_body(&self) {
        self.place.stir();
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        *lock(&self.held) = Held::Ended;
        self.place.rest();
    }
}

/// To be dropped with the connection: it is in no list any more.
#[derive(Debug)]
pub struct Gone(pub Place);

impl Drop for Gone {
    fn drop(&mut self) {
        self.0.unlist(Listing::Ended);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::turns::spare::NEW;
    use futures::FutureExt;

    fn network(number: u8) -> IpAddr {
        [203, 0, 113, number].into()
    }

    fn client(number: u8) -> Sender {
        Sender { kind: Kind::Client, network: network(number) }
    }

    async fn enter(places: &Places, number: u8) -> Place {
        places.enter(network(number)).await.expect("a place")
    }

    fn has_to_leave(place: &Place) -> bool {
        place.to_leave().now_or_never().is_some()
    }

    async fn enter_some(places: &Places) -> Vec<Place> {
        let mut entered = Vec::new();
        for _ in 0..3 {
            entered.push(enter(places, 1).await);
        }
        entered
    }

    #[tokio::test]
    async fn the_longest_wait_for_a_client_makes_room() {
        for has_progressed in [false, true] {
            let places = Places::new(2, Duration::from_secs(30));
            let slow = enter(&places, 1).await;
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
        let first = enter(&places, 1).await;
        let _turn = first.turn(client(1)).await.expect("a turn");
        let patient = enter(&places, 1).await;
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
    async fn a_client_has_its_share_of_turns_wherever_its_requests_come_from() {
        let of = |address: &str| Sender { kind: Kind::Client, network: address.parse().expect(address) };
        for (what, senders) in [
            ("one address, or a proxy that says so", ["203.0.113.9"; 3].map(of)),
            ("networks of one site", ["2001:db8:0:1::", "2001:db8:0:2::", "2001:db8:0:3::"].map(of)),
        ] {
            let places = Places::new(4, Duration::from_millis(50));
            let here = async || enter(&places, 11).await;
            let (a, b, c) = (here().await, here().await, here().await);
            let first = a.turn(senders[0]).await.expect("a turn");
            let second = b.turn(senders[1]).await.expect("a turn");
            assert!(c.turn(senders[2]).await.is_none(), "{what}: two of four are its own");
            let node = senders.map(|sender| Sender { kind: Kind::Node, ..sender });
            let (d, e) = (here().await, here().await);
            let nodes = (c.turn(node[0]).await.expect("a turn"), d.turn(node[1]).await.expect("a turn"));
            assert!(e.turn(node[2]).await.is_none(), "{what}: and two of the nodes' four");
            drop(nodes);
            let (f, g, h) = (here().await, here().await, here().await);
            let others = (f.turn(client(10)).await.expect("a turn"), g.turn(client(10)).await.expect("a turn"));
            assert!(h.turn(client(12)).await.is_none(), "{what}: all are taken");
            assert!(c.turn(node[0]).await.is_some(), "{what}: but none of the nodes'");
            drop(second);
            assert!(c.turn(senders[2]).await.is_some(), "{what}");
            drop((first, others));
            assert!(places.0.shares.lock().expect("shares").is_empty(), "{what}");
        }
    }

    #[tokio::test]
    async fn a_request_behind_a_proxy_waits_in_a_place_of_its_client() {
        let places = Places::new(8, Duration::from_secs(30));
        // One client has three slow bodies, by a proxy that has two connections at rest and another client's slow body.
        let mut slow = Vec::new();
        for number in [2, 1, 1, 1] {
            let place = enter(&places, 3).await;
            let turn = place.turn(client(number)).await.expect("a turn");
            turn.pause(None);
            slow.push((place, turn));
        }
        let idle = [enter(&places, 3).await, enter(&places, 3).await];
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
