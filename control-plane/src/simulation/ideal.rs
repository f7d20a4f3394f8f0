//! The ideal queue that a simulated one is compared with. It follows the service's own rules
//! (lanes, accounts' `turn`s, the ratio of prewarming), and decides at once, with knowledge of
//! every free slot. The real queue takes longer by the time of its calls and by the time until it
//! knows of a free slot.

use crate::renders::{Lane, PREWARM_EVERY, Requester};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, VecDeque};

/// A job of the ideal queue.
#[derive(Debug, Clone)]
pub(super) struct Ideal {
    /// `None` for a slot that was lost, which goes before all jobs.
    pub requester: Option<Requester>,
    pub queued_us: i64,
    pub service_us: i64,
}

/// A place in the lane: the `turn`, and the job's number in the order of arrival.
type LanePlace = (i64, usize);

/// The waiting jobs, by lane.
#[derive(Debug, Default)]
struct IdealQueue {
    lanes: BTreeMap<Lane, BTreeSet<LanePlace>>,
    /// The last job's `turn` and the number of waiting jobs of each requester that has any.
    last: HashMap<Requester, (i64, usize)>,
    since_prewarm: u64,
}

impl IdealQueue {
    /// Adds a job, see `next_turn` of `renders::queue`.
    fn add(&mut self, requester: &Requester, number: usize) {
        let lane = self.lanes.entry(requester.lane).or_default();
        let served = lane.first().map_or(0, |(turn, _)| *turn);
        let own = self.last.get(requester).map_or(0, |(turn, _)| turn + 1);
        let turn = served.max(own);
        lane.insert((turn, number));
        let last = self.last.entry(requester.clone()).or_default();
        *last = (turn, last.1 + 1);
    }

    /// Removes the next job and returns its number, see `Renders::claim`.
    fn take(&mut self, jobs: &[Ideal]) -> Option<usize> {
        let is_prewarms_turn = self.since_prewarm + 1 >= PREWARM_EVERY;
        let some = |lane: &Lane| self.lanes.get(lane).is_some_and(|places| !places.is_empty());
        let lane = Lane::ALL.into_iter().find(some)?;
        let lane = if is_prewarms_turn && some(&Lane::Prewarm) { Lane::Prewarm } else { lane };
        self.since_prewarm = if lane == Lane::Prewarm { 0 } else { self.since_prewarm + 1 };
        let (_, number) = self.lanes.get_mut(&lane)?.pop_first()?;
        if let Some(requester) = &jobs[number].requester
            && let Some(last) = self.last.get_mut(requester)
        {
            last.1 -= 1;
            if last.1 == 0 {
                self.last.remove(requester);
            }
        }
        Some(number)
    }
}

/// Returns the waits in seconds, by lane, where a free slot takes the next job at once.
pub(super) fn waits(mut jobs: Vec<Ideal>, slots: usize) -> HashMap<Lane, Vec<f64>> {
    jobs.sort_by_key(|job| job.queued_us);
    let mut free: BinaryHeap<Reverse<i64>> = (0..slots).map(|_| Reverse(0)).collect();
    let mut waiting = IdealQueue::default();
    let mut lost = VecDeque::new();
    let mut waits: HashMap<Lane, Vec<f64>> = HashMap::new();
    let mut coming = jobs.iter().enumerate().peekable();
    while let Some(Reverse(free_us)) = free.pop() {
        let mut at_us = free_us;
        let next = loop {
            while let Some((number, job)) = coming.next_if(|(_, job)| job.queued_us <= at_us) {
                match &job.requester {
                    Some(requester) => waiting.add(requester, number),
                    None => lost.push_back(number),
                }
            }
            let next = lost.pop_front().or_else(|| waiting.take(&jobs));
            match (next, coming.peek()) {
                (None, Some((_, job))) => at_us = job.queued_us,
                _ => break next,
            }
        };
        let Some(job) = next.map(|number| &jobs[number]) else { break };
        if let Some(requester) = &job.requester {
            waits.entry(requester.lane).or_default().push((at_us - job.queued_us) as f64 / 1e6);
        }
        free.push(Reverse(at_us + job.service_us));
    }
    waits
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND_US: i64 = 1_000_000;

    fn job(requester: Requester, queued_us: i64, seconds: i64) -> Ideal {
        Ideal { requester: Some(requester), queued_us, service_us: seconds * SECOND_US }
    }

    #[test]
    fn the_higher_lane_goes_first() {
        let jobs = || {
            [
                (Lane::Prewarm, 0, 4),
                (Lane::Prewarm, 1, 2),
                (Lane::Interactive, SECOND_US, 2),
                (Lane::Interactive, 20 * SECOND_US, 1),
            ]
            .map(|(lane, queued_us, seconds)| job(Requester::without_account(lane), queued_us, seconds))
            .into_iter()
        };
        let found = waits(jobs().collect(), 1);
        assert_eq!(found[&Lane::Interactive], [3.0, 0.0]);
        assert_eq!(found[&Lane::Prewarm].iter().map(|wait| wait.round()).collect::<Vec<_>>(), [0.0, 6.0]);
        assert!(waits(jobs().collect(), 3).values().flatten().all(|wait| *wait == 0.0));
        let lost = Ideal { requester: None, queued_us: SECOND_US / 2, service_us: 90 * SECOND_US };
        let found = waits(jobs().chain([lost]).collect(), 1);
        assert_eq!(found[&Lane::Interactive], [93.0, 76.0], "the one slot was away for ninety seconds");
    }

    #[test]
    fn accounts_take_turns() {
        let of = |account, queued_us| job(Requester::account(Lane::Interactive, account), queued_us, 1);
        let jobs = vec![of("many", 0), of("many", 1), of("many", 2), of("many", 3), of("one", 4)];
        let found = waits(jobs, 1);
        let seconds: Vec<f64> = found[&Lane::Interactive].iter().map(|wait| wait.round()).collect();
        assert_eq!(seconds, [0.0, 1.0, 2.0, 3.0, 4.0]);
        // The job that came last waited for one job of the other account, not for three.
        let waited_us: Vec<i64> = found[&Lane::Interactive].iter().map(|wait| (wait * 1e6) as i64).collect();
        assert_eq!(waited_us[2], 2 * SECOND_US - 4);
    }

    #[test]
    fn prewarming_has_its_share_of_a_busy_farm() {
        let count = 3 * PREWARM_EVERY as i64;
        let busy = (0..count).map(|at_us| job(Requester::without_account(Lane::Interactive), at_us, 1));
        let ahead = (0..3).map(|at_us| job(Requester::without_account(Lane::Prewarm), at_us, 1));
        let found = waits(busy.chain(ahead).collect(), 1);
        let seconds: Vec<f64> = found[&Lane::Prewarm].iter().map(|wait| wait.round()).collect();
        assert_eq!(seconds, [19.0, 39.0, 59.0]);
    }
}
