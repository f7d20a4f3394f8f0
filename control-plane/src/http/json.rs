//! Reads every JSON body that is sent to the service, by one set of rules.
//!
//! A byte order mark before the text is skipped (RFC 8259, section 8.1). A member that occurs twice
//! in an object is refused: parsers disagree on which of the two holds, and the client would pay
//! for the wrong one. JSON has one kind of number, so `4.0` and `4e0` are the whole number 4. A
//! member that is null is refused too, except where null is a value: unknown values are left out.
//! Every refusal names the member by its path, such as `images[2].year`.
//!
//! Why: `docs/decisions/api.md` (Duplicate members in a JSON object).

use super::error::Problem;
use serde::de::{DeserializeOwned, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use std::fmt;

/// Largest number up to which all whole numbers are exact as 64-bit floating-point numbers: 2^53.
const EXACT_MAX: f64 = 9_007_199_254_740_992.0;

/// Maximum number of characters that a refusal repeats of a name or a value.
const SHOWN_CHARS_MAX: usize = 40;

/// The reason why a body is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BadJson {
    /// The text is not JSON; the reason follows.
    Syntax(String),
    /// A member is wrong. `path` is its path, and `detail` is a sentence that names the member.
    Member { path: String, detail: String },
    /// The body as a whole is wrong; the text is a complete sentence.
    Body(String),
}

impl BadJson {
    /// Returns the refusal of a member. `wrong` continues the sentence after the member's path,
    /// such as "is required".
    pub fn member(path: impl Into<String>, wrong: impl fmt::Display) -> Self {
        let path = path.into();
        BadJson::Member { detail: format!("`{path}` {wrong}."), path }
    }

    /// Returns the problem for one item of a list. `at` is the item's path in the body, which is
    /// cut from the member's path. `parameter` of the problem names the member within the item, and
    /// `index` is the item's place in the list.
    pub fn of_item(self, at: &str, index: usize) -> Problem {
        match self {
            BadJson::Member { path, detail } => {
                let member = path.strip_prefix(at).unwrap_or(&path).trim_start_matches('.');
                let list = at.split('[').next().unwrap_or_default();
                Problem::bad_parameter(if member.is_empty() { list } else { member }, detail).with("index", index)
            }
            other => Problem::from(other).with("index", index),
        }
    }

    /// Returns the problem for a body with a list of items. If one of the items is wrong, the
    /// problem names its member and its place in the list.
    pub fn with_items(self, list: &str) -> Problem {
        let place = match &self {
            BadJson::Member { path, .. } => {
                let rest = path.strip_prefix(list).and_then(|rest| rest.strip_prefix('['));
                rest.and_then(|rest| rest.split_once(']')).and_then(|(index, _)| index.parse::<usize>().ok())
            }
            _ => None,
        };
        match place {
            Some(index) => self.of_item(&format!("{list}[{index}]"), index),
            None => self.into(),
        }
    }
}

impl fmt::Display for BadJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BadJson::Syntax(why) => write!(f, "The body is not JSON: {why}."),
            BadJson::Member { detail, .. } | BadJson::Body(detail) => f.write_str(detail),
        }
    }
}

impl From<BadJson> for Problem {
    fn from(bad: BadJson) -> Self {
        let detail = bad.to_string();
        match bad {
            BadJson::Syntax(_) => Problem::bad_request("invalid_json", detail),
            BadJson::Body(_) => Problem::bad_request("invalid_parameter", detail),
            BadJson::Member { path, .. } => Problem::bad_parameter(&path, detail),
        }
    }
}

/// Parses a JSON text.
pub fn value(text: &[u8]) -> Result<Value, BadJson> {
    let text = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text);
    if text.iter().all(u8::is_ascii_whitespace) {
        return Err(BadJson::Syntax("it is empty".to_owned()));
    }
    let mut reader = serde_json::Deserializer::from_slice(text);
    let read = serde_path_to_error::deserialize::<_, Read>(&mut reader);
    let Read(value) = read.map_err(|error| {
        let parent = path_of(error.path());
        match error.inner().to_string().strip_prefix(TWICE) {
            Some(rest) => {
                let name = rest.rsplit_once(" at line").map_or(rest, |(name, _)| name);
                BadJson::member(below(&parent, name), "is given more than once")
            }
            None => BadJson::Syntax(error.into_inner().to_string()),
        }
    })?;
    reader.end().map_err(|error| BadJson::Syntax(error.to_string()))?;
    Ok(value)
}

/// Returns the members of a body that is an object.
pub fn any_members(text: &[u8]) -> Result<Map<String, Value>, BadJson> {
    match value(text)? {
        Value::Object(members) => Ok(members),
        _ => Err(BadJson::Body("The body is not a JSON object.".to_owned())),
    }
}

/// Returns the members of a body that is an object, and refuses null. `free` names the members in
/// which null is a value.
pub fn members(text: &[u8], free: &[&str]) -> Result<Map<String, Value>, BadJson> {
    let members = any_members(text)?;
    refuse_nulls(&members, "", free)?;
    Ok(members)
}

/// Reads a body that is an object as `T`. `free` names the members in which null is a value.
pub fn read<T: DeserializeOwned>(text: &[u8], free: &[&str]) -> Result<T, BadJson> {
    fit(members(text, free)?, "")
}

/// Like [`read`], for the node protocol, whose members may be null as well as absent: nodes are
/// other people's programs.
pub fn read_with_nulls<T: DeserializeOwned>(text: &[u8]) -> Result<T, BadJson> {
    fit(any_members(text)?, "")
}

/// Reads members as `T`. `at` is the path of the object in the body.
pub fn fit<T: DeserializeOwned>(members: Map<String, Value>, at: &str) -> Result<T, BadJson> {
    serde_path_to_error::deserialize(Value::Object(members)).map_err(|error| {
        let path = below(at, &path_of(error.path()));
        told(&path, &error.into_inner().to_string())
    })
}

/// Refuses members that are null, also those of nested objects. `at` is
/// the path of the object in the body.
pub fn refuse_nulls(members: &Map<String, Value>, at: &str, free: &[&str]) -> Result<(), BadJson> {
    for (name, value) in members.iter().filter(|(name, _)| !free.contains(&name.as_str())) {
        refuse_null(value, &below(at, &shortened(name)), free)?;
    }
    Ok(())
}

fn refuse_null(value: &Value, path: &str, free: &[&str]) -> Result<(), BadJson> {
    match value {
        Value::Null => Err(null(path)),
        Value::Object(members) => refuse_nulls(members, path, free),
        Value::Array(items) => {
            items.iter().enumerate().try_for_each(|(index, item)| refuse_null(item, &format!("{path}[{index}]"), free))
        }
        _ => Ok(()),
    }
}

/// Returns the refusal of a body with a text that holds NUL. If the body can be parsed, the refusal
/// names the member, and the item's place if it is in a list.
pub fn nul_in(text: &[u8]) -> Problem {
    let path = value(text).ok().and_then(|value| path_of_nul(&value, ""));
    let Some(path) = path.filter(|path| !path.is_empty()) else {
        return Problem::bad_request("invalid_text", "A text of the body contains the character NUL (`\\u0000`).");
    };
    let problem = Problem::bad_request("invalid_text", format!("`{path}` contains the character NUL (`\\u0000`)."));
    let index = path.split_once('[').and_then(|(_, rest)| rest.split_once(']')?.0.parse::<usize>().ok());
    let problem = problem.with("parameter", path);
    index.into_iter().fold(problem, |problem, index| problem.with("index", index))
}

/// Returns the path of the first member whose name or text holds NUL. The path is empty for a text
/// that is the whole body.
pub fn path_of_nul(value: &Value, path: &str) -> Option<String> {
    match value {
        Value::String(text) => text.contains('\0').then(|| path.to_owned()),
        Value::Array(items) => {
            items.iter().enumerate().find_map(|(index, item)| path_of_nul(item, &format!("{path}[{index}]")))
        }
        Value::Object(members) => members.iter().find_map(|(name, value)| {
            let path = below(path, &shortened(name).replace('\0', "\u{fffd}"));
            if name.contains('\0') { Some(path) } else { path_of_nul(value, &path) }
        }),
        _ => None,
    }
}

fn null(path: &str) -> BadJson {
    BadJson::member(path, "must not be null: leave it out instead")
}

/// Returns the path of `member` in the object at `at`.
pub fn below(at: &str, member: &str) -> String {
    match (at, member) {
        ("", member) => member.to_owned(),
        (at, "") => at.to_owned(),
        (at, member) if member.starts_with('[') => format!("{at}{member}"),
        (at, member) => format!("{at}.{member}"),
    }
}

/// Returns the beginning of a name or a value, as refusals repeat it.
pub fn shortened(text: &str) -> String {
    text.chars().take(SHOWN_CHARS_MAX).collect()
}

fn path_of(path: &serde_path_to_error::Path) -> String {
    match path.to_string() {
        root if root == "." => String::new(),
        // The path ends in `?` where the parser stopped before it knew the member's name.
        path => path.trim_end_matches('?').trim_end_matches('.').to_owned(),
    }
}

/// Translates an error message of serde about a member into the words of the API.
fn told(path: &str, said: &str) -> BadJson {
    let quoted = |lead: &str| said.strip_prefix(lead)?.split_once('`').map(|(name, rest)| (name.to_owned(), rest));
    if let Some((name, _)) = quoted("missing field `") {
        return BadJson::member(below(path, &name), "is required");
    }
    if let Some((name, rest)) = quoted("unknown field `") {
        // The path already ends in the name of the unknown member.
        let parent = path.strip_suffix(name.as_str()).map_or(path, |parent| parent.trim_end_matches('.'));
        let path = below(parent, &shortened(&name));
        let known: Vec<&str> = rest.split('`').skip(1).step_by(2).collect();
        let known = match known.is_empty() {
            true => "none".to_owned(),
            false => known.join(", "),
        };
        let of = if parent.is_empty() { "this body".to_owned() } else { format!("`{parent}`") };
        return BadJson::member(path, format!("is not a member of {of}, which takes {known}"));
    }
    if let Some((name, rest)) = quoted("unknown variant `") {
        let known: Vec<&str> = rest.split('`').skip(1).step_by(2).collect();
        let detail = format!("`{path}`: `{}` is not one of {}.", shortened(&name), known.join(", "));
        return BadJson::Member { path: path.to_owned(), detail };
    }
    let expected = said
        .strip_prefix("invalid type: ")
        .or_else(|| said.strip_prefix("invalid value: "))
        .and_then(|rest| rest.rsplit_once(", expected "));
    if let Some((found, expected)) = expected {
        if found == "null" && !path.is_empty() {
            return null(path);
        }
        let expected = expected_in_words(expected);
        let found = found_in_words(found);
        if path.is_empty() {
            return BadJson::Body(format!("The body must be {expected}, not {found}."));
        }
        return BadJson::member(path, format!("must be {expected}, not {found}"));
    }
    match path.is_empty() {
        true => BadJson::Body(format!("The body does not have the expected form: {said}.")),
        false => BadJson::member(path, format!("does not have the expected form: {said}")),
    }
}

fn expected_in_words(expected: &str) -> String {
    let words = match expected {
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number of 0 or more",
        "f32" | "f64" => "a number",
        "a string" | "a borrowed string" | "string" | "str" => "a string",
        "a boolean" | "bool" => "true or false",
        "a sequence" => "a list",
        "a map" => "an object",
        struct_or_enum if struct_or_enum.starts_with("struct ") => "an object",
        other => other,
    };
    words.to_owned()
}

fn found_in_words(found: &str) -> String {
    let lead = found.split([' ', '`']).next().unwrap_or_default();
    match lead {
        "string" => "a string".to_owned(),
        "integer" | "floating" => format!("the number {}", shortened(found.split('`').nth(1).unwrap_or_default())),
        "boolean" => "a boolean".to_owned(),
        "sequence" => "a list".to_owned(),
        "map" => "an object".to_owned(),
        _ => shortened(found),
    }
}

/// Prefix of the error with which [`Read`] reports a member that occurs
/// twice; the member's name follows.
const TWICE: &str = "given twice: ";

/// A JSON value in which each object has each member once, and whole numbers are integers.
struct Read(Value);

impl<'de> serde::Deserialize<'de> for Read {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ReadValue).map(Read)
    }
}

struct ReadValue;

impl<'de> Visitor<'de> for ReadValue {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(number(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut read = Vec::new();
        while let Some(Read(item)) = items.next_element()? {
            read.push(item);
        }
        Ok(Value::Array(read))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut read = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            if read.contains_key(&name) {
                return Err(A::Error::custom(format!("{TWICE}{}", shortened(&name))));
            }
            let Read(value) = members.next_value()?;
            read.insert(name, value);
        }
        Ok(Value::Object(read))
    }
}

fn number(value: f64) -> Value {
    match value.fract() == 0.0 && value.abs() <= EXACT_MAX {
        true => (value as i64).into(),
        false => Number::from_f64(value).map_or(Value::Null, Value::Number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;
    use serde_json::json;
    use std::collections::BTreeMap;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code, reason = "only parsed")]
    struct Body {
        credits: i64,
        note: Option<String>,
        cars: Option<Vec<Car>>,
        on: Option<bool>,
        size: Option<u16>,
        ratio: Option<f64>,
        texts: Option<BTreeMap<String, String>>,
        free: Option<Value>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code, reason = "only parsed")]
    struct Car {
        make: String,
        year: u16,
    }

    #[test]
    fn every_refusal_names_the_member_by_its_path() {
        for (text, path, says) in [
            (r#"{}"#, "credits", "is required"),
            (r#"{"credits":"5000"}"#, "credits", "must be a whole number, not a string"),
            (r#"{"credits":true}"#, "credits", "must be a whole number, not a boolean"),
            (r#"{"credits":[1]}"#, "credits", "must be a whole number, not a list"),
            (r#"{"credits":{}}"#, "credits", "must be a whole number, not an object"),
            (r#"{"credits":1.5}"#, "credits", "must be a whole number, not the number 1.5"),
            (r#"{"credits":1e300}"#, "credits", "must be a whole number, not the number 1e"),
            (r#"{"credits":null}"#, "credits", "must not be null: leave it out instead"),
            (r#"{"credits":1,"note":null}"#, "note", "must not be null: leave it out instead"),
            (r#"{"credits":1,"note":5}"#, "note", "must be a string, not the number 5"),
            (r#"{"credits":1,"on":"true"}"#, "on", "must be true or false, not a string"),
            (r#"{"credits":1,"size":-1}"#, "size", "must be a whole number of 0 or more, not the number -1"),
            (r#"{"credits":1,"size":70000}"#, "size", "must be a whole number of 0 or more, not the number 70000"),
            (r#"{"credits":1,"ratio":"much"}"#, "ratio", "must be a number, not a string"),
            (r#"{"credits":1,"x":2}"#, "x", "is not a member of this body, which takes credits, note"),
            (r#"{"credits":1,"credits":2}"#, "credits", "is given more than once"),
            (r#"{"credits":1,"cars":5}"#, "cars", "must be a list, not the number 5"),
            (r#"{"credits":1,"cars":["x"]}"#, "cars[0]", "must be an object, not a string"),
            (r#"{"credits":1,"cars":[{"make":"a","year":"2024"}]}"#, "cars[0].year", "not a string"),
            (r#"{"credits":1,"cars":[{"make":"a","year":1},{"year":1}]}"#, "cars[1].make", "is required"),
            (r#"{"credits":1,"cars":[{"make":"a","year":1,"w":1}]}"#, "cars[0].w", "not a member of `cars[0]`"),
            (r#"{"credits":1,"cars":[{"make":"a","make":"b"}]}"#, "cars[0].make", "more than once"),
            (r#"{"credits":1,"cars":[{"make":"a","year":null}]}"#, "cars[0].year", "must not be null"),
            (r#"{"credits":1,"cars":[null]}"#, "cars[0]", "must not be null"),
            (r#"{"credits":1,"texts":{"a":1}}"#, "texts.a", "must be a string"),
            (r#"{"credits":1,"free":{"a":{"b":1,"b":2}}}"#, "free.a.b", "more than once"),
        ] {
            let bad = read::<Body>(text.as_bytes(), &["free"]).expect_err(text);
            let BadJson::Member { path: named, detail } = &bad else { panic!("{text}: {bad:?}") };
            assert_eq!(named, path, "{text}: {detail}");
            assert!(detail.starts_with(&format!("`{path}`")) && detail.contains(says), "{text}: {detail}");
            let problem = Problem::from(bad).document("", "");
            assert_eq!((&problem["code"], &problem["parameter"]), (&json!("invalid_parameter"), &json!(path)));
        }
    }

    #[test]
    fn what_is_no_json_and_what_is_no_object() {
        for (text, code) in [
            ("", "invalid_json"),
            (" \n", "invalid_json"),
            ("{", "invalid_json"),
            (r#"{"credits":1} x"#, "invalid_json"),
            (r#"{"credits":NaN}"#, "invalid_json"),
            ("\u{feff}\u{feff}{}", "invalid_json"),
            ("[5000]", "invalid_parameter"),
            ("5000", "invalid_parameter"),
            ("null", "invalid_parameter"),
        ] {
            let problem = Problem::from(read::<Body>(text.as_bytes(), &[]).expect_err(text));
            assert_eq!(problem.code(), code, "{text}: {}", problem.detail());
        }
        assert!(value(&[b'"', 0xff, b'"']).is_err());
        let deep = "[".repeat(100_000);
        assert!(matches!(value(deep.as_bytes()), Err(BadJson::Syntax(_))));
    }

    #[test]
    fn numbers_marks_and_free_members() {
        let body =
            "\u{feff} {\"credits\": 5e3, \"free\": {\"a\": null, \"b\": [1.5, -0.0, 1e300, 18446744073709551615]}}";
        let read = read::<Body>(body.as_bytes(), &["free"]).expect("reads");
        assert_eq!(read.credits, 5000);
        assert_eq!(read.free, Some(json!({ "a": null, "b": [1.5, 0, 1e300, u64::MAX] })));
        let nulls = br#"{"credits":1,"note":null,"ratio":1}"#;
        let read = read_with_nulls::<Body>(nulls).expect("reads");
        assert_eq!((read.note, read.ratio), (None, Some(1.0)));
    }
}
