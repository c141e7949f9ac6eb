import type { BudgetSubject } from '../kernel/requester.ts';
import type { Environment } from '../kernel/tenant.ts';

/**
 * The classes of requests, the most important first, which is served first when the budget gets short.
 * `money_read`: reads of the merchant's money that this server starts. `lookup`: other lookups after a
 * webhook. `payer`: requests that start a payment. `payer_read`: a payer's reads of a payment. `poll`:
 * polling of payments.
 */
export const UPSTREAM_PRIORITIES = [
  'money',
  'query',
  'money_read',
  'lookup',
  'payer',
  'payer_read',
  'poll',
] as const;
export type UpstreamPriority = (typeof UPSTREAM_PRIORITIES)[number];

/** Whether payers cause the requests of a class, with tokens that anybody may have. */
export function isOfPayers(priority: UpstreamPriority): boolean {
  return priority === 'payer' || priority === 'payer_read';
}

/** The class of a request, its subject, and how long it may wait for its slot. */
export interface RequestOptions {
  readonly priority: UpstreamPriority;
  /** The payers whose share is capped in the classes `payer` and `payer_read`. Other classes ignore it. */
  readonly subject?: BudgetSubject | null;
  /**
   * The longest wait for a slot. The default depends on the class: 10 s for money, 2 s for query and both
   * payer classes, 0 for others.
   */
  readonly waitMs?: number;
}

export interface UpstreamRequest {
  readonly environment: Environment;
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** The path with its query string; its author percent-encodes parts that come from callers. */
  readonly path: `/v1/${string}`;
  /** The body, which is sent as JSON; by default none is sent. */
  readonly body?: unknown;
  readonly requestOptions: RequestOptions;
}

export interface UpstreamAnswer {
  readonly status: number;
  /** The parsed JSON; null if there is none. */
  readonly body: unknown;
  /** The headers, with names in lower case. Repeated headers are joined by commas. */
  readonly headers: Readonly<Record<string, string>>;
  /** The length of the JSON text, in bytes; omitted if it is not known. */
  readonly jsonLength?: number;
}

/** The detail of an answer that is not JSON, such as a proxy's page. */
export const NOT_JSON = 'not JSON';

/** The cause of a fault. */
export type UpstreamFaultKind =
  | 'unreachable'
  | 'timeout'
  | 'reset'
  | 'server_error'
  | 'unreadable'
  | 'circuit_open';

/** The message for each cause, for the operator: without URLs, keys and personal data. */
const MESSAGES: Record<UpstreamFaultKind, string> = {
  unreachable: 'The payments service cannot be reached',
  timeout: 'The payments service did not answer in time',
  reset: 'The connection to the payments service broke before its answer was complete',
  server_error: 'The payments service failed to answer',
  unreadable: 'The answer of the payments service cannot be read',
  circuit_open: 'The payments service is not asked for the moment: it has failed several times in a row',
};

/** A fault: the service did not give an answer. */
export class UpstreamFault extends Error {
  override readonly name = 'UpstreamFault';
  readonly kind: UpstreamFaultKind;
  /**
   * `no`: certainly not processed, because it was never sent (refused connection, no such host, open
   * circuit). `maybe`: a timeout, a reset, a 5xx, an unreadable answer.
   */
  readonly reached: 'no' | 'maybe';
  /** A code of the system or of HTTP, for the log: `ECONNREFUSED`, `502`. */
  readonly detail: string | null;
  constructor(kind: UpstreamFaultKind, reached: 'no' | 'maybe', detail: string | null = null) {
    super(MESSAGES[kind]);
    this.kind = kind;
    this.reached = reached;
    this.detail = detail;
  }
}

export type CircuitState = 'closed' | 'open' | 'half_open';

/** The state of the budget, as this instance last saw it. */
export interface BudgetState {
  /** The requests in a window; null if the budget is switched off. */
  readonly limit: number | null;
  readonly windowMs: number;
  /** The slots held by each class over all instances. */
  readonly used: Readonly<Record<UpstreamPriority, number>>;
  /** The time at which `used` was read; null before the first time. */
  readonly asOf: Date | null;
  /** The end of a block that the service has set; null without a block. */
  readonly blockedUntil: Date | null;
}

/** The state of the service, as this instance knows it. */
export interface UpstreamState {
  /** The circuit that lets the fewest requests through. */
  readonly circuit: CircuitState;
  /** The time of that circuit's last change of state. */
  readonly since: Date;
  /** The circuit of each class. */
  readonly circuits: Readonly<Record<UpstreamPriority, CircuitState>>;
  /** The time of the service's last answer to this instance; null before the first. */
  readonly lastAnswerAt: Date | null;
  /**
   * The instant since which all answers were pages of a proxy, or unreadable; null if the last answer was the
   * service's.
   */
  readonly pagesSince: Date | null;
  /** The environments whose configured key the service has refused, with 401, and not accepted since. */
  readonly refusedKeys: readonly Environment[];
}

/** The service over HTTP, within its budget. */
export interface Upstream {
  /**
   * Sends one request, processed at most once. 2xx, 3xx (never followed) and 4xx but 429 are answers.
   * @throws RateLimitError (no slot in time, or a 429: certainly not processed), UpstreamFault; any other
   * error means that nothing was sent
   */
  send(request: UpstreamRequest): Promise<UpstreamAnswer>;
  /**
   * Sends a GET, and after a fault up to two more, with jitter in between; each takes a slot of the budget.
   * Requests that move money never use it.
   * @throws as `send`
   */
  get(request: Omit<UpstreamRequest, 'method' | 'body'>): Promise<UpstreamAnswer>;
  state(): UpstreamState;
  budget(): BudgetState;
  /** Ends the waiting requests and closes the connections, once the requests under way have ended or timed out. */
  close(): Promise<void>;
}
