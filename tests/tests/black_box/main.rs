//! Black-box tests: the real programs, spoken to as their users would. One file per part of the contract.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on stops where it stands")]

mod commands;
mod configuration;
mod delivery_urls;
mod images_car;
mod images_car_errors;
mod money;
mod nodes;
mod pages;
mod pipeline;
mod restarts;
