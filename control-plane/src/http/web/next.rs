//! Where somebody goes after signing in. Only pages of ours: an address that leads elsewhere is not followed.

use serde::Deserialize;
use url::Url;

/// Longer ones are nobody's of ours.
const BYTES_MAX: usize = 1000;

/// Where everybody goes who was not on the way anywhere.
pub const HOME: &str = "/dashboard";

/// The query of the pages to sign in and to sign up.
#[derive(Deserialize)]
pub struct Way {
    /// The page to go on to.
    #[serde(default)]
    pub next: String,
}

/// The path and query of one of our pages, or [`HOME`].
pub fn local(next: &str) -> String {
    read(next).unwrap_or_else(|| HOME.to_owned())
}

/// Read as browsers read it, against an origin that is nobody's: `//host`, `/\host` and tabs inside lead elsewhere, and are seen to.
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
