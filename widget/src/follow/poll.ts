import { pause } from './pause.ts';
import type { FollowEnd, FollowOptions } from './transport.ts';

const FIRST_MS = 2_000;
const LAST_MS = 10_000;
const HIDDEN_MS = 15_000;

/** Asks every two seconds at first, and ever more slowly. Throws what asking throws. */
export async function followPolls({
  variables,
  signal,
  read,
  onOpen,
  onUpdate,
}: FollowOptions): Promise<FollowEnd> {
  for (let round = 0; !signal.aborted; round++) {
    const update = await read();
    onOpen();
    // An answer has no cursor; a stream that comes after goes on from the last one seen.
    onUpdate({ ...update, cursor: variables.after });
    await pause(document.hidden ? HIDDEN_MS : Math.min(LAST_MS, FIRST_MS + round * 60), signal);
  }
  return;
}
