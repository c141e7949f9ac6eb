import { RateLimitError } from '../../kernel/errors.ts';
import { HttpError } from './routes.ts';

/** Admits requests without a known credential within the limit of their network. */
export interface Admission {
  /** @throws RateLimitError, at once or later */
  admit(authorization: string | null | undefined, address: string, connection?: object): void | Promise<void>;
}

/** Admits requests to a page whose address is its visitor's only credential. */
export interface PageLimits {
  /** Counts a request. @throws RateLimitError, at once or later */
  take(address: string): void | Promise<void>;
  /** Undoes the count of a request whose page exists. */
  putBack(address: string): void;
  /** Counts a form. @throws RateLimitError, at once or later */
  takeForm(address: string): void | Promise<void>;
}

/** Turns the refusal of a limit into a response with 429; returns any other error unchanged. */
export function asTooMany(error: unknown): unknown {
  if (!(error instanceof RateLimitError)) return error;
  return new HttpError(429, error.message, { 'retry-after': String(error.retryAfterSeconds) });
}
