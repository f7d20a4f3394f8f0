//! Fuzzes the search with any text. It must not panic and must give the same answer twice, with at
//! most the requested number of hits, the best kind first, and only vehicles of the requested year.
#![no_main]

use cyclorama_catalog::Catalog;
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

static CATALOG: LazyLock<Catalog> = LazyLock::new(|| Catalog::embedded().expect("the embedded release"));

#[derive(Debug, arbitrary::Arbitrary)]
struct Question<'a> {
    text: &'a str,
    year: Option<u16>,
    limit: u8,
}

fuzz_target!(|question: Question<'_>| {
    let Question { text, year, limit } = question;
    let hits = CATALOG.search(text, year, usize::from(limit));
    assert!(hits.len() <= usize::from(limit));
    assert!(hits.is_sorted_by_key(|hit| hit.kind));
    assert!(hits.iter().all(|hit| year.is_none_or(|year| hit.years == [year])));
    let names = |hits: &[cyclorama_catalog::search::Hit<'_>]| -> Vec<String> {
        hits.iter()
            .map(|hit| format!("{} {:?} {:?}", hit.make.slug, hit.model.map(|model| &model.slug), hit.years))
            .collect()
    };
    assert_eq!(names(&hits), names(&CATALOG.search(text, year, usize::from(limit))));
});
