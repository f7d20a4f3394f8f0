//! What commands print: results on standard output, notes on standard error. Rust's own `println!` panics when either cannot be written, as
//! when `| head` has read enough or a disk is full; here that is a value.

use std::fmt::Display;
use std::io::{self, BufWriter, ErrorKind, Write};

/// Standard output did not take all of a result.
#[derive(Debug, thiserror::Error)]
pub enum Unprinted {
    /// Whoever read it has closed it, as `| head` does.
    #[error("standard output was closed before all of it was written")]
    Closed,
    #[error("standard output cannot be written")]
    Failed(#[source] io::Error),
}

impl From<io::Error> for Unprinted {
    fn from(cause: io::Error) -> Self {
        match cause.kind() {
            ErrorKind::BrokenPipe => Unprinted::Closed,
            _ => Unprinted::Failed(cause),
        }
    }
}

/// A line of a result. It has left the process when this returns.
pub fn line(text: impl Display) -> Result<(), Unprinted> {
    stream(|output| writeln!(output, "{text}"))
}

/// A result as it is, without an end of line.
pub fn text(text: &str) -> Result<(), Unprinted> {
    bytes(text.as_bytes())
}

/// A result that is no text, such as a picture.
pub fn bytes(content: &[u8]) -> Result<(), Unprinted> {
    stream(|output| output.write_all(content))
}

/// A long result, written by `write` piece by piece. Standard output belongs to it until it returns.
pub fn stream(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Unprinted> {
    let mut output = BufWriter::new(io::stdout().lock());
    let written = write(&mut output).and_then(|()| output.flush());
    // What is left after a failure would be tried once more when the buffer is dropped, and fail again.
    let _ = output.into_parts();
    Ok(written?)
}

/// A line for people beside the result, on standard error. Where nobody can read it, the result is none the worse.
pub fn note(text: impl Display) {
    let _ = prompt(text);
}

/// A line on standard error that a person has to read before the command can go on.
pub fn prompt(text: impl Display) -> io::Result<()> {
    writeln!(io::stderr().lock(), "{text}")
}

/// `1 credit`, `2 credits`.
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
        assert!(matches!(Unprinted::from(io::Error::from(ErrorKind::BrokenPipe)), Unprinted::Closed));
        assert!(matches!(Unprinted::from(io::Error::from(ErrorKind::StorageFull)), Unprinted::Failed(_)));
    }
}
