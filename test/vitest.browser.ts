// The projects whose tests run inside a page: the element in a real Chromium, from its sources.
import { fileURLToPath } from 'node:url';
import { playwright } from '@vitest/browser-playwright';
import type { TestProjectInlineConfiguration } from 'vitest/config';
import type { BrowserConfigOptions } from 'vitest/node';
import { leanLit } from '../widget/scripts/lean-lit.ts';
import { squeezeTemplates } from '../widget/scripts/squeeze-templates.ts';
import { launchOptions, STILL } from './support/launch-options.ts';

const SETUP = [fileURLToPath(new URL('widget/global-setup.ts', import.meta.url))];

/** `<psa-checkout>` as the script-tag bundle has it: what that does to the templates and to Lit is tested too. */
export function component(include: string[]): TestProjectInlineConfiguration {
  return {
    plugins: [leanLit(), squeezeTemplates()],
    server: { fs: { allow: ['..'] } },
    optimizeDeps: { include: ['axe-core'], exclude: ['lit'] },
    test: {
      name: 'component',
      root: import.meta.dirname,
      include,
      globalSetup: SETUP,
      browser: inChromium(),
    },
  };
}

/** Other elements, and the recipes for frameworks. */
export async function beside(include: string[]): Promise<TestProjectInlineConfiguration> {
  const recipes = include.some((path) => path.includes('recipes'));
  return {
    server: { fs: { allow: ['..'] } },
    plugins: recipes ? await frameworks() : [],
    // Found late, they would have the page reloaded in the middle of a test.
    optimizeDeps: {
      include: [
        ...['lit', 'axe-core'],
        ...(recipes
          ? [
              ...['react', 'react-dom/client', 'react/jsx-dev-runtime', 'svelte', 'vue'],
              ...['@angular/compiler', '@angular/core', '@angular/platform-browser'],
            ]
          : []),
      ],
    },
    test: {
      name: 'beside',
      root: import.meta.dirname,
      include,
      globalSetup: SETUP,
      browser: inChromium(),
    },
  };
}

async function frameworks() {
  const [{ svelte }, { default: vue }] = await Promise.all([
    import('@sveltejs/vite-plugin-svelte'),
    import('@vitejs/plugin-vue'),
  ]);
  return [
    vue({ template: { compilerOptions: { isCustomElement: (tag) => tag.startsWith('psa-') } } }),
    svelte({ configFile: false }),
  ];
}

function inChromium(): BrowserConfigOptions {
  return {
    enabled: true,
    headless: true,
    screenshotFailures: false,
    provider: playwright({
      launchOptions: launchOptions('browser'),
      contextOptions: STILL,
    }),
    instances: [{ browser: 'chromium' }],
  };
}
