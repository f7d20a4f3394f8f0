//! Chooses which of the waiting jobs the engine runs together: those for one pipeline, and among
//! them those of the same view first, as their images are most alike. The oldest job is always
//! among them, so none waits forever.
//!
//! Why: `docs/decisions/nodes-and-protocol.md` (Which jobs a node renders in one batch).

use cyclorama_core::View;
use std::collections::VecDeque;

/// The properties by which jobs are grouped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    pub pipeline: String,
    pub view: View,
}

/// Waiting jobs, the oldest first.
#[derive(Debug)]
pub struct Waiting<T>(VecDeque<(Key, T)>);

impl<T> Default for Waiting<T> {
    fn default() -> Self {
        Waiting(VecDeque::new())
    }
}

impl<T> Waiting<T> {
    pub fn push(&mut self, key: Key, job: T) {
        self.0.push_back((key, job));
    }

    /// Returns the key of the oldest job.
    pub fn first(&self) -> Option<&Key> {
        self.0.front().map(|(key, _)| key)
    }

    /// Returns how many jobs there are for the pipeline of the oldest one.
    pub fn companions(&self) -> usize {
        self.first().map_or(0, |first| self.0.iter().filter(|(key, _)| key.pipeline == first.pipeline).count())
    }

    /// Removes and returns the oldest job and up to `max - 1` jobs that go with it.
    pub fn take(&mut self, max: usize) -> Vec<T> {
        let Some(first) = self.first().cloned() else { return Vec::new() };
        let mut places: Vec<usize> =
            (0..self.0.len()).filter(|place| self.0[*place].0.pipeline == first.pipeline).collect();
        places.sort_by_key(|place| (self.0[*place].0.view != first.view, *place));
        places.truncate(max.max(1));
        places.sort_unstable();
        let mut taken: Vec<T> =
            places.iter().rev().filter_map(|place| self.0.remove(*place)).map(|(_, job)| job).collect();
        taken.reverse();
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(jobs: &[(&str, View)]) -> Waiting<usize> {
        let mut waiting = Waiting::default();
        for (number, (pipeline, view)) in jobs.iter().enumerate() {
            waiting.push(Key { pipeline: (*pipeline).to_owned(), view: *view }, number);
        }
        waiting
    }

    #[test]
    fn a_batch_is_of_one_pipeline_of_the_same_view_first_and_has_the_oldest_job() {
        let jobs = [
            ("a", View::Side),
            ("b", View::Side),
            ("a", View::Rear),
            ("a", View::Front),
            ("a", View::Side),
            ("b", View::Rear),
            ("a", View::Side),
        ];
        for (max, expected) in [
            (1, vec![vec![0], vec![1], vec![2], vec![3], vec![4], vec![5], vec![6]]),
            (2, vec![vec![0, 4], vec![1, 5], vec![2, 3], vec![6]]),
            (4, vec![vec![0, 2, 4, 6], vec![1, 5], vec![3]]),
            (16, vec![vec![0, 2, 3, 4, 6], vec![1, 5]]),
        ] {
            let mut waiting = waiting(&jobs);
            assert_eq!(waiting.companions(), 5);
            let mut batches = Vec::new();
            while waiting.first().is_some() {
                batches.push(waiting.take(max));
            }
            assert_eq!(batches, expected, "at most {max}");
        }
        let mut none: Waiting<usize> = Waiting::default();
        assert_eq!((none.companions(), none.take(4)), (0, vec![]));
    }
}
