//! `GET` and `HEAD /images/car.png`: the endpoint for embedded images.
//!
//! Grants are checked in this order: signature, `mode=cached`, example, key, cookie of a browser.
//! An unsigned request is first brought to its canonical spelling.

use crate::accounts::Scope;
use crate::accounts::caller::{Caller, KeyWindow};
use crate::app::App;
use crate::delivery::request::added_pairs;
use crate::delivery::tracking::without_tags;
use crate::delivery::{
    self, AskedFormat, DeliveryOutcome, Endpoint, FramedImage, HeadAnswer, ImageDescription, ImageRequest, Order,
    ReadyImage, etag_matches,
};
use crate::http::caller::{caller_of_headers, caller_of_key};
use crate::http::client_ip::ClientIp;
use crate::http::delivery_problem::{problem, problem_for_free, vehicle_not_found};
use crate::http::error::Problem;
use crate::http::key_window::refuse;
use crate::http::openapi::requests::LegacyQuery;
use crate::http::partner_signature::check_signature;
use crate::http::picture_headers::{
    CREDITS_CHARGED, CREDITS_REMAINING, IMAGE_SOURCE, VEHICLE_LIKENESS, VEHICLE_MATCH, accepted, if_none_match, insert,
    insert_frame, name_ignored, send, unsized_body,
};
use crate::http::rate_limit::counted_as;
use crate::http::request_id::RequestId;
use crate::http::web::visit::{self, BrowserGrant};
use crate::ledger::{Credits, ImageSource};
use crate::networks::network_of;
use axum::body::Body;
use axum::extract::{RawQuery, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, ETAG, LOCATION, VARY};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use cyclorama_drawings::likeness;
use std::borrow::Cow;
use url::form_urlencoded;

/// `Cache-Control` of free images, whose URL never expires.
const FREE_CACHE: &str = "public, max-age=300, s-maxage=3600, stale-while-revalidate=60";
/// `Cache-Control` of redirects. A canonical spelling may change with a catalog release.
const REDIRECT_CACHE: &str = "public, max-age=3600";
const PRIVATE: &str = "private, no-store";

/// Parameters of the query that do not describe the image.
#[derive(Default)]
struct Extras {
    cached_only: bool,
    /// API key in the query. It is read only if the deployment honours such keys.
    key: Option<String>,
}

/// Embed an image
///
/// Returns the same images as the API, for `<img>` tags. An image is free and publicly cacheable at
/// a URL that a partner has signed (`exp` and `sig`), with `mode=cached`, and if it is one of the
/// images of the home page. It is free in the playground and for a signed-in user. With an API key
/// it costs one credit. Unsigned URLs are redirected (308) to their canonical spelling. Parameters
/// that others add to URLs to follow visitors (`utm_source`, `fbclid` and similar ones) are
/// ignored, and they are not part of what a partner signs. Free images in sizes other than 256,
/// 512, 768 and 1024 px are rate-limited by network if they must be made first. New embeds should
/// use signed URLs from `POST /api/v1/image-urls`.
#[utoipa::path(
    get, path = "/images/car.png", tag = "Images", operation_id = "embedCarImage",
    security((), ("bearer" = ["images:read"]), ("apiKey" = ["images:read"])),
    params(LegacyQuery, ("If-None-Match" = Option<String>, Header, description = "`ETag`s of images that the client \
                                                                                  has. They are compared weakly.")),
    responses(
        (status = 200, description = "The image.",
         content((Vec<u8> = "image/png"), (Vec<u8> = "image/webp"), (Vec<u8> = "image/jpeg"), (Vec<u8> = "image/avif")),
         headers(
            ("ETag" = Option<String>, description = "Strong validator of these bytes."),
            ("Cache-Control" = String, description = "`public` for images of signed URLs, with `mode=cached` and of \
                                                      the home page; `private` with a key."),
            ("X-Credits-Charged" = Option<i64>, description = "Only with a key."),
            ("X-Credits-Remaining" = Option<i64>, description = "Only with a key."),
            ("X-Image-Source" = Option<String>, description = "`generated` for a cold render, otherwise `cache`."),
            ("X-Image-Width" = Option<i64>, description = "Width of the image, in pixels."),
            ("X-Image-Height" = Option<i64>, description = "Height of the image, in pixels."),
            ("X-Image-Scale" = Option<f64>, description = "With `scale=true`: millimetres of the vehicle per pixel."),
            ("X-Vehicle-Likeness" = Option<String>, description = "How close the image is to the real vehicle: \
                                                                   `generation` (the closest), `model`, `make` or \
                                                                   `body`."),
            ("X-Vehicle-Match" = Option<String>, description = "How the names were read: `exact`, `alias`, `trim` or \
                                                                `prefix`."),
            ("X-Ignored-Parameters" = Option<String>, description = "Tracking parameters in the URL that were \
                                                                     ignored."),
         )),
        (status = 304, description = "The client already has these bytes; free."),
        (status = 308, description = "The canonical spelling of this URL.", headers(("Location" = String))),
        (status = 400), (status = 401), (status = 402),
        (status = 403, description = "The signature is malformed, wrong or expired, or its key was revoked; or the \
                                      API key lacks a scope."),
        (status = 404, description = "The catalog does not have the vehicle, or with `mode=cached` the image is not \
                                      rendered yet."),
        (status = 429), (status = 500), (status = 502), (status = 503),
    )
)]
pub async fn get(
    State(app): State<App>,
    id: RequestId,
    ip: Result<ClientIp, Problem>,
    window: KeyWindow,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    answer(&app, &CarClient { id, ip, headers, window }, query.as_deref(), false).await
}

/// Describe an embedded image
///
/// Returns the headers of `GET` without the bytes. It is free and never renders. `ETag` is present
/// if the image exists, and `Content-Length` if its bytes exist.
#[utoipa::path(
    head, path = "/images/car.png", tag = "Images", operation_id = "headEmbedCarImage",
    security((), ("bearer" = ["images:read"]), ("apiKey" = ["images:read"])),
    params(LegacyQuery),
    responses(
        (status = 200, description = "The image can be delivered."),
        (status = 304, description = "The client already has these bytes."),
        (status = 308, description = "The canonical spelling of this URL."),
        (status = 400), (status = 401), (status = 403), (status = 404), (status = 429), (status = 500), (status = 503),
    )
)]
pub async fn head(
    State(app): State<App>,
    id: RequestId,
    ip: Result<ClientIp, Problem>,
    window: KeyWindow,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    answer(&app, &CarClient { id, ip, headers, window }, query.as_deref(), true).await
}

/// The client of a request.
struct CarClient {
    id: RequestId,
    /// IP address of the client. An error matters only if the request is counted by address.
    ip: Result<ClientIp, Problem>,
    headers: HeaderMap,
    /// Receives the rate limit window of the request's key.
    window: KeyWindow,
}

async fn answer(app: &App, client: &CarClient, query: Option<&str>, is_head: bool) -> Response {
    let query = query.unwrap_or_default();
    let (pairs, tags) = without_tags(query);
    // The futures of the grants hold much state. They are boxed, so that it is not on the stack of
    // the task that polls them.
    let answered = Box::pin(granted(app, client, query, pairs, is_head)).await;
    let mut response = answered.unwrap_or_else(Problem::into_response);
    name_ignored(&mut response, &tags);
    response
}

/// Answers a request by the first grant that applies. `pairs` are the pairs of the query without
/// the tracking tags of others.
async fn granted(
    app: &App,
    client: &CarClient,
    query: &str,
    mut pairs: Vec<(String, String)>,
    is_head: bool,
) -> Result<Response, Problem> {
    let headers = &client.headers;
    let signed = check_signature(app, query, &pairs).await?;
    let extras = Extras::take(&mut pairs, app.config.delivery.allow_legacy_query_keys)?;
    let request = ImageRequest::parse(&pairs, Endpoint::Embed)
        .map_err(|wrong| Problem::bad_parameter(&wrong.parameter, wrong.detail))?;
    let order = Order::find(&app.catalog.now(), &app.missing_vehicles, &request).map_err(vehicle_not_found)?;
    let order =
        app.pictures.negotiated(Cow::Owned(order), &accepted(headers)).await.map_err(|error| problem(app, error))?;
    let asked = EmbedRequest { app, order: &order, if_none_match: if_none_match(headers), is_head };
    if let Some((signed, account_id)) = signed {
        let left = signed.expires_at - app.clock.now().0 / 1000;
        let cache_control = format!("public, max-age={}", left.max(0));
        return Box::pin(asked.free(&cache_control, FreeGrant::Partner(&account_id), client.network()?)).await;
    }
    let canonical = canonical_query(&pairs, &request, &order, &extras);
    if canonical != query {
        return Ok(redirect(&canonical, extras.key.is_some()));
    }
    if extras.cached_only {
        return Box::pin(asked.free(FREE_CACHE, FreeGrant::Cached, client.network()?)).await;
    }
    if app.examples.contain(&order.variant) {
        return Box::pin(asked.free(FREE_CACHE, FreeGrant::Example, client.network()?)).await;
    }
    let caller = match caller_of_headers(app, headers, &client.window).await? {
        Some(caller) => Some(caller),
        None => match &extras.key {
            Some(key) => Some(caller_of_key(app, key, &client.window).await?),
            None => None,
        },
    };
    if let Some(caller) = caller {
        return Ok(Box::pin(asked.keyed(&caller, &client.id)).await);
    }
    match visit::grant(app, headers).await? {
        Some(grant) => Box::pin(asked.for_browser(grant, client)).await,
        None => Err(Problem::unauthorized(
            "This image needs a signed URL, `mode=cached`, or an API key in `Authorization: Bearer <key>`.",
        )),
    }
}

impl CarClient {
    /// Returns the network under which the client's free images are counted.
    fn network(&self) -> Result<String, Problem> {
        Ok(network_of(self.ip.clone()?.0).to_string())
    }
}

impl Extras {
    /// Removes the parameters that do not describe the image from `pairs`, and returns them. Fails
    /// if one is given twice, or if `mode` is not `cached`.
    fn take(pairs: &mut Vec<(String, String)>, honours_keys: bool) -> Result<Self, Problem> {
        let mut extras = Extras::default();
        let mut given = Vec::new();
        for (name, value) in pairs.extract_if(.., |(name, _)| ["mode", "exp", "sig", "key"].contains(&name.as_str())) {
            if given.contains(&name) {
                return Err(Problem::bad_parameter(&name, format!("`{name}` is given more than once.")));
            }
            match name.as_str() {
                "mode" if value == "cached" => extras.cached_only = true,
                "mode" => return Err(Problem::bad_parameter("mode", "`mode` must be `cached`, or be left out.")),
                "key" if honours_keys => extras.key = Some(value),
                _ => {}
            }
            given.push(name);
        }
        Ok(extras)
    }
}

/// Returns the given parameters in their one canonical spelling. Nothing is added, and a key that
/// is not honoured is left out.
fn canonical_query(pairs: &[(String, String)], request: &ImageRequest, order: &Order, extras: &Extras) -> String {
    let given = |name: &str| pairs.iter().any(|(key, _)| Endpoint::Embed.meant(key) == name);
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.append_pair("make", &order.variant.make).append_pair("model", &order.variant.model);
    query.append_pair("year", &order.variant.year.to_string());
    if given("view") {
        query.append_pair("view", request.view.as_str());
    }
    if given("color") {
        query.append_pair("color", &request.paint.color());
    }
    for (name, pixels) in [("w", request.frame.width), ("h", request.frame.height)] {
        if let Some(pixels) = pixels {
            query.append_pair(name, &pixels.to_string());
        }
    }
    if given("format") {
        query.append_pair("format", request.format.as_str());
    }
    if let Some(body) = order.variant.body.filter(|_| given("body")) {
        query.append_pair("body", body.as_str());
    }
    query.extend_pairs(added_pairs(&request.frame, &request.paint));
    if extras.cached_only {
        query.append_pair("mode", "cached");
    }
    if let Some(key) = &extras.key {
        query.append_pair("key", key);
    }
    query.finish()
}

fn redirect(canonical: &str, holds_a_key: bool) -> Response {
    let mut response = StatusCode::PERMANENT_REDIRECT.into_response();
    insert(&mut response, LOCATION, &format!("/images/car.png?{canonical}"));
    insert(&mut response, CACHE_CONTROL, if holds_a_key { PRIVATE } else { REDIRECT_CACHE });
    response
}

/// Why an image costs nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FreeGrant<'a> {
    /// A partner of this account signed the URL.
    Partner(&'a str),
    Cached,
    Example,
    /// The request comes from the playground or from a signed-in user.
    Browser,
}

/// A request for an image, which is answered by the first grant that applies.
struct EmbedRequest<'a> {
    app: &'a App,
    order: &'a Order,
    if_none_match: Option<String>,
    is_head: bool,
}

impl EmbedRequest<'_> {
    /// Answers without a charge. Image sizes that have to be made are counted under `who`, a
    /// network or an account.
    async fn free(&self, cache_control: &str, why: FreeGrant<'_>, who: String) -> Result<Response, Problem> {
        let failed = |error| problem_for_free(self.app, error);
        let kept = |mut response: Response| {
            insert(&mut response, CACHE_CONTROL, cache_control);
            response
        };
        let rendered = self.app.pictures.rendered(self.order).await.map_err(failed)?;
        let source = if rendered.is_some() { ImageSource::Cache } else { ImageSource::Generated };
        let picture = match (rendered, why) {
            (Some(picture), _) => picture,
            (None, FreeGrant::Cached) => {
                let detail = "This image has not been rendered yet, and `mode=cached` never renders.";
                return Err(Problem::not_found("not_rendered", detail));
            }
            (None, _) if self.is_head => {
                return Ok(kept(self.described(StatusCode::OK, None, self.order.framed_in_advance())));
            }
            (None, FreeGrant::Example | FreeGrant::Browser) => {
                self.app.pictures.example(self.order).await.map_err(failed)?
            }
            (None, FreeGrant::Partner(account_id)) => {
                self.app.pictures.for_partner(self.order, account_id).await.map_err(failed)?
            }
        };
        // The image's bytes are not made just to answer `HEAD` or to compare a validator.
        if self.is_head {
            let described = self.app.pictures.described(self.order, &picture).await.map_err(failed)?;
            return Ok(kept(self.promised(&described)));
        }
        if self.if_none_match.is_some() {
            let etag = self.app.pictures.etag(self.order, &picture).await.map_err(failed)?;
            if let Some(etag) = etag.filter(|etag| self.has(etag)) {
                return Ok(kept(self.described(StatusCode::NOT_MODIFIED, Some(&etag), None)));
            }
        }
        let found = self.app.pictures.found_for_free(self.order, &picture).await.map_err(failed)?;
        if let Some(ready) = found {
            return Ok(kept(self.picture(ready, source)));
        }
        let making = async {
            let made = self.app.pictures.made_for_free(self.order, &picture).await.map_err(failed)?;
            Ok(kept(self.picture(made, source)))
        };
        let limit = self.app.config.limits.free_sizes_per_minute;
        Ok(counted_as(self.app, format!("free size {who}"), limit, Box::pin(making)).await)
    }

    /// Answers a browser without a charge. Requests are counted by the visitor's network or by the
    /// account, so that nobody has the whole catalog rendered for nothing.
    async fn for_browser(&self, grant: BrowserGrant, client: &CarClient) -> Result<Response, Problem> {
        let limits = &self.app.config.limits;
        let (who, pictures, limit) = match grant {
            BrowserGrant::Visitor => (client.network()?, "playground", limits.playground_per_minute),
            BrowserGrant::Account(account_id) => (account_id, "dashboard", limits.dashboard_pictures_per_minute),
        };
        let picture = async {
            // Requests that need a render are counted separately, and allowed far less often.
            let needs_no_render = self.is_head
                || self
                    .app
                    .pictures
                    .rendered(self.order)
                    .await
                    .map_err(|error| problem_for_free(self.app, error))?
                    .is_some();
            let picture = Box::pin(self.free(PRIVATE, FreeGrant::Browser, who.clone()));
            match needs_no_render {
                true => picture.await,
                false => {
                    let counted = format!("free render {who}");
                    Ok(counted_as(self.app, counted, limits.free_renders_per_minute, picture).await)
                }
            }
        };
        let mut response = counted_as(self.app, format!("{pictures} {who}"), limit, picture).await;
        insert(&mut response, VARY, self.vary("Accept, Authorization, Cookie, X-Api-Key"));
        Ok(response)
    }

    async fn keyed(&self, caller: &Caller, request_id: &RequestId) -> Response {
        if let Err(refusal) = caller.require(Scope::ImagesRead) {
            return refuse(self.app, caller, refusal.into()).await;
        }
        let known = self.if_none_match.as_deref();
        let deliveries = &self.app.deliveries;
        let answer = match self.is_head {
            true => deliveries.show(caller, self.order, known).await.map(|shown| self.shown(shown)),
            false => {
                let asked =
                    delivery::KeyedRequest { if_none_match: known, ..delivery::KeyedRequest::for_order(self.order) };
                deliveries.deliver(caller, &request_id.0, asked).await.map(|delivered| self.delivered(delivered))
            }
        };
        let mut response = match answer {
            Ok((mut response, charged, remaining)) => {
                insert(&mut response, CREDITS_CHARGED, &charged.to_string());
                insert(&mut response, CREDITS_REMAINING, &remaining.to_string());
                response
            }
            Err(error) => problem(self.app, error).into_response(),
        };
        insert(&mut response, CACHE_CONTROL, PRIVATE);
        insert(&mut response, VARY, self.vary("Accept, Authorization, X-Api-Key"));
        response
    }

    fn delivered(&self, delivered: DeliveryOutcome) -> (Response, Credits, Credits) {
        match delivered {
            DeliveryOutcome::Image { ready, source, remaining } => {
                (self.picture(ready, source), Credits::PER_PICTURE, remaining)
            }
            DeliveryOutcome::NotModified { etag, remaining } => {
                (self.described(StatusCode::NOT_MODIFIED, Some(&etag), None), Credits(0), remaining)
            }
        }
    }

    fn shown(&self, shown: HeadAnswer) -> (Response, Credits, Credits) {
        let HeadAnswer { framed, is_rendered, etag, length, not_modified, remaining } = shown;
        let response = match (not_modified, is_rendered) {
            (true, _) => self.described(StatusCode::NOT_MODIFIED, etag.as_deref(), None),
            (false, true) => self.promised(&ImageDescription { framed, etag, length }),
            (false, false) => self.described(StatusCode::OK, None, self.order.framed_in_advance()),
        };
        (response, Credits(0), remaining)
    }

    /// Returns the response to `HEAD` for an image that exists: the headers of `GET`, or 304.
    fn promised(&self, ImageDescription { framed, etag, length }: &ImageDescription) -> Response {
        if let Some(etag) = etag.as_deref().filter(|etag| self.has(etag)) {
            return self.described(StatusCode::NOT_MODIFIED, Some(etag), None);
        }
        let mut response = self.described(StatusCode::OK, etag.as_deref(), *framed);
        insert(&mut response, IMAGE_SOURCE, ImageSource::Cache.as_str());
        if let Some(length) = length {
            insert(&mut response, CONTENT_LENGTH, &length.to_string());
        }
        response
    }

    /// Returns the request headers that the response depends on: `all` for the format `auto`,
    /// otherwise all but `Accept`.
    fn vary(&self, all: &'static str) -> &'static str {
        match self.order.asked_format {
            AskedFormat::Auto => all,
            AskedFormat::One(_) => all.trim_start_matches("Accept, "),
        }
    }

    fn has(&self, etag: &str) -> bool {
        self.if_none_match.as_deref().is_some_and(|given| etag_matches(given, etag))
    }

    fn picture(&self, ready: ReadyImage, source: ImageSource) -> Response {
        let mut response = self.described(StatusCode::OK, Some(&ready.etag), Some(ready.framed));
        insert(&mut response, IMAGE_SOURCE, source.as_str());
        if !self.is_head {
            send(&mut response, ready);
        }
        response
    }

    /// Returns a response with the headers that describe the image, and without its bytes.
    fn described(&self, status: StatusCode, etag: Option<&str>, framed: Option<FramedImage>) -> Response {
        let mut response = Response::new(if self.is_head { unsized_body() } else { Body::empty() });
        *response.status_mut() = status;
        if let Some(etag) = etag {
            insert(&mut response, ETAG, etag);
        }
        if self.order.asked_format == AskedFormat::Auto {
            insert(&mut response, VARY, "Accept");
        }
        if status == StatusCode::OK {
            insert(&mut response, CONTENT_TYPE, self.order.format.media_type());
            insert_frame(&mut response, framed);
            insert(&mut response, VEHICLE_LIKENESS, likeness(&self.order.vehicle).as_str());
            insert(&mut response, VEHICLE_MATCH, self.order.matched.as_str());
        }
        response
    }
}
