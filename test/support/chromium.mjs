import { basename } from 'node:path';
import { findProgram, installPackages, isExecutable } from './debian.mjs';
import { prepareFonts } from './fonts.mjs';

const BROWSERS = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'];
const DEBIANS_SHELL = 'chromium-headless-shell';
const SHELLS = [DEBIANS_SHELL, 'chrome-headless-shell'];
const APPLICATIONS = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];
/** The packages of Debian. Older releases have no headless shell. */
const PACKAGES = ['chromium', DEBIANS_SHELL];

/** Returns the variables by which tests find their browsers, or undefined without a browser. */
function findBrowsers() {
  const { CHROME_BIN } = process.env;
  const browser = CHROME_BIN || findProgram(BROWSERS, APPLICATIONS);
  if (!browser || !isExecutable(browser)) return undefined;
  // With CHROME_BIN no other browser is used.
  const shell = CHROME_BIN ? undefined : findProgram(SHELLS);
  return { CHROME_BIN: browser, ...(shell && { PSA_HEADLESS_SHELL: shell }), ...prepareFonts() };
}

/**
 * Finds Chromium, and its headless shell if it is installed, or installs Debian's if that needs no password.
 * @returns {Promise<{ variables: Record<string, string> } | { problem: string }>}
 */
export async function ensureChromium() {
  const { CHROME_BIN } = process.env;
  const found = findBrowsers();
  if (found) return { variables: found };
  if (CHROME_BIN) return { problem: `CHROME_BIN is ${CHROME_BIN}, which is not a program.` };
  await installPackages('Chromium', PACKAGES);
  const variables = findBrowsers();
  return variables
    ? { variables }
    : { problem: 'The browser tests need Chromium: install Debian’s package "chromium", or set CHROME_BIN.' };
}

/**
 * Whether pictures can be compared with their references. Another build of Chromium draws edges and shadows differently.
 *
 * @param {Record<string, string | undefined>} variables of `ensureChromium`
 */
export function drawsReferences({ PSA_HEADLESS_SHELL = '' }) {
  return basename(PSA_HEADLESS_SHELL) === DEBIANS_SHELL;
}
