/** What goes wrong. One class, and one for each case that programs decide on; everything else is told apart by `code`. */

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
 * A request that was refused or failed. `code` is stable and for programs: the problem document's `code` (or the `error` of a device
 * login), `connection_failed` when no whole answer came, `unexpected_answer` when it was none of the service's.
 */
export class CycloramaError extends Error {
  readonly code: string;
  readonly detail: string;
  /** Undefined when no answer came. */
  readonly status: number | undefined;
  /** For the operator of the service. */
  readonly request_id: string | undefined;
  /** The whole problem document: `parameter`, `index`, `suggestions` and whatever else it says. Empty when the service sent none. */
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

  /** What was wrong with the request. */
  get parameter(): string | undefined {
    return this.document.parameter ?? undefined;
  }

  /** Which picture of several was wrong, from 0. */
  get index(): number | undefined {
    return this.document.index ?? undefined;
  }
}

/** 402: a person has to buy credits or raise a cap. Never tried again by itself. */
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

/** 404: no such vehicle, picture or entry. */
export class NotFoundError extends CycloramaError {}

/** 429, also after the retries. */
export class RateLimitedError extends CycloramaError {}

/** 503 or no connection, also after the retries. */
export class UnavailableError extends CycloramaError {}

const CLASSES: Readonly<Record<number, typeof CycloramaError>> = {
  401: UnauthorizedError,
  402: InsufficientCreditsError,
  404: NotFoundError,
  429: RateLimitedError,
  503: UnavailableError,
};

/** `document` is the body's JSON, or undefined when it is none. `isDevicePoll`: refusals may have the form of RFC 6749. */
export function fromAnswer(status: number, headers: Headers, document: unknown, isDevicePoll = false): CycloramaError {
  const members = (typeof document === "object" && document !== null ? document : {}) as Record<string, unknown>;
  const code = codeOf(status, members, isDevicePoll);
  const known = code === undefined ? {} : members;
  return new (CLASSES[status] ?? CycloramaError)({
    code: code ?? "unexpected_answer",
    detail: text(known["detail"]) ?? code ?? `The answer has status ${status} and is no problem document of the service.`,
    status,
    request_id: text(known["request_id"]) ?? headers.get("x-request-id") ?? undefined,
    document: known,
    retry_after_seconds: retryAfter(headers.get("retry-after") ?? "", headers.get("date") ?? ""),
  });
}

const text = (value: unknown) => (typeof value === "string" && value !== "" ? value : undefined);

/**
 * The code of the service's own refusal: a problem document has `code`, `request_id` and the answer's `status`, a refused poll of a device
 * login `error` and `request_id`. Undefined for any other document: a gateway may answer with JSON of its own.
 */
function codeOf(status: number, members: Record<string, unknown>, isDevicePoll: boolean): string | undefined {
  if (text(members["request_id"]) === undefined) return undefined;
  const code = members["status"] === status ? text(members["code"]) : undefined;
  return code ?? (isDevicePoll ? text(members["error"]) : undefined);
}

/**
 * Seconds to wait, of both forms that the header has (RFC 9110, 10.2.3): a number of seconds, or a date. A date is read by the answer's own
 * clock where that says its time, so that a client whose clock is wrong waits as long as was meant; one that has passed is no wait.
 */
function retryAfter(text: string, date: string): number | undefined {
  if (/^[0-9]+$/.test(text.trim())) return Number(text);
  const until = moment(text);
  if (until === undefined) return undefined;
  return Math.max(0, Math.floor((until - (moment(date) ?? Date.now())) / 1000));
}

/** Milliseconds of an HTTP date: as it is written today, or in one of the two older forms. */
function moment(text: string): number | undefined {
  // `Date.parse` reads much that is no date of HTTP, such as plain numbers; the oldest form does not say that it is in GMT.
  if (!/^(Mon|Tues?|Wed(nes)?|Thu(rs)?|Fri|Sat(ur)?|Sun)(day)?,? /.test(text.trim())) return undefined;
  const written = text.trim().replace(/^[A-Za-z]+,? /, "").replace(/^(\d\d)-(\w{3})-(\d\d) /, "$1 $2 20$3 ");
  const read = Date.parse(written.endsWith("GMT") ? written : `${written} GMT`);
  return Number.isNaN(read) ? undefined : read;
}

export function connectionFailed(cause: unknown): UnavailableError {
  const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
  const words = inner instanceof Error ? inner.message || inner.name : String(inner);
  return new UnavailableError({ code: "connection_failed", detail: `No whole answer came: ${words}`, cause });
}
