//! Black-box tests: the real programs, spoken to as their users would. One file per part of the contract.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on stops where it stands")]

mod account;
mod backup;
mod batches;
mod buckets;
mod caps_and_letters;
mod catalog;
mod commands;
mod configuration;
mod console;
mod contract;
mod crashes;
mod credentials;
mod customer_commands;
mod dashboard;
mod delivery_urls;
mod device_login;
mod embeds;
mod events;
mod feedback;
mod figures;
mod hardening;
mod images_car;
mod images_car_errors;
mod machines;
mod mcp;
mod mcp_clients;
mod money;
mod named_requests;
mod nodes;
mod openid;
mod pages;
mod payments;
mod people;
mod pipeline;
mod prewarm;
mod restarts;
mod runbooks;
mod several_cards;
mod simulation;
mod snippets;
mod stripe;
mod terminal;
mod traces;
mod vehicle_shapes;
