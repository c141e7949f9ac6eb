import { once } from 'node:events';
import {
  Agent,
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
  request as sendOn,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Clock, createSystemClock, plusMs } from '../../server/src/kernel/clock.ts';
import { createRandom } from '../faults/random.ts';

/** `before`: the upstream never receives the request. `after`: it has carried the request out, and its answer is lost. */
type When = 'before' | 'after';

/** The fault that a request meets. */
export type Fault =
  | { kind: 'pass' }
  /** A proxy on the way answers with this status. */
  | { kind: 'status'; status: 401 | 404 | 429 | 500 | 502 | 503; when: When; retryAfterSeconds?: number }
  /** The connection is reset. */
  | { kind: 'reset'; when: When }
  /** The request is never answered, and the connection stays open. */
  | { kind: 'hang'; when: When }
  /** The request or its answer is late by `ms`. */
  | { kind: 'delay'; when: When; ms: number }
  /** The head of the answer is sent at once, its body at this rate. */
  | { kind: 'slow'; bytesPerSecond: number };

export const PASS: Fault = { kind: 'pass' };

/** A request as it reached the proxy. */
export interface Arrival {
  /** The number of the request, from 0 on, in the order of arrival. */
  readonly n: number;
  /** The instant at which its head arrived, in milliseconds of the proxy's clock. */
  readonly at: number;
  readonly method: string;
  /** The path with the query. */
  readonly path: string;
  /** The environment, by the prefix of the key. */
  readonly environment: 'live' | 'sandbox' | null;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** The idempotency key in the body. */
  readonly idempotencyKey: string | null;
  /** The planned fault; null until all of the request has arrived. */
  readonly fault: Fault | null;
  /** The status of the upstream's answer; null if it did not receive the request, or has not answered yet. */
  readonly upstreamStatus: number | null;
}

/** Decides the fault of a request once all of it has arrived. */
export type Plan = (arrival: Arrival) => Fault;

export interface FaultProxy {
  readonly url: string;
  /** The URL of the upstream. */
  target: string;
  plan: Plan;
  readonly arrivals: readonly Arrival[];
  /** The largest number of requests that arrived within any window of this length; `of` are some of the arrivals, in their order. */
  maxInWindow(windowMs: number, of?: readonly Arrival[]): number;
  /** Lists the names of requests that the upstream carried out more than once; null as a name skips a request. */
  repeated(nameOf: (arrival: Arrival) => string | null): string[];
  /** Resolves when no request is in flight, apart from those that hang or wait for the clock. */
  idle(): Promise<void>;
  close(): Promise<void>;
}

/** Creates a plan of these faults one by one, and then of `otherwise`. */
export function inTurn(faults: readonly Fault[], otherwise: Plan = () => PASS): Plan {
  const left = [...faults];
  return (arrival) => left.shift() ?? otherwise(arrival);
}

/** Creates a plan of random faults: each of them meets about its share of `of` requests, and the others pass. */
export function seeded(
  seed: number,
  { of, faults }: { of: number; faults: readonly (readonly [share: number, fault: Fault])[] },
): Plan {
  const random = createRandom(seed);
  return () => {
    let drawn = random.below(of);
    for (const [share, fault] of faults) {
      if (drawn < share) return fault;
      drawn -= share;
    }
    return PASS;
  };
}

/** Starts an HTTP proxy in front of a service, on a free port of 127.0.0.1, that fails as a network or a service may. */
export async function startFaultProxy({
  target,
  plan = () => PASS,
  clock = createSystemClock(),
}: {
  target: string;
  plan?: Plan;
  /** The clock of arrivals and delays. */
  clock?: Clock;
}): Promise<FaultProxy> {
  type MutableArrival = { -readonly [Name in keyof Arrival]: Arrival[Name] };
  const arrivals: MutableArrival[] = [];
  const agent = new Agent({ keepAlive: true });
  let inFlight = 0;
  let waiting: (() => void)[] = [];

  function endFlight(): void {
    inFlight -= 1;
    if (inFlight > 0) return;
    for (const resolve of waiting) resolve();
    waiting = [];
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url: path = '', headers } = request;
    const at = clock.now().getTime();
    const environment = environmentOf(headers.authorization);
    const arrival: MutableArrival = {
      n: arrivals.length,
      at,
      method,
      path,
      environment,
      headers,
      body: '',
      idempotencyKey: null,
      fault: null,
      upstreamStatus: null,
    };
    arrivals.push(arrival);
    arrival.body = (await readBytes(request)).toString();
    arrival.idempotencyKey = idempotencyKeyOf(arrival.body);
    const fault = proxy.plan(arrival);
    arrival.fault = fault;
    if ('when' in fault && fault.when === 'before') {
      if (fault.kind !== 'delay') return fail(request, response, fault);
      await delay(fault.ms);
    }
    const answer = await forward(arrival);
    arrival.upstreamStatus = answer.status;
    if (fault.kind === 'slow') return trickle(response, answer, fault.bytesPerSecond);
    if (!('when' in fault) || fault.when === 'before') return respond(response, answer);
    if (fault.kind !== 'delay') return fail(request, response, fault);
    await delay(fault.ms);
    respond(response, answer);
  }

  /** Waits for the clock. A request that waits does not count as in flight. */
  async function delay(ms: number): Promise<void> {
    endFlight();
    await new Promise<void>((resolve) => {
      clock.schedule(plusMs(clock.now(), ms), () => {
        inFlight += 1;
        resolve();
      });
    });
  }

  function forward({ method, path, headers, body }: Arrival): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const { host: _, connection: __, 'transfer-encoding': ___, ...rest } = headers;
      const onward = sendOn(new URL(path, proxy.target), { method, headers: rest, agent }, (answer) => {
        readBytes(answer).then(
          (bytes) => resolve({ status: answer.statusCode ?? 502, headers: answer.headers, body: bytes }),
          reject,
        );
      });
      onward.on('error', reject);
      onward.end(body);
    });
  }

  function trickle(response: ServerResponse, { status, headers, body }: Answer, bytesPerSecond: number) {
    response.writeHead(status, headersFor(headers, body)).flushHeaders();
    let sent = 0;
    const next = () => {
      if (response.destroyed) return;
      if (sent === body.length) return void response.end();
      response.write(body.subarray(sent, ++sent));
      clock.schedule(plusMs(clock.now(), Math.ceil(1_000 / bytesPerSecond)), next);
    };
    next();
  }

  const server = createServer((request, response) => {
    inFlight += 1;
    handle(request, response)
      // The upstream is unreachable, or the client has disconnected.
      .catch(() => request.socket.resetAndDestroy())
      .finally(endFlight);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  const proxy: FaultProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    target,
    plan,
    arrivals,
    maxInWindow(windowMs, of = arrivals) {
      let most = 0;
      let first = 0;
      for (let last = 0; last < of.length; last++) {
        while (of[last]!.at - of[first]!.at >= windowMs) first += 1;
        most = Math.max(most, last - first + 1);
      }
      return most;
    },
    repeated(nameOf) {
      const seen = new Set<string | null>();
      const twice = new Set<string>();
      for (const arrival of arrivals.filter(hasSucceeded)) {
        const name = nameOf(arrival);
        if (name !== null && seen.has(name)) twice.add(name);
        seen.add(name);
      }
      return [...twice];
    },
    idle: () => (inFlight === 0 ? Promise.resolve() : new Promise<void>((resolve) => waiting.push(resolve))),
    async close() {
      agent.destroy();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return proxy;
}

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

function respond(response: ServerResponse, { status, headers, body }: Answer): void {
  response.writeHead(status, headersFor(headers, body)).end(body);
}

/** Carries out a fault that replaces the answer. */
function fail(
  request: IncomingMessage,
  response: ServerResponse,
  fault: Extract<Fault, { kind: 'status' | 'reset' | 'hang' }>,
): void {
  if (fault.kind === 'reset') request.socket.resetAndDestroy();
  if (fault.kind !== 'status') return;
  const { status, retryAfterSeconds } = fault;
  // A gateway's own page is not the service's JSON.
  const isGateway = status > 500;
  response
    .writeHead(status, {
      'content-type': isGateway ? 'text/html' : 'application/json',
      ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
    })
    .end(isGateway ? '<h1>Bad gateway</h1>' : JSON.stringify({ error: `fault ${status}` }));
}

/** The headers of a forwarded answer, without the hop-by-hop headers of its connection. */
function headersFor(headers: IncomingHttpHeaders, body: Buffer): IncomingHttpHeaders {
  const { connection: _, 'keep-alive': __, 'transfer-encoding': ___, ...rest } = headers;
  return { ...rest, 'content-length': String(body.length) };
}

function hasSucceeded({ upstreamStatus }: Arrival): boolean {
  return upstreamStatus !== null && upstreamStatus >= 200 && upstreamStatus < 300;
}

function environmentOf(authorization = ''): Arrival['environment'] {
  if (/^Bearer ps_live_/i.test(authorization)) return 'live';
  return /^Bearer ps_test_/i.test(authorization) ? 'sandbox' : null;
}

function idempotencyKeyOf(body: string): string | null {
  try {
    const { idempotencyKey } = JSON.parse(body);
    return typeof idempotencyKey === 'string' ? idempotencyKey : null;
  } catch {
    return null;
  }
}

async function readBytes(stream: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}
