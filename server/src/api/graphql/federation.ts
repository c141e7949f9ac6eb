import type { ObjectRef } from '@pothos/core';
import { resolveNodes } from '@pothos/plugin-relay';
import {
  GraphQLError,
  GraphQLObjectType,
  type GraphQLResolveInfo,
  GraphQLSchema,
  Kind,
  lexicographicSortSchema,
  printSchema,
  valueFromASTUntyped,
} from 'graphql';
import { callerOf } from '../../kernel/caller.ts';
import { ValidationError } from '../../kernel/errors.ts';
import { builder, decodeGlobalID, MAX_NODES, type Representation } from './builder.ts';
import type { Context } from './context.ts';
import { assertSeesSchema } from './introspection.ts';

// The subgraph interface of Apollo Federation 2: `_service` and `_entities`.

/** The natural key of each type: the field from which the global id is made. Null for a type without one. */
const naturalKeys = new Map<string, string | null>();
const entities: ObjectRef<never, object>[] = [];

/** Lets a gateway find objects of a node type by their `id` and by `naturalKey`, the field from which the id is made. */
export function addEntity(ref: { name: string }, naturalKey: string | null = null): void {
  naturalKeys.set(ref.name, naturalKey);
  entities.push(ref as ObjectRef<never, object>);
}

/** The keys by which objects of a type are found; empty for a type that is no entity. */
export function keysOfEntity(typename: string): readonly string[] {
  const naturalKey = naturalKeys.get(typename);
  if (naturalKey === undefined) return [];
  return naturalKey === null ? ['id'] : ['id', naturalKey];
}

builder.scalarType('_Any', {
  specifiedByURL:
    'https://www.apollographql.com/docs/graphos/schema-design/federated-schemas/reference/subgraph-spec',
  description: 'An object of the supergraph by one of its keys: its __typename, and the key’s fields.',
  serialize: (value) => value,
  parseValue: toRepresentation,
  parseLiteral: (node, variables) => {
    if (node.kind !== Kind.OBJECT) throw notAnObject();
    return toRepresentation(valueFromASTUntyped(node, variables));
  },
});

function toRepresentation(value: unknown): Representation {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw notAnObject();
  if (typeof (value as { __typename?: unknown }).__typename !== 'string')
    throw new GraphQLError('_Any must name its __typename');
  return value as Representation;
}

const notAnObject = () => new GraphQLError('_Any must be an object');

const Entity = builder.unionType('_Entity', {
  description: 'Any type of object that a gateway can request by a key.',
  types: () => entities as never[],
});

const Service = builder.objectRef<object>('_Service').implement({
  description: 'The subgraph that a gateway composes.',
  fields: (t) => ({
    sdl: t.string({
      description: 'The schema as a subgraph of Apollo Federation 2. Shown to API keys, as the schema is.',
      resolve: (_, __, context, info) => {
        assertSeesSchema(callerOf(context));
        return sdlOf(info.schema);
      },
    }),
  }),
});

builder.queryFields((t) => ({
  _service: t.field({
    type: Service,
    description: 'This server as a subgraph of Apollo Federation 2.',
    resolve: () => ({}),
  }),
  _entities: t.field({
    type: [Entity],
    nullable: { list: false, items: true },
    description:
      'Up to 100 objects by their keys, in the order requested, for a gateway. Null where there is none, or it is not the caller’s.',
    args: {
      representations: t.arg({
        type: ['_Any'],
        required: true,
        description:
          'The keys of the objects, each with its __typename, and with `id` or the natural key of its type.',
      }),
    },
    resolve(_, { representations }, context, info) {
      if (representations.length > MAX_NODES)
        throw new ValidationError([{ path: 'representations', message: `must be at most ${MAX_NODES}` }]);
      // All representations are checked before the first is read.
      const ids = representations.map(readId);
      // Each entity is resolved separately: if the caller may not read one, the others remain. The loaders batch
      // their reads.
      return ids.map((id) => resolveEntity(id, context, info)) as never;
    },
  }),
}));

async function resolveEntity(
  id: { typename: string; id: string },
  context: Context,
  info: GraphQLResolveInfo,
): Promise<unknown> {
  const [found] = await resolveNodes(builder as never, context, info, [id]);
  return found;
}

/** Reads the id of the requested object. @throws ValidationError */
function readId(representation: Representation, index: number): { typename: string; id: string } {
  const { __typename: typename } = representation;
  const path = `representations.${index}`;
  const refuse = (member: string, message: string) =>
    new ValidationError([{ path: `${path}.${member}`, message }]);
  const keys = keysOfEntity(typename);
  if (keys.length === 0) throw refuse('__typename', 'is not a type with a key');
  const key = keys.find((each) => Object.hasOwn(representation, each));
  if (key === undefined) throw refuse('__typename', `must come with ${keys.join(' or ')}`);
  const value = representation[key];
  if (typeof value !== 'string' || value === '') throw refuse(key, 'must be a text');
  if (key !== 'id') return { typename, id: value };
  const id = readGlobalId(value);
  if (id?.typename !== typename) throw refuse('id', `is not an id of a ${typename} of this server`);
  return id;
}

function readGlobalId(text: string): { typename: string; id: string } | null {
  try {
    return decodeGlobalID(text);
  } catch {
    return null;
  }
}

// ── The schema for a gateway ────────────────────────────────────────────────────────────────────

/** The names of the federation interface, which the SDL of a subgraph leaves out. */
const FEDERATION_NAMES: ReadonlySet<string> = new Set([
  '_service',
  '_entities',
  '_Any',
  '_Entity',
  '_Service',
]);
const LINK =
  'extend schema @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key", "@shareable"])';

const sdls = new WeakMap<GraphQLSchema, string>();

/** Prints a schema as a subgraph. */
export function sdlOf(schema: GraphQLSchema): string {
  const known = sdls.get(schema);
  if (known !== undefined) return known;
  const printed = printSchema(lexicographicSortSchema(withoutFederation(schema)));
  // Other subgraphs have pages, too, so the types of pages are shareable.
  const withDirectives = printed.replace(/^type (\w+)( implements [^{]+)? \{$/gm, (line, name: string) => {
    const directives = name === 'PageInfo' ? ['@shareable'] : keysOfEntity(name).map(keyDirective);
    return directives.length === 0 ? line : line.replace(/ \{$/, ` ${directives.join(' ')} {`);
  });
  // The composition of Apollo refuses an unknown directive; this server still enforces `@oneOf`.
  const sdl = `${LINK}\n\n${withDirectives.replaceAll(/^(input \w+) @oneOf \{$/gm, '$1 {')}\n`;
  sdls.set(schema, sdl);
  return sdl;
}

const keyDirective = (key: string) => `@key(fields: "${key}")`;

function withoutFederation(schema: GraphQLSchema): GraphQLSchema {
  const config = schema.toConfig();
  const query = config.query!.toConfig();
  const fields = Object.entries(query.fields).filter(([name]) => !FEDERATION_NAMES.has(name));
  return new GraphQLSchema({
    ...config,
    query: new GraphQLObjectType({ ...query, fields: Object.fromEntries(fields) }),
    types: config.types.filter((type) => type !== config.query && !FEDERATION_NAMES.has(type.name)),
  });
}
