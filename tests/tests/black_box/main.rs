//! Black-box tests: they use the real programs as users would. Each part of the contract has a
//! file.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on stops where it stands")]
#![allow(
    clippy::disallowed_methods,
    reason = "stands outside of the programs, in the time and the environment of whoever runs it"
)]

mod abandoned;
mod account;
mod answering_proxy;
mod auto_reload;
mod backup;
mod batches;
mod broken_commits;
mod buckets;
mod caps_and_letters;
mod catalog;
mod checks;
mod commands;
mod configuration;
mod console;
mod contract;
mod crashes;
mod credentials;
mod customer_commands;
mod dashboard;
mod database_trouble;
mod delivery_urls;
mod device_login;
mod embeds;
mod events;
mod feedback;
mod figures;
mod frames;
mod free_pictures;
mod free_requests;
mod golden_frames;
mod hardening;
mod hostile_nodes;
mod images_car;
mod images_car_errors;
mod json_bodies;
mod likeness;
mod limits;
mod machines;
mod make_run;
mod mcp;
mod mcp_clients;
mod money;
mod named_requests;
mod nodes;
mod openid;
mod operator_address;
mod other_sites;
mod outputs;
mod pages;
mod payments;
mod people;
mod prewarm;
mod private_files;
mod rendering;
mod restarts;
mod runbooks;
mod sent_twice;
mod simulation;
mod slow_bodies;
mod snippets;
mod statuses;
mod stripe;
mod stripe_returns;
mod terminal;
mod tool_arguments;
mod tool_charges;
mod traces;
mod vehicles;
