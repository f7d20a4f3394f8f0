//! A render node without a GPU: it speaks the node protocol over HTTP and paints flat images, and
//! can misbehave on purpose.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use cyclorama_core::encoding::{self, Pixmap};
use cyclorama_core::wire::{self, Job};
use cyclorama_core::{Format, Paint};
use sha2::{Digest, Sha256};

use crate::Service;

/// Behaviour of the node for each job that it leases.
#[derive(Debug, Clone, PartialEq)]
pub enum Behaviour {
    /// Uploads everything and reports the result.
    Deliver,
    /// As `Deliver`, after a pause.
    DeliverAfter(Duration),
    /// Reports a failure of this kind.
    Fail(wire::FailureKind),
    /// Leases the job and goes silent: it sends no heartbeat and no result.
    Vanish,
    /// Uploads other bytes than it declares.
    LieAboutDigest,
}

/// A node that runs until it is dropped.
pub struct FakeNode {
    pub node_id: String,
    /// Number of jobs leased so far, by kind.
    pub renders: Arc<AtomicUsize>,
    pub paints: Arc<AtomicUsize>,
    /// Status of the latest answer to a result report.
    pub last_result_status: Arc<AtomicU32>,
    task: tokio::task::JoinHandle<()>,
    heart: tokio::task::JoinHandle<()>,
}

impl Drop for FakeNode {
    fn drop(&mut self) {
        self.task.abort();
        self.heart.abort();
    }
}

/// The load that a node with a graphics card reports.
fn machine_load() -> wire::MachineLoad {
    wire::MachineLoad {
        process_memory_mb: Some(512),
        card: wire::CardLoad {
            gpu_memory_used_mb: Some(512),
            gpu_memory_total_mb: Some(2048),
            gpu_utilisation: Some(0.25),
        },
    }
}

/// A client of the protocol with a node's identity, for tests that make each call themselves.
#[derive(Clone)]
pub struct NodeClient {
    http: reqwest::Client,
    base_url: String,
    token: String,
    pub node_id: String,
}

impl NodeClient {
    pub async fn join(service: &Service, name: &str) -> Result<Self> {
        Self::join_priced(service, name, None).await
    }

    async fn join_priced(service: &Service, name: &str, usd_per_hour: Option<f64>) -> Result<Self> {
        Self::join_with(&service.base_url, &service.node_token()?, name, 4, usd_per_hour).await
    }

    /// Joins the service at an address, with an existing token.
    pub async fn join_at(base_url: &str, token: &str, name: &str, slots: u32) -> Result<Self> {
        Self::join_with(base_url, token, name, slots, None).await
    }

    async fn join_with(base_url: &str, token: &str, name: &str, slots: u32, usd_per_hour: Option<f64>) -> Result<Self> {
        let http = crate::service::http_client()?;
        let joined: wire::JoinResponse = http
            .post(format!("{base_url}/node/v1/nodes"))
            .bearer_auth(token)
            .json(&wire::JoinRequest {
                name: name.to_owned(),
                version: "0.0.0-fake".into(),
                slots,
                batch_max: 1,
                pipelines: vec![wire::Pipeline { id: "builtin".into(), digest: "0".repeat(64) }],
                paints: vec![wire::CUSTOM_PAINTS.into()],
                device: wire::Device { name: "fake".into(), backend: "none".into(), ..wire::Device::default() },
                usd_per_hour,
            })
            .send()
            .await?
            .error_for_status()?
            .json()
            .await?;
        Ok(Self { http, base_url: base_url.to_owned(), token: token.to_owned(), node_id: joined.node_id })
    }

    pub async fn lease(&self, wait_seconds: u64) -> Result<Vec<Job>> {
        let answer = self
            .http
            .post(format!("{}/node/v1/nodes/{}/leases", self.base_url, self.node_id))
            .bearer_auth(&self.token)
            .json(&wire::LeaseRequest { free: 1, wait_seconds })
            .send()
            .await?
            .error_for_status()?;
        if answer.status() == reqwest::StatusCode::NO_CONTENT {
            return Ok(Vec::new());
        }
        let jobs = answer.json::<wire::LeaseResponse>().await?.jobs;
        let uploads = jobs.iter().flat_map(|job| &job.uploads).map(|upload| upload.url.as_str());
        let addresses = uploads.chain(jobs.iter().filter_map(|job| job.layers_url.as_deref()));
        addresses.filter_map(secret_of).for_each(crate::secrets::note);
        Ok(jobs)
    }

    pub async fn heartbeat(&self, jobs: Vec<wire::JobProgress>) -> Result<wire::HeartbeatResponse> {
        let state = if jobs.is_empty() { wire::NodeState::Ready } else { wire::NodeState::Busy };
        Ok(self
            .http
            .post(format!("{}/node/v1/nodes/{}/heartbeat", self.base_url, self.node_id))
            .bearer_auth(&self.token)
            .json(&wire::HeartbeatRequest { state, jobs, device: wire::Unparsed::from(&machine_load()) })
            .send()
            .await?
            .error_for_status()?
            .json()
            .await?)
    }

    /// Sends any bytes with PUT to an upload URL of a job, and returns the status of the answer.
    pub async fn put(&self, upload: &wire::Upload, bytes: Vec<u8>) -> Result<u16> {
        let mut request = self.http.put(&upload.url);
        for (name, value) in &upload.headers {
            request = request.header(name, value);
        }
        Ok(request.body(bytes).send().await?.status().as_u16())
    }

    /// Uploads every object that the job requires: flat squares of the required size and format,
    /// and opaque bytes for the layers.
    pub async fn upload(&self, job: &Job) -> Result<Vec<wire::UploadedObject>> {
        let mut objects = Vec::new();
        for upload in &job.uploads {
            let bytes = picture_for(upload, job)?;
            let status = self.put(upload, bytes.clone()).await?;
            ensure!((200..300).contains(&status), "upload of {} answered {status}", upload.name);
            objects.push(wire::UploadedObject {
                name: upload.name.clone(),
                sha256: hex::encode(Sha256::digest(&bytes)),
                bytes: bytes.len() as u64,
            });
        }
        Ok(objects)
    }

    pub async fn result(&self, job: &Job, objects: Vec<wire::UploadedObject>) -> Result<u16> {
        let answer = self
            .http
            .post(format!("{}/node/v1/jobs/{}/result", self.base_url, job.job_id))
            .bearer_auth(&self.token)
            .json(&wire::ResultRequest {
                fence: job.fence,
                objects,
                // The receipt lacks some members that our own node sends.
                receipt: wire::Unparsed::from_document(serde_json::json!({
                    "device": "fake", "light": "base_shading", "timings_ms": {"upload": 5}
                })),
            })
            .send()
            .await?;
        Ok(answer.status().as_u16())
    }

    pub async fn failure(&self, job: &Job, kind: wire::FailureKind) -> Result<u16> {
        let answer = self
            .http
            .post(format!("{}/node/v1/jobs/{}/failure", self.base_url, job.job_id))
            .bearer_auth(&self.token)
            .json(&wire::FailureRequest { fence: job.fence, kind, detail: "on purpose".into() })
            .send()
            .await?;
        Ok(answer.status().as_u16())
    }
}

/// The part of a lease's URL that grants access: its signature, or the lease's secret in
/// `/node/v1/uploads/{secret}/{name}` and `/node/v1/layers/{secret}`.
fn secret_of(address: &str) -> Option<&str> {
    if let Some((_, signature)) = address.split_once("X-Amz-Signature=") {
        return signature.split('&').next();
    }
    let (_, rest) = address.split_once("/node/v1/")?;
    rest.split('/').nth(1)
}

/// Makes a flat square in the job's colour, in the required format. The top is half transparent, so
/// that a test sees whether alpha survives, and differs a little for every seed.
fn picture_for(upload: &wire::Upload, job: &Job) -> Result<Vec<u8>> {
    let Some((paint, _)) = upload.name.picture() else {
        return Ok(format!("layers of {} {}", job.vehicle.key(), job.view).into_bytes());
    };
    let colour = job.colours.iter().find(|colour| **colour == paint).copied().unwrap_or_default();
    let top_alpha = 112 + (job.seed % 32) as u8;
    // A trial needs thousands of images, of which only a few are different.
    type Squares = BTreeMap<(String, u32, String, u8), Vec<u8>>;
    static MADE: Mutex<Squares> = Mutex::new(BTreeMap::new());
    let which = (upload.media_type.clone(), upload.width, colour.to_string(), top_alpha);
    if let Some(made) = MADE.lock().unwrap_or_else(PoisonError::into_inner).get(&which) {
        return Ok(made.clone());
    }
    let bytes = square(upload, colour, top_alpha)?;
    MADE.lock().unwrap_or_else(PoisonError::into_inner).insert(which, bytes.clone());
    Ok(bytes)
}

/// Encodes the square as the real node does, in the crate that is optimised even where the tests
/// are not.
fn square(upload: &wire::Upload, colour: Paint, top_alpha: u8) -> Result<Vec<u8>> {
    let [r, g, b] = colour.srgb();
    let (width, height) = (upload.width as usize, upload.height as usize);
    let mut rgba = [r, g, b, top_alpha].repeat(width * (height / 2));
    rgba.extend([r, g, b, 255].repeat(width * (height - height / 2)));
    let format = Format::of_media_type(&upload.media_type)
        .with_context(|| format!("upload of unknown media type {}", upload.media_type))?;
    Ok(encoding::encode(&Pixmap::from_rgba(upload.width, upload.height, rgba)?, format)?)
}

impl FakeNode {
    /// Waits until the node has begun `count` renders. Fails after half a minute.
    pub async fn until_renders(&self, count: usize) -> Result<()> {
        for _ in 0..1_500 {
            if self.renders.load(Ordering::SeqCst) >= count {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        anyhow::bail!("fewer than {count} renders")
    }

    pub async fn join(service: &Service, behaviour: Behaviour) -> Result<Self> {
        Self::join_priced(service, behaviour, None).await
    }

    /// Joins a node that reports a price for an hour.
    pub async fn join_priced(service: &Service, behaviour: Behaviour, usd_per_hour: Option<f64>) -> Result<Self> {
        let client = NodeClient::join_priced(service, "fake", usd_per_hour).await?;
        let renders = Arc::new(AtomicUsize::new(0));
        let paints = Arc::new(AtomicUsize::new(0));
        let last_result_status = Arc::new(AtomicU32::new(0));
        let held = Arc::new(std::sync::Mutex::new(Vec::<wire::JobProgress>::new()));
        let vanished = Arc::new(std::sync::atomic::AtomicBool::new(false));

        let heart = tokio::spawn({
            let (client, held, vanished) = (client.clone(), held.clone(), vanished.clone());
            async move {
                while !vanished.load(Ordering::SeqCst) {
                    let jobs = held.lock().map(|h| h.clone()).unwrap_or_default();
                    let _ = client.heartbeat(jobs).await;
                    tokio::time::sleep(Duration::from_millis(300)).await;
                }
            }
        });
        let task = tokio::spawn({
            let (client, renders, paints, last) =
                (client.clone(), renders.clone(), paints.clone(), last_result_status.clone());
            async move {
                loop {
                    let Ok(jobs) = client.lease(5).await else {
                        tokio::time::sleep(Duration::from_millis(200)).await;
                        continue;
                    };
                    for job in jobs {
                        match job.kind {
                            wire::JobKind::Render => &renders,
                            wire::JobKind::Paint => &paints,
                        }
                        .fetch_add(1, Ordering::SeqCst);
                        if behaviour == Behaviour::Vanish {
                            vanished.store(true, Ordering::SeqCst);
                            return;
                        }
                        if let Ok(mut held) = held.lock() {
                            held.push(wire::JobProgress {
                                job_id: job.job_id.clone(),
                                fence: job.fence,
                                stage: "fake".into(),
                                progress: 0.5,
                            });
                        }
                        let status = run(&client, &job, &behaviour).await.unwrap_or(0);
                        last.store(u32::from(status), Ordering::SeqCst);
                        if let Ok(mut held) = held.lock() {
                            held.retain(|h| h.job_id != job.job_id);
                        }
                    }
                }
            }
        });
        Ok(Self { node_id: client.node_id, renders, paints, last_result_status, task, heart })
    }
}

async fn run(client: &NodeClient, job: &Job, behaviour: &Behaviour) -> Result<u16> {
    match behaviour {
        Behaviour::Fail(kind) => return client.failure(job, *kind).await,
        Behaviour::DeliverAfter(pause) => tokio::time::sleep(*pause).await,
        _ => {}
    }
    let Ok(mut objects) = client.upload(job).await else {
        return client.failure(job, wire::FailureKind::Upload).await;
    };
    if *behaviour == Behaviour::LieAboutDigest {
        for object in &mut objects {
            object.sha256 = "0".repeat(64);
        }
        let status = client.result(job, objects).await?;
        client.failure(job, wire::FailureKind::Upload).await?;
        return Ok(status);
    }
    client.result(job, objects).await
}
