//! Pages for people: plain HTML, one style sheet, no frameworks. Every page works without
//! JavaScript.
//!
//! Forms that change something are read through `form`, which checks that one of our own pages sent
//! them. `visit` identifies the user or visitor who requests a page.

pub mod assets;
pub mod confirm;
pub mod dashboard;
pub mod device;
pub mod docs;
pub mod errors;
pub mod examples;
mod form;
pub mod format;
pub mod home;
mod known_device;
mod leaving;
pub mod llms;
mod next;
pub mod once;
pub mod openid;
pub mod pages;
pub mod pay;
pub mod playground;
pub mod playground_list;
pub mod pricing;
pub mod quick_start;
pub mod reset_password;
pub mod sign_in;
mod sign_in_fields;
pub mod sign_up;
pub mod status;
#[cfg(test)]
mod tests;
pub mod visit;
mod visitor;
