/** What the service answers and is asked, named as in its API document (`/openapi.json`). Answers may have members that are newer. */

import type { Looks } from "./looks.js";

export type View = "front" | "front-3-4" | "side" | "side-right" | "rear" | "rear-3-4";
/** Also what views are called elsewhere. */
export type AskedView = View | "front34" | "hero" | "side-left" | "profile" | "side-r" | "back" | "rear34";
export type PresetColor =
  | "white" | "black" | "gray" | "silver" | "blue" | "red" | "green" | "brown"
  | "beige" | "tan" | "orange" | "yellow" | "gold" | "burgundy" | "purple";
/** A preset, or six lower-case hex digits such as `1f4e8c`. Editors go on to offer the presets. */
export type Color = PresetColor | (string & {});
/** Also six hex digits with or without `#`, in any case, and names of CSS. */
export type AskedColor = PresetColor | "grey" | (string & {});
export type Format = "png" | "webp" | "jpg" | "avif";
/** `auto` is the best of those that the request's `Accept` names. */
export type NamedFormat = Format | "auto";
export type AskedFormat = NamedFormat | "jpeg";
/** How a picture relates to the box of its width and height. */
export type Fit = "inside" | "contain" | "cover";
/** Six hex digits as well, and, asked for, names of CSS. */
export type Background = "transparent" | "white" | "black" | (string & {});
export type Shadow = "on" | "off";
/** Each vehicle fills the frame, or all are at the same millimetres for a pixel. */
export type Scale = "fill" | "true";
/** Of a color that is no preset. */
export type Finish = "solid" | "metallic" | "pearl" | "matt";
export type AskedFinish = Finish | "matte";
export type Body =
  | "sedan" | "hatchback" | "coupe" | "fastback" | "convertible" | "wagon" | "suv" | "off-roader" | "pickup"
  | "van" | "minivan" | "truck" | "bus" | "motorcycle" | "scooter" | "trailer" | "rickshaw" | "other";
/** Also what bodies are called elsewhere. */
export type AskedBody = Body | "estate" | "saloon" | (string & {});
/** `latest` is the newest year of the model. */
export type AskedYear = number | "latest";
export type SizePreset = "thumb" | "small" | "medium" | "large";

/** One picture of `createImageUrls`: `make` (or `brand`) and `model`, or `vehicle`; `year`, and how it should look. */
export interface ImageRequest extends Looks {
  readonly make?: string;
  readonly brand?: string;
  readonly model?: string;
  /** A permanent id of make, model and body, in the place of make and model. */
  readonly vehicle?: string;
  readonly year: AskedYear;
  /** The model's usual one when not given. */
  readonly body?: AskedBody;
  readonly width?: number;
  readonly height?: number;
}

export interface BatchImageUrlRequest {
  readonly images: readonly ImageRequest[];
  /** How long the addresses are good. */
  readonly ttl_seconds?: number;
  /** How often each may be loaded; 0 is without limit. Previews of chats and scanners of mail are loads, too: 3 or more for what is sent there. */
  readonly max_uses?: number;
}

export interface ResolveRequest {
  /** Such as `navy 911 from behind`. */
  readonly query?: string;
  /** In the place of `query`: a vehicle identification number or its beginning. */
  readonly vin?: string;
  readonly year?: number;
  readonly make?: string;
  readonly model?: string;
}

/** One row of `checkVehicles`: `make` and `model`, or `vehicle`, `vin` or `query`, with what else is known. */
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

/** The picture is the one of `request_id`, or of `make` and `model` (or `vehicle`) and `year`; `rating` (1 to 5) or `verdict` is needed. */
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
  /** What the key is for, names separated by spaces; all that a device may do when left out. */
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

/** What a key may take in a UTC month. */
export interface MonthlyCap {
  readonly credits: number;
  /** When the next month begins. */
  readonly reset_at: string;
  /** In this month so far, less what was given back. */
  readonly spent: number;
}

/** The key that asks. */
export interface KeyView {
  readonly id: string;
  readonly rate_limit_per_minute: number;
  /** images:read, account:read, billing:write. */
  readonly scopes: readonly string[];
  /** Only of a key that has one. */
  readonly monthly_cap?: MonthlyCap;
}

/** Credits that can be bought at once. */
export interface Pack {
  /** Price in US cents. */
  readonly cents: number;
  readonly credits: number;
}

/** What things cost. */
export interface Pricing {
  /** The same as `credits_per_image`. */
  readonly credits_per_delivery: number;
  readonly credits_per_dollar: number;
  readonly credits_per_image: number;
  readonly packs: readonly Pack[];
}

/** The last thirty UTC days, today included. */
export interface Usage30d {
  /** Credits taken less credits given back. */
  readonly credits_spent: number;
  /** Pictures delivered, by key or as a counted load of a signed address. */
  readonly images: number;
  /** Requests of the account's keys, refused ones included. */
  readonly requests: number;
  /** How many of them existed already, 0 to 1; null without any. */
  readonly cache_hit_rate?: number | null;
}

/** An account as its keys see it. */
export interface Account {
  readonly auto_reload: boolean;
  /** What it can spend now. */
  readonly credits: number;
  readonly credits_value_usd: number;
  readonly has_payment_method: boolean;
  readonly key: KeyView;
  readonly pricing: Pricing;
  readonly usage_30d: Usage30d;
}

/** The account, and where to go from here. */
export interface AccountResponse {
  readonly data: Account;
  readonly links: Readonly<Record<string, string>>;
  readonly request_id: string;
}

/** What `format: "auto"` does. */
export interface AutoFormatOption {
  /** What it may answer, the best first. */
  readonly formats: readonly string[];
  readonly id: string;
  /** What it answers a request without `Accept`. */
  readonly without_accept: Format;
}

export interface CatalogMake {
  readonly id: number;
  readonly name: string;
  readonly slug: string;
}

export interface CatalogModel {
  /** The usual body, in the year that was asked for or else the newest. */
  readonly body: Body;
  /**
   * How like the real vehicle its picture is: `generation` (drawn for this generation from measured proportions), `model` (drawn for the
   * model), `make` (its class, size and time with the make's face) or `body` (its class, size and time). Of the year that was asked for,
   * else the best of its years.
   */
  readonly likeness: string;
  readonly name: string;
  readonly slug: string;
  /** The permanent id of make, model and `body`. */
  readonly vehicle_id: string;
  /** motorcycle, passenger-car, truck, bus, mpv, auto-rickshaw or other. */
  readonly vehicle_type: string;
}

/** The release that answers. */
export interface CatalogRelease {
  /** SHA-256 of the release's files. */
  readonly sha256: string;
  /** Package and version. */
  readonly version: string;
}

/** Where makes, models and years come from. */
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

/** Which vehicles there are. */
export interface CatalogOptions {
  /**
   * How many vehicles (make, model and year) are drawn how closely: for this `generation` from measured proportions, for the `model`, by
   * class, size and time with the face of the `make`, or by class, size and time alone (`body`).
   */
  readonly likeness: Readonly<Record<string, number>>;
  readonly makes: number;
  readonly models: number;
  readonly release: CatalogRelease;
  readonly sources: readonly CatalogSource[];
  readonly years: YearRange;
}

/** A make or a model that fits. */
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
  /** Of a model: the permanent id of its usual body in its newest year. */
  readonly vehicle_id?: string;
  readonly vehicle_type?: string | null;
}

export interface Checkout {
  readonly amount_cents: number;
  readonly credits: number;
  /** Where a person pays. */
  readonly url: string;
}

export interface CheckoutResponse {
  readonly data: Checkout;
  readonly request_id: string;
}

/** A paint that has a name. */
export interface ColorOption {
  /** To show it in a menu. */
  readonly hex: string;
  readonly name: PresetColor;
}

/** Lifetimes of signed addresses, in seconds. */
export interface DeliveryTtl {
  readonly default: number;
  readonly max: number;
  readonly min: number;
}

/** One picture in slugs, as the catalog and the enumerations spell it. */
export interface VehicleParams {
  readonly body: Body;
  readonly color: Color;
  readonly format: NamedFormat;
  /** How like the real vehicle the picture is. */
  readonly likeness: string;
  readonly make: string;
  readonly model: string;
  /** The permanent id of make, model and body: `vehicle` of another request. */
  readonly vehicle_id: string;
  readonly view: View;
  readonly year: number;
  readonly height?: number | null;
  readonly width?: number | null;
  /** What has its default is left out, from here on. */
  readonly fit?: Fit;
  readonly trim?: boolean | null;
  readonly padding?: number | null;
  readonly background?: Background | null;
  readonly shadow?: Shadow;
  readonly scale?: Scale;
  readonly finish?: Finish;
}

/** One signed address. */
export interface DeliveryUrl {
  readonly expires_at: string;
  readonly id: string;
  /** How like the real vehicle the picture is. */
  readonly likeness: string;
  /** 0: as often as one likes, until it expires. */
  readonly max_uses: number;
  readonly url: string;
  readonly vehicle: VehicleParams;
}

export interface DeviceCodeResponse {
  /** A secret of the device: it polls with this. */
  readonly device_code: string;
  /** Seconds until it is too late. */
  readonly expires_in: number;
  /** Seconds between polls. */
  readonly interval: number;
  /** What the person types, or compares. */
  readonly user_code: string;
  /** Where the person goes. */
  readonly verification_uri: string;
  /** The same, with the code filled in. */
  readonly verification_uri_complete: string;
}

export interface DeviceTokenResponse {
  /** The API key: shown here and never again. */
  readonly access_token: string;
  /** Scopes separated by spaces. */
  readonly scope: string;
  readonly token_type: string;
}

/** The names people know. */
export interface DisplayNames {
  readonly make_name: string;
  readonly model_name: string;
}

export interface EventsResponse {
  /** How many were taken: all of them. */
  readonly accepted: number;
}

/** What was recognised in the words; null where they say nothing. */
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
  /** The render. */
  readonly asset_id: string;
  readonly recorded: boolean;
  /** True when this report put the render into review; else absent. */
  readonly flagged?: boolean | null;
}

export interface FeedbackResponse {
  readonly data: Recorded;
  readonly request_id: string;
}

/** An encoding. */
export interface FormatOption {
  readonly id: Format;
  readonly mime: string;
  /** Whether it keeps the transparent background. */
  readonly transparent: boolean;
}

/** Per cent of the longer side of what `trim` cuts out. */
export interface PaddingOptions {
  readonly max: number;
  readonly min: number;
}

/** What a picture's frame can be. */
export interface FrameOptions {
  /** Beside six hex digits. */
  readonly backgrounds: readonly string[];
  readonly fits: readonly string[];
  readonly padding: PaddingOptions;
  readonly scales: readonly string[];
  readonly shadows: readonly string[];
  /** Whether pictures can be cut to what is seen. */
  readonly trim: boolean;
  /** Millimetres for a pixel of the 1024 px source with `scale: "true"`. */
  readonly true_scale_mm_per_px: number;
}

/** Paints beside the presets. */
export interface PaintOptions {
  /** Of a color that is given without one. */
  readonly default_finish: Finish;
  readonly finishes: readonly string[];
  /** Whether six hex digits are taken for a color. */
  readonly hex: boolean;
}

export interface Health {
  /** Always `ok`: a service that is down does not answer. */
  readonly status: string;
}

/** What this deployment allows. */
export interface LimitOptions {
  readonly delivery_ttl: DeliveryTtl;
  readonly max_batch_urls: number;
  readonly rate_limit_per_minute_default: number;
}

/** What things cost. */
export interface PriceOptions {
  readonly credits_per_dollar: number;
  readonly credits_per_image: number;
  /** What an account starts with. */
  readonly free_credits: number;
  readonly packs: readonly Pack[];
}

/** Sides of the square picture, in pixels. */
export interface SizeOptions {
  /** The largest that can be asked for. */
  readonly max: number;
  readonly presets: Readonly<Record<string, number>>;
  /** What it is made from. */
  readonly source: number;
}

/** A camera. */
export interface ViewOption {
  /** Other names it is taken by. */
  readonly aliases: readonly string[];
  readonly description: string;
  readonly id: View;
  readonly label: string;
  /** Turn of the vehicle; 0 shows its nose, 90 its left side. */
  readonly yaw_degrees: number;
}

/** Everything that can be asked for. */
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

/** What the address cost. */
export interface ImageUrlBilling {
  readonly credits_charged: number;
  readonly credits_remaining: number;
}

/** A signed address in place of the picture. */
export interface SignedImage {
  readonly expires_at: string;
  readonly format: NamedFormat;
  /** Of the picture, in pixels. */
  readonly height: number;
  /** How like the real vehicle the picture is. */
  readonly likeness: string;
  /** 0: as often as one likes, until it expires. */
  readonly max_uses: number;
  readonly url: string;
  readonly vehicle: VehicleParams;
  /** Of the picture, in pixels. */
  readonly width: number;
}

/** The JSON form of an image. */
export interface ImageUrlResponse {
  readonly billing: ImageUrlBilling;
  readonly data: SignedImage;
  readonly request_id: string;
}

/** What the call cost. */
export interface MintBilling {
  /** Always `creation`: loads are free. */
  readonly charged_on: string;
  /** One for each address. */
  readonly credits_charged: number;
  readonly credits_per_url: number;
  readonly credits_remaining: number;
}

/** The addresses, one for each image, in their order. */
export interface ImageUrlsResponse {
  readonly billing: MintBilling;
  readonly data: readonly DeliveryUrl[];
  readonly request_id: string;
}

/** Makes of a year. */
export interface MakeList {
  readonly makes: readonly CatalogMake[];
  readonly year: number;
}

/** Models of a make. */
export interface ModelList {
  readonly make: CatalogMake;
  readonly models: readonly CatalogModel[];
  readonly year?: number | null;
}

/** Neighbouring years of a model whose pictures are equally like the real vehicle. */
export interface LikenessSpan {
  readonly likeness: string;
  readonly year_from: number;
  readonly year_to: number;
}

/** Years in which a model looks the same. */
export interface ShownGeneration {
  /** The one before it with another face. */
  readonly facelift: boolean;
  readonly from: number;
  readonly to: number;
  /** What the makers or people call it, where that is known. */
  readonly name?: string | null;
}

/** A body that a model was sold with. */
export interface OfferedBody {
  readonly body: Body;
  /** Spans of years with one look and one picture, in order of time. */
  readonly generations: readonly ShownGeneration[];
  readonly vehicle_id: string;
  /** Ascending. */
  readonly years: readonly number[];
}

/** Pictures of a view that exist: asked for, they are delivered at once. */
export interface StoredView {
  /** Presets, in the order of their names. */
  readonly colors: readonly string[];
  readonly view: View;
}

/** A vehicle: a body of a model, in all its years. */
export interface VehicleOfId {
  /** Every body that the model was sold with, this one among them. */
  readonly bodies: readonly OfferedBody[];
  readonly body: Body;
  /** Spans of years with one look and one picture, in order of time. */
  readonly generations: readonly ShownGeneration[];
  /** Of the best of its years. */
  readonly likeness: string;
  readonly make: string;
  readonly make_name: string;
  readonly model: string;
  readonly model_name: string;
  /** Views that exist in the newest year. */
  readonly stored: readonly StoredView[];
  readonly vehicle_id: string;
  /** Ascending. */
  readonly years: readonly number[];
}

export interface VehicleResponse {
  readonly data: VehicleOfId;
  readonly request_id: string;
}

/** What a row of `checkVehicles` is. */
export interface CheckedVehicle {
  /** Of the row, from 0. */
  readonly index: number;
  /** `match`; `suggestion`: the nearest vehicle, `reason` says how it differs; `miss`; `invalid`: too little, or wrong. */
  readonly status: string;
  readonly body?: Body;
  /** Of a row with `vin`: what the number says, and how sure that is. */
  readonly decoded?: DecodedVin;
  readonly likeness?: string;
  readonly make?: string | null;
  readonly model?: string | null;
  readonly reason?: string | null;
  /** Views that exist. */
  readonly stored?: readonly StoredView[] | null;
  readonly vehicle_id?: string;
  /** Of a row whose `vin` has a wrong character: the number that was probably meant. */
  readonly vin_suggestion?: string | null;
  readonly year?: number | null;
}

export interface CheckedVehicles {
  /** One for each row, in their order. */
  readonly vehicles: readonly CheckedVehicle[];
}

export interface CheckResponse {
  readonly data: CheckedVehicles;
  readonly request_id: string;
}

/** What an identification number says beside the vehicle. */
export interface DecodedParts {
  /** Names of the parts that were read: make, model, year, body, series, trim, plant_country. */
  readonly parts: readonly string[];
  /** The other year that the number may mean, thirty away, where nothing tells which. */
  readonly other_year?: number | null;
  readonly plant_country?: string | null;
  readonly series?: string | null;
  readonly trim?: string | null;
}

/** The vehicle of an identification number, as far as it says it. */
export interface DecodedVin {
  /** high, medium or low. */
  readonly confidence: string;
  /** `full`, or `make-and-year` where the tables have no more of this maker. */
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

/** Years of a model. */
export interface ModelYearList {
  /** Every body that it was sold with, the usual one of its newest year first. */
  readonly bodies: readonly OfferedBody[];
  /** Looks of its usual body, in order of time. */
  readonly generations: readonly ShownGeneration[];
  /** How like the real vehicle pictures are, year by year, ascending. Years that the model was not built in may lie within a span. */
  readonly likeness: readonly LikenessSpan[];
  readonly make: CatalogMake;
  readonly model: CatalogModel;
  /** Ascending. */
  readonly years: readonly number[];
}

/** Models of a make's id, of a year. */
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

/** Parameters of a picture, in slugs; what the words do not say has its default, or is left out. */
export interface ResolvedParams {
  readonly color: PresetColor;
  readonly make: string;
  readonly model: string;
  readonly view: View;
  readonly year: number;
  /** Where it is not the model's usual one of that year. */
  readonly body?: Body;
  /** png, webp or jpg. */
  readonly format?: string | null;
  /** thumb, small, medium or large. */
  readonly size?: string | null;
  readonly width?: number | null;
}

/** The picture that is meant. */
export interface ResolvedPicture {
  /** The best first, at most eight; the first is the one in `params`. */
  readonly candidates: readonly ResolveCandidate[];
  /** `high`: use `image_path`. `medium` or `low`: show the candidates to somebody. */
  readonly confidence: string;
  readonly display: DisplayNames;
  readonly extracted: ExtractedWords;
  /** Ready to be requested. */
  readonly image_path: string;
  /** How like the real vehicle the picture will be. */
  readonly likeness: string;
  readonly params: ResolvedParams;
  /** Permanent id of make, model and body. */
  readonly vehicle_id: string;
}

export interface ResolveResponse {
  readonly data: ResolvedPicture;
  readonly request_id: string;
}

/** What was found, the best first. */
export interface SearchResults {
  readonly query: string;
  readonly results: readonly CatalogSearchHit[];
  readonly year?: number | null;
}

/** One entry of the ledger. */
export interface StatementLine {
  /** RFC 3339, UTC. */
  readonly at: string;
  /** What all entries up to this one come to. Credits that are on hold are still in it. */
  readonly balance: number;
  /** The entry that a correction gives back: a charge whose answer did not go out. */
  readonly corrects?: string | null;
  /** What it added, or took. A settle takes what was on hold; after a hold entry, in older statements, it is 0. */
  readonly credits: number;
  /** Names the entry; a page that continues this one starts after it. */
  readonly id: string;
  /** grant, purchase, reversal, debit, settle, refund or correction; in older statements also hold and release. */
  readonly kind: string;
  /** The signed address whose credit came back. */
  readonly delivery_url_id?: string | null;
  /** The hold that it settled; in older statements also the one that it opened or released. */
  readonly hold_id?: string | null;
  /** Why, for grants, purchases and reversals; what for, for debits and settles: the vehicle, view and colour. */
  readonly reason?: string | null;
  /** The payment, for purchases and reversals. */
  readonly reference?: string | null;
}

/** A page of the statement, oldest entry first. */
export interface StatementResponse {
  readonly data: readonly StatementLine[];
  readonly request_id: string;
  /** `after` of the next page; null on the last. */
  readonly next_after?: string | null;
}

/** Years of the catalog. */
export interface YearList {
  /** Ascending. */
  readonly years: readonly number[];
}

export type VehicleList = YearList | MakeList | ModelsOfIdList | SearchResults | ModelList | ModelYearList;

/** A part of the catalog: which one follows from the arguments of `getVehicles`. */
export interface VehiclesResponse<Variant extends VehicleList = VehicleList> {
  readonly data: Variant;
  readonly request_id: string;
}

/** A failure (RFC 9457). */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly request_id: string;
  /** Stable, for programs. */
  readonly code: string;
  readonly parameter?: string | null;
  /** Which picture of several was wrong, from 0. */
  readonly index?: number | null;
  readonly balance?: number | null;
  readonly required_credits?: number | null;
  readonly credits_remaining?: number | null;
  readonly links?: Readonly<Record<string, string>> | null;
  readonly monthly_cap_credits?: number | null;
  readonly monthly_cap_spent?: number | null;
  readonly reset_at?: string | null;
}
