//! The errors with which an image is not delivered.

use super::credentials::CredentialsError;
use crate::clock::UnixMs;
use crate::ledger::{Credits, KeyCap, MeterError, Window};
use crate::objects::ObjectError;
use crate::plural;
use crate::renders::RenderError;
use crate::turns::waiting::SlotNeeded;
use cyclorama_core::encoding::EncodingError;
use cyclorama_core::wire::FailureKind;
use std::sync::Arc;

/// The reasons why there is no image. Nothing was charged, or the charge has been given back.
#[derive(Debug, Clone, thiserror::Error)]
pub enum DeliveryError {
    #[error("the window of the key or its account is full")]
    RateLimited { window: Window, limit: i64, of_account: bool },
    #[error("the balance does not cover {}", plural::count(required.0, "credit"))]
    Insufficient { balance: Credits, required: Credits },
    #[error("the key's cap of the month does not cover {}", plural::count(required.0, "credit"))]
    OverCap { balance: Credits, required: Credits, cap: KeyCap },
    #[error("{} of the account were left unpaid today", plural::count(*abandoned, "new picture"))]
    TooManyAbandoned { abandoned: i64, reset_at: UnixMs },
    #[error("the account has had {} made today", plural::count(*paints, "new paint"))]
    TooManyPaints { paints: i64, reset_at: UnixMs },
    #[error("the key's account has no ledger")]
    NoLedger,
    #[error("the picture came after its hold was given back")]
    HoldLost,
    #[error("another attempt at the named request was quicker")]
    AttemptLost,
    #[error(transparent)]
    Render(#[from] RenderError),
    #[error("the stored picture cannot be read")]
    Store(#[source] Arc<ObjectError>),
    #[error("the picture cannot be encoded")]
    Encoding(#[source] Arc<EncodingError>),
    #[error("the picture's credentials cannot be signed")]
    Credentials(#[source] Arc<CredentialsError>),
    /// There is more free work than there are places for it.
    #[error("too many free pictures are being made")]
    FreeWorkFull,
    #[error(transparent)]
    NoPlace(#[from] SlotNeeded),
    #[error("the ledger does not answer")]
    Meter(#[from] MeterError),
    #[error("the database did not answer")]
    Database(#[source] Arc<sqlx::Error>),
}

impl DeliveryError {
    /// True if the image itself could not be made. Trouble with storing it, or with capacity, does
    /// not count.
    pub fn is_failed_render(&self) -> bool {
        matches!(self, DeliveryError::Render(RenderError::Failed { kind, .. }) if kind != FailureKind::Upload.as_str())
    }
}

impl From<sqlx::Error> for DeliveryError {
    fn from(error: sqlx::Error) -> Self {
        DeliveryError::Database(Arc::new(error))
    }
}

impl From<ObjectError> for DeliveryError {
    fn from(error: ObjectError) -> Self {
        DeliveryError::Store(Arc::new(error))
    }
}
