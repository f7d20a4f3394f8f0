//! What the black-box tests share: the real service on a throw-away database, a client, and a fake render node.
//!
//! Nothing here knows the inside of the control plane: it is started as a program, spoken to over HTTP and the command
//! line, and killed by signal.

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

/// A file of this package, as an absolute path. Tests run in their package's folder; the folder that was compiled in
/// may be another checkout's that shares the build folder, and gone.
pub fn package_file(name: &str) -> std::path::PathBuf {
    std::path::absolute(name).expect("a current folder")
}

/// How often something random is tried: `short` times in `make test`, `long` times in `make test-long`, which sets `CYCLORAMA_TEST_LONG`.
pub fn times(short: u64, long: u64) -> u64 {
    if std::env::var_os("CYCLORAMA_TEST_LONG").is_some() { long } else { short }
}

/// Runs one scenario on SQLite and on PostgreSQL, as two tests. The PostgreSQL one takes the server that
/// `CYCLORAMA_TEST_POSTGRES_URL` names, else one that it starts and that stays up.
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
