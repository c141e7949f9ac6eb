import type { Environment } from '../kernel/tenant.ts';

/** What a request is for, the most important first: who comes first when the budget gets short. */
export const UPSTREAM_PRIORITIES = ['money', 'query', 'lookup', 'payer', 'poll'] as const;
export type UpstreamPriority = (typeof UPSTREAM_PRIORITIES)[number];

/** On whose behalf a request goes, and how long it may wait for its turn. */
export interface RequestOptions {
  readonly priority: UpstreamPriority;
  /** Whose share is capped within the class `payer`: a token's id. Elsewhere it means nothing. */
  readonly subject?: string | null;
  /** Left out, what its class waits: money 10 s, query and payer 2 s, lookup and poll not at all. */
  readonly waitMs?: number;
}

export interface UpstreamRequest {
  readonly environment: Environment;
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** With its query string; parts from callers are percent-encoded by whoever puts them in. */
  readonly path: `/v1/${string}`;
  /** Sent as JSON; left out, none is sent. */
  readonly body?: unknown;
  readonly requestOptions: RequestOptions;
}

export interface UpstreamAnswer {
  readonly status: number;
  /** Parsed JSON; null where there is none. */
  readonly body: unknown;
  /** Names in lower case; of a header that came several times the values are joined by commas. */
  readonly headers: Readonly<Record<string, string>>;
}

/** What kept the service from answering. */
export type UpstreamFaultKind =
  | 'unreachable'
  | 'timeout'
  | 'reset'
  | 'server_error'
  | 'unreadable'
  | 'circuit_open';

/** What an operator is told of it; no URL, no key and nobody's data is in here. */
const IN_WORDS: Record<UpstreamFaultKind, string> = {
  unreachable: 'The payments service cannot be reached',
  timeout: 'The payments service did not answer in time',
  reset: 'The connection to the payments service broke before its answer was complete',
  server_error: 'The payments service failed to answer',
  unreadable: 'The answer of the payments service cannot be read',
  circuit_open: 'The payments service is not asked for the moment: it has failed several times in a row',
};

/** The service did not give an answer. */
export class UpstreamFault extends Error {
  override readonly name = 'UpstreamFault';
  readonly kind: UpstreamFaultKind;
  /**
   * `no`: certainly not processed, for it was never sent (refused connection, no such host, open circuit). `maybe`: a
   * timeout, a reset, a 5xx, an answer that cannot be read.
   */
  readonly reached: 'no' | 'maybe';
  /** Of the system or of HTTP, for the log: `ECONNREFUSED`, `502`. */
  readonly detail: string | null;
  constructor(kind: UpstreamFaultKind, reached: 'no' | 'maybe', detail: string | null = null) {
    super(IN_WORDS[kind]);
    this.kind = kind;
    this.reached = reached;
    this.detail = detail;
  }
}

export type CircuitState = 'closed' | 'open' | 'half_open';

/** How the budget stands, as this instance last saw it. */
export interface BudgetState {
  /** Requests a window; null where the budget is switched off. */
  readonly limit: number | null;
  readonly windowMs: number;
  /** Slots held by each class over all instances. */
  readonly used: Readonly<Record<UpstreamPriority, number>>;
  /** When `used` was read; null before the first time. */
  readonly asOf: Date | null;
  /** Until when nothing is sent, because the service said so; null where that is over. */
  readonly blockedUntil: Date | null;
}

export interface UpstreamState {
  readonly circuit: CircuitState;
  /** When the circuit came into this state. */
  readonly since: Date;
  /** When the service last answered this instance; null before the first time. */
  readonly lastAnswerAt: Date | null;
  readonly budget: BudgetState;
  /** The same as the budget's. */
  readonly blockedUntil: Date | null;
}

/** The service over HTTP, within its budget. */
export interface Upstream {
  /**
   * One request, processed at most once. 2xx, 3xx (never followed) and 4xx but 429 are answers.
   * @throws RateLimitError (no slot in time, or a 429: certainly not processed), UpstreamFault; any other error comes
   * before anything is sent
   */
  send(request: UpstreamRequest): Promise<UpstreamAnswer>;
  /**
   * A GET, which up to two more follow after a fault, with jitter in between; each takes a slot of the budget. What
   * moves money never comes here.
   * @throws as `send`
   */
  get(request: Omit<UpstreamRequest, 'method' | 'body'>): Promise<UpstreamAnswer>;
  state(): UpstreamState;
  /** Ends what waits for its turn and closes the connections, once what is under way has ended or timed out. */
  close(): Promise<void>;
}
