import { describe, expect, it } from 'vitest';
import type { StoredCardPayment } from '../../../server/src/money-in/card-payments/model.ts';
import { CommitOutcomeUnknown, NoConnection } from '../../../server/src/state/db/database.ts';
import { aPayment, decline, fail, GOOD_CARD, leaveOpen, NOW, PAGES, servePage } from './hosted-checkout.ts';

const REAL_CARD = '4539578763621486';

function post(url: string, fields: Record<string, string> = GOOD_CARD, headers: Record<string, string> = {}) {
  return fetch(url, { method: 'POST', body: new URLSearchParams(fields), redirect: 'manual', headers });
}

const get = (url: string) => fetch(url, { redirect: 'manual' });

/** The text of the page: without tags, and with each run of white space as one blank. */
async function textOf(response: Response): Promise<string> {
  const markup = (await response.text()).replace(/<title>.*?<\/title>/, '').replace(/<[^>]*>/g, ' ');
  return markup.replace(/[\s\u00a0]+/g, ' ');
}

describe('the page of each state', () => {
  const says: Record<string, string[]> = {
    form: [
      'Café do Largo',
      'R$ 49,90',
      'Assinatura mensal',
      'Expira em 29:41',
      'Número do cartão',
      'Cancelar e voltar',
      'Ambiente de teste',
      '4242 4242 4242 4242',
    ],
    processing: ['Confirmando o pagamento', 'não pague de novo'],
    paid: [
      'Pagamento aprovado',
      'R$ 49,90',
      '10/03/2026, 12:00 (Brasília)',
      'PSC-0123456789ABCDEFGHJKMNPQ',
      'Continuar para a loja',
    ],
    failed: ['Pagamento não concluído', 'O banco não autorizou o pagamento. Nada foi cobrado.'],
    expired: ['O tempo para pagar acabou', 'Nada foi cobrado.'],
    refunded: ['Pagamento estornado', '11/03/2026, 12:00 (Brasília)'],
    returned: ['Este pedido já está pago', 'Outro pagamento da mesma compra', 'O valor foi estornado'],
  };

  it.each(Object.entries(PAGES))('The page of the state %s has its texts', async (name, payment) => {
    await using served = await servePage({ payment });
    const response = await get(served.pageUrl);
    expect(response.status).toBe(200);
    const text = await textOf(response);
    for (const words of says[name]!) expect(text).toContain(words);
    if (name !== 'form') expect(text).not.toContain('Número do cartão');
  });

  it.each([
    ['of a paid order', 'paid', null, ['Este pedido já está pago', 'Outro pagamento da mesma compra']],
    ['of an order that was refunded since', 'refunded', null, ['O valor inteiro já foi estornado']],
    ['of a canceled payment', null, NOW, ['Pagamento cancelado']],
    ['of a canceled payment whose order is paid', 'paid', NOW, ['Este pedido já está pago']],
  ] as const)(
    'A charge %s that was given back is shown with the state of the order',
    async (_, orderStatus, canceledAt, says) => {
      const payment = { ...PAGES.returned!, canceledAt };
      await using served = await servePage({ payment, orderStatus });
      const text = await textOf(await get(served.pageUrl));
      for (const words of [...says, 'O valor foi estornado no cartão']) expect(text).toContain(words);
      expect(text).not.toContain('Nada foi cobrado');
      if (orderStatus === 'refunded') expect(text).not.toContain('já está pago');
    },
  );

  it('An unknown order code is answered with a page and status 404', async () => {
    await using served = await servePage();
    for (const code of [
      'PSC-NONE',
      'a%20b',
      '%00',
      '..%2f..',
      'x'.repeat(200),
      'assets',
      '%ff',
      '%E0%A4%A',
      '%',
    ]) {
      const response = await get(`${served.origin}/checkout/${code}`);
      expect(response.status).toBe(404);
      expect(await textOf(response)).toContain('Pagamento não encontrado');
    }
  });

  it('A payment past its expiry is shown as expired before a task has recorded it', async () => {
    await using served = await servePage({ payment: aPayment({ expiresAt: NOW }) });
    expect(await textOf(await get(served.pageUrl))).toContain('O tempo para pagar acabou');
  });

  it('An open charge is shown as being confirmed after the expiry too', async () => {
    await using served = await servePage({
      payment: aPayment({ status: 'expired', expiresAt: NOW, openChargeId: 'charge' }),
    });
    expect(await textOf(await get(served.pageUrl))).toContain('Confirmando o pagamento');
  });

  it('A page of a payment that is being confirmed reloads without a script', async () => {
    await using served = await servePage({ payment: PAGES.processing! });
    const path = new URL(served.pageUrl).pathname;
    expect(await (await get(served.pageUrl)).text()).toContain(
      `<noscript><meta http-equiv="refresh" content="4; url=${path}?seguir=1&amp;recusas=0"></noscript>`,
    );
  });

  it('The page does not mention tests where real cards are accepted', async () => {
    await using served = await servePage({ testCards: null });
    expect(await textOf(await get(served.pageUrl))).not.toMatch(/teste|4242/);
  });

  it('The cancel link leads to the shop with the order code and the cancellation', async () => {
    await using served = await servePage();
    expect(await (await get(served.pageUrl)).text()).toContain(
      'href="https://loja.example/carrinho?psa_order_code=PSC-0123456789ABCDEFGHJKMNPQ&amp;psa_cancelled=1"',
    );
  });

  it('The page has no cancel link where the shop gave no address', async () => {
    await using served = await servePage({ payment: aPayment({ cancelUrl: null }) });
    expect(await (await get(served.pageUrl)).text()).toMatch(
      /<button class="cancel" type="button" data-close hidden>/,
    );
  });
});

describe('paying', () => {
  it('A paid payment sends the payer to the shop with the order code', async () => {
    await using served = await servePage({
      payment: aPayment({ successUrl: 'https://loja.example/obrigado?pedido=7#topo' }),
    });
    const response = await post(served.pageUrl);
    expect(response.status).toBe(303);
    expect(response.headers.get('location')).toBe(
      'https://loja.example/obrigado?pedido=7&psa_order_code=PSC-0123456789ABCDEFGHJKMNPQ#topo',
    );
    expect(served.state.charged).toEqual([
      {
        number: '4242424242424242',
        holder: 'Maria da Silva',
        expiryMonth: 12,
        expiryYear: 2029,
        securityCode: '123',
      },
    ]);
  });

  it('A paid payment shows the receipt where the shop gave no address', async () => {
    await using served = await servePage();
    const response = await post(served.pageUrl);
    expect(response.status).toBe(303);
    expect(response.headers.get('location')).toBe(new URL(served.pageUrl).pathname);
    expect(await textOf(await get(served.pageUrl))).toContain('Pagamento aprovado');
  });

  it('The receipt shows the part that was refunded', async () => {
    const paid = (refundedCents: number) =>
      servePage({ payment: aPayment({ status: 'paid', paidAt: NOW, refundedCents }) });
    await using part = await paid(1_000);
    expect(await textOf(await get(part.pageUrl))).toContain('Estornado R$ 10,00');
    await using whole = await paid(0);
    expect(await textOf(await get(whole.pageUrl))).not.toContain('Estornado');
  });

  it('The page follows an undecided payment, and leads to the shop once it is paid', async () => {
    const successUrl = 'https://loja.example/obrigado';
    await using served = await servePage({ payment: aPayment({ successUrl }), answer: leaveOpen });
    const response = await post(served.pageUrl);
    expect(response.status).toBe(303);
    const following = new URL(response.headers.get('location')!, served.origin).href;
    expect(await textOf(await get(following))).toContain('Confirmando o pagamento');

    served.state.payment = { ...served.state.payment, status: 'paid', openChargeId: null, paidAt: NOW };
    const paid = await get(following);
    expect(paid.status).toBe(303);
    expect(paid.headers.get('location')).toBe(`${successUrl}?psa_order_code=PSC-0123456789ABCDEFGHJKMNPQ`);
    expect(await textOf(await get(served.pageUrl))).toContain('Pagamento aprovado');
  });

  it.each([
    ['declined', 1, 'O banco não autorizou o pagamento. Nada foi cobrado'],
    ['void', 0, 'A operadora do cartão não recebeu o pagamento. Nada foi cobrado'],
    ['declined after another card', 3, 'O banco não autorizou o pagamento. Nada foi cobrado', 2],
    ['void after declined cards', 2, 'A operadora do cartão não recebeu o pagamento. Nada foi cobrado', 2],
  ])('A payer who waited reads that the charge was %s', async (_name, declinedCharges, words, before = 0) => {
    await using served = await servePage({
      payment: aPayment({ declinedCharges: before }),
      answer: leaveOpen,
    });
    const response = await post(served.pageUrl);
    const following = new URL(response.headers.get('location')!, served.origin).href;
    const confirming = await (await get(following)).text();
    expect(confirming).toContain('Confirmando o pagamento');
    expect(confirming).toContain(
      `data-follow="${new URL(following).pathname}?seguir=1&amp;recusas=${before}"`,
    );

    served.state.payment = { ...served.state.payment, openChargeId: null, declinedCharges };
    const text = await textOf(await get(following));
    expect(text).toContain(words);
    expect(text).toContain('Número do cartão');
    expect(await textOf(await get(served.pageUrl))).not.toContain(words);
  });

  it('A decline shows the form again, without the reason, number and CVV', async () => {
    await using served = await servePage({ answer: decline });
    const response = await post(served.pageUrl);
    expect(response.status).toBe(422);
    const markup = await response.text();
    expect(markup).toContain('O banco não autorizou o pagamento. Nada foi cobrado');
    expect(markup).not.toContain('Saldo insuficiente');
    expect(markup).toMatch(/name="holder" type="text" value="Maria da Silva"/);
    expect(markup).toMatch(/name="expiry" type="text" value="12\/29"/);
    expect(markup).toMatch(/name="number" type="text" value=""/);
    expect(markup).toMatch(/name="cvv" type="text" value=""/);
    expect(markup).toMatch(/<div class="alert" role="alert" tabindex="-1" autofocus/);
  });

  it('A decline says when one more try is left', async () => {
    await using served = await servePage({ payment: aPayment({ declinedCharges: 3 }), answer: decline });
    expect(await textOf(await post(served.pageUrl))).toContain('Esta é a última tentativa.');
  });

  it.each([
    [2, ''],
    [3, 'Restam duas tentativas.'],
    [4, 'Esta é a última tentativa.'],
  ])(
    'After %i declines the form says the same after a reload and beside wrong fields',
    async (declinedCharges, warning) => {
      await using served = await servePage({ payment: aPayment({ declinedCharges }) });
      const wrong = { ...GOOD_CARD, cvv: '', attempt: String(declinedCharges) };
      for (const response of [await fetch(served.pageUrl), await post(served.pageUrl, wrong)]) {
        const [found = ''] = (await textOf(response)).match(/(?:Restam|Esta é a) \S+ \S+/) ?? [];
        expect(found).toBe(warning);
      }
      expect(served.state.charged).toEqual([]);
    },
  );

  it('The same form charges no second time', async () => {
    await using served = await servePage({ answer: decline });
    const form = { ...GOOD_CARD, attempt: '0' };
    expect((await post(served.pageUrl, form)).status).toBe(422);
    const again = await post(served.pageUrl, form);
    expect(again.status).toBe(409);
    // A second window may have sent another card: its payer reads that nothing was charged, and nothing about a bank.
    const text = await textOf(again);
    expect(text).toContain('Nada foi cobrado');
    expect(text).not.toMatch(/O banco|A operadora/);
    expect(served.state.charged).toHaveLength(1);
    expect((await post(served.pageUrl, { ...GOOD_CARD, attempt: '1' })).status).toBe(422);
    expect(served.state.charged).toHaveLength(2);
  });

  it('A form that is out of date says that the order is paid where another payment has paid it', async () => {
    await using served = await servePage({ payment: aPayment({ declinedCharges: 1 }), orderStatus: 'paid' });
    const response = await post(served.pageUrl, { ...GOOD_CARD, attempt: '0' });
    expect([response.status, await textOf(response)]).toEqual([
      409,
      expect.stringContaining('Este pedido já está pago'),
    ]);
    expect(served.state.charged).toEqual([]);
  });

  it('Wrong fields are answered at each field and in a summary, and nothing is charged', async () => {
    await using served = await servePage();
    const response = await post(served.pageUrl, { ...GOOD_CARD, number: '4242 4242 4242 4241', cvv: '' });
    expect(response.status).toBe(422);
    const markup = await response.text();
    expect(markup).toContain('Falta corrigir 2 campos');
    expect(markup).toContain('<a href="#number">Número do cartão</a>: Este número não existe.');
    expect(markup).toMatch(/id="number"[^>]*aria-describedby="number-error"[^>]*aria-invalid="true"/);
    expect(markup).toMatch(/<p class="error" id="cvv-error"\s*>Digite o código de segurança.<\/p>/);
    expect(served.state.charged).toEqual([]);
  });

  it('A real card is refused where only test cards are accepted, and repeated nowhere', async () => {
    await using served = await servePage();
    const response = await post(served.pageUrl, {
      ...GOOD_CARD,
      number: REAL_CARD,
      holder: REAL_CARD,
      expiry: REAL_CARD,
      cvv: REAL_CARD,
    });
    expect(response.status).toBe(422);
    const markup = await response.text();
    expect(markup).toContain('Este ambiente aceita apenas cartões de teste, como');
    expect(markup).not.toContain(REAL_CARD);
    expect(served.state.charged).toEqual([]);
  });

  it.each([
    ['declined', decline],
    ['failed', fail],
    ['processing', leaveOpen],
    ['paid', undefined],
  ])('No answer contains the card number: %s', async (_name, answer) => {
    await using served = await servePage({ testCards: null, ...(answer && { answer }) });
    const response = await post(served.pageUrl, { ...GOOD_CARD, number: REAL_CARD, cvv: '987' });
    const seen = [
      await response.text(),
      JSON.stringify([...response.headers]),
      await (await get(served.pageUrl)).text(),
    ].join();
    expect(served.state.charged[0]!.number).toBe(REAL_CARD);
    expect(seen.replace(/[ +]|%20/g, '')).not.toContain(REAL_CARD);
    expect(seen).not.toMatch(/value="987"/);
  });

  it('The page shows a payment that failed for good', async () => {
    await using served = await servePage({ answer: fail });
    const response = await post(served.pageUrl);
    expect(response.status).toBe(303);
    expect(await textOf(await get(new URL(response.headers.get('location')!, served.origin).href))).toContain(
      'Pagamento não concluído',
    );
  });

  it('The page says that the purchase was paid elsewhere', async () => {
    await using served = await servePage({
      answer: async (payment) => ({ kind: 'paid_elsewhere', payment }),
    });
    const response = await post(served.pageUrl);
    expect(response.status).toBe(409);
    expect(await textOf(response)).toContain('Este pedido já está pago');
  });

  it('The page of a payment whose order was paid elsewhere says so, and asks for no card', async () => {
    await using served = await servePage({ orderStatus: 'paid' });
    const response = await get(served.pageUrl);
    expect(response.status).toBe(200);
    const text = await textOf(response);
    expect(text).toContain('Este pedido já está pago');
    expect(text).toContain('Outro pagamento da mesma compra já foi aprovado');
    expect(text).not.toContain('Número do cartão');
    expect(served.state.charged).toEqual([]);
  });

  it('The status of a payment whose order was paid elsewhere says so, as its page does', async () => {
    await using served = await servePage({ orderStatus: 'paid' });
    const response = await get(`${served.pageUrl}/status`);
    expect(await response.json()).toMatchObject({ status: 'pending', state: 'paid_elsewhere' });
    served.state.payment = aPayment({ status: 'paid', paidAt: NOW });
    expect(await (await get(`${served.pageUrl}/status`)).json()).toMatchObject({ state: 'paid' });
  });

  it('The page of a payment that was paid itself is a receipt, whatever else was paid', async () => {
    const payment = aPayment({ status: 'paid', paidAt: NOW });
    await using served = await servePage({ payment, orderStatus: 'paid' });
    expect(await textOf(await get(served.pageUrl))).toContain('Pagamento aprovado');
  });

  it('The page shows a charge that is already under way', async () => {
    const other: StoredCardPayment = aPayment({ openChargeId: 'other' });
    await using served = await servePage({ answer: async () => ({ kind: 'in_progress', payment: other }) });
    const response = await post(served.pageUrl);
    expect(response.status).toBe(303);
    expect(await textOf(await get(new URL(response.headers.get('location')!, served.origin).href))).toContain(
      'Confirmando o pagamento',
    );
  });

  it.each(['paid', 'failed', 'expired', 'refunded', 'processing'])(
    'A form charges nothing when the payment is %s',
    async (name) => {
      await using served = await servePage({ payment: PAGES[name]! });
      expect((await post(served.pageUrl)).status).toBe(303);
      expect(served.state.charged).toEqual([]);
    },
  );

  it('A form for an unknown payment is answered with a page and status 404', async () => {
    await using served = await servePage();
    const response = await post(`${served.origin}/checkout/PSC-NONE`);
    expect(response.status).toBe(404);
    expect(await textOf(response)).toContain('Pagamento não encontrado');
  });

  it('A fault is answered with a page, and left to the server', async () => {
    const fault = new Error('the acquirer sent nonsense');
    await using served = await servePage({ answer: () => Promise.reject(fault) });
    const response = await post(served.pageUrl);
    expect(response.status).toBe(500);
    const text = await textOf(response);
    expect(text).toContain('Veja o status dele antes de tentar de novo');
    expect(text).not.toContain('nonsense');
    expect(served.state.faults).toEqual([fault]);
  });

  it.each([
    [503, '1', new NoConnection('no answer')],
    [504, null, new CommitOutcomeUnknown('no answer')],
  ])(
    'An outage is answered with a page and %i, and left to the server',
    async (status, retryAfter, outage) => {
      await using served = await servePage({ answer: () => Promise.reject(outage) });
      const response = await post(served.pageUrl);
      expect(response.status).toBe(status);
      expect(response.headers.get('retry-after')).toBe(retryAfter);
      expect(await textOf(response)).toContain('Veja o status dele antes de tentar de novo');
      expect(served.state.faults).toEqual([outage]);
    },
  );

  it('An outage after a charge is answered with 504, and never as one before it', async () => {
    await using served = await servePage({ payment: { ...aPayment(), productId: 'prod_1' } });
    const { answer } = served.state;
    served.state.answer = async (...asked) => {
      const result = await answer(...asked);
      served.state.outage = new NoConnection('no answer');
      return result;
    };
    const response = await post(served.pageUrl);
    expect(served.state.charged).toHaveLength(1);
    expect(response.status).toBe(504);
    expect(response.headers.get('retry-after')).toBeNull();
  });
});

describe('whose form it is', () => {
  it.each([
    [{ origin: 'https://evil.example' }],
    [{ origin: 'null' }],
    [{ origin: 'https://pay.example.evil.example' }],
    [{ 'sec-fetch-site': 'cross-site' }],
    [{ origin: 'https://pay.example', 'sec-fetch-site': 'cross-site' }],
  ])('A form with the headers %o is refused', async (headers) => {
    await using served = await servePage();
    const response = await post(served.pageUrl, GOOD_CARD, headers as Record<string, string>);
    expect(response.status).toBe(403);
    expect(await textOf(response)).toContain('Formulário recusado');
    expect(served.state.charged).toEqual([]);
  });

  it('A form of the page’s own origin is accepted, by its public name and by the requested host', async () => {
    await using served = await servePage({ answer: decline });
    for (const origin of ['https://pay.example', served.origin])
      expect(
        (await post(served.pageUrl, GOOD_CARD, { origin, 'sec-fetch-site': 'same-origin' })).status,
      ).toBe(422);
    expect(served.state.charged).toHaveLength(2);
  });

  it('A body that is no form is refused', async () => {
    await using served = await servePage();
    for (const type of ['application/json', 'text/plain', 'multipart/form-data; boundary=x'])
      expect((await post(served.pageUrl, GOOD_CARD, { 'content-type': type })).status).toBe(415);
    expect(
      (await post(served.pageUrl, GOOD_CARD, { 'content-type': 'Application/X-WWW-Form-Urlencoded' })).status,
    ).toBe(303);
  });

  it('A form of more than 8 kB is refused', async () => {
    await using served = await servePage();
    const response = await post(served.pageUrl, { ...GOOD_CARD, holder: 'x'.repeat(8_200) });
    expect(response.status).toBe(413);
    expect(served.state.charged).toEqual([]);
  });

  it.each(['PUT', 'DELETE', 'PATCH'])('The method %s is refused', async (method) => {
    await using served = await servePage();
    const response = await fetch(served.pageUrl, { method });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('GET, HEAD, POST');
  });
});

describe('what outsiders wrote', () => {
  const hostile = `"><img src=x onerror=alert(1)>'</script><script>alert(1)</script>&lt;`;

  it('Text from outside is text on every page, never markup', async () => {
    for (const [name, payment] of Object.entries(PAGES)) {
      await using served = await servePage({
        merchantName: hostile,
        payment: { ...payment, description: hostile, failureReason: payment.failureReason && hostile },
        answer: async (same) => ({ kind: 'declined', reason: hostile, payment: same }),
      });
      const answers = [await get(served.pageUrl)];
      if (name === 'form')
        answers.push(
          await post(served.pageUrl),
          await post(served.pageUrl, { ...GOOD_CARD, holder: hostile, expiry: hostile }),
        );
      for (const response of answers) {
        const markup = await response.text();
        expect(markup).not.toMatch(/<img|<script>/);
        expect(markup).toContain('&quot;&gt;&lt;img src=x onerror=alert(1)&gt;&#39;&lt;/script&gt;');
        expect(markup).toContain('&amp;lt;');
      }
    }
  });

  it('Text from outside cannot make a link run a script or leave its attribute', async () => {
    const cancelUrl = `https://loja.example/?q="><script>alert(1)</script>`;
    await using served = await servePage({ payment: aPayment({ cancelUrl }) });
    expect(await (await get(served.pageUrl)).text()).not.toMatch(/<script>/);
    for (const url of ['javascript:alert(1)', 'data:text/html,<script>alert(1)</script>', 'nonsense']) {
      for (const payment of [
        aPayment({ cancelUrl: url }),
        aPayment({ status: 'paid', paidAt: NOW, successUrl: url }),
      ]) {
        served.state.payment = payment;
        expect(await (await get(served.pageUrl)).text()).not.toMatch(/href="(javascript|data:text|nonsense)/);
      }
    }
  });

  it('Text from outside cannot add a header or a directive', async () => {
    await using served = await servePage({ payment: aPayment({ successUrl: 'https://a;sandbox/' }) });
    expect((await get(served.pageUrl)).headers.get('content-security-policy')).toMatch(
      /form-action 'self'; base-uri/,
    );
    served.state.payment = aPayment({ successUrl: 'https://loja.example/\r\nset-cookie: a=b' });
    const location = (await post(served.pageUrl)).headers.get('location');
    expect(location).toMatch(/^https:\/\/loja\.example\/set-cookie:%20a=b\?psa_order_code=/);
  });
});

describe('headers', () => {
  it('The headers load nothing from elsewhere, and forbid caches and referrers', async () => {
    const successUrl = 'https://loja.example:8443/obrigado';
    await using served = await servePage({ payment: aPayment({ successUrl }), answer: decline });
    for (const response of [
      await get(served.pageUrl),
      await post(served.pageUrl),
      await get(`${served.origin}/checkout/none`),
    ]) {
      const { headers } = response;
      const policy = headers.get('content-security-policy')!.split('; ');
      expect(policy).toEqual([
        "default-src 'none'",
        "style-src 'self'",
        "script-src 'self'",
        "connect-src 'self'",
        "img-src 'self' data:",
        response.status === 404 ? "form-action 'self'" : "form-action 'self' https://loja.example:8443",
        "base-uri 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
      ]);
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('referrer-policy')).toBe('same-origin');
      expect(headers.get('x-frame-options')).toBe('DENY');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('cross-origin-opener-policy')).toBe('unsafe-none');
      expect(headers.get('permissions-policy')).toContain('camera=()');
      expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(headers.has('set-cookie')).toBe(false);
    }
  });

  it('No page needs an inline style or script', async () => {
    for (const payment of Object.values(PAGES)) {
      await using served = await servePage({ payment });
      const markup = await (await get(served.pageUrl)).text();
      expect(markup).not.toMatch(/\sstyle=|<style|\son[a-z]+=/);
      expect(markup.match(/<script[^>]*>/g)).toEqual([
        expect.stringContaining('src="/checkout/assets/page.js?v='),
      ]);
    }
  });
});

describe('the other addresses', () => {
  it('The status address shows the status of the payment', async () => {
    await using served = await servePage({ payment: PAGES.processing! });
    const response = await get(`${served.pageUrl}/status`);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(await response.json()).toEqual({ status: 'pending', state: 'processing', secondsLeft: 1781 });
    served.state.payment = PAGES.expired!;
    expect(await (await get(`${served.pageUrl}/status`)).json()).toEqual({
      status: 'expired',
      state: 'expired',
      secondsLeft: 0,
    });
    expect((await get(`${served.origin}/checkout/PSC-NONE/status`)).status).toBe(404);
  });

  it('Style and script are cached for ever under the addresses in the page', async () => {
    await using served = await servePage();
    const markup = await (await get(served.pageUrl)).text();
    const assets = `${served.origin}/checkout/assets`;
    for (const [file, type] of [
      ['page.css', 'text/css; charset=utf-8'],
      ['page.js', 'text/javascript; charset=utf-8'],
    ] as const) {
      const [path] = new RegExp(`${file}\\?v=[\\w-]{12}`).exec(markup)!;
      const named = await get(`${assets}/${path}`);
      expect(named.headers.get('content-type')).toBe(type);
      expect(named.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      const old = await get(`${assets}/${file}?v=old`);
      expect(old.headers.get('cache-control')).toBe('no-cache');
      const text = await named.text();
      expect(await old.text()).toBe(text);
      // An instance of another version may get a request for a second file.
      expect(text).not.toMatch(/^(?:import|export) /m);
    }
    expect((await get(`${assets}/routes.ts`)).status).toBe(404);
  });

  it('Every address is below the path of the public address', async () => {
    await using served = await servePage({ publicUrl: 'https://example.com/pay/' });
    const markup = await (await get(served.pageUrl)).text();
    expect(markup).toContain('action="/pay/checkout/PSC-0123456789ABCDEFGHJKMNPQ"');
    expect(markup).toContain('href="/pay/checkout/assets/page.css?v=');
    expect((await post(served.pageUrl)).headers.get('location')).toBe(
      '/pay/checkout/PSC-0123456789ABCDEFGHJKMNPQ',
    );
  });

  it('The page answers HEAD', async () => {
    await using served = await servePage();
    const response = await fetch(served.pageUrl, { method: 'HEAD' });
    expect(response.status).toBe(200);
    expect(await response.text()).toBe('');
  });
});
