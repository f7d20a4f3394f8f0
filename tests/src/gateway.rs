//! A gateway that serves S3 below a path, as storage platforms do. It checks signatures itself,
//! over the path that clients request, which is the path that they must sign. The S3 server behind
//! it (`s3s-fs`) gets the path without the prefix, and no signature.
//!
//! Signature Version 4 is implemented here from its specification (AWS, "Create a signed AWS API
//! request"), and not taken from the library that signs.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result, ensure};
use hmac::{Hmac, KeyInit, Mac};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, HOST};
use hyper::http::request::Parts;
use hyper::{Request, Response, StatusCode, Uri};
use s3s::service::{S3Service, S3ServiceBuilder};
use sha2::{Digest, Sha256};

use crate::bucket::{ACCESS_KEY_ID, NAME, SECRET_ACCESS_KEY, answer_all, credentials, names_below};
use crate::{Options, secrets};

/// The path before the bucket's name in every URL.
pub const PATH: &str = "/storage/v1/s3";

pub struct Gateway {
    pub endpoint: String,
    front: Arc<GatewayFront>,
    folder: tempfile::TempDir,
    task: tokio::task::JoinHandle<()>,
}

struct GatewayFront {
    s3: S3Service,
    /// Number of requests whose signature was correct (`verified`), and whose was not (`refused`).
    verified: AtomicUsize,
    refused: AtomicUsize,
    /// As in the other bucket: makes checking and writing one step.
    conditional: tokio::sync::Mutex<()>,
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Gateway {
    pub async fn start() -> Result<Self> {
        secrets::note(SECRET_ACCESS_KEY);
        let folder = tempfile::Builder::new().prefix("cyclorama-gateway-").tempdir()?;
        std::fs::create_dir_all(folder.path().join(NAME))?;
        let files = s3s_fs::FileSystem::new(folder.path()).map_err(|error| anyhow::anyhow!("{error:?}"))?;
        let front = Arc::new(GatewayFront {
            s3: S3ServiceBuilder::new(files).build(),
            verified: AtomicUsize::new(0),
            refused: AtomicUsize::new(0),
            conditional: tokio::sync::Mutex::default(),
        });
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        let endpoint = format!("http://{}{PATH}", listener.local_addr()?);
        let answering = front.clone();
        let task = tokio::spawn(answer_all(listener, move |request| answering.clone().answer(request)));
        Ok(Gateway { endpoint, front, folder, task })
    }

    /// The value of `CYCLORAMA_OBJECTS`.
    pub fn address(&self, prefix: &str) -> String {
        crate::bucket::address(&self.endpoint, prefix)
    }

    /// Options of a service that stores its objects here.
    pub fn options(&self) -> Options {
        credentials(Options::default()).set("CYCLORAMA_OBJECTS", self.address("cyclorama/test"))
    }

    /// Numbers of requests so far with a correct signature, and refused.
    pub fn counts(&self) -> (usize, usize) {
        (self.front.verified.load(Ordering::SeqCst), self.front.refused.load(Ordering::SeqCst))
    }

    /// Names of the objects below a prefix.
    pub fn names(&self, prefix: &str) -> Vec<String> {
        names_below(&self.folder.path().join(NAME), prefix)
    }
}

impl GatewayFront {
    async fn answer(self: Arc<Self>, request: Request<Incoming>) -> Result<Response<s3s::Body>> {
        let (mut parts, body) = request.into_parts();
        let body = body.collect().await?.to_bytes();
        if let Err(error) = verify(&parts, &body) {
            self.refused.fetch_add(1, Ordering::SeqCst);
            let document = format!("<Error><Code>SignatureDoesNotMatch</Code><Message>{error:#}</Message></Error>");
            let mut answer = Response::new(s3s::Body::from(document));
            *answer.status_mut() = StatusCode::FORBIDDEN;
            return Ok(answer);
        }
        self.verified.fetch_add(1, Ordering::SeqCst);
        parts.uri = unsigned(&parts.uri)?;
        parts.headers.remove(AUTHORIZATION);
        let _one_at_a_time = match parts.headers.contains_key("if-none-match") {
            true => Some(self.conditional.lock().await),
            false => None,
        };
        let request = Request::from_parts(parts, s3s::Body::from(body));
        self.s3.call(request).await.map_err(|error| anyhow::anyhow!("{error:?}"))
    }
}

/// The URI that the server behind the gateway gets.
fn unsigned(uri: &Uri) -> Result<Uri> {
    let path = uri.path().strip_prefix(PATH).context("not below the path")?;
    let kept: Vec<&str> = query(uri).filter(|pair| !pair.starts_with("X-Amz-")).collect();
    Ok(match kept.is_empty() {
        true => path.parse()?,
        false => format!("{path}?{}", kept.join("&")).parse()?,
    })
}

fn query(uri: &Uri) -> impl Iterator<Item = &str> {
    uri.query().unwrap_or_default().split('&').filter(|pair| !pair.is_empty())
}

/// The values of a request's signature, from `Authorization` or from its query.
struct SignatureValues {
    credential: String,
    headers: String,
    signature: String,
    date: String,
    payload: String,
}

impl SignatureValues {
    fn of(parts: &Parts, body: &[u8]) -> Result<Self> {
        let header = |name: &str| Some(parts.headers.get(name)?.to_str().ok()?.to_owned());
        let Some(authorization) = header(AUTHORIZATION.as_str()) else {
            let given = |name: &str| {
                let pairs = query(&parts.uri).filter_map(|pair| pair.split_once('='));
                let value = pairs.filter(|(key, _)| *key == name).map(|(_, value)| value).next();
                value.map(|value| value.replace("%2F", "/").replace("%3B", ";")).with_context(|| format!("no {name}"))
            };
            return Ok(SignatureValues {
                credential: given("X-Amz-Credential")?,
                headers: given("X-Amz-SignedHeaders")?,
                signature: given("X-Amz-Signature")?,
                date: given("X-Amz-Date")?,
                payload: "UNSIGNED-PAYLOAD".to_owned(),
            });
        };
        let part = |name: &str| {
            let parts = authorization.strip_prefix("AWS4-HMAC-SHA256 ").unwrap_or_default().split(',');
            let mut parts = parts.filter_map(|part| part.trim().strip_prefix(name)?.strip_prefix('='));
            parts.next().map(str::to_owned).with_context(|| format!("no {name}"))
        };
        let payload = header("x-amz-content-sha256").context("no digest of the body")?;
        let is_plain = payload == "UNSIGNED-PAYLOAD" || payload == hex::encode(Sha256::digest(body));
        ensure!(is_plain, "the body is not what was signed");
        Ok(SignatureValues {
            credential: part("Credential")?,
            headers: part("SignedHeaders")?,
            signature: part("Signature")?,
            date: header("x-amz-date").context("no date")?,
            payload,
        })
    }
}

fn verify(parts: &Parts, body: &[u8]) -> Result<()> {
    ensure!(parts.uri.path().starts_with(&format!("{PATH}/{NAME}")), "no such address: {}", parts.uri.path());
    let signed = SignatureValues::of(parts, body)?;
    let (key_id, scope) = signed.credential.split_once('/').context("no scope")?;
    ensure!(key_id == ACCESS_KEY_ID, "an unknown key");
    ensure!(signed.headers.split(';').any(|name| name == HOST.as_str()), "the host is not signed");
    let mut pairs: Vec<String> = query(&parts.uri)
        .filter(|pair| !pair.starts_with("X-Amz-Signature="))
        .map(|pair| if pair.contains('=') { pair.to_owned() } else { format!("{pair}=") })
        .collect();
    pairs.sort();
    let mut headers = String::new();
    for name in signed.headers.split(';') {
        let value = parts.headers.get(name).with_context(|| format!("no header {name}"))?.to_str()?;
        headers += &format!("{name}:{}\n", value.trim());
    }
    // The path as the client requested it, with the prefix before the bucket.
    let canonical =
        [parts.method.as_str(), parts.uri.path(), &pairs.join("&"), &headers, &signed.headers, &signed.payload]
            .join("\n");
    let to_sign =
        format!("AWS4-HMAC-SHA256\n{}\n{scope}\n{}", signed.date, hex::encode(Sha256::digest(canonical.as_bytes())));
    let mut key = format!("AWS4{SECRET_ACCESS_KEY}").into_bytes();
    for part in scope.split('/') {
        key = mac(&key, part.as_bytes())?;
    }
    ensure!(hex::encode(mac(&key, to_sign.as_bytes())?) == signed.signature, "the signature is another one");
    Ok(())
}

fn mac(key: &[u8], text: &[u8]) -> Result<Vec<u8>> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key)?;
    mac.update(text);
    Ok(mac.finalize().into_bytes().to_vec())
}
