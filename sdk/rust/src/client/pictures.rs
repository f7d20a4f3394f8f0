//! Operations on images and signed URLs.

use super::{Client, decode};
use crate::error::Error;
use crate::transport::{Answer, Request};
use crate::types::{CarImage, Grant, ImageInfo, ImageUrlResponse, ImageUrlsRequest, ImageUrlsResponse, Picture};
use reqwest::header::{ACCEPT, HeaderName, IF_NONE_MATCH};
use std::path::Path;

const CAR: &str = "/api/v1/images/car";
const IMAGE: &str = "image/*";
const EMBED: &str = "/images/car.png";
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
pub(super) const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

impl Client {
    /// Returns an image, for one credit. It is free if it is still the one that `if_none_match`
    /// names.
    pub async fn get_car_image(&self, asked: &Picture) -> Result<CarImage, Error> {
        self.picture(spending(Request::get(CAR), asked)?).await
    }

    /// Saves an image as `get_car_image` returns it to a file. It is streamed, and the file appears
    /// complete or not at all. The format does not depend on the file's name.
    pub async fn save_car_image(&self, path: impl AsRef<Path>, asked: &Picture) -> Result<ImageInfo, Error> {
        self.save(path.as_ref(), spending(Request::get(CAR), asked)?).await
    }

    /// Returns the headers that `get_car_image` would return. Free; never renders.
    pub async fn head_car_image(&self, asked: &Picture) -> Result<ImageInfo, Error> {
        self.info(of(Request::head(CAR), asked)?).await
    }

    /// Creates a signed URL of the image, for one credit. The URL does not contain the key.
    /// `accept` has no effect here.
    pub async fn get_car_image_url(&self, asked: &Picture) -> Result<ImageUrlResponse, Error> {
        self.json(&spending(Request::get(CAR), asked)?.parameter("response", "url")).await
    }

    /// Creates signed URLs of 1 to 50 images, for one credit each; either all are created or none.
    /// Loading them is free until they expire.
    pub async fn create_image_urls(&self, asked: &ImageUrlsRequest) -> Result<ImageUrlsResponse, Error> {
        let request = Request::post("/api/v1/image-urls").body(asked)?;
        let answer = self.transport.send(&named(request, asked.idempotency_key.as_deref())?, None).await?;
        decode(&answer)
    }

    /// Loads the image of a signed URL, or of its token alone. Free.
    pub async fn load_delivery(&self, url: &str, if_none_match: Option<&str>) -> Result<CarImage, Error> {
        self.picture(load(url, if_none_match)?).await
    }

    /// Loads the image of a signed URL whose format is `auto`. `accept` has the acceptable media
    /// types, such as `image/avif,image/webp`.
    pub async fn load_delivery_as(
        &self,
        accept: &str,
        url: &str,
        if_none_match: Option<&str>,
    ) -> Result<CarImage, Error> {
        self.picture(load(url, if_none_match)?.header(ACCEPT, Some(accept))?).await
    }

    /// Saves the image of a signed URL to a file. It is streamed, and the file appears complete or
    /// not at all.
    pub async fn save_delivery(&self, path: impl AsRef<Path>, url: &str) -> Result<ImageInfo, Error> {
        self.save(path.as_ref(), load(url, None)?).await
    }

    /// Checks that a signed URL is valid, without using up one of its loads.
    pub async fn check_delivery(&self, url: &str) -> Result<ImageInfo, Error> {
        self.info(Request::head(delivery(url))).await
    }

    /// Returns an image of the legacy endpoint. Free with a grant, else for one credit.
    pub async fn embed_car_image(&self, asked: &Picture, grant: &Grant) -> Result<CarImage, Error> {
        self.picture(spending(Request::get(EMBED), asked)?.query(grant)?).await
    }

    /// Returns the headers that `embed_car_image` would return. Free; never renders.
    pub async fn head_embed_car_image(&self, asked: &Picture, grant: &Grant) -> Result<ImageInfo, Error> {
        self.info(of(Request::head(EMBED), asked)?.query(grant)?).await
    }

    async fn picture(&self, request: Request) -> Result<CarImage, Error> {
        let answer = self.transport.send(&request.expect_media_type(IMAGE), None).await?;
        Ok(CarImage { info: info(&answer), content: answer.body })
    }

    async fn save(&self, path: &Path, request: Request) -> Result<ImageInfo, Error> {
        Ok(info(&self.transport.send(&request.expect_media_type(IMAGE), Some(path)).await?))
    }

    async fn info(&self, request: Request) -> Result<ImageInfo, Error> {
        Ok(info(&self.transport.send(&request.expect_media_type(IMAGE), None).await?))
    }
}

fn info(answer: &Answer) -> ImageInfo {
    ImageInfo::read(answer.status, &answer.headers)
}

fn of(request: Request, asked: &Picture) -> Result<Request, Error> {
    let request = request.query(asked)?.header(IF_NONE_MATCH, asked.if_none_match.as_deref())?;
    let request = request.header(ACCEPT, asked.accept.as_deref())?;
    request.header(REQUEST_ID, asked.request_id.as_deref())
}

/// Marks a request as one that spends a credit.
fn spending(request: Request, asked: &Picture) -> Result<Request, Error> {
    Ok(of(request, asked)?.repeatable(false))
}

/// Adds an idempotency key, so that the request may be sent again.
pub(super) fn named(request: Request, idempotency_key: Option<&str>) -> Result<Request, Error> {
    let key = idempotency_key.map_or_else(|| uuid::Uuid::new_v4().to_string(), str::to_owned);
    Ok(request.header(IDEMPOTENCY_KEY, Some(&key))?.repeatable(true))
}

fn load(url: &str, if_none_match: Option<&str>) -> Result<Request, Error> {
    // A load may use up a signed URL, so it must not be repeated.
    Ok(Request::get(delivery(url)).header(IF_NONE_MATCH, if_none_match)?.repeatable(false))
}

fn delivery(url: &str) -> String {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    let token = path.rsplit('/').next().unwrap_or_default();
    format!("/api/v1/delivery/{}", encoded(token))
}

/// Encodes a part of a path. Tokens and ids consist of letters, digits and the characters below.
/// Any other character must not change which URL is requested.
pub(super) fn encoded(part: &str) -> String {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~%".contains(&byte);
    let encoded = part.bytes().map(|byte| match is_part(byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    });
    encoded.collect()
}
