import type { Duplex } from 'node:stream';
import { SlowConsumerError } from '../../state/events/subscription.ts';

/** The time for the reason to reach a client that has begun to read. */
const CUT_AFTER_MS = 1_000;

/** The error that ends a subscription if its account, its network or its credential has too many unread bytes. */
export function tooMuchUnread(): SlowConsumerError {
  return new SlowConsumerError(
    'Too much is unread by the subscribers of this credential, network or account',
  );
}

/** Cuts a connection whose unread bytes are too many to wait until its client reads. */
export function cutSoon(wire: Duplex): void {
  setTimeout(() => wire.destroy(), CUT_AFTER_MS).unref();
}
