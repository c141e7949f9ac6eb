import SchemaBuilder from '@pothos/core';
import ErrorsPlugin from '@pothos/plugin-errors';
import RelayPlugin from '@pothos/plugin-relay';
import ZodPlugin from '@pothos/plugin-zod';
import { type GraphQLResolveInfo, isObjectType } from 'graphql';
import { PermissionError, ValidationError } from '../../kernel/errors.ts';
import type { Cents } from '../../kernel/money.ts';
import type { Context } from './context.ts';
import { DESCRIPTIONS } from './descriptions.ts';
import { notANodeId } from './foreign-ids.ts';
import { ROOT_FIELDS } from './root-fields.ts';

/** An object as a gateway knows it: its type and its keys. */
export interface Representation {
  readonly __typename: string;
  readonly [key: string]: unknown;
}

/** The enum value for statuses and kinds that only a newer version or another service knows. */
export const UNKNOWN = {
  value: 'unknown',
  description: 'A value that this server does not know yet. Never accepted as input.',
} as const;

/**
 * The schema without its types, which each slice's `schema.ts` adds. The errors plugin comes first, so that errors of the
 * other plugins become members of result unions; then the check on every root field, then the validation.
 */
export const builder = new SchemaBuilder<{
  Context: Context;
  DefaultFieldNullability: false;
  DefaultEdgesNullability: { list: false; items: false };
  DefaultNodeNullability: false;
  Scalars: {
    Cents: { Input: Cents; Output: Cents };
    DateTime: { Input: Date; Output: Date };
    Decimal: { Input: string; Output: string };
    Url: { Input: string; Output: string };
    /** An object of a supergraph by one of its keys. */
    _Any: { Input: Representation; Output: Representation };
  };
}>({
  plugins: [ErrorsPlugin, ROOT_FIELDS, ZodPlugin, RelayPlugin, DESCRIPTIONS],
  defaultFieldNullability: false,
  errors: {
    directResult: true,
    unsafelyHandleInputErrors: true,
    // Every mutation refuses a credential that may not do it.
    defaultTypes: [PermissionError],
    defaultUnionOptions: {
      name: ({ fieldName }) => `${fieldName.slice(0, 1).toUpperCase()}${fieldName.slice(1)}Result`,
    },
  },
  zod: {
    validationError: (error) =>
      new ValidationError(
        error.issues.map((issue) => ({ path: issue.path.join('.') || 'input', message: issue.message })),
      ),
  },
  relay: {
    edgesFieldOptions: { nullable: { list: false, items: false } },
    nodeFieldOptions: { nullable: false },
    nodesOnConnection: true,
    decodeGlobalID,
    nodeQueryOptions: {
      description: 'Any object by its id; null if there is none, or if it is not the caller’s.',
      resolve(_parent, { id }, _context, info, resolveNode) {
        assertNode(id, 'id', info);
        return resolveNode(id) as Promise<never>;
      },
    },
    nodesQueryOptions: {
      description: 'Up to 100 objects by their ids, in the order requested.',
      resolve(_parent, { ids }, _context, info, resolveNodes) {
        if (ids.length > MAX_NODES)
          throw new ValidationError([{ path: 'ids', message: `must be at most ${MAX_NODES}` }]);
        ids.forEach((id, index) => {
          assertNode(id, `ids.${index}`, info);
        });
        return resolveNodes(ids) as never;
      },
    },
    idFieldOptions: { description: 'A globally unique and opaque identifier.' },
    nodeTypeOptions: {},
    pageInfoTypeOptions: {},
  },
});

builder.queryType({
  description:
    'Lookups and lists. A lookup of a resource that does not exist, or belongs to another account or environment, is null, without an error. A field with @semanticNonNull is null only where it has failed, and leaves the others in the answer. Top-level errors carry extensions.code: BAD_USER_INPUT (malformed argument, naming it), UNAUTHENTICATED, FORBIDDEN, RATE_LIMITED (with retryAfterSeconds), UPSTREAM_UNAVAILABLE, NOT_OFFERED (the upstream service, which is the payments service behind this server in remote mode, does not offer it), RECORDS_BEHIND (this server was restored, and it is not known whether this was requested: request it with the same key), UNAVAILABLE (the database is away for the moment; with retryAfterSeconds where nothing was done), INTERNAL_SERVER_ERROR.',
});
builder.mutationType({
  description:
    'Operations that change something. Each returns a union: its success object, or one of the error objects that it names. An error that no caller can correct is a top-level error with extensions.code INTERNAL_SERVER_ERROR and the message Internal error. After UNAVAILABLE, repeat the mutation with the same idempotency key: it may have been done, and is not done twice. Such an error makes its field null and keeps the results of the other fields. It does not stop the next field, except an outage of the database (UNAVAILABLE): then no further field begins.',
});
builder.subscriptionType({
  description:
    'Streams of changes. A subscription to one resource, without `after`, sends its current state first, at once, then every change. With `after` (the cursor of the last update seen), it sends the changes since, nothing else. An `all…` subscription sends changes only. Updates come in order, none missed, none twice, on any instance, also after a restart. A subscription with a cursor older than the stored changes ends with extensions.code CURSOR_EXPIRED.',
});

// ── Ids ─────────────────────────────────────────────────────────────────────────────────────────

/** The limit on `nodes`, and on the objects that a gateway requests at once. */
export const MAX_NODES = 100;

interface GlobalId {
  typename: string;
  id: string;
}

/** Decodes an id. @throws ValidationError for a text that is not an id of this server */
export function decodeGlobalID(globalId: string | number | bigint): GlobalId {
  const text = Buffer.from(String(globalId), 'base64').toString('utf8');
  const { typename, id } = /^(?<typename>[A-Z][A-Za-z]*):(?<id>.+)$/.exec(text)?.groups ?? {};
  if (!typename || !id || Buffer.from(text).toString('base64') !== String(globalId))
    throw notAnId('id', String(globalId));
  return { typename, id };
}

/** Refuses an id whose type is no node. @throws ValidationError for a type whose objects have no ids */
function assertNode({ typename }: GlobalId, path: string, { schema }: GraphQLResolveInfo): void {
  const type = schema.getType(typename);
  if (!isObjectType(type) || !type.getInterfaces().some(({ name }) => name === 'Node'))
    throw notAnId(path, '');
}

function notAnId(path: string, text: string): ValidationError {
  return new ValidationError([{ path, message: notANodeId(text) }]);
}
