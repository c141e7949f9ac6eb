import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { firstTenant } from '../../../server/src/access/service.ts';
import {
  IdempotencyError,
  InsufficientFundsError,
  NotFoundError,
  PreconditionError,
  RateLimitError,
  UpstreamError,
  ValidationError,
} from '../../../server/src/kernel/errors.ts';
import { objectId } from '../../../server/src/kernel/ids.ts';
import type { Requester } from '../../../server/src/kernel/requester.ts';
import type { Tenant } from '../../../server/src/kernel/tenant.ts';
import {
  entryIdOf,
  guidanceOf,
  isSettled,
  type SubaccountPayout,
} from '../../../server/src/money-out/subaccounts/model.ts';
import { createRemoteSubaccounts } from '../../../server/src/money-out/subaccounts/remote/service.ts';
import { createRemoteWallet } from '../../../server/src/money-out/wallet/remote/service.ts';
import type { Database } from '../../../server/src/state/db/database.ts';
import { createBudget } from '../../../server/src/upstream/budget/budget.ts';
import { createUpstream } from '../../../server/src/upstream/client.ts';
import { newestMirrored } from '../../../server/src/upstream/mirror-lists.ts';
import { selectMirrored } from '../../../server/src/upstream/mirror-store.ts';
import { isRetryable } from '../../../server/src/upstream/responses.ts';
import { type Upstream, UpstreamFault } from '../../../server/src/upstream/upstream.ts';
import { startApp, type TestApp } from '../../support/app.ts';
import { createManualClock } from '../../support/clock.ts';
import { openFreshDatabase } from '../../support/database.ts';
import { deferred } from '../../support/deferred.ts';
import { startDocumentUpstream } from '../../support/document-upstream.ts';
import { readAfter } from '../../support/events.ts';
import { startFacade } from '../../support/facade.ts';
import { type Fault, type FaultProxy, inTurn, PASS, startFaultProxy } from '../../support/fault-proxy.ts';
import { fund } from '../../support/funds.ts';
import { lost, scriptedUpstream } from '../../support/scripted-upstream.ts';
import { interceptStatements } from '../../support/statements.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const KEY = 'bia@cliente.example';
const NOWHERE = `sacc_${'0'.repeat(32)}`;
const LOST: Fault = { kind: 'reset', when: 'after' };
const NEVER: Fault = { kind: 'reset', when: 'before' };
const BROKEN: Fault = { kind: 'status', status: 502, when: 'before' };

let service: TestApp;
let merchant: Tenant;
let proxy: FaultProxy;
let database: Database;
const clock = createManualClock();
beforeAll(async () => {
  service = await startApp({ clock });
  merchant = await firstTenant(service.database.sql);
  await fund({ database: service.database, tenant: merchant }, { cents: 10_000_000 });
  proxy = await startFaultProxy({ target: service.url, clock });
  database = await openFreshDatabase(clock);
});
beforeEach(() => {
  proxy.plan = () => PASS;
  clock.advance(MINUTE + SECOND);
});
afterAll(async () => {
  await proxy.close();
  await service.close();
  await database.close();
});

/** Starts a facade that stops with the test. */
async function start({
  tenant,
  upstream,
  on = database,
}: {
  tenant?: Tenant;
  upstream?: Upstream;
  on?: Database;
} = {}) {
  const facade = await startFacade({
    database: on,
    clock,
    url: proxy.url,
    limit: 0,
    ...(tenant ? { tenant } : {}),
    ...(upstream ? { upstream } : {}),
  });
  const wallet = createRemoteWallet(facade);
  const remote = createRemoteSubaccounts({
    ...facade,
    readWallet: (tenant) => wallet.current(tenant, { priority: 'query' }),
  });
  Object.assign(facade.requests, remote.requests);
  const ages: { at: Date; stale: boolean }[] = [];
  const requester: Requester = {
    priority: 'merchant',
    subject: null,
    onRead: (at, stale) => ages.push({ at, stale }),
  };
  return { ...facade, remote, ages, subaccounts: remote.serviceFor(requester) };
}
type Started = Awaited<ReturnType<typeof start>>;

async function open(cents = 20_000): Promise<string> {
  const { subaccount } = await service.subaccounts.create(merchant, { name: 'Bia' });
  if (cents > 0)
    await service.subaccounts.transfer(merchant, { subaccountId: subaccount.id, amountCents: cents });
  return subaccount.id;
}

/** Waits for a few answers of the database; those of the service take as long. */
async function breath(): Promise<void> {
  for (let answers = 0; answers < 5; answers += 1) await sql`select 1`.execute(database.sql);
}

/** Advances the clock until a promise has settled. */
async function going<Result>(promise: Promise<Result>): Promise<Result> {
  let over = false;
  const ended = promise.finally(() => {
    over = true;
  });
  ended.catch(() => undefined);
  while (!over) {
    await breath();
    if (!over) clock.advance(50);
  }
  return ended;
}

/** Lets the service do its own work for a time. */
async function pass(ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= SECOND) {
    clock.advance(Math.min(SECOND, left));
    await service.work.settled();
  }
}

/** Advances the clock until the facade has found the outcome of every payout. */
async function resolved({ intents, tenant }: Started): Promise<void> {
  for (let seconds = 0; seconds < 20_000; seconds += 5) {
    if ((await intents.open(tenant, 'requestSubaccountPayout')).length === 0) return;
    clock.advance(5 * SECOND);
    await breath();
  }
  throw new Error('is in doubt for good');
}

const asked = (method = '') => proxy.arrivals.filter((arrival) => arrival.method.startsWith(method)).length;

function request({ subaccounts, tenant }: Started, subaccountId: string, rest: object = {}) {
  return subaccounts.requestPayout(tenant, { subaccountId, amountCents: 4_000, pixKey: KEY, ...rest });
}

/** Applies a webhook. Returns the id of its payout. */
function applied({ remote, committer, tenant }: Started, payload: unknown): Promise<string> {
  const { observation } = remote.readWebhook(payload)!;
  return committer.change<string>({
    tenant,
    read: observation.read,
    decide(state) {
      const { resourceId, writes } = observation.decide(state);
      return { outcome: resourceId, writes };
    },
  });
}

async function events({ database, tenant }: Started, after = 0) {
  const { events } = await readAfter(database.sql, tenant, {
    after,
    topic: { resource: 'subaccount_payout' },
    limit: 100,
  });
  return events;
}

describe('a payout of a subaccount', () => {
  test('a payout is requested once, shown whole, and known by every name until it has ended', async () => {
    const facade = await start();
    const { subaccounts, tenant } = facade;
    const id = await open();
    const before = asked();
    const { payout, replayed } = await request(facade, id, { idempotencyKey: 'k-1' });
    expect(asked() - before).toBe(2);
    expect(replayed).toBe(false);
    expect(payout).toMatchObject({
      id: expect.stringMatching(/^sqp_[0-9a-f]{32}$/),
      version: 1,
      payoutId: 'saq_idem_k-1',
      status: 'processing',
      subaccountId: id,
      amountCents: 4_000,
      pixKey: 'b***@cliente.example',
    });
    expect(facade.polledResources).toEqual(expect.arrayContaining(['subaccount_payout', 'wallet']));

    await pass(MINUTE);
    const done = await going(subaccounts.findPayout(tenant, id, 'saq_idem_k-1'));
    expect(done).toMatchObject({
      id: payout.id,
      status: 'completed',
      version: 2,
      recipientName: expect.any(String),
    });
    const original = await service.subaccounts.findPayout(merchant, id, 'saq_idem_k-1');
    expect(done).toEqual({ ...original, id: payout.id, version: 2 });
    const counted = asked();
    for (const name of [done!.withdrawalId!, done!.code!, 'saq_idem_k-1'])
      expect(await subaccounts.findPayout(tenant, id, name)).toEqual(done);
    expect(await subaccounts.findPayouts(tenant, [payout.id, 'sqp_x'])).toEqual([done, null]);
    expect(await subaccounts.findPayout(tenant, id, 'saq_idem_k-1')).toEqual(done);
    expect(asked()).toBe(counted);
    expect(await subaccounts.payouts(tenant, id, { end: 'first', limit: 5 })).toMatchObject({
      items: [{ item: done }],
    });
    expect(await subaccounts.countPayouts(tenant, id, { status: ['failed'] })).toBe(0);
    expect((await events(facade)).map(({ kind }) => kind)).toEqual([
      'subaccount_payout.processing',
      'subaccount_payout.completed',
    ]);
    expect(facade.faults).toEqual([]);
  });

  test('a payout is replayed for its key, and another input is a conflict; without a key it gets a generated one', async () => {
    const facade = await start();
    const id = await open();
    const first = await request(facade, id, { idempotencyKey: 'k-2' });
    const posts = asked('POST');
    expect(await request(facade, id, { idempotencyKey: 'k-2' })).toMatchObject({
      payout: { id: first.payout.id },
      replayed: true,
    });
    expect(asked('POST')).toBe(posts);
    const other = request(facade, id, { idempotencyKey: 'k-2', amountCents: 1_000 });
    await expect(other).rejects.toThrow(IdempotencyError);
    const { payout } = await request(facade, id);
    expect(payout.payoutId).toMatch(/^saq_idem_psa-[0-9a-f]{24}$/);
  });

  test('the number of a payout stays here, in doubt too, and finds it without a request', async () => {
    const facade = await start();
    const { subaccounts, tenant } = facade;
    const id = await open();
    const externalId = 'saque 7/2026';
    const { payout } = await request(facade, id, { externalId });
    expect(payout.externalId).toBe(externalId);
    expect(await service.subaccounts.findPayout(merchant, id, payout.payoutId!)).toMatchObject({
      externalId: null,
    });
    proxy.plan = inTurn([LOST], () => BROKEN);
    const doubted = { externalId, idempotencyKey: 'k-number' };
    expect(await going(request(facade, id, doubted))).toMatchObject({
      payout: { inDoubt: true, externalId },
    });
    await expect(going(request(facade, id, { ...doubted, externalId: 'saque 8' }))).rejects.toThrow(
      IdempotencyError,
    );
    // A lookup in the background may be running, and sends a request of its own.
    await going(facade.work.settled());
    const before = asked();
    const list = async () =>
      (await subaccounts.payouts(tenant, id, { end: 'first', limit: 10, externalId })).items;
    expect((await list()).map(({ item }) => item.payoutId)).toEqual(['saq_idem_k-number', payout.payoutId]);
    expect(await subaccounts.countPayouts(tenant, id, { externalId, reference: payout.code! })).toBe(1);
    expect(asked()).toBe(before);
    proxy.plan = () => PASS;
    await resolved(facade);
    expect(await list()).toMatchObject([{ item: { externalId, feeCents: expect.any(Number) } }, {}]);
    const other = await start();
    expect(await other.subaccounts.countPayouts(other.tenant, id, { externalId })).toBe(0);
  });

  test('a payout that is refused before the bank has failed, and is announced again when it is reversed', async () => {
    const facade = await start();
    const { subaccounts, tenant } = facade;
    const id = await open();
    const { payout } = await request(facade, id, { pixKey: 'recusa@psa.example' });
    expect(payout).toMatchObject({ status: 'failed', reversed: false, code: expect.stringMatching(/^SUB-/) });
    await pass(10 * SECOND);
    expect(await going(subaccounts.findPayout(tenant, id, payout.code!))).toMatchObject({
      id: payout.id,
      reversed: true,
    });
    expect((await events(facade)).map(({ kind }) => kind)).toEqual([
      'subaccount_payout.failed',
      'subaccount_payout.reversed',
    ]);
  });

  test('a payout in sandbox is refused, and looked up as nothing, without asking the service', async () => {
    const { subaccounts, tenant } = await start();
    const sandbox: Tenant = { ...tenant, environment: 'sandbox' };
    const before = asked();
    const input = { subaccountId: NOWHERE, amountCents: 1, pixKey: KEY };
    await expect(subaccounts.requestPayout(sandbox, input)).rejects.toThrow(PreconditionError);
    expect(await subaccounts.findPayout(sandbox, NOWHERE, 'TURBO-X')).toBeNull();
    expect(asked()).toBe(before);
  });

  test('a payout is refused in the service’s words, with the subaccount’s figures where it has too little', async () => {
    const facade = await start();
    const id = await open(500);
    const short = await failure(request(facade, id));
    expect(short).toBeInstanceOf(InsufficientFundsError);
    expect(short).toMatchObject({ requestedCents: 4_000, withdrawableCents: 500, balanceCents: 500 });
    const fees = await failure(request(facade, id, { amountCents: 1 }));
    expect(fees).toBeInstanceOf(ValidationError);
    expect(await failure(request(facade, NOWHERE))).toBeInstanceOf(NotFoundError);
    expect(await failure(request(facade, 'nothing'))).toBeInstanceOf(NotFoundError);
    // The service knows a key that this facade has never seen.
    const rich = await open();
    const input = { subaccountId: rich, amountCents: 3_000, pixKey: KEY, idempotencyKey: 'k-3' };
    await service.subaccounts.requestPayout(merchant, input);
    const conflict = await failure(request(facade, rich, { idempotencyKey: 'k-3' }));
    expect(conflict).toBeInstanceOf(IdempotencyError);
    expect(await facade.intents.open(facade.tenant, 'requestSubaccountPayout')).toEqual([]);
  });

  test('a payout whose answer is lost is looked up, and not sent again', async () => {
    const facade = await start();
    const id = await open();
    proxy.plan = inTurn([LOST]);
    const posts = asked('POST');
    const { payout, replayed } = await request(facade, id, { idempotencyKey: 'k-4' });
    expect(payout).toMatchObject({ payoutId: 'saq_idem_k-4', status: 'processing' });
    expect(replayed).toBe(false);
    expect(asked('POST') - posts).toBe(1);
  });

  test.each([
    'pedido 7/2026',
    '50%',
    'a%2Fb',
    'a+b',
    '#1',
    'quem?',
    'a\\b',
    '"a"',
    '..',
    `~ ${'x'.repeat(125)}!`,
  ])('a payout whose answer is lost is found by any key: %s', async (idempotencyKey) => {
    const facade = await start();
    const { subaccounts, tenant } = facade;
    const id = await open();
    proxy.plan = inTurn([LOST]);
    const posts = asked('POST');
    const { payout } = await request(facade, id, { idempotencyKey });
    const payoutId = `saq_idem_${idempotencyKey}`;
    expect(payout).toMatchObject({ payoutId, status: 'processing' });
    expect(payout.code).not.toBeNull();
    expect(await request(facade, id, { idempotencyKey })).toMatchObject({ replayed: true });
    expect(asked('POST') - posts).toBe(1);
    expect((await subaccounts.findPayout(tenant, id, payoutId))!.id).toBe(payout.id);
    expect(await service.subaccounts.findPayout(merchant, id, payoutId)).toMatchObject({ payoutId });
  });

  test('a payout in doubt is shown as one under way, and followed until it is known', async () => {
    const facade = await start();
    const { subaccounts, tenant, remote } = facade;
    const id = await open();
    // The service does the request, and then answers nothing more.
    proxy.plan = inTurn([LOST], () => BROKEN);
    const underWay = {
      id: expect.stringMatching(/^sqp_/),
      version: 1,
      status: 'processing',
      payoutId: 'saq_idem_k-5',
      withdrawalId: null,
      code: null,
      amountCents: 4_000,
      pixKey: 'b***@cliente.example',
      feeCents: null,
      netAmountCents: null,
      subaccountId: id,
      inDoubt: true,
    };
    const doubt = { underVerification: false, replayed: false, payout: underWay };
    expect(await going(request(facade, id, { idempotencyKey: 'k-5' }))).toMatchObject(doubt);
    expect(await going(request(facade, id, { idempotencyKey: 'k-5' }))).toMatchObject({
      ...doubt,
      replayed: true,
    });
    expect(await going(subaccounts.findPayout(tenant, id, 'saq_idem_k-5'))).toMatchObject(underWay);
    const reserved = await going(subaccounts.findPayoutWithVersion(tenant, id, 'saq_idem_k-5'));
    expect(reserved).toMatchObject({ payout: underWay, id: expect.stringMatching(/^sqp_/) });
    expect(await going(subaccounts.findPayouts(tenant, [reserved!.id]))).toMatchObject([underWay]);
    expect(guidanceOf(reserved!.payout)).toBe('WAIT');
    expect(await going(subaccounts.payouts(tenant, id, { end: 'first', limit: 10 }))).toMatchObject({
      items: [{ item: underWay }],
    });
    expect(await going(subaccounts.countPayouts(tenant, id, {}))).toBe(1);
    // Another instance knows the payout, too.
    const other = await start({ tenant });
    expect(await going(other.subaccounts.findPayout(tenant, id, 'saq_idem_k-5'))).toMatchObject(underWay);
    // A payout that was never requested is not waited for.
    const none = await failure(going(subaccounts.findPayoutWithVersion(tenant, id, 'saq_idem_none')));
    expect(none).toBeInstanceOf(UpstreamError);
    // A followed payout is polled, though the service does not show it yet: later, or again after a fault.
    const poll = remote.poll(tenant, { all: false, ids: [reserved!.id] });
    const polled = await going(poll).catch((error) => error);
    if (!(polled instanceof Date)) expect(isRetryable(polled)).toBe(true);
    const posts = asked('POST');
    proxy.plan = () => PASS;
    await resolved(facade);
    const [event] = await events(facade, reserved!.version);
    expect(event).toMatchObject({ resourceId: reserved!.id });
    const [known] = await subaccounts.findPayouts(tenant, [reserved!.id]);
    expect(known).toMatchObject({ payoutId: 'saq_idem_k-5', feeCents: expect.any(Number) });
    expect(known).not.toHaveProperty('inDoubt');
    expect(await subaccounts.countPayouts(tenant, id, {})).toBe(1);
    expect(asked('POST')).toBe(posts);
  });

  test.each([
    ['in doubt', 'by the server', 4_000],
    ['in doubt', 'by a client', 4_000],
    ['in doubt', 'by a client', 4_001],
    ['accepted', 'by a client', 4_000],
  ])(
    'a payout that is %s and that a webhook names otherwise before it is looked up %s is one payout (%i cents)',
    async (outcome, lookedUpBy, amountCents) => {
      const shown = {
        ...{ payoutId: `saq_${'7'.repeat(32)}`, withdrawalId: 'c'.repeat(24), code: 'TURBO-7' },
        ...{ subaccountId: NOWHERE, status: 'processing', reversed: false, amountCents, feeCents: 1 },
        createdAt: clock.now().toISOString(),
      };
      let isSilent = true;
      const upstream = scriptedUpstream(({ method }) => {
        // The payout is accepted, without the codes that the bank's answer brings.
        if (isSilent && outcome === 'accepted')
          return { body: { ...shown, payoutId: null, withdrawalId: null, code: null } };
        return isSilent || method === 'POST' ? new UpstreamFault('timeout', 'maybe') : { body: shown };
      });
      const facade = await start({ upstream });
      const { subaccounts, tenant, remote } = facade;
      const requested = { idempotencyKey: 'k-6', externalId: 'n-6' };
      const { payout: doubt } = await going(request(facade, NOWHERE, requested));
      expect(doubt.inDoubt ?? false).toBe(outcome === 'in doubt');
      expect(doubt).toMatchObject({ status: 'processing', withdrawalId: null });
      const announced = await applied(facade, { ...shown, event: 'subaccount.payout' });
      expect(announced).not.toBe(doubt.id);
      const before = (await events(facade)).at(-1)!.version;

      isSilent = false;
      if (lookedUpBy === 'by a client') await subaccounts.findPayout(tenant, NOWHERE, 'saq_idem_k-6');
      await resolved(facade);

      const page = { end: 'first', limit: 10 } as const;
      const listed = async (filter: object = {}) =>
        (await subaccounts.payouts(tenant, NOWHERE, { ...page, ...filter })).items.map(({ item }) => item.id);
      expect(await listed()).toEqual([doubt.id]);
      expect(await subaccounts.countPayouts(tenant, NOWHERE, {})).toBe(1);
      for (const reference of [shown.payoutId, shown.withdrawalId, shown.code, 'saq_idem_k-6']) {
        expect(await subaccounts.findPayout(tenant, NOWHERE, reference)).toMatchObject({ id: doubt.id });
        expect(await listed({ reference })).toEqual([doubt.id]);
      }
      // Both ids find the payout, and a subscription to either continues.
      await applied(facade, {
        ...{ ...shown, status: 'completed', completedAt: clock.now().toISOString() },
        event: 'subaccount.payout',
      });
      const known = await subaccounts.findPayouts(tenant, [doubt.id, announced]);
      // Another system has used the key: its payout has another amount, and no number here.
      const externalId = amountCents === 4_000 ? 'n-6' : null;
      expect(known[0]).toMatchObject({ id: doubt.id, status: 'completed', externalId, amountCents });
      expect(known[0]).not.toHaveProperty('inDoubt');
      expect(known[1]).toEqual(known[0]);
      await remote.refresh(tenant, [announced], { priority: 'lookup' });
      const since = await events(facade, before);
      const statusesOf = (id: string) =>
        since.flatMap(({ resourceId, snapshot }) =>
          resourceId === id ? (snapshot as SubaccountPayout).status : [],
        );
      expect(statusesOf(doubt.id)).toEqual(['processing', 'completed']);
      expect(statusesOf(announced)).toEqual(['processing', 'completed']);
    },
  );

  test('a payout that is accepted and not shown is under way, as its answer names it, until it is shown', async () => {
    const facade = await start();
    const { subaccounts, tenant } = facade;
    const id = await open();
    proxy.plan = inTurn([PASS], () => BROKEN);
    const { payout } = await going(request(facade, id, { idempotencyKey: 'k-6' }));
    expect(payout).toMatchObject({
      status: 'processing',
      payoutId: 'saq_idem_k-6',
      pixKey: 'b***@cliente.example',
      amountCents: 4_000,
      // The service has not returned the fees yet.
      feeCents: null,
      platformFeeCents: null,
      netAmountCents: null,
    });
    expect(payout.code).toMatch(/^TURBO-/);
    proxy.plan = () => PASS;
    expect(await going(request(facade, id, { idempotencyKey: 'k-6' }))).toMatchObject({
      replayed: true,
      payout: { id: payout.id },
    });
    clock.advance(MINUTE);
    expect(await going(subaccounts.findPayout(tenant, id, 'saq_idem_k-6'))).toMatchObject({
      id: payout.id,
      code: payout.code,
      feeCents: expect.any(Number),
    });
  });

  test.each([
    [
      'with all names',
      { withdrawal: { id: 'c'.repeat(24) }, code: 'TURBO-9', status: 'processing' },
      'TURBO-9',
    ],
    ['before it has one', { withdrawal: { id: null }, code: null }, null],
  ])(
    'a payout that is accepted %s with the last request of the budget is under way',
    async (_, body, code) => {
      const upstream = scriptedUpstream(({ method }) => {
        if (method === 'POST') return { status: 201, body };
        throw new RateLimitError('120 requests a minute', 30);
      });
      const { subaccounts, tenant } = await start({ upstream });
      const input = { subaccountId: NOWHERE, amountCents: 100, pixKey: KEY, idempotencyKey: 'last' };
      const { payout } = await subaccounts.requestPayout(tenant, input);
      expect(payout).toMatchObject({
        status: 'processing',
        code,
        payoutId: 'saq_idem_last',
        amountCents: 100,
      });
      expect(upstream.requestLines.filter((asked) => asked.startsWith('POST'))).toHaveLength(1);
      expect(await subaccounts.requestPayout(tenant, input)).toMatchObject({
        replayed: true,
        payout: { id: payout.id },
      });
      expect(upstream.requestLines.filter((asked) => asked.startsWith('POST'))).toHaveLength(1);
    },
  );

  test('a payout that is accepted and refused before any bank is in doubt until that is shown', async () => {
    const upstream = scriptedUpstream(({ method }) => {
      if (method === 'POST') return { status: 201, body: { withdrawal: { id: null }, code: 'SUB-9' } };
      throw new RateLimitError('120 requests a minute', 30);
    });
    const { subaccounts, tenant } = await start({ upstream });
    const input = { subaccountId: NOWHERE, amountCents: 100, pixKey: KEY };
    expect(await subaccounts.requestPayout(tenant, input)).toMatchObject({
      payout: { inDoubt: true, status: 'processing', code: null },
    });
  });

  test('a payout that never reached the service has failed once that is certain, and its key gives that from then on', async () => {
    const facade = await start();
    const { subaccounts, tenant } = facade;
    const id = await open();
    proxy.plan = inTurn([NEVER]);
    const before = asked('POST');
    const { payout } = await request(facade, id, { idempotencyKey: 'k-7' });
    expect(payout).toMatchObject({ inDoubt: true });
    // The service says that there is no such payout, and the request may still be on its way.
    expect(await going(subaccounts.findPayout(tenant, id, 'saq_idem_k-7'))).toMatchObject({
      status: 'processing',
      inDoubt: true,
    });
    await resolved(facade);
    const over = await going(subaccounts.findPayoutWithVersion(tenant, id, 'saq_idem_k-7'));
    expect(over).toMatchObject({ id: payout.id, payout: { status: 'failed', reversed: true } });
    expect(over!.payout.failureReason).toMatch(/não chegou ao serviço/);
    expect(isSettled(over!.payout)).toBe(true);
    expect(guidanceOf(over!.payout)).toBe('RETRY_WITH_NEW_KEY');
    const again = await request(facade, id, { idempotencyKey: 'k-7' });
    expect(again).toMatchObject({ replayed: true, payout: over!.payout });
    expect(asked('POST')).toBe(before + 1);
    const { payout: other } = await request(facade, id, { idempotencyKey: 'k-7-other' });
    expect(other.code).toMatch(/^TURBO-/);
  });

  test('a payout that becomes known during its lookup is never missing', async () => {
    const [asked, goesOn] = [deferred(), deferred()];
    let isMade = false;
    const body = {
      payoutId: 'saq_idem_k-10',
      withdrawalId: 'c'.repeat(24),
      code: 'TURBO-9',
      subaccountId: NOWHERE,
      status: 'processing',
      reversed: false,
      amountCents: 100,
      feeCents: 1,
      createdAt: clock.now().toISOString(),
    };
    const upstream = scriptedUpstream(async ({ method }) => {
      if (method === 'POST') {
        isMade = true;
        return { status: 201, body: { withdrawal: { id: body.withdrawalId }, code: body.code } };
      }
      if (isMade) return { body };
      asked.resolve();
      // The payout does not exist when the service looks, and its answer is slow.
      await goesOn.promise;
      return { status: 404, body: { error: 'Payout not found' } };
    });
    const { subaccounts, tenant } = await start({ upstream });
    const found = subaccounts.findPayout(tenant, NOWHERE, 'saq_idem_k-10');
    await asked.promise;
    const input = { subaccountId: NOWHERE, amountCents: 100, pixKey: KEY, idempotencyKey: 'k-10' };
    await subaccounts.requestPayout(tenant, input);
    goesOn.resolve();
    expect(await found).toMatchObject({ code: 'TURBO-9', status: 'processing' });
  });

  test('a payout that becomes known during its lookup by id is never missing', async () => {
    for (let at = 0, reached = true; reached; at += 1) {
      const [sent, goesOn] = [deferred(), deferred()];
      const idempotencyKey = `k-11-${at}`;
      const body = {
        payoutId: `saq_idem_${idempotencyKey}`,
        withdrawalId: objectId(),
        code: `TURBO-11${at}`,
        subaccountId: NOWHERE,
        status: 'processing',
        reversed: false,
        amountCents: 100,
        feeCents: 1,
        createdAt: clock.now().toISOString(),
      };
      let isMade = false;
      const upstream = scriptedUpstream(async ({ method }) => {
        if (method !== 'POST')
          return isMade ? { body } : { status: 404, body: { error: 'Payout not found' } };
        sent.resolve();
        await goesOn.promise;
        isMade = true;
        return { status: 201, body: { withdrawal: { id: body.withdrawalId }, code: body.code } };
      });
      const { subaccounts, tenant } = await start({ upstream });
      const input = { subaccountId: NOWHERE, amountCents: 100, pixKey: KEY, idempotencyKey };
      const requested = subaccounts.requestPayout(tenant, input);
      await sent.promise;
      const { id } = (await subaccounts.findPayout(tenant, NOWHERE, body.payoutId))!;
      let point = 0;
      reached = false;
      const on = interceptStatements(database, async () => {
        if (point++ !== at) return;
        reached = true;
        goesOn.resolve();
        await requested;
      });
      const other = await start({ tenant, upstream, on });
      point = 0;
      const [found] = await other.subaccounts.findPayouts(tenant, [id]);
      expect(found, `point ${at}`).toMatchObject({ id, status: 'processing' });
      goesOn.resolve();
      await requested;
    }
  });

  test('a payout of another system with the same key and another amount is not the requested one', async () => {
    const body = {
      payoutId: 'saq_idem_k-12',
      withdrawalId: 'd'.repeat(24),
      code: 'TURBO-12',
      subaccountId: NOWHERE,
      status: 'processing',
      reversed: false,
      amountCents: 999,
      feeCents: 1,
      createdAt: clock.now().toISOString(),
    };
    const upstream = scriptedUpstream(({ method }) => (method === 'POST' ? lost() : { body }));
    const facade = await start({ upstream });
    const { subaccounts, tenant } = facade;
    const input = { subaccountId: NOWHERE, amountCents: 100, pixKey: KEY, idempotencyKey: 'k-12' };
    await subaccounts.requestPayout(tenant, input);
    expect(await subaccounts.findPayout(tenant, NOWHERE, 'saq_idem_k-12')).toMatchObject({
      amountCents: 999,
    });
    const again = () => failure(subaccounts.requestPayout(tenant, input));
    expect(await again()).toBeInstanceOf(IdempotencyError);
    await resolved(facade);
    expect(await again()).toBeInstanceOf(IdempotencyError);
    expect(upstream.requestLines.filter((asked) => asked.startsWith('POST'))).toHaveLength(1);
  });

  test('a payout is given as it was last seen where the service cannot be asked, with its age', async () => {
    const facade = await start();
    const { subaccounts, tenant, ages } = facade;
    const id = await open();
    const { payout } = await request(facade, id);
    const seenAt = clock.now();
    clock.advance(5 * SECOND);
    proxy.plan = () => BROKEN;
    ages.length = 0;
    expect(await going(subaccounts.findPayout(tenant, id, payout.payoutId!))).toEqual(payout);
    expect(ages).toEqual([{ at: expect.any(Date), stale: true }]);
    expect(ages[0]!.at.getTime()).toBeLessThanOrEqual(seenAt.getTime());
    const unknown = going(subaccounts.findPayout(tenant, id, 'TURBO-UNKNOWN'));
    expect(await failure(unknown)).toMatchObject({ retryable: true, moneyMayHaveMoved: false });
  });

  test('a payout of another subaccount is not found', async () => {
    const facade = await start();
    const { subaccounts, tenant } = facade;
    const [one, other] = [await open(), await open()];
    const { payout } = await request(facade, one, { idempotencyKey: 'k-8' });
    for (const name of [payout.payoutId!, payout.code!])
      expect(await going(subaccounts.findPayout(tenant, other, name))).toBeNull();
    expect(await subaccounts.findPayout(tenant, one, 'no form at all')).toBeNull();
  });
});

describe('following', () => {
  test('polling asks for each payout that is open, less often when it is old, and for none that has ended', async () => {
    const facade = await start();
    const { remote, tenant } = facade;
    const id = await open(100_000);
    const payouts: SubaccountPayout[] = [];
    for (let count = 0; count < 5; count += 1) payouts.push((await request(facade, id)).payout);
    const ids = payouts.map((payout) => payout.id);
    const wanted = { all: false, ids };
    // All five were seen just now; each of them is due every fifteen seconds.
    let before = asked();
    const next = await remote.poll(tenant, wanted);
    expect(asked()).toBe(before);
    expect(next!.getTime()).toBeGreaterThan(clock.now().getTime());
    await pass(30 * SECOND);
    before = asked();
    await remote.poll(tenant, wanted);
    expect(asked() - before).toBe(3);
    // Another instance finds that these have already been read.
    const other = await start({ tenant });
    await other.remote.poll(tenant, wanted);
    expect(asked() - before).toBe(5);
    expect(await remote.poll(tenant, wanted)).toBeNull();
    expect(asked() - before).toBe(5);
    expect(await remote.poll(tenant, { all: true, ids: [] })).not.toBeNull();
    const kinds = (await events(facade)).map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === 'subaccount_payout.completed')).toHaveLength(5);
  });

  test('polling costs no more than a request in three seconds, however many payouts are open', async () => {
    const facade = await start();
    const { remote, tenant } = facade;
    const id = await open(1_000_000);
    for (let count = 0; count < 12; count += 1) await request(facade, id, { pixKey: 'verifica@psa.example' });
    const before = asked();
    const until = clock.now().getTime() + MINUTE;
    while (clock.now().getTime() < until) {
      const next = await remote.poll(tenant, { all: true, ids: [] });
      expect(next).not.toBeNull();
      clock.moveTo(new Date(Math.min(next!.getTime(), until)));
    }
    expect(asked() - before).toBeLessThanOrEqual(24);
    expect(asked() - before).toBeGreaterThanOrEqual(10);
  });

  test('a webhook about a payout is taken in, whole or by its code alone', async () => {
    const facade = await start();
    const { remote, tenant, subaccounts } = facade;
    const id = await open();
    const { payout } = await request(facade, id, { idempotencyKey: 'k-9' });
    const body = { ...payout, event: 'subaccount.payout', createdAt: payout.createdAt.toISOString() };
    const sight = (payload: unknown) => applied(facade, payload);
    const completed = { ...body, status: 'completed', completedAt: clock.now().toISOString(), novidade: 1 };
    expect(await sight(completed)).toBe(payout.id);
    // The event arrives late, and twice.
    expect(await sight(body)).toBe(payout.id);
    expect(await sight({ ...completed, status: 'failed' })).toBe(payout.id);
    expect(await sight({ event: 'subaccount.payout', code: payout.code })).toBe(payout.id);
    const [known] = await subaccounts.findPayouts(tenant, [payout.id]);
    expect(known).toMatchObject({ status: 'completed', version: payout.version + 1 });
    expect(isSettled(known!)).toBe(false);
    expect(remote.readWebhook({ event: 'withdrawal.completed' })).toBeNull();
    expect(remote.readWebhook(null)).toBeNull();
    // The payout was created elsewhere: its event has only its code and its subaccount.
    const elsewhere = await service.subaccounts.requestPayout(merchant, {
      subaccountId: id,
      amountCents: 2_000,
      pixKey: KEY,
    });
    const { code } = elsewhere.payout;
    const claim = remote.readWebhook({ event: 'subaccount.payout', code, conta: id })!;
    expect(claim.isNameOnly).toBe(true);
    await sight({ event: 'subaccount.payout', code, conta: id });
    expect(await subaccounts.countPayouts(tenant, id, {})).toBe(1);
    await remote.refresh(tenant, [claim.reference], { priority: 'lookup' });
    expect(await subaccounts.countPayouts(tenant, id, {})).toBe(2);
  });

  test('an end that a webhook claimed against the service is kept', async () => {
    const { remote, tenant, subaccounts, database } = await start();
    const id = await open();
    const { payout } = await subaccounts.requestPayout(tenant, {
      subaccountId: id,
      amountCents: 1_000,
      pixKey: KEY,
    });
    await pass(MINUTE);
    await remote.refresh(tenant, [payout.id], { priority: 'lookup' });
    expect(await subaccounts.findPayouts(tenant, [payout.id])).toMatchObject([{ status: 'completed' }]);
    await pass(MINUTE);
    const before = clock.now();
    await remote.refresh(tenant, [payout.id], { priority: 'lookup' });
    const [record] = await selectMirrored(database.sql, tenant, 'subaccount_payout', [payout.id]);
    expect(record).toMatchObject({ final: true, observedAt: before });
  });

  test('two instances that poll at once make one payout and one event of each state', async () => {
    const one = await start();
    const two = await start({ tenant: one.tenant });
    const id = await open();
    await service.subaccounts.requestPayout(merchant, {
      subaccountId: id,
      amountCents: 4_000,
      pixKey: KEY,
      idempotencyKey: 'k-10',
    });
    const found = await Promise.all(
      [one, two, one, two].map(({ subaccounts, tenant }) =>
        subaccounts.findPayout(tenant, id, 'saq_idem_k-10'),
      ),
    );
    expect(new Set(found.map((payout) => payout!.id)).size).toBe(1);
    expect(await events(one)).toHaveLength(1);
  });
});

describe('subaccounts', () => {
  test('subaccounts are opened, found, listed and counted', async () => {
    const { subaccounts, tenant } = await start();
    const first = await subaccounts.create(tenant, { name: 'Ana', externalId: 'ana-1' });
    expect(first).toMatchObject({ replayed: false, subaccount: { name: 'Ana', balanceCents: 0 } });
    expect(await subaccounts.create(tenant, { name: 'Ana', externalId: 'ana-1' })).toEqual({
      subaccount: first.subaccount,
      replayed: true,
    });
    const taken = await failure(subaccounts.create(tenant, { name: 'Bia', externalId: 'ana-1' }));
    expect(taken).toMatchObject({ fields: [{ path: 'input.externalId' }] });
    const second = await subaccounts.create(tenant, { name: 'Bia' });
    const ids = [second.subaccount.id, NOWHERE, 'nothing'];
    expect(await subaccounts.findMany(tenant, ids)).toEqual([second.subaccount, null, null]);
    const page = await subaccounts.list(tenant, { end: 'first', limit: 1 });
    expect(page.items.map(({ item }) => item)).toEqual([second.subaccount]);
    const { items } = await subaccounts.list(tenant, {
      end: 'first',
      limit: 1,
      after: page.items[0]!.position,
    });
    expect(items.map(({ item }) => item)).toEqual([first.subaccount]);
    expect(await subaccounts.count(tenant)).toBe(await service.subaccounts.count(merchant));
    // No webhook of the service reports a balance.
    expect(() => subaccounts.assertAnnounced()).toThrow(expect.objectContaining({ code: 'NOT_OFFERED' }));
    expect(await failure(subaccounts.findWithVersion(tenant, first.subaccount.id))).toMatchObject({
      code: 'NOT_OFFERED',
    });
  });

  test.each([
    [{ name: 'Ana' }, false],
    [{ name: 'Ana', externalId: 'ana-2' }, true],
  ])(
    'a creation whose answer is lost may be repeated only with an externalId: %j',
    async (input, retryable) => {
      const { subaccounts, tenant } = await start();
      proxy.plan = inTurn([LOST]);
      const before = asked();
      expect(await failure(subaccounts.create(tenant, input))).toMatchObject({
        retryable,
        moneyMayHaveMoved: false,
      });
      expect(asked() - before).toBe(1);
    },
  );

  test('subaccounts are transferred to once, and their statement is read by stable pages', async () => {
    const { subaccounts, tenant } = await start();
    const subaccountId = await open(0);
    for (const [amountCents, idempotencyKey] of [
      [100, 'a'],
      [200, 'b'],
      [100, 'a'],
    ] as const)
      expect(
        await subaccounts.transfer(tenant, {
          subaccountId,
          amountCents,
          idempotencyKey: `t-${idempotencyKey}`,
        }),
      ).toMatchObject({ subaccount: { id: subaccountId } });
    expect(await subaccounts.find(tenant, subaccountId)).toMatchObject({ balanceCents: 300 });
    const first = await subaccounts.statement(tenant, subaccountId, { end: 'first', limit: 1 });
    expect(first).toMatchObject({
      items: [{ item: { kind: 'transfer_in', amountCents: 200 } }],
      more: true,
    });
    const second = await subaccounts.statement(tenant, subaccountId, {
      end: 'first',
      limit: 5,
      after: first.items[0]!.position,
    });
    expect(second).toMatchObject({ items: [{ item: { amountCents: 100, balanceAfterCents: 100 } }] });
    expect(await subaccounts.countStatement(tenant, subaccountId)).toBe(2);
    const short = await failure(subaccounts.transfer(tenant, { subaccountId, amountCents: 2 ** 40 }));
    expect(short).toBeInstanceOf(InsufficientFundsError);
    expect(short).toMatchObject({ requestedCents: 2 ** 40, disputeBlockedCents: 0 });
    const nowhere = subaccounts.transfer(tenant, { subaccountId: NOWHERE, amountCents: 1 });
    expect(await failure(nowhere)).toBeInstanceOf(NotFoundError);
  });

  test('an entry and its fee with one reference are both read, the one on the next page too', async () => {
    const entry = (refId: string, amountCents: number) => ({
      ...{ refId, amountCents, kind: 'ajuste' },
      createdAt: clock.now().toISOString(),
    });
    const entries = [
      ...Array.from({ length: 99 }, (_, index) => entry(`rep_${index}`, 100)),
      ...[entry('rep_last', 500), entry('rep_last', -20)],
    ];
    const upstream = scriptedUpstream(({ path }) => {
      const offset = Number(new URL(path, 'http://service').searchParams.get('offset'));
      return { body: { entries: entries.slice(offset, offset + 100) } };
    });
    const { subaccounts, tenant } = await start({ upstream });
    expect(await subaccounts.countStatement(tenant, NOWHERE)).toBe(101);
  });

  test('an entry that takes money away is never shown as one that has brought it, and a fee is no payout', async () => {
    const createdAt = clock.now().toISOString();
    const entry = (kind: string, amountCents: number) => ({ kind, refId: 'rep_1', amountCents, createdAt });
    const entries = [
      entry('transfer_out', -5_000),
      entry('repasse_devolvido', -700),
      entry('transfer_fee', 30),
      entry('split_in', -20),
      entry('payout_fee', -50),
      entry('transfer_out', 5_000),
      entry('repasse_enviado', 800),
      entry('taxa de saque', 350),
      entry('payout', 900),
      entry('devolução de saque', 900),
      entry('split_out', 60),
      entry('transfer', 100),
    ];
    const upstream = scriptedUpstream(() => ({ body: { entries, total: entries.length } }));
    const { subaccounts, tenant } = await start({ upstream });
    const { items } = await subaccounts.statement(tenant, NOWHERE, { end: 'first', limit: 12 });
    expect(items.map(({ item }) => [item.kind, item.amountCents])).toEqual([
      ['unknown', -5_000],
      ['unknown', -700],
      ['unknown', 30],
      ['unknown', -20],
      ['unknown', -50],
      ['unknown', 5_000],
      ['unknown', 800],
      ['unknown', 350],
      ['payout', -900],
      ['payout_reversal', 900],
      ['unknown', 60],
      ['transfer_in', 100],
    ]);
    // The entries have one reference and one instant, and most have one kind.
    expect(new Set(items.map(({ item }) => entryIdOf(item))).size).toBe(12);
  });

  test('a transfer whose answer was lost is found behind all that has been entered since', async () => {
    const { subaccounts, tenant, intents, work } = await start();
    const subaccountId = await open(0);
    proxy.plan = inTurn([LOST, BROKEN, BROKEN, BROKEN]);
    const lost = { subaccountId, amountCents: 101, idempotencyKey: 't-4' };
    expect(await failure(going(subaccounts.transfer(tenant, lost)))).toMatchObject({
      moneyMayHaveMoved: true,
    });
    for (let index = 0; index < 110; index += 1)
      await service.subaccounts.transfer(merchant, { subaccountId, amountCents: 1 });
    clock.advance(MINUTE);
    await work.settled();
    expect(await intents.open(tenant, 'transferToSubaccount')).toEqual([]);
    expect(await subaccounts.transfer(tenant, lost)).toMatchObject({ replayed: true });
  });

  test('a transfer whose answer is lost is found in the statement; one that never came is not', async () => {
    const { subaccounts, tenant, intents } = await start();
    const subaccountId = await open(0);
    await subaccounts.transfer(tenant, { subaccountId, amountCents: 100, idempotencyKey: 't-1' });
    proxy.plan = inTurn([LOST]);
    const lost = { subaccountId, amountCents: 100, idempotencyKey: 't-2' };
    expect(await subaccounts.transfer(tenant, lost)).toMatchObject({ replayed: false });
    proxy.plan = inTurn([NEVER]);
    const never = { subaccountId, amountCents: 100, idempotencyKey: 't-3' };
    expect(await failure(subaccounts.transfer(tenant, never))).toMatchObject({ moneyMayHaveMoved: true });
    expect((await intents.open(tenant, 'transferToSubaccount')).map(({ key }) => key)).toEqual(['t-3']);
    expect(await subaccounts.find(tenant, subaccountId)).toMatchObject({ balanceCents: 200 });
  });
});

test('a webhook’s claim is not confirmed by an older answer, nor by one from before', async () => {
  const seen = {
    withdrawalId: 'a'.repeat(24),
    code: 'TURBO-1',
    subaccountId: NOWHERE,
    status: 'processing',
    reversed: false,
    amountCents: 100,
    feeCents: 1,
    createdAt: clock.now().toISOString(),
  };
  let down = false;
  const upstream = scriptedUpstream(() =>
    down ? new UpstreamFault('timeout', 'maybe') : { status: 200, body: seen },
  );
  const { database, remote, tenant, committer } = await start({ upstream });
  const { observation, reference } = remote.readWebhook({
    ...seen,
    event: 'subaccount.payout',
    status: 'completed',
  })!;
  await committer.change({
    tenant,
    read: observation.read,
    decide: (state) => ({ outcome: undefined, writes: observation.decide(state).writes }),
  });
  const claim = await newestMirrored(database.sql, tenant, 'subaccount_payout');
  clock.advance(MINUTE);
  await remote.refresh(tenant, [reference], { priority: 'lookup' });
  const known = await newestMirrored(database.sql, tenant, 'subaccount_payout');
  expect(known!.observed).toMatchObject({ status: 'completed', observedAt: claim!.observed.observedAt });
  down = true;
  expect(await failure(remote.refresh(tenant, [reference], { priority: 'lookup' }))).toMatchObject({
    retryable: true,
  });
});

test('texts that cannot be stored, and numbers that cannot be counted, break nothing', async () => {
  const seen = {
    withdrawalId: '..',
    code: 'TURBO-\u0000\ud800',
    subaccountId: NOWHERE,
    status: 'failed',
    reversed: false,
    amountCents: 100,
    feeCents: 1,
    failureReason: '\u0000\ud800',
    createdAt: clock.now().toISOString(),
  };
  const upstream = scriptedUpstream(({ path }) => ({
    body: path.includes('/payouts/') ? seen : { id: NOWHERE, balance: 1e308 },
  }));
  const { subaccounts, tenant } = await start({ upstream });
  const payout = await subaccounts.findPayout(tenant, NOWHERE, 'saq_idem_a');
  expect(payout).toMatchObject({ status: 'failed', amountCents: 100 });
  await subaccounts.recheck(tenant, payout!.id);
  expect(upstream.requestLines.every((asked) => !asked.includes('..'))).toBe(true);
  expect(await subaccounts.find(tenant, NOWHERE)).toMatchObject({ balanceCents: null });
});

test('a payout that another system has made under the same key is not the requested one', async () => {
  const seen = {
    withdrawalId: 'b'.repeat(24),
    code: 'TURBO-2',
    subaccountId: NOWHERE,
    status: 'completed',
    reversed: false,
    amountCents: 999,
    feeCents: 1,
    createdAt: clock.now().toISOString(),
  };
  const upstream = scriptedUpstream(({ method }) =>
    method === 'POST' ? new UpstreamFault('timeout', 'maybe') : { body: seen },
  );
  const { subaccounts, tenant } = await start({ upstream });
  const input = { subaccountId: NOWHERE, amountCents: 100, pixKey: KEY, idempotencyKey: 'mine' };
  expect(await subaccounts.requestPayout(tenant, input)).toMatchObject({
    payout: { inDoubt: true, amountCents: 100, withdrawalId: null },
  });
});

test('a lost transfer is not taken for one whose answer gave no name', async () => {
  const entry = {
    kind: 'transfer_in',
    refId: 'rep_1',
    amountCents: 100,
    createdAt: clock.now().toISOString(),
  };
  let post: { status: number } | Error = { status: 204 };
  const upstream = scriptedUpstream(({ method }) =>
    method === 'POST' ? post : { body: { entries: [entry], total: 1 } },
  );
  const { subaccounts, tenant } = await start({ upstream });
  const transfer = { subaccountId: NOWHERE, amountCents: 100 };
  await subaccounts.transfer(tenant, { ...transfer, idempotencyKey: 'first' });
  post = new UpstreamFault('timeout', 'maybe');
  const lost = subaccounts.transfer(tenant, { ...transfer, idempotencyKey: 'second' });
  expect(await failure(lost)).toMatchObject({ moneyMayHaveMoved: true });
});

test('a transfer is found though a fee with the same reference was taken since', async () => {
  const at = clock.now().toISOString();
  const transfer = { kind: 'deposito', refId: 'rep_3', amountCents: 100, createdAt: at };
  const fee = { kind: 'tarifa', refId: 'rep_3', amountCents: -5, createdAt: at };
  const upstream = scriptedUpstream(({ method }) =>
    method === 'POST'
      ? new UpstreamFault('timeout', 'maybe')
      : { body: { entries: [transfer, fee], total: 2 } },
  );
  const { subaccounts, tenant } = await start({ upstream });
  const lost = { subaccountId: NOWHERE, amountCents: 100, idempotencyKey: 'with-a-fee' };
  expect(await subaccounts.transfer(tenant, lost)).toMatchObject({ replayed: false });
});

test.each([
  ['a transfer that went the other way', 'transfer_out', -5_000],
  ['a transfer that went the other way, without a sign', 'transfer_out', 5_000],
  ['a fee without a sign', 'payout_fee', 5_000],
  ['a fee without a sign in Portuguese', 'taxa de saque', 5_000],
])('a lost transfer is not taken for %s, though the amount is the same', async (_, kind, amountCents) => {
  const entry = { kind, refId: 'rep_6', amountCents, createdAt: clock.now().toISOString() };
  const upstream = scriptedUpstream(({ method }) =>
    method === 'POST' ? new UpstreamFault('timeout', 'maybe') : { body: { entries: [entry], total: 1 } },
  );
  const { subaccounts, tenant, intents, requests } = await start({ upstream });
  const lost = { subaccountId: NOWHERE, amountCents: 5_000, idempotencyKey: 'the-other-way' };
  expect(await failure(subaccounts.transfer(tenant, lost))).toMatchObject({ moneyMayHaveMoved: true });
  const [intent] = await intents.open(tenant, 'transferToSubaccount');
  expect(intent).toMatchObject({ key: 'the-other-way' });
  const lookUp = () => requests.transferToSubaccount!.lookUp(tenant, intent!);
  // The reply may mean another thing at the service: if it counted as absent, the payout would be repeated.
  expect(await lookUp()).toBe('unclear');
  entry.createdAt = new Date(clock.now().getTime() + 10 * MINUTE).toISOString();
  expect(await lookUp()).toBe('not_there');
});

test.each([
  ['a clock far behind ours', -10 * MINUTE],
  ['the time of São Paulo', -3 * 60 * MINUTE],
  ['a clock far ahead of ours', 20 * MINUTE],
])('a transfer that is entered by %s is not taken for one that was not done', async (_, ms) => {
  const createdAt = new Date(clock.now().getTime() + ms).toISOString();
  const entry = { kind: 'transfer_in', refId: 'rep_2', amountCents: 100, createdAt };
  const upstream = scriptedUpstream(({ method }) =>
    method === 'POST' ? new UpstreamFault('timeout', 'maybe') : { body: { entries: [entry], total: 1 } },
  );
  const { subaccounts, tenant, intents, requests } = await start({ upstream });
  await failure(subaccounts.transfer(tenant, { subaccountId: NOWHERE, amountCents: 100 }));
  const [intent] = await intents.open(tenant, 'transferToSubaccount');
  expect(await requests.transferToSubaccount!.lookUp(tenant, intent!)).toBe('unclear');
});

test('a lost transfer is found by the clock that the service’s Date header shows', async () => {
  const behind = new Date(clock.now().getTime() - 3 * 60 * MINUTE);
  const entry = { kind: 'transfer_in', refId: 'rep_2', amountCents: 100, createdAt: behind.toISOString() };
  const upstream = scriptedUpstream(({ method }) =>
    method === 'POST'
      ? new UpstreamFault('timeout', 'maybe')
      : { headers: { date: behind.toUTCString() }, body: { entries: [entry], total: 1 } },
  );
  const { subaccounts, tenant } = await start({ upstream });
  const lost = { subaccountId: NOWHERE, amountCents: 100, idempotencyKey: 'by-its-clock' };
  expect(await subaccounts.transfer(tenant, lost)).toMatchObject({
    entry: { refId: 'rep_2' },
    replayed: false,
  });
});

test('a transfer of another system is not taken for one that may be entered by a clock far behind ours', async () => {
  const at = (ms: number) => new Date(clock.now().getTime() + ms).toISOString();
  const like = { kind: 'transfer_in', amountCents: 100 };
  const entries = [
    { ...like, refId: 'rep_4', createdAt: at(0) },
    { ...like, refId: 'rep_5', createdAt: at(-3 * 60 * MINUTE) },
  ];
  const upstream = scriptedUpstream(({ method }) =>
    method === 'POST' ? new UpstreamFault('timeout', 'maybe') : { body: { entries, total: 2 } },
  );
  const { subaccounts, tenant, intents, requests } = await start({ upstream });
  await failure(subaccounts.transfer(tenant, { subaccountId: NOWHERE, amountCents: 100 }));
  const [intent] = await intents.open(tenant, 'transferToSubaccount');
  expect(await requests.transferToSubaccount!.lookUp(tenant, intent!)).toBe('unclear');
});

test('a refused transfer or payout with a code is what its code says, whatever the balance shows', async () => {
  const refusal = { code: '', error: '' };
  const upstream = scriptedUpstream(({ method, path }) => {
    if (method === 'POST')
      return {
        status: 400,
        body: { error: refusal.error },
        headers: { 'x-error-code': refusal.code },
      };
    return path === '/v1/wallet'
      ? { body: { balance: 1, withdrawable: 1 } }
      : { body: { id: NOWHERE, balanceCents: 100 } };
  });
  const { subaccounts, tenant } = await start({ upstream });
  const moves = [
    (amountCents: number) => subaccounts.transfer(tenant, { subaccountId: NOWHERE, amountCents }),
    (amountCents: number) =>
      subaccounts.requestPayout(tenant, { subaccountId: NOWHERE, amountCents, pixKey: KEY }),
  ];
  for (const move of moves) {
    Object.assign(refusal, { code: 'BAD_USER_INPUT', error: 'amountCents: must be at most 50' });
    expect(await failure(move(101))).toMatchObject({
      code: 'BAD_USER_INPUT',
      fields: [{ path: 'input.amountCents', message: 'must be at most 50' }],
    });
    Object.assign(refusal, { code: 'INSUFFICIENT_FUNDS', error: 'Too much' });
    expect(await failure(move(99))).toMatchObject({
      code: 'INSUFFICIENT_FUNDS',
      requestedCents: 99,
      withdrawableCents: 100,
    });
  }
});

test('a transfer or a payout whose answer does not say that it was refused may have been done', async () => {
  const said = { status: 200, body: null as unknown };
  const upstream = scriptedUpstream(({ method }) => (method === 'POST' ? said : undefined));
  const { subaccounts, tenant } = await start({ upstream });
  for (const [status, body] of [[302], [408], [499], [200, { error: 'Failed' }]] as const) {
    Object.assign(said, { status, body });
    const move = { subaccountId: NOWHERE, amountCents: 100 };
    const inDoubt = { moneyMayHaveMoved: true, retryable: false };
    expect(await failure(subaccounts.transfer(tenant, move))).toMatchObject(inDoubt);
    expect(await subaccounts.requestPayout(tenant, { ...move, pixKey: KEY })).toMatchObject({
      payout: { inDoubt: true },
    });
  }
});

describe('in front of a service written from the document alone', () => {
  async function startDocument() {
    const document = await startDocumentUpstream({ clock });
    onTestFinished(() => document.close());
    const onFault = (fault: unknown) => {
      throw fault;
    };
    const upstream = createUpstream({
      url: document.url,
      keys: { live: document.liveKey, sandbox: document.testKey },
      budget: createBudget({ database, clock, limit: 0, accountKey: document.liveKey, onFault }),
      clock,
      onFault,
    });
    const facade = await start({ upstream });
    return { document, facade };
  }

  test('a payout is requested, verified, completed and found at such a service, and missing features are errors', async () => {
    const { document, facade } = await startDocument();
    const { subaccounts, tenant } = facade;
    const id = document.openSubaccount(50_000);
    document.verifies = true;
    document.extra = { novidade: { a: 1 } };
    const { payout } = await request(facade, id, { idempotencyKey: 'd-1' });
    expect(payout).toMatchObject({ status: 'processing', amountCents: 4_000 });
    document.setStatus(payout.code!, 'em_analise');
    clock.advance(5 * SECOND);
    expect(await going(subaccounts.findPayout(tenant, id, payout.code!))).toMatchObject({
      status: 'processing',
    });
    await document.settle(payout.code!);
    clock.advance(5 * SECOND);
    expect(await going(subaccounts.findPayout(tenant, id, 'saq_idem_d-1'))).toMatchObject({
      id: payout.id,
      status: 'completed',
    });
    expect(await failure(subaccounts.create(tenant, { name: 'Ana' }))).toBeInstanceOf(UpstreamError);
    const big = await failure(request(facade, id, { amountCents: 10_000_000 }));
    expect(big).toMatchObject({ fields: [{ path: 'input' }] });
  });

  test('the list of subaccounts, which the document does not name, is not offered by such a service', async () => {
    const { facade } = await startDocument();
    const { subaccounts, tenant } = facade;
    const reads = [
      () => subaccounts.list(tenant, { end: 'first', limit: 1 }),
      () => subaccounts.listPage(tenant, { limit: 1, offset: 0 }),
      () => subaccounts.count(tenant),
    ];
    for (const read of reads) expect(await failure(read())).toMatchObject({ code: 'NOT_OFFERED' });
  });
});

async function failure(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    (value) => {
      throw new Error(`was not refused: ${JSON.stringify(value)}`);
    },
    (error) => error,
  );
}
