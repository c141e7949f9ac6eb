// Programs that run beside this process: the instances of `npm run cluster` and the proxy in front of them.
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';

const POLL_MS = 50;
/** The limit on one request, after which it is repeated. */
const ANSWER_MS = 5_000;

/** @typedef {import('node:child_process').ChildProcess} ChildProcess */

/** @param {ChildProcess} child */
export function hasEnded({ exitCode, signalCode }) {
  return exitCode !== null || signalCode !== null;
}

/**
 * Resolves when a program serves this URL.
 *
 * @param {ChildProcess} child @param {string} url @param {number} limitMs
 * @throws if the program ends, or does not serve the URL in time
 */
export async function whenServed(child, url, limitMs) {
  const deadline = performance.now() + limitMs;
  while (!(await isServed(url))) {
    if (hasEnded(child)) throw new Error('it ended');
    if (performance.now() > deadline) throw new Error(`it did not answer within ${limitMs / 1_000} s`);
    await wait(POLL_MS);
  }
}

/** @param {string} url @returns {Promise<boolean>} */
function isServed(url) {
  return fetch(url, { signal: AbortSignal.timeout(ANSWER_MS) }).then(
    async (response) => {
      await response.arrayBuffer();
      return response.ok;
    },
    () => false,
  );
}

/**
 * Ends a program with a signal, and kills it where it takes longer than `limitMs`.
 *
 * @param {ChildProcess} child @param {NodeJS.Signals} signal @param {number} limitMs
 */
export async function stop(child, signal, limitMs) {
  if (hasEnded(child)) return;
  const ended = once(child, 'exit');
  child.kill(signal);
  const killer = setTimeout(() => child.kill('SIGKILL'), limitMs);
  await ended;
  clearTimeout(killer);
}
