import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { amountMembers, demandAmount, ONE_AMOUNT, withKnownAmount } from '../../kernel/aliases.ts';
import { DAY_MS } from '../../kernel/clock.ts';
import { deterministicId } from '../../kernel/ids.ts';
import type { Language } from '../../kernel/language.ts';
import {
  type AmountFilter,
  among,
  amountConditions,
  before,
  type Conditions,
  type DetailFilter,
  from,
  matches,
  named,
  ofCustomer,
} from '../../kernel/list-filter.ts';
import type { FamilyReads, ListedRange, ListRange } from '../../kernel/list-range.ts';
import type { Cents } from '../../kernel/money.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import { idempotencyKeyText, notNull, optionalLimit } from '../../kernel/text.ts';
import { type Customer, checkoutDetails, customerOf } from '../checkout/model.ts';
import {
  type CodedResource,
  pixAmount,
  type ReturnedCredit,
  returnedCreditFromJson,
  txidOf,
} from '../pix/model.ts';
import { INTERVALS, type Interval } from './calendar.ts';

// Recurring PIX (Pix Automático, journey 3): one code authorizes a subscription and pays its first cycle.

export const SUBSCRIPTION_STATUSES = [
  'pending',
  'active',
  'past_due',
  'canceled',
  'completed',
  'expired',
] as const;
export type SubscriptionStatus = (typeof SUBSCRIPTION_STATUSES)[number];

export const NEXT: Readonly<Record<SubscriptionStatus, readonly SubscriptionStatus[]>> = {
  pending: ['active', 'completed', 'canceled', 'expired'],
  active: ['past_due', 'completed', 'canceled'],
  past_due: ['active', 'completed', 'canceled'],
  canceled: [],
  completed: [],
  expired: [],
};

export const CYCLE_STATUSES = ['scheduled', 'retrying', 'paid', 'failed', 'canceled'] as const;
export type CycleStatus = (typeof CYCLE_STATUSES)[number];

export const CANCEL_REASONS = ['merchant', 'payer', 'unpaid'] as const;
export type CancelReason = (typeof CANCEL_REASONS)[number];

/** The time in which the payer can authorize a subscription. */
export const AUTHORISATION_MS = DAY_MS;

/** Names a subscription: by the given 32 hex digits, else by random ones. */
export function newSubscriptionId(digits: string | null): string {
  return `psa_sub_${digits ?? randomUUID().replaceAll('-', '')}`;
}

/** Whether a text has the form of a subscription's id (the document's section 2.1): `psa_sub_` and 32 hex digits. */
export function isSubscriptionId(text: string): boolean {
  return /^psa_sub_[0-9a-f]{32}$/.test(text);
}

/**
 * Whether a text can be the id of a subscription of any service: the document shows only the beginning of its
 * form.
 */
export function isAnySubscriptionId(text: string): boolean {
  return /^psa_sub_[A-Za-z0-9_-]{1,64}$/.test(text);
}

export const subscriptionIdText = z
  .string()
  .refine(isSubscriptionId, 'must be psa_sub_ and 32 hex digits, in lower case')
  .meta({
    description: 'psa_sub_ and 32 hex digits',
    examples: ['psa_sub_0c7d1a5be2f94a3d8e6b7f100c7d1a5b'],
  });

/**
 * The id of the payment that a paid cycle makes. Its digits are the bank's identifier of the cycle, so they are known before
 * the cycle is debited.
 */
export function cyclePaymentId(subscriptionId: string, number: number): string {
  return `psa_${deterministicId(32, 'subscription cycle', subscriptionId, String(number))}`;
}

/** The bank's identifier of an attempt: that of its cycle, and the attempt's number. */
export function attemptIdOf(subscriptionId: string, number: number, attempt: number): string {
  return `${txidOf(cyclePaymentId(subscriptionId, number))}.${attempt}`;
}

/** A cycle of a subscription. All instants are in UTC. */
export interface SubscriptionCycle {
  /** The number of the cycle: 1, 2, 3, … */
  number: number;
  /** 00:00 of its day in São Paulo. */
  dueAt: Date | null;
  /** `unknown` stands for a word of the service that this server does not know. */
  status: CycleStatus | 'unknown';
  amountCents: Cents;
  /** The number of attempts that were made: at most 4. */
  attempts: number;
  /** 00:00 of the day of the next attempt; null if no attempt follows. */
  nextAttemptAt: Date | null;
  /** The payment that the cycle has made; null until it is paid. */
  paymentId: string | null;
  paidAt: Date | null;
  /** The bank's reason for the failure of the last attempt. */
  failureReason: string | null;
}

/** A cycle of the embedded service. */
export interface StoredCycle extends SubscriptionCycle {
  subscriptionId: string;
  dueAt: Date;
  status: CycleStatus;
  /** Whether the payer's bank has the instruction of the next attempt. */
  sent: boolean;
}

/** A recurring PIX (the document's section 2.5), as far as it is known. All instants are in UTC. */
export interface Subscription {
  /** `psa_sub_` and 32 hex digits. */
  subscriptionId: string;
  /** A number that grows with each change: of two answers the larger is the newer. */
  version: number;
  /** `unknown` stands for a word of the service that this server does not know. */
  status: SubscriptionStatus | 'unknown';
  /** The last known status while the status is `unknown`; null if there was none. */
  lastStatus?: SubscriptionStatus | null;
  /** The amount of each cycle. */
  amountCents: Cents;
  interval: Interval | 'unknown';
  /** The number of cycles; null means until it is canceled. */
  endsAfterCycles: number | null;
  description: string | null;
  customer: Customer | null;
  /** The string given at creation, byte for byte. */
  metadata: string | null;
  successUrl: string | null;
  cancelUrl: string | null;
  /** The address of the page; omitted if this server hosts it. */
  checkoutUrl?: string | null;
  /** The language of the page if its address names none. Left out in a snapshot of an older version, and by another service. */
  language?: Language | null;
  /** PIX Copia e Cola, with which the payer authorizes it. Null until the bank has given it. */
  brCode: string | null;
  /** The bank's identifier of the code, as the service shows it; left out if it is `txidOf` the subscription. */
  txid?: string | null;
  /**
   * 00:00 of the day on which the open cycle is due. Once an attempt of it has failed, it is the due day of
   * the next cycle. Null if there is no such cycle.
   */
  nextDueAt: Date | null;
  cancelReason: CancelReason | 'unknown' | null;
  canceledAt: Date | null;
  createdAt: Date | null;
  /** The end of the time for the authorization; null if the service does not show it. */
  expiresAt: Date | null;
  /** The last credits that were sent back, oldest first. */
  returnedCredits: readonly ReturnedCredit[];
  /** The cycles that another service has shown, newest first; left out if this server has them. */
  cycles?: readonly SubscriptionCycle[];
}

/** A subscription of the embedded service. */
export interface StoredSubscription extends Subscription, CodedResource {
  status: SubscriptionStatus;
  interval: Interval;
  /** The part of each cycle that the service keeps. */
  feeCents: Cents;
  language: Language | null;
  cancelReason: CancelReason | null;
  createdAt: Date;
  expiresAt: Date;
  /** The time at which the payer authorized it, by the bank's clock. Its day is the first due day. */
  authorisedAt: Date | null;
  /** The number of cycles that have failed since the last paid one. */
  failedInRow: number;
  /** The newest cycle; no two are open at a time. Null before the authorization. */
  cycle: StoredCycle | null;
  returnedCredits: CodedResource['returnedCredits'];
}

/** The changes that webhooks announce. */
export const SUBSCRIPTION_NEWS = [
  'activated',
  'paid',
  'payment_failed',
  'past_due',
  'canceled',
  'completed',
  'expired',
] as const;
export type SubscriptionNews = (typeof SUBSCRIPTION_NEWS)[number];

/** A subscription in an event, with the cycle that has changed. */
export type SubscriptionSnapshot = Subscription & { changedCycle: SubscriptionCycle | null };

/** Whether no later status can follow. A status that only a newer version knows is not final. */
export function isFinal(status: SubscriptionStatus | 'unknown'): boolean {
  return NEXT[status as SubscriptionStatus]?.length === 0;
}

/** Whether `to` can follow `from`, directly or through statuses that were not observed. */
export function canFollow(from: SubscriptionStatus, to: SubscriptionStatus): boolean {
  // Active and past due follow each other without end.
  return NEXT[from].includes(to) || (from === 'pending' && to === 'past_due');
}

/** Whether cycles are debited. */
export function isLive(status: SubscriptionStatus | 'unknown'): boolean {
  return status === 'active' || status === 'past_due';
}

/** Whether a payer can authorize it by its code at this moment. */
export function isAuthorisable({ status, brCode }: Pick<Subscription, 'status' | 'brCode'>): boolean {
  return status === 'pending' && brCode !== null;
}

/** Whether a cycle can still be paid. */
export function isOpen({ status }: Pick<SubscriptionCycle, 'status'>): boolean {
  return status === 'scheduled' || status === 'retrying';
}

// ── Input ───────────────────────────────────────────────────────────────────────────────────────

const MAX_CYCLES = 520;

const cycles = `must be a whole number from 1 to ${MAX_CYCLES}`;

export const createSubscriptionInput = checkoutDetails
  .pick({
    description: true,
    customer: true,
    metadata: true,
    successUrl: true,
    cancelUrl: true,
    language: true,
  })
  .extend({
    ...amountMembers(pixAmount, 'The amount of each cycle'),
    interval: z
      .enum(INTERVALS, `must be one of ${INTERVALS.join(', ')}`)
      .describe('The time between the due days of two cycles'),
    endsAfterCycles: optionalLimit(
      z
        .number({ error: notNull('a subscription without an end', cycles) })
        .int(cycles)
        .min(1, cycles)
        .max(MAX_CYCLES, cycles),
    ).describe('Until it is canceled where left out'),
    idempotencyKey: idempotencyKeyText
      .nullish()
      .describe('The same key and input give the same subscription'),
  })
  .superRefine(demandAmount)
  .transform(withKnownAmount)
  .meta(ONE_AMOUNT);
export type CreateSubscriptionInput = z.infer<typeof createSubscriptionInput>;

/** Returns the details of an input, with null for each that was left out. */
export function detailsOf(input: Omit<CreateSubscriptionInput, 'idempotencyKey'>) {
  return {
    endsAfterCycles: input.endsAfterCycles ?? null,
    description: input.description ?? null,
    customer: customerOf(input.customer),
    metadata: input.metadata ?? null,
    successUrl: input.successUrl ?? null,
    cancelUrl: input.cancelUrl ?? null,
    language: input.language ?? null,
  };
}

// ── The port ────────────────────────────────────────────────────────────────────────────────────

/** A filter of subscriptions. A period includes its `from` and excludes its `before`. */
export interface SubscriptionFilter extends AmountFilter, Pick<DetailFilter, 'reference' | 'customer'> {
  status?: readonly SubscriptionStatus[] | undefined;
  createdAfter?: Date | undefined;
  createdBefore?: Date | undefined;
  canceledAfter?: Date | undefined;
  canceledBefore?: Date | undefined;
}

/** The condition of each member of the filter, for lists and updates. */
export const subscriptionConditions = {
  status: among('status'),
  reference: named(['subscriptionId']),
  ...amountConditions(),
  customer: ofCustomer('customer'),
  createdAfter: from('createdAt'),
  createdBefore: before('createdAt'),
  canceledAfter: from('canceledAt'),
  canceledBefore: before('canceledAt'),
} satisfies Conditions<SubscriptionFilter, Subscription>;

/** Whether a filter selects a subscription. */
export function matchesFilter(subscription: Subscription, filter: SubscriptionFilter): boolean {
  return matches(subscriptionConditions, subscription, filter);
}

/** A filter of the cycles of a subscription. A period includes its `from` and excludes its `before`. */
export interface CycleFilter {
  status?: readonly CycleStatus[] | undefined;
  dueAfter?: Date | undefined;
  dueBefore?: Date | undefined;
  paidAfter?: Date | undefined;
  paidBefore?: Date | undefined;
}

/** The condition of each member of the filter of cycles. */
const cycleConditions = {
  status: among('status'),
  dueAfter: from('dueAt'),
  dueBefore: before('dueAt'),
  paidAfter: from('paidAt'),
  paidBefore: before('paidAt'),
} satisfies Conditions<CycleFilter, SubscriptionCycle>;

/** Whether a filter of cycles has a condition. */
export function hasConditions(filter: CycleFilter): boolean {
  return Object.values(filter).some((asked) => asked !== undefined);
}

/**
 * The range of a subscription's cycles, newest first, of those that a filter selects. A subscription has one
 * cycle a week at most, so that all of them are read for it.
 */
export function rangeOfCycles<C extends SubscriptionCycle>(
  cycles: readonly C[],
  { end, limit, after, before: newer, ...filter }: ListRange & CycleFilter,
): ListedRange<C> {
  const inRange = cycles.filter(
    (cycle) =>
      (after === undefined || cycle.number < after) &&
      (newer === undefined || cycle.number > newer) &&
      matches(cycleConditions, cycle, filter),
  );
  return {
    items: end === 'last' ? inRange.slice(-limit) : inRange.slice(0, limit),
    more: inRange.length > limit,
  };
}

/** The port of subscriptions. The embedded service knows each of them completely. */
export interface SubscriptionService<
  S extends Subscription = Subscription,
  C extends SubscriptionCycle = SubscriptionCycle,
> extends Omit<FamilyReads<S, SubscriptionFilter>, 'totals'> {
  /** Refuses a text that cannot be a subscription's id. @throws ValidationError */
  assertId(subscriptionId: string): void;
  /**
   * Creates a subscription and gets its code from the bank. With an idempotency key, the same key and input give the same
   * subscription, `replayed`.
   * @throws ValidationError, PreconditionError (PAYMENTS_NOT_CONFIGURED, LIMIT_REACHED; in front of another service
   *   NOT_OFFERED), IdempotencyError, UpstreamError (the bank gave no code: `lookupReference` is the subscription's id)
   */
  create(tenant: Tenant, input: CreateSubscriptionInput): Promise<{ subscription: S; replayed: boolean }>;
  /**
   * Cancels a subscription: no cycle is debited from now on, except one that the bank can no longer recall.
   * An ended subscription stays as it is; `replayed` if it was canceled before.
   * @throws NotFoundError; in front of another service PreconditionError (NOT_OFFERED)
   */
  cancel(tenant: Tenant, subscriptionId: string): Promise<{ subscription: S; replayed: boolean }>;
  /** Lists cycles of a subscription, newest first. The position of a cycle is its number. */
  cycles(tenant: Tenant, subscriptionId: string, range: ListRange & CycleFilter): Promise<ListedRange<C>>;
  countCycles(tenant: Tenant, subscriptionId: string, filter?: CycleFilter): Promise<number>;
  /** Lists the newest cycles of each subscription, newest first, at most `limit` for each. */
  newestCycles(tenant: Tenant, subscriptionIds: readonly string[], limit: number): Promise<C[][]>;
}

/** The operations by which the simulator and the sandbox play the payer's bank, without waiting for a notification or a day. */
export interface SubscriptionReceiver {
  /** Records what the bank reports of a subscription. A repeated call changes nothing. Null if there is none. */
  receive(tenant: Tenant, subscriptionId: string): Promise<StoredSubscription | null>;
  /** Sends the instruction of the open cycle now, so that its attempt can be played. Null if there is none. */
  instruct(tenant: Tenant, subscriptionId: string): Promise<StoredSubscription | null>;
}

// ── The snapshot of an event ─────────────────────────────────────────────────────────────────────

const INSTANTS = ['nextDueAt', 'canceledAt', 'createdAt', 'expiresAt', 'authorisedAt'] as const;
const CYCLE_INSTANTS = ['dueAt', 'nextAttemptAt', 'paidAt'] as const;

function withInstants(json: unknown, names: readonly string[]): Record<string, unknown> {
  const record: Record<string, unknown> = { ...(json as object) };
  for (const name of names) if (record[name]) record[name] = new Date(record[name] as string);
  return record;
}

function cycleFromJson(json: unknown): SubscriptionCycle | null {
  return json ? (withInstants(json, CYCLE_INSTANTS) as unknown as SubscriptionCycle) : null;
}

/** Reads a snapshot back from JSON, where instants are text. */
export function subscriptionFromJson(json: unknown): SubscriptionSnapshot {
  const record = withInstants(json, INSTANTS);
  return {
    ...record,
    returnedCredits: (record.returnedCredits as unknown[]).map(returnedCreditFromJson),
    ...(record.cycles ? { cycles: (record.cycles as unknown[]).map(cycleFromJson) } : {}),
    changedCycle: cycleFromJson(record.changedCycle),
  } as unknown as SubscriptionSnapshot;
}
