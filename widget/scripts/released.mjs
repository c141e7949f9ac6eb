// The bundles of released versions, which the server serves for good at `/widget/<version>/`, and the markup that loads one.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';

const FOLDER = new URL('../released/', import.meta.url);
const HASHES = new URL('hashes.json', FOLDER);

/** @typedef {Record<string, Record<string, string>>} Hashes the hash of each file of each version */

/** The hashes as they were written with each release, oldest first. @returns {Hashes} */
export function readHashes() {
  return existsSync(HASHES) ? JSON.parse(readFileSync(HASHES, 'utf8')) : {};
}

/** The hashes of the files as they are. @returns {Hashes} */
export function hashFiles() {
  const versions = existsSync(FOLDER)
    ? readdirSync(FOLDER, { withFileTypes: true }).filter((entry) => entry.isDirectory())
    : [];
  return Object.fromEntries(versions.map(({ name }) => [name, hashVersion(name)]));
}

/** @param {string} version @returns {Record<string, string>} by name */
export function hashVersion(version) {
  const folder = new URL(`${version}/`, FOLDER);
  return Object.fromEntries(
    readdirSync(folder)
      .sort()
      .map((name) => [name, hashOf(readFileSync(new URL(name, folder)))]),
  );
}

/** @param {Buffer} content */
function hashOf(content) {
  return `sha384-${createHash('sha384').update(content).digest('base64')}`;
}

/** The newest of the released versions. */
export function newestVersion() {
  const newest = Object.keys(readHashes()).at(-1);
  if (!newest)
    throw new Error('No version of the widget is released: widget/released/hashes.json names none.');
  return newest;
}

/**
 * The markup that holds a page to the bytes of a released version.
 *
 * @param {object} options
 * @param {string} options.element
 * @param {string} options.origin the server's
 * @param {string} [options.version]
 */
export function scriptTag({ element, origin, version = newestVersion() }) {
  const hash = readHashes()[version]?.[`${element}.js`];
  return `<script
  type="module"
  src="${origin}/widget/${version}/${element}.js"
  integrity="${hash}"
  crossorigin="anonymous"
></script>
`;
}

/**
 * The import map with the hashes of what the element's first file loads. It stands before the first script of type module.
 *
 * @param {Parameters<typeof scriptTag>[0]} options
 */
export function importMap({ element, origin, version = newestVersion() }) {
  const lines = Object.entries(readHashes()[version] ?? {})
    .filter(([name]) => name.startsWith(`${element}.`) && /\.\w+\.js$/.test(name))
    // A chunk that did not load is retried under an address that the browser has not cached; see import-beside.ts.
    .flatMap(([name, hash]) =>
      [name, `${name}?again`].map((path) => `    "${origin}/widget/${version}/${path}": "${hash}"`),
    );
  return `<script type="importmap">
{
  "integrity": {
${lines.join(',\n')}
  }
}
</script>
`;
}
