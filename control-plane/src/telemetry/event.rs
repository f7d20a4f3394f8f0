//! One telemetry event as it is reported and as it is stored. The module has no side effects.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Pattern of event names: short words joined by `_`, `.`, `:`, `/` or `-`.
pub const EVENT_PATTERN: &str = "^[A-Za-z0-9_.:/-]{1,64}$";
pub const SOURCES: [&str; 6] = ["web", "cli", "mcp", "api", "system", "sdk"];
/// The members of an event that are stored.
pub const MEMBERS: [&str; 8] =
    ["event", "source", "anonymous_id", "session_id", "properties", "url", "referrer", "utm"];
pub const ID_CHARS_MAX: usize = 128;
pub const URL_CHARS_MAX: usize = 2048;

/// An event as it is reported. Unknown members are left out, so that
/// newer clients can use older services.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Event {
    pub event: String,
    pub source: Option<String>,
    pub anonymous_id: Option<String>,
    pub session_id: Option<String>,
    pub properties: Option<Map<String, Value>>,
    pub url: Option<String>,
    pub referrer: Option<String>,
    pub utm: Option<BTreeMap<String, String>>,
}

/// The fault of an event: the member and what it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadEvent {
    pub member: &'static str,
    pub detail: String,
}

impl Event {
    /// Checks the event, and cuts its URLs to what may be stored: queries and
    /// fragments can hold keys and tokens.
    pub fn checked(mut self) -> Result<Self, BadEvent> {
        let bad = |member, expected: &str| Err(BadEvent { member, detail: format!("`{member}` must be {expected}") });
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"_.:/-".contains(&byte);
        if !(1..=64).contains(&self.event.len()) || !self.event.bytes().all(is_name) {
            return bad("event", "1 to 64 letters, digits, `_`, `.`, `:`, `/` or `-`");
        }
        if self.source.as_deref().is_some_and(|source| !SOURCES.contains(&source)) {
            return bad("source", &format!("one of {}", SOURCES.join(", ")));
        }
        for (member, value, chars_max) in [
            ("anonymous_id", &self.anonymous_id, ID_CHARS_MAX),
            ("session_id", &self.session_id, ID_CHARS_MAX),
            ("url", &self.url, URL_CHARS_MAX),
            ("referrer", &self.referrer, URL_CHARS_MAX),
        ] {
            if value.as_ref().is_some_and(|text| text.chars().count() > chars_max) {
                return bad(member, &format!("a text of at most {chars_max} characters"));
            }
        }
        // PostgreSQL stores no NUL in a text.
        let texts = [&mut self.anonymous_id, &mut self.session_id, &mut self.url, &mut self.referrer];
        texts.into_iter().flatten().for_each(|text| text.retain(|c| c != '\0'));
        for address in [&mut self.url, &mut self.referrer].into_iter().flatten() {
            address.truncate(address.find(['?', '#']).unwrap_or(address.len()));
            // A signed URL is a secret wherever it stands.
            if let Some(at) = address.find("/delivery/") {
                address.truncate(at + "/delivery/".len());
            }
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(event: Value) -> Result<Event, BadEvent> {
        serde_json::from_value::<Event>(event).expect("parses").checked()
    }

    #[test]
    fn addresses_are_kept_without_what_may_be_secret() {
        for (given, kept) in [
            ("https://shop.example/cars?key=cyc_x#top", "https://shop.example/cars"),
            ("https://shop.example/#token", "https://shop.example/"),
            ("https://images.example/api/v1/delivery/AQAAAAF", "https://images.example/api/v1/delivery/"),
            ("", ""),
        ] {
            let event = check(json!({ "event": "page_view", "url": given, "referrer": given })).expect("good");
            assert_eq!((event.url.as_deref(), event.referrer.as_deref()), (Some(kept), Some(kept)));
        }
    }

    #[test]
    fn wrong_members_are_named() {
        for (event, member) in [
            (json!({ "event": "" }), "event"),
            (json!({ "event": "two words" }), "event"),
            (json!({ "event": "x".repeat(65) }), "event"),
            (json!({ "event": "a", "source": "desktop" }), "source"),
            (json!({ "event": "a", "anonymous_id": "x".repeat(129) }), "anonymous_id"),
            (json!({ "event": "a", "session_id": "x".repeat(129) }), "session_id"),
            (json!({ "event": "a", "url": "x".repeat(2049) }), "url"),
        ] {
            assert_eq!(check(event).expect_err("refused").member, member);
        }
    }
}
