import {
  createSourceEventStream,
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  execute,
  getOperationAST,
  Kind,
  type OperationDefinitionNode,
  print,
  visit,
} from 'graphql';
import type { LiveUpdates } from '../events/subscribe.ts';
import type { Context } from './context.ts';
import { messageOf, toGraphQLError } from './errors.ts';
import { MAX_WRONG_VARIABLES } from './limits.ts';
import { tooManyListItems } from './list-items.ts';

/** What a subscriber is told of one update: as a result, and as the text that all are sent. */
export interface Answer {
  readonly result: ExecutionResult;
  /** As it is written. */
  readonly json: string;
  /** The rest of a message behind its id and type: `"payload":…}`. */
  readonly rest: Buffer;
}

/** One subscription. */
export interface Opened {
  /** What happens, whose every item is to be answered. */
  readonly updates: LiveUpdates<object>;
  answerTo(item: object): Answer | Promise<Answer>;
}

/** The answer to an item, and who shares it. */
interface Kept {
  readonly sharedAs: string;
  answer: Answer | Promise<Answer>;
}

const answers = new WeakMap<object, Kept>();

/** What somebody who shares the item has had it answered with; null where that is not ready, or nobody has asked. */
export function answerNow(item: object): Answer | null {
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
  onFault: OnFault,
): Promise<ExecutionResult | Opened> {
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
    answerTo: answering(operation, { sharedAs, renewed, onFault }),
  };
}

function answering(
  operation: Operation,
  { sharedAs, renewed, onFault }: Pick<Kept, 'sharedAs'> & Pick<Context, 'renewed'> & { onFault: OnFault },
): Opened['answerTo'] {
  return function answerTo(item) {
    const known = answers.get(item);
    if (known?.sharedAs === sharedAs) return known.answer;
    const executing = execute({ ...operation, rootValue: item, contextValue: renewed() });
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

function written({ errors, ...result }: ExecutionResult, onFault: OnFault): Answer {
  const answer = (result: ExecutionResult, payload: object): Answer => {
    const json = JSON.stringify(payload);
    return { result, json, rest: Buffer.from(`"payload":${json}}`) };
  };
  if (!errors) return answer(result, result);
  const told = errors.map((error) => toGraphQLError(error, onFault));
  const messages = told.map((error) => messageOf(error, onFault));
  return answer({ errors: told, ...result }, { errors: messages, ...result });
}

/** The same, pulled: for who writes one answer after the other. */
export async function subscribeShared(
  args: ExecutionArgs,
  onFault: OnFault,
): Promise<ExecutionResult | AsyncGenerator<ExecutionResult>> {
  const opened = await openShared(args, onFault);
  return 'updates' in opened ? pulled(opened) : opened;
}

/** Written as an object, for what copies an object's own properties. */
function pulled({ updates, answerTo }: Opened): AsyncGenerator<ExecutionResult> {
  const generator: AsyncGenerator<ExecutionResult> = {
    async next() {
      const { value: item, done } = await updates.next();
      if (done) return { value: undefined, done };
      const answer = await answerTo(item);
      // Yoga writes a result by this where there is one.
      return { value: { ...answer.result, ...{ stringify: () => answer.json } }, done: false };
    },
    async return(value) {
      updates.end();
      return { value: await value, done: true };
    },
    async throw(error) {
      updates.end();
      throw error;
    },
    [Symbol.asyncIterator]: () => generator,
  };
  return generator;
}

type Operation = Pick<ExecutionArgs, 'schema' | 'document' | 'variableValues' | 'operationName'>;
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
  return JSON.stringify([document.loc?.source.body ?? print(document), operation?.name?.value, values]);
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
