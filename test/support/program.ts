import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { FAST_PATH } from './fast-path.ts';
import { captureOutput } from './log-capture.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The server in a process of its own, as an operator deploys it. */
export interface Program {
  readonly child: ChildProcess;
  readonly output: { stdout: string; stderr: string };
  /** Resolves with the server's address once it is printed; rejects if the process ends before. */
  readonly started: Promise<string>;
  /** Resolves with the exit code, once the process has ended and all of its output is read. */
  readonly exited: Promise<number | null>;
}

/** Runs the server with this environment and no other, from its sources or its build. The caller ends it. */
export function runProgram(environment: Record<string, string>, from: 'sources' | 'built'): Program {
  const program =
    from === 'built' ? ['server/dist/main.js'] : ['--import', 'tsx', 'server/src/programs/main.ts'];
  const child = spawn(process.execPath, program, {
    cwd: root,
    // The server does not drain, because no proxy has to notice its end.
    env: { PATH: process.env.PATH ?? '', PORT: '0', PSA_DRAIN_SECONDS: '0', ...FAST_PATH, ...environment },
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    output.stdout += chunk;
  });
  child.stderr.setEncoding('utf8').on('data', (chunk) => {
    output.stderr += chunk;
  });
  const exited = once(child, 'close').then(([code]) => {
    // Only stderr is searched: stdout shows an account's first keys once, to the person who starts the server.
    captureOutput('log', output.stderr);
    return code as number | null;
  });
  const started = new Promise<string>((resolve, reject) => {
    child.stdout.on('data', () => {
      const url = /PSA is running at ([^\s,]+)/.exec(output.stdout)?.[1];
      if (url && output.stdout.includes('Ctrl-C')) resolve(url);
    });
    void exited.then((code) => reject(new Error(`it ended with ${code}: ${output.stderr}`)));
  });
  // A caller that does not wait for the start must not get an unhandled rejection.
  started.catch(() => undefined);
  return { child, output, started, exited };
}
