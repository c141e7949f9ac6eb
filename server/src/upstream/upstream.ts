import type { BudgetSubject } from '../kernel/requester.ts';
import type { Environment } from '../kernel/tenant.ts';

/**
 * The classes of requests, the most important first, which is served first when the budget gets short. `money_read`: what
 * this server reads of the merchant's money by itself. `lookup`: other lookups after a webhook. `payer`: what starts a
 * payment. `payer_read`: a payer's look at a payment. `poll`: polling of payments.
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

/** Whether requests of a class are caused by payers, with tokens that anybody may have. */
export function isOfPayers(priority: UpstreamPriority): boolean {
  return priority === 'payer' || priority === 'payer_read';
}

/** The class of a request, its subject, and how long it may wait for its slot. */
export interface RequestOptions {
  readonly priority: UpstreamPriority;
  /** The payers whose share is capped in the classes `payer` and `payer_read`. It means nothing in other classes. */
  readonly subject?: BudgetSubject | null;
  /** The longest wait for a slot. Left out, that of the class: money 10 s, query and both of payers 2 s, others 0. */
  readonly waitMs?: number;
}

export interface UpstreamRequest {
  readonly environment: Environment;
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** The path with its query string; its author percent-encodes parts that come from callers. */
  readonly path: `/v1/${string}`;
  /** The body, sent as JSON; left out, none is sent. */
  readonly body?: unknown;
  readonly requestOptions: RequestOptions;
}

export interface UpstreamAnswer {
  readonly status: number;
  /** The parsed JSON; null where there is none. */
  readonly body: unknown;
  /** The headers, named in lower case; the values of one that came several times are joined by commas. */
  readonly headers: Readonly<Record<string, string>>;
}

/** The detail of an answer that is no JSON, as the page of a proxy. */
export const NOT_JSON = 'not JSON';

/** The cause of a fault. */
export type UpstreamFaultKind =
  | 'unreachable'
  | 'timeout'
  | 'reset'
  | 'server_error'
  | 'unreadable'
  | 'circuit_open';

/** The message of each cause, for the operator: with no URL, no key and no personal data. */
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
   * `no`: certainly not processed, for it was never sent (refused connection, no such host, open circuit). `maybe`: a
   * timeout, a reset, a 5xx, an answer that cannot be read.
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
  /** The requests in a window; null where the budget is switched off. */
  readonly limit: number | null;
  readonly windowMs: number;
  /** The slots held by each class over all instances. */
  readonly used: Readonly<Record<UpstreamPriority, number>>;
  /** The time at which `used` was read; null before the first time. */
  readonly asOf: Date | null;
  /** The end of a block that the service has set; null where it is over. */
  readonly blockedUntil: Date | null;
}

/** The state of the service, as this instance knows it. */
export interface UpstreamState {
  /** The circuit of the class that is asked least. */
  readonly circuit: CircuitState;
  /** The time of that circuit's last change of state. */
  readonly since: Date;
  /** The circuit of each class. */
  readonly circuits: Readonly<Record<UpstreamPriority, CircuitState>>;
  /** The time of the service's last answer to this instance; null before the first. */
  readonly lastAnswerAt: Date | null;
  /**
   * The instant from which on all that came were pages of what stands before the service, or nothing that can be read; null
   * where the last answer was the service's.
   */
  readonly pagesSince: Date | null;
  /** The environments whose configured key the service has refused, with 401, and taken no more since. */
  readonly refusedKeys: readonly Environment[];
}

/** The service over HTTP, within its budget. */
export interface Upstream {
  /**
   * Sends one request, processed at most once. 2xx, 3xx (never followed) and 4xx but 429 are answers.
   * @throws RateLimitError (no slot in time, or a 429: certainly not processed), UpstreamFault; any other error comes
   *   before anything is sent
   */
  send(request: UpstreamRequest): Promise<UpstreamAnswer>;
  /**
   * Sends a GET, and after a fault up to two more, with jitter in between; each takes a slot of the budget. Requests
   * that move money never come here.
   * @throws as `send`
   */
  get(request: Omit<UpstreamRequest, 'method' | 'body'>): Promise<UpstreamAnswer>;
  state(): UpstreamState;
  budget(): BudgetState;
  /** Ends the waiting requests and closes the connections, once the requests under way have ended or timed out. */
  close(): Promise<void>;
}
