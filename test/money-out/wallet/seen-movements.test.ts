import { expect, test } from 'vitest';
import {
  keyOf,
  type Movement,
  movementsOf,
  type SeenEvent,
} from '../../../server/src/money-out/wallet/remote/sightings.ts';
import type { SeenMove } from '../../../server/src/upstream/seen-money.ts';

const PAYMENT_ID = 'psa_1';
const OPENED_AT = new Date('2026-03-02T12:00:00Z');
const before = new Date('2026-03-02T11:00:00Z');
const since = new Date('2026-03-02T13:00:00Z');

const refundOf = (amountCents: number, at: Date | null): SeenMove => ({
  ...{ kind: 'refund', amountCents: -amountCents, feeCents: 0, at },
});

/** The payment was paid before the opening, and its sum of refunds has no date. */
const payment = (refundedCents: number): SeenEvent => ({
  ...{ resource: 'payment', resourceId: PAYMENT_ID, occurredAt: since },
  money: {
    ...{ ids: [PAYMENT_ID], reference: PAYMENT_ID },
    moves: [
      { kind: 'payment', amountCents: 1_000, feeCents: 0, at: before },
      ...(refundedCents === 0 ? [] : [refundOf(refundedCents, null)]),
    ],
  },
});

function refund(id: string, amountCents: number, at: Date, failedAt: Date | null = null): SeenEvent {
  const failure: SeenMove = { kind: 'refund_failure', amountCents, feeCents: 0, at: failedAt };
  return {
    ...{ resource: 'refund', resourceId: id, occurredAt: since },
    money: {
      ...{ ids: [id], reference: PAYMENT_ID },
      moves: [refundOf(amountCents, at), ...(failedAt ? [failure] : [])],
    },
  };
}

/** The sum of the entries that events make, each with a sighting of its own. */
function enteredBy(events: readonly SeenEvent[], opening: SeenEvent | null): number {
  const rows: Movement[] = [];
  const atOpening = new Map(opening ? [[keyOf(opening), opening.money]] : []);
  for (const event of events)
    rows.push(...movementsOf([event], { openedAt: OPENED_AT, rows, atOpening, seenUnmoved: new Set() }));
  return rows.filter(({ isEntry }) => isEntry).reduce((sum, { changes }) => sum + changes.amountCents, 0);
}

const ref1 = (failedAt?: Date) => refund('ref_1', 300, before, failedAt);
const ref2 = refund('ref_2', 50, since);
const ref3 = refund('ref_3', 20, since);

test.for<[string, { events: SeenEvent[]; entered: number }]>([
  ['its refund is seen first', { events: [ref1(), payment(300)], entered: 0 }],
  ['its payment is seen first', { events: [payment(300), ref1(), payment(300)], entered: 0 }],
  ['it fails', { events: [ref1(), payment(300), ref1(since), payment(0)], entered: 300 }],
  ['its payment shows first that it failed', { events: [payment(0), ref1(since), payment(0)], entered: 300 }],
  [
    'it is not alone',
    { events: [payment(300), payment(350), ref2, payment(370), ref3, ref1()], entered: -70 },
  ],
  ['another is named before its sum', { events: [payment(300), ref2, payment(350), ref1()], entered: -50 }],
  ['others are seen first', { events: [ref3, ref2, payment(370), ref1(), payment(370)], entered: -70 }],
])('A refund that the opening shows is no entry, and those since are: %s', ([, { events, entered }]) => {
  expect(enteredBy(events, payment(300))).toBe(entered);
});

test.for<[string, { events: SeenEvent[]; entered: number }]>([
  ['its payment is seen first', { events: [payment(50), ref2, payment(50)], entered: -50 }],
  ['it is seen first', { events: [ref2, payment(50), payment(50)], entered: -50 }],
  ['an older one is named first', { events: [payment(350), ref1(), ref2, payment(350)], entered: -50 }],
  ['an older one is named last', { events: [payment(350), ref2, ref1(), payment(350)], entered: -50 }],
  ['more follow', { events: [payment(50), payment(70), ref3, ref2, payment(70)], entered: -70 }],
])(
  'A refund since the opening is an entry, also of an unknown older payment: %s',
  ([, { events, entered }]) => {
    expect(enteredBy(events, null)).toBe(entered);
  },
);

test.for([
  ['before the opening is no entry', payment(0), 0],
  ['since the opening is an entry', null, -7],
] as const)('A fee that is shown later of a payment %s', ([, opening, entered]) => {
  const [taken] = payment(0).money.moves;
  const shown = (move: Partial<SeenMove>): SeenEvent => ({
    ...payment(0),
    money: { ...payment(0).money, moves: [{ ...taken!, ...move }] },
  });
  const at = opening ? before : since;
  const first = shown({ at, feeCents: null });
  const events = [first, shown({ at, amountCents: 993, feeCents: 7 })];
  expect(enteredBy(events, opening && first)).toBe(opening ? entered : 1_000 + entered);
});
