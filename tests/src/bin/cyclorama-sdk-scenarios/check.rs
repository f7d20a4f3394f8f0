//! Checks that a result is the one that a scenario expects.

use cyclorama_client::{Error, ErrorKind};
use serde_json::{Value, json};

/// Returns the member at a path such as `a.0.b`, or the whole document for an empty path.
pub fn at<'a>(document: &'a Value, path: &str) -> &'a Value {
    path.split('.').filter(|name| !name.is_empty()).fold(document, |value, name| match value {
        Value::Array(items) => &items[name.parse::<usize>().unwrap()],
        other => &other[name],
    })
}

pub fn check_error(expected: &Value, error: &Error) {
    let kind = match error.kind() {
        ErrorKind::Other | ErrorKind::File | ErrorKind::Setup => "CycloramaError".to_owned(),
        kind => format!("{kind:?}Error"),
    };
    let told = json!({
        "kind": kind,
        "status": error.status(),
        "code": error.code(),
        "request_id": error.request_id(),
        "parameter": error.parameter(),
        "index": error.index(),
        "balance": error.balance(),
        "required_credits": error.required_credits(),
        "document": error.document(),
        "retry_after_seconds": error.retry_after_seconds(),
    });
    check(expected, &told, &error.to_string());
}

pub fn check(expected: &Value, value: &Value, place: &str) {
    match expected {
        Value::Object(members) if members.contains_key("$any") => {}
        Value::Object(members) => {
            for (name, item) in members {
                match name.as_str() {
                    "$at_least" => assert!(value.as_f64() >= item.as_f64(), "{place}: {value}"),
                    "$matches" => {
                        let pattern = regex::Regex::new(item.as_str().unwrap()).unwrap();
                        assert!(value.as_str().is_some_and(|text| pattern.is_match(text)), "{place}: {value}");
                    }
                    "$length" => assert_eq!(length(value), item.as_u64(), "{place}"),
                    "$longer_than" => assert!(length(value) > item.as_u64(), "{place}: {value}"),
                    _ => check(item, &value[name], &format!("{place}.{name}")),
                }
            }
        }
        Value::Array(items) => {
            assert_eq!(length(value), Some(items.len() as u64), "{place}");
            for (number, item) in items.iter().enumerate() {
                check(item, &value[number], &format!("{place}.{number}"));
            }
        }
        plain => assert_eq!(value, plain, "{place}"),
    }
}

fn length(value: &Value) -> Option<u64> {
    value.as_array().map(|items| items.len() as u64)
}
