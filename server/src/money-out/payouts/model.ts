import { z } from 'zod';
import { ValidationError } from '../../kernel/errors.ts';
import { readableCode } from '../../kernel/ids.ts';
import {
  type AmountFilter,
  among,
  amountConditions,
  before,
  type Conditions,
  type DetailFilter,
  equal,
  from,
  matches,
  named,
} from '../../kernel/list-filter.ts';
import type { ListRange } from '../../kernel/list-range.ts';
import { type Cents, isCents } from '../../kernel/money.ts';
import type { DestinationKind, DestinationVariant } from '../../kernel/payout-methods/method.ts';
import {
  METHODS,
  methodOf,
  PAYOUT_METHODS,
  type PayoutMethod,
} from '../../kernel/payout-methods/registry.ts';
import { type PixKeyKind, pixKeyType } from '../../kernel/pix-key.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import { externalIdText, idempotencyKeyText, requiredOr } from '../../kernel/text.ts';
import type { Totals, TotalsGrouping } from '../../kernel/totals.ts';

export type { PayoutMethod } from '../../kernel/payout-methods/registry.ts';

// ── Methods ─────────────────────────────────────────────────────────────────────────────────────

/** The kinds of destinations, without duplicates: several methods share one. */
export const DESTINATION_KINDS: readonly DestinationKind[] = [
  ...new Set(PAYOUT_METHODS.map((method) => methodOf(method).destination)),
];

/** The kinds of destinations in the descriptions of an input. */
export const DESTINATIONS_IN_WORDS = oneOf(({ inWords, variants }) =>
  variants ? `${inWords} (${variants})` : inWords,
);

/** The kinds of destinations in the descriptions of an output. */
export const SHOWN_DESTINATIONS_IN_WORDS = oneOf(({ inWords, isPublic }) =>
  isPublic ? inWords : `${inWords} (masked)`,
);

function oneOf(wordsFor: (kind: DestinationKind) => string): string {
  const words = DESTINATION_KINDS.map(wordsFor);
  return [words.slice(0, -1).join(', '), ...words.slice(-1)].join(' or ');
}

// ── A payout ────────────────────────────────────────────────────────────────────────────────────

/** The status of a payout; in the document (section 3.3): pendente, processing, concluido, negado. One that came back stays concluido. */
export type PayoutStatus = 'pending' | 'processing' | 'completed' | 'denied' | 'returned';
export const PAYOUT_STATUSES = [
  'pending',
  'processing',
  'completed',
  'denied',
  'returned',
] as const satisfies PayoutStatus[];

/** A payout of the main account, which the document calls a withdrawal. All instants in UTC. */
export interface OwnPayout {
  /** 24 hex digits. */
  withdrawalId: string;
  /** `SAQ-…`, which support asks for. */
  code: string;
  /** A version that grows by one with each change: of two answers the larger is the newer. */
  version: number;
  method: PayoutMethod;
  status: PayoutStatus;
  /** The amount that is debited to the merchant, the fee included. */
  amountCents: Cents;
  feeCents: Cents;
  /**
   * The amount that is debited to the LTC balance, the fee included, as quoted; null if reais are debited.
   */
  litoshi: number | null;
  /** The destination in its normal form, whole; callers see it masked. */
  destination: string;
  requestedAt: Date;
  processedAt: Date | null;
  /** The instant at which a completed payout had been returned. */
  returnedAt: Date | null;
  deniedReason: string | null;
  /** The bank's identifier of a PIX that has arrived. */
  endToEndId: string | null;
  /** The merchant's own number for the payout; several payouts may have the same number. */
  externalId: string | null;
  /** The variant of the destination in the request; null if the service does not show it. */
  destinationKind: DestinationVariant | null;
}

/**
 * A payout as the service behind a facade describes it. Members may be missing, and methods and statuses may
 * be unknown here.
 */
export interface Payout
  extends Omit<OwnPayout, 'withdrawalId' | 'code' | 'method' | 'status' | 'feeCents' | 'requestedAt'> {
  /** The withdrawal id; null until the service has named the payout. */
  withdrawalId: string | null;
  code: string | null;
  method: PayoutMethod | 'unknown';
  status: PayoutStatus | 'unknown';
  /** The fee; null if the service does not name it. */
  feeCents: Cents | null;
  requestedAt: Date | null;
  /** The id of our request, if its outcome was unknown for a time: it stays the payout's id. */
  requestId?: string | undefined;
  /** Whether the outcome of that request is still unknown: the service may not have made the payout. */
  inDoubt?: boolean | undefined;
  /** The instant since which only a webhook says this status; absent if the service itself has said it. */
  claimedAt?: Date | undefined;
  /**
   * The `hashInput` of method, amount and whole destination in the request; absent if one of them is unknown.
   */
  inputHash?: string | undefined;
}

/** A refusal of the service that names neither a code nor a field, while the wallet could not be read: the balance may not suffice. */
export class UnclearRefusal extends ValidationError {}

/** The payout's id, which stays the same if the service names the payout later. */
export function payoutIdOf({ requestId, withdrawalId }: Payout): string {
  return requestId ?? withdrawalId!;
}

export function newPayoutCode(): string {
  return `SAQ-${readableCode(12)}`;
}

/** Whether a text can be a withdrawal id at all. */
export function isWithdrawalId(text: string): boolean {
  return /^[0-9a-f]{24}$/.test(text);
}

export function isPayoutCode(text: string): boolean {
  return /^SAQ-[0-9A-Z]{12}$/.test(text);
}

export interface PayoutNames {
  withdrawalId?: string | null | undefined;
  code?: string | null | undefined;
}

/** @throws ValidationError for a name that this service would never issue */
export function assertOwnNames({ withdrawalId, code }: PayoutNames): void {
  if (withdrawalId != null && !isWithdrawalId(withdrawalId))
    throw new ValidationError([{ path: 'withdrawalId', message: 'must be 24 hex digits, in lower case' }]);
  if (code != null && !isPayoutCode(code))
    throw new ValidationError([{ path: 'code', message: 'must be SAQ- and 12 letters and digits' }]);
}

/**
 * Whether no later status can follow. COMPLETED is final unless the money comes back; DENIED and RETURNED are
 * final.
 */
export function isFinal(status: PayoutStatus | 'unknown'): boolean {
  return status === 'completed' || status === 'denied' || status === 'returned';
}

/** Whether no later status can follow, and the service itself has said so. */
export function isSettled({ status, claimedAt }: Payout): boolean {
  return isFinal(status) && claimedAt === undefined;
}

/** Whether money of this method leaves before the bank confirms it. For an unknown method it may. */
export function leavesUnconfirmed(method: Payout['method']): boolean {
  return method === 'unknown' || methodOf(method).leavesUnconfirmed;
}

/** The statuses that may follow, none of them earlier. Only money that left unconfirmed is processing. */
export function nextStatuses({
  method,
  status,
}: Pick<OwnPayout, 'method' | 'status'>): readonly PayoutStatus[] {
  switch (status) {
    case 'pending':
      return leavesUnconfirmed(method) ? ['processing', 'denied'] : ['completed', 'denied'];
    case 'processing':
      return ['completed', 'denied'];
    case 'completed':
      return methodOf(method).rail.comesBack ? ['returned'] : [];
    case 'denied':
    case 'returned':
      return [];
  }
}

/** The amount that the destination receives: that of the payout without the fee. */
export function netCents({ amountCents, feeCents }: Pick<OwnPayout, 'amountCents' | 'feeCents'>): Cents {
  return amountCents - feeCents;
}

/**
 * The net amount's share of the litoshi, rounded down: the fraction stays with the fee. Null if reais are
 * debited.
 */
export function netLitoshi(payout: Pick<OwnPayout, 'amountCents' | 'feeCents' | 'litoshi'>): number | null {
  if (payout.litoshi === null) return null;
  return Number((BigInt(payout.litoshi) * BigInt(netCents(payout))) / BigInt(payout.amountCents));
}

/** Reads a payout back from an event's snapshot in JSON, where instants are text. */
export function payoutFromJson(json: unknown): Payout {
  const payout = json as Payout &
    Record<'requestedAt' | 'processedAt' | 'returnedAt' | 'claimedAt', string | null>;
  return {
    ...payout,
    externalId: payout.externalId ?? null,
    destinationKind: payout.destinationKind ?? variantOf(payout.method, payout.destination),
    requestedAt: payout.requestedAt === null ? null : new Date(payout.requestedAt),
    processedAt: payout.processedAt === null ? null : new Date(payout.processedAt),
    returnedAt: payout.returnedAt == null ? null : new Date(payout.returnedAt),
    ...(payout.claimedAt && { claimedAt: new Date(payout.claimedAt) }),
  };
}

// ── Destinations ────────────────────────────────────────────────────────────────────────────────

/**
 * Parses a destination into its normal form; null, with the reason `why`, if the method cannot pay to it.
 * `wrong`: which is wrong, the destination or the type that the request names for its PIX key.
 */
export function parseDestination(
  method: PayoutMethod,
  text: string,
  type?: PixKeyKind | null | undefined,
):
  | { destination: string; why: null }
  | { destination: null; why: string; wrong: 'destination' | 'pixKeyType' } {
  const kind = methodOf(method).destination;
  if (type != null) {
    if (!kind.parseAs)
      return {
        destination: null,
        wrong: 'pixKeyType',
        why: `must be left out, because ${method} pays to no PIX key`,
      };
    const parsed = kind.parseAs(text, type);
    if (parsed.wrong === null) return { destination: parsed.key, why: null };
    return {
      destination: null,
      wrong: parsed.wrong === 'type' ? 'pixKeyType' : 'destination',
      why: parsed.why,
    };
  }
  const refusal = kind.refusal(text);
  const destination = refusal === null ? kind.parse(text) : null;
  return destination === null
    ? { destination, wrong: 'destination', why: refusal ?? kind.mustBe }
    : { destination, why: null };
}

/** The destination of a payout for which the service names none. */
export const NO_DESTINATION = '(not told)';

/**
 * Masks a destination for callers who may see the payout. A public address is shortened only with `masksPublic`. A masked
 * destination stays as it is, and a text that is no destination of its method is hidden whole.
 */
export function maskDestination(
  { method, destination }: Pick<Payout, 'method' | 'destination'>,
  { masksPublic }: { masksPublic: boolean },
): string {
  if (destination === NO_DESTINATION) return destination;
  const kind = kindOf(method, destination);
  if (kind?.isPublic && (!masksPublic || isMasked(destination))) return destination;
  return kind?.mask(destination) ?? (isMasked(destination) ? destination : '****');
}

/**
 * The kind of a destination. For an unknown method, such as one of a newer version, it is a kind that can
 * parse the text; kinds that must be hidden are tried first.
 */
function kindOf(method: Payout['method'], destination: string): DestinationKind | undefined {
  if (Object.hasOwn(METHODS, method)) return methodOf(method as PayoutMethod).destination;
  const possible = DESTINATION_KINDS.filter((kind) => kind.parse(destination) !== null);
  return possible.find(({ isPublic }) => !isPublic) ?? possible[0];
}

/** The variant of a destination, whole or masked; null if the text does not show it. */
export function variantOf(method: Payout['method'], destination: string): DestinationVariant | null {
  return kindOf(method, destination)?.variantOf(destination) ?? null;
}

/** Whether a part of a destination is hidden. */
export function isMasked(destination: string): boolean {
  return /[*•…]|\.{3}/.test(destination);
}

// ── Input ───────────────────────────────────────────────────────────────────────────────────────

export const payoutMethod = z.enum(PAYOUT_METHODS, {
  error: requiredOr(`must be one of ${PAYOUT_METHODS.join(', ')}`),
});

const payoutAmount = z
  .number({ error: requiredOr('must be an integer number of cents') })
  .refine(isCents, { message: 'must be an integer number of cents', abort: true })
  .refine((cents) => cents > 0, 'must be more than 0');

export interface RequestPayoutInput {
  method: PayoutMethod;
  amountCents: Cents;
  /** The destination in its normal form. */
  destination: string;
  /** The kind of the PIX key that the writer names; the key must be of this kind. */
  pixKeyType?: PixKeyKind | null | undefined;
  /** The merchant's own number for the payout. */
  externalId?: string | null | undefined;
  idempotencyKey?: string | null | undefined;
}

/** The members of a request, with the destination as it was written. */
export const requestPayoutFields = z.object({
  method: z.enum(PAYOUT_METHODS, { error: 'UNKNOWN cannot be asked for' }),
  amountCents: payoutAmount,
  destination: z.string(),
  pixKeyType,
  externalId: externalIdText.nullish(),
  idempotencyKey: idempotencyKeyText.nullish(),
});

/** Brings the destination of a request into its normal form, or names the member that is wrong. */
export function withDestination<Input extends RequestPayoutInput>(
  input: Input,
  context: z.core.$RefinementCtx,
): Input {
  const parsed = parseDestination(input.method, input.destination, input.pixKeyType);
  if (parsed.destination !== null) return { ...input, destination: parsed.destination };
  context.addIssue({ code: 'custom', path: [parsed.wrong], message: parsed.why });
  return z.NEVER;
}

export const requestPayoutInput = requestPayoutFields.transform(
  (input, context): RequestPayoutInput => withDestination(input, context),
);

export interface PayoutFilter extends AmountFilter, Pick<DetailFilter, 'externalId' | 'reference'> {
  status?: readonly PayoutStatus[] | undefined;
  method?: readonly PayoutMethod[] | undefined;
  /** Selects payouts that were requested at this instant or later. */
  requestedAfter?: Date | undefined;
  /** Selects payouts that were requested before this instant. */
  requestedBefore?: Date | undefined;
  /** Selects payouts that were completed or denied at this instant or later. */
  processedAfter?: Date | undefined;
  /** Selects payouts that were completed or denied before this instant. */
  processedBefore?: Date | undefined;
}

/** The condition of each member of the filter, for lists and updates. */
export const payoutConditions = {
  status: among('status'),
  externalId: equal('externalId'),
  reference: named(['withdrawalId', 'code', 'endToEndId']),
  ...amountConditions(),
  method: among('method'),
  requestedAfter: from('requestedAt'),
  requestedBefore: before('requestedAt'),
  processedAfter: from('processedAt'),
  processedBefore: before('processedAt'),
} satisfies Conditions<PayoutFilter, Payout>;

/** Whether a filter selects a payout. */
export function matchesFilter(payout: Payout, filter: PayoutFilter): boolean {
  return matches(payoutConditions, payout, filter);
}

/**
 * A part of the list, newest first: the first or the last `limit` of the payouts after the position `after` and
 * before the position `before`.
 */
export type PayoutRange = PayoutFilter & ListRange;

/** The most payouts that `listOfAmounts` lists. */
export const MOST_OF_AMOUNTS = 2_000;

// ── The port ────────────────────────────────────────────────────────────────────────────────────

/** The settings of an account that payouts depend on. */
export interface AccountSettings {
  /** The fee that the service takes from a payout of each method. */
  payoutFeesCents: Record<PayoutMethod, Cents>;
  /** The largest payout by PIX; null for no ceiling. */
  pixMaxCents: Cents | null;
}

/** The port of payouts of the main account. */
export interface PayoutService<P extends Payout = Payout> {
  /**
   * Debits the payout and sends it. The same idempotency key and input give the same payout again,
   * `replayed`, even if the balance and the limits have changed since.
   * @throws ValidationError (the amount does not exceed the fee), IdempotencyError, RateLimitError (10 an
   * hour, 5 of them turbo), InsufficientFundsError, UpstreamError (no quote for LTC)
   */
  request(tenant: Tenant, input: RequestPayoutInput): Promise<{ payout: P; replayed: boolean }>;
  /** Asserts that names have a valid form; a facade leaves that to the service. @throws ValidationError */
  assertNames(names: PayoutNames): void;
  /** Finds a payout by withdrawal id or code. Null if it does not exist or is another tenant's. */
  find(tenant: Tenant, reference: string): Promise<P | null>;
  /** Finds payouts in the order of the references, null if there is none. */
  findMany(tenant: Tenant, references: readonly string[]): Promise<(P | null)[]>;
  /** Finds payouts by their ids without another service, null if there is none. */
  findKept: PayoutService<P>['findMany'];
  /** Finds the payout that was requested with an idempotency key; null if none has been made yet. */
  findByKey(tenant: Tenant, idempotencyKey: string): Promise<P | null>;
  /**
   * Finds a payout by its id or withdrawal id, with the version of the tenant's log for which its state
   * holds.
   */
  findWithVersion(tenant: Tenant, id: string): Promise<{ version: number; payout: P } | null>;
  /** Lists payouts, each with its position in the list. `more`: there are others in the direction of reading. */
  list(
    tenant: Tenant,
    range: PayoutRange,
  ): Promise<{ items: { position: number; payout: P }[]; more: boolean }>;
  /** Lists the same without another service: in front of one, what that has shown, in the order in which it was seen. */
  listKept: PayoutService<P>['list'];
  /**
   * Lists the payouts of any of these amounts that were requested at `since` or later, newest first and 2,000 at most, without
   * another service: in front of one those that it has shown, and those in doubt.
   */
  listOfAmounts(tenant: Tenant, amounts: readonly Cents[], since: Date): Promise<P[]>;
  /** Lists a page by its offset, newest first, with the length of the whole list (the document's 2.1.6). */
  listPage(
    tenant: Tenant,
    page: PayoutFilter & { limit: number; offset: number },
  ): Promise<{ items: P[]; total: number }>;
  count(tenant: Tenant, filter: PayoutFilter): Promise<number>;
  /**
   * Adds up the payouts that a filter selects, in all and by groups. In front of another service it adds up
   * what this server has seen, and is never exact.
   * @throws PreconditionError (NOT_OFFERED)
   */
  totals(tenant: Tenant, filter: PayoutFilter, groupBy: readonly TotalsGrouping[]): Promise<Totals>;
  /**
   * Asks the bank now, before the scheduled time; for a completed payout, whether it has been returned. False
   * if the outcome is known, or there is no such payout.
   */
  recheck(tenant: Tenant, withdrawalId: string): Promise<boolean>;
}

/** The task that sends a payout, or asks the bank for its state. */
export type PayoutTask = 'payout.send';
