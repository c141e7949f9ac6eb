import { readFileSync } from 'node:fs';

/**
 * The reason why this version of Node does not suit, or undefined. Node 23 gets no more fixes, and 22 before 22.12 lacks `require` of modules.
 * @param {string} version
 */
export function unsuitableNode(version) {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isSuitable = (major === 22 && minor >= 12) || major >= 24;
  return isSuitable ? undefined : `Node 22.12, 24 or newer is needed; this is Node ${version}.`;
}

/** The version of the server. */
export function serverVersion() {
  return /** @type {{ version: string }} */ (
    JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  ).version;
}

/**
 * The help of the command that starts the server.
 * @param {{ command: string, withOptions: string, about: string }} names the command, alone and before options, and what it does
 */
export function startHelp({ command, withOptions, about }) {
  const wide = Math.max(command.length, `${withOptions} --upstream URL`.length) + 4;
  return `Usage: ${command.padEnd(wide)}for example: PORT=4200 PSA_DATA_DIR=memory ${command}
       ${`${withOptions} --upstream URL`.padEnd(wide)}in front of the service at URL; the same as PSA_UPSTREAM_URL

${about}
Without any configuration it is a payments service of its own, on http://localhost:4000/graphql.

Environment variables, with their defaults

${readFileSync(new URL('../scripts/variables.txt', import.meta.url), 'utf8')}`;
}

/**
 * Reads the address of the service from `--upstream URL` or `--upstream=URL`.
 *
 * @param {string[]} args
 * @param {{ command: string, withOptions: string }} names
 * @returns {{ upstream?: string, problem?: string }}
 */
export function readStartArguments([first, ...rest], { command, withOptions }) {
  const unknown = (/** @type {string} */ argument) => ({
    problem: `Unknown argument ${argument}: settings are environment variables, as in PORT=4200 ${command}`,
  });
  if (first === undefined) return {};
  const match = /^--upstream(?:=(.*))?$/s.exec(first);
  if (!match) return unknown(first);
  const [upstream, ...others] = match[1] === undefined ? rest : [match[1], ...rest];
  if (!upstream || upstream.startsWith('-'))
    return {
      problem: `--upstream needs the address of the service, as in ${withOptions} --upstream https://api.example`,
    };
  return others[0] === undefined ? { upstream } : unknown(others[0]);
}

/** Whether a signal has come that ends this process, or it has sent itself one. */
let isEnding = false;

/**
 * Sends this process a SIGTERM, unless one has come already, as to a whole process group: a second signal would end it
 * while it answers its last requests.
 */
function end() {
  if (isEnding) return;
  isEnding = true;
  process.kill(process.pid, 'SIGTERM');
}

function noticeSignals() {
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']))
    process.once(signal, () => {
      isEnding = true;
      // Nothing else handles it yet: it ends this process, as without this listener.
      if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
    });
}

/**
 * Ends this process when npm or npx has ended. A signal to `npm start` ends npm and the shell between them, which does not
 * pass it on: the server would keep running, with its port and its data.
 */
export function endWithNpm() {
  if (!process.env.npm_lifecycle_event) return;
  noticeSignals();
  const shell = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === shell) return;
    clearInterval(watch);
    end();
  }, 250);
  watch.unref();
}

/** Ends this process when the one that has started it, with a channel between them, has ended in any way. */
export function endWithParent() {
  noticeSignals();
  // A signal to the process group of both comes before the end of the channel, or a little later.
  process.once('disconnect', () => setTimeout(end, 250));
}

/**
 * The environment of a server that a program starts. No proxy is in front of it that has to see it drain, and its program
 * waits for the stop.
 * @param {Readonly<Record<string, string>>} variables
 */
export function environmentOfChild(variables) {
  return { PSA_DRAIN_SECONDS: '0', ...process.env, ...variables };
}
