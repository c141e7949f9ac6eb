import { expect, onTestFinished, test } from 'vitest';
import { tokens } from '../../server/src/access/collections.ts';
import { plusMs } from '../../server/src/kernel/clock.ts';
import type { Requester } from '../../server/src/kernel/requester.ts';
import { createTokenAdministration } from '../../server/src/money-in/card-payments/tokens/service.ts';
import { createRemotePayments } from '../../server/src/money-in/payments/remote/service.ts';
import { createRemoteRefunds } from '../../server/src/money-in/refunds/remote/service.ts';
import { payoutIdOf } from '../../server/src/money-out/payouts/model.ts';
import { createRemotePayouts } from '../../server/src/money-out/payouts/remote/service.ts';
import { createRemoteSubaccounts } from '../../server/src/money-out/subaccounts/remote/service.ts';
import { createDoubts } from '../../server/src/programs/modes/doubts.ts';
import { createRecords } from '../../server/src/state/db/records.ts';
import { describeOnDatabase } from '../support/database.ts';
import { startFacade } from '../support/facade.ts';
import { startPair } from '../support/pair.ts';
import { lost, type Script, scriptedUpstream, unreachable } from '../support/scripted-upstream.ts';
import { silent } from '../support/templates.ts';

const MINUTE = 60_000;
const SUBACCOUNT = `sacc_${'a'.repeat(32)}`;
const REFUND = `ref_${'1'.repeat(24)}`;
const PAYOUT = { method: 'pix', amountCents: 10_000, destination: 'ana@padaria.example' } as const;
const MERCHANT: Requester = { priority: 'merchant', subject: null, onRead: () => undefined };

describeOnDatabase('a facade whose records went back', (open) => {
  /**
   * Restores the database to its state of ten minutes ago. The service has the payouts of `list`, and answers other
   * requests by `script`.
   */
  async function start({ list = [], script = () => undefined }: { list?: object[]; script?: Script } = {}) {
    const database = await open();
    const upstream = scriptedUpstream(async (request) => {
      const own = await script(request);
      if (own) return own;
      if (request.path.startsWith('/v1/payouts?')) return { body: { payouts: list, total: list.length } };
      if (request.path === '/v1/payouts') return { status: 201, body: shown('SAQ-9', {}) };
      return undefined;
    });
    const facade = await startFacade({ database, upstream, families: ['refunds'] });
    const { clock, records } = facade;
    const shown = (
      code: string,
      { amount = 100, agoMinutes = 0, walletAddress = 'a***@padaria.example' },
    ) => ({
      id: code.at(-1)!.repeat(24),
      ...{ code, amount, walletAddress, method: 'pix', status: 'pendente' },
      requestedAt: plusMs(clock.now(), -agoMinutes * MINUTE).toISOString(),
    });
    const readWallet = () => Promise.reject(new Error('not asked for'));
    const slices = [
      createRemotePayouts({ ...facade, readWallet }),
      createRemoteSubaccounts({ ...facade, readWallet }),
      createRemoteRefunds({ ...facade, readWallet }),
    ] as const;
    for (const { requests } of slices) Object.assign(facade.requests, requests);
    const [payouts, subaccounts, refunds] = slices;
    const receiving = { callbackUrl: null, findProduct: async () => null, privateAddresses: false };
    const payments = createRemotePayments({ ...facade, ...receiving });
    await records.restored({ since: plusMs(clock.now(), -10 * MINUTE) });
    const sent = () => upstream.requests.filter(({ method }) => method === 'POST').length;
    return {
      ...facade,
      ...{ sent, shown, upstream, list },
      doubts: createDoubts(facade),
      payouts: payouts.serviceFor(MERCHANT),
      subaccounts: subaccounts.serviceFor(MERCHANT),
      refunds: refunds.serviceFor(MERCHANT),
      payments: payments.serviceFor(MERCHANT),
      polls: [payouts.poll, subaccounts.poll, payments.poll],
    };
  }
  const behind = { code: 'RECORDS_BEHIND', message: expect.stringContaining('this server was restored') };

  test('a lookup by a key that is not known is an error until it is confirmed, and null then', async () => {
    const { payouts, subaccounts, refunds, records, tenant } = await start({
      script: ({ path }) =>
        path.startsWith('/v1/refunds/') ? { status: 404, body: { error: 'Refund not found' } } : undefined,
    });
    const lookUps = [
      () => payouts.findByKey(tenant, 'k1'),
      () => subaccounts.findPayout(tenant, SUBACCOUNT, 'saq_idem_k1'),
      () => subaccounts.findPayoutWithVersion(tenant, SUBACCOUNT, 'saq_idem_k1'),
      () => refunds.find(tenant, 'ref_idem_k1'),
    ];
    for (const lookUp of lookUps) await expect(lookUp()).rejects.toMatchObject(behind);
    await records.restored({ confirm: true });
    for (const lookUp of lookUps) expect(await lookUp()).toBeNull();
  });

  test('a lookup by an id that the records lack is an error, and a repeated request has the id again', async () => {
    const { payouts, subaccounts, records, tenant, database } = await start({
      script: ({ method, path }) =>
        method === 'POST'
          ? lost()
          : path.includes('saq_idem')
            ? { status: 404, body: { error: 'Payout not found' } }
            : undefined,
    });
    await records.restored({ confirm: true });
    const request = async () =>
      payoutIdOf((await payouts.request(tenant, { ...PAYOUT, idempotencyKey: 'k1' })).payout);
    const id = await request();
    await database.sql.deleteFrom('upstream_intent').execute();
    await database.sql.deleteFrom('observed').execute();
    await records.restored({ since: new Date(0) });
    for (const lookUp of [
      () => payouts.findMany(tenant, [id]),
      () => payouts.findWithVersion(tenant, id),
      () => subaccounts.findPayouts(tenant, [`sqp_${'1'.repeat(32)}`]),
    ])
      await expect(lookUp()).rejects.toMatchObject(behind);
    expect(await request()).toBe(id);
    expect(await payouts.findMany(tenant, [id])).toMatchObject([{ inDoubt: true }]);
  });

  test('a withdrawal that is like a newer one of the service is in doubt, and is not sent', async () => {
    const { payouts, doubts, shown, list, sent, records, tenant } = await start();
    list.push(shown('SAQ-1', { agoMinutes: 5 }), shown('SAQ-2', { agoMinutes: 5, amount: 99 }));
    // The list was polled after the restore: payouts in the mirror are not known from before.
    await payouts.listPage(tenant, { limit: 50, offset: 0 });
    const { payout } = await payouts.request(tenant, { ...PAYOUT, idempotencyKey: 'k1' });
    expect(payout).toMatchObject({ inDoubt: true, withdrawalId: null });
    expect(sent()).toBe(0);
    const [doubt] = (await doubts.listDoubts()).doubts;
    expect(doubt).toMatchObject({ key: 'k1', finding: expect.stringContaining('SAQ-1 may be it') });
    // Neither a lookup nor a repeated request sends it or gives it up.
    expect(await payouts.findByKey(tenant, 'k1')).toMatchObject({ inDoubt: true });
    await records.restored({ confirm: true });
    expect((await payouts.request(tenant, { ...PAYOUT, idempotencyKey: 'k1' })).payout.inDoubt).toBe(true);
    expect(sent()).toBe(0);
    await doubts.settleDoubt({ id: doubt!.id, made: 'SAQ-1' });
    expect(await payouts.findByKey(tenant, 'k1')).toMatchObject({ code: 'SAQ-1' });
  });

  test('a withdrawal under way at the backup does not take the payout of a request that the records lack', async () => {
    const destination = 'ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9';
    const input = { ...PAYOUT, method: 'ltc', destination } as const;
    const { payouts, doubts, work, clock, shown, list, sent, records, tenant } = await start({
      script: ({ method }) => (method === 'POST' ? lost() : undefined),
    });
    await records.restored({ confirm: true });
    expect((await payouts.request(tenant, { ...input, idempotencyKey: 'k1' })).payout.inDoubt).toBe(true);
    clock.advance(MINUTE);
    await records.restored({ since: plusMs(clock.now(), -MINUTE) });
    // The lost records had the request k2, which has made this payout.
    list.push({ ...shown('SAQ-2', {}), method: 'ltc', walletAddress: destination });
    for (let lookups = 0; lookups < 3; lookups += 1) {
      clock.advance(MINUTE);
      await work.settled();
    }
    expect(await payouts.findByKey(tenant, 'k1')).toMatchObject({ inDoubt: true, code: null });
    expect((await payouts.request(tenant, { ...input, idempotencyKey: 'k2' })).payout.inDoubt).toBe(true);
    expect(sent()).toBe(1);
    const second = (await doubts.listDoubts()).doubts.find(({ key }) => key === 'k2')!;
    await doubts.settleDoubt({ id: second.id, made: 'SAQ-2' });
    expect(await payouts.findByKey(tenant, 'k2')).toMatchObject({ code: 'SAQ-2' });
    await records.restored({ confirm: true });
  });

  test('a transfer under way at the backup does not take the entry of a request that the records lack', async () => {
    const entries: object[] = [];
    const { subaccounts, work, clock, sent, records, tenant } = await start({
      script({ method, path }) {
        if (method === 'POST') return lost();
        return path.includes('/statement') ? { body: { entries, total: entries.length } } : undefined;
      },
    });
    await records.restored({ confirm: true });
    const transfer = () =>
      subaccounts.transfer(tenant, { subaccountId: SUBACCOUNT, amountCents: 100, idempotencyKey: 'k1' });
    const unknown = { code: 'OUTCOME_UNKNOWN', moneyMayHaveMoved: true };
    await expect(transfer()).rejects.toMatchObject(unknown);
    clock.advance(MINUTE);
    await records.restored({ since: plusMs(clock.now(), -MINUTE) });
    entries.push({
      ...{ kind: 'transfer_in', refId: 'rep_1', amountCents: 100 },
      createdAt: clock.now().toISOString(),
    });
    clock.advance(MINUTE);
    await work.settled();
    await expect(transfer()).rejects.toMatchObject(unknown);
    expect(sent()).toBe(1);
    await records.restored({ confirm: true });
    expect(await transfer()).toMatchObject({ entry: { refId: 'rep_1' } });
    expect(sent()).toBe(1);
  });

  test('a withdrawal is sent where no newer one fits that is nobody’s', async () => {
    const { payouts, shown, list, sent, tenant } = await start();
    list.push(
      shown('SAQ-9', { agoMinutes: 0 }),
      shown('SAQ-2', { agoMinutes: 5, amount: 99 }),
      shown('SAQ-3', { agoMinutes: 5, walletAddress: 'b***@padaria.example' }),
      shown('SAQ-4', { agoMinutes: 3 * 24 * 60 }),
    );
    // The first request creates SAQ-9.
    const other = list.shift();
    await payouts.request(tenant, { ...PAYOUT, idempotencyKey: 'k1' });
    list.unshift(other!);
    expect(await payouts.findByKey(tenant, 'k1')).toMatchObject({ code: 'SAQ-9' });
    await payouts.request(tenant, { ...PAYOUT, idempotencyKey: 'k2' });
    expect(sent()).toBe(2);
    await payouts.request(tenant, { ...PAYOUT, idempotencyKey: 'k1' });
    expect(sent()).toBe(2);
  });

  test.each<[string, Script]>([
    ['fails', ({ method }) => (method === 'GET' ? lost() : undefined)],
    ['is a page', ({ method }) => (method === 'GET' ? { body: '<html>' } : undefined)],
    [
      'does not reach back',
      ({ method }) => (method === 'GET' ? { body: { payouts: [], total: 400 } } : undefined),
    ],
  ])('a withdrawal is in doubt where the list %s', async (_, script) => {
    const { payouts, sent, tenant } = await start({ script });
    const { payout } = await payouts.request(tenant, { ...PAYOUT, idempotencyKey: 'k1' });
    expect(payout.inDoubt).toBe(true);
    expect(sent()).toBe(0);
  });

  test.each([
    ['cannot be reached', unreachable()],
    ['is behind the page of a proxy', { status: 404, body: '<html>' }],
  ])('a withdrawal is refused where the service %s, and looked for again', async (_, said) => {
    let isAway = true;
    const { payouts, shown, list, sent, tenant } = await start({
      script: () => (isAway ? said : undefined),
    });
    const request = () => payouts.request(tenant, { ...PAYOUT, idempotencyKey: 'k1' });
    await expect(request()).rejects.toMatchObject({ retryable: true, moneyMayHaveMoved: false });
    isAway = false;
    list.push(shown('SAQ-1', { agoMinutes: 5 }));
    expect((await request()).payout.inDoubt).toBe(true);
    expect(sent()).toBe(0);
  });

  test('a key that was refused before the backup is looked for, too', async () => {
    let refuses = true;
    const { payouts, shown, list, sent, records, tenant, clock } = await start({
      script: ({ method }) =>
        method === 'POST' && refuses ? { status: 403, body: { error: 'Não' } } : undefined,
    });
    const request = () => payouts.request(tenant, { ...PAYOUT, idempotencyKey: 'k1' });
    await expect(request()).rejects.toMatchObject({ code: 'FORBIDDEN' });
    // The payout was looked up before it was sent, so it is known.
    expect(await payouts.findByKey(tenant, 'k1')).toBeNull();
    clock.advance(MINUTE);
    await records.restored({ since: plusMs(clock.now(), -1) });
    refuses = false;
    await expect(payouts.findByKey(tenant, 'k1')).rejects.toMatchObject(behind);
    list.push(shown('SAQ-1', {}));
    expect((await request()).payout.inDoubt).toBe(true);
    expect(sent()).toBe(1);
  });

  test.each([
    ['does not have it in its statement', { body: { entries: [], total: 0, limit: 100, offset: 0 } }],
    ['shows no statement', undefined],
  ])('a transfer is in doubt until the operator settles it, where the service %s', async (_, statement) => {
    const { subaccounts, doubts, sent, tenant, clock, work } = await start({
      script: ({ method, path }) =>
        path.includes('/statement')
          ? statement
          : method === 'POST'
            ? { body: { refId: 'rep_2' } }
            : undefined,
    });
    const transfer = (idempotencyKey: string) =>
      subaccounts.transfer(tenant, { subaccountId: SUBACCOUNT, amountCents: 500, idempotencyKey });
    for (const key of ['t1', 't2']) {
      clock.advance(MINUTE);
      await expect(transfer(key)).rejects.toMatchObject({
        ...{ moneyMayHaveMoved: true, retryable: false },
        message: expect.stringContaining('an operator settles it'),
      });
    }
    work.start();
    // An answer without the payout proves nothing.
    clock.advance(60 * MINUTE);
    await work.settled();
    const [first, second] = (await doubts.listDoubts()).doubts;
    expect(first).toMatchObject({ key: 't1', operation: 'transferToSubaccount' });
    expect(sent()).toBe(0);
    await doubts.settleDoubt({ id: first!.id, made: 'rep_1' });
    await doubts.settleDoubt({ id: second!.id, made: null });
    expect(await transfer('t1')).toMatchObject({ replayed: true });
    expect(sent()).toBe(0);
    // The other records are still behind, but this key is known.
    expect(await transfer('t2')).toMatchObject({ replayed: false });
    expect(sent()).toBe(1);
  });

  test('a payout of a subaccount, and a refund, are asked for by their keys first', async () => {
    const made = {
      ...{ payoutId: 'saq_idem_p1', withdrawalId: 'f'.repeat(24), code: 'TURBO-1', subaccountId: SUBACCOUNT },
      ...{ status: 'completed', reversed: false, amountCents: 500, feeCents: 0, platformFeeCents: 0 },
      ...{ netAmountCents: 500, pixKey: 'b***', createdAt: '2026-03-02T12:00:00.000Z', completedAt: null },
    };
    const refund = {
      ...{ refundId: REFUND, paymentId: 'psa_1', amountCents: 500, status: 'completed' },
      createdAt: '2026-03-02T12:00:00.000Z',
    };
    const { subaccounts, refunds, sent, upstream, tenant } = await start({
      script({ method, path }) {
        if (method === 'POST') return lost();
        if (path.endsWith('saq_idem_p1')) return { body: made };
        if (path.endsWith('ref_idem_r1')) return { body: refund };
        return /payouts|refunds/.test(path)
          ? { status: 404, body: { error: 'Payout not found' } }
          : undefined;
      },
    });
    const payOut = (idempotencyKey: string) =>
      subaccounts.requestPayout(tenant, {
        ...{ subaccountId: SUBACCOUNT, amountCents: 500, pixKey: 'bia@cliente.example', idempotencyKey },
      });
    expect(await payOut('p1')).toMatchObject({ replayed: true, payout: { code: 'TURBO-1' } });
    const refundIt = (idempotencyKey: string) =>
      refunds.request(tenant, { type: 'payment', id: 'psa_1' }, { amountCents: 500, idempotencyKey });
    expect(await refundIt('r1')).toMatchObject({ replayed: true, refund: { refundId: REFUND } });
    expect(sent()).toBe(0);
    // The service has no payout with this key: it is sent, under the same key.
    await payOut('p2');
    expect(upstream.requests.find(({ method }) => method === 'POST')?.body).toMatchObject({
      idempotencyKey: 'p2',
    });
  });

  test('an end of before is asked for once more: the webhook that has corrected it may be missing', async () => {
    const made = {
      ...{ payoutId: 'saq_idem_p1', withdrawalId: 'f'.repeat(24), code: 'TURBO-1', subaccountId: SUBACCOUNT },
      ...{ status: 'completed', reversed: false, amountCents: 500, feeCents: 0, platformFeeCents: 0 },
      ...{ netAmountCents: 500, pixKey: 'b***', createdAt: '2026-03-02T12:00:00.000Z', completedAt: null },
    };
    const { payouts, subaccounts, records, upstream, shown, list, tenant, clock } = await start({
      script: ({ path }) =>
        path.includes('/payouts/saq_idem_p1') || path.includes(made.withdrawalId)
          ? { body: made }
          : undefined,
    });
    await records.restored({ confirm: true });
    const withdrawal = { ...shown('SAQ-1', {}), status: 'concluido', processedAt: clock.now().toISOString() };
    list.push(withdrawal);
    clock.advance(MINUTE);
    const [{ id: payoutId }] = list as [{ id: string }];
    const find = async () => {
      const one = await subaccounts.findPayout(tenant, SUBACCOUNT, 'saq_idem_p1');
      return [
        one,
        ...(await subaccounts.findPayouts(tenant, [one!.id])),
        await payouts.find(tenant, payoutId),
      ];
    };
    const completed = { status: 'completed' };
    expect(await find()).toMatchObject([completed, completed, completed]);
    // Both are reversed, which only lost webhooks have reported.
    Object.assign(made, { status: 'failed', reversed: true });
    withdrawal.status = 'negado';
    clock.advance(MINUTE);
    expect(await find()).toMatchObject([completed, completed, completed]);
    await records.restored({ since: plusMs(clock.now(), -MINUTE) });
    clock.advance(MINUTE);
    const returned = { status: 'failed', reversed: true };
    expect(await find()).toMatchObject([returned, returned, { status: 'denied' }]);
    // A payout that was seen after the restore is current.
    const asked = upstream.requests.length;
    clock.advance(MINUTE);
    await find();
    expect(upstream.requests.length).toBe(asked);
    await records.restored({ confirm: true });
  });

  /**
   * A withdrawal, a subaccount's payout and a payment by PIX that are final in the records, and have another status
   * at the service.
   */
  async function startEnded() {
    const turbo = {
      ...{ payoutId: 'saq_idem_p1', withdrawalId: 'f'.repeat(24), code: 'TURBO-1', subaccountId: SUBACCOUNT },
      ...{ status: 'completed', reversed: false, amountCents: 500, feeCents: 0, platformFeeCents: 0 },
      ...{ netAmountCents: 500, pixKey: 'b***', createdAt: '2026-03-02T12:00:00.000Z', completedAt: null },
    };
    const sale = {
      ...{ paymentId: `psa_${'1'.repeat(32)}`, method: 'pix', status: 'failed', amountCents: 5_000 },
      createdAt: '2026-03-02T12:00:00.000Z',
    };
    const service = { isAway: false };
    const started = await start({
      script({ path }) {
        if (service.isAway) return unreachable();
        if (path.includes('/payouts/saq_idem_p1') || path.includes(turbo.withdrawalId))
          return { body: turbo };
        return path.includes(sale.paymentId) ? { body: sale } : undefined;
      },
    });
    const { payouts, subaccounts, payments, records, shown, list, tenant, clock } = started;
    await records.restored({ confirm: true });
    list.push({ ...shown('SAQ-1', {}), status: 'concluido', processedAt: clock.now().toISOString() });
    const [withdrawal] = list as [{ id: string; status: string }];
    clock.advance(MINUTE);
    const one = await subaccounts.findPayout(tenant, SUBACCOUNT, 'saq_idem_p1');
    await payouts.find(tenant, withdrawal.id);
    await payments.find(tenant, sale.paymentId);
    const stored = async () =>
      (await started.database.sql.selectFrom('observed').select(['resource', 'status']).execute())
        .map(({ resource, status }) => `${resource} ${status}`)
        .sort();
    expect(await stored()).toEqual(['payment failed', 'payout completed', 'subaccount_payout completed']);
    // All three have another status, which only lost webhooks have reported.
    Object.assign(turbo, { status: 'failed', reversed: true });
    Object.assign(sale, { status: 'paid', paidAt: clock.now().toISOString() });
    withdrawal.status = 'negado';
    clock.advance(MINUTE);
    await records.restored({ since: plusMs(clock.now(), -MINUTE) });
    clock.advance(MINUTE);
    const follow = [
      async () => (await payouts.findWithVersion(tenant, withdrawal.id))?.payout.status,
      async () => (await subaccounts.findPayoutWithVersion(tenant, SUBACCOUNT, 'saq_idem_p1'))?.payout.status,
      async () => (await payments.findWithVersion(tenant, sale.paymentId))?.resource.status,
    ];
    return { ...started, service, stored, follow, ids: { one: one!.id, withdrawal, sale } };
  }
  const TRUTH = ['payment paid', 'payout denied', 'subaccount_payout failed'];

  test('a stream asks for an end of before once more, and does not complete at it while it cannot', async () => {
    const { service, follow, stored, upstream, clock } = await startEnded();
    service.isAway = true;
    const cannot = { code: 'UPSTREAM_UNAVAILABLE', retryable: true };
    for (const begin of follow) await expect(begin()).rejects.toMatchObject(cannot);
    service.isAway = false;
    clock.advance(MINUTE);
    expect(await Promise.all(follow.map((begin) => begin()))).toEqual(['denied', 'failed', 'paid']);
    expect(await stored()).toEqual(TRUTH);
    const asked = upstream.requests.length;
    for (const begin of follow) await begin();
    expect(upstream.requests).toHaveLength(asked);
  });

  test.each([
    ['of all', true],
    ['of one', false],
  ])('the polls for a stream %s ask for the ends of before once more', async (_, all) => {
    const { polls, stored, upstream, ids, tenant, clock } = await startEnded();
    const targets = [[ids.withdrawal.id], [ids.one], [ids.sale.paymentId]];
    const poll = () =>
      Promise.all(
        polls.map((each, index) => each(tenant, { all, ids: all ? [] : (targets[index] as string[]) })),
      );
    await poll();
    expect(await stored()).toEqual(TRUTH);
    const asked = () => upstream.requests.filter(({ path }) => !path.startsWith('/v1/payouts?')).length;
    const before = asked();
    for (let minute = 0; minute < 20; minute += 1) {
      clock.advance(MINUTE);
      await poll();
    }
    expect(asked()).toBe(before);
  });

  test('money without a key is refused, and nothing is sent', async () => {
    const { payouts, subaccounts, sent, records, tenant } = await start();
    const message = expect.stringContaining('Give an idempotencyKey');
    await expect(payouts.request(tenant, PAYOUT)).rejects.toMatchObject({ ...behind, message });
    await expect(
      subaccounts.transfer(tenant, { subaccountId: SUBACCOUNT, amountCents: 500 }),
    ).rejects.toMatchObject({ ...behind, message });
    expect(sent()).toBe(0);
    await records.restored({ confirm: true });
    await payouts.request(tenant, PAYOUT);
    expect(sent()).toBe(1);
  });
});

const MINT = `mutation { createCheckoutToken(input: { amount: { fixedCents: 4990 }, externalId: "1042" }) {
  ... on CreateCheckoutTokenSuccess { token } ... on UserError { code message } } }`;
const SELL = `mutation { createCheckoutToken(input: { amount: { fixedCents: 4990 } }) {
  ... on CreateCheckoutTokenSuccess { token } ... on UserError { code message } } }`;
const PAUSED = '{ pausedTokens { nodes { tokenId reason pausedUntil } } }';
const PAUSE = `mutation ($token: String!) { pauseToken(token: $token) {
  ... on PauseTokenSuccess { pause { tokenId } } } }`;
const RESUME = 'mutation ($token: String!) { resumeToken(token: $token) { __typename } }';
const START = `mutation ($attemptId: String!) { startCheckout(input: { attemptId: $attemptId }) {
  __typename ... on UserError { code } } }`;

describeOnDatabase('a facade that was started on records that went back', (open) => {
  test('tokens of before take no payment, and readiness and a metric say why, until that is confirmed', async () => {
    const pair = await startPair({ open: () => open() });
    onTestFinished(() => pair.close());
    const { facade, clock, keys } = pair;
    const merchant = facade.client(keys.live);
    const mint = async (mutation: string) => (await merchant.request(mutation)).createCheckoutToken.token;
    const [old, other] = [await mint(MINT), await mint(SELL)];
    clock.advance(MINUTE);
    const records = createRecords({ database: facade.database, clock, log: silent });
    const since = plusMs(clock.now(), -MINUTE);
    await records.restored({ since });
    clock.advance(MINUTE);
    let attempts = 0;
    const sell = async (token: string) => {
      attempts += 1;
      const { startCheckout } = await facade
        .client(token)
        .request(START, { attemptId: String(attempts).repeat(22) });
      return startCheckout.code ?? startCheckout.__typename;
    };
    expect(await sell(old)).toBe('CHECKOUT_TOKEN_PAUSED');
    expect(await sell(other)).toBe('CHECKOUT_TOKEN_PAUSED');
    // A new token of the same order belongs to the order, which may be paid.
    expect(await sell(await mint(MINT))).toBe('CHECKOUT_TOKEN_PAUSED');
    const fresh = await mint(SELL);
    expect(await sell(fresh)).toBe('StartCheckoutSuccess');
    // The order's tokens share one pause, and a token that had ended is not listed.
    const listed = async () => (await merchant.request(PAUSED)).pausedTokens.nodes;
    const idOf = async (token: string) =>
      (await merchant.request(PAUSE, { token })).pauseToken.pause.tokenId as string;
    const pausedIds = [await idOf(old), await idOf(other)];
    const isOfRestore = { reason: 'RESTORED', pausedUntil: null };
    expect(await listed()).toHaveLength(2);
    expect(await listed()).toEqual(
      expect.arrayContaining(pausedIds.map((tokenId) => ({ tokenId, ...isOfRestore }))),
    );
    const administration = createTokenAdministration({
      ...{ database: facade.database, committer: null as never, clock, credentials: tokens },
      behind: records.behind,
    });
    expect((await administration.listPausedTokens()).tokens.map(({ reason }) => reason)).toEqual([
      'restored',
      'restored',
    ]);
    await merchant.request(PAUSE, { token: fresh });
    expect((await listed()).map(({ reason }: { reason: string }) => reason).sort()).toEqual([
      'MERCHANT',
      'RESTORED',
      'RESTORED',
    ]);
    for (const token of [old, other, fresh]) await merchant.request(RESUME, { token });
    expect(await listed()).toHaveLength(2);
    const { errors } = (await merchant.send('{ payout(idempotencyKey: "k1") { status } }')).body;
    expect(errors).toMatchObject([{ extensions: { code: 'RECORDS_BEHIND', retryPolicy: 'SAME_KEY' } }]);

    const ready = await fetch(`${facade.url}/readyz`);
    expect([ready.status, await ready.json()]).toMatchObject([
      200,
      {
        status: 'ready',
        records: {
          behindSince: since.toISOString(),
          cause: 'operator',
          tokensPausedBefore: plusMs(since, MINUTE).toISOString(),
        },
      },
    ]);
    const behindSeconds = async () => {
      const text = await (await fetch(`${facade.url}/metrics`)).text();
      return Number(/^psa_records_behind_seconds (\S+)$/m.exec(text)![1]);
    };
    expect(await behindSeconds()).toBe(120);

    await records.restored({ confirm: true });
    expect(await sell(other)).toBe('StartCheckoutSuccess');
    expect(await listed()).toEqual([]);
    expect(await (await fetch(`${facade.url}/readyz`)).json()).not.toHaveProperty('records');
    expect(await behindSeconds()).toBe(0);
    expect(await merchant.request('{ payout(idempotencyKey: "k1") { status } }')).toEqual({ payout: null });
  });
});
