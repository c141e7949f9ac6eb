import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { LIVE_KEY, startApp, type TestApp } from '../support/app.ts';
import { findViolations, injectAxe } from '../support/axe.ts';
import { openShop } from './shop.ts';

// The payouts that a person requests at the console.

const shop = openShop(async () => {
  const app = await startApp({ environment: { PSA_CONSOLE: 'on' } });
  const [account] = await app.database.sql.selectFrom('account').select('id').orderBy('created_at').execute();
  await app.controls.credit({ accountId: account!.id, environment: 'live' }, 10_000_000);
  return { ...app, app, faults: () => app.faults };
});
const appOf = (): TestApp => shop.fixture.app;

async function visit() {
  const visitor = await shop.visit({}, '/console/payouts');
  // A browser reports each refusal, as that of who has not signed in yet.
  visitor.expectProblems(/status of 40[01]|status of 50\d|Failed to load/, /WebSocket connection to/);
  const { page } = visitor;
  await page.getByLabel('Chave de API').fill(LIVE_KEY);
  await page.getByRole('button', { name: 'Entrar' }).click();
  await page.getByRole('heading', { name: 'Pedir um saque' }).waitFor();
  return visitor;
}

async function giveKey(page: Page): Promise<void> {
  await page.getByLabel('Chave de API desta sessão').fill(LIVE_KEY);
  await page.getByRole('button', { name: 'Confirmar', exact: true }).click();
}

const payouts = () =>
  appOf()
    .database.sql.selectFrom('payout')
    .select(['amount_cents', 'external_id'])
    .orderBy('number')
    .execute();

describe('the payouts of the console', () => {
  it('A payout shows fee, net and kind of key; a lost answer and a reload pay it once', async () => {
    const { page } = await visit();
    const amount = page.getByLabel('Valor em reais');
    await amount.fill('0,50');
    await page.getByLabel('Chave PIX').fill('12345678909');
    await page.getByRole('button', { name: 'Ver tarifa e confirmar' }).click();
    await page.getByText('Tem de ser mais do que a tarifa, de R$').waitFor();
    await amount.fill('150,00');
    const ask = async () => {
      await page.getByRole('button', { name: 'Ver tarifa e confirmar' }).click();
      const dialog = page.getByRole('dialog', { name: 'Confirmar o saque' });
      await dialog.getByText('12345678909 (CPF)').waitFor();
      await dialog.getByText(/R\$\s149,00/).waitFor();
      await dialog.getByText('restam 10 de 10').or(dialog.getByText('restam 9 de 10')).waitFor();
      await giveKey(page);
    };
    // The payout is made, and its answer is lost.
    await page.route('**/console/payouts', async (route) => {
      await route.fetch();
      await route.abort();
    });
    await ask();
    await page.getByText('O pedido pode ter chegado').waitFor();
    expect(await payouts()).toEqual([{ amount_cents: 15_000, external_id: null }]);
    await page.unroute('**/console/payouts');
    await page.reload();
    await page.getByText('O último pedido ficou sem resposta').waitFor();
    expect(await page.getByLabel('Valor em reais').inputValue()).toBe('150,00');
    await ask();
    await page.getByText('O pedido anterior já tinha chegado').waitFor();
    expect(await payouts()).toHaveLength(1);
    // The tab keeps only whose requests it may keep.
    expect(await page.evaluate(() => Object.keys(sessionStorage))).toEqual(['psa-console-owner']);
  });

  it('A file is refused by its lines, then confirmed once, and its end is foretold', async () => {
    const before = (await payouts()).length;
    const { page, context } = await visit();
    await injectAxe(context);
    await page.reload();
    const choose = (lines: string[]) =>
      page.getByLabel('Arquivo CSV').setInputFiles({
        name: 'lote.csv',
        mimeType: 'text/csv',
        buffer: Buffer.from(`\uFEFF${['Valor;Destino;Referência', ...lines].join('\r\n')}`),
      });
    await choose(['10,00;ana@psa.example;A', 'x;ana;B', '10,00;=SOMA(A1);C', '0,10;ana;D']);
    await page.getByText('Há 5 erros no arquivo').waitFor();
    const cells = await page
      .getByRole('region', { name: 'Erros do arquivo' })
      .getByRole('row')
      .allInnerTexts();
    expect(cells.slice(1).map((row) => row.split('\t').slice(0, 2))).toEqual([
      ['3', 'Valor'],
      ['3', 'Destino'],
      ['4', 'Destino'],
      ['5', 'Destino'],
      ['5', 'Valor'],
    ]);
    expect(await findViolations(page)).toEqual([]);
    await choose(
      Array.from({ length: 12 }, (_, nth) => `1.0${10 + Math.min(nth, 10)},00;ana@psa.example;F-${nth}`),
    );
    await page.getByText('As linhas 12 e 13 têm a mesma forma').waitFor();
    await page.getByText(/R\$\s12\.185,00/).waitFor();
    await page.getByText('Destinos: 12 e-mail').click();
    await page.getByRole('region', { name: 'Destinos do lote' }).waitFor();
    await page.getByRole('button', { name: 'Confirmar 12 saques' }).click();
    await giveKey(page);
    await page.getByText(/de 12 saques pedidos/).waitFor();
    await expect.poll(async () => (await payouts()).length).toBe(10);
    await page.reload();
    await page.getByText(/Termina por volta das \d\d:\d\d/).waitFor();
    await page.getByText('O limite de saques por hora foi atingido').waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.setViewportSize({ width: 320, height: 640 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320);
    await page.getByRole('button', { name: 'Cancelar o resto' }).click();
    await page.getByText('Último lote: cancelado').waitFor();
    await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).toBe('H3');
    expect((await payouts()).slice(before).map((row) => row.external_id)).toEqual(
      Array.from({ length: 10 - before }, (_, nth) => `F-${nth}`),
    );

    // The file, corrected and chosen whole.
    const corrected = [
      '1.010,00;ana@psa.example;F-0',
      '1.011,00;ana@psa.example;F-1',
      '7,00;ana@psa.example;G',
    ];
    await choose(corrected);
    await page.getByText('2 linhas repetem saques dos últimos 7 dias').waitFor();
    expect(await page.getByRole('region', { name: 'Linhas já pagas' }).getByRole('link').count()).toBe(2);
    expect(await findViolations(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320);
    await page.getByRole('button', { name: 'Pagar também, de novo' }).click();
    await page.getByRole('button', { name: 'Confirmar 3 saques, 2 de novo' }).waitFor();
    await choose(corrected);
    await page.getByRole('button', { name: 'Deixar de fora as linhas já pagas' }).click();
    // The batch arrives, and its answer is lost.
    await page.route('**/console/payouts/batches', async (route) => {
      await route.fetch();
      await route.abort();
    });
    await page.getByRole('button', { name: 'Confirmar um saque' }).click();
    await giveKey(page);
    await page.getByText('Sem resposta. O lote pode ter chegado').waitFor();
    await page.unroute('**/console/payouts/batches');
    await page.reload();
    await page.getByText('O último lote ficou sem resposta').waitFor();
    await page.getByRole('button', { name: 'Confirmar um saque' }).waitFor();
    expect(await page.getByText('foi confirmado em').count()).toBe(0);
    await page.getByRole('button', { name: 'Confirmar um saque' }).click();
    await giveKey(page);
    await page.getByText('O último lote ficou sem resposta').waitFor({ state: 'hidden' });
    await page.getByText('0 de 1 saque pedido').waitFor();
    // Neither an old progress nor a failed reading is shown as if it were of now.
    await page.route('**/payouts/batches/newest', (route) => route.abort());
    await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
    await page.getByText('Não foi possível ler o andamento agora').waitFor();
  });
});
