import fc from 'fast-check';
import { sql } from 'kysely';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Database } from '../../server/src/db/database.ts';
import { readAfter } from '../../server/src/events/log.ts';
import { plusMs } from '../../server/src/kernel/clock.ts';
import {
  IdempotencyError,
  InsufficientFundsError,
  NotFoundError,
  UnavailableError,
  ValidationError,
} from '../../server/src/kernel/errors.ts';
import type { Tenant } from '../../server/src/kernel/tenant.ts';
import type { Bank, Transfer, TransferStatus } from '../../server/src/rails/bank.ts';
import { ASK_AGAIN_AFTER_MS, REVERSES_AFTER_MS } from '../../server/src/subaccounts/model.ts';
import { createManualClock } from '../support/clock.ts';
import { type Core, type CoreOptions, startCore } from '../support/core.ts';
import { describeOnBothEngines } from '../support/database.ts';
import { deferred } from '../support/deferred.ts';
import { fund } from '../support/funds.ts';
import { expectStatementsHold, FEES, MARKUP, openSubaccount } from '../support/subaccounts.ts';

const SECOND = 1_000;
const KEY = 'bia@cliente.example';
const MASKED = 'b***@cliente.example';
const DENIED = 'negado@psa.example';
const REFUSED = 'recusa@psa.example';
const HELD = 'verifica@psa.example';
const NOWHERE = `sacc_${'0'.repeat(32)}`;

describeOnBothEngines('subaccounts', (open) => {
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

  describe('created', () => {
    test('are found again as they were given, by their merchant alone, live and in sandbox apart', async () => {
      const [core, other] = [await start(), await start()];
      const { subaccount, replayed } = await core.subaccounts.create(core.tenant, {
        name: 'Bia 🧀',
        externalId: 'cliente-1',
      });
      expect(replayed).toBe(false);
      expect(subaccount).toEqual({
        id: expect.stringMatching(/^sacc_[0-9a-f]{32}$/),
        name: 'Bia 🧀',
        externalId: 'cliente-1',
        balanceCents: 0,
        createdAt: core.clock.now(),
      });
      expect(await core.subaccounts.find(core.tenant, subaccount.id)).toEqual(subaccount);
      expect(await other.subaccounts.find(other.tenant, subaccount.id)).toBeNull();
      expect(await core.subaccounts.find(sandboxOf(core), subaccount.id)).toBeNull();
      // The name is free there.
      const elsewhere = [other.tenant, sandboxOf(core)].map((tenant) =>
        core.subaccounts.create(tenant, { name: 'Outra', externalId: 'cliente-1' }),
      );
      for (const created of await Promise.all(elsewhere)) expect(created.replayed).toBe(false);
    });

    test('with the same externalId and name are one, though 64 ask at once; with another name none', async () => {
      const core = await start();
      const input = { name: 'Bia', externalId: 'cliente-1' };
      const all = await Promise.all(
        Array.from({ length: 64 }, () => core.subaccounts.create(core.tenant, input)),
      );
      expect(new Set(all.map(({ subaccount }) => subaccount.id)).size).toBe(1);
      expect(all.filter(({ replayed }) => !replayed)).toHaveLength(1);
      const refused = await failure(core.subaccounts.create(core.tenant, { ...input, name: 'Ana' }));
      expect(refused).toBeInstanceOf(ValidationError);
      expect(refused).toMatchObject({ fields: [{ path: 'input.externalId' }] });
      expect(await core.subaccounts.count(core.tenant)).toBe(1);
    });

    test('without an externalId are as many as asked for, listed newest first from either kind of page', async () => {
      const core = await start();
      const ids: string[] = [];
      for (let count = 0; count < 5; count += 1) ids.unshift(await openSubaccount(core));
      const first = await core.subaccounts.list(core.tenant, { first: 2 });
      await openSubaccount(core);
      const second = await core.subaccounts.list(core.tenant, { first: 3, after: first.items.at(-1)!.place });
      expect([...first.items, ...second.items].map(({ item }) => item.id)).toEqual(ids);
      expect([first.hasNextPage, second.hasNextPage]).toEqual([true, false]);
      const page = await core.subaccounts.listPage(core.tenant, { limit: 2, offset: 4 });
      expect(page.items.map(({ id }) => id)).toEqual(ids.slice(3, 5));
      expect(page.total).toBe(6);
      expect((await core.subaccounts.listPage(core.tenant, { limit: 2, offset: 2 ** 53 - 1 })).items).toEqual(
        [],
      );
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
    test('have it as an entry, from the merchant’s own', async () => {
      const core = await start();
      const id = await openSubaccount(core);
      await fund(core, { cents: 10_000 });
      const given = await core.subaccounts.transfer(core.tenant, { subaccountId: id, amountCents: 4_000 });
      expect(given).toMatchObject({ replayed: false, subaccount: { id, balanceCents: 4_000 } });
      expect(given.entry).toEqual({
        subaccountId: id,
        kind: 'transfer_in',
        refId: expect.stringMatching(/^rep_[0-9a-f]{32}$/),
        amountCents: 4_000,
        balanceAfterCents: 4_000,
        createdAt: core.clock.now(),
      });
      expect(await core.balances()).toMatchObject({ merchant_balance: 6_000, merchant_subaccounts: 4_000 });
      expect(await core.subaccounts.find(core.tenant, id)).toMatchObject({ balanceCents: 4_000 });
      expect(await statementOf(core, id)).toEqual([given.entry]);
    });

    test('have it in sandbox too', async () => {
      const core = await start();
      const tenant = sandboxOf(core);
      await fund({ database, tenant }, { cents: 500 });
      const { subaccount } = await core.subaccounts.create(tenant, { name: 'Teste' });
      await core.subaccounts.transfer(tenant, { subaccountId: subaccount.id, amountCents: 500 });
      expect(await core.subaccounts.find(tenant, subaccount.id)).toMatchObject({ balanceCents: 500 });
      await expectStatementsHold(database, tenant);
    });

    test('have no more than the wallet can withdraw', async () => {
      const core = await start();
      const id = await openSubaccount(core, 700);
      await fund(core, { cents: 10_000, heldCents: 4_000 });
      const refused = await failure(
        core.subaccounts.transfer(core.tenant, { subaccountId: id, amountCents: 6_001, idempotencyKey: 'k' }),
      );
      expect(refused).toBeInstanceOf(InsufficientFundsError);
      expect(refused).toMatchObject({
        requestedCents: 6_001,
        withdrawableCents: 6_000,
        balanceCents: 10_700,
        disputeBlockedCents: 4_000,
        subaccountsBalanceCents: 700,
        cryptoBalanceLitoshi: null,
      });
      expect(await core.subaccounts.countStatement(core.tenant, id)).toBe(1);
      // A refusal has used no key.
      await core.subaccounts.transfer(core.tenant, {
        subaccountId: id,
        amountCents: 6_000,
        idempotencyKey: 'k',
      });
    });

    test('with a key have it once, though 64 ask at once; with another input not at all', async () => {
      const core = await start();
      const [id, other] = [await openSubaccount(core), await openSubaccount(core)];
      await fund(core, { cents: 10_000 });
      const input = { subaccountId: id, amountCents: 1_000, idempotencyKey: 'repasse-1' };
      const all = await Promise.all(
        Array.from({ length: 64 }, () => core.subaccounts.transfer(core.tenant, input)),
      );
      expect(all.filter(({ replayed }) => !replayed)).toHaveLength(1);
      expect(new Set(all.map(({ entry }) => entry.refId)).size).toBe(1);
      await core.subaccounts.transfer(core.tenant, { subaccountId: id, amountCents: 5 });
      expect(await core.subaccounts.transfer(core.tenant, input)).toMatchObject({
        replayed: true,
        entry: all[0]!.entry,
        subaccount: { balanceCents: 1_005 },
      });
      for (const changed of [{ amountCents: 1_001 }, { subaccountId: other }])
        expect(
          await failure(core.subaccounts.transfer(core.tenant, { ...input, ...changed })),
        ).toBeInstanceOf(IdempotencyError);
    });

    test('never have more than there was, though 64 ask at once of two instances', async () => {
      const core = await start();
      const second = await start({ tenant: core.tenant });
      const ids = [await openSubaccount(core), await openSubaccount(core)];
      await fund(core, { cents: 1_000 });
      const all = await Promise.allSettled(
        Array.from({ length: 64 }, (_, n) =>
          [core, second][n % 2]!.subaccounts.transfer(core.tenant, {
            subaccountId: ids[n % 3 ? 0 : 1]!,
            amountCents: 100,
          }),
        ),
      );
      expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(10);
      expect(await core.balances()).toMatchObject({ merchant_balance: 0, merchant_subaccounts: 1_000 });
    });
  });

  describe('paid out', () => {
    test('are debited at once, and the key receives what the fees leave', async () => {
      const core = await start();
      const id = await openSubaccount(core, 10_000);
      const requested = await request(core, id, { amountCents: 4_000 });
      expect(requested).toMatchObject({ underVerification: false, replayed: false });
      expect(requested.payout).toEqual({
        id: expect.stringMatching(/^sqp_[0-9a-f]{32}$/),
        version: 2,
        payoutId: expect.stringMatching(/^saq_[0-9a-f]{32}$/),
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
        createdAt: core.clock.now(),
        completedAt: null,
        reversedAt: null,
      });
      expect(await core.subaccounts.find(core.tenant, id)).toMatchObject({ balanceCents: 6_000 });
      expect((await statementOf(core, id))[0]).toMatchObject({
        kind: 'payout',
        refId: requested.payout.payoutId,
        amountCents: -4_000,
        balanceAfterCents: 6_000,
      });
      expect(await core.balances()).toMatchObject({ merchant_subaccounts: 6_000, payouts_in_transit: 4_000 });

      await core.pass(2 * SECOND);
      expect(await found(core, id, requested.payout.payoutId)).toEqual({
        ...requested.payout,
        version: 3,
        status: 'completed',
        endToEndId: expect.stringMatching(/^E\w{31}$/),
        recipientName: expect.any(String),
        recipientBankName: expect.any(String),
        completedAt: core.clock.now(),
      });
      expect(await core.balances()).toMatchObject({
        merchant_balance: MARKUP,
        merchant_subaccounts: 6_000,
        payouts_in_transit: 0,
        paid_out: 3_850,
        platform_fees: FEES.pix,
      });
      expect(await told(core, requested.payout.id)).toEqual([
        'null>processing',
        'processing>processing TURBO',
        'processing>completed TURBO',
      ]);
    });

    test('give the integrator its markup, of which it first settles what it owes', async () => {
      const core = await start();
      const id = await openSubaccount(core, 10_000);
      await fund(core, { owedCents: 20 });
      await request(core, id);
      await core.pass(2 * SECOND);
      expect(await core.balances()).toMatchObject({ merchant_balance: MARKUP - 20, merchant_receivable: 0 });
    });

    test('by the bank denied fail, and get everything back a moment later, once', async () => {
      const core = await start();
      const id = await openSubaccount(core, 10_000);
      const { payout } = await request(core, id, { pixKey: DENIED });
      await core.pass(2 * SECOND);
      const failed = await found(core, id, payout.code!);
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
      expect(await core.subaccounts.find(core.tenant, id)).toMatchObject({ balanceCents: 6_000 });
      await core.pass(REVERSES_AFTER_MS);
      expect(await found(core, id, payout.code!)).toEqual({
        ...failed,
        version: failed!.version + 1,
        reversed: true,
        reversedAt: core.clock.now(),
      });
      expect((await statementOf(core, id)).map(({ kind, refId }) => [kind, refId])).toEqual([
        ['payout_reversal', payout.payoutId],
        ['payout', payout.payoutId],
        ['transfer_in', expect.any(String)],
      ]);
      await core.subaccounts.recheck(core.tenant, payout.id);
      await schedule(core, 'subaccount_payout.reverse', payout.id);
      await core.pass(60 * SECOND);
      expect(await core.subaccounts.countStatement(core.tenant, id)).toBe(3);
      expect(await core.balances()).toMatchObject({ merchant_subaccounts: 10_000, payouts_in_transit: 0 });
      expect(await told(core, payout.id)).toEqual([
        'null>processing',
        'processing>processing TURBO',
        'processing>failed TURBO',
        'failed>failed TURBO reversed',
      ]);
    });

    test('refused before the bank have a SUB code, no withdrawal, no fees, and get everything back', async () => {
      const core = await start();
      const id = await openSubaccount(core, 10_000);
      const { payout, underVerification } = await request(core, id, { pixKey: REFUSED });
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
      await core.pass(REVERSES_AFTER_MS);
      const [reversal] = await statementOf(core, id);
      expect(reversal).toMatchObject({ kind: 'payout_reversal', refId: payout.code, amountCents: 4_000 });
      for (const reference of [payout.code!, payout.payoutId])
        expect(await found(core, id, reference)).toMatchObject({ id: payout.id, reversed: true });
    });

    test('under verification are sent when it ends', async () => {
      const core = await start();
      const id = await openSubaccount(core, 10_000);
      const { payout, underVerification } = await request(core, id, { pixKey: HELD });
      expect(underVerification).toBe(true);
      expect(payout).toMatchObject({ status: 'processing', code: expect.stringMatching(/^TURBO-/) });
      await core.pass(30 * SECOND);
      expect(await found(core, id, payout.code!)).toEqual(payout);
      await core.pass(2 * SECOND);
      expect(await found(core, id, payout.code!)).toMatchObject({ status: 'completed' });
    });

    test('refused by the verification are found by the code of before and by the one of after', async () => {
      const answers: TransferStatus[] = [
        { status: 'in_verification', until: null },
        { status: 'refused', reason: 'Suspeita' },
      ];
      const core = await start({ bank: answering(() => answers.shift()!) });
      const id = await openSubaccount(core, 10_000);
      const { payout } = await request(core, id);
      await core.pass(ASK_AGAIN_AFTER_MS + REVERSES_AFTER_MS);
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

    test('are found by every form of reference, of their own subaccount alone', async () => {
      const [core, other] = [await start(), await start()];
      const [id, sibling] = [await openSubaccount(core, 10_000), await openSubaccount(core, 10_000)];
      const { payout } = await request(core, id, { idempotencyKey: 'saque:1.a_b-C' });
      expect(payout.payoutId).toBe('saq_idem_saque:1.a_b-C');
      await other.subaccounts.create(other.tenant, { name: 'x' });
      for (const reference of [payout.payoutId, payout.withdrawalId!, payout.code!]) {
        expect(await found(core, id, reference)).toEqual(payout);
        expect(await found(core, sibling, reference)).toBeNull();
        expect(await other.subaccounts.findPayout(other.tenant, id, reference)).toBeNull();
        expect(await core.subaccounts.findPayout(sandboxOf(core), id, reference)).toBeNull();
      }
      for (const reference of ['', 'saq_', 'TURBO-', 'saq_with \u0000', 'a'.repeat(24), payout.id])
        expect(await found(core, id, reference)).toBeNull();
    });

    test('for no more than the fees, or more than there is, are refused with the figures of the subaccount', async () => {
      const core = await start();
      const id = await openSubaccount(core, 10_000);
      await fund(core, { cents: 50_000 });
      const eaten = await failure(request(core, id, { amountCents: MARKUP + FEES.pix }));
      expect(eaten).toMatchObject({
        fields: [{ path: 'input.amountCents', message: expect.stringContaining('150') }],
      });
      const tooMuch = await failure(request(core, id, { amountCents: 10_001, idempotencyKey: 'k' }));
      expect(tooMuch).toBeInstanceOf(InsufficientFundsError);
      expect(tooMuch).toMatchObject({
        message: expect.stringContaining('subaccount'),
        requestedCents: 10_001,
        withdrawableCents: 10_000,
        balanceCents: 10_000,
        disputeBlockedCents: 0,
        subaccountsBalanceCents: null,
      });
      expect(await core.subaccounts.countPayouts(core.tenant, id, {})).toBe(0);
      expect((await request(core, id, { amountCents: 151, idempotencyKey: 'k' })).payout.netAmountCents).toBe(
        1,
      );
    });

    test('in sandbox are refused, and change nothing', async () => {
      const core = await start();
      const tenant = sandboxOf(core);
      const { subaccount } = await core.subaccounts.create(tenant, { name: 'Teste' });
      const refused = await failure(
        core.subaccounts.requestPayout(tenant, {
          subaccountId: subaccount.id,
          amountCents: 1_000,
          pixKey: KEY,
        }),
      );
      expect(refused).toBeInstanceOf(UnavailableError);
      expect(refused).toMatchObject({ code: 'NOT_IN_SANDBOX' });
    });

    test('with a key are one debit and one transfer, though 64 ask at once of two instances', async () => {
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
        Array.from({ length: 64 }, (_, n) =>
          request([core, second][n % 2]!, id, { idempotencyKey: 'saque-1' }),
        ),
      );
      expect(all.filter(({ replayed }) => !replayed)).toHaveLength(1);
      expect(new Set(all.map(({ payout }) => JSON.stringify(payout)))).toHaveLength(1);
      expect(new Set(sent.map((transfer) => JSON.stringify(transfer)))).toHaveLength(1);
      // Those that come together ask the bank together.
      expect(sent.length).toBeLessThan(10);
      expect(sent[0]).toMatchObject({ destination: KEY, amountCents: 3_850 });
      expect(await core.subaccounts.find(core.tenant, id)).toMatchObject({ balanceCents: 6_000 });

      for (const changed of [{ amountCents: 4_001 }, { pixKey: 'ana@cliente.example' }])
        expect(await failure(request(core, id, { idempotencyKey: 'saque-1', ...changed }))).toBeInstanceOf(
          IdempotencyError,
        );
      const sibling = await openSubaccount(core, 10_000);
      expect(await failure(request(core, sibling, { idempotencyKey: 'saque-1' }))).toBeInstanceOf(
        IdempotencyError,
      );
      await core.pass(2 * SECOND);
      expect(await request(core, id, { idempotencyKey: 'saque-1' })).toMatchObject({
        replayed: true,
        underVerification: false,
        payout: { status: 'completed' },
      });
    });

    test('with a key of another account’s have nothing to do with its payout', async () => {
      const [core, other] = [await start(), await start()];
      const [id, theirs] = [await openSubaccount(core, 10_000), await openSubaccount(other, 10_000)];
      const [mine, their] = [
        await request(core, id, { idempotencyKey: 'saque-1' }),
        await request(other, theirs, { idempotencyKey: 'saque-1' }),
      ];
      expect([mine.replayed, their.replayed]).toEqual([false, false]);
      expect(await found(core, id, 'saq_idem_saque-1')).toEqual(mine.payout);
      expect(await found(other, theirs, 'saq_idem_saque-1')).toEqual(their.payout);
    });

    test('never overdraw, though 64 ask at once of two instances', async () => {
      const core = await start();
      const second = await start({ tenant: core.tenant });
      const id = await openSubaccount(core, 10_000);
      await openSubaccount(core, 10_000);
      await fund(core, { cents: 10_000 });
      const all = await Promise.allSettled(
        Array.from({ length: 64 }, (_, n) => request([core, second][n % 2]!, id, { amountCents: 1_000 })),
      );
      expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(10);
      for (const result of all)
        if (result.status === 'rejected') expect(result.reason).toBeInstanceOf(InsufficientFundsError);
      expect(await core.balances()).toMatchObject({
        merchant_balance: 10_000,
        merchant_subaccounts: 10_000,
        payouts_in_transit: 10_000,
      });
      expect(await core.subaccounts.find(core.tenant, id)).toMatchObject({ balanceCents: 0 });
    });

    test('keep the fees that were agreed, though the account’s change before the bank answers', async () => {
      const core = await start({ bank: silentUntil(1) });
      const id = await openSubaccount(core, 10_000);
      const { payout } = await request(core, id);
      expect(payout).toMatchObject({ code: null, platformFeeCents: null });
      await database.sql
        .updateTable('account')
        .set({ payout_fee_pix_cents: 3_900, subaccount_markup_cents: 99 })
        .where('id', '=', core.tenant.accountId)
        .execute();
      await core.pass(ASK_AGAIN_AFTER_MS);
      expect(await found(core, id, payout.payoutId)).toMatchObject({
        feeCents: MARKUP,
        platformFeeCents: FEES.pix,
        netAmountCents: 3_850,
      });
    });

    test('are listed newest first, by status too', async () => {
      const core = await start();
      const id = await openSubaccount(core, 50_000);
      const made: string[] = [];
      for (const pixKey of [KEY, REFUSED, KEY, REFUSED, KEY]) {
        core.clock.advance(1);
        made.unshift((await request(core, id, { pixKey })).payout.id);
      }
      const { items, hasNextPage } = await core.subaccounts.payouts(core.tenant, id, { first: 3 });
      const rest = await core.subaccounts.payouts(core.tenant, id, { first: 3, after: items.at(-1)!.place });
      expect([...items, ...rest.items].map(({ item }) => item.id)).toEqual(made);
      expect([hasNextPage, rest.hasNextPage]).toEqual([true, false]);
      const failed = await core.subaccounts.payouts(core.tenant, id, { first: 9, status: ['failed'] });
      expect(failed.items.map(({ item }) => item.id)).toEqual([made[1], made[3]]);
      expect(await core.subaccounts.countPayouts(core.tenant, id, { status: ['failed'] })).toBe(2);
      expect((await core.subaccounts.payouts(core.tenant, id, { first: 9, status: [] })).items).toEqual([]);
      const page = await core.subaccounts.payoutsPage(core.tenant, id, { limit: 2, offset: 1 });
      expect(page).toMatchObject({ total: 5, items: [{ id: made[1] }, { id: made[2] }] });
      expect(await core.subaccounts.findPayouts(core.tenant, [made[4]!, 'x', made[0]!])).toMatchObject([
        { id: made[4] },
        null,
        { id: made[0] },
      ]);
    });

    test('are never told with the whole PIX key', async () => {
      const core = await start();
      const id = await openSubaccount(core, 50_000);
      const keys = ['529.982.247-25', '+5511987654321', 'a1b2c3d4-e5f6-4a7b-8c9d-0e1f2a3b4c5d', KEY];
      const shown = [];
      for (const pixKey of ['52998224725', ...keys.slice(1)]) {
        const { payout } = await request(core, id, { pixKey });
        shown.push(payout.pixKey);
      }
      expect(shown).toEqual(['***.982.247-**', '****4321', '****4c5d', MASKED]);
      await core.pass(2 * SECOND);
      const log = JSON.stringify(await eventsOf(core));
      for (const key of ['52998224725', ...keys]) expect(log).not.toContain(key);
    });
  });

  test('leaves no task behind where the bank has answered at once', async () => {
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

  test('each change of status and the reversal are announced as subaccount.payout, with the code', async () => {
    const bodies: string[] = [];
    const core = await start({
      send:
        () =>
        async ({ body }) => {
          bodies.push(body);
          return { responseStatus: 200, error: null };
        },
    });
    await core.webhooks.configure(core.tenant, { url: 'https://integrador.example/psa' });
    const id = await openSubaccount(core, 20_000);
    const { payout } = await request(core, id);
    await core.pass(5 * SECOND);
    const { payout: refused } = await request(core, id, { pixKey: REFUSED });
    await core.pass(5 * SECOND);
    const told = bodies.map((body) => JSON.parse(body));
    expect(told.map(({ event, code, status, reversed }) => [event, code, status, reversed])).toEqual([
      ['subaccount.payout', payout.code, 'processing', false],
      ['subaccount.payout', payout.code, 'completed', false],
      ['subaccount.payout', refused.code, 'failed', false],
      ['subaccount.payout', refused.code, 'failed', true],
    ]);
    expect(told[1]).toMatchObject({ subaccountId: id, netAmountCents: 3_850, pixKey: MASKED });
  });

  describe('across faults', () => {
    test('a bank that throws has said nothing: the request is answered, and the task asks again', async () => {
      const core = await start({ bank: silentUntil(2) });
      const id = await openSubaccount(core, 10_000);
      const { payout, underVerification } = await request(core, id, { idempotencyKey: 'k' });
      expect(underVerification).toBe(true);
      expect(payout).toMatchObject({ version: 1, status: 'processing', withdrawalId: null, code: null });
      expect(await found(core, id, 'saq_idem_k')).toEqual(payout);
      await core.pass(ASK_AGAIN_AFTER_MS);
      expect(core.faults).toHaveLength(2);
      core.faults.length = 0;
      await core.pass(5 * SECOND);
      expect(await found(core, id, 'saq_idem_k')).toMatchObject({ status: 'completed' });
      expect(core.faults).toEqual([]);
    });

    test('a bank that takes its time is not waited for, and its late answer changes nothing', async () => {
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

    test('an instance that dies before the bank is asked leaves it to another', async () => {
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
        clock: createManualClock(plusMs(core.clock.now(), ASK_AGAIN_AFTER_MS)),
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

    test('a request repeated after such a death is told what the bank says, and debits nothing again', async () => {
      const core = await start({ bank: silentUntil(1) });
      const id = await openSubaccount(core, 10_000);
      await request(core, id, { idempotencyKey: 'k' });
      const second = await start({ tenant: core.tenant });
      const { payout, replayed } = await request(second, id, { idempotencyKey: 'k' });
      expect(replayed).toBe(true);
      expect(payout).toMatchObject({ code: expect.stringMatching(/^TURBO-/) });
      expect(await core.subaccounts.find(core.tenant, id)).toMatchObject({ balanceCents: 6_000 });
    });

    test('an instance that dies after the bank’s answer, before its record, sends nothing twice', async () => {
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
        clock: createManualClock(plusMs(core.clock.now(), ASK_AGAIN_AFTER_MS)),
      });
      await second.work.settled();
      expect(await found(second, id, 'saq_idem_k')).toMatchObject({ status: 'completed', version: 2 });
      const books = (await second.bank.list()).filter((transfer) => sent.includes(transfer.id));
      expect(books).toHaveLength(1);
    });

    test('an instance that dies between the failure and the reversal leaves it to another', async () => {
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

    test('a recheck has the bank asked at once, by our id or any reference', async () => {
      const core = await start();
      const id = await openSubaccount(core, 10_000);
      const { payout } = await request(core, id);
      for (const reference of [payout.id, payout.payoutId, payout.code!, payout.withdrawalId!])
        await core.subaccounts.recheck(core.tenant, reference);
      await core.bank.settle(payout.id);
      await core.subaccounts.recheck(core.tenant, payout.id);
      await core.work.settled();
      expect(await found(core, id, payout.payoutId)).toMatchObject({ status: 'completed' });
      for (const reference of ['saq_other', 'x', '\u0000'])
        expect(await failure(core.subaccounts.recheck(core.tenant, reference))).toBeInstanceOf(NotFoundError);
    });
  });

  test('whatever is done, statements, postings and balances say the same', async () => {
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
      { numRuns: 15 },
    );
  });

  test('the database keeps a statement that continues, ends with the balance, and is only appended to', async () => {
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
    // One of several is enough, whether its predecessor came before or with it.
    const several = [
      { ref_id: 'rep_1', balance_after_cents: 1_001 },
      { ref_id: 'rep_2', balance_after_cents: 1_003 },
    ];
    await expect(entries(several)).rejects.toMatchObject({ constraint: 'statement_continues' });
    expect((await sql`select from statement_entry`.execute(database.sql)).rows).toHaveLength(before.length);
    // It continues, but no posting has moved the balance.
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

async function eventsOf(core: Core) {
  return (await readAfter(core.database.sql, core.tenant, { after: 0, limit: 1_000 })).events;
}

/** What was told of one payout: the status before, the status, the kind of its code, and whether it was reversed. */
async function told(core: Core, id: string): Promise<string[]> {
  return (await eventsOf(core)).flatMap((event) => {
    if (event.resource !== 'subaccount_payout' || event.resourceId !== id) return [];
    const { status, code, reversed } = event.snapshot;
    const kind = `${event.previousStatus}>${status}`;
    return [[kind, code?.split('-')[0], reversed ? 'reversed' : null].filter(Boolean).join(' ')];
  });
}

function schedule(core: Core, kind: string, key: string): Promise<void> {
  return core.committer.change<void>({
    tenant: core.tenant,
    read: async () => undefined,
    decide: ({ now }) => ({ outcome: undefined, writes: { tasks: [{ kind, key, at: now }] } }),
  });
}

const sandboxOf = ({ tenant }: Core): Tenant => ({ ...tenant, environment: 'sandbox' });

const failure = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => new Error('was not refused'),
    (error: unknown) => error,
  );

/** A bank that answers what a test says. */
const answering =
  (next: () => TransferStatus) =>
  (simulated: Bank): Bank => ({ ...simulated, send: async () => next() });

/** A bank that fails so many times first. */
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
