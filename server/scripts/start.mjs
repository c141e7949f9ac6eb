import { readFileSync } from 'node:fs';
import { ensureParts, RUNNABLE } from './build.mjs';
import { ensureInstalled } from './install.mjs';
import { endWithNpm, fail, isMain } from './progress.mjs';

const USAGE = `Usage: npm start                       for example: PORT=4200 PSA_DATA_DIR=memory npm start
       npm start -- --upstream URL    in front of the service at URL; the same as PSA_UPSTREAM_URL

Installs and builds what is not up to date, then starts the server. Ctrl-C stops it.
Without any configuration it is a payments service of its own, on http://localhost:4000/graphql.

Environment variables, with their defaults

${readFileSync(new URL('variables.txt', import.meta.url), 'utf8')}`;

/**
 * Reads the address of the service from `--upstream URL` or `--upstream=URL`. Ends the process at any other argument.
 *
 * @param {string[]} args @returns {string | undefined}
 */
function upstreamOf(args) {
  const [first, ...rest] = args;
  if (first === undefined) return undefined;
  const [, joined] = /^--upstream(?:=(.*))?$/s.exec(first) ?? fail(unknown(first));
  const [url, ...others] = joined === undefined ? rest : [joined, ...rest];
  if (!url || url.startsWith('-'))
    fail('--upstream needs the address of the service, as in npm start -- --upstream https://api.example');
  if (others[0] !== undefined) fail(unknown(others[0]));
  return url;
}

/** @param {string} argument */
function unknown(argument) {
  return `Unknown argument ${argument}: settings are environment variables, as in PORT=4200 npm start`;
}

if (isMain(import.meta.url)) {
  const args = process.argv.slice(2);
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(USAGE);
  } else {
    const upstream = upstreamOf(args);
    if (upstream !== undefined) process.env.PSA_UPSTREAM_URL = upstream;
    endWithNpm();
    await ensureInstalled();
    await ensureParts([...RUNNABLE]);
    // Outside production GraphQL and others check more and run slower.
    process.env.NODE_ENV ??= 'production';
    await import(new URL('../dist/main.js', import.meta.url).href);
  }
}
