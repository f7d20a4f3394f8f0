//! Keeps one child process running: starts it again after it has ended, with pauses that double
//! until a start is good, and ends it on request.
//!
//! A [`Supervisor`] reports to its owner what happens, one [`Event`] after the other. What is
//! logged or counted, and when to give up, is the owner's decision. A [`Child`] ends when its
//! standard input closes, so it cannot outlive the process that holds the other end, however that
//! process dies. A thread reads the child's [`Log`].
//!
//! [`Backoff`] is the rule of the pauses, for everything else that is repeated after failures.

mod backoff;
mod child;
mod log;
mod supervisor;

pub use backoff::Backoff;
pub use child::{Child, Event, StopBy};
pub use log::{Log, each_line};
pub use supervisor::{Settings, Supervisor};
