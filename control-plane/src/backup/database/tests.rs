//! A backup of either database restores into either database with the same values.

use super::*;
use crate::test_database::databases;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

const NOW: UnixMs = UnixMs(1_000_000);

#[tokio::test]
async fn every_table_is_in_a_backup() {
    for database in databases().await {
        let mut connection = database.readers.acquire().await.expect("a connection");
        let mut found = existing(&mut connection, database.kind).await.expect("tables");
        assert!(found.remove("_sqlx_migrations"));
        assert_eq!(found, TABLES.iter().map(|name| (*name).to_owned()).collect());
    }
}

/// Inserts enough jobs for several statements. Each nullable column is null in some rows and filled
/// in others, in every combination.
async fn add_jobs(database: &Database, count: i64) {
    let mut random = StdRng::seed_from_u64(count as u64);
    let mut tx = database.begin().await.expect("begin");
    for number in 0..count {
        let mut or_null = |value: &str| if random.random() { value.to_owned() } else { "null".to_owned() };
        let (progress, node, leased) = (or_null("0.1"), or_null("'a node'"), or_null("9007199254740993"));
        let insert = format!(
            "insert into jobs (id, kind, vehicle_key, view, vehicle, colors, revision, seed, priority, state, fence, attempt, deadline_ms,
                queued_at_ms, cost_microusd, budget_day, progress, node_id, leased_at_ms)
             values ('{number}', 'render', 'key', 'front', '{{}}', 'silver', 1, 1, 10, 'done', 1, 1, 1, 1, 0, '', {progress}, {node}, {leased})"
        );
        sqlx::query(sqlx::AssertSqlSafe(insert)).execute(&mut *tx).await.expect("inserts");
    }
    tx.commit().await.expect("commit");
}

async fn jobs(database: &Database) -> Vec<Vec<Value>> {
    let rows = sqlx::query("select * from jobs order by id").fetch_all(&database.readers).await.expect("reads");
    rows.iter().map(|row| values(row).expect("values")).collect()
}

#[tokio::test]
async fn numbers_and_nulls_in_every_mix_are_restored_from_either_database_into_either() {
    let count = 5 * ROWS_AT_ONCE as i64 + 7;
    for saved in databases().await {
        add_jobs(&saved, count).await;
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("rows");
        save(&saved, &file, NOW).await.expect("saves");
        for restored in databases().await {
            let way = format!("{:?} to {:?}", saved.kind, restored.kind);
            restore(&restored, &file).await.unwrap_or_else(|error| panic!("{way}: {error:?}"));
            let (before, after) = (jobs(&saved).await, jobs(&restored).await);
            assert_eq!(before.len() as i64, count);
            assert!(before == after, "{way}: the rows differ");
        }
    }
}

#[test]
fn a_value_of_another_type_than_its_column_is_refused() {
    for (kind, value, fits) in [
        (ColumnType::Integer, Value::Null, true),
        (ColumnType::Integer, 9_007_199_254_740_993_i64.into(), true),
        (ColumnType::Integer, 0.5.into(), false),
        (ColumnType::Integer, "1".into(), false),
        (ColumnType::Number, Value::Null, true),
        (ColumnType::Number, 0.5.into(), true),
        (ColumnType::Number, 1.into(), true),
        (ColumnType::Number, "0.5".into(), false),
        (ColumnType::Text, Value::Null, true),
        (ColumnType::Text, "a".into(), true),
        (ColumnType::Text, 1.into(), false),
        (ColumnType::Text, true.into(), false),
    ] {
        assert_eq!(kind.takes(&value), fits, "{kind:?} {value}");
    }
}
