//! `/api/v1/billing`: pages where a person pays.

pub mod checkout;
pub mod portal;
