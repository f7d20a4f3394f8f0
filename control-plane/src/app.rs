//! What every handler and task shares, made once at start.

use crate::accounts::api_key::Keys;
use crate::accounts::node_token::KnownNodes;
use crate::accounts::openid::Providers;
use crate::accounts::operator::OperatorToken;
use crate::accounts::partner_secret::PartnerSecrets;
use crate::accounts::password::Passwords;
use crate::catalog::CurrentCatalog;
use crate::catalog::vin::Decoders;
use crate::catalog::wanted::MissingVehicles;
use crate::clock::Clock;
use crate::config::Config;
use crate::db::Database;
use crate::delivery::urls::{Addresses, SigningKeys};
use crate::delivery::{Examples, Pictures};
use crate::in_flight::InFlight;
use crate::ledger::{Meter, ProcessId};
use crate::mail::Mailer;
use crate::network_counts::NetworkCounts;
use crate::objects::ObjectStore;
use crate::payments::stripe::Stripe;
use crate::renders::Renders;
use crate::telemetry;
use metrics_exporter_prometheus::PrometheusHandle;
use std::ops::Deref;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// The running service: cheap to clone, the same for every request.
#[derive(Clone)]
pub struct App(Arc<Parts>);

pub struct Parts {
    /// Every setting, checked at start.
    pub config: Config,
    /// What clients see in front of every path; no slash at the end.
    pub base_url: String,
    /// The database, schema up to date.
    pub db: Database,
    /// This run of the service, among all that share the database.
    pub process: ProcessId,
    /// The present moment.
    pub clock: Clock,
    /// API keys, looked up by hash.
    pub keys: Keys,
    /// What partners sign addresses with.
    pub partner_secrets: PartnerSecrets,
    /// Hashes passwords, a few at a time.
    pub passwords: Passwords,
    /// Sends letters; `None` where no mail is set up.
    pub mailer: Option<Mailer>,
    /// Whom people may sign in with.
    pub openid: Providers,
    /// Takes payments; `None` where another provider does.
    pub stripe: Option<Stripe>,
    /// What delivery tokens are signed with.
    pub signing_keys: SigningKeys,
    /// Signed addresses at hand.
    pub addresses: Addresses,
    /// Which vehicles exist.
    pub catalog: CurrentCatalog,
    /// Names that the catalog did not have.
    pub missing_vehicles: MissingVehicles,
    /// What identification numbers are read by.
    pub vins: Decoders,
    /// The home page's pictures.
    pub examples: Examples,
    /// Where pictures are kept.
    pub store: ObjectStore,
    /// Counts requests and moves credits, in groups.
    pub meter: Meter,
    /// Which pictures exist, and the work that makes them.
    pub renders: Renders,
    /// Pictures at hand, and how the others are found.
    pub pictures: Pictures,
    /// Where reported events go.
    pub telemetry: telemetry::Sink,
    /// What opens the operator address.
    pub operator_token: OperatorToken,
    /// Figures for `/metrics`.
    pub metrics: PrometheusHandle,
    /// Nodes that were let in lately.
    pub known_nodes: KnownNodes,
    /// Requests without a key, by network.
    pub network_counts: NetworkCounts,
    /// Requests of clients that are being answered.
    pub in_flight: InFlight,
    /// Cancelled at the first signal to stop: load balancers are told to turn away.
    pub unready: CancellationToken,
    /// Cancelled when they have had time to: new requests are refused, those in flight are finished with the nodes' help.
    pub stopping: CancellationToken,
    /// Cancelled when nothing is worth waiting for any more: nodes' long polls end and connections close.
    pub closing: CancellationToken,
}

impl App {
    pub fn new(parts: Parts) -> Self {
        App(Arc::new(parts))
    }
}

impl Deref for App {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}
