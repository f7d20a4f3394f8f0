//! Tests of the decoder: rules, each by a table, and properties that hold for every text.

use super::*;
use crate::number::LENGTH;
use proptest::prelude::*;
use std::sync::LazyLock;

static DECODER: LazyLock<Decoder> = LazyLock::new(|| Decoder::embedded().unwrap());
const YEARS: YearLimits = YearLimits { hint: None, latest: 2027 };
/// Made up: a Honda Accord's description, serial number 1.
const ACCORD: &str = "1HGCM82693A000001";

fn known(year: u16) -> YearLimits {
    YearLimits { hint: Some(year), ..YEARS }
}

fn decode(text: &str) -> Result<VinParts, VinError> {
    DECODER.decode(text, YEARS)
}

fn suggestion(error: VinError) -> Option<String> {
    match error {
        VinError::CheckDigit { suggestion } | VinError::Letter { suggestion, .. } => {
            suggestion.map(|found| found.as_str().to_owned())
        }
        other => panic!("{other:?} has no suggestion"),
    }
}

#[test]
fn a_whole_number_tells_every_part() {
    let decoded = decode(ACCORD).unwrap();
    assert_eq!((decoded.make.as_str(), decoded.model.as_deref(), decoded.year), ("Honda", Some("Accord"), Some(2003)));
    assert_eq!((decoded.body, decoded.trim.as_deref()), (Some("coupe"), Some("EX-V6")));
    assert_eq!(decoded.plant_country.as_deref(), Some("UNITED STATES (USA)"));
    assert_eq!((decoded.coverage, decoded.confidence, decoded.other_year), (Coverage::Scheme, Confidence::High, None));
    assert_eq!(decoded.parts(), ["make", "model", "year", "body", "trim", "plant_country"]);
}

#[test]
fn small_letters_spaces_and_hyphens_are_taken() {
    let expected = decode(ACCORD).unwrap();
    for text in ["1hgcm82693a000001", " 1HG CM826 9 3A 000001 ", "1HG-CM82693A-000001"] {
        assert_eq!(decode(text).unwrap(), expected, "{text}");
    }
}

#[test]
fn what_cannot_be_a_number_is_refused_by_its_reason() {
    let short = |found, needed| VinError::TooShort { found, needed };
    let cases = [
        ("", YEARS, short(0, 11)),
        ("1HGCM8269", YEARS, short(9, 11)),
        ("1HGCM82", known(2003), short(7, 8)),
        ("1HGCM82693A0000012", YEARS, VinError::TooLong { found: 18 }),
        ("1HGCM8269$A000001", YEARS, VinError::Character { character: '$', position: 10 }),
        ("1HGCM8269é", known(2003), VinError::Character { character: 'é', position: 10 }),
        ("A00CM82673A000001", YEARS, VinError::UnknownMaker { maker: "A00".into() }),
        ("***CM82673A000001", YEARS, VinError::UnknownMaker { maker: "***".into() }),
    ];
    for (text, years, expected) in cases {
        assert_eq!(DECODER.decode(text, years), Err(expected), "{text}");
    }
}

#[test]
fn a_piece_is_read_as_far_as_it_goes() {
    for (text, years) in
        [("1HGCM826", known(2003)), ("1HGCM82693A", YEARS), ("1HGCM826*3A", YEARS), ("1HGCM826*3A******", YEARS)]
    {
        let decoded = DECODER.decode(text, years).unwrap();
        assert_eq!((decoded.model.as_deref(), decoded.year), (Some("Accord"), Some(2003)), "{text}");
        assert_eq!(decoded.confidence, Confidence::Medium, "{text}");
    }
}

#[test]
fn letters_that_no_number_holds_are_repaired_as_a_suggestion() {
    for (text, letter, position) in [
        ("IHGCM82693A000001", 'I', 1),
        ("1HGCM82693AO00001", 'O', 12),
        ("1HGCM82693Q00001A", 'Q', 11),
        ("1HGCM82693AQ00O0I", 'Q', 12),
    ] {
        let error = decode(text).unwrap_err();
        assert!(
            matches!(error, VinError::Letter { letter: l, position: p, .. } if (l, p) == (letter, position)),
            "{text}: {error:?}"
        );
        let expected = (text != "1HGCM82693Q00001A").then(|| ACCORD.to_owned());
        assert_eq!(suggestion(error), expected, "{text}");
    }
}

#[test]
fn a_wrong_check_digit_has_a_suggestion_only_where_one_repair_is_likely() {
    let cases = [
        // A look-alike, and swapped neighbours, in characters that the scheme knows.
        ("1H6CM82693A000001", Some(ACCORD)),
        ("1HGCM8Z693A000001", Some(ACCORD)),
        ("1HGCM28693A000001", Some(ACCORD)),
        ("1HGCM82639A000001", Some(ACCORD)),
        // Two repairs fit a scheme.
        ("1HGCM82693A000010", None),
    ];
    for (text, expected) in cases {
        assert_eq!(suggestion(decode(text).unwrap_err()).as_deref(), expected, "{text}");
    }
}

#[test]
fn a_check_digit_is_asked_for_where_makers_of_the_region_put_one() {
    let cases =
        [("1HG", true), ("2HG", true), ("3HG", true), ("4T1", true), ("5YJ", true), ("7SA", true), ("LSV", true)];
    let none = [
        ("WVW", false),
        ("JHM", false),
        ("7A8", false),
        ("6FP", false),
        ("9BW", false),
        ("SAL", false),
        ("KMH", false),
    ];
    for (maker, expected) in cases.into_iter().chain(none) {
        let number = Number::read(&format!("{maker}CM82673A000001"), false).unwrap();
        assert_eq!(number.region_has_check_digit(), expected, "{maker}");
    }
}

#[test]
fn elsewhere_make_and_year_are_read_where_the_maker_gives_one() {
    let cases = [
        // Volkswagen encodes the year; outside America, position 7 does not tell the cycle.
        ("WVWZZZ1KZ8W000001", "VOLKSWAGEN", Some(2008), None),
        ("WVWZZZ1KZAW000001", "VOLKSWAGEN", Some(2010), Some(1980)),
        // Not in vPIC at all.
        ("TMBZZZ5E0K0000001", "SKODA", Some(2019), Some(1989)),
        ("VF1RFA00012345678", "RENAULT", None, None),
        // Position 10 is the side of the steering wheel.
        ("WDD2040081A000001", "MERCEDES-BENZ", None, None),
    ];
    for (text, make, year, other_year) in cases {
        let decoded = decode(text).unwrap();
        assert_eq!(
            (decoded.make.to_uppercase().as_str(), decoded.year, decoded.other_year),
            (make, year, other_year),
            "{text}"
        );
        assert_eq!(
            (decoded.coverage, decoded.confidence, decoded.model),
            (Coverage::MakeAndYear, Confidence::Low, None),
            "{text}"
        );
    }
    assert_eq!(DECODER.decode("WVWZZZ1KZAW000001", known(1980)).unwrap().year, Some(1980));
    assert_eq!(DECODER.decode("WDD2040081A000001", known(2009)).unwrap().year, Some(2009));
}

#[test]
fn position_seven_tells_the_cycle_of_american_cars() {
    let number = |seventh: char, tenth: char| Number::read(&format!("1HGCM8{seventh}6*{tenth}A"), false).unwrap();
    let cases = [
        ('2', '3', true, Some(2003), None),
        ('A', 'A', true, Some(2010), None),
        ('2', 'A', true, Some(1980), None),
        // Trucks do not tell the cycle; no year after next year is possible.
        ('2', 'A', false, Some(2010), Some(1980)),
        ('A', 'W', false, Some(1998), None),
        ('A', 'V', false, Some(2027), Some(1997)),
        ('A', '0', true, None, None),
    ];
    for (seventh, tenth, light, likely, other) in cases {
        let years = Years::american(&number(seventh, tenth), light, 2027, |_| true);
        assert_eq!(years, Years { likely, other }, "{seventh} {tenth} {light}");
    }
}

/// Position 7 says nothing for trucks, buses, trailers and motorcycles, so the year is chosen that
/// fits vPIC better.
#[test]
fn what_fits_better_decides_between_the_years_of_a_letter() {
    for (number, make, model, year) in [
        ("1XKWED7X7TC822677", "Kenworth", "W900", 1996),
        ("1BDDMCKH1RW857073", "Blue Bird", "Shell All American", 1994),
        ("JSAAD41A5FC407353", "Suzuki", "QuadSport Z90", 1985),
        ("1DW3B3538KS854036", "Stoughton Trailers", "Stoughton trailers", 1989),
        ("JKBKXTFC0GB980132", "Kawasaki", "KX100", 2016),
        ("1C9RP16G8SW535066", "Chance Coach", "Rubber Tired Tram", 2025),
    ] {
        let decoded = decode(number).unwrap();
        assert_eq!(decoded.make.to_lowercase(), make.to_lowercase(), "{model}");
        assert_eq!((decoded.model.as_deref(), decoded.year), (Some(model), Some(year)));
        assert_ne!(decoded.confidence, Confidence::High, "{model}: the other year is not ruled out");
    }
}

#[test]
fn nothing_prints_a_number() {
    let errors = ["1HGMC82693A000001", "IHGCM82693A000001", "1HGCM82793A000001"].map(|text| decode(text).unwrap_err());
    let numbers = [ACCORD, "1HGMC82693A000001", "IHGCM82693A000001", "1HGCM82793A000001"];
    let decoded = decode(ACCORD).unwrap();
    let printed =
        errors.iter().flat_map(|error| [format!("{error}"), format!("{error:?}")]).chain([format!("{decoded:?}")]);
    for text in printed {
        for piece in numbers.iter().flat_map(|number| [&number[3..9], &number[8..]]) {
            assert!(!text.contains(piece), "{text}");
        }
    }
}

#[test]
fn texts_of_a_list_are_told_from_numbers() {
    for text in [ACCORD, "1hgcm82693a000001", "1HG CM826 93A000001", "IHGCM82693A00O001", "WVWZZZ1KZ8W000001"] {
        assert!(looks_like_vin(text), "{text}");
    }
    for text in [
        "",
        "Volkswagen Golf 7",
        "Mercedes-Benz C 300",
        "12345678901234567",
        "cyv_0123456789abcd",
        "1HGCM82693A00001",
        "OIOIOIOIOIOIOIOI1",
    ] {
        assert!(!looks_like_vin(text), "{text}");
    }
}

#[test]
fn bodies_are_the_words_of_the_catalog() {
    for word in body::all() {
        assert!(word.parse::<cyclorama_core::vehicle::BodyClass>().is_ok(), "{word}");
    }
}

#[test]
fn broken_tables_are_an_error_that_names_the_file() {
    for packed in [&b""[..], b"no zstd", &include_bytes!("../data/vpic.bin")[..1000]] {
        let error = Decoder::of("later.bin", packed).err().unwrap();
        assert!(error.to_string().contains("later.bin"), "{error}");
    }
}

/// VINs of the Accord's scheme with any serial number, and the correct check digit.
fn accords() -> impl Strategy<Value = String> {
    (0_u32..1_000_000).prop_map(|serial| {
        let with = |digit: char| format!("1HGCM826{digit}3A{serial:06}");
        let right = |text: &String| Number::read(text, false).unwrap().check_digit_is_right() == Some(true);
        "0123456789X".chars().map(with).find(right).unwrap()
    })
}

proptest! {
    #[test]
    fn no_text_stops_the_decoder(text in ".{0,40}", hint in proptest::option::of(0_u16..4000)) {
        let _ = DECODER.decode(&text, YearLimits { hint, latest: 2027 });
        let _ = looks_like_vin(&text);
    }

    #[test]
    fn no_number_stops_the_decoder(text in "[1-5JKLSVWYZ][A-HJ-NPR-Z0-9]{2}[A-Z0-9*]{5,14}", hint in proptest::option::of(1980_u16..2028)) {
        if let Ok(decoded) = DECODER.decode(&text, YearLimits { hint, latest: 2027 }) {
            prop_assert!(decoded.year.is_none_or(|year| (1980..=2027).contains(&year)));
        }
    }

    #[test]
    fn one_wrong_digit_is_noticed(number in accords(), place in 11_usize..LENGTH, digit in b'0'..=b'9') {
        let mut bytes = number.clone().into_bytes();
        prop_assume!(bytes[place] != digit);
        bytes[place] = digit;
        let refused = matches!(decode(&String::from_utf8(bytes).unwrap()), Err(VinError::CheckDigit { .. }));
        prop_assert!(refused);
    }

    /// A suggestion is never refused itself, and the right VIN is among the repairs of two swapped
    /// neighbours.
    #[test]
    fn changed_neighbours_are_found(number in accords(), place in 3_usize..LENGTH - 1) {
        let mut bytes = number.clone().into_bytes();
        bytes.swap(place, place + 1);
        let wrong = String::from_utf8(bytes).unwrap();
        prop_assume!(wrong != number);
        let read = Number::read(&wrong, false).unwrap();
        prop_assume!(read.check_digit_is_right() == Some(false));
        prop_assert!(read.repairs().iter().any(|repair| repair.text() == number));
        if let Err(VinError::CheckDigit { suggestion: Some(found) }) = decode(&wrong) {
            prop_assert!(decode(found.as_str()).is_ok());
        }
    }
}
