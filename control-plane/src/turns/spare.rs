//! Connections that can be closed when a new connection needs a slot. The site with the most such
//! connections gives one up, and within that site the network with the most. A client therefore
//! never loses a slot to a client that has more of them. Within a network, the connection that has
//! waited longest for its client goes first.
//!
//!
//! Why: `docs/decisions/limits-and-connections.md` (Which connection is closed when places are
//! needed).

use super::unsent::Unsent;
use crate::networks::site_of;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Minimum wait before a connection is closed without need. A client sends the head of its request
/// right after it has connected, so a connection that has waited for less time is told to close
/// only if its network has no other to close.
pub const NEW: Duration = Duration::from_millis(500);

/// A client that has not taken an answer for this long, after all of it was handed over, counts as
/// one that rests.
const READING_MAX: Duration = Duration::from_secs(10);

/// The event that a connection waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AwaitedEvent {
    /// Its client's next request, or its first one. The last answer may not have been sent whole.
    Request,
    /// The rest of a body.
    Body,
    /// A permit for its request.
    Turn,
    /// A render, which its request needs.
    Render,
}

/// The start of a connection's wait: its number in the order, and the time.
#[derive(Debug, Clone, Copy)]
pub struct Age {
    number: u64,
    since: Instant,
}

/// The place of a connection in the lists.
#[derive(Debug, Clone, Copy)]
pub struct ListedPlace {
    network: IpAddr,
    number: u64,
}

/// All listed connections of one listener, by site.
#[derive(Debug, Default)]
pub struct Spare {
    next: u64,
    sites: HashMap<IpAddr, Site>,
}

/// The listed connections of one site, by network.
#[derive(Debug, Default)]
struct Site {
    len: usize,
    networks: HashMap<IpAddr, NetworkConnections>,
}

/// The listed connections of one network, in the order of their ages.
#[derive(Debug, Default)]
struct NetworkConnections {
    for_request: BTreeMap<u64, ListedConnection>,
    for_body: BTreeMap<u64, ListedConnection>,
    for_turn: BTreeMap<u64, ListedConnection>,
    for_render: BTreeMap<u64, ListedConnection>,
}

#[derive(Debug)]
struct ListedConnection {
    since: Instant,
    leave: CancellationToken,
    unsent: Unsent,
}

impl ListedConnection {
    fn is_new(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.since) < NEW
    }

    /// True if its client is reading an answer.
    fn is_sending(&self, now: Instant) -> bool {
        self.unsent.is_any() && now.saturating_duration_since(self.since) < READING_MAX
    }
}

/// The reasons for which a network would close a connection: the smallest goes first, and of equal
/// ones the connection with the smaller number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum CloseReason {
    Idle,
    Waiting,
    New,
    /// A node may be working for it.
    Rendering,
    /// Its client is reading an answer, which may have cost something.
    Sending,
}

impl NetworkConnections {
    fn list(&mut self, awaited: AwaitedEvent) -> &mut BTreeMap<u64, ListedConnection> {
        match awaited {
            AwaitedEvent::Request => &mut self.for_request,
            AwaitedEvent::Body => &mut self.for_body,
            AwaitedEvent::Turn => &mut self.for_turn,
            AwaitedEvent::Render => &mut self.for_render,
        }
    }

    fn len(&self) -> usize {
        self.for_request.len() + self.for_body.len() + self.for_turn.len() + self.for_render.len()
    }

    /// Returns the connection that this network would close first, by its number.
    fn choice(&self, now: Instant) -> Option<(CloseReason, u64)> {
        let of_client = |(number, listed): (&u64, &ListedConnection)| match listed.is_new(now) {
            true => (CloseReason::New, *number),
            false => (CloseReason::Idle, *number),
        };
        let oldest =
            |list: &BTreeMap<u64, ListedConnection>, choice| list.keys().next().map(|number| (choice, *number));
        let choices = [
            self.rests(now).next().map(of_client),
            self.for_body.first_key_value().map(of_client),
            oldest(&self.for_turn, CloseReason::Waiting),
            oldest(&self.for_render, CloseReason::Rendering),
        ];
        choices.into_iter().flatten().min().or_else(|| oldest(&self.for_request, CloseReason::Sending))
    }

    /// Returns the connections between two requests whose last answer has been read.
    fn rests(&self, now: Instant) -> impl Iterator<Item = (&u64, &ListedConnection)> {
        self.for_request.iter().filter(move |(_, listed)| !listed.is_sending(now))
    }
}

impl Spare {
    /// Returns the age of a connection that begins to wait now.
    pub fn youngest(&mut self) -> Age {
        self.next += 1;
        Age { number: self.next, since: Instant::now() }
    }

    /// Lists a connection, with the token that tells it to close and the flag for unsent bytes.
    pub fn add(
        &mut self,
        network: IpAddr,
        awaited: AwaitedEvent,
        age: Age,
        (leave, unsent): (CancellationToken, Unsent),
    ) -> ListedPlace {
        // A connection that was told to close is not listed again, since it can make room only
        // once.
        if !leave.is_cancelled() {
            let site = self.sites.entry(site_of(network)).or_default();
            let lists = site.networks.entry(network).or_default();
            lists.list(awaited).insert(age.number, ListedConnection { since: age.since, leave, unsent });
            site.len += 1;
        }
        ListedPlace { network, number: age.number }
    }

    /// Removes a connection from its list, and returns the token that tells it to close.
    pub fn remove(&mut self, ListedPlace { network, number }: ListedPlace) -> Option<CancellationToken> {
        let site = self.sites.get_mut(&site_of(network))?;
        let lists = site.networks.get_mut(&network)?;
        let all = [AwaitedEvent::Request, AwaitedEvent::Body, AwaitedEvent::Turn, AwaitedEvent::Render];
        let listed = all.into_iter().find_map(|awaited| lists.list(awaited).remove(&number))?;
        if lists.len() == 0 {
            site.networks.remove(&network);
        }
        site.len -= 1;
        if site.len == 0 {
            self.sites.remove(&site_of(network));
        }
        Some(listed.leave)
    }

    /// Tells one connection to close, if there is any. Reads every listed site, which are some
    /// thousands at most, and is called only when no slot is left.
    pub fn tell_one(&mut self, now: Instant) {
        let most = self.sites.values().map(|site| site.len).max().unwrap_or(0);
        let largest = self.sites.values().filter(|site| site.len == most);
        let choices = largest.flat_map(|site| &site.networks).filter_map(|(network, lists)| {
            let choice = lists.choice(now)?;
            Some((lists.len(), Reverse(choice), *network))
        });
        let Some((_, Reverse((choice, number)), network)) = choices.max() else { return };
        let at_rest = match choice {
            // Closing a connection between two requests is free, so one of another network may be
            // closed instead.
            CloseReason::Rendering | CloseReason::Sending => self.longest_rest(now),
            CloseReason::Idle | CloseReason::Waiting | CloseReason::New => None,
        };
        let (network, number) = at_rest.unwrap_or((network, number));
        if let Some(leave) = self.remove(ListedPlace { network, number }) {
            leave.cancel();
        }
    }

    /// Finds the site, and in it the network, with the most connections between two requests, and
    /// returns its connection that has rested longest.
    fn longest_rest(&self, now: Instant) -> Option<(IpAddr, u64)> {
        let sites = self.sites.values().map(|site| {
            let resting = site.networks.iter().filter_map(|(network, lists)| {
                let (number, listed) = lists.rests(now).next()?;
                (!listed.is_new(now)).then_some((lists.for_request.len(), Reverse(*number), *network))
            });
            let all: usize = site.networks.values().map(|lists| lists.for_request.len()).sum();
            (all, resting.max())
        });
        let (_, (_, Reverse(number), network)) = sites.filter_map(|(all, most)| Some((all, most?))).max()?;
        Some((network, number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(number: u8) -> IpAddr {
        [203, 0, 113, number].into()
    }

    /// Returns the order in which connections, given as network and awaited event, are told to
    /// close.
    fn order(listed: &[(u8, AwaitedEvent)], later: Duration) -> Vec<usize> {
        order_of(listed.iter().map(|(number, awaited)| (network(*number), *awaited, false)).collect(), later)
    }

    /// Does the same for connections that may each have an answer left to send.
    fn order_of(listed: Vec<(IpAddr, AwaitedEvent, bool)>, later: Duration) -> Vec<usize> {
        let (mut spare, now) = (Spare::default(), Instant::now() + later);
        let leaves: Vec<_> = listed
            .iter()
            .map(|(network, awaited, has_unsent)| {
                let (leave, unsent, age) = (CancellationToken::new(), Unsent::default(), spare.youngest());
                unsent.set(*has_unsent);
                spare.add(*network, *awaited, age, (leave.clone(), unsent));
                leave
            })
            .collect();
        let mut order = Vec::new();
        for _ in &listed {
            spare.tell_one(now);
            let told =
                leaves.iter().enumerate().filter(|(index, leave)| leave.is_cancelled() && !order.contains(index));
            let told: Vec<_> = told.map(|(index, _)| index).collect();
            assert_eq!(told.len(), 1);
            order.extend(told);
        }
        assert!(spare.sites.is_empty());
        order
    }

    #[test]
    fn the_network_that_holds_the_most_places_gives_one_first() {
        use AwaitedEvent::{Body, Render, Request, Turn};
        let old = 2 * NEW;
        for (what, listed, later, expected) in [
            (
                "within a network, who waits for its client",
                vec![(1, Turn), (1, Request), (1, Request)],
                old,
                vec![1, 2, 0],
            ),
            ("a new one last", vec![(1, Request), (1, Turn), (1, Turn)], Duration::ZERO, vec![1, 2, 0]),
            (
                "an older one of another network stays",
                vec![(1, Request), (2, Request), (2, Request)],
                old,
                vec![1, 0, 2],
            ),
            ("also before those who wait for a turn", vec![(1, Request), (2, Turn), (2, Turn)], old, vec![1, 0, 2]),
            ("also before new ones", vec![(1, Request), (2, Request), (2, Request)], Duration::ZERO, vec![1, 0, 2]),
            ("of equal ones, as within one", vec![(1, Turn), (2, Request), (3, Request)], old, vec![1, 2, 0]),
            (
                "all kinds count together",
                vec![(1, Request), (1, Request), (2, Turn), (2, Turn), (2, Request)],
                old,
                vec![4, 0, 2, 1, 3],
            ),
            ("a render last", vec![(1, Render), (1, Request), (1, Turn)], Duration::ZERO, vec![2, 1, 0]),
            (
                "after what rests elsewhere, and before a body there",
                vec![(2, Body), (2, Request), (1, Render), (1, Render), (1, Render)],
                old,
                vec![1, 2, 3, 0, 4],
            ),
        ] {
            assert_eq!(order(&listed, later), expected, "{what}");
        }
    }

    #[test]
    fn a_site_with_many_networks_gives_before_one_with_fewer_connections() {
        use AwaitedEvent::Request;
        let ip = |text: &str| (text.parse::<IpAddr>().expect(text), Request, false);
        // Two connections of one client; then a site with three networks, one of which has two
        // connections.
        let listed =
            ["198.51.100.1", "198.51.100.1", "2001:db8:1:1::", "2001:db8:1:2::", "2001:db8:1:2::", "2001:db8:1:3::"];
        assert_eq!(order_of(listed.map(ip).to_vec(), 2 * NEW), vec![3, 2, 0, 4, 1, 5]);
    }

    #[test]
    fn an_answer_that_is_being_read_goes_last_for_a_while() {
        use AwaitedEvent::{Render, Request};
        for (later, expected) in [(2 * NEW, vec![2, 1, 0]), (READING_MAX + NEW, vec![0, 2, 1])] {
            // The first site has an answer that is being read and a render. The second site has a
            // connection at rest.
            let listed = vec![(network(1), Request, true), (network(1), Render, false), (network(2), Request, false)];
            assert_eq!(order_of(listed, later), expected, "{later:?}");
        }
    }
}
