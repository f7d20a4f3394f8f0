//! From a request for an image to its bytes: its parameters, its charge, and finding the bytes.
//!
//! The steps are, in this order: authenticate, rate-limit, parse and validate, catalog,
//! conditional, charge, find bytes, answer. The handler does the first four; `ledger` moves the
//! credits, and `renders` makes the images.

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

pub use abandoned::AbandonedImages;
pub use charge::{Deliveries, DeliveryOutcome, HeadAnswer, KeyedRequest, ReplayedAnswer};
pub use error::DeliveryError;
pub use etag::{matches as etag_matches, of_bytes as etag_of_bytes};
pub use examples::{Example, Examples};
pub use find::{ImageDescription, ImageSources, Images, ReadyImage};
pub use framed::FramedImage;
pub use order::Order;
pub use request::{AskedFormat, BadParameter, Endpoint, ImageRequest, ResponseKind};
