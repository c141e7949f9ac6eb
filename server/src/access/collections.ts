import type { Collection } from '../state/commit/commit.ts';
import type { ApiKey } from './keys.ts';
import { endSessions, type SessionRecord, selectSessions } from './session-store.ts';
import {
  type AccountRow,
  apiKeyTable,
  type StoredToken,
  saveTokens,
  selectAccountsOf,
  selectTokensByHash,
  updateApiKeys,
} from './store.ts';

/** Accounts, as a decision reads them. */
export const accounts: Collection<AccountRow> = {
  name: 'account',
  loadEach: selectAccountsOf,
  keyOf: (account) => account.id,
  saveEach: () => Promise.reject(new Error('an account is read only here')),
};

export const apiKeys: Collection<ApiKey> = {
  name: 'api_key',
  loadEach: apiKeyTable.loadEach,
  keyOf: (key) => key.id,
  saveEach: (sql, keys) =>
    updateApiKeys(
      sql,
      keys.map(({ record }) => record),
    ),
};

export const tokens: Collection<StoredToken> = {
  name: 'token',
  loadEach: selectTokensByHash,
  keyOf: (row) => row.secretHash,
  saveEach: (sql, rows) =>
    saveTokens(
      sql,
      rows.map(({ record }) => record),
    ),
};

/** Sessions of the console. A session that is saved has ended. */
export const sessions: Collection<SessionRecord> = {
  name: 'console_session',
  loadEach: selectSessions,
  keyOf: ({ sessionId }) => sessionId,
  saveEach: endSessions,
};
