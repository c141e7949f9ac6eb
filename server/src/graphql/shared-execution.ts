import {
  createSourceEventStream,
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  type GraphQLError,
  getOperationAST,
  getVariableValues,
  Kind,
  type OperationDefinitionNode,
  print,
  visit,
} from 'graphql';
import type { LiveUpdates } from '../events/subscription.ts';
import { inSlices } from '../kernel/slices.ts';
import type { Context } from './context.ts';
import { messageOf } from './errors.ts';
import { type EventChunk, nextEvent } from './event-chunk.ts';
import { execute } from './execution.ts';
import { MAX_WRONG_VARIABLES } from './limits.ts';
import { tooManyListItems } from './list-items.ts';

/** The result of one update, as the bytes that are sent to all subscribers of a transport. */
export interface SerializedResult {
  /** The part of a WebSocket message behind its id and type: `"payload":…}`. */
  readonly rest: Buffer;
  /** The whole event of an event stream. */
  readonly chunk: EventChunk;
}

/** An open subscription, which shares the results of its updates. */
export interface SharedSubscription {
  readonly updates: LiveUpdates<object>;
  /** The result of an update: executed at the first call for it, cached for the others. */
  resultFor(item: object): SerializedResult | Promise<SerializedResult>;
}

interface CachedResult {
  /** The operation and the rights that the result is for. */
  readonly dedupeKey: string;
  result: SerializedResult | Promise<SerializedResult>;
}

/** The result of each item. Subscriptions with the same dedupe key share an item. */
const results = new WeakMap<object, CachedResult>();

/** The result of an item that another subscription has executed; null where none is ready. */
export function cachedResult(item: object): SerializedResult | null {
  const result = results.get(item)?.result;
  return !result || result instanceof Promise ? null : result;
}

/**
 * Opens a subscription whose updates are executed and serialized once, for any number of subscribers: those with the same
 * operation, variables and rights are given the same item of an event, and an item has one result. An execution result is
 * a refusal: nothing was opened.
 */
export async function openShared(
  { schema, document, variableValues, operationName, contextValue }: ExecutionArgs,
  { onFault, executeUpdates }: { onFault: OnFault; executeUpdates: ExecuteUpdates },
): Promise<ExecutionResult | SharedSubscription> {
  const operation = { schema, document, variableValues, operationName };
  const refused = tooManyListItems(operation);
  if (refused) return { errors: [refused] };
  // Values that are not of their types may be nested too deeply for the JSON of the key.
  const { errors } = getVariableValues(
    schema,
    getOperationAST(document, operationName)?.variableDefinitions ?? [],
    variableValues ?? {},
    { maxErrors: MAX_WRONG_VARIABLES },
  );
  if (errors) return { errors };
  const context = contextValue as Context;
  const dedupeKey = context.dedupeKey(operationKey(operation));
  const source = await createSourceEventStream({
    ...operation,
    contextValue,
    // graphql reads this option, though its type for this function lacks it.
    ...{ options: { maxCoercionErrors: MAX_WRONG_VARIABLES } },
  });
  if (!(Symbol.asyncIterator in source)) return source;
  return {
    updates: source as LiveUpdates<object>,
    resultFor: createResultFor({
      dedupeKey,
      onFault,
      executeUpdate: executeUpdates(operation),
      // The subscription holds this function and not its first context.
      freshContext: context.freshContext,
    }),
  };
}

function createResultFor({
  dedupeKey,
  executeUpdate,
  freshContext,
  onFault,
}: {
  dedupeKey: string;
  executeUpdate: ReturnType<ExecuteUpdates>;
  freshContext: Context['freshContext'];
  onFault: OnFault;
}): SharedSubscription['resultFor'] {
  return function resultFor(item) {
    const known = results.get(item);
    if (known?.dedupeKey === dedupeKey) return known.result;
    const executing = executeUpdate(item, freshContext());
    const cached: CachedResult = {
      dedupeKey,
      result:
        executing instanceof Promise
          ? executing.then((result) => {
              cached.result = serialize(result, item, onFault);
              return cached.result;
            })
          : serialize(executing, item, onFault),
    };
    results.set(item, cached);
    return cached.result;
  };
}

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

/** The result of an operation, with its data as an object or as JSON. */
export interface OperationResult {
  readonly data?: object | string | null | undefined;
  readonly errors?: readonly GraphQLError[] | undefined;
}

/** Prepares an operation; the returned function executes its updates one by one. */
export type ExecuteUpdates = (
  operation: Operation,
) => (item: object, context: Context) => OperationResult | Promise<OperationResult>;

export const executeUpdates: ExecuteUpdates = (operation) => (item, context) =>
  execute({ ...operation, rootValue: item, contextValue: context });

/** Serializes a result for each transport when its first subscriber is sent the result. */
function serialize({ data, errors }: OperationResult, item: object, onFault: OnFault): SerializedResult {
  const dataText = typeof data === 'string' ? data : JSON.stringify(data ?? null);
  const messages = errors?.map((error) => messageOf(error, onFault)) ?? [];
  const json =
    messages.length > 0
      ? `{"errors":${JSON.stringify(messages)},"data":${dataText}}`
      : `{"data":${dataText}}`;
  let rest: Buffer | undefined;
  let chunk: EventChunk | undefined;
  return {
    get rest() {
      rest ??= Buffer.from(`"payload":${json}}`);
      return rest;
    },
    get chunk() {
      chunk ??= nextEvent(json, cursorOf(item));
      return chunk;
    },
  };
}

/** The cursor of an update, which each of them has. */
function cursorOf(item: object): string | null {
  const { cursor } = item as { cursor?: unknown };
  return typeof cursor === 'string' ? cursor : null;
}

export type Operation = Pick<ExecutionArgs, 'schema' | 'document' | 'variableValues' | 'operationName'>;
type OnFault = (fault: unknown) => void;

/**
 * A key that operations share if their updates have the same result: the document, the operation in it, and the values of
 * its variables, except the one that only sets where the subscription starts.
 */
function operationKey({ document, variableValues, operationName }: Operation): string {
  const operation = getOperationAST(document, operationName);
  // A variable may be called `__proto__`.
  const values: Record<string, unknown> = Object.create(null);
  const cursorVariable = operation && cursorVariableOf(document, operation);
  for (const { variable } of operation?.variableDefinitions ?? []) {
    const name = variable.name.value;
    if (name !== cursorVariable && variableValues && Object.hasOwn(variableValues, name))
      values[name] = variableValues[name];
  }
  return JSON.stringify([textOf(document), operation?.name?.value, values]);
}

/** The text that the document was parsed from. */
export function textOf(document: DocumentNode): string {
  return document.loc?.source.body ?? print(document);
}

const cursorVariables = new WeakMap<OperationDefinitionNode, string | null>();

/** The variable that is the root field's `after` and is used nowhere else; null where there is none. */
function cursorVariableOf(document: DocumentNode, operation: OperationDefinitionNode): string | null {
  const known = cursorVariables.get(operation);
  if (known !== undefined) return known;
  const [root] = operation.selectionSet.selections;
  const after =
    root?.kind === Kind.FIELD ? root.arguments?.find(({ name }) => name.value === 'after')?.value : undefined;
  const name = after?.kind === Kind.VARIABLE ? after.name.value : null;
  let uses = 0;
  visit(document, {
    VariableDefinition: () => false,
    Variable(variable) {
      if (variable.name.value === name) uses += 1;
    },
  });
  const found = uses === 1 ? name : null;
  cursorVariables.set(operation, found);
  return found;
}
