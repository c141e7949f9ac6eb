import { afterAll, beforeAll, expect, it } from 'vitest';
import { bundle } from './bundle.ts';
import { openShop } from './shop.ts';
import { type Site, startSite } from './site.ts';

// A dashboard of another origin with Apollo Client, as its documentation sets it up, in a browser that enforces CORS.
const APOLLO = `
  import { ApolloClient, ApolloLink, gql, HttpLink, InMemoryCache } from '@apollo/client';
  globalThis.ask = async (uri, authorization) => {
    const traced = new ApolloLink((operation, forward) => {
      operation.setContext(({ headers }) => ({ headers: { ...headers, traceparent: '00-${'a'.repeat(32)}-${'b'.repeat(16)}-01' } }));
      return forward(operation);
    });
    const client = new ApolloClient({
      link: traced.concat(new HttpLink({ uri, headers: { authorization } })),
      cache: new InMemoryCache(),
      clientAwareness: { name: 'painel', version: '1.0.0' },
    });
    const query = gql('{ wallet { balanceCents } }');
    const options = { query, fetchPolicy: 'network-only' };
    return [await client.query(options), await client.query(options)].map(({ data }) => data.wallet.balanceCents);
  };
`;

const shop = openShop();
let site: Site;
beforeAll(async () => {
  site = await startSite();
  site.page = `<!doctype html><title>Painel</title><link rel="icon" href="data:,"><script type="module">${await bundle(APOLLO)}</script>`;
});
afterAll(() => site?.close());

it('Apollo Client on a page of another origin reads with its own headers, after one preflight', async () => {
  const { page } = await shop.visit();
  await page.goto(site.url);
  await page.waitForFunction(() => 'ask' in globalThis);
  const methods: string[] = [];
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Network.enable');
  devtools.on('Network.requestWillBeSent', ({ request }) => {
    if (request.url.endsWith('/graphql')) methods.push(request.method);
  });
  const read = await page.evaluate(
    ([uri, authorization]) =>
      (globalThis as unknown as { ask(...given: (string | undefined)[]): Promise<number[]> }).ask(
        uri,
        authorization,
      ),
    [`${shop.fixture.url}/graphql`, `Bearer ${await dashboardToken()}`],
  );
  expect(read).toEqual([0, 0]);
  expect(methods.toSorted()).toEqual(['OPTIONS', 'POST', 'POST']);
});

async function dashboardToken(): Promise<string> {
  const { createDashboardToken } = await shop.fixture.live.request(
    `mutation { createDashboardToken(input: { scopes: [WALLET] }) { ... on CreateDashboardTokenSuccess { token } } }`,
  );
  return createDashboardToken.token;
}
