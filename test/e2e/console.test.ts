import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { addAccount, addKey } from '../support/accounts.ts';
import { LIVE_KEY, startApp, type TestApp } from '../support/app.ts';
import { findViolations, injectAxe } from '../support/axe.ts';
import type { Visitor } from '../support/browser.ts';
import { approved } from '../support/cards.ts';
import { FILLED, fillAccount } from '../support/filled-account.ts';
import { openShop } from './shop.ts';

const shop = openShop(async () => {
  const app = await startApp({ environment: { PSA_CONSOLE: 'on' } });
  return { ...app, app, faults: () => app.faults };
});
/** The oldest sale of the account, which was refunded, and its dispute. */
const SALE = `psa_${'1'.padStart(32, '0')}`;
const DISPUTE = `dsp_${'1'.padStart(24, '0')}`;
let app: TestApp;
beforeAll(async () => {
  app = shop.fixture.app;
  await fillAccount(app.database, app.clock.now());
});

async function visit(path = ''): Promise<Visitor> {
  const visitor = await shop.visit({}, `/console/${path}`);
  // A browser reports each refusal, as that of who has not signed in yet.
  visitor.expectProblems(/status of 40[01]/, /WebSocket connection to/);
  return visitor;
}

async function enter(page: Page, key: string): Promise<void> {
  await page.getByLabel('Chave de API').fill(key);
  await page.getByRole('button', { name: 'Entrar' }).click();
}

async function signIn(page: Page, key = LIVE_KEY): Promise<void> {
  await enter(page, key);
  await page.getByRole('navigation', { name: 'Páginas' }).waitFor();
}

/** The account of LIVE_KEY. */
async function firstTenant() {
  const accounts = app.database.sql.selectFrom('account').select('id').orderBy('created_at');
  return { accountId: (await accounts.executeTakeFirstOrThrow()).id, environment: 'live' } as const;
}

const open = (page: Page, name: string) => page.getByRole('link', { name, exact: true }).click();
const parametersOf = (page: Page) => new URL(page.url()).searchParams;

describe('the console of a full account', () => {
  it('A key opens the pages once; a reload and another tab ask for none, and no script can read it', async () => {
    const { page, context } = await visit('payouts');
    await enter(page, 'ps_live_wrong0123456789');
    await page.getByRole('alert').getByText('Esta chave não vale aqui').waitFor();
    await signIn(page);
    await page.getByRole('heading', { name: 'Saques', exact: true }).waitFor();
    await page.reload();
    await page.getByText(`${FILLED.payouts} saques`).waitFor();
    const other = await context.newPage();
    await other.goto(`${app.url}/console/`);
    await other.getByText('Carteira').waitFor();
    const kept = await page.evaluate(() =>
      JSON.stringify([
        document.cookie,
        { ...localStorage },
        { ...sessionStorage },
        document.documentElement.outerHTML,
      ]),
    );
    expect(kept).not.toContain(LIVE_KEY);
    expect(kept).not.toContain('ps_session_');

    await page.getByRole('button', { name: 'Sair' }).click();
    await page.getByLabel('Chave de API').waitFor();
    // Its tokens have ended: the other tab asks for the next one, and has no session.
    await other.getByText('A sessão terminou').waitFor();
  });

  it('What waits for a person is counted, and shown on a click', async () => {
    const { page } = await visit();
    await signIn(page);
    const webhooks = page.locator('[data-task=webhooks]');
    await webhooks.getByText(String(FILLED.deadWebhooks), { exact: true }).waitFor();
    await webhooks.locator('summary').click();
    expect(await webhooks.getByRole('listitem').count()).toBe(20);
  });

  it('What could not be read is not said to be nothing', async () => {
    const { page } = await visit();
    await page.route('**/graphql', async (route) => {
      if (!route.request().postData()?.includes('requestsInDoubt')) return route.continue();
      const errors = [{ message: '', path: ['disputes'], extensions: { code: 'UPSTREAM_REFUSED' } }];
      return route.fulfill({ json: { data: { disputes: null }, errors } });
    });
    await signIn(page);
    await page.locator('console-tasks').getByText('Não foi possível ler agora').waitFor();
    expect(await page.getByText('Nada espera por você').count()).toBe(0);
  });

  it('The filter of a list is in the address, which opens the same list', async () => {
    const { page } = await visit();
    await signIn(page);
    await open(page, 'Saques');
    await page.getByRole('button', { name: 'Concluído', exact: true }).click();
    await expect.poll(() => parametersOf(page).get('statuses')).toBe('COMPLETED');
    const shared = await page.context().newPage();
    await shared.goto(page.url());
    await shared.locator('[aria-pressed=true]').getByText('Concluído').waitFor();
    // The link of the page itself shows all of it again.
    await open(page, 'Saques');
    await page.getByText(`${FILLED.payouts} saques`).waitFor();
    await page.goBack();
    await expect.poll(() => parametersOf(page).get('statuses')).toBe('COMPLETED');
    await page.locator('[aria-pressed=true]').getByText('Concluído').waitFor();
  });

  it('A month is chosen once: the list and the sums are of it, and its address says so', async () => {
    const { page } = await visit('statement');
    await signIn(page);
    const [year, month] = app.clock.now().toISOString().split('-');
    await page.getByLabel('Fechamento do mês').selectOption(`${year}-${month}`);
    await page
      .getByRole('region', { name: /Fechamento de/ })
      .getByText('Saldo final')
      .waitFor();
    expect(parametersOf(page).get('createdAfter')).toBe(`${year}-${month}-01T00:00:00-03:00`);
    await page.reload();
    await page
      .getByRole('region', { name: /Fechamento de/ })
      .getByText('Saldo final')
      .waitFor();
    await page.getByLabel('Fechamento do mês').selectOption('');
    await expect.poll(() => parametersOf(page).size).toBe(0);
  });

  it('A refund asks for the key again, and is made with it alone', async () => {
    const { body } = await app.rest().post('/card-payments', { valueCents: 4990 });
    await app.cardPayments.pay(body.orderCode, approved());
    const { page } = await visit(`sales?search=${body.orderCode}`);
    await signIn(page);
    await page.locator('psa-sales tbody tr', { hasText: /R\$\s49,90/ }).click();
    await page.locator('summary', { hasText: 'Pedir estorno' }).click();
    const refund = page.getByRole('button', { name: 'Pedir estorno' });
    await refund.click();
    const dialog = page.getByRole('dialog', { name: /Estornar R\$\s49,90/ });
    await dialog.getByRole('button', { name: 'Voltar' }).click();
    await page.getByText('O estorno não foi pedido.').waitFor();
    await refund.click();
    await dialog.getByLabel('Chave de API desta sessão').fill('ps_live_wrong0123456789');
    await dialog.getByRole('button', { name: 'Confirmar' }).click();
    await page.getByText('Esta não é a chave desta sessão.').waitFor();
    await refund.click();
    await dialog.getByLabel('Chave de API desta sessão').fill(LIVE_KEY);
    await dialog.getByRole('button', { name: 'Confirmar' }).click();
    await page.getByText('Estorno pedido.').waitFor();
    const refunds = await app.database.sql
      .selectFrom('refund')
      .select('amount_cents')
      .where('resource_id', '=', body.orderCode)
      .execute();
    expect(refunds).toEqual([{ amount_cents: 4990 }]);
  });

  it('A dispute is answered, and its claim is accepted with the key alone', async () => {
    const disputeId = await app.controls.openDispute(await firstTenant(), { amountCents: 777 });
    const { page } = await visit(`disputes?reference=${disputeId}`);
    await signIn(page);
    await page
      .getByText(/R\$\s7,77/)
      .first()
      .click();
    await page.getByRole('textbox').last().fill('Entregue na portaria.');
    await page.getByRole('button', { name: 'Enviar defesa' }).click();
    const stateOf = async () => {
      const { status, evidence } = (await app.rest().get(`/disputes/${disputeId}`)).body;
      return [status, evidence.map(({ text }: { text: string }) => text)];
    };
    await expect.poll(stateOf).toEqual(['under_review', ['Entregue na portaria.']]);
    await page.getByRole('button', { name: 'Aceitar a reclamação' }).click();
    await page.getByRole('button', { name: /Aceitar e perder/ }).click();
    await page.getByLabel('Chave de API desta sessão').fill(LIVE_KEY);
    await page.getByRole('button', { name: 'Confirmar' }).click();
    await expect.poll(async () => (await stateOf())[0]).toBe('lost');
  });

  it('A subscription is found by the address of its customer, followed, and canceled with the key alone', async () => {
    const customer = { name: 'Nina Reis', email: 'nina@example.com' };
    const input = { valueCents: 2990, interval: 'monthly', description: 'Clube do livro', customer };
    const { body } = await app.rest().post('/subscriptions', input);
    const { page } = await visit('subscriptions?search=NINA@example.com');
    await signIn(page);
    const row = page.locator('console-subscriptions tbody tr');
    await row.getByText('Nina Reis').waitFor();
    expect(await row.count()).toBe(1);
    await row.click();
    await page.getByRole('dialog').getByText(body.subscriptionId, { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Abrir a página da assinatura' }).click();
    await page.getByRole('heading', { name: 'Assinatura', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Cancelar a assinatura' }).click();
    await page.getByRole('button', { name: 'Cancelar agora' }).click();
    await page.getByLabel('Chave de API desta sessão').fill(LIVE_KEY);
    await page.getByRole('button', { name: 'Confirmar' }).click();
    await page.getByText('Assinatura cancelada.').waitFor();
    await page.goBack();
    await row.getByText('por você').waitFor();
    expect((await app.rest().get(`/subscriptions/${body.subscriptionId}`)).body.status).toBe('canceled');
  });

  it('A stock that has ended gets codes, and content is shown on request', async () => {
    const { page, context } = await visit('products');
    await injectAxe(context);
    await page.reload();
    await signIn(page);
    await page.getByText(`${FILLED.contents} produtos`).waitFor();
    await page.getByRole('button', { name: 'Sem estoque' }).click();
    await page.getByText(`${FILLED.emptyContents} produtos`).waitFor();
    await expect.poll(() => parametersOf(page).get('stock')).toBe('EMPTY');
    const product = page.locator('details.product').first();
    await product.locator('summary').click();
    await product.getByText('0 códigos em estoque').waitFor();
    await product.getByLabel('Códigos', { exact: true }).last().fill('AAAA-1\nBBBB-2\nAAAA-1');
    await product.getByRole('button', { name: 'Acrescentar' }).click();
    await product.getByText('Linha 3: este código já está acima.').waitFor();
    await product.getByLabel('Códigos', { exact: true }).last().fill('AAAA-1\nBBBB-2');
    await product.getByRole('button', { name: 'Acrescentar' }).click();
    await page.getByText(`${FILLED.emptyContents - 1} produtos`).waitFor();
    await page.getByRole('button', { name: 'Acabando' }).click();
    await product.locator('summary').click();
    await product.getByText('2 códigos em estoque').waitFor();

    await product.locator('label', { hasText: 'Texto' }).click();
    await product.getByLabel('Texto', { exact: true }).last().fill('A senha é sésamo.');
    await product.getByRole('button', { name: 'Acrescentar' }).click();
    await product.getByText('Conteúdo acrescentado.').waitFor();
    expect(await page.getByText('sésamo').count()).toBe(0);
    await product.getByRole('button', { name: 'Mostrar o conteúdo' }).click();
    await product.getByText('A senha é sésamo.').waitFor();
    await product.getByRole('button', { name: 'Excluir', exact: true }).first().click();
    expect(await findViolations(page)).toEqual([]);
  });

  it('A product is made, and deleted with the key alone', async () => {
    const { page } = await visit('products');
    await signIn(page);
    await page.getByText('Novo produto').click();
    await page.getByLabel('Nome', { exact: true }).fill('Ebook');
    await page.getByLabel('Preço em reais').fill('0,79');
    await page.getByRole('button', { name: 'Criar produto' }).click();
    await page.getByText('Escreva um preço a partir de R$ 0,80').waitFor();
    await page.getByLabel('Preço em reais').fill('19,90');
    await page.getByRole('button', { name: 'Criar produto' }).click();
    await page.getByText('Produto criado.').waitFor();
    await page.getByLabel('Buscar pelo nome').fill('ebo');
    await page.getByText('1 produto', { exact: true }).waitFor();
    const product = page.locator('details.product');
    await product.locator('summary').click();
    await product.getByRole('button', { name: 'Excluir o produto' }).click();
    await product.getByRole('button', { name: 'Excluir Ebook' }).click();
    await page.getByLabel('Chave de API desta sessão').fill(LIVE_KEY);
    await page.getByRole('button', { name: 'Confirmar' }).click();
    await page.getByText('Nenhum produto com este filtro.').waitFor();
    const { body } = await app.rest().get('/products?limit=1');
    expect(body.products[0].name).not.toBe('Ebook');
  });

  it('A row leads to the page of its sale, whose address opens it, with its webhooks', async () => {
    const { page } = await visit(`sales?search=${SALE}`);
    await signIn(page);
    await page.locator('psa-sales tbody tr').first().click();
    await page.getByRole('link', { name: 'Abrir a página da venda' }).click();
    await page.getByRole('heading', { name: 'Venda', exact: true }).waitFor();
    expect(new URL(page.url()).pathname).toBe(`/console/sales/${SALE}`);
    const shared = await page.context().newPage();
    await shared.goto(page.url());
    await shared.getByText('Histórico (Brasília)').waitFor();
    await shared.locator('[data-webhook=whd_f1]').getByText('Não entregue').waitFor();
    await shared.getByRole('link', { name: '‹ Vendas' }).click();
    await shared.getByText('Vendas da conta').waitFor();
    await page.goBack();
    await page.getByText('Vendas da conta').waitFor();
  });

  it('The page of a sale requests its refund, and follows it', async () => {
    const { body } = await app.rest().post('/card-payments', { valueCents: 3990 });
    const { page } = await visit(`sales/${body.orderCode}`);
    await signIn(page);
    await page.getByText('Aguardando').first().waitFor();
    await app.cardPayments.pay(body.orderCode, approved());
    await page.locator('summary', { hasText: 'Pedir estorno' }).click();
    await page.getByRole('button', { name: 'Pedir estorno' }).click();
    await page.getByLabel('Chave de API desta sessão').fill(LIVE_KEY);
    await page.getByRole('button', { name: 'Confirmar' }).click();
    await page.getByText(/Estorno de R\$\s39,90 pedido/).waitFor();
  });

  it('The page of a sale has its webhooks beside it, and sends one of them again', async () => {
    const { page } = await visit(`sales/psa_${'64'.padStart(32, '0')}`);
    await signIn(page);
    const resend = page.locator('[data-webhook=whd_f100]').getByRole('button', { name: 'Reenviar' });
    await resend.waitFor();
    const top = async (name: string) => (await page.locator(name).boundingBox())!.y;
    expect(await top('console-sale')).toBe(await top('console-webhooks'));
    await resend.click();
    await page.getByText('O webhook é enviado de novo agora.').waitFor();
  });

  it('The page of a dispute takes its defence', async () => {
    const { id } = await app.database.sql
      .selectFrom('account')
      .select('id')
      .orderBy('created_at')
      .executeTakeFirstOrThrow();
    const disputeId = await app.controls.openDispute(
      { accountId: id, environment: 'live' },
      { amountCents: 888 },
    );
    const { page } = await visit();
    await signIn(page);
    await page.locator('[data-task=disputes] summary').click();
    await page.getByRole('link', { name: disputeId }).click();
    await page.getByRole('textbox').last().fill('Entregue.');
    await page.getByRole('button', { name: 'Enviar defesa' }).click();
    await page.getByText('Defesa enviada').first().waitFor();
    expect(new URL(page.url()).pathname).toBe(`/console/disputes/${disputeId}`);
  });

  it.each([
    ['sales', `psa_${'f'.repeat(32)}`],
    ['sales', DISPUTE],
    ['sales', '1042'],
    ['sales', 'cliente1@example.com'],
    ['sales', '<img src=x onerror="throw 1">'],
    ['disputes', SALE],
    ['disputes', 'dsp_\u202e1'],
    ['payouts', SALE],
    ['payouts', '%'],
  ])('The page /console/%s/%s says that there is no such thing', async (name, id) => {
    const { page } = await visit(`${name}/${encodeURIComponent(id)}`);
    await signIn(page);
    await page.getByText(/^Não há .* nesta conta\.$/).waitFor();
    expect(await page.locator('img').count()).toBe(0);
  });

  it('The page of another account’s sale says that there is none', async () => {
    const key = await addKey(app, { accountId: await addAccount(app) });
    const { page } = await visit(`sales/${SALE}`);
    await signIn(page, key);
    await page.getByText('Não há venda com este código nesta conta.').waitFor();
    expect(await page.getByText('Webhooks').isVisible()).toBe(false);
  });

  it('Texts of others are shown as they are, and do nothing', async () => {
    const hostile = '<img src=x onerror="throw 1">';
    const { body } = await app
      .rest()
      .post('/card-payments', { valueCents: 4990, description: hostile, customer: { name: hostile } });
    const { page } = await visit(`sales/${body.orderCode}`);
    await signIn(page);
    await page.getByText(hostile).first().waitFor();
    expect(await page.locator('img').count()).toBe(0);
  });

  it('The sales by day, week and month are the server’s sums', async () => {
    const { page } = await visit();
    await signIn(page);
    const sum = page.locator('console-chart .chart-sum strong');
    await sum.waitFor();
    const texts = [await sum.textContent()];
    for (const [button, title] of [
      ['Semana', 'Vendas pagas por semana'],
      ['Mês', 'Vendas pagas por mês'],
    ] as const) {
      await page.getByRole('button', { name: button }).click();
      await page.getByRole('heading', { name: title }).waitFor();
      await sum.waitFor();
      texts.push(await sum.textContent());
    }
    const { salesTotals } = await app
      .client(LIVE_KEY)
      .request('{ salesTotals(filter: { paidAfter: "2020-01-01T00:00:00Z" }) { amountCents } }');
    const whole = (salesTotals.amountCents / 100).toLocaleString('pt-BR', {
      ...{ style: 'currency', currency: 'BRL' },
    });
    // All sales of this account are of the last days.
    expect(texts).toEqual([whole, whole, whole]);
    await page.getByText('Ver como tabela').click();
    expect(await page.locator('console-chart tbody tr').count()).toBeGreaterThan(0);
  });

  it('A page that the key may not see says so, and the others are shown', async () => {
    const { page } = await visit('payouts');
    await signIn(page, await addKey(app, { permissions: ['statement.read'] }));
    await page.getByText('Esta chave não mostra esta página').waitFor();
    expect(await page.locator('psa-payouts').count()).toBe(0);
    await open(page, 'Extrato');
    await page.getByText('Lançamentos', { exact: true }).first().waitFor();
  });

  it('A subaccount is found by its identifier, gets a transfer, and is paid out after its fee was shown', async () => {
    await app.rest().post('/subaccounts', { name: `<b>Ana</b> ${'x'.repeat(150)}`, externalId: 'cliente-7' });
    await app.controls.credit(await firstTenant(), 10_000);
    const visitor = await visit('subaccounts');
    visitor.expectProblems(/Failed to load/);
    const { page, context } = visitor;
    await injectAxe(context);
    await page.reload();
    await signIn(page);
    await page.getByText(`${FILLED.subaccounts + 1} subcontas`).waitFor();
    await page.getByLabel('Seu identificador').fill('cliente-7');
    await page.getByRole('button', { name: 'Filtrar' }).click();
    await page.getByText('1 subconta', { exact: true }).waitFor();
    await expect.poll(() => parametersOf(page).get('externalId')).toBe('cliente-7');
    await page.getByRole('link', { name: '<b>Ana</b>' }).click();
    const request = async (button: string) => {
      await page.getByRole('button', { name: button }).click();
      await page.getByLabel('Chave de API desta sessão').fill(LIVE_KEY);
      await page.getByRole('button', { name: 'Confirmar', exact: true }).click();
    };
    await page.locator('#transfer-amount').fill('50,00');
    // The transfer is made, and its answer is lost.
    await page.route('**/console/subaccounts/transfers', async (route) => {
      await route.fetch();
      await route.abort();
    });
    await request('Transferir');
    await page.getByText('Sem resposta: o pedido pode ter sido feito.').waitFor();
    await page.unroute('**/console/subaccounts/transfers');
    await page.reload();
    await page.getByText('O último pedido ficou sem resposta').waitFor();
    expect(await page.locator('#transfer-amount').inputValue()).toBe('50,00');
    expect(await findViolations(page)).toEqual([]);
    await request('Transferir');
    await page.getByText(/R\$\s50,00 foram transferidos uma vez/).waitFor();
    await page.locator('#payout-amount').fill('20,00');
    await page.locator('#payout-pixKey').fill('ana@example.com');
    await page.getByRole('button', { name: 'Continuar' }).click();
    await page.getByText('Quem recebe fica com').waitFor();
    expect(await findViolations(page)).toEqual([]);
    await request('Confirmar saque');
    await page.getByText('Saque pedido.').waitFor();
    await page
      .locator('.facts')
      .getByText(/R\$\s30,00/)
      .waitFor();
    const shared = await page.context().newPage();
    await shared.goto(page.url());
    await shared
      .locator('.facts')
      .getByText(/R\$\s30,00/)
      .waitFor();
  });

  it('A key is made and shown once, and an endpoint is made, with the key of the session', async () => {
    const { page, context } = await visit('developers');
    await injectAxe(context);
    await page.reload();
    await signIn(page);
    const confirm = async () => {
      await page.getByLabel('Chave de API desta sessão').fill(LIVE_KEY);
      await page.getByRole('button', { name: 'Confirmar', exact: true }).click();
    };
    await page.getByText('Criar uma chave').click();
    await page.getByLabel('Nome, para reconhecê-la').fill('Contador');
    await page.getByRole('button', { name: 'Criar chave' }).click();
    await page.getByText('Marque ao menos uma permissão.').waitFor();
    await page.getByLabel('Ler a carteira e o extrato').check();
    await page.getByRole('button', { name: 'Criar chave' }).click();
    await confirm();
    const secret = (await page.locator('console-keys .secret code').textContent())!;
    expect(await findViolations(page)).toEqual([]);
    expect((await app.rest(secret).get('/wallet')).status).toBe(200);
    await page.getByRole('button', { name: 'Já guardei' }).click();
    expect(await page.evaluate(() => document.documentElement.outerHTML)).not.toContain(secret);
    await page.getByRole('button', { name: `Revogar a chave …${secret.slice(-4)}` }).click();
    await confirm();
    await page.getByText('Chave revogada.').waitFor();

    await page.getByText('Criar um endpoint').click();
    await page.getByLabel('URL', { exact: true }).fill('https://loja.example/webhooks');
    await page.getByRole('button', { name: 'Criar endpoint' }).click();
    await confirm();
    await page.locator('console-endpoints .secret code', { hasText: 'whsec_' }).waitFor();
    await page.locator('.endpoint > summary').first().click();
    await page.locator('.endpoint').first().getByText('Eventos', { exact: true }).click();
    await page.locator('console-deliveries li summary').first().click();
    await page.locator('console-deliveries pre').first().waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.getByLabel('Situação').selectOption('EXHAUSTED');
    await page.getByText(`${FILLED.deadWebhooks} entregas`).waitFor();
    await expect.poll(() => parametersOf(page).get('status')).toBe('EXHAUSTED');
    await page.getByRole('button', { name: 'Reenviar todas' }).click();
    await page.getByRole('button', { name: 'Confirmar', exact: true }).click();
    await page.getByText(`${FILLED.deadWebhooks} entregas são reenviadas`).waitFor();
  });

  it.each([
    '',
    'sales',
    'subscriptions',
    'disputes',
    'products',
    'statement',
    'payouts',
    'subaccounts',
    'developers',
    `sales/${SALE}`,
    `disputes/${DISPUTE}`,
    `payouts/${'1'.padStart(24, '0')}`,
  ])('The page /console/%s has no violations, and fits 320 pixels', async (path) => {
    const { page, context } = await visit(path);
    await injectAxe(context);
    await page.reload();
    await page.getByLabel('Chave de API').waitFor();
    expect(await findViolations(page)).toEqual([]);
    await signIn(page);
    await page.locator('.card').first().waitFor();
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await findViolations(page)).toEqual([]);
    }
    await page.setViewportSize({ width: 320, height: 640 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320);
  });
});
