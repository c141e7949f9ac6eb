import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  type DocumentNode,
  GraphQLError,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getNamedType,
  getOperationAST,
  isInputObjectType,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  type SelectionSetNode,
  TypeNameMetaFieldDef,
} from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { IdempotencyError } from '../../kernel/errors.ts';
import {
  keyInHeader,
  mistakenKeyHeader,
  mistakeOfKeyHeader,
  REPLAYED_HEADER,
} from '../http/idempotency-key.ts';
import { collectFields } from './selections.ts';

/** The members of a context that come from an HTTP request; an operation over a WebSocket has neither. */
interface HttpContext {
  req?: IncomingMessage;
  res?: ServerResponse;
}

/**
 * Accepts `Idempotency-Key` in place of `input.idempotencyKey`, for an operation with one mutation field: with two it is
 * unknown to which of them the key belongs. A query ignores it.
 */
export function idempotencyHeaderPlugin(): Plugin {
  return {
    onExecute({ args: { schema, document, operationName, contextValue }, setResultAndStopExecution }) {
      const { req } = contextValue as HttpContext;
      const operation = getOperationAST(document, operationName);
      if (!req || operation?.operation !== OperationTypeNode.MUTATION) return;
      const problem = problemOf(schema, document, operation, req);
      if (!problem) return;
      const error = new GraphQLError(problem, { extensions: { http: { status: 400 } } });
      setResultAndStopExecution({ errors: [error] });
    },
  };
}

/** Adds the header's key to the input of a mutation. @throws IdempotencyError if the input has another key */
export function withKeyOfHeader(args: object, context: object): object {
  const key = keyOf(context);
  if (key === null) return args;
  const { input } = args as { input: { idempotencyKey?: string | null } };
  if ((input.idempotencyKey ?? key) !== key)
    throw new IdempotencyError('Idempotency-Key and input.idempotencyKey are different');
  return { ...args, input: { ...input, idempotencyKey: key } };
}

/** Marks the HTTP response as replayed if the operation's only mutation field was replayed. */
export function markReplay(result: unknown, context: object, info: GraphQLResolveInfo): void {
  const { res } = context as HttpContext;
  if (!res || res.headersSent || (result as { replayed?: unknown } | null)?.replayed !== true) return;
  if (executedFields(info) === 1) res.setHeader(...REPLAYED_HEADER);
}

/** The number of mutation fields that an operation executes. */
function executedFields({ variableValues: variables, ...info }: GraphQLResolveInfo): number {
  const fields = collectFields({ ...info, variables }, info.parentType, [info.operation.selectionSet]);
  return [...fields.values()].filter(([node]) => node!.name.value !== TypeNameMetaFieldDef.name).length;
}

function keyOf(context: object): string | null {
  const { req } = context as HttpContext;
  return req ? keyInHeader(req) : null;
}

/** Returns the refusal of a mutation whose headers have a key that it cannot take; null if it takes the key, or has none. */
function problemOf(
  schema: GraphQLSchema,
  document: DocumentNode,
  { selectionSet }: OperationDefinitionNode,
  request: IncomingMessage,
): string | null {
  const mistaken = mistakenKeyHeader(request);
  if (mistaken) return `${mistaken.name}: ${mistaken.message}`;
  if (keyInHeader(request) === null) return null;
  const mistake = mistakeOfKeyHeader(request) ?? whyNoKey(schema, rootFields(document, selectionSet));
  return mistake && `Idempotency-Key: ${mistake}`;
}

/** Returns the reason why mutation fields cannot have a key; null if they can. */
function whyNoKey(schema: GraphQLSchema, [name, ...others]: readonly string[]): string | null {
  if (name === undefined || others.length > 0) return 'is for an operation with exactly one mutation field';
  const input = schema
    .getMutationType()
    ?.getFields()
    [name]?.args.find((each) => each.name === 'input')?.type;
  const type = input && getNamedType(input);
  const takesKey = isInputObjectType(type) && 'idempotencyKey' in type.getFields();
  return takesKey ? null : `${name} takes no idempotency key`;
}

/** The names of the mutation fields, with repetitions. Some clients add `__typename` to them, which does nothing. */
function rootFields(document: DocumentNode, { selections }: SelectionSetNode): string[] {
  return selections.flatMap((selection) => {
    if (selection.kind === Kind.FIELD)
      return selection.name.value === TypeNameMetaFieldDef.name ? [] : [selection.name.value];
    if (selection.kind === Kind.INLINE_FRAGMENT) return rootFields(document, selection.selectionSet);
    const fragment = document.definitions.find(
      (each) => each.kind === Kind.FRAGMENT_DEFINITION && each.name.value === selection.name.value,
    );
    return fragment?.kind === Kind.FRAGMENT_DEFINITION ? rootFields(document, fragment.selectionSet) : [];
  });
}
