import { z } from 'zod';
import { CLAIM_HOLDS_MS, type Source } from '../kernel/authority.ts';
import { RateLimitError, ValidationError } from '../kernel/errors.ts';
import { readableCode } from '../kernel/ids.ts';
import { hashInput } from '../kernel/input-hash.ts';
import { type Cents, isCents, reaisText } from '../kernel/money.ts';
import { maskedKey, parsePixKey } from '../kernel/pix-key.ts';
import type { Environment, Tenant } from '../kernel/tenant.ts';
import { idempotencyKeyText, requiredOr } from '../kernel/text.ts';
import {
  type Balances,
  creditWithRecovery,
  type LedgerTransaction,
  ledgerTransaction,
  type Move,
} from '../ledger/postings.ts';
import { assertLtcWithdrawable, assertWithdrawable } from '../wallet/model.ts';
import { parseLtcAddress, parseUsdtAddress } from './addresses.ts';

/** How a payout of the main account leaves (the document's 6.1); `usd` is USDT. */
export type PayoutMethod = 'pix' | 'pix_turbo' | 'ltc' | 'usd';
export const PAYOUT_METHODS = ['pix', 'pix_turbo', 'ltc', 'usd'] as const satisfies PayoutMethod[];

/** The document's section 3.3: pendente, processing, concluido, negado. */
export type PayoutStatus = 'pending' | 'processing' | 'completed' | 'denied';
export const PAYOUT_STATUSES = [
  'pending',
  'processing',
  'completed',
  'denied',
] as const satisfies PayoutStatus[];

/** A payout of the main account, which the document calls a withdrawal. All instants in UTC. */
export interface OwnPayout {
  /** 24 hex digits. */
  withdrawalId: string;
  /** `SAQ-…`: what support asks for. */
  code: string;
  /** Grows by one with each change: of two answers the larger is the newer. */
  version: number;
  method: PayoutMethod;
  status: PayoutStatus;
  /** What it takes from the merchant, the fee included. */
  amountCents: Cents;
  feeCents: Cents;
  /** What it takes from the LTC balance, the fee included, as quoted; null for any other method. */
  litoshi: number | null;
  /** PIX key, LTC address or USDT address in its normal form, whole: shown masked. */
  destination: string;
  requestedAt: Date;
  processedAt: Date | null;
  deniedReason: string | null;
  /** The bank's identifier of a PIX that has arrived. */
  endToEndId: string | null;
}

/** A payout as far as the service behind a facade tells of it, which may know more words than we do. */
export interface Payout
  extends Omit<OwnPayout, 'withdrawalId' | 'code' | 'method' | 'status' | 'feeCents' | 'requestedAt'> {
  /** Null where the service has not named it yet. */
  withdrawalId: string | null;
  code: string | null;
  method: PayoutMethod | 'unknown';
  status: PayoutStatus | 'unknown';
  /** Null where it is unknown. */
  feeCents: Cents | null;
  requestedAt: Date | null;
  /** The request of ours whose outcome was unknown for a time: the payout's id from then on. */
  requestId?: string | undefined;
  /** The outcome of that request is unknown: the service may not have made the payout. */
  inDoubt?: boolean | undefined;
  /** Since when a webhook alone says this status; absent where the service itself has said it. */
  claimedAt?: Date | undefined;
  /** Of method, amount and whole destination, as `hashInput` of a request makes it; absent where they are not known. */
  inputHash?: string | undefined;
}

/** The same from the start, also of one that the service names later. */
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

/** @throws ValidationError for what this service would never issue */
export function assertOwnNames({ withdrawalId, code }: PayoutNames): void {
  if (withdrawalId != null && !isWithdrawalId(withdrawalId))
    throw new ValidationError([{ path: 'withdrawalId', message: 'must be 24 hex digits, in lower case' }]);
  if (code != null && !isPayoutCode(code))
    throw new ValidationError([{ path: 'code', message: 'must be SAQ- and 12 letters and digits' }]);
}

/** COMPLETED or DENIED: no later status can come. */
export function isFinal(status: PayoutStatus | 'unknown'): boolean {
  return status === 'completed' || status === 'denied';
}

/** No later status can come, and the service itself has said so. */
export function isSettled({ status, claimedAt }: Payout): boolean {
  return isFinal(status) && claimedAt === undefined;
}

/** Where a payout may go from where it is, never back. Only money that left unconfirmed is processing: a turbo one's. */
export function nextStatuses({
  method,
  status,
}: Pick<OwnPayout, 'method' | 'status'>): readonly PayoutStatus[] {
  switch (status) {
    case 'pending':
      return method === 'pix_turbo' ? ['processing', 'denied'] : ['completed', 'denied'];
    case 'processing':
      return ['completed', 'denied'];
    case 'completed':
    case 'denied':
      return [];
  }
}

/** What the destination receives: the amount without the fee. */
export function netCents({ amountCents, feeCents }: Pick<OwnPayout, 'amountCents' | 'feeCents'>): Cents {
  return amountCents - feeCents;
}

/** The net amount's part of the litoshi, down to a whole one: the fraction stays with the fee. Null but for LTC. */
export function netLitoshi(payout: Pick<OwnPayout, 'amountCents' | 'feeCents' | 'litoshi'>): number | null {
  if (payout.litoshi === null) return null;
  return Number((BigInt(payout.litoshi) * BigInt(netCents(payout))) / BigInt(payout.amountCents));
}

// ── Destinations ────────────────────────────────────────────────────────────────────────────────

const MUST_BE: Record<PayoutMethod, string> = {
  pix: 'must be a PIX key: CPF or CNPJ with its check digits, phone as +55…, e-mail, or random key',
  pix_turbo: 'must be a PIX key: CPF or CNPJ with its check digits, phone as +55…, e-mail, or random key',
  ltc: 'must be an LTC address of the main network, with its checksum',
  usd: 'must be a USDT address, on TRON (T…) or ERC-20 (0x…), with its checksum',
};

/** The normal form of a destination; null, and `why`, where the method cannot pay to it. */
export function parseDestination(
  method: PayoutMethod,
  text: string,
): { destination: string; why: null } | { destination: null; why: string } {
  const destination =
    method === 'ltc'
      ? parseLtcAddress(text)
      : method === 'usd'
        ? parseUsdtAddress(text)
        : (parsePixKey(text)?.key ?? null);
  return destination === null ? { destination, why: MUST_BE[method] } : { destination, why: null };
}

/** Where nobody says where it goes. */
export const NOT_TOLD = '(not told)';

/**
 * A PIX key is a person's; an address on a public chain is nobody's by itself, and `masksCrypto` only shortens it. What is
 * masked already stays as it is.
 */
export function maskDestination(
  { method, destination }: Pick<Payout, 'method' | 'destination'>,
  { masksCrypto }: { masksCrypto: boolean },
): string {
  if (destination === NOT_TOLD) return destination;
  if (!isCrypto(method, destination))
    return maskedKey(destination) ?? (isMasked(destination) ? destination : '****');
  if (!masksCrypto || isMasked(destination)) return destination;
  return `${destination.slice(0, 6)}…${destination.slice(-4)}`;
}

/** Of a method that we do not know, only what is certainly an address is taken for one. */
function isCrypto(method: Payout['method'], destination: string): boolean {
  if (method !== 'unknown') return method === 'ltc' || method === 'usd';
  return parseLtcAddress(destination) !== null || parseUsdtAddress(destination) !== null;
}

function isMasked(destination: string): boolean {
  return /[*•…]|\.{3}/.test(destination);
}

// ── What a caller may ask for ───────────────────────────────────────────────────────────────────

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
  /** In its normal form. */
  destination: string;
  idempotencyKey?: string | null | undefined;
}

export const requestPayoutInput = z
  .object({
    method: z.enum(PAYOUT_METHODS, { error: 'UNKNOWN cannot be asked for' }),
    amountCents: payoutAmount,
    destination: z.string(),
    idempotencyKey: idempotencyKeyText.nullish(),
  })
  .transform((input, context): RequestPayoutInput => {
    const { destination, why } = parseDestination(input.method, input.destination);
    if (destination !== null) return { ...input, destination };
    context.addIssue({ code: 'custom', path: ['destination'], message: why });
    return z.NEVER;
  });

export interface PayoutFilter {
  status?: readonly PayoutStatus[] | undefined;
  method?: readonly PayoutMethod[] | undefined;
  /** Requested then or later. */
  requestedAfter?: Date | undefined;
  /** Requested before then. */
  requestedBefore?: Date | undefined;
}

/**
 * Part of the list, newest first: of what lies behind the place `after` and before the place `before`, the first
 * `limit` or the last.
 */
export interface PayoutRange extends PayoutFilter {
  end: 'first' | 'last';
  limit: number;
  after?: number | undefined;
  before?: number | undefined;
}

// ── The port ────────────────────────────────────────────────────────────────────────────────────

export interface PayoutService<P extends Payout = Payout> {
  /**
   * Debits the payout and sends it on its way. With an idempotency key, the same key and input give the same
   * payout, `replayed`, whatever has become of the balance and the limits since.
   * @throws ValidationError (the amount does not exceed the fee), IdempotencyError, RateLimitError (10 an hour, 5 of
   *   them turbo), InsufficientFundsError, UpstreamError (no quote for LTC)
   */
  request(tenant: Tenant, input: RequestPayoutInput): Promise<{ payout: P; replayed: boolean }>;
  /** That a name can be one at all; in front of another service, that one is asked. @throws ValidationError */
  assertNames(names: PayoutNames): void;
  /** By withdrawal id or code. Null where it does not exist or is another tenant's. */
  find(tenant: Tenant, reference: string): Promise<P | null>;
  /** In the order asked, null where not found. */
  findMany(tenant: Tenant, references: readonly string[]): Promise<(P | null)[]>;
  /** By its id, or its withdrawal id. Also tells the version of the tenant's log that the state holds for. */
  findWithVersion(tenant: Tenant, id: string): Promise<{ version: number; payout: P } | null>;
  /** Each with its place in the list; whether there is more in the direction read. */
  list(tenant: Tenant, range: PayoutRange): Promise<{ items: { place: number; payout: P }[]; more: boolean }>;
  /** A page by number, newest first, and how many there are in all (the document's 2.1.6). */
  listPage(tenant: Tenant, page: { limit: number; offset: number }): Promise<{ items: P[]; total: number }>;
  count(tenant: Tenant, filter: PayoutFilter): Promise<number>;
  /** The bank has news: looked at now rather than when it was due. False where there is nothing left to learn. */
  recheck(tenant: Tenant, withdrawalId: string): Promise<boolean>;
}

// ── Rules: pure, from what is and what happened to what shall be ────────────────────────────────

/** Steps of one payout, with the money and the next look at the bank that go with them. Each step is announced. */
export interface PayoutChange {
  readonly payout: OwnPayout;
  readonly steps: readonly { previous: PayoutStatus | null; payout: OwnPayout }[];
  readonly transactions: readonly LedgerTransaction[];
  readonly sendAt: Date | null;
}

/** Sends a payout, or asks the bank where it stands. */
export type PayoutTask = 'payout.send';

/** An account's settings as far as payouts look at them. */
export interface AccountSettings {
  payoutFeesCents: Record<PayoutMethod, Cents>;
}

/** @throws ValidationError (the amount does not exceed the fee), RateLimitError, InsufficientFundsError */
export function decideRequest(
  input: Omit<RequestPayoutInput, 'idempotencyKey'>,
  {
    withdrawalId,
    code,
    litoshi,
    account,
    recent,
    balances,
    now,
  }: {
    withdrawalId: string;
    code: string;
    /** What the amount was quoted as; null but for LTC. */
    litoshi: number | null;
    account: AccountSettings;
    recent: RecentPayouts;
    balances: Balances;
    now: Date;
  },
): PayoutChange {
  const { method, amountCents, destination } = input;
  const feeCents = account.payoutFeesCents[method];
  if (amountCents <= feeCents)
    throw new ValidationError([
      {
        path: 'input.amountCents',
        message: `must be more than the fee of ${feeCents} (${reaisText(feeCents)})`,
      },
    ]);
  assertWithinHourlyLimits(method, recent, now);
  if (litoshi === null) assertWithdrawable(balances, amountCents);
  else assertLtcWithdrawable(balances, { amountCents, litoshi });

  const payout: OwnPayout = {
    withdrawalId,
    code,
    version: 1,
    method,
    status: 'pending',
    amountCents,
    feeCents,
    litoshi,
    destination,
    requestedAt: now,
    processedAt: null,
    deniedReason: null,
    endToEndId: null,
  };
  return {
    payout,
    steps: [{ previous: null, payout }],
    transactions: [ledgerTransaction(`payout.requested:${withdrawalId}`, [debitOf(payout)])],
    sendAt: now,
  };
}

/** What the bank says of a transfer. `in_verification`, `queued`: it has not left. */
export type TransferOutcome =
  | { status: 'in_verification' | 'queued' | 'sent'; until: Date | null }
  | { status: 'completed'; receipt: { endToEndId: string | null } }
  | { status: 'denied' | 'refused'; reason: string };

/** Asked again after so long, where the bank does not say when. */
export const ASK_AGAIN_MS = 5_000;

/** What the bank's answer makes of the payout; null where it changes nothing, for its end is known. */
export function decideOutcome(
  payout: OwnPayout,
  {
    outcome,
    environment,
    balances,
    now,
  }: { outcome: TransferOutcome; environment: Environment; balances: Balances; now: Date },
): PayoutChange | null {
  if (isFinal(payout.status)) return null;
  switch (outcome.status) {
    case 'in_verification':
    case 'queued':
      return changeOf(payout, [], { sendAt: nextLook(outcome.until, now) });
    case 'sent':
      return changeOf(payout, asSent(payout), { sendAt: nextLook(outcome.until, now) });
    case 'completed': {
      const endToEndId = outcome.receipt.endToEndId;
      return changeOf(payout, [...asSent(payout), { status: 'completed', processedAt: now, endToEndId }], {
        transaction: ledgerTransaction(`payout.completed:${payout.withdrawalId}`, arrivalOf(payout)),
      });
    }
    case 'denied':
    case 'refused': {
      if (environment === 'sandbox') throw new RangeError('a sandbox payout is never denied');
      return changeOf(payout, [{ status: 'denied', processedAt: now, deniedReason: outcome.reason }], {
        transaction: ledgerTransaction(`payout.denied:${payout.withdrawalId}`, returnOf(payout, balances)),
      });
    }
  }
}

/** A turbo payout that left is processing, also where nobody looked until it had arrived. */
function asSent({ method, status }: OwnPayout): Step[] {
  return method === 'pix_turbo' && status === 'pending' ? [{ status: 'processing' }] : [];
}

type Step = Pick<OwnPayout, 'status'> & Partial<OwnPayout>;

function changeOf(
  payout: OwnPayout,
  steps: readonly Step[],
  { transaction, sendAt = null }: { transaction?: LedgerTransaction; sendAt?: Date | null },
): PayoutChange {
  let current = payout;
  const taken = steps.map((step) => {
    if (!nextStatuses(current).includes(step.status))
      throw new RangeError(`a ${current.method} payout never goes from ${current.status} to ${step.status}`);
    const previous = current.status;
    current = { ...current, ...step, version: current.version + 1 };
    return { previous, payout: current };
  });
  return { payout: current, steps: taken, transactions: transaction ? [transaction] : [], sendAt };
}

/** An instant that has passed without news is as good as none. */
function nextLook(until: Date | null, now: Date): Date {
  return until && until > now ? until : new Date(now.getTime() + ASK_AGAIN_MS);
}

/** The whole amount. */
function debitOf({ amountCents, litoshi }: OwnPayout): Move {
  return litoshi === null
    ? { from: 'merchant_balance', to: 'payouts_in_transit', amount: amountCents }
    : { from: 'merchant_ltc', to: 'ltc_in_transit', amount: litoshi };
}

/** All of it, of a payout that was denied. What the merchant came to owe meanwhile is settled with it. */
function returnOf({ amountCents, litoshi }: OwnPayout, balances: Balances): Move[] {
  return litoshi === null
    ? creditWithRecovery('payouts_in_transit', amountCents, balances)
    : [{ from: 'ltc_in_transit', to: 'merchant_ltc', amount: litoshi }];
}

/** The fee of an LTC payout is in LTC, and no account of the ledger's own: it goes out with the rest. */
function arrivalOf(payout: OwnPayout): Move[] {
  const { feeCents, litoshi } = payout;
  if (litoshi !== null) return [{ from: 'ltc_in_transit', to: 'ltc_paid_out', amount: litoshi }];
  return [
    { from: 'payouts_in_transit', to: 'paid_out', amount: netCents(payout) },
    { from: 'payouts_in_transit', to: 'platform_fees', amount: feeCents },
  ];
}

// ── How many an hour (the document's section 8) ─────────────────────────────────────────────────

const HOUR_MS = 3_600_000;
export const PAYOUTS_AN_HOUR = 10;
export const TURBO_PAYOUTS_AN_HOUR = 5;

/** When the newest payouts were requested, newest first, as many as the limits look at. */
export interface RecentPayouts {
  all: readonly Date[];
  turbo: readonly Date[];
}

/** With one more. */
export function withOneMore(
  { all, turbo }: RecentPayouts,
  { method, requestedAt }: OwnPayout,
): RecentPayouts {
  return {
    all: [requestedAt, ...all].slice(0, PAYOUTS_AN_HOUR),
    turbo: method === 'pix_turbo' ? [requestedAt, ...turbo].slice(0, TURBO_PAYOUTS_AN_HOUR) : turbo,
  };
}

/** In any 60 minutes; a turbo payout counts in both. @throws RateLimitError with when the next is possible */
function assertWithinHourlyLimits(method: PayoutMethod, { all, turbo }: RecentPayouts, now: Date): void {
  const limits = [
    { name: `${PAYOUTS_AN_HOUR} withdrawals an hour`, oldest: all[PAYOUTS_AN_HOUR - 1] },
    ...(method === 'pix_turbo'
      ? [
          {
            name: `${TURBO_PAYOUTS_AN_HOUR} turbo withdrawals an hour`,
            oldest: turbo[TURBO_PAYOUTS_AN_HOUR - 1],
          },
        ]
      : []),
  ];
  const [reached] = limits
    .map(({ name, oldest }) => ({ name, waitMs: oldest ? oldest.getTime() + HOUR_MS - now.getTime() : 0 }))
    .filter(({ waitMs }) => waitMs > 0)
    .sort((left, right) => right.waitMs - left.waitMs);
  if (reached) throw new RateLimitError(reached.name, Math.ceil(reached.waitMs / 1_000));
}

// ── In front of another service: from what it says to what is known ─────────────────────────────

/** What somebody says of a payout; null where they do not say. */
export interface UpstreamPayout {
  withdrawalId: string;
  code: string | null;
  method: Payout['method'] | null;
  status: Payout['status'] | null;
  amountCents: Cents | null;
  feeCents: Cents | null;
  destination: string | null;
  requestedAt: Date | null;
  processedAt: Date | null;
  deniedReason: string | null;
}

/**
 * What is known after a claim; null where it tells nothing new, or too little to know a payout by. A status goes forward
 * along the document's transitions, over states that nobody saw. An end can be corrected by the service alone, in an
 * answer that is newer than what is known. What is known once of the rest is not lost.
 */
export function mergeUpstreamPayout(
  known: Payout | null,
  claim: UpstreamPayout,
  source: Source,
): Payout | null {
  const { withdrawalId } = claim;
  const amountCents = known?.amountCents ?? claim.amountCents;
  if (amountCents === null) return null;
  const method = known && known.method !== 'unknown' ? known.method : (claim.method ?? 'unknown');
  const status = statusAfter(known, method, claim.status, source);
  const claimedAt = claimedAfter(known, status, asOf(method, claim.status), source);
  const isCorrected = known !== null && isFinal(known.status) && known.status !== status;
  const kept = isCorrected ? null : known;
  const inputHash = known?.inputHash ?? fingerprintOf(method, amountCents, claim.destination);
  const isNew = known?.status !== status || known.claimedAt?.getTime() !== claimedAt?.getTime();
  const merged: Payout = {
    withdrawalId,
    code: known?.code ?? claim.code,
    // What comes to be known besides is no change of the payout: each version is told, and told once.
    version: (known?.version ?? 0) + (isNew ? 1 : 0),
    method,
    status,
    amountCents,
    feeCents: claim.feeCents ?? known?.feeCents ?? null,
    litoshi: known?.litoshi ?? null,
    destination: destinationAfter(known, method, claim.destination),
    requestedAt: known?.requestedAt ?? claim.requestedAt,
    processedAt: kept?.processedAt ?? (isFinal(status) ? claim.processedAt : null),
    deniedReason: kept?.deniedReason ?? (status === 'denied' ? claim.deniedReason : null),
    endToEndId: kept?.endToEndId ?? null,
    ...(known?.requestId !== undefined && { requestId: known.requestId }),
    ...(claimedAt && { claimedAt }),
    ...(inputHash !== null && { inputHash }),
  };
  return known && showsTheSame(known, merged) ? null : merged;
}

function statusAfter(
  known: Payout | null,
  method: Payout['method'],
  claimed: UpstreamPayout['status'],
  source: Source,
): Payout['status'] {
  const said = asOf(method, claimed);
  if (!known) return said ?? 'unknown';
  const status = asOf(method, known.status);
  if (said === null || said === status) return status;
  if (isFinal(status)) return corrects(known, said, source) ? said : status;
  return said === 'pending' ? status : said;
}

/** An end that the service itself has said never becomes an open status again: such an answer is an older one. */
function corrects({ claimedAt }: Payout, said: Payout['status'], source: Source): boolean {
  if (source.by === 'event') return false;
  if (!isFinal(said))
    return claimedAt !== undefined && source.at.getTime() >= claimedAt.getTime() + CLAIM_HOLDS_MS;
  const knownAt = claimedAt ?? source.knownAt;
  return !knownAt || source.at > knownAt;
}

/** Since when nobody but a webhook has said that a payout has ended. */
function claimedAfter(
  known: Payout | null,
  status: Payout['status'],
  said: Payout['status'] | null,
  source: Source,
): Date | undefined {
  if (!isFinal(status)) return undefined;
  if (source.by === 'event') return known?.status === status ? known.claimedAt : source.at;
  return said === status ? undefined : known?.claimedAt;
}

/** What a request for the same is recognised by; null where it is not said in whole. */
export function fingerprintOf(
  method: Payout['method'],
  amountCents: Cents,
  shown: string | null,
): string | null {
  if (method === 'unknown' || shown === null || isMasked(shown)) return null;
  const { destination } = parseDestination(method, shown);
  return destination === null ? null : hashInput({ method, amountCents, destination });
}

/** Of a payout that is not turbo the document knows no `processing`: the word means something that we do not know. */
function asOf<Status extends UpstreamPayout['status']>(
  method: Payout['method'],
  status: Status,
): Status | 'unknown' {
  return status === 'processing' && method !== 'pix_turbo' && method !== 'unknown' ? 'unknown' : status;
}

// ── Of a request whose outcome is unknown ───────────────────────────────────────────────────────

/** What is known of it: the money may have left. */
export function payoutInDoubt({
  requestId,
  requestedAt,
  ...request
}: Pick<Payout, 'method' | 'amountCents' | 'destination'> & {
  requestId: string;
  requestedAt: Date;
}): Payout {
  return {
    ...request,
    requestId,
    requestedAt,
    inDoubt: true,
    version: 1,
    status: 'processing',
    ...{ withdrawalId: null, code: null, feeCents: null, litoshi: null },
    ...{ processedAt: null, deniedReason: null, endToEndId: null },
  };
}

/** The service does not have it, and will not: nothing was debited. */
export function neverMade(doubted: Payout, now: Date): Payout {
  return {
    ...doubted,
    inDoubt: false,
    version: doubted.version + 1,
    status: 'denied',
    processedAt: now,
    deniedReason: 'The payments service has no such payout: the request never arrived there',
  };
}

/** The payout that a request has made, once that is known. */
export function identified(payout: Payout, doubted: Payout): Payout {
  return {
    ...payout,
    requestId: doubted.requestId,
    version: Math.max(payout.version, doubted.version) + 1,
  };
}

/** A PIX key is kept masked; of an address what tells more. */
function destinationAfter(known: Payout | null, method: Payout['method'], claimed: string | null): string {
  const told =
    claimed === null ? NOT_TOLD : maskDestination({ method, destination: claimed }, { masksCrypto: false });
  if (!known || known.destination === NOT_TOLD) return told;
  return !isMasked(told) && shows(known.destination, told) ? told : known.destination;
}

/** Whether two destinations, each masked in its own way or whole, can be the same one. */
export function canBeSame(
  left: Pick<Payout, 'method' | 'destination'>,
  right: Pick<Payout, 'method' | 'destination'>,
): boolean {
  const [one, other] = [left, right].map((each) => maskDestination(each, { masksCrypto: true })) as [
    string,
    string,
  ];
  if (one === other || one === NOT_TOLD || other === NOT_TOLD) return true;
  return shows(left.destination, right.destination) || shows(right.destination, left.destination);
}

/**
 * Whether two destinations are certainly not the same. How a service masks the document does not show, so that what is not
 * recognised need not be another: that is certain where both are masked in one way, or one is whole, or its e-mail address
 * begins otherwise.
 */
export function areDifferent(
  left: Pick<Payout, 'method' | 'destination'>,
  right: Pick<Payout, 'method' | 'destination'>,
): boolean {
  if (canBeSame(left, right)) return false;
  const [one, other] = [left.destination, right.destination];
  if (!isMasked(one) && !isMasked(other)) return true;
  if (!isMasked(one) || !isMasked(other)) {
    const [masked, whole] = isMasked(one) ? [one, other] : [other, one];
    const { begins, ends } = endsOf(masked);
    return !(whole.startsWith(begins) && whole.endsWith(ends));
  }
  const shapeOf = (text: string) => text.replace(/[0-9a-z]/gi, 'x');
  const areAddresses = [one, other].every((text) => /^[0-9a-z].*@/i.test(text));
  return shapeOf(one) === shapeOf(other) || (areAddresses && one[0] !== other[0]);
}

/** A point beside what is hidden belongs to the mask; one inside of what is shown, as in a domain, is shown. */
function endsOf(masked: string): { begins: string; ends: string } {
  const shown = masked.split(/\.*(?:[*•…]|\.{3})+\.*/);
  return { begins: shown[0]!, ends: shown.at(-1)! };
}

/** What is masked shows how the whole begins and ends; of another that is masked, no more than that one shows. */
function shows(masked: string, whole: string): boolean {
  if (!isMasked(masked)) return false;
  if (isMasked(whole)) {
    const [less, more] = [masked, whole].map((text) => text.replace(/[^0-9a-z]/gi, '')) as [string, string];
    return less.length >= 4 && more.includes(less);
  }
  const { begins, ends } = endsOf(masked);
  return begins.length + ends.length >= 4 && whole.startsWith(begins) && whole.endsWith(ends);
}

function showsTheSame(left: Payout, right: Payout): boolean {
  const shown = (value: Payout[keyof Payout]) => (value instanceof Date ? value.getTime() : value);
  const fields = Object.keys({ ...left, ...right }) as (keyof Payout)[];
  return fields.every((field) => field === 'version' || shown(left[field]) === shown(right[field]));
}

// ── As an event's snapshot ──────────────────────────────────────────────────────────────────────

/** A snapshot read back from JSON, where instants are text. */
export function payoutFromJson(json: unknown): Payout {
  const payout = json as Payout & Record<'requestedAt' | 'processedAt' | 'claimedAt', string | null>;
  return {
    ...payout,
    requestedAt: payout.requestedAt === null ? null : new Date(payout.requestedAt),
    processedAt: payout.processedAt === null ? null : new Date(payout.processedAt),
    ...(payout.claimedAt && { claimedAt: new Date(payout.claimedAt) }),
  };
}
