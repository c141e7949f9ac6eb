import { type Command, put, type State, type Writes } from '../../commit/commit.ts';
import { hashInput } from '../../kernel/input-hash.ts';
import type { Tenant } from '../../kernel/tenant.ts';
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
} from './transitions.ts';

export function resolveTask(intent: Intent, at: Date) {
  return { kind: RESOLVE, key: keyOf(intent), at };
}

/** The command that uses a key: it opens an intent, or gives the one that is there. */
export function opening<Input>(
  tenant: Tenant,
  operation: Operation<Input> & { key: string },
  { id, ...options }: { id: string; denied: Intent | null; recordsAbsence: boolean; pace: number },
): Command<Opening> {
  const { name, key, input, safeToRepeat = false } = operation;
  const request = {
    id,
    operation: name,
    key,
    inputHash: hashInput(input),
    summary: operation.summary(input),
  };
  return {
    tenant,
    read: (reader) => Promise.all([reader.load(intents, intentKey(name, key)), operation.open?.read(reader)]),
    decide(state) {
      const before = state.get(intents, intentKey(name, key));
      const outcome = openIntent(before, request, { ...options, safeToRepeat, now: state.now });
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
 * The command that changes an intent while it is open. It changes nothing where the intent has ended, or has been opened
 * again since; its outcome is the intent as it was before. `decide` is given whether `shown` records anything.
 */
export function changeWhileOpen(
  tenant: Tenant,
  intent: Intent,
  decide: (current: Intent, now: Date, records: boolean) => Writes,
  shown?: Observation,
): Command<Intent> {
  return {
    tenant,
    read: (reader) => Promise.all([reader.load(intents, keyOf(intent)), shown?.read(reader)]),
    decide(state) {
      const current = state.need(intents, keyOf(intent));
      if (!isOpen(current) || !isSameAttempt(current, intent)) return { outcome: current };
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
  };
}

/**
 * The command that records what a request has made, and its end; its outcome is null where another request has made that.
 * A second one for the same intent changes nothing but what is newer. One that was given up is done all the same.
 */
export function completion(
  tenant: Tenant,
  intent: Intent,
  { found, claims: resource }: Pick<Found, 'found' | 'claims'>,
): Command<string | null> {
  const claim = resource === undefined ? null : intentKey(kindOf(intent), resource);
  return {
    tenant,
    read: (reader) =>
      Promise.all([
        reader.load(intents, keyOf(intent)),
        claim === null ? null : reader.load(claims, claim),
        found.read(reader),
      ]),
    decide(state) {
      const current = state.need(intents, keyOf(intent));
      const claimed = claim === null ? null : state.get(claims, claim);
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
            put(claims, made),
          ],
          done: [...(writes.done ?? []), { kind: RESOLVE, key: keyOf(intent) }],
        },
      };
    },
  };
}

/** The command that records that a request was never done, as a person has found; false where it has ended meanwhile. */
export function abandonment(tenant: Tenant, intent: Intent, shown?: Observation): Command<boolean> {
  const { read, decide } = changeWhileOpen(
    tenant,
    intent,
    (current) => ({
      records: [put(intents, { ...current, state: 'absent', finding: 'Settled by hand' })],
      done: [{ kind: RESOLVE, key: keyOf(intent) }],
    }),
    shown,
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
