import { describe, expect, test } from 'vitest';
import { DAY_MS, plusMs } from '../../../server/src/kernel/clock.ts';
import type { Environment } from '../../../server/src/kernel/tenant.ts';
import {
  chargeDecisions,
  chargeRefunds,
  decideCreate,
} from '../../../server/src/money-in/charges/decisions.ts';
import { normalRequest, type StoredCharge } from '../../../server/src/money-in/charges/model.ts';
import { creditOf, type RecordedCredit, returnIdOf } from '../../../server/src/money-in/pix/credit.ts';
import { type PixChange, step, wasAnnounced } from '../../../server/src/money-in/pix/decisions.ts';
import { SHOWN_RETURNS } from '../../../server/src/money-in/pix/model.ts';
import { type Balances, NO_BALANCES } from '../../../server/src/state/ledger/postings.ts';

// Each step of a resource that a PIX code pays: its change, its postings and its deadlines. A charge stands for all
// families.

const NOW = new Date('2026-03-02T12:00:00.000Z');
const LATER = plusMs(NOW, 60_000);
const ANA = { subaccountId: 'sacc_ana', amountCents: 1000 };
const BIA = { subaccountId: 'sacc_bia', amountCents: 500 };

function create(
  environment: Environment = 'live',
  {
    valueCents = 5000,
    splits = [] as { subaccountId: string; amountCents: number }[],
    balances = NO_BALANCES,
  } = {},
): PixChange<StoredCharge> {
  return decideCreate(
    normalRequest({ valueCents, expiresInSeconds: 3600, ...(splits.length > 0 && { splits }) }),
    { chargeId: 'psc_1', environment, account: { pixEnabled: true, pixFeeCents: 100 }, balances, now: NOW },
  );
}

const NEW = create().resource;
const SPLIT = create('live', { splits: [ANA, BIA] }).resource;
const PAID: StoredCharge = { ...NEW, status: 'paid', paidAt: NOW, endToEndId: 'E1' };
const { decideRegistered, decideRefused, decideRegisterAgain, decideExpire, decideCredit, decideReturn } =
  chargeDecisions;

/** The step of a charge to these members, with no other effect than the given ones. */
const stepOf = (previous: StoredCharge, changed: Partial<StoredCharge>, effects: object = {}) => ({
  previous,
  resource: { ...previous, ...changed, version: previous.version + 1 },
  announced: true,
  credit: null,
  transactions: [],
  moves: [],
  due: [],
  done: [],
  ...effects,
});
const quiet = (resource: StoredCharge, effects: object) => ({
  ...stepOf(resource, {}, effects),
  resource,
  announced: false,
});
const posting = (id: string, lines: Record<string, number>, subaccountId: string | null = null) => ({
  id,
  subaccountId,
  entry: expect.any(Object),
  lines: expect.toSatisfy(
    (all: { account: string; amount: number }[]) =>
      JSON.stringify(Object.entries(lines).sort()) ===
      JSON.stringify(all.map(({ account, amount }) => [account, amount]).sort()),
  ),
});

describe('a new charge', () => {
  test('A new charge has its deadlines, its fee, and no posting', () => {
    expect(create()).toEqual({
      previous: null,
      credit: null,
      transactions: [],
      moves: [],
      done: [],
      announced: false,
      due: [
        { kind: 'pix.expire', at: plusMs(NOW, 3_600_000) },
        { kind: 'pix.register', at: plusMs(NOW, 10_000) },
      ],
      resource: {
        chargeId: 'psc_1',
        version: 1,
        status: 'pending',
        amountCents: 5000,
        feeCents: 100,
        brCode: null,
        createdAt: NOW,
        expiresAt: plusMs(NOW, 3_600_000),
        paidAt: null,
        paidLate: false,
        canceledAt: null,
        endToEndId: null,
        refundedAt: null,
        refundedCents: 0,
        refundingCents: 0,
        disputedCents: 0,
        refundCount: 0,
        failureReason: null,
        returnedCredits: [],
        splits: [],
        refundParts: [],
        description: null,
        metadata: null,
        externalId: null,
        language: null,
      },
    });
  });

  test('A fee is at most the amount, and in sandbox there is none', () => {
    expect(create('live', { valueCents: 30 }).resource.feeCents).toBe(30);
    expect(create('sandbox').resource.feeCents).toBe(0);
  });

  test('In sandbox a new charge is in the pending balance', () => {
    expect(create('sandbox').transactions).toEqual([
      posting('charge.created:psc_1', { pix_received: -5000, merchant_pending: 5000 }),
    ]);
  });

  test('An account that holds as much as it can count gets no charge', () => {
    const most = Math.floor(Number.MAX_SAFE_INTEGER / 2);
    const held = (cents: number): Balances => ({ ...NO_BALANCES, pix_received: -cents });
    expect(create('live', { balances: held(most - 5000) }).resource.status).toBe('pending');
    expect(() => create('live', { balances: held(most - 4999) })).toThrow(
      expect.objectContaining({ code: 'LIMIT_REACHED' }),
    );
  });

  test('The first version was announced to nobody, and each later one was', () => {
    expect([wasAnnounced({ version: 1 }), wasAnnounced({ version: 2 })]).toEqual([false, true]);
  });

  test('A status that cannot follow is an error of the program', () => {
    expect(() => step(PAID, {}, 'pending', {})).toThrow(/charge|PIX pays never goes from paid to pending/);
  });
});

describe('the code of a charge', () => {
  const withCode: StoredCharge = { ...NEW, brCode: '000201' };

  test('A code is recorded, and is asked for no more', () => {
    expect(decideRegistered(NEW, '000201')).toEqual(
      stepOf(NEW, { brCode: '000201' }, { done: ['pix.register'] }),
    );
  });

  test.each<[string, StoredCharge]>([
    ['has one', withCode],
    ['has expired', { ...NEW, status: 'expired' }],
    ['has failed', { ...NEW, status: 'failed' }],
  ])('A charge that %s takes no code, asks for none and is not refused', (_, charge) => {
    expect(decideRegistered(charge, '000202')).toBeNull();
    expect(decideRegisterAgain(charge, NOW)).toBeNull();
    expect(decideRefused(charge, 'Não', 'live')).toBeNull();
  });

  test('A code that has not come is asked for again ten seconds later, and no reader sees a step', () => {
    expect(decideRegisterAgain(NEW, LATER)).toEqual(
      quiet(NEW, { due: [{ kind: 'pix.register', at: plusMs(LATER, 10_000) }] }),
    );
  });

  test('A charge whose code is refused has failed, and leaves the pending balance of the sandbox', () => {
    const failed = { status: 'failed', failureReason: 'Não' } as const;
    const done = ['pix.register', 'pix.expire'];
    expect(decideRefused(NEW, 'Não', 'live')).toEqual(stepOf(NEW, failed, { done }));
    const ofSandbox = create('sandbox').resource;
    const transactions = [posting('charge.ended:psc_1', { merchant_pending: -5000, pix_received: 5000 })];
    expect(decideRefused(ofSandbox, 'Não', 'sandbox')).toEqual(
      stepOf(ofSandbox, failed, { done, transactions }),
    );
  });

  test('A pending charge expires at its instant, and not a millisecond before', () => {
    const at = (now: Date, charge = withCode, environment: Environment = 'live') =>
      decideExpire(charge, { environment, keptPayment: null, now });
    const { expiresAt } = NEW;
    expect(at(plusMs(expiresAt, -1))).toBeNull();
    expect(at(expiresAt)).toEqual(stepOf(withCode, { status: 'expired' }, { done: ['pix.register'] }));
    expect(at(expiresAt, PAID)).toBeNull();
    const ofSandbox = create('sandbox').resource;
    expect(at(expiresAt, ofSandbox, 'sandbox')!.transactions).toEqual([
      posting('charge.ended:psc_1', { merchant_pending: -5000, pix_received: 5000 }),
    ]);
  });
});

describe('a credit', () => {
  const state = {
    isKnown: false,
    keptPayment: null,
    environment: 'live',
    balances: NO_BALANCES,
    now: LATER,
  } as const;
  const credit = { endToEndId: 'E1', amountCents: 5000, at: LATER };
  const known = { endToEndId: 'E1', paidAt: LATER, paidLate: false, status: 'paid' } as const;
  const done = ['pix.expire', 'pix.register'];

  test('A credit of the amount pays a charge, and the fee is taken of it', () => {
    expect(decideCredit(NEW, credit, state)).toEqual(
      stepOf(NEW, known, {
        credit: creditOf('psc_1', credit, null),
        done,
        transactions: [
          posting('charge.paid:psc_1', { pix_received: -5000, platform_fees: 100, merchant_balance: 4900 }),
        ],
      }),
    );
    expect(decideCredit(NEW, credit, { ...state, isKnown: true })).toBeNull();
  });

  test('A credit pays the debt of the merchant first', () => {
    const balances = { ...NO_BALANCES, merchant_receivable: -900 };
    expect(decideCredit(NEW, credit, { ...state, balances })!.transactions).toEqual([
      posting('charge.paid:psc_1', {
        pix_received: -5000,
        platform_fees: 100,
        merchant_receivable: 900,
        merchant_balance: 4000,
      }),
    ]);
  });

  test('The shares of subaccounts are theirs at once, and no debt takes them', () => {
    const balances = { ...NO_BALANCES, merchant_receivable: -9000 };
    const paid = decideCredit(SPLIT, credit, { ...state, balances })!;
    expect(paid.transactions).toEqual([
      posting('charge.paid:psc_1', { pix_received: -3500, platform_fees: 100, merchant_receivable: 3400 }),
    ]);
    expect(paid.moves).toEqual(
      [ANA, BIA].map(({ subaccountId, amountCents }, nth) => ({
        kind: 'split_in',
        subaccountId,
        refId: 'psc_1',
        amountCents,
        transaction: posting(
          `charge.split:psc_1:${nth}`,
          { pix_received: -amountCents, merchant_subaccounts: amountCents },
          subaccountId,
        ),
      })),
    );
  });

  test('Where the shares are the whole of it the account has no posting', () => {
    const whole = create('sandbox', { valueCents: 1500, splits: [ANA, BIA] }).resource;
    const paid = decideCredit(whole, { ...credit, amountCents: 1500 }, { ...state, environment: 'sandbox' })!;
    expect(paid.transactions).toEqual([]);
    expect(paid.moves.map(({ transaction }) => transaction.lines)).toEqual([
      [
        { account: 'merchant_pending', amount: -1000 },
        { account: 'merchant_subaccounts', amount: 1000 },
      ],
      [
        { account: 'merchant_pending', amount: -500 },
        { account: 'merchant_subaccounts', amount: 500 },
      ],
    ]);
  });

  test('In sandbox a pending charge is paid out of the pending balance, and one that has expired is not', () => {
    const ofSandbox = create('sandbox').resource;
    const sandbox = { ...state, environment: 'sandbox' } as const;
    const linesOf = (charge: StoredCharge) => decideCredit(charge, credit, sandbox)!.transactions;
    expect(linesOf(ofSandbox)).toEqual([
      posting('charge.paid:psc_1', { merchant_pending: -5000, merchant_balance: 5000 }),
    ]);
    expect(linesOf({ ...ofSandbox, status: 'expired' })).toEqual([
      posting('charge.paid:psc_1', { pix_received: -5000, merchant_balance: 5000 }),
    ]);
  });

  test('A credit is late from the instant of the expiry on, by the bank’s clock', () => {
    const isLate = (at: Date, status: 'pending' | 'expired') =>
      decideCredit({ ...NEW, status }, { ...credit, at }, state)!.resource.paidLate;
    expect(isLate(plusMs(NEW.expiresAt, -1), 'expired')).toBe(false);
    expect(isLate(NEW.expiresAt, 'pending')).toBe(true);
  });

  test('A credit that is not accepted is sent back from now on, and the charge shows it', () => {
    const other = { ...credit, amountCents: 4999 };
    const shown = { endToEndId: 'E1', amountCents: 4999, cause: 'amount_mismatch', receivedAt: LATER };
    expect(decideCredit(NEW, other, { ...state, now: plusMs(LATER, 5) })).toEqual(
      stepOf(
        NEW,
        { returnedCredits: [{ ...shown, returnedAt: null }] as StoredCharge['returnedCredits'] },
        {
          credit: {
            endToEndId: 'E1',
            resourceId: 'psc_1',
            amountCents: 4999,
            cause: 'amount_mismatch',
            receivedAt: LATER,
            returnedAt: null,
            failedReturns: 0,
          },
          transactions: [
            posting('pix_credit.returned:E1', { pix_received: -4999, refunds_in_transit: 4999 }),
          ],
          due: [{ kind: 'pix.return', key: 'E1', at: plusMs(LATER, 5) }],
        },
      ),
    );
    expect(decideCredit(NEW, credit, { ...state, keptPayment: 'psa_kept' })!.credit!.cause).toBe(
      'paid_elsewhere',
    );
  });

  test('A charge shows the last twenty of its returned credits', () => {
    let charge = PAID;
    for (let nth = 0; nth <= SHOWN_RETURNS; nth += 1)
      charge = decideCredit(charge, { ...credit, endToEndId: `E${nth}` }, state)!.resource;
    const shown = charge.returnedCredits.map(({ endToEndId }) => endToEndId);
    expect([shown.length, shown[0], shown.at(-1)]).toEqual([20, 'E1', 'E20']);
  });
});

describe('the return of a credit', () => {
  const credits = ['E1', 'E2'].map(
    (endToEndId): RecordedCredit => ({
      endToEndId,
      resourceId: 'psc_1',
      amountCents: 700,
      cause: 'already_paid',
      receivedAt: NOW,
      returnedAt: null,
      failedReturns: 0,
    }),
  );
  const [first, credit] = credits as [RecordedCredit, RecordedCredit];
  const shownOf = ({ endToEndId, amountCents, receivedAt, returnedAt }: RecordedCredit) =>
    ({ endToEndId, amountCents, cause: 'already_paid', receivedAt, returnedAt }) as const;
  const charge: StoredCharge = { ...PAID, returnedCredits: credits.map(shownOf) };

  test('A credit that was accepted, or is back already, has no return that could end', () => {
    expect(decideReturn(charge, { ...credit, cause: null }, { status: 'completed' }, LATER)).toBeNull();
    expect(decideReturn(charge, { ...credit, returnedAt: NOW }, { status: 'failed' }, LATER)).toBeNull();
  });

  test('A return that the bank has not decided is looked up at its instant, and soon where that is none', () => {
    const at = (settlesAt: Date | null) => {
      const change = decideReturn(charge, credit, { status: 'pending', settlesAt }, LATER)!;
      expect(change).toEqual(
        quiet(charge, { credit, due: [{ kind: 'pix.return', key: 'E2', at: change.due[0]!.at }] }),
      );
      return change.due[0]!.at;
    };
    expect(at(plusMs(LATER, 1))).toEqual(plusMs(LATER, 1));
    for (const settlesAt of [null, LATER, NOW]) expect(at(settlesAt)).toEqual(plusMs(LATER, 10_000));
  });

  test('A return that the bank refuses is tried again a day later, under another id', () => {
    const refused = { ...credit, failedReturns: 1 };
    expect(decideReturn(charge, credit, { status: 'failed' }, LATER)).toEqual(
      quiet(charge, { credit: refused, due: [{ kind: 'pix.return', key: 'E2', at: plusMs(LATER, DAY_MS) }] }),
    );
    expect([returnIdOf(credit), returnIdOf(refused)]).toEqual(['E2.0', 'E2.1']);
  });

  test('A return that is done is shown of its own credit alone', () => {
    const back = { ...credit, returnedAt: LATER };
    expect(decideReturn(charge, credit, { status: 'completed' }, LATER)).toEqual(
      stepOf(
        charge,
        { returnedCredits: [shownOf(first), shownOf(back)] },
        {
          credit: back,
          transactions: [posting('pix_credit.sent_back:E2', { refunds_in_transit: -700, pix_received: 700 })],
        },
      ),
    );
  });
});

describe('the refund of a split charge', () => {
  const { decideRefundBegin, decideRefundCompleted, decideRefundFailed } = chargeRefunds;
  const paid: StoredCharge = { ...SPLIT, status: 'paid', paidAt: NOW, endToEndId: 'E1' };
  const balances: Balances = { ...NO_BALANCES, merchant_balance: 3400 };
  const request = { refundId: 'ref_1', amountCents: 2500, isAutomatic: false };
  // Bia has spent a part of her balance.
  const balanceOf = (id: string) => (id === ANA.subaccountId ? 1000 : 100);
  const begun = decideRefundBegin(paid, request, { balances, now: NOW, balanceOf });
  const under = begun.change.resource;
  const refund = { refundId: 'ref_1', amountCents: 2500 };

  test('Each party gives its part, and the account what a subaccount lacks', () => {
    expect(begun.amountCents).toBe(2500);
    expect(begun.change).toEqual(
      stepOf(
        paid,
        {
          refundedCents: 0,
          refundingCents: 2500,
          refundCount: 1,
          splits: [
            { ...paid.splits[0]!, assignedCents: 500, refundedCents: 500 },
            { ...paid.splits[1]!, assignedCents: 250, refundedCents: 100 },
          ],
          refundParts: [
            {
              refundId: 'ref_1',
              parts: [
                { subaccountId: 'sacc_ana', assignedCents: 500, takenCents: 500 },
                { subaccountId: 'sacc_bia', assignedCents: 250, takenCents: 100 },
              ],
            },
          ],
        },
        {
          transactions: [
            posting('refund.begun:ref_1', { merchant_balance: -1900, refunds_in_transit: 1900 }),
          ],
          moves: [
            ['sacc_ana', 500],
            ['sacc_bia', 100],
          ].map(([subaccountId, cents]) => ({
            kind: 'split_reversal',
            subaccountId,
            refId: 'ref_1',
            amountCents: -(cents as number),
            transaction: posting(
              `refund.begun:ref_1:${subaccountId}`,
              { merchant_subaccounts: -(cents as number), refunds_in_transit: cents as number },
              subaccountId as string,
            ),
          })),
        },
      ),
    );
  });

  test('A subaccount that has nothing left has no line on its statement', () => {
    const { change } = decideRefundBegin(paid, request, { balances, now: NOW, balanceOf: () => 0 });
    expect(change.moves).toEqual([]);
    expect(change.transactions).toEqual([
      posting('refund.begun:ref_1', { merchant_balance: -2500, refunds_in_transit: 2500 }),
    ]);
  });

  test('A refund that fails gives each party exactly what was taken of it', () => {
    const other = { refundId: 'ref_0', parts: [] };
    const busy = { ...under, refundParts: [other, ...under.refundParts] };
    expect(decideRefundFailed(busy, { ...refund, isAutomatic: false }, NO_BALANCES)).toEqual(
      stepOf(
        busy,
        { refundedCents: 0, refundingCents: 0, refundCount: 0, splits: paid.splits, refundParts: [other] },
        {
          transactions: [
            posting('refund.failed:ref_1', { refunds_in_transit: -1900, merchant_balance: 1900 }),
          ],
          moves: [
            ['sacc_ana', 500],
            ['sacc_bia', 100],
          ].map(([subaccountId, cents]) => ({
            kind: 'split_in',
            subaccountId,
            refId: 'ref_1',
            amountCents: cents,
            transaction: posting(
              `refund.failed:ref_1:${subaccountId}`,
              { refunds_in_transit: -(cents as number), merchant_subaccounts: cents as number },
              subaccountId as string,
            ),
          })),
        },
      ),
    );
  });

  test('A refund that is completed keeps what each has given, and the charge is refunded with the last of it', () => {
    const amounts = { refundedCents: 2500, refundingCents: 0, refundCount: 1, refundParts: [] };
    const sent = (cents: number) => ({
      transactions: [posting('refund.completed:ref_1', { refunds_in_transit: -cents, pix_received: cents })],
    });
    expect(decideRefundCompleted(under, refund, LATER)).toEqual(stepOf(under, amounts, sent(2500)));
    const whole = { ...under, refundingCents: 2500, refundedCents: 2500 };
    expect(decideRefundCompleted(whole, refund, LATER)).toEqual(
      stepOf(whole, { ...amounts, refundedCents: 5000, status: 'refunded', refundedAt: LATER }, sent(2500)),
    );
  });

  test('A refund of a charge without splits is the account’s alone', () => {
    const { change } = decideRefundBegin(PAID, request, { balances, now: NOW, balanceOf });
    expect(change).toEqual(
      stepOf(
        PAID,
        { refundedCents: 0, refundingCents: 2500, refundCount: 1 },
        {
          transactions: [
            posting('refund.begun:ref_1', { merchant_balance: -2500, refunds_in_transit: 2500 }),
          ],
        },
      ),
    );
  });

  test('A charge is refunded up to the last instant of ninety days', () => {
    const at = (now: Date) => decideRefundBegin(PAID, request, { balances, now, balanceOf }).amountCents;
    expect(at(plusMs(NOW, 90 * DAY_MS))).toBe(2500);
    expect(() => at(plusMs(NOW, 90 * DAY_MS + 1))).toThrow(/^This charge was paid more than 90 days ago$/);
  });
});
