import {
  type Collection,
  type Committer,
  put,
  type Reader,
  type State,
  type Writes,
} from '../commit/commit.ts';
import { hashInput } from '../commit/idempotency.ts';
import type { Database, Sql } from '../db/database.ts';
import { plusMs } from '../kernel/clock.ts';
import { IdempotencyError, PaymentError, RateLimitError, UpstreamError } from '../kernel/errors.ts';
import { objectId } from '../kernel/ids.ts';
import type { Tenant } from '../kernel/tenant.ts';
import type { TaskHandler } from '../work/queue.ts';
import type { Observation } from './mirror.ts';
import { UpstreamFault } from './upstream.ts';

/** A request to the service that must not be made twice, as it stands. Here before it is sent. */
export interface Intent {
  id: string;
  operation: string;
  /** The caller's idempotency key, or one of ours. */
  key: string;
  inputHash: string;
  /**
   * refused: certainly not done. absent: its outcome was unknown, and the service has come to say that there is none.
   * The same key may then be used anew.
   */
  state: 'sending' | 'in_doubt' | 'done' | 'refused' | 'absent';
  resourceId: string | null;
  /** What it is recognised by where the service has no key for it. JSON; no secret, no whole PIX key. */
  summary: unknown;
  /** Looks since its outcome became unknown. */
  looks: number;
  createdAt: Date;
}

export const intents: Collection<Intent> = {
  name: 'upstream_intent',
  load: selectIntents,
  keyOf: ({ operation, key }) => intentKey(operation, key),
  save: saveIntents,
};

/** What a look at the service says of an intent whose outcome is not known. */
export type Found = { found: Observation } | 'not_there' | 'unclear';

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
   * The one request, under the intent's key. @throws PaymentError for a refusal of the service (certainly not done),
   *   RateLimitError, UpstreamFault
   */
  send: (intent: Intent) => Promise<Observation>;
  /** What a caller is told of who waits for the outcome. */
  lookupReference: (intent: Intent) => string | null;
}

/** Asks the service, without sending anything anew, what became of an intent. @throws RateLimitError, UpstreamFault */
export type Look = (tenant: Tenant, intent: Intent) => Promise<Found>;

export interface Intents {
  /**
   * Does it once for a key: opens the intent, sends, and records the answer with the intent's end in one transaction. A
   * key that has done it already does nothing: `replayed`. Of an unknown outcome nothing is sent again; the service is
   * asked at once, and then on and on in the background until it knows.
   * @throws what `open` and `send` throw; IdempotencyError; UpstreamError, with `moneyMayHaveMoved` where the outcome is
   *   not known
   */
  run<Input>(tenant: Tenant, operation: Operation<Input>): Promise<{ resourceId: string; replayed: boolean }>;
  /** Of one kind, those whose outcome is not known yet. */
  open(tenant: Tenant, kind: string): Promise<Intent[]>;
  readonly tasks: Record<typeof RESOLVE, TaskHandler>;
}

const RESOLVE = 'upstream.resolve';
/** By then whoever sends it has recorded its end, or died: it waits 10 s for its turn and 15 s for its answer. */
const SENDING_MS = 60_000;
/** Looks at an unknown outcome: at first soon, for somebody waits. */
const LOOK_AGAIN_MS = [1_000, 2_000, 4_000, 8_000, 15_000, 30_000, 60_000, 120_000, 300_000];
/** A request that the service has not begun by then, it will never begin. */
const ABSENT_AFTER_MS = 15 * 60_000;

/** `pace` makes every wait shorter, for tests that cannot move the clock: 0.01 is a hundredth. */
export function createIntents({
  database,
  committer,
  looks,
  pace = 1,
  onFault,
}: {
  database: Database;
  committer: Committer;
  /** By kind of operation. */
  looks: Readonly<Record<string, Look>>;
  pace?: number;
  onFault: (fault: unknown) => void;
}): Intents {
  /** By intent, what this instance has under way: whoever comes with the same key waits for it. */
  const underWay = new Map<string, Promise<{ resourceId: string; replayed: boolean }>>();

  async function run<Input>(
    tenant: Tenant,
    operation: Operation<Input>,
  ): Promise<{ resourceId: string; replayed: boolean }> {
    const { intent, fresh } = await openIntent(tenant, operation);
    if (!fresh && intent.state === 'done') return { resourceId: intent.resourceId!, replayed: true };
    const own = underWay.get(intent.id);
    if (own) return own.then(({ resourceId }) => ({ resourceId, replayed: true }));
    const outcome = (
      fresh ? sendFresh(tenant, intent, operation) : lookNow(tenant, intent, operation, true)
    ).finally(() => underWay.delete(intent.id));
    underWay.set(intent.id, outcome);
    return outcome;
  }

  function openIntent<Input>(
    tenant: Tenant,
    operation: Operation<Input>,
  ): Promise<{ intent: Intent; fresh: boolean }> {
    const id = `int_${objectId()}`;
    // Its form is that of every idempotency key of the document.
    const key = operation.key ?? `psa-${objectId()}`;
    const inputHash = hashInput(operation.input);
    const summary = operation.summary(operation.input);
    return committer.change<{ intent: Intent; fresh: boolean }>({
      tenant,
      read: (reader) =>
        Promise.all([reader.load(intents, intentKey(operation.name, key)), operation.open?.read(reader)]),
      decide(state) {
        const before = state.get(intents, intentKey(operation.name, key));
        if (before && before.state !== 'refused' && before.inputHash !== inputHash)
          throw new IdempotencyError('This idempotency key was used before with another input');
        if (before && before.state !== 'refused' && before.state !== 'absent')
          return { outcome: { intent: before, fresh: false } };
        const intent: Intent = {
          id: before?.id ?? id,
          operation: operation.name,
          key,
          inputHash,
          state: 'sending',
          resourceId: null,
          summary,
          looks: 0,
          createdAt: state.now,
        };
        const writes = operation.open?.decide(state, intent) ?? {};
        return {
          outcome: { intent, fresh: true },
          writes: {
            ...writes,
            records: [...(writes.records ?? []), put(intents, intent)],
            tasks: [...(writes.tasks ?? []), taskOf(intent, plusMs(state.now, SENDING_MS * pace))],
          },
        };
      },
    });
  }

  async function sendFresh<Input>(tenant: Tenant, intent: Intent, operation: Operation<Input>) {
    let observation: Observation;
    try {
      observation = await operation.send(intent);
    } catch (error) {
      if (error instanceof PaymentError || (error instanceof UpstreamFault && error.reached === 'no')) {
        await end(tenant, intent, 'refused');
        throw error instanceof UpstreamFault ? unavailable(error) : error;
      }
      if (!(error instanceof UpstreamFault)) onFault(error);
      await doubt(tenant, intent);
      return lookNow(tenant, intent, operation, false);
    }
    const resourceId = await finish(tenant, intent, observation).catch((fault: unknown) => {
      // The service has done it, and its task will find it.
      onFault(fault);
      throw inDoubt(operation.lookupReference(intent));
    });
    return { resourceId, replayed: false };
  }

  /** Nobody knows what became of it; sending it again might do it twice. */
  async function lookNow<Input>(
    tenant: Tenant,
    intent: Intent,
    operation: Operation<Input>,
    replayed: boolean,
  ) {
    const looked = await lookAt(tenant, intent).catch((error: unknown) => {
      if (!(error instanceof RateLimitError || error instanceof UpstreamFault)) onFault(error);
      return 'unclear' as const;
    });
    if (typeof looked === 'string') throw inDoubt(operation.lookupReference(intent));
    return { resourceId: await finish(tenant, intent, looked.found), replayed };
  }

  function lookAt(tenant: Tenant, intent: Intent): Promise<Found> {
    const look = looks[kindOf(intent)];
    if (!look) throw new Error(`no look at operations of kind ${kindOf(intent)}`);
    return look(tenant, intent);
  }

  /** The answer and the intent's end together. Twice, where two have looked: the second changes nothing. */
  function finish(tenant: Tenant, intent: Intent, observation: Observation): Promise<string> {
    return committer.change<string>({
      tenant,
      read: (reader) => Promise.all([reader.load(intents, keyOf(intent)), observation.read(reader)]),
      decide(state) {
        const current = state.need(intents, keyOf(intent));
        if (current.state === 'done') return { outcome: current.resourceId! };
        const { resourceId, writes } = observation.decide(state);
        return {
          outcome: resourceId,
          writes: {
            ...writes,
            records: [...(writes.records ?? []), put(intents, { ...current, state: 'done', resourceId })],
            done: [...(writes.done ?? []), { kind: RESOLVE, key: keyOf(intent) }],
          },
        };
      },
    });
  }

  function end(tenant: Tenant, intent: Intent, state: 'refused' | 'absent'): Promise<void> {
    return step(tenant, intent, (current) => ({
      records: [put(intents, { ...current, state })],
      done: [{ kind: RESOLVE, key: keyOf(intent) }],
    }));
  }

  function doubt(tenant: Tenant, intent: Intent): Promise<void> {
    return step(tenant, intent, (current, now) => ({
      records: [put(intents, { ...current, state: 'in_doubt' })],
      tasks: [taskOf(current, plusMs(now, LOOK_AGAIN_MS[0]! * pace))],
    })).catch(onFault);
  }

  function step(
    tenant: Tenant,
    intent: Intent,
    decide: (current: Intent, now: Date) => Writes,
  ): Promise<void> {
    return committer.change<void>({
      tenant,
      read: (reader) => reader.load(intents, keyOf(intent)),
      decide(state) {
        const current = state.need(intents, keyOf(intent));
        const settled = current.state !== 'sending' && current.state !== 'in_doubt';
        return { outcome: undefined, writes: settled ? {} : decide(current, state.now) };
      },
    });
  }

  return {
    run,
    open: (tenant, kind) => selectOpenIntents(database.sql, tenant, kind),
    tasks: {
      [RESOLVE]: async (task) => {
        const [intent] = await selectIntents(database.sql, task, [task.key]);
        if (!intent || (intent.state !== 'sending' && intent.state !== 'in_doubt')) return;
        // This instance still sends it, or looks: its end is recorded there.
        await underWay.get(intent.id)?.catch(() => undefined);
        const looked = await lookAt(task, intent).catch((error: unknown) => {
          if (!(error instanceof RateLimitError || error instanceof UpstreamFault)) throw error;
          return 'unclear' as const;
        });
        if (typeof looked !== 'string') {
          await finish(task, intent, looked.found);
          return;
        }
        await step(task, intent, (current, now) => {
          const age = now.getTime() - current.createdAt.getTime();
          if (looked === 'not_there' && age >= ABSENT_AFTER_MS * pace)
            return {
              records: [put(intents, { ...current, state: 'absent' })],
              done: [{ kind: RESOLVE, key: keyOf(intent) }],
            };
          const after = LOOK_AGAIN_MS[Math.min(current.looks, LOOK_AGAIN_MS.length - 1)]!;
          return {
            records: [put(intents, { ...current, state: 'in_doubt', looks: current.looks + 1 })],
            tasks: [taskOf(current, plusMs(now, after * pace))],
          };
        });
      },
    },
  };
}

/** It was certainly not done, and may be tried again. */
export function unavailable(fault: UpstreamFault): UpstreamError {
  return new UpstreamError(fault.message, { retryable: true, moneyMayHaveMoved: false });
}

function inDoubt(lookupReference: string | null): UpstreamError {
  return new UpstreamError(
    'The payments service did not say whether it has done this. It may have: do not repeat it under another key',
    { retryable: false, moneyMayHaveMoved: true, lookupReference },
  );
}

const SEPARATOR = '\u001f';

function intentKey(operation: string, key: string): string {
  return operation + SEPARATOR + key;
}

function keyOf({ operation, key }: Intent): string {
  return intentKey(operation, key);
}

function kindOf({ operation }: Intent): string {
  return operation.split(':', 1)[0]!;
}

function taskOf(intent: Intent, at: Date) {
  return { kind: RESOLVE, key: keyOf(intent), at };
}

// ── The table ───────────────────────────────────────────────────────────────────────────────────

async function selectIntents(sql: Sql, tenant: Tenant, keys: readonly string[]): Promise<Intent[]> {
  const pairs = keys.map((key) => key.split(SEPARATOR) as [string, string]);
  const rows = await ofTenant(sql, tenant)
    .where((row) => row.or(pairs.map(([operation, key]) => row.and({ operation, key }))))
    .execute();
  return rows.map(toIntent);
}

async function selectOpenIntents(sql: Sql, tenant: Tenant, kind: string): Promise<Intent[]> {
  const rows = await ofTenant(sql, tenant)
    .where('state', 'in', ['sending', 'in_doubt'])
    .where((row) => row.or([row('operation', '=', kind), row('operation', 'like', `${kind}:%`)]))
    .orderBy('created_at')
    .execute();
  return rows.map(toIntent);
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
        looks: intent.looks,
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

function toIntent(row: {
  id: string;
  operation: string;
  key: string;
  input_hash: string;
  state: Intent['state'];
  resource_id: string | null;
  summary: unknown;
  looks: number;
  created_at: Date;
}): Intent {
  return {
    id: row.id,
    operation: row.operation,
    key: row.key,
    inputHash: row.input_hash,
    state: row.state,
    resourceId: row.resource_id,
    summary: row.summary,
    looks: row.looks,
    createdAt: row.created_at,
  };
}
