"""Types of requests and answers, named as in the service's API document. `json_decoding` decodes
answers into these classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, Generic, List, Literal, Optional, TypedDict, TypeVar, Union

View = Literal["front", "front-3-4", "side", "side-right", "rear", "rear-3-4"]
# In requests, other names of views are accepted too.
AskedView = Union[View, Literal["front34", "hero", "side-left", "profile", "side-r", "back", "rear34"]]
PresetColor = Literal[
    "white", "black", "gray", "silver", "blue", "red", "green", "brown", "beige", "tan", "orange", "yellow", "gold", "burgundy", "purple"
]
# A preset, or six lower-case hex digits such as `1f4e8c`.
Color = Union[PresetColor, str]
# In requests, six hex digits with or without `#`, in any case, and color names of CSS are accepted
# too.
AskedColor = Union[PresetColor, Literal["grey"], str]
# A color that is read from free text is always a preset.
Format = Literal["png", "webp", "jpg", "avif"]
# `auto` is the best of the formats that the request's `Accept` names.
NamedFormat = Union[Format, Literal["auto"]]
AskedFormat = Union[NamedFormat, Literal["jpeg"]]
SizePreset = Literal["thumb", "small", "medium", "large"]
# The fit of an image into the box of its width and height.
Fit = Literal["inside", "contain", "cover"]
# Six hex digits as well and, in requests, color names of CSS.
Background = Union[Literal["transparent", "white", "black"], str]
Shadow = Literal["on", "off"]
# With `fill` each vehicle fills the frame; with `true` all vehicles have the same number of
# millimetres for a pixel.
Scale = Literal["fill", "true"]
# The finish of a color that is not a preset.
Finish = Literal["solid", "metallic", "pearl", "matt"]
AskedFinish = Union[Finish, Literal["matte"]]
Body = Literal[
    "sedan", "hatchback", "coupe", "fastback", "convertible", "wagon", "suv", "off-roader", "pickup", "van", "minivan", "truck", "bus",
    "motorcycle", "scooter", "trailer", "rickshaw", "other"
]
# In requests, other names of bodies are accepted too.
AskedBody = Union[Body, Literal["estate", "saloon"], str]
# `latest` is the newest year of the model.
AskedYear = Union[int, Literal["latest"]]


class _OfYear(TypedDict):
    year: AskedYear


class ImageRequest(_OfYear, total=False):
    """One image of `create_image_urls`: `make` (or `brand`) and `model`, or `vehicle`; `year`; and
    the parameters of its look."""

    make: str
    brand: str
    model: str
    # A permanent id of make, model and body, in place of `make` and `model`.
    vehicle: str
    # The model's usual body if not given.
    body: AskedBody
    view: AskedView
    color: AskedColor
    width: int
    height: int
    size: SizePreset
    format: AskedFormat
    fit: Fit
    trim: bool
    # Percentage of the longer side of the area that `trim` cuts out.
    padding: int
    background: Background
    shadow: Shadow
    scale: Scale
    finish: AskedFinish


class CheckRow(TypedDict, total=False):
    """One row of `check_vehicles`: `make` and `model`, or `vehicle`, `vin` or `query`, with further
    values that are known."""

    make: str
    model: str
    year: AskedYear
    body: AskedBody
    vin: str
    # A permanent id of make, model and body.
    vehicle: str
    # Free text, such as `golf estate 2015`.
    query: str


class _NamedEvent(TypedDict):
    event: str


class Event(_NamedEvent, total=False):
    """One event of `report_events`."""

    source: Literal["web", "cli", "mcp", "api", "system", "sdk"]
    anonymous_id: str
    session_id: str
    properties: Dict[str, Any]
    url: str
    referrer: str
    utm: Dict[str, str]


@dataclass(frozen=True)
class ImageInfo:
    """The values in the headers of an image's answer."""

    # False if the image is still the one that `if_none_match` named. Then there are no bytes and no
    # charge.
    modified: bool
    request_id: str
    media_type: Optional[str]
    width: Optional[int]
    height: Optional[int]
    # Millimetres of the vehicle for a pixel; only if the image was requested with `scale="true"`.
    scale: Optional[float]
    etag: Optional[str]
    # `cache` or `generated`.
    source: Optional[str]
    # Likeness of the image to the real vehicle: `generation`, `model`, `make` or `body`, the
    # closest first.
    likeness: Optional[str]
    # The way in which make and model were read: `exact`, `alias` (another name), `trim` (a version
    # was left out) or `prefix` (the beginning of one name).
    vehicle_match: Optional[str]
    # Only present for requests with a key.
    credits_charged: Optional[int]
    credits_remaining: Optional[int]
    content_location: Optional[str]


@dataclass(frozen=True)
class CarImage(ImageInfo):
    """An image with its bytes."""

    content: bytes

@dataclass(frozen=True)
class MonthlyCap:
    """The cap on the credits that a key may spend in a UTC month."""

    credits: int
    # The time when the next month begins.
    reset_at: str
    # Credits spent in this month so far, less those given back.
    spent: int


@dataclass(frozen=True)
class KeyView:
    """The API key that made the request."""

    id: str
    rate_limit_per_minute: int
    # Any of images:read, account:read and billing:write.
    scopes: List[str]
    # Only present if the key has a cap.
    monthly_cap: Optional[MonthlyCap] = None


@dataclass(frozen=True)
class Pack:
    """An amount of credits that can be bought at once."""

    # Price in US cents.
    cents: int
    credits: int


@dataclass(frozen=True)
class Pricing:
    """Prices."""

    # Same as `credits_per_image`.
    credits_per_delivery: int
    credits_per_dollar: int
    credits_per_image: int
    packs: List[Pack]


@dataclass(frozen=True)
class Usage30d:
    """Usage in the last thirty UTC days, today included."""

    # Credits spent less credits given back.
    credits_spent: int
    # Images delivered: requests with a key, and counted loads of signed URLs.
    images: int
    # Requests by the account's keys, refused ones included.
    requests: int
    # The ratio of delivered images that existed already, 0 to 1; null if there are none.
    cache_hit_rate: Optional[float] = None


@dataclass(frozen=True)
class Account:
    """An account as its keys see it."""

    auto_reload: bool
    # Credits that the account can spend now.
    credits: int
    credits_value_usd: float
    has_payment_method: bool
    key: KeyView
    pricing: Pricing
    usage_30d: Usage30d


@dataclass(frozen=True)
class AccountResponse:
    """The account, and links to what can be done with it."""

    data: Account
    links: Dict[str, str]
    request_id: str


@dataclass(frozen=True)
class AutoFormatOption:
    """The behaviour of `format="auto"`."""

    # The formats that it may select, the best first.
    formats: List[str]
    id: str
    # The format for a request without `Accept`.
    without_accept: Format


@dataclass(frozen=True)
class CatalogMake:
    id: int
    name: str
    slug: str


@dataclass(frozen=True)
class CatalogModel:
    # The usual body, in the requested year or else the newest.
    body: Body
    # Likeness of the image to the real vehicle: `generation` (drawn for this generation from
    # measured proportions), `model` (drawn for the model), `make` (its class, size and era, with
    # the make's face) or `body` (its class, size and era). It is the value of the requested year,
    # else the best value of its years.
    likeness: str
    name: str
    slug: str
    # The permanent id of make, model and `body`.
    vehicle_id: str
    # motorcycle, passenger-car, truck, bus, mpv, auto-rickshaw or other.
    vehicle_type: str


@dataclass(frozen=True)
class CatalogRelease:
    """The release of the catalog that answered."""

    # SHA-256 of the release's files.
    sha256: str
    # Package and version.
    version: str


@dataclass(frozen=True)
class CatalogSource:
    """A source of makes, models and years."""

    id: str
    license: str
    name: str
    region: str


@dataclass(frozen=True)
class YearRange:
    """First and last model year."""

    from_: int
    to: int


@dataclass(frozen=True)
class CatalogOptions:
    """The extent of the catalog."""

    # Number of vehicles (make, model and year) by likeness: drawn for this `generation` from
    # measured proportions, for the `model`, by class, size and era with the face of the `make`, or
    # by class, size and era alone (`body`).
    likeness: Dict[str, int]
    makes: int
    models: int
    release: CatalogRelease
    sources: List[CatalogSource]
    years: YearRange


@dataclass(frozen=True)
class CatalogSearchHit:
    """A make or a model that fits a search."""

    kind: str
    make_name: str
    make_slug: str
    # exact, prefix, token, contains or fuzzy.
    match_kind: str
    # Ascending.
    years: List[int]
    model_name: Optional[str] = None
    model_slug: Optional[str] = None
    # For a model: the permanent id of its usual body in its newest year.
    vehicle_id: Optional[str] = None
    vehicle_type: Optional[str] = None


@dataclass(frozen=True)
class Checkout:
    amount_cents: int
    credits: int
    # The page on which a person pays.
    url: str


@dataclass(frozen=True)
class CheckoutResponse:
    data: Checkout
    request_id: str


@dataclass(frozen=True)
class ColorOption:
    """A preset paint."""

    # Colour for a menu, as hex digits.
    hex: str
    name: PresetColor


@dataclass(frozen=True)
class DeliveryTtl:
    """Lifetimes of signed URLs, in seconds."""

    default: int
    max: int
    min: int


@dataclass(frozen=True)
class VehicleParams:
    """One image, in slugs, as the catalog and the enumerations spell them."""

    body: Body
    color: Color
    format: NamedFormat
    # Likeness of the image to the real vehicle.
    likeness: str
    make: str
    model: str
    # The permanent id of make, model and body. It can be sent as `vehicle` of another request.
    vehicle_id: str
    view: View
    year: int
    height: Optional[int] = None
    width: Optional[int] = None
    # This member and the following ones are absent if they have their default.
    fit: Optional[Fit] = None
    trim: Optional[bool] = None
    padding: Optional[int] = None
    background: Optional[Background] = None
    shadow: Optional[Shadow] = None
    scale: Optional[Scale] = None
    finish: Optional[Finish] = None


@dataclass(frozen=True)
class DeliveryUrl:
    """One signed URL."""

    expires_at: str
    id: str
    # Likeness of the image to the real vehicle.
    likeness: str
    # Maximum number of loads; 0 for any number until the URL expires.
    max_uses: int
    url: str
    vehicle: VehicleParams


@dataclass(frozen=True)
class DeviceCodeResponse:
    # A secret of the device, with which it polls.
    device_code: str
    # Seconds until the login expires.
    expires_in: int
    # Seconds between polls.
    interval: int
    # The code that the person types or compares.
    user_code: str
    # The page that the person opens.
    verification_uri: str
    # The same page with the code filled in.
    verification_uri_complete: str


@dataclass(frozen=True)
class DeviceTokenResponse:
    # The API key. It is shown here and never again.
    access_token: str
    # Scopes separated by spaces.
    scope: str
    token_type: str


@dataclass(frozen=True)
class DisplayNames:
    """Names as people write them."""

    make_name: str
    model_name: str


@dataclass(frozen=True)
class EventsResponse:
    # Number of accepted events: always all of them.
    accepted: int


@dataclass(frozen=True)
class ExtractedWords:
    """Everything that was recognised in the words; null where they say nothing."""

    # Words that were not understood.
    unread: List[str]
    body: Optional[str] = None
    color: Optional[str] = None
    format: Optional[str] = None
    size: Optional[str] = None
    view: Optional[str] = None
    width: Optional[int] = None
    year: Optional[int] = None


@dataclass(frozen=True)
class Recorded:
    # The id of the render.
    asset_id: str
    recorded: bool
    # True if this report put the render into review; else absent.
    flagged: Optional[bool] = None


@dataclass(frozen=True)
class FeedbackResponse:
    data: Recorded
    request_id: str


@dataclass(frozen=True)
class FormatOption:
    """An image format."""

    id: Format
    mime: str
    # True if the format keeps the transparent background.
    transparent: bool


@dataclass(frozen=True)
class PaddingOptions:
    """Percentage of the longer side of the area that `trim` cuts out."""

    max: int
    min: int


@dataclass(frozen=True)
class FrameOptions:
    """Options of an image's framing."""

    # Named backgrounds; six hex digits are accepted as well.
    backgrounds: List[str]
    fits: List[str]
    padding: PaddingOptions
    scales: List[str]
    shadows: List[str]
    # True if images can be trimmed to their visible part.
    trim: bool
    # Millimetres for a pixel of the 1024 px source with `scale="true"`.
    true_scale_mm_per_px: float


@dataclass(frozen=True)
class PaintOptions:
    """Options of paints other than the presets."""

    # The finish of a color that is given without one.
    default_finish: Finish
    finishes: List[str]
    # True if six hex digits are accepted as a color.
    hex: bool


@dataclass(frozen=True)
class Health:
    # Always `ok`: a service that is down does not answer.
    status: str


@dataclass(frozen=True)
class LimitOptions:
    """Limits of this deployment."""

    delivery_ttl: DeliveryTtl
    max_batch_urls: int
    rate_limit_per_minute_default: int


@dataclass(frozen=True)
class PriceOptions:
    """Prices."""

    credits_per_dollar: int
    credits_per_image: int
    # Credits that a new account has.
    free_credits: int
    packs: List[Pack]


@dataclass(frozen=True)
class SizeOptions:
    """Sides of the square image, in pixels."""

    # The largest side that can be requested.
    max: int
    presets: Dict[str, int]
    # The side of the image from which all sizes are made.
    source: int


@dataclass(frozen=True)
class ViewOption:
    """A view of the vehicle."""

    # Other accepted names of the view.
    aliases: List[str]
    description: str
    id: View
    label: str
    # Rotation of the vehicle: 0 shows its nose, 90 its left side.
    yaw_degrees: int


@dataclass(frozen=True)
class ImageOptions:
    """Every option of an image request."""

    auto_format: AutoFormatOption
    catalog: CatalogOptions
    colors: List[ColorOption]
    formats: List[FormatOption]
    frame: FrameOptions
    limits: LimitOptions
    links: Dict[str, str]
    paints: PaintOptions
    pricing: PriceOptions
    sizes: SizeOptions
    views: List[ViewOption]


@dataclass(frozen=True)
class ImageOptionsResponse:
    data: ImageOptions
    request_id: str


@dataclass(frozen=True)
class ImageUrlBilling:
    """Credits charged for the signed URL."""

    credits_charged: int
    credits_remaining: int


@dataclass(frozen=True)
class SignedImage:
    """A signed URL in place of the image."""

    expires_at: str
    format: NamedFormat
    # Width of the image in pixels.
    height: int
    # Likeness of the image to the real vehicle.
    likeness: str
    # Maximum number of loads; 0 for any number until the URL expires.
    max_uses: int
    url: str
    vehicle: VehicleParams
    # Width of the image in pixels.
    width: int


@dataclass(frozen=True)
class ImageUrlResponse:
    """The JSON answer to a request for an image."""

    billing: ImageUrlBilling
    data: SignedImage
    request_id: str


@dataclass(frozen=True)
class MintBilling:
    """Credits charged for the call."""

    # Always `creation`, because loads are free.
    charged_on: str
    # One credit for each signed URL.
    credits_charged: int
    credits_per_url: int
    credits_remaining: int


@dataclass(frozen=True)
class ImageUrlsResponse:
    """The signed URLs, one for each image, in the order of the request."""

    billing: MintBilling
    data: List[DeliveryUrl]
    request_id: str


@dataclass(frozen=True)
class MakeList:
    """The makes of a year."""

    makes: List[CatalogMake]
    year: int


@dataclass(frozen=True)
class ModelList:
    """The models of a make."""

    make: CatalogMake
    models: List[CatalogModel]
    year: Optional[int] = None


@dataclass(frozen=True)
class LikenessSpan:
    """Consecutive years of a model whose images are equally close to the real vehicle."""

    likeness: str
    year_from: int
    year_to: int


@dataclass(frozen=True)
class ShownGeneration:
    """Years in which a model looks the same."""

    # True if this is the generation before it with another face.
    facelift: bool
    from_: int
    to: int
    # The name that the maker or people use, where it is known.
    name: Optional[str] = None


@dataclass(frozen=True)
class OfferedBody:
    """A body with which a model was sold."""

    body: Body
    # Spans of years with one look and one image, in order of time.
    generations: List[ShownGeneration]
    vehicle_id: str
    # Ascending.
    years: List[int]


@dataclass(frozen=True)
class StoredView:
    """Images of a view that are stored: a request for one is answered at once."""

    # Color presets, in the order of their names.
    colors: List[str]
    view: View


@dataclass(frozen=True)
class VehicleOfId:
    """A vehicle: a body of a model, in all its years."""

    # Every body with which the model was sold, this one included.
    bodies: List[OfferedBody]
    body: Body
    # Spans of years with one look and one image, in order of time.
    generations: List[ShownGeneration]
    # The best likeness among its years.
    likeness: str
    make: str
    make_name: str
    model: str
    model_name: str
    # Views that are stored for the newest year.
    stored: List[StoredView]
    vehicle_id: str
    # Ascending.
    years: List[int]


@dataclass(frozen=True)
class VehicleResponse:
    data: VehicleOfId
    request_id: str


@dataclass(frozen=True)
class CheckedVehicle:
    """The result for one row of `check_vehicles`."""

    # Position of the row, from 0.
    index: int
    # `match`; `suggestion` (the nearest vehicle, and `reason` says how it differs); `miss`; or
    # `invalid` (a value is missing or wrong).
    status: str
    body: Optional[Body] = None
    # For a row with `vin`: the parts that the number gives, and the confidence.
    decoded: Optional[DecodedVin] = None
    likeness: Optional[str] = None
    make: Optional[str] = None
    model: Optional[str] = None
    reason: Optional[str] = None
    # Views that are stored.
    stored: Optional[List[StoredView]] = None
    vehicle_id: Optional[str] = None
    # For a row whose `vin` has a wrong character: the number that was probably meant.
    vin_suggestion: Optional[str] = None
    year: Optional[int] = None


@dataclass(frozen=True)
class CheckedVehicles:
    # One result for each row, in the order of the request.
    vehicles: List[CheckedVehicle]


@dataclass(frozen=True)
class CheckResponse:
    data: CheckedVehicles
    request_id: str


@dataclass(frozen=True)
class DecodedParts:
    """Parts of a vehicle identification number beside the vehicle."""

    # Names of the parts that were read: make, model, year, body, series, trim, plant_country.
    parts: List[str]
    # The other model year that the number may mean, thirty years away, where nothing tells which.
    other_year: Optional[int] = None
    plant_country: Optional[str] = None
    series: Optional[str] = None
    trim: Optional[str] = None


@dataclass(frozen=True)
class DecodedVin:
    """The vehicle of a vehicle identification number, as far as the number gives it."""

    # high, medium or low.
    confidence: str
    # `full`, or `make-and-year` where the tables have no more for this maker.
    coverage: str
    decoded: DecodedParts
    make: str
    make_name: str
    body: Optional[Body] = None
    model: Optional[str] = None
    model_name: Optional[str] = None
    vehicle_id: Optional[str] = None
    year: Optional[int] = None


@dataclass(frozen=True)
class VinResponse:
    data: DecodedVin
    request_id: str


@dataclass(frozen=True)
class ModelYearList:
    """The years of a model."""

    # Every body with which it was sold, the usual one of its newest year first.
    bodies: List[OfferedBody]
    # Looks of its usual body, in order of time.
    generations: List[ShownGeneration]
    # Likeness of images to the real vehicle, by spans of years, ascending. A span may contain
    # years in which the model was not built.
    likeness: List[LikenessSpan]
    make: CatalogMake
    model: CatalogModel
    # Ascending.
    years: List[int]


@dataclass(frozen=True)
class ModelsOfIdList:
    """The models of a make, given by its id, in a year."""

    make_id: int
    models: List[CatalogModel]
    year: int


@dataclass(frozen=True)
class Portal:
    url: str


@dataclass(frozen=True)
class PortalResponse:
    data: Portal
    request_id: str


@dataclass(frozen=True)
class ResolveCandidate:
    """A vehicle that may be meant."""

    make_name: str
    make_slug: str
    match_kind: str
    model_name: str
    model_slug: str
    # Ascending.
    years: List[int]


@dataclass(frozen=True)
class ResolvedParams:
    """Parameters of an image, in slugs. Values that the words do not give have their default, or
    are left out."""

    color: PresetColor
    make: str
    model: str
    view: View
    year: int
    # Absent if it is the model's usual body of that year.
    body: Optional[Body] = None
    # png, webp or jpg.
    format: Optional[str] = None
    # thumb, small, medium or large.
    size: Optional[str] = None
    width: Optional[int] = None


@dataclass(frozen=True)
class ResolvedPicture:
    """The image that is meant."""

    # Vehicles that may be meant, the best first, at most eight. The first is the one in `params`.
    candidates: List[ResolveCandidate]
    # With `high`, use `image_path`. With `medium` or `low`, let a person choose among the
    # candidates.
    confidence: str
    display: DisplayNames
    extracted: ExtractedWords
    # Path and query of the image request.
    image_path: str
    # Likeness of the image to the real vehicle.
    likeness: str
    params: ResolvedParams
    # The permanent id of make, model and body.
    vehicle_id: str


@dataclass(frozen=True)
class ResolveResponse:
    data: ResolvedPicture
    request_id: str


@dataclass(frozen=True)
class SearchResults:
    """The results of a search, the best first."""

    query: str
    results: List[CatalogSearchHit]
    year: Optional[int] = None


@dataclass(frozen=True)
class StatementLine:
    """One entry of the account's ledger."""

    # RFC 3339, UTC.
    at: str
    # Sum of all entries up to this one. Credits on hold are still included.
    balance: int
    # Credits added, or removed if negative. A settle removes the credits that were on hold; after a
    # hold entry, in older statements, it is 0.
    credits: int
    # The id of the entry. The page that continues this one starts after it.
    id: str
    # grant, purchase, reversal, debit, settle, refund or correction; in older statements also hold
    # and release.
    kind: str
    # For a correction: the id of the entry whose credits it gives back, because the answer could
    # not be sent.
    corrects: Optional[str] = None
    # The signed URL whose credit came back.
    delivery_url_id: Optional[str] = None
    # The hold that the entry settled; in older statements also the one that it opened or released.
    hold_id: Optional[str] = None
    # The reason for a grant, purchase or reversal; the vehicle, view and color for a debit or
    # settle.
    reason: Optional[str] = None
    # The payment, for purchases and reversals.
    reference: Optional[str] = None


@dataclass(frozen=True)
class StatementResponse:
    """A page of the statement, oldest entry first."""

    data: List[StatementLine]
    request_id: str
    # `after` of the next page; null on the last page.
    next_after: Optional[str] = None


@dataclass(frozen=True)
class YearList:
    """The years of the catalog."""

    # Ascending.
    years: List[int]

VehicleList = Union[YearList, MakeList, ModelsOfIdList, SearchResults, ModelList, ModelYearList]
Variant = TypeVar("Variant", YearList, MakeList, ModelsOfIdList, SearchResults, ModelList, ModelYearList)


@dataclass(frozen=True)
class VehiclesResponse(Generic[Variant]):
    """A part of the catalog. The arguments of `get_vehicles` decide which part it is."""

    data: Variant
    request_id: str
