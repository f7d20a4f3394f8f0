//! Fresh databases for the crate's tests: a SQLite file each, and a PostgreSQL database each.

use crate::db::Database;
use cyclorama_tests::database::{new_empty_postgres_database, new_postgres_database};

/// Returns one database of each kind, empty and with an up-to-date schema.
pub async fn databases() -> Vec<Database> {
    let url = new_postgres_database().await.expect("a new PostgreSQL database");
    vec![sqlite().await, Database::open(&url).await.expect("a new PostgreSQL database opens")]
}

/// Returns the URLs of one database of each kind, without any tables.
pub async fn empty() -> Vec<String> {
    vec![sqlite_url(), new_empty_postgres_database().await.expect("a new PostgreSQL database")]
}

pub async fn sqlite() -> Database {
    Database::open(&sqlite_url()).await.expect("a new SQLite database opens")
}

fn sqlite_url() -> String {
    let folder = std::env::temp_dir().join(format!("cyclorama-test-{}", uuid::Uuid::now_v7()));
    std::fs::create_dir_all(&folder).expect("a temporary folder can be made");
    format!("sqlite:{}?mode=rwc", folder.join("test.db").display())
}
