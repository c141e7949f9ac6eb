import {
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isObjectType,
} from 'graphql';

// The names of the same idea in each resource: its identifier, its amounts, its times, its list, its updates, its routes and its
// events. A rule says what is expected of each cell, from the name of the type alone; `names-deviations.ts` has the reasons of
// the others.

export const COLUMNS = [
  'identifier',
  'own number',
  'status',
  'amount',
  'fee',
  'net',
  'customer',
  'metadata',
  'times',
  'filter',
  'order',
  'updates',
  'refunds',
  'node',
  'REST',
  'webhooks',
] as const;
export type Column = (typeof COLUMNS)[number];

/** A resource with what each cell has, and what the rules expect of it. */
export interface Resource {
  type: string;
  cells: Record<Column, { shown: string; expected: string }>;
}

interface Route {
  method: string;
  path: string;
}

export interface Interfaces {
  schema: GraphQLSchema;
  routes: readonly Route[];
  events: readonly string[];
}

/** The words of a resource outside of GraphQL, if they are not those of its type. */
interface Words {
  path: string;
  event: string;
}

/** The cell of something that a resource does not have. */
export const NONE = '–';

/**
 * Lists the resources: the nodes, and the items of the lists that are none.
 * `words`: the path and the prefix of the events of the types whose words differ.
 */
export function readResources(
  { schema, routes, events }: Interfaces,
  words: Readonly<Record<string, Words>>,
): Resource[] {
  const objects = Object.values(schema.getTypeMap()).filter(isObjectType);
  const items = objects.flatMap((type) => {
    const nodes = type.name.endsWith('Connection') ? type.getFields().nodes : undefined;
    return nodes ? [getNamedType(nodes.type).name] : [];
  });
  return objects
    .filter((type) => isNode(type) || items.includes(type.name))
    .sort((left, right) => (left.name < right.name ? -1 : 1))
    .map((type) => ({ type: type.name, cells: cellsOf(type, { schema, routes, events }, words) }));
}

function cellsOf(
  type: GraphQLObjectType,
  { schema, routes, events }: Interfaces,
  words: Readonly<Record<string, Words>>,
): Resource['cells'] {
  const { name } = type;
  const lower = `${name[0]!.toLowerCase()}${name.slice(1)}`;
  const fields = Object.values(type.getFields()).filter(({ deprecationReason }) => deprecationReason == null);
  const names = fields.map((field) => field.name);
  const has = (...wanted: string[]) => listed(wanted.filter((field) => names.includes(field)));
  const list = findList(schema, name);
  const isFiltered = list?.args.find((argument) => argument.name === 'filter');
  const kebab = name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase();
  const { path, event } = words[name] ?? {
    path: `/v1/${pluralOf(kebab)}`,
    event: `${kebab.replaceAll('-', '_')}.`,
  };
  const subscriptions = Object.keys(schema.getSubscriptionType()!.getFields());
  const plain = (shown: string, expected: string) => ({ shown, expected });
  return {
    identifier: plain(
      listed(
        names.filter((field) => /^(?!external|order|product|subscription).*(?:Id|Code)$|^code$/.test(field)),
      ),
      `${lower}Id`,
    ),
    'own number': plain(has('orderId', 'externalId'), 'orderId'),
    status: plain(statusOf(fields), `status: ${name}Status`),
    amount: plain(has('amountCents'), 'amountCents'),
    fee: plain(listed(names.filter((field) => /(?:fee|markup)Cents$/i.test(field))), 'serviceFeeCents'),
    net: plain(has('netAmountCents'), 'netAmountCents'),
    customer: plain(has('customer'), 'customer'),
    metadata: plain(has('metadata'), 'metadata'),
    times: plain(listed(timesOf(fields)), 'createdAt'),
    filter: plain(
      isFiltered ? `filter: ${isFiltered.type}` : list ? 'no filter' : NONE,
      `filter: ${name}Filter`,
    ),
    order: plain(
      list ? (/newest first/.exec(list.description ?? '')?.[0] ?? 'not said') : NONE,
      'newest first',
    ),
    updates: plain(
      listed(subscriptions.filter((field) => updatesOf(schema, field) === name)),
      `all${name}Updates, ${lower}Updates`,
    ),
    refunds: plain(has('refunds'), 'refunds'),
    node: plain(isNode(type) ? 'node' : NONE, 'node'),
    REST: plain(
      listed([...new Set(routes.filter((route) => route.path === path).map((route) => route.path))]),
      `/v1/${pluralOf(kebab)}`,
    ),
    webhooks: plain(
      listed([...new Set(events.filter((each) => each.startsWith(event)).map(prefixOf))]),
      `${kebab.replaceAll('-', '_')}.…`,
    ),
  };
}

/** Whether a cell is as its rule expects it. The first of several times is that of the creation. */
export function deviates(column: Column, { shown, expected }: Resource['cells'][Column]): boolean {
  return column === 'times' ? !shown.split(', ').includes(expected) : shown !== expected;
}

function statusOf(fields: readonly GraphQLField<unknown, unknown>[]): string {
  const status = fields.find(({ name }) => name === 'status');
  const type = status && getNamedType(status.type);
  return isEnumType(type) ? `status: ${type.name}` : NONE;
}

function timesOf(fields: readonly GraphQLField<unknown, unknown>[]): string[] {
  return fields.flatMap((field) => (getNamedType(field.type).name === 'DateTime' ? [field.name] : [])).sort();
}

/** The field that lists a type. */
function findList(schema: GraphQLSchema, name: string) {
  const parents = Object.values(schema.getTypeMap()).filter(isObjectType);
  return parents
    .flatMap((type) => Object.values(type.getFields()))
    .find((field) => {
      const type = getNamedType(field.type);
      const nodes = isObjectType(type) && type.name.endsWith('Connection') && type.getFields().nodes;
      return nodes && getNamedType(nodes.type).name === name;
    });
}

/** The type of the resource that a subscription follows; undefined for one that follows several. */
function updatesOf(schema: GraphQLSchema, field: string): string | undefined {
  const update = getNamedType(schema.getSubscriptionType()!.getFields()[field]!.type);
  const types = isObjectType(update)
    ? Object.values(update.getFields()).map(({ type }) => getNamedType(type))
    : [];
  return types.find((type) => isObjectType(type) && isNode(type))?.name;
}

function isNode(type: GraphQLObjectType): boolean {
  return type.getInterfaces().some(({ name }) => name === 'Node');
}

const prefixOf = (event: string) => `${event.split('.')[0]}.…`;

const pluralOf = (word: string) => (word.endsWith('y') ? `${word.slice(0, -1)}ies` : `${word}s`);

function listed(names: readonly string[]): string {
  return names.length === 0 ? NONE : [...names].sort().join(', ');
}
