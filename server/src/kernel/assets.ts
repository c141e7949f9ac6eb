import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const isSource = import.meta.url.endsWith('.ts');

/** The folder of the sources; in a build, the folder of the bundle, which has their assets at the same paths. */
const BASE = new URL(isSource ? '../' : './', import.meta.url);

/** The path of a file or folder that lies among the sources, such as `db/migrations`. */
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

/** The path of a file or folder of the widget. */
export function widgetPath(name: string): string {
  return fileURLToPath(new URL(`../../widget/${name}`, BASE));
}

/** The path of a file in an installed package. */
export function packagePath(name: string): string {
  return createRequire(import.meta.url).resolve(name);
}

/** The path of a worker thread's program: a bundle, or in the sources `db/…-from-source.mjs`. */
export function workerPath(name: string): string {
  return assetPath(isSource ? `db/${name}-from-source.mjs` : `${name}.js`);
}
