// The element in a real Chromium: `component` runs inside the page, `page` drives whole pages from outside.
// Its files are not called *.test.ts, so that the run for Node does not take them.
import { playwright } from '@vitest/browser-playwright';
import { defineConfig } from 'vitest/config';
import { launchOptions } from './support/launch-options.ts';

export default defineConfig({
  test: {
    projects: [
      {
        server: { fs: { allow: ['..'] } },
        optimizeDeps: { include: ['lit', 'axe-core'] },
        test: {
          name: 'component',
          root: import.meta.dirname,
          include: ['widget/**/*.browser-test.ts'],
          globalSetup: ['./widget/global-setup.ts'],
          browser: {
            enabled: true,
            headless: true,
            screenshotFailures: false,
            provider: playwright({ launchOptions: launchOptions() }),
            instances: [{ browser: 'chromium' }],
          },
        },
      },
      {
        test: {
          name: 'page',
          root: import.meta.dirname,
          include: ['widget/**/*.page-test.ts'],
          testTimeout: 20_000,
          hookTimeout: 30_000,
        },
      },
    ],
  },
});
