//! Signed addresses: browser-safe, opaque, paid once when they are made and free to load until they expire. How
//! credits move with them is `ledger`'s.

mod address;
mod body;
mod list;
mod load;
mod mint;
mod signing;
mod token;

pub use address::{Addresses, Sources};
pub use body::{IMAGES_MAX, Wanted};
pub use list::{Listed, count_active, list};
pub use load::Refused;
pub use mint::{ENDPOINT, Made, Mint, MintError, Minted, Terms, Wish};
pub use signing::SigningKeys;
