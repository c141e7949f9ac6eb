import { beforeAll, describe, expect, test } from 'vitest';
import type { Database } from '../../server/src/db/database.ts';
import type { StoredEvent } from '../../server/src/events/event.ts';
import { readAfter } from '../../server/src/events/log.ts';
import { plusMs } from '../../server/src/kernel/clock.ts';
import {
  IdempotencyError,
  InsufficientFundsError,
  RateLimitError,
  UpstreamError,
  ValidationError,
} from '../../server/src/kernel/errors.ts';
import { NO_BALANCES } from '../../server/src/ledger/postings.ts';
import type { Payout, PayoutRange, RequestPayoutInput } from '../../server/src/payouts/model.ts';
import type { Bank, Transfer } from '../../server/src/rails/bank.ts';
import { createManualClock } from '../support/clock.ts';
import { type Core, type CoreOptions, startCore } from '../support/core.ts';
import { describeOnBothEngines } from '../support/database.ts';
import { deferred } from '../support/deferred.ts';
import { fund } from '../support/funds.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

const KEY = 'ana@padaria.example';
const LTC = 'ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9';
const LTC_DENIED = 'ltc1qt6cs9wr2kmrvmchxmdxngrnzj9a6fvawwtxyh3';
const USDT = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';
const USDT_DENIED = 'TJbta1F5Qigik4ZrFsoGXmRPgkudGtsPaL';

const FEES = { pix: 100, pix_turbo: 200, ltc: 500, usd: 500 };

describeOnBothEngines('payouts', (open) => {
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

  describe('requested', () => {
    test('are debited at once, and found by id and by code, by their merchant alone', async () => {
      const [core, other] = [await start(), await start()];
      const { payout, replayed } = await core.payouts.request(core.tenant, pix({ amountCents: 40_000 }));
      expect(replayed).toBe(false);
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
        deniedReason: null,
        endToEndId: null,
      });
      expect(await core.balances()).toMatchObject({ merchant_balance: 60_000, payouts_in_transit: 40_000 });
      for (const reference of [payout.withdrawalId, payout.code]) {
        expect(await core.payouts.find(core.tenant, reference)).toEqual(payout);
        expect(await other.payouts.find(other.tenant, reference)).toBeNull();
        const sandbox = { ...core.tenant, environment: 'sandbox' } as const;
        expect(await core.payouts.find(sandbox, reference)).toBeNull();
      }
      expect(await other.payouts.findWithVersion(other.tenant, payout.withdrawalId)).toBeNull();
      expect(await other.payouts.recheck(other.tenant, payout.withdrawalId)).toBe(false);
      expect(await events(core)).toMatchObject([
        { kind: 'payout.pending', resourceId: payout.withdrawalId, previousStatus: null, snapshot: payout },
      ]);
    });

    test.each([
      '',
      'SAQ-',
      'nothing',
      '0'.repeat(24),
      `SAQ-${'0'.repeat(12)}`,
      'with \u0000',
      'half \ud83e',
      `x' or '1'='1`,
    ])('under the reference %j are none', async (reference) => {
      const { payouts, tenant } = await start();
      expect(await payouts.find(tenant, reference)).toBeNull();
      expect(await payouts.findWithVersion(tenant, reference)).toBeNull();
      expect(await payouts.recheck(tenant, reference)).toBe(false);
    });

    test('for no more than the fee are refused', async () => {
      const core = await start();
      const refused = core.payouts.request(core.tenant, pix({ method: 'pix_turbo', amountCents: 200 }));
      await expect(refused).rejects.toThrow('input.amountCents: must be more than the fee of 200 (R$ 2,00)');
      await expect(refused).rejects.toBeInstanceOf(ValidationError);
      expect(await events(core)).toEqual([]);
      await core.payouts.request(core.tenant, pix({ method: 'pix_turbo', amountCents: 201 }));
    });
  });

  describe('by the bank', () => {
    test('a PIX arrives after a moment', async () => {
      const core = await start();
      const { payout } = await core.payouts.request(core.tenant, pix({ amountCents: 40_000 }));
      await core.pass(SECOND);
      expect(await again(core, payout)).toEqual(payout);
      await core.pass(SECOND);
      const done = await again(core, payout);
      expect(done).toEqual({
        ...payout,
        version: 2,
        status: 'completed',
        processedAt: plusMs(payout.requestedAt, 2 * SECOND),
        endToEndId: expect.stringMatching(/^E\d{8}202603021200[0-9A-Z]{11}$/),
      });
      expect(await core.balances()).toMatchObject({
        merchant_balance: 60_000,
        payouts_in_transit: 0,
        paid_out: 39_900,
        platform_fees: 100,
      });
      expect(await history(core)).toEqual([
        ['payout.pending', null],
        ['payout.completed', 'pending'],
      ]);
      expect((await core.bank.list())[0]).toMatchObject({ id: payout.withdrawalId, amountCents: 39_900 });
      expect(core.faults).toEqual([]);
    });

    test('a turbo one is processing while the bank has not confirmed', async () => {
      const core = await start();
      const { payout } = await core.payouts.request(core.tenant, pix({ method: 'pix_turbo' }));
      await core.work.settled();
      expect(await again(core, payout)).toMatchObject({
        status: 'processing',
        version: 2,
        processedAt: null,
      });
      await core.pass(3 * SECOND);
      expect(await again(core, payout)).toMatchObject({ status: 'completed', version: 3 });
      expect(await history(core)).toEqual([
        ['payout.pending', null],
        ['payout.processing', 'pending'],
        ['payout.completed', 'processing'],
      ]);
    });

    test('a turbo one that nobody looked at until it had arrived was processing too', async () => {
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

    test.each([
      ['pix', 'nega@psa.example', ['pending', 'denied']],
      ['pix', 'negado@psa.example', ['pending', 'denied']],
      ['pix_turbo', 'nega@psa.example', ['pending', 'processing', 'denied']],
      ['pix_turbo', 'recusa@psa.example', ['pending', 'denied']],
      ['pix', 'recusa@psa.example', ['pending', 'denied']],
      ['ltc', LTC_DENIED, ['pending', 'denied']],
      ['usd', USDT_DENIED, ['pending', 'denied']],
    ] as const)(
      'a %s payout to %s is denied, and its amount returned',
      async (method, destination, statuses) => {
        const core = await start();
        const before = await core.balances();
        const { payout } = await core.payouts.request(core.tenant, {
          method,
          destination,
          amountCents: 10_000,
        });
        await core.pass(10 * SECOND);
        expect(await again(core, payout)).toMatchObject({
          status: 'denied',
          processedAt: expect.any(Date),
          deniedReason: expect.stringMatching(/./),
          endToEndId: null,
        });
        expect((await history(core)).map(([kind]) => kind)).toEqual(
          statuses.map((status) => `payout.${status}`),
        );
        expect(await core.balances()).toEqual(before);
      },
    );

    test('what is refused was seen by no bank, and at once', async () => {
      const core = await start();
      const { payout } = await core.payouts.request(core.tenant, pix({ destination: 'recusa@psa.example' }));
      await core.work.settled();
      expect(await again(core, payout)).toMatchObject({ status: 'denied', processedAt: payout.requestedAt });
    });

    test('an LTC payout takes litoshi as quoted, and leaves the reais alone', async () => {
      const core = await start();
      const { payout } = await core.payouts.request(core.tenant, {
        method: 'ltc',
        amountCents: 61_234,
        destination: LTC,
      });
      expect(payout).toMatchObject({ litoshi: 100_000_000, feeCents: 500, destination: LTC });
      expect(await core.balances()).toMatchObject({
        merchant_balance: 100_000,
        merchant_ltc: 100_000_000,
        ltc_in_transit: 100_000_000,
      });
      await core.pass(5 * SECOND);
      expect(await again(core, payout)).toMatchObject({ status: 'completed', endToEndId: null });
      expect(await core.balances()).toEqual({
        ...NO_BALANCES,
        merchant_balance: 100_000,
        received: -100_000,
        merchant_ltc: 100_000_000,
        ltc_paid_out: 100_000_000,
        ltc_received: -200_000_000,
      });
      // 60,734 of 61,234 cents, down to a whole litoshi.
      expect((await core.bank.list())[0]).toMatchObject({ amountCents: 60_734, litoshi: 99_183_460 });
    });

    test('a USDT payout takes reais', async () => {
      const core = await start();
      await core.payouts.request(core.tenant, { method: 'usd', amountCents: 10_000, destination: USDT });
      await core.pass(5 * SECOND);
      expect(await core.balances()).toMatchObject({
        merchant_balance: 90_000,
        paid_out: 9_500,
        platform_fees: 500,
        merchant_ltc: 200_000_000,
      });
    });

    test.each(['verifica@psa.example', 'demora@psa.example'])(
      '%s keeps it waiting, and it arrives',
      async (destination) => {
        const core = await start();
        const { payout } = await core.payouts.request(core.tenant, pix({ destination }));
        await core.pass(29 * SECOND);
        expect(await again(core, payout)).toEqual(payout);
        await core.pass(destination.startsWith('verifica') ? 3 * SECOND : 10 * MINUTE);
        expect(await again(core, payout)).toMatchObject({ status: 'completed' });
      },
    );

    test('a lever settles, denies or delays what is under way, and nothing that has ended', async () => {
      const core = await start();
      const request = async () =>
        (await core.payouts.request(core.tenant, pix({ destination: 'demora@psa.example' }))).payout;
      const [settled, denied, delayed] = [await request(), await request(), await request()];
      await core.work.settled();
      const { bank, tenant, payouts } = core;
      expect(await bank.settle(settled.withdrawalId)).toBe(true);
      expect(await bank.deny(denied.withdrawalId, 'Conta encerrada')).toBe(true);
      expect(await bank.delay(delayed.withdrawalId, plusMs(core.clock.now(), HOUR))).toBe(true);
      expect(await bank.delay(delayed.withdrawalId, core.clock.now())).toBe(false);
      for (const { withdrawalId } of [settled, denied, delayed])
        expect(await payouts.recheck(tenant, withdrawalId)).toBe(true);
      await core.work.settled();
      expect(await again(core, settled)).toMatchObject({ status: 'completed' });
      expect(await again(core, denied)).toMatchObject({ status: 'denied', deniedReason: 'Conta encerrada' });
      expect(await payouts.recheck(tenant, settled.withdrawalId)).toBe(false);
      expect(await bank.deny(settled.withdrawalId, 'Tarde demais')).toBe(false);
      expect(await bank.settle(denied.withdrawalId)).toBe(false);
      await core.pass(59 * MINUTE);
      expect(await again(core, delayed)).toEqual(delayed);
      await core.pass(MINUTE);
      expect(await again(core, delayed)).toMatchObject({ status: 'completed' });
      expect((await bank.list()).slice(0, 3).map(({ id, state }) => [id, state.status])).toEqual([
        [delayed.withdrawalId, 'completed'],
        [denied.withdrawalId, 'denied'],
        [settled.withdrawalId, 'completed'],
      ]);
    });

    test('a denied one settles what the merchant came to owe meanwhile, before it can be spent again', async () => {
      const core = await start();
      const { payout } = await core.payouts.request(
        core.tenant,
        pix({ destination: 'demora@psa.example', amountCents: 100_000 }),
      );
      await core.work.settled();
      await fund(core, { owedCents: 60_000 });
      expect(await core.bank.deny(payout.withdrawalId, 'Conta encerrada')).toBe(true);
      await core.payouts.recheck(core.tenant, payout.withdrawalId);
      await core.work.settled();
      expect(await again(core, payout)).toMatchObject({ status: 'denied' });
      expect(await core.balances()).toMatchObject({ merchant_balance: 40_000, merchant_receivable: 0 });
      const rest = core.payouts.request(core.tenant, pix({ amountCents: 40_001 }));
      await expect(rest).rejects.toBeInstanceOf(InsufficientFundsError);
    });

    test('a sandbox payout is never denied', async () => {
      const live = await start();
      const core = await start({ tenant: { ...live.tenant, environment: 'sandbox' } });
      await fund(core, { cents: 100_000 });
      const payouts = [];
      for (const name of ['nega', 'recusa', 'demora', 'verifica']) {
        const input = pix({ destination: `${name}@psa.example`, amountCents: 10_000 });
        payouts.push((await core.payouts.request(core.tenant, input)).payout);
      }
      await core.work.settled();
      for (const { withdrawalId } of payouts) expect(await core.bank.deny(withdrawalId, 'Não')).toBe(false);
      await core.pass(10 * MINUTE);
      for (const payout of payouts) expect(await again(core, payout)).toMatchObject({ status: 'completed' });
      expect(await core.balances()).toMatchObject({ merchant_balance: 60_000, paid_out: 39_600 });
      expect(core.faults).toEqual([]);

      const ltc = core.payouts.request(core.tenant, { method: 'ltc', amountCents: 501, destination: LTC });
      await expect(ltc).rejects.toMatchObject({ code: 'INSUFFICIENT_FUNDS', cryptoBalanceLitoshi: 0 });
    });
  });

  describe('above what can be withdrawn', () => {
    test('are refused with the detailed reason, and change nothing', async () => {
      const core = await start();
      await fund(core, { heldCents: 30_000 });
      const refused = core.payouts.request(core.tenant, pix({ amountCents: 70_001 }));
      await expect(refused).rejects.toBeInstanceOf(InsufficientFundsError);
      await expect(refused).rejects.toMatchObject({
        message:
          'R$ 700,01 is more than can be withdrawn, which is R$ 700,00: of the balance of R$ 1.000,00, R$ 300,00 is blocked by disputes and R$ 0,00 belongs to subaccounts',
        requestedCents: 70_001,
        withdrawableCents: 70_000,
        balanceCents: 100_000,
        disputeBlockedCents: 30_000,
        subaccountsBalanceCents: 0,
        cryptoBalanceLitoshi: null,
      });
      expect(await events(core)).toEqual([]);
      await core.payouts.request(core.tenant, pix({ amountCents: 70_000 }));
      expect(await core.balances()).toMatchObject({ merchant_balance: 30_000 });
    });

    test('in LTC are bound by the LTC balance alone', async () => {
      const core = await start();
      const ltc = (amountCents: number) =>
        core.payouts.request(core.tenant, { method: 'ltc', amountCents, destination: LTC });
      await expect(ltc(122_469)).rejects.toMatchObject({
        message: 'R$ 1.224,69 is 2.00001634 LTC at this moment, more than the LTC balance of 2.00000000 LTC',
        requestedCents: 122_469,
        withdrawableCents: 100_000,
        cryptoBalanceLitoshi: 200_000_000,
      });
      await expect(ltc(Number.MAX_SAFE_INTEGER)).rejects.toBeInstanceOf(InsufficientFundsError);
      expect((await ltc(122_468)).payout.litoshi).toBe(200_000_000);
      expect(await core.balances()).toMatchObject({ merchant_ltc: 0, merchant_balance: 100_000 });
    });

    test('never overdraw, though 64 ask at once of two instances', async () => {
      const first = await start();
      const second = await start({ tenant: first.tenant, clock: first.clock });
      const results = await Promise.allSettled(
        Array.from({ length: 64 }, (_, n) =>
          (n % 2 ? first : second).payouts.request(first.tenant, pix({ amountCents: 15_000 })),
        ),
      );
      const paid = results.filter(({ status }) => status === 'fulfilled');
      expect(paid).toHaveLength(6);
      expect(await first.balances()).toMatchObject({ merchant_balance: 10_000, payouts_in_transit: 90_000 });
      for (const result of results)
        if (result.status === 'rejected') expect(result.reason).toBeInstanceOf(InsufficientFundsError);
      await first.pass(MINUTE);
      await second.work.settled();
      expect(await first.balances()).toMatchObject({
        payouts_in_transit: 0,
        paid_out: 89_400,
        platform_fees: 600,
      });
    });
  });

  describe('with a key', () => {
    test('are one, though 64 ask at once', async () => {
      const core = await start();
      const input = pix({ amountCents: 40_000, idempotencyKey: 'saque-1' });
      const all = await Promise.all(
        Array.from({ length: 64 }, () => core.payouts.request(core.tenant, input)),
      );
      expect(new Set(all.map(({ payout }) => payout.withdrawalId)).size).toBe(1);
      expect(all.filter(({ replayed }) => !replayed)).toHaveLength(1);
      expect(await core.balances()).toMatchObject({ merchant_balance: 60_000 });
      for (const other of [
        { amountCents: 40_001 },
        { method: 'pix_turbo' },
        { destination: 'b@c.example' },
      ] as const)
        await expect(core.payouts.request(core.tenant, { ...input, ...other })).rejects.toBeInstanceOf(
          IdempotencyError,
        );
      expect(await events(core)).toHaveLength(1);
    });

    test('are replayed as they are by then, with the money gone and the limit reached', async () => {
      const core = await start();
      const input = pix({ amountCents: 91_000, idempotencyKey: 'saque-1' });
      const { payout } = await core.payouts.request(core.tenant, input);
      for (let n = 0; n < 9; n++) await core.payouts.request(core.tenant, pix());
      await core.pass(2 * SECOND);
      await expect(core.payouts.request(core.tenant, pix())).rejects.toBeInstanceOf(RateLimitError);
      expect(await core.payouts.request(core.tenant, input)).toEqual({
        payout: await again(core, payout),
        replayed: true,
      });
    });

    test('are the account’s and environment’s own', async () => {
      const [core, other] = [await start(), await start()];
      const sandbox = await start({ tenant: { ...core.tenant, environment: 'sandbox' } });
      await fund(sandbox, { cents: 100_000 });
      const input = pix({ idempotencyKey: 'saque-1' });
      for (const each of [core, other, sandbox])
        expect(await each.payouts.request(each.tenant, input)).toMatchObject({ replayed: false });
    });

    test('in LTC are replayed without a quote, and refused without one where they are new', async () => {
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

  describe('in an hour', () => {
    test('are at most ten, over two instances, and one more when the first has left the hour', async () => {
      const first = await start();
      const second = await start({ tenant: first.tenant, clock: first.clock });
      await first.payouts.request(first.tenant, pix());
      await first.pass(20 * MINUTE);
      const results = await Promise.allSettled(
        Array.from({ length: 30 }, (_, n) => (n % 2 ? first : second).payouts.request(first.tenant, pix())),
      );
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(9);
      for (const result of results)
        if (result.status === 'rejected')
          expect(result.reason).toMatchObject({
            code: 'RATE_LIMITED',
            limit: '10 withdrawals an hour',
            retryAfterSeconds: 40 * 60,
          });
      await first.pass(40 * MINUTE - 1);
      await expect(second.payouts.request(first.tenant, pix())).rejects.toMatchObject({
        retryAfterSeconds: 1,
      });
      await first.pass(1);
      await second.payouts.request(first.tenant, pix());
      await expect(first.payouts.request(first.tenant, pix())).rejects.toMatchObject({
        retryAfterSeconds: 20 * 60,
      });
    });

    test('are at most five turbo, which count among the ten', async () => {
      const core = await start();
      const turbo = () => core.payouts.request(core.tenant, pix({ method: 'pix_turbo' }));
      for (let n = 0; n < 5; n++) await turbo();
      await expect(turbo()).rejects.toMatchObject({
        limit: '5 turbo withdrawals an hour',
        retryAfterSeconds: 3_600,
      });
      await core.pass(10 * MINUTE);
      for (let n = 0; n < 5; n++) await core.payouts.request(core.tenant, pix());
      await expect(core.payouts.request(core.tenant, pix())).rejects.toMatchObject({
        limit: '10 withdrawals an hour',
        retryAfterSeconds: 50 * 60,
      });
      await core.pass(50 * MINUTE);
      await turbo();
    });

    test('are counted with those that were denied, not with those that were refused, nor with another’s', async () => {
      const [core, other] = [await start(), await start()];
      await expect(core.payouts.request(core.tenant, pix({ amountCents: 100_001 }))).rejects.toThrow();
      for (let n = 0; n < 10; n++)
        await core.payouts.request(core.tenant, pix({ destination: 'recusa@psa.example' }));
      await core.work.settled();
      await expect(core.payouts.request(core.tenant, pix())).rejects.toBeInstanceOf(RateLimitError);
      await other.payouts.request(other.tenant, pix());
      const sandbox = await start({ tenant: { ...core.tenant, environment: 'sandbox' } });
      await fund(sandbox, { cents: 1_000 });
      await sandbox.payouts.request(sandbox.tenant, pix());
    });
  });

  describe('across faults', () => {
    test('a bank that throws has said nothing: it is asked again, and nothing is denied', async () => {
      const seen: Transfer[] = [];
      const core = await start({
        bank: (bank) => ({
          ...bank,
          async send(transfer) {
            seen.push(transfer);
            if (seen.length === 1) throw new Error('no answer');
            const answer = await bank.send(transfer);
            // Sent, and the answer lost.
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

    test('an instance that dies before it has sent leaves it to another', async () => {
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

    test('an instance that is cut off between the bank’s answer and its record sends nothing twice, nor turns anything back', async () => {
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
      dead.work.nudge(dead.clock.now());
      await answered.promise;
      // Its lease runs out, and it is not there to renew it.
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

  describe('listed', () => {
    test('newest first, from either end, and filtered', async () => {
      const core = await start();
      const made: Payout[] = [];
      for (const input of [
        pix(),
        pix({ method: 'pix_turbo' }),
        pix(),
        { ...pix(), method: 'usd', destination: USDT },
      ]) {
        made.push((await core.payouts.request(core.tenant, input as RequestPayoutInput)).payout);
        await core.pass(MINUTE);
      }
      const list = async (range: Partial<PayoutRange> = {}) => {
        const { items, more } = await core.payouts.list(core.tenant, { end: 'first', limit: 10, ...range });
        return {
          found: items.map(({ payout }) => made.findIndex((each) => each.code === payout.code)),
          more,
        };
      };
      const { items } = await core.payouts.list(core.tenant, { end: 'first', limit: 10 });
      const place = (n: number) => items[3 - n]!.place;
      expect(await list()).toEqual({ found: [3, 2, 1, 0], more: false });
      expect(await list({ limit: 2 })).toEqual({ found: [3, 2], more: true });
      expect(await list({ limit: 2, after: place(2) })).toEqual({ found: [1, 0], more: false });
      expect(await list({ end: 'last', limit: 2 })).toEqual({ found: [1, 0], more: true });
      expect(await list({ end: 'last', limit: 2, before: place(1) })).toEqual({ found: [3, 2], more: false });
      expect(await list({ end: 'last', limit: 1, before: place(0) })).toEqual({ found: [1], more: true });
      expect(await list({ after: place(3), before: place(0) })).toEqual({ found: [2, 1], more: false });
      expect(await list({ method: ['usd', 'pix_turbo'] })).toEqual({ found: [3, 1], more: false });
      expect(await list({ status: ['denied'] })).toEqual({ found: [], more: false });
      expect(await list({ status: [] })).toEqual({ found: [], more: false });
      expect(
        await list({ requestedAfter: made[1]!.requestedAt, requestedBefore: made[3]!.requestedAt }),
      ).toEqual({
        found: [2, 1],
        more: false,
      });
      expect(await core.payouts.count(core.tenant, {})).toBe(4);
      expect(await core.payouts.count(core.tenant, { method: ['pix'], status: ['completed'] })).toBe(2);
      const page = await core.payouts.listPage(core.tenant, { limit: 2, offset: 1 });
      expect({ ...page, items: page.items.map(({ code }) => code) }).toEqual({
        items: [made[2]!.code, made[1]!.code],
        total: 4,
      });
    });
  });

  test('the database keeps the rules that the model keeps', async () => {
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

function again(core: Core, { withdrawalId }: Payout): Promise<Payout | null> {
  return core.payouts.find(core.tenant, withdrawalId);
}

/** The transfer arrives while its answer is on the way. */
function afterwards(send: Bank['send'], core: () => Core): Bank['send'] {
  return async (transfer) => {
    await send(transfer);
    core().clock.advance(MINUTE);
    return send(transfer);
  };
}
