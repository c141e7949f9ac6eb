// Draws the pages of a facade in the states of its service: up, slow, down and refusing the key; wide, middle and narrow:
//   node test/browser/service-screenshots.mjs --out DIR [--only STATE] [--page NAME]
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { register } from 'tsx/esm/api';
import { ensureBuilt } from '../../server/scripts/build.mjs';

/** @typedef {import('../support/fault-proxy.ts').Fault} Fault */

const { values: options } = parseArgs({
  options: { out: { type: 'string' }, only: { type: 'string' }, page: { type: 'string' } },
});
if (!options.out) throw new Error('Say where to: --out DIR');
const folder = options.out;
mkdirSync(folder, { recursive: true });

await ensureBuilt();
register();
const { createApp } = await import('../../server/src/programs/app.ts');
const { readConfig } = await import('../../server/src/programs/config/config.ts');
const { createManualClock } = await import('../support/clock.ts');
const { launchBrowser, openVisitor } = await import('../support/browser.ts');
const { PASS, startFaultProxy } = await import('../support/fault-proxy.ts');
const { createClient } = await import('../support/graphql.ts');

const KEY = 'ps_live_screenshots0123456789';
const WIDTHS = [390, 768, 1280];
/** The age of what the facade knows when the service has gone. */
const OLD_MS = 78_000;
/** The time after which the page is drawn: the service has answered, if it does; a slow one has not. */
const DRAWN_AFTER_MS = 2_500;
const SLOW_MS = 9_000;
/** The time in which both servers begin what a moved clock makes due. */
const NOTICED_AFTER_MS = 200;
const TICK_MS = 100;
/** The time between two pages, after which no answer is repeated from memory. */
const NEXT_PAGE_MS = 31_000;
/** @type {Record<string, Fault>} */
const STATES = {
  up: PASS,
  slow: { kind: 'delay', when: 'before', ms: SLOW_MS },
  down: { kind: 'reset', when: 'before' },
  refusing: { kind: 'status', status: 401, when: 'before' },
};

/** Whether the facade has read once what it shows. */
let hasRead = false;

const clock = createManualClock(new Date());
/** @param {Record<string, string>} environment */
const start = (environment) =>
  createApp({
    config: {
      ...readConfig({ PORT: '0', PSA_DATA_DIR: 'memory', ...environment }),
      webhookPrivateAddresses: true,
    },
    clock,
    log: { info: () => undefined, warn: () => undefined, error: console.error },
    onFatal(error) {
      throw error;
    },
    testing: { strangerLimit: 1_000_000, restLimit: 1_000_000 },
  });

const service = await start({ PSA_BOOTSTRAP_LIVE_KEY: KEY });
const proxy = await startFaultProxy({ target: service.url });
const atService = createClient(`${service.url}/graphql`, KEY);
const secret = await configureWebhook('http://127.0.0.1:9/not-yet');
const facade = await start({
  PSA_DEMO: 'on',
  PSA_CONSOLE: 'on',
  PSA_UPSTREAM_URL: proxy.url,
  PSA_UPSTREAM_LIVE_KEY: KEY,
  PSA_UPSTREAM_WEBHOOK_SECRET: secret,
  PSA_UPSTREAM_FAMILIES: 'payments,charges,subscriptions,deliveries,disputes,refunds,store',
  PSA_UPSTREAM_LIMIT: '100000',
});
await configureWebhook(`http://127.0.0.1:${facade.port}/webhooks/psa`);
const merchant = createClient(`${facade.url}/graphql`, KEY);
// The pauses between the tries of a request pass as on any server.
const running = setInterval(() => clock.advance(TICK_MS), TICK_MS);
const browser = await launchBrowser('browser');
try {
  const pages = await fill();
  for (const [state, fault] of Object.entries(STATES))
    if (!options.only || options.only === state) await drawState(state, fault, pages);
} finally {
  clearInterval(running);
  await browser.close();
  await facade.close();
  await proxy.close();
  await service.close();
}

/** Names the receiver of the service's webhooks. Returns their secret. @param {string} url */
async function configureWebhook(url) {
  const { configureWebhook: configured } = await atService.request(
    'mutation ($url: Url!) { configureWebhook(input: { url: $url }) { ... on ConfigureWebhookSuccess { secret } } }',
    { url },
  );
  return configured.secret;
}

/** Fills the account through the facade. Returns the pages by their names. */
async function fill() {
  await simulate('credit', { amountCents: 200_000 });
  await settle();
  const { cardPayment } = await request('createCardPayment', 'cardPayment { orderCode }', {
    ...{ valueCents: 4_990, description: 'Caneca Serra', idempotencyKey: 'caneca' },
  });
  const { subaccount } = await request('createSubaccount', 'subaccount { subaccountId }', {
    name: 'Ateliê da Rê',
  });
  const { orderCode } = cardPayment;
  const { subaccountId } = subaccount;
  await request('transferToSubaccount', '', { subaccountId, amountCents: 60_000, idempotencyKey: 'dar' });
  for (const [amountCents, destination] of /** @type {const} */ ([
    [15_000, 'ana@psa.example'],
    [8_000, 'nega@psa.example'],
  ]))
    await request('requestPayout', '', {
      ...{ method: 'PIX', amountCents, destination, idempotencyKey: destination },
    });
  await request('createProduct', '', { name: 'Curso de tear', priceCents: 12_000 });
  await request('createPayment', '', { valueCents: 7_990, description: 'Rede', idempotencyKey: 'rede' });
  await request('createSubscription', '', {
    ...{ valueCents: 2_990, description: 'Clube do café', interval: 'MONTHLY', idempotencyKey: 'clube' },
  });
  await simulate('disputes', { amountCents: 4_990 });
  await pass(60_000);
  await settle();
  return {
    shop: '/demo/',
    thanks: `/demo/thank-you?psa_order_code=${orderCode}`,
    'console-home': '/console/',
    'console-sales': '/console/sales',
    'console-sale': `/console/sales/${orderCode}`,
    'console-subscriptions': '/console/subscriptions',
    'console-disputes': '/console/disputes',
    'console-products': '/console/products',
    'console-statement': '/console/statement',
    'console-payouts': '/console/payouts',
    'console-subaccounts': '/console/subaccounts',
    'console-subaccount': `/console/subaccounts?subaccountId=${subaccountId}`,
    'console-developers': '/console/developers',
  };
}

/**
 * Requests a change at the facade, which must succeed.
 * @param {string} mutation @param {string} fields of its success @param {object} input
 */
async function request(mutation, fields, input) {
  const Name = mutation[0]?.toUpperCase() + mutation.slice(1);
  const selected = fields && `... on ${Name}Success { ${fields} }`;
  const { done } = await merchant.request(
    `mutation ($input: ${Name}Input!) { done: ${mutation}(input: $input) { __typename ... on UserError { message } ${selected} } }`,
    { input },
  );
  if (done.message) throw new Error(`${mutation}: ${done.message}`);
  return done;
}

/** Presses a control of the service's simulator. @param {string} control @param {object} input */
async function simulate(control, input) {
  await fetch(`${service.url}/simulator/${control}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-psa-action': '1' },
    body: JSON.stringify(input),
  });
}

/** @param {number} ms */
async function pass(ms) {
  clock.advance(ms);
  await setTimeout(NOTICED_AFTER_MS);
}

/** Waits until both have done what is due: each gives the other more to do. */
async function settle() {
  for (let turn = 0; turn < 3; turn++) for (const { work } of [service, facade]) await work.settled();
}

/** @param {string} state @param {Fault} fault @param {Record<string, string>} pages */
async function drawState(state, fault, pages) {
  proxy.plan = () => PASS;
  // The circuits of a state before are closed again.
  await pass(NEXT_PAGE_MS * 4);
  const visitors = await Promise.all(WIDTHS.map(enter));
  if (!hasRead) for (const path of Object.values(pages)) await visitors[0]?.open(path);
  hasRead = true;
  proxy.plan = () => fault;
  await pass(OLD_MS);
  for (const [name, path] of Object.entries(pages)) {
    if (options.page && options.page !== name) continue;
    await pass(NEXT_PAGE_MS);
    await Promise.all(
      visitors.map(async ({ page, width, open }) => {
        await open(path);
        const file = join(folder, `${name}-${state}-${width}.png`);
        await page.screenshot({ path: file, fullPage: true, animations: 'disabled' });
      }),
    );
  }
  for (const { context } of visitors) await context.close();
}

/** Enters the console with the merchant's key. @param {number} width */
async function enter(width) {
  const { page, context } = await openVisitor(browser, { viewport: { width, height: 900 } });
  await page.goto(`${facade.url}/console/`);
  await page.getByLabel('Chave de API').fill(KEY);
  await page.getByRole('button', { name: 'Entrar' }).click();
  await page.getByRole('button', { name: 'Sair' }).waitFor();
  const open = async (/** @type {string} */ path) => {
    await page.goto(`${facade.url}${path}`);
    await page.waitForTimeout(DRAWN_AFTER_MS);
  };
  return { page, context, width, open };
}
