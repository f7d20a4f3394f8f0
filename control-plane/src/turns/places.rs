//! Slots for connections and permits for requests, so that clients never delay a probe or a render
//! node.
//!
//! A listener accepts a few connections more than it answers requests at once. When those slots are
//! taken as well, one connection has to close (`spare`). Probes need no permit. Nodes have permits
//! of their own, because clients with a permit may wait for the work of a node. One site has at
//! most half of the permits of each kind.

use super::spare::{Age, AwaitedEvent, ListedPlace, Spare};
use super::unsent::Unsent;
use crate::networks::site_of;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Slots for connections beyond those whose requests are answered: for probes, and for requests
/// that wait until another one is done.
/// Why: `docs/decisions/limits-and-connections.md` (Connections over `CYCLORAMA_CONNECTIONS_MAX`).
const RESERVE: usize = 64;

/// Slots for connections that were told to close and have not closed yet. Connections with unsent
/// bytes are given a moment, in which this many others can come.
const LEAVING: usize = 256;

/// One site has at most the permits divided by this number.
const SITES_AT_LEAST: usize = 2;

/// Prefix of the paths of render nodes.
const NODE_PATHS: &str = "/node/v1/";

/// The kind of permit that a request takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PermitKind {
    Client,
    /// A request of a render node.
    Node,
}

impl PermitKind {
    /// Returns the kind of a request by its path.
    pub fn of(path: &str) -> Self {
        match path.starts_with(NODE_PATHS) {
            true => PermitKind::Node,
            false => PermitKind::Client,
        }
    }
}

/// The sender of a request: its kind, and the network that the connection counts for while the
/// request waits. For a request that came through a trusted proxy, that is the network of the
/// client.
#[derive(Debug, Clone, Copy)]
pub struct Sender {
    pub kind: PermitKind,
    pub network: IpAddr,
}

/// The connection slots and permits of one listener.
#[derive(Debug, Clone)]
pub struct Places(Arc<ListenerPlaces>);

#[derive(Debug)]
struct ListenerPlaces {
    connections: Arc<Semaphore>,
    turns: RequestPermits,
    /// Maximum number of permits of each kind that one site may have.
    site_requests_max: usize,
    /// The longest time that a request waits for its permit.
    patience: Duration,
    spare: Mutex<Spare>,
    /// The permits of the sites whose requests have a permit or wait for one.
    sites: Mutex<HashMap<IpAddr, Weak<RequestPermits>>>,
}

/// Permits of each kind, either of the whole listener or of one site.
#[derive(Debug)]
struct RequestPermits {
    clients: Arc<Semaphore>,
    nodes: Arc<Semaphore>,
}

impl RequestPermits {
    fn new(of_each: usize) -> Self {
        RequestPermits { clients: Arc::new(Semaphore::new(of_each)), nodes: Arc::new(Semaphore::new(of_each)) }
    }

    fn of(&self, kind: PermitKind) -> Arc<Semaphore> {
        match kind {
            PermitKind::Client => self.clients.clone(),
            PermitKind::Node => self.nodes.clone(),
        }
    }
}

impl Places {
    /// Allows `requests_max` concurrent requests of clients, and as many of nodes. A request waits
    /// at most `patience` for its permit.
    pub fn new(requests_max: usize, patience: Duration) -> Self {
        let answered = requests_max.saturating_mul(2);
        Places(Arc::new(ListenerPlaces {
            connections: Arc::new(Semaphore::new(answered + RESERVE + LEAVING)),
            turns: RequestPermits::new(requests_max),
            site_requests_max: requests_max.div_ceil(SITES_AT_LEAST),
            patience,
            spare: Mutex::default(),
            sites: Mutex::default(),
        }))
    }

    /// Returns a slot for the next connection, whose other end is in `network`. If no slot is left,
    /// another connection is told to close. The result is never `None`, because the semaphore is
    /// never closed.
    pub async fn enter(&self, network: IpAddr) -> Option<ConnectionSlot> {
        let permit = self.0.connections.clone().acquire_owned().await.ok()?;
        if self.0.connections.available_permits() < LEAVING {
            self.spare_one(Instant::now());
        }
        let place = ConnectionSlot(Arc::new(TakenPlace {
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

    fn permits_of_site(&self, site: IpAddr) -> SitePermits {
        let mut sites = lock(&self.0.sites);
        let known = sites.get(&site).and_then(Weak::upgrade);
        let turns = known.unwrap_or_else(|| {
            let turns = Arc::new(RequestPermits::new(self.0.site_requests_max));
            sites.insert(site, Arc::downgrade(&turns));
            turns
        });
        drop(sites);
        SitePermits { places: self.clone(), site, turns: Some(turns) }
    }
}

/// The permits that one site may have. They are forgotten when no request of the site has a permit
/// or waits for one.
#[derive(Debug)]
struct SitePermits {
    places: Places,
    site: IpAddr,
    /// `None` only while this is dropped.
    turns: Option<Arc<RequestPermits>>,
}

impl Drop for SitePermits {
    fn drop(&mut self) {
        let mut sites = lock(&self.places.0.sites);
        self.turns = None;
        if sites.get(&self.site).is_some_and(|turns| turns.strong_count() == 0) {
            sites.remove(&self.site);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The slot of one connection. Cheap to clone; given back with the last clone.
#[derive(Debug, Clone)]
pub struct ConnectionSlot(Arc<TakenPlace>);

#[derive(Debug)]
struct TakenPlace {
    places: Places,
    /// The network of the other end of the connection.
    network: IpAddr,
    leave: CancellationToken,
    unsent: Unsent,
    listing: Mutex<Listing>,
    _permit: OwnedSemaphorePermit,
}

/// The list of `spare` that a connection is in.
#[derive(Debug, Clone, Copy)]
enum Listing {
    /// In no list, while its request is answered.
    None,
    /// Between two requests, or before the first one.
    Resting(ListedPlace),
    /// With a request that waits.
    Waiting(ListedPlace),
    /// In no list any more, because the connection has ended.
    Ended,
}

impl Listing {
    fn entry(self) -> Option<ListedPlace> {
        match self {
            Listing::Resting(entry) | Listing::Waiting(entry) => Some(entry),
            Listing::None | Listing::Ended => None,
        }
    }
}

/// A permit, with the one that it takes from its site.
#[derive(Debug)]
pub struct Permits {
    _request: OwnedSemaphorePermit,
    _site_permit: OwnedSemaphorePermit,
    _site: SitePermits,
}

/// A request that is being answered; when this is dropped, its connection rests.
#[derive(Debug)]
pub struct Permit {
    place: ConnectionSlot,
    sender: Sender,
    is_probe: bool,
    held: Arc<Mutex<Held>>,
}

/// The state of a request's permit.
#[derive(Debug)]
enum Held {
    Permits {
        _permits: Permits,
    },
    /// A probe, or a request whose body is waited for.
    Nothing,
    /// The request waits for this many renders, or has waited for one, and needs no permit any
    /// more.
    SetAside {
        renders: usize,
    },
    /// The request has ended.
    Ended,
}

/// A reference to a request's permit, for tasks that work for the request. It keeps neither the
/// permit nor the slot of the connection. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct TurnRef {
    held: Weak<Mutex<Held>>,
    place: Weak<TakenPlace>,
    sender: Option<Sender>,
}

impl TurnRef {
    /// Gives the permit back for the rest of the request, because the request waits for a render.
    /// The connection can be closed in favour of another one until the result is dropped. Returns
    /// `None` if there is no permit to give back.
    pub fn set_aside(&self) -> Option<SetAside> {
        let (held, place, sender) = (self.held.upgrade()?, ConnectionSlot(self.place.upgrade()?), self.sender?);
        let mut held = lock(&held);
        let renders = match *held {
            Held::Permits { .. } => 1,
            Held::SetAside { renders } => renders + 1,
            Held::Nothing | Held::Ended => return None,
        };
        *held = Held::SetAside { renders };
        if renders == 1 {
            place.enlist(sender.network, AwaitedEvent::Render, None);
        }
        Some(SetAside { turn: self.clone(), leave: place.0.leave.clone() })
    }
}

/// A request that waits for a render without a permit.
#[derive(Debug)]
pub struct SetAside {
    turn: TurnRef,
    leave: CancellationToken,
}

impl SetAside {
    /// Resolves when another connection needs the slot.
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
                ConnectionSlot(place).stir();
            }
        }
    }
}

impl ConnectionSlot {
    /// Resolves when another connection needs the slot.
    pub async fn to_leave(&self) {
        self.0.leave.cancelled().await;
    }

    /// Returns the flag that the connection sets while it has bytes left to send.
    pub fn unsent(&self) -> &Unsent {
        &self.0.unsent
    }

    /// Starts a probe at once, without a permit.
    pub fn probe(&self, sender: Sender) -> Permit {
        self.stir();
        Permit::new(self.clone(), sender, Held::Nothing, true)
    }

    /// Waits for a permit for any other request. Returns `None` if the request waited too long, or
    /// if its connection has to close because it waited longest of too many.
    pub async fn turn(&self, sender: Sender) -> Option<Permit> {
        let permits = self.permits(sender).await?;
        Some(Permit::new(self.clone(), sender, Held::Permits { _permits: permits }, false))
    }

    /// Waits for the permits of a request. Returns `None` as [`ConnectionSlot::turn`] does; the
    /// connection is in no list afterwards in either case.
    pub async fn permits(&self, sender: Sender) -> Option<Permits> {
        let places = &self.0.places;
        let (requests, site_permits) =
            (places.0.turns.of(sender.kind), places.permits_of_site(site_of(sender.network)));
        let taken = async move {
            let site_permit = match &site_permits.turns {
                Some(turns) => turns.of(sender.kind).acquire_owned().await.ok()?,
                None => return None,
            };
            Some(Permits {
                _request: requests.acquire_owned().await.ok()?,
                _site_permit: site_permit,
                _site: site_permits,
            })
        };
        tokio::pin!(taken);
        self.stir();
        // Most requests find a free permit, and need not be listed.
        if let std::task::Poll::Ready(permits) = futures::poll!(taken.as_mut()) {
            return permits;
        }
        self.enlist(sender.network, AwaitedEvent::Turn, None);
        let permits = tokio::select! {
            permits = taken => permits,
            () = self.0.leave.cancelled() => None,
            () = tokio::time::sleep(self.0.places.0.patience) => None,
        };
        self.stir();
        permits
    }

    /// True if the connection has no request.
    pub fn is_at_rest(&self) -> bool {
        matches!(*lock(&self.0.listing), Listing::Resting(_) | Listing::Ended)
    }

    fn rest(&self) {
        self.list(self.0.network, AwaitedEvent::Request, None, Listing::Resting);
    }

    /// Lists the connection with its request, at the given age or as the youngest one, and returns
    /// the age.
    fn enlist(&self, network: IpAddr, awaited: AwaitedEvent, age: Option<Age>) -> Age {
        self.list(network, awaited, age, Listing::Waiting)
    }

    /// Lists the connection, unless it has ended.
    fn list(
        &self,
        network: IpAddr,
        awaited: AwaitedEvent,
        age: Option<Age>,
        listed: fn(ListedPlace) -> Listing,
    ) -> Age {
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

    /// Removes the connection from its list.
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

impl Permit {
    fn new(place: ConnectionSlot, sender: Sender, held: Held, is_probe: bool) -> Self {
        Permit { place, sender, is_probe, held: Arc::new(Mutex::new(held)) }
    }

    pub fn place(&self) -> &ConnectionSlot {
        &self.place
    }

    pub fn sender(&self) -> Sender {
        self.sender
    }

    /// Returns a reference to the permit, for tasks that work for the request.
    pub fn reference(&self) -> TurnRef {
        TurnRef { held: Arc::downgrade(&self.held), place: Arc::downgrade(&self.place.0), sender: Some(self.sender) }
    }

    /// Gives the permit back until [`Permit::go_on`], because the request waits for the client's
    /// body. `age` is the time since which it waits; `None` for now. Returns the age, or `None` for
    /// a probe, which has no permit to give back.
    pub fn pause(&self, age: Option<Age>) -> Option<Age> {
        *lock(&self.held) = Held::Nothing;
        (!self.is_probe).then(|| self.place.enlist(self.sender.network, AwaitedEvent::Body, age))
    }

    /// Continues with the permits that [`ConnectionSlot::permits`] returned.
    pub fn go_on(&self, permits: Permits) {
        *lock(&self.held) = Held::Permits { _permits: permits };
    }

    /// Removes the connection from its list, because it has to close: only its last answer is left.
    pub fn give_up_body(&self) {
        self.place.stir();
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        *lock(&self.held) = Held::Ended;
        self.place.rest();
    }
}

/// Marks a connection as ended when it is dropped, which must happen together with the connection.
#[derive(Debug)]
pub struct ClosingConnection(pub ConnectionSlot);

impl Drop for ClosingConnection {
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
        Sender { kind: PermitKind::Client, network: network(number) }
    }

    async fn enter(places: &Places, number: u8) -> ConnectionSlot {
        places.enter(network(number)).await.expect("a place")
    }

    fn has_to_leave(place: &ConnectionSlot) -> bool {
        place.to_leave().now_or_never().is_some()
    }

    async fn enter_some(places: &Places) -> Vec<ConnectionSlot> {
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
        let of = |address: &str| Sender { kind: PermitKind::Client, network: address.parse().expect(address) };
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
            let node = senders.map(|sender| Sender { kind: PermitKind::Node, ..sender });
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
            assert!(places.0.sites.lock().expect("sites").is_empty(), "{what}");
        }
    }

    #[tokio::test]
    async fn a_request_behind_a_proxy_waits_in_a_place_of_its_client() {
        let places = Places::new(8, Duration::from_secs(30));
        // One client has three slow bodies, through a proxy that has two connections at rest and
        // another client's slow body.
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
