//! Starting and stopping `cyclorama serve`.
//!
//! Stopping has stages. After the first SIGTERM or SIGINT, `/readyz` returns 503, and after the
//! time that load balancers need to notice, new requests get 503 as well. Requests in flight
//! finish up to a time limit, while render nodes still work for them. Then the embedded node
//! leaves and connections close. A second signal, a second or more after the first, ends
//! everything at once. An operation that is cut off leaves the database as a crash would, which is
//! always corrected at the next start.

use crate::accounts::openid::Providers;
use crate::accounts::{self, operator};
use crate::app::{App, Resources};
use crate::catalog::{CurrentCatalog, reload};
use crate::clock::Clock;
use crate::config::Config;
use crate::config::farm::NodeMode;
use crate::config::prices::Payments;
use crate::config::storage::Storage;
use crate::db::Database;
use crate::delivery::credentials::Credentials;
use crate::delivery::sizes::Sizes;
use crate::delivery::urls::SigningKeys;
use crate::http::{router, server};
use crate::ledger::{self, Meter, ProcessId};
use crate::mail::Mailer;
use crate::objects::ObjectStore;
use crate::owner_only;
use crate::payments::stripe::StripeClient;
use crate::prewarm;
use crate::renders::{self, Renders};
use crate::telemetry;
use anyhow::{Context, bail};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// Time for events that were accepted and are not written yet.
const LAST_EVENTS: Duration = Duration::from_secs(5);

/// Time for the bytes of finished answers, once nothing else is waited for.
const LAST_BYTES: Duration = Duration::from_secs(3);

/// Signals this close together count as one.
const SAME_SIGNAL: Duration = Duration::from_secs(1);

/// Runs the service until a signal stops it.
pub async fn serve(config: Config) -> anyhow::Result<()> {
    let storage = &config.storage;
    owner_only::secure(storage)?;
    allow_files();
    // Handle signals before anybody can find the service ready and stop it.
    let mut stop = signals()?;
    let public = bind("CYCLORAMA_LISTEN", config.listen.public).await?;
    let admin = bind("CYCLORAMA_ADMIN_LISTEN", config.listen.admin).await?;
    let public_address = reachable(public.local_addr()?);
    let admin_address = reachable(admin.local_addr()?);
    let base_url = config.listen.base_url.clone().unwrap_or_else(|| format!("http://{public_address}"));

    warn_of_free_credits(&config);

    let _locked = lock(storage)?;
    let (app, tasks) = open(config, base_url, &format!("http://{admin_address}"), start_metrics()?).await?;
    tracing::info!(
        version = env!("CARGO_PKG_VERSION"), public = %public_address, admin = %admin_address, base_url = app.base_url,
        "serving"
    );

    let bounds = server::ListenerBounds {
        connections_max: app.config.limits.connections_max,
        client_timeout: app.config.limits.client_timeout,
        trusted_proxies: app.config.listen.trusted_proxies.clone(),
    };
    let mut serving = tokio::spawn({
        let public = server::serve(public, router::public(app.clone()), bounds.clone(), app.closing.clone());
        let admin = server::serve(admin, router::operator(app.clone()), bounds, app.closing.clone());
        async move {
            tokio::join!(public, admin);
        }
    });
    let upkeep = tokio::spawn(metrics_upkeep(app.metrics.clone()));

    let stop_node = CancellationToken::new();
    let node = match app.config.farm.node {
        NodeMode::None => None,
        NodeMode::Embedded => {
            // On one machine the page should have its images by the time somebody looks at it; a
            // farm renders them for its first visitor.
            app.examples.start_rendering(&app.pictures, &app.stopping);
            Some(app.embedded_node(public_address).start(stop_node.clone()).await?)
        }
    };

    next_of(&mut stop).await;
    app.unready.cancel();
    let unhurried = async {
        tracing::info!(
            seconds = app.config.logs.unready.as_secs(),
            "shutdown began: not ready, so that load balancers send no new requests"
        );
        tokio::time::sleep(app.config.logs.unready).await;
        tracing::info!(bound_seconds = app.config.logs.shutdown.as_secs(), "shutdown waits for the requests in flight");
        app.stopping.cancel();
        if tokio::time::timeout(app.config.logs.shutdown, app.in_flight.drained()).await.is_err() {
            tracing::warn!("shutdown ended before all requests in flight had finished");
        }
        stop_node.cancel();
        if let Some(node) = node {
            let _ = node.await;
        }
        app.closing.cancel();
        app.telemetry.flush(LAST_EVENTS).await;
        // Finished answers may still be on their way to slow clients.
        let _ = tokio::time::timeout(LAST_BYTES, &mut serving).await;
    };
    tokio::select! {
        () = unhurried => tracing::info!("stopped"),
        second = second_signal() => {
            second?;
            tracing::warn!("stopped at once because of a second signal");
        }
    }
    serving.abort();
    upkeep.abort();
    tasks.iter().for_each(|task| task.abort());
    // Closing the last connection lets SQLite merge its log into the file. A connection that hangs
    // must not block the shutdown.
    let _ = tokio::time::timeout(Duration::from_secs(2), app.db.close()).await;
    Ok(())
}

/// Warns about payments that take no money on a service that others can reach, where they
/// are hardly intended.
fn warn_of_free_credits(config: &Config) {
    if config.prices.payments == Payments::Local
        && !(config.listen.is_for_this_machine() && config.listen.public.ip().is_loopback())
    {
        tracing::warn!("CYCLORAMA_PAYMENTS is local: every account can get any number of credits without paying");
    }
}

/// Opens everything that the service works with, and starts its background tasks. The tasks run
/// until they are aborted.
pub async fn open(
    config: Config,
    base_url: String,
    admin_url: &str,
    metrics: PrometheusHandle,
) -> anyhow::Result<(App, Vec<JoinHandle<()>>)> {
    let db = Database::open(config.storage.database_url.reveal()).await.context("the database cannot be opened")?;
    // Follow the database's clock before anything gets a date.
    let clock_follower = db.follow_clock().await.context("the clock of the database could not be read")?;
    let given_token = config.storage.operator_token.as_ref().map(|token| token.reveal());
    let operator_token = operator::establish(&config.storage.data_dir, admin_url, given_token, &mut rand::rng())?;
    let store = ObjectStore::open(&config.storage.objects).await.context("CYCLORAMA_OBJECTS")?;
    let process = ProcessId::new();
    let meter = Meter::start(db.clone(), Clock::SYSTEM, process.clone());
    let renders = Renders::new(db.clone(), Clock::SYSTEM, store.clone(), render_settings(&config, &base_url));
    let (telemetry, event_tasks) = telemetry::Sink::start(db.clone(), Clock::SYSTEM, config.limits.events);
    // Correct what a crash left open before the first request.
    let ledger_sweeper = ledger::start_sweeper(db.clone(), Clock::SYSTEM, process.clone(), meter.clone());
    let mut tasks = vec![clock_follower, ledger_sweeper.await.context("the ledger cannot be opened")?];
    tasks.extend(event_tasks);
    let reload_number = reload::number(&db).await.context("the catalog reloads cannot be read")?;
    let catalog = CurrentCatalog::open(config.storage.catalog.clone(), reload_number).context("CYCLORAMA_CATALOG")?;
    let signing_keys = SigningKeys::open(db.clone(), Clock::SYSTEM).await.context("the signing keys cannot be read")?;
    let mailer = config.mail.as_ref().map(Mailer::new).transpose().context("CYCLORAMA_SMTP_URL")?;
    let credentials = config.credentials.as_ref().map(|files| Credentials::open(&files.certificate, &files.key));
    let credentials = credentials.transpose().context("CYCLORAMA_C2PA_CERTIFICATE, CYCLORAMA_C2PA_KEY")?;
    let openid = Providers::new(&config.openid, &base_url).context("CYCLORAMA_OPENID_PROVIDERS")?;
    let stripe = match &config.prices.payments {
        Payments::Stripe(settings) => {
            Some(StripeClient::new(settings.clone()).context("TLS for Stripe cannot be set up")?)
        }
        Payments::Local | Payments::Off => None,
    };
    let sizes = Sizes::new(store.clone(), config.sizes);
    tasks.push(sizes.start_sweeping(Clock::SYSTEM));
    let app = App::new(Resources {
        base_url,
        db,
        process,
        clock: Clock::SYSTEM,
        mailer,
        openid,
        stripe,
        signing_keys,
        catalog,
        store,
        credentials,
        sizes,
        meter,
        renders,
        telemetry,
        operator_token,
        metrics,
        config,
    })
    .context("the list of examples is not valid")?;
    tasks.extend(start_tasks(&app));
    Ok((app, tasks))
}

/// Starts the tasks that run beside requests once the service is open, until they are aborted. The
/// file of each says what it does and how often.
fn start_tasks(app: &App) -> Vec<JoinHandle<()>> {
    let mut tasks = vec![
        ledger::start_tidying(app.db.clone(), app.clock),
        app.budget_watch().start(),
        prewarm::start(app.clone()),
        app.catalog_reload.clone().start(),
        app.missing_vehicles.clone().start_writing(app.db.clone(), app.clock),
        start_search_index(app.catalog.clone()),
    ];
    tasks.extend(accounts::start_tidying(app.db.clone(), app.clock));
    tasks.extend(app.renders.start_upkeep(app.config.limits.custom_paints_kept));
    tasks.extend(app.auto_reload().into_iter().flat_map(|sweep| sweep.start()));
    tasks.extend(app.alerts().map(|sweep| sweep.start()));
    tasks
}

/// Builds the search index in advance, so that the first search does not have to wait for it.
fn start_search_index(catalog: Arc<CurrentCatalog>) -> JoinHandle<()> {
    tokio::task::spawn_blocking(move || {
        catalog.now().search_index();
    })
}

/// Raises the limit of open files to this user's maximum: the usual 1,024 are fewer than the
/// connections that the service accepts.
fn allow_files() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut files = getrlimit(Resource::Nofile);
    if files.current != files.maximum {
        files.current = files.maximum;
        if let Err(error) = setrlimit(Resource::Nofile, files) {
            tracing::warn!(error = &error as &dyn std::error::Error, "the limit of open files could not be raised");
        }
    }
}

/// Locks the data folder. SQLite belongs to one process, which a second one would take for dead.
/// The system releases the lock when the process ends, however it ends.
fn lock(storage: &Storage) -> anyhow::Result<std::fs::File> {
    let path = storage.data_dir.join("lock");
    let file = std::fs::File::create(&path).with_context(|| format!("{} cannot be created", path.display()))?;
    if file.try_lock().is_err() {
        bail!(
            "another `cyclorama serve` uses the data folder {}; set a different CYCLORAMA_DATA_DIR for each",
            storage.data_dir.display()
        );
    }
    Ok(file)
}

/// The requests for work with one node token take at most the permits of nodes divided by this
/// number: half of what one network may take, so that nodes with another token get permits even if
/// all nodes are in one network.
const POLLS_RATIO: usize = 4;

fn render_settings(config: &Config, base_url: &str) -> renders::RenderSettings {
    let farm = &config.farm;
    renders::RenderSettings {
        lease_seconds: farm.lease_seconds,
        heartbeat_seconds: farm.heartbeat_seconds,
        render_wait: farm.render_wait(),
        daily_budget_microusd: farm.daily_budget_microusd,
        render_cost_microusd: farm.render_cost_microusd,
        node_usd_per_hour_max: farm.node_usd_per_hour_max,
        nodes_per_token: farm.nodes_per_token,
        polls_per_token: config.limits.connections_max / POLLS_RATIO,
        rules: farm.budget_rules.clone(),
        base_url: base_url.to_owned(),
        queue_max: renders::QUEUE_MAX,
        look_again: renders::LOOK_AGAIN,
    }
}

async fn bind(setting: &str, address: SocketAddr) -> anyhow::Result<TcpListener> {
    TcpListener::bind(address).await.with_context(|| format!("{setting}: {address} cannot be listened on"))
}

/// Returns an address to which a program on this machine can connect.
fn reachable(mut bound: SocketAddr) -> SocketAddr {
    if bound.ip().is_unspecified() {
        bound.set_ip(if bound.is_ipv4() {
            std::net::Ipv4Addr::LOCALHOST.into()
        } else {
            std::net::Ipv6Addr::LOCALHOST.into()
        });
    }
    bound
}

/// Starts listening for SIGTERM and SIGINT.
fn signals() -> anyhow::Result<[Signal; 2]> {
    Ok([signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?])
}

/// Waits for the next of these signals.
async fn next_of([terminate, interrupt]: &mut [Signal; 2]) {
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
}

/// Waits for a signal that is not a repetition of the first one: a sender that signals a process
/// and its group (`timeout`, Ctrl-C under a script) sends the same signal twice.
async fn second_signal() -> anyhow::Result<()> {
    tokio::time::sleep(SAME_SIGNAL).await;
    next_of(&mut signals()?).await;
    Ok(())
}

fn start_metrics() -> anyhow::Result<PrometheusHandle> {
    // From a cached image to a cold render.
    const SECONDS: [f64; 12] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 1.0, 5.0, 15.0, 60.0, 150.0];
    Ok(PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), &SECONDS)?
        .install_recorder()?)
}

/// Folds recorded values into buckets, so that memory stays bounded between scrapes.
async fn metrics_upkeep(handle: PrometheusHandle) {
    let mut every = tokio::time::interval(Duration::from_secs(5));
    loop {
        every.tick().await;
        handle.run_upkeep();
    }
}
