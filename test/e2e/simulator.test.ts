import { expect, it } from 'vitest';
import { simulate, startServiceFixture } from './fixture.ts';
import { openShop } from './shop.ts';

// The page of the simulator, pressed as by who tries the server. test/programs/simulator/controls.test.ts has its routes.

const shop = openShop(startServiceFixture);

async function open() {
  const visitor = await shop.visit({}, '/simulator/');
  const { page } = visitor;
  return {
    ...visitor,
    /** Waits for the outcome of what was pressed. */
    says: (text: string) => page.locator('.outcome').getByText(text).waitFor(),
    press: (line: string, name: string) =>
      page.locator('li').filter({ hasText: line }).getByRole('button', { name, exact: true }).click(),
  };
}

it('A double click credits once', async () => {
  const { page, says } = await open();
  const credits: string[] = [];
  page.on('request', (sent) => sent.url().endsWith('/simulator/credit') && credits.push(sent.url()));
  await page.getByRole('button', { name: 'Creditar' }).first().dblclick();
  await says('Creditado: R$ 1.000,00.');
  expect(credits).toHaveLength(1);
});

it('A transfer that takes its time is completed', async () => {
  const { live, url, app } = shop.fixture;
  await simulate(url, 'credit', { amountCents: 50_000 });
  await live.request(
    `mutation { requestPayout(input: { method: PIX, amountCents: 3300, destination: "demora@psa.example", idempotencyKey: "demora" }) {
      __typename
    } }`,
  );
  await app.work.settled();
  const { page, says } = await open();
  await page.getByRole('button', { name: 'Concluir' }).first().click();
  await says('Transferência concluída.');
  const status = async () =>
    (await live.request('{ payout(idempotencyKey: "demora") { status } }')).payout.status;
  await expect.poll(status).toBe('COMPLETED');
});

it('The clock is advanced, and a refusal is in the language of the page', async () => {
  const { page, expectProblems } = await open();
  await page.getByText('Horários de Brasília').waitFor();
  await page.getByRole('button', { name: '+1 h' }).click();
  await page.getByText(/Adiantado .*1 h/).waitFor();
  expectProblems(/status of 409/);
  await page.route('**/simulator/clock', (route) =>
    route.fulfill({ status: 409, json: { error: 'Nothing waits for an instant' } }),
  );
  await page.getByRole('button', { name: '+1 min' }).click();
  await page.getByText('Nada espera por uma hora.').waitFor();
  expect(await page.getByText('Nothing waits').count()).toBe(0);
});

it('LTC and a subscription are paid', async () => {
  const { live } = shop.fixture;
  await live.request(
    `mutation {
      createPayment(input: { valueCents: 4990, method: LTC, description: "Rede de algodão" }) { __typename }
      createSubscription(input: { valueCents: 4990, interval: MONTHLY, description: "Clube do café" }) { __typename }
    }`,
  );
  const { says, press } = await open();
  await press('Rede de algodão', 'Enviar metade');
  await says('Aguardando: a rede vê 0,04074534 LTC, com 0 confirmações.');
  await press('Rede de algodão', 'Enviar');
  await says('Aguardando: a rede vê 0,08149068 LTC, com 0 confirmações.');
  await press('Rede de algodão', 'Tirar a última saída');
  await says('Aguardando: a rede vê 0,04074534 LTC');
  await press('Rede de algodão', 'Enviar');
  await says('Aguardando: a rede vê 0,08149068 LTC, com 0 confirmações.');
  await press('Rede de algodão', 'Minerar um bloco');
  await says('com 1 confirmação.');
  await press('Rede de algodão', 'Minerar um bloco');
  await says('Pago: a rede vê 0,08149068 LTC, com 2 confirmações.');

  await press('Clube do café', 'Autorizar');
  await says('Assinatura autorizada');
  await press('Clube do café', 'Recusar cobrança');
  await says('O banco recusou a cobrança.');
  await press('Clube do café', 'Debitar agora');
  await says('A próxima cobrança foi paga.');
  const { payments, subscriptions } = await live.request(
    '{ payments(first: 1, filter: { method: [LTC] }) { nodes { status } } subscriptions(first: 1) { nodes { status } } }',
  );
  expect([payments.nodes[0].status, subscriptions.nodes[0].status]).toEqual(['PAID', 'ACTIVE']);
});
