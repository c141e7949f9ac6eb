import { type IncomingHttpHeaders, request } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { getIntrospectionQuery } from 'graphql';
import { beforeAll, describe, expect, test } from 'vitest';
import { LIVE_KEY, startApp, type TestApp } from '../../support/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
  for (let index = 0; index < 12; index++)
    await app.live.request(
      `mutation { createProduct(input: { name: "Caneca ${index}", priceCents: 4990, description: "${'feita à mão, '.repeat(8)}" }) { __typename } }`,
    );
  return () => app.close();
});

const LONG = '{ products(first: 12) { nodes { productId name description priceCents } } }';
const SHORT = '{ wallet { balanceCents } }';

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  bytes: Buffer;
}

/** Sends a request without a client that would decompress the answer. */
function ask(path: string, acceptEncoding: string | undefined, query?: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${LIVE_KEY}`,
      ...(acceptEncoding !== undefined && { 'accept-encoding': acceptEncoding }),
      ...(query !== undefined && { 'content-type': 'application/json' }),
    };
    const sent = request(`${app.url}${path}`, { method: query === undefined ? 'GET' : 'POST', headers });
    sent.on('error', reject).on('response', (response) => {
      const chunks: Buffer[] = [];
      response
        .on('data', (chunk) => chunks.push(chunk))
        .on('end', () => {
          resolve({ status: response.statusCode!, headers: response.headers, bytes: Buffer.concat(chunks) });
        });
    });
    sent.end(query === undefined ? undefined : JSON.stringify({ query }));
  });
}

const plain = ({ headers, bytes }: Answer) =>
  (headers['content-encoding'] === 'br'
    ? brotliDecompressSync(bytes)
    : headers['content-encoding'] === 'gzip'
      ? gunzipSync(bytes)
      : bytes
  ).toString();

describe('a long response', () => {
  test.each([
    // The first answers are Yoga's, and the later ones the fast path's.
    ['of GraphQL', '/graphql', LONG],
    ['of REST', '/v1/products?limit=12', undefined],
    ['that describes the interface', '/v1/openapi.json', undefined],
  ])(
    'A long response %s is compressed as its client accepts it, each time it is asked for',
    async (_, path, query) => {
      const whole = await ask(path, undefined, query);
      expect(whole.headers['content-encoding']).toBeUndefined();
      expect(whole.bytes.length).toBeGreaterThan(1_400);
      for (let time = 0; time < 4; time++)
        for (const [accepted, encoding] of [
          ['gzip, deflate, br, zstd', 'br'],
          ['gzip, deflate', 'gzip'],
          ['br;q=0, *;q=0.5', 'gzip'],
          ['deflate', undefined],
          ['gzip;q=0', undefined],
        ]) {
          const answer = await ask(path, accepted, query);
          expect(answer.status).toBe(200);
          expect(answer.headers['content-encoding'], accepted).toBe(encoding);
          expect(answer.headers['content-length']).toBe(String(answer.bytes.length));
          if (encoding) expect(answer.bytes.length).toBeLessThan(whole.bytes.length / 2);
          if (encoding) expect(answer.headers.vary).toBe('accept-encoding');
          expect(plain(answer)).toBe(plain(whole));
        }
    },
  );

  test('fetch, which accepts and decompresses by itself, reads the same as without', async () => {
    const whole = await ask('/v1/products?limit=12', undefined);
    const answer = await fetch(`${app.url}/v1/products?limit=12`, {
      headers: { authorization: `Bearer ${LIVE_KEY}` },
    });
    expect(answer.headers.get('content-encoding')).toMatch(/^(?:br|gzip)$/);
    expect(await answer.text()).toBe(plain(whole));
  });

  test('An error with data is compressed too', async () => {
    const query = `{ ${LONG.slice(1, -1)} product(productId: "prod_unknown") { name } }`;
    const refused = await ask('/graphql', 'gzip', query);
    expect(refused.headers['content-encoding']).toBe('gzip');
    expect(JSON.parse(plain(refused)).data.products.nodes).toHaveLength(12);
  });
});

test('A short response is sent as it is', async () => {
  for (const answer of [await ask('/graphql', 'gzip, br', SHORT), await ask('/v1/wallet', 'gzip, br')]) {
    expect(answer.status).toBe(200);
    expect(answer.headers['content-encoding']).toBeUndefined();
    expect(answer.headers.vary).toBeUndefined();
  }
});

/** Creates a product whose description has this many bytes. 100 of its letters take two, so that a limit in characters fails. */
async function describeBy(bytes: number): Promise<string> {
  const description = 'ã'.repeat(100) + 'x'.repeat(bytes - 200);
  const { createProduct } = await app.live.request(
    `mutation ($description: String) { createProduct(input: { name: "Caneca", priceCents: 4990, description: $description }) {
      ... on CreateProductSuccess { product { productId } } } }`,
    { description },
  );
  return createProduct.product.productId;
}

test.each<[string, (id: string) => [path: string, query?: string]]>([
  // Yoga sends the first two answers to a query, and the fast path the later ones.
  ['of GraphQL', (id) => ['/graphql', `{ product(productId: "${id}") { description } }`]],
  ['of REST', (id) => [`/v1/products/${id}`]],
])('A response %s is compressed from 1,400 bytes on, and not with 1,399', async (_, requestOf) => {
  const send = async (descriptionBytes: number) => {
    const [path, query] = requestOf(await describeBy(descriptionBytes));
    return (accepted?: string) => ask(path, accepted, query);
  };
  const { bytes: measured } = await (await send(1_000))();
  const overhead = measured.length - 1_000;
  for (const [length, encodings] of [
    [1_399, { br: undefined, gzip: undefined }],
    [1_400, { br: 'br', gzip: 'gzip' }],
  ] as const) {
    const sized = await send(length - overhead);
    for (let time = 0; time < 4; time++) {
      const whole = await sized();
      expect(whole.bytes).toHaveLength(length);
      for (const [accepted, encoding] of Object.entries(encodings)) {
        const answer = await sized(accepted);
        expect(answer.headers['content-encoding'], `${length} ${accepted}`).toBe(encoding);
        expect(plain(answer)).toBe(plain(whole));
      }
    }
  }
});

test.each([
  ['br', 8],
  ['gzip', 7],
])('The description of the schema, in %s, is more than %d times smaller', async (accepted, factor) => {
  const whole = await ask('/graphql', undefined, getIntrospectionQuery());
  const answer = await ask('/graphql', accepted, getIntrospectionQuery());
  expect(answer.headers['content-encoding']).toBe(accepted);
  expect(answer.bytes.length).toBeLessThan(whole.bytes.length / factor);
  expect(plain(answer)).toBe(plain(whole));
});

test('An event stream is sent event by event', async () => {
  const { headers, chunk } = await new Promise<{ headers: IncomingHttpHeaders; chunk: string }>(
    (resolve, reject) => {
      const sent = request(`${app.url}/graphql`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${LIVE_KEY}`,
          'content-type': 'application/json',
          accept: 'text/event-stream',
          'accept-encoding': 'gzip, br',
        },
      });
      sent.on('error', reject).on('response', (response) =>
        response.once('data', (chunk) => {
          resolve({ headers: response.headers, chunk: String(chunk) });
          response.destroy();
        }),
      );
      sent.end(JSON.stringify({ query: 'subscription { walletUpdates { wallet { balanceCents } } }' }));
    },
  );
  expect(headers['content-encoding']).not.toMatch(/gzip|br/);
  expect(chunk).toMatch(/event|:/);
});
