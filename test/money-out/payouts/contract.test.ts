import { beforeAll, describe, expect, test } from 'vitest';
import { plusMs } from '../../../server/src/kernel/clock.ts';
import { UpstreamError } from '../../../server/src/kernel/errors.ts';
import type { OwnPayout, RequestPayoutInput } from '../../../server/src/money-out/payouts/model.ts';
import type { Bank, Transfer } from '../../../server/src/rails/bank.ts';
import type { Database } from '../../../server/src/state/db/database.ts';
import type { StoredEvent } from '../../../server/src/state/events/event.ts';
import { createManualClock } from '../../support/clock.ts';
import { type Core, type CoreOptions, startCore } from '../../support/core.ts';
import { describeOnDatabase } from '../../support/database.ts';
import { deferred } from '../../support/deferred.ts';
import { readAfter } from '../../support/events.ts';
import { fund } from '../../support/funds.ts';
import { FEES } from '../../support/payout-methods.ts';
import { embedded } from '../../support/port-fixture.ts';
import { describePort, KEY, LTC } from './port.ts';

const MINUTE = 60_000;

describeOnDatabase('payouts', (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
  });

  /** A merchant with R$ 1.000,00 and 2 LTC. */
  async function start(options: Partial<CoreOptions> = {}): Promise<Core> {
    const core = await startCore({ database, account: { payoutFeesCents: FEES }, ...options });
    if (!options.tenant) await fund(core, { cents: 100_000, litoshi: 200_000_000 });
    return core;
  }

  describePort(embedded(() => database));

  test('a payout has all of its members from its request on', async () => {
    const core = await start();
    const { payout } = await core.payouts.request(core.tenant, pix({ amountCents: 40_000 }));
    expect(payout).toEqual({
      withdrawalId: expect.stringMatching(/^[0-9a-f]{24}$/),
      code: expect.stringMatching(/^SAQ-[0-9A-HJKMNP-TV-Z]{12}$/),
      version: 1,
      method: 'pix',
      status: 'pending',
      amountCents: 40_000,
      feeCents: 100,
      litoshi: null,
      destination: KEY,
      requestedAt: core.clock.now(),
      processedAt: null,
      returnedAt: null,
      deniedReason: null,
      endToEndId: null,
      externalId: null,
      destinationKind: 'email',
    });
    for (const reference of [payout.withdrawalId, payout.code])
      expect(await core.payouts.find(core.tenant, reference)).toEqual(payout);
    expect(await events(core)).toMatchObject([{ kind: 'payout.pending', snapshot: payout }]);
  });

  describe('by the bank', () => {
    test('a turbo payout that was first looked at after its arrival was processing too', async () => {
      const core = await start({
        bank: ({ send, ...rest }) => ({ ...rest, send: afterwards(send, () => core) }),
      });
      const { payout } = await core.payouts.request(core.tenant, pix({ method: 'pix_turbo' }));
      await core.work.settled();
      expect(await again(core, payout)).toMatchObject({ status: 'completed', version: 3 });
      expect((await history(core)).map(([kind]) => kind)).toEqual([
        'payout.pending',
        'payout.processing',
        'payout.completed',
      ]);
    });
  });

  describe('with a key', () => {
    test('an LTC payout is replayed without a quote, and a new one is refused without one', async () => {
      let down = false;
      const core = await start({
        bank: (bank) => ({
          ...bank,
          quoteLitoshi: (cents) => (down ? Promise.reject(new Error('down')) : bank.quoteLitoshi(cents)),
        }),
      });
      const input = { method: 'ltc', amountCents: 1_000, destination: LTC, idempotencyKey: 'a' } as const;
      const { payout } = await core.payouts.request(core.tenant, input);
      down = true;
      expect(await core.payouts.request(core.tenant, input)).toEqual({ payout, replayed: true });
      const refused = core.payouts.request(core.tenant, { ...input, idempotencyKey: 'b' });
      await expect(refused).rejects.toBeInstanceOf(UpstreamError);
      await expect(refused).rejects.toMatchObject({ retryable: true, moneyMayHaveMoved: false });
      expect(await events(core)).toHaveLength(1);
      expect(core.faults).toHaveLength(2);
    });
  });

  describe('across faults', () => {
    test('a bank that throws is called again, and no payout is denied for it', async () => {
      const seen: Transfer[] = [];
      const core = await start({
        bank: (bank) => ({
          ...bank,
          async send(transfer) {
            seen.push(transfer);
            if (seen.length === 1) throw new Error('no answer');
            const answer = await bank.send(transfer);
            // The payout is sent, and its answer is lost.
            if (seen.length === 2) throw new Error('connection reset');
            return answer;
          },
        }),
      });
      const { payout } = await core.payouts.request(core.tenant, pix());
      await core.work.settled();
      expect(await again(core, payout)).toEqual(payout);
      await core.pass(MINUTE);
      expect(await again(core, payout)).toMatchObject({ status: 'completed', version: 2 });
      expect(core.faults).toHaveLength(2);
      expect(seen.length).toBeGreaterThanOrEqual(3);
      expect(new Set(seen.map((transfer) => JSON.stringify(transfer))).size).toBe(1);
      expect((await core.bank.list()).filter(({ id }) => id === payout.withdrawalId)).toHaveLength(1);
    });

    test('a payout whose instance died before sending it is sent by another instance', async () => {
      const dead = await start({
        bank: (bank) => ({ ...bank, send: () => Promise.reject(new Error('dying')) }),
      });
      const { payout } = await dead.payouts.request(dead.tenant, pix());
      await dead.work.settled();
      await dead.close();
      const core = await start({ tenant: dead.tenant, clock: dead.clock });
      await core.pass(MINUTE);
      expect(await again(core, payout)).toMatchObject({ status: 'completed' });
    });

    test('an instance that is cut off between the bank’s answer and its record sends nothing twice and reverses nothing', async () => {
      const answered = deferred<void>();
      const back = deferred<void>();
      const dead = await start({
        bank: (bank) => ({
          ...bank,
          async send(transfer) {
            const answer = await bank.send(transfer);
            answered.resolve();
            await back.promise;
            return answer;
          },
        }),
      });
      const { payout } = await dead.payouts.request(dead.tenant, pix({ method: 'pix_turbo' }));
      dead.work.wake({ kind: 'payout.send', at: dead.clock.now() });
      await answered.promise;
      // The dead server's lease runs out, because it does not renew it.
      const clock = createManualClock(plusMs(dead.clock.now(), MINUTE));
      const core = await start({ tenant: dead.tenant, clock });
      await core.work.settled();
      expect(await again(core, payout)).toMatchObject({ status: 'completed', version: 3 });
      back.resolve();
      await dead.work.settled();
      expect(await again(core, payout)).toMatchObject({ status: 'completed', version: 3 });
      expect(await history(core)).toHaveLength(3);
      expect(await core.balances()).toMatchObject({
        paid_out: 800,
        platform_fees: 200,
        payouts_in_transit: 0,
      });
      expect((await core.bank.list()).filter(({ id }) => id === payout.withdrawalId)).toHaveLength(1);
    });
  });

  test('the database enforces the rules that the model enforces', async () => {
    const core = await start();
    const { payout } = await core.payouts.request(core.tenant, pix());
    const set = (values: object) =>
      database.sql
        .updateTable('payout')
        .set(values)
        .where('withdrawal_id', '=', payout.withdrawalId)
        .execute();
    await expect(set({ status: 'processing' })).rejects.toThrow('processing_is_turbo');
    await expect(set({ status: 'completed' })).rejects.toThrow('processed_has_its_instant');
    await expect(set({ status: 'denied', processed_at: new Date() })).rejects.toThrow(
      'denied_has_its_reason',
    );
    await expect(set({ fee_cents: 1_000 })).rejects.toThrow('payout_pays_something');
    await expect(set({ litoshi: 1 })).rejects.toThrow('ltc_is_counted_in_litoshi');
  });

  async function events(core: Core): Promise<PayoutEvent[]> {
    const topic = { resource: 'payout' } as const;
    const { events } = await readAfter(database.sql, core.tenant, { after: 0, topic, limit: 1_000 });
    return events as PayoutEvent[];
  }

  async function history(core: Core) {
    return (await events(core)).map(({ kind, previousStatus }) => [kind, previousStatus]);
  }
});

type PayoutEvent = Extract<StoredEvent, { resource: 'payout' }>;

function pix(input: Partial<RequestPayoutInput> = {}): RequestPayoutInput {
  return { method: 'pix', amountCents: 1_000, destination: KEY, ...input };
}

function again(core: Core, { withdrawalId }: OwnPayout): Promise<OwnPayout | null> {
  return core.payouts.find(core.tenant, withdrawalId);
}

/** A bank whose transfer arrives while its answer is on the way. */
function afterwards(send: Bank['send'], core: () => Core): Bank['send'] {
  return async (transfer) => {
    await send(transfer);
    core().clock.advance(MINUTE);
    return send(transfer);
  };
}
