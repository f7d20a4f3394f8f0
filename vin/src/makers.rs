//! Makers of whose vehicles vPIC has none or not all (`data/makers.tsv`).

use crate::number::Number;

/// A maker outside North America.
pub struct Elsewhere {
    code: &'static str,
    pub make: &'static str,
    /// True if position 10 is a model year.
    pub tells_year: bool,
}

/// Reads all of them, a hundred lines.
pub fn read() -> Vec<Elsewhere> {
    let lines = include_str!("../data/makers.tsv").lines().filter(|line| !line.starts_with('#'));
    let fields = lines.filter_map(|line| {
        let mut fields = line.split('\t');
        Some((fields.next()?, fields.next()?, fields.next()?, fields.next()?))
    });
    fields.map(|(code, make, _, year)| Elsewhere { code, make, tells_year: year == "yes" }).collect()
}

/// Returns the maker of a VIN, by its first three characters.
pub fn find<'a>(makers: &'a [Elsewhere], number: &Number) -> Option<&'a Elsewhere> {
    let code = number.maker();
    makers.iter().find(|maker| maker.code == code)
}
