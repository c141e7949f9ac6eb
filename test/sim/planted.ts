import type { PaidContent } from '../../server/src/catalogue/deliveries/decisions.ts';
import { DAY_MS, plusMs } from '../../server/src/kernel/clock.ts';
import type { StoredCharge } from '../../server/src/money-in/charges/model.ts';
import type { StoredCycle } from '../../server/src/money-in/subscriptions/model.ts';
import type { OwnPayout } from '../../server/src/money-out/payouts/model.ts';
import type { Change } from '../../server/src/state/commit/commit.ts';
import type { NewEvent } from '../../server/src/state/events/event.ts';
import type { LedgerTransaction } from '../../server/src/state/ledger/postings.ts';
import type { Tamper } from './world.ts';

/** Faults that a program like this could have, by their effects, each in the writes of a decision. */
export const PLANTED: Readonly<Record<string, Tamper>> = {
  'a posting is left out': (writes) => ({
    ...writes,
    transactions: (writes.transactions ?? []).filter(({ id }) => !id.startsWith('payout.completed:')),
  }),
  'a fee is kept by nobody': (writes) => ({
    ...writes,
    transactions: (writes.transactions ?? []).map((transaction) =>
      transaction.id.startsWith('payout.completed:') ? withoutFee(transaction) : transaction,
    ),
  }),
  'money is given back twice': (writes) => ({
    ...writes,
    transactions: (writes.transactions ?? []).flatMap((transaction) =>
      transaction.id.startsWith('payout.denied:') ? [transaction, onceMore(transaction)] : [transaction],
    ),
  }),
  'an event comes twice': (writes) => ({
    ...writes,
    events: (writes.events ?? []).flatMap((event) =>
      event.kind === 'payout.completed' ? [event, event] : [event],
    ),
  }),
  'a change has no event': (writes) => ({
    ...writes,
    events: (writes.events ?? []).filter(({ kind }) => kind !== 'card_payment.paid'),
  }),
  'a status goes back': (writes) => {
    const back = (writes.records ?? []).map(pendingAgain).find((change) => change !== null);
    if (!back) return writes;
    const event: NewEvent = {
      kind: 'payout.pending',
      resource: 'payout',
      resourceId: back.payout.withdrawalId,
      previousStatus: 'completed',
      snapshot: back.payout,
    };
    return {
      ...writes,
      records: [...(writes.records ?? []), back.change],
      events: [...(writes.events ?? []), event],
    };
  },
  'a key is forgotten': (writes) => ({
    ...writes,
    records: (writes.records ?? []).filter(({ collection }) => collection.name !== 'idempotency'),
  }),
  'what was acknowledged is not written': (writes) =>
    writes.events?.some(({ kind }) => kind === 'card_payment.pending') ? {} : writes,
  'what is to come is forgotten': (writes) => ({
    ...writes,
    tasks: (writes.tasks ?? []).filter(({ kind }) => kind !== 'card_payment.release'),
  }),
  'a credit is forgotten': (writes) => ({
    ...writes,
    records: (writes.records ?? []).filter(({ collection }) => collection.name !== 'pix_credit'),
  }),
  'a credit that is refused is not sent back': (writes) => ({
    ...writes,
    tasks: (writes.tasks ?? []).filter(({ kind }) => kind !== 'pix.return'),
  }),
  'what is disputed can be refunded': (writes) => ({
    ...writes,
    records: (writes.records ?? []).map(undisputed),
  }),
  'an order that PIX has paid stays open': (writes) => ({
    ...writes,
    records: (writes.records ?? []).filter(({ collection }) => collection.name !== 'pix_paid_order'),
  }),
  'the fee of a PIX payment is left with the merchant': (writes) => ({
    ...writes,
    transactions: (writes.transactions ?? []).map((transaction) =>
      transaction.id.startsWith('payment.paid:') ? withoutPixFee(transaction) : transaction,
    ),
  }),
  'a share of a split charge is left with nobody': (writes) => ({
    ...writes,
    transactions: (writes.transactions ?? []).filter(({ id }) => !id.startsWith('charge.split:')),
  }),
  'a refund of a split charge takes nothing of a subaccount': (writes) => ({
    ...writes,
    transactions: (writes.transactions ?? []).filter(
      ({ id, subaccountId }) => subaccountId === null || !id.startsWith('refund.begun:'),
    ),
  }),
  'a cycle of a subscription is paid without its payment': (writes) => ({
    ...writes,
    records: writes.records?.some(({ collection }) => collection.name === 'subscription_cycle')
      ? (writes.records ?? []).filter(({ collection }) => collection.name !== 'payment')
      : (writes.records ?? []),
  }),
  'a cycle is debited twice on one day': (writes) => ({
    ...writes,
    records: (writes.records ?? []).map((change) =>
      change.collection.name === 'subscription_cycle' ? attemptedOnDueDay(change) : change,
    ),
  }),
  'a due day drifts': (writes) => ({
    ...writes,
    records: (writes.records ?? []).map((change) =>
      change.collection.name === 'subscription_cycle' ? dueLater(change) : change,
    ),
  }),
  'an update shows no attempt of a cycle': (writes) => ({
    ...writes,
    events: (writes.events ?? []).map((event) =>
      event.resource === 'subscription' ? withoutAttempts(event) : event,
    ),
  }),
  'a share is a centavo short': (writes) => ({
    ...writes,
    records: (writes.records ?? []).map((change) =>
      change.collection.name === 'charge' ? withShortShares(change) : change,
    ),
  }),
  'a refund of the merchant leaves a debt': (writes) => ({
    ...writes,
    transactions: (writes.transactions ?? []).map((transaction) =>
      transaction.id.startsWith('refund.begun:') ? owed(transaction) : transaction,
    ),
  }),
  'a code is given away, and stays in stock': (writes) => ({
    ...writes,
    records: (writes.records ?? []).filter(
      ({ collection, row }) =>
        collection.name !== 'delivery_code' || !(row as { isDelivered: boolean }).isDelivered,
    ),
  }),
  'content is shown after a refund': (writes) => ({
    ...writes,
    records: (writes.records ?? []).map((change) =>
      change.collection.name === 'delivered_content' ? shownAgain(change) : change,
    ),
  }),
  'litoshi that were confirmed are left out': (writes) => ({
    ...writes,
    transactions: (writes.transactions ?? []).filter(({ id }) => !id.startsWith('ltc.confirmed:')),
  }),
  'an output that has come is forgotten': (writes) => ({
    ...writes,
    records: (writes.records ?? []).filter(({ collection }) => collection.name !== 'ltc_output'),
  }),
  'a reversal does not reach the statement': (writes) =>
    writes.events?.some(({ kind }) => kind === 'subaccount_payout.reversed')
      ? { ...writes, records: (writes.records ?? []).filter(notOfStatement) }
      : writes,
};

/** Hides the disputes of a payment. */
function undisputed(change: Change): Change {
  const row = change.row as { disputedCents?: number };
  return row.disputedCents ? { ...change, row: { ...row, disputedCents: 0 } } : change;
}

const notOfStatement = ({ collection }: Change) => collection.name !== 'statement_entry';

function withoutFee({ lines, ...transaction }: LedgerTransaction): LedgerTransaction {
  const fee = lines.find(({ account }) => account === 'platform_fees')?.amount ?? 0;
  return {
    ...transaction,
    lines: lines
      .filter(({ account }) => account !== 'platform_fees')
      .map((line) => (line.account === 'paid_out' ? { ...line, amount: line.amount + fee } : line)),
  };
}

function withoutPixFee({ lines, ...transaction }: LedgerTransaction): LedgerTransaction {
  const fee = lines.find(({ account }) => account === 'platform_fees')?.amount ?? 0;
  return {
    ...transaction,
    lines: lines
      .filter(({ account }) => account !== 'platform_fees')
      .map((line) => (line.amount > 0 ? { ...line, amount: line.amount + fee } : line)),
  };
}

function onceMore({ id, lines, entry }: LedgerTransaction): LedgerTransaction {
  const amount = Math.max(...lines.map((line) => line.amount));
  return {
    id: `${id}:again`,
    subaccountId: null,
    entry,
    lines: [
      { account: 'received', amount: -amount },
      { account: 'merchant_balance', amount },
    ],
  };
}

function pendingAgain({ collection, key, row }: Change): { change: Change; payout: OwnPayout } | null {
  const before = row as OwnPayout;
  if (collection.name !== 'payout' || before.status !== 'completed') return null;
  const payout: OwnPayout = { ...before, status: 'pending', processedAt: null, version: before.version + 1 };
  return { change: { collection, key, row: payout }, payout };
}

/** Moves every retry of a cycle to its due day. */
function attemptedOnDueDay(change: Change): Change {
  const cycle = change.row as StoredCycle;
  return cycle.status === 'retrying' ? { ...change, row: { ...cycle, nextAttemptAt: cycle.dueAt } } : change;
}

/** Moves the second cycle to the day after its due day. */
function dueLater(change: Change): Change {
  const cycle = change.row as StoredCycle;
  if (cycle.number !== 2 || cycle.status !== 'scheduled') return change;
  const dueAt = plusMs(cycle.dueAt, DAY_MS);
  return { ...change, row: { ...cycle, dueAt, nextAttemptAt: dueAt } };
}

/** The end of a cycle, as if the bank had received no attempt. */
function withoutAttempts(event: Extract<NewEvent, { resource: 'subscription' }>): NewEvent {
  const { changedCycle } = event.snapshot;
  if (changedCycle?.status !== 'paid' && changedCycle?.status !== 'failed') return event;
  return { ...event, snapshot: { ...event.snapshot, changedCycle: { ...changedCycle, attempts: 0 } } };
}

/** A new charge with shares in percent that are a centavo less than they should be. */
function withShortShares(change: Change): Change {
  const charge = change.row as StoredCharge;
  if (charge.version > 1) return change;
  const splits = charge.splits.map((split) =>
    split.percent !== null && split.amountCents > 1
      ? { ...split, amountCents: split.amountCents - 1 }
      : split,
  );
  return { ...change, row: { ...charge, splits } };
}

/** A transaction that takes from the merchant's debt instead of its balance. */
function owed({ lines, ...transaction }: LedgerTransaction): LedgerTransaction {
  return {
    ...transaction,
    lines: lines.map((line) =>
      line.account === 'merchant_balance' ? { ...line, account: 'merchant_receivable' } : line,
    ),
  };
}

/** Content whose revocation is removed. */
function shownAgain(change: Change): Change {
  const content = change.row as PaidContent;
  const items = content.items.map((item) =>
    item.status === 'revoked' && item.deliveredAt ? { ...item, status: 'delivered' as const } : item,
  );
  return { ...change, row: { ...content, items } };
}
