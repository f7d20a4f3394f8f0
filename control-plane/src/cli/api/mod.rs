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
mod service;
mod show;
mod url;
mod whoami;

pub use check::check;
pub use credentials::key_for;
pub use service::root_of_host;

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
