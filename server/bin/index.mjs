import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { environmentOfChild } from './starting.mjs';

const PROGRAM = fileURLToPath(new URL('./child.mjs', import.meta.url));

/** @type {typeof import('./index.d.mts').start} */
export async function start(variables = {}) {
  const child = spawn(process.execPath, [PROGRAM], {
    env: environmentOfChild(variables),
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const ended = once(child, 'close').then(([code]) => /** @type {number | null} */ (code));
  let said = '';
  const url = await new Promise((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text) => {
      said += text;
      if (said.includes('Ctrl-C')) resolve(/PSA is running at ([^\s,]+)/.exec(said)?.[1]);
    });
    ended.then((code) => reject(new Error(`The server ended with ${code}: see its output`)), reject);
  });
  const [live, sandbox] = ['live', 'test'].map((kind) => new RegExp(`\\bps_${kind}_\\S+`).exec(said)?.[0]);
  return {
    url,
    keys: live && sandbox ? { live, sandbox } : null,
    async stop() {
      child.kill();
      await ended;
    },
  };
}
