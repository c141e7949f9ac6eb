import { readFileSync } from 'node:fs';
import {
  buildSchema,
  type GraphQLInputType,
  type GraphQLObjectType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isObjectType,
} from 'graphql';
import { COMMON_CENTS, ORDER, PAYER, RARE_CENTS, ROW_AT, type Seeded } from '../state/db/list-rows.ts';

// Every list of the schema and of `/v1`, alone and with each of its filters, derived from their descriptions.

const schema = buildSchema(readFileSync(new URL('../../schema.graphql', import.meta.url), 'utf8'), {
  assumeValidSDL: true,
});

/** The types with fields of their own that a client reads. */
export const outputTypes = Object.values(schema.getTypeMap()).filter(
  (type): type is GraphQLObjectType =>
    isObjectType(type) && !/^__|Connection$|Edge$|^Mutation$|^Subscription$/.test(type.name),
);

/** An account whose lists are read, with the rows of `SEED`. */
export type Owner = Pick<Seeded, 'rows' | 'first'>;
type Values = (of: Owner) => readonly unknown[];

/** The request of a page, the same for each account. `name` tells the list and its filter. */
export interface ListRequest {
  name: string;
  list: string;
  isFiltered: boolean;
  /** The path in `/v1`; null for GraphQL. */
  path(of: Owner): string | null;
  body(of: Owner): { query: string; variables: Record<string, unknown> } | null;
}

const hex = (number: number, digits: number) => number.toString(16).padStart(digits, '0');
const subaccountOf = ({ first }: Owner) => `sacc_${hex(first, 32)}`;
const subscriptionOf = ({ first }: Owner) => `psa_sub_${hex(first + 1, 32)}`;

/** The parents of nested lists, each with its field. */
const PARENTS: Record<string, (of: Owner) => string> = {
  Query: () => '',
  Wallet: () => 'wallet',
  Subaccount: (of) => `subaccount(subaccountId: "${subaccountOf(of)}")`,
  PixSubscription: (of) => `subscription(subscriptionId: "${subscriptionOf(of)}")`,
};

/** Arguments of pages, and of a look-up in place of one, which are no filters. */
const OF_PAGES = ['first', 'last', 'after', 'before', 'limit', 'offset', 'idempotencyKey'];

/** The number of an old row, which alone has the rare values. */
const OLD = 7;
const named =
  (name: (number: number) => string): Values =>
  ({ first }) => [name(first + OLD), name(99_999_999)];

/**
 * The values of a filter by text: a value of one old row, a value of many rows if there is one, and a value of no
 * row. A filter without values fails.
 */
const TEXTS: Record<string, Values> = {
  externalId: () => [`pedido-${OLD}`, ORDER, 'pedido'],
  orderId: () => [`pedido-${OLD}`, ORDER, 'pedido'],
  'customer.email': () => [PAYER.rare.email, PAYER.common.email, 'ninguem@example.com'],
  'customer.externalId': () => [PAYER.rare.externalId, PAYER.common.externalId, 'ninguem'],
  'Query.payments.reference': named((number) => `E${number + 1_000}`),
  'Query.charges.reference': named((number) => `E${number + 1_000}`),
  'Query.cardPayments.reference': named((number) => `PSC-${number}`),
  'Query.sales.reference': named((number) => `E${number + 1_000}`),
  'Query.payouts.reference': named((number) => hex(number, 24)),
  'Subaccount.payouts.reference': named((number) => `saq_${number}`),
  'Subaccount.statement.reference': named(String),
  'Wallet.statement.reference': named((number) => `PSC-${number}`),
  'Wallet.statement.subaccountId': () => ['sacc_'.padEnd(37, '0')],
  'Query.refunds.reference': named((number) => `ref_${hex(number, 24)}`),
  'Query.returns.reference': named((number) => `E${number}`),
  'Query.disputes.reference': named((number) => `dsp_${hex(number, 24)}`),
  'Query.subscriptions.reference': named((number) => `psa_sub_${hex(number, 32)}`),
  'Query.webhookDeliveries.reference': named((number) => `whd_${number}`),
  'Query.subaccounts.externalId': () => [`cliente-${OLD}`, 'ninguem'],
  endpointId: () => [`whe_${hex(1, 24)}`, `whe_${hex(2, 24)}`, 'whe_none'],
  responseStatus: () => [503, 200, 0, 5],
  event: () => ['charge.paid', 'payment.paid', 'dispute.closed'],
  // The first product has the content of all rare rows.
  productId: ({ first }) => [hex(first, 24), hex(99_999_999, 24)],
  customerEmail: () => [PAYER.rare.email, PAYER.common.email, 'ninguem@example.com'],
  customerExternalId: () => [PAYER.rare.externalId, PAYER.common.externalId, 'ninguem'],
};

/** A status that only another service has, and that no filter accepts. */
const UNASKED = ['UNKNOWN'];

const at = (place: number) => ROW_AT(place).toISOString();
const [NEVER_YET, LONG_AGO] = ['2999-01-01T00:00:00.000Z', '2000-01-01T00:00:00.000Z'];

/** The values of a filter, from its type. Instants select few old rows, a few new ones, all, or none. */
function valuesOf(list: string, path: readonly string[], type: GraphQLInputType): Values {
  const of = getNamedType(type);
  const name = path.at(-1)!;
  const wrap = (values: readonly unknown[]) =>
    String(type).startsWith('[') ? values.map((value) => [value]) : values;
  if (isEnumType(of)) {
    const all = of.getValues().flatMap((value) => (UNASKED.includes(value.name) ? [] : [value.name]));
    return () => (String(type).startsWith('[') ? [...wrap(all), all] : all);
  }
  if (of.name === 'Boolean') return () => [true, false];
  if (of.name === 'Cents') return () => [RARE_CENTS, COMMON_CENTS, 5];
  if (of.name === 'DateTime' && name.endsWith('After'))
    return ({ rows }) => [LONG_AGO, at(rows - 5), NEVER_YET];
  if (of.name === 'DateTime' && name.endsWith('Before')) return () => [at(OLD + 1), NEVER_YET, LONG_AGO];
  const values = TEXTS[`${list}.${path.join('.')}`] ?? TEXTS[path.join('.')];
  if (!values) throw new Error(`${list} has the filter ${path.join('.')}: name values of it in TEXTS.`);
  return (owner) => wrap(values(owner));
}

/** The lists with pages of the schema: the fields that are connections. */
function connections() {
  return outputTypes.flatMap((type) =>
    Object.values(type.getFields())
      .filter((field) => getNamedType(field.type).name.endsWith('Connection'))
      .map((field) => ({ name: `${type.name}.${field.name}`, type, field })),
  );
}

interface Filter {
  /** The argument, and the members of its input down to the value. */
  path: readonly string[];
  type: GraphQLInputType;
}

function filtersOf(path: readonly string[], type: GraphQLInputType): Filter[] {
  const of = getNamedType(type);
  if (!isInputObjectType(of)) return [{ path, type }];
  return Object.values(of.getFields()).flatMap((field) => filtersOf([...path, field.name], field.type));
}

/**
 * Requests for the first or the last page of every list of the schema: without a filter, and with each value of each
 * filter.
 */
export function schemaRequests(ends: readonly ('first' | 'last')[]): ListRequest[] {
  return connections().flatMap(({ name: list, type, field }) => {
    const parent = PARENTS[type.name];
    if (!parent) throw new Error(`${list} is nested: say in PARENTS how it is reached.`);
    const filters = field.args
      // A deprecated argument selects what a member of the filter does.
      .filter(({ name, deprecationReason }) => !OF_PAGES.includes(name) && !deprecationReason)
      .flatMap((argument) =>
        filtersOf([argument.name], argument.type).map((filter) => ({ argument, filter })),
      );
    return ends.flatMap((end) => {
      const request = (
        name: string,
        isFiltered: boolean,
        declared: string,
        passed: string,
        given: Values,
        nth: number,
      ) => ({
        name: `${list} ${end}${name}`,
        list,
        isFiltered,
        path: () => null,
        body(of: Owner) {
          const page = `${field.name}(${end}: 50${passed}) { edges { cursor node { __typename } } }`;
          const inside = parent(of);
          return {
            query: `query${declared} { ${inside ? `${inside} { ${page} }` : page} }`,
            variables: (given(of)[nth] ?? {}) as Record<string, unknown>,
          };
        },
      });
      return [
        request('', false, '', '', () => [], 0),
        ...filters.flatMap(({ argument, filter: { path, type: valueType } }) => {
          const [, ...inside] = path;
          const values = valuesOf(list, inside.length > 0 ? inside : path, valueType);
          const nest = (value: unknown) =>
            path.reduceRight<unknown>((member, key) => ({ [key]: member }), value);
          const examples = values({ rows: 1_000, first: 0 });
          return examples.map((example, nth) =>
            request(
              ` by ${path.join('.')} ${JSON.stringify(example)}`,
              true,
              ` ($${argument.name}: ${argument.type})`,
              `, ${argument.name}: $${argument.name}`,
              (of) => values(of).map(nest),
              nth,
            ),
          );
        }),
      ];
    });
  });
}

/** The comparison by which a node shows that it fulfils a member of a filter; null if it does not show it. */
function shows(node: GraphQLObjectType, member: string): ((shown: Shown, value: unknown) => boolean) | null {
  const fields = node.getFields();
  const [, instant, end] = /^([a-z]+)(After|Before)$/.exec(member) ?? [];
  if (instant !== undefined) {
    const field = `${instant}At`;
    if (!fields[field]) return null;
    const isAfter = (shown: Shown, value: unknown) => `${shown[field]}` >= `${value}`;
    return (shown, value) => shown[field] !== null && isAfter(shown, value) === (end === 'After');
  }
  const [, limit, amount] = /^(min|max)([A-Z]\w+)$/.exec(member) ?? [];
  if (amount !== undefined) {
    const field = amount.charAt(0).toLowerCase() + amount.slice(1);
    const sign = limit === 'min' ? 1 : -1;
    return (shown, value) =>
      shown[field] !== null && sign * Math.abs(Number(shown[field])) >= sign * Number(value);
  }
  if (!fields[member]) return null;
  return (shown, value) =>
    Array.isArray(value)
      ? value.includes(shown[member])
      : typeof value === 'number'
        ? Math.abs(Number(shown[member])) === value
        : shown[member] === value;
}

type Shown = Readonly<Record<string, unknown>>;

/** A member of a filter with a value, and whether a node shows that it fulfils it. */
export interface FilterCase {
  name: string;
  /** The query of the `first` and the `last` items, with the variable `filter`, whose nodes show the member. */
  query: string;
  /** The field of the answer that the lists are in; null for its root. */
  parent: string | null;
  filter: Record<string, unknown>;
  isSelected(shown: Shown): boolean;
}

/** Each value of each member of the filters of all lists, of members that a node shows. */
export function filterCases(of: Owner): FilterCase[] {
  return connections().flatMap(({ name: list, type, field }) => {
    const edge = getNamedType((getNamedType(field.type) as GraphQLObjectType).getFields().nodes!.type);
    const argument = field.args.find(({ name }) => name === 'filter');
    const input = argument && getNamedType(argument.type);
    if (!isInputObjectType(input)) return [];
    // The list of all sales is three times as long as those of its kinds: money-in/sales/sales.test.ts.
    if (!isObjectType(edge)) return [];
    const node = edge;
    return Object.values(input.getFields()).flatMap((member) => {
      const fulfills = shows(node, member.name);
      if (!fulfills || isInputObjectType(getNamedType(member.type))) return [];
      const shown = Object.keys(node.getFields()).filter((each) => fulfilling(member.name).includes(each));
      const key = Object.keys(node.getFields()).find((each) =>
        /^(?:id|returnId|tokenId|number)$/.test(each),
      )!;
      // Some lists have one item more than the rows that were seeded.
      const page = ['first', 'last']
        .map((end) => {
          const nodes = `nodes { key: ${key} ${shown.join(' ')} }`;
          return `${end}: ${field.name}(${end}: 100, filter: $filter) { ${nodes} }`;
        })
        .join(' ');
      const inside = PARENTS[type.name]!(of);
      return valuesOf(
        list,
        [member.name],
        member.type,
      )(of).map((value) => ({
        name: `${list} by ${member.name} ${JSON.stringify(value)}`,
        query: `query ($filter: ${argument!.type}) { ${inside ? `${inside} { ${page} }` : page} }`,
        parent: inside ? inside.split('(')[0]! : null,
        filter: { [member.name]: value },
        isSelected: (item) => fulfills(item, value),
      }));
    });
  });
}

/** The fields that may show a member of a filter. */
function fulfilling(member: string): string[] {
  const amount = member.replace(/^(?:min|max)([A-Z])/, (_, letter: string) => letter.toLowerCase());
  return [amount, member.replace(/(?:After|Before)$/, 'At')];
}

interface Parameter {
  name: string;
  in: string;
  schema: { enum?: string[]; items?: { enum?: string[] }; type?: string; format?: string };
}

/** The list of the schema that shows what a list of `/v1` does. */
export const LIST_OF_ROUTE: Record<string, string> = {
  '/v1/card-payments': 'Query.cardPayments',
  '/v1/charges': 'Query.charges',
  '/v1/deliveries': 'Query.deliveries',
  '/v1/disputes': 'Query.disputes',
  '/v1/payments': 'Query.payments',
  '/v1/payouts': 'Query.payouts',
  '/v1/products': 'Query.products',
  '/v1/returns': 'Query.returns',
  '/v1/sales': 'Query.sales',
  '/v1/store/products': 'Query.storeProducts',
  '/v1/subaccounts': 'Query.subaccounts',
  '/v1/subaccounts/{id}/payouts': 'Subaccount.payouts',
  '/v1/subaccounts/{id}/statement': 'Subaccount.statement',
  '/v1/subscriptions': 'Query.subscriptions',
  '/v1/wallet/statement': 'Wallet.statement',
};

/** The values of a parameter, as those of the member of its name. */
function valuesOfParameter(route: string, { name, schema: { enum: all, items, type, format } }: Parameter) {
  const words = all ?? items?.enum;
  if (words) return () => words;
  if (type === 'boolean') return () => [true, false];
  if (type === 'integer') return () => [RARE_CENTS, COMMON_CENTS, 5];
  if (format === 'date-time')
    return ({ rows }: Owner) =>
      name.endsWith('After') ? [at(rows - 5), NEVER_YET] : [at(OLD + 1), LONG_AGO];
  const values = TEXTS[`${LIST_OF_ROUTE[route]}.${name}`] ?? TEXTS[name];
  if (!values) throw new Error(`${route} has the filter ${name}: name values of it in TEXTS.`);
  return values;
}

/** Requests for the first page of every list of `/v1`, from the description of its routes. */
export function restRequests(description: {
  paths: Record<string, { get?: { parameters?: Parameter[] } }>;
}): ListRequest[] {
  return Object.entries(description.paths).flatMap(([route, { get }]) => {
    const parameters = get?.parameters ?? [];
    if (!parameters.some(({ name }) => name === 'offset')) return [];
    const request = (isFiltered: boolean, filter: string, values: Values, nth: number): ListRequest => ({
      name: `GET ${route}${filter}`,
      list: `GET ${route}`,
      isFiltered,
      body: () => null,
      path: (of) => {
        const value = values(of)[nth];
        const path = route.replace('/subaccounts/{id}', `/subaccounts/${subaccountOf(of)}`);
        if (path.includes('{')) throw new Error(`${route} is nested: say how it is reached.`);
        return `${path}?limit=50${value === undefined ? '' : `&${value}`}`;
      },
    });
    return [
      request(false, '', () => [], 0),
      ...parameters
        .filter((each) => each.in === 'query' && !OF_PAGES.includes(each.name))
        .flatMap((parameter) => {
          const { name } = parameter;
          const values = valuesOfParameter(route, parameter);
          return values({ rows: 1_000, first: 0 }).map((example, nth) =>
            request(
              true,
              ` by ${name} ${example}`,
              (of) => values(of).map((value) => `${name}=${value}`),
              nth,
            ),
          );
        }),
    ];
  });
}
