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

/** The path of a list and the beginning of the events, if they are not those of the type's name. */
export interface Words {
  path?: string;
  event?: string;
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
  const all = (matches: (field: string) => boolean) => listed(names.filter(matches));
  const has = (...wanted: string[]) => all((field) => wanted.includes(field));
  const isSale = type.getInterfaces().some((each) => each.name === 'Sale');
  const isPaid = isSale || name.endsWith('Payout');
  const list = findList(schema, name);
  const filter = list?.args.find((argument) => argument.name === 'filter');
  const kebab = name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase();
  const snake = kebab.replaceAll('-', '_');
  const route = `/v1/${pluralOf(kebab)}`;
  const { path = route, event = `${snake}.` } = words[name] ?? {};
  const subscriptions = Object.keys(schema.getSubscriptionType()!.getFields());
  const cell = (shown: string, expected: string) => ({ shown, expected });
  return {
    identifier: cell(
      all((field) => isIdentifier(field, name)),
      `${lower}Id`,
    ),
    'own number': cell(has('orderId', 'externalId'), isSale ? 'orderId' : 'externalId'),
    status: cell(statusOf(fields), `status: ${isSale ? 'PaymentStatus' : `${name}Status`}`),
    amount: cell(has('amountCents'), 'amountCents'),
    fee: cell(
      all((field) => /(?:fee|markup)Cents$/i.test(field)),
      isPaid ? 'serviceFeeCents' : NONE,
    ),
    net: cell(has('netAmountCents'), isPaid ? 'netAmountCents' : NONE),
    customer: cell(has('customer'), isSale ? 'customer' : NONE),
    metadata: cell(has('metadata'), isSale ? 'metadata' : NONE),
    times: cell(listed(timesOf(fields)), 'createdAt'),
    filter: cell(filter ? `filter: ${filter.type}` : NONE, list ? `filter: ${name}Filter` : NONE),
    order: cell(list ? orderOf(list) : NONE, list ? NEWEST_FIRST : NONE),
    updates: cell(
      listed(subscriptions.filter((field) => followed(schema, field) === name)),
      `all${name}Updates, ${lower}Updates`,
    ),
    refunds: cell(has('refunds'), isSale ? 'refunds' : NONE),
    node: cell(isNode(type) ? 'node' : NONE, 'node'),
    REST: cell(routes.some((each) => each.path === path) ? path : NONE, route),
    webhooks: cell(
      listed([...new Set(events.filter((each) => each.startsWith(event)).map(prefixOf))]),
      `${snake}.…`,
    ),
  };
}

const NEWEST_FIRST = 'newest first';

/** Whether a cell is not as its rule expects it. Of several times or identifiers one is the expected one. */
export function deviates(column: Column, { shown, expected }: Resource['cells'][Column]): boolean {
  return column === 'times' || column === 'identifier'
    ? !shown.split(', ').includes(expected)
    : shown !== expected;
}

function statusOf(fields: readonly GraphQLField<unknown, unknown>[]): string {
  const status = fields.find(({ name }) => name === 'status');
  const type = status && getNamedType(status.type);
  return isEnumType(type) ? `status: ${type.name}` : NONE;
}

function timesOf(fields: readonly GraphQLField<unknown, unknown>[]): string[] {
  return fields.flatMap((field) => (getNamedType(field.type).name === 'DateTime' ? [field.name] : [])).sort();
}

/** The members that name a resource itself: those that name another, or money at the bank, are no identifiers. */
function isIdentifier(field: string, type: string): boolean {
  if (field === 'code' || field === 'orderCode') return true;
  const of = /^(external|order|endToEnd|subaccount|product|subscription|payment)Id$/.exec(field);
  return /(?:Id|Ref)$/.test(field) && (!of || type.toLowerCase().endsWith(of[1]!));
}

/** The order of a list, in the words of its description. */
function orderOf({ description }: GraphQLField<unknown, unknown>): string {
  const text = description?.toLowerCase() ?? '';
  return text.includes(NEWEST_FIRST) ? NEWEST_FIRST : 'not said';
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
function followed(schema: GraphQLSchema, field: string): string | undefined {
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
