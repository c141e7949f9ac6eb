import { describe, expect, test } from 'vitest';
import { plusMs } from '../../../server/src/kernel/clock.ts';
import {
  IdempotencyError,
  InsufficientFundsError,
  RateLimitError,
} from '../../../server/src/kernel/errors.ts';
import type { Payout, PayoutRange, RequestPayoutInput } from '../../../server/src/money-out/payouts/model.ts';
import { NO_BALANCES } from '../../../server/src/state/ledger/postings.ts';
import { fund } from '../../support/funds.ts';
import { FEES } from '../../support/payout-methods.ts';
import type { PortFixture, StartPortFixture } from '../../support/port-fixture.ts';
import { scale } from '../../support/scale.ts';

const CALLERS = scale('CALLERS');

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

export const KEY = 'ana@padaria.example';
export const LTC = 'ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9';
const LTC_DENIED = 'ltc1qt6cs9wr2kmrvmchxmdxngrnzj9a6fvawwtxyh3';
const USDT = 'TSKvj5dE2xfkpwQU1z3A1PoNC69QmRVhxK';
const USDT_DENIED = 'TJbta1F5Qigik4ZrFsoGXmRPgkudGtsPaL';

/** The contract of payouts of the main account, for both implementations of their port. */
export function describePort(startMerchant: StartPortFixture): void {
  /** Starts a merchant with R$ 1.000,00 and 2 LTC. */
  async function start(): Promise<PortFixture> {
    const merchant = await startMerchant({ payoutFeesCents: FEES });
    await fund(merchant.service, { cents: 100_000, litoshi: 200_000_000 });
    return merchant;
  }

  describe('requested', () => {
    test('a payout is debited at once, and found by id and by code, by its merchant alone', async () => {
      const [merchant, other] = [await start(), await start()];
      const { payout, replayed } = await request(merchant, { amountCents: 40_000 });
      expect(replayed).toBe(false);
      const expected = {
        withdrawalId: expect.stringMatching(/^[0-9a-f]{24}$/),
        code: expect.stringMatching(/^SAQ-[0-9A-HJKMNP-TV-Z]{12}$/),
        method: 'pix',
        status: 'pending',
        amountCents: 40_000,
        requestedAt: merchant.clock.now(),
        processedAt: null,
        deniedReason: null,
      };
      expect(payout).toMatchObject(expected);
      expect(await merchant.service.balances()).toMatchObject({
        merchant_balance: 60_000,
        payouts_in_transit: 40_000,
      });
      const { withdrawalId, code } = payout;
      for (const reference of [withdrawalId, code]) {
        expect(await merchant.payouts.find(merchant.tenant, reference)).toMatchObject({
          ...expected,
          withdrawalId,
          code,
        });
        expect(await other.payouts.find(other.tenant, reference)).toBeNull();
        const sandbox = merchant.inSandbox();
        expect(await sandbox.payouts.find(sandbox.tenant, reference)).toBeNull();
      }
      expect(await other.payouts.findWithVersion(other.tenant, withdrawalId)).toBeNull();
      expect(await other.payouts.recheck(other.tenant, withdrawalId)).toBe(false);
      expect(await merchant.events('payout')).toMatchObject([
        { kind: 'payout.pending', resourceId: withdrawalId, previousStatus: null, snapshot: expected },
      ]);
    });

    test('payouts are found many at once in the order of their references', async () => {
      const merchant = await start();
      const [first, second] = [(await request(merchant)).payout, (await request(merchant)).payout];
      const found = await merchant.payouts.findMany(merchant.tenant, [
        ...[second.code, '0'.repeat(24), first.withdrawalId, second.code],
      ]);
      expect(found.map((payout) => payout?.code)).toEqual([second.code, undefined, first.code, second.code]);
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
    ])('the reference %j finds no payout', async (reference) => {
      const { payouts, tenant } = await start();
      expect(await payouts.find(tenant, reference)).toBeNull();
      expect(await payouts.findWithVersion(tenant, reference)).toBeNull();
      expect(await payouts.recheck(tenant, reference)).toBe(false);
    });

    test('a payout for no more than the fee is refused', async () => {
      const merchant = await start();
      const refused = request(merchant, { method: 'pix_turbo', amountCents: 200 });
      await expect(refused).rejects.toMatchObject({
        code: 'BAD_USER_INPUT',
        ...merchant.exact({ message: 'input.amountCents: must be more than the fee of 200 (R$ 2,00)' }),
      });
      expect(await merchant.events('payout')).toEqual([]);
      await request(merchant, { method: 'pix_turbo', amountCents: 201 });
      await fund(merchant.service, { heldCents: 99_700 });
      // The fee alone exceeds the withdrawable balance, too.
      await expect(request(merchant, { method: 'pix_turbo', amountCents: 200 })).rejects.toMatchObject({
        fields: [{ path: 'input.amountCents' }],
      });
    });
  });

  describe('by the bank', () => {
    test('a PIX payout arrives after a moment', async () => {
      const merchant = await start();
      const { payout } = await request(merchant, { amountCents: 40_000 });
      await merchant.pass(SECOND);
      expect(await again(merchant, payout)).toEqual(payout);
      await merchant.pass(SECOND);
      const done = await again(merchant, payout);
      expect(done).toEqual({
        ...payout,
        // The service confirms its webhook, which may be another version.
        version: expect.toBeOneOf([2, 3]),
        status: 'completed',
        processedAt: plusMs(payout.requestedAt!, 2 * SECOND),
        endToEndId: done!.endToEndId,
      });
      // A facade reads the status from the service: no webhook has it.
      await merchant.pass(3 * SECOND);
      expect(await again(merchant, payout)).toMatchObject({
        endToEndId: expect.stringMatching(/^E\d{8}202603021200[0-9A-Z]{11}$/),
      });
      expect(await merchant.service.balances()).toMatchObject({
        merchant_balance: 60_000,
        payouts_in_transit: 0,
        paid_out: 39_900,
        platform_fees: 100,
      });
      expect(await history(merchant)).toEqual([
        ['payout.pending', null],
        ['payout.completed', 'pending'],
      ]);
      expect((await merchant.service.bank.list())[0]).toMatchObject({
        id: payout.withdrawalId,
        amountCents: 39_900,
      });
      expect(merchant.faults).toEqual([]);
    });

    test('a turbo payout is processing while the bank has not confirmed', async () => {
      const merchant = await start();
      const { payout } = await request(merchant, { method: 'pix_turbo' });
      await merchant.settled();
      expect(await again(merchant, payout)).toMatchObject({
        status: 'processing',
        version: 2,
        processedAt: null,
      });
      await merchant.pass(3 * SECOND);
      expect(await again(merchant, payout)).toMatchObject({
        status: 'completed',
        ...merchant.exact({ version: 3 }),
      });
      expect(await history(merchant)).toEqual([
        ['payout.pending', null],
        ['payout.processing', 'pending'],
        ['payout.completed', 'processing'],
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
        const merchant = await start();
        const before = await merchant.service.balances();
        const { payout } = await request(merchant, { method, destination, amountCents: 10_000 });
        await merchant.pass(10 * SECOND);
        expect(await again(merchant, payout)).toMatchObject({
          status: 'denied',
          processedAt: expect.any(Date),
          deniedReason: expect.stringMatching(/./),
          endToEndId: null,
        });
        const announced = (await history(merchant)).flatMap(([kind, previous]) =>
          kind === `payout.${previous}` ? [] : [kind],
        );
        const all = statuses.map((status) => `payout.${status}`);
        expect({ announced }).toMatchObject(merchant.exact({ announced: all }));
        // No webhook reports processing, so a facade that does not poll at that moment may miss it.
        const isAnnounced = (kind: string) => kind !== 'payout.processing' || announced.includes(kind);
        expect(announced).toEqual(all.filter(isAnnounced));
        expect(await merchant.service.balances()).toEqual(before);
      },
    );

    test('a payout that the service itself refuses is denied at once, and no bank has seen it', async () => {
      const merchant = await start();
      const { payout } = await request(merchant, { destination: 'recusa@psa.example' });
      await merchant.settled();
      expect(await again(merchant, payout)).toMatchObject({
        status: 'denied',
        processedAt: payout.requestedAt,
      });
    });

    test('an LTC payout takes litoshi as quoted, and leaves the reais alone', async () => {
      const merchant = await start();
      const { payout } = await request(merchant, { method: 'ltc', amountCents: 61_234, destination: LTC });
      expect(payout).toMatchObject({
        method: 'ltc',
        amountCents: 61_234,
        litoshi: 100_000_000,
        ...merchant.exact({ feeCents: 500, destination: LTC }),
      });
      expect(await merchant.service.balances()).toMatchObject({
        merchant_balance: 100_000,
        merchant_ltc: 100_000_000,
        ltc_in_transit: 100_000_000,
      });
      await merchant.pass(5 * SECOND);
      expect(await again(merchant, payout)).toMatchObject({ status: 'completed', endToEndId: null });
      expect(await merchant.service.balances()).toEqual({
        ...NO_BALANCES,
        merchant_balance: 100_000,
        received: -100_000,
        merchant_ltc: 100_000_000,
        ltc_paid_out: 100_000_000,
        ltc_received: -200_000_000,
      });
      // The amount is 60,734 of 61,234 cents, rounded down to a whole litoshi.
      expect((await merchant.service.bank.list())[0]).toMatchObject({
        amountCents: 60_734,
        litoshi: 99_183_460,
      });
    });

    test('a USDT payout takes reais', async () => {
      const merchant = await start();
      await request(merchant, { method: 'usd', amountCents: 10_000, destination: USDT });
      await merchant.pass(5 * SECOND);
      expect(await merchant.service.balances()).toMatchObject({
        merchant_balance: 90_000,
        paid_out: 9_500,
        platform_fees: 500,
        merchant_ltc: 200_000_000,
      });
    });

    test.each(['verifica@psa.example', 'demora@psa.example'])(
      'a payout to %s waits, and arrives',
      async (destination) => {
        const merchant = await start();
        const { payout } = await request(merchant, { destination });
        await merchant.pass(29 * SECOND);
        expect(await again(merchant, payout)).toEqual(payout);
        await merchant.pass(destination.startsWith('verifica') ? 3 * SECOND : 10 * MINUTE);
        expect(await again(merchant, payout)).toMatchObject({ status: 'completed' });
      },
    );

    test('the controls settle, deny or delay a payout that is under way, and none that has ended', async () => {
      const merchant = await start();
      const { bank, payouts, tenant } = merchant.service;
      const slow = async () => {
        const { payout } = await request(merchant, { destination: 'demora@psa.example' });
        // Payouts that are sent at once reach the bank in either order.
        await merchant.settled();
        return payout;
      };
      const [settled, denied, delayed] = [await slow(), await slow(), await slow()];
      expect(await bank.settle(settled.withdrawalId)).toBe(true);
      expect(await bank.deny(denied.withdrawalId, 'Conta encerrada')).toBe(true);
      expect(await bank.delay(delayed.withdrawalId, plusMs(merchant.clock.now(), HOUR))).toBe(true);
      for (const earlier of [merchant.clock.now(), plusMs(merchant.clock.now(), HOUR)])
        expect(await bank.delay(delayed.withdrawalId, earlier)).toBe(false);
      for (const { withdrawalId } of [settled, denied, delayed])
        expect(await payouts.recheck(tenant, withdrawalId)).toBe(true);
      await merchant.settled();
      expect(await again(merchant, settled)).toMatchObject({ status: 'completed' });
      expect(await again(merchant, denied)).toMatchObject({
        status: 'denied',
        ...merchant.exact({ deniedReason: 'Conta encerrada' }),
      });
      expect(await merchant.payouts.recheck(merchant.tenant, settled.withdrawalId)).toBe(false);
      expect(await bank.deny(settled.withdrawalId, 'Tarde demais')).toBe(false);
      expect(await bank.settle(denied.withdrawalId)).toBe(false);
      await merchant.pass(59 * MINUTE);
      // No webhook has the reason: a facade reads it afterwards.
      expect(await again(merchant, denied)).toMatchObject({ deniedReason: 'Conta encerrada' });
      expect(await again(merchant, delayed)).toEqual(delayed);
      await merchant.pass(MINUTE);
      expect(await again(merchant, delayed)).toMatchObject({ status: 'completed' });
      expect((await bank.list()).slice(0, 3).map(({ id, state }) => [id, state.status])).toEqual([
        [delayed.withdrawalId, 'completed'],
        [denied.withdrawalId, 'denied'],
        [settled.withdrawalId, 'completed'],
      ]);
    });

    test('a denied payout settles the merchant’s debt before its amount can be spent again', async () => {
      const merchant = await start();
      const { bank, payouts, tenant } = merchant.service;
      const input = { destination: 'demora@psa.example', amountCents: 100_000 };
      const { payout } = await request(merchant, input);
      await merchant.settled();
      await fund(merchant.service, { owedCents: 60_000 });
      expect(await bank.deny(payout.withdrawalId, 'Conta encerrada')).toBe(true);
      await payouts.recheck(tenant, payout.withdrawalId);
      await merchant.settled();
      expect(await again(merchant, payout)).toMatchObject({ status: 'denied' });
      expect(await merchant.service.balances()).toMatchObject({
        merchant_balance: 40_000,
        merchant_receivable: 0,
      });
      await expect(request(merchant, { amountCents: 40_001 })).rejects.toBeInstanceOf(InsufficientFundsError);
    });

    test('a sandbox payout is never denied', async () => {
      const merchant = (await start()).inSandbox();
      await fund(merchant.service, { cents: 100_000 });
      const payouts: NamedPayout[] = [];
      for (const name of ['nega', 'recusa', 'demora', 'verifica'])
        payouts.push(
          (await request(merchant, { destination: `${name}@psa.example`, amountCents: 10_000 })).payout,
        );
      await merchant.settled();
      for (const { withdrawalId } of payouts)
        expect(await merchant.service.bank.deny(withdrawalId, 'Não')).toBe(false);
      await merchant.pass(10 * MINUTE);
      for (const payout of payouts)
        expect(await again(merchant, payout)).toMatchObject({ status: 'completed' });
      expect(await merchant.service.balances()).toMatchObject({ merchant_balance: 60_000, paid_out: 39_600 });
      expect(merchant.faults).toEqual([]);
      const ltc = request(merchant, { method: 'ltc', amountCents: 504, destination: LTC });
      await expect(ltc).rejects.toMatchObject({
        code: 'INSUFFICIENT_FUNDS',
        ...merchant.exact({ cryptoBalanceLitoshi: 0 }),
      });
    });
  });

  describe('above what can be withdrawn', () => {
    test('payouts above the withdrawable amount are refused with the figures, and change nothing', async () => {
      const merchant = await start();
      await fund(merchant.service, { heldCents: 30_000 });
      const refused = request(merchant, { amountCents: 70_001 });
      await expect(refused).rejects.toBeInstanceOf(InsufficientFundsError);
      await expect(refused).rejects.toMatchObject({
        requestedCents: 70_001,
        withdrawableCents: 70_000,
        balanceCents: 100_000,
        disputeBlockedCents: 30_000,
        subaccountsBalanceCents: 0,
        cryptoBalanceLitoshi: null,
        ...merchant.exact({
          message:
            'R$ 700,01 is more than can be withdrawn, which is R$ 700,00: of the balance of R$ 1.000,00, R$ 300,00 is blocked by disputes and R$ 0,00 belongs to subaccounts',
        }),
      });
      expect(await merchant.events('payout')).toEqual([]);
      await request(merchant, { amountCents: 70_000 });
      expect(await merchant.service.balances()).toMatchObject({ merchant_balance: 30_000 });
    });

    test('payouts in LTC are limited by the LTC balance alone', async () => {
      const merchant = await start();
      const ltc = (amountCents: number) =>
        request(merchant, { method: 'ltc', amountCents, destination: LTC });
      await expect(ltc(122_469)).rejects.toMatchObject({
        code: 'INSUFFICIENT_FUNDS',
        requestedCents: 122_469,
        ...merchant.exact({
          message:
            'R$ 1.224,69 is 2.00001634 LTC at this moment, more than the LTC balance of 2.00000000 LTC',
          withdrawableCents: 100_000,
          cryptoBalanceLitoshi: 200_000_000,
        }),
      });
      await expect(ltc(Number.MAX_SAFE_INTEGER)).rejects.toBeInstanceOf(InsufficientFundsError);
      expect((await ltc(122_468)).payout).toMatchObject({ litoshi: 200_000_000 });
      expect(await merchant.service.balances()).toMatchObject({ merchant_ltc: 0, merchant_balance: 100_000 });
    });

    test(`payouts never overdraw, though ${CALLERS} callers of two instances request them at once`, async () => {
      const first = await start();
      const second = await first.another();
      const results = await Promise.allSettled(
        Array.from({ length: CALLERS }, (_, n) => request(n % 2 ? first : second, { amountCents: 15_000 })),
      );
      const paid = results.filter(({ status }) => status === 'fulfilled');
      expect(paid).toHaveLength(6);
      expect(await first.service.balances()).toMatchObject({
        merchant_balance: 10_000,
        payouts_in_transit: 90_000,
      });
      for (const result of results)
        if (result.status === 'rejected') expect(result.reason).toBeInstanceOf(InsufficientFundsError);
      // The second server has done a step, so the next is due later than the first has waited.
      await first.pass(MINUTE);
      await second.settled();
      await first.pass(MINUTE);
      await second.settled();
      expect(await first.service.balances()).toMatchObject({
        payouts_in_transit: 0,
        paid_out: 89_400,
        platform_fees: 600,
      });
    });
  });

  describe('with a key', () => {
    test(`requests with one key make one payout, though ${CALLERS} callers of two instances send them at once`, async () => {
      const merchant = await start();
      const second = await merchant.another();
      const input = { amountCents: 40_000, idempotencyKey: 'saque-1' };
      const all = await Promise.all(
        Array.from({ length: CALLERS }, (_, n) => request(n % 2 ? merchant : second, input)),
      );
      expect(new Set(all.map(({ payout }) => payout.withdrawalId)).size).toBe(1);
      expect(all.filter(({ replayed }) => !replayed)).toHaveLength(1);
      expect(await merchant.service.balances()).toMatchObject({ merchant_balance: 60_000 });
      for (const other of [
        { amountCents: 40_001 },
        { method: 'pix_turbo' },
        { destination: 'b@c.example' },
      ] as const)
        await expect(request(merchant, { ...input, ...other })).rejects.toBeInstanceOf(IdempotencyError);
      expect(await merchant.events('payout')).toHaveLength(1);
    });

    test('a replayed payout shows its present state, with the money gone and the limit reached', async () => {
      const merchant = await start();
      const input = { amountCents: 91_000, idempotencyKey: 'saque-1' };
      const { payout } = await request(merchant, input);
      for (let n = 0; n < 9; n++) await request(merchant);
      await merchant.pass(2 * SECOND);
      await expect(request(merchant)).rejects.toBeInstanceOf(RateLimitError);
      const present = await again(merchant, payout);
      expect(present).toMatchObject({ status: 'completed' });
      expect(await request(merchant, input)).toEqual({
        payout: { ...present!, version: expect.toBeOneOf([2, 3]) },
        replayed: true,
      });
    });

    test('a payout is found by the key of its request, by its merchant alone, and with its number', async () => {
      const [merchant, other] = [await start(), await start()];
      expect(await merchant.payouts.findByKey(merchant.tenant, 'a')).toBeNull();
      const input = { idempotencyKey: 'a', externalId: 'repasse 7/2026' };
      const { payout } = await request(merchant, input);
      expect(payout.externalId).toBe('repasse 7/2026');
      expect((await merchant.payouts.findByKey(merchant.tenant, 'a'))?.code).toBe(payout.code);
      expect((await again(merchant, payout))?.externalId).toBe('repasse 7/2026');
      const sandbox = merchant.inSandbox();
      for (const each of [other, sandbox]) expect(await each.payouts.findByKey(each.tenant, 'a')).toBeNull();
      expect((await request(merchant, input)).replayed).toBe(true);
      for (const externalId of ['repasse 8/2026', null])
        await expect(request(merchant, { ...input, externalId })).rejects.toThrow(IdempotencyError);
    });

    test('a payout shows what its key was taken for, and a key of a request stays with the type that it names', async () => {
      const merchant = await start();
      const input = { destination: '+5511987650034', pixKeyType: 'phone', idempotencyKey: 'a' } as const;
      const { payout } = await request(merchant, input);
      expect(payout.destinationKind).toBe('phone');
      expect((await again(merchant, payout))?.destinationKind).toBe('phone');
      expect((await request(merchant, input)).replayed).toBe(true);
      for (const pixKeyType of ['random', null] as const)
        await expect(request(merchant, { ...input, pixKeyType })).rejects.toThrow(IdempotencyError);
      const { payout: untyped } = await request(merchant, { destination: 'ana@padaria.example' });
      expect(untyped.destinationKind).toBe('email');
    });

    test('an idempotency key belongs to one account and environment', async () => {
      const [merchant, other] = [await start(), await start()];
      const sandbox = merchant.inSandbox();
      await fund(sandbox.service, { cents: 100_000 });
      for (const each of [merchant, other, sandbox])
        expect(await request(each, { idempotencyKey: 'saque-1' })).toMatchObject({ replayed: false });
    });
  });

  describe('in an hour', () => {
    test('an hour has at most ten payouts over two instances, and one more when the first has left the hour', async () => {
      const first = await start();
      const second = await first.another();
      await request(first);
      await first.pass(20 * MINUTE);
      const results = await Promise.allSettled(
        Array.from({ length: 30 }, (_, n) => request(n % 2 ? first : second)),
      );
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(9);
      for (const result of results)
        if (result.status === 'rejected')
          expect(result.reason).toMatchObject({
            code: 'RATE_LIMITED',
            retryAfterSeconds: 40 * 60,
            ...first.exact({ limit: '10 withdrawals an hour' }),
          });
      await first.pass(40 * MINUTE - 1);
      await expect(request(second)).rejects.toMatchObject({ retryAfterSeconds: 1 });
      await first.pass(1);
      await request(second);
      await expect(request(first)).rejects.toMatchObject({ retryAfterSeconds: 20 * 60 });
    });

    test('an hour has at most five turbo payouts, which count among the ten', async () => {
      const merchant = await start();
      const turbo = () => request(merchant, { method: 'pix_turbo' });
      for (let n = 0; n < 5; n++) await turbo();
      await expect(turbo()).rejects.toMatchObject({
        retryAfterSeconds: 3_600,
        ...merchant.exact({ limit: '5 turbo withdrawals an hour' }),
      });
      await merchant.pass(10 * MINUTE);
      for (let n = 0; n < 5; n++) await request(merchant);
      await expect(request(merchant)).rejects.toMatchObject({
        retryAfterSeconds: 50 * 60,
        ...merchant.exact({ limit: '10 withdrawals an hour' }),
      });
      await merchant.pass(50 * MINUTE);
      await turbo();
    });

    test('denied payouts count for the hour, refused requests and another merchant’s payouts do not', async () => {
      const [merchant, other] = [await start(), await start()];
      await expect(request(merchant, { amountCents: 100_001 })).rejects.toThrow();
      for (let n = 0; n < 10; n++) await request(merchant, { destination: 'recusa@psa.example' });
      await merchant.settled();
      await expect(request(merchant)).rejects.toBeInstanceOf(RateLimitError);
      await request(other);
      const sandbox = merchant.inSandbox();
      await fund(sandbox.service, { cents: 1_000 });
      await request(sandbox);
    });
  });

  describe('listed', () => {
    test('payouts are listed newest first, from either end, and filtered', async () => {
      const merchant = await start();
      const { payouts, tenant } = merchant;
      const made: NamedPayout[] = [];
      const externalId = 'saque 1/2';
      const usd = { method: 'usd', destination: USDT } as const;
      for (const input of [{ externalId }, { method: 'pix_turbo' }, { externalId }, usd] as const) {
        const amountCents = 1_000 + made.length;
        made.push((await request(merchant, { ...input, amountCents })).payout);
        await merchant.pass(MINUTE);
      }
      const list = async (range: Partial<PayoutRange> = {}) => {
        const { items, more } = await payouts.list(tenant, { end: 'first', limit: 10, ...range });
        return {
          found: items.map(({ payout }) => made.findIndex((each) => each.code === payout.code)),
          more,
        };
      };
      const { items } = await payouts.list(tenant, { end: 'first', limit: 10 });
      const position = (n: number) => items[3 - n]!.position;
      expect(await list()).toEqual({ found: [3, 2, 1, 0], more: false });
      expect(await list({ limit: 2 })).toEqual({ found: [3, 2], more: true });
      expect(await list({ limit: 2, after: position(2) })).toEqual({ found: [1, 0], more: false });
      expect(await list({ end: 'last', limit: 2 })).toEqual({ found: [1, 0], more: true });
      expect(await list({ end: 'last', limit: 2, before: position(1) })).toEqual({
        found: [3, 2],
        more: false,
      });
      expect(await list({ end: 'last', limit: 1, before: position(0) })).toEqual({ found: [1], more: true });
      expect(await list({ after: position(3), before: position(0) })).toEqual({ found: [2, 1], more: false });
      expect(await list({ method: ['usd', 'pix_turbo'] })).toEqual({ found: [3, 1], more: false });
      expect(await list({ status: ['denied'] })).toEqual({ found: [], more: false });
      expect(await list({ status: [] })).toEqual({ found: [], more: false });
      const [, second, , fourth] = made;
      const between = { requestedAfter: second!.requestedAt!, requestedBefore: fourth!.requestedAt! };
      expect(await list(between)).toEqual({ found: [2, 1], more: false });
      expect(await payouts.count(tenant, {})).toBe(4);
      expect(await payouts.count(tenant, { method: ['pix'], status: ['completed'] })).toBe(2);
      expect(await list({ amountCents: 1_002 })).toEqual({ found: [2], more: false });
      expect(await list({ ...between, amountCents: 1_003 })).toEqual({ found: [], more: false });
      expect(await list({ reference: made[1]!.code })).toEqual({ found: [1], more: false });
      expect(await list({ reference: made[3]!.withdrawalId, status: ['denied'] })).toMatchObject({
        found: [],
      });
      expect(await list({ externalId })).toEqual({ found: [2, 0], more: false });
      expect(await list({ externalId, limit: 1 })).toEqual({ found: [2], more: true });
      expect(await payouts.count(tenant, { externalId, method: ['pix'] })).toBe(2);
      const { processedAt, endToEndId } = (await payouts.find(tenant, made[0]!.code))!;
      expect(await list({ reference: endToEndId! })).toEqual({ found: [0], more: false });
      const processed = { processedAfter: processedAt!, processedBefore: plusMs(processedAt!, 1) };
      expect(await list(processed)).toEqual({ found: [0], more: false });
      expect(await payouts.count(tenant, processed)).toBe(1);
      const page = await payouts.listPage(tenant, { limit: 2, offset: 1 });
      expect({ ...page, items: page.items.map(({ code }) => code) }).toEqual({
        items: [made[2]!.code, made[1]!.code],
        total: 4,
      });
    });
  });
}

/** A payout that the service has named. */
type NamedPayout = Payout & { withdrawalId: string; code: string };

async function request({ payouts, tenant }: PortFixture, input: Partial<RequestPayoutInput> = {}) {
  const requested = await payouts.request(tenant, {
    method: 'pix' as const,
    amountCents: 1_000,
    destination: KEY,
    ...input,
  });
  expect(requested.payout.code).not.toBeNull();
  return { ...requested, payout: shown(requested.payout) as NamedPayout };
}

async function again(
  { payouts, tenant }: PortFixture,
  { withdrawalId }: NamedPayout,
): Promise<Payout | null> {
  const payout = await payouts.find(tenant, withdrawalId);
  return payout && shown(payout);
}

/** The members of a payout that callers see. */
function shown({ inputHash: _, claimedAt: __, ...payout }: Payout): Payout {
  return payout;
}

/** The history without changes that keep the status: a service confirms its webhook. */
async function history(merchant: PortFixture) {
  const events = await merchant.events('payout');
  return events.flatMap(({ kind, previousStatus }) =>
    kind === `payout.${previousStatus}` ? [] : [[kind, previousStatus]],
  );
}
