//! What is tried, one after the other, when memory runs out during a job. What the rungs do is the engine's affair.

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

#[cfg(test)]
mod tests {
    use super::*;

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
