//! The sums of a check.

/// Number of rows by status.
#[derive(Debug, Default)]
pub struct StatusCounts {
    pub matches: u64,
    pub suggestions: u64,
    pub misses: u64,
    pub invalid: u64,
}

impl StatusCounts {
    /// Counts a row. Returns `false` if there is no such status.
    pub fn count(&mut self, status: &str) -> bool {
        let sum = match status {
            "match" => &mut self.matches,
            "suggestion" => &mut self.suggestions,
            "miss" => &mut self.misses,
            "invalid" => &mut self.invalid,
            _ => return false,
        };
        *sum += 1;
        true
    }

    pub fn rows(&self) -> u64 {
        self.matches + self.suggestions + self.misses + self.invalid
    }
}
