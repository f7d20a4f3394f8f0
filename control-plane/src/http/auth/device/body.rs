//! Reads the body of both endpoints: an object of strings as JSON, or a form.

use crate::delivery::request::kind_of;
use crate::http::error::Problem;
use crate::http::json;
use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;
use serde_json::Value;
use url::form_urlencoded;

/// Returns one field, or `None` if the body is empty or the field is left out. Fails if the field
/// is given twice or is not a string.
pub fn field(headers: &HeaderMap, body: &[u8], name: &str) -> Result<Option<String>, Problem> {
    if body.is_empty() {
        return Ok(None);
    }
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match kind.as_str() {
        "application/x-www-form-urlencoded" => form_field(body, name),
        _ => json_field(body, name),
    }
}

fn form_field(body: &[u8], name: &str) -> Result<Option<String>, Problem> {
    let mut values = form_urlencoded::parse(body).filter(|(key, _)| key == name).map(|(_, value)| value.into_owned());
    let first = values.next();
    match values.next() {
        None => Ok(first),
        Some(_) => Err(Problem::bad_parameter(name, format!("`{name}` is given more than once."))),
    }
}

fn json_field(body: &[u8], name: &str) -> Result<Option<String>, Problem> {
    let mut members = json::any_members(body)?;
    // Other members are ignored (RFC 6749, section 3.2).
    members.retain(|known, _| known == name);
    json::refuse_nulls(&members, "", &[])?;
    match members.remove(name) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => {
            let detail = format!("`{name}` must be a string, not {}.", kind_of(&other));
            Err(Problem::bad_parameter(name, detail))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_and_json() {
        for (kind, body, expected) in [
            ("application/json", r#"{"x":"a b"}"#, Ok(Some("a b"))),
            ("", r#"{"x":"a"}"#, Ok(Some("a"))),
            ("application/json", r#"{"y":1}"#, Ok(None)),
            ("application/json", "", Ok(None)),
            ("application/x-www-form-urlencoded; charset=utf-8", "y=1&x=a+b%21", Ok(Some("a b!"))),
            ("application/x-www-form-urlencoded", "x", Ok(Some(""))),
            ("application/x-www-form-urlencoded", "x=1&x=2", Err(())),
            ("application/json", r#"{"x":1}"#, Err(())),
            ("application/json", r#"{"x":null}"#, Err(())),
            ("application/json", r#"{"x":"a","x":"b"}"#, Err(())),
            ("application/json", "\u{feff}{\"x\":\"a\",\"y\":null}", Ok(Some("a"))),
            ("application/json", "[]", Err(())),
            ("application/json", "x=1", Err(())),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(CONTENT_TYPE, kind.parse().expect("a header"));
            let read = field(&headers, body.as_bytes(), "x").map_err(drop);
            assert_eq!(read, expected.map(|text| text.map(str::to_owned)), "{kind} {body}");
        }
    }
}
