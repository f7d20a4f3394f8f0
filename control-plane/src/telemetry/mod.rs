//! The telemetry sink: events that pages, tools and SDKs report of themselves. Answered first and written after, through a bounded
//! buffer; never billed, and no part of any account.

pub mod event;
mod sink;

pub use event::Event;
pub use sink::{Full, Sink};
