//! Output of commands: results on standard output, notes on standard error.
//!
//! Rust's own `println!` panics when the output cannot be written, for example because `| head` has
//! read enough or a disk is full. The functions of this module return an error instead.

use std::fmt::Display;
use std::io::{self, BufWriter, ErrorKind, Write};

/// Standard output did not accept all of a result.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// The reader of the pipe has closed it, as `| head` does.
    #[error("standard output was closed before all of it was written")]
    Closed,
    #[error("standard output cannot be written")]
    Failed(#[source] io::Error),
}

impl From<io::Error> for OutputError {
    fn from(cause: io::Error) -> Self {
        match cause.kind() {
            ErrorKind::BrokenPipe => OutputError::Closed,
            _ => OutputError::Failed(cause),
        }
    }
}

/// Prints a result of one line, with a line ending. The line has left the process when
/// this function returns.
pub fn line(text: impl Display) -> Result<(), OutputError> {
    stream(|output| writeln!(output, "{text}"))
}

/// Prints a result as it is, without a line ending.
pub fn text(text: &str) -> Result<(), OutputError> {
    bytes(text.as_bytes())
}

/// Prints a binary result, such as an image.
pub fn bytes(content: &[u8]) -> Result<(), OutputError> {
    stream(|output| output.write_all(content))
}

/// Prints a long result piece by piece: `write` gets the locked and buffered standard output.
/// Nothing else can print until this function returns.
pub fn stream(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), OutputError> {
    let mut output = BufWriter::new(io::stdout().lock());
    let written = write(&mut output).and_then(|()| output.flush());
    // Dropping the buffer would try to write the rest once more after a failure, and fail again.
    let _ = output.into_parts();
    Ok(written?)
}

/// Prints a line for people on standard error, beside the result. A failure to write it is ignored,
/// because it does not make the result any worse.
pub fn note(text: impl Display) {
    let _ = prompt(text);
}

/// Prints a line on standard error that a person has to read before the command can go on. Returns
/// the error if it cannot be written.
pub fn prompt(text: impl Display) -> io::Result<()> {
    writeln!(io::stderr().lock(), "{text}")
}

/// Returns a number with its noun in the singular or plural: `1 credit`, `2 credits`.
pub fn count<Number: Display + Copy + TryInto<i64>>(number: Number, one: &str) -> String {
    match number.try_into() {
        Ok(1) => format!("1 {one}"),
        _ => format!("{number} {one}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts() {
        let told = [0, 1, 2, -1].map(|number: i64| count(number, "credit"));
        assert_eq!(told, ["0 credits", "1 credit", "2 credits", "-1 credits"]);
        assert_eq!([count(1_usize, "row"), count(u64::MAX, "row")], ["1 row", "18446744073709551615 rows"]);
    }

    #[test]
    fn a_closed_pipe_is_told_from_a_full_disk() {
        assert!(matches!(OutputError::from(io::Error::from(ErrorKind::BrokenPipe)), OutputError::Closed));
        assert!(matches!(OutputError::from(io::Error::from(ErrorKind::StorageFull)), OutputError::Failed(_)));
    }
}
