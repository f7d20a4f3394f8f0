/** Client of Cyclorama, an open vehicle image service. Start with the class `Cyclorama`. */

export * from "./client.js";
export {
  CycloramaError,
  InsufficientCreditsError,
  NotFoundError,
  RateLimitedError,
  UnauthorizedError,
  UnavailableError,
} from "./errors.js";
export * from "./html.js";
export type { Looks } from "./looks.js";
export * from "./partner-urls.js";
export type { Retries } from "./transport.js";
export type * from "./types.js";
