import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { findProgram, installPackages, isExecutable } from './debian.mjs';
import { prepareFonts } from './fonts.mjs';

/** WebKit's own small browser, which is a part of the library and in no PATH. */
function findMiniBrowser() {
  const folders = ['/usr/lib', ...foldersIn('/usr/lib')].flatMap((folder) =>
    ['webkit2gtk-4.1', 'webkitgtk-6.0', 'webkit2gtk-4.0'].map((name) => join(folder, name)),
  );
  return folders.map((folder) => join(folder, 'MiniBrowser')).find(isExecutable);
}

const PYTHON = '/usr/bin/python3';

/** @param {string} name of a module of Debian's Python */
function findPythonWith(name) {
  return existsSync(`/usr/lib/python3/dist-packages/${name}`) && isExecutable(PYTHON) ? PYTHON : undefined;
}

/** The types by which another language calls WebKit. */
function findWebViewTypes() {
  return foldersIn('/usr/lib')
    .map((folder) => join(folder, 'girepository-1.0', 'WebKit2-4.1.typelib'))
    .find(existsSync);
}

/** @param {string} path */
function foldersIn(path) {
  try {
    return readdirSync(path).map((name) => join(path, name));
  } catch {
    return [];
  }
}

/** The programs of the engines beside Chromium, by the variable that names each, and the package of Debian that has it. */
const PROGRAMS = /** @type {const} */ ([
  { variable: 'PSA_FIREFOX', debian: 'firefox-esr', find: () => findProgram(['firefox-esr', 'firefox']) },
  {
    variable: 'PSA_WEBKIT_DRIVER',
    debian: 'webkit2gtk-driver',
    find: () => findProgram(['WebKitWebDriver']),
  },
  { variable: 'PSA_MINI_BROWSER', debian: 'libwebkit2gtk-4.1-0', find: findMiniBrowser },
  { variable: 'PSA_XVFB', debian: 'xvfb', find: () => findProgram(['Xvfb']) },
  // A program of Debian's Python opens the app with a web view: no other Python has its modules.
  { variable: 'PSA_GTK_PYTHON', debian: 'python3-gi', find: () => findPythonWith('gi') },
  { variable: 'PSA_WEB_VIEW', debian: 'gir1.2-webkit2-4.1', find: findWebViewTypes },
]);

/**
 * Finds Firefox and WebKit, or installs Debian's if that needs no password.
 * @returns {Promise<{ variables: Record<string, string> } | { problem: string }>}
 */
export async function ensureEngines() {
  const missing = () => PROGRAMS.filter(({ find }) => !find()).map(({ debian }) => debian);
  const absent = missing();
  if (absent.length > 0) await installPackages('Firefox and WebKit', absent);
  const still = missing();
  if (still.length > 0)
    return {
      problem: `The tests in three browsers need Firefox and WebKit: install Debian’s ${still.map((name) => `"${name}"`).join(', ')}.`,
    };
  const found = PROGRAMS.map(({ variable, find }) => [variable, find() ?? '']);
  return { variables: { ...Object.fromEntries(found), ...prepareFonts() } };
}
