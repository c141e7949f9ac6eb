/** The texts that all elements of a board have. `{…}` is a placeholder. */
export interface SharedTexts extends OwnTexts {
  connecting: string;
  live: string;
  polling: string;
  reconnecting: string;
  offline: string;
  /** The service behind the server gives nothing newer; `asOf` follows, with the age of what is shown. */
  stale: string;
  /** The service behind the server refuses the server's key. */
  keyRefused: string;
  asOf: string;
  loading: string;
  retry: string;
  network: string;
  server: string;
}

/** The texts in which each element names its own content. */
interface OwnTexts {
  unauthorized: string;
  /** The token is valid, and reads something else. */
  forbidden: string;
  rate_limited: string;
  /** Shown for error codes that only the page's author can resolve. */
  contact: string;
}
