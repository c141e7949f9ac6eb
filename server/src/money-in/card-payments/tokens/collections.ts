import type { CheckoutGrant } from '../../../kernel/caller.ts';
import type { Collection } from '../../../state/commit/commit.ts';
import type { TokenSnapshot } from './model.ts';
import { selectGrants, selectPausesOf, updatePauses } from './store.ts';

/** The pauses of tokens, as a decision reads and writes them. */
export const tokenPauses: Collection<TokenSnapshot> = {
  name: 'token_pause',
  loadEach: selectPausesOf,
  keyOf: ({ tokenId }) => tokenId,
  saveEach: updatePauses,
};

/**
 * The payments that tokens describe, by the id of the token. They are saved with the credential, which
 * contains the grant.
 */
export const tokenGrants: Collection<{ tokenId: string; grant: CheckoutGrant }> = {
  name: 'token_grant',
  loadEach: selectGrants,
  keyOf: ({ tokenId }) => tokenId,
  saveEach: () => Promise.resolve(),
};
