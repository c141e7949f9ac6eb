import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { PAYOUT_METHODS } from '../../../server/src/kernel/payout-methods/registry.ts';
import type { UpstreamSource } from '../../../server/src/kernel/upstream-source.ts';
import { areDifferent, canBeSame } from '../../../server/src/money-out/payouts/destinations.ts';
import {
  isFinal,
  isSettled,
  maskDestination,
  NO_DESTINATION,
  PAYOUT_STATUSES,
  type Payout,
  payoutFromJson,
} from '../../../server/src/money-out/payouts/model.ts';
import {
  mergeUpstreamPayout,
  type UpstreamPayout,
} from '../../../server/src/money-out/payouts/upstream-payout.ts';
import { readPayout, readPayoutEvent, readPayoutList } from '../../../server/src/money-out/payouts/wire.ts';
import { UPSTREAM_PAYOUT } from './examples.ts';

const ID = UPSTREAM_PAYOUT.withdrawalId;
const LTC = 'ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9';

/** The service's answer, at the instant of the mirror's state. */
const SAME: UpstreamSource = { by: 'service', at: new Date(1), knownAt: new Date(1) };

/** The states that are published while these answers are merged one after the other. */
function knownAfter(...claims: Partial<UpstreamPayout>[]): Payout[] {
  let known: Payout | null = null;
  return claims.flatMap((claim) => {
    const merged = mergeUpstreamPayout(known, { ...UPSTREAM_PAYOUT, ...claim }, SAME);
    known = merged ?? known;
    return merged ?? [];
  });
}

const statuses = (...claims: Partial<UpstreamPayout>[]) => knownAfter(...claims).map(({ status }) => status);

describe('what is known of a payout', () => {
  test.each([
    [['pending', 'processing', 'completed']],
    [['pending', 'completed']],
    [['pending', 'unknown', 'processing', 'denied']],
    [['unknown', 'completed']],
    [['unknown', 'denied']],
    [['processing', 'denied']],
    [['processing', 'unknown', 'completed']],
  ] as const)('the status of a payout goes through %j', (steps) => {
    expect(statuses(...steps.map((status) => ({ status })))).toEqual(steps);
  });

  test.each([
    [['processing', 'pending'], ['processing']],
    [['completed', 'pending', 'processing', 'denied', 'unknown'], ['completed']],
    [['denied', 'completed'], ['denied']],
    [['unknown', 'pending'], ['unknown']],
    [['pending', 'pending'], ['pending']],
    [['processing', 'processing', 'pending', 'processing'], ['processing']],
    [['unknown', 'unknown', 'pending'], ['unknown']],
    [['denied', 'unknown', 'pending'], ['denied']],
    [[null, 'pending'], ['unknown']],
    [['processing', null], ['processing']],
    [
      ['pending', 'unknown', 'pending'],
      ['pending', 'unknown'],
    ],
  ] as const)('the statuses %j in this order are published as %j', (described, published) => {
    expect(statuses(...described.map((status) => ({ status })))).toEqual(published);
  });

  test('a status that the document does not have for the method becomes unknown', () => {
    expect(statuses({ method: 'pix', status: 'processing' })).toEqual(['unknown']);
  });

  test('a member that is known once is kept', () => {
    const [first, second, third] = knownAfter(
      { code: null, destination: null, feeCents: null, method: null, requestedAt: null },
      { feeCents: 100 },
      { status: 'completed', code: null, processedAt: new Date(5), destination: null, requestedAt: null },
    );
    expect(first).toMatchObject({
      code: null,
      destination: NO_DESTINATION,
      feeCents: null,
      method: 'unknown',
      version: 1,
    });
    expect(second).toMatchObject({ code: 'SAQ-1', feeCents: 100, method: 'pix_turbo', version: 1 });
    expect(second!.destination).toBe('a***@padaria.example');
    expect(third).toEqual({ ...second, status: 'completed', processedAt: new Date(5), version: 2 });
  });

  test('a PIX key is kept masked, and an address whole', () => {
    expect(knownAfter({ destination: 'ana@padaria.example' })[0]!.destination).toBe('a***@padaria.example');
    const whole = knownAfter(
      { method: 'ltc', destination: 'ltc1qw…n4n9' },
      { destination: LTC },
      { destination: 'ltc1qw…n4n9' },
    );
    expect(whole.map(({ destination }) => destination)).toEqual(['ltc1qw…n4n9', LTC]);
    expect(knownAfter({ method: null, destination: '+5511987654321' })[0]!.destination).toBe('****4321');
  });

  test('the details of an end are taken only together with that end', () => {
    const ends = { processedAt: new Date(5), deniedReason: 'Conta encerrada' };
    const at = (status: 'pending' | 'processing' | 'completed' | 'denied' | 'unknown') =>
      knownAfter({ status, ...ends })[0]!;
    for (const status of ['pending', 'processing', 'unknown'] as const)
      expect(at(status)).toMatchObject({ processedAt: null, deniedReason: null });
    expect(at('completed')).toMatchObject({ processedAt: new Date(5), deniedReason: null });
    expect(at('denied')).toMatchObject(ends);
    expect(
      knownAfter(
        { status: 'denied', ...ends },
        { status: 'denied', processedAt: new Date(6), deniedReason: 'other' },
      ),
    ).toHaveLength(1);
  });

  test('a member that only the first description has is kept', () => {
    const known = {
      ...knownAfter({})[0]!,
      litoshi: 5,
      endToEndId: 'E1',
      deniedReason: 'Conta encerrada',
    };
    expect(mergeUpstreamPayout(known, { ...UPSTREAM_PAYOUT, status: 'completed' }, SAME)).toMatchObject({
      litoshi: 5,
      endToEndId: 'E1',
      deniedReason: 'Conta encerrada',
    });
    expect(knownAfter({})[0]).toMatchObject({ litoshi: null, endToEndId: null });
  });

  test('the LTC amount is that of a payout by LTC, and stays as it was first named', () => {
    const [pix] = knownAfter({ litoshi: 42 });
    expect(pix?.litoshi).toBeNull();
    const byLtc = { method: 'ltc' as const };
    const ltc = knownAfter(byLtc, { ...byLtc, litoshi: 42 }, { ...byLtc, litoshi: 43 });
    expect(ltc.map(({ version, litoshi }) => [version, litoshi])).toEqual([
      [1, null],
      [1, 42],
    ]);
  });

  test('the bank’s identifier is taken with a completed payout alone', () => {
    const claim = { endToEndId: 'E1' };
    for (const status of ['pending', 'processing', 'denied', 'unknown'] as const)
      expect(knownAfter({ status, ...claim })).toMatchObject([{ endToEndId: null }]);
    const completed = { status: 'completed' as const };
    expect(knownAfter({ ...completed, ...claim }, completed)).toMatchObject([claim]);
    // An identifier that arrives later is no change that a subscription would send.
    expect(knownAfter(completed, { ...completed, ...claim })).toMatchObject([
      { version: 1, endToEndId: null },
      { version: 1, ...claim },
    ]);
    // A completed payout that the service takes back loses its identifier.
    const [known] = knownAfter({ ...completed, ...claim });
    const later: UpstreamSource = { ...SAME, at: new Date(2) };
    expect(mergeUpstreamPayout(known!, { ...UPSTREAM_PAYOUT, status: 'denied' }, later)).toMatchObject({
      status: 'denied',
      endToEndId: null,
    });
  });

  test('the instant of the request comes from the first description that has one', () => {
    const [none, first, ...more] = knownAfter(
      { requestedAt: null },
      { requestedAt: new Date(1) },
      { requestedAt: new Date(2) },
    );
    expect([none?.requestedAt, first?.requestedAt, more.length]).toEqual([null, new Date(1), 0]);
  });

  test('a payout read back from JSON is unchanged', () => {
    for (const payout of knownAfter({ requestedAt: null }, { status: 'completed', processedAt: new Date(5) }))
      expect(payoutFromJson(JSON.parse(JSON.stringify(payout)))).toEqual(payout);
  });

  test('a description without an amount makes no payout', () => {
    expect(mergeUpstreamPayout(null, { ...UPSTREAM_PAYOUT, amountCents: null }, SAME)).toBeNull();
  });

  test('a payout in processing that turns out not to be turbo becomes unknown', () => {
    const processing = knownAfter({ status: 'processing', method: 'unknown' }, { method: 'pix' });
    expect(processing.map(({ status, method }) => [status, method])).toEqual([
      ['processing', 'unknown'],
      ['unknown', 'pix'],
    ]);
  });

  test('a payout has a version for each new status, and none for members that become known later', () => {
    const known = mergeUpstreamPayout(null, { ...UPSTREAM_PAYOUT, status: 'pending', feeCents: null }, SAME)!;
    const detailed = mergeUpstreamPayout(
      known,
      { ...UPSTREAM_PAYOUT, status: 'pending', feeCents: 100 },
      SAME,
    )!;
    expect(detailed).toMatchObject({ version: 1, feeCents: 100 });
    expect(mergeUpstreamPayout(detailed, { ...UPSTREAM_PAYOUT, status: 'completed' }, SAME)).toMatchObject({
      version: 2,
    });
  });

  test('a status never goes back, whatever is described in whatever order', () => {
    const claim = fc.record({
      status: fc.constantFrom(...PAYOUT_STATUSES, 'unknown' as const, null),
      method: fc.constantFrom(...PAYOUT_METHODS, 'unknown' as const, null),
      code: fc.constantFrom('SAQ-1', null),
      feeCents: fc.constantFrom(100, null),
      destination: fc.constantFrom('a***@padaria.example', LTC, null),
      processedAt: fc.constantFrom(new Date(1), null),
    });
    fc.assert(
      fc.property(fc.array(claim, { minLength: 1, maxLength: 12 }), (claims) => {
        const published = knownAfter(...claims);
        published.forEach((next, index) => {
          const before = published[index - 1];
          if (!before) return;
          expect(next.version).toBe(before.version + (next.status === before.status ? 0 : 1));
          if (isFinal(before.status)) expect(next.status).toBe(before.status);
          if (next.status === 'pending') expect(before.status).toBe('pending');
          if (next.status === 'processing') expect(['pix_turbo', 'unknown']).toContain(next.method);
          for (const field of ['method', 'code', 'destination', 'processedAt'] as const)
            if (![null, 'unknown', ID, NO_DESTINATION].includes(before[field] as never))
              expect(next[field]).toEqual(before[field]);
        });
        // A repeated answer publishes nothing.
        expect(knownAfter(...claims, claims.at(-1)!)).toHaveLength(published.length);
      }),
    );
  });
});

describe('what the service and its webhooks say of an end', () => {
  const at = (seconds: number) => new Date(Date.UTC(2026, 2, 2, 12, 0, seconds));
  type Step = [by: UpstreamSource['by'], seconds: number, status: UpstreamPayout['status']];

  /** The payout after these steps, merged one after the other. */
  function afterSteps(...steps: Step[]): Payout {
    let known: Payout | null = null;
    let knownAt: Date | null = null;
    for (const [by, seconds, status] of steps) {
      const merged: Payout | null = mergeUpstreamPayout(
        known,
        { ...UPSTREAM_PAYOUT, status, deniedReason: status === 'denied' ? 'Conta encerrada' : null },
        { by, at: at(seconds), knownAt },
      );
      known = merged ?? known;
      if (by === 'service' && known?.status === status) knownAt = at(seconds);
    }
    return known!;
  }

  test.each<[Step[], UpstreamPayout['status'], boolean]>([
    // A webhook alone never makes a status final; the service does.
    [[['event', 0, 'completed']], 'completed', false],
    [
      [
        ['event', 0, 'completed'],
        ['service', 1, 'completed'],
      ],
      'completed',
      true,
    ],
    // The service's newer answer corrects its webhook, and its older answer.
    [
      [
        ['event', 0, 'completed'],
        ['service', 1, 'denied'],
      ],
      'denied',
      true,
    ],
    [
      [
        ['service', 0, 'completed'],
        ['service', 1, 'denied'],
      ],
      'denied',
      true,
    ],
    // An older answer does not correct it.
    [
      [
        ['event', 5, 'completed'],
        ['service', 1, 'denied'],
      ],
      'completed',
      false,
    ],
    [
      [
        ['service', 5, 'completed'],
        ['service', 1, 'denied'],
      ],
      'completed',
      true,
    ],
    // A final status of the service holds against webhooks, and against answers that it is still open.
    [
      [
        ['service', 0, 'completed'],
        ['event', 1, 'denied'],
      ],
      'completed',
      true,
    ],
    [
      [
        ['service', 0, 'completed'],
        ['service', 900, 'processing'],
      ],
      'completed',
      true,
    ],
    // At one instant an answer of the service wins over a webhook, and the first of two answers over the second.
    [
      [
        ['event', 0, 'completed'],
        ['service', 0, 'denied'],
      ],
      'denied',
      true,
    ],
    [
      [
        ['service', 0, 'completed'],
        ['service', 0, 'denied'],
      ],
      'completed',
      true,
    ],
    // A webhook counts for two minutes while the service still returns an older status.
    [
      [
        ['event', 0, 'completed'],
        ['service', 119, 'processing'],
      ],
      'completed',
      false,
    ],
    [
      [
        ['event', 0, 'completed'],
        ['service', 120, 'processing'],
      ],
      'processing',
      false,
    ],
    [
      [
        ['event', 0, 'completed'],
        ['event', 1, 'denied'],
      ],
      'completed',
      false,
    ],
  ])('the descriptions %j lead to %s, final: %s', (steps, status, final) => {
    const known = afterSteps(...steps);
    expect([known.status, isSettled(known)]).toEqual([status, final]);
    expect(known.deniedReason).toBe(status === 'denied' ? 'Conta encerrada' : null);
  });

  test('an end is published when it is confirmed, and when it is corrected', () => {
    const claimed = afterSteps(['event', 0, 'completed']);
    expect(claimed.version).toBe(1);
    expect(afterSteps(['event', 0, 'completed'], ['service', 1, 'completed']).version).toBe(2);
    expect(afterSteps(['event', 0, 'completed'], ['service', 1, 'denied']).version).toBe(2);
    expect(payoutFromJson(JSON.parse(JSON.stringify(claimed)))).toEqual(claimed);
  });
});

describe('a destination', () => {
  test.each([
    '***.456.789-**',
    '****4321',
    'a***@padaria.example',
    '**.345.678/0001-**',
    '+55 •••• 21',
    NO_DESTINATION,
  ])('a masked destination stays as it is: %s', (destination) => {
    expect(maskDestination({ method: 'pix', destination }, { masksPublic: true })).toBe(destination);
  });

  test('two destinations that are masked in different ways can be the same', () => {
    const pix = (destination: string) => ({ method: 'pix' as const, destination });
    const ltc = (destination: string) => ({ method: 'ltc' as const, destination });
    expect(canBeSame(pix('***.456.789-**'), pix('***456789**'))).toBe(true);
    expect(canBeSame(pix('***.456.789-**'), pix('***.456.780-**'))).toBe(false);
    expect(canBeSame(pix('an***@padaria.example'), pix('a***@padaria.example'))).toBe(true);
    expect(canBeSame(pix('a***@padaria.example'), pix('b***@padaria.example'))).toBe(false);
    expect(canBeSame(pix(NO_DESTINATION), pix('a***@padaria.example'))).toBe(true);
    expect(canBeSame(ltc(LTC), ltc('ltc1qw…n4n9'))).toBe(true);
    expect(canBeSame(ltc(LTC), ltc('ltc1q***kgmn4n9'))).toBe(true);
    expect(canBeSame(ltc(LTC), ltc('ltc1q***kgmn4n8'))).toBe(false);
    // The whole domain is compared, not only its last part.
    expect(canBeSame(pix('a***@padaria.example'), pix('ana@outra.example'))).toBe(false);
    expect(canBeSame(pix('an***@padaria.example'), pix('ana@padaria.example'))).toBe(true);
    expect(canBeSame(pix('an***@padaria.example'), pix('ana@outra.example'))).toBe(false);
    expect(canBeSame(pix('an**@pad**ria.example'), pix('ana@padaria.example'))).toBe(true);
    expect(canBeSame(pix('+55...4321'), pix('+5511987654321'))).toBe(true);
    expect(canBeSame(pix('+55.***.4321'), pix('+5511987654321'))).toBe(true);
    // A mask that shows less than four characters excludes nothing.
    expect(canBeSame(ltc(LTC), ltc('ltc***'))).toBe(false);
    expect(canBeSame(ltc(LTC), ltc('lt***n9'))).toBe(true);
    expect(canBeSame(pix('***456***'), pix('***.456.789-**'))).toBe(false);
    expect(canBeSame(pix('**4567**'), pix('***.456.789-**'))).toBe(true);
    expect(canBeSame(pix('ana@padaria.example'), pix('bia@padaria.example'))).toBe(false);
  });

  const OTHER_LTC = 'LM2WMpR1Rp6j3Sa59cMXMs1SPzj9eXpGc1';
  test.each([
    // These pairs are certainly different.
    ['ana@padaria.example', 'bia@padaria.example', true],
    ['+5511987654321', '+5511987654322', true],
    ['a***@padaria.example', 'b***@padaria.example', true],
    ['an***@padaria.example', 'b***@padaria.example', true],
    ['an***@padaria.example', 'bia@padaria.example', true],
    ['a***@padaria.example', 'ana@outra.example', true],
    ['****4321', '****4322', true],
    ['****4321', '+5511987654322', true],
    ['***.456.789-**', '***.456.780-**', true],
    // These pairs may be the same: another mask is used.
    ['a***@padaria.example', 'ana@padaria.example', false],
    ['an***@padaria.example', 'a***@padaria.example', false],
    ['****4321', '***.456.789-**', false],
    ['+55 (11) ****-21', '+5511987654321', true],
    ['**21', '+5511987654321', false],
    ['+5***', '+5511987654321', false],
    ['a***@outra', 'an***@padaria.example', false],
    ['a***@padaria.example', '****4321', false],
    ['****4321', '****987', false],
    ['**na@padaria.example', 'b***@outra.example', false],
    ['(11) *****-1234', 'b***@padaria.example', false],
    [NO_DESTINATION, 'ana@padaria.example', false],
    ['ana@padaria.example', NO_DESTINATION, false],
  ])('%s and %s are certainly different destinations: %s', (one, other, certain) => {
    const pix = (destination: string) => ({ method: 'pix' as const, destination });
    expect(areDifferent(pix(one), pix(other))).toBe(certain);
    expect(areDifferent(pix(other), pix(one))).toBe(certain);
  });

  test('two addresses are certainly different only where both are whole', () => {
    const ltc = (destination: string) => ({ method: 'ltc' as const, destination });
    expect(areDifferent(ltc(LTC), ltc(OTHER_LTC))).toBe(true);
    expect(areDifferent(ltc(LTC), ltc(LTC))).toBe(false);
    expect(areDifferent(ltc(LTC), ltc('ltc1qw…n4n9'))).toBe(false);
  });
});

describe('a withdrawal that a service reports', () => {
  const OURS = {
    id: ID,
    withdrawalId: ID,
    code: 'SAQ-1',
    amount: 100,
    method: 'pix_turbo',
    walletAddress: 'a***@padaria.example',
    status: 'pendente',
    requestedAt: '2026-03-02T12:00:00.000Z',
    processedAt: null,
    returnedAt: null,
  };
  const OTHERS = {
    _id: ID,
    protocolo: 'SAQ-1',
    amount: 100,
    metodo: 'pix_turbo',
    chave: 'a***@padaria.example',
    situacao: 'pendente',
    criadoEm: '2026-03-02T12:00:00.000Z',
    atualizadoEm: '2026-03-02T12:30:00.000Z',
    loja: { nome: 'Padaria' },
  };

  test('a withdrawal is read by the document’s names, and by the shape of values with other names', () => {
    expect(readPayout(OURS)).toEqual(UPSTREAM_PAYOUT);
    expect(readPayout(OTHERS)).toEqual(UPSTREAM_PAYOUT);
    expect(readPayout({ ok: true, saque: OTHERS })).toEqual(UPSTREAM_PAYOUT);
  });

  test('the bank’s identifier and the LTC amount of a withdrawal are read where they are named', () => {
    const endToEndId = `E12345678202603021200${'Ab1'.repeat(4).slice(1)}`;
    expect(readPayout({ ...OURS, endToEndId, amountLtc: '0.24480680' })).toEqual({
      ...UPSTREAM_PAYOUT,
      endToEndId,
      litoshi: 24_480_680,
    });
    expect(readPayout({ ...OTHERS, e2e: endToEndId })).toEqual({ ...UPSTREAM_PAYOUT, endToEndId });
    // The merchant's own number may have the same form.
    expect(readPayout({ ...OURS, externalId: endToEndId })).toEqual(UPSTREAM_PAYOUT);
    for (const [id, amount] of [
      ['x', '-1'],
      [7, 'x'],
      [null, null],
    ])
      expect(readPayout({ ...OURS, endToEndId: id, amountLtc: amount })).toEqual(UPSTREAM_PAYOUT);
  });

  test('a withdrawal may have unknown words, and may lack any member', () => {
    expect(readPayout({ id: 'w-1', amount: 8.2, status: 'em_analise', method: 'no_method' })).toEqual({
      ...Object.fromEntries(Object.keys(UPSTREAM_PAYOUT).map((name) => [name, null])),
      withdrawalId: 'w-1',
      amountCents: 820,
      status: 'unknown',
      method: 'unknown',
    });
    expect(readPayout({ id: 7, amount: 'x' })).toBeNull();
    expect(readPayout({ ok: true })).toBeNull();
  });

  test('a list of withdrawals is read whatever its array is called', () => {
    expect(readPayoutList({ saques: [OTHERS], total: 1, limit: 50, offset: 0 })).toEqual({
      items: [UPSTREAM_PAYOUT],
      total: 1,
    });
    expect(readPayoutList({ avisos: [], payouts: [OURS, { id: 5 }], total: 2 })).toEqual({
      items: [UPSTREAM_PAYOUT, null],
      total: 2,
    });
    for (const none of [null, [], {}, { payouts: [] }, { total: 3 }, { payouts: [{ a: 1 }], total: 1 }])
      expect(readPayoutList(none)).toBeNull();
  });

  test('a webhook of a withdrawal is read by the names of the document', () => {
    const event = {
      ...OURS,
      id: undefined,
      event: 'withdrawal.test.requested',
      walletAddress: 'ana@padaria.example',
    };
    expect(readPayoutEvent(event)).toEqual({ ...UPSTREAM_PAYOUT, destination: 'ana@padaria.example' });
    expect(readPayoutEvent({ ...event, event: 'withdrawal.completed' })).toMatchObject({ status: null });
    expect(
      readPayoutEvent({
        ...event,
        event: 'withdrawal.completed',
        status: 'concluido',
        requestedAt: undefined,
        processedAt: OURS.requestedAt,
      }),
    ).toMatchObject({ status: 'completed', requestedAt: null, processedAt: UPSTREAM_PAYOUT.requestedAt });
    const processing = { ...event, event: 'withdrawal.test.processing', status: 'processing' };
    expect(readPayoutEvent(processing)).toMatchObject({ status: 'processing', processedAt: null });
    expect(readPayoutEvent({ ...processing, status: 'concluido' })).toMatchObject({ status: null });
    expect(readPayoutEvent({ ...event, event: 'card_payment.paid' })).toBeNull();
    expect(readPayoutEvent({ event: 'withdrawal.requested' })).toBeNull();
  });
});
