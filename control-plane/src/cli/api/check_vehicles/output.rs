//! The answer of a check: the list with more columns. Each block is on the disk before the next one
//! is requested. A check that was stopped resumes from its answer: each row of the answer is
//! compared with the list's, and no other file is needed.

use super::list::{ADDED, CheckList, CheckListRow};
use super::sums::StatusCounts;
use crate::cli::csv_list::{bounded_reader, harmless};
use crate::cli::exit::WrongUsage;
use crate::cli::print;
use anyhow::{Context, bail};
use csv::StringRecord;
use cyclorama_client::types::{CheckedVehicle, StoredView};
use std::fs::{File, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

pub struct Output {
    /// `None` stands for standard output.
    file: Option<File>,
    separator: u8,
}

impl Output {
    /// Opens standard output and writes the heading.
    pub fn standard(list: &CheckList) -> anyhow::Result<Self> {
        let mut output = Output { file: None, separator: list.separator() };
        output.put(&heading(list)?)?;
        Ok(output)
    }

    /// Opens a new file or one to continue. Rows of the list that the file
    /// has already are read and counted.
    pub fn open(path: &Path, list: &mut CheckList, sums: &mut StatusCounts) -> anyhow::Result<Self> {
        let named = || format!("the result {} cannot be written", path.display());
        let mut options = File::options();
        // Only the owner can read the file: a list may contain identification numbers, which tell
        // whose a vehicle is.
        let options = options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let mut file = options.open(path).with_context(named)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => bail!("another check is writing {}", path.display()),
            Err(TryLockError::Error(cause)) => return Err(cause).with_context(named),
        }
        let whole = answered(&mut file, path, list, sums)?;
        file.set_len(whole).and_then(|()| file.seek(SeekFrom::End(0))).with_context(named)?;
        let mut output = Output { file: Some(file), separator: list.separator() };
        if whole == 0 {
            output.put(&heading(list)?).with_context(named)?;
        }
        Ok(output)
    }

    /// Writes the rows with their answers. They are on the disk when the function returns.
    pub fn write(&mut self, rows: &[CheckListRow], answers: &[CheckedVehicle]) -> anyhow::Result<()> {
        let lines = rows.iter().zip(answers).map(|(row, answer)| {
            let mut line = row.given.clone();
            line.extend(added(answer));
            line
        });
        let text = text(self.separator, lines)?;
        self.put(&text).context("the result cannot be written")
    }

    fn put(&mut self, text: &[u8]) -> anyhow::Result<()> {
        match &mut self.file {
            None => Ok(print::bytes(text)?),
            Some(file) => Ok(file.write_all(text).and_then(|()| file.sync_data())?),
        }
    }
}

fn heading(list: &CheckList) -> anyhow::Result<Vec<u8>> {
    let names = list.columns().iter().cloned().chain(ADDED.map(str::to_owned));
    text(list.separator(), std::iter::once(names.collect()))
}

fn text(separator: u8, lines: impl Iterator<Item = Vec<String>>) -> anyhow::Result<Vec<u8>> {
    let mut writer = csv::WriterBuilder::new().delimiter(separator).from_writer(Vec::new());
    for line in lines {
        writer.write_record(&line)?;
    }
    Ok(writer.into_inner().map_err(|error| error.into_error())?)
}

fn added(answer: &CheckedVehicle) -> [String; ADDED.len()] {
    let given = |text: &Option<String>| harmless(&text.as_deref().unwrap_or_default().replace(['\r', '\n'], " "));
    [
        answer.status.clone(),
        given(&answer.vehicle_id),
        given(&answer.make),
        given(&answer.model),
        answer.year.map(|year| year.to_string()).unwrap_or_default(),
        answer.body.as_ref().map(ToString::to_string).unwrap_or_default(),
        given(&answer.likeness),
        given(&answer.reason),
        answer.stored.as_deref().map(stored).unwrap_or_default(),
    ]
}

/// Returns the stored images in the form `side: red white; front: silver`.
fn stored(views: &[StoredView]) -> String {
    let views = views.iter().map(|stored| {
        let colors: Vec<String> = stored.colors.iter().map(ToString::to_string).collect();
        format!("{}: {}", stored.view, colors.join(" "))
    });
    views.collect::<Vec<_>>().join("; ")
}

/// Compares the rows of an answer with those of the list. Returns how many bytes of the answer are
/// whole rows of this list.
fn answered(file: &mut File, path: &Path, list: &mut CheckList, sums: &mut StatusCounts) -> anyhow::Result<u64> {
    let heading = heading(list)?;
    let named = || format!("{} cannot be read", path.display());
    let length = file.metadata().with_context(named)?.len();
    let mut begun = Vec::new();
    Read::by_ref(file).take(heading.len() as u64).read_to_end(&mut begun).with_context(named)?;
    if begun.len() < heading.len() && heading.starts_with(&begun) {
        return Ok(0);
    }
    let another = || WrongUsage(format!("{} is not a result of this list: use another --output", path.display()));
    if begun != heading {
        return Err(another().into());
    }
    let is_cut = !ends_with_line(file).with_context(named)?;
    file.seek(SeekFrom::Start(heading.len() as u64)).with_context(named)?;
    let columns = list.columns().len();
    let (mut whole, mut record) = (heading.len() as u64, StringRecord::new());
    let mut reader = bounded_reader(list.separator(), file);
    loop {
        reader.get_mut().refill();
        // A row that was being written when the check was killed may also end
        // in the middle of a character.
        let is_read = match reader.read_record(&mut record) {
            Ok(is_read) => is_read,
            Err(error) if matches!(error.kind(), csv::ErrorKind::Utf8 { .. }) && is_cut => return Ok(whole),
            Err(_) => return Err(another().into()),
        };
        let end = heading.len() as u64 + reader.position().byte();
        // The last line may also be the beginning of a value of several lines.
        let is_whole = record.len() == columns + ADDED.len();
        if !is_read || (end == length && (is_cut || !is_whole)) {
            return Ok(whole);
        }
        let Some(row) = list.next_row()? else { return Err(another().into()) };
        let is_same = is_whole && record.iter().zip(&row.given).all(|(one, other)| one == other);
        if !is_same || !sums.count(&record[columns]) {
            let (number, path) = (sums.rows(), path.display());
            let message = format!("row {} of the list differs from {path}: use another --output", number + 1);
            return Err(WrongUsage(message).into());
        }
        whole = end;
    }
}

fn ends_with_line(file: &mut File) -> std::io::Result<bool> {
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(folder: &Path, text: &str) -> CheckList {
        let path = folder.join("list.csv");
        std::fs::write(&path, text).expect("writes");
        CheckList::open(&path, &[]).expect("reads")
    }

    fn answer(status: &str) -> CheckedVehicle {
        let document = serde_json::json!({ "index": 0, "status": status, "reason": "no, \"not\"\nthis one" });
        serde_json::from_value(document).expect("an answer")
    }

    #[test]
    fn an_answer_that_was_cut_anywhere_goes_on_and_is_the_same_in_the_end() {
        let folder = tempfile::tempdir().expect("a folder");
        let text = "query;vin\n\"a; \"\"b\"\"\nc\";\nné;1\nx;2\n";
        let path = folder.path().join("answer.csv");
        let all = |path: &Path| {
            let (mut list, mut sums) = (list(folder.path(), text), StatusCounts::default());
            let mut output = Output::open(path, &mut list, &mut sums).expect("opens");
            let known = sums.rows();
            while let Some(row) = list.next_row().expect("reads") {
                output.write(&[row], &[answer("miss")]).expect("writes");
            }
            known
        };
        assert_eq!(all(&path), 0);
        let whole = std::fs::read(&path).expect("reads");
        assert_eq!(all(&path), 3, "nothing is left to do");
        let mut known = 0;
        for cut in 0..=whole.len() {
            std::fs::write(&path, &whole[..cut]).expect("writes");
            let rows = all(&path);
            assert!(rows >= known, "cut at {cut}");
            known = rows;
            assert_eq!(std::fs::read(&path).expect("reads"), whole, "cut at {cut}");
        }
    }

    #[test]
    fn the_answer_of_another_list_is_left_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("answer.csv");
        let open =
            |text: &str| Output::open(&path, &mut list(folder.path(), text), &mut StatusCounts::default()).map(drop);
        let (mut rows, mut sums) = (list(folder.path(), "query\na\nb\n"), StatusCounts::default());
        let mut output = Output::open(&path, &mut rows, &mut sums).expect("opens");
        let both = rows.next_block().expect("reads");
        output.write(&both, &[answer("match"), answer("miss")]).expect("writes");
        assert!(open("query\na\nb\n").expect_err("is locked").to_string().contains("another check"));
        drop(output);
        let whole = std::fs::read(&path).expect("reads");
        for (text, message) in [
            ("query\na\nc\n", "row 2 of the list"),
            ("query\na\n", "another --output"),
            ("query;vin\na;\nb;\n", "another --output"),
        ] {
            let refused = open(text).expect_err(text);
            assert!(refused.is::<WrongUsage>() && refused.to_string().contains(message), "{text:?}: {refused}");
            assert_eq!(std::fs::read(&path).expect("reads"), whole, "{text:?}");
        }
        open("query\na\nb\nmore\n").expect("a list that grew is gone on with");
    }
}
