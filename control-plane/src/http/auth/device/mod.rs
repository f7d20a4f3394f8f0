//! `/api/auth/device`: login of devices, such as a command-line tool.

mod body;
pub mod code;
pub mod token;
