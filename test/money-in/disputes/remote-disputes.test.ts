import { beforeAll, expect, test } from 'vitest';
import { createRemoteDisputes } from '../../../server/src/money-in/disputes/remote/service.ts';
import type { Database } from '../../../server/src/state/db/database.ts';
import { openFreshDatabase } from '../../support/database.ts';
import { startFacade } from '../../support/facade.ts';
import { createScriptedService, ok, refused, timeout } from '../../support/scripted-service.ts';
import { recordStatements } from '../../support/statements.ts';

const PATH = '/v1/disputes';
const MINUTE = 60_000;
const NOT_OFFERED = { code: 'NOT_OFFERED' };
const CREATED = '2026-03-02T12:00:00.000Z';
const FILE = {
  ...{ fileId: 'f-1', name: 'nota.pdf', mediaType: 'application/pdf', sizeBytes: 70 },
  ...{ sha256: '0'.repeat(64), createdAt: CREATED },
};

let database: Database;
beforeAll(async () => {
  database = await openFreshDatabase();
});

/** A service with disputes, and a facade in front. */
async function start(kept: Record<string, unknown>[] = [], on = database) {
  const script = createScriptedService();
  const facade = await startFacade({ database: on, upstream: script.upstream });
  const disputes = createRemoteDisputes(facade);
  script.on('GET', `${PATH}/`, ({ path }) => {
    const found = kept.find((each) => path === `${PATH}/${each.disputeId ?? each.id}`);
    return found ? ok(found) : refused(404, 'Dispute not found');
  });
  script.on('GET', `${PATH}?`, ({ path }) => {
    const { searchParams } = new URL(path, 'http://service');
    const [limit, offset] = [Number(searchParams.get('limit')), Number(searchParams.get('offset'))];
    return ok({ disputes: kept.slice(offset, offset + limit), total: kept.length, limit, offset });
  });
  return {
    facade,
    disputes,
    script,
    kept,
    tenant: facade.tenant,
    clock: facade.clock,
    merchant: disputes.serviceFor({ priority: 'merchant', subject: null, onRead: () => undefined }),
    async webhook(payload: object) {
      const { observation } = disputes.readWebhook(payload)!;
      return facade.committer.change({
        tenant: facade.tenant,
        read: observation.read,
        decide: (state) => ({ outcome: undefined, writes: observation.decide(state).writes }),
      });
    },
    events: async () =>
      (
        await facade.database.sql
          .selectFrom('event')
          .select(['kind', 'previous_status'])
          .where('account_id', '=', facade.tenant.accountId)
          .orderBy('version')
          .execute()
      ).map(({ kind, previous_status }) => [kind, previous_status]),
  };
}

test('A dispute is read leniently: words that are not known, other names, documents that are no https address', async () => {
  const odd = {
    id: 'dsp_Outra-1',
    status: 'Aguardando',
    reason: 'outro',
    amountCents: '4990',
    createdAt: CREATED,
    orderCode: 'PSC-1',
    evidence: [
      {
        text: 'x',
        documents: [{ url: 'javascript:alert(1)' }, { url: 'https://a.example/b' }, 7],
        fileIds: ['f-1', '../f', 7],
        submittedAt: 1,
      },
      'nothing',
    ],
    files: [FILE, { ...FILE, name: '../a.pdf' }, { ...FILE, mediaType: 'text/html\r\nx: y' }],
  };
  const { merchant, tenant } = await start([odd, { disputeId: 'dsp_2', status: 'OPEN', amountCents: 1 }]);
  expect(await merchant.find(tenant, 'dsp_Outra-1')).toMatchObject({
    status: 'unknown',
    lastStatus: null,
    reason: 'unknown',
    amountCents: 4990,
    evidenceDueAt: null,
    resource: { type: 'card_payment', id: 'PSC-1' },
    evidence: [
      {
        text: 'x',
        documents: [{ url: 'https://a.example/b', description: null }],
        fileIds: ['f-1'],
        submittedAt: null,
      },
    ],
    files: [{ ...FILE, createdAt: new Date(CREATED) }],
  });
  expect(await merchant.find(tenant, 'dsp_2')).toMatchObject({
    status: 'open',
    createdAt: null,
    resource: null,
  });
});

test('The amount of a dispute grows, and a late answer with a smaller one changes nothing', async () => {
  const row: Record<string, unknown> = { disputeId: 'dsp_1', status: 'open', amountCents: 500 };
  const { merchant, tenant, clock, events } = await start([row]);
  for (const [amountCents, shown] of [
    [500, 500],
    [900, 900],
    [600, 900],
    [undefined, 900],
  ]) {
    row.amountCents = amountCents;
    expect(await merchant.find(tenant, 'dsp_1')).toMatchObject({ status: 'open', amountCents: shown });
    // What was shown is kept before the log is read: the next answer is not merged with it in memory.
    await events();
    clock.advance(MINUTE);
  }
  expect(await events()).toEqual([
    ['dispute.open', null],
    ['dispute.open', 'open'],
  ]);
});

test('A status goes forward by webhooks in any order, and back by newer answers alone, and each change is announced once', async () => {
  const row: Record<string, unknown> = {
    disputeId: 'dsp_1',
    status: 'open',
    amountCents: 500,
    createdAt: CREATED,
  };
  const { merchant, tenant, webhook, events, clock } = await start([row]);
  await merchant.find(tenant, 'dsp_1');
  const event = { event: 'dispute.closed', disputeId: 'dsp_1', status: 'lost', closedAt: CREATED };
  await webhook(event);
  await webhook(event);
  await webhook({ ...event, event: 'dispute.updated', status: 'under_review', closedAt: null });
  await webhook({ ...event, status: 'anulada' });
  await webhook({ ...event, status: 'won' });
  row.status = 'forgiven';
  clock.advance(MINUTE);
  expect(await merchant.find(tenant, 'dsp_1')).toMatchObject({ status: 'forgiven' });
  await webhook(event);
  // A newer answer of the service corrects even a final status.
  row.status = 'won';
  clock.advance(MINUTE);
  expect(await merchant.find(tenant, 'dsp_1')).toMatchObject({ status: 'won' });
  expect(await events()).toEqual([
    ['dispute.open', null],
    ['dispute.lost', 'open'],
    ['dispute.unknown', 'lost'],
    ['dispute.forgiven', 'unknown'],
    ['dispute.won', 'forgiven'],
  ]);
});

test('A list of several pages is read into the mirror, and answers from it where the service is down', async () => {
  const kept = Array.from({ length: 230 }, (_, index) => ({
    disputeId: `dsp_${230 - index}`,
    status: index % 2 === 0 ? 'open' : 'won',
    amountCents: 1,
    createdAt: CREATED,
  }));
  const { merchant, tenant, script } = await start(kept);
  const { items, more } = await merchant.list(tenant, { end: 'first', limit: 3 });
  expect(items.map(({ resource: { disputeId } }) => disputeId)).toEqual(['dsp_230', 'dsp_229', 'dsp_228']);
  expect(more).toBe(true);
  expect(await merchant.count(tenant, { status: ['won'] })).toBe(115);
  expect(script.requests.filter(({ path }) => path.startsWith(`${PATH}?`))).toHaveLength(3);
  const last = await merchant.list(tenant, { end: 'last', limit: 2 });
  expect(last.items.map(({ resource: { disputeId } }) => disputeId)).toEqual(['dsp_2', 'dsp_1']);
});

test.each([404, 405, 501])(
  'A service that answers %d has no disputes, and is asked again after ten minutes',
  async (status) => {
    const { merchant, tenant, script, clock } = await start();
    script.on('GET', PATH, () => refused(status, 'Not here'));
    for (let count = 0; count < 3; count += 1) {
      await expect(merchant.list(tenant, { end: 'first', limit: 1 })).rejects.toMatchObject(NOT_OFFERED);
      await expect(merchant.find(tenant, 'dsp_1')).rejects.toMatchObject(NOT_OFFERED);
    }
    const asked = script.requests.length;
    expect(asked).toBeLessThanOrEqual(2);
    clock.advance(10 * MINUTE);
    await expect(merchant.list(tenant, { end: 'first', limit: 1 })).rejects.toMatchObject(NOT_OFFERED);
    expect(script.requests.length).toBe(asked + 1);
  },
);

test('A list in which nothing can be read is an error where no dispute is known, and hides none that is', async () => {
  const readable = { disputeId: 'dsp_1', status: 'open', amountCents: 5, createdAt: CREATED };
  const { amountCents: _, ...withoutAmount } = readable;
  for (const unreadable of [
    { ...readable, disputeId: 'med-1' },
    { ...withoutAmount, valor: 5 },
  ]) {
    const { merchant, tenant, kept, clock, webhook, facade } = await start([unreadable]);
    const listed = () => merchant.list(tenant, { end: 'first', limit: 9 });
    await expect(listed()).rejects.toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
    await expect(merchant.count(tenant, {})).rejects.toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
    kept.push({ ...readable, disputeId: 'dsp_2' });
    clock.advance(MINUTE);
    expect((await listed()).items).toMatchObject([{ resource: { disputeId: 'dsp_2' } }]);
    kept.pop();
    await webhook({ event: 'dispute.opened', ...readable });
    clock.advance(MINUTE);
    for (let time = 0; time < 2; time += 1) {
      // The list cannot be read, but these disputes are in the mirror.
      expect((await listed()).items).toHaveLength(2);
      clock.advance(MINUTE);
    }
    // The mirror has the dispute's amount, so an answer with only a status can be read.
    expect(facade.faults).toHaveLength(unreadable.disputeId === 'dsp_1' ? 0 : 1);
  }
});

test('Nothing is asked for a text that is no id, in sandbox, or for evidence; a known dispute is shown while the service is down', async () => {
  const { merchant, tenant, script, clock } = await start([
    { disputeId: 'dsp_1', status: 'open', amountCents: 5 },
  ]);
  const sandbox = { ...tenant, environment: 'sandbox' } as const;
  for (const id of ['', '../../money-out/wallet', 'dsp_a/b', `dsp_${'x'.repeat(65)}`])
    expect(await merchant.find(tenant, id)).toBeNull();
  expect(await merchant.find(sandbox, 'dsp_1')).toBeNull();
  expect(await merchant.list(sandbox, { end: 'first', limit: 1 })).toEqual({ items: [], more: false });
  await expect(merchant.submitEvidence(tenant, 'dsp_1', { text: 'x' })).rejects.toMatchObject(NOT_OFFERED);
  expect(script.requests).toEqual([]);
  await merchant.find(tenant, 'dsp_1');
  script.on('GET', PATH, timeout);
  clock.advance(MINUTE);
  expect(await merchant.find(tenant, 'dsp_1')).toMatchObject({ status: 'open' });
});

test('A long list takes few statements, each time that it is read', async () => {
  const { database: observed, statements } = recordStatements(database);
  const kept = Array.from({ length: 230 }, (_, index) => ({
    disputeId: `dsp_${String(230 - index).padStart(3, '0')}`,
    status: 'open',
    reason: 'fraud',
    amountCents: 100,
    createdAt: CREATED,
  }));
  const { merchant, tenant, clock, events } = await start(kept, observed);
  const list = async () => {
    statements.length = 0;
    const { items } = await merchant.list(tenant, { end: 'first', limit: 100 });
    expect(items.map(({ resource: dispute }) => dispute.disputeId)).toEqual(
      kept.slice(0, 100).map(({ disputeId }) => disputeId),
    );
    return statements.length;
  };
  expect(await list()).toBeLessThan(100);
  // A page has a read and a touch, which is logged again for the statement inside it.
  const few = 3 * 3 + 1;
  expect(await list()).toBeLessThanOrEqual(few);
  clock.advance(MINUTE);
  expect(await list()).toBeLessThanOrEqual(few);
  expect(await events()).toHaveLength(230);
});
