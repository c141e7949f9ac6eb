import { spawn } from 'node:child_process';
import { endWithNpm } from '../bin/starting.mjs';
import { ensureParts, RUNNABLE } from './build.mjs';
import { ensureInstalled } from './install.mjs';
import { root } from './progress.mjs';
import { clearStamp } from './stamp.mjs';

endWithNpm();
await ensureInstalled();
await ensureParts([...RUNNABLE]);
// The watchers overwrite the build that the stamp describes.
clearStamp('built-widget');

const WATCHERS = [
  ['node_modules/tsx/dist/cli.mjs', 'watch', '--clear-screen=false', 'server/src/programs/main.ts'],
  ['widget/scripts/build.mjs', 'pages', '--watch'],
];
const children = WATCHERS.map((args) =>
  spawn(process.execPath, args, {
    cwd: root,
    // Detached from Ctrl-C, because tsx kills the server at the second signal.
    detached: true,
    stdio: ['ignore', 'inherit', 'inherit'],
    // Each change of a file restarts the server.
    env: { PSA_DRAIN_SECONDS: '0', ...process.env },
  }),
);

let stopping = false;
/** @param {number} code */
function stop(code) {
  if (stopping) return;
  stopping = true;
  process.exitCode = code;
  for (const child of children) child.kill('SIGTERM');
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => stop(0));
for (const child of children) child.on('exit', () => stop(1));
