import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs';
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
 * Installs packages with apt-get, where that needs no password. A failure is seen by what is missing afterwards.
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

/** Removed with node_modules. */
const UNPACKED = join(root, 'node_modules', '.psa', 'debian');
const PROXY_FOLDERS = [join(UNPACKED, 'usr/sbin'), join(UNPACKED, 'usr/bin'), '/usr/sbin'];

/**
 * Finds nginx and Caddy, or unpacks Debian's. They are not installed: that would start both as services of this machine.
 * @returns {Promise<{ variables: Record<string, string> } | { problem: string }>}
 */
export async function ensureProxies() {
  const missing = ['nginx', 'caddy'].filter((name) => !findProxy(name));
  if (missing.length > 0) {
    console.log(`Unpacking Debian’s ${missing.join(' and ')} …`);
    const folder = mkdtempSync(join(tmpdir(), 'psa-debian-'));
    const download = () => run('apt-get', ['download', ...missing], { cwd: folder, quiet: true });
    try {
      if (!(await download()).ok) {
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
  return ['nginx', 'caddy'].every(findProxy)
    ? { variables: { PATH: [process.env.PATH, ...PROXY_FOLDERS].join(delimiter) } }
    : {
        problem: 'The tests behind proxies need nginx and Caddy: install Debian’s "nginx-light" and "caddy".',
      };
}

/** @param {string} name */
function findProxy(name) {
  return findProgram(
    [name],
    PROXY_FOLDERS.map((folder) => join(folder, name)),
  );
}

/** The prefix that makes a command run as root, or undefined where that would need a password. */
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
