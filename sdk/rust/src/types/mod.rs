//! Types of requests and answers, named as in the service's API document.

mod answers;
mod picture;
mod requests;
mod words;

pub use answers::*;
pub use picture::{CarImage, ImageInfo};
pub use requests::*;
pub use words::{Background, Body, Color, Finish, Fit, Format, Scale, Shadow, SizePreset, View};
