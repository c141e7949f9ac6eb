import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import type { PNG } from 'pngjs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SCREENSHOTS } from '../support/screenshots.ts';
import type { FakeServer } from './fake-server.ts';
import { type Gallery, serveDemo } from './gallery-page.ts';
import {
  compare,
  draw,
  drawSheet,
  launchForLooks,
  openForLooks,
  readReference,
  SHEETS,
  type Sheet,
} from './looks.ts';

// `pnpm --filter @psa/test looks` draws the references again.

let server: FakeServer;
let browser: Browser;
let gallery: Gallery;
beforeAll(async () => {
  mkdirSync(SCREENSHOTS, { recursive: true });
  server = await serveDemo();
  browser = await launchForLooks();
  gallery = await openForLooks(browser, server.url);
});
afterAll(async () => {
  await browser?.close();
  await server?.close();
});

describe('the reference images', () => {
  it.each(SHEETS)('every state looks as in its reference, $name', async (sheet) => {
    const difference = compare(await drawSheet(gallery, sheet), await readReference(sheet.name));
    const file = join(SCREENSHOTS, `${sheet.name}.png`);
    if (difference) writeFileSync(file, difference.image);
    expect(difference && `${sheet.name} ${difference.problem}; see ${file}`).toBeUndefined();
  });

  it('the gallery logs no error while it is drawn', () => expect(gallery.problems).toEqual([]));
});

describe('the image comparison', () => {
  let frames: Record<string, PNG>;
  beforeAll(async () => {
    await drawSheet(gallery, SHEETS[0] as Sheet);
    frames = await drawFrames();
  });

  it.each([
    // The change is of the text alone: the compositor may draw or round an edge between two pixels.
    ['glyphs a quarter of a pixel away', 'psa-checkout { text-indent: 0.25px; }'],
    ['glyphs drawn a little stronger', 'psa-checkout { -webkit-text-stroke: 0.1px; }'],
  ])('the comparison ignores %s', async (_, css) => {
    expect(await changed(css)).toBe('');
  });

  it.each([
    ['a button moved by a pixel', 'psa-checkout::part(button) { translate: 1px; }'],
    ['a line of text moved by a pixel', 'psa-checkout::part(hint) { translate: 0 1px; }'],
    ['an icon moved by two pixels', 'psa-checkout::part(spinner) { translate: 2px; }'],
    ['rounder corners', 'psa-checkout { --psa-radius: 18px !important; }'],
    ['another shade of a button', 'psa-checkout { --psa-color-primary: #3a4ad3 !important; }'],
    ['an icon of another colour', 'psa-checkout { --psa-color-success: #0b7a7b !important; }'],
    ['a text of another colour', 'psa-checkout { --psa-color-muted: #8c5060 !important; }'],
    ['a state that is missing', '[data-state=paid] psa-checkout { visibility: hidden; }'],
  ])('the comparison detects %s', async (_, css) => {
    expect(await changed(css)).toMatch(/looks different/);
  });

  /** The differences that the comparison finds after adding a CSS rule. */
  async function changed(css: string): Promise<string> {
    const { page } = gallery;
    await page.route('**/change.css', (route) => route.fulfill({ body: css, contentType: 'text/css' }));
    const style = await page.addStyleTag({ url: '/change.css' });
    try {
      const now = await drawFrames();
      const found = Object.entries(now).map(([name, png]) => compare(png, frames[name] as PNG)?.problem);
      return found.filter(Boolean).join();
    } finally {
      await style.evaluate((element) => element.parentElement?.removeChild(element));
      await page.unroute('**/change.css');
    }
  }

  async function drawFrames(): Promise<Record<string, PNG>> {
    const frame = (name: string) => draw(gallery.page.locator(`#default [data-state=${name}]`));
    return { button: await frame('button'), pending: await frame('pending'), paid: await frame('paid') };
  }
});
