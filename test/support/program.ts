import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { FAST_PATH } from './fast-path.ts';
import { said as saidByServer } from './log-capture.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The program as an operator deploys it, in a process of its own. */
export interface Program {
  readonly child: ChildProcess;
  readonly said: { stdout: string; stderr: string };
  /** Resolves with the address that it says, as soon as it says it; rejected where it ends before. */
  readonly started: Promise<string>;
  /** Resolves with its exit code, once it has ended and all of what it said is there. */
  readonly exited: Promise<number | null>;
}

/** Runs it with this environment and no other, from its sources or as it was built. The caller ends it. */
export function runProgram(environment: Record<string, string>, from: 'sources' | 'built'): Program {
  const program = from === 'built' ? ['server/dist/main.js'] : ['--import', 'tsx', 'server/src/main.ts'];
  const child = spawn(process.execPath, program, {
    cwd: root,
    // No proxy is waited for.
    env: { PATH: process.env.PATH ?? '', PORT: '0', PSA_DRAIN_SECONDS: '0', ...FAST_PATH, ...environment },
  });
  const said = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    said.stdout += chunk;
  });
  child.stderr.setEncoding('utf8').on('data', (chunk) => {
    said.stderr += chunk;
  });
  const exited = once(child, 'close').then(([code]) => {
    // The output on stdout is for the person who starts it: an account's first keys, once.
    saidByServer('log', said.stderr);
    return code as number | null;
  });
  const started = new Promise<string>((resolve, reject) => {
    child.stdout.on('data', () => {
      const url = /PSA is running at ([^\s,]+)/.exec(said.stdout)?.[1];
      if (url && said.stdout.includes('Ctrl-C')) resolve(url);
    });
    void exited.then((code) => reject(new Error(`it ended with ${code}: ${said.stderr}`)));
  });
  // Not everybody who runs it waits for that.
  started.catch(() => undefined);
  return { child, said, started, exited };
}

/** A port that nobody listens on, for a program whose address has to be known before it, or has to stay. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return (address as { port: number }).port;
}
