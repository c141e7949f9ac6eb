import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { prepareToken } from '../../../server/src/access/service.ts';
import { createSessionService } from '../../../server/src/access/session-service.ts';
import { DAY_MS } from '../../../server/src/kernel/clock.ts';
import { NotFoundError } from '../../../server/src/kernel/errors.ts';
import { DEFAULT_KEEP, KEEP_ALL, type Keep } from '../../../server/src/programs/retention/model.ts';
import { openRetention } from '../../../server/src/programs/retention/service.ts';
import { restoreDatabase, saveDatabase } from '../../../server/src/state/db/backup.ts';
import { waitForStream } from '../../../server/src/state/events/log.ts';
import { addKey } from '../../support/accounts.ts';
import { startApp } from '../../support/app.ts';
import { approved } from '../../support/cards.ts';
import { createManualClock } from '../../support/clock.ts';
import { type Core, startCore } from '../../support/core.ts';
import {
  connectTo,
  createPostgresDatabase,
  describeOnDatabase,
  hasLockWaiter,
  openFreshDatabase,
  takePostgresDatabase,
} from '../../support/database.ts';
import { startReceiver } from '../../support/receiver.ts';

describeOnDatabase('the age of rows', (open) => {
  test('Deliveries that have ended go with their attempts, and one that is sent again stays until it has ended', async () => {
    const core = await startCore({ database: await open(), follows: false });
    const receiver = await startReceiver();
    await core.webhooks.configure(core.tenant, { url: receiver.url });
    const [delivered, again] = [await sell(core), await sell(core)];
    receiver.answer = (response) => response.writeHead(500).end();
    const [exhausted, held] = [await sell(core), await sell(core)];
    await core.pass(2 * DAY_MS);
    core.clock.advance(90 * DAY_MS);
    const idOf = async (orderCode: string) =>
      (await listed(core)).find(({ resourceId }) => resourceId === orderCode)!.webhookId;
    const pending = await idOf(again);
    await core.webhooks.redeliver(core.tenant, pending);
    const young = await sell(core);
    const gone = [await idOf(delivered), await idOf(exhausted)];
    // The endpoint of this one is disabled by its failures.
    await sql`update webhook_delivery set status = 'held' where resource_id = ${held}`.execute(
      core.database.sql,
    );

    const { removed, run } = await retention(core, { ...KEEP_ALL, deliveries: 90 });
    await run();
    expect(removed).toEqual({ deliveries: 2 });
    expect((await listed(core)).map(({ resourceId, status }) => [resourceId, status])).toEqual([
      [young, 'pending'],
      [held, 'held'],
      [again, 'pending'],
    ]);
    expect(await core.webhooks.count(core.tenant, {})).toBe(3);
    await expect(core.webhooks.redeliver(core.tenant, gone[0]!)).rejects.toBeInstanceOf(NotFoundError);
    const { rows } = await sql<{ count: number }>`
      select count(*) as count from webhook_attempt where webhook_id = any(${gone})`.execute(
      core.database.sql,
    );
    expect(rows).toEqual([{ count: 0 }]);

    receiver.answer = (response) => response.end();
    await core.pass(3_600_000);
    await run();
    expect((await listed(core)).map(({ resourceId }) => resourceId)).toEqual([young, held]);
    expect(core.faults).toEqual([]);
  });

  test('What an attempt has sent and got back goes before the attempt', async () => {
    const core = await startCore({ database: await open(), follows: false });
    const receiver = await startReceiver((response) => response.end('thanks'));
    await core.webhooks.configure(core.tenant, { url: receiver.url });
    await sell(core);
    await core.work.settled();
    core.clock.advance(14 * DAY_MS + 1);
    await sell(core);
    await core.work.settled();
    const { removed, run } = await retention(core, { ...KEEP_ALL, bodies: 14 });
    await run();
    expect(removed).toEqual({ bodies: 1 });
    const { rows } = await sql`
      select exchange ->> 'responseBody' as body, a.response_status from webhook_attempt a
      join webhook_delivery d using (webhook_id) where d.account_id = ${core.tenant.accountId} order by a.at`.execute(
      core.database.sql,
    );
    expect(rows).toEqual([
      { body: null, response_status: 200 },
      { body: 'thanks', response_status: 200 },
    ]);
  });

  test('Tokens and sessions go some time after their end, but for the first of an order, with which later ones are compared', async () => {
    const core = await startCore({ database: await open(), follows: false });
    const mint = (input: object) =>
      core.checkoutTokens.create(core.tenant, null, { amount: { fixedCents: 500 }, ...input });
    const { payment } = await core.cardPayments.create(core.tenant, { valueCents: 500 });
    const used = await mint({});
    for (const use of ['checkout_use', 'pix_checkout_use'])
      await sql`insert into ${sql.table(use)} values (${used.tokenId}, ${payment.orderCode})`.execute(
        core.database.sql,
      );
    const reusable = await mint({ reusable: true });
    const revoked = await mint({ reusable: true });
    await core.access.revokeToken(core.tenant, revoked.token);
    const [first, second] = [await mint({ externalId: '1042' }), await mint({ externalId: '1042' })];
    await core.access.createPaymentToken(core.tenant, { orderCode: payment.orderCode });
    const sessions = createSessionService({ ...core, prepare: prepareToken });
    const caller = await core.access.authenticate(`Bearer ${await addKey(core, core.tenant)}`);
    await sessions.begin(caller);
    core.clock.advance(60 * DAY_MS);
    const late = await mint({});
    const { session } = await sessions.begin(caller);
    core.clock.advance(50 * DAY_MS);

    const { removed, run } = await retention(core, { ...KEEP_ALL, tokens: 90 });
    await run();
    await run();
    // The single token, the revoked one, the second of the order, the payment's, and a session of the console.
    expect(removed).toEqual({ tokens: 5 });
    expect(
      await core.database.sql.selectFrom('console_session').select('session_id').execute(),
    ).toContainEqual({
      session_id: session.sessionId,
    });
    const rows = await core.database.sql
      .selectFrom('token')
      .select('id')
      .where('account_id', '=', core.tenant.accountId)
      .execute();
    expect(rows.map(({ id }) => id).sort()).toEqual([reusable.tokenId, first.tokenId, late.tokenId].sort());
    expect(rows.map(({ id }) => id)).not.toContain(second.tokenId);
    // The order still has its first token.
    await mint({ externalId: '1042' });
    await expect(mint({ externalId: '1042', amount: { fixedCents: 501 } })).rejects.toThrow();
  });
});

test('A server removes what is old as due work, and says how long it keeps what', async () => {
  const app = await startApp({ environment: { PSA_KEEP: 'events:30d,deliveries:forever' } });
  const RETENTION =
    '{ retention { eventsDays eventsFrom deliveriesDays bodiesDays tokensDays } updatesCursor }';
  const days = { eventsDays: 30, deliveriesDays: null, bodiesDays: 14, tokensDays: 90 };
  await app.live.request('mutation { createDashboardToken(input: { scopes: [WALLET] }) { __typename } }');
  const CREATE = 'mutation { createCardPayment(input: { valueCents: 100 }) { __typename } }';
  const { updatesCursor: expired } = await app.live.request(RETENTION);
  const [early] = [app.clock.now()];
  await app.live.request(CREATE);
  await app.live.request(CREATE);
  expect((await app.live.request(RETENTION)).retention).toEqual({ ...days, eventsFrom: null });
  for (const days of [39, 1, 1]) {
    app.clock.advance(days * DAY_MS);
    await app.work.settled();
  }
  const { retention: read, updatesCursor } = await app.live.request(RETENTION);
  expect(read).toMatchObject(days);
  expect(Date.parse(read.eventsFrom)).toBeGreaterThanOrEqual(early.getTime());
  const follow = async (after: string) =>
    (await app.live
      .sse('subscription ($after: String) { allCardPaymentUpdates(after: $after) { cursor } }', { after })
      .next()
      .catch((error: unknown) => String(error))) as unknown;
  expect(JSON.stringify(await follow(expired))).toContain('CURSOR_EXPIRED');
  expect(updatesCursor).not.toBe(expired);
  expect(app.keepsOlder).toBe(false);
  expect(app.faults).toEqual([]);
  await app.close();
});

test('A database with events from before PSA_KEEP keeps everything until it is set', async () => {
  const database = await openFreshDatabase();
  const app = await startApp({ database });
  expect(app.keepsOlder).toBe(false);
  await database.sql.updateTable('database_mode').set({ keeps_all: true }).execute();
  const again = async (keep: Keep | null) => {
    const { keepsOlder, service } = await openRetention({
      ...{ database, clock: app.clock, keep },
      onFault: (fault) => app.faults.push(fault),
    });
    return { keepsOlder, ...(await service.read({ accountId: 'acc_none', environment: 'live' })) };
  };
  expect(await again(null)).toEqual({ keepsOlder: true, ...KEEP_ALL, eventsFrom: null });
  expect(await again(DEFAULT_KEEP)).toEqual({ keepsOlder: false, ...DEFAULT_KEEP, eventsFrom: null });
  await app.close();
});

test('Events and tokens wait for the lock of their tenant, under which an erasure changes them', async () => {
  const clock = createManualClock();
  const core = await startCore({
    database: await connectTo(await takePostgresDatabase(), clock),
    ...{ clock, follows: false },
  });
  await core.checkoutTokens.create(core.tenant, null, { amount: { fixedCents: 500 } });
  await sell(core);
  clock.advance(200 * DAY_MS);
  await core.work.settled();
  const { sql: on } = core.database;
  await sql`update stream set kept_from = version`.execute(on);
  const left = async () => {
    const { rows } = await sql<{ left: number }>`
      select (select count(*) from event join stream using (account_id, environment) where event.version < kept_from)
        + (select count(*) from token) as left`.execute(on);
    return rows[0]!.left;
  };
  for (const kept of ['events', 'tokens'] as const) {
    const before = await left();
    const { removed, run } = await retention(core, { ...KEEP_ALL, [kept]: 90 });
    const running = await core.database.transaction(async (held) => {
      await waitForStream(held, core.tenant);
      const begun = run();
      await expect.poll(() => hasLockWaiter(core.database)).toBe(true);
      expect(await left()).toBe(before);
      return { begun };
    });
    await running.begun;
    expect(removed).toEqual({ [kept]: expect.any(Number) });
  }
});

test('A restored backup loses again what had gone since, and no cursor misses an event', async () => {
  const database = await openFreshDatabase();
  const core = await startCore({ database, follows: false });
  for (let turn = 0; turn < 8; turn += 1) {
    await sell(core);
    core.clock.advance(5 * DAY_MS);
  }
  const texts: string[] = [];
  const { header } = await saveDatabase(database, {
    takenAt: core.clock.now(),
    write: async (all) => {
      for await (const text of all) texts.push(text);
    },
  });
  const runs = async (of: Core) => {
    const { run } = await retention(of, { ...KEEP_ALL, events: 30 });
    for (let turn = 0; turn < 3; turn += 1) await run();
    return of.database.sql
      .selectFrom('event')
      .select(['version', 'occurred_at'])
      .where('account_id', '=', of.tenant.accountId)
      .orderBy('version')
      .execute();
  };
  const left = await runs(core);
  expect(left[0]!.version).toBeGreaterThan(1);
  const restored = await connectTo(await createPostgresDatabase('template1'), core.clock);
  await restoreDatabase(restored, {
    header,
    texts: (async function* () {
      yield* texts;
    })(),
  });
  const places = () => restored.sql.selectFrom('stream').select(['kept_from', 'removed_to']).execute();
  expect(await places()).toEqual([{ kept_from: 0, removed_to: 0 }]);
  const again = await startCore({
    database: restored,
    clock: core.clock,
    tenant: core.tenant,
    follows: false,
  });
  // The log begins where it began before the restore.
  expect((await runs(again))[0]).toEqual(left[0]);
});

// ── Builders ────────────────────────────────────────────────────────────────────────────────────

/** Opens the removal, as a function that does one run, with the rows that it has removed. */
async function retention(core: Core, keep: Keep) {
  const removed: Record<string, number> = {};
  const { tasks } = await openRetention({
    ...{ database: core.database, clock: core.clock, keep },
    onRemoved: (kept, rows) => {
      removed[kept] = (removed[kept] ?? 0) + rows;
    },
    onFault: (fault) => core.faults.push(fault),
  });
  const task = { ...core.tenant, kind: 'retention', key: '', group: '' };
  return {
    removed,
    run: () => tasks.retention({ ...task, attempts: 1, outages: 0, revision: 0, lease: '' }),
  };
}

async function sell(core: Core): Promise<string> {
  const { payment } = await core.cardPayments.create(core.tenant, { valueCents: 4990 });
  await core.cardPayments.pay(payment.orderCode, approved());
  return payment.orderCode;
}

async function listed(core: Core) {
  const { items } = await core.webhooks.list(core.tenant, { end: 'first', limit: 50 });
  return items.map(({ delivery }) => delivery);
}
