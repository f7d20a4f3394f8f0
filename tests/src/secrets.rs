//! Secrets of the tests: they are noted where they are created, and every log is searched for them.

use std::collections::BTreeSet;
use std::sync::Mutex;

static NOTED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// Members of operator answers that hold a secret.
const SECRET_MEMBERS: [&str; 3] = ["key", "token", "secret"];

/// The forms of secrets, noted or not: a prefix, and the minimum number of characters behind it.
const FORMS: [(&str, usize); 7] =
    [("cyc_", 30), ("cycn_", 30), ("cycp_", 30), ("cycd_", 30), ("cycm_", 30), ("cycpay_", 30), ("AQAAA", 45)];

/// Minimum length of a noted secret. A shorter one, such as a password that the service refuses,
/// would be found in ordinary words.
const LENGTH_MIN: usize = 8;

/// Notes a secret that no log may contain.
pub fn note(secret: &str) {
    if secret.len() < LENGTH_MIN {
        return;
    }
    NOTED.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).insert(secret.to_owned());
}

/// Notes the secrets in the answer of an operator command.
pub fn note_answer(answer: &serde_json::Value) {
    for member in SECRET_MEMBERS {
        if let Some(secret) = answer[member].as_str() {
            note(secret);
        }
    }
}

/// Returns a line of a log that holds a secret, if there is one.
pub fn leak(log: &str) -> Option<&str> {
    let noted = NOTED.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    // Searches the whole log at once, because a long run notes a thousand secrets and its log has
    // tens of thousands of lines.
    let leaked: Vec<&str> = noted.iter().map(String::as_str).filter(|secret| log.contains(secret)).collect();
    if leaked.is_empty() && !has_form(log) {
        return None;
    }
    log.lines().find(|line| has_form(line) || leaked.iter().any(|secret| line.contains(secret)))
}

fn has_form(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    FORMS.iter().any(|(start, length)| {
        text.match_indices(start).any(|(at, _)| {
            let rest = &text[at + start.len()..];
            rest.chars().take_while(|c| is_part(*c)).count() >= *length
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_found_by_their_form_and_by_their_name() {
        let key = format!("cyc_{}", "a1".repeat(19));
        let token = format!("AQAAAAE{}", "x-".repeat(22));
        note("hush-hush");
        for (line, leaks) in [
            (format!("GET /?key={key}"), true),
            (format!("{{\"path\":\"/api/v1/delivery/{token}\"}}"), true),
            ("the password is hush-hush".to_owned(), true),
            ("cyclorama cyc_... cyc_wrong AQAAAAF".to_owned(), false),
        ] {
            assert_eq!(leak(&line).is_some(), leaks, "{line}");
        }
    }
}
