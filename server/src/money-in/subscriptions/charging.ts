import type { Clock } from '../../kernel/clock.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import type { DebitReport, PixRail } from '../../rails/pix.ts';
import { type Committer, loadRecords, type Reader, type State } from '../../state/commit/commit.ts';
import type { Database } from '../../state/db/database.ts';
import { loadOf } from '../../state/db/each-tenant.ts';
import type { TaskHandler } from '../../state/work/queue.ts';
import { credits, writesOfPix } from '../pix/collections.ts';
import { type PixReceiver, txidOf } from '../pix/model.ts';
import { cycles, pixSubscriptions, subscriptions } from './collections.ts';
import { decideReport } from './cycles.ts';
import { decideCancel } from './decisions.ts';
import { attemptToSend, decideLookUpAgain, decidePlan, decideSent } from './instructions.ts';
import { cyclePaymentId, isLive, type StoredSubscription, type SubscriptionReceiver } from './model.ts';
import type { SubscriptionChange, SubscriptionTask } from './steps.ts';
import { cycleTable, selectSubscriptions } from './store.ts';

/** Counts the attempts that the bank has reported. */
export interface SubscriptionMeter {
  onSubscriptionAttempt(outcome: DebitReport['status']): void;
}

/**
 * Calls the payer's bank for the cycles of subscriptions, and handles their due tasks. The bank is called
 * between two commits, with ids of ours, so that a retry after a crash has one effect. Its reports are read
 * from it: a notification that is lost, repeated or forged changes nothing.
 */
export function createSubscriptionCharging({
  database,
  committer,
  rail,
  clock,
  codes,
  meter,
}: {
  database: Database;
  committer: Committer;
  rail: PixRail;
  clock: Clock;
  /** Records the credits of the code itself. */
  codes: PixReceiver<StoredSubscription>;
  meter: SubscriptionMeter;
}): SubscriptionReceiver & { tasks: Record<SubscriptionTask, TaskHandler> } {
  async function select(tenant: Tenant, id: string): Promise<StoredSubscription | null> {
    return (await loadOf(selectSubscriptions, database.sql, tenant, [id]))[0] ?? null;
  }

  /** Applies a decision to a locked subscription. Returns it afterwards; null if it does not exist. */
  function advance(
    tenant: Tenant,
    id: string,
    decide: (subscription: StoredSubscription, state: State) => SubscriptionChange | null,
    readMore: (reader: Reader) => Promise<unknown> = async () => undefined,
  ): Promise<StoredSubscription | null> {
    return committer.change<StoredSubscription | null>({
      tenant,
      read: (reader) => Promise.all([reader.load(subscriptions, id), readMore(reader)]),
      decide(state) {
        const subscription = state.get(subscriptions, id);
        const change = subscription && decide(subscription, state);
        return change
          ? { outcome: change.resource, writes: writesOfPix(pixSubscriptions, change) }
          : { outcome: subscription };
      },
    });
  }

  async function record(tenant: Tenant, id: string, { report, place }: PlacedReport): Promise<void> {
    const key = cycleTable.keyOf({ subscriptionId: id, number: place.number });
    let isNew = false;
    await advance(
      tenant,
      id,
      (subscription, state) => {
        const { cycle } = subscription;
        const change = decideReport(
          subscription,
          { ...report, ...place },
          {
            isKnown: report.status === 'paid' && state.get(credits, report.endToEndId) !== null,
            cycle: cycle?.number === place.number ? cycle : state.get(cycles, key),
            environment: tenant.environment,
            balances: state.balances,
            now: state.now,
          },
        );
        isNew = change !== null;
        return change;
      },
      (reader) =>
        Promise.all([
          reader.load(cycles, key),
          report.status === 'paid' && reader.load(credits, report.endToEndId),
        ]),
    );
    if (isNew) meter.onSubscriptionAttempt(report.status);
  }

  /** Leaves out reports that are recorded already, or that change nothing: the bank reports all of them each time. */
  async function unrecorded(
    tenant: Tenant,
    id: string,
    debits: readonly DebitReport[],
  ): Promise<PlacedReport[]> {
    const subscription = await select(tenant, id);
    if (!subscription || debits.length === 0) return [];
    const paidIds = debits.flatMap((report) => (report.status === 'paid' ? [report.endToEndId] : []));
    const known = paidIds.length > 0 ? await loadRecords(credits, database.sql, tenant, paidIds) : [];
    const recorded = new Set(known.map(({ endToEndId }) => endToEndId));
    const numbers = numbersOf(subscription);
    return [...debits].sort(byTime).flatMap((report) => {
      const [digits = '', attempt] = report.id.split('.');
      const number = numbers.get(digits);
      if (number === undefined) return [];
      const isOver =
        report.status === 'paid' ? recorded.has(report.endToEndId) : number !== subscription.cycle?.number;
      return isOver ? [] : [{ report, place: { number, attempt: Number(attempt) } }];
    });
  }

  async function receive(tenant: Tenant, id: string): Promise<StoredSubscription | null> {
    // The authorization is recorded before anything else of the subscription.
    if (!(await codes.receive(tenant, id))) return null;
    const { debits, endedByPayerAt } = await rail.recurrenceOf(txidOf(id));
    for (const report of await unrecorded(tenant, id, debits)) await record(tenant, id, report);
    if (endedByPayerAt !== null)
      await advance(tenant, id, (subscription, { now }) =>
        decideCancel(subscription, 'payer', now, endedByPayerAt),
      );
    return select(tenant, id);
  }

  async function instruct(tenant: Tenant, id: string, isEarly = true): Promise<StoredSubscription | null> {
    const known = await receive(tenant, id);
    if (!known || !isLive(known.status)) return known;
    const subscription = await advance(tenant, id, (current, { now }) => decidePlan(current, now));
    const attempt = subscription && attemptToSend(subscription, clock.now(), { isEarly });
    if (!attempt) return subscription;
    const answer = await rail.schedule({ ...attempt, txid: txidOf(id) });
    if (answer === 'ended') {
      await receive(tenant, id);
      // The bank debits nothing more, although it names no payer: a merchant may have canceled before a
      // backup was restored.
      return advance(tenant, id, (current, { now }) => decideCancel(current, 'payer', now));
    }
    return advance(tenant, id, (current) => decideSent(current, attempt));
  }

  return {
    receive,
    instruct,
    tasks: {
      async 'subscription.instruct'(task) {
        await instruct(task, task.key, false);
      },
      async 'subscription.look_up'(task) {
        // The key may name a report after the subscription.
        const id = task.key.split(' ')[0]!;
        await receive(task, id);
        await advance(task, id, (subscription, { now }) => decideLookUpAgain(subscription, now));
      },
      async 'subscription.end'(task) {
        await rail.cancelRecurrence(txidOf(task.key));
      },
      async 'subscription.recall'(task) {
        const [id = '', attemptId = ''] = task.key.split(' ');
        await rail.cancelSchedule({ id: attemptId, txid: txidOf(id) });
      },
    },
  };
}

/** A report with its cycle and its attempt. */
interface PlacedReport {
  report: DebitReport;
  place: { number: number; attempt: number };
}

/** The numbers of the cycles that have begun, by the bank's identifiers of them. */
function numbersOf({ subscriptionId, cycle }: StoredSubscription): Map<string, number> {
  const numbers = Array.from({ length: cycle?.number ?? 0 }, (_, index) => index + 1);
  return new Map(numbers.map((number) => [txidOf(cyclePaymentId(subscriptionId, number)), number]));
}

function byTime(left: DebitReport, right: DebitReport): number {
  return left.at.getTime() - right.at.getTime();
}
