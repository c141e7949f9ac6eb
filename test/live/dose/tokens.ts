import type { LiveToken } from '../../../widget/src/live/protocol.ts';
import type { createClient } from '../../support/graphql.ts';

/** The follower for which a token is minted. */
export interface Holder {
  key: string;
  /** Holders with one group share a token. */
  tokenGroup: string;
  isShared: boolean;
  /** The lifetime of a token. */
  tokenSeconds: number;
}

const MINT = `mutation ($seconds: Int!) {
  createDashboardToken(input: { scopes: [CARD_PAYMENTS, PAYMENTS, PAYOUTS], expiresInSeconds: $seconds }) {
    ... on CreateDashboardTokenSuccess { token expiresAt } ... on UserError { message } } }`;

/**
 * The time for which a shared token is handed out. It is never revoked, so no follower needs another because of a
 * refusal.
 */
const SHARED_MS = 10_000;

/** Mints tokens as a shop's server does, one for each group of followers, at the instances in turns. */
export function createTokens(endpoints: readonly string[], connect: typeof createClient) {
  const last = new Map<string, { token: Promise<LiveToken>; at: number }>();
  let turn = 0;
  let minted = 0;

  async function mint({ key, tokenSeconds }: Holder): Promise<LiveToken> {
    const client = connect(endpoints[turn++ % endpoints.length]!, key);
    const { token, expiresAt, message } = (await client.request(MINT, { seconds: tokenSeconds }))
      .createDashboardToken;
    if (!token) throw new Error(message);
    minted += 1;
    return { token, expiresAt };
  }

  return {
    get minted() {
      return minted;
    },
    tokenOf(holder: Holder): Promise<LiveToken> {
      const known = last.get(holder.tokenGroup);
      if (holder.isShared && known && Date.now() - known.at < SHARED_MS) return known.token;
      const token = mint(holder);
      const made = { token, at: Date.now() };
      last.set(holder.tokenGroup, made);
      token.catch(() => last.get(holder.tokenGroup) === made && last.delete(holder.tokenGroup));
      return token;
    },
    lastOf: async ({ tokenGroup }: Holder) => (await last.get(tokenGroup)?.token)?.token ?? null,
  };
}
