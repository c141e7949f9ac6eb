import { describe, expect, it } from 'vitest';
import { namedLanguage, preferredLanguage, TEXTS } from '../../../server/src/api/checkout-page/language.ts';
import { LANGUAGES, type Language } from '../../../server/src/kernel/language.ts';
import * as pix from '../payments/hosted-page.ts';
import { aPayment, decline, GOOD_CARD, leaveOpen, PAGES, servePage } from './hosted-checkout.ts';

/** Every text of a table, by its path; functions are left out. */
function leaves(table: object, path = ''): [path: string, text: string][] {
  return Object.entries(table).flatMap(([name, value]): [string, string][] => {
    if (typeof value === 'string') return [[`${path}.${name}`, value]];
    return typeof value === 'object' ? leaves(value as object, `${path}.${name}`) : [];
  });
}

/** Portuguese texts that this language must not contain. */
function foreignTo(language: Language): string[] {
  const own = leaves(TEXTS[language]).map(([, text]) => text);
  return leaves(TEXTS['pt-BR'])
    .map(([, text]) => text)
    .filter((text) => text.length > 10 && !own.some((each) => each.includes(text)));
}

describe('the language of a request', () => {
  it.each<[accepted: string | undefined, Language]>([
    [undefined, 'pt-BR'],
    ['', 'pt-BR'],
    ['*', 'pt-BR'],
    ['fr-FR,fr;q=0.9', 'pt-BR'],
    ['en', 'en'],
    ['en-US,en;q=0.9,pt;q=0.8', 'en'],
    ['EN-gb', 'en'],
    ['es-419,es;q=0.9', 'es'],
    ['pt-PT', 'pt-BR'],
    ['en;q=0.2, es ; q=0.7', 'es'],
    ['en;q=0, es;q=0.1', 'es'],
    ['fr, es;q=0.5, *;q=0.1', 'es'],
    ['english', 'pt-BR'],
    [`${'x,'.repeat(100)}en`, 'pt-BR'],
    ['en;q=nonsense', 'en'],
  ])('A browser that accepts "%s" gets %s', (accepted, language) => {
    expect(preferredLanguage(accepted === undefined ? {} : { 'accept-language': accepted })).toBe(language);
  });

  it.each([
    ['lang=en', 'en'],
    ['lang=es-MX', 'es'],
    ['lang=PT', 'pt-BR'],
    ['lang=fr', null],
    ['lang=', null],
    ['', null],
    ['lang=__proto__', null],
  ])('The address with "%s" names the language %s', (query, language) => {
    expect(namedLanguage(new URLSearchParams(query))).toBe(language);
  });
});

describe('the pages in each language', () => {
  it.each(LANGUAGES)('Every page of a card payment is in %s alone', async (language) => {
    const foreign = foreignTo(language);
    for (const payment of Object.values(PAGES)) {
      await using served = await servePage({ payment });
      const response = await fetch(served.pageUrl, { headers: { 'accept-language': language } });
      expect(response.headers.get('content-language')).toBe(language);
      expect(response.headers.get('vary')).toMatch(/accept-language/);
      const markup = await response.text();
      expect(markup).toContain(`<html lang="${language}"`);
      if (language !== 'pt-BR') expect(foreign.filter((text) => markup.includes(text))).toEqual([]);
    }
  });

  it.each(LANGUAGES)('Every page of a PIX payment is in %s alone', async (language) => {
    const foreign = foreignTo(language);
    for (const shown of Object.values(pix.PAGES)) {
      await using served = await pix.servePixPage(shown);
      const response = await fetch(served.pageUrl, { headers: { 'accept-language': language } });
      expect(response.headers.get('content-language')).toBe(language);
      const markup = await response.text();
      if (language !== 'pt-BR') expect(foreign.filter((text) => markup.includes(text))).toEqual([]);
    }
  });

  it.each([
    ['pt-BR', 'R$ 49,90', '10/03/2026, 12:00 (Brasília)'],
    ['en', 'R$49.90', 'Mar 10, 2026, 12:00 PM (Brasília)'],
    ['es', 'R$ 49,90', '10 mar 2026, 12:00 (Brasilia)'],
  ])('Amounts and dates are as in %s', async (language, amount, date) => {
    await using served = await servePage({ payment: PAGES.paid! });
    // Releases of Node write different blanks.
    const markup = (await (await fetch(`${served.pageUrl}?lang=${language}`)).text()).replace(/\s/g, ' ');
    expect(markup).toContain(amount);
    expect(markup).toContain(date);
  });

  it('The errors of the form are in the language of the page', async () => {
    await using served = await servePage({ answer: decline });
    const post = (fields: object) =>
      fetch(`${served.pageUrl}?lang=en`, {
        method: 'POST',
        body: new URLSearchParams({ ...GOOD_CARD, ...fields }),
        // The language in the address takes precedence.
        headers: { 'accept-language': 'es' },
      }).then((response) => response.text());
    const wrong = await post({ number: '4111 1111 1111 1111', expiry: '02/26', cvv: '1' });
    expect(wrong).toContain('3 fields to correct');
    expect(wrong).toContain('This environment accepts test cards only');
    expect(wrong).toContain('This card has expired. Use another one.');
    expect(wrong).toContain('The code has 3 digits');
    expect(await post({})).toContain('The bank did not authorize the payment. Nothing was charged');
  });

  it('A language that the address names stays through the payment', async () => {
    await using served = await servePage({ payment: aPayment({ cancelUrl: null }), answer: leaveOpen });
    const path = new URL(served.pageUrl).pathname;
    expect(await (await fetch(`${served.pageUrl}?lang=es`)).text()).toContain(`action="${path}?lang=es"`);
    const following = await fetch(`${served.pageUrl}?lang=es`, {
      method: 'POST',
      body: new URLSearchParams(GOOD_CARD),
      redirect: 'manual',
    });
    expect(following.headers.get('location')).toBe(`${path}?seguir=1&recusas=0&lang=es`);
    const markup = await (await fetch(`${served.pageUrl}?lang=es`)).text();
    expect(markup).toContain(`data-follow="${path}?seguir=1&amp;recusas=0&amp;lang=es"`);
  });

  it('Each page links to itself in the other languages, and a page of no payment too', async () => {
    await using served = await servePage();
    for (const address of [served.pageUrl, `${served.origin}/checkout/none`]) {
      const markup = await (await fetch(`${address}?lang=en`)).text();
      expect(markup).toContain('<a href="?lang=es" lang="es" hreflang="es">Español</a>');
      expect(markup).toContain('<span aria-current="true">English</span>');
    }
    expect(await (await fetch(`${served.origin}/checkout/none?lang=es`)).text()).toContain(
      'Pago no encontrado',
    );
  });
});

describe('the page of a payment that has a language', () => {
  const english = { 'accept-language': 'en' };
  const languageOf = async (url: string, init: RequestInit = {}) => {
    const response = await fetch(url, { headers: english, redirect: 'manual', ...init });
    await response.text();
    return response.headers.get('content-language');
  };

  it('It is in the language of the payment, unless its address names another', async () => {
    await using card = await servePage({ payment: aPayment({ language: 'es' }) });
    await using code = await pix.servePixPage({ payment: pix.aPixPayment({ language: 'es' }) });
    for (const { pageUrl } of [card, code]) {
      expect(await languageOf(pageUrl)).toBe('es');
      expect(await languageOf(`${pageUrl}?lang=pt-BR`)).toBe('pt-BR');
      expect(await languageOf(`${pageUrl}?lang=fr`)).toBe('es');
    }
  });

  it.each([null, 'fr' as Language])(
    'Where it is %s, the browser’s language is that of the page',
    async (language) => {
      await using card = await servePage({ payment: aPayment({ language }) });
      await using code = await pix.servePixPage({ payment: pix.aPixPayment({ language }) });
      for (const { pageUrl } of [card, code]) expect(await languageOf(pageUrl)).toBe('en');
    },
  );

  it('It stays through the form, its addresses, and the page of an error', async () => {
    await using served = await servePage({ payment: aPayment({ language: 'es' }), answer: decline });
    const { pathname } = new URL(served.pageUrl);
    const form = await (await fetch(served.pageUrl, { headers: english })).text();
    expect(form).toContain(`action="${pathname}"`);
    const post = { method: 'POST', body: new URLSearchParams(GOOD_CARD), headers: english };
    const declined = await fetch(served.pageUrl, post);
    expect([declined.status, declined.headers.get('content-language')]).toEqual([422, 'es']);
    served.state.answer = leaveOpen;
    const again = { ...post, body: new URLSearchParams({ ...GOOD_CARD, attempt: '1' }) };
    const following = await fetch(served.pageUrl, { ...again, redirect: 'manual' });
    expect(following.headers.get('location')).toBe(`${pathname}?seguir=1&recusas=1`);
    served.state.payment = aPayment({ language: 'es' });
    served.state.answer = () => Promise.reject(new Error('the acquirer is away'));
    const broken = await fetch(served.pageUrl, post);
    expect([broken.status, broken.headers.get('content-language')]).toEqual([500, 'es']);
    expect(served.state.faults).toHaveLength(1);
  });
});

it('The page of a paid payment has a receipt to print and to share, shown by the script', async () => {
  await using served = await servePage({ payment: PAGES.paid! });
  const paid = await (await fetch(`${served.pageUrl}?lang=en`)).text();
  expect(paid).toMatch(/<p class="receipt-actions" data-receipt hidden>/);
  expect(paid).toContain('Print or save');
  expect(paid).toContain('data-share="Payment receipt"');
  served.state.payment = PAGES.failed!;
  expect(await (await fetch(served.pageUrl)).text()).not.toContain('data-receipt');
});
