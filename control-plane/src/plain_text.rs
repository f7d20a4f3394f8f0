//! Text from outside that is kept and shown: no NUL, which PostgreSQL takes for no text, and in what nodes say of themselves no other control
//! characters either, which would move the cursor of whoever lists them in a terminal.

use std::borrow::Cow;

/// What stands for a character that cannot be kept.
const REPLACEMENT: char = '\u{fffd}';

/// NUL as JSON writes it, and the replacement, which is as long.
const ESCAPED_NUL: &[u8] = b"\\u0000";
const ESCAPED_REPLACEMENT: &[u8] = b"\\ufffd";

/// Whether a name may be kept as it is.
pub fn is_readable(text: &str) -> bool {
    !text.chars().any(char::is_control)
}

/// A message as it may be kept: at most so many characters, and of control characters only the ends of lines and tabs.
pub fn readable(text: &str, chars_max: usize) -> String {
    let kept = |c: char| if c.is_control() && !matches!(c, '\n' | '\t') { REPLACEMENT } else { c };
    text.chars().take(chars_max).map(kept).collect()
}

/// Whether a string of a JSON document holds NUL.
pub fn escapes_nul(json: &[u8]) -> bool {
    next_escaped_nul(json, 0).is_some()
}

/// The same document with another character in the place of NUL.
pub fn without_escaped_nul(json: &[u8]) -> Cow<'_, [u8]> {
    let Some(first) = next_escaped_nul(json, 0) else { return Cow::Borrowed(json) };
    let (mut text, mut next) = (json.to_vec(), Some(first));
    while let Some(at) = next {
        text[at..at + ESCAPED_NUL.len()].copy_from_slice(ESCAPED_REPLACEMENT);
        next = next_escaped_nul(&text, at);
    }
    Cow::Owned(text)
}

/// Where the next one begins. A backslash that is itself escaped begins nothing.
fn next_escaped_nul(json: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    while at < json.len() {
        match json[at] {
            b'\\' if json[at..].starts_with(ESCAPED_NUL) => return Some(at),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_kept_is_replaced() {
        for (text, expected) in [
            ("out of memory", "out of memory"),
            ("a\0b", "a\u{fffd}b"),
            ("two\nlines\tof it", "two\nlines\tof it"),
            ("\u{1b}[2Jgone", "\u{fffd}[2Jgone"),
            ("bell\u{7}, c1 \u{9b}, delete \u{7f}", "bell\u{fffd}, c1 \u{fffd}, delete \u{fffd}"),
            ("grün 赤 🚗", "grün 赤 🚗"),
            ("cut after twenty-eight characters", "cut after twenty-eight chara"),
        ] {
            assert_eq!(readable(text, 28), expected);
            assert_eq!(is_readable(text), text.chars().all(|c| !c.is_control()), "{text:?}");
        }
    }

    #[test]
    fn nul_is_found_where_json_means_it() {
        for (json, expected) in [
            (r#"{"a": "b"}"#, r#"{"a": "b"}"#),
            (r#"{"a": "\u0000"}"#, r#"{"a": "\ufffd"}"#),
            (r#"{"\u0000\u0000": "x\u0000y"}"#, r#"{"\ufffd\ufffd": "x\ufffdy"}"#),
            (r#"{"a": "\\u0000"}"#, r#"{"a": "\\u0000"}"#),
            (r#"{"a": "\\\u0000"}"#, r#"{"a": "\\\ufffd"}"#),
            (r#"{"a": "\\\\u0000"}"#, r#"{"a": "\\\\u0000"}"#),
            (r#"{"a": "\u00001"}"#, r#"{"a": "\ufffd1"}"#),
            (r#"{"a": "\u0001"}"#, r#"{"a": "\u0001"}"#),
            (r#"{"a": "\"#, r#"{"a": "\"#),
            ("", ""),
        ] {
            assert_eq!(without_escaped_nul(json.as_bytes()), expected.as_bytes(), "{json}");
            assert_eq!(escapes_nul(json.as_bytes()), json != expected, "{json}");
        }
    }
}
