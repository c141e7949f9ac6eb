import { resolve } from 'node:path';
import { defineConfig, type UserConfig } from 'vite';
import { vitrine } from './demo/vitrine.ts';
import { squeezeTemplates } from './scripts/squeeze-templates.ts';

const here = (path: string) => resolve(import.meta.dirname, path);
/** A script-tag file contains Lit, whose licence has to be copied with it. */
const license = { fileName: 'lit.LICENSE.txt' };

// Builds of one source: `npm` for bundlers, `standalone…` for a script tag, `demo` for the pages at /demo and /simulator.
export default defineConfig(({ mode, command }): UserConfig => {
  const plugins = command === 'build' ? [squeezeTemplates()] : [];
  if (mode === 'npm')
    return {
      plugins,
      build: {
        outDir: here('dist'),
        // The other builds stand there as well: scripts/build.mjs removes what this one has left.
        emptyOutDir: false,
        modulePreload: false,
        target: 'es2022',
        lib: {
          entry: {
            'psa-checkout': here('src/psa-checkout.ts'),
            define: here('src/define.ts'),
            'psa-payouts': here('src/payouts/psa-payouts.ts'),
            'define-payouts': here('src/payouts/define.ts'),
          },
          formats: ['es'],
        },
        rolldownOptions: {
          external: /^lit(\/|$)/,
          output: { chunkFileNames: 'chunks/[name].js' },
        },
      },
    };
  if (mode === 'standalone')
    return {
      plugins,
      build: {
        outDir: here('dist/standalone'),
        // The other element's build stands there as well; it is made after this one, but not where both are watched.
        emptyOutDir: !process.argv.includes('--watch'),
        modulePreload: false,
        license,
        target: 'es2022',
        lib: { entry: { 'psa-checkout': here('src/define.ts') }, formats: ['es'] },
        rolldownOptions: {
          // A number that is used once costs more by its name.
          optimization: { inlineConst: { mode: 'all', pass: 2 } },
          output: {
            // Vite leaves the white space of an ES library alone, for tree shaking that is over here.
            minify: true,
            // No hash: a page that was loaded before a deploy must still find its chunks after it.
            chunkFileNames: 'psa-checkout.[name].js',
          },
        },
      },
    };
  // A build of its own: together they would share Lit as a chunk, and a button would cost one request more.
  if (mode === 'standalone-payouts')
    return {
      plugins,
      build: {
        outDir: here('dist/standalone'),
        emptyOutDir: false,
        modulePreload: false,
        license,
        target: 'es2022',
        lib: { entry: { 'psa-payouts': here('src/payouts/define.ts') }, formats: ['es'] },
        rolldownOptions: {
          optimization: { inlineConst: { mode: 'all', pass: 2 } },
          output: { minify: true, chunkFileNames: 'psa-payouts.[name].js' },
        },
      },
    };
  return {
    root: here('demo'),
    base: '/demo/',
    plugins: [...plugins, vitrine()],
    build: {
      outDir: here('dist/demo'),
      emptyOutDir: true,
      modulePreload: false,
      // The shop runs under `default-src 'self'`, which lets no data: address in.
      assetsInlineLimit: 0,
      rolldownOptions: {
        input: ['index.html', 'obrigado.html', 'dashboard.html', 'gallery.html', 'simulator/index.html'].map(
          (page) => here(`demo/${page}`),
        ),
      },
    },
    server: {
      proxy: {
        '^/(graphql|checkout|simulator/\\w|demo/(dashboard/)?config\\.json|demo/dashboard/payouts)': {
          target: 'http://localhost:4000',
          ws: true,
        },
      },
    },
  };
});
