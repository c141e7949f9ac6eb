import { NO_SNIFFING } from '../http/routes.ts';

/** The headers of a response that holds no data of an account. */
export const PUBLIC_HEADERS = {
  [NO_SNIFFING[0]]: NO_SNIFFING[1],
  // Any page may embed the widget; no cookie grants anything, so there is nothing to protect from a page.
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'retry-after, x-error-code, idempotent-replayed, deprecation, sunset',
};

/** The headers of every response to an operation. */
export const RESPONSE_HEADERS = {
  ...PUBLIC_HEADERS,
  // A response is for its caller alone.
  'cache-control': 'no-store',
  // In a frame, a click could run the operation of the address in GraphiQL, with the key that is typed there.
  'x-frame-options': 'DENY',
};
