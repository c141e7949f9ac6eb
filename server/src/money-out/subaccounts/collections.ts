import {
  type Change,
  type Collection,
  put,
  type Reader,
  type State,
  type Writes,
} from '../../state/commit/commit.ts';
import { subaccountEvent } from './events.ts';
import type { PayoutRecord, StatementEntryKind, StoredStatementEntry, StoredSubaccount } from './model.ts';
import type { SubaccountPayoutChange, SubaccountPayoutTask } from './payout-rules.ts';
import { savePayouts, selectPayouts } from './payout-store.ts';
import { entryTable } from './statement-store.ts';
import { selectByExternalIds, subaccountTable } from './store.ts';
import { type SubaccountMove, withEntry } from './transfers.ts';

// The records of subaccounts and their payouts, as a decision reads and writes them.

/** The subaccounts as a group of commands sees them. They are not saved: a posting updates the balance. */
export const subaccounts: Collection<StoredSubaccount> = {
  ...subaccountTable,
  saveEach: async () => undefined,
};

/** The subaccounts by external id. They are not saved. */
export const externalIds: Collection<StoredSubaccount & { externalId: string }> = {
  name: 'subaccount by external id',
  loadEach: selectByExternalIds,
  keyOf: ({ externalId }) => externalId,
  saveEach: async () => undefined,
};

/** The subaccounts that a command opens. */
export const newSubaccounts: Collection<StoredSubaccount> = {
  ...subaccountTable,
  name: 'new subaccount',
  loadEach: async () => [],
  saveEach: subaccountTable.insertEach,
};

export const statementEntries: Collection<StoredStatementEntry> = {
  ...entryTable,
  saveEach: entryTable.insertEach,
};

export const payouts: Collection<PayoutRecord> = {
  name: 'subaccount_payout',
  loadEach: selectPayouts,
  keyOf: ({ payout }) => payout.id,
  saveEach: savePayouts,
};

/** The subaccounts to which split charges pay. */
export const beneficiaries = {
  read: (reader: Reader, subaccountId: string) => reader.load(subaccounts, subaccountId),
  balanceOf: (state: State, subaccountId: string) =>
    state.get(subaccounts, subaccountId)?.balanceCents ?? null,
  writesOf(
    state: State,
    move: {
      kind: StatementEntryKind;
      subaccountId: string;
      refId: string;
      amountCents: number;
      transaction: SubaccountMove['transaction'];
    },
  ): Writes {
    const subaccount = state.need(subaccounts, move.subaccountId);
    const { transaction } = move;
    return writesOfMove({ ...withEntry(subaccount, { ...move, now: state.now }), transaction });
  },
};

/** The writes of a movement on a subaccount's balance. */
export function writesOfMove({ subaccount, entry, transaction }: SubaccountMove) {
  return {
    records: [put(subaccounts, subaccount), put(statementEntries, entry)],
    transactions: [transaction],
    events: [subaccountEvent(subaccount, entry)],
  };
}

const SEND: SubaccountPayoutTask = 'subaccount_payout.send';

/** The writes of a payout's step: its record, the movement of money, the event and the tasks. */
export function writesOf({
  previous,
  record,
  move,
  transaction,
  due,
  event,
}: SubaccountPayoutChange): Writes & {
  records: Change[];
} {
  const { payout } = record;
  const moved = move ? writesOfMove(move) : { records: [], transactions: [], events: [] };
  return {
    records: [put(payouts, record), ...moved.records],
    transactions: [...moved.transactions, ...(transaction ? [transaction] : [])],
    events: [
      ...moved.events,
      ...(event
        ? [
            {
              kind: `subaccount_payout.${event}` as const,
              resource: 'subaccount_payout' as const,
              resourceId: payout.id,
              previousStatus: previous?.status ?? null,
              snapshot: payout,
            },
          ]
        : []),
    ],
    tasks: due.map(({ kind, at }) => ({ kind, key: payout.id, at })),
    // The task that asks the bank has nothing left to do.
    done:
      previous?.status === 'processing' &&
      payout.status !== 'processing' &&
      due.every(({ kind }) => kind !== SEND)
        ? [{ kind: SEND, key: payout.id }]
        : [],
  };
}
