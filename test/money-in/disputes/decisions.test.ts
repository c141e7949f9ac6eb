import { describe, expect, test } from 'vitest';
import { DAY_MS, plusMs } from '../../../server/src/kernel/clock.ts';
import { PreconditionError, ValidationError } from '../../../server/src/kernel/errors.ts';
import {
  decideClose,
  decideEvidence,
  decideEvidenceDue,
  decideOpen,
  decideRaise,
  nextLookAt,
} from '../../../server/src/money-in/disputes/decisions.ts';
import {
  blockedCents,
  canFollow,
  DISPUTE_STATUSES,
  type DisputeOutcome,
  type DisputeStatus,
  disputeFromJson,
  evidenceInput,
  isDisputeId,
  isFinal,
  type StoredDispute,
} from '../../../server/src/money-in/disputes/model.ts';
import { newMembers } from '../../../server/src/money-in/pix/decisions.ts';
import { decideDisputeBegin, decideDisputeEnd } from '../../../server/src/money-in/pix/disputing.ts';
import type { StoredPixResource } from '../../../server/src/money-in/pix/model.ts';
import { applyToBalances, type Balances, NO_BALANCES } from '../../../server/src/state/ledger/postings.ts';

const NOW = new Date('2026-03-02T12:00:00.000Z');
const LATER = new Date('2026-03-03T12:00:00.000Z');
const DUE = new Date('2026-03-07T12:00:00.000Z');
const balances = (given: Partial<Balances>): Balances => ({ ...NO_BALANCES, ...given });
const OF = { type: 'payment', id: `psa_${'0'.repeat(32)}` } as const;

const opened = (amountCents = 500, given: Partial<Balances> = {}) =>
  decideOpen(
    { disputeId: 'dsp_1', amountCents, reason: 'fraud', resource: OF },
    { balances: balances(given), now: NOW },
  );
const dispute = (members: Partial<StoredDispute> = {}): StoredDispute => ({
  ...opened().dispute,
  ...members,
});

function thrown(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  return undefined;
}

describe('a new dispute', () => {
  test('A dispute blocks its amount, whatever the balance is, and takes evidence for five days', () => {
    const { previous, dispute: made, transaction } = opened(500, { dispute_hold: 100, dispute_claims: -100 });
    expect(previous).toBeNull();
    expect(made).toEqual({
      disputeId: 'dsp_1',
      version: 1,
      status: 'open',
      reason: 'fraud',
      resource: OF,
      amountCents: 500,
      evidence: [],
      files: [],
      evidenceDueAt: DUE,
      createdAt: NOW,
      closedAt: null,
      acceptedAt: null,
    });
    expect(transaction!.id).toBe('dispute.opened:dsp_1');
    const before = balances({ dispute_hold: 100, dispute_claims: -100 });
    expect(applyToBalances(before, transaction!)).toEqual(
      balances({ dispute_hold: 600, dispute_claims: -600 }),
    );
  });

  test.each([0, -1, 0.5, Number.NaN, 10_000_000_001])('The amount %d is refused', (amount) => {
    expect(thrown(() => opened(amount))).toMatchObject({
      constructor: ValidationError,
      fields: [{ path: 'amountCents' }],
    });
  });

  test('A dispute is accepted up to half of what can be counted', () => {
    const half = Math.floor(Number.MAX_SAFE_INTEGER / 2);
    expect(() => opened(5, { dispute_hold: half - 5 })).not.toThrow();
    expect(thrown(() => opened(5, { dispute_hold: half - 4 }))).toMatchObject({
      constructor: PreconditionError,
      code: 'LIMIT_REACHED',
    });
  });
});

describe('a dispute that is raised', () => {
  test.each(['open', 'under_review', 'lost'] as const)(
    'One that is %s holds so much more, under an id of this step',
    (status) => {
      const { previous, dispute: raised, transaction } = decideRaise(dispute({ status, version: 4 }), 30);
      expect(previous).toEqual(dispute({ status, version: 4 }));
      expect(raised).toEqual(dispute({ status, version: 5, amountCents: 530 }));
      expect(transaction!.id).toBe('dispute.raised:dsp_1:5');
      expect(applyToBalances(NO_BALANCES, transaction!)).toEqual(
        balances({ dispute_hold: 30, dispute_claims: -30 }),
      );
    },
  );
});

describe('a claim of a PIX', () => {
  const paid = (members: Partial<StoredPixResource> = {}): StoredPixResource => ({
    ...newMembers({ amountCents: 1_000, feeCents: 0, environment: 'live', createdAt: NOW, expiresAt: LATER }),
    description: null,
    metadata: null,
    language: null,
    version: 3,
    status: 'paid',
    paidAt: NOW,
    endToEndId: 'E1',
    ...members,
  });

  test.each([
    ['of the PIX that has paid', 'E1', true],
    ['of a resource that the bank names', undefined, true],
    ['of another PIX, which goes back by itself', 'E2', false],
  ])('A claim %s is taken: %s, %s', (_, endToEndId, isTaken) => {
    const begun = decideDisputeBegin(paid(), { claimedCents: 400, days: null, endToEndId }, NOW);
    if (!isTaken) return expect(begun).toBeNull();
    expect(begun).toMatchObject({
      amountCents: 400,
      missingCents: 0,
      change: { resource: { disputedCents: 400, version: 4, status: 'paid' }, moves: [], transactions: [] },
    });
  });

  test('A claim of what a refund under way holds changes nothing of the payment as yet', () => {
    const held = paid({ refundingCents: 1_000 });
    expect(decideDisputeBegin(held, { claimedCents: 400, days: null }, NOW)).toEqual({
      amountCents: 0,
      missingCents: 400,
      change: null,
    });
  });

  test('A won one gives its amount back, and moves no money', () => {
    expect(decideDisputeEnd(paid({ disputedCents: 400 }), 300)).toMatchObject({
      resource: { disputedCents: 100, version: 4, status: 'paid' },
      transactions: [],
      moves: [],
      announced: true,
    });
  });
});

describe('evidence', () => {
  test('Evidence takes an open dispute under review, and more is added behind it', () => {
    const first = decideEvidence(dispute(), { text: 'Entregue' }, LATER);
    expect(first).toMatchObject({ transaction: null, dispute: { version: 2, status: 'under_review' } });
    const documents = [
      { url: 'https://loja.example/1.pdf' },
      { url: 'https://loja.example/2.pdf', description: 'Nota' },
    ];
    const second = decideEvidence(first.dispute, { documents }, plusMs(DUE, -1));
    expect(second.dispute).toMatchObject({ version: 3, status: 'under_review', closedAt: null });
    expect(second.dispute.evidence).toEqual([
      { text: 'Entregue', documents: [], fileIds: [], submittedAt: LATER },
      {
        text: null,
        documents: [
          { url: 'https://loja.example/1.pdf', description: null },
          { url: 'https://loja.example/2.pdf', description: 'Nota' },
        ],
        fileIds: [],
        submittedAt: plusMs(DUE, -1),
      },
    ]);
  });

  const one = { text: 'x', documents: [], fileIds: [], submittedAt: NOW };
  const ended = `the time for it ended at ${DUE.toISOString()}`;
  const ten = Array.from({ length: 10 }, () => one);
  test.each<[string, StoredDispute, Date, string]>([
    ['that is won', dispute({ status: 'won' }), LATER, 'it is won'],
    ['that is lost', dispute({ status: 'lost' }), LATER, 'it is lost'],
    ['that is forgiven', dispute({ status: 'forgiven' }), LATER, 'it is forgiven'],
    ['at the end of its time', dispute(), DUE, ended],
    ['under review, behind its time', dispute({ status: 'under_review' }), plusMs(DUE, 1), ended],
    ['with ten submissions', dispute({ evidence: ten }), LATER, 'it has had 10 submissions'],
  ])('No evidence is taken for a dispute %s', (_, given, now, reason) => {
    expect(thrown(() => decideEvidence(given, { text: 'x' }, now))).toMatchObject({
      constructor: PreconditionError,
      code: 'DISPUTE_STATE',
      message: `This dispute takes no more evidence: ${reason}`,
    });
  });

  test('A tenth submission is taken', () => {
    const nine = dispute({ status: 'under_review', evidence: Array.from({ length: 9 }, () => one) });
    expect(decideEvidence(nine, { text: 'x' }, LATER).dispute.evidence).toHaveLength(10);
  });

  test('The end of the time takes an open dispute under review, once, and never early', () => {
    expect(decideEvidenceDue(dispute(), plusMs(DUE, -1))).toBeNull();
    const due = decideEvidenceDue(dispute(), DUE)!;
    expect(due).toMatchObject({ transaction: null, dispute: { status: 'under_review', version: 2 } });
    for (const status of ['under_review', 'won', 'lost', 'forgiven'] as const)
      expect(decideEvidenceDue(dispute({ status }), DUE)).toBeNull();
  });

  test.each<[string, unknown, string | null]>([
    ['a text', { text: 'x' }, null],
    ['the longest text', { text: 'x'.repeat(4_000) }, null],
    ['a document', { documents: [{ url: 'https://a.example/b' }] }, null],
    [
      'ten documents',
      { documents: Array.from({ length: 10 }, () => ({ url: 'https://a.example/b' })) },
      null,
    ],
    ['nothing', {}, 'text'],
    ['nulls', { text: null, documents: null }, 'text'],
    ['no documents', { documents: [] }, 'text'],
    ['an empty text', { text: '' }, 'text'],
    ['spaces', { text: ' \n' }, 'text'],
    ['a text that is too long', { text: 'x'.repeat(4_001) }, 'text'],
    ['U+0000', { text: '\u0000' }, 'text'],
    [
      'eleven documents',
      { documents: Array.from({ length: 11 }, () => ({ url: 'https://a.example/b' })) },
      'documents',
    ],
    ['a script', { documents: [{ url: 'javascript:alert(1)' }] }, 'documents.0.url'],
    ['an open address', { documents: [{ url: 'http://a.example/b' }] }, 'documents.0.url'],
    ['an address of this machine', { documents: [{ url: 'https://127.0.0.1/b' }] }, 'documents.0.url'],
    ['an address with a password', { documents: [{ url: 'https://a:b@c.example' }] }, 'documents.0.url'],
    ['a long address', { documents: [{ url: `https://a.example/${'b'.repeat(483)}` }] }, 'documents.0.url'],
    [
      'a long description',
      { documents: [{ url: 'https://a.example', description: 'x'.repeat(201) }] },
      'documents.0.description',
    ],
  ])('Evidence with %s names its fault', (_, input, path) => {
    const { error } = evidenceInput.safeParse(input);
    expect(error?.issues[0]?.path.join('.') ?? null).toBe(path);
  });
});

describe('decisions of the banks', () => {
  const WAYS: [DisputeStatus, DisputeOutcome, 'frees' | 'holds' | 'refused'][] = [
    ['open', 'won', 'frees'],
    ['open', 'lost', 'holds'],
    ['open', 'forgiven', 'refused'],
    ['under_review', 'won', 'frees'],
    ['under_review', 'lost', 'holds'],
    ['under_review', 'forgiven', 'refused'],
    ['lost', 'won', 'refused'],
    ['lost', 'forgiven', 'frees'],
    ['won', 'lost', 'refused'],
    ['won', 'forgiven', 'refused'],
    ['forgiven', 'won', 'refused'],
    ['forgiven', 'lost', 'refused'],
  ];
  test.each(WAYS)('A dispute that is %s and becomes %s: %s', (status, outcome, expected) => {
    const isDecided = ['lost', 'won', 'forgiven'].includes(status);
    const before = dispute({ status, closedAt: isDecided ? NOW : null });
    const close = () => decideClose(before, outcome, LATER);
    if (expected === 'refused') {
      expect(thrown(close)).toMatchObject({ constructor: ValidationError, fields: [{ path: 'outcome' }] });
      return;
    }
    const closed = close()!;
    // A lost dispute keeps the instant of that decision.
    const closedAt = status === 'lost' ? NOW : LATER;
    expect(closed.dispute).toEqual({ ...before, version: 2, status: outcome, closedAt });
    if (expected === 'holds') expect(closed.transaction).toBeNull();
    else {
      expect(closed.transaction!.id).toBe(`dispute.${outcome}:dsp_1`);
      const held = balances({ dispute_hold: 500, dispute_claims: -500 });
      expect(applyToBalances(held, closed.transaction!)).toEqual(NO_BALANCES);
    }
  });

  test.each(['won', 'lost', 'forgiven'] as const)(
    'Closing a dispute that is %s already changes nothing',
    (status) => {
      expect(decideClose(dispute({ status }), status, LATER)).toBeNull();
    },
  );

  test('A bank that is late is asked again in an hour, one that does not say when never', () => {
    expect(nextLookAt(null, NOW)).toBeNull();
    expect(nextLookAt(LATER, NOW)).toEqual(LATER);
    expect(nextLookAt(NOW, NOW)).toEqual(plusMs(NOW, 3_600_000));
  });
});

describe('states', () => {
  test('What is open, under review or lost is held, what is won or forgiven is final or free', () => {
    expect(
      DISPUTE_STATUSES.map((status) => [status, blockedCents(dispute({ status })), isFinal(status)]),
    ).toEqual([
      ['open', 500, false],
      ['under_review', 500, false],
      ['won', 0, true],
      ['lost', 500, false],
      ['forgiven', 0, true],
    ]);
    const unknown = { ...dispute(), status: 'unknown' } as const;
    expect(blockedCents({ ...unknown, lastStatus: 'open' })).toBe(500);
    expect(blockedCents(unknown)).toBe(500);
    expect(isFinal('unknown')).toBe(false);
  });

  test('A status follows through others that were not seen, and never back', () => {
    expect(canFollow('open', 'forgiven')).toBe(true);
    expect(canFollow('under_review', 'won')).toBe(true);
    expect(canFollow('under_review', 'open')).toBe(false);
    expect(canFollow('won', 'lost')).toBe(false);
  });

  test.each([
    ['dsp_0123456789abcdef01234567', true],
    ['dsp_0123456789abcdef0123456', false],
    ['dsp_0123456789abcdef012345678', false],
    ['dsp_0123456789abcdef0123456g', false],
    ['dsp_0123456789ABCDEF01234567', false],
    ['xdsp_0123456789abcdef01234567', false],
    ['0123456789abcdef01234567', false],
  ])('A dispute may have the id %j: %s', (id, may) => {
    expect(isDisputeId(id)).toBe(may);
  });

  test('A snapshot is read back, also that of a version without evidence', () => {
    const now = decideEvidence(dispute(), { text: 'x' }, LATER).dispute;
    expect(disputeFromJson(JSON.parse(JSON.stringify(now)))).toEqual(now);
    const old = {
      id: 'dsp_1',
      amountCents: 5,
      orderCode: 'PSC-1',
      status: 'won',
      createdAt: NOW,
      closedAt: LATER,
    };
    expect(disputeFromJson(JSON.parse(JSON.stringify(old)))).toEqual({
      disputeId: 'dsp_1',
      version: 1,
      amountCents: 5,
      status: 'won',
      reason: 'unknown',
      evidence: [],
      files: [],
      resource: { type: 'card_payment', id: 'PSC-1' },
      evidenceDueAt: plusMs(NOW, 5 * DAY_MS),
      createdAt: NOW,
      closedAt: LATER,
    });
    expect(disputeFromJson({ ...old, orderCode: null }).resource).toBeNull();
  });
});
