import { hashInput } from '../../kernel/input-hash.ts';
import type { Behind } from '../../kernel/records.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import { type Command, put, type State, type Writes } from '../../state/commit/commit.ts';
import type { Observation } from '../mirror.ts';
import { type Found, type Operation, RESOLVE } from './operations.ts';
import { claims, intents } from './store.ts';
import {
  type Intent,
  intentKey,
  isOpen,
  isSameAttempt,
  keyOf,
  kindOf,
  type Opening,
  openIntent,
  SETTLED_BY_HAND,
} from './transitions.ts';

/** The task that looks an intent up at `at`. */
export function resolveTask(intent: Intent, at: Date) {
  return { kind: RESOLVE, key: keyOf(intent), at };
}

/** The command that opens the intent of a key, or returns the one that exists. */
export function opening<Input>(
  tenant: Tenant,
  operation: Operation<Input> & { key: string },
  {
    id,
    ...options
  }: {
    id: string;
    denied: Intent | null;
    recordsAbsence: boolean;
    behind: Behind | null;
    pace: number;
  },
): Command<Opening> {
  const { name, key, input, safeToRepeat = false } = operation;
  const request = {
    id,
    operation: name,
    key,
    inputHash: hashInput(input),
    summary: operation.summary(input),
    kept: operation.kept,
  };
  return {
    tenant,
    read: (reader) => Promise.all([reader.load(intents, intentKey(name, key)), operation.open?.read(reader)]),
    decide(state) {
      const existing = state.get(intents, intentKey(name, key));
      const outcome = openIntent(existing, request, { ...options, safeToRepeat, now: state.now });
      const { intent, fresh, save } = outcome;
      if (!save) return { outcome };
      const writes = fresh ? operation.open?.decide(state, intent) : undefined;
      return {
        outcome,
        writes: {
          ...writes,
          records: [...(writes?.records ?? []), put(intents, save.intent)],
          tasks: [...(writes?.tasks ?? []), resolveTask(save.intent, save.lookUpAt)],
        },
      };
    },
  };
}

/**
 * The command that changes an intent while it is open, and records an observation with it. It changes nothing
 * if the intent has ended, or has been opened again since; its outcome is the intent as it was before.
 * `hasRecords`: whether the observation writes any records.
 */
export function changeWhileOpen(
  tenant: Tenant,
  intent: Intent,
  decide: (current: Intent, now: Date, hasRecords: boolean) => Writes,
  observation?: Observation,
): Command<Intent> {
  return {
    tenant,
    read: (reader) => Promise.all([reader.load(intents, keyOf(intent)), observation?.read(reader)]),
    decide(state) {
      const current = state.need(intents, keyOf(intent));
      if (!isOpen(current) || !isSameAttempt(current, intent)) return { outcome: current };
      const { records = [], events = [] } = observation?.decide(state).writes ?? {};
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
  };
}

/**
 * The command that records the resource of a request and ends its intent as done, even an intent that was
 * given up. Its outcome is the resource's id; null if another request of these kinds has made that resource.
 * A second run records only a newer state.
 */
export function completion(
  tenant: Tenant,
  intent: Intent,
  { found }: Pick<Found, 'found'>,
  makes: readonly string[] = [kindOf(intent)],
): Command<string | null> {
  const { resourceId: known } = found;
  const keys = known === undefined ? [] : makes.map((kind) => intentKey(kind, known));
  return {
    tenant,
    read: (reader) =>
      Promise.all([
        reader.load(intents, keyOf(intent)),
        ...keys.map((key) => reader.load(claims, key)),
        found.read(reader),
      ]),
    decide(state) {
      const current = state.need(intents, keyOf(intent));
      const claimed = keys.map((key) => state.get(claims, key));
      if (claimed.some((claim) => claim && claim.intentId !== current.id)) return { outcome: null };
      const { resourceId, writes, isOthers = false } = found.decide(state);
      // Another lookup has ended the intent. If it found another resource, this one looks alike but belongs
      // to another request.
      if (current.state === 'done')
        return { outcome: current.resourceId!, writes: resourceId === current.resourceId ? writes : {} };
      if (isOthers) return { outcome: null };
      const newClaim = { key: intentKey(kindOf(intent), resourceId), intentId: current.id };
      return {
        outcome: resourceId,
        writes: {
          ...writes,
          records: [
            ...(writes.records ?? []),
            put(intents, { ...current, state: 'done', resourceId }),
            put(claims, newClaim),
          ],
          done: [...(writes.done ?? []), { kind: RESOLVE, key: keyOf(intent) }],
        },
      };
    },
  };
}

/**
 * The command that ends an intent as never done, as an operator has found; its outcome is false if the intent
 * has ended already.
 */
export function abandonment(tenant: Tenant, intent: Intent, observation?: Observation): Command<boolean> {
  const { read, decide } = changeWhileOpen(
    tenant,
    intent,
    (current) => ({
      // The operator knows the outcome: the key may be used again if its kind allows that.
      records: [put(intents, { ...current, state: 'absent', finding: SETTLED_BY_HAND, behindSince: null })],
      done: [{ kind: RESOLVE, key: keyOf(intent) }],
    }),
    observation,
  );
  return {
    tenant,
    read,
    decide(state: State) {
      const { writes } = decide(state);
      return writes ? { outcome: true, writes } : { outcome: false };
    },
  };
}

/**
 * The command that records the resource in the answer to a request without an intent. Its outcome is false if
 * another request has the same resource. The same key stands for one request, however often it was sent.
 */
export function claiming(
  tenant: Tenant,
  { kind, key, resourceId }: { kind: string; key: string; resourceId: string },
): Command<boolean> {
  const id = idOf(tenant, { operation: kind, key });
  const claimed = intentKey(kind, resourceId);
  return {
    tenant,
    read: (reader) => reader.load(claims, claimed),
    decide(state) {
      const claim = state.get(claims, claimed);
      if (claim) return { outcome: claim.intentId === id };
      const intent: Intent = {
        ...{ id, operation: kind, key, inputHash: hashInput(resourceId), summary: {} },
        ...{ state: 'done', resourceId, lookups: 0, lookedUpAt: null, finding: null },
        ...{ behindSince: null, createdAt: state.now },
      };
      return {
        outcome: true,
        writes: { records: [put(intents, intent), put(claims, { key: claimed, intentId: id })] },
      };
    },
  };
}

/**
 * The id of a request's intent. It is derived from the key, so a request that is repeated after a restore has
 * the id that its caller knows.
 */
export function idOf(tenant: Tenant, { operation, key }: Pick<Intent, 'operation' | 'key'>): string {
  return `int_${hashInput({ ...tenant, name: operation, key }).slice(0, 24)}`;
}
