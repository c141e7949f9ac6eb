import { onTestFinished, vi } from 'vitest';
import { SLICE_MS } from '../../server/src/kernel/slices.ts';

/** Makes long loops pause after `items` items, a power of two, until the test ends. Each item calls the returned function. */
export function sliceAfter(items: number): () => void {
  let served = 0;
  const now = vi.spyOn(performance, 'now').mockImplementation(() => (served * SLICE_MS) / items);
  onTestFinished(() => now.mockRestore());
  return () => {
    served += 1;
  };
}
