import { describe, expect, test } from 'vitest';
import { plusMs } from '../../server/src/kernel/clock.ts';
import { IdempotencyError } from '../../server/src/kernel/errors.ts';
import type { Behind } from '../../server/src/kernel/records.ts';
import {
  afterFailedLookup,
  afterLookup,
  becomesOverdue,
  type Intent,
  intentKey,
  isOpen,
  isSameAttempt,
  keyOf,
  kindOf,
  markUnknown,
  type NewRequest,
  openIntent,
  outcomeAfterLookup,
  outcomeInMeantime,
  showsAbsence,
  splitIntentKey,
} from '../../server/src/upstream/intents/transitions.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const BEGUN = new Date('2026-03-02T12:00:00.000Z');
const LATER = plusMs(BEGUN, MINUTE);

function intent(of: Partial<Intent> = {}): Intent {
  return {
    id: 'int_1',
    operation: 'move',
    key: 'k',
    inputHash: 'hash',
    state: 'sending',
    resourceId: null,
    summary: { amount: 1 },
    lookups: 0,
    lookedUpAt: null,
    finding: null,
    behindSince: null,
    createdAt: BEGUN,
    ...of,
  };
}

const REQUEST: NewRequest = {
  id: 'int_new',
  operation: 'move',
  key: 'k',
  inputHash: 'hash',
  summary: { amount: 1 },
};

function open(
  before: Intent | null,
  {
    request = {},
    ...options
  }: {
    request?: Partial<NewRequest>;
    denied?: Intent | null;
    safeToRepeat?: boolean;
    recordsAbsence?: boolean;
    behind?: Behind | null;
    pace?: number;
  } = {},
) {
  return openIntent(
    before,
    { ...REQUEST, ...request },
    {
      ...{ denied: null, safeToRepeat: false, recordsAbsence: false, behind: null },
      ...{ now: LATER, pace: 1, ...options },
    },
  );
}

describe('a key', () => {
  test('a new key opens an intent that is sent now and looked up a minute later', () => {
    const opening = open(null);
    expect(opening.intent).toEqual({ ...intent({ id: 'int_new' }), createdAt: LATER });
    expect(opening).toMatchObject({ fresh: true, save: { lookUpAt: plusMs(LATER, MINUTE) } });
    expect(opening.save?.intent).toEqual(opening.intent);
  });

  test('a key that the records may lack is marked, one that was looked for since then is not', () => {
    const behind = { since: plusMs(BEGUN, -MINUTE), until: plusMs(BEGUN, SECOND), cause: 'backup' as const };
    expect(open(null, { behind }).intent.behindSince).toEqual(behind.since);
    const refused = intent({ state: 'refused' });
    expect(open(refused, { behind }).intent.behindSince).toEqual(behind.since);
    const since = { ...refused, createdAt: behind.until };
    expect(open(since, { behind }).intent.behindSince).toBeNull();
    // The intent was refused before it could be looked up.
    expect(open({ ...since, behindSince: behind.since }, { behind }).intent.behindSince).toEqual(
      behind.since,
    );
    expect(open(intent(), { behind })).toMatchObject({ fresh: false, intent: { behindSince: null } });
  });

  test('a pace shortens the time after which an intent is looked up', () => {
    expect(open(null, { pace: 0.01 }).save?.lookUpAt).toEqual(plusMs(LATER, 600));
  });

  test('a refused key is sent again under the same id, with another input too', () => {
    const before = intent({ state: 'refused', lookups: 3, lookedUpAt: BEGUN, finding: 'x' });
    const opening = open(before, { request: { inputHash: 'other', summary: { amount: 2 } } });
    expect(opening.fresh).toBe(true);
    expect(opening.intent).toEqual(intent({ inputHash: 'other', summary: { amount: 2 }, createdAt: LATER }));
  });

  test.each(['sending', 'in_doubt', 'done', 'absent'] as const)(
    'a key with another input is a conflict while its intent is %s',
    (state) => {
      expect(() => open(intent({ state }), { request: { inputHash: 'other' } })).toThrow(IdempotencyError);
    },
  );

  test.each(['sending', 'in_doubt', 'done', 'absent'] as const)(
    'a key with another externalId is a conflict while its intent is %s',
    (state) => {
      const before = intent({ state, summary: { externalId: 'saque 7' } });
      expect(open(before, { request: { kept: { externalId: 'saque 7' } } }).intent.id).toBe(before.id);
      for (const externalId of ['saque 8', null])
        expect(() => open(before, { request: { kept: { externalId } } })).toThrow(IdempotencyError);
      expect(
        open(intent({ state }), { request: { kept: { externalId: null, pixKeyType: null } } }).fresh,
      ).toBe(false);
    },
  );

  test.each(['sending', 'in_doubt', 'done'] as const)(
    'a key whose intent is %s gives that intent, and nothing is written',
    (state) => {
      const before = intent({ state });
      expect(open(before)).toEqual({ intent: before, fresh: false });
    },
  );

  test('an absent intent counts as sent from the moment that its key is used again', () => {
    const before = intent({ state: 'absent' });
    expect(open(before)).toEqual({
      intent: before,
      fresh: false,
      save: { intent: { ...before, state: 'sending' }, lookUpAt: plusMs(LATER, MINUTE) },
    });
  });

  test('an absent intent that its kind records is given as it is, even when it was denied once more', () => {
    const before = intent({ state: 'absent' });
    const existing = { intent: before, fresh: false };
    expect(open(before, { recordsAbsence: true })).toEqual(existing);
    expect(open(before, { recordsAbsence: true, denied: before })).toEqual(existing);
  });

  test('an intent that was absent and is denied once more is sent again', () => {
    const denied = intent({ state: 'absent' });
    for (const state of ['absent', 'sending'] as const)
      expect(open(intent({ state }), { denied })).toMatchObject({
        fresh: true,
        intent: { id: 'int_1', state: 'sending', createdAt: LATER },
      });
  });

  test('an intent that another caller has opened again since it was denied is not sent a second time', () => {
    const before = intent({ createdAt: plusMs(BEGUN, SECOND) });
    expect(open(before, { denied: intent({ state: 'absent' }) })).toEqual({ intent: before, fresh: false });
  });

  test('an intent in doubt is sent again only where that is safe and a lookup has not found it', () => {
    const before = intent({ state: 'in_doubt' });
    expect(open(before, { denied: before }).fresh).toBe(false);
    expect(open(before, { safeToRepeat: true }).fresh).toBe(false);
    expect(open(before, { safeToRepeat: true, denied: before }).fresh).toBe(true);
  });

  test('an intent that is done is never sent again, whatever its caller believes of it', () => {
    const before = intent({ state: 'done', resourceId: 'made' });
    for (const denied of [intent({ state: 'absent' }), intent({ state: 'in_doubt' })])
      expect(open(before, { safeToRepeat: true, denied })).toEqual({ intent: before, fresh: false });
  });
});

describe('an unknown outcome', () => {
  test('an intent that is marked unknown is looked up a second later', () => {
    expect(markUnknown(intent(), LATER, 1)).toEqual({
      intent: intent({ state: 'in_doubt' }),
      lookUpAt: plusMs(LATER, SECOND),
    });
    expect(markUnknown(intent(), LATER, 0.01).lookUpAt).toEqual(plusMs(LATER, 10));
  });

  test('the pauses between lookups grow from a second to an hour', () => {
    // The outcome is no longer absent, so the pause is not shortened to that time.
    const now = plusMs(BEGUN, 60 * MINUTE);
    const pauses = Array.from({ length: 13 }, (_, lookups) => {
      const { lookUpAt } = afterLookup(intent({ lookups }), 'unclear', { at: now, now, pace: 1 });
      return (lookUpAt!.getTime() - now.getTime()) / SECOND;
    });
    expect(pauses).toEqual([1, 2, 4, 8, 15, 30, 60, 120, 300, 900, 3_600, 3_600, 3_600]);
  });

  test.each([
    ['not_there' as const, 'The payments service does not show it'],
    ['unclear' as const, 'The answer of the payments service does not say'],
    [{ unclear: 'SAQ-1 may be it' }, 'SAQ-1 may be it'],
  ])('a lookup with the result %j is counted and recorded in words', (result, finding) => {
    const after = afterLookup(intent(), result, { at: BEGUN, now: LATER, pace: 1 });
    expect(after.intent).toEqual(intent({ state: 'in_doubt', lookups: 1, lookedUpAt: BEGUN, finding }));
  });

  test('a lookup is planned for the time at which the request counts as never begun', () => {
    const absentAt = plusMs(BEGUN, 15 * MINUTE);
    const now = plusMs(absentAt, -MINUTE);
    const after = afterLookup(intent({ lookups: 9 }), 'not_there', { at: now, now, pace: 1 });
    expect(after.lookUpAt).toEqual(absentAt);
  });

  test('a lookup is planned for the time at which a request of its kind is given up', () => {
    const givenUpAfterMs = 30 * MINUTE;
    const givenUpAt = plusMs(BEGUN, givenUpAfterMs);
    const next = (now: Date) =>
      afterLookup(intent({ lookups: 10 }), 'unclear', { at: now, now, pace: 1, givenUpAfterMs }).lookUpAt;
    expect(next(plusMs(BEGUN, 14 * MINUTE))).toEqual(plusMs(BEGUN, 15 * MINUTE));
    expect(next(plusMs(BEGUN, 15 * MINUTE))).toEqual(givenUpAt);
    expect(next(plusMs(givenUpAt, -1))).toEqual(givenUpAt);
    expect(next(givenUpAt)).toEqual(plusMs(givenUpAt, 60 * MINUTE));
  });

  test('a request that is denied a quarter of an hour after it began is absent and no longer looked up', () => {
    const at = plusMs(BEGUN, 15 * MINUTE);
    expect(showsAbsence(intent(), 'not_there', at, 1)).toBe(true);
    const after = afterLookup(intent({ lookups: 9 }), 'not_there', { at, now: at, pace: 1 });
    expect(after.lookUpAt).toBeNull();
    expect(after.intent).toMatchObject({ state: 'absent', lookups: 9, lookedUpAt: at });
  });

  test('a request is not absent where the answer was asked for too early or does not deny it', () => {
    const at = plusMs(BEGUN, 15 * MINUTE);
    expect(showsAbsence(intent(), 'not_there', plusMs(at, -1), 1)).toBe(false);
    expect(showsAbsence(intent(), 'unclear', at, 1)).toBe(false);
    expect(showsAbsence(intent(), { unclear: 'no list' }, at, 1)).toBe(false);
    expect(showsAbsence(intent(), 'not_there', plusMs(BEGUN, 9 * SECOND), 0.01)).toBe(true);
  });

  test('a lookup that the service could not be asked for is not counted', () => {
    expect(afterFailedLookup(intent({ lookups: 2 }), LATER)).toEqual(
      intent({
        state: 'in_doubt',
        lookups: 2,
        lookedUpAt: LATER,
        finding: 'The payments service could not be asked',
      }),
    );
  });

  test('an unknown outcome becomes overdue once, with the first lookup after a quarter of an hour', () => {
    const overdueAt = plusMs(BEGUN, 15 * MINUTE);
    const before = plusMs(overdueAt, -1);
    expect(becomesOverdue(intent(), before, 1)).toBe(false);
    expect(becomesOverdue(intent(), overdueAt, 1)).toBe(true);
    expect(becomesOverdue(intent({ lookedUpAt: before }), overdueAt, 1)).toBe(true);
    expect(becomesOverdue(intent({ lookedUpAt: overdueAt }), plusMs(overdueAt, MINUTE), 1)).toBe(false);
    expect(becomesOverdue(intent(), plusMs(BEGUN, 9 * SECOND), 0.01)).toBe(true);
  });
});

describe('the outcome that a caller is given after a lookup', () => {
  const NEITHER = { safeToRepeat: false, recordsAbsence: false };

  test.each([
    ['done', { resourceId: 'made', replayed: true }],
    ['refused', 'not_done'],
    ['absent', null],
    ['in_doubt', null],
    ['sending', null],
  ] as const)('an intent that is stored as %s gives %j', (state, outcome) => {
    expect(outcomeAfterLookup(intent({ state, resourceId: 'made' }), NEITHER)).toEqual(outcome);
  });

  test('an intent that is no longer stored leaves the outcome unknown', () => {
    expect(outcomeAfterLookup(undefined, NEITHER)).toBeNull();
  });

  test('an absent intent that its kind records is begun with once more', () => {
    expect(outcomeAfterLookup(intent({ state: 'absent' }), { ...NEITHER, recordsAbsence: true })).toBe(
      'changed',
    );
  });

  test('an intent in doubt that is safe to repeat counts as not done', () => {
    const safe = { ...NEITHER, safeToRepeat: true };
    expect(outcomeAfterLookup(intent({ state: 'in_doubt' }), safe)).toBe('not_done');
    expect(outcomeAfterLookup(intent({ state: 'sending' }), safe)).toBeNull();
  });

  test.each([
    ['done', false, { resourceId: 'made', replayed: true }],
    ['refused', false, 'changed'],
    ['absent', false, null],
    ['absent', true, 'changed'],
    ['in_doubt', true, null],
    ['sending', true, null],
  ] as const)(
    'an intent that was %s when it was to be marked unknown, with absence recorded: %s, gives %j',
    (state, recordsAbsence, outcome) => {
      const current = intent({ state, resourceId: 'made' });
      expect(outcomeInMeantime(intent(), current, recordsAbsence)).toEqual(outcome);
    },
  );

  test('an intent that was opened again when it was to be marked unknown has changed', () => {
    const current = intent({ state: 'done', resourceId: 'made', createdAt: LATER });
    expect(outcomeInMeantime(intent(), current, false)).toBe('changed');
    expect(outcomeInMeantime(intent(), null, false)).toBeNull();
  });
});

describe('the names of an intent', () => {
  test('a key of an intent is split into its operation and its idempotency key', () => {
    expect(keyOf(intent())).toBe(intentKey('move', 'k'));
    expect(splitIntentKey(keyOf(intent({ operation: 'move:tok', key: 'a b' })))).toEqual(['move:tok', 'a b']);
  });

  test('a kind is the part of an operation before its colon', () => {
    expect(kindOf(intent({ operation: 'startCheckout:tok_1' }))).toBe('startCheckout');
    expect(kindOf(intent())).toBe('move');
  });

  test('an intent is open while it is being sent or in doubt, and an attempt is its beginning', () => {
    const states = ['sending', 'in_doubt', 'done', 'refused', 'absent'] as const;
    expect(states.filter((state) => isOpen(intent({ state })))).toEqual(['sending', 'in_doubt']);
    expect(isSameAttempt(intent(), intent({ state: 'done' }))).toBe(true);
    expect(isSameAttempt(intent(), intent({ createdAt: LATER }))).toBe(false);
  });
});
