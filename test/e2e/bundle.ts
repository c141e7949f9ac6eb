import { fileURLToPath } from 'node:url';
import { build, type Rolldown } from 'vite';

const ENTRY = fileURLToPath(new URL('./page.js', import.meta.url));

/** Bundles a page's script with the packages that it imports, as a shop's own build does; the result goes into its HTML. */
export async function bundle(script: string): Promise<string> {
  const result = await build({
    root: fileURLToPath(new URL('..', import.meta.url)),
    configFile: false,
    logLevel: 'error',
    define: { 'globalThis.__DEV__': 'false' },
    build: { write: false, minify: true, rolldownOptions: { input: ENTRY } },
    plugins: [
      {
        name: 'page',
        resolveId: (id) => (id === ENTRY ? ENTRY : null),
        load: (id) => (id === ENTRY ? script : null),
      },
    ],
  });
  const [chunk] = (result as Rolldown.RolldownOutput).output;
  return chunk.code.replaceAll('</script', '<\\/script');
}
