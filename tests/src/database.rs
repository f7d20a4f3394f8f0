//! PostgreSQL databases for tests. Each is a copy of one that has the schema, because thirty
//! migrations take longer than most tests.

use anyhow::{Context, Result};
use sqlx::migrate::Migrator;
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{AssertSqlSafe, Connection, Executor};
use tokio::sync::OnceCell;

use crate::{package_file, tools};

/// Creates a database with the schema and no rows, and returns its URL.
pub async fn new_postgres_database() -> Result<String> {
    static TEMPLATE: OnceCell<String> = OnceCell::const_new();
    let server = tools::postgres_server()?;
    let template = TEMPLATE.get_or_try_init(async || new_template(&server).await).await?;
    let name = create(&server, "test", template).await?;
    Ok(format!("{server}/{name}"))
}

/// Creates a database without any tables, and returns its URL.
pub async fn new_empty_postgres_database() -> Result<String> {
    let server = tools::postgres_server()?;
    let name = create(&server, "test", "template1").await?;
    Ok(format!("{server}/{name}"))
}

/// Removes a database that [`new_postgres_database`] made, unless another service is still
/// connected to it. Databases that stay behind are removed by `scripts/postgres.sh shared` later.
pub fn remove_postgres_database(url: &str) {
    let Some((server, name)) = url.rsplit_once('/') else { return };
    let (server, name) = (server.to_owned(), name.to_owned());
    // The caller may be in an asynchronous runtime, where blocking on another one is not allowed.
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let mut administrator = connect(&server, "postgres").await?;
            administrator.execute(AssertSqlSafe(format!("drop database if exists {name}"))).await?;
            anyhow::Ok(())
        })
    });
}

/// Creates a database with the schema of this checkout, to which nobody is connected, and returns
/// its name.
async fn new_template(server: &str) -> Result<String> {
    let name = create(server, "template", "template1").await?;
    let migrator = Migrator::new(package_file("../control-plane/migrations")).await?;
    let mut database = connect(server, &name).await?;
    migrator.run(&mut database).await.context("the schema of the tests' databases")?;
    database.close().await?;
    Ok(name)
}

/// Creates a database as a copy of another one, and returns its name. The name begins with `kind`
/// and ends with `CYCLORAMA_TEST_RUN`, if that is set. `scripts/postgres.sh` removes old databases,
/// and those of a run, by their names.
async fn create(server: &str, kind: &str, template: &str) -> Result<String> {
    let run = std::env::var("CYCLORAMA_TEST_RUN").map_or_else(|_| String::new(), |run| format!("_{run}"));
    let name = format!("{kind}_{}{run}", uuid::Uuid::now_v7().simple());
    let mut administrator = connect(server, "postgres").await?;
    administrator.execute(AssertSqlSafe(format!("create database {name} template {template}"))).await?;
    administrator.close().await?;
    Ok(name)
}

async fn connect(server: &str, database: &str) -> Result<PgConnection> {
    let options: PgConnectOptions = format!("{server}/{database}").parse()?;
    PgConnection::connect_with(&options).await.with_context(|| format!("PostgreSQL at {server}"))
}
