//! `/api/v1/events`: telemetry.

pub mod post;
