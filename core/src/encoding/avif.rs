//! AVIF.

use super::{EncodingError, Picture};
use crate::Format;

pub(super) fn encode(picture: &Picture) -> Result<Vec<u8>, EncodingError> {
    Err(EncodingError::Encode {
        format: Format::Avif,
        width: picture.width(),
        height: picture.height(),
        detail: "not built yet".to_owned(),
    })
}
