import fc from 'fast-check';
import { sql } from 'kysely';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { plusMs } from '../../../server/src/kernel/clock.ts';
import type { Tenant } from '../../../server/src/kernel/tenant.ts';
import { REVERSES_AFTER_MS, SEND_RETRY_MS } from '../../../server/src/money-out/subaccounts/payout-rules.ts';
import type { Bank, Transfer, TransferStatus } from '../../../server/src/rails/bank.ts';
import type { Database } from '../../../server/src/state/db/database.ts';
import { createManualClock } from '../../support/clock.ts';
import { type Core, type CoreOptions, startCore } from '../../support/core.ts';
import { describeOnDatabase } from '../../support/database.ts';
import { deferred } from '../../support/deferred.ts';
import { fund } from '../../support/funds.ts';
import { FEES } from '../../support/payout-methods.ts';
import { embedded } from '../../support/port-fixture.ts';
import { generated, scale } from '../../support/scale.ts';
import { expectStatementsHold, MARKUP, openSubaccount } from '../../support/subaccounts.ts';
import { DENIED, describePort, HELD, KEY, MASKED, REFUSED } from './port.ts';

const CALLERS = scale('CALLERS');

const SECOND = 1_000;

describeOnDatabase('subaccounts', (open) => {
  let database: Database;
  const tenants = new Map<string, Tenant>();
  beforeAll(async () => {
    database = await open();
  });
  afterEach(async () => {
    for (const tenant of tenants.values()) await expectStatementsHold(database, tenant);
    tenants.clear();
  });

  async function start(options: Partial<CoreOptions> = {}): Promise<Core> {
    const core = await startCore({
      database,
      account: { payoutFeesCents: FEES, subaccountMarkupCents: MARKUP },
      ...options,
    });
    tenants.set(core.tenant.accountId, core.tenant);
    return core;
  }

  describePort(async (account) => {
    const merchant = await embedded(() => database)(account);
    tenants.set(merchant.tenant.accountId, merchant.tenant);
    return merchant;
  });

  describe('paid out', () => {
    test('a failed payout is given back once, though its task runs again', async () => {
      const core = await start();
      const id = await openSubaccount(core, 10_000);
      const { payout } = await request(core, id, { pixKey: DENIED });
      await core.pass(2 * SECOND + REVERSES_AFTER_MS);
      expect(await found(core, id, payout.payoutId)).toMatchObject({ reversed: true });
      await schedule(core, 'subaccount_payout.reverse', payout.id);
      await core.pass(60 * SECOND);
      expect(await core.subaccounts.countStatement(core.tenant, id)).toBe(3);
      expect(await core.balances()).toMatchObject({ merchant_subaccounts: 10_000, payouts_in_transit: 0 });
    });

    test('payouts that the verification refused are found by the code of before and by the one of after', async () => {
      const answers: TransferStatus[] = [
        { status: 'in_verification', until: null },
        { status: 'refused', reason: 'Suspeita' },
      ];
      const core = await start({ bank: answering(() => answers.shift()!) });
      const id = await openSubaccount(core, 10_000);
      const { payout } = await request(core, id);
      await core.pass(SEND_RETRY_MS + REVERSES_AFTER_MS);
      const refused = await found(core, id, payout.payoutId);
      expect(refused).toMatchObject({
        code: expect.stringMatching(/^SUB-/),
        withdrawalId: payout.withdrawalId,
        netAmountCents: payout.netAmountCents,
        reversed: true,
      });
      for (const reference of [payout.code!, refused!.code!, payout.withdrawalId!])
        expect(await found(core, id, reference)).toEqual(refused);
      expect((await statementOf(core, id))[0]!.refId).toBe(refused!.code);
    });

    test(`payouts with one key are one debit and one transfer, though ${CALLERS} callers ask two instances at once`, async () => {
      const sent: Transfer[] = [];
      const bank = (simulated: Bank): Bank => ({
        ...simulated,
        send(transfer) {
          sent.push(transfer);
          return simulated.send(transfer);
        },
      });
      const core = await start({ bank });
      const second = await start({ tenant: core.tenant, bank });
      const id = await openSubaccount(core, 10_000);
      const all = await Promise.all(
        Array.from({ length: CALLERS }, (_, n) =>
          request([core, second][n % 2]!, id, { idempotencyKey: 'saque-1' }),
        ),
      );
      expect(all.filter(({ replayed }) => !replayed)).toHaveLength(1);
      expect(new Set(all.map(({ payout }) => JSON.stringify(payout)))).toHaveLength(1);
      expect(new Set(sent.map((transfer) => JSON.stringify(transfer)))).toHaveLength(1);
      // Requests that arrive together share their calls of the bank.
      expect(sent.length).toBeLessThan(10);
      expect(sent[0]).toMatchObject({ destination: KEY, amountCents: 3_850 });
      expect(await core.subaccounts.find(core.tenant, id)).toMatchObject({ balanceCents: 6_000 });
    });

    test('a payout keeps the fees that were agreed, though the account’s change before the bank answers', async () => {
      const core = await start({ bank: silentUntil(1) });
      const id = await openSubaccount(core, 10_000);
      const { payout } = await request(core, id);
      expect(payout).toMatchObject({ code: null, platformFeeCents: null });
      await database.sql
        .updateTable('account')
        .set({ payout_fee_pix_cents: 3_900, subaccount_markup_cents: 99 })
        .where('id', '=', core.tenant.accountId)
        .execute();
      await core.pass(SEND_RETRY_MS);
      expect(await found(core, id, payout.payoutId)).toMatchObject({
        feeCents: MARKUP,
        platformFeeCents: FEES.pix,
        netAmountCents: 3_850,
      });
    });
  });

  test('a payout leaves no task behind where the bank has answered at once', async () => {
    const receipt = { endToEndId: 'E1', recipientName: null, recipientBankName: null };
    const core = await start({
      bank: (simulated) => ({ ...simulated, send: async () => ({ status: 'completed', receipt }) }),
    });
    const subaccountId = await openSubaccount(core, 1_000);
    const request = { subaccountId, amountCents: 500, pixKey: KEY };
    const { payout } = await core.subaccounts.requestPayout(core.tenant, request);
    expect(payout.status).toBe('completed');
    const { accountId } = core.tenant;
    const tasks = database.sql.selectFrom('task').select('key').where('account_id', '=', accountId);
    expect(await tasks.execute()).toEqual([]);
  });

  test('each change of a payout’s status and its reversal are announced as subaccount.payout, with the code', async () => {
    const bodies: string[] = [];
    const core = await start({
      send:
        () =>
        async ({ body }) => {
          bodies.push(body);
          return { responseStatus: 200, error: null, exchange: null };
        },
    });
    await core.webhooks.configure(core.tenant, { url: 'https://integrador.example/psa' });
    const id = await openSubaccount(core, 20_000);
    const { payout } = await request(core, id);
    await core.pass(5 * SECOND);
    const { payout: refused } = await request(core, id, { pixKey: REFUSED });
    await core.pass(5 * SECOND);
    const announced = bodies.map((body) => JSON.parse(body));
    expect(announced.map(({ event, code, status, reversed }) => [event, code, status, reversed])).toEqual([
      ['subaccount.payout', payout.code, 'processing', false],
      ['subaccount.payout', payout.code, 'completed', false],
      ['subaccount.payout', refused.code, 'failed', false],
      ['subaccount.payout', refused.code, 'failed', true],
    ]);
    expect(announced[1]).toMatchObject({ subaccountId: id, netAmountCents: 3_850, pixKey: MASKED });
  });

  describe('across faults', () => {
    test('a payout is answered when the bank throws, and its task asks the bank again', async () => {
      const core = await start({ bank: silentUntil(2) });
      const id = await openSubaccount(core, 10_000);
      const { payout, underVerification } = await request(core, id, { idempotencyKey: 'k' });
      expect(underVerification).toBe(true);
      expect(payout).toMatchObject({ version: 1, status: 'processing', withdrawalId: null, code: null });
      expect(await found(core, id, 'saq_idem_k')).toEqual(payout);
      await core.pass(SEND_RETRY_MS);
      expect(core.faults).toHaveLength(2);
      core.faults.length = 0;
      await core.pass(5 * SECOND);
      expect(await found(core, id, 'saq_idem_k')).toMatchObject({ status: 'completed' });
      expect(core.faults).toEqual([]);
    });

    test('a payout does not wait for a slow bank, and its late answer changes nothing', async () => {
      const late = deferred<TransferStatus>();
      const asked = deferred();
      let calls = 0;
      const core = await start({
        bank: (simulated) => ({
          ...simulated,
          send(transfer) {
            calls += 1;
            if (calls > 1) return simulated.send(transfer);
            asked.resolve();
            return late.promise;
          },
        }),
      });
      const id = await openSubaccount(core, 10_000);
      const answer = request(core, id);
      await asked.promise;
      core.clock.advance(3 * SECOND);
      const { payout, underVerification } = await answer;
      expect(underVerification).toBe(true);
      expect(payout).toMatchObject({ withdrawalId: null, code: null });
      late.resolve({ status: 'denied', reason: 'tarde' });
      await core.pass(20 * SECOND);
      expect(await found(core, id, payout.payoutId)).toMatchObject({ status: 'completed' });
    });

    test('a payout whose instance dies before the bank is asked is sent by another instance', async () => {
      const never = new Promise<TransferStatus>(() => undefined);
      const asked = deferred();
      const core = await start({
        bank: (simulated) => ({
          ...simulated,
          send() {
            asked.resolve();
            return never;
          },
        }),
      });
      const id = await openSubaccount(core, 10_000);
      void request(core, id, { idempotencyKey: 'k' });
      await asked.promise;
      await core.close();
      const second = await start({
        tenant: core.tenant,
        clock: createManualClock(plusMs(core.clock.now(), SEND_RETRY_MS)),
      });
      await second.work.settled();
      expect(await found(second, id, 'saq_idem_k')).toMatchObject({
        status: 'processing',
        code: expect.stringMatching(/^TURBO-/),
      });
      await second.pass(2 * SECOND);
      expect(await found(second, id, 'saq_idem_k')).toMatchObject({ status: 'completed' });
      expect(await second.balances()).toMatchObject({ paid_out: 3_850, payouts_in_transit: 0 });
    });

    test('a payout that is requested again after such a death gets the bank’s answer, and debits nothing again', async () => {
      const core = await start({ bank: silentUntil(1) });
      const id = await openSubaccount(core, 10_000);
      await request(core, id, { idempotencyKey: 'k' });
      const second = await start({ tenant: core.tenant });
      const { payout, replayed } = await request(second, id, { idempotencyKey: 'k' });
      expect(replayed).toBe(true);
      expect(payout).toMatchObject({ code: expect.stringMatching(/^TURBO-/) });
      expect(await core.subaccounts.find(core.tenant, id)).toMatchObject({ balanceCents: 6_000 });
    });

    test('a payout whose instance dies between the bank’s answer and its record is sent once', async () => {
      const sent: string[] = [];
      const core = await start({
        bank: (simulated) => ({
          ...simulated,
          async send(transfer) {
            sent.push(transfer.id);
            await simulated.send(transfer);
            throw new Error('cut off');
          },
        }),
      });
      const id = await openSubaccount(core, 10_000);
      await request(core, id, { idempotencyKey: 'k' });
      core.faults.length = 0;
      await core.close();
      const second = await start({
        tenant: core.tenant,
        clock: createManualClock(plusMs(core.clock.now(), SEND_RETRY_MS)),
      });
      await second.work.settled();
      expect(await found(second, id, 'saq_idem_k')).toMatchObject({ status: 'completed', version: 2 });
      const books = (await second.bank.list()).filter((transfer) => sent.includes(transfer.id));
      expect(books).toHaveLength(1);
    });

    test('a payout whose instance dies between the failure and the reversal is reversed by another instance', async () => {
      const core = await start();
      const id = await openSubaccount(core, 10_000);
      const { payout } = await request(core, id, { pixKey: REFUSED });
      await core.close();
      const [second, third] = [1, 2].map(() =>
        start({
          tenant: core.tenant,
          clock: createManualClock(plusMs(core.clock.now(), REVERSES_AFTER_MS)),
        }),
      );
      const instances = await Promise.all([second!, third!]);
      await Promise.all(instances.map((instance) => instance.work.settled()));
      expect(await found(instances[0]!, id, payout.payoutId)).toMatchObject({ reversed: true, version: 3 });
      expect(await instances[0]!.subaccounts.find(core.tenant, id)).toMatchObject({ balanceCents: 10_000 });
    });
  });

  test('statements, postings and balances of subaccounts agree after any series of steps', async () => {
    const step = fc.record({
      what: fc.constantFrom('transfer', 'payout', 'pass'),
      who: fc.nat({ max: 2 }),
      amountCents: fc.integer({ min: 1, max: 3_000 }),
      pixKey: fc.constantFrom(KEY, DENIED, REFUSED, HELD),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(step, { maxLength: 6 }), { maxLength: 6 }), async (rounds) => {
        const core = await start();
        const ids = [await openSubaccount(core), await openSubaccount(core), await openSubaccount(core)];
        await fund(core, { cents: 10_000 });
        for (const round of rounds)
          await Promise.allSettled(
            round.map(({ what, who, amountCents, pixKey }) => {
              const subaccountId = ids[who]!;
              if (what === 'transfer')
                return core.subaccounts.transfer(core.tenant, { subaccountId, amountCents });
              if (what === 'payout') return request(core, subaccountId, { amountCents, pixKey });
              return core.pass(SECOND);
            }),
          );
        await core.pass(60 * SECOND);
        await expectStatementsHold(database, core.tenant);
        const balances = await core.balances();
        expect(balances.payouts_in_transit).toBe(0);
        expect(
          balances.merchant_balance +
            balances.merchant_subaccounts +
            balances.paid_out +
            balances.platform_fees,
        ).toBe(10_000);
        expect(core.faults).toEqual([]);
      }),
      { numRuns: generated(15), endOnFailure: true },
    );
  });

  test('the database keeps each statement continuous, ending with the balance, and append-only', async () => {
    const core = await start();
    const id = await openSubaccount(core, 1_000);
    type Values = Partial<{ ref_id: string; balance_after_cents: number; kind: 'payout' }>;
    const entry = (values: Values) => entries([values]);
    const entries = (all: Values[]) =>
      database.sql
        .insertInto('statement_entry')
        .values(
          all.map((values) => ({
            account_id: core.tenant.accountId,
            environment: 'live' as const,
            subaccount_id: id,
            kind: 'transfer_in' as const,
            ref_id: 'rep_x',
            amount_cents: 1,
            balance_after_cents: 1_001,
            created_at: core.clock.now(),
            ...values,
          })),
        )
        .execute();
    await expect(entry({ balance_after_cents: 5 })).rejects.toMatchObject({
      constraint: 'statement_continues',
    });
    await expect(entry({ kind: 'payout' })).rejects.toMatchObject({ constraint: 'entry_has_its_sign' });
    const { rows: before } = await sql`select from statement_entry`.execute(database.sql);
    // One valid predecessor is enough, whether it came before or in the same statement.
    const several = [
      { ref_id: 'rep_1', balance_after_cents: 1_001 },
      { ref_id: 'rep_2', balance_after_cents: 1_003 },
    ];
    await expect(entries(several)).rejects.toMatchObject({ constraint: 'statement_continues' });
    expect((await sql`select from statement_entry`.execute(database.sql)).rows).toHaveLength(before.length);
    // The balance continues, but no posting has moved it.
    await expect(entry({})).rejects.toMatchObject({ constraint: 'statement_is_the_balance' });
    await expect(
      database.sql
        .updateTable('statement_entry')
        .set({ ref_id: 'rep_y' })
        .where('subaccount_id', '=', id)
        .execute(),
    ).rejects.toThrow();
    await expect(
      database.sql.deleteFrom('statement_entry').where('subaccount_id', '=', id).execute(),
    ).rejects.toThrow();
  });
});

type Wanted = Partial<{ amountCents: number; pixKey: string; idempotencyKey: string }>;

function request(core: Core, subaccountId: string, wanted: Wanted = {}) {
  return core.subaccounts.requestPayout(core.tenant, {
    subaccountId,
    amountCents: 4_000,
    pixKey: KEY,
    ...wanted,
  });
}

function found(core: Core, subaccountId: string, reference: string) {
  return core.subaccounts.findPayout(core.tenant, subaccountId, reference);
}

async function statementOf(core: Core, id: string) {
  return (await core.subaccounts.statementPage(core.tenant, id, { limit: 100, offset: 0 })).items;
}

function schedule(core: Core, kind: string, key: string): Promise<void> {
  return core.committer.change<void>({
    tenant: core.tenant,
    read: async () => undefined,
    decide: ({ now }) => ({ outcome: undefined, writes: { tasks: [{ kind, key, at: now }] } }),
  });
}

/** A bank whose answers a test decides. */
const answering =
  (next: () => TransferStatus) =>
  (simulated: Bank): Bank => ({ ...simulated, send: async () => next() });

/** A bank that fails this number of times first. */
const silentUntil = (failures: number) => {
  let left = failures;
  return (simulated: Bank): Bank => ({
    ...simulated,
    async send(transfer) {
      if (left-- > 0) throw new Error('the bank is away');
      return simulated.send(transfer);
    },
  });
};
