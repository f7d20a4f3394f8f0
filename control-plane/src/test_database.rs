//! Fresh databases for the crate's tests: a SQLite file each, and a PostgreSQL database each where
//! `CYCLORAMA_TEST_POSTGRES_URL` names a server.

use crate::db::Database;

/// Both kinds of database that this run has, each empty and up to date.
pub async fn databases() -> Vec<Database> {
    let mut found = vec![sqlite().await];
    if let Some(server) = postgres_server() {
        found.push(postgres(&server).await);
    }
    found
}

/// Addresses of both kinds of database that this run has, each without any tables.
pub async fn empty() -> Vec<String> {
    let mut found = vec![sqlite_url()];
    if let Some(server) = postgres_server() {
        found.push(postgres_url(&server).await);
    }
    found
}

#[expect(clippy::disallowed_methods, reason = "`make test` says by a variable where the server is")]
fn postgres_server() -> Option<String> {
    std::env::var("CYCLORAMA_TEST_POSTGRES_URL").ok()
}

pub async fn sqlite() -> Database {
    Database::open(&sqlite_url()).await.expect("a new SQLite database opens")
}

fn sqlite_url() -> String {
    let folder = std::env::temp_dir().join(format!("cyclorama-test-{}", uuid::Uuid::now_v7()));
    std::fs::create_dir_all(&folder).expect("a temporary folder can be made");
    format!("sqlite:{}?mode=rwc", folder.join("test.db").display())
}

async fn postgres(server: &str) -> Database {
    Database::open(&postgres_url(server).await).await.expect("a new PostgreSQL database opens")
}

async fn postgres_url(server: &str) -> String {
    sqlx::any::install_default_drivers();
    let name = format!("t_{}", uuid::Uuid::now_v7().simple());
    let server = server.trim_end_matches('/');
    let admin = sqlx::AnyPool::connect(&format!("{server}/postgres")).await.expect("the test server answers");
    // The name is made three lines above.
    sqlx::query(sqlx::AssertSqlSafe(format!("create database {name}")))
        .execute(&admin)
        .await
        .expect("a database can be made");
    admin.close().await;
    format!("{server}/{name}")
}
