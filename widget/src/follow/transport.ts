import type { GraphqlError } from '../operations.ts';

export type Transport = 'ws' | 'sse' | 'poll';

/** The position of an update in its stream; the answer to a poll has no position. */
export interface Cursor {
  cursor: string | undefined;
}

export interface FollowOptions<Update = object> {
  endpoint: string;
  token: string;
  /** A subscription to one field, whose updates contain their cursor. */
  query: string;
  /** The variables of both operations; follow.ts sets `after` to the cursor of each update. */
  variables: { after?: string | undefined; [name: string]: unknown };
  signal: AbortSignal;
  /** The number of polls so far, which poll.ts counts. */
  polls: number;
  /** The query that polling sends instead of the subscription. Throws a CheckoutError. */
  read: () => Promise<Update>;
  /**
   * Called at the server's first answer. A connection that ends after it is reopened; one that ends before it
   * is replaced.
   */
  onOpen: () => void;
  onUpdate(update: Update & Cursor): void;
}

/**
 * The end of one connection: the server's errors, or undefined. A stream completes after the final state, for
 * which the caller has stopped already. follow.ts decides whether to reconnect, to fall back or to give up.
 */
export type FollowEnd = readonly GraphqlError[] | undefined;
