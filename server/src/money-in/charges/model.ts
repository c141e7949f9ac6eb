import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import {
  amountMembers,
  amountName,
  demandAmount,
  exactlyOneOf,
  ONE_AMOUNT,
  withKnownAmount,
} from '../../kernel/aliases.ts';
import { plusMs } from '../../kernel/clock.ts';
import { ValidationError } from '../../kernel/errors.ts';
import type { Language } from '../../kernel/language.ts';
import { among, type Conditions, detailConditions, matches } from '../../kernel/list-filter.ts';
import type { Cents } from '../../kernel/money.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import { externalIdText, idempotencyKeyText, notNull, optionalLimit } from '../../kernel/text.ts';
import { transferInput } from '../../money-out/subaccounts/model.ts';
import { checkoutDetails } from '../checkout/model.ts';
import {
  type PixFilter,
  type PixReads,
  type PixResource,
  pixAmount,
  type StoredPixResource,
} from '../pix/model.ts';
import type { PaymentStatus } from '../receiving/model.ts';
import { basisPointsOf, percentText } from './percent.ts';

/** The kinds of charges: the id of each has a prefix of its own. */
export const CHARGE_KINDS = ['single', 'split'] as const;
export type ChargeKind = (typeof CHARGE_KINDS)[number];

const PREFIXES = { single: 'psc_', split: 'psplit_' } as const satisfies Record<ChargeKind, string>;

/** Names a charge: by the given 32 hex digits, else by random ones. */
export function newChargeId(kind: ChargeKind, digits: string | null): string {
  return PREFIXES[kind] + (digits ?? randomUUID().replaceAll('-', ''));
}

/** The ids that a charge with this txid can have. */
export function chargeIdsOf(txid: string): string[] {
  return CHARGE_KINDS.map((kind) => newChargeId(kind, txid));
}

export function kindOfCharge(chargeId: string): ChargeKind {
  return chargeId.startsWith(PREFIXES.split) ? 'split' : 'single';
}

/** Whether a text has the form of a charge's id (the document's section 2.1): `psc_` or `psplit_`, and 32 hex digits. */
export function isChargeId(text: string): boolean {
  return /^(?:psc|psplit)_[0-9a-f]{32}$/.test(text);
}

/**
 * Whether a text can be the id of a charge of any service: the document shows only the beginning of its form.
 */
export function isAnyChargeId(text: string): boolean {
  return /^(?:psc|psplit)_[A-Za-z0-9_-]{1,64}$/.test(text);
}

export const CHARGE_ID_FORM = 'psc_ or psplit_, and 32 hex digits in lower case';

/** The id of a charge of any service; this one asserts its own form. */
export const anyChargeIdText = z.string().refine(isAnyChargeId, `must be ${CHARGE_ID_FORM}`);

export const chargeIdText = z
  .string()
  .refine(isChargeId, `must be ${CHARGE_ID_FORM}`)
  .meta({
    description: 'psc_, or psplit_ of a split charge, and 32 hex digits',
    examples: ['psc_0c7d1a5be2f94a3d8e6b7f100c7d1a5b'],
  });

/** A subaccount's part of a split charge. */
export interface ChargeSplit {
  subaccountId: string;
  amountCents: Cents;
  /** The requested share, in percent of the net amount: a decimal text. Null for a fixed amount. */
  percent: string | null;
  /**
   * The amount that refunds took back from the subaccount, including refunds under way, whose money has left
   * its balance. `refundedCents` of the charge counts completed refunds alone.
   */
  refundedCents: Cents;
}

/** A charge by PIX (the document's section 2.5), as far as it is known. */
export interface Charge extends PixResource {
  /** `psc_`, or `psplit_` of a split charge, and 32 hex digits. */
  chargeId: string;
  splits: readonly ChargeSplit[];
  /**
   * The merchant's own number for the charge. Several charges may have the same number, because a charge has
   * no order.
   */
  externalId: string | null;
}

/** A split of the embedded service. */
export interface StoredSplit extends ChargeSplit {
  /**
   * The subaccount's share of refunds, under way or done. It exceeds `refundedCents` if the balance of the
   * subaccount was too low and the owner has given the rest.
   */
  assignedCents: Cents;
}

/** The part of a subaccount in a refund under way. */
export interface RefundPart {
  subaccountId: string;
  /** The subaccount's share of the refund. */
  assignedCents: Cents;
  /**
   * The amount that was taken from the subaccount, which is less than its share if its balance was too low.
   */
  takenCents: Cents;
}

/** A charge of the embedded service. */
export interface StoredCharge extends Charge, StoredPixResource {
  status: PaymentStatus;
  feeCents: Cents;
  language: Language | null;
  createdAt: Date;
  canceledAt: Date | null;
  refundedCents: Cents;
  refundingCents: Cents;
  disputedCents: Cents;
  returnedCredits: StoredPixResource['returnedCredits'];
  splits: readonly StoredSplit[];
  /** The parts of the refunds under way. */
  refundParts: readonly { refundId: string; parts: readonly RefundPart[] }[];
}

/** The account's own part: the net amount without the splits. Null if the service does not report its fee. */
export function ownerAmountOf({ amountCents, feeCents, splits }: Charge): Cents | null {
  if (feeCents === null) return null;
  return splits.reduce((rest, split) => rest - split.amountCents, amountCents - feeCents);
}

const DEFAULT_SECONDS = 86_400;

/** The instant of the creation, derived from the expiry if the service does not show it. */
export function chargeBeganAt({ createdAt, expiresAt }: Pick<Charge, 'createdAt' | 'expiresAt'>): Date {
  return createdAt ?? plusMs(expiresAt, -DEFAULT_SECONDS * 1_000);
}

// ── Input (the document's section 8) ────────────────────────────────────────────────────────────

const MAX_BENEFICIARIES = 9;
/** The upper limit of a split charge, R$ 5.000,00. */
export const SPLIT_MAX_CENTS = 500_000;

const percent = z
  .union([z.string(), z.number()], 'must be a number of percent')
  .superRefine((value, context) => {
    const message = whyNoPercent(String(value));
    if (message !== null) context.addIssue({ code: 'custom', message });
  });

/** A requested share: a fixed amount, or a percentage of the net amount. */
const share = z.object({
  amountCents: pixAmount.nullish(),
  percent: percent
    .nullish()
    .describe(
      'More than 0 and at most 100, with at most two decimals, of the net amount: a number, or its text',
    ),
});

const isOneOfTwo = (asked: z.infer<typeof share>) => (asked.amountCents == null) !== (asked.percent == null);
const ONE_OF_TWO = { path: ['amountCents'], message: 'must be given, or percent in its place, and not both' };

const { subaccountId } = transferInput.shape;
const split = share
  .extend({ subaccountId })
  .refine(isOneOfTwo, ONE_OF_TWO)
  .meta(exactlyOneOf('amountCents', 'percent'));
/** The same in GraphQL, where the two ways to ask for a share are members of an object. */
const nestedSplit = z.object({ subaccountId, share: share.refine(isOneOfTwo, ONE_OF_TWO) });

const shape = {
  ...amountMembers(pixAmount, 'The amount'),
  description: checkoutDetails.shape.description,
  language: checkoutDetails.shape.language,
  expiresInSeconds: z
    .number('must be a whole number of seconds')
    .int('must be a whole number of seconds')
    .min(60, 'must be at least 60')
    .max(2_592_000, 'must be at most 30 days (2592000)')
    .nullish()
    .describe('A day (86400) where left out'),
  metadata: checkoutDetails.shape.metadata.describe(
    'Serialized JSON, given back byte for byte; not together with splits',
  ),
  externalId: externalIdText
    .nullish()
    .describe('Your own label for it, which several charges may have: a charge belongs to no order'),
  idempotencyKey: idempotencyKeyText.nullish().describe('The same key and input give the same charge'),
};

function chargeInput<Split extends z.ZodType<{ subaccountId: string }>>(each: Split) {
  return z
    .object({
      ...shape,
      splits: optionalLimit(
        z
          .array(each, { error: notNull('a charge that is not split') })
          .min(1, 'must name at least one beneficiary')
          .max(MAX_BENEFICIARIES, `must name at most ${MAX_BENEFICIARIES} beneficiaries`)
          .superRefine((splits, context) => {
            const ids = splits.map((one) => one.subaccountId);
            for (const [index, id] of ids.entries())
              if (ids.indexOf(id) < index)
                context.addIssue({
                  code: 'custom',
                  path: [index, 'subaccountId'],
                  message: 'is named twice',
                });
          }),
      ).describe('The parts of subaccounts; the rest is the account’s'),
    })
    .refine(({ splits, metadata }) => splits == null || metadata == null, {
      path: ['metadata'],
      message: 'split charges do not accept metadata',
    })
    .superRefine(demandAmount)
    .superRefine((input, context) => {
      const name = amountName(input);
      if (input.splits == null || (input[name] ?? 0) <= SPLIT_MAX_CENTS) return;
      const message = `must be at most ${SPLIT_MAX_CENTS} with splits`;
      context.addIssue({ code: 'custom', path: [name], message });
    })
    .transform(withKnownAmount)
    .meta(ONE_AMOUNT);
}

export const createChargeInput = chargeInput(split);
export const createChargeGraphqlInput = chargeInput(nestedSplit);
export type CreateChargeInput = z.infer<typeof createChargeInput>;

/** The input that the GraphQL interface has, in the form of the port. */
export function flatInput(input: z.infer<typeof createChargeGraphqlInput>): CreateChargeInput {
  const { splits, ...rest } = input;
  return { ...rest, splits: splits?.map((each) => ({ subaccountId: each.subaccountId, ...each.share })) };
}

/** The same refusal with the path of a share in the GraphQL interface; any other error unchanged. */
export function nestedPaths(error: unknown): unknown {
  if (!(error instanceof ValidationError)) return error;
  return new ValidationError(
    error.fields.map(({ path, message }) => ({
      path: path.replace(/^(input\.splits\.\d+)\.(?=amountCents$|percent$)/, '$1.share.'),
      message,
    })),
  );
}

/**
 * A request in its normal form, by which two requests under one idempotency key are compared: defaults are filled in, and 80,
 * `80.0` and `80.00` percent are one text.
 */
export interface ChargeRequest {
  valueCents: Cents;
  description: string | null;
  expiresInSeconds: number;
  metadata: string | null;
  externalId: string | null;
  /** Absent in a request that an earlier version has stored. */
  language?: Language | null;
  splits: readonly AskedSplit[];
}

/** A requested share: one of the two members is null. */
export interface AskedSplit {
  subaccountId: string;
  amountCents: Cents | null;
  percent: string | null;
}

export function normalRequest({
  valueCents,
  description = null,
  expiresInSeconds,
  metadata = null,
  externalId = null,
  language = null,
  splits,
}: CreateChargeInput): ChargeRequest {
  return {
    valueCents,
    description,
    metadata,
    externalId,
    language,
    expiresInSeconds: expiresInSeconds ?? DEFAULT_SECONDS,
    splits: (splits ?? []).map(({ subaccountId: id, amountCents = null, percent: asked }) => ({
      subaccountId: id,
      amountCents,
      percent: asked == null ? null : percentText(basisPointsOf(String(asked))!),
    })),
  };
}

function whyNoPercent(text: string): string | null {
  const basisPoints = basisPointsOf(text);
  if (basisPoints === null) return 'must be a number of percent with at most two decimals';
  if (basisPoints === 0) return 'must be more than 0';
  return basisPoints > 10_000 ? 'must be at most 100' : null;
}

// ── The port ────────────────────────────────────────────────────────────────────────────────────

export interface ChargeFilter extends Omit<PixFilter, 'customer'> {
  /** Selects split charges if true, the others if false. */
  split?: boolean | undefined;
}

/** The filter as lists and updates know it. */
export interface ChargeListFilter extends PixFilter {
  kind?: readonly ChargeKind[] | undefined;
}

export function listFilterOf({ split: isSplit, ...filter }: ChargeFilter): ChargeListFilter {
  return isSplit === undefined ? filter : { ...filter, kind: [isSplit ? 'split' : 'single'] };
}

/** The condition of each member of the filter, for lists and updates. */
export const chargeConditions = {
  status: among('status'),
  kind: among('kind', ({ chargeId }: Charge) => kindOfCharge(chargeId)),
  ...detailConditions(['chargeId', 'endToEndId']),
} satisfies Conditions<ChargeListFilter, StoredCharge & { kind: ChargeKind; customer: null }>;

/** Whether a filter selects a charge. */
export function matchesFilter(charge: Charge, filter: ChargeListFilter): boolean {
  return matches(chargeConditions, charge, filter);
}

/** The port of charges. The embedded service knows every charge completely. */
export interface ChargeService<C extends Charge = Charge> extends PixReads<C, ChargeFilter> {
  /**
   * Creates a charge and gets its code from the bank. With an idempotency key, the same key and input give the same charge,
   * `replayed`.
   * @throws ValidationError (also: shares of more than the net amount, or of nothing), NotFoundError (a subaccount),
   *   PreconditionError (PAYMENTS_NOT_CONFIGURED, LIMIT_REACHED; in front of another service NOT_OFFERED), IdempotencyError,
   *   UpstreamError (the bank gave no code: `lookupReference` is the charge's id)
   */
  create(tenant: Tenant, input: CreateChargeInput): Promise<{ charge: C; replayed: boolean }>;
  /**
   * Cancels a pending charge, which is expired from then on: money that comes later is sent back. A repeated call changes
   * nothing: `replayed`.
   * @throws ValidationError (the id), NotFoundError, PreconditionError (NOT_CANCELABLE; in front of another service NOT_OFFERED)
   */
  cancel(tenant: Tenant, chargeId: string): Promise<{ charge: C; replayed: boolean }>;
}
