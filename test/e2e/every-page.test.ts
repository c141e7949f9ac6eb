import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { CARD, comeToRest, payOn } from '../support/browser.ts';
import { checkoutOf, chooseMode, openPopup, openShop, productOf } from './shop.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const shop = openShop();

/** What axe finds on the page, by rule and element. */
async function faultsOf(page: Page): Promise<string[]> {
  // What is still moving has not its own colours yet.
  await comeToRest(page);
  const { violations } = await page.evaluate(() =>
    (globalThis as unknown as { axe: typeof import('axe-core') }).axe.run(),
  );
  return violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target.join(' ')}`));
}

// That none of them violates its own Content-Security-Policy is seen by every test: the browser would complain.
describe.each([
  ['light', { width: 1280, height: 900 }],
  ['dark', { width: 390, height: 844 }],
] as const)('in %s colours', (colorScheme, viewport) => {
  it('can be used by everyone: the shop, the hosted page, the thank-you page', async () => {
    const visitor = await shop.visit({ colorScheme, viewport });
    visitor.expectProblems(/status of 422/);
    const { page, context } = visitor;
    await context.addInitScript({ content: AXE });
    await page.reload();
    const product = productOf(page, 'caneca');
    await product.payButton.waitFor();
    expect(await faultsOf(page)).toEqual([]);

    const popup = await openPopup(visitor, () => product.payButton.click());
    expect(await faultsOf(popup)).toEqual([]);
    await product.says('Aguardando o pagamento');
    expect(await faultsOf(page)).toEqual([]);
    await payOn(popup, CARD.declined);
    await popup.getByRole('alert').waitFor();
    expect(await faultsOf(popup)).toEqual([]);
    await payOn(popup, CARD.declinedForGood);
    await popup.getByRole('heading', { name: 'Pagamento não concluído' }).waitFor();
    expect(await faultsOf(popup)).toEqual([]);
    await product.says('O pagamento não foi aprovado');
    expect(await faultsOf(page)).toEqual([]);
    await popup.close();

    await chooseMode(page, 'Nesta página');
    await productOf(page, 'cafe').payButton.click();
    await page.waitForURL(/\/checkout\//);
    const hostedUrl = page.url();
    await page.goto(`${shop.app.url}/demo/obrigado?psa_order_code=${hostedUrl.split('/').at(-1)}`);
    await checkoutOf(page).says('Aguardando o pagamento');
    expect(await faultsOf(page)).toEqual([]);
    await page.goto(hostedUrl);
    await payOn(page, CARD.approved);
    await page.getByRole('heading', { name: 'Obrigado!' }).waitFor();
    expect(await faultsOf(page)).toEqual([]);
    await page.goto(hostedUrl);
    await page.getByRole('heading', { name: 'Pagamento aprovado' }).waitFor();
    expect(await faultsOf(page)).toEqual([]);
  });
});
