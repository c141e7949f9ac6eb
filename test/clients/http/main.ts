import { parseArgs } from 'node:util';
import { runProgram } from '../../support/program.ts';
import { HTTP_CLIENTS, missingFor } from './clients.ts';
import { type Findings, tryClient } from './kit.ts';
import { APACHE, playApache } from './recorded.ts';
import { save } from './save.ts';

const KNOWN = [...HTTP_CLIENTS.map(({ name }) => name), APACHE];

const USAGE = `Usage: npm run conformance -- http [--endpoint http://localhost:4000 --key ps_test_…]
  --client NAME     only this client; may be repeated: ${HTTP_CLIENTS.map(({ name }) => name).join(', ')},
                    ${APACHE}
  --save            writes what was found, and server/docs/clients.md with it

Makes one call of each kind with the HTTP clients of other languages, as Debian packages them. Without an address it starts
a server of its own. The key is an unrestricted one of an account for tests: the payments stay, and nobody pays them.
Nothing is installed: a client that is missing is named with its package, and fails the run. The address begins with http:, for
the bytes of each client are relayed and read; in front of a server with TLS, use the address behind its proxy.`;

const options = readOptions();
if (!options) {
  console.error(USAGE);
  process.exit(2);
}
const { endpoint, key, clients, save: saves } = options;

function readOptions() {
  const values = parse();
  if (!values) return null;
  const { endpoint, key, client: clients, save } = values;
  const isAddress = endpoint === undefined || /^http:/.test(endpoint);
  const isWhole = (endpoint === undefined) === (key === undefined);
  if (!isAddress || !isWhole || clients.some((name) => !KNOWN.includes(name))) return null;
  return { endpoint, key, clients, save };
}

/** The options; null if one is unknown. */
function parse() {
  try {
    return parseArgs({
      options: {
        endpoint: { type: 'string' },
        key: { type: 'string' },
        client: { type: 'string', multiple: true, default: KNOWN },
        save: { type: 'boolean', default: false },
      },
    }).values;
  } catch {
    return null;
  }
}

const OWN_KEY = 'ps_live_conformance0123456789';
const program = endpoint
  ? null
  : runProgram({ PSA_DATA_DIR: 'memory', PSA_BOOTSTRAP_LIVE_KEY: OWN_KEY }, 'built');
const server = {
  url: endpoint ?? (await program!.started).replace('localhost', '127.0.0.1'),
  key: key ?? OWN_KEY,
};
const findings: Findings[] = [];
const missing: string[] = [];
try {
  for (const each of HTTP_CLIENTS.filter(({ name }) => clients.includes(name))) {
    const packages = missingFor(each);
    if (packages.length === 0) findings.push(await tryClient(each, server));
    else missing.push(`${each.name} is not here: install Debian’s ${packages.join(' and ')}.`);
  }
  if (clients.includes(APACHE)) findings.push(await playApache(server));
} finally {
  program?.child.kill('SIGTERM');
  await program?.exited;
}

for (const { client, version, passed, failed } of findings) {
  const sign = failed.length === 0 ? '✓' : '✗';
  console.log(
    `${sign} ${client} ${version}: ${passed.join(', ')}${failed.map((feature) => `; not ${feature}`).join('')}`,
  );
}
for (const line of missing) console.log(`✗ ${line}`);
if (saves) await save(findings);
process.exitCode = missing.length > 0 || findings.some(({ failed }) => failed.length > 0) ? 1 : 0;
