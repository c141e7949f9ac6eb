/** The texts of the controls of the filter's conditions, whose chunk has them in Portuguese. */
export interface ControlTexts {
  search: string;
  searchHint: string;
  /** The merchant's own number of a payout. */
  externalId: string;
  amountBrl: string;
  requestedFrom: string;
  requestedUntil: string;
  method: string;
  apply: string;
  clear: string;
  invalidSearch: string;
  invalidNumber: string;
  invalidAmount: string;
  invalidDate: string;
  invalidPeriod: string;
  /** Shown if the server does not accept the condition, like one in front of another service. */
  filterRefused: string;
}

/** The texts of the table. `{…}` is a placeholder. */
export interface Texts extends TableTexts, ControlTexts {}

/** The texts of the first file. */
export interface TableTexts {
  /** The table's accessible name. */
  payouts: string;
  filter: string;
  /** The button that opens the controls of further conditions, and their name. */
  moreFilters: string;
  all: string;
  PENDING: string;
  PROCESSING: string;
  COMPLETED: string;
  DENIED: string;
  RETURNED: string;
  UNKNOWN: string;
  pendingHint: string;
  processingHint: string;
  deniedHint: string;
  status: string;
  amount: string;
  destination: string;
  code: string;
  requested: string;
  fee: string;
  connecting: string;
  live: string;
  polling: string;
  reconnecting: string;
  offline: string;
  /** The service behind the server gives nothing newer; `asOf` follows, with the age of the rows. */
  stale: string;
  /** The service behind the server refuses the server's key. */
  keyRefused: string;
  asOf: string;
  newOne: string;
  newMany: string;
  empty: string;
  emptyFiltered: string;
  loading: string;
  countOne: string;
  count: string;
  countOf: string;
  sortedOf: string;
  loadAll: string;
  moreFailed: string;
  retry: string;
  announceNew: string;
  announceChange: string;
  announceMany: string;
  unauthorized: string;
  network: string;
  server: string;
  rate_limited: string;
  /** Shown for error codes that only the page's author can resolve. */
  contact: string;
}
