//! Stripe as the provider of payments.
//!
//! [`client`] asks Stripe for things, [`signature`] and [`event`] read what it tells us, [`settle`] does what that means for a payment,
//! in any order and once, and [`returns`] adds up what went back. Whose customer an account is, and which card was kept, is in [`customers`]. Money that came is always credited,
//! whatever the row said: an answer that was lost must not cost anybody their credits.

pub mod client;
pub mod customers;
pub mod event;
pub mod noted;
mod returns;
pub mod settle;
pub mod signature;

pub use client::{Stripe, StripeError};
