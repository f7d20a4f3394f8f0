//! Uploads of nodes before clients may see them: the objects that a job requires, their upload
//! addresses, and the removal of objects that are no longer needed.

mod owed;
mod sweep;
mod uploads;

pub use owed::{RequiredObject, owed};
pub use sweep::STAGING_SWEPT_EVERY;
pub use uploads::{LeasePlace, UploadError};
