import { sql as raw } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import { plusMs } from '../../server/src/kernel/clock.ts';
import type { StoredCardPayment } from '../../server/src/money-in/card-payments/model.ts';
import type { Database } from '../../server/src/state/db/database.ts';
import { createRandom, type Random } from '../faults/random.ts';
import { auditBooks, prepareForAudit } from '../sim/laws.ts';
import type { Violation } from '../sim/violation.ts';
import { openWorld, type World } from '../sim/world.ts';
import { describeOnDatabase } from '../support/database.ts';
import { scale } from '../support/scale.ts';

const TIMES = scale('EXPIRIES');
const AT_ONCE = 8;
const SECOND = 1_000;
const DAY = 86_400 * SECOND;
/** The time of the approval, relative to the payment's expiry. */
const EDGES_MS = [-1, 0, 1, 3 * DAY];
/** The fate of the charge, and of the acquirer's answer. */
const ANSWERS = ['in time', 'late', 'lost', 'not arrived'] as const;
/** The payment's own instants, in order. */
const KINDS = /^card_payment\.(pending|expired|paid)$/;

/** Draws one way in which a payer's last moment meets the payment's expiry. */
function drawMeeting(random: Random) {
  const card = random.pick(['approved', 'approved', 'in 5 seconds', 'in 5 seconds', 'declined'] as const);
  const answer = random.pick(ANSWERS);
  return { card, answer, edgeMs: random.pick(EDGES_MS), looks: random.below(3) };
}

const NUMBERS = { approved: '1', declined: '3', 'in 5 seconds': '5' };

describeOnDatabase('a payment that is paid on the edge of its window', (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
    await prepareForAudit(database);
  });

  test(`A payment on the edge of its window is recorded once, as decided, in ${TIMES} random histories`, {
    timeout: 60_000 + TIMES * 1_000,
  }, async () => {
    const seeds = Array.from({ length: TIMES }, (_, n) => TIMES - n);
    const accountIds: string[] = [];
    const seen = new Set<string>();
    const failures: unknown[] = [];
    const meetAll = async () => {
      for (let seed = seeds.pop(); seed !== undefined && failures.length === 0; seed = seeds.pop()) {
        const { world, outcome } = await meet(seed);
        accountIds.push(world.live.accountId);
        seen.add(outcome);
      }
    };
    // All runs end before the first failure is reported: they share one database.
    await Promise.all(
      Array.from({ length: AT_ONCE }, () => meetAll().catch((failure) => void failures.push(failure))),
    );
    if (failures.length > 0) throw failures[0];
    expect(await auditBooks(database, accountIds, { atTheEnd: false })).toEqual([]);
    expect([...seen].sort()).toEqual(['expired', 'paid', 'paid, expired before', 'paid, late']);
  });

  async function meet(seed: number): Promise<{ world: World; outcome: string }> {
    const random = createRandom(seed);
    const { card, answer, edgeMs, looks } = drawMeeting(random);
    const broken: Violation[] = [];
    let faults = 1;
    const strikes = (name: string) => {
      const [struck] = {
        'in time': [''],
        late: ['late'],
        lost: ['answer lost'],
        'not arrived': ['says nothing'],
      }[answer];
      if (name !== `acquirer: ${struck}` || faults === 0) return false;
      faults -= 1;
      return true;
    };
    const world = await openWorld({
      database,
      random,
      strikes,
      count: () => undefined,
      broken: (violation) => void broken.push(violation),
    });
    const { clock, gate, live } = world;
    const { cardPayments } = world.slices;
    const finished = async <Result>(asked: Promise<Result>) => {
      await gate.run();
      return asked;
    };
    const { payment } = await finished(cardPayments.create(live, { valueCents: 12_345 }));
    const { orderCode, expiresAt } = payment;
    const details = { holder: 'ANA', expiryMonth: 12, expiryYear: 2030, securityCode: '123' };
    const pay = () => cardPayments.pay(orderCode, { number: NUMBERS[card], ...details });

    // The payment starts inside the window, so that a charge that is decided five seconds later is decided at its
    // edge.
    const leadMs = card === 'in 5 seconds' ? 5 * SECOND : 0;
    const begunAt = plusMs(expiresAt, Math.min(edgeMs - leadMs, -1));
    clock.moveTo(begunAt);
    const paying = pay();
    await gate.run();
    clock.moveTo(plusMs(expiresAt, edgeMs));
    // At one time: all due tasks on two instances, the late answer, and another try of the payer.
    const again: Promise<{ kind: string }>[] = [];
    const meanwhile = [
      ...Array.from({ length: looks }, () => () => void world.work()),
      () => gate.release(true),
      () => void again.push(pay()),
    ];
    while (meanwhile.length > 0) {
      meanwhile.splice(random.below(meanwhile.length), 1)[0]!();
      await gate.run(random.below(4));
    }
    await gate.run();
    await paying;
    for (const laterMs of [11 * SECOND, 60 * SECOND, 3_600 * SECOND]) {
      clock.moveTo(plusMs(clock.now(), laterMs));
      await finished(world.work());
    }
    clock.moveTo(plusMs(expiresAt, 60 * SECOND));
    await finished(world.work());
    await gate.run();

    const [final] = await finished(cardPayments.findMany(live, [orderCode]));
    const outcome = await check(world, final!, seed);
    expect({ seed, broken }).toEqual({ seed, broken: [] });
    // At the end of the window and after it no new charge begins.
    if (edgeMs >= 0) for (const { kind } of await Promise.all(again)) expect(['not_payable']).toContain(kind);
    return { world, outcome };
  }

  /**
   * Checks that money came once, that each change was reported once, and that the status is right for that
   * moment.
   */
  async function check({ rails, live }: World, payment: StoredCardPayment, seed: number): Promise<string> {
    const { orderCode, expiresAt, paidAt, paidLate, status, amountCents } = payment;
    const taken = [...rails.charges.values()].filter((charge) => charge.status === 'approved');
    const { rows: events } = await raw<{ kind: string; occurred_at: Date }>`
      select kind, occurred_at from event where account_id = ${live.accountId} and resource = 'card_payment'
      order by version`.execute(database.sql);
    const { rows: posted } = await raw<{ transaction_id: string; amount: number }>`
      select transaction_id, amount from posting where account_id = ${live.accountId} and ledger_account = 'acquirer'
    `.execute(database.sql);
    const reported = events.map(({ kind }) => KINDS.exec(kind)?.[1] ?? kind);
    const expired = events.find(({ kind }) => kind === 'card_payment.expired');
    const facts = { seed, status, paidLate, reported, taken: taken.length, posted };

    if (taken.length === 0) {
      expect(facts).toEqual({
        ...facts,
        status: 'expired',
        paidLate: false,
        reported: ['pending', 'expired'],
        posted: [],
      });
      return 'expired';
    }
    const isLate = paidAt! >= expiresAt;
    expect(facts).toEqual({
      ...facts,
      status: 'paid',
      paidLate: isLate,
      reported: expired ? ['pending', 'expired', 'paid'] : ['pending', 'paid'],
      taken: 1,
      posted: [{ transaction_id: `card_payment.paid:${orderCode}`, amount: -amountCents }],
    });
    if (expired) {
      expect([seed, expired.occurred_at >= expiresAt]).toEqual([seed, true]);
      expect([seed, paidAt! >= expired.occurred_at]).toEqual([seed, true]);
      return 'paid, expired before';
    }
    return isLate ? 'paid, late' : 'paid';
  }
});
