"""What the service answers and is asked, named as in its API document. `json_decoding` reads answers into these classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, Generic, List, Literal, Optional, TypedDict, TypeVar, Union

View = Literal["front", "front-3-4", "side", "side-right", "rear", "rear-3-4"]
# Also what views are called elsewhere.
AskedView = Union[View, Literal["front34", "hero", "side-left", "profile", "side-r", "back", "rear34"]]
PresetColor = Literal[
    "white", "black", "gray", "silver", "blue", "red", "green", "brown", "beige", "tan", "orange", "yellow", "gold", "burgundy", "purple"
]
# A preset, or six lower-case hex digits such as `1f4e8c`.
Color = Union[PresetColor, str]
# Also six hex digits with or without `#`, in any case, and names of CSS.
AskedColor = Union[PresetColor, Literal["grey"], str]
# What free text is read as is a preset.
Format = Literal["png", "webp", "jpg", "avif"]
# `auto` is the best of those that the request's `Accept` names.
NamedFormat = Union[Format, Literal["auto"]]
AskedFormat = Union[NamedFormat, Literal["jpeg"]]
SizePreset = Literal["thumb", "small", "medium", "large"]
# How a picture relates to the box of its width and height.
Fit = Literal["inside", "contain", "cover"]
# Six hex digits as well, and, asked for, names of CSS.
Background = Union[Literal["transparent", "white", "black"], str]
Shadow = Literal["on", "off"]
# Each vehicle fills the frame, or all are at the same millimetres for a pixel.
Scale = Literal["fill", "true"]
# Of a color that is no preset.
Finish = Literal["solid", "metallic", "pearl", "matt"]
AskedFinish = Union[Finish, Literal["matte"]]
Body = Literal[
    "sedan", "hatchback", "coupe", "fastback", "convertible", "wagon", "suv", "off-roader", "pickup", "van", "minivan", "truck", "bus",
    "motorcycle", "scooter", "trailer", "rickshaw", "other"
]
# Also what bodies are called elsewhere.
AskedBody = Union[Body, Literal["estate", "saloon"], str]
# `latest` is the newest year of the model.
AskedYear = Union[int, Literal["latest"]]


class _OfYear(TypedDict):
    year: AskedYear


class ImageRequest(_OfYear, total=False):
    """One picture of `create_image_urls`: `make` (or `brand`) and `model`, or `vehicle`; `year`, and how it should look."""

    make: str
    brand: str
    model: str
    # A permanent id of make, model and body, in the place of make and model.
    vehicle: str
    # The model's usual one when not given.
    body: AskedBody
    view: AskedView
    color: AskedColor
    width: int
    height: int
    size: SizePreset
    format: AskedFormat
    fit: Fit
    trim: bool
    # Per cent of the longer side of what `trim` cuts out.
    padding: int
    background: Background
    shadow: Shadow
    scale: Scale
    finish: AskedFinish


class CheckRow(TypedDict, total=False):
    """One row of `check_vehicles`: `make` and `model`, or `vehicle`, `vin` or `query`, with what else is known."""

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
    """What `report_events` takes."""

    source: Literal["web", "cli", "mcp", "api", "system", "sdk"]
    anonymous_id: str
    session_id: str
    properties: Dict[str, Any]
    url: str
    referrer: str
    utm: Dict[str, str]


@dataclass(frozen=True)
class ImageInfo:
    """What the headers of a picture say."""

    # False when the picture is the one that `if_none_match` named: then there are no bytes and no charge.
    modified: bool
    request_id: str
    media_type: Optional[str]
    width: Optional[int]
    height: Optional[int]
    # Millimetres of the vehicle for a pixel; only where the picture was asked for with `scale="true"`.
    scale: Optional[float]
    etag: Optional[str]
    # `cache` or `generated`.
    source: Optional[str]
    # How like the real vehicle it is: `generation`, `model`, `make` or `body`, the closest first.
    likeness: Optional[str]
    # How make and model were read: `exact`, `alias` (another name), `trim` (a version was left out)
    # or `prefix` (the beginning of one name).
    vehicle_match: Optional[str]
    # Only of requests with a key.
    credits_charged: Optional[int]
    credits_remaining: Optional[int]
    content_location: Optional[str]


@dataclass(frozen=True)
class CarImage(ImageInfo):
    """A picture with its bytes."""

    content: bytes

@dataclass(frozen=True)
class MonthlyCap:
    """What a key may take in a UTC month."""

    credits: int
    # When the next month begins.
    reset_at: str
    # In this month so far, less what was given back.
    spent: int


@dataclass(frozen=True)
class KeyView:
    """The key that asks."""

    id: str
    rate_limit_per_minute: int
    # images:read, account:read, billing:write.
    scopes: List[str]
    # Only of a key that has one.
    monthly_cap: Optional[MonthlyCap] = None


@dataclass(frozen=True)
class Pack:
    """Credits that can be bought at once."""

    # Price in US cents.
    cents: int
    credits: int


@dataclass(frozen=True)
class Pricing:
    """What things cost."""

    # The same as `credits_per_image`.
    credits_per_delivery: int
    credits_per_dollar: int
    credits_per_image: int
    packs: List[Pack]


@dataclass(frozen=True)
class Usage30d:
    """The last thirty UTC days, today included."""

    # Credits taken less credits given back.
    credits_spent: int
    # Pictures delivered, by key or as a counted load of a signed address.
    images: int
    # Requests of the account's keys, refused ones included.
    requests: int
    # How many of them existed already, 0 to 1; null without any.
    cache_hit_rate: Optional[float] = None


@dataclass(frozen=True)
class Account:
    """An account as its keys see it."""

    auto_reload: bool
    # What it can spend now.
    credits: int
    credits_value_usd: float
    has_payment_method: bool
    key: KeyView
    pricing: Pricing
    usage_30d: Usage30d


@dataclass(frozen=True)
class AccountResponse:
    """The account, and where to go from here."""

    data: Account
    links: Dict[str, str]
    request_id: str


@dataclass(frozen=True)
class AutoFormatOption:
    """What `format="auto"` does."""

    # What it may answer, the best first.
    formats: List[str]
    id: str
    # What it answers a request without `Accept`.
    without_accept: Format


@dataclass(frozen=True)
class CatalogMake:
    id: int
    name: str
    slug: str


@dataclass(frozen=True)
class CatalogModel:
    # The usual body, in the year that was asked for or else the newest.
    body: Body
    # How like the real vehicle its picture is: `generation` (drawn for this generation from measured proportions), `model` (drawn for
    # the model), `make` (its class, size and time with the make's face) or `body` (its class, size and time). Of the year that was
    # asked for, else the best of its years.
    likeness: str
    name: str
    slug: str
    # The permanent id of make, model and `body`.
    vehicle_id: str
    # motorcycle, passenger-car, truck, bus, mpv, auto-rickshaw or other.
    vehicle_type: str


@dataclass(frozen=True)
class CatalogRelease:
    """The release that answers."""

    # SHA-256 of the release's files.
    sha256: str
    # Package and version.
    version: str


@dataclass(frozen=True)
class CatalogSource:
    """Where makes, models and years come from."""

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
    """Which vehicles there are."""

    # How many vehicles (make, model and year) are drawn how closely: for this `generation` from measured proportions, for the `model`,
    # by class, size and time with the face of the `make`, or by class, size and time alone (`body`).
    likeness: Dict[str, int]
    makes: int
    models: int
    release: CatalogRelease
    sources: List[CatalogSource]
    years: YearRange


@dataclass(frozen=True)
class CatalogSearchHit:
    """A make or a model that fits."""

    kind: str
    make_name: str
    make_slug: str
    # exact, prefix, token, contains or fuzzy.
    match_kind: str
    # Ascending.
    years: List[int]
    model_name: Optional[str] = None
    model_slug: Optional[str] = None
    # Of a model: the permanent id of its usual body in its newest year.
    vehicle_id: Optional[str] = None
    vehicle_type: Optional[str] = None


@dataclass(frozen=True)
class Checkout:
    amount_cents: int
    credits: int
    # Where a person pays.
    url: str


@dataclass(frozen=True)
class CheckoutResponse:
    data: Checkout
    request_id: str


@dataclass(frozen=True)
class ColorOption:
    """A paint that has a name."""

    # To show it in a menu.
    hex: str
    name: PresetColor


@dataclass(frozen=True)
class DeliveryTtl:
    """Lifetimes of signed addresses, in seconds."""

    default: int
    max: int
    min: int


@dataclass(frozen=True)
class VehicleParams:
    """One picture in slugs, as the catalog and the enumerations spell it."""

    body: Body
    color: Color
    format: NamedFormat
    # How like the real vehicle the picture is.
    likeness: str
    make: str
    model: str
    # The permanent id of make, model and body: `vehicle` of another request.
    vehicle_id: str
    view: View
    year: int
    height: Optional[int] = None
    width: Optional[int] = None
    # What has its default is left out, from here on.
    fit: Optional[Fit] = None
    trim: Optional[bool] = None
    padding: Optional[int] = None
    background: Optional[Background] = None
    shadow: Optional[Shadow] = None
    scale: Optional[Scale] = None
    finish: Optional[Finish] = None


@dataclass(frozen=True)
class DeliveryUrl:
    """One signed address."""

    expires_at: str
    id: str
    # How like the real vehicle the picture is.
    likeness: str
    # 0: as often as one likes, until it expires.
    max_uses: int
    url: str
    vehicle: VehicleParams


@dataclass(frozen=True)
class DeviceCodeResponse:
    # A secret of the device: it polls with this.
    device_code: str
    # Seconds until it is too late.
    expires_in: int
    # Seconds between polls.
    interval: int
    # What the person types, or compares.
    user_code: str
    # Where the person goes.
    verification_uri: str
    # The same, with the code filled in.
    verification_uri_complete: str


@dataclass(frozen=True)
class DeviceTokenResponse:
    # The API key: shown here and never again.
    access_token: str
    # Scopes separated by spaces.
    scope: str
    token_type: str


@dataclass(frozen=True)
class DisplayNames:
    """The names people know."""

    make_name: str
    model_name: str


@dataclass(frozen=True)
class EventsResponse:
    # How many were taken: all of them.
    accepted: int


@dataclass(frozen=True)
class ExtractedWords:
    """What was recognised in the words; null where they say nothing."""

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
    # The render.
    asset_id: str
    recorded: bool
    # True when this report put the render into review; else absent.
    flagged: Optional[bool] = None


@dataclass(frozen=True)
class FeedbackResponse:
    data: Recorded
    request_id: str


@dataclass(frozen=True)
class FormatOption:
    """An encoding."""

    id: Format
    mime: str
    # Whether it keeps the transparent background.
    transparent: bool


@dataclass(frozen=True)
class PaddingOptions:
    """Per cent of the longer side of what `trim` cuts out."""

    max: int
    min: int


@dataclass(frozen=True)
class FrameOptions:
    """What a picture's frame can be."""

    # Beside six hex digits.
    backgrounds: List[str]
    fits: List[str]
    padding: PaddingOptions
    scales: List[str]
    shadows: List[str]
    # Whether pictures can be cut to what is seen.
    trim: bool
    # Millimetres for a pixel of the 1024 px source with `scale="true"`.
    true_scale_mm_per_px: float


@dataclass(frozen=True)
class PaintOptions:
    """Paints beside the presets."""

    # Of a color that is given without one.
    default_finish: Finish
    finishes: List[str]
    # Whether six hex digits are taken for a color.
    hex: bool


@dataclass(frozen=True)
class Health:
    # Always `ok`: a service that is down does not answer.
    status: str


@dataclass(frozen=True)
class LimitOptions:
    """What this deployment allows."""

    delivery_ttl: DeliveryTtl
    max_batch_urls: int
    rate_limit_per_minute_default: int


@dataclass(frozen=True)
class PriceOptions:
    """What things cost."""

    credits_per_dollar: int
    credits_per_image: int
    # What an account starts with.
    free_credits: int
    packs: List[Pack]


@dataclass(frozen=True)
class SizeOptions:
    """Sides of the square picture, in pixels."""

    # The largest that can be asked for.
    max: int
    presets: Dict[str, int]
    # What it is made from.
    source: int


@dataclass(frozen=True)
class ViewOption:
    """A camera."""

    # Other names it is taken by.
    aliases: List[str]
    description: str
    id: View
    label: str
    # Turn of the vehicle; 0 shows its nose, 90 its left side.
    yaw_degrees: int


@dataclass(frozen=True)
class ImageOptions:
    """Everything that can be asked for."""

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
    """What the address cost."""

    credits_charged: int
    credits_remaining: int


@dataclass(frozen=True)
class SignedImage:
    """A signed address in place of the picture."""

    expires_at: str
    format: NamedFormat
    # Of the picture, in pixels.
    height: int
    # How like the real vehicle the picture is.
    likeness: str
    # 0: as often as one likes, until it expires.
    max_uses: int
    url: str
    vehicle: VehicleParams
    # Of the picture, in pixels.
    width: int


@dataclass(frozen=True)
class ImageUrlResponse:
    """The JSON form of an image."""

    billing: ImageUrlBilling
    data: SignedImage
    request_id: str


@dataclass(frozen=True)
class MintBilling:
    """What the call cost."""

    # Always `creation`: loads are free.
    charged_on: str
    # One for each address.
    credits_charged: int
    credits_per_url: int
    credits_remaining: int


@dataclass(frozen=True)
class ImageUrlsResponse:
    """The addresses, one for each image, in their order."""

    billing: MintBilling
    data: List[DeliveryUrl]
    request_id: str


@dataclass(frozen=True)
class MakeList:
    """Makes of a year."""

    makes: List[CatalogMake]
    year: int


@dataclass(frozen=True)
class ModelList:
    """Models of a make."""

    make: CatalogMake
    models: List[CatalogModel]
    year: Optional[int] = None


@dataclass(frozen=True)
class LikenessSpan:
    """Neighbouring years of a model whose pictures are equally like the real vehicle."""

    likeness: str
    year_from: int
    year_to: int


@dataclass(frozen=True)
class ShownGeneration:
    """Years in which a model looks the same."""

    # The one before it with another face.
    facelift: bool
    from_: int
    to: int
    # What the makers or people call it, where that is known.
    name: Optional[str] = None


@dataclass(frozen=True)
class OfferedBody:
    """A body that a model was sold with."""

    body: Body
    # Spans of years with one look and one picture, in order of time.
    generations: List[ShownGeneration]
    vehicle_id: str
    # Ascending.
    years: List[int]


@dataclass(frozen=True)
class StoredView:
    """Pictures of a view that exist: asked for, they are delivered at once."""

    # Presets, in the order of their names.
    colors: List[str]
    view: View


@dataclass(frozen=True)
class VehicleOfId:
    """A vehicle: a body of a model, in all its years."""

    # Every body that the model was sold with, this one among them.
    bodies: List[OfferedBody]
    body: Body
    # Spans of years with one look and one picture, in order of time.
    generations: List[ShownGeneration]
    # Of the best of its years.
    likeness: str
    make: str
    make_name: str
    model: str
    model_name: str
    # Views that exist in the newest year.
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
    """What a row of `check_vehicles` is."""

    # Of the row, from 0.
    index: int
    # `match`; `suggestion`: the nearest vehicle, `reason` says how it differs; `miss`; `invalid`: too little, or wrong.
    status: str
    body: Optional[Body] = None
    # Of a row with `vin`: what the number says, and how sure that is.
    decoded: Optional[DecodedVin] = None
    likeness: Optional[str] = None
    make: Optional[str] = None
    model: Optional[str] = None
    reason: Optional[str] = None
    # Views that exist.
    stored: Optional[List[StoredView]] = None
    vehicle_id: Optional[str] = None
    # Of a row whose `vin` has a wrong character: the number that was probably meant.
    vin_suggestion: Optional[str] = None
    year: Optional[int] = None


@dataclass(frozen=True)
class CheckedVehicles:
    # One for each row, in their order.
    vehicles: List[CheckedVehicle]


@dataclass(frozen=True)
class CheckResponse:
    data: CheckedVehicles
    request_id: str


@dataclass(frozen=True)
class DecodedParts:
    """What an identification number says beside the vehicle."""

    # Names of the parts that were read: make, model, year, body, series, trim, plant_country.
    parts: List[str]
    # The other year that the number may mean, thirty away, where nothing tells which.
    other_year: Optional[int] = None
    plant_country: Optional[str] = None
    series: Optional[str] = None
    trim: Optional[str] = None


@dataclass(frozen=True)
class DecodedVin:
    """The vehicle of an identification number, as far as it says it."""

    # high, medium or low.
    confidence: str
    # `full`, or `make-and-year` where the tables have no more of this maker.
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
    """Years of a model."""

    # Every body that it was sold with, the usual one of its newest year first.
    bodies: List[OfferedBody]
    # Looks of its usual body, in order of time.
    generations: List[ShownGeneration]
    # How like the real vehicle pictures are, year by year, ascending. Years that the model was not built in may lie within a span.
    likeness: List[LikenessSpan]
    make: CatalogMake
    model: CatalogModel
    # Ascending.
    years: List[int]


@dataclass(frozen=True)
class ModelsOfIdList:
    """Models of a make's id, of a year."""

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
    """Parameters of a picture, in slugs; what the words do not say has its default, or is left out."""

    color: PresetColor
    make: str
    model: str
    view: View
    year: int
    # Where it is not the model's usual one of that year.
    body: Optional[Body] = None
    # png, webp or jpg.
    format: Optional[str] = None
    # thumb, small, medium or large.
    size: Optional[str] = None
    width: Optional[int] = None


@dataclass(frozen=True)
class ResolvedPicture:
    """The picture that is meant."""

    # The best first, at most eight; the first is the one in `params`.
    candidates: List[ResolveCandidate]
    # `high`: use `image_path`. `medium` or `low`: show the candidates to somebody.
    confidence: str
    display: DisplayNames
    extracted: ExtractedWords
    # Ready to be requested.
    image_path: str
    # How like the real vehicle the picture will be.
    likeness: str
    params: ResolvedParams
    # Permanent id of make, model and body.
    vehicle_id: str


@dataclass(frozen=True)
class ResolveResponse:
    data: ResolvedPicture
    request_id: str


@dataclass(frozen=True)
class SearchResults:
    """What was found, the best first."""

    query: str
    results: List[CatalogSearchHit]
    year: Optional[int] = None


@dataclass(frozen=True)
class StatementLine:
    """One entry of the ledger."""

    # RFC 3339, UTC.
    at: str
    # What all entries up to this one come to. Credits that are on hold are still in it.
    balance: int
    # What it added, or took. A settle takes what was on hold; after a hold entry, in older statements, it is 0.
    credits: int
    # Names the entry; a page that continues this one starts after it.
    id: str
    # grant, purchase, reversal, debit, settle, refund or correction; in older statements also hold and release.
    kind: str
    # The entry that a correction gives back: a charge whose answer did not go out.
    corrects: Optional[str] = None
    # The signed address whose credit came back.
    delivery_url_id: Optional[str] = None
    # The hold that it settled; in older statements also the one that it opened or released.
    hold_id: Optional[str] = None
    # Why, for grants, purchases and reversals; what for, for debits and settles: the vehicle, view and colour.
    reason: Optional[str] = None
    # The payment, for purchases and reversals.
    reference: Optional[str] = None


@dataclass(frozen=True)
class StatementResponse:
    """A page of the statement, oldest entry first."""

    data: List[StatementLine]
    request_id: str
    # `after` of the next page; null on the last.
    next_after: Optional[str] = None


@dataclass(frozen=True)
class YearList:
    """Years of the catalog."""

    # Ascending.
    years: List[int]

VehicleList = Union[YearList, MakeList, ModelsOfIdList, SearchResults, ModelList, ModelYearList]
Variant = TypeVar("Variant", YearList, MakeList, ModelsOfIdList, SearchResults, ModelList, ModelYearList)


@dataclass(frozen=True)
class VehiclesResponse(Generic[Variant]):
    """A part of the catalog: which one follows from the arguments of `get_vehicles`."""

    data: Variant
    request_id: str
