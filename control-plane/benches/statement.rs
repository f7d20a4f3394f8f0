//! `make bench`: pages of the statement of an account with a million entries, on SQLite. Asserts
//! nothing.

use cyclorama::books::{self, Credits, Database, PAGE_MAX, UnixMs};
use std::time::Instant;

const ENTRIES: i64 = 1_000_000;
const TURNS: usize = 21;
const ACCOUNT: &str = "bench";

fn main() -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(run())
}

async fn run() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let database = Database::open(&format!("sqlite:{}?mode=rwc", folder.path().join("bench.db").display())).await?;
    let mut tx = database.begin().await?;
    books::open_account(&mut tx, ACCOUNT, Credits(2 * ENTRIES), "bench", UnixMs(1)).await?;
    // As the meter writes debits: one credit each, one after the other.
    let fill = "with recursive places (place) as (select 1 union all select place + 1 from places where place < $2 - 1)
        insert into ledger_entries (id, account_id, number, kind, credits, balance, reason, at_ms)
        select printf('01938e6c-0000-7000-8000-%012x', place), $1, place + 1, 'debit', -1, 2 * $2 - place,
               'honda/civic/2018, front-3-4, silver', place from places";
    sqlx::query(fill).bind(ACCOUNT).bind(ENTRIES).execute(&mut *tx).await?;
    let book = "update balances set credits = credits - ($2 - 1), entries = $2 where account_id = $1";
    sqlx::query(book).bind(ACCOUNT).bind(ENTRIES).execute(&mut *tx).await?;
    tx.commit().await?;
    anyhow::ensure!(books::verify(&database.readers).await?.is_empty(), "the ledger was verified and does not add up");

    println!("statement of an account with {ENTRIES} entries on SQLite, pages of {PAGE_MAX}: medians of {TURNS} turns");
    println!("| page | ms | to the first page |");
    println!("|---|---|---|");
    let id = |place: i64| format!("01938e6c-0000-7000-8000-{place:012x}");
    let pages = [("first", None), ("middle", Some(id(ENTRIES / 2))), ("last", Some(id(ENTRIES - 1 - PAGE_MAX)))];
    let mut first_ms = None;
    for (name, after) in pages {
        let mut times = Vec::new();
        for _ in 0..TURNS {
            let began = Instant::now();
            let lines = books::statement(&database.readers, ACCOUNT, after.as_deref(), PAGE_MAX).await?;
            times.push(began.elapsed().as_secs_f64() * 1e3);
            anyhow::ensure!(lines.len() as i64 == PAGE_MAX, "{name}: {} lines", lines.len());
        }
        let ms = median(times);
        println!("| {name} | {ms:.2} | {:.2} |", ms / *first_ms.get_or_insert(ms));
    }
    let mut times = Vec::new();
    for _ in 0..TURNS {
        let began = Instant::now();
        books::newest_entries(&database.readers, ACCOUNT, 20).await?;
        times.push(began.elapsed().as_secs_f64() * 1e3);
    }
    println!("| the newest 20 | {:.2} | |", median(times));
    Ok(())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
