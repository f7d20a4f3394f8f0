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

    /// Returns a description for the person who decides about granting the scope.
    pub const fn meaning(self) -> &'static str {
        match self {
            Scope::ImagesRead => "Get images and create signed URLs with your credits",
            Scope::AccountRead => "Read your balance and usage, search the catalog, rate images",
            Scope::BillingWrite => "Open payment pages for you (only you can pay)",
        }
    }

    /// Parses names separated by spaces or commas, and returns each scope once. Fails with the
    /// first name that is not a scope.
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

    /// Returns the stored form: names separated by spaces.
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
