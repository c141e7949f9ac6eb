import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pnpm } from './pnpm.mjs';
import { root, run } from './progress.mjs';

/** Licences that require nothing but their own text. */
const LICENCES = new Set([
  ...['MIT', 'MIT-0', 'ISC', '0BSD', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0', 'BlueOak-1.0.0'],
  ...['CC0-1.0', 'Unlicense', 'PostgreSQL', 'PSF-2.0', 'Python-2.0', 'Zlib'],
]);

/**
 * Packages with another licence that are allowed by name: tools, which are used unchanged, and typefaces. spawndamnit has
 * the MIT licence, and DejaVu that of Bitstream Vera, but only in a file.
 * @type {Record<string, RegExp>}
 */
const BY_NAME = {
  'MPL-2.0': /^(?:axe-core|lightningcss(?:-[\w-]+)?)$/,
  'OFL-1.1': /^@fontsource-variable\/inter$/,
  Unknown: /^(?:dejavu-fonts-ttf|spawndamnit)$/,
};

/** @typedef {{ name: string, versions: string[] }} Installed */

/**
 * Checks every installed package: a free licence, no known vulnerability of level high, and no install script that
 * pnpm-workspace.yaml neither allows nor ignores.
 *
 * @returns {Promise<{ ok: boolean, output: string }>}
 */
export async function dependencies() {
  const { output } = await pnpm(['licenses', 'list', '--json'], { quiet: true });
  /** @type {Record<string, Installed[]> | null} */
  const byLicence = readJson(output);
  if (byLicence === null) return { ok: false, output };
  const problems = [
    ...Object.entries(byLicence).flatMap(([licence, packages]) =>
      packages
        .filter(({ name }) => !isFree(licence) && !BY_NAME[licence]?.test(name))
        .map(({ name, versions }) => `${name} ${versions.join(', ')} has the licence ${licence}`),
    ),
    ...ignoredScripts().map(
      (name) => `${name} has an install script, and pnpm-workspace.yaml does not name it`,
    ),
    ...(await findVulnerabilities(Object.values(byLicence).flat())),
  ];
  return { ok: problems.length === 0, output: problems.join('\n') };
}

/** Evaluates a licence expression: any side of an OR, all of an AND. @param {string} licence @returns {boolean} */
function isFree(licence) {
  const [innermost, inside = ''] = /\(([^()]*)\)/.exec(licence) ?? [];
  if (innermost) return isFree(licence.replace(innermost, isFree(inside) ? 'MIT' : 'bound'));
  return licence.split(' OR ').some((side) => side.split(' AND ').every((name) => LICENCES.has(name.trim())));
}

/** The packages whose install scripts pnpm has not run, because pnpm-workspace.yaml does not name them. @returns {string[]} */
function ignoredScripts() {
  // pnpm writes this YAML file as JSON.
  return JSON.parse(readFileSync(join(root, 'node_modules/.modules.yaml'), 'utf8')).ignoredBuilds ?? [];
}

/**
 * Finds advisories of npm. pnpm 10 queries a route that the registry has retired, so npm audits a lock file of its own
 * kind, in which each package has a made-up place. A registry that does not answer is reported, and is a failure in CI alone: a machine
 * may be without a network.
 *
 * @param {Installed[]} installed @returns {Promise<string[]>}
 */
async function findVulnerabilities(installed) {
  const folder = mkdtempSync(join(tmpdir(), 'psa-audit-'));
  try {
    const packages = installed.flatMap(({ name, versions }) =>
      versions.map((version) => ({ name, version })),
    );
    const lockEntries = packages.map((each, index) => [`node_modules/p${index}`, each]);
    const aliases = packages.map(({ name, version }, index) => [`p${index}`, `npm:${name}@${version}`]);
    const own = { name: 'installed', version: '0.0.0', dependencies: Object.fromEntries(aliases) };
    const lock = { ...own, lockfileVersion: 3, packages: { '': own, ...Object.fromEntries(lockEntries) } };
    writeFileSync(join(folder, 'package.json'), JSON.stringify(own));
    writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lock));
    const args = ['audit', '--package-lock-only', '--audit-level=high', '--json'];
    // By default npm waits five minutes for a registry that is silent, three times.
    const patience = ['--fetch-retries=0', '--fetch-timeout=30000'];
    const { output } = await run('npm', [...args, ...patience], { cwd: folder, quiet: true });
    /** @type {{ via: { name: string, severity: string, range: string, title: string }[] }[] | null} */
    const found = readJson(output)?.vulnerabilities ?? null;
    if (found === null) {
      const problem = 'Known vulnerabilities were not checked: the registry does not answer';
      if (process.env.CI) return [problem];
      console.log(problem);
      return [];
    }
    return Object.values(found)
      .flatMap(({ via }) => via)
      .filter(({ severity }) => severity === 'high' || severity === 'critical')
      .map(
        ({ name, severity, range, title }) => `${name} ${range} has a vulnerability (${severity}): ${title}`,
      );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The JSON in the output of a program, which may print warnings before it; null if there is none. @param {string} output */
function readJson(output) {
  try {
    return JSON.parse(output.slice(output.indexOf('{'), output.lastIndexOf('}') + 1));
  } catch {
    return null;
  }
}
