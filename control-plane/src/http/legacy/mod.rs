//! The endpoint for embedded images, which coexists with `/api/v1`.

pub mod car;
