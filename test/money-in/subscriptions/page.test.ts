import { afterAll, beforeAll, expect, test } from 'vitest';
import { DAY_MS } from '../../../server/src/kernel/clock.ts';
import { txidOf } from '../../../server/src/money-in/pix/model.ts';
import { LIVE_KEY, startApp, type TestApp } from '../../support/app.ts';

// The hosted page of a subscription, over the whole server.

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(async () => {
  expect(app.faults).toEqual([]);
  await app.close();
});

async function create(input: object = {}): Promise<string> {
  const { body } = await app.rest(LIVE_KEY).post('/subscriptions', {
    valueCents: 4990,
    interval: 'monthly',
    successUrl: 'https://loja.example/obrigado',
    ...input,
  });
  return body.subscriptionId;
}

/** The text of the page: without tags, and with each run of white space as one blank. */
async function textOf(id: string): Promise<string> {
  const response = await fetch(`${app.url}/checkout/${id}`);
  expect(response.status).toBe(200);
  const markup = (await response.text()).replace(/<title>.*?<\/title>/, '').replace(/<[^>]*>/g, ' ');
  return markup.replace(/[\s\u00a0]+/g, ' ');
}

test('The page shows the terms, the code, and the time for the authorisation in hours', async () => {
  const id = await create({ description: 'Clube do café', endsAfterCycles: 12 });
  const text = await textOf(id);
  for (const words of [
    ...[
      'Autorize no app do seu banco',
      'Cobrança mensal de R$ 49,90',
      'por 12 vezes, esta incluída',
      'Clube do café',
    ],
    ...['PIX Automático', txidOf(id), 'Expira em 24:00:00'],
  ])
    expect(text).toContain(words);
  expect(await textOf(await create())).toContain('até você ou a loja cancelar');
  const once = await textOf(await create({ endsAfterCycles: 1 }));
  expect(once).toContain('uma única vez. Ao pagar este código, você não autoriza nenhuma outra cobrança.');
  expect(once).not.toContain('PIX Automático');
});

test('An authorised one shows its next debit and leads to the shop, and one that has ended says so', async () => {
  const id = await create();
  await app.pix.pay({ txid: txidOf(id) });
  // The page asks the server by itself.
  const text = await textOf(id);
  for (const words of ['Assinatura autorizada', 'Próxima cobrança', 'Continuar para a loja', id])
    expect(text).toContain(words);
  expect(text).not.toContain('Copia e Cola');
  const status = await (await fetch(`${app.url}/checkout/${id}/status`)).json();
  expect(status).toMatchObject({ status: 'paid', state: 'paid' });
  await app.rest(LIVE_KEY).delete(`/subscriptions/${id}`);
  const ended = await textOf(id);
  expect(ended).toContain('Assinatura encerrada');
  expect(ended).not.toContain('Próxima cobrança');
});

test('One that was canceled or has expired takes no money, and says that it would be returned', async () => {
  const [canceled, expired] = [await create(), await create()];
  await app.rest(LIVE_KEY).delete(`/subscriptions/${canceled}`);
  expect(await textOf(canceled)).toContain('Assinatura cancelada');
  await app.work.settled();
  app.clock.advance(DAY_MS);
  await app.work.settled();
  await app.pix.pay({ txid: txidOf(expired) });
  await app.work.settled();
  const text = await textOf(expired);
  for (const words of [
    'O tempo para autorizar acabou',
    'Não pague com ele',
    'Recebemos R$ 49,90 e devolvemos',
  ])
    expect(text).toContain(words);
});

test('A subscription that nobody has is answered with 404', async () => {
  expect((await fetch(`${app.url}/checkout/psa_sub_${'0'.repeat(32)}`)).status).toBe(404);
});
