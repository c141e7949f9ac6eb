import type { Tenant } from '../../kernel/tenant.ts';
import type { Bank, Transfer } from '../../rails/bank.ts';
import { type Committer, joined } from '../../state/commit/commit.ts';
import type { Database } from '../../state/db/database.ts';
import type { TaskHandler } from '../../state/work/queue.ts';
import { payouts, writesOf } from './collections.ts';
import { decideOutcome } from './decisions.ts';
import { netCents, netLitoshi, nextStatuses, type OwnPayout, type PayoutTask } from './model.ts';
import { selectPayouts } from './store.ts';

/**
 * Sends payouts. The bank is called between two commits, never inside one: the first has debited the payout
 * and made this task due, the second records the answer and, until the outcome is known, makes the task due
 * again. The bank knows a transfer by the withdrawal's id, so a retry after a crash sends nothing twice. If
 * the bank throws, the outcome is unknown: the queue retries, and the payout is not denied.
 */
export function createPayoutSending({
  database,
  committer,
  bank,
}: {
  database: Database;
  committer: Committer;
  bank: Bank;
}): { tasks: Record<PayoutTask, TaskHandler> } {
  return {
    tasks: {
      async 'payout.send'(task) {
        const [found] = await selectPayouts(database.sql, task, [task.key]);
        if (!found || nextStatuses(found).length === 0) return;
        const outcome = await bank.send(transferOf(task, found));
        await committer.change({
          tenant: task,
          read: (reader) => reader.load(payouts, task.key),
          decide(state) {
            const payout = state.need(payouts, task.key);
            const change = decideOutcome(payout, {
              outcome,
              environment: task.environment,
              balances: state.balances,
              now: state.now,
            });
            return { outcome: undefined, writes: joined(change ? writesOf(change) : {}, { done: [task] }) };
          },
        });
      },
    },
  };
}

function transferOf({ accountId, environment }: Tenant, payout: OwnPayout): Transfer {
  return {
    id: payout.withdrawalId,
    tenant: { accountId, environment },
    method: payout.method,
    destination: payout.destination,
    amountCents: netCents(payout),
    litoshi: netLitoshi(payout),
  };
}
