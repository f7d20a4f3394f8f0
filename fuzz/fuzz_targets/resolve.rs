//! Fuzzes resolve with any request. It must not panic and must give the same answer twice, with a
//! vehicle that the catalog has in that year. Its confidence may be high only where nothing was
//! left over and the answer, written out, resolves to itself.
#![no_main]

use cyclorama_catalog::Catalog;
use cyclorama_catalog::resolve::{Confidence, Request, resolve};
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

static CATALOG: LazyLock<Catalog> = LazyLock::new(|| Catalog::embedded().expect("the embedded release"));

#[derive(Debug, arbitrary::Arbitrary)]
struct Question<'a> {
    query: &'a str,
    year: Option<u16>,
    make: Option<&'a str>,
    model: Option<&'a str>,
}

fuzz_target!(|question: Question<'_>| {
    let Question { query, year, make, model } = question;
    let request = Request { query, year, make, model };
    let told = |request: &Request<'_>| match resolve(&CATALOG, request) {
        Ok(found) => format!("{} {} {} {:?}", found.make.slug, found.model.slug, found.year, found.extracted),
        Err(unresolved) => format!("{:?}", unresolved.makes.iter().map(|make| &make.slug).collect::<Vec<_>>()),
    };
    assert_eq!(told(&request), told(&request));
    let Ok(found) = resolve(&CATALOG, &request) else { return };
    assert!(CATALOG.vehicle(found.make, found.model, found.year).is_some(), "a year that the model does not have");
    assert!(found.candidates.first().is_some_and(|first| std::ptr::eq(first.model, found.model)));
    if found.confidence == Confidence::High {
        assert!(found.extracted.unread.is_empty(), "words left over: {:?}", found.extracted.unread);
        let canonical = format!("{} {} {}", found.year, found.make.name, found.model.name);
        let again = resolve(&CATALOG, &Request { query: &canonical, ..Request::default() });
        let again = again.unwrap_or_else(|_| panic!("`{canonical}` resolves to nothing"));
        assert_eq!((&again.make.slug, again.year), (&found.make.slug, found.year), "{canonical}");
    }
});
