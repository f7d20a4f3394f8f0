//! Credits: balances, the append-only list of entries, holds, and the meter that commits them in groups.
//!
//! Invariants, each also a constraint of the schema: the sum of an account's entries is its balance, a balance is never
//! negative, a hold ends once. What a picture costs and when a hold is settled is decided in `delivery`.

mod balance;
mod batch;
mod delivery_urls;
mod meter;
mod owner;
#[cfg(test)]
mod tests;

pub use balance::{Standing, Verdict, balance, grant, open_account, standing, verify};
pub use meter::{Meter, MeterError};
pub use owner::{ProcessId, start_sweeper};

/// A whole number of credits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct Credits(pub i64);

impl std::fmt::Display for Credits {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    #[error("account `{0}` does not exist")]
    UnknownAccount(String),
    #[error("a grant must be between 1 and 1,000,000,000,000 credits, not {0}")]
    BadAmount(i64),
    #[error("the ledger could not be read or written")]
    Database(#[from] sqlx::Error),
}

/// What one request asks of the meter. All of it commits together, or none of it.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Counts one request against a key's window. When the window is full nothing else of the entry happens.
    pub count: Option<RateCount>,
    pub charge: Charge,
}

/// One request of a key, in exact fixed windows of 60 s.
#[derive(Debug, Clone)]
pub struct RateCount {
    pub key_id: String,
    pub limit_per_minute: i64,
}

#[derive(Debug, Clone)]
pub enum Charge {
    /// Only the count.
    Nothing,
    /// Only reads what the account can spend.
    Read { account_id: String },
    /// Takes the credits of a picture whose bytes are at hand.
    Debit { account_id: String, credits: Credits, delivery: Delivery },
    /// Reserves credits. `expires_at_ms` lies beyond the longest wait: a hold that is still open then is released.
    Hold { account_id: String, credits: Credits, hold_id: String, expires_at_ms: i64 },
    /// Keeps the credits of an open hold: the picture is delivered.
    Settle { hold_id: String, delivery: Delivery },
    /// Gives the credits of an open hold back.
    Release { hold_id: String },
    /// Takes one credit for each signed address and writes them all: one debit.
    Mint { account_id: String, urls: Vec<NewDeliveryUrl> },
    /// Counts a load of a signed address against its cap; paid for when it was made.
    Load { delivery_url_id: String },
    /// The first load of a signed address failed: closes it and gives its credit back.
    Refund { delivery_url_id: String },
}

/// A signed address to be written with its debit.
#[derive(Debug, Clone)]
pub struct NewDeliveryUrl {
    pub id: String,
    pub key_id: String,
    pub request_id: String,
    pub variant: cyclorama_core::Variant,
    pub format: cyclorama_core::Format,
    /// The box that was asked for, in pixels.
    pub width: Option<u32>,
    pub height: Option<u32>,
    /// 0: as many loads as one likes.
    pub max_uses: i64,
    pub expires_at_ms: i64,
}

/// The record of one picture given to a client; account and credits come from the charge it is written with.
#[derive(Debug, Clone)]
pub struct Delivery {
    pub key_id: String,
    pub request_id: String,
    pub render_id: String,
    pub revision: i64,
    pub format: cyclorama_core::Format,
    pub width: u32,
    pub height: u32,
    pub source: Source,
}

/// Where a delivered picture came from. Both cost the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Done. The balance after it, where the entry named an account or a hold.
    Done {
        remaining: Option<Credits>,
    },
    /// The key's window is full; nothing was charged.
    RateLimited,
    /// The balance does not cover it; nothing was charged.
    Insufficient {
        balance: Credits,
    },
    /// The hold was already settled or released (its owner was taken for dead): the picture must not be delivered.
    HoldNotOpen,
    /// The address was used up, consumed or has expired (for a load), or was loaded or refunded before (for a refund).
    DeliveryUrlClosed,
    UnknownAccount,
}

/// State of a key's window after the request was counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    pub limit: i64,
    pub remaining: i64,
    /// Whole seconds until the window ends, at least 1.
    pub reset_seconds: i64,
}
