import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BrowserContext } from 'playwright-core';

/** The folder for pictures of failed tests, which CI keeps. Git ignores it. */
export const SCREENSHOTS = fileURLToPath(new URL('../.screenshots/', import.meta.url));

/** Draws each open page as a test that failed has left it. */
export async function savePages(contexts: readonly BrowserContext[], testName: string): Promise<void> {
  mkdirSync(SCREENSHOTS, { recursive: true });
  const name = testName.replace(/\W+/g, '-').slice(0, 100);
  const pages = contexts.flatMap((context) => context.pages());
  await Promise.all(
    pages.map((page, index) =>
      // A page that cannot be drawn any more must not hide why the test failed.
      page.screenshot({ path: join(SCREENSHOTS, `${name}-${index + 1}.png`) }).catch(() => undefined),
    ),
  );
}
