import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { BrowserContext, Page } from 'playwright-core';
import { waitForAnimations } from './browser.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Adds axe to every page that the context opens from now on; an open page has to be loaded again. */
export function injectAxe(context: BrowserContext): Promise<unknown> {
  return context.addInitScript({ content: AXE });
}

/** Finds the violations on the page with axe, by rule and element. */
export async function findViolations(page: Page): Promise<string[]> {
  const violations = await runAxe(page);
  // An element that was added during the run was still fading in. A real violation is found again.
  return violations.length === 0 ? violations : runAxe(page);
}

async function runAxe(page: Page): Promise<string[]> {
  // An element that is still fading in does not have its own colours yet.
  await waitForAnimations(page);
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: typeof import('axe-core') };
    // Passed rules are left out: their description is megabytes.
    const { violations } = await axe.run({ resultTypes: ['violations'] });
    return violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target.join(' ')}`));
  });
}
