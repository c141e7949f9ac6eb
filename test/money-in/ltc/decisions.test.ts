import { describe, expect, test } from 'vitest';
import { plusMs } from '../../../server/src/kernel/clock.ts';
import {
  decideAddress,
  decideAddressAgain,
  decideCreditUnmatched,
  decideExpire,
  decideLookAgain,
  decideNew,
  decideReport,
  GRACE_MS,
  newRequest,
  type RecordedOutput,
  type ReportedOutput,
} from '../../../server/src/money-in/ltc/decisions.ts';
import type { StoredLtcRequest, StoredLtcResource } from '../../../server/src/money-in/ltc/model.ts';
import { NO_BALANCES } from '../../../server/src/state/ledger/postings.ts';

// The deadlines of each decision, the ids of its postings, and the outputs that it writes.

const NOW = new Date('2026-03-02T12:00:00.000Z');
const MINUTE = 60_000;
const ASKED = 1_000;
const ID = `psa_${'0'.repeat(32)}`;

const REQUEST = { ...newRequest({ amountCents: 5_000, litoshi: ASKED }), address: 'rltc1' };

function payment(
  changed: Partial<StoredLtcResource> = {},
  ltc: Partial<StoredLtcRequest> = {},
): StoredLtcResource & { ltc: StoredLtcRequest } {
  return {
    paymentId: ID,
    version: 3,
    status: 'pending',
    amountCents: 5_000,
    createdAt: NOW,
    expiresAt: plusMs(NOW, 30 * MINUTE),
    paidAt: null,
    paidLate: false,
    canceledAt: null,
    failureReason: null,
    keptPayment: null,
    ...changed,
    ltc: { ...REQUEST, ...ltc },
  };
}

const output = (nth: number, litoshi: number, confirmations: number, afterMs = 0): ReportedOutput => ({
  txid: String(nth).padStart(64, '0'),
  vout: 0,
  litoshi,
  confirmations,
  seenAt: plusMs(NOW, afterMs),
});

const recordedAs = (
  state: RecordedOutput['state'],
  reported: ReportedOutput,
  postings = 0,
): RecordedOutput => ({ ...reported, state, postings });

function report(
  resource: StoredLtcResource,
  outputs: ReportedOutput[],
  recorded: RecordedOutput[] = [],
  { keptPayment = null, now = NOW }: { keptPayment?: string | null; now?: Date } = {},
) {
  const change = decideReport(resource, { revision: 9, outputs }, { recorded, keptPayment, now });
  return change && { ...change, ids: change.transactions.map(({ id }) => id) };
}

const named = (nth: number) => `${String(nth).padStart(64, '0')}:0`;

describe('the address of a payment by LTC', () => {
  test('A new payment expires, and asks for its address again after ten seconds', () => {
    const resource = payment({}, { address: null });
    expect(newRequest({ amountCents: 5_000, litoshi: ASKED })).toEqual({
      address: null,
      litoshi: ASKED,
      receivedLitoshi: 0,
      confirmations: 0,
      requiredConfirmations: 2,
      revision: 0,
    });
    expect(decideNew(resource, NO_BALANCES)).toEqual({
      previous: null,
      resource,
      outputs: [],
      transactions: [],
      done: [],
      announced: false,
      due: [
        { kind: 'ltc.expire', at: resource.expiresAt },
        { kind: 'ltc.address', at: plusMs(NOW, 10_000) },
      ],
    });
    const full = { ...NO_BALANCES, ltc_received: -(Number.MAX_SAFE_INTEGER - 1) / 2 };
    expect(() => decideNew(resource, full)).toThrow(expect.objectContaining({ code: 'LIMIT_REACHED' }));
  });

  test('An address ends the task that asks for it; a second one and a late one change nothing', () => {
    const resource = payment({}, { address: null });
    expect(decideAddress(resource, 'rltc1')).toMatchObject({
      done: ['ltc.address'],
      due: [],
      announced: true,
      resource: { version: 4, ltc: REQUEST },
    });
    expect(decideAddress(payment(), 'rltc2')).toBeNull();
    expect(decideAddress(payment({ status: 'expired' }, { address: null }), 'rltc1')).toBeNull();
    expect(decideAddress({ ...resource, ltc: null }, 'rltc1')).toBeNull();
    expect(decideAddressAgain(resource, NOW)).toMatchObject({
      due: [{ kind: 'ltc.address', at: plusMs(NOW, 10_000) }],
      done: [],
      announced: false,
      resource: { version: 3 },
    });
    expect(decideAddressAgain(payment(), NOW)).toBeNull();
    expect(decideAddressAgain(payment({ status: 'expired' }, { address: null }), NOW)).toBeNull();
    expect(decideAddressAgain({ ...resource, ltc: null }, NOW)).toBeNull();
  });
});

describe('a report of the network', () => {
  test.each([
    ['nothing of the whole', [output(1, 999, 2)], 999, 0],
    ['all of it, not confirmed', [output(1, ASKED, 0)], ASKED, 0],
    // The oldest outputs pay the amount: the newest does not count.
    ['more than it', [output(1, 500, 0), output(2, 600, 1), output(3, 400, 1)], 1_500, 1],
    ['parts of different age', [output(1, 500, 0), output(2, 500, 1)], ASKED, 0],
  ] as const)('shows of %s the litoshi and the confirmations', (_, outputs, received, confirmations) => {
    const { resource, announced } = report(payment(), [...outputs])!;
    expect(resource.ltc).toMatchObject({ receivedLitoshi: received, confirmations, revision: 9 });
    expect(announced).toBe(true);
  });

  test('writes the outputs that have changed alone, and announces what readers see alone', () => {
    const known = recordedAs('seen', output(1, 400, 0));
    const before = payment({}, { receivedLitoshi: 400 });
    expect(report(before, [output(1, 400, 0)], [known])).toMatchObject({
      outputs: [],
      announced: false,
      resource: { version: 3, ltc: { revision: 9 } },
    });
    const confirmed = report(before, [output(1, 400, 1)], [known])!;
    // Confirmations of less than the amount are not announced.
    expect([confirmed.outputs, confirmed.announced]).toEqual([
      [recordedAs('seen', output(1, 400, 1))],
      false,
    ]);
    expect(report(before, [output(1, 400, 0), output(2, 100, 0)], [known])).toMatchObject({
      outputs: [recordedAs('seen', output(2, 100, 0))],
      announced: true,
      resource: { version: 4 },
    });
    expect(report(payment({}, { revision: 9 }), [output(1, ASKED, 2)])).toBeNull();
  });

  test('posts each confirmation of an output under an id of its own, also behind a reorganisation', () => {
    const part = output(1, 400, 2);
    const first = report(payment(), [part])!;
    expect([first.ids, first.outputs]).toEqual([
      [`ltc.confirmed:${named(1)}:1`],
      [recordedAs('unmatched', part, 1)],
    ]);
    const gone = report(payment(), [], first.outputs as RecordedOutput[])!;
    expect([gone.ids, gone.outputs]).toEqual([
      [`ltc.reorganised:${named(1)}:1`],
      [recordedAs('gone', { ...part, confirmations: 0 }, 1)],
    ]);
    expect(gone.resource.ltc).toMatchObject({ receivedLitoshi: 0 });
    const again = report(payment(), [part], gone.outputs as RecordedOutput[])!;
    expect([again.ids, again.outputs]).toEqual([
      [`ltc.confirmed:${named(1)}:2`],
      [recordedAs('unmatched', part, 2)],
    ]);
  });

  test('makes a payment paid, and ends its deadlines', () => {
    const paid = report(payment(), [output(1, 400, 2), output(2, 600, 3)])!;
    expect(paid).toMatchObject({
      resource: { status: 'paid', paidAt: NOW, paidLate: false },
      outputs: [{ state: 'credited' }, { state: 'credited' }],
      done: ['ltc.expire', 'ltc.address'],
      due: [],
      announced: true,
    });
    expect(paid.ids).toEqual([
      `ltc.confirmed:${named(1)}:1`,
      `ltc.confirmed:${named(2)}:1`,
      `ltc.paid:${ID}`,
    ]);
  });

  test.each([
    ['seen a moment before the expiry', 30 * MINUTE - 1, false],
    ['seen at the expiry', 30 * MINUTE, true],
  ])('tells of what was %s whether it came late', (_, afterMs, paidLate) => {
    // Only the first output was in time.
    const outputs = [output(2, 600, 2, afterMs), output(1, 400, 2)];
    const { resource } = report(payment({ status: 'expired' }), outputs, [], {
      now: plusMs(NOW, 60 * MINUTE),
    })!;
    expect(resource).toMatchObject({ status: 'paid', paidLate });
  });

  test('leaves to the operator what pays an order that is closed: a pending and an expired payment fail, and name the one that was kept', () => {
    const outputs = [output(1, ASKED, 2)];
    for (const status of ['pending', 'expired'] as const)
      expect(report(payment({ status }), outputs, [], { keptPayment: 'psa_kept' })).toMatchObject({
        resource: {
          status: 'failed',
          failureReason: 'paid_elsewhere',
          keptPayment: 'psa_kept',
          paidAt: null,
        },
        outputs: [{ state: 'unmatched' }],
        ids: [`ltc.confirmed:${named(1)}:1`],
        done: ['ltc.expire', 'ltc.address'],
      });
  });

  test('counts what the operator has credited to the amount, and posts the rest alone', () => {
    const expired = payment({ status: 'expired' });
    const later = 31 * MINUTE;
    const credited = recordedAs('credited', output(1, 400, 2, later), 1);
    const rest = [output(1, 400, 3, later), output(2, 600, 2, later)];
    const paid = report(expired, rest, [credited])!;
    expect(paid).toMatchObject({
      resource: { status: 'paid', paidAt: NOW, paidLate: true },
      outputs: [recordedAs('credited', output(2, 600, 2, later), 1)],
      ids: [`ltc.confirmed:${named(2)}:1`, `ltc.paid:${ID}`],
    });
    expect(paid.transactions.at(-1)!.lines).toEqual([
      { account: 'ltc_unmatched', amount: -600 },
      { account: 'merchant_ltc', amount: 600 },
    ]);
    expect(report(expired, [output(2, 599, 2, later)], [credited])!.resource.status).toBe('expired');
    // The operator's credit was decided: without new LTC it pays nothing.
    const whole = recordedAs('credited', output(1, ASKED, 2, later), 1);
    expect(report(expired, [output(1, ASKED, 3, later)], [whole])!.resource.status).toBe('expired');
  });

  test('keeps what was credited, and credits what comes beside it', () => {
    const paid = payment({ status: 'paid', paidAt: NOW }, { receivedLitoshi: ASKED, confirmations: 2 });
    const credited = recordedAs('credited', output(1, ASKED, 2), 1);
    const change = report(paid, [output(2, 10, 2)], [credited])!;
    expect(change).toMatchObject({
      resource: { status: 'paid', ltc: { receivedLitoshi: ASKED + 10 } },
      outputs: [recordedAs('credited', output(2, 10, 2), 1)],
    });
    expect(change.transactions).toMatchObject([
      {
        id: `ltc.confirmed:${named(2)}:1`,
        lines: [
          { account: 'ltc_received', amount: -10 },
          { account: 'merchant_ltc', amount: 10 },
        ],
      },
    ]);
  });
});

describe('the next look at a payment by LTC', () => {
  const task = { key: `${ID} 3`, revision: 3 };

  test.each([
    ['ten minutes later at first', 0, 10],
    ['ten minutes later up to twenty minutes of age', 20, 10],
    ['after half of its age then', 50, 25],
  ])('is %s', (_, ageMinutes, waitMinutes) => {
    const now = plusMs(NOW, ageMinutes * MINUTE);
    expect(decideLookAgain(payment({}, { receivedLitoshi: 1, revision: 3 }), task, now)).toMatchObject({
      due: [{ kind: 'ltc.receive', key: task.key, at: plusMs(now, waitMinutes * MINUTE) }],
      outputs: [],
      transactions: [],
      done: [],
      announced: false,
      resource: { version: 3 },
    });
  });

  test.each([
    ['without an output', payment({}, { revision: 3 })],
    ['with a newer report', payment({}, { receivedLitoshi: 1, revision: 4 })],
    ['that has ended', payment({ status: 'expired' }, { receivedLitoshi: 1, revision: 3 })],
    ['that is none by LTC', { ...payment(), ltc: null }],
  ])('does not come for one %s', (_, resource) => {
    expect(decideLookAgain(resource, task, NOW)).toBeNull();
  });
});

describe('the expiry of a payment by LTC', () => {
  const end = plusMs(NOW, 30 * MINUTE);

  const whole = [recordedAs('seen', output(1, ASKED, 0))];
  const late = recordedAs('unmatched', output(2, ASKED - 1, 2, 30 * MINUTE), 1);

  test.each([
    ['nothing came', [], 'expired', null],
    [
      'a part came in the last moment',
      [recordedAs('seen', output(1, 1, 0, 30 * MINUTE - 1))],
      'failed',
      'underpaid',
    ],
    ['what came is gone', [recordedAs('gone', output(1, 1, 0))], 'expired', null],
    ['a part came behind its end', [late], 'expired', null],
    ['all came behind its end', [late, recordedAs('seen', output(3, 1, 0, 31 * MINUTE))], 'expired', null],
    [
      'a part came in time, and the rest behind its end',
      [recordedAs('seen', output(1, 1, 0)), late],
      'failed',
      'underpaid',
    ],
  ])('ends it at its instant where %s', (_, recorded, status, failureReason) => {
    const resource = payment(
      {},
      { receivedLitoshi: recorded.reduce((sum, { litoshi }) => sum + litoshi, 0) },
    );
    expect(decideExpire(resource, { recorded, keptPayment: null, now: plusMs(end, -1) })).toBeNull();
    expect(decideExpire(resource, { recorded, keptPayment: null, now: end })).toMatchObject({
      done: ['ltc.address'],
      due: [],
      announced: true,
      resource: { status, failureReason },
    });
  });

  test('waits a day for the confirmations of all that was asked for, and then ends it', () => {
    const resource = payment({}, { receivedLitoshi: ASKED });
    const graceEnds = plusMs(end, GRACE_MS);
    for (const now of [end, plusMs(graceEnds, -1)])
      expect(decideExpire(resource, { recorded: whole, keptPayment: null, now })).toMatchObject({
        due: [{ kind: 'ltc.expire', at: graceEnds }],
        done: [],
        announced: false,
        resource: { status: 'pending', version: 3 },
      });
    expect(
      decideExpire(resource, { recorded: whole, keptPayment: null, now: graceEnds })!.resource,
    ).toMatchObject({
      status: 'expired',
      failureReason: null,
    });
  });

  test('changes nothing of one that has ended, or is none by LTC', () => {
    for (const status of ['paid', 'expired', 'failed'] as const)
      expect(decideExpire(payment({ status }), { recorded: whole, keptPayment: null, now: end })).toBeNull();
    expect(
      decideExpire({ ...payment(), ltc: null }, { recorded: [], keptPayment: null, now: end }),
    ).toBeNull();
  });
});

describe('the operator’s credit', () => {
  test('It takes what is unmatched of an ended payment, each time under an id of its own', () => {
    const [first, second] = [
      recordedAs('unmatched', output(1, 400, 2), 1),
      recordedAs('unmatched', output(2, 50, 2), 1),
    ];
    const seen = recordedAs('seen', output(3, 7, 0));
    const once = decideCreditUnmatched(payment({ status: 'failed' }), [first, seen])!;
    expect(once.outputs).toEqual([{ ...first, state: 'credited' }]);
    expect(once.transactions).toMatchObject([
      {
        id: `ltc.credited:${ID}:0`,
        lines: [
          { account: 'ltc_unmatched', amount: -400 },
          { account: 'merchant_ltc', amount: 400 },
        ],
      },
    ]);
    expect(once.announced).toBe(false);
    const again = decideCreditUnmatched(payment({ status: 'failed' }), [...once.outputs, second])!;
    expect(again.outputs).toEqual([{ ...second, state: 'credited' }]);
    expect(again.transactions.map(({ id }) => id)).toEqual([`ltc.credited:${ID}:1`]);
  });

  test('It takes nothing of a pending payment, and nothing where nothing is unmatched', () => {
    const unmatched = recordedAs('unmatched', output(1, 400, 2), 1);
    expect(decideCreditUnmatched(payment(), [unmatched])).toBeNull();
    expect(decideCreditUnmatched(payment({ status: 'expired' }), [])).toBeNull();
    expect(
      decideCreditUnmatched(payment({ status: 'expired' }), [{ ...unmatched, state: 'credited' }]),
    ).toBeNull();
  });
});
