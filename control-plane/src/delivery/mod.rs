//! From a request for a picture to its bytes: what was asked, what it costs, where the bytes are found.
//!
//! The order is: authenticate, rate-limit, parse and validate, catalog, conditional, charge, find bytes, answer. The first four are
//! the handler's; how credits move is `ledger`'s, how a picture comes to exist `renders`'.

mod abandoned;
mod charge;
#[cfg_attr(not(feature = "content-credentials"), path = "credentials_absent.rs")]
pub mod credentials;
mod encoders;
mod error;
mod etag;
mod examples;
mod find;
mod framed;
mod looks;
mod negotiation;
mod new_paints;
mod order;
pub mod partner;
pub mod request;
pub mod sizes;
pub mod tracking;
pub mod urls;

pub use abandoned::Abandoned;
pub use charge::{Asked, Delivered, Deliveries, Shown, Told};
pub use error::DeliveryError;
pub use etag::{matches as etag_matches, of_bytes as etag_of_bytes};
pub use examples::{Example, Examples};
pub use find::{Described, Pictures, Ready, Sources};
pub use framed::Framed;
pub use order::Order;
pub use request::{AskedFormat, BadParameter, Endpoint, ImageRequest, ResponseKind};
