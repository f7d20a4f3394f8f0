use super::*;
use crate::body_of_word;
use std::sync::LazyLock;

static CATALOG: LazyLock<Catalog> = LazyLock::new(|| Catalog::embedded().expect("the embedded release loads"));

/// Make, model, year and body as feeds, decoders and people write them. A certain name is found
/// with its body, and the answer says how it was read. Any other is refused, with a first
/// suggestion that is found itself.
#[test]
fn what_is_certain_is_found_and_nothing_is_guessed() {
    let cases = include_str!("../asked_names.tsv").lines().filter(|line| !line.starts_with('#'));
    let (mut found, mut refused, mut wrong) = (0, 0, Vec::new());
    for line in cases {
        let [make, model, year, asked, row, body, matched] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        let year: u16 = year.parse().expect(line);
        let asked = (asked != "-").then(|| body_of_word(asked).unwrap_or_else(|| panic!("{line}")));
        let answer = CATALOG.find_asked(&AskedVehicle { body: asked, ..AskedVehicle::named(make, model, year) });
        let told = match (&answer, matched) {
            (Ok(found), _) => {
                format!("{}/{}\t{}\t{}", found.make, found.model, found.vehicle.body.as_str(), found.matched.as_str())
            }
            (Err(refusal), _) => format!("{}\t-\trefused", followed(refusal, year)),
        };
        let expected = format!("{row}\t{body}\t{matched}");
        let any = row == "*" && told.ends_with("refused") && !told.starts_with("nothing");
        if told != expected && !any {
            wrong.push(format!("{line}: {told}"));
        }
        if matched == "refused" { refused += 1 } else { found += 1 }
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert!(found >= 60 && refused >= 30, "{found} found and {refused} refused");
}

/// The first suggestion, if it is found in the requested year or else in the nearest year that it
/// has.
fn followed(refusal: &NotFound, year: u16) -> String {
    let first = refusal.suggestions.first();
    let nearest = |one: &Suggestion| one.years.iter().copied().min_by_key(|other| other.abs_diff(year));
    let again = first.and_then(|one| CATALOG.find(&one.make_slug, one.model_slug.as_deref()?, nearest(one)?).ok());
    again.map_or("nothing".to_owned(), |found| format!("{}/{}", found.make, found.model))
}
