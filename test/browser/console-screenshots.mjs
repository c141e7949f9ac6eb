// Draws the pages of the console and the simulator after a day of sales, and the console and the shop of a facade, wide and narrow,
// light and dark, from real servers:  node test/browser/console-screenshots.mjs --out DIR
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { register } from 'tsx/esm/api';
import { ensureBuilt } from '../../server/scripts/build.mjs';

/** @typedef {import('playwright-core').Page} Page */

const { values: options } = parseArgs({ options: { out: { type: 'string' } } });
if (!options.out) throw new Error('Say where to: --out DIR');
mkdirSync(options.out, { recursive: true });

await ensureBuilt();
register();
const { createApp } = await import('../../server/src/programs/app.ts');
const { readConfig } = await import('../../server/src/programs/config/config.ts');
const { createSystemClock } = await import('../../server/src/kernel/clock.ts');
const { createManualClock } = await import('../support/clock.ts');
const { launchBrowser, openVisitor } = await import('../support/browser.ts');
const { startDocumentUpstream } = await import('../support/document-upstream.ts');
const { createClient } = await import('../support/graphql.ts');

const KEY = 'ps_live_screenshots0123456789';
const LOOKS = /** @type {const} */ ([
  { name: '1280-light', colorScheme: 'light', viewport: { width: 1280, height: 900 } },
  { name: '1280-dark', colorScheme: 'dark', viewport: { width: 1280, height: 900 } },
  { name: '390-light', colorScheme: 'light', viewport: { width: 390, height: 844 } },
  { name: '390-dark', colorScheme: 'dark', viewport: { width: 390, height: 844 } },
]);
/** The pages of the console, by their place behind its address. */
const PAGES = [
  ...['', 'sales', 'subscriptions', 'disputes', 'products', 'statement', 'payouts'],
  ...['subaccounts', 'developers'],
];
const CARD = {
  number: '4242424242424242',
  holder: 'Maria da Silva',
  expiryMonth: 12,
  expiryYear: 2029,
  securityCode: '123',
};
/** The payment of a product with content. */
let bought = '';
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

const browser = await launchBrowser('browser');
try {
  for (const { name, ...look } of LOOKS) await drawAll(name, look);
  await drawFacade();
} finally {
  await browser.close();
}

/** Starts a server with its data in memory. It prints errors; a fatal one ends the run. @param {Record<string, string>} environment @param {import('../../server/src/kernel/clock.ts').Clock} clock */
function startServer(environment, clock) {
  return createApp({
    config: {
      ...readConfig({ PORT: '0', PSA_DATA_DIR: 'memory', ...environment }),
      webhookPrivateAddresses: true,
    },
    clock,
    log: { info: () => undefined, warn: () => undefined, error: console.error },
    onFatal(error) {
      throw error;
    },
  });
}

/** Starts a receiver of webhooks, whose address `/broken` fails. */
async function startReceiver() {
  const receiver = createServer((request, response) => {
    response.writeHead(request.url === '/broken' ? 500 : 200).end();
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => receiver.once('listening', resolve));
  return receiver;
}

/** Presses a control of a server's simulator. @param {import('../../server/src/programs/app.ts').App} app @param {string} control @param {object} input */
function simulate(app, control, input) {
  return fetch(`${app.url}/simulator/${control}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-psa-action': '1' },
    body: JSON.stringify(input),
  });
}

/** Draws the whole page. @param {Page} page @param {string} name */
async function drawPage(page, name) {
  await page.evaluate(() => scrollTo(0, 0));
  await page.mouse.move(0, 0);
  await page.screenshot({
    path: join(options.out ?? '', `${name}.png`),
    fullPage: true,
    animations: 'disabled',
  });
}

/** Draws each page of the console. @param {import('../../server/src/programs/app.ts').App} app @param {Page} page @param {string} name */
async function drawConsole(app, page, name) {
  for (const place of PAGES) {
    await page.goto(`${app.url}/console/${place}`);
    await page.waitForLoadState('networkidle');
    await drawPage(page, `${name}-${place || 'home'}`);
  }
}

/** @param {string} suffix @param {import('playwright-core').BrowserContextOptions} look */
async function drawAll(suffix, look) {
  // 7 in the morning in São Paulo.
  const clock = createManualClock(new Date('2026-03-02T10:00:00.000Z'));
  const app = await startServer({ PSA_BOOTSTRAP_LIVE_KEY: KEY }, clock);
  const receiver = await startReceiver();
  const visitor = await openVisitor(browser, look);
  const { page } = visitor;
  const draw = (/** @type {string} */ state) => drawPage(page, `${state}-${suffix}`);
  try {
    await drawConsole(app, page, `console-empty-${suffix}`);
    await liveADay(app, clock, receiver);
    await drawConsole(app, page, `console-${suffix}`);

    await page.goto(`${app.url}/checkout/${bought}`);
    await page.getByText('O que você comprou').waitFor();
    await draw('page-delivered');

    await page.goto(`${app.url}/simulator/`);
    await page.getByRole('button', { name: 'Adiar 10 min' }).first().waitFor();
    await draw('simulator-live');
    await page.getByText('As mesmas alavancas').click();
    await draw('simulator-routes');
    await page.getByLabel('Ambiente').selectOption('sandbox');
    await page.getByText('Pagamentos de teste pendentes').waitFor();
    await draw('simulator-sandbox');
  } finally {
    await visitor.context.close();
    await app.close();
    receiver.closeAllConnections();
    receiver.close();
  }
}

/**
 * Draws the console and the shop of a facade in front of a service that has only the endpoints of the document: PIX, refunds,
 * disputes and the other families are not offered.
 */
async function drawFacade() {
  const clock = createSystemClock();
  const service = await startDocumentUpstream({ clock });
  const facade = await startServer(
    {
      PSA_DEMO: 'on',
      PSA_UPSTREAM_URL: service.url,
      PSA_UPSTREAM_LIVE_KEY: service.liveKey,
      PSA_UPSTREAM_WEBHOOK_SECRET: service.webhookSecret,
    },
    clock,
  );
  service.webhookUrl = `${facade.url}/webhooks/psa`;
  const receiver = await startReceiver();
  try {
    await sellAtFacade(service, facade, receiver);
    for (const { name: suffix, ...look } of LOOKS) {
      const { page, context } = await openVisitor(browser, look);
      await drawConsole(facade, page, `facade-console-${suffix}`);
      await page.goto(`${facade.url}/demo/`);
      await page.locator('psa-checkout#caneca [part=button][value=pix]').waitFor({ state: 'detached' });
      await drawPage(page, `facade-shop-${suffix}`);
      await context.close();
    }
  } finally {
    await facade.close();
    await service.close();
    receiver.closeAllConnections();
    receiver.close();
  }
}

/**
 * Sells by card and requests payouts at a facade, as a merchant's server does.
 * @param {import('../support/document-upstream.ts').DocumentUpstream} service @param {import('../../server/src/programs/app.ts').App} facade
 * @param {import('node:http').Server} receiver
 */
async function sellAtFacade(service, facade, receiver) {
  const live = createClient(`${facade.url}/graphql`, service.liveKey);
  const { port } = /** @type {import('node:net').AddressInfo} */ (receiver.address());
  service.live.balanceCents = 520_000;
  const subaccountId = service.openSubaccount(60_000);
  for (const [valueCents, description, name, isPaid] of /** @type {const} */ ([
    [4_990, 'Caneca Serra', 'Luísa Prado', true],
    [22_750, 'Rede de varanda e café', 'Nair Dutra', true],
    [3_850, 'Café Vale Alto, 250 g', 'Rui Campos', false],
  ])) {
    const { createCardPayment } = await live.request(
      'mutation($input:CreateCardPaymentInput!){createCardPayment(input:$input){...on CreateCardPaymentSuccess{cardPayment{orderCode}}}}',
      {
        input: {
          ...{ valueCents, description, customer: { name } },
          callbackUrl: `http://127.0.0.1:${port}/webhooks`,
        },
      },
    );
    if (isPaid) await service.pay(createCardPayment.cardPayment.orderCode);
  }
  for (const [method, amountCents, destination] of /** @type {const} */ ([
    ['PIX', 15_000, 'ana@psa.example'],
    ['PIX', 8_000, 'nega@psa.example'],
    ['PIX_TURBO', 32_000, '+5511987654321'],
  ]))
    await live.request('mutation($input:RequestPayoutInput!){requestPayout(input:$input){__typename}}', {
      input: { method, amountCents, destination },
    });
  await live.request(
    'mutation($id:String!){requestSubaccountPayout(input:{subaccountId:$id,amountCents:12500,pixKey:"re@psa.example",idempotencyKey:$id}){__typename}}',
    { id: subaccountId },
  );
  const payoutOf = (/** @type {number} */ amountCents) => {
    const found = service.live.withdrawals.find((each) => each.amountCents === amountCents);
    if (!found) throw new Error(`The service has no payout of ${amountCents} cents.`);
    return found.id;
  };
  await service.deny(payoutOf(8_000));
  await service.settle(payoutOf(32_000));
  for (const { references } of service.live.subaccountPayouts) {
    if (!references[0]) throw new Error('The service gave a payout of a subaccount no name.');
    await service.settle(references[0]);
  }
}

/**
 * Plays a shop's day: payments, charges, subscriptions, payouts, webhooks and disputes.
 * @param {import('../../server/src/programs/app.ts').App} app
 * @param {import('../support/clock.ts').ManualClock} clock
 * @param {import('node:http').Server} receiver
 */
async function liveADay(app, clock, receiver) {
  const live = createClient(`${app.url}/graphql`, KEY);
  const { port } = /** @type {import('node:net').AddressInfo} */ (receiver.address());
  const post = (/** @type {string} */ control, /** @type {object} */ body) => simulate(app, control, body);
  const pass = async (/** @type {number} */ ms) => {
    await app.work.settled();
    clock.advance(ms);
    await app.work.settled();
  };
  const payout = (
    /** @type {string} */ method,
    /** @type {number} */ amountCents,
    /** @type {string} */ destination,
  ) =>
    live.request('mutation($input:RequestPayoutInput!){requestPayout(input:$input){__typename}}', {
      input: { method, amountCents, destination },
    });
  const sell = async (
    /** @type {number} */ valueCents,
    /** @type {string} */ description,
    /** @type {string} */ name,
  ) => {
    const { createCardPayment } = await live.request(
      'mutation($input:CreateCardPaymentInput!){createCardPayment(input:$input){...on CreateCardPaymentSuccess{cardPayment{orderCode}}}}',
      { input: { valueCents, description, customer: { name } } },
    );
    return createCardPayment.cardPayment.orderCode;
  };
  const pay = (/** @type {string} */ orderCode) => app.embedded?.cardPayments.pay(orderCode, CARD);

  const sellByPix = async (
    /** @type {number} */ valueCents,
    /** @type {string} */ description,
    /** @type {object} */ customer,
  ) => {
    const { createPayment } = await live.request(
      'mutation($input:CreatePaymentInput!){createPayment(input:$input){...on CreatePaymentSuccess{payment{paymentId}}}}',
      { input: { valueCents, description, customer } },
    );
    return createPayment.payment?.paymentId;
  };
  const payByPix = (/** @type {string} */ id, amountCents = undefined) =>
    post('pix/pay', { id, amountCents });
  const refund = (/** @type {string} */ paymentId, amountCents = undefined) =>
    live.request('mutation($input:RefundPaymentInput!){refundPayment(input:$input){__typename}}', {
      input: { paymentId, amountCents },
    });

  const sellContent = async () => {
    const { createProduct } = await live.request(
      'mutation{createProduct(input:{name:"Curso de tecelagem",priceCents:14900}){...on CreateProductSuccess{product{productId}}}}',
    );
    const { productId } = createProduct.product;
    for (const content of [
      { text: 'Obrigada pela compra!\nA primeira aula é na terça, às 19h.' },
      { link: 'https://loja.example/cursos/tecelagem' },
      { codes: ['TECE-7Q2M-91XK', 'TECE-8W4N-22PL', 'TECE-1B6V-47RT'] },
    ])
      await live.request('mutation($input:CreateDeliveryInput!){createDelivery(input:$input){__typename}}', {
        input: { productId, content },
      });
    const { createPayment } = await live.request(
      'mutation($input:CreatePaymentInput!){createPayment(input:$input){...on CreatePaymentSuccess{payment{paymentId}}}}',
      { input: { productId } },
    );
    bought = createPayment.payment.paymentId;
    await payByPix(bought);
  };

  const charge = async (
    /** @type {number} */ valueCents,
    /** @type {string} */ description,
    /** @type {object[]} */ splits = [],
  ) => {
    const { createCharge } = await live.request(
      'mutation($input:CreateChargeInput!){createCharge(input:$input){...on CreateChargeSuccess{charge{chargeId}}}}',
      { input: { valueCents, description, ...(splits.length > 0 && { splits }) } },
    );
    return createCharge.charge.chargeId;
  };
  const sellByLtc = async (/** @type {number} */ valueCents, /** @type {string} */ description) => {
    const { createPayment } = await live.request(
      'mutation($input:CreatePaymentInput!){createPayment(input:$input){...on CreatePaymentSuccess{payment{ltc{address}}}}}',
      { input: { valueCents, description, method: 'LTC' } },
    );
    return createPayment.payment.ltc.address;
  };
  const payByLtc = (/** @type {string} */ address, /** @type {object} */ input) =>
    post(`ltc/${address}`, input);
  const subscribe = async (
    /** @type {string} */ description,
    /** @type {string} */ interval,
    /** @type {string} */ name,
    /** @type {string[]} */ ...steps
  ) => {
    const { createSubscription } = await live.request(
      'mutation($input:CreateSubscriptionInput!){createSubscription(input:$input){...on CreateSubscriptionSuccess{subscription{subscriptionId}}}}',
      { input: { valueCents: 4_990, interval, description, customer: { name } } },
    );
    for (const step of steps)
      await post(`subscriptions/${createSubscription.subscription.subscriptionId}/${step}`, {});
  };

  await live.request('mutation($url:Url!){configureWebhook(input:{url:$url}){__typename}}', {
    url: `http://127.0.0.1:${port}/webhooks`,
  });
  await sellContent();
  await post('store', {
    products: [
      { id: 'caneca', name: 'Caneca de cerâmica', price: '49,90', available: true },
      { id: 'rede', name: 'Rede Varanda', price: 'R$ 1.234,56', available: true },
      { id: 'curso', name: 'Curso de jardinagem', price: 'sob consulta', available: false },
    ],
  });
  await post('credit', { amountCents: 520_000 });
  await post('credit', { litoshi: 75_000_000 });
  const { createSubaccount } = await live.request(
    'mutation{createSubaccount(input:{name:"Ateliê da Rê"}){...on CreateSubaccountSuccess{subaccount{subaccountId}}}}',
  );
  const { subaccountId } = createSubaccount.subaccount;
  await live.request(
    'mutation($id:String!){transferToSubaccount(input:{subaccountId:$id,amountCents:60000,idempotencyKey:$id}){__typename}}',
    { id: subaccountId },
  );
  await post('disputes', { amountCents: 4_990 });
  await pay(await sell(4_990, 'Caneca Serra', 'Luísa Prado'));
  await pass(HOUR_MS);
  await pay(await sell(18_900, 'Rede de varanda', 'João Meirelles'));
  await pay(await sell(3_850, 'Café Vale Alto, 250 g', 'Téo Andrade'));
  const late = await sellByPix(18_900, 'Rede de varanda', { name: 'Ruth Sales' });
  const gone = await sellByPix(3_850, 'Café Vale Alto, 250 g', { name: 'Davi Rocha' });
  await payByPix(gone);
  await refund(gone);
  await sellByPix(4_990, 'Caneca Serra', { name: 'Noé Pires' });
  await payout('PIX', 15_000, 'ana@psa.example');
  await pass(HOUR_MS);
  await payout('PIX_TURBO', 32_000, '+5511987654321');
  await payout('PIX', 8_000, 'nega@psa.example');
  await pass(HOUR_MS);
  await pay(await sell(37_800, 'Rede de varanda', 'Cida Moraes'));
  await payByPix(late);
  const twice = await sellByPix(4_990, 'Caneca Serra', { name: 'Bia Nunes' });
  await payByPix(twice, 4_991);
  await payByPix(twice);
  await payByPix(twice);
  await payByPix(twice);
  const part = await sellByPix(22_750, 'Rede de varanda e café', { name: 'Gil Farias' });
  await payByPix(part);
  await refund(part, 3_850);
  const claimed = await sellByPix(18_900, 'Rede de varanda', { name: 'Zeca Prates' });
  await payByPix(claimed);
  const reviewed = await sell(37_800, 'Rede de varanda', 'Mara Lins');
  await pay(reviewed);
  await post('disputes', { id: claimed, amountCents: 18_900 });
  await post('disputes', { id: reviewed, amountCents: 12_000, reason: 'operational_error' });
  const { disputes } = await live.request('{disputes(first:1){nodes{disputeId}}}');
  await live.request(
    'mutation($input:SubmitDisputeEvidenceInput!){submitDisputeEvidence(input:$input){__typename}}',
    {
      input: {
        disputeId: disputes.nodes[0].disputeId,
        text: 'A rede foi entregue em 2 de março, e a portaria assinou o recibo.',
        documents: [{ url: 'https://loja.example/entregas/1042.pdf', description: 'Recibo assinado' }],
      },
    },
  );
  const mug = await sell(4_990, 'Caneca Serra', 'Ivo Teles');
  await pay(mug);
  await live.request(
    'mutation($id:String!){requestSubaccountPayout(input:{subaccountId:$id,amountCents:12500,pixKey:"re@psa.example",idempotencyKey:"re-2"}){__typename}}',
    { id: subaccountId },
  );
  await pass(2 * HOUR_MS);
  await app.embedded?.cardPayments.refund(await firstTenant(app), mug);
  await live.request('mutation($url:Url!){configureWebhook(input:{url:$url}){__typename}}', {
    url: `http://127.0.0.1:${port}/broken`,
  });
  await payout('LTC', 9_000, 'ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9');
  await pass(35 * MINUTE_MS);
  await pay(await sell(22_750, 'Rede de varanda e café', 'Nair Dutra'));
  await payout('PIX', 45_000, 'ana@psa.example');
  const kept = await sellByPix(18_900, 'Rede de varanda', {
    name: 'Ivone Luz',
    email: 'devolve-falha@psa.example',
  });
  await payByPix(kept);
  await app.work.settled();
  await refund(kept, 5_000);
  await pass(4 * MINUTE_MS);
  await sellByPix(7_700, 'Café Vale Alto, 2 × 250 g', { name: 'Lia Reis', email: 'sem-codigo@psa.example' });
  await sellByPix(4_990, 'Caneca Serra', { name: 'Caio Melo' });
  await sell(3_850, 'Café Vale Alto, 250 g', 'Rui Campos');
  const shared = await charge(12_000, 'Oficina de tear', [{ subaccountId, share: { percent: '40' } }]);
  await payByPix(shared);
  await live.request('mutation($input:RefundChargeInput!){refundCharge(input:$input){__typename}}', {
    input: { chargeId: shared, amountCents: 3_000 },
  });
  await payByPix(await charge(6_500, 'Balcão, mesa 4'), 6_000);
  await charge(2_390, 'Balcão, mesa 7');
  await payByLtc(await sellByLtc(18_900, 'Rede de varanda'), { confirmations: 2 });
  await payByLtc(await sellByLtc(4_990, 'Caneca Serra'), { confirmations: 1 });
  await payByLtc(await sellByLtc(37_800, 'Duas redes de varanda'), { litoshi: 20_000_000 });
  await sellByLtc(3_850, 'Café Vale Alto, 250 g');
  await subscribe('Clube do café', 'MONTHLY', 'Iara Paes', 'authorise');
  await subscribe('Clube do café', 'MONTHLY', 'Dora Leal', 'authorise', 'fail');
  await subscribe('Cesta da estação', 'QUARTERLY', 'Ruth Sales', 'authorise', 'debit', 'cancel');
  await subscribe('Cesta da estação', 'QUARTERLY', 'Davi Rocha', 'reject');
  await subscribe('Clube do café', 'YEARLY', 'Noé Pires');
  await payout('PIX_TURBO', 27_000, 'demora@psa.example');
  await app.work.settled();
  await live.request(
    'mutation($id:String!){requestSubaccountPayout(input:{subaccountId:$id,amountCents:8000,pixKey:"demora@psa.example",idempotencyKey:"demora"}){__typename}}',
    { id: subaccountId },
  );
  await pass(MINUTE_MS);
}

/** @param {import('../../server/src/programs/app.ts').App} app */
async function firstTenant(app) {
  const { id } = await app.database.sql
    .selectFrom('account')
    .select('id')
    .orderBy('created_at')
    .executeTakeFirstOrThrow();
  return { accountId: id, environment: /** @type {const} */ ('live') };
}
