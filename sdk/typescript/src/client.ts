/** The service's operations, one method each. Methods, arguments and results are named as in its API document. */

import { CycloramaError, connectionFailed } from "./errors.js";
import type { Looks } from "./looks.js";
import { type Request, type Retries, Transport, documentOf, expectMediaType, textOf } from "./transport.js";
import type {
  AccountResponse,
  AskedBody,
  AskedYear,
  BatchImageUrlRequest,
  CheckRequest,
  CheckResponse,
  CheckoutRequest,
  CheckoutResponse,
  DeviceCodeRequest,
  DeviceCodeResponse,
  DeviceTokenRequest,
  DeviceTokenResponse,
  EventsRequest,
  EventsResponse,
  FeedbackRequest,
  FeedbackResponse,
  Health,
  ImageOptionsResponse,
  ImageUrlResponse,
  ImageUrlsResponse,
  MakeList,
  ModelList,
  ModelYearList,
  ModelsOfIdList,
  PortalResponse,
  ResolveRequest,
  ResolveResponse,
  SearchResults,
  StatementLine,
  StatementResponse,
  VehicleList,
  VehicleResponse,
  VehiclesResponse,
  VinResponse,
  YearList,
} from "./types.js";

export interface ClientOptions {
  /** The service's address; `CYCLORAMA_URL` when not given. */
  readonly url?: string;
  /** `CYCLORAMA_KEY` when not given. Public operations need none. */
  readonly api_key?: string;
  /** Of one attempt. The first render of a picture may take two minutes. */
  readonly timeout_seconds?: number;
  readonly retries?: Partial<Retries>;
  readonly sleep?: (seconds: number) => Promise<void>;
}

/** A vehicle, by `make` and `model` or by `vehicle`, and how its picture should look. */
export interface Picture extends Looks {
  readonly make?: string;
  readonly model?: string;
  /** A permanent id of make, model and body, in the place of make and model. */
  readonly vehicle?: string;
  readonly year: AskedYear;
  /** The model's usual one when not given. */
  readonly body?: AskedBody;
  readonly w?: number;
  readonly h?: number;
}

export interface Welcome {
  /**
   * What is welcome with `format: "auto"`, such as `image/avif,image/webp`. Anything is welcome without it, which means neither of these,
   * since many a program reads neither: the picture is png, or jpg where a background is given.
   */
  readonly accept?: string;
}

export interface KnownImage {
  /** The validator of a picture at hand. */
  readonly if_none_match?: string;
}

export interface NamedRequest {
  /** What the request is called in feedback and letters to the operator. */
  readonly request_id?: string;
}

export interface IdempotentRequest {
  /** The same key and body again is the same answer for nothing, for a day. A new one is made when not given. */
  readonly idempotency_key?: string;
}

export interface EmbeddedPicture extends Picture {
  readonly mode?: "cached";
  readonly exp?: number;
  readonly sig?: string;
}

export interface Delivery {
  /** A signed address, or its token alone. */
  readonly url: string;
}

export interface CatalogQuery {
  readonly year?: number;
  readonly make_id?: number;
  readonly q?: string;
  readonly limit?: number;
  readonly make?: string;
  readonly model?: string;
}

/** What the headers of a picture say. */
export interface ImageInfo {
  /** False when the picture is the one that `if_none_match` named: then there are no bytes and no charge. */
  readonly modified: boolean;
  readonly request_id: string;
  readonly media_type: string | undefined;
  readonly width: number | undefined;
  readonly height: number | undefined;
  /** Millimetres of the vehicle for a pixel; only where the picture was asked for with `scale: "true"`. */
  readonly scale: number | undefined;
  readonly etag: string | undefined;
  /** `cache` or `generated`. */
  readonly source: string | undefined;
  /** How like the real vehicle it is: `generation`, `model`, `make` or `body`, the closest first. */
  readonly likeness: string | undefined;
  /** How make and model were read: `exact`, `alias` (another name), `trim` (a version was left out) or `prefix`. */
  readonly vehicle_match: string | undefined;
  /** Only of requests with a key. */
  readonly credits_charged: number | undefined;
  readonly credits_remaining: number | undefined;
  readonly content_location: string | undefined;
}

/** A picture whose bytes are read once: by `bytes`, or from `body` as they come. */
export interface CarImage extends ImageInfo {
  readonly body: ReadableStream<Uint8Array>;
  bytes(): Promise<Uint8Array>;
}

/**
 * A client. Every method rejects with `CycloramaError` or one of its subclasses. Requests are sent again after 429 and 503; after a lost
 * connection, and a 503 that is not the service's own, only when that can spend nothing twice.
 */
export class Cyclorama {
  readonly #transport: Transport;
  readonly #sleep: (seconds: number) => Promise<void>;

  constructor(options: ClientOptions = {}) {
    const url = (options.url ?? environment("CYCLORAMA_URL") ?? "").replace(/\/+$/, "");
    if (!/^https?:\/\/./.test(url)) {
      throw new TypeError("Give the service's address as `url` or in CYCLORAMA_URL, such as https://images.example.com");
    }
    this.#sleep = options.sleep ?? ((seconds) => new Promise((done) => setTimeout(done, seconds * 1000)));
    this.#transport = new Transport({
      url,
      api_key: options.api_key ?? environment("CYCLORAMA_KEY"),
      timeout_seconds: options.timeout_seconds ?? 180,
      retries: { attempts: 4, longest_retry_after_seconds: 60, ...options.retries },
      sleep: this.#sleep,
    });
  }

  // --- pictures ----------------------------------------------------------------------------------------------------

  /** A picture, for one credit; free when it is the one that `if_none_match` names. */
  async getCarImage(asked: Picture & KnownImage & NamedRequest & Welcome): Promise<CarImage> {
    return this.#transport.send(pictureRequest("GET", "/api/v1/images/car", asked), carImage);
  }

  /** What `getCarImage` would say, for nothing. Never renders. */
  async headCarImage(asked: Picture & KnownImage & Welcome): Promise<ImageInfo> {
    return this.#transport.send(pictureRequest("HEAD", "/api/v1/images/car", asked), imageInfo);
  }

  /** A signed address of the picture, for one credit, without a key in it. */
  async getCarImageUrl(asked: Picture & NamedRequest): Promise<ImageUrlResponse> {
    const request = pictureRequest("GET", "/api/v1/images/car", asked);
    return this.#json({ ...request, query: { ...request.query, response: "url" } });
  }

  /** Signed addresses of 1 to 50 pictures, for one credit each, all or none; free to load until they expire. */
  async createImageUrls(asked: BatchImageUrlRequest & IdempotentRequest): Promise<ImageUrlsResponse> {
    const { idempotency_key, ...body } = asked;
    return this.#json({ ...post("/api/v1/image-urls", body), ...named(idempotency_key) });
  }

  /** The picture of a signed address, free. */
  async loadDelivery(asked: Delivery & KnownImage & Welcome): Promise<CarImage> {
    // A load may use up an address.
    return this.#transport.send({ ...delivery("GET", asked), repeatable: false }, carImage);
  }

  /** Whether a signed address is good, without using it up. */
  async checkDelivery(asked: Delivery & Welcome): Promise<ImageInfo> {
    return this.#transport.send(delivery("HEAD", asked), imageInfo);
  }

  /** A picture of the legacy endpoint. With `exp` and `sig`, or `mode: "cached"`, it is free; else one credit. */
  async embedCarImage(asked: EmbeddedPicture & KnownImage & Welcome): Promise<CarImage> {
    return this.#transport.send(pictureRequest("GET", "/images/car.png", asked), carImage);
  }

  /** What `embedCarImage` would say, for nothing. Never renders. */
  async headEmbedCarImage(asked: EmbeddedPicture & Welcome): Promise<ImageInfo> {
    return this.#transport.send(pictureRequest("HEAD", "/images/car.png", asked), imageInfo);
  }

  // --- finding vehicles --------------------------------------------------------------------------------------------

  /** What a few words mean. Free; ask a person when `confidence` is not `high`. */
  async resolveImage(asked: ResolveRequest): Promise<ResolveResponse> {
    return this.#json({ ...post("/api/v1/images/resolve", asked), repeatable: true });
  }

  /** The catalog, free: years, makes of a year, models of a make, years of a model, or what a search finds. */
  async getVehicles(asked?: Record<string, never>): Promise<VehiclesResponse<YearList>>;
  async getVehicles(asked: { readonly year: number }): Promise<VehiclesResponse<MakeList>>;
  async getVehicles(asked: { readonly year: number; readonly make_id: number }): Promise<VehiclesResponse<ModelsOfIdList>>;
  async getVehicles(
    asked: { readonly q: string; readonly make?: string; readonly year?: number; readonly limit?: number },
  ): Promise<VehiclesResponse<SearchResults>>;
  async getVehicles(asked: { readonly make: string; readonly year?: number }): Promise<VehiclesResponse<ModelList>>;
  async getVehicles(asked: { readonly make: string; readonly model: string }): Promise<VehiclesResponse<ModelYearList>>;
  async getVehicles(asked: CatalogQuery = {}): Promise<VehiclesResponse<VehicleList>> {
    const { make_id, ...rest } = asked;
    return this.#json(get("/api/v1/vehicles", { ...rest, makeId: make_id }));
  }

  /** A vehicle by its permanent id, free: names, years, bodies, generations, and which pictures exist. */
  async getVehicle(asked: { readonly id: string }): Promise<VehicleResponse> {
    return this.#json(get(`/api/v1/vehicles/${encodeURIComponent(asked.id)}`));
  }

  /** Which of 1 to 100 vehicles there are, and the nearest where there is none. Free, and never a stand-in. */
  async checkVehicles(asked: CheckRequest): Promise<CheckResponse> {
    return this.#json({ ...post("/api/v1/vehicles/check", asked), repeatable: true });
  }

  /** The vehicle of an identification number, free. `year` helps where the number leaves it open. */
  async decodeVin(asked: { readonly vin: string; readonly year?: number }): Promise<VinResponse> {
    return this.#json(get(`/api/v1/vehicles/vin/${encodeURIComponent(asked.vin)}`, { year: asked.year }));
  }

  /** Views, colors, sizes, formats, prices and limits. Free. */
  async getImageOptions(): Promise<ImageOptionsResponse> {
    return this.#json(get("/api/v1/images/options"));
  }

  // --- the account -------------------------------------------------------------------------------------------------

  async getAccount(): Promise<AccountResponse> {
    return this.#json(get("/api/v1/account"));
  }

  /** A page of the account's credits, oldest entry first. */
  async getStatement(asked: { readonly after?: string; readonly limit?: number } = {}): Promise<StatementResponse> {
    return this.#json(get("/api/v1/account/statement", asked));
  }

  /** All of the statement, page after page. */
  async *statementLines(asked: { readonly after?: string } = {}): AsyncGenerator<StatementLine, void> {
    let after: string | null | undefined = asked.after;
    do {
      const page: StatementResponse = await this.getStatement({ after: after ?? undefined });
      yield* page.data;
      after = page.next_after;
    } while (after);
  }

  /** All of the statement as CSV under one heading, in parts of whole lines (of `limit` entries). */
  async *statementCsv(asked: { readonly after?: string; readonly limit?: number } = {}): AsyncGenerator<string, void> {
    let after: string | null | undefined = asked.after;
    let isFirst = true;
    do {
      const request = get("/api/v1/account/statement", { limit: asked.limit, after: after ?? undefined, format: "csv" });
      const page: { text: string; next: string | null } = await this.#transport.send(request, async (answer) => {
        await expectMediaType(answer, "text/csv");
        return { text: await textOf(answer), next: answer.headers.get("x-next-after") };
      });
      yield isFirst ? page.text : page.text.replace(/^.*\n/, "");
      after = page.next;
      isFirst = false;
    } while (after);
  }

  /** Says how good a picture is. */
  async rateImage(asked: FeedbackRequest): Promise<FeedbackResponse> {
    return this.#json(post("/api/v1/feedback", asked));
  }

  /** A page on which a person can buy credits. Making it charges nothing. */
  async createCheckout(asked: CheckoutRequest & IdempotentRequest): Promise<CheckoutResponse> {
    const { idempotency_key, ...body } = asked;
    return this.#json({ ...post("/api/v1/billing/checkout", body), ...named(idempotency_key) });
  }

  /** A page on which a person can look after cards and receipts. */
  async createPortal(): Promise<PortalResponse> {
    return this.#json(post("/api/v1/billing/portal"));
  }

  // --- login of devices --------------------------------------------------------------------------------------------

  /** Begins a login: show `verification_uri_complete` to a person, then `waitForDeviceLogin`. */
  async startDeviceLogin(asked: DeviceCodeRequest = {}): Promise<DeviceCodeResponse> {
    return this.#json(post("/api/auth/device/code", asked));
  }

  /** The key, once, or an error: `authorization_pending`, `slow_down`, `expired_token`. */
  async pollDeviceLogin(asked: DeviceTokenRequest): Promise<DeviceTokenResponse> {
    return this.#json({ ...post("/api/auth/device/token", asked), isDevicePoll: true });
  }

  /** Polls until a person has decided or the login has expired (`expired_token`). */
  async waitForDeviceLogin(started: DeviceCodeResponse): Promise<DeviceTokenResponse> {
    for (;;) {
      try {
        return await this.pollDeviceLogin({ device_code: started.device_code });
      } catch (error) {
        const waits = error instanceof CycloramaError && ["authorization_pending", "slow_down"].includes(error.code);
        if (!waits) throw error;
        await this.#sleep(Math.max(started.interval, error.retry_after_seconds ?? 0));
      }
    }
  }

  // --- the rest ----------------------------------------------------------------------------------------------------

  /** Telemetry: 1 to 20 events. */
  async reportEvents(asked: EventsRequest): Promise<EventsResponse> {
    return this.#json(post("/api/v1/events", asked));
  }

  async getHealth(): Promise<Health> {
    return this.#json(get("/api/health"));
  }

  #json<Result>(request: Request): Promise<Result> {
    return this.#transport.send(request, async (answer) => {
      const document = await documentOf(answer);
      if (typeof document !== "object" || document === null) {
        throw new CycloramaError({ code: "unexpected_answer", detail: "The answer is no JSON document.", status: answer.status });
      }
      return document as Result;
    });
  }
}

function environment(name: string): string | undefined {
  // Pages have no environment.
  return typeof process === "undefined" ? undefined : process.env?.[name];
}

function get(path: string, query: Request["query"] = {}): Request {
  return { method: "GET", path, query, repeatable: true };
}

function post(path: string, body?: unknown): Request {
  return { method: "POST", path, body, repeatable: false };
}

/** Makes a request one that may be sent again. */
function named(idempotency_key: string | undefined): Pick<Request, "headers" | "repeatable"> {
  return { headers: { "idempotency-key": idempotency_key ?? crypto.randomUUID() }, repeatable: true };
}

function pictureRequest(
  method: "GET" | "HEAD",
  path: string,
  asked: EmbeddedPicture & KnownImage & NamedRequest & Welcome,
): Request {
  const { if_none_match, request_id, accept, ...query } = asked;
  const headers = { "if-none-match": if_none_match, "x-request-id": request_id, accept };
  // GET may spend a credit.
  return { method, path, query, headers, repeatable: method === "HEAD" };
}

function delivery(method: "GET" | "HEAD", asked: Delivery & KnownImage & Welcome): Request {
  const token = asked.url.replace(/[?#].*$/, "").split("/").at(-1) ?? "";
  const headers = { "if-none-match": asked.if_none_match, accept: asked.accept };
  return { method, path: `/api/v1/delivery/${encodeURIComponent(token)}`, headers, repeatable: true };
}

/** What the headers of a picture say. 304 has no picture and therefore no type. */
async function imageInfo(answer: Response): Promise<ImageInfo> {
  if (answer.status !== 304) await expectMediaType(answer, "image/*");
  const text = (name: string) => answer.headers.get(name) ?? undefined;
  const number = (name: string) => (/^[0-9]+$/.test(text(name) ?? "") ? Number(text(name)) : undefined);
  const scale = Number.parseFloat(text("x-image-scale") ?? "");
  return {
    modified: answer.status !== 304,
    request_id: text("x-request-id") ?? "",
    media_type: text("content-type"),
    width: number("x-image-width"),
    height: number("x-image-height"),
    scale: Number.isFinite(scale) ? scale : undefined,
    etag: text("etag"),
    source: text("x-image-source"),
    likeness: text("x-vehicle-likeness"),
    vehicle_match: text("x-vehicle-match"),
    credits_charged: number("x-credits-charged"),
    credits_remaining: number("x-credits-remaining"),
    content_location: text("content-location"),
  };
}

async function carImage(answer: Response): Promise<CarImage> {
  const info = await imageInfo(answer);
  const bytes = async () => {
    try {
      return new Uint8Array(await answer.arrayBuffer());
    } catch (cause) {
      throw connectionFailed(cause);
    }
  };
  return { ...info, body: answer.body ?? new Blob([]).stream(), bytes };
}
