import { accessSync, constants, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { root, run } from '../../server/scripts/progress.mjs';

/** Finds a program in the PATH, or else at one of these paths. @param {string[]} names @param {string[]} [paths] */
export function findProgram(names, paths = []) {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return [...folders.flatMap((folder) => names.map((name) => join(folder, name))), ...paths].find(
    isExecutable,
  );
}

/** @param {string} path */
export function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Installs packages with apt-get, if that needs no password. A failure shows in what is missing afterwards.
 * @param {string} what the name that is printed
 * @param {string[]} packages each is installed by itself: an older release may lack one
 */
export async function installPackages(what, packages) {
  const asRoot = await rootPrefix();
  if (!asRoot) return;
  console.log(`Installing ${what} with apt-get …`);
  await apt(asRoot, ['update']);
  for (const name of packages) await apt(asRoot, ['install', '--yes', '--no-install-recommends', name]);
}

/** The folder is removed with node_modules. */
const UNPACKED = join(root, 'node_modules', '.psa', 'debian');
const FOLDERS = [join(UNPACKED, 'usr/sbin'), join(UNPACKED, 'usr/bin'), '/usr/sbin'];

/** Finds nginx and Caddy, or unpacks Debian's. */
export function ensureProxies() {
  return ensureUnpacked('The tests behind proxies need nginx and Caddy', {
    nginx: { from: 'nginx', install: 'nginx-light' },
    caddy: { from: 'caddy', install: 'caddy' },
  });
}

/** Finds promtool, or unpacks Debian's. */
export function ensurePromtool() {
  return ensureUnpacked('The test of the rules for Prometheus needs promtool', {
    promtool: { from: 'prometheus', install: 'prometheus' },
  });
}

/** Finds systemd-analyze, or unpacks Debian's with the libraries that a small machine lacks. */
export function ensureSystemd() {
  const libraries = ['libsystemd-shared', 'libapparmor1', 'libip4tc2', 'libkmod2', 'libseccomp2'];
  return ensureUnpacked('The test of the unit for systemd needs systemd-analyze', {
    'systemd-analyze': { from: ['systemd', ...libraries], install: 'systemd' },
  });
}

/** Finds PgBouncer, or unpacks Debian's with the libraries that a small machine lacks. */
export function ensurePooler() {
  const libraries = ['libevent-2.1-7', 'libevent-2.1-7t64', 'libc-ares2', 'libcares2'];
  return ensureUnpacked('The test behind a pooler needs PgBouncer', {
    pgbouncer: { from: ['pgbouncer', ...libraries], install: 'pgbouncer' },
  });
}

/** Lists the folders of unpacked libraries, for the search path of the programs beside them. */
export function unpackedLibraryFolders() {
  const libraries = join(UNPACKED, 'usr/lib');
  const folders = existsSync(libraries) ? readdirSync(libraries, { withFileTypes: true }) : [];
  return folders
    .filter((each) => each.isDirectory())
    .flatMap(({ name }) => [join(libraries, name), join(libraries, name, 'systemd')]);
}

/**
 * Finds programs, or unpacks Debian's packages of them. They are not installed, because an installation would start
 * services of this machine.
 * @param {string} need a sentence for a person, without its end
 * @param {Record<string, { from: string | string[], install: string }>} programs the packages that are unpacked, and the one that a person installs
 * @returns {Promise<{ variables: Record<string, string> } | { problem: string }>}
 */
async function ensureUnpacked(need, programs) {
  const missing = () => Object.keys(programs).filter((name) => !findUnpacked(name));
  if (missing().length > 0) {
    console.log(`Unpacking Debian’s ${missing().join(' and ')} …`);
    await unpack(missing().flatMap((name) => programs[name]?.from ?? []));
  }
  if (missing().length === 0) return { variables: { PATH: [process.env.PATH, ...FOLDERS].join(delimiter) } };
  const packages = Object.values(programs).map(({ install }) => `"${install}"`);
  return { problem: `${need}: install Debian’s ${packages.join(' and ')}.` };
}

/** @param {string[]} packages */
async function unpack(packages) {
  const folder = mkdtempSync(join(tmpdir(), 'psa-debian-'));
  // Each package is downloaded by itself: another release may lack one.
  const download = async () => {
    const missing = [];
    for (const name of packages)
      if (!(await run('apt-get', ['download', name], { cwd: folder, quiet: true })).ok) missing.push(name);
    return missing.length === 0;
  };
  try {
    if (!(await download())) {
      const asRoot = await rootPrefix();
      if (asRoot) await apt(asRoot, ['update']);
      await download();
    }
    await run('sh', ['-c', 'for each in *.deb; do dpkg-deb --extract "$each" "$0"; done', UNPACKED], {
      cwd: folder,
      quiet: true,
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @param {string} name */
function findUnpacked(name) {
  return findProgram(
    [name],
    FOLDERS.map((folder) => join(folder, name)),
  );
}

/** The prefix that makes a command run as root, or undefined if that needs a password. */
async function rootPrefix() {
  if (process.getuid?.() === 0) return [];
  return (await run('sudo', ['-n', 'true'], { quiet: true })).ok ? ['sudo', '-n'] : undefined;
}

/** @param {string[]} asRoot @param {string[]} args */
function apt(asRoot, args) {
  const [command = 'apt-get', ...rest] = [
    ...asRoot,
    'env',
    'DEBIAN_FRONTEND=noninteractive',
    'apt-get',
    ...args,
  ];
  return run(command, rest);
}
