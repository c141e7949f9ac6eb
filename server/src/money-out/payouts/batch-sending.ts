import { plusMs } from '../../kernel/clock.ts';
import { knownBy } from '../../kernel/doubts.ts';
import {
  hasDoneNothing,
  IdempotencyError,
  InsufficientFundsError,
  PaymentError,
  PreconditionError,
  RateLimitError,
  UpstreamError,
  ValidationError,
} from '../../kernel/errors.ts';
import type { Gap } from '../../kernel/records.ts';
import { type Committer, put, type State } from '../../state/commit/commit.ts';
import type { Database } from '../../state/db/database.ts';
import type { Log } from '../../state/db/log.ts';
import type { TaskHandler } from '../../state/work/queue.ts';
import type { Task } from '../../state/work/store.ts';
import {
  type BatchTask,
  type BatchWait,
  decideCancelBatch,
  decideRow,
  nextPlace,
  outcomeOf,
  type PayoutBatch,
  type RowOutcome,
  rowInput,
  rowKey,
  statusOfBatch,
} from './batch.ts';
import { batches, nextRowTask } from './batch-collections.ts';
import { batchTable } from './batch-store.ts';
import { type Payout, type PayoutService, UnclearRefusal } from './model.ts';

/** The waits until a batch looks again whether it can go on. */
const RETRY_MS = {
  INSUFFICIENT_FUNDS: 600_000,
  RECORDS_BEHIND: 60_000,
  RESTORED: 600_000,
  UPSTREAM_UNAVAILABLE: 60_000,
  UPSTREAM_REFUSED: 600_000,
};

/**
 * Requests the rows of batches, one in each run. The payout and the mark of its row are two commits, because in front of another
 * service the payout is a request: a row that is requested again after a crash has the same key, and is paid once.
 */
export function createBatchSending({
  database,
  committer,
  payouts,
  isLiveKey,
  newestGap,
  endsAfterRestore,
  log,
  now,
}: {
  database: Database;
  committer: Committer;
  payouts: () => Pick<PayoutService, 'request' | 'findByKey'>;
  isLiveKey: (keyId: string) => Promise<boolean>;
  newestGap: () => Promise<Gap | null>;
  /** Whether a batch from before a restore ends: in front of another service nothing shows later which of its rows were paid. */
  endsAfterRestore: boolean;
  log: Log;
  now: () => Date;
}): { tasks: Record<BatchTask, TaskHandler> } {
  async function change(task: Task, decide: (batch: PayoutBatch, state: State) => Decided): Promise<void> {
    const ended = await committer.change<PayoutBatch | null>({
      tenant: task,
      read: (reader) => reader.load(batches, task.key),
      decide(state) {
        const before = state.need(batches, task.key);
        const { batch, nextAt } = decide(before, state);
        const isRunning = statusOfBatch(batch) === 'running';
        return {
          outcome: !isRunning && statusOfBatch(before) === 'running' ? batch : null,
          writes: {
            records: [put(batches, batch)],
            tasks: nextAt && isRunning ? [nextRowTask(batch, nextAt)] : [],
            done: [task],
          },
        };
      },
    });
    if (ended) record('payout batch ended', task, ended, { outcome: ended.cancelReason ?? 'finished' });
  }

  /** Writes a line of the audit about what a batch does, with the key that has confirmed it. */
  function record(audit: string, task: Task, { batchId, keyId }: PayoutBatch, details: object): void {
    const { accountId, environment } = task;
    log.info({ audit, keyId, accountId, environment, batchId, ...details }, audit);
  }

  const wait = (task: Task, waiting: BatchWait) =>
    change(task, (batch) => ({
      batch: statusOfBatch(batch) === 'running' ? { ...batch, waiting } : batch,
      nextAt: waiting.until,
    }));

  const waitFor = (code: keyof typeof RETRY_MS): BatchWait => ({
    code,
    until: plusMs(now(), RETRY_MS[code]),
  });

  const end = (task: Task, reason: NonNullable<PayoutBatch['cancelReason']>) =>
    change(task, (batch, state) => ({ batch: decideCancelBatch(batch, reason, state.now), nextAt: null }));

  /** The wait after an error that says nothing of the row, and before which nothing was done; null for any other. */
  function waitAfter(error: unknown): BatchWait | null {
    if (error instanceof RateLimitError)
      return { code: 'RATE_LIMITED', until: plusMs(now(), error.retryAfterSeconds * 1_000) };
    if (error instanceof InsufficientFundsError) return waitFor('INSUFFICIENT_FUNDS');
    if (isBehind(error)) return waitFor('RECORDS_BEHIND');
    if (error instanceof UpstreamError && error.retryable) return waitFor('UPSTREAM_UNAVAILABLE');
    const isRefused = error instanceof PaymentError && hasDoneNothing(error) && !isRefusalOfRow(error);
    return isRefused ? waitFor('UPSTREAM_REFUSED') : null;
  }

  /**
   * The outcome of a row that was requested, or the wait for it: a payout in doubt may never have been sent. A minute after the
   * instant by which that is known, what is in doubt still needs a person.
   */
  function resultOf(payout: Payout): RowOutcome | BatchWait {
    const known = knownBy({ inDoubt: payout.inDoubt, requestedAt: payout.requestedAt });
    const isOpen = known !== null && plusMs(known, RETRY_MS.UPSTREAM_UNAVAILABLE) > now();
    return isOpen ? waitFor('UPSTREAM_UNAVAILABLE') : outcomeOf(payout);
  }

  /** Requests a row. @throws the error, if the outcome is not known */
  async function request(task: Task, batch: PayoutBatch, place: number): Promise<RowOutcome | BatchWait> {
    const { outcome: _, ...row } = batch.rows[place]!;
    try {
      // An erasure may have changed the row.
      const { data, error } = rowInput.safeParse(row);
      if (error) throw new ValidationError(error.issues.map(({ path, message }) => toField(path, message)));
      const { payout } = await payouts().request(task, { ...data, idempotencyKey: rowKey(batch, place) });
      return resultOf(payout);
    } catch (error) {
      const waiting = waitAfter(error);
      if (waiting) return waiting;
      if (!isRefusalOfRow(error)) throw error;
      const [field] = error instanceof ValidationError ? error.fields : [];
      return {
        refused: error.code,
        field: field?.path.replace(/^input\./, '') ?? null,
        message: field?.message ?? error.message,
      };
    }
  }

  return {
    tasks: {
      async 'payout.batch'(task) {
        const [batch] = await batchTable.load(database.sql, task, [task.key]);
        const place = batch ? nextPlace(batch) : -1;
        if (!batch || place < 0) return;
        const mark = async (outcome: RowOutcome) => {
          const shown =
            'refused' in outcome
              ? { outcome: outcome.refused }
              : { outcome: 'done', payoutId: outcome.payoutId };
          record('payout batch row', task, batch, { row: place + 1, ...shown });
          await change(task, (before, state) => ({
            batch: decideRow(before, place, outcome, state.now),
            nextAt: state.now,
          }));
        };
        const isRunning = statusOfBatch(batch) === 'running';
        // Also after the mark of the restore was removed: that may be before this server has run.
        const gap = isRunning ? await newestGap() : null;
        const isOfBefore = gap !== null && (batch.resumedAt ?? batch.createdAt) <= gap.until;
        // A run before may have ended between the payout and its mark; the batch may have been canceled then.
        let made: Payout | null = null;
        try {
          made = await payouts().findByKey(task, rowKey(batch, place));
        } catch (error) {
          // If the records lack requests, a row from after the restore is looked for by its request; one from before is not requested.
          if (!isBehind(error)) {
            const waiting = isRunning ? waitAfter(error) : null;
            if (!waiting) throw error;
            if (!isOfBefore) return wait(task, waiting);
          }
        }
        if (made) {
          const result = isRunning ? resultOf(made) : outcomeOf(made);
          return 'until' in result ? wait(task, result) : mark(result);
        }
        if (!isRunning) return;
        // The batch may have been canceled, and rows of it paid, in what is missing.
        if (isOfBefore) return endsAfterRestore ? end(task, 'restored') : wait(task, waitFor('RESTORED'));
        if (batch.keyId !== null && !(await isLiveKey(batch.keyId))) return end(task, 'key_revoked');
        const outcome = await request(task, batch, place);
        return 'until' in outcome ? wait(task, outcome) : mark(outcome);
      },
    },
  };
}

interface Decided {
  batch: PayoutBatch;
  nextAt: Date | null;
}

const isBehind = (error: unknown) => error instanceof PreconditionError && error.code === 'RECORDS_BEHIND';

/** Whether an error refuses a row for good. Any other refusal is of the whole account, and would use up every row. */
function isRefusalOfRow(error: unknown): error is ValidationError | IdempotencyError | UpstreamError {
  if (error instanceof UnclearRefusal) return false;
  if (error instanceof ValidationError || error instanceof IdempotencyError) return true;
  return error instanceof UpstreamError && error.code === 'BANK_REFUSED';
}

const toField = (path: readonly PropertyKey[], message: string) => ({ path: String(path[0]), message });
