import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { BrowserContext, Page } from 'playwright-core';
import { comeToRest } from './browser.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** On every page that it opens from now on; one that is open has to be loaded again. */
export function bringAxe(context: BrowserContext): Promise<unknown> {
  return context.addInitScript({ content: AXE });
}

/** The violations that axe finds on the page, by rule and element. */
export async function faultsOf(page: Page): Promise<string[]> {
  const faults = await look(page);
  // An element that was added meanwhile was still fading in. A violation is there once all is at rest, too.
  return faults.length === 0 ? faults : look(page);
}

async function look(page: Page): Promise<string[]> {
  // What is still moving has not its own colours yet.
  await comeToRest(page);
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: typeof import('axe-core') };
    // What is right is not described, nor sent here: it is megabytes.
    const { violations } = await axe.run({ resultTypes: ['violations'] });
    return violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target.join(' ')}`));
  });
}
