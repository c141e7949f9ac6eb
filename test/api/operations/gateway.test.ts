import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { parse } from 'graphql';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ensurePeer } from '../../bench/peers/install.ts';
import { addToken } from '../../support/accounts.ts';
import { LIVE_KEY, startApp, type TestApp } from '../../support/app.ts';

// Real gateways in front of this server and of a small subgraph that extends CardPayment. The gateways are
// installed in their own folder, and have no types here.

// biome-ignore lint/suspicious/noExplicitAny: software of others, without its types
type Untyped = any;
const installed = createRequire(new URL('../../bench/peers/federation/', import.meta.url));

const SHOP = `
  extend schema @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key", "@shareable"])
  type Query { orders: [Order!]! }
  type Order @key(fields: "number") { number: String! payment: CardPayment }
  type CardPayment @key(fields: "orderCode") { orderCode: String! order: Order }
  type PageInfo @shareable { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }
`;
const QUERY = `query ($orderCode: String!) {
  orders { number payment { status amountCents checkoutUrl } }
  cardPayment(orderCode: $orderCode) { amountCents order { number } }
}`;

let app: TestApp;
let shop: Server;
let subgraphs: { name: string; typeDefs: string; url: string }[];
let codes: string[];
/** The queries that the gateways have sent to this server. */
const asked: string[] = [];

beforeAll(async () => {
  expect(await ensurePeer('federation')).not.toBeNull();
  app = await startApp();
  codes = [];
  for (const valueCents of [100, 200]) {
    const { createCardPayment } = await app.live.request(
      `mutation { createCardPayment(input: { valueCents: ${valueCents} }) { ... on CreateCardPaymentSuccess { cardPayment { orderCode } } } }`,
    );
    codes.push(createCardPayment.cardPayment.orderCode);
  }
  shop = await serveShop();
  subgraphs = [
    {
      name: 'psa',
      typeDefs: (await app.live.request('{ _service { sdl } }'))._service.sdl,
      url: `${app.url}/graphql`,
    },
    { name: 'shop', typeDefs: SHOP, url: `http://127.0.0.1:${(shop.address() as AddressInfo).port}/` },
  ];
}, 300_000);
afterAll(async () => {
  expect(app.faults).toEqual([]);
  shop.close();
  await app.close();
});

/** A subgraph of a shop's orders: an order knows the orderCode of its payment, and nothing else of it. */
async function serveShop(): Promise<Server> {
  const { graphql, parse } = installed('graphql');
  const { buildSubgraphSchema } = installed('@apollo/subgraph');
  const orders = () => codes.map((orderCode, index) => ({ number: String(index), payment: { orderCode } }));
  const schema = buildSubgraphSchema({
    typeDefs: parse(SHOP),
    resolvers: {
      Query: { orders },
      CardPayment: {
        order: ({ orderCode }: { orderCode: string }) =>
          orders().find(({ payment }) => payment.orderCode === orderCode),
      },
    },
  });
  const server = createServer(async (request, response) => {
    const { query, variables } = JSON.parse(await text(request));
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(await graphql({ schema, source: query, variableValues: variables })));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

type Ask = (authorization: string) => Promise<{ data?: Untyped; errors?: Untyped[] }>;

/** Apollo's composition and gateway. */
async function askApollo(): Promise<Ask> {
  const { composeServices } = installed('@apollo/composition');
  const { ApolloGateway, RemoteGraphQLDataSource } = installed('@apollo/gateway');
  const graphql = installed('graphql');
  const { supergraphSdl, errors } = composeServices(
    subgraphs.map((each) => ({ ...each, typeDefs: graphql.parse(each.typeDefs) })),
  );
  expect(errors).toBeUndefined();
  const ignore = () => undefined;
  const logger = { debug: ignore, info: ignore, warn: ignore, error: ignore };
  const gateway = new ApolloGateway({
    supergraphSdl,
    logger,
    buildService: ({ url, name }: { url: string; name: string }) =>
      new RemoteGraphQLDataSource({
        url,
        willSendRequest({ request, context }: Untyped) {
          if (name === 'psa') asked.push(request.query);
          if (context.authorization) request.http.headers.set('authorization', context.authorization);
        },
      }),
  });
  const { executor, schema } = await gateway.load();
  return (authorization) =>
    executor({
      schema,
      logger,
      source: QUERY,
      document: graphql.parse(QUERY),
      queryHash: '',
      operationName: null,
      request: { query: QUERY, variables: { orderCode: codes[0] } },
      context: { authorization },
      cache: new Map(),
      metrics: {},
    });
}

/** The Guild's composition, and Hive Gateway. */
async function askHive(): Promise<Ask> {
  const { composeServices } = installed('@theguild/federation-composition');
  const { createGatewayRuntime } = installed('@graphql-hive/gateway-runtime');
  const graphql = installed('graphql');
  const { supergraphSdl, errors } = composeServices(
    subgraphs.map((each) => ({ ...each, typeDefs: graphql.parse(each.typeDefs) })),
  );
  expect(errors).toBeUndefined();
  const gateway = createGatewayRuntime({
    supergraph: supergraphSdl,
    logging: false,
    propagateHeaders: {
      fromClientToSubgraphs: ({ request }: { request: Request }) => ({
        authorization: request.headers.get('authorization'),
      }),
    },
    plugins: () => [
      {
        onSubgraphExecute({ subgraphName, executionRequest }: Untyped) {
          if (subgraphName.toLowerCase() === 'psa') asked.push(graphql.print(executionRequest.document));
        },
      },
    ],
  });
  return async (authorization) => {
    const response = await gateway.fetch('http://gateway/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization },
      body: JSON.stringify({ query: QUERY, variables: { orderCode: codes[0] } }),
    });
    return response.json();
  };
}

test.each([
  ['Apollo Gateway', askApollo],
  ['Hive Gateway', askHive],
])('%s joins this server with a subgraph that extends a card payment', async (_, open) => {
  const ask = await open();
  asked.length = 0;
  const { data, errors } = await ask(`Bearer ${LIVE_KEY}`);
  expect(errors).toBeUndefined();
  const payment = (index: number, amountCents: number) => ({
    status: 'PENDING',
    amountCents,
    checkoutUrl: `${app.url}/checkout/${codes[index]}`,
  });
  expect(JSON.parse(JSON.stringify(data))).toEqual({
    orders: [
      { number: '0', payment: payment(0, 100) },
      { number: '1', payment: payment(1, 200) },
    ],
    cardPayment: { amountCents: 100, order: { number: '0' } },
  });
  // One lookup reads both payments.
  const lookups = asked.filter((query) => query.includes('_entities'));
  expect(lookups).toHaveLength(1);
  expect(parse(lookups[0]!).definitions).toHaveLength(1);

  // The credential decides behind a gateway, too.
  const token = await addToken(app, { kind: 'dashboard', grant: { scopes: ['wallet'] } });
  const refused = await ask(`Bearer ${token}`);
  expect(JSON.parse(JSON.stringify(refused.data))).toEqual({
    orders: [
      { number: '0', payment: null },
      { number: '1', payment: null },
    ],
    cardPayment: null,
  });
  expect(JSON.stringify(refused.errors)).toContain('does not have the scope card_payments');
});
