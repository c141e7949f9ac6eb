import { expect, onTestFinished, test } from 'vitest';
import { scale } from '../support/scale.ts';
import { seedsFrom, textOfFailure } from './failure.ts';
import { STEPS } from './history.ts';
import { openPrepared } from './prepared.ts';
import { playSeeds } from './seeds.ts';

const SEEDS = scale('SEEDS');

test(`${SEEDS} seeds of ${STEPS} steps break no law`, { timeout: 60_000 + SEEDS * 3_000 }, async () => {
  const database = await openPrepared('PostgreSQL');
  onTestFinished(() => database.close());
  const { counts, failures } = await playSeeds({ database, seeds: seedsFrom(1, SEEDS) });
  expect(failures.map(textOfFailure)).toEqual([]);
  // A server that refuses everything breaks no law either.
  for (const each of [
    ...['createCardPayment: done', 'pay: paid', 'requestPayout: done', 'requestSubaccountPayout: done'],
    ...['transferToSubaccount: done', 'createTestPayment (sandbox): done', 'task: refund.send'],
    'cancelCardPayment: done',
    ...['disputePayment: done', 'submitEvidence: done', 'task: dispute.evidence_due'],
    ...['createPayment: done', 'startPixCheckout: done', 'payPix: twice', 'receive: paid'],
    ...['createCharge: done', 'createCharge: reported again'],
    ...['createSubscription: done', 'task: subscription.end'],
    ...['task: pix.return', 'task: pix.receive', 'task: pix.expire', 'task: pix.register'],
    ...['fault: PIX bank: answer lost', 'fault: PIX bank: late'],
    ...['task: card_payment.expire', 'task: webhook.deliver', 'requestPayout: reported again'],
    ...['requestPayout: refused: INSUFFICIENT_FUNDS', 'requestPayout: refused: IDEMPOTENCY_CONFLICT'],
    ...['fault: transaction: lost at COMMIT, done', 'fault: transaction: lost at COMMIT, not done'],
  ])
    expect([each, (counts.get(each) ?? 0) > 0]).toEqual([each, true]);
});
