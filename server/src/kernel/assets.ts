import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const isSource = import.meta.url.endsWith('.ts');

/** The sources; or the build's folder, which holds the bundle and, at the same places as the sources, their assets. */
const HOME = new URL(isSource ? '../' : './', import.meta.url);

/** The path of a file or folder that lies among the sources, such as `db/migrations`. */
export function assetPath(name: string): string {
  return fileURLToPath(new URL(name, HOME));
}

/** The path of a file that only a build makes. It may be missing. */
export function builtPath(name: string): string {
  return fileURLToPath(new URL(`../dist/${name}`, HOME));
}

/** The path of a file or folder of the widget's. */
export function widgetPath(name: string): string {
  return fileURLToPath(new URL(`../../widget/${name}`, HOME));
}

/** The path of a file in an installed package. */
export function packagePath(name: string): string {
  return createRequire(import.meta.url).resolve(name);
}

/** The program of a worker thread: a bundle, or from the sources `…-from-source.mjs`. */
export function workerPath(name: string): string {
  return assetPath(isSource ? `db/${name}-from-source.mjs` : `${name}.js`);
}
