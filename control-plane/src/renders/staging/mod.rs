//! What nodes upload before anybody may see it: which objects a job owes, their addresses, and how what nobody needs is removed.

mod owed;
mod sweep;
mod uploads;

pub use owed::{Owed, owed};
pub use sweep::STAGING_SWEPT_EVERY;
pub use uploads::{LeasePlace, UploadError};
