/**
 * Errors: a base class, and one for each case for which programs make a decision. `code` tells
 * everything else apart.
 */

import type { Problem } from "./types.js";

export interface Failure {
  readonly code: string;
  readonly detail: string;
  readonly status?: number;
  readonly request_id?: string;
  readonly document?: Partial<Problem> & Readonly<Record<string, unknown>>;
  readonly retry_after_seconds?: number;
  readonly cause?: unknown;
}

/**
 * A request that was refused or failed. `code` is the stable code for programs: the problem
 * document's `code` (or the `error` of a device login); `connection_failed` if no complete answer
 * came; `unexpected_answer` if the answer was not the service's own.
 */
export class CycloramaError extends Error {
  readonly code: string;
  readonly detail: string;
  /** Undefined if no answer came. */
  readonly status: number | undefined;
  /** The id of the request, which the operator of the service needs to find it. */
  readonly request_id: string | undefined;
  /**
   * The whole problem document with `parameter`, `index`, `suggestions` and all other members.
   * Empty if the service sent none.
   */
  readonly document: Partial<Problem> & Readonly<Record<string, unknown>>;
  readonly retry_after_seconds: number | undefined;

  constructor(failure: Failure) {
    const asked = failure.request_id ? `, request ${failure.request_id}` : "";
    super(`${failure.detail} (${failure.code}${asked})`, { cause: failure.cause });
    this.name = new.target.name;
    this.code = failure.code;
    this.detail = failure.detail;
    this.status = failure.status;
    this.request_id = failure.request_id;
    this.document = failure.document ?? {};
    this.retry_after_seconds = failure.retry_after_seconds;
  }

  /** The name of the parameter that was wrong. */
  get parameter(): string | undefined {
    return this.document.parameter ?? undefined;
  }

  /** The position, from 0, of the image that was wrong, in a request for several. */
  get index(): number | undefined {
    return this.document.index ?? undefined;
  }
}

/** 402: a person must buy credits or raise a cap. The client does not repeat the request. */
export class InsufficientCreditsError extends CycloramaError {
  get balance(): number | undefined {
    return this.document.balance ?? undefined;
  }

  get required_credits(): number | undefined {
    return this.document.required_credits ?? undefined;
  }
}

/** 401: the key is missing, wrong or revoked. */
export class UnauthorizedError extends CycloramaError {}

/** 404: the vehicle, image or entry does not exist. */
export class NotFoundError extends CycloramaError {}

/** 429, after all retries. */
export class RateLimitedError extends CycloramaError {}

/** 503 or no connection, after all retries. */
export class UnavailableError extends CycloramaError {}

const CLASSES: Readonly<Record<number, typeof CycloramaError>> = {
  401: UnauthorizedError,
  402: InsufficientCreditsError,
  404: NotFoundError,
  429: RateLimitedError,
  503: UnavailableError,
};

/**
 * Makes an error of an answer. `document` is the body's JSON, or undefined if the body is not JSON.
 * With `isDevicePoll`, a refusal may have the form of RFC 6749.
 */
export function fromAnswer(status: number, headers: Headers, document: unknown, isDevicePoll = false): CycloramaError {
  const members = (typeof document === "object" && document !== null ? document : {}) as Record<string, unknown>;
  const code = codeOf(status, members, isDevicePoll);
  const known = code === undefined ? {} : members;
  return new (CLASSES[status] ?? CycloramaError)({
    code: code ?? "unexpected_answer",
    detail: text(known["detail"]) ?? code ?? `The response has status ${status} and is not a problem document of the service.`,
    status,
    request_id: text(known["request_id"]) ?? headers.get("x-request-id") ?? undefined,
    document: known,
    retry_after_seconds: retryAfter(headers.get("retry-after") ?? "", headers.get("date") ?? ""),
  });
}

const text = (value: unknown) => (typeof value === "string" && value !== "" ? value : undefined);

/**
 * Returns the code of a refusal by the service itself: a problem document has `code`, `request_id`
 * and the answer's `status`; a refused poll of a device login has `error` and `request_id`.
 * Undefined for any other document, because a gateway may answer with JSON of its own.
 */
function codeOf(status: number, members: Record<string, unknown>, isDevicePoll: boolean): string | undefined {
  if (text(members["request_id"]) === undefined) return undefined;
  const code = members["status"] === status ? text(members["code"]) : undefined;
  return code ?? (isDevicePoll ? text(members["error"]) : undefined);
}

/**
 * Returns the seconds to wait, for both forms of the header (RFC 9110, 10.2.3): a number of
 * seconds, or a date. A date is compared with the answer's own `Date` where it has one, so that a
 * client whose clock is wrong waits for the intended time. A date in the past means no wait.
 */
function retryAfter(text: string, date: string): number | undefined {
  if (/^[0-9]+$/.test(text.trim())) return Number(text);
  const until = moment(text);
  if (until === undefined) return undefined;
  return Math.max(0, Math.floor((until - (moment(date) ?? Date.now())) / 1000));
}

/** Returns the milliseconds of an HTTP date, in today's form or one of the two older ones. */
function moment(text: string): number | undefined {
  // `Date.parse` accepts many texts that are not HTTP dates, such as plain numbers. The oldest form
  // does not say that it is in GMT.
  if (!/^(Mon|Tues?|Wed(nes)?|Thu(rs)?|Fri|Sat(ur)?|Sun)(day)?,? /.test(text.trim())) return undefined;
  const written = text.trim().replace(/^[A-Za-z]+,? /, "").replace(/^(\d\d)-(\w{3})-(\d\d) /, "$1 $2 20$3 ");
  const read = Date.parse(written.endsWith("GMT") ? written : `${written} GMT`);
  return Number.isNaN(read) ? undefined : read;
}

export function connectionFailed(cause: unknown): UnavailableError {
  const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
  const words = inner instanceof Error ? inner.message || inner.name : String(inner);
  return new UnavailableError({ code: "connection_failed", detail: `No complete response arrived: ${words}`, cause });
}
