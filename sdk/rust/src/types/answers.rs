//! What the service answers, member for member as in its API document.

use super::words::{Background, Body, Color, Finish, Fit, Format, Scale, Shadow, View};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// What a key may take in a UTC month.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MonthlyCap {
    pub credits: i64,
    /// When the next month begins.
    pub reset_at: String,
    /// In this month so far, less what was given back.
    pub spent: i64,
}

/// The key that asks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KeyView {
    pub id: String,
    pub rate_limit_per_minute: i64,
    /// images:read, account:read, billing:write.
    pub scopes: Vec<String>,
    /// Only of a key that has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub monthly_cap: Option<MonthlyCap>,
}

/// Credits that can be bought at once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pack {
    /// Price in US cents.
    pub cents: i64,
    pub credits: i64,
}

/// What things cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pricing {
    /// The same as `credits_per_image`.
    pub credits_per_delivery: i64,
    pub credits_per_dollar: i64,
    pub credits_per_image: i64,
    pub packs: Vec<Pack>,
}

/// The last thirty UTC days, today included.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Usage30d {
    /// Credits taken less credits given back.
    pub credits_spent: i64,
    /// Pictures delivered, by key or as a counted load of a signed address.
    pub images: i64,
    /// Requests of the account's keys, refused ones included.
    pub requests: i64,
    /// How many of them existed already, 0 to 1; null without any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_hit_rate: Option<f64>,
}

/// An account as its keys see it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Account {
    pub auto_reload: bool,
    /// What it can spend now.
    pub credits: i64,
    pub credits_value_usd: f64,
    pub has_payment_method: bool,
    pub key: KeyView,
    pub pricing: Pricing,
    pub usage_30d: Usage30d,
}

/// The account, and where to go from here.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AccountResponse {
    pub data: Account,
    pub links: BTreeMap<String, String>,
    pub request_id: String,
}

/// What [`Format::Auto`] does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AutoFormatOption {
    /// What it may answer, the best first.
    pub formats: Vec<Format>,
    pub id: String,
    /// What it answers a request without `Accept`.
    pub without_accept: Format,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CatalogMake {
    pub id: i64,
    pub name: String,
    pub slug: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CatalogModel {
    pub name: String,
    pub slug: String,
    /// motorcycle, passenger-car, truck, bus, mpv, auto-rickshaw or other.
    pub vehicle_type: String,
    /// How like the real vehicle its picture is: `generation` (drawn for this generation from measured proportions), `model` (drawn for
    /// the model), `make` (its class, size and time with the make's face) or `body` (its class, size and time). Of the year that was
    /// asked for, else the best of its years.
    pub likeness: String,
    /// The permanent id of make, model and `body`.
    pub vehicle_id: String,
    /// The usual body, in the year that was asked for or else the newest.
    pub body: Body,
}

/// The release that answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CatalogRelease {
    /// SHA-256 of the release's files.
    pub sha256: String,
    /// Package and version.
    pub version: String,
}

/// Where makes, models and years come from.
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

/// Which vehicles there are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CatalogOptions {
    /// How many vehicles (make, model and year) are drawn how closely: for this `generation` from measured proportions, for the `model`, by
    /// class, size and time with the face of the `make`, or by class, size and time alone (`body`).
    pub likeness: BTreeMap<String, i64>,
    pub makes: i64,
    pub models: i64,
    pub release: CatalogRelease,
    pub sources: Vec<CatalogSource>,
    pub years: YearRange,
}

/// A make or a model that fits.
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
    /// Of a model: the permanent id of its usual body in its newest year.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vehicle_id: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Checkout {
    pub amount_cents: i64,
    pub credits: i64,
    /// Where a person pays.
    pub url: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CheckoutResponse {
    pub data: Checkout,
    pub request_id: String,
}

/// A paint that has a name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ColorOption {
    /// To show it in a menu.
    pub hex: String,
    pub name: Color,
}

/// Lifetimes of signed addresses, in seconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DeliveryTtl {
    pub default: i64,
    pub max: i64,
    pub min: i64,
}

/// One picture in slugs, as the catalog and the enumerations spell it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VehicleParams {
    pub color: Color,
    pub format: Format,
    pub make: String,
    pub model: String,
    pub view: View,
    pub year: i64,
    /// The permanent id of make, model and body: `vehicle` of another request.
    pub vehicle_id: String,
    pub body: Body,
    /// How like the real vehicle the picture is.
    pub likeness: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub width: Option<i64>,
    /// What has its default is left out, from here on.
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

/// One signed address.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DeliveryUrl {
    pub expires_at: String,
    pub id: String,
    /// How like the real vehicle the picture is.
    pub likeness: String,
    /// 0: as often as one likes, until it expires.
    pub max_uses: i64,
    pub url: String,
    pub vehicle: VehicleParams,
}

#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct DeviceCodeResponse {
    /// A secret of the device: it polls with this.
    pub device_code: String,
    /// Seconds until it is too late.
    pub expires_in: i64,
    /// Seconds between polls.
    pub interval: i64,
    /// What the person types, or compares.
    pub user_code: String,
    /// Where the person goes.
    pub verification_uri: String,
    /// The same, with the code filled in.
    pub verification_uri_complete: String,
}

#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct DeviceTokenResponse {
    /// The API key: shown here and never again.
    pub access_token: String,
    /// Scopes separated by spaces.
    pub scope: String,
    pub token_type: String,
}

/// The names people know.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DisplayNames {
    pub make_name: String,
    pub model_name: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EventsResponse {
    /// How many were taken: all of them.
    pub accepted: i64,
}

/// What was recognised in the words; null where they say nothing.
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

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Recorded {
    /// The render.
    pub asset_id: String,
    pub recorded: bool,
    /// True when this report put the render into review; else absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flagged: Option<bool>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FeedbackResponse {
    pub data: Recorded,
    pub request_id: String,
}

/// An encoding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FormatOption {
    pub id: Format,
    pub mime: String,
    /// Whether it keeps the transparent background.
    pub transparent: bool,
}

/// Per cent of the longer side of what `trim` cuts out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PaddingOptions {
    pub max: i64,
    pub min: i64,
}

/// What a picture's frame can be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FrameOptions {
    /// Beside six hex digits.
    pub backgrounds: Vec<Background>,
    pub fits: Vec<Fit>,
    pub padding: PaddingOptions,
    pub scales: Vec<Scale>,
    pub shadows: Vec<Shadow>,
    /// Whether pictures can be cut to what is seen.
    pub trim: bool,
    /// Millimetres for a pixel of the 1024 px source with [`Scale::True`].
    pub true_scale_mm_per_px: f64,
}

/// Paints beside the presets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PaintOptions {
    /// Of a color that is given without one.
    pub default_finish: Finish,
    pub finishes: Vec<Finish>,
    /// Whether six hex digits are taken for a color.
    pub hex: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Health {
    /// Always `ok`: a service that is down does not answer.
    pub status: String,
}

/// What this deployment allows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LimitOptions {
    pub delivery_ttl: DeliveryTtl,
    pub max_batch_urls: i64,
    pub rate_limit_per_minute_default: i64,
}

/// What things cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PriceOptions {
    pub credits_per_dollar: i64,
    pub credits_per_image: i64,
    /// What an account starts with.
    pub free_credits: i64,
    pub packs: Vec<Pack>,
}

/// Sides of the square picture, in pixels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SizeOptions {
    /// The largest that can be asked for.
    pub max: i64,
    pub presets: BTreeMap<String, i64>,
    /// What it is made from.
    pub source: i64,
}

/// A camera.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ViewOption {
    /// Other names it is taken by.
    pub aliases: Vec<String>,
    pub description: String,
    pub id: View,
    pub label: String,
    /// Turn of the vehicle; 0 shows its nose, 90 its left side.
    pub yaw_degrees: i64,
}

/// Everything that can be asked for.
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

/// What the address cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ImageUrlBilling {
    pub credits_charged: i64,
    pub credits_remaining: i64,
}

/// A signed address in place of the picture.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SignedImage {
    pub expires_at: String,
    pub format: Format,
    /// Of the picture, in pixels.
    pub height: i64,
    /// How like the real vehicle the picture is.
    pub likeness: String,
    /// 0: as often as one likes, until it expires.
    pub max_uses: i64,
    pub url: String,
    pub vehicle: VehicleParams,
    /// Of the picture, in pixels.
    pub width: i64,
}

/// The JSON form of an image.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ImageUrlResponse {
    pub billing: ImageUrlBilling,
    pub data: SignedImage,
    pub request_id: String,
}

/// What the call cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MintBilling {
    /// Always `creation`: loads are free.
    pub charged_on: String,
    /// One for each address.
    pub credits_charged: i64,
    pub credits_per_url: i64,
    pub credits_remaining: i64,
}

/// The addresses, one for each image, in their order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ImageUrlsResponse {
    pub billing: MintBilling,
    pub data: Vec<DeliveryUrl>,
    pub request_id: String,
}

/// Makes of a year.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MakeList {
    pub makes: Vec<CatalogMake>,
    pub year: i64,
}

/// Models of a make.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelList {
    pub make: CatalogMake,
    pub models: Vec<CatalogModel>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub year: Option<i64>,
}

/// Neighbouring years of a model whose pictures are equally like the real vehicle.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LikenessSpan {
    pub likeness: String,
    pub year_from: i64,
    pub year_to: i64,
}

/// Years in which a model looks the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ShownGeneration {
    /// What the makers or people call it, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    pub from: i64,
    pub to: i64,
    /// The one before it with another face.
    pub facelift: bool,
}

/// A body that a model was sold with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OfferedBody {
    pub body: Body,
    pub vehicle_id: String,
    /// Ascending.
    pub years: Vec<i64>,
    /// Spans of years with one look and one picture, in order of time.
    pub generations: Vec<ShownGeneration>,
}

/// Pictures of a view that exist: asked for, they are delivered at once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoredView {
    pub view: View,
    /// Presets, in the order of their names.
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
    /// Spans of years with one look and one picture, in order of time.
    pub generations: Vec<ShownGeneration>,
    /// Every body that the model was sold with, this one among them.
    pub bodies: Vec<OfferedBody>,
    /// Of the best of its years.
    pub likeness: String,
    /// Views that exist in the newest year.
    pub stored: Vec<StoredView>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VehicleResponse {
    pub data: VehicleOfId,
    pub request_id: String,
}

/// What a row of `check_vehicles` is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CheckedVehicle {
    /// Of the row, from 0.
    pub index: i64,
    /// `match`; `suggestion`: the nearest vehicle, `reason` says how it differs; `miss`; `invalid`: too little, or wrong.
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
    /// Views that exist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stored: Option<Vec<StoredView>>,
    /// Of a row with `vin`: what the number says, and how sure that is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decoded: Option<DecodedVin>,
    /// Of a row whose `vin` has a wrong character: the number that was probably meant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vin_suggestion: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CheckedVehicles {
    /// One for each row, in their order.
    pub vehicles: Vec<CheckedVehicle>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CheckResponse {
    pub data: CheckedVehicles,
    pub request_id: String,
}

/// What an identification number says beside the vehicle.
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
    /// The other year that the number may mean, thirty away, where nothing tells which.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_year: Option<i64>,
}

/// The vehicle of an identification number, as far as it says it.
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
    /// Absent where the catalog does not have the vehicle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vehicle_id: Option<String>,
    /// high, medium or low.
    pub confidence: String,
    /// `full`, or `make-and-year` where the tables have no more of this maker.
    pub coverage: String,
    pub decoded: DecodedParts,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VinResponse {
    pub data: DecodedVin,
    pub request_id: String,
}

/// Years of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelYearList {
    /// How like the real vehicle pictures are, year by year, ascending. Years that the model was not built in may lie within a span.
    pub likeness: Vec<LikenessSpan>,
    /// Looks of its usual body, in order of time.
    pub generations: Vec<ShownGeneration>,
    /// Every body that it was sold with, the usual one of its newest year first.
    pub bodies: Vec<OfferedBody>,
    pub make: CatalogMake,
    pub model: CatalogModel,
    /// Ascending.
    pub years: Vec<i64>,
}

/// Models of a make's id, of a year.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelsOfIdList {
    pub make_id: i64,
    pub models: Vec<CatalogModel>,
    pub year: i64,
}

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

/// Parameters of a picture, in slugs; what the words do not say has its default, or is left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResolvedParams {
    pub color: Color,
    pub make: String,
    pub model: String,
    pub view: View,
    pub year: i64,
    /// Where it is not the model's usual one of that year.
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

/// The picture that is meant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResolvedPicture {
    /// The best first, at most eight; the first is the one in `params`.
    pub candidates: Vec<ResolveCandidate>,
    /// `high`: use `image_path`. `medium` or `low`: show the candidates to somebody.
    pub confidence: String,
    pub display: DisplayNames,
    pub extracted: ExtractedWords,
    /// Ready to be requested.
    pub image_path: String,
    /// How like the real vehicle the picture will be.
    pub likeness: String,
    pub params: ResolvedParams,
    /// Permanent id of make, model and body.
    pub vehicle_id: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResolveResponse {
    pub data: ResolvedPicture,
    pub request_id: String,
}

/// What was found, the best first.
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
    /// What all entries up to this one come to. Credits that are on hold are still in it.
    pub balance: i64,
    /// The entry that a correction gives back: a charge whose answer did not go out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub corrects: Option<String>,
    /// What it added, or took. A settle takes what was on hold; after a hold entry, in older statements, it is 0.
    pub credits: i64,
    /// Names the entry; a page that continues this one starts after it.
    pub id: String,
    /// grant, purchase, reversal, debit, settle, refund or correction; in older statements also hold and release.
    pub kind: String,
    /// The signed address whose credit came back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery_url_id: Option<String>,
    /// The hold that it settled; in older statements also the one that it opened or released.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hold_id: Option<String>,
    /// Why, for grants, purchases and reversals; what for, for debits and settles: the vehicle, view and colour.
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
    /// `after` of the next page; null on the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_after: Option<String>,
}

/// Years of the catalog.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct YearList {
    /// Ascending.
    pub years: Vec<i64>,
}
/// A part of the catalog: which one follows from what was asked.
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

// The two that hold a secret show only what is none.

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
