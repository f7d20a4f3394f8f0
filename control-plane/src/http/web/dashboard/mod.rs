//! `/dashboard`: the pages of a signed-in user. They make the same domain calls as the JSON API.

pub mod alerts;
pub mod auto_reload;
pub mod billing;
pub mod deliveries;
pub mod identities;
pub mod keys;
pub mod overview;
pub mod partner_secrets;
pub mod password;
mod shown;
pub mod urls;
