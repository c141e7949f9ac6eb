// The entries of the built package in a page of another origin, behind the relay that cuts connections.

import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { selectCursorKey } from '../../server/src/access/store.ts';
import { createCursors } from '../../server/src/kernel/cursor.ts';
import type { PsaPayouts } from '../../widget/src/payouts/psa-payouts.ts';
import { bundle } from '../e2e/bundle.ts';
import { simulate, startServiceFixture } from '../e2e/fixture.ts';
import { openShop } from '../e2e/shop.ts';
import { type Site, startSite } from '../e2e/site.ts';
import { addAccount, addKey } from '../support/accounts.ts';
import { newKey } from '../support/keys.ts';
import { scale } from '../support/scale.ts';
import type { Follower, Following } from './clients.ts';
import { type Cutter, startCutter } from './cutter.ts';
import { conform, conforms, type Dose, type Findings } from './kit.ts';

/**
 * The clients in the page. `follow` and `leave` start and end one; the page calls the client's callbacks (`getToken`,
 * `wait`, `onData`, …) by `call`.
 */
const PAGE = `
  import { createLiveClient, live } from '@psa/checkout/live';
  import { resumable, socketOptions, tokens } from '@psa/checkout/resume';
  import { createClient } from 'graphql-ws';

  const subscribe = (client, { query, variables }, tell) =>
    client.subscribe({ query, variables }, {
      next: ({ data, errors }) => (data ? tell('onData', data) : tell('onError', errors)),
      error: (error) => tell('onError', error),
      complete: () => tell('onComplete'),
    });
  const CLIENTS = {
    'graphql-ws'({ endpoint, getToken, ...options }, following, tell) {
      const token = tokens(getToken);
      const url = endpoint.replace(/^http/, 'ws');
      const client = resumable(createClient({ url, ...socketOptions(token) }), { ...options, tokens: token });
      const leave = subscribe(client, following, tell);
      return () => {
        leave();
        return client.dispose();
      };
    },
    'no library': (options, following, tell) => subscribe(createLiveClient(options), following, tell),
    'for await'(options, following, tell) {
      const left = new AbortController();
      const read = async () => {
        for await (const update of live({ ...options, ...following, signal: left.signal })) tell('onData', { update });
      };
      const ended = read().then(() => tell('onComplete'), (error) => tell('onError', error));
      return () => {
        left.abort();
        return ended;
      };
    },
  };

  const leaving = {};
  globalThis.follow = (client, id, { endpoint, query, variables, hasGap }) => {
    const ask = (member, argument) => globalThis.call(id, member, argument);
    const tell = (member, argument) =>
      ask(member, member === 'onError' ? JSON.stringify([argument, String(argument)]) : argument);
    const options = { endpoint, getToken: () => ask('getToken'), wait: (ms) => ask('wait', ms) };
    if (hasGap) options.onGap = () => ask('onGap');
    leaving[id] = CLIENTS[client](options, { query, variables }, tell);
  };
  globalThis.leave = (id) => leaving[id]();
`;
const CLIENTS = ['graphql-ws', 'no library', 'for await'];
/** The browser’s own reports of connections that were cut, and of tokens that were refused. */
const EXPECTED_PROBLEMS = [
  /WebSocket connection to/,
  /Failed to load resource: (?:net::|the server responded with a status of 40[13])/,
];

const shop = openShop(startServiceFixture);
let site: Site;
let dose: Dose;
let findings: Findings[];
const errors: [client: string, error: unknown][] = [];

beforeAll(async () => {
  site = await startSite();
  const { app } = shop.fixture;
  const accountId = await addAccount(app);
  const cursorsFor = createCursors((await selectCursorKey(app.database.sql))!);
  const { encode } = cursorsFor({ accountId, environment: 'live' }, 'updates');
  dose = {
    endpoint: `${app.url}/graphql`,
    key: await addKey(app, { accountId }),
    otherKey: await addKey(app, { accountId: await addAccount(app) }),
    clients: CLIENTS,
    payments: scale('RESUMED'),
    followers: 1,
    expiredCursors: [encode(1_000_000), encode(1, 1)],
    onError: (client, error) => errors.push([client, error]),
  };
  const { followBy, end } = await openPage();
  findings = await conform({ ...dose, followBy });
  await end();
});
afterAll(() => site?.close());

/** The members of a `Following` that a page calls. */
type Callback = 'getToken' | 'wait' | 'onData' | 'onError' | 'onComplete' | 'onGap';

/** Opens a page whose clients follow as those of the kit do. */
async function openPage() {
  site.page = `<!doctype html><title>Painel</title><link rel="icon" href="data:,"><script type="module">${await bundle(PAGE)}</script>`;
  const visitor = await shop.visit({}, '/healthz');
  visitor.expectProblems(...EXPECTED_PROBLEMS);
  const { page } = visitor;
  const followings: Following[] = [];
  // The signal never aborts: the page does not forward its clients' signals.
  const { signal } = new AbortController();
  await page.exposeFunction('call', (id: number, member: Callback, argument: never) =>
    followings[id]![member]?.(argument, signal),
  );
  await page.goto(site.url);
  await page.waitForFunction(() => 'follow' in globalThis);
  const ran: Promise<unknown>[] = [];
  const run = (expression: string) => {
    const result = page.evaluate(expression);
    // A failure is reported by `end`.
    result.catch(() => undefined);
    ran.push(result);
    return result;
  };
  const followBy = (client: string): Follower => {
    return (following) => {
      const { endpoint, query, variables, onGap } = following;
      const id = followings.push(following) - 1;
      const given = { endpoint, query, variables, hasGap: onGap !== undefined };
      void run(`follow(${JSON.stringify(client)}, ${id}, ${JSON.stringify(given)})`);
      return () => run(`leave(${id})`);
    };
  };
  return {
    followBy: Object.fromEntries(CLIENTS.map((client) => [client, followBy(client)])),
    end: () => Promise.all(ran),
  };
}

test.each(CLIENTS)(
  '%s in Chromium misses nothing and gets nothing twice, over cuts, outages and the end of its token',
  (client) => {
    expect(errors.filter(([name]) => name === client)).toEqual([]);
    const found = findings.filter((each) => each.client === client);
    expect(found).toMatchObject([{ missed: 0, doubled: 0, misplaced: 0, foreign: 0, silentGaps: 0 }]);
    expect(conforms(found, { ...dose, clients: [client] })).toBe(true);
    expect(found[0]!.cuts).toBeGreaterThan(scale('RESUMED') / 2);
  },
);

const TRANSPORTS = ['ws', 'sse'];
/** An account may request ten payouts an hour. */
const PAYOUTS_AN_HOUR = 10;
const OVER_AN_HOUR_MS = 3_600_001;

test('psa-payouts shows each change of each payout once, over cuts, outages and the end of its token', async () => {
  const { url, live, app } = shop.fixture;
  const cutters: Cutter[] = [];
  for (const _ of TRANSPORTS) cutters.push(await startCutter(`${url}/graphql`));
  onTestFinished(async () => {
    for (const cutter of cutters) await cutter.close();
  });
  const cut = (how: 'end' | 'reset') => {
    for (const cutter of cutters) cutter.cut(how);
  };
  await simulate(url, 'credit', { amountCents: 1_000_000 });
  const tables = TRANSPORTS.map(
    (transport, nth) =>
      `<psa-payouts endpoint="${cutters[nth]!.endpoint}" transport="${transport}"></psa-payouts>`,
  );
  site.page = `<!doctype html><title>Painel</title><link rel="icon" href="data:,">${tables.join('')}
    <script type="module" src="${url}/widget/psa-payouts.js"></script>
    <script type="module">
      globalThis.tables = [...document.querySelectorAll('psa-payouts')];
      for (const [nth, table] of tables.entries()) {
        table.changes = [];
        table.addEventListener('psa-payout-update', ({ detail: { payout } }) =>
          table.changes.push(payout.withdrawalId + ' ' + payout.status));
        table.renewToken = () => mint(nth);
      }
    </script>`;
  const visitor = await shop.visit({}, '/healthz');
  visitor.expectProblems(...EXPECTED_PROBLEMS);
  const { page } = visitor;
  const minted: string[][] = TRANSPORTS.map(() => []);
  await page.exposeFunction('mint', async (nth: number) => {
    const { createDashboardToken } = await live.request(
      'mutation { createDashboardToken(input: { scopes: [PAYOUTS] }) { ... on CreateDashboardTokenSuccess { token } } }',
    );
    minted[nth]!.push(createDashboardToken.token);
    return createDashboardToken.token;
  });
  await page.goto(site.url);

  const waitUntilLive = () =>
    page.waitForFunction(() =>
      (globalThis as unknown as Page).tables.every(({ connection }) => connection === 'live'),
    );
  const request = (destination: string) =>
    live.request(
      `mutation { requestPayout(input: { method: PIX, amountCents: 1000, destination: "${destination}", idempotencyKey: "${newKey()}" }) {
        ... on RequestPayoutSuccess { payout { id } } ... on UserError { message } } }`,
    );
  const count = scale('CUT_PAYOUTS');
  for (let round = 0; round < count; round += 1) {
    await waitUntilLive();
    const destination = round % 2 ? 'nega@psa.example' : 'ana@psa.example';
    if (round % 3 === 0) cut('end');
    if (round % 3 === 1) {
      for (const cutter of cutters) cutter.down();
      cut('reset');
    }
    await request(destination);
    // The payout is decided during the outage, too.
    if (round % 3 === 1) await shop.fixture.pass(2_500);
    if (round % 3 === 2) cut('reset');
    for (const cutter of cutters) cutter.up();
    if (round === Math.ceil(count / 2))
      for (const token of minted.flat())
        await live.request('mutation ($token: String!) { revokeToken(token: $token) { __typename } }', {
          token,
        });
    if (round % PAYOUTS_AN_HOUR === PAYOUTS_AN_HOUR - 1) await shop.fixture.pass(OVER_AN_HOUR_MS);
  }
  await shop.fixture.pass(2_500);

  const { payouts } = await live.request(
    `{ payouts(first: ${count + 1}) { nodes { withdrawalId code status } } }`,
  );
  const rows = payouts.nodes.map((each: Row) => `${each.withdrawalId} ${each.status}`);
  expect(rows).toHaveLength(count);
  const log = await app.database.sql
    .selectFrom('event')
    .select(['resource_id', 'kind'])
    .where('resource', '=', 'payout')
    .orderBy('version')
    .execute();
  const changes = log.map(({ resource_id, kind }) => `${resource_id} ${kind.split('.')[1]!.toUpperCase()}`);
  expect(changes.length).toBeGreaterThanOrEqual(2 * count);
  const shown = () =>
    page.evaluate(() =>
      (globalThis as unknown as Page).tables.map(({ payouts, changes }) => ({
        rows: payouts.map(({ withdrawalId, status }) => `${withdrawalId} ${status}`),
        changes,
      })),
    );
  await expect.poll(shown, { timeout: 20_000 }).toEqual(TRANSPORTS.map(() => ({ rows, changes })));
  for (const [index] of TRANSPORTS.entries()) {
    // Rows out of sight are not drawn.
    const drawn = await page.locator('psa-payouts').nth(index).locator('tbody td.code').allTextContents();
    expect(drawn.length).toBeGreaterThanOrEqual(Math.min(count, 10));
    const codes = payouts.nodes.map(({ code }: Row) => code);
    expect(drawn).toEqual(codes.slice(0, drawn.length));
  }
  // A table that had not reconnected yet had no connection to cut.
  for (const cutter of cutters) expect(cutter.cuts).toBeGreaterThanOrEqual(count / 2);
  // Each table has renewed its token.
  for (const tokens of minted) expect(tokens.length).toBeGreaterThan(1);
});

interface Row {
  withdrawalId: string;
  code: string;
  status: string;
}

interface Page {
  tables: (PsaPayouts & { changes: string[] })[];
}
