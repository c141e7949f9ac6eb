import type { GraphqlError } from '../operations.ts';

export type Transport = 'ws' | 'sse' | 'poll';

/** Where an update stands in its stream; an answer to polling has no cursor of its own. */
export interface Cursor {
  cursor: string | undefined;
}

export interface FollowOptions<Update = object> {
  endpoint: string;
  token: string;
  /** A subscription to one field, whose updates tell their cursor. */
  query: string;
  /** `after` is the cursor of the last update seen; follow.ts moves it on at every update. */
  variables: { after?: string | undefined; [name: string]: unknown };
  signal: AbortSignal;
  /** What polling asks in place of it. Throws a CheckoutError. */
  read: () => Promise<Update>;
  /** The server has answered: from here on a loss is a reconnect, before it a reason to fall back. */
  onOpen: () => void;
  onUpdate(update: Update & Cursor): void;
}

/**
 * How one connection ended: with the server's errors, or just so. A stream that completes has told the final state
 * before, on which nobody follows any more. Reconnecting, falling back and giving up are follow.ts's.
 */
export type FollowEnd = readonly GraphqlError[] | undefined;
