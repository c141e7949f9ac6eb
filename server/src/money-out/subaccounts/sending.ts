import { type Clock, plusMs } from '../../kernel/clock.ts';
import { NotFoundError } from '../../kernel/errors.ts';
import { deterministicId } from '../../kernel/ids.ts';
import { hashInput } from '../../kernel/input-hash.ts';
import { type Tenant, tenantKey } from '../../kernel/tenant.ts';
import type { Bank, TransferStatus } from '../../rails/bank.ts';
import {
  type Collection,
  type Committer,
  joined,
  type Reader,
  type State,
} from '../../state/commit/commit.ts';
import { readReplay, remember, replayed } from '../../state/commit/idempotency.ts';
import type { Database } from '../../state/db/database.ts';
import { loadOf } from '../../state/db/each-tenant.ts';
import type { TaskHandler } from '../../state/work/queue.ts';
import type { Task } from '../../state/work/store.ts';
import { payouts, subaccounts, writesOf } from './collections.ts';
import type {
  PayoutRecord,
  RequestPayoutInput,
  StoredSubaccountPayout,
  SubaccountPayoutService,
} from './model.ts';
import { newPayoutKey, newPayoutNames, payoutReference } from './names.ts';
import {
  assertPayoutsAvailable,
  decideOutcome,
  decideRequest,
  decideReturn,
  decideReverse,
  netOf,
  type PayoutTerms,
  type SubaccountPayoutChange,
  type SubaccountPayoutTask,
} from './payout-rules.ts';
import { selectByReference, selectPayouts } from './payout-store.ts';

/**
 * The settings of accounts that payouts of subaccounts read; the slice of accounts provides the collection.
 */
export type AccountCollection = Collection<PayoutTerms & { id: string }>;

const REQUEST = 'requestSubaccountPayout';
/**
 * The time for which a request waits for the bank's first answer; after it the task `send` records the
 * answer.
 */
const ANSWER_WITHIN_MS = 3_000;

/**
 * Sends payouts of subaccounts. The bank is called between two commits, never inside one: the first debits
 * the subaccount and schedules a task, so that no crash loses the payout; the second records the bank's
 * answer. The bank makes only one transfer if a payout is sent twice.
 */
export function createSubaccountSending({
  database,
  committer,
  bank,
  accounts,
  clock,
  onFault,
}: {
  database: Database;
  committer: Committer;
  bank: Bank;
  accounts: AccountCollection;
  clock: Clock;
  /** Reports that the bank did not answer. */
  onFault: (fault: unknown) => void;
}): SubaccountPayoutService<StoredSubaccountPayout> & { tasks: Record<SubaccountPayoutTask, TaskHandler> } {
  /** The calls of the bank under way, by payout id: requests for one payout share a call. */
  const calls = new Map<string, Promise<PayoutRecord>>();

  /** Locks a payout, and takes the next step of its state, if there is one. */
  function advance(
    tenant: Tenant,
    id: string,
    decide: (record: PayoutRecord, state: State) => SubaccountPayoutChange | null,
    {
      read = async () => undefined,
      endsTask = () => null,
    }: {
      read?: (reader: Reader, record: PayoutRecord) => Promise<unknown>;
      /** The task that ends with the step, from the record after it. */
      endsTask?: (record: PayoutRecord) => Task | null;
    } = {},
  ): Promise<PayoutRecord> {
    return committer.change<PayoutRecord>({
      tenant,
      async read(reader) {
        const record = await reader.load(payouts, id);
        if (record) await read(reader, record);
      },
      decide(state) {
        const record = state.need(payouts, id);
        const change = decide(record, state);
        const outcome = change?.record ?? record;
        const task = endsTask(outcome);
        const writes = joined(change ? writesOf(change) : {}, task ? { done: [task] } : {});
        return { outcome, writes };
      },
    });
  }

  /**
   * Records an answer of the bank. If the first answer says that the payout was returned, two steps are
   * recorded: it had arrived before.
   */
  async function recordOutcome(
    tenant: Tenant,
    id: string,
    outcome: TransferStatus,
    task: Task | null = null,
  ): Promise<PayoutRecord> {
    const before = await step(tenant, id, outcome, task);
    return comesBack(before, outcome) ? step(tenant, id, outcome, task) : before;
  }

  function step(
    tenant: Tenant,
    id: string,
    outcome: TransferStatus,
    task: Task | null,
  ): Promise<PayoutRecord> {
    const names = newPayoutNames();
    return advance(
      tenant,
      id,
      (record, state) => {
        const { balances, now } = state;
        if (outcome.status !== 'returned' || record.payout.status !== 'completed')
          return decideOutcome(record, { outcome, names, balances, now });
        const subaccount = state.need(subaccounts, record.payout.subaccountId);
        return decideReturn(record, subaccount, { balances, now });
      },
      {
        async read(reader, { payout }) {
          if (outcome.status === 'returned') await reader.load(subaccounts, payout.subaccountId);
        },
        endsTask: (record) => (comesBack(record, outcome) ? null : task),
      },
    );
  }

  function send(tenant: Tenant, record: PayoutRecord): Promise<TransferStatus> {
    return bank.send({
      id: record.payout.id,
      tenant,
      method: 'pix',
      destination: record.destination,
      amountCents: netOf(record),
      litoshi: null,
    });
  }

  /**
   * Sends a payout and records the bank's first answer; the payout stays as it was if no answer comes in
   * time.
   */
  function sendNow(tenant: Tenant, record: PayoutRecord): Promise<PayoutRecord> {
    const { id } = record.payout;
    const underWay = calls.get(id);
    if (underWay) return underWay;
    const call = (async () => {
      const outcome = await withinTimeout(send(tenant, record));
      if (!outcome) return record;
      // The debit stands even if the outcome is not recorded, and the task finishes the payout.
      return recordOutcome(tenant, id, outcome).catch((fault: unknown) => {
        onFault(fault);
        return record;
      });
    })().finally(() => calls.delete(id));
    calls.set(id, call);
    return call;
  }

  /**
   * Waits for the bank's answer; null if it fails or is late. The transfer may still have been made, so the
   * payout has not failed.
   */
  async function withinTimeout<Value>(answer: Promise<Value>): Promise<Value | null> {
    let cancel: (() => void) | undefined;
    const tooLate = new Promise<null>((resolve) => {
      cancel = clock.schedule(plusMs(clock.now(), ANSWER_WITHIN_MS), () => resolve(null));
    });
    const answered = answer.catch((fault: unknown) => {
      onFault(fault);
      return null;
    });
    return Promise.race([answered, tooLate]).finally(() => cancel?.());
  }

  /** Debits the subaccount for a payout, or finds the payout of a replayed key. @throws as `requestPayout` */
  function debit(
    tenant: Tenant,
    { idempotencyKey, ...input }: RequestPayoutInput,
  ): Promise<{ record: PayoutRecord; replayed: boolean }> {
    const inputHash = hashInput(input);
    const id =
      idempotencyKey == null
        ? newPayoutKey()
        : `sqp_${deterministicId(32, REQUEST, tenantKey(tenant), idempotencyKey, inputHash)}`;
    const payoutId = payoutReference(idempotencyKey);
    return committer.change<{ record: PayoutRecord; replayed: boolean }>({
      tenant,
      read: (reader) =>
        Promise.all([
          reader.load(accounts, tenant.accountId),
          reader.load(subaccounts, input.subaccountId),
          readReplay(reader, REQUEST, idempotencyKey, (made) => reader.load(payouts, made)),
        ]),
      decide(state) {
        const before = idempotencyKey == null ? null : replayed(state, REQUEST, idempotencyKey, inputHash);
        if (before !== null) return { outcome: { record: state.need(payouts, before), replayed: true } };

        const subaccount = state.get(subaccounts, input.subaccountId);
        if (!subaccount) throw new NotFoundError('Subaccount not found');
        const terms = state.need(accounts, tenant.accountId);
        const change = decideRequest(input, { id, payoutId, subaccount, terms, now: state.now });
        const writes = writesOf(change);
        if (idempotencyKey != null)
          writes.records.push(
            remember({ operation: REQUEST, key: idempotencyKey, inputHash, resourceId: id }),
          );
        return { outcome: { record: change.record, replayed: false }, writes };
      },
    });
  }

  return {
    async requestPayout(tenant, input) {
      assertPayoutsAvailable(tenant.environment);
      const { record, replayed } = await debit(tenant, input);
      const { status, code } = record.payout;
      const isNew = status === 'processing' && code === null;
      const { payout, underVerification } = isNew ? await sendNow(tenant, record) : record;
      return { payout, underVerification: underVerification || payout.code === null, replayed };
    },

    async recheck(tenant, reference) {
      const [own] = await loadOf(selectPayouts, database.sql, tenant, [reference]);
      const payout = own?.payout ?? (await selectByReference(database.sql, tenant, reference))?.payout;
      if (!payout) throw new NotFoundError('Payout not found');
      await committer.change({
        tenant,
        read: async () => undefined,
        decide: ({ now }) => ({
          outcome: undefined,
          writes: { tasks: [{ kind: 'subaccount_payout.send', key: payout.id, at: now }] },
        }),
      });
    },

    tasks: {
      'subaccount_payout.send': async (task) => {
        const [record] = await loadOf(selectPayouts, database.sql, task, [task.key]);
        if (!record || record.payout.status === 'failed' || record.payout.reversed) return;
        await recordOutcome(task, task.key, await send(task, record), task);
      },
      'subaccount_payout.reverse': async (task) => {
        await advance(
          task,
          task.key,
          (record, state) =>
            decideReverse(record, state.need(subaccounts, record.payout.subaccountId), state.now),
          {
            read: (reader, { payout }) => reader.load(subaccounts, payout.subaccountId),
            endsTask: () => task,
          },
        );
      },
    },
  };
}

/** Whether the bank says that a payout was returned whose arrival was not recorded before this answer. */
function comesBack({ payout }: PayoutRecord, outcome: TransferStatus): boolean {
  return outcome.status === 'returned' && payout.status === 'completed' && !payout.reversed;
}
