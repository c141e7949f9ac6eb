import { type TokenSnapshot, tokenFromJson } from './model.ts';

declare module '../../../state/events/event.ts' {
  interface EventTypes {
    /** A checkout token was paused or resumed, by the merchant or for its declined cards. */
    checkout_token: {
      kind: 'checkout_token.paused' | 'checkout_token.resumed';
      previousStatus: null;
      snapshot: TokenSnapshot;
    };
  }
}

export const tokenSnapshots = { checkout_token: tokenFromJson };
