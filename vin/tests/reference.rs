//! Compares the decoder with the reference implementation, and with the catalog, over made-up VINs
//! (`make_reference.py`): two sets of 1,000, the second one to show that nothing was fitted to the
//! first.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on stops where it stands")]

use cyclorama_catalog::Catalog;
use cyclorama_vin::{Confidence, Coverage, Decoder, YearLimits};
use std::collections::BTreeMap;

/// Minimum agreement on make, model and year, in thousandths.
const AGREEMENT_MIN: usize = 995;
/// Minimum agreement on the make from eight characters, in hundredths.
const AGREEMENT_OF_PIECES_MIN: usize = 99;
const FIRST: &str = include_str!("reference.tsv");
const SECOND: &str = include_str!("reference_2026.tsv");
const YEARS: YearLimits = YearLimits { hint: None, latest: 2027 };

struct Row {
    number: &'static str,
    make: &'static str,
    model: &'static str,
    year: u16,
}

fn rows(text: &'static str) -> Vec<Row> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let rows: Vec<Row> = lines
        .map(|line| match *line.split('\t').collect::<Vec<_>>() {
            [number, make, model, year] => Row { number, make, model, year: year.parse().unwrap() },
            _ => panic!("four fields a line"),
        })
        .collect();
    assert_eq!(rows.len(), 1000);
    rows
}

#[test]
fn decodes_as_the_reference_does() {
    let decoder = Decoder::embedded().unwrap();
    for (set, text) in [("first", FIRST), ("second", SECOND)] {
        let (mut makes, mut models, mut years) = (0, 0, 0);
        for row in rows(text) {
            let Ok(decoded) = decoder.decode(row.number, YEARS) else { continue };
            makes += usize::from(decoded.make.to_uppercase() == row.make);
            models += usize::from(decoded.model.as_deref() == Some(row.model));
            years += usize::from(decoded.year == Some(row.year));
        }
        println!("of the {set} 1,000 the same: {makes} makes, {models} models, {years} years");
        for (part, same) in [("make", makes), ("model", models), ("year", years)] {
            assert!(same >= AGREEMENT_MIN, "{part}: {same} of the {set} 1,000 are the reference's");
        }
    }
}

/// A known year decides between the two that a letter may mean.
#[test]
fn with_the_year_beside_it_every_year_is_that_one() {
    let decoder = Decoder::embedded().unwrap();
    for row in rows(FIRST).into_iter().chain(rows(SECOND)) {
        let known = YearLimits { hint: Some(row.year), ..YEARS };
        let decoded = decoder.decode(row.number, known).unwrap();
        assert_eq!((decoded.year, decoded.other_year), (Some(row.year), None), "{} {}", row.make, row.model);
        assert_eq!(decoded.coverage, Coverage::Scheme, "{} {}", row.make, row.model);
    }
}

/// Eight characters with the year give the make, and the confidence shows that they are only a
/// part.
#[test]
fn a_piece_of_a_number_tells_the_make() {
    let decoder = Decoder::embedded().unwrap();
    let (mut same, mut asked) = (0, 0);
    for row in rows(FIRST).iter().filter(|row| row.number.as_bytes()[2] != b'9') {
        let known = YearLimits { hint: Some(row.year), ..YEARS };
        let Ok(decoded) = decoder.decode(&row.number[..8], known) else { continue };
        assert!(decoded.confidence < Confidence::High);
        asked += 1;
        same += usize::from(decoded.make.to_uppercase() == row.make);
    }
    println!("of {asked} pieces of eight characters {same} tell the make");
    assert!(asked >= 700 && same * 100 >= asked * AGREEMENT_OF_PIECES_MIN, "{same} of {asked}");
}

/// Prints the decoded names that the catalog does not have. How the catalog reads a name is tested
/// there.
#[test]
fn the_catalog_is_asked_for_every_decoded_name() {
    let decoder = Decoder::embedded().unwrap();
    let catalog = Catalog::embedded().unwrap();
    let mut missing: BTreeMap<String, usize> = BTreeMap::new();
    let (mut found, mut asked, mut makes) = (0, 0, 0);
    for row in rows(FIRST) {
        let decoded = decoder.decode(row.number, YEARS).unwrap();
        let (Some(model), Some(year)) = (decoded.model, decoded.year) else { continue };
        asked += 1;
        makes += usize::from(catalog.find_make(&decoded.make).is_ok());
        match catalog.find(&decoded.make, &model, year) {
            Ok(_) => found += 1,
            Err(error) => *missing.entry(format!("{} {model}: {error:?}", decoded.make)).or_default() += 1,
        }
    }
    let mut missing: Vec<_> = missing.into_iter().collect();
    missing.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
    println!("of {asked} names the catalog has {found}, and the make of {makes}");
    missing.iter().for_each(|(name, times)| println!("{times} {}", name.chars().take(110).collect::<String>()));
    assert!(found * 2 > asked, "{found} of {asked}: are the names spelt as before?");
}
