//! Cleans text from outside that is stored and shown: it must not contain NUL, which PostgreSQL
//! does not accept in text. The text that nodes send about themselves must not contain other
//! control characters either, which would move the cursor of a terminal that lists the nodes.

use std::borrow::Cow;

/// Replaces a character that cannot be stored.
const REPLACEMENT: char = '\u{fffd}';

/// NUL as JSON escapes it, and the replacement, which has the same length.
const ESCAPED_NUL: &[u8] = b"\\u0000";
const ESCAPED_REPLACEMENT: &[u8] = b"\\ufffd";

/// Returns true if a name may be stored as it is.
pub fn is_readable(text: &str) -> bool {
    !text.chars().any(char::is_control)
}

/// Returns a message in the form in which it may be stored: at most `chars_max` characters, and no
/// control characters except line feeds and tabs.
pub fn readable(text: &str, chars_max: usize) -> String {
    let kept = |c: char| if c.is_control() && !matches!(c, '\n' | '\t') { REPLACEMENT } else { c };
    text.chars().take(chars_max).map(kept).collect()
}

/// Returns true if a string of a JSON document contains NUL.
pub fn escapes_nul(json: &[u8]) -> bool {
    next_escaped_nul(json, 0).is_some()
}

/// Returns the same document with NUL replaced by another character.
pub fn without_escaped_nul(json: &[u8]) -> Cow<'_, [u8]> {
    let Some(first) = next_escaped_nul(json, 0) else { return Cow::Borrowed(json) };
    let (mut text, mut next) = (json.to_vec(), Some(first));
    while let Some(at) = next {
        text[at..at + ESCAPED_NUL.len()].copy_from_slice(ESCAPED_REPLACEMENT);
        next = next_escaped_nul(&text, at);
    }
    Cow::Owned(text)
}

/// Returns the position of the next escaped NUL. A backslash that is itself
/// escaped begins no escape.
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
