// A payments service that answers each REST request after 5 ms, and counts the requests. It knows any order code and
// takes any live key. To a router it speaks GraphQL.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { buildSchema, graphql } from 'graphql';
import { modules } from '../../support/built.mjs';
import { answerParent } from './answer.mjs';
import { SERVICE_SCHEMA } from './grafbase-config.mjs';

const { createCardPaymentRoutes } = await modules['card-payments/routes']();
const { describeOperations } = await modules['http/openapi']();
const { createWalletRoutes } = await modules['wallet/routes']();

const LATENCY_MS = 5;
const MINUTE_MS = 60_000;

const startedAt = Date.now();
const startedText = new Date(startedAt).toISOString();

const INVALID_KEY = bytesOf({ error: 'Invalid API key' });
const NOT_FOUND = bytesOf({ error: 'Not found' });

const wallet = bytesOf({
  currency: 'BRL',
  balance: 12345.67,
  balanceCents: 1234567,
  disputeBlocked: 0,
  withdrawable: 12000.5,
  withdrawableCents: 1200050,
  pendingRelease: 149.9,
  pendingReleaseCents: 14990,
  subaccountsBalance: 345.17,
  assignableCents: 1200050,
  cryptoBalanceLtc: 0,
});

/** A pending payment: a final one could be cached for good. @param {string} orderCode */
const cardPayment = (orderCode) => ({
  orderCode,
  status: 'pending',
  amountCents: 4990,
  currency: 'BRL',
  checkoutUrl: `https://pay.example/checkout/${orderCode}`,
  expiresAt: new Date(startedAt + 30 * MINUTE_MS).toISOString(),
  amount: 49.9,
  description: `Pedido ${orderCode}`,
  customer: null,
  metadata: null,
  paidAt: null,
  paidLate: false,
  refundedAt: null,
  failureReason: null,
  createdAt: startedText,
});

/** A pending turbo withdrawal, which no webhook will report. @param {string} withdrawalId */
const payout = (withdrawalId) => ({
  id: withdrawalId,
  withdrawalId,
  code: `SAQ-${withdrawalId.slice(-12).toUpperCase()}`,
  amount: 49.9,
  method: 'turbo',
  walletAddress: 'a***@padaria.example',
  status: 'processing',
  requestedAt: startedText,
  processedAt: null,
  fee: 1,
});

/** The merchant's withdrawals, newest first. @type {string[]} */
let withdrawalIds = [];
/** Counts by the first part of the path behind `/v1`. @type {Record<string, number>} */
let calls = {};

answerParent({
  async start(given) {
    withdrawalIds = given?.withdrawalIds ?? [];
    const server = createServer((request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
      if (pathname === '/v1/openapi.json') return send(response, 200, description(request));
      if (pathname === '/graphql') return answerGraphQL(request, response);
      const [, , family = '', id] = pathname.split('/');
      calls[family] = (calls[family] ?? 0) + 1;
      const knownKey = request.headers.authorization?.startsWith('Bearer ps_live_');
      const body = knownKey ? answerOf(family, id, searchParams) : INVALID_KEY;
      const status = body === INVALID_KEY ? 401 : body === NOT_FOUND ? 404 : 200;
      request.resume();
      setTimeout(() => send(response, status, body), LATENCY_MS);
    });
    // The server never closes a connection on which a client is about to send.
    server.keepAliveTimeout = MINUTE_MS;
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = /** @type {import('node:net').AddressInfo} */ (server.address());
    return { url: `http://127.0.0.1:${address.port}` };
  },
  /** The requests since the last call, by family of resources. */
  calls() {
    const counted = calls;
    calls = {};
    return counted;
  },
});

/** @param {import('node:http').IncomingMessage} request @param {import('node:http').ServerResponse} response */
async function answerGraphQL(request, response) {
  calls.graphql = (calls.graphql ?? 0) + 1;
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += chunk;
  const { query, variables } = JSON.parse(text);
  const body = bytesOf(await graphql({ schema, source: query, rootValue, variableValues: variables }));
  setTimeout(() => send(response, 200, body), LATENCY_MS);
}

const schema = buildSchema(SERVICE_SCHEMA);
const rootValue = {
  wallet: () => JSON.parse(wallet.toString()),
  cardPayment: (/** @type {{ orderCode: string }} */ { orderCode }) => cardPayment(orderCode),
};

/** @param {string} family @param {string | undefined} id @param {URLSearchParams} search */
function answerOf(family, id, search) {
  if (family === 'wallet') return wallet;
  if (family === 'card-payments' && id) return bytesOf(cardPayment(id));
  if (family !== 'payouts') return NOT_FOUND;
  if (id) return withdrawalIds.includes(id) ? bytesOf(payout(id)) : NOT_FOUND;
  const limit = Number(search.get('limit') ?? 50);
  const offset = Number(search.get('offset') ?? 0);
  const payouts = withdrawalIds.slice(offset, offset + limit).map(payout);
  return bytesOf({ payouts, total: withdrawalIds.length, limit, offset });
}

/** The resources of a measured query, as the service describes itself. @param {import('node:http').IncomingMessage} request */
function description({ headers: { host } }) {
  /** The services are described, not called. @type {any} */
  const services = {};
  const operations = [...createWalletRoutes(services), ...createCardPaymentRoutes(services)];
  return bytesOf(describeOperations(operations, `http://${host}`));
}

/** @param {unknown} value */
function bytesOf(value) {
  return Buffer.from(JSON.stringify(value));
}

/** @param {import('node:http').ServerResponse} response @param {number} status @param {Buffer} body */
function send(response, status, body) {
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': body.length });
  response.end(body);
}
