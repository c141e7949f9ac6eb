import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { run } from '../../server/scripts/progress.mjs';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'];
const APPLICATIONS = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

/** The path of a Chromium or Chrome on this machine: `CHROME_BIN`, or one that the PATH holds. */
function findChromium() {
  const { CHROME_BIN, PATH = '' } = process.env;
  if (CHROME_BIN) return isExecutable(CHROME_BIN) ? CHROME_BIN : undefined;
  const inPath = PATH.split(delimiter).flatMap((folder) => NAMES.map((name) => join(folder, name)));
  return [...inPath, ...APPLICATIONS].find(isExecutable);
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
 * Finds Chromium or, where that is possible without a question, installs Debian's.
 * @returns {Promise<{ path: string } | { problem: string }>}
 */
export async function ensureChromium() {
  const { CHROME_BIN } = process.env;
  const found = findChromium();
  if (found) return { path: found };
  if (CHROME_BIN) return { problem: `CHROME_BIN is ${CHROME_BIN}, which is not a program.` };
  const needed = 'The browser tests need Chromium: install Debian’s package "chromium", or set CHROME_BIN.';
  const asRoot = await rootPrefix();
  if (!asRoot) return { problem: needed };

  console.log('Installing Chromium with apt-get …');
  await aptGet(asRoot, ['update']);
  await aptGet(asRoot, ['install', '--yes', '--no-install-recommends', 'chromium']);
  const installed = findChromium();
  return installed ? { path: installed } : { problem: needed };
}

/** What to write before a command for it to run as root, or undefined where that would need a password. */
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
