//! The commands for customers of a service: images, signed URLs, the catalog, the account. All use
//! the Rust client (`sdk/rust`); the key comes from `credentials`.

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
pub enum ApiCommand {
    /// Get a key for this machine, which a person approves in a browser
    Login(login::Login),
    /// Remove this machine's key
    Logout(login::Logout),
    /// Show the account: credits, usage and the scopes of the key
    Whoami(whoami::Whoami),
    /// Save an image to a file (1 credit)
    Get(get::Get),
    /// Create signed URLs for web pages (1 credit each)
    Url(url::UrlArguments),
    /// Save the images of a CSV list to a folder (1 credit each); can be resumed
    Batch(batch::BatchArguments),
    /// Check which vehicles of a CSV list are in the catalog, by names, ids, vehicle identification
    /// numbers or words (free); can be resumed
    Check(check_vehicles::CheckArguments),
    /// Find the vehicle that a text such as "navy 911 from behind", or a vehicle identification
    /// number, means (free)
    Resolve(resolve::Resolve),
    /// Search makes and models by name (free)
    Search(search::Search),
    /// Show views, colours, sizes, formats, prices and limits (free)
    Options(options::Options),
    /// Rate an image (free)
    Feedback(feedback::Feedback),
    /// Print the configuration of agent hosts for the tools of this service
    AgentConfig(agent_config::AgentConfig),
}

impl ApiCommand {
    pub async fn run(self, as_json: bool) -> anyhow::Result<()> {
        match self {
            ApiCommand::Login(command) => command.run(as_json).await,
            ApiCommand::Logout(command) => command.run(as_json),
            ApiCommand::Whoami(command) => command.run(as_json).await,
            ApiCommand::Get(command) => command.run(as_json).await,
            ApiCommand::Url(command) => command.run(as_json).await,
            ApiCommand::Batch(command) => command.run(as_json).await,
            ApiCommand::Check(command) => command.run(as_json).await,
            ApiCommand::Resolve(command) => command.run(as_json).await,
            ApiCommand::Search(command) => command.run(as_json).await,
            ApiCommand::Options(command) => command.run(as_json).await,
            ApiCommand::Feedback(command) => command.run(as_json).await,
            ApiCommand::AgentConfig(command) => command.run(as_json),
        }
    }
}
