import { plusMs } from '../../kernel/clock.ts';
import type { Environment } from '../../kernel/tenant.ts';
import type { Balances } from '../../state/ledger/postings.ts';
import type { Share } from '../pix/credit.ts';
import { newMembers, type PixChange, type PixRules, pixDecisions } from '../pix/decisions.ts';
import type { AccountSettings } from '../pix/model.ts';
import { pixRefunds, type RefundParts } from '../pix/refunding.ts';
import type { ChargeRequest, RefundPart, StoredCharge } from './model.ts';
import { partsOfRefund, splitsOf } from './splitting.ts';

export const chargeRules: PixRules<StoredCharge> = {
  name: 'charge',
  idOf: ({ chargeId }) => chargeId,
  sharesOf: ({ splits }) => splits,
};

export const chargeDecisions = pixDecisions(chargeRules);

/** A new charge, before the bank is asked for its code. @throws ValidationError, PreconditionError (LIMIT_REACHED) */
export function decideCreate(
  { valueCents, description, metadata, externalId, language = null, expiresInSeconds, splits }: ChargeRequest,
  {
    chargeId,
    environment,
    account,
    balances,
    now,
  }: {
    chargeId: string;
    environment: Environment;
    account: AccountSettings;
    balances: Balances;
    now: Date;
  },
): PixChange<StoredCharge> {
  const members = newMembers({
    amountCents: valueCents,
    feeCents: account.pixFeeCents,
    environment,
    createdAt: now,
    expiresAt: plusMs(now, expiresInSeconds * 1_000),
  });
  const charge: StoredCharge = {
    chargeId,
    ...members,
    description,
    metadata,
    externalId,
    language,
    splits: splitsOf(splits, valueCents - members.feeCents),
    refundParts: [],
  };
  return chargeDecisions.decideNew(charge, { environment, balances });
}

// ── Refunds ─────────────────────────────────────────────────────────────────────────────────────

/** The splits after a refund has taken parts of them, or has returned parts. */
function withParts(
  { splits }: StoredCharge,
  parts: readonly RefundPart[],
  sign: 1 | -1,
): Pick<StoredCharge, 'splits'> {
  const partOf = new Map(parts.map((part) => [part.subaccountId, part]));
  return {
    splits: splits.map((split) => {
      const part = partOf.get(split.subaccountId);
      if (!part) return split;
      return {
        ...split,
        assignedCents: split.assignedCents + sign * part.assignedCents,
        refundedCents: split.refundedCents + sign * part.takenCents,
      };
    }),
  };
}

function takenOf(parts: readonly RefundPart[]): Share[] {
  return parts.map(({ subaccountId, takenCents }) => ({ subaccountId, amountCents: takenCents }));
}

const splitRefunds: RefundParts<StoredCharge> = {
  begin(charge, { refundId, amountCents }, balanceOf) {
    if (charge.splits.length === 0) return { changed: {}, parts: [] };
    const parts = partsOfRefund(charge, amountCents, balanceOf);
    return {
      changed: {
        ...withParts(charge, parts, 1),
        refundParts: [...charge.refundParts, { refundId, parts }],
      },
      parts: takenOf(parts),
    };
  },

  end(charge, refundId, outcome) {
    const { parts = [] } = charge.refundParts.find((each) => each.refundId === refundId) ?? {};
    const underWay = charge.refundParts.filter((each) => each.refundId !== refundId);
    return {
      changed: {
        ...(outcome === 'failed' ? withParts(charge, parts, -1) : {}),
        refundParts: underWay,
      },
      parts: takenOf(parts),
    };
  },
};

export const chargeRefunds = pixRefunds(chargeRules, splitRefunds);
