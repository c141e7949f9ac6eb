import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BrowserContext } from 'playwright-core';

/** The folder for pictures of failed tests, which CI keeps. Git ignores it. */
export const SCREENSHOTS = fileURLToPath(new URL('../.screenshots/', import.meta.url));

/** Takes a picture of each open page after a failed test. */
export async function savePages(contexts: readonly BrowserContext[], testName: string): Promise<void> {
  mkdirSync(SCREENSHOTS, { recursive: true });
  const name = testName.replace(/\W+/g, '-').slice(0, 100);
  const pages = contexts.flatMap((context) => context.pages());
  await Promise.all(
    pages.map((page, index) =>
      // A failed picture must not hide the failure of the test.
      page.screenshot({ path: join(SCREENSHOTS, `${name}-${index + 1}.png`) }).catch(() => undefined),
    ),
  );
}
