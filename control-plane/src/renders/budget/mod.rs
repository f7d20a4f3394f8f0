//! The budget of a day for cold renders: its limit, the amounts reserved and settled, and the
//! thresholds at which an operator is notified.

mod cost;
mod day;
mod thresholds;

pub use cost::{CostCover, SPENT_NOW, cover, microusd, rate_of_slot, reset_of};
pub use day::{BUDGET_SPENT, Budget, Reservation, is_passed, may_take_over, reserve, settle};
