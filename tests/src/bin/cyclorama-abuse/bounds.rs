//! Measures what is stored before and after, and checks how much it may grow.

use crate::setting::{AbuseSetup, EVENTS_MIB_PER_DAY, SIZE_STORE_FREE_MIB, SIZE_STORE_MIB};
use anyhow::{Context, Result};
use cyclorama_tests::DatabaseChoice;
use std::collections::BTreeMap;
use std::path::Path;

const MIB: u64 = 1 << 20;

/// Growth of the size store that is allowed between two sweeps, in MiB.
const SLACK_MIB: u64 = 1;

/// Maximum size of one delivered image in the database, in bytes: its ledger entry, including its
/// part of the indexes.
const BYTES_PER_CHARGE: u64 = 2_048;
/// Maximum size of an event in the database for each byte of its properties: its other columns, and
/// the indexes.
const DATABASE_BYTES_PER_EVENT_BYTE: u64 = 2;
/// Maximum growth of the rest of the database, in MiB: the rows of `ROWS_MAX`, pages that are free
/// again, a write-ahead log.
const DATABASE_REST_MIB: u64 = 64;
/// Maximum growth of everything else in the data folder, in MiB: logs and temporary files, for
/// example.
const FOLDER_REST_MIB: u64 = 4;

/// Maximum growth of each table in rows, however many requests come. A table that is not named here
/// may grow by `ROWS_MAX_ELSEWHERE`.
const ROWS_MAX: [(&str, u64); 5] = [
    // One for each of the 4,096 client addresses of the floods and each limit that counts them,
    // until they are swept.
    ("rate_windows", 50_000),
    // Failed attempts to sign in: one for each client address and each email address.
    ("attempts", 10_000),
    // Device logins live for minutes, and their number for each client address is limited.
    ("device_logins", 20_000),
    // Batches of charges whose callers have been answered, until the next sweep.
    ("meter_batches", 100_000),
    // One for each day, key and kind of use.
    ("usage_daily", 1_000),
];
const ROWS_MAX_ELSEWHERE: u64 = 200;

/// Tables that have at most one row for each charge.
const ROW_PER_CHARGE: [&str; 3] = ["ledger_entries", "deliveries", "holds"];

/// The table that is measured by its bytes and not by its rows.
const EVENTS: &str = "events";

pub struct Growth {
    objects_bytes: u64,
    database_bytes: u64,
    /// Bytes of the data folder, without objects and the database.
    other_bytes: u64,
    rows: BTreeMap<String, u64>,
    /// Ledger entries of the account whose hundred keys were refused repeatedly.
    holders_entries: i64,
    /// Bytes of the properties of reported events.
    events_bytes: u64,
}

impl Growth {
    pub async fn measure(setting: &AbuseSetup) -> Result<Self> {
        let mut connection = setting.service.database().await?;
        let names = match setting.database {
            DatabaseChoice::Sqlite => "select name from sqlite_master where type = 'table' and name not like 'sqlite%'",
            DatabaseChoice::Postgres => {
                "select cast(table_name as text) from information_schema.tables where table_schema = current_schema()"
            }
        };
        let names: Vec<String> = sqlx::query_scalar(names).fetch_all(&mut connection).await?;
        let mut rows = BTreeMap::new();
        for table in names {
            let sql = sqlx::AssertSqlSafe(format!("select count(*) from {table}"));
            let count: i64 = sqlx::query_scalar(sql).fetch_one(&mut connection).await.with_context(|| table.clone())?;
            rows.insert(table, count.unsigned_abs());
        }
        let of_holder = "select count(*) from ledger_entries where account_id = $1";
        let holders_entries =
            sqlx::query_scalar(of_holder).bind(&setting.holder.account_id).fetch_one(&mut connection).await?;
        let events = "select cast(coalesce(sum(length(properties)), 0) as bigint) from events";
        let events_bytes: i64 = sqlx::query_scalar(events).fetch_one(&mut connection).await.context("events")?;

        let folder = setting.service.data_dir();
        let objects_bytes = bytes_of(&folder.join("objects"));
        let (database_bytes, in_folder) = match setting.database {
            DatabaseChoice::Postgres => {
                let size = "select pg_database_size(current_database())";
                (sqlx::query_scalar::<_, i64>(size).fetch_one(&mut connection).await?.unsigned_abs(), 0)
            }
            DatabaseChoice::Sqlite => {
                let file = setting.service.database_url().trim_start_matches("sqlite:").trim_start_matches("//");
                let file = Path::new(file.split('?').next().unwrap_or(file));
                let size = |end: &str| {
                    let mut name = file.as_os_str().to_owned();
                    name.push(end);
                    std::fs::metadata(name).map_or(0, |file| file.len())
                };
                let bytes = size("") + size("-wal") + size("-shm");
                anyhow::ensure!(bytes > 0, "{}: no such file", file.display());
                (bytes, if file.starts_with(&folder) { bytes } else { 0 })
            }
        };
        let other_bytes = bytes_of(&folder).saturating_sub(objects_bytes + in_folder);
        let events_bytes = events_bytes.unsigned_abs();
        Ok(Growth { objects_bytes, database_bytes, other_bytes, rows, holders_entries, events_bytes })
    }

    /// Prints both measurements side by side; of the tables, only those that changed.
    pub fn print_beside(&self, after: &Growth) {
        println!("\nstored                        before        after");
        let line = |name: &str, before: &dyn std::fmt::Display, after: &dyn std::fmt::Display| {
            println!("{name:<22} {before:>13} {after:>12}")
        };
        let mib = |bytes: u64| format!("{:.1} MiB", bytes as f64 / MIB as f64);
        line("objects", &mib(self.objects_bytes), &mib(after.objects_bytes));
        line("database", &mib(self.database_bytes), &mib(after.database_bytes));
        line("rest of the folder", &mib(self.other_bytes), &mib(after.other_bytes));
        line("properties of events", &mib(self.events_bytes), &mib(after.events_bytes));
        line("entries of 100 keys", &self.holders_entries, &after.holders_entries);
        for (table, after) in &after.rows {
            let before = self.rows.get(table).copied().unwrap_or(0);
            if before != *after {
                line(&format!("rows of {table}"), &before, after);
            }
        }
    }

    /// Lists everything that grew by more than it may. `charges` is the number of images paid for
    /// in between.
    pub fn broken(&self, before: &Growth, setting: &AbuseSetup, charges: u64) -> Vec<String> {
        let mut broken = Vec::new();
        let mut judge = |what: &str, before: u64, after: u64, most: u64| {
            let grown = after.saturating_sub(before);
            if grown > most {
                broken.push(format!("{what} grew by {grown}, and may by {most}"));
            }
        };
        let sizes = (SIZE_STORE_MIB + SIZE_STORE_FREE_MIB) * MIB * 17 / 16 + SLACK_MIB * MIB;
        judge("objects, in bytes,", before.objects_bytes, self.objects_bytes, sizes);
        judge("properties of events, in bytes,", before.events_bytes, self.events_bytes, EVENTS_MIB_PER_DAY * MIB);
        let database = charges * BYTES_PER_CHARGE
            + EVENTS_MIB_PER_DAY * MIB * DATABASE_BYTES_PER_EVENT_BYTE
            + DATABASE_REST_MIB * MIB;
        judge("the database, in bytes,", before.database_bytes, self.database_bytes, database);
        judge("the rest of the data folder, in bytes,", before.other_bytes, self.other_bytes, FOLDER_REST_MIB * MIB);
        for (table, after) in self.rows.iter().filter(|(table, _)| *table != EVENTS) {
            let most = match ROW_PER_CHARGE.contains(&table.as_str()) {
                true => charges,
                false => ROWS_MAX.iter().find(|(name, _)| name == table).map_or(ROWS_MAX_ELSEWHERE, |(_, most)| *most),
            };
            judge(&format!("rows of {table}"), before.rows.get(table).copied().unwrap_or(0), *after, most);
        }
        let for_nothing = self.holders_entries - before.holders_entries;
        if for_nothing > 0 {
            broken.push(format!("account {}: {for_nothing} entries for nothing", setting.holder.account_id));
        }
        broken
    }
}

/// The bytes of a folder with everything in it.
fn bytes_of(path: &Path) -> u64 {
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.file_type() {
            Ok(kind) if kind.is_dir() => bytes_of(&entry.path()),
            _ => entry.metadata().map_or(0, |file| file.len()),
        })
        .sum()
}
