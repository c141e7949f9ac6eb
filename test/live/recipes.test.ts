import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import WebSocket from 'ws';
import { addAccount, addKey } from '../support/accounts.ts';
import { startApp, type TestApp } from '../support/app.ts';
import type { GraphQLClient } from '../support/graphql.ts';
import { type Cutter, startCutter } from './cutter.ts';

// The recipes for live data of widget/docs/recipes.md, on the built package; the gate `generated files` compares the texts.

interface Payment {
  paymentId: string;
  status: string;
}

interface Data {
  updatesCursor: string;
  payments: { nodes: Payment[] };
  allPaymentUpdates: { payment: Payment };
}

interface Page {
  endpoint: string;
  url: string;
  getToken(): Promise<{ token: string; expiresAt: string }>;
  show(payment: Payment): void;
}

const LIST = 'query Payments { updatesCursor payments(first: 50) { nodes { paymentId status } } }';
const UPDATES = `subscription Payments($after: String) {
  allPaymentUpdates(after: $after) { cursor payment { paymentId status } } }`;

/** Loads a recipe: plain JavaScript, without the types of this project. */
const load = ({ href }: URL) => import(/* @vite-ignore */ href);

const followBy = (recipe: URL) => async (page: Page) => (await load(recipe)).followPayments(page);

/** The recipes with what an application adds to them. The returned function ends one. */
const RECIPES: Record<string, (page: Page) => Promise<() => unknown>> = {
  'Apollo Client': followBy(new URL('../widget/recipes/apollo.mjs', import.meta.url)),
  urql: followBy(new URL('../widget/recipes/urql.mjs', import.meta.url)),
  'graphql-ws': followBy(new URL('../widget/recipes/graphql-ws.mjs', import.meta.url)),
  async Relay({ show, ...page }) {
    const { createEnvironment } = await load(new URL('../widget/recipes/relay.mjs', import.meta.url));
    const network = createEnvironment({ ...page, onGap: () => null }).getNetwork();
    const execute = (operationKind: string, text: string, variables: object, next: (data: Data) => void) =>
      network.execute({ text, name: 'Payments', operationKind }, variables, {}).subscribe({
        next: ({ data }: { data: Data }) => next(data),
        error: (error: unknown) => expect.unreachable(String(error)),
      });
    const list = await new Promise<Data>((resolve) => execute('query', LIST, {}, resolve));
    list.payments.nodes.forEach(show);
    const variables = { after: list.updatesCursor };
    const subscription = execute('subscription', UPDATES, variables, (data) =>
      show(data.allPaymentUpdates.payment),
    );
    return () => subscription.unsubscribe();
  },
  async 'no library'(page) {
    const left = new AbortController();
    const { followPayments } = await load(new URL('../widget/recipes/no-client.mjs', import.meta.url));
    const ended = followPayments({ ...page, signal: left.signal });
    return () => {
      left.abort();
      return ended;
    };
  },
};

let app: TestApp;
let cutter: Cutter;
let merchant: GraphQLClient;

beforeAll(async () => {
  // Browsers have a global WebSocket, and Node from version 22 on.
  globalThis.WebSocket ??= WebSocket as never;
  app = await startApp();
  cutter = await startCutter(`${app.url}/graphql`);
});
afterAll(async () => {
  await cutter?.close();
  await app?.close();
  expect(app?.faults ?? []).toEqual([]);
});

async function pay(): Promise<string> {
  const { createPayment } = await merchant.request(
    'mutation { createPayment(input: { valueCents: 10 }) { ... on CreatePaymentSuccess { payment { paymentId } } } }',
  );
  return createPayment.payment.paymentId;
}

test.each(Object.keys(RECIPES))(
  'the recipe for %s shows each payment once, over a cut and a new token',
  async (name) => {
    merchant = app.client(await addKey(app, { accountId: await addAccount(app) }));
    const minted: string[] = [];
    const shown: string[] = [];
    const created = [await pay(), await pay()];
    const leave = await RECIPES[name]!({
      endpoint: cutter.endpoint,
      url: cutter.endpoint.replace(/^http/, 'ws'),
      async getToken() {
        const { token, expiresAt } = (
          await merchant.request(
            'mutation { createDashboardToken(input: { scopes: [PAYMENTS] }) { ... on CreateDashboardTokenSuccess { token expiresAt } } }',
          )
        ).createDashboardToken;
        minted.push(token);
        return { token, expiresAt };
      },
      show: ({ paymentId }) => shown.push(paymentId),
    });
    const showsAll = () =>
      vi.waitFor(() => expect(shown.toSorted()).toEqual(created.toSorted()), { timeout: 60_000 });
    await showsAll();
    created.push(await pay());
    await showsAll();
    cutter.cut('reset');
    created.push(await pay());
    await showsAll();
    const before = minted.length;
    await merchant.request('mutation ($token: String!) { revokeToken(token: $token) { __typename } }', {
      token: minted.at(-1),
    });
    created.push(await pay());
    await showsAll();
    expect(minted.length).toBeGreaterThan(before);
    expect(cutter.cuts).toBeGreaterThan(0);
    await leave();
  },
);
