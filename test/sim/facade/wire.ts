import { createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { plusMs } from '../../../server/src/kernel/clock.ts';
import type { Random } from '../../faults/random.ts';
import type { ManualClock } from '../../support/clock.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const SECRET = 'segredo-da-simulacao';

export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** A write as the service's tables take it. */
export interface Write {
  /** The idempotency key of its body, or null. */
  readonly key: string | null;
  /** Applies the write once more at each call. */
  take(): Taken;
}

/** The effect of a write, with an answer that shows it and one that shows something else. */
export interface Taken {
  answer(): Answer;
  wrong(): Answer;
}

/** The state of a service, without its network. */
export interface Books {
  find(url: URL): Answer;
  /** Returns the write of a request; null if there is no such endpoint. */
  write(path: string, body: Record<string, unknown>): Write | null;
}

/** Alters messages between a facade and the service, as a faulty facade would: the checker has to find it. */
export interface WireTamper {
  /** Alters the body of a write; `arrival` is the number of earlier ones. */
  readonly request?: (body: Record<string, unknown>, arrival: number) => Record<string, unknown>;
  /** The unmasked key for which a masked one of a list is mistaken. */
  readonly unmask?: (masked: string) => string;
  /** Set if a write whose answer is lost arrives twice. */
  readonly repeatsLost?: boolean;
}

/** The requests and webhooks of a service that loses, delays and contradicts, as the seed decides. */
export interface Wire {
  readonly secret: string;
  readonly lines: string[];
  /** Set if every request is answered at once, and truly. */
  readonly isCalm: boolean;
  note(what: string): void;
  /** Whether a request with this key has arrived that may take effect later. */
  mayStillMake(key: string): boolean;
  /** Schedules a webhook; `onTaken` is called once a facade has accepted it. */
  announce(body: object, onTaken?: () => void): void;
  /** Delivers the next webhooks, in any order; with `all`, all that are left, except those that are never sent. */
  deliver(urls: readonly string[], all?: boolean): Promise<void>;
  setDown(down: boolean): void;
  /** Ends all faults of the network. */
  heal(): void;
  /** Closes the connections of a facade that has ended; its requests continue at the service. */
  cut(instance: string): void;
  handle(instance: string, request: IncomingMessage, response: ServerResponse): Promise<void>;
  isIdle(): boolean;
}

interface Webhook {
  readonly id: string;
  readonly body: string;
  readonly onTaken: () => void;
  tries: number;
}

type Plan =
  | 'answer'
  | 'lose before'
  | 'lose after'
  | 'answer late'
  | 'take effect late'
  | 'fail before'
  | 'fail after'
  | 'limit'
  | 'malformed'
  | 'nameless'
  | 'answer with another'
  | 'refuse';

const WRITES: readonly [Plan, number][] = [
  ['answer', 40],
  ['lose before', 9],
  ['lose after', 10],
  ['answer late', 8],
  ['take effect late', 9],
  ['fail before', 4],
  ['fail after', 5],
  ['limit', 4],
  ['malformed', 4],
  ['nameless', 3],
  ['answer with another', 5],
  ['refuse', 4],
];
const READS: readonly [Plan, number][] = [
  ['answer', 70],
  ['lose before', 7],
  ['answer late', 9],
  ['fail before', 6],
  ['limit', 4],
  ['malformed', 4],
];

/** 501 is left out: by HTTP it says that nothing was done. */
const FAILURES = [500, 502, 503, 504];
const INTERNAL = { error: 'Internal error' };
export const NOT_FOUND: Answer = { status: 404, body: { error: 'Not found' } };
/** A request with one of these plans has no effect. */
const UNDONE: ReadonlySet<Plan> = new Set(['lose before', 'fail before', 'limit', 'refuse']);

export function createWire({
  clock,
  random,
  count,
  books,
  tamper = {},
}: {
  clock: ManualClock;
  random: Random;
  count: (what: string) => void;
  books: Books;
  tamper?: Pick<WireTamper, 'request' | 'repeatsLost'> | undefined;
}): Wire {
  const chance = (oneIn: number) => random.below(oneIn) === 0;
  const webhooks: Webhook[] = [];
  let arrived = 0;
  const pending = new Map<string, number>();
  const held = new Map<ServerResponse, { instance: string; cancel: () => void }>();
  const lines: string[] = [];
  let active = 0;
  let calm = false;
  let down = false;
  let events = 0;

  const note = (what: string) => void lines.push(`${clock.now().toISOString()} service: ${what}`);

  function pick(from: readonly [Plan, number][]): Plan {
    let at = random.below(from.reduce((sum, [, weight]) => sum + weight, 0));
    for (const [plan, weight] of from) {
      at -= weight;
      if (at < 0) return plan;
    }
    return 'answer';
  }

  function hold(instance: string, response: ServerResponse, ms: number, then: () => void): void {
    const cancel = clock.schedule(plusMs(clock.now(), ms), () => {
      held.delete(response);
      then();
    });
    held.set(response, { instance, cancel });
  }

  function lose(response: ServerResponse): void {
    response.destroy();
  }

  function answer(response: ServerResponse, status: number, body: unknown, headers = {}): void {
    // The client has gone.
    if (response.destroyed) return;
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  }

  function limit(response: ServerResponse): void {
    const seconds = String(1 + random.below(9));
    answer(response, 429, { error: 'Muitas requisições' }, { 'retry-after': seconds });
  }

  function read(instance: string, url: URL, response: ServerResponse): void {
    const plan = calm ? 'answer' : down ? 'lose before' : pick(READS);
    if (plan !== 'answer') count(`a read: ${plan}`);
    // The answer has the state at the request, however late it arrives.
    const { status, body } = books.find(url);
    const text = JSON.stringify(body);
    if (plan === 'lose before') lose(response);
    else if (plan === 'answer late')
      hold(instance, response, (1 + random.below(18)) * SECOND, () => answer(response, status, text));
    else if (plan === 'fail before') answer(response, random.pick(FAILURES), INTERNAL);
    else if (plan === 'limit') limit(response);
    else answer(response, status, plan === 'malformed' ? text.slice(0, text.length / 2) : text);
  }

  function write(instance: string, { key, take }: Write, response: ServerResponse): void {
    arrived += 1;
    const show = ({ status, body }: Answer) => answer(response, status, body);
    const plan = calm ? 'answer' : down ? 'lose before' : pick(WRITES);
    note(`${plan}: ${key}`);
    count(`a write: ${plan}`);
    if (tamper.repeatsLost && plan === 'lose after') take();
    if (plan === 'take effect late') {
      takeLate(instance, response, key, () => show(take().answer()));
      return;
    }
    const taken = UNDONE.has(plan) ? null : take();
    if (plan === 'lose before' || plan === 'lose after') lose(response);
    else if (plan === 'fail before' || plan === 'fail after')
      answer(response, random.pick(FAILURES), INTERNAL);
    else if (plan === 'limit') limit(response);
    else if (plan === 'malformed')
      answer(response, 201, random.pick(['{"id":', '<html>', '{"error":"x"}', '[]']));
    else if (plan === 'nameless') answer(response, 202, { ok: true });
    else if (plan === 'answer with another') show(taken!.wrong());
    else if (plan === 'refuse') answer(response, random.pick([403, 400, 422]), { error: 'Recusado' });
    else if (plan === 'answer late')
      hold(instance, response, (3 + random.below(40)) * SECOND, () => show(taken!.answer()));
    else show(taken!.answer());
  }

  /** The request runs within the service for minutes, even if nobody waits for its answer. */
  function takeLate(instance: string, response: ServerResponse, key: string | null, done: () => void): void {
    const name = key ?? '';
    const lateMs = 5 * SECOND + random.below(random.pick([40 * SECOND, 8 * MINUTE]));
    pending.set(name, (pending.get(name) ?? 0) + 1);
    held.set(response, { instance, cancel: () => undefined });
    clock.schedule(plusMs(clock.now(), lateMs), () => {
      pending.set(name, pending.get(name)! - 1);
      held.delete(response);
      done();
    });
  }

  return {
    secret: SECRET,
    lines,
    note,
    get isCalm() {
      return calm;
    },
    mayStillMake: (key) => (pending.get(key) ?? 0) > 0,
    announce(body, onTaken = () => undefined) {
      events += 1;
      webhooks.push({ id: `entrega-${events}`, body: JSON.stringify(body), onTaken, tries: 0 });
    },
    async deliver(urls, all = false) {
      for (
        let left = all ? webhooks.length : 1 + random.below(2);
        left > 0 && webhooks.length > 0;
        left -= 1
      ) {
        const [webhook] = webhooks.splice(random.below(webhooks.length), 1) as [Webhook];
        const signature = createHmac('sha256', SECRET).update(webhook.body).digest('hex');
        const headers = {
          'content-type': 'application/json',
          'x-webhook-id': webhook.id,
          'x-webhook-signature': signature,
        };
        webhook.tries += 1;
        const status = await fetch(`${random.pick(urls)}/webhooks/psa`, {
          method: 'POST',
          body: webhook.body,
          headers,
        }).then(
          (response) => response.text().then(() => response.status),
          () => 0,
        );
        note(`webhook ${status}: ${webhook.body}`);
        if (status === 200) webhook.onTaken();
        if (status !== 200 && webhook.tries < 7) webhooks.push(webhook);
        if (status === 200 && !all && chance(5)) {
          count('a webhook repeated');
          webhooks.push({ ...webhook, id: chance(2) ? webhook.id : `${webhook.id}-b` });
        }
      }
    },
    setDown(isDown) {
      down = isDown;
      note(isDown ? 'is down' : 'is back');
    },
    heal() {
      calm = true;
      down = false;
    },
    cut(instance) {
      for (const [response, each] of held)
        if (each.instance === instance) {
          each.cancel();
          held.delete(response);
          lose(response);
        }
    },
    async handle(instance, request, response) {
      active += 1;
      try {
        let text = '';
        for await (const chunk of request) text += chunk;
        const url = new URL(request.url!, 'http://service');
        if (request.method === 'GET') return read(instance, url, response);
        const body = JSON.parse(text) as Record<string, unknown>;
        const written = books.write(url.pathname, tamper.request?.(body, arrived) ?? body);
        if (written) write(instance, written, response);
        else answer(response, NOT_FOUND.status, NOT_FOUND.body);
      } finally {
        active -= 1;
      }
    },
    isIdle: () => active === 0,
  };
}

/** One HTTP server for the services of all stories of this process; the path names story and instance. */
export interface ServiceHost {
  readonly url: string;
  add(story: string, service: Pick<Wire, 'handle'>): void;
  remove(story: string): void;
  close(): Promise<void>;
}

export async function startServiceHost(): Promise<ServiceHost> {
  const services = new Map<string, Pick<Wire, 'handle'>>();
  const server = createServer((request, response) => {
    response.on('error', () => undefined);
    const [, story, instance, rest] = /^\/([^/]+)\/([^/]+)(\/.*)$/.exec(request.url ?? '') ?? [];
    const service = services.get(story ?? '');
    request.url = rest!;
    if (!service) response.destroy();
    else service.handle(instance!, request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    add: (story, service) => void services.set(story, service),
    remove: (story) => void services.delete(story),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
