//! Lanes of the render queue: who goes before whom, how many may wait, and what keeps one from starving another.
//!
//! The order itself is the claim's (`queue`); whose turn it is inside a lane is written down when a job is queued (`order`).
//!
//! Why: `docs/decisions/render-queue.md` (Fairness between accounts inside a lane).

/// Who asks. A higher lane goes first; see [`PREWARM_EVERY`] for the exception.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Lane {
    /// An operator, before anybody asks.
    Prewarm,
    /// The service itself, for its own pages and for visitors.
    Example,
    /// An operator who has a render made anew.
    Anew,
    /// The first load of an address that was paid for: a page in somebody's browser.
    FirstLoad,
    /// A request that a client waits for.
    Interactive,
}

/// Of so many jobs that are handed out, one is prewarming's if any waits there: without it a busy service would never get ahead of its
/// users.
/// Why: `docs/decisions/render-queue.md` (Lanes: which kind of render goes first).
pub const PREWARM_EVERY: u64 = 20;

impl Lane {
    /// Those that go first, first.
    pub const ALL: [Lane; 5] = [Lane::Interactive, Lane::FirstLoad, Lane::Anew, Lane::Example, Lane::Prewarm];

    /// As `jobs.priority` has it.
    pub(super) const fn number(self) -> i64 {
        match self {
            Lane::Prewarm => -10,
            Lane::Example => 0,
            Lane::Anew => 5,
            Lane::FirstLoad => 10,
            Lane::Interactive => 20,
        }
    }

    /// The lane of a number: the highest that does not exceed it.
    pub(super) fn of(number: i64) -> Lane {
        Lane::ALL.into_iter().find(|lane| lane.number() <= number).unwrap_or(Lane::Prewarm)
    }

    pub const fn as_str(self) -> &'static str {
        match self {
            Lane::Prewarm => "prewarm",
            Lane::Example => "example",
            Lane::Anew => "anew",
            Lane::FirstLoad => "first-load",
            Lane::Interactive => "interactive",
        }
    }

    /// Whether somebody waits for the answer, and says so again and again for as long as they do.
    pub(super) const fn is_waited_for(self) -> bool {
        matches!(self, Lane::Interactive | Lane::FirstLoad | Lane::Example)
    }

    /// How many of its jobs may wait. What nobody pays for takes a quarter of the queue, so that it never fills it.
    pub(super) const fn waiting_max(self, queue_max: i64) -> i64 {
        match self {
            Lane::Prewarm | Lane::Example => queue_max / 4,
            Lane::Anew | Lane::FirstLoad | Lane::Interactive => queue_max,
        }
    }
}

/// Who wants a picture.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Asker {
    pub lane: Lane,
    /// Empty: no account.
    pub account_id: String,
}

impl Asker {
    pub fn account(lane: Lane, account_id: &str) -> Self {
        Asker { lane, account_id: account_id.to_owned() }
    }

    pub fn nobody(lane: Lane) -> Self {
        Asker { lane, account_id: String::new() }
    }
}

/// What waits in the queue beside a new job.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Waiting {
    pub all: i64,
    pub in_lane: i64,
    pub of_account: i64,
}

impl Waiting {
    /// Whether one more finds room. An account has at most half of the queue, and who has nothing waiting finds room also in a full one:
    /// the others cannot lock it out.
    pub fn has_room(self, asker: &Asker, queue_max: i64) -> bool {
        let is_first = self.of_account == 0 && !asker.account_id.is_empty();
        let all_max = if is_first { queue_max * 2 } else { queue_max };
        let account_max = if asker.account_id.is_empty() { queue_max } else { (queue_max / 2).max(1) };
        self.all < all_max
            && self.of_account < account_max
            && (is_first || self.in_lane < asker.lane.waiting_max(queue_max))
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
        let paying = Asker::account(Lane::Interactive, "a");
        let visitor = Asker::nobody(Lane::Example);
        for (asker, all, in_lane, of_account, has_room) in [
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
            let waiting = Waiting { all, in_lane, of_account };
            assert_eq!(waiting.has_room(asker, 100), has_room, "{asker:?} {waiting:?}");
        }
    }
}
