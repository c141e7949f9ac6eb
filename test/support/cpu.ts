import { afterAll } from 'vitest';
import { childrenCpuMs } from '../../server/scripts/progress.mjs';

/** The metadata of a test file, which Vitest passes to its reporters. */
export interface FileMeta {
  /** CPU time of a file in milliseconds: its worker's, and that of the ended processes which it started. */
  cpuMs?: number;
  /** The process id of the file's worker, which several files use one after the other. */
  worker?: number;
  /** Versions of the browsers that the file has driven. */
  versions?: Record<string, string>;
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
