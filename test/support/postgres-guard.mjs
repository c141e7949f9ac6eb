// Runs a PostgreSQL while the standard input of this process is open, which ends with the process that started it: a
// killed test run leaves no server behind. Prints the server's address as one line of JSON.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, chownSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { childrenCpuMs } from '../../server/scripts/progress.mjs';

const { bin, copy, user, settings = [] } = JSON.parse(process.argv[2] ?? '');
const folder = mkdtempSync(join(tmpdir(), 'psa-postgres-'));
if (user) chownSync(folder, user.uid, user.gid);
const data = join(folder, 'data');
/** The folder of the Unix socket; empty if the system has none, or if the path would be too long. */
const socket = process.platform === 'win32' || folder.length > 80 ? '' : folder;
/** The paths to remove at the end. */
const files = [folder, copy].filter(Boolean);

let stopping = false;
/** @type {import('node:child_process').ChildProcessWithoutNullStreams | undefined} */
let server;
process.stdin.resume().once('end', stop);

await run('initdb', [
  '-D',
  data,
  '-U',
  'postgres',
  '-A',
  'trust',
  '-E',
  'UTF8',
  '--locale=C.UTF-8',
  '--no-sync',
]);
if (!stopping) {
  const port = await freePort();
  server = start('postgres', [
    '-D',
    data,
    '-p',
    port,
    '-h',
    '127.0.0.1',
    '-k',
    socket,
    '-c',
    'max_connections=400',
    ...settings.flatMap((/** @type {string} */ setting) => ['-c', setting]),
  ]);
  for await (const line of createInterface({ input: server.stderr })) {
    if (line.includes('ready to accept connections')) {
      const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
      process.stdout.write(`${JSON.stringify({ url, socket })}\n`);
      break;
    }
  }
  server.stderr.resume();
}

async function stop() {
  stopping = true;
  if (server && server.exitCode === null) {
    // A server that is not durable ends without writing its data to the disk.
    server.kill(settings.length > 0 ? 'SIGQUIT' : 'SIGINT');
    await once(server, 'exit');
  }
  // The CPU time for the table at the end of a test run.
  if (process.env.PSA_TEST_REPORT)
    appendFileSync(`${process.env.PSA_TEST_REPORT}.postgres`, `${childrenCpuMs()}\n`);
  // A detached process removes the tens of thousands of files of hundreds of databases, so that nothing waits for it.
  const remove = `for (const path of ${JSON.stringify(files)}) fs.rmSync(path, { recursive: true, force: true })`;
  spawn(process.execPath, ['-e', remove], { detached: true, stdio: 'ignore' }).unref();
  process.exit();
}

/** @type {(program: string, parameters: string[]) => Promise<void>} */
async function run(program, parameters) {
  const child = start(program, parameters);
  let output = '';
  child.stdout.on('data', (text) => (output += text));
  child.stderr.on('data', (text) => (output += text));
  const [code] = await once(child, 'close');
  if (code !== 0) {
    process.stderr.write(output);
    for (const path of files) rmSync(path, { recursive: true, force: true });
    process.exit(1);
  }
}

/** @type {(program: string, parameters: string[]) => import('node:child_process').ChildProcessWithoutNullStreams} */
function start(program, parameters) {
  return spawn(join(bin, program), parameters, { ...user, cwd: folder, env: { LC_ALL: 'C', TZ: 'UTC' } });
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  server.close();
  await once(server, 'close');
  return String(port);
}
