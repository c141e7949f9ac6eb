'use strict';
// Runs a script of the repository on a Node that suits its tools: `node server/scripts/runtime.cjs SCRIPT [ARGUMENT…]`.
// On an older Node it fetches a newer one from npm, once, and goes on with that. The older Node reads this file, so its
// syntax is old, and it uses nothing that has to be installed.
const { spawn, spawnSync } = require('node:child_process');
const { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } = require('node:fs');
const { join, resolve } = require('node:path');
const { pathToFileURL } = require('node:url');

const ROOT = join(__dirname, '..', '..');

/** The line of Node that the tools run on where the machine's is too old: that of .nvmrc. */
const LINE = '24';

/** The folder of the fetched Node. It is not in node_modules, which an install may empty. */
const FETCHED = join(ROOT, '.node');

/**
 * Whether the development tools run on this version. They ask for more than the published packages do, and refuse the
 * lines that get no more fixes: 23 and 25.
 *
 * @param {string} version
 */
function suitsTools(version) {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number);
  if (major === 22) return minor > 22 || (minor === 22 && patch >= 3);
  return (major === 24 && minor >= 15) || major >= 26;
}

/** Ends the process with one line. @param {string} message @returns {never} */
function fail(message) {
  process.stderr.write(`✗ ${message}\n`);
  return process.exit(1);
}

/** @param {string} folder of an install */
function programOf(folder) {
  const windows = process.platform === 'win32';
  return join(folder, 'node_modules', 'node', 'bin', windows ? 'node.exe' : 'node');
}

/**
 * The program of this version of Node, such as 24 or 22.12.0, which is fetched if it is not there.
 *
 * @param {string} version
 * @param {string} why the beginning of the line that says so
 */
function ensureFetched(version, why) {
  const folder = join(FETCHED, version);
  if (existsSync(programOf(folder))) return programOf(folder);

  process.stderr.write(`${why}Node ${version} is fetched from npm into .node, once …\n`);
  mkdirSync(FETCHED, { recursive: true });
  // Renamed when it is whole: a run that is cut off, or a second one beside it, leaves no half of an install.
  const fresh = mkdtempSync(join(FETCHED, 'fetching-'));
  try {
    const options = ['--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error'];
    const { status, error, stderr } = spawnSync(
      'npm',
      ['install', '--prefix', fresh, ...options, `node@npm:${packageOf(process)}@${version}`],
      {
        // The settings of the command that npm runs now, such as its folder, are not those of this install.
        env: withoutNpm(process.env),
        encoding: 'utf8',
        stdio: ['ignore', 'ignore', 'pipe'],
        // On Windows npm is a .cmd file, which only a shell starts.
        shell: process.platform === 'win32',
      },
    );
    if (error || status !== 0 || !existsSync(programOf(fresh))) {
      process.stderr.write(error ? `${error.message}\n` : stderr);
      rmSync(fresh, { recursive: true, force: true });
      fail(
        `Node ${version} could not be fetched from the npm registry (see above). Install it, or run this again.`,
      );
    }
    renameSync(fresh, folder);
  } catch (error) {
    rmSync(fresh, { recursive: true, force: true });
    if (!existsSync(programOf(folder))) throw error;
  }
  return programOf(folder);
}

/**
 * The package that npm's package `node` installs for a system. Its own install script, which newer versions of npm do not
 * run unasked, would choose it.
 *
 * @param {{ platform: string, arch: string }} system
 */
function packageOf({ platform, arch }) {
  return `node-${platform === 'win32' ? 'win' : platform}-${arch}`;
}

/** @param {NodeJS.ProcessEnv} env */
function withoutNpm(env) {
  const kept = Object.entries(env).filter(
    ([name]) => !/^npm_(?:lifecycle|package|command|config_local)/.test(name),
  );
  return Object.fromEntries(kept);
}

/**
 * Runs the script on another Node, and ends as it has ended. The channel between the two ends with this process, and
 * the script with the channel: `endWithParent` in ../bin/starting.mjs.
 *
 * @param {string} program
 * @param {string[]} args
 */
function runOn(program, args) {
  const child = spawn(program, [__filename, ...args], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: {
      ...withoutNpm(process.env),
      // npm and npx run on the Node that is first in the PATH.
      PATH: [join(program, '..'), process.env.PATH].join(process.platform === 'win32' ? ';' : ':'),
    },
  });
  const end = () => child.connected && child.disconnect();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, end);

  // A signal to npm ends npm and its shell, which does not pass it on.
  const shell = process.ppid;
  const watch = process.env.npm_lifecycle_event && setInterval(() => process.ppid !== shell && end(), 250);

  child.on('error', (error) => fail(`Node could not be started: ${error.message}`));
  child.on('exit', (code, signal) => {
    if (watch) clearInterval(watch);
    if (!signal) process.exit(code === null ? 1 : code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

/** Runs the script in this process. @param {string} script */
async function runHere(script) {
  // The script looks for its own name there.
  process.argv.splice(1, 1);
  process.argv[1] = resolve(ROOT, script);
  if (process.connected) {
    const { endWithParent } = await import('../bin/starting.mjs');
    endWithParent();
    // Its listener would keep a script that has done its work from ending.
    process.channel?.unref();
  }
  await import(pathToFileURL(process.argv[1]).href);
}

if (require.main === module) {
  const [script, ...args] = process.argv.slice(2);
  if (!script) fail('Usage: node server/scripts/runtime.cjs SCRIPT [ARGUMENT…]');
  else if (suitsTools(process.versions.node)) void runHere(script);
  else
    runOn(ensureFetched(LINE, `Node ${process.versions.node} is too old for the tools: `), [script, ...args]);
}

module.exports = { ensureFetched, suitsTools };
