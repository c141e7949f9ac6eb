import {
  assertMayBind,
  type MintedToken,
  type MintToken,
  type NewToken,
  normalizeOrigins,
  type PrepareToken,
} from '../../../access/model.ts';
import type { CheckoutGrant } from '../../../kernel/caller.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { NotFoundError } from '../../../kernel/errors.ts';
import { withoutExtra } from '../../../kernel/list-range.ts';
import type { Behind } from '../../../kernel/records.ts';
import type { Tenant } from '../../../kernel/tenant.ts';
import { type Collection, type Committer, loadRecords, put } from '../../../state/commit/commit.ts';
import { idempotency, idempotencyKeyOf, remember } from '../../../state/commit/idempotency.ts';
import type { Database, Sql } from '../../../state/db/database.ts';
import { assertCallbackUrl, methodsOf } from '../../checkout/model.ts';
import { assertPixEnabled, type AccountSettings as PixSettings } from '../../pix/model.ts';
import { type AccountSettings, assertCardsAvailable } from '../model.ts';
import { tokenGrants, tokenPauses } from './collections.ts';
import {
  assertSameOrder,
  type CheckoutTokenService,
  decidePauseByMerchant,
  decidePauseForDeclines,
  expiryOf,
  grantOf,
  orderHash,
  type TokenAdministration,
  type TokenPause,
} from './model.ts';
import { findToken, selectPausedTokens, selectPauses } from './store.ts';

/** The credentials behind tokens, by the hash of their text; the slice that lets callers in owns them. */
export type CredentialCollection = Collection<{
  kind: 'checkout' | 'payment' | 'dashboard';
  secretHash: string;
  expiresAt: Date | null;
  revokedAt: Date | null;
}>;

interface PauseDependencies {
  database: Database;
  committer: Committer;
  credentials: CredentialCollection;
}

/** The largest number of pauses that the command lists. */
const MAX_LISTED = 100;
/** The operation under which the first token of each `externalId` is remembered, with a hash of its input. */
const ORDER = 'checkoutOrder';

export function createCheckoutTokenService({
  accounts,
  products,
  mint,
  prepare,
  clock,
  privateAddresses,
  hasManifest = false,
  ...dependencies
}: PauseDependencies & {
  accounts: Collection<AccountSettings & PixSettings & { id: string }>;
  /** The products of an account, which tokens sell. */
  products: { find(tenant: Tenant, productId: string): Promise<object | null> };
  mint: MintToken;
  prepare: PrepareToken;
  clock: Clock;
  /** Whether webhooks may go to this machine, for local development. */
  privateAddresses: boolean;
  /** Whether the server has a manifest of trusted documents, to which tokens can be bound. */
  hasManifest?: boolean;
}): CheckoutTokenService {
  const { sql } = dependencies.database;
  const { committer, credentials } = dependencies;

  /**
   * Mints a token of an order, in the transaction that compares its amount and its customer with those of the
   * first token. Everything else may differ. The tokens of an order share `orderTokenId`.
   * @throws IdempotencyError
   */
  function mintForOrder(
    tenant: Tenant,
    externalId: string,
    token: NewToken & { grant: CheckoutGrant },
  ): Promise<MintedToken> {
    const key = idempotencyKeyOf(ORDER, externalId);
    const inputHash = orderHash(token.grant, token.allowedOrigins, token.trustedDocumentsOnly);
    return committer.change({
      tenant,
      async read(reader) {
        const order = await reader.load(idempotency, key);
        if (order) await reader.load(tokenGrants, order.resourceId);
      },
      decide(state) {
        const order = state.get(idempotency, key);
        if (order) assertSameOrder(state.need(tokenGrants, order.resourceId).grant, token.grant);
        const grant = order ? { ...token.grant, orderTokenId: order.resourceId } : token.grant;
        const { text, record } = prepare(tenant, { ...token, grant }, state.now);
        const first = { operation: ORDER, key: externalId, inputHash, resourceId: record.id };
        return {
          outcome: { tokenId: record.id, token: text },
          writes: {
            records: [
              put(credentials, record),
              ...(order ? [] : [remember(first), put(tokenGrants, { tokenId: record.id, grant })]),
            ],
          },
        };
      },
    });
  }

  return {
    async create(tenant, keyId, input) {
      const [account] = await loadRecords(accounts, sql, tenant, [tenant.accountId]);
      const grant = grantOf(input);
      const methods = methodsOf(grant);
      if (methods.includes('card')) assertCardsAvailable(tenant.environment, account!);
      if (methods.includes('pix')) assertPixEnabled(account!);
      assertCallbackUrl(input.callbackUrl, privateAddresses);
      const isBound = input.trustedDocumentsOnly ?? false;
      assertMayBind(isBound, hasManifest);
      const { productId } = input.amount;
      if (productId != null && !(await products.find(tenant, productId)))
        throw new NotFoundError('Product not found');
      const expiresAt = expiryOf(input, clock.now());
      const token = {
        kind: 'checkout' as const,
        grant,
        mintedBy: keyId,
        allowedOrigins: normalizeOrigins(input.allowedOrigins),
        expiresAt,
        trustedDocumentsOnly: isBound,
      };
      const { externalId } = input;
      const minted =
        externalId == null ? await mint(tenant, token) : await mintForOrder(tenant, externalId, token);
      return { ...minted, expiresAt };
    },

    async pause(tenant, token, seconds) {
      const { id, pause } = await changePause(dependencies, {
        named: token,
        tenant,
        decide: (_, now) => decidePauseByMerchant(seconds, now),
      });
      return { tokenId: id, ...pause! };
    },

    async resume(tenant, token) {
      return (await changePause(dependencies, { named: token, tenant, decide: () => null })).id;
    },

    pauseOf: (tokenId) => pauseOf(sql, tokenId),
    pausesOf: async (tokenIds) => {
      const found = await selectPauses(sql, tokenIds);
      return tokenIds.map((tokenId) => found.find((each) => each.tokenId === tokenId)?.pause ?? null);
    },
    async listPaused(tenant, range) {
      const page = { ...range, tenant, now: clock.now(), limit: range.limit + 1 };
      return withoutExtra(await selectPausedTokens(sql, page), range);
    },
  };
}

/** Pauses and resumes tokens for the operator of the server. */
export function createTokenAdministration({
  clock,
  behind = async () => null,
  ...dependencies
}: PauseDependencies & {
  clock: Clock;
  /**
   * Reads the mark of records that were set back, in front of another service; without it no token is paused
   * by a restore.
   */
  behind?: (() => Promise<Behind | null>) | undefined;
}): TokenAdministration {
  return {
    async pauseToken({ token: named, minutes }) {
      const seconds = minutes === undefined ? null : minutes * 60;
      const { id, pause } = await changePause(dependencies, {
        named,
        tenant: null,
        decide: (_, now) => decidePauseByMerchant(seconds, now),
      });
      return { token: { tokenId: id, ...pause! } };
    },

    async resumeToken({ token: named }) {
      const { id } = await changePause(dependencies, { named, tenant: null, decide: () => null });
      return { tokenId: id };
    },

    async listPausedTokens() {
      const { sql } = dependencies.database;
      const part = { tenant: null, now: clock.now(), end: 'first' as const, limit: MAX_LISTED };
      const listed = await selectPausedTokens(sql, { ...part, behind: await behind() });
      return { tokens: listed.map(({ pause }) => pause) };
    },
  };
}

/** The pauses of tokens, as the guard against card testing uses them. */
export function createTokenPauses(dependencies: PauseDependencies) {
  return {
    pauseOf: (tokenId: string) => pauseOf(dependencies.database.sql, tokenId),
    /** Returns whether the token is paused now and was not before. */
    async pauseForDeclines(tenant: Tenant, tokenId: string): Promise<boolean> {
      const { changed } = await changePause(dependencies, {
        named: tokenId,
        tenant,
        decide: (last, now) => decidePauseForDeclines(last, now) ?? last,
      }).catch((error: unknown) => {
        // The token was revoked, or has expired, in the meantime.
        if (error instanceof NotFoundError) return { changed: false };
        throw error;
      });
      return changed;
    },
  };
}

async function pauseOf(sql: Sql, tokenId: string): Promise<TokenPause | null> {
  const [found] = await selectPauses(sql, [tokenId]);
  return found?.pause ?? null;
}

/**
 * Replaces the pause of a checkout token by the result of `decide` for the last pause; null resumes the
 * token. It announces a change. `named` is the token's text or its id. The pause of an order is stored at its
 * first token, whichever of its tokens is named. With a `tenant` the token must belong to that tenant.
 * @throws NotFoundError, errors of `decide`
 */
async function changePause(
  { database, committer, credentials }: PauseDependencies,
  {
    named,
    tenant,
    decide,
  }: {
    named: string;
    tenant: Tenant | null;
    decide: (last: TokenPause | null, now: Date) => TokenPause | null;
  },
): Promise<{ id: string; pause: TokenPause | null; changed: boolean }> {
  const found = await findToken(database.sql, named);
  if (!found) throw new NotFoundError('Token not found');
  const { pauseId: id, secretHash, isOfOrder } = found;
  return committer.change<{ id: string; pause: TokenPause | null; changed: boolean }>({
    tenant: tenant ?? found.tenant,
    read: (reader) => Promise.all([reader.load(credentials, secretHash), reader.load(tokenPauses, id)]),
    decide(state) {
      const credential = state.get(credentials, secretHash);
      const { now } = state;
      // The pause belongs to the order, which may have other tokens after this one has ended.
      const hasEnded =
        !isOfOrder &&
        credential &&
        (credential.revokedAt || (credential.expiresAt && credential.expiresAt <= now));
      if (credential?.kind !== 'checkout' || hasEnded) throw new NotFoundError('Token not found');
      const last = state.need(tokenPauses, id).pause;
      const pause = decide(last, now);
      if (pause === last) return { outcome: { id, pause, changed: false } };
      return {
        outcome: { id, pause, changed: true },
        writes: {
          records: [put(tokenPauses, { tokenId: id, pause })],
          events: [
            {
              kind: pause ? 'checkout_token.paused' : 'checkout_token.resumed',
              resource: 'checkout_token',
              resourceId: id,
              previousStatus: null,
              snapshot: { tokenId: id, pause },
            },
          ],
        },
      };
    },
  });
}
