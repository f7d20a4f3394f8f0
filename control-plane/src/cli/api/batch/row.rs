//! One row of a batch: makes a signed URL under an idempotency key, so that it is charged once,
//! then loads its image into the file, which is free.

use super::journal::{Journal, RowState};
use super::list::BatchRow;
use crate::clock::DAY_MS;
use anyhow::Context;
use cyclorama_client::types::ImageRequest;
use cyclorama_client::{Client, Error, ErrorKind, ImageUrlsRequest};
use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};

/// Lifetime of the signed URLs, in seconds: the longest that the service allows. A batch that is
/// resumed within a week loads what it has paid for.
const TTL_SECONDS: i64 = 604_800;
/// Maximum number of attempts of one run. A render that fails again
/// and again is left for another day.
const ATTEMPTS_MAX: u32 = 3;
/// Time for which the service is sure to know an idempotency key, in seconds. The service stores
/// keys for a day; part of it may have passed before the answer was lost, so this is an hour less.
const NAME_KEPT_SECONDS: i64 = DAY_MS / 1000 - 3600;

/// The outcome of a row in this run.
#[derive(Debug)]
pub enum BatchRowOutcome {
    Done {
        request_id: String,
    },
    /// Nothing was charged for the row, or its credit was given back.
    Failed {
        code: String,
        detail: String,
        request_id: String,
    },
    /// The row was charged, or may have been, and its image is not there. Requesting it again would
    /// cost a second credit.
    Lost {
        code: &'static str,
        detail: &'static str,
    },
    /// The row can be continued later by the same command.
    NotNow(Error),
    /// No row can be requested any more, because of the credits or the key.
    Stopped(Error),
    /// The row was not begun, because the batch was stopped.
    Waiting,
    /// A failure of this machine, such as a full disk.
    Broken(anyhow::Error),
}

pub struct Worker<'a> {
    pub client: &'a Client,
    pub journal: &'a Journal,
    pub folder: &'a Path,
    /// Returns the time in Unix seconds.
    pub now: fn() -> i64,
    pub spend_again: bool,
}

/// The balance that the service reported last.
pub type Balance = AtomicI64;

impl Worker<'_> {
    pub async fn work(&self, row: &BatchRow, balance: &Balance) -> BatchRowOutcome {
        let image = match &row.image {
            Ok(image) => image,
            Err(detail) => return invalid(detail),
        };
        self.go_on(row, image, balance).await.unwrap_or_else(BatchRowOutcome::Broken)
    }

    async fn go_on(&self, row: &BatchRow, image: &ImageRequest, balance: &Balance) -> anyhow::Result<BatchRowOutcome> {
        let (mut failures, mut spend_again) = (0, self.spend_again);
        loop {
            let ended = match self.next(row, spend_again) {
                Next::Nothing(outcome) => Some(outcome),
                Next::Ask { attempt, is_noted } => {
                    if !is_noted {
                        self.note(row, RowState::Asked { attempt, at: (self.now)() })?;
                    }
                    self.ask(row, image, attempt, balance).await?
                }
                Next::Load { attempt, url, request_id } => {
                    match self.client.save_delivery(self.folder.join(&row.file), &url).await {
                        Ok(_) => {
                            self.note(row, RowState::Done { attempt, request_id })?;
                            None
                        }
                        Err(error) if is_of_another(&error) => Some(BatchRowOutcome::NotNow(error)),
                        Err(error) if is_given_back(&error) => {
                            self.note(row, RowState::GivenBack { attempt })?;
                            failures += 1;
                            (failures == ATTEMPTS_MAX).then(|| failed(&error))
                        }
                        // Only once: with a URL that is refused at once, the row would be
                        // paid for again and again.
                        Err(error) if is_ended(&error) && spend_again => {
                            self.note(row, RowState::GivenBack { attempt })?;
                            spend_again = false;
                            None
                        }
                        Err(error) if is_ended(&error) => Some(lost("url_expired", URL_EXPIRED)),
                        Err(error) if is_not_now(&error) => Some(BatchRowOutcome::NotNow(error)),
                        Err(error) => return Err(error.into()),
                    }
                }
            };
            if let Some(outcome) = ended {
                return Ok(outcome);
            }
        }
    }

    /// Returns the next step for a row, from its state in the journal.
    fn next(&self, row: &BatchRow, spend_again: bool) -> Next {
        let ask = |attempt| Next::Ask { attempt, is_noted: false };
        match self.journal.state(row.number) {
            None => ask(1),
            Some(RowState::GivenBack { attempt } | RowState::Refused { attempt, .. }) => ask(attempt + 1),
            Some(RowState::Minted { attempt, url, request_id }) => Next::Load { attempt, url, request_id },
            Some(RowState::Asked { attempt, at }) if (self.now)() - at < NAME_KEPT_SECONDS => {
                Next::Ask { attempt, is_noted: true }
            }
            Some(RowState::Asked { attempt, .. }) if spend_again => ask(attempt + 1),
            Some(RowState::Asked { .. }) => Next::Nothing(lost("unknown", UNKNOWN)),
            Some(RowState::Done { request_id, .. }) if self.folder.join(&row.file).exists() => {
                Next::Nothing(BatchRowOutcome::Done { request_id })
            }
            Some(RowState::Done { attempt, .. }) if spend_again => ask(attempt + 1),
            Some(RowState::Done { .. }) => Next::Nothing(lost("file_gone", FILE_GONE)),
        }
    }

    /// Pays for the row's signed URL, or finds that it is paid for already.
    async fn ask(
        &self,
        row: &BatchRow,
        image: &ImageRequest,
        attempt: u32,
        balance: &Balance,
    ) -> anyhow::Result<Option<BatchRowOutcome>> {
        let asked = ImageUrlsRequest {
            ttl_seconds: Some(TTL_SECONDS),
            idempotency_key: Some(self.journal.name(row.number, attempt)),
            ..ImageUrlsRequest::from(vec![image.clone()])
        };
        match self.client.create_image_urls(&asked).await {
            Ok(made) => {
                // Answers may overtake each other: the balance after all of them
                // is the lowest one reported.
                let message = made.billing.credits_remaining;
                let lowest = |known: i64| if known < 0 { message } else { known.min(message) };
                balance.update(Ordering::Relaxed, Ordering::Relaxed, lowest);
                let address = made.data.into_iter().next().context("the response of the service has no URL")?;
                self.note(row, RowState::Minted { attempt, url: address.url, request_id: made.request_id })?;
                Ok(None)
            }
            // Checked before the status is used: the row keeps its idempotency key, under which the
            // service charges once.
            Err(error) if is_of_another(&error) => Ok(Some(BatchRowOutcome::NotNow(error))),
            Err(error) if is_final(&error) => Ok(Some(BatchRowOutcome::Stopped(error))),
            Err(error) if is_not_now(&error) => Ok(Some(BatchRowOutcome::NotNow(error))),
            // After any other error the row may have been charged: it keeps its idempotency key.
            Err(error) if !is_refusal(&error) => Err(error.into()),
            Err(error) => {
                let (code, detail) = (error.code().to_owned(), error.detail().to_owned());
                self.note(row, RowState::Refused { attempt, code, detail })?;
                Ok(Some(failed(&error)))
            }
        }
    }

    fn note(&self, row: &BatchRow, state: RowState) -> anyhow::Result<()> {
        self.journal.note(row.number, state)
    }
}

enum Next {
    Nothing(BatchRowOutcome),
    /// Request the signed URL, by an attempt that is in the journal already or not yet.
    Ask {
        attempt: u32,
        is_noted: bool,
    },
    /// Load the URL that is paid for.
    Load {
        attempt: u32,
        url: String,
        request_id: String,
    },
}

const FILE_GONE: &str = "the image was saved, but its file is missing: --spend-again pays for it again";
const URL_EXPIRED: &str = "charged, but the signed URL expired before it was loaded: --spend-again pays for it again";
const UNKNOWN: &str =
    "requested more than a day ago, and it is unknown whether it was charged: --spend-again requests it again";

fn lost(code: &'static str, detail: &'static str) -> BatchRowOutcome {
    BatchRowOutcome::Lost { code, detail }
}

fn failed(error: &Error) -> BatchRowOutcome {
    let request_id = error.request_id().unwrap_or_default().to_owned();
    BatchRowOutcome::Failed { code: error.code().to_owned(), detail: error.detail().to_owned(), request_id }
}

fn invalid(detail: &str) -> BatchRowOutcome {
    BatchRowOutcome::Failed { code: "invalid_row".to_owned(), detail: detail.to_owned(), request_id: String::new() }
}

/// True if a proxy in between has answered instead of the service. Such a response says nothing
/// about charges, whatever its status, and even if it is JSON: the client distinguishes the
/// service's problem documents from others.
fn is_of_another(error: &Error) -> bool {
    error.status().is_some() && error.code() == "unexpected_answer"
}

/// True if the render failed, now or when the URL was first loaded: its credit was given back.
fn is_given_back(error: &Error) -> bool {
    matches!((error.status(), error.code()), (Some(502), "render_failed") | (Some(410), "delivery_url_consumed"))
}

/// True if the URL can no longer be loaded, although it is paid for.
fn is_ended(error: &Error) -> bool {
    matches!(error.code(), "delivery_url_expired" | "delivery_url_revoked" | "delivery_url_invalid")
}

/// True if nothing more can be requested with this key.
fn is_final(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::InsufficientCredits | ErrorKind::Unauthorized) || error.status() == Some(403)
}

/// True if the same request may succeed later. 409 means that the attempt which a kill cut off is
/// still being answered.
fn is_not_now(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::RateLimited | ErrorKind::Unavailable)
        || error.status().is_some_and(|status| status == 409 || status >= 500)
}

/// True if the row is wrong and was not charged.
fn is_refusal(error: &Error) -> bool {
    matches!(error.status(), Some(400 | 404 | 413))
}
