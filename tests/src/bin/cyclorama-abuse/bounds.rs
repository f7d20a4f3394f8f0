//! What is stored, before and after, and how much of it there may be.

use crate::setting::{SIZE_STORE_FREE_MIB, SIZE_STORE_MIB, Setting};
use anyhow::{Context, Result};
use std::path::Path;

/// What a request that pays may leave: an entry, and its delivery.
const TABLES: [&str; 10] = [
    "ledger_entries",
    "holds",
    "rate_windows",
    "events",
    "attempts",
    "device_logins",
    "sessions",
    "jobs",
    "idempotency_keys",
    "delivery_urls",
];
const MIB: u64 = 1 << 20;
/// What may come in between two sweeps.
const SLACK_MIB: u64 = 1;

pub struct Grown {
    objects_bytes: u64,
    database_bytes: u64,
    rows: Vec<i64>,
    /// Entries of the account whose hundred keys were refused again and again.
    holders_entries: i64,
    /// Bytes of reported events.
    events_bytes: i64,
}

impl Grown {
    pub async fn measure(setting: &Setting) -> Result<Self> {
        let mut connection = setting.service.database().await?;
        let mut rows = Vec::new();
        for table in TABLES {
            let sql = sqlx::AssertSqlSafe(format!("select count(*) from {table}"));
            rows.push(sqlx::query_scalar(sql).fetch_one(&mut connection).await.context(table)?);
        }
        let of_holder = "select count(*) from ledger_entries where account_id = $1";
        let holders_entries =
            sqlx::query_scalar(of_holder).bind(&setting.holder.account_id).fetch_one(&mut connection).await?;
        let events = "select coalesce(sum(cast(length(properties) as bigint)), 0) from events";
        let events_bytes = sqlx::query_scalar::<_, i64>(events).fetch_one(&mut connection).await.unwrap_or(0);
        let folder = setting.service.data_dir();
        let objects_bytes = bytes_of(&folder.join("objects"));
        let url = setting.service.database_url();
        let file = url.strip_prefix("sqlite:").map(|file| file.split('?').next().unwrap_or(file).to_owned());
        let database_bytes = file.map_or(0, |file| {
            ["", "-wal"].iter().map(|end| std::fs::metadata(format!("{file}{end}")).map_or(0, |file| file.len())).sum()
        });
        Ok(Grown { objects_bytes, database_bytes, rows, holders_entries, events_bytes })
    }

    pub fn print_beside(&self, after: &Grown) {
        println!("\nstored                        before        after");
        let line = |name: &str, before: &dyn std::fmt::Display, after: &dyn std::fmt::Display| {
            println!("{name:<22} {before:>13} {after:>12}")
        };
        let mib = |bytes: u64| format!("{:.1} MiB", bytes as f64 / MIB as f64);
        line("objects", &mib(self.objects_bytes), &mib(after.objects_bytes));
        line("database", &mib(self.database_bytes), &mib(after.database_bytes));
        for ((name, before), after) in TABLES.iter().zip(&self.rows).zip(&after.rows) {
            line(name, before, after);
        }
        line("entries of 100 keys", &self.holders_entries, &after.holders_entries);
        line("bytes of events", &self.events_bytes, &after.events_bytes);
    }

    pub fn broken(&self, before: &Grown, setting: &Setting) -> Vec<String> {
        let mut broken = Vec::new();
        let grown = self.objects_bytes.saturating_sub(before.objects_bytes);
        let most = (SIZE_STORE_MIB + SIZE_STORE_FREE_MIB) * MIB * 17 / 16 + SLACK_MIB * MIB;
        if grown > most {
            broken.push(format!("objects grew by {grown} bytes, and may by {most}"));
        }
        let entries = self.holders_entries - before.holders_entries;
        if entries > 0 {
            broken.push(format!("account {}: {entries} entries for nothing", setting.holder.account_id));
        }
        broken
    }
}

/// Of a folder, with everything in it.
fn bytes_of(path: &Path) -> u64 {
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.file_type() {
            Ok(kind) if kind.is_dir() => bytes_of(&entry.path()),
            _ => entry.metadata().map_or(0, |file| file.len()),
        })
        .sum()
}
