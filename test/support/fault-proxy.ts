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

/** `before`: the upstream never hears of it. `after`: it has done what it was asked, and its answer is lost. */
type When = 'before' | 'after';

/** The fate of a request. */
export type Fault =
  | { kind: 'pass' }
  /** Answered with this status, by a proxy in between. */
  | { kind: 'status'; status: 429 | 500 | 502 | 503; when: When; retryAfterSeconds?: number }
  /** The connection is reset. */
  | { kind: 'reset'; when: When }
  /** Never answered, with the connection open. */
  | { kind: 'hang'; when: When }
  /** Passed on so late, or answered so late. */
  | { kind: 'delay'; when: When; ms: number }
  /** The head of the answer at once, its body so slowly. */
  | { kind: 'slow'; bytesPerSecond: number };

export const PASS: Fault = { kind: 'pass' };

/** A request as it reached the proxy. */
export interface Arrival {
  /** From 0 on, in the order in which they came. */
  readonly n: number;
  /** When its head was there, in milliseconds of the proxy's clock. */
  readonly at: number;
  readonly method: string;
  /** With its query. */
  readonly path: string;
  /** The environment, by the prefix of the key. */
  readonly environment: 'live' | 'sandbox' | null;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** In its body. */
  readonly idempotencyKey: string | null;
  /** Null until all of it has come. */
  readonly fault: Fault | null;
  /** The upstream's answer; null where it was not asked, or has not answered yet. */
  readonly upstreamStatus: number | null;
}

/** Decides when all of a request has come. */
export type Plan = (arrival: Arrival) => Fault;

export interface FaultProxy {
  readonly url: string;
  /** The upstream. */
  target: string;
  plan: Plan;
  readonly arrivals: readonly Arrival[];
  /** The most that came within any span of so many milliseconds. */
  maxInWindow(windowMs: number): number;
  /** Requests that the upstream carried out more than once, by the name that `nameOf` gives; null is not looked at. */
  repeated(nameOf: (arrival: Arrival) => string | null): string[];
  /** Resolves when no request is on its way; those that hang, or wait for the clock, are not waited for. */
  idle(): Promise<void>;
  close(): Promise<void>;
}

/** The given faults one by one, and then `otherwise`. */
export function inTurn(faults: readonly Fault[], otherwise: Plan = () => PASS): Plan {
  const left = [...faults];
  return (arrival) => left.shift() ?? otherwise(arrival);
}

/** Draws faults by a seed: of `of` requests each fault meets about as many as it says, the others pass. */
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

/** An HTTP proxy on a free port of 127.0.0.1, in front of a service, that fails as a network and a service may. */
export async function startFaultProxy({
  target,
  plan = () => PASS,
  clock = createSystemClock(),
}: {
  target: string;
  plan?: Plan;
  /** Says when requests arrive, and paces what is late or slow. */
  clock?: Clock;
}): Promise<FaultProxy> {
  type Kept = { -readonly [Name in keyof Arrival]: Arrival[Name] };
  const arrivals: Kept[] = [];
  const agent = new Agent({ keepAlive: true });
  /** On their way right now. */
  let under = 0;
  let waiting: (() => void)[] = [];

  function leave(): void {
    under -= 1;
    if (under > 0) return;
    for (const resolve of waiting) resolve();
    waiting = [];
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url: path = '', headers } = request;
    const at = clock.now().getTime();
    const environment = environmentOf(headers.authorization);
    const arrival: Kept = {
      ...{ n: arrivals.length, at, method, path, environment, headers },
      ...{ body: '', idempotencyKey: null, fault: null, upstreamStatus: null },
    };
    arrivals.push(arrival);
    arrival.body = (await bytesOf(request)).toString();
    arrival.idempotencyKey = idempotencyKeyOf(arrival.body);
    const fault = proxy.plan(arrival);
    arrival.fault = fault;
    if ('when' in fault && fault.when === 'before') {
      if (fault.kind !== 'delay') return fail(request, response, fault);
      await late(fault.ms);
    }
    const answer = await passOn(arrival);
    arrival.upstreamStatus = answer.status;
    if (fault.kind === 'slow') return trickle(response, answer, fault.bytesPerSecond);
    if (!('when' in fault) || fault.when === 'before') return respond(response, answer);
    if (fault.kind !== 'delay') return fail(request, response, fault);
    await late(fault.ms);
    respond(response, answer);
  }

  /** For as long as it waits nothing is under way. */
  async function late(ms: number): Promise<void> {
    leave();
    await new Promise<void>((resolve) => {
      clock.schedule(plusMs(clock.now(), ms), () => {
        under += 1;
        resolve();
      });
    });
  }

  function passOn({ method, path, headers, body }: Arrival): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const { host: _, connection: __, 'transfer-encoding': ___, ...rest } = headers;
      const onward = sendOn(new URL(path, proxy.target), { method, headers: rest, agent }, (answer) => {
        bytesOf(answer).then(
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
    under += 1;
    handle(request, response)
      // An upstream that cannot be reached, or a client that has gone.
      .catch(() => request.socket.resetAndDestroy())
      .finally(leave);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  const proxy: FaultProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    target,
    plan,
    arrivals,
    maxInWindow(windowMs) {
      let most = 0;
      let first = 0;
      for (let last = 0; last < arrivals.length; last++) {
        while (arrivals[last]!.at - arrivals[first]!.at >= windowMs) first += 1;
        most = Math.max(most, last - first + 1);
      }
      return most;
    },
    repeated(nameOf) {
      const seen = new Set<string>();
      const twice = new Set<string>();
      for (const arrival of arrivals) {
        const name = wasDone(arrival) ? nameOf(arrival) : null;
        if (name !== null && seen.has(name)) twice.add(name);
        if (name !== null) seen.add(name);
      }
      return [...twice];
    },
    idle: () => (under === 0 ? Promise.resolve() : new Promise<void>((resolve) => waiting.push(resolve))),
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

/** In place of an answer. */
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

/** Hop-by-hop headers: they stay with one connection. */
function headersFor(headers: IncomingHttpHeaders, body: Buffer): IncomingHttpHeaders {
  const { connection: _, 'keep-alive': __, 'transfer-encoding': ___, ...rest } = headers;
  return { ...rest, 'content-length': String(body.length) };
}

function wasDone({ upstreamStatus }: Arrival): boolean {
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

async function bytesOf(stream: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}
