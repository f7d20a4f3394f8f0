//! Buckets for objects, on two S3 servers by others: `s3s-fs`, in this process behind a front that
//! can simulate trouble, and `moto`, a separate program.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Result, ensure};
use hyper::body::Incoming;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use s3s::service::{S3Service, S3ServiceBuilder};

use crate::{Options, secrets};

pub const ACCESS_KEY_ID: &str = "AKIDOFTHETESTS1234";
pub const SECRET_ACCESS_KEY: &str = "hushOfTheTests/1234567890";

/// A bucket that exists from the start.
pub const NAME: &str = "pictures";

/// Behaviour of the front of the in-process server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BucketBehaviour {
    #[default]
    Well,
    /// Answers with this status and code, and does nothing.
    Answers(u16, &'static str),
    /// Closes connections without an answer.
    Resets,
    /// Accepts requests and never answers.
    Hangs,
    /// Sends half of each body and closes the connection.
    Breaks,
}

/// The in-process server, with one bucket.
pub struct Bucket {
    pub endpoint: String,
    front: Arc<BucketFront>,
    folder: PathBuf,
    _removed: Option<tempfile::TempDir>,
    task: tokio::task::JoinHandle<()>,
}

struct BucketFront {
    s3: S3Service,
    mood: Mutex<BucketBehaviour>,
    /// Number of requests so far.
    requests: AtomicUsize,
    /// The server checks whether an object exists and then writes it, where S3 does both in one
    /// step. With one request at a time the difference does not show.
    conditional: tokio::sync::Mutex<()>,
}

impl Drop for Bucket {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Bucket {
    pub async fn start() -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("cyclorama-bucket-").tempdir()?;
        Self::serve("127.0.0.1:0", folder.path().to_owned(), Some(folder)).await
    }

    /// Starts a server whose objects stay in a folder after its end.
    pub async fn start_at(address: &str, folder: &Path) -> Result<Self> {
        Self::serve(address, folder.to_owned(), None).await
    }

    async fn serve(address: &str, folder: PathBuf, removed: Option<tempfile::TempDir>) -> Result<Self> {
        secrets::note(SECRET_ACCESS_KEY);
        std::fs::create_dir_all(folder.join(NAME))?;
        let files = s3s_fs::FileSystem::new(&folder).map_err(|error| anyhow::anyhow!("{error:?}"))?;
        let mut s3 = S3ServiceBuilder::new(files);
        s3.set_auth(s3s::auth::SimpleAuth::from_single(ACCESS_KEY_ID, SECRET_ACCESS_KEY));
        let front = Arc::new(BucketFront {
            s3: s3.build(),
            mood: Mutex::default(),
            requests: AtomicUsize::new(0),
            conditional: tokio::sync::Mutex::default(),
        });
        let listener = tokio::net::TcpListener::bind(address).await?;
        let endpoint = format!("http://{}", listener.local_addr()?);
        let answering = front.clone();
        let task = tokio::spawn(answer_all(listener, move |request| answering.clone().answer(request)));
        Ok(Bucket { endpoint, front, folder, _removed: removed, task })
    }

    /// Changes how the front behaves from now on.
    pub fn feel(&self, mood: BucketBehaviour) {
        *self.front.mood.lock().unwrap_or_else(PoisonError::into_inner) = mood;
    }

    /// Number of requests so far.
    pub fn requests(&self) -> usize {
        self.front.requests.load(Ordering::SeqCst)
    }

    /// Names of the objects below a prefix.
    pub fn names(&self, prefix: &str) -> Vec<String> {
        names_below(&self.folder.join(NAME), prefix)
    }

    /// The content of the object with this name.
    pub fn bytes_of(&self, name: &str) -> Result<Vec<u8>> {
        Ok(std::fs::read(self.folder.join(NAME).join(name))?)
    }

    /// The value of `CYCLORAMA_OBJECTS` for objects under `prefix`.
    pub fn address(&self, prefix: &str) -> String {
        address(&self.endpoint, prefix)
    }

    /// Options of a service that stores its objects here.
    pub fn options(&self) -> Options {
        credentials(Options::default()).set("CYCLORAMA_OBJECTS", self.address("cyclorama/test"))
    }
}

/// Answers every request of every connection with `answer`, until the task that runs this function
/// is aborted.
pub(crate) async fn answer_all<A, F>(listener: tokio::net::TcpListener, answer: A)
where
    A: Fn(Request<Incoming>) -> F + Clone + Send + 'static,
    F: Future<Output = Result<Response<s3s::Body>>> + Send + 'static,
{
    while let Ok((stream, _)) = listener.accept().await {
        let connection = hyper::server::conn::http1::Builder::new()
            .serve_connection(TokioIo::new(stream), hyper::service::service_fn(answer.clone()));
        tokio::spawn(connection);
    }
}

/// Names of the files below a folder, relative to it, that begin with a prefix; sorted.
pub fn names_below(root: &Path, prefix: &str) -> Vec<String> {
    fn walk(folder: &Path, names: &mut Vec<String>, root: &Path) {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                walk(&path, names, root);
            } else if let Ok(name) = path.strip_prefix(root) {
                names.push(name.display().to_string());
            }
        }
    }
    let mut names = Vec::new();
    walk(root, &mut names, root);
    names.retain(|name| name.starts_with(prefix));
    names.sort();
    names
}

/// Adds these credentials, and settings that keep the AWS credentials of this machine from being
/// used.
pub fn credentials(options: Options) -> Options {
    options
        .set("AWS_ACCESS_KEY_ID", ACCESS_KEY_ID)
        .set("AWS_SECRET_ACCESS_KEY", SECRET_ACCESS_KEY)
        .set("AWS_EC2_METADATA_DISABLED", "true")
}

pub fn address(endpoint: &str, prefix: &str) -> String {
    format!("s3://{NAME}/{prefix}?endpoint={endpoint}&region=eu-central-1")
}

impl BucketFront {
    async fn answer(self: Arc<Self>, request: Request<Incoming>) -> Result<Response<s3s::Body>> {
        self.requests.fetch_add(1, Ordering::SeqCst);
        let mood = *self.mood.lock().unwrap_or_else(PoisonError::into_inner);
        match mood {
            BucketBehaviour::Hangs => std::future::pending().await,
            BucketBehaviour::Resets => anyhow::bail!("the connection is closed"),
            BucketBehaviour::Answers(status, code) => {
                let document = format!("<Error><Code>{code}</Code><Message>On purpose.</Message></Error>");
                let mut answer = Response::new(s3s::Body::from(document));
                *answer.status_mut() = StatusCode::from_u16(status)?;
                Ok(answer)
            }
            BucketBehaviour::Well => self.serve(request).await,
            BucketBehaviour::Breaks => {
                let answer = self.serve(request).await?;
                Ok(answer.map(|_| {
                    let half = futures::stream::once(async { Ok(bytes::Bytes::from_static(b"half")) });
                    let broken = futures::stream::once(async { Err(std::io::Error::other("broken")) });
                    s3s::Body::http_body_unsync(http_body_util::StreamBody::new(futures::StreamExt::map(
                        futures::StreamExt::chain(half, broken),
                        |piece| piece.map(hyper::body::Frame::data),
                    )))
                }))
            }
        }
    }

    async fn serve(&self, request: Request<Incoming>) -> Result<Response<s3s::Body>> {
        let is_conditional = request.method() == Method::PUT && request.headers().contains_key("if-none-match");
        let _one_at_a_time = if is_conditional { Some(self.conditional.lock().await) } else { None };
        self.s3.call(request.map(s3s::Body::from)).await.map_err(|error| anyhow::anyhow!("{error:?}"))
    }
}

/// Handles one request at a time. With threads, moto checks whether an object exists and writes it
/// in two steps, so it stores two of several requests with `If-None-Match`, which no real bucket
/// does.
const MOTO: &str = "
import sys
from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import run_simple
run_simple('127.0.0.1', int(sys.argv[1]), DomainDispatcherApplication(create_backend_app), threaded=False)
";

/// The other server: `moto`, from PyPI. It does not check credentials.
pub struct Moto {
    pub endpoint: String,
    _program: tokio::process::Child,
}

impl Moto {
    pub async fn start() -> Result<Self> {
        let folder = crate::tools::installed("moto")?;
        let port = crate::service::free_port()?;
        let program = tokio::process::Command::new("python3")
            .env("PYTHONPATH", &folder)
            .args(["-c", MOTO, &port.to_string()])
            .stdin(std::process::Stdio::null())
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .kill_on_drop(true)
            .spawn()?;
        let endpoint = format!("http://127.0.0.1:{port}");
        let http = crate::service::http_client()?;
        for _ in 0..600 {
            // moto assigns a bucket to a region by the signature of the request, which it does not
            // verify.
            let signature =
                "AWS4-HMAC-SHA256 Credential=x/20300101/eu-central-1/s3/aws4_request, SignedHeaders=host, Signature=x";
            let region = "<CreateBucketConfiguration><LocationConstraint>eu-central-1</LocationConstraint></CreateBucketConfiguration>";
            let made = http.put(format!("{endpoint}/{NAME}")).header("authorization", signature).body(region).send();
            if let Ok(answer) = made.await {
                let status = answer.status();
                ensure!(status.is_success(), "moto made no bucket: {status} {}", answer.text().await?);
                return Ok(Moto { endpoint, _program: program });
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        anyhow::bail!("moto did not answer within a minute")
    }

    pub fn address(&self, prefix: &str) -> String {
        address(&self.endpoint, prefix)
    }

    /// Deletes the bucket and everything in it.
    pub async fn forget(&self) -> Result<()> {
        let reset = format!("{}/moto-api/reset", self.endpoint);
        crate::service::http_client()?.post(reset).send().await?.error_for_status()?;
        Ok(())
    }
}
