//! Objects in a bucket of AWS S3 or of any server that speaks its protocol, through the AWS SDK: a
//! key is an object's name below the prefix. Requests are signed with the credentials that the SDK
//! finds in the places where AWS programs look; they are not stored, shown or logged here.
//!
//! Every wait is bounded: that of each attempt, of each request with its attempts, and of each body
//! that is read.
//!
//!
//! Why: `docs/decisions/object-store.md` (Conditional PUT (`If-None-Match: *`)).

use super::error::{Cause, ObjectError, check_size};
use super::keys::ObjectKey;
use super::listing::{ListedObject, ListingSender};
use crate::clock::UnixMs;
use crate::config::objects::Bucket;
use aws_config::{BehaviorVersion, ConfigLoader};
use aws_sdk_s3::Client;
use aws_sdk_s3::config::retry::{RetryConfig, RetryPartition};
use aws_sdk_s3::config::timeout::TimeoutConfig;
use aws_sdk_s3::config::{Builder, Region, RequestChecksumCalculation, ResponseChecksumValidation};
use aws_sdk_s3::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_s3::operation::put_object::PutObjectError;
use aws_sdk_s3::presigning::{PresignedRequest, PresigningConfig};
use aws_sdk_s3::primitives::ByteStream;
use aws_smithy_http_client::tls::{self, rustls_provider::CryptoMode};
use bytes::Bytes;
use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

/// Returns the loader of credentials from the places where AWS programs look. It pins the SDK's
/// behaviour to this version, so that an update of the SDK does not change it.
pub(super) fn aws_chain() -> ConfigLoader {
    aws_config::defaults(BehaviorVersion::v2026_01_12())
}

/// Region for servers that do not care which region they are in. AWS does.
const ANY_REGION: &str = "us-east-1";

/// Maximum number of attempts of one request when the server is in trouble or out of reach.
pub(super) const ATTEMPTS_MAX: u32 = 3;

/// Maximum number of attempts of a conditional PUT that met a concurrent one of the same name
/// (409). The other one ends, and then there is an answer.
const CONFLICTS_MAX: u32 = 5;
const CONFLICT_PAUSE: Duration = Duration::from_millis(100);

/// Maximum length of a server's message that is kept, in characters.
const MESSAGE_CHARS_MAX: usize = 200;

/// Limits on the time that the bucket is waited for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patience {
    pub connect: Duration,
    pub attempt: Duration,
    /// For a request with all its attempts; a client waits behind it.
    pub operation: Duration,
    /// For the body of an answer, once its head has come.
    pub body: Duration,
    /// Twice the mean pause before the second attempt; it doubles with each further one.
    pub backoff: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Patience {
            connect: Duration::from_secs(3),
            attempt: Duration::from_secs(10),
            operation: Duration::from_secs(25),
            body: Duration::from_secs(25),
            backoff: Duration::from_millis(300),
        }
    }
}

/// A store of objects in a bucket. Cheap to clone.
#[derive(Clone)]
pub struct S3Store {
    client: Client,
    bucket: Arc<Bucket>,
    patience: Patience,
}

/// A request that somebody else may send. It is a permission, which must be shown only to the one
/// who may send it.
pub struct PresignedUrl {
    pub url: String,
    /// Headers that have to be sent with it unchanged.
    pub headers: Vec<(String, String)>,
}

/// A request that the server refused.
#[derive(Debug, thiserror::Error)]
#[error("{verb} was answered {status} {code}: {message}")]
struct S3Refusal {
    verb: &'static str,
    status: u16,
    code: String,
    message: String,
}

impl S3Store {
    /// Proves now, rather than at the first render, that the bucket can be used.
    pub(super) async fn open(
        bucket: &Bucket,
        patience: Patience,
        credentials: ConfigLoader,
    ) -> Result<Self, ObjectError> {
        let opened = async {
            let client = client(bucket, patience, credentials).await?;
            let store = S3Store { client, bucket: Arc::new(bucket.clone()), patience };
            store.prove_usable().await?;
            Ok::<_, Cause>(store)
        };
        opened.await.map_err(|source| ObjectError::Open { store: bucket.to_string(), source })
    }

    /// Performs all operations of the store on an object of its own. Leaves nothing behind.
    async fn prove_usable(&self) -> Result<(), Cause> {
        let key = ObjectKey::new(format!("probe/{}", uuid::Uuid::now_v7()))?;
        let written = Bytes::from_static(b"cyclorama");
        self.put_new(&key, written.clone()).await?;
        let replaced = self.put_new(&key, written.clone()).await?;
        let read = self.get(&key).await?;
        self.delete(&key).await?;
        let left = self.size(&key).await?;
        if replaced {
            return Err("its server does not support `If-None-Match: *`, without which two processes could overwrite each other's images".into());
        }
        if read != written || left.is_some() {
            return Err("its server does not return an object as it was stored, or keeps deleted objects".into());
        }
        Ok(())
    }

    pub(super) async fn put(&self, key: &ObjectKey, bytes: Bytes) -> Result<(), ObjectError> {
        let request = self.client.put_object().bucket(&self.bucket.name).key(self.name(key)).body(bytes.into());
        request.send().await.map(drop).map_err(|error| failed(key, "PUT", error))
    }

    /// Stores an object unless one exists, and returns true if it was new. Returns false also when
    /// an earlier attempt of this call stored it and the answer was lost: the object exists in both
    /// cases.
    pub(super) async fn put_new(&self, key: &ObjectKey, bytes: Bytes) -> Result<bool, ObjectError> {
        let mut conflicts = 0;
        loop {
            let request = self.client.put_object().bucket(&self.bucket.name).key(self.name(key));
            let put = request.if_none_match("*").body(ByteStream::from(bytes.clone())).send().await;
            let error = match put {
                Ok(_) => return Ok(true),
                Err(error) => error,
            };
            match status_of(&error) {
                Some(412) => return Ok(false),
                Some(409) if conflicts + 1 < CONFLICTS_MAX => {
                    conflicts += 1;
                    tokio::time::sleep(CONFLICT_PAUSE * conflicts).await;
                }
                _ => return Err(failed::<PutObjectError>(key, "PUT", error)),
            }
        }
    }

    pub(super) async fn get(&self, key: &ObjectKey) -> Result<Bytes, ObjectError> {
        let request = self.client.get_object().bucket(&self.bucket.name).key(self.name(key));
        let answer = request.send().await.map_err(|error| failed(key, "GET", error))?;
        let length = answer.content_length().and_then(|length| u64::try_from(length).ok()).unwrap_or(0);
        check_size(key, length)?;
        let unreadable = |source: Cause| ObjectError::Unreachable { key: key.clone(), source };
        let mut body = answer.body;
        let reading = async {
            let mut bytes = Vec::with_capacity(length as usize);
            while let Some(piece) = body.try_next().await.map_err(|error| unreadable(error.into()))? {
                // The length in the answer's head is not trusted.
                check_size(key, (bytes.len() + piece.len()) as u64)?;
                bytes.extend_from_slice(&piece);
            }
            Ok(bytes.into())
        };
        let read = tokio::time::timeout(self.patience.body, reading).await;
        read.unwrap_or_else(|_| Err(unreadable("the body of the response did not end in time".into())))
    }

    pub(super) async fn size(&self, key: &ObjectKey) -> Result<Option<u64>, ObjectError> {
        let request = self.client.head_object().bucket(&self.bucket.name).key(self.name(key));
        match request.send().await {
            Ok(answer) => Ok(Some(answer.content_length().and_then(|length| u64::try_from(length).ok()).unwrap_or(0))),
            // An answer to HEAD has no body that could say that the bucket is missing; the next
            // operation will fail with that error.
            Err(error) if status_of(&error) == Some(404) => Ok(None),
            Err(error) => Err(failed(key, "HEAD", error)),
        }
    }

    /// Sends every object below the folders to the listener, until the listener is closed.
    pub(super) async fn list(&self, below: &[&str], listener: &ListingSender) {
        for folder in below {
            let above = self.above();
            let request = self.client.list_objects_v2().bucket(&self.bucket.name).prefix(format!("{above}{folder}/"));
            let mut pages = request.into_paginator().send();
            while let Some(page) = pages.next().await {
                let page = match page {
                    Ok(page) => page,
                    Err(error) => return drop(listener.send(Err(self.unlistable(error.into()))).await),
                };
                for object in page.contents() {
                    let name = object.key().and_then(|name| name.strip_prefix(&above)).unwrap_or_default();
                    let bytes = object.size().and_then(|size| u64::try_from(size).ok()).unwrap_or(0);
                    let stored_at =
                        object.last_modified().and_then(|moment| moment.to_millis().ok()).map_or(UnixMs(0), UnixMs);
                    match ObjectKey::new(name) {
                        Ok(key) => {
                            if listener.send(Ok(ListedObject { key, bytes, stored_at })).await.is_err() {
                                return;
                            }
                        }
                        Err(error) => tracing::warn!(%error, "an object of others in the bucket was skipped"),
                    }
                }
            }
        }
    }

    pub(super) async fn delete(&self, key: &ObjectKey) -> Result<(), ObjectError> {
        let request = self.client.delete_object().bucket(&self.bucket.name).key(self.name(key));
        match request.send().await.map_err(|error| failed(key, "DELETE", error)) {
            Ok(_) | Err(ObjectError::Missing { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Copies an object on the server, without transferring its bytes.
    pub(super) async fn copy(&self, from: &ObjectKey, to: &ObjectKey) -> Result<(), ObjectError> {
        // Keys consist of characters that need no encoding in an address.
        let source = format!("{}/{}", self.bucket.name, self.name(from));
        let request = self.client.copy_object().bucket(&self.bucket.name).copy_source(source).key(self.name(to));
        request.send().await.map(drop).map_err(|error| failed(from, "COPY", error))
    }

    /// Returns the text in front of every key.
    fn above(&self) -> String {
        match self.bucket.prefix.as_str() {
            "" => String::new(),
            prefix => format!("{prefix}/"),
        }
    }

    fn unlistable(&self, source: Cause) -> ObjectError {
        ObjectError::Open { store: self.bucket.to_string(), source }
    }

    pub(super) async fn presigned_put(
        &self,
        key: &ObjectKey,
        media_type: &str,
        now: UnixMs,
        valid: Duration,
    ) -> Result<PresignedUrl, ObjectError> {
        let request = self.client.put_object().bucket(&self.bucket.name).key(self.name(key)).content_type(media_type);
        let signing = presigning(key, now, valid)?;
        request.presigned(signing).await.map(PresignedUrl::from).map_err(|error| failed(key, "PUT", error))
    }

    pub(super) async fn presigned_get(
        &self,
        key: &ObjectKey,
        now: UnixMs,
        valid: Duration,
    ) -> Result<PresignedUrl, ObjectError> {
        let request = self.client.get_object().bucket(&self.bucket.name).key(self.name(key));
        let signing = presigning(key, now, valid)?;
        request.presigned(signing).await.map(PresignedUrl::from).map_err(|error| failed(key, "GET", error))
    }

    /// Returns the object's name in the bucket.
    fn name(&self, key: &ObjectKey) -> String {
        format!("{}{key}", self.above())
    }
}

/// The client's own `Debug` would print its whole configuration.
impl fmt::Debug for S3Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "S3Store({})", self.bucket)
    }
}

impl From<PresignedRequest> for PresignedUrl {
    fn from(request: PresignedRequest) -> Self {
        let headers = request.headers().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        PresignedUrl { url: request.uri().to_owned(), headers }
    }
}

async fn client(bucket: &Bucket, patience: Patience, credentials: ConfigLoader) -> Result<Client, Cause> {
    // The TLS provider that the rest of the process uses; the SDK's own choice would be a second
    // one.
    let ring = tls::Provider::Rustls(CryptoMode::Ring);
    let http = aws_smithy_http_client::Builder::new().tls_provider(ring).build_https();
    let mut loader = credentials.http_client(http);
    if let Some(region) = &bucket.region {
        loader = loader.region(Region::new(region.clone()));
    }
    let found = loader.load().await;
    let timeouts = TimeoutConfig::builder()
        .connect_timeout(patience.connect)
        .operation_attempt_timeout(patience.attempt)
        .operation_timeout(patience.operation)
        .build();
    let retries = RetryConfig::standard().with_max_attempts(ATTEMPTS_MAX).with_initial_backoff(patience.backoff);
    let mut settings = Builder::from(&found)
        .force_path_style(bucket.path_style)
        .timeout_config(timeouts)
        .retry_config(retries)
        // The trouble is with this bucket, so the number of retries before it recovers is counted
        // for it alone.
        .retry_partition(RetryPartition::new(bucket.to_string()))
        // Servers that do not know the checksums of late 2024 refuse a request that carries one.
        // Digests are verified where it matters: of every upload, before it becomes visible.
        .request_checksum_calculation(RequestChecksumCalculation::WhenRequired)
        .response_checksum_validation(ResponseChecksumValidation::WhenRequired);
    if let Some(endpoint) = &bucket.endpoint {
        // The SDK appends the bucket's name directly to a path.
        settings = settings.endpoint_url(format!("{endpoint}/"));
    }
    if found.region().is_none() {
        if bucket.endpoint.is_none() && found.endpoint_url().is_none() {
            return Err("the region is missing: add region=... to the URL, or set AWS_REGION".into());
        }
        settings = settings.region(Region::from_static(ANY_REGION));
    }
    Ok(Client::from_conf(settings.build()))
}

fn presigning(key: &ObjectKey, now: UnixMs, valid: Duration) -> Result<PresigningConfig, ObjectError> {
    let now = UNIX_EPOCH + Duration::from_millis(u64::try_from(now.0).unwrap_or(0));
    PresigningConfig::builder()
        .start_time(now)
        .expires_in(valid)
        .build()
        .map_err(|error| ObjectError::Unreachable { key: key.clone(), source: error.into() })
}

/// Returns the status of an answer that is no success, or `None` if there was no answer.
fn status_of<E>(error: &SdkError<E>) -> Option<u16> {
    error.raw_response().map(|answer| answer.status().as_u16())
}

fn failed<E>(key: &ObjectKey, verb: &'static str, error: SdkError<E>) -> ObjectError
where
    E: ProvideErrorMetadata + Error + Send + Sync + 'static,
{
    let key = key.clone();
    let (Some(status), Some(refused)) = (status_of(&error), error.as_service_error()) else {
        return ObjectError::Unreachable { key, source: error.into() };
    };
    let code = refused.code().unwrap_or_default().to_owned();
    if code == "NoSuchKey" {
        return ObjectError::Missing { key };
    }
    let is_full = status == 507 || ["StorageFull", "QuotaExceeded"].iter().any(|full| code.contains(full));
    // Only the message is kept: other parts of the answer may contain details of signatures, which
    // must not be shown.
    let message = refused.message().unwrap_or_default().chars().take(MESSAGE_CHARS_MAX).collect();
    let source = Box::new(S3Refusal { verb, status, code, message });
    if is_full { ObjectError::Full { key, source } } else { ObjectError::Unreachable { key, source } }
}
