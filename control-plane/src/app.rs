//! The state that every handler and task shares, created once at start.

use crate::accounts::api_key::ApiKeys;
use crate::accounts::node_token::{self, KnownNodes};
use crate::accounts::openid::Providers;
use crate::accounts::operator::OperatorToken;
use crate::accounts::partner_secret::PartnerSecrets;
use crate::accounts::password::Passwords;
use crate::alerts;
use crate::catalog::CurrentCatalog;
use crate::catalog::reload::Reload;
use crate::catalog::vin::Decoders;
use crate::catalog::wanted::MissingVehicles;
use crate::clock::Clock;
use crate::config::Config;
use crate::db::Database;
use crate::delivery::credentials::Credentials;
use crate::delivery::sizes::Sizes;
use crate::delivery::urls::{self, Mint, SignedUrls, SigningKeys};
use crate::delivery::{self, AbandonedImages, Deliveries, Examples, Images};
use crate::farm::budget_watch::BudgetWatch;
use crate::farm::embedded::EmbeddedNode;
use crate::in_flight::InFlight;
use crate::ledger::{Meter, ProcessId};
use crate::mail::Mailer;
use crate::named_requests::NamedRequests;
use crate::network_counts::NetworkCounts;
use crate::objects::ObjectStore;
use crate::payments::auto_reload;
use crate::payments::stripe::StripeClient;
use crate::renders::Renders;
use crate::telemetry;
use metrics_exporter_prometheus::PrometheusHandle;
use std::net::SocketAddr;
use std::ops::Deref;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// The running service: cheap to clone, the same for every request.
#[derive(Clone)]
pub struct App(Arc<Parts>);

/// The settings of the service, and the parts that were opened with them.
pub struct Resources {
    pub config: Config,
    pub base_url: String,
    pub db: Database,
    pub process: ProcessId,
    pub clock: Clock,
    pub mailer: Option<Mailer>,
    pub openid: Providers,
    pub stripe: Option<StripeClient>,
    pub signing_keys: SigningKeys,
    pub catalog: CurrentCatalog,
    pub store: ObjectStore,
    /// Signs images; `None` if they are not signed.
    pub credentials: Option<Credentials>,
    pub sizes: Sizes,
    pub meter: Meter,
    pub renders: Renders,
    pub telemetry: telemetry::Sink,
    pub operator_token: OperatorToken,
    pub metrics: PrometheusHandle,
}

pub struct Parts {
    /// Every setting, checked at start.
    pub config: Config,
    /// URL before every path that clients see, without a slash at the end.
    pub base_url: String,
    /// The database, with an up-to-date schema.
    pub db: Database,
    /// Source of the current time.
    pub clock: Clock,
    /// API keys, looked up by hash.
    pub keys: Arc<ApiKeys>,
    /// The secrets with which partners sign URLs.
    pub partner_secrets: PartnerSecrets,
    /// Hashes passwords, a few at a time.
    pub passwords: Passwords,
    /// Sends emails; `None` if no mail server is configured.
    pub mailer: Option<Mailer>,
    /// The providers with which people may sign in.
    pub openid: Providers,
    /// Takes payments; `None` if Stripe is not used.
    pub stripe: Option<StripeClient>,
    /// The keys with which delivery tokens are signed.
    pub signing_keys: Arc<SigningKeys>,
    /// Makes signed URLs.
    pub mint: Mint,
    /// Loads the images of signed URLs.
    pub addresses: SignedUrls,
    /// The vehicles that exist.
    pub catalog: Arc<CurrentCatalog>,
    /// Makes all processes read their catalog again.
    pub catalog_reload: Reload,
    /// Names that were requested and that the catalog does not have.
    pub missing_vehicles: MissingVehicles,
    /// The decoders of vehicle identification numbers.
    pub vins: Decoders,
    /// The home page's images.
    pub examples: Examples,
    /// The store in which images are kept.
    pub store: ObjectStore,
    /// Counts requests and moves credits, in groups.
    pub meter: Meter,
    /// The state of all renders, and the queue of the work.
    pub renders: Renders,
    /// Finds images: in its cache, in the store, or by rendering them.
    pub pictures: Images,
    /// Delivers images to holders of keys.
    pub deliveries: Deliveries,
    /// Requests that are carried out once, by their idempotency keys.
    pub named_requests: NamedRequests,
    /// Receives reported events.
    pub telemetry: telemetry::Sink,
    /// The token that gives access to the operator address.
    pub operator_token: OperatorToken,
    /// The metrics for `/metrics`.
    pub metrics: PrometheusHandle,
    /// Tokens of nodes that were admitted recently.
    pub known_nodes: KnownNodes,
    /// Counts requests without a key, by network.
    pub network_counts: NetworkCounts,
    /// Requests of clients that are being answered.
    pub in_flight: InFlight,
    /// Cancelled at the first signal to stop, so that load balancers turn away.
    pub unready: CancellationToken,
    /// Cancelled after load balancers had time to turn away: new requests are refused, those in
    /// flight are finished with the nodes' help.
    pub stopping: CancellationToken,
    /// Cancelled when nothing is left to wait for: nodes' long polls end and connections close.
    pub closing: CancellationToken,
}

impl App {
    /// Puts the service together. Fails if the list of the home page's images does not parse.
    pub fn new(resources: Resources) -> Result<Self, toml::de::Error> {
        let Resources { config, base_url, db, process, clock, store, meter, renders, .. } = resources;
        let (keys, catalog) = (Arc::new(ApiKeys::default()), Arc::new(resources.catalog));
        let signing_keys = Arc::new(resources.signing_keys);
        let pictures = Images::new(
            delivery::ImageSources {
                store: store.clone(),
                renders: renders.clone(),
                catalog: catalog.clone(),
                clock,
                credentials: resources.credentials,
                sizes: resources.sizes,
            },
            config.limits.image_cache_bytes_max,
            config.limits.new_paints_per_account_day,
        );
        let abandoned = AbandonedImages {
            renders: renders.clone(),
            looks: pictures.looks.clone(),
            db: db.clone(),
            clock,
            allowed_per_day: config.limits.abandoned_renders_per_day,
        };
        let render_wait = config.farm.render_wait();
        let deliveries = Deliveries::new(pictures.clone(), abandoned, meter.clone(), clock, render_wait);
        let named_requests = NamedRequests { db: db.clone(), process: process.clone(), clock };
        let parts = Parts {
            mint: Mint {
                signing_keys: signing_keys.clone(),
                deliveries: deliveries.clone(),
                named: named_requests.clone(),
                meter: meter.clone(),
                clock,
                base_url: base_url.clone(),
            },
            addresses: SignedUrls::new(urls::SignedUrlSources {
                db: db.clone(),
                clock,
                catalog: catalog.clone(),
                keys: keys.clone(),
                signing_keys: signing_keys.clone(),
                pictures: pictures.clone(),
                meter: meter.clone(),
            }),
            catalog_reload: Reload { db: db.clone(), catalog: catalog.clone(), process, clock },
            examples: Examples::of(&catalog.now())?,
            base_url,
            db,
            clock,
            keys,
            partner_secrets: PartnerSecrets::default(),
            passwords: Passwords::default(),
            mailer: resources.mailer,
            openid: resources.openid,
            stripe: resources.stripe,
            signing_keys,
            catalog,
            missing_vehicles: MissingVehicles::default(),
            vins: Decoders::default(),
            store,
            meter,
            renders,
            pictures,
            deliveries,
            named_requests,
            telemetry: resources.telemetry,
            operator_token: resources.operator_token,
            metrics: resources.metrics,
            known_nodes: node_token::known_nodes(),
            network_counts: NetworkCounts::default(),
            in_flight: InFlight::default(),
            unready: CancellationToken::new(),
            stopping: CancellationToken::new(),
            closing: CancellationToken::new(),
            config,
        };
        Ok(App(Arc::new(parts)))
    }

    /// Returns the writer of emails about reloads.
    pub fn reload_letters(&self) -> auto_reload::FailureEmails {
        auto_reload::FailureEmails { db: self.db.clone(), mailer: self.mailer.clone(), base_url: self.base_url.clone() }
    }

    /// Returns the task that reloads accounts, or `None` without Stripe.
    pub fn auto_reload(&self) -> Option<auto_reload::AutoReloadSweep> {
        Some(auto_reload::AutoReloadSweep {
            db: self.db.clone(),
            clock: self.clock,
            stripe: self.stripe.clone()?,
            packs: self.config.prices.packs.clone(),
            every: self.config.prices.auto_reload_every,
            letters: self.reload_letters(),
        })
    }

    /// Returns the task that writes emails about balances, or `None` without a mail server.
    pub fn alerts(&self) -> Option<alerts::AlertSweep> {
        Some(alerts::AlertSweep {
            db: self.db.clone(),
            clock: self.clock,
            mailer: self.mailer.clone()?,
            every: self.config.limits.alerts_every,
            base_url: self.base_url.clone(),
        })
    }

    /// Returns the task that watches the day's budget.
    pub fn budget_watch(&self) -> BudgetWatch {
        BudgetWatch {
            renders: self.renders.clone(),
            clock: self.clock,
            mailer: self.mailer.clone(),
            operator: self.config.mail.as_ref().and_then(|mail| mail.operator.clone()),
            base_url: self.base_url.clone(),
        }
    }

    /// Returns the node beside the service, which reaches the service at `public`.
    pub fn embedded_node(&self, public: SocketAddr) -> EmbeddedNode {
        EmbeddedNode {
            farm: self.config.farm.clone(),
            data_dir: self.config.storage.data_dir.clone(),
            traces: self.config.logs.traces.clone(),
            db: self.db.clone(),
            renders: self.renders.clone(),
            clock: self.clock,
            public,
        }
    }
}

impl Deref for App {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}
