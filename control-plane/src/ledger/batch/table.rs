//! Inserts of many rows in one statement, for tables to which rows are only added.

use crate::db::{DatabaseKind, Tx};
use sqlx::Arguments;
use sqlx::any::AnyArguments;
use std::sync::OnceLock;

pub(super) enum Value<'e> {
    Text(&'e str),
    Owned(String),
    Number(i64),
    NoText,
    NoNumber,
}

impl<'e> Value<'e> {
    pub fn text_or_null(text: Option<&'e str>) -> Self {
        text.map_or(Value::NoText, Value::Text)
    }
}

/// Sizes of the groups of rows that one statement inserts. There are few distinct statement texts,
/// so that connections keep them prepared, and few statements for any number of rows.
const GROUPS: [usize; 8] = [128, 64, 32, 16, 8, 4, 2, 1];

/// A table to which rows are only added, many at once, with its prepared statement texts.
pub(super) struct GrowingTable {
    name: &'static str,
    columns: &'static [&'static str],
    /// Statement texts by database, then by [`GROUPS`]; each is written at its first use.
    texts: [[OnceLock<String>; GROUPS.len()]; 2],
}

impl GrowingTable {
    pub const fn new(name: &'static str, columns: &'static [&'static str]) -> Self {
        GrowingTable { name, columns, texts: [const { [const { OnceLock::new() }; GROUPS.len()] }; 2] }
    }

    /// Inserts rows. Each row has a value for every column, in the order of the columns.
    pub async fn insert(
        &'static self,
        tx: &mut Tx<'_>,
        kind: DatabaseKind,
        rows: Vec<Vec<Value<'_>>>,
    ) -> Result<(), sqlx::Error> {
        let mut rows = rows.into_iter();
        while rows.len() > 0 {
            let group = GROUPS.iter().position(|size| *size <= rows.len()).unwrap_or(GROUPS.len() - 1);
            let mut arguments = AnyArguments::default();
            for value in rows.by_ref().take(GROUPS[group]).flatten() {
                match value {
                    Value::Text(text) => arguments.add(text),
                    Value::Owned(text) => arguments.add(text),
                    Value::Number(number) => arguments.add(number),
                    Value::NoText => arguments.add(None::<String>),
                    Value::NoNumber => arguments.add(None::<i64>),
                }
                .map_err(sqlx::Error::Encode)?;
            }
            sqlx::query_with(self.text(kind, group), arguments).execute(&mut **tx).await?;
        }
        Ok(())
    }

    fn text(&'static self, kind: DatabaseKind, group: usize) -> &'static str {
        let [sqlite, postgres] = &self.texts;
        let texts = match kind {
            DatabaseKind::Sqlite => sqlite,
            DatabaseKind::Postgres => postgres,
        };
        texts[group].get_or_init(|| {
            let columns = self.columns.len();
            let place = |number: usize| match kind {
                // SQLite looks up every numbered parameter by its name when a value is bound, so
                // the time grows with the square of their number.
                DatabaseKind::Sqlite => "?".to_owned(),
                DatabaseKind::Postgres => format!("${number}"),
            };
            let row = |row: usize| {
                let places: Vec<String> = (1..=columns).map(|column| place(row * columns + column)).collect();
                format!("({})", places.join(", "))
            };
            let rows: Vec<String> = (0..GROUPS[group]).map(row).collect();
            format!("insert into {} ({}) values {}", self.name, self.columns.join(", "), rows.join(", "))
        })
    }
}
