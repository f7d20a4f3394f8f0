//! The telemetry sink: events that pages, tools and SDKs report of themselves. The response is sent
//! first and the events are written afterwards, through a bounded buffer. Events are never billed,
//! and are not part of any account.

pub mod event;
mod sink;

pub use event::Event;
pub use sink::{Full, Sink};
