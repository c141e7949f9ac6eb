import { resolve } from 'node:path';
import { defineConfig, type Plugin, type UserConfig } from 'vite';
import { showcase } from './demo/showcase.ts';
import { squeezeTemplates } from './scripts/squeeze-templates.ts';
import { removeUnusedLit } from './scripts/unused-lit.ts';

const here = (path: string) => resolve(import.meta.dirname, path);

/** The second try of a lost chunk in the script-tag bundles, which know the names of their files: `prefix` is their beginning. */
const besideEachOther = (prefix = 'psa-'): Plugin => ({
  name: 'chunks-beside-each-other',
  enforce: 'pre',
  resolveId: (source) => (source.endsWith('/import-again.ts') ? here('src/import-beside.ts') : null),
  transform: (code, id) =>
    id.endsWith('/import-beside.ts') ? code.replace('./psa-', `./${prefix}`) : undefined,
});

/** The document of the console once more, for addresses a level below: it names its files from there. */
const documentBelow: Plugin = {
  name: 'document-below',
  enforce: 'post',
  generateBundle(_, bundle) {
    const index = bundle['index.html'];
    if (index?.type !== 'asset') throw new Error('The console has no document');
    const source = String(index.source).replaceAll('"./', '"../');
    this.emitFile({ type: 'asset', fileName: 'one/index.html', source });
  },
};

/** A script-tag file contains Lit, whose licence has to be copied with it. */
const license = { fileName: 'lit.LICENSE.txt' };

/** The name of a chunk in the file of all elements, where chunks of several elements have one name. */
function boardChunk({ facadeModuleId, name }: { facadeModuleId?: string | null; name: string }): string {
  const element = /src\/(\w+)\/(?:locales\/)?[\w-]+\.ts$/.exec(facadeModuleId ?? '')?.[1];
  return element ? `psa-board.${element}.${name}.js` : `psa-board.${name}.js`;
}

// The builds by mode: `npm` for bundlers, `standalone…` for a script tag, `demo` for the pages at /demo and /simulator,
// `console` for those at /console.
export default defineConfig(({ mode, command }): UserConfig => {
  const plugins = command === 'build' ? [squeezeTemplates()] : [];
  if (mode === 'npm')
    return {
      plugins,
      build: {
        outDir: here('dist'),
        // The other builds write into it too: scripts/build.mjs removes the files of earlier builds.
        emptyOutDir: false,
        modulePreload: false,
        target: 'es2022',
        lib: {
          entry: {
            'psa-checkout': here('src/psa-checkout.ts'),
            define: here('src/define.ts'),
            'psa-payouts': here('src/payouts/psa-payouts.ts'),
            'define-payouts': here('src/payouts/define.ts'),
            'psa-wallet': here('src/wallet/psa-wallet.ts'),
            'define-wallet': here('src/wallet/define.ts'),
            'psa-sales': here('src/sales/psa-sales.ts'),
            'define-sales': here('src/sales/define.ts'),
            'psa-statement': here('src/statement/psa-statement.ts'),
            'define-statement': here('src/statement/define.ts'),
            'psa-disputes': here('src/disputes/psa-disputes.ts'),
            'define-disputes': here('src/disputes/define.ts'),
            'define-board': here('src/board/define.ts'),
            live: here('src/live/live.ts'),
            resume: here('src/live/resume.ts'),
            server: here('src/server/server.ts'),
            react: here('src/react/react.ts'),
            'react-payouts': here('src/react/react-payouts.ts'),
            'react-wallet': here('src/react/react-wallet.ts'),
            'react-sales': here('src/react/react-sales.ts'),
            'react-statement': here('src/react/react-statement.ts'),
            'react-disputes': here('src/react/react-disputes.ts'),
          },
          formats: ['es'],
        },
        rolldownOptions: {
          external: /^(lit|react)(\/|$)/,
          output: {
            chunkFileNames: 'chunks/[name].js',
            // A page of React's server components imports them.
            banner: ({ name }) => (name.startsWith('react') ? "'use client';" : ''),
          },
        },
      },
    };
  if (mode === 'standalone')
    return {
      plugins: [...plugins, removeUnusedLit(), besideEachOther()],
      build: {
        outDir: here('dist/standalone'),
        // The other element's build writes into it too: after this one, except where both are watched.
        emptyOutDir: !process.argv.includes('--watch'),
        modulePreload: false,
        license,
        target: 'es2022',
        lib: { entry: { 'psa-checkout': here('src/define.ts') }, formats: ['es'] },
        rolldownOptions: {
          // A constant that is used once is shorter than its name.
          optimization: { inlineConst: { mode: 'all', pass: 2 } },
          output: {
            // Vite keeps the white space of an ES library for tree shaking, which is done here already.
            minify: true,
            // The licence is a file of its own.
            comments: false,
            // No hash: a page that was loaded before a deploy must still find its chunks after it.
            chunkFileNames: 'psa-checkout.[name].js',
          },
        },
      },
    };
  // A separate build: in one build the elements would share Lit as a chunk, one request more for each.
  if (mode === 'standalone-payouts')
    return {
      plugins: [...plugins, removeUnusedLit(), besideEachOther()],
      build: {
        outDir: here('dist/standalone'),
        emptyOutDir: false,
        modulePreload: false,
        license,
        target: 'es2022',
        lib: { entry: { 'psa-payouts': here('src/payouts/define.ts') }, formats: ['es'] },
        rolldownOptions: {
          optimization: { inlineConst: { mode: 'all', pass: 2 } },
          output: { minify: true, comments: false, chunkFileNames: 'psa-payouts.[name].js' },
        },
      },
    };
  // The elements of a board in one file, because they share most of it, and their connection.
  if (mode === 'standalone-board')
    return {
      plugins: [...plugins, removeUnusedLit(), besideEachOther('psa-board.')],
      build: {
        outDir: here('dist/standalone'),
        emptyOutDir: false,
        modulePreload: false,
        license,
        target: 'es2022',
        lib: { entry: { 'psa-board': here('src/board/define.ts') }, formats: ['es'] },
        rolldownOptions: {
          optimization: { inlineConst: { mode: 'all', pass: 2 } },
          output: { minify: true, comments: false, chunkFileNames: boardChunk },
        },
      },
    };
  if (mode === 'console')
    return {
      root: here('console'),
      // A path of the server's public address may precede the page's.
      base: './',
      plugins: [...plugins, documentBelow],
      build: {
        outDir: here('dist/console'),
        emptyOutDir: true,
        modulePreload: false,
        // The page's policy is `default-src 'self'`, which blocks data: URLs.
        assetsInlineLimit: 0,
      },
    };
  return {
    root: here('demo'),
    base: '/demo/',
    plugins: [...plugins, showcase()],
    build: {
      outDir: here('dist/demo'),
      emptyOutDir: true,
      modulePreload: false,
      // The shop's policy is `default-src 'self'`, which blocks data: URLs.
      assetsInlineLimit: 0,
      rolldownOptions: {
        input: [
          'index.html',
          'thank-you.html',
          'gallery.html',
          'gallery-board.html',
          'simulator/index.html',
        ].map((page) => here(`demo/${page}`)),
      },
    },
    server: {
      proxy: {
        '^/(graphql|checkout|simulator/\\w|demo/(account|config)\\.json)': {
          target: 'http://localhost:4000',
          ws: true,
        },
      },
    },
  };
});
