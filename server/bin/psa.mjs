#!/usr/bin/env node
// The program of the package: without a command it starts the server; a command is one of psa's, such as `keys list`.
import { endWithNpm, readStartArguments, serverVersion, startHelp, unsuitableNode } from './starting.mjs';

const NAMES = { command: 'npx @psa/server', withOptions: 'npx @psa/server' };

/** @param {string} message @returns {never} */
function fail(message) {
  console.error(`✗ ${message}`);
  process.exit(1);
}

const unsuitable = unsuitableNode(process.versions.node);
if (unsuitable) fail(unsuitable);

const args = process.argv.slice(2);
// Outside production GraphQL and others check more and run slower.
process.env.NODE_ENV ??= 'production';
if (args[0] && !args[0].startsWith('-')) {
  endWithNpm();
  await import(new URL('../dist/psa.js', import.meta.url).href);
} else if (args[0] === '--version' || args[0] === '-V') {
  console.log(serverVersion());
} else if (args.includes('--help') || args.includes('-h')) {
  process.stdout.write(startHelp({ ...NAMES, about: 'Starts the server. Ctrl-C stops it.' }));
  process.stdout.write('\nAccounts, API keys, backup and restore: npx @psa/server help\n');
} else {
  const { upstream, problem } = readStartArguments(args, NAMES);
  if (problem) fail(problem);
  if (upstream) process.env.PSA_UPSTREAM_URL = upstream;
  endWithNpm();
  await import(new URL('../dist/main.js', import.meta.url).href);
}
