//! `/api/v1/billing`: pages where a person pays.

pub mod checkout;
pub mod page;
pub mod portal;
