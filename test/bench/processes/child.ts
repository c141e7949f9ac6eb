import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export interface Child {
  // biome-ignore lint/suspicious/noExplicitAny: what a process answers is known where it is asked
  ask(name: string, request?: unknown): Promise<any>;
  stop(): Promise<void>;
}

/**
 * Starts a program of this folder in a process of its own, as in production: without a loader and without type
 * checks.
 */
export function startChild(
  program: string,
  env: Record<string, string> = {},
  options: readonly string[] = [],
): Child {
  const child = fork(fileURLToPath(new URL(program, import.meta.url)), {
    execArgv: [...options, ...(process.env.PSA_BENCH_NODE_OPTIONS ?? '').split(' ').filter(Boolean)],
    env: { PATH: process.env.PATH, NODE_ENV: 'production', ...env },
  });
  const pending = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();
  let ids = 0;
  child.on('message', ({ id, value, error }: { id: number; value: unknown; error?: string }) => {
    const waiting = pending.get(id);
    pending.delete(id);
    if (error !== undefined) waiting?.reject(new Error(error));
    else waiting?.resolve(value);
  });
  const exit = once(child, 'exit').then(([code, signal]) => {
    for (const { reject } of pending.values()) reject(new Error(`${program} ended: ${code ?? signal}`));
  });
  return {
    ask: (name, request = null) =>
      new Promise((resolve, reject) => {
        pending.set(ids, { resolve, reject });
        child.send({ id: ids++, name, request });
      }),
    async stop() {
      if (child.connected) child.disconnect();
      await exit;
    },
  };
}
