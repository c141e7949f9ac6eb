import { createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { plusMs } from '../../../server/src/kernel/clock.ts';
import { type Random, shuffled } from '../../faults/random.ts';
import type { ManualClock } from '../../support/clock.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** A payout as the service knows it: the truth that every answer of a facade is held against. */
export interface TruePayout {
  readonly kind: 'withdrawal' | 'subaccount';
  readonly id: string;
  readonly code: string;
  /** The idempotency key that its request carried; null where another system of the merchant has made it. */
  readonly key: string | null;
  readonly amountCents: number;
  readonly method: string;
  readonly destination: string;
  readonly requestedAt: Date;
  status: 'open' | 'processing' | 'completed' | 'failed';
  endedAt: Date | null;
  /** The webhook that names it whole is never sent. */
  readonly isSilent: boolean;
  /** A webhook has said all of it. */
  isNamed: boolean;
}

/** The habits of one seed's service, which the document leaves open. */
interface Habits {
  mask(destination: string): string;
  readonly hasDates: boolean;
  /** The age from which on the list shows a withdrawal. */
  readonly lagMs: number;
  readonly order: 'newest first' | 'oldest first' | 'permuted';
  readonly findsOne: boolean;
  readonly showsAddresses: boolean;
}

interface Webhook {
  readonly id: string;
  readonly body: string;
  readonly of: TruePayout;
  tries: number;
}

/** Alters what passes between a facade and the service, as a faulty facade would: the checker has to find it. */
export interface WireTamper {
  /** The body of a write, by how many have arrived before. */
  readonly request?: (body: Record<string, unknown>, arrival: number) => Record<string, unknown>;
  /** The whole key for which a masked one of a list is taken. */
  readonly unmask?: (masked: string) => string;
  /** A write whose answer is lost comes twice. */
  readonly repeatsLost?: boolean;
}

export const SUBACCOUNT = `sacc_${'5'.repeat(32)}`;
export const LTC = 'ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9';
const SECRET = 'segredo-da-simulacao';

/** The service of the document, with all that it may do to a request, by a seed. */
export interface Service {
  readonly secret: string;
  readonly payouts: readonly TruePayout[];
  readonly habits: Pick<Habits, 'mask' | 'hasDates' | 'showsAddresses'>;
  withKey(key: string): TruePayout[];
  named(reference: string): TruePayout | undefined;
  /** A request with this key has arrived that may take effect later. */
  mayStillMake(key: string): boolean;
  /** A payout of another system of the same merchant. */
  payForOthers(destination: string, amountCents: number, method: string): void;
  /** One payout goes on towards its end. */
  progress(): void;
  /** A false webhook of a payout that has not ended. */
  lie(): void;
  /** The next webhooks, in any order; with `all`, all that are left but those that are never sent. */
  deliver(urls: readonly string[], all?: boolean): Promise<void>;
  setDown(down: boolean): void;
  /** The network heals: every request is answered at once. */
  heal(): void;
  /** A facade has ended: its connections are gone, and what it has requested goes on. */
  cut(instance: string): void;
  handle(instance: string, request: IncomingMessage, response: ServerResponse): Promise<void>;
  isIdle(): boolean;
  readonly lines: string[];
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

/** Without 501, which says by HTTP itself that nothing was done. */
const FAILURES = [500, 502, 503, 504];
const INTERNAL = { error: 'Internal error' };
/** Nothing comes of these. */
const UNDONE: ReadonlySet<Plan> = new Set(['lose before', 'fail before', 'limit', 'refuse']);

export function createService({
  clock,
  random,
  count,
  onMade,
  tamper = {},
  knowsKeys = false,
}: {
  clock: ManualClock;
  random: Random;
  count: (what: string) => void;
  onMade: (payout: TruePayout) => void;
  tamper?: WireTamper | undefined;
  /** Whether it gives one withdrawal to one key, which the document does not say. */
  knowsKeys?: boolean;
}): Service {
  const chance = (oneIn: number) => random.below(oneIn) === 0;
  const habits = habitsOf(random);
  const payouts: TruePayout[] = [];
  const webhooks: Webhook[] = [];
  let arrived = 0;
  const pending = new Map<string, number>();
  const held = new Map<ServerResponse, { instance: string; cancel: () => void }>();
  const lines: string[] = [];
  let active = 0;
  let calm = false;
  let down = false;
  let made = 0;
  let events = 0;

  const note = (what: string) => void lines.push(`${clock.now().toISOString()} service: ${what}`);

  // ── Payouts ──

  function make(
    kind: TruePayout['kind'],
    {
      key,
      amountCents,
      method,
      destination,
    }: Pick<TruePayout, 'key' | 'amountCents' | 'method' | 'destination'>,
  ): TruePayout {
    made += 1;
    const payout: TruePayout = {
      kind,
      id: made.toString(16).padStart(24, 'a'),
      code: kind === 'withdrawal' ? `SAQ-${String(made).padStart(12, '0')}` : `TURBO-${made}`,
      key,
      amountCents,
      method,
      destination,
      requestedAt: clock.now(),
      status: 'open',
      endedAt: null,
      isSilent: chance(8),
      isNamed: false,
    };
    payouts.push(payout);
    note(`makes ${payout.code} for ${key ?? 'another system'}`);
    announce(payout, payout.status);
    onMade(payout);
    return payout;
  }

  function announce(payout: TruePayout, status: TruePayout['status'], isTrue = true): void {
    if (payout.isSilent && isTrue && status !== 'failed') return;
    if (payout.kind === 'withdrawal' && status === 'processing') return;
    events += 1;
    const body =
      payout.kind === 'withdrawal'
        ? withdrawalEvent(payout, status)
        : { event: 'subaccount.payout', ...shown(payout, status) };
    webhooks.push({ id: `entrega-${events}`, body: JSON.stringify(body), of: payout, tries: 0 });
  }

  /** Reverses a payout whose end the service has answered itself, and says so by a webhook. */
  function reverse(payout: TruePayout): void {
    payout.status = 'failed';
    payout.endedAt = clock.now();
    note(`${payout.code} was completed, and is reversed`);
    count('a completed payout is reversed');
    announce(payout, 'failed');
  }

  function withdrawalEvent(payout: TruePayout, status: TruePayout['status']) {
    const { id, code, amountCents, method, destination, requestedAt, endedAt } = payout;
    const [event, word] =
      status === 'completed'
        ? ['completed', 'concluido']
        : status === 'failed'
          ? ['denied', 'negado']
          : ['requested', 'pendente'];
    return {
      event: `withdrawal.${event}`,
      withdrawalId: id,
      code,
      method,
      status: word,
      amount: amountCents / 100,
      walletAddress: destination,
      ...(word === 'pendente'
        ? { requestedAt: requestedAt.toISOString(), sandbox: false }
        : { processedAt: (endedAt ?? clock.now()).toISOString() }),
    };
  }

  /** The document's 2.2. */
  function shown(payout: TruePayout, status = payout.status) {
    const { id, code, key, amountCents, destination, requestedAt } = payout;
    const failed = status === 'failed';
    const at = (payout.endedAt ?? clock.now()).toISOString();
    return {
      payoutId: `saq_idem_${key}`,
      withdrawalId: id,
      code,
      subaccountId: SUBACCOUNT,
      status: status === 'completed' || failed ? status : 'processing',
      reversed: failed,
      amountCents,
      feeCents: 10,
      platformFeeCents: 5,
      netAmountCents: amountCents - 15,
      pixKey: habits.mask(destination),
      endToEndId: null,
      recipientName: null,
      recipientBankName: null,
      failureReason: failed ? 'Conta encerrada' : null,
      createdAt: requestedAt.toISOString(),
      completedAt: status === 'completed' ? at : null,
      reversedAt: failed ? at : null,
    };
  }

  function listed(payout: TruePayout) {
    const { id, code, amountCents, method, status, destination, requestedAt, endedAt } = payout;
    const word = { open: 'pendente', processing: 'processing', completed: 'concluido', failed: 'negado' }[
      status
    ];
    const masked = method === 'ltc' && habits.showsAddresses ? destination : habits.mask(destination);
    return {
      id,
      code,
      method,
      status: word,
      amount: amountCents / 100,
      walletAddress: tamper.unmask?.(masked) ?? masked,
      ...(habits.hasDates && { requestedAt: requestedAt.toISOString() }),
      ...(habits.hasDates && endedAt && { processedAt: endedAt.toISOString() }),
    };
  }

  function list(url: URL) {
    const [limit, offset] = ['limit', 'offset'].map((name) => Number(url.searchParams.get(name) ?? 50));
    const now = clock.now();
    const visible = payouts.filter(
      ({ kind, requestedAt }) => kind === 'withdrawal' && (calm || plusMs(requestedAt, habits.lagMs) <= now),
    );
    const ordered =
      habits.order === 'permuted'
        ? shuffled(visible, random)
        : habits.order === 'oldest first'
          ? visible
          : [...visible].reverse();
    return {
      payouts: ordered.slice(offset, offset! + limit!).map(listed),
      total: visible.length,
      limit,
      offset,
    };
  }

  // ── Requests ──

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
    // Nobody waits for it any more.
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
    // What it says is what is so when it is asked, however late that arrives.
    const { status, body } = found(url);
    const text = JSON.stringify(body);
    if (plan === 'lose before') lose(response);
    else if (plan === 'answer late')
      hold(instance, response, (1 + random.below(18)) * SECOND, () => answer(response, status, text));
    else if (plan === 'fail before') answer(response, random.pick(FAILURES), INTERNAL);
    else if (plan === 'limit') limit(response);
    else answer(response, status, plan === 'malformed' ? text.slice(0, text.length / 2) : text);
  }

  function found(url: URL): { status: number; body: object } {
    const path = url.pathname;
    if (path === '/v1/payouts') return { status: 200, body: list(url) };
    if (path === '/v1/wallet')
      return { status: 200, body: { balance: 90_000, withdrawable: 90_000, withdrawableCents: 9_000_000 } };
    const [, one] = /^\/v1\/payouts\/([^/]+)$/.exec(path) ?? [];
    const withdrawal = one && habits.findsOne && payouts.find(({ id, code }) => id === one || code === one);
    if (withdrawal) return { status: 200, body: listed(withdrawal) };
    const [, reference] = /^\/v1\/subaccounts\/[^/]+\/payouts\/([^/]+)$/.exec(path) ?? [];
    const name = decodeURIComponent(reference ?? '');
    const payout = payouts.find(
      ({ kind, id, code, key }) => kind === 'subaccount' && [id, code, `saq_idem_${key}`].includes(name),
    );
    if (payout) return { status: 200, body: shown(payout) };
    if (reference) return { status: 404, body: { error: 'Payout not found' } };
    if (path === `/v1/subaccounts/${SUBACCOUNT}`)
      return { status: 200, body: { id: SUBACCOUNT, name: 'Ana', balanceCents: 9_000_000 } };
    return { status: 404, body: { error: 'Not found' } };
  }

  function write(
    instance: string,
    path: string,
    body: Record<string, unknown>,
    response: ServerResponse,
  ): void {
    const isOfSubaccount = path.startsWith('/v1/subaccounts/');
    const key = typeof body.idempotencyKey === 'string' ? body.idempotencyKey : null;
    arrived += 1;
    const take = () => (isOfSubaccount ? takeOfSubaccount(body, key) : takeWithdrawal(body, key));
    const done = (payout: TruePayout) => {
      const requested = { withdrawal: { id: payout.id }, code: payout.code };
      if (isOfSubaccount) answer(response, chance(4) ? 202 : 200, requested);
      else answer(response, 201, listed(payout));
    };
    const plan = calm ? 'answer' : down ? 'lose before' : pick(WRITES);
    note(`${plan}: ${key}`);
    count(`a write: ${plan}`);
    if (tamper.repeatsLost && plan === 'lose after') take();
    if (plan === 'take effect late') {
      takeLate(instance, response, key!, () => done(take()));
      return;
    }
    const payout = UNDONE.has(plan) ? null : take();
    if (plan === 'lose before' || plan === 'lose after') lose(response);
    else if (plan === 'fail before' || plan === 'fail after')
      answer(response, random.pick(FAILURES), INTERNAL);
    else if (plan === 'limit') limit(response);
    else if (plan === 'malformed')
      answer(response, 201, random.pick(['{"id":', '<html>', '{"error":"x"}', '[]']));
    else if (plan === 'nameless') answer(response, 202, { ok: true });
    else if (plan === 'answer with another') answer(response, 201, wrongAnswer(payout!));
    else if (plan === 'refuse') answer(response, random.pick([403, 400, 422]), { error: 'Recusado' });
    else if (plan === 'answer late')
      hold(instance, response, (3 + random.below(40)) * SECOND, () => done(payout!));
    else done(payout!);
  }

  /** The answer to a request with something else: another amount, another method or destination, or a whole payout that was made before. */
  function wrongAnswer(payout: TruePayout): object {
    const before = payouts.filter(
      ({ kind, amountCents }) => kind === payout.kind && amountCents !== payout.amountCents,
    );
    const other = before.length > 0 && chance(2) ? random.pick(before) : null;
    if (payout.kind === 'subaccount') {
      const { id, code, amountCents } = other ?? { ...payout, amountCents: payout.amountCents + 1 };
      return { withdrawal: { id, amountCents }, code };
    }
    if (other) return listed(other);
    return {
      ...listed(payout),
      ...random.pick([
        { amount: payout.amountCents / 10 },
        { method: payout.method === 'ltc' ? 'pix' : 'ltc' },
        { walletAddress: 'zelia@padaria.example' },
      ]),
    };
  }

  function takeWithdrawal(body: Record<string, unknown>, key: string | null): TruePayout {
    const before = payouts.find((each) => each.kind === 'withdrawal' && key !== null && each.key === key);
    if (knowsKeys && before) return before;
    const amountCents = Math.round(Number(body.amount) * 100);
    return make('withdrawal', {
      key,
      amountCents,
      method: String(body.method),
      destination: String(body.walletAddress),
    });
  }

  function takeOfSubaccount(body: Record<string, unknown>, key: string | null): TruePayout {
    const before = payouts.find((each) => each.kind === 'subaccount' && each.key === key);
    if (before) return before;
    const amountCents = Number(body.amountCents);
    return make('subaccount', { key, amountCents, method: 'pix', destination: String(body.pixKey) });
  }

  /** The request is under way within the service for minutes, whether or not somebody still waits for its answer. */
  function takeLate(instance: string, response: ServerResponse, key: string, done: () => void): void {
    const lateMs = 5 * SECOND + random.below(random.pick([40 * SECOND, 8 * MINUTE]));
    pending.set(key, (pending.get(key) ?? 0) + 1);
    held.set(response, { instance, cancel: () => undefined });
    clock.schedule(plusMs(clock.now(), lateMs), () => {
      pending.set(key, pending.get(key)! - 1);
      held.delete(response);
      done();
    });
  }

  return {
    secret: SECRET,
    payouts,
    habits,
    lines,
    withKey: (key) => payouts.filter((each) => each.key === key),
    named: (reference) => payouts.find(({ id, code }) => id === reference || code === reference),
    mayStillMake: (key) => (pending.get(key) ?? 0) > 0,
    payForOthers(destination, amountCents, method) {
      make('withdrawal', { key: null, destination, amountCents, method });
    },
    progress() {
      const returnable = payouts.filter(
        ({ kind, status }) => kind === 'subaccount' && status === 'completed',
      );
      if (!calm && returnable.length > 0 && chance(8)) {
        reverse(random.pick(returnable));
        return;
      }
      const open = payouts.filter(({ status }) => status === 'open' || status === 'processing');
      if (open.length === 0) return;
      const payout = random.pick(open);
      if (payout.method === 'pix_turbo' && payout.status === 'open') payout.status = 'processing';
      else {
        payout.status = chance(4) ? 'failed' : 'completed';
        payout.endedAt = clock.now();
      }
      note(`${payout.code} is ${payout.status}`);
      announce(payout, payout.status);
    },
    lie() {
      const open = payouts.filter(({ status }) => status === 'open' || status === 'processing');
      if (open.length === 0) return;
      const payout = random.pick(open);
      const status = random.pick(['completed', 'failed'] as const);
      note(`claims falsely that ${payout.code} is ${status}`);
      count('a false webhook');
      announce(payout, status, false);
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
        if (status === 200) webhook.of.isNamed = true;
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
        if (request.method === 'GET') read(instance, url, response);
        else {
          const body = JSON.parse(text) as Record<string, unknown>;
          write(instance, url.pathname, tamper.request?.(body, arrived) ?? body, response);
        }
      } finally {
        active -= 1;
      }
    },
    isIdle: () => active === 0,
  };
}

function habitsOf(random: Random): Habits {
  const masks: Habits['mask'][] = [
    (text) => text.replace(/^(.).*?(@|.{4}$)/, '$1***$2'),
    (text) => `${text.slice(0, 1)}***${text.slice(-4)}`,
    () => '********',
  ];
  return {
    mask: masks[[0, 0, 0, 1, 2][random.below(5)]!]!,
    hasDates: random.below(6) > 0,
    lagMs: random.pick([0, 0, 3 * SECOND, 45 * SECOND]),
    order: random.pick(['newest first', 'newest first', 'oldest first', 'permuted']),
    findsOne: random.below(3) === 0,
    showsAddresses: random.below(2) === 0,
  };
}

/** One HTTP server for the services of all stories of this process; the path names story and instance. */
export interface ServiceHost {
  readonly url: string;
  add(story: string, service: Service): void;
  remove(story: string): void;
  close(): Promise<void>;
}

export async function startServiceHost(): Promise<ServiceHost> {
  const services = new Map<string, Service>();
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
