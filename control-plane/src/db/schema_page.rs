//! `docs/schema.md` against the schema as the migrations leave it, on SQLite and on PostgreSQL.
//!
//! Names, types, keys, checks and indexes of the page come from the databases. What a table or
//! column means is written by hand on the page itself and kept when the page is written again:
//! `CYCLORAMA_UPDATE_SCHEMA=1 cargo test --workspace --locked --lib schema_page`.

use super::{Database, DatabaseKind};
use crate::test_database;
use sqlx::Row;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/schema.md");
const WIDTH: usize = 100;
/// Placeholder for a meaning that is not written yet.
const NO_MEANING: &str = "?";

struct TableSchema {
    name: String,
    columns: Vec<Column>,
    primary_key: Vec<String>,
    /// SQL of checks and of keys over several columns.
    constraints: Vec<String>,
    /// `name on table (columns) where ...`, `unique` first where it is one.
    indexes: Vec<String>,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Column {
    name: String,
    sql_type: String,
    not_null: bool,
}

/// Columns by table as PostgreSQL has them, in their order.
async fn columns_of_postgres(database: &Database) -> BTreeMap<String, Vec<Column>> {
    let sql = "select table_name::text as table_name, column_name::text as name, data_type::text as sql_type,
               is_nullable::text as nullable
        from information_schema.columns where table_schema = current_schema()
        order by table_name, ordinal_position";
    let mut tables: BTreeMap<String, Vec<Column>> = BTreeMap::new();
    for row in sqlx::query(sql).fetch_all(&database.readers).await.expect("PostgreSQL's columns") {
        let column = Column {
            name: row.get("name"),
            sql_type: row.get("sql_type"),
            not_null: row.get::<String, _>("nullable") == "NO",
        };
        tables.entry(row.get("table_name")).or_default().push(column);
    }
    tables.remove("_sqlx_migrations");
    tables
}

async fn tables_of_sqlite(database: &Database) -> Vec<TableSchema> {
    let sql = "select name, sql from sqlite_master where type = 'table' and name not like 'sqlite_%'
        and name <> '_sqlx_migrations' order by name";
    let mut tables = Vec::new();
    for row in sqlx::query(sql).fetch_all(&database.readers).await.expect("SQLite's tables") {
        let (name, sql): (String, String) = (row.get("name"), row.get("sql"));
        let info = sqlx::query(
            "select name, lower(type) as sql_type, \"notnull\" as not_null, pk from pragma_table_info($1) order by cid",
        );
        let rows = info.bind(&name).fetch_all(&database.readers).await.expect("a table's columns");
        let mut keys: Vec<(i64, String)> = rows.iter().map(|row| (row.get("pk"), row.get("name"))).collect();
        keys.retain(|(position, _)| *position > 0);
        keys.sort();
        let columns = rows.iter().map(|row| Column {
            name: row.get("name"),
            sql_type: row.get("sql_type"),
            // SQLite does not say so of a primary key, PostgreSQL does.
            not_null: row.get::<i64, _>("not_null") == 1 || row.get::<i64, _>("pk") > 0,
        });
        let indexes =
            "select sql from sqlite_master where type = 'index' and sql is not null and tbl_name = $1 order by name";
        let indexes = sqlx::query(indexes).bind(&name).fetch_all(&database.readers).await.expect("a table's indexes");
        tables.push(TableSchema {
            columns: columns.collect(),
            primary_key: keys.into_iter().map(|(_, name)| name).collect(),
            constraints: constraints(&sql),
            indexes: indexes.iter().map(|row| plain_sql(row.get("sql"))).collect(),
            name,
        });
    }
    tables
}

/// SQL without comments and line breaks.
fn plain_sql(sql: &str) -> String {
    let lines = sql.lines().map(|line| line.split("--").next().unwrap_or_default());
    let words = lines.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ");
    words.replace("( ", "(").replace(" )", ")")
}

/// The references, checks, defaults and keys of a `create table` statement: every part between its
/// outer commas that is more than a name, a type and `not null`.
fn constraints(sql: &str) -> Vec<String> {
    let sql = plain_sql(sql);
    let inside = sql.split_once('(').and_then(|(_, rest)| rest.rsplit_once(')')).map_or("", |(inside, _)| inside);
    let mut depth = 0;
    let mut parts = vec![String::new()];
    for letter in inside.chars() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        parts.last_mut().expect("begins with one").push(letter);
    }
    let says_more = |part: &String| {
        let words: Vec<&str> = part.split(' ').skip(2).collect();
        !matches!(words[..], [] | ["not", "null"] | ["primary", "key"] | ["primary", "key", "not", "null"])
    };
    parts.iter().map(|part| part.trim().to_owned()).filter(says_more).collect()
}

/// Splits the page into its text before the first table, and the meaning of each table (key
/// `table`) and column (key `table.column`).
fn meanings(page: &str) -> (String, BTreeMap<String, String>) {
    let mut parts = page.split("\n## ");
    let head = parts.next().unwrap_or_default().to_owned();
    let mut found = BTreeMap::new();
    for part in parts {
        let (name, text) = part.split_once('\n').unwrap_or((part, ""));
        let mut blocks = text.trim().splitn(2, "\n\n");
        let joined = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        found.insert(name.to_owned(), joined(blocks.next().unwrap_or_default()));
        let columns = blocks.next().unwrap_or_default().split("\n\n").next().unwrap_or_default();
        for line in columns.split("- `").skip(1) {
            let line = joined(line);
            if let Some(((column, _), meaning)) =
                line.split_once(": ").and_then(|(facts, meaning)| Some((facts.split_once('`')?, meaning)))
            {
                found.insert(format!("{name}.{column}"), meaning.to_owned());
            }
        }
    }
    (head, found)
}

/// Breaks a text into lines of at most [`WIDTH`] characters and indents all but the first by
/// `indent`.
fn wrapped(text: &str, indent: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("begins with one");
        if !line.trim().is_empty() && line.chars().count() + 1 + word.chars().count() > WIDTH {
            lines.push(format!("{indent}{word}"));
        } else {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines.join("\n")
}

fn page(head: &str, tables: &[TableSchema], meanings: &BTreeMap<String, String>) -> String {
    let mut page = format!("{}\n", head.trim_end());
    let meaning = |name: &str| meanings.get(name).map_or(NO_MEANING, String::as_str);
    for TableSchema { name, columns, primary_key, constraints, indexes } in tables {
        write!(page, "\n## {name}\n\n{}\n\n", wrapped(meaning(name), "")).expect("text grows");
        for Column { name: column, sql_type, not_null } in columns {
            let key = if primary_key == std::slice::from_ref(column) { ", primary key" } else { "" };
            let null = if *not_null { "" } else { ", may be null" };
            let line = format!("- `{column}` {sql_type}{key}{null}: {}", meaning(&format!("{name}.{column}")));
            writeln!(page, "{}", wrapped(&line, "  ")).expect("text grows");
        }
        let rules: Vec<&String> = constraints.iter().chain(indexes).collect();
        if !rules.is_empty() {
            page.push_str("\nRules and indexes:\n\n");
            for rule in rules {
                writeln!(page, "{}", wrapped(&format!("- `{rule}`"), "  ")).expect("text grows");
            }
        }
    }
    page
}

#[tokio::test]
#[expect(
    clippy::disallowed_methods,
    reason = "a variable of the person who runs the test, not a setting of the service"
)]
async fn the_page_says_what_the_schema_is() {
    let databases = test_database::databases().await;
    let of_kind = |kind| databases.iter().find(|database| database.kind == kind).expect("one of each kind");
    let tables = tables_of_sqlite(of_kind(DatabaseKind::Sqlite)).await;
    let mut of_postgres = columns_of_postgres(of_kind(DatabaseKind::Postgres)).await;
    for table in &tables {
        // Columns that a later migration added may stand in another order.
        let of_postgres = of_postgres.remove(&table.name).unwrap_or_default();
        let [ours, theirs] = [&table.columns, &of_postgres].map(|columns| columns.iter().collect::<BTreeSet<_>>());
        assert_eq!(ours, theirs, "{} differs between the two databases", table.name);
    }
    assert!(of_postgres.is_empty(), "tables that only PostgreSQL has: {:?}", of_postgres.keys());

    let today = std::fs::read_to_string(PAGE).unwrap_or_default();
    let (head, meanings) = meanings(&today);
    let page = page(&head, &tables, &meanings);
    if std::env::var_os("CYCLORAMA_UPDATE_SCHEMA").is_some() {
        std::fs::write(PAGE, &page).expect("the page can be written");
    } else {
        assert_eq!(today, page, "docs/schema.md is not the schema: write it again with CYCLORAMA_UPDATE_SCHEMA=1");
    }
    for table in &tables {
        let columns = table.columns.iter().map(|column| format!("{}.{}", table.name, column.name));
        for name in std::iter::once(table.name.clone()).chain(columns) {
            assert!(
                meanings.get(&name).is_some_and(|meaning| meaning != NO_MEANING),
                "say in docs/schema.md what {name} means"
            );
        }
    }
}
