import { afterAll } from 'vitest';
import { childrenCpuMs } from '../../server/scripts/progress.mjs';

/** Vitest hands it to its reporters. */
export interface FileMeta {
  /** CPU time of a file in milliseconds: its worker's, and that of the processes that it started and that have ended. */
  cpuMs?: number;
  /** The process of its worker, which files share: what one leaves behind, the next one finds. */
  worker?: number;
}

const before = cpuMs();
// biome-ignore lint/correctness/noEmptyPattern: Vitest wants the pattern of the fixtures that a hook uses
afterAll(({}, { file }) => {
  Object.assign(file.meta, { cpuMs: cpuMs() - before, worker: process.pid } satisfies FileMeta);
});

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000 + childrenCpuMs();
}
