//! The service's answers, with the members that its API document has.

use super::words::{Background, Body, Color, Finish, Fit, Format, Scale, Shadow, View};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// The cap on the credits that a key may spend in a UTC month.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MonthlyCap {
    pub credits: i64,
    /// The time when the next month begins.
    pub reset_at: String,
    /// Credits spent in this month so far, less those given back.
    pub spent: i64,
}

/// The API key that made the request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KeyView {
    pub id: String,
    pub rate_limit_per_minute: i64,
    /// Any of images:read, account:read and billing:write.
    pub scopes: Vec<String>,
    /// Only present if the key has a cap.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub monthly_cap: Option<MonthlyCap>,
}

/// An amount of credits that can be bought at once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pack {
    /// Price in US cents.
    pub cents: i64,
    pub credits: i64,
}

/// Prices.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pricing {
    /// Same as `credits_per_image`.
    pub credits_per_delivery: i64,
    pub credits_per_dollar: i64,
    pub credits_per_image: i64,
    pub packs: Vec<Pack>,
}

/// Usage in the last thirty UTC days, today included.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Usage30d {
    /// Credits spent less credits given back.
    pub credits_spent: i64,
    /// Images delivered: requests with a key, and counted loads of signed URLs.
    pub images: i64,
    /// Requests by the account's keys, refused ones included.
    pub requests: i64,
    /// The ratio of delivered images that existed already, 0 to 1; null if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_hit_rate: Option<f64>,
}

/// An account as its keys see it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Account {
    pub auto_reload: bool,
    /// Credits that the account can spend now.
    pub credits: i64,
    pub credits_value_usd: f64,
    pub has_payment_method: bool,
    pub key: KeyView,
    pub pricing: Pricing,
    pub usage_30d: Usage30d,
}

/// The account, and links to what can be done with it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AccountResponse {
    pub data: Account,
    pub links: BTreeMap<String, String>,
    pub request_id: String,
}

/// The behaviour of [`Format::Auto`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AutoFormatOption {
    /// The formats that it may select, the best first.
    pub formats: Vec<Format>,
    pub id: String,
    /// The format for a request without `Accept`.
    pub without_accept: Format,
}

/// A make of the catalog.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CatalogMake {
    pub id: i64,
    pub name: String,
    pub slug: String,
}

/// A model of the catalog.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CatalogModel {
    pub name: String,
    pub slug: String,
    /// motorcycle, passenger-car, truck, bus, mpv, auto-rickshaw or other.
    pub vehicle_type: String,
    /// Likeness of the image to the real vehicle: `generation` (drawn for this generation from
    /// measured proportions), `model` (drawn for the model), `make` (its class, size and era, with
    /// the make's face) or `body` (its class, size and era). It is the value of the requested year,
    /// else the best value of its years.
    pub likeness: String,
    /// The permanent id of make, model and `body`.
    pub vehicle_id: String,
    /// The usual body, in the requested year or else the newest.
    pub body: Body,
}

/// The release of the catalog that answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CatalogRelease {
    /// SHA-256 of the release's files.
    pub sha256: String,
    /// Package and version.
    pub version: String,
}

/// A source of makes, models and years.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CatalogSource {
    pub id: String,
    pub license: String,
    pub name: String,
    pub region: String,
}

/// First and last model year.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct YearRange {
    pub from: i64,
    pub to: i64,
}

/// The extent of the catalog.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CatalogOptions {
    /// Number of vehicles (make, model and year) by likeness: drawn for this `generation` from
    /// measured proportions, for the `model`, by class, size and era with the face of the `make`,
    /// or by class, size and era alone (`body`).
    pub likeness: BTreeMap<String, i64>,
    pub makes: i64,
    pub models: i64,
    pub release: CatalogRelease,
    pub sources: Vec<CatalogSource>,
    pub years: YearRange,
}

/// A make or a model that fits a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CatalogSearchHit {
    pub kind: String,
    pub make_name: String,
    pub make_slug: String,
    /// exact, prefix, token, contains or fuzzy.
    pub match_kind: String,
    /// Ascending.
    pub years: Vec<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_slug: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vehicle_type: Option<String>,
    /// For a model: the permanent id of its usual body in its newest year.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vehicle_id: Option<String>,
}

/// A page on which a person can buy credits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Checkout {
    pub amount_cents: i64,
    pub credits: i64,
    /// The page on which a person pays.
    pub url: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CheckoutResponse {
    pub data: Checkout,
    pub request_id: String,
}

/// A preset paint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ColorOption {
    /// Colour for a menu, as hex digits.
    pub hex: String,
    pub name: Color,
}

/// Lifetimes of signed URLs, in seconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DeliveryTtl {
    pub default: i64,
    pub max: i64,
    pub min: i64,
}

/// One image, in slugs, as the catalog and the enumerations spell them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VehicleParams {
    pub color: Color,
    pub format: Format,
    pub make: String,
    pub model: String,
    pub view: View,
    pub year: i64,
    /// The permanent id of make, model and body. It can be sent as `vehicle` of another request.
    pub vehicle_id: String,
    pub body: Body,
    /// Likeness of the image to the real vehicle.
    pub likeness: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub width: Option<i64>,
    /// This member and the following ones are absent if they have their default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fit: Option<Fit>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trim: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub padding: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub background: Option<Background>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shadow: Option<Shadow>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<Scale>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finish: Option<Finish>,
}

/// One signed URL.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DeliveryUrl {
    pub expires_at: String,
    pub id: String,
    /// Likeness of the image to the real vehicle.
    pub likeness: String,
    /// Maximum number of loads; 0 for any number until the URL expires.
    pub max_uses: i64,
    pub url: String,
    pub vehicle: VehicleParams,
}

/// A device login that has begun.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct DeviceCodeResponse {
    /// A secret of the device, with which it polls.
    pub device_code: String,
    /// Seconds until the login expires.
    pub expires_in: i64,
    /// Seconds between polls.
    pub interval: i64,
    /// The code that the person types or compares.
    pub user_code: String,
    /// The page that the person opens.
    pub verification_uri: String,
    /// The same page with the code filled in.
    pub verification_uri_complete: String,
}

/// The API key of an approved device login.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct DeviceTokenResponse {
    /// The API key. It is shown here and never again.
    pub access_token: String,
    /// Scopes separated by spaces.
    pub scope: String,
    pub token_type: String,
}

/// Names as people write them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DisplayNames {
    pub make_name: String,
    pub model_name: String,
}

/// The answer to a report of events.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EventsResponse {
    /// Number of accepted events: always all of them.
    pub accepted: i64,
}

/// Everything that was recognised in the words; null where they say nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExtractedWords {
    /// Words that were not understood.
    pub unread: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub color: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub view: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub width: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub year: Option<i64>,
}

/// Feedback that was recorded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Recorded {
    /// The id of the render.
    pub asset_id: String,
    pub recorded: bool,
    /// True if this report put the render into review; else absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flagged: Option<bool>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FeedbackResponse {
    pub data: Recorded,
    pub request_id: String,
}

/// An image format.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FormatOption {
    pub id: Format,
    pub mime: String,
    /// True if the format keeps the transparent background.
    pub transparent: bool,
}

/// Range of the padding, as a percentage of the longer side of the area that `trim` cuts out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PaddingOptions {
    pub max: i64,
    pub min: i64,
}

/// Options of an image's framing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FrameOptions {
    /// Named backgrounds; six hex digits are accepted as well.
    pub backgrounds: Vec<Background>,
    pub fits: Vec<Fit>,
    pub padding: PaddingOptions,
    pub scales: Vec<Scale>,
    pub shadows: Vec<Shadow>,
    /// True if images can be trimmed to their visible part.
    pub trim: bool,
    /// Millimetres for a pixel of the 1024 px source with [`Scale::True`].
    pub true_scale_mm_per_px: f64,
}

/// Options of paints other than the presets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PaintOptions {
    /// The finish of a color that is given without one.
    pub default_finish: Finish,
    pub finishes: Vec<Finish>,
    /// True if six hex digits are accepted as a color.
    pub hex: bool,
}

/// The health of the service.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Health {
    /// Always `ok`: a service that is down does not answer.
    pub status: String,
}

/// Limits of this deployment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LimitOptions {
    pub delivery_ttl: DeliveryTtl,
    pub max_batch_urls: i64,
    pub rate_limit_per_minute_default: i64,
}

/// Prices.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PriceOptions {
    pub credits_per_dollar: i64,
    pub credits_per_image: i64,
    /// Credits that a new account has.
    pub free_credits: i64,
    pub packs: Vec<Pack>,
}

/// Sides of the square image, in pixels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SizeOptions {
    /// The largest side that can be requested.
    pub max: i64,
    pub presets: BTreeMap<String, i64>,
    /// The side of the image from which all sizes are made.
    pub source: i64,
}

/// A view of the vehicle.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ViewOption {
    /// Other accepted names of the view.
    pub aliases: Vec<String>,
    pub description: String,
    pub id: View,
    pub label: String,
    /// Rotation of the vehicle: 0 shows its nose, 90 its left side.
    pub yaw_degrees: i64,
}

/// Every option of an image request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ImageOptions {
    pub auto_format: AutoFormatOption,
    pub catalog: CatalogOptions,
    pub colors: Vec<ColorOption>,
    pub formats: Vec<FormatOption>,
    pub frame: FrameOptions,
    pub limits: LimitOptions,
    pub links: BTreeMap<String, String>,
    pub paints: PaintOptions,
    pub pricing: PriceOptions,
    pub sizes: SizeOptions,
    pub views: Vec<ViewOption>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ImageOptionsResponse {
    pub data: ImageOptions,
    pub request_id: String,
}

/// Credits charged for the signed URL.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ImageUrlBilling {
    pub credits_charged: i64,
    pub credits_remaining: i64,
}

/// A signed URL in place of the image.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SignedImage {
    pub expires_at: String,
    pub format: Format,
    /// Height of the image in pixels.
    pub height: i64,
    /// Likeness of the image to the real vehicle.
    pub likeness: String,
    /// Maximum number of loads; 0 for any number until the URL expires.
    pub max_uses: i64,
    pub url: String,
    pub vehicle: VehicleParams,
    /// Width of the image in pixels.
    pub width: i64,
}

/// The JSON answer to a request for an image.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ImageUrlResponse {
    pub billing: ImageUrlBilling,
    pub data: SignedImage,
    pub request_id: String,
}

/// Credits charged for the call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MintBilling {
    /// Always `creation`, because loads are free.
    pub charged_on: String,
    /// One credit for each signed URL.
    pub credits_charged: i64,
    pub credits_per_url: i64,
    pub credits_remaining: i64,
}

/// The signed URLs, one for each image, in the order of the request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ImageUrlsResponse {
    pub billing: MintBilling,
    pub data: Vec<DeliveryUrl>,
    pub request_id: String,
}

/// The makes of a year.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MakeList {
    pub makes: Vec<CatalogMake>,
    pub year: i64,
}

/// The models of a make.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelList {
    pub make: CatalogMake,
    pub models: Vec<CatalogModel>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub year: Option<i64>,
}

/// Consecutive years of a model whose images are equally close to the real vehicle.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LikenessSpan {
    pub likeness: String,
    pub year_from: i64,
    pub year_to: i64,
}

/// Years in which a model looks the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ShownGeneration {
    /// The name that the maker or people use, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    pub from: i64,
    pub to: i64,
    /// True if this is the generation before it with another face.
    pub facelift: bool,
}

/// A body with which a model was sold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OfferedBody {
    pub body: Body,
    pub vehicle_id: String,
    /// Ascending.
    pub years: Vec<i64>,
    /// Spans of years with one look and one image, in order of time.
    pub generations: Vec<ShownGeneration>,
}

/// Images of a view that are stored: a request for one is answered at once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoredView {
    pub view: View,
    /// Color presets, in the order of their names.
    pub colors: Vec<Color>,
}

/// A vehicle: a body of a model, in all its years.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VehicleOfId {
    pub vehicle_id: String,
    pub make: String,
    pub make_name: String,
    pub model: String,
    pub model_name: String,
    pub body: Body,
    /// Ascending.
    pub years: Vec<i64>,
    /// Spans of years with one look and one image, in order of time.
    pub generations: Vec<ShownGeneration>,
    /// Every body with which the model was sold, this one included.
    pub bodies: Vec<OfferedBody>,
    /// The best likeness among its years.
    pub likeness: String,
    /// Views that are stored for the newest year.
    pub stored: Vec<StoredView>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VehicleResponse {
    pub data: VehicleOfId,
    pub request_id: String,
}

/// The result for one row of `check_vehicles`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CheckedVehicle {
    /// Position of the row, from 0.
    pub index: i64,
    /// `match`; `suggestion` (the nearest vehicle, and `reason` says how it differs); `miss`; or
    /// `invalid` (a value is missing or wrong).
    pub status: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vehicle_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub make: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub year: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Body>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub likeness: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Views that are stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stored: Option<Vec<StoredView>>,
    /// For a row with `vin`: the parts that the number gives, and the confidence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decoded: Option<DecodedVin>,
    /// For a row whose `vin` has a wrong character: the number that was probably meant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vin_suggestion: Option<String>,
}

/// The results of `check_vehicles`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CheckedVehicles {
    /// One result for each row, in the order of the request.
    pub vehicles: Vec<CheckedVehicle>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CheckResponse {
    pub data: CheckedVehicles,
    pub request_id: String,
}

/// Parts of a vehicle identification number beside the vehicle.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DecodedParts {
    /// Names of the parts that were read: make, model, year, body, series, trim, plant_country.
    pub parts: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trim: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plant_country: Option<String>,
    /// The other model year that the number may mean, thirty years away, where nothing tells which.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_year: Option<i64>,
}

/// The vehicle of a vehicle identification number, as far as the number gives it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DecodedVin {
    pub make: String,
    pub make_name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub year: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Body>,
    /// Absent if the catalog does not have the vehicle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vehicle_id: Option<String>,
    /// high, medium or low.
    pub confidence: String,
    /// `full`, or `make-and-year` where the tables have no more for this maker.
    pub coverage: String,
    pub decoded: DecodedParts,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VinResponse {
    pub data: DecodedVin,
    pub request_id: String,
}

/// The years of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelYearList {
    /// Likeness of images to the real vehicle, by spans of years, ascending. A span may contain
    /// years in which the model was not built.
    pub likeness: Vec<LikenessSpan>,
    /// Looks of its usual body, in order of time.
    pub generations: Vec<ShownGeneration>,
    /// Every body with which it was sold, the usual one of its newest year first.
    pub bodies: Vec<OfferedBody>,
    pub make: CatalogMake,
    pub model: CatalogModel,
    /// Ascending.
    pub years: Vec<i64>,
}

/// The models of a make, given by its id, in a year.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelsOfIdList {
    pub make_id: i64,
    pub models: Vec<CatalogModel>,
    pub year: i64,
}

/// A page on which a person can manage cards and receipts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Portal {
    pub url: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PortalResponse {
    pub data: Portal,
    pub request_id: String,
}

/// A vehicle that may be meant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResolveCandidate {
    pub make_name: String,
    pub make_slug: String,
    pub match_kind: String,
    pub model_name: String,
    pub model_slug: String,
    /// Ascending.
    pub years: Vec<i64>,
}

/// Parameters of an image, in slugs. Values that the words do not give have their default, or are
/// left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResolvedParams {
    pub color: Color,
    pub make: String,
    pub model: String,
    pub view: View,
    pub year: i64,
    /// Absent if it is the model's usual body of that year.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Body>,
    /// png, webp or jpg.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// thumb, small, medium or large.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub width: Option<i64>,
}

/// The image that is meant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResolvedPicture {
    /// Vehicles that may be meant, the best first, at most eight. The first is the one in `params`.
    pub candidates: Vec<ResolveCandidate>,
    /// With `high`, use `image_path`. With `medium` or `low`, let a person choose among the
    /// candidates.
    pub confidence: String,
    pub display: DisplayNames,
    pub extracted: ExtractedWords,
    /// Path and query of the image request.
    pub image_path: String,
    /// Likeness of the image to the real vehicle.
    pub likeness: String,
    pub params: ResolvedParams,
    /// The permanent id of make, model and body.
    pub vehicle_id: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResolveResponse {
    pub data: ResolvedPicture,
    pub request_id: String,
}

/// The results of a search, the best first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SearchResults {
    pub query: String,
    pub results: Vec<CatalogSearchHit>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub year: Option<i64>,
}

/// One entry of the ledger.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StatementLine {
    /// RFC 3339, UTC.
    pub at: String,
    /// Sum of all entries up to this one. Credits on hold are still included.
    pub balance: i64,
    /// For a correction: the id of the entry whose credits it gives back, because the answer could
    /// not be sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub corrects: Option<String>,
    /// Credits added, or removed if negative. A settle removes the credits that were on hold; after
    /// a hold entry, in older statements, it is 0.
    pub credits: i64,
    /// The id of the entry. The page that continues this one starts after it.
    pub id: String,
    /// grant, purchase, reversal, debit, settle, refund or correction; in older statements also
    /// hold and release.
    pub kind: String,
    /// The signed URL whose credit came back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery_url_id: Option<String>,
    /// The hold that the entry settled; in older statements also the one that it opened or
    /// released.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hold_id: Option<String>,
    /// The reason for a grant, purchase or reversal; the vehicle, view and color for a debit or
    /// settle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The payment, for purchases and reversals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
}

/// A page of the statement, oldest entry first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StatementResponse {
    pub data: Vec<StatementLine>,
    pub request_id: String,
    /// `after` of the next page; null on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_after: Option<String>,
}

/// The years of the catalog.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct YearList {
    /// Ascending.
    pub years: Vec<i64>,
}
/// A part of the catalog. The request decides which variant it is.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum VehicleList {
    Years(YearList),
    Makes(MakeList),
    ModelsOfId(ModelsOfIdList),
    Results(SearchResults),
    Models(ModelList),
    ModelYears(ModelYearList),
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct VehiclesResponse {
    pub data: VehicleList,
    pub request_id: String,
}

// `Debug` output of these two types leaves their secrets out.

impl fmt::Debug for DeviceCodeResponse {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("DeviceCodeResponse").field("user_code", &self.user_code).finish_non_exhaustive()
    }
}

impl fmt::Debug for DeviceTokenResponse {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("DeviceTokenResponse").field("scope", &self.scope).finish_non_exhaustive()
    }
}
