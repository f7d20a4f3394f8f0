//! Signed URLs: safe for browsers, opaque, paid for once when they are minted and free to load
//! until they expire. `ledger` moves the credits for them.

mod body;
mod list;
mod load;
mod mint;
mod signed_url;
mod signing;
mod token;

pub use body::{IMAGES_MAX, MintRequest};
pub use list::{UrlSummary, count_active, list};
pub use load::LoadRefusal;
pub use mint::{ENDPOINT, Mint, MintError, MintOutcome, MintedUrls, Terms, UrlOrder};
pub use signed_url::{SignedUrlSources, SignedUrls};
pub use signing::SigningKeys;
