import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ValidationError } from '../../server/src/kernel/errors.ts';
import { applyToBalances, type Balances, NO_BALANCES } from '../../server/src/ledger/postings.ts';
import {
  decideCreate,
  decideOutcome,
  decideRequest,
  decideReverse,
  guidanceOf,
  isFinal,
  newPayoutNames,
  type PayoutRecord,
  payoutReference,
  referenceKind,
  type Subaccount,
  type SubaccountPayoutChange,
  subaccountIdText,
  subaccountPayoutFromJson,
  type TransferOutcome,
} from '../../server/src/subaccounts/model.ts';
import { subaccountPayoutWebhook } from '../../server/src/subaccounts/wire.ts';

const NOW = new Date('2026-03-02T12:00:00.000Z');
const LATER = new Date('2026-03-02T12:00:05.000Z');
const KEY = 'bia@cliente.example';

const subaccount = (balanceCents: number): Subaccount => ({
  id: `sacc_${'a'.repeat(32)}`,
  name: 'Bia',
  externalId: null,
  balanceCents,
  createdAt: NOW,
});

const terms = (markup: number, fee: number) => ({
  subaccountMarkupCents: markup,
  payoutFeesCents: { pix: fee },
});

function request(amountCents = 4_000, markup = 50, fee = 100): SubaccountPayoutChange {
  return decideRequest(
    { amountCents, pixKey: KEY },
    {
      id: 'sqp_1',
      payoutId: 'saq_1',
      subaccount: subaccount(amountCents),
      terms: terms(markup, fee),
      now: NOW,
    },
  );
}

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

/** What a run of answers, then a reversal, makes of a payout: each record in turn, and the money. */
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

describe('a payout', () => {
  test('never goes back, keeps its money together, and gives it away or back once, whatever the bank says', () => {
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
            // 2.2: what is null when.
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
    'after %j is %s with the code %s, and asks for %s',
    (outcomes, status, code, guidance, told) => {
      const { last, events } = live(request(), outcomes);
      expect(last).toMatchObject({ status });
      expect(last.code?.split('-')[0] ?? null).toBe(code);
      expect(guidanceOf(last)).toBe(guidance);
      expect(events).toEqual(told);
    },
  );

  test('that failed and is not reversed yet asks for support; a completed one for nothing', () => {
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

  test('is asked about again when the bank says, and soon where that has passed or it does not say', () => {
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

  test('comes back from an event as it was', () => {
    const { last } = live(request(), [{ status: 'denied', reason: 'x' }]);
    expect(subaccountPayoutFromJson(JSON.parse(JSON.stringify(last)))).toEqual(last);
  });

  test('is announced with the document’s object, and not before it has a code', () => {
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
    });
  });
});

describe('references', () => {
  test.each([
    ['0123456789abcdef01234567', 'withdrawalId'],
    ['0123456789ABCDEF01234567', 'withdrawalId'],
    ['TURBO-0A1B2C3D4E5F', 'turboCode'],
    ['SUB-0A1B2C3D4E5F', 'subCode'],
    ['saq_idem_pedido:1.a_b-C', 'payoutId'],
    [`saq_${'0'.repeat(32)}`, 'payoutId'],
    [`saq_idem_${'k'.repeat(128)}`, 'payoutId'],
  ] as const)('%s is a %s', (reference, kind) => {
    expect(referenceKind(reference)).toBe(kind);
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
    'saq_idem_a b',
    'saq_idem_\u0000',
    `saq_${'k'.repeat(161)}`,
    'saq_x',
    'saq_idem_',
    'saq_idem_x\n',
    `saq_idem_${'k'.repeat(129)}`,
    'saq_../../wallet',
  ])('%j is none', (reference) => {
    expect(referenceKind(reference)).toBeNull();
  });

  test('made with whatever key are references, each its own', () => {
    const key = fc.stringMatching(/^[A-Za-z0-9_\-.:]{1,128}$/);
    fc.assert(
      fc.property(key, key, (one, other) => {
        expect(referenceKind(payoutReference(one))).toBe('payoutId');
        expect(payoutReference(one) === payoutReference(other)).toBe(one === other);
        // Nobody's key is the reference of a payout without one.
        expect(payoutReference(one)).not.toMatch(/^saq_[0-9a-f]{32}$/);
      }),
    );
    expect(payoutReference(null)).toMatch(/^saq_[0-9a-f]{32}$/);
  });

  test('of subaccounts are sacc_ and 32 hex', () => {
    const isId = (text: string) => subaccountIdText.safeParse(text).success;
    expect(isId(`sacc_${'0f'.repeat(16)}`)).toBe(true);
    for (const text of [
      '',
      'sacc_',
      `sacc_${'0'.repeat(31)}`,
      `sacc_${'0'.repeat(33)}`,
      `sacc_${'g'.repeat(32)}`,
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
    ValidationError,
  );
});
