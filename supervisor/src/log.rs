//! The standard error of a child, read line by line.

use std::io::{BufRead, BufReader, Read};
use std::time::Duration;
use tokio::process::ChildStderr;
use tokio::sync::oneshot;

/// Maximum time to wait for output that is still on its way when a child has ended.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// The log of one child. Dropping it closes the pipe that the child writes to.
#[derive(Debug)]
pub struct Log {
    stderr: ChildStderr,
    done: oneshot::Sender<()>,
}

/// Resolves when a log has been read to its end, or dropped.
#[derive(Debug)]
pub(crate) struct LogEnd(oneshot::Receiver<()>);

impl Log {
    pub(crate) fn new(stderr: ChildStderr) -> (Self, LogEnd) {
        let (done, ended) = oneshot::channel();
        (Self { stderr, done }, LogEnd(ended))
    }

    /// Calls `take` with each line, in pieces of at most `bytes_max` bytes, until the pipe closes.
    /// This happens on a thread, because `take` may block: the reader of our own log may stall.
    /// Returns the error if the thread cannot be started.
    pub fn pass_on(self, bytes_max: u64, take: impl FnMut(&str) + Send + 'static) -> std::io::Result<()> {
        let stderr = std::fs::File::from(self.stderr.into_owned_fd()?);
        let done = self.done;
        let pass = move || {
            each_line(stderr, bytes_max, take);
            drop(done);
        };
        std::thread::Builder::new().name("pass-on".to_owned()).spawn(pass)?;
        Ok(())
    }
}

impl LogEnd {
    /// Waits a moment for the last lines of a child that has ended.
    pub(crate) async fn last_words(self) {
        // A grandchild could hold the pipe open, and its output is not waited for.
        let _ = tokio::time::timeout(LAST_WORDS, self.0).await;
    }
}

/// Calls `take` with each line of `from`, without the white space at its end. A line longer than
/// `bytes_max` bytes is passed in several pieces.
pub fn each_line(from: impl Read, bytes_max: u64, mut take: impl FnMut(&str)) {
    let mut reader = BufReader::new(from);
    let mut line = Vec::new();
    while reader.by_ref().take(bytes_max).read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
        take(String::from_utf8_lossy(&line).trim_end());
        line.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_in_pieces_that_memory_has_room_for() {
        let mut lines = Vec::new();
        each_line("one\r\n\nlonger\n\u{e9}nd".as_bytes(), 4, |line| lines.push(line.to_owned()));
        assert_eq!(lines, ["one", "", "", "long", "er", "\u{e9}nd"]);
    }
}
