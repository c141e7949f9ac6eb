import type { Collection } from '../../commit/commit.ts';
import type { TokenSnapshot } from './model.ts';
import { selectPauses, updatePauses } from './store.ts';

/** The pauses of tokens, as a decision reads and writes them. */
export const tokenPauses: Collection<TokenSnapshot> = {
  name: 'token_pause',
  load: (sql, _tenant, tokenIds) => selectPauses(sql, tokenIds),
  keyOf: ({ tokenId }) => tokenId,
  save: (sql, _tenant, rows) => updatePauses(sql, rows),
};
