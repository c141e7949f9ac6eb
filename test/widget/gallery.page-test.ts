import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { texts as en, delivered as enDelivered, pix as enPix } from '../../widget/src/locales/en.ts';
import { texts as es, delivered as esDelivered, pix as esPix } from '../../widget/src/locales/es.ts';
import { texts as ptDelivered } from '../../widget/src/locales/pt-BR.delivered.ts';
import { first } from '../../widget/src/locales/pt-BR.first.ts';
import { texts as ptPix } from '../../widget/src/locales/pt-BR.pix.ts';
import { texts as pt } from '../../widget/src/locales/pt-BR.ts';
import type { Texts } from '../../widget/src/locales/texts.ts';
import { drawnColour, launchBrowser } from '../support/browser.ts';
import { firstInSample } from '../support/scale.ts';
import type { FakeServer } from './fake-server.ts';
import { type Gallery, LANGUAGES, openGallery, SCHEMES, serveDemo } from './gallery-page.ts';

// The gallery has every state, so rules for each state are tested there.
const TEXTS: Record<(typeof LANGUAGES)[number], Texts> = { 'pt-BR': { ...first, ...pt }, en, es };
/** The texts of a payment by PIX; some replace others of the same name. */
const PIX = { 'pt-BR': ptPix, en: enPix, es: esPix };
const DELIVERED = { 'pt-BR': ptDelivered, en: enDelivered, es: esDelivered };
const textsOf = (language: (typeof LANGUAGES)[number]) => [
  ...Object.entries(TEXTS[language]),
  ...Object.entries(PIX[language]),
  ...Object.entries(DELIVERED[language]),
];

let server: FakeServer;
let browser: Browser;
let gallery: Gallery;
beforeAll(async () => {
  server = await serveDemo();
  browser = await launchBrowser();
  gallery = await openGallery(browser, server.url, { theme: 'all' }, { reducedMotion: 'reduce' });
  await gallery.page.evaluate(
    readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8'),
  );
});
afterAll(async () => {
  await browser?.close();
  await server?.close();
});

describe.each(firstInSample(LANGUAGES))('the gallery in %s', (language) => {
  it.each(SCHEMES)('axe finds nothing in any state of any theme, %s', async (colorScheme) => {
    const { page, show } = gallery;
    await page.emulateMedia({ colorScheme });
    await show({ language });
    const found = await page.evaluate(async () => {
      const { axe } = globalThis as unknown as { axe: typeof import('axe-core') };
      const { violations } = await axe.run({ resultTypes: ['violations'] });
      return violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target.join(' ')}`));
    });
    expect(found).toEqual([]);
  });
});

describe.each(LANGUAGES)('the gallery in %s', (language) => {
  it('each text of the language is shown in some state, and none of another language', async () => {
    await gallery.show({ language });
    const said = await everythingSaid();
    const missing = textsOf(language).filter(([, text]) => !text || !said.includes(filled(text, language)));
    expect(missing).toEqual([]);
    const foreign = LANGUAGES.filter((other) => other !== language).flatMap((other) =>
      textsOf(other).filter(
        ([, text]) =>
          !textsOf(language).some(([, own]) => own === text) && text.length > 12 && said.includes(text),
      ),
    );
    expect(foreign).toEqual([]);
  });

  it('the page’s labels replace each text', async () => {
    await gallery.show({ language });
    const labels = Object.fromEntries(textsOf(language).map(([name]) => [name, `«${name}» {seconds}`]));
    await label(labels);
    const said = await everythingSaid();
    await label(undefined);
    const missing = Object.keys(labels).filter((name) => !said.includes(`«${name}»`));
    expect(missing).toEqual([]);
    expect(textsOf(language).filter(([, text]) => text.length > 12 && said.includes(text))).toEqual([]);
  });

  it('money and time are formatted in the language', async () => {
    await gallery.show({ language });
    const said = await everythingSaid();
    const [amount, date] = {
      'pt-BR': ['R$ 189,00', '14 de mar. de 2026, 14:42 (Brasília)'],
      en: ['R$189.00', 'Mar 14, 2026, 2:42 PM (Brasília)'],
      es: ['R$ 189,00', '14 mar 2026, 14:42 (Brasilia)'],
    }[language] as [string, string];
    expect(said).toContain(amount);
    expect(said).toContain(date);
    expect(said).toContain('28 min');
  });
});

it('every theme shows every state under the page’s strict policy', async () => {
  const { page, problems } = gallery;
  expect(problems).toEqual([]);
  expect(await page.locator('#gallery psa-checkout').count()).toBe(4 * 48);
});

it('the gallery writes the HTML and the CSS of what is chosen', async () => {
  const { page, show } = gallery;
  await show({
    theme: 'night',
    language: 'en',
    direction: 'rtl',
    width: 'wide',
    methods: 'card pix',
    mode: 'tab',
  });
  await page.getByLabel('Valor em reais').fill('1.234,50');
  expect(await page.getByLabel('HTML', { exact: true }).inputValue()).toBe(
    `<script type="module" src="${server.url}/widget/psa-checkout.js"></script>
<psa-checkout
  endpoint="${server.url}/graphql"
  token="ps_checkout_…"
  methods="card pix"
  mode="tab"
  locale="en"
  dir="rtl"
>Pay R$1,234.50</psa-checkout>`,
  );
  expect(await page.locator('#preview psa-checkout [part=button]').allInnerTexts()).toEqual([
    'Pay by card',
    'PIX',
  ]);
  const styles = page.getByLabel('CSS', { exact: true });
  const night = await styles.inputValue();
  expect(night).toContain('max-inline-size: 40rem;');
  expect(night).toContain('--psa-focus-ring-color: light-dark(#5f8a00, #c8f560);');
  expect(night).toContain('\npsa-checkout::part(timer) {');
  expect(night).not.toMatch(/theme-|summary|background/);
  await show({
    theme: 'default',
    language: 'pt-BR',
    direction: 'ltr',
    width: 'phone',
    methods: 'card',
    mode: 'auto',
  });
  expect(await styles.inputValue()).toBe('psa-checkout {\n  max-inline-size: 21.5rem;\n}');
  await page.getByLabel('Valor em reais').fill('189,00');
});

it('the gallery says where no token can be created, and where an amount is none', async () => {
  const { page, problems } = gallery;
  const amount = page.getByLabel('Valor em reais');
  await amount.fill('muito');
  await page.keyboard.press('Enter');
  await page.getByText('Escreva o valor em reais').waitFor();
  expect(await amount.getAttribute('aria-invalid')).toBe('true');
  await amount.fill('189,00');
  expect(await amount.getAttribute('aria-invalid')).toBeNull();
  await page.route('**/demo/gallery/token', (route) =>
    route.fulfill({ status: 404, json: { error: 'Not found' } }),
  );
  await page.getByRole('button', { name: 'Criar o token' }).click();
  await page.getByText('A conta desta página é real').waitFor();
  expect(problems.splice(0)).toEqual([expect.stringContaining('404')]);
});

it.each(['America/Sao_Paulo', 'Europe/Lisbon'])(
  'a device in %s shows the time of a payment in the time of Brasília, and names it',
  async (timezoneId) => {
    const { page } = await openGallery(browser, server.url, {}, { timezoneId });
    const receipt = page.locator('#default [data-state=paid]').getByText('14 de mar. de 2026');
    expect(await receipt.textContent()).toBe('14 de mar. de 2026, 14:42 (Brasília)');
    await page.context().close();
  },
);

it('the gallery takes the focus from no field that is typed into', async () => {
  const { page } = await openGallery(browser, server.url, { theme: 'default' });
  const field = page.getByLabel('Produto');
  await field.fill('');
  const losses = await field.evaluateHandle((input) => {
    const counted = { losses: 0 };
    input.addEventListener('blur', () => (counted.losses += 1));
    return counted;
  });
  // The elements of a theme are created while a person types. A click by script leaves the focus where it is.
  await page
    .locator('input[name="theme"][value="custody"]')
    .evaluate((input) => (input as HTMLElement).click());
  await page.waitForSelector('#custody[data-placed]', { state: 'attached' });
  await page.keyboard.type('Caneca');
  expect([await field.inputValue(), await losses.evaluate(({ losses }) => losses)]).toEqual(['Caneca', 0]);
  await field.blur();
  await page.waitForSelector('[data-ready]');
  await page.context().close();
});

it('the address of the gallery restores its view', async () => {
  const { page, show } = gallery;
  await show({
    theme: 'custody',
    language: 'es',
    direction: 'rtl',
    width: 'narrow',
    methods: 'pix',
    mode: 'popup',
  });
  const { search } = new URL(page.url());
  const again = await openGallery(browser, server.url, Object.fromEntries(new URLSearchParams(search)));
  expect(new URL(again.page.url()).search).toBe(search);
  expect(await again.page.locator('.theme:visible').getAttribute('id')).toBe('custody');
  expect(await again.page.locator('#gallery').getAttribute('dir')).toBe('rtl');
  expect(await again.page.getByLabel('HTML', { exact: true }).inputValue()).toContain(
    'methods="pix"\n  mode="popup"',
  );
  await again.page.context().close();
});

it.each(['narrow', 'phone', 'wide'] as const)('the gallery fits on a phone, %s', async (frameWidth) => {
  const { page, show } = gallery;
  await show({ width: frameWidth, direction: 'ltr', theme: 'all' });
  for (const width of [390, 320]) {
    await page.setViewportSize({ width, height: 844 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
  }
});

it.each([1280, 320])('nothing in the gallery moves while it opens, %i px wide', async (width) => {
  const { page } = await openGallery(browser, server.url, {}, { viewport: { width, height: 900 } });
  const shifts = await page.evaluate(
    () =>
      new Promise<number[]>((resolve) => {
        const shifts: number[] = [];
        const observer = new PerformanceObserver((list) => {
          for (const entry of list.getEntriesByType('layout-shift'))
            shifts.push((entry as unknown as { value: number }).value);
          if (list.getEntriesByName('drawn').length > 0) resolve(shifts);
        });
        observer.observe({ type: 'layout-shift', buffered: true });
        observer.observe({ type: 'mark' });
        // The second frame draws the last state of the elements.
        requestAnimationFrame(() => requestAnimationFrame(() => performance.mark('drawn')));
      }),
  );
  expect(shifts).toEqual([]);
  await page.context().close();
});

it('the selected setting stands out in forced colours', async () => {
  const { page } = gallery;
  await page.emulateMedia({ forcedColors: 'active' });
  const colourOf = (state: string) =>
    drawnColour(page.locator(`fieldset:first-of-type input${state} + span`).first());
  const [selected, other] = [await colourOf(':checked'), await colourOf(':not(:checked)')];
  await page.emulateMedia({ forcedColors: 'none' });
  expect(selected).not.toEqual(other);
});

it('the shop finds no payment of the gallery', async () => {
  const { page } = gallery;
  const shop = await page.context().newPage();
  await shop.goto(`${server.url}/demo/thank-you`);
  expect(await shop.evaluate(() => [sessionStorage.length, localStorage.length])).toEqual([0, 0]);
  await shop.close();
});

it('the gallery leads to the simulator and to the REST interface, where the account is simulated', async () => {
  const context = await browser.newContext({ locale: 'pt-BR' });
  const page = await context.newPage();
  const links = page.getByRole('navigation').getByRole('link');
  await page.goto(`${server.url}/demo/gallery`);
  expect(await links.allInnerTexts()).toEqual([...['Loja', 'Galeria', 'Simulador', 'GraphiQL', 'REST']]);
  await page.route('**/demo/account.json', (route) =>
    route.fulfill({ json: { simulated: false, console: true } }),
  );
  await page.reload();
  await links.getByText('Simulador').waitFor({ state: 'detached' });
  expect(await links.allInnerTexts()).toEqual(['Loja', 'Painel', 'Galeria', 'GraphiQL']);
  await context.close();
});

const AMOUNT = { 'pt-BR': 'R$ 189,00', en: 'R$189.00', es: 'R$ 189,00' };
const AGE = { 'pt-BR': 'há 2 min.', en: '2 min. ago', es: 'hace 2 min' };
const RETURNING = { 'pt-BR': 'R$ 189,01', en: 'R$189.01', es: 'R$ 189,01' };

function filled(text: string, language: (typeof LANGUAGES)[number]): string {
  const amounts = text === PIX[language].returning ? RETURNING : AMOUNT;
  return text
    .replace('{seconds}', '30')
    .replace('{age}', AGE[language])
    .replace('{amount}', amounts[language])
    .replace('{payee}', 'Varanda');
}

/** The text of all elements of the gallery, including text for screen readers alone. */
function everythingSaid(): Promise<string> {
  return gallery.page.evaluate(() =>
    [...document.querySelectorAll('psa-checkout')]
      .flatMap(({ shadowRoot }) => [
        shadowRoot?.textContent ?? '',
        ...[...(shadowRoot?.querySelectorAll('[aria-label]') ?? [])].map((node) => node.ariaLabel),
      ])
      .join('\n')
      .replace(/[\u00a0\u202f]/g, ' '),
  );
}

async function label(labels: Record<string, string> | undefined): Promise<void> {
  await gallery.page.evaluate(async (labels) => {
    for (const element of document.querySelectorAll('psa-checkout')) {
      element.labels = labels as typeof element.labels;
      await element.updateComplete;
    }
  }, labels);
}
