import type { CardPaymentUpdate, ExecutionResult } from '../operations.ts';

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
  onUpdate: (update: CardPaymentUpdate) => void;
}

/** How one connection ended. Reconnecting, falling back and giving up are follow.ts's: one policy for all. */
export type FollowEnd =
  | { type: 'complete' }
  | { type: 'lost' }
  | { type: 'refused'; errors: ExecutionResult<never>['errors'] };
