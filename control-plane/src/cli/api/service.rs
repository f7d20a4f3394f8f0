//! Which service a command goes to, and with which key.

use super::credentials::{Credentials, key_for};
use crate::cli::exit::{NoKey, WrongUsage};
use cyclorama_client::Client;

/// A service's address as it was given, without the slash at its end. A service is at the root of its host: an address
/// with more is one of its pages, or of its API.
pub fn root_of_host(given: &str) -> Result<String, WrongUsage> {
    let given = given.trim();
    if let Ok(url) = ::url::Url::parse(given)
        && url.has_host()
        && (url.path() != "/" || url.query().is_some() || url.fragment().is_some())
    {
        let (path, origin) = (&url[::url::Position::BeforePath..], url.origin().ascii_serialization());
        return Err(WrongUsage(format!("the address {given} has a path, {path}; a service has none: is it {origin}?")));
    }
    Ok(given.trim_end_matches('/').to_owned())
}

/// Which service is meant.
#[derive(Debug, clap::Args)]
pub struct Service {
    /// Address of the service; the one of the last login when not given
    #[arg(long, env = "CYCLORAMA_URL", value_name = "URL")]
    url: Option<String>,
}

const ON_THIS_MACHINE: &str = "http://127.0.0.1:8080";

impl Service {
    /// Without the slash at its end.
    pub fn address(&self) -> anyhow::Result<String> {
        let given = self.url.as_deref().map(str::trim).filter(|url| !url.is_empty());
        let address = match given {
            Some(url) => url.to_owned(),
            None => Credentials::read()?.last.unwrap_or_else(|| ON_THIS_MACHINE.to_owned()),
        };
        Ok(root_of_host(&address)?)
    }

    /// A client with a key, for what needs one.
    pub fn client(&self) -> anyhow::Result<Client> {
        let address = self.address()?;
        match key_for(&address)? {
            Some(key) => Ok(builder(&address).api_key(key.reveal()).build()?),
            None => Err(NoKey { address }.into()),
        }
    }

    /// A client for what is public.
    pub fn visitor(&self) -> anyhow::Result<Client> {
        Ok(builder(&self.address()?).build()?)
    }
}

/// A client that says which program it is.
pub fn builder(address: &str) -> cyclorama_client::Builder {
    Client::builder(address).user_agent(concat!("cyclorama-cli/", env!("CARGO_PKG_VERSION")))
}
