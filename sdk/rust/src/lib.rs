#![doc = include_str!("../README.md")]

mod client;
mod error;
mod html;
mod partner_urls;
mod transport;
pub mod types;

pub use client::{Builder, Client};
pub use error::{Error, ErrorKind};
pub use html::{alt_text, car_image_attributes, car_image_html};
pub use partner_urls::{Verdict, sign_partner_url, verify_partner_url};
pub use transport::{Pause, Retries};
pub use types::{
    AskedYear, Background, Body, CarImage, CheckRow, Color, Finish, Fit, Format, Grant, ImageInfo, ImageRequest,
    ImageUrlsRequest, Picture, Scale, Shadow, SizePreset, View,
};
