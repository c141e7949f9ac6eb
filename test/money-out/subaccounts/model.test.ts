import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { plusMs } from '../../../server/src/kernel/clock.ts';
import {
  InsufficientFundsError,
  PreconditionError,
  ValidationError,
} from '../../../server/src/kernel/errors.ts';
import {
  createSubaccountInput,
  guidanceOf,
  isFinal,
  type PayoutRecord,
  requestPayoutInput,
  type StoredSubaccount,
  subaccountPayoutFromJson,
  transferInput,
  unknownSubaccount,
} from '../../../server/src/money-out/subaccounts/model.ts';
import {
  newPayoutKey,
  newPayoutNames,
  newSubaccountId,
  newTransferReference,
  payoutReference,
  payoutReferenceText,
  referenceKind,
  subaccountIdText,
} from '../../../server/src/money-out/subaccounts/names.ts';
import {
  assertPayoutsAvailable,
  decideOutcome,
  decideRequest,
  decideReturn,
  decideReverse,
  type SubaccountPayoutChange,
  type TransferOutcome,
} from '../../../server/src/money-out/subaccounts/payout-rules.ts';
import { decideCreate, decideTransfer } from '../../../server/src/money-out/subaccounts/transfers.ts';
import { subaccountPayoutWebhook } from '../../../server/src/money-out/subaccounts/wire.ts';
import { applyToBalances, type Balances, NO_BALANCES } from '../../../server/src/state/ledger/postings.ts';

const NOW = new Date('2026-03-02T12:00:00.000Z');
const LATER = new Date('2026-03-02T12:00:05.000Z');
const KEY = 'bia@cliente.example';

const subaccount = (balanceCents: number): StoredSubaccount => ({
  id: `sacc_${'a'.repeat(32)}`,
  name: 'Bia',
  externalId: null,
  balanceCents,
  createdAt: NOW,
});

const terms = (markup: number, fee: number) => ({
  subaccountMarkupCents: markup,
  payoutFeesCents: { pix: fee },
  pixMaxCents: null,
});

function request(
  amountCents = 4_000,
  markup = 50,
  fee = 100,
  pixMaxCents: number | null = null,
): SubaccountPayoutChange {
  return decideRequest(
    { amountCents, pixKey: KEY },
    {
      id: 'sqp_1',
      payoutId: 'saq_1',
      subaccount: subaccount(amountCents),
      terms: { ...terms(markup, fee), pixMaxCents },
      now: NOW,
    },
  );
}

test('a payout of a subaccount above the ceiling of the account is refused with the figure', () => {
  expect(() => request(1_500_000, 50, 100, 1_500_000)).not.toThrow();
  expect(() => request(1_500_001, 50, 100, 1_500_000)).toThrow(
    expect.objectContaining({
      fields: [{ path: 'input.amountCents', message: expect.stringContaining('R$ 15.000,00') }],
    }),
  );
});

const outcome: fc.Arbitrary<TransferOutcome> = fc.oneof(
  fc.record({
    status: fc.constantFrom('in_verification' as const, 'queued' as const, 'sent' as const),
    until: fc.constantFrom(null, NOW, LATER),
  }),
  fc.record({
    status: fc.constantFrom('refused' as const, 'denied' as const),
    reason: fc.constant('Não'),
  }) as fc.Arbitrary<TransferOutcome>,
  fc.record({
    status: fc.constant('completed' as const),
    receipt: fc.record({
      endToEndId: fc.constantFrom('E1', null),
      recipientName: fc.constantFrom('Ana', null),
      recipientBankName: fc.constantFrom('Banco', null),
    }),
  }),
);

/** Runs a payout through answers and a reversal. Returns each record in turn, and the money. */
function live(first: SubaccountPayoutChange, outcomes: readonly TransferOutcome[]) {
  const opened = { ...NO_BALANCES, merchant_subaccounts: first.record.payout.amountCents, received: 0 };
  let balances: Balances = opened;
  let owner = subaccount(first.record.payout.amountCents);
  const records: PayoutRecord[] = [];
  const events: string[] = [];
  const take = (change: SubaccountPayoutChange | null) => {
    if (!change) return;
    if (change.move) {
      balances = applyToBalances(balances, change.move.transaction);
      expect(change.move.entry.balanceAfterCents).toBe(owner.balanceCents + change.move.entry.amountCents);
      owner = change.move.subaccount;
    }
    if (change.transaction) balances = applyToBalances(balances, change.transaction);
    records.push(change.record);
    if (change.event) events.push(change.event);
  };
  take(first);
  for (const each of outcomes)
    take(decideOutcome(records.at(-1)!, { outcome: each, names: newPayoutNames(), balances, now: LATER }));
  for (let count = 0; count < 2; count += 1) take(decideReverse(records.at(-1)!, owner, LATER));
  return { records, events, balances, owner, last: records.at(-1)!.payout };
}

test('a payout of a subaccount that comes back is reversed whole, and the integrator gives its markup back or owes it', () => {
  const receipt = { endToEndId: 'E1', recipientName: 'Ana', recipientBankName: 'Banco' };
  const { records, balances, owner, last } = live(request(4_000), [{ status: 'completed', receipt }]);
  expect([last.status, owner.balanceCents, balances.merchant_balance]).toEqual(['completed', 0, 50]);
  for (const left of [50, 20]) {
    const before: Balances = { ...balances, merchant_balance: left };
    const back = decideReturn(records.at(-1)!, owner, { balances: before, now: LATER })!;
    expect(back.record.payout).toEqual({
      ...last,
      version: last.version + 1,
      reversed: true,
      reversedAt: LATER,
    });
    expect([back.event, guidanceOf(back.record.payout)]).toEqual(['reversed', 'RETRY_WITH_NEW_KEY']);
    expect(back.move!.entry).toMatchObject({
      ...{ kind: 'payout_reversal', refId: 'saq_1', amountCents: 4_000, balanceAfterCents: 4_000 },
    });
    expect(applyToBalances(before, back.move!.transaction)).toMatchObject({
      merchant_subaccounts: 4_000,
      merchant_balance: left - Math.min(left, 50),
      merchant_receivable: Math.min(left - 50, 0),
      paid_out: 0,
      platform_fees: 0,
    });
    expect(decideReturn(back.record, owner, { balances: before, now: LATER })).toBeNull();
  }
});

describe('a payout', () => {
  test('a payout never goes back, keeps its money together, and gives it away or back once, whatever the bank says', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 2 ** 40 }),
        fc.nat(10_000),
        fc.nat(10_000),
        fc.array(outcome, { maxLength: 6 }),
        (net, markup, fee, outcomes) => {
          const amountCents = net + markup + fee;
          const { records, balances, owner, last } = live(request(amountCents, markup, fee), outcomes);
          for (const [index, { payout }] of records.entries()) {
            const before = records[index - 1]?.payout;
            if (before && before.status !== 'processing') expect(payout.status).toBe(before.status);
            if (before?.reversed) expect(payout.reversed).toBe(true);
            expect(payout.version - (before?.version ?? 0)).toBeLessThanOrEqual(1);
            if (before && payout.version === before.version) expect(payout).toEqual(before);
            if (before?.withdrawalId) expect(payout.withdrawalId).toBe(before.withdrawalId);
            // The fields that are null according to the document's section 2.2.
            expect(payout.failureReason !== null).toBe(payout.status === 'failed');
            expect(payout.completedAt !== null).toBe(payout.status === 'completed');
            expect(payout.reversedAt !== null).toBe(payout.reversed);
            expect(payout.platformFeeCents === null).toBe(payout.withdrawalId === null);
            expect(payout.netAmountCents === null).toBe(payout.withdrawalId === null);
            if (payout.netAmountCents !== null)
              expect(payout.feeCents + payout.platformFeeCents! + payout.netAmountCents).toBe(amountCents);
            if (payout.status !== 'completed')
              expect([payout.endToEndId, payout.recipientName, payout.recipientBankName]).toEqual([
                null,
                null,
                null,
              ]);
          }
          const back = last.reversed ? amountCents : 0;
          expect(owner.balanceCents).toBe(back);
          const done = last.status === 'completed';
          expect(balances).toEqual({
            ...NO_BALANCES,
            merchant_subaccounts: back,
            payouts_in_transit: isFinal(last) ? 0 : amountCents,
            merchant_balance: done ? markup : 0,
            platform_fees: done ? fee : 0,
            paid_out: done ? net : 0,
          });
        },
      ),
    );
  });

  test.each([
    [[], 'processing', null, 'WAIT', ['processing']],
    [[{ status: 'queued', until: null }], 'processing', 'TURBO', 'WAIT', ['processing', 'processing']],
    [
      [{ status: 'refused', reason: 'x' }],
      'failed',
      'SUB',
      'RETRY_WITH_NEW_KEY',
      ['processing', 'failed', 'reversed'],
    ],
    [
      [{ status: 'denied', reason: 'x' }],
      'failed',
      'TURBO',
      'RETRY_WITH_NEW_KEY',
      ['processing', 'failed', 'reversed'],
    ],
    [
      [
        { status: 'in_verification', until: null },
        { status: 'refused', reason: 'x' },
      ],
      'failed',
      'SUB',
      'RETRY_WITH_NEW_KEY',
      ['processing', 'processing', 'failed', 'reversed'],
    ],
  ] as const)(
    'a payout after %j is %s with the code %s, and asks for %s',
    (outcomes, status, code, guidance, announced) => {
      const { last, events } = live(request(), outcomes);
      expect(last).toMatchObject({ status });
      expect(last.code?.split('-')[0] ?? null).toBe(code);
      // A SUB- code has replaced the TURBO- code of a payout that was assembled.
      expect(last.formerCode?.split('-')[0]).toBe(
        code === 'SUB' && outcomes.length > 1 ? 'TURBO' : undefined,
      );
      expect(guidanceOf(last)).toBe(guidance);
      expect(events).toEqual(announced);
    },
  );

  test('a payout that failed and is not reversed yet asks for support; a completed one for nothing', () => {
    const { record } = request();
    const answered = (each: TransferOutcome) =>
      decideOutcome(record, { outcome: each, names: newPayoutNames(), balances: NO_BALANCES, now: NOW })!
        .record.payout;
    expect(guidanceOf(answered({ status: 'denied', reason: 'x' }))).toBe('CONTACT_SUPPORT');
    const receipt = { endToEndId: 'E1', recipientName: 'Ana', recipientBankName: 'Banco' };
    const completed = answered({ status: 'completed', receipt });
    expect(completed).toMatchObject(receipt);
    expect(guidanceOf(completed)).toBe('NONE');
  });

  test('a payout is asked about again when the bank says, and soon where that has passed or it does not say', () => {
    const { record } = request();
    const again = (until: Date | null) =>
      decideOutcome(record, {
        outcome: { status: 'sent', until },
        names: newPayoutNames(),
        balances: NO_BALANCES,
        now: NOW,
      })!.due;
    expect(again(LATER)).toEqual([{ kind: 'subaccount_payout.send', at: LATER }]);
    const soon = [{ kind: 'subaccount_payout.send', at: new Date(NOW.getTime() + 10_000) }];
    expect(again(null)).toEqual(soon);
    expect(again(NOW)).toEqual(soon);
  });

  test('a payout is read back from an event as it was', () => {
    const { last } = live(request(), [{ status: 'denied', reason: 'x' }]);
    expect(subaccountPayoutFromJson(JSON.parse(JSON.stringify(last)))).toEqual(last);
    const { externalId: _, ...older } = last;
    expect(subaccountPayoutFromJson(JSON.parse(JSON.stringify(older)))).toEqual(last);
  });

  test('a payout is announced with the document’s object, and not before it has a code', () => {
    expect(subaccountPayoutWebhook(request().record.payout)).toBeNull();
    const { last } = live(request(), [{ status: 'denied', reason: 'Recusado' }]);
    expect(subaccountPayoutWebhook(last)).toEqual({
      event: 'subaccount.payout',
      payoutId: 'saq_1',
      withdrawalId: last.withdrawalId,
      code: last.code,
      subaccountId: last.subaccountId,
      status: 'failed',
      reversed: true,
      amountCents: 4_000,
      feeCents: 50,
      platformFeeCents: 100,
      netAmountCents: 3_850,
      pixKey: 'b***@cliente.example',
      endToEndId: null,
      recipientName: null,
      recipientBankName: null,
      failureReason: 'Recusado',
      createdAt: '2026-03-02T12:00:00.000Z',
      completedAt: null,
      reversedAt: '2026-03-02T12:00:05.000Z',
      destinationKind: 'email',
    });
    expect(subaccountPayoutWebhook({ ...last, externalId: 'saque 7' })).toMatchObject({
      externalId: 'saque 7',
    });
  });
});

describe('step by step, a payout', () => {
  const SUBACCOUNT = `sacc_${'a'.repeat(32)}`;
  const NAMES = { withdrawalId: '1'.repeat(24), turboCode: 'TURBO-1', subCode: 'SUB-1' };
  const asked = (record: PayoutRecord, each: TransferOutcome) =>
    decideOutcome(record, { outcome: each, names: NAMES, balances: NO_BALANCES, now: LATER });
  const NULLS = {
    withdrawalId: null,
    code: null,
    platformFeeCents: null,
    netAmountCents: null,
    endToEndId: null,
    recipientName: null,
    recipientBankName: null,
    failureReason: null,
    completedAt: null,
    reversedAt: null,
    externalId: null,
    destinationKind: 'email',
  };

  test('a request debits the subaccount, in its statement and in the ledger', () => {
    const { previous, record, move, transaction, due, event } = request();
    const payout = {
      ...NULLS,
      id: 'sqp_1',
      version: 1,
      payoutId: 'saq_1',
      subaccountId: SUBACCOUNT,
      status: 'processing',
      reversed: false,
      amountCents: 4_000,
      feeCents: 50,
      pixKey: 'b***@cliente.example',
      createdAt: NOW,
    };
    expect(record).toEqual({
      payout,
      destination: KEY,
      agreedFeeCents: 100,
      underVerification: false,
      turboCode: null,
    });
    expect(move).toEqual({
      subaccount: subaccount(0),
      entry: {
        subaccountId: SUBACCOUNT,
        kind: 'payout',
        refId: 'saq_1',
        amountCents: -4_000,
        balanceAfterCents: 0,
        createdAt: NOW,
      },
      transaction: {
        id: 'subaccount_payout.requested:sqp_1',
        subaccountId: SUBACCOUNT,
        entry: {
          kind: 'subaccount_payout',
          ref: 'saq_1',
          resource: { type: 'subaccount_payout', id: 'sqp_1' },
          feeCents: 100,
        },
        lines: [
          { account: 'merchant_subaccounts', amount: -4_000 },
          { account: 'payouts_in_transit', amount: 4_000 },
        ],
      },
    });
    expect(due).toEqual([{ kind: 'subaccount_payout.send', at: plusMs(NOW, 10_000) }]);
    expect([previous, transaction, event]).toEqual([null, null, 'processing']);
  });

  test('a request leaves something after the fees, to the cent, and takes no more than is there', () => {
    const ask = (amountCents: number, balanceCents = amountCents) =>
      decideRequest(
        { amountCents, pixKey: KEY },
        {
          id: 'sqp_1',
          payoutId: 'saq_1',
          subaccount: subaccount(balanceCents),
          now: NOW,
          terms: terms(50, 100),
        },
      );
    expect(() => ask(151)).not.toThrow();
    for (const amountCents of [150, 100, 51, 1])
      expect(() => ask(amountCents)).toThrow(
        expect.objectContaining({
          constructor: ValidationError,
          fields: [{ path: 'input.amountCents', message: expect.any(String) }],
        }),
      );
    expect(() => ask(4_000, 3_999)).toThrow(
      expect.objectContaining({
        constructor: InsufficientFundsError,
        requestedCents: 4_000,
        withdrawableCents: 3_999,
        balanceCents: 3_999,
        disputeBlockedCents: 0,
        subaccountsBalanceCents: null,
        cryptoBalanceLitoshi: null,
      }),
    );
  });

  test('a payout is assembled by the first answer, and held for verification while the bank does so', () => {
    const { record } = request();
    const held = asked(record, { status: 'in_verification', until: null })!;
    expect(held.record).toEqual({
      ...record,
      underVerification: true,
      turboCode: 'TURBO-1',
      payout: {
        ...record.payout,
        version: 2,
        withdrawalId: '1'.repeat(24),
        code: 'TURBO-1',
        platformFeeCents: 100,
        netAmountCents: 3_850,
      },
    });
    expect(held).toMatchObject({
      previous: record.payout,
      move: null,
      transaction: null,
      event: 'processing',
    });
    const queued = asked(held.record, { status: 'queued', until: null })!;
    expect(queued.record).toEqual({ ...held.record, underVerification: false });
    expect(queued.event).toBeNull();
    expect(asked(held.record, { status: 'sent', until: null })!.record.underVerification).toBe(false);
  });

  test('a payout that has arrived pays its three shares, and nothing more is due', () => {
    const held = asked(request().record, { status: 'in_verification', until: null })!.record;
    const receipt = { endToEndId: 'E1', recipientName: 'Ana', recipientBankName: 'Banco' };
    const done = asked(held, { status: 'completed', receipt })!;
    expect(done.record).toEqual({
      ...held,
      underVerification: false,
      payout: { ...held.payout, ...receipt, version: 3, status: 'completed', completedAt: LATER },
    });
    expect(done.transaction!.id).toBe('subaccount_payout.completed:sqp_1');
    expect(done).toMatchObject({ previous: held.payout, move: null, due: [], event: 'completed' });
    for (const status of ['queued', 'denied', 'refused', 'completed'] as const)
      expect(asked(done.record, { status, until: null, reason: 'x', receipt } as never)).toBeNull();
  });

  test.each([
    ['denied', 'TURBO-1', 'saq_1'],
    ['refused', 'SUB-1', 'SUB-1'],
  ] as const)(
    'a payout that is %s goes back after two seconds, with the code %s, in the statement as %s',
    (status, code, refId) => {
      const { record } = request();
      const failed = asked(record, { status, reason: 'Conta encerrada' })!;
      expect(failed.record).toMatchObject({
        underVerification: false,
        payout: { version: 2, status: 'failed', code, failureReason: 'Conta encerrada', reversed: false },
      });
      expect(failed).toMatchObject({ move: null, transaction: null, event: 'failed' });
      expect(failed.due).toEqual([{ kind: 'subaccount_payout.reverse', at: plusMs(LATER, 2_000) }]);
      expect(asked(failed.record, { status: 'sent', until: null })).toBeNull();

      const back = decideReverse(failed.record, subaccount(7), LATER)!;
      expect(back.record).toEqual({
        ...failed.record,
        payout: { ...failed.record.payout, version: 3, reversed: true, reversedAt: LATER },
      });
      expect(back.move).toEqual({
        subaccount: subaccount(4_007),
        entry: {
          subaccountId: SUBACCOUNT,
          kind: 'payout_reversal',
          refId,
          amountCents: 4_000,
          balanceAfterCents: 4_007,
          createdAt: LATER,
        },
        transaction: expect.objectContaining({
          id: 'subaccount_payout.reversed:sqp_1',
          subaccountId: SUBACCOUNT,
        }),
      });
      expect(back).toMatchObject({ transaction: null, due: [], event: 'reversed' });
      expect(decideReverse(back.record, back.move!.subaccount, LATER)).toBeNull();
      expect(decideReverse(record, subaccount(7), LATER)).toBeNull();
      // A payout to which the service never gave a code is reversed under its own reference.
      const nameless = { ...failed.record, payout: { ...failed.record.payout, code: null } };
      expect(decideReverse(nameless, subaccount(7), LATER)!.move!.entry.refId).toBe('saq_1');
    },
  );

  test('a payout is final when it has arrived or was given back', () => {
    const of = (status: 'processing' | 'completed' | 'failed', reversed: boolean) =>
      isFinal({ ...request().record.payout, status, reversed });
    expect([of('processing', false), of('failed', false)]).toEqual([false, false]);
    expect([of('completed', false), of('failed', true)]).toEqual([true, true]);
  });

  test('a payout exists only with live keys', () => {
    expect(() => assertPayoutsAvailable('live')).not.toThrow();
    expect(() => assertPayoutsAvailable('sandbox')).toThrow(
      expect.objectContaining({ constructor: PreconditionError, code: 'NOT_IN_SANDBOX' }),
    );
  });
});

test('a transfer takes the merchant’s own money, as much as can be withdrawn', () => {
  const balances = { ...NO_BALANCES, merchant_balance: 500, merchant_subaccounts: 70, dispute_hold: 100 };
  const transfer = (amountCents: number) =>
    decideTransfer(subaccount(70), { amountCents, refId: 'rep_1', balances, now: NOW });
  const { transaction, ...move } = transfer(400);
  expect(move).toEqual({
    subaccount: subaccount(470),
    entry: {
      subaccountId: subaccount(0).id,
      kind: 'transfer_in',
      refId: 'rep_1',
      amountCents: 400,
      balanceAfterCents: 470,
      createdAt: NOW,
    },
  });
  expect(transaction.id).toBe('subaccount.transfer_in:rep_1');
  expect(transaction.subaccountId).toBe(subaccount(0).id);
  expect(applyToBalances(balances, transaction)).toEqual({
    ...balances,
    merchant_balance: 100,
    merchant_subaccounts: 470,
  });
  expect(() => transfer(401)).toThrow(InsufficientFundsError);
});

describe('what is asked of subaccounts', () => {
  const ID = `sacc_${'0f'.repeat(16)}`;
  const long = 'a'.repeat(200);
  const schemas = { createSubaccountInput, transferInput, requestPayoutInput };
  const transfer = { subaccountId: ID, amountCents: 1 };
  const payout = { ...transfer, pixKey: KEY };
  test.each<[keyof typeof schemas, string | null, Record<string, unknown>]>([
    ['createSubaccountInput', null, { name: long, externalId: long }],
    ['createSubaccountInput', null, { name: 'a', externalId: null }],
    ['createSubaccountInput', 'name', {}],
    ['createSubaccountInput', 'name', { name: `${long}a` }],
    ['createSubaccountInput', 'externalId', { name: 'a', externalId: `${long}a` }],
    ['createSubaccountInput', 'externalId', { name: 'a', externalId: '' }],
    ['transferInput', null, transfer],
    ['transferInput', null, { ...transfer, idempotencyKey: 'k' }],
    ['transferInput', null, { ...transfer, idempotencyKey: null }],
    ['transferInput', 'amountCents', { ...transfer, amountCents: 0 }],
    ['transferInput', 'amountCents', { ...transfer, amountCents: 0.5 }],
    ['transferInput', 'subaccountId', { ...transfer, subaccountId: `x${ID}` }],
    ['transferInput', 'idempotencyKey', { ...transfer, idempotencyKey: 'a b ' }],
    ['requestPayoutInput', null, payout],
    ['requestPayoutInput', null, { ...payout, idempotencyKey: 'k' }],
    ['requestPayoutInput', 'amountCents', { ...payout, amountCents: 0 }],
    // Another service may issue other ids; the service decides whether it has issued this one.
    ['requestPayoutInput', null, { ...payout, subaccountId: `${ID}0` }],
    ['requestPayoutInput', 'subaccountId', { ...payout, subaccountId: `${ID}/x` }],
    ['requestPayoutInput', 'pixKey', { ...payout, pixKey: 'nobody' }],
    ['requestPayoutInput', 'pixKey', transfer],
    ['requestPayoutInput', 'pixKeyType', { ...payout, pixKeyType: null }],
    ['requestPayoutInput', 'idempotencyKey', { ...payout, idempotencyKey: '' }],
    ['requestPayoutInput', 'externalId', { ...payout, externalId: 'a\nb' }],
    ['requestPayoutInput', null, { ...payout, externalId: 'saque 7/2026' }],
  ])('a request to %s is refused for %s: %j', (name, field, input) => {
    const { data, error } = schemas[name].safeParse(input);
    if (field === null) expect(data).toEqual(input);
    else expect([...new Set(error!.issues.map(({ path }) => path.join('.')))]).toEqual([field]);
  });

  test('a request takes the PIX key in its normal form', () => {
    const { pixKey } = requestPayoutInput.parse({ ...payout, pixKey: '123.456.789-09' });
    expect(pixKey).toBe('12345678909');
  });
});

test('generated names are random, each kind with its own beginning', () => {
  for (const [make, form] of [
    [newSubaccountId, /^sacc_[0-9a-f]{32}$/],
    [newTransferReference, /^rep_[0-9a-f]{32}$/],
    [newPayoutKey, /^sqp_[0-9a-f]{32}$/],
    [() => newPayoutNames().withdrawalId, /^[0-9a-f]{24}$/],
    [() => newPayoutNames().turboCode, /^TURBO-[0-9A-Z]{12}$/],
    [() => newPayoutNames().subCode, /^SUB-[0-9A-Z]{12}$/],
  ] as const) {
    const made = Array.from({ length: 20 }, make);
    expect(new Set(made).size).toBe(20);
    for (const name of made) expect(name).toMatch(form);
  }
});

test('a subaccount that is unknown but for its id has nothing else', () => {
  expect(unknownSubaccount('sacc_1')).toEqual({
    id: 'sacc_1',
    name: null,
    externalId: null,
    balanceCents: null,
    createdAt: null,
  });
});

describe('references', () => {
  test.each([
    ['0123456789abcdef01234567', 'withdrawalId'],
    ['TURBO-0A1B2C3D4E5F', 'turboCode'],
    ['SUB-0A1B2C3D4E5F', 'subCode'],
    ['saq_idem_pedido:1.a_b-C', 'payoutId'],
    [`saq_${'0'.repeat(32)}`, 'payoutId'],
    [`saq_idem_${'k'.repeat(128)}`, 'payoutId'],
  ] as const)('the reference %s is a %s', (reference, kind) => {
    expect(referenceKind(reference)).toBe(kind);
    expect(payoutReferenceText.safeParse(reference).success).toBe(true);
  });

  test.each([
    '',
    'saq_',
    'SAQ-0A1B2C',
    'TURBO-',
    'turbo-0A1B',
    'SUB-',
    'SUB-ç',
    '0123456789abcdef0123456',
    '0123456789abcdef012345678',
    'saq_idem_a b ',
    'saq_idem_\u0000',
    `saq_${'k'.repeat(161)}`,
    'saq_x',
    'saq_idem_',
    'saq_idem_x\n',
    `saq_idem_${'k'.repeat(129)}`,
    'saq_../../wallet',
    'xTURBO-0A1B',
    'TURBO-0A1B-',
    `TURBO-${'A'.repeat(65)}`,
    'xSUB-0A1B',
    'SUB-0A1B-',
    `SUB-${'A'.repeat(65)}`,
    'xsaq_idem_a',
    'x0123456789abcdef01234567',
  ])('the text %j is no reference', (reference) => {
    expect(referenceKind(reference)).toBeNull();
    expect(payoutReferenceText.safeParse(reference).success).toBe(false);
  });

  test('the references of new payouts are references, whatever their key, each its own', () => {
    const key = fc.stringMatching(/^[A-Za-z0-9_\-.:]{1,128}$/);
    fc.assert(
      fc.property(key, key, (one, other) => {
        expect(referenceKind(payoutReference(one))).toBe('payoutId');
        expect(payoutReference(one) === payoutReference(other)).toBe(one === other);
        // The reference of a payout with a key never has the form of a payout without one.
        expect(payoutReference(one)).not.toMatch(/^saq_[0-9a-f]{32}$/);
      }),
    );
    expect(payoutReference(null)).toMatch(/^saq_[0-9a-f]{32}$/);
  });

  test('the ids of subaccounts are sacc_ and 32 hex', () => {
    const isId = (text: string) => subaccountIdText.safeParse(text).success;
    expect(isId(`sacc_${'0f'.repeat(16)}`)).toBe(true);
    for (const text of [
      '',
      'sacc_',
      `sacc_${'0'.repeat(31)}`,
      `sacc_${'0'.repeat(33)}`,
      `sacc_${'g'.repeat(32)}`,
      `xsacc_${'0f'.repeat(16)}`,
      `sacc_${'0F'.repeat(16)}`,
    ])
      expect(isId(text)).toBe(false);
  });
});

test('an externalId leads to one name', () => {
  const existing = subaccount(5);
  const asked = { id: 'sacc_new', now: NOW };
  expect(decideCreate({ name: 'Bia', externalId: 'x' }, { ...asked, existing })).toEqual({
    subaccount: existing,
    replayed: true,
  });
  expect(() => decideCreate({ name: 'Ana', externalId: 'x' }, { ...asked, existing })).toThrow(
    expect.objectContaining({
      constructor: ValidationError,
      fields: [{ path: 'input.externalId', message: expect.any(String) }],
    }),
  );
  for (const externalId of ['x', null, undefined])
    expect(decideCreate({ name: 'Ana', externalId }, { ...asked, existing: null })).toEqual({
      subaccount: {
        id: 'sacc_new',
        name: 'Ana',
        externalId: externalId ?? null,
        balanceCents: 0,
        createdAt: NOW,
      },
      replayed: false,
    });
});
