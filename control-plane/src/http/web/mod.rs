//! Pages for people: plain HTML, one style sheet, no frameworks. Each works without JavaScript.

pub mod assets;
pub mod docs;
pub mod errors;
pub mod examples;
pub mod home;
mod pages;
#[cfg(test)]
mod tests;
