//! Findings: rules that a vehicle's geometry breaks.

/// One rule that a vehicle breaks.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// Short name of the rule, for counting.
    pub rule: &'static str,
    pub detail: String,
}

pub fn finding(rule: &'static str, detail: String) -> Finding {
    Finding { rule, detail }
}
