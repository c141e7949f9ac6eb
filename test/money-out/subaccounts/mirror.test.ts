import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { UpstreamSource } from '../../../server/src/kernel/upstream-source.ts';
import {
  guidanceOf,
  isFinal,
  isSettled,
  type SubaccountPayout,
} from '../../../server/src/money-out/subaccounts/model.ts';
import {
  eventOf,
  mergeUpstreamPayout,
  type UpstreamPayout,
} from '../../../server/src/money-out/subaccounts/upstream-payout.ts';

const AT = new Date('2026-03-02T12:00:00.000Z');
const ID = `sqp_${'1'.repeat(32)}`;

const REQUESTED: UpstreamPayout = {
  payoutId: 'saq_idem_k',
  withdrawalId: null,
  code: null,
  subaccountId: `sacc_${'0'.repeat(32)}`,
  status: 'processing',
  reversed: false,
  amountCents: 10_000,
  feeCents: 50,
  platformFeeCents: null,
  netAmountCents: null,
  pixKey: 'b***@cliente.example',
  endToEndId: null,
  recipientName: null,
  recipientBankName: null,
  failureReason: null,
  createdAt: AT,
  completedAt: null,
  reversedAt: null,
  externalId: null,
  destinationKind: 'email',
};
const SENT: UpstreamPayout = {
  ...REQUESTED,
  withdrawalId: 'a'.repeat(24),
  code: 'TURBO-1',
  platformFeeCents: 100,
  netAmountCents: 9_850,
};
const COMPLETED: UpstreamPayout = {
  ...SENT,
  status: 'completed',
  endToEndId: 'E1',
  recipientName: 'Bia',
  recipientBankName: 'Banco',
  completedAt: AT,
};
const FAILED: UpstreamPayout = { ...SENT, status: 'failed', failureReason: 'Chave inválida' };
const REFUSED: UpstreamPayout = { ...REQUESTED, status: 'failed', code: 'SUB-1', failureReason: 'Recusado' };
const REVERSED: UpstreamPayout = { ...FAILED, reversed: true, reversedAt: AT };
const ODD: UpstreamPayout = { ...SENT, status: 'unknown' };
const ALL = [REQUESTED, SENT, COMPLETED, FAILED, REFUSED, REVERSED, ODD];

/** The service's answer, at the instant of the mirror's state. */
const SAME: UpstreamSource = { by: 'service', at: AT, knownAt: AT };

function merged(...seen: UpstreamPayout[]): SubaccountPayout {
  return seen.reduce<SubaccountPayout | null>(
    (known, next) => mergeUpstreamPayout(known, next, ID, SAME) ?? known,
    null,
  )!;
}

describe('merging a subaccount’s payout', () => {
  test('a payout that is seen first is the payout, from its first version on', () => {
    expect(merged(REQUESTED)).toEqual({ id: ID, version: 1, ...REQUESTED });
    expect(merged(REQUESTED, SENT)).toEqual({ id: ID, version: 2, ...SENT });
    expect(merged(REQUESTED, SENT, COMPLETED)).toEqual({ id: ID, version: 3, ...COMPLETED });
    expect(merged(SENT, FAILED, REVERSED)).toEqual({ id: ID, version: 3, ...REVERSED });
  });

  test.each(ALL.map((seen) => [seen.status, seen] as const))(
    'a payout that is seen twice is nothing new: %s',
    (_, seen) => {
      expect(mergeUpstreamPayout(merged(seen), seen, ID, SAME)).toBeNull();
    },
  );

  test('a late answer changes nothing but what was not known', () => {
    expect(merged(COMPLETED, SENT)).toEqual(merged(COMPLETED));
    expect(merged(REVERSED, FAILED)).toEqual(merged(REVERSED));
    expect(merged({ ...COMPLETED, withdrawalId: null }, SENT)).toEqual({ ...merged(COMPLETED), version: 2 });
  });

  test('an answer that contradicts how a payout ended is not believed', () => {
    expect(merged(COMPLETED, FAILED)).toEqual(merged(COMPLETED));
    expect(merged(COMPLETED, REVERSED)).toEqual(merged(COMPLETED));
    expect(merged(FAILED, COMPLETED)).toEqual(merged(FAILED));
  });

  test('a payout that was taken for never made gets its own reason and time, or none', () => {
    const words = { failureReason: 'never arrived', reversed: true, reversedAt: AT };
    const known = { ...merged({ ...FAILED, ...words }), neverMade: true };
    const found = (seen: UpstreamPayout) => mergeUpstreamPayout(known, seen, ID, SAME);
    expect(found({ ...FAILED, failureReason: null })).toMatchObject({ failureReason: null, reversed: false });
    expect(found({ ...FAILED, failureReason: null })!.reversedAt).toBeNull();
    expect(found(FAILED)).toMatchObject({ failureReason: FAILED.failureReason });
  });

  test('a number of our own request stays, and is not given to another request’s payout', () => {
    const numbered = { ...REQUESTED, externalId: 'saque 7' };
    expect(merged(numbered, SENT, COMPLETED)).toMatchObject({ status: 'completed', externalId: 'saque 7' });
    expect(merged(SENT, { ...SENT, externalId: 'saque 7' })).toMatchObject({
      version: 2,
      externalId: 'saque 7',
    });
    const doubt = { ...numbered, inDoubt: true };
    expect(merged(doubt, SENT)).toMatchObject({ externalId: 'saque 7' });
    expect(merged(doubt, { ...SENT, amountCents: 1 })).toMatchObject({ amountCents: 1, externalId: null });
  });

  test('a payout that has not ended is not reversed, and a completed one is where it has come back', () => {
    expect(merged(FAILED, { ...SENT, reversed: true })).toEqual(merged(FAILED));
    expect(merged({ ...SENT, reversed: true, reversedAt: AT })).toMatchObject({
      reversed: false,
      reversedAt: null,
    });
    const back = { ...COMPLETED, reversed: true, reversedAt: AT };
    expect(merged(back)).toMatchObject({ status: 'completed', reversed: true, reversedAt: AT });
    const later = { ...SAME, at: new Date(SAME.at.getTime() + 1), knownAt: SAME.at };
    expect(mergeUpstreamPayout(merged(COMPLETED), back, ID, later)).toMatchObject({
      ...{ status: 'completed', reversed: true, reversedAt: AT, completedAt: COMPLETED.completedAt },
    });
    // An event that contradicts a final status is looked up first.
    expect(mergeUpstreamPayout(merged(COMPLETED), back, ID, { ...later, by: 'event' })).toBeNull();
  });

  test('a payout that was refused after all has its SUB- code in place of the TURBO- one', () => {
    const refused = { code: 'SUB-1', formerCode: 'TURBO-1', withdrawalId: SENT.withdrawalId };
    expect(merged(SENT, REFUSED)).toMatchObject(refused);
    expect(merged(REFUSED, SENT)).toMatchObject(refused);
    expect(merged(SENT, REFUSED, REFUSED, SENT)).toEqual(merged(SENT, REFUSED));
    expect(merged(REQUESTED, REFUSED)).not.toHaveProperty('formerCode');
  });

  test('a payout with an unknown status waits, and can become any', () => {
    expect(guidanceOf(merged(ODD))).toBe('WAIT');
    expect(isFinal(merged(ODD))).toBe(false);
    expect(merged(ODD, COMPLETED).status).toBe('completed');
    expect(merged(SENT, ODD)).toEqual(merged(SENT));
  });

  test.each([
    ['completed', COMPLETED, 'NONE'],
    ['reversed', REVERSED, 'RETRY_WITH_NEW_KEY'],
  ])(
    'a payout that only a webhook says is %s waits until the service itself has said so',
    (_, end, guidance) => {
      const claimed = mergeUpstreamPayout(merged(SENT), end, ID, { by: 'event', at: new Date(AT) })!;
      expect(claimed.status).toBe(end.status);
      expect(guidanceOf(claimed)).toBe('WAIT');
      const confirmed = mergeUpstreamPayout(claimed, end, ID, { by: 'service', at: new Date(AT) })!;
      expect(guidanceOf(confirmed)).toBe(guidance);
    },
  );

  test('a payout is announced by its status, and as reversed once', () => {
    expect(eventOf(merged(SENT))).toBe('processing');
    expect(eventOf(merged(SENT, FAILED))).toBe('failed');
    expect(eventOf(merged(FAILED, REVERSED))).toBe('reversed');
  });

  test('answers in any order never set a payout back, forget nothing, and end it after a few steps', () => {
    const maybe = <Value>(value: Value) => fc.constantFrom(value, null);
    const seen = fc
      .record({
        base: fc.constantFrom(...ALL),
        payoutId: maybe('saq_idem_k'),
        withdrawalId: maybe('a'.repeat(24)),
        code: fc.constantFrom('TURBO-1', 'SUB-1', null),
        pixKey: maybe('b***@cliente.example'),
        endToEndId: maybe('E1'),
        reversed: fc.boolean(),
      })
      .map(({ base, ...rest }): UpstreamPayout => ({ ...base, ...rest }));
    const progress = ({ status, reversed }: SubaccountPayout) =>
      ({ unknown: 0, processing: 1, completed: 2, failed: 2 })[status] + (reversed ? 1 : 0);
    fc.assert(
      fc.property(fc.array(seen, { minLength: 1, maxLength: 20 }), (history) => {
        let known: SubaccountPayout | null = null;
        for (const next of history) {
          const after = mergeUpstreamPayout(known, next, ID, SAME);
          if (!after) continue;
          expect(after.version).toBe((known?.version ?? 0) + 1);
          if (after.reversed) expect(['completed', 'failed']).toContain(after.status);
          if (known) {
            expect(progress(after)).toBeGreaterThanOrEqual(progress(known));
            if (known.status === 'completed' || known.status === 'failed')
              expect(after.status).toBe(known.status);
            for (const name of ['payoutId', 'withdrawalId', 'code', 'pixKey', 'endToEndId'] as const)
              if (known[name] !== null) expect(after[name]).not.toBeNull();
          }
          known = after;
        }
        // The whole history again changes nothing.
        const again = history.filter((next) => {
          const after = mergeUpstreamPayout(known, next, ID, SAME);
          known = after ?? known;
          return after !== null;
        });
        expect(again.length).toBeLessThanOrEqual(history.length > 1 ? 7 : 0);
        for (const next of history) expect(mergeUpstreamPayout(known, next, ID, SAME)).toBeNull();
      }),
    );
  });
});

describe('what the service and its webhooks say of an end', () => {
  const at = (seconds: number) => new Date(AT.getTime() + seconds * 1_000);
  type Step = [by: UpstreamSource['by'], seconds: number, seen: UpstreamPayout];

  function afterSteps(...steps: Step[]): SubaccountPayout {
    let known: SubaccountPayout | null = null;
    let knownAt: Date | null = null;
    for (const [by, seconds, seen] of steps) {
      known = mergeUpstreamPayout(known, seen, ID, { by, at: at(seconds), knownAt }) ?? known;
      if (by === 'service' && known?.status === seen.status) knownAt = at(seconds);
    }
    return known!;
  }

  test.each<[string, Step[], UpstreamPayout, boolean]>([
    ['an event alone', [['event', 0, COMPLETED]], COMPLETED, false],
    [
      'confirmed',
      [
        ['event', 0, COMPLETED],
        ['service', 1, COMPLETED],
      ],
      COMPLETED,
      true,
    ],
    [
      'corrected',
      [
        ['event', 0, COMPLETED],
        ['service', 1, REVERSED],
      ],
      REVERSED,
      true,
    ],
    [
      'corrected by itself',
      [
        ['service', 0, COMPLETED],
        ['service', 1, REVERSED],
      ],
      REVERSED,
      true,
    ],
    [
      'the other way',
      [
        ['event', 0, REVERSED],
        ['service', 1, COMPLETED],
      ],
      COMPLETED,
      true,
    ],
    [
      'the service in the instant of the event',
      [
        ['event', 0, REVERSED],
        ['service', 0, COMPLETED],
      ],
      COMPLETED,
      true,
    ],
    [
      'another answer of the same instant',
      [
        ['service', 0, COMPLETED],
        ['service', 0, REVERSED],
      ],
      COMPLETED,
      true,
    ],
    [
      'an older answer',
      [
        ['service', 2, COMPLETED],
        ['service', 1, REVERSED],
      ],
      COMPLETED,
      true,
    ],
    [
      'an event against the service',
      [
        ['service', 0, COMPLETED],
        ['event', 1, REVERSED],
      ],
      COMPLETED,
      true,
    ],
    [
      'failed in between',
      [
        ['event', 0, COMPLETED],
        ['service', 1, FAILED],
      ],
      FAILED,
      false,
    ],
    [
      'too early to doubt it',
      [
        ['event', 0, COMPLETED],
        ['service', 119, SENT],
      ],
      COMPLETED,
      false,
    ],
    [
      'late enough',
      [
        ['event', 0, COMPLETED],
        ['service', 120, SENT],
      ],
      SENT,
      false,
    ],
    [
      'a late answer of an end',
      [
        ['service', 0, REVERSED],
        ['service', 900, FAILED],
      ],
      REVERSED,
      true,
    ],
  ])('an end is merged as its sources say: %s', (_, steps, expected, final) => {
    const { version: __, id: ___, claimedAt: ____, ...known } = afterSteps(...steps);
    expect([known.status, known.reversed, known.failureReason]).toEqual([
      expected.status,
      expected.reversed,
      expected.failureReason,
    ]);
    expect(isSettled(afterSteps(...steps))).toBe(final);
  });
});
