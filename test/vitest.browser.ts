// The project whose tests run inside a page: the elements in a real Chromium, from their sources.
import { fileURLToPath } from 'node:url';
import { playwright } from '@vitest/browser-playwright';
import type { TestProjectInlineConfiguration } from 'vitest/config';
import { squeezeTemplates } from '../widget/scripts/squeeze-templates.ts';
import { CONTEXT, launchOptions } from './support/launch-options.ts';

/** The elements with the templates of their bundles, and the recipes for frameworks. */
export async function component(include: string[]): Promise<TestProjectInlineConfiguration> {
  const recipes = include.some((path) => path.includes('recipes'));
  const react = recipes || include.some((path) => path.endsWith('.tsx'));
  return {
    server: { fs: { allow: ['..'] } },
    plugins: [squeezeTemplates(), ...(recipes ? await frameworks() : [])],
    // Vite would reload the page in the middle of a test if it found these late.
    optimizeDeps: {
      include: [
        ...[
          'lit',
          'lit/directives/keyed.js',
          'lit/directives/ref.js',
          'lit/directives/repeat.js',
          'axe-core',
        ],
        ...(react ? ['react', 'react-dom/client', 'react-dom/server.browser', 'react/jsx-dev-runtime'] : []),
        ...(recipes
          ? [
              ...['svelte', 'vue', 'vue/server-renderer'],
              ...['@angular/compiler', '@angular/core', '@angular/platform-browser'],
            ]
          : []),
      ],
    },
    test: {
      name: 'component',
      root: import.meta.dirname,
      include,
      // The timeout ends a test that hangs: one that waits as long as patience.ts allows is only slow.
      testTimeout: 180_000,
      globalSetup: [fileURLToPath(new URL('widget/global-setup.ts', import.meta.url))],
      browser: {
        enabled: true,
        headless: true,
        screenshotFailures: false,
        provider: playwright({ launchOptions: launchOptions(), contextOptions: CONTEXT }),
        instances: [{ browser: 'chromium' }],
      },
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
