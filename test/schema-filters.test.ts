import {
  type GraphQLArgument,
  type GraphQLInputObjectType,
  type GraphQLObjectType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isListType,
  isObjectType,
} from 'graphql';
import { describe, expect, it, test } from 'vitest';
import { withReplaced } from '../server/src/api/graphql/filters.ts';
import {
  booleanQuery,
  customerQuery,
  listQuery,
  readListQuery,
  receivedQuery,
} from '../server/src/api/http/list-query.ts';
import { describeOperations } from '../server/src/api/http/openapi.ts';
import { readFilter } from '../server/src/kernel/list-filter.ts';
import { createOperations } from '../server/src/programs/modes/parts.ts';
import { schema } from '../server/src/programs/modes/schema.ts';
import { LIST_OF_ROUTE } from './support/schema-lists.ts';

const outputs = Object.values(schema.getTypeMap()).filter(
  (type): type is GraphQLObjectType => isObjectType(type) && !type.name.startsWith('__'),
);
const fieldsOf = (type: GraphQLObjectType) =>
  Object.values(type.getFields()).map((field) => ({ name: `${type.name}.${field.name}`, field }));
const connections = outputs
  .flatMap(fieldsOf)
  .filter(({ field }) => getNamedType(field.type).name.endsWith('Connection'));

const PAGE = ['first', 'last', 'after', 'before'];
const filterOf = (args: readonly GraphQLArgument[]) =>
  args.find(({ name }) => name === 'filter')?.type.toString() ?? null;

/** The lists without a filter, and the reason of each. */
const UNFILTERED: Record<string, string> = {
  'Query.pausedTokens': 'a short list that an operator empties: each needs a decision',
  'Query.requestsInDoubt': 'a short list that an operator empties: each needs a decision',
};

describe('The filter of a list', () => {
  it('Each connection takes one filter, and no condition beside it that is not deprecated', () => {
    const lacking = connections.filter(({ name, field }) => !filterOf(field.args) && !(name in UNFILTERED));
    expect(lacking.map(({ name }) => name)).toEqual([]);
    const beside = connections.flatMap(({ name, field }) =>
      field.args
        .filter((each) => ![...PAGE, 'filter'].includes(each.name) && !each.deprecationReason)
        .map((each) => `${name}(${each.name})`),
    );
    expect(beside).toEqual([]);
    expect(connections.length).toBeGreaterThan(14);
  });

  it('A deprecated argument beside a filter has a member of its name and type in it', () => {
    const replaced = outputs.flatMap(fieldsOf).flatMap(({ name, field }) => {
      const filter = field.args.find((each) => each.name === 'filter');
      return field.args
        .filter(({ deprecationReason }) => deprecationReason?.startsWith('Use filter.'))
        .map((each) => ({ name: `${name}(${each.name})`, argument: each, filter }));
    });
    const different = replaced.filter(({ argument, filter }) => {
      const members = filter && (getNamedType(filter.type) as GraphQLInputObjectType).getFields();
      // The statuses of card payments had an enum of their own, which only this argument still has.
      const type = `${argument.type}`.replace('CardPaymentStatus', 'PaymentStatus');
      return `${members?.[argument.name]?.type}` !== type;
    });
    expect(different.map(({ name }) => name)).toEqual([]);
    expect(replaced.length).toBeGreaterThan(10);
  });

  it.each([
    ['cardPayments', 'cardPaymentTotals', 'allCardPaymentUpdates'],
    ['charges', 'chargeTotals', 'allChargeUpdates'],
    ['payments', 'paymentTotals', 'allPaymentUpdates'],
    ['payouts', 'payoutTotals', 'allPayoutUpdates'],
    ['sales', 'salesTotals', null],
    ['refunds', 'refundTotals', 'allRefundUpdates'],
    ['disputes', null, 'allDisputeUpdates'],
    ['subscriptions', null, 'allSubscriptionUpdates'],
    ['webhookDeliveries', null, 'allWebhookDeliveryUpdates'],
    ['Subaccount.payouts', 'subaccountPayoutTotals', 'allSubaccountPayoutUpdates'],
    // An update of a subaccount is an entry of its statement.
    ['Subaccount.statement', null, 'allSubaccountUpdates'],
  ])('Totals and updates take the filter of their list: %s, %s, %s', (list, totals, updates) => {
    const [parent, name] = list.includes('.') ? list.split('.') : ['Query', list];
    const filterAt = (type: string, field: string) =>
      filterOf((schema.getType(type) as GraphQLObjectType).getFields()[field]!.args);
    const filter = filterAt(parent!, name!);
    expect(filter).toMatch(/Filter$/);
    if (totals) expect(filterAt('Query', totals)).toBe(filter);
    if (updates) expect(filterAt('Subscription', updates)).toBe(filter);
  });

  it('Each total and each stream of all updates is among these, or has no list', () => {
    const fields = fieldsOf(schema.getQueryType()!).filter(({ name }) => name.endsWith('Totals'));
    const streams = fieldsOf(schema.getSubscriptionType()!).filter(({ name }) =>
      /\.all\w+Updates$/.test(name),
    );
    const unfiltered = [...fields, ...streams].filter(({ field }) => !filterOf(field.args));
    // Checkout tokens have no list.
    expect(unfiltered.map(({ name }) => name)).toEqual(['Subscription.allCheckoutTokenUpdates']);
  });
});

const filters = Object.values(schema.getTypeMap()).filter(
  (type): type is GraphQLInputObjectType => isInputObjectType(type) && type.name.endsWith('Filter'),
);

describe('The members of all filters', () => {
  /** The type of a member, by its name: one idea has one name and one type. */
  const TYPES: readonly [name: RegExp, type: string][] = [
    [/^[a-z]+(?:After|Before)$/, 'DateTime'],
    [/^(?:(?:min|max)[A-Z][a-z]+|[a-z]+)Cents$/, 'Cents'],
    [/^(?:status|method|kind|cause|stock)$/, 'enums'],
    [/^event$/, '[String!]'],
    [/^responseStatus$/, '[Int!]'],
    [/^(?:externalId|orderId|reference|productId|subaccountId|endpointId|email)$/, 'String'],
    [/^(?:split|available|reusable|ended)$/, 'Boolean'],
    [/^customer$/, 'CustomerFilter'],
  ];

  it('A member has the type that its name has everywhere', () => {
    const members = filters.flatMap((filter) =>
      Object.values(filter.getFields()).map((field) => ({ name: `${filter.name}.${field.name}`, field })),
    );
    const different = members.filter(({ field: { name, type } }) => {
      const isOfEnums = isListType(type) && isEnumType(getNamedType(type));
      return !TYPES.some(([form, of]) => form.test(name) && (isOfEnums ? 'enums' : `${type}`) === of);
    });
    expect(different.map(({ name, field }) => `${name}: ${field.type}`)).toEqual([]);
    expect(members.length).toBeGreaterThan(100);
  });

  it('A period has both ends, and an amount its range', () => {
    const alone = filters.flatMap((filter) => {
      const names = Object.keys(filter.getFields());
      const needed = names.flatMap((name) => {
        if (name.endsWith('After')) return [name.replace(/After$/, 'Before')];
        if (name.endsWith('Before')) return [name.replace(/Before$/, 'After')];
        if (!name.endsWith('Cents')) return [];
        const amount = name.replace(/^(?:min|max)/, '').replace(/^./, (letter) => letter.toUpperCase());
        return [`min${amount}`, `max${amount}`, amount.replace(/^./, (letter) => letter.toLowerCase())];
      });
      return needed.filter((name) => !names.includes(name)).map((name) => `${filter.name}.${name}`);
    });
    expect(alone).toEqual([]);
  });
});

test('A list of /v1 takes the members of its filter as parameters, under the same names', () => {
  const publicUrl = 'http://localhost';
  const operations = createOperations({ publicUrl } as Parameters<typeof createOperations>[0]);
  const { paths } = describeOperations(operations, publicUrl) as {
    paths: Record<string, { get?: { parameters: { name: string; in: string }[] } }>;
  };
  const lists = Object.entries(paths).flatMap(([route, { get }]) => {
    const names = (get?.parameters ?? []).filter((each) => each.in === 'query').map(({ name }) => name);
    return names.includes('offset')
      ? [{ route, names: names.filter((each) => each !== 'idempotencyKey') }]
      : [];
  });
  expect(lists.map(({ route }) => route).sort()).toEqual(Object.keys(LIST_OF_ROUTE).sort());
  for (const { route, names } of lists) {
    const [parent, field] = LIST_OF_ROUTE[route]!.split('.');
    const list = (schema.getType(parent!) as GraphQLObjectType).getFields()[field!]!;
    const filter = getNamedType(list.args.find(({ name }) => name === 'filter')!.type);
    const members = Object.keys((filter as GraphQLInputObjectType).getFields()).flatMap((name) =>
      name === 'customer' ? ['customerEmail', 'customerExternalId'] : [name],
    );
    expect([route, ...names.sort()]).toEqual([route, ...members, 'limit', 'offset'].sort());
  }
});

describe('The arguments that a filter has replaced', () => {
  interface Filter {
    externalId?: string;
    status?: string[] | null;
  }
  const replaced = (filter: Filter | null, status: string[] | null) =>
    withReplaced<Filter>(filter, { status });

  it('An argument selects as the member of the filter does', () => {
    expect(replaced({ externalId: '7' }, ['paid'])).toEqual({
      externalId: '7',
      status: ['paid'],
    });
    expect(replaced(null, [])).toEqual({ status: [] });
    expect(replaced({ status: ['paid'] }, null)).toEqual({ status: ['paid'] });
  });

  it('An argument is refused beside the member of the filter, by both names, and with UNKNOWN by its own', () => {
    expect(() => replaced({ status: ['paid'] }, ['failed'])).toThrow(
      'status: not together with filter.status',
    );
    expect(() => replaced({}, ['unknown'])).toThrow('status: UNKNOWN cannot be asked for');
  });
});

describe('A filter as it is read', () => {
  it.each([
    [{ minAmountCents: 2, maxAmountCents: 1 }, 'filter.maxAmountCents: must be at least minAmountCents'],
    [{ minPriceCents: 2, maxPriceCents: 1 }, 'filter.maxPriceCents: must be at least minPriceCents'],
    [
      { closedAfter: new Date(2), closedBefore: new Date(2) },
      'filter.closedBefore: must be later than closedAfter',
    ],
    [{ kind: ['codes', 'unknown'] }, 'filter.kind: UNKNOWN cannot be asked for'],
    [{ reference: 'a b' }, 'filter.reference: must be 1 to 128 letters, digits and signs'],
  ])('%j is refused: %s', (filter, message) => {
    expect(() => readFilter<object>(filter)).toThrow(message);
  });

  it('A range may begin and end with one amount, and null is no condition', () => {
    expect(readFilter<object>({ minAmountCents: 5, maxAmountCents: 5, status: null })).toEqual({
      minAmountCents: 5,
      maxAmountCents: 5,
    });
  });
});

describe('The parameters of lists', () => {
  const parameters = listQuery({
    ...receivedQuery(['pending', 'paid'], 'Selects one'),
    ...customerQuery,
    split: booleanQuery('Selects split ones'),
  });

  it('A list of words, an instant, cents and a flag are read from texts', () => {
    const query = parameters.parse({
      status: 'paid,pending',
      paidAfter: '2026-01-31T12:00:00Z',
      minAmountCents: '0',
      split: 'false',
      customerEmail: 'ana@example.com',
    });
    expect(readListQuery<object>(query)).toEqual({
      limit: 50,
      offset: 0,
      status: ['paid', 'pending'],
      paidAfter: new Date('2026-01-31T12:00:00Z'),
      minAmountCents: 0,
      split: false,
      customer: { email: 'ana@example.com' },
    });
  });

  it.each([
    ['status', 'paid,lost', 'must be one or several of pending, paid, divided by commas'],
    ['status', '', 'must be one or several of pending, paid, divided by commas'],
    ['paidAfter', '2026-02-30T00:00:00Z', 'must be an ISO 8601 instant'],
    ['paidAfter', '2026-01-01T00:00:00 03:00', 'write a + in it as %2B'],
    ['minAmountCents', '1.5', 'must be a whole number of cents'],
    ['maxAmountCents', '-1', 'must be a whole number of cents'],
    ['split', 'yes', 'must be true or false'],
    ['customerEmail', '\u0000', 'must not contain U+0000'],
  ])('%s=%s is refused by the name of the parameter', (name, value, message) => {
    const issues = parameters.safeParse({ [name]: value }).error?.issues ?? [];
    expect(issues.map((issue) => [issue.path, issue.message])).toEqual([
      [[name], expect.stringContaining(message)],
    ]);
  });

  it('A customer is named once', () => {
    const query = parameters.parse({ customerEmail: 'ana@example.com', customerExternalId: '42' });
    expect(() => readListQuery(query)).toThrow('customerEmail: not together with customerExternalId');
  });
});
