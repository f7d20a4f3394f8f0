/**
 * The client, with one method for each operation of the service. Methods, arguments and results are
 * named as in its API document.
 */

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
  /** The service's URL; `CYCLORAMA_URL` if not given. */
  readonly url?: string;
  /** The API key; `CYCLORAMA_KEY` if not given. Public operations need none. */
  readonly api_key?: string;
  /** Time limit of one attempt. The first render of an image may take two minutes. */
  readonly timeout_seconds?: number;
  readonly retries?: Partial<Retries>;
  readonly sleep?: (seconds: number) => Promise<void>;
}

/** A vehicle, by `make` and `model` or by `vehicle`, and the parameters of its image. */
export interface Picture extends Looks {
  readonly make?: string;
  readonly model?: string;
  /** A permanent id of make, model and body, in place of `make` and `model`. */
  readonly vehicle?: string;
  readonly year: AskedYear;
  /** The model's usual body if not given. */
  readonly body?: AskedBody;
  readonly w?: number;
  readonly h?: number;
}

export interface Welcome {
  /**
   * The acceptable media types for `format: "auto"`, such as `image/avif,image/webp`. Without it
   * the service selects neither of these, because many programs read neither: the image is png, or
   * jpg if a background is given.
   */
  readonly accept?: string;
}

export interface KnownImage {
  /** The `ETag` of an image that the caller has. */
  readonly if_none_match?: string;
}

export interface NamedRequest {
  /** The id of the request, for feedback and for emails to the operator. */
  readonly request_id?: string;
}

export interface IdempotentRequest {
  /**
   * A request with the same key and body gets the same answer again for free, for a day. A new key
   * is made if not given.
   */
  readonly idempotency_key?: string;
}

export interface EmbeddedPicture extends Picture {
  readonly mode?: "cached";
  readonly exp?: number;
  readonly sig?: string;
}

export interface Delivery {
  /** A signed URL, or its token alone. */
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

/** The values in the headers of an image's answer. */
export interface ImageInfo {
  /**
   * False if the image is still the one that `if_none_match` named. Then there are no bytes and no
   * charge.
   */
  readonly modified: boolean;
  readonly request_id: string;
  readonly media_type: string | undefined;
  readonly width: number | undefined;
  readonly height: number | undefined;
  /**
   * Millimetres of the vehicle for a pixel; only if the image was requested with `scale: "true"`.
   */
  readonly scale: number | undefined;
  readonly etag: string | undefined;
  /** `cache` or `generated`. */
  readonly source: string | undefined;
  /**
   * Likeness of the image to the real vehicle: `generation`, `model`, `make` or `body`, the
   * closest first.
   */
  readonly likeness: string | undefined;
  /**
   * The way in which make and model were read: `exact`, `alias` (another name), `trim` (a version
   * was left out) or `prefix` (the beginning of one name).
   */
  readonly vehicle_match: string | undefined;
  /** Only present for requests with a key. */
  readonly credits_charged: number | undefined;
  readonly credits_remaining: number | undefined;
  readonly content_location: string | undefined;
}

/** An image whose bytes can be read once: by `bytes`, or from `body` as a stream. */
export interface CarImage extends ImageInfo {
  readonly body: ReadableStream<Uint8Array>;
  bytes(): Promise<Uint8Array>;
}

/**
 * A client of the service. Every method rejects with `CycloramaError` or one of its subclasses. The
 * client sends a request again after 429 and 503. After a lost connection, or a 503 that does not
 * come from the service itself, it does so only if no credit can be spent twice.
 */
export class Cyclorama {
  readonly #transport: Transport;
  readonly #sleep: (seconds: number) => Promise<void>;

  constructor(options: ClientOptions = {}) {
    const url = (options.url ?? environment("CYCLORAMA_URL") ?? "").replace(/\/+$/, "");
    if (!/^https?:\/\/./.test(url)) {
      throw new TypeError("Give the URL of the service as `url` or in CYCLORAMA_URL, such as https://images.example.com");
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

  // --- images ------------------------------------------------------------------------------------

  /**
   * Returns an image, for one credit. It is free if it is still the one that `if_none_match` names.
   */
  async getCarImage(asked: Picture & KnownImage & NamedRequest & Welcome): Promise<CarImage> {
    return this.#transport.send(pictureRequest("GET", "/api/v1/images/car", asked), carImage);
  }

  /** Returns the headers that `getCarImage` would return. Free; never renders. */
  async headCarImage(asked: Picture & KnownImage & Welcome): Promise<ImageInfo> {
    return this.#transport.send(pictureRequest("HEAD", "/api/v1/images/car", asked), imageInfo);
  }

  /** Creates a signed URL of the image, for one credit. The URL does not contain the key. */
  async getCarImageUrl(asked: Picture & NamedRequest): Promise<ImageUrlResponse> {
    const request = pictureRequest("GET", "/api/v1/images/car", asked);
    return this.#json({ ...request, query: { ...request.query, response: "url" } });
  }

  /**
   * Creates signed URLs of 1 to 50 images, for one credit each; either all are created or none.
   * Loading them is free until they expire.
   */
  async createImageUrls(asked: BatchImageUrlRequest & IdempotentRequest): Promise<ImageUrlsResponse> {
    const { idempotency_key, ...body } = asked;
    return this.#json({ ...post("/api/v1/image-urls", body), ...named(idempotency_key) });
  }

  /** Loads the image of a signed URL. Free. */
  async loadDelivery(asked: Delivery & KnownImage & Welcome): Promise<CarImage> {
    // A load may use up a signed URL, so it must not be repeated.
    return this.#transport.send({ ...delivery("GET", asked), repeatable: false }, carImage);
  }

  /** Checks that a signed URL is valid, without using up one of its loads. */
  async checkDelivery(asked: Delivery & Welcome): Promise<ImageInfo> {
    return this.#transport.send(delivery("HEAD", asked), imageInfo);
  }

  /**
   * Returns an image of the legacy endpoint. With `exp` and `sig`, or with `mode: "cached"`, it is
   * free; else it costs one credit.
   */
  async embedCarImage(asked: EmbeddedPicture & KnownImage & Welcome): Promise<CarImage> {
    return this.#transport.send(pictureRequest("GET", "/images/car.png", asked), carImage);
  }

  /** Returns the headers that `embedCarImage` would return. Free; never renders. */
  async headEmbedCarImage(asked: EmbeddedPicture & Welcome): Promise<ImageInfo> {
    return this.#transport.send(pictureRequest("HEAD", "/images/car.png", asked), imageInfo);
  }

  // --- finding vehicles --------------------------------------------------------------------------

  /**
   * Returns the vehicle and image that a few words mean. Free. Let a person decide when
   * `confidence` is not `high`.
   */
  async resolveImage(asked: ResolveRequest): Promise<ResolveResponse> {
    return this.#json({ ...post("/api/v1/images/resolve", asked), repeatable: true });
  }

  /**
   * Returns a part of the catalog: years, makes of a year, models of a make, years of a model, or
   * the results of a search. Free.
   */
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

  /**
   * Returns a vehicle by its permanent id: names, years, bodies, generations, and the images that
   * are stored. Free.
   */
  async getVehicle(asked: { readonly id: string }): Promise<VehicleResponse> {
    return this.#json(get(`/api/v1/vehicles/${encodeURIComponent(asked.id)}`));
  }

  /**
   * Checks 1 to 100 vehicles against the catalog, and returns the nearest vehicle for each that it
   * does not have. A nearest vehicle is marked as a suggestion, never as a match. Free.
   */
  async checkVehicles(asked: CheckRequest): Promise<CheckResponse> {
    return this.#json({ ...post("/api/v1/vehicles/check", asked), repeatable: true });
  }

  /**
   * Returns the vehicle of a vehicle identification number (VIN). `year` helps where the number
   * leaves the model year open. Free.
   */
  async decodeVin(asked: { readonly vin: string; readonly year?: number }): Promise<VinResponse> {
    return this.#json(get(`/api/v1/vehicles/vin/${encodeURIComponent(asked.vin)}`, { year: asked.year }));
  }

  /** Returns views, colors, sizes, formats, prices and limits. Free. */
  async getImageOptions(): Promise<ImageOptionsResponse> {
    return this.#json(get("/api/v1/images/options"));
  }

  // --- account -----------------------------------------------------------------------------------

  async getAccount(): Promise<AccountResponse> {
    return this.#json(get("/api/v1/account"));
  }

  /** Returns one page of the account's statement, oldest entry first. */
  async getStatement(asked: { readonly after?: string; readonly limit?: number } = {}): Promise<StatementResponse> {
    return this.#json(get("/api/v1/account/statement", asked));
  }

  /** Yields the entries of the statement to its end. Pages are requested as they are needed. */
  async *statementLines(asked: { readonly after?: string } = {}): AsyncGenerator<StatementLine, void> {
    let after: string | null | undefined = asked.after;
    do {
      const page: StatementResponse = await this.getStatement({ after: after ?? undefined });
      yield* page.data;
      after = page.next_after;
    } while (after);
  }

  /**
   * Yields the statement as CSV to its end: a heading, then parts of whole lines (`limit` entries
   * each).
   */
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

  /** Sends feedback about an image. */
  async rateImage(asked: FeedbackRequest): Promise<FeedbackResponse> {
    return this.#json(post("/api/v1/feedback", asked));
  }

  /** Creates a page on which a person can buy credits. Creating it is free. */
  async createCheckout(asked: CheckoutRequest & IdempotentRequest): Promise<CheckoutResponse> {
    const { idempotency_key, ...body } = asked;
    return this.#json({ ...post("/api/v1/billing/checkout", body), ...named(idempotency_key) });
  }

  /** Creates a page on which a person can manage cards and receipts. */
  async createPortal(): Promise<PortalResponse> {
    return this.#json(post("/api/v1/billing/portal"));
  }

  // --- device login ------------------------------------------------------------------------------

  /**
   * Begins a login. Show `verification_uri_complete` to a person, then call `waitForDeviceLogin`.
   */
  async startDeviceLogin(asked: DeviceCodeRequest = {}): Promise<DeviceCodeResponse> {
    return this.#json(post("/api/auth/device/code", asked));
  }

  /**
   * Polls once and returns the API key, which the service sends only once. Until then the error's
   * code is `authorization_pending`, `slow_down` or `expired_token`.
   */
  async pollDeviceLogin(asked: DeviceTokenRequest): Promise<DeviceTokenResponse> {
    return this.#json({ ...post("/api/auth/device/token", asked), isDevicePoll: true });
  }

  /** Polls until a person has approved or denied the login, or it has expired (`expired_token`). */
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

  // --- other operations --------------------------------------------------------------------------

  /** Reports 1 to 20 telemetry events. */
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
        throw new CycloramaError({ code: "unexpected_answer", detail: "The response is not a JSON document.", status: answer.status });
      }
      return document as Result;
    });
  }
}

function environment(name: string): string | undefined {
  // Web pages have no environment variables.
  return typeof process === "undefined" ? undefined : process.env?.[name];
}

function get(path: string, query: Request["query"] = {}): Request {
  return { method: "GET", path, query, repeatable: true };
}

function post(path: string, body?: unknown): Request {
  return { method: "POST", path, body, repeatable: false };
}

/** Adds an idempotency key, so that the request may be sent again. */
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
  // A GET request may spend a credit.
  return { method, path, query, headers, repeatable: method === "HEAD" };
}

function delivery(method: "GET" | "HEAD", asked: Delivery & KnownImage & Welcome): Request {
  const token = asked.url.replace(/[?#].*$/, "").split("/").at(-1) ?? "";
  const headers = { "if-none-match": asked.if_none_match, accept: asked.accept };
  return { method, path: `/api/v1/delivery/${encodeURIComponent(token)}`, headers, repeatable: true };
}

/** Reads the headers of an image's answer. A 304 answer has no image and therefore no type. */
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
