//! Words for a kind of thing are certain with a make, and never without one.

use super::*;
use crate::nameless::{is_known_without_make, is_word_for_a_kind, words_for_kinds};

fn is_high(query: &str) -> bool {
    resolved(query).is_ok_and(|found| found.confidence == Confidence::High)
}

#[test]
fn words_for_a_kind_are_no_certain_vehicle() {
    let queries = [
        "limo",
        "limo car",
        "tractor",
        "mixer",
        "sweeper",
        "trailer",
        "sports car",
        "taxi",
        "trike",
        "family car",
        "fast car",
        "first car",
        "single",
        "double",
        "none",
        "every car",
        "semi truck",
        "any",
        "all",
        "other",
        "unknown",
        "test",
        "n/a",
        "one",
        "two",
        "crane",
        "digger",
        "hearse",
        "an old lorry",
        "electric truck",
        "a fast red car",
        "red tractor from behind",
        "tractor 2015",
        "2015 semi truck",
        "the first car",
        "white limo large png",
        "camper",
        "ambulance",
        "roadster",
        "pick-up",
        "4x4",
        "military vehicle",
        "utility truck",
        "cargo van",
        "hardtop",
        "rickshaw",
        "tank",
        "ebike",
        "default",
        "delivery van",
        "racing car",
        "economy",
    ];
    let certain: Vec<&str> = queries.into_iter().filter(|query| is_high(query)).collect();
    assert_eq!(certain, [""; 0]);
}

/// Checks the whole release, and the list itself.
#[test]
fn no_name_of_such_words_is_certain_without_its_make() {
    let (mut rows, mut certain) = (0, BTreeSet::new());
    for make in CATALOG.makes() {
        for model in &make.models {
            let words = Words::of(&model.name);
            let is_kind = |(from, to): (usize, usize)| is_word_for_a_kind(words.join(from, to));
            if is_known_without_make(make, model) || !words.written().into_iter().all(is_kind) {
                continue;
            }
            rows += 1;
            let forms = [model.name.clone(), format!("red {}", model.name), format!("{} car", model.name)];
            for query in forms.into_iter().filter(|query| {
                // A make may have such a name as well (`Moped Custom`, `Oshkosh Trailer`); then it
                // is written.
                is_high(query)
                    && resolved(query)
                        .is_ok_and(|found| !query.to_lowercase().contains(&found.make.name.to_lowercase()))
            }) {
                certain.insert(query);
            }
        }
    }
    assert!(rows > 400, "{rows}");
    for word in words_for_kinds().filter(|word| *word != "up" && *word != "volante" && *word != "minicab") {
        let forms = [word.to_owned(), format!("the {word}"), format!("{word} car"), format!("{word} truck")];
        certain.extend(forms.into_iter().filter(|query| is_high(query)));
    }
    assert_eq!(certain, BTreeSet::new());
}

#[test]
fn with_the_make_they_are() {
    for query in [
        "tesla semi",
        "semi tesla",
        "tesla semi truck",
        "red tesla semi 2024",
        "mini first",
        "suzuki every",
        "honda n-one",
        "mini hardtop",
        "nissan king cab",
        "bentley eight",
        "ford popular",
        "ema limo",
        "boom family",
        "leeway fast",
        "toyota tank",
    ] {
        assert!(is_high(query), "{query}");
    }
    let semi = resolve(&CATALOG, &Request { query: "semi", make: Some("tesla"), ..Request::default() });
    assert_eq!(semi.map(|found| found.confidence).ok(), Some(Confidence::High), "the make is given beside the words");
}

/// Well-known names stay certain, although they are words.
#[test]
fn well_known_names_that_are_words_stay_certain() {
    for query in [
        "beetle",
        "golf",
        "fit",
        "rogue",
        "note",
        "leaf",
        "focus",
        "escape",
        "explorer",
        "transit",
        "transporter",
        "civic",
        "accord",
        "pilot",
        "edge",
        "fusion",
        "fiesta",
        "charger",
        "compass",
        "patriot",
        "sprinter",
        "traveller",
        "trooper",
        "move",
        "life",
        "today",
        "legend",
        "element",
        "volt",
        "soul",
        "forte",
        "cube",
        "frontier",
        "quest",
        "expedition",
        "escort",
        "probe",
        "flex",
        "fox",
        "rabbit",
        "polo",
        "up",
        "phantom",
        "ghost",
        "town car",
        "crown victoria",
        "dream",
        "courier",
        "rebel",
        "passport",
        "insight",
        "clarity",
        "stream",
        "defender",
        "discovery",
        "n-one",
        "n one",
        "street triple",
        "street twin",
        "double six",
        "volante",
        "minicab",
    ] {
        assert!(is_high(query), "{query}");
    }
}
