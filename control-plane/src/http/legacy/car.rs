//! `GET` and `HEAD /images/car.png`: the embeddable endpoint. Grants are checked in the order signature,
//! `mode=cached`, example, key, cookie of a browser;
//! an unsigned request is first brought to its canonical spelling.

use crate::accounts::Scope;
use crate::accounts::caller::{Caller, KeyWindow};
use crate::app::App;
use crate::delivery::request::added_pairs;
use crate::delivery::tracking::without_tags;
use crate::delivery::{
    self, AskedFormat, Delivered, Described, Endpoint, Framed, ImageRequest, Order, Ready, Shown, etag_matches,
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
use crate::http::web::visit::{self, Grant};
use crate::ledger::{Credits, Source};
use crate::networks::network_of;
use axum::body::Body;
use axum::extract::{RawQuery, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, ETAG, LOCATION, VARY};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use cyclorama_drawings::likeness;
use std::borrow::Cow;
use url::form_urlencoded;

/// Free images, whose address never ends.
const FREE_CACHE: &str = "public, max-age=300, s-maxage=3600, stale-while-revalidate=60";
/// A canonical spelling may change with a catalog release.
const REDIRECT_CACHE: &str = "public, max-age=3600";
const PRIVATE: &str = "private, no-store";

/// What the query says beside the picture.
#[derive(Default)]
struct Extras {
    cached_only: bool,
    /// Only where the deployment honours it.
    key: Option<String>,
}

/// Embed an image
///
/// The same renders for `<img>` tags. An address signed by a partner (`exp` and `sig`), `mode=cached` and the home
/// page's own pictures are free and publicly cacheable; with a key the picture costs one credit; in the playground,
/// and for somebody who is signed in, it is free. Unsigned addresses are redirected (308) to their canonical
/// spelling. What others add to addresses to follow visitors (`utm_source`, `fbclid` and their like) is ignored, and
/// no part of what a partner signs. Sizes other than 256, 512, 768 and 1024 px that have to be made for nobody's
/// credit are counted by network. New embeds should use signed addresses from `POST /api/v1/image-urls`.
#[utoipa::path(
    get, path = "/images/car.png", tag = "Images", operation_id = "embedCarImage",
    security((), ("bearer" = ["images:read"]), ("apiKey" = ["images:read"])),
    params(LegacyQuery, ("If-None-Match" = Option<String>, Header, description = "Validators of pictures at hand; compared weakly.")),
    responses(
        (status = 200, description = "The picture.",
         content((Vec<u8> = "image/png"), (Vec<u8> = "image/webp"), (Vec<u8> = "image/jpeg"), (Vec<u8> = "image/avif")),
         headers(
            ("ETag" = Option<String>, description = "Strong validator of these bytes."),
            ("Cache-Control" = String, description = "Public for signed, cached and example pictures, private for keyed ones."),
            ("X-Credits-Charged" = Option<i64>, description = "For keyed requests."),
            ("X-Credits-Remaining" = Option<i64>, description = "For keyed requests."),
            ("X-Image-Source" = Option<String>, description = "`cache` or `generated`."),
            ("X-Image-Width" = Option<i64>, description = "In pixels."),
            ("X-Image-Height" = Option<i64>, description = "In pixels."),
            ("X-Ignored-Parameters" = Option<String>, description = "Tags of others in the address that were not looked at."),
         )),
        (status = 304, description = "The client has these bytes; free."),
        (status = 308, description = "The canonical spelling of this address.", headers(("Location" = String))),
        (status = 400), (status = 401), (status = 402),
        (status = 403, description = "The signature is malformed, wrong, expired or of a revoked key, or the key lacks a scope."),
        (status = 404, description = "Not in the catalog, or `mode=cached` and not rendered yet."),
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
    answer(&app, &Client { id, ip, headers, window }, query.as_deref(), false).await
}

/// Describe an embedded image
///
/// What `GET` would say, without the bytes: free, and never renders. `ETag` is given when the picture exists,
/// `Content-Length` when its bytes do.
#[utoipa::path(
    head, path = "/images/car.png", tag = "Images", operation_id = "headEmbedCarImage",
    security((), ("bearer" = ["images:read"]), ("apiKey" = ["images:read"])),
    params(LegacyQuery),
    responses(
        (status = 200, description = "The picture can be had."),
        (status = 304, description = "The client has these bytes."),
        (status = 308, description = "The canonical spelling of this address."),
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
    answer(&app, &Client { id, ip, headers, window }, query.as_deref(), true).await
}

/// Who asks.
struct Client {
    id: RequestId,
    /// Looked at only where it is counted.
    ip: Result<ClientIp, Problem>,
    headers: HeaderMap,
    /// Where the window of a key goes.
    window: KeyWindow,
}

async fn answer(app: &App, client: &Client, query: Option<&str>, is_head: bool) -> Response {
    let query = query.unwrap_or_default();
    let (pairs, tags) = without_tags(query);
    // Grants come to much that waits, each with its own state: not on the stack of whoever polls this.
    let answered = Box::pin(granted(app, client, query, pairs, is_head)).await;
    let mut response = answered.unwrap_or_else(Problem::into_response);
    name_ignored(&mut response, &tags);
    response
}

/// `pairs` are those of the query without other people's tags.
async fn granted(
    app: &App,
    client: &Client,
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
    let asked = Asked { app, order: &order, if_none_match: if_none_match(headers), is_head };
    if let Some((signed, account_id)) = signed {
        let left = signed.expires_at - app.clock.now().0 / 1000;
        let cache_control = format!("public, max-age={}", left.max(0));
        return Box::pin(asked.free(&cache_control, Free::Partner(&account_id), client.network()?)).await;
    }
    let canonical = canonical_query(&pairs, &request, &order, &extras);
    if canonical != query {
        return Ok(redirect(&canonical, extras.key.is_some()));
    }
    if extras.cached_only {
        return Box::pin(asked.free(FREE_CACHE, Free::Cached, client.network()?)).await;
    }
    if app.examples.contain(&order.variant) {
        return Box::pin(asked.free(FREE_CACHE, Free::Example, client.network()?)).await;
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
            "This picture needs a grant: a signed address, `mode=cached`, or an API key in `Authorization: Bearer <key>`.",
        )),
    }
}

impl Client {
    /// Whose free pictures are counted together.
    fn network(&self) -> Result<String, Problem> {
        Ok(network_of(self.ip.clone()?.0).to_string())
    }
}

impl Extras {
    /// Takes what does not name the picture out of the query.
    fn take(pairs: &mut Vec<(String, String)>, honours_keys: bool) -> Result<Self, Problem> {
        let mut extras = Extras::default();
        let mut given = Vec::new();
        for (name, value) in pairs.extract_if(.., |(name, _)| ["mode", "exp", "sig", "key"].contains(&name.as_str())) {
            if given.contains(&name) {
                return Err(Problem::bad_parameter(&name, format!("`{name}` is given more than once.")));
            }
            match name.as_str() {
                "mode" if value == "cached" => extras.cached_only = true,
                "mode" => return Err(Problem::bad_parameter("mode", "`mode` is `cached` or left out.")),
                "key" if honours_keys => extras.key = Some(value),
                _ => {}
            }
            given.push(name);
        }
        Ok(extras)
    }
}

/// What was given, in its one spelling: nothing is added, and a key that is not honoured does not go on.
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

/// Why a picture costs nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Free<'a> {
    /// Signed by a partner of this account.
    Partner(&'a str),
    Cached,
    Example,
    /// Somebody who tries the playground or is signed in.
    Browser,
}

/// A picture with a grant.
struct Asked<'a> {
    app: &'a App,
    order: &'a Order,
    if_none_match: Option<String>,
    is_head: bool,
}

impl Asked<'_> {
    /// `who`: whose work for nobody's credit is counted together.
    async fn free(&self, cache_control: &str, why: Free<'_>, who: String) -> Result<Response, Problem> {
        let failed = |error| problem_for_free(self.app, error);
        let kept = |mut response: Response| {
            insert(&mut response, CACHE_CONTROL, cache_control);
            response
        };
        let rendered = self.app.pictures.rendered(self.order).await.map_err(failed)?;
        let source = if rendered.is_some() { Source::Cache } else { Source::Generated };
        let picture = match (rendered, why) {
            (Some(picture), _) => picture,
            (None, Free::Cached) => {
                let detail = "This picture has not been rendered yet, and `mode=cached` never renders.";
                return Err(Problem::not_found("not_rendered", detail));
            }
            (None, _) if self.is_head => {
                return Ok(kept(self.described(StatusCode::OK, None, self.order.framed_in_advance())));
            }
            (None, Free::Example | Free::Browser) => self.app.pictures.example(self.order).await.map_err(failed)?,
            (None, Free::Partner(account_id)) => {
                self.app.pictures.for_partner(self.order, account_id).await.map_err(failed)?
            }
        };
        // Neither a validator nor a description is worth making the bytes for.
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

    /// Counted by the visitor's address or by the account, so that nobody has the catalog rendered for nothing.
    async fn for_browser(&self, grant: Grant, client: &Client) -> Result<Response, Problem> {
        let limits = &self.app.config.limits;
        let (who, pictures, limit) = match grant {
            Grant::Visitor => (client.network()?, "playground", limits.playground_per_minute),
            Grant::Account(account_id) => (account_id, "dashboard", limits.dashboard_pictures_per_minute),
        };
        let picture = async {
            // What costs a render is counted apart, and allowed far less often.
            let needs_no_render = self.is_head
                || self
                    .app
                    .pictures
                    .rendered(self.order)
                    .await
                    .map_err(|error| problem_for_free(self.app, error))?
                    .is_some();
            let picture = Box::pin(self.free(PRIVATE, Free::Browser, who.clone()));
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
                let asked = delivery::Asked { if_none_match: known, ..delivery::Asked::for_order(self.order) };
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

    fn delivered(&self, delivered: Delivered) -> (Response, Credits, Credits) {
        match delivered {
            Delivered::Image { ready, source, remaining } => {
                (self.picture(ready, source), Credits::PER_PICTURE, remaining)
            }
            Delivered::NotModified { etag, remaining } => {
                (self.described(StatusCode::NOT_MODIFIED, Some(&etag), None), Credits(0), remaining)
            }
        }
    }

    fn shown(&self, shown: Shown) -> (Response, Credits, Credits) {
        let Shown { framed, is_rendered, etag, length, not_modified, remaining } = shown;
        let response = match (not_modified, is_rendered) {
            (true, _) => self.described(StatusCode::NOT_MODIFIED, etag.as_deref(), None),
            (false, true) => self.promised(&Described { framed, etag, length }),
            (false, false) => self.described(StatusCode::OK, None, self.order.framed_in_advance()),
        };
        (response, Credits(0), remaining)
    }

    /// What `HEAD` says of a picture that exists: what `GET` would say, or 304.
    fn promised(&self, Described { framed, etag, length }: &Described) -> Response {
        if let Some(etag) = etag.as_deref().filter(|etag| self.has(etag)) {
            return self.described(StatusCode::NOT_MODIFIED, Some(etag), None);
        }
        let mut response = self.described(StatusCode::OK, etag.as_deref(), *framed);
        insert(&mut response, IMAGE_SOURCE, Source::Cache.as_str());
        if let Some(length) = length {
            insert(&mut response, CONTENT_LENGTH, &length.to_string());
        }
        response
    }

    /// The request headers that the answer depends on: `all` for the format `auto`, else all but `Accept`.
    fn vary(&self, all: &'static str) -> &'static str {
        match self.order.asked_format {
            AskedFormat::Auto => all,
            AskedFormat::One(_) => all.trim_start_matches("Accept, "),
        }
    }

    fn has(&self, etag: &str) -> bool {
        self.if_none_match.as_deref().is_some_and(|given| etag_matches(given, etag))
    }

    fn picture(&self, ready: Ready, source: Source) -> Response {
        let mut response = self.described(StatusCode::OK, Some(&ready.etag), Some(ready.framed));
        insert(&mut response, IMAGE_SOURCE, source.as_str());
        if !self.is_head {
            send(&mut response, ready);
        }
        response
    }

    /// What is said of the picture without its bytes.
    fn described(&self, status: StatusCode, etag: Option<&str>, framed: Option<Framed>) -> Response {
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
