import { describe, expect, it } from 'vitest';
import {
  LANGUAGES,
  type Language,
  namedLanguage,
  preferredLanguage,
  TEXTS,
} from '../../server/src/checkout-page/language.ts';
import * as pix from '../payments/hosted-page.ts';
import { aPayment, decline, GOOD_CARD, leaveOpen, PAGES, servePage } from './hosted-checkout.ts';

const CODES = Object.keys(LANGUAGES) as Language[];

/** Every text of a table that is no function, by its path. */
function leaves(table: object, path = ''): [path: string, text: string][] {
  return Object.entries(table).flatMap(([name, value]): [string, string][] => {
    if (typeof value === 'string') return [[`${path}.${name}`, value]];
    return typeof value === 'object' ? leaves(value as object, `${path}.${name}`) : [];
  });
}

/** Portuguese texts that another language does not have. */
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
  it.each(CODES)('Every page of a card payment is in %s alone', async (language) => {
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

  it.each(CODES)('Every page of a PIX payment is in %s alone', async (language) => {
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
    ['pt-BR', 'R$ 49,90', '10/03/2026, 12:00'],
    ['en', 'R$49.90', 'Mar 10, 2026, 12:00 PM'],
    ['es', '49,90 R$', '10 mar 2026, 12:00'],
  ])('Amounts and dates are as in %s', async (language, amount, date) => {
    await using served = await servePage({ payment: PAGES.paid! });
    // Releases of Node differ in the kind of their blanks.
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
        // The address comes first.
        headers: { 'accept-language': 'es' },
      }).then((response) => response.text());
    const wrong = await post({ number: '4111 1111 1111 1111', expiry: '02/26', cvv: '1' });
    expect(wrong).toContain('3 fields to correct');
    expect(wrong).toContain('This environment accepts test cards only');
    expect(wrong).toContain('This card has expired. Use another one.');
    expect(wrong).toContain('The code has 3 digits');
    expect(await post({})).toContain('The bank did not authorise the payment. Nothing was charged');
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
    expect(following.headers.get('location')).toBe(`${path}?seguir=1&lang=es`);
    const markup = await (await fetch(`${served.pageUrl}?lang=es`)).text();
    expect(markup).toContain(`data-follow="${path}?seguir=1&amp;lang=es"`);
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

it('The page of a paid payment has a receipt to print and to share, shown by the script', async () => {
  await using served = await servePage({ payment: PAGES.paid! });
  const paid = await (await fetch(`${served.pageUrl}?lang=en`)).text();
  expect(paid).toMatch(/<p class="receipt-actions" data-receipt hidden>/);
  expect(paid).toContain('Print or save');
  expect(paid).toContain('data-share="Payment receipt"');
  served.state.payment = PAGES.failed!;
  expect(await (await fetch(served.pageUrl)).text()).not.toContain('data-receipt');
});
