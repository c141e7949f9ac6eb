import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import type { PsaCheckout } from '../../widget/src/psa-checkout.ts';
import { startServer } from '../support/app.ts';
import { findViolations, injectAxe } from '../support/axe.ts';
import { CARD, payOn } from '../support/browser.ts';
import { startDocumentUpstream } from '../support/document-upstream.ts';
import { runsAll } from '../support/scale.ts';
import { simulate, startFacadeFixture } from './fixture.ts';
import { checkoutOf, chooseMode, openPopup, openShop, productOf } from './shop.ts';

// npm test runs the wallet and one outage alone; the rest is tested without a facade, too.
describe('in front of the service', () => {
  const shop = openShop(() => startFacadeFixture({ families: 'refunds' }));

  describe('the console', () => {
    const newest = (page: Page) => page.locator('psa-payouts tbody tr').first();
    const says = (page: Page, text: string) => newest(page).getByText(text, { exact: true }).waitFor();
    const pull = (control: string, input: object) => simulate(shop.fixture.service.url, control, input);

    /** Requests a payout as the merchant's own server does, with the live key. */
    async function request(method: string, amountCents: number, destination: string): Promise<void> {
      const { requestPayout } = await shop.fixture.live.request(
        `mutation ($input: RequestPayoutInput!) {
        requestPayout(input: $input) {
          ... on RequestPayoutSuccess { payout { withdrawalId } }
          ... on UserError { message }
        }
      }`,
        { input: { method, amountCents, destination } },
      );
      expect(requestPayout.message).toBeUndefined();
    }

    beforeAll(() => pull('credit', { amountCents: 100_000 }));

    it('the console of a facade shows the wallet, and follows each payout', async () => {
      const { page } = await shop.visit({}, '/console/');
      const available = (amount: string) => page.locator('psa-wallet').getByText(amount).first().waitFor();
      await available('1.000,00');
      await page.getByRole('link', { name: 'Saques', exact: true }).click();
      await page.locator('psa-payouts [part=connection]').getByText('Ao vivo').waitFor();

      await request('PIX', 15_000, 'ana@psa.example');
      await says(page, 'Pendente');
      await shop.fixture.pass(3_000);
      await says(page, 'Concluído');
      await request('PIX', 12_345, 'nega@psa.example');
      await says(page, 'Pendente');
      await shop.fixture.pass(3_000);
      await says(page, 'Negado');
      if (runsAll()) {
        // No webhook reports it.
        await request('PIX_TURBO', 10_000, 'ana@psa.example');
        await says(page, 'Em processamento');
        await shop.fixture.pass(4_000);
        await says(page, 'Concluído');
      }
      await page.getByRole('link', { name: 'Início', exact: true }).click();
      await available(runsAll() ? '750,00' : '850,00');
    });

    it('the console of a facade follows a sale and the refund of its part', async () => {
      const { page } = await shop.visit({}, '/console/sales');
      const { live } = shop.fixture;
      const { createCardPayment } = await live.request(
        'mutation { createCardPayment(input: { valueCents: 5000, description: "Caneca" }) { ... on CreateCardPaymentSuccess { cardPayment { orderCode } } } }',
      );
      const { orderCode } = createCardPayment.cardPayment;
      const sale = page.locator('psa-sales tbody tr').first();
      await sale.getByText('Aguardando').waitFor();
      await shop.fixture.payElsewhere(orderCode);
      await sale.getByText('Paga', { exact: true }).waitFor();
      const { refundCardPayment } = await live.request(
        `mutation ($orderCode: String!) {
          refundCardPayment(input: { orderCode: $orderCode, amountCents: 2000, idempotencyKey: $orderCode }) { __typename }
        }`,
        { orderCode },
      );
      expect(refundCardPayment.__typename).toBe('RefundCardPaymentSuccess');
      await sale.click();
      await page
        .getByRole('dialog')
        .getByText(/R\$\s20,00/)
        .first()
        .waitFor();
    });

    if (runsAll())
      it('no page of the facade’s demo links to a page that it lacks, and axe finds nothing', async () => {
        const { page, context } = await shop.visit();
        await injectAxe(context);
        const seen = new Set<string>();
        for (const path of ['/demo/', '/demo/thank-you', '/demo/gallery']) {
          await page.goto(`${shop.fixture.url}${path}`);
          await page.getByRole('link', { name: 'Simulador' }).waitFor({ state: 'detached' });
          await page.getByRole('link', { name: 'Painel' }).waitFor();
          for (const link of await page.getByRole('link').all()) {
            const { href } = new URL((await link.getAttribute('href'))!, page.url());
            const address = href.split('#')[0]!;
            // The gallery shows what a shop has delivered, with a link to another site.
            if (seen.has(address) || !address.startsWith(shop.fixture.url)) continue;
            seen.add(address);
            expect([address, (await fetch(address)).status]).toEqual([address, 200]);
          }
          expect(await findViolations(page)).toEqual([]);
        }
        expect(seen.size).toBeGreaterThan(4);
        // Money is real: only an API key can request a payout.
        await page.goto(`${shop.fixture.url}/demo/dashboard`);
        await page.getByText('Carteira', { exact: true }).first().waitFor();
        expect(new URL(page.url()).pathname).toMatch(/^\/console/);
        await page.getByRole('link', { name: 'Saques', exact: true }).click();
        await page.locator('psa-payouts').waitFor();
        expect(await page.getByText('Pedir um saque').count()).toBe(0);
      });
  });

  describe('a shop', () => {
    it('the shop of a facade offers the card alone, though its page names PIX first', async () => {
      const visitor = await shop.visit();
      const product = productOf(visitor.page, 'caneca');
      // The server's answer removes PIX.
      await product.pixButton.waitFor({ state: 'detached' });
      expect(await product.element.getAttribute('methods')).toBe('pix card');
      expect(await product.payButton.count()).toBe(1);
    });

    if (runsAll())
      it('a shop learns of a payment that was made while its facade was down', async () => {
        const visitor = await shop.visit();
        visitor.expectProblems(/WebSocket connection to .* failed/, /ERR_CONNECTION_REFUSED/);
        const { page } = visitor;
        await chooseMode(page, 'Nesta página');
        await productOf(page, 'cafe').payButton.click();
        await page.waitForURL(/\/checkout\//);
        const hostedUrl = page.url();
        const orderCode = new URL(hostedUrl).pathname.split('/').at(-1)!;

        await shop.fixture.restart(() => shop.fixture.payElsewhere(orderCode));

        await page.goto(`${shop.fixture.url}/demo/thank-you?psa_order_code=${orderCode}`);
        await page.getByRole('heading', { name: 'Obrigado!' }).waitFor();
        await checkoutOf(page).says('Pagamento confirmado');
      });

    // The last test here, because the facade throttles its requests for a while after an outage.
    it('a payment survives an outage of the service and is paid after it', async () => {
      const visitor = await shop.visit();
      // The payer's page may ask the service while it is away.
      visitor.expectProblems(/ERR_CONNECTION_REFUSED/);
      const product = productOf(visitor.page, 'caneca');
      const popup = await openPopup(visitor, () => product.payButton.click());
      await product.says('Aguardando o pagamento');
      const orderCode = await product.orderCode();

      await shop.fixture.service.stop();
      // A reload during the outage shows the last known state.
      await visitor.page.reload();
      await product.says('Aguardando o pagamento');
      const connection = () => product.element.evaluate((element: PsaCheckout) => element.connection);
      await expect.poll(connection).toBe('live');
      expect(await product.orderCode()).toBe(orderCode);
      await shop.fixture.service.start();

      await popup.reload();
      await payOn(popup, CARD.approved);
      await product.says('Pagamento confirmado');
      const paid = await visitor.waitForEvent('psa-paid');
      expect(paid.detail.payment.orderCode).toBe(orderCode);
    });
  });
});

// The starts are tested without a browser, too.
if (runsAll())
  describe('a shop whose operator has named payments', () => {
    const shop = openShop(() => startFacadeFixture({ families: 'payments' }));

    it('a payer buys by PIX through the facade, and takes no card while the code is open', async () => {
      const visitor = await shop.visit();
      const product = productOf(visitor.page, 'rede');
      // This payer pays without help after three seconds.
      await product.element.evaluate((element: HTMLElement & { customer: object }) => {
        element.customer = { email: 'paga@psa.example' };
      });
      await product.pixButton.click();
      await product.code.waitFor();
      expect(await product.code.inputValue()).toContain('br.gov.bcb.pix');
      await product.payButton.click();
      await product.says('Pagamento confirmado');
      const paid = await visitor.waitForEvent('psa-paid');
      expect(paid.detail).toMatchObject({
        method: 'pix',
        payment: { __typename: 'Payment', status: 'PAID' },
      });
    });
  });

// Refused webhooks are tested without a browser, too.
if (runsAll())
  describe('a shop that refuses every webhook', () => {
    const shop = openShop(() => startFacadeFixture({ webhookSecret: 'whsec_bm90IHRoZSBzZXJ2aWNlJ3Mgb3du' }));

    it('a shop that refuses every webhook learns of its payment by polling', async () => {
      const visitor = await shop.visit();
      const product = productOf(visitor.page, 'rede');
      const popup = await openPopup(visitor, () => product.payButton.click());
      await product.says('Aguardando o pagamento');
      await payOn(popup, CARD.approved);

      await product.says('Pagamento confirmado');
      await visitor.waitForEvent('psa-paid');
      const delivery = async () => {
        const { webhookDeliveries } = await shop.fixture.service.live.request(
          '{ webhookDeliveries { nodes { event attempts { responseStatus } } } }',
        );
        return webhookDeliveries.nodes[0];
      };
      // The page may have asked before the service has recorded the refusal.
      await expect
        .poll(delivery, { timeout: 20_000 })
        .toMatchObject({ event: 'card_payment.paid', attempts: [{ responseStatus: 401 }] });
    });
  });

describe('in front of a service that has only the endpoints of the document', () => {
  async function start() {
    const service = await startDocumentUpstream();
    const app = await startServer({
      environment: {
        PSA_DEMO: 'on',
        PSA_BOOTSTRAP_LIVE_KEY: '',
        PSA_BOOTSTRAP_TEST_KEY: '',
        PSA_UPSTREAM_URL: service.url,
        PSA_UPSTREAM_LIVE_KEY: service.liveKey,
        PSA_UPSTREAM_WEBHOOK_SECRET: service.webhookSecret,
      },
    });
    return {
      url: app.url,
      faults: () => app.faults,
      async close() {
        await app.close();
        await service.close();
      },
    };
  }
  const shop = openShop(start);

  it('the console has no page of what the service does not offer, and says of nothing that it could not be read', async () => {
    const { page } = await shop.visit({}, '/console/');
    await page.getByText('Carteira', { exact: true }).first().waitFor();
    const links = page.getByRole('navigation', { name: 'Páginas' }).getByRole('link');
    // The page asks for what there is once it is open.
    await expect.poll(() => links.allInnerTexts()).not.toContain('Subcontas');
    const names = await links.allInnerTexts();
    expect(names).toEqual(expect.arrayContaining(['Início', 'Vendas', 'Extrato', 'Saques']));
    for (const name of names) {
      await page.getByRole('link', { name, exact: true }).click();
      await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
      await expect.poll(() => page.getByText(/^(Abrindo|Lendo)…$/).count()).toBe(0);
      expect([name, await page.getByText(/[Nn]ão foi possível ler/).count()]).toEqual([name, 0]);
    }
  });
});
