import type { BrowserContextOptions, Page } from 'playwright-core';
import { beforeEach, describe, expect, it } from 'vitest';
import { findViolations, injectAxe } from '../support/axe.ts';
import type { Visitor } from '../support/browser.ts';
import { deferred } from '../support/deferred.ts';
import { fillAccount } from '../support/filled-account.ts';
import { configureWebhook } from '../support/pair.ts';
import { onlyInAll, runsAll } from '../support/scale.ts';
import { simulate, startServiceFixture } from './fixture.ts';
import { isLive, openShop } from './shop.ts';

const shop = openShop(startServiceFixture);
// The clock advances, because an account may request ten payouts an hour.
beforeEach(() => shop.fixture.pass(3_600_001));

async function openDashboard(options: BrowserContextOptions = {}): Promise<Visitor> {
  const visitor = await shop.visit(options, '/demo/dashboard');
  // The browser's messages about closed sockets, and about requests without a network.
  visitor.expectProblems(/WebSocket connection to/, /ERR_INTERNET_DISCONNECTED/, /status of 4\d\d/);
  await isLive(visitor.page);
  return visitor;
}

async function credit(amountCents: number): Promise<void> {
  await simulate(shop.fixture.url, 'credit', { amountCents });
}

async function request(
  page: Page,
  {
    method = 'PIX',
    amount,
    destination,
    outcome = /Saque SAQ-\w+ pedido/,
  }: { method?: string; amount: string; destination: string; outcome?: RegExp },
): Promise<void> {
  await page.getByText(method, { exact: true }).first().click();
  await page.getByLabel('Valor em reais').fill(amount);
  await page.getByLabel('Chave PIX').fill(destination);
  await page.getByRole('button', { name: 'Pedir saque' }).click();
  await confirm(page);
  await page.getByText(outcome).waitFor();
}

/** Confirms a dialog, and moves the mouse away: a table under a mouse shows nothing new. */
async function confirm(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Confirmar saque' }).click();
  await page.mouse.move(0, 0);
}
/** The row of the newest payout. */
const newest = (page: Page) => page.locator('#payouts tbody tr').first();
const says = (page: Page, text: string) => newest(page).getByText(text, { exact: true }).waitFor();
const figure = (page: Page, name: string) => page.locator(`[data-figure=${name}]`);

describe('a new account', () => {
  it('a new account is credited and requests a payout without a reload', async () => {
    const { page } = await openDashboard();
    await page.getByText('Ainda não há o que sacar').waitFor();

    await page.getByRole('button', { name: /Creditar R\$\s1\.000,00/ }).click();
    await figure(page, 'available').getByText('1.000,00').waitFor();
    await page.getByRole('button', { name: 'Pedir saque' }).click();
    // No money leaves before the fee and the net amount are confirmed.
    const dialog = page.getByRole('dialog', { name: 'Confirmar o saque' });
    for (const terms of [/ana@psa\.example/, /Tarifa\s*R\$\s1,00/, /Chega ao destino\s*R\$\s149,00/])
      await dialog.filter({ hasText: terms }).waitFor();
    await dialog.getByRole('button', { name: 'Voltar' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await page.getByText('Nenhum saque ainda').first().waitFor();
    await page.getByRole('button', { name: 'Pedir saque' }).click();
    await confirm(page);

    await says(page, 'Pendente');
    await figure(page, 'available').getByText('850,00').waitFor();
    await shop.fixture.pass(2_500);
    await says(page, 'Concluído');
    await page.getByText('Ver como tabela').click();
    await page.locator('.as-table td').getByText('150,00').waitFor();
  });
});

it('eleven digits are a CPF or a mobile, as the form says, and which of both is shown before the payout is confirmed', async () => {
  await credit(100_000);
  const { page } = await openDashboard();
  const rows = await page.locator('#payouts tbody tr').count();
  const dialog = page.getByRole('dialog', { name: 'Confirmar o saque' });
  await page.getByLabel('Valor em reais').fill('10,00');
  await page.getByLabel('Chave PIX').fill('11987654374');
  for (const [type, said] of [
    ['Automático', /\(CPF\)/],
    ['celular', /\+55119\d+ \(celular\)/],
  ] as const) {
    await page.getByLabel('Tipo da chave').selectOption(type);
    await page.getByRole('button', { name: 'Pedir saque' }).click();
    await dialog.filter({ hasText: said }).waitFor();
    await dialog.getByRole('button', { name: 'Voltar' }).click();
    await dialog.waitFor({ state: 'hidden' });
  }
  await page.getByLabel('Tipo da chave').selectOption('e-mail');
  await page.getByRole('button', { name: 'Pedir saque' }).click();
  await page.getByText('A chave não é do tipo escolhido').waitFor();
  expect(await page.locator('#payouts tbody tr').count()).toBe(rows);
});

describe('a payout whose answer was lost', () => {
  it('a payout whose answer was lost is sent once, also where the form was changed in between', async () => {
    await credit(50_000);
    const visitor = await openDashboard();
    visitor.expectProblems(/502/);
    const { page } = visitor;
    await page.route(
      '**/demo/dashboard/payouts',
      async (route) => {
        await route.fetch();
        await route.fulfill({ status: 502, body: 'Bad gateway' });
      },
      { times: 1 },
    );
    const amount = page.getByLabel('Valor em reais');
    await amount.fill('37,00');
    await page.getByLabel('Chave PIX').fill('ana@psa.example');
    await page.getByRole('button', { name: 'Pedir saque' }).click();
    await confirm(page);
    await page.getByText('tente de novo, ele não sai em dobro').waitFor();
    await newest(page).getByText('37,00').waitFor();
    const rows = await page.locator('#payouts tbody tr').count();

    await amount.fill('38,00');
    const outcome = /já tinha chegado: saque SAQ-\w+\. Nada novo foi pedido/;
    await request(page, { amount: '37,00', destination: 'ana@psa.example', outcome });
    // The first payout is done before a second one is requested.
    await request(page, { amount: '39,00', destination: 'ana@psa.example' });
    await newest(page).getByText('39,00').waitFor();
    expect(await page.locator('#payouts tbody tr').count()).toBe(rows + 1);
  });
});

describe('the table of payouts', () => {
  it('a turbo payout that was sent and is not confirmed is shown as processing', async () => {
    await credit(50_000);
    const { page } = await openDashboard();

    await request(page, { method: 'PIX turbo', amount: '100,00', destination: 'ana@psa.example' });
    await shop.fixture.app.work.settled();

    await says(page, 'Em processamento');
    await shop.fixture.pass(3_500);
    await says(page, 'Concluído');
  });

  it('a denied payout shows its reason, and the amount is back in the wallet', async () => {
    await credit(50_000);
    const { page } = await openDashboard();
    const before = await figure(page, 'available').textContent();

    await request(page, { amount: '123,45', destination: 'nega@psa.example' });
    await says(page, 'Pendente');
    await shop.fixture.pass(2_500);

    await says(page, 'Negado');
    await newest(page).getByText('O banco de destino recusou').waitFor();
    await expect.poll(() => figure(page, 'available').textContent()).toBe(before);
    await page
      .locator('#payouts [role=status]')
      .getByText('Saque de R$ 123,45: negado.')
      .waitFor({ state: 'attached' });
  });

  it('a payout stays in place while the mouse is over it', async () => {
    await credit(50_000);
    const { page } = await openDashboard();
    await request(page, { amount: '10,00', destination: 'ana@psa.example' });
    await says(page, 'Pendente');
    const code = await newest(page).locator('td.code').textContent();
    await newest(page).hover();
    await shop.fixture.pass(1_000);

    await fetch(`${shop.fixture.url}/demo/dashboard/payouts`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-psa-action': '1' },
      body: JSON.stringify({ method: 'pix', amountCents: 1_500, destination: 'ana@psa.example' }),
    });
    const waiting = page.locator('#payouts').getByRole('button', { name: '1 novo' });
    await waiting.waitFor();
    expect(await newest(page).locator('td.code').textContent()).toBe(code);

    await waiting.click();
    await newest(page).getByText('15,00').waitFor();
  });

  it('a payout is found by a filter of its status', async () => {
    await credit(50_000);
    const { page } = await openDashboard();
    await request(page, { amount: '10,00', destination: 'demora@psa.example' });
    await says(page, 'Pendente');

    const filter = (name: string) =>
      page.locator('#payouts').getByRole('button', { name, exact: true }).click();
    await filter('Pendente');
    await expect.poll(() => page.locator('#payouts tbody tr').count()).toBe(1);
    await filter('Pendente');
    await filter('Em processamento');
    await page.getByText('Nenhum saque com este filtro.').waitFor();
  });
});

if (runsAll())
  describe('the table of payouts without a stream', () => {
    it('a table without a stream polls', async () => {
      await credit(50_000);
      const { page } = await openDashboard();
      await request(page, { amount: '21,00', destination: 'ana@psa.example' });
      await says(page, 'Pendente');

      await page.evaluate(() => document.querySelector('psa-payouts')!.setAttribute('transport', 'poll'));
      await page.locator('#payouts [part=connection]').getByText('Atualizando').waitFor();
      await shop.fixture.pass(2_500);

      await says(page, 'Concluído');
    });
  });

describe('the table of card payments', () => {
  const sale = (page: Page, name: string) =>
    page.locator('#card-payments tbody tr').filter({ hasText: name });

  async function sell(description: string): Promise<string> {
    const { createCardPayment } = await shop.fixture.live.request(
      'mutation ($input: CreateCardPaymentInput!) { createCardPayment(input: $input) { ... on CreateCardPaymentSuccess { cardPayment { orderCode } } } }',
      { input: { valueCents: 5000, description } },
    );
    return createCardPayment.cardPayment.orderCode;
  }

  it('a part of a sale is refunded, and a pending payment is canceled', async () => {
    const { page } = await openDashboard();
    await shop.fixture.payElsewhere(await sell('Caneca'));
    await sell('Rede');
    const [paid, pending] = [sale(page, 'Caneca'), sale(page, 'Rede')];
    await paid.getByText('Pago', { exact: true }).waitFor();

    await page.getByRole('button', { name: 'Estornar Caneca' }).click();
    const dialog = page.getByRole('dialog', { name: 'Estornar Caneca' });
    expect(await dialog.getByLabel('Valor em reais').inputValue()).toBe('50,00');
    await dialog.getByLabel('Valor em reais').fill('60,00');
    await dialog.getByRole('button', { name: 'Estornar' }).click();
    await dialog.getByText('É mais do que ainda pode ser estornado.').waitFor();
    await dialog.getByLabel('Valor em reais').fill('20,00');
    await dialog.getByRole('button', { name: 'Estornar' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await paid.getByText('R$ 20,00 estornados').waitFor();

    await page.getByRole('button', { name: 'Cancelar Rede' }).click();
    await page.getByRole('button', { name: 'Cancelar o pagamento' }).click();
    await pending.getByText('Cancelado', { exact: true }).waitFor();
    expect(await pending.getByRole('button').count()).toBe(0);
  });

  it('a refund whose answer was lost is refunded once, also where another payment was canceled in between', async () => {
    const visitor = await openDashboard();
    visitor.expectProblems(/502/);
    const { page } = visitor;
    const orderCode = await sell('Vaso');
    await shop.fixture.payElsewhere(orderCode);
    await sell('Banco');
    await sale(page, 'Vaso').getByText('Pago', { exact: true }).waitFor();
    const dialog = page.getByRole('dialog', { name: 'Estornar Vaso' });
    async function refund() {
      await page.getByRole('button', { name: 'Estornar Vaso' }).click();
      await dialog.getByLabel('Valor em reais').fill('20,00');
      await dialog.getByRole('button', { name: 'Estornar' }).click();
    }
    await page.route(
      '**/demo/dashboard/refunds',
      async (route) => {
        await route.fetch();
        await route.fulfill({ status: 502, body: 'Bad gateway' });
      },
      { times: 1 },
    );
    await refund();
    await dialog.getByText('tente de novo, ele não sai em dobro').waitFor();
    await dialog.getByRole('button', { name: 'Voltar' }).click();
    await page.getByRole('button', { name: 'Cancelar Banco' }).click();
    await page.getByRole('button', { name: 'Cancelar o pagamento' }).click();
    await sale(page, 'Banco').getByText('Cancelado', { exact: true }).waitFor();
    await refund();
    await dialog.waitFor({ state: 'hidden' });
    const { cardPayment } = await shop.fixture.live.request(
      'query ($code: String!) { cardPayment(orderCode: $code) { refundableCents } }',
      { code: orderCode },
    );
    expect(cardPayment.refundableCents).toBe(3000);
  });
});

describe('the table of PIX payments', () => {
  async function charge(description: string): Promise<string> {
    const { createPayment } = await shop.fixture.live.request(
      'mutation ($input: CreatePaymentInput!) { createPayment(input: $input) { ... on CreatePaymentSuccess { payment { pix { copyPaste } } } } }',
      { input: { valueCents: 5000, description, customer: { name: 'Ana' } } },
    );
    return createPayment.payment.pix.copyPaste;
  }

  it('a PIX payment is paid by its code in the simulator, sent back beyond that, and refunded in part', async () => {
    const { page, context } = await openDashboard();
    const row = (name: string) => page.locator('#pix-payments tbody tr').filter({ hasText: name });
    const copyPaste = await charge('Bule');
    await row('Bule').getByText('Aguardando', { exact: true }).waitFor();
    expect(await row('Bule').getByRole('button').count()).toBe(0);

    const simulator = await context.newPage();
    await simulator.goto(`${shop.fixture.url}/simulator/`);
    const says = (text: string) => simulator.locator('.outcome').getByText(text).waitFor();
    const order = simulator.locator('.order-form');
    await order.getByLabel('PIX Copia e Cola').fill(copyPaste.slice(0, -1));
    await order.getByRole('button', { name: 'Pagar' }).click();
    await order.getByText('o CRC não confere').waitFor();
    await order.getByLabel('PIX Copia e Cola').fill(copyPaste);
    await order.getByLabel('Valor, se for outro').fill('49,00');
    await order.getByRole('button', { name: 'Pagar' }).click();
    await says('PIX de R$ 49,00 enviado, e o serviço devolve: valor diferente do cobrado.');
    const line = simulator.locator('.pix-bank li').filter({ hasText: 'Bule' });
    await line.getByRole('button', { name: 'Pagar', exact: true }).click();
    await says('PIX de R$ 50,00 pago.');
    await line.getByRole('button', { name: 'Pagar de novo' }).click();
    await says('o serviço devolve: já estava pago');
    await line.getByText('R$ 49,00 devolvidos: valor diferente do cobrado').waitFor();

    await row('Bule').getByText('Pago', { exact: true }).waitFor();
    await row('Bule').getByText('R$ 49,00 devolvidos: valor diferente do cobrado').waitFor();
    await row('Bule').getByText('R$ 50,00 devolvidos: já estava pago').waitFor();
    await page.getByRole('button', { name: 'Estornar Bule' }).click();
    const dialog = page.getByRole('dialog', { name: 'Estornar Bule' });
    await dialog.getByText('Volta para a conta de quem pagou.').waitFor();
    await dialog.getByLabel('Valor em reais').fill('20,00');
    await dialog.getByRole('button', { name: 'Estornar' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await row('Bule').getByText('R$ 20,00 estornados').waitFor();
    await line.getByRole('button', { name: 'Recusar devoluções' }).click();
    await line.getByText('o banco recusa devolver').waitFor();
    await page.getByRole('button', { name: 'Estornar Bule' }).click();
    await dialog.getByRole('button', { name: 'Estornar' }).click();
    await row('Bule').getByText('estorno de R$ 30,00 recusado: O banco do pagador').waitFor();
    await page.getByText('Ver como tabela').click();
    await page.locator('.as-table td').getByText('20,00').first().waitFor();

    await charge('Cesto');
    await simulator.locator('.pix-bank li').filter({ hasText: 'Cesto' }).getByText('Pagar atrasado').click();
    await says('Relógio adiantado. PIX de R$ 50,00 pago.');
    await row('Cesto').getByText('depois do prazo').waitFor();
  });
});

/** The row of a table in which a text stands. */
const rowOf = (page: Page, table: string, text: string) =>
  page.locator(`#${table} tbody tr`).filter({ hasText: text });

describe('the tables of charges, content and the store', () => {
  const products = Array.from({ length: 51 }, (_, index) => ({
    id: `produto-${index + 1}`,
    name: `Produto ${index + 1}`,
    price: '49,90',
    available: true,
  }));

  it('a part of a split charge is refunded, and stocks and the store are read again, page by page', async () => {
    const { url, live } = shop.fixture;
    await simulate(url, 'store', { products });
    const { createSubaccount, createProduct } = await live.request(
      `mutation {
        createSubaccount(input: { name: "Ana" }) {
          ... on CreateSubaccountSuccess { subaccount { subaccountId } }
        }
        createProduct(input: { name: "Curso de tear", priceCents: 4990 }) {
          ... on CreateProductSuccess { product { productId } }
        }
      }`,
    );
    const { subaccountId } = createSubaccount.subaccount;
    const { productId } = createProduct.product;
    await live.request(
      `mutation ($productId: String!) {
        createDelivery(input: { productId: $productId, content: { codes: ["TEAR-1", "TEAR-2"] } }) { __typename }
      }`,
      { productId },
    );
    const { page } = await openDashboard();
    const content = rowOf(page, 'contents', 'Curso de tear');
    await content.getByText('2 códigos em estoque').waitFor();
    const store = page.locator('#store-products');
    // The table begins with eight rows, and each click adds ten; the last click reads the second page.
    for (let clicks = 0; clicks < 5; clicks += 1)
      await store.getByRole('button', { name: 'Mostrar mais' }).click();
    await store.getByText('Produto 51', { exact: true }).waitFor();

    const { createCharge, createPayment } = await live.request(
      `mutation ($subaccountId: String!, $productId: String!) {
        createCharge(
          input: {
            valueCents: 5000
            description: "Tapete"
            splits: [{ subaccountId: $subaccountId, share: { percent: "50" } }]
          }
        ) {
          ... on CreateChargeSuccess { charge { chargeId } }
        }
        createPayment(input: { productId: $productId }) { ... on CreatePaymentSuccess { payment { paymentId } } }
      }`,
      { subaccountId, productId },
    );
    const charge = rowOf(page, 'charges', 'Tapete');
    await charge.getByText('Aguardando', { exact: true }).waitFor();
    await charge.getByText('Ana: R$ 25,00', { exact: true }).waitFor();
    expect(await charge.getByRole('button').count()).toBe(0);
    await simulate(url, 'pix/pay', { id: createCharge.charge.chargeId });
    await charge.getByText('Pago', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Estornar Tapete' }).click();
    const dialog = page.getByRole('dialog', { name: 'Estornar Tapete' });
    expect(await dialog.getByLabel('Valor em reais').inputValue()).toBe('50,00');
    await dialog.getByLabel('Valor em reais').fill('20,00');
    await dialog.getByRole('button', { name: 'Estornar' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await charge.getByText('R$ 20,00 estornados', { exact: true }).waitFor();
    await charge.getByText('Ana: R$ 25,00, R$ 10,00 estornados').waitFor();

    await simulate(url, 'store', { products: products.slice(0, 1) });
    await simulate(url, 'pix/pay', { id: createPayment.payment.paymentId });
    await content.getByText('1 código em estoque').waitFor();
    await expect.poll(() => store.locator('tbody tr').count()).toBe(1);
  });
});

it('a double click in the simulator credits once', async () => {
  const { context } = await openDashboard();
  const simulator = await context.newPage();
  await simulator.goto(`${shop.fixture.url}/simulator/`);
  const credits: string[] = [];
  simulator.on('request', (sent) => sent.url().endsWith('/simulator/credit') && credits.push(sent.url()));
  await simulator.getByRole('button', { name: 'Creditar' }).first().dblclick();
  await simulator.locator('.outcome').getByText('Creditado: R$ 1.000,00.').waitFor();
  expect(credits).toHaveLength(1);
});

describe('the payer of LTC and of a subscription', () => {
  it('LTC and a subscription are paid in the simulator, and the subscription is canceled on the dashboard', async () => {
    const { url, live } = shop.fixture;
    const { page, context } = await openDashboard();
    await live.request(
      `mutation {
        createPayment(input: { valueCents: 4990, method: LTC, description: "Rede de algodão" }) { __typename }
        createSubscription(input: { valueCents: 4990, interval: MONTHLY, description: "Clube do café" }) { __typename }
      }`,
    );
    const simulator = await context.newPage();
    await simulator.goto(`${url}/simulator/`);
    const says = (text: string) => simulator.locator('.outcome').getByText(text).waitFor();
    const press = (line: string, name: string) =>
      simulator.locator('li').filter({ hasText: line }).getByRole('button', { name, exact: true }).click();

    const payment = rowOf(page, 'pix-payments', 'Rede de algodão');
    await payment.getByText('0,08149068 LTC').waitFor();
    await press('Rede de algodão', 'Enviar metade');
    await says('Aguardando: a rede vê 0,04074534 LTC, com 0 confirmações.');
    await press('Rede de algodão', 'Enviar');
    await says('Aguardando: a rede vê 0,08149068 LTC, com 0 confirmações.');
    await press('Rede de algodão', 'Tirar a última saída');
    await says('Aguardando: a rede vê 0,04074534 LTC');
    await press('Rede de algodão', 'Enviar');
    await press('Rede de algodão', 'Minerar um bloco');
    await says('com 1 confirmação.');
    await payment.getByText('1 confirmação').waitFor();
    await press('Rede de algodão', 'Minerar um bloco');
    await says('Pago: a rede vê 0,08149068 LTC, com 2 confirmações.');
    await payment.getByText('Pago', { exact: true }).waitFor();
    // The payer's address is unknown, so no button returns the LTC.
    expect(await payment.getByRole('button').count()).toBe(0);
    expect(await payment.getByText('de volta').count()).toBe(0);

    const subscription = rowOf(page, 'subscriptions', 'Clube do café');
    await subscription.getByText('Aguardando', { exact: true }).waitFor();
    await press('Clube do café', 'Autorizar');
    await says('Assinatura autorizada');
    await subscription.getByText('Ativa', { exact: true }).waitFor();
    await press('Clube do café', 'Recusar cobrança');
    await says('O banco recusou a cobrança.');
    await subscription.getByText('Em atraso', { exact: true }).waitFor();
    await subscription.getByText('ciclo 2: nova tentativa').waitFor();
    await press('Clube do café', 'Debitar agora');
    await says('A próxima cobrança foi paga.');
    await subscription.getByText('ciclo 2: pago').waitFor();

    await page.getByRole('button', { name: 'Cancelar Clube do café' }).click();
    const dialog = page.getByRole('dialog', { name: 'Cancelar Clube do café?' });
    await dialog.getByText('Nenhuma outra cobrança de R$ 49,90 é feita').waitFor();
    await dialog.getByRole('button', { name: 'Cancelar a assinatura' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await subscription.getByText('Cancelada', { exact: true }).waitFor();
    expect(await subscription.getByRole('button').count()).toBe(0);
    await simulator.locator('li').filter({ hasText: 'Clube do café' }).getByText('Cancelada').waitFor();
  });
});

describe('the sums of the day', () => {
  it('the sums of the day that are refused are called a part, and read later, without a new start', async () => {
    await shop.fixture.live.request(
      'mutation { createCardPayment(input: { valueCents: 5000, description: "Pano" }) { __typename } }',
    );
    const visitor = await shop.visit({}, '/simulator/');
    const { page } = visitor;
    visitor.expectProblems(/WebSocket connection to/);
    const asked: string[] = [];
    let refuses = true;
    await page.route('**/graphql', (route) => {
      const [, name = ''] = /query (\w+)/.exec(route.request().postDataJSON()?.query ?? '') ?? [];
      asked.push(name);
      if (name !== 'DayTotals' || !refuses) return route.fallback();
      const error = { message: 'Too many requests', extensions: { code: 'RATE_LIMITED' } };
      return route.fulfill({ json: { data: null, errors: [error] } });
    });
    await page.goto(`${shop.fixture.url}/demo/dashboard`);
    await page.locator('#card-payments').getByText('Pano', { exact: true }).waitFor();
    await page.getByText('ao menos R$').first().waitFor();
    refuses = false;
    await page.getByText('ao menos R$').first().waitFor({ state: 'hidden' });
    await isLive(page);
    expect(asked.filter((name) => name === 'Start')).toHaveLength(1);
  });
});

describe('the dialog of evidence', () => {
  it('the dialog stays open until the answer, and typed evidence outlives its closing', async () => {
    const { page } = await openDashboard();
    await simulate(shop.fixture.url, 'disputes', { amountCents: 4_150 });
    const row = page.locator('#disputes tbody tr').filter({ hasText: '41,50' });
    const open = () => row.getByRole('button', { name: 'Enviar defesa' }).click();
    await open();
    const dialog = page.getByRole('dialog', { name: /Disputa de R\$\s41,50/ });
    const text = dialog.getByLabel('O que aconteceu');
    await text.fill('Retirado na loja.');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    await open();
    expect(await text.inputValue()).toBe('Retirado na loja.');

    const [answer, sent] = [deferred(), deferred()];
    await page.route(
      '**/demo/dashboard/evidence',
      async (route) => {
        sent.resolve();
        await answer.promise;
        await route.fulfill({ status: 409, json: { error: 'x', code: 'DISPUTE_STATE', fields: [] } });
      },
      { times: 1 },
    );
    await dialog.getByRole('button', { name: 'Enviar defesa' }).click();
    await sent.promise;
    for (let press = 0; press < 3; press += 1) await page.keyboard.press('Escape');
    await dialog.getByRole('button', { name: 'Voltar' }).dispatchEvent('click');
    answer.resolve();
    await dialog.getByText('Esta disputa não aceita mais provas').waitFor();
    await dialog.getByRole('button', { name: 'Voltar' }).click();
    await dialog.waitFor({ state: 'hidden' });
  });

  it('evidence is submitted from the dialog, which says what is wrong, and is shown in it', async () => {
    const { page } = await openDashboard();
    await simulate(shop.fixture.url, 'disputes', { amountCents: 7_350 });
    const row = page.locator('#disputes tbody tr').filter({ hasText: '73,50' });
    await row.getByText('nenhuma prova').waitFor();
    await row.getByRole('button', { name: 'Enviar defesa' }).click();
    const dialog = page.getByRole('dialog', { name: /Disputa de R\$\s73,50/ });
    const submit = () => dialog.getByRole('button', { name: 'Enviar defesa' }).click();
    await submit();
    await dialog.getByText('Escreva o que aconteceu').waitFor();
    await dialog.getByLabel('O que aconteceu').fill('Entregue na portaria.');
    await dialog.getByLabel('Documentos').fill('http://loja.example/nota.pdf');
    await submit();
    await dialog.getByText('Cada documento precisa de um endereço https público').waitFor();
    await dialog.getByLabel('Documentos').fill('https://loja.example/nota.pdf');
    await submit();
    await dialog.waitFor({ state: 'hidden' });
    await row.getByText('Em análise', { exact: true }).waitFor();
    await row.getByText('1 prova', { exact: true }).waitFor();

    await row.getByRole('button', { name: 'Enviar defesa' }).click();
    await dialog.getByText('Entregue na portaria.').waitFor();
    const link = dialog.getByRole('link', { name: 'https://loja.example/nota.pdf' });
    expect([await link.getAttribute('target'), await link.getAttribute('rel')]).toEqual([
      '_blank',
      'noreferrer noopener',
    ]);
    expect(await dialog.getByLabel('O que aconteceu').inputValue()).toBe('');
  });
});

describe('an invalid form', () => {
  it('an invalid form shows the error at its field and focuses it', async () => {
    await credit(50_000);
    const { page } = await openDashboard();
    const focused = () => page.evaluate(() => document.activeElement?.id);

    await page.getByRole('button', { name: 'Pedir saque' }).click();
    await page.getByText('Escreva um valor').waitFor();
    expect(await focused()).toBe('amount');

    await page.getByLabel('Valor em reais').fill('10,00');
    await page.getByLabel('Chave PIX').fill('111.222.333-44');
    await page.getByLabel('Chave PIX').press('Enter');
    await page.getByText('Não é uma chave PIX').waitFor();
    expect(await focused()).toBe('destination');

    await page.getByLabel('Chave PIX').fill('ana@psa.example');
    await page.getByLabel('Valor em reais').fill('99.999,00');
    await page.getByLabel('Valor em reais').press('Enter');
    await confirm(page);
    await page.getByText(/Só há R\$/).waitFor();
    expect(await focused()).toBe('amount');
  });
});

describe('a lost connection', () => {
  it('a lost connection is shown, and missed updates arrive with the next one', async () => {
    await credit(50_000);
    const { page, context } = await openDashboard();
    await request(page, { amount: '42,00', destination: 'ana@psa.example' });
    await says(page, 'Pendente');

    await context.setOffline(true);
    await page.getByText('Você está sem rede').waitFor();
    await shop.fixture.pass(2_500);
    await says(page, 'Pendente');
    await context.setOffline(false);

    await says(page, 'Concluído');
    await isLive(page);
    expect(await page.getByText('Você está sem rede').count()).toBe(0);
  });

  it('the dashboard reconnects with a new token when the old one has expired', async () => {
    await credit(50_000);
    const { page, messages } = await openDashboard();
    const opened = () => messages.filter((message) => message.includes('connection_init')).length;
    const before = opened();

    await shop.fixture.pass(900_000);

    await expect.poll(opened).toBeGreaterThan(before);
    await isLive(page);
    await request(page, { amount: '11,00', destination: 'ana@psa.example' });
    await says(page, 'Pendente');
  });
});

describe('a refused token', () => {
  it('the dashboard reconnects also where the server mints no token at first', async () => {
    const visitor = await openDashboard();
    visitor.expectProblems(/503/);
    const { page } = visitor;
    let refused = 0;
    await page.route('**/demo/dashboard/token', async (route) => {
      refused += 1;
      if (refused > 2) return route.fallback();
      return route.fulfill({ status: 503, body: 'Unavailable' });
    });

    await shop.fixture.pass(900_000);

    await expect.poll(() => refused).toBeGreaterThan(2);
    await isLive(page);
  });
});

describe('the simulator', () => {
  it('a transfer that the simulator completes is shown on the dashboard', async () => {
    await credit(50_000);
    const { page, context } = await openDashboard();
    await request(page, { amount: '33,00', destination: 'demora@psa.example' });
    await says(page, 'Pendente');
    await shop.fixture.app.work.settled();

    const simulator = await context.newPage();
    await simulator.goto(`${shop.fixture.url}/simulator/`);
    await simulator.getByRole('button', { name: 'Concluir' }).first().click();
    await simulator.getByText('Transferência concluída.').waitFor();

    await says(page, 'Concluído');
  });

  it('the simulator advances the clock, names its zone, and refuses in the language of its page', async () => {
    const visitor = await openDashboard();
    const { page } = visitor;
    await page.getByText('Horários de Brasília').waitFor();
    await page.goto(`${shop.fixture.url}/simulator/`);
    await page.getByText('Horários de Brasília').waitFor();

    await page.getByRole('button', { name: '+1 h' }).click();

    await page.getByText(/Adiantado .*1 h/).waitFor();
    visitor.expectProblems(/status of 409/);
    await page.route('**/simulator/clock', (route) =>
      route.fulfill({ status: 409, json: { error: 'Nothing waits for an instant' } }),
    );
    await page.getByRole('button', { name: '+1 min' }).click();
    await page.getByText('Nada espera por uma hora.').waitFor();
    expect(await page.getByText('Nothing waits').count()).toBe(0);
  });
});

/** The widths from a phone to a laptop; 1265 is the least at which two tables stand side by side. */
const WIDTHS = [320, 390, 700, 1024, 1265, 1280];

describe('the tables', () => {
  it('every table fits its card, and every text its cell, from a phone to a laptop', async () => {
    const { url, live, app } = shop.fixture;
    await fillAccount(app.database, app.clock.now());
    await configureWebhook(live, 'http://127.0.0.1:9/closed');
    await credit(50_000);
    await simulate(url, 'disputes', { amountCents: 7_350 });
    await simulate(url, 'store', {
      products: [{ id: 'rede-varanda', name: 'Rede Varanda', price: '1.234,56', available: true }],
    });
    const { createProduct, createSubscription } = await live.request(
      `mutation {
        requestPayout(input: { method: PIX, amountCents: 1000, destination: "ana@psa.example", idempotencyKey: "tabelas" }) { __typename }
        createCardPayment(input: { valueCents: 5000, description: "Caneca" }) { __typename }
        createPayment(input: { valueCents: 12345678, description: "Bule" }) { __typename }
        byLtc: createPayment(input: { valueCents: 5000, method: LTC, description: "Bule" }) { __typename }
        createCharge(input: { valueCents: 5000, description: "Tapete" }) { __typename }
        createSubscription(input: { valueCents: 4990, interval: QUARTERLY, description: "Clube do café" }) {
          ... on CreateSubscriptionSuccess { subscription { subscriptionId } }
        }
        createProduct(input: { name: "Curso de cerâmica", priceCents: 4990 }) {
          ... on CreateProductSuccess { product { productId } }
        }
      }`,
    );
    await live.request(
      `mutation ($productId: String!) {
        createDelivery(input: { productId: $productId, content: { text: "Olá" } }) { __typename }
      }`,
      createProduct.product,
    );
    await simulate(url, `subscriptions/${createSubscription.subscription.subscriptionId}/authorise`, {});
    // The date of another day is longer than that of this one.
    await shop.fixture.pass(24 * 3_600_000);
    const { page } = await openDashboard();
    for (const table of [
      ...['payouts', 'card-payments', 'pix-payments', 'charges', 'disputes', 'subscriptions', 'webhooks'],
      ...['contents', 'store-products'],
    ])
      await page.locator(`#${table} tbody tr`).first().waitFor();
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      expect([width, await page.evaluate(findOverflows)]).toEqual([width, []]);
    }
  });
});

/** Finds tables and cells that overflow their card, cells that overflow their row, and texts that overflow their cell. */
function findOverflows(): string[] {
  const isWider = (inner: DOMRect, outer: Pick<DOMRect, 'left' | 'right'>) =>
    inner.left < outer.left - 1 || inner.right > outer.right + 1;
  const isHigher = (inner: DOMRect, outer: DOMRect) =>
    inner.top < outer.top - 1 || inner.bottom > outer.bottom + 1;
  const found: string[] = [];
  for (const card of document.querySelectorAll('.card')) {
    const { left, right } = card.getBoundingClientRect();
    const { paddingLeft, paddingRight } = getComputedStyle(card);
    const inside = {
      left: left + Number.parseFloat(paddingLeft),
      right: right - Number.parseFloat(paddingRight),
    };
    for (const table of (card.shadowRoot ?? card).querySelectorAll('table')) {
      if (isWider(table.getBoundingClientRect(), inside)) found.push(`#${card.id}: the table`);
      for (const cell of table.querySelectorAll('td')) {
        const box = cell.getBoundingClientRect();
        const room = {
          left: box.left,
          right: box.right - Number.parseFloat(getComputedStyle(cell).paddingRight),
        };
        if (isWider(box, inside) || isHigher(box, cell.parentElement!.getBoundingClientRect()))
          found.push(`#${card.id}: the cell ${cell.textContent?.trim()}`);
        const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
        while (texts.nextNode()) {
          const text = texts.currentNode as Text;
          // A text that is cut off can be read in its title.
          const titled = text.parentElement?.closest('td [title]');
          if (titled && getComputedStyle(titled).textOverflow === 'ellipsis') continue;
          const range = document.createRange();
          range.selectNodeContents(text);
          const drawn = range.getBoundingClientRect();
          if (drawn.width > 0 && isWider(drawn, room))
            found.push(`#${card.id}: the text ${text.data.trim()}`);
        }
      }
    }
  }
  return found;
}

describe('large amounts', () => {
  it('no figure of the wallet lies over another, from a phone to a laptop', async () => {
    const { page } = await openDashboard();
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      const overlaps = await page.evaluate(() => {
        const texts = [...document.querySelectorAll<HTMLElement>('.wallet dd')].map((figure) => {
          figure.textContent = 'R$\u00a099.999.999,99';
          const range = document.createRange();
          range.selectNodeContents(figure);
          return range.getBoundingClientRect();
        });
        return texts.filter((a, index) =>
          texts.some(
            (b, other) =>
              a.right > innerWidth ||
              (other !== index &&
                a.right > b.left &&
                b.right > a.left &&
                a.bottom > b.top &&
                b.bottom > a.top),
          ),
        ).length;
      });
      expect([width, overlaps]).toEqual([width, 0]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
    }
  });
});

describe.each(
  onlyInAll([
    ['light', { width: 1280, height: 900 }],
    ['dark', { width: 390, height: 844 }],
    ['dark', { width: 1280, height: 900 }],
    ['light', { width: 390, height: 844 }],
  ] as const),
)('in %s colours, %o', (colorScheme, viewport) => {
  it('axe finds nothing on the dashboard and the simulator', async () => {
    await credit(50_000);
    const visitor = await openDashboard({ colorScheme, viewport, reducedMotion: 'reduce' });
    const { page, context } = visitor;
    await injectAxe(context);
    await page.reload();
    await request(page, { amount: '12,00', destination: 'demora@psa.example' });
    await says(page, 'Pendente');
    await page.getByText('Ver como tabela').click();
    expect(await findViolations(page)).toEqual([]);

    await page.getByRole('button', { name: 'Pedir saque' }).click();
    await page.getByText('Escreva um valor').waitFor();
    expect(await findViolations(page)).toEqual([]);
    await shop.fixture.live.request(
      'mutation { createCardPayment(input: { valueCents: 5000, description: "Rede" }) { __typename } }',
    );
    await page.getByRole('button', { name: 'Cancelar Rede' }).last().click();
    await page.getByRole('dialog').waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Voltar' }).click();
    await shop.fixture.live.request(
      `mutation {
        createPayment(input: { valueCents: 5000, description: "Pote" }) { __typename }
        byLtc: createPayment(input: { valueCents: 5000, method: LTC, description: "Vaso" }) { __typename }
        createCharge(input: { valueCents: 5000, description: "Tapete" }) { __typename }
        createSubscription(input: { valueCents: 4990, interval: YEARLY, description: "Clube do mel" }) { __typename }
      }`,
    );
    await page.locator('#pix-payments').getByText('Vaso').first().waitFor();
    await page.getByRole('button', { name: 'Cancelar Clube do mel' }).first().click();
    await page.getByRole('dialog').waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Voltar' }).click();

    await context.setOffline(true);
    await page.getByText('Você está sem rede').waitFor();
    expect(await findViolations(page)).toEqual([]);
    await context.setOffline(false);

    await page.goto(`${shop.fixture.url}/simulator/`);
    await page.getByRole('button', { name: 'Negar' }).first().waitFor();
    await page.getByRole('button', { name: 'Enviar metade' }).first().waitFor();
    await page.getByRole('button', { name: 'Autorizar' }).first().waitFor();
    await page.getByText('As mesmas alavancas').click();
    await page.getByText('Pagadores que agem sozinhos').click();
    await page.locator('.order-form').getByRole('button', { name: 'Pagar' }).click();
    await page.getByText('Cole um código').waitFor();
    expect(await findViolations(page)).toEqual([]);
    // No page is wider than the screen.
    for (const path of ['/simulator/', '/demo/dashboard']) {
      await page.goto(`${shop.fixture.url}${path}`);
      await page.locator('h2').first().waitFor();
      expect(
        await page.evaluate(() => document.documentElement.scrollWidth - innerWidth),
      ).toBeLessThanOrEqual(0);
    }
  });
});
