import {
  createSourceEventStream,
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  type GraphQLError,
  getOperationAST,
  Kind,
  type OperationDefinitionNode,
  print,
  visit,
} from 'graphql';
import type { LiveUpdates } from '../events/subscribe.ts';
import { inSlices } from '../kernel/slices.ts';
import type { Context } from './context.ts';
import { messageOf } from './errors.ts';
import { type EventChunk, nextEvent } from './event-chunk.ts';
import { execute } from './execution.ts';
import { MAX_WRONG_VARIABLES } from './limits.ts';
import { tooManyListItems } from './list-items.ts';

/** The answer to one update, as the bytes that all subscribers of a transport are sent. */
export interface SerializedResult {
  /** Over a WebSocket, the rest of a message behind its id and type: `"payload":…}`. */
  readonly rest: Buffer;
  /** In an event stream, all of it. */
  readonly chunk: EventChunk;
}

/** One subscription. */
export interface SharedSubscription {
  /** What happens, whose every item is to be answered. */
  readonly updates: LiveUpdates<object>;
  resultFor(item: object): SerializedResult | Promise<SerializedResult>;
}

/** The answer to an item, and who shares it. */
interface Kept {
  readonly sharedAs: string;
  answer: SerializedResult | Promise<SerializedResult>;
}

const answers = new WeakMap<object, Kept>();

/** What somebody who shares the item has had it answered with; null where that is not ready, or nobody has asked. */
export function cachedResult(item: object): SerializedResult | null {
  const answer = answers.get(item)?.answer;
  return !answer || answer instanceof Promise ? null : answer;
}

/**
 * Opens a subscription of which each event is executed and written once, for however many follow. Who asks for the same
 * operation with the same variables and rights is given the very same item of an event, and here an item is answered once.
 * An execution result is a refusal: nothing was opened.
 */
export async function openShared(
  { schema, document, variableValues, operationName, contextValue }: ExecutionArgs,
  { onFault, executeUpdates }: { onFault: OnFault; executeUpdates: ExecuteUpdates },
): Promise<ExecutionResult | SharedSubscription> {
  const operation = { schema, document, variableValues, operationName };
  const refused = tooManyListItems(operation);
  if (refused) return { errors: [refused] };
  const { shareAs, renewed } = contextValue as Context;
  const sharedAs = shareAs(nameOf(operation));
  const source = await createSourceEventStream({
    ...operation,
    contextValue,
    // graphql leaves it out of this function's type, and looks at it.
    ...{ options: { maxCoercionErrors: MAX_WRONG_VARIABLES } },
  });
  if (!(Symbol.asyncIterator in source)) return source;
  return {
    updates: source as LiveUpdates<object>,
    resultFor: answering(executeUpdates(operation), { sharedAs, renewed, onFault }),
  };
}

function answering(
  run: ReturnType<ExecuteUpdates>,
  { sharedAs, renewed, onFault }: Pick<Kept, 'sharedAs'> & Pick<Context, 'renewed'> & { onFault: OnFault },
): SharedSubscription['resultFor'] {
  return function answerTo(item) {
    const known = answers.get(item);
    if (known?.sharedAs === sharedAs) return known.answer;
    const executing = run(item, renewed());
    const kept: Kept = {
      sharedAs,
      answer:
        executing instanceof Promise
          ? executing.then((result) => {
              kept.answer = written(result, onFault);
              return kept.answer;
            })
          : written(executing, onFault),
    };
    answers.set(item, kept);
    return kept.answer;
  };
}

/** Waits for an answer that is being executed. */
export interface Waiting {
  resume(answer: SerializedResult): void;
  fail(error: unknown): void;
}

const waiting = new WeakMap<Promise<SerializedResult>, Waiting[]>();

/** Calls those who wait for one answer in the order in which they came, a slice in each turn of the event loop. */
export function onAnswer(answer: Promise<SerializedResult>, who: Waiting): void {
  const known = waiting.get(answer);
  if (known) return void known.push(who);
  const all = [who];
  waiting.set(answer, all);
  const serve = (each: (who: Waiting) => void) => {
    waiting.delete(answer);
    void inSlices(all, each);
  };
  answer.then(
    (ready) => serve((each) => each.resume(ready)),
    (error) => serve((each) => each.fail(error)),
  );
}

/** The result of an operation, with its data as an object or as JSON. */
export interface Executed {
  readonly data?: object | string | null | undefined;
  readonly errors?: readonly GraphQLError[] | undefined;
}

/** Prepares an operation whose updates the returned function executes, one by one. */
export type ExecuteUpdates = (
  operation: Operation,
) => (item: object, context: Context) => Executed | Promise<Executed>;

export const executeUpdates: ExecuteUpdates = (operation) => (item, context) =>
  execute({ ...operation, rootValue: item, contextValue: context });

/** Each form is made when somebody is sent it, and then for all. */
function written({ data, errors }: Executed, onFault: OnFault): SerializedResult {
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
      chunk ??= nextEvent(json);
      return chunk;
    },
  };
}

export type Operation = Pick<ExecutionArgs, 'schema' | 'document' | 'variableValues' | 'operationName'>;
type OnFault = (fault: unknown) => void;

/**
 * The same for operations of which every event is answered in the same way: the text, the operation in it, and the values
 * of the variables that it declares, but the one that says only where a subscriber begins.
 */
function nameOf({ document, variableValues, operationName }: Operation): string {
  const operation = getOperationAST(document, operationName);
  // A variable may be called `__proto__`.
  const values: Record<string, unknown> = Object.create(null);
  const begins = operation && beginningOf(document, operation);
  for (const { variable } of operation?.variableDefinitions ?? []) {
    const name = variable.name.value;
    if (name !== begins && variableValues && Object.hasOwn(variableValues, name))
      values[name] = variableValues[name];
  }
  return JSON.stringify([textOf(document), operation?.name?.value, values]);
}

/** The text that the document was parsed from. */
export function textOf(document: DocumentNode): string {
  return document.loc?.source.body ?? print(document);
}

const beginnings = new WeakMap<OperationDefinitionNode, string | null>();

/** The variable that is the root field's `after` and is used nowhere else; null where there is none. */
function beginningOf(document: DocumentNode, operation: OperationDefinitionNode): string | null {
  const known = beginnings.get(operation);
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
  beginnings.set(operation, found);
  return found;
}
