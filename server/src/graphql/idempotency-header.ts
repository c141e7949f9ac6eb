import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  getNamedType,
  getOperationAST,
  isInputObjectType,
  Kind,
  OperationTypeNode,
  type SelectionSetNode,
} from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { keyInHeader, REPLAYED_HEADER } from '../http/idempotency-key.ts';
import { IdempotencyError } from '../kernel/errors.ts';

/** What an HTTP request brings to the context; a WebSocket's operation has neither. */
interface HttpContext {
  req?: IncomingMessage;
  res?: ServerResponse;
}

/**
 * `Idempotency-Key` in place of `input.idempotencyKey`: of an operation with one mutation field, for of two nobody could say
 * whose it is. A query has nothing to repeat, and does not look at it.
 */
export function idempotencyHeaderPlugin(): Plugin {
  return {
    onExecute({ args: { schema, document, operationName, contextValue }, setResultAndStopExecution }) {
      if (keyOf(contextValue) === null) return;
      const problem = problemOf(schema, document, operationName);
      if (!problem) return;
      const error = new GraphQLError(`Idempotency-Key: ${problem}`, {
        extensions: { http: { status: 400 } },
      });
      setResultAndStopExecution({ errors: [error] });
    },
  };
}

/** The arguments of a mutation with the header's key in their input. @throws IdempotencyError where both differ */
export function withKeyOfHeader(args: object, context: object): object {
  const key = keyOf(context);
  if (key === null) return args;
  const { input } = args as { input: { idempotencyKey?: string | null } };
  if ((input.idempotencyKey ?? key) !== key)
    throw new IdempotencyError('Idempotency-Key and input.idempotencyKey are different');
  return { ...args, input: { ...input, idempotencyKey: key } };
}

/** Marks the HTTP answer as replayed, where the only field of the operation was. */
export function markReplay(result: unknown, context: object, isOnly: boolean): void {
  const { res } = context as HttpContext;
  if (isOnly && res && !res.headersSent && (result as { replayed?: unknown } | null)?.replayed === true)
    res.setHeader(...REPLAYED_HEADER);
}

function keyOf(context: object): string | null {
  const { req } = context as HttpContext;
  return req ? keyInHeader(req) : null;
}

/** Null where it can be used. */
function problemOf(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName: string | null | undefined,
): string | null {
  const operation = getOperationAST(document, operationName);
  if (operation?.operation !== OperationTypeNode.MUTATION) return null;
  const [name, ...others] = rootFields(document, operation.selectionSet);
  if (name === undefined || others.length > 0) return 'is for an operation with exactly one mutation field';
  const input = schema
    .getMutationType()
    ?.getFields()
    [name]?.args.find((each) => each.name === 'input')?.type;
  const type = input && getNamedType(input);
  const takesKey = isInputObjectType(type) && 'idempotencyKey' in type.getFields();
  return takesKey ? null : `${name} takes no idempotency key`;
}

/** Their names, as often as they are asked for. */
function rootFields(document: DocumentNode, { selections }: SelectionSetNode): string[] {
  return selections.flatMap((selection) => {
    if (selection.kind === Kind.FIELD) return [selection.name.value];
    if (selection.kind === Kind.INLINE_FRAGMENT) return rootFields(document, selection.selectionSet);
    const fragment = document.definitions.find(
      (each) => each.kind === Kind.FRAGMENT_DEFINITION && each.name.value === selection.name.value,
    );
    return fragment?.kind === Kind.FRAGMENT_DEFINITION ? rootFields(document, fragment.selectionSet) : [];
  });
}
