//! One row of a batch: a signed address under a name that is charged once, then its picture into the file, which is free.

use super::journal::{Journal, State};
use super::list::Row;
use crate::clock::DAY_MS;
use anyhow::Context;
use cyclorama_client::types::ImageRequest;
use cyclorama_client::{Client, Error, ErrorKind, ImageUrlsRequest};
use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};

/// The longest there is: a batch that is gone on with within a week loads what it has paid for.
const TTL_SECONDS: i64 = 604_800;
/// A render that fails again and again is left for another day.
const ATTEMPTS_MAX: u32 = 3;
/// The service keeps names for a day; some of it may have passed before the answer was lost.
const NAME_KEPT_SECONDS: i64 = DAY_MS / 1000 - 3600;

/// What a row came to in this run.
#[derive(Debug)]
pub enum Outcome {
    Done {
        request_id: String,
    },
    /// Nothing was charged for it, or it came back.
    Failed {
        code: String,
        detail: String,
        request_id: String,
    },
    /// Charged, or perhaps charged, and not there; asking again would be a second credit.
    Lost {
        code: &'static str,
        detail: &'static str,
    },
    /// To be gone on with by the same command.
    NotNow(Error),
    /// Nothing more can be asked for: the credits, or the key.
    Stopped(Error),
    /// Not begun, because the batch was stopped.
    Waiting,
    /// This machine's trouble.
    Broken(anyhow::Error),
}

pub struct Worker<'a> {
    pub client: &'a Client,
    pub journal: &'a Journal,
    pub folder: &'a Path,
    /// Unix seconds.
    pub now: fn() -> i64,
    pub spend_again: bool,
}

/// The balance that the service told last.
pub type Balance = AtomicI64;

impl Worker<'_> {
    pub async fn work(&self, row: &Row, balance: &Balance) -> Outcome {
        let image = match &row.image {
            Ok(image) => image,
            Err(detail) => return invalid(detail),
        };
        self.go_on(row, image, balance).await.unwrap_or_else(Outcome::Broken)
    }

    async fn go_on(&self, row: &Row, image: &ImageRequest, balance: &Balance) -> anyhow::Result<Outcome> {
        let (mut failures, mut spend_again) = (0, self.spend_again);
        loop {
            let ended = match self.next(row, spend_again) {
                Next::Nothing(outcome) => Some(outcome),
                Next::Ask { attempt, is_noted } => {
                    if !is_noted {
                        self.note(row, State::Asked { attempt, at: (self.now)() })?;
                    }
                    self.ask(row, image, attempt, balance).await?
                }
                Next::Load { attempt, url, request_id } => {
                    match self.client.save_delivery(self.folder.join(&row.file), &url).await {
                        Ok(_) => {
                            self.note(row, State::Done { attempt, request_id })?;
                            None
                        }
                        Err(error) if is_of_another(&error) => Some(Outcome::NotNow(error)),
                        Err(error) if is_given_back(&error) => {
                            self.note(row, State::GivenBack { attempt })?;
                            failures += 1;
                            (failures == ATTEMPTS_MAX).then(|| failed(&error))
                        }
                        // Once: an address that is refused at once would be paid for again and again.
                        Err(error) if is_ended(&error) && spend_again => {
                            self.note(row, State::GivenBack { attempt })?;
                            spend_again = false;
                            None
                        }
                        Err(error) if is_ended(&error) => Some(lost("url_expired", URL_EXPIRED)),
                        Err(error) if is_not_now(&error) => Some(Outcome::NotNow(error)),
                        Err(error) => return Err(error.into()),
                    }
                }
            };
            if let Some(outcome) = ended {
                return Ok(outcome);
            }
        }
    }

    /// What the journal says is to be done.
    fn next(&self, row: &Row, spend_again: bool) -> Next {
        let anew = |attempt| Next::Ask { attempt, is_noted: false };
        match self.journal.state(row.number) {
            None => anew(1),
            Some(State::GivenBack { attempt } | State::Refused { attempt, .. }) => anew(attempt + 1),
            Some(State::Minted { attempt, url, request_id }) => Next::Load { attempt, url, request_id },
            Some(State::Asked { attempt, at }) if (self.now)() - at < NAME_KEPT_SECONDS => {
                Next::Ask { attempt, is_noted: true }
            }
            Some(State::Asked { attempt, .. }) if spend_again => anew(attempt + 1),
            Some(State::Asked { .. }) => Next::Nothing(lost("unknown", UNKNOWN)),
            Some(State::Done { request_id, .. }) if self.folder.join(&row.file).exists() => {
                Next::Nothing(Outcome::Done { request_id })
            }
            Some(State::Done { attempt, .. }) if spend_again => anew(attempt + 1),
            Some(State::Done { .. }) => Next::Nothing(lost("file_gone", FILE_GONE)),
        }
    }

    /// Pays for the row's address, or finds that it is paid for.
    async fn ask(
        &self,
        row: &Row,
        image: &ImageRequest,
        attempt: u32,
        balance: &Balance,
    ) -> anyhow::Result<Option<Outcome>> {
        let asked = ImageUrlsRequest {
            ttl_seconds: Some(TTL_SECONDS),
            idempotency_key: Some(self.journal.name(row.number, attempt)),
            ..ImageUrlsRequest::from(vec![image.clone()])
        };
        match self.client.create_image_urls(&asked).await {
            Ok(made) => {
                // Answers overtake each other: the balance after all of them is the lowest one told.
                let told = made.billing.credits_remaining;
                let lowest = |known: i64| if known < 0 { told } else { known.min(told) };
                balance.update(Ordering::Relaxed, Ordering::Relaxed, lowest);
                let address = made.data.into_iter().next().context("the service answered without an address")?;
                self.note(row, State::Minted { attempt, url: address.url, request_id: made.request_id })?;
                Ok(None)
            }
            // Before everything that a status says: the row keeps its name, under which the service charges once.
            Err(error) if is_of_another(&error) => Ok(Some(Outcome::NotNow(error))),
            Err(error) if is_final(&error) => Ok(Some(Outcome::Stopped(error))),
            Err(error) if is_not_now(&error) => Ok(Some(Outcome::NotNow(error))),
            // Anything else may have been charged for: the row keeps its name.
            Err(error) if !is_refusal(&error) => Err(error.into()),
            Err(error) => {
                let (code, detail) = (error.code().to_owned(), error.detail().to_owned());
                self.note(row, State::Refused { attempt, code, detail })?;
                Ok(Some(failed(&error)))
            }
        }
    }

    fn note(&self, row: &Row, state: State) -> anyhow::Result<()> {
        self.journal.note(row.number, state)
    }
}

enum Next {
    Nothing(Outcome),
    /// To be asked for, by an attempt that the journal has already or not yet.
    Ask {
        attempt: u32,
        is_noted: bool,
    },
    /// Paid for.
    Load {
        attempt: u32,
        url: String,
        request_id: String,
    },
}

const FILE_GONE: &str = "the picture was there and its file is gone: --spend-again pays for it once more";
const URL_EXPIRED: &str =
    "paid for, and its address has ended before it was loaded: --spend-again pays for it once more";
const UNKNOWN: &str =
    "asked for more than a day ago, and whether it was charged is not known: --spend-again asks for it anew";

fn lost(code: &'static str, detail: &'static str) -> Outcome {
    Outcome::Lost { code, detail }
}

fn failed(error: &Error) -> Outcome {
    let request_id = error.request_id().unwrap_or_default().to_owned();
    Outcome::Failed { code: error.code().to_owned(), detail: error.detail().to_owned(), request_id }
}

fn invalid(detail: &str) -> Outcome {
    Outcome::Failed { code: "invalid_row".to_owned(), detail: detail.to_owned(), request_id: String::new() }
}

/// A proxy in between has answered, and not the service. Its answer says nothing about what was charged, whatever its status and also where
/// it is JSON of its own: the client knows the service's problem documents from others.
fn is_of_another(error: &Error) -> bool {
    error.status().is_some() && error.code() == "unexpected_answer"
}

/// The render failed now, or did when the address was loaded first: its credit is back.
fn is_given_back(error: &Error) -> bool {
    matches!((error.status(), error.code()), (Some(502), "render_failed") | (Some(410), "delivery_url_consumed"))
}

/// The address can be loaded no more and stays paid for.
fn is_ended(error: &Error) -> bool {
    matches!(error.code(), "delivery_url_expired" | "delivery_url_revoked" | "delivery_url_invalid")
}

/// Nothing more can be asked for with this key.
fn is_final(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::InsufficientCredits | ErrorKind::Unauthorized) || error.status() == Some(403)
}

/// 409: the attempt that a kill cut off is still being answered.
fn is_not_now(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::RateLimited | ErrorKind::Unavailable)
        || error.status().is_some_and(|status| status == 409 || status >= 500)
}

/// The row is wrong, and was not charged for.
fn is_refusal(error: &Error) -> bool {
    matches!(error.status(), Some(400 | 404 | 413))
}
