// The element in a real Chromium: `component` and `beside` run inside the page, `page` drives whole pages from outside.
// Its files are not called *.test.ts, so that the run for Node does not take them.
import { fileURLToPath } from 'node:url';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import vue from '@vitejs/plugin-vue';
import { playwright } from '@vitest/browser-playwright';
import { defineConfig } from 'vitest/config';
import type { BrowserConfigOptions } from 'vitest/node';
import { leanLit } from '../widget/scripts/lean-lit.ts';
import { squeezeTemplates } from '../widget/scripts/squeeze-templates.ts';
import { launchOptions } from './support/launch-options.ts';

const SETUP = [fileURLToPath(new URL('widget/global-setup.ts', import.meta.url))];
const ELEMENT = 'widget/psa-checkout*.browser-test.ts';

export default defineConfig({
  test: {
    projects: [
      {
        // What the script-tag bundle does to the templates and to Lit is part of what is tested.
        plugins: [leanLit(), squeezeTemplates()],
        server: { fs: { allow: ['..'] } },
        optimizeDeps: { include: ['axe-core'], exclude: ['lit'] },
        test: {
          name: 'component',
          root: import.meta.dirname,
          include: [ELEMENT],
          globalSetup: SETUP,
          browser: inChromium(),
        },
      },
      {
        server: { fs: { allow: ['..'] } },
        plugins: [
          vue({ template: { compilerOptions: { isCustomElement: (tag) => tag.startsWith('psa-') } } }),
          svelte({ configFile: false }),
        ],
        // Found late, they would have the page reloaded in the middle of a test.
        optimizeDeps: {
          include: [
            'lit',
            'axe-core',
            'react',
            'react-dom/client',
            'react/jsx-dev-runtime',
            'svelte',
            'vue',
            '@angular/compiler',
            '@angular/core',
            '@angular/platform-browser',
          ],
        },
        test: {
          name: 'beside',
          root: import.meta.dirname,
          include: ['widget/**/*.browser-test.{ts,tsx}'],
          exclude: [ELEMENT],
          globalSetup: SETUP,
          browser: inChromium(),
        },
      },
      {
        test: {
          name: 'page',
          root: import.meta.dirname,
          include: ['widget/**/*.page-test.ts'],
          // Longer than any wait in them, which says what it has waited for.
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});

function inChromium(): BrowserConfigOptions {
  return {
    enabled: true,
    headless: true,
    screenshotFailures: false,
    provider: playwright({ launchOptions: launchOptions() }),
    instances: [{ browser: 'chromium' }],
  };
}
