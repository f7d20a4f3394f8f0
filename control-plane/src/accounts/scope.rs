//! Scopes of API keys: each allows a group of requests.

use std::fmt::{Display, Formatter};
use std::str::FromStr;

#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub enum Scope {
    #[serde(rename = "images:read")]
    ImagesRead,
    #[serde(rename = "account:read")]
    AccountRead,
    #[serde(rename = "billing:write")]
    BillingWrite,
}

impl Scope {
    pub const ALL: [Scope; 3] = [Scope::ImagesRead, Scope::AccountRead, Scope::BillingWrite];

    pub const fn as_str(self) -> &'static str {
        match self {
            Scope::ImagesRead => "images:read",
            Scope::AccountRead => "account:read",
            Scope::BillingWrite => "billing:write",
        }
    }

    /// For people who decide about it.
    pub const fn meaning(self) -> &'static str {
        match self {
            Scope::ImagesRead => "Get pictures and make signed addresses, with your credits",
            Scope::AccountRead => "See your balance and use, search the catalog, rate pictures",
            Scope::BillingWrite => "Open payment pages for you; paying stays with you",
        }
    }

    /// Names separated by spaces or commas, each once; the first name that is no scope is the error.
    pub fn parse_list(text: &str) -> Result<Vec<Scope>, String> {
        let mut scopes = Vec::new();
        for name in text.split([',', ' ']).filter(|name| !name.is_empty()) {
            let scope = name.parse::<Scope>()?;
            if !scopes.contains(&scope) {
                scopes.push(scope);
            }
        }
        Ok(scopes)
    }

    /// The stored form: names separated by spaces.
    pub fn print_list(scopes: &[Scope]) -> String {
        scopes.iter().map(|scope| scope.as_str()).collect::<Vec<_>>().join(" ")
    }
}

impl FromStr for Scope {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Scope::ALL.into_iter().find(|scope| scope.as_str() == name).ok_or_else(|| name.to_owned())
    }
}

impl Display for Scope {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}
