import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { txidOfCode } from '../../server/src/rails/simulated/pix.ts';
import { newWebhookSecret, signedHeaders } from '../../server/src/webhooks/signing.ts';
import { payAt } from '../e2e/fixture.ts';
import { checkoutOf, openPopup } from '../e2e/shop.ts';
import { LIVE_KEY, startApp, type TestApp } from '../support/app.ts';
import { launchBrowser, openVisitor, type Visitor } from '../support/browser.ts';
import { createManualClock } from '../support/clock.ts';
import { freePort } from '../support/free-port.ts';
import { configureWebhook } from '../support/pair.ts';

// The shop of widget/docs/recipes.md as a program of its own, on the built package; the gate `generated files`
// compares the two texts. A carrier records the shipped orders, and can end the program at that moment.

const SHOP = fileURLToPath(new URL('../widget/recipes/shop.mjs', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'psa-shop-'));
const CARRIED = join(folder, 'carried');
const CARRIER = join(folder, 'carrier.mjs');
writeFileSync(CARRIED, '');
writeFileSync(
  CARRIER,
  `import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { basename } from 'node:path';
const { link } = fs.promises;
const end = (when) => process.env.CRASH === when && process.kill(process.pid, 'SIGKILL');
fs.promises.link = async (from, to) => {
  end('before');
  await link(from, to);
  fs.appendFileSync(${JSON.stringify(CARRIED)}, basename(to) + '\\n');
  end('after');
};
syncBuiltinESMExports();
`,
);

let app: TestApp;
let port: number;
let secret: string;
let shop: ChildProcess | undefined;
let visitor: Visitor | undefined;

beforeAll(async () => {
  // The shop uses the system's clock to check the instant of a webhook.
  app = await startApp({ clock: createManualClock(new Date()) });
  port = await freePort();
  secret = await configureWebhook(app.live, `http://127.0.0.1:${port}/webhook`);
  await open();
});
afterEach(async () => {
  await visitor?.context.close();
  expect(visitor?.problems() ?? []).toEqual([]);
  visitor = undefined;
});
afterAll(async () => {
  await stop();
  await app?.close();
  rmSync(folder, { recursive: true, force: true });
  expect(app?.faults ?? []).toEqual([]);
});

function run(args: string[], more: Record<string, string> = {}): ChildProcess {
  const settings = { PSA_URL: app.url, PSA_KEY: LIVE_KEY, PSA_WEBHOOK_SECRET: secret, PORT: String(port) };
  return spawn(process.execPath, ['--import', pathToFileURL(CARRIER).href, SHOP, ...args], {
    cwd: folder,
    env: { ...settings, ...more },
    stdio: 'inherit',
  });
}

const url = () => `http://127.0.0.1:${port}`;

/** Opens the shop, and waits until it answers. */
async function open(more?: Record<string, string>): Promise<void> {
  shop = run([], more);
  await vi.waitFor(() => fetch(url()), { timeout: 60_000, interval: 20 });
}

async function stop(): Promise<void> {
  if (!shop || shop.exitCode !== null || shop.signalCode !== null) return;
  const ended = once(shop, 'exit');
  shop.kill('SIGKILL');
  await ended;
}

/** Advances the clock, and lets the service send what is then due. */
async function pass(ms: number): Promise<void> {
  await app.work.settled();
  app.clock.advance(ms);
  await app.work.settled();
}

/** The orders that were given to the carrier. */
const carried = () => readFileSync(CARRIED, 'utf8').split('\n').filter(Boolean);

interface Delivery {
  webhookId: string;
  status: string;
  attempts: { responseStatus: number | null }[];
}

/** The deliveries of webhooks, newest first; there is at least one. */
async function deliveries(): Promise<[Delivery, ...Delivery[]]> {
  const { webhookDeliveries } = await app.live.request(
    '{ webhookDeliveries { nodes { webhookId status attempts { responseStatus } } } }',
  );
  return webhookDeliveries.nodes;
}

/** Orders a mug. Returns the order's number and the token of its page. */
async function order(): Promise<{ id: string; token: string }> {
  const page = await fetch(`${url()}/orders`, { method: 'POST' });
  const [, token = ''] = /token="([^"]+)"/.exec(await page.text())!;
  return { id: new URL(page.url).pathname.split('/')[2]!, token };
}

/** Pays an order by PIX, with the element's operations. */
async function pay(token: string): Promise<void> {
  const { startPixCheckout } = await app.client(token).request(
    `mutation ($id: String!) { startPixCheckout(input: { attemptId: $id }) {
      ... on StartPixCheckoutSuccess { payment { pix { copyPaste } } } } }`,
    { id: randomUUID() },
  );
  await payCode(startPixCheckout.payment.pix.copyPaste);
}

async function payCode(code: string): Promise<void> {
  expect(await app.pix.pay({ txid: txidOfCode(code)! })).not.toBeNull();
}

/** Opens the page of a new order in a browser. */
async function visit(): Promise<{ id: string; checkout: ReturnType<typeof checkoutOf> }> {
  visitor = await openVisitor(await launchBrowser());
  const { page } = visitor;
  await page.goto(url());
  await page.getByRole('button', { name: 'Caneca' }).click();
  await page.waitForURL(/\/orders\//);
  return { id: new URL(page.url()).pathname.split('/')[2]!, checkout: checkoutOf(page) };
}

test('a mug that is paid by PIX in the page is shipped once, also where its webhook comes again', async () => {
  const { id, checkout } = await visit();
  await checkout.pixButton.click();
  await payCode(await checkout.code.inputValue());
  await pass(1);
  await checkout.says('Pagamento confirmado');
  expect(carried()).toEqual([id]);
  const [{ webhookId }] = await deliveries();
  await app.live.request('mutation ($id: String!) { redeliverWebhook(webhookId: $id) { __typename } }', {
    id: webhookId,
  });
  await pass(1);
  const [{ attempts }] = await deliveries();
  expect(attempts.map(({ responseStatus }) => responseStatus)).toEqual([204, 204]);
  expect(carried()).toEqual([id]);
});

test('a mug that is paid by card in the page is shipped once', async () => {
  const { id, checkout } = await visit();
  await openPopup(visitor!, () => checkout.payButton.click());
  await payAt(app.url, await checkout.orderCode());
  await pass(1);
  await checkout.says('Pagamento confirmado');
  expect(carried().at(-1)).toBe(id);
});

test('a forged webhook ships nothing, and is refused', async () => {
  const before = carried();
  const { id } = await order();
  const send = async (by: string, externalId: string) => {
    const paid = { event: 'payment.paid', paymentId: 'psa_0', amountCents: 4990, externalId };
    const body = JSON.stringify(paid);
    const headers = signedHeaders({ webhookId: 'wh_1', body, secrets: [by], at: new Date() });
    return (await fetch(`${url()}/webhook`, { method: 'POST', headers, body })).status;
  };
  expect(await send(newWebhookSecret(), id)).toBe(401);
  expect(await send(secret, '../package')).toBe(204);
  expect(await send(secret, randomUUID())).toBe(204);
  expect(carried()).toEqual(before);
});

test.each(['before', 'after'])(
  'a shop that is killed %s it ships has shipped once when it is back',
  async (when) => {
    const before = carried();
    const { id, token } = await order();
    await stop();
    await open({ CRASH: when });
    const killed = once(shop!, 'exit');
    await pay(token);
    await pass(1);
    expect(await killed).toEqual([null, 'SIGKILL']);
    expect(carried()).toEqual(when === 'before' ? before : [...before, id]);
    await open();
    await pass(10_000);
    expect((await deliveries()).map(({ status }) => status)).not.toContain('PENDING');
    expect(carried()).toEqual([...before, id]);
  },
);

test('the reconciliation ships what no webhook has reported, and nothing twice', async () => {
  const before = carried();
  const { id, token } = await order();
  await stop();
  await pay(token);
  await pass(1);
  for (let attempt = 0; attempt < 7; attempt += 1) await pass(8 * 3_600_000);
  expect((await deliveries())[0].status).toBe('EXHAUSTED');
  expect(carried()).toEqual(before);
  for (let night = 0; night < 2; night += 1) {
    const [code] = await once(run(['reconcile']), 'exit');
    expect([code, carried()]).toEqual([0, [...before, id]]);
  }
});
