//! Recovery when memory runs out. A batch is tried again in halves, down to single jobs. For a
//! single job, recovery steps are taken one after the other, each of which makes memory available;
//! the worker carries them out.

/// A recovery step, which makes memory available. Each costs more than the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecoveryStep {
    /// Drop everything that is cached for later jobs.
    Free,
    /// Drop everything and start again, which undoes fragmentation of memory.
    Restart,
}

const STEPS: [RecoveryStep; 2] = [RecoveryStep::Free, RecoveryStep::Restart];

/// Runs `attempt`. After each failure for lack of memory, takes the next recovery step and tries
/// again. Returns the last result.
pub fn retry_with_recovery<S, T, E>(
    state: &mut S,
    mut attempt: impl FnMut(&mut S) -> Result<T, E>,
    ran_out: impl Fn(&E) -> bool,
    mut take: impl FnMut(&mut S, RecoveryStep),
) -> Result<T, E> {
    for step in STEPS {
        match attempt(state) {
            Err(error) if ran_out(&error) => take(state, step),
            result => return result,
        }
    }
    attempt(state)
}

/// Runs `attempt` with a whole batch, and runs whatever fails, for any reason, again in halves:
/// memory may suffice for less, and a job that always fails takes no other with it. Calls `give_up`
/// for each job that fails alone.
pub fn in_halves<T, E>(
    batch: &mut [T],
    attempt: &mut impl FnMut(&mut [T]) -> Result<(), E>,
    give_up: &mut impl FnMut(&mut T, E),
) {
    let Err(error) = attempt(batch) else { return };
    match batch {
        [] => {}
        [alone] => give_up(alone, error),
        several => {
            let (left, right) = several.split_at_mut(several.len() / 2);
            in_halves(left, attempt, give_up);
            in_halves(right, attempt, give_up);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_that_does_not_fit_is_halved_until_it_does() {
        for (fits, bad, expected) in [
            (8, None, vec![5]),
            (3, None, vec![5, 2, 3]),
            (1, None, vec![5, 2, 1, 1, 3, 1, 2, 1, 1]),
            // A job that always fails takes no other with it.
            (8, Some(3), vec![5, 2, 3, 1, 2, 1, 1]),
        ] {
            let (mut batch, mut sizes, mut given_up) = ([0, 1, 2, 3, 4], Vec::new(), Vec::new());
            let mut done = Vec::new();
            let mut attempt = |part: &mut [i32]| {
                sizes.push(part.len());
                if part.len() > fits || bad.is_some_and(|bad| part.contains(&bad)) {
                    return Err("memory");
                }
                done.extend_from_slice(part);
                Ok(())
            };
            in_halves(&mut batch, &mut attempt, &mut |item, error| given_up.push((*item, error)));
            assert_eq!(sizes, expected);
            assert_eq!(given_up, bad.map(|bad| (bad, "memory")).into_iter().collect::<Vec<_>>());
            assert_eq!(done.len() + given_up.len(), 5);
        }
    }

    /// Runs `retry_with_recovery` with `fails` attempts that end with `error` before one succeeds.
    fn climbed(fails: usize, error: &'static str) -> (Result<usize, &'static str>, Vec<RecoveryStep>) {
        let mut state = (0, Vec::new());
        let attempt = |state: &mut (usize, Vec<RecoveryStep>)| {
            state.0 += 1;
            if state.0 <= fails { Err(error) } else { Ok(state.0) }
        };
        let result =
            retry_with_recovery(&mut state, attempt, |error| *error == "memory", |state, step| state.1.push(step));
        (result, state.1)
    }

    #[test]
    fn each_rung_is_tried_once_and_only_for_memory() {
        assert_eq!(climbed(0, "memory"), (Ok(1), vec![]));
        assert_eq!(climbed(1, "memory"), (Ok(2), vec![RecoveryStep::Free]));
        assert_eq!(climbed(2, "memory"), (Ok(3), vec![RecoveryStep::Free, RecoveryStep::Restart]));
        assert_eq!(climbed(9, "memory"), (Err("memory"), vec![RecoveryStep::Free, RecoveryStep::Restart]));
        assert_eq!(climbed(9, "quality"), (Err("quality"), vec![]));
    }
}
