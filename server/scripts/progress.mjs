import { spawn } from 'node:child_process';
import { readFileSync, realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The repository's folder, with a trailing slash. */
export const root = fileURLToPath(new URL('../../', import.meta.url));

/** Ends the process with one line, for a problem that the user can solve. @param {string} message @returns {never} */
export function fail(message) {
  console.error(`✗ ${message}`);
  process.exit(1);
}

/** The time that has passed, such as `2.1 s`. @param {number} startedMs a value of `performance.now()` */
export function since(startedMs) {
  return `${((performance.now() - startedMs) / 1000).toFixed(1)} s`;
}

/**
 * Runs a program in the repository's folder and resolves when it has ended. Its output is printed as it arrives, or, with
 * `quiet`, returned, so that a success takes one line.
 *
 * @param {string} command
 * @param {string[]} args
 * @param {{ cwd?: string, env?: Record<string, string>, quiet?: boolean }} [options]
 * @returns {Promise<{ ok: boolean, output: string }>}
 */
export function run(command, args, { cwd = root, env = {}, quiet = false } = {}) {
  return new Promise((resolve) => {
    let output = '';
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: quiet ? ['ignore', 'pipe', 'pipe'] : ['ignore', 'inherit', 'inherit'],
      // On Windows npm and npx are .cmd files, which only a shell starts.
      shell: process.platform === 'win32' && /^np[mx]$/.test(command),
    });
    // A chunk may end inside of a character.
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (chunk) => (output += chunk));
    child.on('error', (error) => resolve({ ok: false, output: `${output}${command}: ${error.message}\n` }));
    child.on('close', (code) => resolve({ ok: code === 0, output }));
  });
}

/** Runs a JavaScript file as `run` does. @param {string} file @param {string[]} args @param {Parameters<typeof run>[2]} [options] */
export function runNode(file, args, options) {
  return run(process.execPath, [file, ...args], options);
}

/** Runs a TypeScript file of the repository, and returns its output. @param {string} file */
export function runTypeScript(file) {
  return runNode('node_modules/tsx/dist/cli.mjs', [file], { quiet: true });
}

/**
 * Runs a step and prints its result in one line. The output is printed before it, and only if the step has failed.
 *
 * @param {string} name
 * @param {() => Promise<{ ok: boolean, output: string }>} work
 * @returns {Promise<{ name: string, ok: boolean, took: string }>}
 */
export async function step(name, work) {
  const started = performance.now();
  if (process.stdout.isTTY) process.stdout.write(`… ${name}\r`);
  const { ok, output } = await work();
  const took = since(started);
  if (!ok) console.error(output.trimEnd());
  console.log(`${ok ? '✓' : '✗'} ${name} in ${took}`);
  return { name, ok, took };
}

/** The CPU milliseconds of this process's ended children and of their children; 0 if the system does not count them. */
export function childrenCpuMs() {
  try {
    const [, fields = ''] = readFileSync('/proc/self/stat', 'utf8').split(') ');
    // In hundredths of a second.
    const [user = 0, system = 0] = fields.split(' ').slice(13, 15).map(Number);
    return (user + system) * 10;
  } catch {
    return 0;
  }
}

/** Whether the module at this URL is the program that was started. @param {string} url */
export function isMain(url) {
  const started = process.argv[1];
  return started !== undefined && realpathSync(started) === fileURLToPath(url);
}
