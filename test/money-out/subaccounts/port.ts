import { describe, expect, test } from 'vitest';
import {
  IdempotencyError,
  InsufficientFundsError,
  NotFoundError,
  PreconditionError,
  ValidationError,
} from '../../../server/src/kernel/errors.ts';
import {
  entryIdOf,
  matchesFilter,
  matchesPayoutFilter,
  type StatementEntry,
  type StatementFilter,
  type SubaccountPayoutFilter,
} from '../../../server/src/money-out/subaccounts/model.ts';
import { REVERSES_AFTER_MS } from '../../../server/src/money-out/subaccounts/payout-rules.ts';
import { expectBothWays } from '../../support/both-ways.ts';
import { fund } from '../../support/funds.ts';
import { FEES } from '../../support/payout-methods.ts';
import type { PortFixture, StartPortFixture } from '../../support/port-fixture.ts';
import { scale } from '../../support/scale.ts';
import { expectStatementsHold, MARKUP } from '../../support/subaccounts.ts';

const CALLERS = scale('CALLERS');

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
export const KEY = 'bia@cliente.example';
export const MASKED = 'b***@cliente.example';
export const DENIED = 'negado@psa.example';
export const REFUSED = 'recusa@psa.example';
export const HELD = 'verifica@psa.example';
const NOWHERE = `sacc_${'0'.repeat(32)}`;

/** The contract of subaccounts and their payouts, for every implementation of their port. */
export function describePort(startMerchant: StartPortFixture): void {
  const start = () => startMerchant({ payoutFeesCents: FEES, subaccountMarkupCents: MARKUP });

  describe('created', () => {
    test('subaccounts are found as they were created, by their merchant alone, live and in sandbox apart', async () => {
      const [merchant, other] = [await start(), await start()];
      const { subaccount, replayed } = await merchant.subaccounts.create(merchant.tenant, {
        name: 'Bia 🧀',
        externalId: 'cliente-1',
      });
      expect(replayed).toBe(false);
      expect(subaccount).toEqual({
        id: expect.stringMatching(/^sacc_[0-9a-f]{32}$/),
        name: 'Bia 🧀',
        externalId: 'cliente-1',
        balanceCents: 0,
        createdAt: merchant.clock.now(),
      });
      const sandbox = merchant.inSandbox();
      expect(await merchant.subaccounts.find(merchant.tenant, subaccount.id)).toEqual(subaccount);
      expect(await other.subaccounts.find(other.tenant, subaccount.id)).toBeNull();
      expect(await sandbox.subaccounts.find(sandbox.tenant, subaccount.id)).toBeNull();
      // The name is free in another tenant.
      const elsewhere = [other, sandbox].map(({ subaccounts, tenant }) =>
        subaccounts.create(tenant, { name: 'Outra', externalId: 'cliente-1' }),
      );
      for (const created of await Promise.all(elsewhere)) expect(created.replayed).toBe(false);
    });

    test(`subaccounts with the same externalId and name are one, though ${CALLERS} ask at once; with another name none`, async () => {
      const { subaccounts, tenant } = await start();
      const input = { name: 'Bia', externalId: 'cliente-1' };
      const all = await Promise.all(Array.from({ length: CALLERS }, () => subaccounts.create(tenant, input)));
      expect(new Set(all.map(({ subaccount }) => subaccount.id)).size).toBe(1);
      expect(all.filter(({ replayed }) => !replayed)).toHaveLength(1);
      const refused = await failure(subaccounts.create(tenant, { ...input, name: 'Ana' }));
      expect(refused).toBeInstanceOf(ValidationError);
      expect(refused).toMatchObject({ fields: [{ path: 'input.externalId' }] });
      expect(await subaccounts.count(tenant)).toBe(1);
    });

    test('subaccounts without an externalId are as many as requested, listed newest first from either kind of page', async () => {
      const merchant = await start();
      const { subaccounts, tenant } = merchant;
      const ids: string[] = [];
      for (let count = 0; count < 5; count += 1) ids.unshift(await openSubaccount(merchant));
      const first = await subaccounts.list(tenant, { end: 'first', limit: 2 });
      await openSubaccount(merchant);
      const second = await subaccounts.list(tenant, {
        end: 'first',
        limit: 3,
        after: first.items.at(-1)!.position,
      });
      expect([...first.items, ...second.items].map(({ item }) => item.id)).toEqual(ids);
      expect([first.more, second.more]).toEqual([true, false]);
      const newest = (await subaccounts.listPage(tenant, { limit: 1, offset: 0 })).items[0]!.id;
      await expectBothWays(
        (range) => subaccounts.list(tenant, range),
        ({ item }) => item.id,
        [newest, ...ids],
      );
      const page = await subaccounts.listPage(tenant, { limit: 2, offset: 4 });
      expect(page.items.map(({ id }) => id)).toEqual(ids.slice(3, 5));
      expect(page.total).toBe(6);
      expect((await subaccounts.listPage(tenant, { limit: 2, offset: 2 ** 53 - 1 })).items).toEqual([]);
    });

    test.each(['', 'sacc_', 'nothing', NOWHERE, NOWHERE.toUpperCase(), 'with \u0000', `x' or '1'='1`])(
      'under the id %j are none',
      async (id) => {
        const { subaccounts, tenant } = await start();
        expect(await subaccounts.find(tenant, id)).toBeNull();
        expect(await subaccounts.findPayout(tenant, id, 'saq_x')).toBeNull();
        expect((await subaccounts.statementPage(tenant, id, { limit: 1, offset: 0 })).total).toBe(0);
        expect((await subaccounts.payoutsPage(tenant, id, { limit: 1, offset: 0 })).total).toBe(0);
        const transfer = subaccounts.transfer(tenant, { subaccountId: id, amountCents: 1 });
        expect(await failure(transfer)).toMatchObject({ message: 'Subaccount not found' });
        const payout = subaccounts.requestPayout(tenant, {
          subaccountId: id,
          amountCents: 1_000,
          pixKey: KEY,
        });
        expect(await failure(payout)).toBeInstanceOf(NotFoundError);
      },
    );
  });

  describe('given money', () => {
    test('a transfer is an entry of the statement, from the merchant’s own money', async () => {
      const merchant = await start();
      const { subaccounts, tenant } = merchant;
      const id = await openSubaccount(merchant);
      await fund(merchant.service, { cents: 10_000 });
      const given = await subaccounts.transfer(tenant, { subaccountId: id, amountCents: 4_000 });
      expect(given).toMatchObject({ replayed: false, subaccount: { id, balanceCents: 4_000 } });
      expect(given.entry).toEqual({
        subaccountId: id,
        kind: 'transfer_in',
        refId: expect.stringMatching(/^rep_[0-9a-f]{32}$/),
        amountCents: 4_000,
        balanceAfterCents: 4_000,
        createdAt: merchant.clock.now(),
      });
      expect(await merchant.service.balances()).toMatchObject({
        merchant_balance: 6_000,
        merchant_subaccounts: 4_000,
      });
      expect(await subaccounts.find(tenant, id)).toMatchObject({ balanceCents: 4_000 });
      expect(await statementOf(merchant, id)).toEqual([given.entry]);
    });

    test('a transfer exists in sandbox too', async () => {
      const merchant = (await start()).inSandbox();
      const { subaccounts, tenant } = merchant;
      await fund(merchant.service, { cents: 500 });
      const { subaccount } = await subaccounts.create(tenant, { name: 'Teste' });
      await subaccounts.transfer(tenant, { subaccountId: subaccount.id, amountCents: 500 });
      expect(await subaccounts.find(tenant, subaccount.id)).toMatchObject({ balanceCents: 500 });
      await expectStatementsHold(merchant.service.database, merchant.service.tenant);
    });

    test('a transfer moves no more than the wallet can withdraw', async () => {
      const merchant = await start();
      const { subaccounts, tenant } = merchant;
      const id = await openSubaccount(merchant, 700);
      await fund(merchant.service, { cents: 10_000, heldCents: 4_000 });
      const input = { subaccountId: id, idempotencyKey: 'k' };
      const refused = await failure(subaccounts.transfer(tenant, { ...input, amountCents: 6_001 }));
      expect(refused).toBeInstanceOf(InsufficientFundsError);
      expect(refused).toMatchObject({
        requestedCents: 6_001,
        withdrawableCents: 6_000,
        balanceCents: 10_700,
        disputeBlockedCents: 4_000,
        subaccountsBalanceCents: 700,
        cryptoBalanceLitoshi: null,
      });
      expect(await subaccounts.countStatement(tenant, id)).toBe(1);
      // The refused transfer has not used its key.
      await subaccounts.transfer(tenant, { ...input, amountCents: 6_000 });
    });

    test(`a transfer with a key is made once, though ${CALLERS} ask at once; with another input not at all`, async () => {
      const merchant = await start();
      const { subaccounts, tenant } = merchant;
      const [id, other] = [await openSubaccount(merchant), await openSubaccount(merchant)];
      await fund(merchant.service, { cents: 10_000 });
      const input = { subaccountId: id, amountCents: 1_000, idempotencyKey: 'repasse-1' };
      const all = await Promise.all(
        Array.from({ length: CALLERS }, () => subaccounts.transfer(tenant, input)),
      );
      expect(all.filter(({ replayed }) => !replayed)).toHaveLength(1);
      expect(new Set(all.map(({ entry }) => entry.refId)).size).toBe(1);
      await subaccounts.transfer(tenant, { subaccountId: id, amountCents: 5 });
      expect(await subaccounts.transfer(tenant, input)).toMatchObject({
        replayed: true,
        entry: all[0]!.entry,
        subaccount: { balanceCents: 1_005 },
      });
      for (const changed of [{ amountCents: 1_001 }, { subaccountId: other }])
        expect(await failure(subaccounts.transfer(tenant, { ...input, ...changed }))).toBeInstanceOf(
          IdempotencyError,
        );
    });

    test(`transfers never exceed the wallet, though ${CALLERS} ask two instances at once`, async () => {
      const merchant = await start();
      const second = await merchant.another();
      const ids = [await openSubaccount(merchant), await openSubaccount(merchant)];
      await fund(merchant.service, { cents: 1_000 });
      const all = await Promise.allSettled(
        Array.from({ length: CALLERS }, (_, n) =>
          [merchant, second][n % 2]!.subaccounts.transfer(merchant.tenant, {
            subaccountId: ids[n % 3 ? 0 : 1]!,
            amountCents: 100,
          }),
        ),
      );
      expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(10);
      expect(await merchant.service.balances()).toMatchObject({
        merchant_balance: 0,
        merchant_subaccounts: 1_000,
      });
    });
  });

  describe('paid out', () => {
    test('payouts debit the subaccount at once, and the key receives what the fees leave', async () => {
      const merchant = await start();
      const id = await openSubaccount(merchant, 10_000);
      const requested = await request(merchant, id, { amountCents: 4_000 });
      const { payout } = requested;
      expect(requested).toMatchObject({ underVerification: false, replayed: false });
      expect(payout).toEqual({
        id: expect.any(String),
        version: expect.any(Number),
        payoutId: expect.stringMatching(/^saq_/),
        withdrawalId: expect.stringMatching(/^[0-9a-f]{24}$/),
        code: expect.stringMatching(/^TURBO-[0-9A-HJKMNP-TV-Z]{12}$/),
        subaccountId: id,
        status: 'processing',
        reversed: false,
        amountCents: 4_000,
        feeCents: MARKUP,
        platformFeeCents: FEES.pix,
        netAmountCents: 3_850,
        pixKey: MASKED,
        endToEndId: null,
        recipientName: null,
        recipientBankName: null,
        failureReason: null,
        createdAt: merchant.clock.now(),
        completedAt: null,
        reversedAt: null,
        externalId: null,
        destinationKind: 'email',
      });
      expect(payout).toMatchObject(
        merchant.exact({
          id: expect.stringMatching(/^sqp_[0-9a-f]{32}$/),
          version: 2,
          payoutId: expect.stringMatching(/^saq_[0-9a-f]{32}$/),
        }),
      );
      expect(await merchant.subaccounts.find(merchant.tenant, id)).toMatchObject({ balanceCents: 6_000 });
      expect((await statementOf(merchant, id))[0]).toMatchObject({
        kind: 'payout',
        refId: payout.payoutId,
        amountCents: -4_000,
        balanceAfterCents: 6_000,
      });
      expect(await merchant.service.balances()).toMatchObject({
        merchant_subaccounts: 6_000,
        payouts_in_transit: 4_000,
      });

      await merchant.pass(2 * SECOND);
      expect(await found(merchant, id, payout.payoutId)).toEqual({
        ...payout,
        // The service's confirmation of its webhook may be a version of its own.
        version: expect.toBeOneOf([payout.version + 1, payout.version + 2]),
        status: 'completed',
        endToEndId: expect.stringMatching(/^E\w{31}$/),
        recipientName: expect.any(String),
        recipientBankName: expect.any(String),
        completedAt: merchant.clock.now(),
      });
      expect(await merchant.service.balances()).toMatchObject({
        merchant_balance: MARKUP,
        merchant_subaccounts: 6_000,
        payouts_in_transit: 0,
        paid_out: 3_850,
        platform_fees: FEES.pix,
      });
      await expectEvents(merchant, payout.id, [
        'null>processing',
        'processing>processing TURBO',
        'processing>completed TURBO',
      ]);
    });

    test('payouts give the integrator its markup, which first pays what it owes', async () => {
      const merchant = await start();
      const id = await openSubaccount(merchant, 10_000);
      await fund(merchant.service, { owedCents: 20 });
      await request(merchant, id);
      await merchant.pass(2 * SECOND);
      expect(await merchant.service.balances()).toMatchObject({
        merchant_balance: MARKUP - 20,
        merchant_receivable: 0,
      });
    });

    test('payouts that the bank denies fail, and are given back a moment later, once', async () => {
      const merchant = await start();
      const { subaccounts, tenant } = merchant;
      const id = await openSubaccount(merchant, 10_000);
      const { payout } = await request(merchant, id, { pixKey: DENIED });
      await merchant.pass(2 * SECOND);
      const failed = await found(merchant, id, payout.code!);
      expect(failed).toMatchObject({
        status: 'failed',
        reversed: false,
        code: payout.code,
        netAmountCents: payout.netAmountCents,
        failureReason: 'O banco de destino recusou a transferência',
        endToEndId: null,
        recipientName: null,
        recipientBankName: null,
      });
      expect(await subaccounts.find(tenant, id)).toMatchObject({ balanceCents: 6_000 });
      await merchant.pass(REVERSES_AFTER_MS);
      expect(await found(merchant, id, payout.code!)).toEqual({
        ...failed,
        version: expect.toBeOneOf([failed!.version + 1, failed!.version + 2]),
        reversed: true,
        reversedAt: merchant.clock.now(),
      });
      expect((await statementOf(merchant, id)).map(({ kind, refId }) => [kind, refId])).toEqual([
        ['payout_reversal', payout.payoutId],
        ['payout', payout.payoutId],
        ['transfer_in', expect.any(String)],
      ]);
      await subaccounts.recheck(tenant, payout.id);
      await merchant.pass(60 * SECOND);
      expect(await subaccounts.countStatement(tenant, id)).toBe(3);
      expect(await merchant.service.balances()).toMatchObject({
        merchant_subaccounts: 10_000,
        payouts_in_transit: 0,
      });
      await expectEvents(merchant, payout.id, [
        'null>processing',
        'processing>processing TURBO',
        'processing>failed TURBO',
        'failed>failed TURBO reversed',
      ]);
    });

    test('payouts that are refused before the bank have a SUB code, no withdrawal, no fees, and are given back', async () => {
      const merchant = await start();
      const id = await openSubaccount(merchant, 10_000);
      const { payout, underVerification } = await request(merchant, id, { pixKey: REFUSED });
      expect(underVerification).toBe(false);
      expect(payout).toMatchObject({
        status: 'failed',
        reversed: false,
        withdrawalId: null,
        code: expect.stringMatching(/^SUB-[0-9A-HJKMNP-TV-Z]{12}$/),
        feeCents: MARKUP,
        platformFeeCents: null,
        netAmountCents: null,
        failureReason: 'Destino bloqueado pela análise de segurança',
      });
      await merchant.pass(REVERSES_AFTER_MS);
      const [reversal] = await statementOf(merchant, id);
      expect(reversal).toMatchObject({ kind: 'payout_reversal', refId: payout.code, amountCents: 4_000 });
      for (const reference of [payout.code!, payout.payoutId])
        expect(await found(merchant, id, reference)).toMatchObject({ id: payout.id, reversed: true });
    });

    test('payouts under verification are sent when it ends', async () => {
      const merchant = await start();
      const id = await openSubaccount(merchant, 10_000);
      const { payout, underVerification } = await request(merchant, id, { pixKey: HELD });
      expect(underVerification).toBe(true);
      expect(payout).toMatchObject({ status: 'processing', code: expect.stringMatching(/^TURBO-/) });
      await merchant.pass(30 * SECOND);
      expect(await found(merchant, id, payout.code!)).toEqual(payout);
      await merchant.pass(2 * SECOND);
      expect(await found(merchant, id, payout.code!)).toMatchObject({ status: 'completed' });
    });

    test('payouts are found by every form of reference, of their own subaccount alone', async () => {
      const [merchant, other] = [await start(), await start()];
      const sandbox = merchant.inSandbox();
      const [id, sibling] = [await openSubaccount(merchant, 10_000), await openSubaccount(merchant, 10_000)];
      const { payout } = await request(merchant, id, { idempotencyKey: 'saque:1.a_b-C' });
      expect(payout.payoutId).toBe('saq_idem_saque:1.a_b-C');
      await other.subaccounts.create(other.tenant, { name: 'x' });
      for (const reference of [payout.payoutId, payout.withdrawalId!, payout.code!]) {
        expect(await found(merchant, id, reference)).toEqual(payout);
        expect(await found(merchant, sibling, reference)).toBeNull();
        expect(await found(other, id, reference)).toBeNull();
        expect(await found(sandbox, id, reference)).toBeNull();
      }
      for (const reference of ['', 'saq_', 'TURBO-', 'saq_with \u0000', 'a'.repeat(24), payout.id])
        expect(await found(merchant, id, reference)).toBeNull();
    });

    test('payouts for no more than the fees, or more than there is, are refused with the subaccount’s figures', async () => {
      const merchant = await start();
      const id = await openSubaccount(merchant, 10_000);
      await fund(merchant.service, { cents: 50_000 });
      const eaten = await failure(request(merchant, id, { amountCents: MARKUP + FEES.pix }));
      expect(eaten).toMatchObject({
        fields: [{ path: 'input.amountCents', message: expect.stringContaining('150') }],
      });
      const tooMuch = await failure(request(merchant, id, { amountCents: 10_001, idempotencyKey: 'k' }));
      expect(tooMuch).toBeInstanceOf(InsufficientFundsError);
      expect(tooMuch).toMatchObject({
        message: expect.stringContaining('subaccount'),
        requestedCents: 10_001,
        withdrawableCents: 10_000,
        balanceCents: 10_000,
        disputeBlockedCents: 0,
        subaccountsBalanceCents: null,
      });
      expect(await merchant.subaccounts.countPayouts(merchant.tenant, id, {})).toBe(0);
      const { payout } = await request(merchant, id, { amountCents: 151, idempotencyKey: 'k' });
      expect(payout.netAmountCents).toBe(1);
    });

    test('payouts in sandbox are refused, and change nothing', async () => {
      const merchant = (await start()).inSandbox();
      const { subaccount } = await merchant.subaccounts.create(merchant.tenant, { name: 'Teste' });
      const refused = await failure(request(merchant, subaccount.id, { amountCents: 1_000 }));
      expect(refused).toBeInstanceOf(PreconditionError);
      expect(refused).toMatchObject({ code: 'NOT_IN_SANDBOX' });
    });

    test(`payouts with one key are one debit, though ${CALLERS} ask two instances at once`, async () => {
      const merchant = await start();
      const second = await merchant.another();
      const id = await openSubaccount(merchant, 10_000);
      const all = await Promise.all(
        Array.from({ length: CALLERS }, (_, n) =>
          request([merchant, second][n % 2]!, id, { idempotencyKey: 'saque-1' }),
        ),
      );
      expect(all.filter(({ replayed }) => !replayed)).toHaveLength(1);
      expect(new Set(all.map(({ payout }) => JSON.stringify(payout)))).toHaveLength(1);
      expect(await merchant.subaccounts.find(merchant.tenant, id)).toMatchObject({ balanceCents: 6_000 });
      for (const changed of [{ amountCents: 4_001 }, { pixKey: 'ana@cliente.example' }])
        expect(
          await failure(request(merchant, id, { idempotencyKey: 'saque-1', ...changed })),
        ).toBeInstanceOf(IdempotencyError);
      const sibling = await openSubaccount(merchant, 10_000);
      expect(await failure(request(merchant, sibling, { idempotencyKey: 'saque-1' }))).toBeInstanceOf(
        IdempotencyError,
      );
      await merchant.pass(2 * SECOND);
      // The other instance may have taken the task.
      await second.settled();
      expect(await request(merchant, id, { idempotencyKey: 'saque-1' })).toMatchObject({
        replayed: true,
        underVerification: false,
        payout: { status: 'completed' },
      });
    });

    test('payouts with the key of another account’s payout have nothing to do with it', async () => {
      const [merchant, other] = [await start(), await start()];
      const [id, theirs] = [await openSubaccount(merchant, 10_000), await openSubaccount(other, 10_000)];
      const [mine, their] = [
        await request(merchant, id, { idempotencyKey: 'saque-1' }),
        await request(other, theirs, { idempotencyKey: 'saque-1' }),
      ];
      expect([mine.replayed, their.replayed]).toEqual([false, false]);
      expect(await found(merchant, id, 'saq_idem_saque-1')).toEqual(mine.payout);
      expect(await found(other, theirs, 'saq_idem_saque-1')).toEqual(their.payout);
    });

    test(`payouts never overdraw, though ${CALLERS} ask two instances at once`, async () => {
      const merchant = await start();
      const second = await merchant.another();
      const id = await openSubaccount(merchant, 10_000);
      await openSubaccount(merchant, 10_000);
      await fund(merchant.service, { cents: 10_000 });
      const all = await Promise.allSettled(
        Array.from({ length: CALLERS }, (_, n) =>
          request([merchant, second][n % 2]!, id, { amountCents: 1_000 }),
        ),
      );
      expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(10);
      for (const result of all)
        if (result.status === 'rejected') expect(result.reason).toBeInstanceOf(InsufficientFundsError);
      expect(await merchant.service.balances()).toMatchObject({
        merchant_balance: 10_000,
        merchant_subaccounts: 10_000,
        payouts_in_transit: 10_000,
      });
      expect(await merchant.subaccounts.find(merchant.tenant, id)).toMatchObject({ balanceCents: 0 });
    });

    test('a statement is filtered by kind, date, reference and amount, and read from either end', async () => {
      const merchant = await start();
      const { subaccounts, tenant } = merchant;
      const id = await openSubaccount(merchant, 50_000);
      for (const pixKey of [KEY, REFUSED, KEY]) {
        await merchant.pass(MINUTE);
        await request(merchant, id, { pixKey });
      }
      await merchant.pass(MINUTE);
      const { items: all } = await subaccounts.statementPage(tenant, id, { limit: 100, offset: 0 });
      const reversal = all.find(({ kind }) => kind === 'payout_reversal')!;
      const filters: StatementFilter[] = [
        { kind: ['payout'] },
        { kind: ['transfer_in', 'payout_reversal'] },
        { kind: ['split_in'] },
        { kind: [] },
        { createdAfter: reversal.createdAt },
        { createdBefore: reversal.createdAt },
        { createdAfter: all.at(-1)!.createdAt, createdBefore: all[0]!.createdAt, kind: ['payout'] },
        { reference: reversal.refId },
        { reference: reversal.refId, kind: ['payout'] },
        { amountCents: reversal.amountCents },
        { amountCents: 50_000, kind: ['transfer_in'], reference: all.at(-1)!.refId },
        { amountCents: 0 },
      ];
      const nameOf = ({ kind, refId }: StatementEntry) => `${kind} ${refId}`;
      for (const filter of filters) {
        const wanted = all.filter((entry) => matchesFilter(entry, filter)).map(nameOf);
        expect(await subaccounts.countStatement(tenant, id, filter)).toBe(wanted.length);
        const range = { end: 'first', limit: 100 } as const;
        const { items } = await subaccounts.statement(tenant, id, range, filter);
        expect(items.map(({ item }) => nameOf(item))).toEqual(wanted);
        if (wanted.length > 1)
          await expectBothWays(
            (part) => subaccounts.statement(tenant, id, part, filter),
            ({ item }) => nameOf(item),
            wanted,
          );
      }
      expect(all.length).toBeGreaterThan(4);
      expect(new Set(all.map(entryIdOf)).size).toBe(all.length);
    });

    test('payouts are listed newest first, by status too', async () => {
      const merchant = await start();
      const { subaccounts, tenant } = merchant;
      const id = await openSubaccount(merchant, 50_000);
      const made: string[] = [];
      for (const pixKey of [KEY, REFUSED, KEY, REFUSED, KEY]) {
        merchant.clock.advance(1);
        made.unshift((await request(merchant, id, { pixKey })).payout.id);
      }
      const { items, more } = await subaccounts.payouts(tenant, id, { end: 'first', limit: 3 });
      const rest = await subaccounts.payouts(tenant, id, {
        end: 'first',
        limit: 3,
        after: items.at(-1)!.position,
      });
      expect([...items, ...rest.items].map(({ item }) => item.id)).toEqual(made);
      expect([more, rest.more]).toEqual([true, false]);
      await expectBothWays(
        (range) => subaccounts.payouts(tenant, id, range),
        ({ item }) => item.id,
        made,
      );
      const status = ['failed', 'completed', 'processing'] as const;
      await expectBothWays(
        (range) => subaccounts.payouts(tenant, id, { ...range, status }),
        ({ item }) => item.id,
        made,
      );
      const entries = await subaccounts.statementPage(tenant, id, { limit: 100, offset: 0 });
      await expectBothWays(
        (range) => subaccounts.statement(tenant, id, range),
        ({ item }) => `${item.kind} ${item.refId}`,
        entries.items.map(({ kind, refId }) => `${kind} ${refId}`),
      );
      const failed = await subaccounts.payouts(tenant, id, { end: 'first', limit: 9, status: ['failed'] });
      expect(failed.items.map(({ item }) => item.id)).toEqual([made[1], made[3]]);
      expect(await subaccounts.countPayouts(tenant, id, { status: ['failed'] })).toBe(2);
      expect((await subaccounts.payouts(tenant, id, { end: 'first', limit: 9, status: [] })).items).toEqual(
        [],
      );
      const page = await subaccounts.payoutsPage(tenant, id, { limit: 2, offset: 1 });
      expect(page).toMatchObject({ total: 5, items: [{ id: made[1] }, { id: made[2] }] });
      expect(await subaccounts.findPayouts(tenant, [made[4]!, 'x', made[0]!])).toMatchObject([
        { id: made[4] },
        null,
        { id: made[0] },
      ]);
    });

    test('payouts are filtered by number, date, reference and amount, and read from either end', async () => {
      const merchant = await start();
      const { subaccounts, tenant } = merchant;
      const id = await openSubaccount(merchant, 50_000);
      const other = await openSubaccount(merchant, 10_000);
      const externalId = 'saque 7/2026';
      for (const wanted of [
        { externalId },
        { pixKey: REFUSED, externalId, amountCents: 5_000 },
        { amountCents: 5_000 },
        { pixKey: REFUSED },
        { externalId: 'saque 8/2026' },
        { externalId, amountCents: 5_000 },
      ]) {
        await request(merchant, id, wanted);
        await merchant.pass(MINUTE);
      }
      await request(merchant, other, { externalId });
      await merchant.pass(MINUTE);
      const { items: all } = await subaccounts.payoutsPage(tenant, id, { limit: 100, offset: 0 });
      expect(all.map(({ status }) => status)).toEqual([
        ...['completed', 'completed', 'failed', 'completed', 'failed', 'completed'],
      ]);
      const [newest, , reversed, third] = all;
      const filters: SubaccountPayoutFilter[] = [
        { externalId },
        { externalId, status: ['failed'] },
        { externalId, amountCents: 5_000, createdAfter: third!.createdAt },
        { externalId: 'saque 9/2026' },
        { amountCents: 5_000 },
        { amountCents: 5_000, status: ['completed', 'failed'] },
        ...[newest!.payoutId, newest!.withdrawalId, newest!.code, newest!.endToEndId, reversed!.code].map(
          (reference) => ({ reference: reference! }),
        ),
        { reference: newest!.code!, externalId: 'saque 8/2026' },
        { createdAfter: third!.createdAt },
        { createdBefore: third!.createdAt },
        { createdAfter: third!.createdAt, createdBefore: newest!.createdAt, status: ['completed', 'failed'] },
        { completedAfter: third!.completedAt! },
        { completedBefore: third!.completedAt!, status: ['completed'] },
        { reversedAfter: reversed!.reversedAt! },
        { reversedBefore: reversed!.reversedAt! },
        { reversedBefore: newest!.createdAt, externalId },
        { createdAfter: third!.createdAt, status: [] },
      ];
      for (const filter of filters) {
        const wanted = all.filter((each) => matchesPayoutFilter(each, filter)).map((each) => each.id);
        expect(await subaccounts.countPayouts(tenant, id, filter), JSON.stringify(filter)).toBe(
          wanted.length,
        );
        const { items } = await subaccounts.payouts(tenant, id, { end: 'first', limit: 100, ...filter });
        expect(items.map(({ item }) => item.id)).toEqual(wanted);
        if (wanted.length > 1)
          await expectBothWays(
            (range) => subaccounts.payouts(tenant, id, { ...range, ...filter }),
            ({ item }) => item.id,
            wanted,
          );
      }
      expect(await subaccounts.countPayouts(tenant, id, { externalId })).toBe(3);
      const stranger = await start();
      for (const each of [stranger, merchant.inSandbox()])
        expect(await each.subaccounts.countPayouts(each.tenant, id, { externalId })).toBe(0);
    });

    test('payouts that are refused after all are selected by either code, in lists and in updates', async () => {
      const merchant = await start();
      const { subaccounts, service, tenant } = merchant;
      const id = await openSubaccount(merchant, 10_000);
      await request(merchant, id);
      const { payout } = await request(merchant, id, { pixKey: HELD });
      const ofBank = (await service.subaccounts.findPayout(service.tenant, id, payout.code!))!.id;
      await service.database.sql
        .updateTable('simulated_transfer')
        .set({ outcome: 'refuse', reason: 'Destino bloqueado' })
        .where('id', '=', ofBank)
        .execute();
      await service.subaccounts.recheck(service.tenant, ofBank);
      await merchant.settled();
      await merchant.pass(REVERSES_AFTER_MS);
      const refused = await found(merchant, id, payout.code);
      expect(refused).toMatchObject({ id: payout.id, code: expect.stringMatching(/^SUB-/), reversed: true });
      const events = await merchant.events('subaccount_payout');
      const sent = (reference: string) =>
        events
          .filter(({ snapshot }) => matchesPayoutFilter(snapshot, { reference }))
          .map(
            ({ resourceId, snapshot: { status, reversed } }) =>
              `${resourceId} ${reversed ? 'reversed' : status}`,
          );
      for (const reference of [payout.code!, payout.withdrawalId!, payout.withdrawalId!.toUpperCase()]) {
        const { items } = await subaccounts.payouts(tenant, id, { end: 'first', limit: 9, reference });
        expect(items.map(({ item }) => item)).toEqual([refused]);
        expect(await subaccounts.countPayouts(tenant, id, { reference })).toBe(1);
        expect(new Set(sent(reference))).toEqual(
          new Set(['processing', 'failed', 'reversed'].map((state) => `${payout.id} ${state}`)),
        );
      }
      expect(await subaccounts.countPayouts(tenant, id, { reference: refused!.code! })).toBe(1);
      expect(new Set(sent(refused!.code!))).toEqual(
        new Set(['failed', 'reversed'].map((state) => `${payout.id} ${state}`)),
      );
    });

    test('payouts keep the number of their request, and a key with another number is refused', async () => {
      const merchant = await start();
      const id = await openSubaccount(merchant, 50_000);
      const input = { idempotencyKey: 'a', externalId: 'saque 7/2026' };
      const { payout } = await request(merchant, id, input);
      expect(payout.externalId).toBe('saque 7/2026');
      await merchant.pass(MINUTE);
      expect(await found(merchant, id, payout.payoutId)).toMatchObject({
        ...{ status: 'completed', externalId: 'saque 7/2026' },
      });
      expect((await request(merchant, id, input)).replayed).toBe(true);
      for (const externalId of ['saque 8/2026', null])
        expect(await failure(request(merchant, id, { ...input, externalId }))).toBeInstanceOf(
          IdempotencyError,
        );
      const last = (await merchant.events('subaccount_payout')).at(-1)!;
      expect(last.snapshot).toMatchObject({ status: 'completed', externalId: 'saque 7/2026' });
    });

    test('payouts never show the whole PIX key', async () => {
      const merchant = await start();
      const id = await openSubaccount(merchant, 50_000);
      const keys = ['529.982.247-25', '+5511987654321', 'a1b2c3d4-e5f6-4a7b-8c9d-0e1f2a3b4c5d', KEY];
      const shown = [];
      for (const pixKey of ['52998224725', ...keys.slice(1)]) {
        const { payout } = await request(merchant, id, { pixKey });
        shown.push(payout.pixKey);
      }
      expect(shown).toEqual(['***.982.247-**', '****4321', '****4c5d', MASKED]);
      await merchant.pass(2 * SECOND);
      const log = JSON.stringify(await merchant.events('subaccount_payout'));
      for (const key of ['52998224725', ...keys]) expect(log).not.toContain(key);
    });

    test('payouts are checked again at once, by any reference, when the bank has news', async () => {
      const merchant = await start();
      const { subaccounts, service, tenant } = merchant;
      const id = await openSubaccount(merchant, 10_000);
      const { payout } = await request(merchant, id);
      const { id: own, payoutId, code, withdrawalId } = payout;
      for (const reference of Object.values({ own, code, withdrawalId, ...merchant.exact({ payoutId }) }))
        await subaccounts.recheck(tenant, reference!);
      const ofBank = (await service.subaccounts.findPayout(service.tenant, id, payout.code!))!.id;
      await service.bank.settle(ofBank);
      await service.subaccounts.recheck(service.tenant, ofBank);
      await merchant.settled();
      expect(await found(merchant, id, payout.payoutId)).toMatchObject({ status: 'completed' });
      for (const reference of ['saq_other', 'x', '\u0000'])
        expect(await failure(subaccounts.recheck(tenant, reference))).toBeInstanceOf(NotFoundError);
    });
  });
}

/** Credits the merchant, opens a subaccount and transfers money to it. */
async function openSubaccount({ subaccounts, service, tenant }: PortFixture, cents = 0): Promise<string> {
  const { subaccount } = await subaccounts.create(tenant, { name: 'Bia' });
  if (cents > 0) {
    await fund(service, { cents });
    await subaccounts.transfer(tenant, { subaccountId: subaccount.id, amountCents: cents });
  }
  return subaccount.id;
}

type Wanted = Partial<{
  amountCents: number;
  pixKey: string;
  externalId: string | null;
  idempotencyKey: string;
}>;

function request({ subaccounts, tenant }: PortFixture, subaccountId: string, wanted: Wanted = {}) {
  return subaccounts.requestPayout(tenant, { subaccountId, amountCents: 4_000, pixKey: KEY, ...wanted });
}

function found({ subaccounts, tenant }: PortFixture, subaccountId: string, reference: string | null) {
  return subaccounts.findPayout(tenant, subaccountId, reference!);
}

async function statementOf({ subaccounts, tenant }: PortFixture, id: string) {
  return (await subaccounts.statementPage(tenant, id, { limit: 100, offset: 0 })).items;
}

/**
 * Expects the events of one payout: the status before, the status, the kind of its code, and whether it was reversed.
 * An implementation that first sees the payout with its code has no events without a code.
 */
async function expectEvents(merchant: PortFixture, id: string, all: readonly string[]): Promise<void> {
  const said = (await merchant.events('subaccount_payout')).flatMap(
    ({ resourceId, previousStatus, snapshot: { status, code, reversed } }) => {
      if (resourceId !== id) return [];
      const kind = `${previousStatus}>${status}`;
      return [[kind, code?.split('-')[0], reversed ? 'reversed' : null].filter(Boolean).join(' ')];
    },
  );
  // An event that only confirms a webhook is left out.
  const announced = said.filter(
    (text, index) => !text.startsWith('completed>completed') && text !== said[index - 1],
  );
  const [, , ...later] = all;
  expect(announced.slice(-later.length)).toEqual(later);
  expect({ announced }).toMatchObject(merchant.exact({ announced: [...all] }));
}

const failure = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => new Error('was not refused'),
    (error: unknown) => error,
  );
