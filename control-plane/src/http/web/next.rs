//! The page to which a user goes after signing in. Only our own pages are accepted: a URL that
//! leads elsewhere is not followed.

use serde::Deserialize;
use url::Url;

/// Maximum length of `next`, in bytes. No URL of our pages is longer.
const BYTES_MAX: usize = 1000;

/// Page to go to after signing in if no other was requested.
pub const HOME: &str = "/dashboard";

/// Query of the sign-in page and the sign-up page.
#[derive(Deserialize)]
pub struct NextPage {
    /// Page to go to after signing in.
    #[serde(default)]
    pub next: String,
}

/// Returns the path and query of one of our pages, or [`HOME`] if `next` is none.
pub fn local(next: &str) -> String {
    read(next).unwrap_or_else(|| HOME.to_owned())
}

/// Resolves `next` as browsers do, against an origin that nobody owns. This detects `//host`,
/// `/\host` and tabs inside, which lead to other hosts.
fn read(next: &str) -> Option<String> {
    if !next.starts_with('/') || next.len() > BYTES_MAX {
        return None;
    }
    let here = Url::parse("http://here.invalid/").ok()?;
    let there = here.join(next).ok()?;
    if there.origin() != here.origin() || there.path().starts_with("//") {
        return None;
    }
    let query = there.query().map(|query| format!("?{query}")).unwrap_or_default();
    Some(format!("{}{query}", there.path()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_our_own_pages_are_gone_to() {
        for (next, gone_to) in [
            ("/device?user_code=BDWP-HQPK", "/device?user_code=BDWP-HQPK"),
            ("/dashboard/keys", "/dashboard/keys"),
            ("", HOME),
            ("dashboard", HOME),
            ("https://evil.example/", HOME),
            ("//evil.example/", HOME),
            ("/\\evil.example/", HOME),
            ("/\t/evil.example/", HOME),
            ("/./%2f/evil.example", "/%2f/evil.example"),
            ("/.//evil.example", HOME),
            ("/a/..//evil.example", HOME),
            ("javascript:alert(1)", HOME),
            ("/a#b", "/a"),
        ] {
            assert_eq!(local(next), gone_to, "{next:?}");
        }
    }

    proptest! {
        #[test]
        fn whatever_is_given_a_browser_stays_here(next in "[/\\\\\\t.a:@?#%2fe-]{0,12}") {
            let gone_to = local(&next);
            let here = Url::parse("https://images.example.com/sign-in").expect("an address");
            let there = here.join(&gone_to).expect("an address");
            prop_assert_eq!(there.origin(), here.origin());
        }
    }
}
