//! Keeps one child process running: starts it again after it has ended, with pauses that double until a start is good,
//! and ends it when it is told to.
//!
//! A [`Supervisor`] tells its owner what happens, one [`Event`] after the other; what is logged, counted or given up is
//! the owner's. A [`Child`] ends when its standard input closes, so it cannot outlive whoever holds the other end,
//! however that one dies. Its [`Log`] is read by a thread.
//!
//! [`Backoff`] is the rule of the pauses, for whatever else is tried again and again.

mod backoff;
mod child;
mod log;
mod supervisor;

pub use backoff::Backoff;
pub use child::{Child, Event, StopBy};
pub use log::{Log, each_line};
pub use supervisor::{Settings, Supervisor};
