import type { Caller } from '../kernel/caller.ts';
import { type Clock, plusMs } from '../kernel/clock.ts';
import { UnauthenticatedError } from '../kernel/errors.ts';
import { hashSecret, objectId, secret } from '../kernel/ids.ts';
import { type Committer, put } from '../state/commit/commit.ts';
import type { Database } from '../state/db/database.ts';
import { sessions } from './collections.ts';
import { revocationOf } from './events.ts';
import type { PrepareToken } from './model.ts';
import { type FoundSession, holdSession, insertSession, selectSession } from './session-store.ts';
import {
  CONSOLE_TOKEN_SECONDS,
  SESSION_PREFIX,
  SESSION_SECONDS,
  type Session,
  type SessionService,
} from './sessions.ts';
import { saveTokens } from './store.ts';

export function createSessionService({
  database,
  committer,
  clock,
  prepare,
}: {
  database: Pick<Database, 'sql' | 'transaction'>;
  committer: Pick<Committer, 'change'>;
  clock: Clock;
  prepare: PrepareToken;
}): SessionService {
  const { sql } = database;

  async function find(text: string): Promise<Session | null> {
    const found = await selectSession(sql, hashSecret(text), clock.now());
    return found && toSession(found);
  }

  return {
    async begin({ tenant, credential }) {
      const text = secret(SESSION_PREFIX);
      const now = clock.now();
      await insertSession(sql, {
        ...tenant,
        sessionId: `ses_${objectId()}`,
        secretHash: hashSecret(text),
        keyId: credential.id,
        createdAt: now,
        expiresAt: plusMs(now, SESSION_SECONDS * 1_000),
      });
      const session = await find(text);
      // The key was revoked meanwhile.
      if (!session) throw new UnauthenticatedError('Invalid API key');
      return { session, text };
    },

    find,

    async mint({ sessionId, caller: { tenant }, key, expiresAt }, scopes) {
      const now = clock.now();
      const lastMs = Math.min(expiresAt.getTime(), now.getTime() + CONSOLE_TOKEN_SECONDS * 1_000);
      const token = {
        ...({ kind: 'dashboard', grant: { scopes }, mintedBy: key.id, sessionId } as const),
        ...{ allowedOrigins: [], expiresAt: new Date(lastMs), trustedDocumentsOnly: false },
      };
      const { text, record } = prepare(tenant, token, now);
      await database.transaction(async (sql) => {
        if (!(await holdSession(sql, sessionId))) throw new UnauthenticatedError('This session has ended');
        await saveTokens(sql, [record]);
      });
      return { tokenId: record.id, token: text, expiresAt: token.expiresAt };
    },

    end: ({ sessionId, caller: { tenant } }) =>
      committer.change({
        tenant,
        read: (reader) => reader.load(sessions, sessionId),
        decide(state) {
          const session = state.get(sessions, sessionId);
          if (!session || session.endedAt) return { outcome: undefined };
          return {
            outcome: undefined,
            writes: {
              records: [put(sessions, { sessionId, endedAt: state.now })],
              events: [revocationOf(sessionId)],
            },
          };
        },
      }),
  };
}

function toSession({ sessionId, accountId, environment, keyId, expiresAt, ...key }: FoundSession): Session {
  const caller: Caller = {
    tenant: { accountId, environment },
    credential: { kind: 'api_key', id: keyId, permissions: key.permissions },
    allowedOrigins: [],
    expiresAt,
    trustedDocumentsOnly: false,
    endsWith: [keyId],
  };
  return { sessionId, caller, key: { id: keyId, name: key.name, hint: key.hint }, expiresAt };
}
