//! The commands of a service's customers: pictures, signed addresses, the catalog, the account. All go through the Rust client
//! (`sdk/rust`); where the key comes from is `credentials`'.

mod agent_config;
mod batch;
mod check;
mod check_vehicles;
mod credentials;
mod feedback;
mod get;
mod login;
mod options;
mod picture;
mod resolve;
mod search;
mod show;
mod url;
mod whoami;

pub use check::check;
pub use credentials::key_for;

use super::exit::{NoKey, WrongUsage};
use credentials::Credentials;
use cyclorama_client::Client;

#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// Get a key for this machine: a person approves it in a browser
    Login(login::Login),
    /// Forget this machine's key
    Logout(login::Logout),
    /// The account: credits, what was used, what the key may do
    Whoami(whoami::Whoami),
    /// A picture into a file (1 credit)
    Get(get::Get),
    /// Signed URLs for web pages (1 credit each)
    Url(url::Url),
    /// Pictures of a list (CSV) into a folder (1 credit each); goes on where it was stopped
    Batch(batch::Batch),
    /// Which vehicles of a list (CSV) there are, by names, ids, identification numbers or words (free); goes on where it was stopped
    Check(check_vehicles::Check),
    /// What a few words mean, such as "navy 911 from behind", or which vehicle an identification number is of (free)
    Resolve(resolve::Resolve),
    /// Makes and models by name (free)
    Search(search::Search),
    /// Views, colors, sizes, formats, prices and limits (free)
    Options(options::Options),
    /// Say how good a picture is (free)
    Feedback(feedback::Feedback),
    /// Configuration of agents' hosts for the tools of this service
    AgentConfig(agent_config::AgentConfig),
}

impl Command {
    pub async fn run(self, as_json: bool) -> anyhow::Result<()> {
        match self {
            Command::Login(command) => command.run(as_json).await,
            Command::Logout(command) => command.run(as_json),
            Command::Whoami(command) => command.run(as_json).await,
            Command::Get(command) => command.run(as_json).await,
            Command::Url(command) => command.run(as_json).await,
            Command::Batch(command) => command.run(as_json).await,
            Command::Check(command) => command.run(as_json).await,
            Command::Resolve(command) => command.run(as_json).await,
            Command::Search(command) => command.run(as_json).await,
            Command::Options(command) => command.run(as_json).await,
            Command::Feedback(command) => command.run(as_json).await,
            Command::AgentConfig(command) => command.run(as_json),
        }
    }
}

/// A service's address as it was given, without the slash at its end. A service is at the root of its host: an address with more is one of its
/// pages, or of its API.
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
    fn address(&self) -> anyhow::Result<String> {
        let given = self.url.as_deref().map(str::trim).filter(|url| !url.is_empty());
        let address = match given {
            Some(url) => url.to_owned(),
            None => Credentials::read()?.last.unwrap_or_else(|| ON_THIS_MACHINE.to_owned()),
        };
        Ok(root_of_host(&address)?)
    }

    /// A client with a key, for what needs one.
    fn client(&self) -> anyhow::Result<Client> {
        let address = self.address()?;
        match key_for(&address)? {
            Some(key) => Ok(builder(&address).api_key(key.reveal()).build()?),
            None => Err(NoKey { address }.into()),
        }
    }

    /// A client for what is public.
    fn visitor(&self) -> anyhow::Result<Client> {
        Ok(builder(&self.address()?).build()?)
    }
}

fn builder(address: &str) -> cyclorama_client::Builder {
    Client::builder(address).user_agent(concat!("cyclorama-cli/", env!("CARGO_PKG_VERSION")))
}
