//! The journal of a batch: every request for a signed URL is written down before it is
//! sent, as one JSON document per line, and lines are only ever added. A batch that was
//! killed at any moment resumes from the journal: it repeats a request that may have been
//! charged under the same idempotency key.
//!
//! The signed URLs in the journal are as good as the images, so only its owner can read it.

use crate::cli::exit::WrongUsage;
use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// The state of a row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RowState {
    /// The signed URL is about to be requested, under the idempotency key of this attempt.
    Asked {
        attempt: u32,
        at: i64,
    },
    /// The signed URL is paid for and can be loaded.
    Minted {
        attempt: u32,
        url: String,
        request_id: String,
    },
    /// The render failed and its credit was given back. The next
    /// attempt has another idempotency key.
    GivenBack {
        attempt: u32,
    },
    Done {
        attempt: u32,
        request_id: String,
    },
    /// The request was refused, and nothing was charged.
    Refused {
        attempt: u32,
        code: String,
        detail: String,
    },
}

#[derive(Debug, Serialize, Deserialize)]
struct Heading {
    version: u32,
    /// The beginning of the batch's idempotency keys.
    batch: String,
    list_sha256: String,
    url: String,
}

#[derive(Debug, Serialize, Deserialize)]
struct JournalEntry {
    row: usize,
    state: RowState,
}

const VERSION: u32 = 1;

/// An open journal, locked against a second batch.
#[derive(Debug)]
pub struct Journal {
    file: Mutex<File>,
    batch: String,
    states: Mutex<BTreeMap<usize, RowState>>,
}

impl Journal {
    /// Opens the journal at `path` to resume its batch, or makes a new one. A journal belongs to
    /// one list and one service.
    pub fn open(path: &Path, list_sha256: &str, url: &str) -> anyhow::Result<Self> {
        let named = || format!("the journal {}", path.display());
        let mut options = File::options();
        let mut file = options.read(true).append(true).create(true).mode(0o600).open(path).with_context(named)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => bail!("another batch is running in this folder"),
            Err(TryLockError::Error(cause)) => return Err(cause).with_context(named),
        }
        let mut text = String::new();
        file.read_to_string(&mut text).with_context(named)?;
        // The batch was killed while it wrote a line without an end: the request that the line
        // announces was not sent.
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        file.set_len(whole as u64).and_then(|()| file.seek(SeekFrom::End(0))).with_context(named)?;
        let mut lines = text[..whole].lines();
        let damaged = || format!("the journal {} is damaged", path.display());
        let batch = match lines.next() {
            Some(line) => {
                let heading: Heading = serde_json::from_str(line).with_context(damaged)?;
                check(&heading, list_sha256, url)?;
                heading.batch
            }
            None => {
                let batch = uuid::Uuid::new_v4().to_string();
                let (list_sha256, url) = (list_sha256.to_owned(), url.to_owned());
                let heading = Heading { version: VERSION, batch: batch.clone(), list_sha256, url };
                write_line(&mut file, &heading).with_context(named)?;
                batch
            }
        };
        let mut states = BTreeMap::new();
        for line in lines {
            let entry: JournalEntry = serde_json::from_str(line).with_context(damaged)?;
            states.insert(entry.row, entry.state);
        }
        Ok(Journal { file: Mutex::new(file), batch, states: Mutex::new(states) })
    }

    pub fn state(&self, row: usize) -> Option<RowState> {
        self.states.lock().unwrap_or_else(PoisonError::into_inner).get(&row).cloned()
    }

    /// Sets the state of a row. The line is on the disk when the function returns.
    pub fn note(&self, row: usize, state: RowState) -> anyhow::Result<()> {
        let entry = JournalEntry { row, state };
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        write_line(&mut file, &entry).context("the journal cannot be written")?;
        self.states.lock().unwrap_or_else(PoisonError::into_inner).insert(row, entry.state);
        Ok(())
    }

    /// Returns the idempotency key of an attempt at a row. A repeated request with the same key is
    /// not charged again.
    pub fn name(&self, row: usize, attempt: u32) -> String {
        format!("{}-{row}-{attempt}", self.batch)
    }
}

fn check(heading: &Heading, list_sha256: &str, url: &str) -> Result<(), WrongUsage> {
    let elsewhere = "use another folder for a new batch";
    if heading.version != VERSION {
        return Err(WrongUsage(format!(
            "the batch in this folder was started by another version of this program; {elsewhere}"
        )));
    }
    if heading.list_sha256 != list_sha256 {
        return Err(WrongUsage(format!("the batch in this folder was started with another list; {elsewhere}")));
    }
    if heading.url != url {
        return Err(WrongUsage(format!(
            "the batch in this folder was started at {}, not at {url}; {elsewhere}",
            heading.url
        )));
    }
    Ok(())
}

fn write_line(file: &mut File, document: &impl Serialize) -> std::io::Result<()> {
    let mut line = serde_json::to_vec(document)?;
    line.push(b'\n');
    file.write_all(&line)?;
    file.sync_data()
}

#[cfg(test)]
mod tests {
    use super::*;

    const URL: &str = "http://x.example";

    #[test]
    fn a_journal_goes_on_where_it_was_cut() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("j");
        let asked = RowState::Asked { attempt: 1, at: 7 };
        let journal = Journal::open(&path, "list", URL).expect("opens");
        journal.note(3, asked.clone()).expect("notes");
        journal.note(3, RowState::Done { attempt: 1, request_id: "r".to_owned() }).expect("notes");
        journal.note(4, asked.clone()).expect("notes");
        let name = journal.name(4, 1);
        assert!(Journal::open(&path, "list", URL).is_err(), "one at a time");
        drop(journal);
        let whole = std::fs::read(&path).expect("reads");
        let last = whole[..whole.len() - 1].iter().rposition(|byte| *byte == b'\n').expect("lines") + 1;
        for cut in 0..=whole.len() {
            std::fs::write(&path, &whole[..cut]).expect("writes");
            let journal = Journal::open(&path, "list", URL).unwrap_or_else(|error| panic!("cut at {cut}: {error:#}"));
            let expected = if cut == whole.len() { Some(asked.clone()) } else { None };
            assert_eq!(journal.state(4), expected, "cut at {cut}");
            if cut >= last {
                assert_eq!(journal.state(3), Some(RowState::Done { attempt: 1, request_id: "r".to_owned() }));
                assert_eq!(journal.name(4, 1), name);
            }
            journal.note(4, asked.clone()).expect("goes on");
            drop(journal);
            assert_eq!(Journal::open(&path, "list", URL).expect("opens").state(4), Some(asked.clone()));
        }
    }

    #[test]
    fn another_list_or_service_needs_another_folder() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("j");
        drop(Journal::open(&path, "list", URL).expect("opens"));
        for (list, url, message) in [("other", URL, "another list"), ("list", "http://y.example", "http://y.example")] {
            let refused = Journal::open(&path, list, url).expect_err("refused").to_string();
            assert!(refused.contains(message), "{refused}");
        }
    }
}
