use super::index::Nicknames;
use super::*;
use crate::nameless::is_nameless;
use crate::names;
use proptest::prelude::*;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use std::sync::LazyLock;

static CATALOG: LazyLock<Catalog> = LazyLock::new(|| Catalog::embedded().expect("the embedded release loads"));

fn shown(hit: &Hit<'_>) -> String {
    let model = hit.model.map_or(String::new(), |model| format!("/{}", model.slug));
    format!("{} {}{model}", hit.kind, hit.make.slug)
}

fn first(text: &str, year: Option<u16>) -> String {
    CATALOG.search(text, year, 10).first().map_or("nothing".to_owned(), shown)
}

#[test]
fn the_best_hit_and_its_kind() {
    for (text, expected) in [
        ("mustang", "exact ford/mustang"),
        ("Ford Mustang", "exact ford/mustang"),
        ("f150", "exact ford/f-150"),
        ("f-150 ford", "token ford/f-150"),
        ("CRV", "exact honda/cr-v"),
        ("3series", "exact bmw/3-series"),
        ("citroën c3", "exact citroen/c3"),
        ("vw golf", "exact volkswagen/golf"),
        ("landrover discovery", "exact land-rover/discovery"),
        ("golf vw", "token volkswagen/golf"),
        ("toy cam", "token toyota/camry"),
        ("ford must", "prefix ford/mustang"),
        ("grandcheroke", "prefix jeep/grand-cherokee"),
        ("mustnag", "fuzzy ford/mustang"),
        ("toyta corola", "fuzzy toyota/corolla"),
        ("fordfocus", "exact ford/focus"),
        // A make by itself comes before models that have its name; a well-known model comes before
        // a little-known make.
        ("ford", "exact ford"),
        ("chevy", "exact chevrolet"),
        ("explorer", "exact ford/explorer"),
        ("corvette", "exact chevrolet/corvette"),
        // With its make, the vehicle that the catalog has under that name comes before the better
        // known one that has it as a nickname, and the nearer name before the better known one.
        ("bmw 320i", "exact bmw/320i"),
        ("bmw 320d", "exact bmw/3-series"),
        ("yx yamaha", "token yamaha/yx"),
        ("bmw r1200gs", "exact bmw/r1200"),
        ("range rover evoque", "exact land-rover/range-rover-evoque"),
        ("siuzuki gs 1200", "fuzzy suzuki/gs-1200"),
        // Words for a version are not part of a name, unless the catalog has both in one name.
        ("ford f150 xlt supercrew 4x4", "exact ford/f-150"),
        ("audi q5 2017 quattro", "exact audi/q5"),
        ("mercedes c class amg line", "exact mercedes-benz/c-class"),
        ("honda civic type r", "exact honda/civic-type-r"),
        ("datsun 24", "prefix datsun/240"),
        // Neither is a body, unless the catalog has a row for it.
        ("golf estate", "exact volkswagen/golf"),
        ("audi a4 avant 2018", "exact audi/a4"),
        ("bmw 3 series touring", "exact bmw/3-series"),
        ("focus 5 door", "exact ford/focus"),
        ("renault clio break", "exact renault/clio"),
        ("vw golf sportwagen", "exact volkswagen/golf-sportwagen"),
        ("mini cooper convertible", "exact mini/cooper-convertible"),
        // A sentence is not a name.
        ("looking for a photo of a used honda cr-v", "nothing"),
        // A number is a year only where it is not a name.
        ("peugeot 2008", "exact peugeot/2008"),
        ("civic 2008", "exact honda/civic"),
        ("undercarriagexyz", "nothing"),
        ("2008 2009", "nothing"),
        ("", "nothing"),
        ("!?", "nothing"),
    ] {
        assert_eq!(first(text, None), expected, "{text}");
    }
    assert_eq!(first("cherok", Some(2015)), "prefix jeep/cherokee");
}

#[test]
fn pieces_of_names_are_found_last() {
    let hits = CATALOG.search("avensi", None, 25);
    assert_eq!(hits.first().map(shown).as_deref(), Some("prefix toyota/avensis"));
    let hits = CATALOG.search("ustang", None, 25);
    assert!(hits.iter().any(|hit| hit.model.is_some_and(|model| model.slug == "mustang")), "{hits:?}");
}

#[test]
fn kinds_come_in_their_order_and_no_hit_twice() {
    for text in ["ford", "golf", "a", "500", "3", "tang", "kawasaki n", "mercedes c", "rover"] {
        let hits = CATALOG.search(text, None, 25);
        let kinds: Vec<MatchKind> = hits.iter().map(|hit| hit.kind).collect();
        assert!(kinds.is_sorted(), "{text}: {kinds:?}");
        let mut names: Vec<String> =
            hits.iter().map(|hit| format!("{}{:?}", hit.make.slug, hit.model.map(|model| &model.slug))).collect();
        names.sort();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all, "{text}");
        assert!(CATALOG.search(text, None, 3).len() <= 3);
    }
}

#[test]
fn a_year_narrows() {
    for (text, year, years) in
        [("civic 2008", None, vec![2008]), ("civic '08", None, vec![2008]), ("civic", Some(2010), vec![2010])]
    {
        let hits = CATALOG.search(text, year, 10);
        assert!(!hits.is_empty() && hits.iter().all(|hit| hit.years == years), "{hits:?}");
    }
    assert!(CATALOG.search("tesla model 3", Some(1999), 10).is_empty());
}

#[test]
fn a_make_narrows() {
    for (text, make, expected) in [
        ("focus", "ford", "exact ford/focus"),
        ("focu", "ford", "prefix ford/focus"),
        ("c3", "citroen", "exact citroen/c3"),
        ("3 series estate", "bmw", "exact bmw/3-series"),
        ("golf 2018", "volkswagen", "exact volkswagen/golf"),
        ("500", "fiat", "exact fiat/500"),
        ("500", "mercedes-benz", "exact mercedes-benz/500"),
        ("golf", "bmw", "nothing"),
    ] {
        let make = CATALOG.make(make).expect(make);
        let hits = CATALOG.search_in(text, None, Some(make), 10);
        assert_eq!(hits.first().map_or("nothing".to_owned(), shown), expected, "{text} of {}", make.slug);
        assert!(hits.iter().all(|hit| hit.make.id == make.id), "{text} of {}", make.slug);
    }
}

#[test]
fn nicknames_are_of_this_release() {
    let text = include_str!("../../data/nicknames.toml");
    let nicknames: Nicknames = toml::from_str(text).expect("nicknames.toml");
    let make = |slug: &str| CATALOG.makes().iter().find(|make| make.slug == slug);
    for slug in nicknames.makes.keys() {
        assert!(make(slug).is_some(), "no make {slug}");
    }
    for key in nicknames.models.keys() {
        let (of, model) = key.split_once('/').expect(key);
        let known = make(of).is_some_and(|make| make.models.iter().any(|other| other.slug == model));
        assert!(known, "no model {key}");
    }
}

/// After one random edit in make or model of a random entry, the entry is among the first five
/// hits.
#[test]
fn one_edit_does_not_lose_a_vehicle() {
    let mut rng = StdRng::seed_from_u64(20_261_122);
    let models = CATALOG.makes().iter().flat_map(|make| make.models.iter().map(move |model| (make, model)));
    let entries: Vec<(&Make, &Model, u16)> =
        models.flat_map(|(make, model)| model.years().iter().map(move |year| (make, model, year))).collect();
    let mut lost = Vec::new();
    for _ in 0..1_000 {
        let (make, model, year) = *entries.choose(&mut rng).expect("entries");
        let mut letters: Vec<char> = format!("{} {}", make.name, model.name).chars().collect();
        let at = rng.random_range(0..letters.len() - 1);
        let letter = char::from(b'a' + rng.random_range(0..26));
        match rng.random_range(0..4) {
            0 => letters[at] = letter,
            1 => letters.insert(at, letter),
            2 => drop(letters.remove(at)),
            _ => letters.swap(at, at + 1),
        }
        let text = format!("{} {year}", letters.into_iter().collect::<String>());
        let meant = |hit: &Hit<'_>| hit.make.id == make.id && hit.model.is_some_and(|other| other.slug == model.slug);
        if !CATALOG.search(&text, None, 5).iter().any(meant) {
            lost.push(format!("{text} ({}/{})", make.slug, model.slug));
        }
    }
    assert!(lost.len() <= 20, "{} of 1,000 lost: {lost:#?}", lost.len());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn any_text_gets_the_same_answer_twice(text in prop_oneof![".{0,60}", "[a-f0-9 -]{0,200}", "(ford|golf|3|x5|mx| ){0,60}"], limit in 1usize..26) {
        let search = || CATALOG.search(&text, None, limit).iter().map(shown).collect::<Vec<_>>();
        let once = search();
        prop_assert!(once.len() <= limit);
        prop_assert_eq!(once, search());
    }
}

/// A search for the name of a make returns the make, then its own models, the best known first.
#[test]
fn a_make_is_followed_by_its_own_models() {
    let mut wrong = Vec::new();
    for make in CATALOG.makes().iter().filter(|make| !make.models.is_empty()) {
        let newest = make.models.iter().flat_map(|model| model.years().iter()).max();
        for year in [None, newest] {
            let all = CATALOG.search(&make.name, year, 25);
            // A well-known model may come before a little-known make of the same name (`Explorer`).
            let hits = match all.first() {
                Some(hit) if hit.model.is_some() && hit.kind == MatchKind::Exact => {
                    let before =
                        all.iter().take_while(|hit| hit.model.is_some() && hit.kind == MatchKind::Exact).count();
                    &all[before..]
                }
                _ => &all[..],
            };
            let is_it = |other: &Make| names::key(&other.name) == names::key(&make.name);
            let first = hits.first().is_some_and(|hit| hit.model.is_none() && is_it(hit.make));
            let of = hits.first().map_or(make, |hit| hit.make);
            let sold = of.models.iter().filter(|model| year.is_none_or(|year| model.years().contains(year))).count();
            let own = hits.iter().skip(1).take(sold).all(|hit| hit.make.id == of.id);
            let named = hits.iter().skip(1).take(sold).map(|hit| hit.model.is_some_and(|model| is_nameless(of, model)));
            if !first || !own || !named.is_sorted() || hits.len() <= sold.min(10) {
                wrong.push(format!("{} {year:?}: {:?}", make.name, hits.iter().take(4).map(shown).collect::<Vec<_>>()));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn the_best_known_models_of_a_make_come_first() {
    for (text, year, among) in [
        ("ford", None, &["f-150", "mustang", "explorer", "focus"][..]),
        ("Ford", Some(2015), &["f-150", "mustang", "explorer", "focus"]),
        ("chevy", None, &["corvette", "silverado", "tahoe"]),
        ("honda 2012", None, &["civic", "accord", "cr-v"]),
        ("VW", None, &["golf", "polo"]),
        ("Toyota", None, &["corolla", "rav4", "land-cruiser"]),
        ("мерседес", None, &["c-class", "e-class", "s-class"]),
        ("mercedes-benz", Some(2020), &["c-class", "e-class", "s-class"]),
        ("mini", None, &["cooper"]),
    ] {
        let hits = CATALOG.search(text, year, 10);
        let models: Vec<&str> = hits.iter().filter_map(|hit| hit.model).map(|model| model.slug.as_str()).collect();
        assert!(hits[0].model.is_none() && models.len() == 9, "{text}: {models:?}");
        for wanted in among {
            assert!(models.contains(wanted), "{text}: no {wanted} among {models:?}");
        }
    }
    assert!(CATALOG.search("ford", Some(2003), 10).iter().all(|hit| hit.years == [2003]));
}
