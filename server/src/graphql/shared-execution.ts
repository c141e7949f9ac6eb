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

/** What a subscriber is told of one update: as a result, and as the bytes of it that all are sent. */
export interface Answer {
  readonly result: ExecutionResult;
  readonly json: string;
}

/** The answers of one subscription, as `LiveUpdates` gives its items. */
export interface Answers {
  /** The next one, or the promise of it, or null where it is still to come. @throws what ended it, once */
  take(): Answer | Promise<Answer> | null;
  readonly over: boolean;
  onReady(listener: () => void): void;
  end(): void;
}

/** The answer to an item, and who shares it. */
interface Kept {
  readonly sharedAs: string;
  answer: Answer | Promise<Answer>;
}

const answers = new WeakMap<object, Kept>();

/**
 * Opens a subscription of which each event is executed and written once, for however many follow. Who asks for the same
 * operation with the same variables and rights is given the very same item of an event, and here an item is answered once.
 * An execution result is a refusal: nothing was opened.
 */
export async function openShared(
  { schema, document, variableValues, operationName, contextValue }: ExecutionArgs,
  onFault: (fault: unknown) => void,
): Promise<ExecutionResult | Answers> {
  const operation = { schema, document, variableValues, operationName };
  const refused = tooManyListItems(operation);
  if (refused) return { errors: [refused] };
  const context = contextValue as Context;
  const sharedAs = context.shareAs(nameOf(operation));
  const source = await createSourceEventStream({
    ...operation,
    contextValue: context,
    // graphql leaves it out of this function's type, and looks at it.
    ...{ options: { maxCoercionErrors: MAX_WRONG_VARIABLES } },
  });
  if (!(Symbol.asyncIterator in source)) return source;
  const updates = source as LiveUpdates<object>;

  function answerTo(item: object): Answer | Promise<Answer> {
    const known = answers.get(item);
    if (known?.sharedAs === sharedAs) return known.answer;
    const executing = execute({ ...operation, rootValue: item, contextValue: context.renewed() });
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
  }

  return {
    take() {
      const item = updates.take();
      return item && answerTo(item);
    },
    get over() {
      return updates.over;
    },
    onReady(listener) {
      updates.onReady = listener;
    },
    end: () => void updates.return(),
  };
}

function written({ errors, ...rest }: ExecutionResult, onFault: (fault: unknown) => void): Answer {
  if (!errors) return { result: rest, json: JSON.stringify(rest) };
  const told = errors.map((error) => toGraphQLError(error, onFault));
  const messages = told.map((error) => messageOf(error, onFault));
  return { result: { errors: told, ...rest }, json: JSON.stringify({ errors: messages, ...rest }) };
}

/** The same, pulled: for who writes one answer after the other. */
export async function subscribeShared(
  args: ExecutionArgs,
  onFault: (fault: unknown) => void,
): Promise<ExecutionResult | AsyncGenerator<ExecutionResult>> {
  const opened = await openShared(args, onFault);
  return 'take' in opened ? pulled(opened) : opened;
}

/** Written as an object, for what copies an object's own properties. */
function pulled(answers: Answers): AsyncGenerator<ExecutionResult> {
  const generator: AsyncGenerator<ExecutionResult> = {
    async next() {
      for (;;) {
        const answer = answers.take();
        if (answer) {
          const { result, json } = await answer;
          // Yoga writes a result by this where there is one.
          return { value: { ...result, ...{ stringify: () => json } }, done: false };
        }
        if (answers.over) return { value: undefined, done: true };
        await new Promise<void>((resolve) => answers.onReady(resolve));
      }
    },
    async return(value) {
      answers.end();
      return { value: await value, done: true };
    },
    async throw(error) {
      answers.end();
      throw error;
    },
    [Symbol.asyncIterator]: () => generator,
  };
  return generator;
}

type Operation = Pick<ExecutionArgs, 'document' | 'variableValues' | 'operationName'>;

/**
 * The same for operations of which every event is answered in the same way: the text, the operation in it, and the values
 * of the variables that it declares, but the one that says only where a subscriber begins.
 */
function nameOf({ document, variableValues, operationName }: Operation): string {
  const operation = getOperationAST(document, operationName);
  const values: Record<string, unknown> = {};
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
