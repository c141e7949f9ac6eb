import type { RefundRail } from '../../rails/refund.ts';
import {
  type Committer,
  joined,
  type Reader,
  type State,
  stateAfter,
  type Writes,
} from '../../state/commit/commit.ts';
import type { Database } from '../../state/db/database.ts';
import type { TaskHandler } from '../../state/work/queue.ts';
import { refunds, sendTask, writesOf } from './collections.ts';
import { decideEnd, decideRepeat, nextLookAt } from './decisions.ts';
import {
  isFinal,
  type RefundControls,
  type RefundedResource,
  type RefundedType,
  type RefundTask,
} from './model.ts';
import type { RefundSources } from './service.ts';
import { refundTable } from './store.ts';

/** The claims on a resource that wait for the end of its refunds. */
export interface RefundFollower {
  /** Loads what `follow` reads, without the resource itself. */
  read(reader: Reader, resource: RefundedResource): Promise<unknown>;
  /** The writes that follow after a refund has ended; `state` is the state after its end. */
  follow(state: State, resource: RefundedResource): { writes: Writes; onCommitted(): void };
}

/** Counts refunds that have ended; a repeated refund counts each time. */
export interface RefundMeter {
  /** `origin`: the merchant's request, or an automatic return. */
  onRefund(refund: {
    of: RefundedType;
    origin: 'merchant' | 'automatic';
    outcome: 'completed' | 'failed';
  }): void;
}

/**
 * Sends refunds. The rail is called between two commits, never inside one: the first has taken the amount and
 * made this task due, the second records the answer. The rail knows a refund by its id, so a retry after a
 * crash refunds nothing twice. If the rail throws, there is no answer: the queue retries, and the refund has
 * not failed.
 */
export function createRefundSending({
  database,
  committer,
  rails,
  sources,
  claims,
  controls,
  meter,
}: {
  database: Database;
  committer: Committer;
  /** The rail that refunds each type of resource. */
  rails: Readonly<Record<RefundedType, RefundRail>>;
  sources: RefundSources;
  claims: RefundFollower;
  controls: RefundControls;
  meter: RefundMeter;
}): { tasks: Record<RefundTask | 'card_payment.refund', TaskHandler> } {
  return {
    tasks: {
      async 'refund.send'(task) {
        const [found] = await refundTable.load(database.sql, task, [task.key]);
        if (!found || isFinal(found.status)) return;
        const { refundId, railChargeId, amountCents, resource, isAutomatic } = found;
        const answer = await rails[resource.type].refund({ id: refundId, railChargeId, amountCents });
        const source = sources[resource.type];
        const { outcome, onCommitted } = await committer.change<{
          outcome: 'completed' | 'failed' | null;
          onCommitted?: () => void;
        }>({
          tenant: task,
          read: (reader) =>
            Promise.all([
              reader.load(refunds, refundId),
              source.read(reader, resource.id),
              claims.read(reader, resource),
            ]),
          decide(state) {
            const refund = state.need(refunds, refundId);
            if (answer.status === 'pending') {
              const lookAt = nextLookAt(answer, state.now);
              return {
                outcome: { outcome: null },
                writes: lookAt ? { tasks: [sendTask(refundId, lookAt)] } : {},
              };
            }
            const ended = decideEnd(refund, answer, state.now);
            if (!ended) return { outcome: { outcome: null } };
            const { status } = answer;
            const { details, writes, mustRepeat } = source.end(state, resource.id, {
              refundId,
              amountCents,
              isAutomatic,
              status,
            });
            const all = joined(writes, writesOf(ended, refund.status, details));
            if (mustRepeat) {
              const next = decideRepeat(ended, state.now);
              return {
                outcome: { outcome: status },
                writes: joined(all, writesOf(next.refund, null, details, next.sendAt)),
              };
            }
            const followed = claims.follow(stateAfter(state, all), resource);
            return {
              outcome: { outcome: status, onCommitted: followed.onCommitted },
              writes: joined(all, followed.writes),
            };
          },
        });
        const origin = isAutomatic ? 'automatic' : 'merchant';
        if (outcome) meter.onRefund({ of: resource.type, origin, outcome });
        onCommitted?.();
      },

      // The version without records of refunds has scheduled this task.
      'card_payment.refund': async (task) => {
        await controls.refund(task, task.key);
      },
    },
  };
}
