import { type Clock, plusMs } from '../../kernel/clock.ts';
import { RateLimitError, UpstreamError } from '../../kernel/errors.ts';
import { objectId } from '../../kernel/ids.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import { type Committer, put, type Writes } from '../../state/commit/commit.ts';
import type { Database } from '../../state/db/database.ts';
import type { Records } from '../../state/db/records.ts';
import { disbelieved, faultOf, OF_ANOTHER } from '../creations.ts';
import type { Observation } from '../mirror.ts';
import { toUpstreamError } from '../responses.ts';
import { UpstreamFault } from '../upstream.ts';
import { changeWhileOpen, completion, idOf, opening, resolveTask } from './commands.ts';
import { createEarlierRequests } from './earlier.ts';
import {
  type Found,
  InDoubtError,
  type Intents,
  isFound,
  isRefusal,
  type LookupResult,
  type Operation,
  RESOLVE,
  type RequestKind,
  unknownOutcome,
} from './operations.ts';
import { createSettledSignal } from './settled-signal.ts';
import {
  intents,
  selectClaims,
  selectIntents,
  selectOpenIntents,
  selectOpenWithInput,
  selectUnidentified,
  selectUnresolved,
} from './store.ts';
import {
  afterFailedLookup,
  afterLookup,
  attemptOf,
  becomesOverdue,
  type Done,
  type Intent,
  intentKey,
  isOpen,
  isSettledByHand,
  keyOf,
  kindOf,
  markUnknown,
  type NotFound,
  type Opening,
  type Outcome,
  outcomeAfterLookup,
  outcomeInMeantime,
  showsAbsence,
  splitIntentKey,
  UNANSWERED_LOOKUP_PAUSE_MS,
} from './transitions.ts';

/**
 * Creates the coordinator. `pace` scales every pause, for tests that cannot move the clock: 0.01 makes each a
 * hundredth as long.
 */
export function createIntents({
  database,
  clock,
  committer,
  records,
  kinds,
  pace = 1,
  onFault,
}: {
  database: Database;
  clock: Clock;
  committer: Committer;
  records: Pick<Records, 'behind'>;
  /** The kinds of operations, by the part of their name before a colon. */
  kinds: Readonly<Record<string, RequestKind>>;
  pace?: number;
  onFault: (fault: unknown) => void;
}): Intents {
  /** The runs of this instance, by intent id: a caller with the same key waits for the same run. */
  const running = new Map<string, Promise<Outcome>>();
  /** The attempts that were certainly not done, but whose refusal could not be stored. */
  const unstoredRefusals = new Set<string>();
  const signal = createSettledSignal({ database, clock, pace, onFault });

  async function run<Input>(tenant: Tenant, requested: Operation<Input>): Promise<Done> {
    // A generated key has the form that the document prescribes for idempotency keys.
    const operation = { ...requested, key: requested.key ?? `psa-${objectId()}` };
    const { name, key } = operation;
    const id = idOf(tenant, { operation: name, key });
    let denied: Intent | null = null;
    for (;;) {
      const behind = await earlier.behind(name, { isNamed: requested.key !== null });
      const { intent, fresh }: Opening = await committer.change(
        opening(tenant, operation, {
          id,
          denied,
          recordsAbsence: recordsAbsence({ operation: name }),
          behind,
          pace,
        }),
      );
      if (!fresh && intent.state === 'done') return { resourceId: intent.resourceId!, replayed: true };
      if (!fresh && unstoredRefusals.has(attemptOf(intent))) {
        await refuse(tenant, intent);
        continue;
      }
      // A fresh attempt does not share the run of an earlier one.
      const shared = fresh ? undefined : running.get(intent.id);
      const outcome = await (shared
        ? asReplay(shared, operation)
        : share(intent, fresh ? sendFresh(tenant, intent, operation) : replay(tenant, intent, operation)));
      if (outcome === 'changed') continue;
      if (outcome !== 'not_done') return outcome;
      // Nothing was done under this key, so the intent is opened again.
      denied = intent;
    }
  }

  /** Gives the outcome of another caller's run: only that caller's request has made the resource. */
  async function asReplay<Input>(shared: Promise<Outcome>, operation: Operation<Input>): Promise<Outcome> {
    const outcome = await shared.catch((error: unknown) => {
      throw error instanceof InDoubtError ? unknownOutcome(operation, error.intent, true) : error;
    });
    return typeof outcome === 'string' ? outcome : { ...outcome, replayed: true };
  }

  function share(intent: Intent, outcome: Promise<Outcome>): Promise<Outcome> {
    const shared = outcome.finally(() => {
      if (running.get(intent.id) === shared) running.delete(intent.id);
    });
    running.set(intent.id, shared);
    return shared;
  }

  async function sendFresh<Input>(
    tenant: Tenant,
    opened: Intent,
    operation: Operation<Input>,
  ): Promise<Outcome> {
    const before = opened.behindSince === null ? null : await earlier.lookFor(tenant, opened, operation);
    if (before !== null) return before;
    const intent: Intent = { ...opened, behindSince: null };
    const inDoubt: Intent = { ...intent, state: 'in_doubt' };
    let observation: Observation;
    try {
      observation = await operation.send(intent);
    } catch (error) {
      if (isRefusal(error)) {
        // The caller gets its refusal, whether or not it could be stored.
        await refuse(tenant, intent).catch((fault: unknown) => {
          unstoredRefusals.add(attemptOf(intent));
          onFault(fault);
        });
        throw error instanceof UpstreamFault ? toUpstreamError(error) : error;
      }
      if (!(error instanceof UpstreamFault || error instanceof UpstreamError)) onFault(error);
      await recordUnknown(tenant, intent);
      const outcome = await lookUpNow(tenant, inDoubt, operation, { replayed: false });
      if (outcome === 'not_done') throw unknownOutcome(operation, inDoubt, false);
      return outcome === 'changed' ? outcome : { ...outcome, replayed: false };
    }
    let resourceId: string | null;
    try {
      resourceId = await complete(tenant, intent, { found: observation });
    } catch (fault) {
      // The service has done the request; the background task will find its resource.
      onFault(fault);
      await recordUnknown(tenant, intent);
      throw unknownOutcome(operation, inDoubt, false);
    }
    if (resourceId !== null) return { resourceId, replayed: false };
    onFault(faultOf(OF_ANOTHER, operation.inWords));
    if (operation.safeToRepeat) {
      await refuse(tenant, intent).catch(onFault);
      throw disbelieved(OF_ANOTHER, { movesMoney: false });
    }
    await recordUnknown(tenant, intent);
    throw unknownOutcome(operation, inDoubt, false);
  }

  /** Looks up an unknown outcome at once; sending the request again might do it twice. */
  async function lookUpNow<Input>(
    tenant: Tenant,
    intent: Intent,
    operation: Operation<Input>,
    { replayed = true }: { replayed?: boolean } = {},
  ): Promise<Outcome> {
    const isAbsenceRecorded = recordsAbsence(intent);
    try {
      const result = await lookUp(tenant, intent);
      // While the service is still answering the request, a lookup cannot say more than that answer, so the
      // lookup waits for it.
      if (intent.state === 'sending' && (!isFound(result) || result.provisional))
        await signal.waitForSender(intent, () => reload(tenant, intent));
      const resourceId = isFound(result) ? await complete(tenant, intent, result) : null;
      if (resourceId !== null) return { resourceId, replayed: true };
      // If the service cannot show such requests, the operator's finding counts.
      const isDenied = result === 'not_there' || (isSettledByHand(intent) && !isFound(result));
      if (intent.state === 'absent' && isDenied) return 'not_done';
      // The sender, here or on another instance, may have recorded the end by now.
      const outcome = outcomeAfterLookup(await reload(tenant, intent), {
        safeToRepeat: operation.safeToRepeat ?? false,
        recordsAbsence: isAbsenceRecorded,
      });
      if (outcome !== null) return outcome;
    } catch (error) {
      if (!(error instanceof RateLimitError || error instanceof UpstreamFault)) onFault(error);
      // Nothing was sent: the caller may retry when the service can be reached.
      else if (intent.state === 'absent') {
        await end(tenant, intent, 'absent').catch(onFault);
        throw error instanceof UpstreamFault ? toUpstreamError(error) : error;
      }
    }
    const current = await (intent.state === 'absent'
      ? recordUnknown(tenant, intent)
      : recordInDoubt(tenant, intent));
    // The intent may have ended since it was read above. An intent that was given up is not sent again here.
    const outcome = outcomeInMeantime(intent, current, isAbsenceRecorded);
    if (outcome !== null) return outcome;
    throw unknownOutcome(operation, intent, replayed);
  }

  function replay<Input>(tenant: Tenant, intent: Intent, operation: Operation<Input>): Promise<Outcome> {
    const absent = intent.state === 'absent' && kindFor(intent)?.absent?.(intent, { ifShown: false });
    return absent ? replayNeverDone(tenant, intent, absent) : lookUpNow(tenant, intent, operation);
  }

  /** Looks up a request that is recorded as never done. The record stays unless its resource is found. */
  async function replayNeverDone(tenant: Tenant, intent: Intent, absent: Observation): Promise<Done> {
    let result: LookupResult;
    try {
      result = await lookUp(tenant, intent);
    } catch (error) {
      if (!(error instanceof RateLimitError || error instanceof UpstreamFault)) onFault(error);
      result = 'unclear';
    }
    const resourceId = isFound(result) ? await complete(tenant, intent, result) : null;
    if (resourceId !== null) return { resourceId, replayed: true };
    // An earlier version of this server recorded nothing; `absent` records it now.
    return committer.change<Done>({
      tenant,
      read: absent.read,
      decide(state) {
        const { resourceId: id, writes } = absent.decide(state);
        return { outcome: { resourceId: id, replayed: true }, writes };
      },
    });
  }

  /** Looks up an intent in the background, and schedules the next lookup while its outcome stays unknown. */
  async function resolve(tenant: Tenant, key: string): Promise<void> {
    const [operation, idempotencyKey] = splitIntentKey(key);
    const name = { operation, key: idempotencyKey };
    let intent = await reload(tenant, name);
    const ownRun = intent && running.get(intent.id);
    if (ownRun) {
      // This instance is still sending the intent or looking it up, and that run records its end.
      await ownRun.catch(() => undefined);
      intent = await reload(tenant, name);
    }
    if (!intent || !isOpen(intent)) return;
    if (unstoredRefusals.has(attemptOf(intent))) return refuse(tenant, intent);
    let result: LookupResult;
    // The service's answer holds for the time of the question.
    const at = clock.now();
    try {
      result = await lookUp(tenant, intent);
    } catch (error) {
      return await lookUpLater(tenant, intent, error);
    }
    if (isFound(result) && (await complete(tenant, intent, result)) !== null) return;
    // A resource that another request has made says nothing about this request.
    const notFound: NotFound = isFound(result) ? 'unclear' : result;
    const observation = showsAbsence(intent, notFound, at, pace)
      ? kindFor(intent)?.absent?.(intent, { ifShown: false })
      : showInDoubt(intent, at);
    const decide = (current: Intent, now: Date): Writes => {
      const givenUpAfterMs = kindFor(intent)?.givenUpAfterMs;
      const after = afterLookup(current, notFound, { at, now, pace, givenUpAfterMs });
      const records = [put(intents, after.intent)];
      return after.lookUpAt === null
        ? { records, done: [{ kind: RESOLVE, key }] }
        : { records, tasks: [resolveTask(current, after.lookUpAt)] };
    };
    await committer.change(changeWhileOpen(tenant, intent, decide, observation));
  }

  /** Schedules another lookup after a failed one. @throws the error, unless the service has caused it */
  async function lookUpLater(tenant: Tenant, intent: Intent, error: unknown): Promise<void> {
    if (!(error instanceof RateLimitError || error instanceof UpstreamFault)) throw error;
    const pauseMs =
      error instanceof RateLimitError ? error.retryAfterSeconds * 1_000 : UNANSWERED_LOOKUP_PAUSE_MS * pace;
    const at = clock.now();
    const decide = (current: Intent, now: Date): Writes => ({
      records: [put(intents, afterFailedLookup(current, at))],
      tasks: [resolveTask(current, plusMs(now, pauseMs))],
    });
    await committer.change(changeWhileOpen(tenant, intent, decide, showInDoubt(intent, at)));
  }

  /**
   * The observation of an unknown outcome, if its kind has one. Reports a request that moves money to the
   * operator when it becomes overdue.
   */
  function showInDoubt(intent: Intent, at: Date): Observation | undefined {
    const kind = kindFor(intent);
    const isOverdue = becomesOverdue(intent, at, pace);
    if (isOverdue && kind?.movesMoney)
      onFault(
        new Error(
          `The outcome of ${kindOf(intent)} ${intent.id} has been unknown since ${intent.createdAt.toISOString()}: see psa doubts list`,
        ),
      );
    return kind?.inDoubt?.(intent, { again: isOverdue });
  }

  // ── Shared steps ──

  function kindFor(intent: Pick<Intent, 'operation'>): RequestKind | undefined {
    return kinds[kindOf(intent)];
  }

  /** Whether requests of this kind that were never done are recorded, and so never sent again. */
  function recordsAbsence(intent: Pick<Intent, 'operation'>): boolean {
    return kindFor(intent)?.absent !== undefined;
  }

  function lookUp(tenant: Tenant, intent: Intent): Promise<LookupResult> {
    const kind = kindFor(intent);
    if (!kind) throw new Error(`no lookup for operations of kind ${kindOf(intent)}`);
    return kind.lookUp(tenant, intent);
  }

  async function reload(
    tenant: Tenant,
    intent: Pick<Intent, 'operation' | 'key'>,
  ): Promise<Intent | undefined> {
    const [stored] = await selectIntents(database.sql, tenant, [keyOf(intent)]);
    return stored;
  }

  /**
   * Records a found resource and the intent's end together; null if another request has made that resource.
   */
  function complete(tenant: Tenant, intent: Intent, found: Found): Promise<string | null> {
    return committer
      .change(completion(tenant, intent, found, kindFor(intent)?.makes))
      .finally(() => signal.notifySettled(intent));
  }

  /**
   * Frees the key of a request that was not done. A request that was shown in doubt is recorded as never done
   * instead.
   */
  async function refuse(tenant: Tenant, intent: Intent): Promise<void> {
    await end(tenant, intent, 'refused');
    unstoredRefusals.delete(attemptOf(intent));
  }

  async function end(tenant: Tenant, intent: Intent, state: 'refused' | 'absent'): Promise<void> {
    const decide = (current: Intent, _: Date, hasRecords: boolean): Writes => ({
      // Another instance may have shown the request in doubt meanwhile.
      records: [put(intents, { ...current, state: hasRecords ? 'absent' : state })],
      done: [{ kind: RESOLVE, key: keyOf(intent) }],
    });
    await committer
      .change(changeWhileOpen(tenant, intent, decide, kindFor(intent)?.absent?.(intent, { ifShown: true })))
      .finally(() => signal.notifySettled(intent));
  }

  /**
   * Records an intent in doubt, so that its caller can follow it while another instance is still sending it.
   */
  async function recordInDoubt(tenant: Tenant, intent: Intent): Promise<Intent | null> {
    const observation = kindFor(intent)?.inDoubt?.(intent, { again: false });
    if (!observation) return null;
    return committer.change(changeWhileOpen(tenant, intent, () => ({}), observation)).catch(reportFault);
  }

  function recordUnknown(tenant: Tenant, intent: Intent, result?: NotFound): Promise<Intent | null> {
    const decide = (current: Intent, now: Date): Writes => {
      const marked = markUnknown(current, now, pace, result);
      return { records: [put(intents, marked.intent)], tasks: [resolveTask(current, marked.lookUpAt)] };
    };
    return committer
      .change(changeWhileOpen(tenant, intent, decide, kindFor(intent)?.inDoubt?.(intent, { again: false })))
      .catch(reportFault)
      .finally(() => signal.notifySettled(intent));
  }

  function reportFault(fault: unknown): null {
    onFault(fault);
    return null;
  }

  const earlier = createEarlierRequests({
    ...{ committer, records, onFault },
    movesMoney: (operation) => kindFor({ operation })?.movesMoney ?? false,
    ...{ lookUp, complete, refuse, recordUnknown },
  });

  return {
    run,
    async find(tenant, operation, key) {
      const intent = (await reload(tenant, { operation, key })) ?? null;
      if (intent && intent.state !== 'refused') return intent;
      await earlier.assertNotMissing(intent);
      return null;
    },
    assertNotMissing: () => earlier.assertNotMissing(null),
    open: (tenant, kind) => selectOpenIntents(database.sql, tenant, kind),
    unresolved: (tenant, range, kinds) => selectUnresolved(database.sql, tenant, range, kinds),
    unidentified: (tenant, kind) => selectUnidentified(database.sql, tenant, kind),
    async lookUpSoon(tenant, inputHash) {
      const open = await selectOpenWithInput(database.sql, tenant, inputHash);
      const inDoubt = open.filter(({ state }) => state === 'in_doubt');
      const decide = (current: Intent, now: Date): Writes => ({ tasks: [resolveTask(current, now)] });
      await Promise.all(inDoubt.map((intent) => committer.change(changeWhileOpen(tenant, intent, decide))));
    },
    async claimed(tenant, kind, resourceIds) {
      const keys = resourceIds.map((id) => intentKey(kind, id));
      const found = await selectClaims(database.sql, tenant, keys);
      return new Set(found.map(({ key }) => splitIntentKey(key)[1]));
    },
    tasks: { [RESOLVE]: (task) => resolve(task, task.key) },
    close: signal.close,
  };
}
