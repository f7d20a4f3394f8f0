//! What does not hold of a vehicle's geometry.

/// One thing that does not hold.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// Short name of the rule, for counting.
    pub rule: &'static str,
    pub detail: String,
}

pub fn finding(rule: &'static str, detail: String) -> Finding {
    Finding { rule, detail }
}
