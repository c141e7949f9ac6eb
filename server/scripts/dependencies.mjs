import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root, run } from './progress.mjs';

/** Licences that ask for nothing but their own text. What has another stands below, by its name. */
const LICENCES = new Set([
  ...['MIT', 'MIT-0', 'ISC', '0BSD', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0', 'BlueOak-1.0.0'],
  ...['CC0-1.0', 'Unlicense', 'PostgreSQL', 'PSF-2.0', 'Python-2.0', 'Zlib'],
]);

/**
 * What else may be installed, by its name: tools of ours, which we change nothing of, and a typeface.
 * @type {Record<string, RegExp>}
 */
const BY_NAME = {
  'MPL-2.0': /^(?:axe-core|lightningcss(?:-[\w-]+)?)$/,
  'OFL-1.1': /^@fontsource-variable\/inter$/,
};

/** @typedef {{ name: string, version: string, licence: string, runsAtInstallation: boolean }} Installed */

/**
 * What is installed, whichever of our packages asks for it: no known hole of level high, a licence that binds nobody who
 * uses ours, and nothing that runs at its installation unless pnpm-workspace.yaml names it.
 *
 * @returns {Promise<{ ok: boolean, output: string }>}
 */
export async function dependencies() {
  const installed = findInstalled(join(root, 'node_modules/.pnpm'));
  if (installed.length === 0) return { ok: false, output: 'There is nothing installed to look at.' };
  const named = namedBuilds(readFileSync(join(root, 'pnpm-workspace.yaml'), 'utf8'));
  const wrong = [
    ...installed
      .filter(({ name, licence }) => !isFree(licence) && !BY_NAME[licence]?.test(name))
      .map(
        ({ name, version, licence }) =>
          `${name} ${version} has the licence ${licence || 'of nobody knows what'}`,
      ),
    ...installed
      .filter(({ name, runsAtInstallation }) => runsAtInstallation && !named.has(name))
      .map(
        ({ name, version }) =>
          `${name} ${version} has an install script, and pnpm-workspace.yaml does not name it`,
      ),
    ...(await knownHoles(installed)),
  ];
  return { ok: wrong.length === 0, output: wrong.join('\n') };
}

/** @param {string} folder pnpm's own, where each package lies once @returns {Installed[]} */
function findInstalled(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder).flatMap((entry) => {
    const inside = join(folder, entry, 'node_modules');
    if (entry === 'node_modules' || !existsSync(inside)) return [];
    const packages = directories(inside).flatMap((name) =>
      name.startsWith('@') ? directories(join(inside, name)).map((each) => `${name}/${each}`) : [name],
    );
    return packages.map((name) => readPackage(join(inside, name)));
  });
}

/** Not links: those lead to packages that lie elsewhere. @param {string} folder */
function directories(folder) {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== '.bin')
    .map(({ name }) => name);
}

/** @param {string} folder @returns {Installed} */
function readPackage(folder) {
  const {
    name,
    version,
    license,
    licenses,
    scripts = {},
  } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const licence =
    license?.type ?? license ?? licenses?.map((/** @type {any} */ each) => each.type ?? each).join(' OR ');
  const runsAtInstallation =
    ['preinstall', 'install', 'postinstall'].some((script) => script in scripts) ||
    existsSync(join(folder, 'binding.gyp'));
  return { name, version, licence: licence ?? '', runsAtInstallation };
}

/** Of an expression: any side of an OR, all of an AND. @param {string} licence @returns {boolean} */
function isFree(licence) {
  const [innermost, inside = ''] = /\(([^()]*)\)/.exec(licence) ?? [];
  if (innermost) return isFree(licence.replace(innermost, isFree(inside) ? 'MIT' : 'bound'));
  return licence.split(' OR ').some((side) => side.split(' AND ').every((name) => LICENCES.has(name.trim())));
}

/** Packages whose install scripts are allowed, or known and left out. @param {string} yaml */
function namedBuilds(yaml) {
  const lists = yaml.matchAll(
    /^(?:onlyBuiltDependencies|ignoredBuiltDependencies):\n((?:[ \t]+.*\n?|#.*\n)*)/gm,
  );
  return new Set(
    [...lists].flatMap(([, list = '']) =>
      [...list.matchAll(/^ *- *"?([^"\s]+)"?/gm)].map(([, name]) => name),
    ),
  );
}

/**
 * What npm knows of these versions. Where its registry does not answer, that is said and is nobody's fault.
 * @param {Installed[]} installed @returns {Promise<string[]>}
 */
async function knownHoles(installed) {
  const folder = mkdtempSync(join(tmpdir(), 'psa-audit-'));
  try {
    // npm reads its own kind of lock file: this one holds each package under a name of its own.
    const packages = installed.map(({ name, version }, index) => [
      `node_modules/p${index}`,
      { name, version },
    ]);
    const wanted = installed.map(({ name, version }, index) => [`p${index}`, `npm:${name}@${version}`]);
    const own = { name: 'installed', version: '0.0.0', dependencies: Object.fromEntries(wanted) };
    const lock = { ...own, lockfileVersion: 3, packages: { '': own, ...Object.fromEntries(packages) } };
    writeFileSync(join(folder, 'package.json'), JSON.stringify(own));
    writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lock));
    const { output } = await run('npm', ['audit', '--package-lock-only', '--audit-level=high', '--json'], {
      cwd: folder,
      quiet: true,
    });
    const found = vulnerabilities(output);
    if (found === null) {
      console.log('The registry does not answer: known holes were not looked for');
      return [];
    }
    return Object.values(found)
      .flatMap(({ via }) => via)
      .filter((each) => each.severity === 'high' || each.severity === 'critical')
      .map(({ name, severity, range, title }) => `${name} ${range} has a hole (${severity}): ${title}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * @typedef {{ name: string, severity: string, range: string, title: string }} Advisory
 * @param {string} output of npm: JSON, with warnings before it
 * @returns {Record<string, { via: (Advisory | any)[] }> | null} null where there is no answer
 */
function vulnerabilities(output) {
  try {
    return JSON.parse(output.slice(output.indexOf('{'), output.lastIndexOf('}') + 1)).vulnerabilities ?? null;
  } catch {
    return null;
  }
}
