//! Credits: balances, the append-only list of entries, holds, and the meter that commits them in groups.
//!
//! Invariants, each also a constraint of the schema: the sum of an account's entries is its balance with what is on
//! hold, a balance is never negative, a hold ends once. What a picture costs and when a hold is settled is decided in
//! `delivery`.

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
    CREDITS_MAX, Payment, Verdict, balance, grant, has_only_free_credits, open_account, open_free_account, purchase,
    standing, take_back, verify,
};
pub use deliveries::{Delivered, deliveries};
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
    /// What one picture costs, however it was found, and what one signed address costs. Whatever charges or shows a price
    /// takes it from here; pages and descriptions say it in words, as "one credit".
    /// Why: `docs/decisions/credits-and-ledger.md` (The price of a picture is one credit).
    pub const PER_PICTURE: Credits = Credits(1);

    /// What so many pictures or signed addresses cost.
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

/// What one request asks of the meter. All of it commits together, or none of it.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Counts one request against a window. When the window is full nothing else of the entry happens.
    pub count: Option<RateCount>,
    /// The key that asks, where it has a monthly cap: what is taken has to fit in it. Keys without one cost no statement.
    pub capped_key_id: Option<String>,
    pub charge: Charge,
}

impl Entry {
    /// A charge that nobody counts, of nobody's key.
    pub fn uncounted(charge: Charge) -> Self {
        Entry { count: None, capped_key_id: None, charge }
    }
}

/// One request, in exact fixed windows of 60 s that all processes share.
#[derive(Debug, Clone)]
pub struct RateCount {
    /// Whose window: a key's id, or a client address with what it asked for.
    pub counted: String,
    pub limit_per_minute: i64,
    /// The key's account, for its usage.
    pub account_id: Option<String>,
    /// What all keys of the account may ask together that have no limit of their own; `None`: this one is counted alone.
    pub account_limit_per_minute: Option<i64>,
}

#[derive(Debug, Clone)]
pub enum Charge {
    /// Only the count.
    Nothing,
    /// Only reads what the account can spend.
    Read { account_id: String },
    /// Takes the credits of a picture whose bytes are at hand.
    Debit { account_id: String, credits: Credits, delivery: Delivery, keep: Option<AnswerToKeep> },
    /// Reserves credits. `expires_at_ms` lies beyond the longest wait: a hold that is still open then is released.
    Hold { account_id: String, credits: Credits, hold_id: String, expires_at_ms: i64 },
    /// Keeps the credits of an open hold: the picture is delivered. They may pay for a signed address of it as well, which is written with
    /// this; the picture counts as its first load.
    Settle { hold_id: String, delivery: Delivery, address: Option<Box<NewDeliveryUrl>>, keep: Option<AnswerToKeep> },
    /// Gives the credits of an open hold back.
    Release { hold_id: String },
    /// Takes one credit for each signed address and writes them all: one debit.
    Mint { account_id: String, urls: Vec<NewDeliveryUrl>, keep: Option<AnswerToKeep> },
    /// Counts a load of a signed address against its cap; paid for when it was made.
    Load { delivery_url_id: String, delivery: Delivery },
    /// The first load of a signed address failed: closes it and gives its credit back.
    Refund { delivery_url_id: String },
}

impl Charge {
    /// Credits that it takes from the balance.
    pub fn asks(&self) -> Credits {
        match self {
            Charge::Debit { credits, .. } | Charge::Hold { credits, .. } => *credits,
            Charge::Mint { urls, .. } => Credits::of_pictures(urls.len()),
            _ => Credits(0),
        }
    }

    /// Whether it takes something for good, or a use of an address: what its caller has to be told of.
    fn is_final(&self) -> bool {
        matches!(self, Charge::Debit { .. } | Charge::Settle { .. } | Charge::Mint { .. } | Charge::Load { .. })
    }

    /// For `/metrics`.
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

/// The answer of a named request (see [`idempotency`]), kept with its charge or not at all.
#[derive(Debug, Clone)]
pub struct AnswerToKeep {
    pub attempt_id: String,
    /// JSON; the balance after the charge is kept beside it.
    pub answer: String,
}

/// A signed address to be written with its debit.
#[derive(Debug, Clone)]
pub struct NewDeliveryUrl {
    pub id: String,
    pub key_id: String,
    pub request_id: String,
    pub variant: cyclorama_core::Variant,
    /// The name of a format, or `auto`.
    pub format: &'static str,
    /// The box that was asked for, in pixels.
    pub width: Option<u32>,
    pub height: Option<u32>,
    /// What the picture does with it, as a query.
    pub frame: String,
    /// What its entry says: vehicle, view, colour and frame.
    pub about: String,
    /// 0: as many loads as one likes.
    pub max_uses: i64,
    pub expires_at_ms: i64,
}

/// The record of one picture given to a client; account and credits come from the charge it is written with.
#[derive(Debug, Clone)]
pub struct Delivery {
    pub key_id: String,
    pub request_id: String,
    /// What its entry says: vehicle, view, colour and frame.
    pub about: String,
    /// The vehicle that was asked for, as text of a `VehicleKey`.
    pub vehicle_key: String,
    pub render_id: String,
    pub revision: i64,
    pub format: cyclorama_core::Format,
    pub width: u32,
    pub height: u32,
    pub source: Source,
}

/// Where a delivered picture came from. Both cost the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    Cache,
    Generated,
}

impl Source {
    pub const fn as_str(self) -> &'static str {
        match self {
            Source::Cache => "cache",
            Source::Generated => "generated",
        }
    }
}

/// The meter's answer to an [`Entry`], given after the commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metered {
    /// Given when the entry counted a request.
    pub window: Option<Window>,
    pub outcome: Outcome,
    /// What was charged for good: for [`Meter::give_back`].
    pub entry_id: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Done. The balance after it, where the entry named an account or a hold.
    Done {
        remaining: Option<Credits>,
    },
    /// The key's window is full, or its account's; nothing was charged.
    RateLimited {
        limit: i64,
        of_account: bool,
    },
    /// The balance does not cover it; nothing was charged.
    Insufficient {
        balance: Credits,
    },
    /// The key's cap of the month does not cover it; nothing was charged.
    OverCap {
        balance: Credits,
        cap: Credits,
        /// Taken in this month so far.
        spent: Credits,
    },
    /// The hold was already settled or released (its owner was taken for dead): the picture must not be delivered.
    HoldNotOpen,
    /// The address was used up, consumed or has expired (for a load), or was loaded or refunded before (for a refund).
    DeliveryUrlClosed,
    /// The named request was taken over by another attempt; nothing was charged.
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
