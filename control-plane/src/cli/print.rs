//! Prints answers on standard output: JSON for programs, lines for people. Everything that a
//! command prints goes through this module.

pub use cyclorama_core::output::{OutputError, bytes, count, line, note, prompt, stream, text};
use serde_json::Value;

pub fn answer(answer: &Value, as_json: bool) -> Result<(), OutputError> {
    if as_json { line(answer) } else { text(&lines(answer, 0)) }
}

/// Something was made or bought, but could not be printed. The command then fails, even if the
/// reader closed the output.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
pub struct UnprintedOutput {
    pub what: String,
    #[source]
    pub cause: OutputError,
}

/// Formats a value as `name: value` lines, with lists as blocks and nested values indented.
fn lines(value: &Value, indent: usize) -> String {
    let pad = " ".repeat(indent);
    match value {
        Value::Object(members) => members
            .iter()
            .map(|(name, value)| match value {
                Value::Array(items) if items.is_empty() => format!("{pad}{name}: none\n"),
                Value::Object(_) | Value::Array(_) => format!("{pad}{name}:\n{}", lines(value, indent + 2)),
                plain => format!("{pad}{name}: {}\n", plain_text(plain)),
            })
            .collect(),
        Value::Array(items) => items.iter().map(|item| lines(item, indent)).collect::<Vec<_>>().join("\n"),
        plain => format!("{pad}{}\n", plain_text(plain)),
    }
}

fn plain_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "-".to_owned(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::lines;
    use serde_json::json;

    #[test]
    fn people_get_lines() {
        let given = json!({ "day": "2026-11-21", "none": null, "nodes": [{ "id": "a" }, { "id": "b" }], "empty": [] });
        assert_eq!(lines(&given, 0), "day: 2026-11-21\nnone: -\nnodes:\n  id: a\n\n  id: b\nempty: none\n");
    }
}
