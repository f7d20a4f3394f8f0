/**
 * Types of requests and answers, named as in the service's API document (`/openapi.json`). Answers
 * may have members that are newer.
 */

import type { Looks } from "./looks.js";

export type View = "front" | "front-3-4" | "side" | "side-right" | "rear" | "rear-3-4";
/** In requests, other names of views are accepted too. */
export type AskedView = View | "front34" | "hero" | "side-left" | "profile" | "side-r" | "back" | "rear34";
export type PresetColor =
  | "white" | "black" | "gray" | "silver" | "blue" | "red" | "green" | "brown"
  | "beige" | "tan" | "orange" | "yellow" | "gold" | "burgundy" | "purple";
/**
 * A preset, or six lower-case hex digits such as `1f4e8c`. The type is written so that editors
 * still suggest the presets.
 */
export type Color = PresetColor | (string & {});
/**
 * In requests, six hex digits with or without `#`, in any case, and color names of CSS are accepted
 * too.
 */
export type AskedColor = PresetColor | "grey" | (string & {});
export type Format = "png" | "webp" | "jpg" | "avif";
/** `auto` is the best of the formats that the request's `Accept` names. */
export type NamedFormat = Format | "auto";
export type AskedFormat = NamedFormat | "jpeg";
/** The fit of an image into the box of its width and height. */
export type Fit = "inside" | "contain" | "cover";
/** Six hex digits as well and, in requests, color names of CSS. */
export type Background = "transparent" | "white" | "black" | (string & {});
export type Shadow = "on" | "off";
/**
 * With `fill` each vehicle fills the frame; with `true` all vehicles have the same number of
 * millimetres for a pixel.
 */
export type Scale = "fill" | "true";
/** The finish of a color that is not a preset. */
export type Finish = "solid" | "metallic" | "pearl" | "matt";
export type AskedFinish = Finish | "matte";
export type Body =
  | "sedan" | "hatchback" | "coupe" | "fastback" | "convertible" | "wagon" | "suv" | "off-roader" | "pickup"
  | "van" | "minivan" | "truck" | "bus" | "motorcycle" | "scooter" | "trailer" | "rickshaw" | "other";
/** In requests, other names of bodies are accepted too. */
export type AskedBody = Body | "estate" | "saloon" | (string & {});
/** `latest` is the newest year of the model. */
export type AskedYear = number | "latest";
export type SizePreset = "thumb" | "small" | "medium" | "large";

/**
 * One image of `createImageUrls`: `make` (or `brand`) and `model`, or `vehicle`; `year`; and the
 * parameters of its look.
 */
export interface ImageRequest extends Looks {
  readonly make?: string;
  readonly brand?: string;
  readonly model?: string;
  /** A permanent id of make, model and body, in place of `make` and `model`. */
  readonly vehicle?: string;
  readonly year: AskedYear;
  /** The model's usual body if not given. */
  readonly body?: AskedBody;
  readonly width?: number;
  readonly height?: number;
}

export interface BatchImageUrlRequest {
  readonly images: readonly ImageRequest[];
  /** Lifetime of the signed URLs, in seconds. */
  readonly ttl_seconds?: number;
  /**
   * Maximum number of loads of each; 0 for any number. Previews in chats and email scanners count
   * as loads, so use 3 or more for URLs that are sent there.
   */
  readonly max_uses?: number;
}

export interface ResolveRequest {
  /** Free text, such as `navy 911 from behind`. */
  readonly query?: string;
  /** A vehicle identification number or its beginning, in place of `query`. */
  readonly vin?: string;
  readonly year?: number;
  readonly make?: string;
  readonly model?: string;
}

/**
 * One row of `checkVehicles`: `make` and `model`, or `vehicle`, `vin` or `query`, with further
 * values that are known.
 */
export interface CheckRow {
  readonly make?: string;
  readonly model?: string;
  readonly year?: AskedYear;
  readonly body?: AskedBody;
  readonly vin?: string;
  /** A permanent id of make, model and body. */
  readonly vehicle?: string;
  /** Free text, such as `golf estate 2015`. */
  readonly query?: string;
}

export interface CheckRequest {
  /** 1 to 100. */
  readonly vehicles: readonly CheckRow[];
}

/**
 * Feedback about the image of `request_id`, or of `make` and `model` (or `vehicle`) and `year`.
 * `rating` (1 to 5) or `verdict` is required.
 */
export interface FeedbackRequest {
  readonly request_id?: string;
  readonly make?: string;
  readonly model?: string;
  readonly vehicle?: string;
  readonly body?: AskedBody;
  readonly year?: number;
  readonly view?: AskedView;
  readonly color?: AskedColor;
  readonly finish?: AskedFinish;
  readonly shadow?: Shadow;
  readonly rating?: number;
  readonly verdict?: "good" | "bad";
  readonly reason?: string;
}

export interface CheckoutRequest {
  readonly credits: number;
}

export interface DeviceCodeRequest {
  readonly client_name?: string;
  /**
   * The permissions of the key, separated by spaces. Without them the key gets all permissions that
   * a device may have.
   */
  readonly scope?: string;
}

export interface DeviceTokenRequest {
  readonly device_code: string;
}

export interface ReportedEvent {
  readonly event: string;
  readonly source?: "web" | "cli" | "mcp" | "api" | "system" | "sdk";
  readonly anonymous_id?: string;
  readonly session_id?: string;
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly url?: string;
  readonly referrer?: string;
  readonly utm?: Readonly<Record<string, string>>;
}

export interface EventsRequest {
  readonly events: readonly ReportedEvent[];
}

/** The cap on the credits that a key may spend in a UTC month. */
export interface MonthlyCap {
  readonly credits: number;
  /** The time when the next month begins. */
  readonly reset_at: string;
  /** Credits spent in this month so far, less those given back. */
  readonly spent: number;
}

/** The API key that made the request. */
export interface KeyView {
  readonly id: string;
  readonly rate_limit_per_minute: number;
  /** Any of images:read, account:read and billing:write. */
  readonly scopes: readonly string[];
  /** Only present if the key has a cap. */
  readonly monthly_cap?: MonthlyCap;
}

/** An amount of credits that can be bought at once. */
export interface Pack {
  /** Price in US cents. */
  readonly cents: number;
  readonly credits: number;
}

/** Prices. */
export interface Pricing {
  /** Same as `credits_per_image`. */
  readonly credits_per_delivery: number;
  readonly credits_per_dollar: number;
  readonly credits_per_image: number;
  readonly packs: readonly Pack[];
}

/** Usage in the last thirty UTC days, today included. */
export interface Usage30d {
  /** Credits spent less credits given back. */
  readonly credits_spent: number;
  /** Images delivered: requests with a key, and counted loads of signed URLs. */
  readonly images: number;
  /** Requests by the account's keys, refused ones included. */
  readonly requests: number;
  /** The ratio of delivered images that existed already, 0 to 1; null if there are none. */
  readonly cache_hit_rate?: number | null;
}

/** An account as its keys see it. */
export interface Account {
  readonly auto_reload: boolean;
  /** Credits that the account can spend now. */
  readonly credits: number;
  readonly credits_value_usd: number;
  readonly has_payment_method: boolean;
  readonly key: KeyView;
  readonly pricing: Pricing;
  readonly usage_30d: Usage30d;
}

/** The account, and links to what can be done with it. */
export interface AccountResponse {
  readonly data: Account;
  readonly links: Readonly<Record<string, string>>;
  readonly request_id: string;
}

/** The behaviour of `format: "auto"`. */
export interface AutoFormatOption {
  /** The formats that it may select, the best first. */
  readonly formats: readonly string[];
  readonly id: string;
  /** The format for a request without `Accept`. */
  readonly without_accept: Format;
}

export interface CatalogMake {
  readonly id: number;
  readonly name: string;
  readonly slug: string;
}

export interface CatalogModel {
  /** The usual body, in the requested year or else the newest. */
  readonly body: Body;
  /**
   * Likeness of the image to the real vehicle: `generation` (drawn for this generation from
   * measured proportions), `model` (drawn for the model), `make` (its class, size and era, with the
   * make's face) or `body` (its class, size and era). It is the value of the requested year, else
   * the best value of its years.
   */
  readonly likeness: string;
  readonly name: string;
  readonly slug: string;
  /** The permanent id of make, model and `body`. */
  readonly vehicle_id: string;
  /** motorcycle, passenger-car, truck, bus, mpv, auto-rickshaw or other. */
  readonly vehicle_type: string;
}

/** The release of the catalog that answered. */
export interface CatalogRelease {
  /** SHA-256 of the release's files. */
  readonly sha256: string;
  /** Package and version. */
  readonly version: string;
}

/** A source of makes, models and years. */
export interface CatalogSource {
  readonly id: string;
  readonly license: string;
  readonly name: string;
  readonly region: string;
}

/** First and last model year. */
export interface YearRange {
  readonly from: number;
  readonly to: number;
}

/** The extent of the catalog. */
export interface CatalogOptions {
  /**
   * Number of vehicles (make, model and year) by likeness: drawn for this `generation` from
   * measured proportions, for the `model`, by class, size and era with the face of the `make`, or
   * by class, size and era alone (`body`).
   */
  readonly likeness: Readonly<Record<string, number>>;
  readonly makes: number;
  readonly models: number;
  readonly release: CatalogRelease;
  readonly sources: readonly CatalogSource[];
  readonly years: YearRange;
}

/** A make or a model that fits a search. */
export interface CatalogSearchHit {
  readonly kind: string;
  readonly make_name: string;
  readonly make_slug: string;
  /** exact, prefix, token, contains or fuzzy. */
  readonly match_kind: string;
  /** Ascending. */
  readonly years: readonly number[];
  readonly model_name?: string | null;
  readonly model_slug?: string | null;
  /** For a model: the permanent id of its usual body in its newest year. */
  readonly vehicle_id?: string;
  readonly vehicle_type?: string | null;
}

export interface Checkout {
  readonly amount_cents: number;
  readonly credits: number;
  /** The page on which a person pays. */
  readonly url: string;
}

export interface CheckoutResponse {
  readonly data: Checkout;
  readonly request_id: string;
}

/** A preset paint. */
export interface ColorOption {
  /** Colour for a menu, as hex digits. */
  readonly hex: string;
  readonly name: PresetColor;
}

/** Lifetimes of signed URLs, in seconds. */
export interface DeliveryTtl {
  readonly default: number;
  readonly max: number;
  readonly min: number;
}

/** One image, in slugs, as the catalog and the enumerations spell them. */
export interface VehicleParams {
  readonly body: Body;
  readonly color: Color;
  readonly format: NamedFormat;
  /** Likeness of the image to the real vehicle. */
  readonly likeness: string;
  readonly make: string;
  readonly model: string;
  /** The permanent id of make, model and body. It can be sent as `vehicle` of another request. */
  readonly vehicle_id: string;
  readonly view: View;
  readonly year: number;
  readonly height?: number | null;
  readonly width?: number | null;
  /** This member and the following ones are absent if they have their default. */
  readonly fit?: Fit;
  readonly trim?: boolean | null;
  readonly padding?: number | null;
  readonly background?: Background | null;
  readonly shadow?: Shadow;
  readonly scale?: Scale;
  readonly finish?: Finish;
}

/** One signed URL. */
export interface DeliveryUrl {
  readonly expires_at: string;
  readonly id: string;
  /** Likeness of the image to the real vehicle. */
  readonly likeness: string;
  /** Maximum number of loads; 0 for any number until the URL expires. */
  readonly max_uses: number;
  readonly url: string;
  readonly vehicle: VehicleParams;
}

export interface DeviceCodeResponse {
  /** A secret of the device, with which it polls. */
  readonly device_code: string;
  /** Seconds until the login expires. */
  readonly expires_in: number;
  /** Seconds between polls. */
  readonly interval: number;
  /** The code that the person types or compares. */
  readonly user_code: string;
  /** The page that the person opens. */
  readonly verification_uri: string;
  /** The same page with the code filled in. */
  readonly verification_uri_complete: string;
}

export interface DeviceTokenResponse {
  /** The API key. It is shown here and never again. */
  readonly access_token: string;
  /** Scopes separated by spaces. */
  readonly scope: string;
  readonly token_type: string;
}

/** Names as people write them. */
export interface DisplayNames {
  readonly make_name: string;
  readonly model_name: string;
}

export interface EventsResponse {
  /** Number of accepted events: always all of them. */
  readonly accepted: number;
}

/** Everything that was recognised in the words; null where they say nothing. */
export interface ExtractedWords {
  /** Words that were not understood. */
  readonly unread: readonly string[];
  readonly body?: string | null;
  readonly color?: string | null;
  readonly format?: string | null;
  readonly size?: string | null;
  readonly view?: string | null;
  readonly width?: number | null;
  readonly year?: number | null;
}

export interface Recorded {
  /** The id of the render. */
  readonly asset_id: string;
  readonly recorded: boolean;
  /** True if this report put the render into review; else absent. */
  readonly flagged?: boolean | null;
}

export interface FeedbackResponse {
  readonly data: Recorded;
  readonly request_id: string;
}

/** An image format. */
export interface FormatOption {
  readonly id: Format;
  readonly mime: string;
  /** True if the format keeps the transparent background. */
  readonly transparent: boolean;
}

/** Percentage of the longer side of the area that `trim` cuts out. */
export interface PaddingOptions {
  readonly max: number;
  readonly min: number;
}

/** Options of an image's framing. */
export interface FrameOptions {
  /** Named backgrounds; six hex digits are accepted as well. */
  readonly backgrounds: readonly string[];
  readonly fits: readonly string[];
  readonly padding: PaddingOptions;
  readonly scales: readonly string[];
  readonly shadows: readonly string[];
  /** True if images can be trimmed to their visible part. */
  readonly trim: boolean;
  /** Millimetres for a pixel of the 1024 px source with `scale: "true"`. */
  readonly true_scale_mm_per_px: number;
}

/** Options of paints other than the presets. */
export interface PaintOptions {
  /** The finish of a color that is given without one. */
  readonly default_finish: Finish;
  readonly finishes: readonly string[];
  /** True if six hex digits are accepted as a color. */
  readonly hex: boolean;
}

export interface Health {
  /** Always `ok`: a service that is down does not answer. */
  readonly status: string;
}

/** Limits of this deployment. */
export interface LimitOptions {
  readonly delivery_ttl: DeliveryTtl;
  readonly max_batch_urls: number;
  readonly rate_limit_per_minute_default: number;
}

/** Prices. */
export interface PriceOptions {
  readonly credits_per_dollar: number;
  readonly credits_per_image: number;
  /** Credits that a new account has. */
  readonly free_credits: number;
  readonly packs: readonly Pack[];
}

/** Sides of the square image, in pixels. */
export interface SizeOptions {
  /** The largest side that can be requested. */
  readonly max: number;
  readonly presets: Readonly<Record<string, number>>;
  /** The side of the image from which all sizes are made. */
  readonly source: number;
}

/** A view of the vehicle. */
export interface ViewOption {
  /** Other accepted names of the view. */
  readonly aliases: readonly string[];
  readonly description: string;
  readonly id: View;
  readonly label: string;
  /** Rotation of the vehicle: 0 shows its nose, 90 its left side. */
  readonly yaw_degrees: number;
}

/** Every option of an image request. */
export interface ImageOptions {
  readonly auto_format: AutoFormatOption;
  readonly catalog: CatalogOptions;
  readonly colors: readonly ColorOption[];
  readonly formats: readonly FormatOption[];
  readonly frame: FrameOptions;
  readonly limits: LimitOptions;
  readonly links: Readonly<Record<string, string>>;
  readonly paints: PaintOptions;
  readonly pricing: PriceOptions;
  readonly sizes: SizeOptions;
  readonly views: readonly ViewOption[];
}

export interface ImageOptionsResponse {
  readonly data: ImageOptions;
  readonly request_id: string;
}

/** Credits charged for the signed URL. */
export interface ImageUrlBilling {
  readonly credits_charged: number;
  readonly credits_remaining: number;
}

/** A signed URL in place of the image. */
export interface SignedImage {
  readonly expires_at: string;
  readonly format: NamedFormat;
  /** Width of the image in pixels. */
  readonly height: number;
  /** Likeness of the image to the real vehicle. */
  readonly likeness: string;
  /** Maximum number of loads; 0 for any number until the URL expires. */
  readonly max_uses: number;
  readonly url: string;
  readonly vehicle: VehicleParams;
  /** Width of the image in pixels. */
  readonly width: number;
}

/** The JSON answer to a request for an image. */
export interface ImageUrlResponse {
  readonly billing: ImageUrlBilling;
  readonly data: SignedImage;
  readonly request_id: string;
}

/** Credits charged for the call. */
export interface MintBilling {
  /** Always `creation`, because loads are free. */
  readonly charged_on: string;
  /** One credit for each signed URL. */
  readonly credits_charged: number;
  readonly credits_per_url: number;
  readonly credits_remaining: number;
}

/** The signed URLs, one for each image, in the order of the request. */
export interface ImageUrlsResponse {
  readonly billing: MintBilling;
  readonly data: readonly DeliveryUrl[];
  readonly request_id: string;
}

/** The makes of a year. */
export interface MakeList {
  readonly makes: readonly CatalogMake[];
  readonly year: number;
}

/** The models of a make. */
export interface ModelList {
  readonly make: CatalogMake;
  readonly models: readonly CatalogModel[];
  readonly year?: number | null;
}

/** Consecutive years of a model whose images are equally close to the real vehicle. */
export interface LikenessSpan {
  readonly likeness: string;
  readonly year_from: number;
  readonly year_to: number;
}

/** Years in which a model looks the same. */
export interface ShownGeneration {
  /** True if this is the generation before it with another face. */
  readonly facelift: boolean;
  readonly from: number;
  readonly to: number;
  /** The name that the maker or people use, where it is known. */
  readonly name?: string | null;
}

/** A body with which a model was sold. */
export interface OfferedBody {
  readonly body: Body;
  /** Spans of years with one look and one image, in order of time. */
  readonly generations: readonly ShownGeneration[];
  readonly vehicle_id: string;
  /** Ascending. */
  readonly years: readonly number[];
}

/** Images of a view that are stored: a request for one is answered at once. */
export interface StoredView {
  /** Color presets, in the order of their names. */
  readonly colors: readonly string[];
  readonly view: View;
}

/** A vehicle: a body of a model, in all its years. */
export interface VehicleOfId {
  /** Every body with which the model was sold, this one included. */
  readonly bodies: readonly OfferedBody[];
  readonly body: Body;
  /** Spans of years with one look and one image, in order of time. */
  readonly generations: readonly ShownGeneration[];
  /** The best likeness among its years. */
  readonly likeness: string;
  readonly make: string;
  readonly make_name: string;
  readonly model: string;
  readonly model_name: string;
  /** Views that are stored for the newest year. */
  readonly stored: readonly StoredView[];
  readonly vehicle_id: string;
  /** Ascending. */
  readonly years: readonly number[];
}

export interface VehicleResponse {
  readonly data: VehicleOfId;
  readonly request_id: string;
}

/** The result for one row of `checkVehicles`. */
export interface CheckedVehicle {
  /** Position of the row, from 0. */
  readonly index: number;
  /**
   * `match`; `suggestion` (the nearest vehicle, and `reason` says how it differs); `miss`; or
   * `invalid` (a value is missing or wrong).
   */
  readonly status: string;
  readonly body?: Body;
  /** For a row with `vin`: the parts that the number gives, and the confidence. */
  readonly decoded?: DecodedVin;
  readonly likeness?: string;
  readonly make?: string | null;
  readonly model?: string | null;
  readonly reason?: string | null;
  /** Views that are stored. */
  readonly stored?: readonly StoredView[] | null;
  readonly vehicle_id?: string;
  /** For a row whose `vin` has a wrong character: the number that was probably meant. */
  readonly vin_suggestion?: string | null;
  readonly year?: number | null;
}

export interface CheckedVehicles {
  /** One result for each row, in the order of the request. */
  readonly vehicles: readonly CheckedVehicle[];
}

export interface CheckResponse {
  readonly data: CheckedVehicles;
  readonly request_id: string;
}

/** Parts of a vehicle identification number beside the vehicle. */
export interface DecodedParts {
  /** Names of the parts that were read: make, model, year, body, series, trim, plant_country. */
  readonly parts: readonly string[];
  /**
   * The other model year that the number may mean, thirty years away, where nothing tells which.
   */
  readonly other_year?: number | null;
  readonly plant_country?: string | null;
  readonly series?: string | null;
  readonly trim?: string | null;
}

/** The vehicle of a vehicle identification number, as far as the number gives it. */
export interface DecodedVin {
  /** high, medium or low. */
  readonly confidence: string;
  /** `full`, or `make-and-year` where the tables have no more for this maker. */
  readonly coverage: string;
  readonly decoded: DecodedParts;
  readonly make: string;
  readonly make_name: string;
  readonly body?: Body;
  readonly model?: string | null;
  readonly model_name?: string | null;
  readonly vehicle_id?: string;
  readonly year?: number | null;
}

export interface VinResponse {
  readonly data: DecodedVin;
  readonly request_id: string;
}

/** The years of a model. */
export interface ModelYearList {
  /** Every body with which it was sold, the usual one of its newest year first. */
  readonly bodies: readonly OfferedBody[];
  /** Looks of its usual body, in order of time. */
  readonly generations: readonly ShownGeneration[];
  /**
   * Likeness of images to the real vehicle, by spans of years, ascending. A span may contain
   * years in which the model was not built.
   */
  readonly likeness: readonly LikenessSpan[];
  readonly make: CatalogMake;
  readonly model: CatalogModel;
  /** Ascending. */
  readonly years: readonly number[];
}

/** The models of a make, given by its id, in a year. */
export interface ModelsOfIdList {
  readonly make_id: number;
  readonly models: readonly CatalogModel[];
  readonly year: number;
}

export interface Portal {
  readonly url: string;
}

export interface PortalResponse {
  readonly data: Portal;
  readonly request_id: string;
}

/** A vehicle that may be meant. */
export interface ResolveCandidate {
  readonly make_name: string;
  readonly make_slug: string;
  readonly match_kind: string;
  readonly model_name: string;
  readonly model_slug: string;
  /** Ascending. */
  readonly years: readonly number[];
}

/**
 * Parameters of an image, in slugs. Values that the words do not give have their default, or are
 * left out.
 */
export interface ResolvedParams {
  readonly color: PresetColor;
  readonly make: string;
  readonly model: string;
  readonly view: View;
  readonly year: number;
  /** Absent if it is the model's usual body of that year. */
  readonly body?: Body;
  /** png, webp or jpg. */
  readonly format?: string | null;
  /** thumb, small, medium or large. */
  readonly size?: string | null;
  readonly width?: number | null;
}

/** The image that is meant. */
export interface ResolvedPicture {
  /**
   * Vehicles that may be meant, the best first, at most eight. The first is the one in `params`.
   */
  readonly candidates: readonly ResolveCandidate[];
  /**
   * With `high`, use `image_path`. With `medium` or `low`, let a person choose among the
   * candidates.
   */
  readonly confidence: string;
  readonly display: DisplayNames;
  readonly extracted: ExtractedWords;
  /** Path and query of the image request. */
  readonly image_path: string;
  /** Likeness of the image to the real vehicle. */
  readonly likeness: string;
  readonly params: ResolvedParams;
  /** The permanent id of make, model and body. */
  readonly vehicle_id: string;
}

export interface ResolveResponse {
  readonly data: ResolvedPicture;
  readonly request_id: string;
}

/** The results of a search, the best first. */
export interface SearchResults {
  readonly query: string;
  readonly results: readonly CatalogSearchHit[];
  readonly year?: number | null;
}

/** One entry of the account's ledger. */
export interface StatementLine {
  /** RFC 3339, UTC. */
  readonly at: string;
  /** Sum of all entries up to this one. Credits on hold are still included. */
  readonly balance: number;
  /**
   * For a correction: the id of the entry whose credits it gives back, because the answer could not
   * be sent.
   */
  readonly corrects?: string | null;
  /**
   * Credits added, or removed if negative. A settle removes the credits that were on hold; after a
   * hold entry, in older statements, it is 0.
   */
  readonly credits: number;
  /** The id of the entry. The page that continues this one starts after it. */
  readonly id: string;
  /**
   * grant, purchase, reversal, debit, settle, refund or correction; in older statements also hold
   * and release.
   */
  readonly kind: string;
  /** The signed URL whose credit came back. */
  readonly delivery_url_id?: string | null;
  /**
   * The hold that the entry settled; in older statements also the one that it opened or released.
   */
  readonly hold_id?: string | null;
  /**
   * The reason for a grant, purchase or reversal; the vehicle, view and color for a debit or
   * settle.
   */
  readonly reason?: string | null;
  /** The payment, for purchases and reversals. */
  readonly reference?: string | null;
}

/** A page of the statement, oldest entry first. */
export interface StatementResponse {
  readonly data: readonly StatementLine[];
  readonly request_id: string;
  /** `after` of the next page; null on the last page. */
  readonly next_after?: string | null;
}

/** The years of the catalog. */
export interface YearList {
  /** Ascending. */
  readonly years: readonly number[];
}

export type VehicleList = YearList | MakeList | ModelsOfIdList | SearchResults | ModelList | ModelYearList;

/** A part of the catalog. The arguments of `getVehicles` decide which part it is. */
export interface VehiclesResponse<Variant extends VehicleList = VehicleList> {
  readonly data: Variant;
  readonly request_id: string;
}

/** A problem document (RFC 9457). */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly request_id: string;
  /** The stable code for programs. */
  readonly code: string;
  readonly parameter?: string | null;
  /** The position, from 0, of the image that was wrong, in a request for several. */
  readonly index?: number | null;
  readonly balance?: number | null;
  readonly required_credits?: number | null;
  readonly credits_remaining?: number | null;
  readonly links?: Readonly<Record<string, string>> | null;
  readonly monthly_cap_credits?: number | null;
  readonly monthly_cap_spent?: number | null;
  readonly reset_at?: string | null;
}
