import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const isSource = import.meta.url.endsWith('.ts');

/** The folder of the sources; in a build, the folder of the bundle, which has their assets at the same paths. */
const BASE = new URL(isSource ? '../' : './', import.meta.url);

/** The path of a file or folder that lies among the sources, such as `state/db/migrations`. */
export function assetPath(name: string): string {
  return fileURLToPath(new URL(name, BASE));
}

/** The version of this program, from the package.json above the sources or the bundle. */
export function programVersion(): string {
  return (JSON.parse(readFileSync(assetPath('../package.json'), 'utf8')) as { version: string }).version;
}

/** The path of a file that only a build creates; it may be missing. */
export function builtPath(name: string): string {
  return fileURLToPath(new URL(`../dist/${name}`, BASE));
}

/**
 * Whether this is the packed server, as npm or an image installs it: it has the programs, but not the scripts
 * that build them.
 */
const isPacked = !isSource && !existsSync(new URL('../scripts/build.mjs', BASE));

/**
 * The commands of a server that has these files, which differ between a clone, an npm package and an image.
 */
export function commandsOf(has: (file: string) => boolean): { start: string; psa: string } {
  if (has('scripts/build.mjs')) return { start: 'npm start', psa: 'npm run psa --' };
  if (has('bin/psa.mjs')) return { start: 'npx @psa/server', psa: 'npx @psa/server' };
  return { start: 'node server/dist/main.js', psa: 'node server/dist/psa.js' };
}

/** The commands that start the server, and the psa command, as messages name them. */
export const { start: START_COMMAND, psa: PSA_COMMAND } = commandsOf((file) =>
  existsSync(new URL(`../${file}`, BASE)),
);

/** The path of a file or folder of the widget: the packed server contains them, and in the repository they lie beside it. */
export function widgetPath(name: string): string {
  return fileURLToPath(new URL(`${isPacked ? '../widget' : '../../widget'}/${name}`, BASE));
}

/** The path of a file of another package that is served as it is, such as `swagger-ui-dist/swagger-ui.css`. */
export function vendoredPath(name: string): string {
  return isSource ? createRequire(import.meta.url).resolve(name) : assetPath(`vendor/${name}`);
}

/** The path of a worker thread's program: a bundle, or in the sources `state/db/…-from-source.mjs`. */
export function workerPath(name: string): string {
  return assetPath(isSource ? `state/db/${name}-from-source.mjs` : `${name}.js`);
}
