//! From composed images to uploaded objects: encodes the objects that a job requires on every core,
//! uploads each to the URL in the lease, and reports the result.

use crate::engine::stages::Stages;
use crate::finish;
use crate::service::control_plane::{CallError, ControlPlane};
use crate::service::held_jobs::HeldJob;
use crate::studio::Layers;
use bytes::Bytes;
use cyclorama_core::encoding::{self, AlphaPlanes, EncodingError, Pixmap};
use cyclorama_core::wire::{Job, ObjectName, Receipt, ResultRequest, Stage, Unparsed, Upload, UploadedObject};
use cyclorama_core::{Format, Paint};
use cyclorama_supervisor::Backoff;
use rayon::prelude::*;
use sha2::{Digest, Sha256};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

/// Concurrent uploads of one job: enough to hide the latency of a bucket, few enough not to crowd a
/// slow connection.
const UPLOADS_AT_ONCE: usize = 6;
/// Attempts of one upload, of one result, and rounds of uploading rejected objects again: enough to
/// survive a restart of the service, and shorter than a lease, after which another node has the job
/// anyway.
const UPLOAD_TRIES: u32 = 8;
const RESULT_TRIES: u32 = 6;
const REJECTED_ROUNDS: u32 = 2;

#[derive(Debug, thiserror::Error)]
pub enum PublishError {
    #[error("the job requires `{0}`, which this version cannot make")]
    UnknownObject(ObjectName),
    #[error(transparent)]
    Encoding(#[from] EncodingError),
    #[error("the layers could not be packed")]
    Layers(#[from] finish::StoreError),
    #[error("object `{name}` could not be uploaded")]
    Upload {
        name: ObjectName,
        #[source]
        source: CallError,
    },
    #[error("the result could not be reported")]
    Result(#[source] CallError),
    #[error("encoding was interrupted")]
    Interrupted,
    #[error("cancelled")]
    Cancelled,
}

/// An encoded object and its upload.
struct Object {
    upload: Upload,
    bytes: Bytes,
    sha256: String,
}

/// The object that an upload's name requires.
enum RequiredUpload {
    Layers,
    /// `of` is the index of one of the job's images.
    Picture {
        of: usize,
        format: Format,
    },
}

fn owed(upload: &Upload, pictures: &[(Paint, Pixmap)]) -> Option<RequiredUpload> {
    if upload.name == ObjectName::Layers {
        return Some(RequiredUpload::Layers);
    }
    let (paint, format) = upload.name.picture()?;
    let of = pictures.iter().position(|(made, _)| *made == paint)?;
    Some(RequiredUpload::Picture { of, format })
}

/// Encodes every object that the job requires, on every core. `layers` is what a render job stores;
/// a paint job has none.
fn encode(
    uploads: &[Upload],
    layers: Option<&Layers>,
    pictures: &[(Paint, Pixmap)],
    planes: &AlphaPlanes,
) -> Result<Vec<Object>, PublishError> {
    let unknown = |upload: &Upload| PublishError::UnknownObject(upload.name.clone());
    let owed = |upload: &Upload| owed(upload, pictures);

    // Each size is made once for its three formats.
    let mut sizes = BTreeSet::new();
    for upload in uploads {
        if let RequiredUpload::Picture { of, .. } = owed(upload).ok_or_else(|| unknown(upload))? {
            sizes.insert((of, upload.width, upload.height));
        }
    }
    let sized = |(of, width, height): (usize, u32, u32)| {
        let (_, master) = &pictures[of];
        let same = (master.width(), master.height()) == (width, height);
        let picture = if same { master.clone() } else { encoding::resize(master, width, height)? };
        Ok(((of, width, height), picture))
    };
    let sized: BTreeMap<_, _> = sizes.into_par_iter().map(sized).collect::<Result<_, PublishError>>()?;

    // A master and the PNG of its own size are the same bytes, so each distinct encoding is made
    // once. The largest come first, so that no core is left alone with a large image at the end.
    let mut wanted: Vec<_> = uploads
        .iter()
        .filter_map(|upload| match owed(upload) {
            Some(RequiredUpload::Picture { of, format }) => Some((upload.width, upload.height, format, of)),
            _ => None,
        })
        .collect();
    wanted.sort_by_key(|(width, height, format, of)| (Reverse(width * height), *format != Format::Webp, *format, *of));
    wanted.dedup();
    let make = |(width, height, format, of)| {
        let picture = sized.get(&(of, width, height)).ok_or(PublishError::Interrupted)?;
        let bytes = Bytes::from(encoding::encode_beside(picture, format, planes)?);
        let sha256 = hex::encode(Sha256::digest(&bytes));
        Ok(((width, height, format, of), (bytes, sha256)))
    };
    let make_all =
        || wanted.into_par_iter().with_max_len(1).map(make).collect::<Result<BTreeMap<_, _>, PublishError>>();
    let pack = || layers.map(finish::write_layers).transpose();
    let (made, packed) = rayon::join(make_all, pack);
    let (made, packed) = (made?, packed?.map(Bytes::from));

    let object = |upload: &Upload| {
        let (bytes, sha256) = match owed(upload).ok_or_else(|| unknown(upload))? {
            RequiredUpload::Layers => {
                let bytes = packed.clone().ok_or_else(|| unknown(upload))?;
                let sha256 = hex::encode(Sha256::digest(&bytes));
                (bytes, sha256)
            }
            RequiredUpload::Picture { of, format } => {
                made.get(&(upload.width, upload.height, format, of)).cloned().ok_or_else(|| unknown(upload))?
            }
        };
        Ok(Object { upload: upload.clone(), bytes, sha256 })
    };
    uploads.iter().map(object).collect()
}

/// The output of a job.
pub struct JobOutput {
    /// The layers that a render job stores; a paint job has none.
    pub layers: Option<Layers>,
    pub pictures: Vec<(Paint, Pixmap)>,
    pub receipt: Receipt,
}

/// Encodes, uploads and reports. Adds `encode` and `upload` to the receipt's timings.
pub async fn publish(
    control_plane: &ControlPlane,
    job: &Job,
    held: &Arc<HeldJob>,
    planes: &Arc<AlphaPlanes>,
    JobOutput { layers, pictures, mut receipt }: JobOutput,
) -> Result<(), PublishError> {
    held.reached(Stage::Encode, 0.85);
    let mut stages = Stages::of(&held.trace);
    let (uploads, planes) = (job.uploads.clone(), planes.clone());
    let encoded = tokio::task::spawn_blocking(move || encode(&uploads, layers.as_ref(), &pictures, &planes)).await;
    let objects: Vec<Arc<Object>> =
        encoded.map_err(|_| PublishError::Interrupted)??.into_iter().map(Arc::new).collect();
    stages.end(Stage::Encode);
    if !held.is_wanted() {
        return Err(PublishError::Cancelled);
    }

    held.reached(Stage::Upload, 0.92);
    upload_all(control_plane, held, &objects).await?;
    stages.end(Stage::Upload);
    receipt.timings_ms.append(&mut stages.timings);
    let objects_uploaded = objects.iter().map(|o| o.described()).collect();
    let request = ResultRequest { fence: job.fence, objects: objects_uploaded, receipt: Unparsed::from(&receipt) };
    report(control_plane, job, held, &objects, &request).await
}

async fn report(
    control_plane: &ControlPlane,
    job: &Job,
    held: &Arc<HeldJob>,
    objects: &[Arc<Object>],
    request: &ResultRequest,
) -> Result<(), PublishError> {
    held.reached(Stage::Result, 0.99);
    let mut backoff = Backoff::new(Duration::from_millis(250), Duration::from_secs(8));
    let mut rounds_left = REJECTED_ROUNDS;
    loop {
        let error = match control_plane.result(&job.job_id, request).await {
            Ok(()) => return Ok(()),
            Err(error) => error,
        };
        match &error {
            // The service may have lost an upload with its disk or its restart; the same URLs
            // accept it again.
            CallError::Rejected { object, .. } if rounds_left > 0 => {
                rounds_left -= 1;
                tracing::warn!(
                    job_id = job.job_id,
                    error = &error as &dyn std::error::Error,
                    "an upload failed; it is retried"
                );
                let again: Vec<_> = objects
                    .iter()
                    .filter(|o| object.as_ref().is_none_or(|name| *name == o.upload.name.to_string()))
                    .cloned()
                    .collect();
                upload_all(control_plane, held, if again.is_empty() { objects } else { &again }).await?;
            }
            error if error.is_passing() && backoff.failures() + 1 < RESULT_TRIES && held.is_wanted() => {
                tokio::time::sleep(backoff.next(rand::random())).await;
            }
            _ => return Err(PublishError::Result(error)),
        }
    }
}

impl Object {
    fn described(&self) -> UploadedObject {
        UploadedObject { name: self.upload.name.clone(), sha256: self.sha256.clone(), bytes: self.bytes.len() as u64 }
    }
}

/// Uploads in parallel. The first object that cannot be uploaded aborts the others.
async fn upload_all(
    control_plane: &ControlPlane,
    held: &Arc<HeldJob>,
    objects: &[Arc<Object>],
) -> Result<(), PublishError> {
    let permits = Arc::new(Semaphore::new(UPLOADS_AT_ONCE));
    let mut uploads = JoinSet::new();
    for object in objects {
        let (control_plane, held, object, permits) =
            (control_plane.clone(), held.clone(), object.clone(), permits.clone());
        uploads.spawn(async move {
            let _permit = permits.acquire().await;
            upload_one(&control_plane, &held, &object).await
        });
    }
    while let Some(uploaded) = uploads.join_next().await {
        uploaded.map_err(|_| PublishError::Interrupted)??;
    }
    Ok(())
}

async fn upload_one(control_plane: &ControlPlane, held: &HeldJob, object: &Object) -> Result<(), PublishError> {
    let mut backoff = Backoff::new(Duration::from_millis(200), Duration::from_secs(4));
    loop {
        if !held.is_wanted() {
            return Err(PublishError::Cancelled);
        }
        match control_plane.upload(&object.upload, object.bytes.clone()).await {
            Ok(()) => return Ok(()),
            Err(error) if error.is_passing() && backoff.failures() + 1 < UPLOAD_TRIES => {
                tokio::time::sleep(backoff.next(rand::random())).await;
            }
            Err(source) => return Err(PublishError::Upload { name: object.upload.name.clone(), source }),
        }
    }
}
