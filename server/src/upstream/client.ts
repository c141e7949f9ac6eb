import { type Clock, plusMs } from '../kernel/clock.ts';
import { RateLimitError } from '../kernel/errors.ts';
import type { Environment } from '../kernel/tenant.ts';
import { traceparent, withSpan } from '../kernel/traces.ts';
import { createBreaker } from './breaker.ts';
import type { Budget } from './budget/budget.ts';
import { endpointOf, sourceOf } from './endpoint-availability.ts';
import { readExhaustion, readRefusal, secondsOf, serviceLimit } from './rate-limits.ts';
import { requestedPage } from './requested-page.ts';
import { isNotImplemented, isSuccess } from './responses.ts';
import { createRedaction, type Redaction, withoutWords } from './secrets.ts';
import type { ServiceClock } from './service-clock.ts';
import { ACCEPT_ENCODING, createTransport, type WireAnswer } from './transport.ts';
import {
  isOfPayers,
  NOT_JSON,
  type RequestOptions,
  type Upstream,
  type UpstreamAnswer,
  UpstreamFault,
  type UpstreamFaultKind,
  type UpstreamPriority,
  type UpstreamRequest,
} from './upstream.ts';

/** The longest wait for a slot, by class, unless a request's options name another. */
const WAIT_MS: Readonly<Record<UpstreamPriority, number>> = {
  money: 10_000,
  query: 2_000,
  money_read: 0,
  lookup: 0,
  payer: 2_000,
  payer_read: 2_000,
  poll: 0,
};
const CONNECT_MS = 5_000;
const READ_MS = 10_000;
const WRITE_MS = 15_000;
/**
 * The faults after which a read is retried. A timeout is not among them, because its caller has waited for
 * ten seconds already. Nor is an unreadable answer, because the next would be no different.
 */
const RETRIED_FAULTS: ReadonlySet<UpstreamFaultKind> = new Set(['unreachable', 'reset', 'server_error']);
const RETRIES = 2;
const RETRY_PAUSE_MS = 200;

/** The outcome of a request, for the metrics. */
export type UpstreamOutcome = 'answered' | 'rate_limited' | 'no_slot' | UpstreamFaultKind;

export interface UpstreamTimeouts {
  readonly connectMs: number;
  /** The time from the slot to the last byte of the answer to a GET. */
  readonly readMs: number;
  /** The time from the slot to the last byte of the answer to any other method. */
  readonly writeMs: number;
}

export function createUpstream({
  url,
  keys,
  budget,
  clock,
  timeouts: { connectMs = CONNECT_MS, readMs = READ_MS, writeMs = WRITE_MS } = {},
  redaction = createRedaction(Object.values(keys)),
  random = Math.random,
  serviceClock,
  onOutcome,
  onTurn,
  onFault,
}: {
  /** The base URL, under which `/v1` is; it may have a path. */
  url: string;
  /** The merchant's keys at the service. An environment without a key has no requests. */
  keys: Readonly<Partial<Record<Environment, string>>>;
  /** The budget, which is closed with the client. */
  budget: Budget;
  clock: Clock;
  timeouts?: Partial<UpstreamTimeouts>;
  /** Removes the secrets from the service's answers. */
  redaction?: Redaction;
  random?: () => number;
  /** Measures the service's clock by each answer. */
  serviceClock?: ServiceClock;
  /** Counts each request and its outcome. `seconds` since it was sent; null if it never was. */
  onOutcome?: (
    priority: UpstreamPriority,
    outcome: UpstreamOutcome,
    seconds: number | null,
    endpoint: string,
  ) => void;
  /** Measures the wait of each request for its slot. */
  onTurn?: (priority: UpstreamPriority, seconds: number) => void;
  /** Reports a fault that no caller sees. */
  onFault: (error: unknown) => void;
}): Upstream {
  const { origin, pathname } = new URL(url);
  const base = pathname.replace(/\/+$/, '');
  const transport = createTransport({ origin, clock, connectMs });
  const breaker = createBreaker({ clock, random });
  /** The number of requests, and of blocks that are being written. */
  let inFlight = 0;
  let whenIdle: (() => void) | null = null;
  const pauses = new Set<() => void>();
  let lastAnswerAt: Date | null = null;
  /**
   * The instant since which every answer was a page of a proxy instead of the service's own; null if the last
   * was its own.
   */
  let pagesSince: Date | null = null;
  /** The environments whose key was refused in the last answer. */
  const refusedKeys = new Set<Environment>();
  let closed = false;
  let closing: Promise<void> | null = null;

  /**
   * Takes a slot and passes the circuit breaker.
   * @throws RateLimitError, UpstreamFault, errors of the database
   */
  async function admit(
    { priority, subject = null }: RequestOptions,
    { waitMs, endpoint }: { waitMs: number; endpoint: string },
  ) {
    try {
      breaker.check({ priority, subject });
      const requestedAt = clock.ms();
      const slot = await budget.take({ priority, subject, waitMs });
      onTurn?.(priority, (clock.ms() - requestedAt) / 1_000);
      try {
        if (closed) throw new UpstreamFault('unreachable', 'no', 'closed');
        return { slot, settle: breaker.begin({ priority, subject }) };
      } catch (fault) {
        slot.end('not_sent');
        throw fault;
      }
    } catch (error) {
      if (error instanceof RateLimitError) onOutcome?.(priority, 'no_slot', null, endpoint);
      else if (error instanceof UpstreamFault) onOutcome?.(priority, error.kind, null, endpoint);
      throw error;
    }
  }

  /** Sends a request once, with a slot of its own. @throws as `admit` */
  function sendOnce(request: UpstreamRequest, body: string | null, waitMs: number): Promise<UpstreamAnswer> {
    const endpoint = endpointOf(request);
    return withSpan(
      endpoint,
      { 'http.request.method': request.method, 'psa.class': request.requestOptions.priority },
      async (span) => {
        const { slot, settle } = await admit(request.requestOptions, { waitMs, endpoint });
        const answer = await exchange(request, body, { slot, settle, endpoint });
        span.set({ 'http.response.status_code': answer.status });
        return answer;
      },
      'client',
    );
  }

  async function exchange(
    request: UpstreamRequest,
    body: string | null,
    { slot, settle, endpoint }: Awaited<ReturnType<typeof admit>> & { endpoint: string },
  ): Promise<UpstreamAnswer> {
    const sentAt = clock.now();
    const report = (outcome: UpstreamOutcome) =>
      onOutcome?.(
        request.requestOptions.priority,
        outcome,
        (clock.ms() - sentAt.getTime()) / 1_000,
        endpoint,
      );
    try {
      const whole = await transport.exchange({
        method: request.method,
        path: base + request.path,
        headers: headersOf(request),
        body,
        deadline: plusMs(sentAt, request.method === 'GET' ? readMs : writeMs),
        sendBy: slot.sendBy,
      });
      slot.end('answered');
      const answer = readAnswer(whole, redaction);
      settle('answered');
      const isEmpty = answer.status < 400 && answer.body === null;
      if (isEmpty || sourceOf(endpoint, answer) === 'proxy') pagesSince ??= clock.now();
      else {
        lastAnswerAt = clock.now();
        pagesSince = null;
        serviceClock?.note(answer);
      }
      if (answer.status === 401) refusedKeys.add(request.environment);
      else if (isSuccess(answer)) refusedKeys.delete(request.environment);
      report(answer.status === 429 ? 'rate_limited' : 'answered');
      return answer;
    } catch (error) {
      const fault = error as UpstreamFault;
      slot.end(fault.reached === 'no' ? 'not_sent' : 'broken_off');
      if (fault.kind === 'unreadable') pagesSince ??= clock.now();
      // A missing endpoint says nothing against other endpoints.
      if (fault.kind === 'unreadable' || isNotImplemented(fault)) settle('answered');
      else settle(fault.kind === 'unreachable' ? 'not_reached' : 'failed');
      report(fault.kind);
      throw fault;
    }
  }

  function headersOf({ environment, body }: UpstreamRequest): Record<string, string> {
    const parent = traceparent();
    return {
      authorization: `Bearer ${keys[environment]}`,
      accept: 'application/json',
      'accept-encoding': ACCEPT_ENCODING,
      'user-agent': 'PSA/1',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(parent === null ? {} : { traceparent: parent }),
    };
  }

  /** Sends a request, and again after each 429 for the window's limit, within its wait. @throws as `send` */
  async function sendRetrying429(request: UpstreamRequest): Promise<UpstreamAnswer> {
    const { priority, waitMs = WAIT_MS[priority] } = request.requestOptions;
    const body = request.body === undefined ? null : JSON.stringify(request.body, withoutNulls);
    const waitUntilMs = clock.ms() + waitMs;
    const { windowMs } = budget;
    for (;;) {
      const answer = await sendOnce(request, body, Math.max(0, waitUntilMs - clock.ms()));
      if (answer.status !== 429) {
        const ms = readExhaustion(answer.headers, windowMs);
        if (ms !== null && ms > 0) void track(budget.block(ms).catch(onFault));
        return answer;
      }
      const refusal = readRefusal(answer.headers, { now: clock.now(), windowMs });
      if (refusal.scope === 'operation')
        throw serviceLimit('a limit of the payments service on this operation', secondsOf(refusal.ms));
      // A refused request was certainly not processed: it is sent again with another slot, when the block is
      // over.
      await budget.block(refusal.ms).catch((error) => {
        onFault(error);
        throw serviceLimit('requests to the payments service', secondsOf(refusal.ms));
      });
    }
  }

  /** Waits for work, and `close` waits for it too. */
  async function track<Result>(work: Promise<Result>): Promise<Result> {
    inFlight += 1;
    try {
      return await work;
    } finally {
      inFlight -= 1;
      if (inFlight === 0) whenIdle?.();
    }
  }

  async function send(request: UpstreamRequest): Promise<UpstreamAnswer> {
    assertPath(request.path);
    if (!keys[request.environment])
      throw new Error(`There is no key of the payments service for ${request.environment}`);
    if (closed) throw new UpstreamFault('unreachable', 'no', 'closed');
    const answer = await track(sendRetrying429(request));
    // A merchant may share this read: `reads` removes what payers must not see when it returns the answer to
    // one.
    const isOfPayer = isOfPayers(request.requestOptions.priority) && request.method !== 'GET';
    return isOfPayer ? { ...answer, body: withoutWords(answer.body) } : answer;
  }

  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = clock.schedule(plusMs(clock.now(), ms), end);
      function end() {
        cancel();
        pauses.delete(end);
        resolve();
      }
      pauses.add(end);
    });
  }

  async function close(): Promise<void> {
    closed = true;
    const refused = budget.close();
    for (const end of [...pauses]) end();
    await refused.catch(() => undefined);
    if (inFlight > 0)
      await new Promise<void>((resolve) => {
        whenIdle = resolve;
      });
    await budget.close();
    await transport.close();
  }

  return {
    send,
    async get({ requestOptions, ...request }) {
      const waitUntilMs = clock.ms() + (requestOptions.waitMs ?? WAIT_MS[requestOptions.priority]);
      let lastFault: UpstreamFault | null = null;
      for (let attempt = 0; ; attempt += 1) {
        const waitMs = Math.max(0, waitUntilMs - clock.ms());
        try {
          const answer = await send({
            method: 'GET',
            requestOptions: { ...requestOptions, waitMs },
            ...request,
          });
          if (!isSuccess(answer)) return answer;
          const body = requestedPage(request.path, answer.body);
          return body === answer.body ? answer : { status: answer.status, headers: answer.headers, body };
        } catch (error) {
          const isFault = error instanceof UpstreamFault && error.kind !== 'circuit_open';
          // If a retry could not be sent, the fault before it is reported.
          if (!isFault) throw lastFault ?? error;
          const isRetried = RETRIED_FAULTS.has(error.kind) && !isNotImplemented(error);
          if (!isRetried || attempt === RETRIES || closed) throw error;
          lastFault = error;
        }
        await pause(RETRY_PAUSE_MS * 2 ** attempt * (0.5 + random()));
        if (closed) throw lastFault;
      }
    },
    state: () => ({ ...breaker.state(), lastAnswerAt, pagesSince, refusedKeys: [...refusedKeys] }),
    budget: () => budget.state(),
    close() {
      closing ??= close();
      return closing;
    },
  };
}

/** Reads an answer. @throws UpstreamFault (a 5xx; a success that is not JSON) */
function readAnswer({ status, headers, body }: WireAnswer, redaction: Redaction): UpstreamAnswer {
  if (status >= 500) throw new UpstreamFault('server_error', 'maybe', String(status));
  const read = body.length === 0 ? null : readJson(status, body, redaction);
  return { status, headers, body: read, jsonLength: body.length };
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Parses a body. The status of a refusal suffices (the document's section 7), so a proxy's page with that
 * status is no fault.
 */
function readJson(status: number, body: Buffer, redaction: Redaction): unknown {
  try {
    const text = UTF8.decode(body);
    return redaction.json(JSON.parse(text), text);
  } catch {
    if (status >= 300) return null;
    throw new UpstreamFault('unreadable', 'maybe', NOT_JSON);
  }
}

/**
 * Asserts that the caller has encoded the parts of a path. A malformed path is an internal fault: nothing is
 * sent.
 * @throws TypeError
 */
function assertPath(path: string): void {
  if (!/^\/v1\/[!-~]*$/.test(path) || path.includes('#') || hasDotSegment(path))
    throw new TypeError('a path of the payments service that is not well-formed');
}

function hasDotSegment(path: string): boolean {
  if (!/\.|%2e/i.test(path)) return false;
  const [pathname = ''] = path.split('?');
  return /(?:^|\/)(?:\.|%2e){1,2}(?:\/|$)/i.test(pathname);
}

/**
 * Omits a member without a value from a body: a service may refuse null, as this one does for a limit that
 * may have been lost.
 */
function withoutNulls(_name: string, value: unknown): unknown {
  return value === null ? undefined : value;
}
