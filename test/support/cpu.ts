import { afterAll } from 'vitest';
import { childrenCpuMs } from '../../server/scripts/progress.mjs';

/** Vitest hands it to its reporters. */
export interface FileMeta {
  /** CPU time of a file in milliseconds: its worker's, and that of the processes that it started and that have ended. */
  cpuMs?: number;
}

const before = cpuMs();
// biome-ignore lint/correctness/noEmptyPattern: Vitest wants the pattern of the fixtures that a hook uses
afterAll(({}, { file }) => {
  (file.meta as FileMeta).cpuMs = cpuMs() - before;
});

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000 + childrenCpuMs();
}
