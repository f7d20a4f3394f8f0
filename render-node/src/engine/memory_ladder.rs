//! What is tried, one after the other, when memory runs out: a batch in halves, down to single jobs; for a single job more memory. What
//! the rungs do is the engine's affair.

/// Each costs more than the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rung {
    /// Give up what is kept for later jobs.
    Free,
    /// Give up everything, and start anew: memory in pieces becomes whole again.
    Restart,
}

const RUNGS: [Rung; 2] = [Rung::Free, Rung::Restart];

/// Runs `attempt`; after each time that memory ran out, takes the next rung and tries again. The last result is the answer.
pub fn climb<S, T, E>(
    state: &mut S,
    mut attempt: impl FnMut(&mut S) -> Result<T, E>,
    ran_out: impl Fn(&E) -> bool,
    mut take: impl FnMut(&mut S, Rung),
) -> Result<T, E> {
    for rung in RUNGS {
        match attempt(state) {
            Err(error) if ran_out(&error) => take(state, rung),
            result => return result,
        }
    }
    attempt(state)
}

/// Runs `attempt` with all of a batch, and what fails, for whatever reason, again in halves: memory may suffice for
/// less, and one that always fails takes no other with it. `give_up` hears of each that fails alone.
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
            // One that always fails takes no other with it.
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

    /// `fails`: how many attempts end with which error before one succeeds.
    fn climbed(fails: usize, error: &'static str) -> (Result<usize, &'static str>, Vec<Rung>) {
        let mut state = (0, Vec::new());
        let attempt = |state: &mut (usize, Vec<Rung>)| {
            state.0 += 1;
            if state.0 <= fails { Err(error) } else { Ok(state.0) }
        };
        let result = climb(&mut state, attempt, |error| *error == "memory", |state, rung| state.1.push(rung));
        (result, state.1)
    }

    #[test]
    fn each_rung_is_tried_once_and_only_for_memory() {
        assert_eq!(climbed(0, "memory"), (Ok(1), vec![]));
        assert_eq!(climbed(1, "memory"), (Ok(2), vec![Rung::Free]));
        assert_eq!(climbed(2, "memory"), (Ok(3), vec![Rung::Free, Rung::Restart]));
        assert_eq!(climbed(9, "memory"), (Err("memory"), vec![Rung::Free, Rung::Restart]));
        assert_eq!(climbed(9, "quality"), (Err("quality"), vec![]));
    }
}
