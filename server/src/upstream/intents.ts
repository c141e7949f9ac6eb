import {
  type Collection,
  type Command,
  type Committer,
  put,
  type Reader,
  type State,
  type Writes,
} from '../commit/commit.ts';
import type { Database, Sql } from '../db/database.ts';
import { type Clock, plusMs } from '../kernel/clock.ts';
import {
  IdempotencyError,
  OutageError,
  PaymentError,
  RateLimitError,
  UpstreamError,
} from '../kernel/errors.ts';
import { objectId } from '../kernel/ids.ts';
import { hashInput } from '../kernel/input-hash.ts';
import type { Tenant } from '../kernel/tenant.ts';
import type { TaskHandler } from '../work/queue.ts';
import type { Observation } from './mirror.ts';
import { toUpstreamError } from './responses.ts';
import { UpstreamFault } from './upstream.ts';

/** A request to the service that must not be made twice, as it stands. Here before it is sent. */
export interface Intent {
  id: string;
  operation: string;
  /** The caller's idempotency key, or one of ours. */
  key: string;
  inputHash: string;
  /**
   * refused: certainly not done; its key may be used again. absent: its outcome was unknown, and the service has said that
   * there is none, for long enough; whether its key may be used again, its kind says.
   */
  state: 'sending' | 'in_doubt' | 'done' | 'refused' | 'absent';
  resourceId: string | null;
  /** What it is recognised by where the service has no key for it. JSON; no secret, no whole PIX key. */
  summary: unknown;
  /** Looks since its outcome became unknown that the service has answered. */
  lookups: number;
  /** When the service was last asked for its outcome; null where it never was. */
  lookedUpAt: Date | null;
  /** The result of the last look, in words for the operator who settles it by hand. */
  finding: string | null;
  createdAt: Date;
}

export const intents: Collection<Intent> = {
  name: 'upstream_intent',
  load: selectIntents,
  keyOf: ({ operation, key }) => intentKey(operation, key),
  save: saveIntents,
};

/** Of an operation, whatever the key: the newest of those that have done something, or may have. Read only. */
export interface LastIntent {
  operation: string;
  intent: Intent;
}

/** What is put here is for the commands of the same group: it follows from the intents themselves. */
export const lastIntents: Collection<LastIntent> = {
  name: 'last upstream_intent',
  load: selectLastIntents,
  keyOf: ({ operation }) => operation,
  save: async () => undefined,
};

/**
 * What a look at the service says of an intent whose outcome is not known. Where the service has no key for it, and it
 * was recognised by what it is like, `claims` is the id of what was found: no other request of its kind may have made it.
 * `isEarly`: the service is about to say more of it, in its answer to the request itself.
 */
export type LookupResult =
  | { found: Observation; claims?: string; isEarly?: boolean }
  | 'not_there'
  | 'unclear'
  /** With the reason: several resources of the service may be it. */
  | { unclear: string };

/** One kind of request that must not be made twice. */
export interface Operation<Input> {
  /** Scopes its keys; what stands before a colon names the kind, whose `look` is registered. */
  name: string;
  input: Input;
  /** Null: one of ours. */
  key: string | null;
  summary: (input: Input) => unknown;
  /** Runs in the transaction that opens the intent, before anything is sent: a throw refuses. */
  open?: { read: (reader: Reader) => Promise<unknown>; decide: (state: State, intent: Intent) => Writes };
  /**
   * The one request, under the intent's key. Whatever goes wrong once the service may have done it is an UpstreamFault
   * that may have reached it, or an UpstreamError with `moneyMayHaveMoved`.
   * @throws PaymentError for a refusal of the service (certainly not done), RateLimitError, UpstreamFault, OutageError
   *   (before it is sent)
   */
  send: (intent: Intent) => Promise<Observation>;
  /**
   * What it makes is of no use to anybody who has not seen its answer, so that one whose answer was lost harms nobody.
   * Then a key that is in doubt, asked for again, does it anew where one more look has not found it.
   */
  safeToRepeat?: boolean;
  /** What a caller is told of who waits for the outcome. */
  lookupReference: (intent: Intent) => string | null;
}

/** Asks the service, without sending anything anew, what became of an intent. @throws RateLimitError, UpstreamFault */
export type OutcomeLookup = (tenant: Tenant, intent: Intent) => Promise<LookupResult>;

/** A kind of operation, as every instance knows it: one settles what another has sent. */
export interface RequestKind {
  lookUp: OutcomeLookup;
  /** The id of the resource as which it is shown. */
  idOf?: (intent: Intent) => string;
  /**
   * Records the resource of a request whose outcome is unknown, so that lists and subscribers show it. `again`: it has
   * been unknown for long, and subscribers are notified once more.
   */
  inDoubt?: (intent: Intent, options: { again: boolean }) => Observation;
  /**
   * Records that a request whose outcome was unknown was never done. From then on it is never sent again, for its caller
   * may have paid under another key: its key gives what is recorded here. `ifShown`: writes nothing where it was not shown
   * in doubt.
   */
  absent?: (intent: Intent, options: { ifShown: boolean }) => Observation;
}

/** The outcome of a request is unknown. */
export class InDoubtError extends UpstreamError {
  readonly intent: Intent;
  readonly replayed: boolean;
  constructor(intent: Intent, lookupReference: string | null, replayed: boolean) {
    super(
      'The payments service did not say whether it has done this. It may have: do not repeat it under another key',
      { retryable: false, moneyMayHaveMoved: true, lookupReference },
    );
    this.intent = intent;
    this.replayed = replayed;
  }
}

export interface Intents {
  /**
   * Does it once for a key: opens the intent, sends, and records the answer with the intent's end in one transaction. A
   * key that has done it already does nothing: `replayed`. Of an unknown outcome nothing is sent again; the service is
   * asked at once, and then on and on in the background until it knows. What another instance is sending, and the
   * service does not show whole, is waited for a little. A key that was refused may be used anew; so may one that was
   * found to have done nothing, with the same input, once the service has said so again, unless its kind records that.
   * @throws what `open` and `send` throw; IdempotencyError; UpstreamError where the outcome is not known:
   *   `moneyMayHaveMoved` (an InDoubtError), or `retryable` of what is harmless if lost
   */
  run<Input>(tenant: Tenant, operation: Operation<Input>): Promise<{ resourceId: string; replayed: boolean }>;
  /** Of one kind, those whose outcome is not known yet. */
  open(tenant: Tenant, kind: string): Promise<Intent[]>;
  /** Of these, the ones that a request of this kind is known to have made. */
  claimed(tenant: Tenant, kind: string, resourceIds: readonly string[]): Promise<Set<string>>;
  /**
   * Something is known now of a request with this input: each such one whose outcome is unknown is looked at now rather
   * than when it was due.
   */
  lookUpSoon(tenant: Tenant, inputHash: string): Promise<void>;
  /** Those of any kind whose outcome is not known yet, the oldest first. */
  unresolved(tenant: Tenant, limit: number): Promise<Intent[]>;
  /** Of one kind, those that were done, and of which the service has not told what they have made. */
  unidentified(tenant: Tenant, kind: string): Promise<Intent[]>;
  readonly tasks: Record<typeof RESOLVE, TaskHandler>;
  /** Hears no more of what other instances send. */
  close(): void;
}

const RESOLVE = 'upstream.resolve';
/** By then whoever sends it has recorded its end, or died: it waits 10 s for its turn and 15 s for its answer. */
const SENDING_MS = 60_000;
/** Looks at an unknown outcome: at first soon, for somebody waits; in the end for years, at next to no cost. */
const LOOK_AGAIN_MS = [
  1_000, 2_000, 4_000, 8_000, 15_000, 30_000, 60_000, 120_000, 300_000, 900_000, 3_600_000,
];
const UNANSWERED_LOOK_AGAIN_MS = 30_000;
/** A request that the service has not begun by then, it will never begin. */
export const ABSENT_AFTER_MS = 15 * 60_000;
/** An outcome that is unknown for longer needs a person. */
const OLD_DOUBT_MS = ABSENT_AFTER_MS;

/** On it an instance tells the others that what it sent is over, by the intent's id. */
const OVER_CHANNEL = 'psa_intent';
/** For what another instance sends: nearly every answer has come by then. One that is lost costs a caller this. */
const OVER_WITHIN_MS = 5_000;

/** `pace` makes every wait shorter, for tests that cannot move the clock: 0.01 is a hundredth. */
export function createIntents({
  database,
  clock,
  committer,
  kinds,
  pace = 1,
  onFault,
}: {
  database: Database;
  clock: Clock;
  committer: Committer;
  /** By name. */
  kinds: Readonly<Record<string, RequestKind>>;
  pace?: number;
  onFault: (fault: unknown) => void;
}): Intents {
  /** By intent, what this instance has under way: whoever comes with the same key waits for it. */
  const underWay = new Map<string, Promise<Outcome>>();
  /** By intent, who waits here for what another instance sends. */
  const waiting = new Map<string, Set<() => void>>();
  /** Tries that were certainly not done, which the database could not record. */
  const notDone = new Set<string>();
  let listening: Promise<() => Promise<void>> | undefined;
  let closed = false;

  async function run<Input>(tenant: Tenant, given: Operation<Input>): Promise<Done> {
    // Its form is that of every idempotency key of the document.
    const operation = { ...given, key: given.key ?? `psa-${objectId()}` };
    let notThere: Intent | null = null;
    for (;;) {
      const { intent, fresh }: Opened = await openIntent(tenant, operation, notThere);
      if (!fresh && intent.state === 'done') return { resourceId: intent.resourceId!, replayed: true };
      if (!fresh && notDone.has(tryOf(intent))) {
        await refuse(tenant, intent);
        continue;
      }
      // One that was just opened has nothing to do with what was under way before it.
      const own = fresh ? undefined : underWay.get(intent.id);
      const outcome = await (own ??
        share(intent, fresh ? sendFresh(tenant, intent, operation) : replay(tenant, intent, operation)));
      if (outcome === 'changed') continue;
      if (outcome !== 'not_done') return own ? { ...outcome, replayed: true } : outcome;
      // Nothing was done under this key, so it is used anew.
      notThere = intent;
    }
  }

  function share(intent: Intent, outcome: Promise<Outcome>): Promise<Outcome> {
    const shared = outcome.finally(() => {
      if (underWay.get(intent.id) === shared) underWay.delete(intent.id);
    });
    underWay.set(intent.id, shared);
    return shared;
  }

  /**
   * `notThere`: an absent one that the service has just denied once more, or a lost one. One that is absent, and not known
   * as such, counts as sent from here on; the caller looks it up, and opens it or ends it again.
   */
  function openIntent<Input>(
    tenant: Tenant,
    operation: Operation<Input> & { key: string },
    notThere: Intent | null,
  ): Promise<Opened> {
    const id = `int_${objectId()}`;
    const { key } = operation;
    const inputHash = hashInput(operation.input);
    const summary = operation.summary(operation.input);
    return committer.change<Opened>({
      tenant,
      read: (reader) =>
        Promise.all([reader.load(intents, intentKey(operation.name, key)), operation.open?.read(reader)]),
      decide(state) {
        const before = state.get(intents, intentKey(operation.name, key));
        // One that is absent may be found yet, so its key stays with its input.
        if (before && before.state !== 'refused' && before.inputHash !== inputHash)
          throw new IdempotencyError('This idempotency key was used before with another input');
        const isNotDone =
          (before?.state === 'absent' && !recordsAbsence(before)) ||
          (before?.state === 'sending' && notThere?.state === 'absent') ||
          (before?.state === 'in_doubt' && operation.safeToRepeat);
        const mayBeOpened =
          !before ||
          before.state === 'refused' ||
          (isNotDone && notThere !== null && isSameTry(before, notThere));
        const sendingTask = (intent: Intent) => taskOf(intent, plusMs(state.now, SENDING_MS * pace));
        if (!mayBeOpened && before.state === 'absent' && !recordsAbsence(before)) {
          // From here on it may be sent.
          const records = [put(intents, { ...before, state: 'sending' as const })];
          return {
            outcome: { intent: before, fresh: false },
            writes: { records, tasks: [sendingTask(before)] },
          };
        }
        if (!mayBeOpened) return { outcome: { intent: before, fresh: false } };
        const intent: Intent = {
          id: before?.id ?? id,
          operation: operation.name,
          key,
          inputHash,
          state: 'sending',
          resourceId: null,
          summary,
          lookups: 0,
          lookedUpAt: null,
          finding: null,
          createdAt: state.now,
        };
        const writes = operation.open?.decide(state, intent) ?? {};
        return {
          outcome: { intent, fresh: true },
          writes: {
            ...writes,
            records: [...(writes.records ?? []), put(intents, intent)],
            tasks: [...(writes.tasks ?? []), sendingTask(intent)],
          },
        };
      },
    });
  }

  async function sendFresh<Input>(
    tenant: Tenant,
    intent: Intent,
    operation: Operation<Input>,
  ): Promise<Outcome> {
    let observation: Observation;
    try {
      observation = await operation.send(intent);
    } catch (error) {
      if (isRefusal(error)) {
        // The error of the caller is true either way.
        await refuse(tenant, intent).catch((fault: unknown) => {
          notDone.add(tryOf(intent));
          onFault(fault);
        });
        throw error instanceof UpstreamFault ? toUpstreamError(error) : error;
      }
      if (!(error instanceof UpstreamFault || error instanceof UpstreamError)) onFault(error);
      await doubt(tenant, intent);
      const inDoubt: Intent = { ...intent, state: 'in_doubt' };
      const outcome = await lookNow(tenant, inDoubt, operation, { replayed: false });
      if (outcome === 'not_done') throw unanswered(operation, inDoubt, false);
      return outcome === 'changed' ? outcome : { ...outcome, replayed: false };
    }
    try {
      const resourceId = await finish(tenant, intent, { found: observation });
      return { resourceId: resourceId!, replayed: false };
    } catch (fault) {
      // The service has done it, and its task will find it.
      onFault(fault);
      await doubt(tenant, intent);
      throw unanswered(operation, { ...intent, state: 'in_doubt' }, false);
    }
  }

  /** Nobody knows what became of it; sending it again might do it twice. */
  async function lookNow<Input>(
    tenant: Tenant,
    intent: Intent,
    operation: Operation<Input>,
    { replayed = true }: { replayed?: boolean } = {},
  ): Promise<Outcome> {
    try {
      const looked = await lookAt(tenant, intent);
      // Asked while the request is being answered, the service has no other answer than that to come.
      if (intent.state === 'sending' && (!isFound(looked) || looked.isEarly)) await over(tenant, intent);
      const resourceId = isFound(looked) ? await finish(tenant, intent, looked) : null;
      if (resourceId !== null) return { resourceId, replayed: true };
      if (intent.state === 'absent' && looked === 'not_there') return 'not_done';
      // Whoever sends it, here or on another instance, may have come to know by now.
      const [now] = await selectIntents(database.sql, tenant, [keyOf(intent)]);
      if (now?.state === 'done') return { resourceId: now.resourceId!, replayed: true };
      if (now?.state === 'refused') return 'not_done';
      if (now?.state === 'absent' && recordsAbsence(now)) return 'changed';
      if (now?.state === 'in_doubt' && operation.safeToRepeat) return 'not_done';
    } catch (error) {
      if (!(error instanceof RateLimitError || error instanceof UpstreamFault)) onFault(error);
      // Nothing was sent: it may be tried again when the service can be asked.
      else if (intent.state === 'absent') {
        await end(tenant, intent, 'absent').catch(onFault);
        throw error instanceof UpstreamFault ? toUpstreamError(error) : error;
      }
    }
    const current = await (intent.state === 'absent' ? doubt(tenant, intent) : show(tenant, intent));
    // It may have ended since it was read above.
    if (current?.state === 'refused' || (current && !isSameTry(current, intent))) return 'changed';
    if (current?.state === 'absent' && recordsAbsence(current)) return 'changed';
    if (current?.state === 'done') return { resourceId: current.resourceId!, replayed: true };
    // One that was given up is not sent from here.
    throw unanswered(operation, intent, replayed);
  }

  function replay<Input>(tenant: Tenant, intent: Intent, operation: Operation<Input>): Promise<Outcome> {
    const absent = intent.state === 'absent' && kinds[kindOf(intent)]?.absent?.(intent, { ifShown: false });
    return absent ? replayNeverDone(tenant, intent, absent) : lookNow(tenant, intent, operation);
  }

  /** One that is found after all is done. Any other stays as it is recorded, also where nobody can look. */
  async function replayNeverDone(tenant: Tenant, intent: Intent, absent: Observation): Promise<Done> {
    let looked: LookupResult;
    try {
      looked = await lookAt(tenant, intent);
    } catch (error) {
      if (!(error instanceof RateLimitError || error instanceof UpstreamFault)) onFault(error);
      looked = 'unclear';
    }
    const resourceId = isFound(looked) ? await finish(tenant, intent, looked) : null;
    if (resourceId !== null) return { resourceId, replayed: true };
    // An earlier version recorded nothing.
    return committer.change<Done>({
      tenant,
      read: absent.read,
      decide(state) {
        const recorded = absent.decide(state);
        return {
          outcome: { resourceId: recorded.resourceId, replayed: true },
          writes: recorded.writes,
        };
      },
    });
  }

  /** Whether one of this kind that was never done is shown as such, and so never sent again. */
  function recordsAbsence(intent: Intent): boolean {
    return kinds[kindOf(intent)]?.absent !== undefined;
  }

  /** Resolves when what another instance sends is over, or takes long: that instance may have ended. */
  async function over(tenant: Tenant, intent: Intent): Promise<void> {
    let isLate = false;
    let wake: () => void = () => undefined;
    const waker = (): void => wake();
    waiting.set(intent.id, (waiting.get(intent.id) ?? new Set()).add(waker));
    const late = new Promise<void>((resolve) => {
      wake = resolve;
    });
    const cancel = clock.schedule(plusMs(clock.now(), OVER_WITHIN_MS * pace), () => {
      isLate = true;
      waker();
    });
    try {
      // The connection that listens may be away for longer than anybody waits.
      await Promise.race([listen(), late]);
      while (!isLate) {
        const woken = new Promise<void>((resolve) => {
          wake = resolve;
        });
        // Behind the promise, so that nothing is missed that comes while it is read.
        const [now] = await selectIntents(database.sql, tenant, [keyOf(intent)]);
        if (now?.state !== 'sending') return;
        await woken;
      }
    } finally {
      cancel();
      const wakers = waiting.get(intent.id);
      wakers?.delete(waker);
      if (wakers?.size === 0) waiting.delete(intent.id);
    }
  }

  function listen(): Promise<unknown> {
    listening ??= database.listen(OVER_CHANNEL, hear).catch((error: unknown) => {
      listening = undefined;
      throw error;
    });
    return listening;
  }

  function hear(id: string): void {
    // Without an id, some may have been lost.
    const heard = id === '' ? [...waiting.values()] : [waiting.get(id) ?? []];
    for (const wakers of heard) for (const wake of wakers) wake();
  }

  /** Nobody waits for it to be told. A lost one costs whoever waits for the end some time. */
  function tellOver({ id }: Intent): void {
    database.notify(OVER_CHANNEL, id).catch((error: unknown) => {
      if (!closed) onFault(error);
    });
  }

  function lookAt(tenant: Tenant, intent: Intent): Promise<LookupResult> {
    const kind = kinds[kindOf(intent)];
    if (!kind) throw new Error(`no look at operations of kind ${kindOf(intent)}`);
    return kind.lookUp(tenant, intent);
  }

  /**
   * The answer and the intent's end together; null where another request has made what was found. Twice, where two
   * have looked: the second changes nothing but what is newer. Late, where it was given up: it is done all the same.
   */
  function finish(
    tenant: Tenant,
    intent: Intent,
    found: { found: Observation; claims?: string },
  ): Promise<string | null> {
    return committer.change<string | null>(ending(tenant, intent, found)).finally(() => tellOver(intent));
  }

  /** Its key is free again, unless it is shown: then it counts as never done. */
  async function refuse(tenant: Tenant, intent: Intent): Promise<void> {
    await end(tenant, intent, 'refused');
    notDone.delete(tryOf(intent));
  }

  async function end(tenant: Tenant, intent: Intent, state: 'refused' | 'absent'): Promise<void> {
    await step(
      tenant,
      intent,
      (current, _, records) => ({
        // Another instance may have shown it meanwhile.
        records: [put(intents, { ...current, state: records ? 'absent' : state })],
        done: [{ kind: RESOLVE, key: keyOf(intent) }],
      }),
      kinds[kindOf(intent)]?.absent?.(intent, { ifShown: true }),
    ).finally(() => tellOver(intent));
  }

  /** A caller who is given one in doubt can follow it, also while another instance is still sending it. */
  async function show(tenant: Tenant, intent: Intent): Promise<Intent | null> {
    const shown = kinds[kindOf(intent)]?.inDoubt?.(intent, { again: false });
    return shown ? step(tenant, intent, () => ({}), shown).catch(faulty) : null;
  }

  function doubt(tenant: Tenant, intent: Intent): Promise<Intent | null> {
    return step(
      tenant,
      intent,
      (current, now) => ({
        records: [put(intents, { ...current, state: 'in_doubt' })],
        tasks: [taskOf(current, plusMs(now, LOOK_AGAIN_MS[0]! * pace))],
      }),
      kinds[kindOf(intent)]?.inDoubt?.(intent, { again: false }),
    )
      .catch(faulty)
      .finally(() => tellOver(intent));
  }

  function faulty(fault: unknown): null {
    onFault(fault);
    return null;
  }

  /**
   * Changes nothing where the intent has ended, or has been opened again since. Returns it as it was before. `decide` is
   * given whether `shown` records anything.
   */
  function step(
    tenant: Tenant,
    intent: Intent,
    decide: (current: Intent, now: Date, records: boolean) => Writes,
    shown?: Observation,
  ): Promise<Intent> {
    return committer.change<Intent>({
      tenant,
      read: (reader) => Promise.all([reader.load(intents, keyOf(intent)), shown?.read(reader)]),
      decide(state) {
        const current = state.need(intents, keyOf(intent));
        if (!isOpen(current) || !isSameTry(current, intent)) return { outcome: current };
        const { records = [], events = [] } = shown?.decide(state).writes ?? {};
        const writes = decide(current, state.now, records.length > 0);
        return {
          outcome: current,
          writes: {
            ...writes,
            records: [...(writes.records ?? []), ...records],
            events: [...(writes.events ?? []), ...events],
          },
        };
      },
    });
  }

  async function resolve(tenant: Tenant, key: string): Promise<void> {
    let [intent] = await selectIntents(database.sql, tenant, [key]);
    const own = intent && underWay.get(intent.id);
    if (own) {
      // This instance still sends it, or looks: its end is recorded there.
      await own.catch(() => undefined);
      [intent] = await selectIntents(database.sql, tenant, [key]);
    }
    if (!intent || !isOpen(intent)) return;
    if (notDone.has(tryOf(intent))) return refuse(tenant, intent);
    let looked: LookupResult;
    // An answer says no more than what was so when it was asked for.
    const at = clock.now();
    try {
      looked = await lookAt(tenant, intent);
    } catch (error) {
      return await lookOnceMore(tenant, intent, error);
    }
    if (isFound(looked) && (await finish(tenant, intent, looked)) !== null) return;
    const absentAt = plusMs(intent.createdAt, ABSENT_AFTER_MS * pace);
    const kind = kinds[kindOf(intent)];
    if (looked === 'not_there' && at >= absentAt) {
      await step(
        tenant,
        intent,
        (current) => ({
          records: [put(intents, { ...current, state: 'absent', lookedUpAt: at, finding: inWords(looked) })],
          done: [{ kind: RESOLVE, key }],
        }),
        kind?.absent?.(intent, { ifShown: false }),
      );
      return;
    }
    await step(
      tenant,
      intent,
      (current, now) => {
        const after = LOOK_AGAIN_MS[Math.min(current.lookups, LOOK_AGAIN_MS.length - 1)]!;
        const next = plusMs(now, after * pace);
        const looks = current.lookups + 1;
        return {
          records: [
            put(intents, {
              ...current,
              state: 'in_doubt',
              lookups: looks,
              lookedUpAt: at,
              finding: inWords(looked),
            }),
          ],
          tasks: [taskOf(current, now < absentAt && absentAt < next ? absentAt : next)],
        };
      },
      kind?.inDoubt?.(intent, { again: becomesOld(intent, at) }),
    );
  }

  /** The service could not be asked: that was no look, and the next need not wait as long as behind one. */
  async function lookOnceMore(tenant: Tenant, intent: Intent, error: unknown): Promise<void> {
    if (!(error instanceof RateLimitError || error instanceof UpstreamFault)) throw error;
    const after =
      error instanceof RateLimitError ? error.retryAfterSeconds * 1_000 : UNANSWERED_LOOK_AGAIN_MS * pace;
    const at = clock.now();
    const finding = 'The payments service could not be asked';
    await step(
      tenant,
      intent,
      (current, now) => ({
        records: [put(intents, { ...current, state: 'in_doubt', lookedUpAt: at, finding })],
        tasks: [taskOf(current, plusMs(now, after))],
      }),
      kinds[kindOf(intent)]?.inDoubt?.(intent, { again: becomesOld(intent, at) }),
    );
  }

  /** With this look, for the first time: the operator reads it in the log, and subscribers are notified. */
  function becomesOld(intent: Intent, at: Date): boolean {
    const oldAt = plusMs(intent.createdAt, OLD_DOUBT_MS * pace);
    const isNow = at >= oldAt && (intent.lookedUpAt === null || intent.lookedUpAt < oldAt);
    if (isNow)
      onFault(
        new Error(
          `The outcome of ${kindOf(intent)} ${intent.id} has been unknown since ${intent.createdAt.toISOString()}: see psa doubts list`,
        ),
      );
    return isNow;
  }

  return {
    run,
    open: (tenant, kind) => selectOpenIntents(database.sql, tenant, kind),
    unresolved: (tenant, limit) => selectUnresolved(database.sql, tenant, limit),
    unidentified: (tenant, kind) => selectNameless(database.sql, tenant, kind),
    async lookUpSoon(tenant, inputHash) {
      const known = await selectOpenWithInput(database.sql, tenant, inputHash);
      const inDoubt = known.filter(({ state }) => state === 'in_doubt');
      await Promise.all(
        inDoubt.map((intent) => step(tenant, intent, (current, now) => ({ tasks: [taskOf(current, now)] }))),
      );
    },
    async claimed(tenant, kind, resourceIds) {
      const keys = resourceIds.map((id) => intentKey(kind, id));
      const found = await selectClaims(database.sql, tenant, keys);
      return new Set(found.map(({ key }) => key.slice(kind.length + SEPARATOR.length)));
    },
    tasks: { [RESOLVE]: (task) => resolve(task, task.key) },
    close() {
      closed = true;
      // What is not there yet is not waited for: the database ends it.
      listening?.then((unlisten) => unlisten()).catch(() => undefined);
    },
  };
}

/** `fresh`: opened by this, to be sent now. */
type Opened = { intent: Intent; fresh: boolean };
type Done = { resourceId: string; replayed: boolean };
/**
 * - `not_done`: certainly nothing was done under this key.
 * - `changed`: it was refused, or opened again, in the meantime.
 */
type Outcome = Done | 'not_done' | 'changed';

/** It was certainly not done. */
function isRefusal(error: unknown): boolean {
  if (error instanceof UpstreamFault) return error.reached === 'no';
  // Of the budget, which is kept in the database too: it was not sent.
  if (error instanceof OutageError) return !error.mayBeDone;
  return error instanceof PaymentError && !(error instanceof UpstreamError && error.moneyMayHaveMoved);
}

function isOpen({ state }: Intent): boolean {
  return state === 'sending' || state === 'in_doubt';
}

/** A key that is used anew keeps its intent; each time it begins at another instant. */
function isSameTry(left: Intent, right: Intent): boolean {
  return left.createdAt.getTime() === right.createdAt.getTime();
}

/** A key that is used again keeps the id of its intent. */
function tryOf({ id, createdAt }: Intent): string {
  return `${id} ${createdAt.getTime()}`;
}

/** The error of a caller whose outcome is unknown. */
function unanswered<Input>(operation: Operation<Input>, intent: Intent, replayed: boolean): UpstreamError {
  if (operation.safeToRepeat)
    return new UpstreamError(
      'The payments service did not say whether it has done this. No money has moved: repeat it with the same key',
      { retryable: true, moneyMayHaveMoved: false },
    );
  return new InDoubtError(intent, operation.lookupReference(intent), replayed);
}

export function isFound(looked: LookupResult): looked is Extract<LookupResult, { found: Observation }> {
  return typeof looked !== 'string' && 'found' in looked;
}

function inWords(looked: LookupResult): string {
  if (looked === 'not_there') return 'The payments service does not show it';
  return typeof looked !== 'string' && 'unclear' in looked
    ? looked.unclear
    : 'The answer of the payments service does not say';
}

/**
 * The command that records what a request has made, and its end; its outcome is null where another request has made that.
 * A second one for the same intent changes nothing but what is newer.
 */
export function ending(
  tenant: Tenant,
  intent: Intent,
  { found, claims }: { found: Observation; claims?: string },
): Command<string | null> {
  const claim = claims === undefined ? null : intentKey(kindOf(intent), claims);
  return {
    tenant,
    read: (reader) =>
      Promise.all([
        reader.load(intents, keyOf(intent)),
        claim === null ? null : reader.load(claimsOfIntents, claim),
        found.read(reader),
      ]),
    decide(state) {
      const current = state.need(intents, keyOf(intent));
      const claimed = claim === null ? null : state.get(claimsOfIntents, claim);
      if (claimed && claimed.intentId !== current.id) return { outcome: null };
      const { resourceId, writes } = found.decide(state);
      if (current.state === 'done') return { outcome: current.resourceId!, writes };
      const made = { key: intentKey(kindOf(intent), resourceId), intentId: current.id };
      return {
        outcome: resourceId,
        writes: {
          ...writes,
          records: [
            ...(writes.records ?? []),
            put(intents, { ...current, state: 'done', resourceId }),
            put(claimsOfIntents, made),
          ],
          done: [...(writes.done ?? []), { kind: RESOLVE, key: keyOf(intent) }],
        },
      };
    },
  };
}

/** The command that records that a request was never done, as a person has found; false where it has ended meanwhile. */
export function abandoning(tenant: Tenant, intent: Intent, shown?: Observation): Command<boolean> {
  return {
    tenant,
    read: (reader) => Promise.all([reader.load(intents, keyOf(intent)), shown?.read(reader)]),
    decide(state) {
      const current = state.need(intents, keyOf(intent));
      if (!isOpen(current) || !isSameTry(current, intent)) return { outcome: false };
      const { records = [], events = [] } = shown?.decide(state).writes ?? {};
      return {
        outcome: true,
        writes: {
          records: [put(intents, { ...current, state: 'absent', finding: 'Settled by hand' }), ...records],
          events,
          done: [{ kind: RESOLVE, key: keyOf(intent) }],
        },
      };
    },
  };
}

const SEPARATOR = '\u001f';

function intentKey(operation: string, key: string): string {
  return operation + SEPARATOR + key;
}

function keyOf({ operation, key }: Intent): string {
  return intentKey(operation, key);
}

function kindOf({ operation }: Pick<Intent, 'operation'>): string {
  return operation.split(':', 1)[0]!;
}

function taskOf(intent: Intent, at: Date) {
  return { kind: RESOLVE, key: keyOf(intent), at };
}

/** What a request of a kind has made, where only one can have made it. */
interface Claim {
  /** `kind␟id`. */
  key: string;
  intentId: string;
}

/** Kept with the intents themselves: an intent that is done has made its resource. */
const claimsOfIntents: Collection<Claim> = {
  name: 'what upstream_intent has made',
  load: selectClaims,
  keyOf: ({ key }) => key,
  save: async () => undefined,
};

// ── The table ───────────────────────────────────────────────────────────────────────────────────

async function selectIntents(sql: Sql, tenant: Tenant, keys: readonly string[]): Promise<Intent[]> {
  const pairs = keys.map((key) => key.split(SEPARATOR) as [string, string]);
  const rows = await ofTenant(sql, tenant)
    .where((row) => row.or(pairs.map(([operation, key]) => row.and({ operation, key }))))
    .execute();
  return rows.map(toIntent);
}

async function selectLastIntents(
  sql: Sql,
  tenant: Tenant,
  operations: readonly string[],
): Promise<LastIntent[]> {
  const rows = await ofTenant(sql, tenant)
    .distinctOn('operation')
    .where('operation', 'in', operations)
    .where('state', 'in', ['sending', 'in_doubt', 'done'])
    .orderBy('operation')
    .orderBy('created_at', 'desc')
    .execute();
  return rows.map((row) => ({ operation: row.operation, intent: toIntent(row) }));
}

async function selectOpenIntents(sql: Sql, tenant: Tenant, kind: string): Promise<Intent[]> {
  const rows = await ofTenant(sql, tenant)
    .where('state', 'in', ['sending', 'in_doubt'])
    .where((row) => row.or([row('operation', '=', kind), row('operation', 'like', `${kind}:%`)]))
    .orderBy('created_at')
    .execute();
  return rows.map(toIntent);
}

async function selectUnresolved(sql: Sql, tenant: Tenant, limit: number): Promise<Intent[]> {
  const rows = await ofTenant(sql, tenant)
    .where('state', 'in', ['sending', 'in_doubt'])
    .orderBy('created_at')
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map(toIntent);
}

/** Of all accounts. */
export async function selectAllUnresolved(
  sql: Sql,
  limit: number,
): Promise<{ tenant: Tenant; intent: Intent }[]> {
  const rows = await sql
    .selectFrom('upstream_intent')
    .selectAll()
    .where('state', 'in', ['sending', 'in_doubt'])
    .orderBy('created_at')
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map(withTenant);
}

export async function selectIntentById(
  sql: Sql,
  id: string,
): Promise<{ tenant: Tenant; intent: Intent } | null> {
  const row = await sql.selectFrom('upstream_intent').selectAll().where('id', '=', id).executeTakeFirst();
  return row ? withTenant(row) : null;
}

function withTenant(row: IntentRow & { account_id: string; environment: Tenant['environment'] }) {
  return { tenant: { accountId: row.account_id, environment: row.environment }, intent: toIntent(row) };
}

async function selectOpenWithInput(sql: Sql, tenant: Tenant, inputHash: string): Promise<Intent[]> {
  const rows = await ofTenant(sql, tenant)
    .where('state', 'in', ['sending', 'in_doubt'])
    .where('input_hash', '=', inputHash)
    .execute();
  return rows.map(toIntent);
}

/** Such a one is its own resource. */
async function selectNameless(sql: Sql, tenant: Tenant, kind: string): Promise<Intent[]> {
  const rows = await ofTenant(sql, tenant)
    .where('state', '=', 'done')
    .where('operation', '=', kind)
    .whereRef('resource_id', '=', 'id')
    .orderBy('created_at', 'desc')
    .limit(1_000)
    .execute();
  return rows.map(toIntent);
}

async function selectClaims(sql: Sql, tenant: Tenant, keys: readonly string[]): Promise<Claim[]> {
  const pairs = keys.map((key) => key.split(SEPARATOR) as [string, string]);
  if (pairs.length === 0) return [];
  const rows = await ofTenant(sql, tenant)
    .where('state', '=', 'done')
    .where((row) =>
      row.or(
        pairs.map(([kind, id]) =>
          row.and([
            row('resource_id', '=', id),
            row.or([row('operation', '=', kind), row('operation', 'like', `${kind}:%`)]),
          ]),
        ),
      ),
    )
    .execute();
  return rows.map((row) => ({ key: intentKey(kindOf(row), row.resource_id!), intentId: row.id }));
}

async function saveIntents(sql: Sql, tenant: Tenant, records: readonly Intent[]): Promise<void> {
  await sql
    .insertInto('upstream_intent')
    .values(
      records.map((intent) => ({
        account_id: tenant.accountId,
        environment: tenant.environment,
        id: intent.id,
        operation: intent.operation,
        key: intent.key,
        input_hash: intent.inputHash,
        state: intent.state,
        resource_id: intent.resourceId,
        summary: JSON.stringify(intent.summary),
        looks: intent.lookups,
        looked_at: intent.lookedUpAt,
        finding: intent.finding,
        created_at: intent.createdAt,
      })),
    )
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet((row) => ({
        input_hash: row.ref('excluded.input_hash'),
        state: row.ref('excluded.state'),
        resource_id: row.ref('excluded.resource_id'),
        summary: row.ref('excluded.summary'),
        looks: row.ref('excluded.looks'),
        looked_at: row.ref('excluded.looked_at'),
        finding: row.ref('excluded.finding'),
        created_at: row.ref('excluded.created_at'),
      })),
    )
    .execute();
}

function ofTenant(sql: Sql, tenant: Tenant) {
  return sql
    .selectFrom('upstream_intent')
    .selectAll()
    .where('account_id', '=', tenant.accountId)
    .where('environment', '=', tenant.environment);
}

interface IntentRow {
  id: string;
  operation: string;
  key: string;
  input_hash: string;
  state: Intent['state'];
  resource_id: string | null;
  summary: unknown;
  looks: number;
  looked_at: Date | null;
  finding: string | null;
  created_at: Date;
}

function toIntent(row: IntentRow): Intent {
  return {
    id: row.id,
    operation: row.operation,
    key: row.key,
    inputHash: row.input_hash,
    state: row.state,
    resourceId: row.resource_id,
    summary: row.summary,
    lookups: row.looks,
    lookedUpAt: row.looked_at,
    finding: row.finding,
    createdAt: row.created_at,
  };
}
