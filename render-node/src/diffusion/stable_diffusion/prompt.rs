//! Makes prompts from the catalog's entries, by a template: `studio photograph of a {year} {make}
//! {model}`.

use cyclorama_core::{Vehicle, View};

/// Template for a pipeline whose operator gives none. The paint is neutral because the paint pass
/// gives it its colour afterwards.
pub const PROMPT: &str = "professional studio photograph of a {year} {make} {model}, {body}, {view} view, plain grey paint, \
                          seamless white backdrop, softbox lighting, sharp focus";
pub const NEGATIVE_PROMPT: &str = "people, text, watermark, licence plate, reflections of trees, blurry, deformed";

const BYTES_MAX: usize = 2000;

/// Returns an error unless the text is a template: braces hold nothing but the names that [`fill`]
/// knows.
pub fn check(template: &str) -> Result<(), String> {
    if template.len() > BYTES_MAX {
        return Err(format!("is longer than {BYTES_MAX} bytes"));
    }
    pieces(template).try_for_each(|piece| match piece {
        PromptPiece::Name(name) if !NAMES.contains(&name) => {
            Err(format!("names `{{{name}}}`; {} are known", NAMES.map(|name| format!("{{{name}}}")).join(", ")))
        }
        _ => Ok(()),
    })
}

/// Returns the prompt for a vehicle and a view.
pub fn fill(template: &str, vehicle: &Vehicle, view: View) -> String {
    let value = |name: &str| match name {
        "year" => vehicle.year.to_string(),
        "make" => capitalised(&vehicle.make),
        "model" => capitalised(&vehicle.model),
        "body" => words(vehicle.body.as_str()),
        "type" => words(vehicle.vehicle_type.as_str()),
        "view" => view_in_words(view).to_owned(),
        _ => String::new(),
    };
    let filled = pieces(template).map(|piece| match piece {
        PromptPiece::Text(text) => text.to_owned(),
        PromptPiece::Name(name) => value(name),
    });
    filled.collect()
}

const NAMES: [&str; 6] = ["year", "make", "model", "body", "type", "view"];

enum PromptPiece<'a> {
    Text(&'a str),
    /// The text between two braces.
    Name(&'a str),
}

fn pieces(template: &str) -> impl Iterator<Item = PromptPiece<'_>> {
    let mut rest = template;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = match rest.find('{') {
            Some(0) => match rest.find('}') {
                Some(end) => {
                    let name = &rest[1..end];
                    rest = &rest[end + 1..];
                    return Some(PromptPiece::Name(name));
                }
                None => rest.len(),
            },
            Some(start) => start,
            None => rest.len(),
        };
        let text = &rest[..end];
        rest = &rest[end..];
        Some(PromptPiece::Text(text))
    })
}

/// Returns the words of a slug.
fn words(slug: &str) -> String {
    slug.replace('-', " ")
}

/// Returns a slug as the name is written: `land-rover` becomes Land Rover. Short ones are mostly
/// initials: BMW, GMC, CR V.
fn capitalised(slug: &str) -> String {
    let word = |word: &str| {
        if word.len() <= 3 {
            return word.to_uppercase();
        }
        let mut letters = word.chars();
        letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
    };
    slug.split('-').map(word).collect::<Vec<_>>().join(" ")
}

const fn view_in_words(view: View) -> &'static str {
    match view {
        View::Front => "front",
        View::FrontThreeQuarter => "front three-quarter",
        View::Side => "left side",
        View::RearThreeQuarter => "rear three-quarter",
        View::SideRight => "right side",
        View::Rear => "rear",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vehicle::typical::typical;
    use cyclorama_core::BodyClass;

    #[test]
    fn a_template_is_filled_from_the_catalogs_entry() {
        let mut vehicle = typical(BodyClass::OffRoader);
        (vehicle.make, vehicle.model, vehicle.year) = ("land-rover".to_owned(), "range-rover-sv".to_owned(), 2021);
        for (template, prompt) in [
            ("", ""),
            ("a car", "a car"),
            ("{year} {make} {model}", "2021 Land Rover Range Rover SV"),
            ("{body} from the {view}!", "off roader from the rear three-quarter!"),
        ] {
            check(template).unwrap();
            assert_eq!(fill(template, &vehicle, View::RearThreeQuarter), prompt);
        }
        for (template, says) in [("a {colour} car", "{colour}"), ("{}", "{}"), (&"x".repeat(2001), "longer")] {
            assert!(check(template).unwrap_err().contains(says), "{template}");
        }
        check(PROMPT).unwrap();
        check(NEGATIVE_PROMPT).unwrap();
    }
}
