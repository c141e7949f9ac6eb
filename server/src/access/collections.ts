import type { Collection } from '../state/commit/commit.ts';
import type { ApiKey } from './keys.ts';
import {
  type AccountRow,
  type StoredToken,
  saveTokens,
  selectAccounts,
  selectApiKeys,
  selectTokensByHash,
  updateApiKeys,
} from './store.ts';

/** Accounts, as a decision reads them. */
export const accounts: Collection<AccountRow> = {
  name: 'account',
  load: (sql, _tenant, ids) => selectAccounts(sql, ids),
  keyOf: (account) => account.id,
  save: () => Promise.reject(new Error('an account is read only here')),
};

export const apiKeys: Collection<ApiKey> = {
  name: 'api_key',
  load: (sql, _tenant, ids) => selectApiKeys(sql, ids),
  keyOf: (key) => key.id,
  save: (sql, _tenant, keys) => updateApiKeys(sql, keys),
};

export const tokens: Collection<StoredToken> = {
  name: 'token',
  load: selectTokensByHash,
  keyOf: (row) => row.secretHash,
  save: (sql, _tenant, rows) => saveTokens(sql, rows),
};
