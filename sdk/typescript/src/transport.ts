/**
 * Sends one request with its repetitions over `fetch`: which bytes are sent, when they are sent
 * again, and how an answer is read. It knows no operation.
 */

import { CycloramaError, connectionFailed, fromAnswer } from "./errors.js";

const FIRST_WAIT_SECONDS = 0.5;
const LONGEST_WAIT_SECONDS = 20;
/**
 * Maximum number of redirects. A URL that is not in its canonical form is redirected to that; more
 * redirects are a loop.
 */
const REDIRECTS_MAX = 2;
/** Errors of `fetch` in Node.js after which nothing can have reached the service. */
const NOT_SENT = ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "UND_ERR_CONNECT_TIMEOUT"];

/**
 * When a request is sent again: after 429, 503 and a lost connection, never after 402. A request
 * that spends credits and has no idempotency key is sent again only if the service itself has
 * refused it, or if nothing has reached the service.
 */
export interface Retries {
  /** Maximum number of attempts after the first; 0 for none. */
  readonly attempts: number;
  /** A longer `Retry-After` than this is returned to the caller as an error. */
  readonly longest_retry_after_seconds: number;
}

export interface Request {
  readonly method: "GET" | "HEAD" | "POST";
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /**
   * True if the request may be sent again when it is unknown whether it was done: it spends
   * nothing, or has an Idempotency-Key.
   */
  readonly repeatable: boolean;
  /** True if refusals have the form of RFC 6749 instead of a problem document. */
  readonly isDevicePoll?: boolean;
}

export interface TransportOptions {
  readonly url: string;
  readonly api_key: string | undefined;
  readonly timeout_seconds: number;
  readonly retries: Retries;
  readonly sleep: (seconds: number) => Promise<void>;
}

export class Transport {
  readonly #options: TransportOptions;

  constructor(options: TransportOptions) {
    this.#options = options;
  }

  /**
   * Sends the request as often as necessary, and returns the result of `read` for a 2xx or 304
   * answer.
   */
  async send<Result>(request: Request, read: (answer: Response) => Result | Promise<Result>): Promise<Result> {
    const { retries, sleep } = this.#options;
    for (let attempt = 0; ; attempt++) {
      try {
        return await read(await this.#follow(request));
      } catch (error) {
        if (attempt >= retries.attempts || !this.#mayPass(error, request)) throw error;
        // Full jitter, so that clients that failed together do not return together.
        const wait = Math.random() * Math.min(LONGEST_WAIT_SECONDS, FIRST_WAIT_SECONDS * 2 ** attempt);
        await sleep((error.retry_after_seconds ?? 0) + wait);
      }
    }
  }

  #mayPass(error: unknown, request: Request): error is CycloramaError {
    if (!(error instanceof CycloramaError)) return false;
    if ((error.retry_after_seconds ?? 0) > this.#options.retries.longest_retry_after_seconds) return false;
    if (error.code === "connection_failed") return request.repeatable || wasNotSent(error.cause);
    // The first attempt of this very request is still being processed.
    if (error.code === "idempotency_key_in_use") return true;
    // A gateway has answered, so it is unknown whether the service has done the request.
    if (error.code === "unexpected_answer" && !request.repeatable) return false;
    // A device that polls too fast must slow down, and the caller controls how often it polls.
    return (error.status === 429 || error.status === 503) && error.code !== "slow_down";
  }

  async #follow(request: Request): Promise<Response> {
    const target = new URL(this.#options.url + request.path);
    for (const [name, value] of Object.entries(request.query ?? {})) {
      if (value !== undefined) target.searchParams.set(name, String(value));
    }
    let next = target;
    for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects++) {
      const answer = await this.#once(request, next);
      if (answer.status !== 308) return answer;
      await answer.body?.cancel();
      next = new URL(answer.headers.get("location") ?? "", next);
      // The key is sent to no other origin.
      if (next.origin !== target.origin) break;
    }
    throw new CycloramaError({ code: "unexpected_answer", detail: "The response redirects elsewhere.", status: 308 });
  }

  async #once(request: Request, target: URL): Promise<Response> {
    const headers = new Headers();
    for (const [name, value] of Object.entries(request.headers ?? {})) {
      if (value !== undefined) headers.set(name, value);
    }
    if (this.#options.api_key) headers.set("authorization", `Bearer ${this.#options.api_key}`);
    if (request.body !== undefined) headers.set("content-type", "application/json");
    let answer: Response;
    try {
      answer = await fetch(target, {
        method: request.method,
        headers,
        body: request.body === undefined ? null : JSON.stringify(request.body),
        redirect: "manual",
        signal: AbortSignal.timeout(this.#options.timeout_seconds * 1000),
      });
    } catch (cause) {
      throw connectionFailed(cause);
    }
    if (answer.ok || answer.status === 304 || answer.status === 308) return answer;
    throw fromAnswer(answer.status, answer.headers, await documentOf(answer), request.isDevicePoll);
  }
}

/** Yields the body to its last byte, or raises an error. */
export async function textOf(answer: Response): Promise<string> {
  try {
    return await answer.text();
  } catch (cause) {
    throw connectionFailed(cause);
  }
}

/** The body's JSON; undefined if the body is not JSON. */
export async function documentOf(answer: Response): Promise<unknown> {
  const text = await textOf(answer);
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Throws unless the Content-Type is `expected`: a media type, or `image/*` for any image. A proxy
 * in between may answer 200 with a page of its own.
 */
export async function expectMediaType(answer: Response, expected: string): Promise<void> {
  const told = answer.headers.get("content-type") ?? "";
  const mediaType = (told.split(";")[0] ?? "").trim().toLowerCase();
  if (mediaType === expected || (expected.endsWith("/*") && mediaType.startsWith(expected.slice(0, -1)))) return;
  await answer.body?.cancel();
  const detail = `The response is not from the service: its Content-Type is \`${told}\`, not \`${expected}\`.`;
  throw new CycloramaError({ code: "unexpected_answer", detail, status: answer.status });
}

function wasNotSent(cause: unknown): boolean {
  const inner = cause instanceof Error ? cause.cause : undefined;
  const code = inner instanceof Error ? (inner as { code?: unknown }).code : undefined;
  return typeof code === "string" && NOT_SENT.includes(code);
}
