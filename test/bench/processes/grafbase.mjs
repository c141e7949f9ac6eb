// Grafbase in front of the service's GraphQL, set up as its documentation says: a router in Rust, in the form in which the npm
// registry has it, as the server of its command line.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { answerParent } from './answer.mjs';
import { cpuMicrosecondsOf } from './figures.mjs';
import { configOf, SERVICE_SCHEMA } from './grafbase-config.mjs';

/** The peer's own folder of packages, which is installed when it is needed. */
const installed = createRequire(new URL('../peers/grafbase/', import.meta.url));
const PACKAGE = '@grafbase/cli-x86_64-unknown-linux-musl/package.json';
const TRIES = 200;
const PAUSE_MS = 100;

/** @type {import('node:child_process').ChildProcess} */
let router;
const folder = mkdtempSync(join(tmpdir(), 'psa-grafbase-'));
process.on('exit', () => {
  router?.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

answerParent({
  async start({ upstream }) {
    const port = await freePort();
    const schema = join(folder, 'schema.graphql');
    const config = join(folder, 'grafbase.toml');
    writeFileSync(schema, SERVICE_SCHEMA);
    writeFileSync(config, configOf(upstream, schema));
    const program = join(dirname(installed.resolve(PACKAGE)), 'grafbase');
    router = spawn(program, ['dev', '--config', config, '--port', String(port)], {
      cwd: folder,
      env: { ...process.env, HOME: folder },
      stdio: 'ignore',
    });
    const url = `http://127.0.0.1:${port}`;
    for (let tries = 0; tries < TRIES; tries++) {
      if (await answers(`${url}/graphql`)) return { url };
      await wait(PAUSE_MS);
    }
    throw new Error('Grafbase does not answer');
  },
  cpu: () => cpuMicrosecondsOf(/** @type {number} */ (router.pid)),
});

/** @param {string} url */
async function answers(url) {
  const headers = { 'content-type': 'application/json' };
  return fetch(url, { method: 'POST', headers, body: '{"query":"{ __typename }"}' }).then(
    ({ ok }) => ok,
    () => false,
  );
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  server.close();
  await once(server, 'close');
  return port;
}
