import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { ensureBuilt } from './build.mjs';
import { ensureInstalled } from './install.mjs';
import { PNPM_BY_NPX } from './pnpm.mjs';
import { endWithNpm, root } from './progress.mjs';

endWithNpm();
await ensureInstalled();
await ensureBuilt();

let stopping = false;
const running = [
  start(
    'server',
    process.execPath,
    ['node_modules/tsx/dist/cli.mjs', 'watch', '--clear-screen=false', 'server/src/main.ts'],
    root,
  ),
  start('widget', ...widgetWatcher(), join(root, 'widget')),
];
process.on('SIGINT', () => stop(0));
process.on('SIGTERM', () => stop(0));

/** The package's own `watch` script where it has one: it knows whether there is one bundle or several. @returns {[string, string[]]} */
function widgetWatcher() {
  const { scripts } = JSON.parse(readFileSync(join(root, 'widget/package.json'), 'utf8'));
  return ['npx', [...PNPM_BY_NPX, 'run', ...(scripts.watch ? ['watch'] : ['build', '--watch'])]];
}

/** @param {string} name @param {string} command @param {string[]} args @param {string} cwd */
function start(name, command, args, cwd) {
  // A process group of its own, so that what npm started ends with it.
  const child = spawn(command, args, { cwd, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => console.log(`[${name}] ${line}`));
  }
  child.on('exit', () => stop(1));
  return child;
}

/** @param {number} code */
function stop(code) {
  if (stopping) return;
  stopping = true;
  process.exitCode = code;
  for (const child of running) {
    try {
      if (child.pid) process.kill(-child.pid, 'SIGTERM');
    } catch {
      // It has ended already.
    }
  }
}
