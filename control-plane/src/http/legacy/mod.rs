//! The embeddable picture endpoint that coexists with `/api/v1`.

pub mod car;
