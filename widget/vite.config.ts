import { resolve } from 'node:path';
import { defineConfig, type Plugin, type UserConfig } from 'vite';

const here = (path: string) => resolve(import.meta.dirname, path);

// Three builds of one source: `npm` for bundlers, `standalone` for a script tag, `demo` for the pages at /demo and /simulator.
export default defineConfig(({ mode, command }): UserConfig => {
  const plugins = command === 'build' && mode !== 'npm' ? [squeezeTemplates()] : [];
  if (mode === 'npm')
    return {
      plugins,
      build: {
        outDir: here('dist'),
        emptyOutDir: false,
        modulePreload: false,
        target: 'es2022',
        lib: {
          entry: { 'psa-checkout': here('src/psa-checkout.ts'), define: here('src/define.ts') },
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
        modulePreload: false,
        target: 'es2022',
        lib: { entry: { 'psa-checkout': here('src/define.ts') }, formats: ['es'] },
        rolldownOptions: {
          output: {
            // Vite leaves the white space of an ES library alone, for tree shaking that is over here.
            minify: true,
            // No hash: a page that was loaded before a deploy must still find its chunks after it.
            chunkFileNames: 'psa-checkout.[name].js',
          },
        },
      },
    };
  return {
    root: here('demo'),
    base: '/demo/',
    plugins,
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

/** No minifier touches what stands between backticks; a fifth of the bundle is indentation there. */
function squeezeTemplates(): Plugin {
  return {
    name: 'squeeze-templates',
    transform(code, id) {
      if (id.endsWith('.styles.ts'))
        return code.replace(/css`([^`]*)`/g, (_, css: string) => {
          const short = css
            .replace(/\s+/g, ' ')
            .replace(/ ?([{};,>]) ?/g, '$1')
            .replace(/: /g, ':')
            .replace(/;}/g, '}');
          return `css\`${short.replace(/\b0\./g, '.').trim()}\``;
        });
      if (/\/src\/(psa-checkout|panel)\.ts$/.test(id))
        return code
          .replace(/([>}])\s*\n\s*(?=[<$])/g, '$1')
          .replace(/(html`|">)\s*\n\s*(?=[<$])/g, '$1')
          .replace(/(<\w+|")\s*\n\s*(?=[@?\w-]+=|>)/g, '$1 ')
          .replace(/(>|})\s*\n\s*`/g, '$1`');
      return undefined;
    },
    generateBundle(_, bundle) {
      // Notes to bundlers, which a finished bundle has no use for.
      for (const file of Object.values(bundle))
        if (file.type === 'chunk')
          file.code = file.code.replace(/\s*\/\* (@__PURE__|@vite-ignore) \*\/\s*/g, ' ');
    },
  };
}
