import type { Caller } from '../kernel/caller.ts';
import { type Clock, plusMs } from '../kernel/clock.ts';
import { UnauthenticatedError } from '../kernel/errors.ts';
import { hashSecret, objectId, secret } from '../kernel/ids.ts';
import type { Database } from '../state/db/database.ts';
import { type AccessService, tokenStatus } from './model.ts';
import {
  addToken,
  endSession,
  type FoundSession,
  insertSession,
  selectSession,
  selectTokenIds,
} from './session-store.ts';
import {
  CONSOLE_TOKEN_SECONDS,
  SESSION_PREFIX,
  SESSION_SECONDS,
  type Session,
  type SessionService,
} from './sessions.ts';

export function createSessionService({
  database: { sql },
  access,
  clock,
}: {
  database: Pick<Database, 'sql'>;
  access: Pick<AccessService, 'createDashboardToken' | 'findTokens' | 'revokeToken'>;
  clock: Clock;
}): SessionService {
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

    async mint({ sessionId, caller, key, expiresAt }, scopes) {
      const leftSeconds = Math.ceil((expiresAt.getTime() - clock.ms()) / 1_000);
      const token = await access.createDashboardToken(caller.tenant, key.id, {
        scopes,
        expiresInSeconds: Math.min(CONSOLE_TOKEN_SECONDS, leftSeconds),
      });
      if (await addToken(sql, sessionId, token.tokenId)) return token;
      await access.revokeToken(caller.tenant, token.tokenId);
      throw new UnauthenticatedError('This session has ended');
    },

    async end({ sessionId, caller: { tenant } }) {
      let hasEnded = false;
      while (!hasEnded) {
        const tokenIds = await selectTokenIds(sql, sessionId);
        if (!tokenIds) return;
        const now = clock.now();
        // The tokens first: a session that an outage has left can be ended again, its tokens without it could not.
        for (const token of await access.findTokens(tenant, tokenIds))
          if (token && tokenStatus(token, now) === 'active') await access.revokeToken(tenant, token.tokenId);
        hasEnded = await endSession(sql, sessionId, tokenIds, now);
      }
    },
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
