import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { run } from '../../server/scripts/progress.mjs';

const BROWSERS = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'];
const SHELLS = ['chromium-headless-shell', 'chrome-headless-shell'];
const APPLICATIONS = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];
/** The packages of Debian. Older releases have no headless shell. */
const PACKAGES = ['chromium', 'chromium-headless-shell'];

/** Finds a program in the PATH, or else at one of these paths. @param {string[]} names @param {string[]} [paths] */
function find(names, paths = []) {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return [...folders.flatMap((folder) => names.map((name) => join(folder, name))), ...paths].find(
    isExecutable,
  );
}

/** Returns the variables by which tests find their browsers, or undefined where there is no browser. */
function findBrowsers() {
  const { CHROME_BIN } = process.env;
  const browser = CHROME_BIN || find(BROWSERS, APPLICATIONS);
  if (!browser || !isExecutable(browser)) return undefined;
  // With CHROME_BIN no other browser is used.
  const shell = CHROME_BIN ? undefined : find(SHELLS);
  return { CHROME_BIN: browser, ...(shell && { PSA_HEADLESS_SHELL: shell }) };
}

/** @param {string} path */
function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Finds Chromium, and its headless shell where there is one, or installs Debian's where that needs no password.
 * @returns {Promise<{ variables: Record<string, string> } | { problem: string }>}
 */
export async function ensureChromium() {
  const { CHROME_BIN } = process.env;
  const found = findBrowsers();
  if (found) return { variables: found };
  if (CHROME_BIN) return { problem: `CHROME_BIN is ${CHROME_BIN}, which is not a program.` };
  const asRoot = await rootPrefix();
  if (asRoot) {
    console.log('Installing Chromium with apt-get …');
    await aptGet(asRoot, ['update']);
    for (const name of PACKAGES) await aptGet(asRoot, ['install', '--yes', '--no-install-recommends', name]);
  }
  const variables = findBrowsers();
  return variables
    ? { variables }
    : { problem: 'The browser tests need Chromium: install Debian’s package "chromium", or set CHROME_BIN.' };
}

/** The prefix that makes a command run as root, or undefined where that would need a password. */
async function rootPrefix() {
  if (process.getuid?.() === 0) return [];
  return (await run('sudo', ['-n', 'true'], { quiet: true })).ok ? ['sudo', '-n'] : undefined;
}

/** @param {string[]} asRoot @param {string[]} args */
function aptGet(asRoot, args) {
  const [command = 'apt-get', ...rest] = [
    ...asRoot,
    'env',
    'DEBIAN_FRONTEND=noninteractive',
    'apt-get',
    ...args,
  ];
  return run(command, rest);
}
