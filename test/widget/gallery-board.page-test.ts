import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { texts as disputesInEnglish } from '../../widget/src/disputes/locales/en.ts';
import { texts as disputesInSpanish } from '../../widget/src/disputes/locales/es.ts';
import { texts as disputes } from '../../widget/src/disputes/locales/pt-BR.ts';
import { texts as payoutsInEnglish } from '../../widget/src/payouts/locales/en.ts';
import { texts as payoutsInSpanish } from '../../widget/src/payouts/locales/es.ts';
import { texts as payouts } from '../../widget/src/payouts/locales/pt-BR.ts';
import { texts as salesInEnglish } from '../../widget/src/sales/locales/en.ts';
import { texts as salesInSpanish } from '../../widget/src/sales/locales/es.ts';
import { texts as sales } from '../../widget/src/sales/locales/pt-BR.ts';
import { texts as statementInEnglish } from '../../widget/src/statement/locales/en.ts';
import { texts as statementInSpanish } from '../../widget/src/statement/locales/es.ts';
import { texts as statement } from '../../widget/src/statement/locales/pt-BR.ts';
import { texts as walletInEnglish } from '../../widget/src/wallet/locales/en.ts';
import { texts as walletInSpanish } from '../../widget/src/wallet/locales/es.ts';
import { texts as wallet } from '../../widget/src/wallet/locales/pt-BR.ts';
import { launchBrowser } from '../support/browser.ts';
import type { FakeServer } from './fake-server.ts';
import { type Gallery, LANGUAGES, openGallery, SCHEMES, serveDemo, THEMES } from './gallery-page.ts';

/** The elements, each with its texts by language and the number of its states. */
const ELEMENTS = {
  'psa-wallet': [{ 'pt-BR': wallet, en: walletInEnglish, es: walletInSpanish }, 10],
  'psa-sales': [{ 'pt-BR': sales, en: salesInEnglish, es: salesInSpanish }, 11],
  'psa-payouts': [{ 'pt-BR': payouts, en: payoutsInEnglish, es: payoutsInSpanish }, 11],
  'psa-statement': [{ 'pt-BR': statement, en: statementInEnglish, es: statementInSpanish }, 11],
  'psa-disputes': [{ 'pt-BR': disputes, en: disputesInEnglish, es: disputesInSpanish }, 11],
} as const;
const TAGS = Object.keys(ELEMENTS) as (keyof typeof ELEMENTS)[];

/** The texts of the states, by the state that shows them. */
const SAID = {
  filtered: 'emptyFiltered',
  empty: 'empty',
  stale: 'stale',
  'key-refused': 'keyRefused',
  reconnecting: 'reconnecting',
  'server-error': 'server',
  'rate-limited': 'rate_limited',
  ended: 'unauthorized',
  forbidden: 'forbidden',
} as const;

let server: FakeServer;
let browser: Browser;
let gallery: Gallery;
beforeAll(async () => {
  server = await serveDemo();
  browser = await launchBrowser();
  gallery = await openGallery(browser, server.url, {}, { reducedMotion: 'reduce' }, 'gallery-board');
  await gallery.page.evaluate(
    readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8'),
  );
});
afterAll(async () => {
  await browser?.close();
  await server?.close();
});

describe.each(TAGS)('the states of %s', (element) => {
  const [texts, count] = ELEMENTS[element];

  it.each(LANGUAGES)('each state says what it is in the language %s', async (language) => {
    const { page, show } = gallery;
    await show({ element, language, theme: 'default' });
    const frames = page.locator('.frame');
    expect(await frames.count()).toBe(count);
    for (const [state, name] of Object.entries(SAID)) {
      const words = (texts[language] as Record<string, string | undefined>)[name];
      if (!words) continue;
      const [said = ''] = words.replace('{seconds}', '30').split('…');
      await page.locator(`[data-state=${state}]`).getByText(said).first().waitFor();
    }
  });

  it.each(SCHEMES)('axe finds nothing in any theme, %s', async (colorScheme) => {
    const { page, show } = gallery;
    await page.emulateMedia({ colorScheme });
    for (const theme of THEMES) {
      await show({ element, theme, language: 'pt-BR' });
      const found = await page.evaluate(async () => {
        const { axe } = globalThis as unknown as { axe: typeof import('axe-core') };
        const { violations } = await axe.run({ resultTypes: ['violations'] });
        return violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target.join(' ')}`));
      });
      expect([theme, found]).toEqual([theme, []]);
    }
  });

  it('the states fit on a phone', async () => {
    const { page, show } = gallery;
    await show({ element, theme: 'default' });
    for (const width of [390, 320]) {
      await page.setViewportSize({ width, height: 844 });
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
    }
    await page.setViewportSize({ width: 1280, height: 900 });
  });
});

it('a row opens its details, and a bank’s reason is quoted as Portuguese', async () => {
  const { page, show } = gallery;
  await show({ element: 'psa-payouts', language: 'en' });
  const full = page.locator('[data-state=full]');
  await full.getByText('Conta encerrada').first().click();
  const panel = full.getByRole('dialog');
  await panel.getByText('Payout of R$77.00').waitFor();
  expect(await panel.locator('q[lang="pt-BR"]').textContent()).toBe('Conta encerrada pelo titular');
  await page.keyboard.press('Escape');
  await panel.waitFor({ state: 'hidden' });
});

it('what the page has done is said in the panel', async () => {
  const { page, show } = gallery;
  await show({ element: 'psa-sales', language: 'pt-BR' });
  const full = page.locator('[data-state=full]');
  await full.getByText('PSC-TKDQ8J76ZGXA6VWCSTP61002').click();
  await full.getByText('Pedir estorno').first().click();
  await full.getByRole('dialog').getByRole('button', { name: 'Pedir estorno' }).click();
  await full.getByText('Estorno pedido.').waitFor();
  await page.keyboard.press('Escape');
});

it('the address restores the view', async () => {
  const { page, show } = gallery;
  await show({ element: 'psa-disputes', theme: 'night', language: 'es', direction: 'rtl', width: 'phone' });
  const { search } = new URL(page.url());
  const view = Object.fromEntries(new URLSearchParams(search));
  const again = await openGallery(browser, server.url, view, {}, 'gallery-board');
  expect(new URL(again.page.url()).search).toBe(search);
  expect(await again.page.locator('.theme h2').textContent()).toBe('Disputas: Noturno');
  expect(await again.page.locator('#gallery').getAttribute('dir')).toBe('rtl');
  await again.page.context().close();
  await show({ direction: 'ltr', width: 'wide' });
});

it('the page’s policy blocks nothing, and the console has only the explanations of mistakes', () => {
  expect(gallery.problems.filter((problem) => !problem.startsWith('<psa-'))).toEqual([]);
});
