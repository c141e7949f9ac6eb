import {
  createSourceEventStream,
  type ExecutionArgs,
  type ExecutionResult,
  getOperationAST,
  getVariableValues,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import { PreconditionError } from '../../kernel/errors.ts';
import type { OpenSubscription } from '../../kernel/open-subscription.ts';
import { inSlices } from '../../kernel/slices.ts';
import type { LiveUpdates } from '../../state/events/subscription.ts';
import type { Context } from '../graphql/context.ts';
import { MAX_WRONG_VARIABLES } from '../graphql/limits.ts';
import type { Variables } from '../graphql/selections.ts';
import { tooManyListItems } from './list-items.ts';
import { type SerializedResult, SharedResult } from './shared-result.ts';
import { describeOperation, type FindPlan, type OperationResult, type UpdatePlan } from './update-plans.ts';

/** An open subscription, which shares the results of its updates. */
export interface SharedSubscription {
  readonly updates: LiveUpdates<object>;
  /**
   * The result of an update: executed at the first call for it, cached for the others.
   * @throws PreconditionError, at once or later: it is too long
   */
  resultFor(item: object): SerializedResult | Promise<SerializedResult>;
}

interface CachedResult {
  /** The operation and the rights that the result is for. */
  readonly dedupeKey: string;
  /** Null if it was dropped; it is then executed again for a client that is behind. */
  result: SharedResult | Promise<SharedResult> | null;
}

/** The result of each item. Subscriptions with the same dedupe key share an item. */
const results = new WeakMap<object, CachedResult>();

/** The limit on the results in memory: the queue of one slow client holds events, and with each the results of all operations. */
const RESULTS_BYTES = 8_000_000;
const RESULT_BYTES = 1_000;
const recent = new LRUCache<CachedResult, CachedResult>({
  maxSize: RESULTS_BYTES,
  sizeCalculation: ({ result }) => RESULT_BYTES + (result instanceof SharedResult ? 2 * result.bytes : 0),
  dispose(cached) {
    cached.result = null;
  },
});

/** The result of an item that another subscription has executed; null if none is ready. */
export function cachedResult(item: object): SerializedResult | null {
  const result = results.get(item)?.result;
  return result instanceof SharedResult && !result.isTooLong ? result : null;
}

/**
 * Opens a subscription whose updates are executed and serialized once, for any number of subscribers: those with the same
 * operation, variables and rights are given the same item of an event, and an item has one result. An execution result is
 * a refusal: nothing was opened.
 */
export async function openShared(
  { schema, document, variableValues, operationName, contextValue }: ExecutionArgs,
  { onFault, findPlan, isTrusted }: OpenOptions,
): Promise<ExecutionResult | SharedSubscription> {
  const operation = { schema, document, variableValues, operationName };
  const refused = tooManyListItems(operation);
  if (refused) return { errors: [refused] };
  const ast = getOperationAST(document, operationName);
  if (!ast) return createSourceEventStream(operation) as Promise<ExecutionResult>;
  // Values of a wrong type may be nested too deeply for the key's JSON.
  const { errors, coerced: variables = {} } = getVariableValues(
    schema,
    ast.variableDefinitions ?? [],
    variableValues ?? {},
    { maxErrors: MAX_WRONG_VARIABLES },
  );
  if (errors) return { errors };
  const described = describeOperation(document, ast);
  const values = valuesText(described.variables, variableValues);
  const sharing = (contextValue as Context).share(`${described.key} ${values}`, {
    operation: isTrusted(document) ? null : described,
    variables: Math.max(0, values.length - FREE_VARIABLES) * VARIABLE_BYTES,
  });
  const source = await createSourceEventStream({
    ...operation,
    contextValue,
    // graphql reads this option, though its type for this function lacks it.
    ...{ options: { maxCoercionErrors: MAX_WRONG_VARIABLES } },
  });
  if (!(Symbol.asyncIterator in source)) return source;
  const { freshContext } = contextValue as Context;
  return {
    updates: source as LiveUpdates<object>,
    resultFor: createResultFor({
      dedupeKey: sharing.dedupeKey,
      opened: sharing.opened!,
      plan: findPlan(described.key, { schema, document, operation: ast }),
      variables,
      // The subscription holds this function and not its first context.
      freshContext,
      onFault,
    }),
  };
}

export interface OpenOptions {
  onFault: (fault: unknown) => void;
  findPlan: FindPlan;
  /** Whether the document is one of the few that the operator and the widget have. */
  isTrusted: (document: ExecutionArgs['document']) => boolean;
}

/**
 * The characters of JSON up to which the variables count as part of the subscription's own memory: an identifier and a
 * cursor.
 */
const FREE_VARIABLES = 200;
/** The memory of a value for each character of its JSON. */
const VARIABLE_BYTES = 20;

function valuesText(names: readonly string[], variableValues: ExecutionArgs['variableValues']): string {
  // A variable may be called `__proto__`.
  const values: Record<string, unknown> = Object.create(null);
  for (const name of names)
    if (variableValues && Object.hasOwn(variableValues, name)) values[name] = variableValues[name];
  return JSON.stringify(values);
}

function createResultFor({
  dedupeKey,
  opened,
  plan,
  variables,
  freshContext,
  onFault,
}: {
  dedupeKey: string;
  opened: OpenSubscription;
  plan: UpdatePlan;
  variables: Variables;
  freshContext: Context['freshContext'];
  onFault: (fault: unknown) => void;
}): SharedSubscription['resultFor'] {
  return function resultFor(item) {
    const known = results.get(item);
    if (known?.result && known.dedupeKey === dedupeKey) return assertNotTooLong(known.result);
    const cached: CachedResult = { dedupeKey, result: null };
    results.set(item, cached);
    const store = (executed: OperationResult): SharedResult => {
      const result = new SharedResult(executed, item, { opened, onFault });
      cached.result = result;
      recent.set(cached, cached);
      return result;
    };
    const executing = plan(item, freshContext(), variables);
    if (!(executing instanceof Promise)) return assertNotTooLong(store(executing));
    const result = executing.then((executed) => assertNotTooLong(store(executed)) as SharedResult);
    cached.result = result;
    return result;
  };
}

/** @throws PreconditionError */
function assertNotTooLong(result: SharedResult | Promise<SharedResult>) {
  if (!(result instanceof Promise) && result.isTooLong) throw TOO_LONG;
  return result;
}

const TOO_LONG = new PreconditionError(
  'LIMIT_REACHED',
  'An update of this subscription is too long for this credential: select fewer fields',
);

/** A subscription that waits for a result. */
export interface ResultListener {
  resume(result: SerializedResult): void;
  fail(error: unknown): void;
}

const listeners = new WeakMap<Promise<SerializedResult>, ResultListener[]>();

/** Calls all listeners of one result in the order in which they were added, a slice in each turn of the event loop. */
export function onResult(result: Promise<SerializedResult>, listener: ResultListener): void {
  const known = listeners.get(result);
  if (known) return void known.push(listener);
  const all = [listener];
  listeners.set(result, all);
  const notify = (call: (each: ResultListener) => void) => {
    listeners.delete(result);
    void inSlices(all, call);
  };
  result.then(
    (ready) => notify((each) => each.resume(ready)),
    (error) => notify((each) => each.fail(error)),
  );
}
