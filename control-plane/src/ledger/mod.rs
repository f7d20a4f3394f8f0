//! Credits: balances, the append-only list of entries, holds, and the meter that commits them in
//! batches.
//!
//! Invariants, each also a constraint of the schema: the sum of an account's entries is its balance
//! plus its credits on hold, a balance is never negative, and a hold ends once. `delivery` decides
//! the price of an image and when a hold is settled.

mod balance;
mod batch;
mod deliveries;
mod delivery_urls;
mod ended;
pub mod idempotency;
mod key_cap;
mod meter;
#[cfg(test)]
mod model_tests;
mod owner;
mod process;
mod statement;
#[cfg(test)]
mod tests;
mod tidy;
mod unanswered;
#[cfg(test)]
mod unanswered_tests;
mod undo;
mod usage;

pub use balance::{
    CREDITS_MAX, Mismatch, ReceivedPayment, account_credits, balance, grant, has_only_free_credits, open_account,
    open_free_account, purchase, take_back, verify,
};
pub use deliveries::{DeliveredImage, deliveries};
pub use key_cap::{KeyCap, set as set_key_cap};
pub use meter::{Meter, MeterError};
pub use owner::start_sweeper;
pub use process::{ProcessId, SILENCE_MS as PROCESS_SILENCE_MS};
pub use statement::{PAGE_MAX, StatementLine, before_newest, has_purchase, newest_entries, statement};
pub use tidy::start_tidying;
pub use usage::{Usage, credits_spent_on, usage_30d, usage_by_day};

/// A whole number of credits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct Credits(pub i64);

impl Credits {
    /// Price of one image, whether it was cached or rendered, and of one signed URL. All
    /// code that charges or shows a price uses this constant; pages and descriptions say
    /// "one credit" in words.
    /// Why: `docs/decisions/credits-and-ledger.md` (The price of a picture is one credit).
    pub const PER_PICTURE: Credits = Credits(1);

    /// Returns the price of `count` images or signed URLs.
    pub fn of_pictures(count: usize) -> Credits {
        Credits(count as i64 * Self::PER_PICTURE.0)
    }
}

impl std::fmt::Display for Credits {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    #[error("account `{0}` does not exist")]
    UnknownAccount(String),
    #[error("the amount must be between 1 and 1,000,000,000,000 credits, not {0}")]
    BadAmount(i64),
    #[error("the payment `{0}` was entered before, for another account or amount")]
    ReferenceTaken(String),
    #[error("the account has no entry `{0}`")]
    UnknownEntry(String),
    #[error("the ledger could not be read or written")]
    Database(#[from] sqlx::Error),
}

/// The counts and the charge that one request submits to the meter. All of it commits
/// together, or none of it.
#[derive(Debug, Clone)]
pub struct MeterRequest {
    /// Counts one request against a window. If the window is full, nothing else
    /// of the request happens.
    pub count: Option<RateCount>,
    /// Id of the key that sent the request, if the key has a monthly cap: the charge must fit in
    /// the cap. Keys without a cap cost no extra statement.
    pub capped_key_id: Option<String>,
    pub charge: Charge,
}

impl MeterRequest {
    /// Returns a request with this charge, without a rate limit or a key's cap.
    pub fn uncounted(charge: Charge) -> Self {
        MeterRequest { count: None, capped_key_id: None, charge }
    }
}

/// One request to count in exact fixed windows of 60 s, which all processes share.
#[derive(Debug, Clone)]
pub struct RateCount {
    /// Name of the window: a key's id, or a client's address together with what it requested.
    pub counted: String,
    pub limit_per_minute: i64,
    /// The key's account, whose usage counts the request.
    pub account_id: Option<String>,
    /// Limit for all keys of the account together that have no limit of their own. `None` if this
    /// key is counted alone.
    pub account_limit_per_minute: Option<i64>,
}

/// The credits that a [`MeterRequest`] moves.
#[derive(Debug, Clone)]
pub enum Charge {
    /// Only counts the request.
    Nothing,
    /// Only reads the credits that the account can spend.
    Read { account_id: String },
    /// Takes the credits of an image whose bytes are already available.
    Debit { account_id: String, credits: Credits, delivery: DeliveryRecord, keep: Option<AnswerToKeep> },
    /// Puts credits on hold. `expires_at_ms` lies beyond the longest wait: a hold that is still
    /// open then is released.
    Hold { account_id: String, credits: Credits, hold_id: String, expires_at_ms: i64 },
    /// Keeps the credits of an open hold, because the image is delivered. They may also pay for a
    /// signed URL of the image, which is written in the same transaction; the delivery then counts
    /// as the URL's first load.
    Settle {
        hold_id: String,
        delivery: DeliveryRecord,
        address: Option<Box<NewDeliveryUrl>>,
        keep: Option<AnswerToKeep>,
    },
    /// Gives the credits of an open hold back.
    Release { hold_id: String },
    /// Takes one credit for each signed URL and writes them all, with one debit.
    Mint { account_id: String, urls: Vec<NewDeliveryUrl>, keep: Option<AnswerToKeep> },
    /// Counts a load of a signed URL against its maximum number of uses. It takes no credits: the
    /// URL was paid for when it was made.
    Load { delivery_url_id: String, delivery: DeliveryRecord },
    /// Closes a signed URL whose first load failed, and gives its credit back.
    Refund { delivery_url_id: String },
}

impl Charge {
    /// Returns the credits that this charge takes from the balance.
    pub fn asks(&self) -> Credits {
        match self {
            Charge::Debit { credits, .. } | Charge::Hold { credits, .. } => *credits,
            Charge::Mint { urls, .. } => Credits::of_pictures(urls.len()),
            _ => Credits(0),
        }
    }

    /// True if the charge takes credits or a use of a URL for good, so that the waiting request
    /// must get the answer.
    fn is_final(&self) -> bool {
        matches!(self, Charge::Debit { .. } | Charge::Settle { .. } | Charge::Mint { .. } | Charge::Load { .. })
    }

    /// Returns the label of this charge in `/metrics`.
    fn name(&self) -> &'static str {
        match self {
            Charge::Nothing => "nothing",
            Charge::Read { .. } => "read",
            Charge::Debit { .. } => "debit",
            Charge::Hold { .. } => "hold",
            Charge::Settle { .. } => "settle",
            Charge::Release { .. } => "release",
            Charge::Mint { .. } => "mint",
            Charge::Load { .. } => "load",
            Charge::Refund { .. } => "refund",
        }
    }
}

/// The answer of a request with an idempotency key (see [`idempotency`]). It is stored together
/// with the charge, or not at all.
#[derive(Debug, Clone)]
pub struct AnswerToKeep {
    pub attempt_id: String,
    /// JSON. The balance after the charge is stored beside it.
    pub answer: String,
}

/// A signed URL that is written together with its debit.
#[derive(Debug, Clone)]
pub struct NewDeliveryUrl {
    pub id: String,
    pub key_id: String,
    pub request_id: String,
    pub variant: cyclorama_core::Variant,
    /// Name of an image format, or `auto`.
    pub format: &'static str,
    /// The requested box, in pixels.
    pub width: Option<u32>,
    pub height: Option<u32>,
    /// The framing (how the image fills the box), as a query string.
    pub frame: String,
    /// Reason in the URL's ledger entry: vehicle, view, colour and framing.
    pub about: String,
    /// Maximum number of loads; 0 if there is no limit.
    pub max_uses: i64,
    pub expires_at_ms: i64,
}

/// The record of one image delivered to a client. Account and credits come from the charge with
/// which it is written.
#[derive(Debug, Clone)]
pub struct DeliveryRecord {
    pub key_id: String,
    pub request_id: String,
    /// Reason in the delivery's ledger entry: vehicle, view, colour and framing.
    pub about: String,
    /// The requested vehicle, as the text of a `VehicleKey`.
    pub vehicle_key: String,
    pub render_id: String,
    pub revision: i64,
    pub format: cyclorama_core::Format,
    pub width: u32,
    pub height: u32,
    pub source: ImageSource,
}

/// The source of a delivered image. Both sources cost the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ImageSource {
    Cache,
    Generated,
}

impl ImageSource {
    pub const fn as_str(self) -> &'static str {
        match self {
            ImageSource::Cache => "cache",
            ImageSource::Generated => "generated",
        }
    }
}

/// The meter's answer to a [`MeterRequest`], sent after the commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeterAnswer {
    /// Present if the request counted a request.
    pub window: Option<Window>,
    pub outcome: ChargeOutcome,
    /// Id of the ledger entry of a final charge, for [`Meter::give_back`].
    pub entry_id: Option<String>,
}

/// The result of a [`MeterRequest`]'s charge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChargeOutcome {
    /// The request was committed. `remaining` is the balance after it, if the request named
    /// an account or a hold.
    Done {
        remaining: Option<Credits>,
    },
    /// The window of the key, or of its account, is full; nothing was charged.
    RateLimited {
        limit: i64,
        of_account: bool,
    },
    /// The balance does not cover the charge; nothing was charged.
    Insufficient {
        balance: Credits,
    },
    /// The key's monthly cap does not cover the charge; nothing was charged.
    OverCap {
        balance: Credits,
        cap: Credits,
        /// Credits that the key has taken in this month so far.
        spent: Credits,
    },
    /// The hold was already settled or released (its owner was taken for dead), so the image
    /// must not be delivered.
    HoldNotOpen,
    /// The signed URL does not allow the change. For a load: it was used up, was consumed or has
    /// expired. For a refund: it was loaded or refunded before.
    DeliveryUrlClosed,
    /// Another attempt has taken over the request with this idempotency key; nothing was charged.
    AttemptLost,
    UnknownAccount,
}

/// State of a window after the request was counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    pub limit: i64,
    pub remaining: i64,
    /// Whole seconds until the window ends, at least 1.
    pub reset_seconds: i64,
}
