//! Signals that wake waiting requests: nodes' requests for work, and requests that wait for an
//! image.
//!
//! A signal reaches this process at once and the other processes through PostgreSQL's LISTEN and
//! NOTIFY. Nothing depends on a signal: every waiting request also polls now and then, so a lost
//! signal costs a second.
//!
//! Why: `docs/decisions/render-queue.md` (Waking other processes: PostgreSQL `NOTIFY`).

use crate::db::{Database, DatabaseKind};
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::futures::Notified;
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinHandle;

const CHANNEL: &str = "cyclorama_renders";

/// Maximum number of signals that wait to be sent to the other processes; further ones are dropped.
const OUTGOING_MAX: usize = 1024;

/// Maximum number of signals in one statement.
const SENT_AT_ONCE: usize = 32;

/// Pause before a lost connection is opened again.
const PAUSE: Duration = Duration::from_secs(1);

/// From this many entries on, entries of `places` that no request waits for are removed before the
/// map grows.
const PLACES_MIN: usize = 64;

/// An event that waiting requests may be interested in.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Signal {
    /// There is a new job: waking one node's request is enough for it.
    Queued,
    /// Nodes whose last poll found no job for them may find one now.
    Anew,
    /// A job of this vehicle and view has ended, successfully or not.
    Ended { vehicle_key: String, view: String },
}

impl fmt::Display for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Signal::Queued => f.write_str("queued"),
            Signal::Anew => f.write_str("anew"),
            // Neither the key nor the view contains a space.
            Signal::Ended { vehicle_key, view } => write!(f, "ended {vehicle_key} {view}"),
        }
    }
}

impl Signal {
    /// Returns `None` for a signal of a newer version.
    fn parse(text: &str) -> Option<Self> {
        match text.split(' ').collect::<Vec<_>>()[..] {
            ["queued"] => Some(Signal::Queued),
            ["anew"] => Some(Signal::Anew),
            ["ended", vehicle_key, view] => {
                Some(Signal::Ended { vehicle_key: vehicle_key.to_owned(), view: view.to_owned() })
            }
            _ => None,
        }
    }
}

/// The signals of this process, and their exchange with the other processes.
#[derive(Debug)]
pub(super) struct Signals {
    /// Identifies this process: its own signals come back to it, and were handled already.
    process: String,
    queued: Notify,
    /// The vehicles and views that requests wait for.
    places: Mutex<HashMap<(String, String), Weak<Notify>>>,
    outgoing: mpsc::Sender<Signal>,
    /// Taken by the task that sends.
    to_send: Mutex<Option<mpsc::Receiver<Signal>>>,
}

impl Signals {
    pub fn new() -> Self {
        let (outgoing, to_send) = mpsc::channel(OUTGOING_MAX);
        Signals {
            process: uuid::Uuid::new_v4().simple().to_string(),
            queued: Notify::new(),
            places: Mutex::default(),
            outgoing,
            to_send: Mutex::new(Some(to_send)),
        }
    }

    /// Wakes the requests that the signal concerns, in this process and in the others.
    pub fn give(&self, signal: Signal) {
        self.hear(&signal);
        // The queue is full, or nothing empties it (SQLite): the other processes find the change by
        // polling.
        let _ = self.outgoing.try_send(signal);
    }

    /// Resolves when there may be work.
    pub fn work(&self) -> Notified<'_> {
        self.queued.notified()
    }

    /// Returns the `Notify` that is notified when a job of this vehicle and view ends. It is known
    /// for as long as somebody holds it.
    pub fn ends(&self, vehicle_key: &str, view: &str) -> Arc<Notify> {
        let mut places = self.places();
        if places.len() >= PLACES_MIN && places.len() == places.capacity() {
            places.retain(|_, waiting| waiting.strong_count() > 0);
        }
        let place = places.entry((vehicle_key.to_owned(), view.to_owned())).or_default();
        place.upgrade().unwrap_or_else(|| {
            let waiting = Arc::new(Notify::new());
            *place = Arc::downgrade(&waiting);
            waiting
        })
    }

    /// Exchanges signals with the other processes on the database, until the tasks are aborted.
    /// Starts no task for SQLite.
    pub fn start(self: &Arc<Self>, database: &Database) -> Vec<JoinHandle<()>> {
        let to_send = self.to_send.lock().unwrap_or_else(PoisonError::into_inner).take();
        match (database.kind, to_send) {
            (DatabaseKind::Postgres, Some(to_send)) => vec![
                tokio::spawn(send(self.clone(), database.clone(), to_send)),
                tokio::spawn(listen(self.clone(), database.clone())),
            ],
            _ => Vec::new(),
        }
    }

    fn hear(&self, signal: &Signal) {
        match signal {
            Signal::Queued => self.queued.notify_one(),
            Signal::Anew => self.queued.notify_waiters(),
            Signal::Ended { vehicle_key, view } => {
                if let Some(waiting) = self.places().get(&(vehicle_key.clone(), view.clone())).and_then(Weak::upgrade) {
                    waiting.notify_waiters();
                }
            }
        }
    }

    /// Wakes every waiting request, because signals may have been missed.
    fn hear_all(&self) {
        self.queued.notify_waiters();
        self.places().values().filter_map(Weak::upgrade).for_each(|waiting| waiting.notify_waiters());
    }

    fn places(&self) -> MutexGuard<'_, HashMap<(String, String), Weak<Notify>>> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn send(own: Arc<Signals>, database: Database, mut to_send: mpsc::Receiver<Signal>) {
    let mut ready = Vec::new();
    while to_send.recv_many(&mut ready, SENT_AT_ONCE).await > 0 {
        let signals: HashSet<Signal> = ready.drain(..).collect();
        if let Err(error) = notify(&database, &own.process, &signals).await {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "other processes could not be notified of ended jobs"
            );
        }
    }
}

async fn notify(database: &Database, process: &str, signals: &HashSet<Signal>) -> Result<(), sqlx::Error> {
    // The cast is needed because `pg_notify` returns `void`, a type that cannot be read from a row.
    let calls: Vec<String> =
        (2..signals.len() + 2).map(|place| format!("cast(pg_notify($1, ${place}) as text)")).collect();
    let query = sqlx::query(sqlx::AssertSqlSafe(format!("select {}", calls.join(", ")))).bind(CHANNEL);
    let query = signals.iter().fold(query, |query, signal| query.bind(format!("{process} {signal}")));
    query.execute(&database.readers).await.map(drop)
}

async fn listen(signals: Arc<Signals>, database: Database) {
    loop {
        if let Err(error) = hear_others(&database, &signals).await {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "notifications of other processes broke off; the database is polled instead"
            );
        }
        tokio::time::sleep(PAUSE).await;
    }
}

async fn hear_others(database: &Database, signals: &Signals) -> Result<(), sqlx::Error> {
    let mut listener = database.listener().await?;
    listener.listen(CHANNEL).await?;
    signals.hear_all();
    loop {
        match listener.try_recv().await? {
            Some(heard) => {
                if let Some((process, signal)) = heard.payload().split_once(' ')
                    && process != signals.process
                    && let Some(signal) = Signal::parse(signal)
                {
                    signals.hear(&signal);
                }
            }
            // The connection was lost and is open again.
            None => signals.hear_all(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_are_read_as_they_are_written() {
        let ended = Signal::Ended { vehicle_key: "bmw/x5/2020".to_owned(), view: "front-3-4".to_owned() };
        for signal in [Signal::Queued, Signal::Anew, ended] {
            assert_eq!(Signal::parse(&signal.to_string()), Some(signal));
        }
        for text in ["", "ended", "ended a", "ended a b c", "tomorrow"] {
            assert_eq!(Signal::parse(text), None, "{text}");
        }
    }

    #[test]
    fn places_that_nobody_waits_for_are_forgotten() {
        let signals = Signals::new();
        let kept = signals.ends("kept", "side");
        for n in 0..10_000 {
            signals.ends(&n.to_string(), "side");
        }
        assert!(signals.places().len() < 1_000, "{}", signals.places().len());
        assert!(Arc::ptr_eq(&kept, &signals.ends("kept", "side")));
    }
}
