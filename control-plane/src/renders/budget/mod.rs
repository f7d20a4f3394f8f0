//! What a day of cold renders may cost: its limit, what is reserved and settled, and the thresholds that an operator is told of.

mod cost;
mod day;
mod thresholds;

pub use cost::{Covered, SPENT_NOW, cover, microusd, rate_of_slot, reset_of};
pub use day::{BUDGET_SPENT, Budget, Reserved, is_passed, may_take_over, reserve, settle};
