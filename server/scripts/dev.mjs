import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { ensureParts, RUNNABLE } from './build.mjs';
import { ensureInstalled } from './install.mjs';
import { endWithNpm, root } from './progress.mjs';
import { clearStamp } from './stamp.mjs';

endWithNpm();
await ensureInstalled();
await ensureParts([...RUNNABLE]);
// What the watchers write from here on is not what the stamp says.
clearStamp('built-widget');

let stopping = false;
const running = [
  start(
    'server',
    process.execPath,
    ['node_modules/tsx/dist/cli.mjs', 'watch', '--clear-screen=false', 'server/src/main.ts'],
    root,
  ),
  watchWidget('standalone'),
  watchWidget('standalone-payouts'),
  watchWidget('demo'),
];
process.on('SIGINT', () => stop(0));
process.on('SIGTERM', () => stop(0));

/** Keeps one of the widget's builds up to date. @param {string} mode */
function watchWidget(mode) {
  const vite = 'node_modules/vite/bin/vite.js';
  return start(
    `widget ${mode}`,
    process.execPath,
    [vite, 'build', '--mode', mode, '--watch'],
    join(root, 'widget'),
  );
}

/** @param {string} name @param {string} command @param {string[]} args @param {string} cwd */
function start(name, command, args, cwd) {
  // A process group of its own, so that what npm started ends with it.
  const child = spawn(command, args, {
    cwd,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    // Each change of a file starts the server again.
    env: { PSA_DRAIN_SECONDS: '0', ...process.env },
  });
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => stopping || console.log(`[${name}] ${line}`));
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
