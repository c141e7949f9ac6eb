import { fileURLToPath } from 'node:url';
import { build, type Rolldown } from 'vite';

/** The path of no file: the plugin gives its text. Its folder decides where packages are found. */
const ENTRY = fileURLToPath(new URL('./page.js', import.meta.url));

/** Bundles a script with the packages that it imports, as a shop's build does. Returns the text of an inline script of type module. */
export async function bundle(script: string): Promise<string> {
  const [[, code] = []] = await bundleFiles(script);
  return code!.replaceAll('</script', '<\\/script');
}

/** Bundles in the same way. Returns the text of each file by its name, the script first. */
export async function bundleFiles(script: string): Promise<[name: string, code: string][]> {
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
  const { output } = result as Rolldown.RolldownOutput;
  return output.flatMap((each) => (each.type === 'chunk' ? [[each.fileName, each.code]] : []));
}
