//! Shared parts of the black-box tests: the real service on a temporary database, a client, and a
//! fake render node.
//!
//! Nothing here uses the control plane's code: it is started as a program, called over HTTP and the
//! command line, and killed by signal.

#![allow(
    clippy::disallowed_methods,
    reason = "stands outside of the programs, in the time and the environment of whoever runs it"
)]

pub mod browser;
pub mod bucket;
pub mod collector;
pub mod database;
pub mod database_proxy;
pub mod fake_node;
pub mod gateway;
pub mod likeness;
pub mod load;
pub mod mailbox;
pub mod openid;
pub mod programs;
pub mod secrets;
pub mod service;
pub mod stripe;
pub mod tools;

pub use browser::Browser;
pub use bucket::Bucket;
pub use collector::Collector;
pub use database_proxy::{Cut, DatabaseProxy};
pub use fake_node::{Behaviour, FakeNode};
pub use service::{DatabaseChoice, Options, Service};
pub use stripe::FakeStripe;

/// Returns the absolute path of a file of this package. Tests run in their package's folder. The
/// folder that was compiled in may belong to another checkout that shares the build folder and no
/// longer exists.
pub fn package_file(name: &str) -> std::path::PathBuf {
    std::path::absolute(name).expect("a current folder")
}

/// Number of repetitions of a random test: `short` in `make test`, `long` in `make test-long`,
/// which sets `CYCLORAMA_TEST_LONG`.
pub fn times(short: u64, long: u64) -> u64 {
    if std::env::var_os("CYCLORAMA_TEST_LONG").is_some() { long } else { short }
}

/// Runs one scenario on SQLite and on PostgreSQL, as two tests. The PostgreSQL one uses the server
/// of `CYCLORAMA_TEST_POSTGRES_URL`, else one that it starts and leaves running.
#[macro_export]
macro_rules! on_both_databases {
    ($(async fn $name:ident($db:ident: $kind:ty) $body:block)+) => {
        $(mod $name {
            use super::*;
            async fn scenario($db: $kind) $body
            #[tokio::test(flavor = "multi_thread")]
            async fn sqlite() { scenario($crate::DatabaseChoice::Sqlite).await }
            #[tokio::test(flavor = "multi_thread")]
            async fn postgres() { scenario($crate::DatabaseChoice::Postgres).await }
        })+
    };
}
