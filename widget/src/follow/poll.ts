import { pause } from './pause.ts';
import type { FollowEnd, FollowOptions } from './transport.ts';

const MIN_MS = 2_000;
const MAX_MS = 10_000;
const HIDDEN_MS = 15_000;

/** The number of polls before the first return. */
const FIRST = 15;

/**
 * Polls every two seconds at first, then at growing intervals. Returns after some polls, each time after more
 * than the time before, so that a stream can be retried. Throws the errors of `read`.
 */
export async function followPolls(options: FollowOptions): Promise<FollowEnd> {
  const { variables, signal, read, onOpen, onUpdate } = options;
  const most = options.polls * 2 + FIRST;
  for (; !signal.aborted && options.polls < most; options.polls++) {
    const update = await read();
    onOpen();
    // An answer has no cursor; a later stream resumes from the last one seen.
    onUpdate({ ...update, cursor: variables.after });
    await pause(document.hidden ? HIDDEN_MS : Math.min(MAX_MS, MIN_MS + options.polls * 60), signal);
  }
  return;
}
