import { getNamedType, isEnumType, isListType, isNonNullType } from 'graphql';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { createSystemClock } from '../../../server/src/kernel/clock.ts';
import { addAccount, addKey } from '../../support/accounts.ts';
import { startApp, type TestApp } from '../../support/app.ts';
import { connectTo, createPostgresDatabase } from '../../support/database.ts';
import { sampled, scale } from '../../support/scale.ts';
import {
  filterCases,
  type ListRequest,
  type Owner,
  outputTypes,
  restRequests,
  schemaRequests,
} from '../../support/schema-lists.ts';
import { explainQueries, type ReadPlan } from '../../support/statements.ts';
import { COUNT, CROWD, MOST, RARE, ROWS_OF_CROWD, SEED, seed } from './list-rows.ts';

/** The lists without pages, and the bound of each. */
const BOUNDED: Record<string, string> = {
  'CardPayment.delivered': 'one for each unit of the product that was bought',
  'CardPayment.disputes': 'each takes a part of one payment',
  'CardPayment.refunds': 'MAX_REFUNDS',
  'Charge.disputes': 'each takes a part of one charge',
  'Charge.refunds': 'MAX_REFUNDS',
  'Charge.returnedCredits': 'one for each further PIX of one code',
  'Charge.splits': 'MAX_SPLITS',
  'ClosingReport.lines': 'the kinds of entries',
  'Dispute.evidence': 'MAX_EVIDENCE',
  'Dispute.files': 'MAX_FILES',
  'DisputeEvidence.documents': 'a part of one answer',
  'DisputeEvidence.fileIds': 'MAX_FILES',
  'Payment.delivered': 'one for each unit of the product that was bought',
  'Payment.disputes': 'each takes a part of one payment',
  'Payment.refunds': 'MAX_REFUNDS',
  'Payment.returnedCredits': 'one for each further PIX of one code',
  'PermissionError.requiresAnyOf': 'permissions',
  'PayoutTotals.groups': 'the hours of 31 days, by methods and statuses',
  'PixSubscription.returnedCredits': 'one for each further PIX of one code',
  'Query._entities': 'the representations of the request',
  'Query.nodes': 'the ids of the request',
  'Query.webhookEndpoints': 'MAX_ENDPOINTS',
  'Query.webhookEvents': 'the events of the code',
  'WebhookAttempt.requestHeaders': 'at most 4,096 characters',
  'WebhookAttempt.responseHeaders': 'at most 4,096 characters',
  'RefundTotals.groups': 'the hours of 31 days, by statuses',
  'SalesTotals.groups': 'MAX_SLOTS, by methods and statuses',
  'StatementUpdate.entries': 'the transactions of one commit',
  'WalletUpdate.entries': 'the transactions of one commit',
  'SubaccountPayoutTotals.groups': 'the hours of 31 days, by statuses',
  'Token.allowedOrigins': 'MAX_ORIGINS',
  'ValidationError.fields': 'the arguments of the request',
  'Wallet.history': 'MAX_BUCKETS',
  'WebhookDelivery.attempts': 'seven attempts',
  'WebhookEndpoint.events': 'the events of the code',
};

const fields = outputTypes.flatMap((type) =>
  Object.values(type.getFields()).map((field) => ({ name: `${type.name}.${field.name}`, field })),
);

describe('the lists of the schema', () => {
  it('Each list has pages, or something that bounds it', () => {
    const lists = fields
      .filter(({ field: { type } }) => isListType(isNonNullType(type) ? type.ofType : type))
      .filter(
        ({ field: { type } }) => !isEnumType(getNamedType(type)) && getNamedType(type).name !== 'String',
      );
    const unbounded = lists.map(({ name }) => name).filter((name) => !(name in BOUNDED));
    expect(unbounded).toEqual([]);
  });
});

/** The extra reads: a row may lie on a table page of its own, and an index of a long list has more levels. */
const SLACK = 60;

/** The short lists, which are read row by row. */
const SHORT: Record<string, string> = {
  'Query.deliveries': 'ten for each of 500 products',
  'Query.products': 'MAX_PRODUCTS',
  'Query.storeProducts': 'MAX_STORE_PRODUCTS',
  'PixSubscription.cycles': 'one a week',
};

/**
 * The rows that are read one by one: those of a short list by its filter, and those that a filter of `/v1` selects,
 * for the exact total that each page there has.
 */
function counted({ list, isFiltered }: ListRequest): number {
  // The statement has no index by kind or amount: each would be one more write of every posting.
  const isOfPeriod = list === 'Wallet.statement';
  const isCounted = isFiltered && (isOfPeriod || list in SHORT || list.startsWith('GET '));
  const isShort = ['GET /v1/deliveries', 'GET /v1/store/products'].includes(list);
  // The list of sales is one over three tables.
  const tables = list === 'GET /v1/sales' ? 3 : 1;
  return isCounted || isShort ? tables * 4 * (MOST + ROWS_OF_CROWD) : 0;
}

interface Work {
  rowsRead: number;
  pages: number;
}

describe('the first page of a long list', () => {
  const long: Owner = { first: 0, rows: scale('LIST_ROWS') };
  const short: Owner = { first: 20_000_000, rows: 100 };
  let app: TestApp;
  let plans: ReadPlan[];
  let requests: ListRequest[];
  let withoutStatistics: string[];
  const keys = new Map<Owner, string>();

  beforeAll(async () => {
    // A new database: earlier tests leave deleted rows in the indexes, whose sizes decide plans without statistics.
    const database = await connectTo(await createPostgresDatabase(), createSystemClock());
    const explained = explainQueries(database);
    plans = explained.plans;
    app = await startApp({
      database: explained.database,
      environment: { PSA_GRAPHQL_LIMIT: '1000000' },
    });
    const owners = [];
    for (const [of, rare] of [
      [long, RARE],
      [short, RARE / 2],
    ] as const) {
      const accountId = await addAccount(app);
      keys.set(of, await addKey(app, { accountId }));
      owners.push({ accountId, rare, ...of });
    }
    await seed(database, ...SEED([...owners, ...CROWD]));
    const description = await (await fetch(`${app.url}/v1/openapi.json`)).json();
    requests = [
      ...schemaRequests(['first']),
      ...sampled(schemaRequests(['last']), 5),
      // A filter of `/v1` reads as that of its list in the schema.
      ...restRequests(description).filter(({ isFiltered }) => !isFiltered),
      ...sampled(
        restRequests(description).filter(({ isFiltered }) => isFiltered),
        12,
      ),
      // Without an upstream service no request is in doubt, and none is looked for.
    ].filter(({ list }) => list !== 'Query.requestsInDoubt');
    // A table has no statistics until it is analyzed for the first time.
    withoutStatistics = await dearOf(
      requests.filter(({ isFiltered }) => !isFiltered),
      ({ statement }) => / limit /.test(statement),
    );
    const analyze = () => database.maintenance((connections) => sql`vacuum analyze`.execute(connections.sql));
    await analyze();
    await seed(database, COUNT);
    await analyze();
  }, 1_800_000);
  afterAll(async () => {
    await app.close();
    expect(app.faults).toEqual([]);
  });

  async function workOf(
    request: ListRequest,
    of: Owner,
    isRelevant: (plan: ReadPlan) => boolean,
  ): Promise<Work> {
    plans.length = 0;
    const path = request.path(of);
    const key = keys.get(of)!;
    const { query, variables } = request.body(of) ?? { query: '', variables: {} };
    const { status, body } =
      path === null
        ? await app.client(key).send(query, variables)
        : await app.rest(key).get(path.slice('/v1'.length));
    expect([request.name, status, body.errors]).toEqual([request.name, 200, undefined]);
    if (plans.length === 0) throw new Error(`${request.name} has read nothing.`);
    // A wallet adds up its subaccounts, whatever list of it is read.
    const relevant = plans.filter((plan) => isRelevant(plan) && !/sum\(balance_cents\)/.test(plan.statement));
    return {
      rowsRead: relevant.reduce((sum, plan) => sum + plan.rowsRead, 0),
      pages: relevant.reduce((sum, plan) => sum + plan.pages, 0),
    };
  }

  async function dearOf(
    asked: readonly ListRequest[],
    isRelevant = (_: ReadPlan) => true,
  ): Promise<string[]> {
    const dear = [];
    for (const request of asked) {
      const least = await workOf(request, short, isRelevant);
      const most = await workOf(request, long, isRelevant);
      for (const what of ['rowsRead', 'pages'] as const)
        if (most[what] > 4 * least[what] + SLACK + counted(request))
          dear.push(`${request.name}: ${what} ${most[what]}, of 100 rows ${least[what]}`);
    }
    return dear;
  }

  test('The first page of every list, by any value of any filter, costs no more than that of a short one', async () => {
    expect(await dearOf(requests)).toEqual([]);
  });

  test('Each member of each filter selects the items that show it, and no others', async () => {
    const client = app.client(keys.get(short)!);
    const cases = filterCases(short);
    for (const { name, query, parent, filter, isSelected } of cases) {
      const itemsOf = async (variables: object) => {
        const { data } = (await client.send(query, { ...variables })).body;
        const { first, last } = parent === null ? data : data[parent];
        const items: { key: unknown }[] = [...first.nodes, ...last.nodes];
        return [...new Map(items.map((item) => [item.key, item])).values()];
      };
      const expected = (await itemsOf({})).filter(isSelected).map(({ key }) => key);
      const found = (await itemsOf({ filter })).map(({ key }) => key);
      expect([name, ...found.toSorted()]).toEqual([name, ...expected.toSorted()]);
    }
    expect(cases.length).toBeGreaterThan(150);
  });

  test('The first page of every list costs no more without statistics', () => {
    expect(withoutStatistics).toEqual([]);
  });
});
