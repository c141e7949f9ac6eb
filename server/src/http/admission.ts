import { RateLimitError } from '../kernel/errors.ts';
import { HttpError } from './routes.ts';

/** Lets a request in, as far as the limit of its network on requests without a known credential goes. */
export interface Admission {
  /** @throws RateLimitError, at once or later */
  admit(authorization: string | null | undefined, address: string, connection?: object): void | Promise<void>;
}

/** The same for a page whose address is its visitor's only credential. */
export interface PageLimits {
  /** Counts a request until it is known that its page exists. @throws RateLimitError, at once or later */
  take(address: string): void | Promise<void>;
  putBack(address: string): void;
  /** Counts a form. @throws RateLimitError, at once or later */
  takeForm(address: string): void | Promise<void>;
}

/** A refusal by a limit, as HTTP says it; any other error as it is. */
export function asTooMany(error: unknown): unknown {
  if (!(error instanceof RateLimitError)) return error;
  return new HttpError(429, error.message, { 'retry-after': String(error.retryAfterSeconds) });
}
