import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, vi } from 'vitest';
import { ensurePeer, type PeerName } from '../bench/peers/install.ts';
import { freePort } from '../support/free-port.ts';

const execute = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));

/** A shop's project: a page with one element, which reads its endpoint and token from the page's address. */
export interface Project {
  /** The folder of test/bench/peers with its packages, at the versions of the lock file there. */
  packages: PeerName;
  files: Record<string, string>;
  /** The programs that build it, from a package or from the project, with their arguments. */
  build: [program: string, ...args: string[]][];
  /** The folder with the build, or the program that serves it. */
  serve: { folder: string } | { program: [program: string, ...args: string[]] };
  env?: Record<string, string>;
  /** Whether a lost chunk is requested again: false without chunks, and for a bundler that caches the failure. */
  hasSecondTry?: boolean;
  /** Whether the page shows the sales and disputes of the account whose `dashboard` token its address has. */
  hasBoard?: boolean;
}

export interface RunningProject {
  readonly url: string;
  close(): Promise<void>;
}

/** Packs `@psa/checkout` and unpacks it, as npm installs it. Returns its folder. */
export async function packCheckout(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'psa-packed-'));
  await execute('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: join(root, 'widget') });
  const [tarball = ''] = await readdir(folder);
  await execute('tar', ['xzf', tarball], { cwd: folder });
  return join(folder, 'package');
}

/** Installs the packages of a project, and builds it with the packed element. Returns its folder. */
export async function buildProject(
  name: string,
  { packages, files, build, env }: Omit<Project, 'serve'>,
  checkout: string,
): Promise<string> {
  expect(await ensurePeer(packages)).not.toBeNull();
  // The project lies below the folder of its packages, so that it finds them.
  const folder = join(folderOf(packages), '.shops', name.replaceAll(/\W+/g, '-'));
  await rm(folder, { recursive: true, force: true });
  await cp(checkout, join(folder, 'node_modules/@psa/checkout'), { recursive: true });
  const written = { 'package.json': '{ "private": true, "type": "module" }', ...files };
  for (const [file, content] of Object.entries(written)) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), content.trimStart());
  }
  for (const [program, ...args] of build)
    await execute(process.execPath, [pathOf(program, folder, packages), ...args], {
      cwd: folder,
      env: environmentOf(env),
    }).catch(({ stdout, stderr }) => {
      throw new Error(`${name} cannot build: ${stdout}${stderr}`);
    });
  return folder;
}

/** The folder of the packages of a project. */
export const folderOf = (packages: PeerName) => join(root, 'test/bench/peers', packages);

const environmentOf = (env?: Record<string, string>) => ({ ...process.env, NODE_ENV: 'production', ...env });

/** The path of a program: of the project, or of one of its packages. */
function pathOf(program: string, folder: string, packages: PeerName): string {
  const own = join(folder, program);
  return existsSync(own) ? own : join(folderOf(packages), 'node_modules', program);
}

/** Builds a project, and serves it. */
export async function openProject(name: string, project: Project, checkout: string): Promise<RunningProject> {
  const folder = await buildProject(name, project, checkout);
  const { serve, packages, env } = project;
  if ('folder' in serve) {
    const built = join(folder, serve.folder);
    // A bundler that does not know which files an import() loads puts each of them into a second file.
    const codes = (await readdir(built, { recursive: true }))
      .filter((file) => file.endsWith('.js'))
      .map((file) => readFile(join(built, file), 'utf8'));
    const copies = (await Promise.all(codes)).filter((code) => code.includes(OF_ONE_CHUNK));
    expect(copies, `files of ${name} with the part for PIX`).toHaveLength(1);
    return serveFolder(built);
  }
  const [program, ...args] = serve.program;
  const port = String(await freePort());
  const child = spawn(process.execPath, [pathOf(program, folder, packages), ...args], {
    cwd: folder,
    env: { ...environmentOf(env), PORT: port },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => {
      said += text;
    });
  const url = `http://localhost:${port}`;
  const ended = once(child, 'exit').then(() => Promise.reject(new Error(`${name} has ended: ${said}`)));
  ended.catch(() => undefined);
  await Promise.race([ended, vi.waitUntil(() => isServed(url), PATIENCE)]);
  return { url, close: () => end(child) };
}

const PATIENCE = { timeout: 60_000, interval: 50 };

const isServed = (url: string) =>
  fetch(url).then(
    ({ ok }) => ok,
    () => false,
  );

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

/** A text in the chunk that draws the QR code. */
const OF_ONE_CHUNK = 'crispEdges';

const TYPES: Record<string, string> = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript' };

async function serveFolder(folder: string): Promise<RunningProject> {
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://shop');
    const file = join(folder, pathname === '/' ? 'index.html' : pathname);
    const content = await readFile(file).catch(() => null);
    response.writeHead(content ? 200 : 404, { 'content-type': TYPES[extname(file)] ?? 'text/plain' });
    response.end(content);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
