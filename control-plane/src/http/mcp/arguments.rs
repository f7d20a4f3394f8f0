//! Reads the arguments of a tool by the types that its schema declares.
//!
//! Some hosts send every argument as a string, and models write numbers where a name is declared.
//! Neither can change the other. A string is therefore read as the number, the boolean, the list or
//! the object that is declared (` 2024 `, `"true"`, a list as JSON). A number or a boolean is read
//! as the string that is declared (the model `911`), and null as an absent argument. This holds at
//! any depth. A value that cannot be read as its type is refused with its path (`images[2].year`)
//! and the type that is expected. Rules beyond the type are left to the API.

use crate::delivery::request::{SYNONYMS, kind_of, meant, whole};
use crate::http::json::{self, BadJson, below, shortened};
use serde_json::{Map, Value};

/// Alternative names of arguments. They are accepted but not declared, because hosts show models
/// one name for one thing.
const ALIASES: [(&str, &str); 1] = [("brand", "make")];

/// Reads the arguments by the schema of an object. Fails for an argument that is not declared, and
/// for a value that cannot be read as its type.
pub fn read(schema: &Value, arguments: Map<String, Value>) -> Result<Map<String, Value>, BadJson> {
    object(schema, arguments, "")
}

fn object(schema: &Value, members: Map<String, Value>, at: &str) -> Result<Map<String, Value>, BadJson> {
    let mut read = Map::new();
    for (name, value) in members {
        let path = below(at, &shortened(&name));
        match declared(schema, &name) {
            // An argument that is null counts as absent.
            None if value.is_null() => {}
            None => return Err(unknown(schema, &name, &path)),
            Some(declared) => {
                if let Some(value) = of_type(declared, value, &path)? {
                    read.insert(name, value);
                }
            }
        }
    }
    Ok(read)
}

fn declared<'s>(schema: &'s Value, name: &str) -> Option<&'s Value> {
    let name = ALIASES.iter().chain(&SYNONYMS).find(|(alias, _)| *alias == name).map_or(name, |(_, name)| name);
    schema["properties"].get(name)
}

fn unknown(schema: &Value, name: &str, path: &str) -> BadJson {
    let names: Vec<&str> = schema["properties"].as_object().into_iter().flatten().map(|(name, _)| &**name).collect();
    let rule = match (meant(name, ["width", "height"]).filter(|meant| names.contains(meant)), names.is_empty()) {
        (Some(meant), _) => format!("it is called `{meant}`"),
        (None, true) => "it takes none".to_owned(),
        (None, false) => format!("it takes {}", names.join(", ")),
    };
    BadJson::member(path, format!("is not an argument of this tool; {rule}"))
}

/// Reads a value as the type of its schema. Returns `None` for null, which counts as absent.
fn of_type(schema: &Value, value: Value, path: &str) -> Result<Option<Value>, BadJson> {
    if let Some(ways) = schema["oneOf"].as_array() {
        return one_of(ways, value, path);
    }
    let kind = schema["type"].as_str().unwrap_or_default();
    let value = match (kind, value) {
        (_, Value::Null) => return Ok(None),
        ("string", Value::String(text)) => Value::String(text.trim().to_owned()),
        ("string", number @ Value::Number(_)) => {
            Value::String(whole(&number).map_or_else(|| number.to_string(), |whole| whole.to_string()))
        }
        ("string", Value::Bool(value)) => Value::String(value.to_string()),
        ("integer" | "number" | "boolean" | "array" | "object", Value::String(text)) => {
            match of_text(kind, &text, path)? {
                Some(Value::Null) => return Ok(None),
                Some(value) => return of_type(schema, value, path),
                None => return Err(refused(kind, path, &format!("the string `{}`", shortened(text.trim())))),
            }
        }
        ("integer", number @ Value::Number(_)) => match whole(&number) {
            Some(whole) => whole.into(),
            // A negative number is a whole number as well. It is outside every range, which the API
            // checks.
            None if number.is_i64() => number,
            None => return Err(refused(kind, path, &format!("the number {number}"))),
        },
        ("number", number @ Value::Number(_)) => number,
        ("boolean", value @ Value::Bool(_)) => value,
        ("array", Value::Array(items)) => {
            let items = items.into_iter().enumerate().map(|(index, item)| {
                let path = format!("{path}[{index}]");
                let read = of_type(&schema["items"], item, &path)?;
                read.ok_or_else(|| refused(schema["items"]["type"].as_str().unwrap_or_default(), &path, "null"))
            });
            Value::Array(items.collect::<Result<_, _>>()?)
        }
        ("object", Value::Object(members)) => Value::Object(object(schema, members, path)?),
        ("string" | "integer" | "number" | "boolean" | "array" | "object", other) => {
            return Err(refused(kind, path, kind_of(&other)));
        }
        // The schema declares no type.
        (_, value) => value,
    };
    Ok(Some(value))
}

/// Reads a value of a schema with alternatives, such as a year that is a number or `latest`. A word
/// that an alternative lists is taken as it is; anything else is read by the first alternative.
fn one_of(ways: &[Value], value: Value, path: &str) -> Result<Option<Value>, BadJson> {
    let words = ways.iter().filter_map(|way| way["enum"].as_array()).flatten();
    let text = value.as_str().unwrap_or_default().trim();
    match (words.into_iter().find(|word| word.as_str() == Some(text)), ways.first()) {
        (Some(word), _) => Ok(Some(word.clone())),
        (None, Some(first)) => of_type(first, value, path),
        (None, None) => Ok(Some(value)),
    }
}

/// Reads a string where another type is declared: as JSON, or as `True` in the spelling of some
/// languages. Returns `None` if the string is no such value.
fn of_text(kind: &str, text: &str, path: &str) -> Result<Option<Value>, BadJson> {
    let text = text.trim();
    if kind == "boolean" {
        return Ok(["true", "false", "null"].into_iter().find(|word| text.eq_ignore_ascii_case(word)).map(|word| {
            match word {
                "null" => Value::Null,
                word => Value::Bool(word == "true"),
            }
        }));
    }
    match json::value(text.as_bytes()) {
        // A JSON string within the string is not of the declared type.
        Ok(Value::String(_)) | Err(BadJson::Syntax(_) | BadJson::Body(_)) => Ok(None),
        Ok(value) => Ok(Some(value)),
        Err(BadJson::Member { path: inner, .. }) => {
            Err(BadJson::member(below(path, &inner), "is given more than once"))
        }
    }
}

fn refused(kind: &str, path: &str, found: &str) -> BadJson {
    let wanted = match kind {
        "integer" => "a whole number",
        "number" => "a number",
        "boolean" => "true or false",
        "array" => "a list",
        "object" => "an object",
        _ => "a string",
    };
    BadJson::member(path, format!("must be {wanted}, not {found}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn schema() -> Value {
        let picture = json!({ "type": "object", "properties": {
            "make": { "type": "string" }, "model": { "type": "string" }, "year": { "type": "integer" }, "color": { "type": "string" },
            "trim": { "type": "boolean" }, "padding": { "type": "integer" }, "background": { "type": "string" },
        } });
        json!({ "type": "object", "properties": {
            "make": { "type": "string" }, "model": { "type": "string" }, "year": { "type": "integer" },
            "share": { "type": "number" }, "signed_url": { "type": "boolean" },
            "images": { "type": "array", "items": picture }, "image": picture,
        } })
    }

    fn read(arguments: Value) -> Result<Value, (String, String)> {
        let read = super::read(&schema(), arguments.as_object().expect("an object").clone());
        read.map(Value::Object).map_err(|bad| match bad {
            BadJson::Member { path, detail } => (path, detail),
            other => panic!("{other}"),
        })
    }

    #[test]
    fn values_are_read_by_their_declared_type() {
        for (given, expected) in [
            (json!({ "year": "2024" }), json!({ "year": 2024 })),
            (json!({ "year": " 2024\n" }), json!({ "year": 2024 })),
            (json!({ "year": 2024.0 }), json!({ "year": 2024 })),
            (json!({ "year": "2.024e3" }), json!({ "year": 2024 })),
            (json!({ "year": -3 }), json!({ "year": -3 })),
            (json!({ "share": "0.5" }), json!({ "share": 0.5 })),
            (json!({ "model": 911 }), json!({ "model": "911" })),
            (json!({ "model": 911.0 }), json!({ "model": "911" })),
            (json!({ "model": 1.5 }), json!({ "model": "1.5" })),
            (json!({ "model": true }), json!({ "model": "true" })),
            (json!({ "model": " 911 " }), json!({ "model": "911" })),
            (json!({ "model": "null" }), json!({ "model": "null" })),
            (json!({ "brand": 7 }), json!({ "brand": "7" })),
            (json!({ "signed_url": "true" }), json!({ "signed_url": true })),
            (json!({ "signed_url": " False " }), json!({ "signed_url": false })),
            (json!({ "year": null, "signed_url": null, "nonesuch": null }), json!({})),
            (json!({ "year": "null", "signed_url": "null", "images": "null" }), json!({})),
            (json!({ "images": [] }), json!({ "images": [] })),
            (
                json!({ "images": "[{\"model\":911,\"year\":\"2024\"}]" }),
                json!({ "images": [{ "model": "911", "year": 2024 }] }),
            ),
            (json!({ "images": ["{\"year\":2024,\"color\":null}"] }), json!({ "images": [{ "year": 2024 }] })),
            (json!({ "images": [{ "year": 2024, "color": null }] }), json!({ "images": [{ "year": 2024 }] })),
            (json!({ "images": [{ "colour": 112233 }] }), json!({ "images": [{ "colour": "112233" }] })),
            (json!({ "image": { "bg": "white", "colour": null } }), json!({ "image": { "bg": "white" } })),
            (
                json!({ "image": { "trim": "true", "padding": "5" } }),
                json!({ "image": { "trim": true, "padding": 5 } }),
            ),
            (json!({ "image": "{\"year\":\"2024\"}" }), json!({ "image": { "year": 2024 } })),
        ] {
            assert_eq!(read(given.clone()), Ok(expected), "{given}");
        }
    }

    #[test]
    fn what_does_not_read_as_its_type_is_refused_by_its_path() {
        for (given, path, says) in [
            (json!({ "year": "20x4" }), "year", "must be a whole number, not the string `20x4`"),
            (json!({ "year": "" }), "year", "must be a whole number"),
            (json!({ "year": "+2024" }), "year", "must be a whole number"),
            (json!({ "year": 2024.5 }), "year", "must be a whole number, not the number 2024.5"),
            (json!({ "year": true }), "year", "must be a whole number, not a boolean"),
            (json!({ "year": [2024] }), "year", "must be a whole number, not a list"),
            (json!({ "year": "[2024]" }), "year", "must be a whole number, not a list"),
            (json!({ "signed_url": 1 }), "signed_url", "must be true or false, not a number"),
            (json!({ "signed_url": "yes" }), "signed_url", "must be true or false, not the string `yes`"),
            (json!({ "model": ["911"] }), "model", "must be a string, not a list"),
            (json!({ "images": {} }), "images", "must be a list, not an object"),
            (json!({ "images": "porsche" }), "images", "must be a list, not the string `porsche`"),
            (
                json!({ "images": [{}, {}, { "year": "20x4" }] }),
                "images[2].year",
                "must be a whole number, not the string `20x4`",
            ),
            (json!({ "images": [{}, null] }), "images[1]", "must be an object, not null"),
            (json!({ "images": "[{\"year\":1,\"year\":2}]" }), "images[0].year", "is given more than once"),
            (json!({ "images": [{ "paint": "red" }] }), "images[0].paint", "it is called `color`"),
            (json!({ "images": [{ "colour": ["red"] }] }), "images[0].colour", "must be a string, not a list"),
            (json!({ "colour": "red" }), "colour", "is not an argument of this tool; it takes"),
            (json!({ "nonesuch": 1 }), "nonesuch", "is not an argument of this tool; it takes"),
        ] {
            let (named, detail) = read(given.clone()).expect_err("refused");
            assert_eq!(named, path, "{given}: {detail}");
            assert!(detail.starts_with(&format!("`{path}`")) && detail.contains(says), "{given}: {detail}");
        }
        let none =
            super::read(&json!({ "type": "object", "properties": {} }), Map::from_iter([("x".to_owned(), json!(1))]));
        assert!(none.expect_err("refused").to_string().contains("it takes none"));
    }
}
