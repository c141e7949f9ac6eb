import { WALLET_FIGURES } from '../board/updates.ts';

// The GraphQL documents of the wallet and the types of their results; operations.check.ts fails to compile when they differ
// from schema.graphql.

/** The figures of an account, in cents of BRL. What the service does not tell is null. */
export interface Wallet {
  /** The gross balance, with what disputes block and what belongs to subaccounts. */
  balanceCents: number | null;
  /** The most that a payout may take. */
  withdrawableCents: number | null;
  /** Card sales that await their release. */
  pendingReleaseCents: number | null;
  /** The amount that disputes block. */
  disputeBlockedCents: number | null;
  subaccountsBalanceCents: number | null;
  /** The amount that the account owes. */
  receivableCents: number | null;
  cryptoBalanceLtc: string | null;
  /** Whether this is the wallet of the sandbox, in which there is no money. */
  sandbox: boolean;
}

/** The wallet at the end of a part of its history. */
export interface WalletBucket {
  endsAt: string;
  closing: { balanceCents: number | null };
}

/** The answer to WALLET_START. */
export interface WalletStart {
  updatesCursor: string;
  wallet: Wallet & { statement: { nodes: { createdAt: string }[] }; history?: WalletBucket[] };
}

const NEWEST = 'statement(first:1){nodes{createdAt}}';

/** The first query. It reads the cursor before the wallet, so that no change falls between the wallet and the stream. */
export const WALLET_START =
  `query WalletStart($startsAt:DateTime!,$endsAt:DateTime!,$interval:HistoryInterval!,$withHistory:Boolean!){updatesCursor wallet{${WALLET_FIGURES} ${NEWEST} history(startsAt:$startsAt,endsAt:$endsAt,interval:$interval)@include(if:$withHistory){endsAt closing{balanceCents}}}}` as const;

export const WALLET = `query WalletPoll{wallet{${WALLET_FIGURES} ${NEWEST}}}` as const;
