// node shop.mjs sells. node shop.mjs reconcile, once a night, ships the orders that no webhook has reported.
import { randomUUID } from 'node:crypto';
import { link, mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { mintCheckout, refundOf, saleOf, sales, verifyWebhook, WebhookError } from '@psa/checkout/server';

const { PSA_URL, PSA_KEY, PSA_WEBHOOK_SECRET, PORT } = process.env;
const psa = { endpoint: `${PSA_URL}/graphql`, key: PSA_KEY };
const MUG = { description: 'Caneca', amount: { fixedCents: 4990 }, methods: ['PIX', 'CARD'] };
const WEEK = 7 * 24 * 60 * 60 * 1000;
const ID = /^[0-9a-f-]{36}$/;
const HTML = { 'content-type': 'text/html; charset=utf-8' };

for (const folder of ['orders', 'shipped', 'refunded']) await mkdir(folder, { recursive: true });

/** Ships a paid order, or reverses it. It happens once: of all processes that try, one can make the link. */
async function mark(folder, order) {
  if (!ID.test(order?.orderId)) return;
  await link(`orders/${order.orderId}`, `${folder}/${order.orderId}`).catch((error) => {
    // The order is already marked, or is none of this shop's.
    if (!['EEXIST', 'ENOENT'].includes(error.code)) throw error;
  });
}

async function pageOf(id) {
  const order = JSON.parse(await readFile(`orders/${id}`, 'utf8'));
  const { token } = await mintCheckout(psa, { ...order, orderId: id });
  return `<!doctype html><html lang="pt-BR"><meta charset="utf-8"><title>${order.description}</title>
    <meta name="viewport" content="width=device-width, initial-scale=1"><script type="module" src="${PSA_URL}/widget/psa-checkout.js"></script>
    <psa-checkout endpoint="${psa.endpoint}" token="${token}" methods="pix card">Pagar</psa-checkout>`;
}

async function answer(request) {
  const [, folder, id = ''] = new URL(request.url, 'http://shop').pathname.split('/');
  if (request.method === 'POST' && folder === 'webhook') {
    const { event } = await verifyWebhook(request, { secret: PSA_WEBHOOK_SECRET });
    await mark('shipped', saleOf(event));
    await mark('refunded', refundOf(event));
    return [204];
  }
  if (request.method === 'POST' && folder === 'orders') {
    const order = randomUUID();
    await writeFile(`orders/${order}`, JSON.stringify(MUG));
    return [303, { location: `/orders/${order}` }];
  }
  if (folder === 'orders' && ID.test(id)) return [200, HTML, await pageOf(id)];
  return [200, HTML, '<form method="post" action="/orders"><button>Caneca, R$ 49,90</button></form>'];
}

if (process.argv[2] === 'reconcile') {
  for await (const sale of sales(psa, { from: new Date(Date.now() - WEEK) })) await mark('shipped', sale);
} else {
  createServer(async (request, response) => {
    const [status, headers, body] = await answer(request).catch((error) => {
      if (!(error instanceof WebhookError)) console.error(error);
      return [error instanceof WebhookError ? 401 : 500];
    });
    response.writeHead(status, headers).end(body);
  }).listen(PORT);
}
