//! Stripe as the provider of payments.
//!
//! [`client`] calls Stripe's API, [`signature`] and [`event`] read the events that Stripe
//! sends, [`settle`] applies them to payments, in any order and once, and [`returns`] adds up
//! the money that went back. [`customers`] has the customer and the stored card of each
//! account. Money that arrived is always credited, whatever the row said: a lost answer must
//! not cost anybody their credits.

pub mod client;
pub mod customers;
pub mod event;
pub mod noted;
mod returns;
pub mod settle;
pub mod signature;

pub use client::{StripeClient, StripeError};
