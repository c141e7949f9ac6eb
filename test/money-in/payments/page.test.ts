import { beforeAll, describe, expect, test } from 'vitest';
import { RateLimitError } from '../../../server/src/kernel/errors.ts';
import { qrCode } from '../../../server/src/kernel/qr-code.ts';
import { txidOf } from '../../../server/src/money-in/pix/model.ts';
import { pageState } from '../../../server/src/money-in/pix/page/state.ts';
import type { Database } from '../../../server/src/state/db/database.ts';
import { startCore } from '../../support/core.ts';
import { describeOnDatabase } from '../../support/database.ts';
import {
  aPixPayment,
  BR_CODE,
  LTC_ADDRESS,
  NOW,
  PAGES,
  PAYABLE,
  PAYMENT_ID,
  SUBSCRIPTION_ID,
  servePixPage,
} from './hosted-page.ts';

const get = (url: string) => fetch(url, { redirect: 'manual' });

/** The text of the page: without tags, and with each run of white space as one blank. */
async function textOf(response: Response): Promise<string> {
  const markup = (await response.text()).replace(/<title>.*?<\/title>/, '').replace(/<[^>]*>/g, ' ');
  return markup.replace(/[\s\u00a0]+/g, ' ');
}

describe('the page of each state', () => {
  const says: Record<string, string[]> = {
    waiting: ['Gerando o código PIX', 'Atualizar agora'],
    pending: [
      ...['Café do Largo', 'R$ 49,90', 'Assinatura mensal', 'Expira em 29:41', ', às 12:29 (Brasília)'],
      ...[BR_CODE, 'Copiar código', 'Já paguei', 'Voltar para a loja', 'Ambiente de teste'],
    ],
    'another-amount': [
      'Recebemos R$ 49,91 e estamos devolvendo: o valor é diferente do solicitado.',
      BR_CODE,
    ],
    expired: ['O tempo para pagar acabou', '11:59', 'Acabou de pagar? O pagamento ainda é reconhecido'],
    paid: [
      'Pagamento confirmado',
      'Tudo certo!',
      '10/03/2026, 12:00 (Brasília)',
      PAYMENT_ID,
      'Continuar para a loja',
    ],
    'paid-delivered': ['O que você comprou', 'TECE-7Q2M-91XK', 'ainda não está disponível'],
    'paid-late': ['Pagamento confirmado', 'depois do prazo', 'Você já pode fechar esta janela'],
    'paid-twice': [
      'Recebemos R$ 49,95 e devolvemos: o pagamento já tinha sido feito.',
      ...['Outras 2 devoluções', 'Estornado R$ 9,90'],
    ],
    refunded: ['Pagamento estornado', '11/03/2026, 12:00 (Brasília)'],
    failed: ['Pagamento não concluído', 'Nada foi cobrado.'],
    'paid-elsewhere': ['Este pedido já está pago', 'Recebemos R$ 49,90 e devolvemos', 'Não pague de novo'],
    'order-refunded': ['Este pedido foi pago e estornado', 'volte à loja'],
    'ltc-waiting': ['Gerando o endereço', 'se atualiza sozinha'],
    'ltc-pending': [
      ...['Pague com Litecoin', 'R$ 49,90', 'Expira em 29:41', 'Envie 0,08149068 LTC', LTC_ADDRESS],
      ...['Copiar endereço', 'Já enviei', 'Voltar para a loja', 'rede de testes'],
    ],
    'ltc-part': ['Recebemos 0,08000000 LTC', 'Envie 0,00149068 LTC', LTC_ADDRESS],
    'ltc-confirming': ['Aguardando confirmações', '1 de 2'],
    'ltc-expired': ['O tempo para pagar acabou', 'Não envie mais nada', 'Acabou de enviar?'],
    'ltc-paid': ['Pagamento confirmado', 'Recebido 0,08149068 LTC', PAYMENT_ID, 'Continuar para a loja'],
    'ltc-paid-late': ['Pagamento confirmado', 'depois do prazo', 'Você já pode fechar esta janela'],
    'ltc-paid-delivered': ['O que você comprou', 'TECE-7Q2M-91XK'],
    'ltc-failed': ['Pagamento não concluído', 'Nada foi recebido.'],
    'ltc-failed-part': ['Recebemos 0,08000000 LTC', 'Fale com Café do Largo', PAYMENT_ID],
    'ltc-paid-elsewhere': ['Este pedido já está pago', 'Não envie LTC'],
    'recurrence-waiting': ['Gerando o código PIX'],
    'recurrence-pending': [
      ...[
        'Autorize no app do seu banco',
        'Cobrança mensal de R$ 49,90',
        'por 12 vezes, esta incluída',
        'Clube do café',
      ],
      ...['Expira em 24:00:00', BR_CODE, 'Copiar código', 'PIX Automático'],
    ],
    'recurrence-another-amount': ['Recebemos R$ 49,91 e estamos devolvendo', BR_CODE],
    'recurrence-expired': ['O tempo para autorizar acabou', 'Recebemos R$ 49,90 e devolvemos'],
    'recurrence-refused-expired': [
      ...['Pagamento não concluído', 'O banco não gerou o código PIX. Nada foi cobrado.'],
    ],
    'recurrence-authorised': [
      ...['Assinatura autorizada', 'Próxima cobrança 10/04/2026', SUBSCRIPTION_ID, 'Continuar para a loja'],
    ],
    'recurrence-over': ['Assinatura encerrada', 'Nenhuma outra parcela será cobrada.'],
    'recurrence-canceled': ['Assinatura cancelada', 'Nada foi cobrado.'],
  };

  test.each(Object.entries(PAGES))('The page of a payment says how it stands: %s', async (name, page) => {
    await using served = await servePixPage(page);
    const response = await get(served.pageUrl);
    expect(response.status).toBe(200);
    const text = await textOf(response);
    for (const words of says[name]!) expect(text).toContain(words);
    const copied = ['PIX Copia e Cola', 'Endereço LTC'].filter((label) => text.includes(label));
    expect(copied).toEqual(PAYABLE[name] ? [PAYABLE[name]] : []);
    if (name === 'recurrence-refused-expired') expect(text).not.toContain('expirou');
    if (!PAYABLE[name]) for (const code of [BR_CODE, LTC_ADDRESS]) expect(text).not.toContain(code);
  });

  test('The page has the code as text and drawn in two places; the style shows one of them', async () => {
    await using served = await servePixPage();
    const markup = await (await get(served.pageUrl)).text();
    const { path, size } = qrCode(BR_CODE)!;
    expect(markup.split(`<path fill="#000" d="${path}"/>`)).toHaveLength(3);
    expect(markup).toContain(`viewBox="-4 -4 ${size + 8} ${size + 8}"`);
    const named = 'role="img" aria-label="QR code do PIX de R$\u00a049,90 para Café do Largo"';
    expect(markup.split(named)).toHaveLength(3);
    expect(markup).toMatch(/<textarea id="pix-code"[^>]* readonly[^>]*>000201/);
    // A button that needs the script is hidden without it.
    expect(markup).toMatch(/<button[^>]* data-copy="pix-code" [^>]*hidden>/);
  });

  test.each([
    ['pt-BR', 'Expira em 29 d 23:59:59 , em 09/04/2026, 11:59 (Brasília)'],
    ['en', 'Time left 29 d 23:59:59 , until Apr 9, 2026, 11:59 AM (Brasília)'],
    ['es', 'Tiempo restante 29 d 23:59:59 , hasta el 9 abr 2026, 11:59 (Brasilia)'],
  ])('A payment that expires after days says the day without a script: %s', async (language, says) => {
    const expiresAt = new Date(NOW.getTime() + 30 * 86_400_000 - 1_000);
    await using served = await servePixPage({ payment: aPixPayment({ expiresAt }) });
    expect(await textOf(await get(`${served.pageUrl}?lang=${language}`))).toContain(says);
  });

  test('A code that is too long to draw is shown as text alone', async () => {
    await using served = await servePixPage({ payment: aPixPayment({ brCode: '0'.repeat(1_100) }) });
    const markup = await (await get(served.pageUrl)).text();
    expect(markup).toContain('0'.repeat(1_100));
    expect(markup).not.toMatch(/class="qr|<details/);
  });

  test('The page says nothing of tests where codes are real', async () => {
    await using served = await servePixPage({ isTest: false });
    expect(await textOf(await get(served.pageUrl))).not.toContain('teste');
  });

  test('Only a page with nothing to copy reloads by itself without a script', async () => {
    for (const [name, page] of Object.entries(PAGES)) {
      await using served = await servePixPage(page);
      const markup = await (await get(served.pageUrl)).text();
      const reloads = /waiting|confirming/.test(name);
      expect(markup.includes('http-equiv="refresh"'), name).toBe(reloads);
      expect(markup.includes('data-follow='), name).toBe(
        reloads || name.endsWith('expired') || PAYABLE[name] !== undefined,
      );
    }
  });

  test.each([
    ['before its end', { status: 'pending' }, false, 'pending'],
    ['at its end', { status: 'pending', expiresAt: NOW }, false, 'expired'],
    ['without a code, at its end', { status: 'pending', brCode: null, expiresAt: NOW }, false, 'expired'],
    ['whose order is paid, after its end', { status: 'expired', expiresAt: NOW }, true, 'paid_elsewhere'],
    ['that is paid itself', { status: 'paid' }, true, 'paid'],
    ['that is returned', { status: 'failed', returned: true }, true, 'paid_elsewhere'],
    [
      'that is returned after it was canceled',
      { status: 'failed', returned: true, canceledAt: NOW },
      false,
      'expired',
    ],
  ] as const)('The state of a payment %s is derived', (_, changes, paidElsewhere, state) => {
    expect(pageState(aPixPayment(changes), paidElsewhere ? 'paid' : null, NOW)).toBe(state);
  });
});

test.each<[string, Parameters<typeof aPixPayment>[0], boolean]>([
  ['and nothing has come', { status: 'expired' }, false],
  [
    'and a PIX has come after it',
    {
      ...{ status: 'failed', failureReason: 'canceled', returned: true },
      returnedCredits: [
        { endToEndId: 'E1', amountCents: 4990, cause: 'canceled', receivedAt: NOW, returnedAt: NOW },
      ],
    },
    true,
  ],
])('A payer is shown that the shop has canceled the payment %s', async (_, changes, isReturned) => {
  await using served = await servePixPage({ payment: aPixPayment({ ...changes, canceledAt: NOW }) });
  const text = await textOf(await get(served.pageUrl));
  expect(text).toContain('Pagamento cancelado');
  expect(text).toMatch(/cancelou este pagamento em .*Um PIX que chegar depois é devolvido/);
  expect(text.split('é devolvido')[1]!.includes('49,90')).toBe(isReturned);
});

describe('the addresses', () => {
  test('An identifier of no payment is answered with a page and status 404', async () => {
    await using served = await servePixPage();
    const unknown = [`psa_${'0'.repeat(32)}`, PAYMENT_ID.toUpperCase().replace('PSA', 'psa')];
    for (const id of [...unknown, 'psa_', 'psa_%00', `${PAYMENT_ID}0`, 'psa_..%2f']) {
      const response = await get(`${served.origin}/checkout/${id}`);
      expect(response.status, id).toBe(404);
      expect(await textOf(response)).toContain('Pagamento não encontrado');
      expect((await get(`${served.origin}/checkout/${id}/status`)).status).toBe(404);
    }
    expect((await fetch(served.pageUrl, { method: 'POST' })).status).toBe(405);
  });

  test('Requests for payments that are none count against their network, and those for others do not', async () => {
    let left = 2;
    const limits = {
      take() {
        left -= 1;
        if (left < 0) throw new RateLimitError('2 requests a minute', 30);
      },
      putBack() {
        left += 1;
      },
      takeForm: () => undefined,
    };
    await using served = await servePixPage({ limits });
    for (let each = 0; each < 4; each += 1) expect((await get(served.pageUrl)).status).toBe(200);
    const stranger = `${served.origin}/checkout/psa_${'0'.repeat(32)}`;
    for (const status of [404, 404, 429]) expect((await get(stranger)).status).toBe(status);
    const refused = await get(`${served.pageUrl}/status`);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '30']);
  });

  test('The status shows the state and the version, and asks the bank where the payer has come back', async () => {
    await using served = await servePixPage();
    const status = async (query = '') => (await get(`${served.pageUrl}/status${query}`)).json();
    expect(await status()).toEqual({ status: 'pending', version: 2, state: 'pending', secondsLeft: 1781 });
    expect(served.state.asksOfBank).toBe(0);
    await status('?voltou=1');
    await get(served.pageUrl);
    expect(served.state.asksOfBank).toBe(2);
    served.state.now = new Date(NOW.getTime() + 1_781_000);
    expect(await status()).toMatchObject({ status: 'pending', state: 'expired', secondsLeft: 0 });
  });

  test('A payer who has followed the payment is led to the shop, with its identifier', async () => {
    await using served = await servePixPage({ payment: PAGES.paid!.payment });
    const followed = await get(`${served.pageUrl}?seguir=1`);
    expect(followed.status).toBe(303);
    expect(followed.headers.get('location')).toBe(
      `https://loja.example/obrigado?pedido=7&psa_payment_id=${PAYMENT_ID}#topo`,
    );
    served.state.payment = aPixPayment();
    expect((await get(`${served.pageUrl}?seguir=1`)).status).toBe(200);
    expect(await (await get(served.pageUrl)).text()).toContain(
      `href="https://loja.example/carrinho?psa_payment_id=${PAYMENT_ID}"`,
    );
  });

  test('Every address is below the path of the public address', async () => {
    await using served = await servePixPage({ publicUrl: 'https://example.com/pay/' });
    const markup = await (await get(served.pageUrl)).text();
    for (const address of ['assets/page.js?v=', `${PAYMENT_ID}/status"`, `${PAYMENT_ID}?seguir=1"`])
      expect(markup).toContain(`"/pay/checkout/${address}`);
    expect((await get(`${served.origin}/checkout/assets/page.css`)).status).toBe(200);
  });
});

describe('what outsiders wrote, and what is not theirs', () => {
  const hostile = `"><img src=x onerror=alert(1)>'</script></textarea><script>alert(1)</script>&lt;`;

  test('Text from outside is text on every page, and nothing is inline', async () => {
    for (const { payment, ...page } of Object.values(PAGES)) {
      await using served = await servePixPage({
        ...page,
        merchantName: hostile,
        payment: {
          ...payment,
          description: hostile,
          brCode: payment.brCode && hostile,
          cancelUrl: 'javascript:alert(1)',
          successUrl: 'data:text/html,x',
        },
      });
      const response = await get(served.pageUrl);
      const markup = await response.text();
      expect(markup).not.toMatch(/<img|<script>|href="(javascript|data:text)/);
      expect(markup).not.toMatch(/\sstyle=|<style|\son[a-z]+=["']/);
      expect(markup).toContain('&quot;&gt;&lt;img src=x onerror=alert(1)&gt;&#39;&lt;/script&gt;');
      expect(response.headers.get('content-security-policy')).toMatch(
        /^default-src 'none'; style-src 'self'; script-src 'self'; .* form-action 'self'; base-uri 'none'/,
      );
      expect(response.headers.get('cache-control')).toBe('no-store');
    }
  });

  test('No page shows what is between the merchant and the service, or the payer’s bank', async () => {
    for (const { payment, ...page } of Object.values(PAGES)) {
      await using served = await servePixPage({ ...page, payment });
      const status = await (await get(`${served.pageUrl}/status`)).text();
      const shown = (await (await get(served.pageUrl)).text()) + status;
      expect(shown).not.toMatch(/interno|interna|maria|Maria|52998224725|E0000|1,20|feeCents/);
    }
  });
});

describeOnDatabase('the opening of the page of a PIX payment', (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
  });

  test('The page records what the bank holds, and shows what is recorded where the bank does not answer', async () => {
    let isDown = true;
    const core = await startCore({
      database,
      pix: (bank) => ({
        ...bank,
        creditsOf: (txid) => (isDown ? Promise.reject(new Error('no answer')) : bank.creditsOf(txid)),
      }),
    });
    const order = { valueCents: 4990, externalId: '1042' };
    const [{ payment }, { payment: other }] = [
      await core.payments.create(core.tenant, order),
      await core.payments.create(core.tenant, order),
    ];
    await core.pix.pay({ txid: txidOf(payment.paymentId) });
    const read = async (paymentId: string, asksBank: boolean) => {
      const { payment: found, ...rest } = (await core.payments.open(paymentId, { asksBank }))!;
      return { status: found.status, ...rest };
    };
    const pending = {
      status: 'pending',
      accountId: core.tenant.accountId,
      delivered: [],
      merchantName: 'Padaria da Ana',
      orderStatus: null,
    };
    expect(await read(payment.paymentId, true)).toEqual(pending);
    expect(core.faults.splice(0)).toEqual([new Error('no answer')]);
    isDown = false;
    expect(await read(payment.paymentId, false)).toEqual(pending);
    const opened = await Promise.all([1, 2, 3].map(() => read(payment.paymentId, true)));
    expect(opened).toEqual([1, 2, 3].map(() => ({ ...pending, status: 'paid' })));
    expect(await read(other.paymentId, true)).toEqual({ ...pending, orderStatus: 'paid' });
    // Money for the other payment is returned, and its page goes on to show the order.
    await core.pix.pay({ txid: txidOf(other.paymentId) });
    expect(await read(other.paymentId, true)).toEqual({ ...pending, status: 'failed', orderStatus: 'paid' });
    expect(await core.payments.open(`psa_${'0'.repeat(32)}`, { asksBank: true })).toBeNull();
  });
});
