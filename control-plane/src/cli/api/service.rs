//! The choice of the service that a command calls, and of the key.

use super::credentials::{CredentialsFile, key_for};
use crate::cli::exit::{NoKey, WrongUsage};
use cyclorama_client::Client;

/// Returns a service's URL as it was given, without the slash at its end. A service is at the root
/// of its host: a URL with a path belongs to one of its pages, or to its API, and is refused.
pub fn root_of_host(given: &str) -> Result<String, WrongUsage> {
    let given = given.trim();
    if let Ok(url) = ::url::Url::parse(given)
        && url.has_host()
        && (url.path() != "/" || url.query().is_some() || url.fragment().is_some())
    {
        let (path, origin) = (&url[::url::Position::BeforePath..], url.origin().ascii_serialization());
        return Err(WrongUsage(format!(
            "the URL {given} has the path {path}, but the URL of a service has none: is it {origin}?"
        )));
    }
    Ok(given.trim_end_matches('/').to_owned())
}

/// The service that a command calls.
#[derive(Debug, clap::Args)]
pub struct ServiceArguments {
    /// URL of the service; default: the service of the last login
    #[arg(long, env = "CYCLORAMA_URL", value_name = "URL")]
    url: Option<String>,
}

const ON_THIS_MACHINE: &str = "http://127.0.0.1:8080";

impl ServiceArguments {
    /// Returns the URL of the service, without the slash at its end.
    pub fn address(&self) -> anyhow::Result<String> {
        let given = self.url.as_deref().map(str::trim).filter(|url| !url.is_empty());
        let address = match given {
            Some(url) => url.to_owned(),
            None => CredentialsFile::read()?.last.unwrap_or_else(|| ON_THIS_MACHINE.to_owned()),
        };
        Ok(root_of_host(&address)?)
    }

    /// Returns a client with a key. Returns [`NoKey`] if there is no key for the service.
    pub fn client(&self) -> anyhow::Result<Client> {
        let address = self.address()?;
        match key_for(&address)? {
            Some(key) => Ok(builder(&address).api_key(key.reveal()).build()?),
            None => Err(NoKey { address }.into()),
        }
    }

    /// Returns a client without a key, for public resources.
    pub fn visitor(&self) -> anyhow::Result<Client> {
        Ok(builder(&self.address()?).build()?)
    }
}

/// Returns the builder of a client that names this program in `User-Agent`.
pub fn builder(address: &str) -> cyclorama_client::Builder {
    Client::builder(address).user_agent(concat!("cyclorama-cli/", env!("CARGO_PKG_VERSION")))
}
