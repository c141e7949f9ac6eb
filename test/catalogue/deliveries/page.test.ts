import { describe, expect, onTestFinished, test } from 'vitest';
import type { DeliveredContent } from '../../../server/src/money-in/receiving/model.ts';
import { aPayment, NOW, servePage } from '../../money-in/card-payments/hosted-checkout.ts';
import { aPixPayment, servePixPage } from '../../money-in/payments/hosted-page.ts';

const SHOP = 'https://loja.example/obrigada';
const delivered = (kind: DeliveredContent['kind'], content: string | null): DeliveredContent => ({
  kind,
  content,
  status: content === null ? 'pending' : 'delivered',
  deliveredAt: content === null ? null : NOW,
});
const ALL = [
  delivered('text', 'Obrigada <script>!'),
  delivered('link', 'https://loja.example/curso?a=1&b=2'),
  delivered('codes', 'AAAA-1111'),
  delivered('codes', null),
];

/** The page of a paid payment, by each method, with what it was given. */
const METHODS = {
  async card(given: readonly DeliveredContent[]) {
    const payment = aPayment({ status: 'paid', paidAt: NOW, successUrl: SHOP });
    const page = await servePage({ payment, delivered: given });
    onTestFinished(() => page[Symbol.asyncDispose]());
    return `${page.origin}/checkout/${payment.orderCode}`;
  },
  async pix(given: readonly DeliveredContent[]) {
    const payment = aPixPayment({ status: 'paid', paidAt: NOW, successUrl: SHOP });
    const page = await servePixPage({ payment, delivered: given });
    onTestFinished(() => page[Symbol.asyncDispose]());
    return `${page.origin}/checkout/${payment.paymentId}`;
  },
};

describe.each(Object.entries(METHODS))('the page of a payment by %s', (_, serve) => {
  const get = (url: string) => fetch(url, { redirect: 'manual' });

  test('The page has each content as text, with a button that copies it, and says what is still to come', async () => {
    const markup = await (await get(await serve(ALL))).text();
    expect(markup).toContain('Obrigada &lt;script&gt;!</textarea>');
    expect(markup).toContain('href="https://loja.example/curso?a=1&amp;b=2"');
    expect(markup).toContain('AAAA-1111</textarea>');
    expect(markup).toContain('O seu código ainda não está disponível');
    // A button that needs the script is hidden without it.
    expect(markup.match(/<button[^>]* data-copy="delivered-\d" [^>]*hidden>/g)).toHaveLength(2);
    expect(markup).toContain('data-closable="no"');
  });

  test('A payer who has bought content reads it before the page leads on to the shop', async () => {
    expect((await get(`${await serve(ALL)}?seguir=1`)).status).toBe(200);
    const without = await get(`${await serve([])}?seguir=1`);
    expect(without.headers.get('location')).toContain(SHOP);
  });

  test('Revoked content is not on the page', async () => {
    const revoked = { ...delivered('codes', null), status: 'revoked' } as const;
    const markup = await (await get(await serve([revoked]))).text();
    expect(markup).not.toContain('O que você comprou');
  });
});
