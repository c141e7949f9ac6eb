import {
  addIfUnchanged,
  addToCounts,
  type Count,
  selectCounts,
  takeFromCounts,
} from '../../api/limits/store.ts';
import { type Clock, plusMs } from '../../kernel/clock.ts';
import { networkOf } from '../../kernel/network.ts';
import { type Tenant, tenantKey } from '../../kernel/tenant.ts';
import type { Sql } from '../../state/db/database.ts';
import type { AttemptOutcome, CardTestingGuard, ChargeAttempt } from './model.ts';
import { isPaused, isStopped, type TokenPause } from './tokens/model.ts';

// Card testing: thieves try stolen numbers by the hundred, at any shop that allows it. Declined cards are
// counted for each network, checkout token and account. An approved card subtracts one: a carrier with one
// address for thousands of payers, and a shop that sells a lot, stay near zero. Only a network's own count
// makes it wait; the other two counts decide how long. A token on which a thousand networks test cards still
// sells to a network without a declined card.

/**
 * The number of declined cards after which a network waits, and its first wait. Each further card doubles the
 * wait.
 */
interface Pace {
  free: number;
  firstWaitMs: number;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

const PACES = {
  calm: { free: 5, firstWaitMs: 2 * SECOND },
  /** The pace for a token or an account with many declined cards. */
  hot: { free: 2, firstWaitMs: 15 * SECOND },
  /** The pace for a token that is paused for its declined cards. */
  paused: { free: 1, firstWaitMs: MINUTE },
} satisfies Record<string, Pace>;

const MAX_WAIT_MS = 30 * MINUTE;
/** The time without a declined card after which a count is dropped. */
const QUIET_MS = 60 * MINUTE;

/** Declined cards minus approved ones. */
const HOT_TOKEN = 20;
const HOT_ACCOUNT = 60;
const PAUSED_TOKEN = 40;
/** The largest count of a token or an account: after an attack of any size, as many approved cards bring it back to zero. */
const MAX_COUNT = 120;
/** The largest count of a network, at which the wait is the longest. */
const MAX_NETWORK_COUNT = 16;

/** The wait of a network with this number of declined cards, from its last card on. */
export function waitMs(declines: number, { free, firstWaitMs }: Pace): number {
  if (declines < free) return 0;
  return Math.min(MAX_WAIT_MS, firstWaitMs * 2 ** (declines - free));
}

export interface DeclineMeter {
  /** Called for each card; `held_back`: it was not tried, because the payer has to wait. */
  onCard(outcome: 'approved' | 'declined' | 'held_back'): void;
  onTokenPaused(): void;
}

export function createCardTestingGuard({
  sql,
  clock,
  tokens,
  meter,
}: {
  sql: Sql;
  clock: Clock;
  tokens: {
    pauseOf(tokenId: string): Promise<TokenPause | null>;
    /** Resolves to whether this has paused the token. */
    pauseForDeclines(tenant: Tenant, tokenId: string): Promise<boolean>;
  };
  meter: DeclineMeter;
}): CardTestingGuard {
  async function assess(
    attempt: ChargeAttempt,
  ): Promise<{ seen: Count | null; retryAt: Date | null; now: Date }> {
    const { network, token, account } = keysOf(attempt);
    const now = clock.now();
    const keys = [network, token, account].filter((key) => key !== null);
    const [pause, counts] = await Promise.all([
      attempt.tokenId === null ? null : tokens.pauseOf(attempt.tokenId),
      selectCounts(sql, keys, { now, quietMs: QUIET_MS }),
    ]);
    const countOf = (key: string | null) => (key === null ? null : (counts.get(key) ?? null));
    const seen = countOf(network);
    if (isStopped(pause, now)) {
      const retryAt = plusMs(now, PAUSED_RETRY_MS);
      const { pausedUntil } = pause;
      return { seen, now, retryAt: pausedUntil && pausedUntil < retryAt ? pausedUntil : retryAt };
    }
    const isHot = (countOf(token)?.used ?? 0) >= HOT_TOKEN || (countOf(account)?.used ?? 0) >= HOT_ACCOUNT;
    const pace = isPaused(pause, now) ? PACES.paused : isHot ? PACES.hot : PACES.calm;
    if (!seen) return { seen, now, retryAt: null };
    const retryAt = plusMs(seen.endsAt, waitMs(seen.used, pace) - QUIET_MS);
    return { seen, now, retryAt: retryAt > now ? retryAt : null };
  }

  async function admit(attempt: ChargeAttempt): Promise<Date | null> {
    const { network } = keysOf(attempt);
    for (;;) {
      const { seen, retryAt, now } = await assess(attempt);
      if (retryAt || network === null) return retryAt;
      // Another attempt of the network was counted meanwhile, so this one reads again.
      if (await addIfUnchanged(sql, { key: network, seen, now, quietMs: QUIET_MS, most: MAX_NETWORK_COUNT }))
        return null;
    }
  }

  async function countDeclined({ tenant, tokenId, ...attempt }: ChargeAttempt): Promise<void> {
    const { token, account } = keysOf({ tenant, tokenId, ...attempt });
    const keys = [account, ...(token === null ? [] : [token])];
    const counts = await addToCounts(sql, keys, { now: clock.now(), quietMs: QUIET_MS, most: MAX_COUNT });
    if (tokenId === null || token === null || (counts.get(token) ?? 0) < PAUSED_TOKEN) return;
    // The token is paused again after as many more declined cards, even if the merchant resumes it.
    await takeFromCounts(sql, [{ key: token, by: PAUSED_TOKEN - HOT_TOKEN }]);
    if (await tokens.pauseForDeclines(tenant, tokenId)) meter.onTokenPaused();
  }

  return {
    peek: async (attempt) => (await assess(attempt)).retryAt,
    async admit(attempt) {
      const retryAt = await admit(attempt);
      if (retryAt) meter.onCard('held_back');
      return retryAt;
    },
    async record(attempt, outcome) {
      if (outcome !== 'unused') meter.onCard(outcome);
      if (outcome === 'declined') return countDeclined(attempt);
      const credits = creditsOf(attempt, outcome);
      if (credits.length > 0) await takeFromCounts(sql, credits);
    },
  };
}

/**
 * The longest wait of a payer whose token the merchant has paused. A pause of days would reveal its reason.
 */
const PAUSED_RETRY_MS = 5 * MINUTE;

/**
 * The amounts that an outcome subtracts from the counts. An approved card also cancels the one that was
 * counted at its admission.
 */
function creditsOf(attempt: ChargeAttempt, outcome: AttemptOutcome): { key: string; by: number }[] {
  const { network, token, account } = keysOf(attempt);
  const isApproved = outcome === 'approved';
  return [
    { key: network, by: isApproved ? 2 : 1 },
    { key: token, by: isApproved ? 1 : 0 },
    { key: account, by: isApproved ? 1 : 0 },
  ].flatMap(({ key, by }) => (key !== null && by > 0 ? [{ key, by }] : []));
}

/**
 * The keys of the three counts. A network has one count over all accounts, because card testers try every
 * shop.
 */
function keysOf({ tenant, tokenId, address }: ChargeAttempt) {
  return {
    network: address === null ? null : `declines network ${networkOf(address)}`,
    token: tokenId === null ? null : `declines token ${tokenId}`,
    account: `declines account ${tenantKey(tenant)}`,
  };
}
