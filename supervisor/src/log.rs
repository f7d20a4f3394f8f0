//! What a child writes to its standard error, line by line.

use std::io::{BufRead, BufReader, Read};
use std::time::Duration;
use tokio::process::ChildStderr;
use tokio::sync::oneshot;

/// What is still on its way when a child has ended.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// The log of one child. Dropped, it closes the pipe that the child writes to.
#[derive(Debug)]
pub struct Log {
    stderr: ChildStderr,
    done: oneshot::Sender<()>,
}

/// Resolves when a log was read to its end, or dropped.
#[derive(Debug)]
pub(crate) struct LogEnd(oneshot::Receiver<()>);

impl Log {
    pub(crate) fn new(stderr: ChildStderr) -> (Self, LogEnd) {
        let (done, ended) = oneshot::channel();
        (Self { stderr, done }, LogEnd(ended))
    }

    /// Gives each line to `take`, in pieces of at most `bytes_max`, until the pipe closes. A thread does it, as `take`
    /// may block: whoever reads our own log may stall.
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
        // A grandchild could hold the pipe open; what it says is not waited for.
        let _ = tokio::time::timeout(LAST_WORDS, self.0).await;
    }
}

/// Gives each line of `from` to `take`, without the white space at its end. Of a line longer than `bytes_max`, the rest
/// becomes the next.
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
