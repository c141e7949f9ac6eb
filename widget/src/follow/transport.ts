import type { CardPaymentUpdate, GraphqlError } from '../operations.ts';

export type Transport = 'ws' | 'sse' | 'poll';

export interface FollowOptions {
  endpoint: string;
  token: string;
  query: string;
  /** `after` is the cursor of the last update seen; follow.ts moves it on at every update. */
  variables: { orderCode: string; after: string | undefined };
  signal: AbortSignal;
  /** The server has answered: from here on a loss is a reconnect, before it a reason to fall back. */
  onOpen: () => void;
  onUpdate: (update: Pick<CardPaymentUpdate, 'cardPayment'> & { cursor: string | undefined }) => void;
}

/**
 * How one connection ended: with the server's errors, or just so. A stream that completes has told the final state
 * before, on which nobody follows any more. Reconnecting, falling back and giving up are follow.ts's.
 */
export type FollowEnd = readonly GraphqlError[] | undefined;
