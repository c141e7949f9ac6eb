import { pause } from './pause.ts';
import type { FollowEnd, FollowOptions } from './transport.ts';

const MIN_MS = 2_000;
const MAX_MS = 10_000;
const HIDDEN_MS = 15_000;

/** Polls every two seconds at first, then at growing intervals. Throws the errors of `read`. */
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
    // An answer has no cursor; a later stream resumes from the last one seen.
    onUpdate({ ...update, cursor: variables.after });
    await pause(document.hidden ? HIDDEN_MS : Math.min(MAX_MS, MIN_MS + round * 60), signal);
  }
  return;
}
