//! The queue's invariants, attacked on every available database. The tests play the nodes, which
//! upload images of one colour.

use super::queue::{EnqueueOutcome, EnqueueTerms, LEASES_MAX, LINGER_MAX, Loss};
use super::revision::seed;
use super::*;
use crate::db::DatabaseKind;
use crate::test_database::databases;
use bytes::Bytes;
use cyclorama_core::encoding::{Pixmap as Pixels, encode};
use cyclorama_core::wire::{
    CUSTOM_PAINTS, Device, FailureKind, HeartbeatRequest, Job, JobKind, JobProgress, JoinRequest, NodeOrder, NodeState,
    ObjectName, Pipeline, ResultRequest, Stage, Unparsed, Upload, UploadedObject,
};
use cyclorama_core::{BodyClass, Colour, Dimensions, Format, Paint, Vehicle, VehicleType, View};
use futures::Stream;
use sha2::{Digest, Sha256};
use sqlx::Row;
use std::convert::Infallible;

mod abandoned;
mod free_accounts;
mod joining;
mod nodes_at_fault;
mod objects_of_results;
mod paints;
mod polls;

const TOKEN: &str = "token-1";

fn vehicle(model: &str) -> Vehicle {
    Vehicle {
        make: "testa".to_owned(),
        model: model.to_owned(),
        year: 2020,
        vehicle_type: VehicleType::ALL[0],
        body: BodyClass::Sedan,
        dimensions: Dimensions {
            length_mm: 4500,
            width_mm: 1800,
            height_mm: 1450,
            wheelbase_mm: 2700,
            front_track_mm: 1550,
        },
    }
}

fn variant(vehicle: &Vehicle, colour: Colour) -> Variant {
    Variant {
        make: vehicle.make.clone(),
        model: vehicle.model.clone(),
        year: vehicle.year,
        body: None,
        view: View::Side,
        paint: colour.into(),
    }
}

fn client() -> Requester {
    Requester::account(Lane::Interactive, "account-1")
}

fn settings() -> RenderSettings {
    RenderSettings {
        lease_seconds: 30,
        heartbeat_seconds: 5,
        render_wait: Duration::from_secs(20),
        daily_budget_microusd: 1_000_000,
        render_cost_microusd: 2_000,
        node_usd_per_hour_max: 100.0,
        nodes_per_token: 64,
        polls_per_token: 64,
        rules: Rules {
            prewarm_percent: 100,
            example_percent: 100,
            account_percent: 100,
            free_percent: 100,
            notify_percents: vec![50, 80, 100],
            at_limit: AtLimit::Finish,
        },
        base_url: "http://test".to_owned(),
        queue_max: QUEUE_MAX,
        look_again: Duration::from_millis(250),
    }
}

/// A body as it comes over the network.
fn in_pieces(bytes: impl Into<Bytes>) -> impl Stream<Item = Result<Bytes, Infallible>> {
    let bytes: Bytes = bytes.into();
    let pieces: Vec<_> = bytes.chunks(1000).map(|piece| Ok(Bytes::copy_from_slice(piece))).collect();
    futures::stream::iter(pieces)
}

fn store() -> ObjectStore {
    let folder = std::env::temp_dir().join(format!("cyclorama-test-{}", uuid::Uuid::now_v7()));
    ObjectStore::open_files(folder).expect("a new store opens")
}

fn renders(database: &Database, settings: RenderSettings) -> Renders {
    Renders::new(database.clone(), Clock::SYSTEM, store(), settings)
}

fn join_request(slots: u32) -> JoinRequest {
    JoinRequest {
        name: "test".to_owned(),
        version: "0".to_owned(),
        slots,
        batch_max: 1,
        pipelines: vec![Pipeline { id: "flat".to_owned(), digest: "0".repeat(64) }],
        paints: vec![CUSTOM_PAINTS.to_owned()],
        device: Device::default(),
        usd_per_hour: None,
    }
}

async fn node(renders: &Renders) -> String {
    priced_node(renders, None).await
}

async fn priced_node(renders: &Renders, usd_per_hour: Option<f64>) -> String {
    let request = JoinRequest { usd_per_hour, ..join_request(4) };
    renders.join(TOKEN, &request).await.expect("joins")
}

async fn work(renders: &Renders, node_id: &str, wait_seconds: u64) -> Vec<Job> {
    renders.work(TOKEN, node_id, 4, wait_seconds, std::future::pending()).await.expect("asks")
}

async fn one(renders: &Renders, node_id: &str) -> Job {
    let mut jobs = work(renders, node_id, 10).await;
    assert_eq!(jobs.len(), 1, "{jobs:?}");
    jobs.remove(0)
}

fn secret_of(url: &str) -> &str {
    url.rsplit('/').nth(1).expect("the address holds a secret")
}

/// Returns the object that a test's node uploads. Each colour makes another image.
fn object_for(job: &Job, owed: &Upload) -> Vec<u8> {
    let Some((paint, _)) = owed.name.picture() else { return b"layers".to_vec() };
    assert!(job.colours.contains(&paint), "a colour of the job");
    let [r, g, b] = paint.srgb();
    let pixels = [r, g, b, 255].repeat((owed.width * owed.height) as usize);
    let format = Format::of_media_type(&owed.media_type).expect("a known type");
    let picture = Pixels::from_rgba(owed.width, owed.height, pixels).expect("fits");
    // One encoding per size is enough to be right; WebP at 1024 px takes its time.
    encode(&picture, format).expect("encodes")
}

fn described(name: &ObjectName, bytes: &[u8]) -> UploadedObject {
    let sha256 = hex::encode(Sha256::digest(bytes));
    UploadedObject { name: name.clone(), sha256, bytes: bytes.len() as u64 }
}

/// Uploads every object that the job requires.
async fn upload(renders: &Renders, job: &Job) -> Result<Vec<UploadedObject>, UploadError> {
    let mut objects = Vec::new();
    for owed in &job.uploads {
        let bytes = object_for(job, owed);
        objects.push(described(&owed.name, &bytes));
        let open = renders.open_upload(secret_of(&owed.url), &owed.name).await?;
        renders.take_upload(&open, in_pieces(bytes)).await?;
    }
    Ok(objects)
}

fn report(job: &Job, objects: Vec<UploadedObject>) -> ResultRequest {
    ResultRequest { fence: job.fence, objects, receipt: Unparsed::from_document(serde_json::json!({"device": "test"})) }
}

async fn finish(renders: &Renders, job: &Job) {
    let objects = upload(renders, job).await.expect("uploads");
    renders.accept(TOKEN, &job.job_id, &report(job, objects)).await.expect("is accepted");
}

async fn fail(renders: &Renders, job: &Job, kind: FailureKind) -> bool {
    renders.fail(TOKEN, &job.job_id, job.fence, kind, "on purpose").await.expect("reports").is_ok()
}

async fn want(renders: &Renders, vehicle: &Vehicle, colour: Colour) -> Result<EnqueueOutcome, RenderError> {
    let deadline_ms = Clock::SYSTEM.now().0 + LINGER_MAX.as_millis() as i64;
    renders.request(vehicle, &variant(vehicle, colour), &client(), deadline_ms).await
}

async fn number(database: &Database, sql: &'static str) -> i64 {
    sqlx::query(sql).fetch_one(&database.readers).await.expect("counts").try_get(0).expect("a number")
}

#[tokio::test(flavor = "multi_thread")]
async fn forty_requests_in_two_processes_share_one_render() {
    for database in databases().await {
        let store = store();
        let both = [(); 2].map(|()| Renders::new(database.clone(), Clock::SYSTEM, store.clone(), settings()));
        let vehicle = vehicle("forty");
        let requests: Vec<_> = (0..40)
            .map(|n| {
                let (renders, vehicle) = (both[n % 2].clone(), vehicle.clone());
                tokio::spawn(async move { renders.picture(&vehicle, &variant(&vehicle, Colour::Red), &client()).await })
            })
            .collect();
        let node_id = node(&both[0]).await;
        let job = one(&both[0], &node_id).await;
        assert_eq!((job.kind, job.fence, job.attempt), (JobKind::Render, 1, 1));
        assert!(work(&both[1], &node_id, 0).await.is_empty(), "there is one lease");
        finish(&both[0], &job).await;
        let mut masters = Vec::new();
        for request in requests {
            masters.push(request.await.expect("joins").expect("a picture").master_sha256);
        }
        masters.dedup();
        assert_eq!(masters.len(), 1);
        assert_eq!(number(&database, "select count(*) from jobs").await, 1);
        let found = both[1].find(&variant(&vehicle, Colour::Red)).await.expect("finds").expect("is done");
        assert_eq!(found.master_sha256, masters[0]);
        let master = crate::objects::keys::master(&found.master_sha256).expect("a key");
        assert!(store.size(&master).await.expect("asks").is_some());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn colours_of_one_view_never_have_two_live_jobs() {
    for database in databases().await {
        let store = store();
        let both = [(); 2].map(|()| Renders::new(database.clone(), Clock::SYSTEM, store.clone(), settings()));
        let vehicle = vehicle("colours");
        let requests: Vec<_> = Colour::ALL[..6]
            .iter()
            .cycle()
            .take(24)
            .enumerate()
            .map(|(n, colour)| {
                let (renders, vehicle, colour) = (both[n % 2].clone(), vehicle.clone(), *colour);
                tokio::spawn(async move {
                    tokio::time::sleep(Duration::from_millis(n as u64 * 40)).await;
                    renders.picture(&vehicle, &variant(&vehicle, colour), &client()).await
                })
            })
            .collect();
        let node_id = node(&both[0]).await;
        let mut kinds = Vec::new();
        while number(&database, "select count(*) from renders where state = 'done'").await < 6 {
            let jobs = work(&both[kinds.len() % 2], &node_id, 1).await;
            assert!(jobs.len() <= 1, "one live lease for the vehicle and view");
            for job in jobs {
                finish(&both[0], &job).await;
                kinds.push(job.kind);
            }
        }
        assert_eq!(kinds.iter().filter(|kind| **kind == JobKind::Render).count(), 1, "{kinds:?}");
        for request in requests {
            request.await.expect("joins").expect("a picture");
        }
    }
}

/// A request for several paints at once holds some rows while it waits for others.
#[tokio::test(flavor = "multi_thread")]
async fn many_colours_and_single_ones_that_are_wanted_at_once_do_not_wait_for_each_other_in_a_circle() {
    for database in databases().await {
        let renders = renders(&database, settings());
        let deadline_ms = Clock::SYSTEM.now().0 + LINGER_MAX.as_millis() as i64;
        for round in 0..20 {
            let vehicle = vehicle(&format!("circle-{round}"));
            let mut orders: Vec<Vec<Colour>> = Colour::ALL.iter().rev().take(6).map(|colour| vec![*colour]).collect();
            orders.insert(0, Colour::ALL.to_vec());
            orders.push(Colour::ALL.iter().rev().copied().collect());
            let wants: Vec<_> = orders
                .into_iter()
                .map(|colours| {
                    let (renders, vehicle) = (renders.clone(), vehicle.clone());
                    tokio::spawn(async move {
                        let variants: Vec<Variant> = colours.iter().map(|colour| variant(&vehicle, *colour)).collect();
                        let terms = EnqueueTerms { requester: &client(), deadline_ms, budget_percent: 100 };
                        let wanted = renders.want_all(&vehicle, &variants, terms).await.expect("wants");
                        assert_eq!(wanted.len(), variants.len());
                    })
                })
                .collect();
            for want in wants {
                want.await.expect("no lock is waited for in a circle");
            }
        }
        assert_eq!(number(&database, "select count(*) from jobs").await, 20);
        let all = number(&database, "select count(*) from renders").await;
        assert_eq!(all, 20 * Colour::ALL.len() as i64);
        assert_eq!(renders.budget().await.expect("reads").reserved_microusd, 20 * 2_000);
    }
}

/// PostgreSQL ends one of two transactions in a deadlock: that is a lost race, and no error.
#[tokio::test(flavor = "multi_thread")]
async fn who_is_ended_in_a_circle_of_locks_begins_again() {
    for database in databases().await.into_iter().filter(|database| database.kind == DatabaseKind::Postgres) {
        let renders = renders(&database, settings());
        let vehicle = vehicle("ended");
        let deadline_ms = Clock::SYSTEM.now().0 + LINGER_MAX.as_millis() as i64;
        let mut colours = Colour::ALL.to_vec();
        colours.sort_by_key(|colour| colour.to_string());
        let insert = |colour: &Colour| {
            sqlx::query(
                "insert into renders (id, vehicle_key, view, color, state, round, changed_at_ms) values ($1, $2, $3, $4, 'wanted', 1, 0)",
            )
            .bind(uuid::Uuid::now_v7().to_string())
            .bind(vehicle.key())
            .bind(View::Side.as_str())
            .bind(colour.to_string())
        };
        // Another transaction holds the last paint's row, and waits for the first one once that is
        // held.
        let mut other = database.begin().await.expect("begins");
        insert(&colours[colours.len() - 1]).execute(&mut *other).await.expect("inserts");
        let wanting = {
            let (renders, vehicle, colours) = (renders.clone(), vehicle.clone(), colours.clone());
            tokio::spawn(async move {
                let variants: Vec<Variant> = colours.iter().map(|colour| variant(&vehicle, *colour)).collect();
                let terms = EnqueueTerms { requester: &client(), deadline_ms, budget_percent: 100 };
                renders.want_all(&vehicle, &variants, terms).await
            })
        };
        let waits =
            "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
        while number(&database, waits).await == 0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let _ = insert(&colours[0]).execute(&mut *other).await;
        other.rollback().await.expect("rolls back");
        let wanted = wanting.await.expect("joins").expect("it begins again");
        assert_eq!(wanted.len(), colours.len());
        assert_eq!(number(&database, "select count(*) from jobs").await, 1);
    }
}

#[tokio::test]
async fn colours_join_a_queued_job_and_follow_a_leased_one() {
    for database in databases().await {
        let renders = renders(&database, settings());
        let (vehicle, node_id) = (vehicle("join"), node(&renders).await);
        for colour in [Colour::Red, Colour::Blue, Colour::Red] {
            want(&renders, &vehicle, colour).await.expect("queues");
        }
        let render = one(&renders, &node_id).await;
        assert_eq!(
            (render.kind, &render.colours[..]),
            (JobKind::Render, &[Colour::Red, Colour::Blue].map(Paint::from)[..])
        );
        assert_eq!(render.layers_url, None);
        want(&renders, &vehicle, Colour::White).await.expect("waits for the layers");
        assert!(work(&renders, &node_id, 0).await.is_empty());
        finish(&renders, &render).await;

        let paint = one(&renders, &node_id).await;
        assert_eq!(
            (paint.kind, &paint.colours[..], paint.seed),
            (JobKind::Paint, &[Paint::from(Colour::White)][..], render.seed)
        );
        let layers_url = paint.layers_url.clone().expect("a paint job has layers");
        let layers = renders.layers_for(layers_url.rsplit('/').next().expect("a secret")).await.expect("reads");
        assert_eq!(&layers[..], b"layers");
        finish(&renders, &paint).await;
        assert!(
            renders.layers_for(layers_url.rsplit('/').next().expect("a secret")).await.is_err(),
            "the lease is over"
        );
        assert!(matches!(want(&renders, &vehicle, Colour::White).await, Ok(EnqueueOutcome::Done(_))));
        assert_eq!(renders.budget().await.expect("reads").settled_microusd, 2_000, "paint costs nothing");
    }
}

#[tokio::test]
async fn a_stale_fence_changes_nothing() {
    for database in databases().await {
        let renders = renders(&database, RenderSettings { lease_seconds: 0, ..settings() });
        let (vehicle, slow) = (vehicle("stale"), node(&renders).await);
        want(&renders, &vehicle, Colour::Red).await.expect("queues");
        let stale = one(&renders, &slow).await;
        tokio::time::sleep(Duration::from_millis(5)).await;
        renders.sweep().await.expect("sweeps");

        // The rest of the test happens within one ordinary lease.
        let renders = Renders::new(database.clone(), Clock::SYSTEM, renders.0.store.clone(), settings());
        let quick = node(&renders).await;
        let fresh = one(&renders, &quick).await;
        assert_eq!((fresh.job_id.as_str(), fresh.attempt), (stale.job_id.as_str(), 2));
        assert!(fresh.fence > stale.fence);

        let everything = "select state || fence || coalesce(node_id, '') || lease_until_ms || colors from jobs";
        let look = || async {
            let row = sqlx::query(everything).fetch_one(&database.readers).await.expect("reads");
            row.try_get::<String, _>(0).expect("text")
        };
        let before = look().await;
        assert!(matches!(upload(&renders, &stale).await, Err(UploadError::Closed)));
        let objects = upload(&renders, &fresh).await.expect("uploads");
        assert!(matches!(
            renders.accept(TOKEN, &stale.job_id, &report(&stale, objects.clone())).await,
            Err(ResultError::Stale(_))
        ));
        assert!(!fail(&renders, &stale, FailureKind::Model).await);
        let progress = |job: &Job| JobProgress {
            job_id: job.job_id.clone(),
            fence: job.fence,
            stage: "late".into(),
            progress: 1.0,
        };
        let heartbeat =
            HeartbeatRequest { state: NodeState::Busy, jobs: vec![progress(&stale)], device: Unparsed::default() };
        let answer = renders.heartbeat(TOKEN, &slow, &heartbeat).await.expect("beats");
        assert_eq!(answer.cancel, std::slice::from_ref(&stale.job_id));
        // A node with another token cannot end a lease either.
        assert!(matches!(
            renders.accept("token-2", &fresh.job_id, &report(&fresh, objects.clone())).await,
            Err(ResultError::Stale(_))
        ));
        assert_eq!(look().await, before);

        renders.accept(TOKEN, &fresh.job_id, &report(&fresh, objects.clone())).await.expect("is accepted");
        assert!(matches!(
            renders.accept(TOKEN, &fresh.job_id, &report(&fresh, objects)).await,
            Err(ResultError::Stale(_))
        ));
        assert!(!fail(&renders, &fresh, FailureKind::Internal).await, "a job ends once");
        assert!(matches!(want(&renders, &vehicle, Colour::Red).await, Ok(EnqueueOutcome::Done(_))));
    }
}

#[tokio::test]
async fn results_are_verified_before_anything_moves() {
    for database in databases().await {
        let renders = renders(&database, settings());
        let (vehicle, node_id) = (vehicle("verified"), node(&renders).await);
        want(&renders, &vehicle, Colour::Red).await.expect("queues");
        let job = one(&renders, &node_id).await;
        let good = upload(&renders, &job).await.expect("uploads");
        let replace = |name: &'static str, bytes: &'static [u8]| {
            let (renders, job) = (renders.clone(), job.clone());
            async move {
                let url = &job.uploads[0].url;
                let open = renders.open_upload(secret_of(url), &name.into()).await.expect("is open");
                renders.take_upload(&open, in_pieces(bytes)).await.expect("stores");
            }
        };
        let refused = |objects: Vec<UploadedObject>, name: &'static str| {
            let (renders, job) = (renders.clone(), job.clone());
            async move {
                match renders.accept(TOKEN, &job.job_id, &report(&job, objects)).await {
                    Err(ResultError::Rejected(rejected)) => assert_eq!(rejected.name, name),
                    other => panic!("{name}: {other:?}"),
                }
            }
        };
        refused(good[1..].to_vec(), "layers").await;
        let mut lying = good.clone();
        lying[1].sha256 = "0".repeat(64);
        refused(lying, "master.red.png").await;
        let mut short = good.clone();
        short[1].bytes -= 1;
        refused(short, "master.red.png").await;
        // An image of another kind, with its true size and digest.
        replace("256.red.webp", b"not a picture").await;
        let mut other = good.clone();
        for object in other.iter_mut().filter(|object| object.name.to_string() == "256.red.webp") {
            object.sha256 = hex::encode(Sha256::digest(b"not a picture"));
            object.bytes = 13;
        }
        refused(other, "256.red.webp").await;
        assert_eq!(number(&database, "select count(*) from layers").await, 0);
        assert_eq!(number(&database, "select count(*) from renders where state = 'wanted'").await, 1);
        assert!(renders.open_upload(secret_of(&job.uploads[0].url), &"../../x".into()).await.is_err());
        assert!(renders.open_upload("guessed", &ObjectName::Layers).await.is_err());
        // The same addresses accept the objects again.
        finish(&renders, &job).await;
        assert!(matches!(want(&renders, &vehicle, Colour::Red).await, Ok(EnqueueOutcome::Done(_))));
    }
}

#[tokio::test]
async fn three_attempts_then_everybody_is_told_once() {
    for database in databases().await {
        let renders = renders(&database, settings());
        let (vehicle, first, second) = (vehicle("three"), node(&renders).await, node(&renders).await);
        let waiting: Vec<_> = [Colour::Red, Colour::Blue, Colour::Red]
            .into_iter()
            .map(|colour| {
                let (renders, vehicle) = (renders.clone(), vehicle.clone());
                tokio::spawn(async move { renders.picture(&vehicle, &variant(&vehicle, colour), &client()).await })
            })
            .collect();
        // All of them wait for the one job before a node claims it.
        while number(&database, "select count(*) from renders where state = 'wanted'").await < 2 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let job = one(&renders, &first).await;
        assert!(fail(&renders, &job, FailureKind::OutOfMemory).await);
        assert!(work(&renders, &first, 0).await.is_empty(), "another node is alive: it goes there");
        let job = one(&renders, &second).await;
        assert!(fail(&renders, &job, FailureKind::Internal).await);
        let job = one(&renders, &first).await;
        assert_eq!((job.attempt, job.fence), (3, 3));
        assert!(fail(&renders, &job, FailureKind::Quality).await);
        for request in waiting {
            let failed = request.await.expect("joins");
            assert!(matches!(&failed, Err(RenderError::Failed { kind, .. }) if kind == "quality"), "{failed:?}");
        }
        assert!(work(&renders, &second, 0).await.is_empty());
        assert_eq!(renders.budget().await.expect("reads").settled_microusd, 2_000);
        assert!(
            matches!(want(&renders, &vehicle, Colour::Red).await, Ok(EnqueueOutcome::Waiting { round: 2, .. })),
            "the next request tries anew"
        );
    }
}

#[tokio::test]
async fn a_lease_that_a_restart_of_the_service_ended_is_no_attempt() {
    for database in databases().await {
        let vehicle = vehicle("restarted");
        let mut renders = renders(&database, settings());
        want(&renders, &vehicle, Colour::Red).await.expect("queues");
        for fence in 1.. {
            let node_id = node(&renders).await;
            let job = one(&renders, &node_id).await;
            assert_eq!((i64::from(job.attempt), job.fence), (1, fence));
            tokio::time::sleep(Duration::from_millis(2)).await;
            renders = self::renders(&database, settings());
            renders.lose(&job.job_id, job.fence, Loss::Silence).await.expect("ends");
            // A job that ends the service each time is not given out for ever.
            let failed = number(&database, "select count(*) from jobs where state = 'failed'").await;
            assert_eq!(failed, i64::from(fence == LEASES_MAX), "after {fence} leases");
            if failed == 1 {
                break;
            }
        }
    }
}

#[tokio::test]
async fn a_vehicle_that_cannot_be_drawn_is_final_at_once_and_no_fault_of_the_node() {
    for database in databases().await {
        let renders = renders(&database, settings());
        let node_id = node(&renders).await;
        for model in ["a", "b", "c", "d"] {
            want(&renders, &vehicle(model), Colour::Red).await.expect("queues");
            let job = one(&renders, &node_id).await;
            assert!(fail(&renders, &job, FailureKind::Model).await);
        }
        assert_eq!(number(&database, "select count(*) from jobs where state = 'failed'").await, 4);
        assert_eq!(renders.nodes().await.expect("lists")[0].state, NodeStatus::Active);
    }
}

#[tokio::test]
async fn three_different_jobs_in_a_row_quarantine_a_node() {
    for database in databases().await {
        let renders = renders(&database, settings());
        let node_id = node(&renders).await;
        let state = || async { renders.nodes().await.expect("lists")[0].state };
        want(&renders, &vehicle("works"), Colour::Red).await.expect("queues");
        for model in ["a", "b"] {
            want(&renders, &vehicle(model), Colour::Red).await.expect("queues");
        }
        // Two fail, one works, two fail: never three in a row.
        let jobs = work(&renders, &node_id, 1).await;
        assert_eq!(jobs.len(), 3);
        for job in &jobs[1..] {
            assert!(fail(&renders, job, FailureKind::Internal).await);
        }
        finish(&renders, &jobs[0]).await;
        for job in work(&renders, &node_id, 1).await {
            assert!(fail(&renders, &job, FailureKind::Internal).await);
        }
        assert_eq!(state().await, NodeStatus::Active);
        want(&renders, &vehicle("last"), Colour::Red).await.expect("queues");
        let jobs = work(&renders, &node_id, 1).await;
        let last = jobs.iter().find(|job| job.vehicle.model == "last").expect("is leased");
        assert!(fail(&renders, last, FailureKind::Internal).await);
        assert_eq!(state().await, NodeStatus::Quarantined);
        assert!(work(&renders, &node_id, 0).await.is_empty());
        let beat = HeartbeatRequest { state: NodeState::Ready, jobs: vec![], device: Unparsed::default() };
        assert_eq!(renders.heartbeat(TOKEN, &node_id, &beat).await.expect("beats").state, NodeOrder::Locked);
        // A node that joins again starts clean.
        let again = node(&renders).await;
        assert_eq!(work(&renders, &again, 1).await.len(), 1);
    }
}

#[tokio::test]
async fn orders_hold_at_once() {
    for database in databases().await {
        let renders = renders(&database, settings());
        let (vehicle, node_id) = (vehicle("orders"), node(&renders).await);
        want(&renders, &vehicle, Colour::Red).await.expect("queues");
        for (order, jobs) in [(NodeOrder::Draining, 0), (NodeOrder::Locked, 0), (NodeOrder::Active, 1)] {
            renders.order_node(&node_id, order, None).await.expect("orders");
            assert_eq!(work(&renders, &node_id, 0).await.len(), jobs, "{order}");
        }
        assert!(matches!(renders.order_node("nobody", NodeOrder::Active, None).await, Err(NodeError::Unknown)));
        renders.leave(TOKEN, &node_id).await.expect("leaves");
        assert_eq!(number(&database, "select count(*) from jobs where state = 'queued'").await, 1, "its job is back");
        assert!(matches!(renders.work(TOKEN, &node_id, 1, 0, std::future::pending()).await, Err(NodeError::Unknown)));
        assert!(renders.nodes().await.expect("lists").is_empty());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn settled_and_reserved_never_pass_the_budget() {
    for database in databases().await {
        let renders = renders(&database, RenderSettings { daily_budget_microusd: 7_000, ..settings() });
        let node_id = node(&renders).await;
        let wanted = futures::future::join_all((0..12).map(|n| {
            let renders = renders.clone();
            tokio::spawn(async move { want(&renders, &vehicle(&format!("b{n}")), Colour::Red).await })
        }))
        .await;
        let (mut queued, mut refused) = (0, 0);
        for outcome in wanted {
            match outcome.expect("joins") {
                Ok(_) => queued += 1,
                Err(RenderError::BudgetSpent { reset_at_ms, .. }) => {
                    assert!(reset_at_ms > Clock::SYSTEM.now().0);
                    refused += 1;
                }
                Err(other) => panic!("{other}"),
            }
        }
        assert_eq!((queued, refused), (3, 9), "{:?}", database.kind);
        let mut jobs = work(&renders, &node_id, 1).await;
        finish(&renders, &jobs.remove(0)).await;
        assert!(fail(&renders, &jobs.remove(0), FailureKind::Model).await);
        let budget = renders.budget().await.expect("reads");
        assert_eq!((budget.settled_microusd, budget.reserved_microusd), (4_000, 2_000));
        // The request of a queued job does not wait any more, so its reservation is free again.
        assert!(fail(&renders, &jobs.remove(0), FailureKind::Internal).await);
        let refused = want(&renders, &vehicle("more"), Colour::Red).await;
        assert!(matches!(refused, Err(RenderError::BudgetSpent { .. })));
        renders.set_budget(0).await.expect("sets");
        assert!(work(&renders, &node_id, 0).await.is_empty(), "0 stops queued renders at once");
        renders.set_budget(10_000).await.expect("sets");
        want(&renders, &vehicle("more"), Colour::Red).await.expect("queues");
        assert_eq!(work(&renders, &node_id, 1).await.len(), 2);
    }
}

/// Four slots at 3.60 US dollars an hour: a slot's second costs 250 millionths, a lease of thirty
/// seconds 7,500.
const USD_PER_HOUR: Option<f64> = Some(3.6);

async fn pass(database: &Database, seconds: i64) {
    let sql =
        "update jobs set leased_at_ms = leased_at_ms - $1, lease_until_ms = lease_until_ms - $1 where state = 'leased'";
    database.write(sqlx::query(sql).bind(seconds * 1000)).await.expect("sets");
}

/// Ends the time of all waiting requests.
async fn all_leave(database: &Database) {
    let sql = "update jobs set deadline_ms = $1 where state = 'leased'";
    database.write(sqlx::query(sql).bind(Clock::SYSTEM.now().0 - 1)).await.expect("sets");
}

/// Returns (reserved, settled), the latter without the seconds of the clock that the test itself
/// took.
async fn books(renders: &Renders) -> (i64, i64) {
    let budget = renders.budget().await.expect("reads");
    (budget.reserved_microusd, budget.settled_microusd / 2_500 * 2_500)
}

async fn beat(renders: &Renders, node_id: &str, job: &Job) -> Vec<String> {
    let (job_id, stage) = (job.job_id.clone(), Stage::Diffusion.into());
    let jobs = vec![JobProgress { job_id, fence: job.fence, stage, progress: 0.5 }];
    let beat = HeartbeatRequest { state: NodeState::Busy, jobs, device: Unparsed::default() };
    renders.heartbeat(TOKEN, node_id, &beat).await.expect("beats").cancel
}

#[tokio::test]
async fn on_a_node_with_a_price_a_render_costs_its_time() {
    for database in databases().await {
        let renders = renders(&database, settings());
        let node_id = priced_node(&renders, USD_PER_HOUR).await;
        queue(&renders, "timed", &client()).await;
        assert_eq!(books(&renders).await, (2_000, 0));
        let job = one(&renders, &node_id).await;
        assert_eq!(books(&renders).await, (7_500, 0), "the whole lease is covered before it begins");
        pass(&database, 20).await;
        assert!(beat(&renders, &node_id, &job).await.is_empty());
        let (reserved, settled) = books(&renders).await;
        assert!((12_500..15_000).contains(&reserved) && settled == 0, "{reserved}: and to its end when it is renewed");
        assert!(fail(&renders, &job, FailureKind::Internal).await);
        let job = one(&renders, &node_id).await;
        pass(&database, 10).await;
        finish(&renders, &job).await;
        assert_eq!(books(&renders).await, (0, 7_500), "both attempts, {:?}", database.kind);

        renders.measure_cost().await.expect("measures");
        assert!((7_500..10_000).contains(&renders.render_cost_microusd()));
        queue(&renders, "never", &client()).await;
        assert!((7_500..10_000).contains(&books(&renders).await.0), "the next one is expected to cost as much");
        assert_eq!(renders.nodes().await.expect("lists")[0].usd_per_hour, USD_PER_HOUR);
    }
}

/// The reservation of a render covers the time in which its result is accepted. The time that the
/// result took is booked, whatever was reserved. A silent node is paid to the end of its lease.
#[tokio::test]
async fn what_a_render_took_is_what_is_booked() {
    for database in databases().await {
        let renders = renders(&database, settings());
        let node_id = priced_node(&renders, USD_PER_HOUR).await;
        queue(&renders, "late", &client()).await;
        let job = one(&renders, &node_id).await;
        pass(&database, 22).await;
        renders.begin_accepting(TOKEN, &job.job_id, job.fence).await.expect("its lease lives");
        let (reserved, _) = books(&renders).await;
        assert!((13_000..15_500).contains(&reserved), "{reserved}: to the end of the lease that was renewed for it");
        finish(&renders, &job).await;
        assert_eq!(books(&renders).await, (0, 5_000), "22 seconds, {:?}", database.kind);

        // Its lease is over, and no sweep has noticed: there is an image, and it took forty
        // seconds.
        queue(&renders, "later", &client()).await;
        let job = one(&renders, &node_id).await;
        let objects = upload(&renders, &job).await.expect("uploads");
        pass(&database, 40).await;
        renders.accept(TOKEN, &job.job_id, &report(&job, objects)).await.expect("is taken in");
        assert_eq!(books(&renders).await.1, 5_000 + 10_000, "{:?}", database.kind);

        queue(&renders, "lost", &client()).await;
        one(&renders, &node_id).await;
        pass(&database, 400).await;
        renders.sweep().await.expect("sweeps");
        let spent = "select spent_microusd from jobs where vehicle_key like '%lost%'";
        assert_eq!(number(&database, spent).await, 7_500, "thirty seconds, {:?}", database.kind);
    }
}

#[tokio::test]
async fn a_node_names_no_price_above_the_ceiling() {
    for database in databases().await {
        let renders = renders(&database, RenderSettings { node_usd_per_hour_max: 5.0, ..settings() });
        for (usd_per_hour, is_taken_in) in [(None, true), (Some(0.0), true), (Some(5.0), true), (Some(5.01), false)] {
            let request = JoinRequest {
                name: "test".to_owned(),
                version: "0".to_owned(),
                slots: 1,
                batch_max: 1,
                pipelines: vec![Pipeline { id: "flat".to_owned(), digest: "0".repeat(64) }],
                paints: vec![CUSTOM_PAINTS.to_owned()],
                device: Device::default(),
                usd_per_hour,
            };
            match renders.join(TOKEN, &request).await {
                Ok(_) => assert!(is_taken_in, "{usd_per_hour:?}"),
                Err(error) => {
                    assert!(!is_taken_in && error.to_string().contains("usd_per_hour"), "{usd_per_hour:?} {error}")
                }
            }
        }
    }
}

/// Four renders are an account's limit. An account that has reached it only extends the life of a
/// queued render, which stays with the account that had it queued.
#[tokio::test]
async fn nobody_passes_a_share_by_joining_what_others_have_queued() {
    for database in databases().await {
        let rules = Rules { account_percent: 40, ..settings().rules };
        let renders = renders(&database, RenderSettings { rules, daily_budget_microusd: 20_000, ..settings() });
        for (model, account, lane) in [
            ("a1", "a", Lane::Interactive),
            ("a2", "a", Lane::Interactive),
            ("a3", "a", Lane::Interactive),
            ("b1", "b", Lane::FirstLoad),
            ("b2", "b", Lane::FirstLoad),
            ("ahead", "", Lane::Prewarm),
        ] {
            queue(&renders, model, &Requester::account(lane, account)).await;
        }
        // There is room for one more render of account `a`.
        for model in ["b1", "b2", "ahead"] {
            queue(&renders, model, &Requester::account(Lane::Interactive, "a")).await;
        }
        let of = async |sql: &'static str| number(&database, sql).await;
        assert_eq!(of("select count(*) from jobs where account_id = 'a'").await, 4, "{:?}", database.kind);
        assert_eq!(of("select count(*) from jobs where account_id = 'b'").await, 1);
        assert_eq!(of("select count(*) from jobs where account_id = ''").await, 1);
        let interactive = Lane::Interactive.number();
        let all = sqlx::query_scalar("select count(*) from jobs where priority = $1").bind(interactive);
        let all: i64 = all.fetch_one(&database.readers).await.expect("counts");
        assert_eq!(all, 6, "they are all waited for");
    }
}

#[tokio::test]
async fn a_render_that_the_budget_does_not_cover_is_ended_and_says_why() {
    for database in databases().await {
        for (budget, seconds) in [(5_000, None), (10_000, Some(20))] {
            let renders = renders(&database, RenderSettings { daily_budget_microusd: budget, ..settings() });
            let node_id = priced_node(&renders, USD_PER_HOUR).await;
            let vehicle = vehicle(&format!("uncovered-{budget}"));
            let waiting = {
                let (renders, vehicle) = (renders.clone(), vehicle.clone());
                tokio::spawn(async move { renders.picture(&vehicle, &variant(&vehicle, Colour::Red), &client()).await })
            };
            while renders.backlog().await.expect("reads").queued == 0 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            match seconds {
                // The lease would cost more than there is.
                None => assert!(work(&renders, &node_id, 0).await.is_empty()),
                // The renewal would cost more than there is.
                Some(seconds) => {
                    let job = one(&renders, &node_id).await;
                    pass(&database, seconds).await;
                    assert_eq!(beat(&renders, &node_id, &job).await, std::slice::from_ref(&job.job_id));
                    assert!(!fail(&renders, &job, FailureKind::Internal).await, "it has ended");
                }
            }
            let told = waiting.await.expect("joins");
            assert!(matches!(told, Err(RenderError::BudgetSpent { scope: BudgetScope::Day, .. })), "{told:?}");
            assert_eq!(books(&renders).await, (0, seconds.map_or(0, |_| 5_000)), "{:?}", database.kind);
            let red = [Colour::Red.into()];
            let progress = renders.progress(&vehicle.key(), View::Side, &red).await.expect("reads");
            assert_eq!(progress, PaintProgress::Nowhere, "a batch tries it again on another day");
        }
    }
}

#[tokio::test]
async fn a_lowered_budget_lets_running_renders_finish_or_stops_them() {
    for database in databases().await {
        for (at_limit, goes_on) in [(AtLimit::Finish, true), (AtLimit::Stop, false)] {
            let rules = Rules { at_limit, ..settings().rules };
            let renders = renders(&database, RenderSettings { rules, ..settings() });
            let node_id = node(&renders).await;
            queue(&renders, &format!("running-{goes_on}"), &client()).await;
            let job = one(&renders, &node_id).await;
            renders.set_budget(1_000).await.expect("sets");
            assert_eq!(beat(&renders, &node_id, &job).await.is_empty(), goes_on, "{at_limit:?}");
            renders.set_budget(1_000_000).await.expect("sets");
        }
    }
}

#[tokio::test]
async fn lanes_and_accounts_have_shares_of_the_day() {
    for database in databases().await {
        let rules = Rules { prewarm_percent: 80, example_percent: 50, account_percent: 40, ..settings().rules };
        let renders = renders(&database, RenderSettings { rules, daily_budget_microusd: 20_000, ..settings() });
        let mut models = 0..;
        let mut wants = async |requester: Requester| {
            let vehicle = vehicle(&format!("m{}", models.next().expect("a number")));
            let deadline_ms = Clock::SYSTEM.now().0 + 60_000;
            match renders.request(&vehicle, &variant(&vehicle, Colour::Red), &requester, deadline_ms).await {
                Ok(_) => "queued",
                Err(RenderError::BudgetSpent { scope: BudgetScope::Account, .. }) => "share of the account",
                Err(RenderError::BudgetSpent { .. }) => "budget",
                Err(other) => panic!("{other}"),
            }
        };
        for (requester, expected) in [
            (
                Requester::account(Lane::Interactive, "a"),
                ["queued", "queued", "queued", "queued", "share of the account"],
            ),
            (Requester::without_account(Lane::Example), ["queued", "budget", "budget", "budget", "budget"]),
            (Requester::without_account(Lane::Prewarm), ["queued", "queued", "queued", "budget", "budget"]),
            (Requester::account(Lane::FirstLoad, "b"), ["queued", "queued", "budget", "budget", "budget"]),
        ] {
            for expected in expected {
                assert_eq!(wants(requester.clone()).await, expected, "{requester:?} {:?}", database.kind);
            }
        }
        assert_eq!(books(&renders).await, (20_000, 0));
    }
}

#[tokio::test]
async fn thresholds_are_reached_once_and_told_once() {
    for database in databases().await {
        let both = [0, 1].map(|_| renders(&database, RenderSettings { daily_budget_microusd: 10_000, ..settings() }));
        let reach = async |renders: &Renders| {
            let budget = renders.budget().await.expect("reads");
            renders.reach_thresholds(&budget).await.expect("reaches")
        };
        let day = both[0].budget().await.expect("reads").day;
        assert!(reach(&both[0]).await.is_empty());
        assert_eq!(both[0].claim_letter(&day).await.expect("claims"), None);
        for (model, reached) in [("a", vec![]), ("b", vec![]), ("c", vec![50]), ("d", vec![80])] {
            queue(&both[0], model, &client()).await;
            assert_eq!(reach(&both[0]).await, reached, "{model}");
            assert!(reach(&both[1]).await.is_empty());
        }
        assert_eq!(both[1].claim_letter(&day).await.expect("claims"), Some(80), "one letter for both");
        assert_eq!(both[0].claim_letter(&day).await.expect("claims"), None, "somebody writes it already");
        both[1].letter_sent(&day, 80).await.expect("marks");
        queue(&both[0], "e", &client()).await;
        assert_eq!(reach(&both[0]).await, [100]);
        assert_eq!(both[0].claim_letter(&day).await.expect("claims"), Some(100));
        let at = both[0].thresholds().await.expect("reads");
        assert_eq!(
            at.iter().map(|one| (one.percent, one.reached_at_ms.is_some())).collect::<Vec<_>>(),
            [(50, true), (80, true), (100, true)]
        );
    }
}

/// Any order of enqueueing, leasing, waiting, renewing, failing, finishing and losing, on nodes
/// with and without a price.
#[tokio::test]
async fn whatever_happens_the_books_of_the_day_are_right() {
    use rand::{RngExt, SeedableRng};
    const LIMIT: i64 = 60_000;
    for database in databases().await {
        let renders = renders(&database, RenderSettings { daily_budget_microusd: LIMIT, ..settings() });
        let nodes =
            [priced_node(&renders, USD_PER_HOUR).await, priced_node(&renders, Some(40.0)).await, node(&renders).await];
        let mut random = rand::rngs::StdRng::seed_from_u64(7);
        let mut held: Vec<(usize, Job)> = Vec::new();
        // A result that comes when its lease is over costs what it took, whatever is left of the
        // day.
        let mut most = LIMIT;
        for step in 0..250 {
            let mut is_result = false;
            match random.random_range(0..8) {
                0 | 1 => {
                    let _ = want(&renders, &vehicle(&format!("m{step}")), Colour::Red).await;
                }
                2 | 3 => {
                    let node = random.random_range(0..nodes.len());
                    let jobs = renders.work(TOKEN, &nodes[node], 2, 0, std::future::pending()).await.expect("asks");
                    held.extend(jobs.into_iter().map(|job| (node, job)));
                }
                4 => pass(&database, random.random_range(0..15)).await,
                5 => {
                    for (node, job) in &held {
                        beat(&renders, &nodes[*node], job).await;
                    }
                }
                6 if !held.is_empty() => {
                    let (_, job) = held.swap_remove(random.random_range(0..held.len()));
                    fail(&renders, &job, FailureKind::Internal).await;
                }
                7 if !held.is_empty() => {
                    let (_, job) = held.swap_remove(random.random_range(0..held.len()));
                    if let Ok(objects) = upload(&renders, &job).await {
                        is_result = true;
                        let _ = renders.accept(TOKEN, &job.job_id, &report(&job, objects)).await;
                    }
                }
                _ => renders.sweep().await.expect("sweeps"),
            }
            // A node in quarantine would get no more jobs.
            for node in &nodes {
                renders.order_node(node, NodeOrder::Active, None).await.expect("orders");
            }
            let budget = renders.budget().await.expect("reads");
            let used = budget.reserved_microusd + budget.settled_microusd;
            assert!(used <= most || is_result, "step {step}: {budget:?}");
            most = most.max(used);
            let live =
                "select cast(coalesce(sum(cost_microusd), 0) as bigint) from jobs where state in ('queued', 'leased')";
            let ended = "select cast(coalesce(sum(cost_microusd), 0) as bigint) from jobs where state not in ('queued', 'leased')";
            assert_eq!(number(&database, live).await, budget.reserved_microusd, "step {step}");
            assert_eq!(number(&database, ended).await, budget.settled_microusd, "step {step}");
        }
        assert!(renders.budget().await.expect("reads").settled_microusd > LIMIT / 4, "nothing much happened");
    }
}

#[tokio::test]
async fn what_nobody_waits_for_is_dropped_and_costs_nothing() {
    for database in databases().await {
        let renders = renders(&database, settings());
        let vehicle = vehicle("dropped");
        let past_ms = Clock::SYSTEM.now().0 - 1;
        renders.request(&vehicle, &variant(&vehicle, Colour::Red), &client(), past_ms).await.expect("queues");
        let node_id = node(&renders).await;
        assert!(work(&renders, &node_id, 0).await.is_empty(), "too late to begin");
        renders.sweep().await.expect("sweeps");
        assert_eq!(number(&database, "select count(*) from jobs where state = 'lapsed'").await, 1);
        assert_eq!(renders.budget().await.expect("reads").reserved_microusd, 0);
        assert_eq!(renders.delete_expired().await.expect("forgets"), 0, "an operator may look at it");
        let later = sqlx::query("update jobs set ended_at_ms = ended_at_ms - 3700000");
        database.write(later).await.expect("sets");
        assert_eq!(renders.delete_expired().await.expect("forgets"), 1);
        want(&renders, &vehicle, Colour::Red).await.expect("queues anew");
        assert_eq!(work(&renders, &node_id, 0).await.len(), 1);
    }
}

#[tokio::test]
async fn a_render_that_nobody_waits_for_any_more_is_given_up_at_the_next_heartbeat() {
    for database in databases().await {
        let renders = renders(&database, settings());
        let node_id = priced_node(&renders, USD_PER_HOUR).await;
        queue(&renders, "left", &client()).await;
        let job = one(&renders, &node_id).await;
        assert!(beat(&renders, &node_id, &job).await.is_empty());

        all_leave(&database).await;
        queue(&renders, "left", &client()).await;
        assert!(beat(&renders, &node_id, &job).await.is_empty(), "somebody came in time");

        all_leave(&database).await;
        pass(&database, 10).await;
        let bystander = node(&renders).await;
        assert_eq!(beat(&renders, &bystander, &job).await, [job.job_id.as_str()], "not its job");
        let earlier = Job { fence: job.fence - 1, ..job.clone() };
        assert_eq!(beat(&renders, &node_id, &earlier).await, [job.job_id.as_str()], "not its lease");
        let leased = "select count(*) from jobs where state = 'leased'";
        assert_eq!(number(&database, leased).await, 1, "neither ends the lease of another, {:?}", database.kind);

        assert_eq!(beat(&renders, &node_id, &job).await, [job.job_id.as_str()]);
        assert_eq!(number(&database, "select count(*) from jobs where state = 'lapsed'").await, 1);
        assert_eq!(books(&renders).await, (0, 2_500), "what it took is paid for and nothing else, {:?}", database.kind);
        assert!(!fail(&renders, &job, FailureKind::Internal).await, "the lease has ended");

        queue(&renders, "left", &client()).await;
        assert_eq!(work(&renders, &node_id, 0).await.len(), 1, "whoever asks again gets it made");
    }
}

#[tokio::test]
async fn what_is_made_ahead_is_wanted_until_it_is_done() {
    for database in databases().await {
        let renders = renders(&database, settings());
        let node_id = node(&renders).await;
        for lane in [Lane::Prewarm, Lane::Rerender] {
            queue(&renders, lane.as_str(), &Requester::without_account(lane)).await;
            let job = one(&renders, &node_id).await;
            all_leave(&database).await;
            assert!(beat(&renders, &node_id, &job).await.is_empty(), "{lane:?} on {:?}", database.kind);
            finish(&renders, &job).await;
        }
        // So is paint, whatever lane wanted it.
        let vehicle = vehicle(Lane::Rerender.as_str());
        want(&renders, &vehicle, Colour::Blue).await.expect("queues");
        let paint = one(&renders, &node_id).await;
        assert_eq!(paint.kind, JobKind::Paint);
        all_leave(&database).await;
        assert!(beat(&renders, &node_id, &paint).await.is_empty());
        finish(&renders, &paint).await;
    }
}

#[tokio::test]
async fn a_full_queue_says_so_and_paid_requests_go_first() {
    for database in databases().await {
        let renders = renders(&database, RenderSettings { queue_max: 4, ..settings() });
        let deadline_ms = Clock::SYSTEM.now().0 + 60_000;
        let (example, paid) = (vehicle("example"), vehicle("paid"));
        renders
            .request(&example, &variant(&example, Colour::Red), &Requester::without_account(Lane::Example), deadline_ms)
            .await
            .expect("queues");
        let free = vehicle("free");
        let second = renders
            .request(&free, &variant(&free, Colour::Red), &Requester::without_account(Lane::Example), deadline_ms)
            .await;
        assert!(
            matches!(second, Err(RenderError::AtCapacity { .. })),
            "a quarter is for what nobody pays for: {second:?}"
        );
        for other in ["second", "third"] {
            want(&renders, &vehicle(other), Colour::Red).await.expect("queues");
        }
        let third = want(&renders, &paid, Colour::Red).await;
        assert!(matches!(third, Err(RenderError::AtCapacity { .. })), "an account has half of it at most: {third:?}");
        queue(&renders, "paid", &Requester::account(Lane::Interactive, "account-2")).await;
        assert!(matches!(want(&renders, &vehicle("fifth"), Colour::Red).await, Err(RenderError::AtCapacity { .. })));
        queue(&renders, "newcomer", &Requester::account(Lane::Interactive, "account-3")).await;
        want(&renders, &paid, Colour::Blue).await.expect("joins the queued job");
        let node_id = node(&renders).await;
        assert_eq!(handed_out(&renders, &node_id, 8).await, ["second", "paid", "newcomer", "third", "example"]);
    }
}

/// Returns the models of the jobs that a node is given, `at_once` at a time, in the order in which
/// they come.
async fn handed_out(renders: &Renders, node_id: &str, at_once: u32) -> Vec<String> {
    let mut models = Vec::new();
    loop {
        let jobs = renders.work(TOKEN, node_id, at_once, 0, std::future::pending()).await.expect("asks");
        if jobs.is_empty() {
            return models;
        }
        models.extend(jobs.into_iter().map(|job| job.vehicle.model));
    }
}

async fn queue(renders: &Renders, model: &str, requester: &Requester) {
    let (vehicle, deadline_ms) = (vehicle(model), Clock::SYSTEM.now().0 + 60_000);
    renders.request(&vehicle, &variant(&vehicle, Colour::Red), requester, deadline_ms).await.expect("queues");
}

/// Nothing polls here: work and images are found by signals alone, from one process to the other.
#[tokio::test(flavor = "multi_thread")]
async fn processes_wake_each_other() {
    for database in databases().await {
        if database.kind == crate::db::DatabaseKind::Sqlite {
            continue;
        }
        let deaf = RenderSettings { look_again: Duration::from_secs(3600), ..settings() };
        let [asked, served] = [0, 1].map(|_| renders(&database, deaf.clone()));
        let served = Renders::new(database.clone(), Clock::SYSTEM, asked.0.store.clone(), served.settings().clone());
        let tasks = [asked.0.signals.start(&database), served.0.signals.start(&database)];
        let node_id = node(&served).await;
        let working = tokio::spawn({
            let served = served.clone();
            async move { one(&served, &node_id).await }
        });
        let waiting = tokio::spawn({
            let asked = asked.clone();
            async move {
                let vehicle = vehicle("far");
                asked.picture(&vehicle, &variant(&vehicle, Colour::Red), &client()).await
            }
        });
        let job = working.await.expect("the job is heard of");
        finish(&served, &job).await;
        waiting.await.expect("joins").expect("the picture is heard of");
        tasks.iter().flatten().for_each(tokio::task::JoinHandle::abort);
    }
}

#[tokio::test]
async fn accounts_take_turns_however_many_jobs_one_has() {
    for database in databases().await {
        let renders = renders(&database, settings());
        let node_id = node(&renders).await;
        let (busy, small) =
            (Requester::account(Lane::Interactive, "busy"), Requester::account(Lane::Interactive, "small"));
        for n in 0..6 {
            queue(&renders, &format!("busy-{n}"), &busy).await;
        }
        let first = renders.work(TOKEN, &node_id, 2, 0, std::future::pending()).await.expect("asks");
        let first: Vec<&str> = first.iter().map(|job| job.vehicle.model.as_str()).collect();
        assert_eq!(first, ["busy-0", "busy-1"]);
        for n in 0..2 {
            queue(&renders, &format!("small-{n}"), &small).await;
        }
        assert_eq!(
            handed_out(&renders, &node_id, 1).await,
            ["busy-2", "small-0", "busy-3", "small-1", "busy-4", "busy-5"],
            "{:?}",
            database.kind
        );
    }
}

#[tokio::test]
async fn lanes_go_in_order_and_a_job_moves_up_with_who_joins_it() {
    for database in databases().await {
        let renders = renders(&database, settings());
        let node_id = node(&renders).await;
        for lane in [Lane::Prewarm, Lane::Example, Lane::Rerender, Lane::FirstLoad, Lane::Interactive] {
            queue(&renders, lane.as_str(), &Requester::account(lane, "one")).await;
        }
        queue(&renders, "joined the control plane", &Requester::without_account(Lane::Prewarm)).await;
        queue(&renders, "joined the control plane", &Requester::account(Lane::FirstLoad, "two")).await;
        // A later request of a lower lane does not move the job down.
        queue(&renders, "interactive", &Requester::without_account(Lane::Prewarm)).await;
        assert_eq!(
            handed_out(&renders, &node_id, 3).await,
            ["interactive", "first-load", "joined the control plane", "anew", "example", "prewarm"],
            "{:?}",
            database.kind
        );
        let waiting = renders.overview().await.expect("reads").lanes;
        assert_eq!(waiting, []);
    }
}

#[tokio::test]
async fn prewarming_gets_its_share_of_a_busy_farm() {
    for database in databases().await {
        let renders = renders(&database, settings());
        let node_id = node(&renders).await;
        for n in 0..60 {
            queue(&renders, &format!("paid-{n}"), &client()).await;
        }
        for n in 0..6 {
            queue(&renders, &format!("ahead-{n}"), &Requester::without_account(Lane::Prewarm)).await;
        }
        let order = handed_out(&renders, &node_id, 1).await;
        let places: Vec<usize> =
            order.iter().enumerate().filter(|(_, model)| model.starts_with("ahead")).map(|(place, _)| place).collect();
        assert_eq!(places, [19, 39, 59, 63, 64, 65], "one in twenty, and the rest when nobody waits");
    }
}

#[tokio::test]
async fn who_would_wait_too_long_is_told_at_once() {
    for database in databases().await {
        let renders = renders(&database, RenderSettings { render_wait: Duration::from_secs(60), ..settings() });
        let node_id = node(&renders).await;
        queue(&renders, "measured", &client()).await;
        let job = one(&renders, &node_id).await;
        finish(&renders, &job).await;
        // It took twenty seconds: with four slots, twelve jobs a minute.
        let twenty_seconds = sqlx::query("update jobs set leased_at_ms = ended_at_ms - 20000");
        database.write(twenty_seconds).await.expect("sets");
        renders.measure_pace().await.expect("measures");
        assert_eq!(renders.pace(), Some(Pace { slots: 4, seconds_per_job: 20.0 }));
        for n in 0..9 {
            queue(&renders, &format!("early-{n}"), &client()).await;
        }
        let late = want(&renders, &vehicle("late"), Colour::Red).await;
        assert!(matches!(late, Err(RenderError::AtCapacity { retry_after_seconds: 5 })), "{late:?}");
        want(&renders, &vehicle("early-3"), Colour::Blue).await.expect("joins what is queued already");
        queue(&renders, "another", &Requester::account(Lane::Interactive, "another account")).await;
        queue(&renders, "ahead", &Requester::without_account(Lane::Prewarm)).await;
        // No request is refused when nothing has been measured.
        database.write(sqlx::query("update nodes set seen_at_ms = 0")).await.expect("sets");
        renders.measure_pace().await.expect("measures");
        want(&renders, &vehicle("late"), Colour::Red).await.expect("queues");
    }
}

#[tokio::test]
async fn a_request_waits_no_longer_than_it_may() {
    for database in databases().await {
        let renders = renders(&database, RenderSettings { render_wait: Duration::from_millis(200), ..settings() });
        let vehicle = vehicle("late");
        let waited = renders.picture(&vehicle, &variant(&vehicle, Colour::Red), &client()).await;
        assert!(matches!(waited, Err(RenderError::TooLate)), "{waited:?}");
    }
}

#[tokio::test]
async fn the_node_beside_the_service_uploads_to_the_address_it_listens_on() {
    for database in databases().await {
        let renders = renders(&database, settings());
        renders.local_node("token-of-the-embedded-node", "http://127.0.0.1:1".to_owned());
        let far = node(&renders).await;
        want(&renders, &vehicle("far"), Colour::Red).await.expect("queues");
        assert!(
            one(&renders, &far)
                .await
                .uploads
                .iter()
                .all(|upload| upload.url.starts_with("http://test/node/v1/uploads/"))
        );
        renders.local_node(TOKEN, "http://127.0.0.1:2".to_owned());
        want(&renders, &vehicle("set once"), Colour::Red).await.expect("queues");
        assert!(one(&renders, &far).await.uploads[0].url.starts_with("http://test/"));

        let beside = self::renders(&database, settings());
        beside.local_node(TOKEN, "http://127.0.0.1:1".to_owned());
        want(&beside, &vehicle("near"), Colour::Red).await.expect("queues");
        assert!(one(&beside, &far).await.uploads[0].url.starts_with("http://127.0.0.1:1/node/v1/uploads/"));
    }
}

#[test]
fn seeds_are_stable_and_differ() {
    assert_eq!(seed("bmw/x5/2020", 1), seed("bmw/x5/2020", 1));
    let seeds = [seed("bmw/x5/2020", 1), seed("bmw/x5/2020", 2), seed("bmw/x5/2021", 1), seed("bmw/x5/202", 1)];
    for (n, seed) in seeds.iter().enumerate() {
        assert!((0..1 << 53).contains(seed));
        assert!(!seeds[..n].contains(seed));
    }
}

/// A lease is thirty seconds. While a result is checked, lease and deadline keep half of that at
/// least.
#[tokio::test]
async fn a_result_is_checked_under_a_lease_that_lasts() {
    // Seconds left of the lease, seconds left of the deadline, and true if both are renewed.
    let table = [
        (16, 16, false),
        (30, 25, false),
        (14, 25, true),
        (25, 14, true),
        (1, -5, true),
        (16, 90, false),
        (14, 90, true),
    ];
    for database in databases().await {
        let renders = renders(&database, settings());
        let node_id = node(&renders).await;
        for (n, (lease, waiters, renewed)) in table.into_iter().enumerate() {
            queue(&renders, &format!("model-{n}"), &client()).await;
            let job = one(&renders, &node_id).await;
            let now = Clock::SYSTEM.now().0;
            let left = sqlx::query("update jobs set lease_until_ms = $1, deadline_ms = $2 where id = $3")
                .bind(now + lease * 1000)
                .bind(now + waiters * 1000)
                .bind(&job.job_id);
            database.write(left).await.expect("sets");
            assert!(renders.begin_accepting(TOKEN, &job.job_id, job.fence).await.is_ok());
            let row = sqlx::query("select lease_until_ms, deadline_ms from jobs where id = $1")
                .bind(&job.job_id)
                .fetch_one(&database.readers)
                .await
                .expect("reads");
            // In whole seconds, rounded: the test itself takes some of the first one.
            let seconds = |column| (row.try_get::<i64, _>(column).expect("a time") - now + 500) / 1000;
            let expected = if renewed { (30, waiters.max(30)) } else { (lease, waiters) };
            assert_eq!(
                (seconds("lease_until_ms"), seconds("deadline_ms")),
                expected,
                "{:?} {lease} {waiters}",
                database.kind
            );
            assert!(fail(&renders, &job, FailureKind::Model).await);
        }
    }
}
