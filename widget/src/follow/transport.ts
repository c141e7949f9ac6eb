import type { GraphqlError } from '../operations.ts';

export type Transport = 'ws' | 'sse' | 'poll';

/** The position of an update in its stream; an answer to polling has none of its own. */
export interface Cursor {
  cursor: string | undefined;
}

export interface FollowOptions<Update = object> {
  endpoint: string;
  token: string;
  /** A subscription to one field, whose updates contain their cursor. */
  query: string;
  /** `after` is the cursor of the last update seen; follow.ts sets it at every update. */
  variables: { after?: string | undefined; [name: string]: unknown };
  signal: AbortSignal;
  /** The query that polling sends in place of the subscription. Throws a CheckoutError. */
  read: () => Promise<Update>;
  /** Called when the server has answered: after it a loss leads to a reconnect, before it to the next transport. */
  onOpen: () => void;
  onUpdate(update: Update & Cursor): void;
}

/**
 * The end of one connection: the server's errors, or undefined. A stream completes after the final state, at which the
 * caller has stopped following. follow.ts decides whether to reconnect, to fall back or to give up.
 */
export type FollowEnd = readonly GraphqlError[] | undefined;
