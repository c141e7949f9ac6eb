import { parseArgs } from 'node:util';
import { runProgram } from '../../support/program.ts';
import { HTTP_CLIENTS, missingFor } from './clients.ts';
import { type Findings, tryClient } from './kit.ts';
import { APACHE, playApache } from './recorded.ts';
import { save } from './save.ts';

const USAGE = `Usage: npm run conformance -- http [--endpoint http://localhost:4000 --key ps_test_…]
  --client NAME     only this client; may be repeated: ${HTTP_CLIENTS.map(({ name }) => name).join(', ')},
                    ${APACHE}
  --save            writes what was found, and server/docs/clients.md with it

Makes one call of each kind with the HTTP clients of other languages, as Debian packages them. Without an address it starts
a server of its own. The key is an unrestricted one of an account for tests: the payments stay, and nobody pays them.
Nothing is installed: a client that is missing is named with its package, and fails the run.`;

const { values } = parseArgs({
  allowPositionals: true,
  options: {
    endpoint: { type: 'string' },
    key: { type: 'string' },
    client: { type: 'string', multiple: true },
    save: { type: 'boolean', default: false },
  },
});

const { endpoint, key, client: chosen } = values;
const known = [...HTTP_CLIENTS.map(({ name }) => name), APACHE];
const isAddress =
  endpoint === undefined || (URL.canParse(endpoint) && new URL(endpoint).protocol === 'http:');
if (
  !isAddress ||
  (endpoint === undefined) !== (key === undefined) ||
  chosen?.some((name) => !known.includes(name))
) {
  console.error(USAGE);
  process.exit(2);
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
  for (const each of HTTP_CLIENTS.filter(({ name }) => chosen?.includes(name) ?? true)) {
    const packages = missingFor(each);
    if (packages.length === 0) findings.push(await tryClient(each, server));
    else missing.push(`${each.name} is not here: install Debian’s ${packages.join(' and ')}.`);
  }
  if (chosen?.includes(APACHE) ?? true) findings.push(await playApache(server));
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
if (values.save) await save(findings);
process.exitCode = missing.length > 0 || findings.some(({ failed }) => failed.length > 0) ? 1 : 0;
