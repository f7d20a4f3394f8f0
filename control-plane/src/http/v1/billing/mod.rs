//! `/api/v1/billing`: pages on which a person pays.

pub mod checkout;
pub mod portal;
