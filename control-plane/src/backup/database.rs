//! Saves the rows of every table as lines of JSON, and restores them.
//!
//! The first line identifies the file. Then follow, for each table, a line with its name
//! and columns and a line for each row. The last line counts the rows, so that a
//! truncated file is noticed.

use super::error::BackupError;
use crate::clock::UnixMs;
use crate::db::{Database, DatabaseKind, MIGRATOR};
use futures::TryStreamExt;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sqlx::any::{AnyRow, AnyTypeInfoKind};
use sqlx::migrate::Migrator;
use sqlx::{Column, Row, ValueRef};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;

const VERSION: u32 = 1;
/// Compression level. JSON with many repeated names needs no more; higher levels take
/// longer than the database.
const LEVEL: i32 = 3;
/// Rows of one insert statement.
const ROWS_AT_ONCE: usize = 50;
/// Maximum length of a line. Rows have no long texts: receipts, the longest, are some kilobytes.
const LINE_BYTES_MAX: u64 = 16 << 20;

/// Every table of the schema. A table comes after those to which it refers.
const TABLES: [&str; 53] = [
    "accounts",
    "users",
    "identities",
    "sign_ups",
    "password_resets",
    "sessions",
    "attempts",
    "device_logins",
    "api_keys",
    "partner_secrets",
    "node_tokens",
    "signing_keys",
    "balances",
    "stripe_customers",
    "stripe_cards",
    "auto_reloads",
    "alerts",
    "payments",
    "payment_returns",
    "payment_intents",
    "webhook_events",
    "holds",
    "delivery_urls",
    "ledger_entries",
    "meter_batches",
    "deliveries",
    "usage_daily",
    "rate_windows",
    "idempotency_keys",
    "processes",
    "catalog_reload",
    "catalog_holders",
    "missing_vehicles",
    "budget",
    "budget_days",
    "budget_marks",
    "nodes",
    "new_paints",
    "renders",
    "layers",
    "looks",
    "jobs",
    "candidates",
    "candidate_layers",
    "render_decisions",
    "feedback",
    "reviews",
    "prewarm_batches",
    "prewarm_rows",
    "events",
    "event_days",
    "form_answers",
    "sign_up_counts",
];

/// A line of the file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum BackupLine {
    Backup {
        version: u32,
        /// Version of the last migration that had run.
        schema: i64,
        software: String,
        taken_at_ms: i64,
    },
    Table {
        name: String,
        columns: Vec<String>,
    },
    Row(Vec<Value>),
    End {
        rows: u64,
    },
}

/// Saves all rows as of one moment, whatever is written meanwhile. Returns the numbers of
/// tables and rows written.
#[expect(clippy::disallowed_methods, reason = "reads what is of one moment, and writes nothing")]
pub(super) async fn save(database: &Database, path: &Path, now: UnixMs) -> Result<(usize, u64), BackupError> {
    let unusable = |source| BackupError::File { path: path.to_owned(), source };
    let half_done = path.with_extension("part");
    // A file left by an earlier run has the mode and the owner of that time.
    match std::fs::remove_file(&half_done) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(unusable(error)),
        _ => {}
    }
    let mut options = File::options();
    options.write(true).create_new(true);
    // The file contains the hashes with which every key and session is checked.
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(&half_done).map_err(unusable)?;
    let mut out = zstd::Encoder::new(BufWriter::new(file), LEVEL).map_err(unusable)?;

    let mut tx = match database.kind {
        DatabaseKind::Sqlite => database.readers.begin().await?,
        DatabaseKind::Postgres => {
            database.readers.begin_with("begin isolation level repeatable read read only").await?
        }
    };
    let schema = sqlx::query_scalar("select max(version) from _sqlx_migrations").fetch_one(&mut *tx).await?;
    let software = env!("CARGO_PKG_VERSION").to_owned();
    write(&mut out, &BackupLine::Backup { version: VERSION, schema, software, taken_at_ms: now.0 })
        .map_err(unusable)?;
    let (mut tables, mut rows) = (0, 0);
    for name in TABLES {
        let sql = sqlx::AssertSqlSafe(format!("select * from {name}"));
        let mut found = sqlx::query(sql).fetch(&mut *tx);
        let mut begun = false;
        while let Some(row) = found.try_next().await? {
            if !std::mem::replace(&mut begun, true) {
                let columns = row.columns().iter().map(|column| column.name().to_owned()).collect();
                write(&mut out, &BackupLine::Table { name: name.to_owned(), columns }).map_err(unusable)?;
                tables += 1;
            }
            write(&mut out, &BackupLine::Row(values(&row)?)).map_err(unusable)?;
            rows += 1;
        }
    }
    tx.rollback().await?;
    write(&mut out, &BackupLine::End { rows }).map_err(unusable)?;
    let finished = || -> std::io::Result<()> {
        out.finish()?.into_inner().map_err(std::io::IntoInnerError::into_error)?.sync_all()?;
        std::fs::rename(&half_done, path)
    };
    finished().map_err(unusable)?;
    Ok((tables, rows))
}

fn write(out: &mut impl Write, line: &BackupLine) -> std::io::Result<()> {
    serde_json::to_writer(&mut *out, line)?;
    out.write_all(b"\n")
}

fn values(row: &AnyRow) -> Result<Vec<Value>, sqlx::Error> {
    let of = |index: usize| -> Result<Value, sqlx::Error> {
        let raw = row.try_get_raw(index)?;
        if raw.is_null() {
            return Ok(Value::Null);
        }
        Ok(match raw.type_info().kind() {
            AnyTypeInfoKind::SmallInt | AnyTypeInfoKind::Integer | AnyTypeInfoKind::BigInt => {
                row.try_get::<i64, _>(index)?.into()
            }
            AnyTypeInfoKind::Real | AnyTypeInfoKind::Double => row.try_get::<f64, _>(index)?.into(),
            _ => row.try_get::<String, _>(index)?.into(),
        })
    };
    (0..row.len()).map(of).collect()
}

/// The lines of a file, each checked when it is read.
struct Lines<'a> {
    path: &'a Path,
    text: BufReader<zstd::Decoder<'static, BufReader<File>>>,
    line: String,
}

impl<'a> Lines<'a> {
    fn open(path: &'a Path) -> Result<Self, BackupError> {
        let unusable = |source| BackupError::File { path: path.to_owned(), source };
        let text = zstd::Decoder::new(File::open(path).map_err(unusable)?).map_err(unusable)?;
        Ok(Self { path, text: BufReader::new(text), line: String::new() })
    }

    fn next(&mut self) -> Result<BackupLine, BackupError> {
        self.line.clear();
        let mut bounded = std::io::Read::take(&mut self.text, LINE_BYTES_MAX);
        bounded.read_line(&mut self.line).map_err(|error| self.damaged(error.to_string()))?;
        if self.line.is_empty() {
            return Err(self.damaged("the file ends too early".to_owned()));
        }
        serde_json::from_str(&self.line).map_err(|error| self.damaged(error.to_string()))
    }

    fn damaged(&self, detail: String) -> BackupError {
        BackupError::Damaged { path: self.path.to_owned(), detail }
    }

    /// Reads the first line and returns its schema version. Fails if the backup is
    /// newer than this program.
    fn schema(&mut self) -> Result<i64, BackupError> {
        let known = MIGRATOR.iter().map(|migration| migration.version).max().unwrap_or_default();
        match self.next()? {
            BackupLine::Backup { version: VERSION, schema, .. } if schema <= known => Ok(schema),
            BackupLine::Backup { schema, .. } => Err(BackupError::Newer { found: schema, known }),
            _ => Err(self.damaged("the file has no heading".to_owned())),
        }
    }
}

/// Reads a file to its end. Returns the digests of the masters to which its renders refer.
pub(super) fn check(path: &Path) -> Result<BTreeSet<String>, BackupError> {
    let mut lines = Lines::open(path)?;
    lines.schema()?;
    let (mut counted, mut width, mut master) = (0, None, None);
    let mut masters = BTreeSet::new();
    loop {
        match lines.next()? {
            BackupLine::Table { name, columns } => {
                width = Some(columns.len());
                let of_masters = |column: &String| name == "renders" && column == "master_sha256";
                master = columns.iter().position(of_masters);
            }
            BackupLine::Row(values) if Some(values.len()) == width => {
                counted += 1;
                masters.extend(master.and_then(|column| values[column].as_str()).map(str::to_owned));
            }
            BackupLine::End { rows } if rows == counted => return Ok(masters),
            other => return Err(lines.damaged(format!("row {counted} is followed by {other:?}"))),
        }
    }
}

/// Restores all rows or none. Returns the numbers of tables and rows inserted.
pub(super) async fn restore(database: &Database, path: &Path) -> Result<(usize, u64), BackupError> {
    let mut lines = Lines::open(path)?;
    let schema = lines.schema()?;
    prepare(database, schema).await?;
    let (mut tables, mut inserted) = (0, 0);
    let mut tx = database.begin().await?;
    // The backup contains the rows that migrations have inserted, so delete them first.
    let there = existing(&mut tx, database.kind).await?;
    for name in TABLES.iter().rev().filter(|name| there.contains(**name)) {
        sqlx::query(sqlx::AssertSqlSafe(format!("delete from {name}"))).execute(&mut *tx).await?;
    }
    let mut table: Option<RowInserter> = None;
    loop {
        let line = lines.next()?;
        if let (Some(table), BackupLine::Table { .. } | BackupLine::End { .. }) = (&mut table, &line) {
            table.flush(&mut tx).await?;
        }
        match line {
            BackupLine::Table { name, columns } => {
                let types = column_types(&mut tx, database.kind, &name).await?;
                table = Some(RowInserter::new(name, columns, &types).map_err(|detail| lines.damaged(detail))?);
                tables += 1;
            }
            BackupLine::Row(values) => {
                let table = table.as_mut().ok_or_else(|| lines.damaged("a row of no table".to_owned()))?;
                if let Some(column) = table.misfit(&values) {
                    let detail = format!("a row of `{}` has a value of another type in `{column}`", table.name);
                    return Err(lines.damaged(detail));
                }
                table.add(&mut tx, values).await?;
                inserted += 1;
            }
            BackupLine::End { .. } => break,
            BackupLine::Backup { .. } => return Err(lines.damaged("the file has two headings".to_owned())),
        }
    }
    tx.commit().await?;
    database.migrate(&MIGRATOR).await?;
    Ok((tables, inserted))
}

/// Brings an empty database to the schema of the backup. Later migrations then run over the
/// restored rows as they would have run over the old ones.
async fn prepare(database: &Database, schema: i64) -> Result<(), BackupError> {
    let mut connection = database.readers.acquire().await?;
    let tables = existing(&mut connection, database.kind).await?;
    drop(connection);
    if tables.contains("_sqlx_migrations") {
        let found: Option<i64> =
            sqlx::query_scalar("select max(version) from _sqlx_migrations").fetch_one(&database.readers).await?;
        let found = found.unwrap_or_default();
        if tables.contains("accounts") {
            let accounts = sqlx::query_scalar("select count(*) from accounts").fetch_one(&database.readers).await?;
            if accounts > 0 {
                return Err(BackupError::NotEmpty { accounts });
            }
        }
        if found > schema {
            return Err(BackupError::OtherSchema { found, wanted: schema });
        }
    }
    let until = MIGRATOR.iter().filter(|migration| migration.version <= schema).cloned().collect::<Vec<_>>();
    database.migrate(&Migrator { migrations: until.into(), ..Migrator::DEFAULT }).await?;
    Ok(())
}

async fn existing(connection: &mut sqlx::AnyConnection, kind: DatabaseKind) -> Result<BTreeSet<String>, sqlx::Error> {
    let sql = match kind {
        DatabaseKind::Sqlite => "select name from sqlite_master where type = 'table' and name not like 'sqlite_%'",
        DatabaseKind::Postgres => {
            "select table_name::text from information_schema.tables where table_schema = current_schema()"
        }
    };
    Ok(sqlx::query_scalar(sql).fetch_all(connection).await?.into_iter().collect())
}

/// The kind of values that a column accepts.
#[derive(Debug, Clone, Copy)]
enum ColumnType {
    Integer,
    Number,
    Text,
}

impl ColumnType {
    /// Returns true if a value of a backup fits such a column. Any other value would
    /// silently become null.
    fn takes(self, value: &Value) -> bool {
        value.is_null()
            || match self {
                ColumnType::Integer => value.is_i64(),
                ColumnType::Number => value.is_number(),
                ColumnType::Text => value.is_string(),
            }
    }
}

async fn column_types(
    connection: &mut sqlx::AnyConnection,
    kind: DatabaseKind,
    table: &str,
) -> Result<BTreeMap<String, ColumnType>, sqlx::Error> {
    let sql = match kind {
        DatabaseKind::Sqlite => "select name, type from pragma_table_info($1)",
        DatabaseKind::Postgres => {
            "select column_name::text, data_type::text from information_schema.columns
             where table_schema = current_schema() and table_name = $1"
        }
    };
    let rows = sqlx::query(sql).bind(table).fetch_all(connection).await?;
    let column = |row: &AnyRow| {
        let (name, text): (String, String) = (row.try_get(0)?, row.try_get(1)?);
        let text = text.to_lowercase();
        let kind = match () {
            () if text.contains("int") => ColumnType::Integer,
            () if text.contains("double") || text.contains("real") => ColumnType::Number,
            () => ColumnType::Text,
        };
        Ok((name, kind))
    };
    rows.iter().map(column).collect()
}

/// Rows to be inserted into one table.
struct RowInserter {
    name: String,
    columns: Vec<(String, ColumnType)>,
    waiting: Vec<Vec<Value>>,
}

impl RowInserter {
    fn new(name: String, columns: Vec<String>, types: &BTreeMap<String, ColumnType>) -> Result<Self, String> {
        if types.is_empty() {
            return Err(format!("its table `{name}` is not in the schema"));
        }
        let typed = |column: String| match types.get(&column) {
            Some(kind) => Ok((column, *kind)),
            None => Err(format!("table `{name}` has no column `{column}`")),
        };
        let columns = columns.into_iter().map(typed).collect::<Result<_, _>>()?;
        Ok(Self { name, columns, waiting: Vec::new() })
    }

    /// Returns the first column that does not accept its value.
    fn misfit(&self, values: &[Value]) -> Option<&str> {
        let found = self.columns.iter().zip(values).find(|((_, kind), value)| !kind.takes(value));
        found.map(|((name, _), _)| name.as_str())
    }

    async fn add(&mut self, connection: &mut sqlx::AnyConnection, values: Vec<Value>) -> Result<(), sqlx::Error> {
        self.waiting.push(values);
        if self.waiting.len() == ROWS_AT_ONCE { self.flush(connection).await } else { Ok(()) }
    }

    async fn flush(&mut self, connection: &mut sqlx::AnyConnection) -> Result<(), sqlx::Error> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let width = self.columns.len();
        let row = |index: usize| {
            let places: Vec<String> = (1..=width).map(|column| format!("${}", index * width + column)).collect();
            format!("({})", places.join(", "))
        };
        let names: Vec<&str> = self.columns.iter().map(|(name, _)| name.as_str()).collect();
        let rows: Vec<String> = (0..self.waiting.len()).map(row).collect();
        // Table and columns are the schema's own: `new` has looked them up.
        let sql = format!("insert into {} ({}) values {}", self.name, names.join(", "), rows.join(", "));
        // The statement is prepared for these values and not cached. A cached statement keeps the
        // type with which each parameter was first bound, and sqlx binds a null of a double as
        // one of a smaller float.
        let mut query = sqlx::query(sqlx::AssertSqlSafe(sql)).persistent(false);
        for (value, (_, kind)) in self.waiting.drain(..).flat_map(|row| row.into_iter().zip(&self.columns)) {
            query = match (kind, value) {
                (ColumnType::Integer, value) => query.bind(value.as_i64()),
                (ColumnType::Number, value) => query.bind(value.as_f64()),
                (ColumnType::Text, Value::String(text)) => query.bind(Some(text)),
                (ColumnType::Text, _) => query.bind(None::<String>),
            };
        }
        query.execute(connection).await.map(drop)
    }
}

#[cfg(test)]
mod tests;
