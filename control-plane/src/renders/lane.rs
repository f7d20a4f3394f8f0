//! Lanes of the render queue: their order of priority, how many jobs of each may wait, and what
//! keeps one lane from starving another.
//!
//! The claim (`queue::claim`) applies the order. A job's `turn` inside its lane is set when the job
//! is queued (`queue::new_job`).
//!
//! Why: `docs/decisions/render-queue.md` (Fairness between accounts inside a lane).

/// A priority class of the queue, by the kind of requester. A higher lane goes first; see
/// [`PREWARM_EVERY`] for the exception.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Lane {
    /// Renders that an operator's prewarming wants before any request waits for them.
    Prewarm,
    /// Images that the service itself wants, for its own pages and for visitors.
    Example,
    /// A rerender that an operator ordered.
    Rerender,
    /// The first load of a signed URL: a page in somebody's browser.
    FirstLoad,
    /// A request with an API key that a client waits for.
    Interactive,
}

/// One in this many claimed jobs comes from the prewarm lane, if a job waits there: without the
/// exception a busy service would never get ahead of its users.
/// Why: `docs/decisions/render-queue.md` (Lanes: which kind of render goes first).
pub const PREWARM_EVERY: u64 = 20;

impl Lane {
    /// All lanes, the one that goes first at the beginning.
    pub const ALL: [Lane; 5] = [Lane::Interactive, Lane::FirstLoad, Lane::Rerender, Lane::Example, Lane::Prewarm];

    /// The lane's number in the column `jobs.priority`.
    pub(super) const fn number(self) -> i64 {
        match self {
            Lane::Prewarm => -10,
            Lane::Example => 0,
            Lane::Rerender => 5,
            Lane::FirstLoad => 10,
            Lane::Interactive => 20,
        }
    }

    /// The lane of a number from `jobs.priority`: the highest lane whose number does not exceed it.
    pub(super) fn of(number: i64) -> Lane {
        Lane::ALL.into_iter().find(|lane| lane.number() <= number).unwrap_or(Lane::Prewarm)
    }

    /// Returns the lane's name in the label `lane` of `/metrics` and in the simulation's results.
    /// The rerender lane is `anew`, its former name: values of labels are public and stay.
    pub const fn as_str(self) -> &'static str {
        match self {
            Lane::Prewarm => "prewarm",
            Lane::Example => "example",
            Lane::Rerender => "anew",
            Lane::FirstLoad => "first-load",
            Lane::Interactive => "interactive",
        }
    }

    /// True if a request waits for a job of this lane, and renews the job's deadline for as long as
    /// it waits.
    pub(super) const fn is_waited_for(self) -> bool {
        matches!(self, Lane::Interactive | Lane::FirstLoad | Lane::Example)
    }

    /// Returns the maximum number of jobs of this lane that may wait. The lanes whose images no
    /// customer pays for (prewarm and example) get a quarter of the queue each, so that neither
    /// fills it.
    pub(super) const fn waiting_max(self, queue_max: i64) -> i64 {
        match self {
            Lane::Prewarm | Lane::Example => queue_max / 4,
            Lane::Rerender | Lane::FirstLoad | Lane::Interactive => queue_max,
        }
    }
}

/// The requester of an image: a lane, and an account if there is one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Requester {
    pub lane: Lane,
    /// Empty if there is no account.
    pub account_id: String,
}

impl Requester {
    pub fn account(lane: Lane, account_id: &str) -> Self {
        Requester { lane, account_id: account_id.to_owned() }
    }

    /// Returns the requester of work that counts for no account.
    pub fn without_account(lane: Lane) -> Self {
        Requester { lane, account_id: String::new() }
    }
}

/// Numbers of jobs that wait in the queue when a new job is to be added.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct WaitingCounts {
    pub all: i64,
    pub in_lane: i64,
    pub of_account: i64,
}

impl WaitingCounts {
    /// True if one more job of the requester may be queued. An account may fill at most half of the
    /// queue. An account with no waiting job may use up to twice the queue's maximum, so that the
    /// others cannot lock it out when the queue is full.
    pub fn has_room(self, requester: &Requester, queue_max: i64) -> bool {
        let is_first = self.of_account == 0 && !requester.account_id.is_empty();
        let all_max = if is_first { queue_max * 2 } else { queue_max };
        let account_max = if requester.account_id.is_empty() { queue_max } else { (queue_max / 2).max(1) };
        self.all < all_max
            && self.of_account < account_max
            && (is_first || self.in_lane < requester.lane.waiting_max(queue_max))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_lanes_are_two_names_of_one() {
        for pair in Lane::ALL.windows(2) {
            assert!(pair[0] > pair[1] && pair[0].number() > pair[1].number(), "{pair:?}");
        }
        for lane in Lane::ALL {
            assert_eq!((Lane::of(lane.number()), Lane::of(lane.number() + 1)), (lane, lane));
        }
        assert_eq!(Lane::of(i64::MIN), Lane::Prewarm);
    }

    #[test]
    fn nobody_is_locked_out_of_a_full_queue() {
        let paying = Requester::account(Lane::Interactive, "a");
        let visitor = Requester::without_account(Lane::Example);
        for (requester, all, in_lane, of_account, has_room) in [
            (&paying, 99, 99, 49, true),
            (&paying, 99, 99, 50, false),
            (&paying, 100, 100, 1, false),
            (&paying, 100, 100, 0, true),
            (&paying, 199, 199, 0, true),
            (&paying, 200, 200, 0, false),
            (&visitor, 24, 24, 24, true),
            (&visitor, 25, 25, 25, false),
            (&visitor, 100, 0, 0, false),
        ] {
            let waiting = WaitingCounts { all, in_lane, of_account };
            assert_eq!(waiting.has_room(requester, 100), has_room, "{requester:?} {waiting:?}");
        }
    }
}
